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

ClientsModel::Row ClientsModel::row_of(const observe::ConnectionView& c, const Seen& seen) const {
  Row row;
  row.id = c.id.value();
  row.cells[client] = c.client_id.empty() ? tr("unnamed") : text_of(c.client_id);
  row.cells[software] = c.software_name.empty() ? QStringLiteral("–")
                                                : (text_of(c.software_name) + QLatin1Char(' ') + text_of(c.software_version)).trimmed();
  row.cells[from] = text_of(c.peer);
  row.cells[node] = QStringLiteral("n%1").arg(c.node.value());
  row.cells[since] = format_time(c.opened_at.ms).left(8);
  row.cells[requests] = format_rate(seen.requests_rate);
  const auto bytes = [](double rate) { return rate < 0.5 ? QString() : QStringLiteral("%1/s").arg(format_bytes(static_cast<std::int64_t>(rate))); };
  row.cells[bytes_in] = bytes(seen.in_rate);
  row.cells[bytes_out] = bytes(seen.out_rate);
  if (c.counters != nullptr) {
    const std::int64_t failed = c.counters->error_total();
    row.cells[errors] = failed == 0 ? QString() : format_count(failed);
    row.glyph = failed == 0 ? Glyph::none : Glyph::quarter;
    row.cells[apis] = apis_in_words(*c.counters);
  }
  return row;
}

void ClientsModel::update(const observe::ClusterView& view, double seconds) {
  std::vector<Row> rows;
  rows.reserve(std::min(view.connections->size(), kRowsMax));
  std::map<std::uint64_t, Seen> seen;
  total_ = 0;
  hidden_ = 0;
  moving_ = false;
  for (const auto& [id, connection] : *view.connections) {
    const observe::ConnectionView& c = *connection;
    if (!built_in_shown_ && built_in_(c)) {
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
    Row row = row_of(c, now);
    const bool wanted = filter_.isEmpty() || std::any_of(row.cells.begin(), row.cells.end(), [this](const QString& cell) {
                          return cell.contains(filter_, Qt::CaseInsensitive);
                        });
    if (wanted) {
      rows.push_back(std::move(row));
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

void ClientsModel::setFilter(const QString& text) { filter_ = text; }

void ClientsModel::setBuiltInShown(bool shown) { built_in_shown_ = shown; }

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
