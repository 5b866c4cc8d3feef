// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/client_quotas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "engine/metadata/controller.h"
#include "engine/metadata/detail/controller_impl.h"

namespace hw::metadata {

using wire::ErrorCode;
using Entry = wire::AlterClientQuotasRequest::EntryData;

namespace {

struct QuotaKey {
  std::string_view name;
  bool whole = false;  // a whole number; otherwise any fraction
  bool of_ip = false;
};
constexpr std::array kKeys = {
    QuotaKey{"connection_creation_rate", true, true}, QuotaKey{"consumer_byte_rate", true, false},
    QuotaKey{"controller_mutation_rate", false, false}, QuotaKey{"producer_byte_rate", true, false},
    QuotaKey{"request_percentage", false, false}};

constexpr std::string_view kUser = "user";
constexpr std::string_view kClientId = "client-id";
constexpr std::string_view kIp = "ip";

Unexpected<Refusal> refused(std::string why) {
  return Unexpected<Refusal>(Refusal{ErrorCode::invalid_request, std::move(why)});
}

// An IPv4 or IPv6 address, or a name that could be a host's. Names are taken as they are: nothing is looked up here.
bool could_be_host(std::string_view text) {
  if (text.empty() || text.size() > 253) {
    return false;
  }
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == ':';
  };
  return std::all_of(text.begin(), text.end(), legal);
}

std::optional<std::string> entity_error(const QuotaEntity& entity) {
  if (entity.empty()) {
    return "a quota is for somebody: name a user, a client-id or an ip";
  }
  for (const auto& [type, name] : entity) {
    if (type != kUser && type != kClientId && type != kIp) {
      return "quotas know the entity types user, client-id and ip, not '" + type + "'";
    }
    if (name && name->empty()) {
      return "an empty " + type + " cannot have a quota; null stands for the default";
    }
  }
  if (const auto at = entity.find(std::string(kIp)); at != entity.end()) {
    if (entity.size() > 1) {
      return "a quota is for an ip, or for a user and a client-id, not for both";
    }
    if (at->second && !could_be_host(*at->second)) {
      return "'" + *at->second + "' is neither an IP address nor the name of a host";
    }
  }
  return std::nullopt;
}

std::optional<std::string> value_error(const QuotaKey& key, double value) {
  constexpr double kEpsilon = 1e-6;  // how far from a whole number a value may lie
  constexpr double kLongMax = 9.3e18;
  const std::string name(key.name);
  if (!std::isfinite(value)) {
    return name + " must be a finite number";
  }
  if (value <= 0) {
    return name + " must be above 0; remove the quota to have none";
  }
  if (key.whole) {
    if (value > kLongMax) {
      return name + " does not fit into 64 bits";
    }
    if (std::fabs(std::floor(value + kEpsilon) - value) > kEpsilon) {
      return name + " must be a whole number";
    }
  }
  return std::nullopt;
}

}  // namespace

QuotaEntity quota_entity(const Entry& entry) {
  QuotaEntity entity;
  for (const auto& part : entry.entity) {
    entity[part.entity_type] = part.entity_name;
  }
  return entity;
}

Result<std::vector<Record>, Refusal> quota_records(const Entry& entry, const MetadataImage& newest) {
  const QuotaEntity entity = quota_entity(entry);
  if (std::optional<std::string> why = entity_error(entity)) {
    return refused(std::move(*why));
  }
  const bool of_ip = entity.contains(std::string(kIp));
  const auto known = newest.client_quotas().find(entity);
  std::set<std::string_view> named;
  std::vector<Record> records;
  for (const auto& op : entry.ops) {
    if (!named.insert(op.key).second) {
      return refused("the entry names " + op.key + " more than once");
    }
    const double* now = nullptr;
    if (known != newest.client_quotas().end()) {
      const auto value = known->second.find(op.key);
      now = value == known->second.end() ? nullptr : &value->second;
    }
    wire::ClientQuotaRecord record;
    if (op.remove) {
      if (now == nullptr) {
        continue;
      }
      record.remove = true;
    } else {
      const auto key = std::find_if(kKeys.begin(), kKeys.end(),
                                    [&](const QuotaKey& row) { return row.name == op.key && row.of_ip == of_ip; });
      if (key == kKeys.end()) {
        return refused((of_ip ? "an ip has no quota '" : "users and client-ids have no quota '") + op.key + "'");
      }
      if (std::optional<std::string> why = value_error(*key, op.value)) {
        return refused(std::move(*why));
      }
      if (now != nullptr && *now == op.value) {
        continue;
      }
      record.value = op.value;
    }
    record.key = op.key;
    for (const auto& [type, name] : entity) {
      wire::ClientQuotaRecord::EntityData part;
      part.entity_type = type;
      part.entity_name = name;
      record.entity.push_back(std::move(part));
    }
    records.emplace_back(std::move(record));
  }
  return records;
}

