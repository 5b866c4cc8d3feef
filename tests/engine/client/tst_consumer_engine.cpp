// SPDX-License-Identifier: Apache-2.0
// Consumers against the real engine in virtual time: groups by every assignor, commits before and after the work, slow and dying
// members, static ones, sessions, seeks, resets, and a network that loses what a seed says.
#include "engine/wire/msg/fetch.h"
#include "engine/wire/msg/heartbeat.h"
#include "engine/wire/msg/join_group.h"
#include "engine/wire/msg/leave_group.h"
#include "engine/wire/runtime/reader.h"
#include "engine_clients.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::test;  // NOLINT(google-build-using-namespace)
using client::Assignor;
using client::CommitMode;
using client::ConsumerConfig;
using client::ConsumerEvent;
using client::OffsetReset;
using client::TopicPartition;
using wire::ErrorCode;

namespace {

constexpr std::int16_t kFetch = wire::FetchRequest::kApiKey;
constexpr std::int16_t kJoin = wire::JoinGroupRequest::kApiKey;
constexpr std::int16_t kLeave = wire::LeaveGroupRequest::kApiKey;
using Strings = std::vector<std::string>;
using Kind = ConsumerEvent::Kind;

ConsumerConfig grouped(std::vector<Assignor> assignors = {Assignor::range}) {
  ConsumerConfig config;
  config.group_id = "g";
  config.topics = {"t"};
  config.assignors = std::move(assignors);
  config.commit_interval = milliseconds(100);
  config.max_wait_ms = 100;
  return config;
}
ConsumerConfig reading(std::int64_t from) {
  ConsumerConfig config;
  config.assignment = {{{"t", 0}, from}};
  config.max_wait_ms = 100;
  return config;
}
wire::FetchRequest fetch_of(const World::Frame& frame) {
  wire::Reader reader(frame.request);
  (void)reader.int16();
  (void)reader.int16();
  (void)reader.int32();
  (void)reader.nullable_string(false);
  std::vector<wire::RawTaggedField> unknown;
  (void)reader.skip_tags(unknown);
  wire::FetchRequest request;
  const bool read = decode(reader, request, frame.version);
  HW_ASSERT(read, "a Fetch");
  return request;
}
// Puts `count` numbered records into the topic, round the partitions.
void fill(World& world, int partitions, int from, int count) {
  WorldProducer producer(world);
  for (int i = from; i < from + count; ++i) {
    producer.send("t", i % partitions, std::to_string(i));
  }
  const bool done = producer.settle();
  HW_ASSERT(done && producer.failed() == 0, "the records are there");
  world.remove(producer.actor);
}
std::int64_t committed_of(World& world, WorldAdmin& admin, std::int32_t partition) {
  admin.core.committed_offsets(1, "g", world.now + seconds(10));
  const client::AdminResult result = admin.finish();
  for (const client::PartitionOffset& one : std::get<std::vector<client::PartitionOffset>>(result.value)) {
    if (one.partition == TopicPartition{"t", partition}) {
      return one.offset;
    }
  }
  return -1;
}
bool shares(World& world, const std::vector<WorldConsumer*>& members, std::size_t total, Duration limit = seconds(60)) {
  return world.run(
      [&] {
        std::set<TopicPartition> all;
        std::size_t count = 0;
        for (const WorldConsumer* one : members) {
          const std::set<TopicPartition> has = one->has();
          if (has.empty() && members.size() <= total) {
            return false;
          }
          count += has.size();
          all.insert(has.begin(), has.end());
        }
        return all.size() == total && count == total;
      },
      limit);
}

}  // namespace

Q_DECLARE_METATYPE(hw::client::Assignor)

