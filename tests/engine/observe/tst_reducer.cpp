// SPDX-License-Identifier: Apache-2.0
// The reducer against a twin that keeps plain maps and builds every view from nothing, and what
// must not be copied.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <QtTest>

#include "engine/base/prng.h"
#include "engine/observe/reducer.h"

using namespace hw;
using namespace hw::observe;

namespace {

Uuid topic_id(std::uint64_t n) {
  return {1, n};
}

// One event after another, stamped as a node would.
struct Feed {
  Reducer reducer;
  std::vector<event::Stamped> all;
  std::int64_t ms = 1'000;
  std::uint64_t sequence = 0;

  void operator()(event::Any e, BrokerId node = BrokerId(1)) {
    all.push_back({++sequence, node, {++ms}, std::move(e)});
    reducer.apply(all.back());
  }
};

void create_topic(Feed& feed, std::uint64_t n, const std::string& name, int partitions) {
  feed(event::TopicCreated{topic_id(n), name, false});
  for (int p = 0; p < partitions; ++p) {
    feed(event::PartitionChanged{topic_id(n),
                                 PartitionIndex(p),
                                 BrokerId(1),
                                 LeaderEpoch(0),
                                 0,
                                 {BrokerId(1)},
                                 {BrokerId(1)}});
  }
}

// Everything in a view as text, so that two views can be compared and a difference be read.
std::string print(const ClusterView& view) {
  std::string out = "cluster " + view.cluster_id + " controller " +
                    std::to_string(view.controller.value()) + "/" +
                    std::to_string(view.controller_epoch) + " lost " +
                    std::to_string(view.events_lost) + "\n";
  for (const auto& [id, n] : view.nodes) {
    out += "node " + std::to_string(id.value()) + " " + std::to_string(n->id.value()) + " " +
           n->host + ":" + std::to_string(n->port) + " " +
           std::to_string(static_cast<int>(n->state)) + " " + std::to_string(n->since.ms) + " " +
           n->directory + (n->counters ? " c" : "") + "\n";
  }
  for (const auto& [name, t] : *view.topics) {
    out += "topic " + name + "=" + t->name + " " + t->id.text() + (t->internal ? " internal" : "") +
           "\n";
    for (const auto& [key, value] : t->configs) {
      out += "  " + key + "=" + value + "\n";
    }
    for (const auto& p : t->partitions) {
      if (!p) {
        out += "  ?\n";
        continue;
      }
      out += "  " + p->topic_id.text() + "-" + std::to_string(p->index.value()) + " leader " +
             std::to_string(p->leader.value()) + "/" + std::to_string(p->leader_epoch.value()) +
             " isr";
      for (const BrokerId b : p->isr) {
        out += " " + std::to_string(b.value());
      }
      out += " at " + std::to_string(p->changed_at.ms) + "\n";
      for (const ReplicaView& r : p->replicas) {
        out += "    " + std::to_string(r.node.value()) + (r.online ? " online" : " offline") +
               (r.counters ? " c" : "");
        for (const Offset s : r.segments) {
          out += " " + std::to_string(s.value());
        }
        out += "\n";
      }
    }
  }
  for (const auto& [id, name] : *view.topic_names) {
    out += "name " + id.text() + " " + name + "\n";
  }
  for (const auto& [id, g] : *view.groups) {
    out += "group " + id + " " + g->id + " " + g->state + " " + std::to_string(g->generation) +
           " " + g->protocol + " " + g->leader + " " + g->reason + " " +
           std::to_string(g->changed_at.ms) + " " + g->protocol_type + " " +
           std::to_string(g->rebalancing_since.ms) + "\n";
    for (const auto& r : g->rebalances) {
      out += "  rebalance " + std::to_string(r.at.ms) + " " + std::to_string(r.what->generation) +
             "\n";
    }
    for (const auto& m : g->members) {
      out += "  " + m.member_id + " " + std::to_string(m.partitions.size()) + "\n";
    }
    for (const auto& c : g->committed) {
      out += "  " + c.topic + "-" + std::to_string(c.partition.value()) +
             (c.counters ? " c " : " ") + std::to_string(c.at.ms) + "\n";
    }
  }
  for (const auto& [id, c] : *view.connections) {
    out += "connection " + std::to_string(id.value()) + " " + std::to_string(c->node.value()) +
           " " + c->peer + " " + c->client_id + " " + c->software_name + " " + c->software_version +
           " " + std::to_string(c->opened_at.ms) + "\n";
  }
  for (const RecentEvent& r : *view.recent) {
    out += "recent " + std::to_string(r.number) + " " + std::to_string(r.node.value()) + " " +
           std::to_string(r.at.ms) + " " + event::kind_name(*r.event) + "\n";
  }
  for (const event::Stamped& s : view.batches) {
    out += "batch " + std::to_string(s.sequence) + "\n";
  }
  for (const event::Stamped& s : view.fetches) {
    out += "fetch " + std::to_string(s.sequence) + "\n";
  }
  return out + "skipped " + std::to_string(view.batches_skipped) + "\n";
}

// The twin: from the whole history, by plain code, with no sharing and no cleverness. `published`
// is how many events had been applied when the previous view was made.
ClusterView twin(const std::vector<event::Stamped>& all, std::size_t published) {
  struct Partition {
    std::optional<event::PartitionChanged> changed;
    WallTime at;
    std::vector<BrokerId> order;
    std::map<BrokerId, ReplicaView> replicas;
  };

  struct Topic {
    std::optional<std::string> name;
    bool internal = false;
    std::map<std::string, std::string> configs;
    std::map<int, Partition> partitions;
  };

  ClusterView v;
  std::map<Uuid, Topic> topics;
  std::map<std::string, GroupView> groups;
  std::map<BrokerId, NodeView> nodes;
  std::map<ConnectionId, ConnectionView> connections;
  std::vector<RecentEvent> recent;
  std::uint64_t number = 0;
  const auto replica = [&](const Uuid& id, PartitionIndex p, BrokerId node) -> ReplicaView& {
    Partition& owner = topics[id].partitions[p.value()];
    if (owner.replicas.find(node) == owner.replicas.end()) {
      owner.order.push_back(node);
      owner.replicas[node].node = node;
    }
    return owner.replicas[node];
  };
  const auto gone = [&](BrokerId node) {
    std::erase_if(connections, [&](const auto& c) { return c.second.node == node; });
    for (auto& [id, t] : topics) {
      for (auto& [p, owner] : t.partitions) {
        if (const auto r = owner.replicas.find(node);
            r != owner.replicas.end() &&
            (r->second.online || r->second.counters || !r->second.segments.empty())) {
          r->second.online = false;
          r->second.counters.reset();
          r->second.segments.clear();
        }
      }
    }
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const event::Stamped& s = all[i];
    bool is_recent = true;
    if (const auto* e = std::get_if<event::NodeStarted>(&s.event)) {
      gone(e->node);
      nodes[e->node] = {e->node,   e->host,       e->port,
                        e->broker, e->controller, NodeView::State::starting,
                        s.at,      e->directory,  e->counters};
      v.cluster_id = e->cluster_id;
    } else if (const auto* ready = std::get_if<event::NodeReady>(&s.event)) {
      nodes[ready->node].id = ready->node;
      nodes[ready->node].state = NodeView::State::running;
      nodes[ready->node].since = s.at;
    } else if (const auto* stopped = std::get_if<event::NodeStopped>(&s.event)) {
      nodes[stopped->node].id = stopped->node;
      nodes[stopped->node].state =
          stopped->clean ? NodeView::State::stopped : NodeView::State::killed;
      nodes[stopped->node].since = s.at;
      nodes[stopped->node].why = stopped->why;
      gone(stopped->node);
    } else if (const auto* opened = std::get_if<event::ConnectionOpened>(&s.event)) {
      connections[opened->connection] = {opened->connection, s.node, opened->peer, {}, {}, {}, s.at,
                                         opened->counters};
    } else if (const auto* client = std::get_if<event::ClientIdentified>(&s.event)) {
      const auto c = connections.find(client->connection);
      is_recent = c != connections.end();
      if (is_recent) {
        c->second.client_id = client->client_id.empty() ? c->second.client_id : client->client_id;
        if (!client->software_name.empty()) {
          c->second.software_name = client->software_name;
          c->second.software_version = client->software_version;
        }
      }
    } else if (const auto* closed = std::get_if<event::ConnectionClosed>(&s.event)) {
      connections.erase(closed->connection);
    } else if (const auto* created = std::get_if<event::TopicCreated>(&s.event)) {
      is_recent = !topics[created->topic_id].name;  // another node told it already
      if (is_recent) {
        topics[created->topic_id].name = created->name;
        topics[created->topic_id].internal = created->internal;
      }
    } else if (const auto* deleted = std::get_if<event::TopicDeleted>(&s.event)) {
      is_recent = topics.erase(deleted->topic_id) != 0;
    } else if (const auto* config = std::get_if<event::TopicConfigChanged>(&s.event)) {
      const bool known = topics.count(config->topic_id) != 0;
      auto& configs = topics[config->topic_id].configs;
      const auto before = configs;
      if (config->removed) {
        configs.erase(config->key);
      } else {
        configs[config->key] = config->value;
      }
      is_recent = !known || configs != before;
    } else if (const auto* changed = std::get_if<event::PartitionChanged>(&s.event)) {
      Partition& p = topics[changed->topic_id].partitions[changed->partition.value()];
      if (p.changed && p.changed->partition_epoch >= changed->partition_epoch) {
        continue;
      }
      p.changed = *changed;
      p.at = s.at;
      std::vector<BrokerId> order = changed->replicas;
      for (const BrokerId b : p.order) {
        if (std::find(order.begin(), order.end(), b) == order.end()) {
          if (p.replicas[b].counters) {
            order.push_back(b);
          } else {
            p.replicas.erase(b);
          }
        }
      }
      for (const BrokerId b : changed->replicas) {
        p.replicas[b].node = b;
      }
      p.order = order;
    } else if (const auto* controller = std::get_if<event::ControllerElected>(&s.event)) {
      if (controller->epoch <= v.controller_epoch) {
        continue;
      }
      v.controller = controller->controller;
      v.controller_epoch = controller->epoch;
    } else if (const auto* ropen = std::get_if<event::ReplicaOpened>(&s.event)) {
      replica(ropen->topic_id, ropen->partition, ropen->node).online = true;
      replica(ropen->topic_id, ropen->partition, ropen->node).counters = ropen->counters;
    } else if (const auto* rclosed = std::get_if<event::ReplicaClosed>(&s.event)) {
      if (topics.count(rclosed->topic_id) != 0 &&
          topics[rclosed->topic_id].partitions.count(rclosed->partition.value()) != 0) {
        ReplicaView& r = replica(rclosed->topic_id, rclosed->partition, rclosed->node);
        r.online = false;
        r.counters.reset();
        r.segments.clear();
      }
    } else if (const auto* rolled = std::get_if<event::SegmentRolled>(&s.event)) {
      auto& segments = replica(rolled->topic_id, rolled->partition, rolled->node).segments;
      std::set<Offset> sorted(segments.begin(), segments.end());
      sorted.insert(rolled->base_offset);
      segments.assign(sorted.begin(), sorted.end());
    } else if (const auto* sdeleted = std::get_if<event::SegmentDeleted>(&s.event)) {
      if (topics.count(sdeleted->topic_id) != 0) {
        std::erase(replica(sdeleted->topic_id, sdeleted->partition, sdeleted->node).segments,
                   sdeleted->base_offset);
      }
    } else if (const auto* recovered = std::get_if<event::LogRecovered>(&s.event)) {
      std::erase_if(replica(recovered->topic_id, recovered->partition, recovered->node).segments,
                    [&](Offset o) { return o > recovered->truncated_to; });
    } else if (std::holds_alternative<event::BatchAppended>(s.event)) {
      is_recent = false;
      if (i >= published) {
        v.batches.push_back(s);
      }
    } else if (std::holds_alternative<event::RecordsFetched>(s.event)) {
      is_recent = false;
      if (i >= published) {
        v.fetches.push_back(s);
      }
    } else if (std::holds_alternative<event::ReplicaFetched>(s.event)) {
      is_recent = false;
      if (i >= published) {
        v.replications.push_back(s);
      }
    } else if (std::holds_alternative<event::MetadataCommitted>(s.event)) {
      is_recent = false;
    } else if (const auto* state = std::get_if<event::GroupStateChanged>(&s.event)) {
      GroupView& g = groups[state->group];
      g.state = state->state;
      g.generation = state->generation;
      g.protocol = state->protocol;
      g.reason = state->reason;
      g.changed_at = s.at;
      if (!state->protocol_type.empty()) {
        g.protocol_type = state->protocol_type;
      }
      const bool runs =
          state->state == "PreparingRebalance" || state->state == "CompletingRebalance";
      g.rebalancing_since = !runs                           ? WallTime{}
                            : g.rebalancing_since.ms != 0 ? g.rebalancing_since
                                                          : s.at;
    } else if (const auto* rebalanced = std::get_if<event::GroupRebalanced>(&s.event)) {
      GroupView& g = groups[rebalanced->group];
      g.rebalances.push_back({s.at, std::make_shared<const event::GroupRebalanced>(*rebalanced)});
      if (g.rebalances.size() > GroupView::kRebalancesMax) {
        g.rebalances.erase(g.rebalances.begin());
      }
    } else if (const auto* assigned = std::get_if<event::GroupAssigned>(&s.event)) {
      GroupView& g = groups[assigned->group];
      g.generation = assigned->generation;
      g.leader = assigned->leader;
      g.members = assigned->members;
    } else if (const auto* commit = std::get_if<event::OffsetCommitted>(&s.event)) {
      auto& list = groups[commit->group].committed;
      const std::size_t before = list.size();
      std::erase_if(list, [&](const auto& c) {
        return c.topic == commit->topic && c.partition == commit->partition;
      });
      is_recent = list.size() == before;
      list.push_back({commit->topic, commit->partition, commit->counters, s.at});
      std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return std::pair(a.topic, a.partition) < std::pair(b.topic, b.partition);
      });
    } else if (const auto* odeleted = std::get_if<event::OffsetDeleted>(&s.event)) {
      if (groups.count(odeleted->group) != 0) {
        std::erase_if(groups[odeleted->group].committed, [&](const auto& c) {
          return c.topic == odeleted->topic && c.partition == odeleted->partition;
        });
      }
    } else if (const auto* gdeleted = std::get_if<event::GroupDeleted>(&s.event)) {
      groups.erase(gdeleted->group);
    } else if (const auto* lost = std::get_if<event::EventsLost>(&s.event)) {
      v.events_lost += lost->count;
    }
    if (is_recent) {
      recent.push_back({++number, s.node, s.at, std::make_shared<const event::Any>(s.event)});
    }
  }
  for (auto& [id, n] : nodes) {
    v.nodes[id] = std::make_shared<const NodeView>(n);
  }
  std::map<std::string, std::shared_ptr<const TopicView>, std::less<>> by_name;
  std::map<Uuid, std::string> names;
  for (auto& [id, t] : topics) {
    if (!t.name) {
      continue;
    }
    TopicView view;
    view.name = *t.name;
    view.id = id;
    view.internal = t.internal;
    view.configs.insert(t.configs.begin(), t.configs.end());
    for (auto& [p, owner] : t.partitions) {
      PartitionView partition;
      partition.topic_id = id;
      partition.index = PartitionIndex(p);
      if (owner.changed) {
        partition.leader = owner.changed->leader;
        partition.leader_epoch = owner.changed->leader_epoch;
        partition.isr = owner.changed->isr;
        partition.changed_at = owner.at;
      }
      for (const BrokerId b : owner.order) {
        partition.replicas.push_back(owner.replicas[b]);
      }
      view.partitions.resize(std::max(view.partitions.size(), static_cast<std::size_t>(p) + 1));
      view.partitions[static_cast<std::size_t>(p)] =
          std::make_shared<const PartitionView>(partition);
    }
    names[id] = *t.name;
    by_name[*t.name] = std::make_shared<const TopicView>(view);
  }
  v.topics = std::make_shared<const decltype(by_name)>(by_name);
  v.topic_names = std::make_shared<const decltype(names)>(names);
  std::map<std::string, std::shared_ptr<const GroupView>, std::less<>> group_views;
  for (auto& [id, g] : groups) {
    g.id = id;
    group_views[id] = std::make_shared<const GroupView>(g);
  }
  v.groups = std::make_shared<const decltype(group_views)>(group_views);
  std::map<ConnectionId, std::shared_ptr<const ConnectionView>> connection_views;
  for (auto& [id, c] : connections) {
    connection_views[id] = std::make_shared<const ConnectionView>(c);
  }
  v.connections = std::make_shared<const decltype(connection_views)>(connection_views);
  if (recent.size() > ClusterView::kRecentMax) {
    recent.erase(recent.begin(), recent.end() - ClusterView::kRecentMax);
  }
  v.recent = std::make_shared<const std::vector<RecentEvent>>(recent);
  if (v.batches.size() > ClusterView::kBatchesMax) {
    v.batches_skipped = v.batches.size() - ClusterView::kBatchesMax;
    v.batches.erase(v.batches.begin(), v.batches.end() - ClusterView::kBatchesMax);
  }
  if (v.fetches.size() > ClusterView::kBatchesMax) {
    v.fetches.erase(v.fetches.begin(), v.fetches.end() - ClusterView::kBatchesMax);
  }
  return v;
}

