// SPDX-License-Identifier: Apache-2.0
// Broker: the replicas of one node and the requests on them: Produce, Fetch, DeleteRecords, ListOffsets, OffsetForLeaderEpoch.
//
//   image + delta ─ apply() ─▶ topics, partitions, logs
//   produce() ─▶ append to each partition ─▶ answer now, or wait for the high watermark (acks=all)
//   fetch()   ─▶ read each partition      ─▶ answer now, or wait for min.bytes (long poll)
//   delete_records() ─▶ raise the log start ─▶ answer now, or wait until all replicas that are alive have done so
//   fetched() ─▶ a leader's answer to this follower: append, cut, high watermark ─▶ the next PeerFetch (settle())
//
// What this broker asks of others comes out of settle() and tick(): Fetch and ListOffsets of the leaders that it follows
// (one of both at a time per leader and fetcher), and AlterPartition of the controller (one at a time). Each of them owes
// exactly one input back, an answer or a failure; an answer that comes after the world changed is harmless.
//
// A produce with acks=1 or -1 also waits for the disk where flush.messages asks for that, with no deadline: as in Kafka, where
// the append itself lasts that long.
// A request that must wait is parked; appends wake exactly those that watch the partition, and settle() answers them.
// What the request sees is decided then: nothing is read ahead for one that waits.
// Bounds: parked requests (a fetch beyond is answered at once with what there is, others with REQUEST_TIMED_OUT),
// fetch sessions, one answer (fetch.max.bytes).
// Thread rule: one thread; `now` never decreases. Sources: KIP-74, KIP-98, KIP-101, KIP-107, KIP-227, KIP-279, KIP-320, KIP-392,
// KIP-497, KIP-516, KIP-903, KIP-951, KIP-966.
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
#include "engine/broker/peer_requests.h"
#include "engine/broker/purgatory.h"
#include "engine/broker/replica_context.h"
#include "engine/event/event.h"
#include "engine/log/log_manager.h"
#include "engine/metadata/image/image.h"
#include "engine/wire/msg/delete_records.h"
#include "engine/wire/msg/fetch.h"
#include "engine/wire/msg/list_offsets.h"
#include "engine/wire/msg/offset_for_leader_epoch.h"
#include "engine/wire/msg/produce.h"

