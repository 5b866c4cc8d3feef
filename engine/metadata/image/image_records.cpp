// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/image/image_records.h"

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hw::metadata {

namespace {

constexpr std::string_view kMetadataVersionFeature = "metadata.version";

template <class Ids>
void assign_ids(Ids& into, const std::vector<BrokerId>& ids) {
  for (const BrokerId id : ids) {
    using Id = typename Ids::value_type;
    if constexpr (std::is_same_v<Id, BrokerId>) {
      into.push_back(id);
    } else {
      into.push_back(id.value());
    }
  }
}

void add_feature(std::vector<Record>& records, std::string_view name, std::int16_t level) {
  wire::FeatureLevelRecord record;
  record.name = name;
  record.feature_level = level;
  records.emplace_back(std::move(record));
}

template <class RecordType>
void add_listeners(RecordType& record, const std::vector<ListenerImage>& listeners) {
  for (const ListenerImage& listener : listeners) {
    auto& end_point = record.end_points.emplace_back();
    end_point.name = listener.name;
    end_point.host = listener.host;
    end_point.port = listener.port;
    end_point.security_protocol = listener.security_protocol;
  }
}

template <class RecordType>
void add_supported(RecordType& record, const SupportedFeatures& features) {
  for (const auto& [name, range] : features) {
    auto& feature = record.features.emplace_back();
    feature.name = name;
    feature.min_supported_version = range.min;
    feature.max_supported_version = range.max;
  }
}

void add_controller(std::vector<Record>& records, const ControllerImage& controller) {
  wire::RegisterControllerRecord record;
  record.controller_id = controller.id.value();
  record.incarnation_id = controller.incarnation;
  add_listeners(record, controller.listeners);
  add_supported(record, controller.features);
  records.emplace_back(std::move(record));
}

void add_broker(std::vector<Record>& records, const BrokerImage& broker) {
  wire::RegisterBrokerRecord record;
  record.broker_id = broker.id;
  record.incarnation_id = broker.incarnation;
  record.broker_epoch = broker.epoch;
  add_listeners(record, broker.listeners);
  add_supported(record, broker.features);
  record.rack = broker.rack;
  record.fenced = broker.fenced;
  record.in_controlled_shutdown = broker.in_controlled_shutdown;
  record.log_dirs = broker.log_directories;
  if (!broker.cordoned_directories.empty()) {
    record.cordoned_log_dirs = broker.cordoned_directories;
  }
  records.emplace_back(std::move(record));
}

void add_partition(std::vector<Record>& records, const Uuid& topic, std::int32_t index, const PartitionImage& partition) {
  wire::PartitionRecord record;
  record.partition_id = PartitionIndex(index);
  record.topic_id = topic;
  assign_ids(record.replicas, partition.replicas);
  assign_ids(record.isr, partition.isr);
  assign_ids(record.removing_replicas, partition.removing_replicas);
  assign_ids(record.adding_replicas, partition.adding_replicas);
  record.leader = partition.leader;
  record.leader_recovery_state = partition.leader_recovery_state;
  record.leader_epoch = partition.leader_epoch;
  record.partition_epoch = partition.partition_epoch;
  record.directories = partition.directories;
  if (!partition.elr.empty()) {
    record.eligible_leader_replicas.emplace();
    assign_ids(*record.eligible_leader_replicas, partition.elr);
  }
  if (!partition.last_known_elr.empty()) {
    record.last_known_elr.emplace();
    assign_ids(*record.last_known_elr, partition.last_known_elr);
  }
  records.emplace_back(std::move(record));
}

bool same_listeners(const std::vector<ListenerImage>& a, const std::vector<ListenerImage>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ListenerImage& x, const ListenerImage& y) {
    return x.name == y.name && x.host == y.host && x.port == y.port && x.security_protocol == y.security_protocol;
  });
}

bool same_controllers(const MetadataImage& a, const MetadataImage& b) {
  const auto& left = a.controllers();
  const auto& right = b.controllers();
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.incarnation == y.second.incarnation && x.second.features == y.second.features &&
           same_listeners(x.second.listeners, y.second.listeners);
  });
}

bool same_broker(const BrokerImage& a, const BrokerImage& b) {
  return a.epoch == b.epoch && a.incarnation == b.incarnation && a.rack == b.rack && a.fenced == b.fenced &&
         a.in_controlled_shutdown == b.in_controlled_shutdown && a.log_directories == b.log_directories &&
         a.cordoned_directories == b.cordoned_directories && a.features == b.features &&
         same_listeners(a.listeners, b.listeners);
}

