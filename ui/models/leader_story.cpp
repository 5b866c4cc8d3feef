// SPDX-License-Identifier: Apache-2.0
#include "ui/models/leader_story.h"

#include <QCoreApplication>
#include <algorithm>

#include "ui/models/quorum_facts.h"
#include "ui/models/replica_facts.h"
#include "ui/painting/text.h"

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
  int internal = 0;           // of them
  std::int64_t took_ms = -1;  // of the slowest
  std::int64_t lost = 0;      // -1: not known
  bool unclean = false;
  bool elected = false;  // a controller, after the old leader's end and before the new one
};

bool contains(const std::vector<BrokerId>& all, BrokerId one) { return std::find(all.begin(), all.end(), one) != all.end(); }

// Partitions that one sentence is about, by topic.
using Concerned = std::map<std::string, std::vector<std::size_t>>;

// True while it is so of every one of these partitions: a count in a sentence is of all of them. A topic that is the same object as when
// it was last looked at is not looked at again.
std::function<bool(const observe::ClusterView&)> still(const Concerned& partitions, bool (*so)(const observe::TopicView&, const observe::PartitionView&),
                                                       std::shared_ptr<std::uint64_t> looked) {
  struct Some {
    std::string topic;
    std::vector<std::size_t> partitions;
    std::shared_ptr<const observe::TopicView> seen;
  };
  std::vector<Some> all;
  for (const auto& [topic, some] : partitions) {
    all.push_back({topic, some, nullptr});
  }
  return [all = std::move(all), so, looked = std::move(looked)](const observe::ClusterView& view) mutable {
    return std::all_of(all.begin(), all.end(), [&](Some& each) {
      const auto topic = view.topics->find(each.topic);
      if (topic == view.topics->end()) {
        return false;
      }
      const observe::TopicView& now = *topic->second;
      if (each.seen == topic->second) {
        return true;
      }
      each.seen = topic->second;
      return std::all_of(each.partitions.begin(), each.partitions.end(), [&](std::size_t i) {
        ++*looked;
        return i < now.partitions.size() && now.partitions[i] && so(now, *now.partitions[i]);
      });
    });
  };
}

// Who led between two views that lie apart, where neither of them shows it: the last of them. kNoBroker: nobody did.
BrokerId led_between(const observe::PartitionView& was, const observe::PartitionView& is) {
  BrokerId last = kNoBroker;
  for (const observe::EpochView& epoch : is.epochs) {
    if (epoch.epoch > was.leader_epoch && epoch.epoch < is.leader_epoch && epoch.leader != is.leader) {
      last = epoch.leader;
    }
  }
  return last;
}

bool ended(const observe::NodeView& node) { return node.state == observe::NodeView::State::killed || node.state == observe::NodeView::State::stopped; }

bool runs(const observe::ClusterView& view, BrokerId id) {
  const auto at = view.nodes.find(id);
  return at != view.nodes.end() && !ended(*at->second) && !(at->second->registered && at->second->fenced);
}

// When leaders of the quorum were elected, as far as its events are remembered.
std::vector<WallTime> elections_of(const observe::QuorumView& quorum) {
  std::vector<WallTime> out;
  for (const observe::QuorumView::Step& step : quorum.history) {
    const auto* role = std::get_if<event::QuorumRoleChanged>(step.what.get());
    if (role != nullptr && role->role == event::QuorumRole::leader) {
      out.push_back(step.at);
    }
  }
  return out;
}

// Other lists leave these out, and their counts are smaller.
QString of_internal(int partitions) {
  return partitions == 0 ? QString() : Story::tr(" (%1 internal)").arg(format_count(partitions));
}

