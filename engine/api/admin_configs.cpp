// SPDX-License-Identifier: Apache-2.0
// DescribeConfigs of topics and brokers (KIP-133, KIP-226).
#include <algorithm>
#include <charconv>
#include <optional>

#include "engine/api/admin_handlers.h"
#include "engine/metadata/configs.h"
#include "engine/metadata/controller.h"

namespace hw::api {
namespace {

using wire::ErrorCode;
using Asked = wire::DescribeConfigsRequest::DescribeConfigsResource;
using Answer = wire::DescribeConfigsResponse::DescribeConfigsResult;
using Entry = wire::DescribeConfigsResponse::DescribeConfigsResourceResult;

std::optional<std::int32_t> broker_id(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  std::int32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional<std::int32_t>(id) : std::nullopt;
}

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
      const std::optional<std::int32_t> id = broker_id(asked.resource_name);
      if (!id) {
        refuse(answer, ErrorCode::invalid_request, "'" + asked.resource_name + "' is no broker id");
        return {};
      }
      if (*id != self.value()) {
        refuse(answer, ErrorCode::invalid_request,
               "broker " + asked.resource_name + " describes itself, this is broker " + std::to_string(self.value()));
        return {};
      }
      return metadata::describe_broker_configs(image, configs, self);
    }
    case metadata::ConfigResourceType::unknown:
    case metadata::ConfigResourceType::broker_logger:
    case metadata::ConfigResourceType::client_metrics:
    case metadata::ConfigResourceType::group: break;
  }
  refuse(answer, ErrorCode::invalid_request,
         "resource type " + std::to_string(asked.resource_type) + " has no configuration here; 2 is a topic, 4 a broker");
  return {};
}

Entry entry_of(metadata::ConfigValue& value, const wire::DescribeConfigsRequest& request) {
  Entry entry;
  entry.name = std::move(value.name);
  entry.value = std::move(value.value);
  entry.read_only = value.read_only;
  entry.config_source = static_cast<std::int8_t>(value.source);
  entry.is_sensitive = value.def == nullptr || value.def->sensitive();
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
  for (const Asked& asked : request.resources) {
    Answer answer;
    answer.resource_type = asked.resource_type;
    answer.resource_name = asked.resource_name;
    answer.error_message = "";
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
