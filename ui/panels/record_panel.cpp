// SPDX-License-Identifier: Apache-2.0
#include "ui/panels/record_panel.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QJsonDocument>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPlainTextEdit>
#include <QSpinBox>
#include <QStringDecoder>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/painting/text.h"
#include "ui/views/partition_choice.h"
#include "ui/window/controls.h"

namespace hw::ui {

namespace {

constexpr int kNull = 0;
constexpr int kEmpty = 1;
constexpr int kText = 2;
constexpr int kRepeatTickMs = 20;
constexpr int kMaxRate = 1'000;

Bytes utf8(const QString& text) {
  const QByteArray bytes = text.toUtf8();
  return Bytes::copy_of(std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
}

}  // namespace

HeadersText HeadersText::parse(const QString& text) {
  HeadersText result;
  if (text.trimmed().isEmpty()) {
    return result;
  }
  for (const QString& part : text.split(QLatin1Char(';'))) {
    const qsizetype equals = part.indexOf(QLatin1Char('='));
    const QString name = (equals < 0 ? part : part.left(equals)).trimmed();
    if (name.isEmpty()) {
      if (equals < 0 && part.trimmed().isEmpty()) {
        continue;  // a semicolon at the end
      }
      result.error = RecordPanel::tr("A header needs a name before the =");
      return result;
    }
    std::optional<Bytes> value;
    if (equals >= 0) {
      value = utf8(part.mid(equals + 1).trimmed());
    }
    result.headers.emplace_back(name.toStdString(), std::move(value));
  }
  return result;
}

QString topic_name_error(const QString& name) {
  if (name.isEmpty()) {
    return RecordPanel::tr("Choose a topic");
  }
  if (name == QLatin1String(".") || name == QLatin1String("..")) {
    return RecordPanel::tr("A topic cannot be called %1").arg(name);
  }
  if (name.size() > 249) {
    return RecordPanel::tr("A topic name has at most 249 characters");
  }
  for (const QChar c : name) {
    const char16_t u = c.unicode();
    const bool fine = (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || (u >= '0' && u <= '9') || u == '.' || u == '_' || u == '-';
    if (!fine) {
      return RecordPanel::tr("A topic name holds letters, digits, '.', '_' and '-', not '%1'").arg(c);
    }
  }
  return {};
}

RecordPanel::RecordPanel(QWidget* parent) : ProducePanel(parent) {
  Theme& theme = Theme::current();
  setObjectName(QStringLiteral("producePanel"));
  setAccessibleName(tr("Produce a record"));
  clock_.start();
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(theme.px(16), theme.px(10), theme.px(16), theme.px(10));
  row->setSpacing(theme.px(20));
  // Left: where it goes.
  auto* form = new QGridLayout;
  form->setHorizontalSpacing(theme.px(10));
  form->setVerticalSpacing(theme.px(8));
  form->setColumnStretch(2, 1);
  const auto label = [&](const QString& text, QWidget* buddy, int at) {
    auto* made = new TextLabel(text, FontRole::control, TextLabel::Tone::text2, this);
    made->setBuddy(buddy);
    form->addWidget(made, at, 0);
  };
  topic_ = new QComboBox(this);
  topic_->setEditable(true);
  topic_->setInsertPolicy(QComboBox::NoInsert);
  follow_font(topic_, FontRole::data);
  topic_->setAccessibleName(tr("Topic"));
  topic_->setMinimumContentsLength(16);
  topic_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  topic_->lineEdit()->setPlaceholderText(tr("topic"));
  label(tr("Topic"), topic_, 0);
  partition_ = new QComboBox(this);
  partition_->setAccessibleName(tr("Partition"));
  auto* where = new QHBoxLayout;
  where->setSpacing(theme.px(8));
  where->addWidget(topic_, 3);
  where->addWidget(partition_, 2);
  form->addLayout(where, 0, 1, 1, 2);
  key_kind_ = new SegmentedControl({tr("null"), tr("empty"), tr("text")}, this);
  key_kind_->setAccessibleDescription(tr("Key: null, empty or a text"));
  key_kind_->setCurrent(kNull);
  key_ = new QLineEdit(this);
  follow_font(key_, FontRole::data);
  key_->setAccessibleName(tr("Key"));
  label(tr("Key"), key_, 1);
  form->addWidget(key_kind_, 1, 1);
  form->addWidget(key_, 1, 2);
  headers_ = new QLineEdit(this);
  follow_font(headers_, FontRole::data);
  headers_->setAccessibleName(tr("Headers"));
  headers_->setPlaceholderText(tr("trace=ab12; retry=; flag   (no = is null)"));
  label(tr("Headers"), headers_, 2);
  form->addWidget(headers_, 2, 1, 1, 2);
  auto* reason = new QVBoxLayout;
  reason->setSpacing(theme.px(4));
  formula_ = new QLabel(this);
  formula_->setAccessibleName(tr("Why this partition"));
  formula_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  formula_->setMargin(theme.px(7));
  why_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::text2, this);
  why_->setWordWrap(true);
  reason->addWidget(formula_);
  reason->addWidget(why_);
  reason->addStretch(1);
  form->addLayout(reason, 3, 1, 1, 2);
  auto* why_label = new TextLabel(tr("Why"), FontRole::control, TextLabel::Tone::text2, this);
  why_label->setToolTip(tr("Why this partition"));
  form->addWidget(why_label, 3, 0, Qt::AlignTop);
  form->setRowStretch(3, 1);
  row->addLayout(form, 5);
  // Right: what it holds, and off it goes.
  auto* right = new QVBoxLayout;
  right->setSpacing(theme.px(8));
  auto* value_row = new QHBoxLayout;
  value_row->setSpacing(theme.px(10));
  auto* value_label = new TextLabel(tr("Value"), FontRole::control, TextLabel::Tone::text2, this);
  value_row->addWidget(value_label);
  value_kind_ = new SegmentedControl({tr("null"), tr("empty"), tr("text")}, this);
  value_kind_->setAccessibleDescription(tr("Value: null, empty or a text"));
  value_kind_->setCurrent(kText);
  value_row->addWidget(value_kind_);
  value_note_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::text3, this);
  value_row->addWidget(value_note_, 1);
  right->addLayout(value_row);
  value_ = new QPlainTextEdit(this);
  follow_font(value_, FontRole::data);
  value_->setAccessibleName(tr("Value"));
  value_->setPlaceholderText(tr("{\"id\": ${n}}     ${n} counts up"));
  value_->setTabChangesFocus(true);
  value_->setMinimumHeight(theme.px(48));
  value_label->setBuddy(value_);
  right->addWidget(value_, 1);
  auto* actions = new QHBoxLayout;
  actions->setSpacing(theme.px(8));
  send_ = new Button(Button::Kind::primary, {}, tr("Send"), this);
  send_->setShortcutCap(QStringLiteral("Ctrl ⏎"));
  send_->setName(tr("Send the record (Ctrl+Enter)"));
  actions->addWidget(send_);
  rate_ = new QSpinBox(this);
  rate_->setRange(1, kMaxRate);
  rate_->setGroupSeparatorShown(true);
  rate_->setValue(5);
  rate_->setSuffix(tr(" per second"));
  rate_->setAccessibleName(tr("Records per second when repeating"));
  actions->addWidget(rate_);
  repeat_button_ = new Button(Button::Kind::normal, QStringLiteral("play"), tr("Repeat"), this);
  repeat_button_->setCheckable(true);
  actions->addWidget(repeat_button_);
  actions->addSpacing(theme.px(6));
  result_ = new Button(Button::Kind::quiet, {}, {}, this);
  result_->setName(tr("Last record sent"));
  result_->hide();
  actions->addWidget(result_);
  counts_ = new TextLabel({}, FontRole::small_data, TextLabel::Tone::text2, this);
  actions->addWidget(counts_);
  problem_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::err, this);
  problem_->setAccessibleName(tr("Problem"));
  actions->addWidget(problem_, 1);
  right->addLayout(actions);
  row->addLayout(right, 6);

