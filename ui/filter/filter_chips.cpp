// SPDX-License-Identifier: Apache-2.0
#include "ui/filter/filter_chips.h"

#include <QComboBox>
#include <QCompleter>
#include <QDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>
#include <functional>

#include "ui/dialogs/dialog_parts.h"
#include "ui/filter/filter_box.h"
#include "ui/painting/text.h"
#include "ui/theme/glyphs.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"

namespace hw::ui {

namespace {

// One condition: its text, and a cross that takes it away (or Delete).
class PartChip : public QAbstractButton {
 public:
  PartChip(const QString& text, std::function<void()> remove, QWidget* parent)
      : QAbstractButton(parent), remove_(std::move(remove)) {
    setText(text);
    setFocusPolicy(Qt::TabFocus);
    setAccessibleName(FilterChips::tr("Condition %1").arg(text));
    setAccessibleDescription(FilterChips::tr("Delete takes it away, Return edits it"));
    setToolTip(text);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  }
  QSize sizeHint() const override {
    const Theme& t = Theme::current();
    const double width = std::min(360.0, text_width(text(), FontRole::data) + 7 + 25);
    return {t.px(width), t.px(Metrics::kChip)};
  }
  QSize minimumSizeHint() const override { return {Theme::current().px(60), Theme::current().px(Metrics::kChip)}; }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& t = Theme::current();
    const Colors& c = t.colors();
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    p.setPen(QPen(c.border, 1));
    p.setBrush(underMouse() ? c.hover : c.card);
    p.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), t.pxf(3), t.pxf(3));
    p.scale(t.scale(), t.scale());
    const double w = width() / t.scale();
    const double h = height() / t.scale();
    text_fit(p, 7, h / 2, w - 7 - 22, text(), FontRole::data, c.text);
    const QPixmap cross = icon_pixmap(QStringLiteral("close"), over_ ? c.text : c.text3, 12, devicePixelRatioF());
    p.drawPixmap(QRectF(w - 17, h / 2 - 6, 12, 12), cross, QRectF(cross.rect()));
  }
  void mouseMoveEvent(QMouseEvent* event) override {
    over_ = event->position().x() > width() - Theme::current().px(20);
    update();
  }
  void leaveEvent(QEvent*) override {
    over_ = false;
    update();
  }
  void mouseReleaseEvent(QMouseEvent* event) override {
    if (event->button() == Qt::LeftButton && event->position().x() > width() - Theme::current().px(20)) {
      const auto remove = remove_;
      remove();
      return;
    }
    QAbstractButton::mouseReleaseEvent(event);
  }
  void keyPressEvent(QKeyEvent* event) override {
    if (event->key() == Qt::Key_Delete || event->key() == Qt::Key_Backspace) {
      const auto remove = remove_;
      remove();
      return;
    }
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
      click();
      return;
    }
    QAbstractButton::keyPressEvent(event);
  }

 private:
  std::function<void()> remove_;
  bool over_ = false;
};

struct Choice {
  QString words;
  QString op;
  bool value;
};

std::vector<Choice> choices_of(const filter::Field& field) {
  std::vector<Choice> out;
  if (field.type == filter::Type::boolean) {
    out.push_back({FilterChips::tr("is true"), QString(), false});
    out.push_back({FilterChips::tr("is not true"), QStringLiteral("not"), false});
    return out;
  }
  out.push_back({FilterChips::tr("is"), QStringLiteral("=="), true});
  out.push_back({FilterChips::tr("is not"), QStringLiteral("!="), true});
  if (field.type == filter::Type::text || field.type == filter::Type::any) {
    out.push_back({FilterChips::tr("contains"), QStringLiteral("contains"), true});
    out.push_back({FilterChips::tr("starts with"), QStringLiteral("^"), true});
    out.push_back({FilterChips::tr("matches"), QStringLiteral("~"), true});
    out.push_back({FilterChips::tr("is null"), QStringLiteral("is null"), false});
    out.push_back({FilterChips::tr("is empty"), QStringLiteral("is empty"), false});
    out.push_back({FilterChips::tr("is there"), QStringLiteral("exists"), false});
  } else {
    out.push_back({FilterChips::tr("is at least"), QStringLiteral(">="), true});
    out.push_back({FilterChips::tr("is at most"), QStringLiteral("<="), true});
  }
  return out;
}

}  // namespace

