// SPDX-License-Identifier: Apache-2.0
#include "engine/node/cluster_control.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "engine/node/client_runner.h"
#include "engine/wire/msg/unregister_broker.h"

namespace hw::node {
namespace {

constexpr std::int64_t kStartWithin = 10'000;
constexpr std::chrono::milliseconds kAnswerWithin{300};  // what a status waits for nodes that hang
constexpr Duration kUnregisterWithin = seconds(10);

std::int64_t wall_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string name_of(BrokerId id) { return "node " + std::to_string(id.value()); }

}  // namespace

// Takes a node for one command; nothing is taken where somebody else has it.
class ClusterControl::Busy {
 public:
  Busy(ClusterControl& control, BrokerId id, const std::string& doing) : control_(control), id_(id) {
    {
      const std::lock_guard guard(control_.mutex_);
      const auto [at, taken] = control_.busy_.try_emplace(id, doing);
      taken_ = taken;
      other_ = at->second;
    }
    if (taken_) {
      control_.changed();
    }
  }
  ~Busy() {
    if (taken_) {
      {
        const std::lock_guard guard(control_.mutex_);
        control_.busy_.erase(id_);
      }
      control_.changed();
    }
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  Result<void> taken() const {
    if (!taken_) {
      return fail(Errc::in_use, name_of(id_) + " is " + other_ + "; try again when that is done");
    }
    return {};
  }

 private:
  ClusterControl& control_;
  BrokerId id_;
  std::string other_;
  bool taken_ = false;
};

ClusterControl::ClusterControl(Cluster& cluster) : cluster_(cluster) {}
ClusterControl::~ClusterControl() = default;

void ClusterControl::on_change(std::function<void()> changed) {
  const std::lock_guard guard(listening_);
  listener_ = std::move(changed);
}

void ClusterControl::changed() {
  const std::lock_guard guard(listening_);
  if (listener_) {
    listener_();
  }
}

std::vector<ClusterControl::Condition> ClusterControl::conditions() const {
  const std::vector<BrokerId> ids = cluster_.node_ids();
  const auto active = cluster_.links();
  std::vector<Condition> out;
  const std::lock_guard guard(mutex_);
  for (const BrokerId id : ids) {
    Condition& one = out.emplace_back();
    one.node = id;
    one.state = cluster_.state_of(id);
    one.busy = busy_.count(id) != 0;
    if (const auto found = faults_.find(id); found != faults_.end()) {
      const bool down = one.state == Cluster::NodeState::stopped;
      one.killed = down && found->second.ended == "killed";
      one.lost = down ? found->second.lost : std::nullopt;
      one.slow = found->second.slow_ms > 0;
    }
    std::size_t cut = 0;
    for (const auto& [way, link] : active) {
      if (way.first == id || way.second == id) {
        cut += link.cut ? 1 : 0;
        one.slow = one.slow || link.delay > Duration{};
      }
    }
    one.some_way_cut = cut > 0;
    one.cut_off = ids.size() > 1 && cut == 2 * (ids.size() - 1);
  }
  return out;
}

Result<Value> ClusterControl::run(std::string_view command, const Value& arguments) {
  const ControlCommand* row = find_command(command);
  if (row == nullptr) {
    std::string names;
    for (const ControlCommand& one : control_commands()) {
      names += (names.empty() ? "" : ", ") + std::string(one.name);
    }
    return fail(Errc::not_found, "there is no command '" + std::string(command) + "'; there are " + names);
  }
  HW_TRY(const ControlArguments read, read_arguments(*row, arguments));
  return run(*row, read);
}

Result<Value> ClusterControl::run(const ControlCommand& command, const ControlArguments& arguments) {
  HW_CHECK(known(arguments.nodes));
  if (!cluster_.options().member) {  // a member's links lead out of this process; set_link() sees to the end that is here
    HW_CHECK(known(arguments.from));
    HW_CHECK(known(arguments.to));
  }
  switch (command.action) {
    case ControlAction::cluster_status:
      return status();
    case ControlAction::cluster_heal:
      HW_CHECK(heal());
      changed();
      return status();
    case ControlAction::link_cut:
    case ControlAction::link_slow:
    case ControlAction::link_heal:
      HW_CHECK(links(command.action, arguments));
      changed();
      return Value::object().set("links", links_status());
    case ControlAction::node_add: {
      const std::lock_guard guard(adding_);
      HW_TRY(const BrokerId id, cluster_.add_node());
      changed();
      return statuses_of({id});
    }
    default:
      for (const BrokerId id : arguments.nodes) {
        HW_CHECK(on_node(command.action, id, arguments));
      }
      return command.action == ControlAction::node_remove ? status() : statuses_of(arguments.nodes);
  }
}

Result<void> ClusterControl::known(const std::vector<BrokerId>& ids) const {
  const std::vector<BrokerId> all = cluster_.node_ids();
  for (const BrokerId id : ids) {
    if (std::find(all.begin(), all.end(), id) == all.end()) {
      std::string names;
      for (const BrokerId one : all) {
        names += (names.empty() ? "" : ", ") + std::to_string(one.value());
      }
      return fail(Errc::not_found, "there is no " + name_of(id) + " in this process; there are " + names);
    }
  }
  return {};
}

Result<void> ClusterControl::on_node(ControlAction action, BrokerId id, const ControlArguments& arguments) {
  const char* doing = action == ControlAction::node_start    ? "starting"
                      : action == ControlAction::node_stop   ? "stopping"
                      : action == ControlAction::node_remove ? "being removed"
                                                             : "busy";
  const Busy busy(*this, id, doing);
  HW_CHECK(busy.taken());
  const Cluster::NodeState state = cluster_.state_of(id);
  const auto refuse_stopped = [&]() -> Result<void> {
    if (state == Cluster::NodeState::stopped) {
      return fail(Errc::in_use, name_of(id) + " does not run; node.start starts it");
    }
    return {};
  };
  const auto note = [&](const char* fault, bool active) {
    const std::lock_guard guard(mutex_);
    Faults& mine = faults_[id];
    active ? static_cast<void>(mine.since.try_emplace(fault, wall_ms())) : static_cast<void>(mine.since.erase(fault));
  };
  switch (action) {
    case ControlAction::node_start:
      return start(id, state, arguments.wait_ms >= 0 ? arguments.wait_ms : kStartWithin);
    case ControlAction::node_stop:
      HW_CHECK(refuse_stopped());
      return stop(id, state);
    case ControlAction::node_remove:
      return remove(id);
    case ControlAction::node_kill:
      HW_CHECK(refuse_stopped());
      return kill(id, arguments.power_cut);
    case ControlAction::node_pause:
      HW_CHECK(refuse_stopped());
      HW_CHECK(cluster_.pause_node(id));
      note("paused", true);
      return {};
    case ControlAction::node_resume:
      HW_CHECK(refuse_stopped());
      HW_CHECK(cluster_.resume_node(id));
      note("paused", false);
      return {};
    case ControlAction::node_slow: {
      HW_CHECK(refuse_stopped());
      HW_CHECK(cluster_.slow_node(id, milliseconds(arguments.delay_ms)));
      note("slow", arguments.delay_ms > 0);
      const std::lock_guard guard(mutex_);
      faults_[id].slow_ms = arguments.delay_ms;
      return {};
    }
    default:
      return fail(Errc::unsupported, "this command is not about a node");
  }
}

Result<void> ClusterControl::stop(BrokerId id, Cluster::NodeState state) {
  if (state == Cluster::NodeState::paused) {
    return fail(Errc::in_use, name_of(id) + " is paused and cannot hand over; resume it first, or kill it");
  }
  HW_CHECK(cluster_.stop_node(id));
  const std::lock_guard guard(mutex_);
  faults_[id] = {"stopped", {}, 0, {{"stopped", wall_ms()}}};
  return {};
}

Result<void> ClusterControl::kill(BrokerId id, bool power_cut) {
  std::optional<env::PowerDisk::Loss> lost;
  if (power_cut) {
    HW_TRY(lost, cluster_.cut_power(id));
  } else {
    HW_CHECK(cluster_.kill_node(id));
  }
  const std::lock_guard guard(mutex_);
  faults_[id] = {"killed", lost, 0, {{power_cut ? "power cut" : "killed", wall_ms()}}};
  return {};
}

Result<void> ClusterControl::start(BrokerId id, Cluster::NodeState state, std::int64_t wait_ms) {
  if (state != Cluster::NodeState::stopped) {
    return fail(Errc::in_use, name_of(id) + " runs already" + (state == Cluster::NodeState::paused ? ", but is paused; node.resume lets it go on" : ""));
  }
  HW_CHECK(cluster_.start_node(id));
  {
    const std::lock_guard guard(mutex_);
    faults_.erase(id);
  }
  HW_TRY(const std::shared_ptr<Node> node, cluster_.find(id));
  (void)node->wait_ready(milliseconds(wait_ms));  // the status says whether it serves
  return {};
}

Result<void> ClusterControl::remove(BrokerId id) {
  if (cluster_.is_controller(id)) {
    return fail(Errc::in_use, name_of(id) + " votes in the controller quorum and cannot be removed; brokers without a vote can");
  }
  if (cluster_.state_of(id) == Cluster::NodeState::paused) {
    HW_CHECK(cluster_.resume_node(id));
  }
  if (cluster_.state_of(id) == Cluster::NodeState::running) {
    HW_CHECK(cluster_.stop_node(id));
  }
  HW_CHECK(unregister(id));
  HW_CHECK(cluster_.remove_node(id));
  const std::lock_guard guard(mutex_);
  faults_.erase(id);
  std::erase_if(links_since_, [&](const auto& entry) { return entry.first.first == id || entry.first.second == id; });
  return {};
}

// As a client of the cluster, through any node that runs.
Result<void> ClusterControl::unregister(BrokerId id) {
  std::string bootstrap;
  for (const BrokerId other : cluster_.node_ids()) {
    const Result<std::shared_ptr<Node>> node = cluster_.find(other);
    if (other != id && node && (*node)->port() != 0 && cluster_.state_of(other) == Cluster::NodeState::running) {
      const std::string& address = cluster_.options().listen.address;
      const std::string host = address == "0.0.0.0" || address == "::" ? "127.0.0.1" : address;
      bootstrap += (bootstrap.empty() ? "" : ",") + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string((*node)->port());
    }
  }
  if (bootstrap.empty()) {
    return fail(Errc::in_use, name_of(id) + " cannot be unregistered: no other broker runs");
  }
  ClientRunner* clients = nullptr;
  {
    const std::lock_guard guard(mutex_);
    if (clients_ == nullptr) {
      clients_ = std::make_unique<ClientRunner>();
    }
    clients = clients_.get();
  }
  wire::UnregisterBrokerRequest request;
  request.broker_id = id;
  client::CallOptions options;
  options.timeout = kUnregisterWithin;
  auto answered = std::make_shared<std::promise<Result<wire::UnregisterBrokerResponse>>>();
  std::future<Result<wire::UnregisterBrokerResponse>> answer = answered->get_future();
  clients->call<wire::UnregisterBrokerResponse>(bootstrap, client::Target::controller(), std::move(request),
                                                [answered](Result<wire::UnregisterBrokerResponse> got) { answered->set_value(std::move(got)); }, options);
  while (answer.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
    if (cluster_.interrupted()) {
      return fail(Errc::closed, name_of(id) + " is stopped, but not unregistered: the cluster ends");
    }
  }
  const Result<wire::UnregisterBrokerResponse> response = answer.get();
  if (!response) {
    return fail(Errc::closed, name_of(id) + " is stopped, but could not be unregistered: " + response.error().detail);
  }
  if (response->error_code != wire::ErrorCode::none && response->error_code != wire::ErrorCode::broker_id_not_registered) {
    return fail(Errc::closed, name_of(id) + " is stopped, but the controller did not unregister it: " +
                                  response->error_message.value_or("error " + std::to_string(static_cast<int>(response->error_code))));
  }
  return {};
}

Result<void> ClusterControl::links(ControlAction action, const ControlArguments& arguments) {
  Cluster::Link link;
  link.cut = action == ControlAction::link_cut;
  link.delay = action == ControlAction::link_slow ? milliseconds(arguments.delay_ms) : Duration{};
  bool any = false;
  for (const BrokerId from : arguments.from) {
    for (const BrokerId to : arguments.to) {
      if (from != to) {
        HW_CHECK(cluster_.set_link(from, to, link, !arguments.one_way));
        any = true;
      }
    }
  }
  if (!any) {
    return fail(Errc::invalid, "a node has no link to itself; name another one in 'to'");
  }
  const std::int64_t now = wall_ms();
  const auto active = cluster_.links();
  const std::lock_guard guard(mutex_);
  std::erase_if(links_since_, [&](const auto& entry) { return active.count(entry.first) == 0; });
  for (const auto& [way, unused] : active) {
    links_since_.try_emplace(way, now);
  }
  return {};
}

Result<void> ClusterControl::heal() {
  cluster_.heal();
  {
    const std::lock_guard guard(mutex_);
    links_since_.clear();
  }
  for (const BrokerId id : cluster_.node_ids()) {
    const Busy busy(*this, id, "being healed");
    if (!busy.taken()) {
      continue;  // it is being started or stopped: neither slow nor paused afterwards
    }
    if (cluster_.state_of(id) == Cluster::NodeState::paused) {
      HW_CHECK(cluster_.resume_node(id));
    }
    HW_CHECK(cluster_.slow_node(id, Duration{}));
    const std::lock_guard guard(mutex_);
    faults_[id].slow_ms = 0;
    faults_[id].since.erase("paused");
    faults_[id].since.erase("slow");
  }
  return {};
}

// All at once, so that nodes which hang cost their time once.
std::map<BrokerId, std::optional<api::NodeCore::Standing>> ClusterControl::ask(const std::vector<BrokerId>& ids) {
  using Standing = api::NodeCore::Standing;
  std::map<BrokerId, std::future<Standing>> asked;
  std::map<BrokerId, std::optional<Standing>> out;
  for (const BrokerId id : ids) {
    out[id] = std::nullopt;
    const Result<std::shared_ptr<Node>> node = cluster_.find(id);
    if (node && cluster_.state_of(id) == Cluster::NodeState::running) {
      auto promise = std::make_shared<std::promise<Standing>>();
      asked.emplace(id, promise->get_future());
      (*node)->post([promise](api::NodeCore& core, api::Now, api::Outputs&) { promise->set_value(core.standing()); });
    }
  }
  const auto until = std::chrono::steady_clock::now() + kAnswerWithin;
  for (auto& [id, future] : asked) {
    if (future.wait_until(until) == std::future_status::ready) {
      try {
        out[id] = future.get();
      } catch (const std::future_error&) {  // the node ended with the question
        out[id] = std::nullopt;
      }
    }
  }
  return out;
}

Value ClusterControl::node_status(BrokerId id, const std::optional<api::NodeCore::Standing>& standing, const api::NodeCore::Standing* best) {
  Faults faults;
  std::string busy;
  {
    const std::lock_guard guard(mutex_);
    if (const auto found = faults_.find(id); found != faults_.end()) {
      faults = found->second;
    }
    if (const auto found = busy_.find(id); found != busy_.end() && found->second != "busy") {
      busy = found->second;
    }
  }
  const Cluster::NodeState state = cluster_.state_of(id);
  Value out = Value::object();
  out.set("node", id.value());
  Value::List roles;
  const Result<std::shared_ptr<Node>> node = cluster_.find(id);
  if (!cluster_.options().member || cluster_.options().member->broker) {
    roles.emplace_back("broker");
  }
  if (cluster_.is_controller(id)) {
    roles.emplace_back("controller");
  }
  out.set("roles", std::move(roles));
  const std::string plain = state == Cluster::NodeState::running  ? "running"
                            : state == Cluster::NodeState::paused ? "paused"
                            : node && !(*node)->failure().empty() ? "failed"
                            : faults.ended.empty()                ? "stopped"
                                                                  : faults.ended;
  out.set("state", busy.empty() ? plain : busy);
  const auto port = [&](std::uint16_t number) { return number != 0 ? Value(std::int64_t{number}) : Value(); };
  out.set("port", node ? port((*node)->port()) : Value()).set("controller_port", node ? port((*node)->controller_port()) : Value());
  out.set("answers", standing.has_value());
  out.set("serves", standing && standing->serves && state == Cluster::NodeState::running);
  Value fenced;
  if (best != nullptr) {
    for (const auto& broker : best->brokers) {
      if (broker.broker == id) {
        fenced = Value(broker.fenced);
      }
    }
  }
  out.set("fenced", std::move(fenced));  // null: not registered
  out.set("controller_seen", standing && standing->controller ? Value(standing->controller->value()) : Value());
  out.set("epoch_seen", standing ? Value(std::int64_t{standing->epoch.value()}) : Value());
  if (plain == "failed") {
    out.set("why", (*node)->failure());
  }
  if (faults.lost && state == Cluster::NodeState::stopped) {
    Value lost = Value::object().set("files", static_cast<std::int64_t>(faults.lost->files));
    out.set("lost", lost.set("bytes", static_cast<std::int64_t>(faults.lost->bytes)));
  }
  return out.set("slow_ms", faults.slow_ms);
}

namespace {
// What the node with the newest epoch knows that also has a leader.
const api::NodeCore::Standing* best_of(const std::map<BrokerId, std::optional<api::NodeCore::Standing>>& all) {
  const api::NodeCore::Standing* best = nullptr;
  for (const auto& [id, standing] : all) {
    if (standing && standing->controller && (best == nullptr || standing->epoch > best->epoch)) {
      best = &*standing;
    }
  }
  return best;
}
}  // namespace

Value ClusterControl::statuses_of(const std::vector<BrokerId>& ids) {
  const auto standings = ask(cluster_.node_ids());
  Value::List out;
  for (const BrokerId id : ids) {
    const auto found = standings.find(id);
    out.push_back(node_status(id, found == standings.end() ? std::nullopt : found->second, best_of(standings)));
  }
  return Value::object().set("nodes", std::move(out));
}

Value ClusterControl::links_status() {
  const auto active = cluster_.links();
  const std::lock_guard guard(mutex_);
  Value::List out;
  for (const auto& [way, link] : active) {
    const auto since = links_since_.find(way);
    Value one = Value::object();
    one.set("from", way.first.value()).set("to", way.second.value()).set("cut", link.cut).set("delay_ms", link.delay.ms());
    out.push_back(one.set("since_ms", since == links_since_.end() ? Value() : Value(since->second)));
  }
  return out;
}

Value ClusterControl::status() {
  const std::vector<BrokerId> ids = cluster_.node_ids();
  const auto standings = ask(ids);
  const api::NodeCore::Standing* best = best_of(standings);
  Value out = Value::object();
  out.set("cluster", cluster_.cluster_id());
  out.set("controller", best != nullptr ? Value(best->controller->value()) : Value());
  out.set("epoch", best != nullptr ? Value(std::int64_t{best->epoch.value()}) : Value());
  Value::List nodes;
  Value::List faults;
  for (const BrokerId id : ids) {
    nodes.push_back(node_status(id, standings.at(id), best));
    const std::lock_guard guard(mutex_);
    if (const auto found = faults_.find(id); found != faults_.end()) {
      for (const auto& [fault, since] : found->second.since) {
        faults.push_back(Value::object().set("fault", fault).set("node", id.value()).set("since_ms", since));
      }
    }
  }
  out.set("nodes", std::move(nodes)).set("links", links_status());
  return out.set("faults", std::move(faults));
}

}  // namespace hw::node
