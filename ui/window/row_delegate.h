// SPDX-License-Identifier: Apache-2.0
// RowDelegate: how a row of a table looks everywhere: ground of selection and hover, hairline, one line of text with an
// optional glyph. A table says what its cells are; the delegate paints them.
#pragma once

#include <QColor>
#include <QString>
#include <QStyledItemDelegate>

#include "ui/theme/glyphs.h"
#include "ui/theme/theme.h"

namespace hw::ui {

struct RowCell {
  FontRole role = FontRole::control;
  QColor color;
  Glyph glyph = Glyph::none;  // before the text
  Qt::Alignment alignment = Qt::AlignLeft | Qt::AlignVCenter;
  Qt::TextElideMode elide = Qt::ElideRight;
  double left = 8;       // padding, px at scale 1.0
  bool glyph_room = false;  // texts of this column begin at the same place, with a glyph or without
  QString icon;             // of resources/icons, in the place of the glyph: what folds a row
};

class RowDelegate : public QStyledItemDelegate {
 public:
  // `lines`: a hairline below each row.
  explicit RowDelegate(bool lines, QObject* parent) : QStyledItemDelegate(parent), lines_(lines) {}
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 protected:
  [[nodiscard]] virtual RowCell cell(const QModelIndex& index, bool selected) const = 0;

 private:
  bool lines_;
};

}  // namespace hw::ui
