// SPDX-License-Identifier: Apache-2.0
// What a session knows of the way to its cluster: where it listens, what clients are told, which addresses this machine
// has, and what came of trying one of them.
// Thread rule: plain data.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <vector>

namespace hw::ui {

struct ListenerInfo {
  QString bind_address;  // "127.0.0.1", "0.0.0.0"
  std::uint16_t port = 0;
  QString advertised_host;
  std::uint16_t advertised_port = 0;
  friend bool operator==(const ListenerInfo&, const ListenerInfo&) = default;
};

struct MachineAddress {
  enum class Kind : std::uint8_t { loopback, network, container } kind = Kind::network;
  QString interface_name;
  QString address;
  bool v6 = false;
};

// The answer of one address, asked as a client would.
struct ListenerCheck {
  enum class Outcome : std::uint8_t {
    pending,  // not asked, or on its way
    speaks_kafka,
    not_resolved,
    refused,
    timed_out,
    unreachable,
    other_protocol,
  } outcome = Outcome::pending;
  QStringList addresses;  // what the name means on this machine
  QString detail;         // in the system's words
  QString cluster_id;
  QStringList told;       // host:port of each broker, as Metadata says
  [[nodiscard]] bool ok() const { return outcome == Outcome::speaks_kafka; }
};

}  // namespace hw::ui
