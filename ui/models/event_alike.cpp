// SPDX-License-Identifier: Apache-2.0
#include "ui/models/event_alike.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <functional>
#include <variant>

namespace hw::ui {

namespace {

struct Alike {
  Q_DECLARE_TR_FUNCTIONS(EventAlike)
};

using Say = Likeness::Say;

template <class T>
constexpr std::size_t kind_of() {
  return event::Any(T{}).index();
}

// The one node that is in `all` and not in `others`; kNoBroker: none, or several.
BrokerId only_in(const std::vector<BrokerId>& all, const std::vector<BrokerId>& others) {
  BrokerId out = kNoBroker;
  for (const BrokerId id : all) {
    if (std::find(others.begin(), others.end(), id) == others.end()) {
      if (out != kNoBroker) {
        return kNoBroker;
      }
      out = id;
    }
  }
  return out;
}

class Finder {
 public:
  Finder(const PartitionBefore& before, Likeness& out) : before_(before), out_(out) {}

  bool operator()(const event::PartitionChanged& e) {
    out_.node = -1;
    if (e.partition_epoch == 0) {
      return is(Say::partition_created);
    }
    if (before_.isr == nullptr) {
      return is(e.leader == kNoBroker ? Say::leader_lost : Say::partition_changed);
    }
    if (e.leader == kNoBroker && before_.leader != kNoBroker) {
      return is(Say::leader_lost, before_.leader);
    }
    if (e.leader == kNoBroker) {
      return is(Say::leader_lost);
    }
    if (before_.leader == kNoBroker) {
      return is(Say::leader_back, kNoBroker, e.leader);
    }
    if (e.leader != before_.leader) {
      return is(Say::leader_moved, before_.leader, e.leader);
    }
    const BrokerId left = only_in(*before_.isr, e.isr);
    const BrokerId joined = only_in(e.isr, *before_.isr);
    if (left != kNoBroker && e.isr.size() + 1 == before_.isr->size()) {
      return is(Say::isr_left, left);
    }
    if (joined != kNoBroker && e.isr.size() == before_.isr->size() + 1) {
      return is(Say::isr_joined, kNoBroker, joined);
    }
    return is(Say::partition_changed);
  }
  bool operator()(const event::TopicCreated& e) {
    out_.node = -1;
    out_.from = e.internal ? 1 : 0;
    return true;
  }
  bool operator()(const event::TopicDeleted&) {
    out_.node = -1;
    return true;
  }
  // A client that says who it is stands alone: its name is what one looks for.
  bool operator()(const event::ConnectionOpened&) { return true; }
  bool operator()(const event::ConnectionClosed& e) {
    out_.words = e.reason;
    return true;
  }
  bool operator()(const event::RequestRefused& e) {
    out_.from = e.api_key;
    out_.to = e.api_version;
    out_.words = e.detail;
    return true;
  }
  bool operator()(const event::ReplicaOpened&) { return true; }
  bool operator()(const event::ReplicaClosed&) { return true; }
  bool operator()(const event::LeadershipBegan&) { return true; }
  bool operator()(const event::ReplicaMoved&) { return true; }
  bool operator()(const event::LogRecovered&) { return true; }
  bool operator()(const event::SegmentRolled& e) {
    out_.from = e.base_offset.value() == 0 ? 1 : 0;
    return true;
  }
  bool operator()(const event::SegmentDeleted& e) {
    out_.from = static_cast<std::int32_t>(e.cause);
    return true;
  }
  bool operator()(const event::LogStartMoved& e) {
    out_.from = e.cause == event::DeletionCause::records ? 1 : 0;
    return true;
  }
  bool operator()(const event::LogTruncated& e) { return is(Say::other, e.node, e.leader); }
  bool operator()(const event::DuplicateSuppressed&) { return true; }
  bool operator()(const event::OffsetCommitted& e) { return of(e.group); }
  bool operator()(const event::OffsetDeleted& e) { return of(e.group); }
  template <class T>
  bool operator()(const T&) {
    return false;
  }

