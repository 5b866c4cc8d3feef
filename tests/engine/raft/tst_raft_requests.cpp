// SPDX-License-Identifier: Apache-2.0
// What Kafka 4.4.0 answers to raft requests, good and bad ones: the expectations are those of a real cluster of three.
#include <QtTest/QTest>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/wire/runtime/error_code.h"
#include "tests/engine/raft/quorum_world.h"

using namespace hw;
using namespace hw::raft;
using namespace hw::raft::test;
using wire::ErrorCode;

namespace {

const Uuid kElsewhere{0x1111'1111'2222'3333ULL, 0x4444'5555'5555'5555ULL};

std::string name(ErrorCode error) { return std::string(wire::error_name(error)); }

// A world at peace, with its leader known.
struct Peace {
  explicit Peace(WorldOptions options = {}, std::uint64_t seed = 1) : world(options, seed) {
    world.advance(milliseconds(500));
    world.propose();
    world.advance(milliseconds(100));
    HW_ASSERT(world.leader().has_value(), "somebody leads");
    leader = *world.leader();
    epoch = world.quorum(leader).epoch().value();
    other = (leader + 1) % 3;
  }
  template <class Response, class Request>
  Response ask(int at, const Request& request, std::int16_t version) {
    world.ask(at, request, version);
    for (int i = 0; i < 300; ++i) {
      if (std::optional<PeerAnswer> answer = world.answer()) {
        HW_ASSERT(std::holds_alternative<Response>(*answer), "an answer of that kind");
        return std::get<Response>(std::move(*answer));
      }
      world.advance(milliseconds(10));
    }
    HW_ASSERT(false, "an answer comes");
    return {};
  }

  World world;
  int leader = -1;
  int other = -1;  // another voter
  std::int32_t epoch = 0;
};

wire::FetchRequest fetch(std::int32_t epoch, std::int64_t offset = 0, std::int32_t last = 0) {
  wire::FetchRequest request;
  request.cluster_id = "a-cluster";
  request.replica_state.replica_id = BrokerId(99);
  request.max_wait_ms = 100;
  request.max_bytes = 1'000'000;
  auto& topic = request.topics.emplace_back();
  topic.topic_id = kMetadataTopicUuid;
  auto& partition = topic.partitions.emplace_back();
  partition.current_leader_epoch = LeaderEpoch(epoch);
  partition.fetch_offset = Offset(offset);
  partition.last_fetched_epoch = LeaderEpoch(last);
  return request;
}

wire::FetchSnapshotRequest fetch_snapshot(std::int32_t epoch, const char* topic = kMetadataTopicName, std::int64_t end = 123456789) {
  wire::FetchSnapshotRequest request;
  request.cluster_id = "a-cluster";
  request.replica_id = BrokerId(99);
  request.max_bytes = 1000;
  auto& entry = request.topics.emplace_back();
  entry.name = topic;
  auto& partition = entry.partitions.emplace_back();
  partition.current_leader_epoch = LeaderEpoch(epoch);
  partition.snapshot_id.end_offset = Offset(end);
  partition.snapshot_id.epoch = 1;
  return request;
}

template <class Request>
Request with_partition(std::optional<std::string> cluster = "a-cluster") {
  Request request;
  if constexpr (requires { request.cluster_id; }) {
    request.cluster_id = std::move(cluster);
  }
  request.topics.emplace_back().topic_name = kMetadataTopicName;
  request.topics.front().partitions.emplace_back();
  return request;
}

wire::AddRaftVoterRequest add(const Voter& voter, std::string cluster = "a-cluster") {
  wire::AddRaftVoterRequest request;
  request.cluster_id = std::move(cluster);
  request.timeout_ms = 1500;
  request.voter_id = voter.key.id.value();
  request.voter_directory_id = voter.key.directory;
  for (const VoterEndpoint& endpoint : voter.endpoints) {
    auto& listener = request.listeners.emplace_back();
    listener.name = endpoint.listener;
    listener.host = endpoint.host;
    listener.port = endpoint.port;
  }
  return request;
}

wire::RemoveRaftVoterRequest remove(const ReplicaKey& key, std::string cluster = "a-cluster") {
  wire::RemoveRaftVoterRequest request;
  request.cluster_id = std::move(cluster);
  request.voter_id = key.id.value();
  request.voter_directory_id = key.directory;
  return request;
}

std::vector<std::int32_t> ids(const VoterSet& voters) {
  std::vector<std::int32_t> all;
  for (const Voter& voter : voters.all()) {
    all.push_back(voter.key.id.value());
  }
  return all;
}

}  // namespace

