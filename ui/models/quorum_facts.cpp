// SPDX-License-Identifier: Apache-2.0
#include "ui/models/quorum_facts.h"

#include <algorithm>

#include <QCoreApplication>

#include "ui/models/fault_facts.h"
#include "ui/models/replica_facts.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(QuorumFacts)
};

using event::QuorumRole;

constexpr std::int64_t kSeenEveryMs = 500;

std::int64_t since(std::int64_t ms) { return ms < 1'000 ? 0 : ms; }

QString role_text(const observe::QuorumReplicaView& replica, bool voter, bool leads) {
  if (leads) {
    return Words::tr("leader");
  }
  if (!voter) {
    return Words::tr("observer");
  }
  switch (replica.role) {
    case QuorumRole::prospective:
      return Words::tr("asks for pre-votes");
    case QuorumRole::candidate:
      return Words::tr("asks for votes");
    case QuorumRole::unattached:
      return Words::tr("looks for a leader");
    case QuorumRole::resigned:
      return Words::tr("gave up the lead");
    case QuorumRole::leader:
    case QuorumRole::follower:
      break;
  }
  return Words::tr("voter");
}

const NodeCondition* condition_of(const std::vector<NodeCondition>& conditions, std::int32_t id) {
  const auto at = std::find_if(conditions.begin(), conditions.end(), [&](const NodeCondition& c) { return c.node == id; });
  return at == conditions.end() ? nullptr : &*at;
}

// Since the leader heard the last fetch of a replica; -1: not known.
std::int64_t fetched_since(const observe::QuorumView& quorum, BrokerId id, std::int64_t now_ms) {
  for (const observe::QuorumView::Tracked& tracked : quorum.tracked) {
    if (tracked.replica == id) {
      const std::int64_t fetched = tracked.counters->fetched_at_ms.get();
      return fetched == 0 ? -1 : since(now_ms - fetched);
    }
  }
  return -1;
}

// It runs, and where somebody leads it fetches. Of another process only its fetches are known.
bool answers(const observe::QuorumView& quorum, BrokerId id, std::int64_t now_ms,
             std::int64_t fetch_timeout_ms) {
  const auto known = quorum.replicas.find(id);
  const std::int64_t fetched = fetched_since(quorum, id, now_ms);
  if (known == quorum.replicas.end()) {
    return fetched >= 0 && fetched < fetch_timeout_ms;
  }
  return known->second.online &&
         (quorum.leader == id || quorum.leader == kNoBroker || fetched < fetch_timeout_ms);
}

QuorumReplica replica_of(const observe::ClusterView& view, std::int32_t id, bool voter,
                         const std::vector<NodeCondition>& conditions, std::int64_t now_ms,
                         std::int64_t fetch_timeout_ms) {
  const observe::QuorumView& quorum = *view.quorum;
  QuorumReplica out;
  out.id = id;
  out.voter = voter;
  out.leads = quorum.leader.value() == id && id >= 0;
  const auto known = quorum.replicas.find(BrokerId(id));
  const auto node = view.nodes.find(BrokerId(id));
  const bool online = known != quorum.replicas.end() && known->second.online;
  if (known != quorum.replicas.end()) {
    const observe::QuorumReplicaView& replica = known->second;
    if (replica.counters) {
      out.log_end = replica.counters->log_end_offset.get();
      out.high_watermark = replica.counters->high_watermark.get();
    }
    if (!replica.snapshots.empty()) {
      out.snapshot_end = replica.snapshots.back().end_offset.value();
      out.snapshot_bytes = replica.snapshots.back().size_bytes;
      out.snapshot_at = replica.snapshots.back().at;
    }
    out.role = role_text(replica, voter, out.leads);
  } else {
    out.role = voter ? Words::tr("voter") : Words::tr("observer");
  }
  for (const observe::QuorumView::Tracked& tracked : quorum.tracked) {
    if (tracked.replica.value() == id) {
      out.directory = QString::fromStdString(tracked.directory.text());
      const std::int64_t caught_up = tracked.counters->caught_up_at_ms.get();
      out.fetched_ms = fetched_since(quorum, tracked.replica, now_ms);
      out.caught_up_ms = caught_up == 0 ? -1 : since(now_ms - caught_up);
      if (out.log_end < 0) {
        out.log_end = tracked.counters->log_end_offset.get();
      }
    }
  }
  for (const auto& one : quorum.voters) {
    if (one.id.value() == id && out.directory.isEmpty()) {
      out.directory = QString::fromStdString(one.directory.text());
    }
  }
  const NodeCondition* condition = condition_of(conditions, id);
  if (!online && known != quorum.replicas.end()) {
    out.role = node == view.nodes.end() ? Words::tr("offline") : ended_text(*node->second);
    out.state = ReplicaState::offline;
    out.glyph = Glyph::cross;
    return out;
  }
  if (condition != nullptr && condition->paused) {
    out.role = Words::tr("paused");
    out.state = ReplicaState::behind;
    out.glyph = Glyph::bolt;
    return out;
  }
  if (condition != nullptr && condition->cut_off) {
    out.role = out.leads ? Words::tr("leader, cut off") : Words::tr("cut off");
    out.state = ReplicaState::behind;
    out.glyph = Glyph::bolt;
    return out;
  }
  out.answers = answers(quorum, BrokerId(id), now_ms, fetch_timeout_ms);
  const bool silent = known != quorum.replicas.end() && !out.answers;
  out.state =
      out.leads ? ReplicaState::leader : (silent ? ReplicaState::behind : ReplicaState::in_sync);
  out.glyph = out.leads ? Glyph::crown : (silent ? Glyph::quarter : Glyph::disc);
  if (known != quorum.replicas.end() && !out.leads && known->second.role != QuorumRole::follower && voter) {
    out.glyph = Glyph::ring;
  }
  return out;
}

QString verdict_of(const QuorumFacts& facts) {
  const int voters = static_cast<int>(facts.voters.size());
  if (voters == 0) {
    return Words::tr("The voters are not known yet.");
  }
  const QString count = Words::tr("%1 of %2").arg(facts.answering).arg(voters);
  if (facts.leader < 0) {
    return facts.lost() ? Words::tr("No controller leads: %1 voters answer and %2 are needed. Records still flow where a leader runs; topics, leaders and "
                                    "in-sync sets cannot change until a majority is back.")
                              .arg(count)
                              .arg(facts.majority)
                        : Words::tr("No controller leads at this moment: %1 voters answer, and they elect one.").arg(count);
  }
  if (facts.lost()) {
    return Words::tr("Controller %1 still leads, but only %2 voters answer: it commits nothing and will give up.").arg(facts.leader).arg(count);
  }
  if (voters == 1) {
    return Words::tr("Controller %1 is the only voter. While it is down nothing of the metadata can change.").arg(facts.leader);
  }
  if (facts.spare() == 0) {
    return Words::tr("Controller %1 leads with the bare majority, %2. One more failure stops every change of the metadata.").arg(facts.leader).arg(count);
  }
  const QString may = facts.spare() == 1 ? Words::tr("One of them may fail, and changes still commit.")
                                         : Words::tr("%1 of them may fail, and changes still commit.").arg(facts.spare());
  return Words::tr("Controller %1 leads; %2 voters answer. %3").arg(facts.leader).arg(count, may);
}

}  // namespace

