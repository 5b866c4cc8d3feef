// SPDX-License-Identifier: Apache-2.0
// Quotas, features, elections, reassignments and client match patterns: what 4.4.0 answered to the same questions.
#include <QtTest/QTest>

#include <algorithm>

#include "engine/metadata/client_quotas.h"
#include "engine/metadata/match_pattern.h"
#include "tests/engine/metadata/metadata_fixture.h"

using namespace hw;
using namespace hw::metadata;
using namespace hw::metadata::test;
using wire::ErrorCode;

namespace {

using Parts = std::vector<std::pair<std::string, std::optional<std::string>>>;

wire::AlterClientQuotasRequest::EntryData entry(const Parts& entity, const std::string& key, double value, bool remove = false) {
  wire::AlterClientQuotasRequest::EntryData result;
  for (const auto& [type, name] : entity) {
    auto& part = result.entity.emplace_back();
    part.entity_type = type;
    part.entity_name = name;
  }
  auto& op = result.ops.emplace_back();
  op.key = key;
  op.value = value;
  op.remove = remove;
  return result;
}

class Cluster {
 public:
  Cluster() {
    plane.run();
    wire::CreateTopicsRequest request;
    auto& created = request.topics.emplace_back();
    created.name = std::string("t");
    created.num_partitions = 2;
    created.replication_factor = 1;
    plane.controller().create_topics(request, [](const wire::CreateTopicsResponse&) {});
    plane.run();
  }
  wire::AlterClientQuotasResponse alter(std::vector<wire::AlterClientQuotasRequest::EntryData> entries,
                                        bool validate_only = false) {
    wire::AlterClientQuotasRequest request;
    request.entries = std::move(entries);
    request.validate_only = validate_only;
    wire::AlterClientQuotasResponse response;
    plane.controller().alter_client_quotas(request, [&](wire::AlterClientQuotasResponse r) { response = std::move(r); });
    plane.run();
    return response;
  }
  wire::DescribeClientQuotasResponse describe(
      const std::vector<std::tuple<std::string, std::int8_t, std::optional<std::string>>>& components, bool strict = false) {
    wire::DescribeClientQuotasRequest request;
    for (const auto& [type, match_type, match] : components) {
      auto& component = request.components.emplace_back();
      component.entity_type = type;
      component.match_type = match_type;
      component.match = match;
    }
    request.strict = strict;
    return describe_client_quotas(request, plane.image());
  }
  wire::ElectLeadersResponse elect(std::int8_t type, std::optional<std::vector<std::int32_t>> partitions,
                                   const std::string& topic_name = "t") {
    wire::ElectLeadersRequest request;
    request.election_type = type;
    request.topic_partitions.reset();
    if (partitions) {
      request.topic_partitions.emplace();
      auto& asked = request.topic_partitions->emplace_back();
      asked.topic = topic_name;
      for (const std::int32_t index : *partitions) {
        asked.partitions.emplace_back(index);
      }
    }
    wire::ElectLeadersResponse response;
    plane.controller().elect_leaders(request, [&](wire::ElectLeadersResponse r) { response = std::move(r); });
    plane.run();
    return response;
  }

  Plane plane;
};

}  // namespace

class TestClusterChanges : public QObject {
  Q_OBJECT
 private slots:
  void quotas_are_checked_data();
  void quotas_are_checked();
  void quotas_are_kept_and_found();
  void an_entity_is_named_once();
  void filters_are_checked();
  void features_are_checked_data();
  void features_are_checked();
  void elections();
  void a_leaderless_partition_is_given_one();
  void reassignments();
  void a_broker_that_is_unregistered_registers_again();
  void mutation_quotas_refuse_topics();
  void patterns_data();
  void patterns();
  void bad_patterns_are_refused();
  void long_texts_do_not_blow_up();
};

