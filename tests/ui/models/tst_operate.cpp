// SPDX-License-Identifier: Apache-2.0
// The arithmetic below the Topics and Groups pages: what configurations mean and cause, where keys move, what a reset does,
// how a lag is judged, and tables that follow without a reset.
#include <functional>

#include <QSignalSpy>
#include <QTest>

#include "ui/models/broker_config_rules.h"
#include "ui/models/config_effects.h"
#include "ui/models/config_model.h"
#include "ui/models/config_rules.h"
#include "ui/models/group_lag.h"
#include "ui/models/group_model.h"
#include "ui/models/group_why.h"
#include "ui/models/key_moves.h"
#include "ui/models/offset_reset.h"
#include "ui/models/retention_preview.h"
#include "ui/models/row_diff.h"

using namespace hw;      // NOLINT(google-build-using-namespace): a test
using namespace hw::ui;  // NOLINT(google-build-using-namespace): a test

namespace {

ConfigRow config(const char* name, const char* value, ConfigType type, bool own = false, const char* standard = nullptr) {
  ConfigRow row;
  row.name = name;
  row.value = value;
  row.type = type;
  row.source = own ? ConfigSource::topic : ConfigSource::defaults;
  if (own) {
    row.synonyms.push_back({name, row.value, ConfigSource::topic});
  }
  row.synonyms.push_back({std::string("log.") + name, std::string(standard == nullptr ? value : standard), ConfigSource::defaults});
  return row;
}

PartitionSegments partition(std::int32_t index, std::vector<SegmentRow> segments, std::int64_t end) {
  PartitionSegments p;
  p.partition = index;
  p.segments = std::move(segments);
  p.high_watermark = end;
  p.log_end_offset = end;
  return p;
}

// Strings as rows, for the difference alone.
class Letters : public RowDiffModel {
 public:
  std::vector<std::string> rows;
  bool follow(const std::vector<std::string>& wanted) {
    return followRows(
        rows, wanted, [](const std::string& s) -> const std::string& { return s; }, [](const std::string& s) { return s; });
  }
  int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(rows.size()); }
  int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : 1; }
  QVariant data(const QModelIndex& index, int role) const override {
    return role == Qt::DisplayRole ? QString::fromStdString(rows[static_cast<std::size_t>(index.row())]) : QVariant();
  }
};

LagWindow::Sample at(std::int64_t second, std::int64_t committed, std::int64_t end) { return {second * 1000, committed, end}; }

}  // namespace

class TestOperate : public QObject {
  Q_OBJECT

 private slots:
  void valuesAreJudgedWhileTyping_data();
  void valuesAreJudgedWhileTyping();
  void unitsBecomeNumbers();
  void everyTopicKeyIsExplained();
  void editsAreStaged();
  void shorterRetentionNamesWhatGoes();
  void retentionBySizeKeepsTheNewest();
  void aBrokersChangeIsSaidOfItsTopics();
  void allBrokersAreOneWithoutItsOwnValues();
  void whatCountsWithoutAnOwnValueIsToldByABroker();
  void aClassicGroupHearsNothing();
  void keysMove();
  void resetPlans();
  void momentsAreRead();
  void burrowsRules_data();
  void burrowsRules();
  void lagInRecordsLeavesOutWhatIsGone();
  void verdictsFollowTheNumbers_data();
  void verdictsFollowTheNumbers();
  void timeLagFromTheWindow();
  void whyNamesThePartition();
  void aSpreadLagIsToldOfTheGroup();
  void rowsOfGroupsAgree();
  void lagOutlivesItsCoordinator();
  void whatStandsStillIsNamed();
  void oneStatusOfAGroup();
  void rowsFollowWithoutReset();
};

void TestOperate::valuesAreJudgedWhileTyping_data() {
  QTest::addColumn<QString>("key");
  QTest::addColumn<int>("type");
  QTest::addColumn<QString>("text");
  QTest::addColumn<bool>("good");
  const auto add = [](const char* name, const char* key, ConfigType type, const char* text, bool good) {
    QTest::newRow(name) << QString::fromLatin1(key) << static_cast<int>(type) << QString::fromUtf8(text) << good;
  };
  add("number", "retention.ms", ConfigType::int64, "1000", true);
  add("without end", "retention.ms", ConfigType::int64, "-1", true);
  add("too low", "retention.ms", ConfigType::int64, "-2", false);
  add("words", "retention.ms", ConfigType::int64, "soon", false);
  add("with a unit", "retention.ms", ConfigType::int64, "7 d", true);
  add("a floor", "segment.bytes", ConfigType::int32, "1048575", false);
  add("the floor", "segment.bytes", ConfigType::int32, "1 MiB", true);
  add("32 bits", "segment.bytes", ConfigType::int32, "3000000000", false);
  add("64 bits", "retention.bytes", ConfigType::int64, "99999999999999999999", false);
  add("list", "cleanup.policy", ConfigType::list, "compact,delete", true);
  add("unknown item", "cleanup.policy", ConfigType::list, "compact,remove", false);
  add("empty list", "cleanup.policy", ConfigType::list, "", true);
  add("one of", "compression.type", ConfigType::text, "zstd", true);
  add("none of", "compression.type", ConfigType::text, "brotli", false);
  add("boolean", "preallocate", ConfigType::boolean, "TRUE", true);
  add("no boolean", "preallocate", ConfigType::boolean, "yes", false);
  add("ratio", "min.cleanable.dirty.ratio", ConfigType::decimal, "0.3", true);
  add("ratio above one", "min.cleanable.dirty.ratio", ConfigType::decimal, "1.3", false);
  add("fraction", "min.insync.replicas", ConfigType::int32, "1.5", false);
  add("empty number", "min.insync.replicas", ConfigType::int32, "", false);
  add("unknown key", "some.new.key", ConfigType::text, "anything", true);
}

