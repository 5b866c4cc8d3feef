// SPDX-License-Identifier: Apache-2.0
// A whole node by encoded frames: what a client sees of Produce, Fetch, ListOffsets, restarts and bad input.
#include <QtTest>

#include <set>

#include "engine/api/request_frame.h"
#include "engine/env/fault_disk.h"
#include "engine/env/memory_disk.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/offset_for_leader_epoch.h"
#include "tests/engine/api/node_fixture.h"

using namespace hw;
using namespace hw::test;
using wire::ErrorCode;

namespace {

constexpr std::uint64_t kDiskBytes = 256U << 20U;

struct Seen {
  std::int64_t offset = 0;
  std::string key;
  std::string value;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> records_of(const wire::FetchResponse::PartitionData& data) {
  std::vector<Seen> all;
  if (!data.records) {
    return all;
  }
  const Bytes bytes = data.records->flatten();
  wire::BatchCursor cursor(bytes.span());
  wire::BatchView batch;
  while (cursor.next(batch)) {
    HW_ASSERT(batch.crc_ok(), "the node hands out whole batches");
    auto records = wire::RecordIterator::open(batch);
    HW_ASSERT(records.has_value(), "the node hands out readable batches");
    wire::RecordView record;
    while (records->next(record)) {
      all.push_back({record.offset.value(), record.key ? std::string(as_text(*record.key)) : std::string(),
                     record.value ? std::string(as_text(*record.value)) : std::string()});
    }
  }
  return all;
}

}  // namespace

class TstNodeCore : public QObject {
  Q_OBJECT

 private slots:
  void a_client_creates_produces_and_consumes() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    QVERIFY(node.core->ready());
    const ConnectionId c = node.connect();

    const auto versions = node.call<wire::ApiVersionsResponse>(c, wire::ApiVersionsRequest{}, 0);
    QCOMPARE(versions.error_code, ErrorCode::none);
    std::set<std::int16_t> keys;
    for (const auto& api : versions.api_keys) {
      keys.insert(api.api_key);
    }
    for (const int key : {0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 18, 19, 20, 22, 23, 32, 37, 60, 75}) {
      QVERIFY2(keys.contains(static_cast<std::int16_t>(key)), std::to_string(key).c_str());
    }

    const Uuid id = node.create_topic("orders", 2);
    wire::MetadataRequest ask;
    ask.topics.emplace().emplace_back().name = "orders";
    ask.allow_auto_topic_creation = false;
    const auto metadata = node.call<wire::MetadataResponse>(c, ask, 12);
    QCOMPARE(metadata.topics.size(), std::size_t{1});
    QCOMPARE(metadata.topics[0].error_code, ErrorCode::none);
    QCOMPARE(metadata.topics[0].topic_id, id);
    QCOMPARE(metadata.topics[0].partitions.size(), std::size_t{2});

    const Bytes sent = node.batch({{"a", "1"}, {"b", "2"}, {"c", "3"}});
    const auto first = node.produce(c, "orders", 0, sent);
    QCOMPARE(first.error_code, ErrorCode::none);
    QCOMPARE(first.base_offset, Offset(0));
    QCOMPARE(first.log_start_offset, Offset(0));
    QCOMPARE(first.log_append_time_ms, std::int64_t{-1});
    const auto second = node.produce(c, "orders", 0, node.batch({{"d", "4"}}));
    QCOMPARE(second.base_offset, Offset(3));

    const auto data = node.fetch(c, "orders", 0, 0);
    QCOMPARE(data.error_code, ErrorCode::none);
    QCOMPARE(data.high_watermark, std::int64_t{4});
    QCOMPARE(data.last_stable_offset, Offset(4));
    QCOMPARE(records_of(data), (std::vector<Seen>{{0, "a", "1"}, {1, "b", "2"}, {2, "c", "3"}, {3, "d", "4"}}));
    // Byte for byte what was sent, but for base offset and leader epoch.
    const Bytes got = data.records->flatten();
    QVERIFY(got.size() > sent.size());
    QVERIFY(std::memcmp(got.data() + 16, sent.data() + 16, sent.size() - 16) == 0);

