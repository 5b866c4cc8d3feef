// SPDX-License-Identifier: Apache-2.0
// A transaction over three nodes with real sockets: its partitions, its coordinator and the group are on different ones, and the
// coordinator dies in the middle.
#include <QElapsedTimer>
#include <QTest>
#include <functional>
#include <thread>

#include "engine/wire/msg/describe_transactions.h"
#include "engine/wire/msg/end_txn.h"
#include "engine/wire/msg/find_coordinator.h"
#include "engine/wire/msg/init_producer_id.h"
#include "engine/wire/msg/offset_fetch.h"
#include "engine/wire/msg/txn_offset_commit.h"
#include "tests/engine/node/real_nodes.h"

using namespace hw;  // NOLINT(google-build-using-namespace): a test
using test::BlockingClient;
using test::RealNodes;
using wire::ErrorCode;

namespace {

constexpr std::int8_t kGroup = 0;
constexpr std::int8_t kTransaction = 1;

node::ClusterOptions options() {
  node::ClusterOptions options;
  options.configs = {{"transaction.state.log.num.partitions", "1"}, {"default.replication.factor", "3"}};
  return options;
}

struct Client {
  RealNodes& three;
  ProducerId producer_id = kNoProducerId;
  ProducerEpoch epoch = kNoProducerEpoch;

  // Asks until the answer is good, as clients do; whom it asks may change.
  static bool until(const std::function<bool()>& good) {
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < test::kPatienceMs) {
      try {
        if (good()) {
          return true;
        }
      } catch (const std::runtime_error&) {  // the node is gone, or going
      }
      std::this_thread::yield();
    }
    return false;
  }

  [[nodiscard]] BrokerId coordinator(std::int8_t type, BrokerId asked) const {
    wire::FindCoordinatorRequest request;
    request.key_type = type;
    request.coordinator_keys = {"x"};
    BlockingClient client(three.port_of(asked));
    const auto found = client.ask<wire::FindCoordinatorResponse>(request, 6).coordinators.at(0);
    return found.error_code == ErrorCode::none ? found.node_id : kNoBroker;
  }

  template <class Response, class Request>
  [[nodiscard]] Response ask(std::int8_t type, BrokerId asked, const Request& request, std::int16_t version) const {
    const BrokerId at = coordinator(type, asked);
    if (at == kNoBroker) {
      throw std::runtime_error("no coordinator");
    }
    BlockingClient client(three.port_of(at));
    return client.ask<Response>(request, version);
  }

  bool init(BrokerId asked) {
    return until([&] {
      wire::InitProducerIdRequest request;
      request.transactional_id = "x";
      request.transaction_timeout_ms = 60'000;
      const auto response = ask<wire::InitProducerIdResponse>(kTransaction, asked, request, 5);
      producer_id = response.producer_id;
      epoch = response.producer_epoch;
      return response.error_code == ErrorCode::none;
    });
  }

  [[nodiscard]] ErrorCode produce(BrokerId leader, const std::string& topic) const {
    wire::BatchOptions batch;
    batch.producer_id = producer_id;
    batch.producer_epoch = epoch;
    batch.base_sequence = 0;
    batch.transactional = true;
    wire::BatchBuilder builder(batch);
    builder.append(std::nullopt, "v", 1'700'000'000'000);
    wire::ProduceRequest request;
    request.transactional_id = "x";
    request.acks = -1;
    request.timeout_ms = 10'000;
    auto& data = request.topic_data.emplace_back();
    data.name = topic;
    data.partition_data.emplace_back().records = BytesChain(builder.finish());
    BlockingClient client(three.port_of(leader));
    return client.ask<wire::ProduceResponse>(request, 12).responses.at(0).partition_responses.at(0).error_code;
  }

  [[nodiscard]] std::int64_t stable(BrokerId leader, const std::string& topic) const {
    wire::FetchRequest request;
    request.max_bytes = 1'000'000;
    request.isolation_level = 1;
    auto& entry = request.topics.emplace_back();
    entry.topic = topic;
    entry.partitions.emplace_back().partition_max_bytes = 1'000'000;
    BlockingClient client(three.port_of(leader));
    return client.ask<wire::FetchResponse>(request, 12).responses.at(0).partitions.at(0).last_stable_offset.value();
  }
};

}  // namespace

