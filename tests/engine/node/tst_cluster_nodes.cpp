// SPDX-License-Identifier: Apache-2.0
// Three nodes with real sockets: they elect a controller, replicate, lose one and take it back.
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "engine/node/cluster.h"
#include "engine/wire/msg/create_topics.h"
#include "engine/wire/msg/fetch.h"
#include "engine/wire/msg/init_producer_id.h"
#include "engine/wire/msg/metadata.h"
#include "engine/wire/msg/produce.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/record/batch_builder.h"
#include "tests/engine/node/blocking_client.h"

using namespace hw;  // NOLINT(google-build-using-namespace): a test
using test::BlockingClient;
using wire::ErrorCode;

namespace {

constexpr std::int64_t kPatienceMs = 30'000;

struct Three {
  explicit Three(const std::string& directory = {}) {
    node::ClusterOptions options;
    options.nodes = 3;
    options.memory = directory.empty();
    options.directory = directory;
    options.listen.port = 0;
    options.seed = 7;
    options.configs = {{"broker.session.timeout.ms", "1000"},  {"broker.heartbeat.interval.ms", "200"},
                       {"replica.lag.time.max.ms", "1500"},    {"controller.quorum.fetch.timeout.ms", "500"},
                       {"controller.quorum.election.timeout.ms", "300"}};
    cluster = std::make_unique<node::Cluster>(options);
    if (const Result<void> started = cluster->start(); !started) {
      qWarning("%s", started.error().detail.c_str());
      cluster.reset();
    }
  }

  [[nodiscard]] std::uint16_t port_of(BrokerId id) const {
    const std::vector<BrokerId> ids = cluster->node_ids();
    return cluster->node(static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin())).port();
  }

  struct Partition {
    BrokerId leader = kNoBroker;
    std::int32_t epoch = -1;
    std::set<BrokerId> isr;
    std::size_t brokers = 0;
  };
  // As node `asked` sees partition 0 of a topic; nothing while it does not answer.
  [[nodiscard]] std::optional<Partition> look(BrokerId asked, const std::string& topic) const {
    try {
      BlockingClient client(port_of(asked));
      wire::MetadataRequest request;
      request.topics.emplace();
      request.topics->emplace_back().name = topic;
      const auto response = client.ask<wire::MetadataResponse>(request, 12);
      if (response.topics.size() != 1 || response.topics[0].partitions.empty()) {
        return std::nullopt;
      }
      const auto& partition = response.topics[0].partitions[0];
      Partition seen;
      seen.leader = partition.leader_id;
      seen.epoch = partition.leader_epoch.value();
      seen.isr.insert(partition.isr_nodes.begin(), partition.isr_nodes.end());
      seen.brokers = response.brokers.size();
      return seen;
    } catch (const std::runtime_error&) {
      return std::nullopt;
    }
  }
  template <class Condition>
  std::optional<Partition> until(BrokerId asked, const std::string& topic, Condition condition) const {
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < kPatienceMs) {
      if (const std::optional<Partition> seen = look(asked, topic); seen && condition(*seen)) {
        return seen;
      }
      std::this_thread::yield();
    }
    return std::nullopt;
  }

  ErrorCode create(BrokerId asked, const std::string& name) const {
    BlockingClient client(port_of(asked));
    wire::CreateTopicsRequest request;
    request.timeout_ms = 10'000;
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    topic.num_partitions = 1;
    topic.replication_factor = 3;
    wire::CreateTopicsRequest::CreatableTopicConfig config;
    config.name = "min.insync.replicas";
    config.value = "2";
    topic.configs.push_back(config);
    return client.ask<wire::CreateTopicsResponse>(request, 7).topics.at(0).error_code;
  }

  struct Produced {
    ErrorCode error = ErrorCode::none;
    std::int64_t offset = -1;
  };
  Produced produce(BrokerId at, const std::string& topic, const std::string& value, std::int16_t acks = -1) const {
    BlockingClient client(port_of(at));
    return produce(client, topic, value, acks);
  }
  static Produced produce(BlockingClient& client, const std::string& topic, const std::string& value, std::int16_t acks = -1) {
    wire::BatchBuilder builder;
    builder.append(std::nullopt, value, 1'700'000'000'000);
    wire::ProduceRequest request;
    request.acks = acks;
    request.timeout_ms = 10'000;
    wire::ProduceRequest::PartitionProduceData data;
    data.records = BytesChain(builder.finish());
    auto& entry = request.topic_data.emplace_back();
    entry.name = topic;
    entry.partition_data.push_back(std::move(data));
    const auto response = client.ask<wire::ProduceResponse>(request, 9);
    const auto& answer = response.responses.at(0).partition_responses.at(0);
    return {answer.error_code, answer.base_offset.value()};
  }

  // How many records there are for consumers.
  std::int64_t readable(BrokerId at, const std::string& topic) const {
    BlockingClient client(port_of(at));
    wire::FetchRequest request;
    request.max_bytes = 50'000'000;
    auto& entry = request.topics.emplace_back();
    entry.topic = topic;
    auto& wanted = entry.partitions.emplace_back();
    wanted.partition_max_bytes = 50'000'000;
    const auto response = client.ask<wire::FetchResponse>(request, 12);
    const auto& partition = response.responses.at(0).partitions.at(0);
    if (partition.error_code != ErrorCode::none || !partition.records) {
      return partition.error_code == ErrorCode::none ? 0 : -1;
    }
    const Bytes bytes = partition.records->flatten();
    wire::BatchCursor cursor(bytes.span());
    wire::BatchView batch;
    std::int64_t count = 0;
    while (cursor.next(batch)) {
      count = batch.next_offset().value();  // every batch holds one record, from offset 0 on
    }
    return count;
  }

  std::unique_ptr<node::Cluster> cluster;
};