  const auto restyle = [this] {
    const Colors& c = Theme::current().colors();
    formula_->setFont(Theme::current().font(FontRole::small_data));
    formula_->setStyleSheet(QStringLiteral("QLabel { background: %1; border: 1px solid %2; border-radius: 4px; color: %3; }")
                                .arg(c.inset.name(), c.hair.name(), c.text.name()));
  };
  restyle();
  connect(&Theme::current(), &Theme::changed, this, restyle);
  connect(topic_, &QComboBox::currentTextChanged, this, [this] {
    refreshPartitions();
    validate();
  });
  connect(partition_, &QComboBox::currentIndexChanged, this, &RecordPanel::validate);
  connect(key_kind_, &SegmentedControl::activated, this, [this](int kind) {
    kept_key_.reset();
    if (kind == kText) {
      key_->setFocus();
    }
    validate();
  });
  connect(key_, &QLineEdit::textEdited, this, [this] {
    kept_key_.reset();
    key_kind_->setCurrent(kText);
    validate();
  });
  connect(headers_, &QLineEdit::textChanged, this, [this] {
    if (!filling_) {
      kept_headers_.reset();
    }
    validate();
  });
  connect(value_kind_, &SegmentedControl::activated, this, [this](int kind) {
    kept_value_.reset();
    if (kind == kText) {
      value_->setFocus();
    }
    validate();
  });
  connect(value_, &QPlainTextEdit::textChanged, this, [this] {
    if (filling_) {
      return;
    }
    kept_value_.reset();
    if (!value_->toPlainText().isEmpty()) {
      value_kind_->setCurrent(kText);
    }
    validate();
  });
  connect(send_, &QAbstractButton::clicked, this, &RecordPanel::send);
  connect(repeat_button_, &QAbstractButton::clicked, this, &RecordPanel::setRepeating);
  connect(result_, &QAbstractButton::clicked, this, [this] {
    if (!last_.none()) {
      Q_EMIT selectionRequested(last_);
    }
  });
  repeat_.setInterval(kRepeatTickMs);
  connect(&repeat_, &QTimer::timeout, this, &RecordPanel::onRepeat);
  for (QWidget* w : {static_cast<QWidget*>(this), static_cast<QWidget*>(value_), static_cast<QWidget*>(key_),
                     static_cast<QWidget*>(headers_), static_cast<QWidget*>(topic_->lineEdit())}) {
    w->installEventFilter(this);
  }
  validate();
}

