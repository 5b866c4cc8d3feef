// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/runtime/reader.h"

#include <bit>
#include <limits>
#include <utility>

#include "engine/wire/runtime/varint.h"

namespace hw::wire {
namespace {

constexpr std::size_t kMemoryFloor = std::size_t{16} << 20;
constexpr std::size_t kMemoryFactor = 16;
constexpr std::int64_t kNull = -1;

}  // namespace

Reader::Reader(Bytes frame, std::size_t memory_limit) noexcept
    : frame_(std::move(frame)),
      at_(frame_.data()),
      end_(frame_.data() + frame_.size()),
      memory_left_(memory_limit != 0 ? memory_limit : kMemoryFloor + kMemoryFactor * frame_.size()) {}

bool Reader::fail(const char* why) noexcept {
  if (error_ == nullptr) {
    error_ = why;
    error_position_ = position();
  }
  at_ = end_;
  return false;
}

double Reader::float64() noexcept { return std::bit_cast<double>(int64()); }

Uuid Reader::uuid() noexcept {
  Uuid id;
  id.high = big_endian<std::uint64_t>();
  id.low = big_endian<std::uint64_t>();
  return ok() ? id : Uuid{};
}

std::uint32_t Reader::uvarint() noexcept {
  std::uint32_t value = 0;
  const std::size_t size = get_uvarint(at_, end_, value);
  if (size == 0) {
    fail("an unsigned varint is cut off or longer than five bytes");
    return 0;
  }
  at_ += size;
  return value;
}

std::int32_t Reader::varint() noexcept { return unzigzag(uvarint()); }

std::int64_t Reader::varlong() noexcept {
  std::uint64_t value = 0;
  const std::size_t size = get_uvarint(at_, end_, value);
  if (size == 0) {
    fail("a varint is cut off or longer than ten bytes");
    return 0;
  }
  at_ += size;
  return unzigzag(value);
}

std::int64_t Reader::length(bool compact, bool short_length) noexcept {
  std::int64_t size = 0;
  if (compact) {
    size = static_cast<std::int64_t>(uvarint()) - 1;
  } else {
    size = short_length ? int16() : int32();
  }
  if (!ok()) {
    return -2;
  }
  if (size < kNull) {
    fail("a negative length");
    return -2;
  }
  return size;
}

std::optional<std::string> Reader::nullable_string(bool compact) {
  const std::int64_t size = length(compact, true);
  if (size < 0) {
    return std::nullopt;
  }
  const std::size_t count = static_cast<std::size_t>(size);
  if (count > kMaxString) {
    fail("a string longer than 32767 bytes");
    return std::nullopt;
  }
  if (count > remaining()) {
    fail("the frame ends inside a string");
    return std::nullopt;
  }
  std::string text(as_text({at_, count}));
  at_ += count;
  return text;
}

std::string Reader::string(bool compact) {
  std::optional<std::string> text = nullable_string(compact);
  if (!text.has_value()) {
    fail("null for a string that may not be null");
    return {};
  }
  return std::move(*text);
}

Bytes Reader::raw(std::size_t size) noexcept {
  if (size > remaining()) {
    fail("the frame ends inside bytes");
    return {};
  }
  Bytes slice = frame_.slice(position(), size);
  at_ += size;
  return slice;
}

std::optional<Bytes> Reader::nullable_bytes(bool compact) noexcept {
  const std::int64_t size = length(compact, false);
  if (size < 0) {
    return std::nullopt;
  }
  return raw(static_cast<std::size_t>(size));
}

Bytes Reader::bytes(bool compact) noexcept {
  std::optional<Bytes> value = nullable_bytes(compact);
  if (!value.has_value()) {
    fail("null for bytes that may not be null");
    return {};
  }
  return std::move(*value);
}

std::optional<BytesChain> Reader::nullable_records(bool compact) {
  std::optional<Bytes> value = nullable_bytes(compact);
  if (!value.has_value()) {
    return std::nullopt;
  }
  return BytesChain(std::move(*value));
}

BytesChain Reader::records(bool compact) { return BytesChain(bytes(compact)); }

bool Reader::array_length(bool compact, bool nullable, std::size_t least, std::size_t memory,
                          std::size_t& count) noexcept {
  count = 0;
  const std::int64_t size = length(compact, false);
  if (size == kNull) {
    return nullable ? false : fail("null for an array that may not be null");
  }
  if (size < 0) {
    return false;
  }
  const std::size_t wanted = static_cast<std::size_t>(size);
  if (wanted > remaining() / (least == 0 ? 1 : least)) {
    return fail("an array longer than the rest of the frame");
  }
  if (memory != 0 && wanted > memory_left_ / memory) {
    return fail("an array that would need too much memory");
  }
  memory_left_ -= wanted * memory;
  count = wanted;
  return true;
}

bool Reader::struct_follows() noexcept {
  // Only the sign is looked at, as Kafka does.
  return int8() >= 0 && ok();
}

std::uint32_t Reader::tag_count() noexcept {
  const std::uint32_t count = uvarint();
  if (count > remaining() / 2) {  // a tag and a size are two bytes at least
    fail("more tagged fields than the frame has room for");
    return 0;
  }
  return count;
}

bool Reader::open_tag(Tag& tag) noexcept {
  tag.number = uvarint();
  tag.size = uvarint();
  if (!ok()) {
    return false;
  }
  if (tag.size > remaining()) {
    return fail("the frame ends inside a tagged field");
  }
  tag.outer_end = end_;
  end_ = at_ + tag.size;
  return true;
}

bool Reader::close_tag(const Tag& tag) noexcept {
  if (!ok()) {
    return false;
  }
  if (at_ != end_) {
    return fail("a tagged field has another size than it says");
  }
  end_ = tag.outer_end;
  return true;
}

void Reader::keep_tag(const Tag& tag, std::vector<RawTaggedField>& unknown) {
  if (memory_left_ < sizeof(RawTaggedField)) {
    fail("tagged fields that would need too much memory");
    return;
  }
  memory_left_ -= sizeof(RawTaggedField);
  unknown.push_back({tag.number, raw(tag.size)});
}

bool Reader::skip_tags(std::vector<RawTaggedField>& unknown) {
  for (std::uint32_t left = tag_count(); left > 0; --left) {
    Tag tag;
    if (!open_tag(tag)) {
      return false;
    }
    keep_tag(tag, unknown);
    if (!close_tag(tag)) {
      return false;
    }
  }
  return ok();
}

}  // namespace hw::wire
