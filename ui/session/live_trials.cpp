// SPDX-License-Identifier: Apache-2.0
// LiveSession: what a client can do at this moment, tried for real: each trial is a request of a client over a connection.
#include <atomic>
#include <memory>
#include <utility>

#include <QElapsedTimer>
#include <QMetaObject>
#include <QPointer>
#include <QTimer>

#include "engine/node/client_admin.h"
#include "engine/node/client_runner.h"
#include "ui/painting/text.h"
#include "ui/session/live_session.h"

namespace hw::ui {

namespace {

constexpr int kPatienceMs = 5'000;
constexpr const char* kTestName = "highwater-test";  // of the topic and the group that a trial makes and takes away

// A partition that somebody leads, of the demo's topic or else of any; `read`: one that holds a record.
std::optional<PartitionName> some_partition(const observe::ClusterView& view, bool read) {
  std::optional<PartitionName> found;
  for (const auto& [name, topic] : *view.topics) {
    if (topic->internal) {
      continue;
    }
    for (const auto& partition : topic->partitions) {
      const auto* counters = partition ? partition->leader_counters() : nullptr;
      if (counters == nullptr || (read && counters->high_watermark.get() <= counters->log_start_offset.get())) {
        continue;
      }
      if (!found || (name.starts_with("demo.") && !found->topic.starts_with("demo."))) {
        found = PartitionName{name, partition->index.value()};
      }
    }
  }
  return found;
}

}  // namespace

void LiveSession::tryOut(Trial trial, std::function<void(TrialAnswer)> done) {
  // `arrive()` on the thread where the answer comes in: the window's may be busy, and would add its own time to all that wait for it.
  struct Run {
    QElapsedTimer since;
    std::atomic<std::int64_t> arrived_ms{-1};
    std::function<void(TrialAnswer)> done;
    bool over = false;

    void arrive() {
      std::int64_t none = -1;
      arrived_ms.compare_exchange_strong(none, since.elapsed());
    }
  };
  auto run = std::make_shared<Run>();
  run->since.start();
  run->done = std::move(done);
  // The first one answers: who was asked, or the clock. What comes late is not waited for.
  const auto answer = [this, run](const QString& error, const QString& did) {
    if (!std::exchange(run->over, true)) {
      run->arrive();  // where nothing came, the time is that of giving up
      const TrialAnswer result{error, did, run->arrived_ms.load()};
      QMetaObject::invokeMethod(this, [run, result] { run->done(result); }, Qt::QueuedConnection);  // never before this returns
    }
  };
  if (!asks()) {
    answer(tr("The cluster is not running."), {});
    return;
  }
  QTimer::singleShot(kPatienceMs, this, [answer] { answer(tr("no answer within %1").arg(format_duration(kPatienceMs)), {}); });
  const bool records = trial == Trial::produce || trial == Trial::consume || trial == Trial::commit;
  const auto where = records ? some_partition(*view_, trial == Trial::consume) : std::nullopt;
  if (records && !where) {
    answer(trial == Trial::consume ? tr("There is no record to read yet.") : tr("There is no topic with a leader."), {});
    return;
  }
  const auto address = [](const PartitionName& at, std::int64_t offset) {
    return QStringLiteral("%1/%2@%3").arg(QString::fromStdString(at.topic)).arg(at.partition).arg(offset);
  };
  // On the client's thread; the answer is given on the window's.
  const auto arrived = [this, run, answer](const QString& error, const QString& did, std::function<void()> then = {}) {
    run->arrive();
    QMetaObject::invokeMethod(
        this,
        [answer, error, did, then = std::move(then)] {
          answer(error, error.isEmpty() ? did : QString());
          if (then) {
            then();
          }
        },
        Qt::QueuedConnection);
  };
  switch (trial) {
    case Trial::produce: {
      node::OutgoingRecord record;
      record.topic = where->topic;
      record.partition = where->partition;
      record.key = Bytes::copy_of(std::string_view(kTestName));
      record.value = Bytes::copy_of(std::string_view("sent by the Quorum page to see whether producing works"));
      clients_->produce(windowsProducer(), std::move(record), [arrived, address, at = *where](const Result<node::Delivery>& delivery) {
        delivery ? arrived({}, tr("wrote %1").arg(address({at.topic, delivery->partition}, delivery->offset)))
                 : arrived(QString::fromStdString(delivery.error().detail), {});
      });
      break;
    }
    case Trial::consume: {
      node::ConsumerOptions options;
      options.bootstrap = cluster_->bootstrap_list();
      options.client_id = "highwater-window";
      options.auto_create = false;
      const observe::TopicView* topic = view_->find_topic(where->topic);
      const std::int64_t last = topic->partitions[static_cast<std::size_t>(where->partition)]->leader_counters()->high_watermark.get() - 1;
      options.assignment = {{where->topic, where->partition, last}};
      options.records_max = 1;
      const auto handle = std::make_shared<node::ClientHandle>(0);
      // The clients may be others by then: a cluster that was kept on disk starts anew.
      const std::function<void()> close = [this, handle, clients = clients_.get()] {
        if (const node::ClientHandle once = std::exchange(*handle, 0); once != 0 && clients_.get() == clients) {
          clients->close(once);
        }
      };
      *handle = clients_->add_consumer(options, [arrived, address, close, at = *where](const std::vector<node::IncomingRecord>& got) {
        if (!got.empty()) {
          arrived({}, tr("read %1").arg(address(at, got.front().offset)), close);
        }
      });
      QTimer::singleShot(kPatienceMs, this, close);
      break;
    }
    case Trial::commit: {
      node::GroupOffset row;
      row.partition = {where->topic, where->partition};
      row.offset = 0;
      node::AdminQuestions(*clients_, cluster_->bootstrap_list())
          .commit_group_offsets(kTestName, {std::move(row)}, [this, arrived](const Result<std::vector<node::PartitionResult>>& result) {
            QString error = result ? QString() : QString::fromStdString(result.error().detail);
            for (const node::PartitionResult& one : result ? *result : std::vector<node::PartitionResult>()) {
              error = error.isEmpty() && one.error ? QString::fromStdString(one.error->detail) : error;
            }
            arrived(error, tr("committed an offset of a group of its own"), [this] { deleteGroup(kTestName, [](const QString&) {}); });
          });
      break;
    }
    case Trial::create_topic: {
      const auto create = [this, run, arrived] {
        const auto replicas = static_cast<std::int16_t>(std::min<std::size_t>(cluster_->size(), 3));
        run->since.restart();  // what had to be cleared away before is no part of it
        clients_->create_topic(cluster_->bootstrap_list(), {kTestName, 1, replicas, {}}, [this, arrived](const Result<void>& result) {
          arrived(result ? QString() : QString::fromStdString(result.error().detail),
                  tr("created %1, and deleted it again").arg(QLatin1String(kTestName)), [this] { deleteTopic(kTestName, [](const QString&) {}); });
        });
      };
      if (view_->find_topic(kTestName) == nullptr) {
        create();
      } else {
        // Of a trial that was answered too late.
        deleteTopic(kTestName, [answer, create](const QString& error) { error.isEmpty() ? create() : answer(error, {}); });
      }
      break;
    }
    case Trial::elect_leaders:
      node::AdminQuestions(*clients_, cluster_->bootstrap_list())
          .elect_leaders(false, std::nullopt, [arrived](const Result<std::vector<node::Election>>& result) {
            QString error = result ? QString() : QString::fromStdString(result.error().detail);
            int moved = 0;
            for (const node::Election& one : result ? *result : std::vector<node::Election>()) {
              moved += one.error ? 0 : 1;
              error = error.isEmpty() && one.error ? QString::fromStdString(one.error->detail) : error;
            }
            arrived(error, moved == 0 ? tr("every partition is led by its preferred replica already")
                                      : tr("%Ln partitions have their preferred leader again", nullptr, moved));
          });
      break;
  }
}

}  // namespace hw::ui
