// SPDX-License-Identifier: Apache-2.0
#include "ui/models/event_text.h"

#include <algorithm>
#include <variant>

#include <QCoreApplication>
#include <QStringList>

#include "ui/models/group_model.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {

struct Events {
  Q_DECLARE_TR_FUNCTIONS(Events)
};

QString tr(const char* text) { return QCoreApplication::translate("Events", text); }

QString text_of(const std::string& s) { return QString::fromStdString(s); }

// What a replica of the metadata log has become, and why.
QString role_sentence(const event::QuorumRoleChanged& e) {
  using event::QuorumCause;
  using event::QuorumRole;
  QString what;
  switch (e.role) {
    case QuorumRole::unattached:
      what = tr(QT_TRANSLATE_NOOP("Events", "looks for a leader"));
      break;
    case QuorumRole::prospective:
      what = tr(QT_TRANSLATE_NOOP("Events", "asks whether it would win an election (pre-vote)"));
      break;
    case QuorumRole::candidate:
      what = tr(QT_TRANSLATE_NOOP("Events", "stands for election"));
      break;
    case QuorumRole::follower:
      what = tr(QT_TRANSLATE_NOOP("Events", "follows %1")).arg(e.leader.value());
      break;
    case QuorumRole::leader:
      what = tr(QT_TRANSLATE_NOOP("Events", "leads"));
      break;
    case QuorumRole::resigned:
      what = tr(QT_TRANSLATE_NOOP("Events", "gave up the lead"));
      break;
  }
  const QString why = quorum_cause_text(e.cause);
  return why.isEmpty() ? what : tr(QT_TRANSLATE_NOOP("Events", "%1, because %2")).arg(what, why);
}

// Fills an EventText from one event. One overload per kind, so that a new kind does not compile until it is told.
class Teller {
 public:
  Teller(const EventNames& names, BrokerId node, EventText& out) : names_(names), node_(node), out_(out) {}

