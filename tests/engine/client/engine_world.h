// SPDX-License-Identifier: Apache-2.0
// Client cores against the real engine (NodeCore) in virtual time, over a network that delays, cuts and loses by seed.
//
// A link is one connection: its frames arrive in order, as with TCP, or not at all, for then the link is cut: before the request
// arrived, or after it was served and before its answer came. Which of them, the test decides by `fault`, or chance by `cut_percent`.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/api/core.h"
#include "engine/base/assert.h"
#include "engine/base/prng.h"
#include "engine/client/io.h"
#include "engine/env/memory_disk.h"
#include "engine/wire/record/batch.h"

namespace hw::test {

class World {
 public:
  enum class Fault { none, before, after };  // the link is cut before the request is served, or after
  struct Frame {
    int actor = 0;
    std::int16_t api = 0;
    std::int16_t version = 0;
    Bytes request;  // without length
  };

  explicit World(std::uint64_t seed, std::map<std::string, std::string> configs = {}) : prng_(seed), disk_(std::make_shared<env::MemoryDisk>(std::uint64_t{1} << 30U)) {
    configs.try_emplace("group.initial.rebalance.delay.ms", "0");
    api::NodeOptions options;
    options.node = BrokerId(1);
    options.directory = "data/node-1";
    options.advertised_host = "one";
    options.advertised_port = 1;
    options.configs = std::move(configs);
    node_ = std::make_unique<api::NodeCore>(std::move(options), *disk_, nullptr, nullptr, Prng(seed));
    const Result<void> started = node_->start(clock(), out_);
    HW_ASSERT(started.has_value(), "a new node starts");
    settle();
  }