BrokerId another(BrokerId than) { return BrokerId(than.value() % 3 + 1); }

}  // namespace

class TestClusterNodes : public QObject {
  Q_OBJECT
 private slots:
  void aLeaderThatDiesIsReplacedAndNothingIsLost_data() {
    QTest::addColumn<bool>("memory");
    QTest::newRow("memory") << true;
    QTest::newRow("disk") << false;
  }
  void aLeaderThatDiesIsReplacedAndNothingIsLost() {
    QFETCH(bool, memory);
    const QTemporaryDir folder;
    Three three(memory ? std::string() : folder.path().toStdString());
    QVERIFY(three.cluster != nullptr);
    // Asked of every node: two of them pass it on to the controller.
    for (const BrokerId id : three.cluster->node_ids()) {
      QVERIFY(three.create(id, "t" + std::to_string(id.value())) == ErrorCode::none);
    }
    const auto before = three.until(BrokerId(1), "t1", [](const auto& seen) {
      return seen.brokers == 3 && seen.leader != kNoBroker && seen.isr.size() == 3;
    });
    QVERIFY(before.has_value());
    const BrokerId leader = before->leader;
    const BrokerId other = another(leader);
    for (int i = 0; i < 50; ++i) {
      const Three::Produced done = three.produce(leader, "t1", "before " + std::to_string(i));
      QVERIFY(done.error == ErrorCode::none);
      QCOMPARE(done.offset, std::int64_t{i});
    }
    QVERIFY(three.produce(other, "t1", "elsewhere").error == ErrorCode::not_leader_or_follower);

    QVERIFY(three.cluster->kill_node(leader));
    const auto moved = three.until(other, "t1", [&](const auto& seen) { return seen.leader != leader && seen.leader != kNoBroker; });
    QVERIFY(moved.has_value());
    QVERIFY(moved->epoch > before->epoch);
    QVERIFY(!moved->isr.contains(leader));
    QVERIFY(three.until(moved->leader, "t1", [&](const auto& seen) { return seen.leader == moved->leader; }).has_value());
    for (int i = 50; i < 60; ++i) {
      const Three::Produced done = three.produce(moved->leader, "t1", "after " + std::to_string(i));
      QVERIFY2(done.error == ErrorCode::none, wire::error_name(done.error).data());
      QCOMPARE(done.offset, std::int64_t{i});
    }
    QVERIFY(three.create(moved->leader, "later") == ErrorCode::none);

    QVERIFY(three.cluster->start_node(leader));
    QVERIFY(three.until(leader, "t1", [](const auto& seen) { return seen.isr.size() == 3; }).has_value());
    const auto now = three.until(leader, "later", [](const auto& seen) { return seen.leader != kNoBroker; });
    QVERIFY(now.has_value());
    QCOMPARE(three.readable(moved->leader, "t1"), std::int64_t{60});
    QVERIFY(three.cluster->stop());
  }

