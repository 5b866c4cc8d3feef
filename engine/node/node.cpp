// SPDX-License-Identifier: Apache-2.0
#include "engine/node/node.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/v6_only.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "engine/base/diagnostics.h"
#include "engine/node/connection.h"
#include "engine/node/peer_links.h"
#include "engine/node/port_holder.h"

namespace hw::node {

namespace {

using asio::ip::tcp;

Instant steady_now() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return {static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec};
}

WallTime wall_now() noexcept {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return {static_cast<std::int64_t>(t.tv_sec) * 1'000 + t.tv_nsec / 1'000'000};
}

// Connections of all nodes of this process have different numbers, so that one who watches them all can tell them apart.
ConnectionId next_connection() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ConnectionId(last.fetch_add(1, std::memory_order_relaxed) + 1);
}

api::Now read_clocks() noexcept { return {steady_now(), wall_now()}; }

std::string endpoint_text(const tcp::endpoint& endpoint) {
  const asio::ip::address address = endpoint.address();
  return (address.is_v6() ? "[" + address.to_string() + "]" : address.to_string()) + ":" +
         std::to_string(endpoint.port());
}

// Kafka's names of levels; nothing here is written at FATAL.
struct LevelName {
  const char* name;
  diag::Level level;
};
constexpr LevelName kLevelNames[] = {{"TRACE", diag::Level::trace}, {"DEBUG", diag::Level::debug}, {"INFO", diag::Level::info},
                                     {"WARN", diag::Level::warn},   {"ERROR", diag::Level::error}, {"FATAL", diag::Level::off}};

void set_log_level(std::string_view name) {
  for (const LevelName& row : kLevelNames) {
    if (name == row.name) {
      diag::set_level(row.level);
    }
  }
}

std::string current_log_level() {
  for (const LevelName& row : kLevelNames) {
    if (row.level == diag::Level::off || diag::enabled(row.level)) {
      return row.name;
    }
  }
  return "INFO";
}

}  // namespace

// What waits in `io` does not own the loop: it ends with `io`, which is the loop's. An owner there would keep both for ever, as
// what was aborted at the end is never run. Jobs in the disk pool do own it.
struct Node::Loop : Connection::Owner, std::enable_shared_from_this<Node::Loop> {
  Loop(NodeSettings given, DiskPool& disk_pool, event::EventSink* sink)
      : settings(std::move(given)),
        pool(disk_pool),
        events(sink),
        timer(io),
        peers(io, {[this](std::uint64_t id, Bytes frame) {
                     const api::Now now = read_clocks();
                     core->peer_answered(id, frame, now, out);
                     finish_turn(now);
                   },
                   [this](std::uint64_t id, const std::string& reason) {
                     const api::Now now = read_clocks();
                     core->peer_failed(id, reason, now, out);
                     finish_turn(now);
                   }}) {}

  // --- Connection::Owner
  void frame_arrived(Connection& connection, Bytes frame) override {
    const std::int64_t wait = slow_ns.load(std::memory_order_relaxed);
    if (wait <= 0) {
      serve(connection.id(), std::move(frame));
      return;
    }
    auto later = std::make_shared<asio::steady_timer>(io, std::chrono::nanoseconds(wait));
    later->async_wait([this, later, id = connection.id(), frame = std::move(frame)](const asio::error_code& error) mutable {
      if (!error && !ending && connections.count(id) != 0) {
        serve(id, std::move(frame));
      }
    });
  }
  void serve(ConnectionId id, Bytes frame) {
    const api::Now now = read_clocks();
    core->request(id, std::move(frame), now, out);
    const api::Now after = read_clocks();
    core->spent(id, after.instant - now.instant, after);
    finish_turn(now);
  }
  void connection_ended(Connection& connection, const std::string& reason) override {
    const ConnectionId id = connection.id();
    if (connections.erase(id) == 0) {
      return;
    }
    counters->connections.set(static_cast<std::int64_t>(connections.size()));
    if (!reason.empty()) {
      diag::info("node {}: connection {} from {} closed: {}", settings.core.node.value(), id.value(), connection.peer(),
                 reason);
    }
    if (events != nullptr) {
      events->emit(event::ConnectionClosed{id, reason});
    }
    if (core != nullptr && !ending) {
      const api::Now now = read_clocks();
      core->disconnected(id, now, out);
      finish_turn(now);
    }
  }

