// SPDX-License-Identifier: Apache-2.0
#include "ui/models/inspector_replication.h"

#include <QCoreApplication>
#include <algorithm>

#include "ui/models/event_text.h"
#include "ui/models/quorum_facts.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(InspectorReplication)
};

using observe::PartitionView;

QString offset(std::int64_t value) { return value < 0 ? QStringLiteral("?") : format_offset(value); }
QString node(std::int32_t id) { return Words::tr("node %1").arg(id); }
QString seconds_of(std::int64_t ms) { return QString::number(static_cast<double>(ms) / 1000, 'f', 1); }

std::int64_t known_end(const ReplicaFacts& r) { return r.leads || r.told_end < 0 ? r.log_end : r.told_end; }

QStringList names(const PartitionFacts& facts, bool ReplicaFacts::*wanted) {
  QStringList out;
  for (const ReplicaFacts& r : facts.replicas) {
    if (r.*wanted) {
      out << node(r.node);
    }
  }
  return out;
}

const ReplicaFacts* leader_of(const PartitionFacts& facts) {
  const auto at = std::find_if(facts.replicas.begin(), facts.replicas.end(), [](const ReplicaFacts& r) { return r.leads; });
  return at == facts.replicas.end() ? nullptr : &*at;
}

FactSection high_watermark(const PartitionView& p, const PartitionFacts& facts) {
  FactSection s;
  s.label = Words::tr("High watermark");
  s.prose = Words::tr("Consumers see records <b>below</b> this offset. They are on every replica of the in-sync set, so they survive the loss "
                      "of any one of them.");
  s.formula = high_watermark_formula(p, facts);
  const QStringList holders = names(facts, &ReplicaFacts::holds);
  if (facts.frozen()) {
    s.note = Words::tr("It stands still until %1 replicas are in sync again (min.insync.replicas); producers with acks=all get "
                       "NOT_ENOUGH_REPLICAS.")
                 .arg(facts.min_in_sync);
  } else if (!holders.isEmpty()) {
    s.note = holders.size() == 1
                 ? Words::tr("%1 holds it back: it moves with its next fetch, or when it leaves the in-sync set.").arg(holders.front())
                 : Words::tr("%1 hold it back: it moves when all of them have fetched, or leave the in-sync set.").arg(holders.join(QStringLiteral(", ")));
  } else if (facts.high_watermark >= 0 && facts.high_watermark == facts.log_end) {
    s.note = Words::tr("Nothing waits: every in-sync replica has everything.");
  }
  return s;
}

FactSection in_sync_set(const PartitionView& p, const PartitionFacts& facts) {
  FactSection s;
  s.label = Words::tr("In-sync set (ISR)");
  s.prose = Words::tr("A follower is in sync while it had everything within the last <b>%1 s</b> (replica.lag.time.max.ms). Only they may become "
                      "leader without losing anything.")
                .arg(seconds_of(facts.lag_time_max_ms));
  for (const ReplicaFacts& r : facts.replicas) {
    if (r.leads) {
      s.formula << Words::tr("n%1 leads").arg(r.node);
    } else if (!r.in_sync) {
      s.formula << (r.log_end < 0 || r.log_end >= facts.high_watermark ? Words::tr("n%1 out: %2").arg(r.node).arg(r.note)
                                                                      : Words::tr("n%1 out: %2 < HW %3").arg(r.node).arg(offset(r.log_end), offset(facts.high_watermark)));
    } else if (r.leaves_ms >= 0) {
      s.formula << Words::tr("n%1 leaves in %2 s = %3 - %4").arg(r.node).arg(seconds_of(r.leaves_ms), seconds_of(facts.lag_time_max_ms), seconds_of(r.caught_up_ms));
    } else {
      s.formula << Words::tr("n%1 in: has %2 of %3").arg(r.node).arg(offset(known_end(r)), offset(facts.log_end)) + (r.online ? QString() : Words::tr(" down"));
    }
  }
  if (!p.elr.empty()) {
    QStringList elr;
    for (const BrokerId id : p.elr) {
      elr << node(id.value());
    }
    s.note = Words::tr("%1 may still lead cleanly: it was in sync when the set fell below min.insync.replicas (eligible leader replicas, KIP-966).")
                 .arg(elr.join(QStringLiteral(", ")));
  } else {
    s.note = Words::tr("A follower comes in again when it has everything below the high watermark and the start of this epoch.");
  }
  return s;
}

