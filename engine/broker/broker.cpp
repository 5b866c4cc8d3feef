// SPDX-License-Identifier: Apache-2.0
#include "engine/broker/broker.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <unordered_set>
#include <utility>

#include "engine/wire/record/validate.h"

namespace hw::broker {

namespace {

using wire::ErrorCode;

constexpr std::int64_t kLatest = -1;
constexpr std::int64_t kEarliest = -2;
constexpr std::int64_t kMaxTimestamp = -3;
constexpr std::int64_t kEarliestLocal = -4;
constexpr std::int64_t kLatestTiered = -5;
constexpr std::int64_t kEarliestPendingUpload = -6;

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};

struct HostedTopic {
  TopicFacts facts;
  std::vector<std::unique_ptr<Partition>> partitions;  // by index; null where another broker holds it
};

bool internal_topic(std::string_view name) noexcept {
  return name == "__consumer_offsets" || name == "__transaction_state" || name == "__share_group_state";
}

// A Fetch that waits for bytes.
struct ParkedFetch : Parked {
  ParkedFetch() : Parked(Kind::fetch) {}
  std::int16_t version = 0;
  std::int8_t isolation_level = 0;
  BrokerId replica = kNoBroker;
  std::int32_t min_bytes = 0;
  std::int32_t max_bytes = 0;
  std::int32_t session_id = kNoSession;     // incremental
  std::int32_t session_epoch = 0;           // what the session must still have when it is answered
  bool wants_session = false;               // full fetch of a client that wants one
  std::int64_t found_bytes = 0;             // at the last look, and what came since
  std::vector<FetchPartition> partitions;   // without a session
  std::vector<Watch> watches;
};

// A Produce, or a coordinator's append, that waits for the high watermark.
struct ParkedProduce : Parked {
  ParkedProduce() : Parked(Kind::produce) {}
  struct Pending {
    Uuid topic_id;
    PartitionIndex partition;
    Offset required;         // the high watermark must reach it
    std::size_t topic_at = 0;  // where its answer stands in `response`
    std::size_t partition_at = 0;
    bool done = false;
  };
  wire::ProduceResponse response;
  bool failed = false;
  std::vector<Pending> pending;
  std::size_t open = 0;
  std::vector<Watch> watches;
  Broker::Committed committed;  // set: a coordinator waits, not a client
  ErrorCode internal_error = ErrorCode::none;  // for `committed`
};

}  // namespace

