// SPDX-License-Identifier: Apache-2.0
// Produce, and what coordinators append.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "engine/base/trial.h"
#include "engine/broker/broker_impl.h"

namespace hw::broker {

void Broker::Impl::append_one(const ProduceCaller& caller, const Resolved& where, std::int16_t acks, Bytes records,
                              const log::TransactionTerms& transaction, Now now, wire::ProduceResponse::PartitionProduceResponse& answer,
                              Offset& required) {
  Partition* partition = where.partition;
  if (partition != nullptr && partition->topic().internal && !caller.may_write_internal_topics) {
    answer.error_code = ErrorCode::invalid_topic_exception;
    return;
  }
  if (partition == nullptr) {
    answer.error_code = ErrorCode::not_leader_or_follower;
    return;
  }
  answer.error_code = partition->check(true, kNoLeaderEpoch);
  if (answer.error_code != ErrorCode::none) {
    return;
  }
  const auto size = static_cast<std::int64_t>(records.size());
  log::AppendRequest append;
  append.records = std::move(records);
  append.origin = log::AppendOrigin::client;
  append.now = now.wall;
  append.connection = caller.ticket.connection;
  append.exclusive = true;
  append.transaction = transaction;
  bool moved = false;
  log::AppendOutcome outcome = partition->append(std::move(append), acks, now.instant, moved);
  answer.error_code = outcome.error;
  answer.base_offset = outcome.base_offset;
  answer.log_append_time_ms = outcome.log_append_time_ms;
  answer.log_start_offset = outcome.log_start_offset;
  if (outcome.error != ErrorCode::none) {
    answer.base_offset = kNoOffset;
    for (log::RecordError& fault : outcome.record_errors) {
      wire::ProduceResponse::BatchIndexAndErrorMessage detail;
      detail.batch_index = fault.index;
      if (!fault.message.empty()) {
        detail.batch_index_error_message = std::move(fault.message);
      }
      answer.record_errors.push_back(std::move(detail));
    }
    if (!outcome.error_message.empty()) {
      answer.error_message = std::move(outcome.error_message);
    }
    return;
  }
  required = outcome.last_offset + 1;
  if (!outcome.duplicate) {
    counters->bytes_in.add(size);
    counters->records_in.add(outcome.last_offset - outcome.base_offset + 1);
    if (caller.counters != nullptr) {
      caller.counters->records_in.add(outcome.last_offset - outcome.base_offset + 1);
    }
  }
  if (!outcome.duplicate) {
    wake_followers(*partition);
  }
  if (moved) {
    grew(*partition, size);
  }
}

namespace {

// Calls `use(topic_at, partition_at, batch)` for every transactional batch that may be looked at.
template <class Use>
void for_each_transactional(const wire::ProduceRequest& request, std::span<const wire::ProduceRequestCheck> checked, Use use) {
  std::size_t at = 0;
  for (std::size_t t = 0; t < request.topic_data.size(); ++t) {
    const auto& partitions = request.topic_data[t].partition_data;
    for (std::size_t p = 0; p < partitions.size(); ++p) {
      if (checked[at++].verdict.ok() && partitions[p].records) {
        const Bytes records = partitions[p].records->flatten();
        const wire::BatchView batch(records.span());
        if (batch.transactional() && batch.has_producer_id()) {
          use(t, p, batch);
        }
      }
    }
  }
}

}  // namespace

const Broker::TransactionQuestion::Part* Broker::TransactionQuestion::find(std::size_t topic_at, std::size_t partition_at) const noexcept {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.topic_at == topic_at && part.partition_at == partition_at; });
  return found == parts.end() ? nullptr : &*found;
}

ErrorCode Broker::Impl::transaction_refusal(const wire::ProduceRequest& request, std::span<const wire::ProduceRequestCheck> checked) {
  ErrorCode refusal = ErrorCode::none;
  std::optional<std::pair<ProducerId, ProducerEpoch>> producer;
  for_each_transactional(request, checked, [&](std::size_t, std::size_t, const wire::BatchView& batch) {
    const std::pair of{batch.producer_id(), batch.producer_epoch()};
    if (!request.transactional_id) {
      refusal = ErrorCode::transactional_id_authorization_failed;
    } else if (producer && *producer != of && refusal == ErrorCode::none) {
      refusal = ErrorCode::invalid_producer_id_mapping;
    }
    producer = of;
  });
  return refusal;
}