wire::DescribeClientQuotasResponse describe_client_quotas(const wire::DescribeClientQuotasRequest& request,
                                                          const MetadataImage& image) {
  enum : std::int8_t { kExact = 0, kDefault = 1, kAny = 2 };
  wire::DescribeClientQuotasResponse response;
  response.error_message = "";
  const auto fail_with = [&](ErrorCode error, std::string why) {
    response.error_code = error;
    response.error_message = std::move(why);
    response.entries.reset();
    return response;
  };
  std::map<std::string, std::optional<std::string>> exact;
  std::set<std::string> any;
  for (const auto& component : request.components) {
    if (component.entity_type.empty()) {
      return fail_with(ErrorCode::invalid_request, "a component of the filter has no entity type");
    }
    if (exact.contains(component.entity_type) || any.contains(component.entity_type)) {
      return fail_with(ErrorCode::invalid_request, "the filter names the entity type " + component.entity_type + " twice");
    }
    if (component.entity_type != kUser && component.entity_type != kClientId && component.entity_type != kIp) {
      return fail_with(ErrorCode::unsupported_version, "there is no entity type '" + component.entity_type + "'");
    }
    if ((component.match_type == kExact) != component.match.has_value() || component.match_type < kExact ||
        component.match_type > kAny) {
      return fail_with(ErrorCode::invalid_request,
                       "a component matches a name (0, with the name), the default (1) or all that name the type (2)");
    }
    if (component.match_type == kAny) {
      any.insert(component.entity_type);
    } else {
      exact[component.entity_type] = component.match;
    }
  }
  const auto asks = [&](std::string_view type) { return exact.contains(std::string(type)) || any.contains(std::string(type)); };
  if (asks(kIp) && (asks(kUser) || asks(kClientId))) {
    return fail_with(ErrorCode::invalid_request, "no quota is for an ip and for a user or client-id at the same time");
  }
  response.entries.emplace();
  const std::size_t parts = exact.size() + any.size();
  for (const auto& [entity, values] : image.client_quotas()) {
    const bool matches =
        std::all_of(exact.begin(), exact.end(),
                    [&, &of = entity](const auto& part) {
                      const auto at = of.find(part.first);
                      return at != of.end() && at->second == part.second;
                    }) &&
        std::all_of(any.begin(), any.end(), [&of = entity](const std::string& type) { return of.contains(type); });
    if (!matches || (request.strict && (parts == 0 || entity.size() != parts))) {
      continue;
    }
    auto& entry = response.entries->emplace_back();
    for (const auto& [type, name] : entity) {
      auto& part = entry.entity.emplace_back();
      part.entity_type = type;
      part.entity_name = name;
    }
    for (const auto& [key, value] : values) {
      auto& item = entry.values.emplace_back();
      item.key = key;
      item.value = value;
    }
  }
  return response;
}

// --- Controller

void Controller::alter_client_quotas(const wire::AlterClientQuotasRequest& request,
                                     Done<wire::AlterClientQuotasResponse> done) {
  std::map<QuotaEntity, int> named;
  for (const Entry& entry : request.entries) {
    ++named[quota_entity(entry)];
  }
  wire::AlterClientQuotasResponse response;
  wire::AlterClientQuotasResponse failure;
  std::vector<Record> records;
  std::set<QuotaEntity> answered;
  for (const Entry& entry : request.entries) {
    const QuotaEntity entity = quota_entity(entry);
    if (!answered.insert(entity).second) {
      continue;
    }
    wire::AlterClientQuotasResponse::EntryData result;
    for (const auto& [type, name] : entity) {
      auto& part = result.entity.emplace_back();
      part.entity_type = type;
      part.entity_name = name;
    }
    result.error_message.reset();
    wire::AlterClientQuotasResponse::EntryData lost = result;
    lost.error_code = ErrorCode::not_controller;
    failure.entries.push_back(std::move(lost));
    Result<std::vector<Record>, Refusal> of_entry = quota_records(entry, impl_->image());
    if (named[entity] > 1) {
      // As Kafka: the first of them is carried out, and the answer says that the others were not.
      result.error_code = ErrorCode::invalid_request;
      result.error_message = "the request names this entity more than once; only the first entry counts";
    } else if (!of_entry) {
      result.error_code = of_entry.error().error;
      result.error_message = of_entry.error().message;
    }
    if (of_entry && !request.validate_only) {
      records.insert(records.end(), std::make_move_iterator(of_entry->begin()), std::make_move_iterator(of_entry->end()));
    }
    response.entries.push_back(std::move(result));
  }
  impl_->finish(std::move(records), std::move(response), std::move(failure), std::move(done));
}

}  // namespace hw::metadata
