// SPDX-License-Identifier: Apache-2.0
// AdminQuestions: what administrators ask a cluster and change in it, in plain structs, over a ClientRunner.
//
// Each question ends with exactly one callback: rows, or an Error where there are none (nobody answers, the API is not offered).
// A row that was refused has an `error` of its own, in words with Kafka's name for it in brackets; rows come in the order asked,
// answers about "all" sorted by name. Partitions are asked at their leaders, groups at their coordinators, and what is about a
// broker at that broker; a moved leader or coordinator is found again within the time allowed (ClientRunner::call).
// Thread rule: any thread; callbacks run on the runner's thread and must not block. Values: copies share the runner, which must
// outlive the questions. Kafka's Admin client is the model for the names; KIPs stand at the functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/node/client_runner.h"

namespace hw::node {

struct TopicPartitionName {
  std::string topic;
  std::int32_t partition = 0;
  friend auto operator<=>(const TopicPartitionName&, const TopicPartitionName&) = default;
};

// ---- configs
enum class ResourceType : std::int8_t { topic = 2, broker = 4, broker_logger = 8, client_metrics = 16, group = 32 };
struct Resource {
  ResourceType type = ResourceType::topic;
  std::string name;  // a broker's is its id, or empty for the cluster's default
  friend auto operator<=>(const Resource&, const Resource&) = default;
};
struct ConfigQuery {
  Resource resource;
  std::optional<std::vector<std::string>> keys;  // nullopt: all
};
struct ConfigValue {
  // Where the value comes from; Kafka's numbers.
  enum class Source : std::int8_t {
    unknown = 0,
    topic = 1,
    dynamic_broker = 2,
    dynamic_default_broker = 3,
    static_broker = 4,
    defaults = 5,
    dynamic_broker_logger = 6,
    client_metrics = 7,
    group = 8,
  };
  // Kafka's numbers.
  enum class Type : std::int8_t {
    unknown = 0, boolean = 1, string = 2, int32 = 3, int16 = 4, int64 = 5, float64 = 6, list = 7, class_name = 8, password = 9
  };
  struct Synonym {
    std::string name;
    std::optional<std::string> value;
    Source source = Source::unknown;
  };
  std::string name;
  std::optional<std::string> value;  // nullopt: null, or sensitive
  Source source = Source::unknown;
  Type type = Type::unknown;
  bool read_only = false;
  bool sensitive = false;
  std::vector<Synonym> synonyms;  // strongest first; only where asked for
  std::string documentation;      // only where asked for
};
struct ResourceConfigs {
  Resource resource;
  std::optional<Error> error;
  std::vector<ConfigValue> configs;  // as the broker orders them
};
struct ConfigChange {
  enum class Operation : std::int8_t { set = 0, remove = 1, append = 2, subtract = 3 };
  std::string name;
  Operation operation = Operation::set;
  std::string value;  // not for remove
};
struct ResourceChange {
  Resource resource;
  std::vector<ConfigChange> changes;
};
struct ResourceResult {
  Resource resource;
  std::optional<Error> error;
};

// ---- partitions
struct DeleteBefore {
  TopicPartitionName partition;
  std::int64_t offset = -1;  // records below it go; -1: the high watermark
};
struct DeletedRecords {
  TopicPartitionName partition;
  std::int64_t low_watermark = -1;
  std::optional<Error> error;
};
// Special timestamps of ListOffsets.
inline constexpr std::int64_t kLatestTimestamp = -1;
inline constexpr std::int64_t kEarliestTimestamp = -2;
inline constexpr std::int64_t kMaxTimestamp = -3;           // KIP-734: the record with the largest timestamp
inline constexpr std::int64_t kEarliestLocalTimestamp = -4;  // KIP-405
inline constexpr std::int64_t kLatestTieredTimestamp = -5;
struct OffsetQuery {
  TopicPartitionName partition;
  std::int64_t timestamp = kLatestTimestamp;  // or milliseconds: the first record at or after it
};
struct FoundOffset {
  TopicPartitionName partition;
  std::int64_t asked_timestamp = kLatestTimestamp;
  std::int64_t offset = -1;     // -1: no record at or after the timestamp
  std::int64_t timestamp = -1;  // of the record; -1 for the special timestamps
  std::int32_t leader_epoch = -1;
  std::optional<Error> error;
};
struct PartitionProducers {
  struct Producer {
    std::int64_t id = -1;
    std::int32_t epoch = -1;
    std::int32_t last_sequence = -1;
    std::int64_t last_timestamp_ms = -1;
    std::int32_t coordinator_epoch = -1;
    std::int64_t transaction_start_offset = -1;  // -1: none open
  };
  TopicPartitionName partition;
  std::vector<Producer> producers;
  std::optional<Error> error;
};
struct Election {
  TopicPartitionName partition;
  std::optional<Error> error;  // nullopt: a leader was elected
};

// ---- groups
struct GroupRow {
  std::string id;
  std::string protocol_type;  // "consumer"; empty for groups that only keep offsets
  std::string state;          // "Stable", "Empty", …
  std::string type;           // "Classic", "Consumer", "Share", "Streams"
  std::int32_t coordinator = -1;
};
struct GroupDetail {
  struct Member {
    std::string id;
    std::optional<std::string> instance_id;  // static membership, KIP-345
    std::string client_id;
    std::string host;
    std::vector<TopicPartitionName> partitions;
    std::int32_t epoch = -1;                 // of a consumer group (KIP-848)
    std::vector<TopicPartitionName> target;  // the same; what it shall have
  };
  std::string id;
  std::string state;
  std::string type = "classic";  // or "consumer"
  std::string protocol_type;
  std::string protocol;  // the assignor
  std::int32_t coordinator = -1;
  std::int32_t epoch = -1;         // of a consumer group
  std::int32_t target_epoch = -1;  // the same
  std::vector<Member> members;
  std::optional<Error> error;  // a group that does not exist: not_found
};
struct GroupResult {
  std::string id;
  std::optional<Error> error;
};
struct GroupOffset {
  TopicPartitionName partition;
  std::int64_t offset = -1;
  std::int32_t leader_epoch = -1;
  std::string metadata;
  std::optional<Error> error;
};
struct PartitionResult {
  TopicPartitionName partition;
  std::optional<Error> error;
};

// ---- brokers and cluster
struct LogDirectory {
  struct Replica {
    TopicPartitionName partition;
    std::int64_t size_bytes = 0;
    std::int64_t offset_lag = 0;
    bool future = false;
  };
  std::int32_t broker = -1;
  std::string path;
  std::int64_t total_bytes = -1;   // of the volume; -1 unknown (KIP-827)
  std::int64_t usable_bytes = -1;
  std::vector<Replica> replicas;   // by topic and partition
  std::optional<Error> error;      // of this directory, or of the broker (then without path)
};
struct BrokerVersions {
  struct Api {
    std::int16_t key = 0;
    std::string name;  // empty: not known here
    std::int16_t lowest = 0;
    std::int16_t highest = 0;
  };
  struct Feature {
    std::string name;
    std::int16_t lowest = 0;
    std::int16_t highest = 0;
    std::optional<std::int16_t> finalized;
  };
  std::int32_t broker = -1;
  std::string address;
  std::vector<Api> apis;          // by key
  std::vector<Feature> features;  // by name
  std::int64_t finalized_epoch = -1;
  std::optional<Error> error;
};
struct ClusterDescription {
  struct Broker {
    std::int32_t id = -1;
    std::string host;
    std::int32_t port = 0;
    std::string rack;
    bool fenced = false;
  };
  std::string cluster_id;
  std::int32_t controller = -1;
  std::vector<Broker> brokers;  // by id
};
struct QuorumDescription {
  struct Replica {
    std::int32_t id = -1;
    std::string directory_id;
    std::int64_t log_end_offset = -1;
    std::int64_t last_fetch_ms = -1;
    std::int64_t last_caught_up_ms = -1;
  };
  struct Endpoint {
    std::int32_t node = -1;
    std::string listener;
    std::string host;
    std::uint16_t port = 0;
  };
  std::int32_t leader = -1;
  std::int32_t leader_epoch = -1;
  std::int64_t high_watermark = -1;
  std::vector<Replica> voters;
  std::vector<Replica> observers;
  std::vector<Endpoint> endpoints;
};

// ---- client quotas, KIP-546
using QuotaEntity = std::vector<std::pair<std::string, std::optional<std::string>>>;  // ("user"|"client-id"|"ip", nullopt: default)
struct QuotaFilter {
  enum class Match : std::int8_t { exact = 0, defaults = 1, any = 2 };
  struct Part {
    std::string type;
    Match match = Match::any;
    std::string name;  // exact
  };
  std::vector<Part> parts;  // empty: all
  bool strict = false;      // entities with further parts do not match
};
struct QuotaRow {
  QuotaEntity entity;
  std::vector<std::pair<std::string, double>> values;
};
struct QuotaChange {
  QuotaEntity entity;
  std::vector<std::pair<std::string, std::optional<double>>> values;  // nullopt: remove
};
struct QuotaResult {
  QuotaEntity entity;
  std::optional<Error> error;
};

class AdminQuestions {
 public:
  template <class T>
  using Done = std::function<void(Result<T>)>;

