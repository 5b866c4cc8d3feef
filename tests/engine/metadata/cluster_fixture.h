// SPDX-License-Identifier: Apache-2.0
// A controller with brokers that are played by the test: what the controller writes is committed at once.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/assert.h"
#include "engine/metadata/controller.h"
#include "engine/metadata/image/image_builder.h"
#include "engine/metadata/image/record.h"
#include "engine/metadata/partition_change.h"

namespace hw::metadata::test {

using wire::ErrorCode;

inline std::vector<BrokerId> ids(std::initializer_list<std::int32_t> list) {
  std::vector<BrokerId> result;
  for (const std::int32_t id : list) {
    result.emplace_back(id);
  }
  return result;
}

struct ClusterOptions {
  bool elr = true;
  std::map<std::string, std::string> configs;
  std::uint64_t seed = 1;
  std::int32_t node = 100;  // the controller's own id, no broker
  std::int16_t metadata_version = kMetadataVersion;
};

class Brokers {
 public:
  static constexpr Duration kSession = milliseconds(9000);

  explicit Brokers(ClusterOptions options = {}) : given_(std::move(options)) {
    given_.configs.emplace("metadata.max.idle.interval.ms", "0");  // else there is always something to do
    put_feature("metadata.version", given_.metadata_version);
    if (given_.elr) {
      put_feature("eligible.leader.replicas.version", 1);
    }
    new_controller();
  }

  // Another controller takes over: everything but the log is lost.
  void new_controller() {
    if (controller_) {
      controller_->resign();
    }
    Result<BrokerConfigs> parsed = BrokerConfigs::parse(given_.configs);
    HW_ASSERT(parsed.has_value(), "the test's configuration");
    Controller::Options options;
    options.node = BrokerId(given_.node);
    options.broker_configs = std::make_shared<const BrokerConfigs>(std::move(*parsed));
    options.cluster_id = std::string("c");
    controller_ = std::make_unique<Controller>(std::move(options), Prng(given_.seed));
    controller_->become_active(builder_.publish().image, ++epoch_, next_);
  }

  Controller& controller() { return *controller_; }
  const MetadataImage& image() { return builder_.working(); }
  [[nodiscard]] Offset end() const { return next_; }

  // Commits what the controller wrote.
  void run() {
    controller_->committed(next_);
    while (controller_->has_records()) {
      commit(controller_->take_records());
    }
  }
  void commit(const std::vector<std::vector<Record>>& batches) {
    for (const std::vector<Record>& batch : batches) {
      for (const Record& record : batch) {
        const Result<Bytes> bytes = encode_record(record);
        HW_ASSERT(bytes.has_value(), "records encode");
        log.emplace_back(bytes->text());
        const Result<void> replayed = builder_.replay(record, next_, epoch_);
        HW_ASSERT(replayed.has_value(), "records replay");
        next_ += 1;
      }
    }
    controller_->committed(next_);
  }
  template <class Response, class Ask>
  Response ask(Ask&& ask_it) {
    std::optional<Response> answer;
    ask_it([&answer](Response response) { answer = std::move(response); });
    run();
    HW_ASSERT(answer.has_value(), "every request is answered");
    return std::move(*answer);
  }

  // `type`: 1 up, 2 down, 3 down where something may be lost.
  wire::UpdateFeaturesResponse update_feature(const std::string& name, std::int16_t level, std::int8_t type) {
    wire::UpdateFeaturesRequest request;
    auto& row = request.feature_updates.emplace_back();
    row.feature = name;
    row.max_version_level = level;
    row.upgrade_type = type;
    return ask<wire::UpdateFeaturesResponse>([&](auto done) { controller_->update_features(request, 2, std::move(done)); });
  }

  // --- brokers

