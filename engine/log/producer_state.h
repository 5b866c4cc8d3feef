// SPDX-License-Identifier: Apache-2.0
// ProducerState: what a log knows about the producers that wrote to it (KIP-98): epochs, the last five batches of each for
// recognising repeats, open transactions and so the last stable offset.
//
// Bounded by producer.id.expiration.ms: expire() drops idle producers. Snapshots are Kafka's `.snapshot` files:
//   version i16 (1) · crc u32 (CRC-32C over the rest) · count i32 · entries of 46 bytes
// Thread rule: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/log/transaction_index.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::log {

struct ProducerBatch {
  std::int32_t last_sequence = -1;
  Offset last_offset = kNoOffset;
  std::int32_t offset_delta = 0;
  std::int64_t timestamp_ms = -1;
  [[nodiscard]] Offset first_offset() const { return last_offset - offset_delta; }
  [[nodiscard]] std::int32_t first_sequence() const;
};

struct ProducerEntry {
  static constexpr std::size_t kBatches = 5;
  ProducerId producer_id;
  ProducerEpoch epoch = kNoProducerEpoch;
  std::int32_t coordinator_epoch = -1;
  std::int64_t last_timestamp_ms = -1;
  Offset current_txn_first_offset = kNoOffset;
  std::array<ProducerBatch, kBatches> batches{};  // oldest first
  std::size_t batch_count = 0;

  [[nodiscard]] std::int32_t last_sequence() const { return batch_count == 0 ? -1 : batches[batch_count - 1].last_sequence; }
  [[nodiscard]] Offset last_offset() const { return batch_count == 0 ? kNoOffset : batches[batch_count - 1].last_offset; }
  [[nodiscard]] std::int32_t last_offset_delta() const { return batch_count == 0 ? 0 : batches[batch_count - 1].offset_delta; }
  // A batch of this epoch with exactly these first and last sequences, among the last five.
  [[nodiscard]] const ProducerBatch* find_duplicate(const wire::BatchView& batch) const;
  void add_batch(ProducerEpoch new_epoch, const ProducerBatch& batch);
};

// How a batch's producer fields are checked: clients by sequence and epoch, coordinators by epoch, followers not at all.
enum class ProducerCheck : std::uint8_t { sequence, epoch, none };

// What the append of a transactional batch rests on (KIP-890).
struct TransactionTerms {
  bool verify = false;             // data needs a transaction that is open here, or a verification
  std::uint64_t verification = 0;  // what begin_verification() gave
  std::int8_t marker_version = 0;  // of a marker: from 2 on its epoch is above the transaction's
};

struct ProducerVerdict {
  wire::ErrorCode error = wire::ErrorCode::none;
  const ProducerBatch* duplicate = nullptr;  // valid until the next change
  std::string detail;
};

class ProducerState {
 public:
  // Looks only. REQUIRES: batch.has_producer_id().
  [[nodiscard]] ProducerVerdict check(const wire::BatchView& batch, ProducerCheck how, const TransactionTerms& terms = {}) const;
  // Before the coordinator is asked whether a producer's transaction has this partition: names the question, so that an answer that
  // comes after the transaction ended is worth nothing. 0: the transaction is open here, nobody need be asked.
  [[nodiscard]] std::uint64_t begin_verification(ProducerId producer, ProducerEpoch epoch, std::int32_t sequence, bool epochs_rise, WallTime now);
  // Takes in a batch that has its offsets. Returns the transaction that an abort marker ended, for the transaction index.
  std::optional<AbortedTxnEntry> update(const wire::BatchView& batch);

  [[nodiscard]] std::optional<Offset> first_unstable_offset() const;
  // Completed transactions below the high watermark no longer hold the last stable offset back.
  void high_watermark_moved(Offset high_watermark);

  void clear();
  void expire(WallTime now, std::int64_t expiration_ms);
  [[nodiscard]] const std::map<ProducerId, ProducerEntry>& entries() const { return entries_; }
  [[nodiscard]] Offset end_offset() const { return end_offset_; }  // everything below has been taken in
  void set_end_offset(Offset offset) { end_offset_ = offset; }

  [[nodiscard]] Bytes snapshot() const;
  // Replaces everything. Errors: corrupt, unsupported. A snapshot holds only the last batch of each producer: see recall().
  Result<void> load_snapshot(ByteSpan bytes, Offset at, WallTime now, std::int64_t expiration_ms);
  // Whether some producer wrote since then.
  [[nodiscard]] bool active_since(std::int64_t timestamp_ms) const;
  // Takes the batches before the oldest known one of each producer from `seen`, which has read the log up to there.
  void recall(const ProducerState& seen);

 private:
  struct Completed {
    Offset last_offset;
  };

  // A question that is open. Sequences above the lowest that was seen wait until that one is written.
  struct Verification {
    std::uint64_t id = 0;
    std::int64_t timestamp_ms = -1;
    std::int32_t lowest_sequence = 0;
    ProducerEpoch epoch = kNoProducerEpoch;
    bool epochs_rise = false;  // the producer begins every transaction with sequence 0
  };

  [[nodiscard]] bool transaction_open(ProducerId producer, ProducerEpoch epoch) const;
  [[nodiscard]] ProducerVerdict check_marker(const wire::BatchView& batch, const ProducerEntry& entry, std::int8_t version) const;
  [[nodiscard]] static ProducerVerdict check_sequence(const wire::BatchView& batch, const ProducerEntry* entry, const Verification* verification);
  std::map<ProducerId, Verification> verifications_;
  std::uint64_t last_verification_ = 0;
  std::map<ProducerId, ProducerEntry> entries_;
  std::map<Offset, ProducerId> ongoing_;        // by first offset
  std::map<Offset, Completed> unreplicated_;    // ended, but the marker is not below the high watermark yet
  Offset end_offset_{0};
};

}  // namespace hw::log
