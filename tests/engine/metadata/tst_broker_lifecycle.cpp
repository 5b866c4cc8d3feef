// SPDX-License-Identifier: Apache-2.0
// The broker's side: when it registers, what it says in its heartbeats, when it says it, and producer ids in blocks.
#include <QtTest/QTest>

#include "engine/metadata/broker_lifecycle.h"
#include "engine/metadata/producer_id_blocks.h"
#include "tests/engine/metadata/cluster_fixture.h"

using namespace hw;
using namespace hw::metadata;
using namespace hw::metadata::test;

namespace {

class Side {
 public:
  explicit Side(std::int64_t previous_epoch = -1)
      : life({{BrokerId(1), Uuid{1, 1}, {{"PLAINTEXT", "h", 9092, 0}}, std::string("r"), {Uuid{9, 2}, Uuid{9, 1}}},
              "c",
              previous_epoch,
              milliseconds(2000),
              milliseconds(9000)},
             Prng(1)) {}

  BrokerLifecycle::Outputs& tick() {
    out.clear();
    life.tick(now, out);
    return out;
  }
  BrokerLifecycle::Outputs& registered(std::int64_t epoch, ErrorCode error = ErrorCode::none) {
    wire::BrokerRegistrationResponse response;
    response.error_code = error;
    response.broker_epoch = epoch;
    const std::uint64_t id = out.request_id;
    out.clear();
    life.answered(id, response, now, out);
    return out;
  }
  BrokerLifecycle::Outputs& beaten(bool caught_up, bool fenced, bool stop = false, ErrorCode error = ErrorCode::none) {
    wire::BrokerHeartbeatResponse response;
    response.error_code = error;
    response.is_caught_up = caught_up;
    response.is_fenced = fenced;
    response.should_shut_down = stop;
    const std::uint64_t id = out.request_id;
    out.clear();
    life.answered(id, response, now, out);
    return out;
  }
  void run_up() {
    life.start(now);
    tick();
    registered(50);
    life.ready(now);
    life.metadata_replayed(Offset(50), false, now);
    tick();
    beaten(true, false);
  }

