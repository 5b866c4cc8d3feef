// SPDX-License-Identifier: Apache-2.0
#include "ui/window/main_window.h"

#include <algorithm>
#include <utility>

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QSettings>
#include <QShortcut>
#include <QStackedWidget>
#include <QStandardPaths>
#include <QTableView>
#include <QTextEdit>
#include <QTimer>
#include <QVBoxLayout>

#include "ui/dialogs/question_dialog.h"
#include "ui/models/client_facts.h"
#include "ui/panels/pages.h"
#include "ui/theme/theme.h"
#include "ui/window/bottom_dock.h"
#include "ui/window/coach_mark.h"
#include "ui/window/controls.h"
#include "ui/window/fault_bar.h"
#include "ui/window/inspector.h"
#include "ui/window/omnibox.h"
#include "ui/window/page.h"
#include "ui/window/rail.h"
#include "ui/window/seen_width.h"
#include "ui/window/severity_bar.h"
#include "ui/window/top_bar.h"

namespace hw::ui {

namespace {

constexpr int kPageLeast = 720;  // px at scale 1.0 beside the inspector; with less it stands over the page

constexpr std::size_t kHistoryMax = 200;

// Keys that act without a modifier go through keyPressEvent and the event filter, so that text fields come first.
bool bare_key(const QKeySequence& keys) {
  if (keys.count() != 1) {
    return false;
  }
  const QKeyCombination combination = keys[0];
  const bool function_key = combination.key() >= Qt::Key_F1 && combination.key() <= Qt::Key_F35;
  return (combination.keyboardModifiers() & ~Qt::ShiftModifier) == Qt::NoModifier && !function_key;
}

}  // namespace

MainWindow::MainWindow(Session* session, const Options& options, QWidget* parent)
    : QMainWindow(parent), session_(session), options_(options), commands_(new CommandRegistry(this)) {
  setWindowTitle(tr("Highwater"));
  setMinimumSize(820, 520);
  rates_ = new QTimer(this);
  rates_->setSingleShot(true);
  rates_->setInterval(1'000);
  connect(rates_, &QTimer::timeout, this, &MainWindow::sampleRates);
  message_ = new QTimer(this);
  message_->setSingleShot(true);
  message_->setInterval(6'000);
  connect(message_, &QTimer::timeout, this, [this] {
    values_.message.clear();
    status_->setValues(values_);
  });
  addCommands();
  addLookCommands();
  build();
  restore();
  hints_on_ = options_.hints && hints_on_;
  connect(session_, &Session::frameReady, this, &MainWindow::frame);
  connect(session_, &Session::failed, this, [this](const QString& what) { say(what, true); });
  qApp->installEventFilter(this);
  showPage(pages_.front()->id());
  applyWidth();
  focusPage();
  steady_.start();
  frame();
  sampleRates();
}

MainWindow::~MainWindow() { qApp->removeEventFilter(this); }

Page* MainWindow::currentPage() const { return static_cast<Page*>(stack_->currentWidget()); }

Page* MainWindow::page(const QString& id) const {
  const auto it = std::find_if(pages_.begin(), pages_.end(), [&](const Page* p) { return p->id() == id; });
  return it == pages_.end() ? nullptr : *it;
}

CoachMark* MainWindow::coachMark() const { return coach_; }

void MainWindow::build() {
  auto* central = new QWidget(this);
  auto* column = new QVBoxLayout(central);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  setCentralWidget(central);

  pages_ = create_pages(this);
  pages_ << create_clients_page(this);
  addPageCommands();

  top_ = new TopBar(commands_, [this] { return session_->view(); }, central);
  top_->setCluster(session_->clusterName());
  top_->setStorage(session_->storage());
  column->addWidget(top_);
  auto* middle = new QHBoxLayout;
  middle->setSpacing(0);
  column->addLayout(middle, 1);
  rail_ = new Rail(pages_, central);
  middle->addWidget(rail_);
  auto* right = new QVBoxLayout;
  right->setSpacing(0);
  middle->addLayout(right, 1);
  auto* upper = new QHBoxLayout;
  upper->setSpacing(0);
  right->addLayout(upper, 1);
  stack_ = new QStackedWidget(central);
  for (Page* page : pages_) {
    stack_->addWidget(page);
    page->attach(session_);
    connect(page, &Page::selectionRequested, this, &MainWindow::select);
    connect(page, &Page::produceRequested, this, [this](const QString& topic, const RecordRow& record, bool choose_topic) {
      if (produce_ != nullptr) {
        dock_->setOpen(true);
        dock_->showTab(BottomDock::Tab::produce);
        produce_->openWith(topic, record, choose_topic);
      }
    });
    connect(page, &Page::openRequested, this, &MainWindow::open);
    connect(page, &Page::contextRequested, this, &MainWindow::objectMenu);
    connect(page, &Page::commandRequested, this,
            [this](const QString& id, const QVariantMap& args) { commands_->run(id, args); });
  }
  auto* pages = new QVBoxLayout;
  pages->setSpacing(0);
  fault_bar_ = new FaultBar(central);
  pages->addWidget(fault_bar_);
  pages->addWidget(stack_, 1);
  upper->addLayout(pages, 1);
  const auto tell = [this](const QString& error) {
    if (!error.isEmpty()) {
      say(error, true);
    }
  };
  connect(fault_bar_, &FaultBar::startRequested, this, [this, tell](int node) { SessionNodes::of(session_).act(NodeAction::start, node, tell); });
  connect(fault_bar_, &FaultBar::healRequested, this, [this, tell] { SessionNodes::of(session_).healAll(tell); });
  inspector_ = new Inspector(central);
  inspector_->setFixedWidth(Theme::current().px(Metrics::kInspector));
  upper->addWidget(inspector_);
  strip_ = new InspectorStrip(central);
  upper->addWidget(strip_);
  upper_ = upper;
  produce_ = create_produce_panel(this);
  dock_ = new BottomDock(produce_, central);
  right->addWidget(dock_);
  status_ = new StatusBar(central);
  column->addWidget(status_);
  values_.port = session_->bootstrap().section(QLatin1Char(':'), -1);
  values_.hint = tr("F1 keys · Ctrl K commands");

  inspector_->attach(session_);
  dock_->attach(session_);
  connect(inspector_, &Inspector::selectionRequested, this, &MainWindow::select);
  connect(inspector_, &Inspector::commandRequested, this, [this](const QString& id, const QVariantMap& args) {
    const QString address = args.value(QStringLiteral("address")).toString();
    if (const auto to = Selection::parse(address); to) {
      select(*to);
    }
    commands_->run(id, args);
  });
  connect(inspector_, &Inspector::closeRequested, this, [this] { setInspectorOpen(false); });
  connect(strip_, &InspectorStrip::openRequested, this, [this] { setInspectorOpen(true); });
  connect(dock_, &BottomDock::selectionRequested, this, &MainWindow::select);
  if (produce_ != nullptr) {
    connect(produce_, &ProducePanel::selectionRequested, this, [this](const Selection& landed) {
      select(landed);
      if (landed.kind == Selection::Kind::record && hint_step_ == 0) {
        hint_about_ = landed;
        hintDone(0);
      }
    });
    connect(produce_, &ProducePanel::closeRequested, this, [this] {
      dock_->showTab(BottomDock::Tab::events);
      focusPage();
    });
  }
  connect(rail_, &Rail::pageRequested, this, &MainWindow::showPage);
  connect(rail_, &Rail::collapseRequested, this, [this](bool collapsed) {
    rail_wanted_collapsed_ = collapsed;
    rail_->setCollapsed(collapsed);
  });
  connect(top_->omnibox(), &Omnibox::objectChosen, this, &MainWindow::open);
  connect(top_->omnibox(), &Omnibox::commandChosen, this, [this](const QString& id) { commands_->run(id); });
  connect(top_, &TopBar::menuRequested, this, &MainWindow::clusterMenu);
  connect(top_, &TopBar::themeMenuRequested, this, &MainWindow::themeMenu);
  connect(top_, &TopBar::healthClicked, this, [this] {
    showPage(pages_.front()->id());
    select(Selection::ofCluster());
    setInspectorOpen(true);
  });
  connect(top_, &TopBar::storageClicked, this, [this] {
    if (session_->storage().in_memory) {
      commands_->run(QStringLiteral("cluster.keep"));
    } else {
      select(Selection::ofCluster());
      setInspectorOpen(true);
    }
  });
  new FocusRing(this);
}

bool MainWindow::textHasFocus() const {
  const QWidget* w = QApplication::focusWidget();
  if (w == nullptr) {
    return false;
  }
  if (const auto* combo = qobject_cast<const QComboBox*>(w); combo != nullptr) {
    return combo->isEditable();
  }
  if (const auto* line = qobject_cast<const QLineEdit*>(w); line != nullptr) {
    return !line->isReadOnly();
  }
  if (const auto* plain = qobject_cast<const QPlainTextEdit*>(w); plain != nullptr) {
    return !plain->isReadOnly();
  }
  if (const auto* rich = qobject_cast<const QTextEdit*>(w); rich != nullptr) {
    return !rich->isReadOnly();
  }
  return qobject_cast<const QAbstractSpinBox*>(w) != nullptr;
}

bool MainWindow::eventFilter(QObject* object, QEvent* event) {
  if (object == stack_ && (event->type() == QEvent::Resize || event->type() == QEvent::Move)) {
    placeInspector();
  }
  // Dialogs stand in the middle of what they are about, the page, so that the dock stays in sight where there is room.
  if (event->type() == QEvent::Show && object->isWidgetType()) {
    auto* dialog = qobject_cast<QDialog*>(object);
    if (dialog != nullptr && dialog->parentWidget() != nullptr && dialog->parentWidget()->window() == this) {
      const QRect page(stack_->mapToGlobal(QPoint(0, 0)), stack_->size());
      QRect place(QPoint(0, 0), dialog->size());
      place.moveCenter(page.center());
      const int lowest = page.bottom() + 1 - place.height();
      place.moveTop(std::max(std::min(place.top(), lowest), mapToGlobal(QPoint(0, 0)).y()));
      dialog->move(place.topLeft());
    }
  }
  // Letters and digits before item views take them for their own search; everything else goes the usual way.
  if (event->type() == QEvent::KeyPress && object->isWidgetType() && isActiveWindow() &&
      QApplication::activeModalWidget() == nullptr && QApplication::activePopupWidget() == nullptr) {
    auto* widget = static_cast<QWidget*>(object);
    auto* key = static_cast<QKeyEvent*>(event);
    if (key->text() == QLatin1String("?") && widget->window() == this && !textHasFocus()) {
      return commands_->run(QStringLiteral("help.keys"));
    }
    const bool letter = (key->key() >= Qt::Key_A && key->key() <= Qt::Key_Z) ||
                        (key->key() >= Qt::Key_0 && key->key() <= Qt::Key_9) || key->key() == Qt::Key_Slash;
    if (letter && widget->window() == this && (key->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) == 0 &&
        !textHasFocus()) {
      const bool shift = key->modifiers().testFlag(Qt::ShiftModifier);
      const Command* found = nullptr;
      for (const Command& command : commands_->all()) {
        if (!bare_key(command.shortcut) || command.shortcut[0].key() != key->key()) {
          continue;
        }
        // G and Shift+G differ; where only one of them is taken, both mean it (a layout may need Shift for a slash).
        if (found == nullptr || command.shortcut[0].keyboardModifiers().testFlag(Qt::ShiftModifier) == shift) {
          found = &command;
        }
      }
      if (found != nullptr) {
        const QString id = found->id;
        return commands_->run(id);
      }
    }
  }
  return QMainWindow::eventFilter(object, event);
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  if (!textHasFocus()) {
    const QKeySequence pressed(event->keyCombination());
    for (const Command& command : commands_->all()) {
      if (bare_key(command.shortcut) && command.shortcut == pressed) {
        const QString id = command.id;
        if (commands_->run(id)) {
          return;
        }
      }
    }
  }
  QMainWindow::keyPressEvent(event);
}

bool MainWindow::event(QEvent* event) {
  if (event->type() == QEvent::UpdateRequest) {
    QElapsedTimer timer;
    timer.start();
    const bool result = QMainWindow::event(event);
    meter_.addPaint(timer.nsecsElapsed());
    return result;
  }
  return QMainWindow::event(event);
}

std::int64_t MainWindow::recordsIn() const {
  std::int64_t sum = 0;
  for (const auto& [id, node] : session_->view()->nodes) {
    sum += node->counters == nullptr ? 0 : node->counters->records_in.get();
  }
  return sum;
}

void MainWindow::frame() {
  if (session_ == nullptr) {
    return;
  }
  if (!rates_->isActive()) {
    // From here on there is something to be measured.
    static_cast<void>(in_.tick(steady_.elapsed()));
    static_cast<void>(out_.tick(steady_.elapsed()));
    rates_->start();
  }
  if (paused_) {
    top_->setPaused(true, recordsIn() - paused_records_);
    return;
  }
  if (!isVisible() || isMinimized()) {
    return;
  }
  QElapsedTimer timer;
  timer.start();
  const observe::ViewPtr view = session_->view();
  if (!greeted_ && session_->demoTraffic()) {
    // Something to look at: the first partition of the demo, once.
    const observe::TopicView* demo = view->find_topic("demo.orders");
    if (demo != nullptr && !demo->partitions.empty() && demo->partitions.front() != nullptr) {
      greeted_ = true;
      if (selection_.none()) {
        select(Selection::ofPartition(QStringLiteral("demo.orders"), 0));
      }
    }
  }
  showFaults(view);
  top_->update(*view, faults_);
  currentPage()->deliverFrame();
  if (inspector_->isVisible()) {
    inspector_->refresh();
  }
  dock_->refresh();
  caption();
  for (const Page* page : pages_) {
    rail_->setAttention(page->id(), page->attention(faults_));
  }
  updateHint();
  meter_.addWork(timer.nsecsElapsed());
}

void MainWindow::showFaults(const observe::ViewPtr& view) {
  static_cast<void>(story_.take(view));
  std::vector<NodeCondition> conditions = SessionNodes::of(session_).conditions();
  const bool same = faults_of_ != nullptr && faults_of_->topics == view->topics && faults_of_->nodes == view->nodes && faults_of_->quorum == view->quorum &&
                    conditions == conditions_;
  if (same) {
    return;
  }
  faults_of_ = view;
  conditions_ = std::move(conditions);
  faults_ = fault_facts(*view, conditions_, story_.lost(), &fault_memory_);
  if (!faults_.any) {
    story_.forget();
  }
  fault_bar_->take(faults_);
  for (Page* page : pages_) {
    page->setFaults(faults_);
  }
}

void MainWindow::sampleRates() {
  if (session_ == nullptr) {
    return;
  }
  const observe::ViewPtr view = session_->view();
  Flow came;
  Flow handed;
  for (const auto& [id, node] : view->nodes) {
    if (node->counters != nullptr) {
      came += came_[id].take(node->counters, node->counters->records_in.get(), 0);
      handed += handed_[id].take(node->counters, node->counters->records_out.get(), 0);
    }
  }
  in_.add(came);
  out_.add(handed);
  const bool moving = came.records > 0 || handed.records > 0;
  const bool flows = in_.tick(steady_.elapsed());
  const bool reads = out_.tick(steady_.elapsed());
  values_.records_in = in_.records_per_second();
  values_.records_out = out_.records_per_second();
  values_.port = session_->bootstrap().section(QLatin1Char(':'), -1);
  if (view->connections != clients_seen_ || view->groups != groups_seen_) {
    clients_seen_ = view->connections;
    groups_seen_ = view->groups;
    values_.clients = static_cast<std::int64_t>(count_clients(*view));
  }
  values_.lost = view->events_lost;
  const double worst = meter_.takeWorst();
  // The status bar's own repaint is no frame: without traffic the window is idle.
  values_.frame_ms = moving ? worst : 0;
  status_->setValues(values_);
  top_->setStorage(session_->storage());
  top_->setCluster(session_->clusterName());
  if (moving || flows || reads) {
    rates_->start();
  }
}

void MainWindow::showPage(const QString& id) {
  Page* wanted = page(id);
  if (wanted == nullptr) {
    return;
  }
  const bool same = stack_->currentWidget() == wanted;
  // Hiding the old page moves the focus to whatever comes next, so it is settled here.
  const QWidget* focus = QApplication::focusWidget();
  const bool typing = textHasFocus() && !currentPage()->isAncestorOf(focus);
  stack_->setCurrentWidget(wanted);
  rail_->setCurrent(id);
  wanted->setSelection(selection_);
  if (!paused_) {
    wanted->deliverFrame();
  }
  if (!same) {
    setWindowTitle(tr("%1 – %2 – Highwater").arg(wanted->title(), session_->clusterName()));
    if (isVisible() && !typing) {
      focusPage();
    }
    if (coach_ != nullptr && coach_->parentWidget() != wanted) {
      coach_->deleteLater();
      coach_ = nullptr;
    }
    if (id == QLatin1String("messages") && hint_step_ == 1) {
      hintDone(1);
    }
    remember();
  }
}

void MainWindow::focusPage() {
  Page* page = currentPage();
  QWidget* target = page;
  if (page->focusProxy() == nullptr) {
    // A canvas walks its objects with the arrow keys, so it is the better place to start.
    const auto children = page->findChildren<QWidget*>();
    for (QWidget* child : children) {
      if (child->property("ownFocus").toBool() && child->isVisibleTo(page) && child->focusPolicy() != Qt::NoFocus) {
        target = child;
        break;
      }
    }
  }
  target->setFocus(Qt::OtherFocusReason);
}

void MainWindow::select(const Selection& selection) {
  if (selection == selection_) {
    return;
  }
  selection_ = selection;
  // Every page knows it, for its commands; only the one in front shows it now, the others when they come to the front.
  for (Page* page : pages_) {
    page->Page::setSelection(selection);
  }
  currentPage()->setSelection(selection);
  for (Page* page : pages_) {
    if (page != currentPage()) {
      page->Page::setSelection(selection);  // its commands act on it; what it shows follows when it is shown
    }
  }
  inspector_->setSelection(selection);
  strip_->setAddress(selection.kind == Selection::Kind::cluster ? tr("Cluster") : selection.address());
  remember();
}

void MainWindow::open(const Selection& selection) {
  select(selection);
  switch (selection.kind) {
    case Selection::Kind::none:
      break;
    case Selection::Kind::cluster:
    case Selection::Kind::node:
      showPage(QStringLiteral("cluster"));
      break;
    case Selection::Kind::connection:
      showPage(QStringLiteral("clients"));
      break;
    case Selection::Kind::group:
    case Selection::Kind::member:
      showPage(QStringLiteral("groups"));
      break;
    case Selection::Kind::topic:
    case Selection::Kind::partition:
      showPage(QStringLiteral("partitions"));
      break;
    case Selection::Kind::offset_range:
    case Selection::Kind::record:
      showPage(QStringLiteral("messages"));
      break;
  }
}

void MainWindow::setPaused(bool paused) {
  if (paused == paused_) {
    return;
  }
  paused_ = paused;
  paused_records_ = recordsIn();
  top_->setPaused(paused, 0);
  if (!paused) {
    frame();
  }
}

void MainWindow::say(const QString& message, bool bad) {
  values_.message = message;
  values_.message_bad = bad;
  status_->setValues(values_);
  message_->start();
}

// --- history

void MainWindow::remember() {
  if (travelling_) {
    return;
  }
  const Place here{currentPage()->id(), selection_};
  if (!history_.empty() && history_[history_at_] == here) {
    return;
  }
  if (!history_.empty()) {
    history_.resize(history_at_ + 1);
  }
  history_.push_back(here);
  if (history_.size() > kHistoryMax) {
    history_.erase(history_.begin());
  }
  history_at_ = history_.size() - 1;
}

void MainWindow::travel(int steps) {
  const auto wanted = static_cast<std::ptrdiff_t>(history_at_) + steps;
  if (wanted < 0 || wanted >= static_cast<std::ptrdiff_t>(history_.size())) {
    return;
  }
  history_at_ = static_cast<std::size_t>(wanted);
  travelling_ = true;
  go(history_[history_at_]);
  travelling_ = false;
}

void MainWindow::go(const Place& place) {
  select(place.selection);
  showPage(place.page);
}

// --- layout

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  applyWidth();
}

void MainWindow::applyWidth() {
  if (coach_ != nullptr) {
    QTimer::singleShot(0, this, &MainWindow::placeHint);
  }
  const double scale = Theme::current().scale();
  const double width = this->width() / scale;
  const int width_class = width < Metrics::kNarrow ? -1 : (width >= Metrics::kWide ? 1 : 0);
  width_class_ = width_class;
  const bool narrow = width_class < 0;
  top_->setNarrow(narrow);
  dock_->setNarrow(narrow);
  inspector_->setFixedWidth(Theme::current().px(width_class > 0 ? Metrics::kInspectorWide : Metrics::kInspector));
  for (Page* page : pages_) {
    page->setWidthClass(width_class);
  }
  applyRail();
}

void MainWindow::applyRail() {
  const bool narrow = width_class_ < 0;
  rail_->setCollapsed(narrow || rail_wanted_collapsed_);
  rail_->setVisible(!presenting_);
  top_->setVisible(!presenting_);
  status_->setVisible(!presenting_);
  const bool open = narrow ? inspector_open_narrow_ : inspector_open_;
  const Theme& t = Theme::current();
  const int beside = width() - t.px(narrow || rail_wanted_collapsed_ ? Metrics::kRailCollapsed : Metrics::kRail) - inspector_->maximumWidth();
  const bool floats = open && beside < t.px(kPageLeast);
  if (floats != inspector_floats_) {
    inspector_floats_ = floats;
    if (floats) {
      upper_->removeWidget(inspector_);
    } else {
      upper_->insertWidget(1, inspector_);
    }
  }
  inspector_->setVisible(open && !presenting_);
  strip_->setVisible((!open || floats) && !presenting_);
  placeInspector();
  dock_->setVisible(!presenting_);
  if (inspector_->isVisible()) {
    inspector_->refresh();
  }
}

void MainWindow::placeInspector() {
  // Where it stands over the page, the page gives way as far as it can: only the rest is hidden below it.
  const int wide = inspector_floats_ && inspector_->isVisible() ? inspector_->maximumWidth() : 0;
  const int whole = upper_->geometry().width() - (strip_->isVisible() ? strip_->width() : 0);
  const int aside = std::clamp(whole - Theme::current().px(kPageLeast), 0, wide);
  QLayout* pages = upper_->itemAt(0)->layout();
  if (pages->contentsMargins().right() != aside) {
    pages->setContentsMargins(0, 0, aside, 0);
  }
  if (inspector_floats_) {
    const QPoint right = stack_->mapTo(inspector_->parentWidget(), QPoint(stack_->width() + aside, 0));
    inspector_->setGeometry(right.x() - inspector_->maximumWidth(), right.y(), inspector_->maximumWidth(), stack_->height());
    inspector_->raise();
  }
  // What lies below it is not seen: tables keep their columns beside it.
  const int covered = wide - aside;
  if (stack_->property(kCoveredProperty).toInt() != covered) {
    stack_->setProperty(kCoveredProperty, covered);
    for (QTableView* table : stack_->findChildren<QTableView*>()) {
      QResizeEvent again(table->viewport()->size(), table->viewport()->size());
      QCoreApplication::sendEvent(table->viewport(), &again);
    }
    for (Page* page : pages_) {
      page->setWidthClass(width_class_);
    }
  }
}

void MainWindow::setInspectorOpen(bool open) {
  if (width_class_ < 0) {
    inspector_open_narrow_ = open;
  } else {
    inspector_open_ = open;
  }
  applyRail();
}

void MainWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  QTimer::singleShot(0, this, &MainWindow::frame);
}

// --- closing and remembering

void MainWindow::closeEvent(QCloseEvent* event) {
  if (session_ != nullptr && session_->storage().in_memory && session_->foreignRecords() > 0) {
    QuestionDialog question(tr("Keep the records?"),
                            tr("%Ln record(s) of your own clients are in memory only and are gone when the window closes.",
                               nullptr, static_cast<int>(session_->foreignRecords())),
                            this);
    question.addCancel();
    question.addAnswer(tr("Close anyway"), QuestionDialog::AnswerKind::danger);
    question.addAnswer(tr("Keep this cluster…"), QuestionDialog::AnswerKind::primary);
    const int answer = question.exec();
    if (answer == 3) {
      event->ignore();
      keepCluster();
      return;
    }
    if (answer != 2) {
      event->ignore();
      return;
    }
  }
  store();
  event->accept();
}

void MainWindow::restore() {
  hints_on_ = true;
  resize(1440, 900);
  if (!options_.persist) {
    return;
  }
  const QSettings settings;
  hints_on_ = settings.value(QStringLiteral("hints"), true).toBool();
  restoreGeometry(settings.value(QStringLiteral("geometry")).toByteArray());
  profile_ = settings.value(QStringLiteral("profile"), profile_).toString();
  dock_->severities()->setSeverities(settings.value(QStringLiteral("events/severities"), EventModel::kAllSeverities).toUInt());
  applyProfile();
  Theme& theme = Theme::current();
  theme.setScale(settings.value(QStringLiteral("scale"), 1.0).toDouble());
  theme.setReduceMotion(settings.value(QStringLiteral("reduce_motion"), false).toBool());
  if (const auto choice = Theme::choiceOf(settings.value(QStringLiteral("theme")).toString()); choice) {
    theme.setChoice(*choice);
  }
}

void MainWindow::store() {
  if (!options_.persist) {
    return;
  }
  QSettings settings;
  if (!presenting_) {
    settings.setValue(QStringLiteral("geometry"), saveGeometry());
  }
  settings.setValue(QStringLiteral("profile"), profile_);
  settings.setValue(QStringLiteral("events/severities"), dock_->severities()->severities());
  storeProfile();
}

}  // namespace hw::ui
