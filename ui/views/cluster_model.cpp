// SPDX-License-Identifier: Apache-2.0
#include "ui/views/cluster_model.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>

#include <QDateTime>

#include "ui/geometry/cluster_layout.h"
#include "ui/models/client_facts.h"
#include "ui/models/replica_facts.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {

constexpr std::size_t kKeysShown = 6;
constexpr std::size_t kRemembered = 24;
constexpr std::int64_t kBrightMs = 700;
constexpr std::size_t kMaxPartitionsRemembered = 256;
constexpr std::size_t kMaxProducers = 256;
constexpr std::string_view kOffsetsTopic = "__consumer_offsets";
constexpr std::size_t kLagGroups = 64;  // more than any canvas shows

QString text(const std::string& value) { return QString::fromStdString(value); }

// "127.0.0.1:40017" and "/127.0.0.1" are the host 127.0.0.1.
QString host_of(const std::string& peer) {
  std::string_view host = peer;
  if (!host.empty() && host.front() == '/') {
    host.remove_prefix(1);
  }
  const auto colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(':') == colon) {
    host = host.substr(0, colon);
  }
  return QString::fromUtf8(host.data(), static_cast<qsizetype>(host.size()));
}

// The window's own clients name themselves so.
bool built_in(const observe::ConnectionView& connection) {
  return connection.client_id.starts_with("demo-") || connection.client_id.starts_with("highwater");
}

QString produce_edge(const QString& producer, std::int32_t node) {
  return QStringLiteral("p|%1|%2").arg(producer).arg(node);
}

// What the keys of all edges of a member begin with.
QString consume_edge(const QString& group, const QString& member) {
  return QStringLiteral("c|%1|%2|").arg(group, member);
}

QString consume_edge(const QString& group, const QString& member, std::int32_t node) {
  return consume_edge(group, member) + QString::number(node);
}

// Which partition of the offsets' topic a group is kept in: whoever leads it coordinates the group. |String.hashCode()| as Kafka has it.
std::size_t coordinator_place(const QString& group, std::size_t partitions) {
  std::uint32_t hash = 0;
  for (const QChar c : group) {
    hash = 31 * hash + c.unicode();
  }
  const std::int64_t number = static_cast<std::int32_t>(hash);
  return number == std::numeric_limits<std::int32_t>::min() ? 0 : static_cast<std::size_t>(std::abs(number)) % partitions;
}

// Coordinators tell partitions in order; those of a consumer without a group are in the order in which it was seen to read them.
bool assigned(const ClusterModel::Group& group, const ClusterModel::Member& member, const std::pair<std::string, std::int32_t>& partition) {
  return group.plain ? std::find(member.partitions.begin(), member.partitions.end(), partition) != member.partitions.end()
                     : std::binary_search(member.partitions.begin(), member.partitions.end(), partition);
}

// Two trees hold the same objects.
template <typename Map>
bool same(const Map& a, const Map& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
           return x.second == y.second;
         });
}

}  // namespace

double ClusterModel::Replica::fill() const {
  const std::int64_t length = std::max(leader_end, log_end) - log_start;
  return length <= 0 ? 0 : static_cast<double>(log_end - log_start) / static_cast<double>(length);
}

double ClusterModel::Replica::tick() const {
  const std::int64_t length = std::max(leader_end, log_end) - log_start;
  return length <= 0 ? -1 : static_cast<double>(high_watermark - log_start) / static_cast<double>(length);
}

bool ClusterModel::Replica::sample(std::int64_t now_ms) {
  const bool counted = std::exchange(leaves_changed, false);
  if (!counters) {
    // It has ended; its leader goes on.
    const std::int64_t goes_on = leader_counters ? leader_counters->log_end_offset.get() : leader_end;
    return std::exchange(leader_end, goes_on) != goes_on || counted;
  }
  const std::int64_t start = counters->log_start_offset.get();
  const std::int64_t end = counters->log_end_offset.get();
  const std::int64_t hw = std::min(counters->high_watermark.get(), end);
  const std::int64_t leader = leader_counters ? leader_counters->log_end_offset.get() : end;
  const bool appended = end > log_end && log_end + leader_end > 0;
  const bool changed = start != log_start || end != log_end || hw != high_watermark || leader != leader_end;
  log_start = start;
  log_end = end;
  high_watermark = hw;
  leader_end = leader;
  if (appended) {
    active_until_ms = now_ms + kBrightMs;
  }
  const bool was_bright = bright;
  bright = now_ms < active_until_ms;
  return changed || counted || bright != was_bright;
}

void ClusterModel::setFocusTopic(const QString& topic) {
  if (topic == wanted_topic_) {
    return;
  }
  wanted_topic_ = topic;
  if (view_) {
    rebuildNodes();
    rebuildEdges();
  }
}

bool ClusterModel::setConditions(std::vector<NodeCondition> conditions) {
  if (conditions == conditions_) {
    return false;
  }
  conditions_ = std::move(conditions);
  applyConditions();
  judgeEdges();
  judgeLinks();
  static_cast<void>(judgeGroups());
  return true;
}

void ClusterModel::applyConditions() {
  const auto of = [this](std::int32_t id) {
    const auto found = std::find_if(conditions_.begin(), conditions_.end(), [id](const NodeCondition& c) { return c.node == id; });
    return found == conditions_.end() ? NodeCondition() : *found;
  };
  for (Node& node : nodes_) {
    node.condition = of(node.id);
  }
  for (Controller& controller : controllers_) {
    controller.condition = of(controller.id);
  }
}

std::size_t ClusterModel::nodeIndex(BrokerId id) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].id == id.value()) {
      return i;
    }
  }
  return std::numeric_limits<std::size_t>::max();
}

