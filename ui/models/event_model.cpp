// SPDX-License-Identifier: Apache-2.0
#include "ui/models/event_model.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "ui/models/client_facts.h"
#include "ui/models/event_filter.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {
constexpr std::size_t kConnectionsKept = 20'000;  // closings may have been lost
constexpr std::size_t kGroupsKept = 20'000;
}  // namespace

void EventModel::Clients::forget(std::uint64_t connection) {
  const auto found = connections.find(connection);
  if (found == connections.end()) {
    return;
  }
  if (const auto count = counts.find(found->second.client); count != counts.end() && --count->second <= 0) {
    counts.erase(count);
  }
  connections.erase(found);
}

bool EventModel::Clients::news(const event::Any& event) {
  if (const auto* opened = std::get_if<event::ConnectionOpened>(&event); opened != nullptr) {
    if (connections.size() >= kConnectionsKept) {
      connections.clear();
      counts.clear();
    }
    forget(opened->connection.value());
    connections[opened->connection.value()] = {peer_host(opened->peer), {}};
    return true;
  }
  if (const auto* known = std::get_if<event::ClientIdentified>(&event); known != nullptr) {
    Open& open = connections[known->connection.value()];
    const QString client = QStringLiteral("%1\n%2\n%3\n%4")
                               .arg(QString::fromStdString(known->client_id), QString::fromStdString(known->software_name),
                                    QString::fromStdString(known->software_version), open.host);
    if (open.client == client) {
      return false;
    }
    if (const auto count = counts.find(open.client); count != counts.end() && --count->second <= 0) {
      counts.erase(count);
    }
    open.client = client;
    return ++counts[client] == 1;
  }
  if (const auto* closed = std::get_if<event::ConnectionClosed>(&event); closed != nullptr) {
    forget(closed->connection.value());
  }
  return true;
}

bool EventModel::groupNews(const event::Any& event) {
  if (const auto* state = std::get_if<event::GroupStateChanged>(&event); state != nullptr) {
    if (group_states_.size() >= kGroupsKept) {
      group_states_.clear();
    }
    group_states_[state->group] = state->state;
  } else if (const auto* gone = std::get_if<event::GroupDeleted>(&event); gone != nullptr) {
    group_states_.erase(gone->group);
  } else if (const auto* members = std::get_if<event::GroupAssigned>(&event); members != nullptr) {
    const auto found = group_states_.find(members->group);
    return found == group_states_.end() || found->second == "Stable";
  }
  return true;
}

void EventModel::update(const observe::ClusterView& view) {
  lost_ = view.events_lost;
  if (view.recent == seen_) {
    return;
  }
  seen_ = view.recent;
  const std::vector<observe::RecentEvent>& recent = *view.recent;
  const auto first = std::partition_point(recent.begin(), recent.end(),
                                          [this](const observe::RecentEvent& e) { return e.number <= last_number_; });
  std::vector<Row> fresh;
  for (auto it = first; it != recent.end(); ++it) {
    const bool news = it->event == nullptr || (clients_.news(*it->event) && groupNews(*it->event));
    Row row{it->at.ms, it->node.value(), describe_event(*it, view)};
    if (all_ || (news && !row.text.internal && !row.text.detail)) {
      ++counts_[static_cast<std::size_t>(row.text.severity)];
      if (wanted(row)) {
        fresh.push_back(std::move(row));
      } else {
        ++hidden_;
      }
    }
  }
  if (!recent.empty()) {
    last_number_ = std::max(last_number_, recent.back().number);
  }
  if (fresh.empty()) {
    return;
  }
  const int at = static_cast<int>(rows_.size());
  beginInsertRows({}, at, at + static_cast<int>(fresh.size()) - 1);
  rows_.insert(rows_.end(), std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()));
  endInsertRows();
  if (rows_.size() > kRowsMax) {
    const auto surplus = static_cast<std::ptrdiff_t>(rows_.size() - kRowsMax);
    beginRemoveRows({}, 0, static_cast<int>(surplus) - 1);
    rows_.erase(rows_.begin(), rows_.begin() + surplus);
    endRemoveRows();
  }
}

void EventModel::setAll(bool all) {
  if (all == all_) {
    return;
  }
  all_ = all;
  refill();
}

void EventModel::setFilter(filter::ProgramPtr program) {
  if (program == program_) {
    return;
  }
  program_ = std::move(program);
  refill();
}

void EventModel::setSeverities(unsigned severities) {
  if (severities == severities_) {
    return;
  }
  severities_ = severities;
  refill();
}

void EventModel::refill() {
  beginResetModel();
  rows_.clear();
  seen_.reset();
  last_number_ = 0;
  hidden_ = 0;
  counts_ = {};
  clients_ = {};
  group_states_.clear();
  endResetModel();
}

bool EventModel::wanted(const Row& row) const {
  return (severities_ >> static_cast<unsigned>(row.text.severity) & 1U) != 0 &&
         (program_ == nullptr || matches(*program_, row.text, row.node, row.at_ms));
}

QStringList EventModel::values(bool clients, int most) const {
  QStringList out;
  for (auto row = rows_.rbegin(); row != rows_.rend() && out.size() < most; ++row) {
    const QString& value = clients ? row->text.client : row->text.kind;
    if (!value.isEmpty() && !out.contains(value)) {
      out << value;
    }
  }
  return out;
}

Selection EventModel::about(int row) const {
  return row < 0 || row >= rowCount() ? Selection() : rows_[static_cast<std::size_t>(row)].text.about;
}

int EventModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(rows_.size()); }

int EventModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QVariant EventModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) {
    return {};
  }
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  if (role == glyph_role) {
    return static_cast<int>(row.text.glyph);
  }
  if (role == address_role) {
    return row.text.about.address();
  }
  if (role == Qt::AccessibleTextRole && index.column() == what) {
    const QString glyph = glyph_name(row.text.glyph);
    return glyph.isEmpty() ? row.text.sentence : QStringLiteral("%1: %2").arg(glyph, row.text.sentence);
  }
  if (role == Qt::ToolTipRole && index.column() == what) {
    return row.text.sentence;
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (index.column()) {
    case time:
      return format_time(row.at_ms);
    case what:
      return row.text.sentence;
    case node:
      return row.node < 0 ? QString() : QStringLiteral("n%1").arg(row.node);
    case kind:
      return row.text.kind;
    default:
      return {};
  }
}

QVariant EventModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
    return {};
  }
  switch (section) {
    case time:
      return tr("Time");
    case what:
      return tr("What happened");
    case node:
      return tr("Node");
    case kind:
      return tr("Kind");
    default:
      return {};
  }
}

}  // namespace hw::ui
