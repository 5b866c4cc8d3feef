// SPDX-License-Identifier: Apache-2.0
#include "ui/views/hex_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <vector>

#include "ui/painting/text.h"
#include "ui/theme/theme.h"

namespace hw::ui {

namespace {

constexpr double kRow = 20;
constexpr double kLeft = 12;
constexpr double kTop = 4;
constexpr double kGap = 8;  // between the two groups of eight

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

std::int64_t HexView::rowCount() const {
  const auto per_row = static_cast<std::int64_t>(columns().per_row);
  return (static_cast<std::int64_t>(bytes_.size()) + per_row - 1) / per_row;
}

void HexView::setBytes(const Bytes& bytes) {
  const bool same = bytes.data() == bytes_.data() && bytes.size() == bytes_.size();
  bytes_ = bytes;
  field_ = {};
  structure_ = {};
  if (!same) {
    verticalScrollBar()->setValue(0);
  }
  setAccessibleDescription(bytes.empty() ? placeholder_ : format_bytes(static_cast<std::int64_t>(bytes.size())));
  refreshScroll();
  viewport()->update();
}

void HexView::setPlaceholder(const QString& text) {
  placeholder_ = text;
  viewport()->update();
}

void HexView::select(Range field, Range structure) {
  if (field == field_ && structure == structure_) {
    return;
  }
  field_ = field;
  structure_ = structure;
  const int per_row = columns().per_row;
  const std::int64_t visible = std::max(1, viewport()->height() / rowHeight());
  const std::int64_t row = field.begin / per_row;
  const std::int64_t top = verticalScrollBar()->value();
  if (field.end > field.begin && (row < top || row >= top + visible)) {
    verticalScrollBar()->setValue(static_cast<int>(std::max<std::int64_t>(0, row - 1)));
  }
  if (field.end > field.begin && field.end <= static_cast<std::int64_t>(bytes_.size())) {
    const auto shown = static_cast<std::size_t>(std::min<std::int64_t>(32, field.end - field.begin));
    const QByteArray head(reinterpret_cast<const char*>(bytes_.data()) + field.begin, static_cast<qsizetype>(shown));
    setAccessibleDescription(tr("bytes %1 to %2: %3").arg(field.begin).arg(field.end - 1).arg(QString::fromLatin1(head.toHex(' '))));
  }
  viewport()->update();
}

HexView::Columns HexView::columns() const {
  Columns c;
  const double width = viewport()->width() / Theme::current().scale();
  c.advance = text_width(QStringLiteral("0"), FontRole::small_data);
  const int digits = bytes_.size() > 0xffffff ? 8 : (bytes_.size() > 0xffff ? 6 : 4);
  c.hex = kLeft + c.advance * digits + 14;
  const auto end_of = [&](int per_row) { return c.hex + c.advance * (3 * per_row - 1) + (per_row > 8 ? kGap : 0); };
  c.per_row = end_of(16) <= width ? 16 : 8;
  c.text = end_of(c.per_row) + 16;
  if (c.text + c.advance * c.per_row > width) {
    c.text = -1;
  }
  return c;
}

double HexView::hexX(const Columns& c, int column) const { return c.hex + c.advance * 3 * column + (column >= 8 ? kGap : 0); }

void HexView::refreshScroll() {
  const int visible = viewport()->height() / std::max(1, rowHeight());
  verticalScrollBar()->setPageStep(std::max(1, visible));
  verticalScrollBar()->setRange(0, static_cast<int>(std::clamp<std::int64_t>(rowCount() - visible, 0, INT32_MAX)));
}

void HexView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  refreshScroll();
}

QRect HexView::byteRect(std::int64_t at) const {
  const Columns c = columns();
  const std::int64_t row = at / c.per_row - verticalScrollBar()->value();
  if (at < 0 || at >= static_cast<std::int64_t>(bytes_.size()) || row < 0 || row > viewport()->height() / rowHeight()) {
    return {};
  }
  const double s = Theme::current().scale();
  const QRectF rect(hexX(c, static_cast<int>(at % c.per_row)), kTop + static_cast<double>(row) * kRow, c.advance * 2, kRow);
  return QRectF(rect.topLeft() * s, rect.size() * s).toRect();
}

void HexView::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  const Colors& c = theme.colors();
  QPainter p(viewport());
  p.fillRect(viewport()->rect(), c.canvas);
  p.scale(theme.scale(), theme.scale());
  if (bytes_.empty()) {
    text_left(p, kLeft, 18, placeholder_.isEmpty() ? tr("No bytes") : placeholder_, FontRole::caption, c.text3);
    return;
  }
  const double height = viewport()->height() / theme.scale();
  const Columns columns = this->columns();
  const int digits = bytes_.size() > 0xffffff ? 8 : (bytes_.size() > 0xffff ? 6 : 4);
  static constexpr char kDigits[] = "0123456789abcdef";
  const ByteSpan bytes = bytes_.span();
  const auto size = static_cast<std::int64_t>(bytes.size());
  const std::int64_t first = std::int64_t{verticalScrollBar()->value()} * columns.per_row;
  double top = kTop;
  for (std::int64_t from = first; from < size && top < height; from += columns.per_row, top += kRow) {
    const double y = top + kRow / 2;
    const int count = static_cast<int>(std::min<std::int64_t>(columns.per_row, size - from));
    text_left(p, kLeft, y, QStringLiteral("%1").arg(static_cast<qulonglong>(from), digits, 16, QLatin1Char('0')),
              FontRole::small_data, c.text3);
    // Grounds first: the structure, then the field in it. A run crosses the gap in the middle.
    const auto ground = [&](const Range& range, const QColor& color, double inset) {
      const int begin = static_cast<int>(std::clamp<std::int64_t>(range.begin - from, 0, count));
      const int end = static_cast<int>(std::clamp<std::int64_t>(range.end - from, 0, count));
      if (begin >= end) {
        return;
      }
      const double left = hexX(columns, begin) - 3;
      p.fillRect(QRectF(left, top + inset, hexX(columns, end - 1) + columns.advance * 2 + 3 - left, kRow - 2 * inset), color);
      if (columns.text >= 0) {
        p.fillRect(QRectF(columns.text + begin * columns.advance, top + inset, (end - begin) * columns.advance, kRow - 2 * inset), color);
      }
    };
    ground(structure_, c.selected, 0);
    ground(field_, c.ring, 1);
    // Zeros step back, lit bytes change colour; bytes of the same kind are one piece of text.
    QString plain(count * 3, QLatin1Char(' '));
    QString zero = plain;
    QString lit = plain;
    QString letters(count, QLatin1Char(' '));
    QString lit_letters = letters;
    for (int i = 0; i < count; ++i) {
      const auto byte = static_cast<unsigned>(bytes[static_cast<std::size_t>(from + i)]);
      const bool marked = field_.has(from + i);
      QString& into = marked ? lit : (byte == 0 ? zero : plain);
      into[i * 3] = QLatin1Char(kDigits[byte >> 4]);
      into[i * 3 + 1] = QLatin1Char(kDigits[byte & 15U]);
      (marked ? lit_letters : letters)[i] = byte >= 0x20 && byte < 0x7f ? QChar(QLatin1Char(static_cast<char>(byte))) : QChar(0xb7);
    }
    const auto halves = [&](const QString& text, const QColor& color) {
      text_left(p, columns.hex, y, text.left(24), FontRole::small_data, color);
      if (count > 8) {
        text_left(p, hexX(columns, 8), y, text.mid(24), FontRole::small_data, color);
      }
    };
    halves(plain, c.text);
    halves(zero, c.text3);
    halves(lit, c.canvas);
    if (columns.text >= 0) {
      text_left(p, columns.text, y, letters, FontRole::small_data, c.text2);
      text_left(p, columns.text, y, lit_letters, FontRole::small_data, c.canvas);
    }
  }
}

