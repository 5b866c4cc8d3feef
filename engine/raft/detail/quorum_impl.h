// SPDX-License-Identifier: Apache-2.0
// The quorum's insides, shared by its source files; see quorum.h for the protocol.
//
// Every input is handled and then poll() does what has become due: timers of the state, requests to destinations that are
// free. Outputs that depend on an election state which is not durable wait in `held`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/prng.h"
#include "engine/raft/detail/messages.h"
#include "engine/raft/detail/states.h"
#include "engine/raft/quorum.h"

namespace hw::raft {

struct Quorum::Impl {
  Impl(Config given, ElectionState state, ReplicatedLog& the_log, Prng random, Instant now);

  // ---------------------------------------------------------------- quorum.cpp
  void step(const Input& input, Instant now, Outputs& outputs);
  void poll();
  [[nodiscard]] Instant next_deadline() const;
  [[nodiscard]] QuorumView view() const;
  Result<void> load_voters();
  Result<void> load_snapshot_voters(const SnapshotId& id);
  Result<void> read_voters_from(Offset from);
  // Takes over what control batches say. Errc::corrupt where one does not decode.
  Result<void> note_control_batches(const Bytes& batches);

  [[nodiscard]] ReplicaKey self_key() const { return config.self.key; }
  [[nodiscard]] BrokerId self_id() const { return config.self.key.id; }
  [[nodiscard]] const VoterSet& voters() const { return history.last(); }
  [[nodiscard]] bool is_voter() const { return voters().is_voter(self_key()); }
  // Also one that the last record removes, as long as that is not committed: the others may need the log that it holds, and nobody
  // else can commit its removal then (Ongaro's thesis, 4.2.2).
  [[nodiscard]] bool may_stand() const {
    return is_voter() ||
           (history.last_offset() >= high_watermark && history.at(history.last_offset()).is_voter(self_key()));
  }
  [[nodiscard]] bool is_sole_voter() const { return voters().only(self_key()); }
  template <class T>
  [[nodiscard]] T* in() {
    return std::get_if<T>(&state);
  }
  template <class T>
  [[nodiscard]] const T* in() const {
    return std::get_if<T>(&state);
  }
  [[nodiscard]] LeaderEpoch epoch() const { return election.epoch; }
  [[nodiscard]] std::optional<BrokerId> leader() const;           // known in this epoch, also this node
  [[nodiscard]] std::vector<VoterEndpoint> leader_endpoints() const;
  [[nodiscard]] BrokerId leader_or_none() const { return leader().value_or(kNoBroker); }
  [[nodiscard]] std::int64_t wall_ms(Instant at) const;

  // --- outputs
  void persist();
  [[nodiscard]] bool persisting() const { return awaited.has_value(); }
  void release_held();
  void reply(std::uint64_t token, PeerAnswer answer);
  void fail_replica(std::string why);
  // Whether this replica's fetches say what it holds durably (Q5).
  [[nodiscard]] bool must_flush() const { return config.always_flush || is_voter(); }
  void ask_flush();  // Q6


  // --- requests to others
  // Times that only keep replicas apart are drawn from this part of the election timeout.
  static constexpr std::int64_t kJitterOfElection = 8;
  using Body = decltype(Send::body);
  // Sends where the link to that destination is free; nothing otherwise (poll() comes again). The id, or 0.
  std::uint64_t send(const Destination& to, std::int16_t version, Body body);
  [[nodiscard]] bool link_free(const Destination& to) const;
  [[nodiscard]] bool link_failing(const Destination& to) const;  // backs off after a failure
  void send_failed(std::uint64_t id);
  void back_off();  // an answer was of no use: whoever is idle is left alone for a while
  void reset_links();
  void expire_links();
  [[nodiscard]] std::optional<Destination> destination(BrokerId id, const std::vector<VoterEndpoint>& endpoints) const;
  [[nodiscard]] std::optional<Destination> voter_destination(BrokerId id) const;
  // Any voter but this node, or a bootstrap address, that may be sent to now.
  [[nodiscard]] std::optional<Destination> any_free_destination();

  // --- for whoever watches
  void tell_role(event::QuorumCause cause);
  void tell_voters();
  void tell_progress(Progress& progress);

  // --- transitions
  [[nodiscard]] Duration election_timeout();
  void become_unattached(LeaderEpoch epoch, event::QuorumCause cause);
  void become_prospective(event::QuorumCause cause);
  void become_candidate(event::QuorumCause cause);
  void become_leader();
  void become_follower(LeaderEpoch epoch, LeaderAt leader, event::QuorumCause cause);
  void become_resigned(event::QuorumCause cause);
  void leave_state();  // what the old state owes
  // Somebody says that `leader` (or nobody known) leads `epoch`; not below this one's. False: that contradicts what is known.
  bool learn_leader(std::optional<BrokerId> leader, LeaderEpoch epoch, std::vector<VoterEndpoint> endpoints);

  // ---------------------------------------------------------------- one file per state
  void poll_unattached(Unattached& unattached);
  void poll_prospective(Prospective& prospective);
  void poll_candidate(Candidate& candidate);
  void poll_follower(Follower& follower);
  void poll_leader(Leader& leader);
  void poll_resigned(Resigned& resigned);
  [[nodiscard]] Instant deadline_of(const Unattached& unattached) const;
  [[nodiscard]] Instant deadline_of(const Prospective& prospective) const;
  [[nodiscard]] Instant deadline_of(const Candidate& candidate) const;
  [[nodiscard]] Instant deadline_of(const Follower& follower) const;
  [[nodiscard]] Instant deadline_of(const Leader& leader) const;
  [[nodiscard]] Instant deadline_of(const Resigned& resigned) const;

