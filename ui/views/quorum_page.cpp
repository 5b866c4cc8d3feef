// SPDX-License-Identifier: Apache-2.0
#include "ui/views/quorum_page.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLineEdit>
#include <QPainter>
#include <QPointer>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "ui/dialogs/question_dialog.h"
#include "ui/filter/filter_box.h"
#include "ui/painting/text.h"
#include "ui/session/session_admin.h"
#include "ui/session/session_nodes.h"
#include "ui/views/data_delegate.h"
#include "ui/views/metadata_log_model.h"
#include "ui/views/pane.h"
#include "ui/views/quorum_canvas.h"
#include "ui/views/quorum_table.h"
#include "ui/views/table_notice.h"
#include "ui/views/table_setup.h"
#include "ui/window/command_registry.h"
#include "ui/window/controls.h"

namespace hw::ui {

namespace {

constexpr int kTickMs = 500;
constexpr int kCalmTickMs = 5'000;  // while a controller leads and a majority answers: only ages change
// While nothing is wrong the controller writes a record every half second that changes nothing. A look after each of them would
// cost more than all else of an idle window.
constexpr int kRestMs = 1'000;
constexpr std::int64_t kFirstRead = 400;
constexpr std::int64_t kReadPatienceMs = 3'000;
constexpr std::int64_t kAnsweredMs = 1'000;  // so long an answer may take without a word
constexpr std::int64_t kFreshMs = 3'000;     // a list that is older has a gap behind it when the log has grown much
constexpr int kSide = 436;
constexpr int kSideNarrow = 404;
constexpr int kSideLeast = 358;  // beside an inspector
constexpr int kPageNarrow = 860;
constexpr int kSideWide = 620;
constexpr int kRoomForAll = 520;
constexpr int kRoomForFilter = 430;

// Three voters and a crown: what will appear.
void draw_quorum(QPainter& p, const QRectF& r) {
  const Colors& c = Theme::current().colors();
  for (int i = 0; i < 3; ++i) {
    const double y = r.top() + 20 + i * 34;
    p.fillRect(QRectF(r.center().x() - 120, y - 8, 240 - i * 24, 16), i == 0 ? c.leader_fill : c.ok_fill);
  }
  paint_glyph(p, Glyph::crown, QPointF(r.center().x() - 140, r.top() + 20), 14);
}

}  // namespace

// What works, line by line.
class QuorumBoard : public QWidget {
 public:
  // What a try is made in. The results of another one would look as if they were of now.
  struct Situation {
    MetadataChanges changes = MetadataChanges::commit;
    int leader = -1;
    int answering = 0;
    int voters = 0;
    friend bool operator==(const Situation&, const Situation&) = default;
  };

  QuorumBoard(std::function<void(Trial)> try_out, std::function<std::int64_t()> clock,
              QWidget* parent)
      : QWidget(parent), try_out_(std::move(try_out)), clock_(std::move(clock)) {
    for (const QuorumEffect& effect : without_) {
      Button* button = nullptr;
      if (effect.trial) {
        button = new Button(Button::Kind::normal, {}, QuorumPage::tr("Test"), this);
        button->setName(QuorumPage::tr("Test: %1").arg(effect.what));
        button->setToolTip(told(*effect.trial));
        connect(button, &QAbstractButton::clicked, this, [this, trial = *effect.trial] {
          results_[trial] = {QuorumPage::tr("asking…"), Tone::runs, {}};
          tried_ = QuorumPage::tr("Last tried %1, while %2 of %3 controllers answered.")
                       .arg(format_time(clock_()).section(QLatin1Char('.'), 0, 0))
                       .arg(now_.answering)
                       .arg(now_.voters);
          refresh();
          try_out_(trial);
        });
      }
      tests_.push_back(button);
    }
    refresh();
  }

  void setAnswer(Trial trial, const TrialAnswer& answer) {
    const QString took = format_duration(std::max<std::int64_t>(1, answer.ms));
    results_[trial] = answer.error.isEmpty() ? Result{QuorumPage::tr("works, %1").arg(took), Tone::ok, answer.did}
                                             : Result{QuorumPage::tr("failed, %1").arg(took), Tone::err, answer.error};
    refresh();
  }

  // Where the page is low: the metadata log below needs the room.
  void setCompact(bool compact) {
    if (compact != compact_) {
      compact_ = compact;
      refresh();
    }
  }

  // What is tried stays in its place; what is said of it follows the cluster.
  void setNow(std::vector<QuorumEffect> now) {
    if (now != effects_now_) {
      effects_now_ = std::move(now);
      refresh();
    }
  }

