// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/coordinator.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "engine/base/assert.h"
#include "engine/base/trial.h"
#include "engine/groups/classic/classic_protocol.h"
#include "engine/groups/consumer/classic_members.h"
#include "engine/groups/consumer/consumer_protocol.h"
#include "engine/groups/consumer/migration.h"
#include "engine/groups/offsets/offset_protocol.h"
#include "engine/groups/runtime/java_string.h"
#include "engine/groups/runtime/shard.h"

namespace hw::groups {
namespace {

using wire::ErrorCode;

// As Kafka compares filters: without regard to case and blanks around.
std::string folded(std::string_view text) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && blank(text.back())) {
    text.remove_suffix(1);
  }
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return result;
}

constexpr std::int16_t kDescribeNotFoundFrom = 6;  // DescribeGroups, KIP-1043

}  // namespace

struct GroupCoordinator::Impl {
  Impl(Config config, Prng prng) : runtime{std::move(config), prng} {}

  Runtime runtime;
  ClassicProtocol classic{runtime};
  // The two know each other; neither uses the other before both are there.
  ConsumerProtocol consumer{runtime, migration};
  Migration migration{runtime, classic, consumer};
  ClassicMembers classic_members{runtime, consumer, migration};
  OffsetProtocol offsets{runtime, classic};
  std::map<PartitionIndex, std::unique_ptr<Shard>> shards;
  std::int32_t partitions = 0;
  std::uint64_t load_errors = 0;
  int depth = 0;

  // Completions run when the outermost call is done with its changes, so that they may call in
  // again.
  class Turn {
   public:
    explicit Turn(Impl& impl) : impl_(impl) { ++impl_.depth; }

    ~Turn() {
      if (impl_.depth == 1) {
        while (!impl_.runtime.due.empty()) {
          std::vector<std::function<void()>> due;
          due.swap(impl_.runtime.due);
          for (auto& completion : due) {
            completion();
          }
        }
      }
      --impl_.depth;
    }

    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Impl& impl_;
  };

  [[nodiscard]] PartitionIndex partition_of(std::string_view group) const {
    return PartitionIndex(partition_by_hash(group, partitions));
  }

  // The shard of a group that is led here and loaded, or the error.
  Shard* shard_of(std::string_view group, ErrorCode& error) {
    const auto found = shards.find(partition_of(group));
    if (found == shards.end()) {
      error = ErrorCode::not_coordinator;
      return nullptr;
    }
    if (found->second->loading() || trial::happens(trial::Oddity::coordinator_loads)) {
      error = ErrorCode::coordinator_load_in_progress;
      return nullptr;
    }
    return found->second.get();
  }

  void schedule_expiry(PartitionIndex partition, Now now) {
    runtime.timers.schedule(
        {partition, TimerKey::Kind::expire_offsets, {}, {}},
        now.instant + milliseconds(runtime.config.offsets_retention_check_interval_ms));
  }

  wire::DescribeGroupsResponse::DescribedGroup describe(const std::string& id,
                                                        std::int16_t version);
};

GroupCoordinator::GroupCoordinator(Config config, Prng prng)
    : impl_(std::make_unique<Impl>(config, prng)) {
  HW_ASSERT(!config.consumer_assignors.empty(), "a broker offers an assignor");
  set_partition_count(config.offsets_topic_num_partitions);
}

GroupCoordinator::~GroupCoordinator() = default;

void GroupCoordinator::set_partition_count(std::int32_t partitions) {
  HW_ASSERT(partitions > 0 && partitions <= 1 << kAppendPartitionBits, "a topic has partitions");
  impl_->partitions = partitions;
}

void GroupCoordinator::set_config(const Config& config) {
  HW_ASSERT(!config.consumer_assignors.empty(), "a broker offers an assignor");
  impl_->runtime.config = config;
}

bool GroupCoordinator::serves_consumer_groups() const {
  return impl_->runtime.config.consumer_protocol;
}

void GroupCoordinator::set_image(metadata::ImagePtr image, const metadata::MetadataDelta& delta) {
  Runtime& runtime = impl_->runtime;
  runtime.image = std::move(image);
  std::set<std::string, std::less<>> topics;
  for (const auto& [id, name] : delta.topics_created) {
    topics.insert(name);
  }
  for (const auto& partition : delta.partitions_changed) {
    topics.insert(partition.topic);
  }
  for (const auto& topic : delta.topics_deleted) {
    topics.insert(topic.name);
  }
  if (!delta.topics_created.empty() || runtime.topics_created_at == -1) {
    runtime.topics_created_at = runtime.image->offset().value();
  }
  if (topics.empty()) {
    return;
  }
  impl_->consumer.forget_hashes(topics);
  for (const auto& [partition, shard] : impl_->shards) {
    impl_->consumer.topics_changed(*shard, topics);
  }
}

