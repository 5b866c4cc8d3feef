// SPDX-License-Identifier: Apache-2.0
#include "ui/views/record_feed.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ui/session/record_rows.h"

namespace hw::ui {

namespace {

// One page over n partitions: enough of each that the page has something of all of them.
int share_of(std::size_t partitions) {
  return std::max(8, RecordFeed::kPage / static_cast<int>(std::max<std::size_t>(1, partitions)));
}

}  // namespace

const event::ReplicaCounters* RecordFeed::countersOf(std::int32_t partition) const {
  if (!session_) {
    return nullptr;
  }
  const observe::ViewPtr view = session_->view();
  const observe::TopicView* topic = view->find_topic(topic_.toStdString());
  const auto index = static_cast<std::size_t>(partition);
  if (topic == nullptr || partition < 0 || index >= topic->partitions.size() || !topic->partitions[index]) {
    return nullptr;
  }
  return topic->partitions[index]->leader_counters();
}

void RecordFeed::stop() {
  ++generation_;
  cursors_.clear();
  jobs_.clear();
  gathered_.clear();
  tail_.clear();
  flush_.stop();
  active_ = 0;
  pending_ = 0;
  skipped_ = 0;
  partial_ = false;
  choice_.cancel();
  ends_.clear();
  adopted_.clear();
  looked_ = 0;
  opening_ = false;
}

void RecordFeed::start(const QString& topic, std::vector<std::int32_t> partitions, From from, std::int64_t value) {
  stop();
  topic_ = topic;
  Q_EMIT restarted();
  if (!session_) {
    return;
  }
  const observe::ViewPtr view = session_->view();
  const observe::TopicView* t = view->find_topic(topic.toStdString());
  if (t == nullptr) {
    Q_EMIT pageDone();
    return;
  }
  from_ = from;
  value_ = value;
  partitions.empty() ? choose(*t) : begin(std::move(partitions));
}

// Of a topic with more partitions than are read those that matter to the list; what is written to later comes in with the tail.
void RecordFeed::choose(const observe::TopicView& topic) {
  std::vector<ScanPart> wanted;
  std::vector<std::int32_t> others;
  ends_.assign(topic.partitions.size(), -1);
  for (const auto& p : topic.partitions) {
    const auto* c = p ? p->leader_counters() : nullptr;
    if (!p) {
      continue;
    }
    const std::int32_t index = p->index.value();
    const std::int64_t start = c == nullptr ? 0 : c->log_start_offset.get();
    const std::int64_t end = c == nullptr ? 0 : c->high_watermark.get();
    ends_[static_cast<std::size_t>(index)] = c == nullptr ? -1 : end;
    bool holds = end > start;
    if (from_ == From::offset) {
      holds = holds && end > value_;
    } else if (from_ == From::group) {
      const auto at = group_offsets_.find(index);
      holds = holds && at != group_offsets_.end() && at->second < end;
    }
    if (holds) {
      wanted.push_back({index, start, end});
    } else {
      others.push_back(index);
    }
  }
  partial_ = wanted.size() > kMaxPartitions;
  const std::shared_ptr<BatchReader> reader = partial_ ? session_->batches() : nullptr;
  if (reader != nullptr && from_ != From::offset && from_ != From::group) {
    pending_ = 1;
    choice_.start(reader, topic_.toStdString(), std::move(wanted), from_ == From::oldest ? NewestParts::Of::oldest : NewestParts::Of::newest);
    return;
  }
  std::vector<std::int32_t> partitions;
  std::transform(wanted.begin(), wanted.end(), std::back_inserter(partitions), [](const ScanPart& part) { return part.partition; });
  partitions.insert(partitions.end(), others.begin(), others.end());
  begin(std::move(partitions));
}

void RecordFeed::addCursor(std::int32_t partition, std::int64_t at, int share) {
  Cursor cursor;
  cursor.low = cursor.next = cursor.read_from = at;
  cursor.chunk = share;
  cursors_.insert_or_assign(partition, std::move(cursor));
}

void RecordFeed::begin(std::vector<std::int32_t> partitions) {
  pending_ = 0;
  partitions.resize(std::min(partitions.size(), kMaxPartitions));
  const int share = share_of(partitions.size());
  for (const std::int32_t p : partitions) {
    const auto* c = countersOf(p);
    const std::int64_t start = c == nullptr ? 0 : c->log_start_offset.get();
    const std::int64_t end = std::max(start, c == nullptr ? 0 : c->high_watermark.get());
    std::int64_t at = start;
    switch (from_) {
      case From::newest:
        at = end;
        break;
      case From::oldest:
      case From::time:
        break;
      case From::offset:
        at = std::clamp(value_, start, end);
        break;
      case From::group: {
        const auto committed = group_offsets_.find(p);
        at = committed == group_offsets_.end() ? end : std::clamp(committed->second, start, end);
        break;
      }
    }
    addCursor(p, at, share);
    cursors_[p].search_low = start;
    cursors_[p].search_high = end;
  }
  if (from_ == From::time) {
    pending_ = static_cast<int>(cursors_.size());
    for (const std::int32_t p : partitions) {
      searchTime(p, value_);
    }
    if (pending_ == 0) {
      Q_EMIT pageDone();
    }
    return;
  }
  if (from_ == From::newest) {
    opening_ = true;
    gatherAbove();
  } else {
    page();
  }
}

// Bisects for the first record at or after a time; timestamps of a log rise nearly always, which is good enough to begin.
void RecordFeed::searchTime(std::int32_t partition, std::int64_t time_ms) {
  Cursor& cursor = cursors_[partition];
  if (cursor.search_low >= cursor.search_high) {
    cursor.next = cursor.search_low;
    cursor.low = cursor.search_low;
    cursor.read_from = cursor.search_low;
    if (--pending_ == 0) {
      page();
    }
    return;
  }
  const std::int64_t middle = cursor.search_low + (cursor.search_high - cursor.search_low) / 2;
  read(partition, middle, INT64_MAX, 1, [this, partition, time_ms, middle](const ReadAnswer& answer) {
    Cursor& c = cursors_[partition];
    if (answer.rows.empty() || answer.rows.front().timestamp_ms >= time_ms) {
      c.search_high = middle;
    } else {
      c.search_low = std::max(middle + 1, answer.rows.front().offset + 1);
    }
    searchTime(partition, time_ms);
  });
}

void RecordFeed::read(std::int32_t partition, std::int64_t from, std::int64_t to, int count,
                      std::function<void(const ReadAnswer&)> then) {
  Job job;
  job.partition = partition;
  job.query.topic = topic_.toStdString();
  job.query.partition = partition;
  job.query.from_offset = from;
  job.query.to_offset = to;
  job.query.max_records = count;
  job.query.isolation = isolation_;
  job.query.value_head = kValueHead;
  job.then = std::move(then);
  jobs_.push_back(std::move(job));
  pump();
}

void RecordFeed::pump() {
  while (active_ < kMaxReads && !jobs_.empty() && session_) {
    Job job = std::move(jobs_.front());
    jobs_.erase(jobs_.begin());
    ++active_;
    const QPointer<RecordFeed> self(this);
    const std::uint64_t generation = generation_;
    session_->read(job.query, [self, generation, then = std::move(job.then)](const ReadAnswer& answer) {
      if (!self || generation != self->generation_) {
        return;
      }
      --self->active_;
      if (!answer.error.isEmpty()) {
        Q_EMIT self->failed(answer.error);
        if (!self || generation != self->generation_) {
          return;
        }
      }
      then(answer);
      if (self && generation == self->generation_) {
        self->pump();
      }
    });
  }
}

void RecordFeed::page() {
  const int share = share_of(cursors_.size());
  std::vector<std::int32_t> parts;
  for (auto& [p, cursor] : cursors_) {
    const auto* c = countersOf(p);
    if (c != nullptr && !cursor.reading && cursor.next < c->high_watermark.get()) {
      parts.push_back(p);
    }
  }
  pending_ = static_cast<int>(parts.size());
  if (parts.empty()) {
    Q_EMIT pageDone();
    return;
  }
  for (const std::int32_t p : parts) {
    cursors_[p].reading = true;
  }
  for (const std::int32_t p : parts) {
    read(p, cursors_[p].next, INT64_MAX, share, [this, p](const ReadAnswer& answer) {
      Cursor& cursor = cursors_[p];
      cursor.reading = false;
      if (answer.error.isEmpty()) {
        cursor.next = std::max(cursor.next, answer.next_offset);
        if (!answer.rows.empty()) {
          cursor.next = std::max(cursor.next, answer.rows.back().offset + 1);
        }
      }
      gathered_.insert(gathered_.end(), answer.rows.begin(), answer.rows.end());
      if (--pending_ == 0) {
        finishPage(false);
      }
    });
  }
}

// Merges the partitions from their rows upwards: the next one is the newest of the last ones that
// each still has. That is known only while none has run out that may have more, so those are read
// on first, a busy one in growing pieces.
void RecordFeed::gatherAbove() {
  std::vector<std::int32_t> dry;
  // The last row of each that has one: the newest of them is on top, of equal ones that of the last partition, which is shown last.
  std::vector<std::pair<std::int64_t, std::int32_t>> heads;
  const auto look_at = [&](std::int32_t p, Cursor& cursor, std::int64_t start) {
    if (!cursor.above.empty()) {
      heads.emplace_back(cursor.above.back().timestamp_ms, p);
      std::push_heap(heads.begin(), heads.end());
      return;
    }
    cursor.low = cursor.read_from;
    if (cursor.read_from > start) {
      dry.push_back(p);
    }
  };
  for (auto& [p, cursor] : cursors_) {
    const auto* c = countersOf(p);
    if (c == nullptr || cursor.unreadable) {
      continue;
    }
    const std::int64_t start = c->log_start_offset.get();
    if (!cursor.above.empty() && cursor.above.back().offset < start) {
      cursor.above.clear();  // deleted since they were read
    }
    look_at(p, cursor, start);
  }
  while (dry.empty() && !heads.empty() && gathered_.size() < static_cast<std::size_t>(kPage)) {
    std::pop_heap(heads.begin(), heads.end());
    const std::int32_t p = heads.back().second;
    heads.pop_back();
    Cursor& cursor = cursors_[p];
    cursor.low = cursor.above.back().offset;
    gathered_.push_back(std::move(cursor.above.back()));
    cursor.above.pop_back();
    const auto* c = countersOf(p);
    look_at(p, cursor, c == nullptr ? cursor.read_from : c->log_start_offset.get());
  }
  if (!dry.empty() && gathered_.size() < static_cast<std::size_t>(kPage)) {
    pending_ = static_cast<int>(dry.size());
    for (const std::int32_t p : dry) {
      cursors_[p].reading = true;
    }
    for (const std::int32_t p : dry) {
      readAbove(p);
    }
    return;  // and on from here once all have answered
  }
  finishPage(!std::exchange(opening_, false));
}

void RecordFeed::readAbove(std::int32_t partition) {
  const Cursor& cursor = cursors_[partition];
  const auto* c = countersOf(partition);
  const std::int64_t start = c == nullptr ? 0 : c->log_start_offset.get();
  const std::int64_t from = std::max(start, cursor.read_from - cursor.chunk);
  readRange(partition, from, from, std::make_shared<std::vector<RecordRow>>());
}

// Reads go forwards and end where an answer is full, so a range may take several; only its last
// rows are kept.
void RecordFeed::readRange(std::int32_t partition, std::int64_t from, std::int64_t at,
                           std::shared_ptr<std::vector<RecordRow>> rows) {
  const std::int64_t to = cursors_[partition].read_from;
  read(partition, at, to, kPage,
       [this, partition, from, at, to, rows = std::move(rows)](const ReadAnswer& answer) {
         Cursor& cursor = cursors_[partition];
         rows->insert(rows->end(), answer.rows.begin(), answer.rows.end());
         const std::int64_t reached = rows->empty()
                                          ? answer.next_offset
                                          : std::max(answer.next_offset, rows->back().offset + 1);
         const bool full = rows->size() >= static_cast<std::size_t>(kPage);
         if (full) {
           rows->erase(rows->begin(), rows->end() - kPage);
         }
         if (answer.error.isEmpty() && reached > at && reached < to) {
           readRange(partition, from, reached, rows);
           return;
         }
         cursor.reading = false;
         if (!answer.error.isEmpty()) {
           // Nothing of it above: rows with a hole between them would look complete.
           cursor.unreadable = true;
         } else {
           if (cursor.next == to && reached < to) {
             cursor.next = std::max(from, reached);  // a transaction is open: the tail goes on there
           }
           cursor.read_from = full ? rows->front().offset : from;
           cursor.above = std::move(*rows);
           // Where compaction has left next to nothing the steps grow further.
           constexpr std::int64_t kLongestStep = 1 << 14;
           cursor.chunk = std::min(
               cursor.above.empty() ? kLongestStep : std::max<std::int64_t>(kPage, cursor.chunk),
               cursor.chunk * 2);
         }
         if (--pending_ == 0) {
           gatherAbove();
         }
       });
}

void RecordFeed::finishPage(bool above) {
  const std::vector<RecordRow> rows = in_time_order(std::move(gathered_));
  gathered_.clear();
  if (!rows.empty()) {
    Q_EMIT arrived(rows, above);
  }
  Q_EMIT pageDone();
}

void RecordFeed::more() {
  if (pending_ == 0) {
    page();
  }
}

void RecordFeed::earlier() {
  if (pending_ == 0) {
    for (auto& [p, cursor] : cursors_) {
      cursor.unreadable = false;  // somebody may lead it again
    }
    gatherAbove();
  }
}

int RecordFeed::unreadable() const {
  return static_cast<int>(std::count_if(cursors_.begin(), cursors_.end(),
                                        [](const auto& entry) { return entry.second.unreadable; }));
}

bool RecordFeed::canGoEarlier() const {
  return std::any_of(cursors_.begin(), cursors_.end(), [this](const auto& entry) {
    const auto* c = countersOf(entry.first);
    return c != nullptr && entry.second.low > c->log_start_offset.get();
  });
}

bool RecordFeed::follows(std::int32_t partition, std::int64_t offset) const {
  if (const auto at = cursors_.find(partition); at != cursors_.end()) {
    return offset >= at->second.next;
  }
  const auto index = static_cast<std::size_t>(partition);
  return partition >= 0 && index < ends_.size() && ends_[index] >= 0 && offset >= ends_[index];
}

bool RecordFeed::canGoLater() const {
  return std::any_of(cursors_.begin(), cursors_.end(), [this](const auto& entry) {
    const auto* c = countersOf(entry.first);
    return c != nullptr && entry.second.next < c->high_watermark.get();
  });
}

void RecordFeed::poll() {
  if (pending_ > 0) {
    return;
  }
  adopt();
  for (auto& [p, cursor] : cursors_) {
    const auto* c = countersOf(p);
    if (c == nullptr || cursor.reading) {
      continue;
    }
    const std::int64_t end = c->high_watermark.get();
    if (cursor.next >= end) {
      continue;
    }
    if (end - cursor.next > kMaxTailBehind) {
      skipped_ += end - kPage - cursor.next;
      cursor.next = end - kPage;
    }
    cursor.reading = true;
    read(p, cursor.next, INT64_MAX, kPage * 2, [this, partition = p](const ReadAnswer& answer) {
      Cursor& here = cursors_[partition];
      here.reading = false;
      if (answer.error.isEmpty()) {
        here.next = std::max(here.next, answer.next_offset);
      }
      if (!answer.rows.empty()) {
        here.next = std::max(here.next, answer.rows.back().offset + 1);
        tail_.insert(tail_.end(), answer.rows.begin(), answer.rows.end());
        if (!flush_.isActive()) {
          flush_.start();  // tables change ten times a second
        }
      }
    });
  }
}

// Partitions that the list did not begin with are taken in when they are written to; only some are looked at each time, whatever
// their number.
void RecordFeed::adopt() {
  const observe::ViewPtr view = session_ ? session_->view() : nullptr;
  const observe::TopicView* topic = view == nullptr || ends_.empty() ? nullptr : view->find_topic(topic_.toStdString());
  if (topic == nullptr || (topic->partitions.size() == cursors_.size())) {
    return;
  }
  ends_.resize(topic->partitions.size(), 0);
  for (std::size_t i = 0; i < std::min(kLookedAt, ends_.size()); ++i) {
    looked_ = looked_ + 1 >= ends_.size() ? 0 : looked_ + 1;
    const auto partition = static_cast<std::int32_t>(looked_);
    const auto& p = topic->partitions[looked_];
    const auto* c = p == nullptr ? nullptr : p->leader_counters();
    if (c == nullptr || c->high_watermark.get() <= ends_[looked_] || cursors_.contains(partition)) {
      continue;
    }
    if (ends_[looked_] < 0) {
      ends_[looked_] = c->high_watermark.get();  // nobody led it when the list began: what is new begins here
      continue;
    }
    addCursor(partition, std::max(ends_[looked_], c->log_start_offset.get()), share_of(kMaxFollowed));
    adopted_.push_back(partition);
  }
  // Whoever came first leaves first; it comes back with its next record.
  for (std::size_t i = adopted_.size(); i > 0 && cursors_.size() > kMaxFollowed; --i) {
    const std::int32_t partition = adopted_.front();
    adopted_.pop_front();
    const Cursor& cursor = cursors_[partition];
    const auto* c = countersOf(partition);
    if (cursor.reading || (c != nullptr && cursor.next < c->high_watermark.get())) {
      adopted_.push_back(partition);
      continue;
    }
    ends_[static_cast<std::size_t>(partition)] = cursor.next;
    cursors_.erase(partition);
  }
}

void RecordFeed::flushTail() {
  const std::vector<RecordRow> rows = in_time_order(std::move(tail_));
  tail_.clear();
  if (!rows.empty()) {
    Q_EMIT arrived(rows, false);
  }
}

}  // namespace hw::ui