void compare_configs(const MetadataImage& from, const MetadataImage& to, MetadataDelta& delta) {
  static const ConfigMap kNone;
  const auto compare = [&](const ConfigResource& resource, const ConfigMap& old, const ConfigMap& fresh) {
    for (const auto& [key, value] : fresh) {
      const auto was = old.find(key);
      if (was == old.end() || was->second != value) {
        delta.configs_changed.push_back({resource, key, value});
      }
    }
    for (const auto& [key, value] : old) {
      if (!fresh.contains(key)) {
        delta.configs_changed.push_back({resource, key, std::nullopt});
      }
    }
  };
  for (const auto& [resource, fresh] : to.configs()) {
    const ConfigMap* old = from.find_configs(resource);
    compare(resource, old == nullptr ? kNone : *old, fresh);
  }
  for (const auto& [resource, old] : from.configs()) {
    if (to.find_configs(resource) == nullptr) {
      compare(resource, old, kNone);
    }
  }
}

}  // namespace

std::vector<Record> records_of(const MetadataImage& image) {
  std::vector<Record> records;
  if (const std::int16_t level = image.feature_level(kMetadataVersionFeature); level != 0) {
    add_feature(records, kMetadataVersionFeature, level);
  }
  for (const auto& [name, level] : image.features()) {
    if (name != kMetadataVersionFeature) {
      add_feature(records, name, level);
    }
  }
  for (const auto& [id, broker] : image.brokers()) {
    add_broker(records, broker);
  }
  for (const auto& [id, controller] : image.controllers()) {
    add_controller(records, controller);
  }
  for (const auto& [name, topic] : image.topics()) {
    wire::TopicRecord record;
    record.name = topic->name;
    record.topic_id = topic->id;
    records.emplace_back(std::move(record));
    for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
      add_partition(records, topic->id, static_cast<std::int32_t>(i), topic->partitions[i]);
    }
  }
  for (const auto& [resource, values] : image.configs()) {
    for (const auto& [key, value] : values) {
      wire::ConfigRecord record;
      record.resource_type = static_cast<std::int8_t>(resource.type);
      record.resource_name = resource.name;
      record.name = key;
      record.value = value;
      records.emplace_back(std::move(record));
    }
  }
  for (const auto& [entity, values] : image.client_quotas()) {
    for (const auto& [key, value] : values) {
      wire::ClientQuotaRecord record;
      for (const auto& [type, name] : entity) {
        auto& part = record.entity.emplace_back();
        part.entity_type = type;
        part.entity_name = name;
      }
      record.key = key;
      record.value = value;
      records.emplace_back(std::move(record));
    }
  }
  if (image.next_producer_id() > 0) {
    wire::ProducerIdsRecord record;
    record.broker_id = kNoBroker;
    record.broker_epoch = -1;
    record.next_producer_id = image.next_producer_id();
    records.emplace_back(std::move(record));
  }
  return records;
}

MetadataDelta difference(const MetadataImage& from, const MetadataImage& to) {
  MetadataDelta delta;
  for (const auto& [name, topic] : from.topics()) {
    if (to.find_topic(topic->id) == nullptr) {
      delta.topics_deleted.push_back({topic->id, name, static_cast<std::int32_t>(topic->partitions.size())});
    }
  }
  for (const auto& [name, topic] : to.topics()) {
    const TopicImage* old = from.find_topic(topic->id);
    if (old == nullptr) {
      delta.topics_created.emplace_back(topic->id, name);
    }
    for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
      const bool created = old == nullptr || i >= old->partitions.size();
      if (created || !(old->partitions[i] == topic->partitions[i])) {
        delta.partitions_changed.push_back({topic->id, name, PartitionIndex(static_cast<std::int32_t>(i)), created});
      }
    }
  }
  compare_configs(from, to, delta);
  for (const auto& [id, broker] : to.brokers()) {
    const BrokerImage* old = from.find_broker(id);
    if (old == nullptr || !same_broker(*old, broker)) {
      delta.brokers_changed.push_back(id);
    }
  }
  for (const auto& [id, broker] : from.brokers()) {
    if (to.find_broker(id) == nullptr) {
      delta.brokers_changed.push_back(id);
    }
  }
  delta.controllers_changed = !same_controllers(from, to);
  delta.features_changed = from.features() != to.features();
  delta.client_quotas_changed = from.client_quotas() != to.client_quotas();
  return delta;
}

}  // namespace hw::metadata
