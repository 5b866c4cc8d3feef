// SPDX-License-Identifier: Apache-2.0
// The consumer as a member of a consumer group (KIP-848): what it tells the coordinator, and when
// it takes up what it is given.
#include <algorithm>

#include <QTest>

#include "consumer_rig.h"

using namespace hw;          // NOLINT(google-build-using-namespace): a test
using namespace hw::client;  // NOLINT(google-build-using-namespace)
using fake::ConsumerRig;
using wire::ErrorCode;

namespace {

constexpr std::int16_t kTell = wire::ConsumerGroupHeartbeatRequest::kApiKey;
constexpr std::int16_t kCommit = wire::OffsetCommitRequest::kApiKey;
constexpr Uuid kT{7, 8};
constexpr Uuid kU{7, 9};
using Kind = ConsumerEvent::Kind;
using Strings = std::vector<std::string>;
using Partitions = std::vector<TopicPartition>;
using Told = wire::ConsumerGroupHeartbeatRequest;

ConsumerConfig modern(std::vector<std::string> topics = {"t"}) {
  ConsumerConfig config = fake::grouped(std::move(topics));
  config.protocol = GroupProtocol::consumer;
  config.member_id = "own-id";
  return config;
}

struct Rig : ConsumerRig {
  explicit Rig(const ConsumerConfig& config) : ConsumerRig(config) {
    cluster.ranges[kTell] = {0, 1};
    cluster.ranges[wire::FetchRequest::kApiKey] = {4, 12};
    cluster.create("t", 2);
    cluster.create("u", 1);
    cluster.ids = {{"t", kT}, {"u", kU}};
    cluster.give({{kT, 0}, {kT, 1}});
  }

  bool assigned(std::size_t times = 1) {
    return harness.run([this, times] { return events(Kind::assigned) == times; });
  }

  bool tells(std::size_t times) {
    return harness.run([this, times] { return cluster.heard.size() >= times; });
  }
};

// What a heartbeat says it has; nothing: it says nothing of that.
std::optional<std::vector<std::pair<Uuid, std::int32_t>>> owned(const Told& told) {
  if (!told.topic_partitions) {
    return std::nullopt;
  }
  std::vector<std::pair<Uuid, std::int32_t>> all;
  for (const auto& topic : *told.topic_partitions) {
    for (const PartitionIndex partition : topic.partitions) {
      all.emplace_back(topic.topic_id, partition.value());
    }
  }
  return all;
}

bool says_all(const Told& told) {
  return told.rebalance_timeout_ms >= 0 && told.subscribed_topic_names && told.topic_partitions;
}

}  // namespace

class TestConsumerProtocol : public QObject {
  Q_OBJECT

 private slots:

