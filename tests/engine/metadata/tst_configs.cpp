// SPDX-License-Identifier: Apache-2.0
#include <QtCore/QDir>
#include <QtCore/QDirIterator>
#include <QtCore/QFile>
#include <QtCore/QJsonArray>
#include <QtCore/QJsonDocument>
#include <QtCore/QJsonObject>
#include <QtCore/QRegularExpression>
#include <QtTest/QTest>

#include <algorithm>
#include <map>
#include <set>

#include "engine/metadata/configs.h"
#include "engine/metadata/image/image_builder.h"
#include "tests/engine/metadata/metadata_fixture.h"

using namespace hw;
using namespace hw::metadata;
using namespace hw::metadata::test;

namespace {

constexpr BrokerId kNode{1};

std::string value_of(std::string_view key, std::string_view text) {
  const ConfigDef* def = find_topic_config(key);
  const Result<std::string> value = parse_config_value(*def, text);
  return value ? *value : "error";
}

const ConfigValue* find(const std::vector<ConfigValue>& values, std::string_view name) {
  const auto at = std::find_if(values.begin(), values.end(), [&](const ConfigValue& v) { return v.name == name; });
  return at == values.end() ? nullptr : &*at;
}

// "name=value@source name=value@source …"
std::string places(const ConfigValue& value) {
  std::string text;
  for (const ConfigValue::Synonym& s : value.synonyms) {
    text += (text.empty() ? "" : " ") + s.name + "=" + s.value.value_or("null") + "@" +
            std::to_string(static_cast<int>(s.source));
  }
  return text;
}

MetadataImage image_with(const std::vector<Record>& records) {
  ImageBuilder builder;
  std::int64_t offset = 0;
  for (const Record& record : records) {
    HW_ASSERT(builder.replay(record, Offset(offset++), 1).has_value(), "the test's records replay");
  }
  return *builder.publish().image;
}

Record broker_config(const std::string& id, const std::string& key, const std::string& value) {
  wire::ConfigRecord record;
  record.resource_type = 4;
  record.resource_name = id;
  record.name = key;
  record.value = value;
  return Record(record);
}

BrokerConfigs statics(const std::map<std::string, std::string>& configs) {
  return BrokerConfigs::parse(configs).value_or(BrokerConfigs{});
}

std::optional<std::string> topic_error(const std::map<std::string, std::optional<std::string>, std::less<>>& configs) {
  return topic_configs_error(configs, MetadataImage{}, BrokerConfigs{}, kNode);
}

}  // namespace

class TestConfigs : public QObject {
  Q_OBJECT
 private slots:
  void the_table_is_sorted_and_whole();
  void every_key_has_a_text_of_its_own();
  void the_table_agrees_with_the_reference();
  void every_default_is_valid();
  void values_are_normalised_data();
  void values_are_normalised();
  void bad_values_are_refused_data();
  void bad_values_are_refused();
  void topics_refuse_what_kafka_refuses();
  void defaults_of_a_topic();
  void a_topics_own_value_wins();
  void precedence_of_the_layers();
  void static_hours_become_milliseconds();
  void what_create_topics_answers();
  void broker_configs_are_typed();
  void a_broker_describes_itself();
  void groups_and_client_metrics_are_described();
  void cluster_wide_defaults_are_described();
  void the_table_says_what_the_code_does();
  void effective_values_for_the_log();
};

void TestConfigs::the_table_is_sorted_and_whole() {
  for (const std::span<const ConfigDef> defs :
       {topic_config_defs(), broker_config_defs(), group_config_defs(), client_metrics_config_defs()}) {
    QVERIFY(std::is_sorted(defs.begin(), defs.end(), [](const auto& a, const auto& b) { return a.name < b.name; }));
  }
  QCOMPARE(topic_config_defs().size(), std::size_t{38});
  for (const ConfigDef& def : topic_config_defs()) {
    for (const ConfigSynonym& synonym : def.synonyms) {
      QVERIFY2(find_broker_config(synonym.name) != nullptr, std::string(synonym.name).c_str());
    }
  }
  QVERIFY(find_topic_config("no.such") == nullptr);
}

