// SPDX-License-Identifier: Apache-2.0
#include "ui/models/group_model.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include <QCoreApplication>
#include <QRegularExpression>

#include "ui/painting/text.h"
#include "ui/theme/theme.h"

namespace hw::ui {

namespace {

QString words(const char* text) { return QCoreApplication::translate("hw::ui::GroupModel", text); }

QString trend_text(const GroupFacts& f) {
  if (f.trend_count < 2) {
    return {};
  }
  const std::int64_t first = f.trend[GroupFacts::kTrend - f.trend_count];
  const std::int64_t last = f.trend[GroupFacts::kTrend - 1];
  return last > first ? words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "rising"))
                      : (last < first ? words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "falling"))
                                      : words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "steady")));
}

}  // namespace

GroupKind kind_of(const observe::GroupView& group) {
  if (group.kind == event::GroupProtocol::consumer) {
    return GroupKind::consumer;
  }
  return group.protocol_type.empty()         ? GroupKind::offsets
         : group.protocol_type == "consumer" ? GroupKind::classic
                                             : GroupKind::other;
}

QString kind_words(GroupKind kind) {
  switch (kind) {
    case GroupKind::classic:
      return QStringLiteral("classic");
    case GroupKind::consumer:
      return QStringLiteral("consumer");
    case GroupKind::share:
      return QStringLiteral("share");
    case GroupKind::streams:
      return QStringLiteral("streams");
    case GroupKind::other:
      return words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "other"));
    case GroupKind::offsets:
      return words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "offsets only"));
  }
  return {};
}

QString group_kind(const observe::GroupView& group) {
  const GroupKind kind = kind_of(group);
  return kind == GroupKind::other ? QString::fromStdString(group.protocol_type) : kind_words(kind);
}

QString count_words(event::GroupProtocol kind, std::int32_t generation) {
  return (kind == event::GroupProtocol::consumer ? words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "epoch %1"))
                                                 : words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "gen %1")))
      .arg(generation);
}

QString count_sentence(event::GroupProtocol kind, std::int32_t generation) {
  return (kind == event::GroupProtocol::consumer ? words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "epoch %1"))
                                                 : words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "generation %1")))
      .arg(generation);
}

QString partition_words(const std::vector<std::pair<std::string, PartitionIndex>>& partitions) {
  QStringList texts;
  for (std::size_t i = 0; i < partitions.size();) {
    const std::string& topic = partitions[i].first;
    QStringList runs;
    while (i < partitions.size() && partitions[i].first == topic) {
      const std::int32_t first = partitions[i].second.value();
      std::int32_t last = first;
      while (++i < partitions.size() && partitions[i].first == topic && partitions[i].second.value() == last + 1) {
        ++last;
      }
      runs << (first == last ? QString::number(first) : QStringLiteral("%1%2%3").arg(first).arg(last == first + 1 ? QStringLiteral(", ") : QStringLiteral("–")).arg(last));
    }
    texts << QStringLiteral("%1 %2").arg(QString::fromStdString(topic), runs.join(QStringLiteral(", ")));
  }
  return texts.join(QStringLiteral(", "));
}

QString target_words(const event::GroupAssigned::Member& member) {
  if (member.epoch < 0) {
    return {};
  }
  std::vector<std::pair<std::string, PartitionIndex>> more;
  std::vector<std::pair<std::string, PartitionIndex>> less;
  std::set_difference(member.target.begin(), member.target.end(), member.partitions.begin(), member.partitions.end(), std::back_inserter(more));
  std::set_difference(member.partitions.begin(), member.partitions.end(), member.target.begin(), member.target.end(), std::back_inserter(less));
  QStringList texts;
  if (!less.empty()) {
    texts << words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "gives back %1")).arg(partition_words(less));
  }
  if (!more.empty()) {
    texts << words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "waits for %1")).arg(partition_words(more));
  }
  return texts.join(QStringLiteral(", "));
}

