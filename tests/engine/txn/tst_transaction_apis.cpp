// SPDX-License-Identifier: Apache-2.0
// Transactions on a whole node by encoded frames: what producers, consumers and administrators see, what a restart keeps.
#include <map>
#include <string>
#include <vector>

#include <QtTest>

#include "engine/env/memory_disk.h"
#include "engine/wire/msg/add_offsets_to_txn.h"
#include "engine/wire/msg/add_partitions_to_txn.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/delete_groups.h"
#include "engine/wire/msg/describe_producers.h"
#include "engine/wire/msg/describe_transactions.h"
#include "engine/wire/msg/end_txn.h"
#include "engine/wire/msg/find_coordinator.h"
#include "engine/wire/msg/init_producer_id.h"
#include "engine/wire/msg/list_groups.h"
#include "engine/wire/msg/offset_commit.h"
#include "engine/wire/msg/offset_delete.h"
#include "engine/wire/msg/offset_fetch.h"
#include "engine/wire/msg/txn_offset_commit.h"
#include "engine/wire/msg/write_txn_markers.h"
#include "tests/engine/api/node_fixture.h"

using namespace hw;
using namespace hw::test;
using wire::ErrorCode;

namespace {

constexpr std::uint64_t kDiskBytes = 256U << 20U;

struct Producer {
  std::string id;
  ProducerId producer_id = kNoProducerId;
  ProducerEpoch epoch = kNoProducerEpoch;
};

struct Setup {
  env::MemoryDisk disk{kDiskBytes};
  TestNode node;
  ConnectionId c{0};

  explicit Setup(std::map<std::string, std::string> configs = {}) : node(disk, std::move(configs)) {
    begin();
    node.create_topic("t", 2);
    for (const std::int8_t type : {std::int8_t{0}, std::int8_t{1}}) {
      wire::FindCoordinatorRequest find;
      find.key_type = type;
      find.coordinator_keys = {"x"};
      static_cast<void>(node.call<wire::FindCoordinatorResponse>(c, find, 6));  // makes the topic
      const auto found = node.call<wire::FindCoordinatorResponse>(c, find, 6).coordinators.front();
      HW_ASSERT(found.error_code == ErrorCode::none && found.node_id == BrokerId(1), "the coordinator is here");
    }
  }

  void begin() {
    const Result<void> started = node.start();
    HW_ASSERT(started.has_value(), "the node starts");
    c = node.connect();
  }

  Producer init(const std::string& id, std::int32_t timeout_ms = 60'000) {
    wire::InitProducerIdRequest request;
    request.transactional_id = id;
    request.transaction_timeout_ms = timeout_ms;
    const auto response = node.call<wire::InitProducerIdResponse>(c, request, 5);
    HW_ASSERT(response.error_code == ErrorCode::none, "the id is given");
    return {id, response.producer_id, response.producer_epoch};
  }

  Bytes batch(const Producer& producer, std::int32_t sequence, bool transactional = true) const {
    wire::BatchOptions options;
    options.producer_id = producer.producer_id;
    options.producer_epoch = producer.epoch;
    options.base_sequence = sequence;
    options.transactional = transactional;
    return node.batch({{"k", "v"}}, options);
  }

  ErrorCode produce(const Producer& producer, std::int32_t sequence, std::int16_t version = 12, std::int32_t partition = 0, bool names_id = true,
                    bool transactional = true) {
    wire::ProduceRequest request = TestNode::produce_request("t", partition, batch(producer, sequence, transactional));
    if (names_id) {
      request.transactional_id = producer.id;
    }
    node.send(c, request, version);
    for (int i = 0; i < 20 && !node.answered(c); ++i) {
      node.advance(milliseconds(20));
    }
    return node.receive<wire::ProduceResponse>(c, version).responses.at(0).partition_responses.at(0).error_code;
  }

  wire::EndTxnResponse end(const Producer& producer, bool commit, std::int16_t version = 5) {
    wire::EndTxnRequest request;
    request.transactional_id = producer.id;
    request.producer_id = producer.producer_id;
    request.producer_epoch = producer.epoch;
    request.committed = commit;
    return node.call<wire::EndTxnResponse>(c, request, version);
  }

  Producer ended(const Producer& producer, bool commit) {
    const auto response = end(producer, commit);
    HW_ASSERT(response.error_code == ErrorCode::none, "it ends");
    return {producer.id, response.producer_id, response.producer_epoch};
  }