void TestConfigs::every_key_has_a_text_of_its_own() {
  const std::string_view without = " Highwater takes this key without effect so far.";
  const std::string_view refused = " Not supported yet: Highwater does not start with it, so that nobody relies on it.";
  for (const std::span<const ConfigDef> defs : {topic_config_defs(), broker_config_defs(), group_config_defs(),
                                                client_metrics_config_defs(), replication_quota_config_defs()}) {
    std::map<std::string_view, std::string_view> seen;  // by text
    for (const ConfigDef& def : defs) {
      const std::string name(def.name);
      std::string_view text = def.documentation;
      QVERIFY2(text.ends_with(without) == (def.effect == ConfigEffect::none), name.c_str());
      QVERIFY2(text.ends_with(refused) == (def.effect == ConfigEffect::guards), name.c_str());
      text.remove_suffix(def.effect == ConfigEffect::none ? without.size() : def.effect == ConfigEffect::guards ? refused.size() : 0);
      QVERIFY2(text.size() >= 20 && text.size() <= 300, name.c_str());
      QVERIFY2(text.ends_with('.') && text.front() != ' ' && text.find("  ") == std::string_view::npos, name.c_str());
      const auto [other, fresh] = seen.emplace(text, def.name);
      QVERIFY2(fresh, (name + " and " + std::string(other->second)).c_str());
      // A duration or size without its unit helps nobody.
      const bool unit_named = !def.name.ends_with(".ms") || text.find(" ms") != std::string_view::npos || defs.data() != broker_config_defs().data();
      QVERIFY2(unit_named, name.c_str());
    }
  }
}

namespace {

struct Source {
  QString path;
  QString text;
};

// The sources of a folder, without the files that only know rules about keys: what is valid, what may be changed.
std::vector<Source> sources_of(const QString& folder) {
  const QString root = QStringLiteral(HIGHWATER_SOURCE_DIR "/");
  std::vector<Source> all;
  QDirIterator files(root + folder, {QStringLiteral("*.cpp"), QStringLiteral("*.h")}, QDir::Files, QDirIterator::Subdirectories);
  while (files.hasNext()) {
    const QString path = files.next();
    const QString name = path.mid(root.size());
    const bool rules = name.startsWith(QStringLiteral("engine/metadata/config_")) && !name.endsWith(QStringLiteral("config_effects.cpp"));
    if (rules || name.startsWith(QStringLiteral("engine/sim/"))) {
      continue;
    }
    QFile file(path);
    if (file.open(QIODevice::ReadOnly)) {
      all.push_back({name, QString::fromUtf8(file.readAll())});
    }
  }
  return all;
}

// Every key whose value is taken somewhere: number("key"), take(properties, "key") and the like, also over a line's end.
std::set<QString> keys_read(const std::vector<Source>& sources) {
  static const QRegularExpression reader(
      QStringLiteral(R"((?<!parsed\.)\b(?:number|flag|text|list|value|take|find|find_in|int32|int64|replicas)\(\s*(?:[a-z_]+,\s*)?\"([a-z0-9]+(?:\.[a-z0-9_]+)*)\")"));
  std::set<QString> keys;
  for (const Source& source : sources) {
    for (auto at = reader.globalMatch(source.text); at.hasNext();) {
      keys.insert(at.next().captured(1));
    }
  }
  return keys;
}

// What effective_topic_configs() puts into a field counts only where somebody looks at the field: TopicConfigs itself, the copy for
// the log and the log's own parser of keys are nobody.
std::set<QString> topic_keys_nobody_heeds(const std::vector<Source>& sources) {
  static const QRegularExpression assignment(QStringLiteral(R"rx(result\.([a-z_0-9]+) = [^;]*?\("([a-z.]+)"\))rx"));
  std::set<QString> unheeded;
  for (const Source& source : sources) {
    if (source.path != QStringLiteral("engine/metadata/configs.cpp")) {
      continue;
    }
    for (auto at = assignment.globalMatch(source.text); at.hasNext();) {
      const QRegularExpressionMatch match = at.next();
      const QRegularExpression use(QStringLiteral("\\b%1\\b").arg(match.captured(1)));
      const bool heeded = std::any_of(sources.begin(), sources.end(), [&](const Source& other) {
        if (other.path.endsWith(QStringLiteral(".h")) || other.path == source.path || other.path.endsWith(QStringLiteral("topic_settings.cpp"))) {
          return false;
        }
        const QStringList lines = other.text.split(QLatin1Char('\n'));
        return std::any_of(lines.begin(), lines.end(), [&](const QString& line) {
          return !line.contains(QStringLiteral("return read_")) && !line.contains(QStringLiteral("key ==")) && line.contains(use);
        });
      });
      if (!heeded && match.captured(1) != QStringLiteral("log_append_time")) {  // the log has another name for it
        unheeded.insert(match.captured(2));
      }
    }
  }
  return unheeded;
}

}  // namespace

