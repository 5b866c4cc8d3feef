// SPDX-License-Identifier: Apache-2.0
// ControlPlane: quorum, controller and published image of one combined node, wired together without I/O.
//
// The node owns the log __cluster_metadata-0, the file quorum-state and the disk; the control plane says what to do:
//
//   start: for every batch of the log: replay_batch();  started(log end, …);  then pump() until nothing comes any more
//   later: requests through controller();  pump() after each;  perform the outputs, then pump() again until quiet
//
// Performing: hand out.published to whoever acts on it; persist → write quorum-state, then persisted(); append; flush →
// when the log is durable, flushed(). At the start the node may do all of it synchronously.
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

namespace hw::metadata {

class ControlPlane {
 public:
  struct Options {
    raft::Voter self;                   // without endpoints: the broker's first listener stands in, as CONTROLLER
    std::shared_ptr<const BrokerConfigs> broker_configs;
    Registration registration;          // of this broker, sent at every start
    std::vector<Record> bootstrap;      // written by the first leader of an empty log; see bootstrap_records()
  };
  ControlPlane(Options options, raft::ElectionState election, Prng prng);
  ~ControlPlane();

  struct Published {
    ImagePtr image;
    MetadataDelta delta;
  };
  struct Outputs {
    std::optional<raft::ElectionState> persist;  // write quorum-state durably, then persisted()
    std::vector<raft::AppendBatch> appends;      // to the metadata log, in order
    bool flush = false;                          // then make the log durable up to its end and call flushed(end)
    std::vector<Published> published;            // newest last
    std::vector<event::Any> events;              // topics, partitions, configs, controller, commits
    void clear() {
      persist.reset();
      appends.clear();
      flush = false;
      published.clear();
      events.clear();
    }
  };

  // Before started(): one record batch of the log as it lies on disk, in order.
  Result<void> replay_batch(const Bytes& batch);
  void started(Offset log_start_offset, Offset log_end_offset, Instant now, WallTime wall);

  void pump(Instant now, WallTime wall, Outputs& out);
  void persisted(Instant now, WallTime wall, Outputs& out);
  // The metadata log is durable up to, not including, this offset.
  void flushed(Offset up_to, Instant now, WallTime wall, Outputs& out);
  [[nodiscard]] Instant next_deadline() const noexcept;

  [[nodiscard]] Controller& controller() noexcept;
  [[nodiscard]] const ImagePtr& image() const noexcept;  // never null
  [[nodiscard]] raft::QuorumView quorum() const;
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
