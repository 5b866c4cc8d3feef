// SPDX-License-Identifier: Apache-2.0
// Lines for people, from shells only (cores emit events). spdlog sits behind diagnostics.cpp.
#pragma once

#include <fmt/core.h>

#include <string_view>

namespace hw::diag {

enum class Level { trace, debug, info, warn, error, off };

// Lines below `level` are dropped. Default: info, to stderr. Call before threads start.
void set_level(Level level) noexcept;
bool parse_level(std::string_view text, Level& level) noexcept;
[[nodiscard]] bool enabled(Level level) noexcept;
void write(Level level, std::string_view line);

template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::info)) {
    write(Level::info, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::warn)) {
    write(Level::warn, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::error)) {
    write(Level::error, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::debug)) {
    write(Level::debug, fmt::format(format, std::forward<Args>(args)...));
  }
}

}  // namespace hw::diag
