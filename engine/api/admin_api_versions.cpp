// SPDX-License-Identifier: Apache-2.0
// ApiVersions (KIP-35, KIP-511, KIP-584, KIP-1242): which APIs in which versions, and which features.
#include <algorithm>

#include "engine/api/admin_handlers.h"
#include "engine/metadata/controller.h"
#include "engine/wire/msg/apis.h"

namespace hw::api {
namespace {

using wire::ErrorCode;

// Letters, digits, '-' and '.', beginning and ending with a letter or digit.
bool is_software_word(std::string_view text) {
  const auto letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && letter_or_digit(text.front()) && letter_or_digit(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter_or_digit(c) || c == '-' || c == '.'; });
}

// What is wrong with a request of version 3 or above; none otherwise.
ErrorCode check(const Node& node, const RequestContext& context, const wire::ApiVersionsRequest& request) {
  if (context.api_version < 3) {
    return ErrorCode::none;
  }
  if (!is_software_word(request.client_software_name) || !is_software_word(request.client_software_version)) {
    return ErrorCode::invalid_request;
  }
  const bool names_cluster = request.cluster_id.has_value() && !request.cluster_id->empty();
  const bool names_node = request.node_id != -1;
  if (!request.cluster_id.has_value() && !names_node) {
    return ErrorCode::none;
  }
  if (names_cluster != names_node || !names_cluster) {
    return ErrorCode::invalid_request;  // both, or neither
  }
  return *request.cluster_id == node.cluster_id() && request.node_id == node.options().node.value()
             ? ErrorCode::none
             : ErrorCode::rebootstrap_required;
}

wire::ApiVersionsResponse::ApiVersion range_of(const wire::ApiInfo& api) {
  wire::ApiVersionsResponse::ApiVersion entry;
  entry.api_key = api.key;
  entry.min_version = api.advertised_lowest;
  entry.max_version = api.advertised_highest;
  return entry;
}

void add_features(wire::ApiVersionsResponse& response, const metadata::MetadataImage& image, std::int16_t version) {
  constexpr std::int16_t kShowsMinimumZeroFrom = 4;  // older clients take 0 for a mistake
  for (const metadata::FeatureRange& feature : metadata::supported_features()) {
    if (version >= kShowsMinimumZeroFrom || feature.min_supported > 0) {
      wire::ApiVersionsResponse::SupportedFeatureKey entry;
      entry.name = feature.name;
      entry.min_version = feature.min_supported;
      entry.max_version = feature.max_supported;
      response.supported_features.push_back(std::move(entry));
    }
    // kraft.version is the quorum's: fixed when the cluster was formatted, not a record of the image.
    const std::int16_t level =
        feature.name == "kraft.version" ? feature.initial_level : image.feature_level(feature.name);
    if (level > 0) {
      wire::ApiVersionsResponse::FinalizedFeatureKey entry;
      entry.name = feature.name;
      entry.min_version_level = level;
      entry.max_version_level = level;
      response.finalized_features.push_back(std::move(entry));
    }
  }
  response.finalized_features_epoch = image.offset().value();
}

}  // namespace

void handle_api_versions(Node& node, const RequestContext& context, wire::ApiVersionsRequest& request) {
  wire::ApiVersionsResponse response;
  if (context.version_unsupported) {
    // In version 0, with the one range that the client needs to ask again.
    response.error_code = ErrorCode::unsupported_version;
    response.api_keys.push_back(range_of(*wire::find_api(wire::ApiVersionsRequest::kApiKey)));
    node.reply(context.token, response);
    return;
  }
  response.error_code = check(node, context, request);
  if (response.error_code != ErrorCode::none) {
    node.refused(context, response.error_code,
                 response.error_code == ErrorCode::invalid_request
                     ? "ApiVersions: a client's name and version are letters, digits, '-' and '.'; cluster id and node id "
                       "come together"
                     : "ApiVersions: the client looks for another cluster or node");
    node.reply(context.token, response);
    return;
  }
  if (context.api_version >= 3) {
    node.client_software(context.connection(), request.client_software_name, request.client_software_version);
  }
  for (const std::int16_t key : node.served_apis(context.listener_kind)) {
    if (const wire::ApiInfo* api = wire::find_api(key)) {
      response.api_keys.push_back(range_of(*api));
    }
  }
  if (context.api_version >= 3) {
    add_features(response, *node.image(), context.api_version);
  }
  node.reply(context.token, response);
}

}  // namespace hw::api
