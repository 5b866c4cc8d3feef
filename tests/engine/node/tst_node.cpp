// SPDX-License-Identifier: Apache-2.0
// A node with real sockets on ports that the kernel chose.
#include <QDir>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>
#include <memory>

#include "engine/node/cluster.h"
#include "engine/node/port_holder.h"
#include "engine/wire/msg/alter_client_quotas.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/create_topics.h"
#include "engine/wire/msg/fetch.h"
#include "engine/wire/msg/metadata.h"
#include "engine/wire/msg/produce.h"
#include "engine/wire/record/batch_builder.h"
#include "tests/engine/node/blocking_client.h"

using namespace hw;  // NOLINT(google-build-using-namespace): a test
using test::BlockingClient;

namespace {

std::unique_ptr<node::Cluster> start(node::ClusterOptions options = {}) {
  options.listen.port = 0;
  auto cluster = std::make_unique<node::Cluster>(std::move(options));
  const Result<void> started = cluster->start();
  return started ? std::move(cluster) : nullptr;
}

void create_topic(BlockingClient& client, const std::string& name) {
  wire::CreateTopicsRequest request;
  request.timeout_ms = 10'000;
  wire::CreateTopicsRequest::CreatableTopic topic;
  topic.name = name;
  topic.num_partitions = 1;
  topic.replication_factor = 1;
  request.topics.push_back(topic);
  const auto response = client.ask<wire::CreateTopicsResponse>(request, 7);
  QCOMPARE(response.topics.at(0).error_code, wire::ErrorCode::none);
}

Bytes one_batch(std::size_t value_bytes) {
  wire::BatchBuilder builder;
  const std::string value(value_bytes, 'v');
  builder.append(std::nullopt, value, 1'700'000'000'000);
  return builder.finish();
}

std::int64_t produce(BlockingClient& client, const std::string& topic, const Bytes& batch) {
  wire::ProduceRequest request;
  request.acks = -1;
  request.timeout_ms = 10'000;
  wire::ProduceRequest::PartitionProduceData data;
  data.records = BytesChain(batch);
  wire::ProduceRequest::TopicProduceData entry;
  entry.name = topic;
  entry.partition_data.push_back(std::move(data));
  request.topic_data.push_back(std::move(entry));
  const auto response = client.ask<wire::ProduceResponse>(request, 9);
  const auto& answer = response.responses.at(0).partition_responses.at(0);
  return answer.error_code == wire::ErrorCode::none ? answer.base_offset.value() : -1;
}

wire::FetchRequest fetch_request(const std::string& topic, std::int64_t offset) {
  wire::FetchRequest request;
  request.max_wait_ms = 0;
  request.min_bytes = 1;
  request.max_bytes = 50'000'000;
  wire::FetchRequest::FetchPartition partition;
  partition.fetch_offset = Offset(offset);
  partition.partition_max_bytes = 50'000'000;
  wire::FetchRequest::FetchTopic entry;
  entry.topic = topic;
  entry.partitions.push_back(partition);
  request.topics.push_back(entry);
  return request;
}

}  // namespace

