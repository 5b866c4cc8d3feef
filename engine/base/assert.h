// SPDX-License-Identifier: Apache-2.0
// HW_ASSERT(condition, "I3"): a numbered invariant, checked in every build.
//
// A failed assertion is a bug of ours, never bad input (bad input gets a Result or a protocol error).
// It prints the expression, the place and the note, then calls the handler, which by default aborts.
#pragma once

namespace hw {

// Called with (expression, note, file, line). Must not return. Set once, before threads start.
using AssertHandler = void (*)(const char* expression, const char* note, const char* file, int line);
void set_assert_handler(AssertHandler handler) noexcept;

[[noreturn]] void assert_failed(const char* expression, const char* note, const char* file,
                                int line) noexcept;

}  // namespace hw

#define HW_ASSERT(condition, note)                                    \
  do {                                                                \
    if (!(condition)) [[unlikely]] {                                  \
      ::hw::assert_failed(#condition, note, __FILE__, __LINE__);      \
    }                                                                 \
  } while (false)