void TestOperate::valuesAreJudgedWhileTyping() {
  QFETCH(QString, key);
  QFETCH(int, type);
  QFETCH(QString, text);
  QFETCH(bool, good);
  const RuleAnswer answer = check_config(key.toStdString(), static_cast<ConfigType>(type), text);
  QCOMPARE(answer.level != RuleAnswer::Level::error, good);
  if (!good && !text.isEmpty()) {
    QVERIFY(!answer.text.isEmpty());
  }
}

void TestOperate::unitsBecomeNumbers() {
  QCOMPARE(config_plain("retention.ms", QStringLiteral("7 d")), QStringLiteral("604800000"));
  QCOMPARE(config_plain("retention.ms", QStringLiteral("1h30m")), QStringLiteral("5400000"));
  QCOMPARE(config_plain("segment.bytes", QStringLiteral("1.5 MiB")), QStringLiteral("1572864"));
  QCOMPARE(config_plain("retention.ms", QStringLiteral("12")), QStringLiteral("12"));
  QCOMPARE(config_plain("cleanup.policy", QStringLiteral(" compact ")), QStringLiteral("compact"));
  QCOMPARE(config_reading("retention.ms", "604800000"), QStringLiteral("7 d"));
  QCOMPARE(config_reading("retention.ms", "-1"), QStringLiteral("for ever"));
  QCOMPARE(config_reading("flush.ms", "9223372036854775807"), QStringLiteral("for ever"));
}

void TestOperate::everyTopicKeyIsExplained() {
  for (const char* key : {"cleanup.policy", "compression.type", "delete.retention.ms", "file.delete.delay.ms", "flush.messages", "flush.ms",
                          "index.interval.bytes", "max.message.bytes", "message.timestamp.type", "min.insync.replicas", "preallocate",
                          "retention.bytes", "retention.ms", "segment.bytes", "segment.index.bytes", "segment.jitter.ms", "segment.ms",
                          "unclean.leader.election.enable", "message.timestamp.after.max.ms", "min.compaction.lag.ms"}) {
    QVERIFY2(!config_doc(key).isEmpty(), key);
  }
  QVERIFY(!config_danger("unclean.leader.election.enable").isEmpty());
  QVERIFY(config_danger("index.interval.bytes").isEmpty());
}

void TestOperate::editsAreStaged() {
  ConfigModel model;
  QSignalSpy staged(&model, &ConfigModel::stagedChanged);
  model.setRows({config("retention.ms", "604800000", ConfigType::int64), config("segment.bytes", "1048576", ConfigType::int32, true, "1073741824"),
                 config("cleanup.policy", "delete", ConfigType::list)});
  QCOMPARE(model.rowCount(), 1);  // only what is not the default
  QCOMPARE(model.stage("retention.ms", QStringLiteral("never")).level, RuleAnswer::Level::error);
  QVERIFY(model.staged().empty());
  QCOMPARE(model.stage("retention.ms", QStringLiteral("1 h")).level, RuleAnswer::Level::ok);
  QCOMPARE(model.rowCount(), 2);
  QCOMPARE(model.data(model.index(model.indexOf("retention.ms"), ConfigModel::value), Qt::DisplayRole).toString(),
           QStringLiteral("604800000 → 3600000"));
  QCOMPARE(model.stage("segment.bytes", std::nullopt).level, RuleAnswer::Level::ok);
  QCOMPARE(model.effective("segment.bytes"), std::string("1073741824"));
  const std::vector<ConfigChange> changes = model.changes();
  QCOMPARE(changes.size(), std::size_t{2});
  const std::vector<ConfigChange> back = model.inverse(changes);
  QCOMPARE(back[0], (ConfigChange{"retention.ms", std::nullopt}));          // it had no value of its own
  QCOMPARE(back[1], (ConfigChange{"segment.bytes", std::string("1048576")}));
  // The value that is there already is no edit.
  QCOMPARE(model.stage("retention.ms", QStringLiteral("604800000")).level, RuleAnswer::Level::ok);
  QCOMPARE(model.staged().size(), std::size_t{1});
  // The broker agrees: nothing is staged any more.
  model.setRows({config("retention.ms", "604800000", ConfigType::int64), config("segment.bytes", "1073741824", ConfigType::int32)});
  QVERIFY(model.staged().empty());
  QVERIFY(staged.count() >= 4);
}

