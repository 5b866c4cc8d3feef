// SPDX-License-Identifier: Apache-2.0
#include "ui/models/inspector_facts.h"

#include <algorithm>
#include <iterator>

#include <QCoreApplication>
#include <QDateTime>

#include "engine/observe/protocol_names.h"
#include "ui/models/client_facts.h"
#include "ui/models/group_model.h"
#include "ui/models/inspector_replication.h"
#include "ui/models/replica_facts.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {

using observe::ClusterView;
using observe::PartitionView;
using observe::TopicView;

struct InspectorText {
  Q_DECLARE_TR_FUNCTIONS(InspectorText)
};

QString text_of(const std::string& s) { return QString::fromStdString(s); }

Fact fact(const QString& key, const QString& value, bool explained = false) {
  Fact f;
  f.key = key;
  f.value = value;
  f.explained = explained;
  return f;
}

Fact words(const QString& key, const QString& value, Glyph glyph = Glyph::none) {
  Fact f = fact(key, value);
  f.words = true;
  f.glyph = glyph;
  return f;
}

Fact linked(Fact f, Selection to) {
  f.link = std::move(to);
  return f;
}

QString ids(const std::vector<BrokerId>& list) {
  QStringList out;
  for (const BrokerId id : list) {
    out << QString::number(id.value());
  }
  return out.join(QLatin1Char(' '));
}

QString node_name(BrokerId id) {
  return id == kNoBroker ? InspectorText::tr("none") : InspectorText::tr("node %1").arg(id.value());
}

// "text", 0x… for bytes that are no UTF-8, null and "" told apart.
QString bytes_text(const std::optional<Bytes>& bytes, int limit) {
  if (!bytes) {
    return QStringLiteral("null");
  }
  if (bytes->empty()) {
    return QStringLiteral("\"\"");
  }
  const std::string_view raw = bytes->text();
  const QByteArray head(raw.data(), static_cast<qsizetype>(std::min<std::size_t>(raw.size(), static_cast<std::size_t>(limit))));
  QString text = QString::fromUtf8(head);
  if (text.contains(QChar::ReplacementCharacter)) {
    text = QStringLiteral("0x") + QString::fromLatin1(head.toHex());
  }
  text.replace(QLatin1Char('\n'), QLatin1Char(' '));
  return raw.size() > static_cast<std::size_t>(limit) ? text + QStringLiteral("…") : text;
}

struct Levels {
  std::int64_t log_start = 0;
  std::int64_t lso = 0;
  std::int64_t hw = 0;
  std::int64_t leo = 0;
  std::int64_t size = 0;
  std::int64_t segments = 0;
  bool known = false;
  BrokerId last_known_of = kNoBroker;  // nobody leads: as this replica knows it
};

// Of the leader; where that has ended, what is known last.
Levels levels_of(const PartitionView& partition) {
  Levels l;
  const KnownCounters known = known_counters(partition);
  if (const event::ReplicaCounters* c = known.counters; c != nullptr) {
    l.known = true;
    l.last_known_of = known.leads ? kNoBroker : known.node;
    l.log_start = c->log_start_offset.get();
    l.lso = c->last_stable_offset.get();
    l.hw = c->high_watermark.get();
    l.leo = c->log_end_offset.get();
    l.size = c->size_bytes.get();
    l.segments = c->segments.get();
  }
  return l;
}

QString offset_or_dash(bool known, std::int64_t offset) { return known ? format_offset(offset) : QStringLiteral("–"); }

// When it is, and what was done to nodes by hand until then.
struct Moment {
  std::int64_t now_ms = 0;
  const std::vector<NodeCondition>& conditions;
};

std::vector<FactSection> explain_partition(const ClusterView& view, const TopicView& topic, const PartitionView& p, const Levels& l,
                                           const Moment& moment) {
  std::vector<FactSection> out = explain_replication(p, partition_facts(view, &topic, p, moment.now_ms, moment.conditions));
  FactSection lso;
  lso.label = InspectorText::tr("Last stable offset");
  lso.prose = InspectorText::tr("A <b>read_committed</b> consumer stops here: at the first record of a transaction that is still "
                   "open, and otherwise at the high watermark.");
  lso.formula = {QStringLiteral("LSO %1 = min( HW %2, first open )")
                     .arg(offset_or_dash(l.known, l.lso), offset_or_dash(l.known, l.hw))};
  out.push_back(lso);
  FactSection start;
  start.label = InspectorText::tr("Log start");
  start.prose = InspectorText::tr("The oldest offset that can still be read. Retention moves it forward by whole segments.");
  start.formula = {InspectorText::tr("%1 offsets = LEO %2 - log start %3")
                       .arg(offset_or_dash(l.known, l.leo - l.log_start), offset_or_dash(l.known, l.leo),
                            offset_or_dash(l.known, l.log_start))};
  out.push_back(start);
  return out;
}

