// SPDX-License-Identifier: Apache-2.0
// The data-side APIs of one node by encoded frames: DeleteRecords, retention, ListOffsets, DescribeProducers, log directories,
// and the limits of what may be produced.
#include <QtTest>

#include "engine/api/insides.h"
#include "engine/env/fault_disk.h"
#include "engine/env/memory_disk.h"
#include "engine/wire/msg/alter_replica_log_dirs.h"
#include "engine/wire/msg/delete_records.h"
#include "engine/wire/msg/describe_log_dirs.h"
#include "engine/wire/msg/describe_producers.h"
#include "tests/engine/api/node_fixture.h"

using namespace hw;
using namespace hw::test;
using wire::ErrorCode;

namespace {

constexpr std::uint64_t kDiskBytes = 256U << 20U;

using Deleted = wire::DeleteRecordsResponse::DeleteRecordsPartitionResult;

Deleted delete_records(TestNode& node, ConnectionId c, const std::string& topic, std::int64_t to, std::int32_t partition = 0) {
  wire::DeleteRecordsRequest request;
  auto& entry = request.topics.emplace_back();
  entry.name = topic;
  auto& wanted = entry.partitions.emplace_back();
  wanted.partition_index = PartitionIndex(partition);
  wanted.offset = Offset(to);
  const auto response = node.call<wire::DeleteRecordsResponse>(c, request, 2);
  HW_ASSERT(response.topics.size() == 1 && response.topics[0].partitions.size() == 1, "one answer");
  return response.topics[0].partitions[0];
}

using Listed = wire::ListOffsetsResponse::ListOffsetsPartitionResponse;

Listed list_offsets(TestNode& node, ConnectionId c, const std::string& topic, std::int64_t timestamp, std::int16_t version = 11,
                    std::int32_t leader_epoch = -1, std::int8_t isolation = 0) {
  wire::ListOffsetsRequest request;
  request.replica_id = BrokerId(-1);
  request.isolation_level = isolation;
  auto& entry = request.topics.emplace_back();
  entry.name = topic;
  auto& wanted = entry.partitions.emplace_back();
  wanted.partition_index = PartitionIndex(0);
  wanted.timestamp = timestamp;
  wanted.current_leader_epoch = LeaderEpoch(version >= 4 ? leader_epoch : -1);
  const auto response = node.call<wire::ListOffsetsResponse>(c, request, version);
  HW_ASSERT(response.topics.size() == 1 && response.topics[0].partitions.size() == 1, "one answer");
  return response.topics[0].partitions[0];
}

Bytes batch_at(const std::vector<std::int64_t>& timestamps, std::int64_t producer = -1, std::int32_t sequence = 0,
               std::size_t value_size = 10) {
  wire::BatchOptions options;
  if (producer >= 0) {
    options.producer_id = ProducerId(producer);
    options.producer_epoch = ProducerEpoch(0);
    options.base_sequence = sequence;
  }
  wire::BatchBuilder builder(options);
  for (const std::int64_t timestamp : timestamps) {
    builder.append(std::string_view("k"), std::string_view(std::string(value_size, 'v')), timestamp);
  }
  return builder.finish();
}

std::vector<wire::DescribeProducersResponse::ProducerState> producers(TestNode& node, ConnectionId c, const std::string& topic) {
  wire::DescribeProducersRequest request;
  auto& entry = request.topics.emplace_back();
  entry.name = topic;
  entry.partition_indexes.push_back(PartitionIndex(0));
  const auto response = node.call<wire::DescribeProducersResponse>(c, request, 0);
  HW_ASSERT(response.topics[0].partitions[0].error_code == ErrorCode::none, "the partition is known");
  return response.topics[0].partitions[0].active_producers;
}

wire::DescribeLogDirsResponse log_dirs(TestNode& node, ConnectionId c) {
  wire::DescribeLogDirsRequest request;
  request.topics.reset();  // all
  return node.call<wire::DescribeLogDirsResponse>(c, request, 5);
}

ErrorCode move_to(TestNode& node, ConnectionId c, const std::string& topic, const std::string& path) {
  wire::AlterReplicaLogDirsRequest request;
  auto& directory = request.dirs.emplace_back();
  directory.path = path;
  auto& entry = directory.topics.emplace_back();
  entry.name = topic;
  entry.partitions.push_back(PartitionIndex(0));
  const auto response = node.call<wire::AlterReplicaLogDirsResponse>(c, request, 2);
  return response.results[0].partitions[0].error_code;
}

// A node with two directories, on a disk that may fail.
struct TwoDirectories {
  TwoDirectories() : base(kDiskBytes), disk(base, Prng(3)), node(disk) {
    node.more_directories = {"data/second"};
    HW_ASSERT(node.start().has_value(), "the node starts");
    c = node.connect();
  }
  env::MemoryDisk base;
  env::FaultDisk disk;
  TestNode node;
  ConnectionId c;
};

}  // namespace

