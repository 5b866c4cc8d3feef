// SPDX-License-Identifier: Apache-2.0
// Rail: the pages that exist, at the left edge. Collapses to icons.
#pragma once

#include <QAbstractButton>
#include <QList>
#include <QWidget>

#include "ui/theme/glyphs.h"

class QVBoxLayout;

namespace hw::ui {

class Page;
class RailItem;

class Rail : public QWidget {
  Q_OBJECT

 public:
  explicit Rail(const QList<Page*>& pages, QWidget* parent = nullptr);
  void setCurrent(const QString& page_id);
  void setCollapsed(bool collapsed);
  [[nodiscard]] bool collapsed() const { return collapsed_; }
  void setAttention(const QString& page_id, Glyph glyph);

 signals:
  void pageRequested(const QString& page_id);
  void collapseRequested(bool collapsed);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void applyWidth();
  QList<RailItem*> items_;
  QList<QWidget*> labels_;
  RailItem* collapse_;
  bool collapsed_ = false;
};

class RailItem : public QAbstractButton {
  Q_OBJECT

 public:
  RailItem(const QString& id, const QString& icon, const QString& title, const QString& shortcut, QWidget* parent);
  [[nodiscard]] const QString& id() const { return id_; }
  void setCurrent(bool current);
  void setCollapsed(bool collapsed);
  void setAttention(Glyph glyph);
  void setIconName(const QString& icon);
  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  QString id_;
  QString icon_;
  QString shortcut_;
  Glyph attention_ = Glyph::none;
  bool current_ = false;
  bool collapsed_ = false;
};

}  // namespace hw::ui