void ClusterModel::chooseFocus() {
  const auto& topics = *view_->topics;
  if (!wanted_topic_.isEmpty() && topics.contains(wanted_topic_.toStdString())) {
    focus_topic_ = wanted_topic_;
    return;
  }
  if (!focus_topic_.isEmpty() && topics.contains(focus_topic_.toStdString())) {
    return;  // stays where it was: nothing jumps
  }
  // The demo's topic, else one that holds something, else the first; internal ones only when there is nothing else.
  int best = -1;
  focus_topic_.clear();
  for (const auto& [name, topic] : topics) {
    int score = topic->internal ? 0 : 1;
    if (!topic->internal) {
      for (const auto& partition : topic->partitions) {
        const auto* counters = partition ? partition->leader_counters() : nullptr;
        if (counters != nullptr && counters->log_end_offset.get() > 0) {
          score = 2;
          break;
        }
      }
      score = name.starts_with("demo.") ? 3 : score;
    }
    if (score > best) {
      best = score;
      focus_topic_ = text(name);
    }
  }
}

void ClusterModel::addTopic(const observe::TopicView& topic) {
  for (Node& node : nodes_) {
    Topic shown;
    shown.name = text(topic.name);
    shown.internal = topic.internal;
    for (const auto& partition : topic.partitions) {
      if (!partition) {
        continue;
      }
      const observe::ReplicaView* replica = partition->replica(BrokerId(node.id));
      if (replica == nullptr) {
        continue;
      }
      Replica r;
      r.partition = partition->index.value();
      r.counters = replica->counters;
      const observe::ReplicaView* leader = partition->replica(partition->leader);
      r.leader_counters = leader == nullptr ? nullptr : leader->counters;
      r.followed = partition->followed_now() ? replica->followed : nullptr;
      const bool in_sync = std::find(partition->isr.begin(), partition->isr.end(), replica->node) != partition->isr.end();
      if (!replica->online || node.offline()) {
        r.state = ReplicaState::offline;
      } else if (partition->leader == replica->node) {
        r.state = ReplicaState::leader;
      } else {
        r.state = in_sync ? ReplicaState::in_sync : ReplicaState::behind;
      }
      r.sample(0);
      if (!r.counters && replica->last_log_end != kNoOffset) {
        // How far it was when its node went.
        r.log_end = replica->last_log_end.value();
        r.log_start = r.leader_counters ? std::min(r.leader_counters->log_start_offset.get(), r.log_end) : 0;
        r.high_watermark = r.leader_counters ? std::min(r.leader_counters->high_watermark.get(), r.log_end) : r.log_end;
        r.leader_end = std::max(r.leader_end, r.log_end);
      }
      r.active_until_ms = 0;
      r.bright = false;
      shown.replicas.push_back(std::move(r));
    }
    if (!shown.replicas.empty()) {
      node.topics.push_back(std::move(shown));
    }
  }
}

void ClusterModel::rebuildNodes() {
  refreshSpreads();
  rebuildNodeList();
  rebuildLinks();
  static_cast<void>(countDown());
}

// For replicas with rows of their own. True while any counts down.
bool ClusterModel::countDown() {
  const std::int64_t now = wall_ ? wall_() : QDateTime::currentMSecsSinceEpoch();
  bool any = false;
  for (Node& node : nodes_) {
    for (Topic& topic : node.topics) {
      if (topic.replicas.size() > static_cast<std::size_t>(geometry::kMaxRowPartitions)) {
        continue;
      }
      for (Replica& replica : topic.replicas) {
        std::int64_t leaves = -1;
        const auto index = static_cast<std::size_t>(replica.partition);
        // Most are not late, and of them nothing more is asked.
        const bool late = replica.state == ReplicaState::in_sync && replica.followed && replica.leader_counters &&
                          replica.followed->log_end_offset.get() < replica.leader_counters->log_end_offset.get();
        const observe::TopicView* view = late ? view_->find_topic(topic.name.toStdString()) : nullptr;
        if (view != nullptr && index < view->partitions.size() && view->partitions[index]) {
          const PartitionFacts facts = partition_facts(*view_, view, *view->partitions[index], now, conditions_);
          const ReplicaFacts* of = facts.find(node.id);
          leaves = of == nullptr || of->leaves_ms < 0 ? -1 : (of->leaves_ms + 999) / 1'000;
        }
        replica.leaves_changed = replica.leaves_changed || leaves != replica.leaves_s;
        replica.leaves_s = leaves;
        any = any || leaves >= 0;
      }
    }
  }
  return any;
}

