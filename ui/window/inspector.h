// SPDX-License-Identifier: Apache-2.0
// Inspector: what the window knows about the selected object, live. Below 1200 px it folds into a strip.
//
// It keeps the widgets of a selection and changes their values in place; it builds new ones only when the shape of what
// there is to say changes (another object, another number of groups).
#pragma once

#include <QPointer>
#include <QWidget>
#include <optional>
#include <vector>

#include "ui/models/inspector_facts.h"
#include "ui/session/session.h"

class QScrollArea;
class QVBoxLayout;

namespace hw::ui {

class Button;
class FactRow;
class FormulaBox;
class TabStrip;
class TextLabel;

class Inspector : public QWidget {
  Q_OBJECT

 public:
  enum class Tab : int { overview, explain, config };
  explicit Inspector(QWidget* parent = nullptr);
  void attach(Session* session);
  void setSelection(const Selection& selection);
  // Called with every frame while the inspector is visible.
  void refresh();
  void showTab(Tab tab);
  [[nodiscard]] Tab tab() const { return tab_; }
  [[nodiscard]] const Selection& selection() const { return selection_; }

 signals:
  void selectionRequested(const hw::ui::Selection& selection);
  void commandRequested(const QString& id, const QVariantMap& args);
  void closeRequested();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  // The widgets of one section.
  struct Live {
    QWidget* part = nullptr;
    std::vector<FactRow*> rows;
    TextLabel* prose = nullptr;
    FormulaBox* formula = nullptr;
    TextLabel* note = nullptr;
  };
  void readRecord();
  void rebuild(const std::vector<FactSection>& sections);
  void fill(const std::vector<FactSection>& sections);
  [[nodiscard]] const std::vector<FactSection>& shown(const InspectorFacts& facts) const;

  QPointer<Session> session_;
  Selection selection_;
  Tab tab_ = Tab::overview;
  std::vector<FactSection> shown_;
  std::vector<Live> live_;
  std::optional<RecordRow> record_;
  QString record_error_;
  Selection record_asked_;

  TextLabel* title_;
  TextLabel* subtitle_;
  Button* copy_;
  TabStrip* tabs_;
  QScrollArea* scroll_;
  QWidget* body_ = nullptr;
};

// The folded form: 36 wide, the selected address written downwards.
class InspectorStrip : public QWidget {
  Q_OBJECT

 public:
  explicit InspectorStrip(QWidget* parent = nullptr);
  void setAddress(const QString& address);

 signals:
  void openRequested();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QString address_;
};

// A row of tabs: 2 px underline in `leader`, 600 when active. Left and right arrows move.
class TabStrip : public QWidget {
  Q_OBJECT

 public:
  explicit TabStrip(const QStringList& labels, QWidget* parent = nullptr);
  void setCurrent(int index);  // no signal
  [[nodiscard]] int current() const { return current_; }
  void setCount(int index, const QString& badge);  // a badge beside a label; empty: none
  [[nodiscard]] QSize sizeHint() const override;

 signals:
  void activated(int index);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] QRect cell(int index) const;
  void choose(int index);
  QStringList labels_;
  QStringList badges_;
  int current_ = 0;
  int hover_ = -1;
};

}  // namespace hw::ui
