// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/image/image.h"

namespace hw::metadata {

const TopicImage* MetadataImage::find_topic(std::string_view name) const {
  const auto at = topics_->find(name);
  return at == topics_->end() ? nullptr : at->second.get();
}

const TopicImage* MetadataImage::find_topic(const Uuid& id) const {
  const auto at = topics_by_id_->find(id);
  return at == topics_by_id_->end() ? nullptr : at->second.get();
}

const PartitionImage* MetadataImage::find_partition(const Uuid& id, PartitionIndex partition) const {
  const TopicImage* topic = find_topic(id);
  if (topic == nullptr || partition.value() < 0 ||
      static_cast<std::size_t>(partition.value()) >= topic->partitions.size()) {
    return nullptr;
  }
  return &topic->partitions[static_cast<std::size_t>(partition.value())];
}

const BrokerImage* MetadataImage::find_broker(BrokerId id) const {
  const auto at = brokers_->find(id);
  return at == brokers_->end() ? nullptr : &at->second;
}

const ConfigMap* MetadataImage::find_configs(const ConfigResource& resource) const {
  const auto at = configs_->find(resource);
  return at == configs_->end() ? nullptr : &at->second;
}

std::int16_t MetadataImage::feature_level(std::string_view feature) const {
  const auto at = features_->find(feature);
  return at == features_->end() ? std::int16_t{0} : at->second;
}

}  // namespace hw::metadata
