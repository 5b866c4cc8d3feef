// SPDX-License-Identifier: Apache-2.0
#include "engine/client/io.h"

#include <fmt/core.h>

#include <charconv>

namespace hw::client {
namespace {
constexpr std::uint16_t kDefaultPort = 9092;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
  }
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  return text;
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  const auto bad = [text](const char* why) {
    return fail(Errc::invalid, fmt::format("'{}' is no broker address: {}; write host:port", text, why));
  };
  Endpoint endpoint;
  endpoint.port = kDefaultPort;
  std::string_view port;
  if (!text.empty() && text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) {
      return bad("the bracket is not closed");
    }
    endpoint.host = text.substr(1, close - 1);
    port = text.substr(close + 1);
    if (!port.empty() && port.front() != ':') {
      return bad("something stands between address and port");
    }
  } else {
    const std::size_t colon = text.find(':');
    if (colon != std::string_view::npos && text.find(':', colon + 1) != std::string_view::npos) {
      return bad("an IPv6 address stands in brackets");
    }
    endpoint.host = text.substr(0, colon);
    port = colon == std::string_view::npos ? std::string_view{} : text.substr(colon);
  }
  if (endpoint.host.empty()) {
    return bad("the host is missing");
  }
  if (!port.empty()) {
    port.remove_prefix(1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
    if (error != std::errc{} || end != port.data() + port.size() || endpoint.port == 0) {
      return bad("the port is a number from 1 to 65535");
    }
  }
  return endpoint;
}
}  // namespace

std::string Endpoint::text() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

Result<std::vector<Endpoint>> parse_bootstrap(std::string_view text) {
  std::vector<Endpoint> endpoints;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = trimmed(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    if (part.empty()) {
      continue;
    }
    HW_TRY(Endpoint endpoint, parse_endpoint(part));
    endpoints.push_back(std::move(endpoint));
  }
  if (endpoints.empty()) {
    return fail(Errc::invalid, "no broker address is given; write host:port, for example localhost:9092");
  }
  return endpoints;
}

}  // namespace hw::client
