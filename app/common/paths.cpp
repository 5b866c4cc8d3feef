// SPDX-License-Identifier: Apache-2.0
#include "app/common/paths.h"

#include <cstdlib>

namespace hw::app {

std::string data_directory() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && data[0] == '/') {
    return std::string(data) + "/highwater";
  }
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : "/tmp") + "/.local/share/highwater";
}

}  // namespace hw::app
