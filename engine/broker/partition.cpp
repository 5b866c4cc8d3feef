// SPDX-License-Identifier: Apache-2.0
#include "engine/broker/partition.h"

#include <algorithm>
#include <utility>

namespace hw::broker {

bool Partition::has_replica(BrokerId broker) const noexcept {
  return std::find(replicas_.begin(), replicas_.end(), broker) != replicas_.end();
}

bool Partition::apply(const metadata::PartitionImage& image, Instant now) {
  const bool role_changed = image.leader != leader_ || image.leader_epoch != leader_epoch_;
  const bool was_leader = is_leader();
  leader_ = image.leader;
  partition_epoch_ = image.partition_epoch;
  replicas_ = image.replicas;
  isr_ = image.isr;
  if (image.leader_epoch != leader_epoch_) {
    leader_epoch_ = image.leader_epoch;
    if (is_leader() && log_ != nullptr) {
      leader_epoch_start_ = log_->log_end_offset();
      // Followers ask where an epoch ends before they have anything of it; so its start is noted before its first batch.
      if (!log_->assign_epoch_start(leader_epoch_, leader_epoch_start_)) {
        log_ = nullptr;
      }
    }
  }
  if (!is_leader()) {
    remote_.clear();
    return role_changed;
  }
  std::vector<Replica> remote;
  for (const BrokerId id : replicas_) {
    if (id == self_) {
      continue;
    }
    Replica replica{id, kNoOffset, now, false};
    const auto known = std::find_if(remote_.begin(), remote_.end(), [&](const Replica& r) { return r.id == id; });
    if (was_leader && !role_changed && known != remote_.end()) {
      replica = *known;
    }
    replica.in_isr = std::find(isr_.begin(), isr_.end(), id) != isr_.end();
    remote.push_back(replica);
  }
  remote_ = std::move(remote);
  return maybe_advance_high_watermark(now) || role_changed;
}

wire::ErrorCode Partition::check(bool leader_only, LeaderEpoch current_leader_epoch) const noexcept {
  if (log_ == nullptr || log_->offline()) {
    return wire::ErrorCode::kafka_storage_error;
  }
  if (current_leader_epoch.value() >= 0 && current_leader_epoch != leader_epoch_) {
    return current_leader_epoch < leader_epoch_ ? wire::ErrorCode::fenced_leader_epoch
                                                : wire::ErrorCode::unknown_leader_epoch;
  }
  if (leader_only && !is_leader()) {
    return wire::ErrorCode::not_leader_or_follower;
  }
  return wire::ErrorCode::none;
}

std::int32_t Partition::effective_min_insync_replicas() const noexcept {
  return std::min(topic_.settings.min_insync_replicas, static_cast<std::int32_t>(replicas_.size()));
}

bool Partition::under_min_insync_replicas() const noexcept {
  return static_cast<std::int32_t>(isr_.size()) < effective_min_insync_replicas();
}

log::AppendOutcome Partition::append(log::AppendRequest request, std::int16_t acks, bool& moved) {
  HW_ASSERT(is_leader() && log_ != nullptr, "P1");
  moved = false;
  if (acks == -1 && under_min_insync_replicas()) {
    log::AppendOutcome refused;
    refused.error = wire::ErrorCode::not_enough_replicas;
    refused.log_start_offset = log_->log_start_offset();
    return refused;
  }
  request.leader_epoch = leader_epoch_;
  log::AppendOutcome outcome = log_->append_as_leader(std::move(request));
  if (outcome.error == wire::ErrorCode::none && !outcome.duplicate) {
    moved = maybe_advance_high_watermark(Instant{});
  }
  return outcome;
}

Offset Partition::acknowledged_end(std::int16_t acks) const noexcept {
  return acks == -1 ? log_->high_watermark() : log_->settled_end();
}

Partition::Deleted Partition::delete_records(Offset offset) {
  Deleted result;
  result.error = check(true, kNoLeaderEpoch);
  if (result.error != wire::ErrorCode::none) {
    return result;
  }
  const log::LogConfig& config = topic_.settings.log;
  if (config.cleanup_compact && !config.cleanup_delete) {
    result.error = wire::ErrorCode::policy_violation;
    return result;
  }
  const Offset target = offset == Offset(-1) ? log_->high_watermark() : offset;
  if (target < Offset(0) || target > log_->high_watermark()) {
    result.error = wire::ErrorCode::offset_out_of_range;
    return result;
  }
  if (!log_->advance_log_start_offset(target)) {
    result.error = wire::ErrorCode::kafka_storage_error;
    return result;
  }
  result.low_watermark = log_->log_start_offset();
  return result;
}

bool Partition::follower_fetched(BrokerId follower, Offset log_end, Instant now) {
  if (!is_leader() || log_ == nullptr) {
    return false;
  }
  const auto known = std::find_if(remote_.begin(), remote_.end(), [&](const Replica& r) { return r.id == follower; });
  if (known == remote_.end()) {
    return false;
  }
  known->log_end = std::min(log_end, log_->log_end_offset());
  if (known->log_end >= log_->log_end_offset()) {
    known->caught_up = now;
  }
  return maybe_advance_high_watermark(now);
}

bool Partition::maybe_advance_high_watermark(Instant) {
  if (!is_leader() || log_ == nullptr || under_min_insync_replicas()) {
    return false;
  }
  Offset candidate = log_->settled_end();
  for (const Replica& replica : remote_) {
    if (replica.in_isr) {
      candidate = std::min(candidate, replica.log_end);
    }
  }
  if (candidate <= log_->high_watermark()) {
    return false;
  }
  const bool moved = log_->maybe_advance_high_watermark(candidate);
  HW_ASSERT(log_->high_watermark() <= log_->log_end_offset(), "P2");
  return moved;
}

}  // namespace hw::broker
