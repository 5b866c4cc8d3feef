// SPDX-License-Identifier: Apache-2.0
// A world (world.h) with topics, and members of the consumer protocol in it.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/metadata/image/image_builder.h"
#include "engine/wire/msg/config_record.h"
#include "engine/wire/msg/partition_record.h"
#include "engine/wire/msg/remove_topic_record.h"
#include "engine/wire/msg/topic_record.h"

#include "world.h"

namespace hw::groups::test {

using Parts = std::map<std::string, std::vector<std::int32_t>>;  // by name of topic
using BeatResponse = wire::ConsumerGroupHeartbeatResponse;

struct Beat {
  std::int16_t version = 1;
  std::string client = "cli";
  std::optional<std::string> instance;
  std::optional<std::vector<std::string>> topics;
  std::optional<std::string> regex;
  std::optional<std::string> assignor;
  std::optional<Parts> owned;
  std::int32_t rebalance_ms = -1;
};

// What a member says when it joins.
inline Beat joining(std::vector<std::string> topics) {
  Beat beat;
  beat.topics = std::move(topics);
  beat.owned = Parts{};
  beat.rebalance_ms = 60'000;
  return beat;
}

class ConsumerWorld : public World {
 public:
  explicit ConsumerWorld(Config config = quick(), std::uint64_t seed = 7)
      : World(std::move(config), seed) {}

