// SPDX-License-Identifier: Apache-2.0
// The levels of this node's loggers as BROKER_LOGGER resources show them (KIP-412): one logger, "root", because all lines
// of a process come from shells and go through one place. A change goes out to the shell; nothing is kept over a restart.
// Thread rule: the node's thread.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hw::api {

class LogLevels {
 public:
  static constexpr std::string_view kRoot = "root";
  static constexpr std::array<std::string_view, 6> kLevels = {"DEBUG", "ERROR", "FATAL", "INFO", "TRACE", "WARN"};

  explicit LogLevels(std::string level) : level_(std::move(level)) {}
  [[nodiscard]] static bool is_level(std::string_view text) noexcept {
    return std::find(kLevels.begin(), kLevels.end(), text) != kLevels.end();
  }
  [[nodiscard]] bool has(std::string_view logger) const noexcept { return logger == kRoot; }
  [[nodiscard]] const std::string& level() const noexcept { return level_; }
  void set(const std::string& level) {
    level_ = level;
    changed_ = level;
  }
  // What was set since the last call.
  [[nodiscard]] std::optional<std::string> take_change() { return std::exchange(changed_, std::nullopt); }

 private:
  std::string level_;
  std::optional<std::string> changed_;
};

}  // namespace hw::api
