// SPDX-License-Identifier: Apache-2.0
// ConnectionLimits: how many connections a node takes, from whom, and for how long without a request.
//
//   max.connections            when as many are open, the shell accepts nobody until one ends (full())
//   max.connections.per.ip     one host's further connections are closed at once; max.connections.per.ip.overrides
//   max.connection.creation.rate          nobody is accepted until the rate is within it again
//   connection_creation_rate of an ip     (a client quota) further connections of that host are closed at once
//   connections.max.idle.ms    the one that was quiet longest is closed when its time is over; below 0: never
//
// Sources: KIP-402, KIP-612. Thread rule: one thread.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/metadata/configs.h"
#include "engine/quotas/sampled_rate.h"

namespace hw::api {

class ConnectionLimits {
 public:
  struct Held {
    ConnectionId id;
    std::string host;
    Instant active;
  };
  using Entry = std::list<Held>::iterator;

  void configure(const metadata::BrokerConfigs& configs);
  void set_quotas(const metadata::ClientQuotaMap& quotas);

  // `host`: an address as Kafka prints it ("/127.0.0.1"). The connection counts also where it is refused, until ended().
  Entry opened(ConnectionId id, std::string_view host, Instant now);
  // Why this host may not have one more; ask once, right after opened().
  [[nodiscard]] std::optional<std::string> refusal(Entry entry, Instant now);
  void active(Entry entry, Instant now);
  void ended(Entry entry);

  [[nodiscard]] bool full(Instant now) const noexcept {
    return static_cast<std::int64_t>(by_activity_.size()) >= total_ || now < resume_at_;
  }
  // The next connection whose quiet time is over, if there is one; close it, and ask again when it has ended.
  [[nodiscard]] std::optional<ConnectionId> idle(Instant now) const;
  // When somebody is to be closed, or accepted again.
  [[nodiscard]] Instant next_deadline(Instant now) const noexcept;
  [[nodiscard]] Duration idle_limit() const noexcept { return idle_; }

 private:
  [[nodiscard]] std::int64_t limit_of(std::string_view host) const;
  [[nodiscard]] Instant idle_deadline() const noexcept;

  std::list<Held> by_activity_;  // quietest first
  std::map<std::string, std::int64_t, std::less<>> of_host_;
  std::int64_t total_ = INT32_MAX;
  std::int64_t per_host_ = INT32_MAX;
  std::map<std::string, std::int64_t, std::less<>> overrides_;
  Duration idle_{};  // 0: never

  quotas::RateWindows windows_;
  std::int64_t rate_ = INT32_MAX;  // connections a second
  quotas::SampledRate opened_;
  Instant resume_at_{};
  std::map<std::string, double, std::less<>> ip_rates_;  // "": any host
  // Hosts that have a rate and were heard of; forgotten all together when there are too many.
  std::map<std::string, quotas::SampledRate, std::less<>> opened_by_;
};

}  // namespace hw::api
