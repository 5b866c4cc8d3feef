// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/image/image_builder.h"

#include <algorithm>
#include <optional>
#include <set>
#include <type_traits>

#include "engine/base/trial.h"

namespace hw::metadata {

bool is_internal_topic(std::string_view name) noexcept {
  return name == "__consumer_offsets" || name == "__transaction_state" || name == "__share_group_state";
}

namespace {

using TopicsById = std::map<Uuid, std::shared_ptr<const TopicImage>>;
using Brokers = std::map<BrokerId, BrokerImage>;
using Controllers = std::map<BrokerId, ControllerImage>;
using Configs = std::map<ConfigResource, ConfigMap>;
using Features = std::map<std::string, std::int16_t, std::less<>>;

constexpr std::int32_t kNoLeaderChange = -2;

BrokerId as_broker(std::int32_t id) { return BrokerId(id); }
BrokerId as_broker(BrokerId id) { return id; }
template <class Ids>
std::vector<BrokerId> as_brokers(const Ids& ids) {
  std::vector<BrokerId> result;
  result.reserve(ids.size());
  for (const auto& id : ids) {
    result.push_back(as_broker(id));
  }
  return result;
}

template <class Features>
SupportedFeatures as_supported(const Features& features) {
  SupportedFeatures result;
  for (const auto& feature : features) {
    result[feature.name] = {feature.min_supported_version, feature.max_supported_version};
  }
  return result;
}

// A map of the image that is copied once, when it is first changed after a publication.
template <class Map>
class CopyOnWrite {
 public:
  Map& open(std::shared_ptr<const Map>& shared) {
    if (!own_) {
      own_ = std::make_shared<Map>(*shared);
      shared = own_;
    }
    return *own_;
  }
  void close() { own_.reset(); }

 private:
  std::shared_ptr<Map> own_;
};

}  // namespace

void apply_change(const wire::PartitionChangeRecord& record, PartitionImage& partition) {
  if (record.replicas) {
    partition.replicas = as_brokers(*record.replicas);
    partition.directories.resize(partition.replicas.size());
  }
  if (record.directories) {
    partition.directories = *record.directories;
    partition.directories.resize(partition.replicas.size());
  }
  if (record.isr) {
    partition.isr = as_brokers(*record.isr);
  }
  if (record.removing_replicas) {
    partition.removing_replicas = as_brokers(*record.removing_replicas);
  }
  if (record.adding_replicas) {
    partition.adding_replicas = as_brokers(*record.adding_replicas);
  }
  if (record.eligible_leader_replicas) {
    partition.elr = as_brokers(*record.eligible_leader_replicas);
  }
  if (record.last_known_elr) {
    partition.last_known_elr = as_brokers(*record.last_known_elr);
  }
  if (record.leader.value() != kNoLeaderChange) {
    partition.leader = record.leader;
    if (!trial::has_bug(trial::Canary::keeps_leader_epoch)) {
      partition.leader_epoch = LeaderEpoch(partition.leader_epoch.value() + 1);
    }
  }
  if (record.leader_recovery_state >= 0) {
    partition.leader_recovery_state = record.leader_recovery_state;
  }
  ++partition.partition_epoch;
}

struct ImageBuilder::State {
  explicit State(ImagePtr start, Tracking tracking_on)
      : image(start ? *start : MetadataImage{}), published(std::move(start)), tracking(tracking_on == Tracking::on) {
    if (!published) {
      published = std::make_shared<const MetadataImage>(image);
    }
    seen = image.offset_;
    seen_epoch = image.epoch_;
  }

  MetadataImage image;
  ImagePtr published;
  bool tracking = true;
  Offset seen;
  std::int32_t seen_epoch = -1;

  CopyOnWrite<MetadataImage::Topics> topics;
  CopyOnWrite<TopicsById> topics_by_id;
  CopyOnWrite<Brokers> brokers;
  CopyOnWrite<Controllers> controllers;
  CopyOnWrite<Configs> configs;
  CopyOnWrite<Features> features;
  CopyOnWrite<ClientQuotaMap> client_quotas;
  std::map<Uuid, std::shared_ptr<TopicImage>> fresh;  // topics that only the working image sees
  // Partitions that came before a smaller index (snapshots may list them in any order).
  std::map<Uuid, std::map<std::int32_t, PartitionImage>> waiting;

