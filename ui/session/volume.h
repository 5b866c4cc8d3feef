// SPDX-License-Identifier: Apache-2.0
// Volume: how many records a topic got when, from a few looks into each partition's log rather than from all of it.
//
// Between two looks the records are taken to be spread evenly; small logs are looked at batch by batch, which is exact to the
// batch, and where there are few records at all each counts at its own time. Thread rule: VolumeSampler UI thread; Volume is a value.
#pragma once

#include <QObject>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "ui/session/batch_reader.h"
#include "ui/session/record_scan.h"

namespace hw::ui {

struct Volume {
  struct Point {
    std::int64_t offset = 0;
    std::int64_t time_ms = 0;
  };
  std::map<std::int32_t, std::vector<Point>> points;  // by partition; offsets ascend
  std::int64_t first_ms = -1;
  std::int64_t last_ms = -1;
  bool sampled = false;  // not every batch was looked at
  [[nodiscard]] bool empty() const { return first_ms < 0; }
  // Records in each of `count` equal spans of [from_ms, to_ms).
  [[nodiscard]] std::vector<double> bins(std::int64_t from_ms, std::int64_t to_ms, int count) const;
};

class VolumeSampler : public QObject {
  Q_OBJECT

 public:
  static constexpr int kLooks = 64;               // into one partition
  static constexpr int kMostLooks = 1'024;        // into all of them
  static constexpr std::int64_t kSmall = 4'096;   // offsets: read batch by batch
  static constexpr std::int64_t kFew = 16'384;    // offsets of all partitions: read record by record
  explicit VolumeSampler(QObject* parent = nullptr) : QObject(parent) {}
  ~VolumeSampler() override;
  void start(const std::shared_ptr<BatchReader>& reader, const std::string& topic, const std::vector<ScanPart>& parts);
  void cancel();
  [[nodiscard]] bool running() const { return job_ != nullptr; }

 signals:
  void ready(const hw::ui::Volume& volume);

 private:
  class Job;
  std::shared_ptr<Job> job_;
};

}  // namespace hw::ui