  // Targets are computed at once, whatever was computed before.
  static Config quick() {
    Config config = fast();
    config.consumer_assignment_interval_ms = {0, 0, 15'000};
    return config;
  }

  void create_topic(const std::string& name, std::int32_t partitions) {
    wire::TopicRecord record;
    record.name = name;
    record.topic_id = Uuid{0x2222, ++last_topic_};
    topics_[name] = {record.topic_id, 0};
    replay(metadata::Record(record));
    grow_topic(name, partitions);
  }

  void grow_topic(const std::string& name, std::int32_t partitions) {
    auto& [id, count] = topics_.at(name);
    for (; count < partitions; ++count) {
      wire::PartitionRecord record;
      record.topic_id = id;
      record.partition_id = PartitionIndex(count);
      record.replicas = {BrokerId(1)};
      record.isr = {1};
      record.directories = {Uuid{1, 1}};
      record.leader = BrokerId(1);
      replay(metadata::Record(record));
    }
    publish();
  }

  void delete_topic(const std::string& name) {
    wire::RemoveTopicRecord record;
    record.topic_id = topics_.at(name).first;
    topics_.erase(name);
    replay(metadata::Record(record));
    publish();
  }

  void set_group_config(const std::string& group, const std::string& key,
                        const std::string& value) {
    wire::ConfigRecord record;
    record.resource_type = 32;
    record.resource_name = group;
    record.name = key;
    record.value = value;
    replay(metadata::Record(record));
    publish();
  }

  [[nodiscard]] Uuid topic_id(const std::string& name) const { return topics_.at(name).first; }

  [[nodiscard]] const std::map<std::string, std::pair<Uuid, std::int32_t>>& topics() const {
    return topics_;
  }

  Answer<BeatResponse> beat_later(const std::string& group, const std::string& member,
                                  std::int32_t epoch, const Beat& beat) {
    wire::ConsumerGroupHeartbeatRequest request;
    request.group_id = group;
    request.member_id = member;
    request.member_epoch = epoch;
    request.instance_id = beat.instance;
    request.rebalance_timeout_ms = beat.rebalance_ms;
    request.subscribed_topic_names = beat.topics;
    request.subscribed_topic_regex = beat.regex;
    request.server_assignor = beat.assignor;
    if (beat.owned) {
      request.topic_partitions.emplace();
      for (const auto& [name, partitions] : *beat.owned) {
        auto& topic = request.topic_partitions->emplace_back();
        topic.topic_id = topics_.contains(name) ? topic_id(name) : Uuid{9, 9};
        for (const std::int32_t partition : partitions) {
          topic.partitions.push_back(PartitionIndex(partition));
        }
      }
    }
    Answer<BeatResponse> answer;
    coordinator.consumer_heartbeat(request, context(beat.version, beat.client), now, answer.done());
    pump();
    return answer;
  }

  BeatResponse beat(const std::string& group, const std::string& member, std::int32_t epoch,
                    const Beat& what = {}) {
    return *beat_later(group, member, epoch, what);
  }

  BeatResponse join_consumer(const std::string& group, const std::string& member,
                             std::vector<std::string> topics) {
    return beat(group, member, 0, joining(std::move(topics)));
  }

  wire::ConsumerGroupDescribeResponse::DescribedGroup describe_consumer(const std::string& group) {
    wire::ConsumerGroupDescribeRequest request;
    request.group_ids = {group};
    Answer<wire::ConsumerGroupDescribeResponse> answer;
    coordinator.describe_consumer_groups(request, context(1), now, answer.done());
    return answer->groups.at(0);
  }

  [[nodiscard]] Parts target_of(const std::string& group, const std::string& member) {
    for (const auto& one : describe_consumer(group).members) {
      if (one.member_id == member) {
        return named(one.target_assignment);
      }
    }
    return {};
  }

  [[nodiscard]] std::string state_of(const std::string& group) {
    return describe_consumer(group).group_state;
  }

  // By name of topic; those of topics that are gone under "".
  template <class Assigned>
  [[nodiscard]] Parts named(const Assigned& assignment) const {
    Parts parts;
    for (const auto& topic : assignment.topic_partitions) {
      std::string name;
      for (const auto& [known, entry] : topics_) {
        name = entry.first == topic.topic_id ? known : name;
      }
      for (const PartitionIndex partition : topic.partitions) {
        parts[name].push_back(partition.value());
      }
      std::sort(parts[name].begin(), parts[name].end());
    }
    return parts;
  }

  // Nothing: the answer did not say.
  [[nodiscard]] std::optional<Parts> told_parts(const BeatResponse& response) const {
    return response.assignment ? std::optional(named(*response.assignment)) : std::nullopt;
  }

 private:
  void replay(const metadata::Record& record) {
    const Result<void> fine = builder_.replay(record, Offset(++offset_), 1);
    HW_ASSERT(fine.has_value(), "records of the test fit together");
  }

  void publish() {
    const metadata::ImageBuilder::Published published = builder_.publish();
    coordinator.set_image(published.image, published.delta);
  }

  metadata::ImageBuilder builder_;
  std::int64_t offset_ = 0;
  std::uint64_t last_topic_ = 0;
  std::map<std::string, std::pair<Uuid, std::int32_t>> topics_;
};

// A consumer that works off what it is told: it gives back at once, or when it gets to it.
struct ConsumerClient {
  std::string group;
  std::string id;
  std::vector<std::string> topics;
  std::optional<std::string> instance;
  std::int32_t epoch = 0;
  Parts owned;   // what it works with
  Parts wanted;  // what it was told last

  // What it works with follows what it was told.
  void catch_up() { owned = wanted; }

  // One heartbeat; false: it was fenced and starts over.
  bool beat(ConsumerWorld& world) {
    Beat says;
    says.instance = instance;
    if (epoch == 0) {
      says = joining(topics);
      says.instance = instance;
    } else {
      says.owned = owned;
    }
    learn(world, world.beat_later(group, id, epoch, says));
    return epoch != 0;
  }

  void learn(ConsumerWorld& world, const Answer<BeatResponse>& answer) {
    if (!answer.here()) {
      return;
    }
    if (answer->error_code != wire::ErrorCode::none) {
      if (answer->error_code == wire::ErrorCode::fenced_member_epoch ||
          answer->error_code == wire::ErrorCode::unknown_member_id ||
          answer->error_code == wire::ErrorCode::group_id_not_found) {
        epoch = 0;
        owned.clear();
        wanted.clear();
      }
      return;
    }
    epoch = answer->member_epoch;
    if (const std::optional<Parts> parts = world.told_parts(*answer)) {
      wanted = *parts;
    }
  }
};

}  // namespace hw::groups::test