void add_partition_facts(FactSection& s, const PartitionView& p, const Levels& l) {
  // A leader whose node has ended is still written down as the leader until another is; it leads nothing.
  const observe::ReplicaView* led = p.replica(p.leader);
  const bool gone = p.leader == kNoBroker || led == nullptr || !led->online;
  Fact leader = linked(words(InspectorText::tr("Leader"), node_name(p.leader), gone ? Glyph::cross : Glyph::crown),
                       p.leader == kNoBroker ? Selection() : Selection::ofNode(p.leader.value()));
  leader.words = false;
  leader.tone = gone ? Fact::Tone::err : Fact::Tone::text;
  s.facts.push_back(leader);
  s.facts.push_back(fact(InspectorText::tr("Leader epoch"), QString::number(p.leader_epoch.value()), p.replicas.size() > 1));
  Fact isr = fact(InspectorText::tr("In-sync set"), p.isr.empty() ? QStringLiteral("–") : ids(p.isr));
  if (p.isr.size() < p.replicas.size()) {
    isr.glyph = Glyph::quarter;
    isr.tone = Fact::Tone::warn;
  }
  isr.explained = p.replicas.size() > 1;
  s.facts.push_back(isr);
  s.facts.push_back(fact(InspectorText::tr("Log start"), offset_or_dash(l.known, l.log_start), true));
  s.facts.push_back(fact(InspectorText::tr("Last stable (LSO)"), offset_or_dash(l.known, l.lso), true));
  s.facts.push_back(fact(InspectorText::tr("High watermark"), offset_or_dash(l.known, l.hw), true));
  s.facts.push_back(fact(InspectorText::tr("Log end (LEO)"), offset_or_dash(l.known, l.leo), true));
  if (l.last_known_of != kNoBroker) {
    for (std::size_t i = s.facts.size() - 4; i < s.facts.size(); ++i) {
      s.facts[i].tone = Fact::Tone::text2;
    }
    s.note = InspectorText::tr("Offsets are the last known, of %1: nobody leads.").arg(node_name(l.last_known_of));
  }
}

// Committed positions of all groups in one partition.
FactSection groups_of(const ClusterView& view, const std::string& topic, PartitionIndex index, const Levels& l) {
  FactSection s;
  s.label = InspectorText::tr("Groups");
  for (const auto& [id, group] : *view.groups) {
    for (const auto& c : group->committed) {
      if (c.topic == topic && c.partition == index && c.counters != nullptr && c.counters->offset.get() >= 0) {
        const std::int64_t at = c.counters->offset.get();
        Fact f = linked(fact(text_of(id), InspectorText::tr("%1, lag %2").arg(at).arg(l.known ? format_count(std::max<std::int64_t>(0, l.hw - at)) : QStringLiteral("–"))),
                        Selection::ofGroup(text_of(id)));
        f.tone = l.last_known_of != kNoBroker ? Fact::Tone::text2 : Fact::Tone::text;
        s.facts.push_back(f);
      }
    }
  }
  return s;
}

std::vector<FactSection> topic_config(const TopicView& topic) {
  FactSection s;
  s.label = InspectorText::tr("Set on the topic");
  for (const auto& [key, value] : topic.configs) {
    s.facts.push_back(fact(text_of(key), text_of(value)));
  }
  if (s.facts.empty()) {
    s.note = InspectorText::tr("Nothing: the broker's defaults apply.");
  }
  return {s};
}

FactSection partition_actions(const Selection& selection) {
  FactSection s;
  s.label = InspectorText::tr("Actions");
  s.actions.push_back({InspectorText::tr("Produce"), QStringLiteral("produce.open"), {}, QStringLiteral("P"), false});
  QVariantMap to;
  to.insert(QStringLiteral("address"), selection.address());
  s.actions.push_back({InspectorText::tr("Show messages"), QStringLiteral("page.messages"), to, {}, false});
  return s;
}

const PartitionView* find_partition(const ClusterView& view, const Selection& selection, const TopicView*& topic) {
  topic = view.find_topic(selection.topic.toStdString());
  if (topic == nullptr || selection.partition < 0 ||
      static_cast<std::size_t>(selection.partition) >= topic->partitions.size()) {
    return nullptr;
  }
  return topic->partitions[static_cast<std::size_t>(selection.partition)].get();
}

void missing(InspectorFacts& out, const QString& what) {
  out.exists = false;
  out.subtitle = what;
  FactSection s;
  s.label = InspectorText::tr("Gone");
  s.prose = InspectorText::tr("The cluster has no such object now.");
  out.overview = {s};
}

void about_cluster(InspectorFacts& out, const ClusterView& view, const InspectorContext& context) {
  out.title = context.cluster_name;
  out.subtitle = InspectorText::tr("Cluster");
  FactSection s;
  s.label = InspectorText::tr("State");
  std::size_t running = 0;
  for (const auto& [id, node] : view.nodes) {
    running += node->state == observe::NodeView::State::running ? 1U : 0U;
  }
  Fact nodes = fact(InspectorText::tr("Nodes running"), QStringLiteral("%1 of %2").arg(running).arg(view.nodes.size()));
  nodes.glyph = running == view.nodes.size() && running > 0 ? Glyph::disc : Glyph::quarter;
  s.facts.push_back(nodes);
  if (!view.quorum->voters.empty() && view.quorum->leader == kNoBroker) {
    s.facts.push_back(words(InspectorText::tr("Controller"), InspectorText::tr("none at this moment"), Glyph::quarter));
  } else if (view.controller != kNoBroker) {
    Fact controller = linked(fact(InspectorText::tr("Controller"), node_name(view.controller)), Selection::ofNode(view.controller.value()));
    controller.glyph = Glyph::crown;
    s.facts.push_back(controller);
  }
  std::size_t topics = 0;
  std::size_t partitions = 0;
  for (const auto& [name, topic] : *view.topics) {
    if (!topic->internal) {
      ++topics;
      partitions += topic->partitions.size();
    }
  }
  s.facts.push_back(fact(InspectorText::tr("Topics"), format_count(static_cast<std::int64_t>(topics))));
  s.facts.push_back(fact(InspectorText::tr("Partitions"), format_count(static_cast<std::int64_t>(partitions))));
  s.facts.push_back(fact(InspectorText::tr("Groups"), format_count(static_cast<std::int64_t>(view.groups->size()))));
  s.facts.push_back(fact(InspectorText::tr("Clients"), format_count(static_cast<std::int64_t>(count_clients(view)))));
  // Those of clients, as the Clients page counts them; the nodes have some with each other besides.
  const auto connections = std::count_if(view.connections->begin(), view.connections->end(), [&](const auto& each) { return !is_peer(*each.second, view); });
  s.facts.push_back(fact(InspectorText::tr("Connections"), format_count(static_cast<std::int64_t>(connections))));
  out.overview.push_back(s);
  FactSection place;
  place.label = InspectorText::tr("Where data lives");
  if (context.storage.in_memory) {
    place.prose = InspectorText::tr("In <b>memory</b>: records are gone when the window closes.");
    place.actions.push_back({InspectorText::tr("Keep this cluster…"), QStringLiteral("cluster.keep"), {}, {}, false});
  } else {
    place.prose = InspectorText::tr("On disk, in Kafka's own file format.");
    place.facts.push_back(fact(InspectorText::tr("Folder"), context.storage.directory));
  }
  out.overview.push_back(place);
  FactSection connect;
  connect.label = InspectorText::tr("Connect");
  connect.prose = InspectorText::tr("Any Kafka client can use this address:");
  connect.formula = {QStringLiteral("bootstrap.servers=%1").arg(context.bootstrap)};
  connect.actions.push_back({InspectorText::tr("Copy address"), QStringLiteral("connect.copy"), {}, {}, false});
  out.overview.push_back(connect);
  FactSection id;
  id.label = InspectorText::tr("Identity");
  id.facts.push_back(fact(InspectorText::tr("Cluster id"), text_of(view.cluster_id)));
  out.overview.push_back(id);
}

