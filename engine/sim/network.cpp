// SPDX-License-Identifier: Apache-2.0
#include "engine/sim/network.h"

namespace hw::sim {

namespace {
constexpr std::size_t kLengthPrefix = 4;
constexpr Duration kConnectWithin = seconds(3);
constexpr Duration kConnectAgain = milliseconds(250);
constexpr std::int64_t kSilenceMaxMs = 8'000;
constexpr std::int64_t kBreakNoticedMaxMs = 300;
constexpr Duration kSentAgainAfter = milliseconds(200);
constexpr std::uint32_t kMille = 1'000;
}  // namespace

HostId Network::add_host(const std::string& name) {
  const auto id = static_cast<HostId>(names_.size());
  names_.push_back(name);
  by_name_[name] = id;
  accept_.emplace_back();
  return id;
}

void Network::listen(HostId host, Accept accept) { accept_[static_cast<std::size_t>(host)] = std::move(accept); }

Duration Network::delay(HostId from, HostId to, std::size_t size) {
  constexpr std::size_t kBytesPerUs = 1'000;
  Duration total = options_.delay + microseconds(static_cast<std::int64_t>(size / kBytesPerUs));
  total = total + nanoseconds(prng_.between(0, options_.jitter.ns));
  if (const auto slow = slow_.find({from, to}); slow != slow_.end()) {
    total = total + nanoseconds(prng_.between(slow->second.ns / 2, slow->second.ns));
  }
  Duration again = kSentAgainAfter;
  while (options_.loss_per_mille > 0 && prng_.chance({static_cast<std::uint32_t>(options_.loss_per_mille), kMille})) {
    total = total + again;
    again = again * 2;
  }
  if (const auto clogged = clogged_until_.find({from, to}); clogged != clogged_until_.end() && queue_.now() < clogged->second) {
    total = total + (clogged->second - queue_.now());
  }
  return total;
}

StreamId Network::open(HostId from, const std::string& to, std::uint16_t port, End end, std::function<void()> opened) {
  const StreamId id = next_++;
  Stream stream;
  stream.host[0] = from;
  const auto target = by_name_.find(to);
  stream.host[1] = target == by_name_.end() ? -1 : target->second;
  stream.end[0] = std::move(end);
  stream.up[0] = true;
  streams_.emplace(id, std::move(stream));
  const HostId host = target == by_name_.end() ? -1 : target->second;
  queue_.after(delay(from, host, 0), [this, id, host, port, opened = std::move(opened), until = queue_.now() + kConnectWithin] {
    connect(id, host, port, opened, until);
  });
  return id;
}

void Network::connect(StreamId id, HostId to, std::uint16_t port, std::function<void()> opened, Instant give_up) {
  const auto found = streams_.find(id);
  if (found == streams_.end() || !found->second.up[0]) {
    streams_.erase(id);
    return;
  }
  Stream& stream = found->second;
  const HostId from = stream.host[0];
  const bool blocked = is_cut(from, to) || is_cut(to, from);
  if (blocked && queue_.now() < give_up) {
    queue_.after(kConnectAgain, [this, id, to, port, opened = std::move(opened), give_up] { connect(id, to, port, opened, give_up); });
    return;
  }
  if (!blocked && to >= 0 && accept_[static_cast<std::size_t>(to)]) {
    stream.up[1] = true;
    const End end = accept_[static_cast<std::size_t>(to)](id, from, port);
    const auto again = streams_.find(id);
    if (again == streams_.end()) {
      return;
    }
    if (end.frame) {
      again->second.end[1] = end;
      const Instant arrives = queue_.now() + delay(to, from, 0);
      again->second.last[1] = arrives;
      queue_.at(arrives, [this, id, opened = std::move(opened)] {
        const auto still = streams_.find(id);
        if (still != streams_.end() && still->second.up[0]) {
          opened();
        }
      });
      return;
    }
    again->second.up[1] = false;
  }
  const auto last = streams_.find(id);
  const auto closed = last->second.end[0].closed;
  streams_.erase(last);
  closed(blocked ? "connecting took too long" : "connection refused");
}

void Network::send(StreamId id, Side from, const BytesChain& frame) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) {
    return;
  }
  const int sender = static_cast<int>(from);
  if (!found->second.up[sender] || found->second.broken) {
    return;
  }
  // A copy: both ends think that the bytes are their own.
  const Bytes flat = frame.flatten();
  if (flat.size() < kLengthPrefix) {
    return;
  }
  ++frames_;
  post(id, found->second, sender, {Bytes::copy_of(flat.span().subspan(kLengthPrefix)), false, {}});
}

