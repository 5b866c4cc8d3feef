// SPDX-License-Identifier: Apache-2.0
#include "engine/sim/client_host.h"

#include <fmt/core.h>

#include <utility>

namespace hw::sim {

using client::Input;

namespace {
constexpr Duration kBackAfter = seconds(2);
constexpr std::int64_t kEpochMs = 1'700'000'000'000;
}  // namespace

ClientHost::ClientHost(ClientSetting setting, const std::string& name)
    : set_(setting), name_(name), host_(setting.network.add_host(name)) {}

void ClientHost::step(const Input& input) {
  core_step(input);
  arm();
}

void ClientHost::then(Duration delay, std::function<void()> action) {
  set_.queue.after(delay, [this, life = life_, action = std::move(action)] {
    if (life == life_) {
      action();
    }
  });
}

void ClientHost::perform(client::IoOutputs& given) {
  client::IoOutputs out;
  std::swap(out, given);
  for (const auto& open : out.opens) {
    Network::End end;
    end.frame = [this, life = life_, link = open.link](Bytes frame) {
      if (life == life_ && links_.contains(link)) {
        step({Input::Kind::frame, link, std::move(frame), {}});
      }
    };
    end.closed = [this, life = life_, link = open.link](const std::string& why) {
      if (life == life_ && links_.erase(link) != 0) {
        step({Input::Kind::closed, link, {}, why});
      }
    };
    links_[open.link] = set_.network.open(host_, open.endpoint.host, open.endpoint.port, std::move(end), [this, life = life_, link = open.link] {
      if (life == life_ && links_.contains(link)) {
        step({Input::Kind::opened, link, {}, {}});
      }
    });
  }
  for (const auto& send : out.sends) {
    if (const auto link = links_.find(send.link); link != links_.end()) {
      set_.network.send(link->second, Side::opener, send.frame);
    }
  }
  for (const client::LinkId id : out.closes) {
    if (const auto link = links_.find(id); link != links_.end()) {
      set_.network.close(link->second, Side::opener);
      links_.erase(link);
    }
  }
}

void ClientHost::arm() {
  const Instant deadline = core_deadline();
  if (deadline >= kNever || deadline >= armed_for_) {
    return;
  }
  armed_for_ = deadline;
  set_.queue.at(deadline, [this, life = life_, deadline] {
    if (life == life_ && armed_for_ == deadline) {
      armed_for_ = kNever;
      tick();
    }
  });
}

void ClientHost::end_life() {
  ++life_;
  armed_for_ = kNever;
  links_.clear();
  set_.network.host_died(host_, false);
}

// ---------------------------------------------------------------- producers

ProducerHost::ProducerHost(ClientSetting setting, Options options, Prng prng)
    : ClientHost(setting, "producer-" + std::to_string(options.number)), options_(std::move(options)), prng_(prng) {
  core_ = std::make_unique<client::Producer>(options_.config, Prng(prng_.next()));
  if (options_.idempotent) {
    history().idempotent.insert(options_.number);
  }
}

void ProducerHost::begin() {
  producing_ = true;
  produce();
}

void ProducerHost::produce() {
  if (!producing_) {
    core_->flush(now(), out_);
    tick();
    return;
  }
  const std::int64_t burst = prng_.chance({1, 10}) ? prng_.between(2, 30) : 1;
  for (std::int64_t i = 0; i < burst; ++i) {
    client::ProducerRecord record;
    record.topic = options_.topics[prng_.below(options_.topics.size())];
    const RecordName name{options_.number, next_};
    record.key = Bytes::copy_of(std::to_string(prng_.below(50)));
    record.value = value_of(name, options_.record_bytes);
    record.timestamp_ms = kEpochMs + now().ns / 1'000'000;
    record.token = static_cast<std::uint64_t>(next_);
    const std::string topic = record.topic;
    if (!core_->send(std::move(record), now(), out_)) {
      break;
    }
    topic_of_[next_] = topic;
    history().made[options_.number] = ++next_;
    ++history().sent;
  }
  tick();
  then(milliseconds(prng_.between(1, options_.interval_ms * burst * 2)), [this] { produce(); });
}

void ProducerHost::core_step(const Input& input) {
  core_->step(input, now(), out_);
  perform(out_.io);
  tell();
}

void ProducerHost::tell() {
  std::vector<client::Delivery> deliveries;
  deliveries.swap(out_.deliveries);
  for (const client::Delivery& delivery : deliveries) {
    const auto number = static_cast<std::int64_t>(delivery.token);
    const auto topic = topic_of_.extract(number);
    if (topic.empty()) {
      continue;
    }
    if (delivery.error) {
      ++history().failed;
      continue;
    }
    ++history().acked;
    if (options_.acks == -1 && delivery.offset >= 0) {
      const PartitionKey key{topic.mapped(), delivery.partition};
      history().seen.push_back({key, delivery.offset, {options_.number, number}, false});
      std::int64_t& end = history().acknowledged_end[key];
      end = std::max(end, delivery.offset + 1);
    }
  }
}

void ProducerHost::crash() {
  say("dies with " + std::to_string(core_->unanswered()) + " records unanswered");
  end_life();
  out_.clear();
  topic_of_.clear();
  history().lives[options_.number].push_back(next_);
  core_ = std::make_unique<client::Producer>(options_.config, Prng(prng_.next()));
  if (producing_) {
    then(kBackAfter, [this] { produce(); });
  }
}

// ---------------------------------------------------------------- consumers

ConsumerHost::ConsumerHost(ClientSetting setting, client::ConsumerConfig config)
    : ClientHost(setting, config.cluster.client_id), config_(std::move(config)) {}

void ConsumerHost::begin() {
  if (config_.protocol == client::GroupProtocol::consumer) {
    config_.member_id = fmt::format("{}-{}", name(), ++lives_);  // each process makes an id up
  }
  core_ = std::make_unique<client::Consumer>(config_, now());
  tick();
}

void ConsumerHost::core_step(const Input& input) {
  core_->step(input, now(), out_);
  perform(out_.io);
  tell();
}

void ConsumerHost::tell() {
  std::vector<client::ConsumedRecord> records;
  records.swap(out_.records);
  for (const client::ConsumedRecord& record : records) {
    ++history().consumed;
    history().seen.push_back({{*record.topic, record.partition}, record.offset,
                              record.value ? name_of(record.value->text()) : RecordName{}, true});
  }
  std::vector<client::ConsumerEvent> events;
  events.swap(out_.events);
  using Kind = client::ConsumerEvent::Kind;
  for (const client::ConsumerEvent& event : events) {
    if (event.kind == Kind::assigned) {
      say(fmt::format("has {} partitions in generation {}", event.partitions.size(), core_->generation()));
      for (const client::TopicPartition& partition : event.partitions) {
        history().assigned.push_back({config_.group_id, core_->generation(), core_->member_id(), partition});
        beginning_[partition] = history().committed[{config_.group_id, partition}];
      }
    } else if (event.kind == Kind::revoked) {
      for (const client::TopicPartition& partition : event.partitions) {
        beginning_.erase(partition);
      }
    } else if (event.kind == Kind::committed) {
      ++history().commits;
      for (std::size_t i = 0; i < event.partitions.size() && i < event.offsets.size(); ++i) {
        std::int64_t& last = history().committed[{config_.group_id, event.partitions[i]}];
        last = std::max(last, event.offsets[i]);
      }
    } else if (event.kind == Kind::error && event.fatal) {
      say("ends: " + event.message);
    }
  }
  for (auto it = beginning_.begin(); it != beginning_.end();) {
    const std::optional<std::int64_t> position = core_->position(it->first);
    if (position) {
      history().begun.push_back({config_.group_id, it->first, *position, it->second});
      it = beginning_.erase(it);
    } else {
      ++it;
    }
  }
}

void ConsumerHost::crash() {
  if (core_ == nullptr) {
    return;
  }
  say("dies");
  end_life();
  out_.clear();
  beginning_.clear();
  core_.reset();
  then(kBackAfter, [this] { begin(); });
}

}  // namespace hw::sim
