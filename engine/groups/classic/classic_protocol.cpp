// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/classic/classic_protocol.h"

#include <algorithm>
#include <utility>

#include "engine/base/assert.h"
#include "engine/base/trial.h"

namespace hw::groups {
namespace {

using wire::ErrorCode;
using Cause = RebalanceTracker::Cause;

// A new member that waits for its first generation is given up after this long: its client has
// surely retried.
constexpr std::int64_t kNewMemberJoinTimeoutMs = 5 * 60 * 1'000;
// Members that were given an id and never came back, per group; beyond it the group counts as full.
constexpr std::size_t kPendingMembersMax = 100'000;
constexpr std::int16_t kMemberIdRequiredFrom = 4;  // JoinGroup, KIP-394
constexpr std::int16_t kSkipAssignmentFrom = 9;    // JoinGroup, KIP-814

wire::JoinGroupResponse join_error(ErrorCode error, std::string member_id) {
  wire::JoinGroupResponse response;
  response.error_code = error;
  response.member_id = std::move(member_id);
  return response;
}

wire::SyncGroupResponse sync_error(ErrorCode error) {
  wire::SyncGroupResponse response;
  response.error_code = error;
  return response;
}

// What the group is now, as one member's answer to JoinGroup.
wire::JoinGroupResponse join_answer(const ClassicGroup& group, const std::string& member_id,
                                    bool with_members) {
  wire::JoinGroupResponse response;
  response.generation_id = group.generation();
  response.protocol_type = group.protocol_type();
  response.protocol_name = group.protocol_name();
  response.leader = group.leader().value_or(std::string());
  response.member_id = member_id;
  if (with_members) {
    for (const auto& [id, member] : group.members()) {
      wire::JoinGroupResponse::JoinGroupResponseMember entry;
      entry.member_id = id;
      entry.group_instance_id = member.instance_id;
      if (const Protocol* protocol =
              member.find_protocol(group.protocol_name().value_or(std::string()));
          protocol != nullptr) {
        entry.metadata = protocol->metadata;
      }
      response.members.push_back(std::move(entry));
    }
  }
  return response;
}

std::string said(const std::optional<std::string>& reason) {
  return reason && !reason->empty() ? ": " + *reason : std::string();
}

std::string seconds_text(std::int64_t ms) {
  return ms % 1'000 == 0 ? std::to_string(ms / 1'000) + " s" : std::to_string(ms) + " ms";
}

}  // namespace

std::vector<Protocol> protocols_of(const wire::JoinGroupRequest& request) {
  std::vector<Protocol> protocols;
  protocols.reserve(request.protocols.size());
  for (const auto& given : request.protocols) {
    const bool known =
        std::any_of(protocols.begin(), protocols.end(),
                    [&](const Protocol& protocol) { return protocol.name == given.name; });
    if (!known) {
      protocols.push_back({given.name, Bytes::copy_of(given.metadata.span())});
    }
  }
  return protocols;
}

bool needs_member_id(const wire::JoinGroupRequest& request, std::int16_t version) noexcept {
  return request.member_id.empty() && !request.group_instance_id &&
         version >= kMemberIdRequiredFrom;
}

// ----------------------------------------------------------------------------------------------------------
// JoinGroup

void ClassicProtocol::join(Shard& shard, const wire::JoinGroupRequest& request,
                           const RequestContext& context, Now now, const Waiting& done) {
  const bool unknown_member = request.member_id.empty();
  ClassicGroup* group = shard.find_classic(request.group_id);
  const bool created = group == nullptr;
  if (created) {
    if (!unknown_member) {
      runtime_.answer(done, join_error(ErrorCode::unknown_member_id, request.member_id));
      return;
    }
    group = &shard.create_classic(request.group_id, now);
  }
  const AppendId before = runtime_.last_append;
  const std::uint64_t serial = group->serial();

  std::vector<Protocol> protocols = protocols_of(request);
  if (!accepts(*group, request.member_id)) {
    remove_member(shard, *group, request.member_id);
    runtime_.answer(done, join_error(ErrorCode::group_max_size_reached, std::string()));
  } else if (!group->supports(request.protocol_type, protocols)) {
    runtime_.answer(done, join_error(ErrorCode::inconsistent_group_protocol, request.member_id));
  } else if (unknown_member) {
    join_new(shard, *group, request, context, std::move(protocols), now, done);
  } else {
    join_existing(shard, *group, request, context, std::move(protocols), now, done);
  }

  // A group that is new and has written nothing else writes that it exists; should that fail, it
  // never did.
  if (created && runtime_.last_append == before) {
    wire::GroupMetadataValue value;
    value.current_state_timestamp = now.wall.ms;
    value.protocol.reset();
    value.leader.reset();
    std::optional<Bytes> bytes = encode_group_value(value);
    HW_ASSERT(bytes.has_value(), "an empty group can be written");
    shard.append({{encode_group_key(request.group_id), std::move(*bytes)}},
                 [this, &shard, id = request.group_id, serial](ErrorCode error, Now) {
                   if (ClassicGroup* found = shard.find_classic(id, serial);
                       error != ErrorCode::none && found != nullptr) {
                     abandon(shard, *found, error);
                     shard.groups().erase(id);
                   }
                 });
  }
}

