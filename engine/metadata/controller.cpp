// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/controller.h"

#include <algorithm>
#include <array>

#include "engine/base/assert.h"
#include "engine/metadata/detail/controller_impl.h"

namespace hw::metadata {

using wire::ErrorCode;

std::span<const FeatureRange> supported_features() noexcept {
  // Only what is built. transaction.version, group.version, share.version, streams.version and
  // eligible.leader.replicas.version join with the protocols they switch on: clients take a finalized level at its word.
  static constexpr std::array<FeatureRange, 2> kFeatures{{
      {"kraft.version", 0, 1, 1},
      {"metadata.version", 7, kMetadataVersion, kMetadataVersion},
  }};
  return kFeatures;
}

Controller::Controller(Options options, Prng prng) : impl_(std::make_unique<Impl>(std::move(options), prng)) {
  HW_ASSERT(impl_->options.broker_configs != nullptr, "a controller has configuration");
}
Controller::~Controller() = default;

bool Controller::active() const noexcept { return impl_->active; }
bool Controller::has_records() const noexcept { return !impl_->outbox.empty(); }
const MetadataImage& Controller::newest() const noexcept { return impl_->image(); }
const BrokerConfigs& Controller::broker_configs() const noexcept { return *impl_->options.broker_configs; }

void Controller::become_active(ImagePtr image, std::int32_t epoch, Offset next_offset) {
  HW_ASSERT(!impl_->active, "a controller becomes active once");
  impl_->newest = ImageBuilder(std::move(image), ImageBuilder::Tracking::off);
  impl_->collisions.clear();
  for (const auto& [name, topic] : impl_->image().topics()) {
    impl_->index_name(name, true);
  }
  impl_->epoch = epoch;
  impl_->next_offset = next_offset;
  impl_->active = true;
}

void Controller::resign() {
  impl_->active = false;
  impl_->outbox.clear();
  std::deque<Impl::Waiting> waiting = std::exchange(impl_->waiting, {});
  for (Impl::Waiting& entry : waiting) {
    entry.run(false);
  }
}

std::vector<std::vector<Record>> Controller::take_records() { return std::exchange(impl_->outbox, {}); }

void Controller::write_records(std::vector<Record> records) {
  HW_ASSERT(impl_->active, "the active controller writes");
  impl_->write(std::move(records), [](bool) {});
}

void Controller::committed(Offset high_watermark) {
  impl_->committed_to = std::max(impl_->committed_to, high_watermark);
  while (!impl_->waiting.empty() && impl_->waiting.front().needs <= impl_->committed_to) {
    const Impl::Waiting next = std::move(impl_->waiting.front());
    impl_->waiting.pop_front();
    next.run(true);
  }
}

// --- writing

namespace {

// About the bytes of a record in the log; never much too low.
std::size_t size_of(const Record& record) {
  constexpr std::size_t kOther = 256;
  constexpr std::size_t kPerReplica = 48;
  if (const auto* config = std::get_if<wire::ConfigRecord>(&record)) {
    return 32 + config->resource_name.size() + config->name.size() + (config->value ? config->value->size() : 0);
  }
  if (const auto* partition = std::get_if<wire::PartitionRecord>(&record)) {
    return 64 + kPerReplica * partition->replicas.size();
  }
  if (const auto* change = std::get_if<wire::PartitionChangeRecord>(&record)) {
    return 64 + (change->isr ? kPerReplica * change->isr->size() : 0);
  }
  return kOther;
}

std::vector<std::vector<Record>> in_batches(std::vector<Record> records) {
  std::vector<std::vector<Record>> batches(1);
  std::size_t size = 0;
  for (Record& record : records) {
    const std::size_t more = size_of(record);
    if (size + more > kBatchBytes && !batches.back().empty()) {
      batches.emplace_back();
      size = 0;
    }
    size += more;
    batches.back().push_back(std::move(record));
  }
  return batches;
}

}  // namespace

void Controller::Impl::write(std::vector<Record> records, std::function<void(bool)> run, Atomic atomic) {
  if (!active) {
    run(false);
    return;
  }
  if (!records.empty()) {
    std::vector<std::vector<Record>> batches = in_batches(std::move(records));
    if (batches.size() > 1 && atomic == Atomic::yes) {
      batches.front().insert(batches.front().begin(), Record(wire::BeginTransactionRecord{}));
      batches.back().emplace_back(wire::EndTransactionRecord{});
    }
    for (std::vector<Record>& batch : batches) {
      for (const Record& record : batch) {
        replay(record, next_offset);
        next_offset += 1;
      }
      outbox.push_back(std::move(batch));
    }
  }
  if (waiting.empty() && next_offset <= committed_to) {
    run(true);
    return;
  }
  waiting.push_back({next_offset, std::move(run)});
}

void Controller::Impl::replay(const Record& record, Offset offset) {
  if (const auto* created = std::get_if<wire::TopicRecord>(&record)) {
    index_name(created->name, true);
  } else if (const auto* removed = std::get_if<wire::RemoveTopicRecord>(&record)) {
    if (const TopicImage* topic = newest.find_topic(removed->topic_id)) {
      index_name(topic->name, false);
    }
  }
  const Result<void> replayed = newest.replay(record, offset, epoch);
  HW_ASSERT(replayed.has_value(), "the controller's own records replay");
}

void Controller::Impl::index_name(const std::string& name, bool exists) {
  if (name.find_first_of("._") == std::string::npos) {
    return;
  }
  std::string key = name;
  std::replace(key.begin(), key.end(), '.', '_');
  if (exists) {
    collisions[key].insert(name);
    return;
  }
  if (const auto at = collisions.find(key); at != collisions.end()) {
    at->second.erase(name);
    if (at->second.empty()) {
      collisions.erase(at);
    }
  }
}

// --- brokers

std::vector<UsableBroker> Controller::Impl::usable_brokers() const {
  std::vector<UsableBroker> result;
  for (const auto& [id, broker] : image().brokers()) {
    result.push_back({id, broker.rack, broker.fenced || broker.in_controlled_shutdown});
  }
  return result;
}

Uuid Controller::Impl::directory_of(BrokerId id) const {
  const BrokerImage* broker = image().find_broker(id);
  return broker != nullptr && broker->log_directories.size() == 1 ? broker->log_directories.front() : Uuid{};
}

std::vector<Record> Controller::Impl::records_for_fencing(BrokerId broker) const {
  std::vector<Record> records;
  for (const auto& [name, topic] : image().topics()) {
    for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
      const PartitionImage& partition = topic->partitions[i];
      const bool in_isr = std::find(partition.isr.begin(), partition.isr.end(), broker) != partition.isr.end();
      if (!in_isr && partition.leader != broker) {
        continue;
      }
      wire::PartitionChangeRecord change;
      change.topic_id = topic->id;
      change.partition_id = PartitionIndex(static_cast<std::int32_t>(i));
      std::vector<BrokerId> isr = partition.isr;
      std::erase(isr, broker);
      if (!isr.empty()) {
        change.isr.emplace();
        for (const BrokerId id : isr) {
          change.isr->push_back(id);
        }
      }
      if (partition.leader == broker) {
        change.leader = kNoBroker;
        for (const BrokerId id : partition.replicas) {
          const BrokerImage* other = image().find_broker(id);
          if (other != nullptr && !other->fenced && std::find(isr.begin(), isr.end(), id) != isr.end()) {
            change.leader = id;
            break;
          }
        }
      } else if (isr.empty()) {
        continue;
      }
      records.emplace_back(std::move(change));
    }
  }
  return records;
}

