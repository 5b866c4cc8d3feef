// SPDX-License-Identifier: Apache-2.0
// Changes of configuration through the controller. The expected codes are what Apache Kafka 4.4.0 answered to the same edits.
#include <QtTest/QTest>

#include <algorithm>

#include "engine/metadata/config_changes.h"
#include "tests/engine/metadata/metadata_fixture.h"

using namespace hw;
using namespace hw::metadata;
using namespace hw::metadata::test;
using wire::ErrorCode;

namespace {

constexpr std::int8_t kTopic = 2;
constexpr std::int8_t kBroker = 4;
constexpr std::int8_t kClientMetrics = 16;
constexpr std::int8_t kGroup = 32;
constexpr std::int8_t kSet = 0;
constexpr std::int8_t kDelete = 1;
constexpr std::int8_t kAppend = 2;
constexpr std::int8_t kSubtract = 3;

class Cluster {
 public:
  explicit Cluster(Settings settings = {}) : plane(std::move(settings)) {
    plane.run();
    wire::CreateTopicsRequest request;
    auto& created = request.topics.emplace_back();
    created.name = std::string("t");
    created.num_partitions = 1;
    created.replication_factor = 1;
    plane.controller().create_topics(request, [](const wire::CreateTopicsResponse&) {});
    plane.run();
  }

  std::vector<Refusal> alter_all(const std::vector<ResourceEdit>& edits, bool validate_only = false) {
    std::vector<Refusal> answers;
    plane.controller().alter_configs(edits, validate_only, [&](std::vector<Refusal> got) { answers = std::move(got); });
    plane.run();
    HW_ASSERT(answers.size() == edits.size(), "one answer for each edit");
    return answers;
  }
  // As a broker of this id takes it from a client.
  Refusal taken(const ResourceEdit& edit, BrokerId node) {
    return taker_refusal(edit, plane.image(), plane.controller().broker_configs(), node).value_or(Refusal{});
  }
  // Through the broker of the plane, which is the active controller as well.
  Refusal alter(const ResourceEdit& edit, bool validate_only = false) {
    const std::vector<Refusal> form = form_refusals({edit});
    if (form.front().error == ErrorCode::none) {
      if (Refusal refusal = taken(edit, BrokerId(1)); refusal.error != ErrorCode::none) {
        return refusal;
      }
    }
    return alter_all({edit}, validate_only).front();
  }
  ErrorCode edit(std::int8_t type, const std::string& name, const std::string& key, std::int8_t op,
                 std::optional<std::string> value, bool validate_only = false) {
    return alter({type, name, false, {{key, op, std::move(value)}}}, validate_only).error;
  }
  // "key=value key=value" of what is set for a resource.
  std::string own(ConfigResourceType type, const std::string& name) {
    std::string text;
    if (const ConfigMap* map = plane.image().find_configs({type, name})) {
      for (const auto& [key, value] : *map) {
        text += (text.empty() ? "" : " ") + key + "=" + value;
      }
    }
    return text;
  }

  Plane plane;
};

}  // namespace

class TestConfigChanges : public QObject {
  Q_OBJECT
 private slots:
  void sets_and_deletes();
  void lists_take_items();
  void legacy_replaces_everything();
  void what_is_refused_as_kafka_refuses_data();
  void what_is_refused_as_kafka_refuses();
  void a_controller_takes_what_concerns_other_nodes();
  void one_bad_resource_does_not_hinder_another();
  void validate_only_writes_nothing();
  void a_read_only_key_may_be_deleted();
  void min_isr_is_one_for_all_with_eligible_leaders();
  void another_step_needs_the_first();
  void changes_survive_a_restart();
  void dynamic_values_reach_typed_configs();
};

void TestConfigChanges::sets_and_deletes() {
  Cluster cluster;
  QVERIFY(cluster.edit(kTopic, "t", "retention.ms", kSet, "5000") == ErrorCode::none);
  QCOMPARE(cluster.own(ConfigResourceType::topic, "t"), std::string("retention.ms=5000"));
  const Offset before = cluster.plane.image().offset();
  QVERIFY(cluster.edit(kTopic, "t", "retention.ms", kSet, "5000") == ErrorCode::none);
  QVERIFY(cluster.plane.image().offset() == before);  // nothing changed, nothing was written
  QVERIFY(cluster.edit(kTopic, "t", "retention.ms", kDelete, std::nullopt) == ErrorCode::none);
  QCOMPARE(cluster.own(ConfigResourceType::topic, "t"), std::string());
  QVERIFY(cluster.edit(kTopic, "t", "no.such", kDelete, std::nullopt) == ErrorCode::none);
  QVERIFY(cluster.edit(kBroker, "+1", "log.retention.ms", kSet, "7") == ErrorCode::none);
  QCOMPARE(cluster.own(ConfigResourceType::broker, "1"), std::string("log.retention.ms=7"));
}

