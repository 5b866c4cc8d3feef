// SPDX-License-Identifier: Apache-2.0
#include "engine/log/producer_state.h"

#include <algorithm>
#include <limits>

#include "engine/base/trial.h"
#include "engine/wire/record/batch_builder.h"
#include "engine/wire/record/crc32c.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::log {
namespace {

constexpr std::int16_t kSnapshotVersion = 1;
constexpr std::size_t kSnapshotHead = 10;  // version, crc, count
constexpr std::size_t kCrcCovers = 6;      // from here on
constexpr std::size_t kEntrySize = 46;
constexpr std::int32_t kMaxSequence = std::numeric_limits<std::int32_t>::max();

struct Marker {
  bool abort = false;
  std::int32_t coordinator_epoch = -1;
};

// The end-of-transaction marker in a control batch; nullopt for other control records.
std::optional<Marker> read_marker(const wire::BatchView& batch) {
  Result<wire::RecordIterator> records = wire::RecordIterator::open(batch);
  if (!records) {
    return std::nullopt;
  }
  wire::RecordView record;
  if (!records->next(record)) {
    return std::nullopt;
  }
  const std::optional<wire::ControlType> type = wire::parse_control_key(record.key);
  if (!type || (*type != wire::ControlType::abort && *type != wire::ControlType::commit)) {
    return std::nullopt;
  }
  return Marker{*type == wire::ControlType::abort, wire::parse_end_txn_marker(record.value).value_or(-1)};
}

}  // namespace

std::int32_t ProducerBatch::first_sequence() const {
  // Sequences wrap from 2^31-1 to 0.
  return last_sequence >= offset_delta ? last_sequence - offset_delta
                                       : kMaxSequence - (offset_delta - last_sequence) + 1;
}

const ProducerBatch* ProducerEntry::find_duplicate(const wire::BatchView& batch) const {
  if (batch.producer_epoch() != epoch) {
    return nullptr;
  }
  for (std::size_t i = 0; i < batch_count; ++i) {
    if (batches[i].first_sequence() == batch.base_sequence() && batches[i].last_sequence == batch.last_sequence()) {
      return &batches[i];
    }
  }
  return nullptr;
}

void ProducerEntry::add_batch(ProducerEpoch new_epoch, const ProducerBatch& batch) {
  if (epoch != new_epoch) {
    batch_count = 0;
    epoch = new_epoch;
  }
  if (batch_count == kBatches) {
    std::move(batches.begin() + 1, batches.end(), batches.begin());
    --batch_count;
  }
  batches[batch_count++] = batch;
  last_timestamp_ms = batch.timestamp_ms;
}

bool ProducerState::transaction_open(ProducerId producer, ProducerEpoch epoch) const {
  const auto found = entries_.find(producer);
  return found != entries_.end() && found->second.current_txn_first_offset != kNoOffset && found->second.epoch == epoch;
}

std::uint64_t ProducerState::begin_verification(ProducerId producer, ProducerEpoch epoch, std::int32_t sequence, bool epochs_rise, WallTime now) {
  if (transaction_open(producer, epoch)) {
    return 0;
  }
  const auto [at, fresh] = verifications_.try_emplace(producer);
  Verification& open = at->second;
  if (fresh) {
    open = {++last_verification_, now.ms, sequence, epoch, epochs_rise};
  } else if (epoch > open.epoch) {
    open.epoch = epoch;
    open.lowest_sequence = sequence;
  } else if (epoch == open.epoch) {
    open.lowest_sequence = std::min(open.lowest_sequence, sequence);
  }
  return open.id;
}

ProducerVerdict ProducerState::check_marker(const wire::BatchView& batch, const ProducerEntry& entry, std::int8_t version) const {
  const ProducerEpoch epoch = batch.producer_epoch();
  // With rising epochs a marker of the same epoch is the repeat of one that was written, as long as nothing was begun since.
  const bool rises = version >= 2;
  const bool repeat = rises && epoch == entry.epoch && (entry.current_txn_first_offset == kNoOffset || epoch.value() == INT16_MAX);
  if ((rises ? epoch <= entry.epoch : epoch < entry.epoch) && !repeat) {
    return {wire::ErrorCode::invalid_producer_epoch, nullptr, "the marker's producer epoch is older than the producer's"};
  }
  if (const std::optional<Marker> marker = read_marker(batch); marker && marker->coordinator_epoch < entry.coordinator_epoch) {
    return {wire::ErrorCode::transaction_coordinator_fenced, nullptr, "the marker comes from an earlier coordinator"};
  }
  return {};
}

