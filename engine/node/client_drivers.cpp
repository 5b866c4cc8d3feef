// SPDX-License-Identifier: Apache-2.0
#include "engine/node/client_drivers.h"

#include <asio/post.hpp>
#include <chrono>
#include <random>

namespace hw::node {

using client::Input;

namespace {
constexpr Duration kAdminKept = seconds(30);

Prng seeded() {
  std::random_device device;
  return Prng((std::uint64_t{device()} << 32) | device());
}

// A member of a consumer group has an id before it joins, and keeps it (KIP-1082).
client::ConsumerConfig with_member_id(client::ConsumerConfig config) {
  if (config.protocol == client::GroupProtocol::consumer && config.member_id.empty()) {
    Prng prng = seeded();
    config.member_id = Uuid::random(prng).text();
  }
  return config;
}

ConsumerEvent::Kind kind_of(client::ConsumerEvent::Kind kind) {
  using From = client::ConsumerEvent::Kind;
  using To = ConsumerEvent::Kind;
  switch (kind) {
    case From::assigned:
      return To::assigned;
    case From::revoked:
      return To::revoked;
    case From::reached_end:
      return To::reached_end;
    case From::error:
      return To::error;
    case From::committed:
      return To::committed;
    case From::commit_failed:
      return To::commit_failed;
    case From::late:
      return To::late;
    case From::truncated:
      return To::truncated;
  }
  return To::error;
}
}  // namespace

Instant steady_now() {
  return Instant{std::chrono::duration_cast<std::chrono::nanoseconds>(
                     std::chrono::steady_clock::now().time_since_epoch())
                     .count()};
}
std::int64_t wall_now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}
Error closed_error() { return Error{Errc::closed, "the client is closed"}; }

// ---- Driver

void Driver::step(const Input& input) {
  const Instant now = steady_now();
  if (input.kind == Input::Kind::failed || input.kind == Input::Kind::closed) {
    links_.erase(input.link);
  }
  core_step(input, now);
  arm(now);
}

void Driver::tick_soon() {
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

void Driver::close(std::function<void()> done) {
  if (finished_) {
    done();
    return;
  }
  on_closed_.push_back(std::move(done));
  if (!closing_) {
    closing_ = true;
    begin_close(steady_now());
  }
  tick_soon();
}

void Driver::finish() {
  if (finished_) {
    return;
  }
  finished_ = true;
  close_links();
  std::vector<std::function<void()>> all;
  all.swap(on_closed_);
  for (const auto& done : all) {
    done();
  }
}

void Driver::perform(client::IoOutputs& outputs) {
  for (const auto& open : outputs.opens) {
    auto link = std::make_shared<ClientLink>(io_, open.link, open.endpoint, [this](const Input& input) { step(input); });
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

void Driver::close_links() {
  for (auto& [id, link] : links_) {
    link->close();
  }
  links_.clear();
}

void Driver::arm(Instant now) {
  const Instant deadline = core_deadline();
  if (deadline >= kNever || finished_) {
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

// ---- producer

ProducerDriver::ProducerDriver(asio::io_context& io, client::ProducerConfig config, Duration close_timeout)
    : Driver(io), buffer_bytes_(config.buffer_bytes), close_timeout_(close_timeout), core_(std::move(config), seeded()) {}

Instant ProducerDriver::core_deadline() const { return std::min(core_.next_deadline(), close_by_); }

void ProducerDriver::produce(OutgoingRecord record, Done done) {
  if (closing()) {
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
    const std::size_t mebibytes = buffer_bytes_ >> 20U;
    done(fail(Errc::too_large, (mebibytes == 0 ? std::to_string(buffer_bytes_) + " bytes" : std::to_string(mebibytes) + " MiB") +
                                   " of records wait for the broker; send slower, or wait until some are answered"));
    return;
  }
  waiting_.emplace_hint(waiting_.end(), token, std::move(done));
  tick_soon();
}

void ProducerDriver::flush(std::function<void()> done) {
  if (waiting_.empty()) {
    done();
    return;
  }
  flushes_.emplace_back(next_token_ - 1, std::move(done));
  core_.flush(steady_now(), out_);
  tick_soon();
}

void ProducerDriver::begin_close(Instant now) {
  close_by_ = now + close_timeout_;
  core_.flush(now, out_);
}

void ProducerDriver::core_step(const Input& input, Instant now) {
  core_.step(input, now, out_);
  if (closing() && close_by_ <= now) {
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
  if (closing() && core_.unanswered() == 0) {
    finish();
  }
}

// ---- consumer

ConsumerDriver::ConsumerDriver(asio::io_context& io, client::ConsumerConfig config, OnRecords on_records, OnEvent on_event)
    : Driver(io), core_(with_member_id(std::move(config)), steady_now()), on_records_(std::move(on_records)), on_event_(std::move(on_event)) {}

void ConsumerDriver::change(const std::function<void(client::Consumer&, Instant, client::ConsumerOutputs&)>& how) {
  how(core_, steady_now(), out_);
  tick_soon();
}

void ConsumerDriver::begin_close(Instant now) { core_.close(now, out_); }

void ConsumerDriver::crash(std::function<void()> done) {
  core_.crash(out_);
  perform(out_.io);
  close(std::move(done));
}

ConsumerStatus ConsumerDriver::status() const {
  ConsumerStatus status;
  status.member_id = core_.member_id();
  status.generation = core_.generation();
  status.leader = core_.leads();
  for (const client::PartitionStatus& one : core_.status()) {
    status.partitions.push_back({one.partition.first, one.partition.second, one.position, one.committed, one.high_watermark,
                                 one.lag(), static_cast<std::int64_t>(one.buffered_bytes), one.paused});
  }
  return status;
}

void ConsumerDriver::core_step(const Input& input, Instant now) {
  core_.step(input, now, out_);
  perform(out_.io);
  tell();
  if (closing() && core_.closed()) {
    finish();
  }
}

void ConsumerDriver::tell() {
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
      on_event_({kind_of(event.kind), std::move(event.partitions), std::move(event.message), event.fatal,
                 std::move(event.offsets)});
    }
  }
}

// ---- admin

void AdminDriver::call(const std::function<void(client::Admin&, std::uint64_t token, Instant deadline)>& start,
                       Duration allowance, Done done) {
  const std::uint64_t token = next_token_++;
  waiting_[token] = std::move(done);
  start(core_, token, steady_now() + allowance);
  tick_soon();
}

void AdminDriver::begin_close(Instant) {
  core_.abort(closed_error(), out_);
  tell();
  finish();
}

void AdminDriver::core_step(const Input& input, Instant now) {
  core_.step(input, now, out_);
  perform(out_.io);
  tell();
  if (!waiting_.empty()) {
    idle_until_ = kNever;
  } else if (idle_until_ == kNever) {
    idle_until_ = now + kAdminKept;
  } else if (idle_until_ <= now) {
    finish();
  }
}

Instant AdminDriver::core_deadline() const { return std::min(core_.next_deadline(), idle_until_); }

void AdminDriver::tell() {
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

}  // namespace hw::node
