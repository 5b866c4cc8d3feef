// SPDX-License-Identifier: Apache-2.0
#include "ui/session/metadata_record.h"

#include <QCoreApplication>
#include <QStringList>
#include <variant>

#include "engine/metadata/image/record.h"
#include "engine/wire/msg/messages.h"
#include "engine/wire/record/batch_builder.h"

namespace hw::ui {

namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(MetadataRecord)
};

constexpr std::size_t kFieldsMost = 400;

QString text_of(std::string_view s) { return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size())); }

template <class Ids>
QString ids(const Ids& list) {
  QStringList out;
  for (const auto& id : list) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(id)>>) {
      out << QString::number(id);
    } else {
      out << QString::number(id.value());
    }
  }
  return out.isEmpty() ? Words::tr("nobody") : out.join(QLatin1Char(' '));
}

// Unsigned varints of 32 bits, as the frame of a metadata record begins.
bool read_varint(const Bytes& bytes, std::size_t& at, std::uint32_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 35 && at < bytes.size(); shift += 7) {
    const auto byte = std::to_integer<std::uint32_t>(bytes.data()[at++]);
    value |= (byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) {
      return true;
    }
  }
  return false;
}

class Teller {
 public:
  Teller(const observe::ClusterView& view, MetadataRecord& out) : view_(view), out_(out) {}

