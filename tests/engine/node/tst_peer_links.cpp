// SPDX-License-Identifier: Apache-2.0
// The connections between nodes: channels over real sockets, ways that are cut, and requests inside envelopes.
#include <QTest>
#include <asio/io_context.hpp>
#include <chrono>
#include <map>
#include <memory>

#include "engine/api/peer_channels.h"
#include "engine/node/cluster.h"
#include "engine/node/peer_links.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/create_topics.h"
#include "engine/wire/msg/envelope.h"
#include "engine/wire/msg/metadata.h"
#include "tests/engine/node/blocking_client.h"

using namespace hw;  // NOLINT(google-build-using-namespace): a test
using api::PeerChannels;
using test::BlockingClient;

namespace {

constexpr std::chrono::seconds kPatience{20};

// A node that runs, and the channels of another one that is only this test.
struct Pair {
  Pair() {
    node::ClusterOptions options;
    options.listen.port = 0;
    cluster = std::make_unique<node::Cluster>(options);
    if (!cluster->start()) {
      cluster.reset();
      return;
    }
    to = {BrokerId(1), "127.0.0.1", cluster->node(0).controller_port()};
  }

  void ask(Duration timeout) {
    wire::ApiVersionsRequest request;
    request.client_software_name = "peer";
    request.client_software_version = "1";
    channels.ask<wire::ApiVersionsResponse>(PeerChannels::Purpose::quorum, 0, to, request, 4, timeout, out,
                                            [this](Result<wire::ApiVersionsResponse> response) {
                                              response ? ++answered : ++failed;
                                              if (response) {
                                                last = std::move(*response);
                                              } else {
                                                reason = response.error().detail;
                                              }
                                            });
    for (api::Outputs::PeerSend& send : out.peer_sends) {
      links.send(std::move(send));
    }
    out.clear();
  }
  template <class Condition>
  bool until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!condition() && std::chrono::steady_clock::now() < end) {
      io.restart();
      io.run_one_for(std::chrono::milliseconds(100));
    }
    return condition();
  }

  std::unique_ptr<node::Cluster> cluster;
  api::PeerAddress to;
  asio::io_context io;
  PeerChannels channels{BrokerId(2)};
  node::PeerLinks links{io, {[this](std::uint64_t id, const Bytes& frame) { channels.answered(id, frame); },
                             [this](std::uint64_t id, const std::string& why) { channels.failed(id, why); }}};
  api::Outputs out;
  int answered = 0;
  int failed = 0;
  std::string reason;
  wire::ApiVersionsResponse last;
};

wire::CreateTopicsRequest create_request(const std::string& name) {
  wire::CreateTopicsRequest request;
  request.timeout_ms = 10'000;
  wire::CreateTopicsRequest::CreatableTopic topic;
  topic.name = name;
  topic.num_partitions = 1;
  topic.replication_factor = 1;
  request.topics.push_back(topic);
  return request;
}

// A whole request as a broker found it in its client's frame.
template <class Request>
Bytes request_frame(const Request& request, std::int16_t version, std::int32_t correlation) {
  wire::Writer writer;
  writer.int16(Request::kApiKey);
  writer.int16(version);
  writer.int32(correlation);
  writer.string("app", false);
  writer.tag_count(0);
  return encode(writer, request, version) ? writer.finish().flatten() : Bytes{};
}

}  // namespace

class TestPeerLinks : public QObject {
  Q_OBJECT
 private slots:
  void answersComeInOrder() {
    Pair pair;
    QVERIFY(pair.cluster != nullptr);
    for (int i = 0; i < 50; ++i) {
      pair.ask(seconds(10));
    }
    QVERIFY(pair.until([&] { return pair.answered == 50; }));
    QCOMPARE(pair.failed, 0);
    QCOMPARE(pair.channels.in_flight(), std::size_t{0});
    QCOMPARE(pair.last.error_code, wire::ErrorCode::none);
  }

  void aControllersListenerServesItsOwnApis() {
    Pair pair;
    QVERIFY(pair.cluster != nullptr);
    pair.ask(seconds(10));
    QVERIFY(pair.until([&] { return pair.answered == 1; }));
    const auto offers = [&](std::int16_t key) {
      return std::any_of(pair.last.api_keys.begin(), pair.last.api_keys.end(), [&](const auto& api) { return api.api_key == key; });
    };
    QVERIFY(offers(wire::EnvelopeRequest::kApiKey));
    QVERIFY(offers(wire::CreateTopicsRequest::kApiKey));
    QVERIFY(!offers(wire::MetadataRequest::kApiKey));
    BlockingClient client(pair.cluster->node(0).controller_port());
    client.send(wire::MetadataRequest{}, 12);
    QCOMPARE(client.drain(), std::size_t{0});  // closed without an answer
  }

  void aCutWayHoldsWhatIsSentUntilItIsHealed() {
    Pair pair;
    QVERIFY(pair.cluster != nullptr);
    pair.links.hold(BrokerId(1), {true, false, {}});
    pair.ask(seconds(60));
    for (int i = 0; i < 5; ++i) {
      pair.io.restart();
      pair.io.run_one_for(std::chrono::milliseconds(20));
    }
    QCOMPARE(pair.answered, 0);
    pair.links.hold(BrokerId(1), {});
    QVERIFY(pair.until([&] { return pair.answered == 1; }));
  }