// The table says of each key whether it does anything here, and the daemon and the window repeat it. So that it stays true: a key
// works if and only if some code takes its value.
void TestConfigs::the_table_says_what_the_code_does() {
  std::vector<Source> sources = sources_of(QStringLiteral("engine"));
  for (Source& source : sources_of(QStringLiteral("app/common"))) {
    sources.push_back(std::move(source));
  }
  QVERIFY(sources.size() > 200);
  std::set<QString> read = keys_read(sources);
  QVERIFY(read.contains(QStringLiteral("broker.session.timeout.ms")) && read.contains(QStringLiteral("retention.ms")));
  // Defaults of topics, set for the broker: they work where the topic's key does.
  const std::set<QString> unheeded = topic_keys_nobody_heeds(sources);
  QVERIFY(!unheeded.contains(QStringLiteral("retention.ms")));
  for (const QString& key : {QStringLiteral("unclean.leader.election.enable")}) {
    QVERIFY(read.contains(key));  // elections look at it by its name
  }
  QStringList wrong;
  for (const ConfigDef& def : topic_config_defs()) {
    const QString name = QString::fromUtf8(def.name.data(), static_cast<qsizetype>(def.name.size()));
    const bool by_elections = name == QStringLiteral("unclean.leader.election.enable");
    const bool works = read.contains(name) && (by_elections || !unheeded.contains(name));
    if (def.effect != ConfigEffect::guards && works != (def.effect == ConfigEffect::works)) {
      wrong << QStringLiteral("topic key %1 %2").arg(name, works ? QStringLiteral("works") : QStringLiteral("has no effect"));
    }
    for (const ConfigSynonym& synonym : def.synonyms) {
      const QString broker = QString::fromUtf8(synonym.name.data(), static_cast<qsizetype>(synonym.name.size()));
      works ? static_cast<void>(read.insert(broker)) : static_cast<void>(read.erase(broker));
    }
  }
  // Bounds of what groups may set for themselves are looked up under names that are put together.
  static const QRegularExpression bound(QStringLiteral(R"(^group\.(consumer|share|streams)\.(min|max)\.)"));
  for (const ConfigDef& def : broker_config_defs()) {
    const QString name = QString::fromUtf8(def.name.data(), static_cast<qsizetype>(def.name.size()));
    const bool works = read.contains(name) || (name.contains(bound) && def.effect == ConfigEffect::works);
    if (def.effect != ConfigEffect::guards && works != (def.effect == ConfigEffect::works)) {
      wrong << QStringLiteral("broker key %1 %2").arg(name, works ? QStringLiteral("works") : QStringLiteral("has no effect"));
    }
  }
  QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(QStringLiteral("; "))));
}

