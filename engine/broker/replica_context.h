// SPDX-License-Identifier: Apache-2.0
// ReplicaContext: what the partitions of one node share: who this broker is, which brokers are alive, what followers did
// last, and the lists of partitions that something has to be done about. Costs follow what changed, never how many
// partitions there are.
// Thread rule: one thread, the node's. Owned by the broker, outlives its partitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/broker/purgatory.h"
#include "engine/event/event.h"
#include "engine/metadata/image/image.h"

namespace hw::broker {

class Partition;

struct Now {
  Instant instant;  // deadlines
  WallTime wall;    // timestamps in records
};

// Longer ago than anything.
inline constexpr Instant kLongAgo{std::numeric_limits<std::int64_t>::min() / 2};

// A broker as a follower of partitions that this one leads.
struct FollowerState {
  Instant fetched_at = kLongAgo;  // its last Fetch
  // Partitions of a new leader epoch that it has not fetched yet. While there are any (and not for long), its fetches are
  // answered soon, so that it can ask for them.
  std::int32_t awaited = 0;
  Instant awaited_until = kLongAgo;
  bool session_refused = false;  // its last full fetch got no session
  PurgatoryList parked;          // its waiting fetches
  std::shared_ptr<event::FetcherCounters> told;  // for whoever watches; null: nobody does
};

// Objects in the order in which they were added, each at most once; one that leaves does so in constant time. An object keeps
// its place (`at`, kNone: not in the list) and outlives its stay.
template <class T>
class StableList {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  // Not while somebody walks.
  void add(T& object, std::size_t& at) {
    if (at != kNone) {
      return;
    }
    if (all_.size() > 2 * count_ + 64) {
      close_holes();
    }
    at = all_.size();
    all_.push_back({&object, &at});
    ++count_;
  }
  void remove(std::size_t& at) noexcept {
    if (at == kNone) {
      return;
    }
    all_[at] = {};
    at = kNone;
    if (--count_ == 0) {
      all_.clear();
    }
  }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  // For a walk by index, in which objects may leave: null where one has left.
  [[nodiscard]] std::size_t end() const noexcept { return all_.size(); }
  [[nodiscard]] T* operator[](std::size_t i) const noexcept { return i < all_.size() ? all_[i].object : nullptr; }

 private:
  struct Entry {
    T* object = nullptr;
    std::size_t* at = nullptr;
  };
  void close_holes() {
    std::size_t next = 0;
    for (const Entry& entry : all_) {
      if (entry.object != nullptr) {
        *entry.at = next;
        all_[next++] = entry;
      }
    }
    all_.resize(next);
  }
  std::vector<Entry> all_;
  std::size_t count_ = 0;
};

struct ReplicaContext {
  BrokerId self = kNoBroker;
  std::int64_t broker_epoch = -1;  // unknown: nothing is asked of others
  Duration lag_time_max = seconds(30);
  event::EventSink* events = nullptr;                // may be null
  const metadata::MetadataImage* image = nullptr;    // never null once partitions are there
  std::int64_t wall_minus_instant_ms = 0;  // as of the newest input
  std::map<BrokerId, FollowerState> followers;
  StableList<Partition> lagging;   // led here, with a follower that does not have everything
  StableList<Partition> to_alter;  // led here, with a change of the ISR that was not sent

  void note_time(Now now) noexcept { wall_minus_instant_ms = now.wall.ms - now.instant.ns / kNsPerMs; }
  // 0: longer ago than anything.
  [[nodiscard]] std::int64_t wall_ms(Instant at) const noexcept {
    return at == kLongAgo ? 0 : wall_minus_instant_ms + at.ns / kNsPerMs;
  }
  static constexpr std::int64_t kNsPerMs = 1'000'000;

  // Alive as partitions see it: registered and not fenced. Null: not so.
  [[nodiscard]] const metadata::BrokerImage* alive(BrokerId broker) const {
    const metadata::BrokerImage* known = image == nullptr ? nullptr : image->find_broker(broker);
    return known == nullptr || known->fenced ? nullptr : known;
  }
};

}  // namespace hw::broker