  Result<void> bind() {
    asio::error_code error;
    const asio::ip::address address = asio::ip::make_address(settings.listen.address, error);
    if (error) {
      return fail(Errc::invalid, "cannot listen on '" + settings.listen.address +
                                     "': give an IP address of this machine, for example 127.0.0.1 or 0.0.0.0");
    }
    if (settings.core.broker) {
      HW_CHECK(open_acceptor(acceptors.emplace_back(io), tcp::endpoint(address, settings.listen.port)));
      port.store(acceptors.front().local_endpoint(error).port());
      if (settings.listen.address == "127.0.0.1") {
        // "localhost" is ::1 for many clients; where the machine has no IPv6, the first listener alone serves.
        tcp::acceptor second(io);
        if (open_acceptor(second, tcp::endpoint(asio::ip::make_address("::1", error), port.load()))) {
          acceptors.push_back(std::move(second));
        }
      }
    }
    if (settings.core.controller) {
      controller_acceptor.emplace(io);
      HW_CHECK(open_acceptor(*controller_acceptor, tcp::endpoint(address, settings.listen.controller_port)));
      controller_port.store(controller_acceptor->local_endpoint(error).port());
    }
    return {};
  }

  Result<void> open_acceptor(tcp::acceptor& acceptor, const tcp::endpoint& endpoint) const {
    asio::error_code error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) {
      acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    }
    if (!error && endpoint.address().is_v6()) {
      acceptor.set_option(asio::ip::v6_only(true), error);
    }
    if (!error) {
      acceptor.bind(endpoint, error);
    }
    if (!error) {
      acceptor.listen(asio::socket_base::max_listen_connections, error);
    }
    if (!error) {
      return {};
    }
    const std::string where = endpoint_text(endpoint);
    if (error == asio::error::address_in_use) {
      const std::uint16_t free = next_free_port(settings.listen.address, static_cast<std::uint16_t>(endpoint.port() + 1));
      return fail(Errc::in_use, "port " + std::to_string(endpoint.port()) + " is taken by " +
                                    describe_port_holder(endpoint.port()) +
                                    (free != 0 ? "; port " + std::to_string(free) + " is free" : ""));
    }
    return fail(error == asio::error::access_denied ? Errc::permission : Errc::io,
                "cannot listen on " + where + ": " + error.message());
  }

  void accept(tcp::acceptor& acceptor) {
    acceptor.async_accept([this, &acceptor](const asio::error_code& error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || ending) {
        return;
      }
      if (!error) {
        adopt(std::move(socket), is_controllers(acceptor) ? api::ListenerKind::controller : api::ListenerKind::client);
        if (!core->may_accept()) {  // goes on when a connection ends, or the limit rises
          full.push_back(&acceptor);
          return;
        }
      } else {
        // Out of descriptors: the waiting client stays in the backlog; trying at once again would spin.
        if (!accept_failing) {
          diag::warn("node {}: cannot accept a connection: {}; raise the limit of open files (ulimit -n)",
                     settings.core.node.value(), error.message());
        }
        accept_failing = true;
        auto pause = std::make_shared<asio::steady_timer>(io, std::chrono::milliseconds(100));
        pause->async_wait([this, &acceptor, pause](const asio::error_code&) { accept(acceptor); });
        return;
      }
      accept_failing = false;
      accept(acceptor);
    });
  }

  // Whoever waits for what the node has become hears of it.
  void tell_progress() {
    if (!ready_told && core->ready()) {
      ready_told = true;
      ready.set_value();
    }
    if (handing_over && core->handed_over()) {
      handing_over = false;
      left.set_value();
    }
  }

  [[nodiscard]] bool is_controllers(const tcp::acceptor& acceptor) const noexcept {
    return controller_acceptor && &acceptor == &*controller_acceptor;
  }

  void adopt(tcp::socket socket, api::ListenerKind listener) {
    asio::error_code error;
    const tcp::endpoint remote = socket.remote_endpoint(error);
    if (error) {
      return;
    }
    const ConnectionId id = next_connection();
    auto connection =
        std::make_shared<Connection>(std::move(socket), id, endpoint_text(remote), core->max_request_bytes(), *this);
    connections.emplace(id, connection);
    counters->connections.set(static_cast<std::int64_t>(connections.size()));
    if (events != nullptr) {
      events->emit(event::ConnectionOpened{id, connection->peer(), connection->counters()});
    }
    const api::Now now = read_clocks();
    core->connected(id, connection->peer(), now, out, connection->counters(), listener);
    connection->start();
    finish_turn(now);
  }

  // Everything the core put out: frames to their sockets, jobs to the disk pool, the timer.
  void finish_turn(api::Now began) {
    if (in_turn) {
      return;  // the outer turn goes on with what was added
    }
    in_turn = true;
    while (!out.replies.empty() || !out.closes.empty() || !out.peer_sends.empty() || !out.peer_closes.empty() ||
           !out.disk_jobs.empty() || out.log_level) {
      std::swap(out, work);
      if (work.log_level) {
        set_log_level(*work.log_level);
      }
      for (api::Outputs::Reply& reply : work.replies) {
        const auto found = connections.find(reply.connection);
        if (found != connections.end()) {
          const std::shared_ptr<Connection> connection = found->second;
          connection->reply(std::move(reply.frame), reply.close_after, reply.throttle);
        }
      }
      for (const api::Outputs::Close& close : work.closes) {
        const auto found = connections.find(close.connection);
        if (found != connections.end()) {
          const std::shared_ptr<Connection> connection = found->second;
          connection->close(close.reason);
        }
      }
      for (api::Outputs::PeerSend& send : work.peer_sends) {
        peers.send(std::move(send));
      }
      for (const ChannelId channel : work.peer_closes) {
        peers.close(channel);
      }
      for (api::Outputs::DiskJob& job : work.disk_jobs) {
        pool.submit(std::move(job.work), [loop = shared_from_this(), id = job.id](const Result<void>& result) {
          asio::post(loop->io, [&loop = *loop, id, result] {
            if (loop.core != nullptr && !loop.ending) {
              const api::Now now = read_clocks();
              loop.core->disk_done(id, result, now, loop.out);
              loop.finish_turn(now);
            }
          });
        });
      }
      work.clear();
    }
    in_turn = false;
    tell_progress();
    if (!core->failure().empty() && !ending) {
      end_by_itself(core->failure());
      return;
    }
    if (!full.empty() && !ending && core->may_accept()) {
      for (tcp::acceptor* acceptor : std::exchange(full, {})) {
        accept(*acceptor);
      }
    }
    arm_timer();
    const std::int64_t took = (steady_now() - began.instant).ns;
    if (took > counters->turn_ns_max.get()) {
      counters->turn_ns_max.set(took);
    }
    if (took > 10'000'000) {
      counters->turns_over_10ms.add(1);
    }
  }

  // As a process that halts: others see closed sockets at once, not silence.
  void end_by_itself(const std::string& why) {
    {
      const std::lock_guard guard(failure_mutex);
      failure = why;
    }
    diag::error("node {} has stopped: {}", settings.core.node.value(), why);
    asio::post(io, [this] {
      if (!ending) {
        close_everything();
        is_running.store(false);
      }
    });
  }

  void arm_timer() {
    const Instant deadline = core->next_deadline();
    if (deadline == armed_for) {
      return;
    }
    armed_for = deadline;
    if (deadline == kNever) {
      timer.cancel();
      return;
    }
    timer.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline.ns)));
    timer.async_wait([this](const asio::error_code& error) {
      if (error || ending) {
        return;
      }
      armed_for = kNever;
      const api::Now now = read_clocks();
      core->tick(now, out);
      finish_turn(now);
    });
  }

  Result<void> open() {
    settings.core.log_level = current_log_level();
    core = std::make_unique<api::NodeCore>(settings.core, *settings.disk, events, counters, Prng(settings.seed));
    const api::Now now = read_clocks();
    HW_CHECK(core->start(now, out));
    cluster_id = core->cluster_id();
    for (tcp::acceptor& acceptor : acceptors) {
      accept(acceptor);
    }
    if (controller_acceptor) {
      accept(*controller_acceptor);
    }
    finish_turn(now);
    return {};
  }

  // False: it did not come within `limit`, or nobody may wait any more.
  template <class Future>
  bool wait_for(const Future& future, Duration limit) const {
    constexpr Duration kSlice = milliseconds(20);
    const Instant until = steady_now() + limit;
    for (;;) {
      const Duration remaining = hurried.load() ? Duration{} : std::max(Duration{}, until - steady_now());
      if (future.wait_for(std::chrono::nanoseconds(std::min(remaining, kSlice).ns)) == std::future_status::ready) {
        return true;
      }
      if (remaining == Duration{}) {
        return false;
      }
    }
  }

  void close_everything() {
    ending = true;
    asio::error_code ignored;
    for (tcp::acceptor& acceptor : acceptors) {
      acceptor.close(ignored);
    }
    if (controller_acceptor) {
      controller_acceptor->close(ignored);
    }
    timer.cancel();
    peers.end();
    const auto all = std::move(connections);
    connections.clear();
    for (const auto& [id, connection] : all) {
      connection->close("the node ended");
    }
    io.stop();
  }

  NodeSettings settings;
  DiskPool& pool;
  event::EventSink* events;
  asio::io_context io{1};
  asio::steady_timer timer;
  std::vector<tcp::acceptor> acceptors;  // of clients
  std::optional<tcp::acceptor> controller_acceptor;
  PeerLinks peers;
  std::unique_ptr<api::NodeCore> core;
  std::shared_ptr<event::NodeCounters> counters = std::make_shared<event::NodeCounters>();
  std::unordered_map<ConnectionId, std::shared_ptr<Connection>> connections;
  api::Outputs out;   // filled by the core
  api::Outputs work;  // being carried out
  std::vector<tcp::acceptor*> full;  // wait until max.connections lets somebody in
  Instant armed_for = kNever;
  bool in_turn = false;
  bool ending = false;
  bool accept_failing = false;
  std::promise<void> ready;
  std::shared_future<void> is_ready = ready.get_future().share();
  bool ready_told = false;
  std::promise<void> left;  // of leave()
  bool handing_over = false;
  std::shared_ptr<std::promise<void>> pausing;  // set: paused until it is fulfilled; any thread but the node's
  std::atomic<bool> is_paused{false};
  std::atomic<bool> is_running{false};  // from start() until the thread has ended
  std::atomic<bool> hurried{false};
  mutable std::mutex failure_mutex;
  std::string failure;  // why it ended by itself
  std::atomic<std::int64_t> slow_ns{0};
  std::atomic<std::uint16_t> port{0};
  std::atomic<std::uint16_t> controller_port{0};
  std::string cluster_id;
  std::thread thread;
};