bool ClassicProtocol::accepts(ClassicGroup& group, std::string_view member) const {
  const auto most = static_cast<std::size_t>(runtime_.config.group_max_size);
  if (member.empty() && group.pending_size() >= kPendingMembersMax) {
    return false;
  }
  switch (group.state()) {
    case ClassicState::empty:
    case ClassicState::dead:
      return true;
    case ClassicState::preparing_rebalance: {
      // Those who have joined count, not those who are known: the last ones to come back are turned
      // away.
      const ClassicMember* known = group.find(member);
      return (known != nullptr && known->awaiting_join) || group.awaiting_join() < most;
    }
    case ClassicState::completing_rebalance:
    case ClassicState::stable:
      return group.has(member) || group.size() < most;
  }
  return false;
}

void ClassicProtocol::join_new(Shard& shard, ClassicGroup& group,
                               const wire::JoinGroupRequest& request, const RequestContext& context,
                               std::vector<Protocol> protocols, Now now, const Waiting& done) {
  const std::string& stem =
      request.group_instance_id ? *request.group_instance_id : context.client_id;
  const std::string member_id = stem + "-" + Uuid::random(runtime_.prng).hex();
  if (request.group_instance_id) {
    if (const std::optional<std::string> known = group.static_member(*request.group_instance_id)) {
      replace_static(shard, group, *known, member_id, request, context, std::move(protocols), now,
                     done);
    } else {
      add_member(shard, group, member_id, request, context, std::move(protocols), now, done);
    }
  } else if (needs_member_id(request, context.api_version)) {
    group.add_pending(member_id);
    schedule(shard, TimerKey::Kind::heartbeat, group, member_id, request.session_timeout_ms, now);
    runtime_.answer(done, join_error(ErrorCode::member_id_required, member_id));
  } else {
    add_member(shard, group, member_id, request, context, std::move(protocols), now, done);
  }
}

void ClassicProtocol::join_existing(Shard& shard, ClassicGroup& group,
                                    const wire::JoinGroupRequest& request,
                                    const RequestContext& context, std::vector<Protocol> protocols,
                                    Now now, const Waiting& done) {
  const std::string& id = request.member_id;
  if (group.is_pending(id)) {
    if (request.group_instance_id) {  // only dynamic members are ever asked to come back
      runtime_.answer(done, join_error(ErrorCode::unknown_server_error, id));
      return;
    }
    add_member(shard, group, id, request, context, std::move(protocols), now, done);
    return;
  }
  if (const ErrorCode error = group.validate_member(id, request.group_instance_id);
      error != ErrorCode::none) {
    runtime_.answer(done, join_error(error, id));
    return;
  }
  ClassicMember& member = *group.find(id);
  member.connection = context.connection;
  const std::int32_t rebalance_timeout =
      context.api_version == 0 ? request.session_timeout_ms : request.rebalance_timeout_ms;
  member.seen(now);
  const auto rejoin = [&](Cause cause, const std::string& reason) {
    Why why{reason, {}};
    // Whoever comes back because it was called is no reason of its own.
    if (cause != Cause::member_rejoined || !group.in(ClassicState::preparing_rebalance)) {
      why.triggers.push_back(trigger_of(cause, member, request.reason));
    }
    if (Waiting earlier = group.take_join(member)) {
      // The same member asks again, on another connection: only the last one is answered in the
      // end.
      runtime_.answer(earlier, join_error(ErrorCode::rebalance_in_progress, id));
    }
    group.update(member, std::move(protocols), rebalance_timeout, request.session_timeout_ms, done);
    rebalance_or_complete(shard, group, why, now);
    group.rebalance.joined(id, now);
  };
  switch (group.state()) {
    case ClassicState::preparing_rebalance:
      rejoin(Cause::member_rejoined, id + " joined again" + said(request.reason));
      return;
    case ClassicState::completing_rebalance:
      if (member.protocols == protocols) {  // it may not have got the answer
        runtime_.answer(done, join_answer(group, id, group.is_leader(id)));
      } else {
        rejoin(Cause::subscription_changed,
               id + " changed its subscription" + said(request.reason));
      }
      return;
    case ClassicState::stable:
      if (group.is_leader(
              id)) {  // the leader may have seen a change that its own metadata does not show
        rejoin(member.protocols == protocols ? Cause::member_rejoined : Cause::subscription_changed,
               "the leader " + id + " joined again" + said(request.reason));
      } else if (member.protocols != protocols) {
        rejoin(Cause::subscription_changed,
               id + " changed its subscription" + said(request.reason));
      } else {
        runtime_.answer(done, join_answer(group, id, false));
      }
      return;
    case ClassicState::empty:
    case ClassicState::dead:
      runtime_.answer(done, join_error(ErrorCode::unknown_member_id, id));
      return;
  }
}

