// SPDX-License-Identifier: Apache-2.0
// From configuration (metadata) to what logs and partitions obey. Free functions.
#pragma once

#include "engine/broker/partition.h"
#include "engine/metadata/configs.h"

namespace hw::api {

[[nodiscard]] broker::TopicSettings topic_settings(const metadata::TopicConfigs& configs,
                                                   const metadata::BrokerConfigs& broker);

}  // namespace hw::api
