// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/record/record_iterator.h"

#include <fmt/core.h>

#include "engine/wire/record/detail/walk.h"

namespace hw::wire {

bool HeaderCursor::next(HeaderView& header) noexcept {
  if (left_ == 0) {
    return false;
  }
  const std::byte* p = bytes_.data();
  const std::byte* const end = p + bytes_.size();
  std::int32_t key_size = 0;
  std::int32_t value_size = 0;
  if (!detail::skip_field(p, end, key_size) || key_size < 0) {
    left_ = 0;
    return false;
  }
  const std::byte* const key = p - key_size;
  if (!detail::skip_field(p, end, value_size)) {
    left_ = 0;
    return false;
  }
  header.key = as_text({key, static_cast<std::size_t>(key_size)});
  header.value = value_size < 0 ? std::nullopt
                                : std::optional<ByteSpan>(ByteSpan{p - value_size, static_cast<std::size_t>(value_size)});
  bytes_ = {p, static_cast<std::size_t>(end - p)};
  --left_;
  return true;
}

std::size_t parse_record(ByteSpan bytes, const BatchView& batch, RecordView& record, const char*& problem) noexcept {
  const std::byte* p = bytes.data();
  const std::byte* const end = p + bytes.size();
  std::int32_t length = 0;
  if (!detail::read_varint(p, end, length) || length <= 0) {
    problem = "the length of a record is wrong";
    return 0;
  }
  if (length > end - p) {
    problem = "a record is longer than its batch";
    return 0;
  }
  detail::RecordParts parts;
  const std::byte* const record_end = p + length;
  problem = detail::walk_record(p, record_end, parts);
  if (problem != nullptr) {
    return 0;
  }
  const auto field = [](const std::byte* at, std::int32_t size) {
    return size < 0 ? std::nullopt : std::optional<ByteSpan>(ByteSpan{at, static_cast<std::size_t>(size)});
  };
  record.offset = Offset(detail::wrapping_add(batch.base_offset().value(), parts.offset_delta));
  // The base timestamp field may hold a delete horizon; deltas stay relative to it (KIP-534 keeps them so).
  record.timestamp_ms = batch.timestamp_type() == TimestampType::log_append_time
                            ? batch.max_timestamp()
                            : detail::wrapping_add(batch.base_timestamp(), parts.timestamp_delta);
  record.key = field(parts.key, parts.key_size);
  record.value = field(parts.value, parts.value_size);
  record.header_count = parts.header_count;
  record.header_bytes = {parts.headers, static_cast<std::size_t>(record_end - parts.headers)};
  const auto size = static_cast<std::size_t>(record_end - bytes.data());
  record.size_bytes = static_cast<std::int32_t>(size);
  return size;
}

Result<RecordIterator> RecordIterator::open(const BatchView& batch, std::size_t max_decompressed) {
  RecordIterator records;
  records.batch_ = batch;
  if (!batch.known_compression()) {
    return fail(Errc::unsupported, fmt::format("compression type {} does not exist", batch.compression_bits()));
  }
  if (batch.count() < 0) {
    return fail(Errc::corrupt, fmt::format("the batch counts {} records", batch.count()));
  }
  if (batch.compression() == Compression::none) {
    records.records_ = batch.payload();
    return records;
  }
  HW_TRY(records.owner_, decompress(batch.compression(), batch.payload(), max_decompressed));
  records.records_ = records.owner_.span();
  return records;
}

Result<RecordIterator> RecordIterator::open(Bytes batch, std::size_t max_decompressed) {
  HW_TRY(RecordIterator records, open(BatchView(batch.span()), max_decompressed));
  if (records.owner_.empty()) {
    records.owner_ = std::move(batch);
  } else {
    records.keep_ = std::move(batch);
  }
  return records;
}

bool RecordIterator::next(RecordView& record) {
  if (problem_ != nullptr) {
    return false;
  }
  if (index_ == batch_.count()) {
    if (position_ != records_.size()) {
      problem_ = "bytes are left behind the last record";
    }
    return false;
  }
  if (position_ == records_.size()) {
    problem_ = "the batch has fewer records than it counts";
    return false;
  }
  const std::size_t size = parse_record(records_.subspan(position_), batch_, record, problem_);
  if (size == 0) {
    return false;
  }
  record.index = index_++;
  position_ += size;
  return true;
}

std::string RecordIterator::problem() const {
  if (problem_ == nullptr) {
    return {};
  }
  return fmt::format("record {} of the batch at offset {}: {}", index_, batch_.base_offset().value(), problem_);
}

Bytes RecordIterator::share(ByteSpan view) const {
  const ByteSpan whole = owner_.span();
  if (!view.empty() && view.data() >= whole.data() && view.data() + view.size() <= whole.data() + whole.size()) {
    return owner_.slice(static_cast<std::size_t>(view.data() - whole.data()), view.size());
  }
  return Bytes::copy_of(view);
}

}  // namespace hw::wire
