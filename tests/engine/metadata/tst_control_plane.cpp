// SPDX-License-Identifier: Apache-2.0
// Control planes of several nodes over logs in memory: one leads and changes the cluster, all follow, one takes over; snapshots
// are written, sent and loaded.
#include <QtTest/QTest>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/metadata/image/image_records.h"
#include "engine/raft/control_records.h"
#include "engine/raft/memory_log.h"
#include "engine/wire/record/batch.h"
#include "tests/engine/metadata/metadata_fixture.h"

using namespace hw;
using namespace hw::metadata;
using namespace hw::metadata::test;
using wire::ErrorCode;

namespace {

class Planes {
 public:
  struct One {
    raft::MemoryLog log;
    raft::ElectionState state;
    std::unique_ptr<ControlPlane> plane;
    Registration registration;
    raft::Config quorum;
    std::vector<ControlPlane::Published> published;
    std::uint64_t lives = 0;
  };

  Planes(int voters, Settings configs = {}) : voters_(voters), configs_(std::move(configs)) {
    for (int i = 0; i < voters; ++i) {
      start(add());
    }
  }

  int add() {
    nodes_.push_back(std::make_unique<One>());
    return static_cast<int>(nodes_.size()) - 1;
  }

  void start(int index) {
    One& one = *nodes_[static_cast<std::size_t>(index)];
    ControlPlane::Options options;
    options.quorum.self = voter(index);
    options.quorum.cluster_id = "c";
    for (int i = 0; i < voters_; ++i) {
      options.quorum.voters.push_back(voter(i));
      options.quorum.addresses.push_back({voter(i).key.id, "h", static_cast<std::uint16_t>(i)});
    }
    Result<BrokerConfigs> parsed = BrokerConfigs::parse(configs_);
    HW_ASSERT(parsed.has_value(), "the test's configuration");
    options.broker_configs = std::make_shared<const BrokerConfigs>(std::move(*parsed));
    options.registration.broker = voter(index).key.id;
    options.registration.incarnation = Uuid{8, static_cast<std::uint64_t>(index) * 100 + ++one.lives};
    options.registration.listeners = {{"PLAINTEXT", "h", static_cast<std::uint16_t>(9000 + index), 0}};
    options.registration.log_directories = {voter(index).key.directory};
    options.bootstrap = bootstrap_records();
    one.registration = options.registration;
    one.quorum = options.quorum;
    one.plane = std::make_unique<ControlPlane>(std::move(options), one.state, one.log,
                                               Prng(static_cast<std::uint64_t>(index) * 10 + one.lives));
    const Result<void> started = one.plane->start(now, wall());
    HW_ASSERT(started.has_value(), "it starts");
  }
  void stop(int index) { nodes_[static_cast<std::size_t>(index)]->plane.reset(); }

  // Everything happens at once, then the next deadline comes, until `duration` is over.
  void run(Duration duration) {
    const Instant until = now + duration;
    for (;;) {
      settle();
      Instant next = until;
      for (const auto& one : nodes_) {
        if (one->plane) {
          next = std::min(next, one->plane->next_deadline());
        }
      }
      if (next >= until) {
        now = until;
        return;
      }
      now = std::max(now + nanoseconds(1), next);
    }
  }

  void settle() {
    for (int round = 0; round < 2000; ++round) {
      bool moved = false;
      for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
        if (plane_exists(i)) {
          ControlPlane::Outputs out;
          plane(i).pump(now, wall(), out);
          moved = perform(i, out) || moved;
          moved = register_node(plane(i), node(i).registration, node(i).quorum, now) || moved;
        }
      }
      while (!messages_.empty()) {
        const Message message = std::move(messages_.front());
        messages_.pop_front();
        moved = true;
        if (plane_exists(message.to)) {
          ControlPlane::Outputs out;
          plane(message.to).step(message.input, now, wall(), out);
          perform(message.to, out);
        }
      }
      if (!moved) {
        return;
      }
    }
    HW_ASSERT(false, "the planes come to rest");
  }