class TestTransactionNodes : public QObject {
  Q_OBJECT
 private slots:
  void aTransactionOutlivesItsCoordinator() {
    RealNodes three({}, 3, options());
    QVERIFY(three.cluster != nullptr);
    const std::vector<BrokerId> nodes = three.cluster->node_ids();
    std::map<std::string, BrokerId> leaders;
    for (const BrokerId id : nodes) {
      const std::string topic = "t" + std::to_string(id.value());
      std::vector<BrokerId> replicas{id};
      std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(replicas), [id](BrokerId other) { return other != id; });
      QVERIFY(three.create(id, topic, replicas, {}) == ErrorCode::none);
      QVERIFY(three.until(id, topic, [id](const auto& seen) { return seen.leader == id && seen.isr.size() == 3; }).has_value());
      leaders[topic] = id;
    }
    Client client{three};
    QVERIFY(client.init(nodes.front()));
    for (const auto& [topic, leader] : leaders) {
      QVERIFY(Client::until([&, t = topic, l = leader] { return client.produce(l, t) == ErrorCode::none; }));
    }
    QVERIFY(Client::until([&] {
      wire::TxnOffsetCommitRequest request;
      request.transactional_id = "x";
      request.group_id = "x";
      request.producer_id = client.producer_id;
      request.producer_epoch = client.epoch;
      auto& topic = request.topics.emplace_back();
      topic.name = "t1";
      topic.partitions.emplace_back().committed_offset = Offset(7);
      const auto response = client.ask<wire::TxnOffsetCommitResponse>(kGroup, nodes.front(), request, 5);
      return response.topics.at(0).partitions.at(0).error_code == ErrorCode::none;
    }));
    for (const auto& [topic, leader] : leaders) {
      QCOMPARE(client.stable(leader, topic), std::int64_t{0});
    }

    const BrokerId coordinator = client.coordinator(kTransaction, nodes.front());
    QVERIFY(three.cluster->kill_node(coordinator));
    const BrokerId other = test::another(coordinator);
    QVERIFY(Client::until([&] {
      const BrokerId now = client.coordinator(kTransaction, other);
      return now != kNoBroker && now != coordinator;
    }));
    ProducerEpoch next = kNoProducerEpoch;
    QVERIFY(Client::until([&] {
      wire::EndTxnRequest request;
      request.transactional_id = "x";
      request.producer_id = client.producer_id;
      request.producer_epoch = client.epoch;
      request.committed = true;
      const auto response = client.ask<wire::EndTxnResponse>(kTransaction, other, request, 5);
      next = response.producer_epoch;
      return response.error_code == ErrorCode::none;
    }));
    QCOMPARE(next.value(), client.epoch.value() + 1);

    QVERIFY(three.cluster->start_node(coordinator));
    for (const auto& [topic, leader] : leaders) {
      const auto now = three.until(other, topic, [](const auto& seen) { return seen.leader != kNoBroker; });
      QVERIFY(now.has_value());
      QVERIFY(Client::until([&, t = topic] {
        const auto seen = three.look(other, t);
        return seen && client.stable(seen->leader, t) == 2;  // the record and its marker
      }));
    }
    QVERIFY(Client::until([&] {
      wire::OffsetFetchRequest request;
      request.require_stable = true;
      auto& group = request.groups.emplace_back();
      group.group_id = "x";
      group.topics.emplace();
      auto& topic = group.topics->emplace_back();
      topic.name = "t1";
      topic.partition_indexes = {PartitionIndex(0)};
      const auto response = client.ask<wire::OffsetFetchResponse>(kGroup, other, request, 9);
      const auto& answer = response.groups.at(0);
      return answer.error_code == ErrorCode::none && answer.topics.at(0).partitions.at(0).committed_offset == Offset(7);
    }));
    QVERIFY(Client::until([&] {
      wire::DescribeTransactionsRequest request;
      request.transactional_ids = {"x"};
      const auto response = client.ask<wire::DescribeTransactionsResponse>(kTransaction, other, request, 0);
      return response.transaction_states.at(0).transaction_state == "CompleteCommit";
    }));
    QVERIFY(three.cluster->stop());
  }
};

QTEST_APPLESS_MAIN(TestTransactionNodes)
#include "tst_transaction_nodes.moc"