ProducerVerdict ProducerState::check(const wire::BatchView& batch, ProducerCheck how, const TransactionTerms& terms) const {
  if (how == ProducerCheck::none) {
    return {};
  }
  const auto found = entries_.find(batch.producer_id());
  const ProducerEntry* entry = found == entries_.end() ? nullptr : &found->second;
  if (batch.control()) {
    return entry == nullptr ? ProducerVerdict{} : check_marker(batch, *entry, terms.marker_version);
  }
  if (how == ProducerCheck::sequence && entry != nullptr) {
    if (const ProducerBatch* duplicate = entry->find_duplicate(batch)) {
      if (trial::has_bug(trial::Canary::repeats_appended)) {
        return {};
      }
      return {wire::ErrorCode::none, duplicate, {}};
    }
  }
  const auto verified = verifications_.find(batch.producer_id());
  const Verification* verification = verified == verifications_.end() ? nullptr : &verified->second;
  if (terms.verify && batch.transactional() && !transaction_open(batch.producer_id(), batch.producer_epoch()) &&
      (verification == nullptr || terms.verification != verification->id)) {
    return {wire::ErrorCode::invalid_txn_state, nullptr, "the record is not part of an open transaction"};
  }
  if (entry != nullptr && batch.producer_epoch() < entry->epoch) {
    return {wire::ErrorCode::invalid_producer_epoch, nullptr,
            "producer epoch " + std::to_string(batch.producer_epoch().value()) + " is older than " + std::to_string(entry->epoch.value())};
  }
  if (how == ProducerCheck::sequence) {
    if (ProducerVerdict verdict = check_sequence(batch, entry, verification); verdict.error != wire::ErrorCode::none) {
      return verdict;
    }
  }
  if (entry != nullptr && entry->current_txn_first_offset != kNoOffset && !batch.transactional()) {
    return {wire::ErrorCode::invalid_txn_state, nullptr, "a transaction of the producer is open, and the record is not part of it"};
  }
  return {};
}

ProducerVerdict ProducerState::check_sequence(const wire::BatchView& batch, const ProducerEntry* entry, const Verification* verification) {
  const std::int32_t first = batch.base_sequence();
  if (verification != nullptr) {
    const bool nothing_yet = entry == nullptr || entry->batch_count == 0;
    if (verification->epochs_rise && first != 0 && nothing_yet) {
      return {wire::ErrorCode::out_of_order_sequence_number, nullptr,
              "a transaction begins with sequence " + std::to_string(first) + " instead of 0"};
    }
    if (first > verification->lowest_sequence) {
      return {wire::ErrorCode::out_of_order_sequence_number, nullptr,
              "sequence " + std::to_string(first) + " comes before " + std::to_string(verification->lowest_sequence)};
    }
  }
  if (entry == nullptr) {
    return {};  // a producer this log does not know may begin anywhere
  }
  if (batch.producer_epoch() != entry->epoch) {
    if (first != 0 && entry->epoch != kNoProducerEpoch) {
      return {wire::ErrorCode::out_of_order_sequence_number, nullptr,
              "a new producer epoch begins with sequence " + std::to_string(first) + " instead of 0"};
    }
    return {};
  }
  const std::int32_t last = entry->last_sequence();
  const bool follows = last == kMaxSequence ? first == 0 : first == last + 1;
  if (!follows && entry->epoch != kNoProducerEpoch) {
    trial::mark(trial::Mark::sequence_gap);
    return {wire::ErrorCode::out_of_order_sequence_number, nullptr,
            "sequence " + std::to_string(first) + " does not follow " + std::to_string(last)};
  }
  return {};
}

