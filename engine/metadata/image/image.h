// SPDX-License-Identifier: Apache-2.0
// MetadataImage: what the cluster is, at one offset of __cluster_metadata. Immutable once published.
//
// Built by replay() from Kafka's metadata records (4.4 schemas) and nothing else, so that every node that has
// replayed the same records holds an equal image. Topics are shared between images (structural sharing): a change
// copies the topic it touches and the index, not the cluster.
// Thread rule: an image may be read from any thread; ImageBuilder belongs to one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/uuid.h"

namespace hw::metadata {

struct PartitionImage {
  std::vector<BrokerId> replicas;
  std::vector<Uuid> directories;  // same length as replicas
  std::vector<BrokerId> isr;
  std::vector<BrokerId> removing_replicas;
  std::vector<BrokerId> adding_replicas;
  std::vector<BrokerId> elr;             // KIP-966
  std::vector<BrokerId> last_known_elr;
  BrokerId leader = kNoBroker;
  LeaderEpoch leader_epoch{0};
  std::int32_t partition_epoch = 0;
  std::int8_t leader_recovery_state = 0;
  friend bool operator==(const PartitionImage&, const PartitionImage&) = default;
};

struct TopicImage {
  std::string name;
  Uuid id;
  std::vector<PartitionImage> partitions;  // by index; dense
};

struct ListenerImage {
  std::string name;  // PLAINTEXT, CONTROLLER, …
  std::string host;
  std::uint16_t port = 0;
  std::int16_t security_protocol = 0;
};

// The levels of one feature that a node can work at.
struct SupportedRange {
  std::int16_t min = 0;
  std::int16_t max = 0;
  friend bool operator==(const SupportedRange&, const SupportedRange&) = default;
};
using SupportedFeatures = std::map<std::string, SupportedRange, std::less<>>;

struct BrokerImage {
  BrokerId id;
  std::int64_t epoch = -1;  // offset of its registration record
  Uuid incarnation;
  std::vector<ListenerImage> listeners;
  std::optional<std::string> rack;
  bool fenced = true;
  // The epoch of its newest life that was ever unfenced, -1: none that the records since the newest snapshot tell of. Not part of a snapshot.
  std::int64_t served_epoch = -1;
  bool in_controlled_shutdown = false;
  std::vector<Uuid> log_directories;
  std::vector<Uuid> cordoned_directories;  // of them: no new replicas there
  SupportedFeatures features;
};

// A member of the quorum that made itself known (KIP-919).
struct ControllerImage {
  BrokerId id;
  Uuid incarnation;
  std::vector<ListenerImage> listeners;
  SupportedFeatures features;
};

// Resource types of DescribeConfigs: 2 topic, 4 broker, 16 client metrics, 32 group.
enum class ConfigResourceType : std::int8_t { unknown = 0, topic = 2, broker = 4, broker_logger = 8, client_metrics = 16, group = 32 };
struct ConfigResource {
  ConfigResourceType type = ConfigResourceType::unknown;
  std::string name;  // broker: the id in digits, empty for the cluster-wide default
  friend auto operator<=>(const ConfigResource&, const ConfigResource&) = default;
};
using ConfigMap = std::map<std::string, std::string, std::less<>>;

// Whom a client quota is for: entity types ("user", "client-id", "ip") with names; nullopt: the default of that type.
using QuotaEntity = std::map<std::string, std::optional<std::string>>;
using QuotaValues = std::map<std::string, double, std::less<>>;  // by quota key, producer_byte_rate for example
using ClientQuotaMap = std::map<QuotaEntity, QuotaValues>;

class MetadataImage {
 public:
  [[nodiscard]] Offset offset() const noexcept { return offset_; }      // of the last record replayed; -1: none
  [[nodiscard]] std::int32_t epoch() const noexcept { return epoch_; }  // controller epoch of that record
  [[nodiscard]] const TopicImage* find_topic(std::string_view name) const;
  [[nodiscard]] const TopicImage* find_topic(const Uuid& id) const;
  [[nodiscard]] const PartitionImage* find_partition(const Uuid& id, PartitionIndex partition) const;
  [[nodiscard]] const BrokerImage* find_broker(BrokerId id) const;
  [[nodiscard]] const ConfigMap* find_configs(const ConfigResource& resource) const;  // null: none set
  [[nodiscard]] std::int16_t feature_level(std::string_view feature) const;           // 0 where not finalized