void TestClusterChanges::quotas_are_checked_data() {
  QTest::addColumn<QString>("type");
  QTest::addColumn<QString>("name");
  QTest::addColumn<QString>("key");
  QTest::addColumn<double>("value");
  QTest::addColumn<bool>("good");
  const auto row = [](const char* type, const char* name, const char* key, double value, bool good) {
    QTest::addRow("%s %s %s %g", type, name, key, value) << type << name << key << value << good;
  };
  row("client-id", "a", "producer_byte_rate", 0, false);
  row("client-id", "a", "producer_byte_rate", 0.5, false);
  row("client-id", "a", "request_percentage", 0.5, true);
  row("client-id", "a", "producer_byte_rate", -1, false);
  row("client-id", "a", "request_percentage", qQNaN(), false);
  row("client-id", "a", "request_percentage", qInf(), false);
  row("client-id", "a", "producer_byte_rate", 1e-7, true);
  row("client-id", "a", "producer_byte_rate", 1e30, false);
  row("client-id", "a", "nope", 1, false);
  row("user", "", "producer_byte_rate", 1, false);
  row("user", "u", "connection_creation_rate", 1, false);
  row("user", "u", "controller_mutation_rate", 0.1, true);
  row("ip", "1.2.3.4", "producer_byte_rate", 1, false);
  row("ip", "1.2.3.4", "connection_creation_rate", 5, true);
  row("ip", "1.2.3.4", "connection_creation_rate", 0.5, false);
  row("ip", "localhost", "connection_creation_rate", 5, true);
  row("ip", "not an ip", "connection_creation_rate", 5, false);
  row("zz", "a", "producer_byte_rate", 5, false);
}
void TestClusterChanges::quotas_are_checked() {
  QFETCH(QString, type);
  QFETCH(QString, name);
  QFETCH(QString, key);
  QFETCH(double, value);
  QFETCH(bool, good);
  Cluster cluster;
  const auto answer = cluster.alter({entry({{type.toStdString(), name.toStdString()}}, key.toStdString(), value)}).entries.front();
  QVERIFY(answer.error_code == (good ? ErrorCode::none : ErrorCode::invalid_request));
  QCOMPARE(answer.error_message.has_value(), !good);
  QCOMPARE(cluster.plane.image().client_quotas().size(), good ? std::size_t{1} : std::size_t{0});
}

void TestClusterChanges::quotas_are_kept_and_found() {
  Cluster cluster;
  cluster.alter({entry({{"client-id", "a"}}, "producer_byte_rate", 1), entry({{"user", "u"}, {"client-id", std::nullopt}}, "consumer_byte_rate", 10),
                 entry({{"user", std::nullopt}, {"client-id", "c"}}, "controller_mutation_rate", 10), entry({{"user", "s"}}, "producer_byte_rate", 2),
                 entry({{"ip", std::nullopt}}, "connection_creation_rate", 5)});
  QCOMPARE(cluster.plane.image().client_quotas().size(), std::size_t{5});
  const auto count = [](const wire::DescribeClientQuotasResponse& r) { return r.entries ? r.entries->size() : 0; };
  QCOMPARE(count(cluster.describe({})), std::size_t{5});
  QCOMPARE(count(cluster.describe({}, true)), std::size_t{0});
  QCOMPARE(count(cluster.describe({{"user", 2, std::nullopt}})), std::size_t{3});
  QCOMPARE(count(cluster.describe({{"user", 2, std::nullopt}}, true)), std::size_t{1});
  QCOMPARE(count(cluster.describe({{"client-id", 1, std::nullopt}})), std::size_t{1});
  QCOMPARE(count(cluster.describe({{"user", 0, "s"}})), std::size_t{1});
  QCOMPARE(count(cluster.describe({{"user", 0, "nobody"}})), std::size_t{0});
  QCOMPARE(count(cluster.describe({{"user", 2, std::nullopt}, {"client-id", 2, std::nullopt}}, true)), std::size_t{2});
  const auto both = cluster.describe({{"client-id", 0, "c"}});
  QCOMPARE(both.entries->front().entity.size(), std::size_t{2});
  QCOMPARE(both.entries->front().entity[0].entity_type, std::string("client-id"));
  QVERIFY(!both.entries->front().entity[1].entity_name.has_value());

  // Equal again: nothing is written. Removed: the entity is gone. All of it survives a restart.
  const Offset before = cluster.plane.image().offset();
  cluster.alter({entry({{"user", "s"}}, "producer_byte_rate", 2)});
  cluster.alter({entry({{"user", "s"}}, "consumer_byte_rate", 0, true)});
  cluster.alter({entry({{"user", "v"}}, "producer_byte_rate", 2)}, true);
  QVERIFY(cluster.plane.image().offset() == before);
  cluster.alter({entry({{"user", "s"}}, "producer_byte_rate", 0, true)});
  Plane again({}, 2, cluster.plane.batches, cluster.plane.election());
  again.run();
  QVERIFY(again.image().client_quotas() == cluster.plane.image().client_quotas());
  QCOMPARE(again.image().client_quotas().size(), std::size_t{4});
}

