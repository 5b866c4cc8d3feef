// SPDX-License-Identifier: Apache-2.0
#include "ui/models/event_journal.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <variant>

#include <QCoreApplication>

#include "ui/models/client_facts.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {

struct Journal {
  Q_DECLARE_TR_FUNCTIONS(EventJournal)
};

constexpr std::size_t kConnectionsKept = 20'000;  // closings may have been lost
constexpr std::size_t kGroupsKept = 20'000;

observe::RecentEvent made(WallTime at, event::Any what, BrokerId node = kNoBroker) {
  return {0, node, at, std::make_shared<const event::Any>(std::move(what))};
}

}  // namespace

void EventJournal::Clients::forget(std::uint64_t connection) {
  const auto found = connections.find(connection);
  if (found == connections.end()) {
    return;
  }
  if (const auto count = counts.find(found->second.client); count != counts.end() && --count->second <= 0) {
    counts.erase(count);
  }
  connections.erase(found);
}

bool EventJournal::Clients::news(const event::Any& event) {
  if (const auto* opened = std::get_if<event::ConnectionOpened>(&event); opened != nullptr) {
    if (connections.size() >= kConnectionsKept) {
      connections.clear();
      counts.clear();
    }
    forget(opened->connection.value());
    connections[opened->connection.value()] = {peer_host(opened->peer), {}};
    return true;
  }
  if (const auto* known = std::get_if<event::ClientIdentified>(&event); known != nullptr) {
    Open& open = connections[known->connection.value()];
    const QString client = QStringLiteral("%1\n%2\n%3\n%4")
                               .arg(QString::fromStdString(known->client_id), QString::fromStdString(known->software_name),
                                    QString::fromStdString(known->software_version), open.host);
    if (open.client == client) {
      return false;
    }
    if (const auto count = counts.find(open.client); count != counts.end() && --count->second <= 0) {
      counts.erase(count);
    }
    open.client = client;
    return ++counts[client] == 1;
  }
  if (const auto* closed = std::get_if<event::ConnectionClosed>(&event); closed != nullptr) {
    forget(closed->connection.value());
  }
  return true;
}

bool EventJournal::groupNews(const event::Any& event) {
  if (const auto* state = std::get_if<event::GroupStateChanged>(&event); state != nullptr) {
    if (group_states_.size() >= kGroupsKept) {
      group_states_.clear();
    }
    group_states_[state->group] = state->state;
  } else if (const auto* gone = std::get_if<event::GroupDeleted>(&event); gone != nullptr) {
    group_states_.erase(gone->group);
  } else if (const auto* members = std::get_if<event::GroupAssigned>(&event); members != nullptr) {
    const auto found = group_states_.find(members->group);
    return found == group_states_.end() || found->second == "Stable";
  }
  return true;
}

const EventJournal::Changes& EventJournal::take(const observe::ClusterView& view) {
  changes_ = {};
  if (view.recent == seen_) {
    return changes_;
  }
  const Recent& recent = *view.recent;
  if (!recent.empty() && recent.back().number < last_number_) {
    *this = EventJournal();
    changes_.reset = true;
  }
  seen_ = view.recent;
  const auto first = std::partition_point(recent.begin(), recent.end(),
                                          [this](const observe::RecentEvent& e) { return e.number <= last_number_; });
  if (first != recent.end()) {
    // The oldest that the view has is newer than the next one: it had more than it keeps.
    const auto missed = first == recent.begin() ? static_cast<std::int64_t>(first->number - last_number_ - 1) : 0;
    if (last_number_ == 0) {
      unseen_ = missed;
    } else if (missed > 0) {
      addMissed(missed, first->at);
      // What the view says of them comes before those that it lists.
      const Recent unseen = changedUnseen(view, first, recent.end());
      for (const observe::RecentEvent& each : unseen) {
        add(each, view);
      }
      changed_.clear();
    }
    // Nodes tell what happened one after the other: by time it was otherwise.
    std::vector<const observe::RecentEvent*> by_time;
    by_time.reserve(static_cast<std::size_t>(recent.end() - first));
    std::transform(first, recent.end(), std::back_inserter(by_time), [](const observe::RecentEvent& each) { return &each; });
    std::stable_sort(by_time.begin(), by_time.end(), [](const auto* a, const auto* b) { return a->at.ms < b->at.ms; });
    for (const observe::RecentEvent* each : by_time) {
      add(*each, view);
    }
    last_number_ = recent.back().number;
    std::erase_if(growing_, [&](const auto& each) {
      const Run* run = find(each.second.run);
      return run == nullptr || recent.back().at.ms - run->last_ms > kGapMs;
    });
    drop();
  }
  topics_ = view.topics;
  nodes_ = view.nodes;
  controller_epoch_ = view.controller_epoch;
  topic_ = {};
  changed_.clear();
  std::sort(changes_.touched.begin(), changes_.touched.end());
  changes_.touched.erase(std::unique(changes_.touched.begin(), changes_.touched.end()), changes_.touched.end());
  return changes_;
}