struct Broker::Impl {
  Impl(BrokerOptions given, log::LogManager& log_manager, event::EventSink* sink,
       std::shared_ptr<event::NodeCounters> node_counters, SettingsOf settings, Prng prng)
      : options(std::move(given)),
        logs(log_manager),
        events(sink),
        counters(std::move(node_counters)),
        settings_of(std::move(settings)),
        sessions(options.sessions, prng) {}
  ~Impl() {
    while (Parked* any = heap.earliest()) {
      leave(*any);  // its watches stand in lists of partitions
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // ---- topics

  struct Resolved {
    Partition* partition = nullptr;
    ErrorCode error = ErrorCode::none;  // of metadata: the cluster knows no such topic or partition
    const metadata::PartitionImage* elsewhere = nullptr;  // known to the cluster, but not held here
  };

  HostedTopic* hosted(std::string_view name) noexcept {
    const auto it = by_name.find(name);
    return it == by_name.end() ? nullptr : it->second.get();
  }
  HostedTopic* hosted(const Uuid& id) noexcept {
    const auto it = by_id.find(id);
    return it == by_id.end() ? nullptr : it->second;
  }
  static Partition* at(HostedTopic* topic, PartitionIndex index) noexcept {
    if (topic == nullptr || index.value() < 0 ||
        static_cast<std::size_t>(index.value()) >= topic->partitions.size()) {
      return nullptr;
    }
    return topic->partitions[static_cast<std::size_t>(index.value())].get();
  }

  Resolved resolve(std::string_view name, const Uuid& id, bool by_topic_id, PartitionIndex index) {
    Resolved result;
    result.partition = at(by_topic_id ? hosted(id) : hosted(name), index);
    if (result.partition != nullptr) {
      return result;
    }
    const metadata::TopicImage* topic = by_topic_id ? image->find_topic(id) : image->find_topic(name);
    if (topic == nullptr) {
      result.error = by_topic_id ? ErrorCode::unknown_topic_id : ErrorCode::unknown_topic_or_partition;
    } else if (index.value() < 0 || static_cast<std::size_t>(index.value()) >= topic->partitions.size()) {
      result.error = ErrorCode::unknown_topic_or_partition;
    } else {
      result.elsewhere = &topic->partitions[static_cast<std::size_t>(index.value())];
    }
    return result;
  }

  // Leader and epoch to name to a client that came to the wrong broker (KIP-951).
  template <class Leader, class Endpoints>
  void name_leader(const Resolved& at_partition, Leader& leader, Endpoints* endpoints) {
    BrokerId id = kNoBroker;
    if (at_partition.partition != nullptr) {
      id = at_partition.partition->leader();
      leader.leader_epoch = at_partition.partition->leader_epoch();
    } else if (at_partition.elsewhere != nullptr) {
      id = at_partition.elsewhere->leader;
      leader.leader_epoch = at_partition.elsewhere->leader_epoch;
    } else {
      return;
    }
    leader.leader_id = id;
    if (endpoints == nullptr) {
      return;
    }
    const metadata::BrokerImage* broker = image->find_broker(id);
    if (broker == nullptr) {
      return;
    }
    for (const auto& known : *endpoints) {
      if (known.node_id == id) {
        return;
      }
    }
    for (const metadata::ListenerImage& listener : broker->listeners) {
      if (listener.name == options.listener) {
        typename Endpoints::value_type endpoint;
        endpoint.node_id = id;
        endpoint.host = listener.host;
        endpoint.port = listener.port;
        endpoint.rack = broker->rack;
        endpoints->push_back(std::move(endpoint));
        return;
      }
    }
  }

  void wake(Parked& operation) {
    if (!operation.woken) {
      operation.woken = true;
      woken.push_back(&operation);
    }
  }
  void wake_all(Partition& partition) {
    for (Watch* w = partition.fetches.first(); w != nullptr; w = w->next) {
      wake(*w->operation);
    }
    for (Watch* w = partition.produces.first(); w != nullptr; w = w->next) {
      wake(*w->operation);
    }
  }
  // Readers of the partition see `bytes` more.
  void grew(Partition& partition, std::int64_t bytes) {
    for (Watch* w = partition.fetches.first(); w != nullptr; w = w->next) {
      auto& fetch = static_cast<ParkedFetch&>(*w->operation);
      fetch.found_bytes += bytes;
      if (fetch.found_bytes >= fetch.min_bytes) {
        wake(fetch);
      }
    }
    for (Watch* w = partition.produces.first(); w != nullptr; w = w->next) {
      wake(*w->operation);
    }
  }

  void drop_partition(HostedTopic& topic, PartitionIndex index, std::vector<Error>& errors) {
    auto& slot = topic.partitions[static_cast<std::size_t>(index.value())];
    if (slot == nullptr) {
      return;
    }
    wake_all(*slot);
    slot.reset();
    if (logs.find(topic.facts.id, index) != nullptr) {
      if (Result<void> deleted = logs.delete_log(topic.facts.id, index); !deleted) {
        errors.push_back(deleted.error());
      }
    }
  }

  HostedTopic& ensure_topic(const metadata::TopicImage& topic) {
    if (HostedTopic* known = hosted(topic.id)) {
      return *known;
    }
    auto made = std::make_unique<HostedTopic>();
    made->facts.name = topic.name;
    made->facts.id = topic.id;
    made->facts.internal = internal_topic(topic.name);
    made->facts.settings = settings_of(topic.name);
    HostedTopic& result = *made;
    by_id.emplace(topic.id, made.get());
    by_name.insert_or_assign(topic.name, std::move(made));
    return result;
  }

  void apply_partition(const metadata::TopicImage& image_topic, PartitionIndex index, bool created, Now now,
                       std::vector<Error>& errors) {
    const metadata::PartitionImage& wanted = image_topic.partitions[static_cast<std::size_t>(index.value())];
    HostedTopic& topic = ensure_topic(image_topic);
    if (topic.partitions.size() < image_topic.partitions.size()) {
      topic.partitions.resize(image_topic.partitions.size());
    }
    auto& slot = topic.partitions[static_cast<std::size_t>(index.value())];
    const bool held =
        std::find(wanted.replicas.begin(), wanted.replicas.end(), options.node) != wanted.replicas.end();
    if (!held) {
      drop_partition(topic, index, errors);
      return;
    }
    if (slot == nullptr) {
      log::PartitionLog* log = logs.find(topic.facts.id, index);
      if (log == nullptr) {
        Result<log::PartitionLog*> made =
            logs.create_log({topic.facts.name, index, topic.facts.id}, topic.facts.settings.log, now.wall, created);
        if (made) {
          log = *made;
        } else {
          errors.push_back(made.error());
        }
      }
      slot = std::make_unique<Partition>(topic.facts, index, options.node, log);
    }
    const Offset before = slot->log() == nullptr ? Offset{} : slot->log()->high_watermark();
    if (slot->apply(wanted, now.instant)) {
      wake_all(*slot);
    } else if (slot->log() != nullptr && slot->log()->high_watermark() != before) {
      wake_all(*slot);
    }
  }

  std::vector<Error> apply(metadata::ImagePtr next, const metadata::MetadataDelta& delta, Now now) {
    std::vector<Error> errors;
    image = std::move(next);
    for (const metadata::MetadataDelta::DeletedTopic& deleted : delta.topics_deleted) {
      HostedTopic* topic = hosted(deleted.topic_id);
      if (topic == nullptr) {
        continue;
      }
      for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
        drop_partition(*topic, PartitionIndex(static_cast<std::int32_t>(i)), errors);
      }
      by_id.erase(deleted.topic_id);
      const auto named = by_name.find(deleted.name);
      if (named != by_name.end() && named->second.get() == topic) {
        by_name.erase(named);
      }
    }
    for (const metadata::MetadataDelta::PartitionRef& changed : delta.partitions_changed) {
      const metadata::TopicImage* topic = image->find_topic(changed.topic_id);
      if (topic != nullptr && static_cast<std::size_t>(changed.partition.value()) < topic->partitions.size()) {
        apply_partition(*topic, changed.partition, changed.created, now, errors);
      }
    }
    bool all_topics = false;
    for (const metadata::MetadataDelta::ConfigChange& change : delta.configs_changed) {
      if (change.resource.type == metadata::ConfigResourceType::topic) {
        if (HostedTopic* topic = hosted(change.resource.name)) {
          refresh_settings(*topic);
        }
      } else if (change.resource.type == metadata::ConfigResourceType::broker) {
        all_topics = true;  // defaults of topics that do not set the key themselves
      }
    }
    if (all_topics) {
      for (const auto& [name, topic] : image->topics()) {
        if (HostedTopic* here = hosted(topic->id)) {
          refresh_settings(*here);
        }
      }
    }
    return errors;
  }

  void refresh_settings(HostedTopic& topic) {
    topic.facts.settings = settings_of(topic.facts.name);
    for (const auto& partition : topic.partitions) {
      if (partition != nullptr && partition->log() != nullptr) {
        partition->log()->set_config(topic.facts.settings.log);
      }
    }
  }

  // ---- produce

  void append_one(const ProduceCaller& caller, const Resolved& where, std::int16_t acks, Bytes records, Now now,
                  wire::ProduceResponse::PartitionProduceResponse& answer, Offset& required) {
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
    bool moved = false;
    log::AppendOutcome outcome = partition->append(std::move(append), acks, moved);
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
    if (moved) {
      grew(*partition, size);
    }
  }

  // No transaction is open here (there is no coordinator yet), and Kafka says so in the words of the client's version.
  static ErrorCode not_in_a_transaction(std::int16_t version) noexcept {
    if (version >= 12) {
      return ErrorCode::invalid_producer_id_mapping;
    }
    return version == 11 ? ErrorCode::transaction_abortable : ErrorCode::invalid_txn_state;
  }

  // A partition that stands in a request more than once counts with its last records only, as in Kafka. `superseded` stays
  // empty where there is none.
  void mark_superseded(const wire::ProduceRequest& request, bool by_topic_id) {
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

  void produce(const ProduceCaller& caller, wire::ProduceRequest& request, Now now, BrokerOutputs& out) {
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
        } else if (wire::BatchView(records.span()).transactional()) {
          answer.error_code = not_in_a_transaction(caller.version);
        } else {
          if (checked.size < records.size()) {
            records = records.slice(0, checked.size);
          }
          append_one(caller, where, request.acks, std::move(records), now, answer, required);
        }
        if (answer.error_code != ErrorCode::none) {
          done.failed = true;
          if (answer.error_code == ErrorCode::not_leader_or_follower && caller.version >= 10) {
            name_leader(where, answer.current_leader, &response.node_endpoints);
          }
        } else if (request.acks == -1 && where.partition->log()->high_watermark() < required) {
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
    parked->response = std::move(done.response);
    parked->failed = done.failed;
    parked->pending = waiting;
    parked->open = waiting.size();
    if (heap.size() >= options.max_parked) {
      expire(*parked, out);
      return;
    }
    park_produce(std::move(parked), now.instant + milliseconds(std::max(request.timeout_ms, 0)));
  }

  void park_produce(std::unique_ptr<ParkedProduce> parked, Instant deadline) {
    ParkedProduce& operation = *parked;
    operation.watches.resize(operation.pending.size());
    for (std::size_t i = 0; i < operation.pending.size(); ++i) {
      operation.watches[i].operation = &operation;
      const ParkedProduce::Pending& pending = operation.pending[i];
      at(hosted(pending.topic_id), pending.partition)->produces.add(operation.watches[i]);
    }
    park(std::move(parked), deadline);
  }

  // Looks at what is still open. True: nothing is.
  bool look_at_produce(ParkedProduce& operation) {
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
        if (error == ErrorCode::none && partition->log()->high_watermark() < pending.required) {
          continue;
        }
      }
      finish_pending(operation, i, error);
    }
    return operation.open == 0;
  }

