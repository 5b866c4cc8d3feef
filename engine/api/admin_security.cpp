// SPDX-License-Identifier: Apache-2.0
// What a node without security answers to requests about it, as Kafka does: there is no authorizer (ACLs), the listener
// does not authenticate (SASL), and tokens are not given to somebody who has not proved who he is (delegation tokens).
#include "engine/api/admin_handlers.h"

namespace hw::api {

using wire::ErrorCode;

namespace {
constexpr const char* kNoAuthorizer = "this broker has no authorizer, so there are no ACLs";
}

void handle_describe_acls(Node& node, const RequestContext& context, wire::DescribeAclsRequest&) {
  wire::DescribeAclsResponse response;
  response.error_code = ErrorCode::security_disabled;
  response.error_message = kNoAuthorizer;
  node.reply(context.token, response);
}

void handle_create_acls(Node& node, const RequestContext& context, wire::CreateAclsRequest& request) {
  wire::CreateAclsResponse response;
  for (std::size_t i = 0; i < request.creations.size(); ++i) {
    auto& result = response.results.emplace_back();
    result.error_code = ErrorCode::security_disabled;
    result.error_message = kNoAuthorizer;
  }
  node.reply(context.token, response);
}

void handle_delete_acls(Node& node, const RequestContext& context, wire::DeleteAclsRequest& request) {
  wire::DeleteAclsResponse response;
  for (std::size_t i = 0; i < request.filters.size(); ++i) {
    auto& result = response.filter_results.emplace_back();
    result.error_code = ErrorCode::security_disabled;
    result.error_message = kNoAuthorizer;
  }
  node.reply(context.token, response);
}

void handle_sasl_handshake(Node& node, const RequestContext& context, wire::SaslHandshakeRequest&) {
  wire::SaslHandshakeResponse response;
  response.error_code = ErrorCode::illegal_sasl_state;
  node.refused(context, response.error_code, "SASL on a listener that does not authenticate");
  node.reply(context.token, response);
}

void handle_sasl_authenticate(Node& node, const RequestContext& context, wire::SaslAuthenticateRequest&) {
  wire::SaslAuthenticateResponse response;
  response.error_code = ErrorCode::illegal_sasl_state;
  response.error_message = "this listener does not authenticate";
  node.refused(context, response.error_code, *response.error_message);
  node.reply(context.token, response);
}

void handle_create_delegation_token(Node& node, const RequestContext& context, wire::CreateDelegationTokenRequest&) {
  wire::CreateDelegationTokenResponse response;
  response.error_code = ErrorCode::delegation_token_request_not_allowed;
  response.principal_type = "User";
  response.principal_name = context.user;
  response.token_requester_principal_type = "User";
  response.token_requester_principal_name = context.user;
  response.issue_timestamp_ms = -1;
  response.expiry_timestamp_ms = -1;
  response.max_timestamp_ms = -1;
  node.reply(context.token, response);
}

void handle_renew_delegation_token(Node& node, const RequestContext& context, wire::RenewDelegationTokenRequest&) {
  wire::RenewDelegationTokenResponse response;
  response.error_code = ErrorCode::delegation_token_request_not_allowed;
  response.expiry_timestamp_ms = -1;
  node.reply(context.token, response);
}

void handle_expire_delegation_token(Node& node, const RequestContext& context, wire::ExpireDelegationTokenRequest&) {
  wire::ExpireDelegationTokenResponse response;
  response.error_code = ErrorCode::delegation_token_request_not_allowed;
  response.expiry_timestamp_ms = -1;
  node.reply(context.token, response);
}

void handle_describe_delegation_token(Node& node, const RequestContext& context, wire::DescribeDelegationTokenRequest&) {
  wire::DescribeDelegationTokenResponse response;
  response.error_code = ErrorCode::delegation_token_request_not_allowed;
  node.reply(context.token, response);
}

}  // namespace hw::api
