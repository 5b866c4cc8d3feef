// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/control_plane.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "engine/base/assert.h"
#include "engine/base/trial.h"
#include "engine/metadata/image/image_records.h"
#include "engine/raft/format.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::metadata {
namespace {

constexpr std::string_view kKRaftVersionFeature = "kraft.version";  // kept by the quorum, not by feature records

}  // namespace

struct ControlPlane::Impl {
  Impl(Options given, raft::ElectionState state, raft::ReplicatedLog& the_log, Prng random)
      : options(std::move(given)),
        election(std::move(state)),
        log(the_log),
        prng(random),
        controller({options.registration.broker, options.broker_configs, options.quorum.cluster_id}, Prng(prng.next())) {}

  Options options;
  raft::ElectionState election;
  raft::ReplicatedLog& log;
  Prng prng;
  ImageBuilder builder;
  ImagePtr image = std::make_shared<const MetadataImage>();
  Controller controller;
  std::optional<raft::Quorum> quorum;
  raft::Outputs raft_out;
  Offset replayed_to{0};                  // next record to be replayed
  LeaderEpoch replayed_epoch{0};          // of the last one
  bool jumped = false;                    // a snapshot was loaded since the last publication
  bool something_said = false;            // since the last commit was told: more than empty records
  std::int64_t bytes_since_snapshot = 0;  // committed records
  std::int64_t snapshot_after_bytes = 0;
  Duration snapshot_interval{};
  Instant snapshot_at = kNever;
  std::int64_t retention_bytes = 0;
  LeaderEpoch active_in{0};               // the epoch that the controller is active in
  WallTime latest_wall;                   // that anybody told
  LeaderEpoch aborted_in{-1};             // the epoch in which an open transaction was ended
  bool initial_image_due = false;         // what the log held is to be published
  std::optional<Offset> completions_due;  // images up to here have been handed out

  // Records that this node appended as leader and that wait for the high watermark: they need not be read again.
  struct Appended {
    Offset base;
    Offset end;
    std::int64_t size_bytes = 0;
    std::vector<Record> records;
  };
  std::deque<Appended> appended;

  // The quorum may append records of its own (voters). What the controller wrote goes first, at the offsets that it counts on, and it goes on
  // behind them: otherwise it would take for committed what is not.
  void step(const raft::Input& input, Instant now, Outputs& out) {
    if (const auto* tick = std::get_if<raft::Tick>(&input)) {
      latest_wall = tick->wall;
    }
    append_records(now, out);
    quorum->step(input, now, raft_out);
    take_raft_outputs(out);
    if (controller.active() && out.broken.empty()) {  // one whose disk refused records ends here
      controller.log_ends_at(quorum->log_end_offset());
    }
  }

  void take_raft_outputs(Outputs& out) {
    if (raft_out.persist) {
      out.persist = std::move(raft_out.persist);
    }
    out.flush = out.flush || raft_out.flush;
    out.leader_changed = out.leader_changed || raft_out.leader_changed;
    std::move(raft_out.sends.begin(), raft_out.sends.end(), std::back_inserter(out.sends));
    std::move(raft_out.replies.begin(), raft_out.replies.end(), std::back_inserter(out.replies));
    std::move(raft_out.events.begin(), raft_out.events.end(), std::back_inserter(out.events));
    if (!raft_out.broken.empty() && out.broken.empty()) {
      out.broken = std::move(raft_out.broken);
    }
    const std::optional<Offset> high_watermark = raft_out.high_watermark;
    raft_out.clear();
    if (controller.active() && (!quorum->is_leader() || quorum->epoch() != active_in)) {
      appended.clear();
      controller.resign();
    }
    if (high_watermark) {
      commit(*high_watermark, out);
    }
  }

  void commit(Offset high_watermark, Outputs& out) {
    if (Result<void> replayed = replay_to(high_watermark); !replayed) {
      out.broken = replayed.error().detail;
      return;
    }
    publish(out);
    if (std::exchange(something_said, false)) {  // empty records are no news
      out.events.emplace_back(event::MetadataCommitted{high_watermark});
    }
    completions_due = high_watermark;
  }

