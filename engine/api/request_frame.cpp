// SPDX-License-Identifier: Apache-2.0
#include "engine/api/request_frame.h"

#include <algorithm>
#include <array>

#include "engine/wire/msg/apis.h"

namespace hw::api {

namespace {

constexpr std::int16_t kApiVersionsKey = 18;

// A few bytes at the begin of a frame; errors are sticky.
class HeaderCursor {
 public:
  explicit HeaderCursor(ByteSpan bytes) noexcept : bytes_(bytes) {}
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] std::size_t position() const noexcept { return at_; }
  std::uint32_t big_endian(std::size_t size) noexcept {
    if (!take(size)) {
      return 0;
    }
    std::uint32_t value = 0;
    for (std::size_t i = at_ - size; i < at_; ++i) {
      value = (value << 8U) | std::to_integer<std::uint32_t>(bytes_[i]);
    }
    return value;
  }
  std::string_view text(std::size_t size) noexcept {
    return take(size) ? as_text(bytes_.subspan(at_ - size, size)) : std::string_view{};
  }
  std::uint32_t uvarint() noexcept {
    std::uint32_t value = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      const std::uint32_t byte = big_endian(1);
      value |= (byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) {
        return value;
      }
    }
    ok_ = false;
    return 0;
  }
  bool take(std::size_t size) noexcept {
    if (!ok_ || size > bytes_.size() - at_) {
      ok_ = false;
      return false;
    }
    at_ += size;
    return true;
  }

 private:
  ByteSpan bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace

RequestFrame parse_request_frame(ByteSpan frame, ListenerKind listener) {
  RequestFrame result;
  HeaderCursor cursor(frame);
  result.api_key = static_cast<std::int16_t>(cursor.big_endian(2));
  result.api_version = static_cast<std::int16_t>(cursor.big_endian(2));
  result.correlation_id = static_cast<std::int32_t>(cursor.big_endian(4));
  if (!cursor.ok()) {
    result.refusal = "a frame of " + std::to_string(frame.size()) + " bytes is no request";
    return result;
  }
  const wire::ApiInfo* api = wire::find_api(result.api_key);
  if (api == nullptr) {
    result.refusal = "API key " + std::to_string(result.api_key) + " does not exist";
    return result;
  }
  if (!(listener == ListenerKind::client ? api->broker_listener : api->controller_listener)) {
    result.refusal = std::string(api->name) + " is not served on a listener of " +
                     (listener == ListenerKind::client ? "brokers" : "controllers");
    return result;
  }
  const std::int16_t lowest = std::max(api->lowest, api->advertised_lowest);
  const std::int16_t highest = std::min(api->highest, api->advertised_highest);
  if (result.api_version < lowest || result.api_version > highest) {
    if (result.api_key != kApiVersionsKey) {
      result.refusal = std::string(api->name) + " version " + std::to_string(result.api_version) +
                       " is not served (versions " + std::to_string(lowest) + " to " + std::to_string(highest) + ")";
      return result;
    }
    result.version_unsupported = true;
  }
  const int header = wire::request_header_version(result.api_key, result.api_version);
  if (header >= 1) {
    const auto size = static_cast<std::int16_t>(cursor.big_endian(2));
    if (size > 0) {
      result.client_id = cursor.text(static_cast<std::size_t>(size));
    } else if (size < -1) {
      result.refusal = "the client id has a negative length";
      return result;
    }
  }
  if (header >= 2) {
    for (std::uint32_t left = cursor.uvarint(); left > 0 && cursor.ok(); --left) {
      cursor.uvarint();  // tag: no header tag is known
      cursor.take(cursor.uvarint());
    }
  }
  result.body = cursor.position();
  if (!cursor.ok() && !result.version_unsupported) {
    result.refusal = std::string("the header of ") + api->name + " is cut off";
  }
  return result;
}

std::string client_host_of(std::string_view peer) {
  const std::size_t colon = peer.rfind(':');
  std::string_view host = colon == std::string_view::npos ? peer : peer.substr(0, colon);
  if (host.size() < 2 || host.front() != '[') {
    return "/" + std::string(host);
  }
  host = host.substr(1, host.size() - 2);
  if (const std::size_t mapped = host.rfind(':'); host.find('.') != std::string_view::npos) {
    return "/" + std::string(host.substr(mapped + 1));  // ::ffff:127.0.0.1
  }
  // Eight groups without leading zeros and without "::".
  std::array<std::string, 8> groups;
  groups.fill("0");
  std::size_t count = 0;
  const auto add = [&](std::string_view part) {
    for (std::size_t begin = 0; begin < part.size() && count < groups.size();) {
      const std::size_t end = std::min(part.find(':', begin), part.size());
      groups[count++] = std::string(part.substr(begin, end - begin));
      begin = end + 1;
    }
  };
  const std::size_t twice = host.find("::");
  if (twice == std::string_view::npos) {
    add(host);
  } else {
    add(host.substr(0, twice));
    std::array<std::string, 8> front = groups;
    const std::size_t in_front = count;
    groups.fill("0");
    count = 0;
    add(host.substr(twice + 2));
    const std::size_t behind = count;
    std::array<std::string, 8> whole;
    whole.fill("0");
    for (std::size_t i = 0; i < in_front; ++i) {
      whole[i] = front[i];
    }
    for (std::size_t i = 0; i < behind && behind + in_front <= whole.size(); ++i) {
      whole[whole.size() - behind + i] = groups[i];
    }
    groups = whole;
  }
  std::string text = "/";
  for (std::size_t i = 0; i < groups.size(); ++i) {
    text += (i == 0 ? "" : ":") + groups[i];
  }
  return text;
}

}  // namespace hw::api