  MetadataDelta delta;
  std::set<std::pair<Uuid, std::int32_t>> partitions_noted;

  bool in_transaction = false;
  struct Held {
    Record record;
    Offset offset;
    std::int32_t epoch;
  };
  std::vector<Held> held;

  // --- working copies

  TopicImage* open_topic(const Uuid& id) {
    if (const auto at = fresh.find(id); at != fresh.end()) {
      return at->second.get();
    }
    const auto at = image.topics_by_id_->find(id);
    if (at == image.topics_by_id_->end()) {
      return nullptr;
    }
    auto copy = std::make_shared<TopicImage>(*at->second);
    topics_by_id.open(image.topics_by_id_)[id] = copy;
    topics.open(image.topics_)[copy->name] = copy;
    fresh.emplace(id, copy);
    return copy.get();
  }

  void note_partition(const TopicImage& topic, std::int32_t index, bool created) {
    if (tracking && partitions_noted.emplace(topic.id, index).second) {
      delta.partitions_changed.push_back({topic.id, topic.name, PartitionIndex(index), created});
    }
  }
  void note_broker(BrokerId id) {
    if (tracking &&
        std::find(delta.brokers_changed.begin(), delta.brokers_changed.end(), id) == delta.brokers_changed.end()) {
      delta.brokers_changed.push_back(id);
    }
  }

  // --- one record each

  Result<void> apply(const wire::TopicRecord& record) {
    if (image.find_topic(record.topic_id) != nullptr || image.find_topic(record.name) != nullptr) {
      return fail(Errc::corrupt, "topic " + record.name + " is created although it exists");
    }
    auto topic = std::make_shared<TopicImage>();
    topic->name = record.name;
    topic->id = record.topic_id;
    topics.open(image.topics_).emplace(record.name, topic);
    topics_by_id.open(image.topics_by_id_).emplace(record.topic_id, topic);
    fresh.emplace(record.topic_id, topic);
    if (tracking) {
      delta.topics_created.emplace_back(record.topic_id, record.name);
    }
    return {};
  }

  Result<void> apply(const wire::PartitionRecord& record) {
    TopicImage* topic = open_topic(record.topic_id);
    const std::int32_t index = record.partition_id.value();
    if (topic == nullptr || index < 0) {
      return fail(Errc::corrupt, "partition " + std::to_string(index) + " of topic id " + record.topic_id.text() +
                                     ", which does not exist");
    }
    PartitionImage partition;
    partition.replicas = as_brokers(record.replicas);
    partition.directories = record.directories;
    partition.directories.resize(partition.replicas.size());  // version 0 has none
    partition.isr = as_brokers(record.isr);
    partition.removing_replicas = as_brokers(record.removing_replicas);
    partition.adding_replicas = as_brokers(record.adding_replicas);
    if (record.eligible_leader_replicas) {
      partition.elr = as_brokers(*record.eligible_leader_replicas);
    }
    if (record.last_known_elr) {
      partition.last_known_elr = as_brokers(*record.last_known_elr);
    }
    partition.leader = record.leader;
    partition.leader_epoch = record.leader_epoch;
    partition.partition_epoch = record.partition_epoch;
    partition.leader_recovery_state = record.leader_recovery_state;

    const auto at = static_cast<std::size_t>(index);
    if (at < topic->partitions.size()) {
      topic->partitions[at] = std::move(partition);
      note_partition(*topic, index, false);
      return {};
    }
    if (at > topic->partitions.size()) {
      waiting[topic->id][index] = std::move(partition);
      return {};
    }
    topic->partitions.push_back(std::move(partition));
    note_partition(*topic, index, true);
    if (const auto later = waiting.find(topic->id); later != waiting.end()) {
      std::map<std::int32_t, PartitionImage>& rest = later->second;
      while (!rest.empty() && static_cast<std::size_t>(rest.begin()->first) == topic->partitions.size()) {
        topic->partitions.push_back(std::move(rest.begin()->second));
        note_partition(*topic, rest.begin()->first, true);
        rest.erase(rest.begin());
      }
      if (rest.empty()) {
        waiting.erase(later);
      }
    }
    return {};
  }

