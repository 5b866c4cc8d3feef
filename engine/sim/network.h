// SPDX-License-Identifier: Apache-2.0
// Network: hosts, and ordered streams of frames between them, as TCP gives them to a program.
//
// A stream delivers everything in order, or ends. Loss is what a program sees of it: a delay. Requests come twice, and behind newer ones,
// when a stream breaks while they are on their way and the sender begins anew. What a cut link holds back is delivered when the link heals (the other end
// retransmits); whoever does not want to wait so long closes the stream. Both directions of a link are separate, so that a cut may be one-way.
// A host that dies ends its streams: with a reset at once, or silently (no power), which the other end learns late.
// Thread rule: one thread. Time and chance come from the World.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/prng.h"
#include "engine/base/time.h"
#include "engine/sim/event_queue.h"
#include "engine/sim/trace.h"

namespace hw::sim {

using HostId = std::int32_t;
using StreamId = std::uint64_t;
enum class Side : std::uint8_t { opener, taker };  // of a stream

class Network {
 public:
  struct Options {
    Duration delay = microseconds(100);   // shortest
    Duration jitter = microseconds(200);  // added, at most
    std::int32_t loss_per_mille = 0;      // of messages: sent again after a while, and what is behind them waits as well
  };
  // One end of a stream: what its owner does when something comes.
  struct End {
    std::function<void(Bytes frame)> frame;          // without its length
    std::function<void(const std::string& why)> closed;
  };
  // Takes a new stream; an End without functions refuses it.
  using Accept = std::function<End(StreamId stream, HostId from, std::uint16_t port)>;

  Network(Options options, EventQueue& queue, Trace& trace, Prng prng) : options_(options), queue_(queue), trace_(trace), prng_(prng) {}

  HostId add_host(const std::string& name);
  [[nodiscard]] std::int32_t hosts() const noexcept { return static_cast<std::int32_t>(names_.size()); }
  [[nodiscard]] const std::string& name(HostId host) const { return names_.at(static_cast<std::size_t>(host)); }
  // From now on the host takes streams; empty: it does not (refused).
  void listen(HostId host, Accept accept);

  // Exactly one of `opened` and `end.closed` follows; after `opened` frames may be sent, and `closed` tells of the end.
  StreamId open(HostId from, const std::string& to, std::uint16_t port, End end, std::function<void()> opened);
  // `frame` with its length prefix.
  void send(StreamId stream, Side from, const BytesChain& frame);
  // This end hears no more; the other one is told, in order, behind what was sent before.
  void close(StreamId stream, Side from);
  // All streams of the host end. Its own ends hear nothing.
  void host_died(HostId host, bool silent);
  // Some stream of this host breaks: each end learns it by and by, and may still get what was on its way before.
  void break_one(HostId host);

  // --- faults
  void cut(HostId from, HostId to) { cut_.emplace(from, to); }
  // Nothing of what `from` sends to `to` arrives for so long.
  void clog(HostId from, HostId to, Duration time) { clogged_until_[{from, to}] = queue_.now() + time; }
  void slow(HostId from, HostId to, Duration delay) { slow_[{from, to}] = delay; }
  [[nodiscard]] bool is_cut(HostId from, HostId to) const { return cut_.contains({from, to}); }
  void heal();  // all links
  [[nodiscard]] std::uint64_t frames() const noexcept { return frames_; }

 private:
  struct Message {
    Bytes frame;
    bool end = false;
    std::string why;
  };
  struct Stream {
    HostId host[2] = {0, 0};  // [0] opened it
    End end[2];
    bool up[2] = {false, false};  // that end wants to hear
    Instant last[2];              // when the last message of that end arrives
    std::deque<Message> held[2];  // of that end
    bool broken = false;          // nothing new goes into it
  };
  [[nodiscard]] Duration delay(HostId from, HostId to, std::size_t size);
  void connect(StreamId id, HostId to, std::uint16_t port, std::function<void()> opened, Instant give_up);
  void post(StreamId id, Stream& stream, int from, Message message);
  void arrive(StreamId id, int to, Message& message);
  void forget_if_over(StreamId id);

  Options options_;
  EventQueue& queue_;
  Trace& trace_;
  Prng prng_;
  std::vector<std::string> names_;
  std::map<std::string, HostId> by_name_;
  std::vector<Accept> accept_;
  std::map<StreamId, Stream> streams_;
  StreamId next_ = 1;
  std::set<std::pair<HostId, HostId>> cut_;
  std::map<std::pair<HostId, HostId>, Duration> slow_;
  std::map<std::pair<HostId, HostId>, Instant> clogged_until_;
  std::uint64_t frames_ = 0;
};

}  // namespace hw::sim
