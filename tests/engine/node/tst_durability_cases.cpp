// SPDX-License-Identifier: Apache-2.0
// What people ran into with replicas, acks and elections, on nodes with real sockets: public cases 15, 16, 44 and 45, and what the
// introductions say about durability. The replicas are on brokers that are no controllers, so that what is cut, killed or paused is
// never the quorum.
#include <QElapsedTimer>
#include <QTest>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/node/client_runner.h"
#include "engine/wire/msg/find_coordinator.h"
#include "engine/wire/msg/heartbeat.h"
#include "tests/engine/node/real_nodes.h"
#include "tests/engine/node/runner_support.h"

using namespace hw;  // NOLINT(google-build-using-namespace): a test
using test::BlockingClient;
using test::RealNodes;
using wire::ErrorCode;

namespace {

constexpr BrokerId kAsked{1};  // a controller, which stays
constexpr BrokerId kA{4};
constexpr BrokerId kB{5};
constexpr BrokerId kC{6};

}  // namespace

class TestDurabilityCases : public QObject {
  Q_OBJECT
  std::unique_ptr<RealNodes> nodes_;

  bool in_sync(const std::string& topic, const std::set<BrokerId>& isr) {
    return nodes_->until(kAsked, topic, [&](const RealNodes::Partition& seen) { return seen.isr == isr && seen.leader != kNoBroker; }).has_value();
  }
  bool led_by(BrokerId asked, const std::string& topic, BrokerId leader) {
    return nodes_->until(asked, topic, [&](const RealNodes::Partition& seen) { return seen.leader == leader; }).has_value();
  }
  std::int64_t log_end(BrokerId at, const std::string& topic) {
    const auto seen = nodes_->look(at, topic);
    return seen ? nodes_->end_of(at, topic, seen->epoch).offset : -1;
  }
  // Writes so many, one after the other; the offset of the first, or -1 and why not in `error`.
  std::int64_t write(BrokerId at, const std::string& topic, int count, std::int16_t acks, ErrorCode* error = nullptr) {
    std::int64_t first = -1;
    for (int i = 0; i < count; ++i) {
      const RealNodes::Produced done = nodes_->produce(at, topic, "value", acks);
      if (error != nullptr) {
        *error = done.error;
      }
      if (done.error != ErrorCode::none) {
        return -1;
      }
      first = i == 0 ? done.offset : first;
    }
    return first;
  }

  // A broker that has just started may lead once the controller has heard enough of it.
  ErrorCode elect_unclean(const std::string& topic) {
    QElapsedTimer clock;
    clock.start();
    ErrorCode error = ErrorCode::none;
    do {
      error = nodes_->elect(kAsked, topic, 1);
    } while (error == ErrorCode::eligible_leaders_not_available && clock.elapsed() < test::kPatienceMs);
    return error;
  }
  // Only the first place of the replicas changes; then that replica leads.
  bool move_leader(const std::string& topic, BrokerId from, BrokerId to) {
    const auto seen = nodes_->look(kAsked, topic);
    if (!seen) {
      return false;
    }
    std::vector<BrokerId> replicas{to};
    for (const BrokerId id : seen->replicas) {
      if (id != to) {
        replicas.push_back(id);
      }
    }
    return nodes_->reassign(kAsked, topic, replicas) == ErrorCode::none && nodes_->elect(kAsked, topic, 0) == ErrorCode::none &&
           led_by(from, topic, to) && led_by(to, topic, to);
  }

 private slots:
  void init() {
    nodes_ = std::make_unique<RealNodes>(std::string(), 6);
    QVERIFY(nodes_->cluster != nullptr);
  }
  void cleanup() { nodes_.reset(); }

