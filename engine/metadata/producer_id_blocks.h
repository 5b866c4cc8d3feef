// SPDX-License-Identifier: Apache-2.0
// ProducerIdBlocks: the producer ids that a broker gives out, from blocks of the controller's (KIP-730).
//
// An id is given out once: what was left of a block when the broker stopped is lost. The next block is asked for when
// nine tenths of one are used, so that nobody waits for it; who comes while there is none waits for the answer, and gets
// COORDINATOR_LOAD_IN_PROGRESS, which producers try again, when it fails.
// Whoever drives it brings requests to the active controller and the answers back, like BrokerLifecycle's.
// Thread rule: one thread. Waiting is bounded by the number of open requests.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/wire/msg/allocate_producer_ids.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::metadata {

class ProducerIdBlocks {
 public:
  explicit ProducerIdBlocks(BrokerId broker) : broker_(broker) {}

  using Done = std::function<void(std::pair<wire::ErrorCode, ProducerId>)>;
  void next(Done done);  // at once, or when a block arrives
  void set_broker_epoch(std::int64_t epoch) noexcept { broker_epoch_ = epoch; }

  struct Request {
    std::uint64_t id = 0;
    wire::AllocateProducerIdsRequest request;
  };
  [[nodiscard]] std::optional<Request> take_request(Instant now);
  void answered(std::uint64_t id, const wire::AllocateProducerIdsResponse& response, Instant now);
  void failed(std::uint64_t id, Instant now);  // tried again after 50 ms
  // kNever while nothing is wanted; the past where a request waits to be taken.
  [[nodiscard]] Instant next_deadline() const noexcept;

 private:
  struct Block {
    std::int64_t next = 0;
    std::int64_t end = 0;
    std::int64_t ask_at = 0;  // from this id on the next block is wanted
  };
  void serve();
  [[nodiscard]] bool wants_block() const noexcept;

  BrokerId broker_;
  std::int64_t broker_epoch_ = -1;
  Block current_;
  std::optional<Block> following_;
  std::deque<Done> waiting_;
  std::uint64_t last_request_ = 0;
  bool in_flight_ = false;
  Instant not_before_;
};

}  // namespace hw::metadata