FactSection leadership(const PartitionView& p, const PartitionFacts& facts) {
  FactSection s;
  s.label = Words::tr("Leader");
  if (p.leader == kNoBroker) {
    s.prose = Words::tr("Nobody leads: no replica that is in sync (or eligible) runs. It is not lost, it waits for one of them.");
    return s;
  }
  if (facts.leader_gone) {
    s.prose = explain_partition_now(p, facts).prose;
    return s;
  }
  const std::int32_t preferred = p.replicas.empty() ? -1 : p.replicas.front().node.value();
  const QString since = p.epochs.empty() ? QString() : format_time(p.epochs.back().at.ms).section(QLatin1Char('.'), 0, 0);
  s.prose = p.followed_now() ? Words::tr("<b>%1</b> leads epoch %2 since %3. Producers and consumers talk to it, followers fetch from it.")
                                   .arg(node(p.leader.value()))
                                   .arg(p.leader_epoch.value())
                                   .arg(since)
                             : Words::tr("<b>%1</b> leads epoch %2. Producers and consumers talk to it, followers fetch from it.")
                                   .arg(node(p.leader.value()))
                                   .arg(p.leader_epoch.value());
  QStringList order;
  for (const ReplicaFacts& r : facts.replicas) {
    order << QStringLiteral("n%1%2").arg(r.node).arg(!r.online ? Words::tr(" down") : (r.leads ? QStringLiteral("*") : (r.in_sync ? QString() : Words::tr(" out"))));
  }
  s.formula = {Words::tr("first of { %1 } in sync and alive").arg(order.join(QStringLiteral(", ")))};
  s.note = preferred == p.leader.value() ? Words::tr("It is the preferred leader: the first in the list of replicas.")
                                         : Words::tr("The preferred leader is %1; it leads again when it is in sync and the controller balances.").arg(node(preferred));
  return s;
}

FactSection log_end(const PartitionFacts& facts) {
  FactSection s;
  s.label = Words::tr("Log end offset");
  s.prose = Words::tr("The offset that the <b>next</b> record of a replica will get. The leader's is the truth; the others follow.");
  for (const ReplicaFacts& r : facts.replicas) {
    QString line = Words::tr("n%1 LEO %2").arg(r.node).arg(offset(r.log_end));
    if (r.behind > 0) {
      line += QStringLiteral("  -%1").arg(r.behind);
    }
    if (r.fetched_ms >= 0) {
      line += r.fetched_ms < 1'000 ? Words::tr("  fetches now") : Words::tr("  fetched %1 s ago").arg(seconds_of(r.fetched_ms));
    }
    s.formula << line;
  }
  return s;
}

}  // namespace

QStringList high_watermark_formula(const PartitionView& p, const PartitionFacts& facts) {
  QStringList inputs;
  for (const BrokerId id : p.isr) {
    const ReplicaFacts* r = facts.find(id.value());
    inputs << QStringLiteral("n%1 %2").arg(id.value()).arg(offset(r == nullptr ? -1 : known_end(*r)));
  }
  QStringList lines{QStringLiteral("HW %1 = min LEO over ISR").arg(facts.high_watermark < 0 ? QStringLiteral("–") : format_offset(facts.high_watermark)),
                    QStringLiteral("{ %1 }").arg(inputs.join(QStringLiteral(", ")))};
  if (facts.frozen()) {
    lines.front() = Words::tr("HW %1 stays: ISR %2 < min %3").arg(offset(facts.high_watermark)).arg(facts.in_sync).arg(facts.min_in_sync);
  }
  return lines;
}

