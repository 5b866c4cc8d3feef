// SPDX-License-Identifier: Apache-2.0
#include "ui/models/election_history.h"

#include <algorithm>
#include <map>
#include <set>

#include <QCoreApplication>

namespace hw::ui {

namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(ElectionHistory)
};

using event::QuorumCause;
using event::QuorumRole;

// A leader that ended is only missed after a while.
constexpr std::int64_t kMissedWithinMs = 60'000;
// What somebody becomes later is no part of the election.
constexpr std::int64_t kTailMs = 1'500;

struct Known {
  QuorumRole role = QuorumRole::unattached;
  std::int32_t epoch = 0;
  std::int32_t leader = -1;
  std::int64_t since_ms = 0;
  std::int64_t asks_since_ms = 0;
};

bool starts(QuorumRole role) { return role == QuorumRole::prospective || role == QuorumRole::candidate || role == QuorumRole::resigned; }

QString reason_of(const event::QuorumRoleChanged& e, std::int32_t before, bool first) {
  const int node = e.node.value();
  switch (e.cause) {
    case QuorumCause::no_leader_found:
    case QuorumCause::started:
      if (node == before) {
        return Words::tr("leader %1 came back from a restart").arg(node);
      }
      return first ? Words::tr("the quorum starts") : Words::tr("controller %1 found no leader").arg(node);
    case QuorumCause::leader_silent:
      return before >= 0 ? Words::tr("controller %1 did not hear from leader %2 in time").arg(node).arg(before)
                         : Words::tr("controller %1 did not hear from a leader in time").arg(node);
    case QuorumCause::leader_handed_over:
      return before >= 0 ? Words::tr("leader %1 handed over").arg(before) : Words::tr("the leader handed over");
    case QuorumCause::stopping:
      return Words::tr("leader %1 stopped and handed over").arg(node);
    case QuorumCause::majority_silent:
      return Words::tr("leader %1 gave up: too few voters fetched from it").arg(node);
    case QuorumCause::not_a_voter:
      return Words::tr("leader %1 is no voter any more").arg(node);
    case QuorumCause::votes_lost:
    case QuorumCause::pre_votes_lost:
      return Words::tr("the election before was not won");
    case QuorumCause::pre_votes_won:
    case QuorumCause::votes_won:
    case QuorumCause::voted_for_other:
    case QuorumCause::heard_of_leader:
    case QuorumCause::newer_epoch:
      break;
  }
  return Words::tr("controller %1 stands for election").arg(node);
}

class Builder {
 public:
  explicit Builder(const observe::ClusterView& view) : view_(view) {
    for (const observe::QuorumView::Life& life : view.quorum->lives) {
      lives_.push_back({life.node.value(), life.at.ms, life.ended});
    }
  }

  void role(const event::QuorumRoleChanged& e, std::int64_t at) {
    const bool leads = e.role == QuorumRole::leader;
    if (!open_ && (starts(e.role) || (leads && e.epoch > last_epoch_))) {
      begin(e, at);
    }
    Known& known = roles_[e.node.value()];
    if (e.role == QuorumRole::prospective || e.role == QuorumRole::candidate) {
      known.asks_since_ms = at;
    }
    known.role = e.role;
    known.epoch = e.epoch;
    known.leader = e.leader.value();
    known.since_ms = at;
    // What others become in an epoch that is decided belongs to its election.
    Election* here = all_.empty() ? nullptr : &all_.back();
    if (here != nullptr && !open_ && (e.epoch != here->epoch || at > here->ended_ms + kTailMs)) {
      here = nullptr;
    }
    if (here != nullptr) {
      close_band(*here, e.node.value(), at);
      here->bands.push_back({e.node.value(), e.role, e.epoch, e.leader.value(), at, -1});
      here->ended_ms = std::max(here->ended_ms, at);
      if (open_) {
        here->epoch = std::max(here->epoch, e.epoch);
      }
    }
    if (open_ && e.role == QuorumRole::follower && e.epoch == last_epoch_ && here->epoch <= last_epoch_) {
      here->outcome = e.cause == QuorumCause::heard_of_leader ? Election::Outcome::found : Election::Outcome::refused;
      here->leader = e.leader.value();
      open_ = false;
    } else if (leads && open_) {
      Election& election = all_.back();
      election.leader = e.node.value();
      election.epoch = e.epoch;
      election.decided_ms = at;
      election.outcome = Election::Outcome::won;
      open_ = false;
      last_epoch_ = e.epoch;
      leader_ = e.node.value();
      led_since_ms_ = at;
    }
  }

  void vote(const event::QuorumVoteCast& e, std::int64_t at) {
    if (all_.empty() || (!open_ && e.epoch < all_.back().epoch - 1)) {
      return;
    }
    Election& here = of_candidate(e.candidate.value());
    const auto asker = roles_.find(e.candidate.value());
    const std::int64_t asked = asker == roles_.end() ? at : std::clamp(asker->second.asks_since_ms, here.began_ms, at);
    here.votes.push_back({e.voter.value(), e.candidate.value(), at, asked, e.pre_vote, e.granted});
    here.ended_ms = std::max(here.ended_ms, at);
  }