  void aCutWayBackHoldsTheAnswer() {
    Pair pair;
    QVERIFY(pair.cluster != nullptr);
    pair.ask(seconds(60));
    QVERIFY(pair.until([&] { return pair.answered == 1; }));
    const std::int64_t served = pair.cluster->node(0).running() ? 1 : 0;
    QCOMPARE(served, std::int64_t{1});
    pair.links.hold(BrokerId(1), {false, true, {}});
    pair.ask(seconds(60));
    for (int i = 0; i < 5; ++i) {
      pair.io.restart();
      pair.io.run_one_for(std::chrono::milliseconds(20));
    }
    QCOMPARE(pair.answered, 1);
    pair.links.hold(BrokerId(1), {});
    QVERIFY(pair.until([&] { return pair.answered == 2; }));
  }

  void anOverdueAnswerBreaksTheConnection() {
    Pair pair;
    QVERIFY(pair.cluster != nullptr);
    pair.links.hold(BrokerId(1), {true, false, {}});
    pair.ask(milliseconds(30));
    pair.ask(seconds(60));  // behind it on the same connection
    QVERIFY(pair.until([&] { return pair.failed == 2; }));
    QCOMPARE(pair.reason, std::string("no answer in time"));
    pair.links.hold(BrokerId(1), {});
    pair.ask(seconds(60));  // a new connection
    QVERIFY(pair.until([&] { return pair.answered == 1; }));
  }

  void aPausedNodeIsSilentAndThenAnswers() {
    Pair pair;
    QVERIFY(pair.cluster != nullptr);
    QVERIFY(pair.cluster->pause_node(BrokerId(1)));
    QVERIFY(pair.cluster->state_of(BrokerId(1)) == node::Cluster::NodeState::paused);
    pair.ask(seconds(60));
    for (int i = 0; i < 5; ++i) {
      pair.io.restart();
      pair.io.run_one_for(std::chrono::milliseconds(20));
    }
    QCOMPARE(pair.answered, 0);
    QVERIFY(pair.cluster->resume_node(BrokerId(1)));
    QVERIFY(pair.until([&] { return pair.answered == 1; }));
  }

  void aKilledNodeFailsWhatIsOpenAndComesBackOnItsPorts() {
    Pair pair;
    QVERIFY(pair.cluster != nullptr);
    const std::uint16_t port = pair.cluster->port();
    pair.ask(seconds(60));
    QVERIFY(pair.until([&] { return pair.answered == 1; }));
    QVERIFY(pair.cluster->kill_node(BrokerId(1)));
    QVERIFY(pair.cluster->state_of(BrokerId(1)) == node::Cluster::NodeState::stopped);
    pair.ask(seconds(60));
    QVERIFY(pair.until([&] { return pair.failed == 1; }));
    QVERIFY(pair.cluster->start_node(BrokerId(1)));
    QCOMPARE(pair.cluster->port(), port);
    pair.ask(seconds(60));
    QVERIFY(pair.until([&] { return pair.answered == 2; }));
    QVERIFY(!pair.cluster->start_node(BrokerId(1)));  // it runs
    QVERIFY(!pair.cluster->kill_node(BrokerId(9)));   // there is none
  }

  void anEnvelopeIsServedForItsClient() {
    Pair pair;
    QVERIFY(pair.cluster != nullptr);
    BlockingClient client(pair.cluster->node(0).controller_port());
    wire::EnvelopeRequest envelope;
    envelope.request_data = request_frame(create_request("wrapped"), 7, 4242);
    const std::array<std::byte, 4> host{std::byte{127}, std::byte{0}, std::byte{0}, std::byte{1}};
    envelope.client_host_address = Bytes::copy_of(host);
    auto answer = client.ask<wire::EnvelopeResponse>(envelope, 0);
    QCOMPARE(answer.error_code, wire::ErrorCode::none);
    QVERIFY(answer.response_data.has_value());
    wire::Reader reader(*answer.response_data);
    QCOMPARE(reader.int32(), 4242);
    QCOMPARE(reader.tag_count(), 0U);
    wire::CreateTopicsResponse created;
    QVERIFY(decode(reader, created, 7));
    QCOMPARE(created.topics.at(0).error_code, wire::ErrorCode::none);

    // What is no business of the controller is refused, and the connection goes on.
    envelope.request_data = request_frame(wire::MetadataRequest{}, 12, 1);
    answer = client.ask<wire::EnvelopeResponse>(envelope, 0);
    QCOMPARE(answer.error_code, wire::ErrorCode::invalid_request);
    envelope.request_data = Bytes::copy_of("no request");
    QCOMPARE(client.ask<wire::EnvelopeResponse>(envelope, 0).error_code, wire::ErrorCode::invalid_request);
  }
};

QTEST_APPLESS_MAIN(TestPeerLinks)
#include "tst_peer_links.moc"
