// SPDX-License-Identifier: Apache-2.0
// The keys of brokers and groups that can be changed while they run: what they mean, beside the keys of topics in
// config_rules.h. Pure, no widgets.
#pragma once

#include <string>
#include <string_view>

#include "ui/models/config_rules.h"

namespace hw::ui {

// The key of a topic for which this key of a broker is the default ("log.retention.ms" is "retention.ms"); empty: none.
[[nodiscard]] std::string_view topic_key_of(std::string_view broker_key);
// Null where the key is not known here, or is a topic's.
[[nodiscard]] const ConfigRule* broker_or_group_rule(std::string_view name);
// True for what only one broker can be told, not all of them together.
[[nodiscard]] bool one_broker_only(std::string_view broker_key);

}  // namespace hw::ui
