// SPDX-License-Identifier: Apache-2.0
#include "ui/views/record_model.h"

#include <QPainter>
#include <algorithm>
#include <numeric>
#include <utility>

#include "ui/painting/shapes.h"
#include "ui/painting/text.h"
#include "ui/theme/glyphs.h"
#include "ui/theme/theme.h"
#include "ui/views/record_text.h"

namespace hw::ui {

namespace {

// Of key, value and headers, names included.
QString size_text(const RecordRow& row) {
  std::int64_t size = std::max<std::int64_t>(0, row.value_size) + (row.key ? static_cast<std::int64_t>(row.key->size()) : 0);
  if (row.value && row.value_size < 0) {
    size += static_cast<std::int64_t>(row.value->size());
  }
  for (const auto& [name, value] : row.headers) {
    size += static_cast<std::int64_t>(name.size() + (value ? value->size() : 0));
  }
  return format_bytes(size);
}

}  // namespace

RecordModel::RecordModel(QObject* parent, std::size_t max_rows) : QAbstractTableModel(parent), max_rows_(max_rows) {}

void RecordModel::clear() {
  beginResetModel();
  rows_.clear();
  first_arrival_ = 0;
  next_arrival_ = 0;
  bytes_ = 0;
  dropped_ = 0;
  endResetModel();
}

void RecordModel::setUtc(bool utc) {
  if (utc == utc_) {
    return;
  }
  utc_ = utc;
  Q_EMIT headerDataChanged(Qt::Horizontal, kTime, kTime);
  if (!rows_.empty()) {
    Q_EMIT dataChanged(index(0, kTime), index(rowCount() - 1, kTime));
  }
}

bool RecordModel::before(const Item& a, const Item& b) const {
  const auto place = [](const Item& item) { return std::make_pair(item.row.partition, item.row.offset); };
  switch (order_) {
    case Order::as_read:
      return a.arrival < b.arrival;
    case Order::per_partition:
      return place(a) < place(b);
    case Order::oldest_first:
      return a.row.timestamp_ms != b.row.timestamp_ms ? a.row.timestamp_ms < b.row.timestamp_ms : place(a) < place(b);
    case Order::newest_first:
      return a.row.timestamp_ms != b.row.timestamp_ms ? a.row.timestamp_ms > b.row.timestamp_ms : place(b) < place(a);
  }
  return false;
}

void RecordModel::sort() {
  const auto less = [this](const Item& a, const Item& b) { return before(a, b); };
  if (std::is_sorted(rows_.begin(), rows_.end(), less)) {
    return;
  }
  std::vector<int> from(rows_.size());
  std::iota(from.begin(), from.end(), 0);
  const auto at = [this](int i) -> const Item& { return rows_[static_cast<std::size_t>(i)]; };
  std::stable_sort(from.begin(), from.end(), [&](int a, int b) { return before(at(a), at(b)); });
  Q_EMIT layoutAboutToBeChanged();
  std::vector<int> to(from.size());
  std::deque<Item> sorted;
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[static_cast<std::size_t>(from[i])] = static_cast<int>(i);
    sorted.push_back(std::move(rows_[static_cast<std::size_t>(from[i])]));
  }
  rows_ = std::move(sorted);
  const QModelIndexList kept = persistentIndexList();
  QModelIndexList moved;
  for (const QModelIndex& old : kept) {
    moved << index(to[static_cast<std::size_t>(old.row())], old.column());
  }
  changePersistentIndexList(kept, moved);
  Q_EMIT layoutChanged();
}

void RecordModel::setOrder(Order order) {
  order_ = order;
  sort();
}

template <typename Gone>
int RecordModel::removeWhere(const Gone& gone) {
  int left = 0;
  for (int end = rowCount(); end > 0;) {
    if (!gone(rows_[static_cast<std::size_t>(end - 1)])) {
      --end;
      continue;
    }
    int begin = end - 1;
    while (begin > 0 && gone(rows_[static_cast<std::size_t>(begin - 1)])) {
      --begin;
    }
    beginRemoveRows({}, begin, end - 1);
    for (int i = begin; i < end; ++i) {
      bytes_ -= row_bytes(rows_[static_cast<std::size_t>(i)].row);
    }
    rows_.erase(rows_.begin() + begin, rows_.begin() + end);
    endRemoveRows();
    left += end - begin;
    end = begin;
  }
  return left;
}

int RecordModel::removeBefore(std::int32_t partition, std::int64_t offset) {
  return removeWhere([&](const Item& item) { return item.row.partition == partition && item.row.offset < offset; });
}

