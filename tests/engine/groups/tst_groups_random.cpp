// SPDX-License-Identifier: Apache-2.0
// Random worlds: clients that join, sync, beat, commit, leave and vanish, appends that commit late
// or fail. Afterwards a fresh coordinator that replays the log holds the same, and every request
// was answered exactly once.
#include <string>
#include <vector>

#include <QtTest>

#include "world.h"

using namespace hw;
using namespace hw::groups;
using namespace hw::groups::test;
using hw::wire::ErrorCode;

namespace {

struct Client {
  std::string group;
  std::string member;
  std::optional<std::string> instance;
  std::int32_t generation = -1;
  bool leads = false;
  std::vector<std::string> others;
};

std::string describe(World& world, const std::string& group) {
  const auto described = world.describe(group);
  std::string text =
      described.group_state + " " + described.protocol_type + " " + described.protocol_data;
  for (const auto& member : described.members) {
    text += " [" + member.member_id + " " + member.group_instance_id.value_or("-") + " " +
            member.client_id + " " + std::string(member.member_assignment.text()) + "]";
  }
  return text;
}

}  // namespace

class TestGroupsRandom : public QObject {
  Q_OBJECT

 private slots:

  void replay_gives_the_same_state_data() {
    QTest::addColumn<bool>("failures");
    QTest::newRow("appends commit") << false;
    QTest::newRow("appends are late, and some fail") << true;
  }

