// SPDX-License-Identifier: Apache-2.0
// DataDelegate: rows of the Topics and Groups pages: selection and hover of the whole row, a hairline, one text with glyph,
// small detail, and bars for a trend. A model says what stands in a cell, `look` how it is dressed.
#pragma once

#include <QColor>
#include <QStyledItemDelegate>
#include <functional>

#include "ui/theme/glyphs.h"
#include "ui/theme/theme.h"

namespace hw::ui {

struct CellLook {
  FontRole role = FontRole::data;
  QColor color;                  // invalid: text2
  Glyph glyph = Glyph::none;     // before the text
  QString detail;                // behind the text, in text3 and small mono
  QVariantList bars;             // in place of the text: a trend
  bool first = false;            // the page's left padding
  bool items = false;            // the text is a list with two spaces between: items that do not fit are counted, "+2"
  Qt::TextElideMode elide = Qt::ElideRight;
  QColor ground;                 // below everything but the selection; invalid: none
};

class DataDelegate : public QStyledItemDelegate {
 public:
  using Look = std::function<CellLook(const QModelIndex& index, bool selected)>;
  DataDelegate(Look look, QObject* parent) : QStyledItemDelegate(parent), look_(std::move(look)) {}
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  Look look_;
};

}  // namespace hw::ui
