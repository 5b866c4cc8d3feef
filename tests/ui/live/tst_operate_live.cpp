// SPDX-License-Identifier: Apache-2.0
// Topics and Groups on the real engine, offscreen: a topic is created with a preset, its configuration staged, applied and
// undone, grown and deleted; a group of two shows an exact lag, is reset and put back; six consumers share three partitions.
#include <QAbstractButton>
#include <QLineEdit>
#include <QTableView>
#include <QTest>
#include <algorithm>
#include <memory>

#include "ui/dialogs/add_partitions_dialog.h"
#include "ui/dialogs/create_topic_dialog.h"
#include "ui/dialogs/delete_records_dialog.h"
#include "ui/dialogs/question_dialog.h"
#include "ui/dialogs/reset_offsets_dialog.h"
#include "ui/dialogs/review_configs_dialog.h"
#include "ui/session/live_session.h"
#include "ui/session/undo_list.h"
#include "ui/theme/theme.h"
#include "ui/views/assignment_matrix.h"
#include "ui/views/config_dialog.h"
#include "ui/views/config_panel.h"
#include "ui/views/groups_page.h"
#include "ui/views/rebalance_table.h"
#include "ui/views/topic_details.h"
#include "ui/views/topics_page.h"
#include "ui/views/undo_bar.h"
#include "ui/views/why_panel.h"
#include "ui/window/controls.h"
#include "ui/window/language.h"
#include "ui/window/main_window.h"

using namespace hw;      // NOLINT(google-build-using-namespace): a test
using namespace hw::ui;  // NOLINT(google-build-using-namespace): a test

namespace {
constexpr int kSoonMs = 20'000;
}

class TestOperateLive : public QObject {
  Q_OBJECT

  std::unique_ptr<LiveSession> session_;
  std::unique_ptr<MainWindow> window_;
  TopicsPage* topics_ = nullptr;
  GroupsPage* groups_ = nullptr;

  const observe::TopicView* topic(const char* name) { return session_->view()->find_topic(std::string_view(name)); }
  std::string config(const char* key) {
    const observe::TopicView* orders = topic("orders");
    if (orders == nullptr) {
      return {};
    }
    const auto found = orders->configs.find(key);
    return found == orders->configs.end() ? std::string() : found->second;
  }
  const observe::GroupView* group(const char* name) { return session_->view()->find_group(name); }
  bool stable(const char* name, std::size_t members) {
    const observe::ViewPtr view = session_->view();
    const observe::GroupView* g = view->find_group(name);
    return g != nullptr && g->state == "Stable" && g->members.size() == members;
  }
  std::int64_t committed(const char* name, std::int32_t partition) {
    const observe::ViewPtr view = session_->view();
    const observe::GroupView* g = view->find_group(name);
    if (g != nullptr) {
      for (const auto& c : g->committed) {
        if (c.partition.value() == partition && c.counters != nullptr) {
          return c.counters->offset.get();
        }
      }
    }
    return -1;
  }
  void produce(const char* name, std::int32_t partition, const char* key, int records) {
    int done = 0;
    for (int i = 0; i < records; ++i) {
      ProduceCommand command;
      command.topic = name;
      command.partition = partition;
      command.key = Bytes::copy_of(std::string_view(key));
      command.value = Bytes::copy_of("v" + std::to_string(i));
      session_->produce(command, [&done](const ProduceAnswer& answer) { done += answer.error.isEmpty() ? 1 : 0; });
    }
    QTRY_COMPARE_WITH_TIMEOUT(done, records, kSoonMs);
  }
  QString cell(GroupModel::Column column, const QString& name) {
    groups_->deliverFrame();
    return groups_->model()->index(groups_->model()->rowOf(name), column).data(Qt::AccessibleTextRole).toString();
  }
  template <typename Dialog>
  Dialog* dialog() {
    for (QWidget* widget : QApplication::topLevelWidgets()) {
      if (auto* wanted = qobject_cast<Dialog*>(widget); wanted != nullptr && wanted->isVisible()) {
        return wanted;
      }
    }
    return nullptr;
  }

