// SPDX-License-Identifier: Apache-2.0
#include "engine/raft/control_records.h"

#include <array>

#include "engine/base/assert.h"
#include "engine/wire/msg/k_raft_version_record.h"
#include "engine/wire/msg/leader_change_message.h"
#include "engine/wire/msg/snapshot_footer_record.h"
#include "engine/wire/msg/snapshot_header_record.h"
#include "engine/wire/msg/voters_record.h"
#include "engine/wire/runtime/writer.h"

namespace hw::raft {
namespace {

// These messages carry their version in their first field as well; version 0 is what Kafka 4.4 writes.
template <class Message>
Bytes encoded(const Message& message) {
  wire::Writer writer;
  const bool ok = encode(writer, message, std::int16_t{0});
  HW_ASSERT(ok, "a control record encodes");
  return writer.finish().flatten();
}

}  // namespace

ControlRecord leader_change_record(BrokerId leader, const std::vector<Voter>& voters, const std::vector<BrokerId>& granting) {
  wire::LeaderChangeMessage message;
  message.leader_id = leader;
  for (const Voter& voter : voters) {
    wire::LeaderChangeMessage::Voter entry;
    entry.voter_id = voter.key.id.value();
    message.voters.push_back(entry);
  }
  for (const BrokerId id : granting) {
    wire::LeaderChangeMessage::Voter entry;
    entry.voter_id = id.value();
    message.granting_voters.push_back(entry);
  }
  return {wire::ControlType::leader_change, encoded(message)};
}

ControlRecord kraft_version_record(std::int16_t level) {
  wire::KRaftVersionRecord message;
  message.k_raft_version = level;
  return {wire::ControlType::kraft_version, encoded(message)};
}

ControlRecord voters_record(const std::vector<Voter>& voters) {
  wire::VotersRecord message;
  for (const Voter& voter : voters) {
    wire::VotersRecord::Voter entry;
    entry.voter_id = voter.key.id;
    entry.voter_directory_id = voter.key.directory;
    for (const VoterEndpoint& endpoint : voter.endpoints) {
      wire::VotersRecord::Endpoint at;
      at.name = endpoint.listener;
      at.host = endpoint.host;
      at.port = endpoint.port;
      entry.endpoints.push_back(std::move(at));
    }
    entry.k_raft_version_feature.min_supported_version = voter.min_kraft_version;
    entry.k_raft_version_feature.max_supported_version = voter.max_kraft_version;
    message.voters.push_back(std::move(entry));
  }
  return {wire::ControlType::kraft_voters, encoded(message)};
}

ControlRecord snapshot_header_record(WallTime last_contained) {
  wire::SnapshotHeaderRecord message;
  message.last_contained_log_timestamp = last_contained.ms;
  return {wire::ControlType::snapshot_header, encoded(message)};
}

ControlRecord snapshot_footer_record() {
  return {wire::ControlType::snapshot_footer, encoded(wire::SnapshotFooterRecord{})};
}

Bytes control_batch_of(const std::vector<ControlRecord>& records, Offset base, LeaderEpoch epoch, WallTime wall) {
  wire::BatchOptions options;
  options.base_offset = base;
  options.leader_epoch = epoch;
  options.control = true;
  wire::BatchBuilder builder(options);
  for (const auto& [type, value] : records) {
    std::array<std::byte, 4> key{};  // int16 version 0, int16 type
    wire::store_u16(key.data() + 2, static_cast<std::uint16_t>(type));
    wire::RecordIn record;
    record.key = ByteSpan(key);
    record.value = value.span();
    record.timestamp_ms = wall.ms;
    builder.append(record);
  }
  return builder.finish();
}

Bytes data_batch_of(const std::vector<Bytes>& values, Offset base, LeaderEpoch epoch, WallTime wall) {
  wire::BatchOptions options;
  options.base_offset = base;
  options.leader_epoch = epoch;
  wire::BatchBuilder builder(options);
  for (const Bytes& value : values) {
    wire::RecordIn record;
    record.value = value.span();
    record.timestamp_ms = wall.ms;
    builder.append(record);
  }
  return builder.finish();
}

}  // namespace hw::raft