    // By topic id as well.
    const auto by_id = node.call<wire::FetchResponse>(c, TestNode::fetch_request("", {{0, 3}}, id), 17);
    QCOMPARE(records_of(by_id.responses.at(0).partitions.at(0)), (std::vector<Seen>{{3, "d", "4"}}));
    QCOMPARE(node.call<wire::ProduceResponse>(c, TestNode::produce_request("", 1, node.batch({{"e", "5"}}), 1, id), 13)
                 .responses.at(0)
                 .partition_responses.at(0)
                 .error_code,
             ErrorCode::none);
    QVERIFY(!node.events.of<event::BatchAppended>().empty());
    QVERIFY(!node.events.of<event::RecordsFetched>().empty());
    QCOMPARE(node.events.of<event::NodeReady>().size(), std::size_t{1});
    QVERIFY(node.stop());
  }

  void produce_refuses_as_kafka_does() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    node.create_topic("t");
    const ConnectionId c = node.connect();
    const Bytes good = node.batch({{"k", "v"}});
    QCOMPARE(node.produce(c, "nowhere", 0, good).error_code, ErrorCode::unknown_topic_or_partition);
    QCOMPARE(node.produce(c, "t", 7, good).error_code, ErrorCode::unknown_topic_or_partition);
    const auto acks = node.call<wire::ProduceResponse>(c, TestNode::produce_request("t", 0, good, 2), 12);
    QCOMPARE(acks.responses.at(0).partition_responses.at(0).error_code, ErrorCode::invalid_required_acks);

    Bytes bad_crc = Bytes::copy_of(good.span());
    bad_crc.unique_data()[17] ^= std::byte{1};
    const auto corrupt = node.produce(c, "t", 0, bad_crc);
    QCOMPARE(corrupt.error_code, ErrorCode::corrupt_message);
    QCOMPARE(corrupt.log_start_offset, Offset(-1));

    Bytes based = Bytes::copy_of(good.span());
    wire::set_base_offset({based.unique_data(), based.size()}, Offset(5));
    const auto base = node.produce(c, "t", 0, based);
    QCOMPARE(base.error_code, ErrorCode::invalid_record);
    QCOMPARE(base.base_offset, Offset(-1));
    QCOMPARE(base.log_start_offset, Offset(0));

    QCOMPARE(node.produce(c, "t", 0, Bytes{}).error_code, ErrorCode::invalid_record);
    QCOMPARE(node.fetch(c, "t", 0, 0).high_watermark, std::int64_t{0});  // nothing was appended

    // Bytes that are no batch refuse the whole request, the good partition included.
    auto mixed = TestNode::produce_request("t", 0, good);
    auto& noise = mixed.topic_data[0].partition_data.emplace_back();
    noise.index = 1;
    noise.records = BytesChain(Bytes::copy_of(std::string_view("this is long enough to be looked at, and it is no batch at all")));
    const auto refused = node.call<wire::ProduceResponse>(c, mixed, 12).responses.at(0).partition_responses;
    QCOMPARE(refused.at(0).error_code, ErrorCode::corrupt_message);
    QCOMPARE(refused.at(1).error_code, ErrorCode::corrupt_message);
    QVERIFY(refused.at(0).error_message.has_value());
    QCOMPARE(node.fetch(c, "t", 0, 0).high_watermark, std::int64_t{0});

