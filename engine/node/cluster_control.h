// SPDX-License-Identifier: Apache-2.0
// ClusterControl: carries the commands of control_commands.h out on a Cluster of this process, and says how it stands.
//
// Thread rule: every function from any thread. A command returns when it is done, which a clean stop may take 15 seconds to be, so
// never call run() on a UI thread. Of two commands about the same node at once the second is refused; what only tells never waits
// for what changes. The cluster outlives the control, and between start() and the end of the control only the control changes nodes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/node/cluster.h"
#include "engine/node/control_commands.h"

namespace hw::node {

class ClientRunner;

class ClusterControl {
 public:
  explicit ClusterControl(Cluster& cluster);
  ~ClusterControl();
  ClusterControl(const ClusterControl&) = delete;
  ClusterControl& operator=(const ClusterControl&) = delete;

  // Errors: Errc::not_found: no such command or node. Errc::invalid: an argument. Errc::in_use: the node's state does not allow it,
  // or another command is busy with it. Errc::closed: it did not come about in time. Of several nodes, those before the one that
  // failed are done.
  Result<Value> run(std::string_view command, const Value& arguments);

  // What was done to a node by commands, whoever gave them. Asks no node, waits for nothing.
  struct Condition {
    BrokerId node;
    Cluster::NodeState state = Cluster::NodeState::running;
    bool killed = false;                       // stopped, without a shutdown
    std::optional<env::PowerDisk::Loss> lost;  // by a power cut, while it is stopped
    bool cut_off = false;                      // no way to and from any other node
    bool some_way_cut = false;                 // of those, one at least
    bool slow = false;                         // it, or one of its ways
    bool busy = false;                         // a command is busy with it
  };
  [[nodiscard]] std::vector<Condition> conditions() const;  // by id
  // Called after conditions() changed, on the thread of whoever gave the command, without a lock; nothing: nobody listens any more,
  // which is sure when this returns.
  void on_change(std::function<void()> changed);

 private:
  struct Faults {
    std::string ended;  // "stopped" or "killed"; empty: it was not ended by a command
    std::optional<env::PowerDisk::Loss> lost;  // it was ended by a power cut
    std::int64_t slow_ms = 0;
    std::map<std::string, std::int64_t> since;  // of each fault, wall milliseconds
  };
  class Busy;

  Result<Value> run(const ControlCommand& command, const ControlArguments& arguments);
  Result<void> on_node(ControlAction action, BrokerId id, const ControlArguments& arguments);
  Result<void> stop(BrokerId id, Cluster::NodeState state);
  Result<void> kill(BrokerId id, bool power_cut);
  Result<void> start(BrokerId id, Cluster::NodeState state, std::int64_t wait_ms);
  Result<void> remove(BrokerId id);
  Result<void> unregister(BrokerId id);
  Result<void> links(ControlAction action, const ControlArguments& arguments);
  Result<void> heal();
  Result<void> known(const std::vector<BrokerId>& ids) const;
  void changed();
  [[nodiscard]] Value status();
  [[nodiscard]] Value node_status(BrokerId id, const std::optional<api::NodeCore::Standing>& standing, const api::NodeCore::Standing* best);
  [[nodiscard]] Value statuses_of(const std::vector<BrokerId>& ids);
  [[nodiscard]] Value links_status();
  [[nodiscard]] std::map<BrokerId, std::optional<api::NodeCore::Standing>> ask(const std::vector<BrokerId>& ids);

  Cluster& cluster_;
  std::mutex adding_;  // one broker at a time
  mutable std::mutex mutex_;  // of what follows; never held while something waits
  std::map<BrokerId, std::string> busy_;  // what is being done with it, for people
  std::map<BrokerId, Faults> faults_;
  std::map<std::pair<BrokerId, BrokerId>, std::int64_t> links_since_;
  std::mutex listening_;  // held while the listener is called
  std::function<void()> listener_;
  std::unique_ptr<ClientRunner> clients_;  // for node.remove; made when it is first needed
};

}  // namespace hw::node