  [[nodiscard]] bool plane_exists(int index) const { return nodes_[static_cast<std::size_t>(index)]->plane != nullptr; }
  ControlPlane& plane(int index) { return *nodes_[static_cast<std::size_t>(index)]->plane; }
  One& node(int index) { return *nodes_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] int leader() {
    int found = -1;
    for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
      if (plane_exists(i) && plane(i).controller().active() &&
          (found < 0 || plane(i).quorum().epoch > plane(found).quorum().epoch)) {
        found = i;
      }
    }
    return found;
  }
  [[nodiscard]] std::string disagreement() {
    const int leading = leader();
    for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
      if (plane_exists(i) && (leading < 0 || !same(*plane(i).image(), *plane(leading).image()))) {
        return "node " + std::to_string(i) + " has another image";
      }
    }
    return {};
  }

  ErrorCode create(int index, const std::string& name) {
    wire::CreateTopicsRequest request;
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    topic.num_partitions = 2;
    topic.replication_factor = 1;
    ErrorCode error = ErrorCode::unknown_server_error;
    plane(index).controller().create_topics(request, [&error](const wire::CreateTopicsResponse& response) {
      error = response.topics.front().error_code;
    });
    settle();
    return error;
  }

  static raft::Voter voter(int index) {
    return {{BrokerId(index + 1), Uuid{9, static_cast<std::uint64_t>(index) + 1}},
            {{"CONTROLLER", "h", static_cast<std::uint16_t>(index)}}};
  }
  [[nodiscard]] WallTime wall() const { return {1'700'000'000'000 + (now - Instant{}).ms()}; }
  Instant now{1'000'000};

 private:
  struct Message {
    int to;
    raft::Input input;
  };
  struct Asked {
    int from;
    std::uint64_t id;
  };

  bool perform(int index, ControlPlane::Outputs& out) {
    One& one = node(index);
    HW_ASSERT(out.broken.empty(), "nothing breaks");
    bool moved = !out.published.empty() || out.persist || out.flush || !out.sends.empty() || !out.replies.empty();
    std::move(out.published.begin(), out.published.end(), std::back_inserter(one.published));
    for (raft::Send& send : out.sends) {
      const int to = send.to.port;
      if (!plane_exists(to)) {
        messages_.push_back({index, raft::Failed{send.id}});
        continue;
      }
      const std::uint64_t token = ++last_token_;
      asked_[token] = {index, send.id};
      std::visit(
          [&](auto& body) {
            if constexpr (std::is_constructible_v<raft::PeerRequest, decltype(body)>) {
              messages_.push_back({to, raft::Request{token, send.version, std::move(body)}});
            }
          },
          send.body);
    }
    for (raft::Reply& reply : out.replies) {
      const Asked asked = asked_.at(reply.token);
      asked_.erase(reply.token);
      std::visit(
          [&](auto& body) {
            raft::Response response;
            if constexpr (std::is_constructible_v<decltype(response.body), decltype(body)>) {
              response.id = asked.id;
              response.body = std::move(body);
              messages_.push_back({asked.from, std::move(response)});
            }
          },
          reply.body);
    }
    if (out.persist) {
      one.state = *out.persist;
      ControlPlane::Outputs more;
      one.plane->persisted(one.state, now, wall(), more);
      perform(index, more);
    }
    if (out.flush) {
      one.log.flush();
      ControlPlane::Outputs more;
      one.plane->flushed(one.log.end_offset(), now, wall(), more);
      perform(index, more);
    }
    return moved;
  }

  int voters_;
  Settings configs_;
  std::vector<std::unique_ptr<One>> nodes_;
  std::deque<Message> messages_;
  std::map<std::uint64_t, Asked> asked_;
  std::uint64_t last_token_ = 0;
};

// A snapshot after every commit, and nothing kept before it.
const Settings kSnapshots{{"metadata.log.max.record.bytes.between.snapshots", "1"}, {"metadata.max.retention.bytes", "1"}};

}  // namespace

class TestControlPlane : public QObject {
  Q_OBJECT
 private slots:
  void all_follow_the_leader();
  void another_controller_takes_over();
  void who_loses_the_lead_says_so();
  void a_transaction_without_an_end_is_aborted();
  void an_image_written_out_comes_back();
  void a_late_node_begins_with_a_snapshot();
  void a_node_that_was_away_learns_what_went();
  void a_restart_begins_with_the_snapshot();
};

void TestControlPlane::all_follow_the_leader() {
  Planes planes(3);
  planes.run(seconds(1));
  const int leader = planes.leader();
  QVERIFY(leader >= 0);
  QVERIFY(planes.create(leader, "a") == ErrorCode::none);
  planes.run(milliseconds(100));
  QCOMPARE(planes.disagreement(), std::string());
  for (int i = 0; i < 3; ++i) {
    QVERIFY(planes.plane(i).image()->find_topic("a") != nullptr);
    int created = 0;
    for (const ControlPlane::Published& change : planes.node(i).published) {
      created += static_cast<int>(change.delta.topics_created.size());
    }
    QCOMPARE(created, 1);
    QCOMPARE(planes.plane(i).controller().active(), i == leader);
    QVERIFY(planes.plane(i).quorum().leader == Planes::voter(leader).key.id);
  }
}

