// SPDX-License-Identifier: Apache-2.0
#include "engine/api/connection_limits.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace hw::api {
namespace {

std::int64_t ms(Instant now) { return now.ns / 1'000'000; }

std::string_view without_slash(std::string_view host) { return host.starts_with('/') ? host.substr(1) : host; }

}  // namespace

void ConnectionLimits::configure(const metadata::BrokerConfigs& configs) {
  total_ = configs.number("max.connections");
  per_host_ = configs.number("max.connections.per.ip");
  overrides_.clear();
  for (const std::string& item : configs.list("max.connections.per.ip.overrides")) {
    const std::size_t colon = item.rfind(':');
    std::int64_t count = 0;
    if (colon == std::string::npos ||
        std::from_chars(item.data() + colon + 1, item.data() + item.size(), count).ec != std::errc{}) {
      continue;  // was refused where it was set
    }
    const std::string host = item.substr(0, colon);
    if (host == "localhost") {
      overrides_["127.0.0.1"] = count;
      overrides_["0:0:0:0:0:0:0:1"] = count;
    } else {
      overrides_[host] = count;
    }
  }
  constexpr std::int64_t kMsPerSecond = 1000;
  rate_ = configs.number("max.connection.creation.rate");
  windows_ = {static_cast<std::int32_t>(configs.number("quota.window.num")),
              configs.number("quota.window.size.seconds") * kMsPerSecond};
  const std::int64_t idle_ms = configs.number("connections.max.idle.ms");
  idle_ = idle_ms > 0 ? milliseconds(idle_ms) : Duration{};
}

void ConnectionLimits::set_quotas(const metadata::ClientQuotaMap& quotas) {
  ip_rates_.clear();
  for (const auto& [entity, values] : quotas) {
    const auto ip = entity.find("ip");
    const auto rate = values.find("connection_creation_rate");
    if (ip != entity.end() && rate != values.end()) {
      ip_rates_[ip->second.value_or("")] = rate->second;
    }
  }
}

std::int64_t ConnectionLimits::limit_of(std::string_view host) const {
  const auto at = overrides_.find(without_slash(host));
  return at == overrides_.end() ? per_host_ : at->second;
}

ConnectionLimits::Entry ConnectionLimits::opened(ConnectionId id, std::string_view host, Instant now) {
  by_activity_.push_back({id, std::string(host), now});
  ++of_host_[std::string(host)];
  if (rate_ < INT32_MAX) {
    opened_.record(1, ms(now), windows_);
    const double measured = opened_.per_second(ms(now), windows_);
    if (const auto limit = static_cast<double>(std::max<std::int64_t>(rate_, 1)); measured > limit) {
      const double window = static_cast<double>(opened_.measured_ms(ms(now), windows_));
      resume_at_ = now + milliseconds(static_cast<std::int64_t>((measured - limit) / limit * window) + 1);
    }
  }
  return std::prev(by_activity_.end());
}

std::optional<std::string> ConnectionLimits::refusal(Entry entry, Instant now) {
  const std::string_view address = without_slash(entry->host);
  auto rate = ip_rates_.find(address);
  if (rate == ip_rates_.end()) {
    rate = ip_rates_.find("");
  }
  if (rate != ip_rates_.end()) {
    constexpr std::size_t kHostsMax = 10'000;
    if (opened_by_.size() >= kHostsMax) {
      opened_by_.clear();
    }
    quotas::SampledRate& opened = opened_by_[std::string(address)];
    opened.record(1, ms(now), windows_);
    if (opened.per_second(ms(now), windows_) > rate->second) {
      opened.record(-1, ms(now), windows_);  // it was not let in
      return std::string(address) + " opens connections faster than its quota lets it (connection_creation_rate)";
    }
  }
  const std::int64_t limit = limit_of(entry->host);
  const auto held = of_host_.find(entry->host);
  if (held == of_host_.end() || held->second <= limit) {
    return std::nullopt;
  }
  return "max.connections.per.ip lets " + std::string(address) + " have " + std::to_string(limit) +
         " connections";
}

void ConnectionLimits::active(Entry entry, Instant now) {
  entry->active = now;
  by_activity_.splice(by_activity_.end(), by_activity_, entry);
}

void ConnectionLimits::ended(Entry entry) {
  const auto held = of_host_.find(entry->host);
  if (--held->second == 0) {
    of_host_.erase(held);
  }
  by_activity_.erase(entry);
}

std::optional<ConnectionId> ConnectionLimits::idle(Instant now) const {
  return idle_deadline() <= now ? std::optional<ConnectionId>(by_activity_.front().id) : std::nullopt;
}

Instant ConnectionLimits::next_deadline(Instant now) const noexcept {
  return now < resume_at_ ? std::min(resume_at_, idle_deadline()) : idle_deadline();
}

Instant ConnectionLimits::idle_deadline() const noexcept {
  return idle_ == Duration{} || by_activity_.empty() ? kNever : by_activity_.front().active + idle_;
}

}  // namespace hw::api
