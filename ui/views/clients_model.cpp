// SPDX-License-Identifier: Apache-2.0
#include "ui/views/clients_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/models/client_facts.h"
#include "ui/painting/text.h"
#include "ui/theme/theme.h"

namespace hw::ui {

namespace {

QString text_of(std::string_view s) { return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size())); }

}  // namespace

ClientsModel::ClientsModel(BuiltIn built_in, QObject* parent) : QAbstractTableModel(parent), built_in_(std::move(built_in)) {}

// What a row says of its connections together: one of a client alone, or all of them.
void ClientsModel::fill(Row& row, const std::vector<const ConnectionFacts*>& all) const {
  const observe::ConnectionView& first = *all.front()->connection;
  std::set<std::int32_t> nodes;
  std::vector<const event::ConnectionCounters*> counters;
  std::int64_t since_ms = first.opened_at.ms;
  std::int64_t failed = 0;
  double asked = 0;
  double in = 0;
  double out = 0;
  bool rated = true;
  QStringList groups;
  QStringList failures_told;
  for (const ConnectionFacts* each : all) {
    const observe::ConnectionView& c = *each->connection;
    row.connections.push_back(c.id.value());
    nodes.insert(c.node.value());
    since_ms = std::min(since_ms, c.opened_at.ms);
    asked += each->requests;
    in += each->bytes_in;
    out += each->bytes_out;
    rated = rated && each->rated;
    if (c.counters != nullptr) {
      counters.push_back(c.counters.get());
      failed += failures(*c.counters);
      if (const QString words = errors_in_words(*c.counters); !words.isEmpty()) {
        failures_told << words;
      }
    }
    for (const std::string& group : each->groups) {
      if (const QString name = text_of(group); !groups.contains(name)) {
        groups << name;
      }
    }
  }
  QStringList names;
  for (const std::int32_t id : nodes) {
    names << QStringLiteral("n%1").arg(id);
  }
  row.cells[node] = names.join(QLatin1Char(' '));
  row.cells[since] = format_time(since_ms).left(8);
  // Nothing is a number, too, once there was time to count.
  const QString none = rated ? QStringLiteral("0/s") : QStringLiteral("–");
  const auto bytes = [&none](double rate) { return rate < 0.5 ? none : QStringLiteral("%1/s").arg(format_bytes(std::llround(rate))); };
  const QString rate = format_rate(asked);
  row.cells[requests] = rate.isEmpty() ? none : rate;
  row.cells[bytes_in] = bytes(in);
  row.cells[bytes_out] = bytes(out);
  row.cells[errors] = failed == 0 ? QString() : format_count(failed);
  row.failed = failures_told.join(QLatin1Char('\n'));
  row.glyph = failed == 0 ? Glyph::none : Glyph::quarter;
  row.cells[apis] = apis_in_words(counters);
  if (!groups.isEmpty()) {
    row.told += (row.told.isEmpty() ? QString() : QStringLiteral("\n")) + tr("Member of %1").arg(groups.join(QStringLiteral(", ")));
  }
}

ClientsModel::Row ClientsModel::row_of(const std::vector<ConnectionFacts>& all, std::uint64_t place, std::size_t alike) const {
  const observe::ConnectionView& first = *all.front().connection;
  Row row;
  row.place = {place, 0};
  row.cells[client] = first.client_id.empty() ? tr("unnamed") : text_of(first.client_id);
  if (alike > 1 && all.size() > 1) {
    const int count = static_cast<int>(alike);
    row.cells[client] += tr(" · %Ln client(s)", nullptr, count);
    row.told = tr("%Ln client(s) with the same id, software and host: as many members of groups speak through these connections.", nullptr, count);
  }
  row.cells[software] = first.software_name.empty() ? QStringLiteral("–")
                                                    : (text_of(first.software_name) + QLatin1Char(' ') + text_of(first.software_version)).trimmed();
  if (all.size() == 1) {
    row.cells[from] = text_of(first.peer);
  } else {
    row.fold = open_.count(place) > 0 ? Fold::open : Fold::closed;
    const int count = static_cast<int>(all.size());
    row.cells[from] = QStringLiteral("%1 ×%2").arg(peer_host(first.peer), format_count(count));
    row.told += (row.told.isEmpty() ? QString() : QStringLiteral("\n")) + tr("%Ln connection(s)", nullptr, count);
  }
  std::vector<const ConnectionFacts*> each;
  each.reserve(all.size());
  for (const ConnectionFacts& facts : all) {
    each.push_back(&facts);
  }
  fill(row, each);
  return row;
}

