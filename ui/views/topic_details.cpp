// SPDX-License-Identifier: Apache-2.0
#include "ui/views/topic_details.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QScrollArea>
#include <QStyle>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/dialogs/review_configs_dialog.h"
#include "ui/models/config_rules.h"
#include "ui/painting/text.h"
#include "ui/session/session_admin.h"
#include "ui/theme/theme.h"
#include "ui/views/data_delegate.h"
#include "ui/views/pane.h"
#include "ui/views/statistics_strip.h"
#include "ui/views/table_setup.h"
#include "ui/window/controls.h"
#include "ui/window/hover_row.h"

namespace hw::ui {

namespace {

constexpr std::int64_t kCountBytesMax = 64LL * 1024 * 1024;

void set_state(QWidget* widget, const char* state) {
  if (widget->property("state").toString() != QLatin1String(state)) {
    widget->setProperty("state", QString::fromLatin1(state));
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
  }
}

}  // namespace

TopicDetails::TopicDetails(QWidget* parent)
    : QWidget(parent), clock_([] { return QDateTime::currentMSecsSinceEpoch(); }), configs_(new ConfigModel(this)) {
  const Theme& t = Theme::current();
  setObjectName(QStringLiteral("topicDetails"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  strip_ = new StatisticsStrip(this);
  column->addWidget(strip_);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(t.px(16), t.px(6), t.px(16), t.px(6));
  head->setSpacing(t.px(8));
  title_ = new TextLabel(tr("Configuration"), FontRole::body_strong, TextLabel::Tone::text, this);
  head->addWidget(title_);
  which_ = new SegmentedControl({tr("Changed"), tr("All")}, this);
  connect(which_, &SegmentedControl::activated, this, [this](int index) {
    which_->setCurrent(index);
    configs_->setOnlyChanged(index == 0);
  });
  head->addWidget(which_);
  search_ = new QLineEdit(this);
  search_->setPlaceholderText(tr("Find a key"));
  search_->setAccessibleName(tr("Find a configuration key"));
  search_->setFixedWidth(t.px(150));
  connect(search_, &QLineEdit::textChanged, configs_, &ConfigModel::setFilter);
  head->addWidget(search_);
  problem_ = new TextLabel({}, FontRole::control, TextLabel::Tone::err, this);
  problem_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  head->addWidget(problem_, 1);
  discard_ = new Button(Button::Kind::quiet, {}, tr("Discard"), this);
  connect(discard_, &Button::clicked, configs_, &ConfigModel::unstageAll);
  head->addWidget(discard_);
  review_ = new Button(Button::Kind::primary, {}, tr("Review changes"), this);
  review_->setObjectName(QStringLiteral("reviewChanges"));
  connect(review_, &Button::clicked, this, &TopicDetails::review);
  head->addWidget(review_);
  column->addLayout(head);

  auto* body = new QHBoxLayout;
  body->setSpacing(0);
  table_ = new QTableView(this);
  table_->setObjectName(QStringLiteral("configTable"));
  table_->setModel(configs_);
  setup_table(table_, tr("Configuration of the topic"));
  table_->horizontalHeader()->setStretchLastSection(false);
  new HoverRow(table_);
  table_->setItemDelegate(new DataDelegate(
      [](const QModelIndex& index, bool) {
        const Colors& c = Theme::current().colors();
        const bool staged = index.data(ConfigModel::staged_role).toBool();
        const bool changed = index.data(ConfigModel::changed_role).toBool();
        CellLook look;
        look.first = index.column() == ConfigModel::key;
        look.ground = staged ? c.warn_tint : QColor();
        look.role = index.column() == ConfigModel::source || index.column() == ConfigModel::reading ? FontRole::control : FontRole::data;
        if (index.column() == ConfigModel::key) {
          look.color = c.text;
          look.elide = Qt::ElideMiddle;
        } else if (index.column() == ConfigModel::value) {
          look.role = staged || changed ? FontRole::data_strong : FontRole::data;
          look.color = staged || changed ? c.text : c.text2;
        } else if (index.column() == ConfigModel::source) {
          look.color = staged ? c.warn_t : c.text2;
        }
        return look;
      },
      table_));
  table_->viewport()->installEventFilter(this);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &TopicDetails::showKey);
  connect(table_, &QTableView::activated, this, [this] {
    editor_->setFocus();
    editor_->selectAll();
  });
  body->addWidget(table_, 1);
  body->addWidget(new Line(Qt::Vertical, false, this));
  auto* scroll = new QScrollArea(this);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setFixedWidth(t.px(300));
  side_ = new Pane;
  scroll->setWidget(side_);
  auto* side = new QVBoxLayout(side_);
  side->setContentsMargins(t.px(14), t.px(8), t.px(14), t.px(10));
  side->setSpacing(t.px(6));
  key_ = new TextLabel({}, FontRole::data_title, TextLabel::Tone::text, side_);
  key_->setWordWrap(true);
  side->addWidget(key_);
  doc_ = new TextLabel({}, FontRole::body, TextLabel::Tone::text2, side_);
  doc_->setWordWrap(true);
  side->addWidget(doc_);
  editor_ = new QLineEdit(side_);
  editor_->setObjectName(QStringLiteral("configEditor"));
  editor_->setStyleSheet(QStringLiteral("font-family: \"JetBrains Mono\";"));
  editor_->setAccessibleName(tr("New value"));
  editor_->installEventFilter(this);
  connect(editor_, &QLineEdit::textChanged, this, &TopicDetails::judgeEditor);
  connect(editor_, &QLineEdit::returnPressed, this, &TopicDetails::stageEditor);
  side->addWidget(editor_);
  editor_note_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::text3, side_);
  editor_note_->setWordWrap(true);
  editor_note_->setMinimumHeight(t.px(30));
  side->addWidget(editor_note_);
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(t.px(8));
  stage_ = new Button(Button::Kind::normal, {}, tr("Stage"), side_);
  stage_->setObjectName(QStringLiteral("stageConfig"));
  connect(stage_, &Button::clicked, this, &TopicDetails::stageEditor);
  buttons->addWidget(stage_);
  inherit_ = new Button(Button::Kind::quiet, {}, tr("Inherit"), side_);
  inherit_->setName(tr("Take the topic's own value away"));
  connect(inherit_, &Button::clicked, this, [this] {
    const ConfigRow* row = configs_->find(shown_key_);
    if (row == nullptr) {
      return;
    }
    if (configs_->staged().count(shown_key_) != 0) {
      configs_->unstage(shown_key_);
    } else {
      (void)configs_->stage(shown_key_, std::nullopt);
    }
    showKey();
  });
  buttons->addWidget(inherit_);
  buttons->addStretch(1);
  side->addLayout(buttons);
  danger_ = new TextLabel({}, FontRole::control, TextLabel::Tone::warn, side_);
  danger_->setWordWrap(true);
  side->addWidget(danger_);
  chain_ = new TextLabel({}, FontRole::small_data, TextLabel::Tone::text3, side_);
  chain_->setWordWrap(true);
  side->addWidget(chain_);
  side->addStretch(1);
  body->addWidget(scroll);
  column->addLayout(body, 1);

  connect(configs_, &ConfigModel::stagedChanged, this, &TopicDetails::refreshStaged);
  count_timer_ = new QTimer(this);
  count_timer_->setSingleShot(true);
  count_timer_->setInterval(400);
  connect(count_timer_, &QTimer::timeout, this, &TopicDetails::count);
  refreshStaged();
}

void TopicDetails::attach(Session* session) { session_ = session; }

void TopicDetails::showTopic(const QString& topic) {
  if (topic == topic_) {
    return;
  }
  if (!topic_.isEmpty()) {
    if (configs_->staged().empty()) {
      parked_.erase(topic_);
    } else {
      parked_[topic_] = configs_->staged();
    }
  }
  topic_ = topic;
  ++round_;
  counting_ = false;
  counted_ = false;
  counted_offsets_ = -1;
  count_ = RecordCount{};
  facts_ = TopicFacts{};
  seen_configs_.clear();
  configs_->clear();
  shown_key_.clear();
  if (topic.isEmpty()) {
    return;
  }
  load();
  count_timer_->start();
}

void TopicDetails::load() {
  if (session_ == nullptr || topic_.isEmpty()) {
    return;
  }
  const QPointer<TopicDetails> self(this);
  SessionAdmin::of(session_).describeConfigs({ConfigResource::Kind::topic, topic_.toStdString()}, [self, topic = topic_](ConfigAnswer answer) {
    if (self == nullptr || self->topic_ != topic) {
      return;
    }
    self->problem_->setText(answer.error.isEmpty() ? QString() : tr("Not readable: %1").arg(answer.error));
    self->problem_->setToolTip(self->problem_->text());
    if (!answer.error.isEmpty()) {
      return;
    }
    self->configs_->setRows(std::move(answer.rows));
    if (const auto parked = self->parked_.find(topic); parked != self->parked_.end()) {
      const auto edits = std::exchange(parked->second, {});
      self->parked_.erase(parked);
      for (const auto& [name, value] : edits) {
        (void)self->configs_->stage(name, value ? std::optional(QString::fromStdString(*value)) : std::nullopt);
      }
    }
    if (self->configs_->rowCount() == 0 && self->which_->current() == 0) {
      // Nothing of its own: the usual questions are about these.
      self->which_->setCurrent(1);
      self->configs_->setOnlyChanged(false);
    }
    if (!self->table_->currentIndex().isValid() && self->configs_->rowCount() > 0) {
      const int wanted = self->configs_->indexOf("retention.ms");
      self->table_->setCurrentIndex(self->configs_->index(std::max(0, wanted), 0));
    }
    self->showKey();
  });
}

void TopicDetails::count() {
  if (session_ == nullptr || topic_.isEmpty() || counting_) {
    return;
  }
  counting_ = true;
  const QPointer<TopicDetails> self(this);
  const std::uint64_t round = round_;
  SessionAdmin::of(session_).countRecords(topic_.toStdString(), kCountBytesMax, [self, round, topic = topic_](const RecordCount& count) {
    if (self == nullptr || self->round_ != round) {
      return;
    }
    self->counting_ = false;
    self->count_ = count;
    self->counted_ = count.error.isEmpty() && count.whole;
    self->counted_offsets_ = count.offsets;
    if (self->counted_) {
      Q_EMIT self->recordsCounted(topic, count.records);
    }
    self->showStatistics();
  });
}

void TopicDetails::refresh(const TopicFacts* facts) {
  if (facts == nullptr || facts->topic == nullptr) {
    return;
  }
  facts_ = *facts;
  if (facts->topic->configs != seen_configs_) {
    const bool first = seen_configs_.empty() && configs_->total() == 0;
    seen_configs_ = facts->topic->configs;
    if (!first) {
      load();
    }
  }
  showStatistics();
}

void TopicDetails::showStatistics() {
  if (facts_.topic == nullptr) {
    return;
  }
  std::int64_t offsets = 0;
  std::int64_t segments = 0;
  for (const auto& partition : facts_.topic->partitions) {
    if (const event::ReplicaCounters* c = partition == nullptr ? nullptr : partition->leader_counters(); c != nullptr) {
      offsets += c->log_end_offset.get() - c->log_start_offset.get();
      segments += c->segments.get();
    }
  }
  // What was counted stays true while nothing is written; records that came since are offsets without gaps.
  const bool fresh = counted_ && counted_offsets_ == offsets;
  std::vector<StatisticsStrip::Value> values;
  const std::int64_t shown = counted_ ? count_.records + (offsets - counted_offsets_) : facts_.records;
  values.push_back({format_count(shown), counted_ ? tr("records, counted") : (facts_.at_most ? tr("records at most") : tr("records"))});
  if (counted_ && count_.control > 0) {
    values.push_back({format_count(count_.control), tr("markers")});
  }
  if (counted_ && fresh && count_.offsets - count_.records - count_.control > 0) {
    values.push_back({format_count(count_.offsets - count_.records - count_.control), tr("offsets without record")});
  }
  values.push_back({format_bytes(facts_.bytes), tr("%n segment(s)", nullptr, static_cast<int>(segments))});
  values.push_back({QStringLiteral("%1 / %2").arg(facts_.in < 0.05 ? QStringLiteral("0/s") : format_rate(facts_.in),
                                                  facts_.out < 0.05 ? QStringLiteral("0/s") : format_rate(facts_.out)),
                    tr("in / out")});
  if (!facts_.findings.isEmpty()) {
    values.push_back({QString::number(facts_.findings.size()), facts_.findings.front().section(QLatin1Char(':'), 0, 0), facts_.severity != Glyph::none});
  }
  strip_->setValues(std::move(values));
}

void TopicDetails::chooseKey(const std::string& key) {
  int row = configs_->indexOf(key);
  if (row < 0) {
    search_->clear();
    which_->setCurrent(1);
    configs_->setOnlyChanged(false);
    row = configs_->indexOf(key);
  }
  if (row >= 0) {
    table_->setCurrentIndex(configs_->index(row, 0));
    showKey();
  }
}

void TopicDetails::showKey() {
  const ConfigRow* row = configs_->row(table_->currentIndex().row());
  side_->setVisible(row != nullptr);
  if (row == nullptr) {
    shown_key_.clear();
    return;
  }
  shown_key_ = row->name;
  key_->setText(QString::fromStdString(row->name));
  const QString doc = config_doc(row->name);
  doc_->setText(doc.isEmpty() ? tr("No description here; see Kafka's documentation of this key.") : doc);
  const QString danger = config_danger(row->name);
  danger_->setText(danger.isEmpty() ? QString() : tr("Careful: %1").arg(danger));
  danger_->setVisible(!danger.isEmpty());
  QStringList chain;
  for (const ConfigRow::Synonym& synonym : row->synonyms) {
    chain << QStringLiteral("%1 %2=%3").arg(chain.isEmpty() ? QStringLiteral("●") : QStringLiteral("○"), QString::fromStdString(synonym.name),
                                            synonym.value ? QString::fromStdString(*synonym.value) : QStringLiteral("null")) +
                 QStringLiteral("  (%1)").arg(source_words(synonym.source));
  }
  chain_->setText(chain.join(QLatin1Char('\n')));
  chain_->setToolTip(tr("Where a value may come from, the strongest first"));
  const auto staged = configs_->staged().find(row->name);
  const bool edited = staged != configs_->staged().end();
  const QString value = edited && staged->second ? QString::fromStdString(*staged->second)
                                                 : (row->value ? QString::fromStdString(*row->value) : QString());
  const QSignalBlocker quiet(editor_);
  editor_->setText(value);
  editor_->setEnabled(!row->read_only);
  inherit_->setText(edited ? tr("Unstage") : tr("Inherit"));
  inherit_->setVisible(edited || row->source == ConfigSource::topic);
  inherit_->setToolTip(edited ? tr("Forget this edit") : tr("Take the topic's own value away: then %1 counts").arg(QString::fromStdString(ConfigModel::inherited(*row).value_or("null"))));
  judgeEditor();
}

void TopicDetails::judgeEditor() {
  const ConfigRow* row = configs_->find(shown_key_);
  if (row == nullptr) {
    return;
  }
  const QString text = editor_->text();
  const RuleAnswer answer = check_config(row->name, row->type, text);
  const bool bad = answer.level == RuleAnswer::Level::error;
  const std::string plain = config_plain(row->name, text).toStdString();
  const bool same = row->value && *row->value == plain;
  if (row->read_only) {
    editor_note_->setTone(TextLabel::Tone::text3);
    editor_note_->setText(tr("Cannot be changed while the broker runs"));
  } else if (bad && !answer.text.isEmpty()) {
    editor_note_->setTone(TextLabel::Tone::err);
    editor_note_->setText(answer.text);
  } else {
    const QString reading = config_reading(row->name, plain);
    const QString number = QString::fromStdString(plain) != text.trimmed() ? QString::fromStdString(plain) : QString();
    QStringList parts;
    if (!number.isEmpty()) {
      parts << QStringLiteral("= %1").arg(number);
    }
    if (!reading.isEmpty()) {
      parts << QStringLiteral("= %1").arg(reading);
    }
    const QString bounds = config_bounds(row->name, row->type);
    if (!bounds.isEmpty()) {
      parts << bounds;
    }
    editor_note_->setTone(TextLabel::Tone::text3);
    editor_note_->setText(parts.join(QStringLiteral(" · ")));
  }
  set_state(editor_, bad && !text.isEmpty() ? "bad" : (same ? "" : "good"));
  stage_->setEnabled(!bad && !same && !row->read_only);
}

void TopicDetails::stageEditor() {
  const ConfigRow* row = configs_->find(shown_key_);
  if (row == nullptr) {
    return;
  }
  const RuleAnswer answer = configs_->stage(row->name, editor_->text());
  if (answer.level == RuleAnswer::Level::error) {
    judgeEditor();
    return;
  }
  showKey();
}

void TopicDetails::refreshStaged() {
  const auto count = static_cast<int>(configs_->staged().size());
  review_->setVisible(count > 0);
  discard_->setVisible(count > 0);
  review_->setText(tr("Review %n change(s)", nullptr, count));
  review_->updateGeometry();
}

void TopicDetails::review() {
  if (session_ == nullptr || configs_->staged().empty()) {
    return;
  }
  ReviewConfigsDialog::Input input;
  input.topic = topic_;
  input.changes = configs_->changes();
  input.now_ms = clock_();
  input.replicas = std::max<std::size_t>(1, facts_.factor);
  for (const char* key : {"cleanup.policy", "retention.ms", "retention.bytes"}) {
    if (const ConfigRow* row = configs_->find(key); row != nullptr) {
      input.before[key] = row->value.value_or("");
      input.after[key] = configs_->effective(key);
    }
  }
  for (const ConfigChange& change : input.changes) {
    if (const ConfigRow* row = configs_->find(change.name); row != nullptr) {
      input.before[change.name] = row->value.value_or("");
      input.after[change.name] = configs_->effective(change.name);
    }
  }
  const std::vector<ConfigChange> inverse = configs_->inverse(input.changes);
  const auto count = static_cast<int>(input.changes.size());
  auto* dialog = new ReviewConfigsDialog(session_, std::move(input), this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &ReviewConfigsDialog::applied, this, [this, topic = topic_, inverse, count] {
    if (topic == topic_) {
      configs_->unstageAll();
      load();
    } else {
      parked_.erase(topic);
    }
    Q_EMIT applied(topic, inverse, count);
  });
  dialog->open();
}

bool TopicDetails::eventFilter(QObject* object, QEvent* event) {
  if (object == table_->viewport() && event->type() == QEvent::Resize) {
    fitColumns();
  }
  if (object == editor_ && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Escape) {
      showKey();
      table_->setFocus();
      return true;
    }
  }
  return QWidget::eventFilter(object, event);
}

void TopicDetails::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitColumns();
}

void TopicDetails::fitColumns() {
  const Theme& t = Theme::current();
  const int room = table_->viewport()->width();
  const double wide = room / t.scale();
  table_->setColumnHidden(ConfigModel::reading, wide < 560);
  table_->setColumnHidden(ConfigModel::standard, wide < 780);
  const int source = t.px(116);
  const int reading = table_->isColumnHidden(ConfigModel::reading) ? 0 : t.px(104);
  const int standard = table_->isColumnHidden(ConfigModel::standard) ? 0 : t.px(150);
  const int rest = std::max(t.px(260), room - source - reading - standard);
  // Room for the longest keys first: half a key is no key. A value of 19 digits needs 155.
  const int key = std::min(std::max(rest - t.px(155), rest * 52 / 100), t.px(278));
  QHeaderView* head = table_->horizontalHeader();
  head->resizeSection(ConfigModel::key, key);
  head->resizeSection(ConfigModel::value, rest - key);
  head->resizeSection(ConfigModel::reading, reading);
  head->resizeSection(ConfigModel::standard, standard);
  head->resizeSection(ConfigModel::source, source);
}

}  // namespace hw::ui
