// SPDX-License-Identifier: Apache-2.0
#include "ui/window/shot_matrix.h"

#include <QAbstractButton>
#include <QApplication>
#include <QCursor>
#include <QDialog>
#include <QDir>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QHeaderView>
#include <QLineEdit>
#include <QPixmap>
#include <QPointer>
#include <QRegularExpression>
#include <QTableView>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "ui/session/session_admin.h"
#include "ui/session/session_nodes.h"
#include "ui/theme/theme.h"
#include "ui/window/bottom_dock.h"
#include "ui/window/coach_mark.h"
#include "ui/window/controls.h"
#include "ui/window/inspector.h"
#include "ui/window/main_window.h"
#include "ui/window/omnibox.h"
#include "ui/window/page.h"
#include "ui/window/shot.h"

namespace hw::ui {

namespace {

struct Look {
  const char* theme;
  QSize size;
  double scale;
};

struct Scene {
  QString id;
  std::function<void()> arrange;
  std::function<void()> leave;  // may be null; dialogs and menus are closed by the runner
  std::function<void()> before{};  // may be null; what takes its time, before the picture's own time begins
};

std::vector<Look> looks() {
  std::vector<Look> out;
  for (const char* theme : {"light", "dark"}) {
    for (const QSize size : {QSize(1100, 700), QSize(1440, 900), QSize(2560, 1440)}) {
      out.push_back({theme, size, 1.0});
    }
    out.push_back({theme, QSize(1440, 900), 1.5});
  }
  for (const char* theme : {"contrast-light", "contrast-dark"}) {
    out.push_back({theme, QSize(1440, 900), 1.0});
  }
  return out;
}

QString name_of(const Scene& scene, const Look& look) {
  QString name = QStringLiteral("%1-%2-%3x%4").arg(scene.id, QLatin1String(look.theme)).arg(look.size.width()).arg(look.size.height());
  return look.scale == 1.0 ? name : name + QStringLiteral("@%1").arg(qRound(look.scale * 100));
}

bool stopped = false;

class Matrix : public QObject {
 public:
  Matrix(MainWindow* window, Session* session, ShotMatrixOptions options)
      : QObject(window), window_(window), session_(session), options_(std::move(options)), only_(options_.only) {}

  void run() {
    if (!only_.isValid() || !QDir().mkpath(options_.directory)) {
      std::fprintf(stderr, "highwater: cannot write to %s, or the expression is none\n", qUtf8Printable(options_.directory));
      QApplication::exit(1);
      return;
    }
    fill();
    const std::vector<Scene> scenes = options_.empty ? emptyScenes() : fullScenes();
    bool good = true;
    for (const Look& look : looks()) {
      bool dressed = false;
      for (const Scene& scene : scenes) {
        const QString name = name_of(scene, look);
        if (stopped) {
          return;  // whoever stopped it ends the program, too
        }
        if (!only_.match(name).hasMatch()) {
          continue;
        }
        if (!std::exchange(dressed, true)) {
          wear(look);
        }
        good = take(scene, options_.directory + QLatin1Char('/') + name + QStringLiteral(".png")) && good;
      }
    }
    QApplication::exit(good ? 0 : 1);
  }

 private:
  // --- the cluster
  bool wait(const std::function<bool()>& done, int ms) {
    QElapsedTimer since;
    since.start();
    while (!done()) {
      if (since.elapsed() > ms || stopped) {
        return false;
      }
      pause(20);
    }
    return true;
  }
  void pause(int ms) {
    ++pausing_;
    QEventLoop loop;
    QTimer::singleShot(ms, &loop, &QEventLoop::quit);
    loop.exec();
    --pausing_;
    arranged_.restart();
  }
  void create(const std::string& name, int partitions, std::vector<std::pair<std::string, std::string>> configs = {}, int replicas = 1) {
    ++waiting_;
    session_->createTopic({name, partitions, static_cast<std::int16_t>(replicas), std::move(configs)}, [this, name](const QString& error) {
      --waiting_;
      if (!error.isEmpty()) {
        std::fprintf(stderr, "highwater: %s: %s\n", name.c_str(), qUtf8Printable(error));
      }
    });
  }
  void send(const char* topic, const char* key, const QByteArray& value,
            std::vector<std::pair<std::string, std::optional<Bytes>>> headers = {}) {
    ProduceCommand command;
    command.topic = topic;
    if (key != nullptr) {
      command.key = Bytes::copy_of(std::string_view(key));
    }
    if (!value.isNull()) {
      command.value = Bytes::copy_of(std::string_view(value.constData(), static_cast<std::size_t>(value.size())));
    }
    command.headers = std::move(headers);
    ++waiting_;
    session_->produce(command, [this](const ProduceAnswer&) { --waiting_; });
  }

  void consumer(const char* group, const char* topic, int work_ms, const char* assignor = "range",
                ConsumerCommand::Protocol protocol = ConsumerCommand::Protocol::classic) {
    ConsumerCommand command;
    command.protocol = protocol;
    command.assignor = assignor;
    command.group = group;
    command.topics = {topic};
    command.work_ms = work_ms;
    ++waiting_;
    SessionAdmin::of(session_).addConsumer(command, [this](const QString&) { --waiting_; });
  }