void about_node(InspectorFacts& out, const ClusterView& view, const Selection& selection, std::int64_t fetch_timeout_ms, std::int64_t now_ms) {
  const auto it = view.nodes.find(BrokerId(selection.node));
  if (it == view.nodes.end()) {
    missing(out, InspectorText::tr("Node"));
    return;
  }
  const observe::NodeView& node = *it->second;
  QStringList roles;
  if (node.broker) {
    roles << InspectorText::tr("broker");
  }
  if (node.controller) {
    roles << InspectorText::tr("controller");
  }
  out.subtitle = InspectorText::tr("Node · %1").arg(roles.join(QStringLiteral(", ")));
  FactSection s;
  s.label = InspectorText::tr("State");
  Fact state;
  switch (node.state) {
    case observe::NodeView::State::starting:
      state = words(InspectorText::tr("State"), InspectorText::tr("starting"), Glyph::ring);
      break;
    case observe::NodeView::State::running:
      state = words(InspectorText::tr("State"), InspectorText::tr("running"), Glyph::disc);
      break;
    case observe::NodeView::State::stopped:
      state = words(InspectorText::tr("State"), InspectorText::tr("stopped"), Glyph::cross);
      break;
    case observe::NodeView::State::killed:
      state = words(InspectorText::tr("State"), node.why.empty() ? InspectorText::tr("killed") : InspectorText::tr("stopped itself"),
                    Glyph::cross);
      break;
  }
  s.facts.push_back(state);
  if (!node.why.empty()) {
    s.facts.push_back(words(InspectorText::tr("Because"), text_of(node.why)));
  }
  s.facts.push_back(fact(InspectorText::tr("Since"), format_time(node.since.ms)));
  s.facts.push_back(fact(InspectorText::tr("Address"), QStringLiteral("%1:%2").arg(text_of(node.host)).arg(node.port)));
  s.facts.push_back(node.directory.empty() ? words(InspectorText::tr("Records"), InspectorText::tr("in memory"))
                                           : fact(InspectorText::tr("Folder"), text_of(node.directory)));
  std::size_t leads = 0;
  std::size_t replicas = 0;
  for (const auto& [name, topic] : *view.topics) {
    for (const auto& p : topic->partitions) {
      if (p != nullptr) {
        leads += p->leader == node.id ? 1U : 0U;
        replicas += p->replica(node.id) != nullptr ? 1U : 0U;
      }
    }
  }
  s.facts.push_back(fact(InspectorText::tr("Replicas"), format_count(static_cast<std::int64_t>(replicas))));
  Fact leader = fact(InspectorText::tr("Leader of"), format_count(static_cast<std::int64_t>(leads)));
  const bool ended = node.state == observe::NodeView::State::killed || node.state == observe::NodeView::State::stopped;
  leader.glyph = leads > 0 && !ended ? Glyph::crown : Glyph::none;
  s.facts.push_back(leader);
  out.overview.push_back(s);
  NodeStanding standing = node_standing(view, node, now_ms, fetch_timeout_ms);
  std::move(standing.overview.begin(), standing.overview.end(), std::back_inserter(out.overview));
  if (node.counters != nullptr) {
    FactSection traffic;
    traffic.label = InspectorText::tr("Since it started");
    traffic.facts.push_back(fact(InspectorText::tr("Connections"), format_count(node.counters->connections.get())));
    traffic.facts.push_back(fact(InspectorText::tr("Requests"), format_count(node.counters->requests.get())));
    traffic.facts.push_back(fact(InspectorText::tr("Records in"), format_count(node.counters->records_in.get())));
    traffic.facts.push_back(fact(InspectorText::tr("Records out"), format_count(node.counters->records_out.get())));
    traffic.facts.push_back(fact(InspectorText::tr("Bytes in"), format_bytes(node.counters->bytes_in.get())));
    traffic.facts.push_back(fact(InspectorText::tr("Bytes out"), format_bytes(node.counters->bytes_out.get())));
    out.overview.push_back(traffic);
  }
  FactSection connect;
  connect.label = InspectorText::tr("Explain");
  connect.prose = InspectorText::tr("A broker keeps replicas of partitions and answers clients; a controller decides who leads. "
                       "This node is %1.")
                      .arg(node.broker && node.controller ? InspectorText::tr("<b>both</b>")
                                                          : (node.broker ? InspectorText::tr("a <b>broker</b>") : InspectorText::tr("a <b>controller</b>")));
  out.explain.push_back(connect);
  std::move(standing.explain.begin(), standing.explain.end(), std::back_inserter(out.explain));
}

