// SPDX-License-Identifier: Apache-2.0
// dissect: bytes to a tree of fields, each with its place in the frame; what the wire inspector shows.
//
// It reads by the field tables, not with the codec, so it also shows how far a broken frame is in order. Sensitive
// values (SASL bytes, SCRAM salts and keys, token HMACs, values of configs whose name speaks of a password or secret)
// are hidden unless asked for. The tree is bounded by DissectOptions, whatever the frame says. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/wire/runtime/field_table.h"

namespace hw::wire {

class Reader;

struct DissectedField {
  std::string name;   // in snake_case; "[3]" for an element of an array
  std::string type;   // "int32", "[]TopicProduceData", "string?"
  std::string value;  // of a leaf; "3 items" of an array; "null"
  std::size_t begin = 0;  // bytes of the frame: length or tag before the value included
  std::size_t end = 0;
  const FieldInfo* info = nullptr;  // null for elements, unknown tagged fields and the message itself
  std::vector<DissectedField> children;
};

struct DissectOptions {
  std::size_t max_fields = 20'000;     // nodes; further ones are parsed but not kept
  std::size_t max_value_bytes = 256;   // of a string or bytes in `value`
  bool show_sensitive = false;
};

struct Dissection {
  DissectedField root;          // the message; for whole frames: header and body below "frame"
  bool complete = false;        // parsed to the end without error, and no bytes left over
  bool cut = false;             // max_fields was reached
  std::string error;            // why not complete
  std::size_t error_position = 0;
  std::size_t left_over = 0;    // bytes after the message
};

// One message, without its header.
[[nodiscard]] Dissection dissect(const MessageInfo& message, std::int16_t version, const Bytes& body,
                                 const DissectOptions& options = {});
// A header and then a body. `body` may be null where the API is not known: it is then kept as raw bytes.
[[nodiscard]] Dissection dissect(const MessageInfo& header, std::int16_t header_version, const MessageInfo* body,
                                 std::int16_t version, const Bytes& frame, const DissectOptions& options = {});

// The tree as text, one field a line, two spaces a level: `topic_data: 1 item`.
[[nodiscard]] std::string print(const DissectedField& field);
// All of it in one line, for logs and lists: `{acks=-1 timeout_ms=30000 topic_data=[{…}]}`, at most `max_bytes` long.
[[nodiscard]] std::string print_line(const DissectedField& field, std::size_t max_bytes = 1'000);

}  // namespace hw::wire
