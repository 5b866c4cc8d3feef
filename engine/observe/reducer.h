// SPDX-License-Identifier: Apache-2.0
// Reducer: events in, immutable views out. The same code serves a live cluster, a simulation and a
// recording.
//
//   apply(event) … apply(event)  publish() → view n      what changed since view n-1 is copied
//   once, whatever the number
//                                                        of events; everything else is shared with
//                                                        view n-1
//
// Events of several nodes may arrive in any order between nodes (each node's own are in order), so
// a replica may be told of before its topic: what is known is kept under the topic's id and shows
// when the topic has a name. Cost of publish(): the paths that changed (a partition, its topic's
// list, the index of topics), the list of recent events where there is a new one. Bounds: the
// cluster's own size; recent events, batches and fetches as in ClusterView. Thread rule: one
// thread; views may be read by any.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/event/event.h"
#include "engine/observe/cluster_view.h"

namespace hw::observe {

// A shared immutable value that is copied at the first edit after a freeze.
template <class T>
class CopyOnEdit {
 public:
  CopyOnEdit() : frozen_(std::make_shared<const T>()) {}

  explicit CopyOnEdit(T value) : editing_(std::make_shared<T>(std::move(value))) {}

  [[nodiscard]] const T& get() const noexcept { return editing_ ? *editing_ : *frozen_; }

  T& edit() {
    if (!editing_) {
      editing_ = std::make_shared<T>(*frozen_);
    }
    return *editing_;
  }

  [[nodiscard]] bool edited() const noexcept { return editing_ != nullptr; }

  std::shared_ptr<const T> freeze() {
    if (editing_) {
      frozen_ = std::move(editing_);
      editing_.reset();
    }
    return frozen_;
  }

 private:
  std::shared_ptr<const T> frozen_;
  std::shared_ptr<T> editing_;
};

class Reducer {
 public:
  Reducer();

  void apply(const event::Stamped& stamped);

  // True when publish() would give a new view.
  [[nodiscard]] bool changed() const noexcept { return changed_; }

  // The newest view; the previous one again where nothing has changed. Never null.
  ViewPtr publish();

 private:
  struct Topic {
    CopyOnEdit<TopicView> view;
    std::map<std::int32_t, CopyOnEdit<PartitionView>> partitions;
    std::vector<std::int32_t> edited;  // partitions to be put into the topic's list
    bool named = false;                // TopicCreated has come
  };

  using TopicIndex = std::map<std::string, std::shared_ptr<const TopicView>, std::less<>>;
  using GroupIndex = std::map<std::string, std::shared_ptr<const GroupView>, std::less<>>;
  using ConnectionIndex = std::map<ConnectionId, std::shared_ptr<const ConnectionView>>;

  Topic& topic(const Uuid& id);
  PartitionView& partition(const Uuid& id, PartitionIndex index);
  ReplicaView& replica(const Uuid& id, PartitionIndex index, BrokerId node);
  NodeView& node(BrokerId id);
  GroupView& group(const std::string& id);
  ConnectionView* connection(ConnectionId id);
  void forget_connections(BrokerId node);
  void node_gone(BrokerId node, WallTime at);
  void drop_if_removed(BrokerId id);
  void remember(const event::Stamped& stamped);
  QuorumView& quorum();
  QuorumReplicaView& quorum_replica(BrokerId node);
  void remember_step(const event::Stamped& stamped);
  void remember_life(const QuorumView::Life& life);
  void end_leadership();