  std::vector<Election> take() {
    for (Election& each : all_) {
      std::stable_sort(each.bands.begin(), each.bands.end(), [](const Election::Band& a, const Election::Band& b) {
        return std::pair(a.node, a.from_ms) < std::pair(b.node, b.from_ms);
      });
      std::stable_sort(each.votes.begin(), each.votes.end(), [](const Election::Vote& a, const Election::Vote& b) { return a.at_ms < b.at_ms; });
      judge(each);
    }
    return std::move(all_);
  }

 private:
  // Whoever asked believes in its leader until somebody else leads, also in one that is gone: only a voter that refused knows better.
  void judge(Election& election) const {
    std::set<std::int32_t> answered;
    bool refused = false;
    for (const Election::Vote& vote : election.votes) {
      answered.insert(vote.voter);
      answered.insert(vote.candidate);
      refused = refused || !vote.granted;
    }
    election.voters = static_cast<int>(view_.quorum->voters.size());
    election.answered = std::max(1, static_cast<int>(answered.size()));
    if (election.outcome == Election::Outcome::refused && !refused) {
      election.outcome = Election::Outcome::unanswered;
      election.leader = -1;
    }
  }

  void begin(const event::QuorumRoleChanged& e, std::int64_t at) {
    Election election;
    election.began_ms = election.ended_ms = at;
    election.epoch = e.epoch;
    election.before = leader_;
    find_end(election);
    election.watched = starts(e.role);
    election.reason = election.watched ? reason_of(e, leader_, all_.empty()) : Words::tr("it was elected before it was watched");
    if (election.killed && e.cause == QuorumCause::leader_silent) {
      election.reason = Words::tr("leader %1 was killed; controller %2 missed it").arg(leader_).arg(e.node.value());
    }
    for (const auto& [node, known] : roles_) {
      if (node != leader_ && ended(node, at)) {
        continue;  // what it was ended with it
      }
      election.bands.push_back({node, known.role, known.epoch, known.leader, known.since_ms, -1});
    }
    all_.push_back(std::move(election));
    open_ = true;
  }

  // Two may ask at once: the newest in which this one did.
  Election& of_candidate(std::int32_t candidate) {
    const std::size_t back = std::min<std::size_t>(2, all_.size());
    for (std::size_t i = 0; i < back; ++i) {
      Election& each = all_[all_.size() - 1 - i];
      const bool asked = std::any_of(each.bands.begin(), each.bands.end(), [&](const Election::Band& band) {
        return band.node == candidate && (band.role == QuorumRole::prospective || band.role == QuorumRole::candidate);
      });
      if (asked) {
        return each;
      }
    }
    return all_.back();
  }

  [[nodiscard]] bool ended(std::int32_t node, std::int64_t at) const {
    const Life* last = nullptr;
    for (const Life& life : lives_) {
      last = life.node == node && life.at_ms <= at && (last == nullptr || life.at_ms >= last->at_ms) ? &life : last;
    }
    return last != nullptr && last->ended;
  }

  // Whether the node of the leader before has ended since it leads, and when.
  void find_end(Election& election) const {
    const auto& lives = view_.quorum->lives;
    for (auto life = lives.rbegin(); life != lives.rend() && election.before >= 0; ++life) {
      if (life->ended && life->node.value() == election.before && life->at.ms <= election.began_ms &&
          life->at.ms >= std::max(election.began_ms - kMissedWithinMs, led_since_ms_)) {
        election.silent_since_ms = life->at.ms;
        election.killed = !life->clean;
        return;
      }
    }
  }

  static void close_band(Election& election, std::int32_t node, std::int64_t at) {
    for (auto it = election.bands.rbegin(); it != election.bands.rend(); ++it) {
      if (it->node == node && it->to_ms < 0) {
        it->to_ms = at;
        return;
      }
    }
  }

  struct Life {
    std::int32_t node = -1;
    std::int64_t at_ms = 0;
    bool ended = false;
  };

  const observe::ClusterView& view_;
  std::vector<Life> lives_;
  std::vector<Election> all_;
  std::map<std::int32_t, Known> roles_;
  std::int32_t leader_ = -1;
  std::int64_t led_since_ms_ = 0;
  std::int32_t last_epoch_ = -1;
  bool open_ = false;
};

}  // namespace

std::vector<Election> election_history(const observe::ClusterView& view) {
  // Rings are drained one after the other: by time it was otherwise.
  std::vector<const observe::QuorumView::Step*> steps;
  steps.reserve(view.quorum->history.size());
  for (const observe::QuorumView::Step& step : view.quorum->history) {
    steps.push_back(&step);
  }
  std::stable_sort(steps.begin(), steps.end(), [](const auto* a, const auto* b) { return a->at.ms < b->at.ms; });
  Builder builder(view);
  for (const observe::QuorumView::Step* step : steps) {
    if (const auto* role = std::get_if<event::QuorumRoleChanged>(step->what.get())) {
      builder.role(*role, step->at.ms);
    } else if (const auto* vote = std::get_if<event::QuorumVoteCast>(step->what.get())) {
      builder.vote(*vote, step->at.ms);
    }
  }
  return builder.take();
}

}  // namespace hw::ui
