// SPDX-License-Identifier: Apache-2.0
// Parts of `hw groups` that stand in files of their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/hw/commands.h"
#include "app/hw/session.h"

namespace hw::app {

struct GroupArguments {
  std::vector<std::string> names;
  std::vector<std::string> states;
  std::vector<std::string> types;
  std::vector<std::string> topics;  // "orders" or "orders:0,2"
  bool all_topics = false;
  bool members = false;
  bool yes = false;
  bool execute = false;
  bool if_exists = false;
  // Where to; exactly one is given.
  bool to_earliest = false;
  bool to_latest = false;
  bool to_current = false;
  std::int64_t to_offset = -1;
  std::string to_time;
  std::string by_duration;
  std::int64_t shift = 0;
  std::string file;
  int targets = 0;
};

int reset_group(const GroupArguments& arguments, const Common& common);

// Partitions of "orders" or "orders:0,2", in order, each once. Error: says which name or number is wrong.
[[nodiscard]] Result<std::vector<node::TopicPartitionName>> partitions_named(Session& session, const std::vector<std::string>& texts);

}  // namespace hw::app
