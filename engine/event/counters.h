// SPDX-License-Identifier: Apache-2.0
// Levels: numbers that change a million times a second and are sampled, never queued.
// One writer each (the node thread), any number of readers; relaxed, so a reader may see one field newer than another.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
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

// How far a follower is, as its leader knows it. Times are wall time in ms; 0: not since this epoch began.
struct FollowerCounters {
  Counter log_end_offset;     // it has everything below; -1: not known
  Counter fetched_at_ms;      // its last fetch that told how far it is
  Counter caught_up_at_ms;    // the newest time at which it is known to have had everything
  FollowerCounters() noexcept { log_end_offset.set(-1); }
};

// A follower's fetches from one node, whatever they are for: those that bring nothing new look at no partition.
struct FetcherCounters {
  Counter fetched_at_ms;  // wall time; 0: never
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

// What a connection asks for and gets. The lists are filled in order of first use and end at the first key or code -1
// (no error has that code here: Kafka's unknown_server_error is kept as kUnknownError). What finds no room is counted
// in the last field of its kind.
struct ConnectionCounters {
  static constexpr std::size_t kApis = 24;
  static constexpr std::size_t kErrors = 12;
  static constexpr std::int64_t kUnknownError = 0x7fff;
  struct Api {
    Counter key;
    Counter version;  // of the newest request
    Counter requests;
    Api() noexcept { key.set(-1); }
  };
  struct Error {
    Counter code;
    Counter count;
    Error() noexcept { code.set(-1); }
  };
  Counter requests;
  Counter bytes_in;
  Counter bytes_out;
  Counter records_in;  // appended for it; duplicates of retries are not
  std::array<Api, kApis> apis;
  std::array<Error, kErrors> errors;  // error codes other than 0 in answers, one for each place that holds one
  Counter apis_other;
  Counter errors_other;

  void note_request(std::int16_t key, std::int16_t version) noexcept {
    for (Api& api : apis) {
      const std::int64_t have = api.key.get();
      if (have == key || have == -1) {
        api.version.set(version);
        api.requests.add(1);
        if (have == -1) {
          api.key.set(key);  // last: whoever reads it finds the rest
        }
        return;
      }
    }
    apis_other.add(1);
  }
  void note_error(std::int16_t code) noexcept {
    const std::int64_t kept = code == -1 ? kUnknownError : code;
    for (Error& error : errors) {
      const std::int64_t have = error.code.get();
      if (have == kept || have == -1) {
        error.count.add(1);
        if (have == -1) {
          error.code.set(kept);
        }
        return;
      }
    }
    errors_other.add(1);
  }
  [[nodiscard]] std::int64_t error_total() const noexcept {
    std::int64_t sum = errors_other.get();
    for (const Error& error : errors) {
      sum += error.count.get();
    }
    return sum;
  }
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
