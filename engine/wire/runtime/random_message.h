// SPDX-License-Identifier: Apache-2.0
// Random messages by the field tables, for property tests and fuzz corpora.
//
// What comes out is in the form that encode() writes: decoding and encoding it again gives the same bytes. Known
// tagged fields appear only with values that differ from the default, now and then an unknown one follows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/bytes.h"
#include "engine/base/prng.h"
#include "engine/wire/runtime/field_table.h"

namespace hw::wire {

struct RandomOptions {
  std::size_t max_items = 3;   // of an array
  std::size_t max_text = 20;   // bytes of most strings; a few are ten times as long
  bool unknown_tags = true;
};

// REQUIRES: the message has the version.
[[nodiscard]] Bytes random_message(const MessageInfo& message, std::int16_t version, Prng& prng,
                                   const RandomOptions& options = {});
// The message with every field at its default.
[[nodiscard]] Bytes default_message(const MessageInfo& message, std::int16_t version);

}  // namespace hw::wire
