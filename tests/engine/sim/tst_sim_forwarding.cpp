// SPDX-License-Identifier: Apache-2.0
// Requests that a broker answers in part and passes on in part, while the controller that has the
// other part loses its role. Whole nodes in virtual time, so that the moment is not a matter of
// luck.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <QtTest>

#include "engine/sim/node_host.h"
#include "engine/wire/msg/create_topics.h"
#include "engine/wire/msg/describe_configs.h"
#include "engine/wire/msg/incremental_alter_configs.h"
#include "tests/engine/api/node_fixture.h"

using namespace hw;
using test::TestNode;
using wire::ErrorCode;

namespace {

constexpr std::int32_t kVoters = 3;
constexpr std::int32_t kNodes = 4;  // all of them are brokers; the last one has no vote
constexpr std::int16_t kAlterVersion = 1;
constexpr std::int8_t kTopic = 2;
constexpr std::int8_t kLogger = 8;

std::string host_of(std::int32_t id) {
  return "node-" + std::to_string(id);
}

class Cluster {
 public:
  Cluster()
      : trace_({}), network_({}, queue_, trace_, Prng(1)), client_(network_.add_host("client")) {
    Prng ids(2);
    const std::string cluster_id = Uuid::random(ids).text();
    std::vector<api::ControllerPeer> voters;
    for (std::int32_t id = 1; id <= kVoters; ++id) {
      voters.push_back({BrokerId(id), Uuid::random(ids), host_of(id), sim::kControllerPort});
    }
    for (std::int32_t id = 1; id <= kNodes; ++id) {
      api::NodeOptions options;
      options.node = BrokerId(id);
      options.directory = "data";
      options.cluster_id = cluster_id;
      options.advertised_host = options.controller_host = host_of(id);
      options.advertised_port = sim::kClientPort;
      options.controller = id <= kVoters;
      options.controller_port = options.controller ? sim::kControllerPort : std::uint16_t{0};
      options.initial_voters = options.controllers = voters;
      options.configs = {
          {"metadata.max.idle.interval.ms", "0"}};  // only what is asked for is written
      nodes_.push_back(std::make_unique<sim::NodeHost>(std::move(options), microseconds(500), 0,
                                                       queue_, network_, trace_, Prng(ids.next()),
                                                       [](sim::NodeHost&, const event::Any&) {}));
    }
    for (const auto& node : nodes_) {
      HW_ASSERT(node->start().has_value(), "a node starts");
    }
  }

  sim::NodeHost& node(std::int32_t id) { return *nodes_[static_cast<std::size_t>(id - 1)]; }

  [[nodiscard]] raft::QuorumView quorum(std::int32_t id) { return node(id).insides().quorum; }

  [[nodiscard]] bool leads(std::int32_t id) { return quorum(id).leader == BrokerId(id); }

  // Whom node `id` takes for the active controller; 0: nobody.
  [[nodiscard]] std::int32_t leader_for(std::int32_t id) {
    return quorum(id).leader.value_or(BrokerId(0)).value();
  }

  void cut(std::int32_t one, std::int32_t other) {
    network_.cut(node(one).host(), node(other).host());
    network_.cut(node(other).host(), node(one).host());
  }

  void heal() { network_.heal(); }

  template <class Condition>
  bool until(Condition condition, Duration within = seconds(90)) {
    const Instant end = queue_.now() + within;
    while (!condition()) {
      if (queue_.next() >= end) {
        return false;
      }
      queue_.run_one();
    }
    return true;
  }

  // What one asks of a node, on a connection of its own.
  struct Question {
    sim::StreamId stream = 0;
    std::vector<Bytes> answers;
    std::string closed;
  };

  using Asked = std::shared_ptr<Question>;

