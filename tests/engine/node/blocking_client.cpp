// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/node/blocking_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace hw::test {

BlockingClient::BlockingClient(std::uint16_t port) {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr generic{};
  std::memcpy(&generic, &where, sizeof generic);
  timeval patience{10, 0};
  (void)setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const int on = 1;
  (void)setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket_, &generic, sizeof generic) != 0) {
    ::close(socket_);
    throw std::runtime_error("connect");
  }
}

BlockingClient::~BlockingClient() { ::close(socket_); }

void BlockingClient::send_raw(ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      throw std::runtime_error("send");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

std::size_t BlockingClient::drain() {
  std::size_t total = 0;
  std::array<std::byte, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (got <= 0) {
      return total;
    }
    total += static_cast<std::size_t>(got);
  }
}

Bytes BlockingClient::receive_frame() {
  const auto exactly = [this](std::byte* into, std::size_t size) {
    while (size > 0) {
      const ssize_t got = ::recv(socket_, into, size, 0);
      if (got <= 0) {
        throw std::runtime_error("closed");
      }
      into += got;
      size -= static_cast<std::size_t>(got);
    }
  };
  std::array<std::byte, 4> prefix{};
  exactly(prefix.data(), prefix.size());
  std::size_t size = 0;
  for (const std::byte b : prefix) {
    size = size << 8U | std::to_integer<std::size_t>(b);
  }
  ByteBuilder builder(size);
  exactly(builder.extend(size), size);
  return builder.finish();
}

void BlockingClient::send_framed(std::int16_t key, std::int16_t version, const Bytes& body) {
  std::string& frame = frame_;
  frame.assign(4, '\0');
  const auto put = [&frame](std::uint32_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
      frame.push_back(static_cast<char>(value >> static_cast<unsigned>(shift)));
    }
  };
  put(static_cast<std::uint16_t>(key), 2);
  put(static_cast<std::uint16_t>(version), 2);
  put(static_cast<std::uint32_t>(++correlation_), 4);
  put(4, 2);
  frame += "test";
  if (wire::request_header_version(key, version) >= 2) {
    frame.push_back('\0');
  }
  frame += body.text();
  const std::size_t size = frame.size() - 4;
  for (std::size_t i = 0; i < 4; ++i) {
    frame[i] = static_cast<char>(size >> (24 - 8 * i));
  }
  send_raw(as_bytes(frame));
}

std::size_t BlockingClient::header_size(const Bytes& frame, std::int16_t key, std::int16_t version) {
  const std::size_t size = wire::response_header_version(key, version) >= 1 ? 5 : 4;
  if (frame.size() < size) {
    throw std::runtime_error("short answer");
  }
  return size;
}

}  // namespace hw::test