const EventJournal::Run* EventJournal::find(Id id) const {
  const auto found = runs_.find(id);
  return found == runs_.end() ? nullptr : &found->second;
}

EventText EventJournal::describe(const Part& part) const {
  ++described_;
  return describe_event(*part.event, part.node, part.names);
}

QString EventJournal::nameOf(const EventText& text) {
  if (!text.topic.isEmpty()) {
    return text.partition < 0 ? text.topic : QStringLiteral("%1/%2").arg(text.topic).arg(text.partition);
  }
  return text.client.isEmpty() ? text.about.address() : text.client;
}

EventNames EventJournal::namesOf(const event::Any& event, const observe::ClusterView& view) {
  const Uuid* id = std::visit(
      [](const auto& e) -> const Uuid* {
        if constexpr (requires { e.topic_id; } && !requires { e.connection; }) {
          return &e.topic_id;
        } else {
          return nullptr;
        }
      },
      event);
  if (id == nullptr) {
    return names_of(event, view);
  }
  if (*id != topic_.id || topic_.names.topic.isEmpty()) {
    topic_ = {*id, names_of(event, view), nullptr};
    if (topics_ != nullptr) {
      const auto known = topics_->find(topic_.names.topic.toStdString());
      topic_.before = known != topics_->end() && known->second->id == *id ? known->second.get() : nullptr;
    }
  }
  return topic_.names;
}

// Of the topic of the last namesOf().
PartitionBefore EventJournal::before(const event::PartitionChanged& change) {
  const auto index = static_cast<std::size_t>(change.partition.value());
  if (const auto changed = changed_.find(object_of(change.topic_id, change.partition)); changed != changed_.end()) {
    return {changed->second->leader, &changed->second->isr};
  }
  if (topic_.before == nullptr || index >= topic_.before->partitions.size() || topic_.before->partitions[index] == nullptr ||
      topic_.before->partitions[index]->partition_epoch < 0) {
    return {};
  }
  const observe::PartitionView& known = *topic_.before->partitions[index];
  return {known.leader, &known.isr};
}

void EventJournal::add(const observe::RecentEvent& event, const observe::ClusterView& view) {
  if (event.event == nullptr) {
    return;
  }
  const event::Any& what = *event.event;
  EventNames names = namesOf(what, view);
  PartitionBefore known;
  if (const auto* change = std::get_if<event::PartitionChanged>(&what); change != nullptr) {
    known = before(*change);
    changed_[object_of(change->topic_id, change->partition)] = change;
  }
  std::optional<Likeness> alike = likeness_of(what, event.node, known);
  const bool news = clients_.news(what) && groupNews(what);
  const auto part = [&] { return Part{event.event, event.at.ms, event.node, std::move(names)}; };
  if (!alike) {
    const Part alone = part();
    const EventText text = describe(alone);
    begin(text, event.at, event.node.value(), !news || text.detail || text.internal);
    return;
  }
  Growing& growing = growing_[Key{*alike, names.internal, news}];
  const auto found = runs_.find(growing.run);
  const bool once = unit_of(*alike) != AlikeUnit::time;
  if (found != runs_.end()) {
    Run& run = found->second;
    if (event.at.ms - run.last_ms <= kGapMs && event.at.ms - run.first_ms <= kLongMs && (!once || growing.objects.insert(object_of(what)).second)) {
      run.parts.push_back(part());
      run.last_ms = std::max(run.last_ms, event.at.ms);
      run.node = run.node == event.node.value() ? run.node : -1;
      if (++run.count <= kNamed) {
        run.names << nameOf(describe(run.parts.back()));
      }
      ++parts_[groupOf(run)];
      ++kept_[run.detail ? 1 : 0][static_cast<std::size_t>(run.text.severity)].events;
      touch(run.id);
      return;
    }
  }
  Part first = part();
  EventText text = describe(first);
  const bool detail = !news || text.detail || text.internal;
  Run& run = begin(std::move(text), event.at, event.node.value(), detail);
  run.names << nameOf(run.text);
  run.parts.push_back(std::move(first));
  run.alike = std::move(alike);
  ++parts_[groupOf(run)];
  growing.run = run.id;
  growing.objects.clear();
  if (once) {
    growing.objects.insert(object_of(what));
  }
}