void RecordPanel::attach(Session* session) {
  session_ = session;
  connect(session, &Session::frameReady, this, [this] {
    if (isVisible() && session_ && topics_seen_ != session_->view()->topics) {
      refreshTopics();
    }
  });
  refreshTopics();
}

void RecordPanel::showEvent(QShowEvent* event) {
  ProducePanel::showEvent(event);
  if (session_) {
    refreshTopics();
  }
}

void RecordPanel::paintEvent(QPaintEvent*) {
  QPainter p(this);
  p.fillRect(rect(), Theme::current().colors().chrome);
}

void RecordPanel::openFor(const Selection& selection) {
  refreshTopics();
  if (!selection.topic.isEmpty()) {
    topic_->setCurrentText(selection.topic);
    partition_->setCurrentIndex(0);
    if (selection.kind == Selection::Kind::partition && selection.partition + 1 < partition_->count()) {
      partition_->setCurrentIndex(selection.partition + 1);
    }
  }
  validate();
  value_->setFocus();
}

void RecordPanel::openWith(const QString& topic, const RecordRow& record, bool choose_topic) {
  constexpr std::size_t kShown = 64U << 10;
  refreshTopics();
  filling_ = true;
  const auto show = [](const std::optional<Bytes>& bytes) {
    if (!bytes || bytes->size() > kShown) {
      return QString();
    }
    QStringDecoder decode(QStringDecoder::Utf8);
    const QString text = decode(QByteArrayView(bytes->text().data(), static_cast<qsizetype>(bytes->size())));
    return decode.hasError() || text.contains(QChar(0)) ? QString() : text;
  };
  topic_->setCurrentText(topic);
  refreshPartitions();
  partition_->setCurrentIndex(choose_topic || record.partition + 1 >= partition_->count() ? 0 : record.partition + 1);
  key_kind_->setCurrent(!record.key ? kNull : (record.key->empty() ? kEmpty : kText));
  key_->setText(show(record.key));
  value_kind_->setCurrent(!record.value ? kNull : (record.value->empty() ? kEmpty : kText));
  value_->setPlainText(show(record.value));
  QStringList headers;
  for (const auto& [name, value] : record.headers) {
    headers << (value ? QStringLiteral("%1=%2").arg(QString::fromStdString(name), show(value)) : QString::fromStdString(name));
  }
  headers_->setText(headers.join(QStringLiteral("; ")));
  filling_ = false;
  kept_key_ = record.key;
  kept_value_ = record.value;
  kept_headers_ = record.headers;
  validate();
  if (choose_topic) {
    topic_->setFocus();
    topic_->lineEdit()->selectAll();
  } else {
    value_->setFocus();
  }
}

