// SPDX-License-Identifier: Apache-2.0
// Admin: one-shot requests about topics and groups. Sans-I/O, deterministic.
//
// Each call has a token and ends with exactly one AdminResult: its value, or an error in words. What may succeed later (no leader,
// no coordinator yet, another controller) is tried again until the call's time is up; a cluster of which no address answers is
// reported after each was tried. Thread rule: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/client/assignor.h"
#include "engine/client/call.h"
#include "engine/client/cluster.h"

namespace hw::client {

struct NewTopic {
  std::string name;
  std::int32_t partitions = -1;         // -1: the broker's default
  std::int16_t replication_factor = -1;
  std::vector<std::pair<std::string, std::string>> configs;
};
struct TopicDescription {
  std::string name;
  TopicInfo info;
};
struct GroupListing {
  std::string id;
  std::string protocol_type;
  std::string state;
  std::string type;
};
struct GroupDescription {
  struct Member {
    std::string id;
    std::string client_id;
    std::string host;
    std::vector<TopicPartition> partitions;
  };
  std::string id;
  std::string state;
  std::string protocol_type;
  std::string protocol;
  std::vector<Member> members;
};
struct ConfigEntry {
  std::string name;
  std::optional<std::string> value;  // nullopt: null, or sensitive
  std::int8_t source = 0;            // Kafka's ConfigSource: 1 topic, 5 default, …
  bool read_only = false;
  bool sensitive = false;
};
struct PartitionOffset {
  TopicPartition partition;
  std::int64_t offset = -1;
  std::optional<Error> error;
};

struct AdminResult {
  std::uint64_t token = 0;
  std::optional<Error> error;
  std::variant<std::monostate, std::vector<TopicDescription>, std::vector<GroupListing>, GroupDescription,
               std::vector<ConfigEntry>, std::vector<PartitionOffset>, Answer>
      value;
};

struct AdminOutputs {
  IoOutputs io;
  std::vector<AdminResult> results;
  void clear() {
    io.clear();
    results.clear();
  }
};

class Admin {
 public:
  explicit Admin(ClusterConfig config);

  // Calls begin with the next step(); each has until `deadline`.
  void create_topic(std::uint64_t token, NewTopic topic, Instant deadline);
  void delete_topic(std::uint64_t token, std::string name, Instant deadline);
  void create_partitions(std::uint64_t token, std::string topic, std::int32_t total, Instant deadline);
  void list_topics(std::uint64_t token, Instant deadline);                            // TopicDescription, by name
  void describe_topic(std::uint64_t token, std::string name, Instant deadline);       // one TopicDescription
  void describe_configs(std::uint64_t token, std::string topic, Instant deadline);    // ConfigEntry
  // `timestamp`: -2 earliest, -1 latest, or milliseconds. One PartitionOffset each.
  void list_offsets(std::uint64_t token, std::string topic, std::int64_t timestamp, Instant deadline);
  void list_groups(std::uint64_t token, Instant deadline);                            // GroupListing, by id
  void describe_group(std::uint64_t token, std::string group, Instant deadline);      // GroupDescription
  void committed_offsets(std::uint64_t token, std::string group, Instant deadline);   // PartitionOffset
  // Any request (call.h); Answer. Has until `deadline`, whatever the call's own options say of time.
  void call(std::uint64_t token, Call call, Instant deadline);

  void step(const Input& input, Instant now, AdminOutputs& out);
  void abort(const Error& error, AdminOutputs& out);
  [[nodiscard]] Instant next_deadline() const noexcept;
  [[nodiscard]] std::size_t unanswered() const noexcept { return calls_.size(); }

 private:
  struct Running {
    std::uint64_t number = 0;
    std::uint64_t token = 0;
    Instant deadline;
    Instant not_before{};
    BrokerId target = kAnyBroker;
    std::size_t requests = 0;    // of this call, in flight
    std::size_t failures = 0;    // of the network, in a row
    std::string last_problem;
    bool spoiled = false;        // one request of this attempt failed
    bool done = false;
    AdminResult result;
    // Sends one or more requests. Called again for each attempt.
    std::function<void(Running&, Instant, AdminOutputs&)> send;
    // One answer without network error. Sets done, or asks for another attempt.
    std::function<void(Running&, const Answer&, Instant)> take;
    // Before an attempt after a spoiled one, where there are stages: back to the first, which finds out who to ask.
    std::function<void(Running&)> restart;
  };
  enum class Verdict : std::uint8_t { good, again, failed };

  Running& add(std::uint64_t token, Instant deadline);
  template <class T>
  void send(Running& call, BrokerId broker, T request, std::int16_t lowest, std::int16_t highest, Instant now,
            AdminOutputs& out);
  Verdict judge(Running& call, wire::ErrorCode error, const std::optional<std::string>& message, const std::string& about,
                Instant now);
  void again(Running& call, std::string why, Instant now);
  void unreadable(Running& call);
  using Send = std::function<void(Running&, Instant, AdminOutputs&)>;
  using Take = std::function<void(Running&, const Answer&, Instant)>;
  // Calls of two stages: first who is to be asked, then the question. `first` sets up the first stage.
  void begin(Running& call, std::function<void(Running&)> first);
  void find_coordinator(Running& call, const std::string& group, Send then_send, Take then_take);
  void find_target(Running& call, const Target& target, Send then_send, Take then_take);
  // Null: all topics; empty: none, only brokers.
  void ask_metadata(Running& call, std::optional<std::vector<std::string>> topics);
  void learn_brokers(const wire::MetadataResponse& response);
  void take_answers(Instant now, AdminOutputs& out);
  void run(Instant now, AdminOutputs& out);

  Cluster cluster_;
  std::map<std::uint64_t, Running> calls_;           // by our own number
  std::map<std::uint64_t, std::uint64_t> requests_;  // token of a request → call
  std::uint64_t next_ = 1;
  Instant stepped_at_{};
  std::vector<Answer> answers_;
};

}  // namespace hw::client
