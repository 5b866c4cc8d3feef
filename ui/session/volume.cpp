// SPDX-License-Identifier: Apache-2.0
#include "ui/session/volume.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include <QMetaObject>

#include "engine/wire/record/batch.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::ui {

std::vector<double> Volume::bins(std::int64_t from_ms, std::int64_t to_ms, int count) const {
  std::vector<double> out(static_cast<std::size_t>(std::max(0, count)), 0.0);
  if (out.empty() || to_ms <= from_ms) {
    return out;
  }
  const double width = static_cast<double>(to_ms - from_ms) / count;
  const auto bin = [&](double ms) { return static_cast<std::int64_t>((ms - static_cast<double>(from_ms)) / width); };
  for (const auto& [partition, list] : points) {
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {
      const auto records = static_cast<double>(list[i + 1].offset - list[i].offset);
      if (records <= 0) {
        continue;
      }
      const double begin = static_cast<double>(std::min(list[i].time_ms, list[i + 1].time_ms));
      const double end = static_cast<double>(std::max(list[i].time_ms, list[i + 1].time_ms));
      if (end - begin < 1.0) {
        const std::int64_t at = bin(begin);
        if (at >= 0 && at < count) {
          out[static_cast<std::size_t>(at)] += records;
        } else if (begin == static_cast<double>(to_ms)) {
          out.back() += records;
        }
        continue;
      }
      const std::int64_t first = std::clamp<std::int64_t>(bin(begin), 0, count - 1);
      const std::int64_t last = std::clamp<std::int64_t>(bin(end), 0, count - 1);
      for (std::int64_t b = first; b <= last; ++b) {
        const double low = std::max(begin, static_cast<double>(from_ms) + static_cast<double>(b) * width);
        const double high = std::min(end, static_cast<double>(from_ms) + static_cast<double>(b + 1) * width);
        out[static_cast<std::size_t>(b)] += records * std::max(0.0, high - low) / (end - begin);
      }
    }
  }
  return out;
}

class VolumeSampler::Job : public std::enable_shared_from_this<VolumeSampler::Job> {
 public:
  Job(std::shared_ptr<BatchReader> reader, std::string topic, const std::vector<ScanPart>& parts, VolumeSampler* receiver)
      : reader_(std::move(reader)), topic_(std::move(topic)), parts_(parts), receiver_(receiver) {
    const auto many = static_cast<int>(std::max<std::size_t>(1, parts.size()));
    looks_ = std::clamp(kMostLooks / many, 4, kLooks);
    std::int64_t offsets = 0;
    for (const ScanPart& part : parts) {
      offsets += part.to - part.from;
    }
    each_record_ = offsets <= kFew;
  }
  void stop() {
    cancelled_ = true;
    const std::lock_guard lock(mutex_);
    receiver_ = nullptr;
  }
  void next() {
    if (cursor_ < 0 && at_ < parts_.size()) {
      cursor_ = parts_[at_].from;
    }
    while (at_ < parts_.size() && cursor_ >= parts_[at_].to) {
      ++at_;
      cursor_ = at_ < parts_.size() ? parts_[at_].from : -1;
    }
    if (at_ >= parts_.size() || cancelled_) {
      tell();
      return;
    }
    const ScanPart& part = parts_[at_];
    const bool small = part.to - part.from <= kSmall;
    BatchQuery query;
    query.topic = topic_;
    query.partition = part.partition;
    query.from_offset = cursor_;
    query.max_bytes = small ? 1 << 18 : 1;
    reader_->read(query, [self = shared_from_this(), small](const BatchAnswer& answer) { self->take(answer, small); });
  }

 private:
  void take(const BatchAnswer& answer, bool small) {
    if (cancelled_) {
      return;
    }
    const ScanPart& part = parts_[at_];
    std::vector<Volume::Point>& list = volume_.points[part.partition];
    wire::BatchCursor cursor(answer.bytes.span());
    wire::BatchView batch;
    std::int64_t behind = -1;
    while (cursor.next(batch)) {
      behind = batch.next_offset().value();
      if (!each_record_ || !addRecords(list, batch)) {
        add(list, batch.base_offset().value(), batch.base_timestamp());
        add(list, behind, batch.max_timestamp());
      }
    }
    if (behind < 0) {
      cursor_ = part.to;  // nothing more, or an error: what is known so far is told
    } else if (small) {
      cursor_ = std::max(behind, cursor_ + 1);
    } else {
      volume_.sampled = true;
      const std::int64_t step = std::max<std::int64_t>(1, (part.to - part.from) / looks_);
      const std::int64_t wanted = std::max(behind, cursor_ + step);
      // The last look is at the end itself.
      cursor_ = wanted >= part.to && behind < part.to ? part.to - 1 : wanted;
    }
    next();
  }

  // False where the records of the batch cannot be read.
  bool addRecords(std::vector<Volume::Point>& list, const wire::BatchView& batch) {
    Result<wire::RecordIterator> records = wire::RecordIterator::open(batch);
    if (!records) {
      return false;
    }
    wire::RecordView record;
    while (records->next(record)) {
      add(list, record.offset.value(), record.timestamp_ms);
      add(list, record.offset.value() + 1, record.timestamp_ms);
    }
    return !records->failed();
  }
  void add(std::vector<Volume::Point>& list, std::int64_t offset, std::int64_t time_ms) {
    if (time_ms < 0) {
      return;
    }
    if (list.empty() || offset >= list.back().offset) {
      list.push_back({offset, time_ms});
    }
    volume_.first_ms = volume_.first_ms < 0 ? time_ms : std::min(volume_.first_ms, time_ms);
    volume_.last_ms = std::max(volume_.last_ms, time_ms);
  }
  void tell() {
    const std::lock_guard lock(mutex_);
    if (receiver_ != nullptr) {
      QMetaObject::invokeMethod(
          receiver_,
          [receiver = receiver_, self = shared_from_this()] {
            if (receiver->job_ == self) {
              receiver->job_.reset();
              Q_EMIT receiver->ready(self->volume_);
            }
          },
          Qt::QueuedConnection);
    }
  }
  std::shared_ptr<BatchReader> reader_;
  std::string topic_;
  std::vector<ScanPart> parts_;
  int looks_ = kLooks;
  bool each_record_ = false;
  std::size_t at_ = 0;
  std::int64_t cursor_ = -1;
  Volume volume_;
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  VolumeSampler* receiver_;
};

VolumeSampler::~VolumeSampler() { cancel(); }

void VolumeSampler::start(const std::shared_ptr<BatchReader>& reader, const std::string& topic, const std::vector<ScanPart>& parts) {
  cancel();
  if (reader == nullptr) {
    return;
  }
  std::vector<ScanPart> some;
  std::copy_if(parts.begin(), parts.end(), std::back_inserter(some), [](const ScanPart& p) { return p.to > p.from; });
  job_ = std::make_shared<Job>(reader, topic, some, this);
  job_->next();
}

void VolumeSampler::cancel() {
  if (job_ != nullptr) {
    job_->stop();
    job_.reset();
  }
}

}  // namespace hw::ui
