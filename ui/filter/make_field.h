// SPDX-License-Identifier: Apache-2.0
// A field of a vocabulary in one line. Id: the enumeration by which its Source knows its fields.
#pragma once

#include "ui/filter/filter_types.h"

namespace hw::ui::filter {

template <class Id>
[[nodiscard]] Field make_field(Id id, const char* name, Type type, const QString& help,
                               const QStringList& values = {}) {
  Field made;
  made.id = static_cast<int>(id);
  made.name = name;
  made.type = type;
  made.help = help;
  made.values = values;
  return made;
}

}  // namespace hw::ui::filter
