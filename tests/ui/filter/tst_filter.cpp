// SPDX-License-Identifier: Apache-2.0
// The filter language without a window: what is understood, what is refused and where, and what matches.
#include <QDateTime>
#include <QElapsedTimer>
#include <QTest>

#include "ui/filter/filter_language.h"
#include "ui/filter/json_path.h"
#include "ui/filter/record_fields.h"

using namespace hw::ui::filter;  // NOLINT(google-build-using-namespace): a test

namespace {

constexpr std::int64_t kNow = 1'764'417'810'000;  // 2025-11-29 12:03:30 UTC

Options utc() { return {kNow, true}; }

RecordSource record() {
  RecordSource s;
  s.facts.topic = "orders";
  s.facts.partition = 2;
  s.facts.offset = 1'036;
  s.facts.timestamp_ms = kNow + 1'004;
  s.facts.key = "42-tenant";
  s.facts.value = R"({"id":9007199254740993,"amt":12.40,"who":{"name":"Zo\u00eb","tags":["a","b"]},"odd name":null,"ok":true})";
  s.facts.headers = {{"trace", "ab"}, {"trace", "cd"}, {"gone", std::nullopt}};
  s.facts.header_count = 3;
  s.facts.size_bytes = 2'048;
  s.facts.compression = "zstd";
  return s;
}

bool matches(const QString& text, const RecordSource& source) {
  const Parsed parsed = parse(text, *record_vocabulary(), utc());
  if (!parsed.ok()) {
    qWarning("%s: %s", qPrintable(text), qPrintable(parsed.problem->text));
    return false;
  }
  return parsed.program->matches(source);
}

}  // namespace

class TestFilter : public QObject {
  Q_OBJECT