  BrokerLifecycle life;
  BrokerLifecycle::Outputs out;
  Instant now{5'000};
};

}  // namespace

class TestBrokerLifecycle : public QObject {
  Q_OBJECT
 private slots:
  void from_start_to_running();
  void a_refusal_is_tried_again_later_each_time();
  void heartbeats_keep_their_interval();
  void an_answer_of_another_request_is_ignored();
  void stopping();
  void stopping_before_it_runs();
  void stopping_while_nobody_answers();
  void others_hear_at_once_what_a_stopping_broker_waits_for();
  void who_was_unregistered_registers_anew();
  void directories_are_told();
  void against_a_real_controller();
  void producer_ids_come_in_blocks();
  void producer_ids_when_the_controller_is_away();
};

void TestBrokerLifecycle::from_start_to_running() {
  Side side(41);
  QVERIFY(side.life.next_deadline() == kNever);
  side.life.start(side.now);
  QVERIFY(side.life.next_deadline() == side.now);
  QVERIFY(side.tick().registration.has_value());
  const wire::BrokerRegistrationRequest& request = *side.out.registration;
  QCOMPARE(request.previous_broker_epoch, 41);
  QVERIFY(request.cluster_id == "c" && request.rack == std::string("r") && request.listeners.size() == 1);
  QVERIFY((request.log_dirs == std::vector<Uuid>{Uuid{9, 1}, Uuid{9, 2}}));
  QCOMPARE(request.features.size(), supported_features().size());
  QVERIFY(side.life.next_deadline() == kNever);  // one request at a time
  const std::uint64_t request_id = side.out.request_id;
  QVERIFY(!side.tick().registration);
  side.out.request_id = request_id;
  QVERIFY(side.registered(50).registered);
  QCOMPARE(side.life.broker_epoch(), 50);
  QVERIFY(side.life.state() == BrokerState::registered);
  // Its own registration is still on its way to it: nothing to say yet.
  QVERIFY(!side.tick().heartbeat);
  side.life.metadata_replayed(Offset(49), false, side.now);
  QVERIFY(!side.tick().heartbeat);
  side.life.metadata_replayed(Offset(50), false, side.now);
  QVERIFY(side.tick().heartbeat.has_value());
  QVERIFY(side.out.heartbeat->want_fence && side.out.heartbeat->current_metadata_offset == Offset(50));
  QCOMPARE(side.out.heartbeat->broker_epoch, 50);
  QVERIFY(!side.beaten(true, true).unfenced);
  QVERIFY(!side.tick().heartbeat);
  side.life.ready(side.now);
  QVERIFY(side.tick().heartbeat.has_value() && !side.out.heartbeat->want_fence);
  QVERIFY(side.beaten(true, false).unfenced);
  QVERIFY(side.life.state() == BrokerState::running);
}

void TestBrokerLifecycle::a_refusal_is_tried_again_later_each_time() {
  Side side;
  side.life.start(side.now);
  for (int i = 0; i < 10; ++i) {
    QVERIFY(side.tick().registration.has_value());
    if (i % 2 == 0) {
      side.registered(-1, ErrorCode::duplicate_broker_registration);
    } else {
      side.life.failed(side.out.request_id, side.now);
    }
    QVERIFY(!side.tick().registration);
    const std::int64_t wait = (side.life.next_deadline() - side.now).ms();
    const std::int64_t base = std::min<std::int64_t>(9000, std::int64_t{100} << i);
    QVERIFY(wait >= base && wait <= base + base / 50);
    side.now = side.life.next_deadline();
  }
  QVERIFY(side.tick().registration.has_value());
  side.registered(-1, ErrorCode::not_controller);
  side.life.controller_changed(side.now);  // the new one is asked at once
  QVERIFY(side.tick().registration.has_value());
}

void TestBrokerLifecycle::heartbeats_keep_their_interval() {
  Side side;
  side.run_up();
  for (int i = 0; i < 3; ++i) {
    QVERIFY(side.life.next_deadline() == side.now + milliseconds(2000));
    side.life.metadata_replayed(Offset(60 + i), false, side.now);
    QVERIFY(!side.tick().heartbeat);
    side.now = side.now + milliseconds(2000);
    QVERIFY(side.tick().heartbeat.has_value());
    QVERIFY(side.out.heartbeat->current_metadata_offset == Offset(60 + i) && !side.out.heartbeat->want_shut_down);
    QVERIFY(!side.beaten(true, false).unfenced);
  }
}

void TestBrokerLifecycle::an_answer_of_another_request_is_ignored() {
  Side side;
  side.life.start(side.now);
  side.tick();
  const std::uint64_t right = side.out.request_id;
  side.out.request_id = right + 7;
  QVERIFY(!side.registered(99).registered);
  QCOMPARE(side.life.broker_epoch(), -1);
  side.out.request_id = right;
  QVERIFY(side.registered(50).registered);
  side.out.request_id = right;
  QVERIFY(!side.registered(51).registered);  // twice
  QCOMPARE(side.life.broker_epoch(), 50);
}

void TestBrokerLifecycle::stopping() {
  Side side;
  side.run_up();
  side.life.begin_shutdown(side.now);
  QVERIFY(side.tick().heartbeat.has_value() && side.out.heartbeat->want_shut_down && !side.out.heartbeat->want_fence);
  QVERIFY(!side.beaten(true, false).may_shut_down);
  QVERIFY(side.life.next_deadline() == side.now + milliseconds(50));
  side.now = side.now + milliseconds(50);
  QVERIFY(side.tick().heartbeat.has_value());
  QVERIFY(side.beaten(true, true, true).may_shut_down);
  QVERIFY(side.life.state() == BrokerState::stopped);
  QVERIFY(side.life.next_deadline() == kNever);
  side.life.controller_changed(side.now);
  QVERIFY(!side.tick().heartbeat && !side.out.registration);

  Side gone;  // unregistered while it stops
  gone.run_up();
  gone.life.begin_shutdown(gone.now);
  gone.tick();
  QVERIFY(gone.beaten(false, true, false, ErrorCode::stale_broker_epoch).may_shut_down);
}

void TestBrokerLifecycle::stopping_before_it_runs() {
  Side side;
  side.life.start(side.now);
  side.tick();
  side.life.begin_shutdown(side.now);
  QVERIFY(side.life.next_deadline() <= side.now);
  QVERIFY(side.tick().may_shut_down);
  QVERIFY(!side.tick().may_shut_down);  // told once
  QVERIFY(side.life.next_deadline() == kNever);
}

// No controller is there that could move what it leads: it goes without leave, and not before it is sure of that.
void TestBrokerLifecycle::stopping_while_nobody_answers() {
  Side side;
  side.run_up();
  side.life.begin_shutdown(side.now);
  QVERIFY(side.tick().heartbeat.has_value());
  const Instant begun = side.now;
  side.now = side.now + milliseconds(1500);
  side.life.failed(side.out.request_id, side.now);
  side.now = side.life.next_deadline();
  QVERIFY(side.tick().heartbeat.has_value());  // and this one is never answered
  QVERIFY(side.life.next_deadline() == begun + seconds(3));
  side.now = begun + seconds(3) - nanoseconds(1);
  QVERIFY(!side.tick().may_shut_down);
  side.now = begun + seconds(3);
  QVERIFY(side.tick().may_shut_down);
  QVERIFY(side.life.state() == BrokerState::stopped);
  QVERIFY(side.life.next_deadline() == kNever);

  Side heard;  // whoever is answered waits on
  heard.run_up();
  heard.life.begin_shutdown(heard.now);
  for (int i = 0; i < 100; ++i) {
    QVERIFY(heard.tick().heartbeat.has_value());
    QVERIFY(!heard.beaten(true, false).may_shut_down);
    heard.now = heard.now + milliseconds(50);
  }
}

void TestBrokerLifecycle::others_hear_at_once_what_a_stopping_broker_waits_for() {
  Side side;
  side.run_up();
  side.life.metadata_replayed(Offset(70), true, side.now);
  QVERIFY(side.tick().heartbeat.has_value());
  QVERIFY(side.out.heartbeat->current_metadata_offset == Offset(70));
  side.beaten(true, false);
  side.life.metadata_replayed(Offset(70), true, side.now);
  QVERIFY(!side.tick().heartbeat);  // nothing new
}

void TestBrokerLifecycle::who_was_unregistered_registers_anew() {
  Side side;
  side.run_up();
  side.now = side.now + milliseconds(2000);
  side.tick();
  side.beaten(false, true, false, ErrorCode::stale_broker_epoch);
  QVERIFY(side.life.state() == BrokerState::registering);
  side.now = side.life.next_deadline();
  QVERIFY(side.tick().registration.has_value());
  QCOMPARE(side.out.registration->previous_broker_epoch, 50);  // it never stopped: it lost nothing
  QVERIFY(side.registered(90).registered);
  side.life.metadata_replayed(Offset(90), false, side.now);
  QVERIFY(side.tick().heartbeat.has_value() && !side.out.heartbeat->want_fence);
  QVERIFY(side.beaten(true, false).unfenced);
}

void TestBrokerLifecycle::directories_are_told() {
  Side side;
  side.run_up();
  side.life.directory_failed(Uuid{9, 2}, side.now);
  QVERIFY(side.tick().heartbeat.has_value());
  QVERIFY(side.out.heartbeat->offline_log_dirs == std::vector<Uuid>{(Uuid{9, 2})});
  side.beaten(true, false);
  side.life.directory_failed(Uuid{9, 2}, side.now);
  QVERIFY(!side.tick().heartbeat);
  side.life.set_cordoned({Uuid{9, 1}}, side.now);
  QVERIFY(side.tick().heartbeat.has_value());
  QVERIFY(side.out.heartbeat->cordoned_log_dirs == std::vector<Uuid>{(Uuid{9, 1})});
}

void TestBrokerLifecycle::against_a_real_controller() {
  Brokers cluster({.elr = false});
  cluster.up(2);
  Side side;
  side.now = cluster.now;
  side.life.start(side.now);
  const auto deliver = [&] {
    cluster.now = side.now;
    for (int i = 0; i < 50 && side.life.next_deadline() <= side.now; ++i) {
      BrokerLifecycle::Outputs& out = side.tick();
      if (out.registration) {
        const auto answer = cluster.register_broker(*out.registration);
        side.life.answered(out.request_id, answer, side.now, out);
      } else if (out.heartbeat) {
        const auto answer = cluster.beat(*out.heartbeat);
        side.life.answered(out.request_id, answer, side.now, out);
      }
      side.life.metadata_replayed(cluster.end() - 1, false, side.now);
    }
  };
  side.life.ready(side.now);
  deliver();  // all of it without a moment passing
  QVERIFY(side.life.state() == BrokerState::running);
  QVERIFY(!cluster.image().find_broker(BrokerId(1))->fenced);
  cluster.create("t", {ids({1, 2})});
  side.life.begin_shutdown(side.now);
  deliver();
  QVERIFY(side.life.state() == BrokerState::stopping);
  QVERIFY(cluster.partition().leader == BrokerId(2));
  cluster.beat(2);
  side.now = side.now + milliseconds(50);
  deliver();
  QVERIFY(side.life.state() == BrokerState::stopped);
  QVERIFY(cluster.image().find_broker(BrokerId(1))->fenced);
}

void TestBrokerLifecycle::producer_ids_come_in_blocks() {
  Instant now{1};
  ProducerIdBlocks blocks(BrokerId(1));
  QVERIFY(!blocks.take_request(now) && blocks.next_deadline() == kNever);
  std::vector<std::int64_t> got;
  const auto next = [&] {
    blocks.next([&got](std::pair<ErrorCode, ProducerId> result) {
      got.push_back(result.first == ErrorCode::none ? result.second.value() : -100);
    });
  };
  next();
  QVERIFY(!blocks.take_request(now));  // not registered yet
  blocks.set_broker_epoch(7);
  auto request = blocks.take_request(now);
  QVERIFY(request && request->request.broker_epoch == 7 && request->request.broker_id == BrokerId(1));
  QVERIFY(!blocks.take_request(now));
  const auto answer = [](std::int64_t first) {
    wire::AllocateProducerIdsResponse response;
    response.producer_id_start = ProducerId(first);
    response.producer_id_len = 1000;
    return response;
  };
  blocks.answered(request->id, answer(3000), now);
  blocks.answered(request->id, answer(9000), now);  // twice
  QCOMPARE(got, (std::vector<std::int64_t>{3000}));
  while (got.size() < 900) {
    QVERIFY(blocks.next_deadline() == kNever);
    next();
  }
  request = blocks.take_request(now);  // before anybody has to wait
  QVERIFY(request.has_value());
  for (int i = 0; i < 102; ++i) {
    next();
  }
  QCOMPARE(got.size(), std::size_t{1000});  // the last two wait
  blocks.answered(request->id, answer(5000), now);
  QCOMPARE(got.size(), std::size_t{1002});
  QCOMPARE(got[999], 3999);
  QCOMPARE(got[1000], 5000);
}

void TestBrokerLifecycle::producer_ids_when_the_controller_is_away() {
  Instant now{1};
  ProducerIdBlocks blocks(BrokerId(1));
  blocks.set_broker_epoch(7);
  std::vector<ErrorCode> got;
  const auto next = [&] { blocks.next([&got](std::pair<ErrorCode, ProducerId> result) { got.push_back(result.first); }); };
  next();
  next();
  auto request = blocks.take_request(now);
  QVERIFY(request.has_value());
  blocks.failed(request->id, now);
  QVERIFY((got == std::vector<ErrorCode>(2, ErrorCode::coordinator_load_in_progress)));
  next();
  QVERIFY(!blocks.take_request(now));
  QVERIFY(blocks.next_deadline() == now + milliseconds(50));
  now = now + milliseconds(50);
  request = blocks.take_request(now);
  QVERIFY(request.has_value());
  wire::AllocateProducerIdsResponse refused;
  refused.error_code = ErrorCode::not_controller;
  blocks.answered(request->id, refused, now);
  QCOMPARE(got.size(), std::size_t{3});
  QVERIFY(got.back() == ErrorCode::coordinator_load_in_progress);
}

QTEST_APPLESS_MAIN(TestBrokerLifecycle)
#include "tst_broker_lifecycle.moc"
