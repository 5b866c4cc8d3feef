// SPDX-License-Identifier: Apache-2.0
// T: topics as a table, with create and delete.
#pragma once

#include <QElapsedTimer>

#include "ui/models/topic_model.h"
#include "ui/window/page.h"

class QCheckBox;
class QLineEdit;
class QTableView;
class QTimer;

namespace hw::ui {

class TopicsPage : public Page {
  Q_OBJECT

 public:
  explicit TopicsPage(QWidget* parent = nullptr);
  void attach(Session* session) override;
  void setSelection(const Selection& selection) override;
  void setWidthClass(int width_class) override;
  bool focusFilter() override;
  [[nodiscard]] TopicModel* model() const { return model_; }

 protected:
  void frame() override;
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();
  void selectRow(const QString& topic);
  TopicModel* model_;
  QTableView* table_;
  QLineEdit* filter_;
  QCheckBox* internal_;
  class QAbstractButton* delete_;
  QTimer* settle_;  // one more sample after traffic stops, so that rates fall to 0
  QElapsedTimer since_;
  bool rates_moving_ = false;
};

}  // namespace hw::ui
