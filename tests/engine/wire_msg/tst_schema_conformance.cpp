// SPDX-License-Identifier: Apache-2.0
// Our schemas against the reference descriptions of Kafka 4.4, where these are at hand: the folder `shared` that
// HIGHWATER_SHARED names, or ../shared beside the sources. Without it the test is skipped and says so.
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTest>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/wire/msg/apis.h"
#include "engine/wire/msg/messages.h"
#include "engine/wire/runtime/error_code.h"
#include "engine/wire/schemagen/check.h"
#include "engine/wire/schemagen/parser.h"

using hw::schemagen::Field;
using hw::schemagen::Message;
using hw::schemagen::Range;
using hw::schemagen::Struct;

namespace {

QString shared_folder() {
  const QString named = qEnvironmentVariable("HIGHWATER_SHARED");
  return named.isEmpty() ? QString(HIGHWATER_SOURCE_DIR) + "/../shared" : named;
}

// The descriptions have comments, and some a comma too many. No text in them contains what looks like either.
QJsonObject load(const QString& path, QString& error) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) {
    error = path + ": " + file.errorString();
    return {};
  }
  QString text = QString::fromUtf8(file.readAll());
  text.remove(QRegularExpression(R"(/\*.*?\*/)", QRegularExpression::DotMatchesEverythingOption));
  text.remove(QRegularExpression(R"(^\s*//.*$)", QRegularExpression::MultilineOption));
  text.remove(QRegularExpression(R"((?<=[,{}\[\]"0-9])\s*//[^"\n]*$)", QRegularExpression::MultilineOption));
  text.replace(QRegularExpression(R"(,(\s*[}\]]))"), "\\1");
  QJsonParseError parse;
  const QJsonDocument document = QJsonDocument::fromJson(text.toUtf8(), &parse);
  if (document.isNull()) {
    error = path + ": " + parse.errorString();
  }
  return document.object();
}

std::string string_of(const QJsonObject& object, const char* key, const char* otherwise = "") {
  return object.contains(key) ? object[key].toString().toStdString() : otherwise;
}

// A default may be written as text, number, truth value or null.
std::optional<std::string> default_of(const QJsonObject& object) {
  if (!object.contains("default")) {
    return std::nullopt;
  }
  const QJsonValue value = object["default"];
  if (value.isNull()) {
    return "null";
  }
  if (value.isBool()) {
    return value.toBool() ? "true" : "false";
  }
  return value.isDouble() ? std::to_string(value.toInteger()) : value.toString().toStdString();
}

class Comparison {
 public:
  explicit Comparison(const Message& ours) : ours_(ours) {}
  std::vector<std::string> wrong;
  int fields = 0;

  void run(const QJsonObject& theirs) {
    expect(text(ours_.valid), string_of(theirs, "validVersions"), ours_.name + " valid");
    const std::string flexible =
        ours_.flexible_from == hw::schemagen::kOpen ? "none" : std::to_string(ours_.flexible_from) + "+";
    expect(flexible, string_of(theirs, "flexibleVersions", "none"), ours_.name + " flexible");
    expect(std::to_string(ours_.key), theirs.contains("apiKey") ? std::to_string(theirs["apiKey"].toInt()) : "-1",
           ours_.name + " key");
    std::string kind(hw::schemagen::text(ours_.kind));
    std::ranges::replace(kind, '_', '-');
    expect(kind, string_of(theirs, "type", "data"), ours_.name + " type");
    if (ours_.kind == hw::schemagen::Kind::request) {
      const QJsonArray listeners = theirs["listeners"].toArray();
      expect(ours_.broker_listener, listeners.contains("broker"), ours_.name + " broker listener");
      expect(ours_.controller_listener, listeners.contains("controller"), ours_.name + " controller listener");
      expect(ours_.latest_unstable, theirs["latestVersionUnstable"].toBool(), ours_.name + " latest unstable");
    }
    compare(ours_.root, theirs["fields"].toArray(), ours_.name);
    std::size_t shared = 0;
    for (const QJsonValue& each : theirs["commonStructs"].toArray()) {
      const QJsonObject object = each.toObject();
      const Struct* mine = ours_.find(string_of(object, "name"));
      if (mine == nullptr) {
        wrong.push_back(ours_.name + ": struct " + string_of(object, "name") + " is missing");
        continue;
      }
      expect(mine->shared, true, ours_.name + "." + mine->name + " shared");
      expect(text(mine->versions), string_of(object, "versions"), ours_.name + "." + mine->name + " versions");
      compare(*mine, object["fields"].toArray(), ours_.name + "." + mine->name);
      ++shared;
    }
    const auto ours_shared = std::ranges::count_if(ours_.structs, [](const Struct& each) { return each.shared; });
    expect(std::to_string(ours_shared), std::to_string(shared), ours_.name + " shared structs");
  }