void about_topic(InspectorFacts& out, const ClusterView& view, const Selection& selection) {
  const TopicView* topic = view.find_topic(selection.topic.toStdString());
  if (topic == nullptr) {
    missing(out, InspectorText::tr("Topic"));
    return;
  }
  out.subtitle = InspectorText::tr("Topic · %Ln partition(s)", nullptr, static_cast<int>(static_cast<std::int64_t>(topic->partitions.size()))) +
                 (topic->internal ? InspectorText::tr(" · internal") : QString());
  FactSection s;
  s.label = InspectorText::tr("State");
  std::int64_t offsets = 0;
  std::int64_t size = 0;
  std::size_t replicas = 0;
  std::size_t in_sync = 0;
  for (const auto& p : topic->partitions) {
    if (p == nullptr) {
      continue;
    }
    const Levels l = levels_of(*p);
    offsets += l.leo - l.log_start;
    size += l.size;
    replicas += p->replicas.size();
    in_sync += p->isr.size();
  }
  s.facts.push_back(fact(InspectorText::tr("Partitions"), format_count(static_cast<std::int64_t>(topic->partitions.size()))));
  Fact sync = fact(InspectorText::tr("In sync"), InspectorText::tr("%1 of %2").arg(format_count(static_cast<std::int64_t>(in_sync)), format_count(static_cast<std::int64_t>(replicas))));
  sync.glyph = in_sync == replicas ? Glyph::disc : Glyph::quarter;
  s.facts.push_back(sync);
  s.facts.push_back(fact(InspectorText::tr("Offsets"), format_count(offsets)));
  s.facts.push_back(fact(InspectorText::tr("Size"), format_bytes(size)));
  s.facts.push_back(fact(InspectorText::tr("Topic id"), text_of(topic->id.text())));
  out.overview.push_back(s);
  FactSection parts;
  parts.label = InspectorText::tr("Partitions");
  // A long list is a page of its own.
  constexpr std::size_t kShown = 12;
  for (std::size_t i = 0; i < topic->partitions.size() && i < kShown; ++i) {
    const auto& p = topic->partitions[i];
    if (p == nullptr) {
      continue;
    }
    const Levels l = levels_of(*p);
    Fact f = linked(fact(QStringLiteral("p%1 · %2").arg(i).arg(node_name(p->leader)), offset_or_dash(l.known, l.leo)),
                    Selection::ofPartition(selection.topic, static_cast<std::int32_t>(i)));
    const observe::ReplicaView* led = p->replica(p->leader);
    f.glyph = led == nullptr || !led->online ? Glyph::cross : (p->isr.size() < p->replicas.size() ? Glyph::quarter : Glyph::none);
    parts.facts.push_back(f);
  }
  if (topic->partitions.size() > kShown) {
    parts.note = InspectorText::tr("and %Ln more", nullptr, static_cast<int>(static_cast<std::int64_t>(topic->partitions.size() - kShown)));
  }
  out.overview.push_back(parts);
  FactSection actions;
  actions.label = InspectorText::tr("Actions");
  QVariantMap to;
  to.insert(QStringLiteral("address"), selection.address());
  QVariantMap which;
  which.insert(QStringLiteral("topic"), selection.topic);
  actions.actions.push_back({InspectorText::tr("Produce"), QStringLiteral("produce.open"), {}, QStringLiteral("P"), false});
  actions.actions.push_back({InspectorText::tr("Show lanes"), QStringLiteral("page.partitions"), to, {}, false});
  if (!topic->internal) {
    actions.actions.push_back({InspectorText::tr("Delete…"), QStringLiteral("topic.delete"), which, {}, true});
  }
  out.overview.push_back(actions);
  FactSection explain;
  explain.label = InspectorText::tr("Explain");
  explain.prose = InspectorText::tr("A topic is a name for its partitions. Order holds <b>inside a partition</b>; records with the "
                       "same key go to the same one while the number of partitions stays.");
  out.explain.push_back(explain);
  out.config = topic_config(*topic);
}

void about_partition(InspectorFacts& out, const ClusterView& view, const Selection& selection, const Moment& moment) {
  const TopicView* topic = nullptr;
  const PartitionView* p = find_partition(view, selection, topic);
  if (p == nullptr) {
    missing(out, InspectorText::tr("Partition"));
    return;
  }
  std::vector<BrokerId> nodes;
  for (const observe::ReplicaView& r : p->replicas) {
    nodes.push_back(r.node);
  }
  const auto cleanup = topic->configs.find("cleanup.policy");
  out.subtitle = InspectorText::tr("Partition · replicas %1").arg(ids(nodes)) +
                 (cleanup == topic->configs.end() ? QString() : QStringLiteral(" · ") + text_of(cleanup->second));
  const Levels l = levels_of(*p);
  FactSection s;
  s.label = InspectorText::tr("State");
  add_partition_facts(s, *p, l);
  s.facts.push_back(fact(InspectorText::tr("Size"), l.known ? format_bytes(l.size) : QStringLiteral("–")));
  s.facts.push_back(fact(InspectorText::tr("Segments"), offset_or_dash(l.known, l.segments)));
  out.overview.push_back(s);
  const PartitionFacts replication = partition_facts(view, topic, *p, moment.now_ms, moment.conditions);
  out.overview.push_back(explain_partition_now(*p, replication));
  if (FactSection replicas = replicas_section(replication); !replicas.facts.empty()) {
    out.overview.push_back(std::move(replicas));
  }
  FactSection groups = groups_of(view, topic->name, p->index, l);
  if (!groups.facts.empty()) {
    out.overview.push_back(groups);
  }
  out.overview.push_back(partition_actions(selection));
  out.explain = explain_partition(view, *topic, *p, l, moment);
  out.config = topic_config(*topic);
}