  void show(const Situation& now) {
    if (shown_ && now == now_) {
      return;
    }
    shown_ = true;
    now_ = now;
    // What is being asked is answered now.
    std::erase_if(results_, [](const auto& each) { return each.second.tone != Tone::runs; });
    refresh();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& t = Theme::current();
    const Colors& c = t.colors();
    QPainter p(this);
    p.scale(t.scale(), t.scale());
    const double wide = width() / t.scale();
    text_fit(p, 16, 16, wide - 32, title(), FontRole::body_strong, c.text);
    text_fit(p, 16, 34, wide - 32, results_.empty() ? meaning() : tried_, FontRole::caption, c.text2);
    const std::vector<QuorumEffect>& rows = effects();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double y = kHead + line() * (static_cast<double>(i) + 0.5);
      const QuorumEffect& effect = rows[i];
      const Result* result = resultOf(effect);
      using Works = QuorumEffect::Works;
      Works works = effect.works;
      if (result != nullptr && result->tone != Tone::runs) {
        works = result->tone == Tone::ok ? Works::yes : Works::no;
      }
      const Glyph glyph = works == Works::yes ? Glyph::check : (works == Works::no ? Glyph::cross : Glyph::quarter);
      if (ofNow()) {
        paint_glyph(p, glyph, QPointF(23, y), 11);
      } else {
        paint_glyph(p, glyph, QPointF(23, y), 11, c.text3);  // colours are for what is
      }
      text_left(p, 38, y, effect.what, FontRole::control, c.text);
      QString why = effect.why;
      QColor color = works == Works::yes || !ofNow() ? c.text2 : (works == Works::no ? c.err_t : c.warn_t);
      if (result != nullptr) {
        why = result->text;
        color = result->tone == Tone::ok ? c.ok_t : (result->tone == Tone::err ? c.err_t : c.text2);
      }
      // Where nothing can be tried the words have the room of the button; where there are too many, the tooltip has them all.
      const double right = wide - 16 - (tests_[i] == nullptr ? 0 : kTest + 10);
      const double from = 38 + text_width(effect.what, FontRole::control) + 10;
      text_right(p, right, y, elided(why, FontRole::caption, std::max(20.0, right - from)), FontRole::caption, color);
      p.fillRect(QRectF(16, kHead + line() * static_cast<double>(i + 1) - 1, wide - 32, 1), c.hair);
    }
  }

  void resizeEvent(QResizeEvent*) override { refresh(); }
  bool event(QEvent* event) override {
    // What was tried, in full.
    if (event->type() == QEvent::ToolTip) {
      const double y = static_cast<QHelpEvent*>(event)->pos().y() / Theme::current().scale();
      const auto row = static_cast<std::size_t>(std::max(0.0, (y - kHead) / line()));
      const Result* result = y >= kHead && row < effects().size() ? resultOf(effects()[row]) : nullptr;
      const bool within = y >= kHead && row < effects().size();
      setToolTip(result != nullptr ? QStringLiteral("%1 %2").arg(result->text, result->detail).trimmed() : within ? effects()[row].why : QString());
    }
    return QWidget::event(event);
  }

 private:
  enum class Tone : std::uint8_t { runs, ok, err };
  struct Result {
    QString text;
    Tone tone = Tone::runs;
    QString detail;
  };

  static QString works_words(QuorumEffect::Works works) {
    switch (works) {
      case QuorumEffect::Works::yes:
        return QuorumPage::tr("works");
      case QuorumEffect::Works::partly:
        return QuorumPage::tr("works in part");
      case QuorumEffect::Works::no:
        break;
    }
    return QuorumPage::tr("does not work");
  }
  static QString told(Trial trial) {
    switch (trial) {
      case Trial::produce:
        return QuorumPage::tr("Produces one record, as any client would");
      case Trial::consume:
        return QuorumPage::tr("Fetches the newest record of a partition, as any client would");
      case Trial::commit:
        return QuorumPage::tr("Commits an offset for a group of its own, and deletes the group");
      case Trial::create_topic:
        return QuorumPage::tr("Creates a topic of its own, and deletes it");
      case Trial::elect_leaders:
        return QuorumPage::tr("Asks for the preferred leader of every partition");
    }
    return {};
  }
  [[nodiscard]] const Result* resultOf(const QuorumEffect& effect) const {
    const auto at = effect.trial ? results_.find(*effect.trial) : results_.end();
    return at == results_.end() ? nullptr : &at->second;
  }

