// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/consumer/consumer_protocol.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "engine/base/assert.h"
#include "engine/groups/consumer/migration.h"
#include "engine/groups/consumer/reconciliation.h"
#include "engine/groups/consumer/subscription_regex.h"
#include "engine/groups/consumer/topic_hash.h"
#include "engine/groups/runtime/java_string.h"

namespace hw::groups {
namespace {

using wire::ErrorCode;
using Cause = EpochTracker::Cause;
using Request = wire::ConsumerGroupHeartbeatRequest;

constexpr std::int16_t kOwnMemberIdFrom = 1;  // the client makes its id up, KIP-1082
// Expressions of a group are not resolved more often than this, whoever asks.
constexpr std::int64_t kRegexPauseMs = 10'000;

Assignment sorted(const std::vector<Request::TopicPartitions>& topics) {
  Assignment assignment;
  for (const auto& topic : topics) {
    auto& partitions = assignment[topic.topic_id];
    partitions.insert(partitions.end(), topic.partitions.begin(), topic.partitions.end());
  }
  for (auto& [topic, partitions] : assignment) {
    std::sort(partitions.begin(), partitions.end());
  }
  return assignment;
}

// Whether all of it is among what the member was assigned.
bool within(const std::optional<std::vector<Request::TopicPartitions>>& owned,
            const Owned& assigned) {
  return owned && std::all_of(owned->begin(), owned->end(), [&](const auto& topic) {
           const auto has = assigned.find(topic.topic_id);
           return has != assigned.end() &&
                  std::all_of(topic.partitions.begin(), topic.partitions.end(),
                              [&](PartitionIndex one) { return has->second.contains(one); });
         });
}

wire::ConsumerGroupHeartbeatResponse::Assignment to_wire(const Owned& assigned) {
  wire::ConsumerGroupHeartbeatResponse::Assignment assignment;
  for (const auto& [topic, partitions] : without_epochs(assigned)) {
    auto& entry = assignment.topic_partitions.emplace_back();
    entry.topic_id = topic;
    entry.partitions = partitions;
  }
  return assignment;
}

Refusal unknown_member(const std::string& member, const std::string& group) {
  return {ErrorCode::unknown_member_id, "Group " + group + " has no member " + member + "."};
}

bool is_empty_text(const std::optional<std::string>& text) {
  return text && text->empty();
}

// Times of records are wall times. One that lies ahead is from before the clock was set back, and holds nothing up.
bool younger_than(std::int64_t then_ms, std::int64_t interval_ms, WallTime now) {
  return now.ms >= then_ms && now.ms - then_ms < interval_ms;
}

}  // namespace

// ------------------------------------------------------------------------------------------------
// ConsumerGroupHeartbeat

std::optional<Refusal> ConsumerProtocol::malformed(const Request& request,
                                                   std::int16_t version) const {
  const auto invalid = [](std::string message) {
    return Refusal{ErrorCode::invalid_request, std::move(message)};
  };
  const std::int32_t epoch = request.member_epoch;
  if (request.member_id.empty() &&
      (version >= kOwnMemberIdFrom || epoch > 0 || epoch == kLeavingEpoch)) {
    return invalid("MemberId can't be empty.");
  }
  if (request.group_id.empty()) {
    return invalid("GroupId can't be empty.");
  }
  if (is_empty_text(request.instance_id)) {
    return invalid("InstanceId can't be empty.");
  }
  if (is_empty_text(request.rack_id)) {
    return invalid("RackId can't be empty.");
  }
  if (epoch == 0) {
    if (request.rebalance_timeout_ms == -1) {
      return invalid("Who joins must name a RebalanceTimeoutMs.");
    }
    if (!request.topic_partitions || !request.topic_partitions->empty()) {
      return invalid("Who joins must own no TopicPartitions.");
    }
    if (!request.subscribed_topic_names && !request.subscribed_topic_regex) {
      return invalid("Who joins must name SubscribedTopicNames or a SubscribedTopicRegex.");
    }
  } else if (epoch == kStaticLeavingEpoch && !request.instance_id) {
    return invalid("Only a member with an InstanceId leaves for a while.");
  } else if (epoch < kStaticLeavingEpoch) {
    return invalid("There is no MemberEpoch " + std::to_string(epoch) + ".");
  }
  const auto& offered = runtime_.config.consumer_assignors;
  if (request.server_assignor) {
    const std::optional<Assignor> asked = parse_assignor(*request.server_assignor);
    if (!asked || std::find(offered.begin(), offered.end(), *asked) == offered.end()) {
      std::string names;
      for (const Assignor one : offered) {
        names += (names.empty() ? "" : ", ") + std::string(assignor_name(one));
      }
      return Refusal{
          ErrorCode::unsupported_assignor,
          "There is no assignor " + *request.server_assignor + " here, only " + names + "."};
    }
  }
  for (const std::string* text : {&request.group_id, &request.member_id}) {
    if (text->size() > kKeyTextMaxBytes) {  // no record could name it
      return Refusal{ErrorCode::unknown_server_error, "An id is too long."};
    }
  }
  if (request.subscribed_topic_regex && request.subscribed_topic_regex->size() > kKeyTextMaxBytes) {
    return Refusal{ErrorCode::invalid_regular_expression, "SubscribedTopicRegex is too long."};
  }
  return std::nullopt;
}

void ConsumerProtocol::heartbeat(Shard& shard, const Request& request,
                                 const RequestContext& context, Now now,
                                 const Done<Response>& done) {
  if (request.member_epoch == kLeavingEpoch || request.member_epoch == kStaticLeavingEpoch) {
    leave(shard, request, now, done);
    return;
  }
  const std::string& id = request.group_id;
  const std::string member_id =
      request.member_id.empty() ? Uuid::random(runtime_.prng).text()  // version 0 may ask for one
                                : request.member_id;
  if (std::optional<Refusal> why = reach_group(shard, request, member_id, now)) {
    refuse(done, std::move(*why));
    return;
  }
  const ConsumerGroup* group = shard.find_consumer(id);  // null: its first record makes it
  ConsumerMember wanted;
  wanted.id = member_id;
  bool known_before = false;
  bool returned = false;
  if (group != nullptr) {
    const ConsumerMember* known =
        request.instance_id ? group->find_static(*request.instance_id) : group->find(member_id);
    if (known != nullptr && (known->id != member_id || known->epoch == kStaticLeavingEpoch)) {
      returned = true;
      replace(shard, *group, *known, member_id);
    }
    if (const ConsumerMember* member = group->find(member_id); member != nullptr) {
      known_before = true;
      wanted = *member;
    }
  }
  const Owned before = wanted.assigned;
  if (request.instance_id) {
    wanted.instance = request.instance_id;
  }
  if (request.rack_id) {
    wanted.rack = request.rack_id;
  }
  if (request.rebalance_timeout_ms != -1) {
    wanted.rebalance_timeout_ms = request.rebalance_timeout_ms;
  }
  if (request.server_assignor) {
    wanted.assignor = request.server_assignor;
  }
  if (request.subscribed_topic_names) {
    const std::set<std::string> topics(request.subscribed_topic_names->begin(),
                                       request.subscribed_topic_names->end());
    wanted.topics.assign(topics.begin(), topics.end());
  }
  if (request.subscribed_topic_regex) {
    wanted.regex = *request.subscribed_topic_regex;
  }
  wanted.client_id = context.client_id;
  wanted.client_host = context.client_host;
  wanted.classic.reset();

  const Step step = change_member(shard, id, wanted, now);
  update_target(shard, id, now);
  std::optional<Assignment> owned;
  if (request.topic_partitions) {
    owned = sorted(*request.topic_partitions);
  }
  if (!reconcile_member(shard, id, member_id, owned, step.subscription_changed, now)) {
    shard.undo_staged(now);
    refuse(done,
           {ErrorCode::fenced_member_epoch,
            "What the member owns cannot be told any more; it must leave all and join again."});
    return;
  }
  ConsumerGroup& changed = *shard.find_consumer(id);
  const ConsumerMember& member = *changed.find(member_id);
  start_session(shard, id, member_id, session_timeout_ms(id), now);
  auto& seen = changed.seen[member_id];
  seen.connection = context.connection;
  seen.counters->last_seen_ms.set(now.wall.ms);
  seen.counters->heartbeats.add(1);

  Response response;
  response.member_id = member_id;
  response.member_epoch = member.epoch;
  response.heartbeat_interval_ms = static_cast<std::int32_t>(setting(
      id, "consumer.heartbeat.interval.ms", runtime_.config.consumer_heartbeat_interval_ms));
  // Who says all about itself may not know what it was told last.
  const bool says_all = request.rebalance_timeout_ms != -1 &&
                        (request.subscribed_topic_names || request.subscribed_topic_regex) &&
                        request.topic_partitions;
  if (request.member_epoch == 0 || says_all ||
      without_epochs(member.assigned) != without_epochs(before)) {
    response.assignment = to_wire(member.assigned);
  }
  if (shard.staged()) {
    tell(shard, id,
         {request.member_epoch == 0 ? member_id + " joined" : member_id + " sent a heartbeat",
          triggers_of(step, known_before, returned, member)},
         now);
  }
  answer_when_finished(shard, done, std::move(response), now);
}

std::optional<Refusal> ConsumerProtocol::reach_group(Shard& shard, const Request& request,
                                                     const std::string& member, Now now) {
  const std::string& id = request.group_id;
  const bool joins = request.member_epoch == 0;
  Group* any = shard.find_group(id);
  const ConsumerGroup* group = as_consumer(any);
  ClassicGroup* classic = as_classic(any);
  if ((any == nullptr && !joins) ||
      (any != nullptr && group == nullptr && (!joins || classic == nullptr))) {
    return Refusal{ErrorCode::group_id_not_found, "There is no consumer group " + id + "."};
  }
  const std::string& regex = request.subscribed_topic_regex.value_or(std::string());
  if (!regex.empty() && (group == nullptr || group->subscribers_of_regex(regex) == 0)) {
    if (const std::optional<std::string> wrong = subscription_regex_error(regex)) {
      return Refusal{ErrorCode::invalid_regular_expression,
                     "SubscribedTopicRegex `" + regex + "` is not valid: " + *wrong + "."};
    }
  }
  const Refusal no_place{ErrorCode::group_max_size_reached,
                         "Group " + id + " has as many members as group.consumer.max.size allows."};
  if (group != nullptr) {
    if (full(*group, member, request.instance_id)) {
      return no_place;
    }
    const ConsumerMember* known =
        request.instance_id ? group->find_static(*request.instance_id) : group->find(member);
    if (request.instance_id && known != nullptr) {
      if (!joins && known->id != member) {
        return Refusal{
            ErrorCode::fenced_instance_id,
            "Member " + known->id + " has taken over instance " + *request.instance_id + "."};
      }
      if (joins && !known->classic && known->epoch != kStaticLeavingEpoch) {
        return Refusal{
            ErrorCode::unreleased_instance_id,
            "Instance " + *request.instance_id + " belongs to member " + known->id + "."};
      }
    }
    if (known == nullptr && !joins) {
      return unknown_member(member, id);
    }
    return check_epoch(known, request);
  }
  if (classic == nullptr) {
    return runtime_.config.consumer_max_size < 1 ? std::optional(no_place) : std::nullopt;
  }
  if (classic->is_empty()) {
    migration_.drop_empty(shard, *classic);
    return std::nullopt;
  }
  if (static_cast<std::size_t>(runtime_.config.consumer_max_size) <= classic->size() &&
      !classic->has(member) &&
      !(request.instance_id && classic->static_member(*request.instance_id))) {
    // A group that is too large is not taken over at all; one that is just full turns this one
    // away.
    return classic->size() > static_cast<std::size_t>(runtime_.config.consumer_max_size)
               ? migration_.upgrade(shard, *classic, now)
               : std::optional(no_place);
  }
  return migration_.upgrade(shard, *classic, now);
}

std::optional<Refusal> ConsumerProtocol::check_epoch(const ConsumerMember* member,
                                                     const Request& request) const {
  if (member == nullptr || request.member_epoch == 0) {
    return std::nullopt;
  }
  // A member that comes with its last epoch has not got the answer that told it the new one.
  const bool missed_answer = request.member_epoch == member->previous_epoch &&
                             within(request.topic_partitions, member->assigned);
  if (request.member_epoch > member->epoch ||
      (request.member_epoch < member->epoch && !missed_answer)) {
    return Refusal{ErrorCode::fenced_member_epoch,
                   "Member " + member->id + " is at epoch " + std::to_string(member->epoch) +
                       ", not at " + std::to_string(request.member_epoch) +
                       "; it must leave all partitions and join again."};
  }
  return std::nullopt;
}

void ConsumerProtocol::leave(Shard& shard, const Request& request, Now now,
                             const Done<Response>& done) {
  const std::string& id = request.group_id;
  const ConsumerGroup* group = shard.find_consumer(id);
  if (group == nullptr) {
    refuse(done, {ErrorCode::group_id_not_found, "There is no consumer group " + id + "."});
    return;
  }
  const ConsumerMember* member = request.instance_id ? group->find_static(*request.instance_id)
                                                     : group->find(request.member_id);
  if (member == nullptr) {
    refuse(done, unknown_member(request.instance_id.value_or(request.member_id), id));
    return;
  }
  if (request.instance_id && member->id != request.member_id) {
    refuse(done,
           {ErrorCode::fenced_instance_id,
            "Member " + member->id + " has taken over instance " + *request.instance_id + "."});
    return;
  }
  Response response;
  response.member_id = request.member_id;
  response.member_epoch = request.member_epoch;
  if (request.instance_id && request.member_epoch == kStaticLeavingEpoch) {
    ConsumerMember away = *member;
    away.epoch = kStaticLeavingEpoch;
    away.revoking.clear();
    shard.stage(current_record(id, away));
    tell(shard, id,
         {request.member_id + " left and will be back", {trigger_of(Cause::member_left, away)}},
         now);
  } else {
    fence(shard, id, {request.member_id}, Cause::member_left, request.member_id + " left", now);
  }
  answer_when_finished(shard, done, std::move(response), now);
}

void ConsumerProtocol::answer_when_finished(Shard& shard, const Done<Response>& done, Response response, Now now) {
  finish(
      shard,
      [this, done, response = std::move(response)](ErrorCode error, Now) {
        Response answer = response;
        if (error != ErrorCode::none) {
          answer = Response();
          answer.error_code = error;
        }
        runtime_.answer(done, std::move(answer));
      },
      now);
}

void ConsumerProtocol::refuse(const Done<Response>& done, Refusal why) {
  Response response;
  response.error_code = why.error;
  response.error_message = std::move(why.message);
  runtime_.answer(done, std::move(response));
}

// ------------------------------------------------------------------------------------------------
// steps

bool ConsumerProtocol::full(const ConsumerGroup& group, std::string_view member,
                            const std::optional<std::string>& instance) const {
  return group.size() >= static_cast<std::size_t>(runtime_.config.consumer_max_size) &&
         group.find(member) == nullptr && !(instance && group.find_static(*instance) != nullptr);
}

void ConsumerProtocol::replace(Shard& shard, const ConsumerGroup& group, const ConsumerMember& old,
                               const std::string& new_id) {
  const std::string id = group.id();
  const std::string old_id = old.id;
  ConsumerMember taken = old;
  taken.id = new_id;
  taken.epoch = 0;
  taken.previous_epoch = 0;
  const Assignment target = group.target_of(old_id);
  for (const ConsumerRecord kind :
       {ConsumerRecord::current, ConsumerRecord::target_member, ConsumerRecord::member}) {
    shard.stage(tombstone(id, kind, old_id));
  }
  shard.stage(member_record(id, taken));
  shard.stage(target_member_record(id, new_id, target));
  shard.stage(current_record(id, taken));
  cancel_all(shard, id, old_id);
}

ConsumerProtocol::Step ConsumerProtocol::change_member(Shard& shard, const std::string& id,
                                                       const ConsumerMember& wanted, Now now) {
  Step step;
  const auto& offered = runtime_.config.consumer_assignors;
  ConsumerMember before;
  before.id = wanted.id;
  Assignor preferred = offered.front();
  std::int32_t old_subscribers = 0;  // of the old expression
  std::int32_t new_subscribers = 0;
  if (const ConsumerGroup* group = shard.find_consumer(id); group != nullptr) {
    if (const ConsumerMember* known = group->find(wanted.id); known != nullptr) {
      before = *known;
    }
    preferred = group->preferred_assignor(offered);
    old_subscribers = group->subscribers_of_regex(before.regex);
    new_subscribers = group->subscribers_of_regex(wanted.regex);
  }
  if (wanted != before) {
    shard.stage(member_record(id, wanted));
  }
  const bool topics_changed = wanted.topics != before.topics;
  const bool regex_changed = wanted.regex != before.regex;
  bool bump = topics_changed;
  bool must_resolve = false;
  if (regex_changed) {
    if (!before.regex.empty() && old_subscribers == 1) {
      shard.stage(tombstone(id, ConsumerRecord::regex, before.regex));
    }
    if (wanted.regex.empty()) {
      bump = true;
    } else if (new_subscribers == 0) {
      must_resolve = true;
    } else {
      bump = bump || shard.find_consumer(id)->regexes().contains(wanted.regex);
    }
  }
  ConsumerGroup& group = *shard.find_consumer(id);
  refresh_regexes(shard, id, must_resolve, now);
  bump = bump || group.preferred_assignor(offered) != preferred;
  step.subscription_changed = topics_changed || regex_changed;
  if (bump || group.metadata_stale()) {
    const std::int64_t hash = hash_of(group.subscribers());
    if (bump || hash != group.metadata_hash()) {
      raise_epoch(shard, id, hash);
      step.epoch_raised = true;
    }
    group.metadata_seen(group.epoch());
    if (group.has_partition_metadata()) {
      shard.stage(tombstone(id, ConsumerRecord::partition_metadata));
    }
  }
  step.epoch = group.epoch();
  return step;
}

void ConsumerProtocol::raise_epoch(Shard& shard, const std::string& id, std::int64_t hash) {
  const ConsumerGroup& group = *shard.find_consumer(id);
  // Kafka counts with Java's int: after the greatest comes the smallest.
  const auto next = static_cast<std::int32_t>(static_cast<std::uint32_t>(group.epoch()) + 1U);
  shard.stage(group_record(id, next, hash));
}

void ConsumerProtocol::update_target(Shard& shard, const std::string& id, Now now) {
  const ConsumerGroup& group = *shard.find_consumer(id);
  if (group.epoch() <= group.target_epoch()) {
    return;
  }
  const std::int64_t interval = setting(id, "consumer.assignment.interval.ms",
                                        runtime_.config.consumer_assignment_interval_ms);
  if (group.target_timestamp_ms() != 0 && younger_than(group.target_timestamp_ms(), interval, now.wall)) {
    return;
  }
  GroupSpec spec;
  for (const auto& [name, count] : group.subscribers()) {
    if (const metadata::TopicImage* topic = runtime_.image->find_topic(name); topic != nullptr) {
      spec.topics[topic->id] = static_cast<std::int32_t>(topic->partitions.size());
    }
  }
  for (const auto& [member_id, member] : group.members()) {
    MemberSpec entry;
    const std::set<Uuid> topics = topics_of(group, member);
    entry.topics.assign(topics.begin(), topics.end());
    entry.current = group.target_of(member_id);
    entry.instance = member.instance.value_or(std::string());
    spec.members.emplace(member_id, std::move(entry));
  }
  const std::map<std::string, Assignment> targets =
      assign(group.preferred_assignor(runtime_.config.consumer_assignors), spec);
  for (const auto& [member_id, target] : targets) {
    const auto old = group.targets().find(member_id);
    if (old == group.targets().end() || old->second != target) {
      shard.stage(target_member_record(id, member_id, target));
    }
  }
  shard.stage(target_record(id, group.epoch(), now.wall.ms));
}

bool ConsumerProtocol::reconcile_member(Shard& shard, const std::string& id,
                                        const std::string& member_id,
                                        const std::optional<Assignment>& owned,
                                        bool subscription_changed, Now now) {
  const ConsumerGroup& group = *shard.find_consumer(id);
  const ConsumerMember& member = *group.find(member_id);
  if (!subscription_changed && member.reconciled_to(group.target_epoch())) {
    return true;
  }
  std::optional<ConsumerMember> next =
      reconcile({group, member, group.target_epoch(), group.target_of(member_id),
                 topics_of(group, member), subscription_changed, owned});
  if (!next) {
    return false;
  }
  if (*next == member) {
    return true;
  }
  shard.stage(current_record(id, *next));
  if (!next->classic) {
    if (next->state == MemberState::unrevoked) {
      schedule(shard, TimerKey::Kind::rebalance, id, member_id, next->rebalance_timeout_ms, now);
    } else {
      cancel(shard, TimerKey::Kind::rebalance, id, member_id);
    }
  }
  return true;
}

std::vector<EpochTracker::Trigger> ConsumerProtocol::triggers_of(const Step& step, bool known,
                                                                 bool returned,
                                                                 const ConsumerMember& member) {
  if (!known || returned) {
    return {trigger_of(known ? Cause::static_returned : Cause::member_joined, member)};
  }
  if (step.subscription_changed) {
    return {trigger_of(Cause::subscription_changed, member)};
  }
  return step.epoch_raised
             ? std::vector<EpochTracker::Trigger>{trigger_of(Cause::topics_changed, member)}
             : std::vector<EpochTracker::Trigger>{};
}

void ConsumerProtocol::fence(Shard& shard, const std::string& id,
                             const std::set<std::string>& members, Cause cause,
                             const std::string& why, Now now) {
  if (members.empty()) {
    return;
  }
  ConsumerGroup& group = *shard.find_consumer(id);
  if (migration_.downgrades_without(group, members)) {
    for (const std::string& member : members) {
      cancel_all(shard, id, member);
    }
    migration_.downgrade(shard, group, members, why, now);
    return;
  }
  std::map<std::string, std::int32_t> gone;  // expressions, and how many of their subscribers go
  Why told{why};
  for (const std::string& member : members) {
    told.triggers.push_back(trigger_of(cause, *group.find(member)));
    if (const std::string& regex = group.find(member)->regex; !regex.empty()) {
      ++gone[regex];
    }
  }
  for (const std::string& member : members) {
    for (const ConsumerRecord kind :
         {ConsumerRecord::current, ConsumerRecord::target_member, ConsumerRecord::member}) {
      shard.stage(tombstone(id, kind, member));
    }
    cancel_all(shard, id, member);
  }
  for (const auto& [regex, count] : gone) {
    if (group.subscribers_of_regex(regex) == 0) {
      shard.stage(tombstone(id, ConsumerRecord::regex, regex));
    }
  }
  raise_epoch(shard, id, hash_of(group.subscribers()));
  if (group.is_empty()) {  // there is nobody whom a pause before the next target would spare
    shard.stage(target_record(id, group.epoch(), 0));
  }
  tell(shard, id, told, now);
}

void ConsumerProtocol::finish(Shard& shard, Shard::Outcome outcome, Now now) {
  if (shard.staged()) {
    shard.append_staged(std::move(outcome), now);
  } else {
    shard.when_settled(std::move(outcome), now);
  }
}

// ------------------------------------------------------------------------------------------------
// topics

std::set<Uuid> ConsumerProtocol::topics_of(const ConsumerGroup& group,
                                           const ConsumerMember& member) const {
  std::set<Uuid> ids;
  const auto add = [&](const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (const metadata::TopicImage* topic = runtime_.image->find_topic(name); topic != nullptr) {
        ids.insert(topic->id);
      }
    }
  };
  add(member.topics);
  if (const auto resolved = group.regexes().find(member.regex); resolved != group.regexes().end()) {
    add(resolved->second.topics);
  }
  return ids;
}

