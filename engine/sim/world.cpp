// SPDX-License-Identifier: Apache-2.0
#include "engine/sim/world.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/broker/broker.h"
#include "engine/metadata/partition_change.h"
#include "engine/sim/admin_host.h"
#include "engine/sim/checks/check.h"
#include "engine/sim/client_host.h"
#include "engine/sim/nemesis.h"

namespace hw::sim {

namespace {

constexpr Duration kSampleEvery = milliseconds(50);
constexpr Duration kSettlesWithin = seconds(10);  // beyond delivery.timeout.ms
constexpr std::size_t kMostViolations = 5;
constexpr const char* kGroup = "workers";

class World {
 public:
  World(const Options& options, const std::function<void(const std::string&)>& print)
      : options_(options),
        trial_(options.canary),
        trace_(print),
        prng_(options.seed),
        network_({microseconds(options.network_delay_us), microseconds(options.network_jitter_us), options.loss_per_mille}, queue_, trace_,
                 Prng(prng_.next())),
        watched_{options_, nodes_, history_} {
    if (options_.oddities) {
      trial_.draw_oddities(Prng(prng_.next()));
    }
    make_nodes();
    make_clients();
    checks_ = make_checks(watched_, [this](const Check& check, const std::string& what) { violation(check.name(), what); });
  }

  Outcome run() {
    if (options_.oddities) {
      std::string on;
      for (std::size_t i = 0; i < trial::kOddities; ++i) {
        const auto oddity = static_cast<trial::Oddity>(i);
        if (trial_.is_on(oddity)) {
          on += (on.empty() ? "" : ", ") + std::string(trial::name_of(oddity));
        }
      }
      trace_.line(queue_.now(), "oddities: " + (on.empty() ? "none" : on));
    }
    for (const auto& node : nodes_) {
      const bool late = node->id().value() <= options_.brokers && node->id().value() > options_.brokers - options_.late_brokers;
      if (!late) {
        start(*node);
        continue;
      }
      queue_.after(milliseconds(prng_.between(1, options_.faulty.ms())), [this, one = node.get()] {
        if (one->life() == 0) {
          start(*one);
        }
      });
    }
    sample();
    begin_clients();
    nemesis_->begin();
    run_until(queue_.now() + options_.faulty);
    if (violations_.empty()) {
      calm_down();
    }
    Outcome outcome;
    outcome.violations = violations_;
    outcome.last_lines.assign(trace_.last_lines().begin(), trace_.last_lines().end());
    outcome.hash = trace_.hash();
    outcome.simulated = queue_.now() - Instant{};
    outcome.events = queue_.done();
    outcome.frames = network_.frames();
    outcome.faults = nemesis_->faults();
    outcome.sent = history_.sent;
    outcome.acknowledged = history_.acked;
    outcome.consumed = history_.consumed;
    outcome.commits = history_.commits;
    outcome.elections = elections_;
    outcome.marks = trial_.marks();
    return outcome;
  }

 private:
  void make_nodes() {
    std::vector<api::ControllerPeer> controllers;
    const std::int32_t count = options_.nodes();
    const std::int32_t first_controller = options_.first_controller();
    Prng ids(prng_.next());
    const std::string cluster_id = Uuid::random(ids).text();
    const auto name_of_node = [](std::int32_t i) { return "node-" + std::to_string(i + 1); };
    for (std::int32_t i = 0; i < options_.controllers; ++i) {
      controllers.push_back({BrokerId(first_controller + i + 1), Uuid::random(ids), name_of_node(first_controller + i), kControllerPort});
    }
    for (std::int32_t i = 0; i < count; ++i) {
      api::NodeOptions node;
      node.node = BrokerId(i + 1);
      node.directory = "data";
      node.cluster_id = cluster_id;
      node.advertised_host = name_of_node(i);
      node.advertised_port = kClientPort;
      node.broker = i < options_.brokers;
      node.controller = options_.is_controller(i);
      node.controller_host = node.advertised_host;
      node.controller_port = node.controller ? kControllerPort : std::uint16_t{0};
      node.initial_voters = controllers;
      node.controllers = controllers;
      node.configs = options_.configs;
      const std::int64_t drift = ids.between(-options_.drift_ppm, options_.drift_ppm);
      nodes_.push_back(std::make_unique<NodeHost>(std::move(node), microseconds(options_.sync_us), drift, queue_, network_, trace_,
                                                  Prng(ids.next()),
                                                  [this](NodeHost& host, const event::Any& event) { on_event(host, event); }));
    }
  }