  // What was tried was tried now, so all of it is of now as soon as one has been.
  [[nodiscard]] bool ofNow() const { return now_.changes != MetadataChanges::commit || !results_.empty(); }

  [[nodiscard]] QString title() const {
    switch (now_.changes) {
      case MetadataChanges::wait_for_majority:
        return QuorumPage::tr("What works now, without a majority");
      case MetadataChanges::wait_for_election:
        return QuorumPage::tr("What works now, until a controller leads");
      case MetadataChanges::commit:
      case MetadataChanges::would_wait:
        break;
    }
    return ofNow() ? QuorumPage::tr("What works now") : QuorumPage::tr("If the majority were lost");
  }

  [[nodiscard]] QString meaning() const {
    switch (now_.changes) {
      case MetadataChanges::wait_for_majority:
        return QuorumPage::tr("Data flows where a leader runs. Changes wait.");
      case MetadataChanges::wait_for_election:
        return QuorumPage::tr("Data flows where a leader runs. Changes wait until then.");
      case MetadataChanges::commit:
      case MetadataChanges::would_wait:
        break;
    }
    return QuorumPage::tr("Not so now. Data would still flow, changes would wait.");
  }

  [[nodiscard]] const std::vector<QuorumEffect>& effects() const { return ofNow() && !effects_now_.empty() ? effects_now_ : without_; }
  void refresh() {
    const Theme& t = Theme::current();
    const std::vector<QuorumEffect>& rows = effects();
    setAccessibleName(title());
    setFixedHeight(t.px(kHead + line() * static_cast<double>(rows.size()) + 8));
    QStringList words;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const QuorumEffect& effect = rows[i];
      const Result* result = resultOf(effect);
      const QString why = result == nullptr ? effect.why : QStringLiteral("%1 %2").arg(result->text, result->detail).trimmed();
      words << (ofNow() ? QuorumPage::tr("%1: %2, %3").arg(effect.what, works_words(effect.works), why)
                        : QuorumPage::tr("%1: %2").arg(effect.what,
                                                       effect.works == QuorumEffect::Works::yes ? QuorumPage::tr("would work, %1").arg(why) : why));
      if (tests_[i] != nullptr) {
        tests_[i]->setGeometry(width() - t.px(16 + kTest), t.px(kHead + line() * static_cast<double>(i) + 2), t.px(kTest), t.px(line() - 5));
        tests_[i]->setEnabled(result == nullptr || result->tone != Tone::runs);
        tests_[i]->setAccessibleDescription(result == nullptr ? QString() : QStringLiteral("%1 %2").arg(result->text, result->detail).trimmed());
      }
    }
    words << (results_.empty() ? meaning() : tried_);
    setAccessibleDescription(words.join(QStringLiteral("; ")));
    update();
  }

  static constexpr double kHead = 48;
  [[nodiscard]] double line() const { return compact_ ? 24 : 28; }
  static constexpr double kTest = 52;
  std::function<void(Trial)> try_out_;
  std::function<std::int64_t()> clock_;
  const std::vector<QuorumEffect> without_ = quorum_effects(MetadataChanges::would_wait);
  std::vector<QuorumEffect> effects_now_;
  std::vector<Button*> tests_;  // one per effect; null: it cannot be tried
  std::map<Trial, Result> results_;
  bool compact_ = false;
  QString tried_;  // when and in what situation the results came; shown while there are any
  Situation now_;
  bool shown_ = false;
};