  // One per kind of event. True: the event belongs into the list of recent events.
  bool on(const event::NodeStarted& e, const event::Stamped& s);
  bool on(const event::NodeReady& e, const event::Stamped& s);
  bool on(const event::NodeStopped& e, const event::Stamped& s);
  bool on(const event::ConnectionOpened& e, const event::Stamped& s);
  bool on(const event::ClientIdentified& e, const event::Stamped& s);
  bool on(const event::ConnectionClosed& e, const event::Stamped& s);
  bool on(const event::RequestRefused& e, const event::Stamped& s);
  bool on(const event::TopicCreated& e, const event::Stamped& s);
  bool on(const event::TopicDeleted& e, const event::Stamped& s);
  bool on(const event::TopicConfigChanged& e, const event::Stamped& s);
  bool on(const event::PartitionChanged& e, const event::Stamped& s);
  bool on(const event::BrokerChanged& e, const event::Stamped& s);
  bool on(const event::ControllerElected& e, const event::Stamped& s);
  bool on(const event::MetadataCommitted& e, const event::Stamped& s);
  bool on(const event::QuorumRoleChanged& e, const event::Stamped& s);
  bool on(const event::QuorumVoteCast& e, const event::Stamped& s);
  bool on(const event::QuorumVotersChanged& e, const event::Stamped& s);
  bool on(const event::QuorumReplicaTracked& e, const event::Stamped& s);
  bool on(const event::SnapshotStored& e, const event::Stamped& s);
  bool on(const event::SnapshotDeleted& e, const event::Stamped& s);
  bool on(const event::ReplicaOpened& e, const event::Stamped& s);
  bool on(const event::ReplicaClosed& e, const event::Stamped& s);
  bool on(const event::LeadershipBegan& e, const event::Stamped& s);
  bool on(const event::SegmentRolled& e, const event::Stamped& s);
  bool on(const event::SegmentDeleted& e, const event::Stamped& s);
  bool on(const event::LogStartMoved& e, const event::Stamped& s);
  bool on(const event::ReplicaMoved& e, const event::Stamped& s);
  bool on(const event::LogDirFailed& e, const event::Stamped& s);
  bool on(const event::LogRecovered& e, const event::Stamped& s);
  bool on(const event::BatchAppended& e, const event::Stamped& s);
  bool on(const event::RecordsFetched& e, const event::Stamped& s);
  bool on(const event::ReplicaFetched& e, const event::Stamped& s);
  bool on(const event::LogTruncated& e, const event::Stamped& s);
  bool on(const event::ProducerFenced& e, const event::Stamped& s);
  bool on(const event::DuplicateSuppressed& e, const event::Stamped& s);
  bool on(const event::GroupStateChanged& e, const event::Stamped& s);
  bool on(const event::GroupAssigned& e, const event::Stamped& s);
  bool on(const event::GroupRebalanced& e, const event::Stamped& s);
  bool on(const event::OffsetCommitted& e, const event::Stamped& s);
  bool on(const event::OffsetDeleted& e, const event::Stamped& s);
  bool on(const event::GroupDeleted& e, const event::Stamped& s);
  bool on(const event::EventsLost& e, const event::Stamped& s);

  ViewPtr published_;
  bool changed_ = false;

  std::string cluster_id_;
  BrokerId controller_ = kNoBroker;
  std::int32_t controller_epoch_ = 0;
  std::map<BrokerId, CopyOnEdit<NodeView>> nodes_;
  std::map<BrokerId, event::BrokerChanged> registrations_;  // also of nodes that have not told of themselves
  std::set<BrokerId> removed_;                              // nodes that were registered and are no more, and have not ended yet
  CopyOnEdit<QuorumView> quorum_;
  std::int32_t tracked_epoch_ = 0;  // of quorum_.tracked
  std::int32_t ended_epoch_ = -1;   // whose leader is known to lead no more

  std::map<Uuid, Topic> topics_;
  CopyOnEdit<TopicIndex> topic_index_;
  CopyOnEdit<std::map<Uuid, std::string>> topic_names_;
  std::vector<Uuid> edited_topics_;  // may repeat

  std::map<std::string, CopyOnEdit<GroupView>> groups_;
  CopyOnEdit<GroupIndex> group_index_;
  std::vector<std::string> edited_groups_;

  std::map<ConnectionId, CopyOnEdit<ConnectionView>> connections_;
  CopyOnEdit<ConnectionIndex> connection_index_;
  std::vector<ConnectionId> edited_connections_;

  std::deque<RecentEvent> recent_;
  std::shared_ptr<const std::vector<RecentEvent>> recent_frozen_;
  bool recent_changed_ = false;
  std::uint64_t recent_number_ = 0;

  std::deque<event::Stamped> batches_;  // the newest of those since the last publication
  std::deque<event::Stamped> fetches_;
  std::deque<event::Stamped> replications_;
  std::uint64_t batches_skipped_ = 0;
  std::uint64_t events_lost_ = 0;
};

}  // namespace hw::observe