  void make_clients() {
    Prng prng(prng_.next());
    const ClientSetting setting{queue_, network_, trace_, history_};
    client::ClusterConfig cluster;
    cluster.request_timeout = milliseconds(prng.between(2'000, 10'000));
    cluster.auto_create_topics = false;
    cluster.metadata_max_age = seconds(30);
    for (std::int32_t i = 0; i < options_.brokers; ++i) {
      cluster.bootstrap.push_back({nodes_[static_cast<std::size_t>(i)]->options().advertised_host, kClientPort});
    }
    std::vector<std::string> topics;
    for (std::int32_t i = 0; i < options_.topics; ++i) {
      topics.push_back("work-" + std::to_string(i));
    }
    admin_ = std::make_unique<AdminHost>(setting, cluster, options_, [this] { return newest_image(); }, Prng(prng.next()));
    struct Kind {
      std::int32_t count;
      std::int16_t acks;
      bool idempotent;
    };
    std::vector<Kind> kinds;
    for (const Kind& kind : {Kind{options_.producers, -1, true}, Kind{options_.plain_producers, -1, false},
                             Kind{options_.careless_producers, 1, false}, Kind{options_.mute_producers, 0, false}}) {
      kinds.insert(kinds.end(), static_cast<std::size_t>(kind.count), kind);
    }
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(kinds.size()); ++i) {
      ProducerHost::Options producer;
      producer.number = i;
      producer.acks = kinds[static_cast<std::size_t>(i)].acks;
      producer.idempotent = kinds[static_cast<std::size_t>(i)].idempotent;
      producer.interval_ms = options_.record_interval_ms;
      producer.record_bytes = options_.record_bytes;
      producer.topics = topics;
      producer.config.cluster = cluster;
      producer.config.cluster.client_id = "producer-" + std::to_string(i);
      producer.config.acks = producer.acks;
      producer.config.idempotent = producer.idempotent;
      producer.config.linger = milliseconds(prng.between(0, 20));
      producer.config.delivery_timeout = seconds(prng.chance({1, 2}) ? 120 : 20);
      producer.config.batch_bytes = prng.chance({1, 2}) ? 16'384 : 1'000;
      // What is waiting when everything is healed has to be delivered in time, by a broker that answers one request of a link after the
      // other, each when the slowest replica has it.
      producer.config.buffer_bytes = (options_.seed + static_cast<std::uint64_t>(i)) % 2 == 0 ? 64 * 1024 : 512 * 1024;
      producers_.push_back(std::make_unique<ProducerHost>(setting, std::move(producer), Prng(prng.next())));
    }
    for (std::int32_t i = 0; i < options_.consumers; ++i) {
      client::ConsumerConfig consumer;
      consumer.cluster = cluster;
      consumer.cluster.client_id = "consumer-" + std::to_string(i);
      consumer.group_id = kGroup;
      consumer.topics = topics;
      consumer.assignors = {options_.seed % 2 == 0 ? client::Assignor::range : client::Assignor::cooperative_sticky};
      consumer.commit_mode = prng.chance({1, 2}) ? client::CommitMode::interval : client::CommitMode::after_work;
      consumer.commit_interval = milliseconds(prng.between(200, 2'000));
      consumer.session_timeout = seconds(6);
      consumer.heartbeat_interval = milliseconds(500);
      if (i >= options_.consumers - options_.consumer_members) {
        consumer.protocol = client::GroupProtocol::consumer;
      }
      consumers_.push_back(std::make_unique<ConsumerHost>(setting, std::move(consumer)));
    }
    Nemesis::Setting bad{options_, queue_, network_, trace_, nodes_, [this](NodeHost& node) { start(node); },
                         [this] { lose_client(); }};
    nemesis_ = std::make_unique<Nemesis>(std::move(bad), Prng(prng.next()));
    client_prng_ = Prng(prng.next());
  }

  void begin_clients() {
    for (std::int32_t i = 0; i < options_.topics; ++i) {
      client::NewTopic topic;
      topic.name = "work-" + std::to_string(i);
      topic.partitions = options_.partitions;
      topic.replication_factor = options_.replication_factor;
      if (options_.unclean) {
        topic.configs.emplace_back("unclean.leader.election.enable", "true");
      }
      admin_->create(topic);
    }
    admin_->begin_deeds();
    for (const auto& producer : producers_) {
      producer->begin();
    }
    for (const auto& consumer : consumers_) {
      consumer->begin();
    }
  }

  [[nodiscard]] metadata::ImagePtr newest_image() const {
    metadata::ImagePtr newest;
    for (const auto& node : nodes_) {
      const metadata::ImagePtr image = node->insides().image;
      if (image != nullptr && (newest == nullptr || newest->offset() < image->offset())) {
        newest = image;
      }
    }
    return newest;
  }

  void lose_client() {
    const std::size_t all = producers_.size() + consumers_.size();
    if (all == 0) {
      return;
    }
    const std::size_t one = client_prng_.below(all);
    if (one < producers_.size()) {
      producers_[one]->crash();
    } else {
      consumers_[one - producers_.size()]->crash();
    }
  }

  void start(NodeHost& node) {
    trace_.line(queue_.now(), fmt::format("node {} starts", node.id().value()));
    const bool spoiled = node.disk().spoiled();
    const Result<void> started = node.start();
    if (started) {
      return;
    }
    const std::string what = fmt::format("node {} does not start: {}", node.id().value(), started.error().detail);
    if (spoiled) {  // asked to stop while its disk was full, say
      trace_.line(queue_.now(), what);
      nemesis_->replace(node);
    } else {
      violation("00 nodes come up", what);
    }
  }

  void on_event(NodeHost& node, const event::Any& any) {
    const auto say = [&](const std::string& text) {
      trace_.line(queue_.now(), fmt::format("node {}: {}", node.id().value(), text));
    };
    if (const auto* elected = std::get_if<event::ControllerElected>(&any)) {
      say(fmt::format("controller {} in epoch {}", elected->controller.value(), elected->epoch));
    } else if (const auto* change = std::get_if<event::PartitionChanged>(&any)) {
      note_change(node, *change);
    } else if (std::holds_alternative<event::NodeReady>(any)) {
      say("is ready");
    } else if (const auto* cut = std::get_if<event::LogRecovered>(&any)) {
      say(fmt::format("partition {} of {} recovered, cut at {} ({} bytes)", cut->partition.value(), cut->topic_id.text(),
                      cut->truncated_to.value(), cut->truncated_bytes));
    } else if (const auto* failed = std::get_if<event::LogDirFailed>(&any)) {
      say("its disk failed: " + failed->reason);
    } else if (const auto* stopped = std::get_if<event::NodeStopped>(&any)) {
      if (!stopped->clean) {
        say("gives up");
        if (!node.disk().spoiled()) {
          violation("00 nodes come up", fmt::format("node {} gives up, and nothing is wrong with its disk", node.id().value()));
        }
        gave_up_.push_back(&node);
      }
    } else if (const auto* refused = std::get_if<event::RequestRefused>(&any)) {
      if (refused->connection == ConnectionId(0)) {
        say("trouble: " + refused->detail);
      }
    }
    for (const auto& check : checks_) {
      check->event(node, any);
    }
  }

  // Told once, by whoever says it first.
  void note_change(const NodeHost& node, const event::PartitionChanged& change) {
    const std::pair<LeaderEpoch, std::int32_t> here{change.leader_epoch, change.partition_epoch};
    const auto [it, fresh] = newest_.try_emplace({change.topic_id, change.partition}, here);
    std::pair<LeaderEpoch, std::int32_t>& newest = it->second;
    if (!fresh && here <= newest) {
      return;
    }
    elections_ += change.leader_epoch > newest.first ? 1U : 0U;
    newest = here;
    std::string isr;
    for (const BrokerId id : change.isr) {
      isr += (isr.empty() ? "" : ",") + std::to_string(id.value());
    }
    const api::Insides in = node.insides();
    const metadata::TopicImage* topic = in.image == nullptr ? nullptr : in.image->find_topic(change.topic_id);
    trace_.line(queue_.now(), fmt::format("{}-{}: leader {} in epoch {}, ISR [{}]", topic == nullptr ? change.topic_id.text() : topic->name,
                                          change.partition.value(), change.leader.value(), change.leader_epoch.value(), isr));
  }

  void violation(const char* check, const std::string& what) {
    if (violations_.size() < kMostViolations) {
      violations_.push_back(std::string(check) + ": " + what);
      trace_.line(queue_.now(), "VIOLATION of " + violations_.back());
    }
  }

  void sample() {
    for (const auto& check : checks_) {
      check->sample();
    }
    for (const auto& node : nodes_) {
      if (node->spins()) {
        violation("12 no node spins", fmt::format("node {} wants to be called at once for ever", node->id().value()));
      }
    }
    for (NodeHost* node : std::exchange(gave_up_, {})) {
      if (node->alive()) {
        nemesis_->replace(*node);
      }
    }
    queue_.after(kSampleEvery, [this] { sample(); });
  }

  // Until then, or until something is wrong.
  template <class Done>
  void run_until(Instant end, Done done) {
    while (queue_.next() <= end && violations_.empty() && !done()) {
      queue_.run_one();
    }
  }
  void run_until(Instant end) {
    run_until(end, [] { return false; });
  }

  void calm_down() {
    trial_.no_more_oddities();
    nemesis_->end();
    admin_->end();
    for (const auto& consumer : consumers_) {
      if (prng_.chance({1, 2})) {
        consumer->crash();  // where it begins anew tells what of its commits is still there
      }
    }
    run_until(queue_.now() + seconds(3));  // some more load, with everything healed
    for (const auto& producer : producers_) {
      producer->end();
    }
    // A slow network may have piled up more records than it carries in a while. Each is delivered or given up in delivery.timeout.ms;
    // from then on nothing new comes.
    Duration settles{};
    for (const auto& producer : producers_) {
      settles = std::max(settles, producer->delivery_timeout() + kSettlesWithin);
    }
    const Instant healed = queue_.now();
    run_until_quiet(healed + settles, [&] { return busy_producer().empty(); });
    if (const std::string busy = busy_producer(); violations_.empty() && !busy.empty()) {
      violation("11 a healed cluster comes to rest", fmt::format("{} s after everything was healed: {}", settles.ms() / 1000, busy));
    }
    run_until_quiet(queue_.now() + options_.calm_within, [&] { return unrest().empty(); });
    if (!violations_.empty()) {
      return;
    }
    if (const std::string why = unrest(); !why.empty()) {
      violation("11 a healed cluster comes to rest", fmt::format("{} s after everything was healed: {}", (queue_.now() - healed).ms() / 1000, why));
      return;
    }
    trace_.line(queue_.now(), "everything is at rest");
    for (const auto& check : checks_) {
      check->finish();
    }
  }

  template <class Done>
  void run_until_quiet(Instant end, Done done) {
    Instant look_again{};
    run_until(end, [&] {
      if (queue_.now() < look_again) {
        return false;
      }
      look_again = queue_.now() + kSampleEvery;
      for (const auto& node : nodes_) {
        if (!node->alive()) {
          start(*node);  // gave up when its disk was full
        }
      }
      return done();
    });
  }

  // A producer that waits for answers still, and for what; empty: none does.
  [[nodiscard]] std::string busy_producer() const {
    for (const auto& producer : producers_) {
      if (!producer->idle()) {
        const metadata::ImagePtr image = newest_image();
        return fmt::format("{} waits for {} records ({}) {}", producer->name(), producer->unanswered(), producer->problem(),
                           image == nullptr ? std::string() : logs_differ(*image));
      }
    }
    return {};
  }

  // Why the cluster is not at rest yet; empty: it is.
  [[nodiscard]] std::string unrest() const {
    metadata::ImagePtr first;
    for (const auto& node : nodes_) {
      const std::string who = "node " + std::to_string(node->id().value());
      const api::Insides in = node->insides();
      if (in.image == nullptr || !node->ready()) {
        return fmt::format("{} is not ready ({}; its quorum is {} of {} in epoch {}, end {}, high watermark {})", who,
                           in.image == nullptr ? "down" : in.broker == nullptr ? "logs not open" : "logs open",
                           raft::state_name(in.quorum.state), in.quorum.leader.value_or(kNoBroker).value(), in.quorum.epoch.value(),
                           in.quorum.log_end_offset.value(), in.quorum.high_watermark.value());
      }
      if (first != nullptr && first->offset() != in.image->offset()) {
        return fmt::format("{} has an image of offset {}, another one of {}", who, in.image->offset().value(), first->offset().value());
      }
      first = in.image;
    }
    for (const auto& node : nodes_) {
      const metadata::BrokerImage* broker = first->find_broker(node->id());
      if (node->options().broker && (broker == nullptr || broker->fenced)) {
        return fmt::format("broker {} is {}", node->id().value(), broker == nullptr ? "not registered" : "fenced");
      }
    }
    for (const auto& [name, topic] : first->topics()) {
      for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
        const metadata::PartitionImage& partition = topic->partitions[i];
        if (partition.leader == kNoBroker || partition.isr.size() != partition.replicas.size() || metadata::is_reassigning(partition)) {
          return fmt::format("{}-{} {}has leader {} in epoch {} and {} of {} replicas in sync:{}", name, i,
                             metadata::is_reassigning(partition) ? "moves, " : "", partition.leader.value(), partition.leader_epoch.value(),
                             partition.isr.size(), partition.replicas.size(), logs_of(*topic, i));
        }
      }
    }
    if (admin_->missing() != 0) {
      return fmt::format("{} topics are missing", admin_->missing());
    }
    if (std::string busy = busy_producer(); !busy.empty()) {
      return busy;
    }
    return logs_differ(*first) + consumers_behind(*first);
  }