void RecordModel::append(std::vector<RecordRow> rows) {
  if (rows.empty()) {
    return;
  }
  if (rows.size() > max_rows_) {
    dropped_ += static_cast<std::int64_t>(rows.size() - max_rows_);
    rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(max_rows_));
  }
  std::int64_t coming = 0;
  for (const RecordRow& row : rows) {
    coming += row_bytes(row);
  }
  // Those that arrived first leave, wherever they stand.
  if (const std::size_t after = rows_.size() + rows.size(); after > max_rows_ || bytes_ + coming > kMaxBytes) {
    std::vector<std::pair<std::int64_t, std::int64_t>> ages;  // arrival, bytes
    ages.reserve(rows_.size());
    for (const Item& item : rows_) {
      ages.emplace_back(item.arrival, row_bytes(item.row));
    }
    std::sort(ages.begin(), ages.end());
    const std::size_t excess = after > max_rows_ ? after - max_rows_ : 0;
    std::int64_t total = bytes_ + coming;
    std::int64_t limit = INT64_MIN;
    for (std::size_t i = 0; i < ages.size() && (i < excess || total > kMaxBytes); ++i) {
      total -= ages[i].second;
      limit = ages[i].first;
    }
    dropped_ += removeWhere([limit](const Item& item) { return item.arrival <= limit; });
  }
  bytes_ += coming;
  const auto first = static_cast<int>(rows_.size());
  beginInsertRows({}, first, first + static_cast<int>(rows.size()) - 1);
  for (RecordRow& row : rows) {
    rows_.push_back({std::move(row), next_arrival_++});
  }
  endInsertRows();
  sort();
}

void RecordModel::prepend(std::vector<RecordRow> rows) {
  if (rows.empty() || rows_.size() + rows.size() > max_rows_) {
    return;
  }
  for (const RecordRow& row : rows) {
    bytes_ += row_bytes(row);
  }
  beginInsertRows({}, 0, static_cast<int>(rows.size()) - 1);
  for (auto at = rows.rbegin(); at != rows.rend(); ++at) {
    rows_.push_front({std::move(*at), --first_arrival_});
  }
  endInsertRows();
  sort();
}

int RecordModel::find(std::int32_t partition, std::int64_t offset) const {
  const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const Item& item) {
    return item.row.offset == offset && item.row.partition == partition;
  });
  return at == rows_.end() ? -1 : static_cast<int>(at - rows_.begin());
}

int RecordModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RecordModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{kColumns}; }

QString RecordModel::flagsOf(const RecordRow& row) {
  QStringList flags;
  if (row.control) {
    flags << tr("control");
  } else if (!row.value) {
    flags << tr("tombstone");
  } else if (row.value->empty() && row.key && row.key->empty()) {
    flags << tr("both empty");  // two flags would not fit
  } else if (row.value->empty()) {
    flags << tr("empty value");
  }
  if (row.key && row.key->empty() && !row.control && (!row.value || !row.value->empty())) {
    flags << tr("empty key");
  }
  if (row.valueCut()) {
    flags << format_bytes(row.value_size);
  }
  if (row.transactional && !row.control) {
    flags << tr("transactional");
  }
  if (row.compression != "none" && !row.compression.empty()) {
    flags << QString::fromStdString(row.compression);
  }
  return flags.join(QStringLiteral(" · "));
}

QVariant RecordModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= static_cast<int>(rows_.size())) {
    return {};
  }
  if (role == Qt::TextAlignmentRole) {
    return QVariant(index.column() == kPartition || index.column() == kOffset || index.column() == kSize ? Qt::AlignRight | Qt::AlignVCenter
                                                                             : Qt::AlignLeft | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole && role != Qt::ToolTipRole) {
    return {};
  }
  const RecordRow& r = row(index.row());
  if (role == Qt::ToolTipRole && index.column() != kTime) {
    return {};
  }
  switch (index.column()) {
    case kPartition:
      return QString::number(r.partition);
    case kOffset:
      return QString::number(r.offset);
    case kTime:
      if (role == Qt::ToolTipRole) {
        return tr("%1, %2").arg(date_time_text(r.timestamp_ms, utc_),
                                r.log_append_time ? tr("log append time") : tr("create time"));
      }
      return time_text(r.timestamp_ms, utc_);
    case kKey:
      if (!r.key) {
        return r.control ? tr("control") : QStringLiteral("null");
      }
      return r.key->empty() ? QStringLiteral("\"\"") : key_text(r.key->span());
    case kValue:
      if (r.control) {
        return marker_text(r);
      }
      if (!r.value) {
        return tr("null value");
      }
      return r.value->empty() ? QStringLiteral("\"\"") : value_line(r.value);
    case kHeaders:
      return headers_line(r);
    case kSize:
      return size_text(r);
    case kFlags:
      return flagsOf(r);
    default:
      return {};
  }
}

