// SPDX-License-Identifier: Apache-2.0
// ClientsPage: who is connected and what they do; below, how to connect, and who can.
#pragma once

#include <QElapsedTimer>

#include "ui/window/page.h"

class QAbstractButton;
class QCheckBox;
class QSplitter;
class QStackedWidget;
class QTableView;
class QTimer;

namespace hw::ui {

class ClientsModel;
class ConnectPanel;
class DoctorPanel;
class FilterBox;
class TabStrip;

class ClientsPage : public Page {
  Q_OBJECT

 public:
  enum class Tab : int { connect, doctor };
  explicit ClientsPage(QWidget* parent = nullptr);
  void attach(Session* session) override;
  void setSelection(const Selection& selection) override;
  void setWidthClass(int width_class) override;
  bool focusFilter() override;
  bool applyFilter(const QString& text) override;
  [[nodiscard]] FilterBox* filter() const { return filter_; }
  [[nodiscard]] Glyph attention(const FaultFacts& faults) const override;
  void showTab(Tab tab);
  Q_INVOKABLE void showConnect() { showTab(Tab::connect); }
  Q_INVOKABLE void showDoctor() { showTab(Tab::doctor); }  // by name: commands know pages by their ids only
  [[nodiscard]] ClientsModel* model() const { return model_; }
  [[nodiscard]] DoctorPanel* doctor() const { return doctor_; }
  [[nodiscard]] ConnectPanel* connectPanel() const { return connect_; }
  [[nodiscard]] QTableView* table() const { return table_; }

 protected:
  void frame() override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void setOpen(int row, bool open);
  void followSelection();
  void disconnectChosen();
  void fitColumns();
  void refresh(bool rates);
  void updateNotice();
  [[nodiscard]] QStringList valuesOf(const std::string& field) const;

  ClientsModel* model_;
  QTableView* table_;
  QStackedWidget* upper_;
  QWidget* notice_ = nullptr;
  int notice_kind_ = -1;
  QSplitter* split_;
  TabStrip* tabs_;
  QStackedWidget* lower_;
  ConnectPanel* connect_;
  DoctorPanel* doctor_;
  FilterBox* filter_;
  QCheckBox* built_in_;
  QCheckBox* peers_;
  QAbstractButton* disconnect_;
  QTimer* settle_;
  QElapsedTimer since_rates_;
  bool following_ = false;            // the row changes because the selection or the rows did
  std::shared_ptr<const void> seen_;  // the connections last drawn
};

}  // namespace hw::ui
