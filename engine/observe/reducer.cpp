// SPDX-License-Identifier: Apache-2.0
#include "engine/observe/reducer.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace hw::observe {
namespace {

// Partition numbers come from our own controller; a bound all the same, because they size a list.
constexpr std::int32_t kPartitionMax = 1'000'000;

bool plausible(PartitionIndex index) {
  return index.value() >= 0 && index.value() < kPartitionMax;
}

auto find_committed(GroupView& group, const std::string& topic, PartitionIndex partition) {
  return std::lower_bound(group.committed.begin(), group.committed.end(),
                          std::pair(std::string_view(topic), partition),
                          [](const GroupView::Committed& entry,
                             const std::pair<std::string_view, PartitionIndex>& key) {
                            return std::pair(std::string_view(entry.topic), entry.partition) < key;
                          });
}

bool is_metadata(const Uuid& topic) { return topic == kMetadataTopicId; }

void register_node(NodeView& view, const event::BrokerChanged& broker, WallTime at) {
  view.registered = broker.registered;
  view.fenced = broker.fenced;
  view.in_controlled_shutdown = broker.in_controlled_shutdown;
  view.rack = broker.rack;
  view.registration_since = at;
}

bool names(const GroupView::Committed& entry, const std::string& topic, PartitionIndex partition) {
  return entry.topic == topic && entry.partition == partition;
}

}  // namespace

Reducer::Reducer()
    : published_(std::make_shared<const ClusterView>()), recent_frozen_(published_->recent) {}

void Reducer::apply(const event::Stamped& stamped) {
  const bool recent = std::visit([&](const auto& e) { return on(e, stamped); }, stamped.event);
  if (recent) {
    remember(stamped);
  }
}

void Reducer::remember(const event::Stamped& stamped) {
  recent_.push_back({++recent_number_, stamped.node, stamped.at,
                     std::make_shared<const event::Any>(stamped.event)});
  if (recent_.size() > ClusterView::kRecentMax) {
    recent_.pop_front();
  }
  recent_changed_ = true;
  changed_ = true;
}

ViewPtr Reducer::publish() {
  if (!changed_) {
    return published_;
  }
  auto view = std::make_shared<ClusterView>();
  view->version = published_->version + 1;
  view->cluster_id = cluster_id_;
  view->controller = controller_;
  view->controller_epoch = controller_epoch_;
  for (auto& [id, node] : nodes_) {
    view->nodes.emplace_hint(view->nodes.end(), id, node.freeze());
  }
  view->quorum = quorum_.freeze();

  for (const Uuid& id : edited_topics_) {
    const auto found = topics_.find(id);
    if (found == topics_.end() || !found->second.named) {
      continue;  // deleted meanwhile, or nameless still: its turn comes with TopicCreated
    }
    Topic& topic = found->second;
    for (const std::int32_t index : topic.edited) {
      auto& list = topic.view.edit().partitions;
      if (list.size() <= static_cast<std::size_t>(index)) {
        list.resize(static_cast<std::size_t>(index) + 1);
      }
      list[static_cast<std::size_t>(index)] = topic.partitions.at(index).freeze();
    }
    topic.edited.clear();
    if (topic.view.edited()) {
      topic_index_.edit()[topic.view.get().name] = topic.view.freeze();
    }
  }
  edited_topics_.clear();
  view->topics = topic_index_.freeze();
  view->topic_names = topic_names_.freeze();

  for (const std::string& id : edited_groups_) {
    if (const auto found = groups_.find(id); found != groups_.end() && found->second.edited()) {
      group_index_.edit()[id] = found->second.freeze();
    }
  }
  edited_groups_.clear();
  view->groups = group_index_.freeze();

  for (const ConnectionId id : edited_connections_) {
    if (const auto found = connections_.find(id);
        found != connections_.end() && found->second.edited()) {
      connection_index_.edit()[id] = found->second.freeze();
    }
  }
  edited_connections_.clear();
  view->connections = connection_index_.freeze();

  if (recent_changed_) {
    recent_frozen_ =
        std::make_shared<const std::vector<RecentEvent>>(recent_.begin(), recent_.end());
    recent_changed_ = false;
  }
  view->recent = recent_frozen_;
  view->batches.assign(std::make_move_iterator(batches_.begin()),
                       std::make_move_iterator(batches_.end()));
  view->fetches.assign(std::make_move_iterator(fetches_.begin()),
                       std::make_move_iterator(fetches_.end()));
  batches_.clear();
  fetches_.clear();
  view->replications.assign(std::make_move_iterator(replications_.begin()),
                            std::make_move_iterator(replications_.end()));
  replications_.clear();
  view->batches_skipped = std::exchange(batches_skipped_, 0);
  view->events_lost = events_lost_;
  changed_ = false;
  published_ = std::move(view);
  return published_;
}

