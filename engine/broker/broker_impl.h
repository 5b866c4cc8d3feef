// SPDX-License-Identifier: Apache-2.0
// The inside of Broker, shared by its files: broker.cpp (topics, partitions, the image), produce.cpp, fetch.cpp,
// delete_records.cpp, offsets.cpp (ListOffsets, OffsetForLeaderEpoch) and waiting.cpp (those who wait, and their deadlines).
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/broker/broker.h"
#include "engine/broker/replica_fetcher.h"
#include "engine/wire/record/validate.h"

namespace hw::broker {

using wire::ErrorCode;

// A follower hears of a high watermark that moved without new records after this time at the latest.
inline constexpr Duration kWatermarkDelay = milliseconds(5);
// While partitions of a new epoch are awaited, a follower's fetch waits no longer than that.
inline constexpr Duration kAwaitedDelay = milliseconds(10);
inline constexpr Duration kAlterBackoff = milliseconds(50);
// A new partition whose log could not be made is tried again.
inline constexpr Duration kMakeAgain = seconds(1);

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};

struct HostedTopic {
  TopicFacts facts;
  std::vector<std::unique_ptr<Partition>> partitions;  // by index; null where another broker holds it
};

// A Fetch that waits for bytes.
struct ParkedFetch : Parked {
  ParkedFetch() : Parked(Kind::fetch) {}
  std::int16_t version = 0;
  std::int8_t isolation_level = 0;
  std::string rack;                         // of the consumer, where that matters
  BrokerId replica = kNoBroker;
  std::int32_t min_bytes = 0;
  std::int32_t max_bytes = 0;
  std::int32_t session_id = kNoSession;     // incremental
  std::int32_t session_epoch = 0;           // what the session must still have when it is answered
  bool wants_session = false;               // full fetch of a client that wants one
  std::int64_t found_bytes = 0;             // at the last look, and what came since
  // Of a follower.
  std::int64_t replica_epoch = -1;
  bool arrived = false;       // this is the first look: it tells how far the follower is
  bool news = false;          // there is something to tell that is no reason to answer at once
  FollowerState* state = nullptr;
  Watch among_followers;      // in state->parked
  std::vector<FetchPartition> partitions;   // without a session
  std::vector<Watch> watches;
};

// A request whose partitions reach what they must one by one, and that is answered when all have.
struct ParkedUntilAll : Parked {
  using Parked::Parked;
  struct Pending {
    Uuid topic_id;
    PartitionIndex partition;
    Offset required;
    std::size_t topic_at = 0;  // where its answer stands in `response`
    std::size_t partition_at = 0;
    bool done = false;
  };
  std::vector<Pending> pending;
  std::size_t open = 0;
  std::vector<Watch> watches;  // one for each of `pending`, once it is parked

  void finish(std::size_t i) {
    pending[i].done = true;
    --open;
    if (i < watches.size()) {
      PurgatoryList::remove(watches[i]);
    }
  }
};

// A Produce, or a coordinator's append, that waits for the high watermark or for the disk: Partition::acknowledged_end() must
// reach what is required.
struct ParkedProduce : ParkedUntilAll {
  ParkedProduce() : ParkedUntilAll(Kind::produce) {}
  std::int16_t acks = -1;
  bool overdue = false;  // its time is over, and it goes on only because the disk is not done
  wire::ProduceResponse response;
  bool failed = false;
  Broker::Committed committed;  // set: a coordinator waits, not a client
  ErrorCode internal_error = ErrorCode::none;  // for `committed`
};

// A DeleteRecords that waits for the low watermark.
struct ParkedDelete : ParkedUntilAll {
  ParkedDelete() : ParkedUntilAll(Kind::delete_records) {}
  wire::DeleteRecordsResponse response;
  wire::DeleteRecordsResponse::DeleteRecordsPartitionResult& answer(const Pending& of) {
    return response.topics[of.topic_at].partitions[of.partition_at];
  }
};