  // Replication factor 3, min.insync.replicas 2, acks=all: one broker may fail without loss and without a stop of writing. With two
  // gone, producers are told so and nothing is written to a single copy.
  void oneOfThreeMayFail() {
    QVERIFY(nodes_->create(kAsked, "t", {kA, kB, kC}) == ErrorCode::none);
    QVERIFY(in_sync("t", {kA, kB, kC}) && led_by(kA, "t", kA));
    QCOMPARE(write(kA, "t", 10, -1), std::int64_t{0});
    QVERIFY(nodes_->cluster->kill_node(kA));
    QVERIFY(in_sync("t", {kB, kC}));
    const BrokerId leader = nodes_->look(kAsked, "t")->leader;
    const BrokerId other = leader == kB ? kC : kB;
    QVERIFY(led_by(leader, "t", leader));
    QCOMPARE(write(leader, "t", 10, -1), std::int64_t{10});
    QVERIFY(nodes_->cluster->kill_node(other));
    QVERIFY(in_sync("t", {leader}));
    QVERIFY(nodes_->until(leader, "t", [](const auto& seen) { return seen.isr.size() == 1; }).has_value());
    ErrorCode error = ErrorCode::none;
    write(leader, "t", 1, -1, &error);
    QCOMPARE(error, ErrorCode::not_enough_replicas);
    QCOMPARE(log_end(leader, "t"), std::int64_t{20});
    QVERIFY(nodes_->cluster->start_node(kA));
    QVERIFY(nodes_->cluster->start_node(other));
    QVERIFY(in_sync("t", {kA, kB, kC}));
    QCOMPARE(write(leader, "t", 1, -1), std::int64_t{20});
    QCOMPARE(nodes_->readable(leader, "t"), std::int64_t{21});
  }

  // The most common false sense of safety: acks=all while min.insync.replicas is 1 is met by the leader alone.
  void acksAllWithOneInSyncReplicaIsNoSafety() {
    QVERIFY(nodes_->create(kAsked, "t", {kA, kB, kC}, {{"min.insync.replicas", "1"}}) == ErrorCode::none);
    QVERIFY(in_sync("t", {kA, kB, kC}) && led_by(kA, "t", kA));
    QVERIFY(nodes_->cluster->kill_node(kB) && nodes_->cluster->kill_node(kC));
    QVERIFY(in_sync("t", {kA}));
    QVERIFY(nodes_->until(kA, "t", [](const auto& seen) { return seen.isr.size() == 1; }).has_value());
    QCOMPARE(write(kA, "t", 1, -1), std::int64_t{0});
    QVERIFY(nodes_->cluster->kill_node(kA));  // and does not come back
    QVERIFY(nodes_->cluster->start_node(kB));
    QVERIFY(nodes_->until(kB, "t", [](const auto& seen) { return seen.leader == kNoBroker; }).has_value());
    QCOMPARE(elect_unclean("t"), ErrorCode::none);
    QVERIFY(led_by(kB, "t", kB));
    QCOMPARE(log_end(kB, "t"), std::int64_t{0});
  }

  // What counts is the smaller of min.insync.replicas and the number of replicas (KAFKA-15583).
  void case15MinIsrAboveTheReplicationFactor() {
    QVERIFY(nodes_->create(kAsked, "alone", {kA}, {{"min.insync.replicas", "2"}}) == ErrorCode::none);
    QVERIFY(in_sync("alone", {kA}) && led_by(kA, "alone", kA));
    QCOMPARE(write(kA, "alone", 1, -1), std::int64_t{0});
    QCOMPARE(write(kA, "alone", 1, 1), std::int64_t{1});
    QCOMPARE(nodes_->readable(kA, "alone"), std::int64_t{2});
  }

  void case16AcksOneBelowMinIsr() {
    QVERIFY(nodes_->create(kAsked, "t", {kA, kB}) == ErrorCode::none);
    QVERIFY(in_sync("t", {kA, kB}) && led_by(kA, "t", kA));
    QVERIFY(nodes_->cluster->kill_node(kB));
    QVERIFY(in_sync("t", {kA}));
    QVERIFY(nodes_->until(kA, "t", [](const auto& seen) { return seen.isr.size() == 1; }).has_value());
    for (int i = 0; i < 5; ++i) {
      ErrorCode error = ErrorCode::none;
      QCOMPARE(write(kA, "t", 1, -1, &error), std::int64_t{-1});
      QCOMPARE(error, ErrorCode::not_enough_replicas);
    }
    QCOMPARE(log_end(kA, "t"), std::int64_t{0});
    QCOMPARE(write(kA, "t", 5, 1), std::int64_t{0});
    QCOMPARE(log_end(kA, "t"), std::int64_t{5});
    // They are there, but nobody may see them.
    const auto hidden = nodes_->fetch(kA, "t", 0);
    QVERIFY(hidden.error_code == ErrorCode::none && hidden.high_watermark == 0 && (!hidden.records || hidden.records->empty()));
    QVERIFY(nodes_->cluster->start_node(kB));
    QVERIFY(in_sync("t", {kA, kB}));
    QElapsedTimer clock;
    clock.start();
    while (nodes_->readable(kA, "t") != 5 && clock.elapsed() < test::kPatienceMs) {
    }
    QCOMPARE(nodes_->fetch(kA, "t", 0).high_watermark, std::int64_t{5});
    QCOMPARE(nodes_->readable(kA, "t"), std::int64_t{5});
  }