QVariant RecordModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) {
    return {};
  }
  if (role == Qt::TextAlignmentRole) {
    return QVariant(section == kPartition || section == kOffset || section == kSize ? Qt::AlignRight | Qt::AlignVCenter
                                                               : Qt::AlignLeft | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (section) {
    case kPartition:
      return tr("P", "column of partition numbers");
    case kOffset:
      return tr("Offset");
    case kTime:
      return utc_ ? tr("Time, UTC") : tr("Time");
    case kKey:
      return tr("Key");
    case kValue:
      return tr("Value");
    case kHeaders:
      return tr("Headers");
    case kSize:
      return tr("Size");
    case kFlags:
      return tr("Flags");
    default:
      return {};
  }
}

void RecordDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const auto* model = qobject_cast<const RecordModel*>(index.model());
  if (model == nullptr) {
    QStyledItemDelegate::paint(painter, option, index);
    return;
  }
  const Theme& theme = Theme::current();
  const Colors& c = theme.colors();
  const double s = theme.scale();
  const bool selected = option.state.testFlag(QStyle::State_Selected);
  const bool focused = option.state.testFlag(QStyle::State_Active);
  if (selected) {
    paint_chosen_row(*painter, option.rect, focused);
  } else {
    painter->fillRect(option.rect, option.state.testFlag(QStyle::State_MouseOver) ? c.hover : c.canvas);
  }
  if (!(selected && theme.highContrast())) {
    painter->fillRect(QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1), c.hair);
  }
  painter->save();
  painter->translate(option.rect.topLeft());
  painter->scale(s, s);
  const double w = option.rect.width() / s;
  const double y = (option.rect.height() - 1) / s / 2;
  const double left = index.column() == 0 ? 16 : 8;
  const double room = w - left - 8;
  const RecordRow& r = model->row(index.row());
  painter->setClipRect(QRectF(0, 0, w, option.rect.height() / s));
  switch (index.column()) {
    case RecordModel::kPartition:
      text_right(*painter, w - 8, y, QString::number(r.partition), FontRole::data, c.text2);
      break;
    case RecordModel::kOffset:
      text_right(*painter, w - 8, y, QString::number(r.offset), selected ? FontRole::data_strong : FontRole::data, c.text);
      break;
    case RecordModel::kTime:
      text_left(*painter, left, y, time_text(r.timestamp_ms, model->utc()), FontRole::data, c.text2);
      break;
    case RecordModel::kKey:
      if (r.control) {
        text_left(*painter, left, y, RecordModel::tr("control"), FontRole::control, c.text2);
      } else {
        paint_key_chip(*painter, left, y, room, r.key, selected);
      }
      break;
    case RecordModel::kValue:
      if (r.control) {
        text_fit(*painter, left, y, room, marker_text(r), FontRole::control, c.text2);
      } else if (!r.value) {
        paint_glyph(*painter, Glyph::slashed_zero, QPointF(left + 5, y), 11);
        text_fit(*painter, left + 16, y, room - 16, RecordModel::tr("null value"), FontRole::control, c.text2);
      } else if (r.value->empty()) {
        text_fit(*painter, left, y, room, QStringLiteral("\"\""), FontRole::data, c.text2);
      } else {
        // Only what fits is decoded: about seven pixels a character.
        const int characters = std::clamp(static_cast<int>(room / 7) + 2, 8, 400);
        const bool binary = value_kind(r.value) == ValueKind::binary;
        text_fit(*painter, left, y, room, value_line(r.value, characters), FontRole::data, binary ? c.text2 : c.text);
      }
      break;
    case RecordModel::kHeaders:
      text_fit(*painter, left, y, room, headers_line(r, 120), FontRole::data, c.text2);
      break;
    case RecordModel::kSize:
      text_right(*painter, w - 8, y, size_text(r), FontRole::data, c.text2);
      break;
    case RecordModel::kFlags: {
      double x = left;
      if (!r.value && !r.control) {
        paint_glyph(*painter, Glyph::dagger, QPointF(x + 5, y), 12);
        x += 16;
      }
      text_fit(*painter, x, y, w - x - 8, RecordModel::flagsOf(r), FontRole::control, c.text2);
      break;
    }
    default:
      break;
  }
  painter->restore();
}

}  // namespace hw::ui
