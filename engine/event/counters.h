// SPDX-License-Identifier: Apache-2.0
// Levels: numbers that change a million times a second and are sampled, never queued.
// One writer each (the node thread), any number of readers; relaxed, so a reader may see one field newer than another.
#pragma once

#include <atomic>
#include <cstdint>

namespace hw::event {

class Counter {
 public:
  void set(std::int64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void add(std::int64_t delta) noexcept {  // single writer: no read-modify-write needed
    value_.store(value_.load(std::memory_order_relaxed) + delta, std::memory_order_relaxed);
  }
  [[nodiscard]] std::int64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

// One replica of one partition. Offsets as in KIP-101/98; bytes of the log as stored.
struct ReplicaCounters {
  Counter log_start_offset;
  Counter high_watermark;
  Counter last_stable_offset;
  Counter log_end_offset;
  Counter size_bytes;
  Counter segments;
  Counter records_in;   // appended since the node started
  Counter bytes_in;
  Counter records_out;  // handed to consumers (estimated from offsets), followers excluded
  Counter bytes_out;
};

// One group's committed position in one partition; -1 where there is none.
struct CommittedCounters {
  Counter offset;
  Counter committed_at_ms;  // wall time of the newest commit; 0: none
  CommittedCounters() noexcept { offset.set(-1); }
};

// One member of a group, as its coordinator hears it. A coordinator that starts again begins anew.
struct MemberCounters {
  Counter last_seen_ms;  // wall time of its last sign of life (heartbeat, join, sync, commit); 0: none
  Counter heartbeats;    // Heartbeat requests that were answered without an error that ends the membership
};

struct ConnectionCounters {
  Counter requests;
  Counter bytes_in;
  Counter bytes_out;
};

struct NodeCounters {
  Counter connections;
  Counter requests;
  Counter bytes_in;        // produced record bytes
  Counter bytes_out;       // fetched record bytes
  Counter records_in;
  Counter records_out;
  Counter turn_ns_max;     // longest turn of the node's loop since the last reset by the observer
  Counter turns_over_10ms;
};

}  // namespace hw::event
