// SPDX-License-Identifier: Apache-2.0
// Administrators' questions against a node of this process, over real connections.
#include <QTest>
#include <memory>
#include <set>

#include "engine/node/client_admin.h"
#include "engine/wire/msg/apis.h"
#include "engine/wire/msg/consumer_group_heartbeat.h"
#include "engine/wire/msg/describe_cluster.h"
#include "engine/wire/msg/heartbeat.h"
#include "engine/wire/msg/list_offsets.h"
#include "runner_support.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::node;  // NOLINT(google-build-using-namespace)
using support::ask;
using support::Box;

namespace {

// One node with topic "t" of three partitions, of which the first has ten records with timestamps 1000, 1001, …
struct Rig {
  std::unique_ptr<Cluster> cluster = support::start_in_memory();
  ClientRunner runner;
  std::set<std::string> offered;
  [[nodiscard]] AdminQuestions questions() { return {runner, cluster->bootstrap()}; }

  bool fill() {
    if (!support::create(runner, cluster->bootstrap(), "t", 3)) {
      return false;
    }
    ProducerOptions options;
    options.bootstrap = cluster->bootstrap();
    const ClientHandle producer = runner.add_producer(options);
    Box box;
    int delivered = 0;
    for (int i = 0; i < 10; ++i) {
      OutgoingRecord record;
      record.topic = "t";
      record.partition = 0;
      record.value = Bytes::copy_of(std::to_string(i));
      record.timestamp_ms = 1000 + i;
      runner.produce(producer, record, [&](const Result<Delivery>& delivery) {
        box.change([&] { delivered += delivery ? 1 : 100; });
      });
    }
    const auto versions =
        ask<std::vector<BrokerVersions>>([&](auto done) { questions().api_versions(std::move(done)); });
    if (!versions || versions->size() != 1) {
      return false;
    }
    for (const auto& api : versions->front().apis) {
      offered.insert(api.name);
    }
    return box.wait([&] { return delivered >= 10; }) && delivered == 10;
  }
  // A member of "group" that reads "t" until the handle is closed.
  ClientHandle join(Box& box, bool& assigned) {
    ConsumerOptions options;
    options.bootstrap = cluster->bootstrap();
    options.group_id = "group";
    options.topics = {"t"};
    options.commit_interval_ms = 10;
    return runner.add_consumer(options, {}, [&](const ConsumerEvent& event) {
      box.change([&] { assigned = assigned || event.kind == ConsumerEvent::Kind::assigned; });
    });
  }
  void close(ClientHandle client) {
    Box box;
    bool closed = false;
    runner.close(client, [&] { box.change([&] { closed = true; }); });
    QVERIFY(box.wait([&] { return closed; }));
  }
};

}  // namespace

// What the node does not offer yet is asked for all the same: then the error must say so, and nothing else.
#define VERIFY_OR_UNSUPPORTED(rig, api, result)                                        \
  do {                                                                                 \
    if (!(rig).offered.contains(api)) {                                                \
      QVERIFY(!(result).has_value());                                                  \
      QVERIFY2((result).error().code == Errc::unsupported, (result).error().detail.c_str()); \
      return;                                                                          \
    }                                                                                  \
    QVERIFY2((result).has_value(), (result) ? "" : (result).error().detail.c_str());    \
  } while (false)

class TestClientAdmin : public QObject {
  Q_OBJECT
 private slots:
  void everyBrokerTellsItsVersions() {
    Rig rig;
    QVERIFY(rig.fill());
    const auto versions =
        ask<std::vector<BrokerVersions>>([&](auto done) { rig.questions().api_versions(std::move(done)); });
    QVERIFY(versions.has_value());
    QCOMPARE(versions->front().broker, 1);
    QVERIFY(versions->front().address.ends_with(":" + std::to_string(rig.cluster->port())));
    QCOMPARE(versions->front().apis.front().name, std::string("Produce"));
    QVERIFY(versions->front().apis.front().highest >= 12);
    QVERIFY(!versions->front().features.empty());
  }

