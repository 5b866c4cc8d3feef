// SPDX-License-Identifier: Apache-2.0
// P3 Topics: what exists, how much lies in it, who reads it; configurations with staged edits; create, grow, copy, delete.
#pragma once

#include <QElapsedTimer>

#include "ui/models/topic_model.h"
#include "ui/window/command_source.h"
#include "ui/window/page.h"

class QAbstractButton;
class QCheckBox;
class QSplitter;
class QTableView;
class QTimer;

namespace hw::ui {

class Button;
class CommandRegistry;
class FilterBox;
class TopicDetails;
class UndoBar;

class TopicsPage : public Page, public CommandSource {
  Q_OBJECT

 public:
  explicit TopicsPage(QWidget* parent = nullptr);
  void attach(Session* session) override;
  void addCommands(CommandRegistry& commands) override;
  void setSelection(const Selection& selection) override;
  void setWidthClass(int width_class) override;
  bool focusFilter() override;
  Glyph attention() const override;

  [[nodiscard]] TopicModel* model() const { return model_; }
  [[nodiscard]] QTableView* table() const { return table_; }
  [[nodiscard]] TopicDetails* details() const { return details_; }
  [[nodiscard]] UndoBar* undoBar() const { return undo_; }
  [[nodiscard]] QStringList selectedTopics() const;

  // What the commands do. An empty name: the topic that is selected.
  void createTopic(const QString& name);
  void copyTopic(const QString& from);
  void growTopic(const QString& name);
  void deleteTopics(const QStringList& names);
  void deleteRecords(const QString& name, std::int32_t partition, std::int64_t offset);
  // Shows the newest view now. Frames do it at 10 Hz at most; tests that measure it do not wait for that.
  void refresh();

 protected:
  void frame() override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void refreshNotice();
  void showCurrent();
  void selectRow(const QString& topic);
  void fitColumns();
  [[nodiscard]] QString chosen(const QVariantMap& args) const;

  TopicModel* model_;
  QSplitter* splitter_;
  QTableView* table_;
  TopicDetails* details_;
  FilterBox* filter_;
  QCheckBox* internal_;
  UndoBar* undo_;
  QAbstractButton* copy_;
  QAbstractButton* grow_;
  QAbstractButton* delete_;
  QTimer* settle_;  // one more sample after traffic stops, so that rates fall to 0
  QElapsedTimer since_;
  bool quiet_ = false;      // the model moves rows: selections that follow are not a person's
  QString wanted_;          // a topic that was just created: chosen when it appears
};

}  // namespace hw::ui
