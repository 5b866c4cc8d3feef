// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/support/fake_session.h"

#include <QMetaObject>
#include <QThreadPool>
#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "engine/wire/record/batch_builder.h"
#include "ui/session/record_rows.h"

namespace hw::ui {

namespace {

constexpr ConnectionId kProducer{1};
constexpr ConnectionId kConsumer1{2};
constexpr ConnectionId kConsumer2{3};
constexpr ConnectionId kExternal{17};

}  // namespace

// Made on the session's thread, told on one of its own, as a real reader does.
class FakeSession::Batches final : public BatchReader, public std::enable_shared_from_this<FakeSession::Batches> {
 public:
  explicit Batches(FakeSession* session) : session_(session), pool_(std::make_unique<QThreadPool>()) {
    pool_->setMaxThreadCount(1);
  }
  void shutdown() {
    std::unique_ptr<QThreadPool> pool;
    {
      const std::lock_guard lock(mutex_);
      session_ = nullptr;
      pool = std::move(pool_);
    }
    pool->waitForDone();
  }
  void read(const BatchQuery& query, std::function<void(BatchAnswer)> done) override {
    const std::lock_guard lock(mutex_);
    if (session_ == nullptr) {
      return;
    }
    QMetaObject::invokeMethod(
        session_,
        [self = shared_from_this(), session = session_, query, done = std::move(done)] {
          auto answer = std::make_shared<BatchAnswer>(session->storedBatches(query));
          const std::lock_guard guard(self->mutex_);
          if (self->pool_ != nullptr) {
            self->pool_->start([done, answer] { done(std::move(*answer)); });
          }
        },
        Qt::QueuedConnection);
  }