  Result<void> replay_to(Offset end) {
    constexpr std::int32_t kChunk = 4 << 20;
    if (const std::optional<raft::SnapshotId> snapshot = log.latest_snapshot();
        replayed_to < log.start_offset() || (replayed_to == Offset(0) && snapshot && snapshot->end_offset > Offset(0))) {
      HW_CHECK(load_snapshot());
    }
    while (replayed_to < end) {
      while (!appended.empty() && appended.front().base < replayed_to) {
        appended.pop_front();
      }
      if (!appended.empty() && appended.front().base == replayed_to) {
        if (appended.front().end > end) {
          break;
        }
        const Appended& batch = appended.front();
        Offset offset = batch.base;
        for (const Record& record : batch.records) {
          const Result<void> replayed = builder.replay(record, offset, quorum->epoch().value());
          HW_ASSERT(replayed.has_value(), "records that the controller replayed replay again");
          something_said = something_said || !std::holds_alternative<wire::NoOpRecord>(record);
          offset += 1;
        }
        builder.skip(batch.end - 1, quorum->epoch().value());
        replayed_to = batch.end;
        replayed_epoch = quorum->epoch();
        bytes_since_snapshot += batch.size_bytes;
        appended.pop_front();
        continue;
      }
      HW_TRY(const BytesChain chain, log.read(replayed_to, kChunk));
      const Bytes bytes = chain.flatten();
      wire::BatchCursor cursor(bytes.span());
      wire::BatchView batch;
      std::size_t begin = 0;
      const Offset before = replayed_to;
      const Offset stop = appended.empty() ? end : std::min(end, appended.front().base);
      while (cursor.next(batch) && batch.next_offset() <= stop) {
        if (batch.next_offset() > replayed_to) {
          HW_CHECK(replay_batch(bytes.slice(begin, batch.size())));
        }
        begin = cursor.position();
      }
      if (replayed_to <= before) {
        return fail(Errc::corrupt, "the metadata log cannot be read at offset " + std::to_string(before.value()));
      }
    }
    return {};
  }

  Result<void> replay_batch(const Bytes& bytes) {
    const wire::BatchRead read = wire::read_batch(bytes.span());
    if (read.status != wire::BatchStatus::ok || !read.view.crc_ok()) {
      return fail(Errc::corrupt, "the metadata log holds a bad batch");
    }
    const wire::BatchView& batch = read.view;
    if (batch.base_offset() < replayed_to) {
      return fail(Errc::corrupt, "the metadata log repeats offset " + std::to_string(batch.base_offset().value()));
    }
    something_said = something_said || batch.control();
    if (!batch.control()) {
      HW_TRY(wire::RecordIterator records, wire::RecordIterator::open(bytes.slice(0, read.size)));
      wire::RecordView view;
      while (records.next(view)) {
        if (!view.value) {
          return fail(Errc::corrupt, "a metadata record has no value");
        }
        HW_TRY(const Record record, decode_record(records.share(*view.value)));
        HW_CHECK(builder.replay(record, view.offset, batch.leader_epoch().value()));
        something_said = something_said || !std::holds_alternative<wire::NoOpRecord>(record);
      }
      if (records.failed()) {
        return fail(Errc::corrupt, "a batch of the metadata log is damaged: " + records.problem());
      }
    }
    builder.skip(batch.last_offset(), batch.leader_epoch().value());
    replayed_to = batch.next_offset();
    replayed_epoch = batch.leader_epoch();
    bytes_since_snapshot += static_cast<std::int64_t>(batch.size());
    return {};
  }

  // The image that the newest snapshot holds takes the place of what was replayed.
  Result<void> load_snapshot() {
    const std::optional<raft::SnapshotId> id = log.latest_snapshot();
    if (!id || id->end_offset < log.start_offset()) {
      return fail(Errc::corrupt, "the metadata log begins at offset " + std::to_string(log.start_offset().value()) +
                                     ", and there is no snapshot of what came before");
    }
    HW_TRY(const std::uint64_t size, log.snapshot_size(*id));
    ByteBuilder whole(static_cast<std::size_t>(size));
    while (whole.size() < size) {
      constexpr std::int32_t kPiece = 8 << 20;
      HW_TRY(const Bytes piece, log.read_snapshot(*id, whole.size(), kPiece));
      if (piece.empty()) {
        return fail(Errc::corrupt, "the snapshot of offset " + std::to_string(id->end_offset.value()) + " is shorter than it was");
      }
      whole.append(piece.span());
    }
    const Bytes bytes = whole.finish();
    ImageBuilder fresh;
    wire::BatchCursor cursor(bytes.span());
    wire::BatchView batch;
    std::size_t begin = 0;
    while (cursor.next(batch)) {
      if (!batch.crc_ok()) {
        return fail(Errc::corrupt, "the snapshot of offset " + std::to_string(id->end_offset.value()) + " is damaged");
      }
      if (!batch.control()) {
        HW_TRY(wire::RecordIterator records, wire::RecordIterator::open(bytes.slice(begin, batch.size())));
        wire::RecordView view;
        while (records.next(view)) {
          if (!view.value) {
            return fail(Errc::corrupt, "a record of a metadata snapshot has no value");
          }
          HW_TRY(const Record record, decode_record(records.share(*view.value)));
          if (std::holds_alternative<wire::ConfigRecord>(record) && trial::has_bug(trial::Canary::snapshot_forgets_configs)) {
            continue;
          }
          HW_CHECK(fresh.load(record));
        }
        if (records.failed()) {
          return fail(Errc::corrupt, "the snapshot of offset " + std::to_string(id->end_offset.value()) + " is damaged: " + records.problem());
        }
      }
      begin = cursor.position();
    }
    if (cursor.position() != bytes.size()) {
      return fail(Errc::corrupt, "the snapshot of offset " + std::to_string(id->end_offset.value()) + " ends in part of a batch");
    }
    fresh.skip(id->end_offset - 1, id->epoch.value());
    builder = std::move(fresh);
    replayed_to = id->end_offset;
    replayed_epoch = id->epoch;
    appended.clear();
    trial::mark(trial::Mark::snapshot_loaded);
    jumped = true;
    something_said = true;
    bytes_since_snapshot = 0;
    return {};
  }