  static wire::BrokerRegistrationRequest registration(std::int32_t id, std::uint64_t life = 1) {
    wire::BrokerRegistrationRequest request;
    request.broker_id = BrokerId(id);
    request.cluster_id = std::string("c");
    request.incarnation_id = Uuid{static_cast<std::uint64_t>(id) + 1000, life};
    auto& listener = request.listeners.emplace_back();
    listener.name = std::string("PLAINTEXT");
    listener.host = std::string("localhost");
    listener.port = static_cast<std::uint16_t>(9092 + id);
    for (const auto& [name, high] : std::map<std::string, std::int16_t>{
             {"metadata.version", kMetadataVersion}, {"eligible.leader.replicas.version", 1}, {"kraft.version", 1}}) {
      auto& feature = request.features.emplace_back();
      feature.name = name;
      feature.min_supported_version = name == "metadata.version" ? std::int16_t{7} : std::int16_t{0};
      feature.max_supported_version = high;
    }
    request.log_dirs = {Uuid{7, static_cast<std::uint64_t>(id) + 100}};
    return request;
  }
  wire::BrokerRegistrationResponse register_broker(const wire::BrokerRegistrationRequest& request) {
    return ask<wire::BrokerRegistrationResponse>(
        [&](auto done) { controller_->broker_registration(request, now, std::move(done)); });
  }
  wire::BrokerHeartbeatResponse beat(std::int32_t id, bool want_fence = false, bool want_shut_down = false,
                                     std::optional<Offset> offset = {}) {
    wire::BrokerHeartbeatRequest request;
    request.broker_id = BrokerId(id);
    const BrokerImage* broker = image().find_broker(BrokerId(id));
    request.broker_epoch = broker == nullptr ? -1 : broker->epoch;
    request.current_metadata_offset = offset.value_or(next_ - 1);
    request.want_fence = want_fence;
    request.want_shut_down = want_shut_down;
    return beat(request);
  }
  wire::BrokerHeartbeatResponse beat(const wire::BrokerHeartbeatRequest& request) {
    return ask<wire::BrokerHeartbeatResponse>(
        [&](auto done) { controller_->broker_heartbeat(request, now, std::move(done)); });
  }
  // Registered and unfenced. `clean`: its former life stopped cleanly.
  void up(std::int32_t id, std::uint64_t life = 1, bool clean = false) {
    wire::BrokerRegistrationRequest request = registration(id, life);
    if (const BrokerImage* known = image().find_broker(BrokerId(id)); clean && known != nullptr) {
      request.previous_broker_epoch = known->epoch;
    }
    HW_ASSERT(register_broker(request).error_code == ErrorCode::none, "registered");
    HW_ASSERT(!beat(id).is_fenced, "unfenced");
  }
  // Nobody but `alive` says anything for longer than a session lasts.
  void silence(std::initializer_list<std::int32_t> alive) {
    now = now + milliseconds(6000);
    for (const std::int32_t id : alive) {
      beat(id);
    }
    now = now + milliseconds(3001);
    tick();
  }
  void tick() {
    controller_->tick(now);
    run();
  }
  // Asks to stop until it may.
  void stop(std::int32_t id, std::initializer_list<std::int32_t> others) {
    for (int asked = 1; !beat(id, false, true).should_shut_down; ++asked) {
      HW_ASSERT(asked < 5, "it may stop");
      for (const std::int32_t other : others) {
        beat(other);
      }
    }
  }

  // --- partitions

