// SPDX-License-Identifier: Apache-2.0
#include "engine/node/port_holder.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

namespace hw::node {

namespace {

// The inode of the socket that listens on `port`, from /proc/net/tcp or tcp6; empty: not found.
std::string listening_inode(const char* table, std::uint16_t port) {
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);  // headings
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string slot;
    std::string local;
    std::string remote;
    std::string state;
    std::string skip;
    std::string inode;
    words >> slot >> local >> remote >> state >> skip >> skip >> skip >> skip >> skip >> inode;
    const std::size_t colon = local.rfind(':');
    if (state == "0A" && colon != std::string::npos &&
        std::strtoul(local.c_str() + colon + 1, nullptr, 16) == port) {
      return inode;
    }
  }
  return {};
}

struct DirCloser {
  void operator()(DIR* dir) const noexcept { closedir(dir); }
};

bool process_holds(const std::string& pid, const std::string& link_text) {
  const std::string folder = "/proc/" + pid + "/fd";
  const std::unique_ptr<DIR, DirCloser> dir(opendir(folder.c_str()));
  if (dir == nullptr) {
    return false;
  }
  while (const dirent* entry = readdir(dir.get())) {
    std::array<char, 64> target{};
    const ssize_t size = readlink((folder + "/" + entry->d_name).c_str(), target.data(), target.size());
    if (size > 0 && std::string_view(target.data(), static_cast<std::size_t>(size)) == link_text) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string describe_port_holder(std::uint16_t port) {
  std::string inode = listening_inode("/proc/net/tcp", port);
  if (inode.empty()) {
    inode = listening_inode("/proc/net/tcp6", port);
  }
  if (inode.empty()) {
    return "another process";
  }
  const std::string link_text = "socket:[" + inode + "]";
  const std::unique_ptr<DIR, DirCloser> proc(opendir("/proc"));
  while (proc != nullptr) {
    const dirent* entry = readdir(proc.get());
    if (entry == nullptr) {
      break;
    }
    const std::string pid = entry->d_name;
    if (pid.find_first_not_of("0123456789") != std::string::npos || !process_holds(pid, link_text)) {
      continue;
    }
    std::string name;
    std::ifstream comm("/proc/" + pid + "/comm");
    std::getline(comm, name);
    return (name.empty() ? std::string("a process") : name) + " (pid " + pid + ")";
  }
  return "a process of another user";
}

std::uint16_t next_free_port(const std::string& address, std::uint16_t from) {
  for (int step = 0; step < 100 && from + step <= 65535; ++step) {
    const auto port = static_cast<std::uint16_t>(from + step);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    if (inet_pton(AF_INET, address.c_str(), &where.sin_addr) != 1) {
      where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
      return 0;
    }
    const int on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr generic{};
    std::memcpy(&generic, &where, sizeof generic);
    const bool free = ::bind(fd, &generic, sizeof generic) == 0 && ::listen(fd, 1) == 0;
    ::close(fd);
    if (free) {
      return port;
    }
  }
  return 0;
}

}  // namespace hw::node