class TestConsumerEngine : public QObject {
  Q_OBJECT
 private slots:
  void everyAssignorSharesAndReadsAll_data() {
    QTest::addColumn<Assignor>("assignor");
    QTest::newRow("range") << Assignor::range;
    QTest::newRow("roundrobin") << Assignor::round_robin;
    QTest::newRow("sticky") << Assignor::sticky;
    QTest::newRow("cooperative-sticky") << Assignor::cooperative_sticky;
  }
  void everyAssignorSharesAndReadsAll() {
    QFETCH(Assignor, assignor);
    World world(1);
    WorldAdmin admin(world);
    admin.create("t", 6);
    fill(world, 6, 0, 60);
    WorldConsumer a(world, grouped({assignor}));
    WorldConsumer b(world, grouped({assignor}));
    QVERIFY(shares(world, {&a, &b}, 6));
    QCOMPARE(a.has().size(), std::size_t{3});
    WorldConsumer c(world, grouped({assignor}));
    QVERIFY(shares(world, {&a, &b, &c}, 6));
    QCOMPARE(c.has().size(), std::size_t{2});
    fill(world, 6, 60, 60);
    QVERIFY(world.run([&] {
      std::set<std::string> seen;
      for (const WorldConsumer* one : {&a, &b, &c}) {
        for (const std::string& value : one->values()) {
          seen.insert(value);
        }
      }
      return seen.size() == 120;
    }));
    // Orderly ends: what was read is committed, so nobody reads it again.
    QVERIFY(a.close() && b.close());
    QVERIFY(shares(world, {&c}, 6));
    QVERIFY(c.close());
    std::int64_t total = 0;
    for (std::int32_t i = 0; i < 6; ++i) {
      total += committed_of(world, admin, i);
    }
    QCOMPARE(total, std::int64_t{120});
  }

  // Cooperative: who joins takes some, and the others keep reading the rest all the while.
  void cooperativeMembersKeepWhatDoesNotMove() {
    World world(2);
    WorldAdmin admin(world);
    admin.create("t", 6);
    WorldConsumer a(world, grouped({Assignor::cooperative_sticky}));
    QVERIFY(shares(world, {&a}, 6));
    WorldConsumer b(world, grouped({Assignor::cooperative_sticky}));
    QVERIFY(shares(world, {&a, &b}, 6));
    QCOMPARE(a.events(Kind::revoked), std::size_t{1});
    QCOMPARE(a.last(Kind::revoked)->partitions.size(), std::size_t{3});
    QCOMPARE(b.events(Kind::revoked), std::size_t{0});
    const std::set<TopicPartition> kept = a.has();
    WorldConsumer c(world, grouped({Assignor::cooperative_sticky}));
    QVERIFY(shares(world, {&a, &b, &c}, 6));
    const std::set<TopicPartition> still = a.has();
    QVERIFY(std::includes(kept.begin(), kept.end(), still.begin(), still.end()));
    QCOMPARE(still.size(), std::size_t{2});
    // Eager members lose everything first.
    World other(3);
    WorldAdmin admin2(other);
    admin2.create("t", 6);
    WorldConsumer d(other, grouped());
    QVERIFY(shares(other, {&d}, 6));
    WorldConsumer e(other, grouped());
    QVERIFY(shares(other, {&d, &e}, 6));
    QCOMPARE(d.last(Kind::revoked)->partitions.size(), std::size_t{6});
  }

  // The way from range to cooperative-sticky: members that offer both meet those that know only one (case 28).
  void assignorsAreChosenTogether() {
    World world(4);
    WorldAdmin admin(world);
    admin.create("t", 4);
    WorldConsumer old(world, grouped({Assignor::range}));
    QVERIFY(shares(world, {&old}, 4));
    WorldConsumer only(world, grouped({Assignor::cooperative_sticky}));
    QVERIFY(world.run([&] { return only.events(Kind::error) > 0; }));
    QVERIFY(only.last(Kind::error)->fatal);
    QVERIFY(only.last(Kind::error)->message.find("INCONSISTENT_GROUP_PROTOCOL") != std::string::npos);
    WorldConsumer both(world, grouped({Assignor::cooperative_sticky, Assignor::range}));
    QVERIFY(shares(world, {&old, &both}, 4));
    QVERIFY(old.close());
    QVERIFY(shares(world, {&both}, 4));
  }