 private:
  void expect(const std::string& mine, const std::string& theirs, const std::string& what) {
    if (mine != theirs) {
      wrong.push_back(what + ": '" + mine + "', reference '" + theirs + "'");
    }
  }
  void expect(bool mine, bool theirs, const std::string& what) {
    expect(std::string(mine ? "yes" : "no"), std::string(theirs ? "yes" : "no"), what);
  }

  void compare(const Struct& mine, const QJsonArray& theirs, const std::string& where) {
    expect(std::to_string(mine.fields.size()), std::to_string(theirs.size()), where + " fields");
    for (qsizetype i = 0; i < theirs.size() && i < static_cast<qsizetype>(mine.fields.size()); ++i) {
      compare(mine.fields[static_cast<std::size_t>(i)], theirs[i].toObject(), where);
    }
  }

  void compare(const Field& mine, const QJsonObject& theirs, const std::string& parent) {
    ++fields;
    const std::string where = parent + "." + mine.name;
    expect(mine.name, hw::schemagen::snake_case(string_of(theirs, "name")), where + " name");
    std::string type = mine.array ? "[]" : "";
    type += mine.scalar == nullptr ? mine.type : wire_name(mine);
    expect(type, string_of(theirs, "type"), where + " type");
    const std::string versions = string_of(theirs, "versions", string_of(theirs, "taggedVersions").c_str());
    expect(text(mine.versions), versions, where + " versions");
    expect(text(mine.nullable), string_of(theirs, "nullableVersions", "none"), where + " nullable versions");
    expect(mine.tag < 0 ? "none" : text(mine.versions), string_of(theirs, "taggedVersions", "none"), where + " tagged versions");
    expect(std::to_string(mine.tag), theirs.contains("tag") ? std::to_string(theirs["tag"].toInt()) : "-1", where + " tag");
    expect(mine.has_default ? mine.default_text : "-", default_of(theirs).value_or("-"), where + " default");
    expect(mine.ignorable, theirs["ignorable"].toBool() || string_of(theirs, "ignorable") == "true", where + " ignorable");
    expect(mine.map_key, theirs["mapKey"].toBool(), where + " map key");
    expect(mine.zero_copy, theirs["zeroCopy"].toBool(), where + " zero copy");
    expect(mine.never_compact, string_of(theirs, "flexibleVersions") == "none", where + " never compact");
    compare_entity(mine, string_of(theirs, "entityType"), where);
    if (theirs.contains("fields")) {
      const Struct* inner = ours_.find(mine.type);
      if (inner == nullptr || inner->shared) {
        wrong.push_back(where + ": struct " + mine.type + " is not written in place");
      } else {
        compare(*inner, theirs["fields"].toArray(), ours_.name + "." + inner->name);
      }
    }
  }

  static std::string wire_name(const Field& mine) {
    return mine.scalar->wire == "boolean" ? "bool" : std::string(mine.scalar->wire);
  }

  // Where the reference says what a value stands for, our type says so too.
  void compare_entity(const Field& mine, const std::string& entity, const std::string& where) {
    static const std::map<std::string, std::string> kTypes{{"brokerId", "BrokerId"},
                                                           {"producerId", "ProducerId"},
                                                           {"groupId", "GroupId"},
                                                           {"topicName", "TopicName"},
                                                           {"transactionalId", "TransactionalId"}};
    if (!entity.empty()) {
      const auto found = kTypes.find(entity);
      expect(mine.type, found == kTypes.end() ? "?" : found->second, where + " entity type");
    }
  }

  const Message& ours_;
};

}  // namespace

