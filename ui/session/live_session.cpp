// SPDX-License-Identifier: Apache-2.0
#include "ui/session/live_session.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QMetaObject>
#include <QPointer>
#include <algorithm>
#include <future>
#include <mutex>
#include <utility>

#include "engine/node/client_runner.h"
#include "ui/session/batch_reader.h"
#include "ui/session/demo_traffic.h"
#include "ui/session/record_rows.h"

namespace hw::ui {

namespace {

QString in_words(const Error& error) { return QString::fromStdString(error.detail); }

std::vector<BatchAnswer::Aborted> aborted_of(const api::NodeCore::LocalRead& read) {
  std::vector<BatchAnswer::Aborted> out;
  for (const api::NodeCore::LocalRead::Aborted& gone : read.aborted) {
    out.push_back({gone.producer_id.value(), gone.first_offset.value()});
  }
  return out;
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
    cluster_->node(0).post([self = shared_from_this(), query, done = std::move(done)](api::NodeCore& core, api::Now, api::Outputs&) {
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
  }

 private:
  void start(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    if (pool_ != nullptr) {
      pool_->start(std::move(work));
    }
  }
  std::mutex mutex_;
  node::Cluster* cluster_ = nullptr;
  std::unique_ptr<QThreadPool> pool_;
};

LiveSession::LiveSession(Options options, QObject* parent)
    : Session(parent),
      options_(std::move(options)),
      own_records_(std::make_shared<std::atomic<std::int64_t>>(0)),
      wake_pending_(std::make_shared<std::atomic<bool>>(false)),
      view_(std::make_shared<const observe::ClusterView>()) {
  readers_.setMaxThreadCount(1);
  batches_ = std::make_shared<LiveBatches>();
  options_.cluster.observe = true;
  if (options_.demo) {
    // Kafka waits 3 s for more members before a new group's first generation; a demo shows the group at once.
    options_.cluster.configs.try_emplace("group.initial.rebalance.delay.ms", "0");
  }
  // One queued call at most is ever on its way; it takes whatever is newest when it arrives.
  options_.cluster.wake = [this, pending = wake_pending_] {
    if (!pending->exchange(true)) {
      QMetaObject::invokeMethod(this, [this] { takeView(); }, Qt::QueuedConnection);
    }
  };
  cluster_ = std::make_unique<node::Cluster>(options_.cluster);
}

LiveSession::~LiveSession() {
  if (starter_.joinable()) {
    starter_.join();
  }
  batches_->shutdown();
  demo_.reset();
  clients_.reset();
  readers_.waitForDone();
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
            Q_EMIT startFailed(static_cast<int>(result.error().code), in_words(result.error()));
            return;
          }
          running_ = true;
          batches_->open(cluster_.get());
          clients_ = std::make_unique<node::ClientRunner>();
          demo_ = std::make_unique<DemoTraffic>(*clients_, cluster_->bootstrap(), own_records_);
          if (options_.demo) {
            demo_->start();
          }
          takeView();
          Q_EMIT started();
        },
        Qt::QueuedConnection);
  });
}

void LiveSession::takeView() {
  wake_pending_->store(false);
  if (cluster_->observer() == nullptr) {
    return;
  }
  view_ = cluster_->view();
  Q_EMIT frameReady();
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
  const std::uint16_t port = running_ ? cluster_->port() : listen.port;
  const bool loopback = listen.address.starts_with("127.") || listen.address == "::1";
  return QStringLiteral("%1:%2").arg(loopback ? QStringLiteral("localhost") : QString::fromStdString(listen.address)).arg(port);
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
  return std::max<std::int64_t>(0, all - own_records_->load(std::memory_order_relaxed));
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
  cluster_->node(0).post([this, query, done = std::move(done)](api::NodeCore& core, api::Now, api::Outputs&) {
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
}

std::shared_ptr<BatchReader> LiveSession::batches() { return batches_; }

void LiveSession::produce(const ProduceCommand& command, std::function<void(ProduceAnswer)> done) {
  if (!running_ || busy_) {
    ProduceAnswer answer;
    answer.error = tr("The cluster is not running.");
    done(std::move(answer));
    return;
  }
  if (producer_ == 0) {
    node::ProducerOptions options;
    options.bootstrap = cluster_->bootstrap();
    options.client_id = "highwater-window";
    producer_ = clients_->add_producer(options);
  }
  node::OutgoingRecord record;
  record.topic = command.topic;
  record.partition = command.partition;
  record.key = command.key;
  record.value = command.value;
  record.headers = command.headers;
  clients_->produce(producer_, std::move(record),
                    [this, own = own_records_, done = std::move(done)](const Result<node::Delivery>& delivery) {
                      ProduceAnswer answer;
                      if (delivery) {
                        own->fetch_add(1, std::memory_order_relaxed);
                        answer.partition = delivery->partition;
                        answer.offset = delivery->offset;
                      } else {
                        answer.error = in_words(delivery.error());
                      }
                      QMetaObject::invokeMethod(this, [done, answer] { done(answer); }, Qt::QueuedConnection);
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
  clients_->create_topic(cluster_->bootstrap(),
                         {command.name, command.partitions, command.replication_factor, command.configs},
                         answerTo(std::move(done)));
}

void LiveSession::deleteTopic(const std::string& name, std::function<void(QString error)> done) {
  if (!running_ || busy_) {
    done(tr("The cluster is not running."));
    return;
  }
  clients_->delete_topic(cluster_->bootstrap(), name, answerTo(std::move(done)));
}

void LiveSession::addPartitions(const std::string& name, std::int32_t total, std::function<void(QString error)> done) {
  if (!running_ || busy_) {
    done(tr("The cluster is not running."));
    return;
  }
  clients_->create_partitions(cluster_->bootstrap(), name, total, answerTo(std::move(done)));
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
  // Nodes stop and start again below: nothing else may ask them meanwhile.
  busy_ = true;
  batches_->close();
  starter_ = std::thread([this, directory = directory.toStdString(), done = std::move(done)] {
    auto result = std::make_shared<Result<void>>(cluster_->keep(directory));
    QMetaObject::invokeMethod(
        this,
        [this, done, result] {
          starter_.join();
          busy_ = false;
          batches_->open(cluster_.get());
          takeView();
          done(*result ? QString() : in_words(result->error()));
        },
        Qt::QueuedConnection);
  });
}

}  // namespace hw::ui