  void anyRequestGoesToWhoIsNamed() {
    Rig rig;
    QVERIFY(rig.fill());
    using client::Target;
    const std::string bootstrap = rig.cluster->bootstrap();
    for (const Target& target : {Target::any(), Target::controller(), Target::broker_id(1), Target::leader_of("t", 2),
                                 Target::coordinator_of("some group")}) {
      const auto cluster = ask<wire::DescribeClusterResponse>(
          [&](auto done) { rig.runner.call(bootstrap, target, wire::DescribeClusterRequest{}, std::move(done)); });
      QVERIFY2(cluster.has_value(), cluster ? "" : cluster.error().detail.c_str());
      QCOMPARE(cluster->cluster_id, rig.cluster->cluster_id());
    }
    const auto nobody = [&](const Target& target) {
      return ask<wire::DescribeClusterResponse>([&](auto done) {
        rig.runner.call(bootstrap, target, wire::DescribeClusterRequest{}, std::move(done));
      });
    };
    QCOMPARE(nobody(Target::broker_id(7)).error().code, Errc::not_found);
    QCOMPARE(nobody(Target::leader_of("t", 3)).error().code, Errc::not_found);
    QCOMPARE(nobody(Target::leader_of("u", 0)).error().code, Errc::not_found);
    // A code that another attempt will not change is an answer.
    wire::HeartbeatRequest heartbeat;
    heartbeat.group_id = "group";
    heartbeat.member_id = "nobody";
    const auto beat = ask<wire::HeartbeatResponse>(
        [&](auto done) { rig.runner.call(bootstrap, Target::coordinator_of("group"), heartbeat, std::move(done)); });
    QVERIFY(beat.has_value());
    QCOMPARE(beat->error_code, wire::ErrorCode::unknown_member_id);
  }

  void nobodyIsThere() {
    ClientRunner runner;
    const AdminQuestions questions(runner, "127.0.0.1:1");
    QCOMPARE(ask<ClusterDescription>([&](auto done) { questions.describe_cluster(std::move(done)); }).error().code,
             Errc::closed);
    QCOMPARE(ask<std::vector<GroupRow>>([&](auto done) { questions.list_groups({}, {}, std::move(done)); }).error().code,
             Errc::closed);
    QCOMPARE(ask<std::vector<FoundOffset>>([&](auto done) {
               questions.list_offsets({{{"t", 0}, -1}, {{"u", 0}, -1}}, false, std::move(done));
             }).error().code,
             Errc::closed);
  }

  void offsetsOfManyPartitionsAndTimestamps() {
    Rig rig;
    QVERIFY(rig.fill());
    const auto found = ask<std::vector<FoundOffset>>([&](auto done) {
      rig.questions().list_offsets({{{"t", 0}, kLatestTimestamp},
                                    {{"t", 0}, kEarliestTimestamp},
                                    {{"t", 0}, 1004},
                                    {{"t", 0}, 2000},
                                    {{"t", 0}, kMaxTimestamp},
                                    {{"t", 1}, kLatestTimestamp},
                                    {{"t", 9}, kLatestTimestamp},
                                    {{"u", 0}, kLatestTimestamp}},
                                   false, std::move(done));
    });
    QVERIFY(found.has_value());
    QCOMPARE(found->size(), std::size_t{8});
    std::vector<std::int64_t> offsets;
    for (const FoundOffset& one : *found) {
      offsets.push_back(one.offset);
    }
    QCOMPARE(offsets, (std::vector<std::int64_t>{10, 0, 4, -1, 9, 0, -1, -1}));
    QCOMPARE((*found)[2].timestamp, std::int64_t{1004});
    QVERIFY(!(*found)[5].error.has_value());
    QCOMPARE((*found)[6].error->code, Errc::not_found);
    QVERIFY((*found)[7].error->detail.find("UNKNOWN_TOPIC_OR_PARTITION") != std::string::npos);
  }

