// SPDX-License-Identifier: Apache-2.0
// ClusterModel: what the cluster canvas shows, taken from a ClusterView and its counters. No geometry, no painter.
//
// take() compares pointers with the previous view and rebuilds only when nodes, topics, groups or clients differ;
// sample() reads the counters of what is shown; tick(), about once a second while something flows, closes the rates.
// Names are translated; every other text is data. Thread rule: UI thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <QCoreApplication>
#include <QString>
#include <QStringList>

#include "engine/observe/cluster_view.h"
#include "ui/models/group_lag.h"
#include "ui/models/rate_meter.h"
#include "ui/painting/shapes.h"
#include "ui/session/selection.h"
#include "ui/session/session_nodes.h"
#include "ui/theme/glyphs.h"

namespace hw::ui {

class ClusterModel {
  Q_DECLARE_TR_FUNCTIONS(ClusterModel)

 public:
  struct Replica {
    std::int32_t partition = 0;
    ReplicaState state = ReplicaState::offline;
    std::shared_ptr<const event::ReplicaCounters> counters;
    std::shared_ptr<const event::ReplicaCounters> leader_counters;
    // Sampled:
    std::int64_t log_start = 0;
    std::int64_t high_watermark = 0;
    std::int64_t log_end = 0;
    std::int64_t leader_end = 0;
    std::int64_t active_until_ms = 0;  // appended to just now
    bool bright = false;
    std::int64_t leaves_s = -1;  // until its leader takes it out of the in-sync set; -1: it does not
    bool leaves_changed = false;
    std::shared_ptr<const event::FollowerCounters> followed;
    [[nodiscard]] double fill() const;
    [[nodiscard]] double tick() const;
    // True where anything to be seen changed.
    bool sample(std::int64_t now_ms);
  };
  struct Topic {
    QString name;
    bool internal = false;
    std::vector<Replica> replicas;  // on this node, by partition
  };
  struct Node {
    std::int32_t id = -1;
    QString title;
    QString port;
    observe::NodeView::State state = observe::NodeView::State::starting;
    QString why;  // killed: not empty where it ended by itself
    WallTime since;
    int leaders = 0;
    bool fenced = false;   // the controller takes it for dead, or has not let it in yet
    bool leaving = false;  // in controlled shutdown
    std::vector<Topic> topics;  // the focused one first
    int more_topics = 0;        // not shown: too many partitions in the cluster
    NodeCondition condition;    // what was done to it by hand
    std::shared_ptr<const event::NodeCounters> counters;
    [[nodiscard]] bool offline() const {
      return state == observe::NodeView::State::stopped || state == observe::NodeView::State::killed;
    }
  };
  struct Producer {
    QString key;  // client id and host: one card for all connections of a client
    QString title;
    QString host;
    bool built_in = false;
    bool placeholder = false;
    bool closed = false;
    std::uint64_t connection = 0;  // the newest
    std::deque<Bytes> keys;        // the last different ones, oldest first
    std::int64_t seen_ms = 0;
  };
  struct Member {
    QString id;
    QString label;  // "m:1"
    QString client;
    QString host;
    std::vector<std::pair<std::string, std::int32_t>> partitions;
    std::vector<QString> chips;
    std::uint64_t connection = 0;
    static constexpr std::int64_t kLagUnknown = -2;  // a partition's leader is gone, and with it the high watermark
    std::int64_t lag = -1;  // -1: nothing committed yet
    int ticks_behind = 0;
  };
  struct Group {
    QString id;
    QString state;
    std::int32_t generation = 0;  // of a consumer group: its epoch
    event::GroupProtocol kind = event::GroupProtocol::classic;
    QString reason;
    bool plain = false;  // a consumer without a group
    std::vector<Member> members;
    std::int64_t seen_ms = 0;
    // What is wrong with it, the worst first: its coordinator is gone, partitions that it reads are, or it does not keep up.
    QString trouble;           // in a word; empty: nothing
    QString trouble_short;     // where the name leaves no room for it
    Glyph trouble_glyph = Glyph::none;
    QString trouble_sentence;
  };
  struct Controller {
    std::int32_t id = -1;
    bool leader = false;
    bool online = true;
    NodeCondition condition;  // what was done to its node by hand
    [[nodiscard]] bool silent() const { return online && (condition.paused || condition.cut_off); }
  };

