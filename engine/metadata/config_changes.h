// SPDX-License-Identifier: Apache-2.0
// Changes of configuration: AlterConfigs and IncrementalAlterConfigs (KIP-133, KIP-226, KIP-339), as records.
//
// An edit names one resource and what happens to its keys. It is checked as the broker that takes it would (broker keys
// that can change at run time, node ids) and as the controller would (values, existence), because here both are one node;
// the first fault answers for the whole resource, and another resource of the request does not feel it.
// Broker loggers are no part of this: they are not kept in the metadata log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/metadata/configs.h"
#include "engine/metadata/image/image.h"
#include "engine/metadata/image/record.h"
#include "engine/metadata/refusal.h"

namespace hw::metadata {

enum class ConfigOp : std::int8_t { set = 0, erase = 1, append = 2, subtract = 3 };

struct ConfigEdit {
  std::string name;
  std::int8_t op = 0;  // a ConfigOp, or what the client made up
  std::optional<std::string> value;
};
struct ResourceEdit {
  std::int8_t type = 0;  // a ConfigResourceType, or what the client made up
  std::string name;
  bool replace_all = false;  // keys that are not named go back to what they inherit; every edit sets
  std::vector<ConfigEdit> edits;
};

// Faults that do not depend on what exists: a resource or a key named twice, a value that is missing. One answer for each
// edit.
[[nodiscard]] std::vector<Refusal> form_refusals(const std::vector<ResourceEdit>& edits);
// The records that carry out an edit, or why it is refused. `newest`: with what is not committed yet.
[[nodiscard]] Result<std::vector<Record>, Refusal> edit_records(const ResourceEdit& edit, const MetadataImage& newest,
                                                                const BrokerConfigs& file, BrokerId node);

}  // namespace hw::metadata