// ------------------------------------------------------------------------------------------------------------
// access

Reducer::Topic& Reducer::topic(const Uuid& id) {
  const auto [found, fresh] = topics_.try_emplace(id);
  if (fresh) {
    found->second.view.edit().id = id;
  }
  edited_topics_.push_back(id);
  changed_ = true;
  return found->second;
}

PartitionView& Reducer::partition(const Uuid& id, PartitionIndex index) {
  Topic& owner = topic(id);
  const auto [found, fresh] = owner.partitions.try_emplace(index.value());
  if (fresh || !found->second.edited()) {
    owner.edited.push_back(index.value());
  }
  PartitionView& view = found->second.edit();
  if (fresh) {
    view.topic_id = id;
    view.index = index;
  }
  return view;
}

ReplicaView& Reducer::replica(const Uuid& id, PartitionIndex index, BrokerId node) {
  PartitionView& owner = partition(id, index);
  for (ReplicaView& view : owner.replicas) {
    if (view.node == node) {
      return view;
    }
  }
  ReplicaView view;
  view.node = node;
  owner.replicas.push_back(std::move(view));
  return owner.replicas.back();
}

NodeView& Reducer::node(BrokerId id) {
  changed_ = true;
  NodeView& view = nodes_[id].edit();
  view.id = id;
  return view;
}

GroupView& Reducer::group(const std::string& id) {
  changed_ = true;
  edited_groups_.push_back(id);
  GroupView& view = groups_[id].edit();
  view.id = id;
  return view;
}

ConnectionView* Reducer::connection(ConnectionId id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) {
    return nullptr;
  }
  changed_ = true;
  edited_connections_.push_back(id);
  return &found->second.edit();
}

void Reducer::forget_connections(BrokerId node) {
  for (auto at = connections_.begin(); at != connections_.end();) {
    if (at->second.get().node == node) {
      connection_index_.edit().erase(at->first);
      at = connections_.erase(at);
      changed_ = true;
    } else {
      ++at;
    }
  }
}

// Nothing of a node that has ended is open any more.
void Reducer::node_gone(BrokerId gone, WallTime) {
  forget_connections(gone);
  for (auto& [id, topic_state] : topics_) {
    for (auto& [index, state] : topic_state.partitions) {
      const ReplicaView* known = state.get().replica(gone);
      if (known != nullptr && (known->online || known->counters || !known->segments.empty())) {
        ReplicaView& view = replica(id, PartitionIndex(index), gone);
        view.online = false;
        if (view.counters) {
          view.last_log_end = Offset(view.counters->log_end_offset.get());
        }
        view.counters.reset();
        view.segments.clear();
      }
    }
  }
  if (const auto known = quorum_.get().replicas.find(gone); known != quorum_.get().replicas.end() && known->second.online) {
    quorum_replica(gone).online = false;
    if (quorum().leader == gone) {
      end_leadership();
    }
  }
}

QuorumView& Reducer::quorum() {
  changed_ = true;
  return quorum_.edit();
}

QuorumReplicaView& Reducer::quorum_replica(BrokerId node) {
  QuorumReplicaView& view = quorum().replicas[node];
  view.node = node;
  return view;
}

void Reducer::remember_step(const event::Stamped& stamped) {
  std::vector<QuorumView::Step>& history = quorum().history;
  if (history.size() == QuorumView::kStepsMax) {
    history.erase(history.begin());
  }
  history.push_back({stamped.at, std::make_shared<const event::Any>(stamped.event)});
}