namespace {

std::vector<Record> records_for_unfencing(const MetadataImage& image, BrokerId broker) {
  std::vector<Record> records;
  for (const auto& [name, topic] : image.topics()) {
    for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
      const PartitionImage& partition = topic->partitions[i];
      if (partition.leader == kNoBroker &&
          std::find(partition.isr.begin(), partition.isr.end(), broker) != partition.isr.end()) {
        wire::PartitionChangeRecord change;
        change.topic_id = topic->id;
        change.partition_id = PartitionIndex(static_cast<std::int32_t>(i));
        change.leader = broker;
        records.emplace_back(std::move(change));
      }
    }
  }
  return records;
}

}  // namespace

void Controller::register_broker(const Registration& registration, Done<ErrorCode> done) {
  std::vector<Record> records;
  if (impl_->active) {
    const BrokerImage* known = impl_->image().find_broker(registration.broker);
    if (known != nullptr && !known->fenced) {
      // It came back without having been fenced: whatever it led ended with its former life (the leader epoch rises,
      // so that clients notice where the log was cut).
      records = impl_->records_for_fencing(registration.broker);
    }
    wire::RegisterBrokerRecord record;
    record.broker_id = registration.broker;
    record.incarnation_id = registration.incarnation;
    for (const ListenerImage& listener : registration.listeners) {
      wire::RegisterBrokerRecord::BrokerEndpoint end_point;
      end_point.name = listener.name;
      end_point.host = listener.host;
      end_point.port = listener.port;
      end_point.security_protocol = listener.security_protocol;
      record.end_points.push_back(std::move(end_point));
    }
    for (const FeatureRange& range : supported_features()) {
      wire::RegisterBrokerRecord::BrokerFeature feature;
      feature.name = range.name;
      feature.min_supported_version = range.min_supported;
      feature.max_supported_version = range.max_supported;
      record.features.push_back(std::move(feature));
    }
    record.rack = registration.rack;
    record.fenced = true;
    record.log_dirs = registration.log_directories;
    record.broker_epoch = (impl_->next_offset + static_cast<OffsetDelta>(records.size())).value();
    records.emplace_back(std::move(record));
  }
  impl_->finish<ErrorCode>(std::move(records), ErrorCode::none, ErrorCode::not_controller, std::move(done),
                           Impl::Atomic::no);
}