void ClassicProtocol::add_member(Shard& shard, ClassicGroup& group, const std::string& member_id,
                                 const wire::JoinGroupRequest& request,
                                 const RequestContext& context, std::vector<Protocol> protocols,
                                 Now now, const Waiting& done) {
  ClassicMember member;
  member.id = member_id;
  member.instance_id = request.group_instance_id;
  member.client_id = context.client_id;
  member.client_host = context.client_host;
  member.rebalance_timeout_ms =
      context.api_version == 0 ? request.session_timeout_ms : request.rebalance_timeout_ms;
  member.session_timeout_ms = request.session_timeout_ms;
  member.protocol_type = request.protocol_type;
  member.protocols = std::move(protocols);
  member.connection = context.connection;
  member.is_new = true;
  if (group.in(ClassicState::preparing_rebalance) &&
      group.previous_state() == ClassicState::empty) {
    group.new_member_added = true;  // worth waiting a little longer
  }
  member.seen(now);
  const Why why{member_id + " joined" + said(request.reason),
                {trigger_of(Cause::member_joined, member, request.reason)}};
  group.add(std::move(member), done);
  // It cannot send heartbeats while it waits, and a dead connection is not seen either; a client
  // retries long before.
  schedule(shard, TimerKey::Kind::heartbeat, group, member_id, kNewMemberJoinTimeoutMs, now);
  rebalance_or_complete(shard, group, why, now);
  group.rebalance.joined(member_id, now);
}

void ClassicProtocol::replace_static(Shard& shard, ClassicGroup& group, const std::string& old_id,
                                     const std::string& new_id,
                                     const wire::JoinGroupRequest& request,
                                     const RequestContext& context, std::vector<Protocol> protocols,
                                     Now now, const Waiting& done) {
  const std::string instance = *request.group_instance_id;
  const std::optional<std::string> old_leader = group.leader();
  ClassicMember& old_member = *group.find(old_id);
  // Whoever still waits under the old id is a second process with the same instance id: it is
  // fenced.
  wire::JoinGroupResponse fenced_join = join_error(ErrorCode::fenced_instance_id, old_id);
  fenced_join.protocol_name.reset();
  runtime_.answer(group.take_join(old_member), std::move(fenced_join));
  runtime_.answer(ClassicGroup::take_sync(old_member), sync_error(ErrorCode::fenced_instance_id));
  ClassicMember before = old_member;  // for the way back
  ClassicMember& member = group.rename_static(instance, old_id, new_id);
  cancel(shard, TimerKey::Kind::heartbeat, group, old_id);
  group.pending_sync().erase(old_id);
  member.connection = context.connection;
  member.seen(now);
  group.update(member, std::move(protocols),
               context.api_version == 0 ? request.session_timeout_ms : request.rebalance_timeout_ms,
               request.session_timeout_ms, done);
  // Its client has just spoken; the session begins anew.
  schedule(shard, TimerKey::Kind::heartbeat, group, new_id, before.session_timeout_ms, now);

  switch (group.state()) {
    case ClassicState::stable: {
      if (group.protocol_name().value_or(std::string()) != group.select_protocol()) {
        rebalance_or_complete(shard, group,
                              {"static member " + instance + " came back with another protocol" +
                                   said(request.reason),
                               {trigger_of(Cause::static_returned, member, request.reason)}},
                              now);
        group.rebalance.joined(new_id, now);
        return;
      }
      const bool skip = context.api_version >= kSkipAssignmentFrom;
      write_group(
          shard, group, nullptr,
          [this, &shard, id = group.id(), serial = group.serial(), instance, new_id, old_id,
           old_leader, skip, before = std::move(before)](ErrorCode error, Now at) {
            ClassicGroup* found = shard.find_classic(id, serial);
            ClassicMember* renamed = found == nullptr ? nullptr : found->find(new_id);
            if (renamed == nullptr) {
              return;  // it left meanwhile, and was answered then
            }
            if (error == ErrorCode::none) {
              static_stored(shard, id, serial, new_id, skip, old_leader, at);
              return;
            }
            wire::JoinGroupResponse response = join_answer(*found, std::string(), false);
            response.error_code = error;
            response.leader = old_leader.value_or(std::string());
            runtime_.answer(found->take_join(*renamed), std::move(response));
            found->update(*renamed, before.protocols, before.rebalance_timeout_ms,
                          before.session_timeout_ms, {});
            cancel(shard, TimerKey::Kind::heartbeat, *found, new_id);
            if (renamed->awaiting_sync) {
              runtime_.answer(ClassicGroup::take_sync(*renamed), sync_error(error));
            }
            ClassicMember& restored = found->rename_static(instance, new_id, old_id);
            restart_session(shard, *found, restored, at);
          },
          now);
      return;
    }
    case ClassicState::completing_rebalance:
      // The leader may hold the old id already; its assignment would miss the new one.
      prepare_rebalance(shard, group,
                        {"static member " + instance + " came back while assignments were made" +
                             said(request.reason),
                         {trigger_of(Cause::static_returned, member, request.reason)}},
                        now);
      group.rebalance.joined(new_id, now);
      return;
    case ClassicState::preparing_rebalance:
      group.rebalance.joined(new_id, now);
      complete_join_if_all(shard, group, now);
      return;
    case ClassicState::empty:
    case ClassicState::dead:
      HW_ASSERT(false, "a group with members is neither empty nor dead");
  }
}

