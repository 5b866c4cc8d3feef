// SPDX-License-Identifier: Apache-2.0
#include "ui/views/config_panel.h"

#include <algorithm>
#include <utility>

#include <QDateTime>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QRegularExpression>
#include <QResizeEvent>
#include <QScrollArea>
#include <QStyle>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>

#include "ui/models/broker_config_rules.h"
#include "ui/models/config_rules.h"
#include "ui/painting/text.h"
#include "ui/session/selection.h"
#include "ui/session/session_admin.h"
#include "ui/session/undo_list.h"
#include "ui/theme/theme.h"
#include "ui/views/data_delegate.h"
#include "ui/views/pane.h"
#include "ui/views/table_setup.h"
#include "ui/window/controls.h"
#include "ui/window/elided_label.h"
#include "ui/window/hover_row.h"

namespace hw::ui {

namespace {

constexpr int kAskAfterMs = 250;
constexpr std::size_t kTopicsMax = 10'000;  // of which the effect is said

void set_state(QWidget* widget, const char* state) {
  if (widget->property("state").toString() != QLatin1String(state)) {
    widget->setProperty("state", QString::fromLatin1(state));
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
  }
}

ConfigSource own_source(const ConfigResource& resource) {
  switch (resource.kind) {
    case ConfigResource::Kind::topic:
      return ConfigSource::topic;
    case ConfigResource::Kind::broker:
      return resource.name.empty() ? ConfigSource::all_brokers : ConfigSource::broker;
    case ConfigResource::Kind::group:
      return ConfigSource::group;
  }
  return ConfigSource::unknown;
}

QString address_of(const ConfigResource& resource) {
  const QString name = QString::fromStdString(resource.name);
  switch (resource.kind) {
    case ConfigResource::Kind::topic:
      return Selection::ofTopic(name).address();
    case ConfigResource::Kind::broker:
      return resource.name.empty() ? Selection::ofCluster().address() : Selection::ofNode(name.toInt()).address();
    case ConfigResource::Kind::group:
      return Selection::ofGroup(name).address();
  }
  return {};
}

}  // namespace

ConfigPanel::ConfigPanel(QWidget* parent)
    : QWidget(parent), clock_([] { return QDateTime::currentMSecsSinceEpoch(); }), configs_(new ConfigModel(this)) {
  setObjectName(QStringLiteral("configPanel"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  buildHead();
  auto* body = new QHBoxLayout;
  body->setSpacing(0);
  buildTable();
  body->addWidget(table_, 1);
  body->addWidget(new Line(Qt::Vertical, false, this));
  buildSide();
  body->addWidget(scroll_);
  column->addLayout(body, 1);
  connect(configs_, &ConfigModel::stagedChanged, this, &ConfigPanel::refreshStaged);
  ask_timer_ = new QTimer(this);
  ask_timer_->setSingleShot(true);
  ask_timer_->setInterval(kAskAfterMs);
  connect(ask_timer_, &QTimer::timeout, this, &ConfigPanel::askBroker);
  refreshStaged();
}

void ConfigPanel::buildHead() {
  const Theme& t = Theme::current();
  auto* head = new QHBoxLayout;
  head->setContentsMargins(t.px(16), t.px(6), t.px(16), t.px(6));
  head->setSpacing(t.px(8));
  title_ = new ElidedLabel(FontRole::body_strong, TextLabel::Tone::text, Qt::ElideMiddle, this);
  title_->setText(tr("Configuration"));
  head->addWidget(title_);
  which_ = new SegmentedControl({tr("Changed"), tr("All")}, this);
  which_->setObjectName(QStringLiteral("configsShown"));
  connect(which_, &SegmentedControl::activated, this, [this](int index) {
    which_->setCurrent(index);
    configs_->setOnlyChanged(index == 0);
    fitColumns();
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
  discard_->setObjectName(QStringLiteral("discardChanges"));
  connect(discard_, &Button::clicked, this, [this] {
    configs_->unstageAll();
    showKey();  // the editor still holds what was staged
  });
  head->addWidget(discard_);
  review_ = new Button(Button::Kind::primary, {}, tr("Review changes"), this);
  review_->setObjectName(QStringLiteral("reviewChanges"));
  connect(review_, &Button::clicked, this, &ConfigPanel::review);
  head->addWidget(review_);
  qobject_cast<QVBoxLayout*>(layout())->addLayout(head);
}

void ConfigPanel::buildTable() {
  table_ = new QTableView(this);
  table_->setObjectName(QStringLiteral("configTable"));
  table_->setModel(configs_);
  setup_table(table_, tr("Configuration"));
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
          look.elide = staged ? Qt::ElideLeft : Qt::ElideRight;  // what it becomes is the news
        } else if (index.column() == ConfigModel::source) {
          look.color = staged ? c.warn_t : c.text2;
        }
        return look;
      },
      table_));
  table_->viewport()->installEventFilter(this);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &ConfigPanel::showKey);
  connect(table_, &QTableView::activated, this, [this] {
    editor_->setFocus();
    editor_->selectAll();
  });
}

