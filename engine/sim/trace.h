// SPDX-License-Identifier: Apache-2.0
// Trace: what happened in a run, as lines for people and as one number. Two runs of a seed have the same number.
//
// Lines are made where a node, a link or a client changes its state; frames count by their size only. Thread rule: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "engine/base/time.h"

namespace hw::sim {

class Trace {
 public:
  // `print` (may be empty) gets each line.
  explicit Trace(std::function<void(const std::string&)> print) : print_(std::move(print)) {}

  void line(Instant now, std::string_view text);
  void count(Instant now, std::uint64_t number) noexcept {
    mix(static_cast<std::uint64_t>(now.ns));
    mix(number);
  }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] const std::deque<std::string>& last_lines() const noexcept { return last_; }

 private:
  void mix(std::uint64_t value) noexcept { hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15ULL ^ (hash_ >> 29U); }
  static constexpr std::size_t kLastLines = 60;
  std::function<void(const std::string&)> print_;
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
  std::deque<std::string> last_;
};

}  // namespace hw::sim
