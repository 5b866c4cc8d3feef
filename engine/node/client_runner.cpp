// SPDX-License-Identifier: Apache-2.0
#include "engine/node/client_runner.h"

#include <asio/dispatch.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include "engine/client/admin.h"
#include "engine/client/consumer.h"
#include "engine/client/producer.h"
#include "engine/node/client_link.h"

namespace hw::node {
namespace {

using client::Input;

constexpr Duration kAdminAllowance = seconds(15);
constexpr Duration kAdminKept = seconds(30);
constexpr Duration kProducerCloses = seconds(5);

Instant steady_now() {
  return Instant{std::chrono::duration_cast<std::chrono::nanoseconds>(
                     std::chrono::steady_clock::now().time_since_epoch())
                     .count()};
}
std::int64_t wall_now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}
Prng seeded() {
  std::random_device device;
  return Prng((std::uint64_t{device()} << 32) | device());
}
Error closed_error() { return Error{Errc::closed, "the client is closed"}; }

// Runs one core: its links, its timer, and what it puts out.
class Driver {
 public:
  explicit Driver(asio::io_context& io) : io_(io), timer_(io) {}
  virtual ~Driver() { close_links(); }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // Gives `input` to the core, then performs its outputs; callbacks of users come last and may not destroy the driver.
  void step(const Input& input) {
    const Instant now = steady_now();
    core_step(input, now);
    arm(now);
  }
  void tick() { step(Input{}); }
  // One tick after everything that is at hand has been given to the core.
  void tick_soon() {
    if (!tick_posted_) {
      tick_posted_ = true;
      asio::post(io_, [this, alive = std::weak_ptr<bool>(alive_)] {
        if (!alive.expired()) {
          tick_posted_ = false;
          tick();
        }
      });
    }
  }
  [[nodiscard]] virtual bool finished() const = 0;  // the runner removes it then

 protected:
  virtual void core_step(const Input& input, Instant now) = 0;
  [[nodiscard]] virtual Instant core_deadline() const = 0;

  void perform(client::IoOutputs& outputs) {
    for (const auto& open : outputs.opens) {
      auto link = std::make_shared<ClientLink>(io_, open.link, open.endpoint,
                                               [this](const Input& input) { step(input); });
      links_[open.link] = link;
      link->open();
    }
    for (auto& send : outputs.sends) {
      if (const auto link = links_.find(send.link); link != links_.end()) {
        link->second->send(std::move(send.frame));
      }
    }
    for (const client::LinkId id : outputs.closes) {
      if (const auto link = links_.find(id); link != links_.end()) {
        link->second->close();
        links_.erase(link);
      }
    }
    outputs.clear();
  }
  void forget(const Input& input) {
    if (input.kind == Input::Kind::failed || input.kind == Input::Kind::closed) {
      links_.erase(input.link);
    }
  }
  void close_links() {
    for (auto& [id, link] : links_) {
      link->close();
    }
    links_.clear();
  }
  void arm(Instant now) {
    const Instant deadline = core_deadline();
    if (deadline >= kNever || finished()) {
      timer_.cancel();
      return;
    }
    if (deadline <= now) {
      tick_soon();
      return;
    }
    timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline.ns)));
    timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](const asio::error_code& error) {
      if (!error && !alive.expired()) {
        tick();
      }
    });
  }

  asio::io_context& io_;

 private:
  asio::steady_timer timer_;
  std::map<client::LinkId, std::shared_ptr<ClientLink>> links_;
  bool tick_posted_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

client::ClusterConfig cluster_config(std::vector<client::Endpoint> bootstrap, std::string client_id) {
  client::ClusterConfig config;
  config.bootstrap = std::move(bootstrap);
  config.client_id = std::move(client_id);
  return config;
}

class ProducerDriver final : public Driver {
 public:
  ProducerDriver(asio::io_context& io, client::ProducerConfig config)
      : Driver(io), core_(std::move(config), seeded()) {}

