// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <algorithm>
#include <numeric>

#include "engine/client/admin.h"
#include "engine/client/consumer.h"
#include "engine/client/partitioner.h"
#include "engine/client/producer.h"
#include "consumer_rig.h"
#include "fake_broker.h"

using namespace hw;          // NOLINT(google-build-using-namespace): a test
using namespace hw::client;  // NOLINT(google-build-using-namespace)
using fake::cluster_config;
using fake::ConsumerRig;
using fake::FakeCluster;
using fake::grouped;
using fake::Harness;
using wire::ErrorCode;

namespace {

constexpr std::int16_t kProduce = wire::ProduceRequest::kApiKey;
constexpr std::int16_t kFetch = wire::FetchRequest::kApiKey;
constexpr std::int16_t kMetadata = wire::MetadataRequest::kApiKey;
constexpr std::int16_t kApiVersions = wire::ApiVersionsRequest::kApiKey;
constexpr std::int16_t kInitProducerId = wire::InitProducerIdRequest::kApiKey;
constexpr std::int16_t kHeartbeat = wire::HeartbeatRequest::kApiKey;
constexpr std::int16_t kJoin = wire::JoinGroupRequest::kApiKey;
constexpr std::int16_t kSync = wire::SyncGroupRequest::kApiKey;
constexpr std::int16_t kFind = wire::FindCoordinatorRequest::kApiKey;
constexpr std::int16_t kCommit = wire::OffsetCommitRequest::kApiKey;
constexpr std::int16_t kCommittedOffsets = wire::OffsetFetchRequest::kApiKey;
constexpr std::int16_t kCreate = wire::CreateTopicsRequest::kApiKey;
constexpr std::int16_t kListGroups = wire::ListGroupsRequest::kApiKey;
constexpr std::int16_t kListOffsets = wire::ListOffsetsRequest::kApiKey;

// A producer with the cluster it talks to.
struct ProducerRig {
  explicit ProducerRig(ProducerConfig config = {})
      : core((config.cluster.bootstrap = cluster_config().bootstrap, config), Prng(1)) {}
  FakeCluster cluster;
  Producer core;
  Harness<Producer, ProducerOutputs> harness{core, cluster};
  std::uint64_t next = 1;

  std::uint64_t send(const std::string& topic, std::optional<std::string> key, std::optional<std::string> value,
                     std::optional<std::int32_t> partition = std::nullopt) {
    ProducerRecord record;
    record.topic = topic;
    record.partition = partition;
    if (key) {
      record.key = Bytes::copy_of(*key);
    }
    if (value) {
      record.value = Bytes::copy_of(*value);
    }
    record.timestamp_ms = 1234;
    record.token = next++;
    const bool taken = core.send(std::move(record), harness.now, harness.out);
    return taken ? next - 1 : 0;
  }
  bool settle(Duration limit = seconds(200)) {
    return harness.run([this] { return core.unanswered() == 0; }, limit);
  }
  const Delivery* delivery(std::uint64_t token) const {
    const Delivery* found = nullptr;
    for (const Delivery& one : harness.out.deliveries) {
      if (one.token == token) {
        HW_ASSERT(found == nullptr, "one delivery for each record");
        found = &one;
      }
    }
    return found;
  }
  std::vector<std::string> values(const std::string& topic, std::size_t partition) const {
    std::vector<std::string> all;
    for (const fake::Stored& record : cluster.records(topic, partition)) {
      all.push_back(record.value.value_or("(null)"));
    }
    return all;
  }
};

ConsumerConfig assigned(std::int64_t from, std::int32_t partition = 0) {
  ConsumerConfig config;
  config.assignment = {{{"t", partition}, from}};
  return config;
}
using Strings = std::vector<std::string>;

}  // namespace

class TestClient : public QObject {
  Q_OBJECT
 private slots:
  // ---- addresses
  void bootstrapAddresses() {
    const auto good = parse_bootstrap("a:1, b ,[::1]:93,[fe80::1]");
    QVERIFY(good.has_value());
    QVERIFY(*good == (std::vector<Endpoint>{{"a", 1}, {"b", 9092}, {"::1", 93}, {"fe80::1", 9092}}));
    QCOMPARE((*good)[2].text(), std::string("[::1]:93"));
    for (const char* bad : {"", ",", ":9092", "a:0", "a:65536", "a:b", "a:1x", "::1", "[::1", "[::1]9"}) {
      const auto answer = parse_bootstrap(bad);
      QVERIFY2(!answer.has_value(), bad);
      QVERIFY(answer.error().detail.find("host:port") != std::string::npos);
    }
  }

  // ---- connection
  void versionsAreAgreedFirst() {
    for (const std::int16_t highest : {std::int16_t{4}, std::int16_t{3}, std::int16_t{0}}) {
      ProducerRig rig;
      rig.cluster.api_versions_highest = highest;
      rig.cluster.ranges[kProduce] = {3, 7};
      rig.cluster.create("t", 1);
      rig.send("t", "k", "v");
      QVERIFY(rig.settle());
      QVERIFY(!rig.delivery(1)->error);
      QCOMPARE(rig.cluster.seen.front().api, kApiVersions);
      for (const FakeCluster::Seen& seen : rig.cluster.seen) {
        QVERIFY(seen.api != kProduce || seen.version == 7);
      }
      QVERIFY(rig.cluster.wrong.empty());
    }
  }
  void topicsByNameGoUpToVersion12() {
    ProducerRig rig;
    rig.cluster.create("t", 1);
    rig.send("t", "k", "v");
    QVERIFY(rig.settle());
    for (const FakeCluster::Seen& seen : rig.cluster.seen) {
      QVERIFY(seen.api != kProduce || seen.version == 12);
    }
  }
  void anAnswerOutOfTurnEndsTheLink() {
    ClientConnection connection("c", "peer");
    std::vector<BytesChain> sends;
    std::vector<Answer> answers;
    connection.opened(kNever, sends);
    wire::Writer writer;
    writer.int32(99);
    QVERIFY(!connection.receive(writer.finish().flatten(), sends, answers));
    QVERIFY(!connection.receive(Bytes::copy_of("x"), sends, answers));
  }
  void anApiThatIsNotOfferedIsAnError() {
    ProducerConfig config;
    ProducerRig rig(config);
    rig.cluster.ranges[kInitProducerId] = {1, 0};
    rig.cluster.create("t", 1);
    rig.send("t", "k", "v");
    QVERIFY(rig.settle());
    QVERIFY(!rig.delivery(1)->error);  // goes on without a producer id
    QCOMPARE(rig.cluster.count(kInitProducerId), std::size_t{0});
  }

