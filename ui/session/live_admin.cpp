// SPDX-License-Identifier: Apache-2.0
// LiveSession: configurations, logs, groups and built-in consumers. Questions go over a real connection, as any
// administrator's do; only what no client can ask (segments, batches) is read from the node itself.
#include <QMetaObject>
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "engine/node/client_admin.h"
#include "engine/node/client_runner.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/record/record_iterator.h"
#include "ui/session/batch_reader.h"
#include "ui/session/demo_traffic.h"
#include "ui/session/live_consumers.h"
#include "ui/session/live_session.h"

namespace hw::ui {

namespace {

QString in_words(const Error& error) { return QString::fromStdString(error.detail); }
QString in_words(const std::optional<Error>& error) { return error ? in_words(*error) : QString(); }

node::Resource resource_of(const ConfigResource& resource) {
  node::Resource made;
  switch (resource.kind) {
    case ConfigResource::Kind::topic:
      made.type = node::ResourceType::topic;
      break;
    case ConfigResource::Kind::broker:
      made.type = node::ResourceType::broker;
      break;
    case ConfigResource::Kind::group:
      made.type = node::ResourceType::group;
      break;
  }
  made.name = resource.name;
  return made;
}

ConfigRow row_of(node::ConfigValue& value) {
  ConfigRow row;
  row.name = std::move(value.name);
  row.value = std::move(value.value);
  row.source = static_cast<ConfigSource>(value.source);
  row.type = static_cast<ConfigType>(value.type);
  row.read_only = value.read_only;
  row.sensitive = value.sensitive;
  for (node::ConfigValue::Synonym& synonym : value.synonyms) {
    row.synonyms.push_back({std::move(synonym.name), std::move(synonym.value), static_cast<ConfigSource>(synonym.source)});
  }
  return row;
}

node::TopicPartitionName name_of(const PartitionName& partition) { return {partition.topic, partition.partition}; }
PartitionName name_of(const node::TopicPartitionName& partition) { return {partition.topic, partition.partition}; }

PartitionResult result_of(const node::DeletedRecords& row) { return {name_of(row.partition), row.low_watermark, -1, in_words(row.error)}; }
PartitionResult result_of(const node::FoundOffset& row) { return {name_of(row.partition), row.offset, row.timestamp, in_words(row.error)}; }
PartitionResult result_of(const node::PartitionResult& row) { return {name_of(row.partition), -1, -1, in_words(row.error)}; }

// Tells `done` on the thread of `session`.
template <typename Row>
auto rows_to(QObject* session, std::function<void(OffsetsAnswer)> done) {
  return [session, done = std::move(done)](const Result<std::vector<Row>>& result) {
    OffsetsAnswer answer;
    if (!result) {
      answer.error = in_words(result.error());
    } else {
      std::transform(result->begin(), result->end(), std::back_inserter(answer.rows), [](const Row& row) { return result_of(row); });
    }
    QMetaObject::invokeMethod(session, [done, answer] { done(answer); }, Qt::QueuedConnection);
  };
}

// Records of one batch at or above `start`.
std::int64_t readable(const Bytes& bytes, const wire::BatchView& batch, std::int64_t start) {
  const std::int64_t base = batch.base_offset().value();
  if (base >= start) {
    return batch.count();
  }
  const auto position = static_cast<std::size_t>(batch.span().data() - bytes.data());
  Result<wire::RecordIterator> records = wire::RecordIterator::open(bytes.slice(position, batch.size()));
  if (!records) {
    return 0;
  }
  std::int64_t count = 0;
  wire::RecordView record;
  while (records->next(record)) {
    count += record.offset.value() >= start ? 1 : 0;
  }
  return count;
}

}  // namespace

// Walks over the logs of a topic's partitions, a piece at a time, on the batch reader's own thread.
struct LiveSession::LogWalk : std::enable_shared_from_this<LiveSession::LogWalk> {
  LiveSession* session = nullptr;  // its destructor waits for the reader
  std::shared_ptr<BatchReader> reader;
  std::string topic;
  std::int64_t bytes_left = 0;
  std::int32_t partition = 0;
  std::int32_t partitions = 0;
  std::int64_t from = 0;
  bool whole = true;
  QString error;
  std::function<void(const Bytes& bytes, const wire::BatchView& batch, std::int64_t log_start)> on_batch;
  std::function<void(const BatchAnswer& answer)> on_partition;  // after its last batch
  std::function<void()> done;                                   // on the UI thread