  // The same, and the leader dies before the follower comes back: what acks=1 was told is gone.
  void case16TheLeaderDiesFirst() {
    QVERIFY(nodes_->create(kAsked, "t", {kA, kB}) == ErrorCode::none);
    QVERIFY(in_sync("t", {kA, kB}) && led_by(kA, "t", kA));
    QCOMPARE(write(kA, "t", 1, -1), std::int64_t{0});
    QVERIFY(nodes_->cluster->kill_node(kB));
    QVERIFY(in_sync("t", {kA}));
    QVERIFY(nodes_->until(kA, "t", [](const auto& seen) { return seen.isr.size() == 1; }).has_value());
    QCOMPARE(write(kA, "t", 5, 1), std::int64_t{1});
    QVERIFY(nodes_->cluster->kill_node(kA));
    QVERIFY(nodes_->until(kAsked, "t", [](const auto& seen) { return seen.leader == kNoBroker; }).has_value());
    QVERIFY(nodes_->cluster->start_node(kB));
    QVERIFY(nodes_->until(kB, "t", [](const auto& seen) { return seen.leader == kNoBroker; }).has_value());
    // B did not stop cleanly, so it is not eligible (KIP-966); somebody has to want it.
    QVERIFY(nodes_->elect(kAsked, "t", 0) != ErrorCode::none);
    QCOMPARE(elect_unclean("t"), ErrorCode::none);
    QVERIFY(led_by(kAsked, "t", kB) && led_by(kB, "t", kB));
    QCOMPARE(log_end(kB, "t"), std::int64_t{1});
    QVERIFY(nodes_->cluster->start_node(kA));
    QVERIFY(in_sync("t", {kA, kB}));
    QCOMPARE(write(kB, "t", 1, -1), std::int64_t{1});
    QCOMPARE(nodes_->readable(kB, "t"), std::int64_t{2});
  }

