// SPDX-License-Identifier: Apache-2.0
// What the tests of the control plane share: records in short form, images compared, a plane that runs in memory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/metadata/control_plane.h"
#include "engine/metadata/controller.h"
#include "engine/metadata/image/image_builder.h"
#include "engine/raft/memory_log.h"

namespace hw::metadata::test {

inline Uuid id_of(std::uint64_t n) { return Uuid{0x1111'0000'0000'0000ULL, n}; }

inline Record topic(const std::string& name, std::uint64_t id) {
  wire::TopicRecord record;
  record.name = name;
  record.topic_id = id_of(id);
  return Record(record);
}
inline Record partition(std::uint64_t id, std::int32_t index, std::int32_t leader = 1) {
  wire::PartitionRecord record;
  record.topic_id = id_of(id);
  record.partition_id = PartitionIndex(index);
  record.replicas = {BrokerId(1)};
  record.isr = {1};
  record.directories = {id_of(99)};
  record.leader = BrokerId(leader);
  record.leader_epoch = LeaderEpoch(0);
  record.partition_epoch = 0;
  return Record(record);
}
inline Record remove_topic(std::uint64_t id) {
  wire::RemoveTopicRecord record;
  record.topic_id = id_of(id);
  return Record(record);
}
inline Record config(const std::string& topic_name, const std::string& key, std::optional<std::string> value) {
  wire::ConfigRecord record;
  record.resource_type = 2;
  record.resource_name = topic_name;
  record.name = key;
  record.value = std::move(value);
  return Record(record);
}
inline Record new_leader(std::uint64_t id, std::int32_t index, std::int32_t leader) {
  wire::PartitionChangeRecord record;
  record.topic_id = id_of(id);
  record.partition_id = PartitionIndex(index);
  record.leader = BrokerId(leader);
  return Record(record);
}
inline Record broker(std::int32_t id, std::int64_t epoch, bool fenced = true, std::optional<std::string> rack = {}) {
  wire::RegisterBrokerRecord record;
  record.broker_id = BrokerId(id);
  record.broker_epoch = epoch;
  record.incarnation_id = id_of(static_cast<std::uint64_t>(id) + 500);
  record.fenced = fenced;
  record.rack = std::move(rack);
  record.log_dirs = {id_of(99)};
  return Record(record);
}

inline bool same(const MetadataImage& a, const MetadataImage& b) {
  if (a.offset() != b.offset() || a.epoch() != b.epoch() || a.topics().size() != b.topics().size() ||
      a.brokers().size() != b.brokers().size() || a.configs() != b.configs() || a.features() != b.features() ||
      a.next_producer_id() != b.next_producer_id()) {
    return false;
  }
  for (const auto& [name, left] : a.topics()) {
    const TopicImage* right = b.find_topic(name);
    if (right == nullptr || left->id != right->id || left->partitions != right->partitions ||
        b.find_topic(left->id) != right) {
      return false;
    }
  }
  for (const auto& [id, left] : a.brokers()) {
    const BrokerImage* right = b.find_broker(id);
    if (right == nullptr || left.epoch != right->epoch || left.fenced != right->fenced ||
        left.incarnation != right->incarnation || left.rack != right->rack ||
        left.in_controlled_shutdown != right->in_controlled_shutdown) {
      return false;
    }
  }
  return true;
}

// What a node's link does with the active controller, when that is its own: it registers the controller and the broker, and says that
// the broker lives once the image has it. True: something was asked.
inline bool register_node(ControlPlane& plane, const Registration& who, const raft::Config& quorum, Instant now) {
  Controller& controller = plane.controller();
  if (!controller.active()) {
    return false;
  }
  const auto features = [](auto& list) {
    for (const FeatureRange& range : supported_features()) {
      auto& feature = list.emplace_back();
      feature.name = range.name;
      feature.min_supported_version = range.min_supported;
      feature.max_supported_version = range.max_supported;
    }
  };
  const BrokerImage* newest = controller.newest().find_broker(who.broker);
  if (newest == nullptr || newest->incarnation != who.incarnation) {
    wire::ControllerRegistrationRequest own;
    own.controller_id = who.broker.value();
    own.incarnation_id = who.incarnation;
    for (const raft::VoterEndpoint& endpoint : quorum.self.endpoints) {
      auto& listener = own.listeners.emplace_back();
      listener.name = endpoint.listener;
      listener.host = endpoint.host;
      listener.port = endpoint.port;
    }
    features(own.features);
    controller.controller_registration(own, [](const auto&) {});
    wire::BrokerRegistrationRequest request;
    request.broker_id = who.broker;
    request.cluster_id = quorum.cluster_id;
    request.incarnation_id = who.incarnation;
    for (const ListenerImage& listener : who.listeners) {
      auto& one = request.listeners.emplace_back();
      one.name = listener.name;
      one.host = listener.host;
      one.port = listener.port;
    }
    features(request.features);
    request.log_dirs = who.log_directories;
    controller.broker_registration(request, now, [](const auto&) {});
    return true;
  }
  const BrokerImage* known = plane.image()->find_broker(who.broker);
  if (known == nullptr || known->incarnation != who.incarnation || !newest->fenced) {
    return false;
  }
  wire::BrokerHeartbeatRequest beat;
  beat.broker_id = who.broker;
  beat.broker_epoch = known->epoch;
  beat.current_metadata_offset = plane.image()->offset();
  controller.broker_heartbeat(beat, now, [](const auto&) {});
  return true;
}

// One batch of the log as a test looks at it.
struct LogBatch {
  Offset base_offset;
  Offset last_offset;
  bool control = false;
  Bytes bytes;
};

// A control plane whose disk never waits.
using Settings = std::map<std::string, std::string>;
class Plane {
 public:
  explicit Plane(Settings configs = {}, std::uint64_t seed = 1,
                 std::vector<LogBatch> log = {}, raft::ElectionState election = {})
      : batches(std::move(log)), election_(election) {
    ControlPlane::Options options;
    options.quorum.self = {{BrokerId(1), id_of(99)}, {{"CONTROLLER", "localhost", 9092}}};
    options.quorum.voters = {options.quorum.self};
    Result<BrokerConfigs> parsed = BrokerConfigs::parse(configs);
    HW_ASSERT(parsed.has_value(), "the test's configuration");
    options.broker_configs = std::make_shared<const BrokerConfigs>(std::move(*parsed));
    options.registration.broker = BrokerId(1);
    options.registration.incarnation = id_of(1000 + seed);
    options.registration.listeners = {{"PLAINTEXT", "localhost", 9092, 0}};
    options.registration.log_directories = {id_of(99)};
    options.bootstrap = bootstrap_records();
    registration_ = options.registration;
    quorum_ = options.quorum;
    for (const LogBatch& batch : batches) {
      const Result<void> appended = log_.append_as_follower(batch.bytes, wall);
      HW_ASSERT(appended.has_value(), "the log is whole");
    }
    log_.flush();
    plane = std::make_unique<ControlPlane>(std::move(options), election, log_, Prng(seed));
    const Result<void> started = plane->start(now, wall);
    HW_ASSERT(started.has_value(), "the log replays");
  }

  // Performs everything until nothing moves. `flush_works` false: the disk has not answered yet.
  void run(bool flush_works = true) {
    for (int round = 0; round < 100; ++round) {
      ControlPlane::Outputs out;
      plane->pump(now, wall, out);
      bool moved = perform(out, flush_works);
      if (flush_works && flush_owed) {
        ControlPlane::Outputs flushed;
        flush_owed = false;
        log_.flush();
        plane->flushed(log_.end_offset(), now, wall, flushed);
        moved = perform(flushed, flush_works) || moved;
      }
      moved = (alive && register_node(*plane, registration_, quorum_, now)) || moved;
      if (!moved) {
        return;
      }
    }
    HW_ASSERT(false, "the control plane comes to rest");
  }

  Controller& controller() { return plane->controller(); }
  const MetadataImage& image() { return *plane->image(); }
  [[nodiscard]] raft::ElectionState election() const { return election_; }

  std::unique_ptr<ControlPlane> plane;
  std::vector<LogBatch> batches;
  std::vector<ControlPlane::Published> published;
  std::vector<event::Any> events;
  bool flush_owed = false;
  bool alive = true;  // the broker registers, and sends heartbeats
  Instant now{1'000};
  WallTime wall{1'700'000'000'000};

 private:
  bool perform(ControlPlane::Outputs& out, bool flush_works) {
    bool moved = !out.published.empty() || out.flush || out.persist || !out.events.empty();
    for (ControlPlane::Published& change : out.published) {
      published.push_back(std::move(change));
    }
    for (event::Any& event : out.events) {
      events.push_back(std::move(event));
    }
    HW_ASSERT(out.broken.empty(), "nothing breaks");
    for (std::size_t i = batches.size(); i < log_.batches().size(); ++i) {
      const raft::MemoryLog::Batch& batch = log_.batches()[i];
      batches.push_back({batch.base, batch.last, batch.control, batch.bytes});
    }
    flush_owed = flush_owed || out.flush;
    if (out.persist) {
      election_ = *out.persist;
      ControlPlane::Outputs persisted;
      plane->persisted(election_, now, wall, persisted);
      moved = perform(persisted, flush_works) || moved;
    }
    return moved;
  }

  raft::ElectionState election_;
  raft::MemoryLog log_;
  Registration registration_;
  raft::Config quorum_;
};

}  // namespace hw::metadata::test
