// SPDX-License-Identifier: Apache-2.0
// SystemScheme: whether the desktop is dark, asked of its settings portal over D-Bus, now and whenever it changes.
//
// Qt 6.4 cannot be asked, and the palette is the application's own as soon as it has set one. Where there is no portal
// nothing happens. The only file of the window that knows D-Bus is system_scheme.cpp, a library of its own.
// Thread rule: UI thread only.
#pragma once

#include <QObject>
#include <QVariant>

namespace hw::ui {

class SystemScheme : public QObject {
  Q_OBJECT

 public:
  explicit SystemScheme(QObject* parent = nullptr);
  void ask();
  // 1 dark, 2 light, anything else no preference: as the portal says it.
  void take(const QVariant& value);

 Q_SIGNALS:
  void darkChanged(bool dark);
};

}  // namespace hw::ui