  using Done = std::function<void(Result<Delivery>)>;

  void produce(OutgoingRecord record, Done done) {
    if (closing_) {
      done(Unexpected(closed_error()));
      return;
    }
    const std::uint64_t token = next_token_++;
    client::ProducerRecord made;
    made.topic = std::move(record.topic);
    made.partition = record.partition;
    made.key = std::move(record.key);
    made.value = std::move(record.value);
    made.headers = std::move(record.headers);
    made.timestamp_ms = record.timestamp_ms < 0 ? wall_now_ms() : record.timestamp_ms;
    made.token = token;
    if (!core_.send(std::move(made), steady_now(), out_)) {
      done(fail(Errc::too_large, "64 MiB of records wait for the broker; send slower, or wait until some are answered"));
      return;
    }
    waiting_.emplace_hint(waiting_.end(), token, std::move(done));
    tick_soon();
  }
  void flush(std::function<void()> done) {
    if (waiting_.empty()) {
      done();
      return;
    }
    flushes_.emplace_back(next_token_ - 1, std::move(done));
    core_.flush(steady_now(), out_);
    tick_soon();
  }
  void close(std::function<void()> done) {
    on_closed_.push_back(std::move(done));
    if (!closing_) {
      closing_ = true;
      close_by_ = steady_now() + kProducerCloses;
      core_.flush(steady_now(), out_);
    }
    tick_soon();
  }
  [[nodiscard]] bool finished() const override { return finished_; }

 protected:
  void core_step(const Input& input, Instant now) override {
    forget(input);
    core_.step(input, now, out_);
    if (closing_ && close_by_ <= now) {
      core_.abort(Error{Errc::closed, core_.problem().empty() ? "not delivered before the producer was closed"
                                                              : "not delivered: " + core_.problem()},
                  out_);
    }
    perform(out_.io);
    std::vector<client::Delivery> deliveries;
    deliveries.swap(out_.deliveries);
    for (client::Delivery& delivery : deliveries) {
      const auto found = waiting_.find(delivery.token);
      if (found == waiting_.end()) {
        continue;
      }
      const Done done = std::move(found->second);
      waiting_.erase(found);
      if (!done) {
        continue;
      }
      if (delivery.error) {
        done(Unexpected(std::move(*delivery.error)));
      } else {
        done(Delivery{delivery.partition, delivery.offset, delivery.timestamp_ms});
      }
    }
    deliveries.clear();
    if (out_.deliveries.empty()) {
      out_.deliveries.swap(deliveries);  // keeps the capacity
    }
    while (!flushes_.empty() && (waiting_.empty() || waiting_.begin()->first > flushes_.front().first)) {
      const auto done = std::move(flushes_.front().second);
      flushes_.erase(flushes_.begin());
      done();
    }
    if (closing_ && core_.unanswered() == 0 && !finished_) {
      finished_ = true;
      close_links();
      for (const auto& done : on_closed_) {
        done();
      }
    }
  }
  [[nodiscard]] Instant core_deadline() const override {
    const Instant deadline = core_.next_deadline();
    return closing_ && close_by_ < deadline ? close_by_ : deadline;
  }

 private:
  client::Producer core_;
  client::ProducerOutputs out_;
  std::map<std::uint64_t, Done> waiting_;
  std::vector<std::pair<std::uint64_t, std::function<void()>>> flushes_;  // done when all up to this token are answered
  std::vector<std::function<void()>> on_closed_;
  std::uint64_t next_token_ = 1;
  Instant close_by_ = kNever;
  bool closing_ = false;
  bool finished_ = false;
};

class ConsumerDriver final : public Driver {
 public:
  using OnRecords = std::function<void(std::vector<IncomingRecord>&)>;
  using OnEvent = std::function<void(const ConsumerEvent&)>;