  void configs() {
    Rig rig;
    QVERIFY(rig.fill());
    const auto described = ask<std::vector<ResourceConfigs>>([&](auto done) {
      rig.questions().describe_configs({{{ResourceType::topic, "t"}, {{"retention.ms"}}},
                                        {{ResourceType::broker, "1"}, std::nullopt},
                                        {{ResourceType::topic, "u"}, std::nullopt}},
                                       true, true, std::move(done));
    });
    VERIFY_OR_UNSUPPORTED(rig, "DescribeConfigs", described);
    QCOMPARE(described->size(), std::size_t{3});
    QCOMPARE((*described)[0].configs.size(), std::size_t{1});
    QCOMPARE((*described)[0].configs[0].name, std::string("retention.ms"));
    QCOMPARE((*described)[0].configs[0].type, ConfigValue::Type::int64);
    QVERIFY((*described)[1].configs.size() > 50);
    QVERIFY((*described)[2].error.has_value());

    const auto altered = ask<std::vector<ResourceResult>>([&](auto done) {
      rig.questions().alter_configs(
          {{{ResourceType::topic, "t"}, {{"retention.ms", ConfigChange::Operation::set, "12345"}}},
           {{ResourceType::topic, "u"}, {{"retention.ms", ConfigChange::Operation::set, "12345"}}}},
          false, std::move(done));
    });
    VERIFY_OR_UNSUPPORTED(rig, "IncrementalAlterConfigs", altered);
    QVERIFY(!(*altered)[0].error.has_value());
    QVERIFY((*altered)[1].error.has_value());
    const auto after = ask<std::vector<ResourceConfigs>>([&](auto done) {
      rig.questions().describe_configs({{{ResourceType::topic, "t"}, {{"retention.ms"}}}}, false, false, std::move(done));
    });
    QCOMPARE((*after)[0].configs[0].value, std::optional<std::string>("12345"));
    QCOMPARE((*after)[0].configs[0].source, ConfigValue::Source::topic);
    const auto resources = ask<std::vector<Resource>>(
        [&](auto done) { rig.questions().list_config_resources({ResourceType::topic}, std::move(done)); });
    VERIFY_OR_UNSUPPORTED(rig, "ListConfigResources", resources);
    QCOMPARE(resources->size(), std::size_t{1});
    QCOMPARE(resources->front().name, std::string("t"));
  }

  void recordsAreDeleted() {
    Rig rig;
    QVERIFY(rig.fill());
    const auto deleted = ask<std::vector<DeletedRecords>>([&](auto done) {
      rig.questions().delete_records({{{"t", 0}, 4}, {{"t", 1}, -1}, {{"t", 2}, 99}, {{"u", 0}, 1}}, std::move(done));
    });
    if (!rig.offered.contains("DeleteRecords")) {
      QVERIFY(deleted.has_value());  // the rows say it: other brokers might have answered
      QCOMPARE((*deleted)[0].error->code, Errc::unsupported);
      return;
    }
    QVERIFY(deleted.has_value());
    QCOMPARE((*deleted)[0].low_watermark, std::int64_t{4});
    QCOMPARE((*deleted)[1].low_watermark, std::int64_t{0});
    QVERIFY((*deleted)[2].error->detail.find("OFFSET_OUT_OF_RANGE") != std::string::npos);
    QCOMPARE((*deleted)[3].error->code, Errc::not_found);
  }

  void producersOfAPartition() {
    Rig rig;
    QVERIFY(rig.fill());
    const auto producers = ask<std::vector<PartitionProducers>>(
        [&](auto done) { rig.questions().describe_producers({{"t", 0}, {"t", 1}}, std::move(done)); });
    QVERIFY(producers.has_value());
    if (!rig.offered.contains("DescribeProducers")) {
      QCOMPARE((*producers)[0].error->code, Errc::unsupported);
      return;
    }
    QCOMPARE((*producers)[0].producers.size(), std::size_t{1});
    QCOMPARE((*producers)[0].producers[0].last_sequence, 9);
    QVERIFY((*producers)[1].producers.empty());
  }

  void leadersAreElected() {
    Rig rig;
    QVERIFY(rig.fill());
    const auto elected = ask<std::vector<Election>>(
        [&](auto done) { rig.questions().elect_leaders(false, std::vector<TopicPartitionName>{{"t", 0}}, std::move(done)); });
    VERIFY_OR_UNSUPPORTED(rig, "ElectLeaders", elected);
    QCOMPARE(elected->size(), std::size_t{1});
    QVERIFY(elected->front().error->detail.find("ELECTION_NOT_NEEDED") != std::string::npos);
  }

