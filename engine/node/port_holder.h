// SPDX-License-Identifier: Apache-2.0
// Who holds a TCP port, in words for a person, and which one is free instead. Reads /proc; never fails loudly.
#pragma once

#include <cstdint>
#include <string>

namespace hw::node {

// "kafka (pid 4711)", or "another process" where that cannot be seen.
[[nodiscard]] std::string describe_port_holder(std::uint16_t port);
// The first port from `from` on (at most 100 tried) that can be bound on `address`; 0: none.
[[nodiscard]] std::uint16_t next_free_port(const std::string& address, std::uint16_t from);

}  // namespace hw::node