std::int64_t ConsumerProtocol::hash_of(
    const std::map<std::string, std::int32_t, std::less<>>& subscribers) {
  std::map<std::string, std::int64_t> topics;
  for (const auto& [name, count] : subscribers) {
    const metadata::TopicImage* topic = runtime_.image->find_topic(name);
    if (topic == nullptr) {
      continue;
    }
    const auto [known, fresh] = hashes_.try_emplace(name, 0);
    if (fresh) {
      TopicFacts facts{name, topic->id, {}};
      for (const metadata::PartitionImage& partition : topic->partitions) {
        std::vector<std::string>& racks = facts.racks.emplace_back();
        for (const BrokerId replica : partition.replicas) {
          const metadata::BrokerImage* broker = runtime_.image->find_broker(replica);
          if (broker != nullptr && broker->rack) {
            racks.push_back(*broker->rack);
          }
        }
      }
      known->second = topic_hash(std::move(facts));
    }
    topics.emplace(name, known->second);
  }
  return group_metadata_hash(topics);
}

void ConsumerProtocol::forget_hashes(const std::set<std::string, std::less<>>& topics) {
  for (const std::string& topic : topics) {
    if (const auto known = hashes_.find(topic); known != hashes_.end()) {
      hashes_.erase(known);
    }
  }
}

