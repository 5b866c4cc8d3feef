// SPDX-License-Identifier: Apache-2.0
// The parts below the coordinator: Java's string numbers, timelines, deadlines, the bytes of
// records.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <QtTest>

#include "engine/base/prng.h"
#include "engine/groups/runtime/java_string.h"
#include "engine/groups/runtime/records.h"
#include "engine/groups/runtime/timeline_map.h"
#include "engine/groups/runtime/timers.h"

using namespace hw;
using namespace hw::groups;

namespace {

std::string hex(const Bytes& bytes) {
  std::string text;
  for (const std::byte b : bytes.span()) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[std::to_integer<unsigned>(b) >> 4U];
    text += kDigits[std::to_integer<unsigned>(b) & 15U];
  }
  return text;
}

}  // namespace

class TestGroupsRuntime : public QObject {
  Q_OBJECT

 private slots:

  void java_hashes() {
    QCOMPARE(java_hash(""), 0);
    QCOMPARE(java_hash("a"), 97);
    QCOMPARE(java_hash("hello"), 99162322);
    QCOMPARE(java_hash("polygenelubricants"), std::numeric_limits<std::int32_t>::min());
    QCOMPARE(java_hash("\xC3\xA9"), 0xE9);                          // é
    QCOMPARE(java_hash("\xF0\x9F\x98\x80"), 0xD83D * 31 + 0xDE00);  // two code units
    QCOMPARE(java_length("a\xC3\xA9\xF0\x9F\x98\x80"), std::size_t{4});
    QCOMPARE(java_length("\xFF\xC3"), std::size_t{2});  // not UTF-8: one replacement each
  }

  void partitions_of_groups() {
    QCOMPARE(partition_by_hash("polygenelubricants", 50), 0);
    QCOMPARE(partition_by_hash("hello", 50), 22);
    // "-" + … with a negative hash: the absolute value, not the floored remainder.
    QCOMPARE(java_hash("zzzzzz") < 0, true);
    QCOMPARE(partition_by_hash("zzzzzz", 50), (-java_hash("zzzzzz")) % 50);
  }