void ClusterModel::rebuildNodeList() {
  chooseFocus();
  // Activity survives, so that a change elsewhere makes no cell blink.
  nodes_.clear();
  controllers_.clear();
  controller_epoch_ = view_->controller_epoch;
  for (const auto& [id, node] : view_->nodes) {
    const bool online = node->state == observe::NodeView::State::running ||
                        node->state == observe::NodeView::State::starting;
    if (node->controller) {
      // The last one elected may have given up the lead since.
      const bool leads = id == view_->controller && online && (view_->quorum->voters.empty() || view_->quorum->leader == id);
      controllers_.push_back({id.value(), leads, online, {}});
    }
    if (!node->broker) {
      continue;
    }
    Node shown;
    shown.id = id.value();
    shown.title = tr("node %1").arg(id.value());
    shown.port = node->port == 0 ? QString() : QStringLiteral(":%1").arg(node->port);
    shown.state = node->state;
    shown.since = node->since;
    shown.why = QString::fromStdString(node->why);
    shown.fenced = node->registered && node->fenced;
    shown.leaving = node->registered && node->in_controlled_shutdown;
    shown.counters = node->counters;
    nodes_.push_back(std::move(shown));
  }
  applyConditions();
  topic_count_ = 0;
  partition_count_ = 0;
  internal_partitions_ = 0;
  internal_topics_.clear();
  for (const auto& [name, topic] : *view_->topics) {
    topic_count_ += topic->internal ? 0 : 1;
    partition_count_ += topic->internal ? 0 : static_cast<int>(topic->partitions.size());
    if (topic->internal) {
      internal_partitions_ += static_cast<int>(topic->partitions.size());
      internal_topics_ << text(name);
    }
    for (const auto& [id, partitions] : spreads_.at(name).leads) {
      if (const std::size_t at = nodeIndex(id); at < nodes_.size()) {
        nodes_[at].leaders += partitions;
      }
    }
  }
  if (const observe::TopicView* focused = view_->find_topic(focus_topic_.toStdString())) {
    addTopic(*focused);
  }
  if (partition_count_ > geometry::kFocusOnly) {
    for (Node& node : nodes_) {
      node.more_topics = topic_count_ - 1;
    }
    return;
  }
  for (const bool internal : {false, true}) {
    if (internal && nodes_.size() > 1) {
      break;  // where room is scarce, internal topics are shown when asked for
    }
    for (const auto& [name, topic] : *view_->topics) {
      if (topic->internal == internal && text(name) != focus_topic_) {
        addTopic(*topic);
      }
    }
  }
}

void ClusterModel::rebuildGroups() {
  groups_.clear();
  for (const auto& [id, group] : *view_->groups) {
    Group shown;
    shown.id = text(id);
    shown.state = text(group->state);
    shown.generation = group->generation;
    shown.kind = group->kind;
    shown.reason = text(group->reason);
    std::vector<const event::GroupAssigned::Member*> members;
    bool one_topic = true;
    const std::string* topic = nullptr;
    for (const auto& member : group->members) {
      members.push_back(&member);
      for (const auto& [name, partition] : member.partitions) {
        one_topic = one_topic && (topic == nullptr || *topic == name);
        topic = &name;
      }
    }
    std::sort(members.begin(), members.end(),
              [](const auto* a, const auto* b) { return a->member_id < b->member_id; });
    for (const auto* member : members) {
      Member m;
      m.id = text(member->member_id);
      m.label = QStringLiteral("m:%1").arg(shown.members.size() + 1);
      m.client = text(member->client_id);
      m.host = host_of(member->client_host);
      m.connection = member->connection.value();
      for (const auto& [name, partition] : member->partitions) {
        m.partitions.emplace_back(name, partition.value());
        m.chips.push_back(one_topic ? QStringLiteral("p%1").arg(partition.value())
                                    : QStringLiteral("%1/%2").arg(text(name)).arg(partition.value()));
      }
      shown.members.push_back(std::move(m));
    }
    groups_.push_back(std::move(shown));
  }
  groups_.insert(groups_.end(), plain_.begin(), plain_.end());
  indexMembers();
  static_cast<void>(judgeGroups());
}

bool ClusterModel::silent(BrokerId leader) const {
  const std::size_t at = nodeIndex(leader);
  return at >= nodes_.size() || nodes_[at].offline() || nodes_[at].condition.paused;
}

bool ClusterModel::judgeGroups() {
  bool changed = false;
  const observe::TopicView* offsets = view_ ? view_->find_topic(kOffsetsTopic) : nullptr;
  for (Group& group : groups_) {
    if (group.plain) {
      continue;
    }
    QString word;
    QString brief;
    QString sentence;
    Glyph glyph = Glyph::none;
    const std::size_t place = offsets == nullptr || offsets->partitions.empty() ? 0 : coordinator_place(group.id, offsets->partitions.size());
    const observe::PartitionView* kept = offsets != nullptr && place < offsets->partitions.size() ? offsets->partitions[place].get() : nullptr;
    int reads = 0;
    int stand = 0;
    const std::string* before = nullptr;  // a member's partitions come topic by topic
    const observe::TopicView* topic = nullptr;
    for (const Member& member : group.members) {
      for (const auto& [name, partition] : member.partitions) {
        if (before == nullptr || *before != name) {
          topic = view_->find_topic(name);
        }
        before = &name;
        const auto index = static_cast<std::size_t>(partition);
        if (topic != nullptr && partition >= 0 && index < topic->partitions.size() && topic->partitions[index]) {
          ++reads;
          stand += silent(topic->partitions[index]->leader) ? 1 : 0;
        }
      }
    }
    const LagStatus status = judge_ ? judge_(group.id) : LagStatus::ok;
    if (kept != nullptr && silent(kept->leader)) {
      const bool paused = kept->leader != kNoBroker && nodeIndex(kept->leader) < nodes_.size() && !nodes_[nodeIndex(kept->leader)].offline();
      word = paused ? tr("coordinator paused") : tr("no coordinator");
      brief = tr("stuck");
      glyph = Glyph::cross;
      sentence = (paused ? tr("its coordinator, node %2, is paused; last known state %1") : tr("its coordinator is down; last known state %1")).arg(group.state);
      sentence = paused ? sentence.arg(kept->leader.value()) : sentence;
    } else if (stand > 0) {
      word = tr("%1 of %2 stand still").arg(format_count(stand), format_count(reads));
      brief = tr("%1/%2 stuck").arg(format_count(stand), format_count(reads));
      glyph = Glyph::cross;
      sentence = tr("%1 of the %Ln partition(s) that it reads have no leader that answers", nullptr, reads).arg(format_count(stand));
    } else if (severity(status) >= severity(LagStatus::slow)) {
      word = status_word(status);
      glyph = glyph_of(status, !group.members.empty());
      sentence = status_rule(status);
    }
    changed = changed || word != group.trouble || sentence != group.trouble_sentence;
    group.trouble_short = brief.isEmpty() ? word : std::move(brief);
    group.trouble = std::move(word);
    group.trouble_glyph = glyph;
    group.trouble_sentence = std::move(sentence);
  }
  return changed;
}

