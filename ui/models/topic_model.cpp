// SPDX-License-Identifier: Apache-2.0
#include "ui/models/topic_model.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "ui/models/group_lag.h"
#include "ui/models/replica_facts.h"
#include "ui/painting/text.h"
#include "ui/theme/theme.h"

namespace hw::ui {

namespace {

constexpr double kRateSeconds = 1;
constexpr double kSlowest = 0.05;  // records per second that are still shown

QString rate_text(double per_second) {
  return per_second < kSlowest ? QStringLiteral("0/s") : format_rate(per_second);
}

std::optional<std::int64_t> number_of(const observe::TopicView& topic, const char* key) {
  const auto it = topic.configs.find(key);
  if (it == topic.configs.end()) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(it->second.data(), it->second.data() + it->second.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

std::string policy_of(const observe::TopicView& topic) {
  const auto it = topic.configs.find("cleanup.policy");
  return it == topic.configs.end() ? "delete" : it->second;
}

QString policy_text(const observe::TopicView& topic) {
  const QString policy = QString::fromStdString(policy_of(topic));
  if (!policy.contains(QLatin1String("delete"))) {
    return policy;
  }
  const std::int64_t keep = number_of(topic, "retention.ms").value_or(7LL * 86'400'000);
  return keep < 0 ? QStringLiteral("%1 ∞").arg(policy) : QStringLiteral("%1 %2").arg(policy, format_duration(keep));
}

int rank(Glyph glyph) { return glyph == Glyph::cross ? 2 : (glyph == Glyph::quarter ? 1 : 0); }

}  // namespace

void TopicModel::lagOfGroups(const observe::ClusterView& view) {
  group_lags_.clear();
  for (const auto& [id, group] : *view.groups) {
    const observe::TopicView* topic = nullptr;
    const std::string* topic_name = nullptr;
    TopicFacts::Group* row = nullptr;
    for (const auto& c : group->committed) {  // by topic, partition
      if (topic_name == nullptr || *topic_name != c.topic) {
        topic_name = &c.topic;
        topic = view.find_topic(std::string_view(c.topic));
        row = topic == nullptr ? nullptr : &group_lags_[c.topic].emplace_back(TopicFacts::Group{id, 0});
      }
      if (row != nullptr && c.counters != nullptr) {
        row->lag += partition_lag(*topic, c.partition, c.counters->offset.get()).records;
      }
    }
  }
  for (auto& [topic, readers] : group_lags_) {
    std::stable_sort(readers.begin(), readers.end(),
                     [](const TopicFacts::Group& a, const TopicFacts::Group& b) { return a.lag > b.lag; });
  }
}

void TopicModel::judge(TopicFacts& f) const {
  f.findings.clear();
  f.severity = Glyph::none;
  const auto add = [&](Glyph glyph, const QString& text) {
    if (rank(glyph) > rank(f.severity)) {
      f.severity = glyph;
    }
    f.findings << text;
  };
  if (f.leaderless > 0) {
    add(Glyph::cross, tr("%Ln partition(s) without a leader: nobody can write or read there", nullptr, static_cast<int>(f.leaderless)));
  }
  if (f.below_min > 0) {
    add(Glyph::cross, tr("%Ln partition(s) with fewer replicas in sync than min.insync.replicas: writes with acks=all are refused",
                         nullptr, static_cast<int>(f.below_min)));
  }
  if (f.in_sync < f.replicas) {
    add(Glyph::quarter, tr("%Ln replica(s) out of sync", nullptr, static_cast<int>(f.replicas - f.in_sync)));
  }
  const std::int64_t keep = number_of(*f.topic, "retention.ms").value_or(7LL * 86'400'000);
  const std::int64_t roll = number_of(*f.topic, "segment.ms").value_or(7LL * 86'400'000);
  const std::int64_t roll_bytes = number_of(*f.topic, "segment.bytes").value_or(1LL << 30);
  const std::int64_t keep_bytes = number_of(*f.topic, "retention.bytes").value_or(-1);
  if (policy_of(*f.topic).find("delete") != std::string::npos && keep_bytes >= 0 && keep_bytes < roll_bytes) {
    add(Glyph::quarter, tr("retention.bytes is less than one segment: only whole segments are deleted, so more stays than that"));
  }
  if (keep >= 0 && keep < roll && f.topic->configs.count("retention.ms") != 0) {
    // Kafka rolls the active segment where its newest record is too old, so this costs time, not records.
    f.findings << tr("retention.ms is shorter than segment.ms: records may stay up to one segment longer");
  }
}

void TopicModel::sample(Known& known, bool fresh, double seconds) {
  TopicFacts& f = known.facts;
  const std::int64_t records_before = f.records;
  const std::int64_t bytes_before = f.bytes;
  const double in_before = f.in;
  const double out_before = f.out;
  const bool bound_before = f.at_most;
  std::int64_t end_minus_start = 0;
  std::int64_t size_bytes = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  f.in_sync = 0;
  f.replicas = 0;
  f.leaderless = 0;
  f.below_min = 0;
  const auto least = static_cast<std::size_t>(std::max<std::int64_t>(1, number_of(*f.topic, "min.insync.replicas").value_or(1)));
  f.factor = 0;
  for (const auto& partition : f.topic->partitions) {
    if (partition == nullptr) {
      continue;
    }
    f.factor = std::max(f.factor, partition->replicas.size());
    f.in_sync += partition->isr.size();
    f.replicas += partition->replicas.size();
    f.leaderless += partition->leader == kNoBroker ? 1U : 0U;
    f.below_min += partition->isr.size() < least ? 1U : 0U;
    if (const event::ReplicaCounters* c = known_counters(*partition).counters; c != nullptr) {
      end_minus_start += c->log_end_offset.get() - c->log_start_offset.get();
      size_bytes += c->size_bytes.get();
    }
    if (const event::ReplicaCounters* c = partition->leader_counters(); c != nullptr) {
      in += c->records_in.get();
      out += c->records_out.get();
    }
  }
  f.records = end_minus_start;
  f.at_most = policy_of(*f.topic).find("compact") != std::string::npos || f.topic->internal;
  if (const auto counted = counted_.find(f.topic->name); counted != counted_.end()) {
    if (counted->second.offsets == end_minus_start) {
      f.records = counted->second.records;
      f.at_most = false;
    }
  }
  f.bytes = size_bytes;
  if (seconds < 0) {
    known.dirty = known.dirty || f.rated;
    f.rated = false;
    f.in = f.out = 0;
  }
  known.waited += std::max(0.0, seconds);
  if (fresh || seconds < 0 || known.waited >= kRateSeconds) {
    // Less than before: another leader counts, and what it took in before is no rate of this second. The one of before stands.
    if (!fresh && seconds >= 0 && in >= known.records_in && out >= known.records_out) {
      f.in = static_cast<double>(in - known.records_in) / known.waited;
      f.out = static_cast<double>(out - known.records_out) / known.waited;
      known.dirty = known.dirty || !f.rated;
      f.rated = true;
    }
    known.records_in = in;
    known.records_out = out;
    known.waited = 0;
  }
  known.dirty = known.dirty || f.records != records_before || f.bytes != bytes_before || f.in != in_before ||
                f.out != out_before || f.at_most != bound_before;
  if (lags_round_ != round_) {
    return;
  }
  const auto readers = group_lags_.find(f.topic->name);
  const std::vector<TopicFacts::Group> groups_before = std::move(f.groups);
  const std::size_t count_before = f.group_count;
  f.groups.clear();
  f.group_count = 0;
  f.worst_lag = -1;
  if (readers != group_lags_.end()) {
    f.group_count = readers->second.size();
    f.worst_lag = readers->second.front().lag;
    f.groups.assign(readers->second.begin(),
                    readers->second.begin() + static_cast<std::ptrdiff_t>(std::min(kGroupsShown, readers->second.size())));
  }
  known.dirty = known.dirty || f.group_count != count_before || f.groups != groups_before;
}

TopicModel::Row TopicModel::makeRow(const std::string& topic) const {
  const TopicFacts& f = known_.find(topic)->second.facts;
  Row row;
  row.name = topic;
  row.internal = f.topic->internal;
  row.in_sync_glyph = f.leaderless > 0 || f.below_min > 0 ? Glyph::cross : (f.in_sync < f.replicas ? Glyph::quarter : Glyph::disc);
  row.severity = f.severity;
  row.cells[name] = QString::fromStdString(topic);
  row.cells[partitions] = format_count(static_cast<std::int64_t>(f.topic->partitions.size()));
  row.cells[factor] = f.factor == 0 ? QString() : QString::number(f.factor);
  row.cells[in_sync] =
      QStringLiteral("%1/%2").arg(format_count(static_cast<std::int64_t>(f.in_sync)), format_count(static_cast<std::int64_t>(f.replicas)));
  row.cells[records] = (f.at_most && f.records > 0 ? QStringLiteral("≤ ") : QString()) + format_count(f.records);
  row.cells[bytes] = format_bytes(f.bytes);
  row.cells[rate_in] = f.rated ? rate_text(f.in) : QStringLiteral("–");
  row.cells[rate_out] = f.rated ? rate_text(f.out) : QStringLiteral("–");
  row.cells[policy] = policy_text(*f.topic);
  QStringList readers;
  for (const TopicFacts::Group& g : f.groups) {
    readers << QStringLiteral("%1 %2").arg(QString::fromStdString(g.id), format_count(g.lag));
  }
  if (f.group_count > f.groups.size()) {
    readers << tr("+%1").arg(format_count(static_cast<std::int64_t>(f.group_count - f.groups.size())));
  }
  row.cells[groups] = readers.isEmpty() ? QStringLiteral("–") : readers.join(QStringLiteral("  "));
  row.cells[findings] = f.findings.isEmpty() ? QStringLiteral("–") : QString::number(f.findings.size());
  return row;
}

std::vector<std::string> TopicModel::orderOf(std::vector<std::string> names) const {
  if (held_ && !rows_.empty()) {
    // Rows stay where they are; what is new comes last.
    std::map<std::string_view, std::size_t> place;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      place.emplace(rows_[i].name, i);
    }
    const auto at = [&](const std::string& n) {
      const auto found = place.find(n);
      return found == place.end() ? rows_.size() : found->second;
    };
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) { return at(a) < at(b); });
    return names;
  }
  const auto key = [&](const std::string& n) -> double {
    const TopicFacts& f = known_.find(n)->second.facts;
    switch (sort_column_) {
      case partitions:
        return static_cast<double>(f.topic->partitions.size());
      case factor:
        return static_cast<double>(f.factor);
      case in_sync:
        return f.replicas == 0 ? 1 : static_cast<double>(f.in_sync) / static_cast<double>(f.replicas);
      case records:
        return static_cast<double>(f.records);
      case bytes:
        return static_cast<double>(f.bytes);
      case rate_in:
        return f.in;
      case rate_out:
        return f.out;
      case groups:
        return static_cast<double>(f.worst_lag);
      case findings:
        return rank(f.severity) * 1000.0 + static_cast<double>(f.findings.size());
      case name:
      case policy:
      case column_count:
        return 0;
    }
    return 0;
  };
  if (sort_column_ == policy) {
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
      return policy_of(*known_.find(a)->second.facts.topic) < policy_of(*known_.find(b)->second.facts.topic);
    });
  } else if (sort_column_ != name) {
    std::vector<std::pair<double, std::string>> keyed;
    keyed.reserve(names.size());
    for (std::string& n : names) {
      const double k = key(n);
      keyed.emplace_back(k, std::move(n));
    }
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    names.clear();
    for (auto& [k, n] : keyed) {
      names.push_back(std::move(n));
    }
  }
  if (sort_order_ == Qt::DescendingOrder) {
    std::reverse(names.begin(), names.end());
  }
  return names;
}

