// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/record/batch_builder.h"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/wire/record/detail/varint.h"

namespace hw::wire {
namespace {

std::size_t field_size(const std::optional<ByteSpan>& field) noexcept {
  return field ? detail::varlong_size(static_cast<std::int64_t>(field->size())) + field->size() : 1;
}

std::byte* put(std::byte* p, ByteSpan bytes) noexcept {
  p = detail::write_varint(p, static_cast<std::int32_t>(bytes.size()));
  if (!bytes.empty()) {
    std::memcpy(p, bytes.data(), bytes.size());
  }
  return p + bytes.size();
}
std::byte* put(std::byte* p, const std::optional<ByteSpan>& field) noexcept {
  return field ? put(p, *field) : detail::write_varint(p, -1);
}

std::size_t fields_size(const RecordIn& record) noexcept {
  std::size_t size = field_size(record.key) + field_size(record.value) +
                     detail::varlong_size(static_cast<std::int64_t>(record.headers.size()));
  for (const HeaderIn& header : record.headers) {
    size += field_size(as_bytes(header.key)) + field_size(header.value);
  }
  return size;
}

}  // namespace

BatchBuilder::BatchBuilder(BatchOptions options, std::size_t capacity)
    : options_(options), bytes_(std::max(capacity, kBatchHeaderSize)) {
  begin();
}

void BatchBuilder::begin() {
  std::memset(bytes_.extend(kBatchHeaderSize), 0, kBatchHeaderSize);
  count_ = 0;
  last_delta_ = -1;
  base_timestamp_ = kNoTimestamp;
  max_timestamp_ = kNoTimestamp;
}

void BatchBuilder::reset(BatchOptions options) {
  options_ = options;
  bytes_.truncate(0);
  begin();
}

std::size_t BatchBuilder::upper_bound(const RecordIn& record) noexcept {
  constexpr std::size_t kLongestOwn = 5 + 1 + 10 + 5;  // length, attributes, timestamp, offset
  return kLongestOwn + fields_size(record);
}

void BatchBuilder::append(const RecordIn& record) {
  append_at(options_.base_offset + (static_cast<OffsetDelta>(last_delta_) + 1), record);
}

void BatchBuilder::append(std::optional<std::string_view> key, std::optional<std::string_view> value,
                          std::int64_t timestamp_ms) {
  RecordIn record;
  if (key) {
    record.key = as_bytes(*key);
  }
  if (value) {
    record.value = as_bytes(*value);
  }
  record.timestamp_ms = timestamp_ms;
  append(record);
}

void BatchBuilder::append_at(Offset offset, const RecordIn& record) {
  const OffsetDelta delta = offset - options_.base_offset;
  HW_ASSERT(delta > last_delta_ && delta <= std::numeric_limits<std::int32_t>::max(), "offsets of a batch ascend");
  if (count_ == 0) {
    base_timestamp_ = options_.delete_horizon_ms.value_or(record.timestamp_ms);
  }
  const std::int64_t timestamp_delta = detail::wrapping_subtract(record.timestamp_ms, base_timestamp_);
  const std::size_t body =
      1 + detail::varlong_size(timestamp_delta) + detail::varlong_size(delta) + fields_size(record);
  HW_ASSERT(body <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()), "a record is below 2 GiB");
  const std::size_t length_size = detail::varlong_size(static_cast<std::int64_t>(body));
  std::byte* p = bytes_.extend(length_size + body);
  p = detail::write_varint(p, static_cast<std::int32_t>(body));
  *p++ = std::byte{0};
  p = detail::write_varlong(p, timestamp_delta);
  p = detail::write_varint(p, static_cast<std::int32_t>(delta));
  p = put(p, record.key);
  p = put(p, record.value);
  p = detail::write_varint(p, static_cast<std::int32_t>(record.headers.size()));
  for (const HeaderIn& header : record.headers) {
    p = put(p, as_bytes(header.key));
    p = put(p, header.value);
  }
  max_timestamp_ = std::max(max_timestamp_, record.timestamp_ms);
  last_delta_ = static_cast<std::int32_t>(delta);
  ++count_;
}

void BatchBuilder::keep_last_offset(Offset last) noexcept {
  const OffsetDelta delta = last - options_.base_offset;
  if (delta > last_delta_ && delta <= std::numeric_limits<std::int32_t>::max()) {
    last_delta_ = static_cast<std::int32_t>(delta);
  }
}

