// SPDX-License-Identifier: Apache-2.0
// Connection: one client socket. Moves bytes between the socket and the node's core; knows no Kafka beyond frames.
//
// One request is in flight at a time (Kafka's own rule): nothing more is read until its reply has been written, so a
// client that never reads costs its own socket buffer and one reply, and slows nobody else.
// Replies leave with sendmsg and, where a piece is a run of a kernel file, with sendfile.
// Thread rule: the node's thread. Kept alive by its pending waits and by the node's table.
#pragma once

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/event/counters.h"
#include "engine/wire/frame/framer.h"

namespace hw::node {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // What a connection asks of its node.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void frame_arrived(Connection& connection, Bytes frame) = 0;
    // The last word of a connection: it closes itself right after.
    virtual void connection_ended(Connection& connection, const std::string& reason) = 0;
  };

  Connection(asio::ip::tcp::socket socket, ConnectionId id, std::string peer, std::int32_t max_frame_bytes,
             Owner& owner);

  void start();
  // The reply to the frame in flight; an empty chain owes nothing. Afterwards the next frame is read, not before `mute` is
  // over (KIP-219: a client above its quota is not heard for a while).
  void reply(BytesChain frame, bool close_after, Duration mute = {});
  void close(const std::string& reason);

  [[nodiscard]] ConnectionId id() const noexcept { return id_; }
  [[nodiscard]] const std::string& peer() const noexcept { return peer_; }
  [[nodiscard]] const std::shared_ptr<event::ConnectionCounters>& counters() const noexcept { return counters_; }

 private:
  enum class Sent { all, blocked, failed };
  void wait_readable();
  void wait_writable();
  void readable();
  void serve_buffered();  // hands over whole frames until one stays in flight or the buffer is dry
  Sent send_pending();
  bool send_memory(std::size_t& advanced, bool& blocked);
  bool send_region(FileRegion& region, bool& blocked);
  void written();
  void unmuted();
  [[nodiscard]] bool busy() const noexcept { return in_flight_ || muted_; }

  asio::ip::tcp::socket socket_;
  const ConnectionId id_;
  const std::string peer_;
  Owner& owner_;
  wire::Framer framer_;
  std::shared_ptr<event::ConnectionCounters> counters_;

  BytesChain out_;              // the reply being written
  std::size_t out_piece_ = 0;   // first piece not fully written
  std::size_t out_offset_ = 0;  // bytes of that piece already written
  Duration mute_{};             // after the reply being written
  bool muted_ = false;          // nothing is read and nothing served until unmute_ fires
  asio::steady_timer unmute_;
  bool in_flight_ = false;      // I1: at most one frame is with the core, and none while out_ is not empty
  bool serving_ = false;        // inside serve_buffered(), which then continues by itself
  bool reading_ = false;        // a read wait is armed
  bool close_after_ = false;
  bool closed_ = false;
};

}  // namespace hw::node
