// SPDX-License-Identifier: Apache-2.0
// What the files of the controller share.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/metadata/broker_sessions.h"
#include "engine/metadata/controller.h"
#include "engine/metadata/partition_change.h"
#include "engine/metadata/placement.h"
#include "engine/metadata/refusal.h"

namespace hw::metadata {

struct Controller::Impl {
  Impl(Options given, Prng random)
      : options(std::move(given)),
        prng(random),
        sessions(milliseconds(options.broker_configs->number("broker.session.timeout.ms"))) {}

  Options options;
  Prng prng;
  bool active = false;
  std::int32_t epoch = -1;
  Offset next_offset{0};
  Offset committed_to{0};
  ImageBuilder newest{nullptr, ImageBuilder::Tracking::off};
  std::vector<std::vector<Record>> outbox;
  // Names of existing topics by the form in which '.' and '_' are the same, for those that hold either (metric names
  // of such topics collide).
  std::map<std::string, std::set<std::string>> collisions;

  struct Waiting {
    Offset needs;  // runs when the high watermark reaches this
    std::function<void(bool committed)> run;
  };
  std::deque<Waiting> waiting;

  // Appends records (none: nothing) and runs `run` when everything written so far is committed. More than fit into one
  // batch become several: with Atomic::yes inside a metadata transaction, so that all of them become visible together.
  enum class Atomic : bool { no, yes };
  void write(std::vector<Record> records, std::function<void(bool)> run, Atomic atomic = Atomic::yes);
  template <class Response>
  void finish(std::vector<Record> records, Response response, Response failure, Done<Response> done,
              Atomic atomic = Atomic::yes) {
    write(
        std::move(records),
        [response = std::move(response), failure = std::move(failure), done = std::move(done)](bool committed) mutable {
          done(committed ? std::move(response) : std::move(failure));
        },
        atomic);
  }
  void replay(const Record& record, Offset offset);
  void index_name(const std::string& name, bool exists);

  [[nodiscard]] const MetadataImage& image() const { return newest.working(); }
  [[nodiscard]] std::vector<UsableBroker> usable_brokers() const;
  [[nodiscard]] Uuid directory_of(BrokerId broker) const;

  // brokers.cpp
  BrokerSessions sessions;
  bool clock_started = false;  // since the controller became active
  Instant balance_due = kNever;
  Instant unclean_election_due = kNever;
  Instant no_op_due = kNever;
  std::map<BrokerId, Offset> registered_at;  // of registrations since then; of older ones the broker epoch says it
  void start_clock(Instant now);
  void fence(BrokerId broker);
  [[nodiscard]] bool is_live(BrokerId broker) const;  // registered, unfenced, not in controlled shutdown
  [[nodiscard]] bool leads_something(BrokerId broker) const;
  [[nodiscard]] bool knows(BrokerId broker, std::int64_t epoch) const;
  [[nodiscard]] std::optional<wire::ErrorCode> registration_error(const wire::BrokerRegistrationRequest& request,
                                                                  Instant now) const;
  [[nodiscard]] BrokerControl change_control(const wire::BrokerHeartbeatRequest& request, Instant now);
  void note_directories(const wire::BrokerHeartbeatRequest& request);

  // partitions.cpp: what a change of brokers means for partitions.
  struct BrokerChange {
    BrokerId removed = kNoBroker;  // leaves every ISR and leads nothing
    BrokerId added = kNoBroker;    // may lead although the image does not say so yet
    BrokerId lost = kNoBroker;     // its logs may miss records that they had
  };
  // What a topic's partitions are decided by.
  struct TopicRules {
    std::int32_t min_insync_replicas = 1;  // not more than its replicas
    bool unclean = false;
    bool elr = false;
  };
  [[nodiscard]] bool elr_enabled() const;
  // Eligible leaders are reckoned with one min.insync.replicas for the whole cluster: it is written down, and those of
  // single brokers are taken away. And when it changes, who is eligible is reckoned anew (KIP-966).
  [[nodiscard]] std::vector<Record> records_for_elr() const;
  void forget_eligible_leaders(std::vector<Record>& records) const;
  [[nodiscard]] TopicRules rules_of(const TopicImage& topic) const;
  [[nodiscard]] PartitionRules rules_of(const TopicRules& topic, const PartitionImage& partition,
                                        const BrokerChange& change) const;
  using Which = std::function<bool(const PartitionImage&)>;
  void change_partitions(const BrokerChange& change, const Which& which, std::vector<Record>& records) const;
  [[nodiscard]] std::optional<wire::PartitionChangeRecord> change_one(const TopicImage& topic, PartitionIndex index,
                                                                      const PartitionWish& wish) const;
  [[nodiscard]] std::vector<Record> records_for_leaving(BrokerId broker) const;  // fenced, unregistered, stopping
  [[nodiscard]] wire::AlterPartitionResponse::PartitionData alter_one(
      BrokerId asker, const TopicImage* topic, const wire::AlterPartitionRequest::PartitionData& wanted,
      std::vector<Record>& records) const;
  [[nodiscard]] wire::ErrorCode alter_error(BrokerId asker, const PartitionImage& partition,
                                            const wire::AlterPartitionRequest::PartitionData& wanted) const;

