// SPDX-License-Identifier: Apache-2.0
#include "ui/views/lane_table.h"

#include <algorithm>

#include "ui/painting/text.h"
#include "ui/theme/theme.h"

namespace hw::ui {

namespace {

bool is_words(int column) { return column == LaneTable::kRole || column == LaneTable::kInSync || column == LaneTable::kFetched; }

QString explained(int column) {
  switch (column) {
    case LaneTable::kLogStart:
      return LaneTable::tr("The first offset that can still be read");
    case LaneTable::kLso:
      return LaneTable::tr("Last stable offset: below it no transaction is open");
    case LaneTable::kHw:
      return LaneTable::tr("High watermark: what is below it is on every in-sync replica, and consumers may read it");
    case LaneTable::kLeo:
      return LaneTable::tr("The offset that the next record gets");
    case LaneTable::kBehind:
      return LaneTable::tr("Offsets that the leader has and this replica does not");
    case LaneTable::kInSync:
      return LaneTable::tr("Whether the high watermark waits for this replica, and it may lead");
    case LaneTable::kFetched:
      return LaneTable::tr("When the leader was last asked by this replica for records");
    case LaneTable::kSize:
      return LaneTable::tr("What the replica takes up in its log directory");
    default:
      return {};
  }
}

}  // namespace

// Of one partition at a time: its rows are painted one after the other.
const ReplicaFacts* LaneTable::factsOf(const Row& row) const {
  if (facts_of_ != row.partition || facts_at_ms_ != now_ms_) {
    facts_ = partition_facts(*view_, view_->find_topic(topic_.toStdString()), *row.partition, now_ms_);
    facts_of_ = row.partition;
    facts_at_ms_ = now_ms_;
  }
  return facts_.find(row.partition->replicas[row.replica].node.value());
}

void LaneTable::refresh(const observe::ViewPtr& view, const QString& topic, std::int64_t now_ms) {
  view_ = view;
  now_ms_ = now_ms;
  std::vector<Row> rows;
  if (const observe::TopicView* t = view->find_topic(topic.toStdString())) {
    for (const auto& partition : t->partitions) {
      for (std::size_t r = 0; partition && r < partition->replicas.size(); ++r) {
        rows.push_back({partition, r});
      }
    }
  }
  const bool same = topic == topic_ && rows.size() == rows_.size() &&
                    std::equal(rows.begin(), rows.end(), rows_.begin(),
                               [](const Row& a, const Row& b) { return a.partition->index == b.partition->index && a.replica == b.replica; });
  if (same) {
    rows_ = std::move(rows);  // who leads, and who is in sync, may be others
    if (!rows_.empty()) {
      Q_EMIT dataChanged(index(0, kNode), index(static_cast<int>(rows_.size()) - 1, kColumns - 1));
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
  const bool words = is_words(index.column());
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
    case kBehind: {
      const ReplicaFacts* facts = factsOf(row);
      return facts == nullptr || facts->leads || facts->log_end < 0 ? QString() : format_offset(facts->behind);
    }
    case kFetched: {
      const ReplicaFacts* facts = factsOf(row);
      return facts == nullptr || facts->leads || facts->fetched_ms < 0 ? QString()
             : facts->fetched_ms < 1'000                               ? tr("now")
                                                                       : tr("%1 ago").arg(format_duration(facts->fetched_ms));
    }
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
    const bool words = is_words(section);
    return QVariant(words ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
  }
  if (role == Qt::ToolTipRole) {
    return explained(section);
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
      return tr("HW");
    case kLeo:
      return tr("Log end");
    case kBehind:
      return tr("Behind");
    case kInSync:
      return tr("In sync");
    case kFetched:
      return tr("Last fetch");
    case kSize:
      return tr("Size");
    case kSegments:
      return tr("Segments");
    default:
      return {};
  }
}

}  // namespace hw::ui
