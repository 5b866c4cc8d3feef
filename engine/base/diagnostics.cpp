// SPDX-License-Identifier: Apache-2.0
#include "engine/base/diagnostics.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace hw::diag {

namespace {

spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    spdlog::logger made("highwater", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made.set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
    return made;
  }();
  return instance;
}

spdlog::level::level_enum to_spdlog(Level level) noexcept {
  switch (level) {
    case Level::trace:
      return spdlog::level::trace;
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warn:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
    case Level::off:
      break;
  }
  return spdlog::level::off;
}

}  // namespace

void set_level(Level level) noexcept { logger().set_level(to_spdlog(level)); }

bool parse_level(std::string_view text, Level& level) noexcept {
  constexpr std::string_view names[] = {"trace", "debug", "info", "warn", "error", "off"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (names[i] == text) {
      level = static_cast<Level>(i);
      return true;
    }
  }
  return false;
}

bool enabled(Level level) noexcept { return logger().should_log(to_spdlog(level)); }

void write(Level level, std::string_view line) { logger().log(to_spdlog(level), line); }

}  // namespace hw::diag
