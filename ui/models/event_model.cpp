// SPDX-License-Identifier: Apache-2.0
#include "ui/models/event_model.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "ui/models/client_facts.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {
constexpr std::size_t kConnectionsKept = 20'000;  // closings may have been lost
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
    const bool news = it->event == nullptr || clients_.news(*it->event);
    EventText text = describe_event(*it, view);
    if (all_ || (news && !text.internal && !text.detail)) {
      if (wanted(text)) {
        fresh.push_back({it->at.ms, it->node.value(), std::move(text)});
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

void EventModel::setFilter(const QString& text) {
  if (text == filter_) {
    return;
  }
  filter_ = text;
  words_ = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  refill();
}

void EventModel::refill() {
  beginResetModel();
  rows_.clear();
  seen_.reset();
  last_number_ = 0;
  hidden_ = 0;
  clients_ = {};
  endResetModel();
}

bool EventModel::wanted(const EventText& text) const {
  const QString address = text.about.address();
  return std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
    return text.sentence.contains(word, Qt::CaseInsensitive) || text.kind.contains(word, Qt::CaseInsensitive) ||
           address.contains(word, Qt::CaseInsensitive);
  });
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
