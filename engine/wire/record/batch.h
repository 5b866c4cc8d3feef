// SPDX-License-Identifier: Apache-2.0
// RecordBatch, format version 2 ("magic 2"): the unit of everything Kafka stores, sends and checks.
//
//   0 base offset i64 · 8 batch length i32 (bytes after this field) · 12 partition leader epoch i32 · 16 magic i8
//   17 crc u32 (CRC-32C over byte 21 to the end) · 21 attributes i16 · 23 last offset delta i32 · 27 base timestamp i64
//   35 max timestamp i64 · 43 producer id i64 · 51 producer epoch i16 · 53 base sequence i32 · 57 record count i32
//   61 records (compressed as one block when attributes say so)
//
// BatchView is a pair of pointer and size: cheap to copy, owns nothing. BatchCursor walks batches laid end to end and tells a
// tail that is cut off (normal in a fetch answer, and after a crash) from bytes that cannot be a batch.
// Thread rule: none of its own; the bytes decide. Source: KIP-98; delete horizon KIP-534.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/wire/record/compression.h"

namespace hw::wire {

inline constexpr std::size_t kLogOverhead = 12;           // base offset and length: what length does not count
inline constexpr std::size_t kBatchHeaderSize = 61;
inline constexpr std::size_t kCrcCoverageStart = 21;
inline constexpr std::size_t kSizeUpToMagic = 17;         // fewer bytes than this say nothing
inline constexpr std::int8_t kBatchMagic = 2;
inline constexpr std::int64_t kNoTimestamp = -1;
inline constexpr std::int32_t kNoSequence = -1;

// Bits of the attributes.
inline constexpr std::int16_t kCompressionMask = 0x07;
inline constexpr std::int16_t kLogAppendTimeBit = 0x08;
inline constexpr std::int16_t kTransactionalBit = 0x10;
inline constexpr std::int16_t kControlBit = 0x20;
inline constexpr std::int16_t kDeleteHorizonBit = 0x40;

enum class TimestampType : std::uint8_t { create_time, log_append_time };

// Big-endian loads and stores, for headers.
[[nodiscard]] inline std::uint16_t load_u16(const std::byte* p) noexcept {
  std::uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap16(v);
}
[[nodiscard]] inline std::uint32_t load_u32(const std::byte* p) noexcept {
  std::uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap32(v);
}
[[nodiscard]] inline std::uint64_t load_u64(const std::byte* p) noexcept {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap64(v);
}
inline void store_u16(std::byte* p, std::uint16_t v) noexcept {
  v = __builtin_bswap16(v);
  std::memcpy(p, &v, sizeof v);
}
inline void store_u32(std::byte* p, std::uint32_t v) noexcept {
  v = __builtin_bswap32(v);
  std::memcpy(p, &v, sizeof v);
}
inline void store_u64(std::byte* p, std::uint64_t v) noexcept {
  v = __builtin_bswap64(v);
  std::memcpy(p, &v, sizeof v);
}

class BatchView {
 public:
  BatchView() noexcept = default;
  // REQUIRES: `batch` is exactly one batch of magic 2, header complete (BatchCursor and read_batch see to it).
  explicit BatchView(ByteSpan batch) noexcept : batch_(batch) {}

  [[nodiscard]] bool valid() const noexcept { return batch_.size() >= kBatchHeaderSize; }
  [[nodiscard]] ByteSpan span() const noexcept { return batch_; }
  [[nodiscard]] std::size_t size() const noexcept { return batch_.size(); }  // header included
  [[nodiscard]] ByteSpan payload() const noexcept { return batch_.subspan(kBatchHeaderSize); }  // as stored

  [[nodiscard]] Offset base_offset() const noexcept { return Offset(i64(0)); }
  [[nodiscard]] std::int32_t length() const noexcept { return i32(8); }
  [[nodiscard]] LeaderEpoch leader_epoch() const noexcept { return LeaderEpoch(i32(12)); }
  [[nodiscard]] std::int8_t magic() const noexcept { return static_cast<std::int8_t>(batch_[16]); }
  [[nodiscard]] std::uint32_t crc() const noexcept { return load_u32(at(17)); }
  [[nodiscard]] std::int16_t attributes() const noexcept { return static_cast<std::int16_t>(load_u16(at(21))); }
  [[nodiscard]] std::int32_t last_offset_delta() const noexcept { return i32(23); }
  [[nodiscard]] std::int64_t base_timestamp() const noexcept { return i64(27); }
  [[nodiscard]] std::int64_t max_timestamp() const noexcept { return i64(35); }
  [[nodiscard]] ProducerId producer_id() const noexcept { return ProducerId(i64(43)); }
  [[nodiscard]] ProducerEpoch producer_epoch() const noexcept {
    return ProducerEpoch(static_cast<std::int16_t>(load_u16(at(51))));
  }
  [[nodiscard]] std::int32_t base_sequence() const noexcept { return i32(53); }
  [[nodiscard]] std::int32_t count() const noexcept { return i32(57); }

