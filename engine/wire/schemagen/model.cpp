// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/schemagen/model.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace hw::schemagen {
namespace {

using Form = ScalarType::Form;

constexpr ScalarType kScalars[] = {
    {"bool", "boolean", "plain", "bool", "boolean", 1, Form::raw},
    {"int8", "int8", "plain", "std::int8_t", "int8", 1, Form::raw},
    {"int16", "int16", "plain", "std::int16_t", "int16", 2, Form::raw},
    {"uint16", "uint16", "plain", "std::uint16_t", "uint16", 2, Form::raw},
    {"int32", "int32", "plain", "std::int32_t", "int32", 4, Form::raw},
    {"uint32", "uint32", "plain", "std::uint32_t", "uint32", 4, Form::raw},
    {"int64", "int64", "plain", "std::int64_t", "int64", 8, Form::raw},
    {"float64", "float64", "plain", "double", "float64", 8, Form::raw},
    {"uuid", "uuid", "plain", "Uuid", "uuid", 16, Form::uuid},
    {"string", "string", "plain", "std::string", "string", 0, Form::string},
    {"bytes", "bytes", "plain", "Bytes", "bytes", 0, Form::bytes},
    {"records", "records", "plain", "BytesChain", "records", 0, Form::records},
    {"BrokerId", "int32", "broker_id", "BrokerId", "int32", 4, Form::strong},
    {"LeaderEpoch", "int32", "leader_epoch", "LeaderEpoch", "int32", 4, Form::strong},
    {"PartitionIndex", "int32", "partition_index", "PartitionIndex", "int32", 4, Form::strong},
    {"Offset", "int64", "offset", "Offset", "int64", 8, Form::strong},
    {"ProducerId", "int64", "producer_id", "ProducerId", "int64", 8, Form::strong},
    {"ProducerEpoch", "int16", "producer_epoch", "ProducerEpoch", "int16", 2, Form::strong},
    {"ErrorCode", "int16", "error_code", "ErrorCode", "int16", 2, Form::enumeration},
    {"TopicName", "string", "topic_name", "std::string", "string", 0, Form::string},
    {"GroupId", "string", "group_id", "std::string", "string", 0, Form::string},
    {"TransactionalId", "string", "transactional_id", "std::string", "string", 0, Form::string},
};

constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Range intersect(Range a, Range b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }

std::string text(Range range) {
  if (range.empty()) {
    return "none";
  }
  if (range.high == kOpen) {
    return std::to_string(range.low) + "+";
  }
  return range.low == range.high ? std::to_string(range.low)
                                 : std::to_string(range.low) + "-" + std::to_string(range.high);
}

bool ScalarType::integer() const { return wire.starts_with("int") || wire.starts_with("uint"); }

const ScalarType* find_scalar(std::string_view name) {
  const auto* found = std::ranges::find(kScalars, name, &ScalarType::name);
  return found == std::end(kScalars) ? nullptr : found;
}

std::string_view text(Kind kind) {
  switch (kind) {
    case Kind::request: return "request";
    case Kind::response: return "response";
    case Kind::header: return "header";
    case Kind::data: return "data";
    case Kind::metadata: return "metadata";
    case Kind::coordinator_key: return "coordinator_key";
    case Kind::coordinator_value: return "coordinator_value";
  }
  return "";
}

const Struct* Message::find(std::string_view struct_name) const {
  const auto found = std::ranges::find(structs, struct_name, &Struct::name);
  return found == structs.end() ? nullptr : &*found;
}

std::string snake_case(std::string_view camel) {
  std::string snake;
  for (std::size_t i = 0; i < camel.size(); ++i) {
    const char c = camel[i];
    if (!is_upper(c)) {
      snake += c;
      continue;
    }
    if (i > 0) {
      const char before = camel[i - 1];
      const bool small_follows = i + 1 < camel.size() && is_lower(camel[i + 1]);
      if (is_lower(before) || is_digit(before) || (is_upper(before) && small_follows)) {
        snake += '_';
      }
    }
    snake += static_cast<char>(c - 'A' + 'a');
  }
  return snake;
}

bool parse_number(std::string_view text, std::int64_t& value) {
  const bool hex = text.starts_with("0x");
  if (hex) {
    text.remove_prefix(2);
  }
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, hex ? 16 : 10);
  return error == std::errc() && at == end && !text.empty();
}

}  // namespace hw::schemagen