// A new cluster has the feature finalized and the cluster's value written beside it, as a folder that Kafka formatted.
void TestConfigChanges::min_isr_is_one_for_all_with_eligible_leaders() {
  Cluster cluster;
  QCOMPARE(cluster.own(ConfigResourceType::broker, ""), std::string("min.insync.replicas=1"));
  const auto finalize = [&](std::int16_t level) {
    wire::FeatureLevelRecord feature;
    feature.name = "eligible.leader.replicas.version";
    feature.feature_level = level;
    cluster.plane.controller().write_records({Record(feature)});
    cluster.plane.run();
  };
  finalize(0);
  QVERIFY(cluster.edit(kBroker, "1", "min.insync.replicas", kSet, "1") == ErrorCode::none);
  finalize(1);
  QCOMPARE(cluster.own(ConfigResourceType::broker, "1"), std::string());  // one for all
  QVERIFY(cluster.edit(kBroker, "1", "min.insync.replicas", kSet, "1") == ErrorCode::invalid_config);
  QVERIFY(cluster.edit(kBroker, "", "min.insync.replicas", kDelete, std::nullopt) == ErrorCode::invalid_config);
  QVERIFY(cluster.alter({kBroker, "", true, {{"log.retention.ms", kSet, "100000000"}}}).error == ErrorCode::invalid_config);
  QVERIFY(cluster.edit(kBroker, "", "min.insync.replicas", kSet, "2") == ErrorCode::none);
  QVERIFY(cluster.alter({kBroker, "", true, {{"min.insync.replicas", kSet, "1"}}}).error == ErrorCode::none);
  QCOMPARE(cluster.own(ConfigResourceType::broker, ""), std::string("min.insync.replicas=1"));
  QVERIFY(cluster.edit(kTopic, "t", "min.insync.replicas", kSet, "1") == ErrorCode::none);
}

void TestConfigChanges::lists_take_items() {
  Cluster cluster;
  const auto policy = [&] { return cluster.own(ConfigResourceType::topic, "t"); };
  QVERIFY(cluster.edit(kTopic, "t", "cleanup.policy", kAppend, "compact") == ErrorCode::none);
  QCOMPARE(policy(), std::string("cleanup.policy=delete,compact"));  // the default counts
  QVERIFY(cluster.edit(kTopic, "t", "cleanup.policy", kAppend, "compact,") == ErrorCode::none);
  QCOMPARE(policy(), std::string("cleanup.policy=delete,compact"));
  QVERIFY(cluster.edit(kTopic, "t", "cleanup.policy", kSubtract, "delete,nothing") == ErrorCode::none);
  QCOMPARE(policy(), std::string("cleanup.policy=compact"));
  QVERIFY(cluster.edit(kTopic, "t", "cleanup.policy", kSubtract, "compact") == ErrorCode::none);
  QCOMPARE(policy(), std::string("cleanup.policy="));
  QVERIFY(cluster.edit(kBroker, "", "log.cleanup.policy", kAppend, "compact") == ErrorCode::none);
  QCOMPARE(cluster.own(ConfigResourceType::broker, ""), std::string("log.cleanup.policy=delete,compact min.insync.replicas=1"));
}

void TestConfigChanges::legacy_replaces_everything() {
  Cluster cluster;
  cluster.edit(kTopic, "t", "retention.ms", kSet, "1");
  cluster.edit(kTopic, "t", "max.message.bytes", kSet, "2000");
  QVERIFY(cluster.alter({kTopic, "t", true, {{"retention.ms", kSet, "1234567"}}}).error == ErrorCode::none);
  QCOMPARE(cluster.own(ConfigResourceType::topic, "t"), std::string("retention.ms=1234567"));
  QVERIFY(cluster.alter({kTopic, "t", true, {}}).error == ErrorCode::none);
  QCOMPARE(cluster.own(ConfigResourceType::topic, "t"), std::string());
  QVERIFY(cluster.alter({kTopic, "t", true, {{"retention.ms", kSet, std::nullopt}}}).error == ErrorCode::invalid_request);
  QVERIFY(cluster.alter({8, "1", true, {{"root", kSet, "WARN"}}}).error == ErrorCode::invalid_request);
}

