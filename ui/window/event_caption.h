// SPDX-License-Identifier: Apache-2.0
// EventCaption: what just happened, in large letters at the bottom of the page while presenting; gone after 3 s.
#pragma once

#include <QTimer>
#include <QWidget>

namespace hw::ui {

class EventCaption : public QWidget {
  Q_OBJECT

 public:
  explicit EventCaption(QWidget* page);
  void tell(const QString& sentence);
  [[nodiscard]] const QString& sentence() const { return sentence_; }
  void place();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString sentence_;
  QTimer gone_;
};

}  // namespace hw::ui
