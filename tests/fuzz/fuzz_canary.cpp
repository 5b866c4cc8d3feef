// SPDX-License-Identifier: Apache-2.0
// Crashes on one word, which random bytes do not hit but a fuzzer that sees coverage finds in seconds.
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size >= 4 && data[0] == 'H') {
    if (data[1] == 'W') {
      if (data[2] == '!') {
        if (data[3] == '?') {
          std::abort();
        }
      }
    }
  }
  return 0;
}
