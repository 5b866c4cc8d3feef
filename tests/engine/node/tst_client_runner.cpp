// SPDX-License-Identifier: Apache-2.0
// The built-in clients against a node of this process, over real connections on a port that the kernel chose.
#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/node/client_options.h"
#include "engine/node/client_runner.h"
#include "engine/node/cluster.h"
#include "runner_support.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::node;  // NOLINT(google-build-using-namespace)
using support::ask;
using support::Box;
using support::create;
using support::start;
using support::start_in_memory;

namespace {

OutgoingRecord record(const std::string& topic, const std::string& key, const std::string& value) {
  OutgoingRecord made;
  made.topic = topic;
  made.key = Bytes::copy_of(key);
  made.value = Bytes::copy_of(value);
  return made;
}

// Values by key, in the order they came.
struct Consumed {
  Box box;
  std::map<std::string, std::vector<int>> by_key;
  std::size_t count = 0;
  std::map<std::pair<int, std::int32_t>, int> assigned;  // by consumer and partition
  std::function<void(std::vector<IncomingRecord>&)> on_records() {
    return [this](std::vector<IncomingRecord>& records) {
      box.change([&] {
        for (const IncomingRecord& one : records) {
          by_key[std::string(one.key->text())].push_back(std::stoi(std::string(one.value->text())));
          ++count;
        }
      });
    };
  }
  std::function<void(const ConsumerEvent&)> on_event(int consumer) {
    return [this, consumer](const ConsumerEvent& event) {
      box.change([&] {
        for (const auto& [topic, partition] : event.partitions) {
          if (event.kind == ConsumerEvent::Kind::assigned) {
            assigned[{consumer, partition}] = 1;
          } else if (event.kind == ConsumerEvent::Kind::revoked) {
            assigned.erase({consumer, partition});
          }
        }
      });
    };
  }
  [[nodiscard]] std::size_t assigned_to(int consumer) const {
    std::size_t n = 0;
    for (const auto& [key, unused] : assigned) {
      n += key.first == consumer ? 1 : 0;
    }
    return n;
  }
};

ConsumerOptions grouped(const std::string& bootstrap) {
  ConsumerOptions options;
  options.bootstrap = bootstrap;
  options.group_id = "group";
  options.topics = {"t"};
  options.commit_interval_ms = 20;
  options.max_wait_ms = 50;
  return options;
}

}  // namespace

