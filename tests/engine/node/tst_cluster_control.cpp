// SPDX-License-Identifier: Apache-2.0
// Cluster control on three nodes that run: by its vocabulary and over HTTP, with bad input and with what web pages send.
#include <QTest>
#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <thread>

#include "engine/node/cluster.h"
#include "engine/node/cluster_control.h"
#include "engine/node/control_server.h"

using namespace hw;  // NOLINT(google-build-using-namespace): a test
using node::Value;

namespace {

constexpr std::chrono::seconds kPatience{60};  // of a machine that builds beside it

Value nodes(std::initializer_list<int> ids) {
  Value::List list;
  for (const int id : ids) {
    list.emplace_back(id);
  }
  return Value::object().set("nodes", std::move(list));
}

Value ways(std::initializer_list<int> from, std::initializer_list<int> to) {
  Value::List a;
  Value::List b;
  for (const int id : from) {
    a.emplace_back(id);
  }
  for (const int id : to) {
    b.emplace_back(id);
  }
  return Value::object().set("from", std::move(a)).set("to", std::move(b));
}

Value of_node(const Value& answer, std::int64_t id) {
  if (const Value::List* list = answer["nodes"].list()) {
    for (const Value& one : *list) {
      if (one["node"].number_or(-1) == id) {
        return one;
      }
    }
  }
  return {};
}

std::size_t size(const Value& list) { return list.list() == nullptr ? 0 : list.list()->size(); }

// Whatever bytes, as a client that keeps to no rule sends them; what comes back until the server closes.
std::string raw(std::uint16_t port, const std::string& bytes) {
  asio::io_context io;
  asio::ip::tcp::socket socket(io);
  asio::error_code error;
  socket.connect({asio::ip::make_address("127.0.0.1"), port}, error);
  asio::write(socket, asio::buffer(bytes), error);
  socket.shutdown(asio::ip::tcp::socket::shutdown_send, error);
  std::string answer;
  asio::read(socket, asio::dynamic_buffer(answer), error);
  return answer;
}

int status_of(const std::string& answer) { return answer.size() < 12 ? 0 : std::atoi(answer.substr(9, 3).c_str()); }

}  // namespace

class TestClusterControl : public QObject {
  Q_OBJECT
  std::unique_ptr<node::Cluster> cluster_;
  std::unique_ptr<node::ClusterControl> control_;
  std::unique_ptr<node::ControlServer> server_;

