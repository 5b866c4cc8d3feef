// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/runtime/error_code.h"

#include <cstddef>

namespace hw::wire {
namespace {

constexpr ErrorInfo kErrors[] = {
    {ErrorCode::unknown_server_error, "UNKNOWN_SERVER_ERROR", false},
    {ErrorCode::none, "NONE", false},
    {ErrorCode::offset_out_of_range, "OFFSET_OUT_OF_RANGE", false},
    {ErrorCode::corrupt_message, "CORRUPT_MESSAGE", true},
    {ErrorCode::unknown_topic_or_partition, "UNKNOWN_TOPIC_OR_PARTITION", true},
    {ErrorCode::invalid_fetch_size, "INVALID_FETCH_SIZE", false},
    {ErrorCode::leader_not_available, "LEADER_NOT_AVAILABLE", true},
    {ErrorCode::not_leader_or_follower, "NOT_LEADER_OR_FOLLOWER", true},
    {ErrorCode::request_timed_out, "REQUEST_TIMED_OUT", true},
    {ErrorCode::broker_not_available, "BROKER_NOT_AVAILABLE", false},
    {ErrorCode::replica_not_available, "REPLICA_NOT_AVAILABLE", true},
    {ErrorCode::message_too_large, "MESSAGE_TOO_LARGE", false},
    {ErrorCode::stale_controller_epoch, "STALE_CONTROLLER_EPOCH", false},
    {ErrorCode::offset_metadata_too_large, "OFFSET_METADATA_TOO_LARGE", false},
    {ErrorCode::network_exception, "NETWORK_EXCEPTION", true},
    {ErrorCode::coordinator_load_in_progress, "COORDINATOR_LOAD_IN_PROGRESS", true},
    {ErrorCode::coordinator_not_available, "COORDINATOR_NOT_AVAILABLE", true},
    {ErrorCode::not_coordinator, "NOT_COORDINATOR", true},
    {ErrorCode::invalid_topic_exception, "INVALID_TOPIC_EXCEPTION", false},
    {ErrorCode::record_list_too_large, "RECORD_LIST_TOO_LARGE", false},
    {ErrorCode::not_enough_replicas, "NOT_ENOUGH_REPLICAS", true},
    {ErrorCode::not_enough_replicas_after_append, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", true},
    {ErrorCode::invalid_required_acks, "INVALID_REQUIRED_ACKS", false},
    {ErrorCode::illegal_generation, "ILLEGAL_GENERATION", false},
    {ErrorCode::inconsistent_group_protocol, "INCONSISTENT_GROUP_PROTOCOL", false},
    {ErrorCode::invalid_group_id, "INVALID_GROUP_ID", false},
    {ErrorCode::unknown_member_id, "UNKNOWN_MEMBER_ID", false},
    {ErrorCode::invalid_session_timeout, "INVALID_SESSION_TIMEOUT", false},
    {ErrorCode::rebalance_in_progress, "REBALANCE_IN_PROGRESS", false},
    {ErrorCode::invalid_commit_offset_size, "INVALID_COMMIT_OFFSET_SIZE", false},
    {ErrorCode::topic_authorization_failed, "TOPIC_AUTHORIZATION_FAILED", false},
    {ErrorCode::group_authorization_failed, "GROUP_AUTHORIZATION_FAILED", false},
    {ErrorCode::cluster_authorization_failed, "CLUSTER_AUTHORIZATION_FAILED", false},
    {ErrorCode::invalid_timestamp, "INVALID_TIMESTAMP", false},
    {ErrorCode::unsupported_sasl_mechanism, "UNSUPPORTED_SASL_MECHANISM", false},
    {ErrorCode::illegal_sasl_state, "ILLEGAL_SASL_STATE", false},
    {ErrorCode::unsupported_version, "UNSUPPORTED_VERSION", false},
    {ErrorCode::topic_already_exists, "TOPIC_ALREADY_EXISTS", false},
    {ErrorCode::invalid_partitions, "INVALID_PARTITIONS", false},
    {ErrorCode::invalid_replication_factor, "INVALID_REPLICATION_FACTOR", false},
    {ErrorCode::invalid_replica_assignment, "INVALID_REPLICA_ASSIGNMENT", false},
    {ErrorCode::invalid_config, "INVALID_CONFIG", false},
    {ErrorCode::not_controller, "NOT_CONTROLLER", true},
    {ErrorCode::invalid_request, "INVALID_REQUEST", false},
    {ErrorCode::unsupported_for_message_format, "UNSUPPORTED_FOR_MESSAGE_FORMAT", false},
    {ErrorCode::policy_violation, "POLICY_VIOLATION", false},
    {ErrorCode::out_of_order_sequence_number, "OUT_OF_ORDER_SEQUENCE_NUMBER", false},
    {ErrorCode::duplicate_sequence_number, "DUPLICATE_SEQUENCE_NUMBER", false},
    {ErrorCode::invalid_producer_epoch, "INVALID_PRODUCER_EPOCH", false},
    {ErrorCode::invalid_txn_state, "INVALID_TXN_STATE", false},
    {ErrorCode::invalid_producer_id_mapping, "INVALID_PRODUCER_ID_MAPPING", false},
    {ErrorCode::invalid_transaction_timeout, "INVALID_TRANSACTION_TIMEOUT", false},
    {ErrorCode::concurrent_transactions, "CONCURRENT_TRANSACTIONS", true},
    {ErrorCode::transaction_coordinator_fenced, "TRANSACTION_COORDINATOR_FENCED", false},
    {ErrorCode::transactional_id_authorization_failed, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", false},
    {ErrorCode::security_disabled, "SECURITY_DISABLED", false},
    {ErrorCode::operation_not_attempted, "OPERATION_NOT_ATTEMPTED", false},
    {ErrorCode::kafka_storage_error, "KAFKA_STORAGE_ERROR", true},
    {ErrorCode::log_dir_not_found, "LOG_DIR_NOT_FOUND", false},
    {ErrorCode::sasl_authentication_failed, "SASL_AUTHENTICATION_FAILED", false},
    {ErrorCode::unknown_producer_id, "UNKNOWN_PRODUCER_ID", false},
    {ErrorCode::reassignment_in_progress, "REASSIGNMENT_IN_PROGRESS", false},
    {ErrorCode::delegation_token_auth_disabled, "DELEGATION_TOKEN_AUTH_DISABLED", false},
    {ErrorCode::delegation_token_not_found, "DELEGATION_TOKEN_NOT_FOUND", false},
    {ErrorCode::delegation_token_owner_mismatch, "DELEGATION_TOKEN_OWNER_MISMATCH", false},
    {ErrorCode::delegation_token_request_not_allowed, "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", false},
    {ErrorCode::delegation_token_authorization_failed, "DELEGATION_TOKEN_AUTHORIZATION_FAILED", false},
    {ErrorCode::delegation_token_expired, "DELEGATION_TOKEN_EXPIRED", false},
    {ErrorCode::invalid_principal_type, "INVALID_PRINCIPAL_TYPE", false},
    {ErrorCode::non_empty_group, "NON_EMPTY_GROUP", false},
    {ErrorCode::group_id_not_found, "GROUP_ID_NOT_FOUND", false},
    {ErrorCode::fetch_session_id_not_found, "FETCH_SESSION_ID_NOT_FOUND", true},
    {ErrorCode::invalid_fetch_session_epoch, "INVALID_FETCH_SESSION_EPOCH", true},
    {ErrorCode::listener_not_found, "LISTENER_NOT_FOUND", true},
    {ErrorCode::topic_deletion_disabled, "TOPIC_DELETION_DISABLED", false},
    {ErrorCode::fenced_leader_epoch, "FENCED_LEADER_EPOCH", true},
    {ErrorCode::unknown_leader_epoch, "UNKNOWN_LEADER_EPOCH", true},
    {ErrorCode::unsupported_compression_type, "UNSUPPORTED_COMPRESSION_TYPE", false},
    {ErrorCode::stale_broker_epoch, "STALE_BROKER_EPOCH", false},
    {ErrorCode::offset_not_available, "OFFSET_NOT_AVAILABLE", true},
    {ErrorCode::member_id_required, "MEMBER_ID_REQUIRED", false},
    {ErrorCode::preferred_leader_not_available, "PREFERRED_LEADER_NOT_AVAILABLE", true},
    {ErrorCode::group_max_size_reached, "GROUP_MAX_SIZE_REACHED", false},
    {ErrorCode::fenced_instance_id, "FENCED_INSTANCE_ID", false},
    {ErrorCode::eligible_leaders_not_available, "ELIGIBLE_LEADERS_NOT_AVAILABLE", true},
    {ErrorCode::election_not_needed, "ELECTION_NOT_NEEDED", true},
    {ErrorCode::no_reassignment_in_progress, "NO_REASSIGNMENT_IN_PROGRESS", false},
    {ErrorCode::group_subscribed_to_topic, "GROUP_SUBSCRIBED_TO_TOPIC", false},
    {ErrorCode::invalid_record, "INVALID_RECORD", false},
    {ErrorCode::unstable_offset_commit, "UNSTABLE_OFFSET_COMMIT", true},
    {ErrorCode::throttling_quota_exceeded, "THROTTLING_QUOTA_EXCEEDED", true},
    {ErrorCode::producer_fenced, "PRODUCER_FENCED", false},
    {ErrorCode::resource_not_found, "RESOURCE_NOT_FOUND", false},
    {ErrorCode::duplicate_resource, "DUPLICATE_RESOURCE", false},
    {ErrorCode::unacceptable_credential, "UNACCEPTABLE_CREDENTIAL", false},
    {ErrorCode::inconsistent_voter_set, "INCONSISTENT_VOTER_SET", false},
    {ErrorCode::invalid_update_version, "INVALID_UPDATE_VERSION", false},
    {ErrorCode::feature_update_failed, "FEATURE_UPDATE_FAILED", false},
    {ErrorCode::principal_deserialization_failure, "PRINCIPAL_DESERIALIZATION_FAILURE", false},
    {ErrorCode::snapshot_not_found, "SNAPSHOT_NOT_FOUND", false},
    {ErrorCode::position_out_of_range, "POSITION_OUT_OF_RANGE", false},
    {ErrorCode::unknown_topic_id, "UNKNOWN_TOPIC_ID", true},
    {ErrorCode::duplicate_broker_registration, "DUPLICATE_BROKER_REGISTRATION", false},
    {ErrorCode::broker_id_not_registered, "BROKER_ID_NOT_REGISTERED", false},
    {ErrorCode::inconsistent_topic_id, "INCONSISTENT_TOPIC_ID", true},
    {ErrorCode::inconsistent_cluster_id, "INCONSISTENT_CLUSTER_ID", false},
    {ErrorCode::transactional_id_not_found, "TRANSACTIONAL_ID_NOT_FOUND", false},
    {ErrorCode::fetch_session_topic_id_error, "FETCH_SESSION_TOPIC_ID_ERROR", true},
    {ErrorCode::ineligible_replica, "INELIGIBLE_REPLICA", false},
    {ErrorCode::new_leader_elected, "NEW_LEADER_ELECTED", false},
    {ErrorCode::offset_moved_to_tiered_storage, "OFFSET_MOVED_TO_TIERED_STORAGE", false},
    {ErrorCode::fenced_member_epoch, "FENCED_MEMBER_EPOCH", false},
    {ErrorCode::unreleased_instance_id, "UNRELEASED_INSTANCE_ID", false},
    {ErrorCode::unsupported_assignor, "UNSUPPORTED_ASSIGNOR", false},
    {ErrorCode::stale_member_epoch, "STALE_MEMBER_EPOCH", false},
    {ErrorCode::mismatched_endpoint_type, "MISMATCHED_ENDPOINT_TYPE", false},
    {ErrorCode::unsupported_endpoint_type, "UNSUPPORTED_ENDPOINT_TYPE", false},
    {ErrorCode::unknown_controller_id, "UNKNOWN_CONTROLLER_ID", false},
    {ErrorCode::unknown_subscription_id, "UNKNOWN_SUBSCRIPTION_ID", false},
    {ErrorCode::telemetry_too_large, "TELEMETRY_TOO_LARGE", false},
    {ErrorCode::invalid_registration, "INVALID_REGISTRATION", false},
    {ErrorCode::transaction_abortable, "TRANSACTION_ABORTABLE", false},
    {ErrorCode::invalid_record_state, "INVALID_RECORD_STATE", false},
    {ErrorCode::share_session_not_found, "SHARE_SESSION_NOT_FOUND", true},
    {ErrorCode::invalid_share_session_epoch, "INVALID_SHARE_SESSION_EPOCH", true},
    {ErrorCode::fenced_state_epoch, "FENCED_STATE_EPOCH", false},
    {ErrorCode::invalid_voter_key, "INVALID_VOTER_KEY", false},
    {ErrorCode::duplicate_voter, "DUPLICATE_VOTER", false},
    {ErrorCode::voter_not_found, "VOTER_NOT_FOUND", false},
    {ErrorCode::invalid_regular_expression, "INVALID_REGULAR_EXPRESSION", false},
    {ErrorCode::rebootstrap_required, "REBOOTSTRAP_REQUIRED", false},
    {ErrorCode::streams_invalid_topology, "STREAMS_INVALID_TOPOLOGY", false},
    {ErrorCode::streams_invalid_topology_epoch, "STREAMS_INVALID_TOPOLOGY_EPOCH", false},
    {ErrorCode::streams_topology_fenced, "STREAMS_TOPOLOGY_FENCED", false},
    {ErrorCode::share_session_limit_reached, "SHARE_SESSION_LIMIT_REACHED", true},
    {ErrorCode::group_deletion_failed, "GROUP_DELETION_FAILED", false},
    {ErrorCode::streams_topology_description_update_failed, "STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED", false},
    {ErrorCode::controller_id_not_registered, "CONTROLLER_ID_NOT_REGISTERED", false},
};
constexpr std::int32_t kFirst = static_cast<std::int32_t>(ErrorCode::unknown_server_error);

// find_error() indexes instead of searching.
constexpr bool contiguous() {
  for (std::size_t i = 0; i < std::size(kErrors); ++i) {
    if (static_cast<std::int32_t>(kErrors[i].code) != kFirst + static_cast<std::int32_t>(i)) {
      return false;
    }
  }
  return true;
}
static_assert(contiguous());

}  // namespace

std::span<const ErrorInfo> all_errors() noexcept { return kErrors; }

const ErrorInfo* find_error(ErrorCode code) noexcept {
  const std::int32_t index = static_cast<std::int32_t>(code) - kFirst;
  if (index < 0 || static_cast<std::size_t>(index) >= std::size(kErrors)) {
    return nullptr;
  }
  return &kErrors[static_cast<std::size_t>(index)];
}

std::string_view error_name(ErrorCode code) noexcept {
  const ErrorInfo* info = find_error(code);
  return info == nullptr ? std::string_view("UNKNOWN") : info->name;
}

bool is_retriable(ErrorCode code) noexcept {
  const ErrorInfo* info = find_error(code);
  return info != nullptr && info->retriable;
}

}  // namespace hw::wire
