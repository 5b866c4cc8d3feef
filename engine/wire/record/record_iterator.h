// SPDX-License-Identifier: Apache-2.0
// The records of one batch, one after the other, as views.
//
//   auto records = RecordIterator::open(batch);            // decompresses when needed, bounded
//   if (!records) …                                        // codec unknown, data bad, too large
//   RecordView r;
//   while (records->next(r)) { … r.key … }
//   if (records->failed()) … records->problem()            // structure bad: what came before is good
//
// Views point into the batch, or into the decompressed block the iterator holds: they live as long as both. share() turns a
// view into Bytes that keep the block alive. Thread rule: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/wire/record/batch.h"

namespace hw::wire {

struct HeaderView {
  std::string_view key;
  std::optional<ByteSpan> value;  // null is not empty
};

// Headers of a record that RecordIterator gave (so their structure is checked).
class HeaderCursor {
 public:
  HeaderCursor(ByteSpan bytes, std::int32_t count) noexcept : bytes_(bytes), left_(count) {}
  bool next(HeaderView& header) noexcept;

 private:
  ByteSpan bytes_;
  std::int32_t left_ = 0;
};

struct RecordView {
  std::int32_t index = 0;                    // within the batch
  Offset offset;
  std::int64_t timestamp_ms = kNoTimestamp;  // of the batch when that has LogAppendTime
  std::optional<ByteSpan> key;
  std::optional<ByteSpan> value;
  std::int32_t header_count = 0;
  ByteSpan header_bytes;
  std::int32_t size_bytes = 0;               // uncompressed, length field included
  [[nodiscard]] HeaderCursor headers() const noexcept { return {header_bytes, header_count}; }
};

class RecordIterator {
 public:
  // Over a batch whose bytes outlive the iterator.
  [[nodiscard]] static Result<RecordIterator> open(const BatchView& batch,
                                                   std::size_t max_decompressed = kDefaultMaxDecompressed);
  // Over a batch that the iterator keeps alive. REQUIRES: `batch` is one whole batch of magic 2.
  [[nodiscard]] static Result<RecordIterator> open(Bytes batch, std::size_t max_decompressed = kDefaultMaxDecompressed);

  // False at the end and on an error. At the end, count and bytes have both been used up exactly.
  bool next(RecordView& record);
  [[nodiscard]] bool failed() const noexcept { return problem_ != nullptr; }
  [[nodiscard]] std::string problem() const;
  [[nodiscard]] const BatchView& batch() const noexcept { return batch_; }

  // A view of this iterator as Bytes: a slice where the block is owned, otherwise a copy.
  [[nodiscard]] Bytes share(ByteSpan view) const;

 private:
  RecordIterator() = default;
  BatchView batch_;
  Bytes owner_;        // the decompressed records, or the batch itself when it was given as Bytes
  Bytes keep_;         // a compressed batch that was given as Bytes: its header is read all along
  ByteSpan records_;   // what is being walked
  std::size_t position_ = 0;
  std::int32_t index_ = 0;
  const char* problem_ = nullptr;
};

// One record at the beginning of `bytes` (uncompressed). Returns its size, or 0 with `problem` set.
[[nodiscard]] std::size_t parse_record(ByteSpan bytes, const BatchView& batch, RecordView& record,
                                       const char*& problem) noexcept;

}  // namespace hw::wire
