// SPDX-License-Identifier: Apache-2.0
#include "engine/sim/node_host.h"

#include <algorithm>
#include <utility>

#include "engine/base/trial.h"

namespace hw::sim {

namespace {
constexpr std::int64_t kEpochMs = 1'700'000'000'000;  // the wall clock when a run begins
constexpr std::int32_t kTicksAtOnceMax = 1'000;
constexpr std::int64_t kMillion = 1'000'000;
}  // namespace

NodeHost::NodeHost(api::NodeOptions options, Duration sync, std::int64_t drift_ppm, EventQueue& queue, Network& network, Trace& trace,
                   Prng prng, OnEvent on_event)
    : options_(std::move(options)),
      queue_(queue),
      network_(network),
      trace_(trace),
      prng_(prng),
      on_event_(std::move(on_event)),
      disk_(sync, Prng(prng_.next())),
      drift_ppm_(drift_ppm),
      host_(network.add_host(options_.advertised_host)) {}

NodeHost::~NodeHost() = default;

api::Now NodeHost::now() const {
  const Instant local = local_time(queue_.now());
  return {local, WallTime{kEpochMs + wall_step_ms_ + local.ns / kMillion}};
}

Instant NodeHost::local_time(Instant world) const noexcept {
  return Instant{world.ns + world.ns / kMillion * drift_ppm_ + world.ns % kMillion * drift_ppm_ / kMillion};
}

Instant NodeHost::world_time(Instant local) const {
  if (local >= kNever) {
    return kNever;
  }
  const std::int64_t rate = kMillion + drift_ppm_;
  Instant world{local.ns / rate * kMillion + local.ns % rate * kMillion / rate};
  while (local_time(world) < local) {
    ++world.ns;
  }
  return world;
}

void NodeHost::emit(event::Any event) { on_event_(*this, event); }

Result<void> NodeHost::start() {
  ++life_;
  gave_up_ = false;
  // Jobs of the memory disk never wait; this disk's do, as a real one's.
  core_ = std::make_unique<api::NodeCore>(options_, disk_.disk(), this, nullptr, Prng(prng_.next()));
  state_ = State::running;
  in_turn_ = true;
  Result<void> started = core_->start(now(), out_);
  in_turn_ = false;
  if (!started) {
    state_ = State::down;
    core_.reset();
    out_.clear();
    disk_.process_died();
    return started;
  }
  network_.listen(host_, [this, life = life_](StreamId stream, HostId, std::uint16_t port) {
    Network::End end;
    if (life == life_ && core_ != nullptr && (port == kClientPort || port == kControllerPort)) {
      take_stream(stream, port, end);
    }
    return end;
  });
  perform();
  return {};
}

void NodeHost::take_stream(StreamId stream, std::uint16_t port, Network::End& end) {
  const ConnectionId id(next_connection_++);
  connections_[id].stream = stream;
  const api::ListenerKind kind = port == kControllerPort ? api::ListenerKind::controller : api::ListenerKind::client;
  end.frame = [this, id, life = life_](Bytes frame) {
    later(life, [this, id, frame = std::move(frame)](api::NodeCore& core, api::Now at) {
      if (const auto found = connections_.find(id); found != connections_.end()) {
        found->second.waiting.push_back(frame);
        feed(id, found->second, core, at);
      }
    });
  };
  end.closed = [this, id, life = life_](const std::string&) {
    later(life, [this, id](api::NodeCore& core, api::Now at) {
      if (connections_.erase(id) != 0) {
        core.disconnected(id, at, out_);
      }
    });
  };
  later(life_, [this, id, kind](api::NodeCore& core, api::Now at) {
    if (connections_.contains(id)) {
      core.connected(id, "10.0.0.1:" + std::to_string(id.value()), at, out_, nullptr, kind);
    }
  });
}

void NodeHost::feed(ConnectionId id, Connection& connection, api::NodeCore& core, api::Now at) {
  if (connection.busy || connection.waiting.empty()) {
    return;
  }
  connection.busy = true;
  Bytes frame = std::move(connection.waiting.front());
  connection.waiting.pop_front();
  core.request(id, std::move(frame), at, out_);
}

void NodeHost::later(std::uint32_t life, Work work) {
  if (life != life_ || core_ == nullptr) {
    return;
  }
  if (paused_) {
    backlog_.push_back(std::move(work));
    return;
  }
  turn(work);
}

void NodeHost::turn(const Work& work) {
  const std::uint32_t life = life_;
  work(*core_, now());
  if (life == life_) {
    perform();
  }
}

void NodeHost::perform() {
  if (in_turn_) {
    return;
  }
  in_turn_ = true;
  while (!out_.replies.empty() || !out_.closes.empty() || !out_.peer_sends.empty() || !out_.peer_closes.empty() ||
         !out_.disk_jobs.empty()) {
    std::swap(out_, work_);
    out_.clear();
    for (api::Outputs::Reply& reply : work_.replies) {
      const auto found = connections_.find(reply.connection);
      if (found == connections_.end()) {
        continue;
      }
      if (!reply.frame.empty()) {
        network_.send(found->second.stream, Side::taker, reply.frame);
      }
      found->second.busy = false;
      if (reply.close_after) {
        end_connection(reply.connection);
      } else {
        feed(reply.connection, found->second, *core_, now());
      }
    }
    for (const api::Outputs::Close& close : work_.closes) {
      end_connection(close.connection);
    }
    for (api::Outputs::PeerSend& send : work_.peer_sends) {
      send_to_peer(std::move(send));
    }
    for (const ChannelId channel : work_.peer_closes) {
      if (const auto found = channels_.find(channel); found != channels_.end()) {
        network_.close(found->second.stream, Side::opener);
        channels_.erase(found);
      }
    }
    for (api::Outputs::DiskJob& job : work_.disk_jobs) {
      disk_.queue(queue_, [this, life = life_, id = job.id, work = std::move(job.work)] {
        if (life != life_ || core_ == nullptr) {
          return;  // the process that wanted it is gone
        }
        const Result<void> result = work();
        later(life, [this, id, result](api::NodeCore& core, api::Now at) { core.disk_done(id, result, at, out_); });
      });
    }
    work_.clear();
  }
  in_turn_ = false;
  arm();
}

void NodeHost::arm() {
  Instant deadline = trial::has_bug(trial::Canary::spins) && core_->ready() ? queue_.now() : world_time(core_->next_deadline());
  if (deadline <= queue_.now() && ticked_at_ == queue_.now() && ticks_there_ > kTicksAtOnceMax) {
    spins_ = true;
    deadline = queue_.now() + milliseconds(1);  // so that the run ends
  }
  if (deadline >= armed_for_ || deadline >= kNever) {
    return;  // the timer that is set comes first, and sets the next one
  }
  armed_for_ = deadline;
  queue_.at(deadline, [this, life = life_, deadline] {
    if (life != life_ || armed_for_ != deadline) {
      return;
    }
    armed_for_ = kNever;
    ticks_there_ = ticked_at_ == queue_.now() ? ticks_there_ + 1 : 0;
    ticked_at_ = queue_.now();
    later(life, [this](api::NodeCore& core, api::Now at) { core.tick(at, out_); });
  });
}

void NodeHost::end_connection(ConnectionId id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) {
    return;
  }
  network_.close(found->second.stream, Side::taker);
  connections_.erase(found);
  core_->disconnected(id, now(), out_);
}

