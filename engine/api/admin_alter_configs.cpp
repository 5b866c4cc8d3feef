// SPDX-License-Identifier: Apache-2.0
// AlterConfigs, IncrementalAlterConfigs (KIP-339) and ListConfigResources (KIP-1142).
#include <algorithm>
#include <array>
#include <utility>

#include "engine/api/admin_handlers.h"
#include "engine/api/log_levels.h"
#include "engine/metadata/controller.h"
#include "engine/wire/msg/apis.h"

namespace hw::api {
namespace {

using metadata::ConfigOp;
using metadata::ConfigResourceType;
using metadata::Refusal;
using metadata::ResourceEdit;
using wire::ErrorCode;

template <class Response>
Response response_of(const std::vector<ResourceEdit>& edits, const std::vector<Refusal>& refusals) {
  Response response;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    auto& result = response.responses.emplace_back();
    result.resource_type = edits[i].type;
    result.resource_name = edits[i].name;
    result.error_code = refusals[i].error;
    if (refusals[i].error == ErrorCode::none) {
      result.error_message.reset();
    } else {
      result.error_message = refusals[i].message;
    }
  }
  return response;
}

// Levels of loggers are this node's own and end with it: they never reach the controller.
Refusal edit_loggers(Node& node, const ResourceEdit& edit, bool validate_only) {
  if (std::optional<std::string> why = other_node(edit.name, node.options().node)) {
    return {ErrorCode::invalid_request, std::move(*why)};
  }
  LogLevels& levels = node.log_levels();
  for (const metadata::ConfigEdit& item : edit.edits) {
    if (item.op != static_cast<std::int8_t>(ConfigOp::set) && item.op != static_cast<std::int8_t>(ConfigOp::erase)) {
      return {ErrorCode::invalid_request, "levels of loggers can be set and deleted, nothing else"};
    }
    if (!levels.has(item.name)) {
      return {ErrorCode::invalid_config, "there is no logger '" + item.name + "'"};
    }
    if (item.op == static_cast<std::int8_t>(ConfigOp::erase)) {
      return {ErrorCode::invalid_request, "the level of the root logger can be changed, not taken away"};
    }
    if (!LogLevels::is_level(*item.value)) {
      return {ErrorCode::invalid_config, "'" + *item.value + "' is no level: DEBUG, ERROR, FATAL, INFO, TRACE or WARN"};
    }
  }
  if (!validate_only) {
    for (const metadata::ConfigEdit& item : edit.edits) {
      levels.set(*item.value);
    }
  }
  return {};
}

std::vector<ResourceEdit> edits_of(const wire::IncrementalAlterConfigsRequest& request) {
  std::vector<ResourceEdit> edits;
  for (const auto& resource : request.resources) {
    ResourceEdit& edit = edits.emplace_back();
    edit.type = resource.resource_type;
    edit.name = resource.resource_name;
    for (const auto& config : resource.configs) {
      edit.edits.push_back({config.name, config.config_operation, config.value});
    }
  }
  return edits;
}
std::vector<ResourceEdit> edits_of(const wire::AlterConfigsRequest& request) {
  std::vector<ResourceEdit> edits;
  for (const auto& resource : request.resources) {
    ResourceEdit& edit = edits.emplace_back();
    edit.type = resource.resource_type;
    edit.name = resource.resource_name;
    edit.replace_all = true;
    for (const auto& config : resource.configs) {
      edit.edits.push_back({config.name, static_cast<std::int8_t>(ConfigOp::set), config.value});
    }
  }
  return edits;
}

std::optional<Refusal> taker_refusal(Node& node, const ResourceEdit& edit) {
  return metadata::taker_refusal(edit, *node.image(), node.controller().broker_configs(), node.options().node);
}

// The same request with these of its resources only.
template <class Request>
Request only(const Request& request, const std::vector<std::size_t>& places) {
  Request some;
  some.validate_only = request.validate_only;
  for (const std::size_t place : places) {
    some.resources.push_back(request.resources[place]);
  }
  return some;
}

// The rest of a request goes to the active controller elsewhere; its answers take their places among those of this broker.
template <class Response, class Request>
void pass_on(Node& node, const RequestContext& context, const Request& request, const std::vector<ResourceEdit>& edits,
             std::vector<Refusal> refusals, std::vector<std::size_t> places) {
  if (places.size() == edits.size()) {
    node.pass_on(context, std::nullopt);
    return;
  }
  const std::int16_t version = context.api_version;
  wire::Writer writer;
  writer.raw(context.frame->span().subspan(0, context.header_size));
  const bool encoded = encode(writer, only(request, places), version);
  HW_ASSERT(encoded, "what came in a version goes on in it");
  PartForController part;
  part.request = writer.finish().flatten();
  part.fail = [&node, token = context.token, response = response_of<Response>(edits, refusals), places](
                  ErrorCode error, const std::string& message) mutable {
    for (const std::size_t place : places) {
      response.responses[place].error_code = error;
      response.responses[place].error_message = message;
    }
    node.reply(token, response);
  };
  part.complete = [version, response = response_of<Response>(edits, refusals),
                   places = std::move(places)](const Bytes& frame) mutable -> Result<Bytes> {
    const bool tagged = wire::response_header_version(Response::kApiKey, version) >= 1;
    wire::Reader reader(frame);
    wire::Writer whole;
    whole.int32(reader.int32());
    if (tagged) {
      std::vector<wire::RawTaggedField> unknown;
      reader.skip_tags(unknown);
      whole.tag_count(0);
    }
    Response answered;
    if (!decode(reader, answered, version) || answered.responses.size() != places.size()) {
      return fail(Errc::invalid, "the controller's answer to a change of configurations does not decode");
    }
    response.throttle_time_ms = answered.throttle_time_ms;
    for (std::size_t i = 0; i < places.size(); ++i) {
      response.responses[places[i]] = std::move(answered.responses[i]);
    }
    if (!encode(whole, response, version)) {
      return fail(Errc::invalid, "an answer to a change of configurations cannot be encoded");
    }
    return whole.finish().flatten();
  };
  node.pass_on(context, std::move(part));
}

// What the controller need not see is answered here; the rest goes to it in one request.
template <class Response, class Request>
void alter(Node& node, const RequestContext& context, const Request& request) {
  const ReplyToken token = context.token;
  const bool validate_only = request.validate_only;
  std::vector<ResourceEdit> edits = edits_of(request);
  std::vector<Refusal> refusals = metadata::form_refusals(edits);
  std::vector<ResourceEdit> rest;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (refusals[i].error != ErrorCode::none) {
      continue;
    }
    if (static_cast<ConfigResourceType>(edits[i].type) == ConfigResourceType::broker_logger && !edits[i].replace_all) {
      refusals[i] = edit_loggers(node, edits[i], validate_only);
      continue;
    }
    if (context.listener_kind == ListenerKind::client) {
      if (std::optional<Refusal> refusal = taker_refusal(node, edits[i])) {
        refusals[i] = std::move(*refusal);
        continue;
      }
    }
    rest.push_back(edits[i]);
    places.push_back(i);
  }
  if (rest.empty()) {
    node.reply(token, response_of<Response>(edits, refusals));
    return;
  }
  if (context.listener_kind == ListenerKind::client && !node.controller().active()) {
    pass_on<Response>(node, context, request, edits, std::move(refusals), std::move(places));
    return;
  }
  node.controller().alter_configs(rest, validate_only,
                                  [&node, token, edits = std::move(edits), refusals = std::move(refusals),
                                   places = std::move(places)](const std::vector<Refusal>& results) mutable {
                                    for (std::size_t i = 0; i < places.size(); ++i) {
                                      refusals[places[i]] = results[i];
                                    }
                                    node.reply(token, response_of<Response>(edits, refusals));
                                  });
}

}  // namespace