void ConsumerProtocol::topics_changed(Shard& shard,
                                      const std::set<std::string, std::less<>>& topics) const {
  for (const auto& [id, any] : shard.groups()) {
    ConsumerGroup* group = as_consumer(any.get());
    if (group != nullptr &&
        std::any_of(topics.begin(), topics.end(),
                    [&](const std::string& topic) { return group->subscribed_to(topic); })) {
      group->metadata_unseen();
    }
  }
}

void ConsumerProtocol::refresh_regexes(Shard& shard, const std::string& id, bool must, Now now) {
  const ConsumerGroup& group = *shard.find_consumer(id);
  if (group.regex_subscribers().empty() ||
      runtime_.timers.deadline({shard.partition(), TimerKey::Kind::regex, id, {}})) {
    return;
  }
  // They are resolved all at once, so that any one tells when.
  if (!group.regexes().empty()) {
    const ResolvedRegex& last = group.regexes().begin()->second;
    if (younger_than(last.timestamp_ms, kRegexPauseMs + 1, now.wall)) {
      return;
    }
    must = must || last.version < runtime_.topics_created_at ||
           !younger_than(last.timestamp_ms, runtime_.config.consumer_regex_refresh_interval_ms + 1, now.wall);
  }
  if (must || group.regex_subscribers().size() != group.regexes().size()) {
    schedule(shard, TimerKey::Kind::regex, id, {}, 0, now);
  }
}

