// SPDX-License-Identifier: Apache-2.0
// As much of HTTP/1.1 (RFC 9110, 9112) as a control port needs: one request a connection, a body with Content-Length, no more.
//
// Bounded: 16 connections (more wait in the backlog), 8 KiB of request line and headers, 16 KiB of body, 10 seconds to send a
// request and 10 to take the answer, whatever the pace. No transfer encodings, no continuation lines, no upgrade.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/time.h"

namespace hw::node {

struct HttpRequest {
  std::string method;  // as it was sent
  std::string target;  // "/v1/cluster.status", without the query
  std::map<std::string, std::string> headers;  // names in lower case; each is there once
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::map<std::string, std::string> headers;  // beside those that every answer has; of an answer received: names in lower case
  std::string body;                            // JSON
};

class HttpServer {
 public:
  // Runs on a thread of its own for each request, at most 16 at once; may block.
  using Handler = std::function<HttpResponse(const HttpRequest&)>;
  explicit HttpServer(Handler handler);
  ~HttpServer();  // waits for the handlers that run
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Errc::in_use: the port is taken. 0: the kernel chooses.
  Result<void> start(const std::string& address, std::uint16_t port);
  [[nodiscard]] std::uint16_t port() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Errc::invalid says what is wrong with a head (request line and headers, up to and with the empty line).
[[nodiscard]] Result<HttpRequest> parse_request_head(std::string_view head);

// One request, waited for. Errc::closed: nobody answers there, or not within `patience`; Errc::corrupt: no HTTP comes back.
[[nodiscard]] Result<HttpResponse> http_call(const std::string& host, std::uint16_t port, const HttpRequest& request, Duration patience);

}  // namespace hw::node
