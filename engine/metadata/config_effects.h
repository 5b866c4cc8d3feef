// SPDX-License-Identifier: Apache-2.0
// What of a broker's file would be a false promise: keys that protect something where nothing does, and keys that nothing
// heeds yet. Which ones: config_table.inc.
// Thread rule: free functions of their arguments.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hw::metadata {

// Why a start with these would leave open what they are meant to close, for people; nothing: they promise nothing of the kind.
// Access control, SSL and SASL (also of one listener, listener.name.X.…), policies, delegation tokens, tiered storage. The
// value that a key has anyway is no promise.
[[nodiscard]] std::optional<std::string> unsupported_protection(const std::map<std::string, std::string>& configs);

// Keys that are set to something else than their default and that nothing heeds, unknown ones too; sorted.
[[nodiscard]] std::vector<std::string> configs_without_effect(const std::map<std::string, std::string>& configs);

}  // namespace hw::metadata
