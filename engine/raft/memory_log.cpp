// SPDX-License-Identifier: Apache-2.0
#include "engine/raft/memory_log.h"

#include <algorithm>
#include <utility>

#include "engine/wire/record/batch.h"

namespace hw::raft {

LeaderEpoch MemoryLog::last_epoch() const {
  if (!now_.batches.empty()) {
    return now_.batches.back().epoch;
  }
  const std::optional<SnapshotId> snapshot = latest_snapshot();
  return snapshot ? snapshot->epoch : LeaderEpoch(0);
}

EpochEnd MemoryLog::end_offset_for_epoch(LeaderEpoch epoch) const {
  if (epoch >= last_epoch()) {
    return {last_epoch(), end_offset()};
  }
  EpochEnd found{epoch, now_.start};
  // The snapshot that the log begins with ends an epoch as well.
  for (const auto& [id, bytes] : now_.snapshots) {
    if (id.end_offset == now_.start && id.epoch <= epoch) {
      found = {id.epoch, now_.start};
    }
  }
  for (const Batch& batch : now_.batches) {
    if (batch.epoch > epoch) {
      break;
    }
    found = {batch.epoch, batch.last + 1};
  }
  return found;
}

Result<BytesChain> MemoryLog::read(Offset from, std::int32_t max_bytes) const {
  if (from < start_offset() || from > end_offset()) {
    return fail(Errc::invalid, "offset " + std::to_string(from.value()) + " is not in the log");
  }
  BytesChain chain;
  for (const Batch& batch : now_.batches) {
    if (batch.last < from) {
      continue;
    }
    if (!chain.empty() && chain.size() + batch.bytes.size() > static_cast<std::size_t>(max_bytes)) {
      break;
    }
    chain.append(batch.bytes);
  }
  return chain;
}

Result<void> MemoryLog::append_as_leader(Bytes batch, LeaderEpoch /*epoch*/, WallTime wall) {
  return append_as_follower(std::move(batch), wall);
}

Result<void> MemoryLog::append_as_follower(Bytes batches, WallTime /*wall*/) {
  wire::BatchCursor cursor(batches.span());
  wire::BatchView view;
  std::vector<Batch> fresh;
  Offset next = end_offset();
  std::size_t begin = 0;
  while (cursor.next(view)) {
    if (view.base_offset() != next || !view.crc_ok()) {
      return fail(Errc::corrupt, "a batch does not follow the log");
    }
    fresh.push_back({view.base_offset(), view.last_offset(), view.leader_epoch(), view.control(),
                     batches.slice(begin, view.size())});
    begin = cursor.position();
    next = view.next_offset();
  }
  for (Batch& batch : fresh) {
    now_.batches.push_back(std::move(batch));
  }
  return {};
}

Result<void> MemoryLog::truncate_to(Offset offset) {
  while (!now_.batches.empty() && now_.batches.back().last >= offset) {
    now_.batches.pop_back();
  }
  durable_to_ = std::min(durable_to_, end_offset());
  return {};
}

std::int64_t MemoryLog::size_bytes() const {
  std::size_t size = 0;
  for (const Batch& batch : now_.batches) {
    size += batch.bytes.size();
  }
  for (const auto& [id, whole] : now_.snapshots) {
    size += whole.size();
  }
  return static_cast<std::int64_t>(size);
}

std::vector<SnapshotId> MemoryLog::snapshots() const {
  std::vector<SnapshotId> all;
  for (const auto& [id, bytes] : now_.snapshots) {
    all.push_back(id);
  }
  return all;
}

Result<std::uint64_t> MemoryLog::snapshot_size(const SnapshotId& id) const {
  const auto it = now_.snapshots.find(id);
  if (it == now_.snapshots.end()) {
    return fail(Errc::not_found, "no such snapshot");
  }
  return static_cast<std::uint64_t>(it->second.size());
}

Result<Bytes> MemoryLog::read_snapshot(const SnapshotId& id, std::uint64_t position, std::int32_t max_bytes) const {
  const auto it = now_.snapshots.find(id);
  if (it == now_.snapshots.end() || position > it->second.size()) {
    return fail(Errc::not_found, "no such piece of a snapshot");
  }
  const std::size_t left = it->second.size() - static_cast<std::size_t>(position);
  return it->second.slice(static_cast<std::size_t>(position), std::min(left, static_cast<std::size_t>(max_bytes)));
}

Result<void> MemoryLog::create_snapshot(const SnapshotId& id) {
  unfinished_[id] = {};
  return {};
}

Result<void> MemoryLog::append_snapshot(const SnapshotId& id, Bytes piece) {
  Bytes& whole = unfinished_[id];
  ByteBuilder joined(whole.size() + piece.size());
  joined.append(whole.span());
  joined.append(piece.span());
  whole = joined.finish();
  return {};
}

Result<void> MemoryLog::freeze_snapshot(const SnapshotId& id) {
  const auto it = unfinished_.find(id);
  if (it == unfinished_.end()) {
    return fail(Errc::not_found, "no such snapshot in the making");
  }
  disk_.snapshots[id] = it->second;
  now_.snapshots[id] = std::move(it->second);
  unfinished_.erase(it);
  return {};
}

Result<void> MemoryLog::truncate_fully_and_start_at(const SnapshotId& id) {
  std::erase_if(now_.snapshots, [&](const auto& entry) { return entry.first < id; });
  now_.batches.clear();
  now_.start = id.end_offset;
  high_watermark_ = id.end_offset;
  disk_ = now_;
  durable_to_ = now_.start;
  return {};
}

Result<void> MemoryLog::delete_before(const SnapshotId& id) {
  for (Contents* contents : {&now_, &disk_}) {
    std::erase_if(contents->snapshots, [&](const auto& entry) { return entry.first < id; });
    std::erase_if(contents->batches, [&](const Batch& batch) { return batch.last < id.end_offset; });
    contents->start = std::max(contents->start, contents->batches.empty() ? id.end_offset : contents->batches.front().base);
  }
  return {};
}

const MemoryLog::Batch* MemoryLog::find(Offset offset) const {
  const auto it = std::lower_bound(now_.batches.begin(), now_.batches.end(), offset,
                                   [](const Batch& batch, Offset wanted) { return batch.last < wanted; });
  return it == now_.batches.end() || it->base > offset ? nullptr : &*it;
}

void MemoryLog::flush() {
  disk_ = now_;
  durable_to_ = end_offset();
}

void MemoryLog::crash(Prng& prng) {
  // Behind what is durable the disk may hold more, as long as it goes on where the durable part ends.
  Contents left = disk_;
  const Offset end = left.batches.empty() ? left.start : left.batches.back().last + 1;
  if (prng.chance({1, 2})) {
    for (const Batch& batch : now_.batches) {
      const Offset next = left.batches.empty() ? left.start : left.batches.back().last + 1;
      const bool follows = batch.base == next && (left.batches.empty() || left.batches.back().epoch <= batch.epoch);
      if (batch.base >= end && follows && durable_to_ == end && prng.chance({1, 2})) {
        left.batches.push_back(batch);
      }
    }
  }
  now_ = std::move(left);
  disk_ = now_;
  unfinished_.clear();
  durable_to_ = end_offset();
  high_watermark_ = now_.start;
}

}  // namespace hw::raft
