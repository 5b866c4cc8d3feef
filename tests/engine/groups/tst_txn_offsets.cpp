// SPDX-License-Identifier: Apache-2.0
// Offsets that are committed as part of transactions (KIP-447), random: beside a twin that is a map, with appends that commit late or
// fail, and replayed into a fresh coordinator.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <QtTest>

#include "engine/groups/coordinator.h"

using namespace hw;
using namespace hw::groups;
using hw::wire::ErrorCode;

namespace {

const PartitionIndex kShard{0};

struct Written {
  Record record;
  ProducerId producer = kNoProducerId;
};

using Entry = std::variant<Written, EndMarker>;

Config config_of_tests() {
  Config config;
  config.offsets_topic_num_partitions = 1;
  return config;
}

struct Groups {
  GroupCoordinator coordinator{config_of_tests(), Prng(1)};
  Now now{Instant{1'000'000}, WallTime{1'700'000'000'000}};
  std::vector<Entry> log;
  std::vector<Outputs::Append> held;
  bool hold = false;

  explicit Groups(const std::vector<Entry>& from = {}) : log(from) {
    coordinator.begin_load(kShard);
    for (const Entry& entry : log) {
      if (const Written* written = std::get_if<Written>(&entry)) {
        coordinator.load_record(kShard, written->record, now, written->producer);
      } else {
        const EndMarker& marker = std::get<EndMarker>(entry);
        coordinator.load_marker(kShard, marker.producer_id, marker.commit);
      }
    }
    coordinator.end_load(kShard, now);
  }

  void settle() {
    while (coordinator.has_outputs()) {
      Outputs out = coordinator.take();
      for (Outputs::Append& append : out.appends) {
        held.push_back(std::move(append));
      }
      if (!hold) {
        commit_all();
      }
    }
  }

  void commit_all() {
    while (!held.empty()) {
      finish_first(ErrorCode::none);
    }
  }

  void finish_first(ErrorCode error) {
    const Outputs::Append append = std::move(held.front());
    held.erase(held.begin());
    if (!coordinator.pending(append.id)) {
      return;
    }
    if (error == ErrorCode::none && append.marker) {
      log.emplace_back(*append.marker);
    }
    for (const Record& record : append.records) {
      if (error == ErrorCode::none) {
        log.emplace_back(Written{record, append.transaction ? append.transaction->producer_id : kNoProducerId});
      }
    }
    coordinator.on_committed(append.id, error, now);
  }

  template <class Request, class Response>
  static void ask_for(Request& request, const std::string& group, int partition, std::int64_t offset) {
    request.group_id = group;
    auto& topic = request.topics.emplace_back();
    topic.name = "t";
    auto& one = topic.partitions.emplace_back();
    one.partition_index = PartitionIndex(partition);
    one.committed_offset = Offset(offset);
  }

  void commit(const std::string& group, int partition, std::int64_t offset, int* failed) {
    wire::OffsetCommitRequest request;
    ask_for<wire::OffsetCommitRequest, wire::OffsetCommitResponse>(request, group, partition, offset);
    coordinator.commit_offsets(request, {9, "c", "/127.0.0.1", ConnectionId(0)}, now, [failed](const wire::OffsetCommitResponse& response) {
      *failed += response.topics.at(0).partitions.at(0).error_code == ErrorCode::none ? 0 : 1;
    });
    settle();
  }

  void commit_in(ProducerId producer, const std::string& group, int partition, std::int64_t offset, int* failed) {
    wire::TxnOffsetCommitRequest request;
    ask_for<wire::TxnOffsetCommitRequest, wire::TxnOffsetCommitResponse>(request, group, partition, offset);
    request.producer_id = producer;
    request.producer_epoch = ProducerEpoch(0);
    coordinator.commit_transactional_offsets(request, {5, "c", "/127.0.0.1", ConnectionId(0)}, 7, now,
                                             [failed](const wire::TxnOffsetCommitResponse& response) {
                                               *failed += response.topics.at(0).partitions.at(0).error_code == ErrorCode::none ? 0 : 1;
                                             });
    settle();
  }