PartitionIndex GroupCoordinator::partition_of(std::string_view group) const {
  return impl_->partition_of(group);
}

// ----------------------------------------------------------------------------------------------------------
// leadership

void GroupCoordinator::begin_load(PartitionIndex partition) {
  if (impl_->shards.find(partition) == impl_->shards.end()) {
    impl_->shards.emplace(partition, std::make_unique<Shard>(partition, impl_->runtime));
  }
}

void GroupCoordinator::load_record(PartitionIndex partition, const Record& record, Now, ProducerId producer) {
  const auto found = impl_->shards.find(partition);
  if (found != impl_->shards.end() && found->second->loading() && !found->second->load(record, producer)) {
    ++impl_->load_errors;
  }
}

void GroupCoordinator::load_marker(PartitionIndex partition, ProducerId producer, bool commit) {
  const auto found = impl_->shards.find(partition);
  if (found != impl_->shards.end() && found->second->loading()) {
    found->second->load_marker(producer, commit);
  }
}

AppendId GroupCoordinator::load_uncommitted(PartitionIndex partition) {
  const auto found = impl_->shards.find(partition);
  return found == impl_->shards.end() || !found->second->loading()
             ? 0
             : found->second->load_uncommitted();
}

void GroupCoordinator::end_load(PartitionIndex partition, Now now) {
  Impl::Turn turn(*impl_);
  const auto found = impl_->shards.find(partition);
  if (found == impl_->shards.end() || !found->second->loading()) {
    return;
  }
  found->second->end_load(now);
  impl_->classic.loaded(*found->second, now);
  impl_->consumer.loaded(*found->second, now);
  impl_->schedule_expiry(partition, now);
}

void GroupCoordinator::unload(PartitionIndex partition, Now now) {
  Impl::Turn turn(*impl_);
  const auto found = impl_->shards.find(partition);
  if (found == impl_->shards.end()) {
    return;
  }
  Shard& shard = *found->second;
  shard.abandon_open(now);
  impl_->classic.unload(shard, now);
  impl_->runtime.timers.cancel_all(partition);
  auto& appends = impl_->runtime.outputs.appends;
  appends.erase(
      std::remove_if(appends.begin(), appends.end(),
                     [&](const Outputs::Append& append) { return append.partition == partition; }),
      appends.end());
  impl_->shards.erase(found);
}

bool GroupCoordinator::leads(PartitionIndex partition) const {
  const auto found = impl_->shards.find(partition);
  return found != impl_->shards.end() && !found->second->loading();
}

std::uint64_t GroupCoordinator::load_errors() const {
  return impl_->load_errors;
}

// ------------------------------------------------------------------------------------------------------------
// requests

void GroupCoordinator::join(const wire::JoinGroupRequest& request, const RequestContext& context,
                            Now now, Done<wire::JoinGroupResponse> done) {
  Impl::Turn turn(*impl_);
  const Config& config = impl_->runtime.config;
  ErrorCode error = ErrorCode::none;
  Shard* shard = nullptr;
  if (request.group_id.empty()) {
    error = ErrorCode::invalid_group_id;
  } else if (request.session_timeout_ms < config.group_min_session_timeout_ms ||
             request.session_timeout_ms > config.group_max_session_timeout_ms) {
    error = ErrorCode::invalid_session_timeout;
  } else {
    shard = impl_->shard_of(request.group_id, error);
  }
  if (shard == nullptr) {
    wire::JoinGroupResponse response;
    response.error_code = error;
    if (error == ErrorCode::invalid_group_id || error == ErrorCode::invalid_session_timeout) {
      response.member_id = request.member_id;  // who does not lead says nothing of members
    }
    impl_->runtime.answer(done, std::move(response));
    return;
  }
  if (const ConsumerGroup* consumer = shard->find_consumer(request.group_id); consumer != nullptr) {
    if (!consumer->is_empty()) {
      impl_->classic_members.join(*shard, request, context, now, done);
      return;
    }
    if (request.member_id.empty()) {  // whoever names a member is none of this group, of any kind
      Migration::drop_empty(*shard, *consumer, now);
    }
  }
  impl_->classic.join(*shard, request, context, now, done);
}