  ConsumerDriver(asio::io_context& io, client::ConsumerConfig config, OnRecords on_records, OnEvent on_event)
      : Driver(io),
        core_(std::move(config), steady_now()),
        on_records_(std::move(on_records)),
        on_event_(std::move(on_event)) {}

  void close(std::function<void()> done) {
    on_closed_.push_back(std::move(done));
    if (!closing_) {
      closing_ = true;
      core_.close(steady_now(), out_);
    }
    tick_soon();
  }
  [[nodiscard]] bool finished() const override { return finished_; }

 protected:
  void core_step(const Input& input, Instant now) override {
    forget(input);
    core_.step(input, now, out_);
    perform(out_.io);
    if (!out_.records.empty()) {
      std::vector<IncomingRecord> records;
      records.reserve(out_.records.size());
      for (client::ConsumedRecord& record : out_.records) {
        records.push_back({*record.topic, record.partition, record.offset, record.timestamp_ms, record.log_append_time,
                           std::move(record.key), std::move(record.value), std::move(record.headers)});
      }
      out_.records.clear();
      if (on_records_) {
        on_records_(records);
      }
    }
    std::vector<client::ConsumerEvent> events;
    events.swap(out_.events);
    for (client::ConsumerEvent& event : events) {
      if (on_event_) {
        ConsumerEvent told;
        switch (event.kind) {
          case client::ConsumerEvent::Kind::assigned:
            told.kind = ConsumerEvent::Kind::assigned;
            break;
          case client::ConsumerEvent::Kind::revoked:
            told.kind = ConsumerEvent::Kind::revoked;
            break;
          case client::ConsumerEvent::Kind::reached_end:
            told.kind = ConsumerEvent::Kind::reached_end;
            break;
          case client::ConsumerEvent::Kind::error:
            told.kind = ConsumerEvent::Kind::error;
            break;
        }
        told.partitions = std::move(event.partitions);
        told.message = std::move(event.message);
        told.fatal = event.fatal;
        on_event_(told);
      }
    }
    if (closing_ && core_.closed() && !finished_) {
      finished_ = true;
      close_links();
      for (const auto& done : on_closed_) {
        done();
      }
    }
  }
  [[nodiscard]] Instant core_deadline() const override { return core_.next_deadline(); }

 private:
  client::Consumer core_;
  client::ConsumerOutputs out_;
  OnRecords on_records_;
  OnEvent on_event_;
  std::vector<std::function<void()>> on_closed_;
  bool closing_ = false;
  bool finished_ = false;
};

class AdminDriver final : public Driver {
 public:
  using Done = std::function<void(client::AdminResult)>;
  AdminDriver(asio::io_context& io, client::ClusterConfig config) : Driver(io), core_(std::move(config)) {}

  // `start` gives the core one call.
  void call(const std::function<void(client::Admin&, std::uint64_t token, Instant deadline)>& start, Duration allowance,
            Done done) {
    const std::uint64_t token = next_token_++;
    waiting_[token] = std::move(done);
    start(core_, token, steady_now() + allowance);
    tick_soon();
  }
  void close() {
    core_.abort(closed_error(), out_);
    finished_ = true;
    finish();
    close_links();
  }
  [[nodiscard]] bool finished() const override { return finished_; }

 protected:
  void core_step(const Input& input, Instant now) override {
    forget(input);
    core_.step(input, now, out_);
    perform(out_.io);
    finish();
    if (!waiting_.empty()) {
      idle_until_ = kNever;
    } else if (idle_until_ == kNever) {
      idle_until_ = now + kAdminKept;
    } else if (idle_until_ <= now && !finished_) {
      finished_ = true;
      close_links();
    }
  }
  [[nodiscard]] Instant core_deadline() const override {
    const Instant deadline = core_.next_deadline();
    return idle_until_ < deadline ? idle_until_ : deadline;
  }

