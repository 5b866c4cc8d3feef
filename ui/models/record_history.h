// SPDX-License-Identifier: Apache-2.0
// How a record came to be and what became of it: produced, appended, readable, read, committed past, deleted.
//
// RecordJournal remembers what went by (appends and fetches are not kept in a view); record_history() puts it together with what
// a view tells. What nobody saw is said to be unknown, never guessed. Bounded: kKept appends and fetches, kNamesMax names.
// Thread rule: UI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "ui/session/session.h"

namespace hw::ui {

class RecordJournal : public QObject {
  Q_OBJECT

 public:
  static constexpr std::size_t kKept = 20'000;
  static constexpr std::size_t kNamesMax = 4'096;
  // The session's own, made with the first call; it sees what happens from then on.
  static RecordJournal* of(Session* session);

  struct Append {
    Uuid topic_id;
    std::int32_t partition = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int32_t size_bytes = 0;
    std::int32_t node = -1;
    std::uint64_t connection = 0;
    std::int64_t at_ms = 0;
  };
  struct Fetch {
    Uuid topic_id;
    std::int32_t partition = 0;
    std::int64_t from = 0;
    std::uint64_t connection = 0;
    std::int64_t at_ms = 0;
  };
  // Null: nobody saw it.
  [[nodiscard]] const Append* appendOf(const Uuid& topic, std::int32_t partition, std::int64_t offset) const;
  // The first fetch of each connection that a record was in, oldest first; known once the connection asked for what is behind.
  [[nodiscard]] std::vector<Fetch> readersOf(const Uuid& topic, std::int32_t partition, std::int64_t offset) const;
  // "app-1 (librdkafka 2.16)", also after it left; empty: unknown.
  [[nodiscard]] QString nameOf(std::uint64_t connection) const;
  void take(const observe::ClusterView& view);

 private:
  explicit RecordJournal(Session* session);
  std::deque<Append> appends_;
  std::deque<Fetch> fetches_;
  std::map<std::uint64_t, QString> names_;
  std::uint64_t version_ = 0;
};

struct HistoryStep {
  std::int64_t at_ms = -1;  // -1: no time is known
  QString what;             // "appended"
  QString detail;           // "by node 0, 211 B, connection 17"
  friend bool operator==(const HistoryStep&, const HistoryStep&) = default;
};
// In the order in which it happened, as far as times are known.
[[nodiscard]] std::vector<HistoryStep> record_history(const observe::ClusterView& view, const RecordJournal& journal, const QString& topic,
                                                      const RecordRow& row);
// One line: "produced by app-1 → appended by node 0, +6 ms → read by 2 connections → billing has passed it".
[[nodiscard]] QString history_line(const std::vector<HistoryStep>& steps);

}  // namespace hw::ui
