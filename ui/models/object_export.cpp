// SPDX-License-Identifier: Apache-2.0
#include "ui/models/object_export.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "engine/observe/protocol_names.h"
#include "ui/models/group_model.h"

namespace hw::ui {

namespace {

using Kind = Selection::Kind;

QString text_of(const std::string& s) { return QString::fromStdString(s); }
// JSON numbers are doubles: beyond 2^53 they would lie.
QJsonValue number(std::int64_t value) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  return value > kExact || value < -kExact ? QJsonValue(QString::number(value)) : QJsonValue(static_cast<qint64>(value));
}

QJsonArray ids_of(const std::vector<BrokerId>& list) {
  QJsonArray out;
  for (const BrokerId id : list) {
    out.append(id.value());
  }
  return out;
}

QJsonObject partition_object(const observe::PartitionView& p) {
  QJsonObject out;
  out["partition"] = p.index.value();
  out["leader"] = p.leader.value();
  out["leader_epoch"] = p.leader_epoch.value();
  QJsonArray replicas;
  for (const observe::ReplicaView& r : p.replicas) {
    replicas.append(r.node.value());
  }
  out["replicas"] = replicas;
  out["isr"] = ids_of(p.isr);
  if (const event::ReplicaCounters* c = p.leader_counters(); c != nullptr) {
    out["log_start_offset"] = number(c->log_start_offset.get());
    out["last_stable_offset"] = number(c->last_stable_offset.get());
    out["high_watermark"] = number(c->high_watermark.get());
    out["log_end_offset"] = number(c->log_end_offset.get());
    out["size_bytes"] = number(c->size_bytes.get());
    out["segments"] = number(c->segments.get());
  }
  return out;
}

QJsonObject member_object(const event::GroupAssigned::Member& m) {
  QJsonObject out;
  out["member_id"] = text_of(m.member_id);
  out["client_id"] = text_of(m.client_id);
  out["client_host"] = text_of(m.client_host);
  if (!m.instance_id.empty()) {
    out["group_instance_id"] = text_of(m.instance_id);
  }
  const auto names = [](const std::vector<std::pair<std::string, PartitionIndex>>& partitions) {
    QJsonArray array;
    for (const auto& [topic, index] : partitions) {
      array.append(QStringLiteral("%1/%2").arg(text_of(topic)).arg(index.value()));
    }
    return array;
  };
  out["partitions"] = names(m.partitions);
  if (m.epoch >= 0) {
    out["epoch"] = m.epoch;
    out["target"] = names(m.target);
  }
  return out;
}

void add_connection(QJsonObject& out, const observe::ConnectionView& c) {
  out["node"] = c.node.value();
  out["peer"] = text_of(c.peer);
  out["client_id"] = text_of(c.client_id);
  out["software_name"] = text_of(c.software_name);
  out["software_version"] = text_of(c.software_version);
  out["opened_at_ms"] = number(c.opened_at.ms);
  if (c.counters == nullptr) {
    return;
  }
  out["requests"] = number(c.counters->requests.get());
  out["bytes_in"] = number(c.counters->bytes_in.get());
  out["bytes_out"] = number(c.counters->bytes_out.get());
  QJsonArray apis;
  for (const event::ConnectionCounters::Api& api : c.counters->apis) {
    if (api.key.get() >= 0) {
      const auto key = static_cast<std::int16_t>(api.key.get());
      const std::string_view name = observe::api_name(key);
      apis.append(QJsonObject{{"key", key},
                              {"name", QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()))},
                              {"version", number(api.version.get())},
                              {"requests", number(api.requests.get())}});
    }
  }
  out["apis"] = apis;
  QJsonArray errors;
  for (const event::ConnectionCounters::Error& error : c.counters->errors) {
    if (error.count.get() > 0) {
      const std::int64_t kept = error.code.get();
      const auto code = static_cast<std::int16_t>(kept == event::ConnectionCounters::kUnknownError ? -1 : kept);
      const std::string_view name = observe::error_name(code);
      errors.append(QJsonObject{{"code", code},
                                {"name", QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()))},
                                {"count", number(error.count.get())}});
    }
  }
  out["errors"] = errors;
}

void add_group(QJsonObject& out, const observe::GroupView& group) {
  out["group"] = text_of(group.id);
  out["state"] = text_of(group.state);
  const bool consumer = group.kind == event::GroupProtocol::consumer;
  out["kind"] = group_kind(group);
  out[consumer ? "epoch" : "generation"] = group.generation;
  if (consumer) {
    out["target_epoch"] = group.target_epoch;
  }
  out["protocol"] = text_of(group.protocol);
  QJsonArray members;
  for (const auto& m : group.members) {
    members.append(member_object(m));
  }
  out["members"] = members;
  QJsonArray committed;
  for (const auto& c : group.committed) {
    if (c.counters != nullptr && c.counters->offset.get() >= 0) {
      committed.append(QJsonObject{{"topic", text_of(c.topic)},
                                   {"partition", c.partition.value()},
                                   {"offset", number(c.counters->offset.get())}});
    }
  }
  out["committed"] = committed;
}