  void operator()(const event::NodeStarted& e) {
    say(Glyph::ring, tr(QT_TRANSLATE_NOOP("Events", "Node %1 is starting on %2:%3"))
                         .arg(e.node.value())
                         .arg(text_of(e.host))
                         .arg(e.port));
    out_.about = Selection::ofNode(e.node.value());
  }
  void operator()(const event::NodeReady& e) {
    say(Glyph::disc, tr(QT_TRANSLATE_NOOP("Events", "Node %1 is ready")).arg(e.node.value()));
    out_.about = Selection::ofNode(e.node.value());
  }
  void operator()(const event::NodeStopped& e) {
    if (!e.why.empty()) {
      say(Glyph::cross, tr(QT_TRANSLATE_NOOP("Events", "Node %1 stopped itself: %2")).arg(e.node.value()).arg(text_of(e.why)));
    } else {
      say(Glyph::cross, (e.clean ? tr(QT_TRANSLATE_NOOP("Events", "Node %1 stopped"))
                                 : tr(QT_TRANSLATE_NOOP("Events", "Node %1 was killed")))
                            .arg(e.node.value()));
    }
    out_.about = Selection::ofNode(e.node.value());
  }
  void operator()(const event::ConnectionOpened& e) {
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "%1 connected to node %2")).arg(text_of(e.peer)).arg(node_.value()));
    out_.about = Selection::ofConnection(e.connection.value());
    out_.detail = true;
  }
  void operator()(const event::ClientIdentified& e) {
    const QString software = text_of(e.software_name);
    const QString version = text_of(e.software_version);
    const QString client = text_of(e.client_id);
    say(Glyph::none, software.isEmpty()
                         ? tr(QT_TRANSLATE_NOOP("Events", "Client %1 connected")).arg(client)
                         : tr(QT_TRANSLATE_NOOP("Events", "Client %1 connected (%2 %3)")).arg(client, software, version));
    out_.detail = e.client_id.starts_with("highwater-");  // the window itself
    out_.client = client;
    out_.about = Selection::ofConnection(e.connection.value());
  }
  void operator()(const event::ConnectionClosed& e) {
    const QString client = names_.client;
    out_.client = client;
    if (e.reason.empty()) {
      say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "%1 disconnected")).arg(client));
      out_.detail = true;
    } else {
      say(Glyph::quarter, tr(QT_TRANSLATE_NOOP("Events", "%1 was disconnected: %2")).arg(client, text_of(e.reason)));
    }
    out_.about = Selection::ofConnection(e.connection.value());
  }
  void operator()(const event::RequestRefused& e) {
    out_.client = names_.client;
    say(Glyph::quarter, tr(QT_TRANSLATE_NOOP("Events", "Refused a request of %1 (API %2, version %3): %4"))
                            .arg(names_.client)
                            .arg(e.api_key)
                            .arg(e.api_version)
                            .arg(text_of(e.detail)));
    out_.about = Selection::ofConnection(e.connection.value());
  }
  void operator()(const event::TopicCreated& e) {
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "Topic %1 created")).arg(text_of(e.name)));
    out_.severity = Severity::notice;
    out_.about = Selection::ofTopic(text_of(e.name));
    out_.internal = e.internal;
  }
  void operator()(const event::TopicDeleted& e) {
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "Topic %1 deleted")).arg(text_of(e.name)));
    out_.severity = Severity::notice;
    out_.about = Selection::ofTopic(text_of(e.name));
  }
  void operator()(const event::TopicConfigChanged& e) {
    const QString topic = topicName();
    say(Glyph::none, e.removed ? tr(QT_TRANSLATE_NOOP("Events", "%1: %2 is back at its default"))
                                     .arg(topic, text_of(e.key))
                               : tr(QT_TRANSLATE_NOOP("Events", "%1: %2 set to %3"))
                                     .arg(topic, text_of(e.key), text_of(e.value)));
    out_.about = Selection::ofTopic(topic);
  }
  void operator()(const event::PartitionChanged& e) {
    partition(e.partition);
    QStringList isr;
    for (const BrokerId id : e.isr) {
      isr << QString::number(id.value());
    }
    if (e.leader == kNoBroker) {
      say(Glyph::cross, tr(QT_TRANSLATE_NOOP("Events", "%1 has no leader, epoch %2"))
                            .arg(out_.about.address())
                            .arg(e.leader_epoch.value()));
    } else {
      say(Glyph::crown, tr(QT_TRANSLATE_NOOP("Events", "%1: leader node %2, epoch %3, in sync %4"))
                            .arg(out_.about.address())
                            .arg(e.leader.value())
                            .arg(e.leader_epoch.value())
                            .arg(isr.join(QLatin1Char(' '))));
    }
    out_.detail = e.partition_epoch == 0;  // part of the topic's creation
  }
  void operator()(const event::BrokerChanged& e) {
    const int broker = e.broker.value();
    if (!e.registered) {
      say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "Broker %1 is not registered any more")).arg(broker));
      out_.severity = Severity::notice;
    } else if (e.in_controlled_shutdown && !e.fenced) {
      say(Glyph::ring, tr(QT_TRANSLATE_NOOP("Events", "Broker %1 is shutting down: its leaders move to others")).arg(broker));
    } else if (e.fenced) {
      say(Glyph::quarter, (e.in_controlled_shutdown
                               ? tr(QT_TRANSLATE_NOOP("Events", "Broker %1 is fenced after its controlled shutdown: it leads nothing"))
                               : tr(QT_TRANSLATE_NOOP("Events", "Broker %1 is fenced: the controller does not hear from it, it leads nothing")))
                              .arg(broker));
      out_.severity = e.in_controlled_shutdown ? Severity::notice : Severity::warning;
    } else {
      say(Glyph::disc, tr(QT_TRANSLATE_NOOP("Events", "Broker %1 is registered and not fenced: it may lead")).arg(broker));
    }
    out_.about = Selection::ofNode(broker);
  }
  void operator()(const event::QuorumRoleChanged& e) {
    const bool silent = e.cause == event::QuorumCause::leader_silent || e.cause == event::QuorumCause::majority_silent;
    const Glyph glyph = e.role == event::QuorumRole::leader ? Glyph::crown : (silent ? Glyph::quarter : Glyph::none);
    say(glyph, tr(QT_TRANSLATE_NOOP("Events", "Controller %1, epoch %2: %3")).arg(e.node.value()).arg(e.epoch).arg(role_sentence(e)));
    out_.detail = e.role == event::QuorumRole::follower || e.role == event::QuorumRole::unattached;
    out_.about = Selection::ofNode(e.node.value());
  }
  void operator()(const event::QuorumVoteCast& e) {
    const char* text = e.pre_vote ? (e.granted ? QT_TRANSLATE_NOOP("Events", "Controller %1 would vote for %2 in the epoch after %3")
                                               : QT_TRANSLATE_NOOP("Events", "Controller %1 would not vote for %2 in the epoch after %3"))
                                  : (e.granted ? QT_TRANSLATE_NOOP("Events", "Controller %1 votes for %2 in epoch %3")
                                               : QT_TRANSLATE_NOOP("Events", "Controller %1 does not vote for %2 in epoch %3"));
    say(Glyph::none, tr(text).arg(e.voter.value()).arg(e.candidate.value()).arg(e.epoch));
    out_.detail = true;
    out_.about = Selection::ofNode(e.voter.value());
  }
  void operator()(const event::QuorumVotersChanged& e) {
    QStringList voters;
    for (const auto& voter : e.voters) {
      voters << QString::number(voter.id.value());
    }
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "The voters of the quorum are %1")).arg(voters.join(QLatin1Char(' '))));
    out_.severity = Severity::notice;
  }
  void operator()(const event::QuorumReplicaTracked& e) {
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "Controller %1 hears from replica %2 of the metadata log"))
                         .arg(e.leader.value())
                         .arg(e.replica.value()));
    out_.detail = true;
    out_.about = Selection::ofNode(e.replica.value());
  }
  void operator()(const event::SnapshotStored& e) {
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "Node %1 has a snapshot of the metadata below offset %2 (%3 bytes)"))
                         .arg(e.node.value())
                         .arg(e.end_offset.value())
                         .arg(e.size_bytes));
    out_.detail = true;
    out_.about = Selection::ofNode(e.node.value());
  }
  void operator()(const event::SnapshotDeleted& e) {
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "Node %1 deleted its snapshot of the metadata below offset %2"))
                         .arg(e.node.value())
                         .arg(e.end_offset.value()));
    out_.detail = true;
    out_.about = Selection::ofNode(e.node.value());
  }
  void operator()(const event::LeadershipBegan& e) {
    partition(e.partition);
    say(Glyph::crown, tr(QT_TRANSLATE_NOOP("Events", "%1: node %2 leads epoch %3 from offset %4 on"))
                          .arg(out_.about.address())
                          .arg(e.node.value())
                          .arg(e.leader_epoch.value())
                          .arg(e.epoch_start.value()));
    out_.detail = true;
  }
  void operator()(const event::ControllerElected& e) {
    say(Glyph::crown, tr(QT_TRANSLATE_NOOP("Events", "Node %1 leads the controllers, epoch %2"))
                          .arg(e.controller.value())
                          .arg(e.epoch));
    out_.about = Selection::ofNode(e.controller.value());
  }
  void operator()(const event::MetadataCommitted& e) {
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "Metadata committed up to %1")).arg(e.offset.value()));
    out_.detail = true;
  }
  void operator()(const event::ReplicaOpened& e) {
    partition(e.partition);
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "%1 opened on node %2")).arg(out_.about.address()).arg(e.node.value()));
    out_.detail = true;
  }
  void operator()(const event::ReplicaClosed& e) {
    partition(e.partition);
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "%1 closed on node %2")).arg(out_.about.address()).arg(e.node.value()));
    out_.detail = true;
  }
  void operator()(const event::SegmentRolled& e) {
    partition(e.partition);
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "%1 has a new segment from offset %2"))
                         .arg(out_.about.address())
                         .arg(e.base_offset.value()));
    out_.detail = e.base_offset.value() == 0;
  }
  void operator()(const event::SegmentDeleted& e) {
    partition(e.partition);
    const char* text = nullptr;
    switch (e.cause) {
      case event::DeletionCause::truncation:
        text = QT_TRANSLATE_NOOP("Events", "%1: the segment from offset %2 is deleted (%3, cut off at the end)");
        break;
      case event::DeletionCause::records:
        text = QT_TRANSLATE_NOOP("Events", "%1: the segment from offset %2 is deleted (%3, below the log start)");
        break;
      case event::DeletionCause::retention_time:
        text = QT_TRANSLATE_NOOP("Events", "%1: the segment from offset %2 is deleted (%3, older than retention.ms)");
        break;
      case event::DeletionCause::retention_size:
        text = QT_TRANSLATE_NOOP("Events", "%1: the segment from offset %2 is deleted (%3, log above retention.bytes)");
        break;
    }
    say(Glyph::none, tr(text).arg(out_.about.address()).arg(e.base_offset.value()).arg(format_bytes(e.size_bytes)));
  }
  void operator()(const event::LogStartMoved& e) {
    partition(e.partition);
    const char* text = e.cause == event::DeletionCause::records
                           ? QT_TRANSLATE_NOOP("Events", "%1: records below offset %2 were deleted (before: %3)")
                           : QT_TRANSLATE_NOOP("Events", "%1: the log begins at offset %2 (before: %3)");
    say(Glyph::none, tr(text).arg(out_.about.address()).arg(e.to.value()).arg(e.from.value()));
    out_.detail = e.cause != event::DeletionCause::records;
  }
  void operator()(const event::ReplicaMoved& e) {
    partition(e.partition);
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "%1 moved to %2 on node %3"))
                         .arg(out_.about.address(), text_of(e.directory))
                         .arg(e.node.value()));
  }
  void operator()(const event::LogDirFailed& e) {
    say(Glyph::cross, tr(QT_TRANSLATE_NOOP("Events", "Log directory %1 of node %2 is offline: %3"))
                          .arg(text_of(e.directory))
                          .arg(e.node.value())
                          .arg(text_of(e.reason)));
    out_.about = Selection::ofNode(e.node.value());
  }
  void operator()(const event::LogRecovered& e) {
    partition(e.partition);
    say(Glyph::quarter, tr(QT_TRANSLATE_NOOP("Events", "%1 recovered: cut at offset %2, %3 removed"))
                            .arg(out_.about.address())
                            .arg(e.truncated_to.value())
                            .arg(format_bytes(e.truncated_bytes)));
  }
  void operator()(const event::BatchAppended& e) {
    partition(e.partition);
    out_.about = Selection::ofRange(out_.about.topic, e.partition.value(), e.base_offset.value(), e.last_offset.value());
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "%1 appended, %2"))
                         .arg(out_.about.address(), format_bytes(e.size_bytes)));
    out_.detail = true;
  }
  void operator()(const event::RecordsFetched& e) {
    out_.client = names_.client;
    partition(e.partition);
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "%1 fetched from offset %2 by %3"))
                         .arg(out_.about.address())
                         .arg(e.from.value())
                         .arg(names_.client));
    out_.detail = true;
  }
  void operator()(const event::ReplicaFetched& e) {
    partition(e.partition);
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "%1: node %2 followed node %3 up to offset %4"))
                         .arg(out_.about.address())
                         .arg(e.node.value())
                         .arg(e.leader.value())
                         .arg(e.log_end.value()));
    out_.detail = true;
  }
  void operator()(const event::LogTruncated& e) {
    partition(e.partition);
    const char* text = e.to < e.from
                           ? QT_TRANSLATE_NOOP("Events", "%1: node %2 cut its log from offset %3 back to %4, where leader %5 goes on")
                           : QT_TRANSLATE_NOOP("Events", "%1: node %2 began its log of %3 anew at offset %4, where that of leader %5 begins");
    say(Glyph::quarter, tr(text)
                            .arg(out_.about.address())
                            .arg(e.node.value())
                            .arg(e.from.value())
                            .arg(e.to.value())
                            .arg(e.leader.value()));
  }
  void operator()(const event::ProducerFenced& e) {
    partition(e.partition);
    say(Glyph::quarter, tr(QT_TRANSLATE_NOOP("Events", "%1: producer %2 epoch %3 is fenced"))
                            .arg(out_.about.address())
                            .arg(e.producer.value())
                            .arg(e.epoch.value()));
  }
  void operator()(const event::DuplicateSuppressed& e) {
    partition(e.partition);
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "%1: a retry of producer %2 was recognised, original offset %3"))
                         .arg(out_.about.address())
                         .arg(e.producer.value())
                         .arg(e.original_base_offset.value()));
  }
  void operator()(const event::GroupStateChanged& e) {
    const bool stable = e.state == "Stable";
    const bool idle = e.state == "Empty" || e.state == "Dead";
    QString sentence = tr(QT_TRANSLATE_NOOP("Events", "Group %1 is %2, %3"))
                           .arg(text_of(e.group), text_of(e.state), count_sentence(e.kind, e.generation));
    if (!e.reason.empty()) {
      sentence += QStringLiteral(" (%1)").arg(reason_words(e.reason));
    }
    say(stable ? Glyph::disc : (idle ? Glyph::ring : Glyph::none), sentence);
    out_.severity = Severity::notice;  // a rebalance is no fault
    out_.about = Selection::ofGroup(text_of(e.group));
  }
  void operator()(const event::GroupAssigned& e) {
    const int members = static_cast<int>(e.members.size());
    const bool assigned = std::any_of(e.members.begin(), e.members.end(), [](const auto& m) { return !m.partitions.empty(); });
    say(Glyph::none, (assigned ? Events::tr("Group %1 assigned its partitions to %Ln member(s)", nullptr, members)
                               : Events::tr("Group %1 has members that wait for partitions"))
                         .arg(text_of(e.group)));
    out_.detail = !assigned;
    out_.about = Selection::ofGroup(text_of(e.group));
  }
  void operator()(const event::GroupRebalanced& e) {
    // A first rebalance moves nothing: there is nothing to compare with.
    if (e.partitions_before == 0) {
      say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "Group %1 rebalanced in %2: members %3 to %4"))
                           .arg(text_of(e.group))
                           .arg(short_duration(e.total_us))
                           .arg(format_count(e.members_before))
                           .arg(format_count(e.members_after)));
      out_.about = Selection::ofGroup(text_of(e.group));
      return;
    }
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "Group %1 rebalanced in %2: members %3 to %4, %5 of %6 partitions moved"))
                         .arg(text_of(e.group))
                         .arg(short_duration(e.total_us))
                         .arg(format_count(e.members_before))
                         .arg(format_count(e.members_after))
                         .arg(format_count(e.moved))
                         .arg(format_count(std::max(e.partitions_before, e.partitions_after))));
    out_.about = Selection::ofGroup(text_of(e.group));
  }
  void operator()(const event::OffsetCommitted& e) {
    out_.about = Selection::ofGroup(text_of(e.group));
    out_.topic = text_of(e.topic);
    out_.partition = e.partition.value();
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "Group %1 committed %2/%3 at %4"))
                         .arg(text_of(e.group), text_of(e.topic))
                         .arg(e.partition.value())
                         .arg(e.offset.value()));
    out_.detail = true;
  }
  void operator()(const event::OffsetDeleted& e) {
    out_.about = Selection::ofGroup(text_of(e.group));
    out_.topic = text_of(e.topic);
    out_.partition = e.partition.value();
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "Group %1 lost its position in %2/%3"))
                         .arg(text_of(e.group), text_of(e.topic))
                         .arg(e.partition.value()));
  }
  void operator()(const event::GroupDeleted& e) {
    out_.about = Selection::ofGroup(text_of(e.group));
    say(Glyph::none, tr(QT_TRANSLATE_NOOP("Events", "Group %1 deleted")).arg(text_of(e.group)));
    out_.severity = Severity::notice;
  }
  void operator()(const event::EventsLost& e) {
    say(Glyph::quarter, Events::tr("%Ln event(s) not shown: more happened than could be recorded",
                                                    nullptr, static_cast<int>(e.count)));
  }

 private:
  void say(Glyph glyph, const QString& sentence) {
    out_.glyph = glyph;
    out_.sentence = sentence;
    const bool notice = glyph == Glyph::crown || glyph == Glyph::disc || glyph == Glyph::ring;
    out_.severity = glyph == Glyph::cross     ? Severity::error
                    : glyph == Glyph::quarter ? Severity::warning
                    : notice                  ? Severity::notice
                                              : Severity::info;
  }
  QString topicName() {
    out_.internal = names_.internal;
    return names_.topic;
  }
  void partition(PartitionIndex index) { out_.about = Selection::ofPartition(topicName(), index.value()); }

  const EventNames& names_;
  BrokerId node_;
  EventText& out_;
};

}  // namespace

