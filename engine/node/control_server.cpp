// SPDX-License-Identifier: Apache-2.0
#include "engine/node/control_server.h"

#include <utility>

namespace hw::node {
namespace {

bool is_loopback(std::string_view address) { return address.starts_with("127.") || address == "::1"; }
bool is_wildcard(std::string_view address) { return address == "0.0.0.0" || address == "::"; }

HttpResponse refuse(int status, const char* code, const std::string& what) {
  return {status, {}, to_json(Value::object().set("error", what).set("code", code))};
}

HttpResponse error_answer(const Error& error) {
  switch (error.code) {
    case Errc::invalid:
      return refuse(400, "invalid_argument", error.detail);
    case Errc::not_found:
      return refuse(404, "not_found", error.detail);
    case Errc::in_use:
      return refuse(409, "wrong_state", error.detail);
    case Errc::closed:
      return refuse(504, "timed_out", error.detail);
    default:
      return refuse(500, "failed", error.detail);
  }
}

std::string header(const HttpRequest& request, const char* name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? std::string() : found->second;
}

// In a time that does not tell how much of it is right.
bool same(std::string_view a, std::string_view b) {
  unsigned differs = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    differs |= static_cast<unsigned>(a[i] == other ? 0 : 1);
  }
  return differs == 0;
}

}  // namespace

ControlServer::ControlServer(ControlServerOptions options, ClusterControl& control)
    : options_(std::move(options)), control_(control), server_([this](const HttpRequest& request) { return serve(request); }) {}

Result<void> ControlServer::start() {
  if (!is_loopback(options_.address) && options_.token.empty()) {
    return fail(Errc::invalid, "the control port of " + options_.address +
                                   " would let everybody on the network kill nodes; give a token with --control-token-file, or listen on 127.0.0.1");
  }
  return server_.start(options_.address, options_.port);
}

std::string ControlServer::address() const {
  const std::string host = is_wildcard(options_.address) ? "127.0.0.1" : options_.address;
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port());
}

bool ControlServer::own_host(std::string_view host) const {
  std::string_view name = host;
  if (name.starts_with('[')) {
    name = name.substr(1, name.find(']') == std::string_view::npos ? name.size() : name.find(']') - 1);
  } else {
    name = name.substr(0, name.find(':'));
  }
  // On every address the machine may have any name; there the token stands guard, which no page knows.
  return name == "localhost" || is_loopback(name) || name == options_.address || (is_wildcard(options_.address) && !name.empty());
}

HttpResponse ControlServer::serve(const HttpRequest& request) {
  const std::string host = header(request, "host");
  if (!own_host(host)) {
    return refuse(403, "foreign_host", "the Host header names '" + host + "', which is not this machine; use localhost or 127.0.0.1");
  }
  const std::string origin = header(request, "origin");
  const std::string site = header(request, "sec-fetch-site");
  if ((!origin.empty() && origin != "http://" + host) || (!site.empty() && site != "same-origin" && site != "none")) {
    return refuse(403, "foreign_origin", "requests from web pages are refused; use hw, curl or another program");
  }
  if (!options_.token.empty() && !same(header(request, "authorization"), "Bearer " + options_.token)) {
    HttpResponse response = refuse(401, "no_token", "send the header Authorization: Bearer TOKEN, with the token of --control-token-file");
    response.headers["WWW-Authenticate"] = "Bearer";
    return response;
  }
  const bool get = request.method == "GET" || request.method == "HEAD";
  if (request.target == "/" || request.target == "/openapi.json") {
    if (!get) {
      HttpResponse response = refuse(405, "wrong_method", request.target + " is only read: use GET");
      response.headers["Allow"] = "GET, HEAD";
      return response;
    }
    if (request.target == "/openapi.json") {
      return {200, {}, to_json(openapi_document(options_.version))};
    }
    Value::List commands;
    for (const ControlCommand& command : control_commands()) {
      commands.push_back(Value::object().set("command", command.name).set("path", "/v1/" + std::string(command.name)).set("what", command.what));
    }
    return {200, {}, to_json(Value::object().set("openapi", "/openapi.json").set("commands", std::move(commands)))};
  }
  const std::string prefix = "/v1/";
  const ControlCommand* command = request.target.starts_with(prefix) ? find_command(std::string_view(request.target).substr(prefix.size())) : nullptr;
  if (command == nullptr) {
    return refuse(404, "not_found", "there is nothing at " + request.target + "; GET / lists the commands, /openapi.json describes them");
  }
  if (request.method != "POST" && (command->changes || !get)) {
    HttpResponse response = refuse(405, "wrong_method", std::string(command->name) + " needs POST, with its arguments as JSON");
    response.headers["Allow"] = command->changes ? "POST" : "GET, HEAD, POST";
    return response;
  }
  Value arguments;
  if (request.method == "POST") {
    const std::string type = header(request, "content-type");
    if (type.substr(0, type.find(';')) != "application/json") {
      return refuse(415, "wrong_content_type", "send the header Content-Type: application/json, and the arguments as a JSON object");
    }
    if (!request.body.empty()) {
      Result<Value> parsed = parse_value(request.body);
      if (!parsed) {
        return refuse(400, "invalid_json", "the body cannot be read: " + parsed.error().detail + "; send a JSON object, for example {\"nodes\": [1]}");
      }
      arguments = std::move(*parsed);
    }
  }
  const Result<Value> done = control_.run(command->name, arguments);
  return done ? HttpResponse{200, {}, to_json(*done)} : error_answer(done.error());
}

}  // namespace hw::node
