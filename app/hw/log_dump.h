// SPDX-License-Identifier: Apache-2.0
// What `hw log dump` and `hw log verify` do with files. Both read only.
#pragma once

#include <string>
#include <vector>

#include "app/hw/commands.h"

namespace hw::app {

struct LogArguments {
  std::vector<std::string> paths;
  bool records = false;
  bool decode = false;
  std::int64_t from_offset = -1;
  std::int64_t most = -1;
};

int dump_logs(const LogArguments& arguments, const Common& common);
int verify_logs(const LogArguments& arguments, const Common& common);

}  // namespace hw::app
