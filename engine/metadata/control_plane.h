// SPDX-License-Identifier: Apache-2.0
// ControlPlane: quorum, controller and published image of one node, wired together without I/O.
//
// Every node follows the metadata log: what is committed is replayed into the image and published, whether this node leads the
// quorum, may lead it some day, or only observes. On the leader the controller is active; when it loses the lead, waiting requests
// get NOT_CONTROLLER.
//
//   start: start() replays what is known to be committed; then pump() until nothing comes any more
//   later: requests through controller(), messages of the quorum through step(); pump() after each; perform the outputs, then
//   pump() again until quiet
//
// Performing: hand out.published to whoever acts on it; persist → write quorum-state, then persisted(); flush → when the log is
// durable, flushed(); sends go to other nodes (their answers come back through step()), replies to who asked. At the start the
// node may do all of it synchronously.
// Completions of requests run inside pump(), always after the images they depend on were handed out by an earlier call,
// so that a reply to CreateTopics leaves when the partitions are there.
//
// Thread rule: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/prng.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/event/event.h"
#include "engine/metadata/configs.h"
#include "engine/metadata/controller.h"
#include "engine/metadata/image/image.h"
#include "engine/raft/quorum.h"
#include "engine/raft/replicated_log.h"

namespace hw::metadata {

class ControlPlane {
 public:
  struct Options {
    raft::Config quorum;
    std::shared_ptr<const BrokerConfigs> broker_configs;
    Registration registration;      // of this broker
    std::vector<Record> bootstrap;  // written by the first leader of an empty log; see bootstrap_records()
    // About how much log and snapshots may take, where that is less than the configuration says: a log that lies in memory.
    std::optional<std::int64_t> log_bytes_max;
  };
  // The log outlives the plane.
  ControlPlane(Options options, raft::ElectionState election, raft::ReplicatedLog& log, Prng prng);
  ~ControlPlane();

  struct Published {
    ImagePtr image;
    MetadataDelta delta;
  };
  struct Outputs {
    std::optional<raft::ElectionState> persist;  // write quorum-state durably, then persisted() with it
    bool flush = false;                          // make the log durable up to its end and call flushed(end)
    std::vector<raft::Send> sends;
    std::vector<raft::Reply> replies;
    std::vector<Published> published;            // newest last
    std::vector<event::Any> events;              // topics, partitions, configs, controller, commits
    bool leader_changed = false;                 // quorum() tells to whom
    std::string broken;                          // not empty: the node cannot go on; for people
    void clear() {
      persist.reset();
      flush = false;
      sends.clear();
      replies.clear();
      published.clear();
      events.clear();
      leader_changed = false;
      broken.clear();
    }
    [[nodiscard]] bool empty() const noexcept {
      return !persist && !flush && sends.empty() && replies.empty() && published.empty() && events.empty() && !leader_changed &&
             broken.empty();
    }
  };

  // Errc::corrupt: log or snapshot cannot be read.
  Result<void> start(Instant now, WallTime wall);

  void pump(Instant now, WallTime wall, Outputs& out);
  void persisted(const raft::ElectionState& state, Instant now, WallTime wall, Outputs& out);
  // The metadata log is durable up to, not including, this offset.
  void flushed(Offset up_to, Instant now, WallTime wall, Outputs& out);
  // raft::Request, Response, Failed, Resign.
  void step(const raft::Input& input, Instant now, WallTime wall, Outputs& out);
  [[nodiscard]] Instant next_deadline() const noexcept;

  [[nodiscard]] Controller& controller() noexcept;
  [[nodiscard]] const ImagePtr& image() const noexcept;  // never null
  [[nodiscard]] raft::QuorumView quorum() const;
  [[nodiscard]] const raft::VoterSet& voters() const noexcept;  // REQUIRES: start()
  // Where the leader's listener is, by the voters' own records; nothing: no leader, or not known.
  [[nodiscard]] std::optional<raft::Destination> leader_address() const;
  [[nodiscard]] bool ready() const noexcept;  // this broker is registered and unfenced in the published image

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What the first leader of an empty log writes, and the initial checkpoint holds: the levels of supported_features().
[[nodiscard]] std::vector<Record> bootstrap_records();

// The facts of a delta for observers, in the order of the records.
void append_events(const MetadataDelta& delta, const MetadataImage& image, std::vector<event::Any>& events);

}  // namespace hw::metadata