  static void finish_pending(ParkedProduce& operation, std::size_t i, ErrorCode error) {
    ParkedProduce::Pending& pending = operation.pending[i];
    pending.done = true;
    --operation.open;
    if (i < operation.watches.size()) {
      PurgatoryList::remove(operation.watches[i]);
    }
    operation.failed = operation.failed || error != ErrorCode::none;
    if (!operation.committed) {
      operation.response.responses[pending.topic_at].partition_responses[pending.partition_at].error_code = error;
    } else if (error != ErrorCode::none) {
      operation.internal_error = error;
    }
  }

  void expire(ParkedProduce& operation, BrokerOutputs& out) {
    for (std::size_t i = 0; i < operation.pending.size(); ++i) {
      if (!operation.pending[i].done) {
        finish_pending(operation, i, ErrorCode::request_timed_out);
      }
    }
    answer_produce(operation, out);
  }

  void answer_produce(ParkedProduce& operation, BrokerOutputs& out) {
    if (operation.committed) {
      internal_done.emplace_back(std::move(operation.committed), operation.internal_error);
      return;
    }
    out.produced.push_back({operation.ticket, std::move(operation.response), operation.failed, true});
  }

  void append_internal(const std::string& topic, PartitionIndex index, Bytes batch, Now now, Committed done) {
    Partition* partition = at(hosted(topic), index);
    if (partition == nullptr) {
      done(image->find_topic(topic) == nullptr ? ErrorCode::unknown_topic_or_partition
                                               : ErrorCode::not_leader_or_follower);
      return;
    }
    if (const ErrorCode refused = partition->check(true, kNoLeaderEpoch); refused != ErrorCode::none) {
      done(refused);
      return;
    }
    const auto size = static_cast<std::int64_t>(batch.size());
    log::AppendRequest append;
    append.records = std::move(batch);
    append.origin = log::AppendOrigin::coordinator;
    append.now = now.wall;
    append.exclusive = true;
    bool moved = false;
    const log::AppendOutcome outcome = partition->append(std::move(append), -1, moved);
    if (outcome.error != ErrorCode::none) {
      done(outcome.error);
      return;
    }
    if (moved) {
      grew(*partition, size);
    }
    if (partition->log()->high_watermark() > outcome.last_offset) {
      done(ErrorCode::none);
      return;
    }
    auto parked = std::make_unique<ParkedProduce>();
    parked->committed = std::move(done);
    parked->pending.push_back({partition->topic().id, index, outcome.last_offset + 1, 0, 0, false});
    parked->open = 1;
    park_produce(std::move(parked), kNever);
  }