  void case44TheLeaderAndTheCoordinatorMove() {
    QVERIFY(nodes_->create(kAsked, "t", {kA, kB}) == ErrorCode::none);
    QVERIFY(in_sync("t", {kA, kB}) && led_by(kA, "t", kA));
    // Clients that nobody tells anything.
    const std::string bootstrap = nodes_->cluster->bootstrap_list();
    node::support::Box box;
    std::map<std::int64_t, int> read;  // by offset
    int written = 0;
    std::string trouble;
    node::ClientRunner runner;
    node::ConsumerOptions consuming;
    consuming.bootstrap = bootstrap;
    consuming.group_id = "g";
    consuming.topics = {"t"};
    (void)runner.add_consumer(
        consuming, [&](std::vector<node::IncomingRecord>& records) { box.change([&] {
          for (const node::IncomingRecord& record : records) {
            ++read[record.offset];
          }
        }); },
        [&](const node::ConsumerEvent& event) { box.change([&] { trouble = event.fatal ? event.message : trouble; }); });
    node::ProducerOptions producing;
    producing.bootstrap = bootstrap;
    const node::ClientHandle producer = runner.add_producer(producing);
    const auto send = [&](int count) {
      for (int i = 0; i < count; ++i) {
        runner.produce(producer, {.topic = "t", .partition = 0, .key = std::nullopt, .value = Bytes::copy_of(std::string_view("v")), .headers = {}},
                       [&](const Result<node::Delivery>& delivery) { box.change([&] {
                         written += delivery ? 1 : 0;
                         trouble = delivery ? trouble : delivery.error().detail;
                       }); });
      }
    };
    send(100);
    QVERIFY(box.wait([&] { return read.size() == 100 || !trouble.empty(); }));
    QVERIFY2(trouble.empty(), trouble.c_str());

    // Fetches of consumers wait at A while the leader moves to B: one that knows its epoch, and one of an old client, which knows
    // neither epochs nor that followers may be read.
    const auto before = nodes_->look(kA, "t");
    QVERIFY(before.has_value());
    BlockingClient waiting(nodes_->port_of(kA));
    BlockingClient knowing(nodes_->port_of(kA));
    wire::FetchRequest fetch;
    fetch.max_wait_ms = 60'000;
    fetch.min_bytes = 1;
    auto& entry = fetch.topics.emplace_back();
    entry.topic_id = before->topic_id;
    auto& wanted = entry.partitions.emplace_back();
    wanted.fetch_offset = Offset(100);
    wanted.partition_max_bytes = 1'000'000;
    wanted.current_leader_epoch = LeaderEpoch(before->epoch);
    knowing.send(fetch, 16);
    entry.topic = "t";
    wanted.current_leader_epoch = LeaderEpoch(-1);
    waiting.send(fetch, 10);
    QVERIFY(move_leader("t", kA, kB));
    const auto after = nodes_->look(kB, "t");
    QVERIFY(after.has_value() && after->epoch > before->epoch);
    const auto old = waiting.receive<wire::FetchResponse>(10);
    QCOMPARE(old.responses.at(0).partitions.at(0).error_code, ErrorCode::not_leader_or_follower);
    const auto told = knowing.receive<wire::FetchResponse>(16);
    const auto& answer = told.responses.at(0).partitions.at(0);
    QCOMPARE(answer.error_code, ErrorCode::fenced_leader_epoch);
    QCOMPARE(answer.current_leader.leader_id, kB);
    QCOMPARE(answer.current_leader.leader_epoch.value(), after->epoch);
    QVERIFY(told.node_endpoints.size() == 1 && told.node_endpoints[0].node_id == kB && told.node_endpoints[0].port == nodes_->port_of(kB));

    BlockingClient writing(nodes_->port_of(kA));
    wire::BatchBuilder builder;
    builder.append(std::nullopt, "late", 1'700'000'000'000);
    wire::ProduceRequest produce;
    produce.acks = -1;
    produce.timeout_ms = 10'000;
    auto& into = produce.topic_data.emplace_back();
    into.name = "t";
    into.partition_data.emplace_back().records = BytesChain(builder.finish());
    const auto refused = writing.ask<wire::ProduceResponse>(produce, 10);
    QCOMPARE(refused.responses.at(0).partition_responses.at(0).error_code, ErrorCode::not_leader_or_follower);
    QCOMPARE(refused.responses.at(0).partition_responses.at(0).current_leader.leader_id, kB);
    QVERIFY(refused.node_endpoints.size() == 1 && refused.node_endpoints[0].port == nodes_->port_of(kB));

    // Who knows an older or a newer epoch than the leader is told so.
    QCOMPARE(nodes_->fetch(kB, "t", 0, before->epoch).error_code, ErrorCode::fenced_leader_epoch);
    QCOMPARE(nodes_->fetch(kB, "t", 0, after->epoch + 1).error_code, ErrorCode::unknown_leader_epoch);
    QCOMPARE(nodes_->end_of(kB, "t", before->epoch, before->epoch).error, ErrorCode::fenced_leader_epoch);

    // The coordinator moves as well.
    const auto offsets = nodes_->look(kAsked, "__consumer_offsets");
    QVERIFY(offsets.has_value());
    QCOMPARE(offsets->replicas.size(), std::size_t{3});
    const BrokerId old_coordinator = offsets->leader;
    const BrokerId new_coordinator = offsets->replicas[0] == old_coordinator ? offsets->replicas[1] : offsets->replicas[0];
    QVERIFY(move_leader("__consumer_offsets", old_coordinator, new_coordinator));
    BlockingClient member(nodes_->port_of(old_coordinator));
    wire::HeartbeatRequest heartbeat;
    heartbeat.group_id = "g";
    heartbeat.member_id = "somebody";
    heartbeat.generation_id = 1;
    QCOMPARE(member.ask<wire::HeartbeatResponse>(heartbeat, 4).error_code, ErrorCode::not_coordinator);
    wire::FindCoordinatorRequest find;
    find.coordinator_keys = {"g"};
    QCOMPARE(member.ask<wire::FindCoordinatorResponse>(find, 4).coordinators.at(0).node_id, new_coordinator);

    send(100);
    QVERIFY(box.wait([&] { return (written == 200 && read.size() == 200) || !trouble.empty(); }));
    QVERIFY2(trouble.empty(), trouble.c_str());
    QCOMPARE(log_end(kB, "t"), std::int64_t{200});
    box.change([&] {
      for (const auto& [offset, times] : read) {
        QCOMPARE(times, 1);
      }
    });
  }

