// SPDX-License-Identifier: Apache-2.0
// Changes of configuration: AlterConfigs and IncrementalAlterConfigs (KIP-133, KIP-226, KIP-339), as records.
//
// An edit names one resource and what happens to its keys. The broker that takes it from a client checks what is its own (its id,
// keys of brokers that can change at run time), the controller the rest (values, existence). The first fault answers for the whole
// resource, and another resource of the request does not feel it.
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
// Why the broker `node` does not take an edit from a client; `file`: its own configurations. Only edits of brokers concern it, and of
// its own keys it alone knows what is right; who asks a controller directly is not checked so (KIP-919).
[[nodiscard]] std::optional<Refusal> taker_refusal(const ResourceEdit& edit, const MetadataImage& image, const BrokerConfigs& file,
                                                   BrokerId node);
// The records that carry out an edit, or why it is refused. `newest`: with what is not committed yet.
[[nodiscard]] Result<std::vector<Record>, Refusal> edit_records(const ResourceEdit& edit, const MetadataImage& newest,
                                                                const BrokerConfigs& file, BrokerId node);

}  // namespace hw::metadata