void TestControlPlane::another_controller_takes_over() {
  Planes planes(3);
  planes.run(seconds(1));
  const int first = planes.leader();
  QVERIFY(planes.create(first, "a") == ErrorCode::none);
  planes.run(milliseconds(100));
  planes.stop(first);
  planes.run(seconds(3));
  const int second = planes.leader();
  QVERIFY(second >= 0 && second != first);
  QVERIFY(planes.plane(second).image()->find_topic("a") != nullptr);
  QVERIFY(planes.create(second, "b") == ErrorCode::none);
  planes.start(first);
  planes.run(seconds(3));
  QCOMPARE(planes.leader(), second);
  QCOMPARE(planes.disagreement(), std::string());
  QVERIFY(planes.plane(first).image()->find_topic("b") != nullptr);
}

void TestControlPlane::who_loses_the_lead_says_so() {
  Planes planes(3);
  planes.run(seconds(1));
  const int leader = planes.leader();
  // Nobody is there to commit what is asked for now.
  for (int i = 0; i < 3; ++i) {
    if (i != leader) {
      planes.stop(i);
    }
  }
  QVERIFY(planes.create(leader, "late") == ErrorCode::unknown_server_error);  // no answer yet
  std::optional<ErrorCode> answer;
  wire::CreateTopicsRequest request;
  request.topics.emplace_back().name = "later";
  request.topics.front().num_partitions = 1;
  request.topics.front().replication_factor = 1;
  planes.plane(leader).controller().create_topics(request, [&answer](const wire::CreateTopicsResponse& response) {
    answer = response.topics.empty() ? ErrorCode::none : response.topics.front().error_code;
  });
  planes.run(milliseconds(3100));
  QVERIFY(!planes.plane(leader).controller().active());
  QVERIFY(answer == ErrorCode::not_controller);
  QVERIFY(planes.plane(leader).image()->find_topic("late") == nullptr);
}

void TestControlPlane::a_transaction_without_an_end_is_aborted() {
  Planes planes(1);
  planes.run(milliseconds(100));
  QVERIFY(planes.create(0, "before") == ErrorCode::none);
  planes.stop(0);
  // The process died between two batches of one transaction.
  wire::BeginTransactionRecord begin;
  begin.name = "half of it";
  const std::vector<Record> half{Record(begin), topic("half", 77)};
  std::vector<Bytes> values;
  for (const Record& record : half) {
    values.push_back(*encode_record(record));
  }
  raft::MemoryLog& log = planes.node(0).log;
  QVERIFY(log.append_as_leader(raft::data_batch_of(values, log.end_offset(), log.last_epoch(), planes.wall()), log.last_epoch(),
                               planes.wall())
              .has_value());
  log.flush();
  planes.start(0);
  planes.run(milliseconds(100));
  QVERIFY(planes.leader() == 0);
  QVERIFY(planes.plane(0).image()->find_topic("half") == nullptr);
  QVERIFY(planes.create(0, "half") == ErrorCode::none);
  QVERIFY(planes.create(0, "before") == ErrorCode::topic_already_exists);
}

void TestControlPlane::an_image_written_out_comes_back() {
  Planes planes(1);
  planes.run(milliseconds(100));
  QVERIFY(planes.create(0, "a") == ErrorCode::none);
  QVERIFY(planes.create(0, "b") == ErrorCode::none);
  const ResourceEdit edit{static_cast<std::int8_t>(ConfigResourceType::topic), "a", false, {{"retention.ms", 0, "5000"}}};
  planes.plane(0).controller().alter_configs({edit}, false, [](const auto&) {});
  planes.settle();
  const ImagePtr image = planes.plane(0).image();
  ImageBuilder builder;
  for (const Record& record : records_of(*image)) {
    const Result<Bytes> bytes = encode_record(record);
    QVERIFY(bytes.has_value());
    const Result<Record> back = decode_record(*bytes);
    QVERIFY(back.has_value());
    QVERIFY(builder.load(*back).has_value());
  }
  builder.skip(image->offset(), image->epoch());
  const ImagePtr again = builder.publish().image;
  QVERIFY(same(*again, *image));
  QVERIFY(difference(*again, *image).empty());
  QVERIFY(difference(*image, *again).empty());
  // From nothing to it, and back: everything is told.
  const MetadataImage nothing;
  const MetadataDelta all = difference(nothing, *image);
  QCOMPARE(all.topics_created.size(), std::size_t{2});
  QCOMPARE(all.partitions_changed.size(), std::size_t{4});
  QVERIFY(all.features_changed && !all.brokers_changed.empty());
  QCOMPARE(difference(*image, nothing).topics_deleted.size(), std::size_t{2});
}

