// SPDX-License-Identifier: Apache-2.0
// A small world for brokers: three of them over disks in memory, a controller made of a few rules, a network that delays and
// loses, clients that write, and checkers that look after every step. One seed gives one run.
//
// What the controller does is what the cluster's does for clean elections: it fences brokers that it does not hear of, takes
// them out of every ISR but the last place, elects from the ISR only, and checks AlterPartition as Kafka does.
// Processes die; what they wrote stays (a process that dies does not take the page cache along).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/prng.h"
#include "engine/base/trial.h"
#include "engine/broker/broker.h"
#include "engine/env/memory_disk.h"
#include "engine/log/log_manager.h"
#include "engine/metadata/image/image_builder.h"
#include "engine/metadata/image/record.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/record/batch_builder.h"

namespace hw::test {

using wire::ErrorCode;

struct WorldOptions {
  std::uint64_t seed = 1;
  trial::Canary canary = trial::Canary::none;
  int partitions = 2;
  int producers = 3;
  Duration chaos = seconds(20);
  Duration calm = seconds(12);
  bool faults = true;
};

class ReplicaWorld {
 public:
  static constexpr int kNodes = 3;
  static inline const Uuid kTopic{7, 7};

  explicit ReplicaWorld(WorldOptions options) : options_(options), prng_(options.seed) {
    for (int i = 0; i < kNodes; ++i) {
      Node& node = nodes_[i];
      node.id = BrokerId(i);
      node.disk = std::make_unique<env::MemoryDisk>(1ULL << 28U);
      static_cast<void>(node.disk->make_directories("/d"));
      Prng draw(prng_.next());
      static_cast<void>(log::LogManager::format(*node.disk, "/d", "cluster", node.id, draw));
    }
    for (int i = 0; i < kNodes; ++i) {
      start(i);
    }
    wire::TopicRecord topic;
    topic.name = "t";
    topic.topic_id = kTopic;
    record(topic);
    for (int p = 0; p < options_.partitions; ++p) {
      Truth& truth = truth_.emplace_back();
      for (int i = 0; i < kNodes; ++i) {
        truth.replicas.push_back(BrokerId((p + i) % kNodes));
      }
      truth.isr = truth.replicas;
      truth.leader = truth.replicas[0];
      wire::PartitionRecord partition;
      partition.partition_id = PartitionIndex(p);
      partition.topic_id = kTopic;
      partition.replicas = truth.replicas;
      for (const BrokerId id : truth.isr) {
        partition.isr.push_back(id.value());
      }
      partition.leader = truth.leader;
      partition.leader_epoch = LeaderEpoch(0);
      partition.partition_epoch = 0;
      partition.directories.resize(truth.replicas.size());
      record(partition);
    }
    committed_.resize(static_cast<std::size_t>(options_.partitions));
    for (int i = 0; i < options_.producers; ++i) {
      Producer& producer = producers_.emplace_back();
      producer.id = i + 1;
      producer.partition = i % options_.partitions;
      producer.idempotent = i != options_.producers - 1;
      schedule(milliseconds(100), [this, i] { produce(static_cast<std::size_t>(i)); });
    }
  }

  // Empty: nothing was violated.
  std::string run() {
    if (options_.faults) {
      schedule(milliseconds(300), [this] { fault(); });
    }
    const Instant end_of_chaos = now_ + options_.chaos;
    while (violation_.empty() && step(end_of_chaos)) {
    }
    calm_ = true;
    loss_ = {0, 1};
    for (int i = 0; i < kNodes; ++i) {
      nodes_[i].cut = false;
      nodes_[i].paused_until = now_;
      if (!nodes_[i].up) {
        start(i);
      }
    }
    const Instant end = now_ + options_.calm;
    while (violation_.empty() && step(end)) {
    }
    if (violation_.empty()) {
      check_converged();
    }
    return violation_;
  }

  // What this run exercised, so that a test can see that it was not a quiet one.
  struct Tally {
    int acknowledged = 0;
    int elections = 0;
    int crashes = 0;
    int truncations = 0;
    int shrinks = 0;
    int expands = 0;
    int duplicates = 0;
    int lost_messages = 0;
    std::uint64_t hash = 1469598103934665603ULL;  // of everything that happened
  };
  Tally tally;