class TestRaftRequests : public QObject {
  Q_OBJECT
 private slots:
  void fetch_answers();
  void fetch_waits_for_records_and_for_the_high_watermark();
  void fetch_snapshot_answers();
  void vote_answers();
  void begin_and_end_quorum_epoch_answers();
  void voter_changes_that_are_refused();
  void voters_come_and_go();
  void the_leader_may_remove_itself();
  void a_voter_that_moved_tells_the_leader();
  void describe_quorum();
};

void TestRaftRequests::fetch_answers() {
  Peace peace;
  const BrokerId leader = peace.world.voter(peace.leader).key.id;
  const auto one = [&](int at, const wire::FetchRequest& request) {
    return peace.ask<wire::FetchResponse>(at, request, 17).responses.front().partitions.front();
  };
  const auto told = [&](const wire::FetchResponse::PartitionData& partition) {
    return partition.current_leader.leader_id == leader && partition.current_leader.leader_epoch == LeaderEpoch(peace.epoch);
  };
  auto partition = one(peace.leader, fetch(peace.epoch));
  QCOMPARE(name(partition.error_code), std::string("NONE"));
  QVERIFY(told(partition) && !partition.records->empty() && partition.diverging_epoch.epoch < 0 && partition.snapshot_id.epoch < 0);
  const struct {
    const char* error;
    int at;
    wire::FetchRequest request;
  } refused[] = {
      {"FENCED_LEADER_EPOCH", peace.leader, fetch(peace.epoch - 1)},
      {"UNKNOWN_LEADER_EPOCH", peace.leader, fetch(peace.epoch + 5)},
      {"NOT_LEADER_OR_FOLLOWER", peace.other, fetch(peace.epoch)},
      {"INVALID_REQUEST", peace.leader, fetch(peace.epoch, -5)},
      {"INVALID_REQUEST", peace.leader, fetch(peace.epoch, 0, peace.epoch + 1)},
  };
  for (const auto& [error, at, request] : refused) {
    partition = one(at, request);
    QCOMPARE(name(partition.error_code), std::string(error));
    QVERIFY(told(partition) && partition.records->empty());
  }
  partition = one(peace.leader, fetch(peace.epoch, 999'999));
  QCOMPARE(name(partition.error_code), std::string("NONE"));
  QCOMPARE(partition.diverging_epoch.epoch, 0);
  QCOMPARE(partition.diverging_epoch.end_offset.value(), 0);
  QVERIFY(told(partition) && partition.records->empty());
  wire::FetchRequest wrong = fetch(peace.epoch);
  wrong.cluster_id = "x";
  QCOMPARE(name(peace.ask<wire::FetchResponse>(peace.leader, wrong, 17).error_code), std::string("INCONSISTENT_CLUSTER_ID"));
  wrong = fetch(peace.epoch);
  wrong.topics.front().topic_id = kElsewhere;
  QCOMPARE(name(peace.ask<wire::FetchResponse>(peace.leader, wrong, 17).error_code), std::string("INVALID_REQUEST"));
}

void TestRaftRequests::fetch_waits_for_records_and_for_the_high_watermark() {
  Peace peace;
  const Offset end = peace.world.quorum(peace.leader).log_end_offset();
  wire::FetchRequest request = fetch(peace.epoch, end.value(), peace.epoch);
  request.topics.front().partitions.front().high_watermark = end.value();
  peace.world.ask(peace.leader, request, 18);
  peace.world.advance(milliseconds(50));
  QVERIFY(!peace.world.answer().has_value());
  peace.world.advance(milliseconds(60));  // max_wait_ms is over
  const std::optional<PeerAnswer> late = peace.world.answer();
  QVERIFY(late.has_value());
  QVERIFY(std::get<wire::FetchResponse>(*late).responses.front().partitions.front().records->empty());
  peace.world.ask(peace.leader, request, 18);
  peace.world.propose();
  const std::optional<PeerAnswer> fresh = peace.world.answer();
  QVERIFY(fresh.has_value());
  QVERIFY(!std::get<wire::FetchResponse>(*fresh).responses.front().partitions.front().records->empty());
  // KIP-1166: who knows an older high watermark hears of the new one at once.
  peace.world.advance(milliseconds(100));
  request = fetch(peace.epoch, peace.world.quorum(peace.leader).log_end_offset().value(), peace.epoch);
  request.topics.front().partitions.front().high_watermark = end.value();
  peace.world.ask(peace.leader, request, 18);
  QVERIFY(peace.world.answer().has_value());
}

void TestRaftRequests::fetch_snapshot_answers() {
  Peace peace;
  const auto error = [&](int at, const wire::FetchSnapshotRequest& request) {
    const auto response = peace.ask<wire::FetchSnapshotResponse>(at, request, 1);
    HW_ASSERT(response.topics.empty(), "an error stands at the top, alone");
    return name(response.error_code);
  };
  // Kafka cannot encode these errors where they belong.
  QCOMPARE(error(peace.leader, fetch_snapshot(peace.epoch)), std::string("UNKNOWN_SERVER_ERROR"));
  QCOMPARE(error(peace.other, fetch_snapshot(peace.epoch)), std::string("UNKNOWN_SERVER_ERROR"));
  QCOMPARE(error(peace.leader, fetch_snapshot(peace.epoch - 1)), std::string("UNKNOWN_SERVER_ERROR"));
  QCOMPARE(error(peace.leader, fetch_snapshot(peace.epoch + 9)), std::string("UNKNOWN_SERVER_ERROR"));
  QCOMPARE(error(peace.leader, fetch_snapshot(peace.epoch, "zz")), std::string("UNKNOWN_SERVER_ERROR"));
  wire::FetchSnapshotRequest wrong = fetch_snapshot(peace.epoch);
  wrong.cluster_id = "x";
  QCOMPARE(error(peace.leader, wrong), std::string("INCONSISTENT_CLUSTER_ID"));
  peace.world.take_snapshot(peace.leader);
  const auto id = peace.world.log(peace.leader).latest_snapshot();
  QVERIFY(id.has_value());
  wire::FetchSnapshotRequest right = fetch_snapshot(peace.epoch, kMetadataTopicName, id->end_offset.value());
  right.topics.front().partitions.front().snapshot_id.epoch = id->epoch.value();
  right.max_bytes = 10;
  const auto response = peace.ask<wire::FetchSnapshotResponse>(peace.leader, right, 1);
  const auto& piece = response.topics.front().partitions.front();
  QCOMPARE(piece.unaligned_records.size(), std::size_t{10});
  QVERIFY(piece.size > 10);
  right.topics.front().partitions.front().position = piece.size;
  QCOMPARE(error(peace.leader, right), std::string("UNKNOWN_SERVER_ERROR"));
}

void TestRaftRequests::vote_answers() {
  Peace peace;
  const auto vote = [&](int at, std::int32_t epoch, std::int32_t last_epoch, std::int64_t last, bool pre_vote = false,
                        Uuid directory = {}, std::int32_t candidate = 3) {
    auto request = with_partition<wire::VoteRequest>();
    request.voter_id = peace.world.voter(at).key.id;
    auto& partition = request.topics.front().partitions.front();
    partition.replica_epoch = epoch;
    partition.replica_id = BrokerId(candidate);
    partition.voter_directory_id = directory;
    partition.last_offset_epoch = last_epoch;
    partition.last_offset = Offset(last);
    partition.pre_vote = pre_vote;
    const auto answer = peace.ask<wire::VoteResponse>(at, request, 2).topics.front().partitions.front();
    return name(answer.error_code) + (answer.vote_granted ? " granted" : "");
  };
  const std::int32_t epoch = peace.epoch;
  QCOMPARE(vote(peace.other, epoch - 1, 0, 99, true), std::string("FENCED_LEADER_EPOCH"));
  QCOMPARE(vote(peace.other, epoch, -1, 99), std::string("INVALID_REQUEST"));
  QCOMPARE(vote(peace.other, epoch, 0, -1), std::string("INVALID_REQUEST"));
  QCOMPARE(vote(peace.other, epoch - 1, epoch, 99), std::string("INVALID_REQUEST"));  // before the epoch is looked at
  QCOMPARE(vote(peace.other, epoch, epoch, 99), std::string("INVALID_REQUEST"));
  QCOMPARE(vote(peace.other, epoch, epoch - 1, 99, false, kElsewhere), std::string("INVALID_VOTER_KEY"));
  QCOMPARE(vote(peace.other, epoch, 0, 99, false, {}, -1), std::string("INVALID_REQUEST"));
  // A follower of a leader that lives refuses; so does the leader.
  QCOMPARE(vote(peace.other, epoch, epoch, 99, true), std::string("NONE"));
  QCOMPARE(vote(peace.leader, epoch, epoch, 99, true), std::string("NONE"));
  auto wrong = with_partition<wire::VoteRequest>("x");
  QCOMPARE(name(peace.ask<wire::VoteResponse>(peace.other, wrong, 2).error_code), std::string("INCONSISTENT_CLUSTER_ID"));
  QVERIFY(peace.world.quorum(peace.leader).is_leader());
  // A log that is behind gets no vote, one that is not does, once in an epoch.
  QCOMPARE(vote(peace.other, epoch + 3, epoch, 1), std::string("NONE"));
  QCOMPARE(vote(peace.other, epoch + 3, epoch, 99, false, {}, 8), std::string("NONE granted"));
  QCOMPARE(vote(peace.other, epoch + 3, epoch, 99, false, {}, 8), std::string("NONE granted"));
  QCOMPARE(vote(peace.other, epoch + 3, epoch, 99, false, {}, 9), std::string("NONE"));
}

void TestRaftRequests::begin_and_end_quorum_epoch_answers() {
  Peace peace;
  const auto begin = [&](std::int32_t epoch, const char* cluster = "a-cluster", std::int32_t voter = -1, int leader = -1) {
    auto request = with_partition<wire::BeginQuorumEpochRequest>(cluster);
    request.voter_id = voter < 0 ? peace.world.voter(peace.other).key.id : BrokerId(voter);
    auto& partition = request.topics.front().partitions.front();
    partition.leader_id = peace.world.voter(leader < 0 ? peace.leader : leader).key.id;
    partition.leader_epoch = LeaderEpoch(epoch);
    const auto response = peace.ask<wire::BeginQuorumEpochResponse>(peace.other, request, 1);
    return name(response.error_code) +
           (response.topics.empty() ? "" : " " + name(response.topics.front().partitions.front().error_code));
  };
  QCOMPARE(begin(peace.epoch), std::string("NONE NONE"));
  QCOMPARE(begin(peace.epoch - 1), std::string("NONE FENCED_LEADER_EPOCH"));
  QCOMPARE(begin(peace.epoch, "x"), std::string("INCONSISTENT_CLUSTER_ID"));
  QCOMPARE(begin(peace.epoch, "a-cluster", 77), std::string("NONE INVALID_VOTER_KEY"));
  // Another leader in the same epoch ends a Kafka process; here it is refused, and nothing changes.
  QCOMPARE(begin(peace.epoch, "a-cluster", -1, (peace.leader + 2) % 3), std::string("NONE INVALID_REQUEST"));
  QVERIFY(peace.world.quorum(peace.other).view().leader == peace.world.voter(peace.leader).key.id);
  const auto end = [&](std::int32_t epoch, const char* cluster = "a-cluster") {
    auto request = with_partition<wire::EndQuorumEpochRequest>(cluster);
    auto& partition = request.topics.front().partitions.front();
    partition.leader_id = peace.world.voter(peace.leader).key.id;
    partition.leader_epoch = LeaderEpoch(epoch);
    const auto response = peace.ask<wire::EndQuorumEpochResponse>(peace.other, request, 1);
    return name(response.error_code) +
           (response.topics.empty() ? "" : " " + name(response.topics.front().partitions.front().error_code));
  };
  QCOMPARE(end(peace.epoch - 1), std::string("NONE FENCED_LEADER_EPOCH"));
  QCOMPARE(end(peace.epoch, "x"), std::string("INCONSISTENT_CLUSTER_ID"));
}

void TestRaftRequests::voter_changes_that_are_refused() {
  Peace peace;
  const auto add_error = [&](const wire::AddRaftVoterRequest& request, int at = -1) {
    return name(peace.ask<wire::AddRaftVoterResponse>(at < 0 ? peace.leader : at, request, 1).error_code);
  };
  const auto remove_error = [&](const wire::RemoveRaftVoterRequest& request) {
    return name(peace.ask<wire::RemoveRaftVoterResponse>(peace.leader, request, 0).error_code);
  };
  const Voter nobody{{BrokerId(55), kElsewhere}, {{"CONTROLLER", "127.0.0.1", 1}}};
  Voter existing = nobody;
  existing.key.id = peace.world.voter(peace.other).key.id;
  Voter unnamed = nobody;
  unnamed.endpoints.front().listener = "ZZZ";
  Voter homeless = nobody;
  homeless.key.directory = {};
  QCOMPARE(add_error(add(nobody, "x")), std::string("INCONSISTENT_CLUSTER_ID"));
  QCOMPARE(add_error(add(existing)), std::string("DUPLICATE_VOTER"));
  QCOMPARE(add_error(add(nobody)), std::string("REQUEST_TIMED_OUT"));  // it cannot be reached
  QCOMPARE(add_error(add(unnamed)), std::string("INVALID_REQUEST"));
  QCOMPARE(add_error(add(homeless)), std::string("INVALID_REQUEST"));
  QCOMPARE(add_error(add(nobody), peace.other), std::string("NOT_LEADER_OR_FOLLOWER"));
  QCOMPARE(remove_error(remove({BrokerId(1), kElsewhere}, "x")), std::string("INCONSISTENT_CLUSTER_ID"));
  QCOMPARE(remove_error(remove({BrokerId(88), kElsewhere})), std::string("VOTER_NOT_FOUND"));
  QCOMPARE(remove_error(remove({existing.key.id, kElsewhere})), std::string("VOTER_NOT_FOUND"));
  const auto update = [&](int at, std::int32_t id, std::int32_t epoch, const char* cluster = "a-cluster") {
    wire::UpdateRaftVoterRequest request;
    request.cluster_id = cluster;
    request.current_leader_epoch = LeaderEpoch(epoch);
    request.voter_id = id;
    request.voter_directory_id = kElsewhere;
    auto& listener = request.listeners.emplace_back();
    listener.name = "CONTROLLER";
    listener.host = "127.0.0.1";
    listener.port = 1;
    request.k_raft_version_feature.max_supported_version = 1;
    return name(peace.ask<wire::UpdateRaftVoterResponse>(at, request, 0).error_code);
  };
  QCOMPARE(update(peace.leader, 1, peace.epoch, "x"), std::string("INCONSISTENT_CLUSTER_ID"));
  QCOMPARE(update(peace.leader, 88, peace.epoch), std::string("VOTER_NOT_FOUND"));
  QCOMPARE(update(peace.other, 1, peace.epoch), std::string("NOT_LEADER_OR_FOLLOWER"));
  QCOMPARE(update(peace.leader, 1, peace.epoch - 1), std::string("FENCED_LEADER_EPOCH"));
  QVERIFY((ids(peace.world.quorum(peace.leader).voters()) == std::vector<std::int32_t>{1, 2, 3}));
}

void TestRaftRequests::voters_come_and_go() {
  WorldOptions options;
  options.observers = 1;
  options.voter_changes = true;
  Peace peace(options, 6);
  const Voter fresh = peace.world.voter(3);
  const auto added = peace.ask<wire::AddRaftVoterResponse>(peace.leader, add(fresh), 1);
  QCOMPARE(name(added.error_code), std::string("NONE"));
  peace.world.advance(seconds(1));
  for (int i = 0; i < 4; ++i) {
    QVERIFY((ids(peace.world.quorum(i).voters()) == std::vector<std::int32_t>{1, 2, 3, 4}));
  }
  QVERIFY(peace.world.quorum(3).view().voter);
  const auto removed = peace.ask<wire::RemoveRaftVoterResponse>(peace.leader, remove(peace.world.voter(peace.other).key), 0);
  QCOMPARE(name(removed.error_code), std::string("NONE"));
  peace.world.advance(seconds(1));
  QVERIFY(!peace.world.quorum(peace.other).view().voter);
  QCOMPARE(peace.world.quorum(peace.leader).voters().size(), std::size_t{3});
  // The new one counts: with it and the leader alone there is a majority.
  const int third = (peace.leader + 2) % 3;
  peace.world.crash(third);
  const std::int64_t before = peace.world.committed();
  peace.world.propose();
  peace.world.advance(seconds(1));
  QVERIFY(peace.world.committed() > before);
  QVERIFY2(peace.world.violation().empty(), peace.world.violation().c_str());
}

void TestRaftRequests::the_leader_may_remove_itself() {
  Peace peace;
  const auto removed = peace.ask<wire::RemoveRaftVoterResponse>(peace.leader, remove(peace.world.voter(peace.leader).key), 0);
  QCOMPARE(name(removed.error_code), std::string("NONE"));
  peace.world.advance(seconds(5));
  QVERIFY2(peace.world.violation().empty(), peace.world.violation().c_str());
  const std::optional<int> next = peace.world.leader();
  QVERIFY(next.has_value() && *next != peace.leader);
  QCOMPARE(peace.world.quorum(*next).voters().size(), std::size_t{2});
  QVERIFY(peace.world.quorum(peace.leader).view().leader == peace.world.voter(*next).key.id);  // as an observer
}

void TestRaftRequests::a_voter_that_moved_tells_the_leader() {
  Peace peace;
  const int moved = peace.other;
  peace.world.crash(moved);
  peace.world.moved_to(moved, "another-host");
  peace.world.start(moved);
  peace.world.advance(seconds(6));
  QVERIFY2(peace.world.violation().empty(), peace.world.violation().c_str());
  for (int i = 0; i < 3; ++i) {
    const Voter* entry = peace.world.quorum(i).voters().find(peace.world.voter(moved).key.id);
    QVERIFY(entry != nullptr);
    QCOMPARE(entry->endpoints.front().host, std::string("another-host"));
  }
}

void TestRaftRequests::describe_quorum() {
  WorldOptions options;
  options.observers = 1;
  Peace peace(options, 2);
  auto request = with_partition<wire::DescribeQuorumRequest>();
  const auto response = peace.ask<wire::DescribeQuorumResponse>(peace.leader, request, 2);
  const auto& partition = response.topics.front().partitions.front();
  QCOMPARE(name(partition.error_code), std::string("NONE"));
  QVERIFY(partition.leader_id == peace.world.voter(peace.leader).key.id);
  QCOMPARE(partition.current_voters.size(), std::size_t{3});
  QCOMPARE(partition.observers.size(), std::size_t{1});
  QCOMPARE(response.nodes.size(), std::size_t{3});
  QCOMPARE(partition.high_watermark, peace.world.committed());
  for (const auto& voter : partition.current_voters) {
    QVERIFY(voter.replica_directory_id != Uuid{});
    QCOMPARE(voter.log_end_offset.value(), peace.world.committed());
    QVERIFY(voter.last_fetch_timestamp > 0);
    QVERIFY(voter.last_caught_up_timestamp > 0);
  }
  const auto other = peace.ask<wire::DescribeQuorumResponse>(peace.other, request, 2);
  QCOMPARE(name(other.topics.front().partitions.front().error_code), std::string("NOT_LEADER_OR_FOLLOWER"));
  QVERIFY(other.topics.front().partitions.front().current_voters.empty());
  request.topics.front().topic_name = "other";
  const auto unknown = peace.ask<wire::DescribeQuorumResponse>(peace.leader, request, 2);
  QCOMPARE(name(unknown.topics.front().partitions.front().error_code), std::string("UNKNOWN_TOPIC_OR_PARTITION"));
}

QTEST_APPLESS_MAIN(TestRaftRequests)
#include "tst_raft_requests.moc"
