// SPDX-License-Identifier: Apache-2.0
// A coordinator with a log of its own and time that is moved by hand, for tests.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/groups/coordinator.h"

namespace hw::groups::test {

// An answer that may come later. get() REQUIRES: it has come.
template <class Response>
class Answer {
 public:
  [[nodiscard]] Done<Response> done() {
    auto slot = slot_;
    auto count = count_;
    return [slot, count](Response response) {
      *slot = std::move(response);
      ++*count;
    };
  }

  [[nodiscard]] bool here() const { return slot_->has_value(); }

  [[nodiscard]] int times() const { return *count_; }

  const Response& operator*() const { return slot_->value(); }

  const Response* operator->() const { return &slot_->value(); }

 private:
  std::shared_ptr<std::optional<Response>> slot_ = std::make_shared<std::optional<Response>>();
  std::shared_ptr<int> count_ = std::make_shared<int>(0);
};

struct JoinOptions {
  std::int16_t version = 9;
  std::string client = "cli";
  std::optional<std::string> instance;
  std::int32_t session_ms = 10'000;
  std::int32_t rebalance_ms = 60'000;
  std::string type = "consumer";
  std::vector<std::pair<std::string, std::string>> protocols = {{"range", "meta"}};
  std::optional<std::string> reason;
};

class World {
 public:
  explicit World(Config config = fast(), std::uint64_t seed = 7);
  // No initial delay, one partition.
  static Config fast();

  Answer<wire::JoinGroupResponse> join(const std::string& group, const std::string& member,
                                       const JoinOptions& options = {});
  Answer<wire::SyncGroupResponse> sync(const std::string& group, std::int32_t generation,
                                       const std::string& member,
                                       const std::map<std::string, std::string>& assignments = {},
                                       const std::optional<std::string>& instance = {},
                                       const std::string& protocol = "range",
                                       const std::string& type = "consumer");
  Answer<wire::HeartbeatResponse> heartbeat_later(const std::string& group, std::int32_t generation,
                                                  const std::string& member,
                                                  const std::optional<std::string>& instance = {});
  wire::ErrorCode heartbeat(const std::string& group, std::int32_t generation,
                            const std::string& member,
                            const std::optional<std::string>& instance = {});

  struct Leaver {
    std::string member;
    std::optional<std::string> instance;
    std::optional<std::string> reason;
  };

  wire::LeaveGroupResponse leave(const std::string& group, const std::vector<Leaver>& leavers);

  struct CommitOptions {
    std::int16_t version = 9;
    std::string metadata;
    std::int32_t partition = 0;
    std::optional<std::string> instance;
    std::int64_t retention_ms = -1;
    Uuid topic_id;
  };

  Answer<wire::OffsetCommitResponse> commit_later(const std::string& group,
                                                  const std::string& topic, std::int64_t offset,
                                                  std::int32_t generation,
                                                  const std::string& member,
                                                  const CommitOptions& options);
  wire::ErrorCode commit(const std::string& group, const std::string& topic, std::int64_t offset,
                         std::int32_t generation, const std::string& member,
                         const CommitOptions& options);

  wire::ErrorCode commit(const std::string& group, const std::string& topic, std::int64_t offset,
                         std::int32_t generation = -1, const std::string& member = {}) {
    return commit(group, topic, offset, generation, member, CommitOptions());
  }

  Answer<wire::OffsetFetchResponse> fetch_later(const std::string& group, const std::string& topic,
                                                const std::vector<std::int32_t>& partitions,
                                                bool stable);
  // -1: nothing committed.
  std::int64_t fetch(const std::string& group, const std::string& topic,
                     std::int32_t partition = 0);
  wire::OffsetFetchResponse::OffsetFetchResponseGroup fetch_all(const std::string& group);
  wire::DescribeGroupsResponse::DescribedGroup describe(const std::string& group);

  std::string state(const std::string& group) { return describe(group).group_state; }

  std::vector<std::string> list(const std::vector<std::string>& states = {},
                                const std::vector<std::string>& types = {});
  wire::ErrorCode remove(const std::string& group);
  Answer<wire::DeleteGroupsResponse> remove_later(const std::string& group);

  // A member that has joined and is alone: joins twice, syncs. Returns its id; the group is in
  // generation 1.
  std::string lone_member(const std::string& group, const JoinOptions& options = {});
  // Adds a member to a group whose other members join again; the leader assigns. Returns the new
  // member's id.
  std::string member_id(const std::string& group, const JoinOptions& options = {});

  void advance(std::int64_t ms);  // time passes, deadlines are served on the way
  // Serves what the coordinator put out: appends are written and committed, unless held; events are
  // kept.
  void pump();
  void load(std::int32_t partition = 0);  // begin_load, the records, end_load
  void commit_held();                     // everything that was held commits
  void fail_held(wire::ErrorCode error);  // the oldest held append fails

  GroupCoordinator coordinator;
  Now now{{1'000'000'000}, {1'700'000'000'000}};
  bool hold = false;  // appends are written but not committed
  std::vector<Outputs::Append> held;
  std::map<std::int32_t, std::vector<Record>> log;  // committed records by partition
  std::vector<event::Any> events;
  [[nodiscard]] RequestContext context(std::int16_t version,
                                       const std::string& client = "cli") const;

  // Events of a kind, in order.
  template <class Event>
  [[nodiscard]] std::vector<Event> told() const {
    std::vector<Event> result;
    for (const event::Any& any : events) {
      if (const auto* one = std::get_if<Event>(&any)) {
        result.push_back(*one);
      }
    }
    return result;
  }
};

}  // namespace hw::groups::test
