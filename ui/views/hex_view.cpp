// SPDX-License-Identifier: Apache-2.0
#include "ui/views/hex_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>

#include "ui/painting/text.h"
#include "ui/theme/theme.h"

namespace hw::ui {

namespace {

constexpr std::size_t kPerRow = 16;
constexpr double kRow = 20;
constexpr double kLeft = 12;

std::int64_t rows_of(const HexView::Part& part) {
  return 1 + static_cast<std::int64_t>((part.bytes.size() + kPerRow - 1) / kPerRow);
}

}  // namespace

HexView::HexView(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Bytes"));
  connect(&Theme::current(), &Theme::changed, viewport(), [this] {
    refreshScroll();
    viewport()->update();
  });
}

int HexView::rowHeight() const { return Theme::current().px(kRow); }

void HexView::setParts(std::vector<Part> parts) {
  parts_ = std::move(parts);
  rows_ = 0;
  QStringList words;
  for (const Part& part : parts_) {
    rows_ += rows_of(part);
    const std::string_view head = part.bytes.text().substr(0, 32);
    words << tr("%1, %2: %3").arg(part.name, format_bytes(static_cast<std::int64_t>(part.bytes.size())),
                                  QString::fromLatin1(QByteArray(head.data(), static_cast<qsizetype>(head.size())).toHex(' ')));
  }
  setAccessibleDescription(words.join(QStringLiteral("; ")));
  selected_ = -1;
  verticalScrollBar()->setValue(0);
  refreshScroll();
  viewport()->update();
}

void HexView::select(int id) {
  if (id == selected_) {
    return;
  }
  selected_ = id;
  const std::int64_t row = firstRowOf(id);
  const int visible = viewport()->height() / rowHeight();
  if (row >= 0 && (row < verticalScrollBar()->value() || row >= verticalScrollBar()->value() + visible)) {
    verticalScrollBar()->setValue(static_cast<int>(row));
  }
  viewport()->update();
}

std::int64_t HexView::firstRowOf(int id) const {
  std::int64_t row = 0;
  for (const Part& part : parts_) {
    if (part.id == id) {
      return row;
    }
    row += rows_of(part);
  }
  return -1;
}

HexView::Row HexView::rowAt(std::int64_t row) const {
  for (const Part& part : parts_) {
    const std::int64_t count = rows_of(part);
    if (row < count) {
      return {&part, row == 0 ? 0 : static_cast<std::size_t>(row - 1) * kPerRow, row == 0};
    }
    row -= count;
  }
  return {};
}

void HexView::refreshScroll() {
  const int visible = viewport()->height() / std::max(1, rowHeight());
  verticalScrollBar()->setPageStep(visible);
  verticalScrollBar()->setRange(0, static_cast<int>(std::max<std::int64_t>(0, std::min<std::int64_t>(rows_ - visible, INT32_MAX))));
}

void HexView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  refreshScroll();
}

void HexView::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  const Colors& c = theme.colors();
  QPainter p(viewport());
  p.fillRect(viewport()->rect(), c.canvas);
  p.scale(theme.scale(), theme.scale());
  const double height = viewport()->height() / theme.scale();
  const double advance = text_width(QStringLiteral("0"), FontRole::small_data);
  const double hex_left = kLeft + advance * 8 + 12;
  const double text_left_x = hex_left + advance * 3 * 16 + 12 + 14;
  std::int64_t row = verticalScrollBar()->value();
  static constexpr char kDigits[] = "0123456789abcdef";
  for (double top = 4; top < height && row < rows_; top += kRow, ++row) {
    const Row at = rowAt(row);
    const double y = top + kRow / 2;
    if (at.part == nullptr) {
      break;
    }
    const bool marked = at.part->id == selected_;
    if (at.title) {
      text_left(p, kLeft, y, at.part->name, FontRole::caption_strong, marked ? c.text : c.text2);
      text_left(p, kLeft + text_width(at.part->name, FontRole::caption_strong) + 8, y,
                format_bytes(static_cast<std::int64_t>(at.part->bytes.size())), FontRole::small_data, c.text3);
      continue;
    }
    const ByteSpan bytes = at.part->bytes.span();
    const std::size_t count = std::min(kPerRow, bytes.size() - at.from);
    text_left(p, kLeft, y, QStringLiteral("%1").arg(static_cast<qulonglong>(at.from), 8, 16, QLatin1Char('0')),
              FontRole::small_data, c.text3);
    if (marked) {
      const double cells = static_cast<double>(count);
      const double middle_gap = count > 8 ? 6 : 0;
      p.fillRect(QRectF(hex_left - 3, top, cells * 3 * advance + middle_gap - advance + 6, kRow), c.selected);
      p.fillRect(QRectF(text_left_x - 3, top, cells * advance + 6, kRow), c.selected);
    }
    // Zeros step back; runs of the same colour are one piece of text.
    QString shown;
    QString zeros;
    QString letters;
    for (std::size_t i = 0; i < count; ++i) {
      const auto byte = static_cast<unsigned>(bytes[at.from + i]);
      const bool zero = byte == 0;
      const QChar high = QLatin1Char(kDigits[byte >> 4]);
      const QChar low = QLatin1Char(kDigits[byte & 15U]);
      shown += zero ? QStringLiteral("  ") : QString(high) + low;
      zeros += zero ? QString(high) + low : QStringLiteral("  ");
      shown += QLatin1Char(' ');
      zeros += QLatin1Char(' ');
      letters += byte >= 0x20 && byte < 0x7f ? QChar(QLatin1Char(static_cast<char>(byte))) : QChar(0xb7);
    }
    const auto halves = [&](const QString& text, const QColor& color) {
      text_left(p, hex_left, y, text.left(24), FontRole::small_data, color);
      text_left(p, hex_left + 24 * advance + 6, y, text.mid(24), FontRole::small_data, color);
    };
    halves(shown, c.text);
    halves(zeros, c.text3);
    if (text_left_x + advance * 4 < viewport()->width() / theme.scale()) {
      text_left(p, text_left_x, y, letters, FontRole::small_data, marked ? c.text : c.text2);
    }
  }
  if (parts_.empty()) {
    text_left(p, kLeft, 20, tr("No bytes"), FontRole::caption, c.text3);
  }
}

void HexView::mousePressEvent(QMouseEvent* event) {
  const double y = event->position().y() / Theme::current().scale() - 4;
  const Row at = rowAt(verticalScrollBar()->value() + static_cast<std::int64_t>(std::max(0.0, y) / kRow));
  if (at.part != nullptr && event->button() == Qt::LeftButton) {
    selected_ = at.part->id;
    viewport()->update();
    Q_EMIT partClicked(at.part->id);
  }
}

void HexView::keyPressEvent(QKeyEvent* event) {
  QScrollBar* bar = verticalScrollBar();
  switch (event->key()) {
    case Qt::Key_Down:
      bar->setValue(bar->value() + 1);
      return;
    case Qt::Key_Up:
      bar->setValue(bar->value() - 1);
      return;
    case Qt::Key_PageDown:
      bar->setValue(bar->value() + bar->pageStep());
      return;
    case Qt::Key_PageUp:
      bar->setValue(bar->value() - bar->pageStep());
      return;
    case Qt::Key_Home:
      bar->setValue(0);
      return;
    case Qt::Key_End:
      bar->setValue(bar->maximum());
      return;
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

}  // namespace hw::ui
