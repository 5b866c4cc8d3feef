// SPDX-License-Identifier: Apache-2.0
// Listener doctor: who can reach this cluster, and if somebody cannot, why, and what to set.
//
// A Kafka client connects twice: to its bootstrap address, and then to what the broker advertises. The second is what
// goes wrong, and clients report it as "broker down". The doctor looks at both from three places: programs on this
// machine, other machines, containers.
// Pure: addresses and answers in, sentences out; asking is the caller's work (toAsk). Thread rule: UI thread only (tr).
#pragma once

#include <QString>
#include <map>
#include <vector>

#include "ui/session/listener_check.h"

namespace hw::ui {

// "localhost:9092", "[::1]:9092"
[[nodiscard]] QString host_port(const QString& host, std::uint16_t port);

struct DoctorInput {
  ListenerInfo listener;
  QString cluster_id;
  std::vector<MachineAddress> machine;
  std::map<QString, ListenerCheck> checks;  // by host_port(); missing: not asked yet
};

struct DoctorRow {
  enum class Audience : std::uint8_t { here, network, container } audience = Audience::here;
  enum class Verdict : std::uint8_t { checking, works, unsure, fails } verdict = Verdict::checking;
  QString who;        // "Programs on this machine"
  QString bootstrap;  // what they have to use
  QString told;       // what the broker tells them
  QString sentence;   // what happens
  QString advice;     // what to set; empty where nothing has to be
  QString options;    // of highwater and highwaterd: "--listen 0.0.0.0 --advertise 192.168.1.5:9092"
};

struct DoctorAddress {
  QString host;
  std::uint16_t port = 0;
};

// The addresses whose checks the diagnosis needs.
[[nodiscard]] std::vector<DoctorAddress> to_ask(const DoctorInput& input);
// Three rows, in the order of Audience.
[[nodiscard]] std::vector<DoctorRow> diagnose(const DoctorInput& input);

}  // namespace hw::ui
