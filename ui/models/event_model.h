// SPDX-License-Identifier: Apache-2.0
// The events of an EventJournal as a table, oldest first: one row a run of alike events, and below one that is open the events that it
// is made of. A filter judges each event; a run's row is about those that it lets through.
//
// A new view costs what is new in it. What a filter has to judge anew is judged in slices between frames.
#pragma once

#include <array>
#include <set>
#include <unordered_map>
#include <vector>

#include <QAbstractTableModel>
#include <QTimer>

#include "ui/filter/filter_program.h"
#include "ui/models/event_journal.h"

namespace hw::ui {

class EventModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column : int { time, what, node, kind, column_count };
  // `fold_role`: -1 where a row has nothing to open, else whether it is open; `inner_role`: whether it stands below an open one.
  enum Role : int { glyph_role = Qt::UserRole, address_role, fold_role, inner_role };
  static constexpr std::size_t kOpenMax = 200;       // events listed below an open row
  static constexpr std::size_t kJudgedAtOnce = 500;  // by a filter, before others have their turn

  explicit EventModel(QObject* parent = nullptr);

  // Takes over what happened since the last call.
  void update(const observe::ClusterView& view);
  // Everything, or only what a person cares about (no internal topics, no details).
  void setAll(bool all);
  [[nodiscard]] bool all() const { return all_; }
  // Only events that it lets through; null: all.
  void setFilter(filter::ProgramPtr program);
  // Only events of these severities, as bits (1 << severity).
  void setSeverities(unsigned severities);
  [[nodiscard]] unsigned severities() const { return severities_; }
  static constexpr unsigned kAllSeverities = 0b1111;
  // How many rows the severity has to show, whether it is chosen or not: of those that the filter lets through; and how many events
  // these stand for.
  [[nodiscard]] EventJournal::Tally count(Severity severity) const;
  // Rows that are shown, without what stands below open ones.
  [[nodiscard]] int shown() const { return shown_; }
  // Rows that filter and severities have left out.
  [[nodiscard]] int hidden() const;
  // Kinds (or ids of clients) among the rows, each once, the newest first, `most` at most.
  [[nodiscard]] QStringList values(bool clients, int most) const;
  [[nodiscard]] Selection about(int row) const;
  [[nodiscard]] bool canOpen(int row) const;
  [[nodiscard]] bool isOpen(int row) const;
  void setOpen(int row, bool open);
  // The row that an event below an open one belongs to; itself otherwise.
  [[nodiscard]] int outer(int row) const;
  [[nodiscard]] const EventJournal& journal() const { return journal_; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 signals:
  // A slice of what a filter has to judge is done.
  void judgedMore();

 private:
  using Id = EventJournal::Id;
  using Run = EventJournal::Run;
  struct Line {
    Id run = 0;              // 0: what is not kept any more, above all others
    std::int64_t part = -1;  // kWhole, kRest, or one event of the run
    friend bool operator==(const Line&, const Line&) = default;
  };
  static constexpr std::int64_t kWhole = -1;
  static constexpr std::int64_t kRest = -2;  // how many are not listed below an open row
  // What a filter has said of a run.
  struct Judged {
    std::size_t seen = 0;           // events judged so far
    bool single = false;            // as it was while it had one
    bool gone = false;              // lets through those that are not kept any more, of which only the row's words are known
    std::vector<std::size_t> hits;  // those that it lets through, ascending
  };

  void judgeAllAnew();
  // At most kJudgedAtOnce events of `waiting_`, the newest runs first; returns the runs that were judged.
  std::vector<Id> judgeSome();
  [[nodiscard]] std::size_t judge(const Run& run, std::size_t most);
  void judgeLater();
  void rebuild();
  [[nodiscard]] bool inList(const Run& run) const { return all_ || !run.detail; }
  // Events of the run that the filter lets through.
  [[nodiscard]] std::size_t hits(const Run& run) const;
  [[nodiscard]] std::size_t goneHits(const Run& run) const;         // of them, those that are not kept any more
  [[nodiscard]] EventJournal::Tally kept(Severity severity) const;  // with what the filter hides
  [[nodiscard]] std::vector<Line> linesOf(const Run& run) const;
  // Makes the rows of these runs what they ought to be.
  void sync(const std::vector<Id>& runs);
  void syncOne(const Run& run);
  void remove(const std::vector<Id>& runs);
  void syncDropped();  // the row above all others
  [[nodiscard]] QString droppedText() const;
  [[nodiscard]] std::pair<int, int> rowsOf(Id run) const;  // first, one past the last
  [[nodiscard]] const Run* runAt(int row) const;
  // The one event that a row is about; nullptr: it is about several, or about none.
  [[nodiscard]] const EventJournal::Part* partAt(const Run& run, std::int64_t part) const;
  // Of the row; of several events what they share.
  [[nodiscard]] EventText textOf(const Run& run, std::int64_t part) const;
  [[nodiscard]] Selection shared(const Run& run) const;
  // Calls with each event of the run that the filter lets through and that is kept, until it returns false.
  template <class Call>
  void eachHit(const Run& run, Call call) const;

  EventJournal journal_;
  std::vector<Line> lines_;  // ascending by run
  int shown_ = 0;
  QString dropped_;  // what the row above all others says
  bool all_ = false;
  filter::ProgramPtr program_;
  unsigned severities_ = kAllSeverities;
  std::set<Id> open_;
  std::unordered_map<Id, Judged> judged_;  // while there is a filter
  std::set<Id> waiting_;                   // to be judged
  mutable std::array<EventJournal::Tally, kSeverities.size()> passed_{};  // by severity, while there is a filter
  mutable bool counted_ = false;                                          // `passed_` is of now
  QTimer later_;
};

}  // namespace hw::ui
