// SPDX-License-Identifier: Apache-2.0
#include <QtTest/QTest>
#include <algorithm>

#include <string>
#include <vector>

#include "engine/raft/control_records.h"
#include "engine/raft/format.h"
#include "engine/raft/memory_log.h"
#include "engine/raft/quorum.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/record/record_iterator.h"
#include "tests/engine/raft/kafka_quorum.inc"

using namespace hw;
using namespace hw::raft;

namespace {

Bytes from_hex(const char* text) {
  const std::string hex(text);
  ByteBuilder bytes(hex.size() / 2);
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    const auto value = static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16));
    bytes.append(ByteSpan(&value, 1));
  }
  return bytes.finish();
}

const Uuid kDirectory = Uuid::parse("0G897w6JSxyKU6ZwsZnxCg").value_or(Uuid{});
Voter kafka_voter() { return {{BrokerId(1), kDirectory}, {{"CONTROLLER", "127.0.0.1", 19193}}}; }

Config config() {
  Config config;
  config.self = kafka_voter();
  config.voters = {kafka_voter()};
  return config;
}
constexpr Instant kNow{1'000'000};
constexpr WallTime kWall{1795967399596};

// A log with `count` records of one epoch, all of them durable.
MemoryLog log_of(std::int64_t count, LeaderEpoch epoch) {
  MemoryLog log;
  for (std::int64_t i = 0; i < count; ++i) {
    HW_ASSERT(log.append_as_leader(data_batch_of({Bytes::copy_of("old")}, Offset(i), epoch, kWall), epoch, kWall).has_value(), "");
  }
  log.flush();
  return log;
}

Voter second_voter() {
  Voter other = kafka_voter();
  other.key.id = BrokerId(2);
  other.endpoints.front().port = 2;
  return other;
}

// Brings a quorum to leadership; its log then ends with the batch that begins the epoch.
void elect(Quorum& quorum) {
  Outputs out;
  quorum.step(Tick{kWall}, kNow, out);
  Outputs after;
  if (out.persist) {
    quorum.step(Persisted{*out.persist}, kNow, after);
  }
}

}  // namespace

class TestRaft : public QObject {
  Q_OBJECT
 private slots:
  void quorum_state_as_kafka_writes_it();
  void quorum_state_reads_what_others_wrote();
  void quorum_state_refuses_damage();
  void first_batch_is_kafkas();
  void checkpoint_is_kafkas();
  void epoch_rises_at_every_start();
  void nothing_is_appended_before_the_vote_is_durable();
  void a_later_epoch_begins_with_the_leader_change_alone();
  void high_watermark_follows_the_flush();
  void records_of_an_older_epoch_commit_with_the_new_one();
  void what_waits_for_the_disk_is_asked_for();
  void a_fetch_waits_less_than_its_timeout();
  void an_answer_about_an_earlier_log_cuts_nothing();
  void batches_hold_their_values();
};

void TestRaft::quorum_state_as_kafka_writes_it() {
  ElectionState state;
  state.epoch = LeaderEpoch(1);
  state.leader = BrokerId(1);
  QCOMPARE(encode_quorum_state(state),
           std::string("{\"leaderId\":1,\"leaderEpoch\":1,\"votedId\":-1,\"votedDirectoryId\":\"AAAAAAAAAAAAAAAAAAAAAA\","
                       "\"data_version\":1}"));
}

void TestRaft::quorum_state_reads_what_others_wrote() {
  ElectionState voted;
  voted.epoch = LeaderEpoch(7);
  voted.voted = ReplicaKey{BrokerId(3), kDirectory};
  const Result<ElectionState> back = decode_quorum_state(encode_quorum_state(voted));
  QVERIFY(back.has_value());
  QVERIFY(*back == voted);
  const Result<ElectionState> old = decode_quorum_state(
      "{ \"clusterId\": \"\", \"leaderId\" : 2 , \"leaderEpoch\":4,\"votedId\":-1,\"appliedOffset\":0,"
      "\"currentVoters\":[{\"voterId\":2}],\"data_version\":0}\n");
  QVERIFY(old.has_value());
  QCOMPARE(old->epoch.value(), 4);
  QVERIFY(old->leader == BrokerId(2));
  QVERIFY(!old->voted.has_value());
}

