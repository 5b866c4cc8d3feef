// SPDX-License-Identifier: Apache-2.0
// The listener probe against real sockets: our broker, nobody, somebody else, a name that is none; and case 1 of the
// public cases, an advertised address where nothing listens.
#include <QTest>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "engine/node/cluster.h"
#include "engine/node/listener_probe.h"
#include "engine/wire/msg/api_versions.h"
#include "tests/engine/node/blocking_client.h"

using namespace hw;  // NOLINT(google-build-using-namespace): a test
using node::ListenerProbe;

namespace {

constexpr Duration kPatience{2'000'000'000};

// A port that the kernel gave, bound: nobody else gets it while this lives.
class Held {
 public:
  explicit Held(bool listens) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    if (listens) {
      ::listen(fd_, 4);
    }
    socklen_t size = sizeof address;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~Held() { ::close(fd_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

std::unique_ptr<node::Cluster> start(node::ClusterOptions options) {
  options.listen.port = 0;
  auto cluster = std::make_unique<node::Cluster>(std::move(options));
  const Result<void> started = cluster->start();
  return started ? std::move(cluster) : nullptr;
}

}  // namespace

class TestListenerProbe : public QObject {
  Q_OBJECT

 private slots:
  void our_broker_answers_with_what_it_advertises() {
    auto cluster = start({});
    QVERIFY(cluster != nullptr);
    const ListenerProbe probe = node::probe_listener("localhost", cluster->port(), kPatience);
    QVERIFY2(probe.ok(), probe.detail.c_str());
    QCOMPARE(probe.cluster_id, cluster->cluster_id());
    QCOMPARE(probe.brokers.size(), std::size_t{1});
    QCOMPARE(probe.brokers[0].host, std::string("localhost"));
    QCOMPARE(probe.brokers[0].port, static_cast<std::int32_t>(cluster->port()));
    QVERIFY(!probe.addresses.empty());
  }

  void an_advertised_address_where_nothing_listens() {
    const Held dead(false);
    node::ClusterOptions options;
    options.listen.advertised_host = "127.0.0.1";
    options.listen.advertised_port = dead.port();
    auto cluster = start(std::move(options));
    QVERIFY(cluster != nullptr);
    // The first contact works, and says where to go on …
    const ListenerProbe first = node::probe_listener("127.0.0.1", cluster->port(), kPatience);
    QVERIFY(first.ok());
    QCOMPARE(first.brokers.at(0).port, static_cast<std::int32_t>(dead.port()));
    // … which is nowhere.
    const ListenerProbe second = node::probe_listener("127.0.0.1", dead.port(), kPatience);
    QCOMPARE(second.outcome, ListenerProbe::Outcome::refused);
    QVERIFY(!second.detail.empty());
  }

  void others_are_told_apart() {
    const ListenerProbe nameless = node::probe_listener("no-such-host.invalid", 9092, kPatience);
    QCOMPARE(nameless.outcome, ListenerProbe::Outcome::not_resolved);
    // Somebody takes the connection and hangs up.
    const Held other(true);
    std::thread rude([&] {
      const int client = ::accept(other.fd(), nullptr, nullptr);
      const char greeting[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
      (void)::send(client, greeting, sizeof greeting - 1, MSG_NOSIGNAL);
      ::close(client);
    });
    const ListenerProbe probe = node::probe_listener("127.0.0.1", other.port(), kPatience);
    rude.join();
    QCOMPARE(probe.outcome, ListenerProbe::Outcome::other_protocol);
    // Somebody takes the connection and says nothing: bounded by the time given.
    const Held silent(true);
    const ListenerProbe waited = node::probe_listener("127.0.0.1", silent.port(), Duration{200'000'000});
    QCOMPARE(waited.outcome, ListenerProbe::Outcome::other_protocol);
  }

  void this_machine_has_a_loopback_address() {
    bool loopback = false;
    for (const node::LocalAddress& address : node::local_addresses()) {
      QVERIFY(!address.address.empty() && !address.interface_name.empty());
      loopback = loopback || (address.kind == node::LocalAddress::Kind::loopback && address.address == "127.0.0.1");
    }
    QVERIFY(loopback);
  }

  void a_connection_counts_what_it_asks_and_what_fails() {
    node::ClusterOptions options;
    options.observe = true;
    auto cluster = start(std::move(options));
    QVERIFY(cluster != nullptr);
    test::BlockingClient client(cluster->port());
    wire::ApiVersionsRequest request;
    request.client_software_name = "tester";
    request.client_software_version = "1.2.3";
    for (int i = 0; i < 3; ++i) {
      QCOMPARE(client.ask<wire::ApiVersionsResponse>(request, 4).error_code, wire::ErrorCode::none);
    }
    request.client_software_name = "bad name";
    QCOMPARE(client.ask<wire::ApiVersionsResponse>(request, 4).error_code, wire::ErrorCode::invalid_request);
    const auto mine = [&]() -> std::shared_ptr<const observe::ConnectionView> {
      const observe::ViewPtr view = cluster->view();
      for (const auto& [id, connection] : *view->connections) {
        if (connection->software_name == "tester") {
          return connection;
        }
      }
      return nullptr;
    };
    QTRY_VERIFY(mine() != nullptr);
    const auto connection = mine();
    QCOMPARE(connection->counters->apis[0].key.get(), std::int64_t{18});
    QCOMPARE(connection->counters->apis[0].version.get(), std::int64_t{4});
    QCOMPARE(connection->counters->apis[0].requests.get(), std::int64_t{4});
    QCOMPARE(connection->counters->errors[0].code.get(), std::int64_t{42});
    QCOMPARE(connection->counters->error_total(), std::int64_t{1});
    // Told of once, although it asked four times.
    int told = 0;
    for (const observe::RecentEvent& event : *cluster->view()->recent) {
      told += std::holds_alternative<event::ClientIdentified>(*event.event) ? 1 : 0;
    }
    QCOMPARE(told, 1);
  }
};

QTEST_GUILESS_MAIN(TestListenerProbe)
#include "tst_listener_probe.moc"