  void create(const std::string& name, const std::vector<std::vector<BrokerId>>& replicas,
              const std::map<std::string, std::string>& configs = {}) {
    wire::CreateTopicsRequest request;
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    topic.num_partitions = -1;
    topic.replication_factor = -1;
    for (std::size_t i = 0; i < replicas.size(); ++i) {
      auto& assignment = topic.assignments.emplace_back();
      assignment.partition_index = PartitionIndex(static_cast<std::int32_t>(i));
      assignment.broker_ids = replicas[i];
    }
    for (const auto& [key, value] : configs) {
      auto& config = topic.configs.emplace_back();
      config.name = key;
      config.value = value;
    }
    const auto response = ask<wire::CreateTopicsResponse>(
        [&](auto done) { controller_->create_topics(request, std::move(done)); });
    HW_ASSERT(response.topics.front().error_code == ErrorCode::none, "created");
  }
  const PartitionImage& partition(const std::string& name = "t", std::int32_t index = 0) {
    return image().find_topic(name)->partitions[static_cast<std::size_t>(index)];
  }
  // "leader epoch | isr | elr | last known elr", as the reference's answers are compared.
  std::string state(const std::string& name = "t", std::int32_t index = 0) {
    const PartitionImage& p = partition(name, index);
    std::string text = std::to_string(p.leader.value()) + " e" + std::to_string(p.leader_epoch.value());
    for (const std::vector<BrokerId>* list : {&p.isr, &p.elr, &p.last_known_elr}) {
      std::vector<BrokerId> sorted = *list;
      std::sort(sorted.begin(), sorted.end());
      text += " [";
      for (const BrokerId id : sorted) {
        text += (text.back() == '[' ? "" : " ") + std::to_string(id.value());
      }
      text += "]";
    }
    return text;
  }
  wire::AlterPartitionRequest isr_request(const std::vector<BrokerId>& isr, const std::string& name = "t") {
    const PartitionImage& p = partition(name);
    wire::AlterPartitionRequest request;
    request.broker_id = p.leader;
    request.broker_epoch = image().find_broker(p.leader)->epoch;
    auto& topic = request.topics.emplace_back();
    topic.topic_id = image().find_topic(name)->id;
    auto& item = topic.partitions.emplace_back();
    item.partition_index = PartitionIndex(0);
    item.leader_epoch = p.leader_epoch;
    item.partition_epoch = p.partition_epoch;
    for (const BrokerId id : isr) {
      auto& member = item.new_isr_with_epochs.emplace_back();
      member.broker_id = id;
      const BrokerImage* broker = image().find_broker(id);
      member.broker_epoch = broker == nullptr ? -1 : broker->epoch;
    }
    return request;
  }
  wire::AlterPartitionResponse alter(const wire::AlterPartitionRequest& request, std::int16_t version = 3) {
    return ask<wire::AlterPartitionResponse>(
        [&](auto done) { controller_->alter_partition(request, version, std::move(done)); });
  }
  // The leader tells that these are in sync.
  ErrorCode in_sync(const std::vector<BrokerId>& isr, const std::string& name = "t") {
    const wire::AlterPartitionResponse answer = alter(isr_request(isr, name));
    return answer.error_code != ErrorCode::none ? answer.error_code : answer.topics.front().partitions.front().error_code;
  }
  ErrorCode elect(std::int8_t type, const std::string& name = "t") {
    wire::ElectLeadersRequest request;
    request.election_type = type;
    request.topic_partitions.emplace();
    auto& topic = request.topic_partitions->emplace_back();
    topic.topic = name;
    topic.partitions = {PartitionIndex(0)};
    const auto answer = ask<wire::ElectLeadersResponse>(
        [&](auto done) { controller_->elect_leaders(request, std::move(done)); });
    return answer.replica_election_results.front().partition_result.front().error_code;
  }
  ErrorCode reassign(std::optional<std::vector<BrokerId>> replicas, bool may_change_count = true,
                     const std::string& name = "t") {
    wire::AlterPartitionReassignmentsRequest request;
    request.allow_replication_factor_change = may_change_count;
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    auto& item = topic.partitions.emplace_back();
    item.partition_index = PartitionIndex(0);
    item.replicas = std::move(replicas);
    const auto answer = ask<wire::AlterPartitionReassignmentsResponse>(
        [&](auto done) { controller_->alter_partition_reassignments(request, std::move(done)); });
    return answer.responses.front().partitions.front().error_code;
  }
  void set_topic_config(const std::string& name, const std::string& key, const std::string& value) {
    wire::ConfigRecord record;
    record.resource_type = 2;
    record.resource_name = name;
    record.name = key;
    record.value = value;
    controller_->write_records({Record(record)});
    run();
  }

  Instant now{1'000'000};
  std::vector<std::string> log;  // every record written, encoded

 private:
  void put_feature(const std::string& name, std::int16_t level) {
    wire::FeatureLevelRecord record;
    record.name = name;
    record.feature_level = level;
    HW_ASSERT(builder_.replay(Record(record), next_, 0).has_value(), "features replay");
    next_ += 1;
  }

  ClusterOptions given_;
  std::unique_ptr<Controller> controller_;
  ImageBuilder builder_;
  Offset next_{0};
  std::int32_t epoch_ = 0;
};

}  // namespace hw::metadata::test
