// SPDX-License-Identifier: Apache-2.0
// What the files of the controller share.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/metadata/controller.h"
#include "engine/metadata/placement.h"
#include "engine/metadata/refusal.h"

namespace hw::metadata {

struct Controller::Impl {
  Impl(Options given, Prng random) : options(std::move(given)), prng(random) {}

  Options options;
  Prng prng;
  bool active = false;
  std::int32_t epoch = -1;
  Offset next_offset{0};
  Offset committed_to{0};
  ImageBuilder newest{nullptr, ImageBuilder::Tracking::off};
  std::vector<std::vector<Record>> outbox;
  // Names of existing topics by the form in which '.' and '_' are the same, for those that hold either (metric names
  // of such topics collide).
  std::map<std::string, std::set<std::string>> collisions;

  struct Waiting {
    Offset needs;  // runs when the high watermark reaches this
    std::function<void(bool committed)> run;
  };
  std::deque<Waiting> waiting;

  // Appends records (none: nothing) and runs `run` when everything written so far is committed. More than fit into one
  // batch become several: with Atomic::yes inside a metadata transaction, so that all of them become visible together.
  enum class Atomic : bool { no, yes };
  void write(std::vector<Record> records, std::function<void(bool)> run, Atomic atomic = Atomic::yes);
  template <class Response>
  void finish(std::vector<Record> records, Response response, Response failure, Done<Response> done,
              Atomic atomic = Atomic::yes) {
    write(
        std::move(records),
        [response = std::move(response), failure = std::move(failure), done = std::move(done)](bool committed) mutable {
          done(committed ? std::move(response) : std::move(failure));
        },
        atomic);
  }
  void replay(const Record& record, Offset offset);
  void index_name(const std::string& name, bool exists);

  [[nodiscard]] const MetadataImage& image() const { return newest.working(); }
  [[nodiscard]] std::vector<UsableBroker> usable_brokers() const;
  [[nodiscard]] Uuid directory_of(BrokerId broker) const;

  // Producer ids of this node's block, and who waits for the next one. An id is given out once: a block that was held
  // when the node stopped is lost.
  std::int64_t next_producer_id = 0;
  std::int64_t producer_ids_left = 0;
  bool block_asked = false;
  std::deque<Done<std::pair<wire::ErrorCode, ProducerId>>> producer_id_waiters;
  void serve_producer_ids();

  // Partitions that a broker leads lose their leader to another member of the ISR, or stay without one; the ISR keeps its
  // last member, which may lead again when it is back.
  [[nodiscard]] std::vector<Record> records_for_fencing(BrokerId broker) const;

  // cluster_changes.cpp
  enum class ElectionType : std::int8_t { preferred = 0, unclean = 1 };
  [[nodiscard]] std::optional<std::string> feature_error(const std::string& name, std::int16_t wanted, std::int8_t type,
                                                         std::vector<Record>& records) const;
  [[nodiscard]] Refusal elect(std::string_view topic, PartitionIndex index, ElectionType type,
                              std::vector<Record>& records) const;
  [[nodiscard]] Refusal reassign(const TopicImage* topic, const std::string& name,
                                 const wire::AlterPartitionReassignmentsRequest::ReassignablePartition& wanted,
                                 bool may_change_count) const;

  // topics.cpp
  [[nodiscard]] std::optional<Refusal> name_refusal(const std::string& name) const;
  [[nodiscard]] std::optional<Refusal> assignment_refusal(const std::vector<BrokerId>& replicas,
                                                          std::optional<std::size_t> replication_factor) const;
  [[nodiscard]] Result<std::vector<std::vector<BrokerId>>, Refusal> replicas_of(
      const wire::CreateTopicsRequest::CreatableTopic& topic);
  [[nodiscard]] std::optional<Refusal> item_refusal(bool named_twice, std::int64_t partitions) const;
  [[nodiscard]] std::optional<Refusal> create_topic(const wire::CreateTopicsRequest::CreatableTopic& topic,
                                                    const TakePartitions& take, std::vector<Record>& records,
                                                    wire::CreateTopicsResponse::CreatableTopicResult& result);
  [[nodiscard]] Record partition_record(const Uuid& topic, std::int32_t index, const std::vector<BrokerId>& replicas) const;
  [[nodiscard]] std::optional<Refusal> grow_topic(const wire::CreatePartitionsRequest::CreatePartitionsTopic& request,
                                                  const TakePartitions& take, std::vector<Record>& records);
};

// Partitions that one request may create.
inline constexpr std::int64_t kPartitionsPerRequestMax = 10'000;
// About how large a batch of records gets; the log takes far larger ones.
inline constexpr std::size_t kBatchBytes = 1U << 20U;

}  // namespace hw::metadata
