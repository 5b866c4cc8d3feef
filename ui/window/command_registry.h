// SPDX-License-Identifier: Apache-2.0
// Commands: everything a person can make the window do, each with an id, a title and perhaps a shortcut.
//
// Menus, the palette, buttons, shortcuts, and tests all go through run(). Single letters and digits act only while
// no text field has the focus; the window sees to that.
// Thread rule: UI thread only.
#pragma once

#include <QKeySequence>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QVariantMap>
#include <functional>
#include <vector>

namespace hw::ui {

struct Command {
  QString id;     // "page.cluster", "topic.create": stable, never translated
  QString title;  // translated, sentence case: "Create topic"
  QKeySequence shortcut;  // empty: palette and buttons only
  std::function<void(const QVariantMap& args)> run;
  std::function<bool()> enabled;  // null: always
  QStringList words;              // more words that find it in the palette, translated
};

class CommandRegistry : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // False, and nothing added, where the id or the shortcut is taken already.
  bool add(Command command);
  [[nodiscard]] const Command* find(const QString& id) const;
  [[nodiscard]] const std::vector<Command>& all() const { return commands_; }
  [[nodiscard]] bool enabled(const QString& id) const;
  // False where there is no such command or it is not enabled now.
  bool run(const QString& id, const QVariantMap& args = {});
  // Commands whose title, words or id contain all words of `text`, the best first. Disabled ones are left out.
  [[nodiscard]] std::vector<const Command*> matching(const QString& text) const;
  // "P", "Ctrl+K" for buttons and the palette; empty without a shortcut.
  [[nodiscard]] QString shortcutText(const QString& id) const;

 signals:
  void ran(const QString& id);

 private:
  std::vector<Command> commands_;
};

}  // namespace hw::ui
