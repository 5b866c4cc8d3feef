// SPDX-License-Identifier: Apache-2.0
#include "engine/client/cluster.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/wire/msg/metadata.h"

namespace hw::client {

using wire::ErrorCode;

const TopicInfo* Metadata::topic(const std::string& name) const {
  const auto found = topics.find(name);
  return found == topics.end() ? nullptr : &found->second;
}

const PartitionInfo* Metadata::partition(const std::string& name, std::int32_t index) const {
  const TopicInfo* info = topic(name);
  return info == nullptr || index < 0 || static_cast<std::size_t>(index) >= info->partitions.size()
             ? nullptr
             : &info->partitions[static_cast<std::size_t>(index)];
}

Cluster::Cluster(ClusterConfig config) : config_(std::move(config)) {
  HW_ASSERT(!config_.bootstrap.empty(), "parse_bootstrap gives at least one address");
}

void Cluster::want(const std::string& topic) {
  if (wanted_.insert(topic).second) {
    refresh_wanted_ = true;
  }
}

void Cluster::want_all() noexcept {
  all_wanted_ = true;
  refresh_wanted_ = true;
}

PartitionInfo* Cluster::info_of(const std::string& topic, std::int32_t partition) {
  const auto found = metadata_.topics.find(topic);
  if (found == metadata_.topics.end() || partition < 0 || static_cast<std::size_t>(partition) >= found->second.partitions.size()) {
    return nullptr;
  }
  return &found->second.partitions[static_cast<std::size_t>(partition)];
}

void Cluster::learn_leader(const std::string& topic, std::int32_t partition, BrokerId leader, LeaderEpoch epoch) {
  PartitionInfo* const info = info_of(topic, partition);
  if (info == nullptr || !metadata_.brokers.contains(leader)) {
    return;
  }
  if (info->leader_epoch < epoch || (info->leader_epoch == epoch && info->leader == kNoBroker)) {
    info->leader = leader;
    info->leader_epoch = epoch;
  }
}

void Cluster::learn_epoch(const std::string& topic, std::int32_t partition, LeaderEpoch epoch) {
  PartitionInfo* const info = info_of(topic, partition);
  if (info != nullptr && info->leader_epoch < epoch) {
    info->leader = kNoBroker;
    info->leader_epoch = epoch;
    refresh_wanted_ = true;
  }
}

Cluster::Link* Cluster::find(BrokerId broker, Lane lane, LinkId& id) {
  Link* best = nullptr;
  for (auto& [key, link] : links_) {
    if (link.lane != lane || (broker != kAnyBroker && link.broker != broker)) {
      continue;
    }
    // Any broker will do: one that is ready rather than one that is being opened; the one that owes the fewest answers, for one that
    // has fallen silent would keep us from hearing that others lead now.
    const auto burden = [](const Link& one) { return std::pair(!one.connection.ready(), one.connection.unanswered()); };
    if (best == nullptr || burden(link) < burden(*best)) {
      best = &link;
      id = key;
    }
  }
  return best;
}

Cluster::Link* Cluster::open(BrokerId broker, Lane lane, Instant now, IoOutputs& io, LinkId& id, bool& park) {
  park = false;
  const auto usable = [&](const Endpoint& endpoint) {
    const auto backoff = backoffs_.find(endpoint.text());
    return backoff == backoffs_.end() || backoff->second.not_before <= now;
  };
  BrokerId owner = broker;
  const Endpoint* endpoint = nullptr;
  if (broker == kAnyBroker) {
    // The brokers that are known, then the bootstrap addresses, beginning behind the one tried last.
    std::vector<std::pair<BrokerId, const Endpoint*>> candidates;
    for (const auto& [known, at] : metadata_.brokers) {
      candidates.emplace_back(known, &at);
    }
    for (const Endpoint& at : config_.bootstrap) {
      candidates.emplace_back(kAnyBroker, &at);
    }
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const auto& [known, at] = candidates[next_bootstrap_++ % candidates.size()];
      if (usable(*at)) {
        owner = known;
        endpoint = at;
        break;
      }
    }
    park = endpoint == nullptr;
  } else if (const auto known = metadata_.brokers.find(broker); known != metadata_.brokers.end()) {
    endpoint = &known->second;
    if (!usable(*endpoint)) {
      park = true;
      endpoint = nullptr;
    }
  }
  if (endpoint == nullptr) {
    return nullptr;
  }
  id = next_link_++;
  auto [at, inserted] = links_.emplace(
      id, Link{owner, lane, *endpoint, false, now + config_.connect_timeout,
               ClientConnection(config_.client_id, endpoint->text())});
  io.opens.push_back({id, *endpoint});
  return &at->second;
}

