// SPDX-License-Identifier: Apache-2.0
// What the parts of the consumer share; for consumer*.cpp only.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/client/consumer.h"

namespace hw::client {

inline constexpr Duration kCloseAllowance = seconds(2);
inline constexpr Duration kJoinAllowance = seconds(5);  // beyond the rebalance timeout, within which a coordinator answers

template <class T>
void Consumer::ask(Ask what, BrokerId broker, Lane lane, T request, std::int16_t lowest, std::int16_t highest,
                   Instant deadline, std::vector<Asked> partitions, Instant now, ConsumerOutputs& out) {
  const std::uint64_t token = next_token_++;
  pending_[token] = {what, broker, std::move(partitions), generation_};
  Request made = make_request(std::move(request), token, deadline, highest);
  made.lowest = std::max(made.lowest, lowest);
  cluster_.request(broker, std::move(made), now, out.io, answers_, lane);
}

// True with a response that says nothing of its own: the network and the codec are dealt with.
template <class R>
bool Consumer::read_group_answer(const Answer& answer, const char* name, R& response, Instant now,
                                 ConsumerOutputs& out) {
  group_asked_ = false;
  if (answer.error) {
    coordinator_trouble(answer.error->detail, now, out);
    return false;
  }
  if (!decode_answer(answer, response)) {
    coordinator_trouble(fmt::format("the answer to {} cannot be read", name), now, out);
    return false;
  }
  return true;
}

}  // namespace hw::client