  // What each replica has.
  [[nodiscard]] std::string logs_of(const metadata::TopicImage& topic, std::size_t partition) const {
    std::string text;
    for (const BrokerId id : topic.partitions[partition].replicas) {
      const api::Insides in = nodes_[static_cast<std::size_t>(id.value() - 1)]->insides();
      const broker::Partition* replica =
          in.broker == nullptr ? nullptr : in.broker->find(topic.id, PartitionIndex(static_cast<std::int32_t>(partition)));
      if (replica == nullptr || replica->log() == nullptr) {
        text += fmt::format(" node {} no log;", id.value());
        continue;
      }
      text += fmt::format(" node {} {} to {}, high watermark {}, epoch {}", id.value(), replica->log()->log_start_offset().value(),
                          replica->log()->log_end_offset().value(), replica->log()->high_watermark().value(),
                          replica->leader_epoch().value());
      for (const broker::Partition::FollowerFacts& follower : replica->followers()) {
        text += fmt::format(", knows that {} is at {}", follower.id.value(), follower.log_end.value());
      }
      text += ";";
    }
    return text;
  }

  // Followers learn the last high watermark with the fetch after.
  [[nodiscard]] std::string logs_differ(const metadata::MetadataImage& image) const {
    for (const auto& [name, topic] : image.topics()) {
      for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
        const PartitionIndex index(static_cast<std::int32_t>(i));
        std::optional<std::pair<Offset, Offset>> all;
        for (const auto& node : nodes_) {
          const api::Insides in = node->insides();
          const broker::Partition* partition = in.broker == nullptr ? nullptr : in.broker->find(topic->id, index);
          if (partition == nullptr || partition->log() == nullptr) {
            continue;
          }
          const std::pair here{partition->log()->log_end_offset(), partition->log()->high_watermark()};
          if (here.first != here.second || (all && *all != here)) {
            return fmt::format("{}-{} on node {} ends at {} with high watermark {}:{}", name, i, node->id().value(), here.first.value(),
                               here.second.value(), logs_of(*topic, i));
          }
          all = here;
        }
      }
    }
    return {};
  }