  void end(ProducerId producer, bool commit, int* failed) {
    coordinator.complete_transaction(kShard, {producer, ProducerEpoch(1), 0, commit, 2}, now,
                                     [failed](ErrorCode error) { *failed += error == ErrorCode::none ? 0 : 1; });
    settle();
  }

  void remove(const std::string& group, int partition, int* failed) {
    wire::OffsetDeleteRequest request;
    request.group_id = group;
    auto& topic = request.topics.emplace_back();
    topic.name = "t";
    topic.partitions.emplace_back().partition_index = PartitionIndex(partition);
    coordinator.delete_offsets(request, {0, "c", "/127.0.0.1", ConnectionId(0)}, now,
                               [failed](const wire::OffsetDeleteResponse& response) { *failed += response.error_code == ErrorCode::none ? 0 : 1; });
    settle();
  }

  // The offset as consumers see it that want a stable one.
  std::string offset(const std::string& group, int partition) {
    wire::OffsetFetchRequest request;
    request.require_stable = true;
    auto& of_group = request.groups.emplace_back();
    of_group.group_id = group;
    of_group.topics.emplace();
    auto& topic = of_group.topics->emplace_back();
    topic.name = "t";
    topic.partition_indexes = {PartitionIndex(partition)};
    std::string text;
    coordinator.fetch_offsets(request, {9, "c", "/127.0.0.1", ConnectionId(0)}, now, [&text](const wire::OffsetFetchResponse& response) {
      const auto& one = response.groups.at(0).topics.at(0).partitions.at(0);
      text = one.error_code == ErrorCode::none ? std::to_string(one.committed_offset.value()) : std::string(wire::error_name(one.error_code));
    });
    return text;
  }

  [[nodiscard]] std::string dump() const { return coordinator.dump_hard_state(kShard); }
};

// What it comes to, in plain maps.
struct Twin {
  using Key = std::pair<std::string, int>;
  std::map<Key, std::int64_t> committed;
  std::map<Key, int> changed;  // when
  std::map<std::int64_t, std::map<Key, std::pair<std::int64_t, int>>> pending;
  int clock = 0;

  void commit(const Key& key, std::int64_t offset) {
    committed[key] = offset;
    changed[key] = ++clock;
  }

  void commit_in(std::int64_t producer, const Key& key, std::int64_t offset) { pending[producer][key] = {offset, ++clock}; }

  void end(std::int64_t producer, bool commits) {
    for (const auto& [key, value] : pending[producer]) {
      if (commits && (!committed.contains(key) || changed[key] < value.second)) {
        committed[key] = value.first;
        changed[key] = value.second;
      }
    }
    pending.erase(producer);
  }

  void remove(const Key& key) {
    committed.erase(key);
    for (auto& [producer, offsets] : pending) {
      offsets.erase(key);
    }
  }

  [[nodiscard]] std::string offset(const Key& key) const {
    for (const auto& [producer, offsets] : pending) {
      if (offsets.contains(key)) {
        return "UNSTABLE_OFFSET_COMMIT";
      }
    }
    return committed.contains(key) ? std::to_string(committed.at(key)) : "-1";
  }
};

}  // namespace

class TestTxnOffsets : public QObject {
  Q_OBJECT

 private slots:

  void offsets_are_those_of_the_twin() {
    int unstable = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      Prng prng(seed);
      Groups groups;
      Twin twin;
      int failed = 0;
      for (int step = 0; step < 60; ++step) {
        const std::string group = prng.below(2) == 0 ? "g" : "h";
        const int partition = static_cast<int>(prng.below(3));
        const auto producer = static_cast<std::int64_t>(prng.below(3));
        const auto offset = static_cast<std::int64_t>(prng.below(1000));
        switch (prng.below(6)) {
          case 0:
            groups.commit(group, partition, offset, &failed);
            twin.commit({group, partition}, offset);
            break;
          case 1:
          case 2:
          case 3:
            groups.commit_in(ProducerId(producer), group, partition, offset, &failed);
            twin.commit_in(producer, {group, partition}, offset);
            break;
          case 4: {
            const bool commits = prng.below(2) == 0;
            groups.end(ProducerId(producer), commits, &failed);
            twin.end(producer, commits);
            break;
          }
          case 5:
            if (groups.offset(group, partition) != "-1") {  // otherwise nobody may know the group
              groups.remove(group, partition, &failed);
              twin.remove({group, partition});
            }
            break;
        }
        for (const std::string& one : {std::string("g"), std::string("h")}) {
          for (int p = 0; p < 3; ++p) {
            const std::string seen = groups.offset(one, p);
            unstable += seen == "UNSTABLE_OFFSET_COMMIT" ? 1 : 0;
            QVERIFY2(seen == twin.offset({one, p}), qPrintable(QString("seed %1, step %2").arg(seed).arg(step)));
          }
        }
      }
      QCOMPARE(failed, 0);
      Groups again(groups.log);
      QVERIFY2(again.dump() == groups.dump(), qPrintable(QString("seed %1").arg(seed)));
    }
    QVERIFY(unstable > 1000);
  }

  void what_is_wrong_with_one_producer_is_not_wrong_with_the_next() {
    Groups groups;
    int failed = 0;
    groups.commit_in(ProducerId(1), "g", 0, 10, &failed);
    groups.commit_in(ProducerId(2), "g", 1, 20, &failed);
    QCOMPARE(failed, 0);
    groups.hold = true;
    std::vector<ErrorCode> answers(2, ErrorCode::unknown_server_error);
    for (std::size_t i = 0; i < 2; ++i) {
      groups.coordinator.complete_transaction(kShard, {ProducerId(static_cast<std::int64_t>(i) + 1), ProducerEpoch(1), 0, true, 2}, groups.now,
                                              [&answers, i](ErrorCode error) { answers[i] = error; });
    }
    groups.settle();
    groups.finish_first(ErrorCode::transaction_coordinator_fenced);
    QCOMPARE(answers[0], ErrorCode::transaction_coordinator_fenced);
    QCOMPARE(answers[1], ErrorCode::not_leader_or_follower);  // it is asked for again
    groups.hold = false;
    groups.commit_all();
    groups.end(ProducerId(2), true, &failed);
    QCOMPARE(failed, 0);
    QCOMPARE(groups.offset("g", 1), std::string("20"));
    QCOMPARE(groups.offset("g", 0), std::string("UNSTABLE_OFFSET_COMMIT"));
  }

  void a_failed_append_takes_its_changes_back() {
    int failures = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      Prng prng(seed);
      Groups groups;
      int failed = 0;
      for (int step = 0; step < 60; ++step) {
        const auto producer = ProducerId(static_cast<std::int64_t>(prng.below(2)));
        const int partition = static_cast<int>(prng.below(2));
        groups.hold = prng.below(3) != 0;
        switch (prng.below(4)) {
          case 0:
            groups.commit("g", partition, step, &failed);
            break;
          case 1:
          case 2:
            groups.commit_in(producer, "g", partition, step, &failed);
            break;
          case 3:
            groups.end(producer, prng.below(2) == 0, &failed);
            break;
        }
        if (groups.hold && !groups.held.empty() && prng.below(2) == 0) {
          groups.finish_first(prng.below(2) == 0 ? ErrorCode::not_enough_replicas : ErrorCode::none);
        }
      }
      groups.hold = false;
      groups.commit_all();
      failures += failed;
      Groups again(groups.log);
      QVERIFY2(again.dump() == groups.dump(), qPrintable(QString("seed %1").arg(seed)));
      QCOMPARE(again.offset("g", 0), groups.offset("g", 0));
    }
    QVERIFY(failures > 100);
  }
};

QTEST_APPLESS_MAIN(TestTxnOffsets)
#include "tst_txn_offsets.moc"