Bytes BatchBuilder::finish() {
  if (options_.compression != Compression::none && bytes_.size() > kBatchHeaderSize) {
    ByteBuilder packed(kBatchHeaderSize + bytes_.size() / 2);
    packed.append(bytes_.span().first(kBatchHeaderSize));
    compress(options_.compression, bytes_.span().subspan(kBatchHeaderSize), packed, options_.level);
    bytes_.truncate(0);
    bytes_.append(packed.span());
  }
  std::byte* const header = bytes_.data();
  int attributes = static_cast<int>(options_.compression);
  std::int64_t max_timestamp = max_timestamp_;
  if (options_.timestamp_type == TimestampType::log_append_time) {
    attributes |= kLogAppendTimeBit;
    max_timestamp = options_.log_append_time_ms.value_or(max_timestamp_);
  }
  if (options_.transactional) {
    attributes |= kTransactionalBit;
  }
  if (options_.control) {
    attributes |= kControlBit;
  }
  if (options_.delete_horizon_ms) {
    attributes |= kDeleteHorizonBit;
  }
  store_u64(header, static_cast<std::uint64_t>(options_.base_offset.value()));
  store_u32(header + 8, static_cast<std::uint32_t>(bytes_.size() - kLogOverhead));
  store_u32(header + 12, static_cast<std::uint32_t>(options_.leader_epoch.value()));
  header[16] = static_cast<std::byte>(kBatchMagic);
  store_u16(header + 21, static_cast<std::uint16_t>(attributes));
  store_u32(header + 23, static_cast<std::uint32_t>(last_delta_));
  store_u64(header + 27, static_cast<std::uint64_t>(options_.delete_horizon_ms.value_or(base_timestamp_)));
  store_u64(header + 35, static_cast<std::uint64_t>(max_timestamp));
  store_u64(header + 43, static_cast<std::uint64_t>(options_.producer_id.value()));
  store_u16(header + 51, static_cast<std::uint16_t>(options_.producer_epoch.value()));
  store_u32(header + 53, static_cast<std::uint32_t>(options_.base_sequence));
  store_u32(header + 57, static_cast<std::uint32_t>(count_));
  seal_batch({header, bytes_.size()});
  Bytes done = bytes_.finish();
  begin();
  return done;
}

const char* control_type_name(ControlType type) noexcept {
  switch (type) {
    case ControlType::abort:
      return "ABORT";
    case ControlType::commit:
      return "COMMIT";
    case ControlType::leader_change:
      return "LEADER_CHANGE";
    case ControlType::snapshot_header:
      return "SNAPSHOT_HEADER";
    case ControlType::snapshot_footer:
      return "SNAPSHOT_FOOTER";
    case ControlType::kraft_version:
      return "KRAFT_VERSION";
    case ControlType::kraft_voters:
      return "KRAFT_VOTERS";
  }
  return "?";
}

std::optional<ControlType> parse_control_key(const std::optional<ByteSpan>& key) noexcept {
  if (!key || key->size() < 4) {
    return std::nullopt;
  }
  const auto version = static_cast<std::int16_t>(load_u16(key->data()));
  const auto type = static_cast<std::int16_t>(load_u16(key->data() + 2));
  if (version < 0 || type < 0 || type > static_cast<std::int16_t>(ControlType::kraft_voters)) {
    return std::nullopt;
  }
  return static_cast<ControlType>(type);
}

Bytes control_batch(ControlType type, ByteSpan value, std::int64_t timestamp_ms, BatchOptions options) {
  options.control = true;
  std::array<std::byte, 4> key{};
  store_u16(key.data() + 2, static_cast<std::uint16_t>(type));
  BatchBuilder builder(options, kBatchHeaderSize + value.size() + 32);
  RecordIn record;
  record.key = ByteSpan(key);
  record.value = value;
  record.timestamp_ms = timestamp_ms;
  builder.append(record);
  return builder.finish();
}

Bytes end_txn_marker_batch(bool commit, std::int32_t coordinator_epoch, ProducerId producer_id,
                           ProducerEpoch producer_epoch, std::int64_t timestamp_ms, Offset base_offset,
                           LeaderEpoch leader_epoch) {
  std::array<std::byte, 6> value{};  // version 0, coordinator epoch
  store_u32(value.data() + 2, static_cast<std::uint32_t>(coordinator_epoch));
  BatchOptions options;
  options.transactional = true;
  options.producer_id = producer_id;
  options.producer_epoch = producer_epoch;
  options.base_offset = base_offset;
  options.leader_epoch = leader_epoch;
  return control_batch(commit ? ControlType::commit : ControlType::abort, ByteSpan(value), timestamp_ms, options);
}

std::optional<std::int32_t> parse_end_txn_marker(const std::optional<ByteSpan>& value) noexcept {
  if (!value || value->size() < 6 || static_cast<std::int16_t>(load_u16(value->data())) < 0) {
    return std::nullopt;
  }
  return static_cast<std::int32_t>(load_u32(value->data() + 2));
}

}  // namespace hw::wire