 private:
  void finish() {
    std::vector<client::AdminResult> results;
    results.swap(out_.results);
    for (client::AdminResult& result : results) {
      const auto found = waiting_.find(result.token);
      if (found != waiting_.end()) {
        const Done done = std::move(found->second);
        waiting_.erase(found);
        done(std::move(result));
      }
    }
  }
  client::Admin core_;
  client::AdminOutputs out_;
  std::map<std::uint64_t, Done> waiting_;
  std::uint64_t next_token_ = 1;
  Instant idle_until_ = kNever;
  bool finished_ = false;
};

Result<client::ProducerConfig> producer_config(ProducerOptions options) {
  HW_TRY(std::vector<client::Endpoint> bootstrap, client::parse_bootstrap(options.bootstrap));
  const std::optional<wire::Compression> compression = wire::parse_compression(options.compression);
  if (!compression) {
    return fail(Errc::invalid,
                "compression '" + options.compression + "' does not exist; choose none, gzip, snappy, lz4 or zstd");
  }
  if (options.acks < -1 || options.acks > 1) {
    return fail(Errc::invalid, "acks is 0, 1, or -1 for all");
  }
  client::ProducerConfig config;
  config.cluster = cluster_config(std::move(bootstrap), std::move(options.client_id));
  config.cluster.auto_create_topics = options.auto_create;
  config.acks = options.acks;
  config.idempotent = options.idempotent && options.acks == -1;
  config.linger = milliseconds(options.linger_ms);
  config.batch_bytes = static_cast<std::size_t>(options.batch_bytes < 0 ? 0 : options.batch_bytes);
  config.compression = *compression;
  config.delivery_timeout = milliseconds(options.delivery_timeout_ms);
  return config;
}

Result<client::ConsumerConfig> consumer_config(ConsumerOptions options) {
  HW_TRY(std::vector<client::Endpoint> bootstrap, client::parse_bootstrap(options.bootstrap));
  client::ConsumerConfig config;
  config.cluster = cluster_config(std::move(bootstrap), std::move(options.client_id));
  config.cluster.auto_create_topics = options.auto_create;
  config.group_id = std::move(options.group_id);
  config.topics = std::move(options.topics);
  for (ConsumerOptions::Position& at : options.assignment) {
    config.assignment.push_back({{std::move(at.topic), at.partition}, at.offset});
  }
  config.reset = options.from_earliest ? client::OffsetReset::earliest : client::OffsetReset::latest;
  config.commit_interval = milliseconds(options.commit_interval_ms);
  config.session_timeout = milliseconds(options.session_timeout_ms);
  config.max_wait_ms = options.max_wait_ms;
  config.read_committed = options.read_committed;
  config.records_max = options.records_max;
  return config;
}

TopicDescription simple(client::TopicDescription& topic) {
  TopicDescription made;
  made.name = std::move(topic.name);
  made.id = topic.info.id.text();
  made.internal = topic.info.internal;
  for (std::size_t i = 0; i < topic.info.partitions.size(); ++i) {
    const client::PartitionInfo& info = topic.info.partitions[i];
    TopicDescription::Partition& at = made.partitions.emplace_back();
    at.index = static_cast<std::int32_t>(i);
    at.leader = info.leader.value();
    for (const BrokerId broker : info.replicas) {
      at.replicas.push_back(broker.value());
    }
    for (const BrokerId broker : info.isr) {
      at.isr.push_back(broker.value());
    }
  }
  return made;
}

}  // namespace

struct ClientRunner::Impl {
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(io);
  std::atomic<ClientHandle> next_handle{1};
  bool ending = false;
  // All below: the runner's thread only.
  struct Client {
    std::unique_ptr<ProducerDriver> producer;
    std::unique_ptr<ConsumerDriver> consumer;
    std::string problem;  // of the options: what every call gets told
  };
  std::map<ClientHandle, Client> clients;
  std::map<std::string, std::unique_ptr<AdminDriver>> admins;
  std::vector<std::unique_ptr<asio::steady_timer>> timers;
  std::thread thread;

