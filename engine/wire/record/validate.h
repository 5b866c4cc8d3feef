// SPDX-License-Identifier: Apache-2.0
// What a leader checks on a batch that a client sends, in Kafka's order and with Kafka's answers.
//
// Two steps, as the error's place in the answer depends on which one says no:
//   1. check_produce_request   in the api layer, before the log is touched: one batch, magic 2, codec allowed
//   2. check_client_batch      in the log: base offset, size, CRC, header, then every record, in one pass
// then 3. stamp_batch          offsets, leader epoch and timestamps, in place.
// One pass over the bytes for the CRC and one walk over record headers; no allocation for a good batch of any codec once the
// RecordScratch is warm. Nothing is written to the batch before step 3.
// Two answers differ from Kafka 4.4 on purpose, where Kafka stores what its own consumers cannot read: inner offsets that are not
// 0, 1, 2, … and (in compressed batches) records whose length disagrees with their fields are INVALID_RECORD here.
// And decompression that passes the bound is MESSAGE_TOO_LARGE; Kafka has no bound.
// Thread rule: one thread per scratch. Bad bytes never assert.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::wire {

struct RecordFault {
  std::int32_t index = 0;  // of the record in its batch: BatchIndex of the answer
  std::string message;     // BatchIndexErrorMessage
};

// What is wrong, as Produce answers it.
struct RecordsVerdict {
  ErrorCode error = ErrorCode::none;
  std::string detail;               // for events and logs: always says what is wrong
  bool message_in_answer = false;   // Kafka puts ErrorMessage into the answer only with record errors
  bool log_start_in_answer = false; // otherwise LogStartOffset is -1
  std::vector<RecordFault> record_faults;
  [[nodiscard]] bool ok() const noexcept { return error == ErrorCode::none; }
};

// Step 1. On success `size` is the size of the one batch: the beginning of another one after it is dropped, as Kafka does.
struct ProduceRequestCheck {
  RecordsVerdict verdict;
  std::size_t size = 0;
  // The bytes do not even begin like a batch: Kafka then answers every partition of the request with this error.
  bool whole_request = false;
};
[[nodiscard]] ProduceRequestCheck check_produce_request(ByteSpan records, std::int16_t produce_version);

// The topic's rules.
struct ProduceRules {
  TimestampType timestamp_type = TimestampType::create_time;                           // message.timestamp.type
  std::int64_t before_max_ms = std::numeric_limits<std::int64_t>::max();               // message.timestamp.before.max.ms
  std::int64_t after_max_ms = 3'600'000;                                               // message.timestamp.after.max.ms
  bool compacted = false;                                                              // cleanup.policy has "compact"
  std::int32_t max_message_bytes = 1'048'588;                                          // max.message.bytes
  std::size_t max_decompressed_bytes = kDefaultMaxDecompressed;
};

// Reused between batches: decompressors and a window, about 64 KiB once a compressed batch was seen. Movable.
class RecordScratch {
 public:
  RecordScratch();
  ~RecordScratch();
  RecordScratch(RecordScratch&&) noexcept;
  RecordScratch& operator=(RecordScratch&&) noexcept;
  struct Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Step 2, for data of clients. `batch` is one whole batch (step 1 said so).
struct ClientBatchCheck {
  RecordsVerdict verdict;
  std::int64_t max_timestamp = kNoTimestamp;    // over the records, as the log's time index wants it
  std::int32_t offset_delta_of_max = 0;         // of the first record that has it
};
[[nodiscard]] ClientBatchCheck check_client_batch(const BatchView& batch, const ProduceRules& rules, WallTime now,
                                                  RecordScratch& scratch);

// Step 3: the batch gets the offsets from `base` on, the leader's epoch, and its timestamps: with log_append_time the attribute
// bit and max timestamp = now, with create_time the largest of the records. The CRC is computed anew only where these change.
// Returns the batch's last offset.
Offset stamp_batch(MutableByteSpan batch, Offset base, LeaderEpoch epoch, const ProduceRules& rules, WallTime now,
                   const ClientBatchCheck& check) noexcept;

// The same records in another codec, offsets 0, 1, 2, … from the batch's base offset; producer fields and flags are kept.
// For compression.type other than "producer". Errors: corrupt, too_large, unsupported.
[[nodiscard]] Result<Bytes> rebuild_batch(const BatchView& batch, Compression codec, std::optional<int> level = std::nullopt,
                                          std::size_t max_decompressed = kDefaultMaxDecompressed);

// For followers, recovery and the raft log, where the bytes come from a leader or from our disk: structure and CRC only.
[[nodiscard]] bool batch_intact(const BatchView& batch) noexcept;

}  // namespace hw::wire
