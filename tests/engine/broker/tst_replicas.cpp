// SPDX-License-Identifier: Apache-2.0
// One broker among replicas: as a leader whose followers are requests that the test makes, and as a follower whose leader is
// answers that the test makes.
#include <QtTest>

#include <memory>
#include <string>
#include <vector>

#include "engine/base/trial.h"
#include "engine/broker/broker.h"
#include "engine/env/fault_disk.h"
#include "engine/env/memory_disk.h"
#include "engine/metadata/image/image_builder.h"
#include "engine/metadata/image/record.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/record/batch_builder.h"

using namespace hw;
using namespace hw::broker;
using wire::ErrorCode;

namespace {

constexpr Uuid kTopic{3, 9};

struct Events : event::EventSink {
  void emit(event::Any event) override { all.push_back(std::move(event)); }
  template <class Kind>
  [[nodiscard]] int count() const {
    return static_cast<int>(std::count_if(all.begin(), all.end(),
                                          [](const event::Any& e) { return std::holds_alternative<Kind>(e); }));
  }
  std::vector<event::Any> all;
};

// Broker 0 of brokers 0, 1, 2 (racks r0, r1, r2; broker epochs 100, 101, 102), each partition with all of them as replicas.
struct World {
  explicit World(int partitions = 1, BrokerOptions options = {}) : memory(1ULL << 28U), disk(memory, Prng(9)) {
    static_cast<void>(disk.make_directories("/d"));
    Prng draw(1);
    static_cast<void>(log::LogManager::format(disk, "/d", "c", BrokerId(0), draw));
    log::LogManagerOptions logs_options;
    logs_options.directories = {"/d"};
    logs_options.node_id = BrokerId(0);
    logs = std::move(*log::LogManager::open(disk, logs_options, &events, Prng(2)));
    options.node = BrokerId(0);
    broker = std::make_unique<Broker>(
        options, *logs, &events, nullptr,
        [](const std::string&) {
          TopicSettings settings;
          settings.min_insync_replicas = 2;
          return settings;
        },
        Prng(3));
    for (int i = 0; i < 3; ++i) {
      register_broker(i, 100 + i);
    }
    wire::TopicRecord topic;
    topic.name = "t";
    topic.topic_id = kTopic;
    replay(topic);
    for (int p = 0; p < partitions; ++p) {
      wire::PartitionRecord partition;
      partition.partition_id = PartitionIndex(p);
      partition.topic_id = kTopic;
      partition.replicas = {BrokerId(0), BrokerId(1), BrokerId(2)};
      partition.isr = {0, 1, 2};
      partition.leader = BrokerId(0);
      partition.leader_epoch = LeaderEpoch(0);
      partition.partition_epoch = 0;
      partition.directories.resize(3);
      replay(partition);
    }
    publish();
    broker->set_broker_epoch(100);
  }

  void register_broker(int id, std::int64_t epoch) {
    wire::RegisterBrokerRecord registration;
    registration.broker_id = BrokerId(id);
    registration.broker_epoch = epoch;
    registration.rack = "r" + std::to_string(id);
    auto& endpoint = registration.end_points.emplace_back();
    endpoint.name = "PLAINTEXT";
    endpoint.port = static_cast<std::uint16_t>(9092 + id);
    registration.fenced = false;
    replay(registration);
  }
  void replay(const metadata::Record& record) { HW_ASSERT(builder.replay(record, Offset(offset++), 1).has_value(), "good"); }
  void publish() {
    auto published = builder.publish();
    broker->apply(published.image, published.delta, both());
    settle();
  }
  void change(std::optional<std::vector<BrokerId>> isr, std::optional<int> leader, int p = 0) {
    wire::PartitionChangeRecord record;
    record.partition_id = PartitionIndex(p);
    record.topic_id = kTopic;
    record.isr = std::move(isr);
    if (leader) {
      record.leader = BrokerId(*leader);
    }
    replay(record);
    publish();
  }
  void fence(int id, bool fenced) {
    wire::BrokerRegistrationChangeRecord record;
    record.broker_id = BrokerId(id);
    record.broker_epoch = 100 + id;
    record.fenced = fenced ? 1 : -1;
    replay(record);
    publish();
  }
  [[nodiscard]] Now both() const { return {now, WallTime{1'000'000 + now.ns / 1'000'000}}; }
  void settle() { broker->settle(both(), out); }
  void pass(Duration time) {
    const Instant end = now + time;
    while (broker->next_deadline() <= end) {
      now = std::max(now, broker->next_deadline());
      broker->tick(both(), out);
      if (broker->next_deadline() <= now) {
        break;
      }
    }
    now = end;
    broker->tick(both(), out);
  }

