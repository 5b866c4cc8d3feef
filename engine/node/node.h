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

  // Binds, starts the thread, opens the logs; returns when the node serves. Errc::in_use: the port is taken, with the
  // holder and the next free port in the detail. Errc::locked: the folder is taken.
  Result<void> start();
  // Clean shutdown: logs flushed and checkpointed, connections closed, thread ended.
  Result<void> stop();
  // As a power cut would: no shutdown work. Returns when the thread has ended.
  void kill();

  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] std::uint16_t controller_port() const noexcept;  // 0: no controller listener
  [[nodiscard]] BrokerId id() const noexcept;
  [[nodiscard]] const std::string& cluster_id() const noexcept;  // valid after start()
  [[nodiscard]] bool running() const noexcept;
  // Runs `work` on the node's thread; dropped when the node has ended.
  void post(std::function<void(api::NodeCore&, api::Now, api::Outputs&)> work);

 private:
  struct Loop;
  std::shared_ptr<Loop> loop_;
};

}  // namespace hw::node
