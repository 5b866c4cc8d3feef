// SPDX-License-Identifier: Apache-2.0
#include "engine/node/cluster.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "engine/env/memory_disk.h"
#include "engine/env/posix_disk.h"
#include "engine/node/limits.h"

namespace hw::node {

namespace {

std::uint64_t system_seed() noexcept {
  std::uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) {
    seed = static_cast<std::uint64_t>(getpid());
  }
  return seed;
}

std::uint64_t half_of_memory() noexcept {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) / 2
                               : std::uint64_t{1} << 30U;
}

}  // namespace

Cluster::Cluster(ClusterOptions options) : options_(std::move(options)) {
  if (options_.seed == 0) {
    options_.seed = system_seed();
  }
}

Cluster::~Cluster() { kill(); }

Result<void> Cluster::start() {
  const std::uint64_t descriptors = raise_descriptor_limit();
  if (options_.memory) {
    disk_ = std::make_shared<env::MemoryDisk>(options_.memory_limit_bytes != 0 ? options_.memory_limit_bytes
                                                                              : half_of_memory());
  } else {
    // Sockets need descriptors as well: logs get at most half of them.
    disk_ = std::make_shared<env::PosixDisk>(static_cast<std::size_t>(std::min<std::uint64_t>(descriptors / 2, 16'384)));
    HW_CHECK(disk_->make_directories(options_.directory));
  }
  pool_ = std::make_unique<DiskPool>();
  if (options_.observe) {
    observer_ = std::make_unique<observe::Observer>(observe::Observer::Options{}, options_.wake);
  }
  for (std::int32_t i = 0; i < options_.nodes; ++i) {
    const BrokerId id(options_.node_id.value_or(1) + i);
    NodeSettings settings;
    settings.core.node = id;
    settings.core.directory = (options_.memory ? std::string("memory") : options_.directory) + "/node-" +
                              std::to_string(id.value());
    settings.core.configs = options_.configs;
    settings.listen = options_.listen;
    settings.disk = disk_;
    settings.seed = options_.seed + static_cast<std::uint64_t>(i);
    event::EventSink* sink = observer_ != nullptr ? &observer_->add_node(id) : nullptr;
    auto node = std::make_unique<Node>(std::move(settings), *pool_, sink);
    Result<void> started = node->start();
    if (!started) {
      kill();
      return started;
    }
    nodes_.push_back(std::move(node));
  }
  return {};
}

Result<void> Cluster::stop() {
  Result<void> first;
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    Result<void> stopped = (*node)->stop();
    if (!stopped && first) {
      first = std::move(stopped);
    }
  }
  kill();
  return first;
}

void Cluster::kill() {
  nodes_.clear();  // a Node that still runs ends at once
  pool_.reset();
  observer_.reset();
}

const std::string& Cluster::cluster_id() const noexcept {
  static const std::string none;
  return nodes_.empty() ? none : nodes_.front()->cluster_id();
}

std::uint16_t Cluster::port() const noexcept { return nodes_.empty() ? std::uint16_t{0} : nodes_.front()->port(); }

std::string Cluster::bootstrap() const {
  const std::string& address = options_.listen.address;
  const std::string host = address == "0.0.0.0" || address == "::" ? "127.0.0.1" : address;
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port());
}

observe::ViewPtr Cluster::view() {
  HW_ASSERT(observer_ != nullptr, "a view needs ClusterOptions::observe");
  return observer_->latest();
}

}  // namespace hw::node
