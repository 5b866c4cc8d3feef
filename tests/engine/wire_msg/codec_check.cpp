// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/wire_msg/codec_check.h"

#include "engine/wire/msg/all_messages.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

namespace hw::wire::test {
namespace {

template <class T>
bool read(const Bytes& body, std::int16_t version, T& message, std::string& error) {
  Reader reader(body);
  if (!decode(reader, message, version)) {
    error = std::string("decode: ") + reader.error() + " at " + std::to_string(reader.error_position());
    return false;
  }
  if (reader.remaining() != 0) {
    error = std::to_string(reader.remaining()) + " bytes left over";
    return false;
  }
  return true;
}

template <class T>
bool write(const T& message, std::int16_t version, Bytes& body, std::string& error) {
  Writer writer;
  if (!encode(writer, message, version)) {
    error = std::string("encode: ") + writer.error() + " in " + writer.error_field();
    return false;
  }
  body = writer.finish().flatten();
  return true;
}

template <class T>
std::string round_trip(const Bytes& body, std::int16_t version) {
  T first;
  T second;
  Bytes again;
  std::string error;
  if (!read(body, version, first, error) || !write(first, version, again, error)) {
    return error;
  }
  if (!(again == body)) {
    return "encoded to other bytes";
  }
  if (!read(again, version, second, error)) {
    return "again: " + error;
  }
  return first == second ? "" : "decoded to another message";
}

template <class T>
std::ptrdiff_t left_over(const Bytes& body, std::int16_t version) {
  T message;
  Reader reader(body);
  return decode(reader, message, version) ? static_cast<std::ptrdiff_t>(reader.remaining()) : -1;
}

template <class T>
std::string settles(const Bytes& body, std::int16_t version) {
  T message;
  Reader reader(body);
  if (!decode(reader, message, version)) {
    return "";
  }
  Bytes first;
  std::string error;
  if (!write(message, version, first, error)) {
    return error.find("ascending") != std::string::npos ? "" : error;
  }
  T again;
  Bytes second;
  if (!read(first, version, again, error) || !write(again, version, second, error)) {
    return "again: " + error;
  }
  return first == second ? "" : "does not settle";
}

template <class T>
std::string encode_default(std::int16_t version, Bytes& body) {
  std::string error;
  return write(T(), version, body, error) ? "" : error;
}

constexpr CodecCheck kChecks[] = {
#define HW_EACH_MESSAGE(type) {type::kName, &round_trip<type>, &left_over<type>, &settles<type>, &encode_default<type>},
#include "engine/wire/msg/for_each_message.inc"
#undef HW_EACH_MESSAGE
};

}  // namespace

std::span<const CodecCheck> codec_checks() { return kChecks; }

const CodecCheck* find_codec_check(std::string_view name) {
  for (const CodecCheck& check : kChecks) {
    if (check.name == name) {
      return &check;
    }
  }
  return nullptr;
}

}  // namespace hw::wire::test
