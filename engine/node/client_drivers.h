// SPDX-License-Identifier: Apache-2.0
// Drivers: what runs one client core of engine/client: its links, its timer, and the callbacks of who uses it.
//
// For client_runner.cpp only. Thread rule: the runner's thread.
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/client/admin.h"
#include "engine/client/consumer.h"
#include "engine/client/producer.h"
#include "engine/node/client_link.h"
#include "engine/node/client_runner.h"

namespace hw::node {

[[nodiscard]] Instant steady_now();
[[nodiscard]] std::int64_t wall_now_ms();
[[nodiscard]] Error closed_error();

class Driver {
 public:
  explicit Driver(asio::io_context& io) : io_(io), timer_(io) {}
  virtual ~Driver() { close_links(); }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // Gives `input` to the core, then performs its outputs; callbacks of users come last and may not destroy the driver.
  void step(const client::Input& input);
  void tick() { step(client::Input{}); }
  // One tick after everything that is at hand has been given to the core.
  void tick_soon();
  // Ends the client in good order, then calls `done`. May be called again, for another `done`.
  void close(std::function<void()> done);
  [[nodiscard]] bool finished() const noexcept { return finished_; }  // the runner removes it then

 protected:
  virtual void begin_close(Instant now) = 0;
  virtual void core_step(const client::Input& input, Instant now) = 0;
  [[nodiscard]] virtual Instant core_deadline() const = 0;

  void perform(client::IoOutputs& outputs);
  void close_links();
  void finish();  // once
  [[nodiscard]] bool closing() const noexcept { return closing_; }

 private:
  void arm(Instant now);

  asio::io_context& io_;
  asio::steady_timer timer_;
  std::map<client::LinkId, std::shared_ptr<ClientLink>> links_;
  std::vector<std::function<void()>> on_closed_;
  bool tick_posted_ = false;
  bool closing_ = false;
  bool finished_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class ProducerDriver final : public Driver {
 public:
  using Done = std::function<void(Result<Delivery>)>;
  ProducerDriver(asio::io_context& io, client::ProducerConfig config, Duration close_timeout);

  void produce(OutgoingRecord record, Done done);
  void flush(std::function<void()> done);

 protected:
  void begin_close(Instant now) override;
  void core_step(const client::Input& input, Instant now) override;
  [[nodiscard]] Instant core_deadline() const override;

 private:
  const std::size_t buffer_bytes_;
  const Duration close_timeout_;
  client::Producer core_;
  client::ProducerOutputs out_;
  std::map<std::uint64_t, Done> waiting_;
  std::vector<std::pair<std::uint64_t, std::function<void()>>> flushes_;  // done when all up to this token are answered
  std::uint64_t next_token_ = 1;
  Instant close_by_ = kNever;
};

class ConsumerDriver final : public Driver {
 public:
  using OnRecords = std::function<void(std::vector<IncomingRecord>&)>;
  using OnEvent = std::function<void(const ConsumerEvent&)>;
  ConsumerDriver(asio::io_context& io, client::ConsumerConfig config, OnRecords on_records, OnEvent on_event);

  // Changes the core, which then takes a step.
  void change(const std::function<void(client::Consumer&, Instant, client::ConsumerOutputs&)>& how);
  void crash(std::function<void()> done);
  [[nodiscard]] ConsumerStatus status() const;

 protected:
  void begin_close(Instant now) override;
  void core_step(const client::Input& input, Instant now) override;
  [[nodiscard]] Instant core_deadline() const override { return core_.next_deadline(); }

 private:
  void tell();
  client::Consumer core_;
  client::ConsumerOutputs out_;
  OnRecords on_records_;
  OnEvent on_event_;
};

class AdminDriver final : public Driver {
 public:
  using Done = std::function<void(client::AdminResult)>;
  AdminDriver(asio::io_context& io, client::ClusterConfig config) : Driver(io), core_(std::move(config)) {}

  // `start` gives the core one call.
  void call(const std::function<void(client::Admin&, std::uint64_t token, Instant deadline)>& start, Duration allowance,
            Done done);

 protected:
  void begin_close(Instant now) override;
  void core_step(const client::Input& input, Instant now) override;
  [[nodiscard]] Instant core_deadline() const override;

 private:
  void tell();
  client::Admin core_;
  client::AdminOutputs out_;
  std::map<std::uint64_t, Done> waiting_;
  std::uint64_t next_token_ = 1;
  Instant idle_until_ = kNever;
};

}  // namespace hw::node