// ---------------------------------------------------------------- to other nodes

void NodeHost::send_to_peer(api::Outputs::PeerSend&& send) {
  auto found = channels_.find(send.channel);
  if (found == channels_.end()) {
    found = channels_.emplace(send.channel, Channel{}).first;
    const ChannelId id = send.channel;
    Network::End end;
    end.frame = [this, id, life = life_](Bytes frame) {
      later(life, [this, id, frame = std::move(frame)](api::NodeCore& core, api::Now at) {
        const auto channel = channels_.find(id);
        if (channel == channels_.end() || channel->second.in_flight.empty()) {
          return;
        }
        const std::uint64_t request = channel->second.in_flight.front();
        channel->second.in_flight.pop_front();
        core.peer_answered(request, frame, at, out_);
      });
    };
    end.closed = [this, id, life = life_](const std::string& why) {
      later(life, [this, id, why](api::NodeCore&, api::Now) { channel_ended(id, why); });
    };
    found->second.stream = network_.open(host_, send.host, send.port, std::move(end), [this, id, life = life_] {
      later(life, [this, id](api::NodeCore&, api::Now) {
        if (const auto channel = channels_.find(id); channel != channels_.end()) {
          channel->second.open = true;
          for (const BytesChain& frame : channel->second.unsent) {
            network_.send(channel->second.stream, Side::opener, frame);
          }
          channel->second.unsent.clear();
        }
      });
    });
  }
  Channel& channel = found->second;
  channel.in_flight.push_back(send.id);
  if (channel.open) {
    network_.send(channel.stream, Side::opener, send.frame);
  } else {
    channel.unsent.push_back(std::move(send.frame));
  }
  queue_.after(send.timeout, [this, life = life_, id = send.channel, request = send.id] {
    later(life, [this, id, request](api::NodeCore&, api::Now) {
      const auto mine = channels_.find(id);
      if (mine != channels_.end() &&
          std::find(mine->second.in_flight.begin(), mine->second.in_flight.end(), request) != mine->second.in_flight.end()) {
        network_.close(mine->second.stream, Side::opener);
        channel_ended(id, "no answer in time");
      }
    });
  });
}

