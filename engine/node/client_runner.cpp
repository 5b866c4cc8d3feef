// SPDX-License-Identifier: Apache-2.0
#include "engine/node/client_runner.h"

#include <algorithm>
#include <asio/dispatch.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "engine/node/client_drivers.h"
#include "engine/node/client_options.h"

namespace hw::node {
namespace {

constexpr Duration kAdminAllowance = seconds(15);

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
    [[nodiscard]] Driver* driver() const noexcept {
      return producer != nullptr ? static_cast<Driver*>(producer.get()) : consumer.get();
    }
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
        const Driver* const driver = at->second.driver();
        at = driver != nullptr && driver->finished() ? clients.erase(at) : std::next(at);
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
    } else if (Driver* const driver = found->second.driver()) {
      driver->close(finished);
    } else {
      clients.erase(found);
      finished();
    }
  }
  void end() {
    ending = true;
    timers.clear();
    for (auto& [bootstrap, admin] : admins) {
      admin->close([] {});
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
    const Duration close_timeout = milliseconds(options.close_timeout_ms);
    Result<client::ProducerConfig> config = producer_config(std::move(options));
    Impl::Client& client = impl->clients[handle];
    if (!config) {
      client.problem = config.error().detail;
      return;
    }
    client.producer = std::make_unique<ProducerDriver>(impl->io, std::move(*config), close_timeout);
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
    Result<client::ConsumerConfig> config =
        consumer_config(std::move(options), wall_now_ms() - Duration{steady_now().ns}.ms());
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

void ClientRunner::with_consumer(ClientHandle consumer, std::function<void(ConsumerDriver&)> work) {
  asio::post(impl_->io, [impl = impl_.get(), consumer, work = std::move(work)] {
    const auto found = impl->clients.find(consumer);
    if (found != impl->clients.end() && found->second.consumer) {
      work(*found->second.consumer);
    }
  });
}

void ClientRunner::pause(ClientHandle consumer, Partitions partitions) {
  with_consumer(consumer, [partitions = std::move(partitions)](ConsumerDriver& driver) {
    driver.change([&](client::Consumer& core, Instant, client::ConsumerOutputs&) { core.pause(partitions); });
  });
}
void ClientRunner::resume(ClientHandle consumer, Partitions partitions) {
  with_consumer(consumer, [partitions = std::move(partitions)](ConsumerDriver& driver) {
    driver.change([&](client::Consumer& core, Instant, client::ConsumerOutputs&) { core.resume(partitions); });
  });
}
void ClientRunner::seek(ClientHandle consumer, std::string topic, std::int32_t partition, std::int64_t offset) {
  with_consumer(consumer, [key = client::TopicPartition{std::move(topic), partition}, offset](ConsumerDriver& driver) {
    driver.change([&](client::Consumer& core, Instant, client::ConsumerOutputs&) { core.seek(key, offset); });
  });
}
void ClientRunner::seek_to_time(ClientHandle consumer, std::string topic, std::int32_t partition,
                                std::int64_t timestamp_ms) {
  with_consumer(consumer, [key = client::TopicPartition{std::move(topic), partition}, timestamp_ms](ConsumerDriver& driver) {
    driver.change([&](client::Consumer& core, Instant, client::ConsumerOutputs&) { core.seek_to_time(key, timestamp_ms); });
  });
}
void ClientRunner::commit(ClientHandle consumer) {
  with_consumer(consumer, [](ConsumerDriver& driver) {
    driver.change([](client::Consumer& core, Instant now, client::ConsumerOutputs& out) { core.commit(now, out); });
  });
}
void ClientRunner::set_handler_delay(ClientHandle consumer, std::int64_t per_record_us) {
  with_consumer(consumer, [per_record_us](ConsumerDriver& driver) {
    driver.change([&](client::Consumer& core, Instant, client::ConsumerOutputs&) {
      core.set_handler_delay(microseconds(std::max<std::int64_t>(per_record_us, 0)));
    });
  });
}

void ClientRunner::status(ClientHandle consumer, std::function<void(Result<ConsumerStatus>)> done) {
  asio::post(impl_->io, [impl = impl_.get(), consumer, done = std::move(done)] {
    const auto found = impl->clients.find(consumer);
    if (found == impl->clients.end() || !found->second.consumer || found->second.consumer->finished()) {
      done(Unexpected(closed_error()));
    } else {
      done(found->second.consumer->status());
    }
  });
}

void ClientRunner::crash(ClientHandle consumer, std::function<void()> done) {
  asio::post(impl_->io, [impl = impl_.get(), consumer, done = std::move(done)] {
    const auto finished = [impl, done] {
      if (done) {
        done();
      }
      impl->sweep_soon();
    };
    const auto found = impl->clients.find(consumer);
    if (found == impl->clients.end() || !found->second.consumer) {
      finished();
    } else {
      found->second.consumer->crash(finished);
    }
  });
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