 private:
  std::mutex mutex_;
  FakeSession* session_;
  std::unique_ptr<QThreadPool> pool_;
};

FakeSession::~FakeSession() { batch_reader_->shutdown(); }

std::shared_ptr<BatchReader> FakeSession::batches() {
  return batches_available_ ? std::static_pointer_cast<BatchReader>(batch_reader_) : nullptr;
}

BatchAnswer FakeSession::storedBatches(const BatchQuery& query) const {
  BatchAnswer answer;
  const auto it = topics_.find(query.topic);
  if (it == topics_.end() || static_cast<std::size_t>(query.partition) >= it->second.partitions.size()) {
    answer.error = QStringLiteral("UNKNOWN_TOPIC_OR_PARTITION");
    return answer;
  }
  const Partition& p = it->second.partitions[static_cast<std::size_t>(query.partition)];
  answer.high_watermark = p.end;
  answer.last_stable_offset = p.end;
  answer.log_end_offset = p.end;
  answer.log_start_offset = p.rows.empty() ? p.end : p.rows.front().offset;
  ByteBuilder out(1'024);
  const auto first = std::lower_bound(p.rows.begin(), p.rows.end(), query.from_offset,
                                      [](const RecordRow& row, std::int64_t offset) { return row.offset < offset; });
  for (auto at = first; at != p.rows.end() && (out.size() == 0 || static_cast<std::int32_t>(out.size()) < query.max_bytes); ++at) {
    const RecordRow& row = *at;
    wire::BatchOptions options;
    options.base_offset = Offset(row.offset);
    options.leader_epoch = LeaderEpoch(row.leader_epoch);
    options.producer_id = ProducerId(row.producer_id);
    options.producer_epoch = ProducerEpoch(row.producer_epoch);
    options.base_sequence = row.base_sequence;
    options.transactional = row.transactional;
    options.control = row.control;
    if (const auto codec = wire::parse_compression(row.compression); codec) {
      options.compression = *codec;
    }
    std::vector<wire::HeaderIn> headers;
    for (const auto& [name, value] : row.headers) {
      headers.push_back({name, value ? std::optional<ByteSpan>(value->span()) : std::nullopt});
    }
    wire::RecordIn record;
    record.key = row.key ? std::optional<ByteSpan>(row.key->span()) : std::nullopt;
    record.value = row.value ? std::optional<ByteSpan>(row.value->span()) : std::nullopt;
    record.headers = headers;
    record.timestamp_ms = row.timestamp_ms;
    wire::BatchBuilder builder(options);
    builder.append(record);
    out.append(builder.finish().span());
  }
  answer.bytes = out.finish();
  return answer;
}

std::int64_t FakeSession::appendRecord(const std::string& topic, std::int32_t partition, RecordRow row) {
  const std::int64_t offset = append(topic, partition, std::move(row), kProducer);
  tick(0);
  return offset;
}

FakeSession::FakeSession(const Options& options, QObject* parent)
    : Session(parent), options_(options), now_ms_(options.start_ms), traffic_(options.demo) {
  batch_reader_ = std::make_shared<Batches>(this);
  connect(&clock_, &QTimer::timeout, this, [this] { tick(clock_.interval()); });
  for (int i = 1; i <= options_.nodes; ++i) {
    const BrokerId id(i);
    auto node = std::make_shared<observe::NodeView>();
    node->id = id;
    node->host = "localhost";
    node->port = static_cast<std::uint16_t>(9091 + i);
    node->state = observe::NodeView::State::running;
    node->since = WallTime{now_ms_};
    node_counters_[id] = std::make_shared<event::NodeCounters>();
    node->counters = node_counters_[id];
    nodes_[id] = node;
    remember(id, event::NodeStarted{id, "localhost", node->port, true, true, "pHDb4LMTSlqDpTiC0rcXyg", "", node->counters});
    remember(id, event::NodeReady{id});
  }
  remember(BrokerId(1), event::ControllerElected{BrokerId(1), 1});
  if (options_.demo) {
    addTopic("demo.orders", 3, {});
    addTopic("orders-state", 6, {{"cleanup.policy", "compact"}});
    addTopic("__consumer_offsets", 4, {{"cleanup.policy", "compact"}}, true);
    connectClient(kProducer.value(), "demo-producer", "highwater", "0.1.0");
    connectClient(kConsumer1.value(), "demo-consumer-1", "highwater", "0.1.0");
    connectClient(kConsumer2.value(), "demo-consumer-2", "highwater", "0.1.0");
    remember(BrokerId(1), event::GroupStateChanged{"demo.billing", "PreparingRebalance", 0, "range", "member joined"});
    remember(BrokerId(1), event::GroupStateChanged{"demo.billing", "Stable", 1, "range", ""});
  }
  for (int i = 0; i < options_.more_topics; ++i) {
    addTopic("bulk-" + std::to_string(i), 10, {});
  }
  if (options_.demo) {
    addDemoGroup(kConsumer1, kConsumer2);
  }
  for (int i = 0; i < options_.more_groups; ++i) {
    const std::string topic = options_.more_topics > 0 ? "bulk-" + std::to_string(i % options_.more_topics) : "demo.orders";
    setGroup("group-" + std::to_string(i), topic, 2);
  }
  if (options_.external) {
    connectClient(kExternal.value(), "app-17", "apache-kafka-java", "4.4.0");
  }
  publish();
}

std::shared_ptr<event::ConnectionCounters> FakeSession::connectClient(std::uint64_t number, const std::string& client,
                                                                      const std::string& software,
                                                                      const std::string& version) {
  const ConnectionId id(number);
  auto counters = std::make_shared<event::ConnectionCounters>();
  counters->note_request(18, 4);
  counters->note_request(3, 13);
  counters->requests.set(2);
  auto view = std::make_shared<observe::ConnectionView>();
  view->id = id;
  view->node = BrokerId(1);
  view->peer = "127.0.0.1:" + std::to_string(40000 + number);
  view->client_id = client;
  view->software_name = software;
  view->software_version = version;
  view->opened_at = WallTime{now_ms_};
  view->counters = counters;
  connections_.push_back(view);
  connection_counters_.push_back(counters);
  remember(BrokerId(1), event::ConnectionOpened{id, view->peer, counters});
  remember(BrokerId(1), event::ClientIdentified{id, client, software, version});
  return counters;
}

void FakeSession::closeConnection(std::uint64_t connection, std::function<void(QString error)> done) {
  const QString error = takeError();
  if (error.isEmpty()) {
    closed_.push_back(connection);
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      if (connections_[i]->id.value() == connection) {
        connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(i));
        connection_counters_.erase(connection_counters_.begin() + static_cast<std::ptrdiff_t>(i));
        remember(BrokerId(1), event::ConnectionClosed{ConnectionId(connection), "by hand, from the window"});
        break;
      }
    }
    publish();
    Q_EMIT frameReady();
  }
  answer([error, done = std::move(done)] { done(error); });
}

