// SPDX-License-Identifier: Apache-2.0
// RecordFeed: reads the records of a topic page by page through Session::read, as a consumer would, and follows the tail.
//
// Pages are gathered over all chosen partitions, then handed out in one piece, ordered by time
// within the page (order across partitions is not Kafka's). The newest records, and those above,
// are the newest of all partitions together: of a partition the rows that are handed out never have
// a gap, and what is older in any of them is not there yet. Bounded: at most kMaxReads reads at
// once, kMaxPartitions partitions to begin with (those with the newest records, or the oldest, where
// that can be asked) and kMaxFollowed with those that the tail takes in as they are written to, and
// a tail that runs away is skipped over and counted. Thread rule: UI thread only.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include <QObject>
#include <QPointer>
#include <QTimer>

#include "ui/session/newest_parts.h"
#include "ui/session/session.h"

namespace hw::ui {

class RecordFeed : public QObject {
  Q_OBJECT

 public:
  enum class From : std::uint8_t { newest, oldest, offset, time, group };
  static constexpr int kPage = 200;
  static constexpr int kMaxReads = 8;
  static constexpr std::size_t kMaxPartitions = 64;
  static constexpr std::size_t kMaxFollowed = 256;
  static constexpr std::size_t kLookedAt = 1'024;  // partitions that are not read, with each poll
  static constexpr std::int64_t kMaxTailBehind = 2'000;
  static constexpr std::int64_t kValueHead = 64 << 10;  // longer values come as their heads

  explicit RecordFeed(QObject* parent = nullptr) : QObject(parent) {
    flush_.setSingleShot(true);
    flush_.setInterval(100);
    connect(&flush_, &QTimer::timeout, this, &RecordFeed::flushTail);
    connect(&choice_, &NewestParts::found, this, [this](const std::vector<std::int32_t>& partitions) { begin(partitions); });
  }
  void setSession(Session* session) { session_ = session; }
  // For the next start().
  void setIsolation(Isolation isolation) { isolation_ = isolation; }
  // Where a group is, by partition; partitions that it has not committed begin at their ends. For From::group.
  void setGroupOffsets(std::map<std::int32_t, std::int64_t> offsets) { group_offsets_ = std::move(offsets); }

  // `partitions` empty: all of the topic. `value`: the offset, or the time in ms since 1970.
  void start(const QString& topic, std::vector<std::int32_t> partitions, From from, std::int64_t value);
  void stop();
  // The next page below, or above; nothing happens while one is under way or there is none.
  void more();
  void earlier();
  [[nodiscard]] bool canGoEarlier() const;
  [[nodiscard]] bool canGoLater() const;
  // Asks for what was appended since; call it for frames while tailing.
  void poll();
  [[nodiscard]] bool busy() const { return pending_ > 0; }

  // Partitions of the page that are still missing.
  [[nodiscard]] int left() const { return choice_.running() ? 0 : pending_; }
  [[nodiscard]] std::int64_t skipped() const { return skipped_; }
  // Partitions of which the last page has nothing because reading them failed.
  [[nodiscard]] int unreadable() const;

  // True where more partitions of the topic hold something than are read.
  [[nodiscard]] bool partial() const { return partial_; }

  // Whether the tail is still to bring this record, of any partition.
  [[nodiscard]] bool follows(std::int32_t partition, std::int64_t offset) const;
  // How many are read.
  [[nodiscard]] std::size_t partitions() const { return cursors_.size(); }

 signals:
  void restarted();
  void arrived(const std::vector<hw::ui::RecordRow>& rows, bool above);
  void pageDone();
  void failed(const QString& what);

 private:
  struct Cursor {
    std::int64_t low = 0;    // first offset handed out
    std::int64_t next = 0;   // where to go on
    bool reading = false;
    // Above: rows below `low` that are read and not handed out, from `read_from` on; the next piece
    // has `chunk` offsets.
    std::vector<RecordRow> above;
    std::int64_t read_from = 0;
    std::int64_t chunk = 0;
    bool unreadable = false;
    // Search by time.
    std::int64_t search_low = 0;
    std::int64_t search_high = 0;
  };
  [[nodiscard]] const event::ReplicaCounters* countersOf(std::int32_t partition) const;
  void choose(const observe::TopicView& topic);
  void begin(std::vector<std::int32_t> partitions);
  void addCursor(std::int32_t partition, std::int64_t at, int share);
  void adopt();
  void page();
  void gatherAbove();
  void readAbove(std::int32_t partition);
  void readRange(std::int32_t partition, std::int64_t from, std::int64_t at,
                 std::shared_ptr<std::vector<RecordRow>> rows);
  void read(std::int32_t partition, std::int64_t from, std::int64_t to, int count,
            std::function<void(const ReadAnswer&)> then);
  void pump();
  void finishPage(bool above);
  void searchTime(std::int32_t partition, std::int64_t time_ms);
  void flushTail();

  struct Job {
    std::int32_t partition = 0;
    ReadQuery query;
    std::function<void(const ReadAnswer&)> then;
  };
  QPointer<Session> session_;
  QString topic_;
  std::map<std::int32_t, Cursor> cursors_;
  std::vector<Job> jobs_;  // waiting for a free slot
  int active_ = 0;
  int pending_ = 0;        // parts of the page that are still missing
  std::vector<RecordRow> gathered_;
  std::vector<RecordRow> tail_;
  std::uint64_t generation_ = 0;
  std::int64_t skipped_ = 0;
  bool partial_ = false;
  NewestParts choice_;
  From from_ = From::newest;  // of the present list
  std::int64_t value_ = 0;
  // Of partitions that are not read, by number: where they ended when the list began; -1: not known. What comes behind is for the tail.
  std::vector<std::int64_t> ends_;
  std::size_t looked_ = 0;  // at which of them poll() goes on
  std::deque<std::int32_t> adopted_;
  bool opening_ = false;   // the page that is being gathered is the first one
  Isolation isolation_ = Isolation::all;
  std::map<std::int32_t, std::int64_t> group_offsets_;
  QTimer flush_;
};

}  // namespace hw::ui