  // From the guides. After the work: a crash in between repeats. Before the work: a crash in between loses.
  void commitAfterTheWorkRepeats() {
    World world(5);
    WorldAdmin admin(world);
    admin.create("t", 1);
    fill(world, 1, 0, 10);
    ConsumerConfig config = grouped();
    config.commit_mode = CommitMode::after_work;
    config.max_poll_records = 4;
    config.handler_delay = milliseconds(50);
    WorldConsumer first(world, config);
    QVERIFY(first.got(8));                  // the second poll is at work, the first is committed
    QCOMPARE(committed_of(world, admin, 0), std::int64_t{4});
    first.crash();
    WorldConsumer second(world, config);
    QVERIFY(second.got(6));
    QCOMPARE(second.values(), (Strings{"4", "5", "6", "7", "8", "9"}));
    QVERIFY(world.run([&] { return second.events(Kind::committed) > 0; }));
  }
  void commitBeforeTheWorkLoses() {
    World world(6);
    WorldAdmin admin(world);
    admin.create("t", 1);
    fill(world, 1, 0, 10);
    ConsumerConfig config = grouped();
    config.commit_mode = CommitMode::before_work;
    config.max_poll_records = 4;
    config.handler_delay = milliseconds(50);
    WorldConsumer first(world, config);
    QVERIFY(first.got(8));
    QCOMPARE(committed_of(world, admin, 0), std::int64_t{8});  // though the handler has just begun
    first.crash();
    WorldConsumer second(world, config);
    QVERIFY(second.got(2));
    QCOMPARE(second.values(), (Strings{"8", "9"}));
  }

  void manualCommitsAreTheOwners() {
    World world(7);
    WorldAdmin admin(world);
    admin.create("t", 1);
    fill(world, 1, 0, 5);
    ConsumerConfig config = grouped();
    config.commit_mode = CommitMode::manual;
    WorldConsumer consumer(world, config);
    QVERIFY(consumer.got(5));
    world.wait(seconds(10));
    QCOMPARE(committed_of(world, admin, 0), std::int64_t{-1});
    consumer.core.commit(world.now, consumer.out);
    QVERIFY(world.run([&] { return consumer.events(Kind::committed) == 1; }));
    QCOMPARE(consumer.last(Kind::committed)->offsets, (std::vector<std::int64_t>{5}));
    QCOMPARE(committed_of(world, admin, 0), std::int64_t{5});
  }

  // A handler slower than max.poll.interval.ms: the member leaves, its late commit is refused, the work is done again.
  void aSlowHandlerCostsTheMembership() {
    World world(8);
    WorldAdmin admin(world);
    admin.create("t", 1);
    fill(world, 1, 0, 4);
    ConsumerConfig config = grouped();
    config.commit_mode = CommitMode::after_work;
    config.max_poll_interval = seconds(3);
    config.handler_delay = seconds(2);  // four records: eight seconds
    WorldConsumer slow(world, config);
    QVERIFY(world.run([&] { return slow.events(Kind::late) == 1; }));
    QVERIFY(slow.last(Kind::late)->message.find("max.poll.interval.ms") != std::string::npos);
    world.wait(milliseconds(100));
    QCOMPARE(world.seen[std::pair(slow.actor, kLeave)], 1);
    QCOMPARE(slow.events(Kind::revoked), std::size_t{0});  // it does not know yet
    QVERIFY(world.run([&] { return slow.events(Kind::commit_failed) == 1; }));
    QVERIFY(slow.last(Kind::commit_failed)->message.find("UNKNOWN_MEMBER_ID") != std::string::npos);
    QVERIFY(!slow.last(Kind::revoked)->message.empty());  // lost
    slow.core.set_handler_delay(milliseconds(1));
    QVERIFY(slow.got(8));
    QCOMPARE(slow.values(), (Strings{"0", "1", "2", "3", "0", "1", "2", "3"}));
    QVERIFY(world.run([&] { return committed_of(world, admin, 0) == 4; }));
  }

  void aMemberAtWorkHoldsTheRebalanceUp() {
    World world(9);
    WorldAdmin admin(world);
    admin.create("t", 2);
    fill(world, 2, 0, 4);
    ConsumerConfig config = grouped();
    config.commit_mode = CommitMode::after_work;
    config.handler_delay = seconds(2);
    WorldConsumer busy(world, config);
    QVERIFY(busy.got(1));
    const Instant began = world.now;
    WorldConsumer other(world, grouped());
    QVERIFY(shares(world, {&busy, &other}, 2));
    QVERIFY(world.now >= began + seconds(2));  // no sooner than the handler was through
    QCOMPARE(busy.events(Kind::late), std::size_t{0});
    QCOMPARE(busy.events(Kind::commit_failed), std::size_t{0});
  }