void Reducer::remember_life(const QuorumView::Life& life) {
  std::vector<QuorumView::Life>& lives = quorum().lives;
  if (lives.size() == QuorumView::kLivesMax) {
    lives.erase(lives.begin());
  }
  lives.push_back(life);
}

// --------------------------------------------------------------------------------------------------
// nodes, connections

bool Reducer::on(const event::NodeStarted& e, const event::Stamped& s) {
  node_gone(e.node, s.at);
  NodeView& view = node(e.node);
  view.host = e.host;
  view.port = e.port;
  view.broker = e.broker;
  view.controller = e.controller;
  view.state = NodeView::State::starting;
  view.since = s.at;
  view.why.clear();
  view.directory = e.directory;
  view.counters = e.counters;
  if (const auto known = registrations_.find(e.node); known != registrations_.end()) {
    register_node(view, known->second, s.at);
  }
  if (!e.cluster_id.empty()) {
    cluster_id_ = e.cluster_id;
  }
  remember_life({s.at, e.node, false, false});
  return true;
}

bool Reducer::on(const event::NodeReady& e, const event::Stamped& s) {
  NodeView& view = node(e.node);
  view.state = NodeView::State::running;
  view.since = s.at;
  return true;
}

bool Reducer::on(const event::NodeStopped& e, const event::Stamped& s) {
  NodeView& view = node(e.node);
  view.state = e.clean ? NodeView::State::stopped : NodeView::State::killed;
  view.since = s.at;
  view.why = e.why;
  node_gone(e.node, s.at);
  remember_life({s.at, e.node, true, e.clean});
  drop_if_removed(e.node);
  return true;
}

// Taken out of the cluster for good, and ended: whichever is heard of first. Should it start again, it says so.
void Reducer::drop_if_removed(BrokerId id) {
  if (!removed_.contains(id)) {
    return;
  }
  const NodeView& view = node(id);
  const bool ended = view.state == NodeView::State::stopped || view.state == NodeView::State::killed;
  if (ended && !view.controller) {
    removed_.erase(id);
    nodes_.erase(id);
  }
}

bool Reducer::on(const event::ConnectionOpened& e, const event::Stamped& s) {
  ConnectionView view;
  view.id = e.connection;
  view.node = s.node;
  view.peer = e.peer;
  view.opened_at = s.at;
  view.counters = e.counters;
  connections_.insert_or_assign(e.connection, CopyOnEdit<ConnectionView>(std::move(view)));
  edited_connections_.push_back(e.connection);
  changed_ = true;
  return true;
}

bool Reducer::on(const event::ClientIdentified& e, const event::Stamped&) {
  ConnectionView* view = connection(e.connection);
  if (view == nullptr) {
    return false;
  }
  // The parts come with different requests; what is empty says nothing.
  if (!e.client_id.empty()) {
    view->client_id = e.client_id;
  }
  if (!e.software_name.empty()) {
    view->software_name = e.software_name;
    view->software_version = e.software_version;
  }
  return true;
}

bool Reducer::on(const event::ConnectionClosed& e, const event::Stamped&) {
  if (connections_.erase(e.connection) != 0) {
    connection_index_.edit().erase(e.connection);
    changed_ = true;
  }
  return true;
}

bool Reducer::on(const event::RequestRefused&, const event::Stamped&) {
  return true;
}

// ------------------------------------------------------------------------------------------------------------
// metadata. Every node tells what it has replayed, each in its own time; the first to tell counts, and one that is behind
// changes nothing.

bool Reducer::on(const event::TopicCreated& e, const event::Stamped&) {
  if (const auto known = topics_.find(e.topic_id); known != topics_.end() && known->second.named) {
    return false;
  }
  // A topic of this name whose deletion was not told (another node's ring is behind) gives way.
  if (const auto other = topic_index_.get().find(e.name);
      other != topic_index_.get().end() && other->second->id != e.topic_id) {
    topics_.erase(other->second->id);
    topic_names_.edit().erase(other->second->id);
  }
  Topic& state = topic(e.topic_id);
  TopicView& view = state.view.edit();
  view.name = e.name;
  view.internal = e.internal;
  state.named = true;
  topic_names_.edit()[e.topic_id] = e.name;
  return true;
}

