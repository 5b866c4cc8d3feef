// SPDX-License-Identifier: Apache-2.0
// The Topics and Groups pages in the real window over FakeSession: staged edits with Review, Apply and Undo, growth with its
// preview, deletion; groups with lag, idle members, reset, built-in consumers by key.
#include <algorithm>
#include <memory>

#include <QAbstractButton>
#include <QAccessible>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QTest>

#include "tests/ui/support/fake_session.h"
#include "ui/dialogs/add_consumer_dialog.h"
#include "ui/dialogs/add_partitions_dialog.h"
#include "ui/dialogs/create_topic_dialog.h"
#include "ui/dialogs/question_dialog.h"
#include "ui/dialogs/reset_offsets_dialog.h"
#include "ui/dialogs/review_configs_dialog.h"
#include "ui/filter/filter_box.h"
#include "ui/models/fault_facts.h"
#include "ui/session/undo_list.h"
#include "ui/theme/theme.h"
#include "ui/views/assignment_matrix.h"
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

class TestOperatePages : public QObject {
  Q_OBJECT

  std::unique_ptr<FakeSession> session_;
  std::unique_ptr<MainWindow> window_;
  TopicsPage* topics_ = nullptr;
  GroupsPage* groups_ = nullptr;

  void open(const FakeSession::Options& options = {}) {
    window_.reset();
    session_ = std::make_unique<FakeSession>(options);
    for (int i = 0; i < 40; ++i) {
      session_->tick(250);
    }
    window_ = std::make_unique<MainWindow>(session_.get(), MainWindow::Options{.persist = false, .hints = false});
    window_->resize(1440, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    window_->activateWindow();
    QTRY_VERIFY(window_->isActiveWindow());
    topics_ = qobject_cast<TopicsPage*>(window_->page("topics"));
    groups_ = qobject_cast<GroupsPage*>(window_->page("groups"));
    QVERIFY(topics_ != nullptr && groups_ != nullptr);
    groups_->setClock([this] { return session_->nowMs(); });
    topics_->details()->setClock([this] { return session_->nowMs(); });
    QCoreApplication::processEvents();
  }
  void frame() {
    session_->tick(0);
    QTest::qWait(0);
    window_->currentPage()->deliverFrame();
    QCoreApplication::processEvents();
  }
  QString cell(GroupModel::Column column, const QString& group) {
    return groups_->model()->index(groups_->model()->rowOf(group), column).data(Qt::AccessibleTextRole).toString();
  }
  std::string config(const char* topic, const char* key) {
    const auto& configs = session_->view()->find_topic(std::string_view(topic))->configs;
    const auto found = configs.find(key);
    return found == configs.end() ? std::string() : found->second;
  }
  template <typename Dialog>
  Dialog* dialog() {
    Dialog* found = nullptr;
    for (QWidget* widget : QApplication::topLevelWidgets()) {
      if (auto* wanted = qobject_cast<Dialog*>(widget); wanted != nullptr && wanted->isVisible()) {
        found = wanted;
      }
    }
    return found;
  }

 private slots:
  void initTestCase() {
    install_language(*qApp);
    Theme::current().install(*qApp);
    Theme::current().setMode(Theme::Mode::dark);
  }
  void cleanup() {
    window_.reset();
    session_.reset();
  }

  void configsAreStagedReviewedAppliedAndUndone() {
    open();
    window_->showPage("topics");
    window_->select(Selection::ofTopic("demo.orders"));
    TopicDetails* details = topics_->details();
    QTRY_COMPARE(details->topic(), QStringLiteral("demo.orders"));
    QTRY_VERIFY(details->configs()->total() > 0);
    details->chooseKey("retention.ms");
    details->editor()->setFocus();
    details->editor()->selectAll();
    QTest::keyClicks(details->editor(), QStringLiteral("soon"));
    QTest::keyClick(details->editor(), Qt::Key_Return);
    QVERIFY(details->configs()->staged().empty());  // a mistake is caught here, not at the broker
    details->editor()->selectAll();
    QTest::keyClicks(details->editor(), QStringLiteral("1 ms"));
    QTest::keyClick(details->editor(), Qt::Key_Return);
    details->chooseKey("min.insync.replicas");
    details->editor()->setFocus();
    details->editor()->selectAll();
    QTest::keyClicks(details->editor(), QStringLiteral("2"));
    QTest::keyClick(details->editor(), Qt::Key_Return);
    QCOMPARE(details->configs()->staged().size(), std::size_t{2});
    QVERIFY(session_->journal().isEmpty());  // nothing has been sent
    QTest::mouseClick(details->reviewButton(), Qt::LeftButton);
    auto* review = dialog<ReviewConfigsDialog>();
    QVERIFY(review != nullptr);
    QTRY_VERIFY(review->findChild<QAbstractButton*>("applyConfigs")->isEnabled());
    QCOMPARE(review->effects().size(), std::size_t{2});
    for (const ChangeEffect& effect : review->effects()) {
      if (effect.key == QLatin1String("retention.ms")) {
        QVERIFY2(effect.harmful && effect.effect.contains(QStringLiteral("become deletable")), qPrintable(effect.effect));
      } else {
        QVERIFY2(effect.effect.contains(QStringLiteral("refused")), qPrintable(effect.effect));
      }
    }
    QVERIFY(review->commandLines().contains(QStringLiteral("--add-config min.insync.replicas=2,retention.ms=1")));
    QVERIFY(review->commandLines().contains(QStringLiteral("hw configs set topic demo.orders")));
    QTest::mouseClick(review->findChild<QAbstractButton*>("applyConfigs"), Qt::LeftButton);
    QTRY_COMPARE(config("demo.orders", "retention.ms"), std::string("1"));
    QTRY_VERIFY(details->configs()->staged().empty());
    QTRY_VERIFY(topics_->undoBar()->isVisible());
    QTRY_VERIFY(dialog<ReviewConfigsDialog>() == nullptr);
    window_->activateWindow();  // no window manager does it here when a dialog closes
    QTRY_VERIFY(window_->isActiveWindow());
    QTest::keyClick(topics_->table(), Qt::Key_Z, Qt::ControlModifier);
    QTRY_VERIFY(session_->view()->find_topic(std::string_view("demo.orders"))->configs.empty());
    QVERIFY(UndoList::of(session_.get())->newest() == nullptr);
  }

  void aRefusalKeepsWhatIsStaged() {
    open();
    window_->showPage("topics");
    window_->select(Selection::ofTopic("demo.orders"));
    TopicDetails* details = topics_->details();
    QTRY_VERIFY(details->configs()->total() > 0);
    QCOMPARE(details->configs()->stage("retention.ms", QStringLiteral("5")).level, RuleAnswer::Level::ok);
    details->review();
    auto* review = dialog<ReviewConfigsDialog>();
    QTRY_VERIFY(review->findChild<QAbstractButton*>("applyConfigs")->isEnabled());
    session_->failNext(QStringLiteral("POLICY_VIOLATION: no"));
    review->apply();
    QTRY_VERIFY(review->findChild<QAbstractButton*>("applyConfigs")->isEnabled());
    QVERIFY(review->isVisible());
    QCOMPARE(details->configs()->staged().size(), std::size_t{1});
    review->reject();
    // Edits of a topic wait while another one is looked at.
    window_->select(Selection::ofTopic("orders-state"));
    QTRY_COMPARE(details->topic(), QStringLiteral("orders-state"));
    QVERIFY(details->configs()->staged().empty());
    window_->select(Selection::ofTopic("demo.orders"));
    QTRY_COMPARE(details->configs()->staged().size(), std::size_t{1});
  }

  void recordsAreCountedAndRanked() {
    open();
    window_->showPage("topics");
    frame();
    TopicModel* model = topics_->model();
    const int row = model->rowOf("demo.orders");
    QVERIFY(row >= 0);
    std::int64_t records = 0;
    for (int p = 0; p < 3; ++p) {
      records += session_->records("demo.orders", p);
    }
    QCOMPARE(model->facts("demo.orders")->records, records);
    window_->select(Selection::ofTopic("demo.orders"));
    QTRY_VERIFY(topics_->details()->counted());
    QVERIFY(model->index(row, TopicModel::groups).data().toString().startsWith(QStringLiteral("demo.billing")));
    model->setOrder(TopicModel::records, Qt::DescendingOrder);
    QCOMPARE(model->topicAt(0), QStringLiteral("demo.orders"));
    auto* filter = topics_->findChild<FilterBox*>();
    filter->setText("state");
    QTRY_COMPARE(model->rowCount(), 1);
    filter->setText("group == \"demo.billing\" && partitions < 5");
    QTRY_COMPARE(model->rowCount(), 1);
    QCOMPARE(model->topicAt(0), QStringLiteral("demo.orders"));
    filter->setText("records > 1000000");
    QTRY_COMPARE(model->rowCount(), 0);
    filter->setText("");
    QTRY_COMPARE(model->rowCount(), 2);
  }

  void growthShowsWhichKeysMove() {
    open();
    window_->showPage("topics");
    window_->select(Selection::ofTopic("demo.orders"));
    QTest::qWait(0);
    window_->commands().run("topic.grow");
    auto* grow = dialog<AddPartitionsDialog>();
    QVERIFY(grow != nullptr);
    QTRY_VERIFY(grow->keysRead());
    grow->setTotal(6);
    QCOMPARE(grow->moves().keys.size(), std::size_t{6});  // A to F
    QVERIFY2(grow->summary().contains(QStringLiteral("50 %")), qPrintable(grow->summary()));
    grow->setTotal(4);
    QVERIFY2(grow->summary().contains(QStringLiteral("75 %")), qPrintable(grow->summary()));
    grow->submit();
    QTRY_COMPARE(session_->view()->find_topic(std::string_view("demo.orders"))->partitions.size(), std::size_t{4});
  }

  void severalTopicsAreDeletedTogether() {
    FakeSession::Options options;
    options.more_topics = 3;
    open(options);
    window_->showPage("topics");
    frame();
    for (const char* name : {"bulk-0", "bulk-2"}) {
      const int row = topics_->model()->rowOf(name);
      topics_->table()->selectionModel()->select(topics_->model()->index(row, 0), QItemSelectionModel::Rows | (name[5] == '0' ? QItemSelectionModel::ClearAndSelect : QItemSelectionModel::Select));
    }
    QCOMPARE(topics_->selectedTopics().size(), 2);
    window_->commands().run("topic.delete");
    auto* question = dialog<QuestionDialog>();
    QVERIFY(question != nullptr);
    const QList<Button*> buttons = question->findChildren<Button*>();
    QTest::mouseClick(buttons.last(), Qt::LeftButton);
    QTRY_VERIFY(session_->view()->find_topic(std::string_view("bulk-0")) == nullptr);
    QTRY_VERIFY(session_->view()->find_topic(std::string_view("bulk-2")) == nullptr);
    QVERIFY(session_->view()->find_topic(std::string_view("bulk-1")) != nullptr);
  }

  void aCopyHasTheConfiguration() {
    open();
    window_->showPage("topics");
    window_->select(Selection::ofTopic("orders-state"));
    frame();
    window_->commands().run("topic.copy");
    auto* create = dialog<CreateTopicDialog>();
    QVERIFY(create != nullptr);
    const CreateTopicCommand command = create->command();
    QCOMPARE(command.name, std::string("orders-state-copy"));
    QCOMPARE(command.partitions, 6);
    QCOMPARE(command.configs, (std::vector<std::pair<std::string, std::string>>{{"cleanup.policy", "compact"}}));
    create->reject();
  }

  void aGroupShowsItsLagAndWhy() {
    open();
    session_->setDemoTraffic(false);
    CreateTopicCommand topic{"orders", 3, 1, {}};
    session_->createTopic(topic, [](const QString&) {});
    session_->produceMany("orders", 0, 4, "a");
    session_->produceMany("orders", 1, 3, "b");
    session_->produceMany("orders", 2, 2, "c");
    session_->setGroup("billing", "orders", 2);
    session_->setCommitted("billing", "orders", 0, 4);
    session_->setCommitted("billing", "orders", 1, 2);
    session_->setCommitted("billing", "orders", 2, 2);
    window_->showPage("groups");
    window_->select(Selection::ofGroup("billing"));
    frame();
    // The guides' example: 0 + 1 + 0 = 1.
    QTRY_COMPARE(cell(GroupModel::lag_records, "billing"), QStringLiteral("1"));
    QCOMPARE(cell(GroupModel::lag_offsets, "billing"), QStringLiteral("1"));
    QCOMPARE(cell(GroupModel::members, "billing"), QStringLiteral("2"));
    QCOMPARE(groups_->matrix()->memberCount(), 2);
    QCOMPARE(groups_->matrix()->partitionCount(), 3);
    QVERIFY2(groups_->whyPanel()->text().contains(QStringLiteral("partition 1")), qPrintable(groups_->whyPanel()->text()));
    QVERIFY(groups_->findChild<RebalanceTable*>()->rebalances()->rowCount() >= 1);
    for (int i = 0; i < groups_->matrix()->objectCount(); ++i) {
      QVERIFY(!groups_->matrix()->objectSentence(i).isEmpty());
    }
    window_->commands().run("view.table");
    QCOMPARE(groups_->findChild<QTableView*>("groupTable")->isVisible(), true);
    QVERIFY(!groups_->matrix()->isVisible());
  }

  void sixMembersOnThreePartitions() {
    open();
    session_->setGroup("crowd", "demo.orders", 6);
    window_->showPage("groups");
    window_->select(Selection::ofGroup("crowd"));
    frame();
    QTRY_COMPARE(groups_->matrix()->memberCount(), 6);
    QCOMPARE(groups_->matrix()->idleMembers(), 3);
    int idle = 0;
    for (int i = 0; i < 6; ++i) {
      idle += groups_->matrix()->objectSentence(i).contains(QStringLiteral("reads nothing")) ? 1 : 0;
    }
    QCOMPARE(idle, 3);
  }

  // A cooperative rebalance hands a partition on in two steps: between them nobody owns it, and the matrix says who gave it back.
  void aPartitionOnItsWayIsShownWhereItWas() {
    const auto member = [](const char* id, std::vector<std::int32_t> partitions) {
      event::GroupAssigned::Member m;
      m.member_id = id;
      m.client_id = id;
      for (const std::int32_t partition : partitions) {
        m.partitions.emplace_back("orders", PartitionIndex(partition));
      }
      return m;
    };
    AssignmentMatrix matrix;
    GroupFacts facts;
    for (std::int32_t i = 0; i < 3; ++i) {
      facts.parts.emplace_back();
      facts.parts.back().topic = "orders";
      facts.parts.back().partition = PartitionIndex(i);
    }
    const auto show = [&](std::int32_t generation, bool rebalancing, std::vector<event::GroupAssigned::Member> members) {
      auto view = std::make_shared<observe::GroupView>();
      view->id = "billing";
      view->state = "Stable";
      view->generation = generation;
      view->rebalancing_since.ms = rebalancing ? 500 : 0;
      view->members = std::move(members);
      facts.group = view;
      matrix.show(&facts, 1'000);
    };
    const auto said = [&](const QString& words) {
      int count = 0;
      for (int i = 0; i < matrix.objectCount(); ++i) {
        count += matrix.objectSentence(i).contains(words) ? 1 : 0;
      }
      return count;
    };
    show(1, false, {member("old", {0, 1, 2})});
    QCOMPARE(matrix.onTheWay(), 0);
    show(2, true, {member("old", {0, 1}), member("new", {})});
    QCOMPARE(matrix.onTheWay(), 1);
    QCOMPARE(said("orders/2 is read by nobody, no position yet: old has given it back"), 1);
    show(3, false, {member("old", {0, 1}), member("new", {2})});
    QCOMPARE(matrix.onTheWay(), 0);
    QCOMPARE(said("given it back"), 0);
    QCOMPARE(partition_words({{"a", PartitionIndex(0)}, {"a", PartitionIndex(1)}, {"a", PartitionIndex(2)}, {"b", PartitionIndex(4)}, {"b", PartitionIndex(5)}}),
             QStringLiteral("a 0–2, b 4, 5"));
    // Who has left gives nothing back.
    show(4, true, {member("old", {0, 1})});
    QCOMPARE(matrix.onTheWay(), 0);
    QCOMPARE(said("is read by nobody"), 1);
  }

  // A consumer group's coordinator tells where a partition goes: it stands at its reader, and dashed at the next one.
  void aConsumerGroupsTargetIsShownBesideWhatItReads() {
    const auto member = [](const char* id, std::vector<std::int32_t> has, std::vector<std::int32_t> target) {
      event::GroupAssigned::Member m;
      m.member_id = id;
      m.client_id = id;
      m.epoch = 2;
      for (const std::int32_t partition : has) {
        m.partitions.emplace_back("orders", PartitionIndex(partition));
      }
      for (const std::int32_t partition : target) {
        m.target.emplace_back("orders", PartitionIndex(partition));
      }
      return m;
    };
    auto view = std::make_shared<observe::GroupView>();
    view->id = "billing";
    view->state = "Reconciling";
    view->kind = event::GroupProtocol::consumer;
    view->rebalancing_since.ms = 500;
    view->members = {member("one", {0, 1}, {0}), member("two", {}, {1}), member("three", {}, {2}), member("four", {}, {})};
    GroupFacts facts;
    facts.group = view;
    AssignmentMatrix matrix;
    matrix.show(&facts, 1'000);
    QCOMPARE(matrix.partitionCount(), 3);
    QCOMPARE(matrix.wanted(), 2);
    QCOMPARE(matrix.onTheWay(), 0);
    QStringList sentences;
    for (int i = 0; i < matrix.objectCount(); ++i) {
      sentences << matrix.objectSentence(i);
    }
    const QString all = sentences.join(QLatin1Char('\n'));
    QVERIFY2(all.contains("orders/1 is read by one until it gives it back, no position yet: two shall have it"), qPrintable(all));
    QVERIFY2(all.contains("orders/2 is read by nobody, no position yet: three takes it with its next heartbeat"), qPrintable(all));
    QCOMPARE(all.count("reads nothing yet: it waits for its partitions"), 2);
    QCOMPARE(all.count("reads nothing: there are more members than partitions"), 1);
  }

  void offsetsAreResetAfterADryRunAndPutBack() {
    open();
    session_->setDemoTraffic(false);
    session_->createTopic({"orders", 1, 1, {}}, [](const QString&) {});
    session_->produceMany("orders", 0, 10, "k");
    session_->setGroup("billing", "orders", 0, "Empty");
    session_->setCommitted("billing", "orders", 0, 7);
    window_->showPage("groups");
    window_->select(Selection::ofGroup("billing"));
    frame();
    window_->commands().run("group.reset");
    auto* reset = dialog<ResetOffsetsDialog>();
    QVERIFY(reset != nullptr);
    QTRY_VERIFY(reset->ready());
    QCOMPARE(reset->plan().size(), std::size_t{1});
    QCOMPARE(reset->plan()[0].replayed, std::int64_t{7});
    reset->choose(ResetChoice::To::shift);
    reset->setValue("x");
    QVERIFY(!reset->ready());
    reset->setValue("-2");
    QVERIFY(reset->ready());
    QCOMPARE(reset->plan()[0].to, std::int64_t{5});
    QVERIFY(session_->journal().isEmpty());
    reset->apply();
    QTRY_VERIFY(session_->journal().contains(QStringLiteral("reset billing orders/0=5")));
    QTRY_VERIFY(groups_->undoBar()->isVisible());
    frame();
    QTRY_COMPARE(cell(GroupModel::lag_records, "billing"), QStringLiteral("5"));
    window_->commands().run("edit.undo");
    QTRY_VERIFY(session_->journal().contains(QStringLiteral("reset billing orders/0=7")));
  }

  void anActiveGroupRefusesInPlainWords() {
    open();
    window_->showPage("groups");
    window_->select(Selection::ofGroup("demo.billing"));
    frame();
    window_->commands().run("group.reset");
    auto* reset = dialog<ResetOffsetsDialog>();
    QTRY_VERIFY(reset->ready());
    QVERIFY(!reset->findChild<Button*>(QStringLiteral("applyReset"))->isEnabled());
    reset->apply();  // as where a member comes at the last moment
    const QList<QLabel*> labels = reset->findChildren<QLabel*>();
    QTRY_VERIFY(std::any_of(labels.begin(), labels.end(),
                            [](const QLabel* label) { return label->text().contains(QStringLiteral("group is in use")); }));
    reset->reject();
  }

  // What a broker would refuse is not offered; it is once the members are gone.
  void whatIsRefusedIsNotOffered() {
    open();
    session_->setDemoTraffic(false);
    session_->setGroup("crowd", "demo.orders", 1);
    session_->setCommitted("crowd", "demo.orders", 0, 0);
    window_->showPage("groups");
    window_->select(Selection::ofGroup("crowd"));
    frame();
    window_->commands().run("group.delete");
    auto* question = dialog<QuestionDialog>();
    QVERIFY(question != nullptr);
    const auto answer = [question] {
      const QList<Button*> buttons = question->findChildren<Button*>();
      return *std::find_if(buttons.begin(), buttons.end(), [](const Button* button) { return button->text() == QStringLiteral("Delete group"); });
    };
    QVERIFY(!answer()->isEnabled());
    session_->setGroup("crowd", "demo.orders", 0, "Empty");
    frame();
    QTRY_VERIFY(answer()->isEnabled());
    question->reject();
    QTRY_VERIFY(dialog<QuestionDialog>() == nullptr);
    session_->setGroup("crowd", "demo.orders", 1);
    frame();
    window_->commands().run("group.reset");
    auto* reset = dialog<ResetOffsetsDialog>();
    QTRY_VERIFY(reset->ready());
    reset->choose(ResetChoice::To::latest);
    const auto* apply = reset->findChild<Button*>(QStringLiteral("applyReset"));
    QVERIFY(!apply->isEnabled());
    session_->setGroup("crowd", "demo.orders", 0, "Empty");
    frame();
    QTRY_VERIFY(apply->isEnabled());
    reset->reject();
  }

  void consumersComeAndGoByKey() {
    open();
    session_->setGroup("crowd", "demo.orders", 1);
    window_->showPage("groups");
    window_->select(Selection::ofGroup("crowd"));
    frame();
    QTest::keyClick(window_->currentPage(), Qt::Key_G);
    QTRY_COMPARE(session_->view()->find_group("crowd")->members.size(), std::size_t{2});
    QTest::keyClick(window_->currentPage(), Qt::Key_R);
    QTRY_COMPARE(session_->view()->find_group("crowd")->rebalances.size(), std::size_t{3});
    QTest::keyClick(window_->currentPage(), Qt::Key_G, Qt::ShiftModifier);
    QTRY_COMPARE(session_->view()->find_group("crowd")->members.size(), std::size_t{1});
    // Nothing of ours is left: said, not ignored.
    QTest::keyClick(window_->currentPage(), Qt::Key_G, Qt::ShiftModifier);
    QTRY_VERIFY(groups_->undoBar()->text().contains(QStringLiteral("no built-in consumer")));
  }

  // Who adds a consumer chooses who assigns, and gets the assignors that go with it; in a group with members it is the group's protocol.
  void a_consumer_joins_by_either_protocol() {
    open();
    session_->setGroup("crowd", "demo.orders", 1);
    window_->showPage("groups");
    window_->select(Selection::ofGroup("crowd"));
    frame();
    window_->commands().run("consumer.options");
    auto* added = dialog<AddConsumerDialog>();
    QVERIFY(added != nullptr);
    QCOMPARE(added->command().protocol, ConsumerCommand::Protocol::classic);
    auto* protocol = added->findChild<SegmentedControl*>(QStringLiteral("consumerProtocol"));
    QVERIFY(protocol != nullptr);
    Q_EMIT protocol->activated(1);
    QCOMPARE(added->command().protocol, ConsumerCommand::Protocol::consumer);
    const auto* assignors = added->findChild<QComboBox*>(QStringLiteral("consumerAssignor"));
    QVERIFY(assignors->findText(QStringLiteral("uniform")) >= 0 && assignors->findText(QStringLiteral("sticky")) < 0);
    QCOMPARE(added->command().assignor, std::string("range"));  // both protocols have it
    Q_EMIT protocol->activated(0);
    QVERIFY(assignors->findText(QStringLiteral("sticky")) >= 0);
    added->reject();
  }

  void emptyPagesSayWhatToDo() {
    FakeSession::Options options;
    options.demo = false;
    open(options);
    for (const char* page : {"groups", "topics"}) {
      window_->showPage(page);
      bool primary = false;
      for (const Button* button : window_->currentPage()->findChildren<Button*>()) {
        primary = primary || (button->isVisible() && button->sizeHint().height() >= 32);
      }
      QVERIFY2(primary, page);
    }
  }

  void everyFocusableWidgetHasAName() {
    open();
    for (const char* page : {"groups", "topics"}) {
      window_->showPage(page);
      frame();
      for (QWidget* widget : window_->currentPage()->findChildren<QWidget*>()) {
        if (widget->isVisible() && (widget->focusPolicy() & Qt::TabFocus) != 0) {
          QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(widget);
          QVERIFY2(interface != nullptr && !interface->text(QAccessible::Name).isEmpty(), widget->metaObject()->className());
        }
      }
    }
  }

  // With their coordinators gone nothing is known of how groups keep up; that is no calm.
  void groups_without_a_coordinator_are_marked() {
    open({.nodes = 3});
    Page* groups = window_->page(QStringLiteral("groups"));
    window_->showPage(QStringLiteral("groups"));
    frame();
    QVERIFY(groups->attention({}) != Glyph::cross);
    FaultFacts faults;
    faults.reach.coordinators = {.all = 50, .served = 17, .whole = 17};
    QCOMPARE(groups->attention(faults), Glyph::cross);
  }

  // What was tried counts for the quorum as it was then.
  void results_of_a_try_go_with_its_situation() {
    open({.nodes = 3});
    window_->showPage(QStringLiteral("quorum"));
    frame();
    QWidget* board = nullptr;
    QAbstractButton* produce = nullptr;
    for (auto* button : window_->currentPage()->findChildren<Button*>()) {
      if (button->accessibleName() == QLatin1String("Test: Produce")) {
        produce = button;
        board = button->parentWidget();
      }
    }
    QVERIFY(board != nullptr);
    produce->click();
    QTRY_VERIFY2(board->accessibleDescription().contains(QStringLiteral("works, 12 ms")),
                 qPrintable(board->accessibleDescription()));
    QVERIFY2(board->accessibleDescription().contains(
                 QStringLiteral("while 3 of 3 controllers answered")),
             qPrintable(board->accessibleDescription()));
    // Tried with a majority, it tells of now in every row, also in those that cannot be tried.
    QCOMPARE(board->accessibleName(), QStringLiteral("What works now"));
    QVERIFY2(board->accessibleDescription().contains(QStringLiteral("Let a broker join: works, a majority commits it")),
             qPrintable(board->accessibleDescription()));
    frame();
    QVERIFY(board->accessibleDescription().contains(QStringLiteral("12 ms")));
    session_->stopNode(3);
    frame();
    QVERIFY2(!board->accessibleDescription().contains(QStringLiteral("12 ms")),
             qPrintable(board->accessibleDescription()));
    QVERIFY(!board->accessibleDescription().contains(QStringLiteral("Last tried")));
    // What is only imagined is said as such, and what is so as of now.
    QCOMPARE(board->accessibleName(), QStringLiteral("If the majority were lost"));
    QVERIFY2(board->accessibleDescription().contains(QStringLiteral("Elect a partition leader: would wait")),
             qPrintable(board->accessibleDescription()));
    QVERIFY(board->accessibleDescription().contains(QStringLiteral("Not so now")));
    session_->stopNode(2);
    frame();
    QCOMPARE(board->accessibleName(), QStringLiteral("What works now, without a majority"));
    QVERIFY(board->accessibleDescription().contains(QStringLiteral("Elect a partition leader: does not work, waits for a majority")));
    open({.nodes = 3});
    window_->showPage(QStringLiteral("quorum"));
    session_->stopNode(1);  // it led: the other two will elect one of them
    frame();
    const auto buttons = window_->currentPage()->findChildren<Button*>();
    const auto test =
        std::find_if(buttons.begin(), buttons.end(), [](const Button* b) { return b->accessibleName() == QLatin1String("Test: Produce"); });
    QVERIFY(test != buttons.end());
    QCOMPARE((*test)->parentWidget()->accessibleName(), QStringLiteral("What works now, until a controller leads"));
  }
};

QTEST_MAIN(TestOperatePages)
#include "tst_operate_pages.moc"
