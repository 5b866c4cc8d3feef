// SPDX-License-Identifier: Apache-2.0
// flush.messages: what is acknowledged, and what is read, has reached stable storage.
#include <QtTest>

#include <set>

#include "engine/env/fault_disk.h"
#include "engine/env/memory_disk.h"
#include "engine/wire/msg/find_coordinator.h"
#include "engine/wire/msg/offset_commit.h"
#include "engine/wire/msg/offset_fetch.h"
#include "tests/engine/api/node_fixture.h"

using namespace hw;
using namespace hw::test;
using wire::ErrorCode;

namespace {

constexpr std::uint64_t kDiskBytes = 256U << 20U;
constexpr std::int16_t kProduceVersion = 12;

std::vector<std::string> values_of(const wire::FetchResponse::PartitionData& data) {
  std::vector<std::string> all;
  const Bytes bytes = data.records ? data.records->flatten() : Bytes{};
  wire::BatchCursor cursor(bytes.span());
  wire::BatchView batch;
  while (cursor.next(batch)) {
    auto records = wire::RecordIterator::open(batch);
    HW_ASSERT(records.has_value(), "the node hands out readable batches");
    wire::RecordView record;
    while (records->next(record)) {
      all.emplace_back(as_text(*record.value));
    }
  }
  return all;
}

struct Place {
  explicit Place(std::uint64_t seed = 1, std::map<std::string, std::string> configs = {})
      : memory(kDiskBytes), disk(memory, Prng(seed)), node(disk, std::move(configs), seed) {}
  env::MemoryDisk memory;
  env::FaultDisk disk;
  TestNode node;

  void send(ConnectionId connection, const std::string& value, std::int16_t acks, std::int32_t timeout_ms = 1000) {
    wire::ProduceRequest request = TestNode::produce_request("t", 0, node.batch({{"k", value}}), acks);
    request.timeout_ms = timeout_ms;
    node.send(connection, request, kProduceVersion);
  }
  ErrorCode answer(ConnectionId connection) {
    return node.receive<wire::ProduceResponse>(connection, kProduceVersion).responses.at(0).partition_responses.at(0).error_code;
  }
};

}  // namespace

class TstFlush : public QObject {
  Q_OBJECT

 private slots:
  void an_answer_waits_for_the_disk_data() {
    QTest::addColumn<int>("acks");
    QTest::newRow("acks=1") << 1;
    QTest::newRow("acks=all") << -1;
  }
  void an_answer_waits_for_the_disk() {
    QFETCH(int, acks);
    Place place;
    TestNode& node = place.node;
    QVERIFY(node.start());
    node.create_topic("t", 1, {{"flush.messages", "1"}});
    const ConnectionId producer = node.connect();
    const ConnectionId reader = node.connect();
    node.hold_jobs = true;
    place.send(producer, "a", static_cast<std::int16_t>(acks), 50);
    QVERIFY(!node.answered(producer));
    QVERIFY(values_of(node.fetch(reader, "t", 0, 0)).empty());  // nobody reads what may still be lost
    node.advance(milliseconds(500));                            // the disk is slow, not the replicas
    QVERIFY(!node.answered(producer));
    QVERIFY(node.run_held_jobs() > 0);
    QVERIFY(node.answered(producer));
    QCOMPARE(place.answer(producer), ErrorCode::none);
    QCOMPARE(values_of(node.fetch(reader, "t", 0, 0)), std::vector<std::string>{"a"});
    node.hold_jobs = false;
    QVERIFY(node.stop());
  }

  void without_it_nobody_waits() {
    Place place;
    TestNode& node = place.node;
    QVERIFY(node.start());
    node.create_topic("t");
    const ConnectionId producer = node.connect();
    node.hold_jobs = true;
    place.send(producer, "a", -1);
    QVERIFY(node.answered(producer));
    QCOMPARE(node.run_held_jobs(), std::size_t{0});
    node.hold_jobs = false;
    QVERIFY(node.stop());
  }

  void only_the_record_that_fills_the_count_waits() {
    Place place;
    TestNode& node = place.node;
    QVERIFY(node.start());
    node.create_topic("t", 1, {{"flush.messages", "3"}});
    const ConnectionId producer = node.connect();
    node.hold_jobs = true;
    for (int i = 0; i < 2; ++i) {
      place.send(producer, "a", -1);
      QVERIFY(node.answered(producer));
      QCOMPARE(place.answer(producer), ErrorCode::none);
    }
    place.send(producer, "a", -1);
    QVERIFY(!node.answered(producer));
    QCOMPARE(node.run_held_jobs(), std::size_t{1});
    QCOMPARE(place.answer(producer), ErrorCode::none);
    node.hold_jobs = false;
    QVERIFY(node.stop());
  }

