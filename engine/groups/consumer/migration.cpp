// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/consumer/migration.h"

#include <algorithm>
#include <utility>

#include "engine/base/assert.h"
#include "engine/wire/msg/consumer_protocol_assignment.h"
#include "engine/wire/msg/consumer_protocol_subscription.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

namespace hw::groups {
namespace {

using wire::ErrorCode;

Refusal not_upgraded(const std::string& group, const std::string& why) {
  return {ErrorCode::group_id_not_found,
          "The classic group " + group + " does not become a consumer group: " + why + "."};
}

// The topics by id; those that nobody knows any more are left out.
template <class Topics>
Assignment by_id(const Topics& topics, const metadata::MetadataImage& image) {
  Assignment assignment;
  for (const auto& topic : topics) {
    const metadata::TopicImage* known = image.find_topic(topic.topic);
    if (known != nullptr && !topic.partitions.empty()) {
      auto& partitions = assignment[known->id];
      partitions.insert(partitions.end(), topic.partitions.begin(), topic.partitions.end());
      std::sort(partitions.begin(), partitions.end());
    }
  }
  return assignment;
}

}  // namespace

std::optional<ClassicSubscription> read_subscription(const Bytes& metadata,
                                                     const metadata::MetadataImage& image) {
  const std::optional<wire::ConsumerProtocolSubscription> message = decode_subscription_message(metadata);
  if (!message) {
    return std::nullopt;
  }
  ClassicSubscription said;
  const std::set<std::string> topics(message->topics.begin(), message->topics.end());
  said.topics.assign(topics.begin(), topics.end());
  if (message->rack_id && !message->rack_id->empty()) {
    said.rack = message->rack_id;
  }
  said.owned = by_id(message->owned_partitions, image);
  return said;
}

// ------------------------------------------------------------------------------------------------
// to a consumer group

std::optional<std::vector<ConsumerMember>> Migration::members_of(const ClassicGroup& group) const {
  std::vector<ConsumerMember> members;
  std::set<std::pair<Uuid, PartitionIndex>> given;
  for (const auto& [id, classic] : group.members()) {
    const Protocol* protocol = classic.find_protocol(group.protocol_name().value_or(std::string()));
    if (protocol == nullptr) {
      return std::nullopt;
    }
    std::optional<ClassicSubscription> said =
        read_subscription(protocol->metadata, *runtime_.image);
    if (!said) {
      return std::nullopt;
    }
    Assignment assigned;
    if (!classic.assignment.empty()) {
      wire::Reader reader(classic.assignment);
      const std::int16_t version = reader.int16();
      wire::ConsumerProtocolAssignment message;
      // What an assignor of the clients' own has put aside for itself would be lost.
      if (!reader.ok() || version < 0 || !decode(reader, message, 0) ||
          (message.user_data && !message.user_data->empty())) {
        return std::nullopt;
      }
      assigned = by_id(message.assigned_partitions, *runtime_.image);
    }
    for (const auto& [topic, partitions] : assigned) {
      for (const PartitionIndex partition : partitions) {
        if (!given.emplace(topic, partition).second) {
          return std::nullopt;  // C1: a leader may have assigned it twice
        }
      }
    }
    ConsumerMember& member = members.emplace_back();
    member.id = id;
    member.instance = classic.instance_id;
    member.rack = std::move(said->rack);
    member.client_id = classic.client_id;
    member.client_host = classic.client_host;
    member.topics = std::move(said->topics);
    member.rebalance_timeout_ms = classic.rebalance_timeout_ms;
    member.classic = ClassicSide{classic.session_timeout_ms, classic.protocols};
    member.epoch = group.generation();
    member.previous_epoch = group.generation();
    member.assigned = at_epoch(assigned, group.generation());
  }
  return members;
}

std::optional<Refusal> Migration::upgrade(Shard& shard, ClassicGroup& group, Now now) {
  const std::string id = group.id();
  const MigrationPolicy policy = runtime_.config.consumer_migration_policy;
  if (policy != MigrationPolicy::upgrade && policy != MigrationPolicy::bidirectional) {
    return not_upgraded(id, "group.consumer.migration.policy does not allow it");
  }
  if (!group.uses_consumer_protocol()) {
    return not_upgraded(id, "its members are no consumers");
  }
  if (group.size() > static_cast<std::size_t>(runtime_.config.consumer_max_size)) {
    return not_upgraded(id, "it has more members than group.consumer.max.size allows");
  }
  const std::optional<std::vector<ConsumerMember>> members = members_of(group);
  if (!members) {
    return not_upgraded(id,
                        "what its members say or were assigned cannot be read, or would be lost");
  }
  // Whoever waits for the rebalance that ran is called to the next one.
  classic_.abandon(shard, group, ErrorCode::rebalance_in_progress);
  const std::int32_t generation = group.generation();
  take_out(shard, group);
  for (const ConsumerMember& member : *members) {
    shard.stage(member_record(id, member));
  }
  // Nobody subscribes to nothing: members may be none where a group is being made.
  const ConsumerGroup* made = shard.find_consumer(id);
  const std::map<std::string, std::int32_t, std::less<>> none;
  shard.stage(group_record(id, generation,
                           consumer_.hash_of(made == nullptr ? none : made->subscribers())));
  for (const ConsumerMember& member : *members) {
    shard.stage(target_member_record(id, member.id, without_epochs(member.assigned)));
  }
  shard.stage(target_record(id, generation, 0));
  for (const ConsumerMember& member : *members) {
    shard.stage(current_record(id, member));
    consumer_.start_session(shard, id, member.id, member.classic->session_timeout_ms, now);
  }
  if (ConsumerGroup* taken_over = shard.find_consumer(id); taken_over != nullptr) {
    taken_over->tracker.loaded(*taken_over);
  }
  return std::nullopt;
}

void Migration::drop_empty(Shard& shard, const ClassicGroup& group) {
  take_out(shard, group);
}

void Migration::take_out(Shard& shard, const ClassicGroup& group) {
  const auto found = shard.groups().find(group.id());
  std::shared_ptr<Group> taken = found->second;
  shard.groups().erase(found);
  const std::string id = taken->id();
  shard.stage({encode_group_key(id), std::nullopt});
  shard.on_rollback([this, &shard, taken](Now now) {
    if (shard.find_group(taken->id()) == nullptr) {
      shard.groups().emplace(taken->id(), taken);
      ClassicGroup& back = *as_classic(taken.get());
      for (auto& [member_id, member] : back.members()) {
        classic_.restart_session(shard, back, member, now);
      }
    }
  });
}

// ------------------------------------------------------------------------------------------------
// to a classic group

void Migration::drop_empty(Shard& shard, const ConsumerGroup& group, Now now) {
  std::vector<Record> records;
  group.tombstones(records);
  for (Record& record : records) {
    shard.stage(std::move(record));
  }
  shard.append_staged([](ErrorCode, Now) {}, now);
}

bool Migration::downgrades_without(const ConsumerGroup& group,
                                   const std::set<std::string>& members) const {
  const std::size_t rest = group.size() - members.size();
  const MigrationPolicy policy = runtime_.config.consumer_migration_policy;
  if (rest == 0 || rest > static_cast<std::size_t>(runtime_.config.group_max_size) ||
      (policy != MigrationPolicy::downgrade && policy != MigrationPolicy::bidirectional)) {
    return false;
  }
  return std::none_of(members.begin(), members.end(),
                      [&](const std::string& id) { return group.find(id)->classic.has_value(); }) &&
         std::all_of(group.members().begin(), group.members().end(), [&](const auto& entry) {
           return entry.second.classic || members.contains(entry.first);
         });
}

bool Migration::downgrades_replacing(const ConsumerGroup& group,
                                     const ConsumerMember& member) const {
  const MigrationPolicy policy = runtime_.config.consumer_migration_policy;
  return !member.classic && group.classic_size() == group.size() - 1 &&
         (policy == MigrationPolicy::downgrade || policy == MigrationPolicy::bidirectional) &&
         group.size() <= static_cast<std::size_t>(runtime_.config.group_max_size);
}

Bytes Migration::classic_assignment(const Assignment& assignment, const Bytes& subscription) const {
  wire::ConsumerProtocolAssignment message;
  for (const auto& [topic_id, partitions] : assignment) {
    if (const metadata::TopicImage* topic = runtime_.image->find_topic(topic_id);
        topic != nullptr) {
      auto& entry = message.assigned_partitions.emplace_back();
      entry.topic = topic->name;
      entry.partitions = partitions;
    }
  }
  wire::Reader reader(subscription);
  const std::int16_t said = reader.int16();
  const std::int16_t version =
      reader.ok()
          ? std::clamp<std::int16_t>(said, 0, wire::ConsumerProtocolAssignment::kHighestVersion)
          : std::int16_t{0};
  wire::Writer writer;
  writer.int16(version);
  const bool fine = encode(writer, message, version) && writer.ok();
  HW_ASSERT(fine, "names of topics are short");
  return writer.finish().flatten();
}

void Migration::downgrade(Shard& shard, const ConsumerGroup& group,
                          const std::set<std::string>& leaving, const std::string& why, Now now,
                          bool rebalance) {
  const std::string id = group.id();
  wire::GroupMetadataValue value;
  value.protocol_type = "consumer";
  value.generation = group.epoch();
  value.current_state_timestamp = now.wall.ms;
  value.protocol.reset();
  value.leader.reset();
  // Which protocol they have in common and most prefer is the classic group's question.
  ClassicGroup probe(id, 0, now.wall);
  for (const auto& [member_id, member] : group.members()) {
    if (leaving.contains(member_id)) {
      continue;
    }
    HW_ASSERT(member.classic.has_value(), "only classic members are left");
    ClassicMember one;
    one.id = member_id;
    one.protocol_type = value.protocol_type;
    one.protocols = member.classic->protocols;
    probe.add(std::move(one), {});
  }
  value.protocol = probe.select_protocol();
  std::map<std::string, ConsumerMember> members;
  for (const auto& [member_id, member] : group.members()) {
    if (leaving.contains(member_id)) {
      continue;
    }
    members.emplace(member_id, member);
    wire::GroupMetadataValue::MemberMetadata entry;
    entry.member_id = member_id;
    entry.group_instance_id = member.instance;
    entry.client_id = member.client_id;
    entry.client_host = member.client_host;
    entry.rebalance_timeout = member.rebalance_timeout_ms;
    entry.session_timeout = member.classic->session_timeout_ms;
    for (const Protocol& protocol : member.classic->protocols) {
      if (protocol.name == value.protocol) {
        entry.subscription = protocol.metadata;
      }
    }
    entry.assignment = classic_assignment(group.target_of(member_id), entry.subscription);
    value.members.push_back(std::move(entry));
    consumer_.cancel_all(shard, id, member_id);
  }
  std::vector<Record> tombstones;
  group.tombstones(tombstones);
  for (Record& record : tombstones) {
    shard.stage(std::move(record));  // the last one takes the group out of the shard
  }
  auto made = std::make_shared<ClassicGroup>(id, ++runtime_.last_serial, value);
  ClassicGroup& classic = *made;
  for (auto& [member_id, member] : members) {
    classic.update(*classic.find(member_id), member.classic->protocols, member.rebalance_timeout_ms,
                   member.classic->session_timeout_ms, {});
  }
  shard.groups().emplace(id, std::move(made));
  std::optional<Bytes> bytes = encode_group_value(classic.to_record());
  HW_ASSERT(bytes.has_value(), "what was a record can be one");
  shard.stage({encode_group_key(id), std::move(*bytes)});
  classic_.adopt(shard, classic, why, rebalance, now);
}

}  // namespace hw::groups