  // --- for tests that play by hand
  void run_for(Duration time) {
    const Instant end = now_ + time;
    while (violation_.empty() && step(end)) {
    }
  }
  broker::Broker& broker(int node) { return *nodes_[node].broker; }
  broker::Partition& partition(int node, int p = 0) { return *nodes_[node].broker->find(kTopic, PartitionIndex(p)); }
  const std::string& violation() const { return violation_; }
  struct Truth {
    std::vector<BrokerId> replicas;
    std::vector<BrokerId> isr;
    BrokerId leader;
    LeaderEpoch leader_epoch{0};
    std::int32_t partition_epoch = 0;
  };
  const Truth& truth(int p = 0) const { return truth_[static_cast<std::size_t>(p)]; }
  void kill(int i) {
    Node& node = nodes_[i];
    if (!node.up) {
      return;
    }
    ++tally.crashes;
    node.up = false;
    ++node.life;
    node.broker.reset();
    node.logs.reset();
    node.waiting.clear();
    node.session_until = std::min(node.session_until, now_ + kSession);
  }
  void start(int i) {
    Node& node = nodes_[i];
    node.up = true;
    ++node.life;
    log::LogManagerOptions logs;
    logs.directories = {"/d"};
    logs.node_id = node.id;
    node.events.world = this;
    auto opened = log::LogManager::open(*node.disk, logs, &node.events, Prng(prng_.next()));
    HW_ASSERT(opened.has_value(), "the log directory opens");
    node.logs = std::move(*opened);
    HW_ASSERT(node.logs->load_all([](const log::LogIdentity&) { return log::LogConfig{}; }, wall()).has_value(), "logs load");
    broker::BrokerOptions options;
    options.node = node.id;
    options.replica_lag_time_max = milliseconds(1000);
    options.replica_fetch_wait_max = milliseconds(100);
    options.replica_fetch_backoff = milliseconds(200);
    node.broker = std::make_unique<broker::Broker>(
        options, *node.logs, &node.events, nullptr,
        [](const std::string&) {
          broker::TopicSettings settings;
          settings.min_insync_replicas = 2;
          return settings;
        },
        Prng(prng_.next()));
    node.builder = std::make_unique<metadata::ImageBuilder>();
    node.applied = 0;
    node.fenced_by_itself = true;
    register_broker(i);
  }
  void lead(int p, BrokerId leader) { elect(static_cast<std::size_t>(p), leader); }
  void cut(int i, bool off) { nodes_[i].cut = off; }
  Instant now() const { return now_; }

 private:
  static constexpr Duration kSession = milliseconds(900);

  struct Sink : event::EventSink {
    void emit(event::Any event) override {
      if (std::holds_alternative<event::LogTruncated>(event)) {
        ++world->tally.truncations;
      }
    }
    ReplicaWorld* world = nullptr;
  };
  struct Node {
    BrokerId id;
    bool up = false;
    bool cut = false;  // nothing reaches it, nothing comes from it
    Instant paused_until{};
    int life = 0;
    std::unique_ptr<env::MemoryDisk> disk;
    Sink events;
    std::unique_ptr<log::LogManager> logs;
    std::unique_ptr<broker::Broker> broker;
    std::unique_ptr<metadata::ImageBuilder> builder;
    std::size_t applied = 0;  // records of the metadata log
    bool fenced_by_itself = true;
    // As the controller has it.
    std::int64_t epoch = -1;
    bool fenced = true;
    Instant session_until{};
    std::map<std::uint64_t, std::function<void(broker::BrokerOutputs::Produced*, broker::BrokerOutputs::Fetched*)>> waiting;
    std::map<int, std::int64_t> watermark_checked;
  };
  struct Producer {
    int id = 0;
    int partition = 0;
    bool idempotent = true;
    std::int32_t sequence = 0;
    std::int64_t value = 0;
    bool open = false;
    std::uint64_t attempt = 0;
  };
  struct Acked {
    std::int64_t offset = 0;
    std::string value;
  };

  [[nodiscard]] WallTime wall() const { return WallTime{1'000'000 + now_.ns / 1'000'000}; }
  [[nodiscard]] broker::Now both() const { return {now_, wall()}; }
  void schedule(Duration after, std::function<void()> what) { queue_.emplace(now_ + after, std::move(what)); }
  Duration delay() { return microseconds(prng_.between(200, prng_.chance({1, 20}) ? 60'000 : 4'000)); }
  void violate(const std::string& what) {
    if (violation_.empty()) {
      violation_ = "seed " + std::to_string(options_.seed) + " at " + std::to_string(now_.ns / 1'000'000) + " ms: " + what;
    }
  }
  void mix(std::uint64_t value) { tally.hash = (tally.hash ^ value) * 1099511628211ULL; }

  // --- time
  bool step(Instant end) {
    Instant next = queue_.empty() ? kNever : queue_.begin()->first;
    for (Node& node : nodes_) {
      if (node.up) {
        next = std::min(next, std::max(node.broker->next_deadline(), std::max(now_, node.paused_until)));
      }
    }
    if (next > end) {
      now_ = end;
      return false;
    }
    stuck_ = next > now_ ? 0 : stuck_ + 1;
    if (stuck_ > 100'000) {
      violate("time does not go on");
    }
    now_ = std::max(now_, next);
    if (!queue_.empty() && queue_.begin()->first <= now_) {
      auto what = std::move(queue_.begin()->second);
      queue_.erase(queue_.begin());
      what();
    }
    for (int i = 0; i < kNodes; ++i) {
      Node& node = nodes_[i];
      if (node.up && node.broker->next_deadline() <= now_ && node.paused_until <= now_) {
        turn(i, [&](broker::BrokerOutputs& out) { node.broker->tick(both(), out); });
      }
    }
    return true;
  }