const QuorumReplica* QuorumFacts::find(std::int32_t id) const {
  for (const std::vector<QuorumReplica>* list : {&voters, &observers}) {
    for (const QuorumReplica& replica : *list) {
      if (replica.id == id) {
        return &replica;
      }
    }
  }
  return nullptr;
}

bool same_standing(const QuorumFacts& a, const QuorumFacts& b) {
  const auto same = [](const QuorumReplica& x, const QuorumReplica& y) {
    return x.id == y.id && x.answers == y.answers && x.state == y.state && x.glyph == y.glyph && x.role == y.role;
  };
  return a.leader == b.leader && a.epoch == b.epoch && a.answering == b.answering && a.verdict == b.verdict &&
         std::equal(a.voters.begin(), a.voters.end(), b.voters.begin(), b.voters.end(), same) &&
         std::equal(a.observers.begin(), a.observers.end(), b.observers.begin(), b.observers.end(), same);
}

QuorumFacts quorum_facts(const observe::ClusterView& view, const std::vector<NodeCondition>& conditions, std::int64_t now_ms,
                         std::int64_t fetch_timeout_ms) {
  const observe::QuorumView& quorum = *view.quorum;
  QuorumFacts out;
  out.leader = quorum.leader == kNoBroker ? -1 : quorum.leader.value();
  out.epoch = quorum.epoch;
  std::vector<std::int32_t> observers;
  const auto votes = [&](BrokerId id) {
    return std::any_of(quorum.voters.begin(), quorum.voters.end(), [&](const auto& voter) { return voter.id == id; });
  };
  for (const auto& voter : quorum.voters) {
    out.voters.push_back(replica_of(view, voter.id.value(), true, conditions, now_ms, fetch_timeout_ms));
  }
  for (const auto& [id, replica] : quorum.replicas) {
    if (!votes(id)) {
      observers.push_back(id.value());
    }
  }
  for (const observe::QuorumView::Tracked& tracked : quorum.tracked) {  // of other processes
    if (!votes(tracked.replica) && !quorum.replicas.contains(tracked.replica)) {
      observers.push_back(tracked.replica.value());
    }
  }
  std::sort(observers.begin(), observers.end());
  for (const std::int32_t id : observers) {
    out.observers.push_back(replica_of(view, id, false, conditions, now_ms, fetch_timeout_ms));
  }
  std::sort(out.voters.begin(), out.voters.end(), [](const QuorumReplica& a, const QuorumReplica& b) { return a.id < b.id; });
  bool start_known = false;
  for (const std::vector<QuorumReplica>* list : {&out.voters, &out.observers}) {
    for (const QuorumReplica& replica : *list) {
      out.log_end = std::max(out.log_end, replica.log_end);
      out.high_watermark = std::max(out.high_watermark, replica.high_watermark);
      const auto known = quorum.replicas.find(BrokerId(replica.id));
      if (known != quorum.replicas.end() && known->second.counters) {
        const std::int64_t start = known->second.counters->log_start_offset.get();
        out.log_start = start_known ? std::min(out.log_start, start) : start;
        start_known = true;
      }
    }
  }
  const QuorumReplica* leader = out.find(out.leader);
  const std::int64_t end = leader != nullptr && leader->log_end >= 0 ? leader->log_end : out.log_end;
  for (std::vector<QuorumReplica>* list : {&out.voters, &out.observers}) {
    for (QuorumReplica& replica : *list) {
      replica.behind = replica.log_end < 0 ? -1 : std::max<std::int64_t>(0, end - replica.log_end);
    }
  }
  out.missed_after_ms = fetch_timeout_ms;
  out.seen_ms = out.leader < 0 ? now_ms / kSeenEveryMs * kSeenEveryMs : -1;
  out.majority = static_cast<int>(out.voters.size() / 2 + 1);
  out.answering = static_cast<int>(std::count_if(out.voters.begin(), out.voters.end(), [](const QuorumReplica& r) { return r.answers; }));
  if (out.voters.empty()) {
    out.majority = 0;
  }
  out.glyph = out.lost() ? Glyph::cross
              : out.leader < 0 || out.answering < static_cast<int>(out.voters.size()) ? Glyph::quarter
                                                                                         : Glyph::disc;
  out.verdict = verdict_of(out);
  return out;
}