  [[nodiscard]] std::int64_t high_watermark_of(const PartitionKey& key) const {
    for (const auto& node : nodes_) {
      const api::Insides in = node->insides();
      const broker::Partition* partition = in.broker == nullptr ? nullptr : in.broker->find(key.first, PartitionIndex(key.second));
      if (partition != nullptr && partition->log() != nullptr) {
        return partition->log()->high_watermark().value();
      }
    }
    return -1;
  }

  [[nodiscard]] std::string consumers_behind(const metadata::MetadataImage& image) const {
    std::map<PartitionKey, int> owned;
    for (const auto& consumer : consumers_) {
      if (!consumer->running()) {
        return consumer->name() + " is away";
      }
      for (const client::PartitionStatus& one : consumer->core().status()) {
        // Its own high watermark it need not know: a broker tells only what is new.
        if (one.position != high_watermark_of(one.partition)) {
          return fmt::format("{} is at {} in {}, which ends at {} ({})", consumer->name(), one.position, text_of(one.partition),
                             high_watermark_of(one.partition), consumer->core().problem());
        }
        ++owned[one.partition];
      }
    }
    std::size_t all = 0;
    for (std::int32_t i = 0; i < options_.topics; ++i) {
      const metadata::TopicImage* topic = image.find_topic("work-" + std::to_string(i));
      all += topic == nullptr ? 0 : topic->partitions.size();
    }
    if (!consumers_.empty() && owned.size() != all) {
      return fmt::format("consumers have {} of {} partitions ({})", owned.size(), all, consumers_.front()->core().problem());
    }
    return {};
  }