void TestRaft::quorum_state_refuses_damage() {
  QVERIFY(!decode_quorum_state(""));
  QVERIFY(!decode_quorum_state("{}"));
  QVERIFY(!decode_quorum_state("{\"leaderEpoch\":\"x\",\"data_version\":1}"));
  QVERIFY(!decode_quorum_state("{\"leaderId\":1,\"leaderEpoch\":1,\"data_version\":1"));
  const Result<ElectionState> newer = decode_quorum_state("{\"leaderEpoch\":1,\"data_version\":2}");
  QVERIFY(!newer);
  QVERIFY(newer.error().code == Errc::unsupported);
}

void TestRaft::first_batch_is_kafkas() {
  MemoryLog log;
  Quorum quorum(config(), {}, log, Prng(1), kNow);
  elect(quorum);
  QCOMPARE(log.batches().size(), std::size_t{1});
  const MemoryLog::Batch& batch = log.batches().front();
  QVERIFY(batch.control);
  QCOMPARE(batch.base.value(), 0);
  QCOMPARE(batch.last.value(), 2);
  QVERIFY(batch.bytes == from_hex(kFirstBatch));
}

void TestRaft::checkpoint_is_kafkas() {
  const Bytes golden = from_hex(kInitialCheckpoint);
  // Ours has one time for the whole file, theirs the time of each batch; the rest is compared byte by byte.
  const Bytes head = control_batch_of(
      {snapshot_header_record(WallTime{1795967398224}), kraft_version_record(), voters_record({kafka_voter()})}, Offset(0),
      LeaderEpoch(0), WallTime{1795967398251});
  QVERIFY(head == golden.slice(0, head.size()));
  std::vector<Bytes> values;
  wire::BatchCursor cursor(golden.span());
  wire::BatchView batch;
  QVERIFY(cursor.next(batch) && cursor.next(batch));
  Result<wire::RecordIterator> records = wire::RecordIterator::open(batch);
  QVERIFY(records.has_value());
  wire::RecordView record;
  while (records->next(record)) {
    values.push_back(Bytes::copy_of(*record.value));
  }
  QCOMPARE(values.size(), std::size_t{6});
  const Bytes ours = encode_initial_checkpoint({kafka_voter()}, values, WallTime{1795967398251});
  QCOMPARE(ours.size(), golden.size());
  wire::BatchCursor mine(ours.span());
  wire::BatchCursor theirs(golden.span());
  wire::BatchView a;
  wire::BatchView b;
  int batches = 0;
  while (mine.next(a) && theirs.next(b)) {
    ++batches;
    QVERIFY(a.crc_ok());
    QCOMPARE(a.size(), b.size());
    QCOMPARE(a.base_offset().value(), b.base_offset().value());
    QCOMPARE(a.attributes(), b.attributes());
    QCOMPARE(a.count(), b.count());
  }
  QCOMPARE(batches, 3);
}

void TestRaft::epoch_rises_at_every_start() {
  ElectionState state;
  state.epoch = LeaderEpoch(4);
  MemoryLog log = log_of(10, LeaderEpoch(4));
  Quorum quorum(config(), state, log, Prng(1), kNow);
  Outputs out;
  quorum.step(Tick{kWall}, kNow, out);
  QVERIFY(out.persist.has_value());
  QCOMPARE(out.persist->epoch.value(), 5);
  // The log knows better where quorum-state was lost.
  MemoryLog newer = log_of(10, LeaderEpoch(8));
  Quorum other(config(), {}, newer, Prng(1), kNow);
  Outputs later;
  other.step(Tick{kWall}, kNow, later);
  QCOMPARE(later.persist->epoch.value(), 9);
}