void ConfigPanel::buildSide() {
  const Theme& t = Theme::current();
  scroll_ = new QScrollArea(this);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setFocusPolicy(Qt::NoFocus);
  scroll_->setFixedWidth(t.px(300));
  side_ = new Pane;
  scroll_->setWidget(side_);
  auto* side = new QVBoxLayout(side_);
  side->setContentsMargins(t.px(14), t.px(8), t.px(14), t.px(10));
  side->setSpacing(t.px(6));
  key_ = new TextLabel({}, FontRole::data_title, TextLabel::Tone::text, side_);
  key_->setWordWrap(true);
  side->addWidget(key_);
  // What it means stands behind what one does: in a low page the value and its button have to be in sight.
  doc_ = new TextLabel({}, FontRole::body, TextLabel::Tone::text2, side_);
  doc_->setWordWrap(true);
  editor_ = new QLineEdit(side_);
  editor_->setObjectName(QStringLiteral("configEditor"));
  editor_->setStyleSheet(QStringLiteral("font-family: \"JetBrains Mono\";"));
  editor_->setAccessibleName(tr("New value"));
  editor_->installEventFilter(this);
  connect(editor_, &QLineEdit::textChanged, this, [this] {
    judged_ = false;
    judgeEditor();
    ask_timer_->start();
  });
  connect(editor_, &QLineEdit::returnPressed, this, &ConfigPanel::stageEditor);
  side->addWidget(editor_);
  editor_note_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::text3, side_);
  editor_note_->setWordWrap(true);
  editor_note_->setMinimumHeight(t.px(30));
  side->addWidget(editor_note_);
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(t.px(8));
  stage_ = new Button(Button::Kind::normal, {}, tr("Stage"), side_);
  stage_->setObjectName(QStringLiteral("stageConfig"));
  connect(stage_, &Button::clicked, this, &ConfigPanel::stageEditor);
  buttons->addWidget(stage_);
  inherit_ = new Button(Button::Kind::quiet, {}, tr("Inherit"), side_);
  inherit_->setName(tr("Take the own value away"));
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
  side->addWidget(doc_);
  from_ = new TextLabel({}, FontRole::control, TextLabel::Tone::text2, side_);
  from_->setWordWrap(true);
  side->addWidget(from_);
  chain_ = new TextLabel({}, FontRole::small_data, TextLabel::Tone::text3, side_);
  chain_->setWordWrap(true);
  side->addWidget(chain_);
  side->addStretch(1);
}

QString ConfigPanel::nameOf(const ConfigResource& resource) {
  const QString name = QString::fromStdString(resource.name);
  switch (resource.kind) {
    case ConfigResource::Kind::topic:
      return name;
    case ConfigResource::Kind::broker:
      return name.isEmpty() ? tr("all brokers") : tr("broker %1").arg(name);
    case ConfigResource::Kind::group:
      return tr("group %1").arg(name);
  }
  return name;
}

QString ConfigPanel::editorNote() const { return editor_note_->text(); }

std::string ConfigPanel::key() const { return std::to_string(static_cast<int>(resource_.kind)) + ":" + resource_.name; }

void ConfigPanel::show(const ConfigResource& resource, const std::string& through) {
  if (shown_ && resource == resource_) {
    return;
  }
  clear();
  shown_ = true;
  resource_ = resource;
  through_ = through;
  configs_->setOwnSource(own_source(resource));
  // Of several that are selected, this is the one.
  const QString name = nameOf(resource);
  title_->setText(resource.kind == ConfigResource::Kind::topic ? tr("Configuration of %1").arg(name) : tr("Configuration"));
  title_->setToolTip(name);
  load();
}

void ConfigPanel::clear() {
  if (shown_) {
    if (configs_->staged().empty()) {
      parked_.erase(key());
    } else {
      parked_[key()] = configs_->staged();
    }
  }
  shown_ = false;
  configs_->clear();
  shown_key_.clear();
  problem_->setText({});
}