QuorumPage::QuorumPage(QWidget* parent)
    : Page({QStringLiteral("quorum"), tr("Quorum"), QStringLiteral("quorum"), QKeySequence(Qt::Key_7), tr("Observe")}, parent),
      clock_([] { return QDateTime::currentMSecsSinceEpoch(); }) {
  const Theme& t = Theme::current();
  majority_ = new Chip(this);
  majority_->setPassive(true);
  header()->addRight(majority_);
  add_ = header()->addAction(QStringLiteral("plus"), tr("Add voter"), QStringLiteral("quorum.add_voter"));
  add_->setToolTip(tr("Lets the selected observer vote from now on (KIP-853)"));
  remove_ = header()->addAction(QStringLiteral("minus"), tr("Remove voter"), QStringLiteral("quorum.remove_voter"));
  remove_->setToolTip(tr("The selected voter votes no more; it goes on as an observer (KIP-853)"));
  kill_ = new Button(Button::Kind::normal, {}, tr("Kill the leader"), this);
  kill_->setToolTip(tr("Ends the node of the active controller at once, to see an election"));
  connect(kill_, &QAbstractButton::clicked, this, [this] {
    if (const int leader = canvas_->facts().leader; leader >= 0) {
      Q_EMIT selectionRequested(Selection::ofNode(leader));
      Q_EMIT commandRequested(QStringLiteral("node.kill_or_start"), {{QStringLiteral("node"), leader}});
    }
  });
  header()->addRight(kill_);

  auto* content = new Pane(this);
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  verdict_ = new TextLabel({}, FontRole::body, TextLabel::Tone::text, content);
  verdict_->setObjectName(QStringLiteral("quorumVerdict"));
  verdict_->setWordWrap(true);
  const auto pad = [this] {
    const Theme& now = Theme::current();
    verdict_->setContentsMargins(now.px(16), now.px(10), now.px(16), now.px(4));
  };
  pad();
  connect(&Theme::current(), &Theme::changed, verdict_, pad);
  verdict_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  column->addWidget(verdict_);
  told_ = new TextLabel({}, FontRole::control, TextLabel::Tone::text2, content);
  told_->setObjectName(QStringLiteral("quorumTold"));
  told_->setWordWrap(true);
  told_->setContentsMargins(t.px(16), t.px(2), t.px(16), t.px(6));
  told_->hide();
  column->addWidget(told_);
  forms_ = new QStackedWidget(content);
  auto* picture = new Pane(forms_);
  auto* halves = new QHBoxLayout(picture);
  halves->setContentsMargins(0, 0, 0, 0);
  halves->setSpacing(0);
  scroll_ = new QScrollArea(picture);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setWidgetResizable(true);
  scroll_->setFocusPolicy(Qt::NoFocus);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  canvas_ = new QuorumCanvas(scroll_);
  scroll_->setWidget(canvas_);
  halves->addWidget(scroll_, 1);
  halves->addWidget(new Line(Qt::Vertical, true, picture));
  side_ = new Pane(picture);
  side_->setFixedWidth(t.px(kSide));
  auto* rows = new QVBoxLayout(side_);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  board_ = new QuorumBoard(
      [this](Trial trial) {
        const QPointer<QuorumPage> self(this);
        SessionAdmin::of(session()).tryOut(trial, [self, trial](const TrialAnswer& answer) {
          if (self != nullptr) {
            self->board_->setAnswer(trial, answer);
          }
        });
      },
      [this] { return clock_(); }, side_);
  rows->addWidget(board_);
  rows->addWidget(new Line(Qt::Horizontal, true, side_));
  auto* head = new QHBoxLayout;
  head->setContentsMargins(t.px(16), t.px(8), t.px(16), t.px(6));
  head->addWidget(new TextLabel(tr("Metadata log"), FontRole::body_strong, TextLabel::Tone::text, side_));
  head->addStretch(1);
  snapshot_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::text2, side_);
  snapshot_->setObjectName(QStringLiteral("quorumSnapshot"));
  head->addWidget(snapshot_);
  rows->addLayout(head);
  filter_ = new FilterBox(metadata_vocabulary(), id(), side_);
  filter_->setChipsShown(false);
  filter_->setHint(QStringLiteral("type == PartitionChange"));
  filter_->edit()->setAccessibleName(tr("Filter records of the metadata log"));
  filter_->setExamples({{QStringLiteral("type == \"PartitionChange\""), tr("leaders and in-sync sets")},
                        {QStringLiteral("type ~ \"Broker\""), tr("brokers that came, went or were fenced")},
                        {QStringLiteral("topic == \"demo.orders\" && partition == 0"), tr("one partition")},
                        {QStringLiteral("control"), tr("what the quorum itself wrote")}});
  auto* filter_row = new QHBoxLayout;
  filter_row->setContentsMargins(t.px(16), 0, t.px(16), t.px(6));
  filter_row->addWidget(filter_);
  rows->addLayout(filter_row);
  behind_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::warn, side_);
  behind_->setObjectName(QStringLiteral("quorumBehind"));
  behind_->setWordWrap(true);
  behind_->setContentsMargins(t.px(16), 0, t.px(16), t.px(6));
  behind_->hide();
  rows->addWidget(behind_);
  records_ = new MetadataLogModel(this);
  record_view_ = new QTableView(side_);
  record_view_->setObjectName(QStringLiteral("metadataRecords"));
  setup_table(record_view_, tr("Records of the metadata log, the newest first"));
  record_view_->setModel(records_);
  record_view_->setItemDelegate(new DataDelegate([](const QModelIndex& index, bool) {
    CellLook look;
    look.role = index.column() == MetadataLogModel::kType   ? FontRole::control_strong
                : index.column() == MetadataLogModel::kText ? FontRole::control
                                                            : FontRole::small_data;
    look.color = index.data(Qt::ForegroundRole).value<QColor>();
    return look;
  }, record_view_));
  set_columns(record_view_, {62, 122, 120, 92}, {MetadataLogModel::kText});
  record_view_->setColumnHidden(MetadataLogModel::kTime, true);
  record_view_->setMinimumHeight(t.px(Metrics::kRowHeader));  // of all on this side it gives way
  rows->addWidget(record_view_, 1);
  record_notice_ = new TableNotice(record_view_);
  rows->addWidget(new Line(Qt::Horizontal, false, side_));
  record_text_ = new TextLabel(tr("Choose a record to read it in full."), FontRole::control, TextLabel::Tone::text3, side_);
  record_text_->setObjectName(QStringLiteral("metadataRecordText"));
  record_text_->setWordWrap(true);
  record_text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  record_text_->setContentsMargins(t.px(16), t.px(6), t.px(16), t.px(8));
  rows->addWidget(record_text_);
  halves->addWidget(side_);
  forms_->addWidget(picture);
  table_ = new QuorumTable(this);
  table_view_ = new QTableView(forms_);
  setup_table(table_view_, tr("Replicas of the metadata log as a table"));
  table_view_->setModel(table_);
  table_view_->setItemDelegate(new DataDelegate([](const QModelIndex& index, bool) {
    CellLook look;
    const bool number = index.column() >= QuorumTable::kLogEnd && index.column() < QuorumTable::kFetched;
    look.role = number ? FontRole::data : FontRole::control;
    look.color = Theme::current().colors().text;
    look.first = index.column() == 0;
    look.elide = index.column() == QuorumTable::kDirectory ? Qt::ElideMiddle : Qt::ElideRight;
    return look;
  }, table_view_));
  set_columns(table_view_, {66, 74, 124, 74, 116, 64, 86, 86, 132, 178}, {QuorumTable::kDirectory},
              {QuorumTable::kDirectory, QuorumTable::kCaughtUp, QuorumTable::kHighWatermark});
  forms_->addWidget(table_view_);
  column->addWidget(forms_, 1);
  setContent(content);
  setFocusProxy(canvas_);

  connect(canvas_, &ObjectCanvas::selectionRequested, this, &Page::selectionRequested);
  connect(canvas_, &ObjectCanvas::openRequested, this, &Page::openRequested);
  connect(filter_, &FilterBox::applied, this, [this] {
    records_->setFilter(filter_->filtering() ? filter_->program() : nullptr);
    showCounts();
  });
  connect(filter_, &FilterBox::leaveRequested, this, [this] { record_view_->setFocus(); });
  connect(record_view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
    const MetadataRecord* record = records_->record(now.row());
    record_text_->setText(record == nullptr ? tr("Choose a record to read it in full.")
                                            : tr("%1 %2 · epoch %3 · %4\n%5")
                                                  .arg(record->offset)
                                                  .arg(record->type)
                                                  .arg(record->epoch)
                                                  .arg(format_time(record->timestamp_ms), record->text));
    record_text_->setTone(record == nullptr ? TextLabel::Tone::text3 : (record->broken ? TextLabel::Tone::err : TextLabel::Tone::text));
    if (record != nullptr && !record->about.none() && record->about != selection()) {
      Q_EMIT selectionRequested(record->about);
    }
  });
  connect(record_view_, &QTableView::activated, this, [this](const QModelIndex& index) {
    if (const MetadataRecord* record = records_->record(index.row()); record != nullptr && !record->about.none()) {
      Q_EMIT openRequested(record->about);
    }
  });
  connect(table_view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
    const Selection s = table_->selectionOf(now.row());
    if (!s.none() && s != selection()) {
      Q_EMIT selectionRequested(s);
    }
  });
  tick_.setInterval(kTickMs);
  connect(&tick_, &QTimer::timeout, this, [this] {
    if (session() != nullptr && view() != nullptr) {
      refresh(factsOf(*view()));
    }
  });
  rest_.setSingleShot(true);
  rest_.setInterval(kRestMs);
  connect(&rest_, &QTimer::timeout, this, [this] {
    if (std::exchange(due_, false) && isVisible() && session() != nullptr && view() != nullptr) {
      frame();
    }
  });
}