std::optional<AbortedTxnEntry> ProducerState::update(const wire::BatchView& batch) {
  end_offset_ = std::max(end_offset_, batch.next_offset());
  if (!batch.has_producer_id()) {
    return std::nullopt;
  }
  if (const auto asked = verifications_.find(batch.producer_id()); batch.transactional() && asked != verifications_.end()) {
    // The marker of the transaction before may come while the question about the next one is open. With rising epochs it has the epoch of
    // the next one, and that goes on.
    const bool next_one = batch.control() && asked->second.epochs_rise && asked->second.epoch >= batch.producer_epoch();
    if (!next_one) {
      verifications_.erase(asked);
    }
  }
  if (batch.control()) {
    const std::optional<Marker> marker = read_marker(batch);
    if (!marker) {
      return std::nullopt;
    }
    ProducerEntry& entry = entries_[batch.producer_id()];
    entry.producer_id = batch.producer_id();
    if (entry.epoch != batch.producer_epoch()) {
      entry.epoch = batch.producer_epoch();
      entry.batch_count = 0;
    }
    entry.coordinator_epoch = marker->coordinator_epoch;
    entry.last_timestamp_ms = batch.max_timestamp();
    const Offset first = std::exchange(entry.current_txn_first_offset, kNoOffset);
    if (first == kNoOffset) {
      return std::nullopt;  // a marker without data ends nothing
    }
    ongoing_.erase(first);
    unreplicated_[first] = Completed{batch.last_offset()};
    if (!marker->abort) {
      return std::nullopt;
    }
    // What stays stable once this transaction counts as decided.
    const Offset stable = ongoing_.empty() ? batch.next_offset() : ongoing_.begin()->first;
    return AbortedTxnEntry{entry.producer_id, first, batch.last_offset(), stable};
  }
  ProducerEntry& entry = entries_[batch.producer_id()];
  entry.producer_id = batch.producer_id();
  entry.add_batch(batch.producer_epoch(),
                  {batch.last_sequence(), batch.last_offset(), batch.last_offset_delta(), batch.max_timestamp()});
  if (batch.transactional() && entry.current_txn_first_offset == kNoOffset) {
    entry.current_txn_first_offset = batch.base_offset();
    ongoing_[batch.base_offset()] = entry.producer_id;
  }
  return std::nullopt;
}

std::optional<Offset> ProducerState::first_unstable_offset() const {
  std::optional<Offset> first;
  if (!ongoing_.empty()) {
    first = ongoing_.begin()->first;
  }
  if (!unreplicated_.empty() && (!first || unreplicated_.begin()->first < *first)) {
    first = unreplicated_.begin()->first;
  }
  return first;
}

void ProducerState::high_watermark_moved(Offset high_watermark) {
  std::erase_if(unreplicated_, [&](const auto& item) { return item.second.last_offset < high_watermark; });
}

void ProducerState::clear() {
  entries_.clear();
  verifications_.clear();
  ongoing_.clear();
  unreplicated_.clear();
  end_offset_ = Offset(0);
}

void ProducerState::expire(WallTime now, std::int64_t expiration_ms) {
  std::erase_if(verifications_, [&](const auto& item) { return now.ms - item.second.timestamp_ms >= expiration_ms; });
  std::erase_if(entries_, [&](const auto& item) {
    const ProducerEntry& entry = item.second;
    return entry.current_txn_first_offset == kNoOffset && now.ms - entry.last_timestamp_ms >= expiration_ms;
  });
}

