// SPDX-License-Identifier: Apache-2.0
// DescribeGroups, ListGroups, DeleteGroups.
#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "engine/api/group_detail.h"

namespace hw::api {
namespace {

using wire::ErrorCode;

}  // namespace

void handle_describe_groups(Node& node, const RequestContext& context,
                            wire::DescribeGroupsRequest& request) {
  node.groups().describe_groups(
      request, group_context(context), group_now(context.now),
      [&node, token = context.token,
       operations = request.include_authorized_operations](wire::DescribeGroupsResponse response) {
        if (operations) {
          for (auto& group : response.groups) {
            if (group.error_code == ErrorCode::none) {
              group.authorized_operations = kGroupOperations;
            }
          }
        }
        node.reply(token, response);
      });
}

void handle_list_groups(Node& node, const RequestContext& context,
                        wire::ListGroupsRequest& request) {
  node.groups().list_groups(request, group_context(context), group_now(context.now),
                            answer_with<wire::ListGroupsResponse>(node, context));
}

void handle_delete_groups(Node& node, const RequestContext& context,
                          wire::DeleteGroupsRequest& request) {
  std::set<std::string> seen;  // one outcome per group, however often it is named
  std::erase_if(request.groups_names,
                [&](const std::string& group) { return !seen.insert(group).second; });
  node.groups().delete_groups(request, group_context(context), group_now(context.now),
                              answer_with<wire::DeleteGroupsResponse>(node, context));
}

}  // namespace hw::api