void ClassicProtocol::static_stored(Shard& shard, const std::string& group_id, std::uint64_t serial,
                                    const std::string& new_id, bool skip_assignment,
                                    const std::optional<std::string>& old_leader, Now now) {
  static_cast<void>(now);
  ClassicGroup& group = *shard.find_classic(group_id, serial);
  ClassicMember& member = *group.find(new_id);
  if (Waiting waiting = group.take_join(member)) {
    const bool leads = group.is_leader(new_id);
    wire::JoinGroupResponse response = join_answer(group, new_id, skip_assignment && leads);
    if (skip_assignment) {
      response.skip_assignment = leads;
    } else {
      // An old client would take a leader's answer as the order to assign: it is told that another
      // one leads.
      response.leader = old_leader.value_or(std::string());
    }
    runtime_.answer(waiting, std::move(response));
  }
  tell_members(group);
}

// ----------------------------------------------------------------------------------------------------------
// rebalance

void ClassicProtocol::rebalance_or_complete(Shard& shard, ClassicGroup& group, const Why& why,
                                            Now now) {
  if (group.can_rebalance()) {
    prepare_rebalance(shard, group, why, now);
  } else {
    for (const auto& trigger : why.triggers) {
      group.rebalance.trigger(trigger);
    }
    complete_join_if_all(shard, group, now);
  }
}

void ClassicProtocol::prepare_rebalance(Shard& shard, ClassicGroup& group, const Why& why,
                                        Now now) {
  const std::string& reason = why.text;
  group.rebalance.begin(group.generation(), now);
  group.rebalance.start_over();
  for (const auto& trigger : why.triggers) {
    group.rebalance.trigger(trigger);
  }
  if (group.in(ClassicState::completing_rebalance)) {
    for (auto& [id, member] : group.members()) {
      member.assignment = Bytes();
    }
    propagate(shard, group, ErrorCode::rebalance_in_progress, now);
  }
  group.pending_sync().clear();
  cancel(shard, TimerKey::Kind::sync, group, {});

  const bool initial = group.in(ClassicState::empty);
  reasons_[{shard.partition(), group.id()}] = reason;
  transition(group, ClassicState::preparing_rebalance, reason, now);
  if (initial) {
    // Nobody is working yet, so it costs little to wait for others who are about to join (KIP-134).
    const std::int64_t delay = runtime_.config.group_initial_rebalance_delay_ms;
    const std::int64_t remaining = std::max<std::int64_t>(group.rebalance_timeout_ms() - delay, 0);
    initial_[{shard.partition(), group.id()}] = {group.serial(), delay, remaining};
    group.new_member_added = false;
    schedule(shard, TimerKey::Kind::join, group, {}, delay, now);
    return;
  }
  if (group.all_joined()) {
    complete_join(shard, group, now);
  } else {
    schedule(shard, TimerKey::Kind::join, group, {}, group.rebalance_timeout_ms(), now);
  }
}

void ClassicProtocol::initial_delay_over(Shard& shard, ClassicGroup& group, Now now) {
  const auto found = initial_.find({shard.partition(), group.id()});
  if (found == initial_.end() || found->second.serial != group.serial()) {
    complete_join(shard, group, now);
    return;
  }
  InitialDelay& initial = found->second;
  if (group.new_member_added && initial.remaining_ms != 0) {
    group.new_member_added = false;
    const std::int64_t delay = std::min<std::int64_t>(
        runtime_.config.group_initial_rebalance_delay_ms, initial.remaining_ms);
    initial.remaining_ms = std::max<std::int64_t>(initial.remaining_ms - initial.delay_ms, 0);
    initial.delay_ms = delay;
    schedule(shard, TimerKey::Kind::join, group, {}, delay, now);
    return;
  }
  initial_.erase(found);
  complete_join(shard, group, now);
}

void ClassicProtocol::complete_join_if_all(Shard& shard, ClassicGroup& group, Now now) {
  // The initial delay is always sat out: more members may come.
  if (group.in(ClassicState::preparing_rebalance) &&
      group.previous_state() != ClassicState::empty && group.all_joined()) {
    complete_join(shard, group, now);
  }
}

void ClassicProtocol::complete_join(Shard& shard, ClassicGroup& group, Now now) {
  cancel(shard, TimerKey::Kind::join, group, {});
  std::vector<std::string> late;
  for (const auto& [id, member] : group.members()) {
    if (!member.awaiting_join && !member.is_static()) {
      late.push_back(id);
    }
  }
  std::string& reason = reasons_[{shard.partition(), group.id()}];
  for (const std::string& id : late) {
    group.rebalance.trigger(trigger_of(Cause::join_expired, *group.find(id)));
    remove_member(shard, group, id);
    reason += (reason.empty() ? "" : "; ") + id + " did not join in time";
  }
  if (!group.elect_joined_leader() && !group.members().empty()) {
    // Only static members are left, none has joined: wait until they do, or until their sessions
    // end.
    schedule(shard, TimerKey::Kind::join, group, {}, group.rebalance_timeout_ms(), now);
    return;
  }
  initial_.erase({shard.partition(), group.id()});
  group.next_generation(now.wall);
  group.rebalance.generation(now);
  const std::string why = std::move(reason);
  reasons_.erase({shard.partition(), group.id()});
  tell_state(group, why);
  tell_members(group);
  if (group.in(ClassicState::empty)) {
    tell_rebalance(group, now);
    // Should this fail, an older generation comes back after a restart, and its sessions end.
    write_group(
        shard, group, nullptr, [](ErrorCode, Now) {}, now);
    return;
  }
  for (auto& [id, member] : group.members()) {
    if (Waiting waiting = group.take_join(member)) {
      runtime_.answer(waiting, join_answer(group, id, group.is_leader(id)));
    }
    restart_session(shard, group, member, now);
    member.is_new = false;
    group.pending_sync().insert(id);
  }
  schedule(shard, TimerKey::Kind::sync, group, {}, group.rebalance_timeout_ms(), now);
}