namespace hw::broker {

struct BrokerOptions {
  BrokerId node;
  std::string listener = "PLAINTEXT";         // whose endpoints are named to clients that must go elsewhere
  std::int32_t fetch_max_bytes = 57'671'680;  // fetch.max.bytes
  std::size_t max_parked = 200'000;
  FetchSessionCache::Limits sessions;
  Duration replica_lag_time_max = seconds(30);  // replica.lag.time.max.ms
  bool rack_aware_reads = false;                // replica.selector.class is Kafka's RackAwareReplicaSelector
  // As a follower.
  std::int32_t fetchers = 1;                              // num.replica.fetchers, per leader
  std::int32_t replica_fetch_min_bytes = 1;               // replica.fetch.min.bytes
  std::int32_t replica_fetch_max_bytes = 1'048'576;       // replica.fetch.max.bytes, of a partition
  std::int32_t replica_fetch_response_bytes = 10'485'760; // replica.fetch.response.max.bytes
  Duration replica_fetch_wait_max = milliseconds(500);    // replica.fetch.wait.max.ms
  Duration replica_fetch_backoff = milliseconds(1000);    // replica.fetch.backoff.ms: the longest wait after an error
  // Asked before records leave for a consumer: for how many milliseconds it is to wait instead; 0: they leave. May be empty.
  std::function<std::int32_t(const Ticket& ticket, std::int64_t bytes)> fetch_throttle_ms;
};

// Answers in the order in which they became ready.
struct BrokerOutputs : PeerRequests {
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
  struct Deleted {
    Ticket ticket;
    wire::DeleteRecordsResponse response;
  };
  std::vector<Produced> produced;
  std::vector<Fetched> fetched;
  std::vector<Deleted> deleted;
  [[nodiscard]] bool empty() const noexcept {
    return produced.empty() && fetched.empty() && deleted.empty() && peer_fetches.empty() && peer_list_offsets.empty() &&
           !alter_partition;
  }
  void clear() {
    produced.clear();
    fetched.clear();
    deleted.clear();
    peer_fetches.clear();
    peer_list_offsets.clear();
    alter_partition.reset();
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

  // What a transaction's coordinator has to say about the transactional batches of a Produce before they are appended (KIP-890):
  // that the partitions are in the transaction. Empty: nothing is asked.
  struct TransactionQuestion {
    struct Part {
      std::size_t topic_at = 0;  // in the request
      std::size_t partition_at = 0;
      std::string topic;
      PartitionIndex partition;
      std::uint64_t verification = 0;
      wire::ErrorCode error = wire::ErrorCode::none;  // the answer
      std::string message;
    };

    ProducerId producer_id = kNoProducerId;
    ProducerEpoch epoch = kNoProducerEpoch;
    std::vector<Part> parts;
    [[nodiscard]] const Part* find(std::size_t topic_at, std::size_t partition_at) const noexcept;
  };
  struct ProduceCaller {
    Ticket ticket;
    std::int16_t version = 0;
    bool may_write_internal_topics = false;
    bool verify_transactions = false;               // transaction.partition.verification.enable
    const TransactionQuestion* answered = nullptr;  // the question of this request, with its answers
    event::ConnectionCounters* counters = nullptr;  // of the connection; null: nobody counts
  };

  [[nodiscard]] TransactionQuestion transaction_question(const ProduceCaller& caller, const wire::ProduceRequest& request, Now now);
  // Takes the records out of `request` (their bytes are patched in place: nobody else may look at them any more).
  void produce(const ProduceCaller& caller, wire::ProduceRequest& request, Now now, BrokerOutputs& out);
  void fetch(const Ticket& ticket, const wire::FetchRequest& request, std::int16_t version, Now now,
             BrokerOutputs& out);
  void delete_records(const Ticket& ticket, const wire::DeleteRecordsRequest& request, Now now, BrokerOutputs& out);
  [[nodiscard]] wire::ListOffsetsResponse list_offsets(const wire::ListOffsetsRequest& request, std::int16_t version);
  [[nodiscard]] wire::OffsetForLeaderEpochResponse offset_for_leader_epoch(
      const wire::OffsetForLeaderEpochRequest& request);

  // Appends of coordinators: as leader, with acks=all. The callback runs when the batch is committed, refused, or the
  // partition is gone; at once or inside a later call.
  using Committed = std::function<void(wire::ErrorCode error)>;
  void append_internal(const std::string& topic, PartitionIndex partition, Bytes batch, Now now, Committed done,
                       const log::TransactionTerms& transaction = {});
  // Likewise for what is in the leader's log already, up to `end`.
  void await_committed(const std::string& topic, PartitionIndex partition, Offset end, Committed done);

  // --- replication
  // Of this broker's registration; goes with its Fetch and AlterPartition. Before it is known nothing is sent.
  void set_broker_epoch(std::int64_t epoch);
  // The answer to a PeerFetch. Record bytes are appended as slices of its frame.
  void fetched(std::uint64_t id, wire::FetchResponse&& response, Now now);
  void offsets_listed(std::uint64_t id, const wire::ListOffsetsResponse& response, Now now);
  // No answer: not connected, connection lost, timed out (replica.socket.timeout.ms), not decodable.
  void fetch_failed(std::uint64_t id, Now now);
  void alter_partition_answered(const wire::AlterPartitionResponse& response, Now now);
  void alter_partition_failed(Now now);

  // Answers those that were woken and puts out what is to be sent. Call after every turn.
  void settle(Now now, BrokerOutputs& out);
  void tick(Now now, BrokerOutputs& out);
  [[nodiscard]] Instant next_deadline() const noexcept;
  // Its waiting request is forgotten.
  void disconnected(ConnectionId connection);

  [[nodiscard]] Partition* find(std::string_view topic, PartitionIndex partition) noexcept;
  [[nodiscard]] Partition* find(const Uuid& topic_id, PartitionIndex partition) noexcept;
  // Logs that moved to another directory (LogManager::take_moved()): partitions go on with the new ones.
  void logs_moved(const std::vector<log::Moved>& moved);
  // A flush of that log came back, with or without success: whoever waits for the disk looks again.
  void log_flushed(const Uuid& topic_id, PartitionIndex partition, Now now);
  [[nodiscard]] log::LogManager& logs() noexcept;
  [[nodiscard]] std::size_t parked() const noexcept;
  [[nodiscard]] const FetchSessionCache& sessions() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hw::broker