Node::Node(NodeSettings settings, DiskPool& pool, event::EventSink* events)
    : loop_(std::make_shared<Loop>(std::move(settings), pool, events)) {
  loop_->acceptors.reserve(2);  // accept() keeps references
}

Node::~Node() { kill(); }

Result<void> Node::bind() {
  Loop& loop = *loop_;
  if (!loop.acceptors.empty() || loop.controller_acceptor) {
    return {};
  }
  HW_CHECK(loop.bind());
  const ListenOptions& listen = loop.settings.listen;
  const bool loopback = listen.address.starts_with("127.") || listen.address == "::1";
  loop.settings.core.advertised_host =
      !listen.advertised_host.empty() ? listen.advertised_host : (loopback ? "localhost" : listen.address);
  loop.settings.core.advertised_port = listen.advertised_port != 0 ? listen.advertised_port : loop.port.load();
  loop.settings.core.controller_host = loopback ? listen.address : loop.settings.core.advertised_host;
  loop.settings.core.controller_port = loop.controller_port.load();
  return {};
}

api::NodeOptions& Node::core_options() noexcept { return loop_->settings.core; }

Result<void> Node::start() {
  Loop& loop = *loop_;
  HW_CHECK(bind());

  std::promise<Result<void>> opened;
  std::future<Result<void>> answer = opened.get_future();
  loop.thread = std::thread([loop_pointer = loop_, &opened] {
    Loop& mine = *loop_pointer;
    pthread_setname_np(pthread_self(), ("hw-node-" + std::to_string(mine.settings.core.node.value())).c_str());
    Result<void> result = mine.open();
    const bool serving = result.has_value();
    mine.is_running.store(serving);
    opened.set_value(std::move(result));
    if (serving) {
      const auto guard = asio::make_work_guard(mine.io);
      mine.io.run();
    }
  });
  Result<void> result = answer.get();
  if (!result) {
    loop.thread.join();
    loop.core.reset();
    loop.acceptors.clear();
    loop.controller_acceptor.reset();
  }
  return result;
}