  void aPowerCutTakesWhatOneNodeDidNotFlush_data() { aLeaderThatDiesIsReplacedAndNothingIsLost_data(); }
  void aPowerCutTakesWhatOneNodeDidNotFlush() {
    QFETCH(bool, memory);
    const QTemporaryDir folder;
    Three three(memory ? std::string() : folder.path().toStdString());
    QVERIFY(three.cluster != nullptr);
    QVERIFY(three.create(BrokerId(1), "t") == ErrorCode::none);
    const auto all_in_sync = [](const auto& seen) { return seen.leader != kNoBroker && seen.isr.size() == 3; };
    const auto before = three.until(BrokerId(1), "t", all_in_sync);
    QVERIFY(before.has_value());
    QVERIFY(three.until(before->leader, "t", [&](const auto& seen) { return seen.leader == before->leader; }).has_value());
    for (int i = 0; i < 50; ++i) {
      QVERIFY(three.produce(before->leader, "t", "before " + std::to_string(i)).error == ErrorCode::none);
    }
    // The others have every acknowledged record, and the node that lost them fetches them again.
    const Result<env::PowerDisk::Loss> lost = three.cluster->cut_power(before->leader);
    QVERIFY(lost);
    QVERIFY2(lost->bytes > 50 * 70, "nobody flushes a record by itself");
    const BrokerId other = another(before->leader);
    const auto moved = three.until(other, "t", [&](const auto& seen) { return seen.leader != before->leader && seen.leader != kNoBroker; });
    QVERIFY(moved.has_value());
    QVERIFY(three.until(moved->leader, "t", [&](const auto& seen) { return seen.leader == moved->leader; }).has_value());
    QVERIFY(three.produce(moved->leader, "t", "after").error == ErrorCode::none);
    QVERIFY(three.cluster->start_node(before->leader));
    QVERIFY(three.until(before->leader, "t", all_in_sync).has_value());
    QCOMPARE(three.readable(moved->leader, "t"), std::int64_t{51});
    // It has all of them again: without the other two it leads, and serves them.
    QVERIFY(three.cluster->stop_node(moved->leader));
    const BrokerId third(6 - before->leader.value() - moved->leader.value());
    const auto led = three.until(third, "t", [&](const auto& seen) { return seen.leader != moved->leader && seen.leader != kNoBroker; });
    QVERIFY(led.has_value());
    QVERIFY(three.until(led->leader, "t", [&](const auto& seen) { return seen.leader == led->leader; }).has_value());
    QCOMPARE(three.readable(led->leader, "t"), std::int64_t{51});
  }

  // What every in-sync replica lost is lost, as with Kafka, which does not flush a record before it acknowledges it. The metadata,
  // which is flushed, is all there.
  void whenEveryMachineLosesPowerAtOnceRecordsAreLostAndTopicsAreNot() {
    const QTemporaryDir folder;
    Three three(folder.path().toStdString());
    QVERIFY(three.cluster != nullptr);
    QVERIFY(three.create(BrokerId(1), "t") == ErrorCode::none);
    const auto before = three.until(BrokerId(1), "t", [](const auto& seen) { return seen.leader != kNoBroker && seen.isr.size() == 3; });
    QVERIFY(before.has_value());
    QVERIFY(three.until(before->leader, "t", [&](const auto& seen) { return seen.leader == before->leader; }).has_value());
    for (int i = 0; i < 20; ++i) {
      QVERIFY(three.produce(before->leader, "t", std::to_string(i)).error == ErrorCode::none);
    }
    for (const BrokerId id : three.cluster->node_ids()) {
      QVERIFY(three.cluster->cut_power(id));
    }
    for (const BrokerId id : three.cluster->node_ids()) {
      const Result<void> started = three.cluster->start_node(id);
      QVERIFY2(started, started ? "" : started.error().detail.c_str());
    }
    const auto after = three.until(BrokerId(2), "t", [](const auto& seen) { return seen.leader != kNoBroker && seen.isr.size() == 3; });
    QVERIFY(after.has_value());
    QVERIFY(after->epoch > before->epoch);
    QVERIFY(three.until(after->leader, "t", [&](const auto& seen) { return seen.leader == after->leader; }).has_value());
    QCOMPARE(three.readable(after->leader, "t"), std::int64_t{0});
    const Three::Produced again = three.produce(after->leader, "t", "again");
    QVERIFY(again.error == ErrorCode::none);
    QCOMPARE(again.offset, std::int64_t{0});
  }