Bytes ProducerState::snapshot() const {
  ByteBuilder builder(kSnapshotHead + entries_.size() * kEntrySize);
  std::byte* head = builder.extend(kSnapshotHead);
  wire::store_u16(head, static_cast<std::uint16_t>(kSnapshotVersion));
  wire::store_u32(head + 6, static_cast<std::uint32_t>(entries_.size()));
  for (const auto& [id, entry] : entries_) {
    std::byte* p = builder.extend(kEntrySize);
    wire::store_u64(p, static_cast<std::uint64_t>(id.value()));
    wire::store_u16(p + 8, static_cast<std::uint16_t>(entry.epoch.value()));
    wire::store_u32(p + 10, static_cast<std::uint32_t>(entry.last_sequence()));
    wire::store_u64(p + 14, static_cast<std::uint64_t>(entry.last_offset().value()));
    wire::store_u32(p + 22, static_cast<std::uint32_t>(entry.last_offset_delta()));
    wire::store_u64(p + 26, static_cast<std::uint64_t>(entry.last_timestamp_ms));
    wire::store_u32(p + 34, static_cast<std::uint32_t>(entry.coordinator_epoch));
    wire::store_u64(p + 38, static_cast<std::uint64_t>(entry.current_txn_first_offset.value()));
  }
  wire::store_u32(builder.data() + 2, wire::crc32c(builder.span().subspan(kCrcCovers)));
  return builder.finish();
}

Result<void> ProducerState::load_snapshot(ByteSpan bytes, Offset at, WallTime now, std::int64_t expiration_ms) {
  clear();
  if (bytes.size() < kSnapshotHead) {
    return fail(Errc::corrupt, "a producer snapshot is too short");
  }
  const auto version = static_cast<std::int16_t>(wire::load_u16(bytes.data()));
  if (version != kSnapshotVersion) {
    return fail(Errc::unsupported, "a producer snapshot has version " + std::to_string(version));
  }
  if (wire::load_u32(bytes.data() + 2) != wire::crc32c(bytes.subspan(kCrcCovers))) {
    return fail(Errc::corrupt, "a producer snapshot's checksum does not hold");
  }
  const std::size_t count = wire::load_u32(bytes.data() + 6);
  if (count != (bytes.size() - kSnapshotHead) / kEntrySize || (bytes.size() - kSnapshotHead) % kEntrySize != 0) {
    return fail(Errc::corrupt, "a producer snapshot's length does not fit its count");
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* p = bytes.data() + kSnapshotHead + i * kEntrySize;
    ProducerEntry entry;
    entry.producer_id = ProducerId(static_cast<std::int64_t>(wire::load_u64(p)));
    entry.epoch = ProducerEpoch(static_cast<std::int16_t>(wire::load_u16(p + 8)));
    const Offset last_offset(static_cast<std::int64_t>(wire::load_u64(p + 14)));
    entry.last_timestamp_ms = static_cast<std::int64_t>(wire::load_u64(p + 26));
    entry.coordinator_epoch = static_cast<std::int32_t>(wire::load_u32(p + 34));
    entry.current_txn_first_offset = Offset(static_cast<std::int64_t>(wire::load_u64(p + 38)));
    if (last_offset.value() >= 0) {
      entry.batches[0] = {static_cast<std::int32_t>(wire::load_u32(p + 10)), last_offset,
                          static_cast<std::int32_t>(wire::load_u32(p + 22)), entry.last_timestamp_ms};
      entry.batch_count = 1;
    }
    const bool open = entry.current_txn_first_offset.value() >= 0;
    if (!open) {
      entry.current_txn_first_offset = kNoOffset;
      if (now.ms - entry.last_timestamp_ms >= expiration_ms) {
        continue;
      }
    } else {
      ongoing_[entry.current_txn_first_offset] = entry.producer_id;
    }
    entries_[entry.producer_id] = entry;
  }
  end_offset_ = at;
  return {};
}

bool ProducerState::active_since(std::int64_t timestamp_ms) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const auto& item) { return item.second.last_timestamp_ms >= timestamp_ms; });
}

void ProducerState::recall(const ProducerState& seen) {
  for (auto& [id, entry] : entries_) {
    const auto found = seen.entries_.find(id);
    if (found == seen.entries_.end() || found->second.epoch != entry.epoch || entry.batch_count == 0 ||
        found->second.last_offset() != entry.batches[0].last_offset) {
      continue;
    }
    ProducerEntry whole = found->second;  // up to the batch that `entry` begins with
    for (std::size_t i = 1; i < entry.batch_count; ++i) {
      whole.add_batch(entry.epoch, entry.batches[i]);
    }
    entry.batches = whole.batches;
    entry.batch_count = whole.batch_count;
  }
}

}  // namespace hw::log