void TestClusterChanges::an_entity_is_named_once() {
  Cluster cluster;
  const auto twice = cluster.alter({entry({{"user", "s"}}, "producer_byte_rate", 1), entry({{"user", "s"}}, "producer_byte_rate", 2)});
  QCOMPARE(twice.entries.size(), std::size_t{1});
  QVERIFY(twice.entries.front().error_code == ErrorCode::invalid_request);
  QCOMPARE(cluster.plane.image().client_quotas().at({{"user", "s"}}).at("producer_byte_rate"), 1.0);
  const auto type_twice = cluster.alter({entry({{"user", "a"}, {"user", "b"}}, "producer_byte_rate", 5)});
  QVERIFY(type_twice.entries.front().error_code == ErrorCode::none);
  QVERIFY(cluster.plane.image().client_quotas().contains({{"user", "b"}}));
  auto key_twice = entry({{"user", "x"}}, "producer_byte_rate", 5);
  key_twice.ops.push_back(key_twice.ops.front());
  QVERIFY(cluster.alter({key_twice}).entries.front().error_code == ErrorCode::invalid_request);
  QVERIFY(cluster.alter({entry({}, "producer_byte_rate", 5)}).entries.front().error_code == ErrorCode::invalid_request);
  QVERIFY(cluster.alter({entry({{"ip", "1.2.3.4"}, {"user", "u"}}, "producer_byte_rate", 5)}).entries.front().error_code ==
          ErrorCode::invalid_request);
}

void TestClusterChanges::filters_are_checked() {
  Cluster cluster;
  const auto error = [&](const std::vector<std::tuple<std::string, std::int8_t, std::optional<std::string>>>& components) {
    const auto response = cluster.describe(components);
    HW_ASSERT(response.entries.has_value() == (response.error_code == ErrorCode::none), "an error has no entries");
    return response.error_code;
  };
  QVERIFY(error({{"user", 0, std::nullopt}}) == ErrorCode::invalid_request);
  QVERIFY(error({{"user", 1, "x"}}) == ErrorCode::invalid_request);
  QVERIFY(error({{"user", 2, "x"}}) == ErrorCode::invalid_request);
  QVERIFY(error({{"user", 9, "x"}}) == ErrorCode::invalid_request);
  QVERIFY(error({{"zz", 0, "x"}}) == ErrorCode::unsupported_version);
  QVERIFY(error({{"", 0, "x"}}) == ErrorCode::invalid_request);
  QVERIFY(error({{"user", 0, "x"}, {"user", 0, "y"}}) == ErrorCode::invalid_request);
  QVERIFY(error({{"ip", 2, std::nullopt}, {"user", 2, std::nullopt}}) == ErrorCode::invalid_request);
}