void GroupCoordinator::sync(const wire::SyncGroupRequest& request, const RequestContext&, Now now,
                            Done<wire::SyncGroupResponse> done) {
  Impl::Turn turn(*impl_);
  ErrorCode error = ErrorCode::invalid_group_id;
  Shard* shard = request.group_id.empty() ? nullptr : impl_->shard_of(request.group_id, error);
  if (shard == nullptr) {
    wire::SyncGroupResponse response;
    response.error_code = error;
    impl_->runtime.answer(done, std::move(response));
    return;
  }
  if (shard->find_consumer(request.group_id) != nullptr) {
    impl_->classic_members.sync(*shard, request, now, done);
    return;
  }
  impl_->classic.sync(*shard, request, now, done);
}

void GroupCoordinator::heartbeat(const wire::HeartbeatRequest& request, const RequestContext&,
                                 Now now, Done<wire::HeartbeatResponse> done) {
  Impl::Turn turn(*impl_);
  ErrorCode error = ErrorCode::invalid_group_id;
  Shard* shard = request.group_id.empty() ? nullptr : impl_->shard_of(request.group_id, error);
  if (shard == nullptr) {
    // While loading nobody can be judged; the member goes on.
    wire::HeartbeatResponse response;
    response.error_code =
        error == ErrorCode::coordinator_load_in_progress ? ErrorCode::none : error;
    impl_->runtime.answer(done, std::move(response));
    return;
  }
  if (shard->find_consumer(request.group_id) != nullptr) {
    impl_->classic_members.heartbeat(*shard, request, now, done);
    return;
  }
  impl_->classic.heartbeat(*shard, request, now, done);
}

void GroupCoordinator::leave(const wire::LeaveGroupRequest& request, const RequestContext&, Now now,
                             Done<wire::LeaveGroupResponse> done) {
  Impl::Turn turn(*impl_);
  ErrorCode error = ErrorCode::invalid_group_id;
  Shard* shard = request.group_id.empty() ? nullptr : impl_->shard_of(request.group_id, error);
  if (shard == nullptr) {
    wire::LeaveGroupResponse response;
    response.error_code = error;
    impl_->runtime.answer(done, std::move(response));
    return;
  }
  if (shard->find_consumer(request.group_id) != nullptr) {
    impl_->classic_members.leave(*shard, request, now, done);
    return;
  }
  impl_->classic.leave(*shard, request, now, done);
}

void GroupCoordinator::consumer_heartbeat(const wire::ConsumerGroupHeartbeatRequest& request,
                                          const RequestContext& context, Now now,
                                          Done<wire::ConsumerGroupHeartbeatResponse> done) {
  Impl::Turn turn(*impl_);
  wire::ConsumerGroupHeartbeatResponse response;
  if (std::optional<Refusal> why = impl_->consumer.malformed(request, context.api_version)) {
    response.error_code = why->error;
    response.error_message = std::move(why->message);
    impl_->runtime.answer(done, std::move(response));
    return;
  }
  Shard* shard = impl_->shard_of(request.group_id, response.error_code);
  if (shard == nullptr) {
    impl_->runtime.answer(done, std::move(response));
    return;
  }
  impl_->consumer.heartbeat(*shard, request, context, now, done);
}

void GroupCoordinator::describe_consumer_groups(const wire::ConsumerGroupDescribeRequest& request,
                                                const RequestContext&, Now,
                                                Done<wire::ConsumerGroupDescribeResponse> done) {
  Impl::Turn turn(*impl_);
  wire::ConsumerGroupDescribeResponse response;
  for (const std::string& id : request.group_ids) {
    ErrorCode error = id.empty() ? ErrorCode::invalid_group_id : ErrorCode::none;
    const Shard* shard = id.empty() ? nullptr : impl_->shard_of(id, error);
    if (shard != nullptr) {
      response.groups.push_back(impl_->consumer.describe(*shard, id));
    } else {
      auto& answer = response.groups.emplace_back();
      answer.group_id = id;
      answer.error_code = error;
    }
  }
  impl_->runtime.answer(done, std::move(response));
}