 private slots:
  void matching_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("expected");
    const auto yes = [](const char* text) { QTest::newRow(text) << QString::fromUtf8(text) << true; };
    const auto no = [](const char* text) { QTest::newRow(text) << QString::fromUtf8(text) << false; };
    yes("");
    yes("topic == \"orders\" && key ~ \"^42\" && hdr[\"trace\"] == \"ab\"");
    yes("topic == orders and partition = 2");
    no("topic == \"orders\" && key ~ \"^43\"");
    yes("key ~ \"^\\d+-t\"");
    no("key !~ \"^42\"");
    yes("key ~ \"(?i)TENANT\"");
    yes("key contains \"ten\"");
    yes("key == 42-tenant");
    yes("offset in 1030..1036");
    no("offset in 1037..2000");
    yes("offset in {1, 2, 1036}");
    no("offset not in {1, 1036}");
    yes("offset not in {1, 2}");
    yes("offset >= 1_036");
    yes("offset < 0x500");
    yes("size > 1 KiB");
    no("size > 2KiB");
    yes("size >= 2 KiB");
    yes("size > 1.5 KiB");
    yes("time >= \"12:03 \"");
    yes("time == \"12:03:31\"");
    no("time == \"12:03:30\"");
    yes("time in \"12:03:31\"..\"12:03:31\"");
    yes("time > \"2025-11-29 12:03:30\"");
    no("time > \"2025-11-29 12:03:31\"");
    yes("time <= \"2025-11-29T12:03:31Z\"");
    yes("time >= -5 min");
    no("time < -5 min");
    yes("value.id == 9007199254740993");
    no("value.id == 9007199254740992");
    yes("value.amt == 12.4");
    yes("value.amt > 12");
    yes("value.who.name == \"Zo\xc3\xab\"");
    yes("value.who.tags[1] == b");
    no("value.who.tags[2] exists");
    yes("value[\"odd name\"] is null");
    yes("value.ok == true");
    yes("value.nothing is missing");
    no("value.nothing == 3");
    yes("value.nothing != 3");
    yes("hdr[\"trace\"] == \"cd\"");
    no("hdr[\"trace\"] == \"ef\"");
    yes("hdr[\"trace\"] exists");
    no("hdr[\"other\"] exists");
    yes("exists(hdr[\"trace\"])");
    yes("not exists hdr[\"other\"]");
    yes("hdr[\"other\"] not exists");
    yes("hdr[\"gone\"] is null");
    yes("hdr.trace == ab");
    yes("hdr[\"gone\"] == null");
    no("tombstone");
    yes("!tombstone && not control");
    yes("tombstone == false");
    yes("compression == zstd");
    yes("compression in {\"lz4\", \"zstd\"}");
    yes("not (partition == 3 or partition == 4)");
    yes("partition == 3 || partition == 2 && offset == 1036");
    no("(partition == 3 || partition == 2) && offset == 1");
    yes("TENANT");
    yes("42-tenant");
    yes("\"name\"");
    yes("cd");
    no("tenant-7");
    yes("key is not null");
    no("key is empty");
    no("producer_id in 0..10");
    yes("producer_id == -1");
  }
  void matching() {
    QFETCH(QString, text);
    QFETCH(bool, expected);
    const Parsed parsed = parse(text, *record_vocabulary(), utc());
    QVERIFY2(parsed.ok(), parsed.problem ? qPrintable(parsed.problem->text) : "");
    QCOMPARE(parsed.program->matches(record()), expected);
  }

  void nullIsNotEmpty() {
    RecordSource s = record();
    s.facts.key = std::nullopt;
    s.facts.value = std::nullopt;
    QVERIFY(matches(QStringLiteral("key is null && value is null && tombstone"), s));
    QVERIFY(!matches(QStringLiteral("key is empty"), s));
    QVERIFY(!matches(QStringLiteral("key == \"\""), s));
    s.facts.key = std::string_view();
    s.facts.value = std::string_view();
    QVERIFY(matches(QStringLiteral("key is empty && key == \"\" && value is empty"), s));
    QVERIFY(!matches(QStringLiteral("key is null"), s));
    QVERIFY(!matches(QStringLiteral("tombstone"), s));
  }

  void problems_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("begin");
    QTest::addColumn<int>("end");
    QTest::addColumn<bool>("incomplete");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* text, int begin, int end, bool incomplete, const char* words) {
      QTest::newRow(text) << QString::fromUtf8(text) << begin << end << incomplete << QString::fromUtf8(words);
    };
    row("kye == 3", 0, 3, false, "unknown field kye, did you mean key?");
    row("partition == 1 && kye ~ \"a\"", 18, 21, false, "did you mean key");
    row("key ==", 6, 6, true, "needs a value after ==");
    row("key", 3, 3, true, "needs an operator after key");
    row("key == \"a\" &&", 13, 13, true, "needs a condition after &&");
    row("key == \"a", 9, 9, true, "quotation mark");
    row("(key == \"a\"", 11, 11, true, "closing )");
    row("offset in 10..", 14, 14, true, "end of the range");
    row("offset in 10", 12, 12, true, "end of the range");
    row("offset in {1, 2", 15, 15, true, "closing }");
    row("offset ~ \"4\"", 7, 8, false, "offset is a number");
    row("offset == \"a\"", 10, 13, false, "offset needs a number");
    row("offset > 1 KiB", 11, 14, false, "offset needs a number");
    row("size > 1 KiX", 9, 12, false, "expected && or ||");
    row("time > \"25:99\"", 7, 14, false, "not a time");
    row("key ~ \"(\"", 6, 9, false, "not a regular expression");
    row("compression == zst", 15, 18, false, "did you mean zstd");
    row("hdr == 3", 0, 3, false, "needs a name");
    row("key == 3 key == 4", 9, 12, false, "expected && or ||");
    row("partition.x == 3", 10, 11, false, "has no parts");
    row("== 3", 0, 2, false, "expected a field");
    row("offset > 99999999999999999999", 9, 29, false, "too large");
    row("key == 3 &", 9, 10, false, "expected && or ||");
  }
  void problems() {
    QFETCH(QString, text);
    QFETCH(int, begin);
    QFETCH(int, end);
    QFETCH(bool, incomplete);
    QFETCH(QString, words);
    const Parsed parsed = parse(text, *record_vocabulary(), utc());
    QVERIFY(!parsed.ok());
    QVERIFY2(parsed.problem->text.contains(words), qPrintable(parsed.problem->text));
    QCOMPARE(parsed.problem->begin, begin);
    QCOMPARE(parsed.problem->end, end);
    QCOMPARE(parsed.problem->incomplete, incomplete);
  }

  // Any prefix of a valid filter, and any text at all, is answered; nothing crashes and nothing is both or neither.
  void everyPrefixIsAnswered() {
    const QString text = QStringLiteral("not (topic == \"or\\\"ders\" && key !~ '^4(2|3)$') || hdr[\"a\"] exists and value.a[3].b-c in {1, -2.5, null} "
                                        "and time in \"12:03\"..-5 min");
    for (int i = 0; i <= text.size(); ++i) {
      const Parsed parsed = parse(text.left(i), *record_vocabulary(), utc());
      QVERIFY(parsed.ok() != parsed.problem.has_value());
      int last = 0;
      for (const Token& token : parsed.tokens) {
        QVERIFY(token.begin >= last && token.end > token.begin && token.end <= i);
        last = token.end;
      }
      (void)suggest(text, i, *record_vocabulary());
    }
    QVERIFY(parse(text, *record_vocabulary(), utc()).ok());
    std::uint32_t seed = 1;
    const QString signs = QStringLiteral("key offset hdr value . .. [ ] ( ) { } == ~ ! && \" ' \\ 1 - , KiB in is null not exists \u00e4 # ");
    const QStringList words = signs.split(QLatin1Char(' '));
    for (int round = 0; round < 3'000; ++round) {
      QString mixed;
      for (int i = 0; i < 12; ++i) {
        seed = seed * 1'664'525U + 1'013'904'223U;
        mixed += words[static_cast<int>((seed >> 16) % static_cast<unsigned>(words.size()))];
        if ((seed >> 8) % 3 == 0) {
          mixed += QLatin1Char(' ');
        }
      }
      const Parsed parsed = parse(mixed, *record_vocabulary(), utc());
      QVERIFY(parsed.ok() != parsed.problem.has_value());
      if (parsed.ok()) {
        (void)parsed.program->matches(record());
        (void)parsed.program->possible(static_cast<int>(RecordField::offset), 0, 5);
      }
    }
  }

  void depthIsBounded() {
    QVERIFY(!parse(QString(10'000, QLatin1Char('(')), *record_vocabulary()).ok());
    QVERIFY(!parse(QString(10'000, QLatin1Char('!')) + QStringLiteral("tombstone"), *record_vocabulary()).ok());
    QString many = QStringLiteral("offset == 1");
    for (int i = 0; i < 2'000; ++i) {
      many += QStringLiteral(" || offset == 2");
    }
    QVERIFY(!parse(many, *record_vocabulary()).ok());
  }

  void partsAreConjuncts() {
    const QString text = QStringLiteral("partition == 2 && (key == 1 || key == 2) && !tombstone");
    const Parsed parsed = parse(text, *record_vocabulary());
    QStringList parts;
    for (const Parsed::Part& p : parsed.parts) {
      parts << text.mid(p.begin, p.end - p.begin);
    }
    QCOMPARE(parts, QStringList({QStringLiteral("partition == 2"), QStringLiteral("(key == 1 || key == 2)"), QStringLiteral("!tombstone")}));
    QCOMPARE(parse(QStringLiteral("key == 1 || key == 2"), *record_vocabulary()).parts.size(), 1U);
    QCOMPARE(parse(QStringLiteral("(key == 1 && key == 2)"), *record_vocabulary()).parts.size(), 1U);
    QCOMPARE(joined(QStringLiteral("key == 1 || key == 2"), QStringLiteral("&&"), QStringLiteral("offset == 3"), *record_vocabulary()),
             QStringLiteral("(key == 1 || key == 2) && offset == 3"));
    QCOMPARE(joined(QStringLiteral("key == 1"), QStringLiteral("&&"), QStringLiteral("offset == 3"), *record_vocabulary()),
             QStringLiteral("key == 1 && offset == 3"));
    QCOMPARE(joined(QString(), QStringLiteral("&&"), QStringLiteral("offset == 3"), *record_vocabulary()), QStringLiteral("offset == 3"));
  }

  void rangesAreRuledOut() {
    const auto possible = [](const char* text, RecordField field, std::int64_t low, std::int64_t high) {
      return parse(QString::fromLatin1(text), *record_vocabulary(), utc()).program->possible(static_cast<int>(field), low, high);
    };
    QVERIFY(possible("partition == 2", RecordField::partition, 2, 2));
    QVERIFY(!possible("partition == 2", RecordField::partition, 3, 3));
    QVERIFY(possible("partition != 2", RecordField::partition, 3, 3));
    QVERIFY(!possible("partition != 2", RecordField::partition, 2, 2));
    QVERIFY(!possible("key == 1 && offset in 10..20", RecordField::offset, 21, 99));
    QVERIFY(possible("key == 1 || offset in 10..20", RecordField::offset, 21, 99));
    QVERIFY(possible("offset >= 20", RecordField::offset, 0, 20));
    QVERIFY(!possible("offset > 20", RecordField::offset, 0, 20));
    QVERIFY(!possible("offset in {1, 2}", RecordField::offset, 3, 9));
    QVERIFY(!possible("not (offset < 100)", RecordField::offset, 0, 99));
    QVERIFY(possible("", RecordField::offset, 0, 99));
    QVERIFY(!possible("time >= \"12:03\"", RecordField::time, 0, kNow - 40'000));
    QVERIFY(possible("tenant", RecordField::time, 0, 1));
  }

  void suggestionsFollowTheGrammar() {
    const auto shown = [](const char* text, const ValueProvider& values = {}) {
      QStringList out;
      const Suggestions s = suggest(QString::fromLatin1(text), static_cast<int>(qstrlen(text)), *record_vocabulary(), values);
      for (const Suggestion& one : s.list) {
        out << one.shown;
      }
      return out;
    };
    QVERIFY(shown("").contains(QStringLiteral("key")));
    QCOMPARE(shown("par"), QStringList{QStringLiteral("partition")});
    QVERIFY(shown("key ").contains(QStringLiteral("contains")));
    QVERIFY(!shown("offset ").contains(QStringLiteral("~")));
    QVERIFY(shown("compression == ").contains(QStringLiteral("zstd")));
    QCOMPARE(shown("compression == \"zs"), QStringList{QStringLiteral("zstd")});
    QVERIFY(shown("key == 3 ").contains(QStringLiteral("&&")));
    QVERIFY(shown("key == 3 && ").contains(QStringLiteral("offset")));
    const ValueProvider values = [](const Field& f) {
      return f.name == "hdr[]" ? QStringList{QStringLiteral("trace"), QStringLiteral("retry")}
                               : (f.name == "key" ? QStringList{QStringLiteral("tenant-7"), QStringLiteral("tenant-8")} : QStringList());
    };
    QVERIFY(shown("key == ", values).contains(QStringLiteral("tenant-7")));
    QCOMPARE(shown("key == tenant-8 && hdr[\"t", values), QStringList{QStringLiteral("trace")});
    QVERIFY(shown("kye == 3 ").isEmpty());
    const Suggestions s = suggest(QStringLiteral("key == te"), 9, *record_vocabulary(), values);
    QCOMPARE(s.begin, 7);
    QCOMPARE(s.list.front().insert, QStringLiteral("\"tenant-7\" "));
  }

  void textsAreQuotedBack() {
    for (const QString& text : {QStringLiteral("a\"b\\c"), QStringLiteral("line\nfeed\ttab"), QString(), QStringLiteral("x\\d")}) {
      RecordSource s = record();
      const std::string key = text.toUtf8().toStdString();
      s.facts.key = key;
      QVERIFY2(matches(QStringLiteral("key == ") + quoted(text), s), qPrintable(quoted(text)));
    }
  }

  void jsonPlaces() {
    std::string keep;
    const auto find = [&keep](std::string_view json, std::vector<PathStep> path) { return json_find(json, path, keep); };
    QCOMPARE(find("{\"a\" : [1, {\"b\":\"x\\n\\ud83d\\ude00\"}]}", {{"a"}, {{}, 1}, {"b"}}).text, std::string_view("x\n\xf0\x9f\x98\x80"));
    QCOMPARE(find("[10,20]", {{{}, 1}}).number, 20);
    QVERIFY(find("{\"a\":{}}", {{"a"}, {"b"}}).kind == Datum::Kind::missing);
    QVERIFY(find("{\"a\":-1.5e3}", {{"a"}}).real == -1'500.0);
    QVERIFY(find("", {{"a"}}).kind == Datum::Kind::missing);
    QVERIFY(find("{\"a\":\"unfinished", {{"a"}}).kind == Datum::Kind::missing);
    QVERIFY(find("{\"b\":{\"a\":1},\"a\":2}", {{"a"}}).number == 2);
    QVERIFY(find(std::string(100'000, '['), {{{}, 0}, {"x"}}).kind == Datum::Kind::missing);
    QVERIFY(find("{\"a\":\"\\", {{"b"}}).kind == Datum::Kind::missing);
  }
};

QTEST_GUILESS_MAIN(TestFilter)
#include "tst_filter.moc"