RunningVoters running_voters(const observe::ClusterView& view) {
  RunningVoters out;
  for (const auto& voter : view.quorum->voters) {
    const auto known = view.quorum->replicas.find(voter.id);
    const auto node = view.nodes.find(voter.id);
    const bool ended = node != view.nodes.end() && (node->second->state == observe::NodeView::State::killed ||
                                                    node->second->state == observe::NodeView::State::stopped);
    ++out.voters;
    out.running += !ended && (known == view.quorum->replicas.end() || known->second.online) ? 1 : 0;
  }
  return out;
}

bool quorum_commits(const observe::ClusterView& view, std::int64_t now_ms,
                    std::int64_t fetch_timeout_ms) {
  const observe::QuorumView& quorum = *view.quorum;
  const auto answering = std::count_if(
      quorum.voters.begin(), quorum.voters.end(),
      [&](const auto& voter) { return answers(quorum, voter.id, now_ms, fetch_timeout_ms); });
  return quorum.voters.empty() ||
         (quorum.leader != kNoBroker && answering > std::ssize(quorum.voters) / 2);
}

MetadataChanges metadata_changes(const QuorumFacts& facts) {
  return facts.lost() ? MetadataChanges::wait_for_majority : facts.leader < 0 ? MetadataChanges::wait_for_election : MetadataChanges::commit;
}