void TestRaft::nothing_is_appended_before_the_vote_is_durable() {
  MemoryLog log;
  Quorum quorum(config(), {}, log, Prng(1), kNow);
  QVERIFY(quorum.next_deadline() <= kNow);
  Outputs out;
  quorum.step(Tick{kWall}, kNow, out);
  QVERIFY(out.persist.has_value());
  const ElectionState state = *out.persist;
  QVERIFY(log.batches().empty());
  QVERIFY(!quorum.is_leader());
  quorum.step(Flushed{Offset(5)}, kNow, out);
  QVERIFY(log.batches().empty());
  QVERIFY(quorum.next_deadline() == kNever);
  out.clear();
  quorum.step(Persisted{{LeaderEpoch(77), {}, {}}}, kNow, out);  // of another one
  QVERIFY(!quorum.is_leader());
  quorum.step(Persisted{state}, kNow, out);
  QVERIFY(quorum.is_leader());
  QCOMPARE(log.batches().size(), std::size_t{1});
  QVERIFY(out.flush);
  QCOMPARE(std::count_if(out.events.begin(), out.events.end(),
                         [](const event::Any& any) { return std::holds_alternative<event::ControllerElected>(any); }),
           std::ptrdiff_t{1});
  const event::QuorumRoleChanged* role = nullptr;
  for (const event::Any& any : out.events) {
    role = std::holds_alternative<event::QuorumRoleChanged>(any) ? &std::get<event::QuorumRoleChanged>(any) : role;
  }
  QVERIFY(role != nullptr);
  QCOMPARE(role->role, event::QuorumRole::leader);
  QCOMPARE(role->cause, event::QuorumCause::votes_won);
  QCOMPARE(role->leader, role->node);
}

void TestRaft::a_later_epoch_begins_with_the_leader_change_alone() {
  // The first life writes the voters into the log; the second finds them there.
  MemoryLog log;
  {
    Quorum quorum(config(), {}, log, Prng(1), kNow);
    elect(quorum);
  }
  log.flush();
  Quorum quorum(config(), {LeaderEpoch(1), {}, {}}, log, Prng(1), kNow);
  elect(quorum);
  const MemoryLog::Batch& batch = log.batches().back();
  QCOMPARE(batch.base.value(), 3);
  QCOMPARE(batch.last.value(), 3);
  QCOMPARE(batch.epoch.value(), 2);
}

void TestRaft::high_watermark_follows_the_flush() {
  MemoryLog log;
  Quorum quorum(config(), {}, log, Prng(1), kNow);
  elect(quorum);
  log.flush();
  Outputs out;
  const Offset base = quorum.append({Bytes::copy_of("a"), Bytes::copy_of("b")}, kWall, kNow, out);
  QCOMPARE(base.value(), 3);
  QCOMPARE(quorum.log_end_offset().value(), 5);
  QVERIFY(!out.high_watermark.has_value());
  out.clear();
  quorum.step(Flushed{Offset(3)}, kNow, out);
  QVERIFY(out.high_watermark == Offset(3));
  out.clear();
  quorum.step(Flushed{Offset(2)}, kNow, out);  // late news
  QVERIFY(!out.high_watermark.has_value());
  quorum.step(Flushed{Offset(99)}, kNow, out);  // never beyond what the log has on the disk
  QVERIFY(!out.high_watermark.has_value());
  log.flush();
  quorum.step(Flushed{Offset(99)}, kNow, out);
  QVERIFY(out.high_watermark == Offset(5));
  QCOMPARE(quorum.view().high_watermark.value(), 5);
}

