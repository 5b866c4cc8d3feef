// SPDX-License-Identifier: Apache-2.0
// OffsetProtocol: committed offsets of groups on one shard: commit, fetch, delete, expiry.
// Thread rule: one thread. Source: behaviours 163-168; KIP-211 (expiry), KIP-447 (require stable).
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/groups/classic/classic_protocol.h"
#include "engine/groups/runtime/shard.h"

namespace hw::groups {

class OffsetProtocol {
 public:
  OffsetProtocol(Runtime& runtime, ClassicProtocol& classic)
      : runtime_(runtime), classic_(classic) {}

  void commit(Shard& shard, const wire::OffsetCommitRequest& request, const RequestContext& context,
              Now now, Done<wire::OffsetCommitResponse> done);
  void commit(Shard& shard, const wire::TxnOffsetCommitRequest& request, const RequestContext& context, std::uint64_t verification, Now now,
              Done<wire::TxnOffsetCommitResponse> done);
  // `latest`: also what is not committed yet (require_stable, whose answer waits for it).
  [[nodiscard]] wire::OffsetFetchResponse::OffsetFetchResponseGroup fetch(
      const Shard& shard, const wire::OffsetFetchRequest::OffsetFetchRequestGroup& request,
      bool latest) const;
  void remove(Shard& shard, const wire::OffsetDeleteRequest& request, Now now,
              const Done<wire::OffsetDeleteResponse>& done);
  // Tombstones for every offset of a group, those on their way included.
  static void remove_all(const Shard& shard, std::string_view group, std::vector<Record>& records);
  void topics_deleted(Shard& shard, const std::set<std::string, std::less<>>& topics);
  // Offsets past their retention, and empty groups that have none left.
  void expire(Shard& shard, Now now);

  // A response in which every partition of the request has `error`.
  [[nodiscard]] static wire::OffsetCommitResponse commit_error(
      const wire::OffsetCommitRequest& request, wire::ErrorCode error);
  [[nodiscard]] static wire::TxnOffsetCommitResponse commit_error(const wire::TxnOffsetCommitRequest& request, wire::ErrorCode error);

 private:
  Runtime& runtime_;
  ClassicProtocol& classic_;
};

// Takes a group out of the shard and writes `records` (its tombstones). Should that fail, the group
// comes back as it was.
void delete_group(Runtime& runtime, ClassicProtocol& classic, Shard& shard,
                  const std::string& group, std::vector<Record> records, Shard::Outcome outcome);

}  // namespace hw::groups
