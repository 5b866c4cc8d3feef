// SPDX-License-Identifier: Apache-2.0
#include "ui/session/record_scan.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QMetaObject>
#include <QPointer>
#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <string>
#include <unordered_map>

#include "ui/filter/record_fields.h"
#include "ui/session/record_rows.h"

namespace hw::ui {

namespace {

constexpr std::int64_t kFirstWindow = 512;
constexpr std::int64_t kLargestWindow = 1 << 16;
constexpr std::int64_t kTellEveryMs = 100;
constexpr std::size_t kSinkRows = 2'000;

void by_place(std::vector<RecordRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const RecordRow& a, const RecordRow& b) {
    return a.partition == b.partition ? a.offset < b.offset : a.partition < b.partition;
  });
}

}  // namespace

// Lives as long as a read of it is under way. Its members belong to the reader's thread, `receiver` to both.
class RecordScan::Job : public std::enable_shared_from_this<RecordScan::Job> {
 public:
  Job(std::shared_ptr<BatchReader> reader, ScanRequest request, RecordScan* receiver)
      : reader_(std::move(reader)), request_(std::move(request)), receiver_(receiver) {
    clock_.start();
    for (const ScanPart& part : request_.parts) {
      progress_.offsets_total += std::max<std::int64_t>(0, part.to - part.from);
      State state;
      state.part = part;
      state.low = part.from;
      state.high = part.to;
      const bool possible = request_.filter == nullptr || request_.filter->empty() ||
                            (request_.filter->possible(static_cast<int>(filter::RecordField::partition), part.partition, part.partition) &&
                             request_.filter->possible(static_cast<int>(filter::RecordField::offset), part.from, part.to - 1));
      if (part.to > part.from && possible) {
        states_.push_back(state);
      } else {
        progress_.offsets_done += std::max<std::int64_t>(0, part.to - part.from);
        progress_.records += std::max<std::int64_t>(0, part.to - part.from);
      }
    }
  }

  void stop() {
    cancelled_ = true;
    const std::lock_guard lock(mutex_);
    receiver_ = nullptr;
  }

  // Asks for the next piece; the answer is judged while the one behind it is being read.
  bool readNext() {
    State* state = current_;
    if (state == nullptr) {
      state = choose();
    }
    current_ = state;
    if (state == nullptr || cancelled_) {
      return false;
    }
    BatchQuery query;
    query.topic = request_.topic;
    query.partition = state->part.partition;
    query.from_offset = state->cursor;
    query.committed = request_.isolation == Isolation::committed;
    reader_->read(query, [self = shared_from_this(), state, from = state->cursor, to = state->window_to](BatchAnswer answer) {
      self->take(*state, from, to, std::move(answer));
    });
    return true;
  }

  [[nodiscard]] bool newestFirst() const { return request_.newest_first; }

  // The very first call comes from the UI thread, when nothing runs yet.
  void begin() {
    if (!readNext()) {
      // Nothing to read: said from the event loop, as every other answer.
      if (request_.sink != nullptr && !request_.latest_per_key) {
        (void)request_.sink(block_, true);
      }
      finish();
    }
  }

 private:
  struct State {
    ScanPart part;
    std::int64_t low = 0;      // what is left: [low, high)
    std::int64_t high = 0;
    std::int64_t cursor = 0;   // within the window
    std::int64_t window_from = 0;
    std::int64_t window_to = 0;
    std::int64_t window = kFirstWindow;
    int window_reads = 0;
    std::int64_t time_ms = -1;  // of what was read last; -1: nothing was yet
  };

  State* choose() {
    State* best = nullptr;
    for (State& s : states_) {
      if (s.low >= s.high) {
        continue;
      }
      // Those that were never read first, then the one whose records come next in time.
      const bool better = best == nullptr || (best->time_ms >= 0 && (s.time_ms < 0 || (request_.newest_first ? s.time_ms > best->time_ms
                                                                                                             : s.time_ms < best->time_ms)));
      if (better) {
        best = &s;
      }
    }
    if (best != nullptr) {
      best->window_from = request_.newest_first ? std::max(best->low, best->high - best->window) : best->low;
      best->window_to = best->high;
      best->cursor = best->window_from;
      best->window_reads = 0;
    }
    return best;
  }

