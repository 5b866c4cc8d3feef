// SPDX-License-Identifier: Apache-2.0
// Broker: the replicas of one node and the requests on them: Produce, Fetch, ListOffsets, OffsetForLeaderEpoch.
//
//   image + delta ─ apply() ─▶ topics, partitions, logs
//   produce() ─▶ append to each partition ─▶ answer now, or wait for the high watermark (acks=all)
//   fetch()   ─▶ read each partition      ─▶ answer now, or wait for min.bytes (long poll)
//
// A request that must wait is parked; appends wake exactly those that watch the partition, and settle() answers them.
// What the request sees is decided then: nothing is read ahead for one that waits.
// Bounds: parked requests (a fetch beyond is answered at once with what there is, a produce with REQUEST_TIMED_OUT),
// fetch sessions, one answer (fetch.max.bytes).
// Thread rule: one thread; `now` never decreases. Sources: KIP-74, KIP-98, KIP-101, KIP-227, KIP-320, KIP-516, KIP-951.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/prng.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/broker/fetch_session.h"
#include "engine/broker/partition.h"
#include "engine/broker/purgatory.h"
#include "engine/event/event.h"
#include "engine/log/log_manager.h"
#include "engine/metadata/image/image.h"
#include "engine/wire/msg/fetch.h"
#include "engine/wire/msg/list_offsets.h"
#include "engine/wire/msg/offset_for_leader_epoch.h"
#include "engine/wire/msg/produce.h"

namespace hw::broker {

struct Now {
  Instant instant;  // deadlines
  WallTime wall;    // timestamps in records
};

struct BrokerOptions {
  BrokerId node;
  std::string listener = "PLAINTEXT";         // whose endpoints are named to clients that must go elsewhere
  std::int32_t fetch_max_bytes = 57'671'680;  // fetch.max.bytes
  std::size_t max_parked = 200'000;
  FetchSessionCache::Limits sessions;
  // Asked before records leave for a consumer: for how many milliseconds it is to wait instead; 0: they leave. May be empty.
  std::function<std::int32_t(const Ticket& ticket, std::int64_t bytes)> fetch_throttle_ms;
};

// Answers in the order in which they became ready.
struct BrokerOutputs {
  struct Produced {
    Ticket ticket;
    wire::ProduceResponse response;
    bool failed = false;      // some partition has an error
    bool answer_owed = true;  // false with acks=0: a failure closes the connection, success says nothing
  };
  struct Fetched {
    Ticket ticket;
    wire::FetchResponse response;
  };
  std::vector<Produced> produced;
  std::vector<Fetched> fetched;
  [[nodiscard]] bool empty() const noexcept { return produced.empty() && fetched.empty(); }
  void clear() {
    produced.clear();
    fetched.clear();
  }
};

class Broker {
 public:
  // Configuration of a topic by its name.
  using SettingsOf = std::function<TopicSettings(const std::string& topic)>;

  // `logs` and `events` outlive the broker; `events` may be null.
  Broker(BrokerOptions options, log::LogManager& logs, event::EventSink* events,
         std::shared_ptr<event::NodeCounters> counters, SettingsOf settings_of, Prng prng);
  ~Broker();
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  // Makes the replicas what `image` says. Errors of single logs are kept in their partitions and returned for people.
  std::vector<Error> apply(metadata::ImagePtr image, const metadata::MetadataDelta& delta, Now now);

  struct ProduceCaller {
    Ticket ticket;
    std::int16_t version = 0;
    bool may_write_internal_topics = false;
    event::ConnectionCounters* counters = nullptr;  // of the connection; null: nobody counts
  };
  // Takes the records out of `request` (their bytes are patched in place: nobody else may look at them any more).
  void produce(const ProduceCaller& caller, wire::ProduceRequest& request, Now now, BrokerOutputs& out);
  void fetch(const Ticket& ticket, const wire::FetchRequest& request, std::int16_t version, Now now,
             BrokerOutputs& out);
  [[nodiscard]] wire::ListOffsetsResponse list_offsets(const wire::ListOffsetsRequest& request, std::int16_t version);
  [[nodiscard]] wire::OffsetForLeaderEpochResponse offset_for_leader_epoch(
      const wire::OffsetForLeaderEpochRequest& request);

  // Appends of coordinators: as leader, with acks=all. The callback runs when the batch is committed, refused, or the
  // partition is gone; at once or inside a later call.
  using Committed = std::function<void(wire::ErrorCode error)>;
  void append_internal(const std::string& topic, PartitionIndex partition, Bytes batch, Now now, Committed done);

  // Answers those that were woken. Call after every turn.
  void settle(Now now, BrokerOutputs& out);
  void tick(Now now, BrokerOutputs& out);
  [[nodiscard]] Instant next_deadline() const noexcept;
  // Its waiting request is forgotten.
  void disconnected(ConnectionId connection);

  [[nodiscard]] Partition* find(std::string_view topic, PartitionIndex partition) noexcept;
  [[nodiscard]] Partition* find(const Uuid& topic_id, PartitionIndex partition) noexcept;
  // Logs that moved to another directory (LogManager::take_moved()): partitions go on with the new ones.
  void logs_moved(const std::vector<log::Moved>& moved);
  [[nodiscard]] log::LogManager& logs() noexcept;
  [[nodiscard]] std::size_t parked() const noexcept;
  [[nodiscard]] const FetchSessionCache& sessions() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hw::broker
