// SPDX-License-Identifier: Apache-2.0
// CreateTopics, DeleteTopics, CreatePartitions: the controller decides, the answer leaves when its records are committed
// and the logs are there.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "engine/api/admin_handlers.h"
#include "engine/metadata/controller.h"
#include "engine/quotas/client_quotas.h"

namespace hw::api {

using wire::ErrorCode;

namespace {

// The client's quota of partitions created and deleted (KIP-599). Clients that ask in a version before `strict_from` do not
// know the error that says that it is used up: what they ask is done, and they are muted afterwards.
// The controller asks for everything before it completes; `throttle_ms` is then how long the client is muted.
metadata::Controller::TakePartitions take_from_quota(Node& node, const RequestContext& context, std::int16_t strict_from,
                                                     std::shared_ptr<std::int32_t> throttle_ms) {
  if (!node.quotas().active(quotas::QuotaKind::controller_mutation)) {
    return {};
  }
  return [&quotas = node.quotas(), user = std::string(context.user), client_id = std::string(context.client_id),
          strict = context.api_version >= strict_from, now = context.now.instant,
          throttle_ms = std::move(throttle_ms)](std::int64_t partitions) {
    const quotas::Client client{user, client_id};
    const auto owed = [&] { return static_cast<std::int32_t>(quotas.overdrawn(client, now).ms()); };
    if (strict && owed() > 0) {
      *throttle_ms = std::max(*throttle_ms, owed());
      return false;
    }
    quotas.take(client, static_cast<double>(partitions), now);
    if (!strict) {
      *throttle_ms = std::max(*throttle_ms, owed());
    }
    return true;
  };
}

// The answer says how long the client is throttled, which is known only when the quota was asked.
template <class Response>
auto reply_with(Node& node, const RequestContext& context, const std::shared_ptr<std::int32_t>& throttle_ms) {
  return [&node, token = context.token, throttle_ms](Response response) {
    response.throttle_time_ms = *throttle_ms;
    node.reply(token, response);
  };
}

}  // namespace

void handle_create_topics(Node& node, const RequestContext& context, wire::CreateTopicsRequest& request) {
  constexpr std::int16_t kStrictFrom = 6;
  const auto throttle_ms = std::make_shared<std::int32_t>(0);
  node.controller().create_topics(request, reply_with<wire::CreateTopicsResponse>(node, context, throttle_ms),
                                  take_from_quota(node, context, kStrictFrom, throttle_ms));
}

void handle_delete_topics(Node& node, const RequestContext& context, wire::DeleteTopicsRequest& request) {
  constexpr std::int16_t kKnowsDeletionDisabledFrom = 3;
  constexpr std::int16_t kStrictFrom = 5;
  const auto throttle_ms = std::make_shared<std::int32_t>(0);
  node.controller().delete_topics(
      request,
      [&node, token = context.token, version = context.api_version, throttle_ms](wire::DeleteTopicsResponse response) {
        if (version < kKnowsDeletionDisabledFrom) {
          for (auto& topic : response.responses) {
            if (topic.error_code == ErrorCode::topic_deletion_disabled) {
              topic.error_code = ErrorCode::invalid_request;
            }
          }
        }
        response.throttle_time_ms = *throttle_ms;
        node.reply(token, response);
      },
      take_from_quota(node, context, kStrictFrom, throttle_ms));
}

void handle_create_partitions(Node& node, const RequestContext& context, wire::CreatePartitionsRequest& request) {
  constexpr std::int16_t kStrictFrom = 3;
  const auto throttle_ms = std::make_shared<std::int32_t>(0);
  node.controller().create_partitions(request, reply_with<wire::CreatePartitionsResponse>(node, context, throttle_ms),
                                      take_from_quota(node, context, kStrictFrom, throttle_ms));
}

}  // namespace hw::api
