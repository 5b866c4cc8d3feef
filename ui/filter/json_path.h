// SPDX-License-Identifier: Apache-2.0
// Finds one place in a JSON text without building a document: what a filter over a million values needs.
// Numbers keep all digits as long as they fit 64 bits. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/filter/filter_types.h"

namespace hw::ui::filter {

// missing: no such place, or the text is no JSON up to there. Objects and arrays come as their text.
// `unescaped` holds a string that had escapes, so that the answer can point to it.
[[nodiscard]] Datum json_find(std::string_view json, const std::vector<PathStep>& path, std::string& unescaped);

}  // namespace hw::ui::filter
