// SPDX-License-Identifier: Apache-2.0
#include <QtTest/QTest>

#include <string>

#include "engine/quotas/client_quotas.h"

using namespace hw;
using namespace hw::quotas;
using metadata::ClientQuotaMap;
using metadata::QuotaEntity;

namespace {

constexpr Client kAnna{"ANONYMOUS", "anna"};
constexpr Client kBert{"ANONYMOUS", "bert"};

Instant at(std::int64_t ms) { return Instant{ms * 1'000'000}; }
QuotaEntity client_id(const char* name) { return {{"client-id", std::string(name)}}; }

ClientQuotas with(const ClientQuotaMap& quotas, ClientQuotas::Options options = {}) {
  ClientQuotas result(options);
  result.set(quotas);
  return result;
}

}  // namespace

class TestQuotas : public QObject {
  Q_OBJECT
 private slots:
  void without_quotas_nobody_is_throttled();
  void a_new_client_has_its_whole_allowance();
  void the_excess_falls_with_time();
  void old_samples_are_forgotten();
  void what_is_taken_back_does_not_count();
  void windows_are_configurable();
  void precedence_data();
  void precedence();
  void a_default_gives_each_its_own_rate();
  void a_named_entity_is_shared();
  void request_time_mutes_at_most_one_window();
  void one_answer_is_bounded_by_the_windows();
  void mutations_may_overdraw_once();
  void buckets_refill_up_to_their_windows();
  void a_changed_limit_judges_what_was_measured();
  void the_number_of_rates_is_bounded();
};

void TestQuotas::without_quotas_nobody_is_throttled() {
  ClientQuotas quotas;
  QVERIFY(!quotas.active(QuotaKind::produce));
  QVERIFY(quotas.record(QuotaKind::produce, kAnna, 1e12, at(0)) == Duration{});
  QVERIFY(quotas.overdrawn(kAnna, at(0)) == Duration{});
  QCOMPARE(quotas.most_in_windows(QuotaKind::fetch, kAnna), INT32_MAX);
  QCOMPARE(quotas.rates(), std::size_t{0});
}