void QuorumPage::attach(Session* session) { Page::attach(session); }

int QuorumPage::chosenNode() const {
  const Selection& s = selection();
  return s.kind == Selection::Kind::node && canvas_->facts().find(s.node) != nullptr ? s.node : -1;
}

void QuorumPage::addCommands(CommandRegistry& commands) {
  const QStringList words{tr("quorum"), tr("controller"), tr("voter")};
  commands.add({QStringLiteral("quorum.add_voter"), tr("Let the selected node vote in the quorum"), {},
                [this](const QVariantMap&) { changeVoter(true); }, [this] { return mayVote(); }, words});
  commands.add({QStringLiteral("quorum.remove_voter"), tr("Take the selected voter out of the quorum…"), {},
                [this](const QVariantMap&) { changeVoter(false); }, [this] { return mayLeave(); }, words});
}

void QuorumPage::changeVoter(bool voter) {
  const int node = chosenNode();
  if (node < 0) {
    return;
  }
  if (voter) {
    carryOut(node, true);
    return;
  }
  const QuorumFacts& facts = canvas_->facts();
  const int left = static_cast<int>(facts.voters.size()) - 1;
  const int majority = left / 2 + 1;
  auto* question = new QuestionDialog(tr("Take node %1 out of the quorum?").arg(node),
                                      tr("It keeps copying the metadata log, but votes no more. <b>Add voter</b> takes it in again."), window());
  question->setAttribute(Qt::WA_DeleteOnClose);
  question->addFact(tr("Voters left"), QString::number(left));
  question->addFact(tr("Majority"), tr("%1 of %2").arg(majority).arg(left));
  question->addFact(tr("May fail then"), QString::number(left - majority));
  question->addCancel();
  question->addAnswer(tr("Remove voter %1").arg(node), QuestionDialog::AnswerKind::danger);
  connect(question, &QuestionDialog::answered, this, [this, node](int index) {
    if (index == 1) {
      carryOut(node, false);
    }
  });
  question->open();
}