void NodeHost::channel_ended(ChannelId id, const std::string& why) {
  const auto found = channels_.find(id);
  if (found == channels_.end()) {
    return;
  }
  const Channel channel = std::move(found->second);
  channels_.erase(found);
  for (const std::uint64_t request : channel.in_flight) {
    core_->peer_failed(request, why, now(), out_);
  }
}

// ---------------------------------------------------------------- life and death

void NodeHost::end_life(bool silent) {
  ++life_;
  state_ = State::down;
  paused_ = false;
  backlog_.clear();
  network_.listen(host_, {});
  network_.host_died(host_, silent);
  connections_.clear();
  channels_.clear();
  armed_for_ = kNever;
  core_.reset();
  out_.clear();
}

void NodeHost::kill() {
  if (alive()) {
    end_life(false);
    disk_.process_died();
  }
}

Result<void> NodeHost::lose_power() {
  if (alive()) {
    end_life(true);
  }
  return disk_.power_lost();
}

void NodeHost::stop(Duration within) {
  if (state_ != State::running) {
    return;
  }
  state_ = State::leaving;
  later(life_, [this](api::NodeCore& core, api::Now at) { core.hand_over(at, out_); });
  const Instant until = queue_.now() + within;
  const auto look = [this, life = life_, until](const auto& self) -> void {
    if (life != life_ || core_ == nullptr) {
      return;
    }
    if ((!core_->handed_over() && queue_.now() < until) || paused_) {
      queue_.after(milliseconds(10), [self] { self(self); });
      return;
    }
    trace_.line(queue_.now(), "node " + std::to_string(id().value()) +
                                  (core_->handed_over() ? " has handed over, and stops" : " stops without having handed over"));
    static_cast<void>(core_->stop(now()));
    end_life(false);
    disk_.process_died();
  };
  look(look);
}

void NodeHost::pause() {
  if (alive()) {
    paused_ = true;
  }
}

void NodeHost::resume() {
  if (!paused_) {
    return;
  }
  paused_ = false;
  const std::uint32_t life = life_;
  while (!backlog_.empty() && life == life_ && core_ != nullptr && !paused_) {
    const Work work = std::move(backlog_.front());
    backlog_.pop_front();
    turn(work);
  }
}

}  // namespace hw::sim