void GroupCoordinator::commit_offsets(const wire::OffsetCommitRequest& request,
                                      const RequestContext& context, Now now,
                                      Done<wire::OffsetCommitResponse> done) {
  Impl::Turn turn(*impl_);
  ErrorCode error = ErrorCode::none;
  Shard* shard = impl_->shard_of(request.group_id,
                                 error);  // the empty group id may commit, as it always could
  if (shard == nullptr) {
    impl_->runtime.answer(std::move(done), OffsetProtocol::commit_error(request, error));
    return;
  }
  impl_->offsets.commit(*shard, request, context, now, std::move(done));
}

void GroupCoordinator::commit_transactional_offsets(const wire::TxnOffsetCommitRequest& request, const RequestContext& context,
                                                    std::uint64_t verification, Now now, Done<wire::TxnOffsetCommitResponse> done) {
  Impl::Turn turn(*impl_);
  ErrorCode error = ErrorCode::invalid_group_id;
  Shard* shard = request.group_id.empty() ? nullptr : impl_->shard_of(request.group_id, error);
  if (shard == nullptr) {
    impl_->runtime.answer(std::move(done), OffsetProtocol::commit_error(request, error));
    return;
  }
  impl_->offsets.commit(*shard, request, context, verification, now, std::move(done));
}

void GroupCoordinator::complete_transaction(PartitionIndex partition, const EndMarker& marker, Now now, Done<ErrorCode> done) {
  Impl::Turn turn(*impl_);
  const auto found = impl_->shards.find(partition);
  if (found == impl_->shards.end() || found->second->loading()) {
    // Not ready for it, or not here: whoever wants the marker written looks for the leader again.
    impl_->runtime.answer(std::move(done), ErrorCode::not_leader_or_follower);
    return;
  }
  found->second->append_marker(
      marker,
      [this, done = std::move(done)](ErrorCode failed, Now) mutable {
        const bool elsewhere = failed == ErrorCode::not_coordinator || failed == ErrorCode::coordinator_not_available;
        impl_->runtime.answer(std::move(done), elsewhere ? ErrorCode::not_leader_or_follower : failed);
      },
      now);
}

void GroupCoordinator::fetch_offsets(const wire::OffsetFetchRequest& request, const RequestContext&,
                                     Now now, Done<wire::OffsetFetchResponse> done) {
  Impl::Turn turn(*impl_);

  struct Gathered {
    wire::OffsetFetchResponse response;
    std::size_t waiting = 0;
  };

  auto gathered = std::make_shared<Gathered>();
  gathered->response.groups.resize(request.groups.size());
  gathered->waiting = request.groups.size() + 1;
  const auto arrived = [this, gathered, done] {
    if (--gathered->waiting == 0) {
      impl_->runtime.answer(done, std::move(gathered->response));
    }
  };
  for (std::size_t i = 0; i < request.groups.size(); ++i) {
    const auto& group = request.groups[i];
    gathered->response.groups[i].group_id = group.group_id;
    ErrorCode error = ErrorCode::none;
    Shard* shard = impl_->shard_of(group.group_id, error);
    if (shard == nullptr) {
      gathered->response.groups[i].error_code = error;
      arrived();
      continue;
    }
    if (const std::shared_ptr<const Group> known = shard->find_committed(group.group_id)) {
      error = known->validate_fetch(group.member_id, group.member_epoch);
    }
    if (error != ErrorCode::none) {
      gathered->response.groups[i].error_code = error;
      arrived();
      continue;
    }
    gathered->response.groups[i] = impl_->offsets.fetch(*shard, group, request.require_stable);
    if (!request.require_stable) {
      arrived();
      continue;
    }
    shard->when_settled(
        [gathered, arrived, i](ErrorCode failed, Now) {
          if (failed != ErrorCode::none) {
            auto& answer = gathered->response.groups[i];
            answer.topics.clear();
            // Old consumers know this error and look for the coordinator again; they do not know
            // the others.
            answer.error_code = failed == ErrorCode::coordinator_not_available
                                    ? ErrorCode::not_coordinator
                                    : failed;
          }
          arrived();
        },
        now);
  }
  arrived();
}

