// SPDX-License-Identifier: Apache-2.0
// Cluster: links to the brokers of one cluster and what their metadata says. The part that producer, consumer and admin share.
//
// request(broker, …) finds or opens the link; kAnyBroker means whichever stands, else the bootstrap addresses in turn. A request
// whose link cannot be opened or ends gets an error Answer at once; trying again is the caller's decision, waiting between two
// attempts to open one address (reconnect_backoff, doubled up to reconnect_backoff_max) is done here.
// Metadata is asked for when a wanted topic is unknown, on refresh(), and when it is older than metadata_max_age.
// Thread rule: one thread. Bounded by what the caller has in flight. Sans-I/O, deterministic.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/uuid.h"
#include "engine/client/connection.h"
#include "engine/client/io.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::wire {
struct MetadataResponse;
}

namespace hw::client {

inline constexpr BrokerId kAnyBroker{-1};

// A broker serves the requests of one link in turn, so a Fetch that waits for data, and a JoinGroup that waits for the other
// members, get links of their own.
enum class Lane : std::uint8_t { main, fetch, group };

struct ClusterConfig {
  std::vector<Endpoint> bootstrap;
  std::string client_id = "highwater";
  Duration request_timeout = seconds(30);
  Duration connect_timeout = seconds(10);
  Duration reconnect_backoff = milliseconds(50);
  Duration reconnect_backoff_max = seconds(1);
  Duration retry_backoff = milliseconds(100);
  Duration retry_backoff_max = seconds(1);  // of producers, which double it (KIP-580)
  Duration metadata_max_age = seconds(300);
  bool auto_create_topics = true;
};

struct PartitionInfo {
  BrokerId leader = kNoBroker;
  LeaderEpoch leader_epoch = kNoLeaderEpoch;
  wire::ErrorCode error = wire::ErrorCode::none;
  std::vector<BrokerId> replicas;
  std::vector<BrokerId> isr;
};
struct TopicInfo {
  Uuid id;
  bool internal = false;
  wire::ErrorCode error = wire::ErrorCode::none;
  std::vector<PartitionInfo> partitions;  // by index
};
struct Metadata {
  std::string cluster_id;
  BrokerId controller = kNoBroker;
  std::map<BrokerId, Endpoint> brokers;
  std::map<std::string, TopicInfo> topics;
  std::uint64_t version = 0;  // counts updates; 0: none yet
  [[nodiscard]] const TopicInfo* topic(const std::string& name) const;
  [[nodiscard]] const PartitionInfo* partition(const std::string& topic, std::int32_t partition) const;
};

class Cluster {
 public:
  explicit Cluster(ClusterConfig config);

  // Topics whose metadata is kept fresh. A producer forgets none; a consumer's set is small.
  void want(const std::string& topic);
  void want_all() noexcept;  // every topic there is, also those that come later
  void refresh() noexcept { refresh_wanted_ = true; }
  // An address that another answer told (FindCoordinator); the next metadata may replace it.
  void learn(BrokerId broker, Endpoint endpoint) {
    metadata_.brokers.insert_or_assign(broker, std::move(endpoint));
  }
  // Who leads now, as an answer told that came from who does not (KIP-951). Older epochs are ignored.
  void learn_leader(const std::string& topic, std::int32_t partition, BrokerId leader, LeaderEpoch epoch);
  // That there was a leader of `epoch`, as a committed offset tells (KIP-320): whoever led before it leads no more. Nobody is asked
  // until metadata of that epoch, or a later one, says who.
  void learn_epoch(const std::string& topic, std::int32_t partition, LeaderEpoch epoch);
  [[nodiscard]] const Metadata& metadata() const noexcept { return metadata_; }

  // Takes `input` in; answers to requests of the caller are appended.
  void step(const Input& input, Instant now, IoOutputs& io, std::vector<Answer>& answers);
  void request(BrokerId broker, Request request, Instant now, IoOutputs& io, std::vector<Answer>& answers,
               Lane lane = Lane::main);
  [[nodiscard]] Instant next_deadline() const noexcept;
  void close_all(IoOutputs& io);

  // Why brokers cannot be reached at the moment, in words; empty when all is well.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] const ClusterConfig& config() const noexcept { return config_; }
  [[nodiscard]] std::size_t unanswered(BrokerId broker) const noexcept;

 private:
  struct Link {
    BrokerId broker = kAnyBroker;  // kAnyBroker: a bootstrap link, whose broker is not known
    Lane lane = Lane::main;
    Endpoint endpoint;
    bool open = false;
    Instant deadline;              // for opening
    ClientConnection connection;
  };
  struct Backoff {
    Duration wait{};
    Instant not_before;
  };
  struct Parked {  // waits until its address may be tried again
    BrokerId broker;
    Lane lane = Lane::main;
    Request request;
  };
  static constexpr std::uint64_t kMetadataToken = 0;  // callers' tokens are above

  Link* find(BrokerId broker, Lane lane, LinkId& id);
  // Opens a link, or parks: null with `park` set, or null where no address is known.
  Link* open(BrokerId broker, Lane lane, Instant now, IoOutputs& io, LinkId& id, bool& park);
  void hand(LinkId id, Link& link, Request request, IoOutputs& io, std::vector<Answer>& answers);
  void drop(LinkId id, const std::string& reason, bool tell_shell, Instant now, IoOutputs& io, std::vector<Answer>& answers);
  void ask_metadata(Instant now, IoOutputs& io, std::vector<Answer>& answers);
  void take_metadata(const Answer& answer, Instant now);
  [[nodiscard]] PartitionInfo* info_of(const std::string& topic, std::int32_t partition);  // null: not known
  void keep_what_is_newer(const TopicInfo& known, TopicInfo& told);
  void settle(Instant now, IoOutputs& io, std::vector<Answer>& answers);

  ClusterConfig config_;
  Metadata metadata_;
  std::set<std::string> wanted_;
  bool all_wanted_ = false;
  std::map<LinkId, Link> links_;
  std::map<std::string, Backoff> backoffs_;  // by address
  std::vector<Parked> parked_;
  LinkId next_link_ = 1;
  std::size_t next_bootstrap_ = 0;
  bool refresh_wanted_ = false;
  bool metadata_in_flight_ = false;
  Instant metadata_not_before_{0};
  Instant metadata_expires_ = kNever;
  Instant settled_at_{};
  std::string problem_;
};

// Takes the topics out of a Metadata answer.
[[nodiscard]] std::map<std::string, TopicInfo> topics_of(wire::MetadataResponse& response);
// For people: what the error means for them and what to do, then Kafka's name for it.
[[nodiscard]] std::string describe(wire::ErrorCode error);
// The leader is not where metadata says.
[[nodiscard]] bool wants_fresh_metadata(wire::ErrorCode error) noexcept;

}  // namespace hw::client
