// SPDX-License-Identifier: Apache-2.0
#include "ui/views/quorum_table.h"

#include "ui/painting/text.h"
#include "ui/theme/theme.h"

namespace hw::ui {

namespace {

bool words_in(int column) { return column <= QuorumTable::kState || column >= QuorumTable::kFetched; }

}  // namespace

void QuorumTable::take(const QuorumFacts& facts) {
  std::vector<QuorumReplica> rows = facts.voters;
  rows.insert(rows.end(), facts.observers.begin(), facts.observers.end());
  if (rows.size() != rows_.size()) {
    beginResetModel();
    rows_ = std::move(rows);
    endResetModel();
    return;
  }
  rows_ = std::move(rows);
  if (!rows_.empty()) {
    Q_EMIT dataChanged(index(0, 0), index(static_cast<int>(rows_.size()) - 1, kColumns - 1));
  }
}

Selection QuorumTable::selectionOf(int row) const {
  return row >= 0 && row < static_cast<int>(rows_.size()) ? Selection::ofNode(rows_[static_cast<std::size_t>(row)].id) : Selection{};
}

int QuorumTable::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(rows_.size()); }
int QuorumTable::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{kColumns}; }

QVariant QuorumTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= static_cast<int>(rows_.size())) {
    return {};
  }
  if (role == Qt::TextAlignmentRole) {
    return QVariant(words_in(index.column()) ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
  }
  if (role == Qt::FontRole) {
    return Theme::current().font(words_in(index.column()) ? FontRole::control : FontRole::data);
  }
  if (role == Qt::ToolTipRole && index.column() == kDirectory) {
    return rows_[static_cast<std::size_t>(index.row())].directory;
  }
  if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole) {
    return {};
  }
  const QuorumReplica& r = rows_[static_cast<std::size_t>(index.row())];
  const auto offset = [](std::int64_t value) { return value < 0 ? QStringLiteral("–") : format_offset(value); };
  const auto ago = [](std::int64_t ms) { return ms < 0 ? QStringLiteral("–") : (ms == 0 ? tr("now") : tr("%1 ago").arg(format_duration(ms))); };
  switch (index.column()) {
    case kNode:
      return tr("node %1").arg(r.id);
    case kRole:
      return r.voter ? tr("voter") : tr("observer");
    case kState:
      return r.role;
    case kLogEnd:
      return offset(r.log_end);
    case kHighWatermark:
      return offset(r.high_watermark);
    case kBehind:
      return offset(r.behind);
    case kFetched:
      return ago(r.fetched_ms);
    case kCaughtUp:
      return ago(r.caught_up_ms);
    case kSnapshot:
      return r.snapshot_end <= 0 ? tr("none") : tr("%1, %2").arg(r.snapshot_end).arg(format_bytes(r.snapshot_bytes));
    case kDirectory:
      return r.directory;
    default:
      return {};
  }
}

QVariant QuorumTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) {
    return {};
  }
  if (role == Qt::TextAlignmentRole) {
    return QVariant(words_in(section) ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (section) {
    case kNode:
      return tr("Node");
    case kRole:
      return tr("Role");
    case kState:
      return tr("State");
    case kLogEnd:
      return tr("Log end");
    case kHighWatermark:
      return tr("High watermark");
    case kBehind:
      return tr("Behind");
    case kFetched:
      return tr("Last fetch");
    case kCaughtUp:
      return tr("Caught up");
    case kSnapshot:
      return tr("Snapshot below");
    case kDirectory:
      return tr("Directory id");
    default:
      return {};
  }
}

}  // namespace hw::ui
