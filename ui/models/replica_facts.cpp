// SPDX-License-Identifier: Apache-2.0
#include "ui/models/replica_facts.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <QCoreApplication>

#include "ui/models/nodes_out.h"
#include "ui/models/quorum_facts.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(ReplicaFacts)
};

// Below this a follower is as close as the network lets it be: no countdown for every record.
constexpr std::int64_t kCloseMs = 500;
// A follower's fetch waits 500 ms at most.
constexpr std::int64_t kSilentMs = 1'500;
constexpr std::int64_t kTenthsMs = 100'000;  // tenths of a longer time say nothing

bool contains(const std::vector<BrokerId>& list, BrokerId one) { return std::find(list.begin(), list.end(), one) != list.end(); }

QString tenths(std::int64_t ms) { return Words::tr("%1 s").arg(QString::number(static_cast<double>(std::max<std::int64_t>(0, ms)) / 1000, 'f', 1)); }

void say(ReplicaFacts& r, const observe::ClusterView& view, const NodeCondition& condition, bool leader_gone) {
  const QString silenced = !r.silenced ? QString() : (condition.paused ? Words::tr("paused") : Words::tr("cut off"));
  if (r.leads && r.online) {
    r.note = silenced;
    r.warns = r.silenced;
    return;
  }
  if (!r.online) {
    const auto node = view.nodes.find(BrokerId(r.node));
    r.note = node == view.nodes.end() ? Words::tr("offline") : ended_text(*node->second);
    r.fails = true;
    return;
  }
  if (leader_gone) {
    r.note = r.in_sync ? Words::tr("in sync, may lead") : Words::tr("out of sync");
    r.warns = !r.in_sync;
    return;
  }
  const bool silent = r.silenced || r.fetched_ms >= kSilentMs;
  const QString fetch = r.silenced ? silenced : (silent ? Words::tr("no fetch for %1").arg(tenths(r.fetched_ms)) : QString());
  if (r.in_sync) {
    if (r.leaves_ms >= 0) {
      r.note = r.silenced ? Words::tr("%1, leaves in %2").arg(silenced, tenths(r.leaves_ms)) : Words::tr("leaves in sync in %1").arg(tenths(r.leaves_ms));
      r.warns = true;
    } else {
      r.note = silent ? fetch : Words::tr("in sync");
      r.warns = silent;
    }
    return;
  }
  r.warns = true;
  if (silent || r.told_end < 0) {
    // Short: it stands at the end of a lane.
    r.note = r.silenced ? Words::tr("out, %1").arg(silenced)
             : silent   ? Words::tr("out, no fetch %1").arg(r.fetched_ms < kTenthsMs ? tenths(r.fetched_ms) : format_duration(r.fetched_ms))
                        : Words::tr("out of sync");
  } else {
    r.note = r.behind > 0 ? Words::tr("out of sync, catches up") : Words::tr("joins the in-sync set");
  }
}

}  // namespace

KnownCounters known_counters(const observe::PartitionView& partition) {
  KnownCounters out;
  for (const observe::ReplicaView& replica : partition.replicas) {
    const event::ReplicaCounters* own = replica.counters.get();
    if (own == nullptr || !replica.online) {
      continue;
    }
    if (replica.node == partition.leader) {
      return {own, replica.node, true};
    }
    if (out.counters == nullptr || own->log_end_offset.get() > out.counters->log_end_offset.get()) {
      out = {own, replica.node, false};
    }
  }
  return out;
}

QString ended_text(const observe::NodeView& node) {
  const QString since = format_time(node.since.ms).section(QLatin1Char('.'), 0, 0);
  if (!node.why.empty()) {
    return Words::tr("stopped itself %1").arg(since);
  }
  return (node.state == observe::NodeView::State::killed ? Words::tr("killed %1") : Words::tr("stopped %1")).arg(since);
}

const ReplicaFacts* PartitionFacts::find(std::int32_t node) const {
  const auto at = std::find_if(replicas.begin(), replicas.end(), [&](const ReplicaFacts& r) { return r.node == node; });
  return at == replicas.end() ? nullptr : &*at;
}

std::int32_t min_in_sync(const observe::TopicView* topic, const observe::PartitionView& partition) {
  std::int32_t wanted = partition.min_insync_replicas;
  if (topic != nullptr) {
    if (const auto set = topic->configs.find("min.insync.replicas"); set != topic->configs.end()) {
      std::from_chars(set->second.data(), set->second.data() + set->second.size(), wanted);
    }
  }
  return std::min(wanted, static_cast<std::int32_t>(std::max<std::size_t>(1, partition.replicas.size())));
}

