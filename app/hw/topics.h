// SPDX-License-Identifier: Apache-2.0
// Parts of `hw topics` that stand in files of their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/hw/commands.h"

namespace hw::app {

struct TopicArguments {
  std::vector<std::string> names;
  std::int32_t partitions = -1;
  std::int16_t replication = -1;
  std::vector<std::string> configs;
  std::string preset;
  bool if_not_exists = false;
  bool if_exists = false;
  bool internal = false;
  bool all_configs = false;
  bool yes = false;
  bool dry_run = false;
  bool no_preview = false;
  std::int64_t scan = 1'000'000;
  // delete-records
  std::vector<std::int32_t> only;
  std::int64_t before_offset = -1;
  std::string before_time;
  bool everything = false;
};

int alter_topic(const TopicArguments& arguments, const Common& common);
int delete_records(const TopicArguments& arguments, const Common& common);

}  // namespace hw::app
