// SPDX-License-Identifier: Apache-2.0
#include "engine/node/http.h"

#include <pthread.h>

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/connect.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/read_until.hpp>
#include <asio/steady_timer.hpp>
#include <asio/streambuf.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <charconv>
#include <chrono>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "engine/node/port_holder.h"

namespace hw::node {
namespace {

using asio::ip::tcp;

constexpr std::size_t kConnections = 16;
constexpr std::size_t kHeadBytes = 8192;
constexpr std::size_t kBodyBytes = 16'384;
constexpr std::size_t kAnswerBytes = 4U << 20U;  // of a client
constexpr std::chrono::seconds kPatience{10};

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 431:
      return "Request Header Fields Too Large";
    case 504:
      return "Gateway Timeout";
    default:
      return "Internal Server Error";
  }
}

HttpResponse simple(int status, const std::string& what) {  // `what` has nothing that JSON would escape
  return {status, {}, R"({"error":")" + what + R"(","code":"bad_request"})"};
}

std::string text_of(const HttpResponse& response, bool with_body) {
  std::string out = "HTTP/1.1 " + std::to_string(response.status) + " " + reason_of(response.status) +
                    "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(response.body.size()) +
                    "\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                    "Cross-Origin-Resource-Policy: same-origin\r\n";
  for (const auto& [name, value] : response.headers) {
    out += name + ": " + value + "\r\n";
  }
  out += "\r\n";
  return with_body ? out + response.body : out;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

// Header lines, each ending in CRLF, up to the empty one.
Result<std::map<std::string, std::string>> parse_headers(std::string_view text) {
  std::map<std::string, std::string> out;
  while (!text.empty() && !text.starts_with("\r\n")) {
    const std::size_t end = text.find("\r\n");
    const std::string_view line = text.substr(0, end);
    const std::size_t colon = line.find(':');
    if (end == std::string_view::npos || colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
      return fail(Errc::invalid, "a header line cannot be read");
    }
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) {
      value.remove_prefix(1);
    }
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) {
      value.remove_suffix(1);
    }
    const bool readable = std::none_of(value.begin(), value.end(), [](char c) {
      return (static_cast<unsigned char>(c) < 0x20U && c != '\t') || c == 0x7f;
    });
    if (!readable || !out.emplace(lower(line.substr(0, colon)), value).second) {
      return fail(Errc::invalid, readable ? "a header stands there twice" : "a header line cannot be read");
    }
    text.remove_prefix(end + 2);
  }
  return out;
}

}  // namespace