void TestConfigChanges::what_is_refused_as_kafka_refuses_data() {
  QTest::addColumn<int>("type");
  QTest::addColumn<QString>("name");
  QTest::addColumn<QString>("key");
  QTest::addColumn<int>("op");
  QTest::addColumn<QString>("value");
  QTest::addColumn<int>("expected");
  struct Row {
    std::int8_t type;
    const char* name;
    const char* key;
    std::int8_t op;
    const char* value;
    ErrorCode expected;
  };
  constexpr ErrorCode kNone = ErrorCode::none;
  constexpr ErrorCode kRequest = ErrorCode::invalid_request;
  constexpr ErrorCode kConfig = ErrorCode::invalid_config;
  const Row rows[] = {
      {kTopic, "t", "nope", kSet, "1", kConfig},
      {kTopic, "t", "retention.ms", kSet, "x", kConfig},
      {kTopic, "t", "retention.ms", kAppend, "1", kConfig},
      {kTopic, "t", "cleanup.policy", kSet, "", kNone},
      {kTopic, "t", "cleanup.policy", kAppend, "", kNone},
      {kTopic, "t", "remote.storage.enable", kSet, "true", kConfig},
      {kTopic, "t", "local.retention.ms", kSet, "1000", kNone},
      {kTopic, "t", "internal.segment.bytes", kSet, "10", kNone},
      {kTopic, "nobody", "retention.ms", kSet, "1", ErrorCode::unknown_topic_or_partition},
      {kTopic, "nobody", "zz", kSet, "1", kConfig},
      {kTopic, "", "retention.ms", kSet, "1", kRequest},
      {kTopic, "a b", "retention.ms", kSet, "1", ErrorCode::invalid_topic_exception},
      {kBroker, "abc", "log.retention.ms", kSet, "1", kRequest},
      {kBroker, "99", "log.retention.ms", kSet, "1", kRequest},
      {kBroker, "-1", "log.retention.ms", kSet, "1", kRequest},
      {kBroker, "1", "num.partitions", kSet, "3", kRequest},
      {kBroker, "1", "log.retention.ms", 9, "1", kRequest},
      {kBroker, "1", "log.retention.ms", kAppend, "1", kConfig},
      {kBroker, "1", "nope.key", kAppend, "1", kConfig},
      {kBroker, "1", "nope.key", kSet, "1", kNone},
      {kBroker, "", "nope.key", kSet, "1", kNone},
      {kBroker, "1", "log.retention.ms", kSet, "0", kRequest},
      {kBroker, "", "log.retention.ms", kSet, "-1", kNone},
      {kBroker, "1", "log.roll.ms", kSet, "0", kRequest},
      {kBroker, "1", "log.local.retention.ms", kSet, "999999999999", kRequest},
      {kBroker, "1", "num.io.threads", kSet, "3", kRequest},
      {kBroker, "", "num.io.threads", kSet, "17", kRequest},
      {kBroker, "1", "num.io.threads", kSet, "0", kRequest},
      {kBroker, "1", "num.io.threads", kSet, "16", kNone},
      {kBroker, "1", "log.cleaner.threads", kSet, "3", kRequest},
      {kBroker, "1", "log.cleaner.threads", kSet, "2", kNone},
      {kBroker, "1", "log.cleaner.threads", kSet, "0", kRequest},
      {kBroker, "1", "log.cleaner.dedupe.buffer.size", kSet, "1000", kRequest},
      {kBroker, "1", "compression.type", kSet, "zz", kRequest},
      {kBroker, "1", "max.connections", kSet, "-1", kRequest},
      {kBroker, "1", "producer.id.expiration.ms", kSet, "0", kRequest},
      {kBroker, "1", "ssl.keystore.location", kSet, "/x", kRequest},
      {kBroker, "1", "listener.name.plaintext.ssl.keystore.location", kSet, "/x", kNone},
      {kBroker, "", "listener.name.plaintext.ssl.keystore.location", kSet, "/x", kRequest},
      {kBroker, "", "sasl.jaas.config", kSet, "x", kRequest},
      {kBroker, "1", "sasl.jaas.config", kSet, "x", kNone},
      {kBroker, "1", "metric.reporters", kSet, "a.b.C", kRequest},
      {kBroker, "1", "metric.reporters", kSet, "", kNone},
      {kBroker, "1", "config.providers", kSet, "file", kNone},
      {kBroker, "1", "principal.builder.class", kSet, "x", kRequest},
      {kBroker, "1", "max.connections.per.ip", kSet, "0", kRequest},
      {kBroker, "", "max.connections.per.ip.overrides", kSet, "x", kRequest},
      {kBroker, "", "max.connections.per.ip.overrides", kSet, "127.0.0.1:100000", kNone},
      {kBroker, "1", "cordoned.log.dirs", kSet, "/nope", kRequest},
      {kBroker, "1", "cordoned.log.dirs", kSet, "*", kNone},
      {kBroker, "", "cordoned.log.dirs", kSet, "*", kRequest},
      {kBroker, "1", "listeners", kSet, "PLAINTEXT://127.0.0.1:1", kRequest},
      {kBroker, "1", "leader.replication.throttled.rate", kSet, "1000", kNone},
      {kBroker, "1", "leader.replication.throttled.rate", kSet, "-1", kRequest},
      {kBroker, "1", "group.consumer.assignment.interval.ms", kSet, "99999", kRequest},
      {kBroker, "1", "group.consumer.assignment.interval.ms", kSet, "2000", kNone},
      {kBroker, "", "unclean.leader.election.enable", kSet, "true", kNone},
      {kGroup, "g", "nope", kSet, "1", kConfig},
      {kGroup, "", "consumer.session.timeout.ms", kSet, "50000", kRequest},
      {kGroup, "g", "consumer.session.timeout.ms", kSet, "1000", kConfig},
      {kGroup, "g", "consumer.session.timeout.ms", kSet, "90000", kConfig},
      {kGroup, "g", "consumer.session.timeout.ms", kSet, "50000", kNone},
      {kGroup, "g", "consumer.session.timeout.ms", kAppend, "50000", kConfig},
      {kGroup, "g", "consumer.heartbeat.interval.ms", kSet, "1000", kConfig},
      {kGroup, "g", "consumer.heartbeat.interval.ms", kSet, "15000", kNone},
      {kGroup, "g", "consumer.assignment.interval.ms", kSet, "20000", kConfig},
      {kGroup, "g", "consumer.assignment.interval.ms", kSet, "0", kNone},
      {kGroup, "g", "share.record.lock.duration.ms", kSet, "14000", kConfig},
      {kGroup, "g", "share.record.lock.duration.ms", kSet, "61000", kConfig},
      {kGroup, "g", "share.delivery.count.limit", kSet, "11", kConfig},
      {kGroup, "g", "share.delivery.count.limit", kSet, "2", kNone},
      {kGroup, "g", "share.delivery.count.limit", kSet, "1", kConfig},
      {kGroup, "g", "share.partition.max.record.locks", kSet, "5000", kConfig},
      {kGroup, "g", "share.auto.offset.reset", kSet, "by_duration:P1D", kNone},
      {kGroup, "g", "share.auto.offset.reset", kSet, "by_duration:PT1H2M3.5S", kNone},
      {kGroup, "g", "share.auto.offset.reset", kSet, "by_duration:-P1D", kConfig},
      {kGroup, "g", "share.auto.offset.reset", kSet, "by_duration:x", kConfig},
      {kGroup, "g", "share.auto.offset.reset", kSet, "by_duration:PT", kConfig},
      {kGroup, "g", "share.auto.offset.reset", kSet, "EARLIEST", kConfig},
      {kGroup, "g", "share.isolation.level", kSet, "x", kConfig},
      {kGroup, "g", "streams.num.standby.replicas", kSet, "3", kConfig},
      {kGroup, "g", "streams.num.standby.replicas", kSet, "2", kNone},
      {kGroup, "g", "streams.num.warmup.replicas", kSet, "21", kConfig},
      {kGroup, "g", "streams.task.offset.interval.ms", kSet, "1000", kConfig},
      {kGroup, "g", "streams.assignor.name", kSet, "zz", kConfig},
      {kGroup, "g", "streams.assignor.name", kSet, "sticky", kNone},
      {kGroup, "g", "streams.rack.aware.assignment.tags", kSet, "a,b", kNone},
      {kGroup, "g", "streams.rack.aware.assignment.tags", kAppend, "a", kConfig},
      {kGroup, "g", "errors.deadletterqueue.topic.name", kSet, "orders", kNone},
      {kGroup, "g", "errors.deadletterqueue.topic.name", kSet, "__consumer_offsets", kConfig},
      {kClientMetrics, "", "interval.ms", kSet, "1000", kRequest},
      {kClientMetrics, "m", "zz", kSet, "1", kRequest},
      {kClientMetrics, "m", "interval.ms", kSet, "x", kConfig},
      {kClientMetrics, "m", "interval.ms", kSet, "10", kRequest},
      {kClientMetrics, "m", "interval.ms", kSet, "1000", kNone},
      {kClientMetrics, "m", "match", kSet, "zzz=1", kConfig},
      {kClientMetrics, "m", "match", kSet, "client_id=a=b", kConfig},
      {kClientMetrics, "m", "match", kSet, "client_id=ab.*,client_software_name=x", kNone},
      {kClientMetrics, "m", "metrics", kAppend, "d", kConfig},
      {8, "1", "root", kSet, "WARN", kRequest},
      {77, "x", "a", kSet, "1", kRequest},
  };
  for (const Row& row : rows) {
    QTest::addRow("%d '%s' %s %d '%s'", row.type, row.name, row.key, row.op, row.value)
        << int{row.type} << row.name << row.key << int{row.op} << row.value << int{static_cast<std::int16_t>(row.expected)};
  }
}