  void replay_gives_the_same_state() {
    QFETCH(bool, failures);
    int stable = 0;
    int emptied = 0;
    int simple_left = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      Prng prng(seed);
      World world(World::fast(), seed);
      std::vector<Client> clients(8);
      std::vector<Answer<wire::JoinGroupResponse>> joins;
      std::vector<Answer<wire::SyncGroupResponse>> syncs;
      std::vector<Answer<wire::OffsetCommitResponse>> commits;
      for (std::size_t i = 0; i < clients.size(); ++i) {
        clients[i].group = i % 2 == 0 ? "even" : "odd";
        if (i % 4 == 1) {
          clients[i].instance = "i" + std::to_string(i);
        }
      }
      std::vector<std::size_t> joiner;
      const auto join = [&](std::size_t which) {
        JoinOptions options;
        options.instance = clients[which].instance;
        options.client = "c" + std::to_string(which);
        options.protocols = {{"range", std::to_string(prng.below(3) / 2)}};
        joins.push_back(world.join(clients[which].group,
                                   clients[which].instance ? "" : clients[which].member, options));
        joiner.push_back(which);
      };
      const auto sync = [&](const Client& client, int step) {
        std::map<std::string, std::string> assignments;
        for (const std::string& other : client.others) {
          assignments[other] = "a" + std::to_string(step);
        }
        syncs.push_back(world.sync(client.group, client.generation, client.member, assignments,
                                   client.instance));
      };
      // What the clients learn from the answers that have come.
      const auto learn = [&] {
        for (std::size_t j = 0; j < joins.size(); ++j) {
          if (joins[j].here()) {
            Client& one = clients[joiner[j]];
            const wire::JoinGroupResponse& answer = *joins[j];
            if (answer.error_code == ErrorCode::none ||
                answer.error_code == ErrorCode::member_id_required) {
              one.member = answer.member_id;
            } else if (answer.error_code == ErrorCode::unknown_member_id) {
              one.member.clear();
            }
            if (answer.error_code == ErrorCode::none) {
              one.generation = answer.generation_id;
              one.leads = answer.leader == answer.member_id;
              one.others.clear();
              for (const auto& member : answer.members) {
                one.others.push_back(member.member_id);
              }
            }
            QCOMPARE(joins[j].times(), 1);
            joins.erase(joins.begin() + static_cast<std::ptrdiff_t>(j));
            joiner.erase(joiner.begin() + static_cast<std::ptrdiff_t>(j));
            --j;
          }
        }
      };
      for (int step = 0; step < 250; ++step) {
        const std::size_t which = prng.below(clients.size());
        Client& client = clients[which];
        switch (prng.below(10)) {
          case 0:
          case 1:
          case 2:
            join(which);
            break;
          case 3:
            sync(client, step);
            break;
          case 4:  // everybody who has been a member works as a client should
            for (std::size_t i = 0; i < clients.size(); ++i) {
              if (clients[i].group == client.group && prng.below(10) != 0) {
                join(i);
                learn();
                if (!clients[i].instance && clients[i].generation < 0) {
                  join(i);
                }
              }
            }
            learn();
            for (const bool leaders : {false, true}) {
              for (const Client& one : clients) {
                if (one.group == client.group && one.leads == leaders) {
                  sync(one, step);
                }
              }
            }
            break;
          case 5:
            // Its answer waits for what is not committed yet.
            static_cast<void>(world.heartbeat_later(client.group, client.generation, client.member, client.instance));
            break;
          case 6: {
            World::CommitOptions options;
            options.partition = static_cast<std::int32_t>(prng.below(3));
            options.instance = client.instance;
            const bool simple = prng.below(4) == 0;
            commits.push_back(world.commit_later(simple ? "simple" : client.group, "t", step,
                                                 simple ? -1 : client.generation,
                                                 simple ? "" : client.member, options));
            break;
          }
          case 7:
            if (prng.below(4) == 0 && !world.hold) {
              world.leave(client.group, {{client.member, {}, {}}});
              client.member.clear();
            }
            break;
          case 8:
            world.advance(prng.between(0, 8'000));
            break;
          default:
            if (prng.below(3) == 0 && !world.hold) {
              world.remove(prng.below(2) == 0 ? "simple" : client.group);
            }
            if (failures) {
              if (!world.hold) {
                world.hold = prng.below(2) == 0;
              } else if (!world.held.empty() && prng.below(2) == 0) {
                world.fail_held(ErrorCode::not_enough_replicas);
                world.commit_held();
              } else {
                world.commit_held();
              }
            }
        }
        learn();
      }
      learn();
      world.commit_held();

      World again(World::fast(), seed + 1'000);
      again.coordinator.unload(PartitionIndex(0), again.now);
      again.log = world.log;
      again.now = world.now;
      again.load();
      QCOMPARE(again.coordinator.load_errors(), std::uint64_t{0});
      QCOMPARE(again.coordinator.dump_hard_state(PartitionIndex(0)),
               world.coordinator.dump_hard_state(PartitionIndex(0)));
      for (const std::string group : {"even", "odd", "simple"}) {
        // At rest the soft state is what the record says, too. (A group that never wrote a
        // generation has members only in memory; those are in PreparingRebalance or
        // CompletingRebalance.)
        const std::string state = world.state(group);
        stable += state == "Stable" ? 1 : 0;
        emptied += state == "Empty" && group != "simple" ? 1 : 0;
        simple_left += state == "Empty" && group == "simple" ? 1 : 0;
        if (state == "Stable") {
          QCOMPARE(describe(again, group), describe(world, group));
        }
        if (state == "Empty") {
          QCOMPARE(again.state(group), state);
        }
      }
      // In the end everybody is answered once.
      world.coordinator.unload(PartitionIndex(0), world.now);
      for (const auto& answer : joins) {
        QCOMPARE(answer.times(), 1);
      }
      for (const auto& answer : syncs) {
        QCOMPARE(answer.times(), 1);
      }
      for (const auto& answer : commits) {
        QCOMPARE(answer.times(), 1);
      }
    }
    // The worlds were worth looking at.
    QVERIFY2(
        stable >= 10 && emptied >= 1 && simple_left >= 20,
        qPrintable(
            QString("%1 stable, %2 emptied, %3 simple").arg(stable).arg(emptied).arg(simple_left)));
  }
};

QTEST_APPLESS_MAIN(TestGroupsRandom)
#include "tst_groups_random.moc"