void about_range(InspectorFacts& out, const ClusterView& view, const Selection& selection, const Moment& moment) {
  const TopicView* topic = nullptr;
  const PartitionView* p = find_partition(view, selection, topic);
  if (p == nullptr) {
    missing(out, InspectorText::tr("Offset range"));
    return;
  }
  const Levels l = levels_of(*p);
  out.subtitle = InspectorText::tr("Offset range · %Ln offset(s)", nullptr, static_cast<int>(selection.last_offset - selection.offset + 1));
  FactSection s;
  s.label = InspectorText::tr("State");
  s.facts.push_back(fact(InspectorText::tr("First"), format_offset(selection.offset)));
  s.facts.push_back(fact(InspectorText::tr("Last"), format_offset(selection.last_offset)));
  s.facts.push_back(linked(fact(InspectorText::tr("Partition"), QStringLiteral("%1/%2").arg(selection.topic).arg(selection.partition)),
                           Selection::ofPartition(selection.topic, selection.partition)));
  out.overview.push_back(s);
  FactSection marks;
  marks.label = InspectorText::tr("Watermarks");
  add_partition_facts(marks, *p, l);
  out.overview.push_back(marks);
  out.overview.push_back(partition_actions(selection));
  out.explain = explain_partition(view, *topic, *p, l, moment);
  out.config = topic_config(*topic);
}

void about_record(InspectorFacts& out, const ClusterView& view, const Selection& selection,
                  const InspectorContext& context, const Moment& moment) {
  const TopicView* topic = nullptr;
  const PartitionView* p = find_partition(view, selection, topic);
  if (p == nullptr) {
    missing(out, InspectorText::tr("Record"));
    return;
  }
  const Levels l = levels_of(*p);
  const RecordRow* r = context.record;
  FactSection s;
  s.label = InspectorText::tr("Record");
  if (r != nullptr) {
    const std::int64_t size = static_cast<std::int64_t>((r->key ? r->key->size() : 0) + (r->value ? r->value->size() : 0));
    out.subtitle = r->control ? InspectorText::tr("Control record") : InspectorText::tr("Record · %1 of key and value").arg(format_bytes(size));
    // Together they do not fit, and half a time is none.
    const QString at = format_date_time(r->timestamp_ms);
    s.facts.push_back(fact(InspectorText::tr("Date"), at.section(QLatin1Char(' '), 0, 0)));
    s.facts.push_back(fact(InspectorText::tr("Time"), at.section(QLatin1Char(' '), 1)));
    s.facts.push_back(words(InspectorText::tr("Time is"), r->log_append_time ? InspectorText::tr("when it was appended") : InspectorText::tr("what the producer said")));
    Fact key = fact(InspectorText::tr("Key"), bytes_text(r->key, 200));
    key.glyph = r->key ? Glyph::none : Glyph::slashed_zero;
    s.facts.push_back(key);
    Fact value = fact(InspectorText::tr("Value"), bytes_text(r->value, 400));
    value.glyph = r->value ? Glyph::none : (r->key ? Glyph::dagger : Glyph::slashed_zero);
    s.facts.push_back(value);
    for (const auto& [name, header] : r->headers) {
      s.facts.push_back(fact(text_of(name), bytes_text(header, 100)));
    }
  } else {
    out.subtitle = InspectorText::tr("Record");
    if (!context.record_error.isEmpty()) {
      s.note = context.record_error;
    } else if (l.known && (selection.offset < l.log_start || selection.offset >= l.leo)) {
      s.note = selection.offset >= l.leo ? InspectorText::tr("Nothing is at this offset yet.")
                                         : InspectorText::tr("This offset is before the log start: it has been removed.");
    } else {
      s.note = InspectorText::tr("Reading…");
    }
  }
  out.overview.push_back(s);
  if (r != nullptr) {
    FactSection batch;
    batch.label = InspectorText::tr("Its batch");
    batch.facts.push_back(fact(InspectorText::tr("Base offset"), format_offset(r->batch_base_offset)));
    batch.facts.push_back(fact(InspectorText::tr("Records"), format_count(r->batch_records)));
    batch.facts.push_back(fact(InspectorText::tr("Size"), format_bytes(r->batch_size_bytes)));
    batch.facts.push_back(fact(InspectorText::tr("Compression"), text_of(r->compression)));
    batch.facts.push_back(fact(InspectorText::tr("Leader epoch"), QString::number(r->leader_epoch)));
    if (r->producer_id >= 0) {
      batch.facts.push_back(fact(InspectorText::tr("Producer"), InspectorText::tr("%1 epoch %2").arg(r->producer_id).arg(r->producer_epoch)));
      batch.facts.push_back(fact(InspectorText::tr("First sequence"), QString::number(r->base_sequence)));
    }
    batch.facts.push_back(fact(InspectorText::tr("CRC-32C"), QStringLiteral("0x%1").arg(r->crc, 8, 16, QLatin1Char('0'))));
    out.overview.push_back(batch);
  }
  if (r != nullptr) {
    FactSection who;
    who.label = InspectorText::tr("Who can see offset %1").arg(selection.offset);
    const bool uncommitted = selection.offset < l.hw && selection.offset >= l.log_start;
    const bool committed = uncommitted && selection.offset < l.lso;
    who.facts.push_back(words(QStringLiteral("read_uncommitted"), uncommitted ? InspectorText::tr("yes") : InspectorText::tr("no"),
                              uncommitted ? Glyph::check : Glyph::cross));
    who.facts.push_back(words(QStringLiteral("read_committed"), committed ? InspectorText::tr("yes") : InspectorText::tr("no"),
                              committed ? Glyph::check : Glyph::cross));
    out.overview.push_back(who);
  }
  FactSection actions = partition_actions(selection);
  out.overview.push_back(actions);
  out.explain = explain_partition(view, *topic, *p, l, moment);
  out.config = topic_config(*topic);
}

