// SPDX-License-Identifier: Apache-2.0
#include "engine/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace hw {

namespace {
AssertHandler g_handler = nullptr;
}

void set_assert_handler(AssertHandler handler) noexcept { g_handler = handler; }

void assert_failed(const char* expression, const char* note, const char* file, int line) noexcept {
  std::fprintf(stderr, "assertion failed: %s (%s) at %s:%d\n", expression, note, file, line);
  std::fflush(stderr);
  if (g_handler != nullptr) {
    g_handler(expression, note, file, line);
  }
  std::abort();
}

}  // namespace hw