  Value run(const char* command, const Value& arguments = {}) {
    Result<Value> done = control_->run(command, arguments);
    if (!done) {
      qWarning("%s: %s", command, done.error().detail.c_str());
      return {};
    }
    return std::move(*done);
  }
  Errc refused(const char* command, const Value& arguments) {
    const Result<Value> done = control_->run(command, arguments);
    return done ? Errc::io : done.error().code;
  }
  bool until(const std::function<bool(const Value&)>& condition) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      if (condition(run("cluster.status"))) {
        return true;
      }
      std::this_thread::yield();
    }
    return false;
  }
  static bool whole(const Value& status) {
    for (const int id : {1, 2, 3}) {
      const Value one = of_node(status, id);
      if (!one["serves"].truth_or(false) || one["fenced"].truth_or(true) || one["epoch_seen"].number_or(-1) != status["epoch"].number_or(-2)) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] std::string http(const std::string& line, const std::string& headers, const std::string& body = {}) const {
    return raw(server_->port(), line + " HTTP/1.1\r\n" + headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }

 private slots:
  void initTestCase() {
    node::ClusterOptions options;
    options.nodes = 3;
    options.listen.port = 0;
    cluster_ = std::make_unique<node::Cluster>(std::move(options));
    const Result<void> started = cluster_->start();
    QVERIFY2(started, started ? "" : started.error().detail.c_str());
    control_ = std::make_unique<node::ClusterControl>(*cluster_);
    node::ControlServerOptions server;
    server.port = 0;
    server.version = "1.2.3";
    server_ = std::make_unique<node::ControlServer>(server, *control_);
    QVERIFY(server_->start());
  }
  void init() {
    (void)run("cluster.heal");
    QVERIFY(until(whole));
  }
  void cleanupTestCase() {
    server_.reset();
    control_.reset();
    cluster_.reset();
  }

  void theActiveControllerIsKilled() {
    const Value before = run("cluster.status");
    const std::int64_t leader = before["controller"].number_or(-1);
    QVERIFY(leader >= 1 && leader <= 3);
    QCOMPARE(size(before["faults"]), 0U);
    QCOMPARE(size(of_node(before, 1)["roles"]), 2U);
    const Value killed = of_node(run("node.kill", nodes({static_cast<int>(leader)})), leader);
    QCOMPARE(killed["state"].text_or(""), std::string("killed"));
    QVERIFY(!killed["answers"].truth_or(true));
    QVERIFY(until([&](const Value& status) {
      return status["controller"].number() != nullptr && *status["controller"].number() != leader &&
             status["epoch"].number_or(0) > before["epoch"].number_or(0) && of_node(status, leader)["fenced"].truth_or(false);
    }));
    const Value after = run("cluster.status");
    QCOMPARE(size(after["faults"]), 1U);
    QCOMPARE((*after["faults"].list())[0]["fault"].text_or(""), std::string("killed"));
    QVERIFY((*after["faults"].list())[0]["since_ms"].number_or(0) > 1'700'000'000'000);
    QCOMPARE(refused("node.kill", nodes({static_cast<int>(leader)})), Errc::in_use);
    QCOMPARE(refused("node.pause", nodes({static_cast<int>(leader)})), Errc::in_use);
    const Value port = of_node(before, leader)["port"];
    const Value started = of_node(run("node.start", nodes({static_cast<int>(leader)})), leader);
    QCOMPARE(started["state"].text_or(""), std::string("running"));
    QCOMPARE(started["port"].number_or(-1), port.number_or(-2));
    QVERIFY(until(whole));
    QCOMPARE(size(run("cluster.status")["faults"]), 0U);
    QCOMPARE(refused("node.start", nodes({static_cast<int>(leader)})), Errc::in_use);
  }

  void powerIsCut() {
    const Value killed = of_node(run("node.kill", nodes({2}).set("power_cut", true)), 2);
    QCOMPARE(killed["state"].text_or(""), std::string("killed"));
    QVERIFY(killed["lost"]["bytes"].number_or(-1) >= 0);
    QVERIFY(killed["lost"]["files"].number_or(-1) >= 0);
    QCOMPARE((*run("cluster.status")["faults"].list())[0]["fault"].text_or(""), std::string("power cut"));
    QCOMPARE(refused("node.kill", nodes({1}).set("power_cut", 1)), Errc::invalid);
    QCOMPARE(refused("node.stop", nodes({1}).set("power_cut", true)), Errc::invalid);
    const Value started = of_node(run("node.start", nodes({2})), 2);
    QCOMPARE(started["state"].text_or(""), std::string("running"));
    QVERIFY(started["lost"].is_null());
    QVERIFY(until(whole));
    QVERIFY(of_node(run("node.kill", nodes({2})), 2)["lost"].is_null());
    QVERIFY(run("node.start", nodes({2})).members() != nullptr);
  }

  // Whoever shows how nodes stand hears of every command, whoever gave it.
  void whoeverWatchesHears() {
    std::atomic<int> heard{0};
    std::atomic<bool> seen_busy{false};
    control_->on_change([&] {
      ++heard;
      for (const node::ClusterControl::Condition& each : control_->conditions()) {
        seen_busy = seen_busy || each.busy;
      }
    });
    const auto of = [&](int id) { return control_->conditions().at(static_cast<std::size_t>(id - 1)); };
    QCOMPARE(control_->conditions().size(), 3U);
    QVERIFY(!of(2).killed && !of(2).cut_off && !of(2).slow && of(2).state == node::Cluster::NodeState::running);
    run("node.kill", nodes({2}).set("power_cut", true));
    QVERIFY(heard > 0 && seen_busy);
    QVERIFY(of(2).killed && of(2).lost && of(2).state == node::Cluster::NodeState::stopped);
    run("node.start", nodes({2}));
    QVERIFY(!of(2).killed && !of(2).lost && of(2).state == node::Cluster::NodeState::running);
    heard = 0;
    run("node.pause", nodes({3}));
    QVERIFY(heard > 0);
    QCOMPARE(of(3).state, node::Cluster::NodeState::paused);
    run("node.resume", nodes({3}));
    heard = 0;
    run("link.cut", ways({1}, {2}));
    QVERIFY(heard > 0);
    QVERIFY(!of(1).cut_off && of(1).some_way_cut && of(2).some_way_cut && !of(3).some_way_cut);
    run("link.cut", ways({1}, {3}));
    QVERIFY(of(1).cut_off && !of(2).cut_off);
    run("link.slow", ways({1}, {2, 3}).set("delay_ms", 20));
    QVERIFY(!of(1).cut_off && of(1).slow && of(2).slow);
    heard = 0;
    run("cluster.heal");
    QVERIFY(heard > 0);
    QVERIFY(!of(1).slow && !of(1).some_way_cut);
    run("node.slow", nodes({1}).set("delay_ms", 20));
    QVERIFY(of(1).slow);
    run("node.slow", nodes({1}).set("delay_ms", 0));
    QVERIFY(!of(1).slow);
    heard = 0;
    (void)run("cluster.status");
    QCOMPARE(heard.load(), 0);
    control_->on_change({});
    run("cluster.heal");
    QCOMPARE(heard.load(), 0);
  }

  void cutOffAndHealed() {
    const Value before = run("cluster.status");
    const std::int64_t leader = before["controller"].number_or(-1);
    const Value cut = run("link.cut", ways({static_cast<int>(leader)}, {1, 2, 3}));  // the way to itself is none
    QCOMPARE(size(cut["links"]), 4U);
    QVERIFY((*cut["links"].list())[0]["cut"].truth_or(false));
    QVERIFY(until([&](const Value& status) { return status["controller"].number() != nullptr && *status["controller"].number() != leader; }));
    const Value healed = run("link.heal", ways({1, 2, 3}, {1, 2, 3}));
    QCOMPARE(size(healed["links"]), 0U);
    QVERIFY(until(whole));

    const Value one_way = run("link.cut", ways({1}, {2}).set("one_way", true));
    QCOMPARE(size(one_way["links"]), 1U);
    const Value& link = (*one_way["links"].list())[0];
    QVERIFY(link["from"].number_or(0) == 1 && link["to"].number_or(0) == 2);
    const Value slow = run("link.slow", ways({1}, {3}).set("delay_ms", 7));
    QCOMPARE(size(slow["links"]), 3U);
    QCOMPARE(size(run("cluster.heal")["links"]), 0U);
  }

  void pausedAndSlow() {
    QCOMPARE(of_node(run("node.pause", nodes({2})), 2)["state"].text_or(""), std::string("paused"));
    QCOMPARE(refused("node.stop", nodes({2})), Errc::in_use);
    const Value status = run("cluster.status");  // is not held up by it
    QVERIFY(!of_node(status, 2)["serves"].truth_or(true));
    QCOMPARE(of_node(run("node.resume", nodes({2})), 2)["state"].text_or(""), std::string("running"));
    QCOMPARE(of_node(run("node.slow", nodes({3}).set("delay_ms", 5)), 3)["slow_ms"].number_or(0), 5);
    QCOMPARE(size(run("cluster.status")["faults"]), 1U);
    const Value healed = run("cluster.heal");
    QCOMPARE(size(healed["faults"]), 0U);
    QCOMPARE(of_node(healed, 3)["slow_ms"].number_or(-1), 0);
  }

  void aBrokerComesAndGoes() {
    const Value added = run("node.add");
    const Value four = of_node(added, 4);
    QVERIFY(four["serves"].truth_or(false));
    QCOMPARE(size(four["roles"]), 1U);
    QVERIFY(four["controller_port"].is_null());
    QVERIFY(until([](const Value& status) { return !of_node(status, 4)["fenced"].truth_or(true); }));
    QCOMPARE(refused("node.remove", nodes({1})), Errc::in_use);  // it votes
    const Value left = run("node.remove", nodes({4}));
    QCOMPARE(size(left["nodes"]), 3U);
    QCOMPARE(refused("node.start", nodes({4})), Errc::not_found);
  }

  // A clean stop of one node takes as long as it takes; what only tells does not wait for it.
  void tellsWhileItStops() {
    std::atomic<bool> done{false};
    std::thread stopping([&] {
      (void)control_->run("node.stop", nodes({3}));
      done.store(true);
    });
    std::set<std::string> seen;
    while (!done.load()) {
      const Value three = of_node(run("cluster.status"), 3);
      seen.insert(three["state"].text_or("?"));
    }
    stopping.join();
    seen.insert(of_node(run("cluster.status"), 3)["state"].text_or("?"));
    QVERIFY(seen.count("stopped") == 1 && seen.count("?") == 0);
    QCOMPARE(of_node(run("node.start", nodes({3})), 3)["state"].text_or(""), std::string("running"));
  }

  void argumentsAreChecked() {
    QCOMPARE(refused("node.explode", {}), Errc::not_found);
    QCOMPARE(refused("node.kill", {}), Errc::invalid);
    QCOMPARE(refused("node.kill", Value("1")), Errc::invalid);
    QCOMPARE(refused("node.kill", Value::object().set("nodes", Value::List{})), Errc::invalid);
    QCOMPARE(refused("node.kill", Value::object().set("nodes", "1")), Errc::invalid);
    QCOMPARE(refused("node.kill", Value::object().set("node", 1)), Errc::invalid);
    QCOMPARE(refused("node.kill", nodes({-1})), Errc::invalid);
    QCOMPARE(refused("node.kill", nodes({1, 9})), Errc::not_found);  // and node 1 is not touched
    QCOMPARE(refused("node.slow", nodes({1})), Errc::invalid);
    QCOMPARE(refused("node.slow", nodes({1}).set("delay_ms", 700'000)), Errc::invalid);
    QCOMPARE(refused("link.cut", ways({1}, {1})), Errc::invalid);
    QCOMPARE(refused("link.cut", ways({1}, {2}).set("one_way", 1)), Errc::invalid);
    QCOMPARE(refused("cluster.status", Value::object().set("all", true)), Errc::invalid);
    QVERIFY(whole(run("cluster.status")));
  }

  void overHttp() {
    node::HttpRequest request;
    request.method = "POST";
    request.target = "/v1/node.kill";
    request.headers["Content-Type"] = "application/json; charset=utf-8";
    request.body = R"({"nodes": 3})";
    const Result<node::HttpResponse> killed = node::http_call("localhost", server_->port(), request, seconds(60));
    QVERIFY2(killed, killed ? "" : killed.error().detail.c_str());
    QCOMPARE(killed->status, 200);
    QCOMPARE(of_node(*node::parse_value(killed->body), 3)["state"].text_or(""), std::string("killed"));
    const Result<node::HttpResponse> again = node::http_call("127.0.0.1", server_->port(), request, seconds(60));
    QVERIFY(again && again->status == 409);
    QVERIFY(node::parse_value(again->body)->operator[]("error").text_or("").find("node.start") != std::string::npos);
    request.target = "/v1/node.start";
    const Result<node::HttpResponse> started = node::http_call("127.0.0.1", server_->port(), request, seconds(60));
    QVERIFY(started && started->status == 200);

    const std::string host = "Host: localhost\r\n";
    QCOMPARE(status_of(http("GET /v1/cluster.status", host)), 200);
    QCOMPARE(status_of(http("GET /", host)), 200);
    const std::string document = http("GET /openapi.json", host);
    const Result<Value> openapi = node::parse_value(document.substr(document.find("\r\n\r\n") + 4));
    QVERIFY(openapi);
    QCOMPARE((*openapi)["openapi"].text_or(""), std::string("3.0.3"));
    QCOMPARE((*openapi)["info"]["version"].text_or(""), std::string("1.2.3"));
    for (const node::ControlCommand& command : node::control_commands()) {
      const Value& path = (*openapi)["paths"]["/v1/" + std::string(command.name)];
      QVERIFY2(path[command.changes ? "post" : "get"]["operationId"].text_or("") == command.name, std::string(command.name).c_str());
    }
    QVERIFY(http("HEAD /openapi.json", host).ends_with("\r\n\r\n"));
  }

  void badRequests_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("status");
    const auto row = [](const char* name, const char* bytes, int status) { QTest::newRow(name) << QByteArray(bytes) << status; };
    row("no HTTP", "hello\r\n\r\n", 400);
    row("an old version", "GET / HTTP/0.9\r\nHost: localhost\r\n\r\n", 400);
    row("a proxy's request", "GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400);
    row("no host", "GET / HTTP/1.1\r\n\r\n", 403);
    row("two hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400);
    row("a folded header", "GET / HTTP/1.1\r\nHost: localhost\r\n x: y\r\n\r\n", 400);
    row("chunked", "POST /v1/node.add HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411);
    row("a negative length", "POST /v1/node.add HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400);
    row("a huge length", "POST /v1/node.add HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n", 413);
    row("nothing there", "GET /v2/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 404);
    row("a change by GET", "GET /v1/node.add HTTP/1.1\r\nHost: localhost\r\n\r\n", 405);
    row("a form", "POST /v1/node.kill HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\n{\"nodes\":[1]}", 415);
    row("no type", "POST /v1/node.kill HTTP/1.1\r\nHost: localhost\r\nContent-Length: 13\r\n\r\n{\"nodes\":[1]}", 415);
    row("no JSON", "POST /v1/node.kill HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n{\"a\":", 400);
    row("a page's name rebound", "GET /v1/cluster.status HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403);
    row("nearly loopback", "GET /v1/cluster.status HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", 403);
    row("a foreign page", "GET /v1/cluster.status HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n", 403);
    row("a page of a file", "GET /v1/cluster.status HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n", 403);
    row("another port's page", "GET /v1/cluster.status HTTP/1.1\r\nHost: localhost:9099\r\nOrigin: http://localhost:3000\r\n\r\n", 403);
    row("without an origin", "GET /v1/cluster.status HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n", 403);
    row("asked for leave", "OPTIONS /v1/node.kill HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n", 403);
  }
  void badRequests() {
    QFETCH(QByteArray, bytes);
    QFETCH(int, status);
    const std::string answer = raw(server_->port(), bytes.toStdString());
    QCOMPARE(status_of(answer), status);
    QVERIFY(answer.find("Access-Control-Allow") == std::string::npos);
    const Result<Value> body = node::parse_value(answer.substr(answer.find("\r\n\r\n") + 4));
    QVERIFY(body && !(*body)["error"].text_or("").empty() && !(*body)["code"].text_or("").empty());
  }
  void aHeadTooLarge() {
    const std::string answer = raw(server_->port(), "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n");
    QVERIFY(status_of(answer) == 431 || answer.empty());  // the rest that was not read may reset the connection
  }
  // More connections than are served at once: the others wait, and are served when those end.
  void manyConnections() {
    asio::io_context io;
    std::vector<asio::ip::tcp::socket> idle;
    for (int i = 0; i < 16; ++i) {
      idle.emplace_back(io);
      idle.back().connect({asio::ip::make_address("127.0.0.1"), server_->port()});
    }
    std::future<std::string> late = std::async(std::launch::async, [&] { return http("GET /v1/cluster.status", "Host: localhost\r\n"); });
    QVERIFY(late.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
    idle.clear();
    QCOMPARE(status_of(late.get()), 200);
  }
  void offLoopbackOnlyWithAToken() {
    node::ControlServerOptions options;
    options.address = "0.0.0.0";
    options.port = 0;
    {
      node::ControlServer open(options, *control_);
      const Result<void> started = open.start();
      QVERIFY(!started && started.error().code == Errc::invalid);
      QVERIFY(started.error().detail.find("--control-token-file") != std::string::npos);
    }
    options.token = "0123456789abcdef";
    node::ControlServer guarded(options, *control_);
    QVERIFY(guarded.start());
    const auto ask = [&](const std::string& header) {
      return status_of(raw(guarded.port(), "GET /v1/cluster.status HTTP/1.1\r\nHost: box.example\r\n" + header + "\r\n"));
    };
    QCOMPARE(ask(""), 401);
    QCOMPARE(ask("Authorization: Bearer 0123456789abcdeg\r\n"), 401);
    QCOMPARE(ask("Authorization: Bearer 0123456789abcdef0\r\n"), 401);
    QCOMPARE(ask("Authorization: Bearer 0123456789abcdef\r\n"), 200);
    QCOMPARE(ask("Authorization: Bearer 0123456789abcdef\r\nOrigin: https://evil.example\r\n"), 403);
  }
  void valuesAndJson() {
    const Result<Value> read = node::parse_value(R"({"a":[1,-2,{"b":null}],"c":"\u00e4","d":true})");
    QVERIFY(read);
    QCOMPARE(node::to_json(*read), std::string(R"({"a":[1,-2,{"b":null}],"c":"ä","d":true})"));
    for (const char* bad : {"", "{", "1.5", "[1,]", "{\"a\":1,\"a\":2}", "18446744073709551615", "nul", "{} {}"}) {
      QVERIFY2(!node::parse_value(bad), bad);
    }
    QVERIFY(!node::parse_value(std::string(100, '[') + std::string(100, ']')));
  }
};

QTEST_GUILESS_MAIN(TestClusterControl)
#include "tst_cluster_control.moc"
