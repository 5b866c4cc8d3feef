// SPDX-License-Identifier: Apache-2.0
// The lower half of the Clients page: code to connect with, and the listener doctor.
#pragma once

#include <QPointer>
#include <QWidget>
#include <map>
#include <vector>

#include "ui/models/listener_doctor.h"
#include "ui/session/session.h"

class QPlainTextEdit;
class QVBoxLayout;

namespace hw::ui {

class Button;
class CommandBox;
class SegmentedControl;
class TextLabel;

// The address and, for each language, what to install and a program that works as it stands.
class ConnectPanel : public QWidget {
  Q_OBJECT

 public:
  explicit ConnectPanel(QWidget* parent = nullptr);
  // Rewrites the code where either is another than before.
  void setTarget(const QString& bootstrap, const QString& topic);
  void choose(int language);
  [[nodiscard]] QString code() const;
  [[nodiscard]] QString shownLanguage() const;

 private:
  void fill();
  SegmentedControl* languages_;
  CommandBox* address_;
  CommandBox* install_;
  TextLabel* library_;
  QPlainTextEdit* code_;
  QString bootstrap_;
  QString topic_;
  int language_ = 0;
};

// Who can reach the cluster: three rows with verdicts; asks when shown, when asked, and when the listener is another.
class DoctorPanel : public QWidget {
  Q_OBJECT

 public:
  explicit DoctorPanel(QWidget* parent = nullptr);
  void attach(Session* session);
  void examine();
  // Examines when the listener differs from the one examined last.
  void examineIfNew();
  [[nodiscard]] const std::vector<DoctorRow>& rows() const { return rows_; }
  [[nodiscard]] bool waiting() const { return waiting_ > 0; }

 signals:
  void diagnosed();

 private:
  void fill();
  void fillControl();
  QPointer<Session> session_;
  DoctorInput input_;
  std::vector<DoctorRow> rows_;
  int waiting_ = 0;
  std::uint64_t round_ = 0;  // answers of an earlier round are dropped
  Button* again_;
  TextLabel* when_;
  QVBoxLayout* list_;
  QWidget* body_;
  QWidget* control_;            // where hw and other programs control the nodes
  TextLabel* control_about_;
  CommandBox* control_line_;
};

}  // namespace hw::ui
