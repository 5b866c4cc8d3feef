// SPDX-License-Identifier: Apache-2.0
#include "ui/models/fault_facts.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <QCoreApplication>

#include "ui/models/quorum_facts.h"
#include "ui/models/replica_facts.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(FaultFacts)
};

using Partitions = FaultMemory::Partitions;

constexpr std::string_view kOffsetsTopic = "__consumer_offsets";

bool is_stranded(const observe::PartitionView& partition, const NodesOut& nodes) {
  const auto away = [&](BrokerId id) { return nodes.away(id); };
  return std::all_of(partition.isr.begin(), partition.isr.end(), away) && std::all_of(partition.elr.begin(), partition.elr.end(), away);
}

// Which partitions stand still until a node is back: the first ones by name, so that nobody has to look for them.
struct Stranded {
  static constexpr qsizetype kNamed = 3;
  QStringList named;
  bool only_replica = true;  // these have one each, on `at`
  BrokerId at = kNoBroker;

  // `count` of the topic's are; looks until it has found them, or enough.
  void take(const observe::TopicView& topic, int count, const NodesOut& nodes) {
    for (std::size_t i = 0; i < topic.partitions.size() && count > 0 && named.size() < kNamed; ++i) {
      const auto& partition = topic.partitions[i];
      if (!partition || partition->replicas.empty() || (partition->leader != kNoBroker && !nodes.ended.contains(partition->leader)) ||
          !is_stranded(*partition, nodes)) {
        continue;
      }
      --count;
      const BrokerId node = partition->replicas.front().node;
      only_replica = only_replica && partition->replicas.size() == 1 && (named.isEmpty() || at == node);
      at = node;
      named << QStringLiteral("%1/%2").arg(QString::fromStdString(topic.name)).arg(i);
    }
  }
};

Partitions count(const observe::TopicView& topic, const NodesOut& nodes) {
  Partitions out;
  const auto runs = [&](BrokerId id) { return !nodes.away(id); };
  for (const auto& partition : topic.partitions) {
    if (!partition || partition->replicas.empty()) {
      continue;
    }
    const bool leaderless = partition->leader == kNoBroker || nodes.ended.contains(partition->leader);
    const bool silent = !leaderless && nodes.paused.contains(partition->leader);
    const bool all_run = std::all_of(partition->isr.begin(), partition->isr.end(), runs);
    ++out.all;
    out.leaderless += leaderless ? 1 : 0;
    out.stranded += leaderless && is_stranded(*partition, nodes) ? 1 : 0;
    out.silent += silent ? 1 : 0;
    const int missing = static_cast<int>(partition->replicas.size()) - static_cast<int>(partition->isr.size());
    out.out_of_sync += missing;
    out.behind += missing > 0 ? 1 : 0;
    out.held += !leaderless && !all_run ? 1 : 0;
    // A leader without followers waits for nobody, cut off or not.
    out.whole += !leaderless && !silent && (all_run || partition->isr.size() <= 1) ? 1 : 0;
    // One that nobody leads is counted once.
    out.below_minimum += !leaderless && static_cast<std::int32_t>(partition->isr.size()) < min_in_sync(&topic, *partition) ? 1 : 0;
  }
  return out;
}

// Of the topics that are what they were, what was counted then.
Partitions count(const observe::ClusterView& view, FaultMemory& memory, DataReach& reach, Stranded& stranded, int& internal) {
  Partitions out;
  reach = {};
  std::map<std::string, FaultMemory::Topic> now;
  for (const auto& [name, topic] : *view.topics) {
    auto known = memory.topics.extract(name);
    if (known.empty() || known.mapped().of != topic) {
      memory.partitions += topic->partitions.size();
      known = {};
      now.emplace_hint(now.end(), name, FaultMemory::Topic{topic, count(*topic, memory.out)});
    } else {
      now.insert(now.end(), std::move(known));
    }
    const Partitions& of = std::prev(now.end())->second.counted;
    for (DataReach::Count* each : {&reach.partitions, name == kOffsetsTopic ? &reach.coordinators : nullptr}) {
      if (each != nullptr) {
        each->all += of.all;
        each->served += of.all - of.leaderless - of.silent;
        each->whole += of.whole;
      }
    }
    stranded.take(*topic, of.stranded, memory.out);
    internal += topic->internal ? of.leaderless - of.stranded : 0;
    out.leaderless += of.leaderless;
    out.stranded += of.stranded;
    out.silent += of.silent;
    out.out_of_sync += of.out_of_sync;
    out.behind += of.behind;
    out.held += of.held;
    out.below_minimum += of.below_minimum;
  }
  memory.topics = std::move(now);
  return out;
}