  ErrorCode add(const Producer& producer, std::int32_t partition, std::int16_t version = 3) {
    wire::AddPartitionsToTxnRequest request;
    request.v3_and_below_transactional_id = producer.id;
    request.v3_and_below_producer_id = producer.producer_id;
    request.v3_and_below_producer_epoch = producer.epoch.value();
    auto& topic = request.v3_and_below_topics.emplace_back();
    topic.name = "t";
    topic.partitions = {PartitionIndex(partition)};
    const auto response = node.call<wire::AddPartitionsToTxnResponse>(c, request, version);
    return response.results_by_topic_v3_and_below.at(0).results_by_partition.at(0).partition_error_code;
  }

  wire::FetchResponse::PartitionData fetch(std::int8_t isolation, std::int32_t partition = 0) {
    wire::FetchRequest request = TestNode::fetch_request("t", {{partition, 0, 1 << 20}});
    request.isolation_level = isolation;
    return node.call<wire::FetchResponse>(c, request, 12).responses.at(0).partitions.at(0);
  }

  std::string state(const std::string& id) {
    wire::DescribeTransactionsRequest request;
    request.transactional_ids = {id};
    return node.call<wire::DescribeTransactionsResponse>(c, request, 0).transaction_states.at(0).transaction_state;
  }

  ErrorCode commit_offset(const Producer& producer, std::int64_t offset, std::int16_t version = 5, std::int32_t generation = -1,
                          const std::string& member = {}) {
    wire::TxnOffsetCommitRequest request;
    request.transactional_id = producer.id;
    request.group_id = "g";
    request.producer_id = producer.producer_id;
    request.producer_epoch = producer.epoch;
    request.generation_id_or_member_epoch = generation;
    request.member_id = member;
    auto& topic = request.topics.emplace_back();
    topic.name = "t";
    auto& partition = topic.partitions.emplace_back();
    partition.partition_index = PartitionIndex(0);
    partition.committed_offset = Offset(offset);
    const auto response = node.call<wire::TxnOffsetCommitResponse>(c, request, version);
    return response.topics.at(0).partitions.at(0).error_code;
  }

  // What a consumer of the group reads; -1: nothing.
  std::pair<ErrorCode, std::int64_t> offset(bool stable) {
    wire::OffsetFetchRequest request;
    request.require_stable = stable;
    auto& group = request.groups.emplace_back();
    group.group_id = "g";
    group.topics.emplace();
    auto& topic = group.topics->emplace_back();
    topic.name = "t";
    topic.partition_indexes = {PartitionIndex(0)};
    const auto partition = node.call<wire::OffsetFetchResponse>(c, request, 9).groups.at(0).topics.at(0).partitions.at(0);
    return {partition.error_code, partition.committed_offset.value()};
  }

  void commit_plainly(std::int64_t offset) {
    wire::OffsetCommitRequest request;
    request.group_id = "g";
    auto& topic = request.topics.emplace_back();
    topic.name = "t";
    auto& partition = topic.partitions.emplace_back();
    partition.partition_index = PartitionIndex(0);
    partition.committed_offset = Offset(offset);
    const auto response = node.call<wire::OffsetCommitResponse>(c, request, 9);
    HW_ASSERT(response.topics.at(0).partitions.at(0).error_code == ErrorCode::none, "it is committed");
  }
};

using Told = std::pair<ErrorCode, std::int64_t>;

}  // namespace

class TestTransactionApis : public QObject {
  Q_OBJECT

 private slots:

  void what_is_committed_is_read_and_what_is_aborted_is_not() {
    Setup s;
    Producer p = s.init("x");
    QCOMPARE(s.produce(p, 0), ErrorCode::none);
    QCOMPARE(s.state("x"), std::string("Ongoing"));
    QCOMPARE(s.fetch(1).last_stable_offset, Offset(0));
    QCOMPARE(s.fetch(1).high_watermark, std::int64_t{1});
    p = s.ended(p, true);
    QCOMPARE(s.state("x"), std::string("CompleteCommit"));
    QCOMPARE(s.fetch(1).last_stable_offset, Offset(2));  // the marker has an offset
    QVERIFY(s.fetch(1).aborted_transactions->empty());
    QCOMPARE(s.produce(p, 0), ErrorCode::none);
    p = s.ended(p, false);
    const auto read = s.fetch(1);
    QCOMPARE(read.last_stable_offset, Offset(4));
    QCOMPARE(read.aborted_transactions->size(), std::size_t{1});
    QCOMPARE(read.aborted_transactions->at(0).first_offset, Offset(2));
    QVERIFY(!s.fetch(0).aborted_transactions.has_value());
  }

