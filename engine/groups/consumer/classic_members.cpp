// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/consumer/classic_members.h"

#include <set>
#include <utility>

namespace hw::groups {
using wire::ErrorCode;

void ClassicMembers::join(Shard& shard, const wire::JoinGroupRequest& request,
                          const RequestContext& context, Now now,
                          const Done<wire::JoinGroupResponse>& done) {
  const std::string& id = request.group_id;
  const ConsumerGroup& group = *shard.find_consumer(id);
  const bool unknown = request.member_id.empty();
  const std::string member_id = unknown ? Uuid::random(runtime_.prng).text() : request.member_id;
  const auto refuse = [&](ErrorCode error, const std::string& member = {}) {
    wire::JoinGroupResponse response;
    response.error_code = error;
    response.member_id = member;
    response.protocol_name.reset();
    runtime_.answer(done, std::move(response));
  };
  std::vector<Protocol> protocols = protocols_of(request);
  if (runtime_.config.consumer_migration_policy == MigrationPolicy::disabled) {
    refuse(ErrorCode::inconsistent_group_protocol);
    return;
  }
  if (consumer_.full(group, member_id, request.group_instance_id)) {
    refuse(ErrorCode::group_max_size_reached);
    return;
  }
  if (!group.supports_classic(request.protocol_type, protocols)) {
    refuse(ErrorCode::inconsistent_group_protocol);
    return;
  }
  if (needs_member_id(request, context.api_version)) {
    refuse(ErrorCode::member_id_required, member_id);
    return;
  }
  const ConsumerMember* known = request.group_instance_id
                                    ? group.find_static(*request.group_instance_id)
                                    : group.find(member_id);
  if (request.group_instance_id && !unknown) {
    if (known == nullptr) {
      refuse(ErrorCode::unknown_member_id);
      return;
    }
    if (known->id != member_id) {
      refuse(ErrorCode::fenced_instance_id);
      return;
    }
  }
  if (member_id.size() > kKeyTextMaxBytes) {
    refuse(ErrorCode::unknown_server_error);
    return;
  }
  const std::optional<ClassicSubscription> said =
      read_subscription(protocols.front().metadata, *runtime_.image);
  if (!said) {
    refuse(ErrorCode::unknown_server_error);
    return;
  }
  const bool downgrades = request.group_instance_id && known != nullptr &&
                          migration_.downgrades_replacing(group, *known);
  const bool was_known = known != nullptr;
  const bool returned = was_known && known->id != member_id;
  if (returned) {
    consumer_.replace(shard, group, *known, member_id);
  }
  ConsumerMember wanted;
  wanted.id = member_id;
  if (const ConsumerMember* member = group.find(member_id); member != nullptr) {
    wanted = *member;
  }
  if (request.group_instance_id) {
    wanted.instance = request.group_instance_id;
  }
  if (said->rack) {
    wanted.rack = said->rack;
  }
  wanted.rebalance_timeout_ms =
      context.api_version == 0 ? request.session_timeout_ms : request.rebalance_timeout_ms;
  wanted.topics = said->topics;
  wanted.regex.clear();
  wanted.client_id = context.client_id;
  wanted.client_host = context.client_host;
  wanted.classic = ClassicSide{request.session_timeout_ms, protocols};

  const ConsumerProtocol::Step step = consumer_.change_member(shard, id, wanted, now);
  const bool stale = group.target_epoch() < group.epoch();
  if (!downgrades) {
    consumer_.update_target(shard, id, now);
  }
  if ((!downgrades || !stale) && !consumer_.reconcile_member(shard, id, member_id, said->owned,
                                                             step.subscription_changed, now)) {
    shard.undo_staged(now);
    refuse(ErrorCode::unknown_member_id);
    return;
  }
  wire::JoinGroupResponse response;
  response.member_id = member_id;
  response.generation_id = group.find(member_id)->epoch;
  response.protocol_type = "consumer";
  response.protocol_name = protocols.front().name;
  ConsumerGroup& changed = *shard.find_consumer(id);
  changed.seen[member_id].connection = context.connection;
  changed.seen[member_id].counters->last_seen_ms.set(now.wall.ms);
  if (downgrades) {
    migration_.downgrade(shard, changed, {}, member_id + " came back with the classic protocol",
                         now, stale);
  } else if (shard.staged()) {
    consumer_.tell(
        shard, id,
        {member_id + " joined with the classic protocol",
         ConsumerProtocol::triggers_of(step, was_known, returned, *changed.find(member_id))},
        now);
  }
  if (!downgrades) {
    // Also for one that is told too late: its records may still be committed, and nobody would watch over it.
    consumer_.start_session(shard, id, member_id, request.session_timeout_ms, now);
  }
  consumer_.finish(
      shard,
      [this, &shard, done, response = std::move(response), id, downgrades,
       request_timeout = wanted.rebalance_timeout_ms,
       session = request.session_timeout_ms](ErrorCode error, Now at) {
        wire::JoinGroupResponse answer = response;
        if (error != ErrorCode::none) {
          answer = wire::JoinGroupResponse();
          answer.error_code = error;
          answer.protocol_name.reset();
        } else if (!downgrades) {
          consumer_.cancel(shard, TimerKey::Kind::member_join, id, response.member_id);
          consumer_.start_session(shard, id, response.member_id, session, at);
          consumer_.schedule(shard, TimerKey::Kind::member_sync, id, response.member_id,
                             request_timeout, at);
        }
        runtime_.answer(done, std::move(answer));
      },
      now);
}

const ConsumerMember* ClassicMembers::member_of(const ConsumerGroup& group,
                                                const std::string& member,
                                                const std::optional<std::string>& instance,
                                                std::int32_t generation, ErrorCode& error) {
  const ConsumerMember* known = instance ? group.find_static(*instance) : group.find(member);
  if (known == nullptr) {
    error = ErrorCode::unknown_member_id;
  } else if (instance && known->id != member) {
    error = ErrorCode::fenced_instance_id;
  } else if (!known->classic) {
    error = ErrorCode::unknown_member_id;
  } else if (known->epoch != generation) {
    error = ErrorCode::illegal_generation;
  } else {
    return known;
  }
  return nullptr;
}

void ClassicMembers::expect_join(Shard& shard, const std::string& group,
                                 const ConsumerMember& member, Now now) {
  if (!runtime_.timers.deadline(
          {shard.partition(), TimerKey::Kind::member_join, group, member.id})) {
    consumer_.schedule(shard, TimerKey::Kind::member_join, group, member.id,
                       member.rebalance_timeout_ms, now);
  }
}

void ClassicMembers::sync(Shard& shard, const wire::SyncGroupRequest& request, Now now,
                          const Done<wire::SyncGroupResponse>& done) {
  const std::string& id = request.group_id;
  const ConsumerGroup& group = *shard.find_consumer(id);
  ErrorCode error = ErrorCode::none;
  const ConsumerMember* member =
      member_of(group, request.member_id, request.group_instance_id, request.generation_id, error);
  if (member != nullptr) {
    const std::string& protocol = member->classic->protocols.front().name;
    if ((request.protocol_type && *request.protocol_type != "consumer") ||
        (request.protocol_name && *request.protocol_name != protocol)) {
      error = ErrorCode::inconsistent_group_protocol;
    } else if (group.target_epoch() > member->epoch && member->state != MemberState::unrevoked) {
      // One that still gives back goes on with that first; it is called again afterwards.
      expect_join(shard, id, *member, now);
      error = ErrorCode::rebalance_in_progress;
    }
  }
  wire::SyncGroupResponse response;
  if (error != ErrorCode::none) {
    response.error_code = error;
    runtime_.answer(done, std::move(response));
    return;
  }
  response.protocol_type = request.protocol_type;
  response.protocol_name = request.protocol_name;
  response.assignment = migration_.classic_assignment(without_epochs(member->assigned),
                                                      member->classic->protocols.front().metadata);
  shard.when_settled(
      [this, &shard, done, id, member_id = member->id, response = std::move(response),
       session = member->classic->session_timeout_ms](ErrorCode failed, Now at) {
        wire::SyncGroupResponse answer = response;
        if (failed != ErrorCode::none) {
          answer = wire::SyncGroupResponse();
          answer.error_code = failed;
        } else {
          consumer_.cancel(shard, TimerKey::Kind::member_sync, id, member_id);
          consumer_.start_session(shard, id, member_id, session, at);
        }
        runtime_.answer(done, std::move(answer));
      },
      now);
}

void ClassicMembers::heartbeat(Shard& shard, const wire::HeartbeatRequest& request, Now now,
                               const Done<wire::HeartbeatResponse>& done) {
  const std::string& id = request.group_id;
  ConsumerGroup& group = *shard.find_consumer(id);
  ErrorCode error = ErrorCode::none;
  const ConsumerMember* member =
      member_of(group, request.member_id, request.group_instance_id, request.generation_id, error);
  if (member == nullptr) {
    wire::HeartbeatResponse response;
    response.error_code = error;
    runtime_.answer(done, std::move(response));
    return;
  }
  consumer_.start_session(shard, id, member->id, member->classic->session_timeout_ms, now);
  auto& counters = *group.seen[member->id].counters;
  counters.last_seen_ms.set(now.wall.ms);
  counters.heartbeats.add(1);
  // There is a new target, something to give back, or something to get.
  if (member->epoch < group.target_epoch() || member->state == MemberState::unrevoked ||
      (member->state == MemberState::unreleased && !group.waits_for_partition(*member))) {
    error = ErrorCode::rebalance_in_progress;
    expect_join(shard, id, *member, now);
  }
  shard.when_settled(
      [this, done, error](ErrorCode failed, Now) {
        wire::HeartbeatResponse response;
        response.error_code = failed != ErrorCode::none ? failed : error;
        runtime_.answer(done, std::move(response));
      },
      now);
}

void ClassicMembers::leave(Shard& shard, const wire::LeaveGroupRequest& request, Now now,
                           const Done<wire::LeaveGroupResponse>& done) {
  const std::string& id = request.group_id;
  const ConsumerGroup& group = *shard.find_consumer(id);
  wire::LeaveGroupResponse response;
  std::set<std::string> leaving;
  for (const auto& identity : request.members) {
    auto& answer = response.members.emplace_back();
    answer.member_id = identity.member_id;
    answer.group_instance_id = identity.group_instance_id;
    const ConsumerMember* member = identity.group_instance_id
                                       ? group.find_static(*identity.group_instance_id)
                                       : group.find(identity.member_id);
    if (member == nullptr) {
      answer.error_code = ErrorCode::unknown_member_id;
    } else if (!identity.member_id.empty() && member->id != identity.member_id) {
      answer.error_code = ErrorCode::fenced_instance_id;
    } else {
      leaving.insert(member->id);
    }
  }
  consumer_.fence(shard, id, leaving, EpochTracker::Cause::member_left, "LeaveGroup", now);
  consumer_.finish(
      shard,
      [this, done, response = std::move(response)](ErrorCode error, Now) {
        wire::LeaveGroupResponse answer = response;
        if (error != ErrorCode::none) {
          answer.members.clear();
          answer.error_code = error;
        }
        runtime_.answer(done, std::move(answer));
      },
      now);
}

}  // namespace hw::groups