bool Reducer::on(const event::TopicDeleted& e, const event::Stamped&) {
  if (topics_.erase(e.topic_id) == 0) {
    return false;
  }
  topic_names_.edit().erase(e.topic_id);
  if (const auto known = topic_index_.get().find(e.name);
      known != topic_index_.get().end() && known->second->id == e.topic_id) {
    topic_index_.edit().erase(e.name);
  }
  changed_ = true;
  return true;
}

bool Reducer::on(const event::TopicConfigChanged& e, const event::Stamped&) {
  if (const auto known = topics_.find(e.topic_id); known != topics_.end()) {
    const auto& configs = known->second.view.get().configs;
    const auto set = configs.find(e.key);
    if (e.removed ? set == configs.end() : (set != configs.end() && set->second == e.value)) {
      return false;
    }
  }
  TopicView& view = topic(e.topic_id).view.edit();
  if (e.removed) {
    view.configs.erase(e.key);
  } else {
    view.configs[e.key] = e.value;
  }
  return true;
}

bool Reducer::on(const event::PartitionChanged& e, const event::Stamped& s) {
  if (!plausible(e.partition)) {
    return false;
  }
  if (const auto owner = topics_.find(e.topic_id); owner != topics_.end()) {
    const auto known = owner->second.partitions.find(e.partition.value());
    if (known != owner->second.partitions.end() && known->second.get().partition_epoch >= e.partition_epoch) {
      return false;
    }
  }
  PartitionView& view = partition(e.topic_id, e.partition);
  view.partition_epoch = e.partition_epoch;
  view.leader = e.leader;
  view.leader_epoch = e.leader_epoch;
  view.isr = e.isr;
  view.elr = e.elr;
  view.changed_at = s.at;
  // Assignment order; what else is open there (about to be removed) comes after it.
  std::vector<ReplicaView> replicas;
  for (const BrokerId id : e.replicas) {
    const ReplicaView* known = view.replica(id);
    if (known != nullptr) {
      replicas.push_back(*known);
    } else {
      ReplicaView fresh;
      fresh.node = id;
      replicas.push_back(std::move(fresh));
    }
  }
  for (const ReplicaView& known : view.replicas) {
    const bool assigned =
        std::find(e.replicas.begin(), e.replicas.end(), known.node) != e.replicas.end();
    if (!assigned && known.counters) {
      replicas.push_back(known);
    }
  }
  view.replicas = std::move(replicas);
  return true;
}

bool Reducer::on(const event::BrokerChanged& e, const event::Stamped& s) {
  const auto [known, fresh] = registrations_.try_emplace(e.broker, e);
  if (!fresh) {
    event::BrokerChanged& before = known->second;
    if (e.at <= before.at) {
      return false;
    }
    const bool news = e.registered != before.registered || e.fenced != before.fenced ||
                      e.in_controlled_shutdown != before.in_controlled_shutdown || e.broker_epoch != before.broker_epoch;
    before = e;
    if (!news) {
      return false;
    }
  }
  if (const auto node_known = nodes_.find(e.broker); node_known != nodes_.end()) {
    NodeView& view = node(e.broker);
    if (e.registered) {
      removed_.erase(e.broker);
    } else if (view.registered) {
      removed_.insert(e.broker);
    }
    register_node(view, e, s.at);
    drop_if_removed(e.broker);
  }
  return true;
}

bool Reducer::on(const event::ControllerElected& e, const event::Stamped&) {
  if (e.epoch <= controller_epoch_) {
    return false;
  }
  controller_ = e.controller;
  controller_epoch_ = e.epoch;
  changed_ = true;
  return true;
}

bool Reducer::on(const event::MetadataCommitted&, const event::Stamped&) {
  return false;
}

// ----------------------------------------------------------------------------------------------------------------
// the quorum