  // A node whose quorum is not there yet lets its clients wait; all of them, each with its own answer.
  void whatIsAskedBeforeTheLogsAreOpenIsAnsweredAfterwards() {
    Three three;
    QVERIFY(three.cluster != nullptr);
    for (const BrokerId id : three.cluster->node_ids()) {
      QVERIFY(three.cluster->kill_node(id));
    }
    QVERIFY(three.cluster->start_node(BrokerId(1)));
    constexpr int kClients = 4;
    std::atomic<int> asked{0};
    std::atomic<int> answered{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < kClients; ++i) {
      clients.emplace_back([&] {
        try {
          BlockingClient client(three.port_of(BrokerId(1)));
          wire::MetadataRequest request;
          request.topics.emplace();
          client.send(request, 12);
          ++asked;
          answered += client.receive<wire::MetadataResponse>(12).cluster_id.has_value() ? 1 : 0;
        } catch (const std::runtime_error&) {
          ++asked;
        }
      });
    }
    while (asked.load() < kClients) {
      std::this_thread::yield();
    }
    QCOMPARE(answered.load(), 0);
    QVERIFY(three.cluster->start_node(BrokerId(2)));
    for (std::thread& client : clients) {
      client.join();
    }
    QCOMPARE(answered.load(), kClients);
  }

