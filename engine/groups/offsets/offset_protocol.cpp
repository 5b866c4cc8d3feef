// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/offsets/offset_protocol.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/trial.h"
#include "engine/groups/runtime/java_string.h"

namespace hw::groups {
namespace {

using wire::ErrorCode;

constexpr std::int16_t kGroupNotFoundFrom = 9;  // OffsetCommit, KIP-848
constexpr std::int16_t kStaleEpochFrom = 6;     // TxnOffsetCommit

// The topics of two ids under one name are different topics: what was committed for the old one
// does not count.
bool other_topic(const Uuid& asked, const Uuid& stored) {
  return !asked.is_zero() && !stored.is_zero() && asked != stored;
}

using FetchedPartition = wire::OffsetFetchResponse::OffsetFetchResponsePartitions;

FetchedPartition fetched(PartitionIndex partition, const CommittedOffset* value) {
  FetchedPartition answer;
  answer.partition_index = partition;
  answer.committed_offset = value == nullptr ? kNoOffset : Offset(value->offset);
  answer.committed_leader_epoch =
      value == nullptr ? kNoLeaderEpoch : LeaderEpoch(value->leader_epoch);
  answer.metadata = value == nullptr ? std::string() : value->metadata;
  return answer;
}

// A response in which every partition of the request has `error`.
template <class Response, class Request>
Response all_failed(const Request& request, ErrorCode error) {
  Response response;
  for (const auto& topic : request.topics) {
    auto& answer = response.topics.emplace_back();
    answer.name = topic.name;
    answer.topic_id = topic.topic_id;
    for (const auto& partition : topic.partitions) {
      auto& entry = answer.partitions.emplace_back();
      entry.partition_index = partition.partition_index;
      entry.error_code = error;
    }
  }
  return response;
}

// Each partition of a commit: its record, or why there is none. `response` gets one entry for each.
template <class Response, class Request>
std::vector<Record> records_of(const Request& request, const Config& config, const Group* group, const Group::Committer& by, std::int64_t commit_ms,
                               std::int64_t expire_ms, Response& response) {
  std::vector<Record> records;
  for (const auto& topic : request.topics) {
    auto& answer = response.topics.emplace_back();
    answer.name = topic.name;
    answer.topic_id = topic.topic_id;
    for (const auto& partition : topic.partitions) {
      auto& entry = answer.partitions.emplace_back();
      entry.partition_index = partition.partition_index;
      const std::string& metadata = partition.committed_metadata ? *partition.committed_metadata : std::string();
      if (java_length(metadata) > static_cast<std::size_t>(config.offset_metadata_max_bytes)) {
        entry.error_code = ErrorCode::offset_metadata_too_large;
      } else if (group != nullptr) {
        entry.error_code = group->validate_commit_of(by, topic.topic_id, partition.partition_index);
      }
      if (entry.error_code != ErrorCode::none) {
        continue;
      }
      wire::OffsetCommitValue value;
      value.offset = partition.committed_offset;
      value.leader_epoch = partition.committed_leader_epoch;
      value.metadata = metadata;
      value.commit_timestamp = commit_ms;
      value.expire_timestamp = expire_ms;
      value.topic_id = topic.topic_id;
      if (std::optional<Bytes> bytes = encode_offset_value(value)) {
        records.push_back({encode_offset_key(request.group_id, topic.name, partition.partition_index.value()), std::move(*bytes)});
      } else {
        entry.error_code = ErrorCode::unknown_server_error;
      }
    }
  }
  return records;
}

// Tombstones for offsets that only open transactions have.
template <class Wanted>
void tombstones_of_pending(const Shard& shard, Wanted wanted, std::vector<Record>& records) {
  const OffsetKey* before = nullptr;
  for (const auto& [key, cell] : shard.pending_offsets().cells()) {
    if (cell.latest() != nullptr && (before == nullptr || *before != key.first) && wanted(key.first)) {
      records.push_back({encode_offset_key(key.first.group, key.first.topic, key.first.partition), std::nullopt});
      before = &key.first;
    }
  }
}

template <class Response>
void fail_all(Response& response, ErrorCode error) {
  for (auto& topic : response.topics) {
    for (auto& partition : topic.partitions) {
      partition.error_code = error;
    }
  }
}

}  // namespace

wire::OffsetCommitResponse OffsetProtocol::commit_error(const wire::OffsetCommitRequest& request, ErrorCode error) {
  return all_failed<wire::OffsetCommitResponse>(request, error);
}

wire::TxnOffsetCommitResponse OffsetProtocol::commit_error(const wire::TxnOffsetCommitRequest& request, ErrorCode error) {
  return all_failed<wire::TxnOffsetCommitResponse>(request, error);
}

void OffsetProtocol::commit(Shard& shard, const wire::OffsetCommitRequest& request,
                            const RequestContext& context, Now now,
                            Done<wire::OffsetCommitResponse> done) {
  Group* group = shard.find_group(request.group_id);
  ErrorCode error = ErrorCode::none;
  const Group::Committer by{request.member_id, request.group_instance_id,
                            request.generation_id_or_member_epoch, context.api_version};
  if (group != nullptr) {
    error = group->validate_commit(by);
  } else if (request.generation_id_or_member_epoch >= 0) {
    error = context.api_version >= kGroupNotFoundFrom ? ErrorCode::group_id_not_found
                                                      : ErrorCode::illegal_generation;
  }  // otherwise: a simple group, which the first committed offset makes
  if (error != ErrorCode::none) {
    trial::mark(trial::Mark::commit_fenced);
    runtime_.answer(std::move(done), commit_error(request, error));
    return;
  }
  if (ClassicGroup* classic = as_classic(group); classic != nullptr) {
    classic_.committed(shard, *classic, request.member_id, now);
  }

  wire::OffsetCommitResponse response;
  std::vector<Record> records = records_of(request, runtime_.config, group, by, now.wall.ms,
                                           request.retention_time_ms == -1 ? -1 : now.wall.ms + request.retention_time_ms, response);
  auto outcome = [this, done = std::move(done), answer = std::move(response)](ErrorCode failed, Now) mutable {
    if (failed != ErrorCode::none) {
      fail_all(answer, failed);
    }
    runtime_.answer(std::move(done), std::move(answer));
  };
  if (records.empty()) {
    shard.when_settled(std::move(outcome), now);
  } else {
    shard.append_within(std::move(records), std::move(outcome), now);
  }
}

void OffsetProtocol::commit(Shard& shard, const wire::TxnOffsetCommitRequest& request, const RequestContext& context, std::uint64_t verification,
                            Now now, Done<wire::TxnOffsetCommitResponse> done) {
  const Group* group = shard.find_group(request.group_id);
  const Group::Committer by{request.member_id, request.group_instance_id, request.generation_id_or_member_epoch, context.api_version, true};
  ErrorCode error = ErrorCode::none;
  if (group != nullptr) {
    error = group->validate_commit(by);
  } else if (request.generation_id_or_member_epoch >= 0) {
    error = ErrorCode::illegal_generation;
  }
  const auto known_to_client = [&](ErrorCode code) {
    return code == ErrorCode::stale_member_epoch && context.api_version < kStaleEpochFrom ? ErrorCode::illegal_generation : code;
  };
  if (error != ErrorCode::none) {
    runtime_.answer(std::move(done), commit_error(request, known_to_client(error)));
    return;
  }
  wire::TxnOffsetCommitResponse response;
  std::vector<Record> records = records_of(request, runtime_.config, group, by, now.wall.ms, -1, response);
  for (auto& topic : response.topics) {
    for (auto& partition : topic.partitions) {
      partition.error_code = known_to_client(partition.error_code);
    }
  }
  auto outcome = [this, done = std::move(done), answer = std::move(response)](ErrorCode failed,
                                                                              Now) mutable {
    if (failed != ErrorCode::none) {
      fail_all(answer, failed);
    }
    runtime_.answer(std::move(done), std::move(answer));
  };
  if (records.empty()) {
    shard.when_settled(std::move(outcome), now);
  } else {
    shard.append_transactional(std::move(records), {request.producer_id, request.producer_epoch, verification}, std::move(outcome), now);
  }
}

wire::OffsetFetchResponse::OffsetFetchResponseGroup OffsetProtocol::fetch(
    const Shard& shard, const wire::OffsetFetchRequest::OffsetFetchRequestGroup& request,
    bool latest) const {
  wire::OffsetFetchResponse::OffsetFetchResponseGroup response;
  response.group_id = request.group_id;
  const bool known = shard.find_group(request.group_id) != nullptr;
  const auto value_of = [&](const OffsetTimeline::Cell& cell) {
    return latest ? cell.latest() : cell.committed();
  };
  // While a transaction is open that commits the offset, nobody can say what it will be (KIP-447).
  const bool any_pending = latest && shard.has_pending_offsets(request.group_id);
  const auto fetched_or_unstable = [&](const OffsetKey& key, const CommittedOffset* value) {
    const bool unstable = any_pending && shard.has_pending_offset(key);
    FetchedPartition answer = fetched(PartitionIndex(key.partition), unstable ? nullptr : value);
    answer.error_code = unstable ? ErrorCode::unstable_offset_commit : ErrorCode::none;
    return answer;
  };
  if (request.topics) {
    for (const auto& topic : *request.topics) {
      wire::OffsetFetchResponse::OffsetFetchResponseTopics answer;
      answer.name = topic.name;
      answer.topic_id = topic.topic_id;
      for (const PartitionIndex partition : topic.partition_indexes) {
        const CommittedOffset* value = nullptr;
        if (known || latest) {
          const auto cell = shard.offsets().cells().find(
              OffsetKeyView{request.group_id, topic.name, partition.value()});
          value = cell == shard.offsets().cells().end() ? nullptr : value_of(cell->second);
        }
        if (value != nullptr && other_topic(topic.topic_id, value->topic_id)) {
          value = nullptr;
        }
        answer.partitions.push_back(fetched_or_unstable({request.group_id, topic.name, partition.value()}, value));
      }
      response.topics.push_back(std::move(answer));
    }
    return response;
  }
  for (auto cell = shard.first_offset(request.group_id);
       cell != shard.offsets().cells().end() && cell->first.group == request.group_id; ++cell) {
    const CommittedOffset* value = value_of(cell->second);
    if (value == nullptr) {
      continue;
    }
    if (response.topics.empty() || response.topics.back().name != cell->first.topic) {
      wire::OffsetFetchResponse::OffsetFetchResponseTopics answer;
      answer.name = cell->first.topic;
      response.topics.push_back(std::move(answer));
    }
    response.topics.back().partitions.push_back(fetched_or_unstable(cell->first, value));
  }
  return response;
}

void OffsetProtocol::remove(Shard& shard, const wire::OffsetDeleteRequest& request, Now now,
                            const Done<wire::OffsetDeleteResponse>& done) {
  wire::OffsetDeleteResponse response;
  const Group* group = shard.find_group(request.group_id);
  response.error_code =
      group == nullptr ? ErrorCode::group_id_not_found : group->validate_offset_delete();
  if (response.error_code != ErrorCode::none) {
    runtime_.answer(done, std::move(response));
    return;
  }
  std::vector<Record> records;
  for (const auto& topic : request.topics) {
    wire::OffsetDeleteResponse::OffsetDeleteResponseTopic answer;
    answer.name = topic.name;
    const bool subscribed = group->subscribed_to(topic.name);
    for (const auto& partition : topic.partitions) {
      wire::OffsetDeleteResponse::OffsetDeleteResponsePartition entry;
      entry.partition_index = partition.partition_index;
      if (subscribed) {
        entry.error_code = ErrorCode::group_subscribed_to_topic;
      } else if (shard.offsets().latest(OffsetKeyView{request.group_id, topic.name, partition.partition_index.value()}) != nullptr ||
                 shard.has_pending_offset({request.group_id, topic.name, partition.partition_index.value()})) {
        records.push_back(
            {encode_offset_key(request.group_id, topic.name, partition.partition_index.value()),
             std::nullopt});
      }
      answer.partitions.push_back(entry);
    }
    response.topics.push_back(std::move(answer));
  }
  auto outcome = [this, done, response = std::move(response)](ErrorCode failed, Now) {
    wire::OffsetDeleteResponse answer = response;
    if (failed != ErrorCode::none) {
      answer.topics.clear();
      answer.error_code = failed;
    }
    runtime_.answer(done, std::move(answer));
  };
  if (records.empty()) {
    shard.when_settled(std::move(outcome), now);
  } else {
    shard.append_within(std::move(records), std::move(outcome), now);
  }
}

void OffsetProtocol::remove_all(const Shard& shard, std::string_view group,
                                std::vector<Record>& records) {
  for (auto cell = shard.first_offset(group);
       cell != shard.offsets().cells().end() && cell->first.group == group; ++cell) {
    if (cell->second.latest() != nullptr) {
      records.push_back(
          {encode_offset_key(group, cell->first.topic, cell->first.partition), std::nullopt});
    }
  }
  const auto without_committed = [&](const OffsetKey& key) { return key.group == group && shard.offsets().latest(key) == nullptr; };
  tombstones_of_pending(shard, without_committed, records);
}

void OffsetProtocol::topics_deleted(Shard& shard,
                                    const std::set<std::string, std::less<>>& topics) {
  std::vector<Record> records;
  for (const auto& [key, cell] : shard.offsets().cells()) {
    if (cell.latest() != nullptr && topics.find(key.topic) != topics.end()) {
      records.push_back({encode_offset_key(key.group, key.topic, key.partition), std::nullopt});
    }
  }
  const auto without_committed = [&](const OffsetKey& key) {
    return topics.find(key.topic) != topics.end() && shard.offsets().latest(key) == nullptr;
  };
  tombstones_of_pending(shard, without_committed, records);
  shard.append_in_pieces(std::move(records));
}

void OffsetProtocol::expire(Shard& shard, Now now) {
  std::vector<Record> records;
  std::vector<std::pair<std::string, std::vector<Record>>> gone;
  for (const auto& [id, group] : shard.groups()) {
    bool all_gone = !shard.has_pending_offsets(id);
    std::vector<Record> tombstones;
    for (auto cell = shard.first_offset(id);
         cell != shard.offsets().cells().end() && cell->first.group == id; ++cell) {
      const CommittedOffset* value = cell->second.latest();
      if (value == nullptr) {
        continue;
      }
      const std::optional<std::int64_t> since =
          group->unused_since_ms(cell->first.topic, value->commit_timestamp_ms);
      const bool over = since && !shard.has_pending_offset(cell->first) &&
                        (value->expire_timestamp_ms != -1 ? now.wall.ms >= value->expire_timestamp_ms
                                                          : now.wall.ms - *since >= runtime_.config.offsets_retention_ms);
      if (over) {
        tombstones.push_back(
            {encode_offset_key(id, cell->first.topic, cell->first.partition), std::nullopt});
      } else {
        all_gone = false;
      }
    }
    if (all_gone && group->is_empty()) {
      group->tombstones(tombstones);
      gone.emplace_back(id, std::move(tombstones));
    } else {
      std::move(tombstones.begin(), tombstones.end(), std::back_inserter(records));
    }
  }
  for (auto& [id, tombstones] : gone) {
    delete_group(runtime_, classic_, shard, id, std::move(tombstones), [](ErrorCode, Now) {});
  }
  shard.append_in_pieces(std::move(records));
}

void delete_group(Runtime& runtime, ClassicProtocol& classic, Shard& shard,
                  const std::string& group, std::vector<Record> records, Shard::Outcome outcome) {
  std::shared_ptr<Group> taken;
  if (const auto found = shard.groups().find(group); found != shard.groups().end()) {
    taken = found->second;
    shard.groups().erase(found);
  }
  shard.append(std::move(records), [&runtime, &classic, &shard, group, taken,
                                    outcome = std::move(outcome)](ErrorCode error, Now now) {
    if (error == ErrorCode::none) {
      // A group that was made meanwhile under the same name is another one, and says so itself.
      if (taken && shard.find_group(group) == nullptr) {
        runtime.emit(event::GroupDeleted{group});
      }
    } else if (taken) {
      if (ClassicGroup* other = shard.find_classic(group); other != nullptr) {
        classic.abandon(shard, *other, error);
      }
      shard.groups().erase(group);
      shard.groups().emplace(group, taken);
    }
    outcome(error, now);
  });
}

}  // namespace hw::groups