PartitionFacts partition_facts(const observe::ClusterView& view, const observe::TopicView* topic, const observe::PartitionView& partition,
                               std::int64_t now_ms, const std::vector<NodeCondition>& conditions) {
  const auto condition_of = [&](std::int32_t node) {
    const auto at = std::find_if(conditions.begin(), conditions.end(), [node](const NodeCondition& c) { return c.node == node; });
    return at == conditions.end() ? NodeCondition() : *at;
  };
  PartitionFacts out;
  out.in_sync = static_cast<std::int32_t>(partition.isr.size());
  out.min_in_sync = min_in_sync(topic, partition);
  out.lag_time_max_ms = partition.lag_time_max.ns / 1'000'000;
  if (const event::ReplicaCounters* leader = partition.leader_counters()) {
    out.high_watermark = leader->high_watermark.get();
    out.log_end = leader->log_end_offset.get();
  }
  const observe::ReplicaView* led = partition.replica(partition.leader);
  out.leader_gone =
      partition.leader != kNoBroker && (led == nullptr || !led->online || led->counters == nullptr);
  // A controller that has lost its majority still leads for a moment, and changes nothing any more.
  out.controlled = quorum_commits(view, now_ms);
  // Nobody counts down whose leader has ended.
  const bool followed = partition.followed_now() && !out.leader_gone;
  for (const observe::ReplicaView& replica : partition.replicas) {
    ReplicaFacts r;
    r.node = replica.node.value();
    r.leads = replica.node == partition.leader && partition.leader != kNoBroker;
    r.online = replica.online && replica.counters != nullptr;
    r.in_sync = contains(partition.isr, replica.node);
    r.eligible = contains(partition.elr, replica.node);
    const NodeCondition condition = condition_of(r.node);
    r.silenced = r.online && (condition.paused || condition.cut_off);
    out.leader_paused = out.leader_paused || (r.leads && r.online && condition.paused);
    r.log_end = replica.counters ? replica.counters->log_end_offset.get() : replica.last_log_end.value();
    if (followed && replica.followed) {
      r.told_end = replica.followed->log_end_offset.get();
      // What it has told its leader it has, although its own numbers may be older.
      r.log_end = r.online ? std::max(r.log_end, std::min(r.told_end, out.log_end)) : r.log_end;
      const std::int64_t fetched = std::max(replica.followed->fetched_at_ms.get(), replica.fetcher ? replica.fetcher->fetched_at_ms.get() : 0);
      r.fetched_ms = fetched == 0 ? -1 : std::max<std::int64_t>(0, now_ms - fetched);
      const std::int64_t caught_up = replica.followed->caught_up_at_ms.get();
      r.caught_up_ms = r.told_end >= out.log_end && out.log_end >= 0 ? 0 : (caught_up == 0 ? -1 : std::max<std::int64_t>(0, now_ms - caught_up));
    }
    r.behind = r.log_end < 0 || out.log_end < 0 ? 0 : std::max<std::int64_t>(0, out.log_end - r.log_end);
    if (r.in_sync && !r.leads && r.online && out.controlled && r.caught_up_ms > kCloseMs && out.lag_time_max_ms > 0) {
      r.leaves_ms = std::max<std::int64_t>(0, out.lag_time_max_ms - r.caught_up_ms);
    }
    out.replicas.push_back(std::move(r));
  }
  // Where several fall silent at once, it is the leader that does not answer: it takes nobody out.
  int followers = 0;
  int silent = 0;
  for (const ReplicaFacts& r : out.replicas) {
    const bool heard = !r.leads && r.online && !r.silenced;  // of those it is known why they do not fetch
    followers += heard ? 1 : 0;
    silent += heard && r.fetched_ms >= kSilentMs ? 1 : 0;
  }
  if (out.leader_paused || (followers > 1 && silent == followers)) {
    out.leader_silent = true;
    for (ReplicaFacts& r : out.replicas) {
      r.leaves_ms = -1;
    }
  }
  // Who of the in-sync set is least far, where the high watermark waits.
  if (!out.frozen() && out.high_watermark >= 0 && out.high_watermark < out.log_end) {
    for (ReplicaFacts& r : out.replicas) {
      const std::int64_t end = r.told_end >= 0 ? r.told_end : r.log_end;
      r.holds = r.in_sync && !r.leads && end >= 0 && end <= out.high_watermark;
    }
  }
  for (ReplicaFacts& r : out.replicas) {
    say(r, view, condition_of(r.node), out.leader_gone);
  }
  return out;
}

LeaderText leader_text(const observe::ClusterView& view, const observe::PartitionView& partition, const PartitionFacts& facts) {
  const auto may_lead = [&](const ReplicaFacts& r) { return r.in_sync && r.online && !r.silenced && r.node != partition.leader.value(); };
  if (partition.leader == kNoBroker) {
    QStringList waited;
    for (const BrokerId id : partition.isr.empty() ? partition.elr : partition.isr) {
      waited << QString::number(id.value());
    }
    return {waited.isEmpty() ? Words::tr("no leader: no replica in sync runs")
                             : Words::tr("no leader until node %1 is back").arg(waited.join(Words::tr(" or ", "between node ids"))),
            true};
  }
  const int leader = partition.leader.value();
  if (facts.leader_gone) {
    if (std::none_of(facts.replicas.begin(), facts.replicas.end(), may_lead)) {
      return {Words::tr("leader node %1 is gone, no other replica may lead").arg(leader), true};
    }
    return {running_voters(view).majority() ? Words::tr("leader node %1 is gone, an election is awaited").arg(leader)
                                            : Words::tr("leader node %1 is gone, no majority of controllers elects another").arg(leader),
            true};
  }
  if (facts.leader_paused) {
    return {Words::tr("leader node %1, paused").arg(leader), false, true};
  }
  return {Words::tr("leader node %1").arg(leader)};
}

Bereft bereft_of(const observe::ClusterView& view, const std::vector<NodeCondition>& conditions, std::int32_t node) {
  const NodesOut out_now = nodes_out(view, conditions);
  const auto may_lead = [&](BrokerId id) {
    const auto known = view.nodes.find(id);
    const bool fenced = known != view.nodes.end() && known->second->registered && known->second->fenced;
    return id != BrokerId(node) && !fenced && !out_now.away(id);
  };
  Bereft out;
  for (const auto& [name, topic] : *view.topics) {
    for (const auto& partition : topic->partitions) {
      if (partition && partition->leader == BrokerId(node)) {
        const bool others = std::any_of(partition->isr.begin(), partition->isr.end(), may_lead);
        ++(others ? out.move : out.wait);
      }
    }
  }
  return out;
}

}  // namespace hw::ui