void ClassicProtocol::write_group(Shard& shard, const ClassicGroup& group,
                                  const std::map<std::string, Bytes, std::less<>>* assignments,
                                  Shard::Outcome outcome, Now now) {
  std::optional<Bytes> value = encode_group_value(group.to_record(assignments));
  if (!value) {  // a text of a member is too long for the record's format
    outcome(ErrorCode::unknown_server_error, now);
    return;
  }
  shard.append_within({{encode_group_key(group.id()), std::move(*value)}}, std::move(outcome), now);
}

// ----------------------------------------------------------------------------------------------------------
// SyncGroup

void ClassicProtocol::sync(Shard& shard, const wire::SyncGroupRequest& request, Now now,
                           const Done<wire::SyncGroupResponse>& done) {
  ClassicGroup* group = shard.find_classic(request.group_id);
  if (group == nullptr || group->in(ClassicState::empty)) {
    runtime_.answer(done, sync_error(ErrorCode::unknown_member_id));
    return;
  }
  ErrorCode error = group->validate_member(request.member_id, request.group_instance_id);
  if (error == ErrorCode::none && request.generation_id != group->generation()) {
    error = ErrorCode::illegal_generation;
  }
  const auto differs = [](const std::optional<std::string>& given,
                          const std::optional<std::string>& known) {
    return given && known && *given != *known;
  };
  if (error == ErrorCode::none && (differs(request.protocol_type, group->protocol_type()) ||
                                   differs(request.protocol_name, group->protocol_name()))) {
    error = ErrorCode::inconsistent_group_protocol;
  }
  if (error != ErrorCode::none) {
    runtime_.answer(done, sync_error(error));
    return;
  }
  ClassicMember& member = *group->find(request.member_id);
  member.seen(now);
  switch (group->state()) {
    case ClassicState::preparing_rebalance:
      trial::mark(trial::Mark::rebalance_over_rebalance);
      runtime_.answer(done, sync_error(ErrorCode::rebalance_in_progress));
      return;
    case ClassicState::completing_rebalance: {
      group->rebalance.synced(request.member_id, now);
      if (Done<wire::SyncGroupResponse> earlier = ClassicGroup::take_sync(member)) {
        runtime_.answer(earlier, sync_error(ErrorCode::rebalance_in_progress));
      }
      member.awaiting_sync = done;
      group->pending_sync().erase(request.member_id);
      if (group->pending_sync().empty()) {
        cancel(shard, TimerKey::Kind::sync, *group, {});
      }
      if (!group->is_leader(request.member_id) ||
          group->storing_generation == request.generation_id) {
        return;
      }
      group->storing_generation = request.generation_id;
      std::map<std::string, Bytes, std::less<>> assignments;
      for (const auto& [id, known] : group->members()) {
        assignments[id] = Bytes();
      }
      for (const auto& given : request.assignments) {
        if (const auto slot = assignments.find(given.member_id); slot != assignments.end()) {
          slot->second = Bytes::copy_of(given.assignment.span());
        }
      }
      // `group` may be changed by the outcome, but stays alive as long as the shard does.
      const auto stored = assignments;
      write_group(
          shard, *group, &stored,
          [this, &shard, id = group->id(), serial = group->serial(),
           generation = group->generation(), leader = request.member_id,
           assignments = std::move(assignments)](ErrorCode outcome, Now at) {
            assignments_stored(shard, id, serial, generation, leader, assignments, outcome, at);
          },
          now);
      return;
    }
    case ClassicState::stable: {
      group->pending_sync().erase(request.member_id);
      if (group->pending_sync().empty()) {
        cancel(shard, TimerKey::Kind::sync, *group, {});
      }
      wire::SyncGroupResponse response;
      response.protocol_type = group->protocol_type();
      response.protocol_name = group->protocol_name();
      response.assignment = member.assignment;
      runtime_.answer(done, std::move(response));
      return;
    }
    case ClassicState::empty:
    case ClassicState::dead:
      runtime_.answer(done, sync_error(ErrorCode::unknown_member_id));
      return;
  }
}