QString sentence_of(const Move& move) {
  QString out = move.partitions == 1 ? Story::tr("Leader of %1 moved %2 → %3").arg(move.first)
                                     : Story::tr("Leaders of %Ln partitions%4 moved %2 → %3", nullptr, move.partitions);
  out = out.arg(move.from.value()).arg(move.to.value());
  out = move.partitions == 1 ? out : out.arg(of_internal(move.internal));
  if (move.took_ms >= 0) {
    out += move.elected ? Story::tr(" in %1, a controller had to be elected first").arg(format_duration(move.took_ms))
                        : Story::tr(" in %1").arg(format_duration(move.took_ms));
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

int LeaderStory::internal_of(const std::vector<Place>& places) {
  return static_cast<int>(std::count_if(places.begin(), places.end(), [](const Place& place) { return place.internal; }));
}

QStringList LeaderStory::take(const observe::ViewPtr& view) {
  const observe::ViewPtr before = std::exchange(seen_, view);
  QStringList told;
  over_.clear();
  at_ = {};
  if (before == nullptr) {
    controller_ = view->quorum->leader;
    return told;
  }
  if (before->nodes != view->nodes) {
    std::erase_if(back_, [&](const auto& each) { return !runs(*view, each.first); });
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
    for (const QString& sentence : over_) {
      told.removeAll(sentence);
    }
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
  return at != view.nodes.end() && ended(*at->second) ? at->second->since : WallTime{};
}

void LeaderStory::tellQuorum(const observe::ClusterView& before, const observe::ClusterView& view, QStringList& told) {
  const observe::QuorumView& was = *before.quorum;
  const observe::QuorumView& is = *view.quorum;
  const WallTime now = is.history.empty() ? WallTime{} : is.history.back().at;
  if (is.leader != was.leader) {
    at_ = std::max(at_, now);
  }
  if (was.leader != kNoBroker && is.leader != was.leader) {
    const WallTime gone = endedAt(view, was.leader);
    controller_gone_ = gone.ms != 0 ? gone : now;
  }
  if (is.leader != kNoBroker && is.leader != was.leader) {
    if (controller_ != kNoBroker && controller_ != is.leader) {
      const std::int64_t took = controller_gone_.ms == 0 ? -1 : std::max<std::int64_t>(0, now.ms - controller_gone_.ms);
      told << (took > 0 ? Story::tr("The active controller moved %1 → %2 in %3 (epoch %4); changes of the metadata waited so long.")
                               .arg(controller_.value())
                               .arg(is.leader.value())
                               .arg(format_duration(took))
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
                         : Story::tr("No majority of controllers: %1 of %2 up. Leaders, in-sync sets and topics cannot change.")
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
    if (node->fenced != was.fenced || node->in_controlled_shutdown != was.in_controlled_shutdown) {
      at_ = std::max(at_, node->registration_since);
    }
    if (node->fenced && !was.fenced) {
      const WallTime gone = endedAt(view, id);
      const std::int64_t after = gone.ms == 0 ? -1 : node->registration_since.ms - gone.ms;
      if (node->in_controlled_shutdown) {
        continue;  // it said so before
      }
      told << (after > 0 ? Story::tr("Node %1 is fenced %2 after it ended: no heartbeat within broker.session.timeout.ms.").arg(id.value()).arg(format_duration(after))
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
  const std::vector<WallTime> elections = elections_of(*view.quorum);
  std::vector<Move> moves;
  std::map<BrokerId, Change> in_sync;
  int leaderless = 0;
  int leaderless_internal = 0;
  Concerned lost_leaders;
  Concerned below;
  int below_minimum = 0;  // that were not before
  QString below_first;
  QString leaderless_first;
  std::size_t stayed = 0;  // topics
  for (const auto& [name, topic] : *view.topics) {
    const auto known = before.topics->find(name);
    if (known == before.topics->end() || known->second->id != topic->id) {
      continue;
    }
    ++stayed;
    if (known->second == topic) {
      continue;
    }
    const std::size_t partitions = std::min(known->second->partitions.size(), topic->partitions.size());
    Topic& memory = topics_[name];
    memory.id = topic->id;
    memory.gone.resize(topic->partitions.size());
    const auto address = [&name = name](std::size_t i) { return QStringLiteral("%1/%2").arg(text(name)).arg(i); };
    for (std::size_t i = 0; i < partitions; ++i) {
      const auto& was = known->second->partitions[i];
      const auto& is = topic->partitions[i];
      if (was == is || !was || !is || was->partition_epoch < 0) {
        continue;
      }
      if (const observe::ReplicaView* led = was->replica(was->leader); led != nullptr && led->counters) {
        memory.gone[i] = led->counters;
      }
      if (was->partition_epoch == is->partition_epoch) {
        continue;
      }
      at_ = std::max(at_, is->changed_at);
      const std::int64_t high_watermark = memory.gone[i] == nullptr ? -1 : memory.gone[i]->high_watermark.get();
      for (const observe::ReplicaView& replica : is->replicas) {
        const bool then = contains(was->isr, replica.node);
        const bool now = contains(is->isr, replica.node);
        const auto orphan = memory.orphans.find(i);
        if (now && !then && is->leader == replica.node && orphan != memory.orphans.end() && orphan->second.last == replica.node) {
          in_sync[replica.node].waited.push_back({topic->id, i, topic->internal});  // nobody else could lead, and its set was empty meanwhile
        } else if (then != now) {
          (now ? in_sync[replica.node].came : in_sync[replica.node].went).push_back({topic->id, i, topic->internal});
        }
      }
      const auto minimum = static_cast<std::size_t>(std::max(1, min_in_sync(topic.get(), *is)));
      if (is->isr.size() < minimum && was->isr.size() >= minimum && is->leader != kNoBroker) {
        below_first = below_minimum++ == 0 ? address(i) : below_first;
        below[name].push_back(i);
      }
      if (was->leader == is->leader) {
        continue;
      }
      if (is->leader == kNoBroker) {
        memory.orphans[i] = {was->leader, is->changed_at, high_watermark, was->isr};
        leaderless_first = leaderless++ == 0 ? address(i) : leaderless_first;
        leaderless_internal += topic->internal ? 1 : 0;
        lost_leaders[name].push_back(i);
        continue;
      }
      Orphan old{was->leader, is->changed_at, high_watermark, was->isr};
      bool timed = false;
      if (const auto orphan = memory.orphans.find(i); orphan != memory.orphans.end()) {
        old = std::move(orphan->second);
        memory.orphans.erase(orphan);
        timed = true;
      }
      if (const BrokerId between = led_between(*was, *is); between != kNoBroker && between != old.last) {
        // How far that one was nobody has seen.
        old = {between, is->changed_at, -1, {is->leader}};
        timed = false;
      }
      if (old.last == is->leader || old.last == kNoBroker) {
        continue;  // it has come back
      }
      if (const WallTime gone = endedAt(view, old.last); gone.ms != 0) {
        old.since = std::min(old.since, gone);
        timed = true;
      }
      Move move;
      move.from = old.last;
      move.to = is->leader;
      move.partitions = 1;
      move.took_ms = timed ? std::max<std::int64_t>(0, is->changed_at.ms - old.since.ms) : -1;
      move.unclean = !contains(old.isr, is->leader);
      move.internal = topic->internal ? 1 : 0;
      move.elected =
          timed && std::any_of(elections.begin(), elections.end(), [&](WallTime at) { return at.ms >= old.since.ms && at.ms <= is->changed_at.ms; });
      const observe::ReplicaView* leader = is->replica(is->leader);
      const bool can_tell = old.high_watermark >= 0 && leader != nullptr && leader->counters;
      move.lost = can_tell ? std::max<std::int64_t>(0, old.high_watermark - leader->counters->log_end_offset.get()) : -1;
      const auto same = std::find_if(moves.begin(), moves.end(), [&](const Move& m) {
        return m.from == move.from && m.to == move.to && m.unclean == move.unclean;
      });
      if (same == moves.end()) {
        move.first = address(i);
        moves.push_back(std::move(move));
      } else {
        ++same->partitions;
        same->internal += move.internal;
        same->took_ms = std::max(same->took_ms, move.took_ms);
        same->elected = same->elected && move.elected;
        same->lost = same->lost < 0 || move.lost < 0 ? -1 : same->lost + move.lost;
      }
    }
  }
  if (stayed < before.topics->size()) {
    std::erase_if(topics_, [&](const auto& each) {
      const auto topic = view.topics->find(each.first);
      return topic == view.topics->end() || topic->second->id != each.second.id;
    });
  }
  for (const Move& move : moves) {
    told << sentence_of(move);
    stands(told.back(), [to = move.to](const observe::ClusterView& now) { return runs(now, to); });
    lost_ = lost_ < 0 || move.lost < 0 ? -1 : lost_ + move.lost;
  }
  if (leaderless > 0) {
    told << (leaderless == 1 ? Story::tr("%1 has no leader.").arg(leaderless_first)
                             : Story::tr("%Ln partitions%1 have no leader.", nullptr, leaderless).arg(of_internal(leaderless_internal)));
    standing_.push_back({told.back(), still(lost_leaders, [](const observe::TopicView&, const observe::PartitionView& p) { return p.leader == kNoBroker; }, looked_)});
  }
  for (const auto& [node, change] : in_sync) {
    const bool moved = std::any_of(moves.begin(), moves.end(), [&, id = node](const Move& m) { return m.from == id; });
    if (!change.went.empty() && !moved) {
      told << Story::tr("Node %1 left the in-sync replicas of %Ln partition(s)%2.", nullptr, static_cast<int>(change.went.size()))
                  .arg(node.value())
                  .arg(of_internal(internal_of(change.went)));
    }
  }
  for (const auto& [node, change] : in_sync) {
    tellBack(node, change, told);
  }
  if (below_minimum > 0) {
    told << (below_minimum == 1 ? Story::tr("%1 has fewer in-sync replicas than min.insync.replicas: acks=all is refused there.").arg(below_first)
                                : Story::tr("%Ln partitions have fewer in-sync replicas than min.insync.replicas: acks=all is refused there.", nullptr,
                                            below_minimum));
    standing_.push_back({told.back(), still(
                                            below,
                                            [](const observe::TopicView& topic, const observe::PartitionView& p) {
                                              return static_cast<std::int32_t>(p.isr.size()) < min_in_sync(&topic, p);
                                            },
                                            looked_)});
  }
}

void LeaderStory::tellBack(BrokerId node, const Change& change, QStringList& told) {
  const bool came = !change.waited.empty() || !change.came.empty();
  if (!came && !back_.contains(node)) {
    return;
  }
  Back& back = back_[node];
  for (const auto& partition : change.went) {
    back.partitions.erase(partition);
  }
  for (const auto& partition : change.waited) {
    back.partitions.insert_or_assign(partition, true);
  }
  for (const auto& partition : change.came) {
    back.partitions.try_emplace(partition, false);
  }
  QString sentence;
  if (came) {
    std::vector<Place> leads;
    std::vector<Place> others;
    for (const auto& [place, waited] : back.partitions) {
      (waited ? leads : others).push_back(place);
    }
    const QString leading =
        Story::tr("leads %Ln partition(s)%1 again that waited for it", nullptr, static_cast<int>(leads.size())).arg(of_internal(internal_of(leads)));
    const QString following =
        Story::tr("is in sync again in %Ln partition(s)%1", nullptr, static_cast<int>(others.size())).arg(of_internal(internal_of(others)));
    sentence = leads.empty()    ? Story::tr("Node %1 %2.").arg(node.value()).arg(following)
               : others.empty() ? Story::tr("Node %1 %2.").arg(node.value()).arg(leading)
                                : Story::tr("Node %1 %2, and %3.").arg(node.value()).arg(leading, following);
  }
  if (sentence == back.sentence) {
    return;  // one that came and went meanwhile; what stands, stands
  }
  if (!back.sentence.isEmpty()) {
    over_ << back.sentence;
    std::erase_if(standing_, [&](const Standing& each) { return each.sentence == back.sentence; });
  }
  back.sentence = sentence;
  if (!sentence.isEmpty()) {
    told << sentence;
    stands(sentence, [node](const observe::ClusterView& now) { return runs(now, node); });
  }
}

}  // namespace hw::ui