  void joinsReadsCommitsLeaves() {
    ConsumerConfig config = modern();
    config.client_rack = "b";
    config.remote_assignor = "range";
    Rig rig(config);
    rig.cluster.append("t", 0, {"a", "b"});
    rig.cluster.append("t", 1, {"c"});
    QVERIFY(rig.got(3));
    QVERIFY(rig.last(Kind::assigned)->partitions == (Partitions{{"t", 0}, {"t", 1}}));
    QCOMPARE(rig.core.member_id(), std::string("own-id"));
    QCOMPARE(rig.core.generation(), 1);
    const Told joined = rig.cluster.heard.at(0);
    QCOMPARE(joined.member_id, std::string("own-id"));
    QCOMPARE(joined.member_epoch, 0);
    QCOMPARE(joined.rebalance_timeout_ms, 300'000);
    QCOMPARE(joined.rack_id, std::optional<std::string>("b"));
    QCOMPARE(joined.server_assignor, std::optional<std::string>("range"));
    QVERIFY(joined.subscribed_topic_names == std::optional<Strings>(Strings{"t"}));
    QVERIFY(!joined.subscribed_topic_regex.has_value());
    // What it has taken up is told at once, and nothing else; then nothing, each time the
    // coordinator wants to hear of it.
    QVERIFY(rig.tells(2));
    const Told took = rig.cluster.heard.at(1);
    QCOMPARE(took.member_epoch, 1);
    QVERIFY(owned(took) == (std::vector<std::pair<Uuid, std::int32_t>>{{kT, 0}, {kT, 1}}));
    QVERIFY(!took.rack_id && !took.server_assignor && !took.subscribed_topic_names &&
            took.rebalance_timeout_ms == -1);
    rig.harness.wait(milliseconds(7100));
    QCOMPARE(rig.cluster.heard.size(), std::size_t{12});
    QVERIFY(!owned(rig.cluster.heard.back()));
    QCOMPARE(rig.cluster.committed.at({"t", 0}), std::int64_t{2});
    rig.core.close(rig.harness.now, rig.harness.out);
    rig.harness.perform();
    QVERIFY(rig.harness.run([&] { return rig.core.closed(); }, seconds(3)));
    QCOMPARE(rig.cluster.heard.back().member_epoch, -1);
    QCOMPARE(rig.cluster.heard.back().member_id, std::string("own-id"));
    QVERIFY(rig.cluster.wrong.empty());
    QCOMPARE(rig.events(Kind::error), std::size_t{0});
  }

  void onlyWhatMovesIsTakenAway() {
    Rig rig(modern());
    rig.cluster.append("t", 0, {"a"});
    rig.cluster.append("t", 1, {"b"});
    QVERIFY(rig.got(2));
    QVERIFY(rig.tells(2));
    rig.cluster.give({{kT, 1}});
    QVERIFY(rig.harness.run([&] { return rig.events(Kind::revoked) == 1; }));
    QVERIFY(rig.last(Kind::revoked)->partitions == (Partitions{{"t", 0}}));
    QVERIFY(rig.last(Kind::revoked)->message.empty());  // given up, not lost
    QVERIFY(rig.harness.run([&] { return owned(rig.cluster.heard.back()).has_value(); },
                            milliseconds(5)));
    QVERIFY(owned(rig.cluster.heard.back()) ==
            (std::vector<std::pair<Uuid, std::int32_t>>{{kT, 1}}));
    QCOMPARE(rig.cluster.committed.at({"t", 0}), std::int64_t{1});  // before it was given up
    rig.cluster.append("t", 0, {"not ours"});
    rig.cluster.append("t", 1, {"c"});
    QVERIFY(rig.got(3));
    QVERIFY(rig.values() == (Strings{"a", "b", "c"}) || rig.values() == (Strings{"b", "a", "c"}));
    QCOMPARE(rig.events(Kind::assigned), std::size_t{2});  // the second gives nothing new
    QVERIFY(rig.last(Kind::assigned)->partitions.empty());
  }

  void aHandlerAtWorkKeepsWhatItHas() {
    ConsumerConfig config = modern();
    config.handler_delay = seconds(4);
    Rig rig(config);
    rig.cluster.append("t", 0, {"a"});
    QVERIFY(rig.got(1));
    const Instant began = rig.harness.now;
    rig.cluster.give({{kT, 1}});
    QVERIFY(rig.harness.run([&] { return rig.events(Kind::revoked) == 1; }));
    QVERIFY(rig.harness.now - began >= seconds(4));
    QVERIFY(rig.cluster.heard.size() >= 6);  // it was heard of all the time
    QCOMPARE(rig.cluster.committed.at({"t", 0}), std::int64_t{1});
  }

  void aHandlerThatIsTooLateLeavesAndComesBack() {
    ConsumerConfig config = modern();
    config.handler_delay = seconds(20);
    config.max_poll_interval = seconds(5);
    Rig rig(config);
    rig.cluster.append("t", 0, {"a"});
    QVERIFY(rig.got(1));
    QVERIFY(rig.harness.run([&] { return rig.events(Kind::late) == 1; }));
    QVERIFY(
        rig.harness.run([&] { return rig.cluster.heard.back().member_epoch == -1; }, seconds(1)));
    QVERIFY(rig.assigned(2));
    QCOMPARE(rig.core.member_id(), std::string("own-id"));
    QVERIFY(rig.cluster.wrong.empty());
  }

  void whoIsFencedBeginsAnewUnderItsOwnId() {
    // The last: the group that fenced it is no more.
    for (const ErrorCode error : {ErrorCode::fenced_member_epoch, ErrorCode::unknown_member_id, ErrorCode::group_id_not_found}) {
      Rig rig(modern());
      QVERIFY(rig.assigned());
      rig.cluster.errors[kTell] = {error};
      QVERIFY(rig.assigned(2));
      QCOMPARE(rig.last(Kind::revoked)->message.starts_with("lost"), true);
      QCOMPARE(rig.core.member_id(), std::string("own-id"));
      QCOMPARE(rig.core.generation(), 2);
      QVERIFY(rig.cluster.wrong.empty());
    }
  }

  void aGroupThatTakesNobodyOfThisKindIsAnEnd() {
    Rig rig(modern());
    rig.cluster.errors[kTell] = {ErrorCode::group_id_not_found};
    QVERIFY(rig.harness.run([&] { return rig.events(Kind::error) == 1; }));
    QVERIFY(rig.last(Kind::error)->fatal);
  }

  void anAnswerThatIsLostIsMadeGoodByTellingAll() {
    Rig rig(modern());
    QVERIFY(rig.assigned());
    QVERIFY(rig.tells(2));
    const std::size_t before = rig.cluster.heard.size();
    bool cut = false;
    rig.cluster.cut_after = [&](const fake::FakeCluster::Seen& seen) {
      return seen.api == kTell && !std::exchange(cut, true);
    };
    rig.cluster.give({{kT, 1}});
    QVERIFY(rig.harness.run([&] { return rig.events(Kind::revoked) == 1; }));
    QVERIFY(cut);
    QVERIFY(!says_all(rig.cluster.heard.at(before)));
    QVERIFY(says_all(rig.cluster.heard.at(before + 1)));
    QCOMPARE(rig.cluster.heard.at(before + 1).member_epoch, 1);
    QVERIFY(rig.last(Kind::revoked)->partitions == (Partitions{{"t", 0}}));
  }

  void theCoordinatorMoves() {
    Rig rig(modern());
    rig.cluster.errors[kTell] = {ErrorCode::coordinator_load_in_progress};
    QVERIFY(rig.assigned());
    rig.cluster.coordinator = 2;
    const std::size_t before = rig.cluster.heard.size();
    QVERIFY(rig.tells(before + 2));
    QVERIFY(std::any_of(rig.cluster.heard.begin() + static_cast<std::ptrdiff_t>(before),
                        rig.cluster.heard.end(), says_all));
    QCOMPARE(rig.events(Kind::revoked), std::size_t{0});
    QCOMPARE(rig.events(Kind::error), std::size_t{0});
  }

  void topicsThatComeLaterAreTold() {
    ConsumerConfig config = modern({});
    config.topic_matches = [](const std::string& name) { return name != "u"; };
    Rig rig(config);
    QVERIFY(rig.assigned());
    rig.cluster.create("v", 1);
    rig.cluster.ids["v"] = Uuid{7, 10};
    rig.cluster.give(
        {{kT, 0}, {kT, 1}, {Uuid{7, 10}, 0}});  // an id that metadata has not brought yet
    QVERIFY(rig.assigned(2));
    QVERIFY(rig.last(Kind::assigned)->partitions == (Partitions{{"v", 0}}));
    QVERIFY(rig.harness.run([&] {
      return std::ranges::any_of(rig.cluster.heard, [](const Told& told) {
        return told.member_epoch > 0 &&
               told.subscribed_topic_names == std::optional<Strings>(Strings{"t", "v"});
      });
    }));
  }

  void anExpressionIsTheCoordinatorsToMatch() {
    ConsumerConfig config = modern({});
    config.topic_regex = "u.*";
    Rig rig(config);
    rig.cluster.give({{kU, 0}});
    rig.cluster.append("u", 0, {"a"});
    QVERIFY(rig.got(1));
    QCOMPARE(rig.cluster.heard.at(0).subscribed_topic_regex, std::optional<std::string>("u.*"));
    QVERIFY(!rig.cluster.heard.at(0).subscribed_topic_names.has_value());
    QVERIFY(!rig.cluster.heard.at(1).subscribed_topic_regex.has_value());
    QCOMPARE(rig.cluster.version_of(kTell), std::int16_t{1});

    Rig old(config);
    old.cluster.ranges[kTell] = {0, 0};
    QVERIFY(old.harness.run([&] { return old.core.closed(); }));
    QVERIFY(old.last(Kind::error)->fatal);
  }

  void aStaticMemberLeavesForNow() {
    ConsumerConfig config = modern();
    config.group_instance_id = "i";
    Rig rig(config);
    QVERIFY(rig.assigned());
    QCOMPARE(rig.cluster.heard.at(0).instance_id, std::optional<std::string>("i"));
    rig.core.close(rig.harness.now, rig.harness.out);
    rig.harness.perform();
    QVERIFY(rig.harness.run([&] { return rig.core.closed(); }, seconds(3)));
    QCOMPARE(rig.cluster.heard.back().member_epoch, -2);
  }

  void aCommitUnderAnOldEpochIsSentAgain() {
    ConsumerConfig config = modern();
    config.commit_mode = CommitMode::after_work;
    Rig rig(config);
    rig.cluster.errors[kCommit] = {ErrorCode::stale_member_epoch};
    rig.cluster.append("t", 0, {"a"});
    QVERIFY(rig.got(1));
    QVERIFY(rig.harness.run([&] { return rig.cluster.committed.contains({"t", 0}); }, seconds(2)));
    QCOMPARE(rig.events(Kind::commit_failed), std::size_t{0});
    QCOMPARE(rig.events(Kind::revoked), std::size_t{0});
  }

  void whatCannotPassIsFatal() {
    for (const ErrorCode error :
         {ErrorCode::unsupported_assignor, ErrorCode::unreleased_instance_id,
          ErrorCode::invalid_regular_expression, ErrorCode::group_max_size_reached}) {
      Rig rig(modern());
      rig.cluster.errors[kTell] = {error};
      QVERIFY(rig.harness.run([&] { return rig.core.closed(); }));
      QVERIFY(rig.last(Kind::error)->fatal);
    }
    Rig old(modern());
    old.cluster.ranges[kTell] = {1, 0};  // not offered
    QVERIFY(old.harness.run([&] { return old.core.closed(); }));
    QVERIFY(old.last(Kind::error)->message.find("group.protocol=classic") != std::string::npos);
  }
};

QTEST_APPLESS_MAIN(TestConsumerProtocol)
#include "tst_consumer_protocol.moc"