void TopicModel::update(const observe::ClusterView& view, double seconds) {
  moving_ = false;
  attention_ = Glyph::none;
  ++round_;
  // Lags are read once a second or so; a group that comes or goes shows at once.
  if (groups_seen_ != view.groups || lags_round_ + 10 <= round_) {
    groups_seen_ = view.groups;
    lags_round_ = round_;
    lagOfGroups(view);
  }
  std::vector<std::string> wanted;
  total_ = 0;
  for (const auto& [key, topic] : *view.topics) {
    Known& known = known_[key];
    const bool fresh = known.facts.topic == nullptr || known.facts.topic->id != topic->id;
    if (fresh) {
      known = Known{};
    }
    known.seen = round_;
    const bool changed = known.facts.topic != topic;
    known.facts.topic = topic;
    const std::size_t before[] = {known.facts.in_sync, known.facts.replicas, known.facts.leaderless, known.facts.below_min};
    sample(known, fresh, seconds);
    const std::size_t after[] = {known.facts.in_sync, known.facts.replicas, known.facts.leaderless, known.facts.below_min};
    if (changed || !std::equal(std::begin(before), std::end(before), std::begin(after))) {
      judge(known.facts);
      known.dirty = true;
    }
    if (topic->internal && !internal_) {
      continue;
    }
    ++total_;
    moving_ = moving_ || !known.facts.rated || known.facts.in >= kSlowest || known.facts.out >= kSlowest;
    if (rank(known.facts.severity) > rank(attention_)) {
      attention_ = known.facts.severity;
    }
    if (!matcher_ || matcher_(known.facts)) {
      wanted.push_back(key);
    }
  }
  for (auto it = known_.begin(); it != known_.end();) {
    it = it->second.seen == round_ ? std::next(it) : known_.erase(it);
  }
  wanted = orderOf(std::move(wanted));
  followRows(
      rows_, wanted, [](const Row& row) -> const std::string& { return row.name; },
      [this](const std::string& n) { return makeRow(n); });
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = rows_[i];
    Known& known = known_.find(row.name)->second;
    if (!std::exchange(known.dirty, false)) {
      continue;
    }
    Row now = makeRow(row.name);
    int first = column_count;
    int last = -1;
    for (int c = 0; c < column_count; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const bool glyph = (c == in_sync && now.in_sync_glyph != row.in_sync_glyph) || (c == findings && now.severity != row.severity);
      if (glyph || now.cells[at] != row.cells[at]) {
        first = std::min(first, c);
        last = c;
      }
    }
    if (last >= 0) {
      row = std::move(now);
      Q_EMIT dataChanged(index(static_cast<int>(i), first), index(static_cast<int>(i), last));
    }
  }
}