  void aNodeThatStopsHandsOverAtOnce() {
    Three three;
    QVERIFY(three.cluster != nullptr);
    QVERIFY(three.create(BrokerId(2), "t") == ErrorCode::none);
    const auto before = three.until(BrokerId(2), "t", [](const auto& seen) { return seen.leader != kNoBroker && seen.isr.size() == 3; });
    QVERIFY(before.has_value());
    QVERIFY(three.produce(before->leader, "t", "a").error == ErrorCode::none);
    QElapsedTimer clock;
    clock.start();
    QVERIFY(three.cluster->stop_node(before->leader));
    const BrokerId other = another(before->leader);
    const auto moved = three.until(other, "t", [&](const auto& seen) { return seen.leader != before->leader && seen.leader != kNoBroker; });
    QVERIFY(moved.has_value());
    QVERIFY2(clock.elapsed() < 10'000, "it was not the silence of the node that moved the leader");
    QVERIFY(three.until(moved->leader, "t", [&](const auto& seen) { return seen.leader == moved->leader; }).has_value());
    QVERIFY(three.produce(moved->leader, "t", "b").error == ErrorCode::none);
    QVERIFY(three.cluster->start_node(before->leader));
    QVERIFY(three.until(before->leader, "t", [](const auto& seen) { return seen.isr.size() == 3; }).has_value());
    QCOMPARE(three.readable(moved->leader, "t"), std::int64_t{2});
  }

  // A client that only finds its connection closed may ask the broker that is gone until its own timer sends it elsewhere.
  void aNodeThatStopsTellsItsProducersThatItLeadsNoMore() {
    Three three;
    QVERIFY(three.cluster != nullptr);
    QVERIFY(three.create(BrokerId(1), "t") == ErrorCode::none);
    const auto before = three.until(BrokerId(1), "t", [](const auto& seen) { return seen.leader != kNoBroker && seen.isr.size() == 3; });
    QVERIFY(before.has_value());
    BlockingClient client(three.port_of(before->leader));
    QVERIFY(Three::produce(client, "t", "first").error == ErrorCode::none);
    std::thread stopping([&] { static_cast<void>(three.cluster->stop_node(before->leader)); });
    ErrorCode last = ErrorCode::none;
    std::int64_t acknowledged = 1;
    try {
      while (true) {
        last = Three::produce(client, "t", "more").error;
        acknowledged += last == ErrorCode::none ? 1 : 0;
      }
    } catch (const std::runtime_error&) {  // the connection is closed in the end
    }
    stopping.join();
    QVERIFY2(last == ErrorCode::not_leader_or_follower, wire::error_name(last).data());
    const BrokerId other = another(before->leader);
    const auto moved = three.until(other, "t", [&](const auto& seen) { return seen.leader != before->leader && seen.leader != kNoBroker; });
    QVERIFY(moved.has_value());
    QVERIFY(three.until(moved->leader, "t", [&](const auto& seen) { return seen.leader == moved->leader; }).has_value());
    QCOMPARE(three.readable(moved->leader, "t"), acknowledged);
  }

  void aNodeThatIsCutOffLeavesTheIsrAndComesBack() {
    Three three;
    QVERIFY(three.cluster != nullptr);
    QVERIFY(three.create(BrokerId(1), "t") == ErrorCode::none);
    const auto before = three.until(BrokerId(1), "t", [](const auto& seen) { return seen.leader != kNoBroker && seen.isr.size() == 3; });
    QVERIFY(before.has_value());
    const BrokerId away = another(before->leader);
    for (const BrokerId id : three.cluster->node_ids()) {
      if (id != away) {
        QVERIFY(three.cluster->set_link(away, id, {true, {}}, true));
      }
    }
    const BrokerId third = another(away) == before->leader ? another(before->leader) : another(away);
    const BrokerId witness = third == away ? before->leader : third;
    QVERIFY(three.until(witness, "t", [&](const auto& seen) { return !seen.isr.contains(away) && seen.isr.size() == 2; }).has_value());
    const auto led = three.until(witness, "t", [&](const auto& seen) { return seen.leader != kNoBroker; });
    QVERIFY(led.has_value());
    QVERIFY(three.produce(led->leader, "t", "while away").error == ErrorCode::none);
    three.cluster->heal();
    QVERIFY(three.until(witness, "t", [](const auto& seen) { return seen.isr.size() == 3; }).has_value());
  }

  void aPausedNodeIsMissedAndFencedWhenItWakes() {
    Three three;
    QVERIFY(three.cluster != nullptr);
    QVERIFY(three.create(BrokerId(1), "t") == ErrorCode::none);
    const auto before = three.until(BrokerId(1), "t", [](const auto& seen) { return seen.leader != kNoBroker && seen.isr.size() == 3; });
    QVERIFY(before.has_value());
    const BrokerId zombie = before->leader;
    QVERIFY(three.cluster->pause_node(zombie));
    const BrokerId other = another(zombie);
    const auto moved = three.until(other, "t", [&](const auto& seen) { return seen.leader != zombie && seen.leader != kNoBroker; });
    QVERIFY(moved.has_value());
    QVERIFY(three.cluster->resume_node(zombie));
    // It hears that it leads no more; whatever it was asked meanwhile it may not acknowledge.
    QVERIFY(three.until(zombie, "t", [&](const auto& seen) { return seen.leader == moved->leader && seen.isr.size() == 3; }).has_value());
    QVERIFY(three.produce(zombie, "t", "late").error == ErrorCode::not_leader_or_follower);
  }

  void everyNodeGivesOutProducerIdsOfItsOwn() {
    Three three;
    QVERIFY(three.cluster != nullptr);
    std::set<std::int64_t> ids;
    for (int round = 0; round < 3; ++round) {
      for (const BrokerId id : three.cluster->node_ids()) {
        BlockingClient client(three.port_of(id));
        wire::InitProducerIdRequest request;
        request.transactional_id.reset();
        const auto response = client.ask<wire::InitProducerIdResponse>(request, 4);
        QVERIFY2(response.error_code == ErrorCode::none, wire::error_name(response.error_code).data());
        QVERIFY(ids.insert(response.producer_id.value()).second);
      }
    }
  }
};

QTEST_APPLESS_MAIN(TestClusterNodes)
#include "tst_cluster_nodes.moc"
