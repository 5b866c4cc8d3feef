// SPDX-License-Identifier: Apache-2.0
// The generated codec of every message behind one interface, for properties that hold for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/bytes.h"

namespace hw::wire::test {

struct CodecCheck {
  std::string_view name;
  // "" where `body` decodes, is consumed to its end, encodes to the same bytes, and these decode to an equal message.
  std::string (*round_trip)(const Bytes& body, std::int16_t version);
  // How many bytes are left over after decoding; -1 where `body` does not decode.
  std::ptrdiff_t (*left_over)(const Bytes& body, std::int16_t version);
  [[nodiscard]] bool decodes(const Bytes& body, std::int16_t version) const { return left_over(body, version) >= 0; }
  // "" unless what decodes cannot be encoded, or encodes to something that does not stay the same when decoded and
  // encoded again. Bytes that do not decode are fine, and so are unknown tags out of order, which cannot be written.
  std::string (*settles)(const Bytes& body, std::int16_t version);
  // The default message of the struct, encoded.
  std::string (*encode_default)(std::int16_t version, Bytes& body);
};

[[nodiscard]] std::span<const CodecCheck> codec_checks();
[[nodiscard]] const CodecCheck* find_codec_check(std::string_view name);

}  // namespace hw::wire::test
