// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/control_plane.h"

#include <deque>
#include <utility>

#include "engine/base/assert.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::metadata {
namespace {

constexpr std::string_view kKRaftVersionFeature = "kraft.version";  // kept by the quorum, not by feature records

}  // namespace

struct ControlPlane::Impl {
  Impl(Options given, raft::ElectionState state, Prng random)
      : options(std::move(given)),
        election(state),
        prng(random),
        controller({options.registration.broker, options.broker_configs}, Prng(prng.next())) {
    if (options.self.endpoints.empty() && !options.registration.listeners.empty()) {
      const ListenerImage& listener = options.registration.listeners.front();
      options.self.endpoints.push_back({"CONTROLLER", listener.host, listener.port});
    }
  }

  Options options;
  raft::ElectionState election;
  Prng prng;
  ImageBuilder builder;
  ImagePtr image = std::make_shared<const MetadataImage>();
  Controller controller;
  std::optional<raft::Quorum> quorum;
  raft::Outputs raft_out;
  Offset replayed_to{0};            // next offset expected from the log at the start
  LeaderEpoch last_epoch{0};
  bool initial_image_due = false;   // what the log held is to be published
  std::optional<Offset> completions_due;  // images up to here have been handed out
  bool registered = false;                // asked for, in this life

  // Records that are appended and wait for the high watermark.
  struct Appended {
    Offset base;
    Offset end;
    std::vector<Record> records;  // empty: a control batch
  };
  std::deque<Appended> appended;

  void step(const raft::Input& input, Instant now, Outputs& out) {
    quorum->step(input, now, raft_out);
    take_raft_outputs(out);
  }

  void take_raft_outputs(Outputs& out) {
    if (raft_out.persist) {
      out.persist = raft_out.persist;
    }
    for (raft::AppendBatch& batch : raft_out.appends) {
      if (batch.control) {
        appended.push_back({batch.base_offset, batch.last_offset + 1, {}});
      }
      out.appends.push_back(std::move(batch));
    }
    out.flush = out.flush || raft_out.flush;
    for (event::Any& event : raft_out.events) {
      out.events.push_back(std::move(event));
    }
    const std::optional<Offset> high_watermark = raft_out.high_watermark;
    raft_out.clear();
    if (high_watermark) {
      commit(*high_watermark, out);
    }
  }

  void commit(Offset high_watermark, Outputs& out) {
    const std::int32_t epoch = quorum->epoch().value();
    while (!appended.empty() && appended.front().end <= high_watermark) {
      const Appended& batch = appended.front();
      Offset offset = batch.base;
      for (const Record& record : batch.records) {
        const Result<void> replayed = builder.replay(record, offset, epoch);
        HW_ASSERT(replayed.has_value(), "records that the controller replayed replay again");
        offset += 1;
      }
      builder.skip(batch.end - 1, epoch);
      appended.pop_front();
    }
    publish(out);
    out.events.emplace_back(event::MetadataCommitted{high_watermark});
    completions_due = high_watermark;
  }

  void publish(Outputs& out) {
    ImageBuilder::Published published = builder.publish();
    if (published.image == image && published.delta.empty()) {
      return;  // inside a transaction
    }
    image = published.image;
    append_events(published.delta, *image, out.events);
    out.published.push_back({image, std::move(published.delta)});
  }

  void activate() {
    HW_ASSERT(appended.size() <= 1, "a new leader has appended its first batch only");
    controller.become_active(image, quorum->epoch().value(), quorum->log_end_offset());
    std::vector<Record> records;
    if (image->feature_level("metadata.version") == 0) {
      wire::BeginTransactionRecord begin;
      begin.name = "Bootstrap records";
      records.emplace_back(std::move(begin));
      records.insert(records.end(), options.bootstrap.begin(), options.bootstrap.end());
      records.emplace_back(wire::EndTransactionRecord{});
    }
    records.push_back(controller_registration());
    controller.write_records(std::move(records));
  }