const observe::PartitionView* partition_of(const observe::ClusterView& view, const Selection& s) {
  const observe::TopicView* topic = view.find_topic(s.topic.toStdString());
  return topic == nullptr || s.partition < 0 || static_cast<std::size_t>(s.partition) >= topic->partitions.size()
             ? nullptr
             : topic->partitions[static_cast<std::size_t>(s.partition)].get();
}

// Single quotes where a shell would otherwise read something into the text.
QString quoted(const QString& text) {
  for (const QChar c : text) {
    const bool plain = c.isLetterOrNumber() || c == u'.' || c == u'_' || c == u'-' || c == u':' || c == u'/' || c == u'@';
    if (!plain) {
      QString inner = text;
      return QLatin1Char('\'') + inner.replace(QLatin1String("'"), QLatin1String("'\\''")) + QLatin1Char('\'');
    }
  }
  return text.isEmpty() ? QStringLiteral("''") : text;
}

}  // namespace

QString object_json(const observe::ClusterView& view, const Selection& s) {
  QJsonObject out;
  out["address"] = s.address();
  switch (s.kind) {
    case Kind::none:
      return {};
    case Kind::cluster: {
      out["cluster_id"] = text_of(view.cluster_id);
      out["controller"] = view.controller.value();
      out["controller_epoch"] = view.controller_epoch;
      QJsonArray nodes;
      for (const auto& [id, node] : view.nodes) {
        nodes.append(QJsonObject{{"id", id.value()}, {"host", text_of(node->host)}, {"port", node->port}});
      }
      out["nodes"] = nodes;
      out["topics"] = number(static_cast<std::int64_t>(view.topics->size()));
      out["groups"] = number(static_cast<std::int64_t>(view.groups->size()));
      out["connections"] = number(static_cast<std::int64_t>(view.connections->size()));
      break;
    }
    case Kind::node: {
      const auto found = view.nodes.find(BrokerId(s.node));
      if (found != view.nodes.end()) {
        const observe::NodeView& node = *found->second;
        out["host"] = text_of(node.host);
        out["port"] = node.port;
        out["broker"] = node.broker;
        out["controller"] = node.controller;
        out["since_ms"] = number(node.since.ms);
        if (!node.directory.empty()) {
          out["directory"] = text_of(node.directory);
        }
        if (node.counters != nullptr) {
          out["connections"] = number(node.counters->connections.get());
          out["requests"] = number(node.counters->requests.get());
          out["records_in"] = number(node.counters->records_in.get());
          out["records_out"] = number(node.counters->records_out.get());
        }
      }
      break;
    }
    case Kind::topic:
      if (const observe::TopicView* topic = view.find_topic(s.topic.toStdString()); topic != nullptr) {
        out["topic"] = s.topic;
        out["topic_id"] = text_of(topic->id.text());
        out["internal"] = topic->internal;
        QJsonObject configs;
        for (const auto& [key, value] : topic->configs) {
          configs[text_of(key)] = text_of(value);
        }
        out["configs"] = configs;
        QJsonArray partitions;
        for (const auto& p : topic->partitions) {
          if (p != nullptr) {
            partitions.append(partition_object(*p));
          }
        }
        out["partitions"] = partitions;
      }
      break;
    case Kind::partition:
    case Kind::offset_range:
    case Kind::record:
      out["topic"] = s.topic;
      if (const observe::PartitionView* p = partition_of(view, s); p != nullptr) {
        const QJsonObject facts = partition_object(*p);
        for (auto at = facts.begin(); at != facts.end(); ++at) {
          out[at.key()] = at.value();
        }
      }
      if (s.kind == Kind::record) {
        out["offset"] = number(s.offset);
      } else if (s.kind == Kind::offset_range) {
        out["first_offset"] = number(s.offset);
        out["last_offset"] = number(s.last_offset);
      }
      break;
    case Kind::group:
    case Kind::member:
      if (const observe::GroupView* group = view.find_group(s.group.toStdString()); group != nullptr) {
        if (s.kind == Kind::group) {
          add_group(out, *group);
        } else {
          out["group"] = s.group;
          for (const auto& m : group->members) {
            if (text_of(m.member_id) == s.member) {
              out["member"] = member_object(m);
            }
          }
        }
      }
      break;
    case Kind::connection: {
      const auto found = view.connections->find(ConnectionId(s.connection));
      if (found != view.connections->end()) {
        add_connection(out, *found->second);
      }
      break;
    }
  }
  return QString::fromUtf8(QJsonDocument(out).toJson(QJsonDocument::Indented)).trimmed();
}

