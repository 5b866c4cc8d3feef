// SPDX-License-Identifier: Apache-2.0
#include "engine/node/cluster.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "engine/env/memory_disk.h"
#include "engine/env/posix_disk.h"
#include "engine/log/log_manager.h"
#include "engine/node/cluster_join.h"
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
constexpr std::int32_t kControllers = 3;      // a majority survives one of them
constexpr Duration kReadyWithin = seconds(30);
constexpr Duration kLeaveWithin = seconds(15);
constexpr Duration kCompareWithin = milliseconds(300);

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
  if (options_.member && !options_.member->controllers.empty()) {
    const std::string folder = (options_.memory ? std::string(kMemoryRoot) : options_.directory) + "/node-" + std::to_string(options_.node_id.value_or(1));
    if (const Result<log::MetaProperties> meta = log::LogManager::read_meta(*disk_, folder)) {  // it knows from its first life
      // Where nobody answers yet there is nothing to compare: it may be the first one to start again.
      const Result<std::string> others = ask_cluster_id(options_.member->controllers, kCompareWithin, &interrupted_);
      if (others && *others != meta->cluster_id) {
        return fail(Errc::invalid, folder + " belongs to cluster " + meta->cluster_id + ", and the controllers that were named to cluster " +
                                       *others + ": name the controllers of its own cluster, or give another --dir");
      }
    } else if (options_.member->cluster_id.empty() && options_.member->initial_voters.empty()) {
      HW_TRY(options_.member->cluster_id, ask_cluster_id(options_.member->controllers, kReadyWithin, &interrupted_));
    }
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

std::shared_ptr<env::PowerDisk> Cluster::disk_of(BrokerId id) {
  const std::lock_guard guard(mutex_);
  std::shared_ptr<env::PowerDisk>& disk = disks_[id];
  if (disk == nullptr) {
    disk = std::make_shared<env::PowerDisk>(options_.disk_of ? options_.disk_of(id, disk_) : disk_);
  }
  return disk;
}

std::unique_ptr<Node> Cluster::make_node(BrokerId id, ListenOptions listen) {
  static std::mutex making;  // nodes may be started by several threads, each another one
  const std::lock_guard guard(making);
  NodeSettings settings;
  settings.core.node = id;
  settings.core.controller = id.value() - options_.node_id.value_or(1) < options_.controllers;
  if (options_.member) {
    settings.core.broker = options_.member->broker;
    settings.core.controller = options_.member->controller;
    settings.core.cluster_id = options_.member->cluster_id;
    settings.core.initial_voters = options_.member->initial_voters;
    settings.core.controllers = options_.member->controllers;
  }
  settings.core.directory =
      (options_.memory ? std::string(kMemoryRoot) : options_.directory) + "/node-" + std::to_string(id.value());
  for (const std::string& directory : options_.memory ? std::vector<std::string>{} : options_.more_directories) {
    // One that cannot be made is offline from the start; the others go on without it.
    static_cast<void>(disk_->make_directories(directory));
    settings.core.more_directories.push_back(directory + "/node-" + std::to_string(id.value()));
  }
  settings.core.configs = options_.configs;
  if (const auto own = options_.node_configs.find(id.value()); own != options_.node_configs.end()) {
    for (const auto& [key, value] : own->second) {
      settings.core.configs.insert_or_assign(key, value);
    }
  }
  settings.listen = std::move(listen);
  settings.disk = disk_of(id);
  // Every life draws other numbers: the incarnation by which the controller knows a broker again is one of them.
  settings.seed = Prng(options_.seed + static_cast<std::uint64_t>(id.value()) + (static_cast<std::uint64_t>(++lives_) << 32U)).next();
  event::EventSink* sink = observer_ != nullptr ? &observer_->add_node(id) : nullptr;
  return std::make_unique<Node>(std::move(settings), *pool_, sink);
}

void Cluster::keep_node(std::shared_ptr<Node> node) {
  const std::lock_guard guard(mutex_);
  if (interrupted_) {
    node->hurry();
  }
  nodes_.push_back(std::move(node));
}

void Cluster::set_arriving(std::shared_ptr<Node> node) {
  const std::lock_guard guard(mutex_);
  arriving_ = std::move(node);
  if (arriving_ != nullptr && interrupted_) {
    arriving_->hurry();
  }
}

void Cluster::interrupt() {
  const std::lock_guard guard(mutex_);
  interrupted_ = true;
  if (arriving_ != nullptr) {
    arriving_->hurry();
  }
  for (const std::shared_ptr<Node>& node : nodes_) {
    node->hurry();
  }
}

// Every listener is open before any node starts, so that each knows where the others are.
Result<void> Cluster::start_nodes() {
  if (options_.controllers <= 0) {
    options_.controllers = std::min<std::int32_t>(options_.nodes, kControllers);
  }
  for (std::int32_t i = 0; i < options_.nodes; ++i) {
    ListenOptions listen = options_.listen;
    if (i > 0 && listen.port != 0) {
      listen.port = static_cast<std::uint16_t>(nodes_.front()->port() + i);
    }
    if (i > 0) {
      listen.controller_port = 0;  // the one that was asked for is the first node's
    }
    std::shared_ptr<Node> node = make_node(BrokerId(options_.node_id.value_or(1) + i), listen);
    Result<void> bound = node->bind();
    if (!bound && i > 0 && bound.error().code == Errc::in_use) {
      listen.port = 0;  // clients find the others through the first
      node = make_node(BrokerId(options_.node_id.value_or(1) + i), listen);
      bound = node->bind();
    }
    HW_CHECK(std::move(bound));
    keep_node(std::move(node));
  }
  return start_all();
}

Result<void> Cluster::start_all() {
  controllers_.clear();
  bool fresh = true;
  Prng ids(options_.seed);
  std::string cluster_id = Uuid::random(ids).text();
  for (const std::shared_ptr<Node>& node : nodes_) {
    const api::NodeOptions& core = node->core_options();
    if (const Result<log::MetaProperties> meta = log::LogManager::read_meta(*disk_, core.directory)) {
      cluster_id = fresh ? meta->cluster_id : cluster_id;  // all of them are of the first one's cluster, or do not start
      fresh = false;
    }
    if (core.controller && !options_.member) {
      controllers_.push_back({core.node, Uuid::random(ids), core.controller_host, core.controller_port});
    }
  }
  for (const std::shared_ptr<Node>& node : nodes_) {
    tell_controllers(*node);
    if (nodes_.size() > 1) {
      node->core_options().cluster_id = cluster_id;
      if (fresh) {
        node->core_options().initial_voters = controllers_;
      }
    }
    HW_CHECK(node->start());
  }
  for (const std::shared_ptr<Node>& node : nodes_) {
    if (!node->wait_ready(kReadyWithin)) {
      if (interrupted_) {
        return fail(Errc::closed, "it was told to end while it started");
      }
      return fail(Errc::closed, "node " + std::to_string(node->id().value()) + " did not become ready within " +
                                    std::to_string(kReadyWithin.ms() / 1000) +
                                    " s: no majority of the controllers answers, or its broker stays fenced");
    }
  }
  return {};
}

void Cluster::tell_controllers(Node& node) const {
  if (size() > 1) {
    node.core_options().controllers = controllers_;
  }
}

Result<std::shared_ptr<Node>> Cluster::find(BrokerId id) const {
  const std::lock_guard guard(mutex_);
  for (const std::shared_ptr<Node>& node : nodes_) {
    if (node->id() == id) {
      return node;
    }
  }
  return fail(Errc::not_found, "there is no node " + std::to_string(id.value()) + " in this cluster");
}

std::vector<BrokerId> Cluster::node_ids() const {
  const std::lock_guard guard(mutex_);
  std::vector<BrokerId> ids;
  for (const std::shared_ptr<Node>& node : nodes_) {
    ids.push_back(node->id());
  }
  return ids;
}

bool Cluster::is_controller(BrokerId id) const {
  return options_.member ? options_.member->controller : id.value() - options_.node_id.value_or(1) < options_.controllers;
}

Cluster::NodeState Cluster::state_of(BrokerId id) const {
  const Result<std::shared_ptr<Node>> node = find(id);
  if (!node || !(*node)->running()) {
    return NodeState::stopped;
  }
  return (*node)->paused() ? NodeState::paused : NodeState::running;
}

Result<void> Cluster::start_node(BrokerId id) {
  HW_TRY(const std::shared_ptr<Node> old, find(id));
  if (old->running()) {
    return fail(Errc::invalid, "node " + std::to_string(id.value()) + " runs already");
  }
  if (interrupted_) {
    return fail(Errc::closed, "the cluster ends");
  }
  old->kill();  // one that ended by itself holds its folder until somebody takes it away
  ListenOptions listen = options_.listen;
  listen.port = old->port();
  listen.controller_port = old->controller_port();
  const std::shared_ptr<Node> node = make_node(id, std::move(listen));
  HW_CHECK(node->bind());
  tell_controllers(*node);
  if (!options_.member) {
    node->core_options().cluster_id = cluster_id();
  }
  HW_CHECK(node->start());
  {
    const std::lock_guard guard(mutex_);
    std::replace(nodes_.begin(), nodes_.end(), old, node);
    if (interrupted_) {
      node->hurry();
    }
  }
  apply_links(id);
  return {};
}

Result<void> Cluster::stop_node(BrokerId id) {
  HW_TRY(const std::shared_ptr<Node> node, find(id));
  return node->leave(kLeaveWithin);
}

Result<void> Cluster::kill_node(BrokerId id) {
  HW_TRY(const std::shared_ptr<Node> node, find(id));
  node->kill();
  return {};
}

Result<env::PowerDisk::Loss> Cluster::cut_power(BrokerId id) {
  HW_CHECK(kill_node(id));  // with all of its disk jobs: nobody writes any more
  return disk_of(id)->cut();
}

Result<BrokerId> Cluster::add_node() {
  if (options_.member) {
    return fail(Errc::invalid, "this process is one node of a cluster of several processes; start another one with --node and --join");
  }
  if (interrupted_) {
    return fail(Errc::closed, "the cluster ends");
  }
  const std::vector<BrokerId> ids = node_ids();
  const BrokerId id(std::max_element(ids.begin(), ids.end())->value() + 1);
  ListenOptions listen = options_.listen;
  listen.port = listen.controller_port = listen.advertised_port = 0;
  const std::shared_ptr<Node> node = make_node(id, std::move(listen));
  node->core_options().controllers = controllers_;
  node->core_options().cluster_id = cluster_id();
  HW_CHECK(node->bind());
  HW_CHECK(node->start());
  set_arriving(node);
  const bool ready = node->wait_ready(kReadyWithin);
  set_arriving(nullptr);
  if (!ready) {
    node->kill();
    return fail(Errc::closed, "node " + std::to_string(id.value()) + " did not become ready within " +
                                  std::to_string(kReadyWithin.ms() / 1000) + " s: no active controller takes its registration");
  }
  keep_node(node);
  return id;
}

Result<void> Cluster::remove_node(BrokerId id) {
  HW_TRY(const std::shared_ptr<Node> node, find(id));
  if (is_controller(id)) {
    return fail(Errc::invalid, "node " + std::to_string(id.value()) + " votes in the controller quorum and cannot be removed");
  }
  if (node->running()) {
    return fail(Errc::invalid, "node " + std::to_string(id.value()) + " runs; stop it first");
  }
  const std::lock_guard guard(mutex_);
  std::erase(nodes_, node);
  disks_.erase(id);
  std::erase_if(links_, [&](const auto& entry) { return entry.first.first == id || entry.first.second == id; });
  return {};
}

Result<void> Cluster::slow_node(BrokerId id, Duration each) {
  HW_TRY(const std::shared_ptr<Node> node, find(id));
  node->slow(each);
  return {};
}

Result<void> Cluster::pause_node(BrokerId id) {
  HW_TRY(const std::shared_ptr<Node> node, find(id));
  if (!node->running()) {
    return fail(Errc::invalid, "node " + std::to_string(id.value()) + " does not run");
  }
  node->pause();
  return {};
}

Result<void> Cluster::resume_node(BrokerId id) {
  HW_TRY(const std::shared_ptr<Node> node, find(id));
  node->resume();
  return {};
}

Result<void> Cluster::set_link(BrokerId from, BrokerId to, Link link, bool both) {
  if (from == to) {
    return fail(Errc::invalid, "a node has no link to itself");
  }
  // The other end of a member's link is in another process, which has to be told as well.
  if (!options_.member || (!find(from) && !find(to))) {
    HW_CHECK(find(from));
    HW_CHECK(find(to));
  }
  {
    const std::lock_guard guard(mutex_);
    linked_.insert({from, to});
    const auto set = [&](BrokerId a, BrokerId b) {
      if (link.cut || link.delay > Duration{}) {
        links_.insert_or_assign({a, b}, link);
      } else {
        links_.erase({a, b});
      }
    };
    set(from, to);
    if (both) {
      set(to, from);
    }
  }
  apply_links(from);
  apply_links(to);
  return {};
}

void Cluster::heal() {
  {
    const std::lock_guard guard(mutex_);
    links_.clear();
  }
  for (const BrokerId id : node_ids()) {
    apply_links(id);
  }
}

std::map<std::pair<BrokerId, BrokerId>, Cluster::Link> Cluster::links() const {
  const std::lock_guard guard(mutex_);
  return links_;
}

void Cluster::apply_links(BrokerId id) {
  const std::lock_guard guard(mutex_);
  for (const std::shared_ptr<Node>& node : nodes_) {
    if (node->id() != id || !node->running()) {
      continue;
    }
    for (const BrokerId other : linked_) {
      if (other != id) {
        const auto out = links_.find({id, other});
        const auto in = links_.find({other, id});
        PeerLinks::Held held;
        held.out = out != links_.end() && out->second.cut;
        held.in = in != links_.end() && in->second.cut;
        held.delay = out == links_.end() ? Duration{} : out->second.delay;
        node->hold(other, held);
      }
    }
  }
}

Result<void> Cluster::stop() {
  if (options_.member && !nodes_.empty()) {  // the others go on
    nodes_.front()->hurry(false);
    Result<void> left = nodes_.front()->leave(kLeaveWithin);
    kill();
    return left;
  }
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
  for (const std::shared_ptr<Node>& node : nodes_) {
    HW_CHECK(node->stop());
  }
  forget_nodes();
  options_.listen.port = port_now;
  Result<void> copied = copy_tree(*disk_, kMemoryRoot, *target, directory);
  const std::shared_ptr<env::Disk> memory = disk_;
  if (copied) {
    disk_ = target;
    disks_.clear();
    options_.memory = false;
    options_.directory = directory;
    copied = start_nodes();
  }
  if (!copied) {
    forget_nodes();
    (void)target->remove_tree(directory);
    if (existed) {
      (void)target->make_directories(directory);
    }
    disk_ = memory;
    disks_.clear();
    options_.memory = true;
    options_.directory.clear();
    HW_CHECK(start_nodes());
  }
  return copied;
}

// A Node that still runs ends at once.
void Cluster::forget_nodes() {
  std::vector<std::shared_ptr<Node>> gone;
  {
    const std::lock_guard guard(mutex_);
    gone.swap(nodes_);
  }
}

void Cluster::kill() {
  forget_nodes();
  pool_.reset();
  observer_.reset();
}

const std::string& Cluster::cluster_id() const noexcept {
  static const std::string none;
  return nodes_.empty() ? none : nodes_.front()->cluster_id();
}

std::uint16_t Cluster::port() const noexcept {
  if (nodes_.empty()) {
    return 0;
  }
  return nodes_.front()->port() != 0 ? nodes_.front()->port() : nodes_.front()->controller_port();  // of a controller alone
}

std::string Cluster::bootstrap() const {
  const std::string& address = options_.listen.address;
  const std::string host = address == "0.0.0.0" || address == "::" ? "127.0.0.1" : address;
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port());
}

std::string Cluster::bootstrap_list() const {
  const std::string first = bootstrap();
  const std::string host = first.substr(0, first.rfind(':') + 1);
  std::string all = first;
  const std::lock_guard guard(mutex_);
  for (const std::shared_ptr<Node>& node : nodes_) {
    if (node != nodes_.front() && node->port() != 0) {
      all += "," + host + std::to_string(node->port());
    }
  }
  return all;
}

bool Cluster::post(BrokerId id, std::function<void(api::NodeCore&, api::Now, api::Outputs&)> work) {
  const Result<std::shared_ptr<Node>> node = find(id);
  if (!node || !(*node)->running()) {
    return false;
  }
  (*node)->post(std::move(work));
  return true;
}

observe::ViewPtr Cluster::view() {
  HW_ASSERT(observer_ != nullptr, "a view needs ClusterOptions::observe");
  return observer_->latest();
}

}  // namespace hw::node