  AdminQuestions(ClientRunner& runner, std::string bootstrap, Duration timeout = seconds(15))
      : runner_(&runner), bootstrap_(std::move(bootstrap)), timeout_(timeout) {}

  void describe_configs(std::vector<ConfigQuery> queries, bool synonyms, bool documentation,
                        Done<std::vector<ResourceConfigs>> done) const;
  void alter_configs(std::vector<ResourceChange> changes, bool validate_only, Done<std::vector<ResourceResult>> done) const;
  // KIP-1142. Empty: every type. Type client_metrics alone also works on brokers before 4.1.
  void list_config_resources(std::vector<ResourceType> types, Done<std::vector<Resource>> done) const;

  void delete_records(std::vector<DeleteBefore> rows, Done<std::vector<DeletedRecords>> done) const;
  // One partition may be asked about several timestamps.
  void list_offsets(std::vector<OffsetQuery> rows, bool read_committed, Done<std::vector<FoundOffset>> done) const;
  void describe_producers(std::vector<TopicPartitionName> rows, Done<std::vector<PartitionProducers>> done) const;  // KIP-664
  // KIP-460. nullopt: every partition that does not have its preferred leader.
  void elect_leaders(bool unclean, std::optional<std::vector<TopicPartitionName>> partitions,
                     Done<std::vector<Election>> done) const;

