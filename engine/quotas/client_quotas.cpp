// SPDX-License-Identifier: Apache-2.0
#include "engine/quotas/client_quotas.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hw::quotas {
namespace {

constexpr double kMsPerSecond = 1000;

// The part of an entity that names a user or a client-id: not at all, the default, or a name.
enum class Part : std::uint8_t { none, any, name };
struct Level {
  Part user;
  Part client_id;
};
// Most specific first.
constexpr std::array kLevels = {Level{Part::name, Part::name}, Level{Part::name, Part::any}, Level{Part::name, Part::none},
                                Level{Part::any, Part::name},  Level{Part::any, Part::any},  Level{Part::any, Part::none},
                                Level{Part::none, Part::name}, Level{Part::none, Part::any}};

void add_part(metadata::QuotaEntity& entity, const char* type, Part part, std::string_view name) {
  if (part == Part::any) {
    entity.emplace(type, std::nullopt);
  } else if (part == Part::name) {
    entity.emplace(type, std::string(name));
  }
}

}  // namespace

std::string_view quota_key(QuotaKind kind) noexcept {
  switch (kind) {
    case QuotaKind::produce: return "producer_byte_rate";
    case QuotaKind::fetch: return "consumer_byte_rate";
    case QuotaKind::request: return "request_percentage";
    case QuotaKind::controller_mutation: return "controller_mutation_rate";
  }
  return {};
}

void ClientQuotas::set(const metadata::ClientQuotaMap& quotas) {
  for (std::size_t i = 0; i < kQuotaKinds; ++i) {
    const std::string_view key = quota_key(static_cast<QuotaKind>(i));
    quotas_[i].clear();
    for (const auto& [entity, values] : quotas) {
      if (const auto value = values.find(key); value != values.end() && !entity.contains("ip")) {
        quotas_[i][entity].emplace(value->first, value->second);
      }
    }
    active_[i] = !quotas_[i].empty();
  }
}

std::optional<ClientQuotas::Resolved> ClientQuotas::resolve(QuotaKind kind, const Client& client) const {
  const metadata::ClientQuotaMap& quotas = quotas_[static_cast<std::size_t>(kind)];
  if (quotas.empty()) {
    return std::nullopt;
  }
  for (const Level& level : kLevels) {
    metadata::QuotaEntity entity;
    add_part(entity, "user", level.user, client.user);
    add_part(entity, "client-id", level.client_id, client.client_id);
    const auto found = quotas.find(entity);
    if (found == quotas.end()) {
      continue;
    }
    Resolved resolved;
    resolved.limit = found->second.begin()->second;
    resolved.key += static_cast<char>('0' + static_cast<int>(kind));
    if (level.user != Part::none) {
      resolved.key += 'u';
      resolved.key += std::to_string(client.user.size());
      resolved.key += ':';
      resolved.key += client.user;
    }
    if (level.client_id != Part::none) {
      resolved.key += 'c';
      resolved.key += client.client_id;
    }
    return resolved;
  }
  return std::nullopt;
}

std::optional<double> ClientQuotas::limit(QuotaKind kind, const Client& client) {
  const std::optional<Resolved> resolved = resolve(kind, client);
  return resolved ? std::optional<double>(resolved->limit) : std::nullopt;
}

ClientQuotas::Rate& ClientQuotas::rate(const std::string& key) {
  if (const auto found = rates_.find(key); found != rates_.end()) {
    by_use_.splice(by_use_.end(), by_use_, found->second);
    return *found->second;
  }
  if (rates_.size() >= options_.rates_max && !by_use_.empty()) {
    rates_.erase(by_use_.front().key);
    by_use_.pop_front();
  }
  by_use_.push_back({key, {}, {}});
  rates_.emplace(key, std::prev(by_use_.end()));
  return by_use_.back();
}

Duration ClientQuotas::excess_of(QuotaKind kind, Rate& rate, double limit, Instant now) {
  const double measured = rate.sampled.per_second(ms(now), options_.client);
  if (measured <= limit) {
    return {};
  }
  const double window = static_cast<double>(rate.sampled.measured_ms(ms(now), options_.client));
  double throttle = std::round((measured - limit) / limit * window);
  if (kind == QuotaKind::request) {
    throttle = std::min(throttle, static_cast<double>(options_.client.length_ms));
  }
  return milliseconds(static_cast<std::int64_t>(std::min(throttle, static_cast<double>(INT32_MAX))));
}

Duration ClientQuotas::record(QuotaKind kind, const Client& client, double amount, Instant now) {
  const std::optional<Resolved> resolved = resolve(kind, client);
  if (!resolved) {
    return {};
  }
  Rate& measured = rate(resolved->key);
  measured.sampled.record(amount, ms(now), options_.client);
  return excess_of(kind, measured, resolved->limit, now);
}

void ClientQuotas::count(QuotaKind kind, const Client& client, double amount, Instant now) {
  if (const std::optional<Resolved> resolved = resolve(kind, client)) {
    rate(resolved->key).sampled.record(amount, ms(now), options_.client);
  }
}

Duration ClientQuotas::excess(QuotaKind kind, const Client& client, Instant now) {
  const std::optional<Resolved> resolved = resolve(kind, client);
  return resolved ? excess_of(kind, rate(resolved->key), resolved->limit, now) : Duration{};
}

std::int32_t ClientQuotas::most_in_windows(QuotaKind kind, const Client& client) {
  const std::optional<Resolved> resolved = resolve(kind, client);
  if (!resolved) {
    return INT32_MAX;
  }
  const double most = resolved->limit * (options_.client.count - 1) *
                      (static_cast<double>(options_.client.length_ms) / kMsPerSecond);
  return most >= static_cast<double>(INT32_MAX) ? INT32_MAX : static_cast<std::int32_t>(most);
}

Duration ClientQuotas::overdrawn(const Client& client, Instant now) {
  const std::optional<Resolved> resolved = resolve(QuotaKind::controller_mutation, client);
  if (!resolved) {
    return {};
  }
  const double level = rate(resolved->key).bucket.level(resolved->limit, ms(now), options_.controller);
  if (level >= 0) {
    return {};
  }
  const double wait = std::round(-level / resolved->limit * kMsPerSecond);
  return milliseconds(static_cast<std::int64_t>(std::min(wait, static_cast<double>(INT32_MAX))));
}

void ClientQuotas::take(const Client& client, double partitions, Instant now) {
  if (const std::optional<Resolved> resolved = resolve(QuotaKind::controller_mutation, client)) {
    rate(resolved->key).bucket.take(partitions, resolved->limit, ms(now), options_.controller);
  }
}

}  // namespace hw::quotas