  static Bytes batch(const std::string& value, int count = 1) {
    wire::BatchBuilder builder;
    for (int i = 0; i < count; ++i) {
      builder.append(std::nullopt, std::string_view(value), 1'000);
    }
    return builder.finish();
  }
  std::uint64_t produce(std::int16_t acks, int p = 0, std::int32_t timeout_ms = 1'000) {
    wire::ProduceRequest request;
    request.acks = acks;
    request.timeout_ms = timeout_ms;
    auto& topic = request.topic_data.emplace_back();
    topic.topic_id = kTopic;
    auto& data = topic.partition_data.emplace_back();
    data.index = p;
    data.records = BytesChain(batch("v"));
    Broker::ProduceCaller caller;
    caller.ticket = {ConnectionId(++serial), serial};
    caller.version = 13;
    broker->produce(caller, request, both(), out);
    settle();
    return serial;
  }
  [[nodiscard]] std::optional<wire::ProduceResponse::PartitionProduceResponse> produced(std::uint64_t ticket) const {
    for (const auto& done : out.produced) {
      if (done.ticket.serial == ticket) {
        return done.response.responses[0].partition_responses[0];
      }
    }
    return std::nullopt;
  }
  struct Ask {
    int replica = -1;
    std::int64_t offset = 0;
    int epoch = 0;
    int last_epoch = -1;
    int p = 0;
    std::int32_t session = 0;
    std::int32_t session_epoch = -1;
    std::int32_t wait_ms = 500;
    std::int64_t replica_epoch = -2;  // -2: the right one
    std::string rack;
    bool name = true;
    std::int64_t log_start = 0;
  };
  std::uint64_t fetch(const Ask& wanted) {
    const std::uint64_t ticket = ask(wanted);
    settle();
    return ticket;
  }
  // Without the end of the turn: who waited is not answered yet.
  std::uint64_t ask(const Ask& ask) {
    wire::FetchRequest request;
    request.replica_state.replica_id = BrokerId(ask.replica);
    request.replica_state.replica_epoch =
        ask.replica_epoch != -2 ? ask.replica_epoch : (ask.replica < 0 ? -1 : 100 + ask.replica);
    request.max_wait_ms = ask.wait_ms;
    request.min_bytes = 1;
    request.max_bytes = 1 << 20;
    request.session_id = ask.session;
    request.session_epoch = ask.session_epoch;
    request.rack_id = ask.rack;
    if (ask.name) {
      auto& topic = request.topics.emplace_back();
      topic.topic_id = kTopic;
      auto& partition = topic.partitions.emplace_back();
      partition.partition = PartitionIndex(ask.p);
      partition.fetch_offset = Offset(ask.offset);
      partition.current_leader_epoch = LeaderEpoch(ask.epoch);
      partition.last_fetched_epoch = LeaderEpoch(ask.last_epoch);
      partition.log_start_offset = Offset(ask.log_start);
      partition.partition_max_bytes = 1 << 20;
    }
    ++serial;
    broker->fetch({ConnectionId(serial), serial}, request, 18, both(), out);
    return serial;
  }
  // `records` committed records of partition 0; both followers have told that they have them all.
  void fill(int records) {
    for (int i = 0; i < records; ++i) {
      produce(1);
    }
    has(1, 0, records);
    has(2, 0, records);
  }
  // A follower has everything up to `end`, and its log begins at `start`.
  std::uint64_t has(int follower, std::int64_t start, std::int64_t end = 10, std::int32_t wait_ms = 0, int epoch = 0) {
    return fetch({.replica = follower, .offset = end, .epoch = epoch, .wait_ms = wait_ms, .log_start = start});
  }
  std::uint64_t delete_records(const std::vector<std::pair<int, std::int64_t>>& offsets, std::int32_t timeout_ms = 1'000,
                               const std::string& topic = "t") {
    wire::DeleteRecordsRequest request;
    request.timeout_ms = timeout_ms;
    auto& entry = request.topics.emplace_back();
    entry.name = topic;
    for (const auto& [partition, to] : offsets) {
      entry.partitions.push_back({PartitionIndex(partition), Offset(to), {}});
    }
    ++serial;
    broker->delete_records({ConnectionId(serial), serial}, request, both(), out);
    settle();
    return serial;
  }
  using Deletion = std::pair<ErrorCode, std::int64_t>;  // error, low watermark
  [[nodiscard]] std::optional<Deletion> deleted(std::uint64_t ticket, std::size_t at = 0) const {
    for (const auto& done : out.deleted) {
      if (done.ticket.serial == ticket) {
        const auto& answer = done.response.topics.at(0).partitions.at(at);
        return Deletion{answer.error_code, answer.low_watermark};
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] const wire::FetchResponse* fetched(std::uint64_t ticket) const {
    for (const auto& done : out.fetched) {
      if (done.ticket.serial == ticket) {
        return &done.response;
      }
    }
    return nullptr;
  }
  [[nodiscard]] wire::FetchResponse::PartitionData data(std::uint64_t ticket) const {
    const wire::FetchResponse* response = fetched(ticket);
    return response == nullptr || response->responses.empty() ? wire::FetchResponse::PartitionData{}
                                                              : response->responses[0].partitions[0];
  }
  Partition& partition(int p = 0) { return *broker->find(kTopic, PartitionIndex(p)); }
  [[nodiscard]] std::vector<std::int32_t> proposed() const {
    std::vector<std::int32_t> ids;
    if (out.alter_partition) {
      for (const auto& member : out.alter_partition->request.topics[0].partitions[0].new_isr_with_epochs) {
        ids.push_back(member.broker_id.value());
      }
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  // The controller accepts what was proposed for partition 0.
  void accept() {
    wire::AlterPartitionResponse response;
    auto& topic = response.topics.emplace_back();
    topic.topic_id = kTopic;
    auto& answer = topic.partitions.emplace_back();
    answer.leader_id = BrokerId(0);
    answer.leader_epoch = partition().leader_epoch();
    answer.partition_epoch = partition().partition_epoch() + 1;
    for (const std::int32_t id : proposed()) {
      answer.isr.push_back(BrokerId(id));
    }
    out.alter_partition.reset();
    broker->alter_partition_answered(response, both());
    settle();
  }
  void refuse(ErrorCode error) {
    wire::AlterPartitionResponse response;
    auto& topic = response.topics.emplace_back();
    topic.topic_id = kTopic;
    topic.partitions.emplace_back().error_code = error;
    out.alter_partition.reset();
    broker->alter_partition_answered(response, both());
    settle();
  }
  // As a follower: the request that went to the leader.
  [[nodiscard]] const wire::FetchRequest::FetchPartition* asked(int p = 0) const {
    for (const PeerFetch& fetch : out.peer_fetches) {
      for (const auto& topic : fetch.request.topics) {
        for (const auto& partition : topic.partitions) {
          if (partition.partition.value() == p) {
            return &partition;
          }
        }
      }
    }
    return nullptr;
  }
  wire::FetchResponse answer(int p, Bytes records, std::int64_t high_watermark, std::int32_t session = 5) const {
    wire::FetchResponse response;
    response.session_id = session;
    auto& topic = response.responses.emplace_back();
    topic.topic_id = kTopic;
    auto& one = topic.partitions.emplace_back();
    one.partition_index = PartitionIndex(p);
    one.high_watermark = high_watermark;
    one.log_start_offset = Offset(0);
    one.records.emplace();
    one.records->append(std::move(records));
    return response;
  }
  // A batch as a leader of `epoch` stores it.
  static Bytes stored(std::int64_t offset, int epoch, const std::string& value = "v") {
    const Bytes made = batch(value);
    ByteBuilder copy(made.size());
    std::memcpy(copy.extend(made.size()), made.data(), made.size());
    Bytes bytes = copy.finish();
    const MutableByteSpan writable{bytes.unique_data(), bytes.size()};
    wire::set_last_offset(writable, Offset(offset));
    wire::set_leader_epoch(writable, LeaderEpoch(epoch));
    return bytes;
  }
  void give(wire::FetchResponse response) {
    const std::uint64_t id = out.peer_fetches.back().id;
    out.peer_fetches.clear();
    broker->fetched(id, std::move(response), both());
    settle();
  }

  env::MemoryDisk memory;
  env::FaultDisk disk;
  Events events;
  std::unique_ptr<log::LogManager> logs;
  std::unique_ptr<Broker> broker;
  metadata::ImageBuilder builder;
  std::int64_t offset = 0;
  Instant now{1'000'000'000};
  BrokerOutputs out;
  std::uint64_t serial = 0;
};

}  // namespace

class TstReplicas : public QObject {
  Q_OBJECT

 private slots:
  // --- leader

  void acks_all_waits_for_every_replica_in_sync() {
    World world;
    const auto all = world.produce(-1);
    const auto one = world.produce(1);
    QVERIFY(!world.produced(all));
    QCOMPARE(world.produced(one)->error_code, ErrorCode::none);
    world.fetch({.replica = 1, .offset = 2});
    QVERIFY(!world.produced(all));
    QCOMPARE(world.partition().log()->high_watermark(), Offset(0));
    world.fetch({.replica = 2, .offset = 1});
    QCOMPARE(world.produced(all)->error_code, ErrorCode::none);
    QCOMPARE(world.partition().log()->high_watermark(), Offset(1));
  }

  // A request of an earlier connection comes late and says less; the follower's session, which has nothing new to say, says again
  // how far it is, also where an answer about another partition comes in between.
  void a_late_request_is_outdone_by_the_session() {
    World world(2);
    world.fetch({.replica = 2, .offset = 0});
    const std::int32_t session = world.fetched(world.fetch({.replica = 1, .session_epoch = 0}))->session_id;
    QVERIFY(session != 0);
    world.fetch({.replica = 1, .p = 1, .session = session, .session_epoch = 1});
    world.produce(1, 0);
    const auto parked = world.fetch({.replica = 1, .offset = 1, .last_epoch = 0, .session = session, .session_epoch = 2});
    QVERIFY(world.fetched(parked) == nullptr);
    QCOMPARE(world.partition(0).follower_log_end(BrokerId(1)), Offset(1));
    world.fetch({.replica = 1, .offset = 0, .wait_ms = 0});  // the late one
    QCOMPARE(world.partition(0).follower_log_end(BrokerId(1)), Offset(0));
    world.produce(1, 1);
    QVERIFY(world.fetched(parked) != nullptr);
    world.fetch({.replica = 1, .offset = 1, .last_epoch = 0, .p = 1, .session = session, .session_epoch = 3});
    QCOMPARE(world.partition(0).follower_log_end(BrokerId(1)), Offset(1));
    world.fetch({.replica = 2, .offset = 1, .last_epoch = 0});
    QCOMPARE(world.partition(0).log()->high_watermark(), Offset(1));
  }

  // --- DeleteRecords. The values are those of Kafka 4.4.0 with three replicas.

  void deleted_records_are_gone_when_every_replica_says_so() {
    World world;
    world.fill(10);
    const auto ticket = world.delete_records({{0, 3}});
    QVERIFY(!world.deleted(ticket));
    QCOMPARE(world.partition().log()->log_start_offset(), Offset(3));
    world.has(1, 3);
    QVERIFY(!world.deleted(ticket));
    world.has(2, 3);
    QCOMPARE(world.deleted(ticket), (World::Deletion{ErrorCode::none, 3}));
    // There is nothing to wait for where all are as far, or further.
    QCOMPARE(world.deleted(world.delete_records({{0, 3}})), (World::Deletion{ErrorCode::none, 3}));
    QCOMPARE(world.deleted(world.delete_records({{0, 1}})), (World::Deletion{ErrorCode::none, 3}));
    // -1: up to the high watermark.
    const auto all = world.delete_records({{0, -1}});
    world.has(1, 10);
    world.has(2, 10);
    QCOMPARE(world.deleted(all), (World::Deletion{ErrorCode::none, 10}));
    QCOMPARE(world.deleted(world.delete_records({{0, 11}})), (World::Deletion{ErrorCode::offset_out_of_range, -1}));
    QCOMPARE(world.deleted(world.delete_records({{0, -2}})), (World::Deletion{ErrorCode::offset_out_of_range, -1}));
    QCOMPARE(world.broker->parked(), std::size_t{0});
  }

  // A crash can take a log start with it: what a replica said before it counts no more.
  void deleted_records_wait_for_what_a_new_life_says() {
    World world;
    world.fill(10);
    world.delete_records({{0, 8}});
    world.has(1, 8);
    world.has(2, 8);
    world.register_broker(2, 300);
    world.publish();
    const auto ticket = world.delete_records({{0, 5}});
    QVERIFY(!world.deleted(ticket));
    world.fetch({.replica = 2, .offset = 10, .wait_ms = 0, .replica_epoch = 300, .log_start = 6});
    QCOMPARE(world.deleted(ticket), (World::Deletion{ErrorCode::none, 6}));
  }

  void followers_hear_of_deleted_records_at_once() {
    World world;
    world.fill(10);
    const auto waits = world.has(1, 0, 10, 500);
    QVERIFY(world.fetched(waits) == nullptr);
    world.delete_records({{0, 4}});
    world.pass(milliseconds(10));
    QVERIFY(world.fetched(waits) != nullptr);
    QCOMPARE(world.data(waits).log_start_offset, Offset(4));
    // A session likewise, and it is told once.
    world.fetch({.replica = 1, .offset = 10, .session_epoch = 0, .log_start = 4});
    const std::int32_t session = world.out.fetched.back().response.session_id;
    const auto quiet = world.fetch({.replica = 1, .session = session, .session_epoch = 1, .name = false});
    QVERIFY(world.fetched(quiet) == nullptr);
    world.delete_records({{0, 5}});
    world.pass(milliseconds(10));
    QCOMPARE(world.data(quiet).log_start_offset, Offset(5));
    const auto again = world.fetch({.replica = 1, .session = session, .session_epoch = 2, .name = false});
    world.delete_records({{0, 5}});
    world.pass(milliseconds(10));
    QVERIFY(world.fetched(again) == nullptr);
  }

  void deleting_times_out_while_a_replica_in_sync_is_silent() {
    World world;
    world.fill(10);
    const auto ticket = world.delete_records({{0, 3}}, 1'500);
    world.has(1, 3);
    world.pass(milliseconds(1'499));
    QVERIFY(!world.deleted(ticket));
    world.pass(milliseconds(1));
    QCOMPARE(world.deleted(ticket), (World::Deletion{ErrorCode::request_timed_out, 0}));
    QCOMPARE(world.partition().log()->log_start_offset(), Offset(3));
    // What is asked for counts, not where the leader's log begins already.
    const auto back = world.delete_records({{0, 1}}, 500);
    QVERIFY(!world.deleted(back));
    world.pass(milliseconds(500));
    QCOMPARE(world.deleted(back), (World::Deletion{ErrorCode::request_timed_out, 0}));
    QCOMPARE(world.deleted(world.delete_records({{0, 0}}, 500)), (World::Deletion{ErrorCode::none, 0}));
    // Without time it is done, and whoever asks does not learn where.
    QCOMPARE(world.deleted(world.delete_records({{0, 4}}, 0)), (World::Deletion{ErrorCode::request_timed_out, 0}));
    QCOMPARE(world.deleted(world.delete_records({{0, 5}}, -1)), (World::Deletion{ErrorCode::request_timed_out, 0}));
    QCOMPARE(world.partition().log()->log_start_offset(), Offset(5));
    // A record that not all have is beyond the high watermark.
    world.produce(1);
    QCOMPARE(world.deleted(world.delete_records({{0, 11}})), (World::Deletion{ErrorCode::offset_out_of_range, -1}));
    // Two that wait end together when the replica speaks again.
    const auto first = world.delete_records({{0, 6}});
    const auto second = world.delete_records({{0, 8}});
    world.has(1, 8);
    world.has(2, 8);
    QCOMPARE(world.deleted(first), (World::Deletion{ErrorCode::none, 8}));
    QCOMPARE(world.deleted(second), (World::Deletion{ErrorCode::none, 8}));
  }

  void a_replica_counts_until_it_is_fenced() {
    World world;
    world.fill(10);
    world.change(std::vector<BrokerId>{BrokerId(0), BrokerId(1)}, std::nullopt);
    world.has(1, 0);
    const auto alive = world.delete_records({{0, 2}}, 500);  // out of the ISR, not fenced
    world.has(1, 2);
    QVERIFY(!world.deleted(alive));
    world.pass(milliseconds(500));
    QCOMPARE(world.deleted(alive), (World::Deletion{ErrorCode::request_timed_out, 0}));
    // One that waits already does not notice that a broker was fenced, unless something else moves.
    const auto waits = world.delete_records({{0, 2}}, 30'000);
    const auto woken = world.delete_records({{0, 2}}, 60'000);
    world.fence(2, true);
    world.has(1, 2);
    world.pass(seconds(30));
    QCOMPARE(world.deleted(waits), (World::Deletion{ErrorCode::request_timed_out, 0}));
    QVERIFY(!world.deleted(woken));
    QCOMPARE(world.deleted(world.delete_records({{0, 2}})), (World::Deletion{ErrorCode::none, 2}));
    world.produce(1);
    world.has(1, 2, 11);
    QCOMPARE(world.deleted(woken), (World::Deletion{ErrorCode::none, 2}));
    // Back, it counts with what it said last.
    world.fence(2, false);
    QCOMPARE(world.deleted(world.delete_records({{0, 2}}, 0)), (World::Deletion{ErrorCode::request_timed_out, 0}));
  }

  void a_new_leader_does_not_know_where_logs_begin() {
    World world;
    world.fill(10);
    world.change(std::nullopt, 1);
    const auto elsewhere = world.delete_records({{0, 3}});
    QCOMPARE(world.deleted(elsewhere), (World::Deletion{ErrorCode::not_leader_or_follower, -1}));
    world.change(std::nullopt, 0);
    world.has(1, 0, 10, 0, 2);
    QCOMPARE(world.deleted(world.delete_records({{0, 3}}, 0)), (World::Deletion{ErrorCode::request_timed_out, -1}));
    const auto nothing = world.delete_records({{0, 0}}, 500);  // not even that is known
    world.pass(milliseconds(500));
    QCOMPARE(world.deleted(nothing), (World::Deletion{ErrorCode::request_timed_out, -1}));
    const auto ticket = world.delete_records({{0, 3}});
    world.has(1, 3, 10, 0, 2);
    world.has(2, 3, 10, 0, 2);
    QCOMPARE(world.deleted(ticket), (World::Deletion{ErrorCode::none, 3}));
  }

  // Whoever waits hears nothing of it before its time is over.
  void deleting_times_out_when_the_leader_changes_or_the_topic_goes() {
    World world;
    world.fill(10);
    const auto ticket = world.delete_records({{0, 4}}, 9'000);
    world.change(std::nullopt, 1);
    world.pass(milliseconds(8'999));
    QVERIFY(!world.deleted(ticket));
    world.pass(milliseconds(1));
    QCOMPARE(world.deleted(ticket), (World::Deletion{ErrorCode::request_timed_out, 0}));
    world.change(std::nullopt, 0);
    const auto doomed = world.delete_records({{0, 4}}, 9'000);
    wire::RemoveTopicRecord gone;
    gone.topic_id = kTopic;
    world.replay(gone);
    world.publish();
    world.pass(seconds(9));
    QCOMPARE(world.deleted(doomed), (World::Deletion{ErrorCode::request_timed_out, -1}));
    QCOMPARE(world.broker->parked(), std::size_t{0});
  }

  void one_answer_for_all_partitions() {
    World world(2);
    world.fill(10);
    const auto ticket = world.delete_records({{0, 4}, {1, 0}, {7, 1}});
    QVERIFY(!world.deleted(ticket));  // partition 1 is empty: nobody has said anything of it
    world.fetch({.replica = 1, .p = 1, .wait_ms = 0});
    world.fetch({.replica = 2, .p = 1, .wait_ms = 0});
    world.has(1, 4);
    QVERIFY(!world.deleted(ticket));
    world.pass(seconds(1));
    QCOMPARE(world.deleted(ticket, 0), (World::Deletion{ErrorCode::request_timed_out, 0}));
    QCOMPARE(world.deleted(ticket, 1), (World::Deletion{ErrorCode::none, 0}));
    QCOMPARE(world.deleted(ticket, 2), (World::Deletion{ErrorCode::unknown_topic_or_partition, -1}));
    QCOMPARE(world.deleted(world.delete_records({{0, 0}}, 1'000, "nobody")),
             (World::Deletion{ErrorCode::unknown_topic_or_partition, -1}));
    // Twice in one request: the last one counts.
    const auto twice = world.delete_records({{0, 6}, {0, 5}});
    world.has(1, 5);
    world.has(2, 5);
    QCOMPARE(world.deleted(twice), (World::Deletion{ErrorCode::none, 5}));
    QCOMPARE(world.partition().log()->log_start_offset(), Offset(5));
    // A client that has gone is not answered, and nothing is left of its request.
    const auto left = world.delete_records({{0, 9}});
    world.broker->disconnected(ConnectionId(left));
    world.pass(seconds(2));
    QVERIFY(!world.deleted(left));
  }

  // What a window draws: how far each follower is, when it fetched and when it last had everything.
  void a_leader_tells_how_far_its_followers_are() {
    World world;
    const event::LeadershipBegan* began = nullptr;
    for (const event::Any& any : world.events.all) {
      began = std::holds_alternative<event::LeadershipBegan>(any) ? &std::get<event::LeadershipBegan>(any) : began;
    }
    QVERIFY(began != nullptr);
    QCOMPARE(began->node, BrokerId(0));
    QCOMPARE(began->epoch_start, Offset(0));
    QCOMPARE(began->followers.size(), std::size_t{2});
    const event::FollowerCounters& one = *began->followers[0].counters;
    const event::FollowerCounters& two = *began->followers[1].counters;
    const event::FetcherCounters& fetcher = *began->followers[0].fetcher;
    QCOMPARE(began->followers[0].id, BrokerId(1));
    QCOMPARE(one.log_end_offset.get(), std::int64_t{-1});
    world.fetch({.replica = 1, .offset = 0});
    const std::int64_t fetched = one.fetched_at_ms.get();
    QCOMPARE(one.log_end_offset.get(), std::int64_t{0});
    QCOMPARE(one.caught_up_at_ms.get(), fetched);
    QCOMPARE(fetcher.fetched_at_ms.get(), fetched);
    world.pass(milliseconds(50));
    world.produce(1);
    world.pass(milliseconds(50));
    world.fetch({.replica = 1, .offset = 0});  // it asks again, and does not have the record yet
    QCOMPARE(one.fetched_at_ms.get(), fetched + 100);
    QVERIFY(one.caught_up_at_ms.get() < fetched + 100);
    world.fetch({.replica = 1, .offset = 1});
    QCOMPARE(one.log_end_offset.get(), std::int64_t{1});
    QCOMPARE(one.caught_up_at_ms.get(), fetched + 100);
    QCOMPARE(two.log_end_offset.get(), std::int64_t{-1});  // it has not asked
  }

  void acks_all_times_out_and_the_record_stays() {
    World world;
    const auto all = world.produce(-1, 0, 300);
    world.pass(milliseconds(299));
    QVERIFY(!world.produced(all));
    world.pass(milliseconds(2));
    QCOMPARE(world.produced(all)->error_code, ErrorCode::request_timed_out);
    QCOMPARE(world.produced(all)->base_offset, Offset(0));
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(1));
    // Consumers see nothing of it.
    const auto seen = world.fetch({.offset = 0, .wait_ms = 0});
    QCOMPARE(world.data(seen).high_watermark, 0);
    QVERIFY(world.data(seen).records->empty());
  }

  void a_silent_follower_leaves_the_isr_and_comes_back() {
    BrokerOptions options;
    options.replica_lag_time_max = milliseconds(1'000);
    World world(1, options);
    world.produce(1);
    world.fetch({.replica = 1, .offset = 1, .wait_ms = 0});
    world.pass(milliseconds(900));
    QVERIFY(!world.out.alter_partition);
    world.fetch({.replica = 1, .offset = 1, .wait_ms = 0});
    world.pass(milliseconds(700));  // between 1 and 1.5 times the limit
    QCOMPARE(world.proposed(), (std::vector<std::int32_t>{0, 1}));
    // Until the controller has said yes the old ISR counts.
    QCOMPARE(world.partition().log()->high_watermark(), Offset(0));
    world.accept();
    QCOMPARE(world.partition().isr().size(), std::size_t{2});
    QCOMPARE(world.partition().log()->high_watermark(), Offset(1));
    // It is back, but not with everything.
    world.fetch({.replica = 2, .offset = 0, .wait_ms = 0});
    QVERIFY(!world.out.alter_partition);
    world.fetch({.replica = 2, .offset = 1, .wait_ms = 0});
    QCOMPARE(world.proposed(), (std::vector<std::int32_t>{0, 1, 2}));
    // KIP-497: the one that joins holds the high watermark back already.
    const auto all = world.produce(-1);
    world.fetch({.replica = 1, .offset = 2, .wait_ms = 0});
    QVERIFY(!world.produced(all));
    world.accept();
    QVERIFY(!world.produced(all));
    world.fetch({.replica = 2, .offset = 2, .wait_ms = 0});
    QCOMPARE(world.produced(all)->error_code, ErrorCode::none);
  }

  void too_few_in_sync() {
    World world;
    world.change(std::vector<BrokerId>{BrokerId(0)}, std::nullopt);
    QCOMPARE(world.produced(world.produce(-1))->error_code, ErrorCode::not_enough_replicas);
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(0));
    QCOMPARE(world.produced(world.produce(1))->error_code, ErrorCode::none);
    QCOMPARE(world.partition().log()->high_watermark(), Offset(0));  // KIP-966
    world.change(std::vector<BrokerId>{BrokerId(0), BrokerId(1)}, std::nullopt);
    world.fetch({.replica = 1, .offset = 1, .wait_ms = 0});
    QCOMPARE(world.partition().log()->high_watermark(), Offset(1));
  }

  // The followers have the records of one who waits, and leave the in-sync set before he is answered: nobody promises what a single
  // replica has.
  void the_isr_shrinks_before_a_producer_is_answered() {
    const trial::Trial trial;
    const auto lost = [&] { return trial.marks()[static_cast<std::size_t>(trial::Mark::produce_min_isr_lost)]; };
    World world;
    const auto all = world.produce(-1);
    world.ask({.replica = 1, .offset = 1, .wait_ms = 0});
    world.ask({.replica = 2, .offset = 1, .wait_ms = 0});
    QCOMPARE(world.partition().log()->high_watermark(), Offset(1));
    QVERIFY(!world.produced(all));
    QCOMPARE(lost(), std::uint64_t{0});
    world.change(std::vector<BrokerId>{BrokerId(0)}, std::nullopt);  // in the same turn
    QCOMPARE(world.produced(all)->error_code, ErrorCode::not_enough_replicas_after_append);
    QCOMPARE(lost(), std::uint64_t{1});
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(1));  // it is there for all that
  }

  void the_isr_shrinks_under_a_waiting_producer() {
    World world;
    const auto all = world.produce(-1, 0, 400);
    world.change(std::vector<BrokerId>{BrokerId(0)}, std::nullopt);
    QVERIFY(!world.produced(all));
    world.pass(milliseconds(401));
    QCOMPARE(world.produced(all)->error_code, ErrorCode::request_timed_out);
  }

  void a_leader_that_steps_down_answers_who_waits() {
    World world;
    const auto all = world.produce(-1);
    const auto follower = world.fetch({.replica = 1, .offset = 1});
    QVERIFY(world.fetched(follower) == nullptr);
    world.change(std::nullopt, 1);
    QCOMPARE(world.produced(all)->error_code, ErrorCode::not_leader_or_follower);
    QCOMPARE(world.data(follower).error_code, ErrorCode::fenced_leader_epoch);
  }

  // The image goes on by two elections at once: what a follower had in the first epoch it may have cut for the leader in between.
  void a_follower_says_anew_how_far_it_is_where_others_led() {
    World world;
    world.produce(1);
    world.fetch({.replica = 1, .offset = 1, .wait_ms = 0});
    for (const int leader : {1, 0}) {
      wire::PartitionChangeRecord record;
      record.partition_id = PartitionIndex(0);
      record.topic_id = kTopic;
      record.leader = BrokerId(leader);
      world.replay(record);
    }
    world.publish();
    QCOMPARE(world.partition().leader_epoch(), LeaderEpoch(2));
    world.fetch({.replica = 2, .offset = 1, .epoch = 2, .wait_ms = 0});
    QCOMPARE(world.partition().log()->high_watermark(), Offset(0));
    world.fetch({.replica = 1, .offset = 1, .epoch = 2, .wait_ms = 0});
    QCOMPARE(world.partition().log()->high_watermark(), Offset(1));
  }

  void a_stale_registration_does_not_count() {
    World world;
    world.produce(1);
    QCOMPARE(world.data(world.fetch({.replica = 1, .offset = 1, .wait_ms = 0, .replica_epoch = 99})).error_code,
             ErrorCode::not_leader_or_follower);
    world.fetch({.replica = 2, .offset = 1, .wait_ms = 0});
    QCOMPARE(world.partition().log()->high_watermark(), Offset(0));
    // Nor does a stale leader epoch, or a log that has left this one.
    world.change(std::nullopt, 0);
    QCOMPARE(world.data(world.fetch({.replica = 1, .offset = 1, .epoch = 0, .wait_ms = 0})).error_code,
             ErrorCode::fenced_leader_epoch);
    const auto diverging = world.data(world.fetch({.replica = 1, .offset = 5, .epoch = 1, .last_epoch = 0, .wait_ms = 0}));
    QCOMPARE(diverging.diverging_epoch.end_offset, Offset(1));
    QCOMPARE(world.partition().log()->high_watermark(), Offset(0));
    world.fetch({.replica = 1, .offset = 1, .epoch = 1, .last_epoch = 0, .wait_ms = 0});
    QCOMPARE(world.partition().log()->high_watermark(), Offset(1));
  }

  // A broker that started again fetches before its registration is known here; what its earlier life had sent comes after that.
  void a_request_of_an_earlier_life_is_outdone() {
    World world;
    world.fetch({.replica = 2, .offset = 0, .wait_ms = 0, .replica_epoch = 300});
    QCOMPARE(world.data(world.fetch({.replica = 2, .offset = 0, .wait_ms = 0, .replica_epoch = 102})).error_code, ErrorCode::not_leader_or_follower);
    world.register_broker(2, 300);
    world.change(std::vector<BrokerId>{BrokerId(0), BrokerId(1)}, std::nullopt);
    QCOMPARE(world.proposed(), (std::vector<std::int32_t>{0, 1, 2}));  // its session is quiet: it need not fetch again
  }

  void a_fenced_follower_stays_out_until_it_is_alive() {
    World world;
    world.fence(2, true);
    world.change(std::vector<BrokerId>{BrokerId(0), BrokerId(1)}, std::nullopt);
    world.fetch({.replica = 2, .offset = 0, .wait_ms = 0});
    QVERIFY(!world.out.alter_partition);
    world.fence(2, false);  // nobody has to fetch again for this
    QCOMPARE(world.proposed(), (std::vector<std::int32_t>{0, 1, 2}));
    // Refused for now: proposed again at the follower's next word.
    world.refuse(ErrorCode::ineligible_replica);
    QVERIFY(!world.out.alter_partition);
    world.fetch({.replica = 2, .offset = 0, .wait_ms = 0});
    QCOMPARE(world.proposed(), (std::vector<std::int32_t>{0, 1, 2}));
    // An error that passes: sent again by itself. Stale epochs: the image decides.
    world.refuse(ErrorCode::unknown_server_error);
    QVERIFY(!world.out.alter_partition);
    world.pass(milliseconds(60));
    QCOMPARE(world.proposed(), (std::vector<std::int32_t>{0, 1, 2}));
    world.refuse(ErrorCode::invalid_update_version);
    world.pass(milliseconds(200));
    QVERIFY(!world.out.alter_partition);
    world.change(std::vector<BrokerId>{BrokerId(0), BrokerId(1), BrokerId(2)}, std::nullopt);
    QCOMPARE(world.partition().isr().size(), std::size_t{3});
    QVERIFY(!world.out.alter_partition);
  }

  void a_followers_session_costs_what_changed() {
    constexpr int kPartitions = 200;
    World world(kPartitions);
    wire::FetchRequest request;
    request.replica_state.replica_id = BrokerId(1);
    request.replica_state.replica_epoch = 101;
    request.max_wait_ms = 500;
    request.min_bytes = 1;
    request.session_epoch = 0;
    auto& topic = request.topics.emplace_back();
    topic.topic_id = kTopic;
    for (int p = 0; p < kPartitions; ++p) {
      auto& partition = topic.partitions.emplace_back();
      partition.partition = PartitionIndex(p);
      partition.current_leader_epoch = LeaderEpoch(0);
      partition.partition_max_bytes = 1 << 20;
    }
    world.broker->fetch({ConnectionId(9'000), 9'000}, request, 18, world.both(), world.out);
    world.settle();
    // A follower does not wait for its session.
    QVERIFY(world.fetched(9'000) != nullptr);
    const std::int32_t session = world.fetched(9'000)->session_id;
    QVERIFY(session != 0);
    auto waiting = world.fetch({.replica = 1, .session = session, .session_epoch = 1, .name = false});
    QVERIFY(world.fetched(waiting) == nullptr);
    // An append wakes it, with that partition alone.
    world.produce(1, 17);
    QVERIFY(world.fetched(waiting) != nullptr);
    QCOMPARE(world.fetched(waiting)->responses.size(), std::size_t{1});
    QCOMPARE(world.fetched(waiting)->responses[0].partitions.size(), std::size_t{1});
    QCOMPARE(world.data(waiting).partition_index, PartitionIndex(17));
    QVERIFY(!world.data(waiting).records->empty());
    // The next one says how far it is now, and waits.
    waiting = world.fetch({.replica = 1, .offset = 1, .p = 17, .session = session, .session_epoch = 2});
    QVERIFY(world.fetched(waiting) == nullptr);
    // A high watermark that moves is told soon, not at once, and only once.
    world.fetch({.replica = 2, .offset = 1, .p = 17, .wait_ms = 0});
    QCOMPARE(world.partition(17).log()->high_watermark(), Offset(1));
    QVERIFY(world.fetched(waiting) == nullptr);
    world.pass(milliseconds(6));
    QVERIFY(world.fetched(waiting) != nullptr);
    QCOMPARE(world.data(waiting).high_watermark, 1);
    waiting = world.fetch({.replica = 1, .session = session, .session_epoch = 3, .name = false});
    world.pass(milliseconds(499));
    QVERIFY(world.fetched(waiting) == nullptr);
    world.pass(milliseconds(2));
    QVERIFY(world.fetched(waiting) != nullptr);
    QVERIFY(world.fetched(waiting)->responses.empty());
    // Nobody left the ISR although only one partition was ever named again.
    QVERIFY(!world.out.alter_partition);
  }

  // An answer that finds the follower in the next leader epoch is dropped there: what it told counts as untold.
  void what_a_follower_may_have_dropped_is_told_again() {
    World world;
    world.produce(1);
    const auto opening = world.fetch({.replica = 1, .offset = 1, .session_epoch = 0});
    const std::int32_t session = world.fetched(opening)->session_id;
    auto waiting = world.fetch({.replica = 1, .session = session, .session_epoch = 1, .name = false});
    world.fetch({.replica = 2, .offset = 1, .wait_ms = 0});
    world.pass(milliseconds(6));
    QCOMPARE(world.data(waiting).high_watermark, 1);
    world.change(std::nullopt, 0);  // the next epoch
    waiting = world.fetch({.replica = 1, .offset = 1, .epoch = 1, .session = session, .session_epoch = 2});
    world.fetch({.replica = 2, .offset = 1, .epoch = 1, .wait_ms = 0});
    world.pass(milliseconds(6));
    QVERIFY(world.fetched(waiting) != nullptr);
    QCOMPARE(world.data(waiting).high_watermark, 1);
    // As it was in the same epoch: its log was another one meanwhile.
    waiting = world.fetch({.replica = 1, .offset = 1, .epoch = 1, .session = session, .session_epoch = 3});
    world.pass(milliseconds(6));
    QVERIFY(world.fetched(waiting) != nullptr);
    QCOMPARE(world.data(waiting).high_watermark, 1);
    // One that goes on has used what came.
    world.produce(1);
    waiting = world.fetch({.replica = 1, .session = session, .session_epoch = 4, .name = false});
    QVERIFY(!world.data(waiting).records->empty());
    waiting = world.fetch({.replica = 1, .offset = 2, .epoch = 1, .session = session, .session_epoch = 5});
    world.pass(milliseconds(100));
    QVERIFY(world.fetched(waiting) == nullptr);
  }

  void followers_hear_of_new_leaderships_soon() {
    World world(2);
    world.change(std::nullopt, 1, 1);  // partition 1 is led elsewhere for now
    const auto opening = world.fetch({.replica = 1, .session_epoch = 0});
    const std::int32_t session = world.fetched(opening)->session_id;
    // Partition 1 is not awaited by anybody yet; partition 0 still is by broker 2 only.
    auto waiting = world.fetch({.replica = 1, .session = session, .session_epoch = 1, .name = false});
    QVERIFY(world.fetched(waiting) == nullptr);
    world.change(std::nullopt, 0, 1);
    world.pass(milliseconds(1));
    QVERIFY(world.fetched(waiting) != nullptr);  // so that it can ask for partition 1 as well
    waiting = world.fetch({.replica = 1, .session = session, .session_epoch = 2, .name = false});
    world.pass(milliseconds(11));
    QVERIFY(world.fetched(waiting) != nullptr);
    waiting = world.fetch({.replica = 1, .epoch = 2, .p = 1, .session = session, .session_epoch = 3});
    world.pass(milliseconds(6));
    QVERIFY(world.fetched(waiting) != nullptr);  // the high watermark of the new one
    waiting = world.fetch({.replica = 1, .session = session, .session_epoch = 4, .name = false});
    world.pass(milliseconds(400));
    QVERIFY(world.fetched(waiting) == nullptr);
  }

  void consumers_are_sent_to_the_replica_of_their_rack() {
    BrokerOptions options;
    options.rack_aware_reads = true;
    World world(1, options);
    world.produce(1);
    const auto ask = [&](const std::string& rack) {
      const auto data = world.data(world.fetch({.offset = 0, .wait_ms = 0, .rack = rack}));
      return std::make_pair(data.preferred_read_replica.value(), data.records && !data.records->empty());
    };
    QCOMPARE(ask("r1"), std::make_pair(-1, false));  // not known to have the offset
    world.fetch({.replica = 1, .offset = 1, .wait_ms = 0});
    world.fetch({.replica = 2, .offset = 1, .wait_ms = 0});
    QCOMPARE(ask("r0"), std::make_pair(-1, true));
    QCOMPARE(ask("r1"), std::make_pair(1, false));
    QCOMPARE(ask("r2"), std::make_pair(2, false));
    QCOMPARE(ask("zz"), std::make_pair(-1, true));
    QCOMPARE(ask(""), std::make_pair(-1, true));
    world.change(std::vector<BrokerId>{BrokerId(0), BrokerId(1)}, std::nullopt);
    QCOMPARE(ask("r2"), std::make_pair(-1, true));
    World plain;
    plain.produce(1);
    plain.fetch({.replica = 1, .offset = 1, .wait_ms = 0});
    plain.fetch({.replica = 2, .offset = 1, .wait_ms = 0});
    QCOMPARE(plain.data(plain.fetch({.offset = 0, .wait_ms = 0, .rack = "r1"})).preferred_read_replica, kNoBroker);
  }

  // --- follower

  void a_follower_appends_and_takes_the_high_watermark() {
    World world;
    world.change(std::nullopt, 1);
    QCOMPARE(world.out.peer_fetches.size(), std::size_t{1});
    QCOMPARE(world.out.peer_fetches[0].leader, BrokerId(1));
    QCOMPARE(world.out.peer_fetches[0].request.replica_state.replica_epoch, 100);
    QCOMPARE(world.asked()->fetch_offset, Offset(0));
    QCOMPARE(world.asked()->current_leader_epoch, LeaderEpoch(1));
    world.give(world.answer(0, World::stored(0, 1), 0));
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(1));
    QCOMPARE(world.partition().log()->high_watermark(), Offset(0));
    QCOMPARE(world.asked()->fetch_offset, Offset(1));
    QCOMPARE(world.asked()->last_fetched_epoch, LeaderEpoch(1));
    QCOMPARE(world.out.peer_fetches[0].request.session_id, 5);
    QCOMPARE(world.out.peer_fetches[0].request.session_epoch, 1);
    QCOMPARE(world.events.count<event::ReplicaFetched>(), 1);
    // A consumer waits here; the high watermark alone wakes it.
    const auto consumer = world.fetch({.offset = 0, .epoch = 1});
    QVERIFY(world.fetched(consumer) == nullptr);
    world.give(world.answer(0, Bytes{}, 1));
    QVERIFY(world.fetched(consumer) != nullptr);
    QVERIFY(!world.data(consumer).records->empty());
    QCOMPARE(world.data(consumer).high_watermark, 1);
    // Nothing new to say: no partition is named.
    QVERIFY(world.asked() == nullptr);
    QCOMPARE(world.out.peer_fetches[0].request.session_epoch, 2);
    // Within its own bounds only.
    QCOMPARE(world.data(world.fetch({.offset = 2, .epoch = 1, .wait_ms = 0})).error_code, ErrorCode::offset_out_of_range);
    QCOMPARE(world.data(world.fetch({.offset = 0, .epoch = 5, .wait_ms = 0})).error_code, ErrorCode::unknown_leader_epoch);
    // Producers, and followers of others, are sent away.
    QCOMPARE(world.produced(world.produce(-1))->error_code, ErrorCode::not_leader_or_follower);
    QCOMPARE(world.data(world.fetch({.replica = 2, .offset = 0, .epoch = 1, .wait_ms = 0})).error_code,
             ErrorCode::not_leader_or_follower);
  }

  void a_follower_cuts_what_its_leader_does_not_have() {
    World world;
    for (int i = 0; i < 3; ++i) {
      world.produce(1);  // epoch 0, offsets 0 to 2
    }
    world.change(std::nullopt, 1);
    QCOMPARE(world.asked()->fetch_offset, Offset(3));
    QCOMPARE(world.asked()->last_fetched_epoch, LeaderEpoch(0));
    wire::FetchResponse response = world.answer(0, Bytes{}, 1);
    response.responses[0].partitions[0].diverging_epoch.epoch = 0;
    response.responses[0].partitions[0].diverging_epoch.end_offset = Offset(1);
    world.give(std::move(response));
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(1));
    QCOMPARE(world.events.count<event::LogTruncated>(), 1);
    QCOMPARE(world.asked()->fetch_offset, Offset(1));
    world.give(world.answer(0, World::stored(1, 1, "other"), 2));
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(2));
    QCOMPARE(world.partition().log()->high_watermark(), Offset(2));
  }

  // It led an epoch in which nothing was written: the epoch is not to be found in the leader's log, the records are.
  void an_empty_epoch_does_not_hold_a_follower_up() {
    World world;
    world.produce(1);
    world.change(std::nullopt, 0);  // epoch 1, empty
    world.change(std::nullopt, 1);  // epoch 2 elsewhere
    QCOMPARE(world.asked()->last_fetched_epoch, LeaderEpoch(1));
    wire::FetchResponse response = world.answer(0, Bytes{}, 1);
    response.responses[0].partitions[0].diverging_epoch.epoch = 0;
    response.responses[0].partitions[0].diverging_epoch.end_offset = Offset(1);
    world.give(std::move(response));
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(1));
    QCOMPARE(world.events.count<event::LogTruncated>(), 0);
    QCOMPARE(world.asked()->last_fetched_epoch, LeaderEpoch(0));
  }

  void answers_of_another_time_are_dropped() {
    World world;
    world.change(std::nullopt, 1);
    const std::uint64_t old = world.out.peer_fetches[0].id;
    world.out.peer_fetches.clear();
    world.change(std::nullopt, 1);  // the same leader, another epoch
    world.broker->fetched(old, world.answer(0, World::stored(0, 1), 1), world.both());
    world.settle();
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(0));
    QCOMPARE(world.asked()->current_leader_epoch, LeaderEpoch(2));
    // Led by itself now: what comes is for nobody, and nothing is asked any more.
    const std::uint64_t last = world.out.peer_fetches[0].id;
    world.out.peer_fetches.clear();
    world.change(std::nullopt, 0);
    world.broker->fetched(last, world.answer(0, World::stored(0, 2), 1), world.both());
    world.settle();
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(0));
    QVERIFY(world.out.peer_fetches.empty());
    world.broker->fetched(12'345, world.answer(0, World::stored(0, 2), 1), world.both());
    world.broker->fetch_failed(12'345, world.both());
    world.broker->alter_partition_failed(world.both());
  }

  void a_follower_out_of_range_asks_where_the_log_is() {
    World world;
    world.produce(1);
    world.change(std::nullopt, 1);
    wire::FetchResponse response = world.answer(0, Bytes{}, -1);
    response.responses[0].partitions[0].error_code = ErrorCode::offset_out_of_range;
    world.give(std::move(response));
    const auto listed = [&](std::int64_t offset) {
      QCOMPARE(world.out.peer_list_offsets.size(), std::size_t{1});
      const PeerListOffsets asked = std::move(world.out.peer_list_offsets[0]);
      world.out.peer_list_offsets.clear();
      wire::ListOffsetsResponse answer;
      auto& topic = answer.topics.emplace_back();
      topic.name = "t";
      auto& partition = topic.partitions.emplace_back();
      partition.offset = Offset(offset);
      world.broker->offsets_listed(asked.id, answer, world.both());
      world.settle();
      QCOMPARE(asked.request.replica_id, BrokerId(0));
    };
    QCOMPARE(world.out.peer_list_offsets[0].request.topics[0].partitions[0].timestamp, std::int64_t{-1});
    listed(50);  // the leader has more, so it begins further on
    QCOMPARE(world.out.peer_list_offsets[0].request.topics[0].partitions[0].timestamp, std::int64_t{-2});
    listed(40);
    QCOMPARE(world.partition().log()->log_start_offset(), Offset(40));
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(40));
    QCOMPARE(world.asked()->fetch_offset, Offset(40));
    QCOMPARE(world.asked()->last_fetched_epoch, kNoLeaderEpoch);
    // DeleteRecords moved the leader's log start into a batch, and batches come whole.
    const auto batch_of_five_until = [](std::int64_t last) {
      const Bytes made = World::batch("v", 5);
      ByteBuilder copy(made.size());
      std::memcpy(copy.extend(made.size()), made.data(), made.size());
      Bytes batch = copy.finish();
      const MutableByteSpan writable{batch.unique_data(), batch.size()};
      wire::set_last_offset(writable, Offset(last));
      wire::set_leader_epoch(writable, LeaderEpoch(1));
      return batch;
    };
    response = world.answer(0, batch_of_five_until(42), 43);
    response.responses[0].partitions[0].log_start_offset = Offset(40);
    world.give(std::move(response));
    QCOMPARE(world.partition().log()->log_start_offset(), Offset(40));
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(43));
    QCOMPARE(world.partition().log()->high_watermark(), Offset(43));
    QCOMPARE(world.asked()->fetch_offset, Offset(43));
    // It had other batches when it went away (seed 1009391 of the simulator), and the leader's log begins where this one ends.
    response = world.answer(0, batch_of_five_until(45), 46);
    response.responses[0].partitions[0].log_start_offset = Offset(43);
    world.give(std::move(response));
    QCOMPARE(world.partition().log()->log_start_offset(), Offset(43));
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(46));
    QCOMPARE(world.asked()->fetch_offset, Offset(46));
  }

  void errors_wait_longer_and_longer_and_failures_open_a_new_session() {
    World world(2);
    world.change(std::nullopt, 1, 0);
    wire::FetchResponse response = world.answer(0, Bytes{}, 0);
    response.responses[0].partitions[0].error_code = ErrorCode::not_leader_or_follower;
    world.give(std::move(response));
    QVERIFY(world.out.peer_fetches.empty());  // nothing else to ask this leader for
    world.pass(milliseconds(9));
    QVERIFY(world.out.peer_fetches.empty());
    world.pass(milliseconds(2));
    QVERIFY(world.asked() != nullptr);
    response = world.answer(0, Bytes{}, 0);
    response.responses[0].partitions[0].error_code = ErrorCode::unknown_leader_epoch;
    world.give(std::move(response));
    world.pass(milliseconds(15));
    QVERIFY(world.out.peer_fetches.empty());
    world.pass(milliseconds(6));
    QVERIFY(world.asked() != nullptr);
    world.give(world.answer(0, World::stored(0, 1), 0));
    QCOMPARE(world.out.peer_fetches[0].request.session_id, 5);
    const std::uint64_t id = world.out.peer_fetches[0].id;
    world.out.peer_fetches.clear();
    world.broker->fetch_failed(id, world.both());
    world.pass(milliseconds(11));
    QCOMPARE(world.out.peer_fetches.size(), std::size_t{1});
    QCOMPARE(world.out.peer_fetches[0].request.session_id, 5);  // closes the old one
    QCOMPARE(world.out.peer_fetches[0].request.session_epoch, 0);
    QCOMPARE(world.asked()->fetch_offset, Offset(1));
    // The leader forgot the session.
    wire::FetchResponse gone;
    gone.error_code = ErrorCode::fetch_session_id_not_found;
    world.give(std::move(gone));
    world.pass(milliseconds(21));
    QCOMPARE(world.out.peer_fetches.size(), std::size_t{1});
    QCOMPARE(world.out.peer_fetches[0].request.session_id, 0);
    QCOMPARE(world.out.peer_fetches[0].request.session_epoch, 0);
  }

  void damaged_records_are_asked_for_again() {
    World world;
    world.change(std::nullopt, 1);
    const Bytes good = World::stored(0, 1);
    ByteBuilder copy(good.size());
    std::memcpy(copy.extend(good.size()), good.data(), good.size());
    Bytes bad = copy.finish();
    bad.unique_data()[good.size() - 1] ^= std::byte{1};
    world.give(world.answer(0, std::move(bad), 1));
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(0));
    QCOMPARE(world.partition().log()->high_watermark(), Offset(0));
    world.pass(milliseconds(11));
    QCOMPARE(world.asked()->fetch_offset, Offset(0));
    // Part of a batch at the end is no damage.
    ByteBuilder two(2 * good.size());
    std::memcpy(two.extend(good.size()), good.data(), good.size());
    const Bytes next = World::stored(1, 1);
    std::memcpy(two.extend(next.size() / 2), next.data(), next.size() / 2);
    world.give(world.answer(0, two.finish(), 1));
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(1));
    QCOMPARE(world.asked()->fetch_offset, Offset(1));
  }

  void a_follower_goes_on_when_its_disk_does() {
    World world;
    world.change(std::nullopt, 1);
    world.give(world.answer(0, World::stored(0, 1), 1));
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(1));
    world.disk.set_capacity(1);
    world.give(world.answer(0, World::stored(1, 1), 2));
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(1));
    QVERIFY(world.out.peer_fetches.empty());
    world.disk.set_capacity(0);
    world.pass(milliseconds(11));
    QVERIFY(world.asked() != nullptr);
    QCOMPARE(world.asked()->fetch_offset, Offset(1));
    world.give(world.answer(0, World::stored(1, 1), 2));
    QCOMPARE(world.partition().log()->log_end_offset(), Offset(2));
  }

  // A disk that refuses to make the log of a new partition does not refuse for ever.
  void a_log_that_could_not_be_made_is_tried_again() {
    World world;
    wire::PartitionRecord partition;
    partition.partition_id = PartitionIndex(1);
    partition.topic_id = kTopic;
    partition.replicas = {BrokerId(0)};
    partition.isr = {0};
    partition.leader = BrokerId(0);
    partition.leader_epoch = LeaderEpoch(0);
    partition.partition_epoch = 0;
    partition.directories.resize(1);
    world.disk.set_capacity(1);
    world.replay(partition);
    world.publish();
    QVERIFY(world.partition(1).log() == nullptr);
    QCOMPARE(world.produced(world.produce(-1, 1))->error_code, ErrorCode::kafka_storage_error);
    world.pass(milliseconds(1'500));
    QVERIFY(world.partition(1).log() == nullptr);
    world.disk.set_capacity(0);
    world.pass(milliseconds(1'000));
    QCOMPARE(world.produced(world.produce(-1, 1))->error_code, ErrorCode::none);
    QCOMPARE(world.partition(1).log()->high_watermark(), Offset(1));
  }

  void records_are_not_copied() {
    World world;
    world.change(std::nullopt, 1);
    Bytes frame = World::stored(0, 1, std::string(10'000, 'v'));
    const Block* block = frame.block();
    world.give(world.answer(0, frame, 0));
    const log::ReadOutcome read = world.partition().log()->read({Offset(0), 1 << 20, true, log::ReadIsolation::log_end});
    QCOMPARE(std::get<Bytes>(read.records.pieces()[0]).block(), block);
  }
};

QTEST_APPLESS_MAIN(TstReplicas)
#include "tst_replicas.moc"
