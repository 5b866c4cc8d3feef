// SPDX-License-Identifier: Apache-2.0
// Cluster: the nodes of this process, their disk, pool and observer. What the window, the daemon and tests start.
//
// Thread rule: one thread calls start(), stop(), keep() and kill(). What is about single nodes may be called from any thread
// between start() and the end, but never twice at once for the same node (ClusterControl sees to that).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/env/disk.h"
#include "engine/env/power_disk.h"
#include "engine/node/disk_pool.h"
#include "engine/node/node.h"
#include "engine/observe/observer.h"

namespace hw::node {

struct ClusterOptions {
  std::int32_t nodes = 1;
  std::int32_t controllers = 0;  // the first so many nodes vote in the quorum as well; 0: three, or as many as there are
  bool memory = true;
  std::string directory;                       // on disk: one folder per node below it
  std::vector<std::string> more_directories;   // further log directories (log.dirs), on disk only
  std::uint64_t memory_limit_bytes = 0;        // memory mode; 0: half of the machine's memory
  ListenOptions listen;
  std::map<std::string, std::string> configs;  // Kafka's broker keys
  std::map<std::int32_t, std::map<std::string, std::string>> node_configs;  // of single nodes, by id; they win
  std::optional<std::int32_t> node_id;         // of the first node; 1 unless given
  // One node of a cluster whose others are in processes of their own. REQUIRES: nodes is 1.
  struct Member {
    bool broker = true;
    bool controller = true;
    std::string cluster_id;                           // of the format; empty: drawn
    std::vector<api::ControllerPeer> initial_voters;  // of a new cluster, by the format; empty: those of `controllers` with ids
    std::vector<api::ControllerPeer> controllers;     // where they are; without ids: where to ask
  };
  std::optional<Member> member;
  std::uint64_t seed = 0;                      // 0: drawn from the operating system
  bool observe = false;                        // events, views; the daemon alone goes without
  std::function<void()> wake;                  // observe: a new view is there (observer's thread)
  // Tests: the disk that a node gets instead of the one that all share; as Disk, for any thread.
  std::function<std::shared_ptr<env::Disk>(BrokerId, std::shared_ptr<env::Disk>)> disk_of;
};

class Cluster {
 public:
  explicit Cluster(ClusterOptions options);
  ~Cluster();  // kill where stop() was not called
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Errors as Node::start(). Nothing is left running after an error. Returns when every node serves.
  Result<void> start();
  Result<void> stop();  // all at once, cleanly: nobody hands over to nodes that stop as well
  void kill();
  // The process is to end: whatever waits for nodes here (a start, a node that hands over) gives up at once, and nothing begins any
  // more. Any thread, also while another one is inside of start(). stop() waits for a member that hands over nevertheless, unless this is
  // called once more.
  void interrupt();
  [[nodiscard]] bool interrupted() const noexcept { return interrupted_.load(); }

  // --- single nodes; Errc::not_found for an id that is not one, Errc::invalid for what its state does not allow
  enum class NodeState : std::uint8_t { running, paused, stopped };
  [[nodiscard]] NodeState state_of(BrokerId id) const;
  Result<void> start_node(BrokerId id);  // the same data, the same ports
  Result<void> stop_node(BrokerId id);   // after a controlled shutdown
  Result<void> kill_node(BrokerId id);
  // The same as if the node's machine had lost power: of each of its files is gone what was never flushed. In memory mode too: only
  // what a disk would have been told to keep is there afterwards.
  Result<env::PowerDisk::Loss> cut_power(BrokerId id);
  // A broker more: the lowest unused id behind those there are, ports from the kernel. Returns when it serves; after an error it is
  // not there.
  Result<BrokerId> add_node();
  // Forgets a node that does not run. Errc::invalid for one that votes. Its folder stays.
  Result<void> remove_node(BrokerId id);
  Result<void> slow_node(BrokerId id, Duration each);
  Result<void> pause_node(BrokerId id);
  Result<void> resume_node(BrokerId id);
  // Cuts, slows or heals the way between nodes; `both`: in both directions, otherwise only what `from` sends to `to` is held.
  // Of a member, one end is enough: what this process does to the link is done, the other end is for the other process.
  struct Link {
    bool cut = false;
    Duration delay{};
  };
  Result<void> set_link(BrokerId from, BrokerId to, Link link, bool both);
  void heal();  // every link
  [[nodiscard]] std::map<std::pair<BrokerId, BrokerId>, Link> links() const;  // those that are cut or slow, by direction
  [[nodiscard]] Result<std::shared_ptr<Node>> find(BrokerId id) const;
  [[nodiscard]] bool is_controller(BrokerId id) const;
  // Memory mode: stops cleanly, copies every file to `directory`, which must be empty or new, and starts again there on
  // the same port; clients reconnect. After an error the cluster runs on in memory, and what was copied is removed.
  Result<void> keep(const std::string& directory);

  [[nodiscard]] const std::string& cluster_id() const noexcept;
  [[nodiscard]] std::uint16_t port() const noexcept;       // of the first node
  [[nodiscard]] std::string bootstrap() const;             // address:port of the first node's listener
  // Of every node, the first one first: who starts with all of them finds the cluster when some are down.
  [[nodiscard]] std::string bootstrap_list() const;
  // On the thread of that node. False, and nothing done: no such node, or it does not run. Dropped where the node ends first.
  bool post(BrokerId id, std::function<void(api::NodeCore&, api::Now, api::Outputs&)> work);
  [[nodiscard]] Node& node(std::size_t index) {
    const std::lock_guard guard(mutex_);
    return *nodes_[index];
  }
  [[nodiscard]] std::vector<BrokerId> node_ids() const;
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard guard(mutex_);
    return nodes_.size();
  }
  [[nodiscard]] observe::ViewPtr view();                   // REQUIRES: observe
  [[nodiscard]] observe::Observer* observer() noexcept { return observer_.get(); }
  [[nodiscard]] const ClusterOptions& options() const noexcept { return options_; }

 private:
  Result<void> start_nodes();
  Result<void> start_all();
  [[nodiscard]] std::unique_ptr<Node> make_node(BrokerId id, ListenOptions listen);
  [[nodiscard]] std::shared_ptr<env::PowerDisk> disk_of(BrokerId id);
  void apply_links(BrokerId id);
  void keep_node(std::shared_ptr<Node> node);
  void forget_nodes();
  void set_arriving(std::shared_ptr<Node> node);
  void tell_controllers(Node& node) const;

  ClusterOptions options_;
  std::shared_ptr<env::Disk> disk_;
  std::map<BrokerId, std::shared_ptr<env::PowerDisk>> disks_;  // of each node, over disk_: what of its files is stable
  std::unique_ptr<observe::Observer> observer_;
  std::unique_ptr<DiskPool> pool_;
  mutable std::mutex mutex_;  // of nodes_, where they are changed one by one, of links_ and disks_
  std::vector<std::shared_ptr<Node>> nodes_;  // by id; one that was stopped stays, to be replaced when it starts
  std::shared_ptr<Node> arriving_;  // one that is added, until it serves
  std::vector<api::ControllerPeer> controllers_;
  std::uint32_t lives_ = 0;  // of nodes, all together
  std::atomic<bool> interrupted_{false};
  std::map<std::pair<BrokerId, BrokerId>, Link> links_;  // by direction; only those that are not as they should be
  std::set<BrokerId> linked_;  // whose links were ever changed
};

}  // namespace hw::node