  void timeline_against_a_plain_model() {
    using Model = std::map<int, int>;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      Prng prng(seed);
      TimelineMap<int, int> timeline;
      Model committed;
      std::vector<std::pair<std::uint64_t, std::vector<std::pair<int, std::optional<int>>>>> open;
      std::uint64_t epoch = 0;
      for (int step = 0; step < 300; ++step) {
        switch (prng.below(4)) {
          case 0:
          case 1: {
            open.push_back({++epoch, {}});
            for (std::uint64_t n = prng.below(3) + 1; n > 0; --n) {
              const int key = static_cast<int>(prng.below(5));
              const std::optional<int> value =
                  prng.below(3) == 0 ? std::nullopt : std::optional<int>(step);
              timeline.set(epoch, key, value);
              open.back().second.emplace_back(key, value);
            }
            break;
          }
          case 2:
            if (!open.empty()) {
              int changes = 0;
              timeline.commit(open.front().first, [&](int, const int*, const int*) { ++changes; });
              QCOMPARE(static_cast<std::size_t>(changes), open.front().second.size());
              for (const auto& [key, value] : open.front().second) {
                if (value) {
                  committed[key] = *value;
                } else {
                  committed.erase(key);
                }
              }
              open.erase(open.begin());
            }
            break;
          default:
            if (!open.empty()) {
              const std::size_t at = prng.below(open.size());
              timeline.rollback(open[at].first);
              open.erase(open.begin() + static_cast<std::ptrdiff_t>(at), open.end());
            }
        }
        Model latest = committed;
        for (const auto& [id, changes] : open) {
          for (const auto& [key, value] : changes) {
            if (value) {
              latest[key] = *value;
            } else {
              latest.erase(key);
            }
          }
        }
        for (int key = 0; key < 5; ++key) {
          const int* is = timeline.latest(key);
          const int* was = timeline.committed(key);
          QCOMPARE(is != nullptr, latest.count(key) == 1);
          QCOMPARE(was != nullptr, committed.count(key) == 1);
          QVERIFY(is == nullptr || *is == latest[key]);
          QVERIFY(was == nullptr || *was == committed[key]);
        }
        QCOMPARE(timeline.has_open(), !open.empty());
        if (open.empty()) {
          QCOMPARE(timeline.cells().size(), committed.size());  // nothing stays behind
        }
      }
    }
  }

  void deadlines_come_in_order_and_replace() {
    Timers timers;
    const auto key = [](const char* member) {
      return TimerKey{PartitionIndex(0), TimerKey::Kind::heartbeat, "g", member};
    };
    timers.schedule(key("b"), {20});
    timers.schedule(key("a"), {20});
    timers.schedule(key("c"), {10});
    QCOMPARE(timers.next().ns, std::int64_t{10});
    timers.schedule(key("c"), {30});  // replaced
    QVERIFY(!timers.pop_due({19}));
    QCOMPARE(timers.pop_due({20})->member, std::string("b"));  // scheduled before a
    timers.cancel(key("a"));
    QVERIFY(!timers.pop_due({20}));
    timers.schedule({PartitionIndex(1), TimerKey::Kind::join, "g", {}}, {40});
    timers.cancel_all(PartitionIndex(0));
    QCOMPARE(timers.size(), std::size_t{1});
    QCOMPARE(timers.pop_due({100})->partition, PartitionIndex(1));
    QCOMPARE(timers.next().ns, kNever.ns);
  }

  // Moving away again and again, as sessions do: nothing comes early, nothing is lost, the order is
  // that of the last deadlines.
  void deadlines_against_a_plain_model() {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Prng prng(seed);
      Timers timers;
      struct Wanted {
        std::int64_t at = 0;
        std::uint64_t serial = 0;
      };
      std::map<TimerKey, Wanted> model;
      std::uint64_t serial = 0;
      std::int64_t now = 0;
      for (int step = 0; step < 3'000; ++step) {
        const TimerKey key{PartitionIndex(static_cast<std::int32_t>(prng.below(3))),
                           TimerKey::Kind::heartbeat, "g",
                           "m" + std::to_string(prng.below(6))};
        switch (prng.below(8)) {
          case 0:
            timers.cancel(key);
            model.erase(key);
            break;
          case 1:
          case 2: {
            now += static_cast<std::int64_t>(prng.below(20));
            for (;;) {
              auto first = model.end();
              for (auto it = model.begin(); it != model.end(); ++it) {
                if (it->second.at <= now &&
                    (first == model.end() || std::pair(it->second.at, it->second.serial) <
                                                 std::pair(first->second.at, first->second.serial))) {
                  first = it;
                }
              }
              const std::optional<TimerKey> due = timers.pop_due({now});
              QCOMPARE(due.has_value(), first != model.end());
              if (!due) {
                break;
              }
              QVERIFY(*due == first->first);
              model.erase(first);
            }
            break;
          }
          case 3:
            if (prng.below(20) == 0) {
              timers.cancel_all(key.partition);
              std::erase_if(model,
                            [&](const auto& one) { return one.first.partition == key.partition; });
            }
            break;
          default: {
            const std::int64_t at = now + static_cast<std::int64_t>(prng.below(60));
            timers.schedule(key, {at});
            model[key] = {at, ++serial};
            QCOMPARE(timers.deadline(key)->ns, at);
          }
        }
        QCOMPARE(timers.size(), model.size());
        std::int64_t earliest = kNever.ns;
        for (const auto& [one, wanted] : model) {
          earliest = std::min(earliest, wanted.at);
        }
        QVERIFY(timers.next().ns <= earliest);
        QCOMPARE(timers.next() == kNever, model.empty());
      }
    }
  }

  void offset_records_are_kafkas() {
    QCOMPARE(hex(encode_offset_key("g", "topic", 2)), std::string("0001"
                                                                  "000167"
                                                                  "0005746f706963"
                                                                  "00000002"));
    wire::OffsetCommitValue value;
    value.offset = Offset(42);
    value.leader_epoch = LeaderEpoch(3);
    value.metadata = "md";
    value.commit_timestamp = 0x0102030405060708;
    // Version 4 is flexible: compact string, tagged fields; the topic id is tag 0 and absent when
    // zero.
    QCOMPARE(hex(*encode_offset_value(value)), std::string("0004"
                                                           "000000000000002a"
                                                           "00000003"
                                                           "036d64"
                                                           "0102030405060708"
                                                           "00"));
    value.topic_id = {0x1111111111111111, 0x2222222222222222};
    QCOMPARE(hex(*encode_offset_value(value)), std::string("0004"
                                                           "000000000000002a"
                                                           "00000003"
                                                           "036d64"
                                                           "0102030405060708"
                                                           "01"
                                                           "00"
                                                           "10"
                                                           "11111111111111112222222222222222"));
    value.expire_timestamp = 9;  // the old version that can say when it expires
    QCOMPARE(hex(*encode_offset_value(value)), std::string("0001"
                                                           "000000000000002a"
                                                           "00026d64"
                                                           "0102030405060708"
                                                           "0000000000000009"));
  }

  void group_records_are_kafkas() {
    QCOMPARE(hex(encode_group_key("grp")), std::string("0002"
                                                       "0003677270"));
    wire::GroupMetadataValue value;
    value.protocol_type = "consumer";
    value.generation = 5;
    value.protocol = "range";
    value.leader = "m";
    value.current_state_timestamp = 7;
    wire::GroupMetadataValue::MemberMetadata member;
    member.member_id = "m";
    member.client_id = "c";
    member.client_host = "/h";
    member.rebalance_timeout = 1;
    member.session_timeout = 2;
    member.subscription = Bytes::copy_of("S");
    member.assignment = Bytes::copy_of("A");
    value.members.push_back(member);
    QCOMPARE(hex(*encode_group_value(value)), std::string("0003"
                                                          "0008636f6e73756d6572"
                                                          "00000005"
                                                          "000572616e6765"
                                                          "00016d"
                                                          "0000000000000007"
                                                          "00000001"
                                                          "00016d"
                                                          "ffff"
                                                          "000163"
                                                          "00022f68"
                                                          "00000001"
                                                          "00000002"
                                                          "0000000153"
                                                          "0000000141"));
    const std::optional<wire::GroupMetadataValue> again =
        decode_group_value(*encode_group_value(value));
    QVERIFY(again.has_value());
    QVERIFY(*again == value);
  }

  void keys_of_other_kinds_and_garbage() {
    const auto bytes = [](std::string_view text) { return Bytes::copy_of(text); };
    QVERIFY(!decode_key(Bytes()));
    QVERIFY(!decode_key(bytes(std::string_view("\0", 1))));
    QVERIFY(!decode_key(bytes(std::string_view("\0\1\0", 3))));  // an offset key that ends early
    QVERIFY(!decode_key(bytes(std::string_view("\0\2\0\x09g", 5))));  // a length beyond the end
    const auto consumer = decode_key(bytes(std::string_view("\0\x03\0\1g", 5)));
    QCOMPARE(std::get<ConsumerKey>(*consumer).group, std::string("g"));
    const auto other = decode_key(bytes(std::string_view("\0\x0b\0\1g", 5)));  // a share group
    QCOMPARE(std::get<OtherKey>(*other).kind, std::int16_t{11});
    const auto legacy = decode_key(bytes(std::string_view("\0\0\0\1g\0\1t\0\0\0\5", 12)));
    QCOMPARE(std::get<OffsetKey>(*legacy).partition, 5);
    QVERIFY(
        !decode_offset_value(bytes(std::string_view("\0\x09", 2))));  // a version from the future
    QVERIFY(!decode_group_value(bytes(std::string_view("\0\3\0", 3))));
  }
};

QTEST_APPLESS_MAIN(TestGroupsRuntime)
#include "tst_groups_runtime.moc"