void ConsumerProtocol::resolve_regexes(Shard& shard, const std::string& id, Now now) {
  ConsumerGroup* group = shard.find_consumer(id);
  if (group == nullptr || group->regex_subscribers().empty()) {
    return;
  }
  std::vector<std::string_view> names;
  for (const auto& [name, topic] : runtime_.image->topics()) {
    names.push_back(name);
  }
  bool changed = false;
  std::vector<std::string> expressions;
  for (const auto& [regex, count] : group->regex_subscribers()) {
    expressions.push_back(regex);
  }
  for (const std::string& regex : expressions) {
    ResolvedRegex resolved{matching_topics(regex, names), runtime_.image->offset().value(),
                           now.wall.ms};
    const auto known = group->regexes().find(regex);
    changed =
        changed || (known == group->regexes().end() ? !resolved.topics.empty()
                                                    : known->second.topics != resolved.topics);
    shard.stage(regex_record(id, regex, resolved));
  }
  const std::int64_t hash = hash_of(group->subscribers());
  if (changed || hash != group->metadata_hash()) {
    raise_epoch(shard, id, hash);
    group->metadata_seen(group->epoch());
    tell(shard, id,
         {"topics that match were looked up", {trigger_of(Cause::topics_changed, ConsumerMember())}}, now);
  }
  finish(
      shard, [](ErrorCode, Now) {}, now);
}

