// SPDX-License-Identifier: Apache-2.0
// MessagesPage (P4): the log as a consumer would read it. A list that never re-sorts, and one record in full.
#pragma once

#include <QTimer>
#include <optional>

#include "ui/views/record_feed.h"
#include "ui/window/page.h"

class QComboBox;
class QDateTimeEdit;
class QLineEdit;
class QSplitter;
class QTableView;

namespace hw::ui {

class Button;
class RecordDetail;
class RecordModel;
class SegmentedControl;
class TextLabel;

class MessagesPage : public Page {
  Q_OBJECT

 public:
  explicit MessagesPage(QWidget* parent = nullptr);
  void attach(Session* session) override;
  void setSelection(const Selection& selection) override;
  void setWidthClass(int width_class) override;
  bool focusFilter() override;
  [[nodiscard]] RecordModel* records() const { return model_; }
  [[nodiscard]] RecordDetail* detail() const { return detail_; }
  [[nodiscard]] QTableView* table() const { return table_; }
  [[nodiscard]] RecordFeed* feed() const { return feed_; }
  void setTail(bool on);
  [[nodiscard]] bool tail() const { return tail_; }

 protected:
  void frame() override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void refreshTopics();
  void refreshPartitions();
  void restart();
  void jumpTo(const Selection& selection);
  void onRows(const std::vector<RecordRow>& rows, bool above);
  void onScroll(int value);
  void onCurrent();
  void refreshState();
  void placePill();
  void showEmpty();
  [[nodiscard]] bool atEnd() const;
  [[nodiscard]] QString topic() const;
  [[nodiscard]] std::int32_t partition() const;  // -1: all
  [[nodiscard]] std::int32_t partitionsOfTopic() const;

  QComboBox* topics_;
  QComboBox* partitions_;
  SegmentedControl* from_;
  QLineEdit* offset_;
  QDateTimeEdit* time_;
  Button* tail_button_;
  QSplitter* split_;
  QTableView* table_;
  RecordModel* model_;
  RecordDetail* detail_;
  RecordFeed* feed_;
  Button* pill_;          // "12 new"
  TextLabel* hint_;       // over an empty list
  std::shared_ptr<const void> topics_seen_;
  std::optional<Selection> pending_;  // to be shown when the page is, or when its rows have come
  std::int64_t unseen_ = 0;
  bool tail_ = true;
  bool pointer_inside_ = false;
  bool started_ = false;
  bool selecting_ = false;  // the selection comes from outside
};

}  // namespace hw::ui
