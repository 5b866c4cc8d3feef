// SPDX-License-Identifier: Apache-2.0
#include "ui/session/live_session.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QMetaObject>
#include <QPointer>
#include <algorithm>
#include <array>
#include <future>
#include <mutex>
#include <utility>

#include "engine/node/client_runner.h"
#include "ui/session/batch_reader.h"
#include "engine/node/listener_probe.h"
#include "ui/session/demo_traffic.h"
#include "ui/session/live_consumers.h"
#include "ui/session/record_rows.h"

namespace hw::ui {

namespace {

constexpr std::array<std::pair<const char*, const char*>, 5> kDemoTimes = {{{"broker.session.timeout.ms", "2000"},
                                                                             {"broker.heartbeat.interval.ms", "500"},
                                                                             {"replica.lag.time.max.ms", "3000"},
                                                                             {"controller.quorum.fetch.timeout.ms", "1500"},
                                                                             {"controller.quorum.election.timeout.ms", "1000"}}};

QString in_words(const Error& error) { return QString::fromStdString(error.detail); }

std::vector<BatchAnswer::Aborted> aborted_of(const api::NodeCore::LocalRead& read) {
  std::vector<BatchAnswer::Aborted> out;
  for (const api::NodeCore::LocalRead::Aborted& gone : read.aborted) {
    out.push_back({gone.producer_id.value(), gone.first_offset.value()});
  }
  return out;
}

// Who answers for a partition: its leader, or without one whoever has a replica that is open.
BrokerId home_of(const observe::ClusterView& view, const std::string& topic, std::int32_t partition) {
  if (topic == kMetadataLog) {
    if (view.quorum->leader != kNoBroker) {
      return view.quorum->leader;
    }
    for (const auto& [id, replica] : view.quorum->replicas) {
      if (replica.online) {
        return id;
      }
    }
  }
  const observe::TopicView* known = view.find_topic(topic);
  const auto index = static_cast<std::size_t>(partition);
  if (known != nullptr && partition >= 0 && index < known->partitions.size() && known->partitions[index]) {
    const observe::PartitionView& at = *known->partitions[index];
    if (at.leader != kNoBroker) {
      return at.leader;
    }
    for (const observe::ReplicaView& replica : at.replicas) {
      if (replica.online && replica.counters) {
        return replica.node;
      }
    }
  }
  return view.nodes.empty() ? kNoBroker : view.nodes.begin()->first;  // it will say what it does not know
}

QString nobody_leads(const std::string& topic, std::int32_t partition, BrokerId node) {
  return QCoreApplication::translate("hw::ui::Session", "Node %1 has %2/%3, and does not run.")
      .arg(node.value())
      .arg(QString::fromStdString(topic))
      .arg(partition);
}

}  // namespace

// The node hands out slices on its own thread; whoever asked goes on with them on a thread of this.
class LiveBatches final : public BatchReader, public std::enable_shared_from_this<LiveBatches> {
 public:
  LiveBatches() : pool_(std::make_unique<QThreadPool>()) { pool_->setMaxThreadCount(1); }
  // Until close() the cluster is there and its nodes stand still.
  void open(node::Cluster* cluster) {
    const std::lock_guard lock(mutex_);
    cluster_ = cluster;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    cluster_ = nullptr;
  }
  // Where partitions are led.
  void setView(observe::ViewPtr view) {
    const std::lock_guard lock(mutex_);
    view_ = std::move(view);
  }
  // For good; waits for what runs. The last owner may be one of those calls, so the pool cannot be waited for later.
  void shutdown() {
    std::unique_ptr<QThreadPool> pool;
    {
      const std::lock_guard lock(mutex_);
      cluster_ = nullptr;
      pool = std::move(pool_);
    }
    pool->waitForDone();
  }
  void read(const BatchQuery& query, std::function<void(BatchAnswer)> done) override {
    const std::lock_guard lock(mutex_);
    if (cluster_ == nullptr) {
      if (pool_ != nullptr) {
        pool_->start([done = std::move(done)] {
          BatchAnswer answer;
          answer.error = QCoreApplication::translate("hw::ui::Session", "The cluster is not running.");
          done(std::move(answer));
        });
      }
      return;
    }
    const BrokerId home = home_of(*view_, query.topic, query.partition);
    const bool asked = cluster_->post(home, [self = shared_from_this(), query, done](api::NodeCore& core, api::Now, api::Outputs&) {
      auto found = std::make_shared<Result<api::NodeCore::LocalRead>>(core.read_local(
          query.topic, PartitionIndex(query.partition), Offset(query.from_offset), query.max_bytes, query.committed));
      self->start([done, found] {
        BatchAnswer answer;
        if (!*found) {
          answer.error = in_words(found->error());
        } else {
          answer.bytes = (*found)->batches.flatten();
          answer.log_start_offset = (*found)->log_start_offset.value();
          answer.high_watermark = (*found)->high_watermark.value();
          answer.last_stable_offset = (*found)->last_stable_offset.value();
          answer.log_end_offset = (*found)->log_end_offset.value();
          answer.aborted = aborted_of(**found);
        }
        done(std::move(answer));
      });
    });
    if (!asked && pool_ != nullptr) {
      pool_->start([query, home, done = std::move(done)] {
        BatchAnswer answer;
        answer.error = nobody_leads(query.topic, query.partition, home);
        done(std::move(answer));
      });
    }
  }

