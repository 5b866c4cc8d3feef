// SPDX-License-Identifier: Apache-2.0
// Omnibox: one field for going somewhere, running a command and finding an object by its address.
//   text    pages, commands and objects    >text  commands only    @text  objects only
// The list opens below the field; Up, Down and Return work while typing, Esc closes it.
#pragma once

#include <QAbstractListModel>
#include <QFrame>
#include <QLineEdit>
#include <QPointer>
#include <functional>
#include <vector>

#include "ui/session/selection.h"
#include "ui/session/session.h"
#include "ui/window/command_registry.h"

class QListView;

namespace hw::ui {

class TextLabel;

struct PaletteEntry {
  enum class Kind : std::uint8_t { command, object } kind = Kind::command;
  QString icon;
  QString title;
  QString detail;  // what it is, at the right
  QString shortcut;
  QString command;
  Selection object;
};

// What the list shows for a text. Pure, so that it can be tested.
[[nodiscard]] std::vector<PaletteEntry> palette_entries(const QString& text, const CommandRegistry& commands,
                                                        const observe::ClusterView& view);

class PaletteModel : public QAbstractListModel {
  Q_OBJECT

 public:
  using QAbstractListModel::QAbstractListModel;
  void setEntries(std::vector<PaletteEntry> entries);
  [[nodiscard]] const PaletteEntry* at(int row) const;
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

 private:
  std::vector<PaletteEntry> entries_;
};

class Omnibox : public QLineEdit {
  Q_OBJECT

 public:
  Omnibox(CommandRegistry* commands, std::function<observe::ViewPtr()> view, QWidget* window);
  // Puts the focus here with `text` in the field: "", ">", "@".
  void open(const QString& text = {});
  void closeList();
  [[nodiscard]] bool listOpen() const;
  [[nodiscard]] const PaletteModel* model() const { return model_; }

 signals:
  void objectChosen(const hw::ui::Selection& selection);
  void commandChosen(const QString& id);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  void place();
  void choose(int row);
  CommandRegistry* commands_;
  std::function<observe::ViewPtr()> view_;
  QPointer<QWidget> before_;  // had the focus
  QFrame* popup_;
  QListView* list_;
  PaletteModel* model_;
  TextLabel* nothing_;  // instead of the list, where nothing matches
};

}  // namespace hw::ui
