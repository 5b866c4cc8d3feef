// SPDX-License-Identifier: Apache-2.0
// DescribeConfigs of topics, brokers, loggers, client metrics and groups (KIP-133, KIP-226, KIP-412, KIP-714, KIP-848).
#include <algorithm>
#include <optional>

#include "engine/api/admin_handlers.h"
#include "engine/api/log_levels.h"
#include "engine/metadata/configs.h"
#include "engine/metadata/controller.h"

namespace hw::api {
namespace {

using wire::ErrorCode;
using Asked = wire::DescribeConfigsRequest::DescribeConfigsResource;
using Answer = wire::DescribeConfigsResponse::DescribeConfigsResult;
using Entry = wire::DescribeConfigsResponse::DescribeConfigsResourceResult;

void refuse(Answer& answer, ErrorCode error, std::string why) {
  answer.error_code = error;
  answer.error_message = std::move(why);
}

// The values of a resource, or an error in `answer`.
std::vector<metadata::ConfigValue> values_of(Node& node, const Asked& asked, Answer& answer) {
  const metadata::MetadataImage& image = *node.image();
  const metadata::BrokerConfigs& configs = node.controller().broker_configs();
  const BrokerId self = node.options().node;
  switch (static_cast<metadata::ConfigResourceType>(asked.resource_type)) {
    case metadata::ConfigResourceType::topic: {
      if (std::optional<std::string> why = metadata::topic_name_error(asked.resource_name)) {
        refuse(answer, ErrorCode::invalid_topic_exception, std::move(*why));
        return {};
      }
      if (image.find_topic(asked.resource_name) == nullptr) {
        refuse(answer, ErrorCode::unknown_topic_or_partition, "");
        return {};
      }
      return metadata::describe_topic_configs(
          image.find_configs({metadata::ConfigResourceType::topic, asked.resource_name}), image, configs, self);
    }
    case metadata::ConfigResourceType::broker: {
      if (asked.resource_name.empty()) {
        return metadata::describe_default_broker_configs(image);
      }
      if (std::optional<std::string> why = other_node(asked.resource_name, self)) {
        refuse(answer, ErrorCode::invalid_request, std::move(*why));
        return {};
      }
      return metadata::describe_broker_configs(image, configs, self);
    }
    case metadata::ConfigResourceType::broker_logger: {
      if (std::optional<std::string> why = other_node(asked.resource_name, self)) {
        refuse(answer, ErrorCode::invalid_request, std::move(*why));
        return {};
      }
      metadata::ConfigValue root;
      root.name = LogLevels::kRoot;
      root.value = node.log_levels().level();
      root.source = metadata::ConfigSource::broker_logger;
      return {std::move(root)};
    }
    case metadata::ConfigResourceType::client_metrics:
      if (asked.resource_name.empty()) {
        refuse(answer, ErrorCode::invalid_request, "a client metrics subscription has a name");
        return {};
      }
      return metadata::describe_client_metrics_configs(
          image.find_configs({metadata::ConfigResourceType::client_metrics, asked.resource_name}));
    case metadata::ConfigResourceType::group:
      if (asked.resource_name.empty()) {
        refuse(answer, ErrorCode::invalid_request, "groups have no common configuration of their own: name a group");
        return {};
      }
      return metadata::describe_group_configs(
          image.find_configs({metadata::ConfigResourceType::group, asked.resource_name}), configs, image, self);
    case metadata::ConfigResourceType::unknown: break;
  }
  return {};
}

bool is_known(std::int8_t type) {
  switch (static_cast<metadata::ConfigResourceType>(type)) {
    case metadata::ConfigResourceType::topic:
    case metadata::ConfigResourceType::broker:
    case metadata::ConfigResourceType::broker_logger:
    case metadata::ConfigResourceType::client_metrics:
    case metadata::ConfigResourceType::group: return true;
    case metadata::ConfigResourceType::unknown: break;
  }
  return false;
}

Entry entry_of(metadata::ConfigValue& value, const wire::DescribeConfigsRequest& request) {
  Entry entry;
  entry.name = std::move(value.name);
  entry.value = std::move(value.value);
  entry.read_only = value.read_only;
  entry.config_source = static_cast<std::int8_t>(value.source);
  const bool logger = value.source == metadata::ConfigSource::broker_logger;
  entry.is_sensitive = !logger && (value.def == nullptr || value.def->sensitive());
  entry.config_type =
      static_cast<std::int8_t>(value.def == nullptr ? metadata::ConfigType::unknown : value.def->type);
  entry.documentation.reset();
  if (request.include_documentation && value.def != nullptr && !value.def->documentation.empty()) {
    entry.documentation = std::string(value.def->documentation);
  }
  if (request.include_synonyms) {
    for (metadata::ConfigValue::Synonym& synonym : value.synonyms) {
      wire::DescribeConfigsResponse::DescribeConfigsSynonym item;
      item.name = std::move(synonym.name);
      item.value = std::move(synonym.value);
      item.source = static_cast<std::int8_t>(synonym.source);
      entry.synonyms.push_back(std::move(item));
    }
  }
  return entry;
}

}  // namespace

void handle_describe_configs(Node& node, const RequestContext& context, wire::DescribeConfigsRequest& request) {
  wire::DescribeConfigsResponse response;
  // A type that does not exist fails the whole request, as in Kafka.
  const bool all_known = std::all_of(request.resources.begin(), request.resources.end(),
                                     [](const Asked& asked) { return is_known(asked.resource_type); });
  for (const Asked& asked : request.resources) {
    Answer answer;
    answer.resource_type = asked.resource_type;
    answer.resource_name = asked.resource_name;
    answer.error_message = "";
    if (!all_known) {
      refuse(answer, ErrorCode::invalid_request,
             "the request names a resource type that does not exist; 2 is a topic, 4 a broker, 8 a broker's loggers, 16 client "
             "metrics, 32 a group");
      response.results.push_back(std::move(answer));
      continue;
    }
    const bool all = !asked.configuration_keys || asked.configuration_keys->empty();
    for (metadata::ConfigValue& value : values_of(node, asked, answer)) {
      if (all || std::find(asked.configuration_keys->begin(), asked.configuration_keys->end(), value.name) !=
                     asked.configuration_keys->end()) {
        answer.configs.push_back(entry_of(value, request));
      }
    }
    response.results.push_back(std::move(answer));
  }
  node.reply(context.token, response);
}

}  // namespace hw::api
