// SPDX-License-Identifier: Apache-2.0
#include "engine/client/assignor.h"

#include <algorithm>
#include <set>

#include "engine/wire/msg/consumer_protocol_assignment.h"
#include "engine/wire/msg/consumer_protocol_subscription.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

namespace hw::client {
namespace {

constexpr std::int16_t kSubscriptionVersion = 3;
constexpr std::int16_t kAssignmentVersion = 3;

// A version in front, then the message; newer versions than ours only add to the end.
template <class T>
Bytes versioned(const T& message, std::int16_t version) {
  wire::Writer writer;
  writer.int16(version);
  const bool good = encode(writer, message, version);
  HW_ASSERT(good && writer.ok(), "the consumer protocol carries names and numbers");
  return writer.finish().flatten();
}
template <class T>
bool read_versioned(const Bytes& bytes, T& message) {
  wire::Reader reader(bytes);
  const std::int16_t version = reader.int16();
  return reader.ok() && version >= 0 && decode(reader, message, std::min(version, T::kHighestVersion));
}

template <class Topics>
std::vector<TopicPartition> flat(const Topics& topics) {
  std::vector<TopicPartition> partitions;
  for (const auto& topic : topics) {
    for (const PartitionIndex partition : topic.partitions) {
      partitions.emplace_back(topic.topic, partition.value());
    }
  }
  return partitions;
}
template <class Topics>
void nest(const std::vector<TopicPartition>& partitions, Topics& topics) {
  for (const auto& [topic, partition] : partitions) {
    if (topics.empty() || topics.back().topic != topic) {
      topics.emplace_back();
      topics.back().topic = topic;
    }
    topics.back().partitions.emplace_back(partition);
  }
}

// User data of Kafka's StickyAssignor: [topic, [partition]], generation. Version 0 had no generation.
Bytes encode_previous(const std::vector<TopicPartition>& owned, std::int32_t generation) {
  wire::ConsumerProtocolAssignment topics;
  nest(owned, topics.assigned_partitions);
  wire::Writer writer;
  writer.int32(static_cast<std::int32_t>(topics.assigned_partitions.size()));
  for (const auto& topic : topics.assigned_partitions) {
    writer.string(topic.topic, false);
    writer.int32(static_cast<std::int32_t>(topic.partitions.size()));
    for (const PartitionIndex partition : topic.partitions) {
      writer.int32(partition.value());
    }
  }
  writer.int32(generation);
  return writer.finish().flatten();
}
void decode_previous(const Bytes& bytes, Subscription& subscription) {
  wire::Reader reader(bytes);
  std::vector<TopicPartition> owned;
  const std::int32_t topics = reader.int32();
  for (std::int32_t i = 0; i < topics && reader.ok(); ++i) {
    const std::string topic = reader.string(false);
    const std::int32_t count = reader.int32();
    for (std::int32_t n = 0; n < count && reader.ok(); ++n) {
      owned.emplace_back(topic, reader.int32());
    }
  }
  if (!reader.ok()) {
    return;  // another program's user data: nothing is known
  }
  subscription.owned = std::move(owned);
  subscription.generation = reader.remaining() >= 4 ? reader.int32() : -1;
}

Assignment assign_range(const std::vector<GroupMember>& members, const std::map<std::string, std::int32_t>& partitions) {
  Assignment assigned;
  std::map<std::string, std::vector<std::string>> subscribers;
  for (const GroupMember& member : members) {
    assigned[member.id];
    for (const std::string& topic : member.topics) {
      std::vector<std::string>& ids = subscribers[topic];
      if (ids.empty() || ids.back() != member.id) {
        ids.push_back(member.id);
      }
    }
  }
  for (const auto& [topic, ids] : subscribers) {
    const auto known = partitions.find(topic);
    if (known == partitions.end()) {
      continue;
    }
    const auto count = static_cast<std::size_t>(std::max(known->second, 0));
    std::size_t next = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::size_t share = count / ids.size() + (i < count % ids.size() ? 1 : 0);
      for (std::size_t n = 0; n < share; ++n) {
        assigned[ids[i]].emplace_back(topic, static_cast<std::int32_t>(next++));
      }
    }
  }
  return assigned;
}

Assignment assign_round_robin(const std::vector<GroupMember>& members,
                              const std::map<std::string, std::int32_t>& partitions) {
  Assignment assigned;
  std::vector<std::set<std::string>> topics_of;
  std::set<std::string> topics;
  for (const GroupMember& member : members) {
    assigned[member.id];
    topics_of.emplace_back(member.topics.begin(), member.topics.end());
    topics.insert(member.topics.begin(), member.topics.end());
  }
  std::size_t turn = 0;
  for (const std::string& topic : topics) {
    const auto known = partitions.find(topic);
    for (std::int32_t i = 0; known != partitions.end() && i < known->second; ++i) {
      while (!topics_of[turn].contains(topic)) {
        turn = (turn + 1) % members.size();
      }
      assigned[members[turn].id].emplace_back(topic, i);
      turn = (turn + 1) % members.size();
    }
  }
  return assigned;
}

// What one member has and another is to get is left out: who has it gives it up first, and rejoins.
void withhold_moves(const std::vector<GroupMember>& members, Assignment& assigned) {
  std::map<TopicPartition, const std::string*> owners;
  for (const GroupMember& member : members) {
    for (const TopicPartition& partition : member.owned) {
      owners[partition] = &member.id;
    }
  }
  for (auto& [id, partitions] : assigned) {
    std::erase_if(partitions, [&, &self = id](const TopicPartition& partition) {
      const auto owner = owners.find(partition);
      return owner != owners.end() && *owner->second != self;
    });
  }
}

}  // namespace

