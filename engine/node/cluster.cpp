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

constexpr const char* kMemoryRoot = "memory";

std::size_t log_descriptors(std::uint64_t limit) noexcept {
  // Sockets need descriptors as well: logs get at most half of them.
  return static_cast<std::size_t>(std::min<std::uint64_t>(limit / 2, 16'384));
}

Result<void> copy_tree(env::Disk& from, const std::string& source, env::Disk& to, const std::string& target) {
  if (!from.is_directory(source)) {
    HW_TRY(const std::shared_ptr<env::File> in, from.open(source, env::OpenMode::read));
    HW_TRY(const std::shared_ptr<env::File> out, to.open(target, env::OpenMode::create_new));
    constexpr std::uint64_t piece = 1U << 20U;
    std::vector<std::byte> buffer(piece);
    for (std::uint64_t at = 0; at < in->size();) {
      const std::ptrdiff_t got = in->read_at(at, {buffer.data(), std::min<std::uint64_t>(piece, in->size() - at)});
      if (got <= 0) {
        return fail(Errc::io, "cannot read " + source);
      }
      const ByteSpan bytes(buffer.data(), static_cast<std::size_t>(got));
      HW_CHECK(out->append({&bytes, 1}));
      at += static_cast<std::uint64_t>(got);
    }
    return out->sync();
  }
  HW_CHECK(to.make_directories(target));
  HW_TRY(const std::vector<std::string> names, from.list(source));
  for (const std::string& name : names) {
    if (name != ".lock") {
      HW_CHECK(copy_tree(from, source + "/" + name, to, target + "/" + name));
    }
  }
  return to.sync_directory(target);
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
    disk_ = std::make_shared<env::PosixDisk>(log_descriptors(descriptors));
    HW_CHECK(disk_->make_directories(options_.directory));
  }
  pool_ = std::make_unique<DiskPool>();
  if (options_.observe) {
    observer_ = std::make_unique<observe::Observer>(observe::Observer::Options{}, options_.wake);
  }
  Result<void> started = start_nodes();
  if (!started) {
    kill();
  }
  return started;
}

Result<void> Cluster::start_nodes() {
  for (std::int32_t i = 0; i < options_.nodes; ++i) {
    const BrokerId id(options_.node_id.value_or(1) + i);
    NodeSettings settings;
    settings.core.node = id;
    settings.core.directory = (options_.memory ? std::string(kMemoryRoot) : options_.directory) + "/node-" +
                              std::to_string(id.value());
    for (const std::string& directory : options_.memory ? std::vector<std::string>{} : options_.more_directories) {
      // One that cannot be made is offline from the start; the others go on without it.
      static_cast<void>(disk_->make_directories(directory));
      settings.core.more_directories.push_back(directory + "/node-" + std::to_string(id.value()));
    }
    settings.core.configs = options_.configs;
    settings.listen = options_.listen;
    settings.disk = disk_;
    settings.seed = options_.seed + static_cast<std::uint64_t>(i);
    event::EventSink* sink = observer_ != nullptr ? &observer_->add_node(id) : nullptr;
    auto node = std::make_unique<Node>(std::move(settings), *pool_, sink);
    HW_CHECK(node->start());
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

Result<void> Cluster::keep(const std::string& directory) {
  if (!options_.memory) {
    return fail(Errc::invalid, "this cluster is on disk already, in " + options_.directory);
  }
  auto target = std::make_shared<env::PosixDisk>(log_descriptors(raise_descriptor_limit()));
  const bool existed = target->exists(directory);
  if (existed) {
    HW_TRY(const std::vector<std::string> names, target->list(directory));
    if (!names.empty()) {
      return fail(Errc::exists, directory + " is not empty; choose a new folder");
    }
  }
  const std::uint16_t port_now = port();
  for (const std::unique_ptr<Node>& node : nodes_) {
    HW_CHECK(node->stop());
  }
  nodes_.clear();
  options_.listen.port = port_now;
  Result<void> copied = copy_tree(*disk_, kMemoryRoot, *target, directory);
  const std::shared_ptr<env::Disk> memory = disk_;
  if (copied) {
    disk_ = target;
    options_.memory = false;
    options_.directory = directory;
    copied = start_nodes();
  }
  if (!copied) {
    nodes_.clear();
    (void)target->remove_tree(directory);
    if (existed) {
      (void)target->make_directories(directory);
    }
    disk_ = memory;
    options_.memory = true;
    options_.directory.clear();
    HW_CHECK(start_nodes());
  }
  return copied;
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