// Any event, of a small world in which the same things are meant again and again.
event::Any random_event(Prng& prng, std::map<std::string, Uuid>& live, std::uint64_t& next_topic) {
  const BrokerId node(static_cast<std::int32_t>(prng.below(3)));
  const ConnectionId connection(prng.below(6));
  const PartitionIndex partition(static_cast<std::int32_t>(prng.below(4)));
  const std::string group = "g" + std::to_string(prng.below(3));
  const std::string name = "t" + std::to_string(prng.below(4));
  // Also ids whose topic has not been created yet, or is gone.
  const Uuid id = topic_id(prng.below(next_topic + 2));
  const Offset offset(prng.between(0, 5) * 100);
  switch (prng.below(28)) {
    case 0:
      return event::NodeStarted{node, "h", 9092, true,
                                true, "c", {},   std::make_shared<event::NodeCounters>()};
    case 1:
      return event::NodeReady{node};
    case 2:
      return event::NodeStopped{node, prng.below(2) == 0, prng.below(2) == 0 ? "because" : ""};
    case 3:
      return event::ConnectionOpened{connection, "p", nullptr};
    case 4:
      return event::ClientIdentified{connection, prng.below(2) == 0 ? "me" : "",
                                     prng.below(2) == 0 ? "lib" : "", "1"};
    case 5:
      return event::ConnectionClosed{connection, {}};
    case 6:
      return event::RequestRefused{connection, 1, 2, 3, {}};
    case 7:
    case 8: {
      if (live.find(name) != live.end()) {
        return event::TopicConfigChanged{live[name], "k" + std::to_string(prng.below(2)), "v",
                                         prng.below(3) == 0};
      }
      live[name] = topic_id(next_topic);
      return event::TopicCreated{topic_id(next_topic++), name, false};
    }
    case 9: {
      const auto found = live.find(name);
      if (found == live.end()) {
        return event::MetadataCommitted{offset};
      }
      const Uuid old = found->second;
      live.erase(found);
      return event::TopicDeleted{old, name};
    }
    case 10:
    case 11:
    case 12:
      return event::PartitionChanged{
          id, partition, node, LeaderEpoch(1), static_cast<std::int32_t>(prng.below(6)),
          {node, BrokerId((node.value() + 1) % 3)}, {node}};
    case 13:
      return event::ControllerElected{node, static_cast<std::int32_t>(prng.below(20))};
    case 14:
      return event::MetadataCommitted{offset};
    case 15:
    case 16:
      return event::ReplicaOpened{node, id, partition, std::make_shared<event::ReplicaCounters>()};
    case 17:
      return event::ReplicaClosed{node, id, partition};
    case 18:
      return event::SegmentRolled{node, id, partition, offset};
    case 19:
      if (prng.below(3) == 0) {
        return event::LogStartMoved{node, id, partition, Offset(0), offset};
      }
      return event::SegmentDeleted{node, id, partition, offset, event::DeletionCause::retention_time, 7};
    case 20:
      return prng.below(2) == 0
                 ? event::Any(event::LogRecovered{node, id, partition, offset, 1})
                 : event::Any(event::LogTruncated{node, id, partition, offset + 3, offset, BrokerId(1), LeaderEpoch(2)});
    case 21:
      return event::BatchAppended{};
    case 22:
      return prng.below(2) == 0 ? event::Any(event::RecordsFetched{}) : event::Any(event::ReplicaFetched{});
    case 23:
      return event::GroupStateChanged{group, prng.below(2) == 0 ? "Stable" : "PreparingRebalance", 2,
                                      "range", "because", prng.below(2) == 0 ? "consumer" : ""};
    case 24:
      return event::GroupAssigned{
          group, 3, "m", {{"m", "c", "h", {}, connection, {{"t", partition}}}}};
    case 25:
      return event::OffsetCommitted{group, name, partition, offset,
                                    std::make_shared<event::CommittedCounters>()};
    case 27: {
      event::GroupRebalanced rebalanced;
      rebalanced.group = group;
      rebalanced.generation = static_cast<std::int32_t>(offset.value());
      return rebalanced;
    }
    case 26:
      return prng.below(2) == 0 ? event::Any(event::OffsetDeleted{group, name, partition})
                                : event::Any(event::GroupDeleted{group});
    default:
      return event::EventsLost{2, {1}, {2}};
  }
}

}  // namespace

