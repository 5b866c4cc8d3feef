// SPDX-License-Identifier: Apache-2.0
// Where the control port is: what the daemon and the window are told to open, and `hw` to ask.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/result.h"
#include "engine/node/control_server.h"

namespace hw::app {

inline constexpr const char* kControlDefault = "127.0.0.1:9099";

// "[HOST:]PORT" and the file whose first line is the token (may be empty: none). Errc::invalid says what to write.
Result<node::ControlServerOptions> control_options(const std::string& address, const std::string& token_file);

}  // namespace hw::app
