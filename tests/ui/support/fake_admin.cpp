// SPDX-License-Identifier: Apache-2.0
// FakeSession: configurations, logs, groups and built-in consumers without an engine.
#include <algorithm>
#include <set>
#include <span>

#include "tests/ui/support/fake_session.h"

namespace hw::ui {

namespace {

struct FakeConfig {
  const char* name;
  const char* value;
  ConfigType type;
  const char* listed = nullptr;  // the name that the value stands at in what a broker lists; "": it lists none; null: the usual one
};
constexpr FakeConfig kTopicConfigs[] = {
    {"cleanup.policy", "delete", ConfigType::list},
    {"compression.type", "producer", ConfigType::text},
    {"delete.retention.ms", "86400000", ConfigType::int64},
    {"flush.messages", "9223372036854775807", ConfigType::int64},
    {"flush.ms", "9223372036854775807", ConfigType::int64},
    {"max.message.bytes", "1048588", ConfigType::int32},
    {"message.timestamp.type", "CreateTime", ConfigType::text},
    {"min.cleanable.dirty.ratio", "0.5", ConfigType::decimal},
    {"min.insync.replicas", "1", ConfigType::int32},
    {"preallocate", "false", ConfigType::boolean},
    {"retention.bytes", "-1", ConfigType::int64},
    {"retention.ms", "604800000", ConfigType::int64, ""},
    {"segment.bytes", "1073741824", ConfigType::int32},
    {"segment.ms", "604800000", ConfigType::int64, ""},
    {"unclean.leader.election.enable", "false", ConfigType::boolean},
};
constexpr FakeConfig kBrokerConfigs[] = {
    {"log.retention.bytes", "-1", ConfigType::int64},
    {"log.retention.hours", "168", ConfigType::int32},
    {"log.retention.ms", "168", ConfigType::int64, "log.retention.hours"},
    {"log.roll.hours", "168", ConfigType::int32},
    {"max.connections.per.ip", "2147483647", ConfigType::int32},
    {"message.max.bytes", "1048588", ConfigType::int32},
    {"min.insync.replicas", "1", ConfigType::int32},
    {"num.io.threads", "8", ConfigType::int32},
};
constexpr FakeConfig kGroupConfigs[] = {
    {"consumer.heartbeat.interval.ms", "5000", ConfigType::int32},
    {"consumer.session.timeout.ms", "45000", ConfigType::int32},
};

QString text(const std::string& value) { return QString::fromStdString(value); }

}  // namespace

void FakeSession::describeConfigs(const ConfigResource& resource, std::function<void(ConfigAnswer)> done) {
  ConfigAnswer result;
  result.error = takeError();
  const auto topic = topics_.find(resource.name);
  if (result.error.isEmpty() && resource.kind == ConfigResource::Kind::topic && topic == topics_.end()) {
    result.error = QStringLiteral("UNKNOWN_TOPIC_OR_PARTITION");
  }
  if (result.error.isEmpty() && resource.kind != ConfigResource::Kind::topic) {
    const bool broker = resource.kind == ConfigResource::Kind::broker;
    const auto own_source = broker ? ConfigSource::broker : ConfigSource::group;
    const std::span<const FakeConfig> known = broker ? std::span<const FakeConfig>(kBrokerConfigs) : std::span<const FakeConfig>(kGroupConfigs);
    for (const FakeConfig& config : known) {
      ConfigRow row;
      row.name = config.name;
      row.type = config.type;
      const auto layer = [&](const std::string& name, ConfigSource source) {
        if (const auto own = other_configs_.find({static_cast<int>(resource.kind), name, row.name}); own != other_configs_.end()) {
          row.synonyms.push_back({row.name, own->second, source});
        }
      };
      layer(resource.name, own_source);
      if (broker) {
        layer({}, ConfigSource::all_brokers);
      }
      row.synonyms.push_back({config.listed == nullptr ? row.name : config.listed, config.value, ConfigSource::defaults});
      row.value = row.synonyms.front().name == row.name ? row.synonyms.front().value : std::nullopt;
      row.source = row.synonyms.front().source;
      result.rows.push_back(std::move(row));
    }
  } else if (result.error.isEmpty()) {
    for (const FakeConfig& config : kTopicConfigs) {
      ConfigRow row;
      row.name = config.name;
      row.value = config.value;
      row.source = ConfigSource::defaults;
      row.type = config.type;
      if (config.listed == nullptr) {
        row.synonyms.push_back({"log." + row.name, row.value, ConfigSource::defaults});
      }
      if (resource.kind == ConfigResource::Kind::topic) {
        if (const auto own = topic->second.configs.find(row.name); own != topic->second.configs.end()) {
          row.value = own->second;
          row.source = ConfigSource::topic;
          row.synonyms.insert(row.synonyms.begin(), {row.name, row.value, ConfigSource::topic});
        }
      }
      result.rows.push_back(std::move(row));
    }
  }
  answer([done = std::move(done), result] { done(result); });
}

void FakeSession::alterConfigs(const ConfigResource& resource, const std::vector<ConfigChange>& changes, bool validate_only,
                               std::function<void(QString error)> done) {
  const QString error = takeError();
  const auto topic = topics_.find(resource.name);
  if (error.isEmpty() && !validate_only && resource.kind != ConfigResource::Kind::topic) {
    for (const ConfigChange& change : changes) {
      const OtherConfig key{static_cast<int>(resource.kind), resource.name, change.name};
      if (change.value) {
        other_configs_[key] = *change.value;
      } else {
        other_configs_.erase(key);
      }
    }
  } else if (error.isEmpty() && !validate_only && topic != topics_.end()) {
    for (const ConfigChange& change : changes) {
      if (change.value) {
        topic->second.configs[change.name] = *change.value;
      } else {
        topic->second.configs.erase(change.name);
      }
      journal_ << QStringLiteral("alter %1 %2=%3").arg(text(resource.name), text(change.name), text(change.value.value_or("(default)")));
    }
    tick(0);
  }
  answer([done = std::move(done), error] { done(error); });
}

void FakeSession::segments(const std::string& name, std::function<void(SegmentsAnswer)> done) {
  SegmentsAnswer result;
  const auto topic = topics_.find(name);
  if (topic == topics_.end()) {
    result.error = QStringLiteral("UNKNOWN_TOPIC_OR_PARTITION");
  } else {
    for (std::size_t i = 0; i < topic->second.partitions.size(); ++i) {
      const Partition& p = topic->second.partitions[i];
      PartitionSegments& row = result.partitions.emplace_back();
      row.partition = static_cast<std::int32_t>(i);
      row.log_start_offset = p.replicas.front()->log_start_offset.get();
      row.high_watermark = p.end;
      row.log_end_offset = p.end;
      for (std::size_t s = 0; s < p.segments.size(); ++s) {
        SegmentRow segment;
        segment.base_offset = p.segments[s].value();
        const std::int64_t next = s + 1 < p.segments.size() ? p.segments[s + 1].value() : p.end;
        for (const RecordRow& record : p.rows) {
          if (record.offset >= segment.base_offset && record.offset < next) {
            segment.size_bytes += record.batch_size_bytes;
            segment.largest_timestamp_ms = std::max(segment.largest_timestamp_ms, record.timestamp_ms);
          }
        }
        row.segments.push_back(segment);
      }
    }
  }
  answer([done = std::move(done), result] { done(result); });
}

void FakeSession::countRecords(const std::string& name, std::int64_t /*bytes_max*/, std::function<void(RecordCount)> done) {
  RecordCount result;
  const auto topic = topics_.find(name);
  if (topic == topics_.end()) {
    result.error = QStringLiteral("UNKNOWN_TOPIC_OR_PARTITION");
  } else {
    for (const Partition& p : topic->second.partitions) {
      const std::int64_t count = p.end - p.replicas.front()->log_start_offset.get();
      result.records += count;
      result.batches += count;
      result.offsets += count;
    }
  }
  answer([done = std::move(done), result] { done(result); });
}

void FakeSession::deleteRecords(const std::vector<PartitionOffset>& before, std::function<void(OffsetsAnswer)> done) {
  OffsetsAnswer result;
  result.error = takeError();
  for (const PartitionOffset& each : before) {
    const auto topic = topics_.find(each.partition.topic);
    if (!result.error.isEmpty() || topic == topics_.end()) {
      continue;
    }
    Partition& p = topic->second.partitions[static_cast<std::size_t>(each.partition.partition)];
    const std::int64_t to = each.offset < 0 ? p.end : each.offset;
    for (const auto& replica : p.replicas) {
      replica->log_start_offset.set(std::max(to, replica->log_start_offset.get()));
    }
    while (!p.rows.empty() && p.rows.front().offset < to) {
      p.rows.pop_front();
    }
    journal_ << QStringLiteral("delete-records %1/%2 before %3").arg(text(each.partition.topic)).arg(each.partition.partition).arg(to);
    result.rows.push_back({each.partition, to, -1, {}});
  }
  tick(0);
  answer([done = std::move(done), result] { done(result); });
}

void FakeSession::findOffsets(const std::vector<PartitionName>& partitions, std::int64_t timestamp_ms,
                              std::function<void(OffsetsAnswer)> done) {
  OffsetsAnswer result;
  result.error = takeError();
  for (const PartitionName& each : partitions) {
    const auto topic = topics_.find(each.topic);
    PartitionResult row{each, -1, -1, {}};
    if (topic == topics_.end() || static_cast<std::size_t>(each.partition) >= topic->second.partitions.size()) {
      row.error = QStringLiteral("UNKNOWN_TOPIC_OR_PARTITION");
    } else {
      const Partition& p = topic->second.partitions[static_cast<std::size_t>(each.partition)];
      if (timestamp_ms == kOffsetLatest) {
        row.offset = p.end;
      } else if (timestamp_ms == kOffsetEarliest) {
        row.offset = p.replicas.front()->log_start_offset.get();
      } else {
        const auto at = std::find_if(p.rows.begin(), p.rows.end(),
                                     [&](const RecordRow& r) { return r.timestamp_ms >= timestamp_ms; });
        if (at != p.rows.end()) {
          row.offset = at->offset;
          row.timestamp_ms = at->timestamp_ms;
        }
      }
    }
    result.rows.push_back(std::move(row));
  }
  answer([done = std::move(done), result] { done(result); });
}

std::shared_ptr<event::CommittedCounters> FakeSession::committedOf(const std::string& id, const PartitionName& at) {
  Group& group = groups_[id];
  auto& counters = group.committed[at];
  if (counters == nullptr) {
    counters = std::make_shared<event::CommittedCounters>();
    publishGroup(id, [](observe::GroupView&) {});
  }
  return counters;
}

void FakeSession::publishGroup(const std::string& id, const std::function<void(observe::GroupView&)>& change) {
  Group& group = groups_[id];
  auto view = group.view == nullptr ? std::make_shared<observe::GroupView>() : std::make_shared<observe::GroupView>(*group.view);
  view->id = id;
  view->protocol_type = "consumer";
  view->changed_at = WallTime{now_ms_};
  change(*view);
  view->committed.clear();
  for (const auto& [partition, counters] : group.committed) {
    view->committed.push_back({partition.topic, PartitionIndex(partition.partition), counters, WallTime{now_ms_}});
  }
  group.view = std::move(view);
  groups_changed_ = true;
}

void FakeSession::setGroup(const std::string& id, const std::string& topic, int members, const std::string& state) {
  groups_[id].topics = {topic};
  const auto found = topics_.find(topic);
  if (found != topics_.end()) {
    for (std::size_t i = 0; i < found->second.partitions.size(); ++i) {
      auto& counters = groups_[id].committed[{topic, static_cast<std::int32_t>(i)}];
      if (counters == nullptr) {
        counters = std::make_shared<event::CommittedCounters>();
        counters->offset.set(0);
        counters->committed_at_ms.set(now_ms_);
      }
    }
  }
  rebalance(id, members, "joined");
  publishGroup(id, [&](observe::GroupView& view) { view.state = state; });
  publish();
}

void FakeSession::setProtocolType(const std::string& group, const std::string& type) {
  publishGroup(group, [&](observe::GroupView& view) { view.protocol_type = type; });
  publish();
}

// Range over one topic, as Kafka's first assignor does it.
void FakeSession::rebalance(const std::string& id, int members, const std::string& why) {
  const std::string topic = groups_[id].topics.empty() ? std::string() : groups_[id].topics.front();
  const auto found = topics_.find(topic);
  const int partitions = found == topics_.end() ? 0 : static_cast<int>(found->second.partitions.size());
  publishGroup(id, [&](observe::GroupView& view) {
    auto what = std::make_shared<event::GroupRebalanced>();
    what->group = id;
    what->generation_before = view.generation;
    what->members_before = static_cast<std::int32_t>(view.members.size());
    what->members_after = members;
    what->partitions_before = view.members.empty() ? 0 : partitions;
    what->partitions_after = members == 0 ? 0 : partitions;
    ++view.generation;
    what->generation = view.generation;
    what->protocol = members == 0 ? "" : "range";
    view.protocol = what->protocol;
    view.state = members == 0 ? "Empty" : "Stable";
    const auto cause = members < what->members_before ? event::GroupRebalanced::Cause::member_left
                       : members == what->members_before ? event::GroupRebalanced::Cause::member_rejoined
                                                         : event::GroupRebalanced::Cause::member_joined;
    const std::string name = id + "-" + std::to_string(std::max(1, members));
    what->triggers.push_back({cause, name + "-2f6a", name, "/127.0.0.1", why});
    view.members.clear();
    int next = 0;
    for (int m = 0; m < members; ++m) {
      event::GroupAssigned::Member member;
      member.client_id = id + "-" + std::to_string(m + 1);
      member.member_id = member.client_id + "-2f6a";
      member.client_host = "/127.0.0.1";
      member.topics = {topic};
      member.session_timeout_ms = 10'000;
      member.rebalance_timeout_ms = 60'000;
      auto counters = std::make_shared<event::MemberCounters>();
      counters->last_seen_ms.set(now_ms_);
      member.counters = counters;
      const int share = partitions / members + (m < partitions % members ? 1 : 0);
      for (int i = 0; i < share; ++i) {
        member.partitions.emplace_back(topic, PartitionIndex(next++));
      }
      view.members.push_back(std::move(member));
    }
    what->moved = std::min(partitions, 1);
    what->began = WallTime{now_ms_ - 90};
    what->join_us = 60'000;
    what->total_us = 90'000;
    view.leader = members == 0 ? "" : view.members.front().member_id;
    view.rebalances.push_back({WallTime{now_ms_}, what});
  });
}

void FakeSession::setCommitted(const std::string& group, const std::string& topic, std::int32_t partition, std::int64_t offset) {
  const auto counters = committedOf(group, {topic, partition});
  counters->offset.set(offset);
  counters->committed_at_ms.set(now_ms_);
  publish();
}

void FakeSession::produceMany(const std::string& topic, std::int32_t partition, int records, const std::string& key) {
  for (int i = 0; i < records; ++i) {
    RecordRow row;
    row.key = key.empty() ? std::optional<Bytes>() : Bytes::copy_of(key);
    row.value = Bytes::copy_of("value " + std::to_string(i));
    append(topic, partition, std::move(row), ConnectionId(99));
  }
  tick(0);
}

void FakeSession::commitGroupOffsets(const std::string& group, const std::vector<PartitionOffset>& offsets,
                                     std::function<void(OffsetsAnswer)> done) {
  OffsetsAnswer result;
  result.error = takeError();
  const auto found = groups_.find(group);
  const bool active = found != groups_.end() && !found->second.view->members.empty();
  for (const PartitionOffset& each : offsets) {
    PartitionResult row{each.partition, each.offset, -1, {}};
    if (active) {
      row.error = QStringLiteral("group '%1': UNKNOWN_MEMBER_ID").arg(text(group));
    } else if (result.error.isEmpty()) {
      setCommitted(group, each.partition.topic, each.partition.partition, each.offset);
      journal_ << QStringLiteral("reset %1 %2/%3=%4").arg(text(group), text(each.partition.topic)).arg(each.partition.partition).arg(each.offset);
    }
    result.rows.push_back(std::move(row));
  }
  tick(0);
  answer([done = std::move(done), result] { done(result); });
}

void FakeSession::deleteGroupOffsets(const std::string& group, const std::vector<PartitionName>& partitions,
                                     std::function<void(OffsetsAnswer)> done) {
  OffsetsAnswer result;
  result.error = takeError();
  for (const PartitionName& each : partitions) {
    if (result.error.isEmpty()) {
      groups_[group].committed.erase(each);
      journal_ << QStringLiteral("delete-offset %1 %2/%3").arg(text(group), text(each.topic)).arg(each.partition);
    }
    result.rows.push_back({each, -1, -1, {}});
  }
  publishGroup(group, [](observe::GroupView&) {});
  tick(0);
  answer([done = std::move(done), result] { done(result); });
}

void FakeSession::deleteGroup(const std::string& group, std::function<void(QString error)> done) {
  QString error = takeError();
  const auto found = groups_.find(group);
  if (error.isEmpty() && found != groups_.end() && !found->second.view->members.empty()) {
    error = QStringLiteral("group '%1': NON_EMPTY_GROUP").arg(text(group));
  }
  if (error.isEmpty() && found != groups_.end()) {
    groups_.erase(found);
    groups_changed_ = true;
    journal_ << QStringLiteral("delete-group %1").arg(text(group));
    tick(0);
  }
  answer([done = std::move(done), error] { done(error); });
}

QStringList FakeSession::consumerAssignors(ConsumerCommand::Protocol protocol) const {
  if (protocol == ConsumerCommand::Protocol::consumer) {
    return {QStringLiteral("uniform"), QStringLiteral("range")};
  }
  return {QStringLiteral("range"), QStringLiteral("roundrobin"), QStringLiteral("sticky"), QStringLiteral("cooperative-sticky")};
}

void FakeSession::addConsumer(const ConsumerCommand& command, std::function<void(QString error)> done) {
  const QString error = takeError();
  if (error.isEmpty()) {
    BuiltInConsumer consumer;
    consumer.id = consumers_.size() + 1;
    consumer.options = command;
    consumers_.push_back(consumer);
    Group& group = groups_[command.group];
    const int before = group.view == nullptr ? 0 : static_cast<int>(group.view->members.size());
    setGroup(command.group, command.topics.front(), before + 1);
    journal_ << QStringLiteral("add-consumer %1 %2").arg(text(command.group), text(command.assignor));
    tick(0);
  }
  answer([done = std::move(done), error] { done(error); });
}

void FakeSession::tryOut(Trial trial, std::function<void(TrialAnswer)> done) {
  static constexpr const char* kNames[] = {"produce", "consume", "commit", "create-topic", "elect-leaders"};
  journal_ << QStringLiteral("try %1").arg(QLatin1String(kNames[static_cast<std::size_t>(trial)]));
  TrialAnswer result{takeError(), QStringLiteral("done"), 12};
  answer([done = std::move(done), result] { done(result); });
}

bool FakeSession::removeConsumer(const std::string& group) {
  const auto at = std::find_if(consumers_.rbegin(), consumers_.rend(),
                               [&](const BuiltInConsumer& c) { return c.options.group == group; });
  if (at == consumers_.rend()) {
    return false;
  }
  consumers_.erase(std::next(at).base());
  rebalance(group, static_cast<int>(groups_[group].view->members.size()) - 1, "left");
  journal_ << QStringLiteral("remove-consumer %1").arg(text(group));
  tick(0);
  return true;
}

bool FakeSession::rejoinConsumer(const std::string& group) {
  const bool known = std::any_of(consumers_.begin(), consumers_.end(),
                                 [&](const BuiltInConsumer& c) { return c.options.group == group; });
  if (known) {
    rebalance(group, static_cast<int>(groups_[group].view->members.size()), "again");
    tick(0);
  }
  return known;
}

}  // namespace hw::ui
