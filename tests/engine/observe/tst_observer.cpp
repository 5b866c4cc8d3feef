// SPDX-License-Identifier: Apache-2.0
// The way from node threads to a reader: nothing lost silently, nothing published in vain, no race.
#include <atomic>
#include <thread>
#include <variant>
#include <vector>

#include <QtTest>

#include "engine/observe/observer.h"
#include "engine/observe/ring_sink.h"

using namespace hw;
using namespace hw::observe;

namespace {

WallTime test_clock() {
  static std::atomic<std::int64_t> ms{1'000};
  return {++ms};
}

struct CountingFlag final : SleepFlag {
  void wake() override { ++wakes; }

  std::atomic<int> wakes{0};
};

event::Any batch(std::int64_t offset) {
  event::BatchAppended e;
  e.base_offset = Offset(offset);
  e.last_offset = Offset(offset);
  return e;
}

event::Any elected(std::int32_t epoch) {
  return event::ControllerElected{BrokerId(1), epoch};
}

}  // namespace

class TestObserver : public QObject {
  Q_OBJECT

 private slots:

  void full_ring_drops_low_priority_first_and_counts_it() {
    CountingFlag flag;
    RingSink sink(BrokerId(7), 4, flag, &test_clock);
    for (std::int64_t i = 0; i < 4; ++i) {
      sink.emit(batch(i));
    }
    sink.emit(batch(4));    // lost
    sink.emit(elected(1));  // kept
    sink.emit(batch(5));    // lost
    sink.emit(elected(2));  // kept
    std::vector<event::Stamped> out;
    sink.drain(out);
    QCOMPARE(out.size(), std::size_t{7});
    for (std::size_t i = 0; i < 4; ++i) {
      QVERIFY(std::holds_alternative<event::BatchAppended>(out[i].event));
      QCOMPARE(out[i].sequence, i + 1);
      QCOMPARE(out[i].node, BrokerId(7));
    }
    QCOMPARE(std::get<event::ControllerElected>(out[4].event).epoch, 1);
    QCOMPARE(out[4].sequence, std::uint64_t{6});
    QCOMPARE(std::get<event::ControllerElected>(out[5].event).epoch, 2);
    const auto& lost = std::get<event::EventsLost>(out[6].event);
    QCOMPARE(lost.count, std::uint64_t{2});
    QVERIFY(lost.first < lost.last);
    QCOMPARE(out[6].at.ms, lost.last.ms);
    // The ring works again, and there is nothing to report any more.
    out.clear();
    sink.emit(batch(6));
    sink.drain(out);
    QCOMPARE(out.size(), std::size_t{1});
    QVERIFY(sink.drained());
  }

  void overflow_has_a_bound_that_is_counted_too() {
    CountingFlag flag;
    RingSink sink(BrokerId(1), 2, flag, &test_clock, 3);
    for (std::int32_t i = 0; i < 10; ++i) {
      sink.emit(elected(i));
    }
    std::vector<event::Stamped> out;
    sink.drain(out);
    QCOMPARE(out.size(), std::size_t{2 + 3 + 1});
    QCOMPARE(std::get<event::EventsLost>(out.back().event).count, std::uint64_t{5});
  }

  void order_holds_across_ring_and_overflow() {
    CountingFlag flag;
    RingSink sink(BrokerId(1), 8, flag, &test_clock);
    std::vector<event::Stamped> out;
    std::int32_t epoch = 0;
    for (int round = 0; round < 50; ++round) {
      for (int i = 0; i < round % 23; ++i) {
        sink.emit(elected(++epoch));
      }
      sink.drain(out);
    }
    sink.drain(out);
    QCOMPARE(out.size(), static_cast<std::size_t>(epoch));
    for (std::size_t i = 0; i < out.size(); ++i) {
      QCOMPARE(std::get<event::ControllerElected>(out[i].event).epoch,
               static_cast<std::int32_t>(i) + 1);
    }
  }

  void a_node_wakes_the_reader_once_per_sleep() {
    CountingFlag flag;
    RingSink sink(BrokerId(1), 64, flag, &test_clock);
    for (int i = 0; i < 10; ++i) {
      sink.emit(elected(i));
    }
    QCOMPARE(flag.wakes.load(), 0);  // awake: an event costs no call
    flag.announce();
    QVERIFY(!sink.drained());  // so the reader would not fall asleep now
    std::vector<event::Stamped> out;
    sink.drain(out);
    QVERIFY(sink.drained());
    for (int i = 0; i < 10; ++i) {
      sink.emit(elected(i));
    }
    QCOMPARE(flag.wakes.load(), 1);
  }

