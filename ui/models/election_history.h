// SPDX-License-Identifier: Apache-2.0
// ElectionHistory: the elections of the controller quorum, put together from what its replicas told: who stood and why, who voted
// for whom, who leads, and how long it took.
//
// An election begins with the first replica that asks for votes or gives up the lead, and ends with the leader of an epoch; what
// follows in that epoch (others that follow it) still belongs to it. Pure. Thread rule: UI thread only (tr).
#pragma once

#include <QString>
#include <cstdint>
#include <vector>

#include "engine/observe/cluster_view.h"

namespace hw::ui {

struct Election {
  // What one replica was for a while. `to_ms` -1: still, or until the end of the picture.
  struct Band {
    std::int32_t node = -1;
    event::QuorumRole role = event::QuorumRole::unattached;
    std::int32_t epoch = 0;
    std::int32_t leader = -1;  // whom it followed
    std::int64_t from_ms = 0;
    std::int64_t to_ms = -1;
    int from_step = -1;  // index into `steps`; -1: it was so before the first
    int to_step = -1;    // -1: still
  };
  struct Vote {
    std::int32_t voter = -1;
    std::int32_t candidate = -1;
    std::int64_t at_ms = 0;
    std::int64_t asked_ms = 0;  // when the candidate began to ask
    int step = 0;               // index into `steps`
    bool pre_vote = false;
    bool granted = false;
  };
  enum class Outcome : std::uint8_t {
    runs,
    won,
    refused,     // others follow a leader that lives: it stays
    unanswered,  // too few answered at all; whoever asked goes on as before, and asks again
    found,       // whoever asked heard of the leader that there was: after a restart
  } outcome = Outcome::runs;
  std::int32_t epoch = 0;    // that was won; the last that was tried where nobody won
  std::int32_t leader = -1;  // -1: nobody has won, and nobody is known to lead
  std::int64_t began_ms = 0;
  std::int64_t decided_ms = -1;
  int decided_step = -1;
  std::int64_t ended_ms = 0;  // of the last step that belongs to it
  std::int32_t before = -1;   // who led; -1: nobody
  std::int64_t silent_since_ms = -1;  // when that one's node ended; -1: not known, or it did not end
  bool killed = false;                // that node, without a shutdown
  bool watched = true;                // from its first step; else only who won is known
  int answered = 0;                   // voters, whoever asked among them
  int voters = 0;
  QString reason;            // a sentence without its full stop: "controller 2 did not hear from leader 1 in time"
  std::vector<Band> bands;   // by node, then time; also what each was when it began
  std::vector<Vote> votes;   // as they were cast
  // Times of all that happened, in its order, also within a millisecond: who is asked answers before that counts.
  std::vector<std::int64_t> steps;
  [[nodiscard]] bool decided() const { return decided_ms >= 0; }

  // From the first step to the leader; -1: not decided, or not known.
  [[nodiscard]] std::int64_t tookMs() const { return decided() && watched ? decided_ms - began_ms : -1; }
  // How long nobody led; -1: not known.
  [[nodiscard]] std::int64_t leaderlessMs() const {
    return decided() && silent_since_ms >= 0 && decided_ms >= silent_since_ms ? decided_ms - silent_since_ms : -1;
  }
};

// Oldest first; the last one may run still.
[[nodiscard]] std::vector<Election> election_history(const observe::ClusterView& view);

}  // namespace hw::ui
