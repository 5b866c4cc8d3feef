// SPDX-License-Identifier: Apache-2.0
// The layers in which a broker key may have a value, and which of them applies.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/metadata/configs.h"

namespace hw::metadata {

struct BrokerLayers {
  const ConfigMap* of_broker = nullptr;   // dynamic, of this broker
  const ConfigMap* of_cluster = nullptr;  // dynamic, of all brokers
  const ConfigMap* of_file = nullptr;
};
[[nodiscard]] BrokerLayers layers_of(const MetadataImage& image, const BrokerConfigs& broker, BrokerId node);
[[nodiscard]] const std::string* find_in(const ConfigMap* map, std::string_view key);

struct Resolved {
  std::optional<std::string> value;
  ConfigSource source = ConfigSource::default_value;
};
// The value of the first of `names` that has one, in the form that DescribeConfigs shows.
[[nodiscard]] Resolved resolve(const ConfigDef& def, std::span<const ConfigSynonym> names, const BrokerLayers& layers);
// `def`'s own text in that form. REQUIRES: it was checked when it was set; otherwise the default stands in.
[[nodiscard]] std::string canonical(const ConfigDef& def, const std::string& text);

}  // namespace hw::metadata
