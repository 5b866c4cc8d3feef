// SPDX-License-Identifier: Apache-2.0
// Three nodes with real sockets: they elect a controller, replicate, lose one and take it back.
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <optional>
#include <set>
#include <thread>

#include "engine/node/cluster_control.h"
#include "engine/wire/msg/alter_configs.h"
#include "engine/wire/msg/incremental_alter_configs.h"
#include "engine/wire/msg/init_producer_id.h"
#include "tests/engine/node/broken_disk.h"
#include "tests/engine/node/real_nodes.h"

using namespace hw;  // NOLINT(google-build-using-namespace): a test
using test::another;
using test::BlockingClient;
using test::RealNodes;
using wire::ErrorCode;

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
    RealNodes three(memory ? std::string() : folder.path().toStdString());
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
      const RealNodes::Produced done = three.produce(leader, "t1", "before " + std::to_string(i));
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
      const RealNodes::Produced done = three.produce(moved->leader, "t1", "after " + std::to_string(i));
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

  // Loggers are those of the process that is asked, and what it refuses it need not pass on; the rest goes to the controller, and
  // the answers come in the order of the request. The values are those of Kafka 4.4.0, the same on every node.
  void changesOfConfigurationsAreSharedWithTheController() {
    RealNodes three;
    QVERIFY(three.cluster != nullptr);
    QVERIFY(three.create(BrokerId(1), "t") == ErrorCode::none);
    constexpr std::int8_t kTopic = 2;
    constexpr std::int8_t kBroker = 4;
    constexpr std::int8_t kLogger = 8;
    using Answers = std::vector<std::pair<std::string, ErrorCode>>;
    const auto answers_of = [](const auto& response) {
      Answers answers;
      for (const auto& one : response.responses) {
        answers.emplace_back(one.resource_name, one.error_code);
      }
      return answers;
    };
    for (const BrokerId id : three.cluster->node_ids()) {
      QVERIFY(three.until(id, "t", [](const auto& seen) { return seen.leader != kNoBroker; }).has_value());
      BlockingClient client(three.port_of(id));
      const std::string self = std::to_string(id.value());
      const std::string other = std::to_string(another(id).value());
      wire::IncrementalAlterConfigsRequest request;
      const auto add_to = [](auto& to, std::int8_t type, const std::string& name, const std::string& key, const std::string& value) {
        auto& resource = to.resources.emplace_back();
        resource.resource_type = type;
        resource.resource_name = name;
        auto& config = resource.configs.emplace_back();
        config.name = key;
        config.value = value;
      };
      const auto add = [&](std::int8_t type, const std::string& name, const std::string& key, const std::string& value) {
        add_to(request, type, name, key, value);
      };
      const auto asked = [&] {
        return answers_of(client.ask<wire::IncrementalAlterConfigsResponse>(std::exchange(request, {}), 1));
      };
      add(kLogger, self, "root", "WARN");
      add(kTopic, "t", "retention.ms", "700" + self);
      add(kBroker, other, "log.cleaner.threads", "1");
      QCOMPARE(asked(), (Answers{{self, ErrorCode::none}, {"t", ErrorCode::none}, {other, ErrorCode::invalid_request}}));
      QVERIFY(three.config_becomes(id, "t", "retention.ms", "700" + self));

      add(kTopic, "nobody", "retention.ms", "1");
      add(kLogger, other, "root", "WARN");
      add(kBroker, "", "log.retention.ms", "700" + self + "000");
      add(kLogger, self, "no.such.logger", "WARN");
      add(kTopic, "t", "segment.ms", "800" + self);
      QCOMPARE(asked(), (Answers{{"nobody", ErrorCode::unknown_topic_or_partition},
                                 {other, ErrorCode::invalid_request},
                                 {"", ErrorCode::none},
                                 {self, ErrorCode::invalid_config},
                                 {"t", ErrorCode::none}}));
      QVERIFY(three.config_becomes(id, "t", "segment.ms", "800" + self));

      add(kTopic, "t", "retention.ms", "1");
      add(kTopic, "t", "retention.ms", "2");
      add(kBroker, self, "log.retention.ms", "x");
      add(kBroker, "", "log.retention.ms", "900" + self + "000");
      QCOMPARE(asked(), (Answers{{"t", ErrorCode::invalid_request},
                                 {"t", ErrorCode::invalid_request},
                                 {self, ErrorCode::invalid_request},
                                 {"", ErrorCode::none}}));

      request.validate_only = true;
      add(kLogger, self, "root", "INFO");
      add(kTopic, "t", "retention.ms", "1");
      QCOMPARE(asked(), (Answers{{self, ErrorCode::none}, {"t", ErrorCode::none}}));
      QVERIFY(three.config_becomes(id, "t", "retention.ms", "700" + self));

      wire::AlterConfigsRequest all;
      add_to(all, kLogger, self, "root", "WARN");
      add_to(all, kBroker, self, "log.retention.ms", "x");
      add_to(all, kTopic, "t", "retention.ms", "600" + self);
      add_to(all, kBroker, other, "log.retention.ms", "2000000");
      for (const std::int16_t version : {std::int16_t{1}, std::int16_t{2}}) {  // with and without tags in the headers
        QCOMPARE(answers_of(client.ask<wire::AlterConfigsResponse>(all, version)), (Answers{{self, ErrorCode::invalid_request},
                                                                                           {self, ErrorCode::invalid_request},
                                                                                           {"t", ErrorCode::none},
                                                                                           {other, ErrorCode::invalid_request}}));
      }
      QVERIFY(three.config_becomes(id, "t", "retention.ms", "600" + self));
    }
  }

  void aPowerCutTakesWhatOneNodeDidNotFlush_data() { aLeaderThatDiesIsReplacedAndNothingIsLost_data(); }
  void aPowerCutTakesWhatOneNodeDidNotFlush() {
    QFETCH(bool, memory);
    const QTemporaryDir folder;
    RealNodes three(memory ? std::string() : folder.path().toStdString());
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
    RealNodes three(folder.path().toStdString());
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
    const RealNodes::Produced again = three.produce(after->leader, "t", "again");
    QVERIFY(again.error == ErrorCode::none);
    QCOMPARE(again.offset, std::int64_t{0});
  }

  // KIP-858: a disk that fills up costs its directory only; what it led, others lead. Nothing acknowledged is lost.
  void aFullDiskTakesItsDirectoryAndOthersLead() {
    const QTemporaryDir folder;
    const std::string second = folder.path().toStdString() + "/second";
    std::map<BrokerId, std::shared_ptr<test::BrokenDisk>> disks;
    node::ClusterOptions options;
    options.more_directories = {second};
    options.disk_of = [&](BrokerId id, std::shared_ptr<env::Disk> base) { return disks[id] = std::make_shared<test::BrokenDisk>(std::move(base)); };
    RealNodes three(folder.path().toStdString() + "/first", 3, std::move(options));
    QVERIFY(three.cluster != nullptr);
    const auto names = {"t0", "t1", "t2", "t3", "t4", "t5"};
    for (const char* name : names) {
      QVERIFY(three.create(BrokerId(1), name) == ErrorCode::none);
    }
    std::string topic;
    BrokerId victim = kNoBroker;
    for (const char* name : names) {
      const auto seen = three.until(BrokerId(1), name, [](const auto& s) { return s.leader != kNoBroker && s.isr.size() == 3; });
      QVERIFY(seen.has_value());
      QVERIFY(three.until(seen->leader, name, [&](const auto& s) { return s.leader == seen->leader; }).has_value());
      for (int i = 0; i < 10; ++i) {
        QVERIFY(three.produce(seen->leader, name, std::to_string(i)).error == ErrorCode::none);
      }
      if (QFile::exists(QString::fromStdString(second + "/node-" + std::to_string(seen->leader.value()) + "/" + name + "-0"))) {
        victim = seen->leader;
        topic = name;
      }
    }
    QVERIFY2(victim != kNoBroker, "some leader has its log in the second directory");
    const BrokerId other = another(victim);
    disks.at(victim)->fail_below(second + "/node-" + std::to_string(victim.value()));
    QVERIFY(three.produce(victim, topic, "no room").error == ErrorCode::kafka_storage_error);
    const auto moved = three.until(other, topic, [&](const auto& s) { return s.leader != victim && s.leader != kNoBroker && !s.isr.contains(victim); });
    QVERIFY(moved.has_value());
    QVERIFY(three.until(moved->leader, topic, [&](const auto& s) { return s.leader == moved->leader; }).has_value());
    QVERIFY(three.produce(moved->leader, topic, "elsewhere").error == ErrorCode::none);
    QCOMPARE(three.readable(moved->leader, topic), std::int64_t{11});
    // The node itself lives on: it is in the other partitions' ISR, and no fenced broker.
    QVERIFY(three.cluster->state_of(victim) == node::Cluster::NodeState::running);
    bool still_in = false;
    for (const char* name : names) {
      const auto seen = three.look(other, name);
      still_in = still_in || (seen && seen->isr.contains(victim));
    }
    QVERIFY(still_in);
    // Mended and started again, it takes everything back.
    disks.at(victim)->mend();
    QVERIFY(three.cluster->stop_node(victim));
    QVERIFY(three.cluster->start_node(victim));
    QVERIFY(three.until(other, topic, [](const auto& s) { return s.isr.size() == 3; }).has_value());
  }

  // The directory of the metadata log, the last one: the node ends by itself and says why; the others serve on.
  void aNodeThatCannotWriteItsMetadataLogStopsAndSaysWhy() {
    const QTemporaryDir folder;
    std::map<BrokerId, std::shared_ptr<test::BrokenDisk>> disks;
    node::ClusterOptions options;
    options.disk_of = [&](BrokerId id, std::shared_ptr<env::Disk> base) { return disks[id] = std::make_shared<test::BrokenDisk>(std::move(base)); };
    RealNodes three(folder.path().toStdString(), 3, std::move(options));
    QVERIFY(three.cluster != nullptr);
    node::ClusterControl control(*three.cluster);
    QVERIFY(three.create(BrokerId(1), "t") == ErrorCode::none);
    const auto before = three.until(BrokerId(1), "t", [](const auto& s) { return s.leader != kNoBroker && s.isr.size() == 3; });
    QVERIFY(before.has_value());
    QVERIFY(three.until(before->leader, "t", [&](const auto& s) { return s.leader == before->leader; }).has_value());
    QVERIFY(three.produce(before->leader, "t", "kept").error == ErrorCode::none);
    const BrokerId victim = before->leader;
    const BrokerId other = another(victim);
    disks.at(victim)->fail_below(folder.path().toStdString() + "/node-" + std::to_string(victim.value()));
    try {  // it may end before the answer leaves
      QVERIFY(three.produce(victim, "t", "no room").error != ErrorCode::none);
    } catch (const std::runtime_error&) {
      QVERIFY(true);
    }
    const auto moved = three.until(other, "t", [&](const auto& s) { return s.leader != victim && s.leader != kNoBroker; });
    QVERIFY(moved.has_value());
    QVERIFY(three.until(moved->leader, "t", [&](const auto& s) { return s.leader == moved->leader; }).has_value());
    QVERIFY(three.produce(moved->leader, "t", "elsewhere").error == ErrorCode::none);
    QCOMPARE(three.readable(moved->leader, "t"), std::int64_t{2});
    QVERIFY(three.cluster->state_of(victim) == node::Cluster::NodeState::stopped);
    const Result<node::Value> status = control.run("cluster.status", {});
    QVERIFY(status);
    bool told = false;
    for (const node::Value& one : *(*status)["nodes"].list()) {
      if (one["node"].number_or(-1) == victim.value()) {
        QCOMPARE(one["state"].text_or(""), std::string("failed"));
        told = one["why"].text_or("").find("no space left") != std::string::npos;
      }
    }
    QVERIFY(told);
    disks.at(victim)->mend();
    QVERIFY(control.run("node.start", node::Value::object().set("nodes", victim.value())));
    QVERIFY(three.until(other, "t", [](const auto& s) { return s.isr.size() == 3; }).has_value());
    QVERIFY(three.cluster->stop());
  }

  // What is wrong with its folder is said, nothing in it is changed, and the others serve on.
  void aNodeThatCannotStartSaysWhyAndTheOthersServeOn() {
    const QTemporaryDir folder;
    RealNodes three(folder.path().toStdString());
    QVERIFY(three.cluster != nullptr);
    QVERIFY(three.create(BrokerId(1), "t") == ErrorCode::none);
    const auto before = three.until(BrokerId(1), "t", [](const auto& s) { return s.leader != kNoBroker && s.isr.size() == 3; });
    QVERIFY(before.has_value());
    const BrokerId victim = before->leader;
    const BrokerId other = another(victim);
    QVERIFY(three.cluster->kill_node(victim));
    const QString home = folder.path() + QStringLiteral("/node-%1/").arg(victim.value());
    const auto read = [](const QString& path) {
      QFile file(path);
      return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    };
    const auto write = [](const QString& path, const QByteArray& bytes) {
      QFile file(path);
      QVERIFY(file.open(QIODevice::WriteOnly));
      QCOMPARE(file.write(bytes), bytes.size());
    };
    const auto serve_on = [&] {
      const auto led = three.until(other, "t", [&](const auto& s) { return s.leader != victim && s.leader != kNoBroker; });
      QVERIFY(led.has_value());
      QVERIFY(three.until(led->leader, "t", [&](const auto& s) { return s.leader == led->leader; }).has_value());
      QVERIFY(three.produce(led->leader, "t", "on").error == ErrorCode::none);
    };
    const QByteArray meta = read(home + QStringLiteral("meta.properties"));
    QVERIFY(meta.contains("cluster.id="));
    const auto refused = [&](const QByteArray& wrong, const char* word) {
      write(home + QStringLiteral("meta.properties"), wrong);
      const Result<void> started = three.cluster->start_node(victim);
      QVERIFY(!started);
      QVERIFY2(started.error().detail.find(word) != std::string::npos, started.error().detail.c_str());
      QCOMPARE(read(home + QStringLiteral("meta.properties")), wrong);
      QVERIFY(three.cluster->state_of(victim) == node::Cluster::NodeState::stopped);
      serve_on();
    };
    QByteArray foreign = meta;
    const auto id = foreign.indexOf("node.id=");
    QVERIFY(id >= 0);
    foreign.replace(id, foreign.indexOf('\n', id) - id, "node.id=77");
    refused(foreign, "77");
    QByteArray other_cluster = meta;
    const auto cluster = other_cluster.indexOf("cluster.id=");
    other_cluster.replace(cluster, other_cluster.indexOf('\n', cluster) - cluster, "cluster.id=AnotherClusterAltogethr");
    refused(other_cluster, "AnotherClusterAltogethr");
    refused(other_cluster, three.cluster->cluster_id().c_str());
    refused(other_cluster, "an empty one");
    refused("nothing of the kind\n", "meta.properties");
    write(home + QStringLiteral("meta.properties"), meta);
    const Result<void> started = three.cluster->start_node(victim);
    QVERIFY2(started, started ? "" : started.error().detail.c_str());
    QVERIFY(three.until(other, "t", [](const auto& s) { return s.isr.size() == 3; }).has_value());
  }

  // A voter whose metadata log lost its end, or holds garbage from some place on, takes the rest from the leader again.
  void aDamagedMetadataLogIsMendedByTheQuorum_data() {
    QTest::addColumn<int>("keep_percent");
    QTest::addColumn<bool>("garbage");
    QTest::newRow("its end is cut off") << 70 << false;
    QTest::newRow("garbage from the middle on") << 50 << true;
    QTest::newRow("nothing is left") << 0 << false;
  }
  void aDamagedMetadataLogIsMendedByTheQuorum() {
    QFETCH(int, keep_percent);
    QFETCH(bool, garbage);
    const QTemporaryDir folder;
    RealNodes three(folder.path().toStdString());
    QVERIFY(three.cluster != nullptr);
    for (const char* name : {"a", "b", "c"}) {
      QVERIFY(three.create(BrokerId(1), name) == ErrorCode::none);
    }
    const auto before = three.until(BrokerId(1), "c", [](const auto& s) { return s.leader != kNoBroker && s.isr.size() == 3; });
    QVERIFY(before.has_value());
    const BrokerId victim(2);
    QVERIFY(three.cluster->kill_node(victim));
    QFile log(folder.path() + QStringLiteral("/node-2/__cluster_metadata-0/00000000000000000000.log"));
    QVERIFY(log.open(QIODevice::ReadWrite));
    const qint64 size = log.size();
    const qint64 keep = size * keep_percent / 100;
    QVERIFY(size > 0);
    if (garbage) {
      QVERIFY(log.seek(keep));
      QCOMPARE(log.write(QByteArray(static_cast<int>(size - keep), '\x5a')), size - keep);
    } else {
      QVERIFY(log.resize(keep));
    }
    log.close();
    QVERIFY(three.create(BrokerId(1), "while away") != ErrorCode::none);  // no name of a topic: and node 1 serves
    QVERIFY(three.create(BrokerId(1), "later") == ErrorCode::none);
    const Result<void> started = three.cluster->start_node(victim);
    QVERIFY2(started, started ? "" : started.error().detail.c_str());
    for (const char* name : {"a", "b", "c", "later"}) {
      QVERIFY(three.until(victim, name, [](const auto& s) { return s.leader != kNoBroker && s.isr.size() == 3; }).has_value());
    }
    // And it votes with what it has now.
    QVERIFY(three.cluster->kill_node(BrokerId(1)));
    QVERIFY(three.until(victim, "c", [](const auto& s) { return s.leader != BrokerId(1) && s.leader != kNoBroker; }).has_value());
    QVERIFY(three.create(victim, "last") == ErrorCode::none);
  }

  // What it cannot do without: the snapshot that its log begins behind, and whom it has voted for.
  void aNodeWithoutItsMetadataSaysWhyAndTheOthersServeOn_data() {
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<QString>("word");
    QTest::newRow("snapshot") << QStringLiteral("0*.checkpoint") << QStringLiteral("snapshot");
    QTest::newRow("quorum-state") << QStringLiteral("quorum-state") << QStringLiteral("quorum-state");
  }
  void aNodeWithoutItsMetadataSaysWhyAndTheOthersServeOn() {
    QFETCH(QString, pattern);
    QFETCH(QString, word);
    const QTemporaryDir folder;
    node::ClusterOptions options;
    options.configs = {{"metadata.log.max.record.bytes.between.snapshots", "1"}};
    RealNodes three(folder.path().toStdString(), 3, std::move(options));
    QVERIFY(three.cluster != nullptr);
    QVERIFY(three.create(BrokerId(1), "t") == ErrorCode::none);
    const auto before = three.until(BrokerId(1), "t", [](const auto& s) { return s.leader != kNoBroker && s.isr.size() == 3; });
    QVERIFY(before.has_value());
    const BrokerId victim(2);
    QVERIFY(three.until(victim, "t", [](const auto& s) { return s.isr.size() == 3; }).has_value());
    QVERIFY(three.cluster->kill_node(victim));
    const QDir metadata(folder.path() + QStringLiteral("/node-2/__cluster_metadata-0"));
    const QStringList files = metadata.entryList({pattern}, QDir::Files, QDir::Name);
    QVERIFY(!files.isEmpty());
    QFile file(metadata.filePath(files.last()));
    QVERIFY(file.open(QIODevice::ReadWrite));
    const QByteArray whole = file.readAll();
    QVERIFY(file.seek(0));
    QCOMPARE(file.write(QByteArray(static_cast<int>(whole.size()), '\x5a')), static_cast<qint64>(whole.size()));
    file.close();
    const Result<void> refused = three.cluster->start_node(victim);
    QVERIFY(!refused);
    for (const char* part : {word.toUtf8().constData(), "__cluster_metadata-0", "an empty folder"}) {
      QVERIFY2(refused.error().detail.find(part) != std::string::npos, refused.error().detail.c_str());
    }
    QVERIFY(three.create(BrokerId(1), "meanwhile", {BrokerId(1), BrokerId(3)}) == ErrorCode::none);
    // With an empty folder it is there again, and has everything.
    QVERIFY(QDir(folder.path() + QStringLiteral("/node-2")).removeRecursively());
    const Result<void> started = three.cluster->start_node(victim);
    QVERIFY2(started, started ? "" : started.error().detail.c_str());
    QVERIFY(three.until(victim, "t", [](const auto& s) { return s.isr.size() == 3; }).has_value());
  }

  // A node whose quorum is not there yet lets its clients wait; all of them, each with its own answer.
  void whatIsAskedBeforeTheLogsAreOpenIsAnsweredAfterwards() {
    RealNodes three;
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
    RealNodes three;
    QVERIFY(three.cluster != nullptr);
    QVERIFY(three.create(BrokerId(2), "t") == ErrorCode::none);
    const auto before = three.until(BrokerId(2), "t", [](const auto& seen) { return seen.leader != kNoBroker && seen.isr.size() == 3; });
    QVERIFY(before.has_value());
    QVERIFY(three.until(before->leader, "t", [&](const auto& seen) { return seen.leader == before->leader; }).has_value());
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
    RealNodes three;
    QVERIFY(three.cluster != nullptr);
    QVERIFY(three.create(BrokerId(1), "t") == ErrorCode::none);
    const auto before = three.until(BrokerId(1), "t", [](const auto& seen) { return seen.leader != kNoBroker && seen.isr.size() == 3; });
    QVERIFY(before.has_value());
    QVERIFY(three.until(before->leader, "t", [&](const auto& seen) { return seen.leader == before->leader; }).has_value());
    BlockingClient client(three.port_of(before->leader));
    QVERIFY(RealNodes::produce(client, "t", "first").error == ErrorCode::none);
    std::thread stopping([&] { static_cast<void>(three.cluster->stop_node(before->leader)); });
    ErrorCode last = ErrorCode::none;
    std::int64_t acknowledged = 1;
    try {
      while (true) {
        last = RealNodes::produce(client, "t", "more").error;
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
    // The new leader's high watermark is where it knew it as a follower, until the others have fetched.
    QElapsedTimer clock;
    clock.start();
    while (three.readable(moved->leader, "t") < acknowledged && clock.elapsed() < 10'000) {
      std::this_thread::yield();
    }
    // What was not acknowledged may be there as well: it was replicated, and only the answer came too late.
    QVERIFY(three.readable(moved->leader, "t") >= acknowledged);
  }

  void aNodeThatIsCutOffLeavesTheIsrAndComesBack() {
    RealNodes three;
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
    RealNodes three;
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

  // What was asked of a leader while it slept, and others led already: nothing of it counts, and its log is cut to what the others have.
  void aLeaderThatWakesUpTooLateAcknowledgesNothing() {
    RealNodes three;
    QVERIFY(three.cluster != nullptr);
    QVERIFY(three.create(BrokerId(1), "t") == ErrorCode::none);
    const auto before = three.until(BrokerId(1), "t", [](const auto& seen) { return seen.leader != kNoBroker && seen.isr.size() == 3; });
    QVERIFY(before.has_value());
    const BrokerId zombie = before->leader;
    QVERIFY(three.until(zombie, "t", [&](const auto& seen) { return seen.leader == zombie; }).has_value());
    QVERIFY(three.produce(zombie, "t", "before").error == ErrorCode::none);
    BlockingClient all(three.port_of(zombie));
    BlockingClient one(three.port_of(zombie));
    BlockingClient reader(three.port_of(zombie));
    QVERIFY(three.cluster->pause_node(zombie));
    const BrokerId other = another(zombie);
    const auto moved = three.until(other, "t", [&](const auto& seen) { return seen.leader != zombie && seen.leader != kNoBroker && seen.isr.size() == 2; });
    QVERIFY(moved.has_value());
    QVERIFY(three.until(moved->leader, "t", [&](const auto& seen) { return seen.leader == moved->leader; }).has_value());
    QVERIFY(three.produce(moved->leader, "t", "meanwhile").error == ErrorCode::none);
    RealNodes::send_produce(all, "t", "of a zombie", -1);
    RealNodes::send_produce(one, "t", "of a zombie, too", 1);
    QVERIFY(three.cluster->resume_node(zombie));
    const ErrorCode answer = RealNodes::receive_produce(all).error;
    QVERIFY2(answer == ErrorCode::not_leader_or_follower || answer == ErrorCode::not_enough_replicas_after_append, wire::error_name(answer).data());
    static_cast<void>(RealNodes::receive_produce(one));  // acks=1 promises nothing that the others have
    const auto healed = three.until(zombie, "t", [&](const auto& seen) { return seen.leader == moved->leader && seen.isr.size() == 3; });
    QVERIFY(healed.has_value());
    QVERIFY(three.produce(moved->leader, "t", "after").error == ErrorCode::none);
    QCOMPARE(three.readable(moved->leader, "t"), std::int64_t{3});
    // The zombie's own log holds the same bytes.
    const auto bytes_at = [&](BrokerId at) {
      const auto data = three.fetch(at, "t", 0);
      return data.records ? data.records->flatten().text() : std::string_view();
    };
    const std::string whole(bytes_at(moved->leader));
    QVERIFY(whole.find("meanwhile") != std::string::npos && whole.find("zombie") == std::string::npos);
    QElapsedTimer clock;
    clock.start();
    while (std::string(bytes_at(zombie)) != whole && clock.elapsed() < test::kPatienceMs) {
      std::this_thread::yield();
    }
    QCOMPARE(std::string(bytes_at(zombie)), whole);
  }

  // Its majority is gone when it answers: what it wrote in the meantime is cut off, and its clients are served by the controller that
  // leads now, as if they had asked there.
  void aControllerThatWakesUpTooLateWritesNothing() {
    RealNodes three;
    QVERIFY(three.cluster != nullptr);
    QVERIFY(three.create(BrokerId(1), "t") == ErrorCode::none);
    node::ClusterControl control(*three.cluster);
    const auto active = [&](BrokerId not_this) {
      QElapsedTimer clock;
      clock.start();
      while (clock.elapsed() < test::kPatienceMs) {
        if (const Result<node::Value> status = control.run("cluster.status", {})) {
          const auto id = static_cast<std::int32_t>((*status)["controller"].number_or(-1));
          if (id > 0 && BrokerId(id) != not_this) {
            return BrokerId(id);
          }
        }
        std::this_thread::yield();
      }
      return kNoBroker;
    };
    const BrokerId zombie = active(kNoBroker);
    QVERIFY(zombie != kNoBroker);
    BlockingClient client(three.port_of(zombie));
    QVERIFY(three.cluster->pause_node(zombie));
    QVERIFY(active(zombie) != kNoBroker);
    const BrokerId other = another(zombie);
    const BrokerId third = another(other) == zombie ? another(another(other)) : another(other);
    QCOMPARE(three.create(other, "meanwhile", {other, third}), ErrorCode::none);
    wire::CreateTopicsRequest request;
    request.timeout_ms = 20'000;
    auto& topic = request.topics.emplace_back();
    topic.name = "asked-of-a-zombie";
    topic.num_partitions = 1;
    topic.replication_factor = 1;
    client.send(request, 7);
    QVERIFY(three.cluster->resume_node(zombie));
    const ErrorCode answer = client.receive<wire::CreateTopicsResponse>(7).topics.at(0).error_code;
    QVERIFY2(answer == ErrorCode::none, wire::error_name(answer).data());
    for (const BrokerId id : three.cluster->node_ids()) {
      const auto seen = three.until(id, "asked-of-a-zombie", [](const auto& s) { return s.leader != kNoBroker; });
      QVERIFY(seen.has_value());
      QVERIFY(seen->topic_id == three.until(other, "asked-of-a-zombie", [](const auto&) { return true; })->topic_id);
      QVERIFY(three.until(id, "meanwhile", [](const auto& s) { return s.leader != kNoBroker; }).has_value());
    }
  }

  // A request that an active controller holds when its majority goes is answered when there is a controller again, not NOT_CONTROLLER.
  void aRequestOutlivesItsController() {
    RealNodes three;
    QVERIFY(three.cluster != nullptr);
    QVERIFY(three.create(BrokerId(1), "t") == ErrorCode::none);
    const auto before = three.until(BrokerId(1), "t", [](const auto& seen) { return seen.leader != kNoBroker && seen.isr.size() == 3; });
    QVERIFY(before.has_value());
    std::vector<std::unique_ptr<BlockingClient>> clients;
    for (const BrokerId id : three.cluster->node_ids()) {  // one of them is the active controller's
      clients.push_back(std::make_unique<BlockingClient>(three.port_of(id)));
    }
    const BrokerId stays = *three.cluster->node_ids().begin();
    for (const BrokerId id : three.cluster->node_ids()) {
      if (id != stays) {
        QVERIFY(three.cluster->kill_node(id));
      }
    }
    wire::CreateTopicsRequest request;
    request.timeout_ms = 20'000;
    auto& topic = request.topics.emplace_back();
    topic.name = "late";
    topic.num_partitions = 1;
    topic.replication_factor = 1;
    clients.front()->send(request, 7);
    wire::MetadataRequest metadata;  // what needs no controller is answered all the while
    metadata.topics.emplace();
    QVERIFY(BlockingClient(three.port_of(stays)).ask<wire::MetadataResponse>(metadata, 12).cluster_id.has_value());
    for (const BrokerId id : three.cluster->node_ids()) {
      if (id != stays) {
        QVERIFY(three.cluster->start_node(id));
      }
    }
    const ErrorCode answer = clients.front()->receive<wire::CreateTopicsResponse>(7).topics.at(0).error_code;
    // Where its record was in the log already, and stayed there, the next controller has the topic.
    QVERIFY2(answer == ErrorCode::none || answer == ErrorCode::topic_already_exists, wire::error_name(answer).data());
    QVERIFY(three.until(stays, "late", [](const auto& s) { return s.leader != kNoBroker; }).has_value());
  }

  // A process that is told to end does not sit out what a command waits for: 30 s for a node that nobody lets in.
  void whoIsToldToEndWaitsForNobody() {
    RealNodes three;
    QVERIFY(three.cluster != nullptr);
    node::ClusterControl control(*three.cluster);
    QVERIFY(three.cluster->kill_node(BrokerId(2)));
    QVERIFY(three.cluster->kill_node(BrokerId(3)));
    QElapsedTimer clock;
    clock.start();
    std::thread adding([&] { QVERIFY(!control.run("node.add", {})); });
    std::thread stopping([&] { static_cast<void>(control.run("node.stop", node::Value::object().set("nodes", 1))); });
    three.cluster->interrupt();
    adding.join();
    stopping.join();
    QVERIFY2(clock.elapsed() < 10'000, "it did not wait");
    QVERIFY(!three.cluster->start_node(BrokerId(2)));
  }

  void aMemberWithoutItsQuorumEndsWhenItIsTold() {
    node::ClusterOptions options;
    options.listen.port = 0;
    options.node_id = 1;
    options.member.emplace();
    options.member->initial_voters.push_back({BrokerId(1), Uuid{}, "127.0.0.1", 0});
    options.member->initial_voters.push_back({BrokerId(2), Uuid{}, "127.0.0.1", 1});
    node::Cluster cluster(options);
    QElapsedTimer clock;
    clock.start();
    std::thread starting([&] { QVERIFY(!cluster.start()); });
    cluster.interrupt();
    starting.join();
    QVERIFY2(clock.elapsed() < 10'000, "it did not wait");
  }

  // A node alone in its process knows the others by their ids only, and holds its own end of a link to them.
  void aMemberHoldsItsEndOfALink() {
    node::ClusterOptions options;
    options.listen.port = 0;
    options.node_id = 1;
    options.member.emplace();
    options.member->initial_voters.push_back({BrokerId(1), Uuid{}, "127.0.0.1", 0});
    node::Cluster cluster(options);
    QVERIFY(cluster.start());
    QVERIFY(cluster.set_link(BrokerId(1), BrokerId(7), {true, {}}, true));
    QCOMPARE(cluster.links().size(), std::size_t{2});
    QVERIFY(cluster.set_link(BrokerId(7), BrokerId(1), {}, false));
    QCOMPARE(cluster.links().size(), std::size_t{1});
    QVERIFY(!cluster.set_link(BrokerId(7), BrokerId(8), {true, {}}, true));
    cluster.heal();
    QVERIFY(cluster.links().empty());
    QVERIFY(cluster.stop());
  }

  void everyNodeGivesOutProducerIdsOfItsOwn() {
    RealNodes three;
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