  Instant now{1'000'000'000};
  int cut_percent = 0;                            // of requests
  std::function<Fault(const Frame&)> fault;       // asked first
  Duration latency_max = milliseconds(3);
  std::map<std::pair<int, std::int16_t>, int> seen;  // requests by actor and API

  // A core with `step(input, now, out)`, `next_deadline()` and `out.io`. Both outlive the world's runs.
  template <class Core, class Outputs>
  int add(Core& core, Outputs& out) {
    Actor actor;
    actor.step = [&core, &out](const client::Input& input, Instant at) { core.step(input, at, out); };
    actor.deadline = [&core] { return core.next_deadline(); };
    actor.io = &out.io;
    actors_.push_back(std::move(actor));
    return static_cast<int>(actors_.size()) - 1;
  }
  // What the actor wants after its owner called something on it.
  void step(int actor) { give(actor, client::Input{}); }
  // The process is gone, its connections with it.
  void remove(int actor) {
    actors_[static_cast<std::size_t>(actor)].gone = true;
    for (auto& [key, link] : links_) {
      if (key.first == actor && link.connection.value() != 0) {
        node_->disconnected(link.connection, clock(), out_);
      }
    }
    std::erase_if(links_, [actor](const auto& entry) { return entry.first.first == actor; });
    settle();
  }

  bool run(const std::function<bool()>& done, Duration limit = seconds(60)) {
    const Instant end = now + limit;
    for (int actor = 0; actor < static_cast<int>(actors_.size()); ++actor) {
      step(actor);
    }
    while (!done()) {
      Instant next = node_->next_deadline();
      if (!events_.empty()) {
        next = std::min(next, events_.begin()->first);
      }
      for (const Actor& actor : actors_) {
        if (!actor.gone) {
          next = std::min(next, actor.deadline());
        }
      }
      if (next > end) {
        now = end;
        return done();
      }
      if (next > now) {
        now = next;
        idle_ = 0;
      }
      HW_ASSERT(++idle_ < 100'000, "somebody asks for ticks without end");
      if (!events_.empty() && events_.begin()->first <= now) {
        const auto event = std::move(events_.begin()->second);
        events_.erase(events_.begin());
        event();
        continue;
      }
      if (node_->next_deadline() <= now) {
        node_->tick(clock(), out_);
        settle();
      }
      for (int actor = 0; actor < static_cast<int>(actors_.size()); ++actor) {
        const Actor& one = actors_[static_cast<std::size_t>(actor)];
        if (!one.gone && one.deadline() <= now) {
          give(actor, client::Input{});
        }
      }
    }
    return true;
  }
  void wait(Duration duration) {
    const Instant until = now + duration;
    (void)run([&] { return now >= until; }, duration);
    now = until;
  }
  // What a partition holds, as the node's own reader sees it.
  [[nodiscard]] std::vector<Bytes> batches(const std::string& topic, std::int32_t partition) {
    const auto read = node_->read_local(topic, PartitionIndex(partition), Offset(0), 1 << 28);
    HW_ASSERT(read.has_value(), "the partition is there");
    const Bytes all = read->batches.flatten();
    std::vector<Bytes> found;
    wire::BatchCursor cursor(all.span());
    std::size_t at = 0;
    for (wire::BatchView batch; cursor.next(batch);) {
      found.push_back(all.slice(at, batch.size()));
      at += batch.size();
    }
    return found;
  }

 private:
  struct Actor {
    std::function<void(const client::Input&, Instant)> step;
    std::function<Instant()> deadline;
    client::IoOutputs* io = nullptr;
    bool gone = false;
  };
  using Key = std::pair<int, client::LinkId>;
  struct Link {
    ConnectionId connection{0};
    std::deque<Bytes> waiting;   // requests that arrived while one is being served
    bool serving = false;
    Fault after = Fault::none;   // of the request that is being served
    Instant last_to{}, last_from{};  // so that frames stay in order
  };

  [[nodiscard]] api::Now clock() const {
    return {now, WallTime{1'700'000'000'000 + now.ns / 1'000'000}};
  }
  Duration delay() { return microseconds(prng_.between(50, std::max<std::int64_t>(latency_max.ns / 1000, 51))); }
  void at(Instant when, std::function<void()> what) { events_.emplace(when, std::move(what)); }

  void give(int actor, const client::Input& input) {
    Actor& one = actors_[static_cast<std::size_t>(actor)];
    if (one.gone) {
      return;
    }
    one.step(input, now);
    client::IoOutputs io;
    std::swap(io, *one.io);
    for (const auto& open : io.opens) {
      const Key key{actor, open.link};
      Link& link = links_[key];
      link.connection = ConnectionId(++connections_);
      node_->connected(link.connection, "127.0.0.1:" + std::to_string(20'000 + connections_), clock(), out_);
      by_connection_[link.connection.value()] = key;
      later(key, {client::Input::Kind::opened, open.link, {}, {}});
    }
    for (auto& send : io.sends) {
      const Key key{actor, send.link};
      const auto link = links_.find(key);
      if (link == links_.end()) {
        continue;  // cut meanwhile; the core will hear
      }
      const Bytes whole = send.frame.flatten();
      Bytes request = whole.slice(4, whole.size() - 4);
      link->second.last_to = std::max(link->second.last_to, now + delay());
      at(link->second.last_to, [this, key, request] { arrive(key, request); });
    }
    for (const client::LinkId id : io.closes) {
      drop({actor, id}, false);
    }
  }
  void later(const Key& key, client::Input input) {
    const auto link = links_.find(key);
    Instant when = now + delay();
    if (link != links_.end()) {
      when = link->second.last_from = std::max(link->second.last_from, when);
    }
    at(when, [this, key, input] {
      if (links_.contains(key) || input.kind == client::Input::Kind::closed) {
        give(key.first, input);
      }
    });
  }
  void drop(const Key& key, bool tell) {
    const auto link = links_.find(key);
    if (link == links_.end()) {
      return;
    }
    const ConnectionId connection = link->second.connection;
    links_.erase(link);
    by_connection_.erase(connection.value());
    node_->disconnected(connection, clock(), out_);
    if (tell) {
      later(key, {client::Input::Kind::closed, key.second, {}, "connection reset"});
    }
    settle();
  }
  void arrive(const Key& key, const Bytes& request) {
    const auto link = links_.find(key);
    if (link == links_.end()) {
      return;
    }
    link->second.waiting.push_back(request);
    serve(key);
  }
  void serve(const Key& key) {
    const auto found = links_.find(key);
    if (found == links_.end() || found->second.serving || found->second.waiting.empty()) {
      return;
    }
    Link& link = found->second;
    const Bytes request = link.waiting.front();
    link.waiting.pop_front();
    const Frame frame{key.first, static_cast<std::int16_t>(wire::load_u16(request.data())),
                      static_cast<std::int16_t>(wire::load_u16(request.data() + 2)), request};
    ++seen[{frame.actor, frame.api}];
    Fault what = fault ? fault(frame) : Fault::none;
    if (what == Fault::none && cut_percent > 0 && prng_.between(1, 100) <= cut_percent) {
      what = prng_.below(2) == 0 ? Fault::before : Fault::after;
    }
    if (what == Fault::before) {
      drop(key, true);
      return;
    }
    link.serving = true;
    link.after = what;
    node_->request(link.connection, request, clock(), out_);
    settle();
  }
  // Runs what the node wants done, and takes its answers on their way.
  void settle() {
    if (settling_) {
      return;  // the loop that is running goes on
    }
    settling_ = true;
    while (!out_.replies.empty() || !out_.closes.empty() || !out_.disk_jobs.empty()) {
      api::Outputs out;
      std::swap(out, out_);
      for (auto& job : out.disk_jobs) {
        const Result<void> result = job.work();
        node_->disk_done(job.id, result, clock(), out_);
      }
      for (auto& reply : out.replies) {
        const auto owner = by_connection_.find(reply.connection.value());
        if (owner == by_connection_.end()) {
          continue;
        }
        const Key key = owner->second;
        Link& link = links_.at(key);
        link.serving = false;
        if (link.after == Fault::after) {
          drop(key, true);
          continue;
        }
        if (!reply.frame.empty()) {
          const Bytes whole = reply.frame.flatten();
          later(key, {client::Input::Kind::frame, key.second, whole.slice(4, whole.size() - 4), {}});
        }
        at(now, [this, key] { serve(key); });
      }
      for (auto& close : out.closes) {
        const auto owner = by_connection_.find(close.connection.value());
        if (owner != by_connection_.end()) {
          drop(Key(owner->second), true);
        }
      }
    }
    settling_ = false;
  }

  Prng prng_;
  std::shared_ptr<env::Disk> disk_;
  std::unique_ptr<api::NodeCore> node_;
  api::Outputs out_;
  std::vector<Actor> actors_;
  std::map<Key, Link> links_;
  std::map<std::uint64_t, Key> by_connection_;
  std::multimap<Instant, std::function<void()>> events_;
  std::uint64_t connections_ = 0;
  int idle_ = 0;
  bool settling_ = false;
};

}  // namespace hw::test
