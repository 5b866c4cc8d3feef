// SPDX-License-Identifier: Apache-2.0
// RecordModel: a bounded list of records in the order in which they arrived; never sorted.
// RecordDelegate: paints key chips, ∅ for null, "" for empty, † for tombstones; decodes only what is visible.
// Thread rule: UI thread only.
#pragma once

#include <QAbstractTableModel>
#include <QStyledItemDelegate>
#include <deque>
#include <vector>

#include "ui/session/session.h"

namespace hw::ui {

class RecordModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column : int { kPartition, kOffset, kTime, kKey, kValue, kHeaders, kSize, kFlags, kColumns };
  static constexpr std::size_t kMaxRows = 20'000;
  static constexpr std::int64_t kMaxBytes = 256 << 20;

  explicit RecordModel(QObject* parent = nullptr, std::size_t max_rows = kMaxRows);

  void clear();
  // One insert for all; rows beyond the limit leave at the top.
  void append(std::vector<RecordRow> rows);
  // Older rows come in above; the caller keeps the view where it was.
  void prepend(std::vector<RecordRow> rows);
  [[nodiscard]] const RecordRow& row(int index) const { return rows_[static_cast<std::size_t>(index)]; }
  // Row of an address, -1: not here.
  [[nodiscard]] int find(std::int32_t partition, std::int64_t offset) const;
  [[nodiscard]] std::int64_t dropped() const { return dropped_; }
  void setUtc(bool utc);
  [[nodiscard]] bool utc() const { return utc_; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  // "control", "transactional", "empty value", "tombstone": what is special about a record, translated.
  [[nodiscard]] static QString flagsOf(const RecordRow& row);

 private:
  std::deque<RecordRow> rows_;
  std::size_t max_rows_;
  std::int64_t bytes_ = 0;
  std::int64_t dropped_ = 0;
  bool utc_ = false;
};

class RecordDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace hw::ui