Glyph state_glyph(const observe::GroupView& group) {
  if (group.state == "Stable") {
    return Glyph::disc;
  }
  if (group.state == "Empty" || group.state.empty()) {
    return Glyph::ring;
  }
  return group.state == "Dead" ? Glyph::cross : Glyph::quarter;
}

QString state_words(const std::string& state) {
  if (state == "PreparingRebalance") {
    return words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "Members join"));
  }
  if (state == "CompletingRebalance") {
    return words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "Assigning"));
  }
  return state.empty() ? QStringLiteral("Empty") : QString::fromStdString(state);
}

QString reason_words(const std::string& reason) {
  static const QRegularExpression uuid(QStringLiteral("-([0-9a-f]{4})[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));
  // To a coordinator what a member owns is part of its subscription; to a person it is not.
  return QString::fromStdString(reason)
      .replace(uuid, QStringLiteral("-\\1"))
      .replace(QLatin1String("changed its subscription"),
               words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "joined again: what it reads or owns has changed")));
}

GroupStatus group_status(const GroupFacts& f) {
  if (f.group->rebalancing_since.ms > 0) {
    return {words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "rebalancing")), Glyph::quarter, severity(LagStatus::slow)};
  }
  if (!f.lag_known) {
    return {words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "no position")), Glyph::ring, 0};
  }
  return {status_word(f.status), glyph_of(f.status, !f.group->members.empty()), severity(f.status)};
}

QString state_rule(const observe::GroupView& group) {
  if (group.kind != event::GroupProtocol::consumer) {
    return {};
  }
  if (group.state == "Assigning") {
    return words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "The group's epoch is newer than its target assignment: the coordinator computes the next one"));
  }
  if (group.state == "Reconciling") {
    return words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "The target is known; members give back and take partitions until all have reached it, and read what they keep"));
  }
  return {};
}

QString rebalancing_words(const observe::GroupView& group, std::int64_t now_ms) {
  const std::int64_t ms = now_ms - group.rebalancing_since.ms;
  return ms < 1'000 ? words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "< 1 s")) : format_duration(ms / 1'000 * 1'000);
}

// In a consumer group nobody ever stops for the others.
bool eager(const event::GroupRebalanced& rebalance) {
  return rebalance.kind == event::GroupProtocol::classic && rebalance.kept == 0;
}

QString ago_words(std::int64_t at_ms, std::int64_t now_ms) {
  constexpr std::int64_t kStepMs = 5'000;
  const std::int64_t ms = now_ms / kStepMs * kStepMs - at_ms;
  if (ms < 5'000) {
    return words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "just now"));
  }
  if (ms < 60'000) {
    return words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "%1 s ago")).arg(ms / kStepMs * (kStepMs / 1'000));
  }
  return words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "%1 ago")).arg(format_duration(ms));
}

QString short_duration(std::int64_t us) {
  return us < 10'000 ? QStringLiteral("%1 ms").arg(static_cast<double>(us) / 1000.0, 0, 'f', 1) : format_duration(us / 1000);
}