void QuorumPage::carryOut(int node, bool voter) {
  const QPointer<QuorumPage> self(this);
  tell(voter ? tr("Node %1 is being taken in as a voter…").arg(node) : tr("Node %1 is being taken out of the quorum…").arg(node), false);
  SessionAdmin::of(session()).changeVoter(node, voter, [self, node, voter](const QString& error) {
    if (self == nullptr) {
      return;
    }
    if (!error.isEmpty()) {
      self->tell(tr("The voters did not change: %1").arg(error), true);
    } else {
      self->tell(voter ? tr("Node %1 votes from now on.").arg(node) : tr("Node %1 votes no more; it goes on as an observer.").arg(node), false);
    }
  });
}

void QuorumPage::tell(const QString& sentence, bool bad) {
  told_->setText(sentence);
  told_->setTone(bad ? TextLabel::Tone::err : TextLabel::Tone::text2);
  told_->setVisible(!sentence.isEmpty());
}

QString QuorumPage::verdict() const { return verdict_->text(); }

void QuorumPage::setSelection(const Selection& selection) {
  Page::setSelection(selection);
  canvas_->setSelection(selection);
  refreshActions();
}

bool QuorumPage::mayVote() const {
  const QuorumReplica* r = canvas_->facts().find(chosenNode());
  return r != nullptr && !r->voter && r->answers;
}

bool QuorumPage::mayLeave() const {
  const QuorumReplica* r = canvas_->facts().find(chosenNode());
  return r != nullptr && r->voter && canvas_->facts().voters.size() > 1;
}

void QuorumPage::refreshActions() {
  add_->setEnabled(mayVote());
  remove_->setEnabled(mayLeave());
}

void QuorumPage::setWidthClass(int width_class) {
  width_class_ = width_class;
  const Theme& t = Theme::current();
  const int side = width() < t.px(kPageNarrow) ? kSideLeast : width_class < 0 ? kSideNarrow : width_class > 0 ? kSideWide : kSide;
  if (side_->width() != t.px(side) || side_->maximumWidth() != t.px(side)) {
    side_->setFixedWidth(t.px(side));
  }
}

Glyph QuorumPage::attention(const FaultFacts& /*faults*/) const {
  if (session() == nullptr) {
    return Glyph::none;
  }
  // Also while the page is not shown and its canvas is of long ago.
  const QuorumFacts facts = factsOf(*session()->view());
  return !facts.voters.empty() && (facts.glyph == Glyph::cross || facts.glyph == Glyph::quarter) ? facts.glyph : Glyph::none;
}