void ClusterModel::refreshProducers(std::int64_t now_ms) {
  // A card whose connections are all gone lingers a little, then goes.
  for (Producer& producer : producers_) {
    if (producer.placeholder) {
      continue;
    }
    bool open = false;
    for (const auto& [id, connection] : *view_->connections) {
      open = open || (text(connection->client_id) == producer.title && host_of(connection->peer) == producer.host);
    }
    producer.closed = !open;
  }
  std::erase_if(producers_, [&](const Producer& p) {
    return p.placeholder || (p.closed && now_ms - p.seen_ms > kLingerMs);
  });
  const bool foreign = std::any_of(producers_.begin(), producers_.end(), [](const Producer& p) { return !p.built_in; });
  if (!foreign) {
    Producer placeholder;
    placeholder.placeholder = true;
    placeholder.key = QStringLiteral("?");
    placeholder.title = tr("Your app");
    producers_.push_back(std::move(placeholder));
  }
}

void ClusterModel::rebuildEdges() {
  for (auto& [key, edge] : edges_) {
    edge.live = false;
    edge.partitions.clear();
  }
  const auto ticked = [this](const QString& member) {
    for (auto at = edges_.lower_bound(member); at != edges_.end() && at->first.startsWith(member); ++at) {
      if (at->second.ticked) {
        return true;
      }
    }
    return false;
  };
  std::vector<QString> written;
  for (std::size_t p = 0; p < producers_.size(); ++p) {
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const auto at = edges_.find(produce_edge(producers_[p].key, nodes_[n].id));
      if (at != edges_.end()) {
        at->second.client = p;
        at->second.node = n;
        written.push_back(at->first);
      }
    }
  }
  for (const QString& key : written) {
    Edge& edge = edges_.at(key);
    edge.live = followLeaders(producers_[edge.client].key, edge) || edge.live;
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (std::size_t m = 0; m < groups_[g].members.size(); ++m) {
      const Member& member = groups_[g].members[m];
      for (const auto& [topic, partition] : member.partitions) {
        const observe::TopicView* view = view_->find_topic(topic);
        const auto index = static_cast<std::size_t>(partition);
        if (view == nullptr || partition < 0 || index >= view->partitions.size() || !view->partitions[index]) {
          continue;
        }
        const std::size_t n = nodeIndex(view->partitions[index]->leader);
        if (n >= nodes_.size()) {
          continue;
        }
        const auto [at, fresh] = edges_.try_emplace(consume_edge(groups_[g].id, member.id, nodes_[n].id));
        Edge& edge = at->second;
        if (fresh) {
          edge.meter.follow(clock_);
          edge.begins = ticked_ms_ >= 0 && !ticked(consume_edge(groups_[g].id, member.id));  // who was there at first is measured from there
        }
        edge.kind = Edge::Kind::consume;
        edge.client = g;
        edge.member = m;
        edge.node = n;
        edge.live = true;
        edge.partitions.emplace_back(topic, partition);
      }
    }
  }
  std::erase_if(edges_, [](const auto& entry) { return !entry.second.live; });
  judgeEdges();
}

// A producer writes to whoever leads. Where another node leads than the edge ends at, what it wrote goes to that one's edge; where nobody
// leads, the edge stays and says what has broken. False: nothing is left of it.
bool ClusterModel::followLeaders(const QString& producer, Edge& edge) {
  for (auto place = edge.wrote.begin(); place != edge.wrote.end();) {
    const observe::TopicView* topic = view_->find_topic(place->first);
    const auto index = static_cast<std::size_t>(place->second);
    if (topic == nullptr || index >= topic->partitions.size() || !topic->partitions[index]) {
      place = edge.wrote.erase(place);
      continue;
    }
    const std::size_t leader = nodeIndex(topic->partitions[index]->leader);
    if (leader >= nodes_.size() || leader == edge.node) {
      ++place;
      continue;
    }
    const auto [other, fresh] = edges_.try_emplace(produce_edge(producer, nodes_[leader].id));
    if (fresh) {
      other->second.kind = Edge::Kind::produce;
      other->second.client = edge.client;
      other->second.node = leader;
      other->second.topic = text(place->first);
      other->second.meter.follow(clock_);
    }
    other->second.live = true;
    if (other->second.wrote.size() < kWroteMax) {
      other->second.wrote.insert(*place);
    } else {
      other->second.wrote_more = true;
    }
    place = edge.wrote.erase(place);
  }
  const auto spread = spreads_.find(edge.topic.toStdString());
  return !edge.wrote.empty() || (edge.wrote_more && spread != spreads_.end() && spread->second.leads.contains(BrokerId(nodes_[edge.node].id)));
}

// Nothing flows to who has ended or is paused. Clients still reach one that is cut off, but what flowed before it was is no measure.
void ClusterModel::judgeEdges() {
  for (auto& [key, edge] : edges_) {
    const Node& node = nodes_[edge.node];
    const bool halted = node.condition.paused || node.condition.cut_off;
    if (node.offline() || node.condition.paused || (halted && !edge.halted)) {
      edge.meter.follow(clock_);
      edge.pace = {};
    }
    edge.broken = node.offline();
    edge.halted = halted && !edge.broken;
  }
}