struct Broker::Impl {
  Impl(BrokerOptions given, log::LogManager& log_manager, event::EventSink* sink,
       std::shared_ptr<event::NodeCounters> node_counters, SettingsOf settings, Prng prng)
      : options(std::move(given)),
        logs(log_manager),
        events(sink),
        counters(std::move(node_counters)),
        settings_of(std::move(settings)),
        sessions(options.sessions, prng),
        fetchers(fetcher_options(options)) {
    replicas.self = options.node;
    replicas.lag_time_max = options.replica_lag_time_max;
    replicas.events = events;
    replicas.image = image.get();
  }
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
  Resolved resolve(std::string_view name, const Uuid& id, bool by_topic_id, PartitionIndex index);
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
    wake_followers(partition);
    for (Watch* w = partition.produces.first(); w != nullptr; w = w->next) {
      wake(*w->operation);
    }
  }
  // There are records, or answers, for those who follow the partition.
  void wake_followers(Partition& partition) {
    for (Watch* w = partition.follower_fetches.first(); w != nullptr; w = w->next) {
      wake(*w->operation);
    }
    for (Follow* f = partition.sessions.first(); f != nullptr; f = f->next) {
      f->session->mark_ready(f->self);
      if (f->session->waiting != nullptr) {
        wake(*f->session->waiting);
      }
    }
  }
  // The high watermark moved by itself, or the log start: followers hear of it with the next records, or soon.
  void tell_followers(Partition& partition, Instant now) {
    for (Follow* f = partition.sessions.first(); f != nullptr; f = f->next) {
      f->session->mark_ready(f->self);
      if (f->session->waiting != nullptr) {
        answer_by(*f->session->waiting, now + kWatermarkDelay);
      }
    }
    for (Watch* w = partition.follower_fetches.first(); w != nullptr; w = w->next) {
      answer_by(*w->operation, now + kWatermarkDelay);
    }
  }
  // Whoever waits for the high watermark looks again.
  void watermark_moved(Partition& partition, Instant now) {
    for (Watch* w = partition.fetches.first(); w != nullptr; w = w->next) {
      wake(*w->operation);
    }
    for (Watch* w = partition.produces.first(); w != nullptr; w = w->next) {
      wake(*w->operation);
    }
    wake_deletes(partition);
    tell_followers(partition, now);
  }
  // Where the low watermark rose, and where the high watermark moved: a broker may have gone whose log start does not count any
  // more, and as in Kafka its going alone wakes nobody.
  void wake_deletes(Partition& partition) {
    for (Watch* w = partition.deletes.first(); w != nullptr; w = w->next) {
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
    wake_deletes(partition);
  }

  void drop_partition(HostedTopic& topic, PartitionIndex index, std::vector<Error>& errors);
  HostedTopic& ensure_topic(const metadata::TopicImage& topic);
  void apply_partition(const metadata::TopicImage& image_topic, PartitionIndex index, bool created, Now now,
                       std::vector<Error>& errors);
  void make_again(Now now);
  std::vector<Error> apply(metadata::ImagePtr next, const metadata::MetadataDelta& delta, Now now);
  void refresh_settings(HostedTopic& topic);

  // ---- produce: produce.cpp

  void append_one(const ProduceCaller& caller, const Resolved& where, std::int16_t acks, Bytes records, const log::TransactionTerms& transaction,
                  Now now, wire::ProduceResponse::PartitionProduceResponse& answer, Offset& required);
  TransactionQuestion transaction_question(const ProduceCaller& caller, const wire::ProduceRequest& request, Now now);
  // Why transactional batches refuse a Produce as a whole: it names no transactional id, or they are of several producers.
  static ErrorCode transaction_refusal(const wire::ProduceRequest& request, std::span<const wire::ProduceRequestCheck> checked);
  // A partition that stands in a request more than once counts with its last records only, as in Kafka. `superseded` stays
  // empty where there is none.
  void mark_superseded(const wire::ProduceRequest& request, bool by_topic_id);
  void produce(const ProduceCaller& caller, wire::ProduceRequest& request, Now now, BrokerOutputs& out);
  // Changes of its partitions wake the operation from now on.
  void watch(ParkedUntilAll& operation, PurgatoryList Partition::* list);
  // Looks at what is still open. True: nothing is.
  bool look_at_produce(ParkedProduce& operation);
  // Something of it is not on the disk yet that must be.
  [[nodiscard]] bool waits_for_disk(const ParkedProduce& operation);
  static void finish_pending(ParkedProduce& operation, std::size_t i, ErrorCode error);
  void expire(ParkedProduce& operation, BrokerOutputs& out);
  void answer_produce(ParkedProduce& operation, BrokerOutputs& out);
  void append_internal(const std::string& topic, PartitionIndex index, Bytes batch, Now now, Committed done,
                       const log::TransactionTerms& transaction);
  // The leader of the partition. Null: what stands in the way was told to `done`.
  Partition* coordinated(const std::string& topic, PartitionIndex index, const Committed& done);
  void await_committed(Partition& partition, Offset end, Committed done);
  void await_committed(const std::string& topic, PartitionIndex index, Offset end, Committed done);

  // ---- delete_records.cpp

  // What one partition says to it at once. True: the low watermark is still below `required`.
  bool delete_in(const Resolved& where, Offset offset, Instant now, Offset& required,
                 wire::DeleteRecordsResponse::DeleteRecordsPartitionResult& answer);
  void delete_records(const Ticket& ticket, const wire::DeleteRecordsRequest& request, Now now, BrokerOutputs& out);
  // Looks at what is still open. True: nothing is.
  bool look_at_delete(ParkedDelete& operation);
  static void answer_delete(ParkedDelete& operation, BrokerOutputs& out);

  // ---- fetch: fetch.cpp

  struct Found {
    FetchPartition* wanted = nullptr;
    FetchSession::Partitions::iterator in_session;
    wire::FetchResponse::PartitionData data;
  };

  void read(const ParkedFetch& fetch, const FetchPartition& wanted, const Resolved& where, std::int64_t limit,
            bool at_least_one, Instant now, wire::FetchResponse::PartitionData& data, std::int64_t& bytes);
  void fetch(const Ticket& ticket, const wire::FetchRequest& request, std::int16_t version, Now now,
             BrokerOutputs& out);
  template <class Visit>
  void for_each_partition(ParkedFetch& fetch, Visit visit) {
    if (fetch.session_id != kNoSession) {
      if (FetchSession* session = sessions.find(fetch.session_id)) {
        auto& list = session->follower() ? session->ready() : session->partitions();
        for (auto it = list.begin(); it != list.end();) {
          const auto here = it++;  // a visit may move it to the quiet ones
          visit(*here, here);
        }
      }
      return;
    }
    for (FetchPartition& wanted : fetch.partitions) {
      visit(wanted, FetchSession::Partitions::iterator{});
    }
  }
  // What a follower's fetch says of its replica. An error answers the partition.
  ErrorCode note_follower(const ParkedFetch& fetch, const FetchPartition& wanted, Partition& partition, Instant now);
  // A follower's request: who it is, and that it lives.
  void arrive(ParkedFetch& fetch, std::int64_t replica_epoch, Instant now);
  void watch_partitions(ParkedFetch& fetch);
  // Reads what is there; answers when that is enough, when something is wrong, or when it must. True: answered.
  bool look_at_fetch(ParkedFetch& fetch, Now now, bool must_answer, BrokerOutputs& out);
  // A consumer above its quota gets no records and no session learns that it was told anything. True: that was the answer.
  bool throttled_instead(const ParkedFetch& fetch, const FetchSession* session, BrokerOutputs& out);
  void answer_fetch(ParkedFetch& fetch, FetchSession* session, wire::FetchResponse response, Now now,
                    BrokerOutputs& out);
  // Counts what a consumer gets. Records are an estimate by the log's mean record size: exact counts would cost a walk.
  std::int64_t note_fetched(const ParkedFetch& fetch, const FetchPartition& wanted, std::int64_t bytes);
  static void answer_fetch_error(const Ticket& ticket, ErrorCode error, BrokerOutputs& out);
  std::unique_ptr<ParkedFetch> take_fetch();
  void give_back(std::unique_ptr<ParkedFetch> fetch);

  // ---- what is asked of other nodes: replicas.cpp

  static FetcherOptions fetcher_options(const BrokerOptions& options);
  // A partition follows its leader, or nobody.
  void follow(Partition& partition, Instant now);
  // Followers that have not fetched partitions of a new epoch get an answer, so that they can.
  void hurry_awaited(Instant now);
  void brokers_changed(Instant now);
  void look_at_lag(Instant now);
  void send_to_peers(Now now, BrokerOutputs& out);
  void send_alter_partition(Instant now, BrokerOutputs& out);
  void alter_partition_answered(const wire::AlterPartitionResponse& response, Now now);
  void alter_partition_failed(Now now);
  [[nodiscard]] Instant peer_deadline() const noexcept;

  // ---- those who wait: waiting.cpp

  // It waits no longer than that.
  void answer_by(Parked& operation, Instant deadline);
  void park(std::unique_ptr<ParkedFetch> operation, Instant deadline);
  void park(std::unique_ptr<ParkedProduce> operation, Instant deadline);
  void park(std::unique_ptr<ParkedDelete> operation, Instant deadline);
  void enter(Parked& operation, Instant deadline);
  void leave(Parked& operation);
  void settle(Now now, BrokerOutputs& out);
  void answer_woken(Now now, BrokerOutputs& out);
  void look_at(Parked& operation, Now now, bool must_answer, BrokerOutputs& out);
  void tick(Now now, BrokerOutputs& out);
  void run_internal_done();

  BrokerOptions options;
  log::LogManager& logs;
  event::EventSink* events;
  std::shared_ptr<event::NodeCounters> counters;
  SettingsOf settings_of;
  metadata::ImagePtr image = std::make_shared<const metadata::MetadataImage>();
  FetchSessionCache sessions;
  ReplicaContext replicas;
  FetcherSet fetchers;  // goes before the partitions that it follows

  std::unordered_map<std::string, std::unique_ptr<HostedTopic>, TextHash, std::equal_to<>> by_name;
  std::unordered_map<Uuid, HostedTopic*> by_id;

  std::set<std::pair<Uuid, PartitionIndex>> not_made;  // new here, and without a log: the disk refused
  Instant make_again_at = kNever;

  DeadlineHeap heap;
  std::unordered_map<Parked*, std::unique_ptr<ParkedFetch>> parked_fetches;
  std::unordered_map<Parked*, std::unique_ptr<ParkedProduce>> parked_produces;
  std::unordered_map<Parked*, std::unique_ptr<ParkedDelete>> parked_deletes;
  std::unordered_map<ConnectionId, Parked*> by_connection;
  std::vector<Parked*> woken;
  std::deque<std::pair<Committed, ErrorCode>> internal_done;
  std::uint64_t parked_count = 0;

  // One AlterPartition is on its way at a time.
  struct Proposed {
    Uuid topic_id;
    PartitionIndex partition;
    std::int32_t partition_epoch = -1;
  };
  std::vector<Proposed> proposed;  // in it
  bool altering = false;
  Instant alter_at = kLongAgo;     // not earlier than that
  Instant lag_check_at = kNever;
  std::vector<Partition*> caught_up;  // reused between calls
  bool awaiting = false;           // the last image made leaderships that followers do not know yet
  std::vector<std::unique_ptr<ParkedFetch>> spare_fetches;

  // Reused between calls.
  std::vector<Found> found;
  std::vector<Found> unknown;
  std::vector<ParkedProduce::Pending> waiting;
  std::vector<wire::ProduceRequestCheck> checks;
  std::vector<bool> superseded;
};

}  // namespace hw::broker
