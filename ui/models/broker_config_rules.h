// SPDX-License-Identifier: Apache-2.0
// The keys of brokers and groups that can be changed while they run: what they mean, beside the keys of topics in
// config_rules.h. Pure, no widgets.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ui/models/config_rules.h"

namespace hw::ui {

// The key of a topic for which this key of a broker is the default ("log.retention.ms" is "retention.ms"); empty: none.
[[nodiscard]] std::string_view topic_key_of(std::string_view broker_key);
// What a key of a broker is where only `other`, its name in a coarser unit, has this value: log.retention.hours=1 is
// log.retention.ms=3600000. The value itself where both have one unit.
[[nodiscard]] std::string in_unit_of(std::string_view broker_key, std::string_view other, const std::string& value);
// What a topic's key is without a value of its own, by what its broker has: nullopt where that is not known. Beside an own value brokers
// list log.retention.ms, where it is set, and what comes behind it, but neither log.retention.hours alone nor what no key of theirs
// stands for; so does Kafka 4.4.
using ValueOfBroker = std::function<std::optional<std::string>(const std::string& key)>;
[[nodiscard]] std::optional<std::string> topic_standard(std::string_view topic_key, const ValueOfBroker& of_broker);
// Null where the key is not known here, or is a topic's.
[[nodiscard]] const ConfigRule* broker_or_group_rule(std::string_view name);
// True for what only one broker can be told, not all of them together.
[[nodiscard]] bool one_broker_only(std::string_view broker_key);

}  // namespace hw::ui