void ConfigPanel::load() {
  if (session_ == nullptr || !shown_) {
    return;
  }
  const bool common = resource_.kind == ConfigResource::Kind::broker && resource_.name.empty();
  const ConfigResource asked{resource_.kind, common ? through_ : resource_.name};
  const QPointer<ConfigPanel> self(this);
  SessionAdmin::of(session_).describeConfigs(asked, [self, of = resource_, common](ConfigAnswer answer) {
    if (self == nullptr || !self->shown_ || !(self->resource_ == of)) {
      return;
    }
    if (common) {
      answer.rows = rows_of_all_brokers(std::move(answer.rows));
    }
    self->take(std::move(answer));
  });
}

void ConfigPanel::take(ConfigAnswer answer) {
  problem_->setText(answer.error.isEmpty() ? QString() : tr("Not readable: %1").arg(answer.error));
  problem_->setToolTip(problem_->text());
  if (!answer.error.isEmpty()) {
    return;
  }
  configs_->setRows(std::move(answer.rows));
  askForStandards();
  if (const auto parked = parked_.find(key()); parked != parked_.end()) {
    const auto edits = std::exchange(parked->second, {});
    parked_.erase(parked);
    for (const auto& [name, value] : edits) {
      (void)configs_->stage(name, value ? std::optional(QString::fromStdString(*value)) : std::nullopt);
    }
  }
  if (configs_->rowCount() == 0 && which_->current() == 0) {
    // Nothing of its own: the usual questions are about these.
    which_->setCurrent(1);
    configs_->setOnlyChanged(false);
  }
  fitColumns();
  if (!table_->currentIndex().isValid() && configs_->rowCount() > 0) {
    const char* usual = resource_.kind == ConfigResource::Kind::broker ? "log.retention.ms" : "retention.ms";
    const int wanted = std::max(0, configs_->indexOf(usual));
    table_->setCurrentIndex(configs_->index(wanted, 0));
    table_->scrollTo(configs_->index(wanted, 0), QAbstractItemView::PositionAtCenter);
  }
  showAnswered();
}

// An answer that comes while somebody types takes nothing away from them.
void ConfigPanel::showAnswered() {
  const std::string key = shown_key_;
  const std::optional<QString> typed = editor_->isModified() ? std::optional(editor_->text()) : std::nullopt;
  showKey();
  if (typed && key == shown_key_) {
    editor_->setText(*typed);
    editor_->setModified(true);
  }
}

void ConfigPanel::askForStandards() {
  if (session_ == nullptr || !configs_->wantsBroker()) {
    return;
  }
  const observe::ViewPtr view = session_->view();
  const auto broker = std::find_if(view->nodes.begin(), view->nodes.end(), [](const auto& node) {
    return node.second->broker && node.second->state == observe::NodeView::State::running;
  });
  if (broker == view->nodes.end()) {
    return;
  }
  const ConfigResource asked{ConfigResource::Kind::broker, std::to_string(broker->first.value())};
  const QPointer<ConfigPanel> self(this);
  SessionAdmin::of(session_).describeConfigs(asked, [self, of = resource_](const ConfigAnswer& answer) {
    if (self != nullptr && self->shown_ && self->resource_ == of && answer.error.isEmpty()) {
      self->configs_->setBroker(answer.rows);
      self->showAnswered();
    }
  });
}

void ConfigPanel::chooseKey(const std::string& key) {
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

void ConfigPanel::showKey() {
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
    // The mark stays with its key, and a long key may break behind its dots.
    const QString key = QString::fromStdString(synonym.name).replace(QLatin1Char('.'), QStringLiteral(".\u200b"));
    chain << QStringLiteral("%1\u00a0%2=%3").arg(chain.isEmpty() ? QStringLiteral("●") : QStringLiteral("○"), key,
                                            config_value_text(synonym.value, row->sensitive)) +
                 QStringLiteral("  (%1)").arg(source_words(synonym.source));
  }
  chain_->setText(chain.join(QLatin1Char('\n')));
  from_->setText(source_sentence(row->source));
  chain_->setToolTip(tr("Where a value may come from, the strongest first"));
  const auto staged = configs_->staged().find(row->name);
  const bool edited = staged != configs_->staged().end();
  const QString value = edited && staged->second ? QString::fromStdString(*staged->second)
                                                 : (row->value ? QString::fromStdString(*row->value) : QString());
  const QSignalBlocker quiet(editor_);
  ask_timer_->stop();
  editor_->setText(value);
  editor_->setEnabled(!row->read_only);
  inherit_->setText(edited ? tr("Unstage") : tr("Inherit"));
  inherit_->setVisible(edited || row->source == configs_->ownSource());
  inherit_->setToolTip(edited ? tr("Forget this edit") : tr("Take the own value away: then %1 counts").arg(configs_->inheritedText(*row)));
  judged_ = true;
  judgeEditor();
}