FactSection explain_partition_now(const PartitionView& p, const PartitionFacts& facts) {
  FactSection s;
  s.label = Words::tr("Explain");
  if (p.leader == kNoBroker) {
    s.prose = Words::tr("This partition has <b>no leader</b>: nobody can write to it or read from it until one of its replicas comes back.");
    return s;
  }
  if (facts.leader_gone && std::none_of(facts.replicas.begin(), facts.replicas.end(), [](const ReplicaFacts& r) {
        return !r.leads && r.online && (r.in_sync || r.eligible);
      })) {
    s.prose = Words::tr("Its leader, <b>node %1</b>, has ended, and no other replica that is in sync runs. Nobody writes or reads here until it comes back.")
                  .arg(p.leader.value());
    return s;
  }
  if (p.replicas.size() <= 1) {
    s.prose = Words::tr("<b>Node %1</b> has the only replica. Every record is visible to consumers as soon as it is in its log.").arg(p.leader.value());
    s.note = Words::tr("With one replica, the loss of this node loses the partition.");
    s.formula = high_watermark_formula(p, facts);
    return s;
  }
  if (facts.leader_gone) {
    QStringList next;
    for (const ReplicaFacts& r : facts.replicas) {
      if (!r.leads && r.online && r.in_sync) {
        next << QStringLiteral("n%1").arg(r.node);
      }
    }
    s.prose =
        (!facts.controlled
             ? Words::tr("Its leader, <b>node %1</b>, has ended, and no controller has a majority "
                         "behind it. Nobody writes or reads here until "
                         "the controllers have elected one, and it names another leader.")
             : Words::tr("Its leader, <b>node %1</b>, has ended. Nobody writes or reads here until "
                         "the controller misses its heartbeats "
                         "(broker.session.timeout.ms) and another replica that is in sync leads."))
            .arg(p.leader.value());
    s.formula = {
        Words::tr("next leader = first in sync of { %1 }").arg(next.join(QStringLiteral(", ")))};
    return s;
  }
  s.formula = high_watermark_formula(p, facts);
  const ReplicaFacts* leaving = nullptr;
  for (const ReplicaFacts& r : facts.replicas) {
    if (r.leaves_ms >= 0 && (leaving == nullptr || r.leaves_ms < leaving->leaves_ms)) {
      leaving = &r;
    }
  }
  const QStringList holders = names(facts, &ReplicaFacts::holds);
  const ReplicaFacts* leader = leader_of(facts);
  QStringList ended;
  for (const ReplicaFacts& r : facts.replicas) {
    if (r.in_sync && !r.leads && !r.online) {
      ended << node(r.node);
    }
  }
  if (facts.frozen()) {
    s.prose = Words::tr("Only <b>%1 of %2</b> replicas that are needed are in sync: acks=all is refused, and the high watermark stands still.")
                  .arg(facts.in_sync)
                  .arg(facts.min_in_sync);
  } else if (facts.leader_paused) {
    s.prose = Words::tr("Its leader, <b>node %1</b>, is paused. Nobody writes or reads here until it goes on, or the controller misses its heartbeats "
                        "(broker.session.timeout.ms) and another replica that is in sync leads.")
                  .arg(p.leader.value());
  } else if (facts.leader_silent && leader != nullptr) {
    s.prose = Words::tr("<b>Node %1</b> leads, and answers none of its followers. Nothing more is committed here until it answers again, or the controller "
                        "misses its heartbeats (broker.session.timeout.ms) and another replica that is in sync leads.")
                  .arg(leader->node);
  } else if (!ended.isEmpty()) {
    s.prose = facts.controlled
                  ? Words::tr("Ended, and still in the in-sync set: <b>%1</b>. The high watermark waits until the controller misses the heartbeats "
                              "(broker.session.timeout.ms) and changes the set.")
                        .arg(ended.join(QStringLiteral(", ")))
                  : Words::tr(
                        "Ended, and still in the in-sync set: <b>%1</b>. No controller has a "
                        "majority to change the set, so the high watermark waits.")
                        .arg(ended.join(QStringLiteral(", ")));
  } else if (leaving != nullptr && leaving->silenced) {
    s.prose = Words::tr("<b>Node %1</b> is in the in-sync set and answers nobody: it is %2.").arg(leaving->node).arg(leaving->note);
    s.note = leaving->holds ? Words::tr("Then the high watermark moves on without it. Nothing committed is lost.") : QString();
  } else if (leaving != nullptr) {
    s.prose = Words::tr("<b>Node %1</b> is in the in-sync set but fell behind %2 s ago. It leaves in <b>%3 s</b> unless it catches up.")
                  .arg(leaving->node)
                  .arg(seconds_of(leaving->caught_up_ms), seconds_of(leaving->leaves_ms));
    s.note = leaving->holds ? Words::tr("Then the high watermark moves on without it. Nothing committed is lost.") : QString();
  } else if (!holders.isEmpty()) {
    s.prose = Words::tr("The high watermark waits for <b>%1</b>: in sync, and a moment behind.").arg(holders.join(QStringLiteral(", ")));
  } else if (facts.in_sync < static_cast<std::int32_t>(p.replicas.size())) {
    QStringList out;
    for (const ReplicaFacts& r : facts.replicas) {
      if (!r.in_sync) {
        out << Words::tr("node %1 (%2)").arg(r.node).arg(r.note);
      }
    }
    s.prose = (out.size() == 1 ? Words::tr("Not in sync: <b>%1</b>. Records are committed without it; it may not lead until it has caught up.")
                               : Words::tr("Not in sync: <b>%1</b>. Records are committed without them; they may not lead until they have caught up."))
                  .arg(out.join(QStringLiteral(", ")));
  } else {
    s.prose = Words::tr("Every record of this partition is on all replicas of the in-sync set. <b>Node %1</b> leads: producers write to it, "
                        "the others copy from it.")
                  .arg(leader == nullptr ? p.leader.value() : leader->node);
  }
  return s;
}

