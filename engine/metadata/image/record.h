// SPDX-License-Identifier: Apache-2.0
// A record of the metadata log (__cluster_metadata), decoded, and its framing.
//
// On disk a metadata record is the value of a log record: frame version (unsigned varint, 1), record type (unsigned
// varint), record version (unsigned varint), body. The version written is the one that metadata.version 4.4-IV2 uses.
// Types that this program does not know, or does not act on, are kept as UnknownRecord with their bytes, so that
// replay goes on and a copy loses nothing. Sources: KIP-500, KIP-631, KIP-868 (transactions), KIP-966 (ELR).
#pragma once

#include <cstdint>
#include <variant>

#include "engine/base/bytes.h"
#include "engine/base/result.h"
#include "engine/wire/msg/abort_transaction_record.h"
#include "engine/wire/msg/begin_transaction_record.h"
#include "engine/wire/msg/broker_registration_change_record.h"
#include "engine/wire/msg/clear_elr_record.h"
#include "engine/wire/msg/client_quota_record.h"
#include "engine/wire/msg/config_record.h"
#include "engine/wire/msg/end_transaction_record.h"
#include "engine/wire/msg/feature_level_record.h"
#include "engine/wire/msg/fence_broker_record.h"
#include "engine/wire/msg/no_op_record.h"
#include "engine/wire/msg/partition_change_record.h"
#include "engine/wire/msg/partition_record.h"
#include "engine/wire/msg/producer_ids_record.h"
#include "engine/wire/msg/register_broker_record.h"
#include "engine/wire/msg/register_controller_record.h"
#include "engine/wire/msg/remove_topic_record.h"
#include "engine/wire/msg/topic_record.h"
#include "engine/wire/msg/unfence_broker_record.h"
#include "engine/wire/msg/unregister_broker_record.h"
#include "engine/wire/msg/unregister_controller_record.h"

namespace hw::metadata {

struct UnknownRecord {
  std::uint32_t type = 0;
  std::uint32_t version = 0;
  Bytes body;
  friend bool operator==(const UnknownRecord&, const UnknownRecord&) = default;
};

using Record =
    std::variant<wire::RegisterBrokerRecord, wire::UnregisterBrokerRecord, wire::TopicRecord, wire::PartitionRecord,
                 wire::ConfigRecord, wire::PartitionChangeRecord, wire::FenceBrokerRecord, wire::UnfenceBrokerRecord,
                 wire::RemoveTopicRecord, wire::FeatureLevelRecord, wire::ProducerIdsRecord,
                 wire::BrokerRegistrationChangeRecord, wire::NoOpRecord, wire::BeginTransactionRecord,
                 wire::EndTransactionRecord, wire::AbortTransactionRecord, wire::RegisterControllerRecord,
                 wire::ClearElrRecord, wire::UnregisterControllerRecord, wire::ClientQuotaRecord, UnknownRecord>;

// The value bytes of a record. Fails only where a string or array is longer than the format can carry.
[[nodiscard]] Result<Bytes> encode_record(const Record& record);

// Errors: truncated or corrupt bodies, a frame version other than 1, a known type in a version newer than ours
// (Errc::unsupported: the log was written by a newer release).
[[nodiscard]] Result<Record> decode_record(const Bytes& value);

// "TopicRecord"; for unknown types "UnknownRecord".
[[nodiscard]] const char* record_name(const Record& record) noexcept;

}  // namespace hw::metadata