void ConfigPanel::judgeEditor() {
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
    editor_note_->setText(configs_->ownSource() == ConfigSource::all_brokers && one_broker_only(row->name)
                              ? tr("A matter of each broker: change it there")
                              : tr("Cannot be changed while the broker runs"));
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
    editor_note_->setText(parts.join(QStringLiteral(" · ")).replace(QRegularExpression(QStringLiteral("([0-9]) (?=\\pL)")), QStringLiteral("\\1\u00a0")));
  }
  set_state(editor_, bad && !text.isEmpty() ? "bad" : (same ? "" : "good"));
  stage_->setEnabled(!bad && !same && !row->read_only);
}

void ConfigPanel::askBroker() {
  const ConfigRow* row = configs_->find(shown_key_);
  if (session_ == nullptr || row == nullptr || row->read_only) {
    return;
  }
  const std::string plain = config_plain(row->name, editor_->text()).toStdString();
  if (check_config(row->name, row->type, editor_->text()).level == RuleAnswer::Level::error || row->value == plain) {
    judged_ = true;
    return;
  }
  const QPointer<ConfigPanel> self(this);
  SessionAdmin::of(session_).alterConfigs(resource_, {{row->name, plain}}, true, [self, of = resource_, name = row->name, plain](const QString& error) {
    if (self == nullptr || !(self->resource_ == of) || self->shown_key_ != name ||
        config_plain(name, self->editor_->text()).toStdString() != plain) {
      return;  // something else is there by now
    }
    self->judged_ = true;
    if (!error.isEmpty()) {
      self->editor_note_->setTone(TextLabel::Tone::err);
      self->editor_note_->setText(tr("The broker would refuse it: %1").arg(error));
      set_state(self->editor_, "bad");
      self->stage_->setEnabled(false);
    }
  });
}