Result<void> Node::stop() {
  resume();
  Loop& loop = *loop_;
  if (!loop.thread.joinable()) {
    return {};
  }
  std::promise<Result<void>> stopped;
  std::future<Result<void>> answer = stopped.get_future();
  asio::post(loop.io, [&loop, &stopped] {
    asio::error_code ignored;
    for (tcp::acceptor& acceptor : loop.acceptors) {
      acceptor.close(ignored);
    }
    if (loop.controller_acceptor) {
      loop.controller_acceptor->close(ignored);
    }
    Result<void> result = loop.core->stop(read_clocks());
    if (loop.events != nullptr) {
      loop.events->emit(event::NodeStopped{loop.settings.core.node, true});
    }
    loop.close_everything();
    stopped.set_value(std::move(result));
  });
  // One that ended by itself meanwhile does not answer any more.
  Result<void> result;
  while (answer.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready && running()) {
  }
  loop.thread.join();
  if (answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    result = answer.get();
  }
  loop.core.reset();
  loop.is_running.store(false);
  return result;
}

bool Node::wait_ready(Duration limit) const { return loop_->wait_for(loop_->is_ready, limit); }

void Node::hurry(bool on) noexcept { loop_->hurried.store(on); }

Result<void> Node::leave(Duration limit) {
  Loop& loop = *loop_;
  if (!loop.thread.joinable()) {
    return {};
  }
  loop.left = {};
  const std::future<void> left = loop.left.get_future();
  asio::post(loop.io, [&loop] {
    if (loop.core != nullptr && !loop.ending) {
      loop.handing_over = true;
      const api::Now now = read_clocks();
      loop.core->hand_over(now, loop.out);
      loop.finish_turn(now);
    }
  });
  static_cast<void>(loop.wait_for(left, limit));
  return stop();
}