void FakeSession::checkListener(const QString& host, std::uint16_t port, std::function<void(ListenerCheck)> done) {
  ListenerCheck check;
  check.outcome = ListenerCheck::Outcome::refused;
  const auto found = checks_.find(QStringLiteral("%1:%2").arg(host).arg(port));
  if (found != checks_.end()) {
    check = found->second;
  } else if (host == listener_.advertised_host && port == listener_.port) {
    check.outcome = ListenerCheck::Outcome::speaks_kafka;
    check.addresses << QStringLiteral("127.0.0.1");
  }
  answer([check, done = std::move(done)] { done(check); });
}

void FakeSession::addTopic(const std::string& name, int partitions,
                           std::map<std::string, std::string, std::less<>> configs, bool internal) {
  Topic topic;
  topic.id = Uuid{0x1234'5678'0000'0000ULL + topics_.size() + version_ * 1000, 42};
  topic.internal = internal;
  topic.configs = std::move(configs);
  remember(BrokerId(1), event::TopicCreated{topic.id, name, internal});
  for (int p = 0; p < partitions; ++p) {
    Partition partition;
    for (int r = 0; r < options_.nodes && r < 3; ++r) {
      partition.assignment.emplace_back((p + r) % options_.nodes + 1);
      partition.replicas.push_back(std::make_shared<event::ReplicaCounters>());
      partition.replicas.back()->segments.set(1);
    }
    partition.committed = std::make_shared<event::CommittedCounters>();
    topic.partitions.push_back(std::move(partition));
  }
  topics_[name] = std::move(topic);
}

void FakeSession::remember(BrokerId node, event::Any event) {
  recent_.push_back({++event_number_, node, WallTime{now_ms_}, std::make_shared<const event::Any>(std::move(event))});
  if (recent_.size() > observe::ClusterView::kRecentMax) {
    recent_.erase(recent_.begin());
  }
}

std::int64_t FakeSession::append(const std::string& name, std::int32_t index, RecordRow row, ConnectionId connection) {
  Topic& topic = topics_[name];
  Partition& p = topic.partitions[static_cast<std::size_t>(index)];
  const std::int64_t offset = p.end++;
  row.partition = index;
  row.offset = offset;
  row.timestamp_ms = now_ms_;
  row.batch_base_offset = offset;
  row.batch_records = 1;
  row.leader_epoch = 0;
  if (row.compression.empty()) {
    row.compression = "none";
  }
  row.value_size = row.value ? static_cast<std::int64_t>(row.value->size()) : -1;
  row.batch_size_bytes = static_cast<std::int32_t>(68 + (row.key ? row.key->size() : 0) + (row.value ? row.value->size() : 0));
  row.crc = 0x5c7a119eU + static_cast<std::uint32_t>(offset);
  const BrokerId leader = p.assignment.front();
  for (const auto& replica : p.replicas) {
    const bool online = nodes_[p.assignment[static_cast<std::size_t>(&replica - p.replicas.data())]]->state ==
                        observe::NodeView::State::running;
    if (!online) {
      continue;
    }
    replica->log_end_offset.set(p.end);
    replica->size_bytes.add(row.batch_size_bytes);
    replica->records_in.add(1);  // into its log, whoever it came from
    replica->bytes_in.add(row.batch_size_bytes);
  }
  event::NodeCounters& node = *node_counters_[leader];
  node.records_in.add(1);
  node.bytes_in.add(row.batch_size_bytes);
  node.requests.add(1);
  event::BatchAppended batch{leader, topic.id, PartitionIndex(index), Offset(offset), Offset(offset),
                             row.batch_size_bytes, connection, -1, {}};
  if (row.key) {
    batch.key_size = static_cast<std::int16_t>(row.key->size());
    std::memcpy(batch.key_head.data(), row.key->data(), std::min<std::size_t>(8, row.key->size()));
  }
  if (batches_.size() < observe::ClusterView::kBatchesMax) {
    batches_.push_back({++event_number_, leader, WallTime{now_ms_}, batch});
  }
  if (offset > 0 && offset % 400 == 0) {
    p.segments.push_back(Offset(offset));
    for (const auto& replica : p.replicas) {
      replica->segments.set(static_cast<std::int64_t>(p.segments.size()));
    }
    remember(leader, event::SegmentRolled{leader, topic.id, PartitionIndex(index), Offset(offset)});
  }
  p.rows.push_back(std::move(row));
  if (p.rows.size() > kRowsKept) {
    p.rows.pop_front();
  }
  return offset;
}

void FakeSession::tick(int ms) {
  now_ms_ += ms;
  elapsed_ms_ += ms;
  batches_.clear();
  fetches_.clear();
  static constexpr char kKeys[] = "ABCDEF";
  static constexpr std::int32_t kHome[] = {0, 1, 0, 2, 2, 1};
  const auto produce_one = [&](ConnectionId connection) {
    const std::size_t k = static_cast<std::size_t>(produced_ * 7 / 3) % 6;
    RecordRow row;
    if (produced_ % 17 != 16) {
      row.key = Bytes::copy_of(std::string_view(&kKeys[k], 1));
    }
    if (produced_ % 29 == 28) {
      row.value = std::nullopt;
    } else if (produced_ % 31 == 30) {
      row.value = Bytes::copy_of("");
    } else {
      row.value = Bytes::copy_of("{\"id\":" + std::to_string(1000 + produced_) + ",\"item\":\"tea\",\"amount\":" +
                                 std::to_string(produced_ % 90 + 10) + "}");
    }
    if (produced_ % 5 == 0) {
      row.headers.emplace_back("trace", Bytes::copy_of("ab" + std::to_string(produced_)));
    }
    append("demo.orders", kHome[k], std::move(row), connection);
    ++produced_;
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      if (connections_[i]->id == connection) {
        connection_counters_[i]->requests.add(1);
        connection_counters_[i]->note_request(0, 13);
        connection_counters_[i]->bytes_in.add(140);
      }
    }
  };
  if (topics_.count("demo.orders") != 0) {
    if (traffic_) {
      owed_ += 4.0 * ms / 1000.0;
      for (; owed_ >= 1.0; owed_ -= 1.0) {
        produce_one(options_.external && produced_ % 3 == 0 ? kExternal : kProducer);
      }
    }
    owed_load_ += static_cast<double>(load_) * ms / 1000.0;
    for (; owed_load_ >= 1.0; owed_load_ -= 1.0) {
      produce_one(kProducer);
    }
  }
  for (auto& [name, topic] : topics_) {
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      Partition& p = topic.partitions[i];
      std::int64_t hw = p.end;
      for (std::size_t r = 0; r < p.replicas.size(); ++r) {
        hw = std::min(hw, p.replicas[r]->log_end_offset.get());
      }
      for (const auto& replica : p.replicas) {
        replica->high_watermark.set(hw);
        replica->last_stable_offset.set(hw);
      }
      // The demo group reads what is committed and commits three offsets behind the end on the busiest partition.
      if (name == "demo.orders" && traffic_) {
        const std::int64_t wanted = std::max<std::int64_t>(0, hw - (i == 2 ? 3 : 0));
        const std::int64_t before = std::max<std::int64_t>(0, p.committed->offset.get());
        if (wanted > before) {
          const BrokerId leader = p.assignment.front();
          p.committed->offset.set(wanted);
          node_counters_[leader]->records_out.add(wanted - before);
          node_counters_[leader]->bytes_out.add((wanted - before) * 110);
          p.replicas.front()->records_out.add(wanted - before);
          p.replicas.front()->bytes_out.add((wanted - before) * 110);
          fetches_.push_back({++event_number_, leader, WallTime{now_ms_},
                              event::RecordsFetched{leader, topic.id, PartitionIndex(static_cast<std::int32_t>(i)),
                                                    Offset(before), (wanted - before) * 110,
                                                    i == 2 ? kConsumer2 : kConsumer1}});
        }
      }
    }
  }
  publish();
  Q_EMIT frameReady();
}