  using Topics = std::map<std::string, std::shared_ptr<const TopicImage>, std::less<>>;
  [[nodiscard]] const Topics& topics() const noexcept { return *topics_; }
  [[nodiscard]] const std::map<BrokerId, BrokerImage>& brokers() const noexcept { return *brokers_; }
  [[nodiscard]] const std::map<BrokerId, ControllerImage>& controllers() const noexcept { return *controllers_; }
  [[nodiscard]] const std::map<ConfigResource, ConfigMap>& configs() const noexcept { return *configs_; }
  [[nodiscard]] const std::map<std::string, std::int16_t, std::less<>>& features() const noexcept { return *features_; }
  [[nodiscard]] const ClientQuotaMap& client_quotas() const noexcept { return *client_quotas_; }
  [[nodiscard]] std::int64_t next_producer_id() const noexcept { return next_producer_id_; }

 private:
  friend class ImageBuilder;
  Offset offset_ = kNoOffset;
  std::int32_t epoch_ = -1;
  std::int64_t next_producer_id_ = 0;
  std::shared_ptr<const Topics> topics_ = std::make_shared<const Topics>();
  std::shared_ptr<const std::map<Uuid, std::shared_ptr<const TopicImage>>> topics_by_id_ =
      std::make_shared<const std::map<Uuid, std::shared_ptr<const TopicImage>>>();
  std::shared_ptr<const std::map<BrokerId, BrokerImage>> brokers_ = std::make_shared<const std::map<BrokerId, BrokerImage>>();
  std::shared_ptr<const std::map<BrokerId, ControllerImage>> controllers_ =
      std::make_shared<const std::map<BrokerId, ControllerImage>>();
  std::shared_ptr<const std::map<ConfigResource, ConfigMap>> configs_ = std::make_shared<const std::map<ConfigResource, ConfigMap>>();
  std::shared_ptr<const std::map<std::string, std::int16_t, std::less<>>> features_ =
      std::make_shared<const std::map<std::string, std::int16_t, std::less<>>>();
  std::shared_ptr<const ClientQuotaMap> client_quotas_ = std::make_shared<const ClientQuotaMap>();
};

// What changed between two images, in the order of the records. The broker and the observer act on it.
struct MetadataDelta {
  struct PartitionRef {
    Uuid topic_id;
    std::string topic;
    PartitionIndex partition;
    bool created = false;
  };
  struct DeletedTopic {
    Uuid topic_id;
    std::string name;
    std::int32_t partitions = 0;
  };
  struct ConfigChange {
    ConfigResource resource;
    std::string key;
    std::optional<std::string> value;  // nullopt: removed
  };
  std::vector<std::pair<Uuid, std::string>> topics_created;
  std::vector<PartitionRef> partitions_changed;
  std::vector<DeletedTopic> topics_deleted;
  std::vector<ConfigChange> configs_changed;
  std::vector<BrokerId> brokers_changed;
  bool controllers_changed = false;
  bool features_changed = false;
  bool client_quotas_changed = false;
  [[nodiscard]] bool empty() const noexcept {
    return topics_created.empty() && partitions_changed.empty() && topics_deleted.empty() && configs_changed.empty() &&
           brokers_changed.empty() && !controllers_changed && !features_changed && !client_quotas_changed;
  }
};

using ImagePtr = std::shared_ptr<const MetadataImage>;

}  // namespace hw::metadata