void Node::pause() {
  if (paused() || !running()) {
    return;
  }
  loop_->pausing = std::make_shared<std::promise<void>>();
  loop_->is_paused.store(true);
  asio::post(loop_->io, [until = loop_->pausing->get_future().share()] { until.wait(); });
}

void Node::resume() {
  if (const auto pausing = std::exchange(loop_->pausing, nullptr)) {
    loop_->is_paused.store(false);
    pausing->set_value();
  }
}

bool Node::paused() const noexcept { return loop_->is_paused.load(); }

void Node::slow(Duration each) noexcept { loop_->slow_ns.store(each.ns, std::memory_order_relaxed); }

void Node::hold(BrokerId other, PeerLinks::Held held) {
  asio::post(loop_->io, [&loop = *loop_, other, held] {
    if (!loop.ending) {
      loop.peers.hold(other, held);
    }
  });
}

void Node::kill() {
  resume();
  Loop& loop = *loop_;
  if (!loop.thread.joinable()) {
    return;
  }
  asio::post(loop.io, [&loop] {
    if (loop.events != nullptr) {
      loop.events->emit(event::NodeStopped{loop.settings.core.node, false});
    }
    loop.close_everything();
  });
  loop.thread.join();
  loop.core.reset();
  loop.is_running.store(false);
}

std::uint16_t Node::port() const noexcept { return loop_->port.load(); }
std::uint16_t Node::controller_port() const noexcept { return loop_->controller_port.load(); }
BrokerId Node::id() const noexcept { return loop_->settings.core.node; }
const std::string& Node::cluster_id() const noexcept { return loop_->cluster_id; }
std::string Node::failure() const {
  const std::lock_guard guard(loop_->failure_mutex);
  return loop_->failure;
}
bool Node::running() const noexcept { return loop_->is_running.load(); }

void Node::post(std::function<void(api::NodeCore&, api::Now, api::Outputs&)> work) {
  asio::post(loop_->io, [&loop = *loop_, work = std::move(work)] {
    if (loop.core == nullptr || loop.ending) {
      return;
    }
    const api::Now now = read_clocks();
    work(*loop.core, now, loop.out);
    loop.finish_turn(now);
  });
}

}  // namespace hw::node
