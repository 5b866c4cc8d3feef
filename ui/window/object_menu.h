// SPDX-License-Identifier: Apache-2.0
// The one menu of an object, the same on every page: open, show in, filter by, explain, act, copy as.
//
// Every entry runs a command of the registry, so keys, palette and tests do the same things. Entries that make no sense
// for the kind are not there; those that cannot run now are greyed.
#pragma once

#include <QList>
#include <QMenu>

#include "ui/session/selection.h"
#include "ui/session/session.h"
#include "ui/window/command_registry.h"

namespace hw::ui {

class Page;

struct ObjectMenuContext {
  CommandRegistry* commands = nullptr;
  Session* session = nullptr;
  QList<Page*> pages;
};

// Fills `menu`. REQUIRES: !selection.none().
void fill_object_menu(QMenu* menu, const Selection& selection, const ObjectMenuContext& context);

}  // namespace hw::ui
