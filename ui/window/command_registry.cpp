// SPDX-License-Identifier: Apache-2.0
#include "ui/window/command_registry.h"

#include <algorithm>
#include <utility>

namespace hw::ui {

bool CommandRegistry::add(Command command) {
  const bool taken = std::any_of(commands_.begin(), commands_.end(), [&](const Command& other) {
    return other.id == command.id || (!command.shortcut.isEmpty() && other.shortcut == command.shortcut);
  });
  if (taken || command.id.isEmpty() || !command.run) {
    return false;
  }
  commands_.push_back(std::move(command));
  return true;
}

const Command* CommandRegistry::find(const QString& id) const {
  const auto it = std::find_if(commands_.begin(), commands_.end(), [&](const Command& c) { return c.id == id; });
  return it == commands_.end() ? nullptr : &*it;
}

bool CommandRegistry::enabled(const QString& id) const {
  const Command* command = find(id);
  return command != nullptr && (!command->enabled || command->enabled());
}

bool CommandRegistry::run(const QString& id, const QVariantMap& args) {
  if (!enabled(id)) {
    return false;
  }
  // A copy: the command may add others.
  const auto action = find(id)->run;
  action(args);
  Q_EMIT ran(id);
  return true;
}

std::vector<const Command*> CommandRegistry::matching(const QString& text) const {
  const QStringList wanted = text.simplified().toLower().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  std::vector<std::pair<int, const Command*>> found;
  for (const Command& command : commands_) {
    if (command.enabled && !command.enabled()) {
      continue;
    }
    const QString title = command.title.toLower();
    const QString rest = command.id.toLower() + QLatin1Char(' ') + command.words.join(QLatin1Char(' ')).toLower();
    int rank = 0;  // lower is better
    bool all = true;
    for (const QString& word : wanted) {
      if (title.startsWith(word)) {
        rank += 0;
      } else if (title.contains(QLatin1Char(' ') + word)) {
        rank += 1;
      } else if (title.contains(word)) {
        rank += 2;
      } else if (rest.contains(word)) {
        rank += 3;
      } else {
        all = false;
        break;
      }
    }
    if (all) {
      found.emplace_back(rank, &command);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Command*> out;
  out.reserve(found.size());
  for (const auto& [rank, command] : found) {
    out.push_back(command);
  }
  return out;
}

QString CommandRegistry::shortcutText(const QString& id) const {
  const Command* command = find(id);
  return command == nullptr ? QString() : command->shortcut.toString(QKeySequence::NativeText);
}

}  // namespace hw::ui
