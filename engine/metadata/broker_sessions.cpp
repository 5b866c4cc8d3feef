// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/broker_sessions.h"

#include <algorithm>

namespace hw::metadata {

void BrokerSessions::touch(BrokerId broker, std::int64_t epoch, bool fenced, Offset metadata_offset, Instant now) {
  Session& session = brokers_[broker];
  if (session.epoch != epoch || fenced) {
    session.moved_at = kNoOffset;
  }
  session.epoch = epoch;
  session.last_contact = now;
  session.fenced = fenced;
  session.metadata_offset = metadata_offset;
}

void BrokerSessions::end(BrokerId broker) { brokers_.erase(broker); }

void BrokerSessions::shutting_down(BrokerId broker, Offset moved_at) {
  const auto at = brokers_.find(broker);
  if (at != brokers_.end() && at->second.moved_at == kNoOffset) {
    at->second.moved_at = moved_at;
  }
}

bool BrokerSessions::live(BrokerId broker, std::int64_t epoch, Instant now) const {
  const auto at = brokers_.find(broker);
  return at != brokers_.end() && at->second.epoch == epoch && now <= at->second.last_contact + timeout_;
}

bool BrokerSessions::shutting_down(BrokerId broker) const {
  const auto at = brokers_.find(broker);
  return at != brokers_.end() && at->second.moved_at != kNoOffset;
}

std::optional<BrokerId> BrokerSessions::stale(Instant now) const {
  const auto oldest = std::min_element(brokers_.begin(), brokers_.end(), [](const auto& a, const auto& b) {
    return a.second.last_contact < b.second.last_contact;
  });
  if (oldest == brokers_.end() || now <= oldest->second.last_contact + timeout_) {
    return std::nullopt;
  }
  return oldest->first;
}

Instant BrokerSessions::next_deadline() const noexcept {
  Instant earliest = kNever;
  for (const auto& [id, session] : brokers_) {
    earliest = std::min(earliest, session.last_contact + timeout_ + nanoseconds(1));
  }
  return earliest;
}

BrokerControl BrokerSessions::current(BrokerId broker, bool fenced) const {
  if (shutting_down(broker)) {
    return BrokerControl::controlled_shutdown;
  }
  return fenced ? BrokerControl::fenced : BrokerControl::unfenced;
}

bool BrokerSessions::everybody_knows(Offset offset) const {
  return std::all_of(brokers_.begin(), brokers_.end(), [&](const auto& entry) {
    const Session& session = entry.second;
    return session.fenced || session.moved_at != kNoOffset || session.metadata_offset >= offset;
  });
}

BrokerControl BrokerSessions::next(BrokerId broker, BrokerControl current, const Wants& wants, Offset registered_at,
                                   bool leads_something) const {
  switch (current) {
    case BrokerControl::fenced:
      if (wants.shut_down) {
        return BrokerControl::shutdown_now;
      }
      return !wants.fence && wants.metadata_offset >= registered_at ? BrokerControl::unfenced : BrokerControl::fenced;
    case BrokerControl::unfenced:
      if (wants.fence) {
        return wants.shut_down ? BrokerControl::shutdown_now : BrokerControl::fenced;
      }
      if (!wants.shut_down) {
        return BrokerControl::unfenced;
      }
      return leads_something ? BrokerControl::controlled_shutdown : BrokerControl::shutdown_now;
    case BrokerControl::controlled_shutdown:
      // Not before the new leaders know that they lead: until then this one still answers.
      return !leads_something && everybody_knows(brokers_.at(broker).moved_at) ? BrokerControl::shutdown_now
                                                                              : BrokerControl::controlled_shutdown;
    case BrokerControl::shutdown_now: break;
  }
  return BrokerControl::shutdown_now;
}

}  // namespace hw::metadata