void about_group(InspectorFacts& out, const ClusterView& view, const Selection& selection) {
  const observe::GroupView* group = view.find_group(selection.group.toStdString());
  if (group == nullptr) {
    missing(out, InspectorText::tr("Consumer group"));
    return;
  }
  out.subtitle = InspectorText::tr("Consumer group · %1").arg(group_kind(*group));
  const bool consumer = group->kind == event::GroupProtocol::consumer;
  FactSection s;
  s.label = InspectorText::tr("State");
  const bool stable = group->state == "Stable";
  const bool empty = group->state == "Empty" || group->state == "Dead";
  s.facts.push_back(words(InspectorText::tr("State"), state_words(group->state), stable ? Glyph::disc : (empty ? Glyph::ring : Glyph::quarter)));
  s.facts.push_back(fact(consumer ? InspectorText::tr("Group epoch") : InspectorText::tr("Generation"), QString::number(group->generation)));
  if (consumer) {
    s.facts.push_back(fact(InspectorText::tr("Target epoch"), QString::number(group->target_epoch)));
  }
  if (!group->protocol.empty()) {
    s.facts.push_back(fact(InspectorText::tr("Assignor"), text_of(group->protocol)));
  }
  s.facts.push_back(fact(InspectorText::tr("Members"), format_count(static_cast<std::int64_t>(group->members.size()))));
  s.facts.push_back(fact(InspectorText::tr("Since"), format_time(group->changed_at.ms)));
  if (!group->reason.empty()) {
    s.facts.push_back(words(InspectorText::tr("Because"), reason_words(group->reason)));
  }
  out.overview.push_back(s);
  FactSection members;
  members.label = InspectorText::tr("Members");
  for (const auto& m : group->members) {
    QStringList owned;
    const std::string* before = nullptr;
    for (const auto& [topic, index] : m.partitions) {
      if (before != nullptr && *before == topic) {
        owned.last() += QStringLiteral(",%1").arg(index.value());
      } else {
        owned << QStringLiteral("%1/%2").arg(text_of(topic)).arg(index.value());
      }
      before = &topic;
    }
    if (m.partitions.size() > 8) {
      owned = {InspectorText::tr("%Ln partition(s)", nullptr, static_cast<int>(m.partitions.size()))};
    }
    members.facts.push_back(linked(fact(text_of(m.client_id), owned.isEmpty() ? InspectorText::tr("idle") : owned.join(QLatin1Char(' '))),
                                   Selection::ofMember(selection.group, text_of(m.member_id))));
  }
  if (!members.facts.empty()) {
    out.overview.push_back(members);
  }
  FactSection lag;
  lag.label = InspectorText::tr("Positions");
  std::int64_t total = 0;
  bool all_known = true;
  constexpr std::size_t kPositionsShown = 48;  // the page has them all
  int left_out = 0;
  for (const auto& c : group->committed) {
    const TopicView* topic = view.find_topic(c.topic);
    if (c.counters == nullptr || c.counters->offset.get() < 0) {
      continue;
    }
    const std::size_t i = static_cast<std::size_t>(c.partition.value());
    const std::int64_t at = c.counters->offset.get();
    std::int64_t behind = -1;
    const bool there = topic != nullptr && i < topic->partitions.size() && topic->partitions[i] != nullptr;
    if (const Levels l = there ? levels_of(*topic->partitions[i]) : Levels{}; l.known) {
      behind = std::max<std::int64_t>(0, l.hw - at);
      total += behind;
    } else {
      all_known = all_known && !there;
    }
    if (lag.facts.size() == kPositionsShown) {
      ++left_out;
      continue;
    }
    lag.facts.push_back(linked(fact(QStringLiteral("%1/%2").arg(text_of(c.topic)).arg(c.partition.value()),
                                    !there       ? format_offset(at)
                                    : behind < 0 ? InspectorText::tr("%1, lag %2").arg(at).arg(QStringLiteral("–"))
                                                 : InspectorText::tr("%1, lag %2").arg(at).arg(format_count(behind))),
                               Selection::ofPartition(text_of(c.topic), c.partition.value())));
  }
  if (!lag.facts.empty()) {
    lag.facts.insert(lag.facts.begin(), fact(InspectorText::tr("Lag, all"), all_known ? format_count(total) : QStringLiteral("–"), true));
    if (left_out > 0) {
      lag.note = InspectorText::tr("and %Ln more", nullptr, left_out);
    }
    out.overview.push_back(lag);
  }
  FactSection explain;
  explain.label = InspectorText::tr("Lag");
  explain.prose = InspectorText::tr("How many offsets the group has not committed yet. It is counted in offsets: markers and removed "
                       "records count too.");
  explain.formula = {QStringLiteral("lag %1 = sum( HW - committed )").arg(all_known ? QString::number(total) : QStringLiteral("–"))};
  out.explain.push_back(explain);
  FactSection states;
  states.label = InspectorText::tr("State");
  states.prose =
      consumer ? InspectorText::tr("The coordinator itself assigns the partitions. Whatever changes raises the <b>group epoch</b>; a new target is "
                                   "computed for it (<b>Assigning</b>), and with their heartbeats members give back and take partitions until each "
                                   "has reached that epoch (<b>Reconciling</b>). What a member keeps it reads all the time.")
               : InspectorText::tr("Members of a classic group join, one of them (the leader) assigns the partitions, and then all "
                                   "are <b>Stable</b> until somebody joins, leaves or falls silent.");
  out.explain.push_back(states);
}