  [[nodiscard]] Offset last_offset() const noexcept { return base_offset() + last_offset_delta(); }
  [[nodiscard]] Offset next_offset() const noexcept { return last_offset() + 1; }
  // The sequence of the last record; sequences wrap from 2^31-1 to 0.
  [[nodiscard]] std::int32_t last_sequence() const noexcept;
  [[nodiscard]] bool has_producer_id() const noexcept { return producer_id().value() > kNoProducerId.value(); }

  // The three low bits, also where they name no codec (5 to 7).
  [[nodiscard]] int compression_bits() const noexcept { return attributes() & kCompressionMask; }
  [[nodiscard]] bool known_compression() const noexcept { return compression_bits() <= 4; }
  // REQUIRES: known_compression().
  [[nodiscard]] Compression compression() const noexcept { return static_cast<Compression>(compression_bits()); }
  [[nodiscard]] TimestampType timestamp_type() const noexcept {
    return (attributes() & kLogAppendTimeBit) != 0 ? TimestampType::log_append_time : TimestampType::create_time;
  }
  [[nodiscard]] bool transactional() const noexcept { return (attributes() & kTransactionalBit) != 0; }
  [[nodiscard]] bool control() const noexcept { return (attributes() & kControlBit) != 0; }
  [[nodiscard]] bool has_delete_horizon() const noexcept { return (attributes() & kDeleteHorizonBit) != 0; }
  // When tombstones of this batch may go: the base timestamp field holds it (KIP-534).
  [[nodiscard]] std::optional<std::int64_t> delete_horizon_ms() const noexcept {
    return has_delete_horizon() ? std::optional<std::int64_t>(base_timestamp()) : std::nullopt;
  }
  [[nodiscard]] std::uint32_t computed_crc() const noexcept;
  [[nodiscard]] bool crc_ok() const noexcept { return computed_crc() == crc(); }

 private:
  [[nodiscard]] const std::byte* at(std::size_t i) const noexcept { return batch_.data() + i; }
  [[nodiscard]] std::int32_t i32(std::size_t i) const noexcept { return static_cast<std::int32_t>(load_u32(at(i))); }
  [[nodiscard]] std::int64_t i64(std::size_t i) const noexcept { return static_cast<std::int64_t>(load_u64(at(i))); }
  ByteSpan batch_;
};

enum class BatchStatus : std::uint8_t {
  ok,
  end,        // no bytes left
  truncated,  // a beginning that may become a batch when more bytes come
  corrupt,    // a length that cannot be, or a magic that does not exist
  old_magic,  // magic 0 or 1: complete, but a format this program does not read
};
[[nodiscard]] const char* batch_status_name(BatchStatus status) noexcept;

// The batch at the beginning of `bytes`; `view` is set only with `ok`. `size` is set with ok, truncated and old_magic: how many
// bytes the batch needs in whole (0 where even that is not there yet). The CRC is not looked at.
struct BatchRead {
  BatchStatus status = BatchStatus::end;
  BatchView view;
  std::size_t size = 0;
};
[[nodiscard]] BatchRead read_batch(ByteSpan bytes) noexcept;

// Walks batches end to end:  BatchCursor c(bytes); BatchView b; while (c.next(b)) {…}  if (c.status() != BatchStatus::end) …
class BatchCursor {
 public:
  explicit BatchCursor(ByteSpan bytes) noexcept : bytes_(bytes) {}
  bool next(BatchView& batch) noexcept;
  [[nodiscard]] BatchStatus status() const noexcept { return status_; }       // ok while batches come
  [[nodiscard]] std::size_t position() const noexcept { return position_; }   // after the last batch: where the tail begins
  [[nodiscard]] std::string problem() const;  // for people; empty at the proper end

 private:
  ByteSpan bytes_;
  std::size_t position_ = 0;
  BatchStatus status_ = BatchStatus::ok;
};

// ---- Patching in place (leader). REQUIRES: `batch` holds one whole batch, alone owned.
// Base offset and leader epoch lie outside the CRC, so that assigning them costs nothing.
void set_base_offset(MutableByteSpan batch, Offset base) noexcept;
// Base offset such that the last record gets `last`, which is how a leader assigns offsets.
void set_last_offset(MutableByteSpan batch, Offset last) noexcept;
void set_leader_epoch(MutableByteSpan batch, LeaderEpoch epoch) noexcept;
// Sets max timestamp and timestamp type; where either changes, the CRC is computed anew. Returns true when it was.
bool set_max_timestamp(MutableByteSpan batch, TimestampType type, std::int64_t max_timestamp) noexcept;
// Writes the CRC of what is there.
void seal_batch(MutableByteSpan batch) noexcept;

}  // namespace hw::wire
