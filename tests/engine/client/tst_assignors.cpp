// SPDX-License-Identifier: Apache-2.0
// The assignors against what Kafka's own gave for the same members, against twins that are obviously right, and by their promises.
#include <QTest>
#include <algorithm>
#include <set>

#include "engine/base/prng.h"
#include "engine/client/assignor.h"

using namespace hw;          // NOLINT(google-build-using-namespace): a test
using namespace hw::client;  // NOLINT(google-build-using-namespace)

namespace {

using List = std::vector<TopicPartition>;
using Strings = std::vector<std::string>;
using Counts = std::map<std::string, std::int32_t>;

std::string hex(const Bytes& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte one : bytes.span()) {
    text += kDigits[static_cast<unsigned>(one) >> 4U];
    text += kDigits[static_cast<unsigned>(one) & 15U];
  }
  return text;
}
Bytes unhex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return Bytes::copy_of(bytes);
}
// "t0 t3 u1" of members in order of their ids.
std::string shown(const Assignment& assignment) {
  std::string text;
  for (const auto& [member, partitions] : assignment) {
    text += (text.empty() ? "" : "; ") + member + ":";
    for (const auto& [topic, partition] : partitions) {
      text += " " + topic + std::to_string(partition);
    }
  }
  return text;
}
GroupMember member(std::string id, Strings topics, List owned = {}, std::int32_t generation = -1) {
  GroupMember made;
  made.id = std::move(id);
  made.topics = std::move(topics);
  made.owned = std::move(owned);
  made.generation = generation;
  return made;
}
std::set<std::string> topics_of(const GroupMember& one) { return {one.topics.begin(), one.topics.end()}; }

// Members by chance: many or few, all of the same topics or not, static ones among them.
std::vector<GroupMember> some_members(Prng& prng, const Strings& topics, bool alike) {
  std::vector<GroupMember> members;
  const std::int64_t count = prng.between(1, 9);
  for (std::int64_t i = 0; i < count; ++i) {
    GroupMember one = member("m" + std::to_string(prng.below(1000)) + "-" + std::to_string(i), {});
    for (const std::string& topic : topics) {
      if (alike || prng.below(2) == 0) {
        one.topics.push_back(topic);
      }
    }
    if (prng.below(4) == 0) {
      one.instance_id = "i" + std::to_string(prng.below(1000)) + "-" + std::to_string(i);
    }
    members.push_back(std::move(one));
  }
  return members;
}
Counts some_topics(Prng& prng, Strings& names) {
  Counts counts;
  const std::int64_t count = prng.between(1, 4);
  for (std::int64_t i = 0; i < count; ++i) {
    names.push_back(std::string(1, static_cast<char>('t' + i)));
    counts[names.back()] = static_cast<std::int32_t>(prng.between(1, 12));
  }
  return counts;
}

// Each partition of a topic that somebody reads belongs to exactly one member, who reads it.
void verify_exclusive(const Assignment& assigned, const std::vector<GroupMember>& members, const Counts& counts,
                      bool complete = true) {
  std::map<TopicPartition, int> times;
  for (const GroupMember& one : members) {
    QVERIFY(assigned.contains(one.id));
    for (const TopicPartition& partition : assigned.at(one.id)) {
      ++times[partition];
      QVERIFY(topics_of(one).contains(partition.first));
      QVERIFY(partition.second >= 0 && partition.second < counts.at(partition.first));
    }
  }
  QCOMPARE(assigned.size(), members.size());
  for (const auto& [topic, count] : counts) {
    const bool read = std::any_of(members.begin(), members.end(),
                                  [&, &name = topic](const GroupMember& one) { return topics_of(one).contains(name); });
    for (std::int32_t i = 0; i < count; ++i) {
      const int n = times[{topic, i}];
      QVERIFY2(complete ? n == (read ? 1 : 0) : n <= 1, qPrintable(QString::fromStdString(topic) + QString::number(i)));
    }
  }
}
// No single partition could move to another member that reads it and make the two more even.
void verify_balanced(const Assignment& assigned, const std::vector<GroupMember>& members) {
  for (const GroupMember& from : members) {
    for (const TopicPartition& partition : assigned.at(from.id)) {
      for (const GroupMember& to : members) {
        QVERIFY(!topics_of(to).contains(partition.first) ||
                assigned.at(to.id).size() + 1 >= assigned.at(from.id).size());
      }
    }
  }
}

}  // namespace