  // Of a consumer group (KIP-848).
  void member(const char* group) { consumer(group, "quiet.topic", 0, "uniform", ConsumerCommand::Protocol::consumer); }

  void fill() {
    wait([this] { return !session_->view()->nodes.empty(); }, 10'000);
    if (options_.empty) {
      pause(500);
      return;
    }
    wait([this] { return session_->view()->find_topic("demo.orders") != nullptr; }, 10'000);
    if (options_.partitions > 0) {
      // One topic far too large for one screen, and many of a usual size with names of a usual length.
      const int large = options_.partitions / 5;
      topic_ = QStringLiteral("ledger.entries");
      create(topic_.toStdString(), large, {{"retention.ms", "86400000"}}, static_cast<int>(std::min<std::size_t>(3, session_->view()->nodes.size())));
      int left = options_.partitions - large - 3;
      const char* areas[] = {"payments", "shipping", "catalog", "identity", "billing"};
      const char* things[] = {"requests", "settlement-events.v2", "state-changelog", "dead-letter"};
      for (int i = 0; left > 0; ++i, left -= 100) {
        create(QStringLiteral("%1.%2.%3").arg(QLatin1String(areas[i % 5]), QLatin1String(things[(i / 5) % 4])).arg(i / 20 + 1).toStdString(),
               std::min(100, left), i % 3 == 0 ? std::vector<std::pair<std::string, std::string>>{{"cleanup.policy", "compact"}} : std::vector<std::pair<std::string, std::string>>{});
      }
      wait([this] { return waiting_ == 0; }, 60'000);
      for (int i = 0; i < 4'000; ++i) {
        send("ledger.entries", qPrintable(QStringLiteral("account-%1").arg(i % 700)), QStringLiteral("{\"entry\":%1,\"cents\":%2}").arg(i).arg(i * 37 % 9'000).toUtf8());
      }
      for (int i = 0; i < 5; ++i) {
        consumer("ledger-audit", "ledger.entries", i == 0 ? 50 : 0);
      }
      consumer("payment-requests", "payments.requests.1", 0);
    }
    // What a record can be.
    send("demo.orders", "A", R"({"id":9007199254740993,"amount":12.40,"currency":"EUR","lines":[{"sku":"K-1","n":2},{"sku":"K-7","n":1}]})",
         {{"trace", Bytes::copy_of(std::string_view("4bf92f3577b34da6"))}, {"retry", std::nullopt}});
    send("demo.orders", "B", QByteArray());
    send("demo.orders", nullptr, "a plain line of text, long enough that no column can hold all of it: " + QByteArray(400, '.'));
    send("demo.orders", "", "");
    send("demo.orders", "F", QByteArray("\x00\x01\x02\xff\xfe binary \x80", 16));
    consumer("audit", "demo.orders", 0);
    consumer("invoices", "demo.orders", 600);  // too slow: its lag grows
    for (int i = 0; i < 4; ++i) {
      consumer("warehouse", "demo.orders", 0);
    }
    ++waiting_;
    SessionAdmin::of(session_).commitGroupOffsets("reports", {{{"demo.orders", 0}, 1}, {{"demo.orders", 1}, 0}},
                                                  [this](const OffsetsAnswer&) { --waiting_; });
    create("quiet.topic", 4);
    for (int i = 0; i < 2; ++i) {
      consumer("handover", "quiet.topic", 0, "cooperative-sticky");
    }
    for (int i = 0; i < 2; ++i) {
      member("shipments");
    }
    wait([this] { return waiting_ == 0; }, 60'000);
    pause(6'000);  // groups settle, lag has a history
  }

  // --- the window
  void wear(const Look& look) {
    QCursor::setPos(QPoint(-100, -100));  // nothing looks hovered
    window_->commands().run(QStringLiteral("theme.") + QLatin1String(look.theme));
    window_->commands().run(QStringLiteral("scale.reset"), {{QStringLiteral("percent"), qRound(look.scale * 100)}});
    window_->resize(look.size);
    window_->say({});
    pause(200);
  }

  void closeAll() {
    for (int i = 0; i < 5; ++i) {
      QWidget* top = QApplication::activePopupWidget() != nullptr ? QApplication::activePopupWidget() : QApplication::activeModalWidget();
      if (top == nullptr) {
        break;
      }
      top->close();
      QApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
  }

  bool take(const Scene& scene, const QString& file) {
    bool done = false;
    bool good = false;
    if (scene.before) {
      scene.before();
    }
    // Some dialogs and menus run a loop of their own inside arrange(), so a timer takes the picture: once arrange() has waited for
    // all that it wants, and then for long enough.
    QTimer due;
    due.setInterval(30);
    arranged_.restart();
    QObject::connect(&due, &QTimer::timeout, this, [&] {
      if (done || pausing_ > 0 || arranged_.elapsed() < kSettleMs) {
        return;
      }
      due.stop();
      const QPixmap picture = picture_of(window_);
      good = picture.save(file, "PNG");
      std::printf("%s frame p95 %.1f ms\n", qUtf8Printable(file), window_->meter().percentile(0.95));
      std::fflush(stdout);
      if (scene.leave) {
        scene.leave();
      }
      closeAll();
      done = true;
    });
    due.start();
    scene.arrange();
    arranged_.restart();  // it may have taken long by itself, and what it began has not begun before
    while (!done) {
      QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
    pause(30);
    return good;
  }

  void command(const char* id, const QVariantMap& args = {}) {
    if (!window_->commands().run(QString::fromLatin1(id), args)) {
      std::fprintf(stderr, "highwater: the command %s is not there, or not now\n", id);
    }
  }
  void show(const char* page, const Selection& selection) {
    window_->select(selection);
    window_->showPage(QString::fromLatin1(page));
  }
  // Views are known by the names of their objects only. One that is in sight; null: none.
  template <class T>
  T* child(const char* name) {
    for (T* one : window_->findChildren<T*>(QString::fromLatin1(name))) {
      if (one->isVisible()) {
        return one;
      }
    }
    std::fprintf(stderr, "highwater: there is no %s in sight\n", name);
    return nullptr;
  }
  int rows(const char* table) {
    const auto* view = child<QTableView>(table);
    return view == nullptr ? 0 : view->model()->rowCount();
  }
  void choose(const char* table, int row) {
    if (auto* view = child<QTableView>(table); view != nullptr && row < view->model()->rowCount()) {
      view->setCurrentIndex(view->model()->index(row, 0));
    }
  }
  void detail(int index) {
    if (auto* which = window_->page(QStringLiteral("cluster"))->findChild<SegmentedControl*>(); which != nullptr) {
      which->setCurrent(index);
      Q_EMIT which->activated(index);
    }
  }
  // Every button of a page whose accessible name begins so.
  void press(const char* page, const char* name) {
    for (QAbstractButton* button : window_->page(QString::fromLatin1(page))->findChildren<QAbstractButton*>()) {
      if (button->accessibleName().startsWith(QLatin1String(name))) {
        button->click();
      }
    }
  }
  void showAllConfigs() {
    if (auto* which = child<SegmentedControl>("configsShown"); which != nullptr) {
      which->setCurrent(1);
      Q_EMIT which->activated(1);
    }
  }
  void stage(const char* key, const char* value) {
    const auto* table = child<QTableView>("configTable");
    for (int row = 0; table != nullptr && row < table->model()->rowCount(); ++row) {
      if (table->model()->index(row, 0).data().toString() == QLatin1String(key)) {
        choose("configTable", row);
        if (auto* editor = child<QLineEdit>("configEditor"); editor != nullptr) {
          editor->setText(QString::fromLatin1(value));
          Q_EMIT editor->returnPressed();
        }
        return;
      }
    }
    std::fprintf(stderr, "highwater: the configuration %s is not listed\n", key);
  }
  Scene dialog(const char* id, const char* page, const Selection& selection, const char* command_id, const QVariantMap& args = {}) {
    return {QString::fromLatin1(id), [=, this] {
              show(page, selection);
              pause(150);
              command(command_id, args);
            }, {}};
  }
  void hints() { command("hints.reset"); }
  void noHints() {
    if (CoachMark* mark = window_->coachMark(); mark != nullptr) {
      Q_EMIT mark->hintsRefused();
    }
  }

  // --- a node is killed
  // Who follows in the first demo partition.
  [[nodiscard]] int follower() const {
    const observe::PartitionView* partition = victim();
    for (const observe::ReplicaView& replica : partition == nullptr ? std::vector<observe::ReplicaView>() : partition->replicas) {
      if (replica.node != partition->leader) {
        return replica.node.value();
      }
    }
    return -1;
  }
  [[nodiscard]] const observe::PartitionView* victim() const {
    const observe::TopicView* topic = session_->view()->find_topic("demo.orders");
    return topic == nullptr || topic->partitions.empty() ? nullptr : topic->partitions.front().get();
  }
  void healAll() {
    const auto healed = std::make_shared<bool>(false);  // the answer may come later than anybody waits
    SessionNodes::of(session_).healAll([healed](const QString&) { *healed = true; });
    wait([healed] { return *healed; }, 20'000);
    wait([this] {
      const observe::ViewPtr now = session_->view();
      const bool run = std::all_of(now->nodes.begin(), now->nodes.end(),
                                   [](const auto& node) { return node.second->state == observe::NodeView::State::running && !node.second->fenced; });
      return run && now->quorum->leader != kNoBroker && victim() != nullptr && victim()->isr.size() == victim()->replicas.size();
    }, 20'000);
  }
  // Kills who leads the first demo partition, or the controllers; with `until_moved` waits for the next leader.
  void killLeader(bool controller, bool until_moved) {
    const auto leader = [this, controller] {
      return controller ? session_->view()->quorum->leader : (victim() == nullptr ? kNoBroker : victim()->leader);
    };
    healAll();
    const BrokerId killed = leader();
    const auto done = std::make_shared<bool>(false);
    SessionNodes::of(session_).act(NodeAction::kill, killed.value(), [done](const QString&) { *done = true; });
    wait([done] { return *done; }, 10'000);
    if (until_moved) {
      wait([&] { return leader() != kNoBroker && leader() != killed; }, 15'000);
      pause(700);  // what follows from it
    }
  }
  void act(NodeAction action, int node) {
    const auto done = std::make_shared<bool>(false);
    SessionNodes::of(session_).act(action, node, [done](const QString&) { *done = true; });
    wait([done] { return *done; }, 10'000);
  }
  // The killed leader runs again and has what it missed; who watches sees the last steps of it.
  void bringBack() {
    const BrokerId killed = victim() == nullptr ? kNoBroker : victim()->leader;
    killLeader(false, true);
    pause(1'500);  // it misses something
    act(NodeAction::start, killed.value());
    wait([this] { return victim() != nullptr && victim()->isr.size() == victim()->replicas.size(); }, 20'000);
    pause(1'200);
  }
  // Two of three controllers are down: nobody can lead.
  void loseMajority() {
    healAll();
    std::vector<int> nodes;
    for (const auto& [id, node] : session_->view()->nodes) {
      nodes.push_back(id.value());
    }
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
      act(NodeAction::kill, nodes[i]);
    }
    wait([this] { return session_->view()->quorum->leader == kNoBroker; }, 15'000);
    pause(1'000);
  }
  void addKills(std::vector<Scene>& out) {
    if (SessionNodes::of(session_).conditions().size() < 3) {
      return;
    }
    for (const char* page : {"cluster", "partitions", "quorum"}) {
      const bool controller = std::string_view(page) == "quorum";
      for (const bool moved : {false, true}) {
        const Selection selection = controller ? Selection{} : Selection::ofPartition(QStringLiteral("demo.orders"), 0);
        out.push_back({QStringLiteral("%1-kill-%2").arg(QLatin1String(page), moved ? QStringLiteral("after") : QStringLiteral("during")),
                       [=, this] { show(page, selection); }, [this] { healAll(); },
                       [=, this] {
                         show(page, selection);
                         killLeader(controller, moved);
                       }});
      }
    }
    const Selection first = Selection::ofPartition(QStringLiteral("demo.orders"), 0);
    for (const char* page : {"cluster", "partitions", "quorum"}) {
      const Selection selection = std::string_view(page) == "quorum" ? Selection{} : first;
      out.push_back({QStringLiteral("%1-kill-back").arg(QLatin1String(page)), [=, this] { show(page, selection); }, [this] { healAll(); }, [=, this] {
                       show(page, selection);
                       bringBack();
                     }});
      out.push_back({QStringLiteral("%1-kill-two").arg(QLatin1String(page)), [=, this] { show(page, selection); }, [this] { healAll(); }, [=, this] {
                       show(page, selection);
                       loseMajority();
                     }});
    }
    out.push_back({QStringLiteral("cluster-paused"), [=, this] { show("cluster", first); }, [this] { healAll(); }, [this] {
                     healAll();
                     act(NodeAction::pause, session_->view()->nodes.rbegin()->first.value());
                     pause(2'200);
                   }});
    out.push_back({QStringLiteral("partitions-paused"), [=, this] { show("partitions", first); }, [this] { healAll(); }, [=, this] {
                     healAll();
                     show("partitions", first);
                     act(NodeAction::pause, follower());
                     pause(2'200);
                   }});
    out.push_back({QStringLiteral("explain-paused"), [=, this] { show("cluster", first); command("explain.show"); },
                   [this] { window_->inspector()->showTab(Inspector::Tab::overview); healAll(); }, [this] {
                     healAll();
                     act(NodeAction::pause, follower());
                     pause(2'200);
                   }});
    out.push_back({QStringLiteral("quorum-tests"), [this] { show("quorum", {}); }, {}, [this] {
                     healAll();
                     show("quorum", {});
                     press("quorum", "Test: ");
                     pause(2'500);
                   }});
    out.push_back({QStringLiteral("quorum-remove"), [this] { show("quorum", Selection::ofNode(3)); pause(200); command("quorum.remove_voter"); }, {}});
    out.push_back({QStringLiteral("faults"), [this] { show("cluster", Selection::ofNode(2)); pause(200); command("node.faults"); }, {}, [this] { healAll(); }});
    out.push_back({QStringLiteral("kill-question"), [this] { show("cluster", Selection::ofNode(2)); pause(200); command("node.kill_or_start"); }, {}, [this] { healAll(); }});
    out.push_back({QStringLiteral("cluster-cut"), [this] { show("cluster", Selection::ofPartition(QStringLiteral("demo.orders"), 0)); },
                   [this] { healAll(); }, [this] {
                     healAll();
                     const auto done = std::make_shared<bool>(false);
                     const BrokerId last = session_->view()->nodes.rbegin()->first;
                     SessionNodes::of(session_).act(NodeAction::cut_off, last.value(), [done](const QString&) { *done = true; });
                     wait([done] { return *done; }, 10'000);
                     pause(1'800);
                   }});
  }

  std::vector<Scene> emptyScenes() {
    std::vector<Scene> out;
    for (const Page* page : window_->pages()) {
      const QString id = page->id();
      out.push_back({id, [this, id] { window_->showPage(id); }, {}});
    }
    out.push_back({QStringLiteral("first-run"), [this] { hints(); }, [this] { noHints(); }});
    out.push_back({QStringLiteral("doctor"), [this] { command("connect.doctor"); }, {}});
    out.push_back({QStringLiteral("palette"), [this] { show("topics", {}); command("omnibox.open"); }, [this] { closePalette(); }});
    out.push_back({QStringLiteral("palette-objects"), [this] { show("topics", {}); command("omnibox.objects"); },
                   [this] { closePalette(); }});
    out.push_back({QStringLiteral("produce"), [this] { show("messages", {}); command("produce.open"); },
                   [this] { window_->dock()->showTab(BottomDock::Tab::events); command("layout.reset"); }});
    out.push_back(dialog("create-topic", "topics", {}, "topic.create"));
    out.push_back(dialog("consumer", "groups", {}, "consumer.add"));
    out.push_back(dialog("keep", "cluster", {}, "cluster.keep"));
    out.push_back({QStringLiteral("topics-filtered"), [this] { filtered("topics", "size > 1 GiB"); }, [this] { unfiltered("topics"); }});
    out.push_back({QStringLiteral("present-topics"), [this] { show("topics", {}); command("view.present"); }, [this] { command("view.present"); }});
    return out;
  }

  // --- what people do on the pages of lists
  void filtered(const char* page, const char* text) {
    command("filter.apply", {{QStringLiteral("page"), QString::fromLatin1(page)}, {QStringLiteral("text"), QString::fromUtf8(text)}});
  }
  void unfiltered(const char* page) { window_->page(QString::fromLatin1(page))->applyFilter({}); }
  void press(const char* button) {
    if (auto* found = child<QAbstractButton>(button); found != nullptr) {
      found->click();
    }
  }
  void segment(const char* control, int index) {
    if (auto* which = child<SegmentedControl>(control); which != nullptr) {
      which->setCurrent(index);
      Q_EMIT which->activated(index);
    }
  }
  // The first record that holds this in its key or value.
  void chooseRecord(const char* text) {
    wait([this] { return rows("records") > 0; }, 2'000);
    const auto* table = child<QTableView>("records");
    for (int row = 0; table != nullptr && row < table->model()->rowCount(); ++row) {
      for (int column = 0; column < table->model()->columnCount(); ++column) {
        if (table->model()->index(row, column).data().toString().contains(QString::fromUtf8(text))) {
          choose("records", row);
          return;
        }
      }
    }
    std::fprintf(stderr, "highwater: no record says %s\n", text);
  }
  static std::size_t owned(const observe::GroupView& group) {
    std::size_t sum = 0;
    for (const auto& member : group.members) {
      sum += member.partitions.size();
    }
    return sum;
  }

  bool settled(const char* name, std::size_t members) const {
    const observe::GroupView* group = session_->view()->find_group(name);
    return group != nullptr && group->state == "Stable" && group->members.size() == members;
  }
  bool handedOver(std::size_t members) {
    const observe::GroupView* group = session_->view()->find_group("handover");
    return group != nullptr && group->state == "Stable" && group->members.size() == members && owned(*group) == 4;
  }
  void closePalette() {
    window_->findChild<Omnibox*>()->clear();
    window_->findChild<Omnibox*>()->closeList();
  }
  void palette(const char* text) {
    show("topics", {});
    window_->findChild<Omnibox*>()->open(QString::fromUtf8(text));
  }
  void addWork(std::vector<Scene>& out) {
    const Selection topic = Selection::ofTopic(topic_);
    const Selection demo = Selection::ofTopic(QStringLiteral("demo.orders"));
    const auto oldest = [this] {
      segment("recordsFrom", 0);
    };
    out.push_back({QStringLiteral("topics-filtered"), [this] { filtered("topics", "size > 1 GiB"); }, [this] { unfiltered("topics"); }});
    out.push_back({QStringLiteral("topics-wrong-filter"), [this] { filtered("topics", "sise > 1 GiB"); }, [this] { unfiltered("topics"); }});
    out.push_back({QStringLiteral("topics-several"), [=, this] {
                     show("topics", topic);
                     if (auto* table = child<QTableView>("topicTable"); table != nullptr) {
                       table->selectAll();
                     }
                   }, [=, this] { show("topics", topic); choose("topicTable", 0); }});
    out.push_back({QStringLiteral("delete-several"), [=, this] {
                     show("topics", topic);
                     if (auto* table = child<QTableView>("topicTable"); table != nullptr) {
                       table->selectAll();
                     }
                     command("topic.delete");
                   }, [=, this] { closeAll(); choose("topicTable", 0); }});
    out.push_back({QStringLiteral("messages-hidden"), [=, this] { show("messages", demo); filtered("messages", "key == \"nobody\""); }, [this] { unfiltered("messages"); }});
    out.push_back({QStringLiteral("messages-wrong-filter"), [=, this] { show("messages", demo); filtered("messages", "kye == \"A\""); }, [this] { unfiltered("messages"); }});
    out.push_back({QStringLiteral("messages-none"), [this] { show("messages", Selection::ofTopic(QStringLiteral("quiet.topic"))); }, {}});
    out.push_back({QStringLiteral("messages-oldest"), [=, this] { show("messages", demo); pause(100); segment("recordsFrom", 1); chooseRecord("9007199254740993"); }, oldest});
    out.push_back({QStringLiteral("messages-offset"), [=, this] { show("messages", demo); pause(100); segment("recordsFrom", 2); }, oldest});
    out.push_back({QStringLiteral("messages-time"), [=, this] { show("messages", demo); pause(100); segment("recordsFrom", 3); }, oldest});
    out.push_back({QStringLiteral("messages-group"), [=, this] { show("messages", demo); pause(100); segment("recordsFrom", 4); }, oldest});
    out.push_back({QStringLiteral("record-large"), [=, this] { show("messages", demo); pause(100); segment("recordsFrom", 1); chooseRecord("a plain line"); }, oldest});
    out.push_back({QStringLiteral("record-menu"), [=, this] {
                     show("messages", demo);
                     pause(100);
                     chooseRecord("amount");
                     if (auto* table = child<QTableView>("records"); table != nullptr) {
                       Q_EMIT table->customContextMenuRequested(QPoint(300, 60));
                     }
                   }, {}});
    out.push_back({QStringLiteral("messages-menu"), [=, this] { show("messages", demo); pause(100); press("messagesMenu"); }, {}});
    out.push_back({QStringLiteral("export"), [=, this] { show("messages", demo); pause(100); command("view.export"); }, {}});
    out.push_back({QStringLiteral("resend"), [=, this] { show("messages", demo); pause(100); chooseRecord("amount"); pause(200); press("resend"); },
                   [this] { window_->dock()->showTab(BottomDock::Tab::events); command("layout.reset"); }});
    out.push_back({QStringLiteral("groups-table"), [this] { show("groups", Selection::ofGroup(QStringLiteral("invoices"))); command("view.table"); }, [this] { command("view.table"); }});
    // A partition goes from one member to another in two steps; between them somebody has given it back, and nobody has it.
    out.push_back({QStringLiteral("groups-rebalance"), [this] { show("groups", Selection::ofGroup(QStringLiteral("handover"))); },
                   [this] {
                     SessionAdmin::of(session_).removeConsumer("handover");
                     wait([this] { return handedOver(2); }, 10'000);
                   }, [this] {
                     show("groups", Selection::ofGroup(QStringLiteral("handover")));
                     wait([this] { return handedOver(2); }, 10'000);
                     pause(300);
                     consumer("handover", "quiet.topic", 0, "cooperative-sticky");
                     wait([this] {
                       const observe::GroupView* group = session_->view()->find_group("handover");
                       return group != nullptr && group->rebalancing_since.ms > 0 && group->members.size() == 3 && owned(*group) < 4;
                     }, 10'000);
                   }});
    out.push_back({QStringLiteral("groups-consumer"), [this] { show("groups", Selection::ofGroup(QStringLiteral("shipments"))); }, {}});
    // Its members get to a new target one by one, and read meanwhile.
    out.push_back({QStringLiteral("groups-reconciling"), [this] { show("groups", Selection::ofGroup(QStringLiteral("shipments"))); },
                   [this] {
                     SessionAdmin::of(session_).removeConsumer("shipments");
                     wait([this] { return settled("shipments", 2); }, 10'000);
                   },
                   [this] {
                     show("groups", Selection::ofGroup(QStringLiteral("shipments")));
                     wait([this] { return settled("shipments", 2); }, 10'000);
                     pause(300);
                     member("shipments");
                     wait(
                         [this] {
                           const observe::GroupView* group = session_->view()->find_group("shipments");
                           return group != nullptr && group->state == "Reconciling";
                         },
                         10'000);
                   }});
    out.push_back({QStringLiteral("groups-idle"), [this] { show("groups", Selection::ofGroup(QStringLiteral("warehouse"))); }, {}});
    out.push_back({QStringLiteral("groups-nobody"), [this] { show("groups", Selection::ofGroup(QStringLiteral("reports"))); }, {}});
    out.push_back({QStringLiteral("groups-filtered"), [this] { filtered("groups", "lag > 1000000"); }, [this] { unfiltered("groups"); }});
    out.push_back({QStringLiteral("group-menu"), [this] { show("groups", Selection::ofGroup(QStringLiteral("invoices"))); command("selection.menu"); }, {}});
    out.push_back(dialog("delete-offsets", "groups", Selection::ofGroup(QStringLiteral("reports")), "group.delete_offsets"));
    out.push_back(dialog("delete-used-group", "groups", Selection::ofGroup(QStringLiteral("invoices")), "group.delete"));
    out.push_back(dialog("reset-used-group", "groups", Selection::ofGroup(QStringLiteral("invoices")), "group.reset"));
    out.push_back({QStringLiteral("clients-filtered"), [this] { filtered("clients", "errors > 1000"); }, [this] { unfiltered("clients"); }});
    out.push_back({QStringLiteral("events-hidden"), [this] {
                     show("groups", {});
                     command("events.show");
                     window_->dock()->setOpenHeight(qRound(420 * Theme::current().scale()));
                     window_->dock()->setFilter(QStringLiteral("severity == error"));
                   }, [this] { window_->dock()->setFilter({}); command("layout.reset"); }});
    for (const auto& [id, text] : {std::pair("palette-commands", ">"), std::pair("palette-objects", "@"), std::pair("palette-typed", "offs"),
                                   std::pair("palette-none", "zzzz"), std::pair("palette-record", "demo.orders/0@1")}) {
      out.push_back({QString::fromLatin1(id), [this, text = text] { palette(text); }, [this] { closePalette(); }});
    }
    // With the inspector, which a narrow window has folded at first.
    for (const char* page : {"cluster", "partitions", "messages", "groups", "quorum", "topics", "clients"}) {
      out.push_back({QStringLiteral("beside-%1").arg(QLatin1String(page)),
                     [=, this] {
                       show(page, page[0] == 'g' ? Selection::ofGroup(QStringLiteral("invoices")) : Selection::ofPartition(topic_, 0));
                       if (!window_->inspector()->isVisible()) {
                         command("inspector.toggle");
                       }
                     },
                     [this] { command("layout.reset"); }});
    }
    for (const char* page : {"topics", "messages", "groups", "clients"}) {
      out.push_back({QStringLiteral("present-%1").arg(QLatin1String(page)), [=, this] { show(page, page[0] == 'g' ? Selection::ofGroup(QStringLiteral("invoices")) : topic); command("view.present"); },
                     [this] { command("view.present"); }});
    }
    out.push_back(dialog("create-topic-taken", "topics", topic, "topic.create", {{QStringLiteral("name"), QStringLiteral("demo.orders")}}));
  }

  std::vector<Scene> fullScenes() {
    const Selection topic = Selection::ofTopic(topic_);
    const Selection partition = Selection::ofPartition(topic_, 0);
    const Selection group = Selection::ofGroup(QStringLiteral("invoices"));
    std::vector<Scene> out;
    out.push_back({QStringLiteral("cluster"), [=, this] { show("cluster", partition); }, {}});
    out.push_back({QStringLiteral("partitions"), [=, this] { show("partitions", partition); }, {}});
    out.push_back({QStringLiteral("messages"), [=, this] { show("messages", topic); }, {}});
    out.push_back({QStringLiteral("groups"), [=, this] { show("groups", group); }, {}});
    out.push_back({QStringLiteral("quorum"), [this] { show("quorum", {}); }, {}});
    out.push_back({QStringLiteral("quorum-table"), [this] { show("quorum", Selection::ofNode(1)); command("view.table"); }, [this] { command("view.table"); }});
    out.push_back({QStringLiteral("quorum-node"), [this] { show("quorum", Selection::ofNode(session_->view()->quorum->leader.value())); command("explain.show"); },
                   [this] { window_->inspector()->showTab(Inspector::Tab::overview); }});
    out.push_back({QStringLiteral("cluster-none"), [this] { show("cluster", Selection::ofCluster()); }, {}});
    out.push_back({QStringLiteral("cluster-node"), [this] { show("cluster", Selection::ofNode(1)); }, {}});
    out.push_back({QStringLiteral("cluster-group"), [=, this] { show("cluster", group); }, {}});
    out.push_back({QStringLiteral("cluster-topic"), [=, this] { show("cluster", topic); }, {}});
    out.push_back({QStringLiteral("cluster-full"), [=, this] { show("cluster", partition); detail(2); }, [this] { detail(1); }});
    out.push_back({QStringLiteral("partitions-range"), [=, this] { show("partitions", Selection::ofRange(topic_, 0, 1, 3)); pause(300); }, {}});
    out.push_back({QStringLiteral("partitions-fit"), [=, this] { show("partitions", partition); press("partitions", "Fit the whole log"); }, [this] { press("partitions", "Follow the end"); }});
    out.push_back({QStringLiteral("topics"), [=, this] { show("topics", topic); }, {}});
    out.push_back({QStringLiteral("clients"), [this] { show("clients", {}); command("connect.help"); }, {}});
    out.push_back({QStringLiteral("doctor"), [this] { command("connect.doctor"); }, {}});
    if (options_.partitions > 0) {
      out.push_back({QStringLiteral("groups-wide"), [this] { show("groups", Selection::ofGroup(QStringLiteral("ledger-audit"))); }, {}});
    }
    out.push_back({QStringLiteral("messages-filter"), [=, this] {
                     command("filter.apply", {{QStringLiteral("page"), QStringLiteral("messages")}, {QStringLiteral("topic"), topic_},
                                              {QStringLiteral("text"), QStringLiteral("key == \"A\" && value.amount > 100")}});
                   }, [this] { window_->page(QStringLiteral("messages"))->applyFilter({}); }});
    out.push_back({QStringLiteral("cluster-table"), [=, this] { show("cluster", partition); command("view.table"); }, [this] { command("view.table"); }});
    out.push_back({QStringLiteral("partitions-table"), [=, this] { show("partitions", partition); command("view.table"); }, [this] { command("view.table"); }});
    out.push_back({QStringLiteral("explain"), [=, this] { show("partitions", partition); command("explain.show"); },
                   [this] { window_->inspector()->showTab(Inspector::Tab::overview); }});
    out.push_back({QStringLiteral("events"), [=, this] {
                     show("cluster", {});
                     command("events.show");
                     window_->dock()->setOpenHeight(qRound(420 * Theme::current().scale()));
                   }, [this] { command("layout.reset"); }});
    out.push_back({QStringLiteral("produce"), [=, this] { show("cluster", partition); command("produce.open"); },
                   [this] { window_->dock()->showTab(BottomDock::Tab::events); command("layout.reset"); }});
    out.push_back({QStringLiteral("present-cluster"), [=, this] { show("cluster", partition); command("view.present"); }, [this] { command("view.present"); }});
    out.push_back({QStringLiteral("present-partitions"), [=, this] { show("partitions", partition); command("view.present"); }, [this] { command("view.present"); }});
    out.push_back({QStringLiteral("first-run"), [=, this] { show("cluster", partition); hints(); }, [this] { noHints(); }});
    out.push_back({QStringLiteral("palette"), [=, this] { show("cluster", partition); command("omnibox.open"); }, [this] { closePalette(); }});
    out.push_back({QStringLiteral("menu"), [=, this] { show("cluster", partition); command("selection.menu"); }, {}});
    out.push_back({QStringLiteral("record"), [=, this] {
                     show("messages", topic);
                     wait([this] { return rows("records") > 0; }, 2'000);
                     choose("records", 0);
                   }, {}});
    out.push_back({QStringLiteral("order-menu"), [=, this] {
                     show("messages", topic);
                     pause(150);
                     if (const auto* table = child<QTableView>("records"); table != nullptr) {
                       Q_EMIT table->horizontalHeader()->customContextMenuRequested(QPoint(60, 10));
                     }
                   }, {}});
    out.push_back({QStringLiteral("configs"), [=, this] { show("topics", topic); command("topic.configs", {{QStringLiteral("topic"), topic_}}); pause(150); choose("configTable", 3); }, {}});
    out.push_back({QStringLiteral("review-configs"), [=, this] {
                     show("topics", topic);
                     showAllConfigs();
                     wait([this] { return rows("configTable") > 0; }, 2'000);
                     stage("retention.ms", "1 h");
                     stage("segment.bytes", "16 MB");
                     command("topic.review");
                   }, [this] {
                     closeAll();
                     if (auto* discard = child<QAbstractButton>("discardChanges"); discard != nullptr) {
                       discard->click();
                     }
                   }});
    out.push_back(dialog("broker-configs", "cluster", partition, "broker.configs"));
    out.push_back(dialog("group-configs", "groups", group, "group.configs"));
    out.push_back(dialog("settings", "cluster", partition, "app.settings"));
    out.push_back(dialog("keys", "cluster", partition, "help.keys"));
    out.push_back(dialog("keep", "cluster", partition, "cluster.keep"));
    out.push_back(dialog("create-topic", "topics", topic, "topic.create", {{QStringLiteral("name"), QStringLiteral("payments")}}));
    out.push_back(dialog("copy-topic", "topics", topic, "topic.copy", {{QStringLiteral("topic"), topic_}}));
    out.push_back(dialog("grow", "topics", topic, "topic.grow", {{QStringLiteral("topic"), topic_}}));
    out.push_back(dialog("delete-topic", "topics", topic, "topic.delete", {{QStringLiteral("topic"), topic_}}));
    out.push_back(dialog("delete-records", "topics", topic, "topic.delete_records", {{QStringLiteral("topic"), topic_}}));
    out.push_back(dialog("consumer", "groups", group, "consumer.options"));
    out.push_back(dialog("reset-offsets", "groups", Selection::ofGroup(QStringLiteral("reports")), "group.reset"));
    out.push_back(dialog("delete-group", "groups", Selection::ofGroup(QStringLiteral("reports")), "group.delete"));
    addWork(out);
    addKills(out);
    return out;
  }

  static constexpr int kSettleMs = 450;
  MainWindow* window_;
  Session* session_;
  ShotMatrixOptions options_;
  QRegularExpression only_;
  QString topic_ = QStringLiteral("demo.orders");
  int waiting_ = 0;
  int pausing_ = 0;  // waits and pauses within each other
  QElapsedTimer arranged_;  // since the arrangement last waited for something
};

}  // namespace

void schedule_shot_matrix(MainWindow* window, Session* session, const ShotMatrixOptions& options) {
  auto* matrix = new Matrix(window, session, options);
  window->resize(1440, 900);
  window->show();
  QTimer::singleShot(0, matrix, [matrix] { matrix->run(); });
}

void stop_shot_matrix() { stopped = true; }

}  // namespace hw::ui