// ------------------------------------------------------------------------------------------------
// timers, configuration

std::int64_t ConsumerProtocol::setting(const std::string& group, const char* key,
                                       const Bounded& of_broker) const {
  const metadata::ConfigMap* own =
      runtime_.image->find_configs({metadata::ConfigResourceType::group, group});
  if (own == nullptr) {
    return of_broker.value;
  }
  const auto found = own->find(std::string_view(key));
  if (found == own->end()) {
    return of_broker.value;
  }
  std::int32_t number = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [stopped, error] = std::from_chars(found->second.data(), end, number);
  // What was within the bounds when it was set may not be so any more.
  return error == std::errc() && stopped == end
             ? std::clamp(number, of_broker.least, of_broker.most)
             : of_broker.value;
}

std::int64_t ConsumerProtocol::session_timeout_ms(const std::string& group) const {
  return setting(group, "consumer.session.timeout.ms", runtime_.config.consumer_session_timeout_ms);
}

void ConsumerProtocol::start_session(Shard& shard, const std::string& group,
                                     const std::string& member, std::int64_t timeout_ms, Now now) {
  schedule(shard, TimerKey::Kind::session, group, member, timeout_ms, now);
}

void ConsumerProtocol::schedule(Shard& shard, TimerKey::Kind kind, const std::string& group,
                                std::string_view member, std::int64_t delay_ms, Now now) {
  runtime_.timers.schedule({shard.partition(), kind, group, member},
                           now.instant + milliseconds(delay_ms));
}