  // How fast a group's committed positions move, from one commit to another.
  struct Pace {
    std::vector<std::pair<std::string, std::int32_t>> of;
    std::vector<std::int64_t> known;  // what was committed of each; -1: nothing
    std::int64_t at_ms = 0;    // of the newest commit
    std::int64_t step_ms = 0;  // since the one before
    double per_second = 0;
    bool begun = false;
  };
  struct Edge {
    enum class Kind : std::uint8_t { produce, consume } kind = Kind::produce;
    std::size_t client = 0;  // index into producers or groups
    std::size_t member = 0;  // of the group
    std::size_t node = 0;
    bool broken = false;     // the node is offline
    bool halted = false;     // it runs, and is paused or cut off
    std::vector<std::pair<std::string, std::int32_t>> partitions;  // that a member reads
    QString topic;           // that a producer wrote to when the edge appeared
    std::set<std::pair<std::string, std::int32_t>> wrote;  // where a producer was seen to write, kWroteMax at most
    bool wrote_more = false;
    RateMeter meter;
    double sampled_records = 0;  // since the last tick, from events
    bool live = false;           // part of the picture now
    bool ticked = false;         // measured once at least
    bool begins = false;         // of a member that has just come: what it is handed first was there before it
    // A consumer's: whose the fetches are cannot be told, for others have the same client id. Then its commits say what it reads.
    bool by_commits = false;
    std::int64_t unclear_ms = -1;  // when that was last seen
    Pace pace;

    [[nodiscard]] double rate() const { return by_commits ? pace.per_second : meter.records_per_second(); }  // records a second
  };
  // What one node copies from another: the partitions that the first leads and the second follows.
  struct Link {
    enum class Trouble : std::uint8_t { none, down, paused, cut, slow, silent };
    std::size_t leader = 0;    // index into nodes
    std::size_t follower = 0;
    int partitions = 0;
    int in_sync = 0;           // of them
    Trouble trouble = Trouble::none;
    std::int64_t silent_ms = -1;  // since the follower's last fetch, where that is long ago
    RateMeter meter;
  };
  // A record to be shown travelling along an edge.
  struct Journey {
    QString edge;
    std::optional<Bytes> key;  // nullopt: not known
  };

  struct Changes {
    bool structure = false;  // lay out and paint everything again
    std::vector<Journey> journeys;
  };

  // Which topic is drawn with bars; empty: chosen here (a demo topic, else the first that is not internal).
  void setFocusTopic(const QString& topic);
  [[nodiscard]] const QString& focusTopic() const { return focus_topic_; }

  // What was done to nodes by hand. True where it differs: lay out and paint again.
  bool setConditions(std::vector<NodeCondition> conditions);
  // `view` is never null. Call for every frame; cheap where nothing changed.
  [[nodiscard]] Changes take(const observe::ViewPtr& view, std::int64_t now_ms);
  // Closes the rates. True while anything flows or lingers, i.e. while another tick is needed.
  struct Tick {
    bool again = false;
    bool changed = false;    // rates, lags, colours
    bool structure = false;  // a card came or went
    bool cards = false;      // a word on a card
  };
  Tick tick(std::int64_t now_ms);

  // How the Groups page judges a group: it watches them all, so that both say the same. Null: nobody judges.
  void setJudge(std::function<LagStatus(const QString& group)> judge) { judge_ = std::move(judge); }
  // Looks again at what is wrong with groups; true where that is something else.
  bool judgeGroups();
  // Reads the lag of the first `groups` groups; true where one differs.
  bool sampleLags(std::size_t groups);

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] std::vector<Node>& nodes() { return nodes_; }
  [[nodiscard]] const std::vector<Producer>& producers() const { return producers_; }
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  [[nodiscard]] const std::vector<Controller>& controllers() const { return controllers_; }
  [[nodiscard]] std::int32_t controllerEpoch() const { return controller_epoch_; }
  [[nodiscard]] const std::map<QString, Edge>& edges() const { return edges_; }

  // What a member reads, over all of its edges.
  struct Reading {
    double rate = 0;
    bool by_commits = false;  // some of it
  };

  [[nodiscard]] std::map<std::pair<std::size_t, std::size_t>, Reading> readings() const;  // by group and member; who reads nothing is not there
  [[nodiscard]] const std::vector<Link>& links() const { return links_; }  // by leader, then follower
  // Wall time in ms; tests replace it.
  void setWallClock(std::function<std::int64_t()> clock) { wall_ = std::move(clock); }
  [[nodiscard]] bool moving() const { return moving_; }
  [[nodiscard]] int topicCount() const { return topic_count_; }
  [[nodiscard]] int partitionCount() const { return partition_count_; }
  // Partitions that were looked at for how topics lie on nodes, since the beginning: the work that tests count.
  [[nodiscard]] std::uint64_t looked() const { return looked_; }
  // Of internal topics, which the other counts leave out. Nodes lead these, too.
  [[nodiscard]] int internalPartitions() const { return internal_partitions_; }
  [[nodiscard]] const QStringList& internalTopics() const { return internal_topics_; }

  static constexpr std::size_t kWroteMax = 64;
  // Edges above this rate show no single records.
  static constexpr double kJourneysBelow = 20;
  static constexpr std::int64_t kLingerMs = 5'000;