void about_member(InspectorFacts& out, const ClusterView& view, const Selection& selection) {
  const observe::GroupView* group = view.find_group(selection.group.toStdString());
  const event::GroupAssigned::Member* member = nullptr;
  if (group != nullptr) {
    for (const auto& m : group->members) {
      if (text_of(m.member_id) == selection.member) {
        member = &m;
      }
    }
  }
  if (member == nullptr) {
    missing(out, InspectorText::tr("Group member"));
    return;
  }
  out.subtitle = InspectorText::tr("Member of %1").arg(selection.group);
  FactSection s;
  s.label = InspectorText::tr("State");
  s.facts.push_back(fact(InspectorText::tr("Client"), text_of(member->client_id)));
  s.facts.push_back(fact(InspectorText::tr("Host"), text_of(member->client_host)));
  s.facts.push_back(fact(InspectorText::tr("Member id"), text_of(member->member_id)));
  if (!member->instance_id.empty()) {
    s.facts.push_back(fact(InspectorText::tr("Instance id"), text_of(member->instance_id)));
  }
  if (member->epoch >= 0) {
    s.facts.push_back(words(InspectorText::tr("Member epoch"),
                            member->epoch == group->generation ? QString::number(member->epoch)
                                                               : InspectorText::tr("%1, the group is at %2").arg(member->epoch).arg(group->generation)));
    s.facts.push_back(words(InspectorText::tr("Protocol"), member->speaks_classic ? InspectorText::tr("classic, in a consumer group") : kind_words(GroupKind::consumer)));
  } else {
    s.facts.push_back(words(InspectorText::tr("Role"), group->leader == member->member_id ? InspectorText::tr("group leader") : InspectorText::tr("member")));
  }
  if (member->connection.value() != 0) {
    s.facts.push_back(linked(fact(InspectorText::tr("Connection"), QStringLiteral("conn%1").arg(member->connection.value())),
                             Selection::ofConnection(member->connection.value())));
  }
  s.facts.push_back(linked(fact(InspectorText::tr("Group"), selection.group), Selection::ofGroup(selection.group)));
  out.overview.push_back(s);
  FactSection owned;
  owned.label = InspectorText::tr("Reads");
  const auto list = [&owned](const std::pair<std::string, PartitionIndex>& partition, const QString& how) {
    owned.facts.push_back(linked(words(QStringLiteral("%1/%2").arg(text_of(partition.first)).arg(partition.second.value()), how),
                                 Selection::ofPartition(text_of(partition.first), partition.second.value())));
  };
  const auto in = [](const auto& partitions, const auto& partition) { return std::binary_search(partitions.begin(), partitions.end(), partition); };
  for (const auto& partition : member->partitions) {
    const bool stays = member->epoch < 0 || in(member->target, partition);
    list(partition, stays ? InspectorText::tr("assigned") : InspectorText::tr("to be given back"));
  }
  for (const auto& partition : member->target) {
    if (!in(member->partitions, partition)) {
      list(partition, InspectorText::tr("to come"));
    }
  }
  if (owned.facts.empty()) {
    owned.note = InspectorText::tr("Nothing: there are more members than partitions.");
  }
  out.overview.push_back(owned);
}