  void addConsumers(const char* name, const char* topic_name, int count, ConsumerCommand::Protocol protocol = ConsumerCommand::Protocol::classic) {
    int done = 0;
    ConsumerCommand command;
    command.group = name;
    command.protocol = protocol;
    command.topics = {topic_name};
    command.commit_interval_ms = 100;
    for (int i = 0; i < count; ++i) {
      session_->addConsumer(command, [&done](const QString& error) { done += error.isEmpty() ? 1 : 0; });
    }
    QTRY_COMPARE_WITH_TIMEOUT(done, count, kSoonMs);
  }

  // Types a value for a key, stages, reviews and applies it.
  void change(ConfigPanel* panel, const char* key, const char* text) {
    QTRY_VERIFY_WITH_TIMEOUT(panel->configs()->find(key) != nullptr, kSoonMs);
    panel->chooseKey(key);
    panel->editor()->setFocus();
    panel->editor()->selectAll();
    QTest::keyClicks(panel->editor(), QString::fromLatin1(text));
    QTRY_VERIFY_WITH_TIMEOUT(panel->judged(), kSoonMs);
    QTest::keyClick(panel->editor(), Qt::Key_Return);
    QVERIFY2(panel->configs()->staged().count(key) == 1, qPrintable(panel->editorNote()));
    panel->review();
    auto* review = dialog<ReviewConfigsDialog>();
    QVERIFY(review != nullptr);
    QTRY_VERIFY_WITH_TIMEOUT(review->findChild<QAbstractButton*>("applyConfigs")->isEnabled(), kSoonMs);
    QCOMPARE(review->effects().size(), std::size_t{1});
    QVERIFY(!review->effects()[0].effect.isEmpty());
    review->apply();
    QTRY_VERIFY_WITH_TIMEOUT(dialog<ReviewConfigsDialog>() == nullptr, kSoonMs);
  }
  std::string valueOf(ConfigPanel* panel, const char* key) {
    const ConfigRow* row = panel->configs()->find(key);
    return row == nullptr ? "?" : row->value.value_or("");
  }
  ConfigSource sourceOf(ConfigPanel* panel, const char* key) {
    const ConfigRow* row = panel->configs()->find(key);
    return row == nullptr ? ConfigSource::unknown : row->source;
  }

