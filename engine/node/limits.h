// SPDX-License-Identifier: Apache-2.0
// What the operating system grants this process.
#pragma once

#include <cstdint>

namespace hw::node {

// Raises RLIMIT_NOFILE to its hard limit (at most 1,048,576) and returns the limit in force.
std::uint64_t raise_descriptor_limit() noexcept;
// Makes malloc keep and reuse the large blocks that frames are read into: a fresh page costs several times the copy.
void tune_allocator() noexcept;

}  // namespace hw::node
