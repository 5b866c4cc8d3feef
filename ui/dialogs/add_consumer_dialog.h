// SPDX-License-Identifier: Apache-2.0
// A built-in consumer with all its options: group, topics, protocol, assignor, how it commits, how long it works on a record, and whether
// it crashes.
#pragma once

#include <QDialog>
#include <QPointer>

#include "ui/session/admin.h"
#include "ui/session/session.h"

class QComboBox;
class QLineEdit;
class QSpinBox;

namespace hw::ui {

class Button;
class SegmentedControl;
class TextLabel;

class AddConsumerDialog : public QDialog {
  Q_OBJECT

 public:
  AddConsumerDialog(Session* session, const ConsumerCommand& start, QWidget* parent = nullptr);
  [[nodiscard]] ConsumerCommand command() const;

 signals:
  void chosen(const hw::ui::ConsumerCommand& command, int count);

 private:
  void validate();
  void offerAssignors(const QString& wanted);  // of the chosen protocol; another where it has not the wanted one
  QPointer<Session> session_;
  QLineEdit* group_;
  TextLabel* group_note_;
  QComboBox* topic_;
  SegmentedControl* protocol_;
  TextLabel* protocol_note_;
  QComboBox* assignor_;
  TextLabel* assignor_note_;
  SegmentedControl* commit_;
  TextLabel* commit_note_;
  QSpinBox* work_;
  QSpinBox* crash_;
  QSpinBox* count_;
  Button* add_;
};

}  // namespace hw::ui