  void who_may_not_write() {
    Setup s;
    const Producer p = s.init("x");
    QCOMPARE(s.produce(p, 3), ErrorCode::out_of_order_sequence_number);  // a transaction begins with 0
    QCOMPARE(s.produce(p, 0), ErrorCode::none);
    QCOMPARE(s.produce(p, 1, 12, 0, true, false), ErrorCode::invalid_txn_state);
    QCOMPARE(s.produce(p, 1, 12, 0, false), ErrorCode::transactional_id_authorization_failed);
    QCOMPARE(s.produce({"nobody", p.producer_id, p.epoch}, 0, 12, 1), ErrorCode::invalid_producer_id_mapping);
    const Producer next = s.ended(p, true);
    QCOMPARE(s.produce(p, 1), ErrorCode::invalid_producer_epoch);
    QCOMPARE(s.produce(next, 4), ErrorCode::out_of_order_sequence_number);
    QCOMPARE(s.produce(next, 0), ErrorCode::none);
  }

  // Who of old does not add its partitions leaves nothing behind that nobody ends.
  void partitions_must_be_added_by_clients_of_old() {
    Setup s;
    const Producer p = s.init("x");
    QCOMPARE(s.produce(p, 0, 10), ErrorCode::invalid_txn_state);
    QCOMPARE(s.produce(p, 0, 11), ErrorCode::transaction_abortable);
    QCOMPARE(s.add(p, 7), ErrorCode::unknown_topic_or_partition);
    QCOMPARE(s.add(p, 0), ErrorCode::none);
    QCOMPARE(s.produce(p, 0, 11), ErrorCode::none);
    QCOMPARE(s.produce(p, 1, 11), ErrorCode::none);
    QCOMPARE(s.end(p, true, 4).error_code, ErrorCode::none);
    QCOMPARE(s.end(p, true, 4).error_code, ErrorCode::none);
    QCOMPARE(s.fetch(1).last_stable_offset, Offset(3));
    QCOMPARE(s.produce(p, 2, 11), ErrorCode::transaction_abortable);
    QCOMPARE(s.add({p.id, p.producer_id, ProducerEpoch(9)}, 0, 3), ErrorCode::producer_fenced);
    QCOMPARE(s.add({p.id, p.producer_id, ProducerEpoch(9)}, 0, 1), ErrorCode::invalid_producer_epoch);
  }

  void verification_may_be_switched_off() {
    Setup s(std::map<std::string, std::string>{{"transaction.partition.verification.enable", "false"}});
    const Producer p = s.init("x");
    QCOMPARE(s.produce(p, 0, 11), ErrorCode::none);
    QCOMPARE(s.state("x"), std::string("Empty"));
  }

  void a_producer_that_comes_back_fences_the_one_before() {
    Setup s;
    const Producer before = s.init("x");
    QCOMPARE(s.produce(before, 0), ErrorCode::none);
    wire::InitProducerIdRequest request;
    request.transactional_id = "x";
    request.transaction_timeout_ms = 60'000;
    QCOMPARE(s.node.call<wire::InitProducerIdResponse>(s.c, request, 5).error_code, ErrorCode::concurrent_transactions);
    const Producer now = s.init("x");
    QCOMPARE(now.producer_id, before.producer_id);
    QCOMPARE(now.epoch, ProducerEpoch(2));
    QCOMPARE(s.fetch(1).aborted_transactions->size(), std::size_t{1});
    QCOMPARE(s.end(before, true).error_code, ErrorCode::producer_fenced);
    QCOMPARE(s.end(before, true, 1).error_code, ErrorCode::invalid_producer_epoch);
    QCOMPARE(s.produce(before, 1), ErrorCode::invalid_producer_epoch);
  }

  void what_takes_too_long_is_aborted() {
    Setup s;
    const Producer p = s.init("x", 1000);
    QCOMPARE(s.produce(p, 0), ErrorCode::none);
    s.node.advance(seconds(12));
    QCOMPARE(s.state("x"), std::string("CompleteAbort"));
    QCOMPARE(s.fetch(1).last_stable_offset, Offset(2));
    QCOMPARE(s.end(p, true).error_code, ErrorCode::invalid_txn_state);
    QCOMPARE(s.produce(p, 1), ErrorCode::invalid_producer_epoch);
  }

