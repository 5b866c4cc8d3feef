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
  QuorumCause cause = QuorumCause::started;
  std::int32_t epoch = 0;
  std::int32_t leader = -1;
  std::int64_t since_ms = 0;
  std::int64_t asks_since_ms = 0;
};

bool starts(QuorumRole role) { return role == QuorumRole::prospective || role == QuorumRole::candidate || role == QuorumRole::resigned; }

// How the life of a node ended that was before this one.
enum class Ended : std::uint8_t { unknown, stopped, killed };

QString started_text(int node, bool led, Ended ended) {
  switch (ended) {
    case Ended::killed:
      return (led ? Words::tr("leader %1 came back after it was killed") : Words::tr("controller %1 came back after it was killed")).arg(node);
    case Ended::stopped:
      return (led ? Words::tr("leader %1 came back after it was stopped") : Words::tr("controller %1 came back after it was stopped")).arg(node);
    case Ended::unknown:
      break;
  }
  return (led ? Words::tr("leader %1 came back") : Words::tr("controller %1 started")).arg(node);
}

QString reason_of(const event::QuorumRoleChanged& e, std::int32_t before) {
  const int node = e.node.value();
  switch (e.cause) {
    case QuorumCause::no_leader_found:
    case QuorumCause::started:
      return Words::tr("controller %1 did not know who leads").arg(node);
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
      lives_.push_back({life.node.value(), life.at.ms, life.ended, life.clean});
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
    known.cause = e.cause;
    known.epoch = e.epoch;
    known.leader = e.leader.value();
    known.since_ms = at;
    // What others become in an epoch that is decided belongs to its election.
    Election* here = all_.empty() ? nullptr : &all_.back();
    if (here != nullptr && !open_ && (e.epoch != here->epoch || at > here->ended_ms + kTailMs)) {
      here = nullptr;
    }
    if (here != nullptr) {
      const int step = add_step(*here, at);
      close_band(*here, e.node.value(), at, step);
      here->bands.push_back({e.node.value(), e.role, e.epoch, e.leader.value(), at, -1, step, -1});
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
      election.decided_step = static_cast<int>(election.steps.size()) - 1;
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
    here.votes.push_back({e.voter.value(), e.candidate.value(), at, asked, add_step(here, at), e.pre_vote, e.granted});
    here.ended_ms = std::max(here.ended_ms, at);
  }

  std::vector<Election> take() {
    for (Election& each : all_) {
      std::stable_sort(each.bands.begin(), each.bands.end(), [](const Election::Band& a, const Election::Band& b) {
        return std::pair(a.node, a.from_step) < std::pair(b.node, b.from_step);
      });
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
    election.reason = election.watched ? why(e, at) : Words::tr("it was elected before it was watched");
    if (election.killed && e.cause == QuorumCause::leader_silent) {
      election.reason = Words::tr("leader %1 was killed; controller %2 missed it").arg(leader_).arg(e.node.value());
    }
    for (const auto& [node, known] : roles_) {
      if (node != leader_ && ended(node, at)) {
        continue;  // what it was ended with it
      }
      election.bands.push_back({node, known.role, known.epoch, known.leader, known.since_ms, -1, -1, -1});
    }
    all_.push_back(std::move(election));
    open_ = true;
  }

  [[nodiscard]] QString why(const event::QuorumRoleChanged& e, std::int64_t at) const {
    const auto known = roles_.find(e.node.value());
    const bool started = e.cause == QuorumCause::started ||  // who led comes back as one that gave up the lead
                         (e.cause == QuorumCause::no_leader_found &&
                          (known == roles_.end() || (known->second.role == QuorumRole::unattached && known->second.cause == QuorumCause::started)));
    const Ended ended = ended_before(e.node.value(), at);
    if (started && all_.empty() && ended == Ended::unknown) {
      return Words::tr("the quorum starts");
    }
    return started ? started_text(e.node.value(), e.node.value() == leader_, ended) : reason_of(e, leader_);
  }

  static int add_step(Election& election, std::int64_t at) {
    election.steps.push_back(election.steps.empty() ? at : std::max(at, election.steps.back()));
    return static_cast<int>(election.steps.size()) - 1;
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

  // How the newest life of the node ended that has ended.
  [[nodiscard]] Ended ended_before(std::int32_t node, std::int64_t at) const {
    Ended out = Ended::unknown;
    for (const Life& life : lives_) {  // oldest first
      if (life.node == node && life.ended && life.at_ms <= at) {
        out = life.clean ? Ended::stopped : Ended::killed;
      }
    }
    return out;
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

  static void close_band(Election& election, std::int32_t node, std::int64_t at, int step) {
    for (auto it = election.bands.rbegin(); it != election.bands.rend(); ++it) {
      if (it->node == node && it->to_ms < 0) {
        it->to_ms = at;
        it->to_step = step;
        return;
      }
    }
  }

  struct Life {
    std::int32_t node = -1;
    std::int64_t at_ms = 0;
    bool ended = false;
    bool clean = false;
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

using Step = observe::QuorumView::Step;

std::int32_t teller_of(const Step& step) {
  if (const auto* role = std::get_if<event::QuorumRoleChanged>(step.what.get())) {
    return role->node.value();
  }
  const auto* vote = std::get_if<event::QuorumVoteCast>(step.what.get());
  return vote == nullptr ? -1 : vote->voter.value();
}

// What comes first within a millisecond: a question before its answers, those before what they decide, and that before who follows.
// An epoch begins with the candidate; pre-votes are asked for in the epoch before.
std::int64_t rank_of(const Step& step) {
  constexpr std::int64_t kEpoch = 10;
  if (const auto* vote = std::get_if<event::QuorumVoteCast>(step.what.get())) {
    return vote->epoch * kEpoch + (vote->pre_vote ? 7 : 3);
  }
  const auto* role = std::get_if<event::QuorumRoleChanged>(step.what.get());
  if (role == nullptr) {
    return 0;
  }
  const auto within = [&] {
    switch (role->role) {
      case QuorumRole::candidate:
        return 1;
      case QuorumRole::unattached:
        return 2;
      case QuorumRole::leader:
        return 4;
      case QuorumRole::follower:
        return role->cause == QuorumCause::pre_votes_lost ? 8 : 5;
      case QuorumRole::prospective:
      case QuorumRole::resigned:
        break;
    }
    return 6;
  };
  return role->epoch * kEpoch + within();
}

// Rings are drained one after the other: by time it was otherwise. What one node told stays in its order.
std::vector<const Step*> in_order(const std::vector<Step>& history) {
  std::map<std::int32_t, std::vector<const Step*>> told;
  for (const Step& step : history) {
    told[teller_of(step)].push_back(&step);
  }

  struct Ring {
    std::vector<const Step*> steps;
    std::size_t next = 0;
  };

  std::vector<Ring> rings;
  for (auto& [node, steps] : told) {
    std::stable_sort(steps.begin(), steps.end(), [](const Step* a, const Step* b) { return a->at.ms < b->at.ms; });
    rings.push_back({std::move(steps)});
  }
  std::vector<const Step*> out;
  out.reserve(history.size());
  while (out.size() < history.size()) {
    Ring* first = nullptr;
    const auto before = [](const Step& a, const Step& b) { return std::pair(a.at.ms, rank_of(a)) < std::pair(b.at.ms, rank_of(b)); };
    for (Ring& ring : rings) {
      if (ring.next < ring.steps.size() && (first == nullptr || before(*ring.steps[ring.next], *first->steps[first->next]))) {
        first = &ring;
      }
    }
    out.push_back(first->steps[first->next++]);
  }
  return out;
}

}  // namespace

std::vector<Election> election_history(const observe::ClusterView& view) {
  Builder builder(view);
  for (const Step* step : in_order(view.quorum->history)) {
    if (const auto* role = std::get_if<event::QuorumRoleChanged>(step->what.get())) {
      builder.role(*role, step->at.ms);
    } else if (const auto* vote = std::get_if<event::QuorumVoteCast>(step->what.get())) {
      builder.vote(*vote, step->at.ms);
    }
  }
  return builder.take();
}

}  // namespace hw::ui
