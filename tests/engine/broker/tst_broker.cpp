// SPDX-License-Identifier: Apache-2.0
// The parts of the broker that need no log: fetch sessions, deadlines, lists of those who wait.
#include <QtTest>

#include <algorithm>
#include <list>
#include <vector>

#include "engine/broker/fetch_session.h"
#include "engine/broker/purgatory.h"

using namespace hw;
using namespace hw::broker;
using wire::ErrorCode;

namespace {

wire::FetchRequest request_of(const Uuid& topic, const std::vector<int>& partitions, std::int32_t session,
                              std::int32_t epoch) {
  wire::FetchRequest request;
  request.session_id = session;
  request.session_epoch = epoch;
  if (!partitions.empty()) {
    auto& entry = request.topics.emplace_back();
    entry.topic_id = topic;
    for (const int partition : partitions) {
      entry.partitions.emplace_back().partition = PartitionIndex(partition);
    }
  }
  return request;
}

std::vector<FetchPartition> partitions_of(const Uuid& topic, int count) {
  std::vector<FetchPartition> all;
  for (int i = 0; i < count; ++i) {
    FetchPartition one;
    one.target.topic_id = topic;
    one.target.partition = PartitionIndex(i);
    all.push_back(one);
  }
  return all;
}

constexpr Uuid kTopic{1, 2};

}  // namespace

class TstBroker : public QObject {
  Q_OBJECT

 private slots:
  void session_epochs_wrap() {
    QCOMPARE(next_session_epoch(0), 1);
    QCOMPARE(next_session_epoch(7), 8);
    QCOMPARE(next_session_epoch(2147483647), 1);
    QCOMPARE(next_session_epoch(-1), -1);
  }

  void a_session_remembers_partitions() {
    FetchSessionCache cache({}, Prng(1));
    QVERIFY(cache.begin(request_of(kTopic, {0, 1}, 0, 0), 17, Instant{0}).wants_session);
    FetchSession* session = cache.create(partitions_of(kTopic, 2), false, true, Instant{0});
    QVERIFY(session != nullptr);
    const std::int32_t id = session->id();
    QVERIFY(id > 0);
    auto opening = cache.begin(request_of(kTopic, {1, 2}, id, 1), 17, Instant{1});
    QCOMPARE(opening.error, ErrorCode::none);
    QCOMPARE(opening.session->size(), std::size_t{3});
    QCOMPARE(cache.partitions(), std::size_t{3});
    QCOMPARE(cache.begin(request_of(kTopic, {}, id, 1), 17, Instant{1}).error, ErrorCode::invalid_fetch_session_epoch);
    QCOMPARE(cache.begin(request_of(kTopic, {}, id, 2), 12, Instant{1}).error, ErrorCode::fetch_session_topic_id_error);
    // Forgetting all ends the session.
    auto forget = request_of(kTopic, {}, id, 2);
    auto& topic = forget.forgotten_topics_data.emplace_back();
    topic.topic_id = kTopic;
    topic.partitions = {PartitionIndex(0), PartitionIndex(1), PartitionIndex(2)};
    opening = cache.begin(forget, 17, Instant{2});
    QCOMPARE(opening.error, ErrorCode::none);
    QVERIFY(opening.session == nullptr);
    QCOMPARE(cache.size(), std::size_t{0});
    QCOMPARE(cache.partitions(), std::size_t{0});
    QCOMPARE(cache.begin(request_of(kTopic, {}, id, 3), 17, Instant{2}).error, ErrorCode::fetch_session_id_not_found);
  }