  // A snapshot of what is committed, when enough came since the last one, and an older one with the log before it goes where they
  // take more than they may (metadata.max.retention.bytes).
  Result<void> snapshot_if_due(Instant now, WallTime wall) {
    if (builder.in_transaction() || image->offset() + 1 != replayed_to || bytes_since_snapshot == 0) {
      return {};
    }
    if (bytes_since_snapshot < snapshot_after_bytes && now < snapshot_at && !trial::happens(trial::Oddity::early_snapshot)) {
      return {};
    }
    const raft::SnapshotId id{replayed_to, replayed_epoch};
    std::vector<Bytes> values;
    for (const Record& record : records_of(*image)) {
      HW_TRY(Bytes value, encode_record(record));
      values.push_back(std::move(value));
    }
    HW_CHECK(log.create_snapshot(id));
    HW_CHECK(log.append_snapshot(id, raft::encode_snapshot(id, quorum->voters_at(id.end_offset).all(),
                                                           quorum->kraft_version_at(id.end_offset), values, wall, wall)));
    HW_CHECK(log.freeze_snapshot(id));
    bytes_since_snapshot = 0;
    snapshot_at = snapshot_interval > Duration{} ? now + snapshot_interval : kNever;
    std::vector<raft::SnapshotId> all = log.snapshots();
    for (std::size_t i = 1; i < all.size() && log.size_bytes() > retention_bytes; ++i) {
      HW_CHECK(log.delete_before(all[i]));
    }
    return {};
  }

  void publish(Outputs& out) {
    ImageBuilder::Published published = builder.publish();
    if (std::exchange(jumped, false)) {
      published.delta = difference(*image, *published.image);
    }
    if (published.image == image && published.delta.empty()) {
      return;  // inside a transaction
    }
    image = published.image;
    append_events(published.delta, *image, out.events);
    out.published.push_back({image, std::move(published.delta)});
  }

  // The controller before this one died in the middle of a transaction (KIP-868): nothing of it counts. When this is committed, the
  // new controller begins.
  void abort_transaction(Instant now, WallTime wall, Outputs& out) {
    if (std::exchange(aborted_in, quorum->epoch()) == quorum->epoch()) {
      return;
    }
    wire::AbortTransactionRecord record;
    record.reason = "the controller that began it does not lead any more";
    Result<Bytes> value = encode_record(Record(std::move(record)));
    HW_ASSERT(value.has_value(), "it encodes");
    quorum->append({std::move(*value)}, wall, now, raft_out);
    take_raft_outputs(out);
  }

  void activate() {
    controller.become_active(image, quorum->epoch().value(), quorum->log_end_offset());
    active_in = quorum->epoch();
    if (image->feature_level("metadata.version") == 0) {
      std::vector<Record> records;
      wire::BeginTransactionRecord begin;
      begin.name = "Bootstrap records";
      records.emplace_back(std::move(begin));
      records.insert(records.end(), options.bootstrap.begin(), options.bootstrap.end());
      records.emplace_back(wire::EndTransactionRecord{});
      controller.write_records(std::move(records));
    }
  }

  void append_records(Instant now, Outputs& out) {
    if (!controller.has_records()) {
      return;
    }
    for (std::vector<Record>& records : controller.take_records()) {
      std::vector<Bytes> values;
      values.reserve(records.size());
      std::int64_t size_bytes = 0;
      for (const Record& record : records) {
        Result<Bytes> value = encode_record(record);
        HW_ASSERT(value.has_value(), "the controller's records encode");
        size_bytes += static_cast<std::int64_t>(value->size());
        values.push_back(std::move(*value));
      }
      const Offset base = quorum->append(values, latest_wall, now, raft_out);
      appended.push_back({base, quorum->log_end_offset(), size_bytes, std::move(records)});
    }
    HW_ASSERT(!raft_out.broken.empty() || quorum->log_end_offset() == controller.next_offset(), "records stand where the controller counts on them");
    take_raft_outputs(out);
  }
};

