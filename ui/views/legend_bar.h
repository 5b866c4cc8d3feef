// SPDX-License-Identifier: Apache-2.0
// LegendBar: the row of signs below a canvas and what they mean. Painted once; items that do not fit are left out.
#pragma once

#include <QString>
#include <QWidget>
#include <functional>
#include <vector>

class QPainter;

namespace hw::ui {

class LegendBar : public QWidget {
  Q_OBJECT

 public:
  struct Entry {
    double width = 12;  // of the sign
    std::function<void(QPainter&, QPointF left_middle)> paint;
    QString text;
    bool rare = false;  // left out in narrow windows
  };
  explicit LegendBar(std::vector<Entry> entries, QWidget* parent = nullptr);
  void setNarrow(bool narrow);
  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<Entry> entries_;
  bool narrow_ = false;
};

}  // namespace hw::ui
