// SPDX-License-Identifier: Apache-2.0
#include "engine/node/peer_links.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace hw::node {

namespace {

Instant steady_now() noexcept {
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

}  // namespace

PeerLinks::PeerLinks(asio::io_context& io, Told told) : io_(io), told_(std::move(told)), timer_(io) {}

void PeerLinks::send(api::Outputs::PeerSend request) {
  const auto [at, fresh] = channels_.try_emplace(request.channel);
  Channel& channel = at->second;
  channel.node = request.node;
  if (channel.link == nullptr) {
    open(request.channel, channel, request.host, request.port);
  }
  channel.waiting.push_back({request.id, steady_now() + request.timeout});
  channel.link->send(std::move(request.frame));
  arm();
}

void PeerLinks::open(ChannelId id, Channel& channel, const std::string& host, std::uint16_t port) {
  const std::uint32_t generation = ++channel.generation;
  channel.link = std::make_shared<ClientLink>(
      io_, generation, client::Endpoint{host == "localhost" ? "127.0.0.1" : host, port},  // no look-up between nodes here
      [this, id, generation, alive = std::weak_ptr<bool>(alive_)](client::Input input) {
        if (!alive.expired()) {
          told(id, generation, std::move(input));
        }
      });
  if (const auto held = held_.find(channel.node); held != held_.end()) {
    channel.link->hold(held->second.out, held->second.in, held->second.delay);
  }
  channel.link->open();
}

void PeerLinks::told(ChannelId id, std::uint32_t generation, client::Input input) {
  const auto at = channels_.find(id);
  if (at == channels_.end() || at->second.generation != generation || at->second.link == nullptr) {
    return;
  }
  switch (input.kind) {
    case client::Input::Kind::tick:
    case client::Input::Kind::opened:
      return;
    case client::Input::Kind::failed:
    case client::Input::Kind::closed:
      at->second.link = nullptr;
      drop(id, input.reason);
      return;
    case client::Input::Kind::frame:
      break;
  }
  if (at->second.waiting.empty()) {
    drop(id, "an answer came that nobody had asked for");
    return;
  }
  const std::uint64_t request = at->second.waiting.front().id;
  at->second.waiting.pop_front();
  told_.answered(request, std::move(input.frame));
}

void PeerLinks::drop(ChannelId id, const std::string& reason) {
  const auto at = channels_.find(id);
  if (at == channels_.end()) {
    return;
  }
  if (at->second.link != nullptr) {
    at->second.link->close();
    at->second.link = nullptr;
  }
  const std::deque<Waiting> waiting = std::exchange(at->second.waiting, {});
  for (const Waiting& request : waiting) {
    told_.failed(request.id, reason);
  }
  arm();
}

void PeerLinks::close(ChannelId channel) {
  const auto at = channels_.find(channel);
  if (at == channels_.end()) {
    return;
  }
  if (at->second.link != nullptr) {
    at->second.link->close();
  }
  channels_.erase(at);
  arm();
}

void PeerLinks::hold(BrokerId node, Held held) {
  if (held == Held{}) {
    held_.erase(node);
  } else {
    held_.insert_or_assign(node, held);
  }
  for (auto& [id, channel] : channels_) {
    if (channel.node == node && channel.link != nullptr) {
      channel.link->hold(held.out, held.in, held.delay);
    }
  }
}

void PeerLinks::end() {
  alive_.reset();
  timer_.cancel();
  for (auto& [id, channel] : channels_) {
    if (channel.link != nullptr) {
      channel.link->close();
    }
  }
  channels_.clear();
}

void PeerLinks::arm() {
  Instant earliest = kNever;
  for (const auto& [id, channel] : channels_) {
    for (const Waiting& request : channel.waiting) {
      earliest = std::min(earliest, request.deadline);
    }
  }
  // A timer that fires too early looks and arms itself again; so an answered request need not move it.
  if (earliest >= armed_for_ && armed_for_ != kNever) {
    return;
  }
  armed_for_ = earliest;
  if (earliest == kNever) {
    return;
  }
  timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(earliest.ns)));
  timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](const asio::error_code& error) {
    if (error || alive.expired()) {
      return;
    }
    armed_for_ = kNever;
    const Instant now = steady_now();
    std::vector<ChannelId> overdue;
    for (const auto& [id, channel] : channels_) {
      if (std::any_of(channel.waiting.begin(), channel.waiting.end(),
                      [&](const Waiting& request) { return request.deadline <= now; })) {
        overdue.push_back(id);
      }
    }
    for (const ChannelId id : overdue) {
      drop(id, "no answer in time");
    }
    arm();
  });
}

}  // namespace hw::node