QString quorum_cause_text(event::QuorumCause cause) {
  switch (cause) {
    case event::QuorumCause::started:
      return tr(QT_TRANSLATE_NOOP("Events", "its node has started"));
    case event::QuorumCause::no_leader_found:
      return tr(QT_TRANSLATE_NOOP("Events", "no leader was found in time"));
    case event::QuorumCause::leader_silent:
      return tr(QT_TRANSLATE_NOOP("Events", "the leader did not answer its fetches in time"));
    case event::QuorumCause::leader_handed_over:
      return tr(QT_TRANSLATE_NOOP("Events", "the leader handed over"));
    case event::QuorumCause::pre_votes_won:
      return tr(QT_TRANSLATE_NOOP("Events", "a majority would vote for it"));
    case event::QuorumCause::pre_votes_lost:
      return tr(QT_TRANSLATE_NOOP("Events", "no majority would vote for it"));
    case event::QuorumCause::votes_won:
      return tr(QT_TRANSLATE_NOOP("Events", "a majority voted for it"));
    case event::QuorumCause::votes_lost:
      return tr(QT_TRANSLATE_NOOP("Events", "no majority voted for it"));
    case event::QuorumCause::voted_for_other:
      return tr(QT_TRANSLATE_NOOP("Events", "it voted for another"));
    case event::QuorumCause::heard_of_leader:
      return {};
    case event::QuorumCause::newer_epoch:
      return tr(QT_TRANSLATE_NOOP("Events", "others are in a later epoch"));
    case event::QuorumCause::majority_silent:
      return tr(QT_TRANSLATE_NOOP("Events", "too few voters fetched from it"));
    case event::QuorumCause::not_a_voter:
      return tr(QT_TRANSLATE_NOOP("Events", "it is no voter any more"));
    case event::QuorumCause::stopping:
      return tr(QT_TRANSLATE_NOOP("Events", "its node stops"));
  }
  return {};
}