void TestConfigs::the_table_agrees_with_the_reference() {
  const QString named = qEnvironmentVariable("HIGHWATER_SHARED");
  QFile file((named.isEmpty() ? QStringLiteral(HIGHWATER_SOURCE_DIR "/../shared") : named) +
             QStringLiteral("/reference/configs-4.4.0.json"));
  if (!file.open(QIODevice::ReadOnly)) {
    QSKIP("the reference is not at hand");
  }
  const QJsonArray all = QJsonDocument::fromJson(file.readAll()).array();
  QVERIFY(!all.isEmpty());
  const std::map<QString, ConfigType> types = {
      {"BOOLEAN", ConfigType::boolean}, {"STRING", ConfigType::string},     {"INT", ConfigType::int32},
      {"SHORT", ConfigType::int16},     {"LONG", ConfigType::int64},        {"DOUBLE", ConfigType::float64},
      {"LIST", ConfigType::list},       {"CLASS", ConfigType::class_name},  {"PASSWORD", ConfigType::password}};
  std::size_t topics = 0;
  std::size_t brokers = 0;
  std::size_t groups = 0;
  std::size_t client_metrics = 0;
  for (const QJsonValue& item : all) {
    const QJsonObject key = item.toObject();
    const QString scope = key["scope"].toString();
    const std::string name = key["name"].toString().toStdString();
    const ConfigDef* def = nullptr;
    if (scope == "topic") {
      ++topics;
      def = find_topic_config(name);
    } else if (scope == "broker") {
      ++brokers;
      def = find_broker_config(name);
    } else if (scope == "group") {
      ++groups;
      def = find_group_config(name);
    } else if (scope == "client-metrics") {
      ++client_metrics;
      def = find_client_metrics_config(name);
    } else {
      continue;
    }
    QVERIFY2(def != nullptr, name.c_str());
    QVERIFY2(def->type == types.at(key["type"].toString()), name.c_str());
    QVERIFY2(def->has_default == !key["default"].isNull(), name.c_str());
    QVERIFY2(std::string(def->default_value) == key["default"].toString().toStdString(), name.c_str());
    QVERIFY2(std::string(def->range) == key["validator"].toString().toStdString(), name.c_str());
    QVERIFY2(def->internal == key["internal"].toBool(), name.c_str());
    const QString importance = key["importance"].toString();
    QVERIFY2(def->importance == (importance == "HIGH"     ? ConfigImportance::high
                                 : importance == "MEDIUM" ? ConfigImportance::medium
                                                          : ConfigImportance::low),
             name.c_str());
    if (scope == "broker") {
      const QString mode = key["dynamicUpdateMode"].toString();
      QVERIFY2(def->update_mode == (mode == "read-only"    ? ConfigUpdateMode::read_only
                                    : mode == "per-broker" ? ConfigUpdateMode::per_broker
                                                           : ConfigUpdateMode::cluster_wide),
               name.c_str());
    } else if (scope == "group") {
      const std::string broker_key = key["brokerSynonyms"].toString().toStdString();
      QVERIFY2(broker_key.empty() ? def->synonyms.empty() : def->synonyms.front().name == broker_key, name.c_str());
    } else if (scope == "topic") {
      const QJsonArray synonyms = key["brokerSynonyms"].toArray();
      QVERIFY2(def->synonyms.size() == static_cast<std::size_t>(synonyms.size()), name.c_str());
      for (int i = 0; i < synonyms.size(); ++i) {
        QVERIFY2(def->synonyms[static_cast<std::size_t>(i)].name == synonyms[i].toString().toStdString(), name.c_str());
      }
    }
  }
  QCOMPARE(topics, topic_config_defs().size());
  QCOMPARE(brokers, broker_config_defs().size());
  QCOMPARE(groups, group_config_defs().size());
  QCOMPARE(client_metrics, client_metrics_config_defs().size());
}

void TestConfigs::every_default_is_valid() {
  for (const std::span<const ConfigDef> defs :
       {topic_config_defs(), broker_config_defs(), group_config_defs(), client_metrics_config_defs()}) {
    for (const ConfigDef& def : defs) {
      if (def.has_default && def.range != "non-empty list") {  // empty by default, but nobody may say so
        const Result<std::string> value = parse_config_value(def, def.default_value);
        QVERIFY2(value.has_value(), value ? "" : value.error().detail.c_str());
        if (def.type != ConfigType::list) {
          QVERIFY2(*value == def.default_value, std::string(def.name).c_str());
        }
      }
    }
  }
}