  // Destroys what has finished; posted, so that nobody destroys the driver that is calling.
  void sweep_soon() {
    asio::post(io, [this] {
      for (auto at = admins.begin(); at != admins.end();) {
        at = at->second->finished() ? admins.erase(at) : std::next(at);
      }
      for (auto at = clients.begin(); at != clients.end();) {
        const bool gone = (at->second.producer && at->second.producer->finished()) ||
                          (at->second.consumer && at->second.consumer->finished());
        at = gone ? clients.erase(at) : std::next(at);
      }
      if (ending && clients.empty()) {
        work.reset();
        io.stop();
      }
    });
  }
  void close(ClientHandle handle, std::function<void()> done) {
    const auto found = clients.find(handle);
    const auto finished = [this, done = std::move(done)] {
      if (done) {
        done();
      }
      sweep_soon();
    };
    if (found == clients.end()) {
      finished();
    } else if (found->second.producer) {
      found->second.producer->close(finished);
    } else if (found->second.consumer) {
      found->second.consumer->close(finished);
    } else {
      clients.erase(found);
      finished();
    }
  }
  void end() {
    ending = true;
    timers.clear();
    for (auto& [bootstrap, admin] : admins) {
      admin->close();
    }
    std::vector<ClientHandle> handles;
    for (const auto& [handle, client] : clients) {
      handles.push_back(handle);
    }
    for (const ClientHandle handle : handles) {
      close(handle, {});
    }
    sweep_soon();
  }
  template <class T>
  void administer(const std::string& bootstrap, std::function<void(client::Admin&, std::uint64_t, Instant)> start,
                  std::function<Result<T>(client::AdminResult&)> convert, std::function<void(Result<T>)> done,
                  Duration allowance = kAdminAllowance) {
    asio::post(io, [this, bootstrap, allowance, start = std::move(start), convert = std::move(convert),
                    done = std::move(done)] {
      if (ending) {
        done(Unexpected(closed_error()));
        return;
      }
      std::unique_ptr<AdminDriver>& admin = admins[bootstrap];
      if (admin == nullptr || admin->finished()) {
        Result<std::vector<client::Endpoint>> endpoints = client::parse_bootstrap(bootstrap);
        if (!endpoints) {
          admins.erase(bootstrap);
          done(Unexpected(std::move(endpoints.error())));
          return;
        }
        admin = std::make_unique<AdminDriver>(io, cluster_config(std::move(*endpoints), "highwater-admin"));
      }
      admin->call(start, allowance, [convert, done](client::AdminResult result) {
        if (result.error) {
          done(Unexpected(std::move(*result.error)));
        } else {
          done(convert(result));
        }
      });
    });
  }
};

namespace {
Result<void> nothing(client::AdminResult&) { return {}; }
}  // namespace

ClientRunner::ClientRunner() : impl_(std::make_unique<Impl>()) {
  impl_->thread = std::thread([impl = impl_.get()] { impl->io.run(); });
}

ClientRunner::~ClientRunner() {
  asio::post(impl_->io, [impl = impl_.get()] { impl->end(); });
  impl_->thread.join();
  // Requests that came in too late are told so.
  impl_->io.restart();
  impl_->io.poll();
}

ClientHandle ClientRunner::add_producer(ProducerOptions options) {
  const ClientHandle handle = impl_->next_handle++;
  asio::post(impl_->io, [impl = impl_.get(), handle, options = std::move(options)]() mutable {
    if (impl->ending) {
      return;
    }
    Result<client::ProducerConfig> config = producer_config(std::move(options));
    Impl::Client& client = impl->clients[handle];
    if (!config) {
      client.problem = config.error().detail;
      return;
    }
    client.producer = std::make_unique<ProducerDriver>(impl->io, std::move(*config));
  });
  return handle;
}

