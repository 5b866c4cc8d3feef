// SPDX-License-Identifier: Apache-2.0
#include "ui/session/newest_parts.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <utility>

#include <QMetaObject>

#include "ui/session/record_rows.h"

namespace hw::ui {

// Each look has a place of its own in `times_`, so looks share nothing but the counts.
class NewestParts::Job : public std::enable_shared_from_this<NewestParts::Job> {
 public:
  Job(std::shared_ptr<BatchReader> reader, std::string topic, std::vector<ScanPart> parts, Of of, NewestParts* receiver)
      : reader_(std::move(reader)),
        topic_(std::move(topic)),
        parts_(std::move(parts)),
        of_(of),
        times_(parts_.size(), -1),
        left_(parts_.size()),
        receiver_(receiver) {}

  void begin() {
    for (std::size_t i = 0; i < std::min(kAtOnce, parts_.size()); ++i) {
      next();
    }
  }

  void stop() {
    cancelled_ = true;
    const std::lock_guard lock(mutex_);
    receiver_ = nullptr;
  }

 private:
  void next() {
    const std::size_t at = next_.fetch_add(1);
    if (at >= parts_.size() || cancelled_) {
      return;
    }
    BatchQuery query;
    query.topic = topic_;
    query.partition = parts_[at].partition;
    query.from_offset = of_ == Of::newest ? parts_[at].to - 1 : parts_[at].from;
    query.max_bytes = 1;
    reader_->read(query, [self = shared_from_this(), at](const BatchAnswer& answer) { self->take(at, answer); });
  }

  void take(std::size_t at, const BatchAnswer& answer) {
    const BatchEnds ends = batch_ends(answer.bytes);
    times_[at] = of_ == Of::newest ? ends.last_time_ms : ends.first_time_ms;
    if (left_.fetch_sub(1) == 1) {
      tell();
    } else {
      next();
    }
  }

  void tell() {
    std::vector<std::size_t> order(parts_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      if ((times_[a] < 0) != (times_[b] < 0)) {
        return times_[b] < 0;
      }
      return of_ == Of::newest ? times_[a] > times_[b] : times_[a] < times_[b];
    });
    std::vector<std::int32_t> out;
    out.reserve(order.size());
    std::transform(order.begin(), order.end(), std::back_inserter(out), [this](std::size_t at) { return parts_[at].partition; });
    const std::lock_guard lock(mutex_);
    if (receiver_ != nullptr) {
      QMetaObject::invokeMethod(
          receiver_,
          [receiver = receiver_, self = shared_from_this(), out = std::move(out)] {
            if (receiver->job_ == self) {
              receiver->job_.reset();
              Q_EMIT receiver->found(out);
            }
          },
          Qt::QueuedConnection);
    }
  }

  std::shared_ptr<BatchReader> reader_;
  const std::string topic_;
  const std::vector<ScanPart> parts_;
  const Of of_;
  std::vector<std::int64_t> times_;  // -1: not known
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> left_;
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  NewestParts* receiver_;
};

void NewestParts::start(const std::shared_ptr<BatchReader>& reader, const std::string& topic, std::vector<ScanPart> parts, Of of) {
  cancel();
  job_ = std::make_shared<Job>(reader, topic, std::move(parts), of, this);
  job_->begin();
}

void NewestParts::cancel() {
  if (job_ != nullptr) {
    job_->stop();
    job_.reset();
  }
}

}  // namespace hw::ui
