// SPDX-License-Identifier: Apache-2.0
// Builds record batches of magic 2, data and control.
//
// BatchBuilder writes each record once, uncompressed; finish() compresses when asked, seals and hands over Bytes. It can be used
// again after reset(). Thread rule: one thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/wire/record/batch.h"

namespace hw::wire {

struct HeaderIn {
  std::string_view key;
  std::optional<ByteSpan> value;
};

struct RecordIn {
  std::optional<ByteSpan> key;    // nullopt is null
  std::optional<ByteSpan> value;
  std::span<const HeaderIn> headers{};
  std::int64_t timestamp_ms = kNoTimestamp;
};

struct BatchOptions {
  Compression compression = Compression::none;
  std::optional<int> level;
  Offset base_offset{0};
  LeaderEpoch leader_epoch = kNoLeaderEpoch;
  ProducerId producer_id = kNoProducerId;
  ProducerEpoch producer_epoch = kNoProducerEpoch;
  std::int32_t base_sequence = kNoSequence;
  bool transactional = false;
  bool control = false;
  TimestampType timestamp_type = TimestampType::create_time;
  std::optional<std::int64_t> log_append_time_ms;  // max timestamp when timestamp_type is log_append_time
  std::optional<std::int64_t> delete_horizon_ms;
};

class BatchBuilder {
 public:
  explicit BatchBuilder(BatchOptions options = {}, std::size_t capacity = 1024);

  // Gives the record the next offset.
  void append(const RecordIn& record);
  void append(std::optional<std::string_view> key, std::optional<std::string_view> value, std::int64_t timestamp_ms);
  // Gives the record this offset, which must be greater than the one before (compaction leaves gaps).
  void append_at(Offset offset, const RecordIn& record);

  [[nodiscard]] std::int32_t count() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  // Header and records so far, uncompressed.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_.size(); }
  [[nodiscard]] BatchOptions& options() noexcept { return options_; }  // sequences are often known only at the end
  // What `record` would add at most.
  [[nodiscard]] static std::size_t upper_bound(const RecordIn& record) noexcept;

  // Keeps the offset range of a batch that has been compacted: the last offset delta is at least this.
  void keep_last_offset(Offset last) noexcept;

  [[nodiscard]] Bytes finish();  // the builder is empty afterwards, options kept
  void reset(BatchOptions options);

 private:
  void begin();
  BatchOptions options_;
  ByteBuilder bytes_;
  std::int32_t count_ = 0;
  std::int32_t last_delta_ = -1;
  std::int64_t base_timestamp_ = kNoTimestamp;
  std::int64_t max_timestamp_ = kNoTimestamp;
};

// ---- Control records: key = int16 version 0, int16 type; value = a versioned message.
enum class ControlType : std::int16_t {
  abort = 0,
  commit = 1,
  leader_change = 2,
  snapshot_header = 3,
  snapshot_footer = 4,
  kraft_version = 5,
  kraft_voters = 6,
};
[[nodiscard]] const char* control_type_name(ControlType type) noexcept;  // "COMMIT", "LEADER_CHANGE", …
// nullopt where the key is too short or the type unknown.
[[nodiscard]] std::optional<ControlType> parse_control_key(const std::optional<ByteSpan>& key) noexcept;

// A control batch of one record. `value` is the encoded message (for example LeaderChangeMessage version 0), `options`
// gives offset, epoch and producer; control is set here.
[[nodiscard]] Bytes control_batch(ControlType type, ByteSpan value, std::int64_t timestamp_ms, BatchOptions options = {});
// The marker that ends a transaction (KIP-98): transactional, without a sequence.
[[nodiscard]] Bytes end_txn_marker_batch(bool commit, std::int32_t coordinator_epoch, ProducerId producer_id,
                                         ProducerEpoch producer_epoch, std::int64_t timestamp_ms,
                                         Offset base_offset = Offset{0}, LeaderEpoch leader_epoch = kNoLeaderEpoch);
// The coordinator epoch in a marker's value, or nullopt.
[[nodiscard]] std::optional<std::int32_t> parse_end_txn_marker(const std::optional<ByteSpan>& value) noexcept;

}  // namespace hw::wire