void FakeSession::startClock(int interval_ms) { clock_.start(interval_ms); }

void FakeSession::sendEmptyFrame() { Q_EMIT frameReady(); }

void FakeSession::stopNode(std::int32_t node, const std::string& why) {
  auto copy = std::make_shared<observe::NodeView>(*nodes_[BrokerId(node)]);
  copy->state = why.empty() ? observe::NodeView::State::stopped : observe::NodeView::State::killed;
  copy->since = WallTime{now_ms_};
  copy->why = why;
  nodes_[BrokerId(node)] = copy;
  quorum_changed_ = true;
  remember(BrokerId(node), event::NodeStopped{BrokerId(node), why.empty(), why});
  publish();
  Q_EMIT frameReady();
}

std::int64_t FakeSession::records(const std::string& topic, std::int32_t partition) const {
  const auto it = topics_.find(topic);
  return it == topics_.end() ? 0 : it->second.partitions[static_cast<std::size_t>(partition)].end;
}

std::shared_ptr<const observe::TopicView> FakeSession::topicView(const std::string& name, const Topic& topic) const {
  auto view = std::make_shared<observe::TopicView>();
  view->name = name;
  view->id = topic.id;
  view->internal = topic.internal;
  view->configs = topic.configs;
  for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
    const Partition& p = topic.partitions[i];
    auto pv = std::make_shared<observe::PartitionView>();
    pv->topic_id = topic.id;
    pv->index = PartitionIndex(static_cast<std::int32_t>(i));
    pv->leader = p.assignment.front();
    pv->changed_at = WallTime{options_.start_ms};
    for (std::size_t r = 0; r < p.assignment.size(); ++r) {
      const bool online = nodes_.at(p.assignment[r])->state == observe::NodeView::State::running;
      pv->isr.push_back(p.assignment[r]);
      observe::ReplicaView replica;
      replica.node = p.assignment[r];
      replica.online = online;
      replica.counters = p.replicas[r];
      replica.segments = p.segments;
      pv->replicas.push_back(std::move(replica));
    }
    view->partitions.push_back(pv);
  }
  return view;
}