bool QuorumPage::focusFilter() {
  filter_->focusText();
  return true;
}

bool QuorumPage::applyFilter(const QString& text) {
  filter_->setText(text);
  return true;
}

bool QuorumPage::toggleTable() {
  if (forms_->currentWidget() == table_view_) {
    forms_->setCurrentIndex(0);
    canvas_->setFocus();
  } else {
    table_->take(canvas_->facts());
    forms_->setCurrentWidget(table_view_);
    table_view_->setFocus();
  }
  return true;
}

void QuorumPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  setWidthClass(width_class_);
  const bool low = height() < Theme::current().px(kRoomForAll);
  board_->setCompact(low);
  record_text_->setVisible(!low);
  filter_->setVisible(height() >= Theme::current().px(kRoomForFilter) || filter_->filtering());
}

void QuorumPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  tick_.start();
}

void QuorumPage::hideEvent(QHideEvent* event) {
  tick_.stop();
  rest_.stop();  // shown again, it looks at once
  Page::hideEvent(event);
}

void QuorumPage::frame() {
  QuorumFacts facts = factsOf(*view());
  const bool calm = facts.leader >= 0 && !facts.lost() && same_standing(facts, canvas_->facts());
  if (calm && rest_.isActive()) {
    due_ = true;
    return;
  }
  refresh(std::move(facts));
  rest_.start();
}

QuorumFacts QuorumPage::factsOf(const observe::ClusterView& view) const {
  const SessionNodes& nodes = SessionNodes::of(session());
  return quorum_facts(view, nodes.conditions(), clock_(), nodes.quorumFetchTimeoutMs());
}

void QuorumPage::refresh(QuorumFacts facts) {
  const observe::ClusterView& now = *view();
  const SessionNodes& nodes = SessionNodes::of(session());
  if (const auto trouble = session()->trouble(); trouble && facts.voters.empty()) {
    PageNotice notice;
    notice.kind = PageNotice::Kind::failed;
    notice.title = trouble->what;
    notice.text = QStringLiteral("%1 %2").arg(trouble->why, trouble->advice).trimmed();
    showNotice(notice);
    return;
  }
  if (facts.voters.empty() && facts.observers.empty()) {
    PageNotice notice;
    notice.kind = now.nodes.empty() ? PageNotice::Kind::empty : PageNotice::Kind::not_available;
    notice.title = tr("No quorum yet");
    notice.text = tr("The controllers keep what the cluster knows of itself in one log and elect who writes it. They appear here as soon "
                     "as the first node runs.");
    notice.drawing = draw_quorum;
    showNotice(notice);
    return;
  }
  showContent();
  if (quorum_seen_ != now.quorum) {
    quorum_seen_ = now.quorum;
    elections_ = election_history(now);
  }
  QStringList count;
  count << tr("epoch %1").arg(facts.epoch);
  count << tr("high watermark %1").arg(facts.high_watermark);
  header()->setCount(count.join(QStringLiteral(" · ")));
  const int voters = static_cast<int>(facts.voters.size());
  majority_->setContent(facts.glyph, tr("%1 of %2 answer, %3 needed").arg(facts.answering).arg(voters).arg(facts.majority),
                        facts.glyph == Glyph::disc ? Chip::Tone::ok : (facts.glyph == Glyph::cross ? Chip::Tone::err : Chip::Tone::warn));
  if (verdict_->text() != facts.verdict) {
    verdict_->setText(facts.verdict);
    verdict_->setTone(facts.lost() ? TextLabel::Tone::err : TextLabel::Tone::text);
  }
  kill_->setVisible(nodes.conditions().size() > 1);
  kill_->setEnabled(facts.leader >= 0);
  board_->setNow(quorum_effects(metadata_changes(facts), &reach_));
  board_->show({metadata_changes(facts), facts.leader, facts.answering, voters});
  const QuorumReplica* newest = facts.find(facts.leader);
  for (const QuorumReplica& r : facts.voters) {
    newest = newest == nullptr || r.snapshot_end > newest->snapshot_end ? &r : newest;
  }
  snapshot_->setText(newest == nullptr || newest->snapshot_end <= 0
                         ? tr("no snapshot yet")
                         : tr("snapshot below %1, %2").arg(newest->snapshot_end).arg(format_bytes(newest->snapshot_bytes)));
  if (forms_->currentWidget() == table_view_) {
    table_->take(facts);
  }
  const int tick_ms = facts.leader >= 0 && !facts.lost() ? kCalmTickMs : kTickMs;
  if (tick_.interval() != tick_ms) {
    tick_.setInterval(tick_ms);
  }
  canvas_->take(std::move(facts), elections_);
  refreshActions();
  readRecords();
  sayBehind();
}