  Record controller_registration() {
    wire::RegisterControllerRecord record;
    record.controller_id = id_for(record.controller_id);
    record.incarnation_id = options.registration.incarnation;
    for (const raft::VoterEndpoint& endpoint : options.self.endpoints) {
      wire::RegisterControllerRecord::ControllerEndpoint at;
      at.name = endpoint.listener;
      at.host = endpoint.host;
      at.port = endpoint.port;
      record.end_points.push_back(std::move(at));
    }
    for (const FeatureRange& range : supported_features()) {
      wire::RegisterControllerRecord::ControllerFeature feature;
      feature.name = range.name;
      feature.min_supported_version = range.min_supported;
      feature.max_supported_version = range.max_supported;
      record.features.push_back(std::move(feature));
    }
    return Record(std::move(record));
  }
  [[nodiscard]] std::int32_t id_for(std::int32_t) const { return options.self.key.id.value(); }
  [[nodiscard]] BrokerId id_for(BrokerId) const { return options.self.key.id; }

  void append_records(WallTime wall, Outputs& out) {
    for (std::vector<Record>& records : controller.take_records()) {
      std::vector<Bytes> values;
      values.reserve(records.size());
      for (const Record& record : records) {
        Result<Bytes> value = encode_record(record);
        HW_ASSERT(value.has_value(), "the controller's records encode");
        values.push_back(std::move(*value));
      }
      const Offset base = quorum->append(values, wall, raft_out);
      appended.push_back({base, quorum->log_end_offset(), std::move(records)});
    }
    take_raft_outputs(out);
  }
};

ControlPlane::ControlPlane(Options options, raft::ElectionState election, Prng prng)
    : impl_(std::make_unique<Impl>(std::move(options), election, prng)) {}
ControlPlane::~ControlPlane() = default;

Result<void> ControlPlane::replay_batch(const Bytes& bytes) {
  const wire::BatchRead read = wire::read_batch(bytes.span());
  if (read.status != wire::BatchStatus::ok || !read.view.crc_ok()) {
    return fail(Errc::corrupt, "the metadata log holds a bad batch");
  }
  const wire::BatchView& batch = read.view;
  Impl& s = *impl_;
  if (batch.base_offset() < s.replayed_to) {
    return fail(Errc::corrupt, "the metadata log repeats offset " + std::to_string(batch.base_offset().value()));
  }
  if (!batch.control()) {
    HW_TRY(wire::RecordIterator records, wire::RecordIterator::open(bytes.slice(0, read.size)));
    wire::RecordView view;
    while (records.next(view)) {
      if (!view.value) {
        return fail(Errc::corrupt, "a metadata record has no value");
      }
      HW_TRY(const Record record, decode_record(records.share(*view.value)));
      HW_CHECK(s.builder.replay(record, view.offset, batch.leader_epoch().value()));
    }
    if (records.failed()) {
      return fail(Errc::corrupt, "a batch of the metadata log is damaged: " + records.problem());
    }
  }
  s.builder.skip(batch.last_offset(), batch.leader_epoch().value());
  s.replayed_to = batch.next_offset();
  s.last_epoch = std::max(s.last_epoch, batch.leader_epoch());
  return {};
}

void ControlPlane::started(Offset log_start_offset, Offset log_end_offset, Instant now, WallTime) {
  Impl& s = *impl_;
  HW_ASSERT(!s.quorum && s.replayed_to <= log_end_offset, "started once, after the log was replayed");
  raft::Config config;
  config.self = s.options.self;
  config.voters = {s.options.self};
  // A sole voter's log is committed, all of it.
  const raft::LogPosition log{log_start_offset, log_end_offset, s.last_epoch, log_end_offset};
  s.quorum.emplace(std::move(config), s.election, log, Prng(s.prng.next()), now);
  s.initial_image_due = true;
}