 private:
  bool is(Say say, BrokerId from = kNoBroker, BrokerId to = kNoBroker) {
    out_.say = say;
    out_.from = from.value();
    out_.to = to.value();
    return true;
  }
  bool of(const std::string& group) {
    out_.words = group;
    return true;
  }
  const PartitionBefore& before_;
  Likeness& out_;
};

}  // namespace

std::optional<Likeness> likeness_of(const event::Any& event, BrokerId node, const PartitionBefore& before) {
  Likeness out;
  out.kind = event.index();
  out.node = node.value();
  return std::visit(Finder(before, out), event) ? std::optional(out) : std::nullopt;
}

AlikeUnit unit_of(const Likeness& likeness) {
  const std::size_t kind = likeness.kind;
  if (kind == kind_of<event::TopicCreated>() || kind == kind_of<event::TopicDeleted>()) {
    return AlikeUnit::topic;
  }
  if (kind == kind_of<event::ConnectionOpened>() || kind == kind_of<event::ConnectionClosed>()) {
    return AlikeUnit::connection;
  }
  const bool again = kind == kind_of<event::RequestRefused>() || kind == kind_of<event::SegmentRolled>() || kind == kind_of<event::SegmentDeleted>() ||
                     kind == kind_of<event::LogStartMoved>() || kind == kind_of<event::DuplicateSuppressed>();
  return again ? AlikeUnit::time : AlikeUnit::partition;
}

std::uint64_t object_of(const Uuid& topic, PartitionIndex partition) {
  return std::hash<Uuid>{}(topic) * 31 + static_cast<std::uint64_t>(partition.value());
}

std::uint64_t object_of(const event::Any& event) {
  return std::visit(
      [](const auto& e) -> std::uint64_t {
        if constexpr (requires { e.topic_id; e.partition; }) {
          return object_of(e.topic_id, e.partition);
        } else if constexpr (requires { e.topic_id; }) {
          return std::hash<Uuid>{}(e.topic_id);
        } else if constexpr (requires { e.connection; }) {
          return e.connection.value();
        } else if constexpr (requires { e.group; e.topic; e.partition; }) {
          return std::hash<std::string>{}(e.topic) * 31 + static_cast<std::uint64_t>(e.partition.value());
        } else {
          return 0;
        }
      },
      event);
}

QString phrase_of(const Likeness& likeness) {
  switch (likeness.say) {
    case Say::leader_moved:
      return Alike::tr("Leader moved %1 → %2").arg(likeness.from).arg(likeness.to);
    case Say::leader_lost:
      return likeness.from < 0 ? Alike::tr("No leader") : Alike::tr("No leader; it was node %1").arg(likeness.from);
    case Say::leader_back:
      return Alike::tr("A leader again, node %1").arg(likeness.to);
    case Say::isr_left:
      return Alike::tr("Node %1 left the in-sync replicas").arg(likeness.from);
    case Say::isr_joined:
      return Alike::tr("Node %1 is in sync again").arg(likeness.to);
    case Say::partition_created:
      return Alike::tr("Partitions created");
    case Say::partition_changed:
      return Alike::tr("Leader or replicas changed");
    case Say::other:
      break;
  }
  const std::size_t kind = likeness.kind;
  const QString words = QString::fromStdString(likeness.words);
  if (kind == kind_of<event::TopicCreated>()) {
    return Alike::tr("Topics created");
  }
  if (kind == kind_of<event::TopicDeleted>()) {
    return Alike::tr("Topics deleted");
  }
  if (kind == kind_of<event::ConnectionOpened>()) {
    return Alike::tr("Connected to node %1").arg(likeness.node);
  }
  if (kind == kind_of<event::ConnectionClosed>()) {
    return words.isEmpty() ? Alike::tr("Disconnected") : Alike::tr("Disconnected because of this: %1").arg(words);
  }
  if (kind == kind_of<event::RequestRefused>()) {
    return Alike::tr("Requests refused (API %1, version %2: %3)").arg(likeness.from).arg(likeness.to).arg(words);
  }
  if (kind == kind_of<event::ReplicaOpened>()) {
    return Alike::tr("Opened on node %1").arg(likeness.node);
  }
  if (kind == kind_of<event::ReplicaClosed>()) {
    return Alike::tr("Closed on node %1").arg(likeness.node);
  }
  if (kind == kind_of<event::LeadershipBegan>()) {
    return Alike::tr("Node %1 leads a new epoch").arg(likeness.node);
  }
  if (kind == kind_of<event::ReplicaMoved>()) {
    return Alike::tr("Moved to another directory on node %1").arg(likeness.node);
  }
  if (kind == kind_of<event::LogRecovered>()) {
    return Alike::tr("Recovered on node %1, the end cut off").arg(likeness.node);
  }
  if (kind == kind_of<event::SegmentRolled>()) {
    return Alike::tr("New segments on node %1").arg(likeness.node);
  }
  if (kind == kind_of<event::SegmentDeleted>()) {
    switch (static_cast<event::DeletionCause>(likeness.from)) {
      case event::DeletionCause::truncation:
        return Alike::tr("Segments deleted, cut off at the end");
      case event::DeletionCause::records:
        return Alike::tr("Segments deleted, below the log start");
      case event::DeletionCause::retention_time:
        return Alike::tr("Segments deleted, older than retention.ms");
      case event::DeletionCause::retention_size:
        return Alike::tr("Segments deleted, log above retention.bytes");
    }
  }
  if (kind == kind_of<event::LogStartMoved>()) {
    return likeness.from == 1 ? Alike::tr("Records deleted at the start of logs") : Alike::tr("Logs begin later");
  }
  if (kind == kind_of<event::LogTruncated>()) {
    return Alike::tr("Node %1 cut its log back to where leader %2 goes on").arg(likeness.from).arg(likeness.to);
  }
  if (kind == kind_of<event::DuplicateSuppressed>()) {
    return Alike::tr("Retries of producers were recognised");
  }
  return kind == kind_of<event::OffsetDeleted>() ? Alike::tr("Group %1 lost its positions").arg(words)
                                                 : Alike::tr("Group %1 has its first positions").arg(words);
}

QString alike_sentence(const Likeness& likeness, int count, const QStringList& names) {
  QString what;
  switch (unit_of(likeness)) {
    case AlikeUnit::partition:
      what = Alike::tr("%Ln partition(s)", nullptr, count);
      break;
    case AlikeUnit::topic:
      what = Alike::tr("%Ln topic(s)", nullptr, count);
      break;
    case AlikeUnit::connection:
      what = Alike::tr("%Ln connection(s)", nullptr, count);
      break;
    case AlikeUnit::time:
      what = Alike::tr("%Ln time(s)", nullptr, count);
      break;
  }
  QStringList unlike = names;
  unlike.removeDuplicates();
  const QString more = names.size() < count ? QStringLiteral(", …") : QString();
  return QStringLiteral("%1: %2 (%3%4)").arg(phrase_of(likeness), what, unlike.join(QStringLiteral(", ")), more);
}

Glyph glyph_of(const Likeness& likeness) {
  return likeness.say == Say::isr_left ? Glyph::triangle_down : likeness.say == Say::isr_joined ? Glyph::triangle_up : Glyph::none;
}

}  // namespace hw::ui
