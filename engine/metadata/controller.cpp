// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/controller.h"

#include <algorithm>
#include <array>

#include "engine/base/assert.h"
#include "engine/metadata/detail/controller_impl.h"

namespace hw::metadata {

using wire::ErrorCode;

std::span<const FeatureRange> supported_features() noexcept {
  // Only what is built. share.version and streams.version join with the protocols they switch on: clients take a finalized level
  // at its word.
  static constexpr std::array<FeatureRange, 5> kFeatures{{
      {kElrVersion, 0, 1, 1},
      {kGroupVersion, 0, 1, 1},
      {"kraft.version", 0, 1, 1},
      {"metadata.version", 7, kMetadataVersion, kMetadataVersion},
      {kTransactionVersion, 0, 2, 2},
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
  impl_->sessions.clear();
  impl_->registered_at.clear();
  impl_->clock_started = false;
  impl_->balance_due = kNever;
  impl_->unclean_election_due = kNever;
  impl_->no_op_due = kNever;
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

void Controller::log_ends_at(Offset end) {
  HW_ASSERT(impl_->outbox.empty() && end >= impl_->next_offset, "what was written is appended");
  impl_->next_offset = end;
}

Offset Controller::next_offset() const noexcept { return impl_->next_offset; }

void Controller::write_records(std::vector<Record> records) {
  HW_ASSERT(impl_->active, "the active controller writes");
  impl_->write(std::move(records), [](bool) {});
  if (impl_->elr_enabled()) {  // a new cluster, or one whose first controller came no further
    impl_->write(impl_->records_for_elr(), [](bool) {});
  }
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
  } else if (const auto* registered = std::get_if<wire::RegisterBrokerRecord>(&record)) {
    registered_at[registered->broker_id] = offset;
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

// --- producer ids

void Controller::allocate_producer_ids(const wire::AllocateProducerIdsRequest& request,
                                       Done<wire::AllocateProducerIdsResponse> done) {
  constexpr std::int32_t kBlockSize = 1000;
  wire::AllocateProducerIdsResponse response;
  wire::AllocateProducerIdsResponse failure;
  failure.error_code = ErrorCode::not_controller;
  std::vector<Record> records;
  if (impl_->active) {
    const std::int64_t first = impl_->image().next_producer_id();
    if (!impl_->knows(request.broker_id, request.broker_epoch)) {
      response.error_code = ErrorCode::stale_broker_epoch;
    } else if (first > INT64_MAX - kBlockSize) {
      response.error_code = ErrorCode::unknown_server_error;  // after 10^16 blocks
    } else {
      response.producer_id_start = ProducerId(first);
      response.producer_id_len = kBlockSize;
      wire::ProducerIdsRecord record;
      record.broker_id = request.broker_id;
      record.broker_epoch = request.broker_epoch;
      record.next_producer_id = first + kBlockSize;
      records.emplace_back(record);
    }
  }
  impl_->finish(std::move(records), std::move(response), std::move(failure), std::move(done));
}

}  // namespace hw::metadata