void about_connection(InspectorFacts& out, const ClusterView& view, const Selection& selection) {
  const auto it = view.connections->find(ConnectionId(selection.connection));
  if (it == view.connections->end()) {
    missing(out, InspectorText::tr("Connection"));
    return;
  }
  const observe::ConnectionView& c = *it->second;
  out.subtitle = InspectorText::tr("Client connection");
  FactSection s;
  s.label = InspectorText::tr("Client");
  s.facts.push_back(fact(InspectorText::tr("Client id"), c.client_id.empty() ? QStringLiteral("–") : text_of(c.client_id)));
  s.facts.push_back(fact(InspectorText::tr("Software"), c.software_name.empty() ? QStringLiteral("–") : text_of(c.software_name)));
  if (!c.software_version.empty()) {
    s.facts.push_back(fact(InspectorText::tr("Version"), text_of(c.software_version)));
  }
  s.facts.push_back(fact(InspectorText::tr("From"), text_of(c.peer)));
  s.facts.push_back(linked(fact(InspectorText::tr("Node"), node_name(c.node)), Selection::ofNode(c.node.value())));
  s.facts.push_back(fact(InspectorText::tr("Opened"), format_time(c.opened_at.ms)));
  out.overview.push_back(s);
  if (c.counters != nullptr) {
    FactSection traffic;
    traffic.label = InspectorText::tr("Traffic");
    traffic.facts.push_back(fact(InspectorText::tr("Requests"), format_count(c.counters->requests.get())));
    traffic.facts.push_back(fact(InspectorText::tr("Bytes in"), format_bytes(c.counters->bytes_in.get())));
    traffic.facts.push_back(fact(InspectorText::tr("Bytes out"), format_bytes(c.counters->bytes_out.get())));
    out.overview.push_back(traffic);
    FactSection apis;
    apis.label = InspectorText::tr("APIs used");
    for (const event::ConnectionCounters::Api& api : c.counters->apis) {
      if (api.key.get() >= 0) {
        const auto key = static_cast<std::int16_t>(api.key.get());
        const std::string_view name = observe::api_name(key);
        const std::int16_t newest = observe::api_highest_version(key);
        const QString version = newest > api.version.get() ? InspectorText::tr("v%1 of %2").arg(api.version.get()).arg(newest)
                                                           : QStringLiteral("v%1").arg(api.version.get());
        apis.facts.push_back(fact(name.empty() ? InspectorText::tr("API %1").arg(key)
                                               : QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())),
                                  QStringLiteral("%1 · %2").arg(format_count(api.requests.get()), version)));
      }
    }
    if (!apis.facts.empty()) {
      out.overview.push_back(apis);
    }
    FactSection errors;
    errors.label = InspectorText::tr("Errors answered");
    for (const event::ConnectionCounters::Error& error : c.counters->errors) {
      if (error.count.get() > 0) {
        const std::int64_t kept = error.code.get();
        const auto code = static_cast<std::int16_t>(kept == event::ConnectionCounters::kUnknownError ? -1 : kept);
        const std::string_view name = observe::error_name(code);
        Fact f = fact(QStringLiteral("%1 (%2)").arg(QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()))).arg(code),
                      format_count(error.count.get()));
        f.glyph = Glyph::quarter;
        errors.facts.push_back(f);
      }
    }
    if (errors.facts.empty()) {
      errors.note = InspectorText::tr("None.");
    }
    out.overview.push_back(errors);
  }
  FactSection groups;
  groups.label = InspectorText::tr("Member of");
  for (const auto& [id, group] : *view.groups) {
    for (const auto& m : group->members) {
      if (m.connection == c.id) {
        groups.facts.push_back(linked(fact(text_of(id), InspectorText::tr("%Ln partition(s)", nullptr, static_cast<int>(m.partitions.size()))),
                                      Selection::ofMember(text_of(id), text_of(m.member_id))));
      }
    }
  }
  if (!groups.facts.empty()) {
    out.overview.push_back(groups);
  }
  FactSection others;
  others.label = InspectorText::tr("Its other connections");
  constexpr std::size_t kConnectionsShown = 8;
  std::size_t hidden = 0;
  for (const auto& [id, other] : *view.connections) {
    if (id == c.id || is_silent(c) || client_name(*other) != client_name(c)) {
      continue;
    }
    if (others.facts.size() < kConnectionsShown) {
      others.facts.push_back(linked(fact(QStringLiteral("conn%1").arg(id.value()), node_name(other->node)), Selection::ofConnection(id.value())));
    } else {
      ++hidden;
    }
  }
  if (hidden > 0) {
    others.note = InspectorText::tr("and %Ln more", nullptr, static_cast<int>(hidden));
  }
  if (!others.facts.empty()) {
    out.overview.push_back(others);
  }
  FactSection actions;
  actions.label = InspectorText::tr("Actions");
  QVariantMap which;
  which.insert(QStringLiteral("connection"), QVariant::fromValue<qulonglong>(selection.connection));
  QVariantMap to;
  to.insert(QStringLiteral("address"), selection.address());
  actions.actions.push_back({InspectorText::tr("Show in Clients"), QStringLiteral("page.clients"), to, {}, false});
  actions.actions.push_back({InspectorText::tr("Disconnect"), QStringLiteral("client.disconnect"), which, {}, true});
  out.overview.push_back(actions);
  FactSection explain;
  explain.label = InspectorText::tr("Explain");
  explain.prose = InspectorText::tr("One TCP connection. A client usually has several: one to ask around, and one to each broker it "
                                    "writes to or reads from. Requests on a connection are answered <b>in order</b>.");
  out.explain.push_back(explain);
  FactSection versions;
  versions.label = InspectorText::tr("Versions");
  versions.prose = InspectorText::tr("Each API has versions; a client asks with the newest that both sides know. \"v4 of 17\" is a client "
                                     "that is older than this broker, which is fine.");
  out.explain.push_back(versions);
}

}  // namespace

InspectorFacts inspect(const ClusterView& view, const Selection& selection, const InspectorContext& context) {
  InspectorFacts out;
  out.title = selection.address();
  const std::int64_t now_ms = context.now_ms != 0 ? context.now_ms : QDateTime::currentMSecsSinceEpoch();
  const Moment moment{now_ms, context.conditions};
  switch (selection.kind) {
    case Selection::Kind::none:
    case Selection::Kind::cluster:
      about_cluster(out, view, context);
      break;
    case Selection::Kind::node:
      about_node(out, view, selection, context.quorum_fetch_timeout_ms, now_ms);
      break;
    case Selection::Kind::topic:
      about_topic(out, view, selection);
      break;
    case Selection::Kind::partition:
      about_partition(out, view, selection, moment);
      break;
    case Selection::Kind::offset_range:
      about_range(out, view, selection, moment);
      break;
    case Selection::Kind::record:
      about_record(out, view, selection, context, moment);
      break;
    case Selection::Kind::group:
      about_group(out, view, selection);
      break;
    case Selection::Kind::member:
      about_member(out, view, selection);
      break;
    case Selection::Kind::connection:
      about_connection(out, view, selection);
      break;
  }
  return out;
}

bool same_shape(const std::vector<FactSection>& a, const std::vector<FactSection>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const FactSection& x, const FactSection& y) {
    return x.label == y.label && x.formula.size() == y.formula.size() && x.prose.isEmpty() == y.prose.isEmpty() &&
           x.note.isEmpty() == y.note.isEmpty() &&
           std::equal(x.facts.begin(), x.facts.end(), y.facts.begin(), y.facts.end(),
                      [](const Fact& f, const Fact& g) { return f.key == g.key && f.words == g.words; }) &&
           std::equal(x.actions.begin(), x.actions.end(), y.actions.begin(), y.actions.end(),
                      [](const FactAction& f, const FactAction& g) {
                        return f.text == g.text && f.command == g.command && f.args == g.args;
                      });
  });
}

}  // namespace hw::ui