 private slots:
  void initTestCase() {
    install_language(*qApp);
    Theme::current().install(*qApp);
    Theme::current().setMode(Theme::Mode::dark);
    LiveSession::Options options;
    options.cluster.listen.port = 0;
    options.cluster.configs["group.initial.rebalance.delay.ms"] = "0";
    options.cluster.configs["offsets.topic.num.partitions"] = "2";
    options.cluster.configs["group.consumer.min.heartbeat.interval.ms"] = "200";
    options.cluster.configs["group.consumer.heartbeat.interval.ms"] = "200";
    options.demo = false;
    session_ = std::make_unique<LiveSession>(std::move(options));
    window_ = std::make_unique<MainWindow>(session_.get(), MainWindow::Options{.persist = false, .hints = false});
    window_->resize(1440, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    topics_ = qobject_cast<TopicsPage*>(window_->page("topics"));
    groups_ = qobject_cast<GroupsPage*>(window_->page("groups"));
    QVERIFY(topics_ != nullptr && groups_ != nullptr);
    session_->start();
    QTRY_VERIFY_WITH_TIMEOUT(session_->running(), kSoonMs);
  }
  void cleanupTestCase() {
    window_.reset();
    session_.reset();
  }

  void aTopicIsCreatedWithAPreset() {
    window_->showPage("topics");
    window_->commands().run("topic.create");
    auto* create = dialog<CreateTopicDialog>();
    QVERIFY(create != nullptr);
    create->setTopicName("orders");
    create->setPartitions(3);
    create->choosePreset(3);  // fast-rolling
    QTest::keyClick(create->findChild<QLineEdit*>(), Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(topic("orders") != nullptr, kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(topic("orders")->partitions.size(), std::size_t{3}, kSoonMs);
    QCOMPARE(config("segment.bytes"), std::string("1048576"));
    QTRY_COMPARE_WITH_TIMEOUT(topics_->details()->topic(), QStringLiteral("orders"), kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(topics_->details()->configs()->total() > 20, kSoonMs);
    const ConfigRow* row = topics_->details()->configs()->find("segment.bytes");
    QVERIFY(row != nullptr);
    QCOMPARE(row->source, ConfigSource::topic);
    QVERIFY(row->synonyms.size() >= 2);
    QCOMPARE(topics_->details()->configs()->find("max.message.bytes")->source, ConfigSource::defaults);
  }

  void configurationIsStagedAppliedAndUndone() {
    TopicDetails* details = topics_->details();
    const ConfigModel* configs = details->configs();
    QTRY_COMPARE_WITH_TIMEOUT(configs->data(configs->index(configs->indexOf("retention.ms"), ConfigModel::standard), Qt::DisplayRole).toString(),
                              QStringLiteral("604800000"), kSoonMs);
    QCOMPARE(details->configs()->stage("retention.ms", QStringLiteral("2 h")).level, RuleAnswer::Level::ok);
    QCOMPARE(details->configs()->stage("max.message.bytes", QStringLiteral("2 MiB")).level, RuleAnswer::Level::ok);
    QTest::mouseClick(details->reviewButton(), Qt::LeftButton);
    auto* review = dialog<ReviewConfigsDialog>();
    QVERIFY(review != nullptr);
    QTRY_VERIFY_WITH_TIMEOUT(review->findChild<QAbstractButton*>("applyConfigs")->isEnabled(), kSoonMs);
    QCOMPARE(review->effects().size(), std::size_t{2});
    QTest::mouseClick(review->findChild<QAbstractButton*>("applyConfigs"), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(config("retention.ms"), std::string("7200000"), kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(!config("max.message.bytes").empty(), kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(UndoList::of(session_.get())->newest() != nullptr, kSoonMs);
    window_->commands().run("edit.undo");
    QTRY_COMPARE_WITH_TIMEOUT(config("retention.ms"), std::string("300000"), kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(config("max.message.bytes").empty(), kSoonMs);
  }

  void theBrokersRefusalIsShown() {
    QString error;
    bool done = false;
    session_->alterConfigs({ConfigResource::Kind::topic, "orders"}, {{"retention.ms", std::string("-5")}}, false, [&](const QString& said) {
      error = said;
      done = true;
    });
    QTRY_VERIFY_WITH_TIMEOUT(done, kSoonMs);
    QVERIFY2(error.contains(QStringLiteral("INVALID_CONFIG")), qPrintable(error));
    QCOMPARE(config("retention.ms"), std::string("300000"));
  }

  void aBrokerIsConfiguredWhileItRuns() {
    window_->showPage("cluster");
    window_->select(Selection::ofNode(session_->view()->nodes.begin()->first.value()));
    window_->commands().run("broker.configs");
    auto* configs = dialog<ConfigDialog>();
    QVERIFY(configs != nullptr);
    ConfigPanel* panel = configs->panel();
    QTRY_VERIFY_WITH_TIMEOUT(panel->configs()->total() > 200, kSoonMs);
    QCOMPARE(sourceOf(panel, "message.max.bytes"), ConfigSource::defaults);
    change(panel, "message.max.bytes", "2 MiB");
    QTRY_COMPARE_WITH_TIMEOUT(valueOf(panel, "message.max.bytes"), std::string("2097152"), kSoonMs);
    QCOMPARE(sourceOf(panel, "message.max.bytes"), ConfigSource::broker);
    // What all have in common is another layer below it.
    configs->showAllBrokers(true);
    QTRY_COMPARE_WITH_TIMEOUT(sourceOf(panel, "message.max.bytes"), ConfigSource::defaults, kSoonMs);
    change(panel, "message.max.bytes", "3 MiB");
    QTRY_COMPARE_WITH_TIMEOUT(sourceOf(panel, "message.max.bytes"), ConfigSource::all_brokers, kSoonMs);
    QCOMPARE(valueOf(panel, "message.max.bytes"), std::string("3145728"));
    // A topic without a value of its own follows the one broker, which counts more.
    ConfigAnswer of_topic;
    session_->describeConfigs({ConfigResource::Kind::topic, "orders"}, [&of_topic](ConfigAnswer answer) { of_topic = std::move(answer); });
    QTRY_VERIFY_WITH_TIMEOUT(!of_topic.rows.empty(), kSoonMs);
    const auto limit = std::find_if(of_topic.rows.begin(), of_topic.rows.end(), [](const ConfigRow& row) { return row.name == "max.message.bytes"; });
    QVERIFY(limit != of_topic.rows.end());
    QCOMPARE(limit->value, std::optional<std::string>("2097152"));
    QCOMPARE(limit->source, ConfigSource::broker);
    // Both are taken back, the newest first.
    configs->activateWindow();  // no window manager does it here when a dialog closes
    QTRY_VERIFY(configs->isActiveWindow());
    QTest::keyClick(configs, Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE_WITH_TIMEOUT(sourceOf(panel, "message.max.bytes"), ConfigSource::defaults, kSoonMs);
    configs->undoBar()->findChild<QAbstractButton*>("undoButton")->click();
    configs->showAllBrokers(false);
    QTRY_COMPARE_WITH_TIMEOUT(sourceOf(panel, "message.max.bytes"), ConfigSource::defaults, kSoonMs);
    // What only the broker knows is said while somebody types: a pool may be doubled, not more.
    panel->chooseKey("num.io.threads");
    panel->editor()->selectAll();
    QTest::keyClicks(panel->editor(), QStringLiteral("500"));
    QTRY_VERIFY_WITH_TIMEOUT(panel->editorNote().contains(QStringLiteral("refuse")), kSoonMs);
    QVERIFY(panel->configs()->staged().empty());
    configs->reject();
  }

  void aGroupIsConfigured() {
    addConsumers("tuned", "orders", 1);
    QTRY_VERIFY_WITH_TIMEOUT(stable("tuned", 1), kSoonMs);
    window_->showPage("groups");
    window_->select(Selection::ofGroup("tuned"));
    window_->commands().run("group.configs", {{"group", QStringLiteral("tuned")}});
    auto* configs = dialog<ConfigDialog>();
    QVERIFY(configs != nullptr);
    ConfigPanel* panel = configs->panel();
    QCOMPARE(panel->resource(), (ConfigResource{ConfigResource::Kind::group, "tuned"}));
    change(panel, "consumer.session.timeout.ms", "50 s");
    QTRY_COMPARE_WITH_TIMEOUT(valueOf(panel, "consumer.session.timeout.ms"), std::string("50000"), kSoonMs);
    QCOMPARE(sourceOf(panel, "consumer.session.timeout.ms"), ConfigSource::group);
    configs->undoBar()->findChild<QAbstractButton*>("undoButton")->click();
    QTRY_VERIFY_WITH_TIMEOUT(sourceOf(panel, "consumer.session.timeout.ms") != ConfigSource::group, kSoonMs);
    // Out of the bounds that the broker sets: said before anything is sent for good.
    panel->chooseKey("consumer.session.timeout.ms");
    panel->editor()->selectAll();
    QTest::keyClicks(panel->editor(), QStringLiteral("1 d"));
    QTRY_VERIFY_WITH_TIMEOUT(panel->editorNote().contains(QStringLiteral("refuse")), kSoonMs);
    configs->reject();
    QVERIFY(session_->removeConsumer("tuned"));
    QTRY_VERIFY_WITH_TIMEOUT(group("tuned")->members.empty(), kSoonMs);
  }

  void aGroupOfTwoHasAnExactLag() {
    produce("orders", 0, "a", 4);
    produce("orders", 1, "b", 3);
    produce("orders", 2, "c", 2);
    addConsumers("billing", "orders", 2);
    QTRY_VERIFY_WITH_TIMEOUT(stable("billing", 2), kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(committed("billing", 0), std::int64_t{4}, kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(committed("billing", 1), std::int64_t{3}, kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(committed("billing", 2), std::int64_t{2}, kSoonMs);
    // Both leave; one record more on partition 1: 0 + 1 + 0 = 1.
    QVERIFY(session_->removeConsumer("billing"));
    QVERIFY(session_->removeConsumer("billing"));
    QTRY_VERIFY_WITH_TIMEOUT(group("billing") != nullptr && group("billing")->members.empty(), kSoonMs);
    produce("orders", 1, "b", 1);
    window_->showPage("groups");
    window_->select(Selection::ofGroup("billing"));
    QTRY_COMPARE_WITH_TIMEOUT(cell(GroupModel::lag_records, "billing"), QStringLiteral("1"), kSoonMs);
    QCOMPARE(cell(GroupModel::lag_offsets, "billing"), QStringLiteral("1"));
    QVERIFY2(groups_->whyPanel()->text().contains(QStringLiteral("partition 1")), qPrintable(groups_->whyPanel()->text()));
    QVERIFY(groups_->findChild<RebalanceTable*>()->rebalances()->rowCount() >= 2);
  }

  void itIsResetAfterADryRunAndPutBack() {
    window_->commands().run("group.reset");
    auto* reset = dialog<ResetOffsetsDialog>();
    QVERIFY(reset != nullptr);
    QTRY_VERIFY_WITH_TIMEOUT(reset->ready(), kSoonMs);
    std::int64_t replayed = 0;
    for (const ResetRow& row : reset->plan()) {
      replayed += row.replayed;
    }
    QCOMPARE(replayed, std::int64_t{9});
    reset->apply();
    QTRY_COMPARE_WITH_TIMEOUT(cell(GroupModel::lag_records, "billing"), QStringLiteral("10"), kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(UndoList::of(session_.get())->newest() != nullptr, kSoonMs);
    window_->commands().run("edit.undo");
    QTRY_COMPARE_WITH_TIMEOUT(cell(GroupModel::lag_records, "billing"), QStringLiteral("1"), kSoonMs);
  }

  // KIP-848: the coordinator assigns. G adds one that speaks as the others do.
  void aConsumerGroupIsShownByItsEpochs() {
    addConsumers("modern", "orders", 2, ConsumerCommand::Protocol::consumer);
    QTRY_VERIFY_WITH_TIMEOUT(stable("modern", 2), kSoonMs);
    window_->showPage("groups");
    window_->select(Selection::ofGroup("modern"));
    QTRY_COMPARE_WITH_TIMEOUT(cell(GroupModel::kind, "modern"), QStringLiteral("consumer"), kSoonMs);
    const std::int32_t before = group("modern")->generation;
    QTest::keyClick(window_->currentPage(), Qt::Key_G);
    QTRY_VERIFY_WITH_TIMEOUT(stable("modern", 3), kSoonMs);
    QCOMPARE(group("modern")->kind, event::GroupProtocol::consumer);
    QVERIFY(group("modern")->generation > before);
    const auto each_has_one = [this] {
      const auto& members = group("modern")->members;
      return std::all_of(members.begin(), members.end(), [](const auto& m) { return m.partitions.size() == 1 && m.target == m.partitions; });
    };
    QTRY_VERIFY_WITH_TIMEOUT(each_has_one(), kSoonMs);
    while (session_->removeConsumer("modern")) {
    }
    QTRY_VERIFY_WITH_TIMEOUT(group("modern")->members.empty(), kSoonMs);
  }

  void sixConsumersShareThreePartitions() {
    addConsumers("crowd", "orders", 6);
    QTRY_VERIFY_WITH_TIMEOUT(stable("crowd", 6), kSoonMs);
    window_->select(Selection::ofGroup("crowd"));
    const auto idle = [this] {
      groups_->deliverFrame();
      return groups_->current() == QLatin1String("crowd") && groups_->matrix()->memberCount() == 6 ? groups_->matrix()->idleMembers() : -1;
    };
    QTRY_COMPARE_WITH_TIMEOUT(idle(), 3, kSoonMs);
    // A reset is refused while they are there, and says why.
    QString error;
    session_->commitGroupOffsets("crowd", {{{"orders", 0}, 0}}, [&error](const OffsetsAnswer& answer) {
      error = !answer.error.isEmpty() || answer.rows.empty() ? answer.error : answer.rows.front().error;
    });
    QTRY_VERIFY_WITH_TIMEOUT(error.contains(QStringLiteral("UNKNOWN_MEMBER_ID")), kSoonMs);
    // R: a member leaves and comes back, which is a rebalance.
    const std::int32_t before = group("crowd")->generation;
    QVERIFY(session_->rejoinConsumer("crowd"));
    QTRY_VERIFY_WITH_TIMEOUT(stable("crowd", 6) && group("crowd")->generation > before, kSoonMs);
    while (session_->removeConsumer("crowd")) {
    }
    QTRY_VERIFY_WITH_TIMEOUT(group("crowd")->members.empty(), kSoonMs);
    bool done = false;
    session_->deleteGroup("crowd", [&](const QString& said) {
      done = true;
      error = said;
    });
    QTRY_VERIFY_WITH_TIMEOUT(done, kSoonMs);
    QVERIFY2(error.isEmpty(), qPrintable(error));
    QTRY_VERIFY_WITH_TIMEOUT(group("crowd") == nullptr, kSoonMs);
  }

  void recordsAreCountedAndDeletedBeforeAnOffset() {
    window_->showPage("topics");
    window_->select(Selection::ofTopic("orders"));
    RecordCount count;
    bool done = false;
    session_->countRecords("orders", 1 << 20, [&](const RecordCount& counted) {
      count = counted;
      done = true;
    });
    QTRY_VERIFY_WITH_TIMEOUT(done, kSoonMs);
    QCOMPARE(count.records, std::int64_t{10});
    QCOMPARE(count.offsets, std::int64_t{10});
    window_->select(Selection::ofRecord("orders", 1, 2));
    window_->commands().run("topic.delete_records");
    auto* remove = dialog<DeleteRecordsDialog>();
    QVERIFY(remove != nullptr);
    QVERIFY2(remove->summary().startsWith(QStringLiteral("2 records")), qPrintable(remove->summary()));
    remove->submit();
    const auto start = [this] { return topic("orders")->partitions[1]->leader_counters()->log_start_offset.get(); };
    QTRY_COMPARE_WITH_TIMEOUT(start(), std::int64_t{2}, kSoonMs);
    done = false;
    session_->countRecords("orders", 1 << 20, [&](const RecordCount& counted) {
      count = counted;
      done = true;
    });
    QTRY_VERIFY_WITH_TIMEOUT(done, kSoonMs);
    QCOMPARE(count.records, std::int64_t{8});
  }

  void itGrowsWithAPreviewAndIsDeleted() {
    window_->select(Selection::ofTopic("orders"));
    window_->commands().run("topic.grow", {{"topic", "orders"}});
    auto* grow = dialog<AddPartitionsDialog>();
    QVERIFY(grow != nullptr);
    grow->setTotal(4);
    QTRY_VERIFY_WITH_TIMEOUT(grow->keysRead(), kSoonMs);
    QCOMPARE(grow->moves().keys.size(), std::size_t{3});
    QVERIFY2(grow->summary().contains(QStringLiteral("75 %")), qPrintable(grow->summary()));
    grow->submit();
    QTRY_COMPARE_WITH_TIMEOUT(topic("orders")->partitions.size(), std::size_t{4}, kSoonMs);
    window_->commands().run("topic.delete", {{"topic", "orders"}});
    auto* question = dialog<QuestionDialog>();
    QVERIFY(question != nullptr);
    for (Button* button : question->findChildren<Button*>()) {
      if (button->text() == QLatin1String("Delete topic")) {
        button->click();
      }
    }
    for (int i = 0; i < 400 && topic("orders") != nullptr; ++i) {
      QTest::qWait(50);
    }
    QVERIFY2(topic("orders") == nullptr, qPrintable(topics_->undoBar()->text()));
  }
};

QTEST_MAIN(TestOperateLive)
#include "tst_operate_live.moc"