QString make_condition(const filter::Field& field, const QString& name, const QString& op, const QString& value) {
  QString ref = QString::fromStdString(field.name);
  if (field.subscript) {
    ref += QStringLiteral("[%1]").arg(filter::quoted(name));
  } else if (field.path && !name.isEmpty()) {
    ref += QLatin1Char('.') + name;
  }
  if (field.type == filter::Type::boolean) {
    return op == QLatin1String("not") ? QStringLiteral("not %1").arg(ref) : ref;
  }
  if (op.startsWith(QLatin1String("is ")) || op == QLatin1String("exists")) {
    return QStringLiteral("%1 %2").arg(ref, op);
  }
  const bool text = field.type == filter::Type::text || field.type == filter::Type::any;
  QString written = value;
  if (op == QLatin1String("^")) {
    QString escaped;
    for (const QChar c : value) {
      if (QStringLiteral("\\^$.|?*+()[]{}\"").contains(c)) {
        escaped += QLatin1Char('\\');
      }
      escaped += c;
    }
    return QStringLiteral("%1 ~ \"^%2\"").arg(ref, escaped);
  }
  if (op == QLatin1String("~")) {
    written = QLatin1Char('"') + QString(value).replace(QLatin1Char('"'), QStringLiteral("\\\"")) + QLatin1Char('"');
  } else if (text) {
    bool number = false;
    value.toDouble(&number);
    // A place in JSON may be a number; everything else is a text.
    written = number && field.path && !name.isEmpty() ? value : filter::quoted(value);
  } else if (field.type == filter::Type::time && !value.startsWith(QLatin1Char('-'))) {
    written = filter::quoted(value);
  }
  return QStringLiteral("%1 %2 %3").arg(ref, op, written);
}

FilterChips::FilterChips(FilterBox* box) : QWidget(box), box_(box) {
  const Theme& theme = Theme::current();
  row_ = new QHBoxLayout(this);
  row_->setContentsMargins(0, 0, 0, 0);
  row_->setSpacing(theme.px(6));
  add_ = new Button(Button::Kind::quiet, QStringLiteral("plus"), tr("Add condition"), this);
  connect(add_, &QAbstractButton::clicked, this, &FilterChips::addDialog);
  row_->addWidget(add_);
  row_->addStretch(1);
}

