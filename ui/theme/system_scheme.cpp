// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/system_scheme.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <QString>

namespace hw::ui {

namespace {

const QString kService = QStringLiteral("org.freedesktop.portal.Desktop");
const QString kPath = QStringLiteral("/org/freedesktop/portal/desktop");
const QString kInterface = QStringLiteral("org.freedesktop.portal.Settings");
const QString kSpace = QStringLiteral("org.freedesktop.appearance");
const QString kKey = QStringLiteral("color-scheme");

// What the portal calls when a setting is another.
class Listener : public QObject {
  Q_OBJECT

 public:
  explicit Listener(SystemScheme* scheme) : QObject(scheme), scheme_(scheme) {}

 public Q_SLOTS:
  void settingChanged(const QString& space, const QString& key, const QDBusVariant& value) {
    if (space == kSpace && key == kKey) {
      scheme_->take(value.variant());
    }
  }

 private:
  SystemScheme* scheme_;
};

}  // namespace

SystemScheme::SystemScheme(QObject* parent) : QObject(parent) {}

void SystemScheme::ask() {
  QDBusConnection bus = QDBusConnection::sessionBus();
  if (!bus.isConnected()) {
    return;
  }
  bus.connect(kService, kPath, kInterface, QStringLiteral("SettingChanged"), new Listener(this),
              SLOT(settingChanged(QString, QString, QDBusVariant)));
  QDBusMessage call = QDBusMessage::createMethodCall(kService, kPath, kInterface, QStringLiteral("Read"));
  call << kSpace << kKey;
  auto* watcher = new QDBusPendingCallWatcher(bus.asyncCall(call, 2'000), this);
  connect(watcher, &QDBusPendingCallWatcher::finished, this, [this](QDBusPendingCallWatcher* done) {
    const QDBusPendingReply<QDBusVariant> reply = *done;
    if (!reply.isError()) {
      take(reply.value().variant());
    }
    done->deleteLater();
  });
}

void SystemScheme::take(const QVariant& value) {
  // Read() wraps the value once more than the signal does.
  QVariant inner = value;
  while (inner.canConvert<QDBusVariant>()) {
    inner = inner.value<QDBusVariant>().variant();
  }
  bool number = false;
  const uint scheme = inner.toUInt(&number);
  if (number && (scheme == 1 || scheme == 2)) {
    Q_EMIT darkChanged(scheme == 1);
  }
}

}  // namespace hw::ui

#include "system_scheme.moc"
