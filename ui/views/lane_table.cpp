// SPDX-License-Identifier: Apache-2.0
#include "ui/views/lane_table.h"

#include <algorithm>

#include "ui/painting/text.h"
#include "ui/theme/theme.h"

namespace hw::ui {

void LaneTable::refresh(const observe::ClusterView& view, const QString& topic) {
  std::vector<Row> rows;
  if (const observe::TopicView* t = view.find_topic(topic.toStdString())) {
    for (const auto& partition : t->partitions) {
      for (std::size_t r = 0; partition && r < partition->replicas.size(); ++r) {
        rows.push_back({partition, r});
      }
    }
  }
  const bool same = topic == topic_ && rows.size() == rows_.size() &&
                    std::equal(rows.begin(), rows.end(), rows_.begin(),
                               [](const Row& a, const Row& b) { return a.partition == b.partition && a.replica == b.replica; });
  if (same) {
    if (!rows_.empty()) {
      Q_EMIT dataChanged(index(0, kLogStart), index(static_cast<int>(rows_.size()) - 1, kColumns - 1));
    }
    return;
  }
  beginResetModel();
  topic_ = topic;
  rows_ = std::move(rows);
  endResetModel();
}

Selection LaneTable::selectionOf(int row) const {
  return row >= 0 && row < static_cast<int>(rows_.size())
             ? Selection::ofPartition(topic_, rows_[static_cast<std::size_t>(row)].partition->index.value())
             : Selection{};
}

int LaneTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int LaneTable::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{kColumns}; }

QVariant LaneTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= static_cast<int>(rows_.size())) {
    return {};
  }
  const bool words = index.column() == kRole || index.column() == kInSync;
  if (role == Qt::TextAlignmentRole) {
    return QVariant(words ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
  }
  if (role == Qt::FontRole) {
    return Theme::current().font(words ? FontRole::control : FontRole::data);
  }
  if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole) {
    return {};
  }
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  const observe::PartitionView& partition = *row.partition;
  const observe::ReplicaView& replica = partition.replicas[row.replica];
  const auto* counters = replica.counters.get();
  const auto offset = [&](const event::Counter event::ReplicaCounters::*member) {
    return counters == nullptr ? QString() : format_offset((counters->*member).get());
  };
  switch (index.column()) {
    case kPartition:
      return QString::number(partition.index.value());
    case kNode:
      return QString::number(replica.node.value());
    case kRole:
      return !replica.online ? tr("offline") : (replica.node == partition.leader ? tr("leader") : tr("follower"));
    case kLogStart:
      return offset(&event::ReplicaCounters::log_start_offset);
    case kLso:
      return offset(&event::ReplicaCounters::last_stable_offset);
    case kHw:
      return offset(&event::ReplicaCounters::high_watermark);
    case kLeo:
      return offset(&event::ReplicaCounters::log_end_offset);
    case kInSync: {
      const bool in = std::find(partition.isr.begin(), partition.isr.end(), replica.node) != partition.isr.end();
      return in ? tr("yes") : tr("no");
    }
    case kSize:
      return counters == nullptr ? QString() : format_bytes(counters->size_bytes.get());
    case kSegments:
      return QString::number(replica.segments.size());
    default:
      return {};
  }
}

QVariant LaneTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) {
    return {};
  }
  if (role == Qt::TextAlignmentRole) {
    const bool words = section == kRole || section == kInSync;
    return QVariant(words ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (section) {
    case kPartition:
      return tr("Partition");
    case kNode:
      return tr("Node");
    case kRole:
      return tr("Role");
    case kLogStart:
      return tr("Log start");
    case kLso:
      return tr("LSO");
    case kHw:
      return tr("High watermark");
    case kLeo:
      return tr("Log end");
    case kInSync:
      return tr("In sync");
    case kSize:
      return tr("Size");
    case kSegments:
      return tr("Segments");
    default:
      return {};
  }
}

}  // namespace hw::ui
