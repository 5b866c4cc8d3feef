// SPDX-License-Identifier: Apache-2.0
#include "engine/api/group_log.h"

#include <algorithm>
#include <cctype>

#include "engine/wire/record/batch.h"
#include "engine/wire/record/batch_builder.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::api {

namespace {

// As Kafka's names and as those of its classes.
std::vector<groups::Assignor> assignors(const metadata::BrokerConfigs& configs) {
  std::vector<groups::Assignor> known;
  for (const std::string& name : configs.list("group.consumer.assignors")) {
    const std::optional<groups::Assignor> assignor =
        name.ends_with(".UniformAssignor") ? groups::Assignor::uniform
        : name.ends_with(".RangeAssignor") ? groups::Assignor::range
                                           : groups::parse_assignor(name);
    if (assignor && std::find(known.begin(), known.end(), *assignor) == known.end()) {
      known.push_back(*assignor);
    }
  }
  return known.empty() ? groups::Config{}.consumer_assignors : known;  // there are no others
}

groups::MigrationPolicy migration_policy(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name == "disabled"    ? groups::MigrationPolicy::disabled
         : name == "upgrade"   ? groups::MigrationPolicy::upgrade
         : name == "downgrade" ? groups::MigrationPolicy::downgrade
                               : groups::MigrationPolicy::bidirectional;
}

}  // namespace

groups::Config group_config(const metadata::BrokerConfigs& configs) {
  const auto int32 = [&](std::string_view name) {
    return static_cast<std::int32_t>(configs.number(name));
  };
  groups::Config config;
  config.offsets_topic_num_partitions = int32("offsets.topic.num.partitions");
  config.group_min_session_timeout_ms = int32("group.min.session.timeout.ms");
  config.group_max_session_timeout_ms = int32("group.max.session.timeout.ms");
  config.group_initial_rebalance_delay_ms = int32("group.initial.rebalance.delay.ms");
  config.group_max_size = int32("group.max.size");
  config.offset_metadata_max_bytes = int32("offset.metadata.max.bytes");
  config.offsets_commit_timeout_ms = int32("offsets.commit.timeout.ms");
  config.offsets_retention_ms = configs.number("offsets.retention.minutes") * 60'000;
  config.offsets_retention_check_interval_ms =
      configs.number("offsets.retention.check.interval.ms");
  const auto bounded = [&](const std::string& what) {
    return groups::Bounded{int32("group.consumer." + what), int32("group.consumer.min." + what),
                           int32("group.consumer.max." + what)};
  };
  const std::vector<std::string> protocols = configs.list("group.coordinator.rebalance.protocols");
  config.consumer_protocol =
      std::find(protocols.begin(), protocols.end(), "consumer") != protocols.end();
  config.consumer_assignors = assignors(configs);
  config.consumer_session_timeout_ms = bounded("session.timeout.ms");
  config.consumer_heartbeat_interval_ms = bounded("heartbeat.interval.ms");
  config.consumer_assignment_interval_ms = bounded("assignment.interval.ms");
  config.consumer_max_size = int32("group.consumer.max.size");
  config.consumer_regex_refresh_interval_ms = int32("group.consumer.regex.refresh.interval.ms");
  config.consumer_migration_policy =
      migration_policy(configs.text("group.consumer.migration.policy"));
  return config;
}

Bytes record_batch(const std::vector<groups::Record>& records, WallTime now, wire::BatchOptions options) {
  wire::BatchBuilder builder(options);
  for (const groups::Record& record : records) {
    wire::RecordIn in;
    in.key = record.key.span();
    if (record.value) {
      in.value = record.value->span();
    }
    in.timestamp_ms = now.ms;
    builder.append(in);
  }
  return builder.finish();
}

Bytes group_batch(const groups::Outputs::Append& append, WallTime now) {
  if (append.marker) {
    return wire::end_txn_marker_batch(append.marker->commit, append.marker->coordinator_epoch, append.marker->producer_id, append.marker->epoch,
                                      now.ms);
  }
  wire::BatchOptions options;
  if (append.transaction) {
    options.producer_id = append.transaction->producer_id;
    options.producer_epoch = append.transaction->epoch;
    options.transactional = true;
  }
  return record_batch(append.records, now, options);
}

Result<Offset> load_group_batches(groups::GroupCoordinator& coordinator, PartitionIndex partition,
                                  const Bytes& batches, Offset high_watermark, Now now,
                                  std::vector<UncommittedBatch>& uncommitted) {
  Offset next = kNoOffset;
  wire::BatchCursor cursor(batches.span());
  wire::BatchView batch;
  while (cursor.next(batch)) {
    next = batch.next_offset();
    if (next > high_watermark) {
      uncommitted.push_back({coordinator.load_uncommitted(partition), next});
    }
    HW_TRY(wire::RecordIterator records, wire::RecordIterator::open(batch));
    wire::RecordView view;
    const ProducerId producer = batch.transactional() ? batch.producer_id() : kNoProducerId;
    while (records.next(view)) {
      if (batch.control()) {
        const std::optional<wire::ControlType> type = wire::parse_control_key(view.key);
        if (type == wire::ControlType::commit || type == wire::ControlType::abort) {
          coordinator.load_marker(partition, batch.producer_id(), type == wire::ControlType::commit);
        }
        continue;
      }
      if (!view.key) {
        continue;
      }
      groups::Record record;
      record.key = records.share(*view.key);
      if (view.value) {
        record.value = records.share(*view.value);
      }
      coordinator.load_record(partition, record, group_now(now), producer);
    }
    if (records.failed()) {
      return fail(Errc::corrupt, records.problem());
    }
  }
  if (cursor.status() != wire::BatchStatus::end &&
      cursor.status() != wire::BatchStatus::truncated) {
    return fail(Errc::corrupt, cursor.problem());
  }
  return next;
}

}  // namespace hw::api
