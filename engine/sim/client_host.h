// SPDX-License-Identifier: Apache-2.0
// ClientHosts: the shells of the client cores of engine/client, and what they do all day.
//
//   ProducerHost  records at a drawn rate to drawn partitions; what is acknowledged goes into the History
//   ConsumerHost  a member of a group, by either protocol, that commits
// The administrator is in admin_host.h.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/prng.h"
#include "engine/client/consumer.h"
#include "engine/client/producer.h"
#include "engine/sim/event_queue.h"
#include "engine/sim/history.h"
#include "engine/sim/network.h"
#include "engine/sim/trace.h"

namespace hw::sim {

struct ClientSetting {
  EventQueue& queue;
  Network& network;
  Trace& trace;
  History& history;
};

class ClientHost {
 public:
  ClientHost(ClientSetting setting, const std::string& name);
  virtual ~ClientHost() = default;
  ClientHost(const ClientHost&) = delete;
  ClientHost& operator=(const ClientHost&) = delete;
  [[nodiscard]] HostId host() const noexcept { return host_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 protected:
  virtual void core_step(const client::Input& input) = 0;
  [[nodiscard]] virtual Instant core_deadline() const = 0;
  void step(const client::Input& input);
  void tick() { step({}); }
  void perform(client::IoOutputs& out);
  void arm();
  // The process is gone; what was under way for it is dropped.
  void end_life();
  [[nodiscard]] Instant now() const noexcept { return set_.queue.now(); }
  [[nodiscard]] History& history() noexcept { return set_.history; }
  void say(const std::string& text) { set_.trace.line(now(), name_ + ": " + text); }
  // Runs `action` then, if this life still lasts.
  void then(Duration delay, std::function<void()> action);

 private:
  ClientSetting set_;
  std::string name_;
  HostId host_;
  std::uint32_t life_ = 0;
  std::map<client::LinkId, StreamId> links_;
  Instant armed_for_ = kNever;
};

class ProducerHost final : public ClientHost {
 public:
  struct Options {
    std::int32_t number = 0;
    std::int16_t acks = -1;
    bool idempotent = true;
    std::int64_t interval_ms = 20;
    std::size_t record_bytes = 100;
    std::vector<std::string> topics;
    client::ProducerConfig config;
  };
  ProducerHost(ClientSetting setting, Options options, Prng prng);
  void begin();
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  void end() noexcept { producing_ = false; }  // nothing new; what is there is still delivered
  void crash();                                // and begins anew, as another process
  [[nodiscard]] bool idle() const noexcept { return !producing_ && core_->unanswered() == 0; }
  [[nodiscard]] Duration delivery_timeout() const noexcept { return options_.config.delivery_timeout; }
  [[nodiscard]] std::size_t unanswered() const noexcept { return core_->unanswered(); }
  [[nodiscard]] const std::string& problem() const noexcept { return core_->problem(); }

 private:
  void core_step(const client::Input& input) override;
  [[nodiscard]] Instant core_deadline() const override { return core_->next_deadline(); }
  void produce();
  void tell();

  Options options_;
  Prng prng_;
  std::unique_ptr<client::Producer> core_;
  client::ProducerOutputs out_;
  bool producing_ = false;
  std::int64_t next_ = 1;
  std::map<std::int64_t, std::string> topic_of_;  // of what is not answered
};

class ConsumerHost final : public ClientHost {
 public:
  ConsumerHost(ClientSetting setting, client::ConsumerConfig config);
  void begin();
  void crash();  // silent; comes back after a while
  [[nodiscard]] const client::Consumer& core() const noexcept { return *core_; }
  [[nodiscard]] bool running() const noexcept { return core_ != nullptr; }

 private:
  void core_step(const client::Input& input) override;
  [[nodiscard]] Instant core_deadline() const override { return core_->next_deadline(); }
  void tell();

  client::ConsumerConfig config_;
  std::int32_t lives_ = 0;
  std::unique_ptr<client::Consumer> core_;
  client::ConsumerOutputs out_;
  std::map<PartitionKey, std::int64_t> beginning_;  // assigned, position not known yet; what was committed then
};

}  // namespace hw::sim