class TestClientRunner : public QObject {
  Q_OBJECT
 private slots:
  void aGroupOfTwoReadsEverythingOnceInOrder() {
    const std::unique_ptr<Cluster> cluster = start_in_memory();
    QVERIFY(cluster != nullptr);
    Consumed consumed;
    ClientRunner runner;
    QVERIFY(create(runner, cluster->bootstrap(), "t", 4));
    (void)runner.add_consumer(grouped(cluster->bootstrap()), consumed.on_records(), consumed.on_event(1));
    const ClientHandle second =
        runner.add_consumer(grouped(cluster->bootstrap()), consumed.on_records(), consumed.on_event(2));
    QVERIFY(consumed.box.wait([&] { return consumed.assigned_to(1) == 2 && consumed.assigned_to(2) == 2; }));

    constexpr int kThreads = 4;
    constexpr int kEach = 500;
    std::atomic<int> delivered{0};
    ProducerOptions options;
    options.bootstrap = cluster->bootstrap();
    options.compression = "lz4";
    const ClientHandle producer = runner.add_producer(options);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {  // each key comes from one thread, so its order is known
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          runner.produce(producer, record("t", "key-" + std::to_string(t), std::to_string(i)),
                         [&](const Result<Delivery>& delivery) { delivered += delivery ? 1 : 0; });
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    Box flushed;
    bool done = false;
    runner.flush(producer, [&] { flushed.change([&] { done = true; }); });
    QVERIFY(flushed.wait([&] { return done; }));
    QCOMPARE(delivered.load(), kThreads * kEach);
    QVERIFY(consumed.box.wait([&] { return consumed.count >= kThreads * kEach; }));
    consumed.box.change([&] {
      for (const auto& [key, values] : consumed.by_key) {
        QCOMPARE(values.size(), std::size_t{kEach});
        QVERIFY(std::is_sorted(values.begin(), values.end()));
      }
    });
    // One leaves, the other gets all.
    bool closed = false;
    runner.close(second, [&] { flushed.change([&] { closed = true; }); });
    QVERIFY(flushed.wait([&] { return closed; }));
    QVERIFY(consumed.box.wait([&] { return consumed.assigned_to(1) == 4; }));
  }

  void clientsSurviveARestartOfTheBroker() {
    const QTemporaryDir folder;
    ClusterOptions options;
    options.memory = false;
    options.directory = folder.path().toStdString();
    options.listen.port = 0;
    std::unique_ptr<Cluster> cluster = start(options);
    QVERIFY(cluster != nullptr);
    options.listen.port = cluster->port();
    const std::string bootstrap = cluster->bootstrap();

    Consumed consumed;
    ClientRunner runner;
    QVERIFY(create(runner, bootstrap, "t", 2));
    (void)runner.add_consumer(grouped(bootstrap), consumed.on_records(), consumed.on_event(1));
    ProducerOptions producing;
    producing.bootstrap = bootstrap;
    const ClientHandle producer = runner.add_producer(producing);
    Box box;
    int delivered = 0;
    std::string trouble;
    const auto send = [&](int from, int to) {
      for (int i = from; i < to; ++i) {
        runner.produce(producer, record("t", "key-" + std::to_string(i % 5), std::to_string(i)),
                       [&](const Result<Delivery>& delivery) {
                         box.change([&] {
                           delivered += delivery ? 1 : 0;
                           trouble = delivery ? trouble : delivery.error().detail;
                         });
                       });
      }
    };
    send(0, 100);
    QVERIFY(consumed.box.wait([&] { return consumed.count >= 100; }));
    QVERIFY(cluster->stop().has_value());
    cluster.reset();
    send(100, 200);  // nobody is there
    cluster = start(options);
    QVERIFY(cluster != nullptr);
    send(200, 300);
    QVERIFY2(box.wait([&] { return delivered == 300 || !trouble.empty(); }), "delivered");
    QVERIFY2(trouble.empty(), trouble.c_str());
    QVERIFY(consumed.box.wait([&] {
      std::size_t distinct = 0;
      for (auto& [key, values] : consumed.by_key) {
        std::vector<int> once = values;
        std::sort(once.begin(), once.end());
        once.erase(std::unique(once.begin(), once.end()), once.end());
        distinct += once.size();
      }
      return distinct == 300;  // nothing is lost; what was not committed before the restart may come again
    }));

    // The log itself holds each record once.
    const auto offsets = ask<std::vector<std::pair<std::int32_t, std::int64_t>>>(
        [&](auto done) { runner.topic_offsets(bootstrap, "t", -1, std::move(done)); });
    QVERIFY(offsets.has_value());
    std::int64_t total = 0;
    for (const auto& [partition, offset] : *offsets) {
      total += offset;
    }
    QCOMPARE(total, std::int64_t{300});
  }

  void everyCallbackComesOnceAlsoAtTheEnd() {
    constexpr int kCalls = 50;
    std::vector<int> calls(kCalls, 0);
    std::vector<int> codes;
    std::mutex mutex;
    int flushes = 0;
    int closes = 0;
    {
      ClientRunner runner;
      ProducerOptions options;
      options.bootstrap = "127.0.0.1:1";  // nobody
      const ClientHandle producer = runner.add_producer(options);
      for (int i = 0; i < kCalls; ++i) {
        runner.produce(producer, record("t", "k", "v"), [&, i](const Result<Delivery>& delivery) {
          const std::lock_guard lock(mutex);
          ++calls[static_cast<std::size_t>(i)];
          codes.push_back(delivery ? -1 : static_cast<int>(delivery.error().code));
        });
      }
      runner.flush(producer, [&] {
        const std::lock_guard lock(mutex);
        ++flushes;
      });
      (void)runner.add_consumer(grouped("127.0.0.1:1"), {}, {});
      runner.close(producer, [&] {
        const std::lock_guard lock(mutex);
        ++closes;
      });
      runner.produce(producer, record("t", "k", "late"), [&](const Result<Delivery>& delivery) {
        const std::lock_guard lock(mutex);
        codes.push_back(delivery ? -1 : static_cast<int>(delivery.error().code));
      });
      runner.after(3'600'000, [] { QFAIL("dropped when the runner ends"); });
    }
    QCOMPARE(calls, std::vector<int>(kCalls, 1));
    QCOMPARE(flushes, 1);
    QCOMPARE(closes, 1);
    QCOMPARE(codes, std::vector<int>(kCalls + 1, static_cast<int>(Errc::closed)));
  }

  void wrongOptionsAreSaid() {
    ClientRunner runner;
    ProducerOptions options;
    options.bootstrap = "no port:x";
    const ClientHandle producer = runner.add_producer(options);
    const Result<Delivery> delivery =
        ask<Delivery>([&](auto done) { runner.produce(producer, record("t", "k", "v"), std::move(done)); });
    QVERIFY(delivery.error().detail.find("host:port") != std::string::npos);
    options.bootstrap = "127.0.0.1:1";
    options.compression = "rar";
    const ClientHandle other = runner.add_producer(options);
    QVERIFY(ask<Delivery>([&](auto done) { runner.produce(other, record("t", "k", "v"), std::move(done)); })
                .error()
                .detail.find("rar") != std::string::npos);
    const Result<void> created = ask<void>([&](auto done) { runner.create_topic("127.0.0.1:1", {}, std::move(done)); });
    QCOMPARE(created.error().code, Errc::closed);
    QVERIFY(created.error().detail.find("refused") != std::string::npos);
    QCOMPARE(ask<Delivery>([&](auto done) { runner.produce(999, record("t", "k", "v"), std::move(done)); }).error().code,
             Errc::closed);
  }

  void theCoordinatorAssignsWhereItIsAskedTo() {  // KIP-848
    ClusterOptions quick;
    quick.listen.port = 0;
    quick.configs = {{"group.consumer.min.heartbeat.interval.ms", "100"}, {"group.consumer.heartbeat.interval.ms", "100"}};
    const std::unique_ptr<Cluster> cluster = start(std::move(quick));
    QVERIFY(cluster != nullptr);
    Consumed consumed;
    ClientRunner runner;
    QVERIFY(create(runner, cluster->bootstrap(), "t", 4));
    ConsumerOptions options = grouped(cluster->bootstrap());
    options.group_protocol = "consumer";
    const ClientHandle first = runner.add_consumer(options, consumed.on_records(), consumed.on_event(1));
    options.assignors = {"range"};
    const ClientHandle second = runner.add_consumer(options, consumed.on_records(), consumed.on_event(2));
    QVERIFY(consumed.box.wait([&] { return consumed.assigned_to(1) == 2 && consumed.assigned_to(2) == 2; }));
    const auto one = ask<ConsumerStatus>([&](auto done) { runner.status(first, std::move(done)); });
    const auto two = ask<ConsumerStatus>([&](auto done) { runner.status(second, std::move(done)); });
    QVERIFY(one.has_value() && two.has_value());
    QVERIFY(!one->member_id.empty() && one->member_id != two->member_id);
    QVERIFY(!one->leader && !two->leader);  // nobody leads such a group
    runner.close(second);
    QVERIFY(consumed.box.wait([&] { return consumed.assigned_to(1) == 4; }));
  }

  void badConsumerOptionsAreSaid() {
    ClientRunner runner;
    const auto refused = [&](const std::function<void(ConsumerOptions&)>& spoil) {
      ConsumerOptions options = grouped("127.0.0.1:1");
      spoil(options);
      Box box;
      std::string message;
      (void)runner.add_consumer(options, {}, [&](const ConsumerEvent& event) {
        box.change([&] { message = event.fatal ? event.message : "not fatal: " + event.message; });
      });
      return box.wait([&] { return !message.empty(); }) ? message : std::string("silence");
    };
    QVERIFY(refused([](ConsumerOptions& options) { options.assignors = {"fair"}; }).find("cooperative-sticky") !=
            std::string::npos);
    QVERIFY(refused([](ConsumerOptions& options) { options.group_protocol = "share"; }).find("classic or consumer") != std::string::npos);
    QVERIFY(refused([](ConsumerOptions& options) {
              options.group_protocol = "consumer";
              options.assignors = {"uniform", "range"};
            }).find("uniform or range") != std::string::npos);
    QVERIFY(refused([](ConsumerOptions& options) { options.offset_reset = "middle"; }).find("by_duration") !=
            std::string::npos);
    QVERIFY(refused([](ConsumerOptions& options) { options.offset_reset = "by_duration:1h"; }).find("PT1H") !=
            std::string::npos);
    QVERIFY(refused([](ConsumerOptions& options) { options.pattern = "(orders"; }).find("regular expression") !=
            std::string::npos);
    QVERIFY(parse_iso_duration("P1DT2H30M0.5S") == seconds(86'400 + 9'000) + milliseconds(500));
    for (const char* bad : {"", "P", "PT", "1H", "P1H", "PT1D", "PT1", "PT-1S", "PTxS"}) {
      QVERIFY2(!parse_iso_duration(bad).has_value(), bad);
    }
  }

  void aConsumerIsToldWhatToDo() {
    const std::unique_ptr<Cluster> cluster = start_in_memory();
    QVERIFY(cluster != nullptr);
    const std::string bootstrap = cluster->bootstrap();
    ClientRunner runner;
    QVERIFY(create(runner, bootstrap, "t", 1));
    ProducerOptions producing;
    producing.bootstrap = bootstrap;
    const ClientHandle producer = runner.add_producer(producing);
    for (int i = 0; i < 10; ++i) {
      QVERIFY(ask<Delivery>([&](auto done) {
                runner.produce(producer, record("t", "k", std::to_string(i)), std::move(done));
              }).has_value());
    }
    Box box;
    std::vector<int> values;
    std::vector<std::int64_t> committed;
    ConsumerOptions options = grouped(bootstrap);
    options.assignors = {"cooperative-sticky"};
    options.commit_mode = CommitMode::manual;
    options.session_timeout_ms = 6'000;
    const ClientHandle consumer = runner.add_consumer(
        options,
        [&](std::vector<IncomingRecord>& records) {
          box.change([&] {
            for (const IncomingRecord& one : records) {
              values.push_back(std::stoi(std::string(one.value->text())));
            }
          });
        },
        [&](const ConsumerEvent& event) {
          box.change([&] {
            if (event.kind == ConsumerEvent::Kind::committed) {
              committed = event.offsets;
            }
          });
        });
    QVERIFY(box.wait([&] { return values.size() == 10; }));
    runner.seek(consumer, "t", 0, 8);
    QVERIFY(box.wait([&] { return values.size() == 12 && values.back() == 9; }));
    runner.pause(consumer);
    runner.seek(consumer, "t", 0, -2);
    runner.commit(consumer);
    auto status = ask<ConsumerStatus>([&](auto done) { runner.status(consumer, std::move(done)); });
    QVERIFY(status.has_value());
    QCOMPARE(status->partitions.size(), std::size_t{1});
    QVERIFY(status->partitions[0].paused && status->leader && status->generation > 0 && !status->member_id.empty());
    runner.resume(consumer);
    QVERIFY(box.wait([&] { return values.size() == 22; }));
    runner.commit(consumer);
    QVERIFY(box.wait([&] { return committed == std::vector<std::int64_t>{10}; }));
    status = ask<ConsumerStatus>([&](auto done) { runner.status(consumer, std::move(done)); });
    QCOMPARE(status->partitions[0].position, std::int64_t{10});
    QCOMPARE(status->partitions[0].committed, std::int64_t{10});
    QCOMPARE(status->partitions[0].lag, std::int64_t{0});
    // It crashes: the group has it for the rest of the session, and the next one reads on from the commit.
    bool crashed = false;
    runner.crash(consumer, [&] { box.change([&] { crashed = true; }); });
    QVERIFY(box.wait([&] { return crashed; }));
    QCOMPARE(ask<ConsumerStatus>([&](auto done) { runner.status(consumer, std::move(done)); }).error().code, Errc::closed);
  }

  void administration() {
    const std::unique_ptr<Cluster> cluster = start_in_memory();
    QVERIFY(cluster != nullptr);
    ClientRunner runner;
    const std::string bootstrap = cluster->bootstrap();
    QVERIFY(create(runner, bootstrap, "t", 2).has_value());
    QCOMPARE(create(runner, bootstrap, "t", 2).error().code, Errc::exists);
    QVERIFY(ask<void>([&](auto done) { runner.create_partitions(bootstrap, "t", 3, std::move(done)); }).has_value());
    const auto topics = ask<std::vector<TopicDescription>>([&](auto done) { runner.list_topics(bootstrap, std::move(done)); });
    QVERIFY(topics.has_value());
    QCOMPARE(topics->size(), std::size_t{1});
    QCOMPARE(topics->front().partitions.size(), std::size_t{3});
    QCOMPARE(topics->front().partitions[2].leader, 1);
    QVERIFY(!topics->front().id.empty());
    const auto configs =
        ask<std::vector<TopicConfig>>([&](auto done) { runner.topic_configs(bootstrap, "t", std::move(done)); });
    QVERIFY(configs.has_value() && configs->size() > 20);
    QVERIFY(ask<void>([&](auto done) { runner.delete_topic(bootstrap, "t", std::move(done)); }).has_value());
    QCOMPARE(ask<TopicDescription>([&](auto done) { runner.describe_topic(bootstrap, "t", std::move(done)); }).error().code,
             Errc::not_found);
  }
};

QTEST_APPLESS_MAIN(TestClientRunner)
#include "tst_client_runner.moc"