ClientsModel::Row ClientsModel::row_inside(const ConnectionFacts& facts, std::uint64_t place) const {
  Row row;
  row.place = {place, facts.connection->id.value()};
  row.fold = Fold::inside;
  row.cells[client] = QStringLiteral("conn%1").arg(facts.connection->id.value());
  row.cells[from] = text_of(facts.connection->peer);
  fill(row, {&facts});
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

void ClientsModel::sample(const observe::ConnectionView& c, double seconds, Seen& now) {
  if (c.counters == nullptr) {
    return;
  }
  const std::int64_t asked = c.counters->requests.get();
  const std::int64_t in = c.counters->bytes_in.get();
  const std::int64_t out = c.counters->bytes_out.get();
  if (seconds < 0) {
    now.requests_rate = now.in_rate = now.out_rate = 0;
    now.rated = now.sampled = false;
  } else if (seconds > 0 && now.sampled) {
    now.requests_rate = static_cast<double>(asked - now.requests) / seconds;
    now.in_rate = static_cast<double>(in - now.bytes_in) / seconds;
    now.out_rate = static_cast<double>(out - now.bytes_out) / seconds;
    now.rated = true;
  }
  if (seconds != 0 || !now.sampled) {
    now.requests = asked;
    now.bytes_in = in;
    now.bytes_out = out;
    now.sampled = true;
  }
  moving_ = moving_ || !now.rated || now.requests_rate > 0 || now.in_rate > 0 || now.out_rate > 0;
}

void ClientsModel::update(const observe::ClusterView& view, double seconds) {
  takeGroups(view);
  const std::map<ClientName, std::size_t> alike = clients_by_name(view);
  struct Family {
    int size = 0;             // all its connections, shown or not
    std::uint64_t place = 0;  // where it was, or its first connection
  };
  std::map<ClientName, Family> families;
  for (const auto& [id, connection] : *view.connections) {
    if (is_silent(*connection)) {
      continue;
    }
    Family& family = families[client_name(*connection)];
    ++family.size;
    const auto before = seen_.find(id.value());
    const std::uint64_t place = before == seen_.end() || before->second.client == 0 ? id.value() : before->second.client;
    family.place = family.place == 0 ? place : std::min(family.place, place);
  }
  std::map<std::uint64_t, std::vector<ConnectionFacts>> clients;  // by place
  std::map<std::uint64_t, Seen> seen;
  total_ = 0;
  shown_ = 0;
  hidden_ = 0;
  moving_ = false;
  for (const auto& [id, connection] : *view.connections) {
    const observe::ConnectionView& c = *connection;
    if (!peers_shown_ && is_peer(c, view)) {
      continue;
    }
    ConnectionFacts facts;
    facts.connection = &c;
    facts.built_in = built_in_(c);
    if (!built_in_shown_ && facts.built_in) {
      ++hidden_;
      continue;
    }
    ++total_;
    const auto before = seen_.find(id.value());
    Seen now = before == seen_.end() ? Seen() : before->second;
    sample(c, seconds, now);
    now.client = id.value();
    if (!is_silent(c)) {
      const Family& family = families.at(client_name(c));
      facts.siblings = family.size;
      now.client = family.place;
    }
    seen.emplace_hint(seen.end(), id.value(), now);
    if (static_cast<std::size_t>(shown_) >= kRowsMax) {
      continue;
    }
    facts.requests = now.requests_rate;
    facts.bytes_in = now.in_rate;
    facts.bytes_out = now.out_rate;
    facts.rated = now.rated;
    if (const auto groups = groups_.find(id.value()); groups != groups_.end()) {
      facts.groups = groups->second;
    }
    if (program_ == nullptr || matches(*program_, facts)) {
      clients[now.client].push_back(std::move(facts));
      ++shown_;
    }
  }
  seen_ = std::move(seen);
  std::erase_if(open_, [this](std::uint64_t place) {
    return std::none_of(seen_.begin(), seen_.end(), [place](const auto& each) { return each.second.client == place; });
  });
  std::vector<Row> rows;
  for (const auto& [place, all] : clients) {
    const auto count = alike.find(client_name(*all.front().connection));
    rows.push_back(row_of(all, place, count == alike.end() ? 1 : count->second));
    if (rows.back().fold == Fold::open) {
      for (const ConnectionFacts& facts : all) {
        rows.push_back(row_inside(facts, place));
      }
    }
  }
  show(std::move(rows));
}

void ClientsModel::show(std::vector<Row> rows) {
  const bool same = rows.size() == rows_.size() &&
                    std::equal(rows.begin(), rows.end(), rows_.begin(), [](const Row& a, const Row& b) { return a.place == b.place; });
  if (!same) {
    // Rows are ordered by place, so what is gone and what is new can be told apart in one walk, and no row jumps.
    for (std::size_t i = rows_.size(); i-- > 0;) {
      const bool stays = std::binary_search(rows.begin(), rows.end(), rows_[i], [](const Row& a, const Row& b) { return a.place < b.place; });
      if (!stays) {
        beginRemoveRows({}, static_cast<int>(i), static_cast<int>(i));
        rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(i));
        endRemoveRows();
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i >= rows_.size() || rows_[i].place != rows[i].place) {
        beginInsertRows({}, static_cast<int>(i), static_cast<int>(i));
        rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(i), rows[i]);
        endInsertRows();
      }
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Row& now = rows_[i];
    if (now == rows[i]) {
      continue;
    }
    const Row before = std::exchange(now, std::move(rows[i]));
    for (std::size_t column = 0; column < now.cells.size(); ++column) {
      const bool look = (column == std::size_t{client} && before.fold != now.fold) || (column == std::size_t{errors} && before.glyph != now.glyph);
      if (before.cells[column] != now.cells[column] || look) {
        const QModelIndex at = index(static_cast<int>(i), static_cast<int>(column));
        Q_EMIT dataChanged(at, at);
      }
    }
  }
}