void FilterChips::refresh() {
  if (isHidden()) {
    return;
  }
  QString key = box_->appliedText();
  for (const auto& [name, text] : box_->named()) {
    key += QLatin1Char('\n') + name;
  }
  if (parts_ != nullptr && key == shown_for_) {
    return;
  }
  shown_for_ = key;
  const Theme& theme = Theme::current();
  delete parts_;
  parts_ = new QWidget(this);
  auto* row = new QHBoxLayout(parts_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(theme.px(6));
  texts_.clear();
  const QString text = box_->appliedText();
  const filter::Parsed parsed = filter::parse(text, box_->vocabulary());
  int index = 0;
  for (const filter::Parsed::Part& part : parsed.parts) {
    const QString shown = text.mid(part.begin, part.end - part.begin);
    texts_ << shown;
    auto* chip = new PartChip(shown, [this, index] { QMetaObject::invokeMethod(this, [this, index] { removePart(index); }, Qt::QueuedConnection); }, parts_);
    connect(chip, &QAbstractButton::clicked, this, [this, part] {
      box_->edit()->setFocus();
      box_->edit()->setSelection(part.begin, part.end - part.begin);
    });
    row->addWidget(chip);
    ++index;
  }
  for (const auto& [name, named] : box_->named()) {
    auto* button = new Button(Button::Kind::normal, QStringLiteral("filter"), name, parts_);
    button->setName(tr("Filter %1: %2").arg(name, named));
    connect(button, &QAbstractButton::clicked, this, [this, named = named] { box_->setText(named); });
    row->addWidget(button);
  }
  row_->insertWidget(0, parts_);
  parts_->show();
}

void FilterChips::removePart(int index) {
  const QString text = box_->appliedText();
  const filter::Parsed parsed = filter::parse(text, box_->vocabulary());
  QStringList kept;
  for (std::size_t i = 0; i < parsed.parts.size(); ++i) {
    if (static_cast<int>(i) != index) {
      kept << text.mid(parsed.parts[i].begin, parsed.parts[i].end - parsed.parts[i].begin);
    }
  }
  box_->setText(kept.join(QStringLiteral(" && ")));
}

void FilterChips::addDialog() {
  const Theme& theme = Theme::current();
  auto* dialog = new QDialog(window());
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setObjectName(QStringLiteral("addCondition"));
  dialog->setWindowTitle(tr("Add condition"));
  auto* column = new QVBoxLayout(dialog);
  column->setSpacing(theme.px(12));
  auto* row = new QHBoxLayout;
  row->setSpacing(theme.px(8));
  auto* field = new QComboBox(dialog);
  field->setAccessibleName(tr("Field"));
  for (const filter::Field& f : box_->vocabulary().fields()) {
    field->addItem(QString::fromStdString(f.name));
    field->setItemData(field->count() - 1, f.help, Qt::ToolTipRole);
  }
  auto* name = new QLineEdit(dialog);
  name->setAccessibleName(tr("Name of the header, or place in JSON"));
  auto* op = new QComboBox(dialog);
  op->setAccessibleName(tr("Comparison"));
  auto* value = new QLineEdit(dialog);
  value->setAccessibleName(tr("Value"));
  value->setMinimumWidth(theme.px(180));
  row->addWidget(field);
  row->addWidget(name);
  row->addWidget(op);
  row->addWidget(value, 1);
  column->addLayout(row);
  auto* preview = new TextLabel({}, FontRole::data, TextLabel::Tone::text2, dialog);
  column->addWidget(preview);
  Button* add = add_answer_row(column, dialog, tr("Add")).accept;
  const auto chosen = [this, field]() -> const filter::Field& {
    return box_->vocabulary().fields()[static_cast<std::size_t>(std::max(0, field->currentIndex()))];
  };
  const auto written = [chosen, name, op, value] {
    const std::vector<Choice> choices = choices_of(chosen());
    const auto at = static_cast<std::size_t>(std::max(0, op->currentIndex()));
    return at < choices.size() ? make_condition(chosen(), name->text(), choices[at].op, value->text()) : QString();
  };
  const auto refresh = [this, chosen, written, op, value, preview, add] {
    const std::vector<Choice> choices = choices_of(chosen());
    const auto at = static_cast<std::size_t>(std::max(0, op->currentIndex()));
    value->setVisible(at < choices.size() && choices[at].value);
    const QString text = written();
    const filter::Parsed parsed = filter::parse(text, box_->vocabulary());
    add->setEnabled(parsed.ok() && !text.isEmpty());
    preview->setText(parsed.ok() ? text : parsed.problem->text);
    preview->setTone(parsed.ok() ? TextLabel::Tone::text2 : TextLabel::Tone::warn);
  };
  const auto choose = [chosen, name, op, refresh] {
    const filter::Field& f = chosen();
    name->setVisible(f.subscript || f.path);
    name->setPlaceholderText(f.subscript ? tr("header") : tr("place in JSON, or nothing"));
    op->clear();
    for (const Choice& c : choices_of(f)) {
      op->addItem(c.words);
    }
    refresh();
  };
  connect(field, &QComboBox::currentIndexChanged, dialog, choose);
  connect(op, &QComboBox::currentIndexChanged, dialog, refresh);
  connect(name, &QLineEdit::textChanged, dialog, refresh);
  connect(value, &QLineEdit::textChanged, dialog, refresh);
  connect(add, &QAbstractButton::clicked, dialog, &QDialog::accept);
  connect(dialog, &QDialog::accepted, this, [this, written] { box_->addCondition(written()); });
  choose();
  dialog->open();
  value->setFocus();
}

}  // namespace hw::ui