  Options options_;
  trial::Trial trial_;
  EventQueue queue_;
  Trace trace_;
  Prng prng_;
  Network network_;
  History history_;
  std::vector<std::unique_ptr<NodeHost>> nodes_;
  Watched watched_;
  std::unique_ptr<AdminHost> admin_;
  std::vector<std::unique_ptr<ProducerHost>> producers_;
  std::vector<std::unique_ptr<ConsumerHost>> consumers_;
  std::unique_ptr<Nemesis> nemesis_;
  Prng client_prng_{0};
  std::vector<std::unique_ptr<Check>> checks_;
  std::vector<std::string> violations_;
  std::vector<NodeHost*> gave_up_;
  std::map<std::pair<Uuid, PartitionIndex>, std::pair<LeaderEpoch, std::int32_t>> newest_;
  std::uint64_t elections_ = 0;
};

}  // namespace

std::string Outcome::text() const {
  return fmt::format("{:.1f} s simulated, {} events, {} frames, {} faults, {} elections; {} records sent, {} acknowledged, {} read, {} commits; trace {:016x}",
                     static_cast<double>(simulated.ns) / 1e9, events, frames, faults, elections, sent, acknowledged, consumed, commits, hash);
}

Outcome run(const Options& options, const std::function<void(const std::string&)>& print) {
  World world(options, print);
  return world.run();
}

}  // namespace hw::sim