  // ---- fetch

  struct Found {
    FetchPartition* wanted = nullptr;
    FetchSession::Partitions::iterator in_session;
    wire::FetchResponse::PartitionData data;
  };

  void read(const ParkedFetch& fetch, const FetchPartition& wanted, const Resolved& where, std::int64_t limit,
            bool at_least_one, wire::FetchResponse::PartitionData& data, std::int64_t& bytes) {
    const bool follower = fetch.replica.value() >= 0;
    Partition* partition = where.partition;
    if (partition == nullptr) {
      data.error_code = ErrorCode::not_leader_or_follower;
      data.aborted_transactions = std::nullopt;
      return;
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
    log::ReadRequest request;
    request.from = wanted.fetch_offset;
    request.max_bytes = std::min<std::int64_t>(std::max(wanted.max_bytes, 0), std::max<std::int64_t>(limit, 0));
    request.at_least_one_batch = at_least_one;
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

  void fetch(const Ticket& ticket, const wire::FetchRequest& request, std::int16_t version, Now now,
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
    if (operation->replica.value() >= 0) {
      note_follower(*operation, now);
    }
    const bool at_once = request.max_wait_ms <= 0 || heap.size() >= options.max_parked;
    if (look_at_fetch(*operation, now, at_once, out)) {
      give_back(std::move(operation));
      return;
    }
    watch_partitions(*operation);
    park(std::move(operation), now.instant + milliseconds(request.max_wait_ms));
  }

  template <class Visit>
  void for_each_partition(ParkedFetch& fetch, Visit visit) {
    if (fetch.session_id != kNoSession) {
      if (FetchSession* session = sessions.find(fetch.session_id)) {
        auto& list = session->partitions();
        for (auto it = list.begin(); it != list.end(); ++it) {
          visit(*it, it);
        }
      }
      return;
    }
    for (FetchPartition& wanted : fetch.partitions) {
      visit(wanted, FetchSession::Partitions::iterator{});
    }
  }

  void note_follower(ParkedFetch& fetch, Now now) {
    for_each_partition(fetch, [&](FetchPartition& wanted, FetchSession::Partitions::iterator) {
      const Resolved where =
          resolve(wanted.target.topic, wanted.target.topic_id, fetch.version >= 13, wanted.target.partition);
      if (where.partition != nullptr &&
          where.partition->follower_fetched(fetch.replica, wanted.fetch_offset, now.instant)) {
        wake_all(*where.partition);
      }
    });
  }

  void watch_partitions(ParkedFetch& fetch) {
    std::size_t count = 0;
    for_each_partition(fetch, [&](FetchPartition&, FetchSession::Partitions::iterator) { ++count; });
    fetch.watches.assign(count, Watch{nullptr, nullptr, nullptr, &fetch});
    std::size_t next = 0;
    for_each_partition(fetch, [&](FetchPartition& wanted, FetchSession::Partitions::iterator) {
      Partition* partition = at(fetch.version >= 13 ? hosted(wanted.target.topic_id) : hosted(wanted.target.topic),
                                wanted.target.partition);
      if (partition != nullptr) {
        partition->fetches.add(fetch.watches[next]);
      }
      ++next;
    });
  }

  // Reads what is there; answers when that is enough, when something is wrong, or when it must. True: answered.
  bool look_at_fetch(ParkedFetch& fetch, Now now, bool must_answer, BrokerOutputs& out) {
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
        return;
      }
      ++known;
      std::int64_t bytes = 0;
      read(fetch, wanted, where, limit, at_least_one, data, bytes);
      if (bytes > 0) {
        at_least_one = false;
        limit -= bytes;
        total += bytes;
      }
      if (data.error_code != ErrorCode::none || data.diverging_epoch.epoch >= 0) {
        answer = true;
        if (fetch.version >= 12 && (data.error_code == ErrorCode::not_leader_or_follower ||
                                    data.error_code == ErrorCode::fenced_leader_epoch)) {
          name_leader(where, data.current_leader, fetch.version >= 16 ? &response.node_endpoints : nullptr);
        }
      }
      if (session == nullptr || FetchSession::is_news(wanted, data)) {
        found.push_back(std::move(result));
      }
    });
    if (!answer && known > 0 && total < fetch.min_bytes) {
      fetch.found_bytes = total;
      return false;
    }
    for (Found& result : unknown) {
      found.push_back(std::move(result));
    }
    answer_fetch(fetch, session, std::move(response), now, out);
    return true;
  }

  // A consumer above its quota gets no records and no session learns that it was told anything. True: that was the answer.
  bool throttled_instead(const ParkedFetch& fetch, const FetchSession* session, BrokerOutputs& out) {
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

  void answer_fetch(ParkedFetch& fetch, FetchSession* session, wire::FetchResponse response, Now now,
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
    }
    out.fetched.push_back({fetch.ticket, std::move(response)});
  }

  // Counts what a consumer gets. Records are an estimate by the log's mean record size: exact counts would cost a walk.
  std::int64_t note_fetched(const ParkedFetch& fetch, const FetchPartition& wanted, std::int64_t bytes) {
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

  static void answer_fetch_error(const Ticket& ticket, ErrorCode error, BrokerOutputs& out) {
    wire::FetchResponse response;
    response.error_code = error;
    out.fetched.push_back({ticket, std::move(response)});
  }

  std::unique_ptr<ParkedFetch> take_fetch() {
    if (spare_fetches.empty()) {
      return std::make_unique<ParkedFetch>();
    }
    std::unique_ptr<ParkedFetch> fetch = std::move(spare_fetches.back());
    spare_fetches.pop_back();
    return fetch;
  }
  void give_back(std::unique_ptr<ParkedFetch> fetch) {
    constexpr std::size_t kSpare = 64;
    if (spare_fetches.size() >= kSpare) {
      return;
    }
    auto partitions = std::move(fetch->partitions);
    auto watches = std::move(fetch->watches);
    for (Watch& watch : watches) {
      PurgatoryList::remove(watch);
    }
    partitions.clear();
    watches.clear();
    *fetch = ParkedFetch{};
    fetch->partitions = std::move(partitions);
    fetch->watches = std::move(watches);
    spare_fetches.push_back(std::move(fetch));
  }

  // ---- purgatory

  void park(std::unique_ptr<ParkedFetch> operation, Instant deadline) {
    Parked& waiting_one = *operation;
    enter(waiting_one, deadline);
    parked_fetches.emplace(&waiting_one, std::move(operation));
  }
  void park(std::unique_ptr<ParkedProduce> operation, Instant deadline) {
    Parked& waiting_one = *operation;
    enter(waiting_one, deadline);
    parked_produces.emplace(&waiting_one, std::move(operation));
  }
  void enter(Parked& operation, Instant deadline) {
    operation.deadline = std::min(deadline, kNever);
    operation.order = ++parked_count;
    heap.push(operation);
    if (operation.ticket.connection.value() != 0) {
      by_connection.insert_or_assign(operation.ticket.connection, &operation);
    }
  }

  void leave(Parked& operation) {
    heap.remove(operation);
    if (operation.woken) {
      operation.woken = false;
      std::replace(woken.begin(), woken.end(), &operation, static_cast<Parked*>(nullptr));
    }
    if (operation.ticket.connection.value() != 0) {
      const auto it = by_connection.find(operation.ticket.connection);
      if (it != by_connection.end() && it->second == &operation) {
        by_connection.erase(it);
      }
    }
    switch (operation.kind) {
      case Parked::Kind::fetch: {
        auto node = parked_fetches.extract(&operation);
        for (Watch& watch : node.mapped()->watches) {
          PurgatoryList::remove(watch);
        }
        give_back(std::move(node.mapped()));
        break;
      }
      case Parked::Kind::produce: {
        auto node = parked_produces.extract(&operation);
        for (Watch& watch : node.mapped()->watches) {
          PurgatoryList::remove(watch);
        }
        break;
      }
    }
  }

  void settle(Now now, BrokerOutputs& out) {
    while (!woken.empty() || !internal_done.empty()) {
      for (std::size_t i = 0; i < woken.size(); ++i) {
        Parked* operation = woken[i];
        if (operation != nullptr) {
          operation->woken = false;
          look_at(*operation, now, false, out);
        }
      }
      woken.clear();
      run_internal_done();
    }
  }

  void look_at(Parked& operation, Now now, bool must_answer, BrokerOutputs& out) {
    bool answered = false;
    switch (operation.kind) {
      case Parked::Kind::fetch:
        answered = look_at_fetch(static_cast<ParkedFetch&>(operation), now, must_answer, out);
        break;
      case Parked::Kind::produce: {
        auto& produce = static_cast<ParkedProduce&>(operation);
        answered = look_at_produce(produce);
        if (answered) {
          answer_produce(produce, out);
        } else if (must_answer) {
          expire(produce, out);
          answered = true;
        }
        break;
      }
    }
    if (answered) {
      leave(operation);
    }
  }

  void tick(Now now, BrokerOutputs& out) {
    while (Parked* first = heap.earliest()) {
      if (first->deadline > now.instant || first->deadline == kNever) {
        break;
      }
      look_at(*first, now, true, out);
    }
    settle(now, out);
  }

  void run_internal_done() {
    while (!internal_done.empty()) {
      auto [done, error] = std::move(internal_done.front());
      internal_done.pop_front();
      done(error);
    }
  }

  BrokerOptions options;
  log::LogManager& logs;
  event::EventSink* events;
  std::shared_ptr<event::NodeCounters> counters;
  SettingsOf settings_of;
  metadata::ImagePtr image = std::make_shared<const metadata::MetadataImage>();
  FetchSessionCache sessions;

  std::unordered_map<std::string, std::unique_ptr<HostedTopic>, TextHash, std::equal_to<>> by_name;
  std::unordered_map<Uuid, HostedTopic*> by_id;

  DeadlineHeap heap;
  std::unordered_map<Parked*, std::unique_ptr<ParkedFetch>> parked_fetches;
  std::unordered_map<Parked*, std::unique_ptr<ParkedProduce>> parked_produces;
  std::unordered_map<ConnectionId, Parked*> by_connection;
  std::vector<Parked*> woken;
  std::deque<std::pair<Committed, ErrorCode>> internal_done;
  std::uint64_t parked_count = 0;
  std::vector<std::unique_ptr<ParkedFetch>> spare_fetches;

  // Reused between calls.
  std::vector<Found> found;
  std::vector<Found> unknown;
  std::vector<ParkedProduce::Pending> waiting;
  std::vector<wire::ProduceRequestCheck> checks;
  std::vector<bool> superseded;
};