void TestConfigChanges::what_is_refused_as_kafka_refuses() {
  QFETCH(int, type);
  QFETCH(QString, name);
  QFETCH(QString, key);
  QFETCH(int, op);
  QFETCH(QString, value);
  QFETCH(int, expected);
  Cluster cluster(Settings{{"log.dirs", "/data"}});
  const Refusal answer = cluster.alter({static_cast<std::int8_t>(type), name.toStdString(), false,
                                        {{key.toStdString(), static_cast<std::int8_t>(op), value.toStdString()}}});
  QCOMPARE(int{static_cast<std::int16_t>(answer.error)}, expected);
  QCOMPARE(answer.message.empty(), answer.error == ErrorCode::none);  // whoever is refused learns why
}

// Kafka's controllers know no broker's own limits; which nodes there are they do know.
void TestConfigChanges::a_controller_takes_what_concerns_other_nodes() {
  Cluster cluster;
  const auto direct = [&](const std::string& name, const std::string& key) {
    return cluster.alter_all({{kBroker, name, false, {{key, kSet, "1"}}}}).front().error;
  };
  QVERIFY(direct("1", "log.cleaner.threads") == ErrorCode::none);
  QVERIFY(direct("+1", "broker.rack") == ErrorCode::none);
  QVERIFY(direct("79", "log.cleaner.threads") == ErrorCode::broker_id_not_registered);
  QVERIFY(direct("abc", "log.cleaner.threads") == ErrorCode::invalid_request);
  QCOMPARE(cluster.own(ConfigResourceType::broker, "1"), std::string("broker.rack=1 log.cleaner.threads=1"));
  // The broker does what it can do with it.
  QVERIFY(direct("1", "compression.type") == ErrorCode::none);  // 1 is none
  const BrokerConfigs now = cluster.plane.controller().broker_configs().with_dynamic(cluster.plane.image(), BrokerId(1));
  QCOMPARE(now.text("broker.rack"), std::string());
  QCOMPARE(now.number("log.cleaner.threads"), std::int64_t{1});
  QCOMPARE(now.text("compression.type"), std::string("producer"));
  // The broker that a client asks has a say only about itself.
  const ResourceEdit edit{kBroker, "2", false, {{"log.cleaner.threads", kSet, "1"}}};
  QVERIFY(cluster.taken(edit, BrokerId(2)).error == ErrorCode::none);
  QVERIFY(cluster.taken(edit, BrokerId(1)).error == ErrorCode::invalid_request);
  QVERIFY(cluster.taken({kTopic, "t", false, {{"nope", kSet, "1"}}}, BrokerId(1)).error == ErrorCode::none);
}

