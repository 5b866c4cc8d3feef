// SPDX-License-Identifier: Apache-2.0
// BrokerSessions: what the active controller remembers of heartbeats (KIP-631). Not in the log: a new controller starts
// with fresh sessions.
//
//             register ─▶ fenced ──(caught up, wants no fence)──▶ unfenced ──(wants to shut down, leads something)──┐
//                           ▲                                      │   │                                            ▼
//                           └──────(silent, or wants the fence)────┘   └─(leads nothing)─▶ shutdown now ◀── controlled shutdown
//
// A session is of one broker epoch and lasts from its last heartbeat for broker.session.timeout.ms. A broker that was let
// go, or fenced for its silence, has none, so that its next life may register at once.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "engine/base/ids.h"
#include "engine/base/time.h"

namespace hw::metadata {

enum class BrokerControl : std::uint8_t { fenced, unfenced, controlled_shutdown, shutdown_now };

class BrokerSessions {
 public:
  explicit BrokerSessions(Duration timeout) : timeout_(timeout) {}

  void clear() { brokers_.clear(); }
  void forget(BrokerId broker) { brokers_.erase(broker); }
  // A heartbeat, or the activation of a controller that finds the broker unfenced.
  void touch(BrokerId broker, std::int64_t epoch, bool fenced, Offset metadata_offset, Instant now);
  void end(BrokerId broker);  // fenced; nobody waits for it any more
  // The partitions of a broker in controlled shutdown have moved in records up to here; the first offset stays.
  void shutting_down(BrokerId broker, Offset moved_at);

  [[nodiscard]] bool live(BrokerId broker, std::int64_t epoch, Instant now) const;
  [[nodiscard]] bool shutting_down(BrokerId broker) const;
  [[nodiscard]] std::optional<BrokerId> stale(Instant now) const;  // the longest silent one
  [[nodiscard]] Instant next_deadline() const noexcept;            // kNever without sessions

  struct Wants {
    bool fence = false;
    bool shut_down = false;
    Offset metadata_offset = kNoOffset;  // the broker has replayed up to here
  };
  // What becomes of a broker that is `fenced` in the newest image. `registered_at`: offset of its registration record.
  [[nodiscard]] BrokerControl current(BrokerId broker, bool fenced) const;
  [[nodiscard]] BrokerControl next(BrokerId broker, BrokerControl current, const Wants& wants, Offset registered_at,
                                   bool leads_something) const;

 private:
  struct Session {
    std::int64_t epoch = -1;
    Instant last_contact;
    bool fenced = true;
    Offset metadata_offset = kNoOffset;
    Offset moved_at = kNoOffset;  // in controlled shutdown where not kNoOffset
  };
  [[nodiscard]] bool everybody_knows(Offset offset) const;

  Duration timeout_;
  std::map<BrokerId, Session> brokers_;
};

}  // namespace hw::metadata