Broker::TransactionQuestion Broker::Impl::transaction_question(const ProduceCaller& caller, const wire::ProduceRequest& request, Now now) {
  TransactionQuestion question;
  if (!caller.verify_transactions || !request.transactional_id || request.acks < -1 || request.acks > 1) {
    return question;
  }
  std::vector<wire::ProduceRequestCheck> checked;
  for (const auto& topic : request.topic_data) {
    for (const auto& data : topic.partition_data) {
      const Bytes records = data.records.has_value() ? data.records->flatten() : Bytes{};
      checked.push_back(wire::check_produce_request(records.span(), caller.version));
      if (checked.back().whole_request) {
        return question;
      }
    }
  }
  if (transaction_refusal(request, checked) != ErrorCode::none) {
    return question;
  }
  constexpr std::int16_t kTopicIdsFrom = 13;
  constexpr std::int16_t kEpochsRiseFrom = 12;
  for_each_transactional(request, checked, [&](std::size_t t, std::size_t p, const wire::BatchView& batch) {
    const auto& topic = request.topic_data[t];
    const PartitionIndex index(topic.partition_data[p].index);
    const Resolved where = resolve(topic.name, topic.topic_id, caller.version >= kTopicIdsFrom, index);
    if (where.partition == nullptr || where.partition->check(true, kNoLeaderEpoch) != ErrorCode::none ||
        (where.partition->topic().internal && !caller.may_write_internal_topics)) {
      return;  // produce() says why
    }
    const std::uint64_t verification = where.partition->log()->begin_verification(batch.producer_id(), batch.producer_epoch(), batch.base_sequence(),
                                                                                  caller.version >= kEpochsRiseFrom, now.wall);
    if (verification == 0) {
      return;
    }
    question.producer_id = batch.producer_id();
    question.epoch = batch.producer_epoch();
    question.parts.push_back({t, p, where.partition->topic().name, index, verification, ErrorCode::none, {}});
  });
  return question;
}

void Broker::Impl::mark_superseded(const wire::ProduceRequest& request, bool by_topic_id) {
  superseded.clear();
  if (checks.size() < 2) {
    return;
  }
  std::vector<std::size_t> topic_of(request.topic_data.size());  // the first entry of the same topic
  std::unordered_map<std::string_view, std::size_t> names;
  std::unordered_map<Uuid, std::size_t> ids;
  std::unordered_map<std::uint64_t, std::size_t> last;
  std::size_t at = 0;
  for (std::size_t t = 0; t < request.topic_data.size(); ++t) {
    const auto& topic = request.topic_data[t];
    topic_of[t] = by_topic_id ? ids.emplace(topic.topic_id, t).first->second : names.emplace(topic.name, t).first->second;
    for (const auto& data : topic.partition_data) {
      const std::uint64_t key =
          (static_cast<std::uint64_t>(topic_of[t]) << 32U) | static_cast<std::uint32_t>(data.index);
      const auto [before, fresh] = last.emplace(key, at);
      if (!fresh) {
        superseded.resize(checks.size(), false);
        superseded[before->second] = true;
        before->second = at;
      }
      ++at;
    }
  }
}

