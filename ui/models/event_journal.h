// SPDX-License-Identifier: Apache-2.0
// EventJournal: what happened, as a window remembers it. Alike events of one cause are one run: one node that is killed brings tens of
// thousands of events, and a person is told of a few.
//
//   a run     alike events (event_alike.h), each less than kGapMs after the one before; its place is that of the first
//   a part    one event of a run, described when somebody looks at it
//
// Memory: kRowsMax runs and kPartsMax parts of each class, and classes are details and the four severities: whatever happens, an error
// is pushed out by errors only. What was pushed out is counted.
// A view keeps the newest 2,000 events, so after a flood, or when the window was late, some were never seen: their number is told as a
// warning of its own, and nodes, controllers, topics and partitions that changed meanwhile are told of as the view has them.
// Cost of take(): the events that are new; after a gap also topics, and the partitions of those that changed. Thread rule: UI thread
// only (tr).
#pragma once

#include <QStringList>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/observe/cluster_view.h"
#include "ui/models/event_alike.h"
#include "ui/models/event_text.h"

namespace hw::ui {

class EventJournal {
 public:
  static constexpr std::size_t kRowsMax = 500;
  static constexpr std::size_t kPartsMax = 10'000;
  static constexpr std::int64_t kGapMs = 2'000;
  static constexpr std::int64_t kLongMs = 30'000;  // of a whole run
  static constexpr int kNamed = 3;                 // objects that a sentence names

  using Id = std::uint64_t;  // rises with the place in the list; never 0

  struct Part {
    std::shared_ptr<const event::Any> event;
    std::int64_t at_ms = 0;
    BrokerId node;
    EventNames names;
  };
  struct Run {
    Id id = 0;
    EventText text;  // of the first
    std::int64_t first_ms = 0;
    std::int64_t last_ms = 0;
    std::int32_t node = -1;  // -1: of none, or of several
    bool detail = false;     // left out of the short list
    std::optional<Likeness> alike;  // none: it stands alone
    int count = 1;
    std::size_t gone = 0;     // parts that are not kept any more, the oldest
    std::vector<Part> parts;  // part i of the run is parts[i - gone]; empty for what stands alone
    QStringList names;        // of the first kNamed
    std::int64_t missed = 0;  // events that were never seen; the run tells of nothing else
  };
  struct Changes {
    bool reset = false;        // another cluster's: nothing of before is left
    std::vector<Id> touched;   // new or grown, ascending
    std::vector<Id> dropped;
  };
  struct Tally {
    int rows = 0;
    std::int64_t events = 0;
  };

  const Changes& take(const observe::ClusterView& view);
  // Ascending by Id.
  [[nodiscard]] const std::map<Id, Run>& runs() const { return runs_; }
  [[nodiscard]] const Run* find(Id id) const;
  // `part` of the whole run, not of those kept.
  [[nodiscard]] EventText describe(const Part& part) const;
  [[nodiscard]] EventText describe(const Run& run, std::size_t part) const { return describe(run.parts[part - run.gone]); }
  // How the object of an event is called in the row of several.
  [[nodiscard]] static QString nameOf(const EventText& text);
  // What is kept, and what was pushed out.
  [[nodiscard]] Tally kept(bool detail, Severity severity) const { return kept_[detail ? 1 : 0][static_cast<std::size_t>(severity)]; }
  [[nodiscard]] std::int64_t dropped(bool detail, Severity severity) const { return dropped_[detail ? 1 : 0][static_cast<std::size_t>(severity)]; }
  // Of before the first view.
  [[nodiscard]] std::int64_t unseen() const { return unseen_; }
  // Sentences made since the beginning: the work that tests count.
  [[nodiscard]] std::uint64_t described() const { return described_; }

 private:
  using TopicIndex = decltype(observe::ClusterView::topics);
  using Recent = std::vector<observe::RecentEvent>;
  // A client that opens its second connection has connected already; one that closes the last but one is still there.
  struct Clients {
    struct Open {
      QString host;
      QString client;  // empty until it said who it is
    };
    std::map<std::uint64_t, Open> connections;
    std::map<QString, int> counts;
    // False: the event repeats what has been told.
    bool news(const event::Any& event);
    void forget(std::uint64_t connection);
  };
  struct Key {
    Likeness likeness;
    bool internal = false;
    bool news = true;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Growing {
    Id run = 0;
    std::unordered_set<std::uint64_t> objects;
  };
  // The topic of the last event: events of one topic come together.
  struct Topic {
    Uuid id;
    EventNames names;
    const observe::TopicView* before = nullptr;
  };

  // A group's members are told when they are known and when they have partitions; the second is the news.
  bool groupNews(const event::Any& event);
  void add(const observe::RecentEvent& event, const observe::ClusterView& view);
  void addMissed(std::int64_t count, WallTime at);
  Run& begin(EventText text, WallTime at, std::int32_t node, bool detail);
  [[nodiscard]] Recent changedUnseen(const observe::ClusterView& view, Recent::const_iterator first, Recent::const_iterator last) const;
  EventNames namesOf(const event::Any& event, const observe::ClusterView& view);
  [[nodiscard]] PartitionBefore before(const event::PartitionChanged& change);
  void touch(Id id);
  void drop();
  void dropParts(std::size_t group);
  [[nodiscard]] static std::size_t groupOf(const Run& run) { return run.detail ? 0 : 1 + static_cast<std::size_t>(run.text.severity); }

  std::shared_ptr<const Recent> seen_;
  std::uint64_t last_number_ = 0;
  std::map<Id, Run> runs_;
  Id next_ = 1;
  std::array<std::deque<Id>, 1 + kSeverities.size()> order_;  // by class, oldest first
  std::array<std::size_t, 1 + kSeverities.size()> parts_{};   // by class
  std::array<std::array<Tally, kSeverities.size()>, 2> kept_{};
  std::array<std::array<std::int64_t, kSeverities.size()>, 2> dropped_{};
  std::int64_t unseen_ = 0;
  std::map<Key, Growing> growing_;
  Id missing_ = 0;  // the run that tells of missed events
  Changes changes_;
  mutable std::uint64_t described_ = 0;
  Clients clients_;
  std::map<std::string, std::string> group_states_;  // by group; only groups that were told of

  // As the view before had it.
  TopicIndex topics_;
  std::map<BrokerId, std::shared_ptr<const observe::NodeView>> nodes_;
  std::int32_t controller_epoch_ = 0;
  // Within one take().
  Topic topic_;
  std::unordered_map<std::uint64_t, const event::PartitionChanged*> changed_;
};

}  // namespace hw::ui