std::optional<std::size_t> ClusterModel::producerOf(ConnectionId id, std::int64_t now_ms, bool& added) {
  const auto at = view_->connections->find(id);
  if (at == view_->connections->end()) {
    return std::nullopt;
  }
  const observe::ConnectionView& connection = *at->second;
  const QString host = host_of(connection.peer);
  const QString name = text(connection.client_id);
  const QString key = name + QLatin1Char('@') + host;
  for (std::size_t i = 0; i < producers_.size(); ++i) {
    if (producers_[i].key == key) {
      producers_[i].seen_ms = now_ms;
      producers_[i].connection = id.value();
      added = added || producers_[i].closed;
      producers_[i].closed = false;
      return i;
    }
  }
  if (producers_.size() >= kMaxProducers) {
    return std::nullopt;
  }
  Producer made;
  made.key = key;
  made.title = name;
  made.host = host;
  made.built_in = built_in(connection);
  made.connection = id.value();
  made.seen_ms = now_ms;
  // Built-in ones first, then by appearance; the placeholder stays last and goes with the first foreign client.
  const auto place = std::find_if(producers_.begin(), producers_.end(), [&](const Producer& p) {
    return p.placeholder || (made.built_in && !p.built_in);
  });
  const auto index = static_cast<std::size_t>(place - producers_.begin());
  producers_.insert(place, std::move(made));
  if (!producers_[index].built_in) {
    std::erase_if(producers_, [](const Producer& p) { return p.placeholder; });
  }
  added = true;
  return index;
}

void ClusterModel::takeBatch(const event::BatchAppended& batch, std::int64_t now_ms, Changes& changes) {
  const auto name = view_->topic_names->find(batch.topic_id);
  const std::size_t node = nodeIndex(batch.node);
  if (name == view_->topic_names->end() || node >= nodes_.size()) {
    return;
  }
  const observe::TopicView* topic = view_->find_topic(name->second);
  if (topic == nullptr || topic->internal) {
    return;
  }
  std::optional<Bytes> key;
  const bool single = batch.last_offset == batch.base_offset;
  // A longer key is cut off in the event, and its hue would not be the one of the other pages.
  if (batch.key_size >= 0 && static_cast<std::size_t>(batch.key_size) <= batch.key_head.size()) {
    key = Bytes::copy_of(std::string_view(batch.key_head.data(), static_cast<std::size_t>(batch.key_size)));
  }
  const auto place = std::make_pair(name->second, batch.partition.value());
  if (newest_.contains(place) || newest_.size() < kMaxPartitionsRemembered) {
    auto& remembered = newest_[place];
    remembered.push_back({batch.last_offset.value(), key});
    if (remembered.size() > kRemembered) {
      remembered.pop_front();
    }
  }
  bool added = false;
  const auto producer = producerOf(batch.connection, now_ms, added);
  const auto records = static_cast<double>(batch.last_offset - batch.base_offset + 1);
  if (!producer) {
    if (batch.connection.value() != 0) {  // what a follower copied came over none
      unowned_[nodes_[node].id] += records;
    }
    return;
  }
  Producer& from = producers_[*producer];
  if (key && !key->empty() && single) {
    if (std::find(from.keys.begin(), from.keys.end(), *key) == from.keys.end()) {
      from.keys.push_back(*key);
      if (from.keys.size() > kKeysShown) {
        from.keys.pop_front();
      }
      std::sort(from.keys.begin(), from.keys.end(), [](const Bytes& a, const Bytes& b) { return a.text() < b.text(); });
      changes.structure = true;
    }
  }
  const QString edge_key = produce_edge(from.key, nodes_[node].id);
  const auto [edge, fresh] = edges_.try_emplace(edge_key);
  if (fresh || added) {
    changes.structure = true;
    edge->second.kind = Edge::Kind::produce;
    edge->second.topic = text(name->second);
    edge->second.client = *producer;
    edge->second.node = node;
    edge->second.live = true;
    if (fresh) {
      edge->second.meter.follow(clock_);
    }
  }
  if (edge->second.wrote.size() < kWroteMax) {
    edge->second.wrote.insert(place);
  } else {
    edge->second.wrote_more = edge->second.wrote_more || !edge->second.wrote.contains(place);
  }
  edge->second.sampled_records += records;
  if (edge->second.meter.records_per_second() < kJourneysBelow) {
    changes.journeys.push_back({edge_key, key});
  }
}

