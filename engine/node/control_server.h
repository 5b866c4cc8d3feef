// SPDX-License-Identifier: Apache-2.0
// ControlServer: the commands of ClusterControl over HTTP with JSON: POST /v1/COMMAND with the arguments as an object, GET for what
// only tells; GET /openapi.json describes it all.
//
// For programs of this machine, not for web pages: requests are refused where Host names another machine (a page that had its name
// rebound), where Origin or Sec-Fetch-Site tells of a foreign page, and where a POST is not application/json, which a page cannot
// send elsewhere without being asked for leave first. Off loopback every request needs the token.
// Thread rule: start() and the end by one thread.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/result.h"
#include "engine/node/cluster_control.h"
#include "engine/node/http.h"

namespace hw::node {

struct ControlServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 9099;  // 0: the kernel chooses
  std::string token;          // empty: none is asked for; only on loopback
  std::string version;        // of the program, for the OpenAPI document
};

class ControlServer {
 public:
  // The control outlives the server.
  ControlServer(ControlServerOptions options, ClusterControl& control);

  Result<void> start();  // Errc::invalid: off loopback without a token; Errc::in_use: the port is taken
  [[nodiscard]] std::uint16_t port() const noexcept { return server_.port(); }
  [[nodiscard]] std::string address() const;  // HOST:PORT
  [[nodiscard]] HttpResponse serve(const HttpRequest& request);

 private:
  [[nodiscard]] bool own_host(std::string_view host) const;

  ControlServerOptions options_;
  ClusterControl& control_;
  HttpServer server_;
};

}  // namespace hw::node
