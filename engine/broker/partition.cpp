// SPDX-License-Identifier: Apache-2.0
#include "engine/broker/partition.h"

#include <algorithm>
#include <utility>

#include "engine/base/trial.h"
#include "engine/wire/record/batch.h"

namespace hw::broker {

namespace {

constexpr Duration kAwaitedFor = seconds(1);

bool contains(const std::vector<BrokerId>& list, BrokerId id) noexcept {
  return std::find(list.begin(), list.end(), id) != list.end();
}

}  // namespace

Partition::~Partition() { forget_followers(); }

bool Partition::has_replica(BrokerId broker) const noexcept { return contains(replicas_, broker); }

Partition::Applied Partition::apply(const metadata::PartitionImage& image, Instant now) {
  Applied applied;
  if (image.partition_epoch <= partition_epoch_ && image.leader_epoch <= leader_epoch_) {
    return applied;  // the controller's answer came before the record
  }
  const bool new_epoch = image.leader_epoch != leader_epoch_;
  const bool was_leader = is_leader();
  // Between two epochs of this leader another one may have led, unseen here.
  const bool others_led = was_leader && image.leader_epoch.value() > leader_epoch_.value() + 1;
  applied.role_changed = image.leader != leader_ || new_epoch;
  drop_proposal();
  leader_ = image.leader;
  leader_epoch_ = image.leader_epoch;
  partition_epoch_ = image.partition_epoch;
  replicas_ = image.replicas;
  isr_ = image.isr;
  if (!is_leader()) {
    forget_followers();
    return applied;
  }
  if (new_epoch && log_ != nullptr) {
    leader_epoch_start_ = log_->log_end_offset();
    // Followers ask where an epoch ends before they have anything of it; so its start is noted before its first batch.
    if (!log_->assign_epoch_start(leader_epoch_, leader_epoch_start_)) {
      log_ = nullptr;
    }
  }
  become_leader_of(image, was_leader, new_epoch, others_led, now);
  applied.watermark_moved = maybe_advance_high_watermark(now);
  return applied;
}

void Partition::become_leader_of(const metadata::PartitionImage& image, bool was_leader, bool new_epoch, bool others_led,
                                 Instant now) {
  std::vector<Replica> before = std::move(remote_);
  remote_.clear();
  remote_.reserve(replicas_.size());
  for (const BrokerId id : replicas_) {
    if (id == context_.self) {
      continue;
    }
    const auto known = std::find_if(before.begin(), before.end(), [&](const Replica& r) { return r.id == id; });
    Replica replica;
    if (was_leader && known != before.end()) {
      replica = *known;
      known->awaited = false;  // counted on with the copy
    } else {
      replica.id = id;
      replica.state = &context_.followers[id];
    }
    if (new_epoch || known == before.end()) {
      const bool in_sync = contains(image.isr, id);
      replica.caught_up = in_sync ? now : kLongAgo;
      replica.fetched_at = in_sync ? now : kLongAgo;
      if (others_led) {
        replica.log_end = kNoOffset;  // that one may have cut its log: it says anew how far it is
        replica.log_start = kNoOffset;
      }
      replica.leader_end = kNoOffset;
      if (!replica.awaited) {
        replica.awaited = true;
        ++replica.state->awaited;
      }
      replica.state->awaited_until = now + kAwaitedFor;
    }
    remote_.push_back(replica);
  }
  for (const Replica& gone : before) {
    if (gone.awaited) {
      --gone.state->awaited;
    }
  }
  mark_members();
  tell_leadership(new_epoch);
  if (!remote_.empty()) {
    note_lagging();
  }
}

void Partition::tell_leadership(bool new_epoch) {
  if (context_.events == nullptr) {
    return;
  }
  const bool fresh = std::any_of(remote_.begin(), remote_.end(), [](const Replica& r) { return r.told == nullptr; });
  if (!new_epoch && !fresh) {
    return;
  }
  event::LeadershipBegan began{context_.self,      topic_.id, index_, leader_epoch_, leader_epoch_start_, topic_.settings.min_insync_replicas,
                               context_.lag_time_max, {}};
  began.followers.reserve(remote_.size());
  for (Replica& replica : remote_) {
    if (new_epoch || replica.told == nullptr) {
      replica.told = std::make_shared<event::FollowerCounters>();
    }
    tell(replica);
    if (replica.state->told == nullptr) {
      replica.state->told = std::make_shared<event::FetcherCounters>();
      replica.state->told->fetched_at_ms.set(context_.wall_ms(replica.state->fetched_at));
    }
    began.followers.push_back({replica.id, replica.told, replica.state->told});
  }
  context_.events->emit(std::move(began));
}

void Partition::tell(const Replica& replica) const noexcept {
  if (replica.told != nullptr) {
    replica.told->log_end_offset.set(replica.log_end.value());
    replica.told->fetched_at_ms.set(context_.wall_ms(replica.fetched_at));
    replica.told->caught_up_at_ms.set(context_.wall_ms(replica.caught_up));
  }
}

void Partition::forget_followers() noexcept {
  for (const Replica& replica : remote_) {
    if (replica.awaited) {
      --replica.state->awaited;
    }
  }
  remote_.clear();
  drop_proposal();
  context_.lagging.remove(lagging_at_);
}

void Partition::mark_members() {
  for (Replica& replica : remote_) {
    replica.in_isr = contains(isr_, replica.id);
    replica.in_maximal = replica.in_isr || (proposal_ && !trial::has_bug(trial::Canary::watermark_forgets_proposal) &&
                                            contains(proposal_->isr, replica.id));
  }
}

wire::ErrorCode Partition::check(bool leader_only, LeaderEpoch current_leader_epoch) const noexcept {
  if (log_ == nullptr || log_->offline()) {
    return wire::ErrorCode::kafka_storage_error;
  }
  if (current_leader_epoch.value() >= 0 && current_leader_epoch != leader_epoch_) {
    if (current_leader_epoch < leader_epoch_) {
      trial::mark(trial::Mark::fetch_fenced_epoch);
      return wire::ErrorCode::fenced_leader_epoch;
    }
    return wire::ErrorCode::unknown_leader_epoch;
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

bool Partition::maximal_isr_too_small() const noexcept {
  const std::size_t more = static_cast<std::size_t>(
      std::count_if(remote_.begin(), remote_.end(), [](const Replica& r) { return r.in_maximal && !r.in_isr; }));
  return static_cast<std::int32_t>(isr_.size() + more) < effective_min_insync_replicas();
}

log::AppendOutcome Partition::append(log::AppendRequest request, std::int16_t acks, Instant now, bool& moved) {
  HW_ASSERT(is_leader() && log_ != nullptr, "P1");
  moved = false;
  if (acks == -1 && under_min_insync_replicas()) {
    trial::mark(trial::Mark::produce_under_min_isr);
    log::AppendOutcome refused;
    refused.error = wire::ErrorCode::not_enough_replicas;
    refused.log_start_offset = log_->log_start_offset();
    return refused;
  }
  request.leader_epoch = leader_epoch_;
  const Offset end_before = remote_.empty() ? kNoOffset : log_->log_end_offset();
  log::AppendOutcome outcome = log_->append_as_leader(std::move(request));
  if (outcome.error == wire::ErrorCode::none && !outcome.duplicate) {
    for (Replica& replica : remote_) {
      // It had everything until now, as its last fetch says: the time that it may be behind begins there.
      if (replica.log_end == end_before) {
        replica.caught_up = std::max(replica.caught_up, replica.state->fetched_at);
        tell(replica);
      }
    }
    if (!remote_.empty()) {
      note_lagging();
    }
    moved = maybe_advance_high_watermark(now);
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
  const Offset before = log_->log_start_offset();
  if (!log_->advance_log_start_offset(target)) {
    result.error = wire::ErrorCode::kafka_storage_error;
    return result;
  }
  result.required = target;
  result.moved = log_->log_start_offset() != before;
  return result;
}

Offset Partition::low_watermark() const {
  if (!is_leader() || log_ == nullptr) {
    return kNoOffset;
  }
  Offset lowest = log_->log_start_offset();
  for (const Replica& replica : remote_) {
    const metadata::BrokerImage* alive = context_.alive(replica.id);
    if (alive == nullptr || trial::has_bug(trial::Canary::deletes_alone)) {
      continue;
    }
    // What it said in an earlier life may not have reached its disk: its log may begin lower now.
    const bool earlier_life = replica.epoch_known && replica.broker_epoch != -1 && replica.broker_epoch < alive->epoch;
    lowest = std::min(lowest, earlier_life ? kNoOffset : replica.log_start);
  }
  return lowest;
}

void Partition::note_lagging() noexcept { context_.lagging.add(*this, lagging_at_); }

bool Partition::caught_up(const Replica& replica, Instant now) const {
  return replica.log_end == log_->log_end_offset() || now - replica.caught_up <= context_.lag_time_max;
}

bool Partition::eligible(const Replica& replica) const {
  const metadata::BrokerImage* alive = context_.alive(replica.id);
  return alive != nullptr && !alive->in_controlled_shutdown && replica.epoch_known &&
         (replica.broker_epoch == -1 || replica.broker_epoch == alive->epoch);
}

wire::ErrorCode Partition::follower_fetched(const Position& position, Instant now, bool& moved) {
  moved = false;
  const auto known =
      std::find_if(remote_.begin(), remote_.end(), [&](const Replica& r) { return r.id == position.follower; });
  if (!is_leader() || log_ == nullptr || known == remote_.end()) {
    return wire::ErrorCode::not_leader_or_follower;
  }
  Replica& replica = *known;
  if (position.broker_epoch != -1) {
    // A request that was on its way while the broker registered anew (KIP-903): as the metadata tells, or a request of its new life,
    // which may come before the metadata does.
    const metadata::BrokerImage* alive = context_.alive(replica.id);
    const bool known_anew = replica.epoch_known && replica.broker_epoch > position.broker_epoch;
    if (known_anew || (alive != nullptr && alive->epoch > position.broker_epoch)) {
      trial::mark(trial::Mark::fetch_stale_broker_epoch);
      return wire::ErrorCode::not_leader_or_follower;
    }
  }
  if (replica.awaited) {
    replica.awaited = false;
    --replica.state->awaited;
  }
  const Offset end = log_->log_end_offset();
  if (position.log_end >= end) {
    replica.caught_up = std::max(replica.caught_up, now);
  } else if (replica.leader_end != kNoOffset && position.log_end >= replica.leader_end) {
    replica.caught_up = std::max(replica.caught_up, replica.fetched_at);
  }
  replica.log_end = position.log_end;
  replica.log_start = position.log_start;
  replica.leader_end = std::max(end, replica.leader_end);
  replica.fetched_at = now;
  replica.broker_epoch = position.broker_epoch;
  replica.epoch_known = true;
  tell(replica);
  if (!replica.in_isr) {
    maybe_expand(replica);
  }
  moved = maybe_advance_high_watermark(now);
  return wire::ErrorCode::none;
}

Offset Partition::follower_log_end(BrokerId follower) const noexcept {
  const auto known = std::find_if(remote_.begin(), remote_.end(), [&](const Replica& r) { return r.id == follower; });
  return known == remote_.end() ? kNoOffset : known->log_end;
}

void Partition::maybe_expand(const Replica& replica) {
  if (!may_propose() || replica.in_isr || !eligible(replica) || trial::has_bug(trial::Canary::never_expands)) {
    return;
  }
  const bool has_everything =
      replica.log_end >= log_->high_watermark() && replica.log_end >= leader_epoch_start_;
  if (!has_everything && !trial::has_bug(trial::Canary::early_expand)) {
    return;
  }
  std::vector<BrokerId> isr = isr_;
  isr.push_back(replica.id);
  trial::mark(trial::Mark::isr_expands);
  propose(std::move(isr));
}

bool Partition::check_lag(Instant now) {
  if (!is_leader() || log_ == nullptr || log_->offline()) {
    context_.lagging.remove(lagging_at_);
    return false;
  }
  const Offset end = log_->log_end_offset();
  bool behind = false;
  bool too_long = false;
  for (const Replica& replica : remote_) {
    behind = behind || !replica.in_isr || replica.log_end != end;
    too_long = too_long || (replica.in_isr && !caught_up(replica, now));
  }
  if (!behind) {
    context_.lagging.remove(lagging_at_);
    return false;
  }
  if (too_long && may_propose()) {
    std::vector<BrokerId> isr = isr_;
    for (const Replica& replica : remote_) {
      if (replica.in_isr && !caught_up(replica, now)) {
        std::erase(isr, replica.id);
      }
    }
    trial::mark(trial::Mark::isr_shrinks);
    propose(std::move(isr));
  }
  expand_to_caught_up(now);
  return true;
}

void Partition::expand_to_caught_up(Instant now) {
  for (const Replica& replica : remote_) {
    if (!replica.in_isr && replica.log_end != kNoOffset && caught_up(replica, now)) {
      maybe_expand(replica);
    }
  }
}

bool Partition::brokers_changed(Instant now) {
  if (!is_leader() || log_ == nullptr || remote_.empty()) {
    return false;
  }
  expand_to_caught_up(now);
  return maybe_advance_high_watermark(now);
}

bool Partition::maybe_advance_high_watermark(Instant now) {
  if (!is_leader() || log_ == nullptr || under_min_insync_replicas()) {
    return false;
  }
  Offset candidate = log_->settled_end();
  if (!trial::has_bug(trial::Canary::watermark_without_followers)) {
    for (const Replica& replica : remote_) {
      if (replica.log_end < candidate &&
          (replica.in_maximal || (!replica.in_isr && caught_up(replica, now) && eligible(replica) &&
                                  !trial::has_bug(trial::Canary::watermark_forgets_proposal)))) {
        candidate = replica.log_end;
        if (!replica.in_isr) {
          trial::mark(trial::Mark::watermark_held_by_joiner);
        }
      }
    }
  }
  if (candidate <= log_->high_watermark()) {
    return false;
  }
  const bool moved = log_->maybe_advance_high_watermark(candidate);
  HW_ASSERT(log_->high_watermark() <= log_->log_end_offset(), "P2");
  return moved;
}

BrokerId Partition::preferred_read_replica(Offset from, const std::string& rack, const std::string& listener,
                                           Instant now) const {
  if (!is_leader() || log_ == nullptr || rack.empty()) {
    return kNoBroker;
  }
  const metadata::BrokerImage* self = context_.alive(context_.self);
  if (self == nullptr || self->rack == rack) {
    return kNoBroker;
  }
  const Replica* best = nullptr;
  for (const Replica& replica : remote_) {
    const metadata::BrokerImage* alive = context_.alive(replica.id);
    // Only one of the ISR: others may stay behind for long.
    if (!replica.in_isr || replica.log_end < from || replica.log_start > from || alive == nullptr ||
        alive->rack != rack) {
      continue;
    }
    const bool reachable = std::any_of(alive->listeners.begin(), alive->listeners.end(),
                                       [&](const metadata::ListenerImage& one) { return one.name == listener; });
    if (!reachable) {
      continue;
    }
    const auto worth = [&](const Replica& one) {
      return std::make_pair(one.log_end, caught_up(one, now) ? now : one.caught_up);
    };
    if (best == nullptr || worth(*best) < worth(replica)) {
      best = &replica;
    }
  }
  return best == nullptr ? kNoBroker : best->id;
}

// ---- proposals of an ISR

bool Partition::may_propose() const noexcept { return !proposal_ && contains(isr_, context_.self); }

void Partition::propose(std::vector<BrokerId> isr) {
  HW_ASSERT(!proposal_ && contains(isr, context_.self), "P4");
  proposal_.emplace(Proposal{std::move(isr), false});
  context_.to_alter.add(*this, to_alter_at_);
  mark_members();
}

void Partition::drop_proposal() {
  proposal_.reset();
  context_.to_alter.remove(to_alter_at_);
}

void Partition::take_proposal(wire::AlterPartitionRequest::PartitionData& into) {
  HW_ASSERT(proposal_ && !proposal_->sent, "P4");
  proposal_->sent = true;
  context_.to_alter.remove(to_alter_at_);
  into.partition_index = index_;
  into.leader_epoch = leader_epoch_;
  into.partition_epoch = partition_epoch_;
  into.leader_recovery_state = 0;  // what was lost in an unclean election is lost: the leader goes on from what it has
  into.new_isr_with_epochs.reserve(proposal_->isr.size());
  for (const BrokerId id : proposal_->isr) {
    auto& member = into.new_isr_with_epochs.emplace_back();
    member.broker_id = id;
    if (id == context_.self) {
      member.broker_epoch = context_.broker_epoch;
      continue;
    }
    const auto known = std::find_if(remote_.begin(), remote_.end(), [&](const Replica& r) { return r.id == id; });
    member.broker_epoch = known != remote_.end() && known->epoch_known ? known->broker_epoch : -1;
  }
}

bool Partition::proposal_answered(std::int32_t partition_epoch,
                                  const wire::AlterPartitionResponse::PartitionData& answer, Instant now, bool& moved) {
  using wire::ErrorCode;
  moved = false;
  if (!is_leader() || !proposal_ || !proposal_->sent || partition_epoch != partition_epoch_) {
    return false;  // the image came first
  }
  switch (answer.error_code) {
    case ErrorCode::none:
      break;
    case ErrorCode::operation_not_attempted:
    case ErrorCode::ineligible_replica:
      trial::mark(trial::Mark::isr_change_refused);
      // Not now. The follower's next fetch, or the next look at who is behind, proposes again.
      drop_proposal();
      mark_members();
      return false;
    case ErrorCode::unknown_topic_or_partition:
    case ErrorCode::unknown_topic_id:
    case ErrorCode::fenced_leader_epoch:
    case ErrorCode::invalid_update_version:
    case ErrorCode::invalid_request:
    case ErrorCode::new_leader_elected:
      // The cluster has gone on: a newer image is on its way, and until it is here the proposal holds the high watermark.
      return false;
    default:
      proposal_->sent = false;
      context_.to_alter.add(*this, to_alter_at_);
      return true;
  }
  if (answer.leader_epoch != leader_epoch_ || answer.partition_epoch < partition_epoch_) {
    return false;
  }
  drop_proposal();
  if (trial::has_bug(trial::Canary::watermark_goes_back)) {
    log_->set_high_watermark(leader_epoch_start_);
  }
  isr_ = answer.isr;
  partition_epoch_ = answer.partition_epoch;
  mark_members();
  moved = maybe_advance_high_watermark(now);
  expand_to_caught_up(now);
  if (!remote_.empty()) {
    note_lagging();
  }
  return false;
}

void Partition::proposal_failed(std::int32_t partition_epoch) {
  if (is_leader() && proposal_ && proposal_->sent && partition_epoch == partition_epoch_) {
    proposal_->sent = false;
    context_.to_alter.add(*this, to_alter_at_);
  }
}

std::vector<Partition::FollowerFacts> Partition::followers() const {
  std::vector<FollowerFacts> all;
  all.reserve(remote_.size());
  for (const Replica& replica : remote_) {
    all.push_back({replica.id, replica.log_end, replica.caught_up, replica.in_isr, replica.in_maximal});
  }
  return all;
}

// ---- follower

log::AppendOutcome Partition::append_from_leader(Bytes records, Offset leader_watermark, Offset leader_start,
                                                 WallTime now, bool& moved) {
  HW_ASSERT(!is_leader() && log_ != nullptr, "P1");
  moved = false;
  log::AppendOutcome outcome;
  if (!records.empty() && (log_->log_start_offset() == log_->log_end_offset() || leader_start >= log_->log_end_offset())) {
    // DeleteRecords may have moved the leader's log start into a batch, and batches come whole: a log of which nothing is left there begins
    // anew with that batch.
    const wire::BatchRead first = wire::read_batch(records.span());
    const Offset end = log_->log_end_offset();
    if (first.status == wire::BatchStatus::ok && first.view.base_offset() < end && first.view.next_offset() > end &&
        !(log_->log_start_offset() == end ? log_->truncate_fully_and_start_at(first.view.base_offset()) : restart_at(first.view.base_offset()))) {
      outcome.error = wire::ErrorCode::kafka_storage_error;
      return outcome;
    }
  }
  if (!records.empty()) {
    outcome = log_->append_as_follower(std::move(records), now);
    if (outcome.error != wire::ErrorCode::none) {
      return outcome;
    }
  }
  moved = log_->maybe_advance_high_watermark(leader_watermark);
  const Offset start = std::min(leader_start, log_->high_watermark());
  if (start > log_->log_start_offset() && !log_->advance_log_start_offset(start)) {
    outcome.error = wire::ErrorCode::kafka_storage_error;
  }
  return outcome;
}

void Partition::note_replicated(Offset from, std::int64_t size_bytes) const {
  if (context_.events != nullptr) {
    context_.events->emit(event::ReplicaFetched{context_.self, leader_, topic_.id, index_, from, log_->log_end_offset(),
                                                log_->high_watermark(), size_bytes});
  }
}

Result<void> Partition::truncate_to_divergence(LeaderEpoch leader_epoch, Offset end_offset) {
  if (trial::has_bug(trial::Canary::no_truncation)) {
    return {};
  }
  Offset target = end_offset;
  if (leader_epoch.value() >= 0) {
    const log::EpochEndOffset here = log_->end_offset_for_epoch(leader_epoch);
    if (here.epoch != kNoLeaderEpoch && here.epoch != leader_epoch) {
      target = here.end_offset;  // an epoch that is unknown here: one step back, and the leader is asked again
    } else if (here.epoch == leader_epoch) {
      target = std::min(here.end_offset, end_offset);
    }
  }
  if (target < Offset(0)) {
    target = log_->high_watermark();
  }
  return truncate_to(target, event::TruncationCause::divergence);
}

Result<void> Partition::truncate_to(Offset offset, event::TruncationCause cause) {
  const Offset before = log_->log_end_offset();
  const Offset to = std::min(offset, before);
  HW_CHECK(log_->truncate_to(to));
  if (to < before) {
    trial::mark(trial::Mark::follower_truncates);
  }
  if (to < before && context_.events != nullptr) {
    context_.events->emit(event::LogTruncated{context_.self, topic_.id, index_, before, to, leader_, leader_epoch_, cause});
  }
  return {};
}

Result<void> Partition::restart_at(Offset offset) {
  const Offset before = log_->log_end_offset();
  trial::mark(trial::Mark::follower_restarts_at_leader_start);
  HW_CHECK(log_->truncate_fully_and_start_at(offset));
  if (context_.events != nullptr) {
    context_.events->emit(event::LogTruncated{context_.self, topic_.id, index_, before, offset, leader_, leader_epoch_,
                                              event::TruncationCause::out_of_range});
  }
  return {};
}

}  // namespace hw::broker