void TestConfigs::values_are_normalised_data() {
  QTest::addColumn<QString>("key");
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("expected");
  QTest::newRow("blanks of a list") << "cleanup.policy" << " compact , delete " << "compact,delete";
  QTest::newRow("a list names an item once") << "cleanup.policy" << "delete,delete" << "delete";
  QTest::newRow("an empty list") << "cleanup.policy" << " " << "";
  QTest::newRow("case of a boolean") << "preallocate" << "TRUE" << "true";
  QTest::newRow("blanks of a number") << "segment.bytes" << " 2000000 " << "2000000";
  QTest::newRow("plus sign") << "retention.bytes" << "+5" << "5";
  QTest::newRow("double with exponent") << "min.cleanable.dirty.ratio" << "1e-1" << "0.1";
  QTest::newRow("double with suffix") << "min.cleanable.dirty.ratio" << "0.1f" << "0.1";
  QTest::newRow("whole double") << "min.cleanable.dirty.ratio" << "1" << "1.0";
  QTest::newRow("small double") << "min.cleanable.dirty.ratio" << "0.00025" << "2.5E-4";
  QTest::newRow("or -1") << "compression.gzip.level" << "-1" << "-1";
  QTest::newRow("lower bound") << "segment.bytes" << "1048576" << "1048576";
  QTest::newRow("negative lower bound") << "compression.zstd.level" << "-131072" << "-131072";
  QTest::newRow("all replicas") << "leader.replication.throttled.replicas" << "*" << "*";
  QTest::newRow("some replicas") << "leader.replication.throttled.replicas" << "0:1,1:1" << "0:1,1:1";
  QTest::newRow("longest") << "flush.ms" << "9223372036854775807" << "9223372036854775807";
}
void TestConfigs::values_are_normalised() {
  QFETCH(QString, key);
  QFETCH(QString, text);
  QFETCH(QString, expected);
  QCOMPARE(value_of(key.toStdString(), text.toStdString()), expected.toStdString());
}

void TestConfigs::bad_values_are_refused_data() {
  QTest::addColumn<QString>("key");
  QTest::addColumn<QString>("text");
  const std::pair<const char*, const char*> rows[] = {
      {"retention.ms", "abc"}, {"retention.ms", ""}, {"retention.ms", "-2"}, {"retention.ms", "9223372036854775808"},
      {"retention.bytes", "0x5"}, {"retention.bytes", "+-5"}, {"segment.bytes", "1000"}, {"segment.bytes", "2000000.0"},
      {"segment.bytes", "99999999999"}, {"cleanup.policy", "delete,nope"}, {"cleanup.policy", "delete,,compact"},
      {"preallocate", "yes"}, {"compression.type", "GZIP"}, {"compression.type", "none"}, {"compression.type", ""},
      {"message.timestamp.type", "logappendtime"}, {"compression.gzip.level", "0"}, {"compression.gzip.level", "10"},
      {"min.cleanable.dirty.ratio", "1.5"}, {"min.cleanable.dirty.ratio", "-0.1"}, {"min.cleanable.dirty.ratio", "abc"},
      {"min.cleanable.dirty.ratio", "nan"}, {"leader.replication.throttled.replicas", "x"},
      {"follower.replication.throttled.replicas", "a:b"}, {"follower.replication.throttled.replicas", "*,1:1"},
      {"compression.zstd.level", "23"}, {"compression.lz4.level", "18"}, {"max.decompressed.message.bytes", "0"},
      {"max.decompressed.message.bytes", "2147483640"}, {"local.retention.ms", "-3"}, {"segment.index.bytes", "3"},
      {"min.insync.replicas", "0"}};
  for (const auto& [key, text] : rows) {
    QTest::addRow("%s=%s", key, text) << key << text;
  }
}
void TestConfigs::bad_values_are_refused() {
  QFETCH(QString, key);
  QFETCH(QString, text);
  QCOMPARE(value_of(key.toStdString(), text.toStdString()), std::string("error"));
  const std::optional<std::string> why = topic_error({{key.toStdString(), text.toStdString()}});
  QVERIFY(why.has_value());
  QVERIFY2(why->find(key.toStdString()) != std::string::npos, why->c_str());  // says which key
}

