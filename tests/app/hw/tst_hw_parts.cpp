// SPDX-License-Identifier: Apache-2.0
// The parts of hw that need no cluster: what people write, JSON, templates, partitioners, completion, the table of commands.
#include <QTest>

#include "app/hw/commands.h"
#include "app/hw/json_read.h"
#include "app/hw/output.h"
#include "app/hw/partitioners.h"
#include "app/hw/pattern.h"
#include "app/hw/text.h"

using namespace hw;       // NOLINT(google-build-using-namespace): a test
using namespace hw::app;  // NOLINT(google-build-using-namespace)

namespace {
constexpr std::int64_t kNow = 1'764'410'400'000;  // 2025-11-29T10:00:00Z
Bytes bytes(std::string_view text) { return Bytes::copy_of(text); }
}  // namespace

class TestHwParts : public QObject {
  Q_OBJECT
 private slots:
  void durations() {
    QCOMPARE(*parse_duration_ms("500ms"), std::int64_t{500});
    QCOMPARE(*parse_duration_ms("15"), std::int64_t{15});
    QCOMPARE(*parse_duration_ms("7d"), std::int64_t{604'800'000});
    QCOMPARE(*parse_duration_ms("2w"), std::int64_t{1'209'600'000});
    for (const char* wrong : {"", "d", "7 d", "-1s", "7y", "99999999999999999999s", "9999999d"}) {
      QVERIFY2(!parse_duration_ms(wrong), wrong);
    }
    QVERIFY(parse_duration_ms("7y").error().detail.find("7d") != std::string::npos);
  }
  void times() {
    QCOMPARE(time_text(kNow), std::string("2025-11-29T10:00:00.000Z"));
    QCOMPARE(*parse_time_ms("2025-11-29T10:00:00Z", 0), kNow);
    QCOMPARE(*parse_time_ms("2025-11-29T11:00+01:00", 0), kNow);
    QCOMPARE(*parse_time_ms("2025-11-29 10:00:00.25Z", 0), kNow + 250);
    QCOMPARE(*parse_time_ms("@1764410400000", 0), kNow);
    QCOMPARE(*parse_time_ms("2h", kNow), kNow - 7'200'000);
    QCOMPARE(*parse_time_ms("now", kNow), kNow);
    QCOMPARE(*parse_time_ms("1972-02-29T00:00Z", 0), std::int64_t{68'169'600'000});
    for (const char* wrong : {"2025-02-29", "2025-13-01", "yesterday", "2025-11-29T25:00Z", "@-1", "", "12345"}) {
      QVERIFY2(!parse_time_ms(wrong, kNow), wrong);
    }
  }
  void numbersForPeople() {
    QCOMPARE(count_text(1234567), std::string("1,234,567"));
    QCOMPARE(count_text(-1234), std::string("-1,234"));
    QCOMPARE(count_text(999), std::string("999"));
    QCOMPARE(size_text(1536), std::string("1.5 KiB"));
    QCOMPARE(counted(1, "record"), std::string("1 record"));
    QCOMPARE(*config_value("retention.ms", "7d"), std::string("604800000"));
    QCOMPARE(*config_value("retention.bytes", "1GiB"), std::string("1073741824"));
    QCOMPARE(*config_value("retention.ms", "-1"), std::string("-1"));
    QCOMPARE(*config_value("cleanup.policy", "7d"), std::string("7d"));
    QVERIFY(!config_value("segment.bytes", "1GB"));
    QCOMPARE(human_config("retention.ms", "604800000"), std::string("(7 d)"));
    QCOMPARE(human_config("cleanup.policy", "delete"), std::string());
  }
  void whatWasMeant() {
    const std::vector<std::string> names{"orders", "payments", "payments-dlq", "customers"};
    QCOMPARE(nearest("oders", names), std::string("orders"));
    QCOMPARE(nearest("ordres", names), std::string("orders"));
    QCOMPARE(nearest("payment", names), std::string("payments"));
    QCOMPARE(nearest("dlq", names), std::string("payments-dlq"));
    QCOMPARE(nearest("zebra", names), std::string());
    QVERIFY(glob_match("order*", "orders"));
    QVERIFY(glob_match("*-?lq", "payments-dlq"));
    QVERIFY(!glob_match("order", "orders"));
    QVERIFY(glob_match("*", ""));
  }
  void nullEmptyAndBinaryAreNeverPrintedAlike() {
    QCOMPARE(printable(std::optional<Bytes>()), std::string("(null)"));
    QCOMPARE(printable(std::optional(bytes(""))), std::string(""));
    QCOMPARE(printable(std::optional(bytes("a\tb\nc\\"))), std::string("a\\tb\\nc\\\\"));
    QCOMPARE(printable(std::optional(bytes("\xff"))), std::string("base64:/w=="));
    QCOMPARE(*unescape("a\\tb\\x41\\\\"), std::string("a\tbA\\"));
    QVERIFY(!unescape("a\\q"));
    QVERIFY(!unescape("a\\"));
  }
  void json() {
    const auto value = parse_json(R"( {"a": [1, -2.5e3, "x\u00e4\ud83d\ude00\n", null, true], "b": {"c": {}}} )");
    QVERIFY(value);
    const JsonValue* a = value->find("a");
    QVERIFY(a != nullptr && a->elements.size() == 5);
    QCOMPARE(a->elements[1].text, std::string("-2.5e3"));
    QCOMPARE(a->elements[2].text, std::string("x\xc3\xa4\xf0\x9f\x98\x80\n"));
    QCOMPARE(value->find("b")->text, std::string(R"({"c": {}})"));
    for (const char* wrong : {"", "{", "{\"a\"}", "[1,]", "\"a", "01x", "{\"a\":1} 2", "\"\\ud800\"", "nul", "[\"\x01\"]"}) {
      QVERIFY2(!parse_json(wrong), wrong);
    }
    QVERIFY(!parse_json(std::string(100, '[')));
    QCOMPARE(*decode_base64("aGV5"), std::string("hey"));
    QCOMPARE(*decode_base64("/w=="), std::string("\xff"));
    QVERIFY(!decode_base64("a"));
    QVERIFY(!decode_base64("a=b="));
  }
  void templates() {
    node::IncomingRecord record;
    record.topic = "orders";
    record.partition = 2;
    record.offset = 7;
    record.timestamp_ms = kNow;
    record.value = bytes("a\tb");
    record.headers = {{"trace", bytes("x")}, {"none", std::nullopt}};
    std::string out;
    Template::parse("{topic}-{partition}@{offset} {time} {key}={value}|{value:raw} {headers} {header:trace} {key_size}{{}\\n")->print(record, out);
    QCOMPARE(out, std::string("orders-2@7 2025-11-29T10:00:00.000Z (null)=a\\tb|a\tb trace=x,none=(null) x -1{}\n"));
    QVERIFY(Template::parse("{ofset}").error().detail.find("{offset}") != std::string::npos);
    QVERIFY(!Template::parse("{offset"));
    const auto pattern = Pattern::make("^a.c$");
    QVERIFY(pattern && pattern->found_in("abc") && !pattern->found_in("xabc") && !pattern->found_in(""));
    QVERIFY(!Pattern::make("a(b"));
  }
  // The same key in another place, by client: case 18 of the public cases. The vectors are those of the reports.
  void keysByClient() {
    const std::tuple<const char*, int, int> crc32[] = {{"TT0124", 15, 9},
                                                       {"354afe16-939a-4ea8-8e17-8bb0840b6886", 10, 9},
                                                       {"f562ac3b-2224-4e25-a0ab-56094e10c239", 10, 6},
                                                       {"fd7af248-ce5c-46a5-93d7-1c0c9005b99d", 32, 23}};
    for (const auto& [key, partitions, expected] : crc32) {
      QCOMPARE(partition_crc32(as_bytes(key), partitions), expected);
      QCOMPARE(Partitioner::make("crc32", partitions)->choose(bytes(key)), expected);
    }
    QVERIFY(!Partitioner::make("murmur2", 3));
    QCOMPARE(partition_fnv1a(as_bytes(""), 7), -static_cast<std::int32_t>(2166136261U) % 7);
    auto round_robin = *Partitioner::make("round-robin", 2);
    QVERIFY(round_robin.choose({}) != round_robin.choose({}));
  }
  // Every command has a description and every command without nested ones an example that names it.
  void everyCommandShowsAnExample() {
    Common common;
    CLI::App cli;
    build(cli, common);
    int seen = 0;
    const std::function<void(const CLI::App*, const std::string&)> look = [&](const CLI::App* app, const std::string& path) {
      const auto below = app->get_subcommands([](const CLI::App*) { return true; });
      QVERIFY2(!app->get_description().empty(), path.c_str());
      for (const CLI::App* next : below) {
        look(next, path + " " + next->get_name());
      }
      if (below.empty()) {
        ++seen;
        const std::string words = path.substr(3);
        QVERIFY2(app->get_footer().find(words.substr(words.rfind(' ') + 1)) != std::string::npos, path.c_str());
        for (const CLI::Option* option : app->get_options()) {
          QVERIFY2(!option->get_description().empty(), (path + " " + option->get_name()).c_str());
        }
      }
    };
    look(&cli, "hw");
    QVERIFY(seen >= 25);
  }
};

QTEST_GUILESS_MAIN(TestHwParts)
#include "tst_hw_parts.moc"