void Broker::Impl::produce(const ProduceCaller& caller, wire::ProduceRequest& request, Now now, BrokerOutputs& out) {
  BrokerOutputs::Produced done;
  done.ticket = caller.ticket;
  done.answer_owed = request.acks != 0;
  wire::ProduceResponse& response = done.response;
  const bool by_topic_id = caller.version >= 13;
  const bool acks_known = request.acks >= -1 && request.acks <= 1;
  waiting.clear();
  // Headers of all batches first: bytes that are no batch at all refuse the whole request.
  checks.clear();
  const wire::RecordsVerdict* refusal = nullptr;
  for (auto& topic : request.topic_data) {
    for (auto& data : topic.partition_data) {
      const Bytes records = data.records.has_value() ? data.records->flatten() : Bytes{};
      checks.push_back(wire::check_produce_request(records.span(), caller.version));
    }
  }
  mark_superseded(request, by_topic_id);
  for (const wire::ProduceRequestCheck& check : checks) {
    if (check.whole_request) {
      refusal = &check.verdict;
      break;
    }
  }
  const ErrorCode transaction = refusal == nullptr ? transaction_refusal(request, checks) : ErrorCode::none;
  std::size_t next_check = 0;
  response.responses.reserve(request.topic_data.size());
  for (auto& topic : request.topic_data) {
    auto& topic_answer = response.responses.emplace_back();
    topic_answer.partition_responses.reserve(topic.partition_data.size());
    for (auto& data : topic.partition_data) {
      const wire::ProduceRequestCheck& checked = checks[next_check++];
      if (!superseded.empty() && superseded[next_check - 1]) {
        continue;
      }
      auto& answer = topic_answer.partition_responses.emplace_back();
      answer.index = data.index;
      answer.base_offset = kNoOffset;
      if (refusal != nullptr) {
        answer.error_code = refusal->error;
        answer.error_message = refusal->detail;
        done.failed = true;
        continue;
      }
      if (transaction != ErrorCode::none) {
        answer.error_code = transaction;
        done.failed = true;
        continue;
      }
      const Resolved where = resolve(topic.name, topic.topic_id, by_topic_id, PartitionIndex(data.index));
      if (where.error != ErrorCode::none) {
        answer.error_code = where.error;
        done.failed = true;
        continue;
      }
      Bytes records;
      if (data.records.has_value()) {
        records = data.records->flatten();
        data.records.reset();  // the frame has one owner less
      }
      Offset required = kNoOffset;
      if (!checked.verdict.ok()) {
        answer.error_code = checked.verdict.error;
      } else if (!acks_known) {
        answer.error_code = ErrorCode::invalid_required_acks;
      } else {
        if (checked.size < records.size()) {
          records = records.slice(0, checked.size);
        }
        const TransactionQuestion::Part* asked = caller.answered == nullptr
                                                     ? nullptr
                                                     : caller.answered->find(static_cast<std::size_t>(&topic - request.topic_data.data()),
                                                                             static_cast<std::size_t>(&data - topic.partition_data.data()));
        if (asked != nullptr && asked->error != ErrorCode::none) {
          answer.error_code = asked->error;
          if (!asked->message.empty()) {
            answer.error_message = asked->message;
          }
        } else {
          append_one(caller, where, request.acks, std::move(records), {caller.verify_transactions, asked == nullptr ? 0 : asked->verification, 0},
                     now, answer, required);
        }
      }
      if (answer.error_code != ErrorCode::none) {
        done.failed = true;
        if (answer.error_code == ErrorCode::not_leader_or_follower && caller.version >= 10) {
          name_leader(where, answer.current_leader, &response.node_endpoints);
        }
      } else if (request.acks != 0 && where.partition->acknowledged_end(request.acks) < required &&
                 !trial::has_bug(trial::Canary::acks_before_isr)) {
        waiting.push_back({where.partition->topic().id, where.partition->index(), required,
                           response.responses.size() - 1, topic_answer.partition_responses.size() - 1, false});
      }
    }
    if (topic_answer.partition_responses.empty() && !topic.partition_data.empty()) {
      response.responses.pop_back();  // all of it comes again further behind
      continue;
    }
    topic_answer.name = std::move(topic.name);
    topic_answer.topic_id = topic.topic_id;
  }
  if (waiting.empty()) {
    out.produced.push_back(std::move(done));
    return;
  }
  auto parked = std::make_unique<ParkedProduce>();
  parked->ticket = caller.ticket;
  parked->acks = request.acks;
  parked->response = std::move(done.response);
  parked->failed = done.failed;
  parked->pending = waiting;
  parked->open = waiting.size();
  if (heap.size() >= options.max_parked) {
    expire(*parked, out);
    return;
  }
  const bool early = trial::happens(trial::Oddity::early_time_out);
  watch(*parked, &Partition::produces);
  park(std::move(parked), now.instant + milliseconds(early ? 0 : std::max(request.timeout_ms, 0)));
}

bool Broker::Impl::look_at_produce(ParkedProduce& operation) {
  for (std::size_t i = 0; i < operation.pending.size(); ++i) {
    ParkedProduce::Pending& pending = operation.pending[i];
    if (pending.done) {
      continue;
    }
    Partition* partition = at(hosted(pending.topic_id), pending.partition);
    ErrorCode error = ErrorCode::none;
    if (partition == nullptr) {
      error = image->find_topic(pending.topic_id) == nullptr ? ErrorCode::unknown_topic_or_partition
                                                             : ErrorCode::not_leader_or_follower;
    } else {
      error = partition->check(true, kNoLeaderEpoch);
      if (error == ErrorCode::none) {
        if (partition->acknowledged_end(operation.acks) < pending.required) {
          continue;
        }
        // A coordinator's records count once they are committed, whoever is in sync then: the next one would read them.
        if (operation.acks == -1 && !operation.committed && partition->maximal_isr_too_small()) {
          trial::mark(trial::Mark::produce_min_isr_lost);
          error = ErrorCode::not_enough_replicas_after_append;
        }
      }
    }
    finish_pending(operation, i, error);
  }
  return operation.open == 0;
}