wire::DescribeGroupsResponse::DescribedGroup GroupCoordinator::Impl::describe(
    const std::string& id, std::int16_t version) {
  wire::DescribeGroupsResponse::DescribedGroup answer;
  answer.group_id = id;
  ErrorCode error = ErrorCode::none;
  const Shard* shard = shard_of(id, error);
  if (shard == nullptr) {
    answer.error_code = error;
    return answer;
  }
  const ClassicGroup* group = shard->find_classic(id);
  if (group == nullptr) {
    answer.group_state = state_name(ClassicState::dead);
    if (version >= kDescribeNotFoundFrom) {
      answer.error_code = ErrorCode::group_id_not_found;
      answer.error_message = "Group " + id + " not found.";
    }
    return answer;
  }
  const bool stable = group->in(ClassicState::stable);
  answer.group_state = state_name(group->state());
  answer.protocol_type = group->protocol_type().value_or(std::string());
  if (stable) {
    answer.protocol_data = group->protocol_name().value_or(std::string());
  }
  for (const auto& [member_id, member] : group->members()) {
    wire::DescribeGroupsResponse::DescribedGroupMember entry;
    entry.member_id = member_id;
    entry.group_instance_id = member.instance_id;
    entry.client_id = member.client_id;
    entry.client_host = member.client_host;
    entry.member_assignment = member.assignment;
    if (stable) {
      const Protocol* protocol = member.find_protocol(answer.protocol_data);
      entry.member_metadata = protocol == nullptr ? Bytes() : protocol->metadata;
    }
    answer.members.push_back(std::move(entry));
  }
  return answer;
}

void GroupCoordinator::describe_groups(const wire::DescribeGroupsRequest& request,
                                       const RequestContext& context, Now,
                                       Done<wire::DescribeGroupsResponse> done) {
  Impl::Turn turn(*impl_);
  wire::DescribeGroupsResponse response;
  for (const std::string& id : request.groups) {
    response.groups.push_back(impl_->describe(id, context.api_version));
  }
  impl_->runtime.answer(done, std::move(response));
}

void GroupCoordinator::list_groups(const wire::ListGroupsRequest& request, const RequestContext&,
                                   Now, Done<wire::ListGroupsResponse> done) {
  Impl::Turn turn(*impl_);
  const auto matches = [](const std::vector<std::string>& filter, std::string_view value) {
    return filter.empty() || std::any_of(filter.begin(), filter.end(),
                                         [wanted = folded(value)](const std::string& one) {
                                           return folded(one) == wanted;
                                         });
  };
  wire::ListGroupsResponse response;
  for (const auto& [partition, shard] : impl_->shards) {
    if (shard->loading()) {
      response.groups.clear();
      response.error_code = ErrorCode::coordinator_load_in_progress;
      break;
    }
    const auto first = static_cast<std::ptrdiff_t>(response.groups.size());
    for (const auto& [id, known] : shard->groups()) {
      const std::shared_ptr<const Group> group = shard->find_committed(id);
      if (!group) {
        continue;  // it is on its way
      }
      if (matches(request.states_filter, group->state_text()) &&
          matches(request.types_filter, kind_name(group->kind()))) {
        wire::ListGroupsResponse::ListedGroup entry;
        entry.group_id = id;
        entry.protocol_type = group->protocol_type_text();
        entry.group_state = group->state_text();
        entry.group_type = kind_name(group->kind());
        response.groups.push_back(std::move(entry));
      }
    }
    // Nothing promises an order, but tests of Kafka's compare with the one that it has.
    using Listed = wire::ListGroupsResponse::ListedGroup;
    std::stable_sort(response.groups.begin() + first, response.groups.end(),
                     [](const Listed& a, const Listed& b) {
                       return java_table_order(a.group_id) < java_table_order(b.group_id);
                     });
  }
  impl_->runtime.answer(done, std::move(response));
}

void GroupCoordinator::delete_groups(const wire::DeleteGroupsRequest& request,
                                     const RequestContext&, Now now,
                                     Done<wire::DeleteGroupsResponse> done) {
  Impl::Turn turn(*impl_);

  struct Gathered {
    wire::DeleteGroupsResponse response;
    std::size_t waiting = 0;
  };

  auto gathered = std::make_shared<Gathered>();
  gathered->response.results.resize(request.groups_names.size());
  gathered->waiting = request.groups_names.size() + 1;
  const auto arrived = [this, gathered, done](std::size_t i, ErrorCode error) {
    if (i < gathered->response.results.size()) {
      gathered->response.results[i].error_code = error;
    }
    if (--gathered->waiting == 0) {
      impl_->runtime.answer(done, std::move(gathered->response));
    }
  };
  for (std::size_t i = 0; i < request.groups_names.size(); ++i) {
    const std::string& id = request.groups_names[i];
    gathered->response.results[i].group_id = id;
    ErrorCode error = ErrorCode::none;
    Shard* shard = impl_->shard_of(id, error);
    const Group* group = nullptr;
    if (shard != nullptr) {
      group = shard->find_group(id);
      if (group == nullptr) {
        error = ErrorCode::group_id_not_found;
      } else if (!group->is_empty()) {
        error = ErrorCode::non_empty_group;
      }
    }
    if (error != ErrorCode::none) {
      arrived(i, error);
      continue;
    }
    std::vector<Record> records;
    OffsetProtocol::remove_all(*shard, id, records);
    group->tombstones(records);
    // That the group is gone is settled by the log alone, whoever waits for it and for how long.
    delete_group(impl_->runtime, impl_->classic, *shard, id, std::move(records), [](ErrorCode, Now) {});
    shard->when_settled([arrived, i](ErrorCode failed, Now) { arrived(i, failed); }, now);
  }
  arrived(gathered->response.results.size(), ErrorCode::none);
}