class TestAssignors : public QObject {
  Q_OBJECT
 private slots:
  void vectorsOfKafka() {
    const Counts counts = {{"t", 7}, {"u", 2}, {"v", 5}};
    const std::vector<GroupMember> members = {member("b", {"t", "u"}), member("a", {"t"}), member("c", {"t", "v", "absent"})};
    QCOMPARE(shown(assign(Assignor::range, members, counts)),
             std::string("a: t0 t1 t2; b: t3 t4 u0 u1; c: t5 t6 v0 v1 v2 v3 v4"));
    QCOMPARE(shown(assign(Assignor::round_robin, members, counts)),
             std::string("a: t0 t3 t6; b: t1 t4 u0 u1; c: t2 t5 v0 v1 v2 v3 v4"));
    std::vector<GroupMember> fixed = {member("m1", {"t", "u"}), member("m2", {"t", "u"}), member("m0", {"t", "u"})};
    fixed[0].instance_id = "z";
    fixed[1].instance_id = "y";
    QCOMPARE(shown(assign(Assignor::range, fixed, counts)), std::string("m0: t5 t6; m1: t3 t4 u1; m2: t0 t1 t2 u0"));
    QCOMPARE(shown(assign(Assignor::round_robin, fixed, counts)), std::string("m0: t2 t5 u1; m1: t1 t4 u0; m2: t0 t3 t6"));
    const std::vector<GroupMember> alike = {member("a", {"t", "u"}), member("b", {"t", "u"}), member("c", {"t", "u"})};
    for (const Assignor assignor : {Assignor::sticky, Assignor::cooperative_sticky}) {
      QCOMPARE(shown(assign(assignor, alike, counts)), std::string("a: t0 t3 t6; b: t1 t4 u0; c: t2 t5 u1"));
    }
    List all;
    for (std::int32_t i = 0; i < 7; ++i) {
      all.emplace_back("t", i);
    }
    QCOMPARE(shown(assign(Assignor::cooperative_sticky, {member("a", {"t"}, all, 1), member("b", {"t"})}, {{"t", 7}})),
             std::string("a: t0 t1 t2 t3; b:"));  // b gets the rest when a has given it up
    QCOMPARE(shown(assign(Assignor::cooperative_sticky,
                          {member("a", {"t"}, {{"t", 0}, {"t", 1}, {"t", 2}}, 4), member("b", {"t"}, {{"t", 2}, {"t", 3}}, 5)},
                          {{"t", 4}})),
             std::string("a: t0 t1; b: t2 t3"));  // of two claims the younger generation's counts
    QVERIFY(assign(Assignor::range, {member("a", {"t"}), member("b", {"t"})}, {{"t", 1}}).at("b").empty());
  }

  // The bytes that Kafka's own consumer puts into JoinGroup and SyncGroup.
  void formatsOfKafka() {
    const List owned = {{"t", 0}, {"t", 3}, {"u", 1}};
    Subscription subscription{{"t", "u"}, {}, -1, std::nullopt};
    QCOMPARE(hex(encode_subscription(Assignor::range, subscription)),
             std::string("000300000002000174000175ffffffff00000000ffffffffffff"));
    subscription.owned = owned;
    subscription.generation = 5;
    const std::string sticky =
        "000300000002000174000175000000220000000200017400000002000000000000000300017500000001000000010000000500000000ffffffff"
        "ffff";
    QCOMPARE(hex(encode_subscription(Assignor::sticky, subscription)), sticky);
    const std::string cooperative =
        "000300000002000174000175000000040000000500000002000174000000020000000000000003000175000000010000000100000005ffff";
    QCOMPARE(hex(encode_subscription(Assignor::cooperative_sticky, subscription)), cooperative);
    QCOMPARE(hex(encode_assignment(owned)),
             std::string("0003000000020001740000000200000000000000030001750000000100000001ffffffff"));
    for (const auto& [assignor, bytes] : {std::pair{Assignor::sticky, sticky}, {Assignor::cooperative_sticky, cooperative}}) {
      const std::optional<Subscription> back = decode_subscription(assignor, unhex(bytes));
      QVERIFY(back.has_value());
      QVERIFY(back->topics == (Strings{"t", "u"}));
      QVERIFY(back->owned == owned);
      QCOMPARE(back->generation, 5);
    }
    QVERIFY(decode_assignment(encode_assignment(owned)) == owned);
    QVERIFY(decode_assignment(Bytes()) == List{});
    QVERIFY(!decode_assignment(Bytes::copy_of("\x01\x02\x03")));
    QVERIFY(!decode_subscription(Assignor::range, Bytes()));
    // Another program's user data says nothing, and breaks nothing.
    Bytes odd = encode_subscription(Assignor::sticky, subscription);
    QVERIFY(decode_subscription(Assignor::cooperative_sticky, odd).has_value());
  }