FactSection replicas_section(const PartitionFacts& facts) {
  FactSection s;
  s.label = Words::tr("Replicas");
  if (facts.replicas.size() < 2) {
    return s;
  }
  for (const ReplicaFacts& r : facts.replicas) {
    Fact f;
    f.key = node(r.node);
    f.value = r.leads && !r.fails ? (r.silenced ? Words::tr("%1 · leader, %2").arg(offset(r.log_end), r.note) : Words::tr("%1 · leader").arg(offset(r.log_end)))
                      : QStringLiteral("%1 · %2").arg(r.behind > 0 ? QStringLiteral("%1 -%2").arg(offset(r.log_end)).arg(r.behind) : offset(r.log_end), r.note);
    f.glyph = r.leads && !r.fails && !r.silenced ? Glyph::crown : (r.fails ? Glyph::cross : (r.warns ? Glyph::quarter : Glyph::disc));
    f.tone = r.fails ? Fact::Tone::err : (r.warns ? Fact::Tone::warn : Fact::Tone::text);
    f.link = Selection::ofNode(r.node);
    f.words = true;
    s.facts.push_back(std::move(f));
  }
  return s;
}

std::vector<FactSection> explain_replication(const PartitionView& p, const PartitionFacts& facts) {
  std::vector<FactSection> out{high_watermark(p, facts)};
  if (p.replicas.size() > 1) {
    out.push_back(in_sync_set(p, facts));
    out.push_back(leadership(p, facts));
  }
  out.push_back(log_end(facts));
  return out;
}

// --- nodes