QString trigger_words(const event::GroupRebalanced& rebalance) {
  using Cause = event::GroupRebalanced::Cause;
  if (rebalance.triggers.empty()) {
    return words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "no reason was told"));
  }
  const event::GroupRebalanced::Trigger& t = rebalance.triggers.front();
  const QString who = QString::fromStdString(t.client_id.empty() ? t.member_id : t.client_id);
  QString text;
  switch (t.cause) {
    case Cause::member_joined:
      text = words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "%1 joined"));
      break;
    case Cause::member_rejoined:
      text = words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "%1 asked for a new assignment"));
      break;
    case Cause::subscription_changed:
      text = words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "%1 joined again: what it reads or owns has changed"));
      break;
    case Cause::static_returned:
      text = words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "the static member %1 came back"));
      break;
    case Cause::member_left:
      text = words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "%1 left"));
      break;
    case Cause::session_expired:
      text = words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "%1 sent no heartbeat within its session timeout"));
      break;
    case Cause::join_expired:
      text = words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "%1 did not join again in time (max.poll.interval.ms)"));
      break;
    case Cause::sync_expired:
      text = words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "%1 did not fetch its assignment in time"));
      break;
    case Cause::assignment_not_stored:
      text = words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "the assignment could not be stored"));
      break;
    case Cause::group_too_large:
      text = words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "more members than group.max.size allows"));
      break;
    case Cause::topics_changed:
      text = words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "the topics that it reads changed"));
      break;
    case Cause::revoke_expired:
      text = words(QT_TRANSLATE_NOOP("hw::ui::GroupModel", "%1 did not give its partitions back in time (max.poll.interval.ms)"));
      break;
  }
  if (text.contains(QLatin1String("%1"))) {
    text = text.arg(who);
  }
  if (!t.said.empty()) {
    text += QStringLiteral(": ") + QString::fromStdString(t.said);
  }
  const auto more = static_cast<int>(rebalance.triggers.size()) - 1 + rebalance.triggers_skipped;
  if (more > 0) {
    text += QCoreApplication::translate("hw::ui::GroupModel", ", and %Ln more", nullptr, more);
  }
  return text;
}

// Follows the view: which logs the group's positions are in. Windows of parts that stay are kept, also where another coordinator counts now.
void GroupModel::link(Known& known, const observe::ClusterView& view) const {
  GroupFacts& f = known.facts;
  std::vector<GroupFacts::Part> before = std::move(f.parts);
  f.parts.clear();
  f.parts.reserve(f.group->committed.size());
  std::size_t old = 0;
  const observe::TopicView* topic = nullptr;
  const std::string* topic_name = nullptr;
  bool compacted = false;
  for (const observe::GroupView::Committed& c : f.group->committed) {
    if (c.counters == nullptr) {
      continue;
    }
    if (topic_name == nullptr || *topic_name != c.topic) {
      topic_name = &c.topic;
      topic = view.find_topic(std::string_view(c.topic));
      compacted = false;
      if (topic != nullptr) {
        const auto policy = topic->configs.find("cleanup.policy");
        compacted = policy != topic->configs.end() && policy->second.find("compact") != std::string::npos;
      }
    }
    while (old < before.size() && std::tie(before[old].topic, before[old].partition) < std::tie(c.topic, c.partition)) {
      ++old;
    }
    const bool same = old < before.size() && before[old].topic == c.topic && before[old].partition == c.partition;
    GroupFacts::Part part = same ? std::move(before[old++]) : GroupFacts::Part{};
    part.topic = c.topic;
    part.partition = c.partition;
    part.committed = c.counters;
    part.compacted = compacted;
    const auto at = static_cast<std::size_t>(c.partition.value());
    part.log = topic != nullptr && at < topic->partitions.size() ? topic->partitions[at] : nullptr;
    f.parts.push_back(std::move(part));
  }
}

// The same positions in logs that may be others: a segment rolled, a leader moved, a topic went.
void GroupModel::relink(GroupFacts& f, const observe::ClusterView& view) const {
  const observe::TopicView* topic = nullptr;
  const std::string* topic_name = nullptr;
  for (GroupFacts::Part& part : f.parts) {
    if (topic_name == nullptr || *topic_name != part.topic) {
      topic_name = &part.topic;
      topic = view.find_topic(std::string_view(part.topic));
    }
    const auto at = static_cast<std::size_t>(part.partition.value());
    if (topic == nullptr || at >= topic->partitions.size()) {
      part.log = nullptr;
    } else if (part.log != topic->partitions[at]) {
      part.log = topic->partitions[at];
    }
  }
}