  void take(State& state, std::int64_t from, std::int64_t to, BatchAnswer answer) {
    if (cancelled_) {
      return;
    }
    if (!answer.error.isEmpty()) {
      progress_.error = answer.error;
      finish();
      return;
    }
    // Where it goes on is known from the headers, so the next piece is on its way while this one is judged.
    const BatchEnds ends = batch_ends(answer.bytes);
    const std::int64_t next = ends.next_offset > from ? std::min(ends.next_offset, to) : to;
    state.cursor = next;
    ++state.window_reads;
    if (ends.next_offset >= 0) {
      state.time_ms = request_.newest_first ? ends.first_time_ms : ends.last_time_ms;
    }
    const bool window_done = next >= to;
    if (window_done) {
      if (request_.newest_first) {
        state.high = state.window_from;
        state.window = state.window_reads <= 1 ? std::min(kLargestWindow, state.window * 4) : std::max(kFirstWindow, state.window / 2);
      } else {
        state.low = state.high;
      }
      current_ = nullptr;
    } else if (!request_.newest_first) {
      state.low = next;
      current_ = nullptr;  // perhaps another partition is further behind in time
    }
    const bool last = !readNext();
    judge(state, from, to, answer);
    progress_.offsets_done += next - from;
    if (cancelled_) {
      return;
    }
    if (!progress_.error.isEmpty() || stopped_) {
      finish();
      return;
    }
    if (request_.sink != nullptr && !request_.latest_per_key) {
      if (block_.size() >= kSinkRows || last) {
        stopped_ = !request_.sink(block_, last);
        block_.clear();
        if (stopped_) {
          finish();
          return;
        }
      }
    } else if (!request_.latest_per_key && (window_done || !request_.newest_first)) {
      settle(false);
    }
    if (last) {
      finish();
      return;
    }
    const bool first = !told_ && !blocks_.empty();
    if (first || clock_.elapsed() - told_at_ms_ >= kTellEveryMs) {
      told_ = told_ || !blocks_.empty();
      tell();
    }
  }

  void judge(const State& state, std::int64_t from, std::int64_t to, const BatchAnswer& answer) {
    JudgeQuery query;
    query.topic = request_.topic;
    query.partition = state.part.partition;
    query.from = from;
    query.to = to;
    query.isolation = request_.isolation;
    query.filter = request_.filter.get();
    query.aborted = &answer.aborted;
    query.from_time_ms = request_.from_time_ms;
    const JudgeResult result = judge_batches(
        answer.bytes, query, [this] { return !cancelled_.load(std::memory_order_relaxed); },
        [this](const Match& match) {
          if (progress_.first_hit_ms < 0) {
            progress_.first_hit_ms = clock_.elapsed();
          }
          if (request_.latest_per_key) {
            keep(match);
          } else if (progress_.kept < request_.max_rows && (bytes_ < request_.max_bytes || request_.sink != nullptr)) {
            ++progress_.kept;
            block_.push_back(match.row(request_.value_head));
            bytes_ += row_bytes(block_.back());
          }
          return true;
        });
    progress_.records += result.records;
    progress_.hits += result.hits;
    if (!result.error.isEmpty()) {
      progress_.error = result.error;
    }
  }

  // Hands on what no partition can still add to in time; the rest waits for the partitions that are behind.
  void settle(bool all) {
    std::move(block_.begin(), block_.end(), std::back_inserter(pending_));
    block_.clear();
    if (pending_.empty()) {
      return;
    }
    const bool newest = request_.newest_first;
    std::int64_t bound = newest ? INT64_MIN : INT64_MAX;
    for (const State& s : states_) {
      if (s.low < s.high) {
        bound = newest ? std::max(bound, s.time_ms < 0 ? INT64_MAX : s.time_ms) : std::min(bound, s.time_ms < 0 ? INT64_MIN : s.time_ms);
      }
    }
    constexpr std::size_t kMerged = 64;  // of very many partitions each would wait for all
    if (all || states_.size() > kMerged) {
      blocks_.push_back(in_time_order(std::move(pending_)));
      pending_.clear();
      return;
    }
    by_place(pending_);
    std::vector<RecordRow> out;
    std::vector<RecordRow> kept;
    for (auto begin = pending_.begin(); begin != pending_.end();) {
      const auto end = std::find_if(begin, pending_.end(), [&](const RecordRow& row) { return row.partition != begin->partition; });
      // The cut is a place in the log, so that its order stands.
      auto cut = begin;
      if (newest) {
        cut = std::find_if(std::make_reverse_iterator(end), std::make_reverse_iterator(begin),
                           [bound](const RecordRow& row) { return row.timestamp_ms < bound; }).base();
      } else {
        cut = std::find_if(begin, end, [bound](const RecordRow& row) { return row.timestamp_ms > bound; });
      }
      auto& before = newest ? kept : out;
      auto& behind = newest ? out : kept;
      std::move(begin, cut, std::back_inserter(before));
      std::move(cut, end, std::back_inserter(behind));
      begin = end;
    }
    pending_ = std::move(kept);
    if (!out.empty()) {
      blocks_.push_back(in_time_order(std::move(out)));
    }
  }