std::vector<std::int32_t> ids(const std::set<BrokerId>& nodes) {
  std::vector<std::int32_t> out;
  std::transform(nodes.begin(), nodes.end(), std::back_inserter(out), [](BrokerId id) { return id.value(); });
  return out;
}

QString names(const std::vector<std::int32_t>& nodes) {
  QStringList all;
  for (const std::int32_t node : nodes) {
    all << QString::number(node);
  }
  const QString last = all.takeLast();
  return all.isEmpty() ? last : Words::tr("%1 and %2").arg(all.join(QStringLiteral(", ")), last);
}

QString said_of(const std::vector<std::int32_t>& nodes, const QString& one, const QString& several) {
  return (nodes.size() == 1 ? one : several).arg(names(nodes));
}

// Why it is so can be said of few: the others have not been looked at.
QString stranded_text(int count, const Stranded& stranded) {
  const int more = count - static_cast<int>(stranded.named.size());
  const QString named = stranded.named.join(QStringLiteral(", ")) + (more > 0 ? Words::tr(" and %1 more").arg(format_count(more)) : QString());
  if (stranded.only_replica && more == 0) {
    return (count == 1 ? Words::tr("%1 waits for node %2 to come back: its only replica is there.")
                       : Words::tr("%1 wait for node %2 to come back: their only replicas are there."))
        .arg(named)
        .arg(stranded.at.value());
  }
  return count == 1
             ? Words::tr("%1 waits for its node to come back: no other in-sync replica can lead.").arg(named)
             : Words::tr("%1 partitions wait for their nodes to come back (%2): no other in-sync replica can lead.").arg(format_count(count), named);
}

}  // namespace