void TopicModel::setMatcher(std::function<bool(const TopicFacts&)> matcher) { matcher_ = std::move(matcher); }

void TopicModel::setInternalShown(bool shown) { internal_ = shown; }

void TopicModel::setOrder(Column column, Qt::SortOrder order) {
  sort_column_ = column;
  sort_order_ = order;
  const bool held = std::exchange(held_, false);
  std::vector<std::string> names;
  for (const Row& row : rows_) {
    names.push_back(row.name);
  }
  std::sort(names.begin(), names.end());
  names = orderOf(std::move(names));
  followRows(
      rows_, names, [](const Row& row) -> const std::string& { return row.name; },
      [this](const std::string& n) { return makeRow(n); });
  held_ = held;
}

void TopicModel::setCounted(const QString& topic, std::int64_t count) {
  const auto known = known_.find(topic.toStdString());
  if (known == known_.end()) {
    return;
  }
  std::int64_t offsets = 0;
  for (const auto& partition : known->second.facts.topic->partitions) {
    if (const event::ReplicaCounters* c = partition == nullptr ? nullptr : known_counters(*partition).counters; c != nullptr) {
      offsets += c->log_end_offset.get() - c->log_start_offset.get();
    }
  }
  counted_[topic.toStdString()] = {count, offsets};
}