class TestReducer : public QObject {
  Q_OBJECT

 private slots:

  // Its record and its end come from different threads.
  void a_broker_that_was_taken_out_goes() {
    for (const bool ended_first : {true, false}) {
      Feed feed;
      feed(event::NodeStarted{.node = BrokerId(2), .controller = false}, BrokerId(2));
      feed(event::BrokerChanged{BrokerId(2), false, true, false, -1, Offset(1), ""});  // not there yet
      feed(event::BrokerChanged{BrokerId(2), true, false, false, 7, Offset(7), ""});
      const auto end = [&] { feed(event::NodeStopped{BrokerId(2), true, ""}, BrokerId(2)); };
      if (ended_first) {
        end();
      }
      QVERIFY(feed.reducer.publish()->nodes.contains(BrokerId(2)));
      feed(event::BrokerChanged{BrokerId(2), false, true, false, 7, Offset(9), ""});
      if (!ended_first) {
        QVERIFY(feed.reducer.publish()->nodes.contains(BrokerId(2)));
        end();
      }
      QVERIFY(!feed.reducer.publish()->nodes.contains(BrokerId(2)));
    }
  }

  void equals_a_view_built_from_nothing() {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      Prng prng(seed);
      Feed feed;
      std::map<std::string, Uuid> live;
      std::uint64_t next_topic = 0;
      std::size_t published = 0;
      std::vector<std::pair<ViewPtr, std::string>> kept;
      for (int step = 0; step < 400; ++step) {
        feed(random_event(prng, live, next_topic),
             BrokerId(static_cast<std::int32_t>(prng.below(3))));
        if (prng.below(8) == 0) {
          const bool expected_new = feed.reducer.changed();
          const ViewPtr before = kept.empty() ? nullptr : kept.back().first;
          const ViewPtr view = feed.reducer.publish();
          if (!expected_new) {
            QCOMPARE(view, before == nullptr ? view : before);
            continue;
          }
          const std::string is = print(*view);
          const std::string should = print(twin(feed.all, published));
          if (is != should) {
            qInfo("seed %llu step %d\n%s---- should be\n%s", static_cast<unsigned long long>(seed),
                  step, is.c_str(), should.c_str());
            QFAIL("the view differs from one built from nothing");
          }
          published = feed.all.size();
          kept.emplace_back(view, is);
        }
      }
      // Nothing that was published has changed since.
      for (const auto& [view, text] : kept) {
        QCOMPARE(print(*view), text);
      }
    }
  }

  void copies_only_the_path_that_changed() {
    Feed feed;
    create_topic(feed, 1, "orders", 100);
    create_topic(feed, 2, "payments", 10);
    feed(event::GroupStateChanged{"billing", "Empty", 0, {}, {}});
    feed(event::GroupStateChanged{"audit", "Empty", 0, {}, {}});
    const ViewPtr a = feed.reducer.publish();
    feed(event::PartitionChanged{topic_id(1),
                                 PartitionIndex(42),
                                 BrokerId(1),
                                 LeaderEpoch(1),
                                 1,
                                 {BrokerId(1)},
                                 {BrokerId(1)}});
    const ViewPtr b = feed.reducer.publish();
    QCOMPARE(b->version, a->version + 1);
    const TopicView& old_topic = *a->find_topic("orders");
    const TopicView& new_topic = *b->find_topic(topic_id(1));
    for (std::size_t p = 0; p < 100; ++p) {
      QCOMPARE(new_topic.partitions[p] == old_topic.partitions[p], p != 42);
    }
    QCOMPARE(b->find_topic("payments"), a->find_topic("payments"));
    QCOMPARE(b->groups, a->groups);
    QCOMPARE(b->connections, a->connections);
    QCOMPARE(b->topic_names, a->topic_names);
    QCOMPARE(old_topic.partitions[42]->leader_epoch,
             LeaderEpoch(0));  // a reader of the old view sees the old world

    feed(event::GroupStateChanged{"billing", "Stable", 1, "range", "m joined"});
    const ViewPtr c = feed.reducer.publish();
    QCOMPARE(c->topics, b->topics);
    QVERIFY(c->groups != b->groups);
    QCOMPARE(c->find_group("audit"), b->find_group("audit"));
    QCOMPARE(c->find_group("billing")->reason, std::string("m joined"));
  }

  void batches_change_only_the_batches() {
    Feed feed;
    create_topic(feed, 1, "orders", 3);
    const ViewPtr a = feed.reducer.publish();
    for (int i = 0; i < 1'000; ++i) {
      feed(event::BatchAppended{});
    }
    const ViewPtr b = feed.reducer.publish();
    QCOMPARE(b->topics, a->topics);
    QCOMPARE(b->recent, a->recent);
    QCOMPARE(b->batches.size(), ClusterView::kBatchesMax);
    QCOMPARE(b->batches.back().sequence, feed.all.back().sequence);
    QCOMPARE(b->batches_skipped, std::uint64_t{1'000 - ClusterView::kBatchesMax});
    feed(event::BatchAppended{});
    const ViewPtr c = feed.reducer.publish();
    QCOMPARE(c->batches.size(), std::size_t{1});
    QCOMPARE(c->batches_skipped, std::uint64_t{0});
  }

  void what_the_leader_knows_of_its_followers() {
    Feed feed;
    create_topic(feed, 1, "orders", 1);
    const auto change = [&](std::int32_t epoch, std::int32_t partition_epoch, int leader) {
      feed(event::PartitionChanged{topic_id(1), PartitionIndex(0), BrokerId(leader), LeaderEpoch(epoch), partition_epoch,
                                   {BrokerId(1), BrokerId(2)}, {BrokerId(1), BrokerId(2)}, {BrokerId(3)}});
    };
    const auto lead = [&](std::int32_t epoch, int leader, std::int64_t start, std::shared_ptr<event::FollowerCounters> counters) {
      feed(event::LeadershipBegan{BrokerId(leader), topic_id(1), PartitionIndex(0), LeaderEpoch(epoch), Offset(start), 2, seconds(3),
                                  {{BrokerId(3 - leader), std::move(counters), nullptr}}},
           BrokerId(leader));
    };
    auto first = std::make_shared<event::FollowerCounters>();
    auto second = std::make_shared<event::FollowerCounters>();
    change(1, 1, 1);
    lead(1, 1, 0, first);
    const ViewPtr a = feed.reducer.publish();
    const PartitionView& led = *a->find_topic("orders")->partitions[0];
    QVERIFY(led.followed_now());
    QCOMPARE(led.replica(BrokerId(2))->followed.get(), first.get());
    QCOMPARE(led.min_insync_replicas, 2);
    QCOMPARE(led.lag_time_max, seconds(3));
    QCOMPARE(led.elr, std::vector<BrokerId>{BrokerId(3)});
    // The new leader tells of its epoch before anybody has told that there is one; what the old one says later is too late.
    lead(2, 2, 40, second);
    QVERIFY(!feed.reducer.publish()->find_topic("orders")->partitions[0]->followed_now());
    lead(1, 1, 0, first);
    change(2, 2, 2);
    const ViewPtr b = feed.reducer.publish();
    const PartitionView& moved = *b->find_topic("orders")->partitions[0];
    QVERIFY(moved.followed_now());
    QCOMPARE(moved.replica(BrokerId(1))->followed.get(), second.get());
    QVERIFY(moved.replica(BrokerId(2))->followed == nullptr);
    QCOMPARE(moved.epochs.size(), std::size_t{2});
    QCOMPARE(moved.epochs.back().start, Offset(40));
    for (int i = 0; i < 20; ++i) {
      feed(event::LogTruncated{BrokerId(1), topic_id(1), PartitionIndex(0), Offset(50 + i), Offset(40), BrokerId(2), LeaderEpoch(2)});
    }
    const ViewPtr c = feed.reducer.publish();
    QCOMPARE(c->find_topic("orders")->partitions[0]->truncations.size(), PartitionView::kTruncationsMax);
    QCOMPARE(c->find_topic("orders")->partitions[0]->truncations.back().from, Offset(69));
  }

  void a_broker_is_as_the_newest_metadata_says() {
    Feed feed;
    const auto change = [&](bool fenced, bool leaving, std::int64_t at) {
      feed(event::BrokerChanged{BrokerId(2), true, fenced, leaving, 7, Offset(at), "b"});
    };
    change(false, false, 10);  // before the node has told of itself
    QVERIFY(feed.reducer.publish()->nodes.empty());
    feed(event::NodeStarted{.node = BrokerId(2)}, BrokerId(2));
    const auto of = [](const ViewPtr& view) { return *view->nodes.at(BrokerId(2)); };
    NodeView node = of(feed.reducer.publish());
    QVERIFY(node.registered && !node.fenced);
    QCOMPARE(node.rack, std::string("b"));
    change(false, true, 12);
    change(true, false, 11);  // a node that is behind
    node = of(feed.reducer.publish());
    QVERIFY(!node.fenced && node.in_controlled_shutdown);
    change(true, true, 13);
    QVERIFY(of(feed.reducer.publish()).fenced);
    QCOMPARE(feed.reducer.publish()->recent->size(), std::size_t{4});  // the late one is no news
  }

  void the_quorum_is_told_by_its_replicas() {
    using event::QuorumCause;
    using event::QuorumRole;
    Feed feed;
    const auto role = [&](int node, QuorumRole r, std::int32_t epoch, int leader, QuorumCause cause = QuorumCause::started) {
      feed(event::QuorumRoleChanged{BrokerId(node), r, cause, true, epoch, BrokerId(leader)}, BrokerId(node));
    };
    const auto track = [&](int leader, std::int32_t epoch, int replica) {
      auto counters = std::make_shared<event::FollowerCounters>();
      feed(event::QuorumReplicaTracked{BrokerId(leader), epoch, BrokerId(replica), {}, counters}, BrokerId(leader));
    };
    feed(event::ReplicaOpened{BrokerId(1), kMetadataTopicId, PartitionIndex(0), std::make_shared<event::ReplicaCounters>()});
    QVERIFY(feed.reducer.publish()->topics->empty());
    QVERIFY(feed.reducer.publish()->recent->empty());
    role(1, QuorumRole::candidate, 1, -1, QuorumCause::pre_votes_won);
    feed(event::QuorumVoteCast{BrokerId(2), BrokerId(1), 1, false, true}, BrokerId(2));
    track(1, 1, 3);  // before the role: rings are drained one after the other
    track(1, 1, 2);
    role(1, QuorumRole::leader, 1, 1, QuorumCause::votes_won);
    role(2, QuorumRole::follower, 1, 1, QuorumCause::heard_of_leader);
    const ViewPtr a = feed.reducer.publish();
    QCOMPARE(a->quorum->leader, BrokerId(1));
    QCOMPARE(a->quorum->epoch, 1);
    QCOMPARE(a->quorum->tracked.size(), std::size_t{2});
    QCOMPARE(a->quorum->tracked.front().replica, BrokerId(2));
    QCOMPARE(a->quorum->history.size(), std::size_t{4});
    QVERIFY(a->quorum->replicas.at(BrokerId(1)).counters != nullptr);
    // The leader's node ends, by itself; who says later that it follows it is late.
    feed(event::NodeStopped{BrokerId(1), false, "no space left on the disk"});
    QCOMPARE(feed.reducer.publish()->nodes.at(BrokerId(1))->why, std::string("no space left on the disk"));
    role(3, QuorumRole::follower, 1, 1, QuorumCause::heard_of_leader);
    const ViewPtr b = feed.reducer.publish();
    QCOMPARE(b->quorum->leader, kNoBroker);
    QVERIFY(b->quorum->tracked.empty());
    QVERIFY(!b->quorum->replicas.at(BrokerId(1)).online);
    QVERIFY(b->quorum->replicas.at(BrokerId(1)).counters != nullptr);  // how far it was
    role(2, QuorumRole::prospective, 1, 1, QuorumCause::leader_silent);
    role(2, QuorumRole::candidate, 2, -1, QuorumCause::pre_votes_won);
    QCOMPARE(feed.reducer.publish()->quorum->leader, kNoBroker);
    role(3, QuorumRole::follower, 2, 2, QuorumCause::heard_of_leader);
    QCOMPARE(feed.reducer.publish()->quorum->leader, BrokerId(2));
    role(2, QuorumRole::candidate, 2, -1, QuorumCause::pre_votes_won);  // told late: it leads already
    role(2, QuorumRole::leader, 2, 2, QuorumCause::votes_won);
    QCOMPARE(feed.reducer.publish()->quorum->leader, BrokerId(2));
    role(2, QuorumRole::resigned, 2, -1, QuorumCause::stopping);
    role(3, QuorumRole::follower, 2, 2, QuorumCause::heard_of_leader);
    QCOMPARE(feed.reducer.publish()->quorum->leader, kNoBroker);
    track(1, 1, 3);  // of an epoch that is over
    QVERIFY(feed.reducer.publish()->quorum->tracked.empty());

    const auto voters = [&](std::int64_t at, std::vector<int> ids) {
      event::QuorumVotersChanged changed{BrokerId(1), Offset(at), {}};
      for (const int id : ids) {
        changed.voters.push_back({BrokerId(id), {}, "h", 1});
      }
      feed(changed);
    };
    voters(5, {1, 2, 3});
    voters(2, {1});  // one that starts and reads its log
    QCOMPARE(feed.reducer.publish()->quorum->voters.size(), std::size_t{3});
    voters(9, {2, 3});
    QCOMPARE(feed.reducer.publish()->quorum->voters.size(), std::size_t{2});
    QCOMPARE(std::string(event::kind_name(*feed.reducer.publish()->recent->back().event)), std::string("quorum.voters"));

    feed(event::SnapshotStored{BrokerId(2), Offset(8), LeaderEpoch(2), 100}, BrokerId(2));
    feed(event::SnapshotStored{BrokerId(2), Offset(4), LeaderEpoch(1), 50}, BrokerId(2));
    feed(event::SnapshotDeleted{BrokerId(2), Offset(4), LeaderEpoch(1)}, BrokerId(2));
    const ViewPtr c = feed.reducer.publish();
    QCOMPARE(c->quorum->replicas.at(BrokerId(2)).snapshots.size(), std::size_t{1});
    QCOMPARE(c->quorum->replicas.at(BrokerId(2)).snapshots.front().end_offset, Offset(8));
    for (std::size_t i = 0; i < QuorumView::kStepsMax + 10; ++i) {
      feed(event::QuorumVoteCast{BrokerId(2), BrokerId(1), 3, true, false}, BrokerId(2));
    }
    QCOMPARE(feed.reducer.publish()->quorum->history.size(), QuorumView::kStepsMax);
  }

  void no_change_no_view() {
    Feed feed;
    QVERIFY(!feed.reducer.changed());
    const ViewPtr a = feed.reducer.publish();
    feed(event::MetadataCommitted{Offset(3)});
    QVERIFY(!feed.reducer.changed());
    QCOMPARE(feed.reducer.publish(), a);
    feed(event::ControllerElected{BrokerId(1), 1});
    QVERIFY(feed.reducer.changed());
    QCOMPARE(feed.reducer.publish()->version, a->version + 1);
  }

  void a_replica_may_be_known_before_its_topic() {
    Feed feed;
    feed(event::ReplicaOpened{BrokerId(1), topic_id(1), PartitionIndex(1),
                              std::make_shared<event::ReplicaCounters>()});
    feed(event::SegmentRolled{BrokerId(1), topic_id(1), PartitionIndex(1), Offset(0)});
    QVERIFY(feed.reducer.publish()->topics->empty());
    create_topic(feed, 1, "orders", 2);
    const ViewPtr view = feed.reducer.publish();
    const TopicView* topic = view->find_topic("orders");
    QCOMPARE(topic->partitions.size(), std::size_t{2});
    QVERIFY(topic->partitions[1]->leader_counters() != nullptr);
    QCOMPARE(topic->partitions[1]->replicas.front().segments, std::vector<Offset>{Offset(0)});
  }

  void recent_events_are_bounded() {
    Feed feed;
    for (std::size_t i = 0; i < ClusterView::kRecentMax + 500; ++i) {
      feed(event::ControllerElected{BrokerId(1), static_cast<std::int32_t>(i) + 1});
    }
    const ViewPtr view = feed.reducer.publish();
    QCOMPARE(view->recent->size(), ClusterView::kRecentMax);
    QCOMPARE(view->recent->back().number, std::uint64_t{ClusterView::kRecentMax + 500});
    QCOMPARE(view->recent->front().number, std::uint64_t{501});
  }

  void a_group_keeps_its_last_rebalances() {
    Feed feed;
    const ViewPtr before = [&] {
      feed(event::GroupStateChanged{"g", "PreparingRebalance", 0, {}, "m joined", "consumer"});
      return feed.reducer.publish();
    }();
    const GroupView* running = before->find_group("g");
    QCOMPARE(running->protocol_type, std::string("consumer"));
    QCOMPARE(running->rebalancing_since, running->changed_at);
    feed(event::GroupStateChanged{"g", "CompletingRebalance", 1, "range", "m joined", "consumer"});
    QCOMPARE(feed.reducer.publish()->find_group("g")->rebalancing_since,
             running->rebalancing_since);
    feed(event::GroupStateChanged{"g", "Stable", 1, "range", "assigned", "consumer"});
    for (std::int32_t n = 1; n <= 60; ++n) {
      event::GroupRebalanced rebalanced;
      rebalanced.group = "g";
      rebalanced.generation = n;
      feed(rebalanced);
    }
    const ViewPtr after = feed.reducer.publish();
    const GroupView* group = after->find_group("g");
    QCOMPARE(group->rebalancing_since.ms, std::int64_t{0});
    QCOMPARE(group->rebalances.size(), GroupView::kRebalancesMax);
    QCOMPARE(group->rebalances.front().what->generation, 11);
    QCOMPARE(group->rebalances.back().what->generation, 60);
    QVERIFY(group->rebalances.back().at > group->rebalances.front().at);
    QVERIFY(running->rebalances.empty());  // a reader of the old view sees the old world
  }

  void loss_is_told() {
    Feed feed;
    feed(event::EventsLost{3, {10}, {20}});
    feed(event::EventsLost{4, {30}, {40}});
    const ViewPtr view = feed.reducer.publish();
    QCOMPARE(view->events_lost, std::uint64_t{7});
    QCOMPARE(view->recent->size(), std::size_t{2});
  }

  void positions_move_without_news() {
    Feed feed;
    auto counters = std::make_shared<event::CommittedCounters>();
    feed(event::OffsetCommitted{"g", "t", PartitionIndex(0), Offset(5), counters});
    const ViewPtr a = feed.reducer.publish();
    QCOMPARE(a->recent->size(), std::size_t{1});
    feed(event::OffsetCommitted{"g", "t", PartitionIndex(0), Offset(6), counters});
    const ViewPtr b = feed.reducer.publish();
    QCOMPARE(b->recent, a->recent);
    QVERIFY(b->find_group("g")->committed.front().at > a->find_group("g")->committed.front().at);
  }
};

QTEST_APPLESS_MAIN(TestReducer)
#include "tst_reducer.moc"
