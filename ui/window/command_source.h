// SPDX-License-Identifier: Apache-2.0
// CommandSource: a page that can do something of its own, whichever page is shown. The window asks once, before attach().
#pragma once

namespace hw::ui {

class CommandRegistry;

class CommandSource {
 public:
  virtual ~CommandSource() = default;
  // Ids are "object.verb".
  virtual void addCommands(CommandRegistry& commands) = 0;
};

}  // namespace hw::ui
