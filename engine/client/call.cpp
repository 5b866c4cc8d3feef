// SPDX-License-Identifier: Apache-2.0
#include "engine/client/call.h"

namespace hw::client {

using wire::ErrorCode;

bool worth_another_attempt(ErrorCode error) noexcept {
  switch (error) {
    case ErrorCode::not_controller:
    case ErrorCode::not_leader_or_follower:
    case ErrorCode::leader_not_available:
    case ErrorCode::replica_not_available:
    case ErrorCode::fenced_leader_epoch:
    case ErrorCode::unknown_leader_epoch:
    case ErrorCode::offset_not_available:
    case ErrorCode::kafka_storage_error:
    case ErrorCode::not_coordinator:
    case ErrorCode::coordinator_not_available:
    case ErrorCode::coordinator_load_in_progress:
    case ErrorCode::unstable_offset_commit:
    case ErrorCode::concurrent_transactions:
    case ErrorCode::throttling_quota_exceeded:
    case ErrorCode::request_timed_out:
    case ErrorCode::network_exception:
      return true;
    default:  // an answer, good or bad
      return false;
  }
}

}  // namespace hw::client