Broker::Broker(BrokerOptions options, log::LogManager& logs, event::EventSink* events,
               std::shared_ptr<event::NodeCounters> counters, SettingsOf settings_of, Prng prng)
    : impl_(std::make_unique<Impl>(std::move(options), logs, events,
                                   counters != nullptr ? std::move(counters) : std::make_shared<event::NodeCounters>(),
                                   std::move(settings_of), prng)) {}
Broker::~Broker() = default;

std::vector<Error> Broker::apply(metadata::ImagePtr image, const metadata::MetadataDelta& delta, Now now) {
  return impl_->apply(std::move(image), delta, now);
}
void Broker::produce(const ProduceCaller& caller, wire::ProduceRequest& request, Now now, BrokerOutputs& out) {
  impl_->produce(caller, request, now, out);
}
void Broker::fetch(const Ticket& ticket, const wire::FetchRequest& request, std::int16_t version, Now now,
                   BrokerOutputs& out) {
  impl_->fetch(ticket, request, version, now, out);
}
void Broker::append_internal(const std::string& topic, PartitionIndex partition, Bytes batch, Now now,
                             Committed done) {
  impl_->append_internal(topic, partition, std::move(batch), now, std::move(done));
}
void Broker::settle(Now now, BrokerOutputs& out) { impl_->settle(now, out); }
void Broker::tick(Now now, BrokerOutputs& out) { impl_->tick(now, out); }
Instant Broker::next_deadline() const noexcept {
  if (!impl_->woken.empty() || !impl_->internal_done.empty()) {
    return Instant{};
  }
  const Parked* first = impl_->heap.earliest();
  return first == nullptr ? kNever : first->deadline;
}
void Broker::disconnected(ConnectionId connection) {
  const auto it = impl_->by_connection.find(connection);
  if (it != impl_->by_connection.end()) {
    impl_->leave(*it->second);
  }
}
Partition* Broker::find(std::string_view topic, PartitionIndex partition) noexcept {
  return Impl::at(impl_->hosted(topic), partition);
}
Partition* Broker::find(const Uuid& topic_id, PartitionIndex partition) noexcept {
  return Impl::at(impl_->hosted(topic_id), partition);
}
void Broker::logs_moved(const std::vector<log::Moved>& moved) {
  for (const log::Moved& one : moved) {
    if (Partition* partition = find(one.topic_id, one.partition)) {
      partition->set_log(impl_->logs.find(one.topic_id, one.partition));
      impl_->wake_all(*partition);
    }
  }
}
log::LogManager& Broker::logs() noexcept { return impl_->logs; }
std::size_t Broker::parked() const noexcept { return impl_->heap.size(); }
const FetchSessionCache& Broker::sessions() const noexcept { return impl_->sessions; }

