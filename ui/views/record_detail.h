// SPDX-License-Identifier: Apache-2.0
// RecordDetail: one record as a tree of its batch and fields, beside the bytes of the batch as stored; both sides stay in
// step: a field lights its bytes up, a byte selects its field. The third form is the value as text, JSON indented.
//
// The batch is read when a record is shown; until it comes the tree says what the row knows. Of a large value only the head
// becomes text. Thread rule: UI thread only.
#pragma once

#include <QString>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "ui/models/record_history.h"
#include "ui/session/batch_anatomy.h"
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
  enum class Form : std::uint8_t { stored, decompressed, value };
  explicit RecordDetail(QWidget* parent = nullptr);
  void setReader(std::shared_ptr<BatchReader> reader) { reader_ = std::move(reader); }
  void setUtc(bool utc);
  // `partitions` of the topic, for "why this partition".
  void show(const QString& topic, const QString& bootstrap, std::int32_t partitions, const RecordRow& row);
  void clear();
  void setAnatomy(const BatchAnatomyPtr& anatomy);
  // Of the record that is shown; nothing moves where it is the same.
  void setHistory(const std::vector<HistoryStep>& steps);
  [[nodiscard]] QString historyText() const;
  void setForm(Form form);
  [[nodiscard]] Form form() const { return form_; }
  [[nodiscard]] HexView* hex() const { return hex_; }
  [[nodiscard]] QTreeWidget* tree() const { return tree_; }
  [[nodiscard]] QPlainTextEdit* text() const { return text_; }
  [[nodiscard]] const std::optional<RecordRow>& row() const { return row_; }
  [[nodiscard]] const BatchAnatomyPtr& anatomy() const { return anatomy_; }
  // Text of the tree's item for a kind of field: "name value"; empty where there is none.
  [[nodiscard]] QString fieldText(BytesField::Kind kind) const;
  void selectField(BytesField::Kind kind);
  // Writes the whole value to a file and returns its path; empty where that failed.
  QString saveValue(const QString& folder) const;
  static constexpr std::size_t kTextHead = 64U << 10;

 signals:
  void resendRequested(const hw::ui::RecordRow& row);
  void copyMenuRequested(const QPoint& global);

 private:
  void build();
  void buildBatch();
  void buildRecord();
  void buildHistory();
  void showText();
  void showBytes();
  void onItem(QTreeWidgetItem* item);
  void onByte(std::int64_t at);
  void openValue();
  QTreeWidgetItem* add(QTreeWidgetItem* parent, const QString& name, const QString& value, const BytesField* field = nullptr,
                       const BytesField* structure = nullptr);
  [[nodiscard]] const RecordRow& shown() const;  // whole where the batch has come
  [[nodiscard]] const BytesField* headerField(BytesField::Kind kind) const;
  [[nodiscard]] const BytesField* recordField() const;

  QTreeWidget* tree_;
  HexView* hex_;
  QPlainTextEdit* text_;
  QStackedWidget* right_;
  SegmentedControl* form_control_;
  SegmentedControl* form_control_plain_;
  TextLabel* tree_note_;
  TextLabel* bytes_title_ = nullptr;
  TextLabel* bytes_note_;
  Button* resend_;
  Button* copy_;
  Button* open_;
  std::shared_ptr<BatchReader> reader_;
  QString topic_;
  QString bootstrap_;
  std::int32_t partitions_ = 0;
  std::optional<RecordRow> row_;
  BatchAnatomyPtr anatomy_;
  std::vector<HistoryStep> history_;
  QTreeWidgetItem* history_item_ = nullptr;  // the tree's
  bool history_open_ = false;
  Form form_ = Form::stored;
  bool text_made_ = false;
  bool utc_ = false;
  std::optional<bool> batch_open_;  // what a person chose
  std::uint64_t asked_ = 0;
};

}  // namespace hw::ui