  void case45AnUncleanElectionLosesWhatWasAcknowledged() {
    QVERIFY(nodes_->create(kAsked, "t", {kA, kC, kB}, {{"min.insync.replicas", "1"}}) == ErrorCode::none);
    QVERIFY(in_sync("t", {kA, kB, kC}) && led_by(kA, "t", kA));
    const std::int32_t old_epoch = nodes_->look(kA, "t")->epoch;
    // The nodes hear of it on their own threads: who has answered since has heard.
    const auto freeze = [&](BrokerId follower) {
      return nodes_->cluster->set_link(follower, kA, {true, {}}, true).has_value() && nodes_->look(kA, "t") && nodes_->look(follower, "t");
    };
    QCOMPARE(write(kA, "t", 2, -1), std::int64_t{0});
    QVERIFY(freeze(kC));
    QCOMPARE(write(kA, "t", 3, 1), std::int64_t{2});
    QVERIFY(in_sync("t", {kA, kB}));  // C stays at 2
    QVERIFY(freeze(kB));
    QCOMPARE(write(kA, "t", 5, 1), std::int64_t{5});
    QVERIFY(in_sync("t", {kA}));  // B stays at 5
    QVERIFY(nodes_->until(kA, "t", [](const auto& seen) { return seen.isr.size() == 1; }).has_value());
    QCOMPARE(nodes_->readable(kA, "t"), std::int64_t{10});  // a consumer has read all of it

    QVERIFY(nodes_->cluster->kill_node(kA));
    QVERIFY(nodes_->until(kAsked, "t", [](const auto& seen) { return seen.leader == kNoBroker; }).has_value());
    nodes_->cluster->heal();
    // Nothing is lost as long as nobody asks for it.
    QCOMPARE(nodes_->produce(kC, "t", "value").error, ErrorCode::not_leader_or_follower);
    QVERIFY(nodes_->elect(kAsked, "t", 0) != ErrorCode::none);
    QVERIFY(nodes_->look(kAsked, "t")->leader == kNoBroker);

    QCOMPARE(elect_unclean("t"), ErrorCode::none);
    QVERIFY(led_by(kC, "t", kC) && in_sync("t", {kB, kC}));
    const std::int32_t new_epoch = nodes_->look(kC, "t")->epoch;
    QVERIFY(new_epoch > old_epoch);
    QCOMPARE(log_end(kC, "t"), std::int64_t{2});
    QCOMPARE(write(kC, "t", 3, -1), std::int64_t{2});
    QVERIFY(nodes_->cluster->start_node(kA));
    QVERIFY(in_sync("t", {kA, kB, kC}));  // A has dropped eight, B three

    // The consumer that had read ten is told, one way or the other, by each that knows epochs or does not.
    const auto lost = nodes_->fetch(kC, "t", 10);
    QCOMPARE(lost.error_code, ErrorCode::offset_out_of_range);
    const auto diverged = nodes_->fetch(kC, "t", 10, new_epoch, old_epoch);
    QCOMPARE(diverged.error_code, ErrorCode::none);
    QCOMPARE(diverged.diverging_epoch.epoch, old_epoch);
    QCOMPARE(diverged.diverging_epoch.end_offset, Offset(2));
    const RealNodes::EpochEnd end = nodes_->end_of(kC, "t", old_epoch, new_epoch);
    QVERIFY(end.error == ErrorCode::none && end.epoch == old_epoch && end.offset == 2);

    // All three are the same: each leads in turn and gives the same bytes.
    std::vector<std::string> logs;
    for (const BrokerId id : {kC, kA, kB}) {
      QVERIFY(id == kC || move_leader("t", kC, id));
      QCOMPARE(log_end(id, "t"), std::int64_t{5});
      const auto all = nodes_->fetch(id, "t", 0);
      QVERIFY(all.error_code == ErrorCode::none && all.records);
      const Bytes records = all.records->flatten();
      logs.emplace_back(reinterpret_cast<const char*>(records.data()), records.size());
    }
    QVERIFY(!logs[0].empty() && logs[0] == logs[1] && logs[1] == logs[2]);
  }
};

QTEST_APPLESS_MAIN(TestDurabilityCases)
#include "tst_durability_cases.moc"
