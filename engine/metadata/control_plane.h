// SPDX-License-Identifier: Apache-2.0
// ControlPlane: quorum, controller and published image of one combined node, wired together without I/O.
//
// The node owns the log __cluster_metadata-0, the file quorum-state and the disk; the control plane says what to do:
//
//   start: for every batch of the log: replay_batch();  started(log end, …);
//   then, at the start and after every request or report:
//     do { out.clear();  pump(out);  perform out } while (out.again);
//   Performing: persist → write quorum-state, then persisted();  append;  hand out.published to whoever acts on it;
//   flush → when the log is durable, flushed(). persisted() and flushed() only note the fact: pump() acts on it.
//   Completions of requests run inside pump(), always after the images they depend on were handed out by an earlier
//   call, so that a reply to CreateTopics leaves when the partitions are there.
//
// At the start the node may do everything synchronously: write, append, flush, report, pump again.
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
    raft::Voter self;                   // with the controller's endpoint
    std::shared_ptr<const BrokerConfigs> broker_configs;
    Registration registration;          // of this broker, sent at every start
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
    bool again = false;                          // call pump() once more after performing these
    void clear() {
      persist.reset();
      appends.clear();
      flush = false;
      published.clear();
      events.clear();
      again = false;
    }
  };

  // Before started(): one record batch of the log as it lies on disk, in order.
  Result<void> replay_batch(const Bytes& batch);
  void started(Offset log_start_offset, Offset log_end_offset, Instant now);

  void pump(Instant now, WallTime wall, Outputs& out);
  void persisted();
  void flushed(Offset up_to);  // the metadata log is durable up to, not including, this offset
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
