// SPDX-License-Identifier: Apache-2.0
// PeerLinks: the sockets behind a node's channels to other nodes (api::Outputs::PeerSend).
//
// Opens a channel's connection when something is to be sent on it, hands back answers in order, and breaks a connection on which
// an answer is overdue: everything that was open on it has failed then, as with Kafka's own clients.
//
// A channel to a node may be held (a link of the cluster that somebody cut): bytes wait, in the direction that is cut, and
// go on when it is healed. Nothing is lost by that but time, which is what the other side notices.
// Thread rule: the node's thread.
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine/api/core.h"
#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/node/client_link.h"

namespace hw::node {

class PeerLinks {
 public:
  struct Told {
    std::function<void(std::uint64_t id, Bytes frame)> answered;
    std::function<void(std::uint64_t id, const std::string& reason)> failed;
  };
  // What of the way between this node and another is cut.
  struct Held {
    bool out = false;  // what this node sends does not arrive
    bool in = false;   // what it would receive does not
    Duration delay{};  // each request leaves this much later
    friend bool operator==(const Held&, const Held&) = default;
  };

  PeerLinks(asio::io_context& io, Told told);
  ~PeerLinks() { end(); }
  PeerLinks(const PeerLinks&) = delete;
  PeerLinks& operator=(const PeerLinks&) = delete;

  void send(api::Outputs::PeerSend request);
  void close(ChannelId channel);
  void hold(BrokerId node, Held held);
  void end();  // nothing is told any more

 private:
  struct Waiting {
    std::uint64_t id = 0;
    Instant deadline;
  };
  struct Channel {
    BrokerId node;
    std::shared_ptr<ClientLink> link;
    std::uint32_t generation = 0;  // of the link, so that the end of an old one is not taken for the new one's
    std::deque<Waiting> waiting;
  };
  void open(ChannelId id, Channel& channel, const std::string& host, std::uint16_t port);
  void told(ChannelId id, std::uint32_t generation, client::Input input);
  void drop(ChannelId id, const std::string& reason);  // the connection; everything on it failed
  void arm();

  asio::io_context& io_;
  Told told_;
  asio::steady_timer timer_;
  Instant armed_for_ = kNever;
  std::map<ChannelId, Channel> channels_;
  std::map<BrokerId, Held> held_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace hw::node