const char* assignor_name(Assignor assignor) noexcept {
  switch (assignor) {
    case Assignor::range:
      return "range";
    case Assignor::round_robin:
      return "roundrobin";
    case Assignor::sticky:
      return "sticky";
    case Assignor::cooperative_sticky:
      return "cooperative-sticky";
  }
  return "range";
}

std::optional<Assignor> parse_assignor(std::string_view name) noexcept {
  for (const Assignor assignor :
       {Assignor::range, Assignor::round_robin, Assignor::sticky, Assignor::cooperative_sticky}) {
    if (name == assignor_name(assignor)) {
      return assignor;
    }
  }
  return std::nullopt;
}

bool cooperates(Assignor assignor) noexcept { return assignor == Assignor::cooperative_sticky; }

void sort_members(std::vector<GroupMember>& members) {
  std::sort(members.begin(), members.end(), [](const GroupMember& a, const GroupMember& b) {
    if (a.instance_id.has_value() != b.instance_id.has_value()) {
      return a.instance_id.has_value();
    }
    return a.instance_id ? *a.instance_id < *b.instance_id : a.id < b.id;
  });
}

Assignment assign(Assignor assignor, std::vector<GroupMember> members,
                  const std::map<std::string, std::int32_t>& partitions) {
  sort_members(members);
  switch (assignor) {
    case Assignor::range:
      return assign_range(members, partitions);
    case Assignor::round_robin:
      return assign_round_robin(members, partitions);
    case Assignor::sticky:
      return assign_sticky(members, partitions);
    case Assignor::cooperative_sticky: {
      Assignment assigned = assign_sticky(members, partitions);
      withhold_moves(members, assigned);
      return assigned;
    }
  }
  return {};
}

Bytes encode_subscription(Assignor assignor, const Subscription& subscription) {
  wire::ConsumerProtocolSubscription message;
  message.topics = subscription.topics;
  std::vector<TopicPartition> owned = subscription.owned;
  std::sort(owned.begin(), owned.end());
  if (assignor == Assignor::sticky) {
    message.user_data = encode_previous(owned, subscription.generation);  // eager: it owns nothing while it joins
  } else if (assignor == Assignor::cooperative_sticky) {
    nest(owned, message.owned_partitions);
    message.generation_id = subscription.generation;
    wire::Writer writer;
    writer.int32(subscription.generation);
    message.user_data = writer.finish().flatten();
  }
  message.rack_id = subscription.rack;
  return versioned(message, kSubscriptionVersion);
}

std::optional<Subscription> decode_subscription(Assignor assignor, const Bytes& metadata) {
  wire::ConsumerProtocolSubscription message;
  if (!read_versioned(metadata, message)) {
    return std::nullopt;
  }
  Subscription subscription;
  subscription.topics = std::move(message.topics);
  subscription.rack = std::move(message.rack_id);
  if (assignor == Assignor::sticky) {
    if (message.user_data) {
      decode_previous(*message.user_data, subscription);
    }
    return subscription;
  }
  subscription.owned = flat(message.owned_partitions);
  subscription.generation = message.generation_id;
  if (assignor == Assignor::cooperative_sticky && subscription.generation < 0 && message.user_data) {
    wire::Reader reader(*message.user_data);  // members whose subscription has no such field (before version 2)
    const std::int32_t generation = reader.int32();
    subscription.generation = reader.ok() ? generation : -1;
  }
  return subscription;
}

Bytes encode_assignment(const std::vector<TopicPartition>& partitions) {
  wire::ConsumerProtocolAssignment assignment;
  nest(partitions, assignment.assigned_partitions);
  return versioned(assignment, kAssignmentVersion);
}

std::optional<std::vector<TopicPartition>> decode_assignment(const Bytes& bytes) {
  if (bytes.empty()) {
    return std::vector<TopicPartition>{};  // a leader that gives a member nothing may leave it out
  }
  wire::ConsumerProtocolAssignment assignment;
  if (!read_versioned(bytes, assignment)) {
    return std::nullopt;
  }
  return flat(assignment.assigned_partitions);
}

}  // namespace hw::client