std::int32_t RecordPanel::partitionCount() const {
  const observe::TopicView* t = session_ ? session_->view()->find_topic(topic_->currentText().toStdString()) : nullptr;
  return t == nullptr ? 0 : static_cast<std::int32_t>(t->partitions.size());
}

void RecordPanel::refreshTopics() {
  const observe::ViewPtr now = session_->view();
  if (topics_seen_ == now->topics) {
    return;
  }
  topics_seen_ = now->topics;
  QStringList names;
  for (const auto& [name, t] : *now->topics) {
    if (!t->internal) {
      names << QString::fromStdString(name);
    }
  }
  QStringList before;
  for (int i = 0; i < topic_->count(); ++i) {
    before << topic_->itemText(i);
  }
  if (names != before) {
    const QString typed = topic_->currentText();
    const QSignalBlocker block(topic_);
    topic_->clear();
    topic_->addItems(names);
    const auto demo = std::find_if(names.begin(), names.end(),
                                   [](const QString& n) { return n.startsWith(QLatin1String("demo.")); });
    topic_->setCurrentText(!typed.isEmpty() ? typed : (demo != names.end() ? *demo : (names.isEmpty() ? QString() : names.front())));
  }
  refreshPartitions();
  validate();
}

void RecordPanel::refreshPartitions() {
  const std::int32_t count = partitionCount();
  if (partition_->count() == count + 1) {
    return;
  }
  const QSignalBlocker block(partition_);
  const int current = std::max(0, partition_->currentIndex());
  partition_->clear();
  QStringList names{tr("automatic")};
  for (std::int32_t p = 0; p < count; ++p) {
    names << tr("partition %1").arg(p);
  }
  partition_->addItems(names);
  partition_->setCurrentIndex(current < names.size() ? current : 0);
}

QString RecordPanel::filled(const QString& text) const {
  QString out = text;
  return out.replace(QStringLiteral("${n}"), QString::number(number_));
}

std::optional<Bytes> RecordPanel::bytesOf(const SegmentedControl* kind, const QString& text) const {
  switch (kind->current()) {
    case kNull:
      return std::nullopt;
    case kEmpty:
      return Bytes();
    default:
      return utf8(filled(text));
  }
}

void RecordPanel::validate() {
  const QString name = topic_->currentText();
  QString problem = topic_name_error(name);
  const HeadersText headers = kept_headers_ || filling_ ? HeadersText() : HeadersText::parse(headers_->text());
  if (problem.isEmpty()) {
    problem = headers.error;
  }
  if (problem.isEmpty() && partitionCount() == 0) {
    problem = tr("There is no topic of this name.");
  }
  // Typing into either field makes it a text, so neither is ever locked.
  key_->setPlaceholderText(key_kind_->current() == kNull ? tr("null: no key") : tr("empty: a key of zero bytes"));
  const std::optional<std::int32_t> fixed =
      partition_->currentIndex() > 0 ? std::optional<std::int32_t>(partition_->currentIndex() - 1) : std::nullopt;
  const PartitionChoice choice = PartitionChoice::of(kept_key_ ? kept_key_ : bytesOf(key_kind_, key_->text()), partitionCount(), fixed);
  formula_->setText(choice.formula);
  formula_->setVisible(!choice.formula.isEmpty());
  why_->setText(choice.sentence);
  QString note;
  switch (value_kind_->current()) {
    case kNull:
      note = tr("null: on a compacted topic, a tombstone for the key");
      break;
    case kEmpty:
      note = tr("empty: zero bytes, which is not null");
      break;
    default: {
      const QString text = value_->toPlainText();
      const QString trimmed = text.trimmed();
      if (text.isEmpty() && kept_value_) {
        note = tr("%1, sent as they are unless you type").arg(format_bytes(static_cast<std::int64_t>(kept_value_->size())));
      } else if (text.isEmpty()) {
        note = tr("nothing typed: sent as an empty value");
      } else if (trimmed.startsWith(QLatin1Char('{')) || trimmed.startsWith(QLatin1Char('['))) {
        QJsonParseError error{};
        QJsonDocument::fromJson(filled(trimmed).toUtf8(), &error);
        note = error.error == QJsonParseError::NoError ? tr("JSON, %1").arg(format_bytes(text.toUtf8().size()))
                                                       : tr("not JSON yet: %1").arg(error.errorString());
      } else {
        note = tr("text, %1").arg(format_bytes(text.toUtf8().size()));
      }
      break;
    }
  }
  value_note_->setText(note);
  valid_ = problem.isEmpty() && session_ != nullptr;
  send_->setEnabled(valid_);
  repeat_button_->setEnabled(valid_ || repeat_.isActive());
  problem_->setTone(TextLabel::Tone::err);
  problem_->setText(problem);
  if (!valid_) {
    setRepeating(false);
  }
}

