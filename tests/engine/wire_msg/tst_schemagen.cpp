// SPDX-License-Identifier: Apache-2.0
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/wire/schemagen/check.h"
#include "engine/wire/schemagen/emit.h"
#include "engine/wire/schemagen/parser.h"

using namespace hw::schemagen;  // NOLINT(google-build-using-namespace): a test

namespace {

constexpr const char* kHead = "api Echo key 5 valid 0-3 flexible 2+ listeners broker\n";

Schema parse(const std::string& text, Errors& errors) {
  Schema schema;
  parse_text(text, "echo.schema", schema, errors);
  if (errors.empty()) {
    check(schema, errors);
  }
  return schema;
}
// The first error of an API with this request.
std::string error_of(const std::string& request) {
  Errors errors;
  parse(kHead + std::string("request\n") + request + "response\n", errors);
  return errors.empty() ? std::string() : errors.front();
}
std::string evolution(const std::string& before, const std::string& after) {
  Errors errors;
  const Schema old_schema = parse(before, errors);
  const Schema new_schema = parse(after, errors);
  if (!errors.empty()) {
    return "not valid: " + errors.front();
  }
  check_evolution(old_schema, new_schema, errors);
  return errors.empty() ? std::string() : errors.front();
}
std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

class TestSchemagen : public QObject {
  Q_OBJECT
 private slots:
  void parsesAllThatTheLanguageHas() {
    Errors errors;
    const Schema schema = parse(
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// Says it again.\n"
        "api Echo key 5 valid 1-3 advertised 0-2 flexible 2+ listeners broker controller latest_unstable\n"
        "\n"
        "request\n"
        "  // Who speaks.\n"
        "  speaker_id BrokerId = -1 0+ ignorable\n"
        "  words []Word? = null 1+ mapkey\n"
        "    text string?2+ 1+  // what was said\n"
        "    weight int32 = 0x10 3+ tag 0\n"
        "  extra Extra? 2-3\n"
        "\n"
        "  struct Extra 2+\n"
        "    blob bytes 2+ zerocopy sensitive\n"
        "response\n"
        "  client string = \"none\" 0+ never_compact\n",
        errors);
    QCOMPARE(errors, Errors());
    QCOMPARE(schema.messages.size(), std::size_t{2});
    const Message& request = schema.messages[0];
    QCOMPARE(request.name, std::string("EchoRequest"));
    QCOMPARE(request.header, std::string("echo"));
    QCOMPARE(request.doc, std::vector<std::string>{"Says it again."});
    QCOMPARE(request.key, 5);
    QVERIFY(request.valid == (Range{1, 3}) && request.advertised == (Range{0, 2}));
    QVERIFY(request.broker_listener && request.controller_listener && request.latest_unstable);
    QCOMPARE(request.flexible_from, 2);
    QCOMPARE(request.root.fields.size(), std::size_t{3});
    const Field& speaker = request.root.fields[0];
    QCOMPARE(speaker.doc, std::vector<std::string>{"Who speaks."});
    QVERIFY(speaker.ignorable && speaker.has_default && !speaker.is_nullable());
    QCOMPARE(speaker.default_text, std::string("-1"));
    const Field& words = request.root.fields[1];
    QVERIFY(words.array && words.map_key && words.default_is_null() && words.nullable == (Range{1, kOpen}));
    const Struct* word = request.find("Word");
    QVERIFY(word != nullptr && !word->shared && word->versions == (Range{1, kOpen}));
    QVERIFY(word->fields[0].nullable == (Range{2, kOpen}));
    QCOMPARE(word->fields[0].doc, std::vector<std::string>{"what was said"});
    QCOMPARE(word->fields[1].tag, 0);
    const Struct* extra = request.find("Extra");
    QVERIFY(extra->shared && extra->fields[0].zero_copy && extra->fields[0].sensitive);
    QVERIFY(schema.messages[1].root.fields[0].never_compact);
    QCOMPARE(schema.messages[1].root.fields[0].default_text, std::string("none"));
  }
  void errorsNameFileAndLine_data() {
    QTest::addColumn<QString>("request");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* name, const char* request, const char* expected) {
      QTest::newRow(name) << QString(request) << QString(expected);
    };
    row("fine", "  a int32 0+\n", "");
    row("no versions", "  a int32\n", "echo.schema:3: a field is written");
    row("bad versions", "  a int32 x+\n", "echo.schema:3: 'x+' is no range");
    row("descending versions", "  a int32 3-1\n", "echo.schema:3: '3-1' is no range");
    row("bad name", "  aB int32 0+\n", "echo.schema:3: 'aB' is no field name");
    row("unknown type", "  a int33 0+\n", "echo.schema:3: 'int33' is no type");
    row("undefined struct", "  a []Thing 0+\n", "echo.schema:3: struct 'Thing' is not defined");
    row("unknown attribute", "  a int32 0+ shiny\n", "echo.schema:3: 'shiny' is no attribute");
    row("tab", "\ta int32 0+\n", "echo.schema:3: a tab");
    row("odd", "   a int32 0+\n", "echo.schema:3: an odd indentation");
    row("too deep", "  a int32 0+\n      b int32 0+\n", "echo.schema:4: indented deeper");
    row("fields below a number", "  a int32 0+\n    b int32 0+\n", "echo.schema:4: indented deeper");
    row("twice", "  a int32 0+\n  a int32 0+\n", "echo.schema:4: field 'a' is there twice");
    row("struct twice", "  a T 0+\n    x int8 0+\n  b T 0+\n    x int8 0+\n", "echo.schema:6: struct 'T' is defined twice");
    row("never there", "  a int32 4+\n", "echo.schema:3: 'a' is in no version");
    row("too long", "  a int32 0-4\n", "echo.schema:3: 'a' ends above");
    row("number null", "  a int32? 0+\n", "echo.schema:3: 'a' cannot be null");
    row("null default", "  a string = null 0+\n", "echo.schema:3: the default of 'a' is null");
    row("bool default", "  a bool = 1 0+\n", "echo.schema:3: the default '1' does not fit bool");
    row("wide default", "  a int8 = 128 0+\n", "echo.schema:3: the default '128' does not fit int8");
    row("low default", "  a uint16 = -1 0+\n", "echo.schema:3: the default '-1' does not fit uint16");
    row("least default", "  a int8 = -128 0+\n", "");
    row("uuid default", "  a uuid = 0 0+\n", "echo.schema:3: the default '0' does not fit uuid");
    row("array default", "  a []int8 = 1 0+\n", "echo.schema:3: the only default of an array");
    row("tag gap", "  a int8 2+ tag 1\n", "echo.schema:2: tags of 'EchoRequest' are not contiguous: 1");
    row("tag twice", "  a int8 2+ tag 0\n  b int8 2+ tag 0\n", "echo.schema:4: tag 0 is there twice");
    row("tag too early", "  a int8 1+ tag 0\n", "echo.schema:3: 'a' has a tag in a version that is not flexible");
    row("tagged records", "  a records 2+ tag 0\n", "echo.schema:3: records cannot be tagged");
    row("cycle", "  a A 0+\n\n  struct A 0+\n    b []B 0+\n\n  struct B 0+\n    a []A 0+\n",
        "echo.schema:5: struct 'A' contains itself");
    row("bad keyword", "request\n", "echo.schema:3: 'request' does not belong here");
  }
  void errorsNameFileAndLine() {
    QFETCH(QString, request);
    QFETCH(QString, expected);
    const std::string error = error_of(request.toStdString());
    QVERIFY2(expected.isEmpty() ? error.empty() : error.starts_with(expected.toStdString()), error.c_str());
  }
  void headsAreChecked() {
    const auto first = [](const std::string& text) {
      Errors errors;
      parse(text, errors);
      return errors.empty() ? std::string() : errors.front();
    };
    QCOMPARE(first(""), std::string("echo.schema:0: no message in this file"));
    QCOMPARE(first("data Thing flexible 0+\n"), std::string("echo.schema:1: a message needs 'valid'"));
    QCOMPARE(first("api Echo valid 0 listeners broker\n"), std::string("echo.schema:1: an api needs 'key'"));
    QCOMPARE(first("api Echo key 1 valid 0\n"), std::string("echo.schema:1: an api needs 'listeners'"));
    QCOMPARE(first("data Thing valid 0+\n"), std::string("echo.schema:1: valid versions need an end"));
    QCOMPARE(first("data Thing valid 0 colour red\n"), std::string("echo.schema:1: 'colour' is not known here"));
    QCOMPARE(first("thing Thing valid 0\n"), std::string("echo.schema:1: 'thing' begins no message"));
    QCOMPARE(first("data A valid 0\ndata B valid 0\n"), std::string("echo.schema:2: a second message in one file"));
    QCOMPARE(first("  a int32 0+\n"), std::string("echo.schema:1: a field before any message"));
  }
  void namesAndKeysAreUnique() {
    Errors errors;
    Schema schema;
    parse_text("api A key 1 valid 0 listeners broker\nrequest\nresponse\n", "a.schema", schema, errors);
    parse_text("api B key 1 valid 0 listeners broker\nrequest\nresponse\n", "b.schema", schema, errors);
    parse_text("data BRequest valid 0\n", "c.schema", schema, errors);
    check(schema, errors);
    QCOMPARE(errors, (Errors{"b.schema:1: key 1 is also in a.schema", "c.schema:1: 'BRequest' is also in b.schema"}));
  }
  void structsComeAfterThoseThatTheyUse() {
    Errors errors;
    const Schema schema = parse(std::string(kHead) +
                                    "request\n  a A 0+\n\n  struct A 0+\n    b []B 0+\n\n"
                                    "  struct B 0+\n    c C? 0+\n\n  struct C 0+\n    x int8 0+\nresponse\n",
                                errors);
    QCOMPARE(errors, Errors());
    std::string order;
    for (const Struct& each : schema.messages[0].structs) {
      order += each.name;
    }
    QCOMPARE(order, std::string("CBA"));
  }
  void snakeCase() {
    QCOMPARE(snake_case("TransactionalId"), std::string("transactional_id"));
    QCOMPARE(snake_case("LogAppendTimeMs"), std::string("log_append_time_ms"));
    QCOMPARE(snake_case("ISR"), std::string("isr"));
    QCOMPARE(snake_case("ISRNodes"), std::string("isr_nodes"));
    QCOMPARE(snake_case("KRaftVersionRecord"), std::string("k_raft_version_record"));
    QCOMPARE(snake_case("already_snake"), std::string("already_snake"));
    QCOMPARE(snake_case("prevTasks"), std::string("prev_tasks"));
  }
  void whatMayChange() {
    const std::string v1 = "data D valid 0-1 flexible 1+\n  a int32 0+\n  b string? 1+\n  c int8 1+ tag 0\n";
    const std::string body = "  a int32 0+\n  b string? 1+\n  c int8 1+ tag 0\n";
    QCOMPARE(evolution(v1, v1), std::string());
    QCOMPARE(evolution(v1, "data D valid 0-2 flexible 1+\n" + body + "  d int8 2+\n  e int8 1+ tag 1\n"), std::string());
    QCOMPARE(evolution(v1, "data D valid 1 flexible 1+\n" + body),
             std::string("echo.schema:1: 'D' gave up versions: 0-1 became 1"));
    QCOMPARE(evolution(v1, "data D valid 0-1 flexible 0+\n" + body),
             std::string("echo.schema:1: 'D' changed in which versions it is flexible"));
    QCOMPARE(evolution(v1, "data D valid 0-1 flexible 1+\n  a int64 0+\n  b string? 1+\n  c int8 1+ tag 0\n"),
             std::string("echo.schema:2: 'a' changed its type"));
    QCOMPARE(evolution(v1, "data D valid 0-1 flexible 1+\n  a int32 0+\n  b string 1+\n  c int8 1+ tag 0\n"),
             std::string("echo.schema:3: 'b' changed whether it may be null in version 1"));
    QCOMPARE(evolution(v1, "data D valid 0-1 flexible 1+\n  a int32 0\n  b string? 1+\n  c int8 1+ tag 0\n"),
             std::string("echo.schema:2: 'a' changed whether it is in version 1"));
    QCOMPARE(evolution(v1, "data D valid 0-1 flexible 1+\n  a int32 0+\n  b string? 1+\n  d int8 1+ tag 0\n"),
             std::string("echo.schema:1: 'c' is gone from 'D'"));
    QCOMPARE(evolution(v1, "data D valid 0-1 flexible 1+\n" + body + "  d int8 1+\n"),
             std::string("echo.schema:5: 'd' is new, but in a version that exists already"));
    QCOMPARE(evolution(v1, "data E valid 0\n"), std::string("echo.schema:1: 'D' is gone"));
  }
  void ourSchemasAreValidAndGiveTheSameOutputTwice() {
    Errors errors;
    Schema schema = parse_folder(HIGHWATER_SCHEMAS, errors);
    check(schema, errors);
    QCOMPARE(errors, Errors());
    QTemporaryDir one;
    QTemporaryDir two;
    emit_all(schema, one.path().toStdString(), errors);
    emit_all(schema, two.path().toStdString(), errors);
    QCOMPARE(errors, Errors());
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(one.path().toStdString())) {
      const std::string name = entry.path().filename().string();
      QVERIFY2(content(entry.path()) == content(std::filesystem::path(two.path().toStdString()) / name), name.c_str());
      ++files;
    }
    QVERIFY(files > 190);
    // A file that did not change is not written again, so nothing is rebuilt.
    const auto header = std::filesystem::path(one.path().toStdString()) / "fetch.h";
    const auto before = std::filesystem::last_write_time(header) - std::chrono::hours(1);
    std::filesystem::last_write_time(header, before);
    emit_all(schema, one.path().toStdString(), errors);
    QVERIFY(std::filesystem::last_write_time(header) == before);
  }
  void filesAreNamedAfterTheirMessage() {
    QTemporaryDir folder;
    const auto path = std::filesystem::path(folder.path().toStdString()) / "wrong.schema";
    std::ofstream(path) << "data RightName valid 0\n";
    Errors errors;
    Schema schema = parse_folder(folder.path().toStdString(), errors);
    QCOMPARE(errors, Errors{path.string() + ":1: the file should be named right_name.schema"});
    Errors none;
    (void)parse_folder(folder.filePath("nowhere").toStdString(), none);
    QCOMPARE(none.size(), std::size_t{1});
  }
};

QTEST_APPLESS_MAIN(TestSchemagen)
#include "tst_schemagen.moc"