void ClientsModel::setFilter(filter::ProgramPtr program) { program_ = std::move(program); }

int ClientsModel::connections(int row) const { return static_cast<int>(connectionsAt(row).size()); }

std::vector<std::uint64_t> ClientsModel::connectionsAt(int row) const {
  return row < 0 || row >= rowCount() ? std::vector<std::uint64_t>{} : rows_[static_cast<std::size_t>(row)].connections;
}

ClientsModel::Fold ClientsModel::fold(int row) const {
  return row < 0 || row >= rowCount() ? Fold::none : rows_[static_cast<std::size_t>(row)].fold;
}

void ClientsModel::setOpen(int row, bool open) {
  if (row < 0 || row >= rowCount()) {
    return;
  }
  const std::uint64_t place = rows_[static_cast<std::size_t>(row)].place.client;
  if (open) {
    open_.insert(place);
  } else {
    open_.erase(place);
  }
}

void ClientsModel::setBuiltInShown(bool shown) { built_in_shown_ = shown; }

void ClientsModel::setPeersShown(bool shown) { peers_shown_ = shown; }

std::uint64_t ClientsModel::connectionAt(int row) const {
  const std::vector<std::uint64_t> all = connectionsAt(row);
  return all.empty() ? 0 : all.front();
}

int ClientsModel::rowOf(std::uint64_t connection) const {
  int found = -1;
  for (int i = 0; i < rowCount(); ++i) {
    const Row& row = rows_[static_cast<std::size_t>(i)];
    if (row.place.connection == connection) {
      return i;
    }
    if (found < 0 && std::find(row.connections.begin(), row.connections.end(), connection) != row.connections.end()) {
      found = i;
    }
  }
  return found;
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
      if (index.column() == errors && !row.failed.isEmpty()) {
        return row.failed;
      }
      return cell.isEmpty() ? QVariant() : QVariant(cell);
    case Qt::TextAlignmentRole:
      return QVariant(number ? Qt::AlignRight | Qt::AlignVCenter : Qt::AlignLeft | Qt::AlignVCenter);
    case Qt::AccessibleTextRole:
      if (index.column() == client && (row.fold == Fold::closed || row.fold == Fold::open)) {
        return row.fold == Fold::open ? tr("%1, %Ln connection(s), unfolded", nullptr, static_cast<int>(row.connections.size())).arg(cell)
                                      : tr("%1, %Ln connection(s), folded", nullptr, static_cast<int>(row.connections.size())).arg(cell);
      }
      return {};
    case glyph_role:
      return static_cast<int>(index.column() == errors ? row.glyph : Glyph::none);
    case fold_role:
      return static_cast<int>(index.column() == client ? row.fold : Fold::none);
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
      return tr("Nodes");
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