QString RecordPanel::whyText() const { return formula_->text() + QLatin1Char('\n') + why_->text(); }

QString RecordPanel::resultText() const { return result_->isHidden() ? problem_->text() : result_->text(); }

void RecordPanel::showResult(const QString& text, bool error) {
  if (error) {
    problem_->setTone(TextLabel::Tone::err);
    problem_->setText(text);
    result_->hide();
  } else {
    problem_->setText({});
    result_->setText(text);
    result_->setName(tr("Show %1").arg(text));
    result_->show();
    result_->updateGeometry();
  }
  counts_->setText(failed_ > 0 ? tr("%1 sent · %2 failed").arg(format_count(sent_), format_count(failed_))
                               : tr("%1 sent").arg(format_count(sent_)));
}

void RecordPanel::send() {
  validate();
  if (valid_) {
    sendOne();
  }
}

void RecordPanel::sendOne() {
  if (in_flight_ >= kMaxInFlight || !session_) {
    return;
  }
  ProduceCommand command;
  command.topic = topic_->currentText().toStdString();
  if (partition_->currentIndex() > 0) {
    command.partition = partition_->currentIndex() - 1;
  }
  command.key = kept_key_ ? kept_key_ : bytesOf(key_kind_, key_->text());
  command.value = kept_value_ ? kept_value_ : bytesOf(value_kind_, value_->toPlainText());
  command.headers = kept_headers_ ? *kept_headers_ : HeadersText::parse(filled(headers_->text())).headers;
  ++number_;
  ++in_flight_;
  const QString topic = topic_->currentText();
  const qint64 started = clock_.nsecsElapsed();
  const QPointer<RecordPanel> self(this);
  session_->produce(command, [self, topic, started](const ProduceAnswer& answer) {
    if (!self) {
      return;
    }
    --self->in_flight_;
    if (!answer.error.isEmpty()) {
      ++self->failed_;
      self->showResult(answer.error, true);
      self->setRepeating(false);  // an error is not repeated a thousand times
      return;
    }
    ++self->sent_;
    self->last_ = Selection::ofRecord(topic, answer.partition, answer.offset);
    const double ms = static_cast<double>(self->clock_.nsecsElapsed() - started) / 1e6;
    self->showResult(tr("%1 · %2 ms").arg(self->last_.address(), QLocale().toString(ms, 'f', 1)), false);
    if (!self->repeat_.isActive()) {
      Q_EMIT self->selectionRequested(self->last_);
    }
  });
}

void RecordPanel::setRepeating(bool on) {
  if (on && (!valid_ || !session_)) {
    on = false;
  }
  repeat_button_->setChecked(on);
  repeat_button_->setText(on ? tr("Stop") : tr("Repeat"));
  repeat_button_->setIconName(on ? QStringLiteral("pause") : QStringLiteral("play"));
  if (on && !repeat_.isActive()) {
    repeating_since_.start();
    repeat_owed_ = 0;
    repeat_.start();
    sendOne();
  } else if (!on) {
    repeat_.stop();
  }
}

void RecordPanel::onRepeat() {
  const qint64 due = repeating_since_.elapsed() * rate_->value() / 1'000;
  // At most a tick's worth at once: after a pause of the machine nothing is made up for.
  const int most = std::max(1, rate_->value() * kRepeatTickMs * 2 / 1'000);
  for (int i = 0; repeat_owed_ < due && i < most; ++i) {
    ++repeat_owed_;
    sendOne();
  }
  repeat_owed_ = std::max(repeat_owed_, due - 1);
}

bool RecordPanel::eventFilter(QObject* object, QEvent* event) {
  if (event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride) {
    auto* key = static_cast<QKeyEvent*>(event);
    const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if (enter && key->modifiers() & Qt::ControlModifier) {
      event->accept();
      if (event->type() == QEvent::KeyPress) {
        send();
      }
      return true;
    }
    if (key->key() == Qt::Key_Escape && event->type() == QEvent::KeyPress) {
      Q_EMIT closeRequested();
      return true;
    }
  }
  return ProducePanel::eventFilter(object, event);
}

}  // namespace hw::ui
