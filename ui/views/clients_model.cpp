// SPDX-License-Identifier: Apache-2.0
#include "ui/views/clients_model.h"

#include <algorithm>
#include <utility>

#include "ui/models/client_facts.h"
#include "ui/painting/text.h"
#include "ui/theme/theme.h"

namespace hw::ui {

namespace {

QString text_of(std::string_view s) { return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size())); }

}  // namespace

ClientsModel::ClientsModel(BuiltIn built_in, QObject* parent) : QAbstractTableModel(parent), built_in_(std::move(built_in)) {}

ClientsModel::Row ClientsModel::row_of(const ConnectionFacts& facts, int place) const {
  const observe::ConnectionView& c = *facts.connection;
  Row row;
  row.id = c.id.value();
  row.siblings = facts.siblings;
  row.cells[client] = c.client_id.empty() ? tr("unnamed") : text_of(c.client_id);
  if (facts.siblings > 1) {
    row.told = tr("Connection %1 of %2 with this id, software and host. Clients that agree in all of it look alike here; the port, "
                  "the time and the group tell them apart.")
                   .arg(place)
                   .arg(facts.siblings);
    row.cells[client] += tr(" · %1 of %2").arg(place).arg(facts.siblings);
  }
  if (!facts.groups.empty()) {
    QStringList names;
    for (const std::string& group : facts.groups) {
      names << text_of(group);
    }
    row.told += (row.told.isEmpty() ? QString() : QStringLiteral("\n")) + tr("Member of %1").arg(names.join(QStringLiteral(", ")));
  }
  row.cells[software] = c.software_name.empty() ? QStringLiteral("–")
                                                : (text_of(c.software_name) + QLatin1Char(' ') + text_of(c.software_version)).trimmed();
  row.cells[from] = text_of(c.peer);
  row.cells[node] = QStringLiteral("n%1").arg(c.node.value());
  row.cells[since] = format_time(c.opened_at.ms).left(8);
  row.cells[requests] = format_rate(facts.requests);
  const auto bytes = [](double rate) { return rate < 0.5 ? QString() : QStringLiteral("%1/s").arg(format_bytes(static_cast<std::int64_t>(rate))); };
  row.cells[bytes_in] = bytes(facts.bytes_in);
  row.cells[bytes_out] = bytes(facts.bytes_out);
  if (c.counters != nullptr) {
    const std::int64_t failed = c.counters->error_total();
    row.cells[errors] = failed == 0 ? QString() : format_count(failed);
    row.glyph = failed == 0 ? Glyph::none : Glyph::quarter;
    row.cells[apis] = apis_in_words(*c.counters);
  }
  return row;
}

void ClientsModel::takeGroups(const observe::ClusterView& view) {
  if (groups_seen_ == view.groups) {
    return;
  }
  groups_seen_ = view.groups;
  groups_.clear();
  for (const auto& [id, group] : *view.groups) {
    for (const event::GroupAssigned::Member& member : group->members) {
      if (member.connection.value() != 0) {
        groups_[member.connection.value()].push_back(id);
      }
    }
  }
}