EventJournal::Run& EventJournal::begin(EventText text, WallTime at, std::int32_t node, bool detail) {
  Run& run = runs_[next_];
  run.id = next_++;
  run.text = std::move(text);
  run.first_ms = run.last_ms = at.ms;
  run.node = node;
  run.detail = detail;
  order_[groupOf(run)].push_back(run.id);
  Tally& tally = kept_[detail ? 1 : 0][static_cast<std::size_t>(run.text.severity)];
  ++tally.rows;
  ++tally.events;
  touch(run.id);
  return run;
}

void EventJournal::touch(Id id) {
  if (changes_.touched.empty() || changes_.touched.back() != id) {
    changes_.touched.push_back(id);
  }
}

void EventJournal::addMissed(std::int64_t count, WallTime at) {
  auto found = runs_.find(missing_);
  if (found == runs_.end() || at.ms - found->second.last_ms > kGapMs) {
    EventText text;
    text.kind = QString::fromLatin1(event::kind_name(event::EventsLost{}));
    text.glyph = Glyph::quarter;
    text.severity = Severity::warning;
    missing_ = begin(std::move(text), at, kNoBroker.value(), false).id;
    found = runs_.find(missing_);
  }
  Run& run = found->second;
  run.missed += count;
  run.last_ms = at.ms;
  run.text.sentence = Journal::tr("%Ln event(s) came too fast to be listed one by one; how nodes, topics and partitions stood after them is listed", nullptr,
                                  static_cast<int>(std::min<std::int64_t>(run.missed, INT32_MAX)));
  touch(run.id);
}