void TestConfigChanges::one_bad_resource_does_not_hinder_another() {
  Cluster cluster;
  const std::vector<Refusal> answers = cluster.alter_all({{kTopic, "t", false, {{"retention.ms", kSet, "5"}}},
                                                          {kTopic, "u", false, {{"nope", kSet, "5"}}},
                                                          {kGroup, "g", false, {{"consumer.session.timeout.ms", kSet, "50000"}}},
                                                          {kBroker, "1", false, {{"a", kSet, "1"}, {"a", kSet, "2"}}}});
  QVERIFY(answers[0].error == ErrorCode::none);
  QVERIFY(answers[1].error == ErrorCode::invalid_config);
  QVERIFY(answers[2].error == ErrorCode::none);
  QVERIFY(answers[3].error == ErrorCode::invalid_request);
  QCOMPARE(cluster.own(ConfigResourceType::topic, "t"), std::string("retention.ms=5"));
  QCOMPARE(cluster.own(ConfigResourceType::group, "g"), std::string("consumer.session.timeout.ms=50000"));
  const std::vector<Refusal> twice = cluster.alter_all(
      {{kTopic, "t", false, {{"retention.ms", kSet, "6"}}}, {kTopic, "t", false, {{"flush.ms", kSet, "6"}}}});
  QVERIFY(twice[0].error == ErrorCode::invalid_request && twice[1].error == ErrorCode::invalid_request);
  QCOMPARE(cluster.own(ConfigResourceType::topic, "t"), std::string("retention.ms=5"));
  // Several keys of one resource: all or nothing.
  QVERIFY(cluster.alter({kTopic, "t", false, {{"flush.ms", kSet, "6"}, {"retention.ms", kSet, "x"}}}).error ==
          ErrorCode::invalid_config);
  QCOMPARE(cluster.own(ConfigResourceType::topic, "t"), std::string("retention.ms=5"));
}

