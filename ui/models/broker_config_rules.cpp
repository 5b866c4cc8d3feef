// SPDX-License-Identifier: Apache-2.0
#include "ui/models/broker_config_rules.h"

#include <QCoreApplication>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

namespace hw::ui {

namespace {

using Unit = ConfigRule::Unit;
#define T(text) QT_TRANSLATE_NOOP("ConfigRules", text)

constexpr const char* kYesNo = "true,false";

constexpr std::pair<std::string_view, std::string_view> kTopicKeys[] = {
    {"compression.gzip.level", "compression.gzip.level"},
    {"compression.lz4.level", "compression.lz4.level"},
    {"compression.type", "compression.type"},
    {"compression.zstd.level", "compression.zstd.level"},
    {"log.cleaner.delete.retention.ms", "delete.retention.ms"},
    {"log.cleaner.max.compaction.lag.ms", "max.compaction.lag.ms"},
    {"log.cleaner.min.cleanable.ratio", "min.cleanable.dirty.ratio"},
    {"log.cleaner.min.compaction.lag.ms", "min.compaction.lag.ms"},
    {"log.cleanup.policy", "cleanup.policy"},
    {"log.flush.interval.messages", "flush.messages"},
    {"log.flush.interval.ms", "flush.ms"},
    {"log.index.interval.bytes", "index.interval.bytes"},
    {"log.index.size.max.bytes", "segment.index.bytes"},
    {"log.local.retention.bytes", "local.retention.bytes"},
    {"log.local.retention.ms", "local.retention.ms"},
    {"log.message.timestamp.after.max.ms", "message.timestamp.after.max.ms"},
    {"log.message.timestamp.before.max.ms", "message.timestamp.before.max.ms"},
    {"log.message.timestamp.type", "message.timestamp.type"},
    {"log.preallocate", "preallocate"},
    {"log.remote.copy.lag.bytes", "remote.copy.lag.bytes"},
    {"log.remote.copy.lag.ms", "remote.copy.lag.ms"},
    {"log.retention.bytes", "retention.bytes"},
    {"log.retention.ms", "retention.ms"},
    {"log.roll.jitter.ms", "segment.jitter.ms"},
    {"log.roll.ms", "segment.ms"},
    {"log.segment.bytes", "segment.bytes"},
    {"log.segment.delete.delay.ms", "file.delete.delay.ms"},
    {"max.decompressed.message.bytes", "max.decompressed.message.bytes"},
    {"message.max.bytes", "max.message.bytes"},
    {"min.insync.replicas", "min.insync.replicas"},
    {"unclean.leader.election.enable", "unclean.leader.election.enable"},
};

// Names of one setting in other units, the stronger first.
struct Coarser {
  std::string_view key;
  std::string_view other;
  std::int64_t times;
};
constexpr Coarser kCoarser[] = {
    {"log.flush.interval.ms", "log.flush.scheduler.interval.ms", 1},
    {"log.retention.ms", "log.retention.minutes", 60'000},
    {"log.retention.ms", "log.retention.hours", 3'600'000},
    {"log.roll.jitter.ms", "log.roll.jitter.hours", 3'600'000},
    {"log.roll.ms", "log.roll.hours", 3'600'000},
};

// Keys of topics that no key of a broker stands for: what they are unless the topic says otherwise.
constexpr std::pair<std::string_view, std::string_view> kTopicsAlone[] = {
    {"errors.deadletterqueue.group.enable", "false"},
    {"follower.replication.throttled.replicas", ""},
    {"leader.replication.throttled.replicas", ""},
    {"remote.log.copy.disable", "false"},
    {"remote.log.delete.on.disable", "false"},
    {"remote.storage.enable", "false"},
};

const ConfigRule kRules[] = {
    // --- brokers
    {"background.threads", Unit::count, 1, {}, nullptr, nullptr, T("Threads for housekeeping. One step may at most double or halve them."), nullptr},
    {"group.coordinator.cached.buffer.max.bytes", Unit::size, 524288, {}, nullptr, nullptr, T("How large a buffer for writing offsets and members may be and still be kept for the next write."), nullptr},
    {"log.cleaner.backoff.ms", Unit::duration, 0, {}, nullptr, nullptr, T("How long the cleaner rests when there is nothing to compact."), nullptr},
    {"log.cleaner.dedupe.buffer.size", Unit::size, {}, {}, nullptr, nullptr, T("Memory that all cleaner threads together use for the keys they have seen; more than 1 MiB for each thread."), nullptr},
    {"log.cleaner.io.buffer.load.factor", Unit::ratio, {}, {}, nullptr, nullptr, T("How full the cleaner's table of keys may get. Fuller cleans more at once, with more collisions."), nullptr},
    {"log.cleaner.io.buffer.size", Unit::size, 0, {}, nullptr, nullptr, T("Memory that all cleaner threads together use for reading and writing."), nullptr},
    {"log.cleaner.io.max.bytes.per.second", Unit::none, {}, {}, nullptr, nullptr, T("The most that compaction reads and writes in a second."), nullptr},
    {"log.cleaner.threads", Unit::count, 0, {}, nullptr, nullptr, T("Threads for compaction. One step may at most double or halve them."), nullptr},
    {"max.connection.creation.rate", Unit::count, 0, {}, nullptr, nullptr, T("How many connections a second the broker accepts; the others wait."),
     T("Clients that come together, after a restart for instance, wait for their turn.")},
    {"max.connections", Unit::count, 0, {}, nullptr, nullptr, T("How many connections the broker holds at a time."),
     T("Beyond it new connections wait, or the one that was idle longest is closed.")},
    {"max.connections.per.ip", Unit::count, 0, {}, nullptr, nullptr, T("How many connections one address may hold. Further ones are closed at once."),
     T("Clients behind one gateway share one address, and so this limit.")},
    {"max.connections.per.ip.overrides", Unit::none, {}, {}, nullptr, nullptr, T("Addresses or host names with a limit of their own, as host:count, separated by commas."), nullptr},
    {"num.io.threads", Unit::count, 1, {}, nullptr, nullptr, T("Threads that work on requests. One step may at most double or halve them."), nullptr},
    {"num.network.threads", Unit::count, 1, {}, nullptr, nullptr, T("Threads that read and write sockets. One step may at most double or halve them."), nullptr},
    {"num.recovery.threads.per.data.dir", Unit::count, 1, {}, nullptr, nullptr, T("Threads for each log directory that open logs at the start and flush them at the end."), nullptr},
    {"num.replica.fetchers", Unit::count, 1, {}, nullptr, nullptr, T("Threads that copy from each other broker. One step may at most double or halve them."), nullptr},
    {"producer.id.expiration.ms", Unit::duration, 1, {}, nullptr, nullptr, T("How long a partition remembers an idle producer, so that its repetitions are recognised."),
     T("A producer that was away for longer may write a record twice.")},
    {"transaction.partition.verification.enable", Unit::none, {}, {}, nullptr, kYesNo, T("Whether the broker asks the transaction coordinator before it takes a transactional batch."), nullptr},
    // --- groups
    {"consumer.assignment.interval.ms", Unit::duration, 0, {}, nullptr, nullptr, T("The shortest time between two assignments of a group of the consumer protocol."), nullptr},
    {"consumer.heartbeat.interval.ms", Unit::duration, 1, {}, nullptr, nullptr, T("How often members of the consumer protocol report to the coordinator."),
     T("Longer makes the group slower to notice changes.")},
    {"consumer.session.timeout.ms", Unit::duration, 1, {}, nullptr, nullptr, T("After how long without a heartbeat a member of the consumer protocol is taken for dead."),
     T("Shorter throws out members that only pause; longer leaves partitions unread when one dies.")},
    {"errors.deadletterqueue.copy.record.enable", Unit::none, {}, {}, nullptr, kYesNo, T("Whether the dead letter queue gets the records themselves, or only where they were."), nullptr},
    {"errors.deadletterqueue.topic.name", Unit::none, {}, {}, nullptr, nullptr, T("The topic for records that a share group gave up. Empty: they are only given up."), nullptr},
    {"share.assignment.interval.ms", Unit::duration, 0, {}, nullptr, nullptr, T("The shortest time between two assignments of a share group."), nullptr},
    {"share.auto.offset.reset", Unit::none, {}, {}, nullptr, nullptr, T("Where a share group begins in a topic that it has not read: earliest, latest, or by_duration:P1D."), nullptr},
    {"share.delivery.count.limit", Unit::count, 2, {}, nullptr, nullptr, T("How often a record is delivered before a share group gives it up."),
     T("With few deliveries a record that failed by chance is given up as well.")},
    {"share.heartbeat.interval.ms", Unit::duration, 1, {}, nullptr, nullptr, T("How often members of a share group report to the coordinator."), nullptr},
    {"share.isolation.level", Unit::none, {}, {}, nullptr, "read_uncommitted,read_committed", T("Whether a share group sees records of transactions that are open or were aborted."), nullptr},
    {"share.partition.max.record.locks", Unit::count, 100, {}, nullptr, nullptr, T("How many records of one partition a share group may hold without an answer."), nullptr},
    {"share.record.lock.duration.ms", Unit::duration, 1000, {}, nullptr, nullptr, T("How long a record belongs to the member that took it before another one may get it."),
     T("Shorter than the work on a record means that it is done twice.")},
    {"share.renew.acknowledge.enable", Unit::none, {}, {}, nullptr, kYesNo, T("Whether a member may keep a record for longer by asking."), nullptr},
    {"share.session.timeout.ms", Unit::duration, 1, {}, nullptr, nullptr, T("After how long without a heartbeat a member of a share group is taken for dead."), nullptr},
    {"streams.assignment.interval.ms", Unit::duration, 0, {}, nullptr, nullptr, T("The shortest time between two assignments of a streams group."), nullptr},
    {"streams.heartbeat.interval.ms", Unit::duration, 1, {}, nullptr, nullptr, T("How often members of a streams group report to the coordinator."), nullptr},
    {"streams.initial.rebalance.delay.ms", Unit::duration, 0, {}, nullptr, nullptr, T("How long a new streams group waits for more members before it gives out tasks."), nullptr},
    {"streams.num.standby.replicas", Unit::count, 0, {}, nullptr, nullptr, T("How many copies of each task's state other members of a streams group keep warm."), nullptr},
    {"streams.session.timeout.ms", Unit::duration, 1, {}, nullptr, nullptr, T("After how long without a heartbeat a member of a streams group is taken for dead."), nullptr},
    // --- brokers, given at their start
    {"advertised.listeners", Unit::none, {}, {}, nullptr, nullptr, T("The addresses that clients are told to connect to. They have to work from where the clients run."), nullptr},
    {"auto.create.topics.enable", Unit::none, {}, {}, nullptr, nullptr, T("Whether a topic that nobody has created begins to exist when a client asks for it."), nullptr},
    {"broker.heartbeat.interval.ms", Unit::duration, {}, {}, nullptr, nullptr, T("How often a broker tells the controller that it is alive."), nullptr},
    {"broker.id", Unit::none, {}, {}, nullptr, nullptr, T("The number of this broker; the same as node.id."), nullptr},
    {"broker.session.timeout.ms", Unit::duration, {}, {}, nullptr, nullptr, T("How long the controller waits for a broker's heartbeat. Then it is fenced: it leads nothing until it is heard of again."), nullptr},
    {"controller.listener.names", Unit::none, {}, {}, nullptr, nullptr, T("Which listeners the controllers use among themselves."), nullptr},
    {"controller.quorum.bootstrap.servers", Unit::none, {}, {}, nullptr, nullptr, T("Where a node first asks for the controllers."), nullptr},
    {"controller.quorum.election.timeout.ms", Unit::duration, {}, {}, nullptr, nullptr, T("How long a candidate waits for votes before it tries again."), nullptr},
    {"controller.quorum.fetch.timeout.ms", Unit::duration, {}, {}, nullptr, nullptr, T("How long a controller hears nothing from the leader before it stands for election itself."), nullptr},
    {"controller.quorum.voters", Unit::none, {}, {}, nullptr, nullptr, T("The controllers that vote, where their set is fixed: id@host:port."), nullptr},
    {"default.replication.factor", Unit::count, {}, {}, nullptr, nullptr, T("How many replicas a topic has whose creator names no number."), nullptr},
    {"group.initial.rebalance.delay.ms", Unit::duration, {}, {}, nullptr, nullptr, T("How long a new group waits for more members before it assigns partitions."), nullptr},
    {"listener.security.protocol.map", Unit::none, {}, {}, nullptr, nullptr, T("Which protocol each listener speaks."), nullptr},
    {"listeners", Unit::none, {}, {}, nullptr, nullptr, T("The addresses on which the broker listens."), nullptr},
    {"log.dir", Unit::none, {}, {}, nullptr, nullptr, T("The folder for records, where log.dirs names none."), nullptr},
    {"log.dirs", Unit::none, {}, {}, nullptr, nullptr, T("The folders in which the broker keeps its records."), nullptr},
    {"node.id", Unit::none, {}, {}, nullptr, nullptr, T("The number of this node; no two of a cluster have the same."), nullptr},
    {"num.partitions", Unit::count, {}, {}, nullptr, nullptr, T("How many partitions a topic has whose creator names no number."), nullptr},
    {"offsets.topic.num.partitions", Unit::count, {}, {}, nullptr, nullptr, T("Partitions of the topic in which groups keep their positions. Fixed once that topic exists."), nullptr},
    {"offsets.topic.replication.factor", Unit::count, {}, {}, nullptr, nullptr, T("Replicas of the topic in which groups keep their positions."), nullptr},
    {"process.roles", Unit::none, {}, {}, nullptr, nullptr, T("What the node is: a broker that keeps records, a controller that keeps the metadata, or both."), nullptr},
    {"replica.lag.time.max.ms", Unit::duration, {}, {}, nullptr, nullptr, T("A replica that has not caught up for so long leaves the in-sync set."), nullptr},
};
#undef T

constexpr std::string_view kOneBroker[] = {"cordoned.log.dirs", "listener.security.protocol.map", "listeners", "principal.builder.class"};

}  // namespace

std::string_view topic_key_of(std::string_view broker_key) {
  const auto at = std::find_if(std::begin(kTopicKeys), std::end(kTopicKeys), [&](const auto& pair) { return pair.first == broker_key; });
  return at == std::end(kTopicKeys) ? std::string_view() : at->second;
}

std::string in_unit_of(std::string_view broker_key, std::string_view other, const std::string& value) {
  const auto at = std::find_if(std::begin(kCoarser), std::end(kCoarser),
                               [&](const Coarser& name) { return name.key == broker_key && name.other == other; });
  std::int64_t number = 0;
  const char* const end = value.data() + value.size();
  if (at == std::end(kCoarser) || at->times == 1 || std::from_chars(value.data(), end, number).ptr != end || value.empty()) {
    return value;
  }
  return std::to_string(number < 0 ? number : number * at->times);  // below 0 is without end in every unit
}

std::optional<std::string> topic_standard(std::string_view topic_key, const ValueOfBroker& of_broker) {
  const auto broker_key =
      std::find_if(std::begin(kTopicKeys), std::end(kTopicKeys), [&](const auto& pair) { return pair.second == topic_key; });
  if (broker_key == std::end(kTopicKeys)) {
    const auto alone = std::find_if(std::begin(kTopicsAlone), std::end(kTopicsAlone), [&](const auto& pair) { return pair.first == topic_key; });
    return alone == std::end(kTopicsAlone) ? std::nullopt : std::optional<std::string>(alone->second);
  }
  if (std::optional<std::string> value = of_broker(std::string(broker_key->first))) {
    return value;
  }
  for (const Coarser& name : kCoarser) {
    if (name.key == broker_key->first) {
      if (const std::optional<std::string> value = of_broker(std::string(name.other))) {
        return in_unit_of(name.key, name.other, *value);
      }
    }
  }
  return std::nullopt;
}

const ConfigRule* broker_or_group_rule(std::string_view name) {
  const auto at = std::find_if(std::begin(kRules), std::end(kRules), [&](const ConfigRule& rule) { return name == rule.name; });
  return at == std::end(kRules) ? nullptr : at;
}

bool one_broker_only(std::string_view broker_key) {
  return broker_key.rfind("ssl.", 0) == 0 || broker_key.rfind("sasl.", 0) == 0 || broker_key.rfind("listener.name.", 0) == 0 ||
         std::find(std::begin(kOneBroker), std::end(kOneBroker), broker_key) != std::end(kOneBroker);
}

}  // namespace hw::ui
