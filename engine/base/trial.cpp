// SPDX-License-Identifier: Apache-2.0
#include "engine/base/trial.h"

#include <algorithm>
#include <iterator>

namespace hw::trial {

namespace {

template <class T>
struct Name {
  T what;
  std::string_view name;
};

constexpr Name<Canary> kCanaries[] = {
    {Canary::none, "none"},
    {Canary::votes_twice, "votes-twice"},
    {Canary::commits_old_epoch, "commits-old-epoch"},
    {Canary::answers_unpersisted, "answers-unpersisted"},
    {Canary::fetches_unflushed, "fetches-unflushed"},
    {Canary::truncates_committed, "truncates-committed"},
    {Canary::ignores_log_order, "ignores-log-order"},
    {Canary::grants_every_pre_vote, "grants-every-pre-vote"},
    {Canary::keeps_divergence, "keeps-divergence"},
    {Canary::watermark_without_followers, "watermark-without-followers"},
    {Canary::watermark_forgets_proposal, "watermark-forgets-proposal"},
    {Canary::watermark_goes_back, "watermark-goes-back"},
    {Canary::no_truncation, "no-truncation"},
    {Canary::early_expand, "early-expand"},
    {Canary::never_expands, "never-expands"},
    {Canary::stale_fetch_counts, "stale-fetch-counts"},
    {Canary::acks_before_isr, "acks-before-isr"},
    {Canary::deletes_alone, "deletes-alone"},
    {Canary::repeats_appended, "repeats-appended"},
    {Canary::refuses_torn_tail, "refuses-torn-tail"},
    {Canary::keeps_leader_epoch, "keeps-leader-epoch"},
    {Canary::elects_anybody, "elects-anybody"},
    {Canary::fenced_leads, "fenced-leads"},
    {Canary::eligible_for_ever, "eligible-for-ever"},
    {Canary::snapshot_forgets_configs, "snapshot-forgets-configs"},
    {Canary::forgets_commits, "forgets-commits"},
    {Canary::assigns_to_everybody, "assigns-to-everybody"},
    {Canary::spins, "spins"},
    {Canary::syncs_nothing, "syncs-nothing"},
};

constexpr Name<Oddity> kOddityNames[] = {
    {Oddity::short_fetch, "short-fetch"},
    {Oddity::lost_fetch_session, "lost-fetch-session"},
    {Oddity::early_time_out, "early-time-out"},
    {Oddity::refused_isr, "refused-isr"},
    {Oddity::early_roll, "early-roll"},
    {Oddity::early_snapshot, "early-snapshot"},
    {Oddity::coordinator_loads, "coordinator-loads"},
    {Oddity::short_quorum_fetch, "short-quorum-fetch"},
};

constexpr Name<Mark> kMarkNames[] = {
    {Mark::quorum_diverging_fetch, "quorum-diverging-fetch"},
    {Mark::quorum_snapshot_fetch, "quorum-snapshot-fetch"},
    {Mark::quorum_resigns, "quorum-resigns"},
    {Mark::quorum_refused_pre_vote, "quorum-refused-pre-vote"},
    {Mark::quorum_lost_election, "quorum-lost-election"},
    {Mark::quorum_voter_added, "quorum-voter-added"},
    {Mark::quorum_voter_removed, "quorum-voter-removed"},
    {Mark::follower_truncates, "follower-truncates"},
    {Mark::follower_restarts_at_leader_start, "follower-restarts-at-leader-start"},
    {Mark::isr_shrinks, "isr-shrinks"},
    {Mark::isr_expands, "isr-expands"},
    {Mark::isr_change_refused, "isr-change-refused"},
    {Mark::produce_under_min_isr, "produce-under-min-isr"},
    {Mark::produce_times_out, "produce-times-out"},
    {Mark::produce_min_isr_lost, "produce-min-isr-lost"},
    {Mark::fetch_fenced_epoch, "fetch-fenced-epoch"},
    {Mark::fetch_stale_broker_epoch, "fetch-stale-broker-epoch"},
    {Mark::watermark_held_by_joiner, "watermark-held-by-joiner"},
    {Mark::repeat_answered, "repeat-answered"},
    {Mark::sequence_gap, "sequence-gap"},
    {Mark::tail_cut_at_recovery, "tail-cut-at-recovery"},
    {Mark::log_start_moved, "log-start-moved"},
    {Mark::elected_from_elr, "elected-from-elr"},
    {Mark::elected_last_known, "elected-last-known"},
    {Mark::elected_uncleanly, "elected-uncleanly"},
    {Mark::nobody_to_elect, "nobody-to-elect"},
    {Mark::reassignment_done, "reassignment-done"},
    {Mark::reassignment_cancelled, "reassignment-cancelled"},
    {Mark::snapshot_loaded, "snapshot-loaded"},
    {Mark::broker_fenced, "broker-fenced"},
    {Mark::controlled_shutdown_moves, "controlled-shutdown-moves"},
    {Mark::group_loaded, "group-loaded"},
    {Mark::rebalance_over_rebalance, "rebalance-over-rebalance"},
    {Mark::commit_fenced, "commit-fenced"},
};

// A table names each value, in its order.
template <class T, std::size_t N>
constexpr bool whole(const Name<T> (&table)[N]) {
  for (std::size_t i = 0; i < N; ++i) {
    if (table[i].what != static_cast<T>(i)) {
      return false;
    }
  }
  return N == static_cast<std::size_t>(T::count);
}
static_assert(whole(kCanaries) && whole(kOddityNames) && whole(kMarkNames));

constexpr Ratio kSwitchedOn{1, 4};
constexpr Ratio kHappens{1, 4};

}  // namespace

std::string_view name_of(Canary canary) noexcept { return kCanaries[static_cast<std::size_t>(canary)].name; }
std::string_view name_of(Oddity oddity) noexcept { return kOddityNames[static_cast<std::size_t>(oddity)].name; }
std::string_view name_of(Mark mark) noexcept { return kMarkNames[static_cast<std::size_t>(mark)].name; }

std::optional<Canary> canary_of(std::string_view name) noexcept {
  const auto* const found = std::find_if(std::begin(kCanaries), std::end(kCanaries), [&](const auto& one) { return one.name == name; });
  return found == std::end(kCanaries) ? std::nullopt : std::optional(found->what);
}

Trial::Trial(Canary canary) noexcept : canary_(canary), outer_(detail::in_force) { detail::in_force = this; }

Trial::~Trial() { detail::in_force = outer_; }

void Trial::draw_oddities(Prng prng) noexcept {
  prng_ = prng;
  for (bool& on : on_) {
    on = prng_.chance(kSwitchedOn);
  }
}

bool Trial::happens(Oddity oddity) noexcept { return is_on(oddity) && prng_.chance(kHappens); }

}  // namespace hw::trial
