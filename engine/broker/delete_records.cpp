// SPDX-License-Identifier: Apache-2.0
// DeleteRecords (KIP-107): the log start of partitions moves forward, here at once and at the followers with their next
// fetches; segments go with the next round of retention. The answer waits for the low watermark, so that no replica that is
// alive brings back what is gone.
#include <map>
#include <unordered_map>
#include <utility>

#include "engine/base/trial.h"
#include "engine/broker/broker_impl.h"

namespace hw::broker {

bool Broker::Impl::delete_in(const Resolved& where, Offset offset, Instant now, Offset& required,
                             wire::DeleteRecordsResponse::DeleteRecordsPartitionResult& answer) {
  answer.low_watermark = kNoOffset.value();
  if (where.error != ErrorCode::none || where.partition == nullptr) {
    answer.error_code = where.error != ErrorCode::none ? where.error : ErrorCode::not_leader_or_follower;
    return false;
  }
  Partition& partition = *where.partition;
  if (partition.topic().internal) {
    answer.error_code = ErrorCode::invalid_topic_exception;
    return false;
  }
  const Partition::Deleted done = partition.delete_records(offset);
  answer.error_code = done.error;
  if (done.error != ErrorCode::none) {
    return false;
  }
  if (done.moved) {
    tell_followers(partition, now);
  }
  required = done.required;
  const Offset low_watermark = partition.low_watermark();
  answer.low_watermark = low_watermark.value();
  return low_watermark < required;
}

void Broker::Impl::delete_records(const Ticket& ticket, const wire::DeleteRecordsRequest& request, Now now, BrokerOutputs& out) {
  // A partition that is named more than once counts with its last offset, and is answered once.
  std::map<std::pair<std::string_view, PartitionIndex>, Offset> wanted;
  for (const auto& topic : request.topics) {
    for (const auto& partition : topic.partitions) {
      wanted[{topic.name, partition.partition_index}] = partition.offset;
    }
  }
  auto operation = std::make_unique<ParkedDelete>();
  operation->ticket = ticket;
  auto& topics = operation->response.topics;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const auto& topic : request.topics) {
    for (const auto& partition : topic.partitions) {
      const auto it = wanted.find({topic.name, partition.partition_index});
      if (it == wanted.end()) {
        continue;
      }
      const auto [place, fresh] = places.emplace(topic.name, topics.size());
      if (fresh) {
        topics.emplace_back().name = topic.name;
      }
      auto& answers = topics[place->second].partitions;
      auto& answer = answers.emplace_back();
      answer.partition_index = partition.partition_index;
      const Resolved where = resolve(topic.name, {}, false, partition.partition_index);
      Offset required;
      if (delete_in(where, it->second, now.instant, required, answer)) {
        // Until it is done: what the answer says when the time is over, the low watermark as it is now.
        answer.error_code = ErrorCode::request_timed_out;
        operation->pending.push_back({where.partition->topic().id, partition.partition_index, required, place->second,
                                      answers.size() - 1, false});
      }
      wanted.erase(it);
    }
  }
  operation->open = operation->pending.size();
  if (operation->open == 0 || request.timeout_ms <= 0 || heap.size() >= options.max_parked) {
    answer_delete(*operation, out);
    return;
  }
  watch(*operation, &Partition::deletes);
  const bool early = trial::happens(trial::Oddity::early_time_out);
  park(std::move(operation), now.instant + milliseconds(early ? 0 : request.timeout_ms));
}

bool Broker::Impl::look_at_delete(ParkedDelete& operation) {
  for (std::size_t i = 0; i < operation.pending.size(); ++i) {
    const ParkedDelete::Pending& pending = operation.pending[i];
    const Partition* partition = pending.done ? nullptr : at(hosted(pending.topic_id), pending.partition);
    // Who stops being the leader says nothing more: its client hears that the time is over, as in Kafka.
    if (partition == nullptr || partition->check(true, kNoLeaderEpoch) != ErrorCode::none) {
      continue;
    }
    const Offset low_watermark = partition->low_watermark();
    if (low_watermark >= pending.required) {
      auto& answer = operation.answer(pending);
      answer.error_code = ErrorCode::none;
      answer.low_watermark = low_watermark.value();
      operation.finish(i);
    }
  }
  return operation.open == 0;
}

void Broker::Impl::answer_delete(ParkedDelete& operation, BrokerOutputs& out) {
  out.deleted.push_back({operation.ticket, std::move(operation.response)});
}

}  // namespace hw::broker