class TestSchemaConformance : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() {
    if (!QDir(shared_folder() + "/reference/messages-4.4.0").exists()) {
      QSKIP("no reference: set HIGHWATER_SHARED or put the folder 'shared' beside the sources");
    }
  }
  void everyFieldIsAsInTheReference() {
    hw::schemagen::Errors errors;
    hw::schemagen::Schema schema = hw::schemagen::parse_folder(QString(HIGHWATER_SOURCE_DIR).toStdString() + "/engine/wire/schema", errors);
    hw::schemagen::check(schema, errors);
    QCOMPARE(errors, hw::schemagen::Errors());
    std::map<std::string, const Message*> ours;
    for (const Message& message : schema.messages) {
      ours[message.name] = &message;
    }
    std::vector<std::string> wrong;
    std::size_t compared = 0;
    int fields = 0;
    QStringList files;
    for (const char* folder : {"messages-4.4.0", "records-4.4.0"}) {
      QDirIterator walk(shared_folder() + "/reference/" + folder, {"*.json"}, QDir::Files, QDirIterator::Subdirectories);
      while (walk.hasNext()) {
        files << walk.next();
      }
    }
    files.sort();
    for (const QString& file : files) {
      QString error;
      const QJsonObject theirs = load(file, error);
      QVERIFY2(error.isEmpty(), qPrintable(error));
      if (string_of(theirs, "validVersions") == "none") {
        continue;  // removed from Kafka
      }
      const auto found = ours.find(string_of(theirs, "name"));
      if (found == ours.end()) {
        wrong.push_back(string_of(theirs, "name") + " is missing");
        continue;
      }
      Comparison comparison(*found->second);
      comparison.run(theirs);
      wrong.insert(wrong.end(), comparison.wrong.begin(), comparison.wrong.end());
      fields += comparison.fields;
      ++compared;
    }
    for (const std::string& each : wrong) {
      qWarning("%s", each.c_str());
    }
    qInfo("%zu messages, %d fields compared", compared, fields);
    QVERIFY(wrong.empty());
    QCOMPARE(compared, schema.messages.size());
    QVERIFY(compared > 270 && fields > 2000);
  }
  void advertisedRangesAreThoseOfTheBroker() {
    QFile file(shared_folder() + "/conformance/golden-single.tsv");
    if (!file.open(QIODevice::ReadOnly)) {
      QSKIP("no golden answers");
    }
    QJsonObject apis;
    while (!file.atEnd()) {
      const QByteArray line = file.readLine();
      if (line.startsWith("apiversions_of_the_broker_listener\t")) {
        apis = QJsonDocument::fromJson(line.mid(line.indexOf('\t') + 1)).object()["apis"].toObject();
      }
    }
    QVERIFY(apis.size() > 60);
    for (auto it = apis.begin(); it != apis.end(); ++it) {
      const hw::wire::ApiInfo* api = hw::wire::find_api(static_cast<std::int16_t>(it.key().toInt()));
      QVERIFY2(api != nullptr, qPrintable(it.key()));
      QVERIFY2(api->broker_listener, api->name);
      QCOMPARE(int{api->advertised_lowest}, it.value()[0].toInt());
      QCOMPARE(int{api->advertised_highest}, it.value()[1].toInt());
    }
  }
  void errorCodesAreThoseOfTheReference() {
    QFile file(shared_folder() + "/reference/errors-4.4.0.tsv");
    if (!file.open(QIODevice::ReadOnly)) {
      QSKIP("no list of errors");
    }
    std::size_t rows = 0;
    while (!file.atEnd()) {
      const QList<QByteArray> cells = file.readLine().split('\t');
      if (cells.size() < 3) {
        continue;
      }
      const auto code = static_cast<hw::wire::ErrorCode>(cells[0].toInt());
      const hw::wire::ErrorInfo* info = hw::wire::find_error(code);
      QVERIFY2(info != nullptr, cells[1].constData());
      QCOMPARE(std::string(info->name), cells[1].toStdString());
      QCOMPARE(info->retriable, cells[2] == "retriable");
      ++rows;
    }
    QCOMPARE(rows, hw::wire::all_errors().size());
  }
};

QTEST_APPLESS_MAIN(TestSchemaConformance)
#include "tst_schema_conformance.moc"
