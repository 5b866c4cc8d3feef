// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/producer_id_blocks.h"

namespace hw::metadata {

using wire::ErrorCode;

namespace {

constexpr Duration kRetry = milliseconds(50);

}  // namespace

void ProducerIdBlocks::next(Done done) {
  waiting_.push_back(std::move(done));
  serve();
}

bool ProducerIdBlocks::wants_block() const noexcept {
  return !following_ && (current_.next >= current_.ask_at || !waiting_.empty());
}

void ProducerIdBlocks::serve() {
  while (!waiting_.empty()) {
    if (current_.next == current_.end) {
      if (!following_) {
        return;
      }
      current_ = *following_;
      following_.reset();
    }
    const Done done = std::move(waiting_.front());
    waiting_.pop_front();
    done({ErrorCode::none, ProducerId(current_.next++)});
  }
}

std::optional<ProducerIdBlocks::Request> ProducerIdBlocks::take_request(Instant now) {
  // The first block is asked for by the first producer: most nodes of tests and demos never have one.
  const bool idle = current_.end == 0 && waiting_.empty();
  if (in_flight_ || idle || !wants_block() || now < not_before_ || broker_epoch_ < 0) {
    return std::nullopt;
  }
  in_flight_ = true;
  Request result;
  result.id = ++last_request_;
  result.request.broker_id = broker_;
  result.request.broker_epoch = broker_epoch_;
  return result;
}

void ProducerIdBlocks::answered(std::uint64_t id, const wire::AllocateProducerIdsResponse& response, Instant now) {
  if (response.error_code != ErrorCode::none || response.producer_id_len <= 0 || response.producer_id_start.value() < 0) {
    failed(id, now);
    return;
  }
  if (id != last_request_ || !std::exchange(in_flight_, false)) {
    return;
  }
  const std::int64_t first = response.producer_id_start.value();
  const std::int64_t size = response.producer_id_len;
  following_ = Block{first, first + size, first + size * 9 / 10};
  serve();
}

void ProducerIdBlocks::failed(std::uint64_t id, Instant now) {
  if (id != last_request_ || !std::exchange(in_flight_, false)) {
    return;
  }
  not_before_ = now + kRetry;
  std::deque<Done> waiting = std::exchange(waiting_, {});
  for (const Done& done : waiting) {
    done({ErrorCode::coordinator_load_in_progress, kNoProducerId});
  }
}

Instant ProducerIdBlocks::next_deadline() const noexcept {
  const bool idle = current_.end == 0 && waiting_.empty();
  return in_flight_ || idle || !wants_block() || broker_epoch_ < 0 ? kNever : not_before_;
}

}  // namespace hw::metadata