void ClassicProtocol::assignments_stored(
    Shard& shard, const std::string& group_id, std::uint64_t serial, std::int32_t generation,
    const std::string& leader, const std::map<std::string, Bytes, std::less<>>& assignments,
    ErrorCode error, Now now) {
  ClassicGroup* group = shard.find_classic(group_id, serial);
  if (group != nullptr && group->storing_generation == generation) {
    group->storing_generation.reset();
  }
  // Somebody may have joined or left since; then another rebalance runs, and this generation is
  // over.
  if (group == nullptr || !group->in(ClassicState::completing_rebalance) ||
      group->generation() != generation) {
    return;
  }
  if (error != ErrorCode::none) {
    for (auto& [id, member] : group->members()) {
      member.assignment = Bytes();
    }
    propagate(shard, *group, error, now);
    Why why{"the assignment from " + leader + " could not be stored", {}};
    if (const ClassicMember* member = group->find(leader); member != nullptr) {
      why.triggers.push_back(trigger_of(Cause::assignment_not_stored, *member));
    }
    rebalance_or_complete(shard, *group, why, now);
    return;
  }
  for (auto& [id, member] : group->members()) {
    const auto given = assignments.find(trial::has_bug(trial::Canary::assigns_to_everybody) ? leader : id);
    member.assignment = given == assignments.end() ? Bytes() : given->second;
  }
  propagate(shard, *group, ErrorCode::none, now);
  transition(*group, ClassicState::stable, "the leader " + leader + " assigned partitions", now);
  tell_members(*group);
  tell_rebalance(*group, now);
}

void ClassicProtocol::propagate(Shard& shard, ClassicGroup& group, ErrorCode error, Now now) {
  for (auto& [id, member] : group.members()) {
    Done<wire::SyncGroupResponse> waiting = ClassicGroup::take_sync(member);
    if (!waiting) {
      continue;
    }
    wire::SyncGroupResponse response;
    response.error_code = error;
    if (error == ErrorCode::none) {
      response.protocol_type = group.protocol_type();
      response.protocol_name = group.protocol_name();
    }
    response.assignment = member.assignment;
    runtime_.answer(waiting, std::move(response));
    // While it waited its session did not count.
    restart_session(shard, group, member, now);
  }
}

// ------------------------------------------------------------------------------------------------
// Heartbeat, LeaveGroup

void ClassicProtocol::heartbeat(Shard& shard, const wire::HeartbeatRequest& request, Now now,
                                const Done<wire::HeartbeatResponse>& done) {
  ErrorCode error = ErrorCode::unknown_member_id;
  if (ClassicGroup* group = shard.find_classic(request.group_id); group != nullptr) {
    error = group->validate_member(request.member_id, request.group_instance_id);
    if (error == ErrorCode::none && request.generation_id != group->generation()) {
      error = ErrorCode::illegal_generation;
    }
    if (error == ErrorCode::none) {
      switch (group->state()) {
        case ClassicState::empty:
          error = ErrorCode::unknown_member_id;
          break;
        case ClassicState::preparing_rebalance:
        case ClassicState::completing_rebalance:
        case ClassicState::stable: {
          ClassicMember& member = *group->find(request.member_id);
          restart_session(shard, *group, member, now);
          member.seen(now);
          member.counters->heartbeats.add(1);
          if (group->in(ClassicState::preparing_rebalance)) {
            error = ErrorCode::rebalance_in_progress;
          }
          break;
        }
        case ClassicState::dead:
          error = ErrorCode::coordinator_not_available;
          break;
      }
    }
  }
  const auto answer = [this, done](ErrorCode code) {
    wire::HeartbeatResponse response;
    response.error_code = code;
    runtime_.answer(done, std::move(response));
  };
  if (error == ErrorCode::none || error == ErrorCode::rebalance_in_progress) {
    // What the member is told may rest on what is not committed yet.
    shard.when_settled([answer, error](ErrorCode failed, Now) { answer(failed != ErrorCode::none ? failed : error); }, now);
  } else {
    answer(error);
  }
}

void ClassicProtocol::leave(Shard& shard, const wire::LeaveGroupRequest& request, Now now,
                            const Done<wire::LeaveGroupResponse>& done) {
  wire::LeaveGroupResponse response;
  ClassicGroup* group = shard.find_classic(request.group_id);
  Why why;
  std::string& reason = why.text;
  bool somebody = false;
  for (const auto& identity : request.members) {
    wire::LeaveGroupResponse::MemberResponse answer;
    answer.member_id = identity.member_id;
    answer.group_instance_id = identity.group_instance_id;
    std::string leaving = identity.member_id;
    if (group == nullptr) {
      answer.error_code = ErrorCode::unknown_member_id;
    } else if (identity.member_id.empty()) {  // an administrator names the instance
      const std::optional<std::string> known =
          identity.group_instance_id ? group->static_member(*identity.group_instance_id)
                                     : std::nullopt;
      answer.error_code = known ? ErrorCode::none : ErrorCode::unknown_member_id;
      leaving = known.value_or(std::string());
    } else if (!group->is_pending(identity.member_id)) {
      answer.error_code = group->validate_member(identity.member_id, identity.group_instance_id);
    }
    if (answer.error_code == ErrorCode::none) {
      if (const ClassicMember* member = group->find(leaving); member != nullptr) {
        why.triggers.push_back(trigger_of(Cause::member_left, *member, identity.reason));
      }
      remove_member(shard, *group, leaving);
      reason += (reason.empty() ? "" : "; ") + leaving + " left" + said(identity.reason);
      somebody = true;
    }
    response.members.push_back(std::move(answer));
  }
  if (somebody) {
    switch (group->state()) {
      case ClassicState::stable:
      case ClassicState::completing_rebalance:
      case ClassicState::preparing_rebalance:
        rebalance_or_complete(shard, *group, why, now);
        break;
      case ClassicState::empty:
      case ClassicState::dead:
        break;
    }
  }
  shard.when_settled(
      [this, done, response = std::move(response)](ErrorCode error, Now) {
        wire::LeaveGroupResponse outcome = response;
        if (error != ErrorCode::none) {
          outcome.members.clear();
          outcome.error_code = error;
        }
        runtime_.answer(done, std::move(outcome));
      },
      now);
}

