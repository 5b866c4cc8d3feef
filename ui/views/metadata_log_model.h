// SPDX-License-Identifier: Apache-2.0
// MetadataLogModel: the newest records of __cluster_metadata as a table, newest first, through a filter.
//
// The page gives it records as they are read; it keeps the newest kKept. Thread rule: UI thread only.
#pragma once

#include <QAbstractTableModel>
#include <deque>
#include <vector>

#include "ui/filter/filter_program.h"
#include "ui/session/metadata_record.h"

namespace hw::ui {

// offset, epoch, type, topic, partition, node, control, time; a word alone: in type or text
[[nodiscard]] const filter::VocabularyPtr& metadata_vocabulary();
[[nodiscard]] bool matches(const filter::Program& program, const MetadataRecord& record);

class MetadataLogModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column : int { kOffset, kType, kText, kTime, kColumns };
  static constexpr std::size_t kKept = 2'000;

  using QAbstractTableModel::QAbstractTableModel;

  // Ascending offsets, above what is there; lower ones mean that the log is another one, and all is taken anew.
  void append(std::vector<MetadataRecord> records);
  void clear();
  void setFilter(filter::ProgramPtr program);  // null: everything
  [[nodiscard]] std::size_t total() const { return all_.size(); }
  [[nodiscard]] const MetadataRecord* record(int row) const;
  [[nodiscard]] int rowOf(std::int64_t offset) const;  // -1: not shown

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  void rebuild();
  std::deque<MetadataRecord> all_;          // ascending
  std::vector<std::int64_t> shown_;         // offsets, newest first
  filter::ProgramPtr program_;
};

}  // namespace hw::ui
