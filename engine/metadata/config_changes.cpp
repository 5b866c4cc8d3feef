// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/config_changes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "engine/metadata/controller.h"
#include "engine/metadata/detail/config_layers.h"
#include "engine/metadata/detail/config_text.h"
#include "engine/metadata/detail/controller_impl.h"

namespace hw::metadata {

using wire::ErrorCode;

namespace {

constexpr std::size_t kValueMax = 32'767;

Unexpected<Refusal> refused(ErrorCode error, std::string why) { return Unexpected<Refusal>(Refusal{error, std::move(why)}); }

// Only lists of topics and brokers take items one by one; Kafka 4.4 does not know those of groups and client metrics.
const ConfigDef* def_of(ConfigResourceType type, std::string_view key) {
  switch (type) {
    case ConfigResourceType::topic: return find_topic_config(key);
    case ConfigResourceType::broker: return find_settable_broker_config(key);
    case ConfigResourceType::unknown:
    case ConfigResourceType::broker_logger:
    case ConfigResourceType::client_metrics:
    case ConfigResourceType::group: break;
  }
  return nullptr;
}

// What `edit` makes of the value `now`; nothing: the key is not set any more.
Result<std::optional<std::string>, Refusal> edited(ConfigResourceType type, const ConfigEdit& edit, const std::string* now) {
  if (edit.op < 0 || edit.op > static_cast<std::int8_t>(ConfigOp::subtract)) {
    return refused(ErrorCode::invalid_request,
                   "operation " + std::to_string(edit.op) + " of " + edit.name + " is none of set 0, delete 1, append 2, subtract 3");
  }
  const auto op = static_cast<ConfigOp>(edit.op);
  if (op == ConfigOp::set) {
    return edit.value;
  }
  if (op == ConfigOp::erase) {
    return std::optional<std::string>();
  }
  const ConfigDef* def = def_of(type, edit.name);
  if (def == nullptr || def->type != ConfigType::list) {
    return refused(ErrorCode::invalid_config,
                   edit.name + " is no list: items can neither be appended to it nor subtracted from it");
  }
  std::vector<std::string> items = split_list(now != nullptr ? *now : std::string(def->default_value));
  for (const std::string& item : split_list(*edit.value)) {
    if (item.empty()) {
      continue;
    }
    const auto at = std::find(items.begin(), items.end(), item);
    if (op == ConfigOp::subtract && at != items.end()) {
      items.erase(at);
    } else if (op == ConfigOp::append && at == items.end()) {
      items.push_back(item);
    }
  }
  return std::optional<std::string>(join(items));
}

// --- brokers

bool among(std::string_view key, std::span<const std::string_view> keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// Keys of TLS stores: of one listener only.
constexpr std::array<std::string_view, 10> kListenerOnly = {
    "ssl.key.password",        "ssl.keystore.certificate.chain", "ssl.keystore.key",        "ssl.keystore.location",
    "ssl.keystore.password",   "ssl.keystore.type",              "ssl.truststore.certificates", "ssl.truststore.location",
    "ssl.truststore.password", "ssl.truststore.type"};
// Keys of one listener that may also be set for all brokers together.
constexpr std::array<std::string_view, 3> kListenerLimits = {"max.connections", "max.connection.creation.rate",
                                                             "num.network.threads"};
// Sizes of thread pools: a change may at most double or halve one.
constexpr std::array<std::string_view, 6> kThreadPools = {"background.threads",    "log.cleaner.threads",
                                                          "num.io.threads",        "num.network.threads",
                                                          "num.recovery.threads.per.data.dir", "num.replica.fetchers"};

std::optional<std::string> thread_pool_error(const BrokerConfigs& before, const BrokerConfigs& after) {
  for (const std::string_view key : kThreadPools) {
    const std::int64_t was = before.number(key);
    const std::int64_t wanted = after.number(key);
    if (wanted == was) {
      continue;
    }
    if (wanted < 1 || wanted < was / 2 || wanted > was * 2) {
      return std::string(key) + " is " + std::to_string(was) + " and may go to between " + std::to_string(std::max<std::int64_t>(was / 2, 1)) +
             " and " + std::to_string(was * 2) + " in one step";
    }
  }
  return std::nullopt;
}

std::optional<std::string> overrides_error(const BrokerConfigs& after) {
  for (const std::string& item : split_list(after.text("max.connections.per.ip.overrides"))) {
    const std::size_t colon = item.rfind(':');
    if (colon == std::string::npos || colon == 0 ||
        !parse_integer(std::string_view(item).substr(colon + 1), 0, std::numeric_limits<std::int32_t>::max())) {
      return "'" + item + "' is no override of max.connections.per.ip: it must be host:count";
    }
  }
  return std::nullopt;
}

// Why a broker could not run with these values in that layer. `props`: all of the layer after the change.
std::optional<std::string> broker_props_error(const ConfigMap& props, bool one_broker, const MetadataImage& image,
                                              const BrokerConfigs& file, BrokerId node) {
  for (const auto& [name, value] : props) {
    const ConfigDef* def = find_broker_config(name);
    if (def != nullptr && def->update_mode == ConfigUpdateMode::read_only) {
      return name + " cannot change while the broker runs: it belongs into the broker's file";
    }
    if (among(name, kListenerOnly)) {
      return name + " can change for one listener only: listener.name.NAME." + name;
    }
  }
  for (const auto& [name, value] : props) {
    const ConfigDef* def = find_settable_broker_config(name);
    if (def == nullptr) {
      continue;  // a plug-in's
    }
    if (const Result<std::string> parsed = parse_config_value(*def, value); !parsed) {
      return parsed.error().detail;
    }
    const bool of_listener = def->name != name;
    if (!one_broker && ((of_listener && !among(def->name, kListenerLimits)) ||
                        (!of_listener && def->update_mode == ConfigUpdateMode::per_broker))) {
      return name + " is a matter of one broker: give the broker's id instead of an empty name";
    }
    const bool plug_in = name == "metric.reporters" || def->type == ConfigType::class_name;
    if (plug_in && !trimmed(value).empty() && trimmed(value) != def->default_value) {
      return name + " names a plug-in, and this broker loads none";
    }
    if (name == "listeners" && value != file.text(name)) {
      return "the listeners of this broker cannot change while it runs";
    }
    if (name == "cordoned.log.dirs") {
      const std::vector<std::string> present = file.list("log.dirs");
      for (const std::string& directory : split_list(value)) {
        if (directory != "*" && std::find(present.begin(), present.end(), directory) == present.end()) {
          return "cordoned.log.dirs names '" + directory + "', which is none of log.dirs";
        }
      }
    }
  }
  const BrokerConfigs before = file.with_dynamic(image, node);
  const BrokerLayers layers = layers_of(image, file, node);
  const ConfigMap none;
  const BrokerConfigs after =
      one_broker ? file.with_dynamic(props, layers.of_cluster == nullptr ? none : *layers.of_cluster)
                 : file.with_dynamic(layers.of_broker == nullptr ? none : *layers.of_broker, props);
  if (std::optional<std::string> why = after.contradiction()) {
    return why;
  }
  if (std::optional<std::string> why = overrides_error(after)) {
    return why;
  }
  return thread_pool_error(before, after);
}

// The id in the name of a broker resource.
Result<BrokerId, Refusal> node_id_of(const std::string& name) {
  const std::string_view text = std::string_view(name).substr(name.starts_with('+') ? 1 : 0);
  std::int32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) {
    return refused(ErrorCode::invalid_request, "'" + name + "' is no broker id");
  }
  return BrokerId(id);
}

// --- the controller's part

std::optional<Refusal> values_refusal(ConfigResourceType type, const std::string& name, const ConfigMap& configs,
                                      const MetadataImage& newest, const BrokerConfigs& file, BrokerId node) {
  const auto fault = [](const std::optional<ConfigFault>& found) -> std::optional<Refusal> {
    if (!found) {
      return std::nullopt;
    }
    return Refusal{found->request ? ErrorCode::invalid_request : ErrorCode::invalid_config, found->why};
  };
  switch (type) {
    case ConfigResourceType::topic: {
      if (name.empty()) {
        return Refusal{ErrorCode::invalid_request, "topics have no common configuration of their own: name a topic"};
      }
      if (std::optional<std::string> why = topic_name_error(name)) {
        return Refusal{ErrorCode::invalid_topic_exception, std::move(*why)};
      }
      const std::map<std::string, std::optional<std::string>, std::less<>> given(configs.begin(), configs.end());
      if (std::optional<std::string> why = topic_configs_error(given, newest, file, node)) {
        return Refusal{ErrorCode::invalid_config, std::move(*why)};
      }
      if (newest.find_topic(name) == nullptr) {
        return Refusal{ErrorCode::unknown_topic_or_partition, "there is no topic '" + name + "'"};
      }
      return std::nullopt;
    }
    case ConfigResourceType::client_metrics:
      if (name.empty()) {
        return Refusal{ErrorCode::invalid_request, "a client metrics subscription has a name"};
      }
      return fault(client_metrics_configs_error(configs));
    case ConfigResourceType::group:
      if (name.empty()) {
        return Refusal{ErrorCode::invalid_request, "groups have no common configuration of their own: name a group"};
      }
      return fault(group_configs_error(configs, file.with_dynamic(newest, node)));
    case ConfigResourceType::broker:
    case ConfigResourceType::unknown:
    case ConfigResourceType::broker_logger: break;
  }
  return std::nullopt;
}

// What an edit makes of a resource: all of its keys afterwards, and what has changed.
struct Edited {
  ConfigMap after;
  std::vector<std::pair<std::string, std::optional<std::string>>> changes;
};
Result<Edited, Refusal> apply(const ResourceEdit& edit, const ConfigMap* now) {
  const auto type = static_cast<ConfigResourceType>(edit.type);
  Edited out;
  out.after = now == nullptr || edit.replace_all ? ConfigMap{} : *now;
  for (const ConfigEdit& item : edit.edits) {
    const std::string* value = find_in(now, item.name);
    ConfigEdit wanted = item;
    wanted.op = edit.replace_all ? static_cast<std::int8_t>(ConfigOp::set) : item.op;
    Result<std::optional<std::string>, Refusal> result = edited(type, wanted, value);
    if (!result) {
      return Unexpected<Refusal>(result.error());
    }
    if (*result) {
      out.after.insert_or_assign(item.name, **result);
    } else {
      out.after.erase(item.name);
    }
    // A broker takes a value again although it is the same (a file that it names may be another one).
    const bool differs = result->has_value() != (value != nullptr) || (value != nullptr && **result != *value);
    if (differs || type == ConfigResourceType::broker) {
      out.changes.emplace_back(item.name, std::move(*result));
    }
  }
  if (edit.replace_all && now != nullptr) {
    for (const auto& [key, value] : *now) {
      if (!out.after.contains(key)) {
        out.changes.emplace_back(key, std::nullopt);
      }
    }
  }
  return out;
}

}  // namespace

std::vector<Refusal> form_refusals(const std::vector<ResourceEdit>& edits) {
  std::vector<Refusal> answers(edits.size());
  std::map<std::pair<std::int8_t, std::string>, int> named;
  for (const ResourceEdit& edit : edits) {
    ++named[{edit.type, edit.name}];
  }
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const ResourceEdit& edit = edits[i];
    if (named[{edit.type, edit.name}] > 1) {
      answers[i] = {ErrorCode::invalid_request, "the request names this resource more than once"};
      continue;
    }
    std::set<std::string_view> keys;
    for (const ConfigEdit& item : edit.edits) {
      if (!keys.insert(item.name).second) {
        answers[i] = {ErrorCode::invalid_request, "the request names the key " + item.name + " more than once"};
        break;
      }
    }
    for (const ConfigEdit& item : edit.edits) {
      const bool erases = !edit.replace_all && item.op == static_cast<std::int8_t>(ConfigOp::erase);
      if (!item.value && !erases && answers[i].error == ErrorCode::none) {
        answers[i] = {ErrorCode::invalid_request, item.name + " cannot be null; delete the key to let it inherit its value"};
      }
    }
  }
  return answers;
}

