// SPDX-License-Identifier: Apache-2.0
// Where this user's data lives, after the XDG base directory specification.
#pragma once

#include <string>

namespace hw::app {

// $XDG_DATA_HOME/highwater, or ~/.local/share/highwater. Not created here.
[[nodiscard]] std::string data_directory();

}  // namespace hw::app
