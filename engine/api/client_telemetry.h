// SPDX-License-Identifier: Apache-2.0
// ClientTelemetry: which metrics this node asks of which client, and how often it may be told (KIP-714).
//
// Subscriptions are client metrics resources. A client that asks gets an instance id, the prefixes and the interval of all
// subscriptions that match it, and a subscription id (a CRC over both) that it names when it pushes; after a change it is
// told to ask again. Nothing is done with what clients push: Kafka without a receiver plug-in does the same, and offers
// neither API in ApiVersions, but answers both.
// Bounds: 16,384 client instances, the quietest is forgotten first; each lives max(60 s, three intervals) after its last word.
// Thread rule: the node's thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/prng.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/metadata/image/image.h"
#include "engine/metadata/match_pattern.h"
#include "engine/wire/msg/get_telemetry_subscriptions.h"
#include "engine/wire/msg/push_telemetry.h"

namespace hw::api {

class ClientTelemetry {
 public:
  struct Caller {
    ConnectionId connection;
    std::string_view client_id;
    std::string_view software_name;
    std::string_view software_version;
    std::string_view peer;  // address:port
  };

  void configure(std::int32_t max_bytes) { max_bytes_ = max_bytes; }  // telemetry.max.bytes
  // The client metrics resources changed.
  void set_subscriptions(const metadata::MetadataImage& image);

  wire::GetTelemetrySubscriptionsResponse subscriptions_of(const wire::GetTelemetrySubscriptionsRequest& request,
                                                           const Caller& caller, Prng& prng, Instant now);
  wire::PushTelemetryResponse push(const wire::PushTelemetryRequest& request, const Caller& caller, Instant now);
  void disconnected(ConnectionId connection);
  [[nodiscard]] std::size_t instances() const noexcept { return by_id_.size(); }

 private:
  struct Subscription {
    std::vector<std::string> metrics;
    std::int32_t interval_ms = 0;
    std::vector<std::pair<std::string, metadata::MatchPattern>> match;
  };
  struct Instance {
    Uuid id;
    ConnectionId connection;
    std::array<std::string, 6> facts;  // in the order of kMatchKeys
    std::uint64_t generation = 0;      // of the subscriptions it was told
    std::vector<std::string> metrics;
    std::int32_t interval_ms = 0;
    std::int32_t subscription_id = 0;
    std::int64_t last_get_ms = 0;
    std::int64_t last_push_ms = 0;
    std::int64_t last_heard_ms = 0;
    bool terminating = false;
    wire::ErrorCode last_error{};
  };
  Instance& instance_of(const Uuid& id, const Caller& caller, std::int64_t now_ms);
  void look_up(Instance& instance) const;
  void forget(std::list<Instance>::iterator instance);

  std::int32_t max_bytes_ = 1'048'576;
  std::map<std::string, Subscription> subscriptions_;
  std::uint64_t generation_ = 1;
  std::list<Instance> by_use_;  // quietest first
  std::map<Uuid, std::list<Instance>::iterator> by_id_;
  std::unordered_map<ConnectionId, Uuid> of_connection_;
};

}  // namespace hw::api