std::int64_t HexView::byteAt(const QPointF& position) const {
  const double s = Theme::current().scale();
  const double x = position.x() / s;
  const double y = position.y() / s - kTop;
  const Columns c = columns();
  if (y < 0) {
    return -1;
  }
  int column = -1;
  if (columns().text >= 0 && x >= c.text) {
    column = static_cast<int>((x - c.text) / c.advance);
  } else if (x >= c.hex - c.advance / 2) {
    const double right = x - c.hex + c.advance / 2;
    column = static_cast<int>(right / (3 * c.advance));
    if (column >= 8) {
      column = std::max(7, static_cast<int>((right - kGap) / (3 * c.advance)));
    }
  }
  if (column < 0 || column >= c.per_row) {
    return -1;
  }
  const std::int64_t at = (verticalScrollBar()->value() + static_cast<std::int64_t>(y / kRow)) * c.per_row + column;
  return at < static_cast<std::int64_t>(bytes_.size()) ? at : -1;
}

void HexView::mousePressEvent(QMouseEvent* event) {
  const std::int64_t at = byteAt(event->position());
  if (event->button() == Qt::LeftButton && at >= 0) {
    Q_EMIT byteClicked(at);
  }
}

void HexView::mouseMoveEvent(QMouseEvent* event) {
  const std::int64_t at = byteAt(event->position());
  if (event->buttons().testFlag(Qt::LeftButton) && at >= 0) {
    Q_EMIT byteClicked(at);
  }
}

void HexView::keyPressEvent(QKeyEvent* event) {
  QScrollBar* bar = verticalScrollBar();
  const auto size = static_cast<std::int64_t>(bytes_.size());
  switch (event->key()) {
    case Qt::Key_Left:
      if (field_.begin > 0) {
        Q_EMIT byteClicked(field_.begin - 1);  // the field before
      }
      return;
    case Qt::Key_Right:
      if (field_.end < size) {
        Q_EMIT byteClicked(field_.end);  // the field behind
      }
      return;
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
