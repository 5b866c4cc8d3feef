// SPDX-License-Identifier: Apache-2.0
#include "engine/node/listener_probe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/wire/frame/framer.h"
#include "engine/wire/msg/apis.h"
#include "engine/wire/msg/metadata.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

namespace hw::node {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int16_t kMetadataVersion = 5;          // old enough for every broker of the last years
constexpr std::int32_t kAnswerMaxBytes = 1 << 20;     // of a cluster without topics asked for
constexpr std::size_t kAddressesTried = 4;

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

// False: the time is over.
bool wait_for(int fd, short events, Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) {
      return false;
    }
    pollfd one{fd, events, 0};
    const int ready = ::poll(&one, 1, static_cast<int>(left));
    if (ready > 0) {
      return true;
    }
    if (ready == 0 || errno != EINTR) {
      return false;
    }
  }
}

std::string text_of(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);  // NOLINT: how the sockets API is made
    inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
  } else if (address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);  // NOLINT
    inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
  }
  return text.data();
}

void failed(ListenerProbe& out, int error) {
  out.detail = std::strerror(error);  // NOLINT(concurrency-mt-unsafe): glibc's is safe for known errors
  switch (error) {
    case ECONNREFUSED:
      out.outcome = ListenerProbe::Outcome::refused;
      break;
    case ETIMEDOUT:
      out.outcome = ListenerProbe::Outcome::timed_out;
      break;
    default:
      out.outcome = ListenerProbe::Outcome::unreachable;
      break;
  }
}

bool send_all(int fd, ByteSpan bytes, Clock::time_point until) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t n = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
    } else if (n < 0 && errno == EAGAIN) {
      if (!wait_for(fd, POLLOUT, until)) {
        return false;
      }
    } else if (n >= 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::optional<Bytes> receive_frame(int fd, Clock::time_point until) {
  wire::Framer framer(kAnswerMaxBytes);
  for (;;) {
    const MutableByteSpan room = framer.prepare();
    const ssize_t n = ::recv(fd, room.data(), room.size(), 0);
    if (n > 0) {
      framer.commit(static_cast<std::size_t>(n));
      Result<std::optional<Bytes>> frame = framer.next();
      if (!frame) {
        return std::nullopt;
      }
      if (frame->has_value()) {
        return std::move(**frame);
      }
    } else if (n < 0 && errno == EAGAIN) {
      if (!wait_for(fd, POLLIN, until)) {
        return std::nullopt;
      }
    } else if (n == 0 || errno != EINTR) {
      return std::nullopt;
    }
  }
}

void ask_metadata(ListenerProbe& out, int fd, Clock::time_point until) {
  constexpr std::int32_t kCorrelation = 1;
  out.outcome = ListenerProbe::Outcome::other_protocol;
  wire::MetadataRequest request;
  request.topics.emplace();  // none: brokers only
  request.allow_auto_topic_creation = false;
  wire::Writer writer;
  const wire::Writer::LengthMark length = writer.reserve_length();
  writer.int16(wire::MetadataRequest::kApiKey);
  writer.int16(kMetadataVersion);
  writer.int32(kCorrelation);
  writer.string("highwater-doctor", false);
  if (!encode(writer, request, kMetadataVersion)) {
    return;
  }
  writer.patch_length(length);
  if (!send_all(fd, writer.finish().flatten().span(), until)) {
    out.detail = "the connection was closed";
    return;
  }
  const std::optional<Bytes> frame = receive_frame(fd, until);
  if (!frame) {
    out.detail = Clock::now() >= until ? "no answer in time" : "the connection was closed, or the answer is no Kafka frame";
    return;
  }
  wire::Reader reader(*frame);
  wire::MetadataResponse response;
  if (reader.int32() != kCorrelation || !decode(reader, response, kMetadataVersion)) {
    out.detail = "the answer is no Kafka frame";
    return;
  }
  out.outcome = ListenerProbe::Outcome::speaks_kafka;
  out.cluster_id = response.cluster_id.value_or("");
  for (const wire::MetadataResponse::MetadataResponseBroker& broker : response.brokers) {
    out.brokers.push_back({broker.node_id.value(), broker.host, broker.port});
  }
}

}  // namespace

ListenerProbe probe_listener(const std::string& host, std::uint16_t port, Duration timeout) {
  ListenerProbe out;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0) {
    out.detail = gai_strerror(error);
    return out;
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, &freeaddrinfo);
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    const std::string text = text_of(each->ai_addr);
    if (std::find(out.addresses.begin(), out.addresses.end(), text) == out.addresses.end()) {
      out.addresses.push_back(text);
    }
  }
  const Clock::time_point until = Clock::now() + std::chrono::nanoseconds(timeout.ns);
  std::size_t tried = 0;
  for (const addrinfo* each = found; each != nullptr && tried < kAddressesTried; each = each->ai_next, ++tried) {
    const Socket socket(::socket(each->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.fd() < 0) {
      failed(out, errno);
      continue;
    }
    if (::connect(socket.fd(), each->ai_addr, each->ai_addrlen) != 0 && errno != EINPROGRESS) {
      failed(out, errno);
      continue;
    }
    if (!wait_for(socket.fd(), POLLOUT, until)) {
      out.outcome = ListenerProbe::Outcome::timed_out;
      out.detail = "no answer in time";
      continue;
    }
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      failed(out, error);
      continue;
    }
    out.detail.clear();
    ask_metadata(out, socket.fd(), until);
    return out;  // the first that takes the connection is the one that a client uses
  }
  return out;
}

std::vector<LocalAddress> local_addresses() {
  std::vector<LocalAddress> out;
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) {
    return out;
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> list(found, &freeifaddrs);
  constexpr std::string_view kContainerPrefixes[] = {"docker", "br-", "podman", "cni", "veth", "lxc", "lxd", "virbr", "nerdctl"};
  for (const ifaddrs* each = found; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) {
      continue;
    }
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) {
      continue;
    }
    LocalAddress one;
    one.interface_name = each->ifa_name;
    one.v6 = family == AF_INET6;
    one.address = text_of(each->ifa_addr);
    if (one.v6 && one.address.starts_with("fe80")) {
      continue;
    }
    if ((each->ifa_flags & IFF_LOOPBACK) != 0) {
      one.kind = LocalAddress::Kind::loopback;
    } else if (std::any_of(std::begin(kContainerPrefixes), std::end(kContainerPrefixes),
                           [&](std::string_view prefix) { return one.interface_name.starts_with(prefix); })) {
      one.kind = LocalAddress::Kind::container;
    }
    out.push_back(std::move(one));
  }
  std::stable_sort(out.begin(), out.end(), [](const LocalAddress& a, const LocalAddress& b) { return !a.v6 && b.v6; });
  return out;
}

}  // namespace hw::node
