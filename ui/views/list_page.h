// SPDX-License-Identifier: Apache-2.0
// ListPage: the frame of a page that lists objects and shows one of them below: filter, table with sorting, a bar for
// undoing, numbers at a bounded rate, and the states in which there is nothing to list. Topics and Groups are two.
// Thread rule: UI thread only.
#pragma once

#include <QElapsedTimer>
#include <QHeaderView>
#include <QTableView>
#include <functional>
#include <memory>

#include "ui/filter/filter_box.h"
#include "ui/filter/filter_program.h"
#include "ui/filter/filter_types.h"
#include "ui/views/data_delegate.h"
#include "ui/window/page.h"

class QAbstractItemModel;
class QSplitter;
class QTimer;

namespace hw::ui {

class UndoBar;

class ListPage : public Page {
  Q_OBJECT

 public:
  struct Frame {
    filter::VocabularyPtr vocabulary;
    QString hint;        // a filter that makes sense here
    QString table_name;  // for those who hear the page
    QString table_id;    // the table's object name
    int frame_ms = 100;  // between two refreshes by frames
    int settle_ms = 1'000;
  };
  ListPage(Info info, const Frame& frame, QWidget* parent);
  void attach(Session* session) override;
  bool focusFilter() override;
  bool applyFilter(const QString& text) override;
  void setWidthClass(int width_class) override;

  [[nodiscard]] QTableView* table() const { return table_; }
  [[nodiscard]] FilterBox* filter() const { return filter_; }
  [[nodiscard]] UndoBar* undoBar() const { return undo_; }
  // Shows the newest view now. Frames do it every frame_ms at most; tests that measure it do not wait for that.
  virtual void refresh() = 0;

 protected:
  void frame() override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;
  // The table has another width.
  virtual void fitColumns() = 0;

  // What the table shows, and how: once, in the constructor. `ascending_first`: columns of words. The model says how it
  // is ordered and orders itself.
  template <class Model>
  void setModel(Model* model, DataDelegate::Look look, std::function<bool(int column)> ascending_first) {
    setTableModel(model, std::move(look), model->sortColumn(), model->sortOrder());
    QHeaderView* head = table_->horizontalHeader();
    connect(head, &QHeaderView::sectionClicked, this, [head, model, ascending_first = std::move(ascending_first)](int section) {
      const auto column = static_cast<typename Model::Column>(section);
      Qt::SortOrder order = ascending_first(section) ? Qt::AscendingOrder : Qt::DescendingOrder;
      if (column == model->sortColumn()) {
        order = model->sortOrder() == Qt::AscendingOrder ? Qt::DescendingOrder : Qt::AscendingOrder;
      }
      head->setSortIndicator(column, order);
      model->setOrder(column, order);
    });
  }
  // What stands below the table. Nothing is added to the page afterwards.
  void setDetails(QWidget* details, int table_stretch, int details_stretch);
  [[nodiscard]] QSplitter* splitter() const { return splitter_; }
  // Seconds since the last call; 0 at the first.
  double lap();
  // One more look after so long, although no frame may come.
  void settleIn(int ms);
  // The state of the page: the cluster has failed, it starts, nothing yet (`empty` tells), all hidden by the filter, or
  // content. What stands there already is left alone.
  void showState(int shown, int total, bool filtered, const std::function<PageNotice()>& empty, const QString& hidden_title);

 private:
  void setTableModel(QAbstractItemModel* model, DataDelegate::Look look, int sort_column, Qt::SortOrder sort_order);
  const int frame_ms_;
  FilterBox* filter_;
  QSplitter* splitter_;
  QTableView* table_;
  UndoBar* undo_;
  QTimer* settle_;
  QElapsedTimer since_;
  QString state_;  // what the notice that is shown is for
};

}  // namespace hw::ui