void Controller::unfence_broker(BrokerId broker, Done<ErrorCode> done) {
  std::vector<Record> records;
  ErrorCode result = ErrorCode::none;
  const BrokerImage* known = impl_->image().find_broker(broker);
  if (known == nullptr) {
    result = ErrorCode::broker_id_not_registered;
  } else if (known->fenced && impl_->active) {
    wire::BrokerRegistrationChangeRecord change;
    change.broker_id = broker;
    change.broker_epoch = known->epoch;
    change.fenced = -1;
    records.emplace_back(std::move(change));
    for (Record& record : records_for_unfencing(impl_->image(), broker)) {
      records.push_back(std::move(record));
    }
  }
  impl_->finish<ErrorCode>(std::move(records), result, ErrorCode::not_controller, std::move(done), Impl::Atomic::no);
}

void Controller::fence_broker(BrokerId broker, Done<ErrorCode> done) {
  std::vector<Record> records;
  ErrorCode result = ErrorCode::none;
  const BrokerImage* known = impl_->image().find_broker(broker);
  if (known == nullptr) {
    result = ErrorCode::broker_id_not_registered;
  } else if (!known->fenced && impl_->active) {
    records = impl_->records_for_fencing(broker);
    wire::BrokerRegistrationChangeRecord change;
    change.broker_id = broker;
    change.broker_epoch = known->epoch;
    change.fenced = 1;
    records.emplace_back(std::move(change));
  }
  impl_->finish<ErrorCode>(std::move(records), result, ErrorCode::not_controller, std::move(done), Impl::Atomic::no);
}

// --- producer ids

void Controller::allocate_producer_ids(BrokerId broker, Done<ProducerIdBlock> done) {
  constexpr std::int32_t kBlockSize = 1000;
  std::vector<Record> records;
  ProducerIdBlock block;
  ProducerIdBlock failure;
  failure.error = ErrorCode::not_controller;
  if (impl_->active) {
    const BrokerImage* known = impl_->image().find_broker(broker);
    const std::int64_t first = impl_->image().next_producer_id();
    if (known == nullptr) {
      block.error = ErrorCode::broker_id_not_registered;
    } else if (first > INT64_MAX - kBlockSize) {
      block.error = ErrorCode::unknown_server_error;  // after 10^16 blocks
    } else {
      block.first = first;
      block.size = kBlockSize;
      wire::ProducerIdsRecord record;
      record.broker_id = broker;
      record.broker_epoch = known->epoch;
      record.next_producer_id = first + kBlockSize;
      records.emplace_back(record);
    }
  }
  impl_->finish<ProducerIdBlock>(std::move(records), block, failure, std::move(done));
}

void Controller::new_producer_id(Done<std::pair<ErrorCode, ProducerId>> done) {
  Impl& s = *impl_;
  s.producer_id_waiters.push_back(std::move(done));
  s.serve_producer_ids();
  if (s.producer_id_waiters.empty() || s.block_asked) {
    return;
  }
  s.block_asked = true;
  allocate_producer_ids(s.options.node, [&s](const ProducerIdBlock& block) {
    s.block_asked = false;
    if (block.error == ErrorCode::none) {
      s.next_producer_id = block.first;
      s.producer_ids_left = block.size;
      s.serve_producer_ids();
      return;
    }
    std::deque<Done<std::pair<ErrorCode, ProducerId>>> waiters = std::exchange(s.producer_id_waiters, {});
    for (const Done<std::pair<ErrorCode, ProducerId>>& waiter : waiters) {
      waiter({block.error, kNoProducerId});
    }
  });
}

void Controller::Impl::serve_producer_ids() {
  while (producer_ids_left > 0 && !producer_id_waiters.empty()) {
    const Done<std::pair<ErrorCode, ProducerId>> waiter = std::move(producer_id_waiters.front());
    producer_id_waiters.pop_front();
    --producer_ids_left;
    waiter({ErrorCode::none, ProducerId(next_producer_id++)});
  }
}

}  // namespace hw::metadata