  // ---------------------------------------------------------------- elections.cpp
  void ask_for_votes(Ballot& ballot, bool pre_vote);
  void handle(const Request& request, const wire::VoteRequest& vote);
  void handle(const Request& request, const wire::BeginQuorumEpochRequest& begin);
  void handle(const Request& request, const wire::EndQuorumEpochRequest& end);
  void handle_response(BrokerId from, const wire::VoteResponse& response);
  void handle_response(BrokerId from, const wire::BeginQuorumEpochResponse& response);
  void handle_response(BrokerId from, const wire::EndQuorumEpochResponse& response);
  [[nodiscard]] bool may_grant(const ReplicaKey& candidate, bool pre_vote, bool up_to_date) const;
  [[nodiscard]] bool right_cluster(const std::optional<std::string>& cluster_id) const;
  // What refuses a request as a whole: another cluster's, or (`well_formed`) not of the one partition that there is.
  [[nodiscard]] wire::ErrorCode whole_error(const std::optional<std::string>& cluster_id, bool well_formed) const;
  [[nodiscard]] wire::ErrorCode voter_request_error(BrokerId from, LeaderEpoch of) const;
  [[nodiscard]] wire::ErrorCode leader_request_error(LeaderEpoch of) const;
  [[nodiscard]] bool meant_for_me(BrokerId id, const Uuid& directory) const;
  // What every answer tells: a newer epoch, a leader. True: there is nothing more to do with it.
  bool handle_common(wire::ErrorCode error, BrokerId leader, LeaderEpoch epoch, std::vector<VoterEndpoint> endpoints);
  template <class Response>
  void add_leader_endpoint(Response& response) const;
  template <class Response>
  [[nodiscard]] std::vector<VoterEndpoint> endpoint_in(const Response& response, BrokerId id) const;

  // ---------------------------------------------------------------- leader.cpp, leader_fetch.cpp
  Offset append_batch(Bytes batch, std::int64_t count);
  void sync_voters(Leader& leader);
  void advance_high_watermark();
  void noted_fetch(Leader& leader, const ReplicaKey& replica);  // check quorum
  void handle(const Request& request, const wire::FetchRequest& fetch);
  wire::FetchResponse fetch_answer(std::int16_t version, wire::ErrorCode error) const;
  wire::FetchResponse try_fetch(std::int16_t version, const ReplicaKey& replica,
                                const wire::FetchRequest::FetchPartition& partition, std::int32_t max_bytes);
  void complete_waiting();
  void expire_waiting();
  void fail_waiting(Leader& leader);

  // ---------------------------------------------------------------- follower.cpp
  [[nodiscard]] wire::FetchRequest fetch_request() const;
  void fetch_from(const Destination& to);
  // `same_log`: the log ends as it did when the request was made.
  void handle_response(BrokerId from, const wire::FetchResponse& response, bool same_log);
  void take_records(const BytesChain& records);
  void follow_high_watermark(std::int64_t leaders);
  bool cut_divergence(LeaderEpoch epoch, Offset end);

  // ---------------------------------------------------------------- snapshots.cpp
  void handle(const Request& request, const wire::FetchSnapshotRequest& fetch);
  void handle_response(BrokerId from, const wire::FetchSnapshotResponse& response);
  void fetch_snapshot_from(const Destination& to, Follower& follower);

  // ---------------------------------------------------------------- voter_changes.cpp
  void handle(const Request& request, const wire::AddRaftVoterRequest& add);
  void handle(const Request& request, const wire::RemoveRaftVoterRequest& remove);
  void handle(const Request& request, const wire::UpdateRaftVoterRequest& update);
  void handle(const Request& request, const wire::DescribeQuorumRequest& describe);
  void handle_response(BrokerId from, const wire::UpdateRaftVoterResponse& response);
  void handle_api_versions(std::uint64_t id, const wire::ApiVersionsResponse* response);
  // Why the voters cannot change now; none: they can.
  [[nodiscard]] std::optional<std::pair<wire::ErrorCode, std::string>> change_hindrance() const;
  Offset append_voters(const VoterSet& next);
  void answer_change(wire::ErrorCode error, const std::string& message);
  void poll_change(Leader& leader);
  [[nodiscard]] wire::UpdateRaftVoterRequest update_voter_request() const;
  [[nodiscard]] bool own_entry_is_old() const;

  // ---------------------------------------------------------------- data
  Config config;
  ReplicatedLog& log;
  Prng prng;
  VoterHistory history;
  ElectionState election;
  State state = Unattached{};
  Offset high_watermark;
  Offset flushed;  // of the own log, as far as this quorum has heard
  Offset flush_asked;  // up to here it is on its way
  bool stopping = false;
  bool begun = false;       // the first input has come
  Offset told_voters_at;    // the last record of the voters that was told
  std::int32_t failed_rounds = 0;  // elections lost in a row: they back off longer

  // Election state that is being written, and what waits for it.
  std::optional<ElectionState> awaited;
  std::vector<Send> held_sends;
  std::vector<Reply> held_replies;

  struct Sent {
    Destination to;
    std::string link;
    std::size_t kind = 0;  // which body; an answer has to fit
    LeaderEpoch epoch;
    bool pre_vote = false;
    Offset log_end;  // of the log as it was
    LeaderEpoch last_epoch;
  };
  std::map<std::uint64_t, Sent> sent;  // by id, unanswered
  std::map<std::string, Link> links;   // by host:port and node
  std::uint64_t last_id = 0;

  Instant now;
  WallTime wall;  // newest seen; stamps batches
  Instant wall_at;
  Outputs* out = nullptr;
  std::string load_problem;
};

}  // namespace hw::raft
