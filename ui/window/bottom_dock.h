// SPDX-License-Identifier: Apache-2.0
// Bottom dock: events as they happen, and the produce panel. Only its header when folded; its upper edge drags.
#pragma once

#include <QWidget>

#include "ui/models/event_model.h"
#include "ui/session/session.h"

class QCheckBox;
class QStackedWidget;
class QTableView;

namespace hw::ui {

class Button;
class Chip;
class FilterBox;
class ProducePanel;
class SeverityBar;
class TextLabel;
class TabStrip;

class BottomDock : public QWidget {
  Q_OBJECT

 public:
  enum class Tab : int { events, produce };
  BottomDock(ProducePanel* produce, QWidget* parent = nullptr);
  void attach(Session* session);
  // Called with every frame. While folded it only remembers what happened.
  void refresh();
  void setOpen(bool open);
  [[nodiscard]] bool isOpen() const { return open_; }
  void showTab(Tab tab);
  [[nodiscard]] Tab tab() const { return tab_; }
  [[nodiscard]] EventModel* events() const { return events_; }
  // Height of the open dock, header included.
  void setOpenHeight(int height);
  [[nodiscard]] int openHeight() const { return events_height_; }
  void setNarrow(bool narrow);
  // Only what this filter lets through, in the language of ui/filter; empty: all.
  void setFilter(const QString& text);
  [[nodiscard]] FilterBox* filter() const { return filter_; }
  [[nodiscard]] SeverityBar* severities() const { return severities_; }

 signals:
  void selectionRequested(const hw::ui::Selection& selection);
  void openChanged(bool open);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  void applyHeight();
  void showCounts();
  void showNotice(int shown, int total);
  // Opens and folds rows by key; true where the key was one of these.
  bool foldKey(int key);
  bool eventFilter(QObject* object, QEvent* event) override;
  void applyColumns();
  void refill();
  [[nodiscard]] QStringList valuesOf(const std::string& field) const;
  QPointer<Session> session_;
  ProducePanel* produce_;
  EventModel* events_;
  QWidget* head_;
  QTableView* table_;
  TextLabel* notice_;  // over a list without events
  TabStrip* tabs_;
  QStackedWidget* stack_;
  QCheckBox* all_;
  SeverityBar* severities_;
  FilterBox* filter_;
  Button* fold_;
  Tab tab_ = Tab::events;
  bool open_ = true;
  bool narrow_ = false;
  int events_height_;
  int narrow_height_ = 0;  // of a narrow window, once a person has drawn it; 0: as low as it begins
  bool following_ = true;  // the newest event is in sight, and stays so
  int drag_from_ = -1;
  int drag_height_ = 0;
  int told_shown_ = -1;  // what the filter says already
  int told_total_ = -1;
};

}  // namespace hw::ui