QString object_kafka_cli(const Selection& s, const QString& bootstrap) {
  const QString server = QStringLiteral(" --bootstrap-server ") + bootstrap;
  switch (s.kind) {
    case Kind::cluster:
      return QStringLiteral("kafka-metadata-quorum.sh%1 describe --status").arg(server);
    case Kind::node:
      return QStringLiteral("kafka-configs.sh%1 --describe --all --entity-type brokers --entity-name %2").arg(server).arg(s.node);
    case Kind::topic:
      return QStringLiteral("kafka-topics.sh%1 --describe --topic %2").arg(server, s.topic);
    case Kind::partition:
      return QStringLiteral("kafka-console-consumer.sh%1 --topic %2 --partition %3 --offset earliest").arg(server, s.topic).arg(s.partition);
    case Kind::offset_range:
      return QStringLiteral("kafka-console-consumer.sh%1 --topic %2 --partition %3 --offset %4 --max-messages %5")
          .arg(server, s.topic)
          .arg(s.partition)
          .arg(s.offset)
          .arg(s.last_offset - s.offset + 1);
    case Kind::record:
      return QStringLiteral("kafka-console-consumer.sh%1 --topic %2 --partition %3 --offset %4 --max-messages 1")
          .arg(server, s.topic)
          .arg(s.partition)
          .arg(s.offset);
    case Kind::group:
      return QStringLiteral("kafka-consumer-groups.sh%1 --describe --group %2").arg(server, quoted(s.group));
    case Kind::member:
      return QStringLiteral("kafka-consumer-groups.sh%1 --describe --members --verbose --group %2").arg(server, quoted(s.group));
    case Kind::none:
    case Kind::connection:
      break;
  }
  return {};
}

QString object_kcat(const Selection& s, const QString& bootstrap) {
  const QString to = QStringLiteral("kcat -b ") + bootstrap;
  switch (s.kind) {
    case Kind::cluster:
    case Kind::node:
      return to + QStringLiteral(" -L");
    case Kind::topic:
      return QStringLiteral("%1 -C -t %2 -o beginning").arg(to, s.topic);
    case Kind::partition:
      return QStringLiteral("%1 -C -t %2 -p %3 -o beginning").arg(to, s.topic).arg(s.partition);
    case Kind::offset_range:
      return QStringLiteral("%1 -C -t %2 -p %3 -o %4 -c %5").arg(to, s.topic).arg(s.partition).arg(s.offset).arg(s.last_offset - s.offset + 1);
    case Kind::record:
      return QStringLiteral("%1 -C -t %2 -p %3 -o %4 -c 1").arg(to, s.topic).arg(s.partition).arg(s.offset);
    case Kind::none:
    case Kind::group:
    case Kind::member:
    case Kind::connection:
      break;
  }
  return {};
}

QString object_hw(const Selection& s, const QString& bootstrap) {
  const QString to = QStringLiteral(" --bootstrap ") + bootstrap;
  switch (s.kind) {
    case Kind::cluster:
    case Kind::node:
      return QStringLiteral("hw topics list") + to;
    case Kind::topic:
      return QStringLiteral("hw topics describe %1%2").arg(s.topic, to);
    case Kind::partition:
      return QStringLiteral("hw consume %1 --partition %2 --from earliest%3").arg(s.topic).arg(s.partition).arg(to);
    case Kind::offset_range:
      return QStringLiteral("hw consume %1 --partition %2 --from %3 --max %4%5")
          .arg(s.topic)
          .arg(s.partition)
          .arg(s.offset)
          .arg(s.last_offset - s.offset + 1)
          .arg(to);
    case Kind::record:
      return QStringLiteral("hw consume %1 --partition %2 --from %3 --max 1%4").arg(s.topic).arg(s.partition).arg(s.offset).arg(to);
    case Kind::none:
    case Kind::group:
    case Kind::member:
    case Kind::connection:
      break;
  }
  return {};
}

QString object_python(const Selection& s, const QString& bootstrap) {
  if (!s.inPartition() && s.kind != Kind::topic) {
    return {};
  }
  const QString head = QStringLiteral(
                           "from confluent_kafka import Consumer, TopicPartition\n\n"
                           "consumer = Consumer({\"bootstrap.servers\": \"%1\", \"group.id\": \"my-app\",\n"
                           "                     \"auto.offset.reset\": \"earliest\"})\n")
                           .arg(bootstrap);
  const QString where = s.kind == Kind::topic
                            ? QStringLiteral("consumer.subscribe([\"%1\"])\n").arg(s.topic)
                            : QStringLiteral("consumer.assign([TopicPartition(\"%1\", %2, %3)])\n")
                                  .arg(s.topic)
                                  .arg(s.partition)
                                  .arg(s.kind == Kind::partition ? 0 : s.offset);
  return head + where + QStringLiteral("message = consumer.poll(10)\nprint(message.offset(), message.key(), message.value())\n");
}

}  // namespace hw::ui
