// SPDX-License-Identifier: Apache-2.0
#include "engine/raft/quorum.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "engine/base/assert.h"
#include "engine/raft/control_records.h"

namespace hw::raft {

Quorum::Quorum(Config config, ElectionState state, LogPosition log, Prng prng, Instant now)
    : config_(std::move(config)),
      election_(state),
      prng_(prng),
      log_end_(log.log_end_offset),
      high_watermark_(std::min(log.high_watermark, log.log_end_offset)) {
  HW_ASSERT(config_.voters.size() == 1 && config_.voters.front().key == config_.self.key, "a sole voter");
  // The log may know a newer epoch than a quorum-state that was lost.
  election_.epoch = std::max(election_.epoch, log.last_epoch);
  state_ = Unattached{election_deadline(now)};
}

Instant Quorum::election_deadline(Instant now) {
  if (config_.voters.size() == 1) {
    return now;  // nobody else can call an election, so there is nothing to wait for
  }
  const auto spread = static_cast<std::uint64_t>(std::max<std::int64_t>(1, config_.election_timeout.ns));
  return now + config_.election_timeout + nanoseconds(static_cast<std::int64_t>(prng_.below(spread)));
}

bool Quorum::is_leader() const noexcept { return std::holds_alternative<Leader>(state_); }

Instant Quorum::next_deadline() const noexcept {
  const Unattached* unattached = std::get_if<Unattached>(&state_);
  return unattached == nullptr ? kNever : unattached->election_at;
}

void Quorum::step(const Input& input, Instant now, Outputs& out) {
  if (const Tick* tick = std::get_if<Tick>(&input)) {
    wall_ = tick->wall;
    const Unattached* unattached = std::get_if<Unattached>(&state_);
    if (unattached != nullptr && now >= unattached->election_at) {
      become_candidate(out);
    }
  } else if (std::holds_alternative<Persisted>(input)) {
    if (std::holds_alternative<Candidate>(state_)) {
      become_leader(wall_, out);
    }
  } else if (const Flushed* flushed = std::get_if<Flushed>(&input)) {
    if (Leader* leader = std::get_if<Leader>(&state_)) {
      leader->flushed = std::max(leader->flushed, std::min(flushed->up_to, log_end_));
      advance_high_watermark(out);
    }
  }
}

void Quorum::become_candidate(Outputs& out) {
  state_ = Candidate{};
  election_.epoch = LeaderEpoch(election_.epoch.value() + 1);  // Q2
  election_.leader = config_.self.key.id;
  election_.voted.reset();
  out.persist = election_;  // Q1: become_leader() waits for it
}

void Quorum::become_leader(WallTime wall, Outputs& out) {
  state_ = Leader{log_end_, high_watermark_};
  std::vector<ControlRecord> records;
  records.push_back(leader_change_record(config_.self.key.id, config_.voters));  // Q4
  if (log_end_ == Offset(0)) {
    records.push_back(kraft_version_record());
    records.push_back(voters_record(config_.voters));
  }
  const Offset base = log_end_;
  log_end_ += static_cast<OffsetDelta>(records.size());
  out.appends.push_back(
      {base, log_end_ - 1, election_.epoch, true, control_batch_of(records, base, election_.epoch, wall)});
  out.flush = true;
  out.events.emplace_back(event::ControllerElected{config_.self.key.id, election_.epoch.value()});
}

Offset Quorum::append(const std::vector<Bytes>& values, WallTime wall, Outputs& out) {
  HW_ASSERT(is_leader() && !values.empty(), "a leader appends at least one record");
  wall_ = wall;
  const Offset base = log_end_;
  log_end_ += static_cast<OffsetDelta>(values.size());
  out.appends.push_back({base, log_end_ - 1, election_.epoch, false, data_batch_of(values, base, election_.epoch, wall)});
  out.flush = true;
  return base;
}

void Quorum::advance_high_watermark(Outputs& out) {
  const Leader& leader = std::get<Leader>(state_);
  // Q3: records of older epochs count only together with one of this epoch (Raft, figure 8).
  if (leader.flushed > leader.epoch_start && leader.flushed > high_watermark_) {
    high_watermark_ = leader.flushed;
    out.high_watermark = high_watermark_;
  }
}

QuorumView Quorum::view() const {
  QuorumView view;
  view.state = std::visit(
      [](const auto& state) {
        using T = std::decay_t<decltype(state)>;
        if constexpr (std::is_same_v<T, Unattached>) {
          return QuorumView::State::unattached;
        } else if constexpr (std::is_same_v<T, Candidate>) {
          return QuorumView::State::candidate;
        } else {
          return QuorumView::State::leader;
        }
      },
      state_);
  view.epoch = election_.epoch;
  view.leader = is_leader() ? std::optional<BrokerId>(config_.self.key.id) : std::nullopt;
  view.log_end_offset = log_end_;
  view.high_watermark = high_watermark_;
  return view;
}

}  // namespace hw::raft