QString severity_word(Severity severity) {
  switch (severity) {
    case Severity::info:
      return QStringLiteral("info");
    case Severity::notice:
      return QStringLiteral("notice");
    case Severity::warning:
      return QStringLiteral("warning");
    case Severity::error:
      return QStringLiteral("error");
  }
  return {};
}

EventNames names_of(const event::Any& event, const observe::ClusterView& view) {
  EventNames out;
  std::visit(
      [&](const auto& e) {
        if constexpr (requires { e.topic_id; }) {
          if (const observe::TopicView* topic = view.find_topic(e.topic_id); topic != nullptr) {
            out.internal = topic->internal;
            out.topic = text_of(topic->name);
          } else {
            out.topic = e.topic_id == observe::kMetadataTopicId ? QStringLiteral("__cluster_metadata") : text_of(e.topic_id.text());
          }
        }
        if constexpr (requires { e.connection; }) {
          const auto it = view.connections->find(e.connection);
          out.client = it == view.connections->end() ? tr(QT_TRANSLATE_NOOP("Events", "connection %1")).arg(e.connection.value())
                                                     : text_of(it->second->client_id.empty() ? it->second->peer : it->second->client_id);
        }
      },
      event);
  return out;
}

EventText describe_event(const event::Any& event, BrokerId node, const EventNames& names) {
  EventText out;
  out.kind = QString::fromLatin1(event::kind_name(event));
  std::visit(Teller(names, node, out), event);
  if (out.topic.isEmpty()) {
    out.topic = out.about.topic;
    out.partition = out.about.partition;
  }
  out.group = out.about.group;
  return out;
}

EventText describe_event(const observe::RecentEvent& event, const observe::ClusterView& view) {
  return event.event == nullptr ? EventText{} : describe_event(*event.event, event.node, names_of(*event.event, view));
}

}  // namespace hw::ui
