// SPDX-License-Identifier: Apache-2.0
#include "engine/node/limits.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>

namespace hw::node {

std::uint64_t raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return 1024;
  }
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, 1U << 20U);
  if (limit.rlim_cur < wanted) {
    limit.rlim_cur = wanted;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    (void)getrlimit(RLIMIT_NOFILE, &limit);
  }
  return limit.rlim_cur;
}

void tune_allocator() noexcept {
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, 32 << 20);
  mallopt(M_ARENA_MAX, 4);
}

}  // namespace hw::node
