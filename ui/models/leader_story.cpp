// SPDX-License-Identifier: Apache-2.0
#include "ui/models/leader_story.h"

#include <QCoreApplication>
#include <algorithm>

#include "ui/models/quorum_facts.h"
#include "ui/models/replica_facts.h"

namespace hw::ui {

namespace {

struct Story {
  Q_DECLARE_TR_FUNCTIONS(LeaderStory)
};

QString text(const std::string& s) { return QString::fromStdString(s); }

// Leaders that moved the same way at the same time are one sentence.
struct Move {
  BrokerId from = kNoBroker;
  BrokerId to = kNoBroker;
  QString first;  // address of the first partition
  int partitions = 0;
  std::int64_t took_ms = -1;  // of the slowest
  std::int64_t lost = 0;      // -1: not known
  bool unclean = false;
};

bool contains(const std::vector<BrokerId>& all, BrokerId one) { return std::find(all.begin(), all.end(), one) != all.end(); }

// True while it is so of every one of these partitions: a count in a sentence is of all of them.
std::function<bool(const observe::ClusterView&)> still(std::vector<std::pair<std::string, std::size_t>> partitions,
                                                       bool (*so)(const observe::TopicView&, const observe::PartitionView&)) {
  return [partitions = std::move(partitions), so](const observe::ClusterView& view) {
    return std::all_of(partitions.begin(), partitions.end(), [&](const auto& each) {
      const observe::TopicView* topic = view.find_topic(each.first);
      return topic != nullptr && each.second < topic->partitions.size() && topic->partitions[each.second] && so(*topic, *topic->partitions[each.second]);
    });
  };
}

QString sentence_of(const Move& move) {
  QString out = move.partitions == 1 ? Story::tr("Leader of %1 moved %2 → %3").arg(move.first)
                                     : Story::tr("Leaders of %Ln partitions moved %2 → %3", nullptr, move.partitions);
  out = out.arg(move.from.value()).arg(move.to.value());
  if (move.took_ms >= 0) {
    out += Story::tr(" in %1 ms").arg(move.took_ms);
  }
  if (move.unclean) {
    out += move.lost > 0 ? Story::tr("; %1 was not in sync: %2 acknowledged records lost").arg(move.to.value()).arg(move.lost)
                         : Story::tr("; %1 was not in sync").arg(move.to.value());
  } else if (move.lost >= 0) {
    out += move.lost == 1 ? Story::tr("; 1 acknowledged record lost") : Story::tr("; %1 acknowledged records lost").arg(move.lost);
  }
  return out + QLatin1Char('.');
}

}  // namespace

QStringList LeaderStory::take(const observe::ViewPtr& view) {
  const observe::ViewPtr before = std::exchange(seen_, view);
  QStringList told;
  over_.clear();
  if (before == nullptr) {
    controller_ = view->quorum->leader;
    return told;
  }
  if (before->quorum != view->quorum || before->nodes != view->nodes) {
    tellQuorum(*before, *view, told);
    tellBrokers(*before, *view, told);
  }
  if (before->topics != view->topics) {
    tellPartitions(*before, *view, told);
  }
  if (before != view) {
    std::erase_if(standing_, [&](const Standing& each) {
      if (each.holds(*view)) {
        return false;
      }
      over_ << each.sentence;
      return true;
    });
  }
  if (told.size() > kTold) {
    const int more = static_cast<int>(told.size()) - kTold;
    told = told.mid(0, kTold);
    told << Story::tr("And %Ln more change(s).", nullptr, more);
  }
  return told;
}

// When the node of a leader ended; 0: it runs, or nothing is known of it.
WallTime LeaderStory::endedAt(const observe::ClusterView& view, BrokerId node) {
  const auto at = view.nodes.find(node);
  const bool ended = at != view.nodes.end() && (at->second->state == observe::NodeView::State::killed ||
                                                at->second->state == observe::NodeView::State::stopped);
  return ended ? at->second->since : WallTime{};
}

void LeaderStory::tellQuorum(const observe::ClusterView& before, const observe::ClusterView& view, QStringList& told) {
  const observe::QuorumView& was = *before.quorum;
  const observe::QuorumView& is = *view.quorum;
  const WallTime now = is.history.empty() ? WallTime{} : is.history.back().at;
  if (was.leader != kNoBroker && is.leader != was.leader) {
    const WallTime ended = endedAt(view, was.leader);
    controller_gone_ = ended.ms != 0 ? ended : now;
  }
  if (is.leader != kNoBroker && is.leader != was.leader) {
    if (controller_ != kNoBroker && controller_ != is.leader) {
      const std::int64_t took = controller_gone_.ms == 0 ? -1 : std::max<std::int64_t>(0, now.ms - controller_gone_.ms);
      told << (took > 0 ? Story::tr("The active controller moved %1 → %2 in %3 ms (epoch %4); changes of the metadata waited so long.")
                               .arg(controller_.value())
                               .arg(is.leader.value())
                               .arg(took)
                               .arg(is.epoch)
                         : Story::tr("The active controller moved %1 → %2 (epoch %3).").arg(controller_.value()).arg(is.leader.value()).arg(is.epoch));
    } else if (controller_ == is.leader && was.leader == kNoBroker && is.epoch > was.epoch) {
      told << Story::tr("Controller %1 leads again, epoch %2.").arg(is.leader.value()).arg(is.epoch);
    }
    controller_ = is.leader;
    controller_gone_ = {};
  }
  if (is.voters.size() > 1) {
    const RunningVoters voters = running_voters(view);
    if (voters.majority() != majority_) {
      majority_ = voters.majority();
      told << (majority_ ? Story::tr("The controllers have a majority again: the metadata can change.")
                         : Story::tr("Only %1 of %2 controllers run: no majority. Leaders, in-sync sets and topics cannot change.")
                               .arg(voters.running)
                               .arg(voters.voters));
      over_ << std::exchange(majority_told_, told.back());
    }
  }
}

void LeaderStory::tellBrokers(const observe::ClusterView& before, const observe::ClusterView& view, QStringList& told) {
  const auto stands = [&](BrokerId id, bool (*so)(const observe::NodeView&)) {
    standing_.push_back({told.back(), [id, so](const observe::ClusterView& now) {
                           const auto at = now.nodes.find(id);
                           return at != now.nodes.end() && so(*at->second);
                         }});
  };
  for (const auto& [id, node] : view.nodes) {
    const auto known = before.nodes.find(id);
    if (known == before.nodes.end() || known->second == node || !node->registered || !known->second->registered) {
      continue;
    }
    const observe::NodeView& was = *known->second;
    if (node->fenced && !was.fenced) {
      const WallTime ended = endedAt(view, id);
      const std::int64_t after = ended.ms == 0 ? -1 : node->registration_since.ms - ended.ms;
      if (node->in_controlled_shutdown) {
        continue;  // it said so before
      }
      told << (after > 0 ? Story::tr("Node %1 is fenced: no heartbeat, %2 ms after it ended.").arg(id.value()).arg(after)
                         : Story::tr("Node %1 is fenced: the controller has not heard from it, so it leads nothing.").arg(id.value()));
      stands(id, [](const observe::NodeView& broker) { return broker.fenced; });
    } else if (!node->fenced && was.fenced) {
      told << Story::tr("Node %1 is not fenced any more: it may lead when it is in sync.").arg(id.value());
      stands(id, [](const observe::NodeView& broker) {
        return !broker.fenced && broker.state != observe::NodeView::State::killed && broker.state != observe::NodeView::State::stopped;
      });
    } else if (node->in_controlled_shutdown && !was.in_controlled_shutdown) {
      told << Story::tr("Node %1 shuts down under control: what it leads moves first.").arg(id.value());
      stands(id, [](const observe::NodeView& broker) { return broker.in_controlled_shutdown; });
    }
  }
}

void LeaderStory::tellPartitions(const observe::ClusterView& before, const observe::ClusterView& view, QStringList& told) {
  std::vector<Move> moves;
  std::map<std::pair<BrokerId, bool>, int> in_sync;  // node and whether it came or went: partitions
  int leaderless = 0;
  std::vector<std::pair<std::string, std::size_t>> lost_leaders;
  std::vector<std::pair<std::string, std::size_t>> below;
  int below_minimum = 0;  // that were not before
  QString below_first;
  QString leaderless_first;
  for (const auto& [name, topic] : *view.topics) {
    const auto known = before.topics->find(name);
    if (known == before.topics->end() || known->second == topic || known->second->id != topic->id) {
      continue;
    }
    const std::size_t partitions = std::min(known->second->partitions.size(), topic->partitions.size());
    for (std::size_t i = 0; i < partitions; ++i) {
      const auto& was = known->second->partitions[i];
      const auto& is = topic->partitions[i];
      if (was == is || !was || !is || was->partition_epoch < 0) {
        continue;
      }
      const auto key = std::make_pair(name, static_cast<std::int32_t>(i));
      if (const observe::ReplicaView* led = was->replica(was->leader); led != nullptr && led->counters) {
        gone_[key] = led->counters;
      }
      if (was->partition_epoch == is->partition_epoch) {
        continue;
      }
      const auto last = gone_.find(key);
      const std::int64_t high_watermark = last == gone_.end() ? -1 : last->second->high_watermark.get();
      const QString address = QStringLiteral("%1/%2").arg(text(name)).arg(i);
      for (const observe::ReplicaView& replica : is->replicas) {
        const bool then = contains(was->isr, replica.node);
        const bool now = contains(is->isr, replica.node);
        if (then != now) {
          ++in_sync[{replica.node, now}];
        }
      }
      const auto minimum = static_cast<std::size_t>(std::max(1, min_in_sync(topic.get(), *is)));
      if (is->isr.size() < minimum && was->isr.size() >= minimum && is->leader != kNoBroker) {
        below_first = below_minimum++ == 0 ? address : below_first;
        below.emplace_back(name, i);
      }
      if (was->leader == is->leader) {
        continue;
      }
      if (is->leader == kNoBroker) {
        orphans_[key] = {was->leader, is->changed_at, high_watermark, was->isr};
        leaderless_first = leaderless++ == 0 ? address : leaderless_first;
        lost_leaders.emplace_back(name, i);
        continue;
      }
      Orphan old{was->leader, is->changed_at, high_watermark, was->isr};
      bool timed = false;
      if (const auto orphan = orphans_.find(key); orphan != orphans_.end()) {
        old = std::move(orphan->second);
        orphans_.erase(orphan);
        timed = true;
      }
      if (old.last == is->leader || old.last == kNoBroker) {
        continue;  // it has come back
      }
      if (const WallTime ended = endedAt(view, old.last); ended.ms != 0) {
        old.since = std::min(old.since, ended);
        timed = true;
      }
      Move move;
      move.from = old.last;
      move.to = is->leader;
      move.first = address;
      move.partitions = 1;
      move.took_ms = timed ? std::max<std::int64_t>(0, is->changed_at.ms - old.since.ms) : -1;
      move.unclean = !contains(old.isr, is->leader);
      const observe::ReplicaView* leader = is->replica(is->leader);
      const bool can_tell = old.high_watermark >= 0 && leader != nullptr && leader->counters;
      move.lost = can_tell ? std::max<std::int64_t>(0, old.high_watermark - leader->counters->log_end_offset.get()) : -1;
      const auto same = std::find_if(moves.begin(), moves.end(), [&](const Move& m) {
        return m.from == move.from && m.to == move.to && m.unclean == move.unclean;
      });
      if (same == moves.end()) {
        moves.push_back(std::move(move));
      } else {
        ++same->partitions;
        same->took_ms = std::max(same->took_ms, move.took_ms);
        same->lost = same->lost < 0 || move.lost < 0 ? -1 : same->lost + move.lost;
      }
    }
  }
  std::erase_if(gone_, [&](const auto& each) { return view.find_topic(each.first.first) == nullptr; });
  std::erase_if(orphans_, [&](const auto& each) { return view.find_topic(each.first.first) == nullptr; });
  for (const Move& move : moves) {
    told << sentence_of(move);
    lost_ = lost_ < 0 || move.lost < 0 ? -1 : lost_ + move.lost;
  }
  if (leaderless > 0) {
    told << (leaderless == 1 ? Story::tr("%1 has no leader.").arg(leaderless_first)
                             : Story::tr("%Ln partitions have no leader.", nullptr, leaderless));
    standing_.push_back({told.back(), still(std::move(lost_leaders), [](const observe::TopicView&, const observe::PartitionView& p) {
                           return p.leader == kNoBroker;
                         })});
  }
  for (const auto& [what, partitions] : in_sync) {
    const int node = what.first.value();
    const bool moved = std::any_of(moves.begin(), moves.end(), [&](const Move& m) { return !what.second && m.from == what.first; });
    if (!moved) {
      told << (what.second ? Story::tr("Node %1 is in sync again in %Ln partition(s).", nullptr, partitions).arg(node)
                           : Story::tr("Node %1 left the in-sync replicas of %Ln partition(s).", nullptr, partitions).arg(node));
    }
  }
  if (below_minimum > 0) {
    told << (below_minimum == 1 ? Story::tr("%1 has fewer in-sync replicas than min.insync.replicas: acks=all is refused there.").arg(below_first)
                                : Story::tr("%Ln partitions have fewer in-sync replicas than min.insync.replicas: acks=all is refused there.", nullptr,
                                            below_minimum));
    standing_.push_back({told.back(), still(std::move(below), [](const observe::TopicView& topic, const observe::PartitionView& p) {
                           return static_cast<std::int32_t>(p.isr.size()) < min_in_sync(&topic, p);
                         })});
  }
}

}  // namespace hw::ui