bool Reducer::on(const event::QuorumRoleChanged& e, const event::Stamped& s) {
  QuorumReplicaView& replica = quorum_replica(e.node);
  // Others may have told of this leader before it has told how it became one.
  const bool led = replica.role == event::QuorumRole::leader && replica.epoch == e.epoch;
  replica.online = true;
  replica.voter = e.voter;
  replica.role = e.role;
  replica.cause = e.cause;
  replica.epoch = e.epoch;
  replica.leader = e.leader;
  replica.since = s.at;
  QuorumView& view = quorum();
  const bool leads = e.role == event::QuorumRole::leader;
  const BrokerId leader = leads ? e.node : (e.role == event::QuorumRole::follower ? e.leader : kNoBroker);
  if (e.epoch > view.epoch) {
    view.epoch = e.epoch;
    view.leader = leader;
    if (tracked_epoch_ != e.epoch) {
      view.tracked.clear();
    }
  } else if (e.epoch == view.epoch) {
    if (view.leader == e.node && !leads && led) {
      end_leadership();
    } else if (view.leader == kNoBroker && ended_epoch_ != e.epoch) {
      view.leader = leader;
    }
  }
  remember_step(s);
  return true;
}

// Followers may tell of it later; it is over all the same.
void Reducer::end_leadership() {
  QuorumView& view = quorum();
  ended_epoch_ = view.epoch;
  view.leader = kNoBroker;
  view.tracked.clear();
}

bool Reducer::on(const event::QuorumVoteCast&, const event::Stamped& s) {
  remember_step(s);
  return true;
}

bool Reducer::on(const event::QuorumVotersChanged& e, const event::Stamped&) {
  const QuorumView& now = quorum_.get();
  if (!now.voters.empty() && e.at <= now.voters_at) {
    return false;
  }
  const bool news = !now.voters.empty() && !std::equal(now.voters.begin(), now.voters.end(), e.voters.begin(), e.voters.end(),
                                                       [](const auto& a, const auto& b) { return a.id == b.id && a.directory == b.directory; });
  QuorumView& view = quorum();
  view.voters = e.voters;
  view.voters_at = e.at;
  return news;
}

bool Reducer::on(const event::QuorumReplicaTracked& e, const event::Stamped&) {
  if (e.epoch < std::max(tracked_epoch_, quorum_.get().epoch) || e.counters == nullptr) {
    return false;
  }
  QuorumView& view = quorum();
  if (e.epoch > tracked_epoch_) {
    tracked_epoch_ = e.epoch;
    view.tracked.clear();
  }
  // One node may have two logs in a row; the newer counts.
  std::erase_if(view.tracked, [&](const QuorumView::Tracked& each) { return each.replica == e.replica; });
  const auto at = std::lower_bound(view.tracked.begin(), view.tracked.end(), e.replica,
                                   [](const QuorumView::Tracked& each, BrokerId id) { return each.replica < id; });
  view.tracked.insert(at, {e.replica, e.directory, e.counters});
  return false;
}

bool Reducer::on(const event::SnapshotStored& e, const event::Stamped& s) {
  std::vector<QuorumReplicaView::Snapshot>& snapshots = quorum_replica(e.node).snapshots;
  std::erase_if(snapshots, [&](const auto& each) { return each.end_offset == e.end_offset && each.epoch == e.epoch; });
  const auto at = std::lower_bound(snapshots.begin(), snapshots.end(), e.end_offset,
                                   [](const QuorumReplicaView::Snapshot& each, Offset end) { return each.end_offset < end; });
  snapshots.insert(at, {e.end_offset, e.epoch, e.size_bytes, s.at});
  return true;
}

bool Reducer::on(const event::SnapshotDeleted& e, const event::Stamped&) {
  std::erase_if(quorum_replica(e.node).snapshots,
                [&](const auto& each) { return each.end_offset == e.end_offset && each.epoch == e.epoch; });
  return false;
}

// ----------------------------------------------------------------------------------------------------------------
// logs

bool Reducer::on(const event::ReplicaOpened& e, const event::Stamped&) {
  if (is_metadata(e.topic_id)) {
    QuorumReplicaView& view = quorum_replica(e.node);
    view.online = true;
    view.counters = e.counters;
    return false;
  }
  if (!plausible(e.partition)) {
    return false;
  }
  ReplicaView& view = replica(e.topic_id, e.partition, e.node);
  view.online = true;
  view.counters = e.counters;
  view.last_log_end = kNoOffset;
  return true;
}

