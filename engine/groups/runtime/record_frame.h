// SPDX-License-Identifier: Apache-2.0
// How keys and values of __consumer_offsets begin: an int16 that says what follows (the kind of a
// key, the version of a value).
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/bytes.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

namespace hw::groups {

// Nothing where a text is too long for the format.
template <class Message>
[[nodiscard]] std::optional<Bytes> framed(std::int16_t prefix, const Message& message,
                                          std::int16_t version) {
  wire::Writer writer;
  writer.int16(prefix);
  if (!encode(writer, message, version) || !writer.ok()) {
    return std::nullopt;
  }
  return writer.finish().flatten();
}

// Nothing where the bytes are not a value of a version that is known.
template <class Message>
[[nodiscard]] std::optional<Message> unframed(const Bytes& value) {
  wire::Reader reader(value);
  const std::int16_t version = reader.int16();
  Message message;
  if (!reader.ok() || version < Message::kLowestVersion || version > Message::kHighestVersion ||
      !decode(reader, message, version) || !reader.ok()) {
    return std::nullopt;
  }
  return message;
}

}  // namespace hw::groups