void ControlPlane::persisted(Instant now, WallTime, Outputs& out) { impl_->step(raft::Persisted{}, now, out); }
void ControlPlane::flushed(Offset up_to, Instant now, WallTime, Outputs& out) {
  impl_->step(raft::Flushed{up_to}, now, out);
}

void ControlPlane::pump(Instant now, WallTime wall, Outputs& out) {
  Impl& s = *impl_;
  HW_ASSERT(s.quorum.has_value(), "started");
  if (s.initial_image_due) {
    s.initial_image_due = false;
    s.publish(out);
  }
  s.step(raft::Tick{wall}, now, out);
  // Completions first: they belong to what earlier calls handed out, and may ask for more.
  if (const std::optional<Offset> due = std::exchange(s.completions_due, std::nullopt)) {
    s.controller.committed(*due);
  }
  if (s.quorum->is_leader() && !s.controller.active()) {
    s.activate();
  }
  // Somebody took its registration away: a broker that lives registers again.
  if (s.registered && s.controller.active() && s.controller.newest().find_broker(s.options.registration.broker) == nullptr) {
    s.registered = false;
  }
  if (s.controller.active() && !std::exchange(s.registered, true)) {
    s.controller.register_broker(s.options.registration, [](wire::ErrorCode) {});
    // Everything it will lead is in the image by the time this commits, so it need not stay fenced.
    s.controller.unfence_broker(s.options.registration.broker, [](wire::ErrorCode) {});
  }
  if (s.controller.has_records()) {
    s.append_records(wall, out);
  }
}

Instant ControlPlane::next_deadline() const noexcept {
  return impl_->quorum ? impl_->quorum->next_deadline() : kNever;
}
Controller& ControlPlane::controller() noexcept { return impl_->controller; }
const ImagePtr& ControlPlane::image() const noexcept { return impl_->image; }
raft::QuorumView ControlPlane::quorum() const { return impl_->quorum ? impl_->quorum->view() : raft::QuorumView{}; }

bool ControlPlane::ready() const noexcept {
  const BrokerImage* broker = impl_->image->find_broker(impl_->options.registration.broker);
  return broker != nullptr && !broker->fenced && broker->incarnation == impl_->options.registration.incarnation;
}

std::vector<Record> bootstrap_records() {
  std::vector<Record> records;
  for (const FeatureRange& range : supported_features()) {
    if (range.initial_level != 0 && range.name != kKRaftVersionFeature) {
      wire::FeatureLevelRecord record;
      record.name = range.name;
      record.feature_level = range.initial_level;
      records.emplace_back(std::move(record));
    }
  }
  return records;
}

void append_events(const MetadataDelta& delta, const MetadataImage& image, std::vector<event::Any>& events) {
  for (const MetadataDelta::DeletedTopic& topic : delta.topics_deleted) {
    events.emplace_back(event::TopicDeleted{topic.topic_id, topic.name});
  }
  for (const auto& [id, name] : delta.topics_created) {
    events.emplace_back(event::TopicCreated{id, name, is_internal_topic(name)});
  }
  for (const MetadataDelta::ConfigChange& change : delta.configs_changed) {
    const TopicImage* topic =
        change.resource.type == ConfigResourceType::topic ? image.find_topic(change.resource.name) : nullptr;
    if (topic != nullptr) {
      events.emplace_back(
          event::TopicConfigChanged{topic->id, change.key, change.value.value_or(""), !change.value.has_value()});
    }
  }
  for (const MetadataDelta::PartitionRef& ref : delta.partitions_changed) {
    const PartitionImage* partition = image.find_partition(ref.topic_id, ref.partition);
    if (partition != nullptr) {
      events.emplace_back(event::PartitionChanged{ref.topic_id, ref.partition, partition->leader, partition->leader_epoch,
                                                  partition->partition_epoch, partition->replicas, partition->isr});
    }
  }
}

}  // namespace hw::metadata