  void the_newest_view_is_there_from_the_start() {
    Observer observer({}, {});
    QVERIFY(observer.latest() != nullptr);
    QCOMPARE(observer.latest()->version, std::uint64_t{0});
    observer.flush();  // nothing to do, and it returns
    QCOMPARE(observer.latest()->version, std::uint64_t{0});
  }

  void wakes_the_reader_only_when_it_took_the_last_view() {
    std::atomic<int> wakes{0};
    Observer observer({}, [&] { ++wakes; });
    event::EventSink& sink = observer.add_node(BrokerId(1));
    sink.emit(elected(1));
    observer.flush();
    QCOMPARE(wakes.load(), 1);
    sink.emit(elected(2));
    observer.flush();
    QCOMPARE(wakes.load(), 1);  // the first one is still to be taken
    QCOMPARE(observer.latest()->controller_epoch, 2);
    sink.emit(elected(3));
    observer.flush();
    QCOMPARE(wakes.load(), 2);
    // Metadata offsets alone show nowhere: no view, no wake-up.
    QCOMPARE(observer.latest()->controller_epoch, 3);
    const std::uint64_t version = observer.latest()->version;
    sink.emit(event::MetadataCommitted{Offset(5)});
    observer.flush();
    QCOMPARE(observer.latest()->version, version);
    QCOMPARE(wakes.load(), 2);
  }

  void a_node_that_starts_again_keeps_its_sink() {
    Observer observer({}, {});
    event::EventSink& first = observer.add_node(BrokerId(1));
    event::EventSink& other = observer.add_node(BrokerId(2));
    QVERIFY(&first != &other);
    QCOMPARE(&observer.add_node(BrokerId(1)), &first);
  }

  // Wakes without flush(): the sleeping observer hears an event by itself.
  void a_sleeping_observer_hears_an_event() {
    std::atomic<int> wakes{0};
    Observer observer({}, [&] {
      ++wakes;
      wakes.notify_all();
    });
    event::EventSink& sink = observer.add_node(BrokerId(1));
    for (int round = 1; round <= 50; ++round) {
      sink.emit(elected(round));
      int seen = wakes.load();
      while (seen < round) {
        wakes.wait(seen);
        seen = wakes.load();
      }
      QCOMPARE(observer.latest()->controller_epoch, round);
    }
  }

  // Three nodes, an observer, a reader, small rings: every high-priority event arrives, every other
  // one is accounted for.
  void threads() {
    constexpr int kNodes = 3;
    constexpr int kEvents = 20'000;
    Observer::Options options;
    options.ring_capacity = 64;
    options.publish_interval_ms = 1;
    std::atomic<std::uint64_t> batches_seen{0};
    std::atomic<bool> done{false};
    Observer observer(options, {});
    std::vector<event::EventSink*> sinks;
    for (int n = 0; n < kNodes; ++n) {
      sinks.push_back(&observer.add_node(BrokerId(n)));
    }
    std::thread reader([&] {
      std::uint64_t version = 0;
      while (!done.load()) {
        const ViewPtr view = observer.latest();
        if (view->version < version) {
          qFatal("views go back");
        }
        if (view->version != version) {
          version = view->version;
          batches_seen += view->batches.size();
        }
      }
    });
    std::vector<std::thread> nodes;
    for (int n = 0; n < kNodes; ++n) {
      nodes.emplace_back([&, n] {
        for (int i = 0; i < kEvents; ++i) {
          if (i % 100 == 0) {
            sinks[static_cast<std::size_t>(n)]->emit(
                event::GroupStateChanged{"g" + std::to_string(n), "Stable", i, "range", {}});
          } else {
            sinks[static_cast<std::size_t>(n)]->emit(batch(i));
          }
        }
      });
    }
    for (std::thread& node : nodes) {
      node.join();
    }
    observer.flush();
    done = true;
    reader.join();
    const ViewPtr view = observer.latest();
    QCOMPARE(view->groups->size(), std::size_t{kNodes});
    for (int n = 0; n < kNodes; ++n) {
      QCOMPARE(view->find_group("g" + std::to_string(n))->generation, kEvents - 100);
    }
    std::size_t told = 0;
    for (const RecentEvent& recent : *view->recent) {
      told += std::holds_alternative<event::GroupStateChanged>(*recent.event) ? 1U : 0U;
    }
    // 3 × 200 state changes fit the list with room for reports of loss.
    QVERIFY(told == std::size_t{kNodes} * kEvents / 100 ||
            view->recent->size() == ClusterView::kRecentMax);
    QVERIFY(batches_seen.load() + view->events_lost <= std::uint64_t{kNodes} * kEvents);
  }
};

QTEST_APPLESS_MAIN(TestObserver)
#include "tst_observer.moc"
