// SPDX-License-Identifier: Apache-2.0
// SystemScheme: whether the desktop is dark, asked of its settings portal over D-Bus, now and whenever it changes.
//
// Qt 6.4 cannot be asked, and the palette is the application's own as soon as it has set one. Where there is no portal
// nothing happens. Thread rule: UI thread only.
#pragma once

#include <QDBusVariant>
#include <QObject>
#include <QString>

namespace hw::ui {

class SystemScheme : public QObject {
  Q_OBJECT

 public:
  explicit SystemScheme(QObject* parent = nullptr);
  void ask();
  // 1 dark, 2 light, anything else no preference: as the portal says it.
  void take(const QVariant& value);

 signals:
  void darkChanged(bool dark);

 private slots:
  void settingChanged(const QString& space, const QString& key, const QDBusVariant& value);
};

}  // namespace hw::ui
