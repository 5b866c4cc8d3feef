// SPDX-License-Identifier: Apache-2.0
// DescribeClientQuotas and AlterClientQuotas (KIP-546).
#include "engine/api/admin_handlers.h"
#include "engine/metadata/client_quotas.h"
#include "engine/metadata/controller.h"

namespace hw::api {

void handle_describe_client_quotas(Node& node, const RequestContext& context, wire::DescribeClientQuotasRequest& request) {
  const wire::DescribeClientQuotasResponse response = metadata::describe_client_quotas(request, *node.image());
  if (response.error_code != wire::ErrorCode::none) {
    node.refused(context, response.error_code, response.error_message.value_or(""));
  }
  node.reply(context.token, response);
}

void handle_alter_client_quotas(Node& node, const RequestContext& context, wire::AlterClientQuotasRequest& request) {
  node.controller().alter_client_quotas(
      request, [&node, token = context.token](const wire::AlterClientQuotasResponse& response) {
        node.reply(token, response);
      });
}

}  // namespace hw::api
