// SPDX-License-Identifier: Apache-2.0
#include "engine/raft/quorum.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "engine/base/assert.h"
#include "engine/base/trial.h"
#include "engine/raft/control_records.h"
#include "engine/raft/detail/quorum_impl.h"
#include "engine/wire/record/batch.h"

namespace hw::raft {

Quorum::Impl::Impl(Config given, ElectionState initial, ReplicatedLog& the_log, Prng random, Instant at)
    : config(std::move(given)),
      log(the_log),
      prng(random),
      history(VoterSet(config.voters), config.kraft_version),
      election(std::move(initial)),
      now(at) {
  if (Result<void> loaded = load_voters(); !loaded) {
    load_problem = loaded.error().detail;
  }
  // The log may know a newer epoch than a quorum-state that was lost.
  if (log.last_epoch() > election.epoch) {
    election = {log.last_epoch(), std::nullopt, std::nullopt};
  }
  flushed = flush_asked = log.durable_offset();
  Offset committed = log.start_offset();
  if (const std::optional<SnapshotId> snapshot = log.latest_snapshot()) {
    committed = std::max(committed, snapshot->end_offset);
  }
  // Nobody else holds anything that counts where there is one voter.
  high_watermark = is_sole_voter() ? std::max(log.high_watermark(), log.end_offset()) : committed;
  high_watermark = std::clamp(high_watermark, log.start_offset(), log.end_offset());
  log.set_high_watermark(high_watermark);
  const auto spread = static_cast<std::uint64_t>(std::max<std::int64_t>(1, config.first_election.ns));
  if (election.leader == self_id() && is_voter() && !is_sole_voter()) {
    // It led this epoch in an earlier life: the others need not wait until they miss it.
    Resigned resigned;
    for (const Voter& voter : voters().all()) {
      if (voter.key.id != self_id()) {
        resigned.unheard.insert(voter.key.id);
      }
    }
    resigned.election_at = now + election_timeout();
    state = std::move(resigned);
    return;
  }
  state = Unattached{is_sole_voter() ? now : now + nanoseconds(static_cast<std::int64_t>(prng.below(spread)))};
}

// ---------------------------------------------------------------- the voters in the log

Result<void> Quorum::Impl::load_voters() {
  if (const std::optional<SnapshotId> snapshot = log.latest_snapshot()) {
    HW_CHECK(load_snapshot_voters(*snapshot));
  }
  return read_voters_from(log.start_offset());
}

Result<void> Quorum::Impl::load_snapshot_voters(const SnapshotId& id) {
  // They stand in the first batch of a snapshot.
  constexpr std::int32_t kHead = 1 << 20;
  HW_TRY(const Bytes head, log.read_snapshot(id, 0, kHead));
  const wire::BatchRead read = wire::read_batch(head.span());
  if (read.status != wire::BatchStatus::ok || !read.view.crc_ok() || !read.view.control()) {
    return fail(Errc::corrupt, "the snapshot of the metadata log does not begin with a control batch");
  }
  VoterHistory in_snapshot(VoterSet{}, 0);
  HW_CHECK(read_control_batch(head.slice(0, read.size), in_snapshot));
  if (!in_snapshot.last().empty()) {
    history.restart(in_snapshot.last(), in_snapshot.version(), id.end_offset);
  }
  return {};
}

Result<void> Quorum::Impl::read_voters_from(Offset from) {
  constexpr std::int32_t kChunk = 4 << 20;
  while (from < log.end_offset()) {
    HW_TRY(const BytesChain chain, log.read(from, kChunk));
    const Bytes bytes = chain.flatten();
    HW_CHECK(note_control_batches(bytes));
    Offset next = from;
    wire::BatchCursor cursor(bytes.span());
    wire::BatchView batch;
    while (cursor.next(batch)) {
      next = std::max(next, batch.next_offset());
    }
    if (next <= from) {
      return fail(Errc::corrupt, "no whole batch in the metadata log at offset " + std::to_string(from.value()));
    }
    from = next;
  }
  return {};
}

Result<void> Quorum::Impl::note_control_batches(const Bytes& batches) {
  wire::BatchCursor cursor(batches.span());
  wire::BatchView batch;
  std::size_t begin = 0;
  while (cursor.next(batch)) {
    // A voter's record that a snapshot holds already is older than what is known.
    if (batch.control() && batch.last_offset() > history.last_offset()) {
      HW_CHECK(read_control_batch(batches.slice(begin, batch.size()), history));
    }
    begin = cursor.position();
  }
  return {};
}

// ---------------------------------------------------------------- inputs

void Quorum::Impl::step(const Input& input, Instant at, Outputs& outputs) {
  now = at;
  out = &outputs;
  if (!begun) {
    begun = true;
    tell_voters();
    tell_role(event::QuorumCause::started);
  }
  std::visit(
      [this](const auto& in) {
        using T = std::decay_t<decltype(in)>;
        if constexpr (std::is_same_v<T, Tick>) {
          wall = in.wall;
          wall_at = now;
        } else if constexpr (std::is_same_v<T, Persisted>) {
          if (awaited && *awaited == in.state) {
            release_held();
          }
        } else if constexpr (std::is_same_v<T, Flushed>) {
          // What was cut and written again in between is not on the disk yet, whatever the flush said.
          flushed = std::max(flushed, std::min({in.up_to, log.durable_offset(), log.end_offset()}));
          flush_asked = flushed;  // poll() asks for the rest again
          advance_high_watermark();
        } else if constexpr (std::is_same_v<T, Request>) {
          std::visit([&](const auto& body) { handle(in, body); }, in.body);
        } else if constexpr (std::is_same_v<T, Response>) {
          const auto it = sent.find(in.id);
          if (it == sent.end() || it->second.kind != in.body.index()) {
            return;
          }
          const Sent to = std::move(it->second);
          sent.erase(it);
          links[to.link].in_flight = 0;
          std::visit(
              [&](const auto& body) {
                using Answer = std::decay_t<decltype(body)>;
                if constexpr (std::is_same_v<Answer, wire::ApiVersionsResponse>) {
                  handle_api_versions(in.id, &body);
                } else if constexpr (std::is_same_v<Answer, wire::VoteResponse>) {
                  // An answer of an earlier round says nothing about this one.
                  const bool same_round = to.epoch == epoch() && to.pre_vote == (this->in<Prospective>() != nullptr);
                  if (same_round || !(this->in<Prospective>() != nullptr || this->in<Candidate>() != nullptr)) {
                    handle_response(to.to.node, body);
                  }
                } else if constexpr (std::is_same_v<Answer, wire::FetchResponse>) {
                  handle_response(to.to.node, body, to.log_end == log.end_offset() && to.last_epoch == log.last_epoch());
                } else {
                  handle_response(to.to.node, body);
                }
              },
              in.body);
        } else if constexpr (std::is_same_v<T, Failed>) {
          send_failed(in.id);
        } else if constexpr (std::is_same_v<T, Resign>) {
          stopping = true;
          if (this->in<Leader>() != nullptr && !is_sole_voter()) {
            become_resigned(event::QuorumCause::stopping);
          }
        }
      },
      input);
  poll();
  if (history.last_offset() != told_voters_at) {
    tell_voters();
  }
  out = nullptr;
}

void Quorum::Impl::poll() {
  expire_links();
  expire_waiting();
  ask_flush();
  // A transition makes the new state act at once; few follow each other.
  constexpr int kMost = 8;
  for (int round = 0; round < kMost; ++round) {
    const std::size_t before = state.index();
    const LeaderEpoch epoch_before = epoch();
    std::visit(
        [this](auto& current) {
          using T = std::decay_t<decltype(current)>;
          if constexpr (std::is_same_v<T, Unattached>) {
            poll_unattached(current);
          } else if constexpr (std::is_same_v<T, Prospective>) {
            poll_prospective(current);
          } else if constexpr (std::is_same_v<T, Candidate>) {
            poll_candidate(current);
          } else if constexpr (std::is_same_v<T, Follower>) {
            poll_follower(current);
          } else if constexpr (std::is_same_v<T, Leader>) {
            poll_leader(current);
          } else {
            poll_resigned(current);
          }
        },
        state);
    if (state.index() == before && epoch() == epoch_before) {
      return;
    }
  }
}

Instant Quorum::Impl::next_deadline() const {
  Instant next = std::visit([this](const auto& current) { return deadline_of(current); }, state);
  for (const auto& [name, link] : links) {
    if (link.in_flight != 0) {
      next = std::min(next, link.expires_at);
    } else if (link.backoff_until > now) {
      next = std::min(next, link.backoff_until);
    }
  }
  return next;
}

// ---------------------------------------------------------------- outputs

void Quorum::Impl::ask_flush() {
  if (must_flush() && std::max(flushed, flush_asked) < log.end_offset()) {
    out->flush = true;
    flush_asked = log.end_offset();
  }
}

void Quorum::Impl::persist() {
  HW_ASSERT(out != nullptr, "inside a step");
  out->persist = election;
  if (!trial::has_bug(trial::Canary::answers_unpersisted)) {
    awaited = election;  // Q1
  } else if (Candidate* candidate = in<Candidate>(); candidate != nullptr && candidate->sole) {
    awaited = election;
  }
}

void Quorum::Impl::release_held() {
  awaited.reset();
  for (Send& send : held_sends) {
    if (sent.contains(send.id)) {  // not forgotten meanwhile
      out->sends.push_back(std::move(send));
    }
  }
  held_sends.clear();
  for (Reply& reply : held_replies) {
    out->replies.push_back(std::move(reply));
  }
  held_replies.clear();
  if (const Candidate* candidate = in<Candidate>(); candidate != nullptr && candidate->sole) {
    become_leader();
  }
}

void Quorum::Impl::reply(std::uint64_t token, PeerAnswer answer) {
  (persisting() ? held_replies : out->replies).push_back({token, std::move(answer)});
}

void Quorum::Impl::fail_replica(std::string why) {
  if (out->broken.empty()) {
    out->broken = std::move(why);
  }
}

std::int64_t Quorum::Impl::wall_ms(Instant at) const { return wall.ms + (at - wall_at).ms(); }

// ---------------------------------------------------------------- requests to others

namespace {

std::string link_name(const Destination& to) {
  return std::to_string(to.node.value()) + "@" + to.host + ":" + std::to_string(to.port);
}

}  // namespace

bool Quorum::Impl::link_free(const Destination& to) const {
  const auto it = links.find(link_name(to));
  return it == links.end() || (it->second.in_flight == 0 && it->second.backoff_until <= now);
}

bool Quorum::Impl::link_failing(const Destination& to) const {
  const auto it = links.find(link_name(to));
  return it != links.end() && it->second.in_flight == 0 && it->second.backoff_until > now;
}

std::uint64_t Quorum::Impl::send(const Destination& to, std::int16_t version, Body body) {
  std::string name = link_name(to);
  Link& link = links[name];
  if (link.in_flight != 0 || link.backoff_until > now) {
    return 0;
  }
  const std::uint64_t id = ++last_id;
  link.in_flight = id;
  link.expires_at = now + config.request_timeout;
  sent.emplace(id, Sent{to, std::move(name), body.index(), epoch(), in<Prospective>() != nullptr, log.end_offset(), log.last_epoch()});
  (persisting() ? held_sends : out->sends).push_back({id, to, version, std::move(body), config.request_timeout});
  return id;
}

void Quorum::Impl::send_failed(std::uint64_t id) {
  const auto it = sent.find(id);
  if (it == sent.end()) {
    return;
  }
  Link& link = links[it->second.link];
  link.in_flight = 0;
  link.backoff_until = now + config.retry_backoff;
  sent.erase(it);
  handle_api_versions(id, nullptr);
}

void Quorum::Impl::back_off() {
  for (auto& [name, link] : links) {
    if (link.in_flight == 0) {
      link.backoff_until = std::max(link.backoff_until, now + config.retry_backoff);
    }
  }
}

void Quorum::Impl::expire_links() {
  std::vector<std::uint64_t> late;
  for (const auto& [name, link] : links) {
    if (link.in_flight != 0 && link.expires_at <= now) {
      late.push_back(link.in_flight);
    }
  }
  for (const std::uint64_t id : late) {
    send_failed(id);
  }
  std::erase_if(links, [this](const auto& entry) {
    return entry.second.in_flight == 0 && entry.second.backoff_until <= now;
  });
}

void Quorum::Impl::reset_links() {
  links.clear();
  sent.clear();
  held_sends.clear();
}

std::optional<Destination> Quorum::Impl::destination(BrokerId id, const std::vector<VoterEndpoint>& endpoints) const {
  for (const Config::Address& address : config.addresses) {
    if (address.node == id && id != kNoBroker) {
      return Destination{id, address.host, address.port};
    }
  }
  const VoterEndpoint* at = find_endpoint(endpoints, config.listener);
  if (at == nullptr && endpoints.size() == 1) {
    at = &endpoints.front();
  }
  return at == nullptr ? std::nullopt : std::optional(Destination{id, at->host, at->port});
}

std::optional<Destination> Quorum::Impl::voter_destination(BrokerId id) const {
  const Voter* voter = voters().find(id);
  return voter == nullptr ? std::nullopt : destination(id, voter->endpoints);
}

std::optional<Destination> Quorum::Impl::any_free_destination() {
  std::vector<Destination> free;
  const auto offer = [&](const Destination& to) {
    if (link_free(to)) {
      free.push_back(to);
    }
  };
  for (const Voter& voter : voters().all()) {
    if (voter.key.id != self_id()) {
      if (const std::optional<Destination> to = destination(voter.key.id, voter.endpoints)) {
        offer(*to);
      }
    }
  }
  if (free.empty()) {
    for (const Config::Address& address : config.addresses) {
      if (address.node != self_id()) {
        offer({address.node, address.host, address.port});
      }
    }
  }
  if (free.empty()) {
    return std::nullopt;
  }
  return free[prng.below(free.size())];
}

// ---------------------------------------------------------------- for whoever watches

void Quorum::Impl::tell_role(event::QuorumCause cause) {
  static_assert(static_cast<int>(QuorumView::State::unattached) == static_cast<int>(event::QuorumRole::unattached) &&
                static_cast<int>(QuorumView::State::prospective) == static_cast<int>(event::QuorumRole::prospective) &&
                static_cast<int>(QuorumView::State::candidate) == static_cast<int>(event::QuorumRole::candidate) &&
                static_cast<int>(QuorumView::State::follower) == static_cast<int>(event::QuorumRole::follower) &&
                static_cast<int>(QuorumView::State::leader) == static_cast<int>(event::QuorumRole::leader) &&
                static_cast<int>(QuorumView::State::resigned) == static_cast<int>(event::QuorumRole::resigned));
  const QuorumView now_is = view();
  out->events.emplace_back(event::QuorumRoleChanged{self_id(), static_cast<event::QuorumRole>(now_is.state), cause, now_is.voter,
                                                    epoch().value(), now_is.leader.value_or(kNoBroker)});
}

void Quorum::Impl::tell_voters() {
  told_voters_at = history.last_offset();
  event::QuorumVotersChanged changed{self_id(), told_voters_at, {}};
  for (const Voter& voter : voters().all()) {
    event::QuorumVotersChanged::Voter& told = changed.voters.emplace_back();
    told.id = voter.key.id;
    told.directory = voter.key.directory;
    if (const std::optional<Destination> at = destination(voter.key.id, voter.endpoints)) {
      told.host = at->host;
      told.port = at->port;
    }
  }
  if (!changed.voters.empty()) {
    out->events.emplace_back(std::move(changed));
  }
}

void Quorum::Impl::tell_progress(Progress& progress) {
  if (!progress.told) {
    progress.told = std::make_shared<event::FollowerCounters>();
    out->events.emplace_back(event::QuorumReplicaTracked{self_id(), epoch().value(), progress.key.id, progress.key.directory, progress.told});
  }
  progress.told->log_end_offset.set(progress.end_offset.value_or(kNoOffset).value());
  progress.told->fetched_at_ms.set(progress.last_fetch ? wall_ms(*progress.last_fetch) : 0);
  progress.told->caught_up_at_ms.set(progress.last_caught_up ? wall_ms(*progress.last_caught_up) : 0);
}

// ---------------------------------------------------------------- transitions

std::optional<BrokerId> Quorum::Impl::leader() const {
  if (in<Leader>() != nullptr || in<Resigned>() != nullptr) {
    return self_id();
  }
  if (const Follower* follower = in<Follower>()) {
    return follower->leader.id;
  }
  if (const Prospective* prospective = in<Prospective>(); prospective != nullptr && prospective->leader) {
    return prospective->leader->id;
  }
  return std::nullopt;
}

std::vector<VoterEndpoint> Quorum::Impl::leader_endpoints() const {
  if (in<Leader>() != nullptr || in<Resigned>() != nullptr) {
    return config.self.endpoints;
  }
  if (const Follower* follower = in<Follower>()) {
    return follower->leader.endpoints;
  }
  if (const Prospective* prospective = in<Prospective>(); prospective != nullptr && prospective->leader) {
    return prospective->leader->endpoints;
  }
  return {};
}

Duration Quorum::Impl::election_timeout() {
  const auto spread = static_cast<std::uint64_t>(std::max<std::int64_t>(1, config.election_timeout.ns));
  return config.election_timeout + nanoseconds(static_cast<std::int64_t>(prng.below(spread)));
}

void Quorum::Impl::leave_state() {
  if (Leader* leader = in<Leader>()) {
    fail_waiting(*leader);
    answer_change(wire::ErrorCode::not_leader_or_follower, "this node does not lead the quorum any more");
  }
  reset_links();
}

void Quorum::Impl::become_unattached(LeaderEpoch of, event::QuorumCause cause) {
  HW_ASSERT(of >= epoch(), "epochs do not fall");
  leave_state();
  out->leader_changed = true;
  if (of > epoch()) {
    election = {of, std::nullopt, std::nullopt};  // Q2
    persist();
  }
  state = Unattached{now + election_timeout()};
  tell_role(cause);
}

void Quorum::Impl::become_follower(LeaderEpoch of, LeaderAt leader, event::QuorumCause cause) {
  HW_ASSERT(of >= epoch() && leader.id != self_id(), "one follows others, of this epoch or a later one");
  leave_state();
  out->leader_changed = true;
  failed_rounds = 0;
  ElectionState next{of, leader.id, of == epoch() ? election.voted : std::nullopt};
  if (next != election) {
    election = next;
    persist();
  }
  const Duration patience =
      config.fetch_timeout + nanoseconds(static_cast<std::int64_t>(prng.below(static_cast<std::uint64_t>(
                                 std::max<std::int64_t>(config.election_timeout.ns / kJitterOfElection, 1)))));
  state = Follower{std::move(leader), patience, now + patience, now + config.fetch_timeout, false, false, std::nullopt};
  tell_role(cause);
}

bool Quorum::Impl::learn_leader(std::optional<BrokerId> leader_id, LeaderEpoch of, std::vector<VoterEndpoint> endpoints) {
  if (of < epoch()) {
    return true;
  }
  if (leader_id && endpoints.empty()) {
    if (const Voter* voter = voters().find(*leader_id)) {
      endpoints = voter->endpoints;
    }
  }
  if (leader_id == self_id()) {
    if (of > epoch()) {
      // It led in a life that it has forgotten: it must not vote in that epoch, whatever it believes to have promised.
      become_unattached(of, event::QuorumCause::newer_epoch);
      election.leader = self_id();
      persist();
    }
    return true;
  }
  const bool known = leader_id.has_value() && destination(*leader_id, endpoints).has_value();
  if (of > epoch()) {
    if (known) {
      become_follower(of, {*leader_id, std::move(endpoints)}, event::QuorumCause::heard_of_leader);
    } else {
      become_unattached(of, event::QuorumCause::newer_epoch);
    }
    return true;
  }
  const std::optional<BrokerId> current = leader();
  if (leader_id && current && *leader_id != *current) {
    return false;
  }
  if (known && !current) {
    become_follower(of, {*leader_id, std::move(endpoints)}, event::QuorumCause::heard_of_leader);
  }
  return true;
}

QuorumView Quorum::Impl::view() const {
  QuorumView view;
  view.state = std::visit(
      [](const auto& current) {
        using T = std::decay_t<decltype(current)>;
        if constexpr (std::is_same_v<T, Unattached>) {
          return QuorumView::State::unattached;
        } else if constexpr (std::is_same_v<T, Prospective>) {
          return QuorumView::State::prospective;
        } else if constexpr (std::is_same_v<T, Candidate>) {
          return QuorumView::State::candidate;
        } else if constexpr (std::is_same_v<T, Follower>) {
          return QuorumView::State::follower;
        } else if constexpr (std::is_same_v<T, Leader>) {
          return QuorumView::State::leader;
        } else {
          return QuorumView::State::resigned;
        }
      },
      state);
  view.voter = is_voter();
  view.epoch = epoch();
  view.leader = in<Resigned>() != nullptr ? std::nullopt : leader();
  view.log_start_offset = log.start_offset();
  view.log_end_offset = log.end_offset();
  view.high_watermark = high_watermark;
  if (const Leader* leading = in<Leader>()) {
    view.epoch_start = leading->epoch_start;
  }
  if (const Resigned* resigned = in<Resigned>()) {
    view.resigning = stopping && !resigned->unheard.empty();
  }
  return view;
}

// ---------------------------------------------------------------- the public side

const char* state_name(QuorumView::State state) noexcept {
  switch (state) {
    case QuorumView::State::unattached: return "Unattached";
    case QuorumView::State::prospective: return "Prospective";
    case QuorumView::State::candidate: return "Candidate";
    case QuorumView::State::follower: return "Follower";
    case QuorumView::State::leader: return "Leader";
    case QuorumView::State::resigned: return "Resigned";
  }
  return "";
}

Quorum::Quorum(Config config, ElectionState state, ReplicatedLog& log, Prng prng, Instant now)
    : impl_(std::make_unique<Impl>(std::move(config), std::move(state), log, prng, now)) {}
Quorum::~Quorum() = default;
Quorum::Quorum(Quorum&&) noexcept = default;
Quorum& Quorum::operator=(Quorum&&) noexcept = default;

void Quorum::step(const Input& input, Instant now, Outputs& out) { impl_->step(input, now, out); }
Instant Quorum::next_deadline() const noexcept { return impl_->next_deadline(); }
QuorumView Quorum::view() const { return impl_->view(); }
const VoterSet& Quorum::voters() const noexcept { return impl_->voters(); }
const std::string& Quorum::problem() const noexcept { return impl_->load_problem; }
bool Quorum::is_leader() const noexcept { return impl_->in<Leader>() != nullptr; }
Offset Quorum::log_end_offset() const noexcept { return impl_->log.end_offset(); }
Offset Quorum::high_watermark() const noexcept { return impl_->high_watermark; }
LeaderEpoch Quorum::epoch() const noexcept { return impl_->epoch(); }
const VoterSet& Quorum::voters_at(Offset end) const noexcept { return impl_->history.at(end); }
std::int16_t Quorum::kraft_version_at(Offset end) const noexcept { return impl_->history.version_at(end); }

Offset Quorum::append(const std::vector<Bytes>& values, WallTime wall, Instant now, Outputs& out) {
  HW_ASSERT(is_leader() && !values.empty(), "a leader appends at least one record");
  Impl& s = *impl_;
  s.now = now;
  s.wall = wall;
  s.wall_at = now;
  s.out = &out;
  const Offset base = s.append_batch(data_batch_of(values, s.log.end_offset(), s.epoch(), wall),
                                     static_cast<std::int64_t>(values.size()));
  s.out = nullptr;
  return base;
}

}  // namespace hw::raft
