// SPDX-License-Identifier: Apache-2.0
#include "ui/views/cluster_table.h"

#include <algorithm>
#include <iterator>

#include "ui/models/group_model.h"
#include "ui/painting/text.h"
#include "ui/theme/theme.h"

namespace hw::ui {

bool ClusterTable::refresh(const ClusterModel& model) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < model.producers().size(); ++i) {
    const ClusterModel::Producer& p = model.producers()[i];
    if (p.placeholder) {
      continue;
    }
    double rate = 0;
    bool measured = false;
    for (const auto& [key, edge] : model.edges()) {
      if (edge.kind == ClusterModel::Edge::Kind::produce && edge.client == i) {
        rate += edge.meter.records_per_second();
        measured = measured || edge.meter.measured();
      }
    }
    const QString flow = format_rate(rate);
    const QString text = flow.isEmpty() ? (measured ? tr("idle") : tr("measuring")) : flow;
    rows.push_back({Selection::ofConnection(p.connection),
                    {p.title, p.built_in ? tr("built in") : p.host,
                     p.closed ? tr("disconnected") : tr("producer, %1").arg(text), {}, {},
                     {}, {}}});
  }
  for (const ClusterModel::Node& n : model.nodes()) {
    rows.push_back({Selection::ofNode(n.id),
                    {n.title, n.port, n.offline() ? tr("stopped") : tr("%Ln leaders", nullptr, n.leaders), {}, {}, {}, {}}});
    for (const ClusterModel::Topic& t : n.topics) {
      for (const ClusterModel::Replica& r : t.replicas) {
        const std::int64_t behind = std::max<std::int64_t>(0, r.leader_end - r.log_end);
        rows.push_back(
            {Selection::ofPartition(t.name, r.partition),
             {QStringLiteral("%1/%2").arg(t.name).arg(r.partition), n.title,
              r.leaves_s < 0 ? glyph_name(glyph_of(r.state)) : tr("%1, leaves ISR in %2 s").arg(glyph_name(glyph_of(r.state))).arg(r.leaves_s),
              format_offset(r.log_start), format_offset(r.high_watermark), format_offset(r.log_end), format_offset(behind)}});
      }
    }
  }
  const auto readings = model.readings();
  for (std::size_t group = 0; group < model.groups().size(); ++group) {
    const ClusterModel::Group& g = model.groups()[group];
    if (!g.plain) {
      rows.push_back({Selection::ofGroup(g.id),
                      {g.id, tr("group"), QStringLiteral("%1, %2").arg(g.state, count_sentence(g.kind, g.generation)), {}, {}, {}, {}}});
    }
    for (std::size_t member = 0; member < g.members.size(); ++member) {
      const ClusterModel::Member& m = g.members[member];
      const auto found = readings.find({group, member});
      const ClusterModel::Reading reading = found == readings.end() ? ClusterModel::Reading() : found->second;
      const QString rate = format_rate(reading.rate);
      const QString flow = rate.isEmpty() ? QString() : (reading.by_commits ? tr(", commits %1") : QStringLiteral(", %1")).arg(rate);
      const QStringList chips(m.chips.begin(), m.chips.end());
      rows.push_back({g.plain ? Selection::ofConnection(m.connection) : Selection::ofMember(g.id, m.id),
                      {g.plain ? m.client : QStringLiteral("%1 %2").arg(g.id, m.label),
                       g.plain ? m.host : tr("%1 at %2").arg(m.client, m.host),
                       chips.isEmpty() ? tr("reads nothing") : tr("reads %1").arg(chips.join(QLatin1Char(' '))) + flow,
                       {},
                       {},
                       {},
                       m.lag < 0 ? QString() : format_offset(m.lag)}});
    }
  }
  // Between what is the same at the top and at the bottom rows go and come; a reset would lose the place of who reads.
  const auto same = [](const Row& a, const Row& b) { return a.selection == b.selection && a.cells[kWhere] == b.cells[kWhere]; };
  const auto top = std::mismatch(rows.begin(), rows.end(), rows_.begin(), rows_.end(), same).first - rows.begin();
  const auto most = std::min(rows.rend() - rows.rbegin(), rows_.rend() - rows_.rbegin()) - top;
  const auto bottom = std::mismatch(rows.rbegin(), rows.rbegin() + most, rows_.rbegin(), same).first - rows.rbegin();
  const auto gone = std::ssize(rows_) - top - bottom;
  const auto come = std::ssize(rows) - top - bottom;
  if (gone > 0) {
    beginRemoveRows({}, static_cast<int>(top), static_cast<int>(top + gone - 1));
    rows_.erase(rows_.begin() + top, rows_.begin() + top + gone);
    endRemoveRows();
  }
  if (come > 0) {
    beginInsertRows({}, static_cast<int>(top), static_cast<int>(top + come - 1));
    rows_.insert(rows_.begin() + top, std::make_move_iterator(rows.begin() + top), std::make_move_iterator(rows.begin() + top + come));
    endInsertRows();
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    if ((at < top || at >= top + come) && rows[i].cells != rows_[i].cells) {
      rows_[i] = std::move(rows[i]);
      const int row = static_cast<int>(i);
      Q_EMIT dataChanged(index(row, 0), index(row, kColumns - 1));
    }
  }
  return gone > 0 || come > 0;
}

Selection ClusterTable::selectionOf(int row) const {
  return row >= 0 && row < static_cast<int>(rows_.size()) ? rows_[static_cast<std::size_t>(row)].selection : Selection{};
}

int ClusterTable::rowOf(const Selection& selection) const {
  const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.selection == selection; });
  return at == rows_.end() ? -1 : static_cast<int>(at - rows_.begin());
}

int ClusterTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ClusterTable::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{kColumns}; }

QVariant ClusterTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= static_cast<int>(rows_.size())) {
    return {};
  }
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  const bool number = index.column() >= kLogStart;
  switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
      return row.cells[static_cast<std::size_t>(index.column())];
    case Qt::TextAlignmentRole:
      return QVariant(number ? Qt::AlignRight | Qt::AlignVCenter
                             : Qt::AlignLeft | Qt::AlignVCenter);
    default:
      return {};
  }
}

QVariant ClusterTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) {
    return {};
  }
  if (role == Qt::SizeHintRole && section == kObject) {
    return QSize(Theme::current().px(kObjectWidth), 0);  // what a row is about gives way to nothing
  }
  if (role == Qt::TextAlignmentRole) {
    return QVariant(section >= kLogStart ? Qt::AlignRight | Qt::AlignVCenter : Qt::AlignLeft | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (section) {
    case kObject:
      return tr("Object");
    case kWhere:
      return tr("Where");
    case kState:
      return tr("State");
    case kLogStart:
      return tr("Log start");
    case kHighWatermark:
      return tr("High watermark");
    case kLogEnd:
      return tr("Log end");
    case kBehind:
      return tr("Behind or lag");
    default:
      return {};
  }
}

}  // namespace hw::ui