class TestNode : public QObject {
  Q_OBJECT
 private slots:
  void producesAndFetchesOverSockets_data() {
    QTest::addColumn<bool>("memory");
    QTest::newRow("memory") << true;
    QTest::newRow("disk") << false;
  }
  void producesAndFetchesOverSockets() {
    QFETCH(bool, memory);
    const QTemporaryDir folder;
    node::ClusterOptions options;
    options.memory = memory;
    options.directory = folder.path().toStdString();
    const auto cluster = start(options);
    QVERIFY(cluster != nullptr);
    BlockingClient client(cluster->port());
    create_topic(client, "t");
    for (std::int64_t i = 0; i < 20; ++i) {
      QCOMPARE(produce(client, "t", one_batch(static_cast<std::size_t>(10 + i * 7'000))), i);
    }
    const auto answer = client.ask<wire::FetchResponse>(fetch_request("t", 0), 12);
    const auto& partition = answer.responses.at(0).partitions.at(0);
    QCOMPARE(partition.high_watermark, std::int64_t{20});
    QVERIFY(partition.records.has_value());
    const Bytes bytes = partition.records->flatten();
    wire::BatchCursor cursor(bytes.span());
    wire::BatchView batch;
    std::int64_t expected = 0;
    while (cursor.next(batch)) {
      QVERIFY(batch.crc_ok());
      QCOMPARE(batch.base_offset().value(), expected++);
    }
    QCOMPARE(expected, std::int64_t{20});
    QVERIFY(cluster->stop());
  }

  void answersPipelinedRequestsInOrder() {
    const auto cluster = start();
    BlockingClient client(cluster->port());
    for (int i = 0; i < 200; ++i) {
      client.send(wire::MetadataRequest{}, 12);
    }
    for (std::int32_t i = 1; i <= 200; ++i) {
      const Bytes frame = client.receive_frame();
      const std::int32_t correlation = static_cast<std::int32_t>(wire::load_u32(frame.data()));
      QCOMPARE(correlation, i);
    }
  }

  void wrongFramesCloseOnlyTheirConnection() {
    const auto cluster = start();
    BlockingClient witness(cluster->port());
    for (const std::string& bad : {std::string("\xff\xff\xff\xff"), std::string("\x7f\xff\xff\xff"),
                                   std::string("\0\0\0\x02hi", 6), std::string("GET / HTTP/1.1\r\n\r\n")}) {
      BlockingClient client(cluster->port());
      client.send_raw(as_bytes(bad));
      QCOMPARE(client.drain(), std::size_t{0});
      QCOMPARE(witness.ask<wire::MetadataResponse>(wire::MetadataRequest{}, 12).brokers.size(), std::size_t{1});
    }
  }

  void aClientThatNeverReadsSlowsOnlyItself() {
    const auto cluster = start();
    BlockingClient client(cluster->port());
    create_topic(client, "t");
    const Bytes batch = one_batch(900'000);
    for (int i = 0; i < 20; ++i) {
      QVERIFY(produce(client, "t", batch) >= 0);
    }
    BlockingClient deaf(cluster->port());
    for (int i = 0; i < 20; ++i) {
      deaf.send(fetch_request("t", 0), 12);
    }
    QVERIFY(produce(client, "t", batch) == 20);
    // It is served whole once it reads.
    for (int i = 0; i < 20; ++i) {
      QVERIFY(deaf.receive_frame().size() > 18'000'000);
    }
  }

  void aThrottledClientIsAnsweredAtOnceAndHeardLater() {
    const auto cluster = start();
    QVERIFY(cluster != nullptr);
    BlockingClient client(cluster->port());
    wire::AlterClientQuotasRequest quota;
    auto& entry = quota.entries.emplace_back();
    auto& part = entry.entity.emplace_back();
    part.entity_type = "client-id";
    part.entity_name.reset();  // the default, which is also for clients without a client id
    auto& op = entry.ops.emplace_back();
    op.key = "producer_byte_rate";
    op.value = 1'000;
    QCOMPARE(client.ask<wire::AlterClientQuotasResponse>(quota, 1).entries.at(0).error_code, wire::ErrorCode::none);
    create_topic(client, "t");

    wire::ProduceRequest request;
    request.acks = -1;
    request.timeout_ms = 10'000;
    wire::ProduceRequest::PartitionProduceData data;
    data.records = BytesChain(one_batch(10'250));  // ten seconds' worth, and a little
    wire::ProduceRequest::TopicProduceData topic;
    topic.name = "t";
    topic.partition_data.push_back(std::move(data));
    request.topic_data.push_back(std::move(topic));
    const auto produced = client.ask<wire::ProduceResponse>(request, 9);
    QCOMPARE(produced.responses.at(0).partition_responses.at(0).error_code, wire::ErrorCode::none);
    const std::int32_t muted_ms = produced.throttle_time_ms;
    QVERIFY(muted_ms > 100 && muted_ms < 1'000);

    QElapsedTimer since;
    since.start();
    wire::MetadataRequest next;
    next.topics.emplace();
    client.send(next, 9);
    BlockingClient other(cluster->port());  // its first answer comes while the other is not heard
    other.ask<wire::MetadataResponse>(next, 9);
    client.receive<wire::MetadataResponse>(9);
    QVERIFY2(since.elapsed() >= muted_ms - 50, std::to_string(since.elapsed()).c_str());
  }

  void saysWhoHoldsThePort() {
    const auto first = start();
    node::ClusterOptions options;
    options.listen.port = first->port();
    node::Cluster second(options);
    const Result<void> started = second.start();
    QVERIFY(!started);
    QCOMPARE(started.error().code, Errc::in_use);
    QVERIFY(started.error().detail.find("tst_node (pid ") != std::string::npos);
    QVERIFY(started.error().detail.find("is free") != std::string::npos);
    QVERIFY(node::next_free_port("127.0.0.1", first->port()) != first->port());
  }

  void aFolderHasOneOwner() {
    const QTemporaryDir folder;
    node::ClusterOptions options;
    options.memory = false;
    options.directory = folder.path().toStdString();
    const auto first = start(options);
    QVERIFY(first != nullptr);
    options.listen.port = 0;
    node::Cluster second(options);
    const Result<void> started = second.start();
    QVERIFY(!started);
    QCOMPARE(started.error().code, Errc::locked);
  }

  void survivesStopAndKill() {
    const QTemporaryDir folder;
    node::ClusterOptions options;
    options.memory = false;
    options.directory = folder.path().toStdString();
    std::string cluster_id;
    for (std::int64_t round = 0; round < 4; ++round) {
      auto cluster = start(options);
      QVERIFY(cluster != nullptr);
      BlockingClient client(cluster->port());
      if (round == 0) {
        cluster_id = cluster->cluster_id();
        create_topic(client, "t");
      }
      QCOMPARE(cluster->cluster_id(), cluster_id);
      QCOMPARE(produce(client, "t", one_batch(100)), round);
      if (round % 2 == 0) {
        QVERIFY(cluster->stop());
      } else {
        cluster->kill();
      }
    }
  }

  // Its descriptors (sockets, and three of the event loop) are given back, also where clients were connected.
  void aClusterThatEndedLeavesNothingOpen() {
    const auto open = [] { return QDir(QStringLiteral("/proc/self/fd")).entryList(QDir::System | QDir::AllEntries | QDir::NoDotAndDotDot).size(); };
    qsizetype before = 0;
    for (int round = 0; round < 6; ++round) {
      {
        auto cluster = start();
        QVERIFY(cluster != nullptr);
        BlockingClient client(cluster->port());
        create_topic(client, "t");
        QCOMPARE(produce(client, "t", one_batch(10)), std::int64_t{0});
        if (round % 2 == 0) {
          QVERIFY(cluster->stop());
        } else {
          cluster->kill();
        }
      }
      if (round == 1) {
        before = open();  // what is opened once and kept is open by now
      }
    }
    QCOMPARE(open(), before);
  }

  void aClusterInMemoryCanBeKept() {
    const QTemporaryDir folder;
    const std::string kept = folder.filePath(QStringLiteral("kept")).toStdString();
    auto cluster = start();
    const std::string id = cluster->cluster_id();
    const std::uint16_t port = cluster->port();
    {
      BlockingClient client(port);
      create_topic(client, "t");
      QCOMPARE(produce(client, "t", one_batch(10)), std::int64_t{0});
    }
    const Result<void> done = cluster->keep(kept);
    QVERIFY2(done.has_value(), done ? "" : done.error().detail.c_str());
    QCOMPARE(cluster->port(), port);
    QCOMPARE(cluster->cluster_id(), id);
    {
      BlockingClient client(port);
      QCOMPARE(produce(client, "t", one_batch(10)), std::int64_t{1});
    }
    QVERIFY(!cluster->keep(kept + "2"));
    QVERIFY(cluster->stop());
    node::ClusterOptions options;
    options.memory = false;
    options.directory = kept;
    cluster = start(options);
    QVERIFY(cluster != nullptr);
    BlockingClient client(cluster->port());
    QCOMPARE(produce(client, "t", one_batch(10)), std::int64_t{2});
  }
};

QTEST_APPLESS_MAIN(TestNode)
#include "tst_node.moc"