void Network::post(StreamId id, Stream& stream, int from, Message message) {
  const HostId source = stream.host[from];
  const HostId target = stream.host[1 - from];
  if (is_cut(source, target) || !stream.held[from].empty()) {
    stream.held[from].push_back(std::move(message));
    return;
  }
  const Instant arrives = std::max(queue_.now() + delay(source, target, message.frame.size()), stream.last[from] + nanoseconds(1));
  stream.last[from] = arrives;
  queue_.at(arrives, [this, id, to = 1 - from, message = std::move(message)]() mutable { arrive(id, to, message); });
}

void Network::arrive(StreamId id, int to, Message& message) {
  const auto found = streams_.find(id);
  if (found == streams_.end() || !found->second.up[to]) {
    return;
  }
  trace_.count(queue_.now(), id * 2 + static_cast<std::uint64_t>(to) + (std::uint64_t{message.frame.size()} << 32U));
  if (message.end) {
    found->second.up[to] = false;
    const auto closed = found->second.end[to].closed;
    forget_if_over(id);
    closed(message.why);
    return;
  }
  const auto frame = found->second.end[to].frame;  // it may close the stream
  frame(std::move(message.frame));
}

void Network::close(StreamId id, Side from) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) {
    return;
  }
  const int closer = static_cast<int>(from);
  if (!found->second.up[closer]) {
    return;
  }
  found->second.up[closer] = false;
  if (found->second.up[1 - closer]) {
    post(id, found->second, closer, {{}, true, "the other end closed the connection"});
  }
  forget_if_over(id);
}

void Network::forget_if_over(StreamId id) {
  const auto found = streams_.find(id);
  if (found != streams_.end() && !found->second.up[0] && !found->second.up[1]) {
    streams_.erase(found);
  }
}

void Network::host_died(HostId host, bool silent) {
  std::vector<StreamId> over;
  for (auto& [id, stream] : streams_) {
    for (int i = 0; i < 2; ++i) {
      if (stream.host[i] != host || !stream.up[i]) {
        continue;
      }
      stream.up[i] = false;
      if (silent) {
        stream.held[i].clear();  // else the machine goes on sending what the process gave it
      }
      if (!stream.up[1 - i]) {
        over.push_back(id);
      } else if (silent) {
        queue_.after(milliseconds(prng_.between(1, kSilenceMaxMs)), [this, stream_id = id, to = 1 - i] {
          Message message{{}, true, "connection reset"};
          arrive(stream_id, to, message);
        });
      } else {
        post(id, stream, i, {{}, true, "connection reset"});
      }
    }
  }
  for (const StreamId id : over) {
    streams_.erase(id);
  }
}

void Network::break_one(HostId host) {
  std::vector<StreamId> candidates;
  for (const auto& [id, stream] : streams_) {
    if ((stream.host[0] == host || stream.host[1] == host) && stream.up[0] && stream.up[1] && !stream.broken) {
      candidates.push_back(id);
    }
  }
  if (candidates.empty()) {
    return;
  }
  const StreamId id = candidates[prng_.below(candidates.size())];
  streams_.at(id).broken = true;
  for (const int to : {0, 1}) {
    queue_.after(milliseconds(prng_.between(0, kBreakNoticedMaxMs)), [this, id, to] {
      Message message{{}, true, "connection reset"};
      arrive(id, to, message);
    });
  }
}

void Network::heal() {
  cut_.clear();
  slow_.clear();
  clogged_until_.clear();
  for (auto& [id, stream] : streams_) {
    for (int i = 0; i < 2; ++i) {
      std::deque<Message> held;
      held.swap(stream.held[i]);
      for (Message& message : held) {
        post(id, stream, i, std::move(message));
      }
    }
  }
}

}  // namespace hw::sim