void TestOperate::shorterRetentionNamesWhatGoes() {
  constexpr std::int64_t now = 10'000'000;
  const std::int64_t mib = 1024 * 1024;
  const std::vector<PartitionSegments> log{
      partition(0, {{0, mib, now - 8'000'000}, {100, mib, now - 7'000'000}, {200, mib / 10, now - 1'000}}, 250),
      partition(1, {{0, mib, now - 7'500'000}, {90, 10, now - 500}}, 91)};
  const Deletable week = deletable(log, retention_settings("delete", "604800000", "-1"), now);
  QCOMPARE(week, Deletable{});
  const Deletable hour = deletable(log, retention_settings("delete", "3600000", "-1"), now);
  QCOMPARE(hour, (Deletable{3, 3 * mib, 290, 2}));
  QCOMPARE(deletable(log, retention_settings("compact", "3600000", "-1"), now), Deletable{});
  const std::vector<ChangeEffect> effects =
      change_effects({{"cleanup.policy", "delete"}, {"retention.ms", "604800000"}, {"retention.bytes", "-1"}},
                     {{"cleanup.policy", "delete"}, {"retention.ms", "3600000"}, {"retention.bytes", "-1"}},
                     {{"retention.ms", std::string("3600000")}}, log, 1, now);
  QCOMPARE(effects.size(), std::size_t{1});
  QVERIFY(effects[0].harmful);
  QVERIFY2(effects[0].effect.contains(QStringLiteral("3 segment")) && effects[0].effect.contains(QStringLiteral("3.0 MiB")) &&
               effects[0].effect.contains(QStringLiteral("290 records")),
           qPrintable(effects[0].effect));
  // More replicas wanted than there are.
  const std::vector<ChangeEffect> refused = change_effects({{"min.insync.replicas", "1"}}, {{"min.insync.replicas", "2"}},
                                                           {{"min.insync.replicas", std::string("2")}}, log, 1, now);
  QVERIFY(refused[0].harmful);
}

void TestOperate::retentionBySizeKeepsTheNewest() {
  const std::vector<PartitionSegments> log{partition(0, {{0, 100, 1}, {10, 100, 2}, {20, 100, 3}, {30, 50, 4}}, 40)};
  QCOMPARE(deletable(log, retention_settings("delete", "-1", "250"), 1'000), (Deletable{1, 100, 10, 1}));
  QCOMPARE(deletable(log, retention_settings("delete", "-1", "350"), 1'000), Deletable{});
  // Nothing above the high watermark goes.
  std::vector<PartitionSegments> behind = log;
  behind[0].high_watermark = 5;
  QCOMPARE(deletable(behind, retention_settings("delete", "-1", "0"), 1'000), Deletable{});
}

void TestOperate::aBrokersChangeIsSaidOfItsTopics() {
  const std::int64_t now = 1'700'000'000'000;
  const std::int64_t mib = 1 << 20;
  const std::vector<PartitionSegments> log{partition(0, {{0, mib, now - 10'000'000}, {100, mib, now - 9'000'000}, {200, mib, now}}, 300)};
  const std::vector<InheritingTopic> topics{{"follows", {}, 1, log}, {"own", {{"retention.ms", "-1"}, {"min.insync.replicas", "1"}}, 1, log}};
  const std::map<std::string, std::string> before{{"log.cleanup.policy", "delete"}, {"log.retention.ms", "604800000"}, {"log.retention.bytes", "-1"}};
  std::map<std::string, std::string> after = before;
  after["log.retention.ms"] = "3600000";
  QVERIFY(needs_segments({{"log.retention.ms", std::string("3600000")}}));
  const std::vector<ChangeEffect> shorter = broker_change_effects(before, after, {{"log.retention.ms", std::string("3600000")}}, topics, 2, now);
  QCOMPARE(shorter.size(), std::size_t{1});
  QVERIFY(shorter[0].harmful);
  // Of the topic that follows only: 2 segments, 200 records.
  QVERIFY2(shorter[0].effect.contains(QStringLiteral("1 topic")) && shorter[0].effect.contains(QStringLiteral("2.0 MiB")) &&
               shorter[0].effect.contains(QStringLiteral("200 records")) && !shorter[0].effect.contains(QStringLiteral("looked at")),
           qPrintable(shorter[0].effect));
  QVERIFY(broker_change_effects(before, after, {{"log.retention.ms", std::string("3600000")}}, topics, 1, now)[0].effect.contains(QStringLiteral("looked at")));
  const std::vector<ChangeEffect> least = broker_change_effects({{"min.insync.replicas", "1"}}, {{"min.insync.replicas", "2"}},
                                                                {{"min.insync.replicas", std::string("2")}}, topics, 2, now);
  QVERIFY(least[0].harmful && least[0].effect.contains(QStringLiteral("refused")));
  const std::vector<ChangeEffect> limit = broker_change_effects({{"max.connections", "10"}}, {{"max.connections", "5"}},
                                                                {{"max.connections", std::string("5")}}, topics, 2, now);
  QVERIFY(!limit[0].harmful && limit[0].effect.contains(QStringLiteral("new connections")));
  QCOMPARE(topic_key_of("log.roll.ms"), std::string_view("segment.ms"));
  QVERIFY(topic_key_of("num.io.threads").empty());
  // A broker's key has the unit and the bounds of the topic's.
  QCOMPARE(config_plain("log.retention.ms", QStringLiteral("2 h")), QStringLiteral("7200000"));
  QCOMPARE(check_config("log.segment.bytes", ConfigType::int32, QStringLiteral("1000")).level, RuleAnswer::Level::error);
  QVERIFY(!config_doc("num.io.threads").isEmpty() && !config_doc("consumer.session.timeout.ms").isEmpty());
}

void TestOperate::allBrokersAreOneWithoutItsOwnValues() {
  ConfigRow row;
  row.name = "log.retention.ms";
  row.value = "1";
  row.source = ConfigSource::broker;
  row.synonyms = {{"log.retention.ms", std::string("1"), ConfigSource::broker},
                  {"log.retention.ms", std::string("2"), ConfigSource::all_brokers},
                  {"log.retention.hours", std::string("168"), ConfigSource::defaults}};
  ConfigRow tls;
  tls.name = "ssl.keystore.location";
  ConfigRow file;
  file.name = "num.partitions";
  file.value = "3";
  file.source = ConfigSource::start_file;
  file.synonyms = {{"num.partitions", std::string("3"), ConfigSource::start_file}, {"num.partitions", std::string("1"), ConfigSource::defaults}};
  const std::vector<ConfigRow> common = rows_of_all_brokers({row, tls, file});
  QCOMPARE(common[2].source, ConfigSource::defaults);  // what one broker was started with is not common to all
  QCOMPARE(common[2].value, std::optional<std::string>("1"));
  QCOMPARE(common[0].value, std::optional<std::string>("2"));
  QCOMPARE(common[0].source, ConfigSource::all_brokers);
  QCOMPARE(common[0].synonyms.size(), std::size_t{2});
  QVERIFY(!common[0].read_only && common[1].read_only);
  ConfigModel model;
  model.setOwnSource(ConfigSource::all_brokers);
  model.setRows(common);
  QCOMPARE(model.stage("log.retention.ms", std::nullopt).level, RuleAnswer::Level::ok);  // the common value can be taken away
  QCOMPARE(model.effective("log.retention.ms"), std::string("604800000"));  // 168 h
  QCOMPARE(model.inverse(model.changes()), (std::vector<ConfigChange>{{"log.retention.ms", std::string("2")}}));
  model.setOwnSource(ConfigSource::broker);
  model.setRows({row});
  QCOMPARE(model.inverse({{"log.retention.ms", std::nullopt}}), (std::vector<ConfigChange>{{"log.retention.ms", std::string("1")}}));
}

// Beside a topic's own retention.ms a broker does not list the 168 hours that would count without it.
void TestOperate::whatCountsWithoutAnOwnValueIsToldByABroker() {
  ConfigRow own = config("retention.ms", "3600000", ConfigType::int64, true);
  own.synonyms.resize(1);
  ConfigRow flag = config("remote.storage.enable", "true", ConfigType::boolean, true);
  flag.synonyms.resize(1);
  const auto broker = [](const char* name, std::optional<std::string> value) {
    ConfigRow row;
    row.name = name;
    row.value = std::move(value);
    return row;
  };
  ConfigModel model;
  const auto standard = [&](const char* name) {
    return model.data(model.index(model.indexOf(name), ConfigModel::standard), Qt::DisplayRole).toString();
  };
  model.setRows({own, flag});
  QVERIFY(model.wantsBroker());
  QCOMPARE(standard("retention.ms"), QStringLiteral("–"));
  model.setBroker({broker("log.retention.ms", std::nullopt), broker("log.retention.minutes", std::nullopt), broker("log.retention.hours", "168")});
  QVERIFY(!model.wantsBroker());
  QCOMPARE(standard("retention.ms"), QStringLiteral("604800000"));
  QCOMPARE(standard("remote.storage.enable"), QStringLiteral("false"));
  QCOMPARE(model.stage("retention.ms", std::nullopt).level, RuleAnswer::Level::ok);
  QCOMPARE(model.effective("retention.ms"), std::string("604800000"));
  QCOMPARE(model.data(model.index(model.indexOf("retention.ms"), ConfigModel::value), Qt::DisplayRole).toString(),
           QStringLiteral("3600000 → 604800000"));
  model.setBroker({broker("log.retention.minutes", "10"), broker("log.retention.hours", "168")});
  QCOMPARE(standard("retention.ms"), QStringLiteral("600000"));
  model.setBroker({broker("log.retention.ms", "5000"), broker("log.retention.minutes", "10")});
  QCOMPARE(standard("retention.ms"), QStringLiteral("5000"));
  QCOMPARE(in_unit_of("log.retention.ms", "log.retention.hours", "-1"), std::string("-1"));  // without end
  // A secret of a broker, and what has no default at all.
  ConfigRow place = broker("ssl.keystore.location", "/there");
  place.source = ConfigSource::broker;
  place.synonyms = {{place.name, place.value, ConfigSource::broker}};
  model.setOwnSource(ConfigSource::broker);
  model.setRows({place});
  QCOMPARE(standard("ssl.keystore.location"), QStringLiteral("not set"));
}

void TestOperate::aClassicGroupHearsNothing() {
  const std::vector<ConfigChange> changes{{"consumer.session.timeout.ms", std::string("10000")}};
  QVERIFY(group_change_effects({}, {}, changes, true)[0].effect.contains(QStringLiteral("nothing now")));
  QVERIFY(group_change_effects({}, {}, changes, false)[0].effect.contains(QStringLiteral("heartbeat")));
  QVERIFY(group_change_effects({}, {}, {{"share.session.timeout.ms", std::string("1")}}, false)[0].effect.contains(QStringLiteral("share")));
}

void TestOperate::keysMove() {
  QCOMPARE(expected_move(3, 4), 0.75);
  QCOMPARE(expected_move(3, 6), 0.5);
  KeyCounter counter;
  for (int i = 0; i < 2'000; ++i) {
    counter.add(Bytes::copy_of("key-" + std::to_string(i)));
  }
  counter.add(std::nullopt);
  for (const auto& [then, share] : {std::pair{4, 0.75}, std::pair{6, 0.5}}) {
    const KeyMoves moves = counter.moves(3, then);
    QCOMPARE(moves.keys.size(), std::size_t{2'000});
    QCOMPARE(moves.keyless, std::int64_t{1});
    const double moved = static_cast<double>(moves.moved_keys) / 2'000;
    QVERIFY2(std::abs(moved - share) < 0.04, qPrintable(QString::number(moved)));
    for (const KeyMove& move : moves.keys) {
      QVERIFY(then != 6 || move.to == move.from || move.to == move.from + 3);  // a doubling splits each partition
    }
  }
}

void TestOperate::resetPlans() {
  const std::vector<ResetPart> parts{{{"orders", 0}, 40, 10, 50, 45}, {{"orders", 1}, 5, 10, 50, -1}, {{"orders", 2}, -1, 0, 7, 3}};
  std::vector<ResetRow> plan = plan_reset(parts, {ResetChoice::To::earliest, 0});
  QCOMPARE(plan[0].to, std::int64_t{10});
  QCOMPARE(plan[0].replayed, std::int64_t{30});
  QCOMPARE(plan[0].skipped, std::int64_t{0});
  QCOMPARE(plan[1].replayed, std::int64_t{0});  // what it stood on is gone
  plan = plan_reset(parts, {ResetChoice::To::latest, 0});
  QCOMPARE(plan[0].skipped, std::int64_t{10});
  QCOMPARE(plan[1].skipped, std::int64_t{40});
  QCOMPARE(plan[2].skipped, std::int64_t{7});
  plan = plan_reset(parts, {ResetChoice::To::shift, -100});
  QCOMPARE(plan[0].to, std::int64_t{10});
  QVERIFY(plan[0].clamped);
  plan = plan_reset(parts, {ResetChoice::To::shift, 4});
  QCOMPARE(plan[0].to, std::int64_t{44});
  QVERIFY(!plan[0].clamped);
  plan = plan_reset(parts, {ResetChoice::To::time, 1});
  QCOMPARE(plan[0].to, std::int64_t{45});
  QCOMPARE(plan[1].to, std::int64_t{50});  // no record so late: the end, as Kafka's tool does it
  plan = plan_reset(parts, {ResetChoice::To::offset, 40});
  QVERIFY(!plan[0].changes());
}

void TestOperate::momentsAreRead() {
  const std::int64_t now = QDateTime(QDate(2026, 11, 29), QTime(12, 0)).toMSecsSinceEpoch();
  QCOMPARE(parse_moment(QStringLiteral("15 min ago"), now), std::optional<std::int64_t>(now - 900'000));
  QCOMPARE(parse_moment(QStringLiteral("-2 h"), now), std::optional<std::int64_t>(now - 7'200'000));
  QCOMPARE(parse_moment(QStringLiteral("11:30"), now), std::optional<std::int64_t>(now - 1'800'000));
  QCOMPARE(parse_moment(QStringLiteral("2026-11-29 11:59:30"), now), std::optional<std::int64_t>(now - 30'000));
  QVERIFY(!parse_moment(QStringLiteral("yesterday"), now));
  QVERIFY(!parse_moment(QString(), now));
}

void TestOperate::burrowsRules_data() {
  QTest::addColumn<QList<QList<qint64>>>("samples");  // second, committed, end; the last is now
  QTest::addColumn<qint64>("committed_at");           // second
  QTest::addColumn<bool>("members");
  QTest::addColumn<int>("status");
  using Samples = QList<QList<qint64>>;
  QTest::newRow("all read") << Samples{{0, 5, 5}, {5, 9, 9}, {10, 12, 12}} << qint64{10} << true << static_cast<int>(LagStatus::ok);
  QTest::newRow("once all read") << Samples{{0, 5, 5}, {5, 5, 9}, {10, 5, 12}, {15, 5, 20}} << qint64{15} << true << static_cast<int>(LagStatus::ok);
  QTest::newRow("went back") << Samples{{0, 50, 90}, {5, 60, 95}, {10, 10, 99}, {15, 20, 99}} << qint64{15} << true << static_cast<int>(LagStatus::rewound);
  QTest::newRow("silent") << Samples{{0, 5, 9}, {40, 5, 12}, {80, 5, 20}, {90, 5, 30}} << qint64{10} << true << static_cast<int>(LagStatus::stopped);
  QTest::newRow("nobody there") << Samples{{0, 5, 9}, {5, 5, 9}} << qint64{5} << false << static_cast<int>(LagStatus::stopped);
  QTest::newRow("stands still") << Samples{{0, 5, 9}, {5, 5, 12}, {10, 5, 15}, {45, 5, 20}} << qint64{45} << true
                                << static_cast<int>(LagStatus::stalled);
  QTest::newRow("its first batch") << Samples{{0, 5, 9}, {5, 5, 12}, {10, 5, 15}, {15, 5, 20}} << qint64{15} << true
                                   << static_cast<int>(LagStatus::measuring);
  QTest::newRow("never less") << Samples{{0, 5, 9}, {15, 6, 22}, {30, 7, 35}, {50, 8, 50}} << qint64{50} << true << static_cast<int>(LagStatus::slow);
  QTest::newRow("sometimes less") << Samples{{0, 5, 9}, {5, 8, 10}, {10, 9, 15}, {15, 10, 20}} << qint64{15} << true << static_cast<int>(LagStatus::ok);
  Samples grows;  // a commit of five records every 25 s, one record a second arrives
  for (qint64 i = 0; i <= 12; ++i) {
    grows << QList<qint64>{5 * i, 5 + 5 * (i / 5), 9 + 5 * i};
  }
  QTest::newRow("grows in steps") << grows << qint64{60} << true << static_cast<int>(LagStatus::slow);
  Samples level;  // all of them, every 25 s
  for (qint64 i = 0; i <= 12; ++i) {
    level << QList<qint64>{5 * i, 5 + 25 * (i / 5), 9 + 5 * i};
  }
  QTest::newRow("rises and falls") << level << qint64{60} << true << static_cast<int>(LagStatus::ok);
  QTest::newRow("too early to say") << Samples{{0, 5, 9}, {1, 5, 9}} << qint64{0} << true << static_cast<int>(LagStatus::measuring);
}

void TestOperate::burrowsRules() {
  QFETCH(QList<QList<qint64>>, samples);
  QFETCH(qint64, committed_at);
  QFETCH(bool, members);
  QFETCH(int, status);
  LagWindow window;
  for (int i = 0; i + 1 < samples.size(); ++i) {
    window.add(at(samples[i][0], samples[i][1], samples[i][2]));
  }
  const auto& now = samples.last();
  QCOMPARE(static_cast<int>(window.judge(at(now[0], now[1], now[2]), committed_at * 1000, members)), status);
}

// Second by second: what is judged of a group, and that it is not judged otherwise a moment later.
void TestOperate::verdictsFollowTheNumbers_data() {
  using Series = std::function<std::pair<qint64, qint64>(qint64)>;  // second → committed, end
  QTest::addColumn<Series>("series");
  QTest::addColumn<QStringList>("verdicts");
  const auto arrives = [](qint64 t) { return 10 + t * 3 / 2; };
  for (qint64 phase = 0; phase < 5; ++phase) {
    // Each commit, every 5 s, leaves one record behind: what a consumer holds that has just polled.
    QTest::addRow("keeps up, %d s after a sample", static_cast<int>(phase))
        << Series([=](qint64 t) { return std::pair(arrives((t - phase + 5) / 5 * 5 - 5 + phase) - 1, arrives(t)); })
        << QStringList{"measuring", "ok"};
  }
  QTest::newRow("too slow, in batches of 50") << Series([](qint64 t) { return std::pair(10 + t / 50 * 50, 30 + t * 5 / 2); })
                                              << QStringList{"measuring", "stalled", "slow"};
  QTest::newRow("too slow, record by record") << Series([](qint64 t) { return std::pair(10 + t, 100 + t * 5 / 2); })
                                              << QStringList{"measuring", "slow"};
  QTest::newRow("as fast as it comes, far behind") << Series([](qint64 t) { return std::pair(10 + t, 100 + t); }) << QStringList{"measuring", "slow"};
  QTest::newRow("all of it, every 25 s") << Series([=](qint64 t) { return std::pair(arrives(t / 25 * 25) - 4, arrives(t)); })
                                         << QStringList{"measuring", "ok"};
  QTest::newRow("a burst") << Series([=](qint64 t) {
    const qint64 end = arrives(t) + (t >= 90 ? 1'000 : 0);
    return std::pair(t < 90 ? end : std::min(end, arrives(89) + (t - 89) * 8), end);
  }) << QStringList{"ok"};
  QTest::newRow("is made faster") << Series([](qint64 t) {
    const qint64 end = 30 + t * 5 / 2;
    return std::pair(std::min(end, t < 120 ? 10 + t : 130 + (t - 120) * 6), end);
  }) << QStringList{"measuring", "ok", "slow", "ok"};
}

void TestOperate::verdictsFollowTheNumbers() {
  using Series = std::function<std::pair<qint64, qint64>(qint64)>;
  QFETCH(Series, series);
  QFETCH(QStringList, verdicts);
  LagWindow window;
  LagStatus status = LagStatus::ok;
  QStringList told;
  for (qint64 t = 0; t <= 300; ++t) {
    const auto [committed, end] = series(t);
    window.add(at(t, committed, end));
    status = window.judge(at(t, committed, end), t * 1000, true, status);
    if (told.isEmpty() || told.last() != status_word(status)) {
      told << status_word(status);
    }
  }
  QCOMPARE(told, verdicts);
}

void TestOperate::lagInRecordsLeavesOutWhatIsGone() {
  auto counters = std::make_shared<event::ReplicaCounters>();
  counters->log_start_offset.set(100);
  counters->high_watermark.set(150);
  counters->log_end_offset.set(160);
  auto part = std::make_shared<observe::PartitionView>();
  part->leader = BrokerId(1);
  observe::ReplicaView replica;
  replica.node = BrokerId(1);
  replica.counters = counters;
  part->replicas.push_back(std::move(replica));
  observe::TopicView topic;
  topic.partitions.push_back(part);
  const PartitionLag lag = partition_lag(topic, PartitionIndex(0), 40);
  QVERIFY(lag.known);
  QCOMPARE(lag.offsets, std::int64_t{110});
  QCOMPARE(lag.records, std::int64_t{50});
  QCOMPARE(lag.lost, std::int64_t{60});
  QVERIFY(!lag.at_most);
  QVERIFY(!partition_lag(topic, PartitionIndex(0), -1).known);
  QVERIFY(!partition_lag(topic, PartitionIndex(7), 3).known);
  topic.configs["cleanup.policy"] = "compact";
  QVERIFY(partition_lag(topic, PartitionIndex(0), 140).at_most);
}

void TestOperate::timeLagFromTheWindow() {
  LagWindow window;
  window.add(at(0, 0, 100));
  window.add(at(5, 50, 200));
  window.add(at(10, 100, 300));
  // The end was 150 in the middle of the first five seconds: 2.5 s; now is 12 s.
  QCOMPARE(window.behindMs(at(12, 150, 320)), std::int64_t{9'500});
  QCOMPARE(window.behindMs(at(12, 320, 320)), std::int64_t{0});
  QCOMPARE(window.behindMs(at(12, 50, 320)), std::int64_t{-1});
  QCOMPARE(window.arriving(at(10, 100, 300)), 20.0);
  QCOMPARE(window.handled(at(10, 100, 300)), 10.0);
}

void TestOperate::whyNamesThePartition() {
  auto group = std::make_shared<observe::GroupView>();
  group->id = "billing";
  group->state = "Stable";
  group->protocol_type = "consumer";
  event::GroupAssigned::Member a{"m-a", "app-1", "/127.0.0.1", "", {}, {{"orders", PartitionIndex(0)}}};
  event::GroupAssigned::Member b{"m-b", "app-2", "/127.0.0.1", "", {}, {{"orders", PartitionIndex(1)}}};
  event::GroupAssigned::Member idle{"m-c", "app-3", "/127.0.0.1", "", {}, {}};
  group->members = {a, b, idle};
  GroupFacts f;
  f.group = group;
  f.lag_known = true;
  f.parts.resize(2);
  for (std::int32_t i = 0; i < 2; ++i) {
    GroupFacts::Part& part = f.parts[static_cast<std::size_t>(i)];
    part.topic = "orders";
    part.partition = PartitionIndex(i);
    part.lag.known = true;
    part.lag.records = i == 0 ? 8 : 92;
    part.window.add(at(0, 0, 0));
    part.now = i == 0 ? at(10, 2, 10) : at(10, 100, 400);
    part.status = LagStatus::slow;
  }
  f.lag_records = 100;
  f.worst = 1;
  f.status = LagStatus::slow;
  const GroupVerdict v = why(f, {{Bytes::copy_of("tenant-7"), 0.71}}, 10'000);
  const QString all = v.headline + QLatin1Char(' ') + v.sentences.join(QLatin1Char(' ')) + QLatin1Char(' ') + v.catch_up;
  QVERIFY2(v.headline.contains(QStringLiteral("92 %")), qPrintable(all));
  QVERIFY2(all.contains(QStringLiteral("app-2")) && all.contains(QStringLiteral("10")) && all.contains(QStringLiteral("40")), qPrintable(all));
  QVERIFY2(all.contains(QStringLiteral("tenant-7")) && all.contains(QStringLiteral("71 %")), qPrintable(all));
  QVERIFY2(v.never && v.catch_up.contains(QStringLiteral("4.0×")), qPrintable(all));
  QVERIFY(idle_words(*group, 2).contains(QStringLiteral("app-3")));
}

// Of a lag over many partitions the one that waits longest says little: the others are read.
void TestOperate::aSpreadLagIsToldOfTheGroup() {
  auto group = std::make_shared<observe::GroupView>();
  group->id = "audit";
  group->state = "Stable";
  group->members = {{"m-a", "app-1", "/127.0.0.1", "", {}, {{"ledger", PartitionIndex(0)}}}};
  GroupFacts f;
  f.group = group;
  f.lag_known = true;
  f.parts.resize(20);
  for (std::int32_t i = 0; i < 20; ++i) {
    GroupFacts::Part& part = f.parts[static_cast<std::size_t>(i)];
    part.topic = "ledger";
    part.partition = PartitionIndex(i);
    part.lag.known = true;
    part.lag.records = 2;
    part.window.add(at(0, 0, 22));
    part.now = at(10, i < 10 ? 0 : 20, 22);
    part.status = LagStatus::measuring;
  }
  f.lag_records = 10 * 2 + 10 * 22;
  f.worst = 0;
  GroupVerdict v = why(f, {}, 10'000);
  QString all = v.sentences.join(QLatin1Char(' ')) + QLatin1Char(' ') + v.catch_up;
  QCOMPARE(v.handled, 20.0);
  QVERIFY2(all.contains(QStringLiteral("The group handles 20 records/s, and nothing arrives.")), qPrintable(all));
  QVERIFY2(all.contains(QStringLiteral("Caught up in about 12")), qPrintable(all));
  // One that stands still while the others move is what is wrong.
  f.parts[0].lag.records = 200;
  f.parts[0].status = LagStatus::stalled;
  v = why(f, {}, 10'000);
  all = v.sentences.join(QLatin1Char(' '));
  QVERIFY2(all.contains(QStringLiteral("Member app-1 handles nothing")), qPrintable(all));
}

// However often each row is told, what happened together is told alike; and a row stands where its word belongs.
void TestOperate::rowsOfGroupsAgree() {
  GroupModel model;
  model.setOrder(GroupModel::status, Qt::DescendingOrder);
  std::map<std::string, std::shared_ptr<const observe::GroupView>, std::less<>> groups;
  const auto put = [&groups](const std::string& id, std::int64_t rebalanced_ms, std::int64_t rebalancing_ms) {
    auto group = std::make_shared<observe::GroupView>();
    group->id = id;
    group->state = "Stable";
    group->rebalances.push_back({WallTime{rebalanced_ms}, std::make_shared<event::GroupRebalanced>()});
    group->rebalancing_since = WallTime{rebalancing_ms};
    groups[id] = group;
  };
  observe::ClusterView view;
  const auto update = [&](std::int64_t now_ms) {
    view.groups = std::make_shared<std::decay_t<decltype(*view.groups)>>(groups);
    model.update(view, now_ms);
  };
  const auto ago = [&model](const char* id) {
    return model.index(model.rowOf(QString::fromLatin1(id)), GroupModel::last_rebalance).data().toString().section(QLatin1Char(','), 0, 0);
  };
  put("a", 1'000'100, 0);
  put("b", 1'000'100, 0);
  for (std::int64_t now_ms = 1'000'200; now_ms < 1'070'000; now_ms += 300) {
    if (now_ms % 700 == 0) {
      put("b", 1'000'100, 0);  // it is told anew, and the other one is not
    }
    update(now_ms);
    QCOMPARE(ago("a"), ago("b"));
  }
  QCOMPARE(ago("a"), QStringLiteral("1 min ago"));
  QCOMPARE(model.rowOf(QStringLiteral("b")), 1);
  put("b", 1'000'100, 1'070'000);
  update(1'070'100);
  QCOMPARE(model.rowOf(QStringLiteral("b")), 0);
}

// A coordinator that takes a group over counts anew; how long the group has been behind goes on.
void TestOperate::lagOutlivesItsCoordinator() {
  GroupModel model;
  observe::ClusterView view;
  auto topic = std::make_shared<observe::TopicView>();
  topic->name = "orders";
  auto log = std::make_shared<observe::PartitionView>();
  log->leader = BrokerId(1);
  log->replicas.resize(1);
  log->replicas[0].node = BrokerId(1);
  auto counters = std::make_shared<event::ReplicaCounters>();
  counters->high_watermark.set(10);
  log->replicas[0].counters = counters;
  topic->partitions.push_back(log);
  std::decay_t<decltype(*view.topics)> topics;
  topics["orders"] = topic;
  view.topics = std::make_shared<std::decay_t<decltype(*view.topics)>>(topics);
  const auto update = [&](std::int64_t now_ms, const std::shared_ptr<event::CommittedCounters>& committed) {
    auto group = std::make_shared<observe::GroupView>();
    group->id = "reports";
    group->state = "Empty";
    group->committed.push_back({"orders", PartitionIndex(0), committed});
    std::decay_t<decltype(*view.groups)> groups;
    groups["reports"] = group;
    view.groups = std::make_shared<std::decay_t<decltype(*view.groups)>>(groups);
    model.update(view, now_ms);
  };
  std::int64_t now_ms = 1'000'000;
  for (int coordinator = 0; coordinator < 2; ++coordinator) {
    const auto committed = std::make_shared<event::CommittedCounters>();
    committed->offset.set(4);
    for (int i = 0; i < 20; ++i) {
      update(now_ms += 1'000, committed);
    }
  }
  QVERIFY2(model.facts(QStringLiteral("reports"))->watched_ms > 30'000,
           qPrintable(QString::number(model.facts(QStringLiteral("reports"))->watched_ms)));
}

// A group is stalled where one of its partitions stands still; that one is named, not the one with more lag that goes on.
void TestOperate::whatStandsStillIsNamed() {
  GroupFacts f;
  auto group = std::make_shared<observe::GroupView>();
  group->id = "invoices";
  group->state = "Stable";
  group->members.resize(1);
  f.group = group;
  f.lag_known = true;
  f.parts.resize(2);
  for (std::size_t i = 0; i < 2; ++i) {
    GroupFacts::Part& part = f.parts[i];
    part.topic = "orders";
    part.partition = PartitionIndex(static_cast<std::int32_t>(i));
    for (std::int64_t s = 0; s < 40; ++s) {
      part.now = {1'000'000 + s * 1'000, i == 0 ? s * 2 : 69, i == 0 ? 200 + s * 3 : 80 + s};
      part.window.add(part.now);
    }
    part.lag.known = true;
    part.lag.records = part.lag.offsets = part.now.end - part.now.committed;
    part.status = i == 0 ? LagStatus::slow : LagStatus::stalled;
    f.lag_records += part.lag.records;
  }
  f.lag_offsets = f.lag_records;
  f.worst = 0;
  f.status = LagStatus::stalled;
  const GroupVerdict verdict = why(f, {}, 1'040'000);
  QCOMPARE(verdict.partition, 1);
  QCOMPARE(verdict.headline, QStringLiteral("Partition 1 of orders stands still at 69, while 50 records wait there."));
  QVERIFY2(verdict.catch_up.contains(QStringLiteral("nothing is handled")), qPrintable(verdict.catch_up));
  f.status = LagStatus::slow;
  QCOMPARE(why(f, {}, 1'040'000).partition, 0);
}

// The table, the pane and the filter ask the same: a group that rebalances is neither slow nor ok.
void TestOperate::oneStatusOfAGroup() {
  auto group = std::make_shared<observe::GroupView>();
  GroupFacts f;
  f.group = group;
  QCOMPARE(group_status(f).word, QStringLiteral("no position"));
  f.lag_known = true;
  f.status = LagStatus::stalled;
  QCOMPARE(group_status(f).word, QStringLiteral("stalled"));
  QCOMPARE(group_status(f).glyph, Glyph::cross);
  group->rebalancing_since = WallTime{10'000};
  QCOMPARE(group_status(f).word, QStringLiteral("rebalancing"));
  QCOMPARE(group_status(f).glyph, Glyph::quarter);
  QCOMPARE(rebalancing_words(*group, 10'476), QStringLiteral("< 1 s"));
  QCOMPARE(rebalancing_words(*group, 12'900), rebalancing_words(*group, 12'100));
  QCOMPARE(reason_words("handover-14-2b7c310d-cb31-4f5a-9c1e-0123456789ab changed its subscription"),
           QStringLiteral("handover-14-2b7c joined again: what it reads or owns has changed"));
}

void TestOperate::rowsFollowWithoutReset() {
  Letters model;
  QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  QVERIFY(model.follow({"a", "b", "c", "d", "e"}));
  const QPersistentModelIndex d = model.index(3, 0);
  QVERIFY(!model.follow({"a", "b", "c", "d", "e"}));
  // Every order of a few letters, from every other: the same rows, and the index follows its letter.
  const std::vector<std::vector<std::string>> orders{{"d", "a", "x", "c"}, {"x", "y", "z", "d"}, {"d"}, {"e", "d", "c", "b", "a"},
                                                     {"a", "b", "d", "e"}, {"q", "d", "q2", "a"}, {"a", "b", "c", "d"}};
  for (const auto& order : orders) {
    model.follow(order);
    QCOMPARE(model.rows, order);
    QVERIFY(d.isValid());
    QCOMPARE(d.data().toString(), QStringLiteral("d"));
  }
  model.follow({"a"});
  QVERIFY(!d.isValid());
  QCOMPARE(resets.count(), 0);
}

QTEST_MAIN(TestOperate)
#include "tst_operate.moc"
