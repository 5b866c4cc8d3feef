// SPDX-License-Identifier: Apache-2.0
// Which topics a member of the consumer protocol subscribes to by an expression, and the number by
// which a group notices that its topics changed. Expected values are those of Kafka 4.4.0.
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <QtTest>

#include "engine/groups/consumer/subscription_regex.h"
#include "engine/groups/consumer/topic_hash.h"

using namespace hw;
using namespace hw::groups;

namespace {

constexpr std::array<std::string_view, 14> kTopics{
    "orders", "orders-eu", "Orders", "payments", "a",  "b",  "ab",
    "aab",    "a.b",       "a-b",    "a_b",      "x1", "__", "order"};

std::string matching(const std::string& regex) {
  std::string all;
  for (const std::string& topic : matching_topics(regex, kTopics)) {
    all += (all.empty() ? "" : " ") + topic;
  }
  return all;
}

constexpr Uuid kId{0x0123456789abcdefULL, 0xfedcba9876543210ULL};

// Racks of a topic's partitions in turn, where each fourth replica has none.
TopicFacts topic(const std::string& name, std::size_t partitions,
                 const std::vector<std::string>& racks = {}) {
  TopicFacts topic{name, kId, std::vector<std::vector<std::string>>(partitions)};
  for (std::size_t partition = 0; partition < partitions; ++partition) {
    for (std::size_t replica = 0; replica < racks.size(); ++replica) {
      if ((partition + replica) % 4 != 3) {
        topic.racks[partition].push_back(racks[(partition + replica) % racks.size()]);
      }
    }
  }
  return topic;
}

}  // namespace

class TestSubscriptions : public QObject {
  Q_OBJECT

 private slots:

  void expressions_data() {
    QTest::addColumn<QString>("matches");
    const auto row = [](const char* regex, const char* matches) {
      QTest::newRow(regex) << QString(matches);
    };
    row("orders.*", "orders orders-eu");  // the whole name, from its beginning
    row("order", "order");
    row("a|b", "a b");
    row("^a$", "a");
    row("(?i)orders", "orders Orders");
    row(".*\\.b", "a.b");
    row("a\\_b", "a_b");
    row("x\\d", "x1");
    row("[^a]", "b");
    row("[]a]", "a");
    row("a{2}b", "aab");
    row("a{2,}b", "aab");
    row("a{,2}", "");
    row("(?:a|b)+", "a b ab aab");
    row("\\Qa.b\\E", "a.b");
    row("\\Q", "");
    row("\\pZz", "");
    row("[[:alpha:]]+", "orders Orders payments a b ab aab order");
    row("\\pL+", "orders Orders payments a b ab aab order");
    row("(?P<n>a)b", "ab");
    row("(?<n>a)b", "ab");
    row("([(?<]*)(?<n>a)b", "ab");
    row("([](?<n>a]+)b", "ab aab");
    row("\\Q(?<n>\\E|b", "b");
    row("\\((?<n>a)b|b", "b");
    row("", "");
  }

  void expressions() {
    const std::string regex = QTest::currentDataTag();
    QFETCH(QString, matches);
    QCOMPARE(subscription_regex_error(regex), std::optional<std::string>());
    QCOMPARE(QString::fromStdString(matching(regex)), matches);
  }

  void refused_data() {
    QTest::addColumn<QString>("why");
    const auto row = [](const char* regex, const char* why) {
      QTest::newRow(regex) << QString(why);
    };
    row("[a", "missing closing ]");
    row("[]", "missing closing ]");
    row("(a", "missing closing )");
    row("a)", "unexpected )");
    row("*", "missing argument to repetition operator");
    row("*a", "missing argument to repetition operator");
    row("a**", "invalid nested repetition operator");
    row("a{2,1}", "invalid repeat count");
    row("a{1001}", "invalid repeat count");
    row("\\", "trailing backslash at end of expression");
    row("(a)\\1", "invalid escape sequence");
    row("\\Z", "invalid escape sequence");
    row("[z-a]", "invalid character class range");
    row("\\p{Foo}", "invalid character class range");
    row("a(?!b)", "invalid or unsupported Perl syntax");
    row("(?=a)b", "invalid or unsupported Perl syntax");
    row("(?<=a)b", "invalid named capture");
    row("(?P<>a)", "invalid named capture");
    row("\xff", "invalid UTF-8");
  }

  void refused() {
    const std::string regex = QTest::currentDataTag();
    QFETCH(QString, why);
    const std::optional<std::string> error = subscription_regex_error(regex);
    QVERIFY(error.has_value());
    QCOMPARE(QString::fromStdString(error.value_or("")), why);
    QCOMPARE(matching(regex), std::string());
  }

  // A backtracking matcher would be at this for years.
  void long_names_take_no_longer() {
    const std::string name(249, 'a');
    const std::array<std::string_view, 1> topics{name};
    QVERIFY(matching_topics("(a*)*(a*)*(a*)*b", topics).empty());
  }

  void topic_hashes() {
    QCOMPARE(topic_hash(topic("a", 1)), -6703480348170900200);
    QCOMPARE(topic_hash(topic("orders", 3)), 9017009200229395283);
    QCOMPARE(topic_hash(topic("orders", 3, {"b", "a", "a"})), -4682417945838743776);
    QCOMPARE(topic_hash(topic("orders", 64, {"rack-b", "rack-a", "\u00e9\U0001F600"})),
             8664157311656542803);
    QCOMPARE(topic_hash(topic("orders", 17)), -330652550611067646);  // 97 bytes
    QCOMPARE(topic_hash(topic("orders", 50)), 957326140368260366);   // 229 bytes
    QCOMPARE(topic_hash(topic("orders", 1000)), 8762756807783198845);
    QCOMPARE(topic_hash(topic(std::string(249, 'x'), 0)), 8779552010713513921);
  }

  void racks_count_in_any_order() {
    TopicFacts one = topic("orders", 1);
    TopicFacts other = one;
    one.racks[0] = {"b", "a"};
    other.racks[0] = {"a", "b"};
    QCOMPARE(topic_hash(one), topic_hash(other));
    other.racks[0] = {"a", "c"};
    QVERIFY(topic_hash(one) != topic_hash(other));
  }

  void group_hashes() {
    QCOMPARE(group_metadata_hash({}), std::int64_t{0});
    QCOMPARE(group_metadata_hash({{"b", 2}, {"a", 1}}), 571542372673154031);
    QCOMPARE(group_metadata_hash({{"b", 1}, {"a", 2}}), -336420445500852088);
    QCOMPARE(group_metadata_hash({{"z", -7}}), -3607984339107086412);
    std::map<std::string, std::int64_t> many;
    for (std::uint64_t i = 0; i < 100; ++i) {
      many["t" + std::to_string(i)] = static_cast<std::int64_t>(i * 0x9e3779b97f4a7c15ULL);
    }
    QCOMPARE(group_metadata_hash(many), 5449694844604232837);
  }
};

QTEST_APPLESS_MAIN(TestSubscriptions)
#include "tst_subscriptions.moc"
