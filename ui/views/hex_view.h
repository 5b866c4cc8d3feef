// SPDX-License-Identifier: Apache-2.0
// HexView: bytes in rows of 16 (8 where it is narrow) with their text; one field lit, the structure it stands in marked.
// Virtual: only visible rows are formatted, so 20 MiB cost what 20 bytes do. Thread rule: UI thread only.
#pragma once

#include <QAbstractScrollArea>
#include <QString>

#include "engine/base/bytes.h"

namespace hw::ui {

class HexView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;  // exclusive; begin == end: nothing
    [[nodiscard]] bool has(std::int64_t at) const { return at >= begin && at < end; }
    friend bool operator==(const Range&, const Range&) = default;
  };
  explicit HexView(QWidget* parent = nullptr);
  void setBytes(const Bytes& bytes);
  void setPlaceholder(const QString& text);  // where there are no bytes
  // Lights a field up and scrolls to it.
  void select(Range field, Range structure);
  [[nodiscard]] const Range& selected() const { return field_; }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }
  [[nodiscard]] std::int64_t rowCount() const;
  // Where a byte is painted in the viewport, in pixels; empty: not visible.
  [[nodiscard]] QRect byteRect(std::int64_t at) const;

 signals:
  void byteClicked(std::int64_t at);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  struct Columns {
    double advance = 0;
    double hex = 0;   // left edge of the first byte
    double text = 0;  // left edge of the text; < 0: no room
    int per_row = 16;
  };
  [[nodiscard]] Columns columns() const;
  [[nodiscard]] double hexX(const Columns& c, int column) const;
  [[nodiscard]] std::int64_t byteAt(const QPointF& at) const;  // -1: none
  void refreshScroll();
  [[nodiscard]] int rowHeight() const;

  Bytes bytes_;
  QString placeholder_;
  Range field_;
  Range structure_;
};

}  // namespace hw::ui
