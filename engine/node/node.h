// SPDX-License-Identifier: Apache-2.0
// Node: one broker with its thread, sockets and timer around an api::NodeCore.
//
// Thread rule: public functions from any thread unless they say otherwise; everything else on the node's own thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/api/core.h"
#include "engine/env/disk.h"
#include "engine/event/event.h"
#include "engine/node/disk_pool.h"
#include "engine/node/peer_links.h"

namespace hw::node {

struct ListenOptions {
  std::string address = "127.0.0.1";  // loopback unless told otherwise; "127.0.0.1" also listens on ::1 where it exists
  std::uint16_t port = 9092;          // 0: the kernel chooses
  std::string advertised_host;        // empty: "localhost" on loopback, else `address`
  std::uint16_t advertised_port = 0;  // 0: the port that was bound
  // Where controllers and brokers talk to this node's controller; loopback unless `address` is not. 0: the kernel chooses.
  std::uint16_t controller_port = 0;
};

struct NodeSettings {
  api::NodeOptions core;
  ListenOptions listen;
  std::shared_ptr<env::Disk> disk;
  std::uint64_t seed = 1;
};

class Node {
 public:
  // `pool` and `events` (may be null) outlive the node.
  Node(NodeSettings settings, DiskPool& pool, event::EventSink* events);
  ~Node();  // kill() unless stopped
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Opens the listeners, so that their ports are known; start() does it where it was not done. Errc::in_use: the port is taken,
  // with the holder and the next free port in the detail.
  Result<void> bind();
  // Where the controllers are (NodeOptions), for a cluster whose ports are known only after all of its nodes were bound.
  // REQUIRES: not started.
  [[nodiscard]] api::NodeOptions& core_options() noexcept;
  // Starts the thread, opens the logs; returns when the node runs. Errc::locked: the folder is taken.
  Result<void> start();
  // Waits until it serves clients: its broker is registered and not fenced. False: not within `limit`, or hurry() was called.
  [[nodiscard]] bool wait_ready(Duration limit) const;
  // Clean shutdown: logs flushed and checkpointed, connections closed, thread ended. Nobody else is told.
  Result<void> stop();
  // The same after a controlled shutdown: leaderships have moved to others, unless that takes longer than `limit`, or there is no
  // active controller to move them, or hurry() was called.
  Result<void> leave(Duration limit);
  // The process is to end: wait_ready() and leave() do not wait any more, until this is taken back. Any thread.
  void hurry(bool on = true) noexcept;
  // As the end of the process: no shutdown work. Returns when the thread has ended.
  void kill();
  // A long pause of the process (garbage collection, SIGSTOP): sockets stay open and silent until resume().
  void pause();
  void resume();
  [[nodiscard]] bool paused() const noexcept;
  // Each request to this node takes so much longer, as on a machine that is overloaded; 0: no longer.
  void slow(Duration each) noexcept;
  // What of the way to another node is cut or slow, as seen from this one.
  void hold(BrokerId other, PeerLinks::Held held);

  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] std::uint16_t controller_port() const noexcept;  // 0: no controller listener
  [[nodiscard]] BrokerId id() const noexcept;
  [[nodiscard]] const std::string& cluster_id() const noexcept;  // valid after start()
  [[nodiscard]] bool running() const noexcept;
  // Why it ended by itself (api::NodeCore::failure()): its sockets are closed, it does not run. Empty: it did not.
  [[nodiscard]] std::string failure() const;
  // Runs `work` on the node's thread; dropped when the node has ended.
  void post(std::function<void(api::NodeCore&, api::Now, api::Outputs&)> work);

 private:
  struct Loop;
  std::shared_ptr<Loop> loop_;
};

}  // namespace hw::node