  void groupsAndTheirOffsets() {
    Rig rig;
    QVERIFY(rig.fill());
    const AdminQuestions questions = rig.questions();
    Box box;
    bool assigned = false;
    const ClientHandle member = rig.join(box, assigned);
    QVERIFY(box.wait([&] { return assigned; }));
    const auto listed =
        ask<std::vector<GroupRow>>([&](auto done) { questions.list_groups({"Stable"}, {}, std::move(done)); });
    VERIFY_OR_UNSUPPORTED(rig, "ListGroups", listed);
    QCOMPARE(listed->size(), std::size_t{1});
    QCOMPARE(listed->front().id, std::string("group"));
    QCOMPARE(listed->front().coordinator, 1);
    const auto described = ask<std::vector<GroupDetail>>(
        [&](auto done) { questions.describe_groups({"group", "other"}, std::move(done)); });
    QVERIFY(described.has_value());
    if (rig.offered.contains("DescribeGroups")) {
      QCOMPARE((*described)[0].members.size(), std::size_t{1});
      QCOMPARE((*described)[0].members[0].partitions.size(), std::size_t{3});
      QCOMPARE((*described)[1].error->code, Errc::not_found);
    }
    // While it has members, nobody else commits for it, and it is not deleted.
    const std::vector<GroupOffset> offsets{{{"t", 0}, 3, -1, "by hand", {}}, {{"t", 1}, 0, -1, "", {}}};
    const auto refused = ask<std::vector<PartitionResult>>(
        [&](auto done) { questions.commit_group_offsets("group", offsets, std::move(done)); });
    QVERIFY(refused.has_value());
    QVERIFY((*refused)[0].error->detail.find("UNKNOWN_MEMBER_ID") != std::string::npos);
    rig.close(member);

    const auto committed = ask<std::vector<PartitionResult>>(
        [&](auto done) { questions.commit_group_offsets("group", offsets, std::move(done)); });
    QVERIFY(committed.has_value());
    QVERIFY2(!(*committed)[0].error, (*committed)[0].error ? (*committed)[0].error->detail.c_str() : "");
    const auto all = ask<std::vector<GroupOffset>>(
        [&](auto done) { questions.group_offsets("group", std::vector<TopicPartitionName>{{"t", 0}}, std::move(done)); });
    QVERIFY(all.has_value());
    QCOMPARE(all->size(), std::size_t{1});
    QCOMPARE(all->front().offset, std::int64_t{3});
    QCOMPARE(all->front().metadata, std::string("by hand"));

    if (rig.offered.contains("OffsetDelete")) {
      const auto removed = ask<std::vector<PartitionResult>>(
          [&](auto done) { questions.delete_group_offsets("group", {{"t", 0}, {"t", 1}}, std::move(done)); });
      QVERIFY(removed.has_value());
      QVERIFY(!(*removed)[0].error);
      const auto left = ask<std::vector<GroupOffset>>(
          [&](auto done) { questions.group_offsets("group", std::vector<TopicPartitionName>{{"t", 0}}, std::move(done)); });
      QCOMPARE(left->front().offset, std::int64_t{-1});
    }
    if (rig.offered.contains("DeleteGroups")) {
      const auto gone = ask<std::vector<GroupResult>>(
          [&](auto done) { questions.delete_groups({"group", "other"}, std::move(done)); });
      QVERIFY(gone.has_value());
      QVERIFY(!(*gone)[0].error);
      QCOMPARE((*gone)[1].error->code, Errc::not_found);
    }
  }