  void aCrashIsNoticedWhenTheSessionEnds() {
    World world(10);
    WorldAdmin admin(world);
    admin.create("t", 2);
    WorldConsumer a(world, grouped());
    WorldConsumer b(world, grouped());
    QVERIFY(shares(world, {&a, &b}, 2));
    const Instant died = world.now;
    b.crash();
    QCOMPARE(world.seen[std::pair(b.actor, kLeave)], 0);
    QVERIFY(world.run([&] { return a.has().size() == 2; }));
    QVERIFY(world.now >= died + seconds(9));  // session.timeout.ms is ten; the last heartbeat was up to one old
    QVERIFY(world.now <= died + seconds(13));
  }

  void aStaticMemberComesBackWithoutARebalance() {
    World world(11);
    WorldAdmin admin(world);
    admin.create("t", 4);
    ConsumerConfig config = grouped();
    config.group_instance_id = "one";
    WorldConsumer a(world, config);
    config.group_instance_id = "two";
    auto b = std::make_unique<WorldConsumer>(world, config);
    QVERIFY(shares(world, {&a, b.get()}, 4));
    const std::set<TopicPartition> had = b->has();
    const std::int32_t generation = a.core.generation();
    const std::size_t revocations = a.events(Kind::revoked);
    QVERIFY(b->close());
    QCOMPARE(world.seen[std::pair(b->actor, kLeave)], 0);
    world.remove(b->actor);
    WorldConsumer again(world, config);
    QVERIFY(shares(world, {&a, &again}, 4));
    QVERIFY(again.has() == had);
    QCOMPARE(a.core.generation(), generation);
    QCOMPARE(a.events(Kind::revoked), revocations);
    // A second process of the same name takes the place, and the first learns it (case 30).
    WorldConsumer twin(world, config);
    QVERIFY(world.run([&] { return again.events(Kind::error) > 0 && again.last(Kind::error)->fatal; }));
    QVERIFY(again.last(Kind::error)->message.find("FENCED_INSTANCE_ID") != std::string::npos);
  }

  void fetchesAreIncremental() {
    World world(12);
    WorldAdmin admin(world);
    admin.create("t", 8);
    fill(world, 8, 0, 80);
    ConsumerConfig config;
    config.topics = {"t"};
    config.max_wait_ms = 100;
    std::vector<wire::FetchRequest> fetches;
    std::int16_t version = 0;
    world.fault = [&](const World::Frame& frame) {
      if (frame.api == kFetch) {
        fetches.push_back(fetch_of(frame));
        version = frame.version;
      }
      return World::Fault::none;
    };
    WorldConsumer consumer(world, config);
    QVERIFY(consumer.got(80));
    world.wait(seconds(2));
    QCOMPARE(version, wire::FetchRequest::kHighestVersion);
    QVERIFY(fetches.size() > 10);
    QCOMPARE(fetches.front().session_epoch, 0);
    QVERIFY(fetches.back().session_id != 0);
    QVERIFY(fetches.back().session_epoch > 5);
    QVERIFY(fetches.back().topics.empty());  // nothing has changed, so nothing is named
    fill(world, 8, 80, 1);
    QVERIFY(consumer.got(81));
    world.wait(milliseconds(300));
    // The session is lost with a link; a new one takes over, and nothing is missed or repeated.
    bool cut = true;
    world.fault = [&](const World::Frame& frame) {
      const bool now = cut && frame.api == kFetch;
      cut = cut && !now;
      return now ? World::Fault::after : World::Fault::none;
    };
    fill(world, 8, 81, 40);
    QVERIFY(consumer.got(121));
    world.wait(seconds(1));
    QCOMPARE(consumer.out.records.size(), std::size_t{121});
  }