void ConsumerProtocol::cancel(Shard& shard, TimerKey::Kind kind, const std::string& group,
                              std::string_view member) {
  runtime_.timers.cancel({shard.partition(), kind, group, member});
}

void ConsumerProtocol::cancel_all(Shard& shard, const std::string& group,
                                  const std::string& member) {
  for (const TimerKey::Kind kind : {TimerKey::Kind::session, TimerKey::Kind::rebalance,
                                    TimerKey::Kind::member_join, TimerKey::Kind::member_sync}) {
    cancel(shard, kind, group, member);
  }
}

void ConsumerProtocol::timer(Shard& shard, const TimerKey& key, Now now) {
  if (key.kind == TimerKey::Kind::regex) {
    resolve_regexes(shard, key.group, now);
    return;
  }
  const ConsumerGroup* group = shard.find_consumer(key.group);
  const ConsumerMember* member = group == nullptr ? nullptr : group->find(key.member);
  if (member == nullptr) {
    return;
  }
  std::string why = key.member;
  Cause cause = Cause::session_expired;
  switch (key.kind) {
    case TimerKey::Kind::session:
      why += " sent no heartbeat in time";
      break;
    case TimerKey::Kind::rebalance:
      if (member->state != MemberState::unrevoked) {
        return;
      }
      cause = Cause::revoke_expired;
      why += " did not give its partitions back in time";
      break;
    case TimerKey::Kind::member_join:
      cause = Cause::join_expired;
      why += " did not join again in time";
      break;
    case TimerKey::Kind::member_sync:
      cause = Cause::sync_expired;
      why += " did not ask for its assignment in time";
      break;
    case TimerKey::Kind::heartbeat:
    case TimerKey::Kind::join:
    case TimerKey::Kind::sync:
    case TimerKey::Kind::regex:
    case TimerKey::Kind::expire_offsets:
      return;
  }
  fence(shard, key.group, {key.member}, cause, why, now);
  finish(
      shard, [](ErrorCode, Now) {}, now);
}