    // acks=0: silence on success, the end of the connection on failure.
    node.send(c, TestNode::produce_request("t", 0, good, 0), 12);
    QVERIFY(!node.answered(c));
    QVERIFY(!node.closed(c));
    QCOMPARE(node.silent, 1);
    QCOMPARE(node.fetch(c, "t", 0, 0).high_watermark, std::int64_t{1});
    const ConnectionId careless = node.connect();
    node.send(careless, TestNode::produce_request("nowhere", 0, good, 0), 12);
    QVERIFY(node.closed(careless));
    QVERIFY(!node.closed(c));
    QVERIFY(node.stop());
  }

  void fetch_bounds_and_limits() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    const Uuid id = node.create_topic("t", 2);
    const ConnectionId c = node.connect();
    for (int i = 0; i < 3; ++i) {
      node.produce(c, "t", 0, node.batch({{"k", std::string(1000, 'a')}, {"k", std::string(1000, 'b')}}));
      node.produce(c, "t", 1, node.batch({{"k", std::string(1000, 'c')}}));
    }
    QCOMPARE(records_of(node.fetch(c, "t", 0, 1)).front().offset, std::int64_t{0});  // the whole batch of offset 1
    const auto end = node.fetch(c, "t", 0, 6);
    QCOMPARE(end.error_code, ErrorCode::none);
    QVERIFY(end.records->empty());
    QVERIFY(!end.aborted_transactions.has_value());
    for (const std::int64_t offset : {std::int64_t{7}, std::int64_t{-1}}) {
      const auto beyond = node.fetch(c, "t", 0, offset);
      QCOMPARE(beyond.error_code, ErrorCode::offset_out_of_range);
      QCOMPARE(beyond.high_watermark, std::int64_t{-1});
      QCOMPARE(beyond.log_start_offset, Offset(-1));
    }
    // The first partition gives one batch whatever the limit; the second gets what is left.
    auto request = TestNode::fetch_request("t", {{0, 0}, {1, 0}});
    request.max_bytes = 1;
    const auto small = node.call<wire::FetchResponse>(c, request, 12);
    QCOMPARE(records_of(small.responses.at(0).partitions.at(0)).size(), std::size_t{2});
    QVERIFY(small.responses.at(0).partitions.at(1).records->empty());
    // Unknown things.
    const auto unknown = node.call<wire::FetchResponse>(c, TestNode::fetch_request("", {{0, 0}}, Uuid{7, 7}), 17);
    QCOMPARE(unknown.responses.at(0).partitions.at(0).error_code, ErrorCode::unknown_topic_id);
    const auto no_partition = node.call<wire::FetchResponse>(c, TestNode::fetch_request("", {{9, 0}}, id), 17);
    QCOMPARE(no_partition.responses.at(0).partitions.at(0).error_code, ErrorCode::unknown_topic_or_partition);
    QVERIFY(no_partition.responses.at(0).partitions.at(0).aborted_transactions.has_value());
    // Epochs.
    auto epoch = TestNode::fetch_request("t", {{0, 0}});
    epoch.topics[0].partitions[0].current_leader_epoch = LeaderEpoch(5);
    QCOMPARE(node.call<wire::FetchResponse>(c, epoch, 12).responses.at(0).partitions.at(0).error_code,
             ErrorCode::unknown_leader_epoch);
    epoch.topics[0].partitions[0].current_leader_epoch = LeaderEpoch(0);
    epoch.topics[0].partitions[0].last_fetched_epoch = LeaderEpoch(0);
    QCOMPARE(node.call<wire::FetchResponse>(c, epoch, 12).responses.at(0).partitions.at(0).error_code, ErrorCode::none);
    QVERIFY(node.stop());
  }

  void long_poll() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    node.create_topic("t", 2);
    const ConnectionId reader = node.connect();
    const ConnectionId writer = node.connect();
    auto request = TestNode::fetch_request("t", {{0, 0}, {1, 0}});
    request.max_wait_ms = 500;
    node.send(reader, request, 12);
    QVERIFY(!node.answered(reader));
    node.advance(milliseconds(499));
    QVERIFY(!node.answered(reader));
    node.advance(milliseconds(1));
    QVERIFY(node.answered(reader));
    QVERIFY(node.receive<wire::FetchResponse>(reader, 12).responses.at(0).partitions.at(0).records->empty());

    node.send(reader, request, 12);
    node.produce(writer, "t", 1, node.batch({{"k", "v"}}));
    QVERIFY(node.answered(reader));  // woken by the append, no time passed
    const auto woken = node.receive<wire::FetchResponse>(reader, 12);
    QCOMPARE(records_of(woken.responses.at(0).partitions.at(1)).size(), std::size_t{1});

    // min_bytes that one batch does not reach.
    auto more = TestNode::fetch_request("t", {{1, 1}});
    more.max_wait_ms = 500;
    more.min_bytes = 2000;
    node.send(reader, more, 12);
    node.produce(writer, "t", 1, node.batch({{"k", std::string(500, 'x')}}));
    QVERIFY(!node.answered(reader));
    node.produce(writer, "t", 1, node.batch({{"k", std::string(1500, 'y')}}));
    QVERIFY(node.answered(reader));
    QCOMPARE(records_of(node.receive<wire::FetchResponse>(reader, 12).responses.at(0).partitions.at(0)).size(),
             std::size_t{2});

    // Any error answers at once; a reader that goes away is forgotten.
    auto wrong = TestNode::fetch_request("t", {{0, 99}, {1, 0}});
    wrong.max_wait_ms = 5000;
    wrong.min_bytes = 1 << 20;
    node.send(reader, wrong, 12);
    QVERIFY(node.answered(reader));
    node.receive<wire::FetchResponse>(reader, 12);
    auto later = TestNode::fetch_request("t", {{0, 0}});
    later.max_wait_ms = 500;
    node.send(reader, later, 12);
    QVERIFY(!node.answered(reader));
    node.core->disconnected(reader, node.now, node.out);
    node.produce(writer, "t", 0, node.batch({{"k", "v"}}));
    node.advance(seconds(1));
    QVERIFY(!node.answered(reader));
    QVERIFY(node.stop());
  }

  void sessions() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    const Uuid id = node.create_topic("t", 2);
    const ConnectionId c = node.connect();
    for (const int partition : {0, 1}) {
      node.produce(c, "t", partition, node.batch({{"k", "v"}}));
    }
    const auto ask = [&](std::vector<TestNode::FetchWish> wishes, std::int32_t session, std::int32_t epoch) {
      auto request = TestNode::fetch_request("", wishes, id);
      request.session_id = session;
      request.session_epoch = epoch;
      return request;
    };
    const auto full = node.call<wire::FetchResponse>(c, ask({{0, 0}, {1, 0}}, 0, 0), 17);
    const std::int32_t session = full.session_id;
    QVERIFY(session > 0);
    QCOMPARE(full.responses.at(0).partitions.size(), std::size_t{2});
    const auto nothing_new = node.call<wire::FetchResponse>(c, ask({{0, 1}, {1, 1}}, session, 1), 17);
    QCOMPARE(nothing_new.session_id, session);
    QVERIFY(nothing_new.responses.empty());
    node.produce(c, "t", 1, node.batch({{"k", "v"}}));
    const auto changed = node.call<wire::FetchResponse>(c, ask({}, session, 2), 17);
    QCOMPARE(changed.responses.size(), std::size_t{1});
    QCOMPARE(changed.responses[0].partitions.size(), std::size_t{1});
    QCOMPARE(changed.responses[0].partitions[0].partition_index, PartitionIndex(1));
    QCOMPARE(node.call<wire::FetchResponse>(c, ask({}, session, 9), 17).error_code, ErrorCode::invalid_fetch_session_epoch);
    const auto unknown = node.call<wire::FetchResponse>(c, ask({}, 12345, 1), 17);
    QCOMPARE(unknown.error_code, ErrorCode::fetch_session_id_not_found);
    QCOMPARE(unknown.session_id, 0);
    auto by_name = TestNode::fetch_request("t", {});
    by_name.session_id = session;
    by_name.session_epoch = 3;
    QCOMPARE(node.call<wire::FetchResponse>(c, by_name, 12).error_code, ErrorCode::fetch_session_topic_id_error);
    auto forget = ask({{0, 1}}, session, 3);
    forget.forgotten_topics_data.emplace_back().topic_id = id;
    forget.forgotten_topics_data[0].partitions.push_back(PartitionIndex(1));
    const auto forgotten = node.call<wire::FetchResponse>(c, forget, 17);
    QCOMPARE(forgotten.error_code, ErrorCode::none);
    QVERIFY(forgotten.responses.empty());
    const auto last = node.call<wire::FetchResponse>(c, ask({{0, 0}}, session, -1), 17);
    QCOMPARE(last.session_id, 0);
    QCOMPARE(last.responses.size(), std::size_t{1});
    QCOMPARE(node.call<wire::FetchResponse>(c, ask({}, session, 4), 17).error_code, ErrorCode::fetch_session_id_not_found);
    QVERIFY(node.stop());
  }

  void offsets_and_epochs() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    node.create_topic("t");
    const ConnectionId c = node.connect();
    const std::int64_t base = node.now.wall.ms;
    for (const std::int64_t ago : {3000, 1000, 2000}) {
      wire::BatchBuilder builder;
      builder.append("k", "v", base - ago);
      QCOMPARE(node.produce(c, "t", 0, builder.finish()).error_code, ErrorCode::none);
    }
    const auto at = [&](std::int64_t timestamp, std::int16_t version = 10) {
      wire::ListOffsetsRequest request;
      request.replica_id = BrokerId(-1);
      auto& topic = request.topics.emplace_back();
      topic.name = "t";
      auto& partition = topic.partitions.emplace_back();
      partition.timestamp = timestamp;
      return node.call<wire::ListOffsetsResponse>(c, request, version).topics.at(0).partitions.at(0);
    };
    QCOMPARE(at(-1).offset, Offset(3));
    QCOMPARE(at(-1).leader_epoch, LeaderEpoch(0));
    QCOMPARE(at(-2).offset, Offset(0));
    QCOMPARE(at(-3).offset, Offset(1));
    QCOMPARE(at(-3).timestamp, base - 1000);
    QCOMPARE(at(-5).offset, Offset(-1));
    QCOMPARE(at(-5).error_code, ErrorCode::none);
    QCOMPARE(at(-6).error_code, ErrorCode::unsupported_version);
    QCOMPARE(at(-6, 11).error_code, ErrorCode::none);
    QCOMPARE(at(base - 2500).offset, Offset(1));
    QCOMPARE(at(base + 10).offset, Offset(-1));
    wire::ListOffsetsRequest twice;
    twice.replica_id = BrokerId(-1);
    auto& topic = twice.topics.emplace_back();
    topic.name = "t";
    topic.partitions.resize(2);
    QCOMPARE(node.call<wire::ListOffsetsResponse>(c, twice, 10).topics.at(0).partitions.at(1).error_code,
             ErrorCode::invalid_request);

    wire::OffsetForLeaderEpochRequest epochs;
    auto& asked = epochs.topics.emplace_back();
    asked.topic = "t";
    for (const std::int32_t epoch : {0, 7}) {
      asked.partitions.emplace_back().leader_epoch = LeaderEpoch(epoch);
    }
    const auto ends = node.call<wire::OffsetForLeaderEpochResponse>(c, epochs, 4).topics.at(0).partitions;
    QCOMPARE(ends.at(0).end_offset, Offset(3));
    QCOMPARE(ends.at(0).leader_epoch, LeaderEpoch(0));
    QCOMPARE(ends.at(1).end_offset, Offset(-1));
    QVERIFY(node.stop());
  }

  void a_restart_keeps_everything_data() {
    QTest::addColumn<bool>("clean");
    QTest::newRow("clean stop") << true;
    QTest::newRow("kill") << false;
  }
  void a_restart_keeps_everything() {
    QFETCH(bool, clean);
    env::MemoryDisk memory(kDiskBytes);
    env::FaultDisk disk(memory, Prng(3));  // jobs are asynchronous here, as on a real disk
    TestNode node(disk);
    QVERIFY(node.start());
    const std::string cluster = node.core->cluster_id();
    const Uuid id = node.create_topic("t", 3, {{"retention.ms", "-1"}});
    const ConnectionId c = node.connect();
    for (int i = 0; i < 10; ++i) {
      QCOMPARE(node.produce(c, "t", i % 3, node.batch({{"k", std::to_string(i)}})).error_code, ErrorCode::none);
    }
    if (clean) {
      QVERIFY(node.stop());
      QVERIFY(disk.exists("data/node-1/.kafka_cleanshutdown"));
    } else {
      node.kill();
      disk.kill();
    }
    QVERIFY(node.start());
    QVERIFY(node.core->ready());
    QCOMPARE(node.core->cluster_id(), cluster);
    const ConnectionId again = node.connect();
    const auto data = node.call<wire::FetchResponse>(again, TestNode::fetch_request("", {{0, 0}}, id), 17);
    QCOMPARE(records_of(data.responses.at(0).partitions.at(0)),
             (std::vector<Seen>{{0, "k", "0"}, {1, "k", "3"}, {2, "k", "6"}, {3, "k", "9"}}));
    QCOMPARE(node.produce(again, "t", 0, node.batch({{"k", "after"}})).base_offset, Offset(4));
    QVERIFY(node.stop());
  }

  // Nobody has told it yet which partitions it has: none of them is a stray.
  void a_broker_that_stops_before_it_registers_leaves_its_logs_alone() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    node.create_topic("t");
    QVERIFY(node.stop());
    const auto before = disk.list("data/node-1/t-0");
    QVERIFY(before && !before->empty());
    // Its metadata is lost, and the other voter, which has it, is away.
    QVERIFY(disk.remove_tree("data/node-1/__cluster_metadata-0"));
    node.initial_voters = {{BrokerId(1), Uuid{8, 1}, "one", 1}, {BrokerId(2), Uuid{8, 2}, "two", 2}};
    QVERIFY(node.start());
    node.core->hand_over(node.now, node.out);
    node.advance(seconds(2));
    node.core->tick(node.now, node.out);
    QVERIFY(node.core->handed_over());
    QVERIFY(node.stop());
    const auto after = disk.list("data/node-1/t-0");
    QVERIFY(after);
    QCOMPARE(*after, *before);
  }

  void metadata_survives_a_power_cut() {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      env::MemoryDisk memory(kDiskBytes);
      env::FaultDisk disk(memory, Prng(seed));
      TestNode node(disk, {}, seed);
      QVERIFY(node.start());
      const Uuid id = node.create_topic("t", 2);
      const ConnectionId c = node.connect();
      for (int i = 0; i < 5; ++i) {
        QCOMPARE(node.produce(c, "t", 0, node.batch({{"k", std::to_string(i)}})).error_code, ErrorCode::none);
      }
      node.kill();
      QVERIFY(disk.crash());
      const Result<void> started = node.start();
      QVERIFY2(started.has_value(), started ? "" : started.error().detail.c_str());
      // The topic was acknowledged after its records were durable. Records of the topic were not (as in Kafka), but
      // what is there is a prefix.
      const ConnectionId again = node.connect();
      const auto data = node.call<wire::FetchResponse>(again, TestNode::fetch_request("", {{0, 0}}, id), 17);
      QCOMPARE(data.responses.at(0).partitions.at(0).error_code, ErrorCode::none);
      std::int64_t expected = 0;
      for (const Seen& record : records_of(data.responses.at(0).partitions.at(0))) {
        QCOMPARE(record.offset, expected);
        QCOMPARE(record.value, std::to_string(expected));
        ++expected;
      }
      QVERIFY(node.stop());
    }
  }

  void a_full_disk_refuses_and_recovers() {
    env::MemoryDisk memory(kDiskBytes);
    env::FaultDisk disk(memory, Prng(1));
    TestNode node(disk);
    QVERIFY(node.start());
    node.create_topic("t");
    const ConnectionId c = node.connect();
    QCOMPARE(node.produce(c, "t", 0, node.batch({{"k", "0"}})).error_code, ErrorCode::none);
    disk.set_capacity(1);
    QCOMPARE(node.produce(c, "t", 0, node.batch({{"k", "lost"}})).error_code, ErrorCode::kafka_storage_error);
    QCOMPARE(records_of(node.fetch(c, "t", 0, 0)), (std::vector<Seen>{{0, "k", "0"}}));
    disk.set_capacity(0);
    const auto after = node.produce(c, "t", 0, node.batch({{"k", "1"}}));
    QCOMPARE(after.error_code, ErrorCode::none);
    QCOMPARE(after.base_offset, Offset(1));
    QCOMPARE(records_of(node.fetch(c, "t", 0, 0)), (std::vector<Seen>{{0, "k", "0"}, {1, "k", "1"}}));
    QVERIFY(node.core->ready());
    QVERIFY(node.stop());
  }

  void a_node_that_cannot_write_metadata_stops_serving() {
    env::MemoryDisk memory(kDiskBytes);
    env::FaultDisk disk(memory, Prng(1));
    TestNode node(disk);
    QVERIFY(node.start());
    node.create_topic("t");
    const ConnectionId c = node.connect();
    disk.set_capacity(1);
    wire::CreateTopicsRequest request;
    auto& topic = request.topics.emplace_back();
    topic.name = "u";
    topic.num_partitions = 1;
    topic.replication_factor = 1;
    node.send(c, request, 7);
    QVERIFY(!node.answered(c));
    QVERIFY(node.closed(c));
    QVERIFY(!node.core->ready());
    QCOMPARE(node.core->next_deadline(), kNever);
    disk.set_capacity(0);
    node.kill();
    disk.kill();
    QVERIFY(node.start());
    const ConnectionId again = node.connect();
    QCOMPARE(node.fetch(again, "t", 0, 0).error_code, ErrorCode::none);
    QCOMPARE(node.fetch(again, "u", 0, 0).error_code, ErrorCode::unknown_topic_or_partition);
    QVERIFY(node.stop());
  }

  // Clients must hear NOT_LEADER_OR_FOLLOWER, and not only find their connections closed.
  void a_node_that_may_go_answers_a_little_longer() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    const ConnectionId client = node.connect();
    node.core->hand_over(node.now, node.out);
    node.settle();
    const Instant asked = node.now.instant;
    while (!node.core->handed_over() && node.now.instant - asked < seconds(5)) {
      node.advance(milliseconds(5));
      QVERIFY(!node.closed(client));
    }
    QVERIFY(node.core->handed_over());
    QVERIFY(node.now.instant - asked >= milliseconds(100));
    QVERIFY(node.now.instant - asked < seconds(1));
    QVERIFY(node.stop());
  }

  void bad_frames_close_only_their_connection() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    node.create_topic("t");
    const ConnectionId good = node.connect();
    Prng prng(11);
    const Bytes whole = TestNode::encode_request(TestNode::produce_request("t", 0, node.batch({{"k", "v"}})), 12, 1);
    for (int i = 0; i < 2000; ++i) {
      const ConnectionId bad = node.connect();
      ByteBuilder bytes;
      switch (prng.below(4)) {
        case 0:  // noise
          for (std::uint64_t n = prng.below(60); n > 0; --n) {
            *bytes.extend(1) = static_cast<std::byte>(prng.below(256));
          }
          break;
        case 1:  // cut off
          bytes.append(whole.span().first(static_cast<std::size_t>(prng.below(whole.size()))));
          break;
        case 2: {  // a byte too many
          bytes.append(whole.span());
          *bytes.extend(1) = std::byte{0};
          break;
        }
        default: {  // one byte wrong in front of the records
          bytes.append(whole.span());
          bytes.data()[prng.below(40)] ^= static_cast<std::byte>(1 + prng.below(255));
          break;
        }
      }
      node.send_frame(bad, bytes.finish());
      QVERIFY(!node.closed(good));
    }
    const auto answer = node.produce(good, "t", 0, node.batch({{"k", "v"}}));
    QCOMPARE(answer.error_code, ErrorCode::none);
    for (const auto& [key, version] : std::vector<std::pair<std::int16_t, std::int16_t>>{
             {999, 0}, {-1, 0}, {3, 99}, {4, 0}, {52, 0}, {0, 2}, {22, 6}, {28, 3}}) {
      const ConnectionId bad = node.connect();
      wire::Writer writer;
      writer.int16(key);
      writer.int16(version);
      writer.int32(1);
      writer.int16(-1);
      node.send_frame(bad, writer.finish().flatten());
      QVERIFY2(node.closed(bad), std::to_string(key).c_str());
      QVERIFY(!node.close_reason(bad).empty());
    }
    QVERIFY(!node.events.of<event::RequestRefused>().empty());
    QVERIFY(node.stop());
  }

  void api_versions_above_ours_is_answered() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    const ConnectionId c = node.connect();
    wire::Writer writer;
    writer.int16(18);
    writer.int16(77);
    writer.int32(5);
    writer.string("x", false);
    writer.tag_count(0);
    writer.raw(as_bytes("whatever"));
    node.send_frame(c, writer.finish().flatten());
    const auto response = node.receive<wire::ApiVersionsResponse>(c, 0);
    QCOMPARE(response.error_code, ErrorCode::unsupported_version);
    QCOMPARE(node.last_correlation, 5);
    QCOMPARE(response.api_keys.size(), std::size_t{1});
    QVERIFY(!node.closed(c));
    QVERIFY(node.stop());
  }

  void the_window_reads_locally() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    node.create_topic("t");
    const ConnectionId c = node.connect();
    node.produce(c, "t", 0, node.batch({{"a", "1"}, {"b", "2"}}));
    node.produce(c, "t", 0, node.batch({{"c", "3"}}));
    const auto read = node.core->read_local("t", PartitionIndex(0), Offset(2), 1 << 16);
    QVERIFY(read);
    QCOMPARE(read->high_watermark, Offset(3));
    QCOMPARE(wire::BatchView(read->batches.flatten().span()).base_offset(), Offset(2));
    QVERIFY(node.core->read_local("t", PartitionIndex(0), Offset(-5), 1)->batches.size() > 0);
    QVERIFY(!node.core->read_local("t", PartitionIndex(3), Offset(0), 1));
    QVERIFY(!node.core->read_local("u", PartitionIndex(0), Offset(0), 1));
    QVERIFY(node.stop());
  }

  // Random producers and consumers against a twin that is a vector of records.
  void property_twin() {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      Prng prng(seed);
      env::MemoryDisk memory(kDiskBytes);
      env::FaultDisk disk(memory, Prng(seed));
      TestNode node(disk, {{"log.segment.bytes", "1048576"}}, seed);
      QVERIFY(node.start());
      const Uuid id = node.create_topic("t", 3);
      std::array<std::vector<Seen>, 3> twin;
      ConnectionId c = node.connect();
      for (int step = 0; step < 300; ++step) {
        const auto partition = static_cast<std::int32_t>(prng.below(3));
        std::vector<Seen>& model = twin[static_cast<std::size_t>(partition)];
        switch (prng.below(8)) {
          case 0:
          case 1:
          case 2:
          case 3: {
            std::vector<std::pair<std::string, std::string>> records;
            for (std::uint64_t n = 1 + prng.below(5); n > 0; --n) {
              records.emplace_back("k" + std::to_string(prng.below(10)),
                                   std::string(static_cast<std::size_t>(prng.below(30000)), static_cast<char>('a' + prng.below(26))));
            }
            wire::BatchOptions options;
            options.compression = static_cast<wire::Compression>(prng.below(5));
            const auto answer = node.produce(c, "t", partition, node.batch(records, options));
            QCOMPARE(answer.error_code, ErrorCode::none);
            QCOMPARE(answer.base_offset, Offset(static_cast<std::int64_t>(model.size())));
            for (const auto& [key, value] : records) {
              model.push_back({static_cast<std::int64_t>(model.size()), key, value});
            }
            break;
          }
          case 4: {
            const Result<void> restarted = node.restart();
            QVERIFY2(restarted.has_value(), restarted ? "" : restarted.error().detail.c_str());
            c = node.connect();
            break;
          }
          case 5:
            if (prng.chance({1, 4})) {
              node.kill();
              disk.kill();
              const Result<void> started = node.start();
              QVERIFY2(started.has_value(), started ? "" : started.error().detail.c_str());
              c = node.connect();
            }
            break;
          default: {
            const auto offset = static_cast<std::int64_t>(prng.below(model.size() + 1));
            const auto limit = static_cast<std::int32_t>(1 + prng.below(200000));
            const auto answer = node.call<wire::FetchResponse>(
                c, TestNode::fetch_request("", {{partition, offset, limit}}, id), 17);
            const auto& data = answer.responses.at(0).partitions.at(0);
            QCOMPARE(data.error_code, ErrorCode::none);
            QCOMPARE(data.high_watermark, static_cast<std::int64_t>(model.size()));
            const std::vector<Seen> got = records_of(data);
            QCOMPARE(got.empty(), offset == static_cast<std::int64_t>(model.size()));
            for (const Seen& record : got) {
              QCOMPARE(record, model.at(static_cast<std::size_t>(record.offset)));
            }
            QVERIFY(got.empty() || (got.front().offset <= offset && got.back().offset >= offset));
            break;
          }
        }
      }
      QVERIFY(node.stop());
    }
  }

  void hosts_as_kafka_prints_them() {
    QCOMPARE(api::client_host_of("127.0.0.1:5000"), std::string("/127.0.0.1"));
    QCOMPARE(api::client_host_of("[::1]:5000"), std::string("/0:0:0:0:0:0:0:1"));
    QCOMPARE(api::client_host_of("[fe80::1:2]:1"), std::string("/fe80:0:0:0:0:0:1:2"));
    QCOMPARE(api::client_host_of("[1:2:3:4:5:6:7:8]:1"), std::string("/1:2:3:4:5:6:7:8"));
    QCOMPARE(api::client_host_of("[::ffff:10.0.0.1]:1"), std::string("/10.0.0.1"));
  }
};

QTEST_APPLESS_MAIN(TstNodeCore)
#include "tst_node_core.moc"