  void rangeLikeItsTwin() {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      Prng prng(seed);
      Strings names;
      const Counts counts = some_topics(prng, names);
      std::vector<GroupMember> members = some_members(prng, names, false);
      const Assignment assigned = assign(Assignor::range, members, counts);
      verify_exclusive(assigned, members, counts);
      sort_members(members);
      Assignment twin;
      for (const GroupMember& one : members) {
        twin[one.id];
      }
      for (const auto& [topic, count] : counts) {
        std::vector<std::string> readers;
        for (const GroupMember& one : members) {
          if (topics_of(one).contains(topic)) {
            readers.push_back(one.id);
          }
        }
        if (readers.empty()) {
          continue;
        }
        for (std::int32_t i = 0; i < count; ++i) {  // whose run does partition i lie in?
          std::size_t reader = 0;
          std::int32_t end = 0;
          for (;; ++reader) {
            const auto n = static_cast<std::int32_t>(readers.size());
            end += count / n + (static_cast<std::int32_t>(reader) < count % n ? 1 : 0);
            if (i < end) {
              break;
            }
          }
          twin[readers[reader]].emplace_back(topic, i);
        }
      }
      QCOMPARE(shown(assigned), shown(twin));
    }
  }

  void roundRobinLikeItsTwin() {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      Prng prng(seed);
      Strings names;
      const Counts counts = some_topics(prng, names);
      std::vector<GroupMember> members = some_members(prng, names, prng.below(2) == 0);
      const Assignment assigned = assign(Assignor::round_robin, members, counts);
      verify_exclusive(assigned, members, counts);
      sort_members(members);
      const bool alike = std::all_of(members.begin(), members.end(), [&](const GroupMember& one) {
        return topics_of(one) == topics_of(members.front());
      });
      if (alike) {  // then partition k of all goes to member k mod n
        Assignment twin;
        for (const GroupMember& one : members) {
          twin[one.id];
        }
        std::size_t k = 0;
        for (const auto& [topic, count] : counts) {
          for (std::int32_t i = 0; topics_of(members.front()).contains(topic) && i < count; ++i) {
            twin[members[k++ % members.size()].id].emplace_back(topic, i);
          }
        }
        QCOMPARE(shown(assigned), shown(twin));
      }
    }
  }

  // Members come and go, topics grow: even at once, and moving no more than evenness asks.
  void stickyIsEvenAndMovesLittle() {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      Prng prng(seed);
      Strings names;
      Counts counts = some_topics(prng, names);
      std::vector<GroupMember> members = some_members(prng, names, true);
      Assignment before;
      for (std::int32_t round = 1; round <= 6; ++round) {
        std::sort(members.begin(), members.end(), [](const GroupMember& a, const GroupMember& b) { return a.id < b.id; });
        for (GroupMember& one : members) {
          one.owned = before.contains(one.id) ? before.at(one.id) : List{};
          one.generation = before.contains(one.id) ? round - 1 : -1;
        }
        const Assignment assigned = assign(Assignor::sticky, members, counts);
        verify_exclusive(assigned, members, counts);
        std::size_t total = 0;
        std::vector<std::size_t> had;
        std::size_t kept = 0;
        std::size_t least = SIZE_MAX;
        std::size_t most = 0;
        for (const GroupMember& one : members) {
          const List& now = assigned.at(one.id);
          total += now.size();
          least = std::min(least, now.size());
          most = std::max(most, now.size());
          had.push_back(one.owned.size());
          for (const TopicPartition& partition : one.owned) {
            kept += static_cast<std::size_t>(std::count(now.begin(), now.end(), partition));
          }
        }
        QVERIFY(most - least <= 1);
        // What can be kept at most: who had most gets the larger shares.
        std::sort(had.rbegin(), had.rend());
        std::size_t possible = 0;
        for (std::size_t i = 0; i < had.size(); ++i) {
          possible += std::min(had[i], total / had.size() + (i < total % had.size() ? 1 : 0));
        }
        QCOMPARE(kept, possible);

        before = assigned;
        switch (prng.below(3)) {
          case 0:
            members.push_back(member("n" + std::to_string(round), names));
            break;
          case 1:
            if (members.size() > 1) {
              members.erase(members.begin() + static_cast<std::ptrdiff_t>(prng.below(members.size())));
            }
            break;
          default:
            counts[names[prng.below(names.size())]] += 1;
            break;
        }
      }
    }
  }

  void stickyWithDifferentTopicsIsAsEvenAsMovesMakeIt() {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      Prng prng(seed);
      Strings names;
      const Counts counts = some_topics(prng, names);
      std::vector<GroupMember> members = some_members(prng, names, false);
      Assignment assigned = assign(Assignor::sticky, members, counts);
      verify_exclusive(assigned, members, counts);
      verify_balanced(assigned, members);
      // Nothing has changed: nothing moves.
      for (GroupMember& one : members) {
        one.owned = assigned.at(one.id);
        one.generation = 1;
      }
      QCOMPARE(shown(assign(Assignor::sticky, members, counts)), shown(assigned));
    }
  }

  // In the first round nothing is given to one that another still has; in the second everything is where it belongs.
  void cooperativeMovesInTwoRounds() {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      Prng prng(seed);
      Strings names;
      const Counts counts = some_topics(prng, names);
      std::vector<GroupMember> members = some_members(prng, names, true);
      Assignment owned;
      for (std::int32_t change = 1; change <= 4; ++change) {
        const auto rejoin = [&](std::int32_t generation) {
          for (GroupMember& one : members) {
            one.owned = owned.contains(one.id) ? owned.at(one.id) : List{};
            one.generation = generation;
          }
          return assign(Assignor::cooperative_sticky, members, counts);
        };
        const Assignment first = rejoin(10 * change);
        verify_exclusive(first, members, counts, false);
        for (const GroupMember& one : members) {
          for (const GroupMember& other : members) {
            for (const TopicPartition& partition : first.at(one.id)) {
              QVERIFY(one.id == other.id || std::count(other.owned.begin(), other.owned.end(), partition) == 0);
            }
          }
        }
        owned = first;
        const Assignment second = rejoin(10 * change + 1);
        verify_exclusive(second, members, counts);
        verify_balanced(second, members);
        owned = second;
        QCOMPARE(shown(rejoin(10 * change + 2)), shown(second));  // and there it stays
        if (prng.below(2) == 0 || members.size() == 1) {
          members.push_back(member("n" + std::to_string(change), names));
        } else {
          const std::size_t leaver = prng.below(members.size());
          owned.erase(members[leaver].id);
          members.erase(members.begin() + static_cast<std::ptrdiff_t>(leaver));
        }
      }
    }
  }

  // 500 members and 5,000 partitions: a leader computes that between two heartbeats.
  void manyMembers() {
    std::vector<GroupMember> members;
    for (int i = 0; i < 500; ++i) {
      members.push_back(member("m" + std::to_string(i), {"t", "u"}));
    }
    const Counts counts = {{"t", 4000}, {"u", 1000}};
    for (const Assignor assignor :
         {Assignor::range, Assignor::round_robin, Assignor::sticky, Assignor::cooperative_sticky}) {
      const Assignment assigned = assign(assignor, members, counts);
      verify_exclusive(assigned, members, counts);
      QCOMPARE(assigned.at("m0").size(), std::size_t{10});
    }
  }
};

QTEST_APPLESS_MAIN(TestAssignors)
#include "tst_assignors.moc"