  // One turn of a node: an input, then everything that comes out is delivered.
  void turn(int i, const std::function<void(broker::BrokerOutputs&)>& input) {
    Node& node = nodes_[i];
    broker::BrokerOutputs out;
    input(out);
    node.broker->settle(both(), out);
    deliver(i, out);
    check(i);
  }

  // Runs `what` on a node when a message gets there; `lost` otherwise.
  void send(int from, int to, std::function<void()> what) {
    if (nodes_[from].cut || nodes_[to].cut || prng_.chance(loss_)) {
      ++tally.lost_messages;
      return;
    }
    const int life = nodes_[to].life;
    arrive(to, life, std::move(what), delay());
  }
  void arrive(int to, int life, std::function<void()> what, Duration after) {
    schedule(after, [this, to, life, what = std::move(what)]() mutable {
      Node& node = nodes_[to];
      if (!node.up || node.life != life || node.cut) {
        return;
      }
      if (node.paused_until > now_) {
        arrive(to, life, std::move(what), node.paused_until - now_);
        return;
      }
      what();
    });
  }

  // A timer of the node itself: being cut off does not stop it.
  void timer(int i, std::function<void()> what, Duration after) {
    schedule(after, [this, i, life = nodes_[i].life, what = std::move(what)]() mutable {
      Node& node = nodes_[i];
      if (!node.up || node.life != life) {
        return;
      }
      if (node.paused_until > now_) {
        timer(i, std::move(what), node.paused_until - now_);
        return;
      }
      what();
    });
  }

  void deliver(int i, broker::BrokerOutputs& out) {
    Node& node = nodes_[i];
    for (auto& done : out.produced) {
      if (auto it = node.waiting.find(done.ticket.serial); it != node.waiting.end()) {
        auto answer = std::move(it->second);
        node.waiting.erase(it);
        answer(&done, nullptr);
      }
    }
    for (auto& done : out.fetched) {
      if (auto it = node.waiting.find(done.ticket.serial); it != node.waiting.end()) {
        auto answer = std::move(it->second);
        node.waiting.erase(it);
        answer(nullptr, &done);
      }
    }
    for (auto& fetch : out.peer_fetches) {
      const int to = fetch.leader.value();
      const int life = node.life;
      const std::uint64_t id = fetch.id;
      mix(static_cast<std::uint64_t>(now_.ns) + id * 3 + static_cast<std::uint64_t>(i));
      auto request = std::make_shared<wire::FetchRequest>(std::move(fetch.request));
      const ConnectionId connection(static_cast<std::uint64_t>(100 + i * 10 + fetch.fetcher));
      const int leader_life = nodes_[to].life;
      send(i, to, [this, i, to, life, id, request, connection, version = fetch.version] {
        const std::uint64_t serial = ++serial_;
        nodes_[to].waiting[serial] = [this, i, to, life, id](auto*, broker::BrokerOutputs::Fetched* done) {
          auto response = std::make_shared<wire::FetchResponse>(std::move(done->response));
          for (auto& topic : response->responses) {
            for (auto& data : topic.partitions) {
              if (data.records) {
                data.records = BytesChain(Bytes::copy_of(data.records->flatten().span()));  // over the wire
              }
            }
          }
          if (nodes_[i].life == life) {
            send(to, i, [this, i, id, response] {
              turn(i, [&](auto&) { nodes_[i].broker->fetched(id, std::move(*response), both()); });
            });
          }
        };
        turn(to, [&](broker::BrokerOutputs& answers) {
          nodes_[to].broker->disconnected(connection);  // what waits there still has nobody to go to
          nodes_[to].broker->fetch({connection, serial}, *request, version, both(), answers);
        });
      });
      // No answer in time.
      timer(i, [this, i, id] { turn(i, [&](auto&) { nodes_[i].broker->fetch_failed(id, both()); }); },
            nodes_[to].up && nodes_[to].life == leader_life ? milliseconds(400) : delay());
    }
    for (auto& list : out.peer_list_offsets) {
      const int to = list.leader.value();
      const int life = node.life;
      const std::uint64_t id = list.id;
      auto request = std::make_shared<wire::ListOffsetsRequest>(std::move(list.request));
      send(i, to, [this, i, to, life, id, request, version = list.version] {
        auto response =
            std::make_shared<wire::ListOffsetsResponse>(nodes_[to].broker->list_offsets(*request, version));
        if (nodes_[i].life == life) {
          send(to, i, [this, i, id, response] {
            turn(i, [&](auto&) { nodes_[i].broker->offsets_listed(id, *response, both()); });
          });
        }
      });
      timer(i, [this, i, id] { turn(i, [&](auto&) { nodes_[i].broker->fetch_failed(id, both()); }); },
            milliseconds(400));
    }
    if (out.alter_partition) {
      const int life = node.life;
      const std::uint64_t id = ++node_alter_[i];
      auto request = std::make_shared<wire::AlterPartitionRequest>(std::move(out.alter_partition->request));
      if (!node.cut && !prng_.chance(loss_)) {
        schedule(delay(), [this, i, life, id, request] {
          auto response = std::make_shared<wire::AlterPartitionResponse>(alter(*request));
          if (nodes_[i].cut || prng_.chance(loss_)) {
            return;
          }
          arrive(i, life, [this, i, id, response] {
            if (node_alter_[i] == id && !node_alter_done_[i][id]) {
              node_alter_done_[i][id] = true;
              turn(i, [&](auto&) { nodes_[i].broker->alter_partition_answered(*response, both()); });
            }
          }, delay());
        });
      }
      timer(i, [this, i, id] {
        if (node_alter_[i] == id && !node_alter_done_[i][id]) {
          node_alter_done_[i][id] = true;
          turn(i, [&](auto&) { nodes_[i].broker->alter_partition_failed(both()); });
        }
      }, milliseconds(300));
    }
  }

