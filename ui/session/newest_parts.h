// SPDX-License-Identifier: Apache-2.0
// NewestParts: which partitions of a large topic were written to last (or first), from one look into the log of each.
//
// No counter tells when a log was written to; the batch at its end (or its begin) does. Looks are made off the UI thread, kAtOnce
// at a time, one small batch each. Thread rule: UI thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <QObject>

#include "ui/session/batch_reader.h"
#include "ui/session/record_scan.h"

namespace hw::ui {

class NewestParts : public QObject {
  Q_OBJECT

 public:
  enum class Of : std::uint8_t { newest, oldest };
  static constexpr std::size_t kAtOnce = 8;

  explicit NewestParts(QObject* parent = nullptr) : QObject(parent) {}

  ~NewestParts() override { cancel(); }

  // REQUIRES: a reader, and parts of which each holds a record (from < to).
  void start(const std::shared_ptr<BatchReader>& reader, const std::string& topic, std::vector<ScanPart> parts, Of of);
  void cancel();

  [[nodiscard]] bool running() const { return job_ != nullptr; }

 signals:
  // All partitions: those with the newest records first, or with the oldest. Of equal times the lower number comes first; those that
  // could not be read come last.
  void found(const std::vector<std::int32_t>& partitions);

 private:
  class Job;
  std::shared_ptr<Job> job_;
};

}  // namespace hw::ui