  // Filters as in KIP-518 and KIP-848 ("Stable", "Classic"); empty: all.
  void list_groups(std::vector<std::string> states, std::vector<std::string> types, Done<std::vector<GroupRow>> done) const;
  void describe_groups(std::vector<std::string> ids, Done<std::vector<GroupDetail>> done) const;
  void delete_groups(std::vector<std::string> ids, Done<std::vector<GroupResult>> done) const;
  // nullopt: every partition with an offset.
  void group_offsets(std::string group, std::optional<std::vector<TopicPartitionName>> partitions,
                     Done<std::vector<GroupOffset>> done) const;
  // As no member (generation -1): refused with UNKNOWN_MEMBER_ID while the group has members.
  void commit_group_offsets(std::string group, std::vector<GroupOffset> offsets, Done<std::vector<PartitionResult>> done) const;
  // KIP-496. Refused with GROUP_SUBSCRIBED_TO_TOPIC where a member still reads the topic.
  void delete_group_offsets(std::string group, std::vector<TopicPartitionName> partitions,
                            Done<std::vector<PartitionResult>> done) const;

  void describe_log_dirs(std::vector<std::int32_t> brokers, Done<std::vector<LogDirectory>> done) const;  // empty: every broker
  void describe_cluster(Done<ClusterDescription> done) const;
  void api_versions(Done<std::vector<BrokerVersions>> done) const;  // of each broker
  void describe_quorum(Done<QuorumDescription> done) const;         // KIP-595, KIP-853
  // KIP-853. The directory tells apart two logs of one node. Answered when a majority has committed it.
  void add_voter(std::int32_t node, const Uuid& directory, std::vector<QuorumDescription::Endpoint> listeners,
                 std::function<void(Result<void>)> done) const;
  void remove_voter(std::int32_t node, const Uuid& directory, std::function<void(Result<void>)> done) const;

  void describe_quotas(QuotaFilter filter, Done<std::vector<QuotaRow>> done) const;
  void alter_quotas(std::vector<QuotaChange> changes, bool validate_only, Done<std::vector<QuotaResult>> done) const;

 private:
  ClientRunner* runner_;
  std::string bootstrap_;
  Duration timeout_;
};

}  // namespace hw::node