void ClientsModel::update(const observe::ClusterView& view, double seconds) {
  takeGroups(view);
  struct Family {
    int size = 0;
    int met = 0;
  };
  std::map<ClientName, Family> families;
  for (const auto& [id, connection] : *view.connections) {
    if (!is_silent(*connection)) {
      ++families[client_name(*connection)].size;
    }
  }
  std::vector<Row> rows;
  rows.reserve(std::min(view.connections->size(), kRowsMax));
  std::map<std::uint64_t, Seen> seen;
  total_ = 0;
  hidden_ = 0;
  moving_ = false;
  for (const auto& [id, connection] : *view.connections) {
    const observe::ConnectionView& c = *connection;
    if (!peers_shown_ && is_peer(c, view)) {
      continue;
    }
    ConnectionFacts facts;
    facts.connection = &c;
    int place = 1;
    if (const auto family = families.find(client_name(c)); !is_silent(c) && family != families.end()) {
      facts.siblings = family->second.size;
      place = ++family->second.met;
    }
    facts.built_in = built_in_(c);
    if (!built_in_shown_ && facts.built_in) {
      ++hidden_;
      continue;
    }
    ++total_;
    const auto before = seen_.find(id.value());
    Seen now = before == seen_.end() ? Seen() : before->second;
    if (c.counters != nullptr) {
      const std::int64_t asked = c.counters->requests.get();
      const std::int64_t in = c.counters->bytes_in.get();
      const std::int64_t out = c.counters->bytes_out.get();
      if (seconds > 0 && now.sampled) {
        now.requests_rate = static_cast<double>(asked - now.requests) / seconds;
        now.in_rate = static_cast<double>(in - now.bytes_in) / seconds;
        now.out_rate = static_cast<double>(out - now.bytes_out) / seconds;
      }
      if (seconds > 0 || !now.sampled) {
        now.requests = asked;
        now.bytes_in = in;
        now.bytes_out = out;
        now.sampled = true;
      }
      moving_ = moving_ || now.requests_rate > 0 || now.in_rate > 0 || now.out_rate > 0;
    }
    seen.emplace_hint(seen.end(), id.value(), now);
    if (rows.size() >= kRowsMax) {
      continue;
    }
    facts.requests = now.requests_rate;
    facts.bytes_in = now.in_rate;
    facts.bytes_out = now.out_rate;
    if (const auto groups = groups_.find(id.value()); groups != groups_.end()) {
      facts.groups = groups->second;
    }
    if (program_ == nullptr || matches(*program_, facts)) {
      rows.push_back(row_of(facts, place));
    }
  }
  seen_ = std::move(seen);
  const bool same = rows.size() == rows_.size() &&
                    std::equal(rows.begin(), rows.end(), rows_.begin(), [](const Row& a, const Row& b) { return a.id == b.id; });
  if (!same) {
    // Ids only grow, so what is gone and what is new can be told apart in one walk, and no row jumps.
    for (std::size_t i = rows_.size(); i-- > 0;) {
      const bool stays = std::binary_search(rows.begin(), rows.end(), rows_[i], [](const Row& a, const Row& b) { return a.id < b.id; });
      if (!stays) {
        beginRemoveRows({}, static_cast<int>(i), static_cast<int>(i));
        rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(i));
        endRemoveRows();
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i >= rows_.size() || rows_[i].id != rows[i].id) {
        beginInsertRows({}, static_cast<int>(i), static_cast<int>(i));
        rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(i), rows[i]);
        endInsertRows();
      }
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows_[i].siblings = rows[i].siblings;
    rows_[i].told = rows[i].told;
    for (std::size_t column = 0; column < rows[i].cells.size(); ++column) {
      if (rows[i].cells[column] != rows_[i].cells[column]) {
        rows_[i].cells[column] = rows[i].cells[column];
        rows_[i].glyph = rows[i].glyph;
        const QModelIndex at = index(static_cast<int>(i), static_cast<int>(column));
        Q_EMIT dataChanged(at, at);
      }
    }
  }
}

void ClientsModel::setFilter(filter::ProgramPtr program) { program_ = std::move(program); }

int ClientsModel::siblings(int row) const {
  return row < 0 || row >= rowCount() ? 0 : rows_[static_cast<std::size_t>(row)].siblings;
}

void ClientsModel::setBuiltInShown(bool shown) { built_in_shown_ = shown; }

void ClientsModel::setPeersShown(bool shown) { peers_shown_ = shown; }

std::uint64_t ClientsModel::connectionAt(int row) const {
  return row < 0 || row >= rowCount() ? 0 : rows_[static_cast<std::size_t>(row)].id;
}

int ClientsModel::rowOf(std::uint64_t connection) const {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.id == connection; });
  return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

int ClientsModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(rows_.size()); }

int ClientsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{column_count}; }

QVariant ClientsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) {
    return {};
  }
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  const QString& cell = row.cells[static_cast<std::size_t>(index.column())];
  const bool number = index.column() >= requests && index.column() <= errors;
  switch (role) {
    case Qt::DisplayRole:
      return cell;
    case Qt::ToolTipRole:
      if (index.column() == client && !row.told.isEmpty()) {
        return cell + QStringLiteral("\n") + row.told;
      }
      return cell.isEmpty() ? QVariant() : QVariant(cell);
    case Qt::TextAlignmentRole:
      return QVariant(number ? Qt::AlignRight | Qt::AlignVCenter : Qt::AlignLeft | Qt::AlignVCenter);
    case glyph_role:
      return static_cast<int>(index.column() == errors ? row.glyph : Glyph::none);
    default:
      return {};
  }
}

QVariant ClientsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) {
    return {};
  }
  if (role == Qt::TextAlignmentRole) {
    return QVariant(section >= requests && section <= errors ? Qt::AlignRight | Qt::AlignVCenter : Qt::AlignLeft | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (section) {
    case client:
      return tr("Client");
    case software:
      return tr("Software");
    case from:
      return tr("From");
    case node:
      return tr("Node");
    case since:
      return tr("Since");
    case requests:
      return tr("Requests");
    case bytes_in:
      return tr("In");
    case bytes_out:
      return tr("Out");
    case errors:
      return tr("Errors");
    case apis:
      return tr("APIs used");
    default:
      return {};
  }
}

}  // namespace hw::ui
