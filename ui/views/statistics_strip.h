// SPDX-License-Identifier: Apache-2.0
// StatisticsStrip: 52 high, values over labels, divided by hairlines. Repaints only values that differ.
#pragma once

#include <QString>
#include <QWidget>
#include <vector>

namespace hw::ui {

class StatisticsStrip : public QWidget {
  Q_OBJECT

 public:
  struct Value {
    QString value;
    QString label;
    bool warn = false;
    friend bool operator==(const Value&, const Value&) = default;
  };
  explicit StatisticsStrip(QWidget* parent = nullptr);
  void setValues(std::vector<Value> values);
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<Value> values_;
  std::vector<double> widths_;  // grow only, so that a changing number moves nothing
};

}  // namespace hw::ui