const TopicFacts* TopicModel::facts(int row) const {
  return row < 0 || row >= rowCount() ? nullptr : &known_.find(rows_[static_cast<std::size_t>(row)].name)->second.facts;
}

const TopicFacts* TopicModel::facts(const QString& topic) const {
  const auto found = known_.find(topic.toStdString());
  return found == known_.end() ? nullptr : &found->second.facts;
}

QString TopicModel::topicAt(int row) const {
  return row < 0 || row >= rowCount() ? QString() : QString::fromStdString(rows_[static_cast<std::size_t>(row)].name);
}

int TopicModel::rowOf(const QString& topic) const {
  const std::string wanted = topic.toStdString();
  const auto it = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.name == wanted; });
  return it == rows_.end() ? -1 : static_cast<int>(it - rows_.begin());
}

int TopicModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(rows_.size()); }

int TopicModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{column_count}; }

QVariant TopicModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) {
    return {};
  }
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  const int column = index.column();
  switch (role) {
    case Qt::TextAlignmentRole: {
      const bool words = column == name || column == policy || column == groups || column == findings;
      return QVariant(static_cast<Qt::Alignment::Int>((words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter));
    }
    case Qt::FontRole:
      return Theme::current().font(column == policy ? FontRole::control : FontRole::data);
    case internal_role:
      return row.internal;
    case glyph_role:
      return static_cast<int>(column == in_sync ? row.in_sync_glyph : (column == findings ? row.severity : Glyph::none));
    case Qt::DisplayRole:
      return row.cells[static_cast<std::size_t>(column)];
    case Qt::AccessibleTextRole:
      return column == in_sync ? QStringLiteral("%1, %2").arg(row.cells[in_sync], glyph_name(row.in_sync_glyph))
                               : row.cells[static_cast<std::size_t>(column)];
    case Qt::ToolTipRole: {
      const TopicFacts& f = known_.find(row.name)->second.facts;
      if (column == findings) {
        return f.findings.join(QLatin1Char('\n'));
      }
      if (column == records) {
        return f.at_most
                   ? tr("At most: log end minus log start. Compaction may have removed records in between; select the topic to have them counted.")
                   : tr("Records that are there: log end minus log start of every partition. Nothing is missing in between, because "
                        "this topic is not compacted and holds no transaction markers.");
      }
      if (column == groups && f.group_count > 0) {
        return tr("Groups that read this topic, with the records they have still to read; the worst first");
      }
      return {};
    }
    default:
      return {};
  }
}

QVariant TopicModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) {
    return {};
  }
  if (role == Qt::TextAlignmentRole) {
    const bool words = section == name || section == policy || section == groups || section == findings;
    return QVariant(static_cast<Qt::Alignment::Int>((words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter));
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (section) {
    case name:
      return tr("Name");
    case partitions:
      return tr("Parts");
    case factor:
      return tr("RF");
    case in_sync:
      return tr("In sync");
    case records:
      return tr("Records");
    case bytes:
      return tr("Size");
    case rate_in:
      return tr("In");
    case rate_out:
      return tr("Out");
    case policy:
      return tr("Cleanup");
    case groups:
      return tr("Groups, lag");
    case findings:
      return tr("Findings");
    default:
      return {};
  }
}

}  // namespace hw::ui