void ClassicProtocol::remove_member(Shard& shard, ClassicGroup& group, std::string_view member_id) {
  if (member_id.empty()) {
    return;
  }
  const std::string id(member_id);
  if (ClassicMember* member = group.find(id); member != nullptr) {
    if (Waiting waiting = group.take_join(*member)) {
      runtime_.answer(waiting, join_error(ErrorCode::unknown_member_id, std::string()));
    }
    if (Done<wire::SyncGroupResponse> waiting = ClassicGroup::take_sync(*member)) {
      runtime_.answer(waiting, sync_error(ErrorCode::unknown_member_id));
    }
  }
  cancel(shard, TimerKey::Kind::heartbeat, group, id);
  group.remove(id);
}

// --------------------------------------------------------------------------------------------------------------
// timers

void ClassicProtocol::restart_session(Shard& shard, const ClassicGroup& group,
                                      const ClassicMember& member, Now now) {
  schedule(shard, TimerKey::Kind::heartbeat, group, member.id, member.session_timeout_ms, now);
}

void ClassicProtocol::committed(Shard& shard, ClassicGroup& group, std::string_view member_id,
                                Now now) {
  if (group.in(ClassicState::stable) || group.in(ClassicState::preparing_rebalance)) {
    if (ClassicMember* member = group.find(member_id); member != nullptr) {
      restart_session(shard, group, *member, now);
      member->seen(now);
    }
  }
}

void ClassicProtocol::timer(Shard& shard, const TimerKey& key, Now now) {
  ClassicGroup* group = shard.find_classic(key.group);
  if (group == nullptr) {
    return;
  }
  switch (key.kind) {
    case TimerKey::Kind::heartbeat:
      expire_session(shard, *group, key.member, now);
      return;
    case TimerKey::Kind::join:
      if (group->in(ClassicState::preparing_rebalance)) {
        initial_delay_over(shard, *group, now);
      }
      return;
    case TimerKey::Kind::sync:
      expire_sync(shard, *group, now);
      return;
    case TimerKey::Kind::session:
    case TimerKey::Kind::rebalance:
    case TimerKey::Kind::member_join:
    case TimerKey::Kind::member_sync:
    case TimerKey::Kind::regex:
    case TimerKey::Kind::expire_offsets:
      return;
  }
}

void ClassicProtocol::expire_session(Shard& shard, ClassicGroup& group,
                                     const std::string& member_id, Now now) {
  if (group.is_pending(member_id)) {
    group.remove(member_id);
    if (group.in(ClassicState::preparing_rebalance) && group.all_joined()) {
      complete_join(shard, group, now);
    }
    return;
  }
  const ClassicMember* member = group.find(member_id);
  if (member == nullptr || member->heartbeat_satisfied()) {
    return;
  }
  const Why why{member_id + " sent no heartbeat for " + seconds_text(member->session_timeout_ms),
                {trigger_of(Cause::session_expired, *member)}};
  remove_member(shard, group, member_id);
  if (group.in(ClassicState::preparing_rebalance)) {
    group.rebalance.trigger(why.triggers.front());
  }
  if (group.in(ClassicState::stable) || group.in(ClassicState::completing_rebalance)) {
    rebalance_or_complete(shard, group, why, now);
  } else if (group.in(ClassicState::preparing_rebalance) && group.all_joined()) {
    complete_join(shard, group, now);
  }
}

void ClassicProtocol::expire_sync(Shard& shard, ClassicGroup& group, Now now) {
  if (!group.in(ClassicState::completing_rebalance) && !group.in(ClassicState::stable)) {
    return;
  }
  const std::set<std::string, std::less<>> late = group.pending_sync();
  if (late.empty()) {
    return;
  }
  Why why;
  for (const std::string& id : late) {
    if (const ClassicMember* member = group.find(id); member != nullptr) {
      why.triggers.push_back(trigger_of(Cause::sync_expired, *member));
    }
    remove_member(shard, group, id);
    why.text += (why.text.empty() ? "" : "; ") + id + " did not ask for its assignment in time";
  }
  prepare_rebalance(shard, group, why, now);
}

void ClassicProtocol::schedule(Shard& shard, TimerKey::Kind kind, const ClassicGroup& group,
                               std::string_view member, std::int64_t delay_ms, Now now) {
  runtime_.timers.schedule({shard.partition(), kind, group.id(), member},
                           now.instant + milliseconds(delay_ms));
}