void TestRaft::records_of_an_older_epoch_commit_with_the_new_one() {
  // Two voters: the log of the new leader holds ten records of epoch 1, and the other one has them as well. They are committed
  // only when it has the first record of the new epoch too.
  Config two = config();
  two.voters.push_back(second_voter());
  MemoryLog log = log_of(10, LeaderEpoch(1));
  Quorum quorum(two, {LeaderEpoch(1), {}, {}}, log, Prng(1), kNow);
  Instant now = kNow + seconds(5);
  Outputs out;
  quorum.step(Tick{kWall}, now, out);
  const auto grant = [&](bool granted) {
    HW_ASSERT(!out.sends.empty(), "it asks for a vote");
    wire::VoteResponse vote;
    auto& partition = vote.topics.emplace_back().partitions.emplace_back();
    vote.topics.front().topic_name = kMetadataTopicName;
    partition.leader_id = kNoBroker;
    partition.leader_epoch = quorum.epoch();
    partition.vote_granted = granted;
    const std::uint64_t id = out.sends.back().id;
    out.clear();
    quorum.step(Response{id, vote}, now, out);
  };
  grant(true);  // pre-vote
  QVERIFY(out.persist.has_value());
  QVERIFY(out.sends.empty());  // its own vote is not durable yet
  quorum.step(Persisted{*out.persist}, now, out);
  grant(true);
  QVERIFY(quorum.is_leader());
  if (out.persist) {
    quorum.step(Persisted{*out.persist}, now, out);
  }
  log.flush();
  quorum.step(Flushed{log.end_offset()}, now, out);
  QVERIFY(!out.high_watermark.has_value());
  const auto fetch = [&](Offset from, LeaderEpoch last) {
    wire::FetchRequest request;
    request.replica_state.replica_id = BrokerId(2);
    auto& partition = request.topics.emplace_back().partitions.emplace_back();
    request.topics.front().topic_id = kMetadataTopicUuid;
    partition.current_leader_epoch = quorum.epoch();
    partition.fetch_offset = from;
    partition.last_fetched_epoch = last;
    partition.replica_directory_id = kDirectory;
    out.clear();
    quorum.step(Request{1, 18, request}, now, out);
  };
  fetch(Offset(10), LeaderEpoch(1));
  QVERIFY(!out.high_watermark.has_value());
  QCOMPARE(out.replies.size(), std::size_t{1});
  fetch(log.end_offset(), quorum.epoch());
  QVERIFY(out.high_watermark == log.end_offset());
}

void TestRaft::what_waits_for_the_disk_is_asked_for() {
  Config two = config();
  two.voters.push_back(second_voter());
  two.first_election = seconds(1);
  MemoryLog log;
  for (std::int64_t i = 0; i < 10; ++i) {
    QVERIFY(log.append_as_leader(data_batch_of({Bytes::copy_of("old")}, Offset(i), LeaderEpoch(1), kWall), LeaderEpoch(1), kWall));
  }
  Quorum quorum(two, {LeaderEpoch(1), {}, {}}, log, Prng(1), kNow);
  Outputs out;
  quorum.step(Tick{kWall}, kNow, out);
  QVERIFY(out.flush);
  QVERIFY(out.sends.empty());  // Q5
  out.clear();
  quorum.step(Tick{kWall}, kNow, out);
  QVERIFY(!out.flush);  // it is on its way
  quorum.step(Flushed{Offset(10)}, kNow, out);  // something overtook it: the log knows better
  QVERIFY(out.flush);
  QVERIFY(out.sends.empty());
  out.clear();
  log.flush();
  quorum.step(Flushed{Offset(10)}, kNow, out);
  QVERIFY(!out.flush);
  QCOMPARE(out.sends.size(), std::size_t{1});
}