  template <class Request>
  Asked ask(std::int32_t id, const Request& request, std::int16_t version) {
    const Bytes body = TestNode::encode_request(request, version, 1);
    wire::Writer writer;
    const wire::Writer::LengthMark size = writer.reserve_length();
    writer.raw(body.span());
    writer.patch_length(size);
    auto asked = std::make_shared<Question>();
    sim::Network::End end;
    end.frame = [asked](Bytes frame) { asked->answers.push_back(std::move(frame)); };
    end.closed = [asked](const std::string& why) { asked->closed = why; };
    asked->stream = network_.open(client_, host_of(id), sim::kClientPort, std::move(end),
                                  [this, asked, frame = writer.finish()] {
                                    network_.send(asked->stream, sim::Side::opener, frame);
                                  });
    return asked;
  }

  template <class Response>
  static Response answer_of(const Asked& asked, std::int16_t version) {
    std::int32_t correlation = 0;
    return TestNode::decode_response<Response>(asked->answers.at(0), version, correlation);
  }

  // All brokers serve, and have the topic "t".
  bool ready() {
    const auto unfenced = [this] {
      for (const auto& node : nodes_) {
        const metadata::ImagePtr image = node->insides().image;
        if (!node->ready() || image == nullptr || image->brokers().size() != nodes_.size() ||
            std::any_of(image->brokers().begin(), image->brokers().end(),
                        [](const auto& broker) { return broker.second.fenced; })) {
          return false;
        }
      }
      return true;
    };
    wire::CreateTopicsRequest request;
    request.timeout_ms = 10'000;
    auto& topic = request.topics.emplace_back();
    topic.name = "t";
    topic.num_partitions = 1;
    topic.replication_factor = 1;
    if (!until(unfenced)) {
      return false;
    }
    const Asked created = ask(kNodes, request, 7);
    return until([&] {
      return created->answers.size() == 1 &&
             std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
               return node->insides().image->find_topic("t") != nullptr;
             });
    });
  }

  // One part is the broker's own, the other one the controller's.
  Asked ask_for_both(std::int32_t id, const std::string& key, const std::string& value) {
    wire::IncrementalAlterConfigsRequest request;
    const auto add = [&](std::int8_t type, const std::string& name, const std::string& config_key,
                         const std::string& config_value) {
      auto& resource = request.resources.emplace_back();
      resource.resource_type = type;
      resource.resource_name = name;
      auto& config = resource.configs.emplace_back();
      config.name = config_key;
      config.value = config_value;
    };
    add(kLogger, std::to_string(id), "root", "WARN");
    add(kTopic, "t", key, value);
    return ask(id, request, kAlterVersion);
  }

  using Errors = std::vector<std::pair<std::string, ErrorCode>>;

  static Errors errors_of(const Asked& asked) {
    Errors errors;
    for (const auto& one :
         answer_of<wire::IncrementalAlterConfigsResponse>(asked, kAlterVersion).responses) {
      errors.emplace_back(one.resource_name, one.error_code);
    }
    return errors;
  }

  std::string level_at(std::int32_t id) {
    wire::DescribeConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = kLogger;
    resource.resource_name = std::to_string(id);
    const Asked asked = ask(id, request, 4);
    return until([&] { return !asked->answers.empty(); })
               ? answer_of<wire::DescribeConfigsResponse>(asked, 4)
                     .results.at(0)
                     .configs.at(0)
                     .value.value_or("")
               : "";
  }

 private:
  sim::EventQueue queue_;
  sim::Trace trace_;
  sim::Network network_;
  sim::HostId client_;
  std::vector<std::unique_ptr<sim::NodeHost>> nodes_;
};

}  // namespace

class TestSimForwarding : public QObject {
  Q_OBJECT

 private slots:

