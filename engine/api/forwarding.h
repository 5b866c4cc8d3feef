// SPDX-License-Identifier: Apache-2.0
// Forwarding: requests of clients that only the active controller can serve, on a broker that is not it (KIP-590).
//
// The broker wraps the whole request into an Envelope, with who sent it, and gives the client what comes back. While no controller
// is known, or the one that was asked has stopped being it, a request waits and is sent again; when its time is up, it is answered
// REQUEST_TIMED_OUT, as Kafka does. Requests of one client stay in order because a connection has one at a time.
// Bounds: one request of each connection. Thread rule: the node's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "engine/api/handler.h"
#include "engine/api/peer_channels.h"
#include "engine/base/bytes.h"
#include "engine/base/time.h"

namespace hw::api {

inline constexpr Duration kPeerRequestTimeout = seconds(30);  // request.timeout.ms between nodes
inline constexpr Duration kForwardFor = seconds(60);          // how long a request is tried

// Whether a broker passes this API on to the controller.
[[nodiscard]] bool forwardable(std::int16_t api_key) noexcept;
// Whether the broker that a client asked answers some of it itself: its handler passes on what is left (Node::pass_on()).
[[nodiscard]] bool answered_in_part(std::int16_t api_key) noexcept;

class Forwarding {
 public:
  struct Waiting {
    ReplyToken token;
    std::int16_t api_key = -1;
    Bytes frame;       // of the client, without length prefix
    std::string peer;  // address:port of the client
    Instant deadline;
    std::optional<PartForController> part;  // nothing: the whole frame goes there
  };
  // What became of it: a whole response frame (header included, no length prefix), or why there is none.
  using Answer = std::function<void(const ReplyToken& token, Result<Bytes> frame)>;

  using TimedOut = std::function<void(const Waiting& request)>;

  Forwarding(Answer answer, TimedOut timed_out) : answer_(std::move(answer)), timed_out_(std::move(timed_out)) {}

  void add(Waiting request) { waiting_.push_back(std::move(request)); }
  // Sends what waits to `controller` (nothing: not known), and gives up what waited too long.
  void pump(const std::optional<PeerAddress>& controller, PeerChannels& channels, Now now, Outputs& out);
  // This node has become the active controller: what waits is served here.
  [[nodiscard]] std::deque<Waiting> take_waiting() { return std::exchange(waiting_, {}); }
  [[nodiscard]] Instant next_deadline() const noexcept;
  [[nodiscard]] bool waits() const noexcept { return !waiting_.empty(); }

 private:
  Answer answer_;
  TimedOut timed_out_;
  std::deque<Waiting> waiting_;
  Instant retry_at_{};  // not before, after a failure; Instant{}: at once
};

}  // namespace hw::api