void TestControlPlane::a_late_node_begins_with_a_snapshot() {
  Planes planes(3, kSnapshots);
  planes.run(seconds(1));
  const int leader = planes.leader();
  QVERIFY(planes.create(leader, "a") == ErrorCode::none);
  QVERIFY(planes.create(leader, "b") == ErrorCode::none);
  planes.run(seconds(1));
  QVERIFY(planes.node(leader).log.start_offset() > Offset(0));
  const auto id = planes.node(leader).log.latest_snapshot();
  QVERIFY(id.has_value());
  // As Kafka lays it out: a control batch, the records, a control batch.
  const Result<Bytes> whole = planes.node(leader).log.read_snapshot(*id, 0, 1 << 30);
  QVERIFY(whole.has_value());
  wire::BatchCursor cursor(whole->span());
  wire::BatchView batch;
  std::vector<bool> control;
  Offset next{0};
  while (cursor.next(batch)) {
    QVERIFY(batch.crc_ok());
    QCOMPARE(batch.base_offset().value(), next.value());
    QVERIFY(batch.leader_epoch() == id->epoch);
    control.push_back(batch.control());
    next = batch.next_offset();
  }
  QVERIFY((control == std::vector<bool>{true, false, true}));
  // A node that knows nothing.
  const int late = planes.add();
  planes.start(late);
  planes.run(seconds(2));
  QVERIFY(planes.node(late).log.start_offset() > Offset(0));
  QCOMPARE(planes.disagreement(), std::string());
  QVERIFY(planes.plane(late).image()->find_topic("b") != nullptr);
  QVERIFY(!planes.plane(late).quorum().voter);
  // It goes on with the log behind it.
  QVERIFY(planes.create(leader, "c") == ErrorCode::none);
  planes.run(seconds(1));
  QCOMPARE(planes.disagreement(), std::string());
}

void TestControlPlane::a_node_that_was_away_learns_what_went() {
  Planes planes(3, kSnapshots);
  planes.run(seconds(1));
  const int leader = planes.leader();
  const int away = (leader + 1) % 3;
  QVERIFY(planes.create(leader, "goes") == ErrorCode::none);
  QVERIFY(planes.create(leader, "stays") == ErrorCode::none);
  planes.run(seconds(1));
  planes.stop(away);
  wire::DeleteTopicsRequest request;
  request.topics.emplace_back().name = "goes";
  planes.plane(leader).controller().delete_topics(request, [](const auto&) {});
  planes.settle();
  QVERIFY(planes.create(leader, "comes") == ErrorCode::none);
  planes.run(seconds(1));
  planes.node(away).published.clear();
  planes.start(away);
  planes.run(seconds(2));
  QCOMPARE(planes.disagreement(), std::string());
  QVERIFY(planes.plane(away).image()->find_topic("goes") == nullptr);
  QVERIFY(planes.plane(away).image()->find_topic("comes") != nullptr);
}

void TestControlPlane::a_restart_begins_with_the_snapshot() {
  Planes planes(1, kSnapshots);
  planes.run(milliseconds(100));
  QVERIFY(planes.create(0, "a") == ErrorCode::none);
  const ImagePtr before = planes.plane(0).image();
  QVERIFY(planes.node(0).log.start_offset() > Offset(0));
  planes.stop(0);
  planes.start(0);
  QVERIFY(planes.plane(0).image() != nullptr);
  planes.run(milliseconds(100));
  QVERIFY(planes.leader() == 0);
  QVERIFY(planes.plane(0).image()->find_topic("a") != nullptr);
  QVERIFY(planes.plane(0).image()->find_topic("a")->id == before->find_topic("a")->id);
  QCOMPARE(planes.plane(0).image()->feature_level("metadata.version"), before->feature_level("metadata.version"));
  QVERIFY(planes.create(0, "a") == ErrorCode::topic_already_exists);
}

QTEST_APPLESS_MAIN(TestControlPlane)
#include "tst_control_plane.moc"
