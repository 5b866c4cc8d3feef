// SPDX-License-Identifier: Apache-2.0
// RecordScan: goes through a topic's records off the UI thread and brings what a filter lets through.
//
// Bounded: one read ahead, at most max_rows rows kept (the rest is counted), values cut to their heads, at most kMaxKeys keys
// for the newest record per key. Rows come in blocks about ten times a second, the first ones at once. newest_first goes
// backwards in windows, so that blocks belong above what is there already.
// Thread rule: UI thread only, but for Request::sink. cancel() takes effect before the next few hundred records.
#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <memory>
#include <vector>

#include "ui/filter/filter_program.h"
#include "ui/session/batch_reader.h"
#include "ui/session/session.h"

namespace hw::ui {

struct ScanPart {
  std::int32_t partition = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;  // exclusive
};

struct ScanRequest {
  std::string topic;
  std::vector<ScanPart> parts;
  filter::ProgramPtr filter;  // null: everything
  Isolation isolation = Isolation::all;
  std::int64_t from_time_ms = INT64_MIN;  // older records are left out
  bool newest_first = false;
  bool latest_per_key = false;  // of what matches; records without a key are left out
  std::int64_t max_rows = 20'000;
  std::int64_t max_bytes = 128 << 20;   // of the rows kept; further ones are counted
  std::int64_t value_head = 64 << 10;  // longer values are cut; 0: whole, and rows are slices
  // Takes rows on the scan's thread instead of rows(); false stops. Called a last time with no rows at the end.
  std::function<bool(std::vector<RecordRow>& rows, bool end)> sink;
};

struct ScanProgress {
  std::int64_t records = 0;  // looked at
  std::int64_t hits = 0;
  std::int64_t kept = 0;     // rows handed out
  std::int64_t offsets_done = 0;
  std::int64_t offsets_total = 0;
  std::int64_t keys = 0;     // with latest_per_key
  bool keys_cut = false;     // there were more than kMaxKeys, or more bytes than allowed
  bool done = false;
  bool cancelled = false;
  QString error;
  std::int64_t elapsed_ms = 0;
  std::int64_t first_hit_ms = -1;
  [[nodiscard]] int percent() const {
    return offsets_total <= 0 ? 100 : static_cast<int>(offsets_done * 100 / offsets_total);
  }
};

class RecordScan : public QObject {
  Q_OBJECT

 public:
  static constexpr std::size_t kMaxKeys = 20'000;
  explicit RecordScan(QObject* parent = nullptr) : QObject(parent) {}
  ~RecordScan() override { cancel(); }

  // Ends what was going on. Without a reader, finished() comes with an error.
  void start(const std::shared_ptr<BatchReader>& reader, ScanRequest request);
  void cancel();
  [[nodiscard]] bool running() const { return job_ != nullptr; }
  [[nodiscard]] const ScanProgress& progress() const { return progress_; }

 signals:
  // `above`: they are older than what came before.
  void rows(const std::vector<hw::ui::RecordRow>& rows, bool above);
  void progressed();
  void finished();

 private:
  class Job;
  void receive(const std::shared_ptr<Job>& job, std::vector<std::vector<RecordRow>> blocks, const ScanProgress& progress);
  std::shared_ptr<Job> job_;
  ScanProgress progress_;
};

}  // namespace hw::ui