  Result<void> apply(const wire::PartitionChangeRecord& record) {
    const std::int32_t index = record.partition_id.value();
    if (image.find_partition(record.topic_id, record.partition_id) == nullptr) {
      return fail(Errc::corrupt, "a change of partition " + std::to_string(index) + " of topic id " +
                                     record.topic_id.text() + ", which does not exist");
    }
    TopicImage* topic = open_topic(record.topic_id);
    PartitionImage& partition = topic->partitions[static_cast<std::size_t>(index)];
    apply_change(record, partition);
    note_partition(*topic, index, false);
    return {};
  }

  Result<void> apply(const wire::RemoveTopicRecord& record) {
    const TopicImage* topic = image.find_topic(record.topic_id);
    if (topic == nullptr) {
      return fail(Errc::corrupt, "topic id " + record.topic_id.text() + " is removed although it does not exist");
    }
    const std::string name = topic->name;
    if (tracking) {
      // A topic that came and went between two publications leaves no trace in the delta.
      const auto created = std::find_if(delta.topics_created.begin(), delta.topics_created.end(),
                                        [&](const auto& entry) { return entry.first == record.topic_id; });
      if (created == delta.topics_created.end()) {
        delta.topics_deleted.push_back({record.topic_id, name, static_cast<std::int32_t>(topic->partitions.size())});
      } else {
        delta.topics_created.erase(created);
      }
      std::erase_if(delta.partitions_changed, [&](const auto& entry) { return entry.topic_id == record.topic_id; });
      std::erase_if(delta.configs_changed, [&](const auto& entry) {
        return entry.resource == ConfigResource{ConfigResourceType::topic, name};
      });
    }
    const ConfigResource resource{ConfigResourceType::topic, name};
    if (image.find_configs(resource) != nullptr) {
      configs.open(image.configs_).erase(resource);
    }
    topics.open(image.topics_).erase(name);
    topics_by_id.open(image.topics_by_id_).erase(record.topic_id);
    fresh.erase(record.topic_id);
    waiting.erase(record.topic_id);
    return {};
  }

  Result<void> apply(const wire::ConfigRecord& record) {
    ConfigResource resource{static_cast<ConfigResourceType>(record.resource_type), record.resource_name};
    if (record.value) {
      configs.open(image.configs_)[resource][record.name] = *record.value;
    } else {
      Configs& map = configs.open(image.configs_);
      if (const auto at = map.find(resource); at != map.end()) {
        at->second.erase(record.name);
        if (at->second.empty()) {
          map.erase(at);
        }
      }
    }
    if (tracking) {
      delta.configs_changed.push_back({std::move(resource), record.name, record.value});
    }
    return {};
  }

  Result<void> apply(const wire::RegisterBrokerRecord& record) {
    BrokerImage broker;
    broker.id = record.broker_id;
    broker.epoch = record.broker_epoch;
    broker.incarnation = record.incarnation_id;
    for (const auto& end_point : record.end_points) {
      broker.listeners.push_back({end_point.name, end_point.host, end_point.port, end_point.security_protocol});
    }
    broker.rack = record.rack;
    broker.fenced = record.fenced;
    const BrokerImage* before = image.find_broker(record.broker_id);
    broker.served_epoch = !record.fenced ? record.broker_epoch : (before != nullptr ? before->served_epoch : -1);
    broker.in_controlled_shutdown = record.in_controlled_shutdown;
    broker.log_directories = record.log_dirs;
    broker.cordoned_directories = record.cordoned_log_dirs.value_or(std::vector<Uuid>{});
    broker.features = as_supported(record.features);
    brokers.open(image.brokers_).insert_or_assign(broker.id, broker);
    note_broker(record.broker_id);
    return {};
  }

  BrokerImage* open_broker(BrokerId id, std::int64_t epoch) {
    const BrokerImage* broker = image.find_broker(id);
    if (broker == nullptr || broker->epoch != epoch) {
      return nullptr;
    }
    note_broker(id);
    return &brokers.open(image.brokers_).find(id)->second;
  }
  static Unexpected<Error> no_such_broker(BrokerId id, std::int64_t epoch) {
    return fail(Errc::corrupt,
                "broker " + std::to_string(id.value()) + " is not registered with epoch " + std::to_string(epoch));
  }