std::vector<QuorumEffect> quorum_effects(MetadataChanges changed, const DataReach* now) {
  using Works = QuorumEffect::Works;
  const QString none = Words::tr("no controller needed");
  QString change = Words::tr("a majority commits it");
  QString topic = change;
  switch (changed) {
    case MetadataChanges::commit:
      break;
    case MetadataChanges::wait_for_election:
      topic = change = Words::tr("waits for the election");
      break;
    case MetadataChanges::wait_for_majority:
      change = Words::tr("waits for a majority");
      topic = Words::tr("times out");
      break;
    case MetadataChanges::would_wait:
      change = Words::tr("would wait");
      topic = Words::tr("would time out");
      break;
  }
  const Works changes = changed == MetadataChanges::commit ? Works::yes : Works::no;
  QuorumEffect produce{Words::tr("Produce"), none, Works::yes, Trial::produce};
  QuorumEffect consume{Words::tr("Consume"), none, Works::yes, Trial::consume};
  QuorumEffect commit{Words::tr("Commit offsets"), none, Works::yes, Trial::commit};
  if (now != nullptr && now->partitions.whole < now->partitions.all) {
    // Nobody takes a replica that is away out of the in-sync set: what waits for it waits on.
    const DataReach::Count& r = now->partitions;
    const QString all = format_count(r.all);
    produce.works = consume.works = r.served > 0 ? Works::partly : Works::no;
    produce.why = r.served == 0 ? Words::tr("no partition has a leader")
                                : Words::tr("acks=1 in %1 of %2, acks=all in %3").arg(format_count(r.served), all, format_count(r.whole));
    consume.why = r.served == 0 ? produce.why : Words::tr("in %1 of %2, what is new in %3").arg(format_count(r.served), all, format_count(r.whole));
  }
  if (now != nullptr && now->coordinators.whole < now->coordinators.all) {
    const DataReach::Count& r = now->coordinators;
    commit.works = r.whole > 0 ? Works::partly : Works::no;
    commit.why = r.whole > 0    ? Words::tr("with %1 of %2 coordinators").arg(format_count(r.whole), format_count(r.all))
                 : r.served > 0 ? Words::tr("waits for in-sync replicas")
                                : Words::tr("no coordinator runs");
  }
  return {produce,
          consume,
          commit,
          {Words::tr("Create or delete a topic"), topic, changes, Trial::create_topic},
          {Words::tr("Elect a partition leader"), change, changes, Trial::elect_leaders},
          {Words::tr("Change an in-sync set"), change, changes, std::nullopt},
          {Words::tr("Let a broker join"), change, changes, std::nullopt}};
}

}  // namespace hw::ui
