// SPDX-License-Identifier: Apache-2.0
#include "ui/models/leader_story.h"

#include <QCoreApplication>
#include <algorithm>

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
  if (before == nullptr || before->topics == view->topics) {
    return {};
  }
  std::vector<Move> moves;
  std::map<std::pair<BrokerId, bool>, int> in_sync;  // node and whether it came or went: partitions
  int leaderless = 0;
  QString leaderless_first;
  for (const auto& [name, topic] : *view->topics) {
    const auto known = before->topics->find(name);
    if (known == before->topics->end() || known->second == topic || known->second->id != topic->id) {
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
      if (was->leader == is->leader) {
        continue;
      }
      if (is->leader == kNoBroker) {
        orphans_[key] = {was->leader, is->changed_at, high_watermark, was->isr};
        leaderless_first = leaderless++ == 0 ? address : leaderless_first;
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
      if (const auto node = view->nodes.find(old.last); node != view->nodes.end()) {
        const auto state = node->second->state;
        if (state == observe::NodeView::State::killed || state == observe::NodeView::State::stopped) {
          old.since = std::min(old.since, node->second->since);
          timed = true;
        }
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
  std::erase_if(gone_, [&](const auto& each) { return view->find_topic(each.first.first) == nullptr; });
  std::erase_if(orphans_, [&](const auto& each) { return view->find_topic(each.first.first) == nullptr; });
  QStringList told;
  for (const Move& move : moves) {
    told << sentence_of(move);
  }
  if (leaderless > 0) {
    told << (leaderless == 1 ? Story::tr("%1 has no leader.").arg(leaderless_first)
                             : Story::tr("%Ln partitions have no leader.", nullptr, leaderless));
  }
  for (const auto& [what, partitions] : in_sync) {
    const int node = what.first.value();
    const bool moved = std::any_of(moves.begin(), moves.end(), [&](const Move& m) { return !what.second && m.from == what.first; });
    if (!moved) {
      told << (what.second ? Story::tr("Node %1 is in sync again in %Ln partition(s).", nullptr, partitions).arg(node)
                           : Story::tr("Node %1 left the in-sync replicas of %Ln partition(s).", nullptr, partitions).arg(node));
    }
  }
  if (told.size() > kTold) {
    const int more = static_cast<int>(told.size()) - kTold;
    told = told.mid(0, kTold);
    told << Story::tr("And %Ln more change(s).", nullptr, more);
  }
  return told;
}

}  // namespace hw::ui