std::optional<Refusal> taker_refusal(const ResourceEdit& edit, const MetadataImage& image, const BrokerConfigs& file, BrokerId node) {
  if (static_cast<ConfigResourceType>(edit.type) != ConfigResourceType::broker) {
    return std::nullopt;
  }
  std::string name;
  if (!edit.name.empty()) {
    const Result<BrokerId, Refusal> id = node_id_of(edit.name);
    if (!id) {
      return id.error();
    }
    if (*id != node) {
      return Refusal{ErrorCode::invalid_request,
                     "broker " + edit.name + " is to be asked itself, this is broker " + std::to_string(node.value())};
    }
    name = std::to_string(id->value());
  }
  const Result<Edited, Refusal> result = apply(edit, image.find_configs({ConfigResourceType::broker, name}));
  if (!result) {
    return result.error();
  }
  if (std::optional<std::string> why = broker_props_error(result->after, !edit.name.empty(), image, file, node)) {
    return Refusal{ErrorCode::invalid_request, std::move(*why)};
  }
  return std::nullopt;
}

Result<std::vector<Record>, Refusal> edit_records(const ResourceEdit& edit, const MetadataImage& newest,
                                                  const BrokerConfigs& file, BrokerId node) {
  const auto type = static_cast<ConfigResourceType>(edit.type);
  const bool is_broker = type == ConfigResourceType::broker;
  std::string name = edit.name;
  switch (type) {
    case ConfigResourceType::topic:
    case ConfigResourceType::client_metrics:
    case ConfigResourceType::group: break;
    case ConfigResourceType::broker:
      if (!edit.name.empty()) {
        HW_TRY(const BrokerId id, node_id_of(edit.name));
        if (newest.find_broker(id) == nullptr && !newest.controllers().contains(id)) {
          return refused(ErrorCode::broker_id_not_registered, "there is no node " + std::to_string(id.value()));
        }
        name = std::to_string(id.value());
      }
      break;
    case ConfigResourceType::unknown:
    case ConfigResourceType::broker_logger:
    default:
      return refused(ErrorCode::invalid_request, "nothing of resource type " + std::to_string(edit.type) + " can be changed so");
  }
  HW_TRY(Edited result, apply(edit, newest.find_configs({type, name})));
  auto& [after, changes] = result;
  // Eligible leaders are reckoned with one min.insync.replicas for the whole cluster, which must therefore be there (KIP-966).
  constexpr std::string_view kMinIsr = "min.insync.replicas";
  const bool one_for_all = is_broker && newest.feature_level("eligible.leader.replicas.version") > 0;
  for (const auto& [key, value] : changes) {
    if (one_for_all && key == kMinIsr && !edit.name.empty()) {
      return refused(ErrorCode::invalid_config, "with eligible leader replicas on, min.insync.replicas is set for all brokers, not for one");
    }
    if (one_for_all && key == kMinIsr && !value) {
      return refused(ErrorCode::invalid_config, "with eligible leader replicas on, min.insync.replicas of all brokers cannot be removed");
    }
    if (value && value->size() > kValueMax) {
      return refused(ErrorCode::invalid_config, "the value of " + key + " is longer than 32767 bytes");
    }
  }
  if (std::optional<Refusal> refusal = values_refusal(type, name, after, newest, file, node)) {
    return Unexpected<Refusal>(std::move(*refusal));
  }

  std::vector<Record> records;
  for (auto& [key, value] : changes) {
    wire::ConfigRecord record;
    record.resource_type = edit.type;
    record.resource_name = name;
    record.name = key;
    record.value = std::move(value);
    records.emplace_back(std::move(record));
  }
  return records;
}

void Controller::alter_configs(const std::vector<ResourceEdit>& edits, bool validate_only, Done<std::vector<Refusal>> done) {
  std::vector<Refusal> answers = form_refusals(edits);
  std::vector<Refusal> failure(edits.size(), {ErrorCode::not_controller, "this node is not the active controller"});
  std::vector<Record> records;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (answers[i].error != ErrorCode::none) {
      continue;
    }
    Result<std::vector<Record>, Refusal> of_resource =
        edit_records(edits[i], impl_->image(), *impl_->options.broker_configs, impl_->options.node);
    if (!of_resource) {
      answers[i] = of_resource.error();
    } else if (!validate_only) {
      records.insert(records.end(), std::make_move_iterator(of_resource->begin()),
                     std::make_move_iterator(of_resource->end()));
    }
  }
  impl_->forget_eligible_leaders(records);
  impl_->finish(std::move(records), std::move(answers), std::move(failure), std::move(done));
}

}  // namespace hw::metadata
