// SPDX-License-Identifier: Apache-2.0
// RecordDetail: one record as a tree of its batch and fields, beside its bytes or its text; both sides stay in step.
// Everything is made when shown; of a large value only the head becomes text. Thread rule: UI thread only.
#pragma once

#include <QString>
#include <QWidget>
#include <optional>

#include "ui/session/session.h"

class QPlainTextEdit;
class QStackedWidget;
class QTreeWidget;
class QTreeWidgetItem;

namespace hw::ui {

class Button;
class HexView;
class SegmentedControl;
class TextLabel;

class RecordDetail : public QWidget {
  Q_OBJECT

 public:
  explicit RecordDetail(QWidget* parent = nullptr);
  // `partitions` of the topic, for "why this partition".
  void show(const QString& topic, const QString& bootstrap, std::int32_t partitions, const RecordRow& row);
  void clear();
  [[nodiscard]] HexView* hex() const { return hex_; }
  [[nodiscard]] QTreeWidget* tree() const { return tree_; }
  [[nodiscard]] const std::optional<RecordRow>& row() const { return row_; }
  static constexpr std::size_t kTextHead = 64U << 10;

 private:
  void showText();
  void copy(const QString& text, const QString& what);
  QTreeWidgetItem* add(QTreeWidgetItem* parent, const QString& name, const QString& value, int part = -1);

  QTreeWidget* tree_;
  HexView* hex_;
  QPlainTextEdit* text_;
  QStackedWidget* right_;
  SegmentedControl* form_;
  TextLabel* tree_note_;
  TextLabel* bytes_note_;
  Button* copy_;
  QString topic_;
  QString bootstrap_;
  std::optional<RecordRow> row_;
  bool text_made_ = false;
};

}  // namespace hw::ui