  // ---- producer
  void recordsArriveAsTheyWereGiven() {
    for (const wire::Compression codec : {wire::Compression::none, wire::Compression::zstd}) {
      ProducerConfig config;
      config.compression = codec;
      ProducerRig rig(config);
      rig.cluster.create("t", 6);
      const std::uint64_t keyed = rig.send("t", "order-1", "v");
      const std::uint64_t empty = rig.send("t", "", "");
      const std::uint64_t tombstone = rig.send("t", "order-3", std::nullopt);
      const std::uint64_t chosen = rig.send("t", "order-1", "x", 0);
      QVERIFY(rig.settle());
      QCOMPARE(rig.delivery(keyed)->partition, 4);
      QCOMPARE(rig.delivery(keyed)->offset, std::int64_t{0});
      QCOMPARE(rig.delivery(keyed)->timestamp_ms, std::int64_t{1234});
      QCOMPARE(rig.delivery(empty)->partition, 3);
      QCOMPARE(rig.delivery(tombstone)->partition, 3);
      QCOMPARE(rig.delivery(chosen)->partition, 0);
      const auto stored = rig.cluster.records("t", 3);
      QCOMPARE(stored.size(), std::size_t{2});
      QVERIFY(stored[0].key == std::string() && stored[0].value == std::string());
      QVERIFY(stored[1].key == std::string("order-3") && !stored[1].value);
      QVERIFY(rig.cluster.wrong.empty());
    }
  }
  void nullKeysStickToOnePartitionPerBatch() {
    ProducerConfig config;
    config.batch_bytes = 1000;
    config.linger = milliseconds(5);
    ProducerRig rig(config);
    rig.cluster.create("t", 4);
    for (int i = 0; i < 400; ++i) {
      rig.send("t", std::nullopt, std::string(20, 'v'));
    }
    QVERIFY(rig.settle());
    std::size_t batches = 0;
    for (std::size_t p = 0; p < 4; ++p) {
      const auto& log = rig.cluster.topics["t"][p];
      QVERIFY(log.end > 20);  // spread
      batches += log.batches.size();
    }
    QVERIFY(batches < 60);  // and batched: 400 records of about 30 bytes in batches of 1000
  }
  void lingerFillsBatches() {
    ProducerConfig config;
    config.linger = milliseconds(50);
    ProducerRig rig(config);
    rig.cluster.create("t", 1);
    rig.send("t", "k", "1");
    rig.harness.wait(milliseconds(20));
    rig.send("t", "k", "2");
    QCOMPARE(rig.cluster.count(kProduce), std::size_t{0});
    QVERIFY(rig.settle());
    QCOMPARE(rig.cluster.topics["t"][0].batches.size(), std::size_t{1});
    // flush() does not wait for it.
    rig.send("t", "k", "3");
    const Instant before = rig.harness.now;
    rig.core.flush(rig.harness.now, rig.harness.out);
    rig.harness.perform();
    QVERIFY(rig.settle());
    QVERIFY(rig.harness.now - before < milliseconds(10));
  }
  void batchesGrowWhileRequestsAreInFlight() {
    ProducerConfig config;
    config.requests_in_flight = 1;
    ProducerRig rig(config);
    rig.cluster.create("t", 1);
    rig.send("t", "k", "0");
    QVERIFY(rig.settle());
    for (int i = 1; i <= 50; ++i) {
      rig.send("t", "k", std::to_string(i));
      rig.harness.step();
    }
    QVERIFY(rig.settle());
    QCOMPARE(rig.cluster.topics["t"][0].batches.size(), std::size_t{3});  // the first, one, the rest
    const Strings values = rig.values("t", 0);
    for (int i = 0; i <= 50; ++i) {
      QCOMPARE(values[static_cast<std::size_t>(i)], std::to_string(i));
    }
  }
  void leaderMovesAndTheSequenceStays() {
    ProducerRig rig;
    rig.cluster.create("t", 1);
    rig.send("t", "k", "1");
    QVERIFY(rig.settle());
    rig.cluster.topics["t"][0].leader = 2;
    rig.cluster.topics["t"][0].epoch = 1;
    rig.send("t", "k", "2");
    rig.send("t", "k", "3");
    QVERIFY(rig.settle());
    QVERIFY(rig.values("t", 0) == (Strings{"1", "2", "3"}));
    QVERIFY(rig.cluster.wrong.empty());
    QCOMPARE(rig.cluster.count(kInitProducerId), std::size_t{1});
  }
  void retriableErrorsAreTriedAgainInOrder() {
    ProducerRig rig;
    rig.cluster.create("t", 1);
    rig.cluster.errors[kProduce] = {ErrorCode::not_enough_replicas, ErrorCode::request_timed_out,
                                    ErrorCode::leader_not_available};
    rig.send("t", "k", "1");
    rig.harness.step();
    rig.send("t", "k", "2");
    QVERIFY(rig.settle());
    QVERIFY(rig.values("t", 0) == (Strings{"1", "2"}));
    QVERIFY(rig.harness.now >= Instant{1} + milliseconds(300));  // with a backoff each time
  }
  void anAnswerThatIsLostMakesNoDuplicate() {
    ProducerRig rig;
    rig.cluster.create("t", 1);
    int cuts = 2;
    rig.cluster.cut_after = [&cuts](const FakeCluster::Seen& seen) { return seen.api == kProduce && cuts-- > 0; };
    const std::uint64_t one = rig.send("t", "k", "1");
    QVERIFY(rig.settle());
    rig.send("t", "k", "2");
    QVERIFY(rig.settle());
    QVERIFY(rig.values("t", 0) == (Strings{"1", "2"}));
    QCOMPARE(rig.delivery(one)->offset, std::int64_t{0});
    QVERIFY(rig.cluster.wrong.empty());
  }
  void aRefusedBatchLeavesNoHoleInTheSequence() {
    ProducerRig rig;
    rig.cluster.create("t", 1);
    rig.cluster.errors[kProduce] = {ErrorCode::message_too_large};
    const std::uint64_t refused = rig.send("t", "k", "1");
    QVERIFY(rig.settle());
    const std::uint64_t fine = rig.send("t", "k", "2");
    QVERIFY(rig.settle());
    QVERIFY(rig.delivery(refused)->error->detail.find("MESSAGE_TOO_LARGE") != std::string::npos);
    QVERIFY(!rig.delivery(fine)->error);
    QVERIFY(rig.values("t", 0) == Strings{"2"});
    QVERIFY(rig.cluster.wrong.empty());
    QCOMPARE(rig.cluster.count(kInitProducerId), std::size_t{1});
  }
  // Five batches are under way when the first is refused: the four behind it come back out of order, and follow it in order.
  void whatIsBehindARetryFollowsInOrder() {
    ProducerRig rig;
    rig.cluster.create("t", 1);
    rig.send("t", "k", "0");
    QVERIFY(rig.settle());
    rig.cluster.errors[kProduce] = {ErrorCode::not_enough_replicas};
    for (int i = 1; i <= 5; ++i) {
      rig.send("t", "k", std::to_string(i));
      rig.harness.step();  // a request each
    }
    QVERIFY(rig.settle());
    QVERIFY(rig.values("t", 0) == (Strings{"0", "1", "2", "3", "4", "5"}));
    QCOMPARE(rig.cluster.topics["t"][0].batches.size(), std::size_t{6});
    QCOMPARE(rig.core.producer_epoch().value(), std::int16_t{0});
  }
  void aBacklogIsSentInParallel() {
    for (const bool idempotent : {true, false}) {
      ProducerConfig config;
      config.batch_bytes = 100;
      config.idempotent = idempotent;
      ProducerRig rig(config);
      rig.cluster.create("t", 1);
      rig.send("t", "k", "0");
      QVERIFY(rig.settle());
      Strings expected{"0"};
      for (int i = 1; i <= 8; ++i) {
        expected.push_back(std::string(60, 'v') + std::to_string(i));  // a batch each
        rig.send("t", "k", expected.back());
      }
      rig.harness.step();
      QCOMPARE(rig.cluster.count(kProduce), std::size_t{1 + 5});
      QVERIFY(rig.settle());
      QCOMPARE(rig.cluster.topics["t"][0].batches.size(), std::size_t{9});
      QVERIFY(rig.values("t", 0) == expected);
    }
  }
  // Nobody answers acks=0: no answer is waited for before the rest goes.
  void aBacklogWithoutAnswersIsSentAtOnce() {
    ProducerConfig config;
    config.batch_bytes = 100;
    config.acks = 0;
    ProducerRig rig(config);
    rig.cluster.create("t", 1);
    rig.send("t", "k", "0");
    QVERIFY(rig.settle());
    for (int i = 1; i <= 20; ++i) {
      rig.send("t", "k", std::string(60, 'v'));
    }
    rig.harness.step();
    QCOMPARE(rig.core.unanswered(), std::size_t{0});
    QCOMPARE(rig.cluster.topics["t"][0].end, std::int64_t{21});
  }
  // The broker took "1" and its answer was lost; then it does not recognise it. Under a new epoch it would be there twice: it fails.
  void whatMayBeThereIsNotSentUnderANewEpoch() {
    ProducerRig rig;
    rig.cluster.create("t", 1);
    rig.send("t", "k", "0");
    QVERIFY(rig.settle());
    bool lose = true;
    rig.cluster.cut_after = [&](const FakeCluster::Seen& seen) {
      const bool lost = seen.api == kProduce && std::exchange(lose, seen.api != kProduce && lose);
      if (lost) {
        rig.cluster.errors[kProduce] = {ErrorCode::out_of_order_sequence_number};
      }
      return lost;
    };
    const std::uint64_t unclear = rig.send("t", "k", "1");
    rig.harness.wait(milliseconds(10));  // the link has ended
    const std::uint64_t next = rig.send("t", "k", "2");
    QVERIFY(rig.settle());
    QVERIFY(rig.delivery(unclear)->error->detail.find("may have the record or not") != std::string::npos);
    QVERIFY(!rig.delivery(next)->error);
    QVERIFY(rig.values("t", 0) == (Strings{"0", "1", "2"}));
    QCOMPARE(rig.core.producer_epoch().value(), std::int16_t{1});
    QCOMPARE(rig.cluster.count(kInitProducerId), std::size_t{1});
  }
  // A leader that has nothing of the producer takes "2", although "1" was refused before: "1" cannot come behind it.
  void whatWasRefusedDoesNotComeBehindWhatFollowedIt() {
    ProducerRig rig;
    rig.cluster.create("t", 1);
    rig.send("t", "k", "0");
    QVERIFY(rig.settle());
    rig.cluster.errors[kProduce] = {ErrorCode::not_enough_replicas};
    const std::uint64_t refused = rig.send("t", "k", "1");
    rig.harness.step();
    rig.cluster.topics["t"][0].producers.clear();
    rig.send("t", "k", "2");
    rig.harness.step();
    QVERIFY(rig.settle());
    rig.send("t", "k", "3");
    QVERIFY(rig.settle());
    QVERIFY(rig.delivery(refused)->error->detail.find("records that follow it") != std::string::npos);
    QVERIFY(rig.values("t", 0) == (Strings{"0", "2", "3"}));
    QCOMPARE(rig.cluster.count(kInitProducerId), std::size_t{1});
  }
  // The old leader took "1" and does not answer. The new one has it, and recognises it as long as no more than four others follow it.
  void noMoreIsSentThanABrokerRemembers() {
    ProducerConfig config;
    config.cluster.metadata_max_age = seconds(1);
    config.cluster.request_timeout = seconds(10);
    ProducerRig rig(config);
    rig.cluster.create("t", 2);
    rig.cluster.topics["t"][1].leader = 2;
    rig.send("t", "k", "0", 0);
    rig.send("t", "k", "other", 1);
    QVERIFY(rig.settle());
    rig.cluster.silent = [](const FakeCluster::Seen& seen) { return seen.broker == 1; };
    const std::uint64_t first = rig.send("t", "k", "1", 0);
    rig.harness.step();
    rig.cluster.topics["t"][0].leader = 2;
    rig.cluster.topics["t"][0].epoch = 1;
    rig.harness.wait(seconds(3));
    for (int i = 2; i <= 9; ++i) {
      rig.send("t", "k", std::to_string(i), 0);
      rig.harness.wait(milliseconds(100));
    }
    QVERIFY(rig.values("t", 0) == (Strings{"0", "1", "2", "3", "4", "5"}));
    QVERIFY(rig.settle());
    QVERIFY(rig.values("t", 0) == (Strings{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}));
    QCOMPARE(rig.delivery(first)->offset, std::int64_t{1});
    QCOMPARE(rig.core.producer_epoch().value(), std::int16_t{0});
  }
  // A broker that is cut off from the others still tells who led before (KIP-320).
  void aBrokerThatIsBehindDoesNotTakeTheLeaderBack() {
    ProducerRig rig;
    rig.cluster.create("t", 1);
    rig.cluster.ids["t"] = Uuid{7, 7};
    rig.cluster.ranges[kProduce] = {3, 12};
    FakeCluster::Log& log = rig.cluster.topics["t"][0];
    int behind = 0;
    rig.cluster.cut_before = [&](const FakeCluster::Seen& seen) {
      const bool old = seen.api == kMetadata && behind-- > 0;
      log.leader = old ? 1 : 2;
      log.epoch = old ? 4 : 5;
      return false;
    };
    rig.send("t", "k", "0");
    QVERIFY(rig.settle());
    behind = 3;
    rig.cluster.errors[kProduce] = {ErrorCode::leader_not_available};  // somebody else is asked who leads
    rig.send("t", "k", "1");
    QVERIFY(rig.settle());
    rig.harness.wait(seconds(1));
    QVERIFY(behind <= 0);  // and again, until the answer is as new as what is known
    QVERIFY(rig.values("t", 0) == (Strings{"0", "1"}));
    QVERIFY(std::none_of(rig.cluster.seen.begin(), rig.cluster.seen.end(),
                         [](const FakeCluster::Seen& seen) { return seen.api == kProduce && seen.broker == 1; }));
  }
  void aBrokerThatIsBehindTakesNoPartitionAway() {
    ProducerRig rig;
    rig.cluster.create("t", 2);
    rig.cluster.ids["t"] = Uuid{7, 7};
    rig.cluster.ranges[kProduce] = {3, 12};
    std::vector<FakeCluster::Log>& logs = rig.cluster.topics["t"];
    std::optional<FakeCluster::Log> hidden;
    bool behind = false;
    rig.cluster.cut_before = [&](const FakeCluster::Seen& seen) {
      if (hidden) {
        logs.push_back(std::move(*hidden));
        hidden.reset();
      }
      if (behind && seen.api == kMetadata) {
        behind = false;
        hidden = std::move(logs.back());
        logs.pop_back();
      }
      return false;
    };
    rig.send("t", "k", "0", 1);
    QVERIFY(rig.settle());
    behind = true;
    rig.cluster.errors[kProduce] = {ErrorCode::leader_not_available};
    rig.send("t", "k", "1", 1);
    QVERIFY(rig.harness.run([&] { return hidden.has_value(); }));
    rig.harness.wait(milliseconds(1));
    const std::uint64_t next = rig.send("t", "k", "2", 1);
    QVERIFY(rig.settle());
    QVERIFY(!rig.delivery(next)->error);
    QVERIFY(rig.values("t", 1) == (Strings{"0", "1", "2"}));
  }
  // A leader that has nothing of the producer would take the second batch without the first.
  void untilABrokerKnowsTheProducerItsBatchesFlyAlone() {
    ProducerRig rig;
    rig.cluster.create("t", 1);
    rig.send("t", "k", "1");
    QVERIFY(rig.harness.run([&] { return rig.cluster.count(kProduce) == 1; }));
    rig.send("t", "k", "2");
    rig.harness.step();
    QCOMPARE(rig.cluster.count(kProduce), std::size_t{1});
    QVERIFY(rig.settle());
    rig.send("t", "k", "3");
    rig.harness.step();
    rig.send("t", "k", "4");
    rig.harness.step();
    QCOMPARE(rig.cluster.count(kProduce), std::size_t{4});
    QVERIFY(rig.settle());
    QVERIFY(rig.values("t", 0) == (Strings{"1", "2", "3", "4"}));
  }
  // The broker has forgotten the producer, or remembers something else: the epoch goes up, and the sequence begins at 0.
  void aBrokerThatForgotGetsANewEpoch() {
    for (const ErrorCode error : {ErrorCode::out_of_order_sequence_number, ErrorCode::unknown_producer_id}) {
      ProducerRig rig;
      rig.cluster.create("t", 2);
      rig.send("t", "k", "0", 0);
      rig.send("t", "k", "other", 1);
      QVERIFY(rig.settle());
      rig.cluster.errors[kProduce] = {error};
      for (int i = 1; i <= 4; ++i) {
        rig.send("t", "k", std::to_string(i), 0);
        rig.harness.step();
      }
      QVERIFY(rig.settle());
      rig.send("t", "k", "another", 1);
      QVERIFY(rig.settle());
      QVERIFY(rig.values("t", 0) == (Strings{"0", "1", "2", "3", "4"}));
      QVERIFY(rig.values("t", 1) == (Strings{"other", "another"}));
      QCOMPARE(rig.core.producer_epoch().value(), std::int16_t{1});
      QCOMPARE(rig.cluster.count(kInitProducerId), std::size_t{1});
    }
  }
  void aFencedEpochGetsANewProducerId() {
    ProducerRig rig;
    rig.cluster.create("t", 1);
    rig.cluster.errors[kProduce] = {ErrorCode::invalid_producer_epoch};
    rig.send("t", "k", "1");
    QVERIFY(rig.settle());
    QVERIFY(rig.values("t", 0) == Strings{"1"});
    QCOMPARE(rig.cluster.count(kInitProducerId), std::size_t{2});
  }
  // The waits double, a fifth more or less.
  void retriesWaitLongerEachTime() {
    ProducerRig rig;
    rig.cluster.create("t", 1);
    rig.cluster.errors[kProduce].assign(5, ErrorCode::not_enough_replicas);
    rig.send("t", "k", "1");
    const Instant before = rig.harness.now;
    QVERIFY(rig.settle());
    const std::int64_t waited_ms = (rig.harness.now - before).ms();
    QVERIFY2(waited_ms >= 2000 && waited_ms <= 3100, qPrintable(QString::number(waited_ms)));  // 100+200+400+800+1000
  }
  void nobodyAnswers() {
    ProducerConfig config;
    config.delivery_timeout = seconds(3);
    ProducerRig rig(config);
    rig.cluster.down = {1, 2};
    const std::uint64_t token = rig.send("t", "k", "v");
    QVERIFY(rig.settle());
    QVERIFY(rig.delivery(token)->error->detail.find("connection refused") != std::string::npos);
    QVERIFY(rig.harness.now >= Instant{1} + seconds(3) && rig.harness.now < Instant{1} + seconds(4));
    QVERIFY(rig.harness.opened > 3 && rig.harness.opened < 40);  // tries, but not like mad
  }
  void theOtherBootstrapAddressIsTaken() {
    ProducerRig rig;
    rig.cluster.down = {1};
    rig.cluster.create("t", 1);
    rig.cluster.topics["t"][0].leader = 2;
    const std::uint64_t token = rig.send("t", "k", "v");
    QVERIFY(rig.settle(seconds(2)));
    QVERIFY(!rig.delivery(token)->error);
  }
  void topicsAreCreatedByTheBrokerWhenItDoes() {
    ProducerRig rig;
    rig.cluster.auto_create_partitions = 3;
    const std::uint64_t token = rig.send("fresh", "order-1", "v");
    QVERIFY(rig.settle(seconds(5)));
    QVERIFY(!rig.delivery(token)->error);
    QCOMPARE(rig.delivery(token)->partition, partition_for_key(as_bytes("order-1"), 3));
  }
  void anUnknownTopicTimesOut() {
    ProducerConfig config;
    config.delivery_timeout = seconds(2);
    ProducerRig rig(config);
    const std::uint64_t token = rig.send("absent", "k", "v");
    QVERIFY(rig.settle());
    QVERIFY(rig.delivery(token)->error->detail.find("UNKNOWN_TOPIC_OR_PARTITION") != std::string::npos);
    QVERIFY(rig.cluster.count(kMetadata) < 30);
  }
  void aPartitionThatIsNotThere() {
    ProducerRig rig;
    rig.cluster.create("t", 2);
    const std::uint64_t beyond = rig.send("t", "k", "v", 2);
    QVERIFY(rig.settle(seconds(5)));
    QVERIFY(rig.delivery(beyond)->error->detail.find("no partition 2") != std::string::npos);
    QVERIFY(rig.delivery(beyond)->error->code == Errc::not_found);
    // Added meanwhile: fresh metadata is asked for before anything is refused.
    rig.cluster.create("t", 4);
    const std::uint64_t added = rig.send("t", "k", "v", 3);
    QVERIFY(rig.settle(seconds(5)));
    QVERIFY(!rig.delivery(added)->error);
  }
  void acksZero() {
    ProducerConfig config;
    config.acks = 0;
    ProducerRig rig(config);
    rig.cluster.create("t", 1);
    const std::uint64_t token = rig.send("t", "k", "v");
    QVERIFY(rig.settle());
    QVERIFY(!rig.delivery(token)->error);
    QCOMPARE(rig.delivery(token)->offset, std::int64_t{-1});
    QVERIFY(rig.values("t", 0) == Strings{"v"});
    QCOMPARE(rig.cluster.count(kInitProducerId), std::size_t{0});
  }
  void theBufferIsBounded() {
    ProducerConfig config;
    config.buffer_bytes = 10'000;
    ProducerRig rig(config);
    rig.cluster.down = {1, 2};
    int taken = 0;
    while (rig.send("t", "k", std::string(872, 'v')) != 0) {
      ++taken;
    }
    QCOMPARE(taken, 9);
    rig.core.abort(Error{Errc::closed, "closed"}, rig.harness.out);
    QCOMPARE(rig.harness.out.deliveries.size(), std::size_t{9});
    QCOMPARE(rig.core.buffered_bytes(), std::size_t{0});
  }
  void aRefusedProducerIdIsSaid() {
    ProducerRig rig;
    rig.cluster.create("t", 1);
    rig.cluster.errors[kInitProducerId] = {ErrorCode::coordinator_not_available,
                                           ErrorCode::cluster_authorization_failed};
    const std::uint64_t token = rig.send("t", "k", "v");
    QVERIFY(rig.settle(seconds(5)));
    QVERIFY(rig.delivery(token)->error->detail.find("CLUSTER_AUTHORIZATION_FAILED") != std::string::npos);
  }
  // Whatever happens to links and leaders, each record is in the log once, in the order of its partition.
  void exactlyOnceThroughRandomTrouble() {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      Prng prng(seed);
      ProducerConfig config;
      config.batch_bytes = 300;
      config.linger = milliseconds(static_cast<std::int64_t>(prng.below(3)));
      config.cluster.retry_backoff = milliseconds(10);
      ProducerRig rig(config);
      rig.cluster.create("t", 3);
      bool calm = false;
      rig.cluster.cut_before = [&](const FakeCluster::Seen&) { return !calm && prng.chance({1, 12}); };
      rig.cluster.cut_after = [&](const FakeCluster::Seen&) { return !calm && prng.chance({1, 12}); };
      std::map<std::size_t, Strings> sent;
      for (int i = 0; i < 300; ++i) {
        const auto partition = static_cast<std::int32_t>(prng.below(3));
        const std::string value = std::to_string(i);
        QVERIFY(rig.send("t", "k", value, partition) != 0);
        sent[static_cast<std::size_t>(partition)].push_back(value);
        if (prng.chance({1, 10})) {
          auto& log = rig.cluster.topics["t"][prng.below(3)];
          log.leader = static_cast<std::int32_t>(1 + prng.below(2));
          ++log.epoch;
        }
        if (prng.chance({1, 6})) {
          rig.cluster.errors[kProduce].push_back(ErrorCode::not_enough_replicas);
        }
        if (prng.chance({1, 3})) {
          rig.harness.wait(milliseconds(static_cast<std::int64_t>(prng.below(5))));
        }
      }
      rig.harness.wait(milliseconds(500));
      calm = true;
      QVERIFY(rig.settle());
      for (const Delivery& delivery : rig.harness.out.deliveries) {
        QVERIFY2(!delivery.error, delivery.error ? delivery.error->detail.c_str() : "");
      }
      QCOMPARE(rig.harness.out.deliveries.size(), std::size_t{300});
      for (std::size_t p = 0; p < 3; ++p) {
        QVERIFY2(rig.values("t", p) == sent[p], qPrintable(QString("seed %1 partition %2").arg(seed).arg(p)));
      }
      QVERIFY2(rig.cluster.wrong.empty(), rig.cluster.wrong.empty() ? "" : rig.cluster.wrong.front().c_str());
    }
  }

  // ---- consumer, assigned by hand
  void aPartitionThatIsNotThereYetIsReadWhenItIs() {
    ConsumerConfig config = assigned(0, 1);
    config.cluster.metadata_max_age = seconds(1);
    ConsumerRig rig(config);
    rig.cluster.create("t", 1);
    rig.harness.wait(seconds(1));
    QVERIFY(rig.last(ConsumerEvent::Kind::error)->message.find("has no partition 1") != std::string::npos);
    rig.cluster.create("t", 2);
    rig.cluster.append("t", 1, {"a"});
    QVERIFY(rig.got(1));
    QCOMPARE(rig.values(), Strings{"a"});
  }
  void readsFromWhereItIsTold() {
    const std::map<std::int64_t, Strings> expected = {
        {kFromEarliest, {"a", "b", "c", "d"}}, {kFromLatest, {"e"}}, {1, {"b", "c", "d"}}, {4, {"e"}}};
    for (const auto& [from, values] : expected) {
      ConsumerRig rig(assigned(from));
      rig.cluster.create("t", 1);
      rig.cluster.append("t", 0, {"a", "b", "c"});
      rig.cluster.append("t", 0, {"d"});
      QVERIFY(rig.harness.run([&] { return rig.events(ConsumerEvent::Kind::reached_end) > 0; }));
      if (values.front() == "e") {
        rig.cluster.append("t", 0, {"e"});
      }
      QVERIFY(rig.got(values.size()));
      QVERIFY(rig.values() == values);
      QCOMPARE(rig.harness.out.records.front().offset, from == kFromEarliest ? 0 : (from == kFromLatest ? 4 : from));
      QVERIFY(rig.cluster.wrong.empty());
    }
  }
  void theEndIsToldOnceEachTime() {
    ConsumerRig rig(assigned(kFromEarliest));
    rig.cluster.create("t", 1);
    rig.cluster.append("t", 0, {"a"});
    rig.harness.wait(seconds(3));
    QCOMPARE(rig.events(ConsumerEvent::Kind::reached_end), std::size_t{1});
    rig.cluster.append("t", 0, {"b"});
    rig.harness.wait(seconds(3));
    QCOMPARE(rig.values().size(), std::size_t{2});
    QCOMPARE(rig.events(ConsumerEvent::Kind::error), std::size_t{0});
  }
  void allPartitionsOfTopicsAlsoNewOnes() {
    ConsumerConfig config;
    config.topics = {"t"};
    config.reset = OffsetReset::latest;
    config.cluster.metadata_max_age = seconds(2);
    ConsumerRig rig(config);
    rig.cluster.create("t", 2);
    rig.cluster.append("t", 0, {"old"});
    rig.cluster.topics["t"][1].leader = 2;
    rig.harness.wait(seconds(1));
    rig.cluster.append("t", 0, {"a"});
    rig.cluster.append("t", 1, {"b"});
    QVERIFY(rig.got(2));
    rig.cluster.create("t", 3);
    rig.cluster.append("t", 2, {"c"});  // before this client knows of the partition
    rig.cluster.topics["t"][0].leader = 2;  // makes it look
    rig.cluster.append("t", 0, {"d"});
    QVERIFY(rig.got(4));
    Strings values = rig.values();
    std::sort(values.begin(), values.end());
    QVERIFY(values == (Strings{"a", "b", "c", "d"}));
  }
  void anOffsetThatIsGoneIsReset() {
    ConsumerRig rig(assigned(1));
    rig.cluster.create("t", 1);
    rig.cluster.append("t", 0, {"a", "b"});
    rig.cluster.append("t", 0, {"c"});
    auto& log = rig.cluster.topics["t"][0];
    log.start = 2;
    log.batches.erase(log.batches.begin());
    QVERIFY(rig.got(1));
    QVERIFY(rig.values() == Strings{"c"});
    QVERIFY(rig.last(ConsumerEvent::Kind::error)->message.find("offset 1") != std::string::npos);
  }
  void leaderMovesWhileReading() {
    ConsumerRig rig(assigned(kFromEarliest));
    rig.cluster.create("t", 1);
    rig.cluster.append("t", 0, {"a"});
    QVERIFY(rig.got(1));
    rig.cluster.topics["t"][0].leader = 2;
    rig.cluster.append("t", 0, {"b"});
    QVERIFY(rig.got(2));
    rig.cluster.down = {2};
    rig.harness.wait(seconds(5));
    QVERIFY(rig.events(ConsumerEvent::Kind::error) > 0);
    rig.cluster.down.clear();
    rig.cluster.append("t", 0, {"c"});
    QVERIFY(rig.got(3));
    QVERIFY(rig.values() == (Strings{"a", "b", "c"}));
  }
  void aPartitionThatIsNotThereIsSaid() {
    ConsumerRig rig(assigned(5, 9));
    rig.cluster.create("t", 2);
    rig.harness.wait(seconds(2));
    QVERIFY(rig.last(ConsumerEvent::Kind::error)->message.find("no partition 9") != std::string::npos);
    QCOMPARE(rig.cluster.count(kFetch), std::size_t{0});
  }
  void damagedBatchesAreNotHandedOut() {
    ConsumerRig rig(assigned(kFromEarliest));
    rig.cluster.create("t", 1);
    rig.cluster.append("t", 0, {"a"});
    rig.cluster.append("t", 0, {"b"});
    Bytes& batch = rig.cluster.topics["t"][0].batches[1];
    Bytes broken = Bytes::copy_of(batch.span());
    broken.unique_data()[broken.size() - 1] ^= std::byte{1};
    const Bytes good = std::exchange(batch, broken);
    rig.harness.wait(seconds(2));
    QVERIFY(rig.values() == Strings{"a"});
    QVERIFY(rig.last(ConsumerEvent::Kind::error)->message.find("CRC") != std::string::npos);
    QVERIFY(rig.cluster.count(kFetch) < 40);  // with a backoff
    batch = good;
    QVERIFY(rig.got(2));
  }
  // A new leader: the position is validated against it, and where its log is shorter, that is told (KIP-320).
  void aTruncationIsNoticed() {
    for (const bool known : {true, false}) {
      ConsumerConfig config = assigned(kFromEarliest);
      config.cluster.metadata_max_age = seconds(1);
      config.max_wait_ms = 100;
      config.cluster.bootstrap = cluster_config().bootstrap;
      FakeCluster cluster;
      Consumer core(config, Instant{1});
      Harness<Consumer, ConsumerOutputs> harness{core, cluster};
      cluster.create("t", 1);
      wire::BatchOptions options;
      options.leader_epoch = LeaderEpoch{0};
      for (int i = 0; i < 5; ++i) {
        cluster.append("t", 0, {std::to_string(i)}, options);
      }
      QVERIFY(harness.run([&] { return harness.out.records.size() == 5; }));
      auto& log = cluster.topics["t"][0];
      // A change of leaders that loses nothing: nobody hears of it.
      log.epoch = 1;
      log.epoch_ends = {{0, 5}};
      harness.wait(seconds(3));
      options.leader_epoch = LeaderEpoch{1};
      cluster.append("t", 0, {"5"}, options);
      QVERIFY(harness.run([&] { return harness.out.records.size() == 6; }));
      QCOMPARE(std::count_if(harness.out.events.begin(), harness.out.events.end(),
                             [](const ConsumerEvent& event) { return event.kind == ConsumerEvent::Kind::truncated; }),
               0);
      // An unclean one: the new leader never had what epoch 1 wrote, and only three records of epoch 0.
      log.batches.resize(3);
      log.end = 3;
      log.epoch = 2;
      log.epoch_ends = known ? std::map<std::int32_t, std::int64_t>{{1, 3}} : std::map<std::int32_t, std::int64_t>{};
      options.leader_epoch = LeaderEpoch{2};
      cluster.append("t", 0, {"new"}, options);
      QVERIFY(harness.run([&] { return harness.out.records.size() >= (known ? 7U : 10U); }));
      QCOMPARE(std::string(harness.out.records.back().value->text()), std::string("new"));
      QCOMPARE(harness.out.records.size(), known ? std::size_t{7} : std::size_t{10});  // unknown: from the reset policy's begin
      const auto told = std::find_if(harness.out.events.begin(), harness.out.events.end(),
                                     [](const ConsumerEvent& event) { return event.kind == ConsumerEvent::Kind::truncated; });
      QVERIFY(told != harness.out.events.end());
      QCOMPARE(told->offsets, (std::vector<std::int64_t>{known ? 3 : -1}));
      QVERIFY(told->message.find("below offset 6") != std::string::npos);
    }
  }

  void abortedTransactionsStayHidden() {
    for (const bool committed : {false, true}) {
      ConsumerConfig config = assigned(kFromEarliest);
      config.read_committed = committed;
      ConsumerRig rig(config);
      rig.cluster.create("t", 1);
      auto& log = rig.cluster.topics["t"][0];
      const auto transactional = [](std::int64_t producer) {
        wire::BatchOptions options;
        options.producer_id = ProducerId{producer};
        options.producer_epoch = ProducerEpoch{0};
        options.base_sequence = 0;
        options.transactional = true;
        return options;
      };
      const auto marker = [&log](bool commit, std::int64_t producer) {
        log.batches.push_back(
            wire::end_txn_marker_batch(commit, 0, ProducerId{producer}, ProducerEpoch{0}, 1, Offset{log.end++}));
      };
      rig.cluster.append("t", 0, {"aborted 7"}, transactional(7));
      rig.cluster.append("t", 0, {"plain"});
      rig.cluster.append("t", 0, {"committed 8"}, transactional(8));
      marker(false, 7);
      marker(true, 8);
      rig.cluster.append("t", 0, {"committed 7"}, transactional(7));
      marker(true, 7);
      log.aborted = {{0, 7}};
      QVERIFY(rig.harness.run([&] { return rig.events(ConsumerEvent::Kind::reached_end) > 0; }));
      QVERIFY(rig.values() == (committed ? Strings{"plain", "committed 8", "committed 7"}
                                         : Strings{"aborted 7", "plain", "committed 8", "committed 7"}));
      QCOMPARE(rig.core.position({"t", 0}), std::optional<std::int64_t>(7));
    }
  }

  // ---- consumer, member of a group
  void joinsReadsCommitsLeaves() {
    ConsumerRig rig(grouped());
    rig.cluster.create("t", 2);
    rig.cluster.append("t", 0, {"a", "b"});
    rig.cluster.append("t", 1, {"c"});
    QVERIFY(rig.got(3));
    QCOMPARE(rig.events(ConsumerEvent::Kind::assigned), std::size_t{1});
    QVERIFY(rig.cluster.committed.empty());
    rig.harness.wait(milliseconds(1500));
    QCOMPARE(rig.cluster.committed.at({"t", 0}), std::int64_t{2});
    QCOMPARE(rig.cluster.committed.at({"t", 1}), std::int64_t{1});
    const std::size_t commits = rig.cluster.count(kCommit);
    rig.harness.wait(seconds(20));
    QCOMPARE(rig.cluster.count(kCommit), commits);           // nothing new, nothing committed
    QVERIFY(rig.cluster.count(kHeartbeat) >= 5);
    rig.cluster.append("t", 1, {"d"});
    QVERIFY(rig.got(4));
    rig.core.close(rig.harness.now, rig.harness.out);
    rig.harness.perform();
    QVERIFY(rig.harness.run([&] { return rig.core.closed(); }, seconds(3)));
    QCOMPARE(rig.cluster.committed.at({"t", 1}), std::int64_t{2});
    QVERIFY(rig.cluster.member.empty());
    QCOMPARE(rig.core.next_deadline(), kNever);
    QVERIFY(rig.cluster.wrong.empty());
  }
  void resumesWhereItCommitted() {
    for (const OffsetReset reset : {OffsetReset::earliest, OffsetReset::latest}) {
      ConsumerConfig config = grouped();
      config.reset = reset;
      ConsumerRig rig(config);
      rig.cluster.create("t", 2);
      rig.cluster.append("t", 0, {"a", "b", "c"});
      rig.cluster.append("t", 1, {"x"});
      rig.cluster.committed[{"t", 0}] = 1;
      rig.harness.wait(seconds(2));
      Strings values = rig.values();
      std::sort(values.begin(), values.end());
      QVERIFY(values == (reset == OffsetReset::earliest ? Strings{"b", "c", "x"} : Strings{"b", "c"}));
    }
  }

  // What was committed was read from a newer leader than the one that metadata names: that one was cut off, thinks it still leads,
  // and may lack the records (KIP-320).
  void aLeaderOlderThanWhatWasCommittedIsNotAsked() {
    ConsumerRig rig(grouped());
    rig.cluster.ranges[kFetch] = {4, 12};
    rig.cluster.create("t", 1);
    rig.cluster.ids["t"] = Uuid{7, 8};
    wire::BatchOptions options;
    options.leader_epoch = LeaderEpoch{5};
    rig.cluster.append("t", 0, {"a", "b", "c"}, options);
    rig.cluster.committed[{"t", 0}] = 2;
    rig.cluster.committed_epoch = LeaderEpoch{5};
    FakeCluster::Log& log = rig.cluster.topics["t"][0];
    int behind = 3;
    rig.cluster.cut_before = [&](const FakeCluster::Seen& seen) {
      const bool old = seen.api == kMetadata && behind-- > 0;
      log.leader = old ? 1 : 2;
      log.epoch = old ? 4 : 5;
      return false;
    };
    QVERIFY(rig.got(1));
    QVERIFY(rig.values() == (Strings{"c"}));
    QVERIFY(behind <= 0);
    QVERIFY(std::none_of(rig.cluster.seen.begin(), rig.cluster.seen.end(),
                         [](const FakeCluster::Seen& seen) { return (seen.api == kFetch || seen.api == kListOffsets) && seen.broker == 1; }));
  }
  void offsetsGoByTopicIdWhereItIsKnown() {
    // Topics by id; by name with an id that nobody knows; by name in the old form of one group.
    struct Case {
      bool ids;
      std::int16_t commit_highest;
      std::int16_t committed_highest;
      std::int16_t commit_expected;
      std::int16_t committed_expected;
    };
    for (const Case& one : {Case{true, 10, 10, 10, 10}, Case{false, 10, 10, 9, 9}, Case{true, 9, 9, 9, 9}, Case{true, 8, 7, 8, 7}}) {
      ConsumerRig rig(grouped());
      rig.cluster.ranges[kFetch] = {4, 12};
      rig.cluster.ranges[kCommit] = {2, one.commit_highest};
      rig.cluster.ranges[kCommittedOffsets] = {1, one.committed_highest};
      rig.cluster.create("t", 2);
      if (one.ids) {
        rig.cluster.ids["t"] = Uuid{7, 8};
      }
      rig.cluster.append("t", 0, {"a", "b", "c"});
      rig.cluster.append("t", 1, {"x"});
      rig.cluster.committed[{"t", 0}] = 1;
      QVERIFY(rig.got(3));  // b, c, x
      QCOMPARE(rig.cluster.version_of(kCommittedOffsets), one.committed_expected);
      QVERIFY(rig.harness.run([&] { return rig.cluster.committed.count({"t", 1}) == 1; }));
      QCOMPARE(rig.cluster.version_of(kCommit), one.commit_expected);
      QCOMPARE(rig.cluster.committed.at({"t", 0}), std::int64_t{3});
      QCOMPARE(rig.cluster.committed.at({"t", 1}), std::int64_t{1});
      QVERIFY(rig.harness.run([&] { return rig.events(ConsumerEvent::Kind::committed) >= 1; }));
      QCOMPARE(rig.events(ConsumerEvent::Kind::commit_failed), std::size_t{0});
    }
  }
  void aCommitForATopicMadeAnewAsksWhatItIsNow() {
    ConsumerConfig config = grouped();
    config.commit_mode = CommitMode::after_work;
    ConsumerRig rig(config);
    rig.cluster.ranges[kFetch] = {4, 12};
    rig.cluster.create("t", 1);
    rig.cluster.ids["t"] = Uuid{7, 8};
    rig.cluster.append("t", 0, {"a"});
    QVERIFY(rig.got(1));
    QVERIFY(rig.harness.run([&] { return rig.cluster.committed.count({"t", 0}) == 1; }));
    rig.cluster.ids["t"] = Uuid{7, 9};
    rig.cluster.append("t", 0, {"b"});
    QVERIFY(rig.got(2));
    QVERIFY(rig.harness.run([&] { return rig.cluster.committed.at({"t", 0}) == 2; }));
    QCOMPARE(rig.cluster.version_of(kCommit), std::int16_t{10});
  }
  void theRackIsToldAndANearerReplicaIsRead() {
    ConsumerConfig config = grouped();
    config.client_rack = "b";
    ConsumerRig rig(config);
    rig.cluster.create("t", 1);
    auto& log = rig.cluster.topics["t"][0];
    log.nearer = log.leader == 1 ? 2 : 1;
    rig.cluster.nearer_rack = "b";
    rig.cluster.append("t", 0, {"a", "b"});
    QVERIFY(rig.got(2));
    QCOMPARE(rig.cluster.subscribed_rack, std::optional<std::string>("b"));
    QVERIFY(!rig.cluster.racks.empty() && std::all_of(rig.cluster.racks.begin(), rig.cluster.racks.end(), [](const std::string& rack) { return rack == "b"; }));
    const auto fetches = [&rig](std::int32_t broker) {
      return std::count_if(rig.cluster.seen.begin(), rig.cluster.seen.end(),
                           [broker](const auto& seen) { return seen.api == kFetch && seen.broker == broker; });
    };
    QCOMPARE(fetches(log.leader), 1);  // it named the other one, which is read from since
    QVERIFY(fetches(log.nearer) >= 1);
    // The follower has not got as far back as the position: that is no reason to begin anew, the leader is asked.
    log.nearer_start = 100;
    rig.cluster.nearer_rack.clear();
    rig.cluster.append("t", 0, {"c"});
    QVERIFY(rig.got(3));
    QVERIFY(fetches(log.leader) >= 2);
    QVERIFY(rig.values() == (Strings{"a", "b", "c"}));
    // Without a rack nothing is said.
    ConsumerRig plain(grouped());
    plain.cluster.create("t", 1);
    plain.cluster.append("t", 0, {"a"});
    QVERIFY(plain.got(1));
    QVERIFY(!plain.cluster.subscribed_rack.has_value());
    QCOMPARE(plain.cluster.racks.front(), std::string());
  }
  void theLeaderGivesEveryMemberItsShare() {
    ConsumerRig rig(grouped());
    rig.cluster.create("t", 5);
    rig.cluster.create("u", 1);
    rig.cluster.other_members = {{"zzz", {"t", "u"}}};
    QVERIFY(rig.harness.run([&] { return rig.events(ConsumerEvent::Kind::assigned) > 0; }));
    QCOMPARE(rig.cluster.assignment.at(rig.core.member_id()).size(), std::size_t{3});
    QVERIFY(rig.cluster.assignment.at("zzz") == (std::vector<TopicPartition>{{"t", 3}, {"t", 4}, {"u", 0}}));
    QCOMPARE(rig.last(ConsumerEvent::Kind::assigned)->partitions.size(), std::size_t{3});
  }
  void aRebalanceCommitsRevokesAndJoinsAgain() {
    ConsumerRig rig(grouped());
    rig.cluster.create("t", 2);
    rig.cluster.append("t", 0, {"a"});
    QVERIFY(rig.got(1));
    rig.cluster.other_members = {{"a-member", {"t"}}};
    rig.cluster.errors[kHeartbeat] = {ErrorCode::rebalance_in_progress};
    QVERIFY(rig.harness.run([&] { return rig.events(ConsumerEvent::Kind::assigned) == 2; }));
    QCOMPARE(rig.events(ConsumerEvent::Kind::revoked), std::size_t{1});
    QCOMPARE(rig.cluster.committed.at({"t", 0}), std::int64_t{1});
    QCOMPARE(rig.cluster.generation, 2);
    QVERIFY(rig.last(ConsumerEvent::Kind::assigned)->partitions == (std::vector<TopicPartition>{{"t", 1}}));
    rig.cluster.append("t", 1, {"b"});
    QVERIFY(rig.got(2));
    QVERIFY(rig.values() == (Strings{"a", "b"}));  // partition 0 is not read any more, nothing comes twice
  }
  void aForgottenMemberBeginsAnew() {
    ConsumerRig rig(grouped());
    rig.cluster.create("t", 1);
    QVERIFY(rig.harness.run([&] { return rig.events(ConsumerEvent::Kind::assigned) == 1; }));
    const std::string before = rig.core.member_id();
    rig.cluster.errors[kHeartbeat] = {ErrorCode::unknown_member_id};
    QVERIFY(rig.harness.run([&] { return rig.events(ConsumerEvent::Kind::assigned) == 2; }));
    QVERIFY(rig.core.member_id() != before);
    rig.cluster.errors[kSync] = {ErrorCode::rebalance_in_progress};
    rig.cluster.errors[kHeartbeat] = {ErrorCode::illegal_generation};
    QVERIFY(rig.harness.run([&] { return rig.events(ConsumerEvent::Kind::assigned) == 3; }));
  }
  void theCoordinatorMoves() {
    ConsumerRig rig(grouped());
    rig.cluster.create("t", 1);
    rig.cluster.errors[kFind] = {ErrorCode::coordinator_not_available, ErrorCode::coordinator_not_available};
    rig.cluster.errors[kJoin] = {ErrorCode::coordinator_load_in_progress};
    QVERIFY(rig.harness.run([&] { return rig.events(ConsumerEvent::Kind::assigned) == 1; }));
    rig.cluster.coordinator = 2;
    rig.cluster.append("t", 0, {"a"});
    QVERIFY(rig.got(1));
    rig.harness.wait(seconds(12));
    QCOMPARE(rig.events(ConsumerEvent::Kind::revoked), std::size_t{0});  // the membership goes on
    QCOMPARE(rig.cluster.committed.at({"t", 0}), std::int64_t{1});
    QCOMPARE(rig.events(ConsumerEvent::Kind::error), std::size_t{0});    // all of it passed by itself
  }
  void whatCannotPassIsFatal() {
    ConsumerRig rig(grouped());
    rig.cluster.create("t", 1);
    rig.cluster.errors[kJoin] = {ErrorCode::inconsistent_group_protocol};
    QVERIFY(rig.harness.run([&] { return rig.core.closed(); }));
    QVERIFY(rig.last(ConsumerEvent::Kind::error)->fatal);
    QVERIFY(rig.last(ConsumerEvent::Kind::error)->message.find("INCONSISTENT_GROUP_PROTOCOL") != std::string::npos);
  }
  void aLimitIsKeptAndCommittedExactly() {
    ConsumerConfig config = grouped();
    config.records_max = 2;
    ConsumerRig rig(config);
    rig.cluster.create("t", 1);
    rig.cluster.append("t", 0, {"a", "b", "c"});
    rig.harness.wait(seconds(3));
    QVERIFY(rig.values() == (Strings{"a", "b"}));
    QCOMPARE(rig.cluster.committed.at({"t", 0}), std::int64_t{2});
  }
  void aCommitCoversOnlyWhatWasHandedOut() {
    ConsumerConfig config = grouped();
    config.commit_interval = milliseconds(1);  // due at every step
    ConsumerRig rig(config);
    rig.cluster.create("t", 1);
    for (int i = 0; i < 50; ++i) {
      rig.cluster.append("t", 0, {std::to_string(i)});
    }
    // The test takes the records after each step, as a shell does: what is committed then was taken before.
    std::int64_t taken = 0;
    QVERIFY(rig.harness.run([&] {
      const auto committed = rig.cluster.committed.find({"t", 0});
      const bool fine = committed == rig.cluster.committed.end() || committed->second <= taken;
      HW_ASSERT(fine, "only what was handed out is committed");
      taken += static_cast<std::int64_t>(rig.harness.out.records.size());
      rig.harness.out.records.clear();
      return taken == 50 && committed != rig.cluster.committed.end() && committed->second == 50;
    }));
  }
  void newPartitionsMakeTheLeaderRebalance() {
    ConsumerConfig config = grouped();
    ConsumerRig rig(config);
    rig.cluster.create("t", 1);
    QVERIFY(rig.harness.run([&] { return rig.events(ConsumerEvent::Kind::assigned) == 1; }));
    rig.cluster.create("t", 3);
    QVERIFY(rig.harness.run([&] { return rig.events(ConsumerEvent::Kind::assigned) == 2; }, seconds(400)));
    QCOMPARE(rig.last(ConsumerEvent::Kind::assigned)->partitions.size(), std::size_t{3});
  }

  // ---- admin
  // A role that has moved is looked up again; what is an answer is not asked twice.
  void callsFindWhoIsInCharge() {
    FakeCluster cluster;
    Admin core(cluster_config());
    Harness<Admin, AdminOutputs> harness{core, cluster};
    cluster.create("t", 2);
    cluster.topics["t"][1].leader = 2;
    const auto ask = [&](Call call, Duration limit = seconds(15)) {
      core.call(7, std::move(call), harness.now + limit);
      const bool done = harness.run([&] { return !harness.out.results.empty(); });
      HW_ASSERT(done, "a call ends");
      AdminResult result = std::move(harness.out.results.front());
      harness.out.results.clear();
      return result;
    };
    wire::ListOffsetsRequest offsets;
    offsets.topics.emplace_back().name = "t";
    offsets.topics.back().partitions.emplace_back().partition_index = PartitionIndex{1};
    offsets.topics.back().partitions.back().timestamp = -1;
    cluster.errors[kListOffsets] = {ErrorCode::not_leader_or_follower};
    const AdminResult listed = ask(make_call<wire::ListOffsetsResponse>(Target::leader_of("t", 1), offsets));
    QVERIFY(!listed.error);
    QCOMPARE(cluster.count(kListOffsets), std::size_t{2});
    QCOMPARE(cluster.seen.back().broker, 2);
    QCOMPARE(ask(make_call<wire::ListOffsetsResponse>(Target::leader_of("t", 2), offsets)).error->code, Errc::not_found);

    wire::HeartbeatRequest beat;
    beat.group_id = "g";
    cluster.errors[kHeartbeat] = {ErrorCode::not_coordinator};
    cluster.coordinator = 2;
    QVERIFY(!ask(make_call<wire::HeartbeatResponse>(Target::coordinator_of("g"), beat)).error);
    QCOMPARE(cluster.seen.back().broker, 2);
    QCOMPARE(cluster.count(kFind), std::size_t{2});
    // The time is up: the last response is the answer, with its code.
    cluster.errors[kHeartbeat].assign(100, ErrorCode::coordinator_load_in_progress);
    const AdminResult late = ask(make_call<wire::HeartbeatResponse>(Target::coordinator_of("g"), beat), seconds(1));
    QVERIFY(!late.error);
    wire::HeartbeatResponse response;
    QVERIFY(decode_answer(std::get<Answer>(late.value), response));
    QCOMPARE(response.error_code, ErrorCode::coordinator_load_in_progress);
    cluster.errors[kHeartbeat] = {ErrorCode::illegal_generation};
    const std::size_t before = cluster.count(kHeartbeat);
    QVERIFY(!ask(make_call<wire::HeartbeatResponse>(Target::coordinator_of("g"), beat)).error);
    QCOMPARE(cluster.count(kHeartbeat), before + 1);
    CallOptions once;
    once.retry_codes = false;
    cluster.errors[kHeartbeat] = {ErrorCode::not_coordinator};
    QVERIFY(!ask(make_call<wire::HeartbeatResponse>(Target::coordinator_of("g"), beat, once)).error);
    QCOMPARE(cluster.count(kHeartbeat), before + 2);
    cluster.down = {1, 2};
    QCOMPARE(ask(make_call<wire::HeartbeatResponse>(Target::broker_id(1), beat)).error->code, Errc::closed);
    QVERIFY(cluster.wrong.empty());
  }

  void adminCalls() {
    FakeCluster cluster;
    Admin core(cluster_config());
    Harness<Admin, AdminOutputs> harness(core, cluster);
    const auto call = [&](auto start) {
      harness.out.results.clear();
      start(harness.now + seconds(10));
      HW_ASSERT(harness.run([&] { return !harness.out.results.empty(); }), "a call ends");
      return harness.out.results.front();
    };
    const auto create = [&](const std::string& name) {
      return call([&](Instant deadline) { core.create_topic(5, NewTopic{name, 3, 1, {{"a", "b"}}}, deadline); });
    };
    cluster.errors[kCreate] = {ErrorCode::not_controller};
    QVERIFY(!create("t").error);
    QCOMPARE(cluster.topics.at("t").size(), std::size_t{3});
    const AdminResult again = create("t");
    QCOMPARE(again.token, std::uint64_t{5});
    QVERIFY(again.error->code == Errc::exists);
    QVERIFY(again.error->detail.find("it is there") != std::string::npos);
    QVERIFY(!call([&](Instant deadline) { core.create_partitions(1, "t", 5, deadline); }).error);
    QCOMPARE(cluster.topics.at("t").size(), std::size_t{5});

    cluster.topics.at("t")[4].leader = 2;
    cluster.append("t", 4, {"x", "y"});
    cluster.errors[kListOffsets] = {ErrorCode::not_leader_or_follower};
    const AdminResult offsets = call([&](Instant deadline) { core.list_offsets(1, "t", -1, deadline); });
    const auto& rows = std::get<std::vector<PartitionOffset>>(offsets.value);
    QCOMPARE(rows.size(), std::size_t{5});
    QCOMPARE(rows[4].offset, std::int64_t{2});
    QCOMPARE(rows[0].offset, std::int64_t{0});

    const AdminResult listed = call([&](Instant deadline) { core.list_topics(1, deadline); });
    QCOMPARE(std::get<std::vector<TopicDescription>>(listed.value).front().info.partitions.size(), std::size_t{5});
    cluster.errors[kListGroups] = {ErrorCode::none, ErrorCode::coordinator_load_in_progress};
    const AdminResult groups = call([&](Instant deadline) { core.list_groups(1, deadline); });
    const auto& found = std::get<std::vector<GroupListing>>(groups.value);
    QCOMPARE(found.size(), std::size_t{2});
    QCOMPARE(found[1].id, std::string("group-of-2"));

    QVERIFY(!call([&](Instant deadline) { core.delete_topic(1, "t", deadline); }).error);
    QVERIFY(call([&](Instant deadline) { core.delete_topic(1, "t", deadline); }).error->code == Errc::not_found);
    QVERIFY(call([&](Instant deadline) { core.describe_topic(1, "t", deadline); }).error->code == Errc::not_found);
    cluster.ranges[kCreate] = {1, 0};
    cluster.down = {1, 2};
    const Instant before = harness.now;
    const AdminResult lost = create("u");
    QVERIFY(lost.error->code == Errc::closed);
    QVERIFY(lost.error->detail.find("connection refused") != std::string::npos);
    QVERIFY(harness.now - before < seconds(5));
    QVERIFY(cluster.wrong.empty());
    QCOMPARE(core.unanswered(), std::size_t{0});
  }
};

QTEST_APPLESS_MAIN(TestClient)
#include "tst_client.moc"