void TestClusterChanges::features_are_checked_data() {
  QTest::addColumn<QString>("feature");
  QTest::addColumn<int>("level");
  QTest::addColumn<int>("type");
  QTest::addColumn<bool>("good");
  const auto row = [](const char* feature, int level, int type, bool good) {
    QTest::addRow("%s %d type %d", feature, level, type) << feature << level << type << good;
  };
  row("zz", 1, 1, false);
  row("metadata.version", 33, 1, true);
  row("metadata.version", 99, 1, false);
  row("metadata.version", 34, 1, false);
  row("metadata.version", 30, 1, false);
  row("metadata.version", 30, 2, false);
  row("metadata.version", 30, 3, false);
  row("metadata.version", 0, 2, false);
  row("metadata.version", 33, 0, false);
  row("metadata.version", 33, 9, false);
  row("metadata.version", -1, 1, false);
  row("eligible.leader.replicas.version", 1, 1, true);
  row("eligible.leader.replicas.version", 1, 2, true);
  row("eligible.leader.replicas.version", 2, 1, false);
  row("eligible.leader.replicas.version", 0, 1, false);
  row("group.version", 1, 1, true);
  row("group.version", 2, 1, false);
  row("group.version", 0, 1, false);
  row("transaction.version", 2, 1, true);
  row("transaction.version", 3, 1, false);
  row("transaction.version", 1, 1, false);
  row("kraft.version", 1, 1, true);
  row("kraft.version", 0, 2, false);
  row("kraft.version", 5, 1, false);
}
void TestClusterChanges::features_are_checked() {
  QFETCH(QString, feature);
  QFETCH(int, level);
  QFETCH(int, type);
  QFETCH(bool, good);
  Cluster cluster;
  const Offset before = cluster.plane.image().offset();
  for (const std::int16_t version : {std::int16_t{1}, std::int16_t{2}}) {
    wire::UpdateFeaturesRequest request;
    auto& update = request.feature_updates.emplace_back();
    update.feature = feature.toStdString();
    update.max_version_level = static_cast<std::int16_t>(level);
    update.upgrade_type = static_cast<std::int8_t>(type);
    wire::UpdateFeaturesResponse response;
    cluster.plane.controller().update_features(request, version, [&](wire::UpdateFeaturesResponse r) { response = std::move(r); });
    cluster.plane.run();
    QVERIFY(response.error_code == (good ? ErrorCode::none : ErrorCode::invalid_update_version));
    QCOMPARE(response.error_message.has_value(), !good);
    QCOMPARE(response.results.size(), version < 2 && good ? std::size_t{1} : std::size_t{0});
  }
  QVERIFY(cluster.plane.image().offset() == before);  // the levels are where they were
}

void TestClusterChanges::elections() {
  Cluster cluster;
  for (const std::int8_t type : {std::int8_t{0}, std::int8_t{1}}) {
    const auto all = cluster.elect(type, std::nullopt);
    QVERIFY(all.error_code == ErrorCode::none);
    QCOMPARE(all.replica_election_results.size(), std::size_t{1});
    QVERIFY(all.replica_election_results.front().partition_result.empty());
    const auto some = cluster.elect(type, std::vector<std::int32_t>{9, 0, 0, -1});
    const auto& results = some.replica_election_results.front().partition_result;
    QCOMPARE(results.size(), std::size_t{3});
    QVERIFY(results[0].error_code == ErrorCode::unknown_topic_or_partition);
    QVERIFY(results[1].error_code == ErrorCode::election_not_needed);
    QVERIFY(results[2].error_code == ErrorCode::unknown_topic_or_partition);
  }
  const auto unknown = cluster.elect(0, std::vector<std::int32_t>{0}, "nope");
  QVERIFY(unknown.replica_election_results.front().partition_result.front().error_code == ErrorCode::unknown_topic_or_partition);
  const auto bad_type = cluster.elect(9, std::vector<std::int32_t>{0});
  QVERIFY(bad_type.error_code == ErrorCode::invalid_request);
  QVERIFY(bad_type.replica_election_results.front().partition_result.front().error_code == ErrorCode::invalid_request);
}

void TestClusterChanges::a_leaderless_partition_is_given_one() {
  Cluster cluster;
  wire::PartitionChangeRecord orphan;
  orphan.topic_id = cluster.plane.image().find_topic("t")->id;
  orphan.partition_id = PartitionIndex(1);
  orphan.leader = kNoBroker;
  cluster.plane.controller().write_records({Record(orphan)});
  cluster.plane.run();
  QVERIFY(cluster.plane.image().find_topic("t")->partitions[1].leader == kNoBroker);
  const auto answer = cluster.elect(0, std::nullopt);
  QCOMPARE(answer.replica_election_results.front().partition_result.size(), std::size_t{1});
  QVERIFY(answer.replica_election_results.front().partition_result.front().error_code == ErrorCode::none);
  QVERIFY(cluster.plane.image().find_topic("t")->partitions[1].leader == BrokerId(1));
}

