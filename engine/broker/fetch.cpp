// SPDX-License-Identifier: Apache-2.0
// Fetch: what is read for whom, and when that is an answer.
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/base/trial.h"
#include "engine/broker/broker_impl.h"

namespace hw::broker {

void Broker::Impl::read(const ParkedFetch& fetch, const FetchPartition& wanted, const Resolved& where,
                        std::int64_t limit, bool at_least_one, Instant now,
                        wire::FetchResponse::PartitionData& data, std::int64_t& bytes) {
  const bool follower = fetch.replica.value() >= 0;
  Partition* partition = where.partition;
  if (partition == nullptr) {
    data.error_code = ErrorCode::not_leader_or_follower;
    data.aborted_transactions = std::nullopt;
    return;
  }
  if (trial::has_bug(trial::Canary::stale_fetch_counts) && follower && fetch.arrived) {
    static_cast<void>(note_follower(fetch, wanted, *partition, now));
  }
  data.error_code = partition->check(follower || fetch.version < 11, wanted.current_leader_epoch);
  if (data.error_code == ErrorCode::none && follower && !partition->has_replica(fetch.replica)) {
    data.error_code = ErrorCode::not_leader_or_follower;
  }
  if (data.error_code != ErrorCode::none) {
    data.aborted_transactions = std::nullopt;
    return;
  }
  log::PartitionLog& log = *partition->log();
  const log::ReadIsolation isolation = follower                      ? log::ReadIsolation::log_end
                                       : fetch.isolation_level == 1 ? log::ReadIsolation::last_stable
                                                                    : log::ReadIsolation::high_watermark;
  data.aborted_transactions = std::nullopt;
  if (!fetch.rack.empty()) {
    data.preferred_read_replica =
        partition->preferred_read_replica(wanted.fetch_offset, fetch.rack, options.listener, now);
    if (data.preferred_read_replica != kNoBroker) {
      data.high_watermark = log.high_watermark().value();
      data.last_stable_offset = log.last_stable_offset();
      data.log_start_offset = log.log_start_offset();
      return;
    }
  }
  if (wanted.last_fetched_epoch.value() >= 0) {
    const log::EpochEndOffset end = log.end_offset_for_epoch(wanted.last_fetched_epoch);
    if (end.end_offset == kNoOffset || end.epoch == kNoLeaderEpoch ||
        wanted.fetch_offset < log.log_start_offset()) {
      data.error_code = ErrorCode::offset_out_of_range;
      return;
    }
    if (end.epoch < wanted.last_fetched_epoch || end.end_offset < wanted.fetch_offset) {
      data.diverging_epoch.epoch = end.epoch.value();
      data.diverging_epoch.end_offset = end.end_offset;
      data.high_watermark = log.high_watermark().value();
      data.last_stable_offset = log.last_stable_offset();
      data.log_start_offset = log.log_start_offset();
      return;
    }
  }
  // Only what could be read counts as fetched: no stale epoch, no divergence, no offset outside of the log.
  if (follower && fetch.arrived && wanted.fetch_offset >= log.log_start_offset() &&
      wanted.fetch_offset <= log.log_end_offset()) {
    data.error_code = note_follower(fetch, wanted, *partition, now);
    if (data.error_code != ErrorCode::none) {
      return;
    }
  }
  log::ReadRequest request;
  request.from = wanted.fetch_offset;
  request.max_bytes = std::min<std::int64_t>(std::max(wanted.max_bytes, 0), std::max<std::int64_t>(limit, 0));
  request.at_least_one_batch = at_least_one;
  if (request.max_bytes > 0 && trial::happens(trial::Oddity::short_fetch)) {
    request.max_bytes = 1;
    request.at_least_one_batch = true;
  }
  request.isolation = isolation;
  log::ReadOutcome outcome = log.read(request);
  data.error_code = outcome.error;
  if (outcome.error != ErrorCode::none) {
    return;
  }
  data.high_watermark = outcome.high_watermark.value();
  data.last_stable_offset = outcome.last_stable_offset;
  data.log_start_offset = outcome.log_start_offset;
  bytes = static_cast<std::int64_t>(outcome.records.size());
  data.records = std::move(outcome.records);
  if (isolation == log::ReadIsolation::last_stable) {
    auto& aborted = data.aborted_transactions.emplace();
    aborted.reserve(outcome.aborted.size());
    for (const log::AbortedTransaction& transaction : outcome.aborted) {
      wire::FetchResponse::AbortedTransaction entry;
      entry.producer_id = transaction.producer_id;
      entry.first_offset = transaction.first_offset;
      aborted.push_back(std::move(entry));
    }
  }
}

void Broker::Impl::fetch(const Ticket& ticket, const wire::FetchRequest& request, std::int16_t version, Now now,
                         BrokerOutputs& out) {
  const FetchSessionCache::Opening opening = sessions.begin(request, version, now.instant);
  if (opening.error != ErrorCode::none) {
    answer_fetch_error(ticket, opening.error, out);
    return;
  }
  std::unique_ptr<ParkedFetch> operation = take_fetch();
  operation->ticket = ticket;
  operation->version = version;
  operation->isolation_level = request.isolation_level;
  operation->replica = version >= 15 ? request.replica_state.replica_id : request.replica_id;
  operation->max_bytes = std::clamp(request.max_bytes, 0, options.fetch_max_bytes);
  operation->min_bytes = std::min(request.min_bytes, operation->max_bytes);
  operation->wants_session = opening.wants_session;
  if (options.rack_aware_reads && version >= 11 && operation->replica.value() < 0) {
    operation->rack = request.rack_id;
  }
  if (opening.session != nullptr) {
    operation->session_id = opening.session->id();
    operation->session_epoch = opening.session->epoch();
  } else {
    for (const auto& topic : request.topics) {
      for (const auto& partition : topic.partitions) {
        operation->partitions.push_back(to_fetch_partition(topic, partition, version));
      }
    }
  }
  bool at_once = request.max_wait_ms <= 0 || heap.size() >= options.max_parked;
  if (operation->replica.value() >= 0) {
    arrive(*operation, version >= 15 ? request.replica_state.replica_epoch : -1, now.instant);
    if (opening.session != nullptr && opening.session->note_replica_epoch(operation->replica_epoch)) {
      opening.session->all_ready();  // it has registered anew: each partition must know
    }
    // A follower gets its session without waiting: only then is it told what changes.
    at_once = at_once || (opening.wants_session && operation->state != nullptr && !operation->state->session_refused);
  }
  if (look_at_fetch(*operation, now, at_once, out)) {
    give_back(std::move(operation));
    return;
  }
  operation->arrived = false;
  watch_partitions(*operation);
  Instant deadline = now.instant + milliseconds(request.max_wait_ms);
  if (FollowerState* state = operation->state) {
    if (operation->news) {
      deadline = std::min(deadline, now.instant + kWatermarkDelay);
    }
    if (state->awaited > 0 && now.instant < state->awaited_until) {
      deadline = std::min(deadline, now.instant + kAwaitedDelay);
    }
    operation->among_followers.operation = operation.get();
    state->parked.add(operation->among_followers);
  }
  park(std::move(operation), deadline);
}

void Broker::Impl::arrive(ParkedFetch& fetch, std::int64_t replica_epoch, Instant now) {
  fetch.arrived = true;
  fetch.replica_epoch = replica_epoch;
  const metadata::BrokerImage* broker = image->find_broker(fetch.replica);
  if (broker == nullptr) {
    return;  // nobody that the cluster knows
  }
  fetch.state = &replicas.followers[fetch.replica];
  if (replica_epoch == -1 || replica_epoch >= broker->epoch) {
    fetch.state->fetched_at = now;
    if (fetch.state->told != nullptr) {
      fetch.state->told->fetched_at_ms.set(replicas.wall_ms(now));
    }
  }
}

void Broker::Impl::watch_partitions(ParkedFetch& fetch) {
  const bool follower = fetch.replica.value() >= 0;
  if (FetchSession* session = sessions.find(fetch.session_id); session != nullptr && session->follower()) {
    session->waiting = &fetch;  // its partitions know the session
    return;
  }
  std::size_t count = 0;
  for_each_partition(fetch, [&](FetchPartition&, FetchSession::Partitions::iterator) { ++count; });
  fetch.watches.assign(count, Watch{nullptr, nullptr, nullptr, &fetch});
  std::size_t next = 0;
  for_each_partition(fetch, [&](FetchPartition& wanted, FetchSession::Partitions::iterator) {
    Partition* partition = at(fetch.version >= 13 ? hosted(wanted.target.topic_id) : hosted(wanted.target.topic),
                              wanted.target.partition);
    if (partition != nullptr) {
      (follower ? partition->follower_fetches : partition->fetches).add(fetch.watches[next]);
    }
    ++next;
  });
}

bool Broker::Impl::look_at_fetch(ParkedFetch& fetch, Now now, bool must_answer, BrokerOutputs& out) {
  FetchSession* session = nullptr;
  if (fetch.session_id != kNoSession) {
    session = sessions.find(fetch.session_id);
    if (session == nullptr || session->epoch() != fetch.session_epoch) {
      answer_fetch_error(fetch.ticket,
                         session == nullptr ? ErrorCode::fetch_session_id_not_found
                                            : ErrorCode::invalid_fetch_session_epoch,
                         out);
      return true;
    }
  }
  found.clear();
  unknown.clear();
  std::int64_t limit = fetch.max_bytes;
  std::int64_t total = 0;
  bool at_least_one = true;
  std::size_t known = 0;
  bool answer = must_answer;
  // A follower's session shows only partitions that may have news: that there are none is no answer.
  const bool by_news = session != nullptr && session->follower();
  fetch.news = false;
  wire::FetchResponse response;
  for_each_partition(fetch, [&](FetchPartition& wanted, FetchSession::Partitions::iterator it) {
    const Resolved where =
        resolve(wanted.target.topic, wanted.target.topic_id, fetch.version >= 13, wanted.target.partition);
    Found result;
    result.wanted = &wanted;
    result.in_session = it;
    wire::FetchResponse::PartitionData& data = result.data;
    data.partition_index = wanted.target.partition;
    data.high_watermark = -1;
    data.records.emplace();
    if (where.error != ErrorCode::none) {
      data.error_code = where.error;
      data.aborted_transactions.emplace();
      unknown.push_back(std::move(result));
      answer = answer || by_news;
      return;
    }
    if (by_news && where.partition != nullptr && it->follow.list == nullptr) {
      where.partition->sessions.add(it->follow);
    }
    ++known;
    std::int64_t bytes = 0;
    read(fetch, wanted, where, limit, at_least_one, now.instant, data, bytes);
    if (bytes > 0) {
      at_least_one = false;
      limit -= bytes;
      total += bytes;
    }
    if (data.error_code != ErrorCode::none || data.diverging_epoch.epoch >= 0 ||
        data.preferred_read_replica != kNoBroker) {
      answer = true;
      if (fetch.version >= 12 && (data.error_code == ErrorCode::not_leader_or_follower ||
                                  data.error_code == ErrorCode::fenced_leader_epoch)) {
        name_leader(where, data.current_leader, fetch.version >= 16 ? &response.node_endpoints : nullptr);
      }
    }
    if (session == nullptr || FetchSession::is_news(wanted, data)) {
      fetch.news = fetch.news || by_news;
      found.push_back(std::move(result));
    } else if (by_news && where.partition != nullptr &&
               wanted.fetch_offset >= where.partition->log()->log_end_offset() &&
               where.partition->follower_log_end(fetch.replica) == wanted.fetch_offset) {
      session->mark_quiet(it);  // it has everything, and the partition knows; else its next fetch is to say so
    }
  });
  if (!answer && (known > 0 || by_news) && total < fetch.min_bytes) {
    fetch.found_bytes = total;
    return false;
  }
  for (Found& result : unknown) {
    found.push_back(std::move(result));
  }
  answer_fetch(fetch, session, std::move(response), now, out);
  return true;
}

bool Broker::Impl::throttled_instead(const ParkedFetch& fetch, const FetchSession* session, BrokerOutputs& out) {
  if (!options.fetch_throttle_ms || fetch.replica.value() >= 0) {
    return false;
  }
  // About the size of the answer: what goes with the records is small beside them.
  constexpr std::int64_t kAnswerBytes = 32;
  constexpr std::int64_t kPartitionBytes = 64;
  std::int64_t bytes = kAnswerBytes;
  for (const Found& result : found) {
    bytes += kPartitionBytes + (result.data.records ? static_cast<std::int64_t>(result.data.records->size()) : 0);
  }
  const std::int32_t wait = options.fetch_throttle_ms(fetch.ticket, bytes);
  if (wait <= 0) {
    return false;
  }
  found.clear();
  unknown.clear();
  wire::FetchResponse response;
  response.throttle_time_ms = wait;
  response.session_id = session == nullptr ? kNoSession : session->id();
  out.fetched.push_back({fetch.ticket, std::move(response)});
  return true;
}

void Broker::Impl::answer_fetch(ParkedFetch& fetch, FetchSession* session, wire::FetchResponse response, Now now,
                                BrokerOutputs& out) {
  if (throttled_instead(fetch, session, out)) {
    return;
  }
  const bool by_topic_id = fetch.version >= 13;
  wire::FetchResponse::FetchableTopicResponse* topic = nullptr;
  std::int64_t bytes_out = 0;
  std::int64_t records_out = 0;
  for (Found& result : found) {
    FetchPartition& wanted = *result.wanted;
    if (session != nullptr || fetch.wants_session) {
      FetchSession::remember_told(wanted, result.data);
    }
    const std::int64_t bytes =
        result.data.records.has_value() ? static_cast<std::int64_t>(result.data.records->size()) : 0;
    if (bytes > 0) {
      if (session != nullptr) {
        session->move_to_end(result.in_session);
      }
      if (fetch.replica.value() < 0) {
        bytes_out += bytes;
        records_out += note_fetched(fetch, wanted, bytes);
      }
    }
    if (topic == nullptr ||
        (by_topic_id ? topic->topic_id != wanted.target.topic_id : topic->topic != wanted.target.topic)) {
      topic = &response.responses.emplace_back();
      topic->topic = wanted.target.topic;
      topic->topic_id = wanted.target.topic_id;
    }
    topic->partitions.push_back(std::move(result.data));
  }
  counters->bytes_out.add(bytes_out);
  counters->records_out.add(records_out);
  found.clear();
  unknown.clear();
  if (session != nullptr) {
    response.session_id = session->id();
  } else if (fetch.wants_session) {
    const FetchSession* made =
        sessions.create(std::move(fetch.partitions), fetch.replica.value() >= 0, by_topic_id, now.instant);
    response.session_id = made == nullptr ? kNoSession : made->id();
    if (fetch.state != nullptr) {
      fetch.state->session_refused = made == nullptr;
    }
  }
  out.fetched.push_back({fetch.ticket, std::move(response)});
}

std::int64_t Broker::Impl::note_fetched(const ParkedFetch& fetch, const FetchPartition& wanted, std::int64_t bytes) {
  Partition* partition = at(fetch.version >= 13 ? hosted(wanted.target.topic_id) : hosted(wanted.target.topic),
                            wanted.target.partition);
  if (partition == nullptr || partition->log() == nullptr) {
    return 0;
  }
  log::PartitionLog& log = *partition->log();
  const std::int64_t held = log.log_end_offset() - log.log_start_offset();
  const std::int64_t size = log.size_bytes();
  std::int64_t records = log.high_watermark() - wanted.fetch_offset;
  if (size > 0 && bytes < size) {
    // 128 bits: bytes times offsets may pass 2^63.
    const auto estimate = static_cast<std::int64_t>(static_cast<__int128>(bytes) * held / size);
    records = std::min(records, std::max<std::int64_t>(estimate, 1));
  }
  log.count_fetched(records, bytes);
  if (events != nullptr) {
    events->emit(event::RecordsFetched{options.node, partition->topic().id, partition->index(), wanted.fetch_offset,
                                       bytes, fetch.ticket.connection});
  }
  return records;
}

void Broker::Impl::answer_fetch_error(const Ticket& ticket, ErrorCode error, BrokerOutputs& out) {
  wire::FetchResponse response;
  response.error_code = error;
  out.fetched.push_back({ticket, std::move(response)});
}

std::unique_ptr<ParkedFetch> Broker::Impl::take_fetch() {
  if (spare_fetches.empty()) {
    return std::make_unique<ParkedFetch>();
  }
  std::unique_ptr<ParkedFetch> fetch = std::move(spare_fetches.back());
  spare_fetches.pop_back();
  return fetch;
}

void Broker::Impl::give_back(std::unique_ptr<ParkedFetch> fetch) {
  PurgatoryList::remove(fetch->among_followers);
  for (Watch& watch : fetch->watches) {
    PurgatoryList::remove(watch);
  }
  constexpr std::size_t kSpare = 64;
  if (spare_fetches.size() >= kSpare) {
    return;
  }
  auto partitions = std::move(fetch->partitions);
  auto watches = std::move(fetch->watches);
  partitions.clear();
  watches.clear();
  *fetch = ParkedFetch{};
  fetch->partitions = std::move(partitions);
  fetch->watches = std::move(watches);
  spare_fetches.push_back(std::move(fetch));
}

}  // namespace hw::broker
