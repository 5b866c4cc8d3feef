// SPDX-License-Identifier: Apache-2.0
// Replication between nodes: whom this broker follows, who follows it, and what it asks the controller for.
#include <algorithm>
#include <map>
#include <utility>

#include "engine/broker/broker_impl.h"

namespace hw::broker {

namespace {

constexpr std::size_t kAlterMost = 1000;  // partitions of one AlterPartition

}  // namespace

FetcherOptions Broker::Impl::fetcher_options(const BrokerOptions& options) {
  FetcherOptions result;
  result.self = options.node;
  result.fetchers = options.fetchers;
  result.min_bytes = options.replica_fetch_min_bytes;
  result.partition_max_bytes = options.replica_fetch_max_bytes;
  result.response_max_bytes = options.replica_fetch_response_bytes;
  result.wait_max = options.replica_fetch_wait_max;
  result.backoff_max = options.replica_fetch_backoff;
  return result;
}

void Broker::Impl::follow(Partition& partition, Instant now) {
  const bool able = partition.log() != nullptr && !partition.log()->offline();
  if (partition.is_leader() || partition.leader() == kNoBroker || !able) {
    fetchers.unfollow(partition);
    return;
  }
  const log::PartitionLog& log = *partition.log();
  if (log.latest_epoch() == kNoLeaderEpoch && log.high_watermark() < log.log_end_offset() &&
      !partition.truncate_to(log.high_watermark(), event::TruncationCause::no_epochs)) {
    fetchers.unfollow(partition);
    return;
  }
  fetchers.follow(partition, now);
}

// ---- followers of this broker

ErrorCode Broker::Impl::note_follower(const ParkedFetch& fetch, const FetchPartition& wanted, Partition& partition,
                                      Instant now) {
  Partition::Position position;
  position.follower = fetch.replica;
  position.broker_epoch = fetch.replica_epoch;
  position.log_end = wanted.fetch_offset;
  position.log_start = wanted.fetcher_log_start_offset;
  bool moved = false;
  const Offset before = partition.follower_log_end(fetch.replica);
  const Offset low_before = partition.deletes.empty() ? kNoOffset : partition.low_watermark();
  const ErrorCode error = partition.follower_fetched(position, now, moved);
  if (moved) {
    watermark_moved(partition, now);
  } else if (!partition.deletes.empty() && partition.low_watermark() > low_before) {
    wake_deletes(partition);
  }
  if (before != kNoOffset && position.log_end < before) {
    // A request of an earlier connection that was overtaken by newer ones, or a log that was cut. The session that the follower
    // uses may have told its position already and be quiet: it is to tell it again.
    for (Follow* follow = partition.sessions.first(); follow != nullptr; follow = follow->next) {
      follow->session->mark_ready(follow->self);
    }
  }
  return error;
}

void Broker::Impl::hurry_awaited(Instant now) {
  for (auto& [id, state] : replicas.followers) {
    if (state.awaited == 0) {
      continue;
    }
    for (Watch* w = state.parked.first(); w != nullptr; w = w->next) {
      answer_by(*w->operation, now);
    }
  }
}

// Rare, and in the order of the image: every partition that is led here looks at who may join.
void Broker::Impl::brokers_changed(Instant now) {
  for (const auto& [name, topic] : image->topics()) {
    HostedTopic* here = hosted(topic->id);
    if (here == nullptr) {
      continue;
    }
    for (const auto& partition : here->partitions) {
      if (partition != nullptr && partition->brokers_changed(now)) {
        watermark_moved(*partition, now);
      }
    }
  }
}

void Broker::Impl::look_at_lag(Instant now) {
  if (replicas.lagging.empty()) {
    lag_check_at = kNever;
    return;
  }
  const Instant next = now + Duration{replicas.lag_time_max.ns / 2};
  if (lag_check_at == kNever) {
    lag_check_at = next;
    return;
  }
  if (now < lag_check_at) {
    return;
  }
  for (std::size_t i = 0; i < replicas.lagging.end(); ++i) {
    if (Partition* partition = replicas.lagging[i]) {
      partition->check_lag(now);
    }
  }
  lag_check_at = replicas.lagging.empty() ? kNever : next;
}

// ---- the ISR

void Broker::Impl::send_alter_partition(Instant now, BrokerOutputs& out) {
  if (altering || replicas.to_alter.empty() || replicas.broker_epoch < 0 || now < alter_at) {
    return;
  }
  PeerAlterPartition& alter = out.alter_partition.emplace();
  alter.version = wire::AlterPartitionRequest::kHighestVersion;
  alter.request.broker_id = options.node;
  alter.request.broker_epoch = replicas.broker_epoch;
  std::map<Uuid, std::size_t> topics;
  proposed.clear();
  for (std::size_t i = 0; i < replicas.to_alter.end() && proposed.size() < kAlterMost; ++i) {
    Partition* partition = replicas.to_alter[i];
    if (partition == nullptr) {
      continue;
    }
    const Uuid& id = partition->topic().id;
    const auto [at, fresh] = topics.emplace(id, alter.request.topics.size());
    if (fresh) {
      alter.request.topics.emplace_back().topic_id = id;
    }
    auto& entry = alter.request.topics[at->second].partitions.emplace_back();
    partition->take_proposal(entry);
    proposed.push_back({id, partition->index(), entry.partition_epoch});
  }
  altering = true;
}

void Broker::Impl::alter_partition_answered(const wire::AlterPartitionResponse& response, Now now) {
  if (response.error_code != ErrorCode::none) {
    alter_partition_failed(now);
    return;
  }
  if (!std::exchange(altering, false)) {
    return;
  }
  std::map<std::pair<Uuid, PartitionIndex>, const wire::AlterPartitionResponse::PartitionData*> answers;
  for (const auto& topic : response.topics) {
    for (const auto& partition : topic.partitions) {
      answers.insert_or_assign({topic.topic_id, partition.partition_index}, &partition);
    }
  }
  for (const Proposed& one : proposed) {
    Partition* partition = at(hosted(one.topic_id), one.partition);
    if (partition == nullptr) {
      continue;
    }
    const auto answer = answers.find({one.topic_id, one.partition});
    if (answer == answers.end()) {
      partition->proposal_failed(one.partition_epoch);
      alter_at = now.instant + kAlterBackoff;
      continue;
    }
    bool moved = false;
    if (partition->proposal_answered(one.partition_epoch, *answer->second, now.instant, moved)) {
      alter_at = now.instant + kAlterBackoff;
    }
    if (moved) {
      watermark_moved(*partition, now.instant);
    }
  }
  proposed.clear();
}

void Broker::Impl::alter_partition_failed(Now now) {
  if (!std::exchange(altering, false)) {
    return;
  }
  alter_at = now.instant + kAlterBackoff;
  for (const Proposed& one : proposed) {
    if (Partition* partition = at(hosted(one.topic_id), one.partition)) {
      partition->proposal_failed(one.partition_epoch);
    }
  }
  proposed.clear();
}

// ---- what goes out

void Broker::Impl::send_to_peers(Now now, BrokerOutputs& out) {
  look_at_lag(now.instant);
  if (replicas.broker_epoch < 0) {
    return;
  }
  send_alter_partition(now.instant, out);
  fetchers.send(replicas.broker_epoch, now, out);
}

Instant Broker::Impl::peer_deadline() const noexcept {
  Instant first = std::min(lag_check_at, make_again_at);
  if (replicas.broker_epoch >= 0) {
    first = std::min(first, fetchers.next_deadline());
    if (!altering && !replicas.to_alter.empty()) {
      first = std::min(first, alter_at);
    }
  }
  return first;
}

void Broker::set_broker_epoch(std::int64_t epoch) { impl_->replicas.broker_epoch = epoch; }

void Broker::fetched(std::uint64_t id, wire::FetchResponse&& response, Now now) {
  impl_->caught_up.clear();
  impl_->fetchers.fetched(id, std::move(response), now, impl_->caught_up);
  for (Partition* partition : impl_->caught_up) {
    impl_->watermark_moved(*partition, now.instant);
  }
}
void Broker::offsets_listed(std::uint64_t id, const wire::ListOffsetsResponse& response, Now now) {
  impl_->fetchers.offsets_listed(id, response, now);
}
void Broker::fetch_failed(std::uint64_t id, Now now) { impl_->fetchers.failed(id, now); }
void Broker::alter_partition_answered(const wire::AlterPartitionResponse& response, Now now) {
  impl_->alter_partition_answered(response, now);
}
void Broker::alter_partition_failed(Now now) { impl_->alter_partition_failed(now); }

}  // namespace hw::broker