void Cluster::hand(LinkId id, Link& link, Request request, IoOutputs& io, std::vector<Answer>& answers) {
  std::vector<BytesChain> sends;
  link.connection.send(std::move(request), sends, answers);
  for (BytesChain& frame : sends) {
    io.sends.push_back({id, std::move(frame)});
  }
}

void Cluster::request(BrokerId broker, Request request, Instant now, IoOutputs& io, std::vector<Answer>& answers,
                      Lane lane) {
  if (request.deadline == kNever) {
    request.deadline = now + config_.request_timeout;
  }
  LinkId id = 0;
  Link* link = find(broker, lane, id);
  bool park = false;
  if (link == nullptr) {
    link = open(broker, lane, now, io, id, park);
  }
  if (link != nullptr) {
    hand(id, *link, std::move(request), io, answers);
    return;
  }
  if (park) {
    parked_.push_back({broker, lane, std::move(request)});
    return;
  }
  refresh_wanted_ = true;
  answers.push_back({request.token, request.api, 0, {},
                     Error{Errc::not_found, fmt::format("broker {} is not in the metadata", broker.value())}});
}

void Cluster::drop(LinkId id, const std::string& reason, bool tell_shell, Instant now, IoOutputs& io,
                   std::vector<Answer>& answers) {
  const auto found = links_.find(id);
  if (found == links_.end()) {
    return;
  }
  Link link = std::move(found->second);
  links_.erase(found);
  if (tell_shell) {
    io.closes.push_back(id);
  }
  Backoff& backoff = backoffs_[link.endpoint.text()];
  backoff.wait = backoff.wait.ns == 0 ? config_.reconnect_backoff
                                      : std::min(backoff.wait * 2, config_.reconnect_backoff_max);
  backoff.not_before = now + backoff.wait;
  problem_ = fmt::format("{}: {}", link.endpoint.text(), reason);
  link.connection.fail_all(Error{Errc::closed, problem_}, answers);
  // The broker may have gone for good; whoever it was, somebody else may lead now.
  refresh_wanted_ = metadata_.version != 0;
}

void Cluster::step(const Input& input, Instant now, IoOutputs& io, std::vector<Answer>& answers) {
  const auto found = links_.find(input.link);
  if (input.kind != Input::Kind::tick && found != links_.end()) {
    Link& link = found->second;
    std::vector<BytesChain> sends;
    switch (input.kind) {
      case Input::Kind::tick:
        break;
      case Input::Kind::opened:
        link.open = true;
        link.connection.opened(now + config_.request_timeout, sends);
        break;
      case Input::Kind::failed:
      case Input::Kind::closed:
        drop(input.link, input.reason, false, now, io, answers);
        break;
      case Input::Kind::frame: {
        const Result<void> taken = link.connection.receive(input.frame, sends, answers);
        if (!taken) {
          drop(input.link, taken.error().detail, true, now, io, answers);
        } else if (link.connection.ready()) {
          backoffs_.erase(link.endpoint.text());
          problem_.clear();
        }
        break;
      }
    }
    for (BytesChain& frame : sends) {
      io.sends.push_back({input.link, std::move(frame)});
    }
  }
  settle(now, io, answers);
}