ControlPlane::ControlPlane(Options options, raft::ElectionState election, raft::ReplicatedLog& log, Prng prng)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(election), log, prng)) {}
ControlPlane::~ControlPlane() = default;

Result<void> ControlPlane::start(Instant now, WallTime /*wall*/) {
  Impl& s = *impl_;
  HW_ASSERT(!s.quorum, "started once");
  s.quorum.emplace(s.options.quorum, s.election, s.log, Prng(s.prng.next()), now);
  if (!s.quorum->problem().empty()) {
    return fail(Errc::corrupt, s.quorum->problem());
  }
  HW_CHECK(s.replay_to(s.quorum->high_watermark()));
  const BrokerConfigs& configs = *s.options.broker_configs;
  s.snapshot_after_bytes = configs.number("metadata.log.max.record.bytes.between.snapshots");
  s.snapshot_interval = milliseconds(configs.number("metadata.log.max.snapshot.interval.ms"));
  s.snapshot_at = s.snapshot_interval > Duration{} ? now + s.snapshot_interval : kNever;
  s.retention_bytes = configs.number("metadata.max.retention.bytes");
  if (s.options.log_bytes_max) {
    s.snapshot_after_bytes = std::min(s.snapshot_after_bytes, *s.options.log_bytes_max / 2);
    s.retention_bytes = std::min(s.retention_bytes, *s.options.log_bytes_max);
  }
  s.initial_image_due = true;
  return {};
}

void ControlPlane::step(const raft::Input& input, Instant now, WallTime wall, Outputs& out) {
  // The quorum stamps what it appends with the time of its last tick.
  impl_->step(raft::Tick{wall}, now, out);
  impl_->step(input, now, out);
}
void ControlPlane::persisted(const raft::ElectionState& state, Instant now, WallTime, Outputs& out) {
  impl_->step(raft::Persisted{state}, now, out);
}
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
  if (const std::optional<Offset> due = std::exchange(s.completions_due, std::nullopt); due && s.controller.active()) {
    s.controller.committed(*due);
  }
  // A new leader's controller begins where everything of earlier epochs is committed and replayed.
  if (s.quorum->is_leader() && !s.controller.active() && s.replayed_to >= s.quorum->view().epoch_start) {
    if (s.builder.in_transaction()) {
      s.abort_transaction(now, wall, out);
    } else {
      s.activate();
    }
  }
  s.append_records(now, out);
  if (Result<void> done = s.snapshot_if_due(now, wall); !done && out.broken.empty()) {
    out.broken = "cannot write a snapshot of the metadata log: " + done.error().detail;
  }
}

Instant ControlPlane::next_deadline() const noexcept {
  return impl_->quorum ? impl_->quorum->next_deadline() : kNever;
}
Controller& ControlPlane::controller() noexcept { return impl_->controller; }
const ImagePtr& ControlPlane::image() const noexcept { return impl_->image; }
raft::QuorumView ControlPlane::quorum() const { return impl_->quorum ? impl_->quorum->view() : raft::QuorumView{}; }

const raft::VoterSet& ControlPlane::voters() const noexcept { return impl_->quorum->voters(); }
std::optional<raft::Destination> ControlPlane::leader_address() const {
  const std::optional<BrokerId> leader = quorum().leader;
  const raft::Voter* voter = leader ? voters().find(*leader) : nullptr;
  if (voter == nullptr || voter->endpoints.empty()) {
    return std::nullopt;
  }
  return raft::Destination{*leader, voter->endpoints.front().host, voter->endpoints.front().port};
}

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
                                                  partition->partition_epoch, partition->replicas, partition->isr,
                                                  partition->elr});
    }
  }
  for (const BrokerId id : delta.brokers_changed) {
    event::BrokerChanged changed;
    changed.broker = id;
    changed.at = image.offset();
    if (const BrokerImage* broker = image.find_broker(id)) {
      changed.fenced = broker->fenced;
      changed.in_controlled_shutdown = broker->in_controlled_shutdown;
      changed.broker_epoch = broker->epoch;
      changed.rack = broker->rack.value_or("");
    } else {
      changed.registered = false;
    }
    events.emplace_back(std::move(changed));
  }
}

}  // namespace hw::metadata
