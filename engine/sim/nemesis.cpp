// SPDX-License-Identifier: Apache-2.0
#include "engine/sim/nemesis.h"

#include <fmt/core.h>

#include <algorithm>

namespace hw::sim {

namespace {
constexpr Duration kLeaveWithin = seconds(10);
constexpr std::uint64_t kMostRoom = 20'000;
constexpr std::uint64_t kMostWritesBefore = 200;
constexpr std::int64_t kMostStepMs = 60'000;
}  // namespace

void Nemesis::begin() {
  if (!set_.options.faults.empty()) {
    set_.queue.after(seconds(2), [this] { next(); });
  }
}

void Nemesis::next() {
  if (ended_) {
    return;
  }
  strike(set_.options.faults[prng_.below(set_.options.faults.size())]);
  set_.queue.after(milliseconds(prng_.between(1, set_.options.fault_interval_ms * 2)), [this] { next(); });
}

Duration Nemesis::length() { return milliseconds(prng_.between(1, set_.options.fault_length_ms * 2)); }

NodeHost* Nemesis::some_node(bool alive) {
  std::vector<NodeHost*> all;
  for (const auto& node : set_.nodes) {
    if (node->alive() == alive) {
      all.push_back(node.get());
    }
  }
  if (all.empty()) {
    return nullptr;
  }
  // The active controller is hit more often than by chance alone.
  if (alive && prng_.chance({1, 4})) {
    for (NodeHost* const node : all) {
      if (node->insides().quorum.state == raft::QuorumView::State::leader) {
        return node;
      }
    }
  }
  return all[prng_.below(all.size())];
}

bool Nemesis::all_is_well() const {
  for (const auto& node : set_.nodes) {
    const api::Insides in = node->insides();
    if (node->state() != NodeHost::State::running || node->paused() || !node->ready() || in.image == nullptr) {
      return false;
    }
    for (const auto& [name, topic] : in.image->topics()) {
      for (const metadata::PartitionImage& partition : topic->partitions) {
        if (partition.isr.size() != partition.replicas.size()) {
          return false;
        }
      }
    }
  }
  return true;
}

void Nemesis::come_back(NodeHost& node) {
  set_.queue.after(length(), [this, &node] {
    if (!ended_ && !node.alive()) {
      set_.start(node);
    }
  });
}

void Nemesis::strike(Fault fault) {
  ++count_;
  NodeHost* const node = some_node(true);
  if (fault == Fault::lost_client) {
    set_.lose_client();
    return;
  }
  if (node == nullptr) {
    return;
  }
  const std::int32_t id = node->id().value();
  switch (fault) {
    case Fault::power:
      // A disk that is about to fail ends its node, which is as good as a kill; together with this one it would be two at once.
      if (all_is_well() && set_.options.min_insync > 1 &&
          std::none_of(set_.nodes.begin(), set_.nodes.end(), [](const auto& one) { return one->disk().spoiled(); })) {
        say(fmt::format("node {} loses power", id));
        static_cast<void>(node->lose_power());
        records_lost_ = true;
        come_back(*node);
        break;
      }
      [[fallthrough]];
    case Fault::kill:
      if (kill(*node)) {
        come_back(*node);
      }
      break;
    case Fault::old_life:
      old_life(*node);
      break;
    case Fault::stop:
      if (node->state() == NodeHost::State::running) {
        say(fmt::format("node {} is asked to stop", id));
        node->stop(kLeaveWithin);
        // It may take its time: looked after until it is down.
        const auto back = [this, node](const auto& self) -> void {
          if (ended_) {
            return;
          }
          if (node->alive()) {
            set_.queue.after(milliseconds(200), [self] { self(self); });
          } else {
            come_back(*node);
          }
        };
        back(back);
      }
      break;
    case Fault::pause:
      if (!node->paused()) {
        const Duration time = length();
        say(fmt::format("node {} is paused for {} ms", id, time.ms()));
        node->pause();
        set_.queue.after(time, [this, node, life = node->life()] {
          if (node->life() == life && node->paused()) {
            say(fmt::format("node {} goes on", node->id().value()));
            node->resume();
          }
        });
      }
      break;
    case Fault::cut:
      cut(false);
      break;
    case Fault::cut_one_way:
      cut(true);
      break;
    case Fault::slow_links: {
      const Duration time = milliseconds(prng_.between(10, 1'500));
      say(fmt::format("links of node {} are slow: {} ms", id, time.ms()));
      for (HostId other = 0; other < set_.network.hosts(); ++other) {
        if (other != node->host()) {
          set_.network.slow(node->host(), other, time);
          set_.network.slow(other, node->host(), time);
        }
      }
      set_.queue.after(length(), [this, mine = ++links_] {
        if (mine == links_ && !ended_) {
          say("links are healed");
          set_.network.heal();
        }
      });
      break;
    }
    case Fault::broken_streams:
      say(fmt::format("connections of node {} break", id));
      for (std::uint64_t i = prng_.below(6) + 1; i > 0; --i) {
        node->break_stream();
      }
      break;
    case Fault::slow_disk: {
      const auto factor = prng_.between(10, 500);
      say(fmt::format("the disk of node {} is {} times slower", id, factor));
      node->disk().slow_down(factor);
      set_.queue.after(length(), [this, node] {
        if (!ended_) {
          node->disk().slow_down(1);
        }
      });
      break;
    }
    case Fault::full_disk:
      if (all_is_well() && set_.options.min_insync > 1) {
        say(fmt::format("the disk of node {} is full", id));
        node->disk().fill(prng_.below(kMostRoom));
        set_.queue.after(length(), [this, node] {
          if (!ended_) {
            replace(*node);
          }
        });
      }
      break;
    case Fault::failing_disk:
      if (all_is_well() && set_.options.min_insync > 1) {
        say(fmt::format("a write to the disk of node {} is going to fail", id));
        node->disk().fail_soon(prng_.below(kMostWritesBefore));
      }
      break;
    case Fault::clogged:
      clog();
      break;
    case Fault::clock_step: {
      const std::int64_t ms = prng_.between(-kMostStepMs, kMostStepMs);
      say(fmt::format("the wall clock of node {} jumps by {} ms", id, ms));
      node->step_clock(ms);
      break;
    }
    case Fault::lost_client:
      break;
  }
}

// False: not now. To the controller a kill is no better than a loss of power: where all in-sync replicas went that way, the last leader
// leads again (KIP-966), also one that did lose records.
bool Nemesis::kill(NodeHost& node) {
  records_lost_ = records_lost_ && !all_is_well();
  if (!records_lost_) {
    say(fmt::format("node {} is killed", node.id().value()));
    node.kill();
  }
  return !records_lost_;
}

// What it sends to another broker stands still, the Fetch of a follower with it; it is killed, comes back at once, and registers as soon
// as the controller lets it, which is when its session is over.
void Nemesis::old_life(NodeHost& node) {
  NodeHost* const other = set_.nodes[prng_.below(set_.nodes.size())].get();
  if (other == &node || !node.options().broker || !other->options().broker) {
    return;
  }
  const auto session = milliseconds(std::stoll(set_.options.configs.at("broker.session.timeout.ms")));
  const Duration time = session + milliseconds(prng_.between(1'000, 4'000));
  say(fmt::format("what {} sends to {} stands still for {} ms", set_.network.name(node.host()), set_.network.name(other->host()), time.ms()));
  set_.network.clog(node.host(), other->host(), time);
  set_.queue.after(milliseconds(prng_.between(100, 1'000)), [this, &node, life = node.life()] {
    if (ended_ || node.life() != life || !node.alive() || !kill(node)) {
      return;
    }
    set_.queue.after(milliseconds(prng_.between(1, 100)), [this, &node] {
      if (!ended_ && !node.alive()) {
        set_.start(node);
      }
    });
  });
}

void Nemesis::clog() {
  const auto hosts = static_cast<std::uint64_t>(set_.network.hosts());
  for (std::uint64_t i = prng_.below(4) + 1; i > 0; --i) {
    const auto from = static_cast<HostId>(prng_.below(hosts));
    const auto to = static_cast<HostId>(prng_.below(hosts));
    if (from != to) {
      const Duration time = length();
      say(fmt::format("what {} sends to {} stands still for {} ms", set_.network.name(from), set_.network.name(to), time.ms()));
      set_.network.clog(from, to, time);
    }
  }
}

void Nemesis::cut(bool one_way) {
  const HostId hosts = set_.network.hosts();
  std::vector<bool> inside(static_cast<std::size_t>(hosts), false);
  std::string who;
  for (const auto& node : set_.nodes) {
    if (prng_.chance({1, 2})) {
      inside[static_cast<std::size_t>(node->host())] = true;
      who += (who.empty() ? "" : ",") + std::to_string(node->id().value());
    }
  }
  // Clients stand on either side.
  for (HostId host = static_cast<HostId>(set_.nodes.size()); host < hosts; ++host) {
    inside[static_cast<std::size_t>(host)] = prng_.chance({1, 2});
  }
  say(fmt::format("nodes [{}] are cut off from the others{}", who, one_way ? ", what they send" : ""));
  for (HostId a = 0; a < hosts; ++a) {
    for (HostId b = 0; b < hosts; ++b) {
      if (inside[static_cast<std::size_t>(a)] && !inside[static_cast<std::size_t>(b)]) {
        set_.network.cut(a, b);
        if (!one_way) {
          set_.network.cut(b, a);
        }
      }
    }
  }
  set_.queue.after(length(), [this, mine = ++links_] {
    if (mine == links_ && !ended_) {
      say("links are healed");
      set_.network.heal();
    }
  });
}

void Nemesis::replace(NodeHost& node) {
  if (node.alive()) {
    say(fmt::format("node {} is ended, and there is room on its disk", node.id().value()));
    node.kill();
  }
  node.disk().heal();
  come_back(node);
}

void Nemesis::end() {
  ended_ = true;
  say("everything is healed");
  set_.network.heal();
  for (const auto& node : set_.nodes) {
    node->disk().heal();
    if (node->paused()) {
      node->resume();
    }
    if (node->gave_up()) {
      node->kill();
    }
    if (!node->alive()) {
      set_.start(*node);
    }
  }
}

}  // namespace hw::sim