// Everything that follows from time and from what has come in.
void Cluster::settle(Instant now, IoOutputs& io, std::vector<Answer>& answers) {
  settled_at_ = now;
  std::vector<std::pair<LinkId, const char*>> dead;
  for (const auto& [id, link] : links_) {
    if (!link.open && link.deadline <= now) {
      dead.emplace_back(id, "no connection within the time allowed");
    } else if (link.connection.next_deadline() <= now) {
      dead.emplace_back(id, "no answer within the time allowed");
    }
  }
  for (const auto& [id, why] : dead) {
    drop(id, why, true, now, io, answers);
  }

  std::vector<Parked> parked;
  parked.swap(parked_);
  for (Parked& waiting : parked) {
    if (waiting.request.deadline <= now) {
      answers.push_back({waiting.request.token, waiting.request.api, 0, {},
                         Error{Errc::closed, problem_.empty() ? "no broker can be reached" : problem_}});
    } else {
      request(waiting.broker, std::move(waiting.request), now, io, answers, waiting.lane);  // parks again while it is too early
    }
  }

  for (std::size_t i = 0; i < answers.size();) {
    if (answers[i].token != kMetadataToken) {
      ++i;
      continue;
    }
    take_metadata(answers[i], now);
    answers.erase(answers.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (metadata_expires_ <= now) {
    refresh_wanted_ = true;
  }
  if (refresh_wanted_ && !metadata_in_flight_ && metadata_not_before_ <= now) {
    ask_metadata(now, io, answers);
  }
}

void Cluster::ask_metadata(Instant now, IoOutputs& io, std::vector<Answer>& answers) {
  wire::MetadataRequest request;
  request.topics.emplace();
  for (const std::string& name : wanted_) {
    wire::MetadataRequest::MetadataRequestTopic topic;
    topic.name = name;
    request.topics->push_back(std::move(topic));
  }
  if (all_wanted_) {
    make_null(request.topics);
  }
  request.allow_auto_topic_creation = config_.auto_create_topics;
  metadata_in_flight_ = true;
  metadata_expires_ = kNever;  // set again by the answer
  refresh_wanted_ = false;
  metadata_not_before_ = now + config_.retry_backoff;
  this->request(kAnyBroker, make_request(std::move(request), kMetadataToken, now + config_.request_timeout), now, io,
                answers);
}

// A broker that is behind tells of leaders that lead no more (KIP-320), and does not know partitions that were added. What is known of a
// newer epoch stays, and so do partitions, for none is ever taken away; and somebody else is asked.
void Cluster::keep_what_is_newer(const TopicInfo& known, TopicInfo& told) {
  if (known.id != told.id || told.id == Uuid{}) {
    return;  // another topic of the same name counts anew; a broker without ids does not say
  }
  for (std::size_t i = 0; i < std::min(known.partitions.size(), told.partitions.size()); ++i) {
    if (told.partitions[i].leader_epoch < known.partitions[i].leader_epoch) {
      told.partitions[i] = known.partitions[i];
      refresh_wanted_ = true;
    }
  }
  for (std::size_t i = told.partitions.size(); i < known.partitions.size() && told.error == ErrorCode::none; ++i) {
    told.partitions.push_back(known.partitions[i]);
    refresh_wanted_ = true;
  }
}

void Cluster::take_metadata(const Answer& answer, Instant now) {
  metadata_in_flight_ = false;
  metadata_not_before_ = now + config_.retry_backoff;
  wire::MetadataResponse response;
  if (answer.error || !decode_answer(answer, response)) {
    if (!answer.error) {
      problem_ = "the answer to Metadata cannot be read";
    }
    refresh_wanted_ = true;
    return;
  }
  metadata_expires_ = now + config_.metadata_max_age;
  metadata_.cluster_id = response.cluster_id.value_or("");
  metadata_.controller = response.controller_id;
  metadata_.brokers.clear();
  for (const auto& broker : response.brokers) {
    metadata_.brokers[broker.node_id] = {broker.host, static_cast<std::uint16_t>(broker.port)};
  }
  std::map<std::string, TopicInfo> before;
  if (all_wanted_) {
    before.swap(metadata_.topics);  // what is not in the answer is gone
  }
  for (auto& [name, info] : topics_of(response)) {
    const auto known = all_wanted_ ? before.find(name) : metadata_.topics.find(name);
    if (known != (all_wanted_ ? before.end() : metadata_.topics.end())) {
      keep_what_is_newer(known->second, info);
    }
    if (wire::is_retriable(info.error)) {
      refresh_wanted_ = true;  // being created, or the broker has not heard of it yet
    }
    for (const PartitionInfo& partition : info.partitions) {
      refresh_wanted_ = refresh_wanted_ || partition.leader == kNoBroker;
    }
    metadata_.topics[name] = std::move(info);
  }
  for (const std::string& name : wanted_) {
    if (!metadata_.topics.contains(name)) {  // asked for with all, and not there
      metadata_.topics[name].error = ErrorCode::unknown_topic_or_partition;
    }
  }
  ++metadata_.version;
  // A bootstrap address that is a broker's own needs no second link.
  for (auto& [id, link] : links_) {
    if (link.broker != kAnyBroker || link.lane != Lane::main) {
      continue;
    }
    for (const auto& [broker, endpoint] : metadata_.brokers) {
      if (endpoint == link.endpoint) {
        link.broker = broker;
      }
    }
  }
}

Instant Cluster::next_deadline() const noexcept {
  Instant next = metadata_expires_;
  if (refresh_wanted_ && !metadata_in_flight_) {
    next = std::min(next, metadata_not_before_);
  }
  for (const auto& [id, link] : links_) {
    next = std::min(next, link.open ? link.connection.next_deadline()
                                    : std::min(link.deadline, link.connection.next_deadline()));
  }
  for (const Parked& waiting : parked_) {
    next = std::min(next, waiting.request.deadline);
    Instant again = kNever;
    for (const auto& [address, backoff] : backoffs_) {
      if (backoff.not_before > settled_at_) {  // what was allowed then has been tried
        again = std::min(again, backoff.not_before);
      }
    }
    next = std::min(next, again);
  }
  return next;
}

void Cluster::close_all(IoOutputs& io) {
  for (const auto& [id, link] : links_) {
    io.closes.push_back(id);
  }
  links_.clear();
  parked_.clear();
}

std::size_t Cluster::unanswered(BrokerId broker) const noexcept {
  for (const auto& [id, link] : links_) {
    if (link.broker == broker && link.lane == Lane::main) {
      return link.connection.unanswered();
    }
  }
  return 0;
}

std::map<std::string, TopicInfo> topics_of(wire::MetadataResponse& response) {
  std::map<std::string, TopicInfo> topics;
  for (auto& topic : response.topics) {
    if (!topic.name) {
      continue;
    }
    TopicInfo& info = topics[*topic.name];
    info.id = topic.topic_id;
    info.internal = topic.is_internal;
    info.error = topic.error_code;
    info.partitions.resize(topic.partitions.size());
    for (auto& partition : topic.partitions) {
      const std::int32_t index = partition.partition_index.value();
      if (index < 0 || static_cast<std::size_t>(index) >= info.partitions.size()) {
        continue;  // indexes are dense; a broker that leaves holes is not followed into them
      }
      PartitionInfo& at = info.partitions[static_cast<std::size_t>(index)];
      at.leader = partition.leader_id;
      at.leader_epoch = partition.leader_epoch;
      at.error = partition.error_code;
      at.replicas = std::move(partition.replica_nodes);
      at.isr = std::move(partition.isr_nodes);
    }
  }
  return topics;
}

bool wants_fresh_metadata(ErrorCode error) noexcept {
  switch (error) {
    case ErrorCode::unknown_topic_or_partition:
    case ErrorCode::leader_not_available:
    case ErrorCode::not_leader_or_follower:
    case ErrorCode::fenced_leader_epoch:
    case ErrorCode::unknown_leader_epoch:
    case ErrorCode::kafka_storage_error:
    case ErrorCode::replica_not_available:
    case ErrorCode::unknown_topic_id:
    case ErrorCode::inconsistent_topic_id:
    case ErrorCode::listener_not_found:
      return true;
    default:  // every other code is about something else
      return false;
  }
}

std::string describe(ErrorCode error) {
  const char* words = nullptr;
  switch (error) {
    case ErrorCode::unknown_topic_or_partition:
      words = "the topic or partition does not exist";
      break;
    case ErrorCode::topic_already_exists:
      words = "a topic of this name exists already";
      break;
    case ErrorCode::invalid_topic_exception:
      words = "the topic name is not allowed: letters, digits, '.', '_' and '-', at most 249, and internal topics are "
              "not written to";
      break;
    case ErrorCode::invalid_partitions:
      words = "the number of partitions is not possible: at least 1, and more than the topic has now";
      break;
    case ErrorCode::invalid_replication_factor:
      words = "the replication factor is not possible: at least 1, at most the number of brokers";
      break;
    case ErrorCode::invalid_config:
      words = "a config is unknown or its value not allowed";
      break;
    case ErrorCode::message_too_large:
      words = "the record is larger than the topic takes (max.message.bytes)";
      break;
    case ErrorCode::not_enough_replicas:
    case ErrorCode::not_enough_replicas_after_append:
      words = "fewer replicas are in sync than min.insync.replicas asks for";
      break;
    case ErrorCode::not_leader_or_follower:
    case ErrorCode::leader_not_available:
      words = "the partition has no leader at the moment";
      break;
    case ErrorCode::invalid_record:
      words = "the broker refuses the record (a compacted topic, for one, takes no null key)";
      break;
    case ErrorCode::invalid_timestamp:
      words = "the record's timestamp is too far from the broker's clock";
      break;
    case ErrorCode::offset_out_of_range:
      words = "the offset is not in the log";
      break;
    case ErrorCode::coordinator_not_available:
    case ErrorCode::not_coordinator:
    case ErrorCode::coordinator_load_in_progress:
      words = "the group's coordinator is not there yet";
      break;
    case ErrorCode::request_timed_out:
      words = "the broker did not finish in time";
      break;
    case ErrorCode::inconsistent_group_protocol:
      words = "the group's other members use another assignment protocol";
      break;
    case ErrorCode::topic_authorization_failed:
    case ErrorCode::group_authorization_failed:
    case ErrorCode::cluster_authorization_failed:
      words = "not allowed";
      break;
    default:
      break;
  }
  return words == nullptr ? std::string(wire::error_name(error))
                          : fmt::format("{} ({})", words, wire::error_name(error));
}

}  // namespace hw::client