// What is other than in the view before, and not told of by the events from `first` on.
EventJournal::Recent EventJournal::changedUnseen(const observe::ClusterView& view, Recent::const_iterator first, Recent::const_iterator last) const {
  Recent out;
  std::set<BrokerId> lives;
  std::set<BrokerId> brokers;
  std::set<std::string> topics;
  std::unordered_set<std::uint64_t> partitions;
  bool controller = view.controller == kNoBroker || view.controller_epoch == controller_epoch_;
  for (auto it = first; it != last; ++it) {
    if (const auto* stopped = std::get_if<event::NodeStopped>(it->event.get()); stopped != nullptr) {
      lives.insert(stopped->node);
    } else if (const auto* ready = std::get_if<event::NodeReady>(it->event.get()); ready != nullptr) {
      lives.insert(ready->node);
    } else if (const auto* broker = std::get_if<event::BrokerChanged>(it->event.get()); broker != nullptr) {
      brokers.insert(broker->broker);
    } else if (const auto* created = std::get_if<event::TopicCreated>(it->event.get()); created != nullptr) {
      topics.insert(created->name);
    } else if (const auto* deleted = std::get_if<event::TopicDeleted>(it->event.get()); deleted != nullptr) {
      topics.insert(deleted->name);
    } else if (std::holds_alternative<event::PartitionChanged>(*it->event)) {
      partitions.insert(object_of(*it->event));
    }
    controller = controller || std::holds_alternative<event::ControllerElected>(*it->event);
  }
  using State = observe::NodeView::State;
  for (const auto& [id, node] : view.nodes) {
    const auto known = nodes_.find(id);
    if (known != nodes_.end() && known->second == node) {
      continue;
    }
    const observe::NodeView was = known == nodes_.end() ? observe::NodeView{} : *known->second;
    if (node->state != was.state && !lives.contains(id)) {
      if (node->state == State::killed || node->state == State::stopped) {
        out.push_back(made(node->since, event::NodeStopped{id, node->state == State::stopped, node->why}, id));
      } else if (node->state == State::running) {
        out.push_back(made(node->since, event::NodeReady{id}, id));
      }
    }
    const bool other = node->registered != was.registered || (node->registered && (node->fenced != was.fenced || node->in_controlled_shutdown != was.in_controlled_shutdown));
    if (other && !brokers.contains(id)) {
      event::BrokerChanged change;
      change.broker = id;
      change.registered = node->registered;
      change.fenced = node->fenced;
      change.in_controlled_shutdown = node->in_controlled_shutdown;
      out.push_back(made(node->registration_since, change));
    }
  }
  if (!controller) {
    out.push_back(made(first->at, event::ControllerElected{view.controller, view.controller_epoch}));
  }
  if (topics_ == nullptr || topics_ == view.topics) {
    return out;
  }
  for (const auto& [name, topic] : *topics_) {
    if (const auto now = view.topics->find(name); (now == view.topics->end() || now->second->id != topic->id) && !topics.contains(name)) {
      out.push_back(made(first->at, event::TopicDeleted{topic->id, name}));
    }
  }
  for (const auto& [name, topic] : *view.topics) {
    const auto known = topics_->find(name);
    if (known != topics_->end() && known->second == topic) {
      continue;
    }
    if (known == topics_->end() || known->second->id != topic->id) {
      if (!topics.contains(name)) {
        out.push_back(made(first->at, event::TopicCreated{topic->id, name, topic->internal}));
      }
      continue;
    }
    const std::size_t both = std::min(topic->partitions.size(), known->second->partitions.size());
    for (std::size_t i = 0; i < both; ++i) {
      const auto& was = known->second->partitions[i];
      const auto& is = topic->partitions[i];
      if (was == is || was == nullptr || is == nullptr || was->partition_epoch == is->partition_epoch) {
        continue;
      }
      event::PartitionChanged change;
      change.topic_id = topic->id;
      change.partition = PartitionIndex(static_cast<std::int32_t>(i));
      if (partitions.contains(object_of(change.topic_id, change.partition))) {
        continue;
      }
      change.leader = is->leader;
      change.leader_epoch = is->leader_epoch;
      change.partition_epoch = is->partition_epoch;
      change.isr = is->isr;
      change.elr = is->elr;
      out.push_back(made(is->changed_at, std::move(change)));
    }
  }
  return out;
}

void EventJournal::drop() {
  for (std::size_t group = 0; group < order_.size(); ++group) {
    while (order_[group].size() > kRowsMax) {
      const auto oldest = runs_.find(order_[group].front());
      const Run& run = oldest->second;
      const auto detail = static_cast<std::size_t>(run.detail ? 1 : 0);
      Tally& tally = kept_[detail][static_cast<std::size_t>(run.text.severity)];
      --tally.rows;
      tally.events -= run.count;
      dropped_[detail][static_cast<std::size_t>(run.text.severity)] += run.count;
      parts_[group] -= run.parts.size();
      changes_.dropped.push_back(run.id);
      order_[group].pop_front();
      runs_.erase(oldest);
    }
    dropParts(group);
  }
  std::erase_if(changes_.touched, [this](Id id) { return !runs_.contains(id); });
}

// The oldest first. A row stays, and says how many it was.
void EventJournal::dropParts(std::size_t group) {
  for (auto id = order_[group].begin(); parts_[group] > kPartsMax && id != order_[group].end(); ++id) {
    Run& run = runs_.at(*id);
    const std::size_t many = std::min(parts_[group] - kPartsMax, run.parts.size());
    if (many > 0) {
      run.parts.erase(run.parts.begin(), run.parts.begin() + static_cast<std::ptrdiff_t>(many));
      run.gone += many;
      parts_[group] -= many;
      touch(run.id);
    }
  }
}

}  // namespace hw::ui
