// SPDX-License-Identifier: Apache-2.0
// A question with two or three answers, and facts that help to decide. All confirmations of the window look like this.
#pragma once

#include <QDialog>
#include <vector>

class QGridLayout;
class QHBoxLayout;
class QLineEdit;
class QVBoxLayout;

namespace hw::ui {

class Button;
class TextLabel;

class QuestionDialog : public QDialog {
  Q_OBJECT

 public:
  enum class AnswerKind : std::uint8_t { primary, normal, danger };
  QuestionDialog(const QString& title, const QString& text, QWidget* parent = nullptr);
  // Facts in a plain two-column list.
  void addFact(const QString& key, const QString& value);
  // The same as a command line, below the facts.
  void addCommand(const QString& command);
  // A line to type into, shown in mono; empty label: none.
  QLineEdit* addInput(const QString& label, const QString& value);
  // The answer's index is what exec() returns plus one; 0 is Esc. Answers stand from left to right.
  Button* addAnswer(const QString& text, AnswerKind kind);
  Button* addCancel();
  void setFailure(const QString& text);

 signals:
  void answered(int index);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void addLine(const QString& key, QWidget* value);
  QVBoxLayout* body_;
  QGridLayout* facts_ = nullptr;
  QHBoxLayout* answers_;
  TextLabel* failure_;
  int fact_count_ = 0;
  int answer_count_ = 0;
};

}  // namespace hw::ui