  Result<void> apply(const wire::UnregisterBrokerRecord& record) {
    if (open_broker(record.broker_id, record.broker_epoch) == nullptr) {
      return no_such_broker(record.broker_id, record.broker_epoch);
    }
    brokers.open(image.brokers_).erase(record.broker_id);
    return {};
  }
  Result<void> set_fenced(BrokerId id, std::int64_t epoch, bool fenced) {
    BrokerImage* broker = open_broker(id, epoch);
    if (broker == nullptr) {
      return no_such_broker(id, epoch);
    }
    broker->fenced = fenced;
    return {};
  }
  Result<void> apply(const wire::FenceBrokerRecord& record) { return set_fenced(record.id, record.epoch, true); }
  Result<void> apply(const wire::UnfenceBrokerRecord& record) { return set_fenced(record.id, record.epoch, false); }
  Result<void> apply(const wire::BrokerRegistrationChangeRecord& record) {
    BrokerImage* broker = open_broker(record.broker_id, record.broker_epoch);
    if (broker == nullptr) {
      return no_such_broker(record.broker_id, record.broker_epoch);
    }
    if (record.fenced != 0) {  // 1 fences, -1 unfences
      broker->fenced = record.fenced > 0;
      broker->served_epoch = broker->fenced ? broker->served_epoch : broker->epoch;
    }
    if (record.in_controlled_shutdown != 0) {
      broker->in_controlled_shutdown = true;
    }
    if (!record.log_dirs.empty()) {
      broker->log_directories = record.log_dirs;
    }
    if (record.cordoned_log_dirs) {
      broker->cordoned_directories = *record.cordoned_log_dirs;
    }
    return {};
  }

  Result<void> apply(const wire::FeatureLevelRecord& record) {
    Features& map = features.open(image.features_);
    if (record.feature_level == 0) {
      map.erase(record.name);
    } else {
      map[record.name] = record.feature_level;
    }
    delta.features_changed = tracking;
    return {};
  }
  Result<void> apply(const wire::ClientQuotaRecord& record) {
    QuotaEntity entity;
    for (const auto& part : record.entity) {
      entity[part.entity_type] = part.entity_name;
    }
    ClientQuotaMap& map = client_quotas.open(image.client_quotas_);
    if (!record.remove) {
      map[std::move(entity)][record.key] = record.value;
    } else if (const auto at = map.find(entity); at != map.end()) {
      at->second.erase(record.key);
      if (at->second.empty()) {
        map.erase(at);
      }
    }
    delta.client_quotas_changed = tracking;
    return {};
  }
  Result<void> apply(const wire::ProducerIdsRecord& record) {
    const std::int64_t next = raw(record.next_producer_id);
    if (next < image.next_producer_id_) {
      return fail(Errc::corrupt, "the next producer id falls from " + std::to_string(image.next_producer_id_) + " to " +
                                     std::to_string(next));
    }
    image.next_producer_id_ = next;
    return {};
  }
  static std::int64_t raw(std::int64_t value) { return value; }
  static std::int64_t raw(ProducerId value) { return value.value(); }

  Result<void> apply(const wire::ClearElrRecord& record) {
    std::vector<Uuid> ids;
    if (record.topic_name.empty()) {
      for (const auto& [id, topic] : *image.topics_by_id_) {
        ids.push_back(id);
      }
    } else if (const TopicImage* topic = image.find_topic(record.topic_name)) {
      ids.push_back(topic->id);
    } else {
      return fail(Errc::corrupt, "eligible leaders of topic " + record.topic_name + ", which does not exist");
    }
    const auto has_any = [](const PartitionImage& p) { return !p.elr.empty() || !p.last_known_elr.empty(); };
    for (const Uuid& id : ids) {
      const TopicImage* found = image.find_topic(id);
      if (std::none_of(found->partitions.begin(), found->partitions.end(), has_any)) {
        continue;
      }
      TopicImage* topic = open_topic(id);
      for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
        PartitionImage& partition = topic->partitions[i];
        if (has_any(partition)) {
          partition.elr.clear();
          partition.last_known_elr.clear();
          ++partition.partition_epoch;
          note_partition(*topic, static_cast<std::int32_t>(i), false);
        }
      }
    }
    return {};
  }

