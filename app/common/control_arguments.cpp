// SPDX-License-Identifier: Apache-2.0
#include "app/common/control_arguments.h"

#include <charconv>
#include <fstream>

namespace hw::app {

Result<node::ControlServerOptions> control_options(const std::string& address, const std::string& token_file) {
  node::ControlServerOptions out;
  const std::size_t colon = address.rfind(':');
  const std::string port = colon == std::string::npos ? address : address.substr(colon + 1);
  if (colon != std::string::npos) {
    std::string host = address.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
      host = host.substr(1, host.size() - 2);
    }
    out.address = host.empty() || host == "localhost" ? "127.0.0.1" : host;
  }
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (port.empty() || error != std::errc() || end != port.data() + port.size()) {
    return fail(Errc::invalid, "--control " + address + ": write [HOST:]PORT with a port from 0 to 65535, for example --control 9099");
  }
  if (!token_file.empty()) {
    std::ifstream file(token_file);
    std::getline(file, out.token);
    while (!out.token.empty() && (out.token.back() == '\r' || out.token.back() == ' ')) {
      out.token.pop_back();
    }
    constexpr std::size_t kShortest = 16;
    if (out.token.size() < kShortest) {
      return fail(Errc::invalid, "--control-token-file " + token_file + ": " +
                                     (file.good() || !out.token.empty() ? "the first line must be a token of at least 16 characters" : "it cannot be read, or is empty"));
    }
  }
  return out;
}

}  // namespace hw::app