void GroupCoordinator::delete_offsets(const wire::OffsetDeleteRequest& request,
                                      const RequestContext&, Now now,
                                      Done<wire::OffsetDeleteResponse> done) {
  Impl::Turn turn(*impl_);
  ErrorCode error = ErrorCode::invalid_group_id;
  Shard* shard = request.group_id.empty() ? nullptr : impl_->shard_of(request.group_id, error);
  if (shard == nullptr) {
    wire::OffsetDeleteResponse response;
    response.error_code = error;
    impl_->runtime.answer(done, std::move(response));
    return;
  }
  impl_->offsets.remove(*shard, request, now, done);
}

void GroupCoordinator::topics_deleted(const std::vector<std::string>& deleted, Now) {
  Impl::Turn turn(*impl_);
  const std::set<std::string, std::less<>> topics(deleted.begin(), deleted.end());
  for (const auto& [partition, shard] : impl_->shards) {
    if (!shard->loading()) {
      impl_->offsets.topics_deleted(*shard, topics);
    }
  }
}

// ------------------------------------------------------------------------------------------------
// outputs, outcome, time

bool GroupCoordinator::has_outputs() const {
  return !impl_->runtime.outputs.appends.empty() || !impl_->runtime.outputs.events.empty();
}

Outputs GroupCoordinator::take() {
  return std::exchange(impl_->runtime.outputs, Outputs());
}

bool GroupCoordinator::pending(AppendId id) const {
  const auto found = impl_->shards.find(groups::partition_of(id));
  return found != impl_->shards.end() && found->second->pending(id);
}

void GroupCoordinator::on_committed(AppendId id, ErrorCode error, Now now) {
  Impl::Turn turn(*impl_);
  const auto found = impl_->shards.find(groups::partition_of(id));
  if (found != impl_->shards.end()) {
    Shard& shard = *found->second;
    shard.on_committed(id, error, now);
    for (const std::shared_ptr<Group>& group : shard.take_displaced()) {
      impl_->classic.abandon(shard, *as_classic(group.get()), coordinator_error(error));
    }
    for (const std::string& group : shard.take_restored()) {
      impl_->consumer.restored(shard, group, "its last changes could not be stored", now);
    }
  }
}

void GroupCoordinator::tick(Now now) {
  Impl::Turn turn(*impl_);
  while (const std::optional<TimerKey> due = impl_->runtime.timers.pop_due(now.instant)) {
    const auto found = impl_->shards.find(due->partition);
    if (found == impl_->shards.end()) {
      continue;
    }
    if (due->kind == TimerKey::Kind::expire_offsets) {
      impl_->offsets.expire(*found->second, now);
      impl_->schedule_expiry(due->partition, now);
    } else if (due->kind < TimerKey::Kind::session) {
      impl_->classic.timer(*found->second, *due, now);
    } else {
      impl_->consumer.timer(*found->second, *due, now);
    }
  }
  for (const auto& [partition, shard] : impl_->shards) {
    shard->tick(now);
  }
}

Instant GroupCoordinator::next_deadline() const {
  Instant earliest = impl_->runtime.timers.next();
  for (const auto& [partition, shard] : impl_->shards) {
    earliest = std::min(earliest, shard->next_deadline());
  }
  return earliest;
}

std::string GroupCoordinator::dump_hard_state(PartitionIndex partition) const {
  const auto found = impl_->shards.find(partition);
  return found == impl_->shards.end() ? std::string() : found->second->dump();
}

}  // namespace hw::groups