void ConfigPanel::stageEditor() {
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

void ConfigPanel::refreshStaged() {
  const auto count = static_cast<int>(configs_->staged().size());
  review_->setVisible(count > 0);
  discard_->setVisible(count > 0);
  review_->setText(tr("Review %Ln change(s)", nullptr, count));
  review_->updateGeometry();
  fitColumns();
}

ReviewConfigsDialog::Input ConfigPanel::reviewInput() const {
  ReviewConfigsDialog::Input input;
  input.resource = resource_;
  input.title = nameOf(resource_);
  input.changes = configs_->changes();
  input.now_ms = clock_();
  input.replicas = replicas_;
  const auto both = [&](const std::string& name) {
    if (const ConfigRow* row = configs_->find(name); row != nullptr) {
      input.before[name] = row->value.value_or("");
      input.after[name] = configs_->effective(name);
    }
  };
  for (const char* name : {"cleanup.policy", "retention.ms", "retention.bytes", "log.cleanup.policy", "log.retention.ms", "log.retention.bytes"}) {
    both(name);
  }
  for (const ConfigChange& change : input.changes) {
    both(change.name);
  }
  const observe::ViewPtr view = session_->view();
  if (resource_.kind == ConfigResource::Kind::group) {
    const observe::GroupView* group = view->find_group(resource_.name);
    input.classic = group != nullptr && group->kind == event::GroupProtocol::classic;
    return input;
  }
  if (resource_.kind != ConfigResource::Kind::broker) {
    return input;
  }
  // log.retention.ms is null by default: then its other names count.
  for (auto* values : {&input.before, &input.after}) {
    std::string& retention = (*values)["log.retention.ms"];
    if (retention.empty()) {
      retention = topic_standard("retention.ms", [this](const std::string& key) {
                    const std::string value = key == "log.retention.ms" ? std::string() : configs_->effective(key);
                    return value.empty() ? std::nullopt : std::optional(value);
                  }).value_or("");
    }
  }
  for (const auto& [name, topic] : *view->topics) {
    if (input.topics.size() >= kTopicsMax) {
      break;
    }
    if (topic != nullptr && !topic->internal) {
      const bool one = !topic->partitions.empty() && topic->partitions.front() != nullptr;
      input.topics.push_back({name, {topic->configs.begin(), topic->configs.end()}, one ? topic->partitions.front()->replicas.size() : 1, {}});
    }
  }
  return input;
}

void ConfigPanel::review() {
  if (session_ == nullptr || configs_->staged().empty()) {
    return;
  }
  ReviewConfigsDialog::Input input = reviewInput();
  const std::vector<ConfigChange> inverse = configs_->inverse(input.changes);
  const auto count = static_cast<int>(input.changes.size());
  auto* dialog = new ReviewConfigsDialog(session_, std::move(input), this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &ReviewConfigsDialog::applied, this, [this, of = resource_, inverse, count] {
    addUndo(inverse, count);
    if (of == resource_) {
      configs_->unstageAll();
      load();
    } else {
      parked_.erase(std::to_string(static_cast<int>(of.kind)) + ":" + of.name);
    }
    Q_EMIT applied();
  });
  dialog->open();
}

void ConfigPanel::addUndo(const std::vector<ConfigChange>& inverse, int count) {
  const QPointer<Session> session = session_;
  const QPointer<ConfigPanel> self(this);
  UndoList::of(session)->add(tr("%Ln change(s) of %1 applied", nullptr, count).arg(nameOf(resource_)), address_of(resource_),
                             [session, self, of = resource_, inverse](const std::function<void(QString)>& done) {
                               if (session == nullptr) {
                                 return;
                               }
                               SessionAdmin::of(session).alterConfigs(of, inverse, false, [self, done](const QString& error) {
                                 done(error);
                                 if (self != nullptr) {
                                   self->load();
                                 }
                               });
                             });
}

bool ConfigPanel::eventFilter(QObject* object, QEvent* event) {
  if (object == table_->viewport() && event->type() == QEvent::Resize) {
    fitColumns();
    // The key that is shown beside stays in sight when the room shrinks.
    const int top = table_->currentIndex().isValid() ? table_->visualRect(table_->currentIndex()).top() : -1;
    if (top >= 0 && top < static_cast<QResizeEvent*>(event)->oldSize().height()) {
      QMetaObject::invokeMethod(this, [this] { table_->scrollTo(table_->currentIndex()); }, Qt::QueuedConnection);
    }
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

void ConfigPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  side_->layout()->invalidate();  // texts that were set before the first size have their heights anew
  fitColumns();
}

void ConfigPanel::fitColumns() {
  const Theme& t = Theme::current();
  const int room = seen_width(table_);
  const double wide = room / t.scale();
  table_->setColumnHidden(ConfigModel::reading, wide < 560);
  table_->setColumnHidden(ConfigModel::standard, wide < 780);
  // Where a value comes from is also said beside.
  table_->setColumnHidden(ConfigModel::source, wide < 400);
  const int source = table_->isColumnHidden(ConfigModel::source) ? 0 : t.px(116);
  const QFontMetrics words(t.font(FontRole::data));
  int reading = t.px(64);
  for (int i = 0; i < configs_->rowCount(); ++i) {
    reading = std::max(reading, words.horizontalAdvance(configs_->index(i, ConfigModel::reading).data().toString()) + t.px(18));
  }
  reading = table_->isColumnHidden(ConfigModel::reading) ? 0 : std::min(reading, t.px(128));
  int standard = table_->isColumnHidden(ConfigModel::standard) ? 0 : t.px(150);
  const int rest = std::max(t.px(260), room - source - reading - standard);
  // Room for the longest keys first: half a key is no key. A value of 19 digits needs 155, most need less; what a value was and
  // what it becomes needs more, and is what one looks at.
  const QFontMetrics digits(t.font(FontRole::data_strong));
  int need = t.px(80);
  int longest = t.px(120);
  for (int i = 0; i < configs_->rowCount(); ++i) {
    need = std::max(need, digits.horizontalAdvance(configs_->index(i, ConfigModel::value).data().toString()) + t.px(18));
    longest = std::max(longest, digits.horizontalAdvance(configs_->index(i, ConfigModel::key).data().toString()) + t.px(28));
  }
  const int key_width = std::min(std::max(rest - std::min(need, t.px(configs_->staged().empty() ? 155 : 230)), rest * 52 / 100),
                                 std::clamp(longest, t.px(278), t.px(340)));
  // What a value means stands near it, also where there is room for more.
  const int value = standard == 0 ? rest - key_width : std::min(rest - key_width, t.px(300));
  const int spare = rest - key_width - value;
  const int key_more = std::min(spare / 3, t.px(90));
  reading += standard == 0 ? 0 : std::min(spare / 3, t.px(90));
  standard += standard == 0 ? 0 : std::min(spare / 3, t.px(120));
  QHeaderView* head = table_->horizontalHeader();
  head->resizeSection(ConfigModel::key, key_width + key_more);
  head->resizeSection(ConfigModel::value, value);
  head->resizeSection(ConfigModel::reading, reading);
  head->resizeSection(ConfigModel::standard, standard);
  head->resizeSection(ConfigModel::source, source == 0 ? 0 : std::max(source, room - key_width - key_more - value - reading - standard));
}

}  // namespace hw::ui