  // Whoever comes while the disk works shares the next flush, however many they are.
  void flushes_are_shared() {
    Place place;
    TestNode& node = place.node;
    QVERIFY(node.start());
    node.create_topic("t", 1, {{"flush.messages", "1"}});
    std::vector<ConnectionId> producers;
    node.hold_jobs = true;
    for (int i = 0; i < 20; ++i) {
      producers.push_back(node.connect());
      place.send(producers.back(), std::to_string(i), i % 2 == 0 ? -1 : 1);
    }
    QCOMPARE(node.run_held_jobs(), std::size_t{1});
    QVERIFY(node.answered(producers.front()));
    for (std::size_t i = 1; i < producers.size(); ++i) {
      QVERIFY(!node.answered(producers[i]));
    }
    QCOMPARE(node.run_held_jobs(), std::size_t{1});
    for (const ConnectionId producer : producers) {
      QCOMPARE(place.answer(producer), ErrorCode::none);
    }
    QCOMPARE(node.run_held_jobs(), std::size_t{0});
    node.hold_jobs = false;
    QVERIFY(node.stop());
  }

  // A retry whose first try is on its way to the disk is no proof that the record is there.
  void a_repeated_batch_waits_too() {
    Place place;
    TestNode& node = place.node;
    QVERIFY(node.start());
    node.create_topic("t", 1, {{"flush.messages", "1"}});
    wire::BatchOptions options;
    options.producer_id = ProducerId(7);
    options.producer_epoch = ProducerEpoch(0);
    options.base_sequence = 0;
    const ConnectionId first = node.connect();
    const ConnectionId again = node.connect();
    node.hold_jobs = true;
    for (const ConnectionId producer : {first, again}) {
      node.send(producer, TestNode::produce_request("t", 0, node.batch({{"k", "once"}}, options), 1), kProduceVersion);
      QVERIFY(!node.answered(producer));
    }
    QCOMPARE(node.run_held_jobs(), std::size_t{1});
    QCOMPARE(place.answer(first), ErrorCode::none);
    QCOMPARE(place.answer(again), ErrorCode::none);
    node.hold_jobs = false;
    QCOMPARE(values_of(node.fetch(first, "t", 0, 0)), std::vector<std::string>{"once"});
    QVERIFY(node.stop());
  }

  void a_disk_that_cannot_sync_is_no_success() {
    Place place;
    TestNode& node = place.node;
    node.more_directories = {"data/more"};
    QVERIFY(node.start());
    node.create_topic("t", 1, {{"flush.messages", "1"}});
    const ConnectionId producer = node.connect();
    node.hold_jobs = true;
    place.send(producer, "a", 1);
    QVERIFY(!node.answered(producer));
    place.disk.fail_after(0);
    QVERIFY(node.run_held_jobs() > 0);
    QVERIFY(node.answered(producer));
    QCOMPARE(place.answer(producer), ErrorCode::kafka_storage_error);
    place.disk.stop_failing();
    node.kill();
  }

