// SPDX-License-Identifier: Apache-2.0
// QuorumFacts: how the quorum of the metadata log stands: every replica with how far it is, and one sentence on what may still fail.
//
// Pure: a view, what was done to nodes by hand and the time in, facts out. Thread rule: UI thread only (tr).
#pragma once

#include <QString>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/observe/cluster_view.h"
#include "ui/painting/shapes.h"
#include "ui/session/admin.h"
#include "ui/session/session_nodes.h"
#include "ui/theme/glyphs.h"

namespace hw::ui {

struct QuorumReplica {
  std::int32_t id = -1;
  bool voter = false;
  bool leads = false;
  bool answers = false;  // runs, is reached, and (where somebody leads) fetches
  ReplicaState state = ReplicaState::offline;
  Glyph glyph = Glyph::none;
  QString role;          // "leader", "voter", "asks for votes", "killed 12:03:31"
  std::int64_t log_end = -1;         // of its own log; -1: not known
  std::int64_t high_watermark = -1;  // as it knows it
  std::int64_t behind = -1;          // records; -1: not known
  // Since its last fetch, and since it last had everything; -1: not known, or it leads. 0 below a second: whoever waits at the
  // leader fetches twice a second, and numbers that run all the time tell nothing.
  std::int64_t fetched_ms = -1;
  std::int64_t caught_up_ms = -1;
  std::int64_t snapshot_end = -1;    // of its newest snapshot; -1: it has none
  std::int64_t snapshot_bytes = 0;
  WallTime snapshot_at;
  QString directory;                 // id of its directory
  friend bool operator==(const QuorumReplica&, const QuorumReplica&) = default;
};

struct QuorumFacts {
  std::vector<QuorumReplica> voters;     // by id
  std::vector<QuorumReplica> observers;  // by id
  std::int32_t leader = -1;
  std::int32_t epoch = 0;
  std::int64_t log_start = 0;
  std::int64_t log_end = 0;        // the largest
  std::int64_t high_watermark = 0;
  int majority = 0;                // how many votes are needed
  int answering = 0;               // voters that answer
  std::int64_t missed_after_ms = 0;  // so long without its leader, and a voter asks for an election
  std::int64_t seen_ms = -1;         // when it was so, in half seconds, while nobody leads: what runs then has a length; else -1
  Glyph glyph = Glyph::none;         // of the whole
  QString verdict;                 // a sentence or two
  friend bool operator==(const QuorumFacts&, const QuorumFacts&) = default;
  [[nodiscard]] bool lost() const { return answering < majority; }  // nothing of the metadata can change
  [[nodiscard]] int spare() const { return answering - majority; }
  [[nodiscard]] const QuorumReplica* find(std::int32_t id) const;
};

// A replica that has not fetched for `fetch_timeout_ms` does not answer: controller.quorum.fetch.timeout.ms, after which a voter
// takes the leader for lost, and the leader half of the voters for lost.
[[nodiscard]] QuorumFacts quorum_facts(const observe::ClusterView& view, const std::vector<NodeCondition>& conditions, std::int64_t now_ms,
                                       std::int64_t fetch_timeout_ms = SessionNodes::kQuorumFetchTimeoutMs);

// How many voters run. A majority that runs may still be silent: whether they answer is above, and takes the time. One of another
// process counts until something is known of it, and while no voter is known nobody is missing.
struct RunningVoters {
  int voters = 0;
  int running = 0;
  [[nodiscard]] bool majority() const { return voters == 0 || running * 2 > voters; }
};
[[nodiscard]] RunningVoters running_voters(const observe::ClusterView& view);

// Whether both tell the same of who leads, votes and answers; numbers that run while nothing happens (offsets, ages) may differ.
[[nodiscard]] bool same_standing(const QuorumFacts& a, const QuorumFacts& b);

// Whether the metadata can change at this moment: a controller leads, and a majority of the voters
// answers it. Cheap. True where no voter is known.
[[nodiscard]] bool quorum_commits(
    const observe::ClusterView& view, std::int64_t now_ms,
    std::int64_t fetch_timeout_ms = SessionNodes::kQuorumFetchTimeoutMs);

// What still works, with and without a majority: the rows of the page's board.
struct QuorumEffect {
  enum class Works : std::uint8_t { no, partly, yes };
  QString what;
  QString why;
  Works works = Works::yes;
  std::optional<Trial> trial;  // how to find out; nullopt: no client can ask for it
  friend bool operator==(const QuorumEffect&, const QuorumEffect&) = default;
};

struct DataReach;  // fault_facts.h

// What becomes of a change of the metadata.
enum class MetadataChanges : std::uint8_t {
  commit,
  wait_for_election,  // a majority answers, and nobody leads at this moment
  wait_for_majority,
  would_wait,  // the case that is only imagined: the majority is there
};
[[nodiscard]] MetadataChanges metadata_changes(const QuorumFacts& facts);

// `now`: how it is at this moment; null: how it would be while every leader and in-sync replica runs.
[[nodiscard]] std::vector<QuorumEffect> quorum_effects(MetadataChanges changes, const DataReach* now = nullptr);

}  // namespace hw::ui
