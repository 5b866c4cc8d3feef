// SPDX-License-Identifier: Apache-2.0
// TableNotice: what stands over an empty list: a title, a sentence and up to two buttons. Thread rule: UI thread only.
#pragma once

#include <QWidget>
#include <functional>

namespace hw::ui {

class Button;
class TextLabel;

class TableNotice : public QWidget {
  Q_OBJECT

 public:
  explicit TableNotice(QWidget* table);
  struct Content {
    QString title;
    QString text;
    bool failed = false;
    QString action;
    std::function<void()> run;
    QString second;
    std::function<void()> run_second;
  };
  void show(const Content& content);
  [[nodiscard]] QString title() const;
  [[nodiscard]] QString text() const;
  [[nodiscard]] Button* action() const { return action_; }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void place();
  TextLabel* title_;
  TextLabel* text_;
  Button* action_;
  Button* second_;
  std::function<void()> run_;
  std::function<void()> run_second_;
};

}  // namespace hw::ui