  // Every answered record is there after the power failed at any time, whatever the disk had not been asked to keep.
  void acknowledged_records_survive_a_power_cut() {
    int acknowledged_in_all = 0;
    int lost_in_all = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      Prng prng(seed);
      Place place(seed, {{"log.segment.bytes", "1048576"}, {"log.initial.task.delay.ms", "3600000"}});
      TestNode& node = place.node;
      QVERIFY(node.start());
      const Uuid id = node.create_topic("t", 1, {{"flush.messages", "1"}});
      std::set<std::string> sent;
      std::set<std::string> acknowledged;
      std::vector<std::pair<ConnectionId, std::string>> open;
      const auto collect = [&] {
        std::erase_if(open, [&](const auto& one) {
          if (!node.answered(one.first)) {
            return false;
          }
          if (place.answer(one.first) == ErrorCode::none) {
            acknowledged.insert(one.second);
          }
          return true;
        });
      };
      node.hold_jobs = true;
      const std::uint64_t steps = 5 + prng.below(40);
      for (std::uint64_t step = 0; step < steps; ++step) {
        if (prng.chance({1, 3})) {
          node.run_held_jobs();
          collect();
        } else {
          const std::string value = std::to_string(step) + std::string(static_cast<std::size_t>(prng.below(90000)), 'x');
          open.emplace_back(node.connect(), value);
          sent.insert(value);
          place.send(open.back().first, value, prng.chance({1, 2}) ? std::int16_t{1} : std::int16_t{-1});
          collect();
        }
      }
      node.hold_jobs = false;
      node.kill();
      QVERIFY(place.disk.crash());
      const Result<void> started = node.start();
      QVERIFY2(started.has_value(), started ? "" : started.error().detail.c_str());
      const ConnectionId reader = node.connect();
      std::set<std::string> there;
      std::int64_t at = 0;
      for (;;) {
        const auto data =
            node.call<wire::FetchResponse>(reader, TestNode::fetch_request("", {{0, at}}, id), 17).responses.at(0).partitions.at(0);
        QCOMPARE(data.error_code, ErrorCode::none);
        const std::vector<std::string> values = values_of(data);
        if (values.empty()) {
          break;
        }
        at += static_cast<std::int64_t>(values.size());
        there.insert(values.begin(), values.end());
      }
      for (const std::string& value : acknowledged) {
        QVERIFY2(there.contains(value), value.substr(0, value.find('x')).c_str());
      }
      acknowledged_in_all += static_cast<int>(acknowledged.size());
      lost_in_all += static_cast<int>(sent.size() - there.size());
      QVERIFY(node.stop());
    }
    QVERIFY(acknowledged_in_all > 100);
    QVERIFY(lost_in_all > 0);  // the disk did lose what nobody was promised
  }

  // A kill leaves everything in the files, but the recovery point far behind: nothing is held back afterwards.
  void a_restart_after_a_kill_holds_nothing_back() {
    Place place(1, {{"log.flush.interval.messages", "1"}, {"offsets.topic.num.partitions", "1"}});
    TestNode& node = place.node;
    QVERIFY(node.start());
    const Uuid id = node.create_topic("t", 1);
    const ConnectionId c = node.connect();
    place.send(c, "a", 1);
    QCOMPARE(place.answer(c), ErrorCode::none);
    wire::OffsetFetchRequest ask;
    auto& group = ask.groups.emplace_back();
    group.group_id = "g";
    auto& wanted = group.topics.emplace().emplace_back();
    wanted.name = "t";
    wanted.partition_indexes = {PartitionIndex(0)};
    wire::OffsetCommitRequest commit;
    commit.group_id = "g";
    auto& topic = commit.topics.emplace_back();
    topic.name = "t";
    auto& partition = topic.partitions.emplace_back();
    partition.committed_offset = Offset(1);
    ErrorCode committed = ErrorCode::coordinator_not_available;
    for (int round = 0; round < 50 && committed != ErrorCode::none; ++round) {
      // The first question makes the offsets topic.
      committed = node.call<wire::OffsetCommitResponse>(c, commit, 8).topics.at(0).partitions.at(0).error_code;
      wire::FindCoordinatorRequest find;
      find.coordinator_keys = {"g"};
      node.send(c, find, 4);
      static_cast<void>(node.receive<wire::FindCoordinatorResponse>(c, 4));
    }
    QCOMPARE(committed, ErrorCode::none);
    node.kill();
    place.disk.kill();
    QVERIFY(node.start());
    const ConnectionId again = node.connect();
    const auto data =
        node.call<wire::FetchResponse>(again, TestNode::fetch_request("", {{0, 0}}, id), 17).responses.at(0).partitions.at(0);
    QCOMPARE(values_of(data), std::vector<std::string>{"a"});
    const auto fetched = node.call<wire::OffsetFetchResponse>(again, ask, 8);
    QCOMPARE(fetched.groups.at(0).topics.at(0).partitions.at(0).committed_offset, Offset(1));
    // A commit waits for the disk like a record does.
    node.hold_jobs = true;
    partition.committed_offset = Offset(0);
    node.send(again, commit, 8);
    QVERIFY(!node.answered(again));
    node.run_held_jobs();
    QVERIFY(node.answered(again));
    node.hold_jobs = false;
    QVERIFY(node.stop());
  }
};

QTEST_GUILESS_MAIN(TstFlush)
#include "tst_flush.moc"
