// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include <utility>

#include "engine/base/assert.h"

namespace hw::groups::test {

Config World::fast() {
  Config config;
  config.group_initial_rebalance_delay_ms = 0;
  config.offsets_topic_num_partitions = 1;
  return config;
}

World::World(Config config, std::uint64_t seed) : coordinator(config, Prng(seed)) {
  for (std::int32_t p = 0; p < config.offsets_topic_num_partitions; ++p) {
    load(p);
  }
}

RequestContext World::context(std::int16_t version, const std::string& client) const {
  return {version, client, "/127.0.0.1", ConnectionId(1)};
}

Answer<wire::JoinGroupResponse> World::join(const std::string& group, const std::string& member,
                                            const JoinOptions& options) {
  wire::JoinGroupRequest request;
  request.group_id = group;
  request.member_id = member;
  request.group_instance_id = options.instance;
  request.session_timeout_ms = options.session_ms;
  request.rebalance_timeout_ms = options.rebalance_ms;
  request.protocol_type = options.type;
  request.reason = options.reason;
  for (const auto& [name, metadata] : options.protocols) {
    wire::JoinGroupRequest::JoinGroupRequestProtocol protocol;
    protocol.name = name;
    protocol.metadata = Bytes::copy_of(metadata);
    request.protocols.push_back(std::move(protocol));
  }
  Answer<wire::JoinGroupResponse> answer;
  coordinator.join(request, context(options.version, options.client), now, answer.done());
  pump();
  advance(0);
  return answer;
}

Answer<wire::SyncGroupResponse> World::sync(const std::string& group, std::int32_t generation,
                                            const std::string& member,
                                            const std::map<std::string, std::string>& assignments,
                                            const std::optional<std::string>& instance,
                                            const std::string& protocol,
                                            const std::string& type) {
  wire::SyncGroupRequest request;
  request.group_id = group;
  request.generation_id = generation;
  request.member_id = member;
  request.group_instance_id = instance;
  request.protocol_type = type;
  request.protocol_name = protocol;
  for (const auto& [id, bytes] : assignments) {
    wire::SyncGroupRequest::SyncGroupRequestAssignment assignment;
    assignment.member_id = id;
    assignment.assignment = Bytes::copy_of(bytes);
    request.assignments.push_back(std::move(assignment));
  }
  Answer<wire::SyncGroupResponse> answer;
  coordinator.sync(request, context(5), now, answer.done());
  pump();
  return answer;
}

Answer<wire::HeartbeatResponse> World::heartbeat_later(const std::string& group,
                                                       std::int32_t generation,
                                                       const std::string& member,
                                                       const std::optional<std::string>& instance) {
  wire::HeartbeatRequest request;
  request.group_id = group;
  request.generation_id = generation;
  request.member_id = member;
  request.group_instance_id = instance;
  Answer<wire::HeartbeatResponse> answer;
  coordinator.heartbeat(request, context(4), now, answer.done());
  pump();
  return answer;
}

wire::ErrorCode World::heartbeat(const std::string& group, std::int32_t generation,
                                 const std::string& member,
                                 const std::optional<std::string>& instance) {
  return heartbeat_later(group, generation, member, instance)->error_code;
}

wire::LeaveGroupResponse World::leave(const std::string& group,
                                      const std::vector<Leaver>& leavers) {
  wire::LeaveGroupRequest request;
  request.group_id = group;
  for (const Leaver& leaver : leavers) {
    wire::LeaveGroupRequest::MemberIdentity identity;
    identity.member_id = leaver.member;
    identity.group_instance_id = leaver.instance;
    identity.reason = leaver.reason;
    request.members.push_back(std::move(identity));
  }
  Answer<wire::LeaveGroupResponse> answer;
  coordinator.leave(request, context(5), now, answer.done());
  pump();
  return *answer;
}

Answer<wire::OffsetCommitResponse> World::commit_later(const std::string& group,
                                                       const std::string& topic,
                                                       std::int64_t offset, std::int32_t generation,
                                                       const std::string& member,
                                                       const CommitOptions& options) {
  wire::OffsetCommitRequest request;
  request.group_id = group;
  request.generation_id_or_member_epoch = generation;
  request.member_id = member;
  request.group_instance_id = options.instance;
  request.retention_time_ms = options.retention_ms;
  wire::OffsetCommitRequest::OffsetCommitRequestTopic asked;
  asked.name = topic;
  asked.topic_id = options.topic_id;
  wire::OffsetCommitRequest::OffsetCommitRequestPartition partition;
  partition.partition_index = PartitionIndex(options.partition);
  partition.committed_offset = Offset(offset);
  partition.committed_leader_epoch = LeaderEpoch(3);
  partition.committed_metadata = options.metadata;
  asked.partitions.push_back(std::move(partition));
  request.topics.push_back(std::move(asked));
  Answer<wire::OffsetCommitResponse> answer;
  coordinator.commit_offsets(request, context(options.version), now, answer.done());
  pump();
  return answer;
}

wire::ErrorCode World::commit(const std::string& group, const std::string& topic,
                              std::int64_t offset, std::int32_t generation,
                              const std::string& member, const CommitOptions& options) {
  return commit_later(group, topic, offset, generation, member, options)
      ->topics.front()
      .partitions.front()
      .error_code;
}

Answer<wire::OffsetFetchResponse> World::fetch_later(const std::string& group,
                                                     const std::string& topic,
                                                     const std::vector<std::int32_t>& partitions,
                                                     bool stable) {
  wire::OffsetFetchRequest request;
  wire::OffsetFetchRequest::OffsetFetchRequestGroup asked;
  asked.group_id = group;
  wire::OffsetFetchRequest::OffsetFetchRequestTopics of_topic;
  of_topic.name = topic;
  for (const std::int32_t partition : partitions) {
    of_topic.partition_indexes.push_back(PartitionIndex(partition));
  }
  asked.topics.emplace();
  asked.topics->push_back(std::move(of_topic));
  request.groups.push_back(std::move(asked));
  request.require_stable = stable;
  Answer<wire::OffsetFetchResponse> answer;
  coordinator.fetch_offsets(request, context(9), now, answer.done());
  pump();
  return answer;
}

std::int64_t World::fetch(const std::string& group, const std::string& topic,
                          std::int32_t partition) {
  return fetch_later(group, topic, {partition}, false)
      ->groups.at(0)
      .topics.at(0)
      .partitions.at(0)
      .committed_offset.value();
}

wire::OffsetFetchResponse::OffsetFetchResponseGroup World::fetch_all(const std::string& group) {
  wire::OffsetFetchRequest request;
  wire::OffsetFetchRequest::OffsetFetchRequestGroup asked;
  asked.group_id = group;
  asked.topics.reset();
  request.groups.push_back(std::move(asked));
  Answer<wire::OffsetFetchResponse> answer;
  coordinator.fetch_offsets(request, context(9), now, answer.done());
  return answer->groups.at(0);
}

wire::DescribeGroupsResponse::DescribedGroup World::describe(const std::string& group) {
  wire::DescribeGroupsRequest request;
  request.groups = {group};
  Answer<wire::DescribeGroupsResponse> answer;
  coordinator.describe_groups(request, context(6), now, answer.done());
  return answer->groups.at(0);
}

std::vector<std::string> World::list(const std::vector<std::string>& states,
                                     const std::vector<std::string>& types) {
  wire::ListGroupsRequest request;
  request.states_filter = states;
  request.types_filter = types;
  Answer<wire::ListGroupsResponse> answer;
  coordinator.list_groups(request, context(5), now, answer.done());
  std::vector<std::string> names;
  for (const auto& group : answer->groups) {
    names.push_back(group.group_id + "/" + group.group_state + "/" + group.group_type + "/" +
                    group.protocol_type);
  }
  return names;
}

wire::ErrorCode World::remove(const std::string& group) {
  return remove_later(group)->results.at(0).error_code;
}

Answer<wire::DeleteGroupsResponse> World::remove_later(const std::string& group) {
  wire::DeleteGroupsRequest request;
  request.groups_names = {group};
  Answer<wire::DeleteGroupsResponse> answer;
  coordinator.delete_groups(request, context(2), now, answer.done());
  pump();
  return answer;
}

std::string World::member_id(const std::string& group, const JoinOptions& options) {
  return join(group, "", options)->member_id;
}

std::string World::lone_member(const std::string& group, const JoinOptions& options) {
  std::string id =
      options.instance || options.version < 4 ? std::string() : member_id(group, options);
  const Answer<wire::JoinGroupResponse> joined = join(group, id, options);
  id = joined->member_id;
  sync(group, joined->generation_id, id, {{id, "A"}}, options.instance,
       joined->protocol_name.value_or(""), options.type);
  return id;
}

void World::advance(std::int64_t ms) {
  const Instant until = now.instant + milliseconds(ms);
  const WallTime wall_until{now.wall.ms + ms};
  while (coordinator.next_deadline() <= until) {
    const Instant at = coordinator.next_deadline();
    if (at > now.instant) {
      now.wall.ms += (at - now.instant).ms();
      now.instant = at;
    }
    coordinator.tick(now);
    pump();
  }
  now.instant = until;
  now.wall = wall_until;
}

void World::pump() {
  while (coordinator.has_outputs()) {
    Outputs out = coordinator.take();
    for (event::Any& event : out.events) {
      events.push_back(std::move(event));
    }
    for (Outputs::Append& append : out.appends) {
      if (!coordinator.pending(append.id)) {
        continue;
      }
      if (hold) {
        held.push_back(std::move(append));
        continue;
      }
      auto& records = log[append.partition.value()];
      records.insert(records.end(), append.records.begin(), append.records.end());
      coordinator.on_committed(append.id, wire::ErrorCode::none, now);
    }
  }
}

void World::commit_held() {
  hold = false;
  while (!held.empty()) {
    Outputs::Append append = std::move(held.front());
    held.erase(held.begin());
    if (!coordinator.pending(append.id)) {
      continue;
    }
    auto& records = log[append.partition.value()];
    records.insert(records.end(), append.records.begin(), append.records.end());
    coordinator.on_committed(append.id, wire::ErrorCode::none, now);
    pump();
  }
}

void World::fail_held(wire::ErrorCode error) {
  hold = false;
  HW_ASSERT(!held.empty(), "an append is held");
  Outputs::Append append = std::move(held.front());
  held.erase(held.begin());
  coordinator.on_committed(append.id, error, now);
  pump();
}

void World::load(std::int32_t partition) {
  coordinator.begin_load(PartitionIndex(partition));
  for (const Record& record : log[partition]) {
    coordinator.load_record(PartitionIndex(partition), record, now);
  }
  coordinator.end_load(PartitionIndex(partition), now);
  pump();
}

}  // namespace hw::groups::test