void GroupModel::sample(Known& known, std::int64_t now_ms, bool judge) const {
  GroupFacts& f = known.facts;
  const std::int64_t offsets_before = f.lag_offsets;
  const std::int64_t records_before = f.lag_records;
  const bool known_before = f.lag_known;
  const LagStatus status_before = f.status;
  const std::int64_t behind_before = f.behind_ms;
  f.lag_offsets = 0;
  f.lag_records = 0;
  f.lag_known = false;
  f.at_most = false;
  f.worst = -1;
  std::int64_t worst_lag = 0;
  const bool has_members = !f.group->members.empty();
  LagStatus worst_status = LagStatus::ok;
  std::int64_t behind = 0;
  std::int64_t watched = 0;
  // Who commits somewhere has not stopped: where its position stands still, it is stalled there.
  std::int64_t committed_at = 0;
  for (std::size_t i = 0; judge && i < f.parts.size(); ++i) {
    committed_at = std::max(committed_at, f.parts[i].committed->committed_at_ms.get());
  }
  for (std::size_t i = 0; i < f.parts.size(); ++i) {
    GroupFacts::Part& part = f.parts[i];
    const event::ReplicaCounters* c = part.log == nullptr ? nullptr : part.log->leader_counters();
    const std::int64_t committed = part.committed->offset.get();
    PartitionLag& lag = part.lag;
    lag = PartitionLag{};
    if (c == nullptr || committed < 0) {
      continue;
    }
    const std::int64_t start = c->log_start_offset.get();
    lag.known = true;
    lag.end = std::max(start, c->high_watermark.get());
    lag.offsets = std::max<std::int64_t>(0, lag.end - committed);
    lag.records = std::max<std::int64_t>(0, lag.end - std::max(committed, start));
    lag.lost = std::max<std::int64_t>(0, start - committed);
    lag.at_most = part.compacted && lag.records > 0;
    part.now = {now_ms, committed, lag.end};
    f.lag_offsets += lag.offsets;
    f.lag_records += lag.records;
    f.lag_known = true;
    f.at_most = f.at_most || lag.at_most;
    if (lag.records > worst_lag) {
      worst_lag = lag.records;
      f.worst = static_cast<int>(i);
    }
    if (judge) {
      part.window.add(part.now);
      part.status = part.window.judge(part.now, committed_at, has_members, part.status);
      if (severity(part.status) > severity(worst_status)) {
        worst_status = part.status;
      }
      const std::int64_t ago = part.window.behindMs(part.now);
      behind = ago < 0 || behind < 0 ? -1 : std::max(behind, ago);
      watched = std::max(watched, now_ms - part.window.at(0).at_ms);
    }
  }
  if (judge) {
    f.status = worst_status;
    f.behind_ms = behind;
    f.watched_ms = watched;
    known.dirty = known.dirty || behind < 0;
  } else if (f.lag_known && f.lag_offsets == 0) {
    // What has read everything is not judged: "measuring" must not stay beside a lag of 0 until the next sample.
    f.status = LagStatus::ok;
    f.behind_ms = 0;
  }
  known.dirty = known.dirty || f.lag_offsets != offsets_before || f.lag_records != records_before ||
                f.lag_known != known_before || f.status != status_before || f.behind_ms != behind_before;
}

