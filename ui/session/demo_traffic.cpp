// SPDX-License-Identifier: Apache-2.0
#include "ui/session/demo_traffic.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "engine/base/prng.h"

namespace hw::ui {

namespace {

constexpr std::int64_t kBeatMs = 250;     // four orders a second
constexpr std::int64_t kLoadBeatMs = 10;  // the load is paced in steps of this
constexpr int kWaitingMax = 8;            // while the topic is away, older orders do not pile up

}  // namespace

// Lives as long as a callback of the runner may still come.
struct DemoTraffic::State : std::enable_shared_from_this<State> {
  State(node::ClientRunner& runner, std::string address, std::int16_t copies)
      : clients(runner), bootstrap(std::move(address)), replicas(copies) {}

  // Of three replicas two suffice: one node may go, and what was acknowledged is still there.
  [[nodiscard]] node::NewTopic topic() const {
    node::NewTopic made;
    made.name = kTopic;
    made.partitions = kPartitions;
    made.replication_factor = replicas;
    if (replicas > 2) {
      made.configs.emplace_back("min.insync.replicas", "2");
    }
    return made;
  }

  // --- on the runner's thread
  void beat(std::uint64_t run) {
    if (run != runs.load()) {
      return;
    }
    clients.after(kBeatMs, [self = shared_from_this(), run] { self->beat(run); });
    if (waiting >= kWaitingMax) {
      return;
    }
    constexpr std::array<const char*, 6> customers = {"A", "B", "C", "D", "E", "F"};
    const char* customer = customers[prng.below(customers.size())];
    node::OutgoingRecord record;
    record.topic = kTopic;
    record.key = Bytes::copy_of(std::string_view(customer));
    record.value = Bytes::copy_of(fmt::format(R"({{"order":{},"customer":"{}","amount":{}.{:02}}})", ++order, customer,
                                              1 + prng.below(300), prng.below(100)));
    ++waiting;
    clients.produce(producer, std::move(record), [self = shared_from_this()](const Result<node::Delivery>&) { --self->waiting; });
  }

  void load_beat(std::uint64_t run) {
    const int rate = load.load();
    if (run != load_runs.load() || rate == 0) {
      return;
    }
    owed += static_cast<std::int64_t>(rate) * kLoadBeatMs;
    const std::int64_t now = owed / 1000;
    owed %= 1000;
    for (std::int64_t i = 0; i < now; ++i) {
      node::OutgoingRecord record;
      record.topic = kTopic;
      record.partition = static_cast<std::int32_t>((++loaded / 64) % kPartitions);
      record.key = Bytes::copy_of(std::string_view("ABCDEF").substr(prng.below(6), 1));
      record.value = payload;
      clients.produce(load_producer, std::move(record), [](const Result<node::Delivery>&) {});
    }
    clients.after(kLoadBeatMs, [self = shared_from_this(), run] { self->load_beat(run); });
  }

  void begin() {
    const std::uint64_t run = ++runs;
    clients.create_topic(bootstrap, topic(), [self = shared_from_this(), run](const Result<void>&) {
      // An error here is "exists already", or shows itself at the first record.
      if (run != self->runs.load()) {
        return;
      }
      self->open_clients();
      self->beat(run);
    });
  }

  void open_clients() {
    node::ProducerOptions options;
    options.bootstrap = bootstrap;
    options.client_id = "demo-producer";
    options.auto_create = false;  // who deletes the topic wants it gone
    options.delivery_timeout_ms = 2'000;
    options.close_timeout_ms = kProducersCloseMs;
    producer = clients.add_producer(options);
    for (int i = 1; i <= 2; ++i) {
      node::ConsumerOptions reader;
      reader.bootstrap = bootstrap;
      reader.client_id = "demo-billing-" + std::to_string(i);
      reader.group_id = kGroup;
      reader.topics = {kTopic};
      reader.auto_create = false;
      consumers[static_cast<std::size_t>(i - 1)] = clients.add_consumer(std::move(reader), [](std::vector<node::IncomingRecord>&) {});
    }
  }

  void end() {
    ++runs;
    // The handles are written on the runner's thread, so they are closed there as well.
    clients.after(0, [self = shared_from_this()] {
      for (node::ClientHandle* handle : {&self->producer, &self->consumers[0], &self->consumers[1]}) {
        if (const node::ClientHandle client = std::exchange(*handle, 0)) {
          self->clients.close(client);
        }
      }
    });
  }

  node::ClientRunner& clients;
  const std::string bootstrap;
  const std::int16_t replicas;
  std::atomic<std::uint64_t> runs{0};       // a beat of an older run ends itself
  std::atomic<std::uint64_t> load_runs{0};
  std::atomic<int> load{0};
  // --- the runner's thread only
  Prng prng{42};
  std::int64_t order = 0;
  int waiting = 0;  // orders without an answer
  std::int64_t owed = 0;
  std::int64_t loaded = 0;
  const Bytes payload = Bytes::copy_of(std::string(1000, 'x'));
  node::ClientHandle producer = 0;
  node::ClientHandle load_producer = 0;
  std::array<node::ClientHandle, 2> consumers{};
};

DemoTraffic::DemoTraffic(node::ClientRunner& clients, std::string bootstrap, std::int16_t replicas)
    : state_(std::make_shared<State>(clients, std::move(bootstrap), replicas)), running_(false) {}

DemoTraffic::~DemoTraffic() {
  setLoad(0);
  stop();
}

void DemoTraffic::start() {
  if (!running_) {
    running_ = true;
    state_->begin();
  }
}

void DemoTraffic::stop() {
  if (running_) {
    running_ = false;
    state_->end();
  }
}

bool DemoTraffic::running() const { return running_; }

void DemoTraffic::setLoad(int records_per_second) {
  const int before = state_->load.exchange(std::clamp(records_per_second, 0, 1'000'000));
  const std::uint64_t run = ++state_->load_runs;
  if (records_per_second <= 0) {
    if (before > 0) {
      state_->clients.after(0, [state = state_] {
        if (const node::ClientHandle client = std::exchange(state->load_producer, 0)) {
          state->clients.close(client);
        }
      });
    }
    return;
  }
  state_->clients.create_topic(state_->bootstrap, state_->topic(), [state = state_, run](const Result<void>&) {
    if (run != state->load_runs.load()) {
      return;
    }
    if (state->load_producer == 0) {
      node::ProducerOptions options;
      options.bootstrap = state->bootstrap;
      options.client_id = "demo-load";
      options.auto_create = false;
      options.linger_ms = 5;
      options.close_timeout_ms = kProducersCloseMs;
      options.batch_bytes = 128 * 1024;
      state->load_producer = state->clients.add_producer(options);
    }
    state->load_beat(run);
  });
}

}  // namespace hw::ui