  void operator()(const wire::RegisterBrokerRecord& r) {
    node(r.broker_id);
    say(Words::tr("broker %1 registered%2").arg(r.broker_id.value()).arg(r.fenced ? Words::tr(", fenced at first") : QString()));
  }
  void operator()(const wire::UnregisterBrokerRecord& r) {
    node(r.broker_id);
    say(Words::tr("broker %1 is not registered any more").arg(r.broker_id.value()));
  }
  void operator()(const wire::TopicRecord& r) {
    out_.about = Selection::ofTopic(text_of(r.name));
    say(Words::tr("%1 created").arg(text_of(r.name)));
  }
  void operator()(const wire::PartitionRecord& r) {
    partition(r.topic_id, r.partition_id);
    say(Words::tr("%1: leader %2, replicas %3, in sync %4")
            .arg(name_)
            .arg(r.leader.value())
            .arg(ids(r.replicas), ids(r.isr)));
  }
  void operator()(const wire::ConfigRecord& r) {
    const QString what = r.resource_name.empty() ? Words::tr("all brokers") : text_of(r.resource_name);
    constexpr std::int8_t kTopic = 2;
    if (r.resource_type == kTopic) {
      out_.about = Selection::ofTopic(what);
    }
    say(r.value ? Words::tr("%1: %2 = %3").arg(what, text_of(r.name), text_of(*r.value))
                : Words::tr("%1: %2 back at its default").arg(what, text_of(r.name)));
  }
  void operator()(const wire::PartitionChangeRecord& r) {
    partition(r.topic_id, r.partition_id);
    QStringList parts;
    constexpr std::int32_t kKeeps = -2;
    if (r.leader.value() != kKeeps) {
      parts << (r.leader == kNoBroker ? Words::tr("no leader") : Words::tr("leader %1").arg(r.leader.value()));
    }
    if (r.isr) {
      parts << Words::tr("in sync %1").arg(ids(*r.isr));
    }
    if (r.eligible_leader_replicas) {
      parts << (r.eligible_leader_replicas->empty() ? Words::tr("no eligible replica besides")
                                                    : Words::tr("eligible %1").arg(ids(*r.eligible_leader_replicas)));
    }
    if (r.replicas) {
      parts << Words::tr("replicas %1").arg(ids(*r.replicas));
    }
    if (r.adding_replicas && !r.adding_replicas->empty()) {
      parts << Words::tr("adding %1").arg(ids(*r.adding_replicas));
    }
    if (r.removing_replicas && !r.removing_replicas->empty()) {
      parts << Words::tr("removing %1").arg(ids(*r.removing_replicas));
    }
    if (r.leader_recovery_state >= 0) {
      parts << (r.leader_recovery_state == 0 ? Words::tr("recovered") : Words::tr("recovering from an unclean election"));
    }
    if (r.directories) {
      parts << Words::tr("directories assigned");
    }
    say(QStringLiteral("%1: %2").arg(name_, parts.isEmpty() ? Words::tr("nothing changed") : parts.join(QStringLiteral(", "))));
  }
  void operator()(const wire::FenceBrokerRecord& r) {
    node(r.id);
    say(Words::tr("broker %1 fenced").arg(r.id.value()));
  }
  void operator()(const wire::UnfenceBrokerRecord& r) {
    node(r.id);
    say(Words::tr("broker %1 may lead again").arg(r.id.value()));
  }
  void operator()(const wire::RemoveTopicRecord& r) {
    say(Words::tr("%1 deleted").arg(topic(r.topic_id)));
  }
  void operator()(const wire::FeatureLevelRecord& r) {
    say(Words::tr("%1 is at level %2").arg(text_of(r.name)).arg(r.feature_level));
  }
  void operator()(const wire::ProducerIdsRecord& r) {
    node(r.broker_id);
    say(Words::tr("producer ids below %1 belong to broker %2").arg(r.next_producer_id).arg(r.broker_id.value()));
  }
  void operator()(const wire::BrokerRegistrationChangeRecord& r) {
    node(r.broker_id);
    QStringList parts;
    if (r.fenced != 0) {
      parts << (r.fenced > 0 ? Words::tr("fenced") : Words::tr("not fenced any more"));
    }
    if (r.in_controlled_shutdown != 0) {
      parts << Words::tr("in controlled shutdown");
    }
    if (!r.log_dirs.empty()) {
      parts << Words::tr("%Ln log directories", nullptr, static_cast<int>(r.log_dirs.size()));
    }
    say(Words::tr("broker %1: %2").arg(r.broker_id.value()).arg(parts.isEmpty() ? Words::tr("nothing changed") : parts.join(QStringLiteral(", "))));
  }
  void operator()(const wire::NoOpRecord&) { say(Words::tr("the leader can still commit")); }
  void operator()(const wire::BeginTransactionRecord& r) {
    say(Words::tr("what follows counts only as a whole%1").arg(r.name ? QStringLiteral(": ") + text_of(*r.name) : QString()));
  }
  void operator()(const wire::EndTransactionRecord&) { say(Words::tr("what came since the beginning counts now")); }
  void operator()(const wire::AbortTransactionRecord& r) {
    say(Words::tr("what came since the beginning does not count%1").arg(r.reason ? QStringLiteral(": ") + text_of(*r.reason) : QString()));
  }
  void operator()(const wire::RegisterControllerRecord& r) {
    out_.about = Selection::ofNode(r.controller_id);
    say(Words::tr("controller %1 registered").arg(r.controller_id));
  }
  void operator()(const wire::ClearElrRecord& r) {
    say(r.topic_name.empty() ? Words::tr("eligible replicas of all topics cleared")
                             : Words::tr("eligible replicas of %1 cleared").arg(text_of(r.topic_name)));
  }
  void operator()(const wire::UnregisterControllerRecord& r) {
    out_.about = Selection::ofNode(r.controller_id);
    say(Words::tr("controller %1 is not registered any more").arg(r.controller_id));
  }
  void operator()(const wire::ClientQuotaRecord& r) {
    QStringList entity;
    for (const auto& part : r.entity) {
      entity << QStringLiteral("%1=%2").arg(text_of(part.entity_type), part.entity_name ? text_of(*part.entity_name) : Words::tr("default"));
    }
    say(r.remove ? Words::tr("quota %1 of %2 removed").arg(text_of(r.key), entity.join(QLatin1Char(' ')))
                 : Words::tr("quota %1 of %2 = %3").arg(text_of(r.key), entity.join(QLatin1Char(' '))).arg(r.value));
  }
  void operator()(const metadata::UnknownRecord& r) {
    out_.type = Words::tr("type %1").arg(r.type);
    say(Words::tr("of a feature that is not known here, %Ln bytes", nullptr, static_cast<int>(r.body.size())));
  }

