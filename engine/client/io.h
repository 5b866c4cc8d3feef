// SPDX-License-Identifier: Apache-2.0
// What a client core and its shell say to each other: links to open, frames to send; what happened to them.
//
// A link is one TCP connection. The core names it (a number that is never used twice); the shell opens it, cuts the stream into
// frames, and tells of each frame, and of the end exactly once (failed or closed). After Close the core wants to hear no more
// of a link, and what still comes is ignored. Thread rule: one thread per core.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/result.h"
#include "engine/base/time.h"

namespace hw::client {

struct Endpoint {
  std::string host;
  std::uint16_t port = 9092;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
  [[nodiscard]] std::string text() const;
};
// "host:port,host:port"; the port may be left out (9092), IPv6 addresses stand in brackets. Error: says which part and why.
[[nodiscard]] Result<std::vector<Endpoint>> parse_bootstrap(std::string_view text);

using LinkId = std::uint32_t;

struct Input {
  enum class Kind : std::uint8_t {
    tick,    // time passed, nothing else
    opened,  // the TCP connection stands
    failed,  // it could not be opened; `reason` in words
    frame,   // one whole frame without its length
    closed,  // it ended; `reason` in words
  } kind = Kind::tick;
  LinkId link = 0;
  Bytes frame;
  std::string reason;
};

struct IoOutputs {
  struct Open {
    LinkId link = 0;
    Endpoint endpoint;
  };
  struct Send {
    LinkId link = 0;
    BytesChain frame;  // length included
  };
  std::vector<Open> opens;
  std::vector<Send> sends;
  std::vector<LinkId> closes;
  void clear() {
    opens.clear();
    sends.clear();
    closes.clear();
  }
};

}  // namespace hw::client
