// SPDX-License-Identifier: Apache-2.0
// NodeHost: the shell of one simulated node: its disk, its streams, its timer; it dies, pauses and comes back.
//
// What comes for a node that is paused waits in order. What was under way for a life that is over is dropped.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/api/core.h"
#include "engine/api/insides.h"
#include "engine/base/prng.h"
#include "engine/sim/event_queue.h"
#include "engine/sim/network.h"
#include "engine/sim/sim_disk.h"
#include "engine/sim/trace.h"

namespace hw::sim {

inline constexpr std::uint16_t kClientPort = 9092;
inline constexpr std::uint16_t kControllerPort = 9093;

class NodeHost final : public event::EventSink {
 public:
  enum class State : std::uint8_t { down, running, leaving };
  using OnEvent = std::function<void(NodeHost& node, const event::Any& event)>;

  NodeHost(api::NodeOptions options, Duration sync, std::int64_t drift_ppm, EventQueue& queue, Network& network, Trace& trace,
           Prng prng, OnEvent on_event);
  ~NodeHost() override;

  // Errors are the node's own: it does not come up.
  Result<void> start();
  void kill();                   // the process
  Result<void> lose_power();
  void stop(Duration within);    // hands over, then stops clean; after `within` in any case
  void pause();
  void resume();
  void break_stream() { network_.break_one(host_); }
  void step_clock(std::int64_t ms) noexcept { wall_step_ms_ += ms; }

  [[nodiscard]] BrokerId id() const noexcept { return options_.node; }
  [[nodiscard]] HostId host() const noexcept { return host_; }
  [[nodiscard]] const api::NodeOptions& options() const noexcept { return options_; }
  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool alive() const noexcept { return state_ != State::down; }
  [[nodiscard]] bool paused() const noexcept { return paused_; }
  [[nodiscard]] bool ready() const { return core_ != nullptr && core_->ready(); }
  [[nodiscard]] std::uint32_t life() const noexcept { return life_; }
  [[nodiscard]] api::Insides insides() const { return core_ == nullptr ? api::Insides{} : core_->insides(); }
  // Its timer asked for the present again and again: a real node would keep a processor busy.
  [[nodiscard]] bool spins() const noexcept { return spins_; }
  [[nodiscard]] bool gave_up() const noexcept { return gave_up_; }  // by itself, because of its disk
  [[nodiscard]] SimDisk& disk() noexcept { return disk_; }

 private:
  using Work = std::function<void(api::NodeCore&, api::Now)>;
  struct Connection {  // of somebody who came to this node
    StreamId stream = 0;
    std::deque<Bytes> waiting;
    bool busy = false;
  };
  struct Channel {  // to another node
    StreamId stream = 0;
    bool open = false;
    std::deque<BytesChain> unsent;
    std::deque<std::uint64_t> in_flight;
  };

  void emit(event::Any event) override;
  [[nodiscard]] api::Now now() const;
  [[nodiscard]] Instant local_time(Instant world) const noexcept;
  // The world's time at which this node's clock shows `local`.
  [[nodiscard]] Instant world_time(Instant local) const;
  // Runs `work` on the core now, or when the node is resumed; never, where this life is over.
  void later(std::uint32_t life, Work work);
  void turn(const Work& work);
  void perform();
  void arm();
  void take_stream(StreamId stream, std::uint16_t port, Network::End& end);
  void feed(ConnectionId id, Connection& connection, api::NodeCore& core, api::Now at);
  void end_connection(ConnectionId id);
  void send_to_peer(api::Outputs::PeerSend&& send);
  void channel_ended(ChannelId id, const std::string& why);
  void end_life(bool silent);

  api::NodeOptions options_;
  EventQueue& queue_;
  Network& network_;
  Trace& trace_;
  Prng prng_;
  OnEvent on_event_;
  SimDisk disk_;
  std::int64_t drift_ppm_;
  std::int64_t wall_step_ms_ = 0;
  HostId host_;
  State state_ = State::down;
  bool paused_ = false;
  bool gave_up_ = false;
  std::uint32_t life_ = 0;
  std::unique_ptr<api::NodeCore> core_;
  std::deque<Work> backlog_;  // while paused
  std::map<ConnectionId, Connection> connections_;
  std::map<ChannelId, Channel> channels_;
  std::uint64_t next_connection_ = 1;
  api::Outputs out_;
  api::Outputs work_;
  bool in_turn_ = false;
  Instant armed_for_ = kNever;
  Instant ticked_at_{};
  std::int32_t ticks_there_ = 0;
  bool spins_ = false;
};

}  // namespace hw::sim
