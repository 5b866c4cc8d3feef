// SPDX-License-Identifier: Apache-2.0
// HexView: bytes in rows of 16, with their text; several named parts one below the other (key, value, headers).
// Virtual: only visible rows are formatted, so 20 MiB cost what 20 bytes do. Thread rule: UI thread only.
#pragma once

#include <QAbstractScrollArea>
#include <QString>
#include <vector>

#include "engine/base/bytes.h"

namespace hw::ui {

class HexView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  struct Part {
    int id = 0;
    QString name;
    Bytes bytes;
  };
  explicit HexView(QWidget* parent = nullptr);
  void setParts(std::vector<Part> parts);
  // Marks a part and scrolls to it; -1: none.
  void select(int id);
  [[nodiscard]] int selected() const { return selected_; }
  [[nodiscard]] std::int64_t rowCount() const { return rows_; }

 signals:
  void partClicked(int id);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  struct Row {
    const Part* part = nullptr;
    std::size_t from = 0;
    bool title = false;
  };
  [[nodiscard]] Row rowAt(std::int64_t row) const;
  [[nodiscard]] std::int64_t firstRowOf(int id) const;
  void refreshScroll();
  [[nodiscard]] int rowHeight() const;

  std::vector<Part> parts_;
  std::int64_t rows_ = 0;
  int selected_ = -1;
};

}  // namespace hw::ui