void TestConfigs::topics_refuse_what_kafka_refuses() {
  QVERIFY(!topic_error({}));
  QVERIFY(!topic_error({{"retention.ms", "1"}, {"internal.segment.bytes", "1000"}}));
  QVERIFY(topic_error({{"no.such", "1"}}));
  QVERIFY(topic_error({{"message.format.version", "3.0"}}));
  QVERIFY(topic_error({{"", "x"}}));
  QVERIFY(topic_error({{"retention.ms", std::nullopt}}));
  QVERIFY(topic_error({{"retention.ms", std::string(32'768, '1')}}));
  QVERIFY(topic_error({{"remote.storage.enable", "true"}}));
  QVERIFY(!topic_error({{"remote.storage.enable", "false"}}));
  QVERIFY(topic_error({{"min.compaction.lag.ms", "100"}, {"max.compaction.lag.ms", "10"}}));
  // Also against what the topic inherits.
  QVERIFY(topic_configs_error({{"max.compaction.lag.ms", "10"}}, MetadataImage{},
                              statics({{"log.cleaner.min.compaction.lag.ms", "11"}}), kNode));
}

void TestConfigs::defaults_of_a_topic() {
  const std::vector<ConfigValue> values = describe_topic_configs(nullptr, MetadataImage{}, BrokerConfigs{}, kNode);
  QCOMPARE(values.size(), std::size_t{37});
  QVERIFY(find(values, "internal.segment.bytes") == nullptr);
  for (const ConfigValue& value : values) {
    QVERIFY(value.source == ConfigSource::default_value);
    QVERIFY(!value.read_only);
  }
  QCOMPARE(*find(values, "retention.ms")->value, std::string("604800000"));
  QCOMPARE(places(*find(values, "retention.ms")), std::string());
  QCOMPARE(places(*find(values, "segment.bytes")), std::string("log.segment.bytes=1073741824@5"));
  QCOMPARE(places(*find(values, "flush.ms")), std::string());
  QCOMPARE(places(*find(values, "remote.storage.enable")), std::string());
}

void TestConfigs::a_topics_own_value_wins() {
  const ConfigMap own = {{"cleanup.policy", " compact , delete "}, {"retention.ms", "1000"}, {"internal.segment.bytes", "9"}};
  const std::vector<ConfigValue> values = describe_topic_configs(&own, MetadataImage{}, BrokerConfigs{}, kNode);
  QCOMPARE(values.size(), std::size_t{38});
  QCOMPARE(*find(values, "cleanup.policy")->value, std::string("compact,delete"));
  QVERIFY(find(values, "cleanup.policy")->source == ConfigSource::topic);
  QCOMPARE(places(*find(values, "cleanup.policy")),
           std::string("cleanup.policy=compact,delete@1 log.cleanup.policy=delete@5"));
  QCOMPARE(places(*find(values, "retention.ms")), std::string("retention.ms=1000@1"));
}

void TestConfigs::precedence_of_the_layers() {
  const BrokerConfigs file = statics({{"log.retention.ms", "4"}, {"log.retention.hours", "7"}});
  const auto retention = [&](const std::vector<Record>& records, const ConfigMap* own) {
    return *find(describe_topic_configs(own, image_with(records), file, kNode), "retention.ms");
  };
  const Record of_cluster = broker_config("", "log.retention.ms", "3");
  const Record of_broker = broker_config("1", "log.retention.ms", "2");
  const ConfigMap own = {{"retention.ms", "1"}};

  QCOMPARE(*retention({}, nullptr).value, std::string("4"));
  QCOMPARE(places(retention({}, nullptr)),
           std::string("log.retention.ms=4@4 log.retention.hours=7@4 log.retention.hours=168@5"));
  QCOMPARE(*retention({of_cluster}, nullptr).value, std::string("3"));
  QVERIFY(retention({of_cluster}, nullptr).source == ConfigSource::dynamic_default_broker);
  QCOMPARE(*retention({of_cluster, of_broker}, nullptr).value, std::string("2"));
  QCOMPARE(*retention({of_cluster, of_broker}, &own).value, std::string("1"));
  QCOMPARE(places(retention({of_cluster, of_broker}, &own)),
           std::string("retention.ms=1@1 log.retention.ms=2@2 log.retention.ms=3@3 log.retention.ms=4@4 "
                       "log.retention.hours=7@4 log.retention.hours=168@5"));
  // What another broker was told does not matter.
  QCOMPARE(*retention({broker_config("2", "log.retention.ms", "9")}, nullptr).value, std::string("4"));
  // As seen on a broker that has a cluster-wide default and nothing in its file.
  QCOMPARE(places(*find(describe_topic_configs(nullptr, image_with({of_cluster}), BrokerConfigs{}, kNode), "retention.ms")),
           std::string("log.retention.ms=3@3 log.retention.hours=168@5"));
}

void TestConfigs::static_hours_become_milliseconds() {
  const auto retention = [](const std::map<std::string, std::string>& file) {
    return *find(describe_topic_configs(nullptr, MetadataImage{}, statics(file), kNode), "retention.ms")->value;
  };
  QCOMPARE(retention({{"log.retention.hours", "2"}}), std::string("7200000"));
  QCOMPARE(retention({{"log.retention.hours", "2"}, {"log.retention.minutes", "3"}}), std::string("180000"));
  QCOMPARE(retention({{"log.retention.hours", "-1"}}), std::string("-1"));
  QCOMPARE(*find(describe_topic_configs(nullptr, MetadataImage{}, statics({{"log.roll.hours", "1"}}), kNode), "segment.ms")->value,
           std::string("3600000"));
}

void TestConfigs::what_create_topics_answers() {
  const ConfigMap own = {{"retention.ms", " 7 "}};
  const std::vector<ConfigValue> values =
      created_topic_configs(own, image_with({broker_config("", "min.insync.replicas", "1")}), BrokerConfigs{}, kNode);
  QCOMPARE(values.size(), std::size_t{37});
  QCOMPARE(*find(values, "retention.ms")->value, std::string(" 7 "));  // as it was given
  QVERIFY(find(values, "retention.ms")->source == ConfigSource::topic);
  QVERIFY(find(values, "min.insync.replicas")->source == ConfigSource::dynamic_default_broker);
  QVERIFY(find(values, "segment.ms")->source == ConfigSource::default_value);
  QCOMPARE(created_topic_configs({{"internal.segment.bytes", "1000"}}, MetadataImage{}, BrokerConfigs{}, kNode).size(),
           std::size_t{38});
}

void TestConfigs::broker_configs_are_typed() {
  const BrokerConfigs none;
  QCOMPARE(none.number("num.partitions"), 1);
  QCOMPARE(none.number("offsets.topic.num.partitions"), 50);
  QVERIFY(none.flag("auto.create.topics.enable"));
  QCOMPARE(none.number("log.retention.ms"), 604'800'000);  // through log.retention.hours
  const BrokerConfigs some = statics({{"num.partitions", " 6 "}, {"auto.create.topics.enable", "False"}, {"my.plugin", "x"}});
  QCOMPARE(some.number("num.partitions"), 6);
  QVERIFY(!some.flag("auto.create.topics.enable"));
  QVERIFY(*some.find("my.plugin") == "x");
  QVERIFY(some.find("log.dirs") == nullptr);
  QVERIFY((none.list("group.coordinator.rebalance.protocols") == std::vector<std::string>{"classic", "consumer", "streams"}));
  const Result<BrokerConfigs> bad = BrokerConfigs::parse({{"num.partitions", "0"}});
  QVERIFY(!bad);
  QVERIFY(bad.error().detail.find("num.partitions") != std::string::npos);
  const Result<BrokerConfigs> torn =
      BrokerConfigs::parse({{"group.min.session.timeout.ms", "9"}, {"group.max.session.timeout.ms", "8"}});
  QVERIFY(!torn && torn.error().detail.find("group.max.session.timeout.ms") != std::string::npos);
}

void TestConfigs::a_broker_describes_itself() {
  const BrokerConfigs file =
      statics(BrokerConfigs::with_identity({{"ssl.keystore.password", "secret"}, {"my.plugin", "secret"}}, kNode, "localhost", 9092, "/d"));
  const std::vector<ConfigValue> values = describe_broker_configs(MetadataImage{}, file, kNode);
  QCOMPARE(values.size(), std::size_t{351});  // 350 that are not internal, and the plug-in's
  const ConfigValue* partitions = find(values, "num.partitions");
  QCOMPARE(*partitions->value, std::string("1"));
  QVERIFY(partitions->read_only);
  QCOMPARE(places(*partitions), std::string("num.partitions=1@5"));
  const ConfigValue* retention = find(values, "log.retention.ms");
  QVERIFY(!retention->value.has_value());
  QVERIFY(!retention->read_only);
  QVERIFY(retention->source == ConfigSource::default_value);
  const ConfigValue* password = find(values, "ssl.keystore.password");
  QVERIFY(!password->value.has_value());
  QVERIFY(password->source == ConfigSource::static_broker);
  QVERIFY(!password->synonyms.front().value.has_value());
  QVERIFY(!find(values, "my.plugin")->value.has_value());
  QCOMPARE(places(*find(values, "node.id")), std::string("node.id=1@4"));
  QCOMPARE(places(*find(values, "listeners")),
           std::string("listeners=PLAINTEXT://localhost:9092@4 listeners=PLAINTEXT://:9092@5"));
}

void TestConfigs::groups_and_client_metrics_are_described() {
  const BrokerConfigs file = statics({{"group.share.session.timeout.ms", "46000"}});
  const MetadataImage image = image_with({broker_config("", "group.consumer.assignment.interval.ms", "2000")});
  const ConfigMap own = {{"share.isolation.level", "read_committed"}};
  const std::vector<ConfigValue> values = describe_group_configs(&own, file, image, kNode);
  QCOMPARE(values.size(), std::size_t{21});
  QCOMPARE(places(*find(values, "share.isolation.level")),
           std::string("share.isolation.level=read_committed@8 share.isolation.level=read_uncommitted@5"));
  QCOMPARE(*find(values, "share.session.timeout.ms")->value, std::string("46000"));
  QVERIFY(find(values, "share.session.timeout.ms")->source == ConfigSource::static_broker);
  QCOMPARE(places(*find(values, "consumer.assignment.interval.ms")),
           std::string("group.consumer.assignment.interval.ms=2000@3 group.consumer.assignment.interval.ms=1000@5"));
  QCOMPARE(*find(values, "streams.assignor.name")->value, std::string("sticky"));
  QCOMPARE(places(*find(values, "streams.assignor.name")), std::string("group.streams.assignors=sticky@5"));

  const ConfigMap subscription = {{"metrics", "a.b,c"}};
  const std::vector<ConfigValue> metrics = describe_client_metrics_configs(&subscription);
  QCOMPARE(metrics.size(), std::size_t{3});
  QCOMPARE(*find(metrics, "interval.ms")->value, std::string("300000"));
  QCOMPARE(places(*find(metrics, "metrics")), std::string("metrics=a.b,c@7"));
  QVERIFY(find(metrics, "interval.ms")->source == ConfigSource::default_value);
}

void TestConfigs::cluster_wide_defaults_are_described() {
  QVERIFY(describe_default_broker_configs(MetadataImage{}).empty());
  const std::vector<ConfigValue> values =
      describe_default_broker_configs(image_with({broker_config("", "min.insync.replicas", "1")}));
  QCOMPARE(values.size(), std::size_t{1});
  QCOMPARE(places(values.front()), std::string("min.insync.replicas=1@3"));
  QVERIFY(!values.front().read_only);
}

void TestConfigs::effective_values_for_the_log() {
  const MetadataImage image =
      image_with({topic("a", 1), config("a", "cleanup.policy", "compact,delete"), config("a", "segment.bytes", " 2000000 "),
                  config("a", "message.timestamp.type", "LogAppendTime"), topic("b", 2), config("b", "cleanup.policy", "")});
  const TopicConfigs a = effective_topic_configs("a", image, statics({{"message.max.bytes", "77"}}), kNode);
  QVERIFY(a.cleanup_compact && a.cleanup_delete && a.log_append_time);
  QCOMPARE(a.segment_bytes, 2'000'000);
  QCOMPARE(a.max_message_bytes, 77);
  const TopicConfigs b = effective_topic_configs("b", image, BrokerConfigs{}, kNode);
  QVERIFY(!b.cleanup_compact && !b.cleanup_delete);
  // A topic without values of its own has the defaults that the struct states.
  QVERIFY(effective_topic_configs("none", image, BrokerConfigs{}, kNode) == TopicConfigs{});
}

QTEST_APPLESS_MAIN(TestConfigs)
#include "tst_configs.moc"