void ClientRunner::produce(ClientHandle producer, OutgoingRecord record, std::function<void(Result<Delivery>)> done) {
  // On the runner's own thread (pacing) without a detour, so that a burst becomes one batch.
  asio::dispatch(impl_->io, [impl = impl_.get(), producer, record = std::move(record), done = std::move(done)]() mutable {
    const auto found = impl->clients.find(producer);
    if (found == impl->clients.end() || !found->second.producer) {
      const bool known = found != impl->clients.end() && !found->second.problem.empty();
      if (done) {
        done(Unexpected(known ? Error{Errc::invalid, found->second.problem} : closed_error()));
      }
      return;
    }
    if (!done) {
      done = [](const Result<Delivery>&) {};
    }
    found->second.producer->produce(std::move(record), std::move(done));
  });
}

void ClientRunner::flush(ClientHandle producer, std::function<void()> done) {
  asio::post(impl_->io, [impl = impl_.get(), producer, done = std::move(done)]() mutable {
    const auto found = impl->clients.find(producer);
    if (found == impl->clients.end() || !found->second.producer) {
      done();
      return;
    }
    found->second.producer->flush(std::move(done));
  });
}

ClientHandle ClientRunner::add_consumer(ConsumerOptions options,
                                        std::function<void(std::vector<IncomingRecord>&)> on_records,
                                        std::function<void(const ConsumerEvent&)> on_event) {
  const ClientHandle handle = impl_->next_handle++;
  asio::post(impl_->io, [impl = impl_.get(), handle, options = std::move(options), on_records = std::move(on_records),
                         on_event = std::move(on_event)]() mutable {
    if (impl->ending) {
      return;
    }
    Result<client::ConsumerConfig> config = consumer_config(std::move(options));
    Impl::Client& client = impl->clients[handle];
    if (!config) {
      client.problem = config.error().detail;
      if (on_event) {
        ConsumerEvent event;
        event.message = client.problem;
        event.fatal = true;
        on_event(event);
      }
      return;
    }
    client.consumer = std::make_unique<ConsumerDriver>(impl->io, std::move(*config), std::move(on_records),
                                                       std::move(on_event));
    client.consumer->tick_soon();
  });
  return handle;
}

void ClientRunner::close(ClientHandle client, std::function<void()> done) {
  asio::post(impl_->io, [impl = impl_.get(), client, done = std::move(done)]() mutable {
    impl->close(client, std::move(done));
  });
}

void ClientRunner::create_topic(const std::string& bootstrap, NewTopic topic, std::function<void(Result<void>)> done) {
  client::NewTopic made{std::move(topic.name), topic.partitions, topic.replication_factor, std::move(topic.configs)};
  impl_->administer<void>(
      bootstrap,
      [made = std::move(made)](client::Admin& admin, std::uint64_t token, Instant deadline) {
        admin.create_topic(token, made, deadline);
      },
      nothing, std::move(done));
}

void ClientRunner::delete_topic(const std::string& bootstrap, std::string name, std::function<void(Result<void>)> done) {
  impl_->administer<void>(
      bootstrap,
      [name = std::move(name)](client::Admin& admin, std::uint64_t token, Instant deadline) {
        admin.delete_topic(token, name, deadline);
      },
      nothing, std::move(done));
}

void ClientRunner::create_partitions(const std::string& bootstrap, std::string topic, std::int32_t total,
                                     std::function<void(Result<void>)> done) {
  impl_->administer<void>(
      bootstrap,
      [topic = std::move(topic), total](client::Admin& admin, std::uint64_t token, Instant deadline) {
        admin.create_partitions(token, topic, total, deadline);
      },
      nothing, std::move(done));
}

void ClientRunner::list_topics(const std::string& bootstrap,
                               std::function<void(Result<std::vector<TopicDescription>>)> done) {
  impl_->administer<std::vector<TopicDescription>>(
      bootstrap,
      [](client::Admin& admin, std::uint64_t token, Instant deadline) { admin.list_topics(token, deadline); },
      [](client::AdminResult& result) -> Result<std::vector<TopicDescription>> {
        std::vector<TopicDescription> topics;
        for (auto& topic : std::get<std::vector<client::TopicDescription>>(result.value)) {
          topics.push_back(simple(topic));
        }
        return topics;
      },
      std::move(done));
}

