// SPDX-License-Identifier: Apache-2.0
// SeverityBar: four small buttons, one a severity, each with how many rows there are; pressed ones are shown in the list beside.
// Thread rule: UI thread only.
#pragma once

#include <QAbstractButton>
#include <array>

#include "ui/models/event_text.h"

namespace hw::ui {

class SeverityButton : public QAbstractButton {
  Q_OBJECT

 public:
  SeverityButton(Severity severity, QWidget* parent);
  void setCount(int rows, std::int64_t events);
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  void updateName();
  Severity severity_;
  int count_ = 0;
  std::int64_t events_ = 0;  // that the rows stand for
};

class SeverityBar : public QWidget {
  Q_OBJECT

 public:
  explicit SeverityBar(QWidget* parent = nullptr);
  // Bits: 1 << severity.
  [[nodiscard]] unsigned severities() const;
  void setSeverities(unsigned severities);  // tells where it is another choice
  void setCount(Severity severity, int rows, std::int64_t events);
  [[nodiscard]] SeverityButton* button(Severity severity) const { return buttons_[static_cast<std::size_t>(severity)]; }

 signals:
  void changed(unsigned severities);

 private:
  std::array<SeverityButton*, kSeverities.size()> buttons_{};
};

}  // namespace hw::ui
