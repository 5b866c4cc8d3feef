// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/config_effects.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/metadata/configs.h"

namespace hw::metadata {

namespace {

// Keys of plug-ins, which have no row in the table.
struct Foreign {
  std::string_view name;
  std::string_view harmless;  // besides the empty value
};
constexpr std::array<Foreign, 4> kForeignGuards{{{"super.users", ""},
                                                 {"allow.everyone.if.no.acl.found", "true"},
                                                 {"password.encoder.secret", ""},
                                                 {"password.encoder.old.secret", ""}}};

constexpr std::string_view kLogin = "sasl.jaas.config";  // also listener.name.X.MECHANISM.sasl.jaas.config

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The protocol of a listener: what the map says, or its name, as Kafka's default map has it.
std::string protocol_of(const std::map<std::string, std::string>& configs, std::string_view listener) {
  if (const auto map = configs.find("listener.security.protocol.map"); map != configs.end()) {
    std::string_view rest = map->second;
    while (!rest.empty()) {
      const std::string_view pair = trimmed(rest.substr(0, rest.find(',')));
      rest.remove_prefix(std::min(rest.size(), rest.find(',') == std::string_view::npos ? rest.size() : rest.find(',') + 1));
      const std::size_t colon = pair.find(':');
      if (colon != std::string_view::npos && trimmed(pair.substr(0, colon)) == listener) {
        return std::string(trimmed(pair.substr(colon + 1)));
      }
    }
  }
  return std::string(listener);
}

bool is_default(const ConfigDef& def, const std::string& value) {
  const Result<std::string> given = parse_config_value(def, value);
  const Result<std::string> usual = parse_config_value(def, def.has_default ? def.default_value : std::string_view{});
  return (given && usual && *given == *usual) || trimmed(value) == (def.has_default ? def.default_value : std::string_view{});
}

// `key` as a person wrote it, without secrets.
std::string said(const std::string& key, const ConfigDef* def, const std::string& value) {
  return key.ends_with(kLogin) || key.starts_with("password.") || (def != nullptr && def->sensitive()) ? key : key + "=" + value;
}

std::string_view what_is_missing(std::string_view key) {
  if (key == "remote.log.storage.system.enable") {
    return "tiered storage is not supported yet";
  }
  if (key.starts_with("ssl.") || key.starts_with("sasl.") || key.starts_with("security.") || key == "connections.max.reauth.ms") {
    return "SSL and SASL are not supported yet, and every connection would be open";
  }
  if (key.ends_with("policy.class.name") || key == "client.quota.callback.class") {
    return "plug-in classes are not supported, and nothing would be refused";
  }
  if (key == "config.providers" || key.starts_with("password.encoder.")) {
    return "secrets from elsewhere are not supported yet";
  }
  if (key == "delegation.token.secret.key") {
    return "delegation tokens are not supported yet";
  }
  return "access control is not supported yet, and everybody could do everything";
}

}  // namespace

std::optional<std::string> unsupported_protection(const std::map<std::string, std::string>& configs) {
  for (const char* key : {"listeners", "advertised.listeners"}) {
    const auto listeners = configs.find(key);
    if (listeners == configs.end()) {
      continue;
    }
    std::string_view rest = listeners->second;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view one = trimmed(rest.substr(0, comma));
      rest.remove_prefix(std::min(rest.size(), comma + 1));
      const std::string protocol = protocol_of(configs, one.substr(0, one.find("://")));
      if (protocol == "SSL" || protocol == "SASL_PLAINTEXT" || protocol == "SASL_SSL") {
        return std::string(key) + ": " + std::string(one) + " asks for " + protocol +
               ", which is not supported yet; use a PLAINTEXT listener and keep it to networks you trust";
      }
    }
  }
  for (const auto& [key, value] : configs) {
    const std::string_view name = without_listener_prefix(key);
    const ConfigDef* def = find_broker_config(name);
    const bool login = key.ends_with(kLogin) && !trimmed(value).empty();
    bool promises = login || (def != nullptr && def->effect == ConfigEffect::guards && !trimmed(value).empty() &&
                              !is_default(*def, value));
    for (const Foreign& foreign : kForeignGuards) {
      promises = promises || (name == foreign.name && !trimmed(value).empty() && trimmed(value) != foreign.harmless);
    }
    if (promises) {
      return said(key, def, value) + ": " + std::string(what_is_missing(login ? kLogin : name)) + "; take this key out to start without it";
    }
  }
  return std::nullopt;
}

std::vector<std::string> configs_without_effect(const std::map<std::string, std::string>& configs) {
  std::vector<std::string> result;
  for (const auto& [key, value] : configs) {
    const ConfigDef* def = find_broker_config(without_listener_prefix(key));
    const bool foreign = def == nullptr && std::none_of(kForeignGuards.begin(), kForeignGuards.end(),
                                                        [&key = key](const Foreign& one) { return one.name == key; });
    if (foreign || (def != nullptr && def->effect == ConfigEffect::none && !is_default(*def, value))) {
      result.push_back(key);
    }
  }
  return result;
}

}  // namespace hw::metadata