  void keep(const Match& match) {
    const std::optional<std::string_view> key = match.key();
    if (!key) {
      return;
    }
    // Copies in any case: a slice would keep a whole piece of the log for one row.
    const std::int64_t head = request_.value_head > 0 ? request_.value_head : INT64_MAX;
    const auto at = latest_.find(std::string(*key));
    if (at == latest_.end()) {
      if (latest_.size() >= kMaxKeys || bytes_ >= request_.max_bytes) {
        progress_.keys_cut = true;
        return;
      }
      bytes_ += row_bytes(latest_.emplace(std::string(*key), match.row(head)).first->second);
      ++progress_.keys;
    } else {
      // One partition's records come in order; a key in two partitions keeps the later one in time.
      RecordRow row = match.row(head);
      if (row.partition == at->second.partition || row.timestamp_ms >= at->second.timestamp_ms) {
        bytes_ += row_bytes(row) - row_bytes(at->second);
        at->second = std::move(row);
      }
    }
  }

  void finish() {
    cancelled_ = true;  // a piece that is still on its way is not judged
    if (request_.sink == nullptr && !request_.latest_per_key) {
      settle(true);
    }
    progress_.done = true;
    if (request_.latest_per_key) {
      std::vector<RecordRow> rows;
      rows.reserve(latest_.size());
      for (auto& [key, row] : latest_) {
        rows.push_back(std::move(row));
      }
      by_place(rows);
      progress_.kept = static_cast<std::int64_t>(rows.size());
      latest_.clear();
      if (request_.sink == nullptr) {
        blocks_.push_back(std::move(rows));
      } else if (progress_.error.isEmpty()) {
        (void)request_.sink(rows, true);
      }
    }
    tell();
  }

  void tell() {
    progress_.elapsed_ms = clock_.elapsed();
    told_at_ms_ = progress_.elapsed_ms;
    const std::lock_guard lock(mutex_);
    if (receiver_ != nullptr) {
      QMetaObject::invokeMethod(
          receiver_,
          [receiver = receiver_, self = shared_from_this(), blocks = std::move(blocks_), progress = progress_]() mutable {
            receiver->receive(self, std::move(blocks), progress);
          },
          Qt::QueuedConnection);
    }
    blocks_.clear();
  }

  std::shared_ptr<BatchReader> reader_;
  ScanRequest request_;
  std::vector<State> states_;
  State* current_ = nullptr;
  ScanProgress progress_;
  std::vector<RecordRow> block_;               // of the window under way
  std::vector<RecordRow> pending_;             // found, and their turn has not come
  std::vector<std::vector<RecordRow>> blocks_; // finished, not yet handed over
  std::unordered_map<std::string, RecordRow> latest_;
  std::int64_t bytes_ = 0;  // of the rows kept, about
  QElapsedTimer clock_;
  std::int64_t told_at_ms_ = 0;
  bool told_ = false;
  bool stopped_ = false;
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  RecordScan* receiver_;
};

void RecordScan::start(const std::shared_ptr<BatchReader>& reader, ScanRequest request) {
  cancel();
  progress_ = {};
  if (reader == nullptr) {
    progress_.error = Session::tr("This cluster does not give its batches away.");
    progress_.done = true;
    QMetaObject::invokeMethod(this, [this] { Q_EMIT finished(); }, Qt::QueuedConnection);
    return;
  }
  job_ = std::make_shared<Job>(reader, std::move(request), this);
  job_->begin();
}

void RecordScan::cancel() {
  if (job_ != nullptr) {
    job_->stop();
    job_.reset();
    progress_.cancelled = true;
  }
}

void RecordScan::receive(const std::shared_ptr<Job>& job, std::vector<std::vector<RecordRow>> blocks, const ScanProgress& progress) {
  if (job != job_) {
    return;  // of a scan that was given up
  }
  progress_ = progress;
  const QPointer<RecordScan> self(this);
  for (const std::vector<RecordRow>& block : blocks) {
    if (!block.empty()) {
      Q_EMIT rows(block, job->newestFirst());
      if (!self || job != job_) {
        return;
      }
    }
  }
  if (progress.done) {
    job_.reset();
    Q_EMIT finished();
  } else {
    Q_EMIT progressed();
  }
}

}  // namespace hw::ui
