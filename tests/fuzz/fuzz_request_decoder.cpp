// SPDX-License-Identifier: Apache-2.0
// Bytes as messages: what decodes must encode to something that stays the same when decoded and encoded again, and the
// dissector must come to the same end as the decoder.
//
// Input: key and version as big endian int16, one byte 0 for requests and 1 for responses, then the body. Any other
// third part takes the key as an index of all messages, so that headers and records get their share.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/wire/msg/messages.h"
#include "engine/wire/runtime/reader.h"
#include "tests/engine/wire_msg/codec_check.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::wire;  // NOLINT(google-build-using-namespace)

namespace {

const MessageInfo* choose(std::int16_t key, std::uint8_t kind) {
  if (kind < 2) {
    return find_message(key, kind == 0);
  }
  return &all_messages()[static_cast<std::uint16_t>(key) % all_messages().size()];
}

void require(bool condition, const MessageInfo& info, std::int16_t version, const std::string& what) {
  if (!condition) {
    std::fprintf(stderr, "%s v%d: %s\n", std::string(info.name).c_str(), version, what.c_str());
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input = Bytes::copy_of(ByteSpan(reinterpret_cast<const std::byte*>(data), size));
  Reader head(input);
  const std::int16_t key = head.int16();
  const std::int16_t version = head.int16();
  const std::uint8_t kind = static_cast<std::uint8_t>(head.int8());
  if (!head.ok()) {
    return -1;
  }
  const MessageInfo* info = choose(key, kind);
  if (info == nullptr) {
    return -1;
  }
  const Bytes body = input.slice(head.position(), head.remaining());
  const test::CodecCheck* check = test::find_codec_check(info->name);
  require(check != nullptr, *info, version, "has no codec");
  const std::ptrdiff_t left_over = check->left_over(body, version);
  const std::string wrong = check->settles(body, version);
  require(wrong.empty(), *info, version, wrong);
  const Dissection dissection = dissect(*info, version, body);
  require(left_over != 0 || dissection.complete, *info, version, "decodes, but the dissector says " + dissection.error);
  require(left_over <= 0 || dissection.left_over == static_cast<std::size_t>(left_over), *info, version,
          "decoder and dissector leave different bytes");
  require(info->versions.contains(version) || left_over < 0, *info, version, "decodes outside of its versions");
  return 0;
}