  // --- the controller
  void record(metadata::Record what) {
    log_.push_back(std::move(what));
    for (int i = 0; i < kNodes; ++i) {
      if (nodes_[i].up) {
        catch_up_later(i);
      }
    }
  }
  void catch_up_later(int i) {
    timer(i, [this, i] { nodes_[i].cut ? catch_up_later(i) : catch_up(i); },
          nodes_[i].cut ? milliseconds(50) : delay());
  }
  void catch_up(int i) {
    Node& node = nodes_[i];
    if (node.applied == log_.size()) {
      return;
    }
    // A broker may be some records behind; one that starts has read everything up to its registration before it does anything.
    const std::size_t to =
        calm_ || node.applied == 0 || prng_.chance({2, 3})
            ? log_.size()
            : node.applied + 1 + static_cast<std::size_t>(prng_.below(log_.size() - node.applied));
    for (; node.applied < to; ++node.applied) {
      const Result<void> done =
          node.builder->replay(log_[node.applied], Offset(static_cast<std::int64_t>(node.applied)), 1);
      HW_ASSERT(done.has_value(), "the records of the world are good");
    }
    auto published = node.builder->publish();
    turn(i, [&](auto&) {
      node.broker->apply(published.image, published.delta, both());
      if (const metadata::BrokerImage* self = published.image->find_broker(node.id);
          self != nullptr && self->epoch == node.epoch) {
        node.broker->set_broker_epoch(node.epoch);
      }
    });
    if (node.applied < log_.size()) {
      catch_up_later(i);
    }
  }
  void register_broker(int i) {
    Node& node = nodes_[i];
    if (node.epoch >= 0 && !node.fenced) {
      fence(i);
    }
    wire::RegisterBrokerRecord registration;
    registration.broker_id = node.id;
    registration.broker_epoch = static_cast<std::int64_t>(log_.size());
    registration.rack = "r" + std::to_string(i);
    registration.end_points.emplace_back().name = "PLAINTEXT";
    registration.fenced = true;
    node.epoch = registration.broker_epoch;
    node.fenced = true;
    node.session_until = now_ + kSession;
    record(registration);
    heartbeat(i, node.life);
  }
  void heartbeat(int i, int life) {
    Node& node = nodes_[i];
    if (!node.up || node.life != life) {
      return;
    }
    schedule(milliseconds(200), [this, i, life] { heartbeat(i, life); });
    if (node.cut || node.paused_until > now_) {
      return;
    }
    if (node.fenced && now_ > node.session_until) {
      register_again(i);  // it was fenced meanwhile
      return;
    }
    node.session_until = now_ + kSession;
    schedule(kSession + milliseconds(1), [this, i] { expire(i); });
    if (node.fenced && node.applied + 3 >= log_.size() &&
        node.applied > static_cast<std::size_t>(node.epoch)) {
      wire::BrokerRegistrationChangeRecord unfence;
      unfence.broker_id = node.id;
      unfence.broker_epoch = node.epoch;
      unfence.fenced = -1;
      node.fenced = false;
      record(unfence);
      for (std::size_t p = 0; p < truth_.size(); ++p) {
        if (truth_[p].leader == kNoBroker && in(truth_[p].isr, node.id)) {
          elect(p, node.id);
        }
      }
    }
  }
  // A process that went on although it was fenced registers anew, with a new epoch.
  void register_again(int i) {
    Node& node = nodes_[i];
    wire::RegisterBrokerRecord registration;
    registration.broker_id = node.id;
    registration.broker_epoch = static_cast<std::int64_t>(log_.size());
    registration.rack = "r" + std::to_string(i);
    registration.end_points.emplace_back().name = "PLAINTEXT";
    node.epoch = registration.broker_epoch;
    node.session_until = now_ + kSession;
    record(registration);
  }
  void expire(int i) {
    Node& node = nodes_[i];
    if (!node.fenced && node.session_until < now_) {
      fence(i);
    }
  }
  void fence(int i) {
    Node& node = nodes_[i];
    node.fenced = true;
    wire::BrokerRegistrationChangeRecord change;
    change.broker_id = node.id;
    change.broker_epoch = node.epoch;
    change.fenced = 1;
    record(change);
    for (std::size_t p = 0; p < truth_.size(); ++p) {
      Truth& truth = truth_[p];
      if (!in(truth.isr, node.id)) {
        continue;
      }
      std::vector<BrokerId> isr = truth.isr;
      if (isr.size() > 1) {
        std::erase(isr, node.id);
      }
      if (truth.leader == node.id) {
        BrokerId next = kNoBroker;
        for (const BrokerId candidate : truth.replicas) {
          if (next == kNoBroker && in(isr, candidate) && !nodes_[candidate.value()].fenced) {
            next = candidate;
          }
        }
        if (next == kNoBroker) {
          isr = truth.isr;  // nobody else may lead: all of them stay, whoever comes back first leads
        }
        change_partition(p, isr, next);
      } else {
        change_partition(p, isr, std::nullopt);
      }
    }
  }
  void elect(std::size_t p, BrokerId leader) { change_partition(p, truth_[p].isr, leader); }
  void change_partition(std::size_t p, std::vector<BrokerId> isr, std::optional<BrokerId> leader) {
    Truth& truth = truth_[p];
    wire::PartitionChangeRecord change;
    change.partition_id = PartitionIndex(static_cast<std::int32_t>(p));
    change.topic_id = kTopic;
    change.isr = isr;
    truth.isr = std::move(isr);
    ++truth.partition_epoch;
    if (leader) {
      ++tally.elections;
      change.leader = *leader;
      truth.leader = *leader;
      truth.leader_epoch = LeaderEpoch(truth.leader_epoch.value() + 1);
      if (*leader != kNoBroker && !in(truth.isr, *leader)) {
        violate("a leader outside of the ISR");
      }
    }
    mix(static_cast<std::uint64_t>(truth.partition_epoch) * 131 + p);
    record(change);
    if (leader && *leader != kNoBroker) {
      check_leader(p, leader->value());
    }
  }
  wire::AlterPartitionResponse alter(const wire::AlterPartitionRequest& request) {
    wire::AlterPartitionResponse response;
    const Node& sender = nodes_[request.broker_id.value()];
    if (request.broker_epoch != sender.epoch) {
      response.error_code = ErrorCode::stale_broker_epoch;
      return response;
    }
    for (const auto& topic : request.topics) {
      auto& answers = response.topics.emplace_back();
      answers.topic_id = topic.topic_id;
      for (const auto& wanted : topic.partitions) {
        auto& answer = answers.partitions.emplace_back();
        answer.partition_index = wanted.partition_index;
        const auto p = static_cast<std::size_t>(wanted.partition_index.value());
        Truth& truth = truth_[p];
        std::vector<BrokerId> isr;
        bool ineligible = false;
        for (const auto& member : wanted.new_isr_with_epochs) {
          isr.push_back(member.broker_id);
          if (!in(truth.replicas, member.broker_id)) {
            violate("an ISR with a broker that is no replica");
          }
          const Node& broker = nodes_[member.broker_id.value()];
          ineligible = ineligible || broker.fenced || (member.broker_epoch != -1 && member.broker_epoch != broker.epoch);
        }
        if (truth.leader != request.broker_id) {
          answer.error_code = ErrorCode::invalid_request;
        } else if (wanted.leader_epoch < truth.leader_epoch) {
          answer.error_code = ErrorCode::fenced_leader_epoch;
        } else if (wanted.leader_epoch > truth.leader_epoch || wanted.partition_epoch > truth.partition_epoch) {
          answer.error_code = ErrorCode::not_controller;
        } else if (wanted.partition_epoch < truth.partition_epoch) {
          answer.error_code = ErrorCode::invalid_update_version;
        } else if (ineligible) {
          answer.error_code = ErrorCode::ineligible_replica;
        } else {
          if (!in(isr, request.broker_id)) {
            violate("an ISR without its leader");
          }
          (isr.size() < truth.isr.size() ? tally.shrinks : tally.expands) += 1;
          change_partition(p, isr, std::nullopt);
          answer.leader_id = truth.leader;
          answer.leader_epoch = truth.leader_epoch;
          answer.isr = truth.isr;
          answer.partition_epoch = truth.partition_epoch;
        }
      }
    }
    return response;
  }

