// SPDX-License-Identifier: Apache-2.0
#include "engine/observe/protocol_names.h"

#include "engine/wire/msg/apis.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::observe {

std::string_view api_name(std::int16_t key) noexcept {
  const wire::ApiInfo* api = wire::find_api(key);
  return api == nullptr ? std::string_view() : std::string_view(api->name);
}

std::int16_t api_highest_version(std::int16_t key) noexcept {
  const wire::ApiInfo* api = wire::find_api(key);
  return api == nullptr ? std::int16_t{-1} : api->advertised_highest;
}

std::string_view error_name(std::int16_t code) noexcept { return wire::error_name(static_cast<wire::ErrorCode>(code)); }

}  // namespace hw::observe