void TestConfigChanges::validate_only_writes_nothing() {
  Cluster cluster;
  const Offset before = cluster.plane.image().offset();
  QVERIFY(cluster.edit(kTopic, "t", "retention.ms", kSet, "5", true) == ErrorCode::none);
  QVERIFY(cluster.edit(kTopic, "t", "retention.ms", kSet, "x", true) == ErrorCode::invalid_config);
  QVERIFY(cluster.plane.image().offset() == before);
}

void TestConfigChanges::a_read_only_key_may_be_deleted() {
  Cluster cluster;
  QVERIFY(cluster.edit(kBroker, "1", "num.partitions", kDelete, std::nullopt) == ErrorCode::none);
}

void TestConfigChanges::another_step_needs_the_first() {
  // Pools of threads grow at most twofold at a time; what was reached counts.
  Cluster cluster;
  QVERIFY(cluster.edit(kBroker, "1", "num.io.threads", kSet, "16") == ErrorCode::none);
  QVERIFY(cluster.edit(kBroker, "1", "num.io.threads", kSet, "32") == ErrorCode::none);
  QVERIFY(cluster.edit(kBroker, "1", "num.io.threads", kSet, "8") == ErrorCode::invalid_request);
}

void TestConfigChanges::changes_survive_a_restart() {
  Cluster cluster;
  cluster.edit(kBroker, "", "log.retention.ms", kSet, "99");
  cluster.edit(kBroker, "1", "max.connections", kSet, "5");
  cluster.edit(kGroup, "g", "share.isolation.level", kSet, "read_committed");
  cluster.edit(kClientMetrics, "m", "metrics", kSet, "*");
  Plane again({}, 2, cluster.plane.batches, cluster.plane.election());
  again.run();
  QVERIFY(again.image().configs() == cluster.plane.image().configs());
  QCOMPARE(again.image().configs().size(), std::size_t{4});
}

void TestConfigChanges::dynamic_values_reach_typed_configs() {
  Cluster cluster;
  const BrokerConfigs file = *BrokerConfigs::parse({{"log.retention.hours", "2"}, {"max.connections", "10"}});
  cluster.edit(kBroker, "", "max.connections", kSet, "20");
  QCOMPARE(file.with_dynamic(cluster.plane.image(), BrokerId(1)).number("max.connections"), 20);
  cluster.edit(kBroker, "1", "max.connections", kSet, "30");
  QCOMPARE(file.with_dynamic(cluster.plane.image(), BrokerId(1)).number("max.connections"), 30);
  QCOMPARE(file.with_dynamic(cluster.plane.image(), BrokerId(2)).number("max.connections"), 20);
  QCOMPARE(file.with_dynamic(cluster.plane.image(), BrokerId(1)).number("log.retention.ms"), 7'200'000);
  QCOMPARE(file.number("max.connections"), 10);
  cluster.edit(kBroker, "1", "max.connections", kDelete, std::nullopt);
  QCOMPARE(file.with_dynamic(cluster.plane.image(), BrokerId(1)).number("max.connections"), 20);
}

QTEST_APPLESS_MAIN(TestConfigChanges)
#include "tst_config_changes.moc"