void TestQuotas::a_new_client_has_its_whole_allowance() {
  // Ten whole windows lie before the first amount: 10 s at 1000 bytes a second.
  ClientQuotas quotas = with({{client_id("anna"), {{"producer_byte_rate", 1000}}}});
  QVERIFY(quotas.active(QuotaKind::produce) && !quotas.active(QuotaKind::fetch));
  QVERIFY(quotas.record(QuotaKind::produce, kAnna, 10'000, at(5)) == Duration{});
  // 10,300 bytes in 10 s are 3 % too much, and 3 % of 10 s are 300 ms.
  QCOMPARE(quotas.record(QuotaKind::produce, kAnna, 300, at(5)).ms(), 300);
  QVERIFY(quotas.record(QuotaKind::produce, kBert, 1e9, at(5)) == Duration{});
}

void TestQuotas::the_excess_falls_with_time() {
  // As 4.4.0: 100, 10,000 and 10,000 bytes of records with 1.5 s between the last two were answered 0, 262 and 9747 ms.
  ClientQuotas quotas = with({{client_id("anna"), {{"producer_byte_rate", 1000}}}});
  QVERIFY(quotas.record(QuotaKind::produce, kAnna, 211, at(0)) == Duration{});
  QCOMPARE(quotas.record(QuotaKind::produce, kAnna, 10'112, at(61)).ms(), 10'323 - 10'061);
  // The first whole window has passed, so nine of the ten are assumed.
  QCOMPARE(quotas.record(QuotaKind::produce, kAnna, 10'112, at(1'688)).ms(), 20'435 - 10'688);
  QCOMPARE(quotas.excess(QuotaKind::produce, kAnna, at(2'000)).ms(), 20'435 - 10'000);
}

void TestQuotas::old_samples_are_forgotten() {
  ClientQuotas quotas = with({{client_id("anna"), {{"producer_byte_rate", 1000}}}});
  QVERIFY(quotas.record(QuotaKind::produce, kAnna, 50'000, at(0)) > Duration{});
  QVERIFY(quotas.excess(QuotaKind::produce, kAnna, at(10'999)) > Duration{});
  QVERIFY(quotas.excess(QuotaKind::produce, kAnna, at(11'000)) == Duration{});
  QVERIFY(quotas.record(QuotaKind::produce, kAnna, 10'000, at(11'000)) == Duration{});
  // A steady rate at the limit is never throttled, whatever the number of windows that pass.
  ClientQuotas steady = with({{client_id("anna"), {{"producer_byte_rate", 1000}}}});
  for (std::int64_t i = 0; i < 1000; ++i) {
    QVERIFY(steady.record(QuotaKind::produce, kAnna, 99, at(i * 100)) == Duration{});
  }
}

void TestQuotas::what_is_taken_back_does_not_count() {
  ClientQuotas quotas = with({{client_id("anna"), {{"consumer_byte_rate", 1000}}}});
  QVERIFY(quotas.record(QuotaKind::fetch, kAnna, 20'000, at(0)) > Duration{});
  quotas.count(QuotaKind::fetch, kAnna, -20'000, at(0));
  QVERIFY(quotas.record(QuotaKind::fetch, kAnna, 10'000, at(0)) == Duration{});
}

void TestQuotas::windows_are_configurable() {
  ClientQuotas::Options options;
  options.client = {3, 2000};  // two whole windows of 2 s
  ClientQuotas quotas = with({{client_id("anna"), {{"producer_byte_rate", 1000}}}}, options);
  QVERIFY(quotas.record(QuotaKind::produce, kAnna, 4'000, at(0)) == Duration{});
  QCOMPARE(quotas.record(QuotaKind::produce, kAnna, 1'000, at(0)).ms(), 1'000);
  QVERIFY(quotas.excess(QuotaKind::produce, kAnna, at(6'000)) == Duration{});
}

void TestQuotas::precedence_data() {
  QTest::addColumn<int>("best");
  for (int i = 0; i < 8; ++i) {
    QTest::addRow("%d", i) << i;
  }
}
void TestQuotas::precedence() {
  // From the most specific to the least; a client is under the first that is set.
  QFETCH(int, best);
  const std::optional<std::string> any;
  const QuotaEntity in_order[] = {{{"user", "u"}, {"client-id", "anna"}},
                                  {{"user", "u"}, {"client-id", any}},
                                  {{"user", "u"}},
                                  {{"user", any}, {"client-id", "anna"}},
                                  {{"user", any}, {"client-id", any}},
                                  {{"user", any}},
                                  {{"client-id", "anna"}},
                                  {{"client-id", any}}};
  ClientQuotaMap quotas;
  for (int i = best; i < 8; ++i) {
    quotas[in_order[i]]["producer_byte_rate"] = 1000 + i;
    quotas[in_order[i]]["consumer_byte_rate"] = 1;  // another kind does not disturb
  }
  quotas[{{"user", "v"}}]["producer_byte_rate"] = 1;
  ClientQuotas resolved = with(quotas);
  QCOMPARE(*resolved.limit(QuotaKind::produce, {"u", "anna"}), 1000.0 + best);
  QVERIFY(!resolved.limit(QuotaKind::request, {"u", "anna"}));
}

void TestQuotas::a_default_gives_each_its_own_rate() {
  ClientQuotas quotas = with({{{{"client-id", std::nullopt}}, {{"producer_byte_rate", 1000}}}});
  QVERIFY(quotas.record(QuotaKind::produce, kAnna, 20'000, at(0)) > Duration{});
  QVERIFY(quotas.record(QuotaKind::produce, kBert, 10'000, at(0)) == Duration{});
}

void TestQuotas::a_named_entity_is_shared() {
  // A user's quota is one rate for all its clients; a user's quota for any client-id is one for each.
  ClientQuotas by_user = with({{{{"user", "ANONYMOUS"}}, {{"producer_byte_rate", 1000}}}});
  by_user.record(QuotaKind::produce, kAnna, 10'000, at(0));
  QVERIFY(by_user.record(QuotaKind::produce, kBert, 10'000, at(0)) > Duration{});
  ClientQuotas by_both = with({{{{"user", "ANONYMOUS"}, {"client-id", std::nullopt}}, {{"producer_byte_rate", 1000}}}});
  by_both.record(QuotaKind::produce, kAnna, 10'000, at(0));
  QVERIFY(by_both.record(QuotaKind::produce, kBert, 10'000, at(0)) == Duration{});
}

void TestQuotas::request_time_mutes_at_most_one_window() {
  ClientQuotas quotas = with({{client_id("anna"), {{"request_percentage", 0.01}}}});
  QCOMPARE(quotas.record(QuotaKind::request, kAnna, 100, at(0)).ms(), 1000);
  QCOMPARE(quotas.excess(QuotaKind::request, kAnna, at(500)).ms(), 1000);
}

void TestQuotas::one_answer_is_bounded_by_the_windows() {
  ClientQuotas quotas = with({{client_id("anna"), {{"consumer_byte_rate", 1000}}}, {client_id("bert"), {{"consumer_byte_rate", 1e15}}}});
  QCOMPARE(quotas.most_in_windows(QuotaKind::fetch, kAnna), 10'000);
  QCOMPARE(quotas.most_in_windows(QuotaKind::fetch, kBert), INT32_MAX);
}

void TestQuotas::mutations_may_overdraw_once() {
  // As 4.4.0 at one partition a second: 5, 5 and 5 are let through, then 3.7 s are owed for what 1.3 s have not refilled.
  ClientQuotas quotas = with({{client_id("anna"), {{"controller_mutation_rate", 1}}}});
  for (int i = 0; i < 3; ++i) {
    QVERIFY(quotas.overdrawn(kAnna, at(i)) == Duration{});
    quotas.take(kAnna, 5, at(i));
  }
  QCOMPARE(quotas.overdrawn(kAnna, at(1'263)).ms(), 3'737);
  QVERIFY(quotas.overdrawn(kAnna, at(5'001)) == Duration{});
}

void TestQuotas::buckets_refill_up_to_their_windows() {
  ClientQuotas quotas = with({{client_id("anna"), {{"controller_mutation_rate", 2}}}});
  quotas.take(kAnna, 20, at(0));
  quotas.take(kAnna, 1, at(1'000'000));  // twenty again, not two million
  quotas.take(kAnna, 20, at(1'000'000));
  QCOMPARE(quotas.overdrawn(kAnna, at(1'000'000)).ms(), 500);
}

void TestQuotas::a_changed_limit_judges_what_was_measured() {
  ClientQuotas quotas = with({{client_id("anna"), {{"producer_byte_rate", 1000}}}});
  QVERIFY(quotas.record(QuotaKind::produce, kAnna, 9'000, at(0)) == Duration{});
  quotas.set({{client_id("anna"), {{"producer_byte_rate", 500}}}});
  QCOMPARE(quotas.excess(QuotaKind::produce, kAnna, at(0)).ms(), 8'000);
  quotas.set({});
  QVERIFY(quotas.excess(QuotaKind::produce, kAnna, at(0)) == Duration{});
}

void TestQuotas::the_number_of_rates_is_bounded() {
  ClientQuotas::Options options;
  options.rates_max = 10;
  ClientQuotas quotas = with({{{{"client-id", std::nullopt}}, {{"producer_byte_rate", 1000}}}}, options);
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "client-" + std::to_string(i);
    quotas.record(QuotaKind::produce, {"ANONYMOUS", name}, 20'000, at(i));
    quotas.record(QuotaKind::produce, kAnna, i == 0 ? 20'000 : 0, at(i));  // who is heard of stays
  }
  QCOMPARE(quotas.rates(), std::size_t{10});
  QVERIFY(quotas.excess(QuotaKind::produce, kAnna, at(1'000)) > Duration{});
}

QTEST_APPLESS_MAIN(TestQuotas)
#include "tst_quotas.moc"
