// SPDX-License-Identifier: Apache-2.0
// CreateTopics, DeleteTopics, CreatePartitions: the controller decides, the answer leaves when its records are committed
// and the logs are there.
#include <utility>

#include "engine/api/admin_handlers.h"
#include "engine/metadata/controller.h"

namespace hw::api {

using wire::ErrorCode;

void handle_create_topics(Node& node, const RequestContext& context, wire::CreateTopicsRequest& request) {
  node.controller().create_topics(request, [&node, token = context.token](const wire::CreateTopicsResponse& response) {
    node.reply(token, response);
  });
}

void handle_delete_topics(Node& node, const RequestContext& context, wire::DeleteTopicsRequest& request) {
  constexpr std::int16_t kKnowsDeletionDisabledFrom = 3;
  node.controller().delete_topics(
      request, [&node, token = context.token, version = context.api_version](wire::DeleteTopicsResponse response) {
        if (version < kKnowsDeletionDisabledFrom) {
          for (auto& topic : response.responses) {
            if (topic.error_code == ErrorCode::topic_deletion_disabled) {
              topic.error_code = ErrorCode::invalid_request;
            }
          }
        }
        node.reply(token, response);
      });
}

void handle_create_partitions(Node& node, const RequestContext& context, wire::CreatePartitionsRequest& request) {
  node.controller().create_partitions(request,
                                      [&node, token = context.token](const wire::CreatePartitionsResponse& response) {
                                        node.reply(token, response);
                                      });
}

}  // namespace hw::api
