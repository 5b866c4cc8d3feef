// SPDX-License-Identifier: Apache-2.0
// A call: any request of engine/wire/msg to a broker that is named by its role, and its response. What Admin::call() takes.
//
// The request goes out in the newest version that both sides know (CallOptions::highest caps it). A broken connection, a broker
// that is not the leader, controller or coordinator any more, a coordinator that still loads: the role is looked up again and
// the request sent again, until the time is up. What is an answer (a topic that does not exist, a group that is not empty) comes
// back as it is, in the response's error codes. Where the time is up and a broker has answered, the caller gets its last response
// with the codes in it; an Error means that there is no response.
// Not for Produce with acks=0. Thread rule: values.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/client/connection.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::client {

// Who is to answer.
struct Target {
  enum class Kind : std::uint8_t {
    any,          // whichever broker answers
    controller,   // the broker that Metadata names as controller (under KRaft any broker passes a change on)
    broker,       // `broker`
    leader,       // of partition `partition` of topic `name`
    coordinator,  // of group `name`
  } kind = Kind::any;
  BrokerId broker = kNoBroker;
  std::string name;
  std::int32_t partition = 0;

  [[nodiscard]] static Target any() { return {}; }
  [[nodiscard]] static Target controller() { return {Kind::controller, kNoBroker, {}, 0}; }
  [[nodiscard]] static Target broker_id(std::int32_t id) { return {Kind::broker, BrokerId(id), {}, 0}; }
  [[nodiscard]] static Target leader_of(std::string topic, std::int32_t partition) {
    return {Kind::leader, kNoBroker, std::move(topic), partition};
  }
  [[nodiscard]] static Target coordinator_of(std::string group) { return {Kind::coordinator, kNoBroker, std::move(group), 0}; }
};

struct CallOptions {
  Duration timeout = seconds(15);
  std::int16_t highest = std::numeric_limits<std::int16_t>::max();  // newest version to use
  bool retry_codes = true;  // false: the first response is the answer, whatever its codes are
};

struct Call {
  Target target;
  CallOptions options;
  std::function<Request(std::uint64_t token, Instant deadline)> make;
  // The first code in the response that asks for another attempt, or none; nullopt: the body cannot be read.
  std::function<std::optional<wire::ErrorCode>(const Answer&)> judge;
};

// Another attempt, perhaps at another broker, may succeed. Narrower than wire::is_retriable(): a topic that does not exist, or an
// election that changes nothing, is an answer to who asks.
[[nodiscard]] bool worth_another_attempt(wire::ErrorCode error) noexcept;

// Calls visit(code) for every error code of a response, outermost first.
template <class T, class Visit>
void each_error_code(const T& part, const Visit& visit) {
  if constexpr (requires { { part.error_code } -> std::convertible_to<wire::ErrorCode>; }) {
    visit(part.error_code);
  }
  const auto each = [&visit](const auto& rows) {
    for (const auto& row : rows) {
      each_error_code(row, visit);
    }
  };
  // The names that Kafka's responses give to what carries codes of its own.
  if constexpr (requires { part.topics.begin(); }) {
    each(part.topics);
  }
  if constexpr (requires { part.partitions.begin(); }) {
    each(part.partitions);
  }
  if constexpr (requires { part.responses.begin(); }) {
    each(part.responses);
  }
  if constexpr (requires { part.results.begin(); }) {
    each(part.results);
  }
  if constexpr (requires { part.groups.begin(); }) {
    each(part.groups);
  }
  if constexpr (requires { part.entries.begin(); }) {
    each(part.entries);
  }
  if constexpr (requires { part.coordinators.begin(); }) {
    each(part.coordinators);
  }
  if constexpr (requires { part.replica_election_results.begin(); }) {
    each(part.replica_election_results);
  }
  if constexpr (requires { part.partition_result.begin(); }) {
    each(part.partition_result);
  }
}

// REQUIRES: Body and Response are the generated structs of one API.
template <class Response, class Body>
[[nodiscard]] Call make_call(Target target, Body body, CallOptions options = {}) {
  static_assert(Response::kApiKey == Body::kApiKey, "request and response of one API");
  Call call;
  call.target = std::move(target);
  call.options = options;
  const std::int16_t highest = options.highest < Body::kHighestVersion ? options.highest : Body::kHighestVersion;
  call.make = [body = std::move(body), highest](std::uint64_t token, Instant deadline) {
    return make_request(body, token, deadline, highest);
  };
  call.judge = [](const Answer& answer) -> std::optional<wire::ErrorCode> {
    Response response;
    if (!decode_answer(answer, response)) {
      return std::nullopt;
    }
    wire::ErrorCode found = wire::ErrorCode::none;
    each_error_code(response, [&found](wire::ErrorCode code) {
      if (found == wire::ErrorCode::none && worth_another_attempt(code)) {
        found = code;
      }
    });
    return found;
  };
  return call;
}

}  // namespace hw::client