void QuorumPage::readRecords() {
  const QuorumFacts& facts = canvas_->facts();
  const std::int64_t end = facts.high_watermark;
  const std::int64_t now = clock_();
  // A node that was paused while it was asked answers when it goes on; another one is asked then.
  if (!isVisible() || (reading_since_ >= 0 && now - reading_since_ < kReadPatienceMs)) {
    return;
  }
  if (next_ > end) {
    records_->clear();  // another log
    next_ = -1;
  }
  // What grows faster than it is read is read on from near its end: the newest comes first.
  const bool anew = next_ >= 0 && end - next_ > 2 * kFirstRead;
  if (next_ < 0 || anew) {
    next_ = std::max(facts.log_start, end - kFirstRead);
    gap_ = true;  // also where another read than this one is answered
  }
  if (next_ >= end) {
    read_at_ = now;
    return;
  }
  if (anew && now - read_at_ > kFreshMs) {
    records_->clear();  // of before the page was hidden, or before nobody answered: it would look like what is written now
    showCounts();
  }
  reading_since_ = now;
  unanswered_since_ = unanswered_since_ < 0 ? now : unanswered_since_;
  ReadQuery query;
  query.topic = kMetadataLog;
  query.from_offset = next_;
  query.to_offset = end;
  query.max_records = static_cast<std::int32_t>(kFirstRead);
  query.isolation = Isolation::raw;
  const QPointer<QuorumPage> self(this);
  session()->read(query, [self, end, from = next_, number = ++read_number_](const ReadAnswer& answer) {
    if (self == nullptr || number != self->read_number_) {
      return;
    }
    self->reading_since_ = -1;
    self->unanswered_since_ = -1;
    self->read_error_ = answer.error;
    std::vector<MetadataRecord> fresh;
    for (const RecordRow& row : answer.rows) {
      if (row.offset >= from) {
        fresh.push_back(describe_metadata(row, *self->view()));
      }
    }
    self->next_ = std::max({from, answer.next_offset, fresh.empty() ? from : fresh.back().offset + 1});
    if (self->next_ >= end && answer.error.isEmpty()) {
      self->read_at_ = self->clock_();
    }
    if (self->gap_ && !fresh.empty()) {
      self->records_->clear();
      self->gap_ = false;
    }
    self->records_->append(std::move(fresh));
    self->showCounts();
    self->sayBehind();
  });
}

// A list that is not read on looks like a log in which nothing happens.
void QuorumPage::sayBehind() {
  const std::int64_t lacks = next_ < 0 ? 0 : canvas_->facts().high_watermark - next_;
  const bool waits = unanswered_since_ >= 0 && clock_() - unanswered_since_ > kAnsweredMs;
  const bool behind = lacks > 0 && (waits || !read_error_.isEmpty());
  const QString words =
      !behind                  ? QString()
      : records_->total() == 0 ? tr("The newest records are being read…")
      : read_error_.isEmpty()
          ? tr("%Ln newer record(s) are not read yet.", nullptr, static_cast<int>(std::min<std::int64_t>(lacks, INT32_MAX)))
          : tr("%Ln newer record(s) cannot be read: %1", nullptr, static_cast<int>(std::min<std::int64_t>(lacks, INT32_MAX))).arg(read_error_);
  if (behind_->text() != words) {
    behind_->setText(words);
  }
  behind_->setVisible(behind && (records_->total() > 0 || read_error_.isEmpty()));
}

void QuorumPage::showCounts() {
  FilterBox::Counts counts;
  counts.shown = records_->rowCount();
  counts.total = static_cast<std::int64_t>(records_->total());
  filter_->setCounts(counts);
  if (records_->rowCount() > 0) {
    record_notice_->hide();
  } else if (!read_error_.isEmpty()) {
    TableNotice::Content content;
    content.title = tr("The metadata log cannot be read");
    content.text = read_error_;
    content.failed = true;
    record_notice_->show(content);
  } else if (records_->total() > 0) {
    TableNotice::Content content;
    content.title = tr("No record passes the filter");
    content.text = tr("%1 records are hidden.").arg(format_count(counts.total));
    content.action = tr("Clear the filter");
    content.run = [this] { filter_->setText({}); };
    record_notice_->show(content);
  }
}

}  // namespace hw::ui