  void news_are_told_once() {
    FetchPartition told;
    wire::FetchResponse::PartitionData data;
    data.high_watermark = 5;
    data.log_start_offset = Offset(0);
    data.records.emplace();
    QVERIFY(FetchSession::is_news(told, data));
    FetchSession::remember_told(told, data);
    QVERIFY(!FetchSession::is_news(told, data));
    data.high_watermark = 6;
    QVERIFY(FetchSession::is_news(told, data));
    FetchSession::remember_told(told, data);
    data.error_code = ErrorCode::not_leader_or_follower;
    QVERIFY(FetchSession::is_news(told, data));
    FetchSession::remember_told(told, data);
    data.error_code = ErrorCode::none;
    QVERIFY(FetchSession::is_news(told, data));  // the error has gone: told again
    FetchSession::remember_told(told, data);
    data.diverging_epoch.epoch = 1;
    QVERIFY(FetchSession::is_news(told, data));
  }

  void a_full_cache_evicts_what_is_worth_least() {
    FetchSessionCache cache({2, 100, seconds(120)}, Prng(1));
    const std::int32_t small = cache.create(partitions_of(kTopic, 1), false, true, Instant{0})->id();
    const std::int32_t big = cache.create(partitions_of(kTopic, 9), false, true, Instant{0})->id();
    // Both young: a consumer goes without.
    QVERIFY(cache.create(partitions_of(kTopic, 5), false, true, Instant{1}) == nullptr);
    // A follower may push out a consumer, the smaller one first.
    QVERIFY(cache.create(partitions_of(kTopic, 1), true, true, Instant{1}) != nullptr);
    QVERIFY(cache.find(small) == nullptr);
    QVERIFY(cache.find(big) != nullptr);
    QCOMPARE(cache.evictions(), std::uint64_t{1});
    // Idle for more than two minutes: gone for anybody.
    QVERIFY(cache.create(partitions_of(kTopic, 1), false, true, Instant{0} + seconds(121)) != nullptr);
    QVERIFY(cache.find(big) == nullptr);
    QCOMPARE(cache.size(), std::size_t{2});
    // The bound of partitions counts too.
    QVERIFY(cache.create(partitions_of(kTopic, 101), true, true, Instant{0} + seconds(500)) == nullptr);
  }

  void deadlines_come_in_order() {
    Prng prng(5);
    DeadlineHeap heap;
    std::list<Parked> all;
    for (int i = 0; i < 500; ++i) {
      Parked& one = all.emplace_back(Parked::Kind::fetch);
      one.deadline = Instant{static_cast<std::int64_t>(prng.below(100))};
      one.order = static_cast<std::uint64_t>(i);
      heap.push(one);
    }
    std::vector<Parked*> removed;
    for (Parked& one : all) {
      if (prng.chance({1, 3})) {
        heap.remove(one);
        heap.remove(one);  // harmless
        removed.push_back(&one);
      }
    }
    std::size_t seen = 0;
    std::pair<Instant, std::uint64_t> last{Instant{-1}, 0};
    while (Parked* first = heap.earliest()) {
      const std::pair<Instant, std::uint64_t> now{first->deadline, first->order};
      QVERIFY(last < now);
      QVERIFY(std::find(removed.begin(), removed.end(), first) == removed.end());
      last = now;
      heap.remove(*first);
      ++seen;
    }
    QCOMPARE(seen, all.size() - removed.size());
  }

  void watches_leave_their_list() {
    Parked operation(Parked::Kind::fetch);
    std::vector<Watch> watches(3, Watch{nullptr, nullptr, nullptr, &operation});
    {
      PurgatoryList list;
      for (Watch& watch : watches) {
        list.add(watch);
      }
      PurgatoryList::remove(watches[1]);
      QVERIFY(list.first() == &watches[0]);
      QVERIFY(watches[0].next == &watches[2]);
      QVERIFY(watches[1].list == nullptr);
      PurgatoryList::remove(watches[1]);
    }
    // The list is gone: so are the links.
    QVERIFY(watches[0].list == nullptr);
    QVERIFY(watches[2].list == nullptr);
    QVERIFY(watches[2].operation == &operation);
  }
};

QTEST_APPLESS_MAIN(TstBroker)
#include "tst_broker.moc"