  void finish() {
    QMetaObject::invokeMethod(session, [self = shared_from_this()] { self->done(); }, Qt::QueuedConnection);
  }
  void next() {
    constexpr std::int32_t kPieceBytes = 4 * 1024 * 1024;
    whole = bytes_left > 0 || partition >= partitions;
    if (partition >= partitions || bytes_left <= 0) {
      finish();
      return;
    }
    reader->read({topic, partition, from, kPieceBytes, false}, [self = shared_from_this()](const BatchAnswer& answer) { self->take(answer); });
  }
  void take(const BatchAnswer& answer) {
    if (!answer.error.isEmpty()) {
      error = answer.error;
      finish();
      return;
    }
    wire::BatchCursor cursor(answer.bytes.span());
    wire::BatchView batch;
    std::int64_t reached = -1;
    while (cursor.next(batch)) {
      on_batch(answer.bytes, batch, answer.log_start_offset);
      reached = batch.next_offset().value();
    }
    bytes_left -= static_cast<std::int64_t>(answer.bytes.size());
    if (reached < 0 || reached >= answer.high_watermark) {
      on_partition(answer);
      ++partition;
      from = 0;
    } else {
      from = reached;
    }
    next();
  }
};

bool LiveSession::asks() const { return running_ && !busy_; }

void LiveSession::describeConfigs(const ConfigResource& resource, std::function<void(ConfigAnswer)> done) {
  if (!asks()) {
    done({tr("The cluster is not running."), {}});
    return;
  }
  node::AdminQuestions(*clients_, cluster_->bootstrap_list())
      .describe_configs({{resource_of(resource), std::nullopt}}, true, false,
                        [this, done = std::move(done)](Result<std::vector<node::ResourceConfigs>> result) {
                          auto answer = std::make_shared<ConfigAnswer>();
                          if (!result) {
                            answer->error = in_words(result.error());
                          } else if (result->empty()) {
                            answer->error = tr("The broker answered nothing.");
                          } else {
                            answer->error = in_words(result->front().error);
                            for (node::ConfigValue& value : result->front().configs) {
                              answer->rows.push_back(row_of(value));
                            }
                          }
                          QMetaObject::invokeMethod(this, [done, answer] { done(std::move(*answer)); }, Qt::QueuedConnection);
                        });
}

void LiveSession::alterConfigs(const ConfigResource& resource, const std::vector<ConfigChange>& changes,
                               bool validate_only, std::function<void(QString error)> done) {
  if (!asks()) {
    done(tr("The cluster is not running."));
    return;
  }
  node::ResourceChange change{resource_of(resource), {}};
  for (const ConfigChange& each : changes) {
    change.changes.push_back({each.name,
                              each.value ? node::ConfigChange::Operation::set : node::ConfigChange::Operation::remove,
                              each.value.value_or("")});
  }
  node::AdminQuestions(*clients_, cluster_->bootstrap_list())
      .alter_configs({std::move(change)}, validate_only,
                     [this, done = std::move(done)](const Result<std::vector<node::ResourceResult>>& result) {
                       const QString error = !result          ? in_words(result.error())
                                             : result->empty() ? tr("The broker answered nothing.")
                                                               : in_words(result->front().error);
                       QMetaObject::invokeMethod(this, [done, error] { done(error); }, Qt::QueuedConnection);
                     });
}

// Where segments begin is known from the view; how large and how young they are is read from their batches.
void LiveSession::segments(const std::string& topic, std::function<void(SegmentsAnswer)> done) {
  const observe::TopicView* known = view_->find_topic(topic);
  if (!asks() || known == nullptr) {
    done({known == nullptr ? tr("The topic does not exist any more.") : tr("The cluster is not running."), {}});
    return;
  }
  constexpr std::int64_t kBytesMax = 1LL << 30;
  auto answer = std::make_shared<SegmentsAnswer>();
  for (const auto& partition : known->partitions) {
    PartitionSegments& row = answer->partitions.emplace_back();
    row.partition = static_cast<std::int32_t>(answer->partitions.size()) - 1;
    const observe::ReplicaView* leader = partition == nullptr ? nullptr : partition->replica(partition->leader);
    if (leader != nullptr) {
      for (const Offset base : leader->segments) {
        row.segments.push_back({base.value(), 0, -1});
      }
    }
    if (row.segments.empty()) {
      row.segments.push_back({});
    }
  }
  auto walk = std::make_shared<LogWalk>();
  walk->session = this;
  walk->reader = batches();
  walk->topic = topic;
  walk->bytes_left = kBytesMax;
  walk->partitions = static_cast<std::int32_t>(known->partitions.size());
  LogWalk* const at = walk.get();
  walk->on_batch = [answer, at](const Bytes&, const wire::BatchView& batch, std::int64_t) {
    std::vector<SegmentRow>& segments = answer->partitions[static_cast<std::size_t>(at->partition)].segments;
    const auto behind = std::upper_bound(segments.begin(), segments.end(), batch.base_offset().value(),
                                         [](std::int64_t offset, const SegmentRow& segment) { return offset < segment.base_offset; });
    SegmentRow& segment = behind == segments.begin() ? segments.front() : *std::prev(behind);
    segment.size_bytes += static_cast<std::int64_t>(batch.size());
    segment.largest_timestamp_ms = std::max(segment.largest_timestamp_ms, batch.max_timestamp());
  };
  walk->on_partition = [answer, at](const BatchAnswer& found) {
    PartitionSegments& row = answer->partitions[static_cast<std::size_t>(at->partition)];
    row.log_start_offset = found.log_start_offset;
    row.high_watermark = found.high_watermark;
    row.log_end_offset = found.log_end_offset;
  };
  walk->done = [answer, at, done = std::move(done)] {
    answer->error = !at->error.isEmpty() ? at->error : (at->whole ? QString() : LiveSession::tr("The topic is too large to be looked through."));
    done(std::move(*answer));
  };
  walk->next();
}

void LiveSession::countRecords(const std::string& topic, std::int64_t bytes_max, std::function<void(RecordCount)> done) {
  const observe::TopicView* known = view_->find_topic(topic);
  if (!asks() || known == nullptr) {
    RecordCount none;
    none.error = known == nullptr ? tr("The topic does not exist any more.") : tr("The cluster is not running.");
    done(none);
    return;
  }
  auto total = std::make_shared<RecordCount>();
  auto walk = std::make_shared<LogWalk>();
  walk->session = this;
  walk->reader = batches();
  walk->topic = topic;
  walk->bytes_left = bytes_max;
  walk->partitions = static_cast<std::int32_t>(known->partitions.size());
  walk->on_batch = [total](const Bytes& bytes, const wire::BatchView& batch, std::int64_t log_start) {
    (batch.control() ? total->control : total->records) += readable(bytes, batch, log_start);
    ++total->batches;
  };
  walk->on_partition = [total](const BatchAnswer& found) { total->offsets += found.high_watermark - found.log_start_offset; };
  LogWalk* const at = walk.get();
  walk->done = [total, at, done = std::move(done)] {
    total->error = at->error;
    total->whole = at->whole;
    done(*total);
  };
  walk->next();
}

void LiveSession::deleteRecords(const std::vector<PartitionOffset>& before, std::function<void(OffsetsAnswer)> done) {
  if (!asks()) {
    done({tr("The cluster is not running."), {}});
    return;
  }
  std::vector<node::DeleteBefore> rows;
  for (const PartitionOffset& each : before) {
    rows.push_back({name_of(each.partition), each.offset});
  }
  node::AdminQuestions(*clients_, cluster_->bootstrap_list())
      .delete_records(std::move(rows), rows_to<node::DeletedRecords>(this, std::move(done)));
}

void LiveSession::findOffsets(const std::vector<PartitionName>& partitions, std::int64_t timestamp_ms,
                              std::function<void(OffsetsAnswer)> done) {
  if (!asks()) {
    done({tr("The cluster is not running."), {}});
    return;
  }
  std::vector<node::OffsetQuery> rows;
  for (const PartitionName& each : partitions) {
    rows.push_back({name_of(each), timestamp_ms});
  }
  node::AdminQuestions(*clients_, cluster_->bootstrap_list())
      .list_offsets(std::move(rows), false, rows_to<node::FoundOffset>(this, std::move(done)));
}

void LiveSession::commitGroupOffsets(const std::string& group, const std::vector<PartitionOffset>& offsets,
                                     std::function<void(OffsetsAnswer)> done) {
  if (!asks()) {
    done({tr("The cluster is not running."), {}});
    return;
  }
  std::vector<node::GroupOffset> rows;
  for (const PartitionOffset& each : offsets) {
    node::GroupOffset row;
    row.partition = name_of(each.partition);
    row.offset = each.offset;
    rows.push_back(std::move(row));
  }
  node::AdminQuestions(*clients_, cluster_->bootstrap_list())
      .commit_group_offsets(group, std::move(rows),
                            rows_to<node::PartitionResult>(this, std::move(done)));
}

void LiveSession::deleteGroupOffsets(const std::string& group, const std::vector<PartitionName>& partitions,
                                     std::function<void(OffsetsAnswer)> done) {
  if (!asks()) {
    done({tr("The cluster is not running."), {}});
    return;
  }
  std::vector<node::TopicPartitionName> rows;
  for (const PartitionName& each : partitions) {
    rows.push_back(name_of(each));
  }
  node::AdminQuestions(*clients_, cluster_->bootstrap_list())
      .delete_group_offsets(group, std::move(rows),
                            rows_to<node::PartitionResult>(this, std::move(done)));
}

void LiveSession::deleteGroup(const std::string& group, std::function<void(QString error)> done) {
  if (!asks()) {
    done(tr("The cluster is not running."));
    return;
  }
  node::AdminQuestions(*clients_, cluster_->bootstrap_list())
      .delete_groups({group}, [this, done = std::move(done)](const Result<std::vector<node::GroupResult>>& result) {
        const QString error = !result          ? in_words(result.error())
                              : result->empty() ? tr("The broker answered nothing.")
                                                : in_words(result->front().error);
        QMetaObject::invokeMethod(this, [done, error] { done(error); }, Qt::QueuedConnection);
      });
}

void LiveSession::changeVoter(std::int32_t node, bool voter, std::function<void(QString error)> done) {
  const auto known = voters_.find(BrokerId(node));
  if (!asks() || known == voters_.end()) {
    done(asks() ? tr("Where node %1 listens for controllers is not known.").arg(node) : tr("The cluster is not running."));
    return;
  }
  event::QuorumVotersChanged::Voter who = known->second;
  for (const observe::QuorumView::Tracked& tracked : view_->quorum->tracked) {
    who.directory = tracked.replica == who.id ? tracked.directory : who.directory;  // as it is now, not as it was
  }
  const node::AdminQuestions admin(*clients_, cluster_->bootstrap_list());
  auto answered = [this, done = std::move(done)](const Result<void>& result) {
    const QString error = result ? QString() : in_words(result.error());
    QMetaObject::invokeMethod(this, [done, error] { done(error); }, Qt::QueuedConnection);
  };
  if (voter) {
    admin.add_voter(node, who.directory, {{node, "CONTROLLER", who.host, who.port}}, std::move(answered));
  } else {
    admin.remove_voter(node, who.directory, std::move(answered));
  }
}

QStringList LiveSession::consumerAssignors(ConsumerCommand::Protocol protocol) const {
  if (protocol == ConsumerCommand::Protocol::consumer) {
    return {QStringLiteral("uniform"), QStringLiteral("range")};
  }
  return {QStringLiteral("range"), QStringLiteral("roundrobin"), QStringLiteral("sticky"), QStringLiteral("cooperative-sticky")};
}

void LiveSession::addConsumer(const ConsumerCommand& command, std::function<void(QString error)> done) {
  const QString error = asks() ? consumers_->add(command) : tr("The cluster is not running.");
  QMetaObject::invokeMethod(this, [done = std::move(done), error] { done(error); }, Qt::QueuedConnection);
}

bool LiveSession::removeConsumer(const std::string& group) {
  return asks() && consumers_->removeNewest(group);
}

bool LiveSession::rejoinConsumer(const std::string& group) {
  return asks() && consumers_->rejoinNewest(group);
}

std::vector<BuiltInConsumer> LiveSession::consumers() const {
  return consumers_ == nullptr ? std::vector<BuiltInConsumer>() : consumers_->list();
}

}  // namespace hw::ui
