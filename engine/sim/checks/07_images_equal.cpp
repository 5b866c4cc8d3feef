// SPDX-License-Identifier: Apache-2.0
// 07: nodes that have replayed the metadata log up to the same offset hold the same image, whether from records or from a snapshot.
// It counts what is in an image by itself: what the code that writes snapshots forgets, the check must not forget as well.
#include <fmt/core.h>

#include <string_view>

#include "engine/sim/checks/all.h"

namespace hw::sim {

namespace {

class Fingerprint {
 public:
  void add(std::uint64_t value) noexcept { hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15ULL ^ (hash_ >> 29U); }
  void add(std::int64_t value) noexcept { add(static_cast<std::uint64_t>(value)); }
  void add(std::int32_t value) noexcept { add(std::int64_t{value}); }
  void add(std::int16_t value) noexcept { add(std::int64_t{value}); }
  void add(std::uint16_t value) noexcept { add(std::int64_t{value}); }
  void add(std::int8_t value) noexcept { add(std::int64_t{value}); }
  void add(bool value) noexcept { add(std::int64_t{value ? 1 : 0}); }
  void add(double value) noexcept { add(static_cast<std::int64_t>(value * kMillion)); }
  void add(BrokerId id) noexcept { add(id.value()); }
  void add(LeaderEpoch epoch) noexcept { add(epoch.value()); }
  void add(const Uuid& id) noexcept {
    add(id.high);
    add(id.low);
  }
  void add(std::string_view text) noexcept {
    add(static_cast<std::uint64_t>(text.size()));
    for (const char c : text) {
      add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    }
  }
  void add(const std::string& text) noexcept { add(std::string_view(text)); }
  template <class T>
  void add(const std::optional<T>& value) noexcept {
    add(value.has_value());
    if (value) {
      add(*value);
    }
  }
  template <class T>
  void add(const std::vector<T>& all) noexcept {
    add(static_cast<std::uint64_t>(all.size()));
    for (const T& one : all) {
      add(one);
    }
  }
  template <class K, class V, class C>
  void add(const std::map<K, V, C>& all) noexcept {
    add(static_cast<std::uint64_t>(all.size()));
    for (const auto& [key, value] : all) {
      add(key);
      add(value);
    }
  }
  void add(const metadata::ConfigResource& resource) noexcept {
    add(static_cast<std::int8_t>(resource.type));
    add(resource.name);
  }
  void add(const metadata::SupportedRange& range) noexcept {
    add(range.min);
    add(range.max);
  }
  void add(const metadata::ListenerImage& listener) noexcept {
    add(listener.name);
    add(listener.host);
    add(listener.port);
    add(listener.security_protocol);
  }
  void add(const metadata::PartitionImage& p) noexcept {
    for (const auto* brokers : {&p.replicas, &p.isr, &p.removing_replicas, &p.adding_replicas, &p.elr, &p.last_known_elr}) {
      add(*brokers);
    }
    add(p.directories);
    add(p.leader);
    add(p.leader_epoch);
    add(p.partition_epoch);
    add(p.leader_recovery_state);
  }
  void add(const metadata::TopicImage& topic) noexcept {
    add(topic.id);
    add(topic.partitions);
  }
  void add(const metadata::BrokerImage& broker) noexcept {
    add(broker.epoch);
    add(broker.incarnation);
    add(broker.listeners);
    add(broker.rack);
    add(broker.fenced);
    add(broker.in_controlled_shutdown);
    add(broker.log_directories);
    add(broker.cordoned_directories);
    add(broker.features);
  }
  void add(const metadata::ControllerImage& controller) noexcept {
    add(controller.incarnation);
    add(controller.listeners);
    add(controller.features);
  }
  void add(const metadata::MetadataImage& image) noexcept {
    add(image.epoch());
    add(image.next_producer_id());
    for (const auto& [name, topic] : image.topics()) {
      add(name);
      add(*topic);
    }
    add(image.brokers());
    add(image.controllers());
    add(image.configs());
    add(image.features());
    add(image.client_quotas());
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }

 private:
  static constexpr double kMillion = 1e6;
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

class ImagesEqual final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] const char* name() const noexcept override { return "07 images are equal at equal offsets"; }

  void sample() override {
    for (const auto& node : watched().nodes) {
      const api::Insides in = node->insides();
      if (in.image == nullptr || in.image == last_[node->id()]) {
        continue;
      }
      last_[node->id()] = in.image;
      Fingerprint print;
      print.add(*in.image);
      const auto [it, fresh] = prints_.try_emplace(in.image->offset(), print.value(), node->id());
      if (!fresh && it->second.first != print.value()) {
        wrong(fmt::format("{} has another image at offset {} than node {}", node_text(*node), in.image->offset().value(),
                          it->second.second.value()));
      }
    }
  }

 private:
  std::map<BrokerId, metadata::ImagePtr> last_;
  std::map<Offset, std::pair<std::uint64_t, BrokerId>> prints_;
};

}  // namespace

CheckPtr make_images_equal(const Watched& watched, const Check::Report& report) {
  return std::make_unique<ImagesEqual>(watched, report);
}

}  // namespace hw::sim