  Result<void> apply(const wire::RegisterControllerRecord& record) {
    ControllerImage controller;
    controller.id = BrokerId(record.controller_id);
    controller.incarnation = record.incarnation_id;
    for (const auto& end_point : record.end_points) {
      controller.listeners.push_back({end_point.name, end_point.host, end_point.port, end_point.security_protocol});
    }
    controller.features = as_supported(record.features);
    const BrokerId id = controller.id;
    controllers.open(image.controllers_).insert_or_assign(id, std::move(controller));
    delta.controllers_changed = tracking;
    return {};
  }
  Result<void> apply(const wire::UnregisterControllerRecord& record) {
    controllers.open(image.controllers_).erase(BrokerId(record.controller_id));
    delta.controllers_changed = tracking;
    return {};
  }

  // Not part of the image: nothing here asks for them. Transactions are handled by replay().
  Result<void> apply(const wire::NoOpRecord&) { return {}; }
  Result<void> apply(const wire::BeginTransactionRecord&) { return {}; }
  Result<void> apply(const wire::EndTransactionRecord&) { return {}; }
  Result<void> apply(const wire::AbortTransactionRecord&) { return {}; }
  Result<void> apply(const UnknownRecord&) { return {}; }

  Result<void> apply_any(const Record& record) {
    return std::visit([this](const auto& body) { return apply(body); }, record);
  }
  void advance(Offset offset, std::int32_t epoch) {
    seen = offset;
    seen_epoch = epoch;
    if (!in_transaction) {
      image.offset_ = offset;
      image.epoch_ = epoch;
    }
  }
};

ImageBuilder::ImageBuilder(ImagePtr start, Tracking tracking)
    : state_(std::make_unique<State>(std::move(start), tracking)) {}
ImageBuilder::ImageBuilder(ImageBuilder&&) noexcept = default;
ImageBuilder& ImageBuilder::operator=(ImageBuilder&&) noexcept = default;
ImageBuilder::~ImageBuilder() = default;

Result<void> ImageBuilder::replay(const Record& record, Offset offset, std::int32_t epoch) {
  State& s = *state_;
  if (offset <= s.seen) {
    return fail(Errc::corrupt, "offset " + std::to_string(offset.value()) + " of the metadata log comes after " +
                                   std::to_string(s.seen.value()));
  }
  if (std::holds_alternative<wire::BeginTransactionRecord>(record)) {
    if (s.in_transaction) {
      return fail(Errc::corrupt, "a metadata transaction begins inside another");
    }
    s.in_transaction = true;
  } else if (std::holds_alternative<wire::EndTransactionRecord>(record)) {
    if (!s.in_transaction) {
      return fail(Errc::corrupt, "a metadata transaction ends that never began");
    }
    for (const State::Held& held : s.held) {
      HW_CHECK(s.apply_any(held.record));
    }
    s.held.clear();
    s.in_transaction = false;
  } else if (std::holds_alternative<wire::AbortTransactionRecord>(record)) {
    if (!s.in_transaction) {
      return fail(Errc::corrupt, "a metadata transaction is aborted that never began");
    }
    s.held.clear();
    s.in_transaction = false;
  } else if (s.in_transaction) {
    s.held.push_back({record, offset, epoch});
  } else {
    HW_CHECK(s.apply_any(record));
  }
  s.advance(offset, epoch);
  return {};
}

Result<void> ImageBuilder::load(const Record& record) { return state_->apply_any(record); }

void ImageBuilder::skip(Offset offset, std::int32_t epoch) {
  if (offset > state_->seen) {
    state_->advance(offset, epoch);
  }
}

ImageBuilder::Published ImageBuilder::publish() {
  State& s = *state_;
  Published result;
  result.delta = std::exchange(s.delta, MetadataDelta{});
  s.partitions_noted.clear();
  if (s.image.offset_ != s.published->offset() || !result.delta.empty()) {
    s.published = std::make_shared<const MetadataImage>(s.image);
    s.topics.close();
    s.topics_by_id.close();
    s.brokers.close();
    s.controllers.close();
    s.configs.close();
    s.features.close();
    s.client_quotas.close();
    s.fresh.clear();
  }
  result.image = s.published;
  return result;
}

const TopicImage* ImageBuilder::find_topic(std::string_view name) const { return state_->image.find_topic(name); }
const TopicImage* ImageBuilder::find_topic(const Uuid& id) const { return state_->image.find_topic(id); }
const MetadataImage& ImageBuilder::working() const noexcept { return state_->image; }
Offset ImageBuilder::offset() const noexcept { return state_->seen; }
bool ImageBuilder::in_transaction() const noexcept { return state_->in_transaction; }

}  // namespace hw::metadata