 private:
  void start(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    if (pool_ != nullptr) {
      pool_->start(std::move(work));
    }
  }
  std::mutex mutex_;
  observe::ViewPtr view_ = std::make_shared<const observe::ClusterView>();
  node::Cluster* cluster_ = nullptr;
  std::unique_ptr<QThreadPool> pool_;
};

LiveSession::LiveSession(Options options, QObject* parent)
    : Session(parent),
      options_(std::move(options)),
      wake_pending_(std::make_shared<std::atomic<bool>>(false)),
      view_(std::make_shared<const observe::ClusterView>()) {
  readers_.setMaxThreadCount(1);
  batches_ = std::make_shared<LiveBatches>();
  doctors_.setMaxThreadCount(4);
  operators_.setMaxThreadCount(1);
  options_.cluster.observe = true;
  if (options_.demo) {
    // Kafka waits 3 s for more members before a new group's first generation; a demo shows the group at once.
    options_.cluster.configs.try_emplace("group.initial.rebalance.delay.ms", "0");
    // Members of consumer groups hear of a new assignment with a heartbeat, by default one in 5 s.
    options_.cluster.configs.try_emplace("group.consumer.min.heartbeat.interval.ms", "500");
    options_.cluster.configs.try_emplace("group.consumer.heartbeat.interval.ms", "500");
  }
  if (options_.demo && options_.cluster.nodes > 1) {
    // Who ends a node by hand wants to see what follows now, not after Kafka's usual 9 and 30 s. profile() names them.
    for (const auto& [key, value] : kDemoTimes) {
      options_.cluster.configs.try_emplace(key, value);
    }
  }
  // The empty records that an active controller writes (twice a second by default) would keep an idle window drawing.
  options_.cluster.configs.try_emplace("metadata.max.idle.interval.ms", "5000");
  // One queued call at most is ever on its way; it takes whatever is newest when it arrives.
  options_.cluster.wake = [this, pending = wake_pending_] {
    if (!pending->exchange(true)) {
      QMetaObject::invokeMethod(this, [this] { takeView(); }, Qt::QueuedConnection);
    }
  };
  cluster_ = std::make_unique<node::Cluster>(options_.cluster);
}

LiveSession::~LiveSession() {
  cluster_->interrupt();
  if (starter_.joinable()) {
    starter_.join();
  }
  batches_->shutdown();
  demo_.reset();
  consumers_.reset();
  clients_.reset();
  readers_.waitForDone();
  doctors_.waitForDone();
  closeControl();
  (void)cluster_->stop();
}

void LiveSession::start() {
  starter_ = std::thread([this] {
    Result<void> result = cluster_->start();
    QMetaObject::invokeMethod(
        this,
        [this, result = std::move(result)] {
          starter_.join();
          if (!result) {
            noteTrouble(result.error());
            Q_EMIT startFailed(static_cast<int>(result.error().code), in_words(result.error()));
            return;
          }
          running_ = true;
          batches_->open(cluster_.get());
          clients_ = std::make_unique<node::ClientRunner>();
          const auto replicas = static_cast<std::int16_t>(std::min<std::size_t>(cluster_->size(), 3));
          openControl();
          demo_ = std::make_unique<DemoTraffic>(*clients_, cluster_->bootstrap_list(), replicas);
          consumers_ = std::make_unique<LiveConsumers>(*clients_, cluster_->bootstrap_list(), this, [this] { Q_EMIT frameReady(); });
          if (options_.demo) {
            demo_->start();
          }
          takeView();
          Q_EMIT started();
        },
        Qt::QueuedConnection);
  });
}

void LiveSession::noteTrouble(const Error& error) {
  SessionTrouble trouble;
  trouble.what = tr("The cluster did not start");
  trouble.why = in_words(error);
  trouble.can_retry = true;
  switch (error.code) {
    case Errc::in_use:
      trouble.advice = tr("End the program that has the port, or start Highwater with another one (--port), then try again.");
      break;
    case Errc::locked:
      trouble.advice = tr("Close the Highwater that has this folder open, then try again.");
      break;
    default:
      trouble.advice = tr("Mend what is said above, then try again. The folder was left as it was found.");
      break;
  }
  trouble_ = std::move(trouble);
  Q_EMIT troubleChanged();
}

void LiveSession::retry() {
  if (!trouble_ || running_ || starter_.joinable()) {
    return;
  }
  trouble_.reset();
  cluster_ = std::make_unique<node::Cluster>(options_.cluster);  // nothing of the failed one is left running
  Q_EMIT troubleChanged();
  start();
}

void LiveSession::takeView() {
  wake_pending_->store(false);
  if (cluster_->observer() == nullptr) {
    return;
  }
  const auto before = view_->connections;
  view_ = cluster_->view();
  batches_->setView(view_);
  if (view_->connections != before) {
    noteOwn();
  }
  for (const event::QuorumVotersChanged::Voter& voter : view_->quorum->voters) {
    voters_[voter.id] = voter;
  }
  Q_EMIT frameReady();
}

void LiveSession::noteOwn() {
  for (const auto& [id, node] : view_->nodes) {
    Own& own = own_[id];
    if (own.node != node->counters.get()) {
      own = {};
      own.node = node->counters.get();
    }
  }
  for (const auto& [id, connection] : *view_->connections) {
    if (connection->counters != nullptr && builtIn(*connection)) {
      own_[connection->node].open.try_emplace(id, connection->counters);
    }
  }
  for (auto& [id, own] : own_) {
    std::erase_if(own.open, [this, &own = own](const auto& each) {
      const bool gone = view_->connections->count(each.first) == 0;
      own.closed += gone ? each.second->records_in.get() : 0;
      return gone;
    });
  }
}

QString LiveSession::clusterName() const {
  if (!options_.name.isEmpty()) {
    return options_.name;
  }
  const StorageInfo where = storage();
  return where.in_memory ? QStringLiteral("demo") : QFileInfo(where.directory).fileName();
}

QString LiveSession::bootstrap() const {
  const node::ListenOptions& listen = cluster_->options().listen;
  std::uint16_t port = running_ ? cluster_->port() : listen.port;
  // Who connects now asks a node that runs; the first one's port comes back with it.
  const auto ended = [](const observe::NodeView& node) {
    return node.state == observe::NodeView::State::killed || node.state == observe::NodeView::State::stopped;
  };
  const bool gone = std::any_of(view_->nodes.begin(), view_->nodes.end(), [&](const auto& each) { return each.second->port == port && ended(*each.second); });
  for (const auto& [id, node] : view_->nodes) {
    if (gone && node->broker && node->port != 0 && !ended(*node)) {
      port = node->port;
      break;
    }
  }
  const bool loopback = listen.address.starts_with("127.") || listen.address == "::1";
  return QStringLiteral("%1:%2").arg(loopback ? QStringLiteral("localhost") : QString::fromStdString(listen.address)).arg(port);
}

QString LiveSession::bootstrapList() const {
  const QString first = bootstrap();
  const QString host = first.section(QLatin1Char(':'), 0, -2);
  QStringList all{first};
  for (const auto& [id, node] : view_->nodes) {
    const QString one = QStringLiteral("%1:%2").arg(host).arg(node->port);
    if (node->broker && node->port != 0 && !all.contains(one)) {
      all << one;
    }
  }
  return all.join(QLatin1Char(','));
}

StorageInfo LiveSession::storage() const {
  const node::ClusterOptions& options = cluster_->options();
  return {options.memory, QString::fromStdString(options.directory)};
}

std::int64_t LiveSession::foreignRecords() const {
  std::int64_t all = 0;
  for (const auto& [id, node] : view_->nodes) {
    if (node->counters != nullptr) {
      all += node->counters->records_in.get();
    }
  }
  // Ours are read after the sum, so what is being written meanwhile never looks foreign.
  std::int64_t ours = 0;
  for (const auto& [id, own] : own_) {
    ours += own.closed;
    for (const auto& [connection, counters] : own.open) {
      ours += counters->records_in.get();
    }
  }
  return std::max<std::int64_t>(0, all - ours);
}

void LiveSession::read(const ReadQuery& query, std::function<void(ReadAnswer)> done) {
  if (!running_ || busy_) {
    ReadAnswer answer;
    answer.error = tr("The cluster is not running.");
    answer.next_offset = query.from_offset;
    done(std::move(answer));
    return;
  }
  // The node hands out slices; decompressing and decoding happen on a thread of our own.
  const BrokerId home = home_of(*view_, query.topic, query.partition);
  const bool asked = cluster_->post(home, [this, query, done](api::NodeCore& core, api::Now, api::Outputs&) {
    auto found = std::make_shared<Result<api::NodeCore::LocalRead>>(
        core.read_local(query.topic, PartitionIndex(query.partition), Offset(query.from_offset), query.max_bytes,
                        query.isolation == Isolation::committed));
    readers_.start([this, query, done, found] {
      auto answer = std::make_shared<ReadAnswer>();
      answer->next_offset = query.from_offset;
      if (!*found) {
        answer->error = in_words(found->error());
      } else {
        answer->log_start_offset = (*found)->log_start_offset.value();
        answer->high_watermark = (*found)->high_watermark.value();
        decode_rows((*found)->batches, aborted_of(**found), query, *answer);
      }
      QMetaObject::invokeMethod(this, [done, answer] { done(std::move(*answer)); }, Qt::QueuedConnection);
    });
  });
  if (!asked) {
    ReadAnswer answer;
    answer.error = nobody_leads(query.topic, query.partition, home);
    answer.next_offset = query.from_offset;
    QMetaObject::invokeMethod(this, [done = std::move(done), answer] { done(answer); }, Qt::QueuedConnection);
  }
}

std::shared_ptr<BatchReader> LiveSession::batches() { return batches_; }

std::uint64_t LiveSession::windowsProducer() {
  if (producer_ == 0) {
    node::ProducerOptions options;
    options.bootstrap = cluster_->bootstrap_list();
    options.client_id = "highwater-window";
    options.auto_create = false;  // topics come from Create topic alone
    options.close_timeout_ms = kProducersCloseMs;
    producer_ = clients_->add_producer(options);
  }
  return producer_;
}

void LiveSession::produce(const ProduceCommand& command, std::function<void(ProduceAnswer)> done) {
  if (!running_ || busy_) {
    ProduceAnswer answer;
    answer.error = tr("The cluster is not running.");
    done(std::move(answer));
    return;
  }
  node::OutgoingRecord record;
  record.topic = command.topic;
  record.partition = command.partition;
  record.key = command.key;
  record.value = command.value;
  record.headers = command.headers;
  clients_->produce(windowsProducer(), std::move(record), [this, done = std::move(done)](const Result<node::Delivery>& delivery) {
    ProduceAnswer answer;
    if (delivery) {
      answer.partition = delivery->partition;
      answer.offset = delivery->offset;
    } else {
      answer.error = in_words(delivery.error());
    }
    QMetaObject::invokeMethod(
        this, [done, answer] { done(answer); }, Qt::QueuedConnection);
  });
}

std::function<void(Result<void>)> LiveSession::answerTo(std::function<void(QString error)> done) {
  return [this, done = std::move(done)](const Result<void>& result) {
    const QString error = result ? QString() : in_words(result.error());
    QMetaObject::invokeMethod(this, [done, error] { done(error); }, Qt::QueuedConnection);
  };
}

void LiveSession::createTopic(const CreateTopicCommand& command, std::function<void(QString error)> done) {
  if (!running_ || busy_) {
    done(tr("The cluster is not running."));
    return;
  }
  clients_->create_topic(cluster_->bootstrap_list(),
                         {command.name, command.partitions, command.replication_factor, command.configs},
                         answerTo(std::move(done)));
}

void LiveSession::deleteTopic(const std::string& name, std::function<void(QString error)> done) {
  if (!running_ || busy_) {
    done(tr("The cluster is not running."));
    return;
  }
  clients_->delete_topic(cluster_->bootstrap_list(), name, answerTo(std::move(done)));
}

void LiveSession::addPartitions(const std::string& name, std::int32_t total, std::function<void(QString error)> done) {
  if (!running_ || busy_) {
    done(tr("The cluster is not running."));
    return;
  }
  clients_->create_partitions(cluster_->bootstrap_list(), name, total, answerTo(std::move(done)));
}

void LiveSession::closeConnection(std::uint64_t connection, std::function<void(QString error)> done) {
  const auto found = view_->connections->find(ConnectionId(connection));
  if (!running_ || busy_ || found == view_->connections->end()) {
    done(found == view_->connections->end() ? tr("This connection is closed already.") : tr("The cluster is not running."));
    return;
  }
  const bool asked = cluster_->post(found->second->node, [this, connection, done](api::NodeCore&, api::Now, api::Outputs& out) {
    out.closes.push_back({ConnectionId(connection), "by hand, from the window"});
    QMetaObject::invokeMethod(this, [done] { done({}); }, Qt::QueuedConnection);
  });
  if (!asked) {
    done(tr("The node of this connection is not running."));
  }
}

std::vector<ListenerInfo> LiveSession::listeners() const {
  const node::ListenOptions& listen = cluster_->options().listen;
  ListenerInfo info;
  info.bind_address = QString::fromStdString(listen.address);
  info.port = running_ ? cluster_->port() : listen.port;
  const bool loopback = listen.address.starts_with("127.") || listen.address == "::1";
  info.advertised_host = !listen.advertised_host.empty() ? QString::fromStdString(listen.advertised_host)
                         : loopback                      ? QStringLiteral("localhost")
                                                         : info.bind_address;
  info.advertised_port = listen.advertised_port != 0 ? listen.advertised_port : info.port;
  // What the node says of itself counts: another part may have decided.
  if (!view_->nodes.empty() && !view_->nodes.begin()->second->host.empty()) {
    info.advertised_host = QString::fromStdString(view_->nodes.begin()->second->host);
    info.advertised_port = view_->nodes.begin()->second->port;
  }
  return {info};
}

std::vector<MachineAddress> LiveSession::machineAddresses() const {
  std::vector<MachineAddress> out;
  for (const node::LocalAddress& each : node::local_addresses()) {
    out.push_back({static_cast<MachineAddress::Kind>(each.kind), QString::fromStdString(each.interface_name),
                   QString::fromStdString(each.address), each.v6});
  }
  return out;
}

void LiveSession::checkListener(const QString& host, std::uint16_t port, std::function<void(ListenerCheck)> done) {
  constexpr Duration kPatience{2'500'000'000};
  doctors_.start([this, host = host.toStdString(), port, done = std::move(done)] {
    const node::ListenerProbe probe = node::probe_listener(host, port, kPatience);
    ListenerCheck check;
    switch (probe.outcome) {
      case node::ListenerProbe::Outcome::speaks_kafka:
        check.outcome = ListenerCheck::Outcome::speaks_kafka;
        break;
      case node::ListenerProbe::Outcome::not_resolved:
        check.outcome = ListenerCheck::Outcome::not_resolved;
        break;
      case node::ListenerProbe::Outcome::refused:
        check.outcome = ListenerCheck::Outcome::refused;
        break;
      case node::ListenerProbe::Outcome::timed_out:
        check.outcome = ListenerCheck::Outcome::timed_out;
        break;
      case node::ListenerProbe::Outcome::unreachable:
        check.outcome = ListenerCheck::Outcome::unreachable;
        break;
      case node::ListenerProbe::Outcome::other_protocol:
        check.outcome = ListenerCheck::Outcome::other_protocol;
        break;
    }
    for (const std::string& address : probe.addresses) {
      check.addresses << QString::fromStdString(address);
    }
    check.detail = QString::fromStdString(probe.detail);
    check.cluster_id = QString::fromStdString(probe.cluster_id);
    for (const node::ListenerProbe::Broker& broker : probe.brokers) {
      check.told << QStringLiteral("%1:%2").arg(QString::fromStdString(broker.host)).arg(broker.port);
    }
    QMetaObject::invokeMethod(this, [done, check] { done(check); }, Qt::QueuedConnection);
  });
}

void LiveSession::setDemoTraffic(bool on) {
  options_.demo = on;
  if (demo_ == nullptr) {
    return;
  }
  if (on) {
    demo_->start();
  } else {
    demo_->stop();
  }
}

bool LiveSession::demoTraffic() const { return demo_ != nullptr ? demo_->running() : options_.demo; }

void LiveSession::setLoad(int records_per_second) {
  if (demo_ != nullptr) {
    demo_->setLoad(records_per_second);
  }
}

void LiveSession::keep(const QString& directory, std::function<void(QString error)> done) {
  if (!running_ || busy_) {
    done(tr("The cluster is not running."));
    return;
  }
  const std::vector<NodeCondition> now = conditions();
  if (std::any_of(now.begin(), now.end(), [](const NodeCondition& each) { return each.working || !each.healthy(); })) {
    done(tr("First let every node run as it should."));
    return;
  }
  // Nodes stop and start again below: nothing else may ask them meanwhile.
  busy_ = true;
  closeControl();
  batches_->close();
  starter_ = std::thread([this, directory = directory.toStdString(), done = std::move(done)] {
    auto result = std::make_shared<Result<void>>(cluster_->keep(directory));
    QMetaObject::invokeMethod(
        this,
        [this, done, result] {
          starter_.join();
          busy_ = false;
          batches_->open(cluster_.get());
          openControl();
          takeView();
          done(*result ? QString() : in_words(result->error()));
        },
        Qt::QueuedConnection);
  });
}

}  // namespace hw::ui