void handle_incremental_alter_configs(Node& node, const RequestContext& context,
                                      wire::IncrementalAlterConfigsRequest& request) {
  alter<wire::IncrementalAlterConfigsResponse>(node, context, request);
}

void handle_alter_configs(Node& node, const RequestContext& context, wire::AlterConfigsRequest& request) {
  alter<wire::AlterConfigsResponse>(node, context, request);
}

void handle_list_config_resources(Node& node, const RequestContext& context, wire::ListConfigResourcesRequest& request) {
  static constexpr std::array kAll = {ConfigResourceType::group, ConfigResourceType::client_metrics,
                                      ConfigResourceType::broker_logger, ConfigResourceType::broker,
                                      ConfigResourceType::topic};
  wire::ListConfigResourcesResponse response;
  const auto asked = [&](ConfigResourceType type) {
    if (context.api_version == 0) {
      return type == ConfigResourceType::client_metrics;
    }
    return request.resource_types.empty() || std::find(request.resource_types.begin(), request.resource_types.end(),
                                                       static_cast<std::int8_t>(type)) != request.resource_types.end();
  };
  for (const std::int8_t type : request.resource_types) {
    if (std::find(kAll.begin(), kAll.end(), static_cast<ConfigResourceType>(type)) == kAll.end()) {
      response.error_code = ErrorCode::unsupported_version;
      node.refused(context, response.error_code, "resource type " + std::to_string(type) + " has no configuration");
      node.reply(context.token, response);
      return;
    }
  }
  const auto add = [&](ConfigResourceType type, const std::string& name) {
    auto& resource = response.config_resources.emplace_back();
    resource.resource_type = static_cast<std::int8_t>(type);
    resource.resource_name = name;
  };
  const metadata::MetadataImage& image = *node.image();
  for (const ConfigResourceType type : kAll) {
    if (!asked(type)) {
      continue;
    }
    switch (type) {
      case ConfigResourceType::topic:
        for (const auto& [name, topic] : image.topics()) {
          add(type, name);
        }
        break;
      case ConfigResourceType::broker:
      case ConfigResourceType::broker_logger:
        for (const auto& [id, broker] : image.brokers()) {
          if (!broker.fenced) {
            add(type, std::to_string(id.value()));
          }
        }
        break;
      case ConfigResourceType::group:
      case ConfigResourceType::client_metrics:
        for (auto at = image.configs().lower_bound({type, ""}); at != image.configs().end() && at->first.type == type; ++at) {
          add(type, at->first.name);
        }
        break;
      case ConfigResourceType::unknown: break;
    }
  }
  node.reply(context.token, response);
}

}  // namespace hw::api
