// SPDX-License-Identifier: Apache-2.0
// ClientLink: the socket behind one link of a client core. Resolves, connects, cuts what comes into frames, writes what is given.
//
// Tells of the end exactly once (failed before it was open, closed after), except after close(). Thread rule: the runner's thread.
// Kept alive by its pending operations.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/time.h"
#include "engine/client/io.h"
#include "engine/wire/frame/framer.h"

namespace hw::node {

class ClientLink : public std::enable_shared_from_this<ClientLink> {
 public:
  using Told = std::function<void(client::Input)>;

  ClientLink(asio::io_context& io, client::LinkId id, client::Endpoint endpoint, Told told);

  void open();
  void send(BytesChain frame);
  void close();  // no word comes after this
  // A cut way: what is sent waits (`out`), what comes is not read (`in`), until it is healed. `delay`: each frame leaves so much
  // later.
  void hold(bool out, bool in, Duration delay);

 private:
  void connected(const asio::error_code& error);
  void read();
  void got(const asio::error_code& error, std::size_t size);
  void write();
  void leave(BytesChain frame);
  [[nodiscard]] bool hand_over();
  void end(client::Input::Kind kind, std::string reason);
  void tell(client::Input::Kind kind, Bytes frame, std::string reason);

  const client::LinkId id_;
  const client::Endpoint endpoint_;
  Told told_;  // empty after the end
  asio::ip::tcp::resolver resolver_;
  asio::ip::tcp::socket socket_;
  wire::Framer framer_;
  std::deque<BytesChain> waiting_;  // to be written
  std::vector<BytesChain> writing_; // kept alive while the system reads them
  bool open_ = false;
  bool hold_out_ = false;
  bool hold_in_ = false;
  bool reading_ = false;
  Duration delay_{};
};

// In words that tell what to do: "connection refused" is nobody listening.
[[nodiscard]] std::string connect_problem(const asio::error_code& error);

}  // namespace hw::node