bool Broker::Impl::waits_for_disk(const ParkedProduce& operation) {
  return std::any_of(operation.pending.begin(), operation.pending.end(), [this](const ParkedProduce::Pending& pending) {
    const Partition* partition = pending.done ? nullptr : at(hosted(pending.topic_id), pending.partition);
    return partition != nullptr && partition->log() != nullptr && partition->log()->settled_end() < pending.required;
  });
}

void Broker::Impl::finish_pending(ParkedProduce& operation, std::size_t i, ErrorCode error) {
  const ParkedProduce::Pending& pending = operation.pending[i];
  operation.finish(i);
  operation.failed = operation.failed || error != ErrorCode::none;
  if (!operation.committed) {
    operation.response.responses[pending.topic_at].partition_responses[pending.partition_at].error_code = error;
  } else if (error != ErrorCode::none) {
    operation.internal_error = error;
  }
}

void Broker::Impl::expire(ParkedProduce& operation, BrokerOutputs& out) {
  trial::mark(trial::Mark::produce_times_out);
  for (std::size_t i = 0; i < operation.pending.size(); ++i) {
    if (!operation.pending[i].done) {
      finish_pending(operation, i, ErrorCode::request_timed_out);
    }
  }
  answer_produce(operation, out);
}

void Broker::Impl::answer_produce(ParkedProduce& operation, BrokerOutputs& out) {
  if (operation.committed) {
    internal_done.emplace_back(std::move(operation.committed), operation.internal_error);
    return;
  }
  out.produced.push_back({operation.ticket, std::move(operation.response), operation.failed, true});
}

Partition* Broker::Impl::coordinated(const std::string& topic, PartitionIndex index, const Committed& done) {
  Partition* partition = at(hosted(topic), index);
  if (partition == nullptr) {
    done(image->find_topic(topic) == nullptr ? ErrorCode::unknown_topic_or_partition
                                             : ErrorCode::not_leader_or_follower);
    return nullptr;
  }
  if (const ErrorCode refused = partition->check(true, kNoLeaderEpoch); refused != ErrorCode::none) {
    done(refused);
    return nullptr;
  }
  return partition;
}

void Broker::Impl::append_internal(const std::string& topic, PartitionIndex index, Bytes batch, Now now, Committed done,
                                   const log::TransactionTerms& transaction) {
  Partition* partition = coordinated(topic, index, done);
  if (partition == nullptr) {
    return;
  }
  const auto size = static_cast<std::int64_t>(batch.size());
  log::AppendRequest append;
  append.records = std::move(batch);
  append.origin = log::AppendOrigin::coordinator;
  append.now = now.wall;
  append.exclusive = true;
  append.transaction = transaction;
  bool moved = false;
  const log::AppendOutcome outcome = partition->append(std::move(append), -1, now.instant, moved);
  if (outcome.error != ErrorCode::none) {
    done(outcome.error);
    return;
  }
  wake_followers(*partition);
  if (moved) {
    grew(*partition, size);
  }
  await_committed(*partition, outcome.last_offset + 1, std::move(done));
}

void Broker::Impl::await_committed(const std::string& topic, PartitionIndex index, Offset end, Committed done) {
  if (Partition* partition = coordinated(topic, index, done)) {
    await_committed(*partition, end, std::move(done));
  }
}

void Broker::Impl::await_committed(Partition& partition, Offset end, Committed done) {
  if (partition.log()->high_watermark() >= end) {
    done(ErrorCode::none);
    return;
  }
  auto parked = std::make_unique<ParkedProduce>();
  parked->committed = std::move(done);
  parked->pending.push_back({partition.topic().id, partition.index(), end, 0, 0, false});
  parked->open = 1;
  watch(*parked, &Partition::produces);
  park(std::move(parked), kNever);
}

}  // namespace hw::broker
