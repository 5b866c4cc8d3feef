// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/broker_lifecycle.h"

#include <algorithm>
#include <utility>

namespace hw::metadata {

using wire::ErrorCode;

namespace {

constexpr Duration kFirstRetry = milliseconds(100);
constexpr Duration kWhileStarting = milliseconds(10);   // to the next heartbeat of a broker that waits for something
constexpr Duration kWhileStopping = milliseconds(50);
constexpr Duration kGoAlone = seconds(3);               // Kafka waits for five minutes, and its users for their shell

}  // namespace

BrokerLifecycle::BrokerLifecycle(Options options, Prng prng) : options_(std::move(options)), prng_(prng) {
  std::sort(options_.registration.log_directories.begin(), options_.registration.log_directories.end());
}

void BrokerLifecycle::start(Instant now) {
  started_ = true;
  due_at(now);
}

Instant BrokerLifecycle::next_deadline() const noexcept {
  if (let_go_) {
    return Instant{};
  }
  if (state_ == BrokerState::stopped) {
    return kNever;
  }
  const Instant alone = state_ == BrokerState::stopping ? heard_at_ + kGoAlone : kNever;
  return std::min(alone, in_flight_ ? kNever : due_);
}

void BrokerLifecycle::tick(Instant now, Outputs& out) {
  if (state_ == BrokerState::stopping && heard_at_ + kGoAlone <= now) {
    state_ = BrokerState::stopped;
    let_go_ = true;
  }
  if (std::exchange(let_go_, false)) {
    out.may_shut_down = true;
  }
  if (started_ && !in_flight_ && state_ != BrokerState::stopped && due_ <= now) {
    send(now, out);
  }
}

void BrokerLifecycle::send(Instant /*now*/, Outputs& out) {
  out.request_id = ++last_request_;
  in_flight_ = true;
  due_ = kNever;
  const Registration& self = options_.registration;
  if (state_ == BrokerState::registering) {
    wire::BrokerRegistrationRequest& request = out.registration.emplace();
    request.broker_id = self.broker;
    request.cluster_id = options_.cluster_id;
    request.incarnation_id = self.incarnation;
    for (const ListenerImage& listener : self.listeners) {
      auto& row = request.listeners.emplace_back();
      row.name = listener.name;
      row.host = listener.host;
      row.port = listener.port;
      row.security_protocol = listener.security_protocol;
    }
    for (const FeatureRange& range : supported_features()) {
      auto& row = request.features.emplace_back();
      row.name = range.name;
      row.min_supported_version = range.min_supported;
      row.max_supported_version = range.max_supported;
    }
    request.rack = self.rack;
    request.log_dirs = self.log_directories;
    request.previous_broker_epoch = options_.previous_broker_epoch;
    return;
  }
  wire::BrokerHeartbeatRequest& request = out.heartbeat.emplace();
  request.broker_id = self.broker;
  request.broker_epoch = broker_epoch_;
  request.current_metadata_offset = metadata_offset_;
  request.want_fence = !ready_;
  request.want_shut_down = state_ == BrokerState::stopping;
  request.offline_log_dirs = failed_directories_;
  request.cordoned_log_dirs = cordoned_;
}

bool BrokerLifecycle::take(std::uint64_t request_id) {
  return request_id == last_request_ && std::exchange(in_flight_, false);
}

void BrokerLifecycle::refused(Instant now) {
  Duration wait = kFirstRetry;
  for (std::int32_t i = 0; i < refusals_ && wait < options_.session_timeout; ++i) {
    wait = wait * 2;
  }
  ++refusals_;
  wait = std::min(wait, options_.session_timeout);
  wait.ns += prng_.between(0, wait.ns / 50);  // not all brokers of a cluster in step
  due_ = now + wait;  // what made a request due meanwhile waits too
}

void BrokerLifecycle::failed(std::uint64_t request_id, Instant now) {
  if (take(request_id)) {
    refused(now);
  }
}

void BrokerLifecycle::answered(std::uint64_t request_id, const wire::BrokerRegistrationResponse& response, Instant now,
                               Outputs& out) {
  if (!take(request_id)) {
    return;
  }
  if (response.error_code != ErrorCode::none) {
    refused(now);
    return;
  }
  refusals_ = 0;
  broker_epoch_ = response.broker_epoch;
  // The next registration of this life, if there is one, has none before it that matters.
  options_.previous_broker_epoch = broker_epoch_;
  state_ = BrokerState::registered;
  caught_up_ = false;
  out.registered = true;
  // Before it has replayed its registration a heartbeat could only say so.
  due_at(metadata_offset_ >= Offset(broker_epoch_) ? now : now + options_.heartbeat_interval);
}

void BrokerLifecycle::answered(std::uint64_t request_id, const wire::BrokerHeartbeatResponse& response, Instant now,
                               Outputs& out) {
  if (!take(request_id)) {
    return;
  }
  if (response.error_code == ErrorCode::stale_broker_epoch && state_ != BrokerState::stopping) {
    state_ = BrokerState::registering;
    refused(now);
    return;
  }
  if (response.error_code == ErrorCode::stale_broker_epoch) {
    state_ = BrokerState::stopped;  // nobody knows it any more: nothing of it has to move
    out.may_shut_down = true;
    return;
  }
  if (response.error_code != ErrorCode::none) {
    refused(now);
    return;
  }
  refusals_ = 0;
  caught_up_ = response.is_caught_up;
  switch (state_) {
    case BrokerState::registered:
      if (ready_ && !response.is_fenced) {
        state_ = BrokerState::running;
        out.unfenced = true;
        due_at(now + options_.heartbeat_interval);
      } else {
        due_at(now + (caught_up_ && ready_ ? kWhileStarting : options_.heartbeat_interval));
      }
      break;
    case BrokerState::stopping:
      heard_at_ = now;
      if (response.should_shut_down) {
        state_ = BrokerState::stopped;
        out.may_shut_down = true;
      } else {
        due_at(now + std::min(kWhileStopping, options_.heartbeat_interval));
      }
      break;
    case BrokerState::registering:
    case BrokerState::running:
    case BrokerState::stopped: due_at(now + options_.heartbeat_interval); break;
  }
}

void BrokerLifecycle::controller_changed(Instant now) {
  refusals_ = 0;
  if (started_) {
    due_at(now);
  }
}

void BrokerLifecycle::metadata_replayed(Offset offset, bool somebody_stops, Instant now) {
  const bool moved = offset > metadata_offset_;
  metadata_offset_ = std::max(metadata_offset_, offset);
  const bool catches_up = state_ == BrokerState::registered && !caught_up_ && metadata_offset_ >= Offset(broker_epoch_);
  if (catches_up || (moved && somebody_stops && state_ == BrokerState::running)) {
    due_at(now);
  }
}

void BrokerLifecycle::ready(Instant now) {
  if (!std::exchange(ready_, true) && state_ == BrokerState::registered) {
    due_at(now);
  }
}

void BrokerLifecycle::directory_failed(Uuid directory, Instant now) {
  if (std::find(failed_directories_.begin(), failed_directories_.end(), directory) == failed_directories_.end()) {
    failed_directories_.push_back(directory);
    due_at(state_ == BrokerState::registering ? due_ : now);
  }
}

void BrokerLifecycle::set_cordoned(std::vector<Uuid> directories, Instant now) {
  if (cordoned_ != directories) {
    cordoned_ = std::move(directories);
    due_at(state_ == BrokerState::registering ? due_ : now);
  }
}

void BrokerLifecycle::begin_shutdown(Instant now) {
  if (state_ == BrokerState::running) {
    state_ = BrokerState::stopping;
    heard_at_ = now;
    due_at(now);
  } else if (state_ != BrokerState::stopping && state_ != BrokerState::stopped) {
    state_ = BrokerState::stopped;
    let_go_ = true;
  }
}

}  // namespace hw::metadata