FaultFacts fault_facts(const observe::ClusterView& view, const std::vector<NodeCondition>& conditions, std::int64_t lost, FaultMemory* memory) {
  FaultFacts out;
  const NodesOut nodes = nodes_out(view, conditions);
  const std::vector<std::int32_t> ended = ids(nodes.ended);
  const std::vector<std::int32_t> paused = ids(nodes.paused);
  const std::vector<std::int32_t> cut = ids(nodes.cut_off);
  std::vector<std::int32_t> starting;
  std::vector<std::int32_t> slow;
  std::vector<std::int32_t> fenced;
  bool killed = false;
  std::int64_t since_ms = -1;
  for (const auto& [id, node] : view.nodes) {
    using State = observe::NodeView::State;
    if (nodes.ended.contains(id)) {
      killed = killed || node->state == State::killed;
      since_ms = std::max(since_ms, node->since.ms);
    } else if (node->state == State::starting) {
      starting.push_back(id.value());
    } else if (node->broker && node->registered && node->fenced) {
      fenced.push_back(id.value());
    }
  }
  for (const NodeCondition& condition : conditions) {
    if (!condition.down && condition.slow) {
      slow.push_back(condition.node);
    }
  }
  FaultMemory own;
  FaultMemory& counted = memory == nullptr ? own : *memory;
  if (counted.out != nodes) {
    counted.topics.clear();
    counted.out = nodes;
  }
  Stranded stranded;
  int waiting_internal = 0;  // for a new leader
  const Partitions partitions = count(view, counted, out.reach, stranded, waiting_internal);
  const bool majority = running_voters(view).majority();
  out.majority = majority;
  out.leaderless = partitions.leaderless;
  out.silent = partitions.silent;
  out.behind = partitions.behind;
  QStringList said;
  if (!ended.empty()) {
    said << (ended.size() > 1 ? Words::tr("Nodes %1 are down.").arg(names(ended))
             : killed         ? Words::tr("Node %1 was killed at %2.").arg(names(ended), format_time(since_ms).section(QLatin1Char('.'), 0, 0))
                              : Words::tr("Node %1 was stopped at %2.").arg(names(ended), format_time(since_ms).section(QLatin1Char('.'), 0, 0)));
  }
  if (!paused.empty()) {
    said << said_of(paused, Words::tr("Node %1 is paused: its sockets are open, and silent."), Words::tr("Nodes %1 are paused: their sockets are open, and silent."));
  }
  if (!cut.empty()) {
    said << said_of(cut, Words::tr("Node %1 is cut off from the other nodes."), Words::tr("Nodes %1 are cut off from the other nodes."));
  }
  if (!slow.empty()) {
    said << said_of(slow, Words::tr("What node %1 and the others send each other is late."), Words::tr("What nodes %1 and the others send each other is late."));
  }
  const bool by_hand = !said.isEmpty();
  if (said.isEmpty() && !starting.empty() && view.nodes.size() > 1 && partitions.out_of_sync > 0) {
    said << said_of(starting, Words::tr("Node %1 starts."), Words::tr("Nodes %1 start."));
  }
  if (said.isEmpty() && !fenced.empty() && view.nodes.size() > 1 && partitions.out_of_sync + partitions.leaderless > 0) {
    said << said_of(fenced, Words::tr("Node %1 is fenced: the controller has not heard from it yet."),
                    Words::tr("Nodes %1 are fenced: the controller has not heard from them yet."));
  }
  if (said.isEmpty() && partitions.out_of_sync > 0 && partitions.leaderless == 0) {
    said << Words::tr("Every node runs again.");
  }
  if (said.isEmpty() && partitions.leaderless == 0 && majority) {
    return out;  // all is well
  }
  out.any = true;
  out.headline = said.isEmpty() ? Words::tr("Not every partition has a leader.") : said.join(QLatin1Char(' '));
  QStringList means;
  const QString internal = waiting_internal == 0 ? QString() : Words::tr(" (%1 internal)").arg(format_count(waiting_internal));
  if (partitions.leaderless > 0 && majority) {
    if (const int others = partitions.leaderless - partitions.stranded; others > 0) {
      means << Words::tr("%Ln partition(s)%1 wait for a new leader: nobody writes or reads there until then.", nullptr, others).arg(internal);
    }
    if (partitions.stranded > 0) {
      means << stranded_text(partitions.stranded, stranded);
    }
  } else if (partitions.leaderless > 0) {
    means << Words::tr("%Ln partition(s) have no leader, and no majority of controllers is left to choose one.", nullptr, partitions.leaderless);
  } else if (!majority) {
    means << (partitions.held == 0
                  ? Words::tr("No majority of controllers: records still flow, but topics, leaders and in-sync sets cannot change.")
                  : Words::tr("No majority of controllers: topics, leaders and in-sync sets cannot change. %Ln partition(s) wait for an in-sync replica that "
                              "cannot leave the set: acks=all is not answered there, and consumers get nothing new.",
                              nullptr, partitions.held));
  } else if (partitions.silent == 0) {
    means << Words::tr("Every partition has a leader.");
  }
  if (partitions.silent > 0) {
    means << (partitions.silent == 1
                  ? Words::tr("1 partition has a leader that is paused: nobody writes or reads there until another leads.")
                  : Words::tr("%1 partitions have a leader that is paused: nobody writes or reads there until another leads.").arg(format_count(partitions.silent)));
  }
  if (lost > 0) {
    means << Words::tr("%Ln acknowledged record(s) are lost.", nullptr, static_cast<int>(std::min<std::int64_t>(lost, INT32_MAX)));
  } else if (lost == 0 && by_hand && partitions.leaderless == 0) {
    means << Words::tr("No acknowledged record is lost.");
  }
  if (partitions.below_minimum > 0) {
    means << Words::tr("%Ln partition(s) have too few in-sync replicas: acks=all is refused there.", nullptr, partitions.below_minimum);
  } else if (!by_hand && partitions.out_of_sync > 0) {
    means << Words::tr("%Ln replica(s) copy what they missed.", nullptr, partitions.out_of_sync);
  }
  out.meaning = means.join(QLatin1Char(' '));
  out.bad = !ended.empty() || lost > 0 || partitions.leaderless + partitions.silent > 0;
  const bool touchable = !conditions.empty();
  out.start = touchable && ended.size() == 1 && paused.empty() && cut.empty() && slow.empty() ? ended.front() : -1;
  out.heal = touchable && by_hand && out.start < 0;
  return out;
}

}  // namespace hw::ui