  // Groups of the consumer protocol are described by another request; one that does not exist is not there in either.
  void consumerGroups() {
    Rig rig;
    QVERIFY(rig.fill());
    const auto join = [&rig](const std::string& id) {
      wire::ConsumerGroupHeartbeatRequest request;
      request.group_id = "modern";
      request.member_id = id;
      request.rebalance_timeout_ms = 60'000;
      request.subscribed_topic_names.emplace().push_back("t");
      request.topic_partitions.emplace();
      return ask<wire::ConsumerGroupHeartbeatResponse>([&](auto done) {
        rig.runner.call(rig.cluster->bootstrap(), client::Target::coordinator_of("modern"), request, std::move(done));
      });
    };
    const auto first = join("one");
    QVERIFY2(first.has_value(), first ? "" : first.error().detail.c_str());
    QCOMPARE(first->error_code, wire::ErrorCode::none);
    const auto second = join("two");
    QVERIFY(second.has_value());
    const auto described = ask<std::vector<GroupDetail>>(
        [&](auto done) { rig.questions().describe_groups({"modern", "other"}, std::move(done)); });
    QVERIFY(described.has_value());
    const GroupDetail& group = described->front();
    QVERIFY2(!group.error, group.error ? group.error->detail.c_str() : "");
    QCOMPARE(group.type, std::string("consumer"));
    QCOMPARE(group.protocol, std::string("uniform"));
    QVERIFY(group.epoch > 0);
    QCOMPARE(group.members.size(), std::size_t{2});
    // The second one came within group.consumer.assignment.interval.ms: whatever the target says by now, the first reads all.
    for (const GroupDetail::Member& member : group.members) {
      QCOMPARE(member.partitions.size(), member.id == "one" ? std::size_t{3} : std::size_t{0});
      QVERIFY(member.epoch >= 0);
    }
    QCOMPARE((*described)[1].error->code, Errc::not_found);
    const auto listed = ask<std::vector<GroupRow>>([&](auto done) { rig.questions().list_groups({}, {"consumer"}, std::move(done)); });
    QVERIFY(listed.has_value());
    QCOMPARE(listed->size(), std::size_t{1});
    QCOMPARE(listed->front().type, std::string("consumer"));
  }

  void cluster() {
    Rig rig;
    QVERIFY(rig.fill());
    const auto described =
        ask<ClusterDescription>([&](auto done) { rig.questions().describe_cluster(std::move(done)); });
    QVERIFY(described.has_value());
    QCOMPARE(described->brokers.size(), std::size_t{1});
    QCOMPARE(described->brokers[0].port, static_cast<std::int32_t>(rig.cluster->port()));
  }

  void logDirectories() {
    Rig rig;
    QVERIFY(rig.fill());
    const auto directories =
        ask<std::vector<LogDirectory>>([&](auto done) { rig.questions().describe_log_dirs({}, std::move(done)); });
    QVERIFY(directories.has_value());
    QVERIFY(!directories->empty());
    QCOMPARE(directories->front().broker, 1);
    if (rig.offered.contains("DescribeLogDirs")) {
      QVERIFY(!directories->front().error);
      QVERIFY(directories->front().replicas.size() >= 3);
    } else {
      QCOMPARE(directories->front().error->code, Errc::unsupported);
    }
  }

  void quorum() {
    Rig rig;
    QVERIFY(rig.fill());
    const auto described = ask<QuorumDescription>([&](auto done) { rig.questions().describe_quorum(std::move(done)); });
    VERIFY_OR_UNSUPPORTED(rig, "DescribeQuorum", described);
    QCOMPARE(described->leader, 1);
    QCOMPARE(described->voters.size(), std::size_t{1});
    QVERIFY(described->high_watermark > 0);
  }

  void quotas() {
    Rig rig;
    QVERIFY(rig.fill());
    const auto changed = ask<std::vector<QuotaResult>>([&](auto done) {
      rig.questions().alter_quotas({{{{"client-id", "slow"}}, {{"producer_byte_rate", 1000.0}}}}, false, std::move(done));
    });
    VERIFY_OR_UNSUPPORTED(rig, "AlterClientQuotas", changed);
    QVERIFY2(!(*changed)[0].error, (*changed)[0].error ? (*changed)[0].error->detail.c_str() : "");
    const auto described = ask<std::vector<QuotaRow>>([&](auto done) {
      rig.questions().describe_quotas({{{"client-id", QuotaFilter::Match::any, ""}}, false}, std::move(done));
    });
    VERIFY_OR_UNSUPPORTED(rig, "DescribeClientQuotas", described);
    QCOMPARE(described->size(), std::size_t{1});
    QCOMPARE((*described)[0].values.front().second, 1000.0);
  }
};

QTEST_APPLESS_MAIN(TestClientAdmin)
#include "tst_client_admin.moc"
