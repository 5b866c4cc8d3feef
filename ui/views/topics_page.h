// SPDX-License-Identifier: Apache-2.0
// P3 Topics: what exists, how much lies in it, who reads it; configurations with staged edits; create, grow, copy, delete.
#pragma once

#include "ui/models/topic_model.h"
#include "ui/views/list_page.h"
#include "ui/window/command_source.h"

class QAbstractButton;
class QCheckBox;

namespace hw::ui {

class Button;
class CommandRegistry;
class TopicDetails;

class TopicsPage : public ListPage, public CommandSource {
  Q_OBJECT

 public:
  explicit TopicsPage(QWidget* parent = nullptr);
  void attach(Session* session) override;
  void addCommands(CommandRegistry& commands) override;
  void setSelection(const Selection& selection) override;
  void setWidthClass(int width_class) override;
  Glyph attention(const FaultFacts& faults) const override;

  [[nodiscard]] TopicModel* model() const { return model_; }
  [[nodiscard]] TopicDetails* details() const { return details_; }
  [[nodiscard]] QStringList selectedTopics() const;

  // What the commands do. An empty name: the topic that is selected.
  void createTopic(const QString& name, const QString& reason = {});
  void copyTopic(const QString& from);
  void growTopic(const QString& name);
  void deleteTopics(const QStringList& names);
  void deleteRecords(const QString& name, std::int32_t partition, std::int64_t offset);
  void refresh() override;

 protected:
  void fitColumns() override;

 private:
  void refreshNotice();
  void showCurrent();
  void selectRow(const QString& topic);
  [[nodiscard]] QString chosen(const QVariantMap& args) const;

  TopicModel* model_;
  TopicDetails* details_;
  QCheckBox* internal_;
  QAbstractButton* copy_;
  QAbstractButton* grow_;
  QAbstractButton* delete_;
  int fitted_rows_ = -1;    // so many were there when the columns were fitted
  bool quiet_ = false;      // the model moves rows: selections that follow are not a person's
  QString wanted_;          // a topic that was just created: chosen when it appears
};

}  // namespace hw::ui
