// SPDX-License-Identifier: Apache-2.0
// Create topic: name, partitions, replicas, and a preset that says what its settings mean. Checks while typing.
#pragma once

#include <QDialog>
#include <QPointer>

#include "ui/session/session.h"

class QLineEdit;
class QSpinBox;

namespace hw::ui {

class Button;
class SegmentedControl;
class CommandLine;
class TextLabel;

class CreateTopicDialog : public QDialog {
  Q_OBJECT

 public:
  CreateTopicDialog(Session* session, QWidget* parent = nullptr);
  [[nodiscard]] QString topicName() const;
  // Filled in as if typed (tests, commands with arguments).
  void setTopicName(const QString& name);
  // Why it has opened, where nobody asked for a topic; empty: no word.
  void setReason(const QString& reason);
  void setPartitions(int partitions);
  void choosePreset(int preset);
  // Instead of a preset: the configuration of another topic.
  void copyOf(const QString& topic, int partitions, int replicas, std::vector<std::pair<std::string, std::string>> configs);
  [[nodiscard]] CreateTopicCommand command() const;

 signals:
  void created(const QString& topic);

 private:
  void validate();
  void submit();
  void fit();  // the height follows the notes
  QPointer<Session> session_;
  QLineEdit* name_;
  TextLabel* name_note_;
  QSpinBox* partitions_;
  QSpinBox* replicas_;
  TextLabel* replicas_note_;
  TextLabel* title_;
  TextLabel* preset_label_;
  SegmentedControl* preset_;
  TextLabel* preset_note_;
  TextLabel* reason_;
  CommandLine* command_line_;
  TextLabel* failure_;
  Button* create_;
  QString copied_from_;
  std::vector<std::pair<std::string, std::string>> copied_;
};

}  // namespace hw::ui
