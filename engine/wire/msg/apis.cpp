// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/msg/apis.h"

#include <algorithm>

#include "engine/wire/msg/detail/tables.h"

namespace hw::wire {
namespace {

constexpr std::int16_t kApiVersionsKey = 18;

}  // namespace

std::span<const ApiInfo> all_apis() noexcept { return api_table(); }

const ApiInfo* find_api(std::int16_t key) noexcept {
  const std::span<const ApiInfo> apis = api_table();
  const auto found = std::ranges::lower_bound(apis, key, {}, &ApiInfo::key);
  return found != apis.end() && found->key == key ? &*found : nullptr;
}

int request_header_version(std::int16_t key, std::int16_t version) noexcept {
  const ApiInfo* api = find_api(key);
  return api != nullptr && version >= api->flexible_from ? 2 : 1;
}

int response_header_version(std::int16_t key, std::int16_t version) noexcept {
  const ApiInfo* api = find_api(key);
  return api != nullptr && key != kApiVersionsKey && version >= api->flexible_from ? 1 : 0;
}

}  // namespace hw::wire