 private:
  void say(const QString& text) { out_.text = text; }
  void node(BrokerId id) { out_.about = Selection::ofNode(id.value()); }
  [[nodiscard]] QString topic(const Uuid& id) const {
    const observe::TopicView* known = view_.find_topic(id);
    return known == nullptr ? text_of(id.text()) : text_of(known->name);
  }
  void partition(const Uuid& id, PartitionIndex index) {
    const QString owner = topic(id);
    out_.about = Selection::ofPartition(owner, index.value());
    name_ = out_.about.address();
  }

  const observe::ClusterView& view_;
  MetadataRecord& out_;
  QString name_;
};

QString without_record(std::string_view name) {
  QString text = text_of(name);
  if (text.endsWith(QLatin1String("Record"))) {
    text.chop(6);
  }
  return text;
}

void describe_control(const RecordRow& row, MetadataRecord& out) {
  const std::optional<wire::ControlType> type =
      wire::parse_control_key(row.key ? std::optional<ByteSpan>(row.key->span()) : std::nullopt);
  const char* message = nullptr;
  switch (type.value_or(wire::ControlType::abort)) {
    case wire::ControlType::leader_change:
      out.type = QStringLiteral("LeaderChange");
      out.text = Words::tr("a new controller leads: its epoch begins here");
      message = "LeaderChangeMessage";
      break;
    case wire::ControlType::snapshot_header:
      out.type = QStringLiteral("SnapshotHeader");
      out.text = Words::tr("a snapshot begins");
      message = "SnapshotHeaderRecord";
      break;
    case wire::ControlType::snapshot_footer:
      out.type = QStringLiteral("SnapshotFooter");
      out.text = Words::tr("a snapshot ends");
      message = "SnapshotFooterRecord";
      break;
    case wire::ControlType::kraft_version:
      out.type = QStringLiteral("KRaftVersion");
      out.text = Words::tr("the level of the quorum's protocol");
      message = "KRaftVersionRecord";
      break;
    case wire::ControlType::kraft_voters:
      out.type = QStringLiteral("KRaftVoters");
      out.text = Words::tr("who votes in the quorum from here on");
      message = "VotersRecord";
      break;
    case wire::ControlType::abort:
    case wire::ControlType::commit:
      out.type = Words::tr("control");
      return;
  }
  const wire::MessageInfo* known = wire::find_message(message);
  if (known != nullptr && row.value) {
    out.fields = QString::fromStdString(wire::print_line(wire::dissect(*known, 0, *row.value).root, kFieldsMost));
  }
}

}  // namespace

MetadataRecord describe_metadata(const RecordRow& row, const observe::ClusterView& view) {
  MetadataRecord out;
  out.offset = row.offset;
  out.timestamp_ms = row.timestamp_ms;
  out.epoch = row.leader_epoch;
  out.control = row.control;
  if (row.control) {
    describe_control(row, out);
    return out;
  }
  if (!row.value) {
    out.type = Words::tr("nothing");
    out.broken = true;
    return out;
  }
  const Result<metadata::Record> record = metadata::decode_record(*row.value);
  if (!record) {
    out.type = Words::tr("unreadable");
    out.text = QString::fromStdString(record.error().detail);
    out.broken = true;
    return out;
  }
  out.type = without_record(metadata::record_name(*record));
  std::visit(Teller(view, out), *record);
  std::size_t at = 0;
  std::uint32_t frame = 0;
  std::uint32_t type = 0;
  std::uint32_t version = 0;
  if (read_varint(*row.value, at, frame) && read_varint(*row.value, at, type) && read_varint(*row.value, at, version)) {
    if (const wire::MessageInfo* message = wire::find_message(metadata::record_name(*record)); message != nullptr) {
      const Bytes body = row.value->slice(at, row.value->size() - at);
      out.fields = QString::fromStdString(
          wire::print_line(wire::dissect(*message, static_cast<std::int16_t>(version), body).root, kFieldsMost));
    }
  }
  return out;
}

}  // namespace hw::ui