void GroupModel::update(const observe::ClusterView& view, std::int64_t now_ms) {
  ++round_;
  const bool judge = judged_ms_ < 0 || now_ms - judged_ms_ >= 1'000 || now_ms < judged_ms_;
  const bool step = judged_ms_ < 0 || now_ms / LagWindow::kStepMs != judged_ms_ / LagWindow::kStepMs;
  now_ms_ = now_ms;
  attention_ = Glyph::none;
  ticking_ = false;
  bool resort = judge;
  std::vector<std::string> wanted;
  for (const auto& [id, group] : *view.groups) {
    Known& known = known_[id];
    known.seen = round_;
    const bool changed = known.facts.group != group;
    if (changed || known.topics_seen != view.topics) {
      known.facts.group = group;
      known.topics_seen = view.topics;
      if (changed) {
        link(known, view);
        known.dirty = true;
      } else {
        relink(known.facts, view);
      }
    }
    GroupFacts& f = known.facts;
    const bool fresh = f.trend_count == 0;
    sample(known, now_ms, judge || fresh);
    if (step || fresh) {
      std::rotate(f.trend.begin(), f.trend.begin() + 1, f.trend.end());
      f.trend_count = std::min(f.trend_count + 1, GroupFacts::kTrend);
      known.dirty = known.dirty || std::any_of(f.trend.begin(), f.trend.end(), [](std::int64_t lag) { return lag != 0; });
    }
    f.trend.back() = f.lag_records;
    // Told with what is judged, in all rows at once.
    if (judge && !f.group->rebalances.empty()) {
      QString ago = ago_words(f.group->rebalances.back().at.ms, now_ms);
      known.dirty = known.dirty || ago != known.ago;
      known.ago = std::move(ago);
    }
    const int severe = group_status(f).severity;
    resort = resort || (severe != std::exchange(known.severity, severe) && sort_column_ == status);
    known.dirty = known.dirty || f.group->rebalancing_since.ms > 0;
    ticking_ = ticking_ || f.lag_records > 0 || f.group->rebalancing_since.ms > 0;
    const Glyph mark = glyph_of(f.status, !f.group->members.empty());
    if (severity(f.status) >= severity(LagStatus::slow) && attention_ != Glyph::cross && mark != Glyph::ring) {
      attention_ = mark;
    }
    if (!matcher_ || matcher_(f)) {
      wanted.push_back(id);
    }
  }
  for (auto it = known_.begin(); it != known_.end();) {
    it = it->second.seen == round_ ? std::next(it) : known_.erase(it);
  }
  if (judge) {
    judged_ms_ = now_ms;
  }
  if (resort) {
    wanted = orderOf(std::move(wanted));
  } else {
    // Between two judgements rows only come and go, but where the word that they are sorted by is another.
    const bool held = std::exchange(held_, true);
    wanted = orderOf(std::move(wanted));
    held_ = held;
  }
  followRows(
      rows_, wanted, [](const Row& row) -> const std::string& { return row.id; },
      [this](const std::string& id) { return makeRow(id); });
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = rows_[i];
    Known& known = known_.find(row.id)->second;
    if (!std::exchange(known.dirty, false)) {
      continue;
    }
    Row now = makeRow(row.id);
    int first = column_count;
    int last = -1;
    for (int c = 0; c < column_count; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const bool glyph = (c == state && now.state_glyph != row.state_glyph) || (c == status && now.status_glyph != row.status_glyph);
      if (glyph || c == trend || now.cells[at] != row.cells[at]) {
        first = std::min(first, c);
        last = c;
      }
    }
    row = std::move(now);
    if (last >= 0) {
      Q_EMIT dataChanged(index(static_cast<int>(i), first), index(static_cast<int>(i), last));
    }
  }
}