void ClassicProtocol::cancel(Shard& shard, TimerKey::Kind kind, const ClassicGroup& group,
                             std::string_view member) {
  runtime_.timers.cancel({shard.partition(), kind, group.id(), member});
}

// ----------------------------------------------------------------------------------------------
// loading, leaving, events

void ClassicProtocol::loaded(Shard& shard, Now now) {
  for (auto& [id, any] : shard.groups()) {
    ClassicGroup* group = as_classic(any.get());
    if (group == nullptr) {
      continue;
    }
    for (auto& [member_id, member] : group->members()) {
      restart_session(shard, *group, member, now);
    }
    group->rebalance.loaded(*group);
    tell_state(*group, "the coordinator loaded the group");
    if (!group->members().empty()) {
      tell_members(*group);
    }
    if (group->size() > static_cast<std::size_t>(runtime_.config.group_max_size)) {
      prepare_rebalance(
          shard, *group,
          {"the group has more members than group.max.size allows", {{Cause::group_too_large, {}, {}, {}, {}}}},
          now);
    }
  }
}

void ClassicProtocol::adopt(Shard& shard, ClassicGroup& group, const std::string& reason,
                            bool rebalance, Now now) {
  for (auto& [member_id, member] : group.members()) {
    restart_session(shard, group, member, now);
  }
  group.rebalance.loaded(group);
  tell_state(group, reason);
  tell_members(group);
  if (rebalance) {
    prepare_rebalance(shard, group, {reason, {}}, now);
  }
}

void ClassicProtocol::abandon(Shard& shard, ClassicGroup& group, ErrorCode error) {
  for (auto& [id, member] : group.members()) {
    if (Waiting waiting = group.take_join(member)) {
      runtime_.answer(waiting, join_error(error, id));
    }
    if (Done<wire::SyncGroupResponse> waiting = ClassicGroup::take_sync(member)) {
      runtime_.answer(waiting, sync_error(error));
    }
    cancel(shard, TimerKey::Kind::heartbeat, group, id);
  }
  cancel(shard, TimerKey::Kind::join, group, {});
  cancel(shard, TimerKey::Kind::sync, group, {});
  initial_.erase({shard.partition(), group.id()});
  reasons_.erase({shard.partition(), group.id()});
}

void ClassicProtocol::unload(Shard& shard, Now now) {
  for (auto& [id, any] : shard.groups()) {
    ClassicGroup* group = as_classic(any.get());
    if (group == nullptr) {
      continue;
    }
    abandon(shard, *group, ErrorCode::not_coordinator);
    group->transition(ClassicState::dead, now.wall);
  }
}

void ClassicProtocol::transition(ClassicGroup& group, ClassicState to, const std::string& reason,
                                 Now now) {
  group.transition(to, now.wall);
  tell_state(group, reason);
}

void ClassicProtocol::tell_state(const ClassicGroup& group, const std::string& reason) {
  runtime_.emit(event::GroupStateChanged{group.id(), state_name(group.state()), group.generation(),
                                         group.protocol_name().value_or(std::string()), reason,
                                         group.protocol_type().value_or(std::string())});
}

void ClassicProtocol::tell_rebalance(ClassicGroup& group, Now now) {
  if (std::optional<event::GroupRebalanced> over = group.rebalance.finish(group, now)) {
    runtime_.emit(std::move(*over));
  }
}

void ClassicProtocol::tell_members(const ClassicGroup& group) {
  event::GroupAssigned assigned;
  assigned.group = group.id();
  assigned.generation = group.generation();
  assigned.leader = group.leader().value_or(std::string());
  const bool decodable = group.uses_consumer_protocol() && group.in(ClassicState::stable);
  for (const auto& [id, member] : group.members()) {
    event::GroupAssigned::Member entry;
    entry.member_id = id;
    entry.client_id = member.client_id;
    entry.client_host = member.client_host;
    entry.instance_id = member.instance_id.value_or(std::string());
    entry.connection = member.connection;
    entry.session_timeout_ms = member.session_timeout_ms;
    entry.rebalance_timeout_ms = member.rebalance_timeout_ms;
    entry.counters = member.counters;
    if (const Protocol* protocol =
            group.uses_consumer_protocol() && group.protocol_name()
                ? member.find_protocol(*group.protocol_name())
                : nullptr;
        protocol != nullptr) {
      if (std::optional<Subscription> said = decode_subscription(protocol->metadata)) {
        entry.topics = std::move(said->topics);
        std::sort(entry.topics.begin(), entry.topics.end());
        if (group.in(ClassicState::completing_rebalance)) {
          // What it has not given back goes on while the others wait (KIP-429); eager members have
          // given back all.
          entry.partitions = std::move(said->owned);
          std::sort(entry.partitions.begin(), entry.partitions.end());
        }
      }
    }
    if (decodable) {
      entry.partitions = decode_assignment(member.assignment);
    }
    assigned.members.push_back(std::move(entry));
  }
  runtime_.emit(std::move(assigned));
}

}  // namespace hw::groups
