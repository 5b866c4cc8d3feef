// SPDX-License-Identifier: Apache-2.0
// FilterChips: a filter as a row of chips, one for each part joined by `and`, with a cross to take it away and a menu to
// add one; then the named filters as buttons. Thread rule: UI thread only.
#pragma once

#include <QWidget>

#include "ui/filter/filter_language.h"

class QHBoxLayout;

namespace hw::ui {

class Button;
class FilterBox;

class FilterChips : public QWidget {
  Q_OBJECT

 public:
  explicit FilterChips(FilterBox* box);
  // After the text, or the named filters, are others.
  void refresh();
  // The texts of the chips, for tests.
  [[nodiscard]] QStringList texts() const { return texts_; }
  void removePart(int index);
  void addDialog();

 private:
  FilterBox* box_;
  QHBoxLayout* row_;
  QWidget* parts_ = nullptr;
  Button* add_;
  QStringList texts_;
  QString shown_for_;
};

// A condition from three choices: field, operator, value.
[[nodiscard]] QString make_condition(const filter::Field& field, const QString& name, const QString& op, const QString& value);

}  // namespace hw::ui
