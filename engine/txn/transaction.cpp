// SPDX-License-Identifier: Apache-2.0
#include "engine/txn/transaction.h"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/base/assert.h"

namespace hw::txn {
namespace {

constexpr std::array<std::string_view, 8> kNames{"Empty",          "Ongoing",       "PrepareCommit", "PrepareAbort",
                                                 "CompleteCommit", "CompleteAbort", "Dead",          "PrepareEpochFence"};
constexpr ProducerEpoch kLastEpoch{std::numeric_limits<std::int16_t>::max()};

ProducerEpoch next(ProducerEpoch epoch) noexcept {
  return epoch == kLastEpoch ? epoch : ProducerEpoch(static_cast<std::int16_t>(epoch.value() + 1));
}

// T1
bool state_may_follow(State before, State after) noexcept {
  switch (after) {
    case State::empty:
      return before == State::empty || is_complete(before);
    case State::ongoing:
      return before == State::ongoing || before == State::empty || is_complete(before);
    case State::prepare_commit:
      return before == State::ongoing;
    case State::prepare_abort:
      return before == State::ongoing || before == State::empty || is_complete(before);
    case State::complete_commit:
      return before == State::prepare_commit;
    case State::complete_abort:
      return before == State::prepare_abort;
    case State::dead:
      return before == State::empty || is_complete(before);
    case State::prepare_epoch_fence:
      break;
  }
  return false;
}

}  // namespace

std::string_view state_name(State state) noexcept {
  return kNames[static_cast<std::size_t>(state)];
}

std::optional<State> state_of(std::string_view name) noexcept {
  const auto at = std::find(kNames.begin(), kNames.end(), name);
  return at == kNames.end() ? std::nullopt : std::optional(static_cast<State>(at - kNames.begin()));
}

bool may_follow(const Transaction& before, const Transaction& after) noexcept {
  const bool same_producer = before.producer_id == after.producer_id;
  const bool epoch_fine = same_producer ? before.epoch <= after.epoch : after.epoch == ProducerEpoch(0);
  const bool over = after.state == State::empty || after.state == State::dead || is_complete(after.state);
  const bool partitions_fine = after.state == State::ongoing ? std::includes(after.partitions.begin(), after.partitions.end(),
                                                                             before.partitions.begin(), before.partitions.end())
                               : over                        ? after.partitions.empty()
                                                             : after.partitions == before.partitions;
  return state_may_follow(before.state, after.state) && epoch_fine && partitions_fine && before.last_update_ms <= after.last_update_ms;
}

Transaction Transaction::step(State to, std::int64_t now_ms) const {
  Transaction after = *this;
  after.previous_producer_id = producer_id;
  after.state = to;
  after.last_update_ms = std::max(last_update_ms, now_ms);
  return after;
}

Transaction Transaction::with_next_epoch(ProducerEpoch epoch_now, ProducerEpoch epoch_before, std::int32_t timeout, std::int64_t now_ms) const {
  Transaction after = step(State::empty, now_ms);
  after.epoch = epoch_now;
  after.last_epoch = epoch_before;
  after.timeout_ms = timeout;
  after.partitions.clear();
  after.start_ms = -1;
  return after;
}

Transaction Transaction::with_new_producer(ProducerId fresh, bool keep_last_epoch, std::int32_t timeout, std::int64_t now_ms) const {
  Transaction after = with_next_epoch(ProducerEpoch(0), keep_last_epoch ? epoch : kNoProducerEpoch, timeout, now_ms);
  after.producer_id = fresh;
  return after;
}

Transaction Transaction::with_partitions(const Partitions& added, ClientVersion by, std::int64_t now_ms) const {
  Transaction after = step(State::ongoing, now_ms);
  after.partitions.insert(added.begin(), added.end());
  if (state != State::ongoing) {
    after.start_ms = after.last_update_ms;
  }
  after.version = by;
  return after;
}

Transaction Transaction::prepared(bool commit, ClientVersion by, ProducerId fresh, std::int64_t now_ms) const {
  Transaction after = step(commit ? State::prepare_commit : State::prepare_abort, now_ms);
  after.version = by;
  after.next_producer_id = fresh;
  if (bumps_epoch(by)) {
    after.epoch = next(epoch);
    after.last_epoch = epoch;
  }
  if (state != State::ongoing) {
    after.start_ms = after.last_update_ms;  // nothing was ever begun
  }
  return after;
}

Transaction Transaction::fenced(ClientVersion by, ProducerId fresh, std::int64_t now_ms) const {
  Transaction after = prepared(false, by, fresh, now_ms);
  if (!bumps_epoch(by)) {
    after.epoch = next(epoch);
    after.last_epoch = kNoProducerEpoch;
  }
  return after;
}

Transaction Transaction::completed(std::int64_t now_ms) const {
  HW_ASSERT(is_prepared(state), "only what was prepared is completed");
  Transaction after = step(state == State::prepare_commit ? State::complete_commit : State::complete_abort, now_ms);
  if (bumps_epoch(version) && next_producer_id != kNoProducerId) {
    after.producer_id = next_producer_id;
    after.epoch = ProducerEpoch(0);
  }
  after.next_producer_id = kNoProducerId;
  after.partitions.clear();
  return after;
}

Transaction Transaction::expired() const {
  Transaction after = step(State::dead, last_update_ms);
  after.partitions.clear();
  return after;
}

}  // namespace hw::txn