void ConsumerProtocol::restored(Shard& shard, const std::string& id, const std::string& why,
                                Now now) {
  ConsumerGroup* group = shard.find_consumer(id);
  if (group == nullptr) {
    return;
  }
  group->tracker.loaded(*group);
  for (const auto& [member_id, member] : group->members()) {
    start_session(shard, id, member_id, session_timeout_ms(id), now);
    if (member.state == MemberState::unrevoked) {
      schedule(shard, TimerKey::Kind::rebalance, id, member_id, member.rebalance_timeout_ms, now);
    }
  }
  tell(shard, id, {why}, now);
}

void ConsumerProtocol::loaded(Shard& shard, Now now) {
  std::vector<std::string> ids;
  for (const auto& [id, any] : shard.groups()) {
    if (any->kind() == GroupKind::consumer) {
      ids.push_back(id);
    }
  }
  for (const std::string& id : ids) {
    restored(shard, id, "the coordinator loaded the group", now);
  }
}

// ------------------------------------------------------------------------------------------------
// what it looks like

wire::ConsumerGroupDescribeResponse::DescribedGroup ConsumerProtocol::describe(
    const Shard& shard, const std::string& id) const {
  using Described = wire::ConsumerGroupDescribeResponse;
  Described::DescribedGroup answer;
  answer.group_id = id;
  const std::shared_ptr<const Group> any = shard.find_committed(id);
  if (!any || any->kind() != GroupKind::consumer) {
    answer.error_code = ErrorCode::group_id_not_found;
    answer.error_message =
        any ? "Group " + id + " is not a consumer group." : "There is no group " + id + ".";
    return answer;
  }
  const auto& group = static_cast<const ConsumerGroup&>(*any);
  const auto named = [&](const Assignment& assignment) {
    Described::Assignment result;
    for (const auto& [topic_id, partitions] : assignment) {
      if (const metadata::TopicImage* topic = runtime_.image->find_topic(topic_id);
          topic != nullptr) {
        auto& entry = result.topic_partitions.emplace_back();
        entry.topic_id = topic_id;
        entry.topic_name = topic->name;
        entry.partitions = partitions;
      }
    }
    return result;
  };
  answer.group_state = group.state_text();
  answer.group_epoch = group.epoch();
  answer.assignment_epoch = group.target_epoch();
  answer.assignor_name =
      assignor_name(group.preferred_assignor(runtime_.config.consumer_assignors));
  for (const auto& [member_id, member] : group.members()) {
    Described::Member entry;
    entry.member_id = member_id;
    entry.instance_id = member.instance;
    entry.rack_id = member.rack;
    entry.member_epoch = member.epoch;
    entry.client_id = member.client_id;
    entry.client_host = member.client_host;
    entry.subscribed_topic_names = member.topics;
    entry.subscribed_topic_regex = member.regex;
    Owned owned = member.assigned;  // what it revokes is still its own
    for (const auto& [topic, partitions] : member.revoking) {
      owned[topic].insert(partitions.begin(), partitions.end());
    }
    entry.assignment = named(without_epochs(owned));
    entry.target_assignment = named(group.target_of(member_id));
    entry.member_type = member.classic ? 0 : 1;
    answer.members.push_back(std::move(entry));
  }
  // Nothing promises an order, but tests of Kafka's compare with the one that it has.
  std::stable_sort(answer.members.begin(), answer.members.end(),
                   [](const Described::Member& a, const Described::Member& b) {
                     return java_table_order(a.member_id) < java_table_order(b.member_id);
                   });
  return answer;
}