std::optional<std::pair<std::size_t, std::size_t>> ClusterModel::memberOf(const event::RecordsFetched& fetch,
                                                                         const std::string& topic,
                                                                         std::int64_t now_ms, bool& added) {
  std::optional<std::pair<std::size_t, std::size_t>> owner;
  int owners = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (std::size_t m = 0; m < groups_[g].members.size(); ++m) {
      const Member& member = groups_[g].members[m];
      const bool owns = assigned(groups_[g], member, std::make_pair(topic, fetch.partition.value()));
      if (owns && member.connection != 0 && member.connection == fetch.connection.value()) {
        if (groups_[g].plain) {
          groups_[g].seen_ms = now_ms;
        }
        return std::make_pair(g, m);
      }
      // A client may fetch on another connection than the one that heartbeats.
      const auto connection = view_->connections->find(fetch.connection);
      if (owns && connection != view_->connections->end() &&
          text(connection->second->client_id) == member.client) {
        owner = std::make_pair(g, m);
        ++owners;
      }
    }
  }
  if (owners > 1) {
    return std::nullopt;  // groups of one client id: a square on the way to either might be the other's
  }
  if (owner) {
    if (groups_[owner->first].plain) {
      groups_[owner->first].seen_ms = now_ms;
    }
    return owner;
  }
  // Somebody reads without a group.
  const auto connection = view_->connections->find(fetch.connection);
  if (connection == view_->connections->end() || plain_.size() >= 32 || built_in(*connection->second) ||
      is_peer(*connection->second, *view_)) {
    return std::nullopt;  // neither the window's own reading nor the followers' is part of the picture
  }
  const QString client = text(connection->second->client_id);
  auto known = std::find_if(plain_.begin(), plain_.end(), [&](const Group& g) { return g.id == client; });
  if (known == plain_.end()) {
    Group made;
    made.id = client;
    made.plain = true;
    Member member;
    member.id = client;
    member.label = tr("reads");
    member.client = client;
    member.host = host_of(connection->second->peer);
    member.connection = fetch.connection.value();
    made.members.push_back(std::move(member));
    plain_.push_back(std::move(made));
    known = plain_.end() - 1;
  }
  Member& member = known->members.front();
  known->seen_ms = now_ms;
  member.connection = fetch.connection.value();
  member.partitions.emplace_back(topic, fetch.partition.value());
  member.chips.push_back(QStringLiteral("p%1").arg(fetch.partition.value()));
  added = true;
  return std::nullopt;  // has its edge from the next frame on
}

void ClusterModel::takeFetch(const event::RecordsFetched& fetch, std::int64_t now_ms, Changes& changes) {
  const auto name = view_->topic_names->find(fetch.topic_id);
  const std::size_t node = nodeIndex(fetch.node);
  if (name == view_->topic_names->end() || node >= nodes_.size() || fetch.size_bytes <= 0 ||
      fetch.connection.value() == 0) {
    return;
  }
  creditFetch(fetch, name->second);
  bool added = false;
  const auto member = memberOf(fetch, name->second, now_ms, added);
  if (added) {
    rebuildGroups();
    rebuildEdges();
    changes.structure = true;
  }
  if (!member) {
    return;
  }
  const Group& group = groups_[member->first];
  const QString key = consume_edge(group.id, group.members[member->second].id, nodes_[node].id);
  const auto edge = edges_.find(key);
  if (edge == edges_.end() || edge->second.rate() >= kJourneysBelow) {
    return;
  }
  const auto remembered = newest_.find({name->second, fetch.partition.value()});
  if (remembered == newest_.end()) {
    return;
  }
  std::size_t sent = 0;
  for (const Remembered& record : remembered->second) {
    if (record.offset >= fetch.from.value() && sent < 4) {
      changes.journeys.push_back({key, record.key});
      ++sent;
    }
  }
}

void ClusterModel::takeEvents(std::int64_t now_ms, Changes& changes) {
  if (view_->version == last_version_) {
    return;  // only counters moved; these events have been seen
  }
  last_version_ = view_->version;
  for (const event::Stamped& stamped : view_->batches) {
    if (const auto* batch = std::get_if<event::BatchAppended>(&stamped.event)) {
      takeBatch(*batch, now_ms, changes);
    }
  }
  for (const event::Stamped& stamped : view_->fetches) {
    if (const auto* fetch = std::get_if<event::RecordsFetched>(&stamped.event)) {
      takeFetch(*fetch, now_ms, changes);
    }
  }
}

ClusterModel::Changes ClusterModel::take(const observe::ViewPtr& view, std::int64_t now_ms) {
  Changes changes;
  const observe::ViewPtr before = std::exchange(view_, view);
  const bool first = before == nullptr;
  if (first || before != view) {
    const bool nodes = first || before->nodes != view->nodes || before->controller != view->controller ||
                       before->controller_epoch != view->controller_epoch ||
                       before->quorum->leader != view->quorum->leader;
    const bool topics = first || (before->topics != view->topics && !same(*before->topics, *view->topics));
    const bool groups = first || (before->groups != view->groups && !same(*before->groups, *view->groups));
    const bool clients =
        first || (before->connections != view->connections && !same(*before->connections, *view->connections));
    if (nodes || topics) {
      rebuildNodes();
    }
    if (groups) {
      rebuildGroups();
    }
    if (clients) {
      refreshProducers(now_ms);
    }
    if (nodes || topics || groups || clients) {
      rebuildEdges();
      static_cast<void>(judgeGroups());
      changes.structure = true;
    }
    takeEvents(now_ms, changes);
    if (changes.structure) {
      rebuildEdges();
      sampleLags(kLagGroups);
    }
  }
  moving_ = moving_ || !changes.journeys.empty();
  return changes;
}

bool ClusterModel::sampleLags(std::size_t groups) {
  bool changed = false;
  for (std::size_t g = 0; view_ && g < std::min(groups, groups_.size()); ++g) {
    Group& group = groups_[g];
    const observe::GroupView* view = group.plain ? nullptr : view_->find_group(group.id.toStdString());
    if (view == nullptr) {
      continue;
    }
    for (Member& member : group.members) {
      std::int64_t lag = -1;
      bool hidden = false;  // committed, and nobody tells how far the partition is
      for (const auto& [topic_name, partition] : member.partitions) {
        // By topic and partition: with thousands of partitions a search through all for each would be millions of steps a second.
        const auto committed = std::lower_bound(view->committed.begin(), view->committed.end(), partition, [&](const auto& c, std::int32_t wanted) {
          return c.topic != topic_name ? c.topic < topic_name : c.partition.value() < wanted;
        });
        const observe::TopicView* topic = view_->find_topic(topic_name);
        const auto index = static_cast<std::size_t>(partition);
        const bool known = committed != view->committed.end() && committed->topic == topic_name && committed->partition.value() == partition;
        if (!known || !committed->counters || topic == nullptr ||
            index >= topic->partitions.size() || !topic->partitions[index]) {
          continue;
        }
        const auto* counters = topic->partitions[index]->leader_counters();
        const std::int64_t offset = committed->counters->offset.get();
        hidden = hidden || (counters == nullptr && offset >= 0);
        if (counters != nullptr && offset >= 0) {
          lag = std::max<std::int64_t>(0, lag) +
                std::max<std::int64_t>(0, counters->high_watermark.get() - offset);
        }
      }
      lag = hidden ? ClusterModel::Member::kLagUnknown : lag;
      changed = changed || lag != member.lag;
      member.lag = lag;
    }
  }
  return changed;
}

