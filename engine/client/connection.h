// SPDX-License-Identifier: Apache-2.0
// ClientConnection: the client's end of one link. Sans-I/O.
//
// Begins with ApiVersions (falling back as KIP-511 says), then sends each request in the newest version that both sides know,
// any number in flight, and pairs answers with requests: a broker answers in order, so a correlation id that is not the next one
// ends the link. Requests given before the versions are known wait.
//
// Every request gets exactly one Answer: the body, or an error (timed out, link closed, API not offered).
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

namespace hw::client {

struct Request {
  std::int16_t api = 0;
  std::int16_t lowest = 0;  // versions the caller can make
  std::int16_t highest = 0;
  std::function<bool(wire::Writer&, std::int16_t version)> encode;
  std::uint64_t token = 0;      // comes back in the Answer
  Instant deadline = kNever;
  bool no_answer = false;       // Produce with acks=0: the Answer comes when the request has been handed out
};

// REQUIRES: T is a generated request; `request` is copied into the closure.
template <class T>
[[nodiscard]] Request make_request(T request, std::uint64_t token, Instant deadline,
                                   std::int16_t highest = T::kHighestVersion) {
  Request made;
  made.api = T::kApiKey;
  made.lowest = T::kLowestVersion;
  made.highest = highest;
  made.encode = [body = std::move(request)](wire::Writer& writer, std::int16_t version) {
    return encode(writer, body, version);
  };
  made.token = token;
  made.deadline = deadline;
  return made;
}

// Null, which in requests means "all". (Not reset(): g++ 12 then warns of an uninitialised vector.)
template <class T>
void make_null(std::optional<T>& field) {
  std::optional<T> none;
  field.swap(none);
}

struct Answer {
  std::uint64_t token = 0;
  std::int16_t api = 0;
  std::int16_t version = 0;
  Bytes body;                  // without header
  std::optional<Error> error;  // then there is no body
  bool sent = false;           // with an error: the request had been handed out, so it may have been served
};

// False where the body is not a T: a broker that speaks another protocol.
template <class T>
[[nodiscard]] bool decode_answer(const Answer& answer, T& response) {
  wire::Reader reader(answer.body);
  return decode(reader, response, answer.version) && reader.remaining() == 0;
}

class ClientConnection {
 public:
  // Errors name `peer` ("localhost:9092").
  ClientConnection(std::string client_id, std::string peer);

  void opened(Instant deadline, std::vector<BytesChain>& sends);
  void send(Request request, std::vector<BytesChain>& sends, std::vector<Answer>& answers);
  // An error is final: the caller closes the link and calls fail_all().
  [[nodiscard]] Result<void> receive(const Bytes& frame, std::vector<BytesChain>& sends, std::vector<Answer>& answers);
  // Every request that waits or is in flight gets this error.
  void fail_all(const Error& error, std::vector<Answer>& answers);

  [[nodiscard]] bool ready() const noexcept { return ready_; }  // versions are known
  [[nodiscard]] std::size_t unanswered() const noexcept { return in_flight_.size() + waiting_.size(); }
  // When the oldest deadline passes, the link counts as dead: the caller closes it and calls fail_all().
  [[nodiscard]] Instant next_deadline() const noexcept;
  // The highest version both know, or -1.
  [[nodiscard]] std::int16_t version_for(std::int16_t api, std::int16_t lowest, std::int16_t highest) const noexcept;

 private:
  struct InFlight {
    std::int32_t correlation = 0;
    std::int16_t api = 0;
    std::int16_t version = 0;
    std::uint64_t token = 0;
    Instant deadline;
    bool versions = false;  // our own ApiVersions
  };
  struct Range {
    std::int16_t api = 0;
    std::int16_t lowest = 0;
    std::int16_t highest = 0;
  };
  void send_api_versions(std::int16_t version, Instant deadline, std::vector<BytesChain>& sends);
  [[nodiscard]] Result<void> take_api_versions(const InFlight& sent, const Bytes& body, std::vector<BytesChain>& sends,
                                               std::vector<Answer>& answers);
  void put(const Request& request, std::vector<BytesChain>& sends, std::vector<Answer>& answers);

  std::string client_id_;
  std::string peer_;
  bool ready_ = false;
  std::int32_t next_correlation_ = 1;
  std::deque<InFlight> in_flight_;
  std::deque<Request> waiting_;
  std::vector<Range> ranges_;
};

}  // namespace hw::client