// ---- offsets

wire::ListOffsetsResponse Broker::list_offsets(const wire::ListOffsetsRequest& request, std::int16_t version) {
  struct Key {
    std::string_view topic;
    std::int32_t partition;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      return std::hash<std::string_view>{}(key.topic) * 31 + static_cast<std::size_t>(key.partition);
    }
  };
  std::unordered_set<Key, KeyHash> seen;
  std::unordered_set<Key, KeyHash> twice;
  for (const auto& topic : request.topics) {
    for (const auto& partition : topic.partitions) {
      const Key key{topic.name, partition.partition_index.value()};
      if (!seen.insert(key).second) {
        twice.insert(key);
      }
    }
  }
  wire::ListOffsetsResponse response;
  response.topics.reserve(request.topics.size());
  for (const auto& topic : request.topics) {
    auto& topic_answer = response.topics.emplace_back();
    topic_answer.name = topic.name;
    topic_answer.partitions.reserve(topic.partitions.size());
    for (const auto& wanted : topic.partitions) {
      auto& answer = topic_answer.partitions.emplace_back();
      answer.partition_index = wanted.partition_index;
      const std::int64_t time = wanted.timestamp;
      if (twice.contains({topic.name, wanted.partition_index.value()})) {
        answer.error_code = ErrorCode::invalid_request;
        continue;
      }
      const bool special_known = (time >= kEarliest) || (time == kMaxTimestamp && version >= 7) ||
                                 (time == kEarliestLocal && version >= 8) || (time == kLatestTiered && version >= 9) ||
                                 (time == kEarliestPendingUpload && version >= 11);
      if (!special_known) {
        answer.error_code = ErrorCode::unsupported_version;
        continue;
      }
      const Impl::Resolved where = impl_->resolve(topic.name, {}, false, wanted.partition_index);
      if (where.error != ErrorCode::none) {
        answer.error_code = where.error;
        continue;
      }
      if (where.partition == nullptr) {
        answer.error_code = ErrorCode::not_leader_or_follower;
        continue;
      }
      Partition& partition = *where.partition;
      // -2 as replica is a tool that wants to look at whatever replica it asked.
      answer.error_code = partition.check(request.replica_id.value() != -2, wanted.current_leader_epoch);
      if (answer.error_code != ErrorCode::none) {
        continue;
      }
      const log::PartitionLog& log = *partition.log();
      const bool consumer = request.replica_id.value() < 0;
      const Offset bound = !consumer                      ? log.log_end_offset()
                           : request.isolation_level == 1 ? log.last_stable_offset()
                                                          : log.high_watermark();
      // Just elected, and followers have not told yet how far the log of the epoch before was committed (KIP-207).
      const bool lagging = consumer && partition.is_leader() && log.high_watermark() < partition.leader_epoch_start();
      const ErrorCode not_yet = version >= 5 ? ErrorCode::offset_not_available : ErrorCode::leader_not_available;
      if (time == kLatest) {
        if (lagging) {
          answer.error_code = not_yet;
          continue;
        }
        answer.offset = bound;
        answer.leader_epoch = partition.leader_epoch();
      } else if (time == kEarliest || time == kEarliestLocal) {
        answer.offset = log.log_start_offset();
        answer.leader_epoch = log.epoch_of(log.log_start_offset());
      } else if (time == kLatestTiered || time == kEarliestPendingUpload) {
        // Nothing is tiered: no offset, no error.
      } else {
        Result<log::TimestampOffset> at_time = time == kMaxTimestamp ? log.find_max_timestamp() : log.find_by_timestamp(time);
        if (!at_time) {
          answer.error_code = ErrorCode::kafka_storage_error;
          continue;
        }
        if (at_time->offset != kNoOffset && at_time->offset < bound) {
          answer.offset = at_time->offset;
          answer.timestamp = at_time->timestamp_ms;
          answer.leader_epoch = at_time->leader_epoch;
        } else if (lagging) {
          answer.error_code = not_yet;
        }
      }
      if (version < 4) {
        answer.leader_epoch = kNoLeaderEpoch;  // has no place in older answers
      }
    }
  }
  return response;
}