bool Reducer::on(const event::ReplicaClosed& e, const event::Stamped&) {
  if (is_metadata(e.topic_id)) {
    return false;
  }
  const auto owner = topics_.find(e.topic_id);
  if (owner == topics_.end() ||
      owner->second.partitions.find(e.partition.value()) == owner->second.partitions.end()) {
    return true;  // the topic went first
  }
  ReplicaView& view = replica(e.topic_id, e.partition, e.node);
  view.online = false;
  view.counters.reset();
  view.segments.clear();
  return true;
}

bool Reducer::on(const event::LeadershipBegan& e, const event::Stamped& s) {
  if (!plausible(e.partition)) {
    return false;
  }
  if (const auto owner = topics_.find(e.topic_id); owner != topics_.end()) {
    const auto known = owner->second.partitions.find(e.partition.value());
    if (known != owner->second.partitions.end() && !known->second.get().epochs.empty() &&
        known->second.get().epochs.back().epoch > e.leader_epoch) {
      return false;
    }
  }
  PartitionView& view = partition(e.topic_id, e.partition);
  view.min_insync_replicas = e.min_insync_replicas;
  view.lag_time_max = e.lag_time_max;
  if (view.epochs.empty() || view.epochs.back().epoch < e.leader_epoch) {
    if (view.epochs.size() == PartitionView::kEpochsMax) {
      view.epochs.erase(view.epochs.begin());
    }
    view.epochs.push_back({e.leader_epoch, e.node, e.epoch_start, s.at});
  }
  for (ReplicaView& each : view.replicas) {
    each.followed.reset();
    each.fetcher.reset();
  }
  for (const event::LeadershipBegan::Follower& follower : e.followers) {
    ReplicaView& followed = replica(e.topic_id, e.partition, follower.id);
    followed.followed = follower.counters;
    followed.fetcher = follower.fetcher;
  }
  return false;  // what it means is told by partition.changed
}

bool Reducer::on(const event::SegmentRolled& e, const event::Stamped&) {
  if (!plausible(e.partition) || is_metadata(e.topic_id)) {
    return false;
  }
  std::vector<Offset>& segments = replica(e.topic_id, e.partition, e.node).segments;
  const auto at = std::lower_bound(segments.begin(), segments.end(), e.base_offset);
  if (at == segments.end() || *at != e.base_offset) {
    segments.insert(at, e.base_offset);
  }
  return true;
}

bool Reducer::on(const event::SegmentDeleted& e, const event::Stamped&) {
  if (is_metadata(e.topic_id)) {
    return false;
  }
  if (!plausible(e.partition) || topics_.find(e.topic_id) == topics_.end()) {
    return true;
  }
  std::vector<Offset>& segments = replica(e.topic_id, e.partition, e.node).segments;
  segments.erase(std::remove(segments.begin(), segments.end(), e.base_offset), segments.end());
  return true;
}

// Facts for the list of what happened: offsets travel through counters, and where a replica lies is asked for.
bool Reducer::on(const event::LogStartMoved& e, const event::Stamped&) { return !is_metadata(e.topic_id); }
bool Reducer::on(const event::ReplicaMoved&, const event::Stamped&) { return true; }
bool Reducer::on(const event::LogDirFailed&, const event::Stamped&) { return true; }

bool Reducer::on(const event::LogRecovered& e, const event::Stamped&) {
  if (!plausible(e.partition)) {
    return false;
  }
  if (is_metadata(e.topic_id)) {
    return true;
  }
  std::vector<Offset>& segments = replica(e.topic_id, e.partition, e.node).segments;
  segments.erase(std::upper_bound(segments.begin(), segments.end(), e.truncated_to),
                 segments.end());
  return true;
}

bool Reducer::on(const event::BatchAppended&, const event::Stamped& s) {
  if (batches_.size() == ClusterView::kBatchesMax) {
    batches_.pop_front();
    ++batches_skipped_;
  }
  batches_.push_back(s);
  changed_ = true;
  return false;
}