 private:
  // How a topic lies on the nodes. Ten thousand partitions are looked at only where one of their topic is another than before.
  struct Spread {
    struct Copied {  // what a follower had appended when last looked
      std::size_t pair = 0;
      std::size_t partition = 0;
      std::shared_ptr<const event::ReplicaCounters> counters;
      std::int64_t records = 0;
      std::int64_t bytes = 0;
    };
    struct Pair {
      BrokerId leader;
      BrokerId follower;
      int partitions = 0;
      int in_sync = 0;
      std::shared_ptr<const event::FetcherCounters> fetcher;
      std::optional<std::size_t> link;  // index into links; none: one of the nodes is not drawn
    };
    std::shared_ptr<const observe::TopicView> of;
    std::map<BrokerId, int> leads;
    std::vector<Pair> pairs;
    std::vector<Copied> copied;  // by partition
    std::vector<Copied> led;     // what leaders had appended, by partition; of no pair
  };
  void rebuildNodes();
  void rebuildNodeList();
  void addTopic(const observe::TopicView& topic);
  void applyConditions();
  void chooseFocus();
  void rebuildGroups();
  void refreshProducers(std::int64_t now_ms);
  void rebuildEdges();
  bool followLeaders(const QString& key, Edge& edge);
  void refreshSpreads();
  void spread(Spread& known, const std::shared_ptr<const observe::TopicView>& topic);
  void tickProducers(bool unseen);
  void tickReaders(std::int64_t now_ms);
  void pace(Edge& edge);
  using Place = std::pair<std::size_t, std::size_t>;  // group, member
  void indexMembers();
  // Whose fetches of a partition those of a connection are; several: it cannot be told.
  [[nodiscard]] std::vector<Place> readersOf(const observe::ConnectionView& connection, const std::pair<std::string, std::int32_t>& partition) const;
  void creditFetch(const event::RecordsFetched& fetch, const std::string& topic);
  void judgeEdges();
  bool countDown();
  [[nodiscard]] bool silent(BrokerId leader) const;  // nobody there, or paused
  void rebuildLinks();
  void judgeLinks();
  void tickLinks(std::int64_t now_ms, Tick& result);
  void takeEvents(std::int64_t now_ms, Changes& changes);
  void takeBatch(const event::BatchAppended& batch, std::int64_t now_ms, Changes& changes);
  void takeFetch(const event::RecordsFetched& fetch, std::int64_t now_ms, Changes& changes);
  [[nodiscard]] std::size_t nodeIndex(BrokerId id) const;
  [[nodiscard]] std::optional<std::size_t> producerOf(ConnectionId connection, std::int64_t now_ms, bool& added);
  [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> memberOf(const event::RecordsFetched& fetch,
                                                                           const std::string& topic,
                                                                           std::int64_t now_ms, bool& added);

  observe::ViewPtr view_;
  std::vector<NodeCondition> conditions_;
  QString wanted_topic_;
  QString focus_topic_;
  std::vector<Node> nodes_;
  std::vector<Producer> producers_;  // in order of appearance; a placeholder last
  std::vector<Group> groups_;        // real ones by id, then plain consumers
  std::vector<Group> plain_;         // consumers without a group
  std::vector<Controller> controllers_;
  std::int32_t controller_epoch_ = 0;
  int topic_count_ = 0;
  int partition_count_ = 0;
  int internal_partitions_ = 0;
  QStringList internal_topics_;
  std::map<QString, Edge> edges_;
  RateMeter clock_;  // when all rates were ticked: what appears is measured over the same time as what was there
  std::vector<Link> links_;
  std::map<std::string, Spread> spreads_;
  std::uint64_t looked_ = 0;
  std::function<std::int64_t()> wall_;
  std::function<LagStatus(const QString&)> judge_;
  std::map<std::int32_t, double> unowned_;                                // records since the last tick of nobody who is drawn, by nodes
  using PartitionName = std::pair<std::string, std::int32_t>;

  // What consumers were handed of a partition, and who was seen to fetch it: bytes by edges, "" is for those that are none.
  struct Handed {
    Rise out;                          // of its leader
    std::map<QString, double> seen;    // since the last tick
    std::map<QString, double> before;  // when last anything was seen
  };

  std::map<PartitionName, Handed> handed_out_;  // of those that an edge reads
  std::map<std::uint64_t, Place> member_by_connection_;
  std::map<QString, std::vector<Place>> members_by_client_;
  // Keys of the newest batches by partition, for the squares on the way to consumers.
  struct Remembered {
    std::int64_t offset = 0;
    std::optional<Bytes> key;
  };
  std::map<std::pair<std::string, std::int32_t>, std::deque<Remembered>> newest_;
  std::uint64_t last_version_ = 0;
  std::int64_t ticked_ms_ = -1;  // the last tick
  bool others_lead_ = false;     // than at the last tick, somewhere: what those handed out and took in meanwhile nobody has counted
  bool moving_ = false;
};

}  // namespace hw::ui
