// SPDX-License-Identifier: Apache-2.0
// ImageBuilder: replays metadata records and publishes immutable images.
//
//   record ─ replay() ─▶ working maps ─ publish() ─▶ ImagePtr + MetadataDelta
//
// A publication copies the indexes it touched once and the topics it touched once, so a batch costs
// O(touched · log N) plus one copy of the touched index, whatever the number of records in it.
// Records between BeginTransaction and EndTransaction become visible together; an aborted transaction leaves no trace
// (KIP-868). A record that contradicts the state (partition of an unknown topic, a topic id twice) is an error: the
// log is corrupt, or was written by something else; the builder is unchanged by it.
// Thread rule: one thread. The images may be read from any.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/metadata/image/image.h"
#include "engine/metadata/image/record.h"

namespace hw::metadata {

// Whether clients may not write to it (__consumer_offsets, __transaction_state, __share_group_state).
[[nodiscard]] bool is_internal_topic(std::string_view name) noexcept;

// What a change record makes of a partition. The leader epoch rises where a leader is given, be it the same one (KIP-631);
// the partition epoch always rises.
void apply_change(const wire::PartitionChangeRecord& record, PartitionImage& partition);

class ImageBuilder {
 public:
  // Whether publish() is going to be called. A builder that only looks at its working state keeps no list of changes.
  enum class Tracking : bool { off, on };
  // Continues from `start`; null: from the empty image.
  explicit ImageBuilder(ImagePtr start = nullptr, Tracking tracking = Tracking::on);
  ImageBuilder(ImageBuilder&&) noexcept;
  ImageBuilder& operator=(ImageBuilder&&) noexcept;
  ~ImageBuilder();

  // `offset` and `epoch`: of the record in the log. Offsets ascend.
  Result<void> replay(const Record& record, Offset offset, std::int32_t epoch);
  // A record out of a snapshot, which has no offset of its own; skip() to the end of the snapshot follows the last one.
  Result<void> load(const Record& record);
  // Control batches advance the position and nothing else.
  void skip(Offset offset, std::int32_t epoch);

  struct Published {
    ImagePtr image;
    MetadataDelta delta;
  };
  // The image of everything replayed so far (without an open transaction's records), and what changed since the last
  // publication. The image is a new object whenever the offset moved.
  Published publish();

  // Look at the working state without publishing. Valid until the next replay.
  [[nodiscard]] const TopicImage* find_topic(std::string_view name) const;
  [[nodiscard]] const TopicImage* find_topic(const Uuid& id) const;
  [[nodiscard]] const MetadataImage& working() const noexcept;  // offset() lags inside an open transaction
  [[nodiscard]] Offset offset() const noexcept;                 // of the last record seen; -1: none
  [[nodiscard]] bool in_transaction() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hw::metadata