Result<HttpRequest> parse_request_head(std::string_view head) {
  const std::size_t end = head.find("\r\n");
  if (end == std::string_view::npos) {
    return fail(Errc::invalid, "there is no request line");
  }
  const std::string_view line = head.substr(0, end);
  const std::size_t first = line.find(' ');
  const std::size_t second = line.find(' ', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos || !is_token(line.substr(0, first))) {
    return fail(Errc::invalid, "the request line cannot be read");
  }
  const std::string_view version = line.substr(second + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return fail(Errc::invalid, "this is not HTTP/1.1");
  }
  HttpRequest out;
  out.method = line.substr(0, first);
  std::string_view target = line.substr(first + 1, second - first - 1);
  target = target.substr(0, target.find('?'));
  const bool readable = std::all_of(target.begin(), target.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (!target.starts_with('/') || !readable) {
    return fail(Errc::invalid, "the request does not name a path");
  }
  out.target = target;
  HW_TRY(out.headers, parse_headers(head.substr(end + 2)));
  return out;
}

struct HttpServer::Impl {
  struct Session : std::enable_shared_from_this<Session> {
    Session(Impl& owner, tcp::socket given) : server(owner), socket(std::move(given)), timer(server.io), buffer(kHeadBytes) {}

    void start() {
      arm();
      asio::async_read_until(socket, buffer, "\r\n\r\n", [self = shared_from_this()](const asio::error_code& error, std::size_t size) {
        if (error == asio::error::not_found) {
          self->answer(simple(431, "request line and headers are larger than 8 KiB"));
        } else if (error) {
          self->end();
        } else {
          self->got_head(size);
        }
      });
    }

    void got_head(std::size_t size) {
      const auto data = buffer.data();
      const std::string head(asio::buffers_begin(data), asio::buffers_begin(data) + static_cast<std::ptrdiff_t>(size));
      buffer.consume(size);
      Result<HttpRequest> parsed = parse_request_head(head);
      if (!parsed) {
        answer(simple(400, parsed.error().detail));
        return;
      }
      request = std::move(*parsed);
      if (request.headers.count("transfer-encoding") != 0) {
        answer(simple(411, "send the body with Content-Length, not with a transfer encoding"));
        return;
      }
      std::size_t length = 0;
      if (const auto given = request.headers.find("content-length"); given != request.headers.end()) {
        const std::string& text = given->second;
        const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), length);
        if (error != std::errc() || last != text.data() + text.size()) {
          answer(simple(400, "Content-Length is no number"));
          return;
        }
      }
      if (length > kBodyBytes) {
        answer(simple(413, "the body is larger than 16 KiB"));
        return;
      }
      request.body.resize(length);
      const std::size_t have = std::min(buffer.size(), length);
      asio::buffer_copy(asio::buffer(request.body), buffer.data(), have);
      buffer.consume(have);
      asio::async_read(socket, asio::buffer(request.body.data() + have, length - have),
                       [self = shared_from_this()](const asio::error_code& error, std::size_t) { error ? self->end() : self->serve(); });
    }

    void serve() {
      timer.cancel();
      worker = std::thread([self = shared_from_this()] {
        pthread_setname_np(pthread_self(), "hw-control-call");
        HttpResponse response = self->server.handler(self->request);
        asio::post(self->server.io, [self, response = std::move(response)] {
          self->worker.join();
          self->answer(response);
        });
      });
    }

    void answer(const HttpResponse& response) {
      arm();
      out = text_of(response, request.method != "HEAD");
      asio::async_write(socket, asio::buffer(out), [self = shared_from_this()](const asio::error_code&, std::size_t) {
        asio::error_code ignored;
        self->socket.shutdown(tcp::socket::shutdown_send, ignored);
        self->end();
      });
    }

    void arm() {
      timer.expires_after(kPatience);
      timer.async_wait([self = weak_from_this()](const asio::error_code& error) {
        if (const auto mine = self.lock(); !error && mine) {
          mine->end();
        }
      });
    }

    void end() {
      timer.cancel();
      asio::error_code ignored;
      socket.close(ignored);
      server.ended(shared_from_this());
    }

    Impl& server;
    tcp::socket socket;
    asio::steady_timer timer;
    asio::streambuf buffer;
    HttpRequest request;
    std::string out;
    std::thread worker;
  };

  explicit Impl(Handler given) : handler(std::move(given)), acceptor(io), pause(io) {}

  void accept() {
    if (accepting || sessions.size() >= kConnections) {
      return;  // goes on when one ends
    }
    accepting = true;
    acceptor.async_accept([this](const asio::error_code& error, tcp::socket socket) {
      accepting = false;
      if (!acceptor.is_open()) {
        return;
      }
      if (error) {  // out of descriptors; trying at once again would spin
        pause.expires_after(std::chrono::milliseconds(100));
        pause.async_wait([this](const asio::error_code&) { accept(); });
        return;
      }
      const auto session = std::make_shared<Session>(*this, std::move(socket));
      sessions.insert(session);
      session->start();
      accept();
    });
  }
  void ended(const std::shared_ptr<Session>& session) {
    if (sessions.erase(session) != 0 && acceptor.is_open()) {
      accept();
    }
  }

  Handler handler;
  asio::io_context io{1};
  tcp::acceptor acceptor;
  asio::steady_timer pause;
  std::set<std::shared_ptr<Session>> sessions;
  bool accepting = false;
  std::atomic<std::uint16_t> port{0};
  std::thread thread;
};

HttpServer::HttpServer(Handler handler) : impl_(std::make_unique<Impl>(std::move(handler))) {}