  void seekPauseAndResume() {
    World world(13);
    WorldAdmin admin(world);
    admin.create("t", 1);
    WorldProducer producer(world);
    for (int i = 0; i < 10; ++i) {
      client::ProducerRecord record;
      record.topic = "t";
      record.partition = 0;
      record.value = Bytes::copy_of(std::to_string(i));
      record.timestamp_ms = 1'700'000'000'000 + i * 1000;
      record.token = static_cast<std::uint64_t>(i + 1);
      QVERIFY(producer.core.send(std::move(record), world.now, producer.out));
    }
    QVERIFY(producer.settle());
    const TopicPartition key{"t", 0};
    WorldConsumer consumer(world, reading(client::kFromLatest));
    QVERIFY(world.run([&] { return consumer.core.position(key) == 10; }));
    const auto from = [&](const std::function<void()>& seek) {
      consumer.out.records.clear();
      seek();
      world.wait(seconds(1));
      return consumer.values();
    };
    QCOMPARE(from([&] { consumer.core.seek(key, 7); }), (Strings{"7", "8", "9"}));
    QCOMPARE(from([&] { consumer.core.seek(key, client::kFromEarliest); }).size(), std::size_t{10});
    QCOMPARE(from([&] { consumer.core.seek(key, client::kFromLatest); }).size(), std::size_t{0});
    QCOMPARE(from([&] { consumer.core.seek_to_time(key, 1'700'000'004'500); }), (Strings{"5", "6", "7", "8", "9"}));
    QCOMPARE(from([&] { consumer.core.seek_to_time(key, 1'900'000'000'000); }).size(), std::size_t{0});
    QCOMPARE(from([&] {
               consumer.core.pause({});
               consumer.core.seek(key, 8);
             }).size(),
             std::size_t{0});
    QVERIFY(consumer.core.status().front().paused);
    QCOMPARE(consumer.core.status().front().lag(), std::int64_t{2});
    QCOMPARE(from([&] { consumer.core.resume({key}); }), (Strings{"8", "9"}));
    QCOMPARE(consumer.core.status().front().lag(), std::int64_t{0});
    // To where it is: the broker has told the end already, to a position that is no more.
    const std::size_t ends = consumer.events(client::ConsumerEvent::Kind::reached_end);
    QCOMPARE(from([&] { consumer.core.seek(key, 10); }).size(), std::size_t{0});
    QCOMPARE(consumer.events(client::ConsumerEvent::Kind::reached_end), ends + 1);
  }

  void whereAGroupBegins() {
    for (const OffsetReset reset : {OffsetReset::earliest, OffsetReset::latest, OffsetReset::none, OffsetReset::by_duration}) {
      World world(14);
      WorldAdmin admin(world);
      admin.create("t", 1);
      fill(world, 1, 0, 3);  // their timestamp is 1,700,000,000 s, when Instant was 0
      ConsumerConfig config = grouped();
      config.reset = reset;
      config.reset_duration = seconds(3600);
      config.wall_ms_at_zero = 1'700'000'000'000;
      WorldConsumer consumer(world, config);
      if (reset == OffsetReset::none) {
        QVERIFY(world.run([&] { return consumer.events(Kind::error) > 0; }));
        QVERIFY(consumer.last(Kind::error)->fatal);
        QVERIFY(consumer.last(Kind::error)->message.find("no committed offset") != std::string::npos);
        continue;
      }
      const std::int64_t expected = reset == OffsetReset::latest ? 3 : 0;
      QVERIFY(world.run([&] { return consumer.core.position({"t", 0}).has_value(); }));
      world.wait(seconds(1));
      QCOMPARE(consumer.out.records.size(), static_cast<std::size_t>(3 - expected));
    }
  }

  void outOfRangeGoesWhereTheResetSays() {
    World world(15);
    WorldAdmin admin(world);
    admin.create("t", 1);
    fill(world, 1, 0, 5);
    WorldConsumer early(world, reading(99));
    QVERIFY(early.got(5));
    QVERIFY(early.last(Kind::error)->message.find("offset 99 is not in the log") != std::string::npos);
    ConsumerConfig config = reading(99);
    config.reset = OffsetReset::none;
    WorldConsumer strict(world, config);
    QVERIFY(world.run([&] { return strict.events(Kind::error) > 0; }));
    QVERIFY(strict.last(Kind::error)->fatal);
  }

