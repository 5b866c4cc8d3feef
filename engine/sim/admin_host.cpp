// SPDX-License-Identifier: Apache-2.0
#include "engine/sim/admin_host.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/metadata/partition_change.h"
#include "engine/sim/node_host.h"
#include "engine/wire/msg/add_raft_voter.h"
#include "engine/wire/msg/alter_partition_reassignments.h"
#include "engine/wire/msg/delete_records.h"
#include "engine/wire/msg/describe_quorum.h"
#include "engine/wire/msg/elect_leaders.h"
#include "engine/wire/msg/incremental_alter_configs.h"
#include "engine/wire/msg/remove_raft_voter.h"

namespace hw::sim {

namespace {
constexpr Duration kAdminWithin = seconds(20);
constexpr std::int32_t kTimeoutMs = 10'000;
constexpr std::size_t kMostPartitions = 12;
}  // namespace

AdminHost::AdminHost(ClientSetting setting, client::ClusterConfig config, const Options& options, NewestImage newest, Prng prng)
    : ClientHost(setting, "admin"), core_(std::move(config)), options_(options), newest_(std::move(newest)), prng_(prng) {}

void AdminHost::create(const client::NewTopic& topic) {
  wanted_.insert(topic.name);
  ask(topic);
}

void AdminHost::ask(const client::NewTopic& topic) {
  const std::uint64_t token = next_++;
  asked_[token] = topic;
  core_.create_topic(token, topic, now() + kAdminWithin);
  tick();
}

void AdminHost::core_step(const client::Input& input) {
  core_.step(input, now(), out_);
  ClientHost::perform(out_.io);
  std::vector<client::AdminResult> results;
  results.swap(out_.results);
  for (const client::AdminResult& result : results) {
    if (const auto take = taken_by_.extract(result.token); !take.empty()) {
      take.mapped()(result);
      continue;
    }
    const auto asked = asked_.extract(result.token);
    if (asked.empty()) {
      continue;
    }
    const client::NewTopic topic = asked.mapped();
    const bool there = !result.error || result.error->detail.find("exists") != std::string::npos;
    say(fmt::format("topic {} {}", topic.name, there ? "is there" : "is not there: " + result.error->detail));
    if (there) {
      wanted_.erase(topic.name);
    } else {
      then(milliseconds(500), [this, topic] { ask(topic); });
    }
  }
}

template <class Response, class Body>
void AdminHost::call(client::Target target, Body body, Take take) {
  const std::uint64_t token = next_++;
  if (take) {
    taken_by_[token] = std::move(take);
  }
  core_.call(token, client::make_call<Response>(std::move(target), std::move(body)), now() + kAdminWithin);
}

// ---------------------------------------------------------------- deeds

void AdminHost::begin_deeds() {
  if (!options_.deeds.empty()) {
    doing_ = true;
    then(seconds(1), [this] { next_deed(); });
  }
}

void AdminHost::next_deed() {
  if (!doing_) {
    return;
  }
  perform(options_.deeds[prng_.below(options_.deeds.size())]);
  tick();
  then(milliseconds(prng_.between(50, options_.deed_interval_ms * 2)), [this] { next_deed(); });
}

void AdminHost::perform(Deed deed) {
  ++done_;
  if (deed == Deed::come_and_go) {
    return come_and_go();
  }
  if (deed == Deed::voters) {
    return change_voters();
  }
  const metadata::ImagePtr image = newest_();
  const std::string name = "work-" + std::to_string(prng_.below(static_cast<std::uint64_t>(options_.topics)));
  const metadata::TopicImage* const topic = image == nullptr ? nullptr : image->find_topic(name);
  if (topic == nullptr || topic->partitions.empty()) {
    return;
  }
  const auto partition = static_cast<std::int32_t>(prng_.below(topic->partitions.size()));
  switch (deed) {
    case Deed::grow:
      return grow(*topic);
    case Deed::delete_records:
      return delete_records(*topic, partition);
    case Deed::reassign:
      return reassign(*image, *topic, partition);
    case Deed::elect:
      return elect(*topic, partition);
    case Deed::configure:
      return configure(*topic);
    case Deed::come_and_go:
    case Deed::voters:
      return;
  }
}

void AdminHost::come_and_go() {
  if (!scratch_topics_.empty() && prng_.chance({1, 2})) {
    core_.delete_topic(next_++, scratch_topics_.back(), now() + kAdminWithin);
    scratch_topics_.pop_back();
  } else if (!scratch_topics_.empty() && prng_.chance({1, 3})) {
    core_.create_partitions(next_++, scratch_topics_.front(), static_cast<std::int32_t>(prng_.between(2, 8)), now() + kAdminWithin);
  } else {
    client::NewTopic topic;
    topic.name = "scratch-" + std::to_string(++scratch_count_);
    topic.partitions = static_cast<std::int32_t>(prng_.between(1, 4));
    topic.replication_factor = options_.replication_factor;
    scratch_topics_.push_back(topic.name);
    core_.create_topic(next_++, topic, now() + kAdminWithin);
  }
}

void AdminHost::grow(const metadata::TopicImage& topic) {
  if (topic.partitions.size() < kMostPartitions) {
    const auto total = static_cast<std::int32_t>(topic.partitions.size() + 1 + prng_.below(2));
    say(fmt::format("{} is to have {} partitions", topic.name, total));
    core_.create_partitions(next_++, topic.name, total, now() + kAdminWithin);
  }
}

void AdminHost::delete_records(const metadata::TopicImage& topic, std::int32_t partition) {
  const PartitionKey key{topic.name, partition};
  const std::int64_t end = history().logs[key].end();
  if (end == 0) {
    return;
  }
  const std::int64_t offset = prng_.between(1, end);
  say(fmt::format("records of {} below {} may go", text_of(key), offset));
  std::int64_t& deletable = history().deletable[key];
  deletable = std::max(deletable, offset);
  wire::DeleteRecordsRequest request;
  request.timeout_ms = kTimeoutMs;
  auto& wanted = request.topics.emplace_back();
  wanted.name = topic.name;
  auto& one = wanted.partitions.emplace_back();
  one.partition_index = PartitionIndex(partition);
  one.offset = Offset(offset);
  const std::size_t at = history().deletions.size();
  history().deletions.push_back({key, offset, false, std::nullopt});
  call<wire::DeleteRecordsResponse>(client::Target::leader_of(topic.name, partition), std::move(request),
                                    [this, at](const client::AdminResult& result) {
                                      History::Deletion& deletion = history().deletions[at];
                                      deletion.over = true;
                                      const auto* const answer = std::get_if<client::Answer>(&result.value);
                                      wire::DeleteRecordsResponse response;
                                      if (result.error || answer == nullptr || !client::decode_answer(*answer, response) ||
                                          response.topics.empty() || response.topics.front().partitions.empty()) {
                                        return;
                                      }
                                      const auto& told = response.topics.front().partitions.front();
                                      if (told.error_code == wire::ErrorCode::none) {
                                        deletion.low_watermark = told.low_watermark;
                                      }
                                    });
}

void AdminHost::reassign(const metadata::MetadataImage& image, const metadata::TopicImage& topic, std::int32_t partition) {
  wire::AlterPartitionReassignmentsRequest request;
  request.timeout_ms = kTimeoutMs;
  auto& wanted = request.topics.emplace_back();
  wanted.name = topic.name;
  auto& one = wanted.partitions.emplace_back();
  one.partition_index = PartitionIndex(partition);
  if (metadata::is_reassigning(topic.partitions[static_cast<std::size_t>(partition)]) && prng_.chance({1, 3})) {
    say(fmt::format("{}-{} is to stay where it was", topic.name, partition));
  } else {
    std::vector<BrokerId> brokers;
    for (const auto& [id, broker] : image.brokers()) {
      brokers.push_back(id);
    }
    const auto factor = static_cast<std::size_t>(options_.replication_factor);
    if (brokers.size() < factor) {
      return;
    }
    for (std::size_t i = 0; i < factor; ++i) {
      std::swap(brokers[i], brokers[i + prng_.below(brokers.size() - i)]);
    }
    brokers.resize(factor);
    std::string names;
    for (const BrokerId id : brokers) {
      names += (names.empty() ? "" : ",") + std::to_string(id.value());
    }
    say(fmt::format("{}-{} is to move to [{}]", topic.name, partition, names));
    one.replicas = std::move(brokers);
  }
  call<wire::AlterPartitionReassignmentsResponse>(client::Target::controller(), std::move(request));
}

void AdminHost::elect(const metadata::TopicImage& topic, std::int32_t partition) {
  wire::ElectLeadersRequest request;
  request.timeout_ms = kTimeoutMs;
  constexpr std::int8_t kPreferred = 0;
  constexpr std::int8_t kUnclean = 1;
  request.election_type = options_.unclean && prng_.chance({1, 2}) ? kUnclean : kPreferred;
  auto& wanted = request.topic_partitions.emplace().emplace_back();
  wanted.topic = topic.name;
  wanted.partitions.push_back(PartitionIndex(partition));
  call<wire::ElectLeadersResponse>(client::Target::controller(), std::move(request));
}

// Settings without consequences for the checks: what matters is that they are written, replayed and part of snapshots.
void AdminHost::configure(const metadata::TopicImage& topic) {
  wire::IncrementalAlterConfigsRequest request;
  auto& resource = request.resources.emplace_back();
  resource.resource_type = static_cast<std::int8_t>(metadata::ConfigResourceType::topic);
  resource.resource_name = topic.name;
  auto& config = resource.configs.emplace_back();
  config.name = "max.message.bytes";
  config.value = std::to_string(prng_.between(1'000'000, 2'000'000));
  // A leader may acknowledge by the old value while the controller reckons with the new one already, and an eligible leader then lacks
  // records (KIP-966 leaves that open): only where records may be lost.
  if (options_.unclean && prng_.chance({1, 2})) {
    config.name = "min.insync.replicas";
    config.value = std::to_string(prng_.between(1, options_.replication_factor));
  }
  call<wire::IncrementalAlterConfigsResponse>(client::Target::controller(), std::move(request));
}

void AdminHost::change_voters() {
  wire::DescribeQuorumRequest request;
  auto& topic = request.topics.emplace_back();
  topic.topic_name = "__cluster_metadata";
  topic.partitions.emplace_back();
  call<wire::DescribeQuorumResponse>(client::Target::controller(), std::move(request),
                                     [this](const client::AdminResult& result) { add_or_remove_voter(result); });
}

void AdminHost::add_or_remove_voter(const client::AdminResult& quorum) {
  const auto* const answer = std::get_if<client::Answer>(&quorum.value);
  wire::DescribeQuorumResponse response;
  if (quorum.error || answer == nullptr || !client::decode_answer(*answer, response) || response.topics.size() != 1 ||
      response.topics.front().partitions.size() != 1) {
    return;
  }
  const auto& partition = response.topics.front().partitions.front();
  if (partition.error_code != wire::ErrorCode::none || partition.current_voters.empty()) {
    return;
  }
  // Those that could vote: controllers among the observers.
  std::vector<wire::DescribeQuorumResponse::ReplicaState> spare;
  for (const auto& observer : partition.observers) {
    if (options_.is_controller(observer.replica_id.value() - 1)) {
      spare.push_back(observer);
    }
  }
  const auto endpoint = [](std::int32_t id) { return "node-" + std::to_string(id); };
  const bool enough = static_cast<std::int32_t>(partition.current_voters.size()) > options_.controllers;
  if (!spare.empty() && !enough) {
    const auto& one = spare[prng_.below(spare.size())];
    say(fmt::format("node {} is to vote", one.replica_id.value()));
    wire::AddRaftVoterRequest request;
    request.cluster_id.reset();
    request.timeout_ms = kTimeoutMs;
    request.voter_id = one.replica_id.value();
    request.voter_directory_id = one.replica_directory_id;
    auto& listener = request.listeners.emplace_back();
    listener.name = "CONTROLLER";
    listener.host = endpoint(one.replica_id.value());
    listener.port = kControllerPort;
    call<wire::AddRaftVoterResponse>(client::Target::controller(), std::move(request));
  } else if (enough) {
    const auto& one = partition.current_voters[prng_.below(partition.current_voters.size())];
    say(fmt::format("node {} is to vote no more", one.replica_id.value()));
    wire::RemoveRaftVoterRequest request;
    request.cluster_id.reset();
    request.voter_id = one.replica_id.value();
    request.voter_directory_id = one.replica_directory_id;
    call<wire::RemoveRaftVoterResponse>(client::Target::controller(), std::move(request));
  }
  tick();
}

}  // namespace hw::sim