  // elections.cpp
  void balance_leaders(Instant now);
  void elect_unclean_leaders(Instant now);

  // feature_levels.cpp, reassignments.cpp
  enum class ElectionType : std::int8_t { preferred = 0, unclean = 1 };
  [[nodiscard]] std::optional<std::string> feature_error(const std::string& name, std::int16_t wanted, std::int8_t type,
                                                         std::vector<Record>& records) const;
  [[nodiscard]] Refusal elect(std::string_view topic, PartitionIndex index, ElectionType type,
                              std::vector<Record>& records) const;
  [[nodiscard]] Refusal reassign(const TopicImage* topic, const std::string& name,
                                 const wire::AlterPartitionReassignmentsRequest::ReassignablePartition& wanted,
                                 bool may_change_count, std::vector<Record>& records) const;

  // topics.cpp
  [[nodiscard]] std::optional<Refusal> name_refusal(const std::string& name) const;
  enum class Liveness : std::uint8_t { any, one_live };  // what is asked of the brokers of an assignment
  [[nodiscard]] std::optional<Refusal> assignment_refusal(const std::vector<BrokerId>& replicas,
                                                          std::optional<std::size_t> replication_factor,
                                                          Liveness liveness = Liveness::one_live) const;
  [[nodiscard]] Result<std::vector<std::vector<BrokerId>>, Refusal> replicas_of(
      const wire::CreateTopicsRequest::CreatableTopic& topic);
  [[nodiscard]] std::optional<Refusal> item_refusal(bool named_twice, std::int64_t partitions) const;
  [[nodiscard]] std::optional<Refusal> create_topic(const wire::CreateTopicsRequest::CreatableTopic& topic,
                                                    const TakePartitions& take, std::vector<Record>& records,
                                                    wire::CreateTopicsResponse::CreatableTopicResult& result);
  [[nodiscard]] Record partition_record(const Uuid& topic, std::int32_t index, const std::vector<BrokerId>& replicas) const;
  [[nodiscard]] std::optional<Refusal> grow_topic(const wire::CreatePartitionsRequest::CreatePartitionsTopic& request,
                                                  const TakePartitions& take, std::vector<Record>& records);
};

inline constexpr std::string_view kElrVersion = "eligible.leader.replicas.version";
inline constexpr std::string_view kGroupVersion = "group.version";  // 1: the consumer protocol (KIP-848)
inline constexpr std::string_view kTransactionVersion = "transaction.version";  // 2: epochs rise with every end (KIP-890)
inline constexpr std::string_view kMinInsyncReplicas = "min.insync.replicas";
inline constexpr std::string_view kKRaftVersion = "kraft.version";  // kept by the quorum, not by feature records

// An answer of an error and, where there is one, a sentence.
template <class Item>
void refuse(Item& item, const Refusal& refusal) {
  item.error_code = refusal.error;
  if (refusal.message.empty()) {
    item.error_message.reset();
  } else {
    item.error_message = refusal.message;
  }
}
[[nodiscard]] inline std::string place(std::string_view topic, PartitionIndex partition) {
  return std::string(topic) + "-" + std::to_string(partition.value());
}
[[nodiscard]] inline bool contains(const std::vector<BrokerId>& list, BrokerId id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}
[[nodiscard]] inline const PartitionImage* partition_of(const TopicImage& topic, PartitionIndex index) {
  const auto at = static_cast<std::size_t>(index.value());
  return index.value() < 0 || at >= topic.partitions.size() ? nullptr : &topic.partitions[at];
}

// Partitions that one request may create.
inline constexpr std::int64_t kPartitionsPerRequestMax = 10'000;
// About how large a batch of records gets; the log takes far larger ones.
inline constexpr std::size_t kBatchBytes = 1U << 20U;

}  // namespace hw::metadata