  // --- faults
  void fault() {
    if (calm_) {
      return;
    }
    schedule(milliseconds(prng_.between(100, 900)), [this] { fault(); });
    const int i = static_cast<int>(prng_.below(kNodes));
    Node& node = nodes_[i];
    switch (prng_.below(8)) {
      case 0:
        if (node.up) {
          kill(i);
          schedule(milliseconds(prng_.between(20, 2'500)), [this, i] {
            if (!nodes_[i].up) {
              start(i);
            }
          });
        }
        break;
      case 1:
      case 2:
        node.paused_until = now_ + milliseconds(prng_.between(50, 2'000));
        break;
      case 3:
        if (!node.cut) {
          node.cut = true;
          schedule(milliseconds(prng_.between(100, 2'000)), [this, i] { nodes_[i].cut = false; });
        }
        break;
      case 4:
        loss_ = prng_.chance({1, 2}) ? Ratio{0, 1} : Ratio{static_cast<std::uint32_t>(prng_.between(1, 25)), 100};
        break;
      default: {  // a clean move of leadership
        const auto p = static_cast<std::size_t>(prng_.below(truth_.size()));
        std::vector<BrokerId> others;
        for (const BrokerId id : truth_[p].isr) {
          if (id != truth_[p].leader && !nodes_[id.value()].fenced) {
            others.push_back(id);
          }
        }
        if (truth_[p].leader != kNoBroker && !others.empty()) {
          elect(p, others[static_cast<std::size_t>(prng_.below(others.size()))]);
        }
        break;
      }
    }
  }

  // --- clients
  void produce(std::size_t which) {
    Producer& producer = producers_[which];
    const Truth& truth = truth_[static_cast<std::size_t>(producer.partition)];
    const std::uint64_t attempt = ++producer.attempt;
    schedule(milliseconds(prng_.between(250, 600)), [this, which, attempt] {
      if (producers_[which].attempt == attempt) {
        produce(which);  // no answer: again
      }
    });
    if (!producer.open) {
      producer.open = true;
      ++producer.value;
    }
    // Mostly to the leader; sometimes to where it was.
    const int to = truth.leader == kNoBroker || prng_.chance({1, 10}) ? static_cast<int>(prng_.below(kNodes))
                                                                      : truth.leader.value();
    auto request = std::make_shared<wire::ProduceRequest>();
    request->acks = producer.idempotent ? -1 : 1;
    request->timeout_ms = 300;
    auto& topic = request->topic_data.emplace_back();
    topic.topic_id = kTopic;
    auto& data = topic.partition_data.emplace_back();
    data.index = producer.partition;
    const std::string value = "p" + std::to_string(producer.id) + "-" + std::to_string(producer.value);
    wire::BatchOptions options;
    if (producer.idempotent) {
      options.producer_id = ProducerId(producer.id);
      options.producer_epoch = ProducerEpoch(0);
      options.base_sequence = producer.sequence;
    }
    wire::BatchBuilder builder(options);
    builder.append(std::nullopt, std::string_view(value), wall().ms);
    data.records = BytesChain(builder.finish());
    if (!nodes_[to].up || nodes_[to].cut || prng_.chance(loss_)) {
      return;
    }
    arrive(to, nodes_[to].life, [this, which, attempt, to, request, value] {
      const std::uint64_t serial = ++serial_;
      nodes_[to].waiting[serial] = [this, which, attempt, to, value](broker::BrokerOutputs::Produced* done, auto*) {
        const auto& answer = done->response.responses[0].partition_responses[0];
        if (nodes_[to].cut || prng_.chance(loss_)) {
          return;
        }
        // A broker that does not know yet that it has lost the leadership may miss what the new leader acknowledged.
        const Truth& now_true = truth_[static_cast<std::size_t>(producers_[which].partition)];
        const broker::Partition* here =
            nodes_[to].broker->find(kTopic, PartitionIndex(producers_[which].partition));
        const bool leads = here != nullptr && here->is_leader() && now_true.leader == nodes_[to].id &&
                           here->leader_epoch() == now_true.leader_epoch;
        schedule(delay(), [this, which, attempt, value, leads, error = answer.error_code, offset = answer.base_offset] {
          answered(which, attempt, value, error, offset, leads);
        });
      };
      turn(to, [&](broker::BrokerOutputs& out) {
        broker::Broker::ProduceCaller caller;
        caller.ticket = {ConnectionId(static_cast<std::uint64_t>(1'000 + serial)), serial};
        caller.version = 13;
        nodes_[to].broker->produce(caller, *request, both(), out);
      });
    }, delay());
  }
  void answered(std::size_t which, std::uint64_t attempt, const std::string& value, ErrorCode error, Offset offset,
                bool leads) {
    Producer& producer = producers_[which];
    mix(static_cast<std::uint64_t>(error) * 7 + static_cast<std::uint64_t>(offset.value()));
    if (producer.attempt != attempt) {
      // An old answer. What it acknowledges counts all the same.
      if (error == ErrorCode::none && producer.idempotent) {
        acked_[producer.partition].push_back({offset.value(), value});
      }
      return;
    }
    if (error == ErrorCode::out_of_order_sequence_number && leads) {
      violate("producer " + std::to_string(producer.id) + " met a gap: an acknowledged record is missing");
      return;
    }
    if (error == ErrorCode::none) {
      ++tally.acknowledged;
      if (producer.idempotent) {
        acked_[producer.partition].push_back({offset.value(), value});
        ++producer.sequence;
      }
      producer.open = false;
    }
    schedule(milliseconds(error == ErrorCode::none ? prng_.between(5, 60) : prng_.between(20, 120)), [this, which, attempt] {
      if (producers_[which].attempt == attempt && (!calm_ || producers_[which].open)) {
        produce(which);
      }
    });
    if (error == ErrorCode::none && calm_) {
      ++producer.attempt;  // rests
    }
  }

  // --- checkers
  static bool in(const std::vector<BrokerId>& list, BrokerId id) {
    return std::find(list.begin(), list.end(), id) != list.end();
  }
  struct Stored {
    std::int64_t epoch = -1;
    std::string bytes;
    friend bool operator==(const Stored&, const Stored&) = default;
  };
  static std::map<std::int64_t, Stored> stored(const log::PartitionLog& log, Offset from, Offset to) {
    std::map<std::int64_t, Stored> all;
    Offset at = from;
    while (at < to) {
      const log::ReadOutcome outcome = log.read({at, 1 << 20, true, log::ReadIsolation::log_end});
      const Bytes bytes = outcome.records.flatten();
      wire::BatchCursor cursor(bytes.span());
      wire::BatchView batch;
      Offset next = at;
      while (cursor.next(batch)) {
        if (batch.base_offset() < to) {
          all[batch.base_offset().value()] = {batch.leader_epoch().value(), std::string(as_text(batch.span()))};
        }
        next = batch.next_offset();
      }
      if (next == at) {
        break;
      }
      at = next;
    }
    return all;
  }

  void check(int i) {
    Node& node = nodes_[i];
    for (int p = 0; p < options_.partitions && violation_.empty(); ++p) {
      broker::Partition* partition = node.broker->find(kTopic, PartitionIndex(p));
      if (partition == nullptr || partition->log() == nullptr) {
        continue;
      }
      const log::PartitionLog& log = *partition->log();
      const std::int64_t high = log.high_watermark().value();
      if (high > log.log_end_offset().value()) {
        violate("a high watermark above the log end");
      }
      if (partition->is_leader()) {
        auto& top = leader_watermark_[{p, partition->leader_epoch().value()}];
        if (high < top) {
          violate("the high watermark of partition " + std::to_string(p) + " went back within an epoch, from " +
                  std::to_string(top) + " to " + std::to_string(high));
        }
        top = std::max(top, high);
      }
      std::int64_t& checked = node.watermark_checked[p * 1'000'000 + node.life];
      if (high <= checked) {
        checked = std::min(checked, high);
        continue;
      }
      auto& committed = committed_[static_cast<std::size_t>(p)];
      for (auto& [offset, batch] : stored(log, Offset(checked), Offset(high))) {
        mix(static_cast<std::uint64_t>(offset));
        const auto [known, fresh] = committed.emplace(offset, batch);
        if (!fresh && !(known->second == batch)) {
          violate("partition " + std::to_string(p) + ": node " + std::to_string(i) + " has another batch at offset " +
                  std::to_string(offset) + ", below the high watermark");
        }
      }
      checked = high;
    }
  }
  // A leader that was elected cleanly has everything that was ever committed.
  void check_leader(std::size_t p, int i) {
    Node& node = nodes_[i];
    if (!node.up) {
      return;
    }
    broker::Partition* partition = node.broker->find(kTopic, PartitionIndex(static_cast<std::int32_t>(p)));
    if (partition == nullptr || partition->log() == nullptr) {
      return;
    }
    const auto& committed = committed_[p];
    if (!committed.empty() && partition->log()->log_end_offset().value() <= committed.rbegin()->first) {
      violate("partition " + std::to_string(p) + ": node " + std::to_string(i) + " leads with log end " +
              std::to_string(partition->log()->log_end_offset().value()) + ", but offset " +
              std::to_string(committed.rbegin()->first) + " was committed");
    }
  }
  void check_converged() {
    for (int p = 0; p < options_.partitions && violation_.empty(); ++p) {
      const Truth& truth = truth_[static_cast<std::size_t>(p)];
      if (truth.leader == kNoBroker || truth.isr.size() != truth.replicas.size()) {
        violate("partition " + std::to_string(p) + " has not healed: leader " + std::to_string(truth.leader.value()) +
                ", ISR of " + std::to_string(truth.isr.size()) + describe(p));
        return;
      }
      std::optional<std::map<std::int64_t, Stored>> first;
      for (int i = 0; i < kNodes; ++i) {
        const log::PartitionLog& log = *nodes_[i].broker->find(kTopic, PartitionIndex(p))->log();
        if (log.high_watermark() != log.log_end_offset()) {
          violate("partition " + std::to_string(p) + ", node " + std::to_string(i) + ": high watermark " +
                  std::to_string(log.high_watermark().value()) + " of " + std::to_string(log.log_end_offset().value()));
        }
        auto all = stored(log, Offset(0), log.log_end_offset());
        if (first && !(*first == all)) {
          violate("partition " + std::to_string(p) + ": the logs differ");
        }
        first = std::move(all);
      }
      check_acknowledged(p, *first);
    }
  }
  std::string describe(int p) {
    std::string text;
    for (int i = 0; i < kNodes; ++i) {
      Node& node = nodes_[i];
      text += "\n  node " + std::to_string(i) + (node.up ? " up" : " down") + (node.fenced ? " fenced" : "") + " epoch " +
              std::to_string(node.epoch) + ", metadata " + std::to_string(node.applied) + "/" + std::to_string(log_.size());
      broker::Partition* partition = node.up ? node.broker->find(kTopic, PartitionIndex(p)) : nullptr;
      if (partition == nullptr || partition->log() == nullptr) {
        continue;
      }
      text += ", leader " + std::to_string(partition->leader().value()) + " epoch " +
              std::to_string(partition->leader_epoch().value()) + "/" + std::to_string(partition->partition_epoch()) +
              ", log end " + std::to_string(partition->log()->log_end_offset().value()) + ", high watermark " +
              std::to_string(partition->log()->high_watermark().value()) + ", ISR";
      for (const BrokerId id : partition->isr()) {
        text += " " + std::to_string(id.value());
      }
      for (const auto& follower : partition->followers()) {
        text += "; follower " + std::to_string(follower.id.value()) + " at " + std::to_string(follower.log_end.value()) +
                (follower.in_isr ? " in" : " out") + (follower.in_maximal_isr ? " maximal" : "");
      }
    }
    return text;
  }
  void check_acknowledged(int p, const std::map<std::int64_t, Stored>& log) {
    std::map<std::string, int> copies;
    for (const auto& [offset, batch] : log) {
      // The payload is one record with a text value.
      for (std::size_t from = wire::kBatchHeaderSize; from < batch.bytes.size(); ++from) {
        if (batch.bytes[from] == 'p') {
          std::string value = batch.bytes.substr(from);
          while (!value.empty() && !std::isdigit(static_cast<unsigned char>(value.back()))) {
            value.pop_back();
          }
          ++copies[value];
          break;
        }
      }
    }
    for (const Acked& acked : acked_[p]) {
      const auto here = log.find(acked.offset);
      if (here == log.end() || here->second.bytes.find(acked.value) == std::string::npos) {
        violate("partition " + std::to_string(p) + ": " + acked.value + " was acknowledged at offset " +
                std::to_string(acked.offset) + " and is not there");
        return;
      }
      if (copies[acked.value] != 1) {
        violate("partition " + std::to_string(p) + ": " + std::to_string(copies[acked.value]) + " copies of " + acked.value);
        return;
      }
    }
  }

  WorldOptions options_;
  trial::Trial trial_{options_.canary};
  Prng prng_;
  Instant now_{1'000'000'000};
  std::multimap<Instant, std::function<void()>> queue_;
  Node nodes_[kNodes];
  std::vector<metadata::Record> log_;
  std::vector<Truth> truth_;
  std::vector<Producer> producers_;
  std::map<int, std::vector<Acked>> acked_;
  std::vector<std::map<std::int64_t, Stored>> committed_;
  std::map<std::pair<int, int>, std::int64_t> leader_watermark_;
  std::map<int, std::uint64_t> node_alter_;
  std::map<int, std::map<std::uint64_t, bool>> node_alter_done_;
  std::string violation_;
  std::uint64_t serial_ = 0;
  int stuck_ = 0;
  Ratio loss_{1, 100};
  bool calm_ = false;
};

}  // namespace hw::test