void TestRaft::a_fetch_waits_less_than_its_timeout() {
  for (const auto& [timeout_ms, wait_ms] : {std::pair{500, 250}, std::pair{2'000, 500}}) {
    Config two = config();
    two.voters.push_back(second_voter());
    two.first_election = seconds(1);
    two.fetch_timeout = milliseconds(timeout_ms);
    MemoryLog log;
    Quorum quorum(two, {}, log, Prng(1), kNow);
    Outputs out;
    quorum.step(Tick{kWall}, kNow, out);
    QCOMPARE(out.sends.size(), std::size_t{1});
    const auto* fetch = std::get_if<wire::FetchRequest>(&out.sends.front().body);
    QVERIFY(fetch != nullptr);
    QCOMPARE(fetch->max_wait_ms, wait_ms);
  }
}

// Seed 1008592 of the simulator: an observer whose leader is late asks the same node by another address, and the second answer comes when the
// log has been cut and has gone on.
void TestRaft::an_answer_about_an_earlier_log_cuts_nothing() {
  Config observer = config();
  observer.self = second_voter();
  observer.addresses.push_back({kNoBroker, "127.0.0.1", 19193});
  observer.always_flush = false;
  MemoryLog log = log_of(2, LeaderEpoch(1));
  for (const std::int64_t at : {2, 3}) {
    QVERIFY(log.append_as_leader(data_batch_of({Bytes::copy_of("lost")}, Offset(at), LeaderEpoch(3), kWall), LeaderEpoch(3), kWall));
  }
  Quorum quorum(observer, {}, log, Prng(1), kNow);
  Instant now = kNow;
  std::uint64_t asked = 0;  // the newest fetch
  std::string broken;
  const auto step = [&](Input input) {
    Outputs out;
    quorum.step(input, now, out);
    if (out.persist) {
      quorum.step(Persisted{ElectionState(*out.persist)}, now, out);
    }
    for (const Send& send : out.sends) {
      asked = std::holds_alternative<wire::FetchRequest>(send.body) ? send.id : asked;
    }
    broken += out.broken;
    return asked;
  };
  const auto answer = [](auto change) {
    wire::FetchResponse response;
    auto& partition = response.responses.emplace_back().partitions.emplace_back();
    partition.current_leader.leader_id = BrokerId(1);
    partition.current_leader.leader_epoch = LeaderEpoch(5);
    change(partition);
    auto& endpoint = response.node_endpoints.emplace_back();
    endpoint.node_id = BrokerId(1);
    endpoint.host = "127.0.0.1";
    endpoint.port = 19193;
    return response;
  };
  const wire::FetchResponse leads = answer([](auto& partition) { partition.error_code = wire::ErrorCode::not_leader_or_follower; });
  const wire::FetchResponse diverges = answer([](auto& partition) {
    partition.diverging_epoch.epoch = 1;
    partition.diverging_epoch.end_offset = Offset(2);
  });
  step(Response{step(Tick{kWall}), leads});
  now = now + seconds(1);
  const std::uint64_t first = step(Tick{kWall});
  const std::uint64_t elsewhere = step(Failed{first});
  QVERIFY(elsewhere != first);
  now = now + observer.retry_backoff;
  const std::uint64_t again = step(Tick{kWall});
  QVERIFY(again != elsewhere);
  const std::uint64_t rest = step(Response{again, diverges});
  QCOMPARE(log.end_offset(), Offset(2));
  QVERIFY(rest != again);
  step(Response{rest, answer([](auto& partition) {
                  partition.records = BytesChain(data_batch_of({Bytes::copy_of("kept")}, Offset(2), LeaderEpoch(5), kWall));
                  partition.high_watermark = 3;
                })});
  QCOMPARE(log.high_watermark(), Offset(3));
  step(Response{elsewhere, diverges});
  QCOMPARE(broken, std::string());
  QCOMPARE(log.end_offset(), Offset(3));
}

void TestRaft::batches_hold_their_values() {
  MemoryLog log;
  Quorum quorum(config(), {}, log, Prng(1), kNow);
  elect(quorum);
  Outputs out;
  quorum.append({Bytes::copy_of("one"), Bytes::copy_of("two")}, WallTime{77}, kNow, out);
  QCOMPARE(log.batches().size(), std::size_t{2});
  const wire::BatchRead read = wire::read_batch(log.batches().back().bytes.span());
  QVERIFY(read.status == wire::BatchStatus::ok);
  QVERIFY(read.view.crc_ok());
  QVERIFY(!read.view.control());
  QCOMPARE(read.view.leader_epoch().value(), 1);
  Result<wire::RecordIterator> records = wire::RecordIterator::open(read.view);
  QVERIFY(records.has_value());
  wire::RecordView record;
  std::vector<std::string> values;
  while (records->next(record)) {
    QVERIFY(!record.key.has_value());
    QCOMPARE(record.timestamp_ms, 77);
    values.emplace_back(as_text(*record.value));
  }
  QVERIFY((values == std::vector<std::string>{"one", "two"}));
}

QTEST_APPLESS_MAIN(TestRaft)
#include "tst_raft.moc"