void TestClusterChanges::reassignments() {
  Cluster cluster;
  const auto ask = [&](const std::string& name, std::int32_t partition, std::optional<std::vector<BrokerId>> replicas,
                       bool may_change_count = true) {
    wire::AlterPartitionReassignmentsRequest request;
    request.allow_replication_factor_change = may_change_count;
    auto& asked = request.topics.emplace_back();
    asked.name = name;
    auto& item = asked.partitions.emplace_back();
    item.partition_index = PartitionIndex(partition);
    item.replicas = std::move(replicas);
    wire::AlterPartitionReassignmentsResponse response;
    cluster.plane.controller().alter_partition_reassignments(
        request, [&](wire::AlterPartitionReassignmentsResponse r) { response = std::move(r); });
    cluster.plane.run();
    HW_ASSERT(response.error_code == ErrorCode::none && response.allow_replication_factor_change == may_change_count, "top level");
    return response.responses.front().partitions.front().error_code;
  };
  const BrokerId me(1);
  const BrokerId other(77);
  QVERIFY(ask("t", 0, std::vector{me}) == ErrorCode::none);
  QVERIFY(ask("t", 0, std::vector{me, other}) == ErrorCode::invalid_replica_assignment);
  QVERIFY(ask("t", 0, std::vector{me, other}, false) == ErrorCode::invalid_replica_assignment);
  QVERIFY(ask("t", 0, std::vector<BrokerId>{}) == ErrorCode::invalid_replica_assignment);
  QVERIFY(ask("t", 0, std::vector{me, me}) == ErrorCode::invalid_replica_assignment);
  QVERIFY(ask("t", 0, std::vector{BrokerId(-1)}) == ErrorCode::invalid_replica_assignment);
  QVERIFY(ask("t", 0, std::nullopt) == ErrorCode::no_reassignment_in_progress);
  QVERIFY(ask("nope", 0, std::vector{me}) == ErrorCode::unknown_topic_or_partition);
  QVERIFY(ask("nope", 0, std::nullopt) == ErrorCode::unknown_topic_or_partition);
  QVERIFY(ask("t", 9, std::vector{me}) == ErrorCode::unknown_topic_or_partition);
}

void TestClusterChanges::a_broker_that_is_unregistered_registers_again() {
  Cluster cluster;
  const auto unregister = [&](std::int32_t id) {
    ErrorCode error = ErrorCode::unknown_server_error;
    cluster.plane.controller().unregister_broker(BrokerId(id), [&](const Refusal& refusal) { error = refusal.error; });
    cluster.plane.run();
    return error;
  };
  QVERIFY(unregister(99) == ErrorCode::broker_id_not_registered);
  const std::int64_t epoch = cluster.plane.image().find_broker(BrokerId(1))->epoch;
  QVERIFY(unregister(1) == ErrorCode::none);
  const BrokerImage* again = cluster.plane.image().find_broker(BrokerId(1));
  QVERIFY(again != nullptr && !again->fenced && again->epoch > epoch);
  QVERIFY(cluster.plane.image().find_topic("t")->partitions[0].leader == BrokerId(1));
}

void TestClusterChanges::mutation_quotas_refuse_topics() {
  Cluster cluster;
  wire::CreateTopicsRequest request;
  for (const char* name : {"a", "b", "c"}) {
    auto& created = request.topics.emplace_back();
    created.name = name;
    created.num_partitions = 5;
    created.replication_factor = 1;
  }
  std::int64_t asked = 0;
  wire::CreateTopicsResponse response;
  cluster.plane.controller().create_topics(
      request, [&](wire::CreateTopicsResponse r) { response = std::move(r); },
      [&](std::int64_t partitions) { return (asked += partitions) <= 10; });
  cluster.plane.run();
  QCOMPARE(asked, 15);
  QVERIFY(response.topics[0].error_code == ErrorCode::none && response.topics[1].error_code == ErrorCode::none);
  QVERIFY(response.topics[2].error_code == ErrorCode::throttling_quota_exceeded);
  QVERIFY(!response.topics[2].error_message.has_value());
  QVERIFY(cluster.plane.image().find_topic("c") == nullptr);

  wire::DeleteTopicsRequest remove;
  auto& state = remove.topics.emplace_back();
  state.name = "a";
  wire::DeleteTopicsResponse removed;
  cluster.plane.controller().delete_topics(
      remove, [&](wire::DeleteTopicsResponse r) { removed = std::move(r); }, [](std::int64_t) { return false; });
  cluster.plane.run();
  QVERIFY(removed.responses.front().error_code == ErrorCode::throttling_quota_exceeded);
  QVERIFY(cluster.plane.image().find_topic("a") != nullptr);
}

