// SPDX-License-Identifier: Apache-2.0
// RecordModel: a bounded list of records, as they arrived or in an order that somebody chose. Only per partition is an order of
// Kafka's; the others mix partitions.
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
  enum class Order : std::uint8_t {
    as_read,        // page by page, by time within a page
    per_partition,  // partition, then offset: what a consumer of each partition sees
    oldest_first,   // by timestamp, then partition and offset
    newest_first,
  };
  static constexpr std::size_t kMaxRows = 20'000;
  static constexpr std::int64_t kMaxBytes = 256 << 20;

  explicit RecordModel(QObject* parent = nullptr, std::size_t max_rows = kMaxRows);

  void clear();
  // One insert for all; rows beyond the limit leave, those that arrived first.
  void append(std::vector<RecordRow> rows);
  // Older rows come in above; the caller keeps the view where it was.
  void prepend(std::vector<RecordRow> rows);
  [[nodiscard]] const RecordRow& row(int index) const { return rows_[static_cast<std::size_t>(index)].row; }
  // Rows of a partition that are not in the log any more. Returns how many left.
  int removeBefore(std::int32_t partition, std::int64_t offset);
  // Moves the rows that are here; rows that come later find their places. Selections follow.
  void setOrder(Order order);
  [[nodiscard]] Order order() const { return order_; }
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
  struct Item {
    RecordRow row;
    std::int64_t arrival = 0;  // falls above, rises below
  };
  void sort();
  [[nodiscard]] bool before(const Item& a, const Item& b) const;
  template <typename Gone>
  int removeWhere(const Gone& gone);
  std::deque<Item> rows_;
  Order order_ = Order::as_read;
  std::int64_t first_arrival_ = 0;
  std::int64_t next_arrival_ = 0;
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