void FakeSession::setMetadataEnd(std::int64_t offset) {
  metadata_end_ = offset;
  metadata_told_ = true;
  quorum_changed_ = true;
  publish();
  Q_EMIT frameReady();
}

// Every node votes; the first one leads and was elected by the others.
std::shared_ptr<const observe::QuorumView> FakeSession::quorumView() const {
  auto quorum = std::make_shared<observe::QuorumView>();
  quorum->leader =
      nodes_.at(BrokerId(1))->state == observe::NodeView::State::running ? BrokerId(1) : kNoBroker;
  quorum->epoch = 1;
  const auto step = [&](std::int64_t after_ms, event::Any what) {
    quorum->history.push_back({WallTime{options_.start_ms + after_ms}, std::make_shared<const event::Any>(std::move(what))});
  };
  step(0, event::QuorumRoleChanged{BrokerId(1), event::QuorumRole::prospective, event::QuorumCause::no_leader_found, true, 0, kNoBroker});
  step(4, event::QuorumRoleChanged{BrokerId(1), event::QuorumRole::candidate, event::QuorumCause::pre_votes_won, true, 1, kNoBroker});
  for (const auto& [id, node] : nodes_) {
    const bool leads = id == BrokerId(1);
    quorum->voters.push_back({id, {}, node->host, node->port});
    observe::QuorumReplicaView& replica = quorum->replicas[id];
    replica.node = id;
    replica.online = node->state == observe::NodeView::State::running;
    replica.voter = true;
    replica.role = leads ? event::QuorumRole::leader : event::QuorumRole::follower;
    replica.epoch = 1;
    replica.leader = BrokerId(1);
    replica.since = WallTime{options_.start_ms + 9};
    auto log = std::make_shared<event::ReplicaCounters>();
    log->log_end_offset.set(metadata_end_);
    log->high_watermark.set(metadata_end_);
    replica.counters = log;
    if (!leads) {
      auto progress = std::make_shared<event::FollowerCounters>();
      progress->log_end_offset.set(metadata_end_);
      quorum->tracked.push_back({id, {}, progress});
      step(7, event::QuorumVoteCast{id, BrokerId(1), 1, false, true});
    }
  }
  step(9, event::QuorumRoleChanged{BrokerId(1), event::QuorumRole::leader, event::QuorumCause::votes_won, true, 1, BrokerId(1)});
  return quorum;
}

