// SPDX-License-Identifier: Apache-2.0
// Turns stored batches into rows for the window, and into facts for a filter. Pure; any thread.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/bytes.h"
#include "ui/filter/filter_program.h"
#include "ui/filter/record_fields.h"
#include "ui/session/batch_reader.h"
#include "ui/session/session.h"

namespace hw::wire {
class BatchView;
class RecordIterator;
struct RecordView;
}  // namespace hw::wire

namespace hw::ui {

// Rows of whole batches, from query.from_offset on, at most query.max_records. Values are slices of the batches.
// `answer.next_offset` says where to go on; a batch that cannot be decoded ends the answer with an error in words.
void decode_rows(const BytesChain& batches, const std::vector<BatchAnswer::Aborted>& aborted, const ReadQuery& query,
                 ReadAnswer& answer);

// Leaves out what a read_committed consumer does not get: records of aborted transactions, and markers.
class CommittedView {
 public:
  explicit CommittedView(const std::vector<BatchAnswer::Aborted>& aborted) : aborted_(aborted) {}
  // Call for every batch in order. False: leave it out.
  bool takes(const wire::BatchView& batch);

 private:
  std::vector<BatchAnswer::Aborted> aborted_;
  std::vector<std::int64_t> open_;  // producers whose records are aborted from here on
};

// Where and how much of stored batches is judged.
struct JudgeQuery {
  std::string_view topic;
  std::int32_t partition = 0;
  std::int64_t from = 0;
  std::int64_t to = INT64_MAX;  // exclusive
  Isolation isolation = Isolation::all;
  const filter::Program* filter = nullptr;  // null: everything matches
  const std::vector<BatchAnswer::Aborted>* aborted = nullptr;
  std::int64_t from_time_ms = INT64_MIN;  // older records do not match
};
// What is told of one record that matches; row() makes a row of it: slices of the batch, or with `head` > 0 a copy of its own
// with at most so many bytes of the value, which keeps nothing else alive.
class Match {
 public:
  Match(const wire::BatchView& batch, const wire::RecordIterator& records, const wire::RecordView& record, std::int32_t partition)
      : batch_(batch), records_(records), record_(record), partition_(partition) {}
  [[nodiscard]] RecordRow row(std::int64_t head) const;
  [[nodiscard]] std::int64_t timestampMs() const;
  [[nodiscard]] std::optional<std::string_view> key() const;

 private:
  const wire::BatchView& batch_;
  const wire::RecordIterator& records_;
  const wire::RecordView& record_;
  std::int32_t partition_;
};
struct JudgeResult {
  std::int64_t records = 0;      // looked at, or ruled out with their batch
  std::int64_t hits = 0;
  std::int64_t next_offset = 0;  // behind the last batch
  std::int64_t first_time_ms = -1;  // smallest and largest timestamps that the batches claim
  std::int64_t last_time_ms = -1;
  bool stopped = false;
  QString error;
};
// `keep_on` is asked before each batch and every few hundred records. `match` returns false to stop.
JudgeResult judge_batches(const Bytes& batches, const JudgeQuery& query, const std::function<bool()>& keep_on,
                          const std::function<bool(const Match&)>& match);

// Rows of several partitions by time; within one the log's order stands, whatever its timestamps say.
[[nodiscard]] std::vector<RecordRow> in_time_order(std::vector<RecordRow> rows);

// Where the batches end and when they were, from their headers alone.
struct BatchEnds {
  std::int64_t next_offset = -1;  // -1: there is none
  std::int64_t first_time_ms = -1;
  std::int64_t last_time_ms = -1;
};
[[nodiscard]] BatchEnds batch_ends(const Bytes& batches);

}  // namespace hw::ui