  // Asked at once of every broker: of the controller itself, of one that passes its part on to it,
  // and of two that it does not hear, one of which becomes the controller. Nobody is refused, and
  // every part is answered in its place.
  void a_request_in_parts_outlives_its_controller() {
    Cluster cluster;
    QVERIFY(cluster.ready());
    const std::int32_t was = cluster.leader_for(kNodes);
    QVERIFY(cluster.leads(was));
    for (std::int32_t id = 1; id <= kVoters; ++id) {
      if (id != was) {
        cluster.cut(was, id);
      }
    }
    const Offset end = cluster.quorum(was).log_end_offset;
    const std::vector<std::pair<std::string, std::string>> changes{{"retention.ms", "7001"},
                                                                   {"segment.ms", "7002"},
                                                                   {"retention.bytes", "7003"},
                                                                   {"max.message.bytes", "7004"}};
    std::vector<Cluster::Asked> asked;
    for (std::int32_t id = 1; id <= kNodes; ++id) {
      const auto& [key, value] = changes[static_cast<std::size_t>(id - 1)];
      asked.push_back(cluster.ask_for_both(id, key, value));
    }
    const auto answered = [&](std::int32_t id) {
      return !asked[static_cast<std::size_t>(id - 1)]->answers.empty();
    };
    // It holds what came to it, in a log that nobody fetches.
    QVERIFY(cluster.until(
        [&] { return cluster.quorum(was).log_end_offset.value() >= end.value() + 2; }));
    QVERIFY(cluster.leads(was));
    QVERIFY(cluster.until([&] { return !cluster.leads(was); }));
    for (std::int32_t id = 1; id <= kNodes; ++id) {
      QVERIFY(!answered(id));
    }
    // The others have a new controller; the old one learns of it when it is heard again.
    QVERIFY(cluster.until([&] {
      return cluster.leader_for(kNodes) != was && cluster.leader_for(kNodes) != 0 &&
             answered(kNodes);
    }));
    const std::int32_t is = cluster.leader_for(kNodes);
    QVERIFY(!answered(was));
    cluster.heal();
    for (std::int32_t id = 1; id <= kNodes; ++id) {
      QVERIFY(cluster.until([&] { return answered(id); }));
      const std::string name = std::to_string(id);
      QCOMPARE(Cluster::errors_of(asked[static_cast<std::size_t>(id - 1)]),
               (Cluster::Errors{{name, ErrorCode::none}, {"t", ErrorCode::none}}));
      QCOMPARE(cluster.level_at(id), std::string("WARN"));
    }
    const metadata::ConfigMap* configs =
        cluster.node(is).insides().image->find_configs({metadata::ConfigResourceType::topic, "t"});
    QVERIFY(configs != nullptr);
    for (const auto& [key, value] : changes) {
      QVERIFY2(configs->contains(key) && configs->at(key) == value, key.c_str());
    }
    for (const Cluster::Asked& one : asked) {
      QCOMPARE(one->answers.size(), std::size_t{1});
      QCOMPARE(one->closed, std::string());
    }
  }

  // Nobody becomes the controller: what the broker did itself is done, and the rest is told that
  // its time is up.
  void without_a_controller_the_other_part_times_out() {
    Cluster cluster;
    QVERIFY(cluster.ready());
    const std::int32_t was = cluster.leader_for(kNodes);
    for (std::int32_t id = 1; id <= kVoters; ++id) {
      if (id != was) {
        cluster.node(id).kill();
      }
    }
    const Cluster::Asked there = cluster.ask_for_both(was, "retention.ms", "7001");
    const Cluster::Asked elsewhere = cluster.ask_for_both(kNodes, "retention.ms", "7002");
    QVERIFY(cluster.until([&] { return !there->answers.empty() && !elsewhere->answers.empty(); }));
    for (const auto& [asked, id] : {std::pair{there, was}, std::pair{elsewhere, kNodes}}) {
      QCOMPARE(Cluster::errors_of(asked), (Cluster::Errors{{std::to_string(id), ErrorCode::none},
                                                           {"t", ErrorCode::request_timed_out}}));
      QCOMPARE(cluster.level_at(id), std::string("WARN"));
    }
  }
};

QTEST_APPLESS_MAIN(TestSimForwarding)
#include "tst_sim_forwarding.moc"
