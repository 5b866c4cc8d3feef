// SPDX-License-Identifier: Apache-2.0
// Does the simulator bite? Each bug on purpose (trial::Canary) must be found, by the check that is there for it, within a few seeds; and
// without the bug the same seed must be clean. Bugs that a whole cluster meets too seldom (two votes in an epoch, answers before they
// are durable …) are found by tst_quorum_sim and tst_replication, which look closer.
#include <QtTest>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sim/world.h"

using namespace hw;
using sim::Deed;
using sim::Fault;
using trial::Canary;

class TestSimCanaries : public QObject {
  Q_OBJECT

 private slots:
  void canaries_are_found_data();
  void canaries_are_found();
  void each_check_has_a_canary();
};

namespace {

struct Row {
  Canary canary;
  std::vector<std::string_view> checks;  // their numbers; any of them
  std::vector<Fault> faults;
  std::vector<Deed> deeds;
  std::int16_t replicas = 3;
  std::uint64_t seeds = 20;  // at most
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all{
      {Canary::refuses_torn_tail, {"00"}, {Fault::power}},
      {Canary::acks_before_isr, {"01"}, {Fault::kill, Fault::cut}},
      {Canary::watermark_without_followers, {"01", "03"}, {Fault::kill, Fault::cut}},
      {Canary::elects_anybody, {"03", "01"}, {Fault::kill, Fault::cut}},
      {Canary::keeps_leader_epoch, {"02"}, {Fault::kill, Fault::cut}},
      {Canary::watermark_goes_back, {"04"}, {Fault::kill, Fault::cut}},
      {Canary::fenced_leads, {"05"}, {Fault::kill, Fault::cut}, {}, 1},
      {Canary::eligible_for_ever, {"05"}, {Fault::kill, Fault::cut}},
      {Canary::ignores_log_order, {"06"}, {Fault::kill, Fault::cut}},
      // A log that leaves the leader's is refused batch after batch: its node does not come to rest.
      {Canary::keeps_divergence, {"11", "06"}, {Fault::kill, Fault::cut}},
      {Canary::no_truncation, {"11", "03"}, {Fault::kill, Fault::cut}},
      {Canary::syncs_nothing, {"00", "06"}, {Fault::power}},
      {Canary::snapshot_forgets_configs, {"07"}, {Fault::kill, Fault::stop}, {Deed::configure}},
      {Canary::forgets_commits, {"08"}, {Fault::kill, Fault::lost_client}},
      {Canary::assigns_to_everybody, {"09"}, {Fault::lost_client}},
      {Canary::repeats_appended, {"10"}, {Fault::broken_streams, Fault::kill}},
      {Canary::never_expands, {"11"}, {Fault::kill, Fault::cut}},
      {Canary::spins, {"12"}, {Fault::kill}},
      {Canary::deletes_alone, {"13"}, {Fault::cut, Fault::pause}, {Deed::delete_records}},
  };
  return all;
}

sim::Options options_of(const Row& row, std::uint64_t seed) {
  sim::Options options = sim::draw(seed, seconds(12));
  options.controllers = 3;
  options.spare_controllers = 0;
  options.brokers = 3;
  options.late_brokers = 0;
  options.combined = true;
  options.unclean = false;
  options.oddities = false;
  options.consumers = 2;
  options.topics = 1;
  options.partitions = 3;
  options.producers = 2;
  options.mute_producers = 0;
  options.record_interval_ms = 10;
  options.record_bytes = 100;
  options.network_delay_us = 200;
  options.network_jitter_us = 1'000;
  options.loss_per_mille = 0;
  sim::set_replication(options, row.replicas);
  options.faults = row.faults;
  options.fault_interval_ms = 1'000;
  options.fault_length_ms = 1'000;
  options.deeds = row.deeds;
  options.deed_interval_ms = 300;
  options.configs["metadata.log.max.record.bytes.between.snapshots"] = "4000";
  options.configs["broker.session.timeout.ms"] = "1500";
  options.configs["broker.heartbeat.interval.ms"] = "400";
  options.configs["replica.lag.time.max.ms"] = "1000";
  options.calm_within = seconds(40);
  return options;
}

std::string text_of(const std::vector<std::string>& violations) {
  std::string text;
  for (const std::string& one : violations) {
    text += (text.empty() ? "" : "; ") + one;
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

void TestSimCanaries::canaries_are_found_data() {
  QTest::addColumn<int>("index");
  for (std::size_t i = 0; i < rows().size(); ++i) {
    QTest::newRow(std::string(trial::name_of(rows()[i].canary)).c_str()) << static_cast<int>(i);
  }
}

void TestSimCanaries::canaries_are_found() {
  QFETCH(int, index);
  const Row& row = rows()[static_cast<std::size_t>(index)];
  std::string others;
  for (std::uint64_t seed = 1; seed <= row.seeds; ++seed) {
    sim::Options options = options_of(row, seed);
    options.canary = row.canary;
    const sim::Outcome outcome = sim::run(options);
    if (outcome.violations.empty()) {
      continue;
    }
    const std::string& first = outcome.violations.front();
    const bool intended = std::any_of(row.checks.begin(), row.checks.end(), [&](std::string_view check) { return first.starts_with(check); });
    if (!intended) {
      others += "\n  seed " + std::to_string(seed) + ": " + first;
      continue;
    }
    qInfo("seed %llu: %s", static_cast<unsigned long long>(seed), first.c_str());
    options.canary = Canary::none;  // it was that bug, and nothing else
    const sim::Outcome sound = sim::run(options);
    QVERIFY2(sound.violations.empty(), ("without the bug: " + text_of(sound.violations)).c_str());
    return;
  }
  QFAIL(("not found by its check" + others).c_str());
}

void TestSimCanaries::each_check_has_a_canary() {
  for (const std::string_view check : {"00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13"}) {
    const bool has = std::any_of(rows().begin(), rows().end(), [&](const Row& row) { return row.checks.front() == check; });
    QVERIFY2(has, std::string(check).c_str());
  }
}

QTEST_APPLESS_MAIN(TestSimCanaries)
#include "tst_sim_canaries.moc"
