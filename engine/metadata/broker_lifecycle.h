// SPDX-License-Identifier: Apache-2.0
// BrokerLifecycle: the broker's side of registration and heartbeats (KIP-631), without sockets and clock.
//
//   registering ──(answer: broker epoch)──▶ registered ──(caught up, ready, unfenced)──▶ running
//        ▲                                      │                                            │ begin_shutdown()
//        └──(unknown under its epoch)───────────┘                                            ▼
//                                                        stopped ◀──(controller lets it go)── stopping
//
// At most one request is on its way. Whoever drives it takes the request out of Outputs, brings it to the active
// controller (directly where that is this node), and gives the answer, or the failure, back with the request's id; an id
// that is not the one on its way is ignored. A refusal is tried again after 100 ms, twice as long each time, not longer
// than broker.session.timeout.ms; a new controller is tried at once.
// Heartbeats go out every broker.heartbeat.interval.ms, and at once where waiting for the next would keep somebody
// waiting: the broker has caught up, is ready to be unfenced, lost a directory, wants to stop, or has replayed what a
// broker that stops waits for.
// Whoever was unregistered by an administrator while it lives registers anew.
// Who wants to stop and hears nothing of any controller for 3 s goes without leave: nobody is there to move what it leads.
// Thread rule: one thread. Nothing here fails: it goes on until it is stopped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/prng.h"
#include "engine/base/time.h"
#include "engine/metadata/controller.h"
#include "engine/wire/msg/broker_heartbeat.h"
#include "engine/wire/msg/broker_registration.h"

namespace hw::metadata {

enum class BrokerState : std::uint8_t { registering, registered, running, stopping, stopped };

class BrokerLifecycle {
 public:
  struct Options {
    Registration registration;
    std::string cluster_id;
    std::int64_t previous_broker_epoch = -1;  // of a former life that stopped cleanly; -1: none did
    Duration heartbeat_interval = milliseconds(2000);
    Duration session_timeout = milliseconds(9000);
  };
  BrokerLifecycle(Options options, Prng prng);

  struct Outputs {
    // One of them at most, for the active controller.
    std::uint64_t request_id = 0;
    std::optional<wire::BrokerRegistrationRequest> registration;
    std::optional<wire::BrokerHeartbeatRequest> heartbeat;
    // What the last input brought about.
    bool registered = false;       // broker_epoch() is new
    bool unfenced = false;         // running, for the first time since it registered
    bool may_shut_down = false;    // the controller let it go
    void clear() { *this = Outputs{}; }
  };

  void start(Instant now);
  void tick(Instant now, Outputs& out);  // takes what the inputs below made due
  [[nodiscard]] Instant next_deadline() const noexcept;

  // --- inputs
  void answered(std::uint64_t request_id, const wire::BrokerRegistrationResponse& response, Instant now, Outputs& out);
  void answered(std::uint64_t request_id, const wire::BrokerHeartbeatResponse& response, Instant now, Outputs& out);
  void failed(std::uint64_t request_id, Instant now);  // no answer will come
  void controller_changed(Instant now);
  // Everything up to this offset is replayed. `somebody_stops`: a broker of the image is in controlled shutdown and waits
  // until all know who leads now.
  void metadata_replayed(Offset offset, bool somebody_stops, Instant now);
  void ready(Instant now);                     // its logs are there: it need not stay fenced
  void directory_failed(Uuid directory, Instant now);
  void set_cordoned(std::vector<Uuid> directories, Instant now);
  void begin_shutdown(Instant now);            // not running yet: it may go at once

  [[nodiscard]] BrokerState state() const noexcept { return state_; }
  [[nodiscard]] std::int64_t broker_epoch() const noexcept { return broker_epoch_; }  // -1: not registered yet

 private:
  void due_at(Instant when) { due_ = when < due_ ? when : due_; }
  void send(Instant now, Outputs& out);
  void refused(Instant now);
  [[nodiscard]] bool take(std::uint64_t request_id);

  Options options_;
  Prng prng_;
  BrokerState state_ = BrokerState::registering;
  std::int64_t broker_epoch_ = -1;
  Offset metadata_offset_ = kNoOffset;
  bool started_ = false;
  bool ready_ = false;
  bool caught_up_ = false;
  bool let_go_ = false;          // stopped without having been asked for by a request
  Instant heard_at_ = kNever;    // while it stops: when the controller answered last
  std::vector<Uuid> failed_directories_;
  std::optional<std::vector<Uuid>> cordoned_;

  Instant due_ = kNever;         // of the next request
  std::uint64_t last_request_ = 0;
  bool in_flight_ = false;
  std::int32_t refusals_ = 0;
};

}  // namespace hw::metadata
