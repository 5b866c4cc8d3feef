// SPDX-License-Identifier: Apache-2.0
#include "engine/sim/trace.h"

#include <fmt/core.h>

namespace hw::sim {

void Trace::line(Instant now, std::string_view text) {
  mix(static_cast<std::uint64_t>(now.ns));
  for (const char c : text) {
    mix(static_cast<unsigned char>(c));
  }
  std::string made = fmt::format("{:>9.3f} s  {}", static_cast<double>(now.ns) / 1e9, text);
  if (print_) {
    print_(made);
  }
  last_.push_back(std::move(made));
  if (last_.size() > kLastLines) {
    last_.pop_front();
  }
}

}  // namespace hw::sim