void ClusterModel::indexMembers() {
  member_by_connection_.clear();
  members_by_client_.clear();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (std::size_t m = 0; m < groups_[g].members.size(); ++m) {
      const Member& member = groups_[g].members[m];
      if (member.connection != 0) {
        member_by_connection_[member.connection] = {g, m};
      }
      members_by_client_[member.client].emplace_back(g, m);
    }
  }
}

// A client heartbeats over one connection and fetches over one to each leader. The others are found by its client id, by who has been
// given the partition, and by the host.
std::vector<ClusterModel::Place> ClusterModel::readersOf(const observe::ConnectionView& connection, const PartitionName& partition) const {
  std::vector<Place> out;
  const auto takes = [&](const Place& at) { return assigned(groups_[at.first], groups_[at.first].members[at.second], partition); };
  if (const auto direct = member_by_connection_.find(connection.id.value()); direct != member_by_connection_.end() && takes(direct->second)) {
    return {direct->second};
  }
  if (const auto named = members_by_client_.find(text(connection.client_id)); named != members_by_client_.end()) {
    std::copy_if(named->second.begin(), named->second.end(), std::back_inserter(out), takes);
  }
  const QString host = host_of(connection.peer);
  const auto here = [&](const Place& at) { return groups_[at.first].members[at.second].host == host; };
  if (out.size() > 1 && std::any_of(out.begin(), out.end(), here)) {
    std::erase_if(out, [&](const Place& at) { return !here(at); });
  }
  return out;
}

void ClusterModel::creditFetch(const event::RecordsFetched& fetch, const std::string& topic) {
  const PartitionName partition{topic, fetch.partition.value()};
  const auto handed = handed_out_.find(partition);
  const auto connection = view_->connections->find(fetch.connection);
  if (handed == handed_out_.end()) {
    return;  // nobody who is drawn reads it
  }
  const std::vector<Place> readers = connection == view_->connections->end() ? std::vector<Place>() : readersOf(*connection->second, partition);
  QString credited;
  for (const Place& reader : readers) {
    const Group& group = groups_[reader.first];
    const QString key = consume_edge(group.id, group.members[reader.second].id, fetch.node.value());
    if (const auto edge = edges_.find(key); edge != edges_.end() && readers.size() > 1) {
      edge->second.unclear_ms = ticked_ms_;
    } else if (edge != edges_.end()) {
      credited = key;
    }
  }
  handed->second.seen[credited] += static_cast<double>(fetch.size_bytes);
}

// What a leader handed out since the last tick is shared among those that were seen to fetch, by what they got: who reads the same
// partition as another group is not credited with the other's reading. While nothing was seen (the page was not shown), as before.
void ClusterModel::tickReaders(std::int64_t now_ms) {
  constexpr std::int64_t kUnclearMs = 30'000;
  std::vector<Edge*> begun;
  // Who has just come is handed what lay there, which is no measure of what it will read.
  const auto take = [&](Edge& edge, const Flow& flow) {
    if (!edge.begins) {
      edge.meter.add(flow);
    } else if (flow.records > 0) {
      begun.push_back(&edge);
    }
  };
  std::map<PartitionName, std::vector<Edge*>> readers;
  for (auto& [key, edge] : edges_) {
    edge.by_commits = edge.unclear_ms >= 0 && now_ms - edge.unclear_ms < kUnclearMs;
    edge.ticked = true;
    for (const PartitionName& place : edge.partitions) {
      readers[place].push_back(&edge);
    }
  }
  std::erase_if(handed_out_, [&](const auto& entry) { return !readers.contains(entry.first); });
  for (const auto& [place, edges] : readers) {
    Handed& handed = handed_out_[place];
    const observe::TopicView* topic = view_->find_topic(place.first);
    const auto index = static_cast<std::size_t>(place.second);
    const observe::PartitionView* partition = topic == nullptr || index >= topic->partitions.size() ? nullptr : topic->partitions[index].get();
    const observe::ReplicaView* leader = partition == nullptr ? nullptr : partition->replica(partition->leader);
    if (leader == nullptr || !leader->counters) {
      continue;
    }
    const Flow fresh = handed.out.take(leader->counters, leader->counters->records_out.get(), leader->counters->bytes_out.get());
    if (!handed.seen.empty()) {
      handed.before = std::exchange(handed.seen, {});
    }
    if (fresh.records <= 0) {
      continue;
    }
    double all = 0;
    for (const auto& [key, bytes] : handed.before) {
      all += bytes;
    }
    for (const auto& [key, bytes] : handed.before) {
      if (const auto edge = edges_.find(key); edge != edges_.end()) {
        take(edge->second, {fresh.records * bytes / all, fresh.bytes * bytes / all});
      }
    }
    if (handed.before.empty() && edges.size() == 1) {
      take(*edges.front(), fresh);  // who else?
    }
  }
  for (Edge* edge : begun) {
    edge->begins = false;
    edge->meter.stop();  // it is measured from here on
  }
}

