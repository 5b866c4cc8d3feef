// SPDX-License-Identifier: Apache-2.0
// Asks an address what a Kafka client would ask first: does the name resolve, does something listen, does it speak
// Kafka, and to which addresses does it send its clients on (Metadata)?
//
// Blocking, bounded by `timeout` but for the name lookup of the system; for a thread that may wait. Keeps nothing.
// Thread rule: any; free functions of their arguments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/time.h"

namespace hw::node {

struct ListenerProbe {
  enum class Outcome : std::uint8_t {
    speaks_kafka,
    not_resolved,    // the name means nothing on this machine
    refused,         // nothing listens there
    timed_out,       // no answer: a firewall, or nobody at home
    unreachable,     // no route, or the system forbids it
    other_protocol,  // something listens, but it does not answer as Kafka does
  } outcome = Outcome::not_resolved;
  std::vector<std::string> addresses;  // what the name resolves to here
  std::string detail;                  // in the system's words; empty where nothing went wrong
  std::string cluster_id;
  struct Broker {
    std::int32_t id = -1;
    std::string host;
    std::int32_t port = 0;
  };
  std::vector<Broker> brokers;  // what clients are told to connect to
  [[nodiscard]] bool ok() const noexcept { return outcome == Outcome::speaks_kafka; }
};

[[nodiscard]] ListenerProbe probe_listener(const std::string& host, std::uint16_t port, Duration timeout);

// The addresses of this machine that are up.
struct LocalAddress {
  enum class Kind : std::uint8_t {
    loopback,
    network,    // what other machines see
    container,  // the bridge of a container engine, by the name of its interface
  } kind = Kind::network;
  std::string interface_name;
  std::string address;
  bool v6 = false;
};
// IPv4 first; link-local addresses are left out, since they need a zone to be used.
[[nodiscard]] std::vector<LocalAddress> local_addresses();

}  // namespace hw::node