namespace {

FactSection broker_section(const observe::NodeView& node) {
  FactSection s;
  s.label = Words::tr("In the eyes of the controller");
  Fact f;
  f.key = Words::tr("Broker");
  f.words = true;
  f.explained = true;
  if (node.fenced) {
    f.value = Words::tr("fenced");
    f.glyph = Glyph::quarter;
    f.tone = Fact::Tone::warn;
  } else if (node.in_controlled_shutdown) {
    f.value = Words::tr("in controlled shutdown");
    f.glyph = Glyph::ring;
  } else {
    f.value = Words::tr("alive");
    f.glyph = Glyph::disc;
  }
  s.facts.push_back(f);
  Fact since;
  since.key = Words::tr("Since");
  since.value = format_time(node.registration_since.ms);
  s.facts.push_back(since);
  if (!node.rack.empty()) {
    Fact rack;
    rack.key = Words::tr("Rack");
    rack.value = QString::fromStdString(node.rack);
    s.facts.push_back(rack);
  }
  return s;
}

FactSection explain_fencing(const observe::NodeView& node) {
  FactSection s;
  s.label = Words::tr("Fenced");
  s.prose = node.fenced ? Words::tr("The controller has not heard this broker's heartbeat for <b>broker.session.timeout.ms</b>, or it has only just "
                                    "come. It leads nothing, and clients are not told of it.")
                        : Words::tr("The controller hears this broker's heartbeats. Without one for <b>broker.session.timeout.ms</b> it is fenced: "
                                    "what it leads moves to replicas that are in sync.");
  return s;
}

FactSection quorum_section(const QuorumFacts& quorum, const QuorumReplica& replica) {
  FactSection s;
  s.label = Words::tr("Metadata quorum");
  Fact role;
  role.key = Words::tr("Role");
  role.value = replica.role;
  role.words = true;
  role.glyph = replica.glyph;
  s.facts.push_back(role);
  const auto add = [&s](const QString& key, const QString& value, bool explained) {
    Fact f;
    f.key = key;
    f.value = value;
    f.explained = explained;
    s.facts.push_back(f);
  };
  add(Words::tr("Epoch"), QString::number(quorum.epoch), true);
  add(Words::tr("Log end (LEO)"), offset(replica.log_end), true);
  add(Words::tr("High watermark"), offset(replica.high_watermark), true);
  add(Words::tr("Behind"), offset(replica.behind), false);
  if (replica.snapshot_end > 0) {
    add(Words::tr("Snapshot"), Words::tr("below %1, %2").arg(replica.snapshot_end).arg(format_bytes(replica.snapshot_bytes)), false);
  }
  FactAction show;
  show.text = Words::tr("Show the quorum");
  show.command = QStringLiteral("page.quorum");
  s.actions.push_back(show);
  return s;
}

FactSection explain_metadata_watermark(const QuorumFacts& quorum) {
  FactSection s;
  s.label = Words::tr("High watermark of the metadata");
  s.prose = Words::tr("What a <b>majority</b> of the voters has on disk is committed: a new controller will have it.");
  std::vector<std::pair<std::int64_t, std::int32_t>> ends;
  for (const QuorumReplica& voter : quorum.voters) {
    ends.emplace_back(voter.log_end, voter.id);
  }
  std::sort(ends.rbegin(), ends.rend());
  QStringList inputs;
  for (const auto& [end, id] : ends) {
    inputs << QStringLiteral("n%1 %2").arg(id).arg(offset(end));
  }
  s.formula = {Words::tr("HW %1 = LEO no. %2 of %3").arg(offset(quorum.high_watermark)).arg(quorum.majority).arg(ends.size()),
               QStringLiteral("{ %1 }").arg(inputs.join(QStringLiteral(", ")))};
  return s;
}

FactSection explain_role(const QuorumReplica& replica, const observe::QuorumReplicaView& known) {
  FactSection s;
  s.label = Words::tr("Role in the quorum");
  const QString why = quorum_cause_text(known.cause);
  s.prose = replica.leads ? Words::tr("It is the <b>active controller</b>: it decides who leads partitions and writes it to the metadata log.")
            : replica.voter ? Words::tr("A <b>voter</b>: it follows the active controller and elects another one when it hears nothing.")
                            : Words::tr("An <b>observer</b>: it copies the metadata log and has no vote.");
  s.note = why.isEmpty() ? QString() : Words::tr("Since %1, because %2.").arg(format_time(known.since.ms), why);
  return s;
}

}  // namespace

NodeStanding node_standing(const observe::ClusterView& view, const observe::NodeView& node, std::int64_t now_ms,
                           std::int64_t fetch_timeout_ms) {
  NodeStanding out;
  if (node.broker && node.registered) {
    out.overview.push_back(broker_section(node));
    out.explain.push_back(explain_fencing(node));
  }
  const QuorumFacts quorum = quorum_facts(view, {}, now_ms, fetch_timeout_ms);
  if (const QuorumReplica* replica = quorum.find(node.id.value()); replica != nullptr) {
    out.overview.push_back(quorum_section(quorum, *replica));
    out.explain.push_back(explain_metadata_watermark(quorum));
    const auto known = view.quorum->replicas.find(node.id);
    if (known != view.quorum->replicas.end()) {
      out.explain.push_back(explain_role(*replica, known->second));
    }
  }
  return out;
}

}  // namespace hw::ui