  void aPatternFindsTopicsThatComeLater() {
    World world(16);
    WorldAdmin admin(world);
    admin.create("t", 2);
    ConsumerConfig config = grouped();
    config.topics.clear();
    config.topic_matches = [](const std::string& name) { return name.starts_with("t"); };
    config.cluster.metadata_max_age = seconds(5);
    WorldConsumer consumer(world, config);
    QVERIFY(shares(world, {&consumer}, 2));
    admin.create("other", 1);
    admin.create("t2", 1);
    QVERIFY(shares(world, {&consumer}, 3));
    QVERIFY(consumer.has().contains({"t2", 0}));
  }

  void whatWaitsIsBounded() {
    World world(17);
    WorldAdmin admin(world);
    admin.create("t", 4);
    WorldProducer producer(world);
    for (int i = 0; i < 400; ++i) {
      producer.send("t", i % 4, std::string(1000, 'v'));
    }
    QVERIFY(producer.settle());
    ConsumerConfig config = grouped();
    config.handler_delay = milliseconds(10);
    config.max_poll_records = 10;
    config.partition_bytes_max = 20'000;
    config.prefetch_bytes_max = 30'000;
    WorldConsumer consumer(world, config);
    std::size_t most = 0;
    QVERIFY(world.run(
        [&] {
          std::size_t waiting = 0;
          for (const client::PartitionStatus& one : consumer.core.status()) {
            waiting += one.buffered_bytes;
          }
          most = std::max(most, waiting);
          return consumer.out.records.size() == 400;
        },
        seconds(60)));
    QVERIFY2(most <= 30'000 + 4 * 20'000, qPrintable(QString::number(most)));
    QVERIFY(most > 0);
  }

  // Members come, crash, leave, work slowly; links are cut. In the end every record was handled, in order within what one member
  // had, and all of it is committed.
  void nothingIsLostWhateverHappens() {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      Prng prng(seed);
      World world(seed);
      WorldAdmin admin(world);
      admin.create("t", 4);
      world.cut_percent = 3;
      const Assignor assignors[] = {Assignor::range, Assignor::round_robin, Assignor::sticky, Assignor::cooperative_sticky};
      ConsumerConfig config = grouped({assignors[seed % 4]});
      config.cluster.request_timeout = seconds(5);
      config.commit_mode = seed % 2 == 0 ? CommitMode::interval : CommitMode::after_work;
      config.session_timeout = seconds(6);
      config.max_poll_records = 5;
      std::vector<std::unique_ptr<WorldConsumer>> all;
      std::vector<WorldConsumer*> members;
      int sent = 0;
      for (int round = 0; round < 8; ++round) {
        config.handler_delay = milliseconds(prng.between(0, 3));
        const std::uint64_t what = prng.below(4);
        if (members.size() < 2 || what == 0) {
          all.push_back(std::make_unique<WorldConsumer>(world, config));
          members.push_back(all.back().get());
        } else if (what == 1) {
          members.back()->crash();
          members.pop_back();
        } else if (what == 2) {
          members.front()->core.close(world.now, members.front()->out);
          members.erase(members.begin());
        }
        fill(world, 4, sent, 40);
        sent += 40;
        world.wait(milliseconds(prng.between(10, 4000)));
      }
      const bool done = world.run(
          [&] {
            std::set<std::string> seen;
            for (const auto& one : all) {
              for (const std::string& value : one->values()) {
                seen.insert(value);
              }
            }
            return static_cast<int>(seen.size()) == sent;
          },
          seconds(200));
      QVERIFY2(done, qPrintable(QString("seed %1").arg(seed)));
      world.cut_percent = 0;
      QVERIFY2(shares(world, members, 4, seconds(100)), qPrintable(QString("seed %1").arg(seed)));
      world.wait(seconds(2));
      std::int64_t total = 0;
      for (std::int32_t i = 0; i < 4; ++i) {
        total += committed_of(world, admin, i);
      }
      QVERIFY2(total == sent, qPrintable(QString("seed %1: %2 of %3").arg(seed).arg(total).arg(sent)));
    }
  }
};

QTEST_APPLESS_MAIN(TestConsumerEngine)
#include "tst_consumer_engine.moc"