  void offsets_count_with_the_transaction() {
    Setup s;
    Producer p = s.init("x");
    s.commit_plainly(5);
    QCOMPARE(s.commit_offset(p, 42), ErrorCode::none);
    QCOMPARE(s.offset(false), Told(ErrorCode::none, 5));
    QCOMPARE(s.offset(true), Told(ErrorCode::unstable_offset_commit, -1));
    p = s.ended(p, true);
    QCOMPARE(s.offset(true), Told(ErrorCode::none, 42));
    QCOMPARE(s.commit_offset(p, 43), ErrorCode::none);
    p = s.ended(p, false);
    QCOMPARE(s.offset(true), Told(ErrorCode::none, 42));
    // What is committed beside it, and later, stays.
    QCOMPARE(s.commit_offset(p, 44), ErrorCode::none);
    s.commit_plainly(7);
    p = s.ended(p, true);
    QCOMPARE(s.offset(true), Told(ErrorCode::none, 7));
  }

  void offsets_of_an_open_transaction_outlive_a_restart() {
    Setup s;
    Producer p = s.init("x");
    QCOMPARE(s.commit_offset(p, 42), ErrorCode::none);
    QCOMPARE(s.produce(p, 0), ErrorCode::none);
    QVERIFY(s.node.stop().has_value());
    s.begin();
    QCOMPARE(s.offset(true), Told(ErrorCode::unstable_offset_commit, -1));
    QCOMPARE(s.state("x"), std::string("Ongoing"));
    QCOMPARE(s.produce(p, 1), ErrorCode::none);
    p = s.ended(p, true);
    QCOMPARE(s.offset(true), Told(ErrorCode::none, 42));
    QVERIFY(s.node.stop().has_value());
    s.begin();
    QCOMPARE(s.offset(true), Told(ErrorCode::none, 42));
    QCOMPARE(s.state("x"), std::string("CompleteCommit"));
    QCOMPARE(s.fetch(1).last_stable_offset, Offset(3));
  }

  void who_commits_offsets_is_looked_at() {
    Setup s;
    const Producer p = s.init("x");
    QCOMPARE(s.commit_offset(p, 1, 5, 3), ErrorCode::illegal_generation);  // nobody knows the group
    QCOMPARE(s.commit_offset(p, 1), ErrorCode::none);                      // makes it
    QCOMPARE(s.commit_offset(p, 1, 5, 3, "somebody"), ErrorCode::unknown_member_id);
    QCOMPARE(s.commit_offset({"x", p.producer_id, ProducerEpoch(9)}, 1),
             ErrorCode::none == s.end(p, true).error_code ? ErrorCode::invalid_producer_epoch : ErrorCode::none);
  }

  void partitions_of_offsets_must_be_added_by_clients_of_old() {
    Setup s;
    const Producer p = s.init("x");
    QCOMPARE(s.commit_offset(p, 1, 3), ErrorCode::invalid_txn_state);
    QCOMPARE(s.commit_offset(p, 1, 4), ErrorCode::transaction_abortable);
    wire::AddOffsetsToTxnRequest request;
    request.transactional_id = "x";
    request.producer_id = p.producer_id;
    request.producer_epoch = p.epoch;
    request.group_id = "g";
    QCOMPARE(s.node.call<wire::AddOffsetsToTxnResponse>(s.c, request, 3).error_code, ErrorCode::none);
    QCOMPARE(s.commit_offset(p, 1, 3), ErrorCode::none);
    QCOMPARE(s.end(p, true, 4).error_code, ErrorCode::none);
    QCOMPARE(s.offset(true), Told(ErrorCode::none, 1));
  }

  void deleting_takes_offsets_of_open_transactions_along() {
    Setup s;
    Producer p = s.init("x");
    QCOMPARE(s.commit_offset(p, 42), ErrorCode::none);
    wire::DeleteGroupsRequest request;
    request.groups_names = {"g"};
    QCOMPARE(s.node.call<wire::DeleteGroupsResponse>(s.c, request, 2).results.at(0).error_code, ErrorCode::none);
    p = s.ended(p, true);
    QCOMPARE(s.offset(true), Told(ErrorCode::none, -1));
  }