// Commits come in steps; the rate is what lay between the last two of them, and holds until the next is overdue.
void ClusterModel::pace(Edge& edge) {
  constexpr std::int64_t kOverdueMs = 10'000;
  const observe::GroupView* group = view_->find_group(groups_[edge.client].id.toStdString());
  Pace& pace = edge.pace;
  if (pace.of != edge.partitions || group == nullptr) {
    pace = {};
    pace.of = edge.partitions;
  }
  pace.known.resize(edge.partitions.size(), -1);
  std::int64_t moved = 0;
  std::int64_t newest = 0;
  bool changed = false;
  bool back = false;
  for (std::size_t i = 0; group != nullptr && i < edge.partitions.size(); ++i) {
    const auto& [name, partition] = edge.partitions[i];
    const auto at = std::lower_bound(group->committed.begin(), group->committed.end(), partition, [&](const auto& c, std::int32_t wanted) {
      return c.topic != name ? c.topic < name : c.partition.value() < wanted;
    });
    if (at == group->committed.end() || at->topic != name || at->partition.value() != partition || !at->counters) {
      continue;
    }
    const std::int64_t offset = std::max<std::int64_t>(0, at->counters->offset.get());
    const std::int64_t before = std::exchange(pace.known[i], offset);
    newest = std::max(newest, at->counters->committed_at_ms.get());
    changed = changed || offset != before;
    back = back || offset < before;
    moved += before < 0 ? 0 : offset - before;  // the first commit of a partition is where it stands, not what was read since
  }
  if (changed && pace.begun && newest > pace.at_ms) {
    pace.step_ms = newest - pace.at_ms;
    pace.per_second = pace.at_ms == 0 || back ? 0 : static_cast<double>(moved) * 1'000 / static_cast<double>(pace.step_ms);
  }
  if (changed || !pace.begun) {
    pace.begun = true;
    pace.at_ms = newest;
  }
  const std::int64_t now = wall_ ? wall_() : QDateTime::currentMSecsSinceEpoch();
  if (now - pace.at_ms > std::max(kOverdueMs, 2 * pace.step_ms)) {
    pace.per_second = 0;
  }
}

std::map<ClusterModel::Place, ClusterModel::Reading> ClusterModel::readings() const {
  std::map<Place, Reading> out;
  for (const auto& [key, edge] : edges_) {
    if (edge.kind == Edge::Kind::consume && edge.rate() > 0) {
      Reading& one = out[{edge.client, edge.member}];
      one.rate += edge.rate();
      one.by_commits = one.by_commits || edge.by_commits;
    }
  }
  return out;
}

ClusterModel::Tick ClusterModel::tick(std::int64_t now_ms) {
  Tick result;
  if (!view_) {
    return result;
  }
  constexpr std::int64_t kUnseenMs = 2'500;
  const bool unseen = ticked_ms_ >= 0 && now_ms - ticked_ms_ > kUnseenMs;
  ticked_ms_ = now_ms;
  if (std::exchange(others_lead_, false) && unseen) {
    // A part divided by the whole time would be far too little: the rates begin anew.
    for (auto& [key, edge] : edges_) {
      edge.meter.stop();
    }
    for (Link& link : links_) {
      link.meter.stop();
    }
    clock_.stop();
  }
  tickProducers(unseen);
  tickReaders(now_ms);
  judgeEdges();
  for (auto& [key, edge] : edges_) {
    const double before = edge.rate();
    result.again = edge.meter.tick(now_ms) || result.again;
    if (edge.by_commits) {
      pace(edge);
      result.again = result.again || edge.rate() > 0;
    }
    result.changed = result.changed || before != edge.rate();
  }
  tickLinks(now_ms, result);
  static_cast<void>(clock_.tick(now_ms));
  result.again = countDown() || result.again;
  result.cards = judgeGroups();
  result.changed = result.changed || result.cards;
  result.changed = sampleLags(kLagGroups) || result.changed;
  for (Group& group : groups_) {
    for (Member& member : group.members) {
      const int ticks = member.lag > 0 ? std::min(member.ticks_behind + 1, 3) : 0;
      result.changed = result.changed || ticks != member.ticks_behind;
      result.again = result.again || (ticks != 0 && ticks < 3);
      member.ticks_behind = ticks;
    }
  }
  for (Node& node : nodes_) {
    for (Topic& topic : node.topics) {
      for (const Replica& replica : topic.replicas) {
        result.again = result.again || replica.bright;
      }
    }
  }
  // Clients that left.
  const std::size_t cards = producers_.size();
  bool lingering = false;
  for (const Producer& producer : producers_) {
    lingering = lingering || (producer.closed && !producer.placeholder);
  }
  if (lingering) {
    refreshProducers(now_ms);
    result.again = true;
  }
  const std::size_t readers_before = plain_.size();
  for (Group& group : plain_) {
    for (const Group& shown : groups_) {
      if (shown.plain && shown.id == group.id) {
        group.seen_ms = std::max(group.seen_ms, shown.seen_ms);
      }
    }
  }
  std::erase_if(plain_, [&](const Group& g) { return now_ms - g.seen_ms > kLingerMs; });
  result.again = result.again || !plain_.empty();
  if (cards != producers_.size() || readers_before != plain_.size()) {
    rebuildGroups();
    rebuildEdges();
    sampleLags(kLagGroups);
    result.structure = true;
  }
  moving_ = result.again;
  return result;
}

}  // namespace hw::ui
