// SPDX-License-Identifier: Apache-2.0
// ClientQuotas: what one node lets each client do, and for how long a client above that is not heard (KIP-13, KIP-55,
// KIP-124, KIP-219, KIP-599).
//
// A quota belongs to an entity; of several that match a client the most specific one counts, in this order:
//   user and client-id · user and any client-id · user · any user and client-id · any user and any client-id · any user ·
//   client-id · any client-id
// All clients that the winning entity names share its rate; a default ("any") entity gives each user or client-id its own.
// An excess is answered with the time after which the rate would be within the quota again. The caller lets the client
// know and does not read from its connection meanwhile.
// Bounds: `rates_max` measured clients, the one that was quiet longest is forgotten first.
// Thread rule: one thread. No clock: `now` comes in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/base/time.h"
#include "engine/metadata/image/image.h"
#include "engine/quotas/sampled_rate.h"

namespace hw::quotas {

enum class QuotaKind : std::uint8_t { produce, fetch, request, controller_mutation };
inline constexpr std::size_t kQuotaKinds = 4;
[[nodiscard]] std::string_view quota_key(QuotaKind kind) noexcept;  // "producer_byte_rate", …

struct Client {
  std::string_view user;
  std::string_view client_id;
};

class ClientQuotas {
 public:
  struct Options {
    RateWindows client;      // quota.window.*
    RateWindows controller;  // controller.quota.window.*
    std::size_t rates_max = 10'000;
  };
  ClientQuotas() = default;
  explicit ClientQuotas(Options options) : options_(options) {}

  // Takes over what is set now; measured rates go on.
  void set(const metadata::ClientQuotaMap& quotas);
  // Whether anybody has a quota of this kind. False: nothing else need be asked.
  [[nodiscard]] bool active(QuotaKind kind) const noexcept { return active_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] std::optional<double> limit(QuotaKind kind, const Client& client);

  // --- produce and fetch in bytes, request in percent of one thread (seconds of it times 100)
  // Counts the amount and says how long the client is to be muted; 0: it is within its quota.
  Duration record(QuotaKind kind, const Client& client, double amount, Instant now);
  // Counts without judging; a negative amount takes back what was counted.
  void count(QuotaKind kind, const Client& client, double amount, Instant now);
  // The verdict alone. That of `request` is at most one window.
  [[nodiscard]] Duration excess(QuotaKind kind, const Client& client, Instant now);
  // The most that one answer may bring without using up all windows; INT32_MAX where there is no quota.
  [[nodiscard]] std::int32_t most_in_windows(QuotaKind kind, const Client& client);

  // --- controller mutations: partitions created or deleted
  // How long until the bucket is not overdrawn any more; 0: something may be taken, even more than there is.
  [[nodiscard]] Duration overdrawn(const Client& client, Instant now);
  void take(const Client& client, double partitions, Instant now);

  [[nodiscard]] std::size_t rates() const noexcept { return rates_.size(); }

 private:
  struct Rate {
    std::string key;
    SampledRate sampled;
    TokenBucket bucket;
  };
  struct Resolved {
    double limit = 0;
    std::string key;  // of its rate
  };
  [[nodiscard]] std::optional<Resolved> resolve(QuotaKind kind, const Client& client) const;
  Rate& rate(const std::string& key);
  Duration excess_of(QuotaKind kind, Rate& rate, double limit, Instant now);
  [[nodiscard]] static std::int64_t ms(Instant now) noexcept { return now.ns / 1'000'000; }

  Options options_;
  std::array<metadata::ClientQuotaMap, kQuotaKinds> quotas_;  // entities that have a value of the kind
  std::array<bool, kQuotaKinds> active_{};
  std::list<Rate> by_use_;  // quietest first
  std::unordered_map<std::string, std::list<Rate>::iterator> rates_;
};

}  // namespace hw::quotas