  void an_administrator_ends_a_transaction_that_hangs() {
    Setup s(std::map<std::string, std::string>{{"transaction.partition.verification.enable", "false"}});
    const Producer p = s.init("x");
    QCOMPARE(s.produce(p, 0, 11), ErrorCode::none);  // the coordinator knows nothing of it
    wire::DescribeProducersRequest describe;
    auto& topic = describe.topics.emplace_back();
    topic.name = "t";
    topic.partition_indexes = {PartitionIndex(0)};
    const auto producers = [&] {
      return s.node.call<wire::DescribeProducersResponse>(s.c, describe, 0).topics.at(0).partitions.at(0).active_producers;
    };
    QCOMPARE(producers().at(0).current_txn_start_offset, Offset(0));
    wire::WriteTxnMarkersRequest request;
    auto& marker = request.markers.emplace_back();
    marker.producer_id = p.producer_id;
    marker.producer_epoch = p.epoch;
    marker.coordinator_epoch = producers().at(0).coordinator_epoch;
    marker.transaction_result = false;
    auto& of_topic = marker.topics.emplace_back();
    of_topic.name = "t";
    of_topic.partition_indexes = {PartitionIndex(0), PartitionIndex(9)};
    const auto response = s.node.call<wire::WriteTxnMarkersResponse>(s.c, request, 1);
    const auto& written = response.markers.at(0).topics.at(0).partitions;
    QCOMPARE(written.at(0).error_code, ErrorCode::none);
    QCOMPARE(written.at(1).error_code, ErrorCode::unknown_topic_or_partition);
    QCOMPARE(producers().at(0).current_txn_start_offset, kNoOffset);
    QCOMPARE(s.fetch(1).last_stable_offset, Offset(2));
  }

  void markers_of_rising_epochs_lie_above_the_data() {
    Setup s;
    const Producer p = s.init("x");
    QCOMPARE(s.produce(p, 0), ErrorCode::none);
    const auto mark = [&](int epoch, int coordinator, std::int8_t version) {
      wire::WriteTxnMarkersRequest request;
      auto& marker = request.markers.emplace_back();
      marker.producer_id = p.producer_id;
      marker.producer_epoch = ProducerEpoch(static_cast<std::int16_t>(epoch));
      marker.coordinator_epoch = coordinator;
      marker.transaction_version = version;
      auto& topic = marker.topics.emplace_back();
      topic.name = "t";
      topic.partition_indexes = {PartitionIndex(0)};
      return s.node.call<wire::WriteTxnMarkersResponse>(s.c, request, 2).markers.at(0).topics.at(0).partitions.at(0).error_code;
    };
    QCOMPARE(mark(0, 5, 2), ErrorCode::invalid_producer_epoch);  // the epoch of the data
    QCOMPARE(mark(1, 5, 2), ErrorCode::none);
    QCOMPARE(mark(1, 5, 2), ErrorCode::none);  // its repeat
    QCOMPARE(mark(1, 4, 2), ErrorCode::transaction_coordinator_fenced);
    QCOMPARE(mark(0, 5, 0), ErrorCode::invalid_producer_epoch);
  }

  void brokers_ask_for_several_transactions_at_once() {
    Setup s;
    const Producer p = s.init("x");
    wire::AddPartitionsToTxnRequest request;
    for (const bool verify_only : {false, true}) {
      auto& transaction = request.transactions.emplace_back();
      transaction.transactional_id = verify_only ? "nobody" : "x";
      transaction.producer_id = p.producer_id;
      transaction.producer_epoch = p.epoch;
      transaction.verify_only = verify_only;
      auto& topic = transaction.topics.emplace_back();
      topic.name = "t";
      topic.partitions = {PartitionIndex(0), PartitionIndex(1)};
    }
    const auto response = s.node.call<wire::AddPartitionsToTxnResponse>(s.c, request, 5);
    QCOMPARE(response.results_by_transaction.size(), std::size_t{2});
    for (const auto& one : response.results_by_transaction) {
      const ErrorCode wanted = one.transactional_id == "x" ? ErrorCode::none : ErrorCode::invalid_producer_id_mapping;
      QCOMPARE(one.topic_results.at(0).results_by_partition.at(0).partition_error_code, wanted);
      QCOMPARE(one.topic_results.at(0).results_by_partition.at(1).partition_error_code, wanted);
    }
  }

  void the_level_is_told() {
    Setup s;
    wire::ApiVersionsRequest request;
    request.client_software_name = "test";
    request.client_software_version = "1";
    const auto response = s.node.call<wire::ApiVersionsResponse>(s.c, request, 4);
    bool told = false;
    for (const auto& feature : response.finalized_features) {
      told = told || (feature.name == "transaction.version" && feature.max_version_level == 2);
    }
    QVERIFY(told);
  }
};

QTEST_APPLESS_MAIN(TestTransactionApis)
#include "tst_transaction_apis.moc"