HttpServer::~HttpServer() {
  if (!impl_->thread.joinable()) {
    return;
  }
  asio::post(impl_->io, [this] {
    asio::error_code ignored;
    impl_->acceptor.close(ignored);
    impl_->io.stop();
  });
  impl_->thread.join();
  // Nothing runs in `io` any more; what handlers still post there is dropped with it.
  for (const auto& session : impl_->sessions) {
    if (session->worker.joinable()) {
      session->worker.join();
    }
  }
}

Result<void> HttpServer::start(const std::string& address, std::uint16_t port) {
  asio::error_code error;
  const asio::ip::address parsed = asio::ip::make_address(address, error);
  if (error) {
    return fail(Errc::invalid, "cannot listen on '" + address + "': give an IP address of this machine, for example 127.0.0.1");
  }
  const tcp::endpoint endpoint(parsed, port);
  tcp::acceptor& acceptor = impl_->acceptor;
  acceptor.open(endpoint.protocol(), error);
  if (!error) {
    acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  }
  if (!error) {
    acceptor.bind(endpoint, error);
  }
  if (!error) {
    acceptor.listen(static_cast<int>(kConnections), error);
  }
  if (error == asio::error::address_in_use) {
    return fail(Errc::in_use, "the control port " + std::to_string(port) + " is taken by " + describe_port_holder(port));
  }
  if (error) {
    return fail(error == asio::error::access_denied ? Errc::permission : Errc::io,
                "cannot listen on " + address + ", port " + std::to_string(port) + ": " + error.message());
  }
  impl_->port.store(acceptor.local_endpoint(error).port());
  impl_->thread = std::thread([impl = impl_.get()] {
    pthread_setname_np(pthread_self(), "hw-control");
    impl->accept();
    const auto guard = asio::make_work_guard(impl->io);
    impl->io.run();
  });
  return {};
}

std::uint16_t HttpServer::port() const noexcept { return impl_->port.load(); }

Result<HttpResponse> http_call(const std::string& host, std::uint16_t port, const HttpRequest& request, Duration patience) {
  const std::string where = (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port);
  asio::io_context io{1};
  tcp::resolver resolver(io);
  tcp::socket socket(io);
  std::string out = request.method + " " + request.target + " HTTP/1.1\r\nHost: " + where + "\r\nConnection: close\r\n";
  for (const auto& [name, value] : request.headers) {
    out += name + ": " + value + "\r\n";
  }
  out += "Content-Length: " + std::to_string(request.body.size()) + "\r\n\r\n" + request.body;
  std::string in;
  std::optional<asio::error_code> ended;
  resolver.async_resolve(host, std::to_string(port), [&](const asio::error_code& error, const tcp::resolver::results_type& found) {
    if (error) {
      ended = error;
      return;
    }
    asio::async_connect(socket, found, [&](const asio::error_code& failed, const tcp::endpoint&) {
      if (failed) {
        ended = failed;
        return;
      }
      asio::async_write(socket, asio::buffer(out), [&](const asio::error_code& cut, std::size_t) {
        if (cut) {
          ended = cut;
          return;
        }
        asio::async_read(socket, asio::dynamic_buffer(in, kAnswerBytes), [&](const asio::error_code& end, std::size_t) {
          ended = end == asio::error::eof ? asio::error_code() : end;
        });
      });
    });
  });
  io.run_for(std::chrono::nanoseconds(patience.ns));
  if (!ended) {
    return fail(Errc::closed, "no answer from " + where + " within " + std::to_string(patience.ms()) + " ms");
  }
  if (*ended) {
    return fail(Errc::closed, "cannot reach " + where + ": " + ended->message());
  }
  const std::size_t head = in.find("\r\n\r\n");
  const std::size_t line = in.find("\r\n");
  HttpResponse response;
  if (head == std::string::npos || !in.starts_with("HTTP/1.") || line < 12 ||
      std::from_chars(in.data() + 9, in.data() + 12, response.status).ec != std::errc()) {
    return fail(Errc::corrupt, "what answers at " + where + " does not speak HTTP");
  }
  HW_TRY(response.headers, parse_headers(std::string_view(in).substr(line + 2, head - line)));
  response.body = in.substr(head + 4);
  return response;
}

}  // namespace hw::node