GroupModel::Row GroupModel::makeRow(const std::string& id) const {
  const GroupFacts& f = known_.find(id)->second.facts;
  const observe::GroupView& g = *f.group;
  Row row;
  row.id = id;
  row.state_glyph = hw::ui::state_glyph(g);
  const GroupStatus now = group_status(f);
  row.status_glyph = now.glyph;
  row.cells[status] = now.word;
  row.cells[name] = QString::fromStdString(id);
  row.cells[kind] = group_kind(g);
  row.cells[state] = state_words(g.state);
  row.cells[members] = format_count(static_cast<std::int64_t>(g.members.size()));
  if (f.lag_known) {
    row.cells[lag_records] = (f.at_most ? QStringLiteral("≤ ") : QString()) + format_count(f.lag_records);
    row.cells[lag_offsets] = format_count(f.lag_offsets);
    row.cells[lag_time] =
        f.lag_records == 0 ? QStringLiteral("0 s")
        : f.behind_ms < 0 ? (f.watched_ms < 5'000 ? QStringLiteral("–") : QStringLiteral("> %1").arg(format_duration(f.watched_ms / 5'000 * 5'000)))
        : f.behind_ms < 1000 ? QStringLiteral("< 1 s")
                             : format_duration(f.behind_ms);
  } else {
    row.cells[lag_records] = row.cells[lag_offsets] = row.cells[lag_time] = QStringLiteral("–");
  }
  row.cells[trend] = trend_text(f);
  if (g.rebalancing_since.ms > 0) {
    row.cells[last_rebalance] = tr("now, for %1").arg(rebalancing_words(g, now_ms_));
  } else if (!g.rebalances.empty() && g.rebalances.back().what != nullptr) {
    const observe::GroupView::Rebalance& last = g.rebalances.back();
    row.cells[last_rebalance] = tr("%1, took %2").arg(ago_words(last.at.ms, judged_ms_), short_duration(last.what->total_us));
  } else {
    row.cells[last_rebalance] = QStringLiteral("–");
  }
  return row;
}

std::vector<std::string> GroupModel::orderOf(std::vector<std::string> ids) const {
  if (held_ && !rows_.empty()) {
    std::map<std::string_view, std::size_t> place;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      place.emplace(rows_[i].id, i);
    }
    const auto at = [&](const std::string& n) {
      const auto found = place.find(n);
      return found == place.end() ? rows_.size() : found->second;
    };
    std::stable_sort(ids.begin(), ids.end(), [&](const std::string& a, const std::string& b) { return at(a) < at(b); });
    return ids;
  }
  if (sort_column_ == name) {
    if (sort_order_ == Qt::DescendingOrder) {
      std::reverse(ids.begin(), ids.end());
    }
    return ids;
  }
  std::vector<std::pair<double, std::string>> keyed;
  keyed.reserve(ids.size());
  for (std::string& id : ids) {
    const GroupFacts& f = known_.find(id)->second.facts;
    double k = 0;
    switch (sort_column_) {
      case members:
        k = static_cast<double>(f.group->members.size());
        break;
      case lag_records:
        k = static_cast<double>(f.lag_records);
        break;
      case lag_offsets:
        k = static_cast<double>(f.lag_offsets);
        break;
      case lag_time:
      case trend:
        k = f.behind_ms < 0 ? 1e15 : static_cast<double>(f.behind_ms);
        break;
      case last_rebalance:
        k = f.group->rebalances.empty() ? 0 : static_cast<double>(f.group->rebalances.back().at.ms);
        break;
      case state:
        k = static_cast<double>(static_cast<int>(hw::ui::state_glyph(*f.group)));
        break;
      case status:
      case name:
      case kind:
      case column_count:
        k = group_status(f).severity;
        break;
    }
    keyed.emplace_back(k, std::move(id));
  }
  const bool down = sort_order_ == Qt::DescendingOrder;
  std::stable_sort(keyed.begin(), keyed.end(), [down](const auto& a, const auto& b) { return down ? a.first > b.first : a.first < b.first; });
  ids.clear();
  for (auto& [k, id] : keyed) {
    ids.push_back(std::move(id));
  }
  return ids;
}

void GroupModel::setOrder(Column column, Qt::SortOrder order) {
  sort_column_ = column;
  sort_order_ = order;
  const bool held = std::exchange(held_, false);
  std::vector<std::string> ids;
  for (const Row& row : rows_) {
    ids.push_back(row.id);
  }
  std::sort(ids.begin(), ids.end());
  ids = orderOf(std::move(ids));
  followRows(
      rows_, ids, [](const Row& row) -> const std::string& { return row.id; },
      [this](const std::string& id) { return makeRow(id); });
  held_ = held;
}

int GroupModel::count(GroupKind of) const {
  return static_cast<int>(
      std::count_if(known_.begin(), known_.end(), [of](const auto& each) { return kind_of(*each.second.facts.group) == of; }));
}