void FakeSession::publish() {
  auto view = std::make_shared<observe::ClusterView>();
  view->version = ++version_;
  view->cluster_id = "pHDb4LMTSlqDpTiC0rcXyg";
  view->controller = BrokerId(1);
  view->controller_epoch = 1;
  for (const auto& [id, node] : nodes_) {
    view->nodes[id] = node;
  }
  view->quorum =
      view_ == nullptr || std::exchange(quorum_changed_, false) ? quorumView() : view_->quorum;
  std::map<std::string, std::shared_ptr<const observe::TopicView>, std::less<>> topics;
  std::map<Uuid, std::string> names;
  for (const auto& [name, topic] : topics_) {
    // Unchanged topics keep their object, as the real reducer does.
    const auto old = view_ == nullptr ? topics.end() : view_->topics->find(name);
    const bool same = view_ != nullptr && old != view_->topics->end() && old->second->id == topic.id &&
                      old->second->partitions.size() == topic.partitions.size() && old->second->configs == topic.configs &&
                      std::equal(topic.partitions.begin(), topic.partitions.end(), old->second->partitions.begin(),
                                 [](const Partition& a, const auto& b) {
                                   return b->replicas.front().segments.size() == a.segments.size();
                                 }) &&
                      std::all_of(old->second->partitions.begin(), old->second->partitions.end(), [&](const auto& pv) {
                        return std::all_of(pv->replicas.begin(), pv->replicas.end(), [&](const auto& r) {
                          return r.online == (nodes_.at(r.node)->state == observe::NodeView::State::running);
                        });
                      });
    topics[name] = same ? old->second : topicView(name, topic);
    names[topic.id] = name;
  }
  view->topics = std::make_shared<const std::map<std::string, std::shared_ptr<const observe::TopicView>, std::less<>>>(
      std::move(topics));
  view->topic_names = std::make_shared<const std::map<Uuid, std::string>>(std::move(names));
  if (view_ != nullptr && !groups_changed_) {
    view->groups = view_->groups;
  } else {
    std::map<std::string, std::shared_ptr<const observe::GroupView>, std::less<>> groups;
    for (const auto& [id, group] : groups_) {
      groups[id] = group.view;
    }
    view->groups =
        std::make_shared<const std::map<std::string, std::shared_ptr<const observe::GroupView>, std::less<>>>(
            std::move(groups));
    groups_changed_ = false;
  }
  std::map<ConnectionId, std::shared_ptr<const observe::ConnectionView>> connections;
  for (const auto& connection : connections_) {
    connections[connection->id] = connection;
  }
  view->connections =
      std::make_shared<const std::map<ConnectionId, std::shared_ptr<const observe::ConnectionView>>>(
          std::move(connections));
  if (view_ != nullptr && !view_->recent->empty() && !recent_.empty() &&
      view_->recent->back().number == recent_.back().number) {
    view->recent = view_->recent;
  } else {
    view->recent = std::make_shared<const std::vector<observe::RecentEvent>>(recent_);
  }
  for (const auto& [id, counters] : node_counters_) {
    counters->connections.set(static_cast<std::int64_t>(id == BrokerId(1) ? connections_.size() : 0));
  }
  view->batches = batches_;
  view->fetches = fetches_;
  view_ = view;
}

QString FakeSession::takeError() {
  QString error;
  error.swap(next_error_);
  return error;
}

void FakeSession::answer(std::function<void()> call) {
  QMetaObject::invokeMethod(this, [call = std::move(call)] { call(); }, Qt::QueuedConnection);
}

void FakeSession::holdReads(bool hold) {
  hold_reads_ = hold;
  for (const auto& read_now : std::exchange(held_, {})) {
    read_now();
  }
}

void FakeSession::read(const ReadQuery& query, std::function<void(ReadAnswer)> done) {
  if (hold_reads_) {
    held_.push_back([this, query, done = std::move(done)] { read(query, done); });
    return;
  }
  ReadAnswer result;
  result.error = takeError();
  if (query.topic == "__cluster_metadata") {  // there, and no record of it is told here
    result.next_offset = result.error.isEmpty() ? query.to_offset : query.from_offset;
    for (std::int64_t at = query.from_offset; metadata_told_ && result.error.isEmpty() && at < query.to_offset; ++at) {
      result.rows.emplace_back().offset = at;
    }
    answer([done = std::move(done), result = std::move(result)] { done(result); });
    return;
  }
  const auto it = topics_.find(query.topic);
  if (it == topics_.end() || static_cast<std::size_t>(query.partition) >= it->second.partitions.size()) {
    result.error = QStringLiteral("UNKNOWN_TOPIC_OR_PARTITION");
  }
  if (result.error.isEmpty()) {
    const Partition& p = it->second.partitions[static_cast<std::size_t>(query.partition)];
    result.high_watermark = p.end;
    result.log_start_offset = 0;
    result.next_offset = query.from_offset;
    std::int32_t bytes = 0;
    for (const RecordRow& row : p.rows) {
      if (row.offset < query.from_offset) {
        continue;
      }
      if (row.offset >= query.to_offset || static_cast<std::int32_t>(result.rows.size()) >= query.max_records ||
          bytes > query.max_bytes) {
        break;
      }
      if (row.control && query.isolation != Isolation::raw) {
        continue;
      }
      bytes += row.batch_size_bytes;
      result.rows.push_back(row);
      result.next_offset = row.offset + 1;
    }
  }
  answer([done = std::move(done), result = std::move(result)] { done(result); });
}