class TstDataPlane : public QObject {
  Q_OBJECT

 private slots:
  void delete_records_moves_the_start_for_everybody() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    const ConnectionId c = node.connect();
    node.create_topic("t");
    node.create_topic("compacted", 1, {{"cleanup.policy", "compact"}});
    node.create_topic("both", 1, {{"cleanup.policy", "compact,delete"}});
    for (int i = 0; i < 2; ++i) {
      const std::int64_t now = node.now.wall.ms;
      QCOMPARE(node.produce(c, "t", 0, batch_at({now, now, now, now, now})).error_code, ErrorCode::none);
    }
    QCOMPARE(delete_records(node, c, "t", 3).low_watermark, 3);
    QCOMPARE(node.fetch(c, "t", 0, 0).error_code, ErrorCode::offset_out_of_range);
    QCOMPARE(node.fetch(c, "t", 0, 3).log_start_offset, Offset(3));
    QCOMPARE(list_offsets(node, c, "t", -2).offset, Offset(3));
    QCOMPARE(list_offsets(node, c, "t", -4).offset, Offset(3));
    QCOMPARE(delete_records(node, c, "t", 1).low_watermark, 3);  // backwards is nothing to do
    const Deleted beyond = delete_records(node, c, "t", 11);
    QCOMPARE(beyond.error_code, ErrorCode::offset_out_of_range);
    QCOMPARE(beyond.low_watermark, -1);
    QCOMPARE(delete_records(node, c, "t", -2).error_code, ErrorCode::offset_out_of_range);
    QCOMPARE(delete_records(node, c, "t", -1).low_watermark, 10);
    QCOMPARE(node.fetch(c, "t", 0, 10).error_code, ErrorCode::none);
    QCOMPARE(delete_records(node, c, "compacted", 0).error_code, ErrorCode::policy_violation);
    QCOMPARE(delete_records(node, c, "both", 0).error_code, ErrorCode::none);
    QCOMPARE(delete_records(node, c, "nobody", 0).error_code, ErrorCode::unknown_topic_or_partition);
    QCOMPARE(delete_records(node, c, "t", 0, 1).error_code, ErrorCode::unknown_topic_or_partition);
    // A second later the start is on the disk, and a kill does not bring the records back.
    node.advance(seconds(2));
    node.kill();
    QVERIFY(node.start());
    const ConnectionId again = node.connect();
    QCOMPARE(list_offsets(node, again, "t", -2).offset, Offset(10));
    QCOMPARE(node.produce(again, "t", 0, batch_at({node.now.wall.ms})).base_offset, Offset(10));
  }

  void a_partition_named_twice_counts_with_its_last_offset() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    const ConnectionId c = node.connect();
    node.create_topic("t");
    const std::int64_t now = node.now.wall.ms;
    QCOMPARE(node.produce(c, "t", 0, batch_at({now, now, now, now})).error_code, ErrorCode::none);
    wire::DeleteRecordsRequest request;
    for (const int offset : {4, 2}) {
      auto& entry = request.topics.emplace_back();
      entry.name = "t";
      auto& wanted = entry.partitions.emplace_back();
      wanted.offset = Offset(offset);
    }
    const auto response = node.call<wire::DeleteRecordsResponse>(c, request, 2);
    QCOMPARE(response.topics.size(), std::size_t{1});
    QCOMPARE(response.topics[0].partitions.size(), std::size_t{1});
    QCOMPARE(response.topics[0].partitions[0].low_watermark, 2);
    // Produce: the last records of a partition are appended, the others are not, and there is one answer.
    wire::ProduceRequest twice = TestNode::produce_request("t", 0, batch_at({now}));
    twice.topic_data.push_back(TestNode::produce_request("t", 0, batch_at({now, now, now})).topic_data[0]);
    const auto produced = node.call<wire::ProduceResponse>(c, twice, 12);
    QCOMPARE(produced.responses.size(), std::size_t{1});
    QCOMPARE(produced.responses[0].partition_responses.size(), std::size_t{1});
    QCOMPARE(produced.responses[0].partition_responses[0].error_code, ErrorCode::none);
    QCOMPARE(produced.responses[0].partition_responses[0].base_offset, Offset(4));
    QCOMPARE(list_offsets(node, c, "t", -1).offset, Offset(7));
  }

  void retention_takes_its_time() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk, {{"log.initial.task.delay.ms", "500"}, {"log.retention.check.interval.ms", "1000"}});
    QVERIFY(node.start());
    const ConnectionId c = node.connect();
    node.create_topic("short", 1, {{"retention.ms", "1500"}});
    node.create_topic("kept", 1, {{"retention.ms", "-1"}});
    const std::uint64_t before = disk.used_bytes();
    for (const char* topic : {"short", "kept"}) {
      const std::int64_t now = node.now.wall.ms;
      QCOMPARE(node.produce(c, topic, 0, batch_at({now, now, now}, -1, 0, 50'000)).error_code, ErrorCode::none);
    }
    node.advance(milliseconds(1'400));
    QCOMPARE(list_offsets(node, c, "short", -2).offset, Offset(0));
    node.advance(seconds(2));
    QCOMPARE(list_offsets(node, c, "short", -2).offset, Offset(3));
    QCOMPARE(list_offsets(node, c, "short", -1).offset, Offset(3));
    QCOMPARE(list_offsets(node, c, "kept", -2).offset, Offset(0));
    QVERIFY(disk.used_bytes() < before + 220'000);  // memory is given back at once
    QCOMPARE(node.produce(c, "short", 0, batch_at({node.now.wall.ms})).base_offset, Offset(3));
    QCOMPARE(node.events.of<event::SegmentDeleted>().size(), std::size_t{1});
  }

  void every_special_timestamp_in_every_version() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    const ConnectionId c = node.connect();
    node.create_topic("t");
    const std::int64_t base = node.now.wall.ms;
    QCOMPARE(list_offsets(node, c, "t", -3).offset, Offset(-1));  // empty
    QCOMPARE(list_offsets(node, c, "t", -3).timestamp, -1);
    QCOMPARE(node.produce(c, "t", 0, batch_at({base, base + 50, base + 20})).error_code, ErrorCode::none);
    QCOMPARE(node.produce(c, "t", 0, batch_at({base + 50, base + 30})).error_code, ErrorCode::none);
    for (std::int16_t version = 1; version <= 11; ++version) {
      const auto offset_of = [&](std::int64_t timestamp) { return list_offsets(node, c, "t", timestamp, version); };
      QCOMPARE(offset_of(-1).offset, Offset(5));
      QCOMPARE(offset_of(-2).offset, Offset(0));
      const auto special = [&](std::int64_t timestamp, std::int16_t since) {
        const Listed answer = offset_of(timestamp);
        return version >= since ? answer.error_code == ErrorCode::none : answer.error_code == ErrorCode::unsupported_version;
      };
      QVERIFY(special(-3, 7) && special(-4, 8) && special(-5, 9) && special(-6, 11) && special(-7, 99) && special(-9, 99));
      // The first record at or after a time; the first one that has the largest.
      QCOMPARE(offset_of(base).offset, Offset(0));
      QCOMPARE(offset_of(base + 1).offset, Offset(1));
      QCOMPARE(offset_of(base + 1).timestamp, base + 50);
      QCOMPARE(offset_of(base + 51).offset, Offset(-1));
      QCOMPARE(offset_of(base + 51).error_code, ErrorCode::none);
      if (version >= 4) {
        QCOMPARE(offset_of(base).leader_epoch, LeaderEpoch(0));
        QCOMPARE(list_offsets(node, c, "t", -1, version, 7).error_code, ErrorCode::unknown_leader_epoch);
        QCOMPARE(list_offsets(node, c, "t", -1, version, 0).error_code, ErrorCode::none);
      }
    }
    const Listed largest = list_offsets(node, c, "t", -3);
    QCOMPARE(largest.offset, Offset(1));
    QCOMPARE(largest.timestamp, base + 50);
    QCOMPARE(list_offsets(node, c, "t", -5).offset, Offset(-1));
    QCOMPARE(list_offsets(node, c, "t", -6).offset, Offset(-1));
    QCOMPARE(list_offsets(node, c, "t", -1, 11, -1, 1).offset, Offset(5));  // read_committed without transactions
    // What is deleted is not found; of a batch cut in two only the rest.
    QCOMPARE(delete_records(node, c, "t", 2).error_code, ErrorCode::none);
    QCOMPARE(list_offsets(node, c, "t", base).offset, Offset(2));
    QCOMPARE(list_offsets(node, c, "t", base + 40).offset, Offset(3));
    // Twice in one request, unknown, an epoch of before.
    wire::ListOffsetsRequest twice;
    twice.replica_id = BrokerId(-1);
    auto& entry = twice.topics.emplace_back();
    entry.name = "t";
    for (int i = 0; i < 2; ++i) {
      entry.partitions.emplace_back().timestamp = -1;
    }
    const auto both = node.call<wire::ListOffsetsResponse>(c, twice, 11);
    for (const auto& answer : both.topics[0].partitions) {
      QCOMPARE(answer.error_code, ErrorCode::invalid_request);
    }
    QCOMPARE(list_offsets(node, c, "nobody", -1).error_code, ErrorCode::unknown_topic_or_partition);
    QVERIFY(node.restart());
    const ConnectionId again = node.connect();
    if (list_offsets(node, again, "t", -1).leader_epoch > LeaderEpoch(0)) {
      QCOMPARE(list_offsets(node, again, "t", -1, 11, 0).error_code, ErrorCode::fenced_leader_epoch);
    }
  }

  void times_are_the_brokers_with_log_append_time() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    const ConnectionId c = node.connect();
    node.create_topic("t", 1, {{"message.timestamp.type", "LogAppendTime"}});
    const std::int64_t first = node.now.wall.ms;
    QCOMPARE(node.produce(c, "t", 0, batch_at({1, 2, 3})).log_append_time_ms, first);
    node.advance(milliseconds(500));
    QCOMPARE(node.produce(c, "t", 0, batch_at({9'999'999'999'999})).log_append_time_ms, first + 500);
    QCOMPARE(list_offsets(node, c, "t", 0).offset, Offset(0));
    QCOMPARE(list_offsets(node, c, "t", 0).timestamp, first);
    QCOMPARE(list_offsets(node, c, "t", first + 1).offset, Offset(3));
    QCOMPARE(list_offsets(node, c, "t", first + 1).timestamp, first + 500);
    QCOMPARE(list_offsets(node, c, "t", first + 501).offset, Offset(-1));
    QCOMPARE(list_offsets(node, c, "t", -3).offset, Offset(3));
  }

  void records_out_of_the_limits_of_time_are_refused() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    const ConnectionId c = node.connect();
    node.create_topic("t", 1, {{"message.timestamp.before.max.ms", "1000"}, {"message.timestamp.after.max.ms", "2000"}});
    const std::int64_t now = node.now.wall.ms;
    QCOMPARE(node.produce(c, "t", 0, batch_at({now - 1'000, now + 2'000})).error_code, ErrorCode::none);
    const auto early = node.produce(c, "t", 0, batch_at({now, now - 1'001}));
    QCOMPARE(early.error_code, ErrorCode::invalid_timestamp);
    QCOMPARE(early.record_errors.size(), std::size_t{1});
    QCOMPARE(early.record_errors[0].batch_index, 1);
    QCOMPARE(node.produce(c, "t", 0, batch_at({now + 2'001})).error_code, ErrorCode::invalid_timestamp);
  }

  void a_batch_must_fit_its_topic_and_its_segment() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    const ConnectionId c = node.connect();
    node.create_topic("t", 1, {{"max.message.bytes", "3000000"}, {"segment.bytes", "1048576"}});
    const std::int64_t now = node.now.wall.ms;
    QCOMPARE(node.produce(c, "t", 0, batch_at({now}, -1, 0, 1'500'000)).error_code, ErrorCode::record_list_too_large);
    QCOMPARE(node.produce(c, "t", 0, batch_at({now}, -1, 0, 3'500'000)).error_code, ErrorCode::message_too_large);
    QCOMPARE(node.produce(c, "t", 0, batch_at({now}, -1, 0, 1'000'000)).base_offset, Offset(0));
  }

  void producers_are_described_and_forgotten() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk, {{"producer.id.expiration.ms", "60000"}, {"producer.id.expiration.check.interval.ms", "5000"}});
    QVERIFY(node.start());
    const ConnectionId c = node.connect();
    node.create_topic("t");
    const std::int64_t now = node.now.wall.ms;
    QCOMPARE(node.produce(c, "t", 0, batch_at({now, now + 3}, 4242, 0)).error_code, ErrorCode::none);
    const auto known = producers(node, c, "t");
    QCOMPARE(known.size(), std::size_t{1});
    QCOMPARE(known[0].producer_id, ProducerId(4242));
    QCOMPARE(known[0].producer_epoch, 0);
    QCOMPARE(known[0].last_sequence, 1);
    QCOMPARE(known[0].last_timestamp, now + 3);
    QCOMPARE(known[0].coordinator_epoch, -1);
    QCOMPARE(known[0].current_txn_start_offset, Offset(-1));
    QCOMPARE(node.produce(c, "t", 0, batch_at({now}, 4242, 9)).error_code, ErrorCode::out_of_order_sequence_number);
    node.advance(seconds(59));
    QCOMPARE(producers(node, c, "t").size(), std::size_t{1});
    node.advance(seconds(7));
    QVERIFY(producers(node, c, "t").empty());
    QCOMPARE(node.produce(c, "t", 0, batch_at({node.now.wall.ms}, 4242, 9)).error_code, ErrorCode::none);
    wire::DescribeProducersRequest request;
    auto& entry = request.topics.emplace_back();
    entry.name = "t";
    entry.partition_indexes = {PartitionIndex(1), PartitionIndex(-1)};
    const auto unknown = node.call<wire::DescribeProducersResponse>(c, request, 0);
    for (const auto& answer : unknown.topics[0].partitions) {
      QCOMPARE(answer.error_code, ErrorCode::unknown_topic_or_partition);
    }
  }

  void log_directories_are_described() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    const ConnectionId c = node.connect();
    node.create_topic("b", 2);
    node.create_topic("a");
    const std::int64_t now = node.now.wall.ms;
    QCOMPARE(node.produce(c, "b", 1, batch_at({now})).error_code, ErrorCode::none);
    const auto all = log_dirs(node, c);
    QCOMPARE(all.error_code, ErrorCode::none);
    QCOMPARE(all.results.size(), std::size_t{1});
    QVERIFY(all.results[0].total_bytes > 0 && all.results[0].usable_bytes > 0 && !all.results[0].is_cordoned);
    QCOMPARE(all.results[0].topics.size(), std::size_t{2});  // the metadata log is not among them
    QCOMPARE(all.results[0].topics[0].name, std::string("a"));
    QCOMPARE(all.results[0].topics[1].partitions.size(), std::size_t{2});
    QCOMPARE(all.results[0].topics[1].partitions[0].partition_size, 0);
    QVERIFY(all.results[0].topics[1].partitions[1].partition_size > 60);
    wire::DescribeLogDirsRequest some;
    auto& wanted = some.topics.emplace().emplace_back();
    wanted.topic = "b";
    wanted.partitions = {PartitionIndex(1), PartitionIndex(7)};
    for (std::int16_t version = 1; version <= 5; ++version) {
      const auto answer = node.call<wire::DescribeLogDirsResponse>(c, some, version);
      QCOMPARE(answer.results[0].topics.size(), std::size_t{1});
      QCOMPARE(answer.results[0].topics[0].partitions.size(), std::size_t{1});
      QCOMPARE(answer.results[0].total_bytes >= 0, version >= 4);
    }
    QCOMPARE(move_to(node, c, "a", "/no/such"), ErrorCode::log_dir_not_found);
    QCOMPARE(move_to(node, c, "nobody", all.results[0].log_dir), ErrorCode::replica_not_available);
    QCOMPARE(move_to(node, c, "a", all.results[0].log_dir), ErrorCode::none);  // it is there
  }

  // KIP-858: with several directories the controller is told where each replica lies, and what is gone with a directory that fails.
  void the_controller_knows_the_directories() {
    TwoDirectories two;
    env::FaultDisk& disk = two.disk;
    TestNode& node = two.node;
    const ConnectionId c = two.c;
    node.create_topic("t", 4);
    node.advance(milliseconds(100));
    const std::int64_t now = node.now.wall.ms;
    const auto partition = [&](std::int32_t index) {
      return node.core->insides().image->find_topic("t")->partitions.at(static_cast<std::size_t>(index));
    };
    std::map<Uuid, std::vector<std::int32_t>> by_directory;
    for (std::int32_t i = 0; i < 4; ++i) {
      by_directory[partition(i).directories.at(0)].push_back(i);
      QCOMPARE(node.produce(c, "t", i, batch_at({now, now})).error_code, ErrorCode::none);
    }
    QCOMPARE(by_directory.size(), std::size_t{2});
    QVERIFY(!by_directory.contains(Uuid{}));
    std::vector<std::int32_t> second;
    const auto all = log_dirs(node, c);
    for (const auto& topic : all.results.at(1).topics) {
      for (const auto& one : topic.partitions) {
        second.push_back(one.partition_index.value());
      }
    }
    std::sort(second.begin(), second.end());
    QVERIFY(std::any_of(by_directory.begin(), by_directory.end(), [&](const auto& each) { return each.second == second; }));

    disk.fail_after(0);
    QCOMPARE(node.produce(c, "t", second.front(), batch_at({now, now})).error_code, ErrorCode::kafka_storage_error);
    disk.stop_failing();
    node.advance(milliseconds(100));
    for (std::int32_t i = 0; i < 4; ++i) {
      const bool gone = std::find(second.begin(), second.end(), i) != second.end();
      QCOMPARE(partition(i).leader, gone ? kNoBroker : BrokerId(1));
    }
    QCOMPARE(node.core->insides().image->find_broker(BrokerId(1))->log_directories.size(), std::size_t{1});
    QVERIFY(node.core->failure().empty());
    // With the disk mended and another life they lead again, and have what was acknowledged.
    QVERIFY(node.restart());
    node.advance(milliseconds(100));
    const ConnectionId again = node.connect();
    for (std::int32_t i = 0; i < 4; ++i) {
      QCOMPARE(partition(i).leader, BrokerId(1));
      QCOMPARE(node.fetch(again, "t", i, 0).high_watermark, 2);
    }
  }

  void without_its_metadata_log_a_node_gives_up() {
    TwoDirectories two;
    env::FaultDisk& disk = two.disk;
    TestNode& node = two.node;
    const ConnectionId c = two.c;
    node.create_topic("t", 2);
    const auto dirs = log_dirs(node, c);
    const std::int32_t first = dirs.results.at(0).topics.at(0).partitions.at(0).partition_index.value();
    const std::int64_t now = node.now.wall.ms;
    disk.fail_after(0);
    node.send(c, TestNode::produce_request("t", first, batch_at({now, now})), 9);
    disk.stop_failing();
    QVERIFY2(node.core->failure().find("metadata log") != std::string::npos, node.core->failure().c_str());
    QVERIFY(!node.core->ready());
  }

  void a_replica_moves_between_directories_under_its_clients() {
    TwoDirectories two;
    TestNode& node = two.node;
    const ConnectionId c = two.c;
    node.create_topic("t");
    const std::int64_t now = node.now.wall.ms;
    for (int i = 0; i < 5; ++i) {
      QCOMPARE(node.produce(c, "t", 0, batch_at({now, now}, 5, 2 * i)).error_code, ErrorCode::none);
    }
    const auto place = [&] {
      std::string where;
      const auto all = log_dirs(node, c);
      for (const auto& result : all.results) {
        where += result.topics.empty() ? "" : result.log_dir;
      }
      return where;
    };
    QCOMPARE(place(), std::string("data/node-1"));
    QCOMPARE(move_to(node, c, "t", "data/second"), ErrorCode::none);
    node.advance(milliseconds(1));
    QCOMPARE(place(), std::string("data/second"));
    QCOMPARE(node.fetch(c, "t", 0, 3).high_watermark, 10);
    QCOMPARE(node.produce(c, "t", 0, batch_at({now, now}, 5, 8)).base_offset, Offset(8));   // still a duplicate
    QCOMPARE(node.produce(c, "t", 0, batch_at({now, now}, 5, 10)).base_offset, Offset(10));
    QCOMPARE(list_offsets(node, c, "t", -1).offset, Offset(12));
    QVERIFY(node.restart());
    const ConnectionId again = node.connect();
    QCOMPARE(list_offsets(node, again, "t", -1).offset, Offset(12));
    QCOMPARE(log_dirs(node, again).results[1].topics.size(), std::size_t{1});
  }
};

QTEST_APPLESS_MAIN(TstDataPlane)
#include "tst_data_plane.moc"