const GroupFacts* GroupModel::facts(const QString& group) const {
  const auto found = known_.find(group.toStdString());
  return found == known_.end() ? nullptr : &found->second.facts;
}

const GroupFacts* GroupModel::facts(int row) const {
  return row < 0 || row >= rowCount() ? nullptr : &known_.find(rows_[static_cast<std::size_t>(row)].id)->second.facts;
}

QString GroupModel::groupAt(int row) const {
  return row < 0 || row >= rowCount() ? QString() : QString::fromStdString(rows_[static_cast<std::size_t>(row)].id);
}

int GroupModel::rowOf(const QString& group) const {
  const std::string wanted = group.toStdString();
  const auto it = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.id == wanted; });
  return it == rows_.end() ? -1 : static_cast<int>(it - rows_.begin());
}

int GroupModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(rows_.size()); }

int GroupModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{column_count}; }

QVariant GroupModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) {
    return {};
  }
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  const int column = index.column();
  const QString& cell = row.cells[static_cast<std::size_t>(column)];
  switch (role) {
    case Qt::TextAlignmentRole: {
      const bool number = column >= members && column <= lag_time;
      return QVariant(static_cast<Qt::Alignment::Int>((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    }
    case Qt::FontRole: {
      const bool text = column == kind || column == state || column == status || column == last_rebalance;
      return Theme::current().font(text ? FontRole::control : FontRole::data);
    }
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
      return column == trend && role == Qt::DisplayRole ? QString() : cell;
    case glyph_role:
      return static_cast<int>(column == state ? row.state_glyph : (column == status ? row.status_glyph : Glyph::none));
    case trend_role: {
      const GroupFacts& f = known_.find(row.id)->second.facts;
      QVariantList bars;
      for (std::size_t i = GroupFacts::kTrend - f.trend_count; i < GroupFacts::kTrend; ++i) {
        bars << static_cast<qlonglong>(f.trend[i]);
      }
      return bars;
    }
    case detail_role: {
      const observe::GroupView& g = *known_.find(row.id)->second.facts.group;
      return column == state && g.generation > 0 ? count_words(g.kind, g.generation) : QString();
    }
    case Qt::ToolTipRole: {
      const GroupFacts& f = known_.find(row.id)->second.facts;
      switch (column) {
        case state:
          return state_rule(*f.group);
        case status:
          return f.group->rebalancing_since.ms > 0 ? tr("A rebalance runs; how far the group is behind is judged after it")
                 : f.lag_known                     ? status_rule(f.status)
                                                   : tr("The group has committed no offset yet");
        case lag_records:
          return f.at_most ? tr("At most: high watermark minus position; compaction may have removed records in between")
                           : tr("Records that the group will still be handed: high watermark minus its position, without what is below the log start");
        case lag_offsets:
          return tr("High watermark minus committed offset, summed over partitions: what kafka-consumer-groups calls LAG");
        case lag_time:
          return tr("How long ago the end of the log was where the group is now, on the partition furthest behind");
        case trend:
          return tr("Lag in records over the last minute, one bar for 5 s: %1").arg(cell);
        default:
          return {};
      }
    }
    default:
      return {};
  }
}

QVariant GroupModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) {
    return {};
  }
  if (role == Qt::TextAlignmentRole) {
    const bool number = section >= members && section <= lag_time;
    return QVariant(static_cast<Qt::Alignment::Int>((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (section) {
    case name:
      return tr("Group");
    case kind:
      return tr("Kind");
    case state:
      return tr("State");
    case members:
      return tr("Members");
    case lag_records:
      return tr("Lag, records");
    case lag_offsets:
      return tr("Lag, offsets");
    case lag_time:
      return tr("Lag, time");
    case trend:
      return tr("Trend");
    case status:
      return tr("Status");
    case last_rebalance:
      return tr("Last rebalance");
    default:
      return {};
  }
}

}  // namespace hw::ui