void ClientRunner::describe_topic(const std::string& bootstrap, std::string name,
                                  std::function<void(Result<TopicDescription>)> done) {
  impl_->administer<TopicDescription>(
      bootstrap,
      [name = std::move(name)](client::Admin& admin, std::uint64_t token, Instant deadline) {
        admin.describe_topic(token, name, deadline);
      },
      [](client::AdminResult& result) -> Result<TopicDescription> {
        return simple(std::get<std::vector<client::TopicDescription>>(result.value).front());
      },
      std::move(done));
}

void ClientRunner::topic_configs(const std::string& bootstrap, std::string name,
                                 std::function<void(Result<std::vector<TopicConfig>>)> done) {
  constexpr std::int8_t kSetOnTopic = 1;
  impl_->administer<std::vector<TopicConfig>>(
      bootstrap,
      [name = std::move(name)](client::Admin& admin, std::uint64_t token, Instant deadline) {
        admin.describe_configs(token, name, deadline);
      },
      [](client::AdminResult& result) -> Result<std::vector<TopicConfig>> {
        std::vector<TopicConfig> configs;
        for (auto& entry : std::get<std::vector<client::ConfigEntry>>(result.value)) {
          configs.push_back({std::move(entry.name), std::move(entry.value), entry.source == kSetOnTopic});
        }
        return configs;
      },
      std::move(done));
}

void ClientRunner::topic_offsets(const std::string& bootstrap, std::string name, std::int64_t timestamp,
                                 std::function<void(Result<std::vector<std::pair<std::int32_t, std::int64_t>>>)> done) {
  using Offsets = std::vector<std::pair<std::int32_t, std::int64_t>>;
  impl_->administer<Offsets>(
      bootstrap,
      [name = std::move(name), timestamp](client::Admin& admin, std::uint64_t token, Instant deadline) {
        admin.list_offsets(token, name, timestamp, deadline);
      },
      [](client::AdminResult& result) -> Result<Offsets> {
        Offsets offsets;
        for (auto& row : std::get<std::vector<client::PartitionOffset>>(result.value)) {
          if (row.error) {
            return Unexpected(std::move(*row.error));
          }
          offsets.emplace_back(row.partition.second, row.offset);
        }
        return offsets;
      },
      std::move(done));
}

void ClientRunner::call_raw(const std::string& bootstrap, client::Call call,
                            std::function<void(Result<client::Answer>)> done) {
  const Duration allowance = call.options.timeout;
  impl_->administer<client::Answer>(
      bootstrap,
      [call = std::move(call)](client::Admin& admin, std::uint64_t token, Instant deadline) {
        admin.call(token, call, deadline);
      },
      [](client::AdminResult& result) -> Result<client::Answer> {
        return std::get<client::Answer>(std::move(result.value));
      },
      std::move(done), allowance);
}

void ClientRunner::after(std::int64_t delay_ms, std::function<void()> work) {
  asio::post(impl_->io, [impl = impl_.get(), delay_ms, work = std::move(work)]() mutable {
    if (impl->ending) {
      return;
    }
    auto timer = std::make_unique<asio::steady_timer>(impl->io, std::chrono::milliseconds(delay_ms));
    asio::steady_timer* const key = timer.get();
    impl->timers.push_back(std::move(timer));
    key->async_wait([impl, key, work = std::move(work)](const asio::error_code& error) {
      if (error) {
        return;  // the runner ends
      }
      for (auto at = impl->timers.begin(); at != impl->timers.end(); ++at) {
        if (at->get() == key) {
          impl->timers.erase(at);
          break;
        }
      }
      work();
    });
  });
}

}  // namespace hw::node
