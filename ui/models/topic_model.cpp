// SPDX-License-Identifier: Apache-2.0
#include "ui/models/topic_model.h"

#include <algorithm>
#include <set>

#include "ui/painting/text.h"
#include "ui/theme/glyphs.h"
#include "ui/theme/theme.h"

namespace hw::ui {

namespace {

constexpr double kSlowest = 0.05;  // records per second that are still shown

QString rate_text(double per_second) {
  return per_second < kSlowest ? QStringLiteral("0/s") : format_rate(per_second);
}

}  // namespace

void TopicModel::countGroups(const observe::ClusterView& view) {
  if (groups_seen_ == view.groups) {
    return;
  }
  groups_seen_ = view.groups;
  group_counts_.clear();
  for (const auto& [id, group] : *view.groups) {
    std::set<std::string_view> topics;
    for (const auto& c : group->committed) {
      if (topics.insert(c.topic).second) {
        ++group_counts_[c.topic];
      }
    }
  }
}

void TopicModel::sample(Row& row, double seconds) const {
  std::int64_t record_count = 0;
  std::int64_t size_bytes = 0;
  std::int64_t in = 0;
  row.in_sync = 0;
  row.replicas = 0;
  for (const auto& partition : row.topic->partitions) {
    if (partition == nullptr) {
      continue;
    }
    row.in_sync += partition->isr.size();
    row.replicas += partition->replicas.size();
    if (const event::ReplicaCounters* c = partition->leader_counters(); c != nullptr) {
      record_count += c->log_end_offset.get() - c->log_start_offset.get();
      size_bytes += c->size_bytes.get();
      in += c->records_in.get();
    }
  }
  row.records = record_count;
  row.bytes = size_bytes;
  if (seconds > 0) {
    row.rate = static_cast<double>(std::max<std::int64_t>(0, in - row.records_in)) / seconds;
  }
  row.records_in = in;
  const auto it = group_counts_.find(row.topic->name);
  row.group_count = it == group_counts_.end() ? 0 : it->second;
}

void TopicModel::update(const observe::ClusterView& view, double seconds) {
  countGroups(view);
  moving_ = false;
  std::vector<std::shared_ptr<const observe::TopicView>> wanted;
  total_ = 0;
  for (const auto& [key, topic] : *view.topics) {
    if (topic->internal && !internal_) {
      continue;
    }
    ++total_;
    if (filter_.isEmpty() || QString::fromStdString(key).contains(filter_, Qt::CaseInsensitive)) {
      wanted.push_back(topic);
    }
  }
  const bool same_names = !stale_ && wanted.size() == rows_.size() &&
                          std::equal(wanted.begin(), wanted.end(), rows_.begin(),
                                     [](const auto& a, const Row& b) { return a->name == b.topic->name; });
  if (!same_names) {
    beginResetModel();
    std::vector<Row> rows;
    rows.reserve(wanted.size());
    for (auto& topic : wanted) {
      const auto old = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.topic->id == topic->id; });
      Row row = old == rows_.end() ? Row{} : *old;
      row.topic = std::move(topic);
      sample(row, old == rows_.end() ? 0 : seconds);
      moving_ = moving_ || row.rate >= kSlowest;
      rows.push_back(std::move(row));
    }
    rows_ = std::move(rows);
    stale_ = false;
    endResetModel();
    return;
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row before = rows_[i];
    Row& row = rows_[i];
    row.topic = wanted[i];
    sample(row, seconds);
    moving_ = moving_ || row.rate >= kSlowest;
    const auto changed = [&](Column column, bool differs) {
      if (differs) {
        const QModelIndex cell = index(static_cast<int>(i), column);
        Q_EMIT dataChanged(cell, cell, {Qt::DisplayRole});
      }
    };
    const bool other = row.topic != before.topic;
    changed(partitions, other);
    changed(replicas, other && row.replicas != before.replicas);
    changed(policy, other);
    changed(in_sync, row.in_sync != before.in_sync || row.replicas != before.replicas);
    changed(records, row.records != before.records);
    changed(bytes, row.bytes != before.bytes && format_bytes(row.bytes) != format_bytes(before.bytes));
    changed(rate_in, row.rate != before.rate && rate_text(row.rate) != rate_text(before.rate));
    changed(groups, row.group_count != before.group_count);
  }
}

void TopicModel::setFilter(const QString& text) {
  if (text != filter_) {
    filter_ = text;
    stale_ = true;
  }
}

void TopicModel::setInternalShown(bool shown) {
  if (shown != internal_) {
    internal_ = shown;
    stale_ = true;
  }
}

QString TopicModel::topicAt(int row) const {
  return row < 0 || row >= rowCount() ? QString() : QString::fromStdString(rows_[static_cast<std::size_t>(row)].topic->name);
}

int TopicModel::rowOf(const QString& topic) const {
  const std::string wanted = topic.toStdString();
  const auto it = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.topic->name == wanted; });
  return it == rows_.end() ? -1 : static_cast<int>(it - rows_.begin());
}

int TopicModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(rows_.size()); }

int TopicModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QVariant TopicModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) {
    return {};
  }
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  if (role == Qt::TextAlignmentRole) {
    const bool number = index.column() != name && index.column() != policy;
    return QVariant(static_cast<Qt::Alignment::Int>((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
  }
  if (role == Qt::FontRole) {
    return index.column() == policy ? QVariant() : QVariant(Theme::current().font(FontRole::data));
  }
  if (role == internal_role) {
    return row.topic->internal;
  }
  if (role == glyph_role) {
    return static_cast<int>(index.column() == in_sync ? (row.in_sync < row.replicas ? Glyph::quarter : Glyph::disc)
                                                      : Glyph::none);
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (index.column()) {
    case name:
      return QString::fromStdString(row.topic->name);
    case partitions:
      return format_count(static_cast<std::int64_t>(row.topic->partitions.size()));
    case replicas: {
      const std::size_t n = row.topic->partitions.size();
      return n == 0 ? QString() : QString::number(row.replicas / n);
    }
    case in_sync:
      return QStringLiteral("%1/%2").arg(row.in_sync).arg(row.replicas);
    case records:
      return format_count(row.records);
    case bytes:
      return format_bytes(row.bytes);
    case rate_in:
      return rate_text(row.rate);
    case policy: {
      const auto it = row.topic->configs.find("cleanup.policy");
      return it == row.topic->configs.end() ? QStringLiteral("delete") : QString::fromStdString(it->second);
    }
    case groups:
      return QString::number(row.group_count);
    default:
      return {};
  }
}

QVariant TopicModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) {
    return {};
  }
  if (role == Qt::TextAlignmentRole) {
    const bool number = section != name && section != policy;
    return QVariant(static_cast<Qt::Alignment::Int>((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (section) {
    case name:
      return tr("Name");
    case partitions:
      return tr("Partitions");
    case replicas:
      return tr("Replicas");
    case in_sync:
      return tr("In sync");
    case records:
      return tr("Offsets");
    case bytes:
      return tr("Size");
    case rate_in:
      return tr("In");
    case policy:
      return tr("Cleanup");
    case groups:
      return tr("Groups");
    default:
      return {};
  }
}

}  // namespace hw::ui