void TestClusterChanges::patterns_data() {
  QTest::addColumn<QString>("expression");
  QTest::addColumn<QString>("text");
  QTest::addColumn<bool>("matches");
  const auto row = [](const char* expression, const char* text, bool matches) {
    QTest::addRow("%s ~ %s", expression, text) << expression << text << matches;
  };
  row("", "", true);
  row("", "a", false);
  row("abc", "abc", true);
  row("abc", "abcd", false);
  row("ab.*", "abcd", true);
  row("ab.*", "ab", true);
  row("a.c", "a\nc", false);
  row("a|bc|d", "bc", true);
  row("a|bc|d", "abc", false);
  row("(a|b)*c", "ababc", true);
  row("(a|b)+c", "c", false);
  row("(?:x(y)?)+", "xyxxy", true);
  row("(?<name>a)b", "ab", true);
  row("a{2,3}", "aa", true);
  row("a{2,3}", "aaaa", false);
  row("a{2,}b", "aaaab", true);
  row("a{0}b", "b", true);
  row("(ab){2}", "abab", true);
  row("a??b", "ab", true);
  row("[a-c]+", "abcabc", true);
  row("[^a-c]+", "xyz", true);
  row("[^a-c]", "b", false);
  row("[]a]", "]", true);
  row("[a\\-z]", "-", true);
  row("\\d+\\.\\d+", "11.1", true);
  row("11.1.*", "11.1.4", true);
  row("\\w\\s\\S\\D\\W", "a bc!", true);
  row("\\Qa.b\\E+", "a.bb", true);
  row("\\Qa.b\\E", "axb", false);
  row("^a$", "a", true);
  row("a^b", "ab", false);
  row("(a*)*b", "aaab", true);
  row("\303\274.", "\303\274\342\202\254", true);
  row("a||b", "", true);
}
void TestClusterChanges::patterns() {
  QFETCH(QString, expression);
  QFETCH(QString, text);
  QFETCH(bool, matches);
  const Result<MatchPattern> pattern = MatchPattern::compile(expression.toStdString());
  QVERIFY2(pattern.has_value(), pattern ? "" : pattern.error().detail.c_str());
  QCOMPARE(pattern->matches(text.toStdString()), matches);
}

void TestClusterChanges::bad_patterns_are_refused() {
  for (const char* expression : {"(", ")", "a)", "[", "[a", "*a", "+", "a{", "a{x}", "a{3,2}", "a{99999}", "\\", "\\1", "\\b",
                                 "(?=a)", "(?i)a", "(?<!a)", "a++", "[z-a]", "[a[b]]", "(((a{1000}){1000}){1000})"}) {
    const Result<MatchPattern> pattern = MatchPattern::compile(expression);
    QVERIFY2(!pattern.has_value(), expression);
    QVERIFY(!pattern.error().detail.empty());
  }
}

void TestClusterChanges::long_texts_do_not_blow_up() {
  // What takes a backtracking matcher 2^30000 steps.
  const Result<MatchPattern> pattern = MatchPattern::compile("(a+)+(a+)+b");
  QVERIFY(pattern.has_value());
  QVERIFY(!pattern->matches(std::string(30'000, 'a')));
  QVERIFY(pattern->matches(std::string(30'000, 'a') + "b"));
  QVERIFY(!MatchPattern::compile(std::string(10'000, '(')).has_value());
}

QTEST_APPLESS_MAIN(TestClusterChanges)
#include "tst_cluster_changes.moc"