bool Reducer::on(const event::RecordsFetched&, const event::Stamped& s) {
  if (fetches_.size() == ClusterView::kBatchesMax) {
    fetches_.pop_front();
  }
  fetches_.push_back(s);
  changed_ = true;
  return false;
}

bool Reducer::on(const event::ReplicaFetched&, const event::Stamped& s) {
  if (replications_.size() == ClusterView::kBatchesMax) {
    replications_.pop_front();
  }
  replications_.push_back(s);
  changed_ = true;
  return false;
}

// Segments that went as a whole say so themselves.
bool Reducer::on(const event::LogTruncated& e, const event::Stamped& s) {
  if (!plausible(e.partition)) {
    return false;
  }
  const auto owner = topics_.find(e.topic_id);
  if (e.to < e.from && owner != topics_.end() && owner->second.partitions.contains(e.partition.value())) {
    std::vector<TruncationView>& cuts = partition(e.topic_id, e.partition).truncations;
    if (cuts.size() == PartitionView::kTruncationsMax) {
      cuts.erase(cuts.begin());
    }
    cuts.push_back({e.node, e.from, e.to, e.leader, e.leader_epoch, e.cause, s.at});
  }
  return true;
}

bool Reducer::on(const event::ProducerFenced&, const event::Stamped&) {
  return true;
}

bool Reducer::on(const event::DuplicateSuppressed&, const event::Stamped&) {
  return true;
}

// --------------------------------------------------------------------------------------------------------------
// groups

bool Reducer::on(const event::GroupStateChanged& e, const event::Stamped& s) {
  GroupView& view = group(e.group);
  view.state = e.state;
  view.generation = e.generation;
  view.protocol = e.protocol;
  view.reason = e.reason;
  view.changed_at = s.at;
  view.kind = e.kind;
  if (!e.protocol_type.empty()) {
    view.protocol_type = e.protocol_type;
  }
  if (e.state == "PreparingRebalance" || e.state == "CompletingRebalance" || e.state == "Assigning" ||
      e.state == "Reconciling") {
    if (view.rebalancing_since.ms == 0) {
      view.rebalancing_since = s.at;
    }
  } else {
    view.rebalancing_since = {};
  }
  return true;
}

bool Reducer::on(const event::GroupAssigned& e, const event::Stamped&) {
  GroupView& view = group(e.group);
  view.generation = e.generation;
  view.leader = e.leader;
  view.members = e.members;
  view.kind = e.kind;
  view.target_epoch = e.target_epoch;
  return true;
}

bool Reducer::on(const event::GroupRebalanced& e, const event::Stamped& s) {
  GroupView& view = group(e.group);
  if (view.rebalances.size() == GroupView::kRebalancesMax) {
    view.rebalances.erase(view.rebalances.begin());
  }
  view.rebalances.push_back({s.at, std::make_shared<const event::GroupRebalanced>(e)});
  return true;
}

bool Reducer::on(const event::OffsetCommitted& e, const event::Stamped& s) {
  GroupView& view = group(e.group);
  const auto at = find_committed(view, e.topic, e.partition);
  if (at != view.committed.end() && names(*at, e.topic, e.partition)) {
    at->counters = e.counters;
    at->at = s.at;
    return false;  // moving on is no news; the counters tell how far
  }
  view.committed.insert(at, {e.topic, e.partition, e.counters, s.at});
  return true;
}

bool Reducer::on(const event::OffsetDeleted& e, const event::Stamped&) {
  if (groups_.find(e.group) == groups_.end()) {
    return true;
  }
  GroupView& view = group(e.group);
  const auto at = find_committed(view, e.topic, e.partition);
  if (at != view.committed.end() && names(*at, e.topic, e.partition)) {
    view.committed.erase(at);
  }
  return true;
}

bool Reducer::on(const event::GroupDeleted& e, const event::Stamped&) {
  if (groups_.erase(e.group) != 0) {
    group_index_.edit().erase(e.group);
    changed_ = true;
  }
  return true;
}

bool Reducer::on(const event::EventsLost& e, const event::Stamped&) {
  events_lost_ += e.count;
  changed_ = true;
  return true;
}

}  // namespace hw::observe