void FakeSession::produce(const ProduceCommand& command, std::function<void(ProduceAnswer)> done) {
  ProduceAnswer result;
  result.error = takeError();
  const auto it = topics_.find(command.topic);
  if (it == topics_.end() && result.error.isEmpty()) {
    result.error = QStringLiteral("UNKNOWN_TOPIC_OR_PARTITION");
  }
  if (result.error.isEmpty()) {
    RecordRow row;
    row.key = command.key;
    row.value = command.value;
    row.headers = command.headers;
    std::int32_t partition = command.partition.value_or(0);
    if (!command.partition && command.key && !command.key->empty()) {
      partition = static_cast<std::int32_t>(static_cast<std::size_t>(command.key->data()[0]) %
                                            it->second.partitions.size());
    }
    result.partition = partition;
    result.offset = append(command.topic, partition, std::move(row), ConnectionId(99));
    tick(0);
  }
  answer([done = std::move(done), result] { done(result); });
}

void FakeSession::createTopic(const CreateTopicCommand& command, std::function<void(QString error)> done) {
  QString error = takeError();
  if (error.isEmpty() && topics_.count(command.name) != 0) {
    error = QStringLiteral("Topic '%1' already exists.").arg(QString::fromStdString(command.name));
  }
  if (error.isEmpty()) {
    addTopic(command.name, command.partitions, {command.configs.begin(), command.configs.end()});
    tick(0);
  }
  answer([done = std::move(done), error] { done(error); });
}

void FakeSession::deleteTopic(const std::string& name, std::function<void(QString error)> done) {
  QString error = takeError();
  const auto it = topics_.find(name);
  if (error.isEmpty() && it == topics_.end()) {
    error = QStringLiteral("UNKNOWN_TOPIC_OR_PARTITION");
  }
  if (error.isEmpty()) {
    const Uuid id = it->second.id;
    topics_.erase(it);
    remember(BrokerId(1), event::TopicDeleted{id, name});
    tick(0);
  }
  answer([done = std::move(done), error] { done(error); });
}

void FakeSession::addPartitions(const std::string& name, std::int32_t total, std::function<void(QString error)> done) {
  QString error = takeError();
  const auto it = topics_.find(name);
  if (error.isEmpty() && it != topics_.end()) {
    while (static_cast<std::int32_t>(it->second.partitions.size()) < total) {
      Partition partition;
      partition.assignment.emplace_back(1);
      partition.replicas.push_back(std::make_shared<event::ReplicaCounters>());
      partition.committed = std::make_shared<event::CommittedCounters>();
      it->second.partitions.push_back(std::move(partition));
    }
    tick(0);
  }
  answer([done = std::move(done), error] { done(error); });
}

void FakeSession::addDemoGroup(ConnectionId first, ConnectionId second) {
  const Topic& orders = topics_["demo.orders"];
  Group& group = groups_["demo.billing"];
  group.topics = {"demo.orders"};
  for (std::size_t i = 0; i < orders.partitions.size(); ++i) {
    group.committed[{"demo.orders", static_cast<std::int32_t>(i)}] = orders.partitions[i].committed;
  }
  publishGroup("demo.billing", [&](observe::GroupView& view) {
    view.state = "Stable";
    view.generation = 1;
    view.protocol = "range";
    view.leader = "demo-consumer-1-6f2c";
    view.members.push_back({"demo-consumer-1-6f2c", "demo-consumer-1", "/127.0.0.1", "", first,
                            {{"demo.orders", PartitionIndex(0)}, {"demo.orders", PartitionIndex(1)}}});
    view.members.push_back({"demo-consumer-2-91ab", "demo-consumer-2", "/127.0.0.1", "", second,
                            {{"demo.orders", PartitionIndex(2)}}});
  });
}

void FakeSession::setDemoTraffic(bool on) { traffic_ = on; }

void FakeSession::keep(const QString& directory, std::function<void(QString error)> done) {
  QString error = takeError();
  if (error.isEmpty()) {
    storage_ = {false, directory};
    tick(0);
  }
  answer([done = std::move(done), error] { done(error); });
}

}  // namespace hw::ui
