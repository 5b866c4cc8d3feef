// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/runtime/writer.h"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/varint.h"

namespace hw::wire {
namespace {

constexpr std::size_t kMaxLength = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) - 1;

}  // namespace

bool Writer::fail(const char* why, const char* field) noexcept {
  if (error_ == nullptr) {
    error_ = why;
    error_field_ = field;
  }
  return false;
}

void Writer::float64(double value) { int64(std::bit_cast<std::int64_t>(value)); }

void Writer::uvarint(std::uint32_t value) {
  if (value < 0x80) {
    *block_.extend(1) = static_cast<std::byte>(value);
    return;
  }
  put_uvarint(block_.extend(uvarint_size(value)), value);
}

void Writer::varint(std::int32_t value) { uvarint(zigzag(value)); }

void Writer::varlong(std::int64_t value) {
  const std::uint64_t coded = zigzag(value);
  put_uvarint(block_.extend(uvarint_size(coded)), coded);
}

void Writer::string(std::string_view value, bool compact) {
  if (value.size() > Reader::kMaxString) {
    fail("a string longer than 32767 bytes");
    return;
  }
  if (compact) {
    uvarint(static_cast<std::uint32_t>(value.size() + 1));
  } else {
    int16(static_cast<std::int16_t>(value.size()));
  }
  block_.append(as_bytes(value));
}

void Writer::array_length(std::size_t count, bool compact) {
  if (count > kMaxLength) {
    fail("more elements or bytes than a length can say");
    return;
  }
  if (compact) {
    uvarint(static_cast<std::uint32_t>(count + 1));
  } else {
    int32(static_cast<std::int32_t>(count));
  }
}

void Writer::bytes(ByteSpan value, bool compact) {
  array_length(value.size(), compact);
  block_.append(value);
}

void Writer::records(const BytesChain& value, bool compact) {
  array_length(value.size(), compact);
  if (!value.empty()) {
    spliced_bytes_ += value.size();
    splices_.push_back({block_.size(), value});
  }
}

void Writer::null_string(bool compact) {
  if (compact) {
    uvarint(0);
  } else {
    int16(-1);
  }
}

void Writer::null_bytes(bool compact) {
  if (compact) {
    uvarint(0);
  } else {
    int32(-1);
  }
}

std::size_t Writer::begin_tag(std::uint32_t tag) {
  uvarint(tag);
  const std::size_t mark = block_.size();
  block_.extend(1);  // nearly every tagged field is shorter than 128 bytes
  return mark;
}

void Writer::end_tag(std::size_t mark) {
  HW_ASSERT(splices_.empty() || splices_.back().at <= mark, "no schema has records inside a tagged field");
  const std::size_t size = block_.size() - mark - 1;
  const std::size_t width = uvarint_size(size);
  if (width > 1) {
    block_.extend(width - 1);
    std::memmove(block_.data() + mark + width, block_.data() + mark + 1, size);
  }
  put_uvarint(block_.data() + mark, size);
}

void Writer::write_unknown_below(const std::vector<RawTaggedField>& fields, std::size_t& next, std::uint64_t tag) {
  while (next < fields.size() && fields[next].tag < tag) {
    if (next > 0 && fields[next].tag <= fields[next - 1].tag) {
      fail("unknown tagged fields are not in ascending order");
      return;
    }
    uvarint(fields[next].tag);
    uvarint(static_cast<std::uint32_t>(fields[next].data.size()));
    block_.append(fields[next].data.span());
    ++next;
  }
  if (next < fields.size() && fields[next].tag == tag) {
    fail("an unknown tagged field uses the tag of a known one");
  }
}

void Writer::only_unknown(const std::vector<RawTaggedField>& fields) {
  tag_count(fields.size());
  std::size_t next = 0;
  write_unknown_below(fields, next, kNoMoreTags);
}

Writer::LengthMark Writer::reserve_length() {
  const std::size_t at = block_.size();
  block_.extend(4);
  return {at, size()};
}

void Writer::patch_length(LengthMark mark) {
  const std::size_t length = size() - mark.written;
  if (length > kMaxLength) {
    fail("a frame longer than a length can say");
    return;
  }
  for (std::size_t i = 0; i < 4; ++i) {
    block_.data()[mark.at + i] = static_cast<std::byte>(length >> (8 * (3 - i)));
  }
}

BytesChain Writer::finish() {
  BytesChain chain;
  std::vector<Splice> splices = std::exchange(splices_, {});
  spliced_bytes_ = 0;
  const Bytes block = block_.finish();
  if (!ok()) {
    return chain;
  }
  std::size_t done = 0;
  for (Splice& splice : splices) {
    chain.append(block.slice(done, splice.at - done));
    chain.append(std::move(splice.pieces));
    done = splice.at;
  }
  chain.append(done == 0 ? block : block.slice(done, block.size() - done));
  return chain;
}

}  // namespace hw::wire