void ConsumerProtocol::tell(Shard& shard, const std::string& id, const Why& why, Now now) {
  ConsumerGroup* group = shard.find_consumer(id);
  if (group == nullptr) {
    return;
  }
  const std::string protocol(
      assignor_name(group->preferred_assignor(runtime_.config.consumer_assignors)));
  std::string state = std::string(group->state_text()) + "@" + std::to_string(group->epoch());
  if (state != group->told_state) {
    group->told_state = std::move(state);
    runtime_.emit(event::GroupStateChanged{id, group->state_text(), group->epoch(), protocol,
                                           why.text, group->protocol_type_text(),
                                           event::GroupProtocol::consumer});
  }
  using Named = std::vector<std::pair<std::string, PartitionIndex>>;
  const auto add = [&](Named& named, const Uuid& topic_id, PartitionIndex partition) {
    const metadata::TopicImage* topic = runtime_.image->find_topic(topic_id);
    if (topic != nullptr) {
      named.emplace_back(topic->name, partition);
    }
  };
  event::GroupAssigned assigned;
  assigned.group = id;
  assigned.generation = group->epoch();
  assigned.kind = event::GroupProtocol::consumer;
  assigned.target_epoch = group->target_epoch();
  for (const auto& [member_id, member] : group->members()) {
    event::GroupAssigned::Member entry;
    entry.member_id = member_id;
    entry.client_id = member.client_id;
    entry.client_host = member.client_host;
    entry.instance_id = member.instance.value_or(std::string());
    const ConsumerGroup::Seen& seen = group->seen[member_id];
    entry.connection = seen.connection;
    entry.counters = seen.counters;
    entry.session_timeout_ms = static_cast<std::int32_t>(
        member.classic ? member.classic->session_timeout_ms : session_timeout_ms(id));
    entry.rebalance_timeout_ms = member.rebalance_timeout_ms;
    std::set<std::string> topics(member.topics.begin(), member.topics.end());
    if (const auto regex = group->regexes().find(member.regex); regex != group->regexes().end()) {
      topics.insert(regex->second.topics.begin(), regex->second.topics.end());
    }
    entry.topics.assign(topics.begin(), topics.end());
    for (const Owned* owned : {&member.assigned, &member.revoking}) {
      for (const auto& [topic_id, partitions] : *owned) {
        for (const auto& [partition, epoch] : partitions) {
          add(entry.partitions, topic_id, partition);
        }
      }
    }
    for (const auto& [topic_id, partitions] : group->target_of(member_id)) {
      for (const PartitionIndex partition : partitions) {
        add(entry.target, topic_id, partition);
      }
    }
    std::sort(entry.partitions.begin(), entry.partitions.end());
    std::sort(entry.target.begin(), entry.target.end());
    entry.epoch = member.epoch;
    entry.speaks_classic = member.classic.has_value();
    assigned.members.push_back(std::move(entry));
  }
  runtime_.emit(std::move(assigned));
  if (auto over = group->tracker.changed(*group, protocol, why.triggers, now)) {
    runtime_.emit(std::move(*over));
  }
}

}  // namespace hw::groups