wire::OffsetForLeaderEpochResponse Broker::offset_for_leader_epoch(const wire::OffsetForLeaderEpochRequest& request) {
  wire::OffsetForLeaderEpochResponse response;
  response.topics.reserve(request.topics.size());
  for (const auto& topic : request.topics) {
    auto& topic_answer = response.topics.emplace_back();
    topic_answer.topic = topic.topic;
    topic_answer.partitions.reserve(topic.partitions.size());
    for (const auto& wanted : topic.partitions) {
      auto& answer = topic_answer.partitions.emplace_back();
      answer.partition = wanted.partition;
      const Impl::Resolved where = impl_->resolve(topic.topic, {}, false, wanted.partition);
      if (where.error != ErrorCode::none) {
        answer.error_code = where.error;
      } else if (where.partition == nullptr) {
        answer.error_code = ErrorCode::not_leader_or_follower;
      } else {
        answer.error_code = where.partition->check(true, wanted.current_leader_epoch);
      }
      if (answer.error_code != ErrorCode::none) {
        continue;
      }
      const log::EpochEndOffset end = where.partition->log()->end_offset_for_epoch(wanted.leader_epoch);
      answer.leader_epoch = end.epoch;
      answer.end_offset = end.end_offset;
    }
  }
  return response;
}

}  // namespace hw::broker
