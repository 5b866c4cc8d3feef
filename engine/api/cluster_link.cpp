// SPDX-License-Identifier: Apache-2.0
#include "engine/api/cluster_link.h"

#include <algorithm>
#include <type_traits>

#include "engine/metadata/controller.h"
#include "engine/wire/msg/add_raft_voter.h"
#include "engine/wire/msg/assign_replicas_to_dirs.h"
#include "engine/wire/msg/controller_registration.h"
#include "engine/wire/msg/remove_raft_voter.h"

namespace hw::api {

namespace {

constexpr std::string_view kBrokerListener = "PLAINTEXT";
constexpr Duration kRetryAfter = milliseconds(100);
constexpr Duration kJoinAgainAfter = seconds(1);
constexpr Duration kAssignAgainAfter = milliseconds(500);
constexpr std::size_t kAssignmentsMost = 2000;  // in one request
constexpr std::int16_t kCreateTopicsVersion = 7;

PeerChannels::Purpose purpose_of(const raft::Send& request) noexcept {
  // The fetch of the metadata log waits at the leader; votes must not stand behind it.
  const bool fetch = std::holds_alternative<wire::FetchRequest>(request.body) ||
                     std::holds_alternative<wire::FetchSnapshotRequest>(request.body);
  return fetch ? PeerChannels::Purpose::metadata : PeerChannels::Purpose::quorum;
}

template <class Request>
struct ResponseOf;
template <>
struct ResponseOf<wire::VoteRequest> { using type = wire::VoteResponse; };
template <>
struct ResponseOf<wire::BeginQuorumEpochRequest> { using type = wire::BeginQuorumEpochResponse; };
template <>
struct ResponseOf<wire::EndQuorumEpochRequest> { using type = wire::EndQuorumEpochResponse; };
template <>
struct ResponseOf<wire::FetchRequest> { using type = wire::FetchResponse; };
template <>
struct ResponseOf<wire::FetchSnapshotRequest> { using type = wire::FetchSnapshotResponse; };
template <>
struct ResponseOf<wire::UpdateRaftVoterRequest> { using type = wire::UpdateRaftVoterResponse; };
template <>
struct ResponseOf<wire::ApiVersionsRequest> { using type = wire::ApiVersionsResponse; };

// As a controller names itself to others.
template <class Listener>
Listener own_listener(const NodeOptions& options) {
  const raft::VoterEndpoint own = controller_endpoint(options);
  Listener listener;
  listener.name = own.listener;
  listener.host = own.host;
  listener.port = own.port;
  return listener;
}

}  // namespace

raft::VoterEndpoint controller_endpoint(const NodeOptions& options) {
  return options.controller_port != 0
             ? raft::VoterEndpoint{std::string(kControllerListener), options.controller_host, options.controller_port}
             : raft::VoterEndpoint{std::string(kControllerListener), options.advertised_host, options.advertised_port};
}

ClusterLink::ClusterLink(const NodeOptions& options, Settings settings, metadata::ControlPlane& control, Host& host, Prng prng)
    : options_(options),
      settings_(std::move(settings)),
      control_(control),
      host_(host),
      channels_(options.node),
      forwarding_([this](const ReplyToken& token, Result<Bytes> frame) { host_.forwarded(token, std::move(frame)); },
                  [this](const Forwarding::Waiting& request) { host_.forwarding_timed_out(request); }),
      lifecycle_(settings_.lifecycle, prng),
      producer_ids_(options.node) {
  if (settings_.broker) {
    lifecycle_.start(host_.link_now().instant);
  }
}

std::optional<PeerAddress> ClusterLink::controller() const {
  const std::optional<BrokerId> leader = control_.quorum().leader;
  if (!leader) {
    return std::nullopt;
  }
  for (const ControllerPeer& peer : options_.controllers) {
    if (peer.node == *leader) {
      return PeerAddress{peer.node, peer.host, peer.port};
    }
  }
  if (const std::optional<raft::Destination> at = control_.leader_address()) {
    return PeerAddress{*leader, at->host, at->port};
  }
  return std::nullopt;
}

std::optional<PeerAddress> ClusterLink::broker_address(BrokerId id) const {
  const metadata::BrokerImage* broker = control_.image()->find_broker(id);
  if (broker == nullptr) {
    return std::nullopt;
  }
  for (const metadata::ListenerImage& listener : broker->listeners) {
    if (listener.name == kBrokerListener) {
      return PeerAddress{id, listener.host, listener.port};
    }
  }
  return std::nullopt;
}

template <class Response, class Request, class Here>
bool ClusterLink::ask_controller(PeerChannels::Purpose purpose, const Request& request, std::int16_t version, Duration timeout,
                                 Here here, PeerChannels::Done<Response> done) {
  if (is_active_controller()) {
    here(control_.controller(), [done = std::move(done)](Response response) { done(std::move(response)); });
    return true;
  }
  const std::optional<PeerAddress> to = controller();
  if (!to || to->node == options_.node) {
    return false;
  }
  channels_.ask<Response>(purpose, 0, *to, request, version, timeout, host_.link_outputs(), std::move(done));
  return true;
}

// ---------------------------------------------------------------- what the node's cores want

void ClusterLink::send(raft::Send&& request) {
  const PeerAddress to{request.to.node, request.to.host, request.to.port};  // where it is now: raft::Config::addresses
  std::visit(
      [&](auto& body) {
        using Request = std::decay_t<decltype(body)>;
        using Response = typename ResponseOf<Request>::type;
        channels_.ask<Response>(purpose_of(request), 0, to, body, request.version, request.timeout, host_.link_outputs(),
                                [this, id = request.id](Result<Response> response) {
                                  if (response) {
                                    host_.quorum_input(raft::Response{id, std::move(*response)});
                                  } else {
                                    host_.quorum_input(raft::Failed{id});
                                  }
                                });
      },
      request.body);
}

// To the leader of a partition; `answered` gets the broker and the response.
template <class Response, class Request, class Answered>
void ClusterLink::ask_leader(const Request& asked, Duration timeout, Answered answered) {
  const auto done = [this, id = asked.id, answered](Result<Response> response) {
    broker::Broker* broker = host_.link_broker();
    if (broker == nullptr) {
      return;
    }
    const broker::Now now{host_.link_now().instant, host_.link_now().wall};
    if (response) {
      answered(*broker, id, std::move(*response), now);
    } else {
      broker->fetch_failed(id, now);
    }
  };
  const std::optional<PeerAddress> to = broker_address(asked.leader);
  if (!to) {
    done(fail(Errc::not_found, "the leader is not registered"));
    return;
  }
  channels_.ask<Response>(PeerChannels::Purpose::replication, asked.fetcher, *to, asked.request, asked.version, timeout,
                          host_.link_outputs(), done);
}

void ClusterLink::send(const broker::PeerFetch& fetch) {
  ask_leader<wire::FetchResponse>(fetch, milliseconds(fetch.request.max_wait_ms) + kPeerRequestTimeout,
                                  [](broker::Broker& broker, std::uint64_t id, wire::FetchResponse&& response, broker::Now now) {
                                    broker.fetched(id, std::move(response), now);
                                  });
}

void ClusterLink::send(const broker::PeerListOffsets& request) {
  ask_leader<wire::ListOffsetsResponse>(
      request, kPeerRequestTimeout,
      [](broker::Broker& broker, std::uint64_t id, const wire::ListOffsetsResponse& response, broker::Now now) {
        broker.offsets_listed(id, response, now);
      });
}

void ClusterLink::send(const broker::PeerAlterPartition& request) {
  const PeerChannels::Done<wire::AlterPartitionResponse> done = [this](Result<wire::AlterPartitionResponse> response) {
    broker::Broker* broker = host_.link_broker();
    if (broker == nullptr) {
      return;
    }
    const Now now = host_.link_now();
    if (response) {
      broker->alter_partition_answered(*response, {now.instant, now.wall});
    } else {
      broker->alter_partition_failed({now.instant, now.wall});
    }
  };
  if (!ask_controller<wire::AlterPartitionResponse>(
          PeerChannels::Purpose::controller, request.request, request.version, kPeerRequestTimeout,
          [&](metadata::Controller& controller, auto answer) {
            controller.alter_partition(request.request, request.version, std::move(answer));
          },
          done)) {
    done(fail(Errc::closed, "no controller is known"));
  }
}

// ---------------------------------------------------------------- the node's own wishes

bool ClusterLink::pump() {
  bool moved = settings_.broker && pump_lifecycle();
  moved = pump_registration() || moved;
  moved = pump_auto_join() || moved;
  moved = (settings_.broker && pump_producer_ids()) || moved;
  moved = (settings_.broker && pump_assignments()) || moved;
  return pump_forwarding() || moved;
}

void ClusterLink::tick() {
  if (settings_.broker && lifecycle_.next_deadline() <= host_.link_now().instant) {
    pump_lifecycle();
  }
}

Instant ClusterLink::next_deadline() const noexcept {
  Instant earliest = forwarding_.next_deadline();
  if (settings_.broker) {
    earliest = std::min({earliest, lifecycle_.next_deadline(), producer_ids_.next_deadline()});
  }
  if (!assignments_.empty()) {
    earliest = std::min(earliest, assignment_.deadline());
  }
  if (!controller_registered_) {
    earliest = std::min(earliest, registration_.deadline());
  }
  return std::min(earliest, join_.deadline());
}

bool ClusterLink::pump_lifecycle() {
  bool moved = false;
  for (;;) {
    lifecycle_.tick(host_.link_now().instant, lifecycle_out_);
    metadata::BrokerLifecycle::Outputs out = std::exchange(lifecycle_out_, {});
    if (!out.registration && !out.heartbeat) {
      return moved;
    }
    moved = true;
    const std::uint64_t id = out.request_id;
    const auto done = [this, id](auto response) {
      if (response) {
        lifecycle_.answered(id, *response, host_.link_now().instant, lifecycle_out_);
        lifecycle_answered();
      } else {
        lifecycle_.failed(id, host_.link_now().instant);
      }
    };
    bool asked = false;
    if (out.registration) {
      asked = ask_controller<wire::BrokerRegistrationResponse>(
          PeerChannels::Purpose::heartbeat, *out.registration, wire::BrokerRegistrationRequest::kHighestVersion, kPeerRequestTimeout,
          [&](metadata::Controller& controller, auto answer) {
            controller.broker_registration(*out.registration, host_.link_now().instant, std::move(answer));
          },
          done);
    } else {
      asked = ask_controller<wire::BrokerHeartbeatResponse>(
          PeerChannels::Purpose::heartbeat, *out.heartbeat, wire::BrokerHeartbeatRequest::kHighestVersion,
          settings_.lifecycle.session_timeout,
          [&](metadata::Controller& controller, auto answer) {
            controller.broker_heartbeat(*out.heartbeat, host_.link_now().instant, std::move(answer));
          },
          done);
    }
    if (!asked) {
      lifecycle_.failed(id, host_.link_now().instant);
      return moved;
    }
  }
}

void ClusterLink::lifecycle_answered() {
  if (lifecycle_out_.registered) {
    producer_ids_.set_broker_epoch(lifecycle_.broker_epoch());
    if (broker::Broker* broker = host_.link_broker()) {
      broker->set_broker_epoch(lifecycle_.broker_epoch());
    }
  }
}

bool ClusterLink::pump_producer_ids() {
  const std::optional<metadata::ProducerIdBlocks::Request> wanted = producer_ids_.take_request(host_.link_now().instant);
  if (!wanted) {
    return false;
  }
  const auto done = [this, id = wanted->id](Result<wire::AllocateProducerIdsResponse> response) {
    if (response) {
      producer_ids_.answered(id, *response, host_.link_now().instant);
    } else {
      producer_ids_.failed(id, host_.link_now().instant);
    }
  };
  if (!ask_controller<wire::AllocateProducerIdsResponse>(
          PeerChannels::Purpose::controller, wanted->request, 0, kPeerRequestTimeout,
          [&](metadata::Controller& controller, auto answer) {
            controller.allocate_producer_ids(wanted->request, std::move(answer));
          },
          done)) {
    done(fail(Errc::closed, "no controller is known"));
  }
  return true;
}

void ClusterLink::assign_directory(const Uuid& topic_id, PartitionIndex partition, const Uuid& directory) {
  assignments_.insert_or_assign({topic_id, partition}, directory);
}

// What the controller refuses is not asked again: the partition is gone, or not here any more, and the next image says so.
bool ClusterLink::pump_assignments() {
  if (assignments_.empty() || !assignment_.may_ask(host_.link_now().instant) || lifecycle_.broker_epoch() < 0) {
    return false;
  }
  wire::AssignReplicasToDirsRequest request;
  request.broker_id = options_.node;
  request.broker_epoch = lifecycle_.broker_epoch();
  std::map<Uuid, std::size_t> places;
  std::map<std::pair<Uuid, PartitionIndex>, Uuid> asked;
  for (const auto& [key, directory] : assignments_) {
    if (asked.size() == kAssignmentsMost) {
      break;
    }
    asked.emplace(key, directory);
    const auto [place, fresh] = places.emplace(directory, request.directories.size());
    if (fresh) {
      request.directories.emplace_back().id = directory;
    }
    auto& topics = request.directories[place->second].topics;
    if (topics.empty() || topics.back().topic_id != key.first) {
      topics.emplace_back().topic_id = key.first;
    }
    topics.back().partitions.emplace_back().partition_index = key.second;
  }
  const auto done = [this, asked = std::move(asked)](const Result<wire::AssignReplicasToDirsResponse>& response) {
    const bool taken = response && response->error_code == wire::ErrorCode::none;
    assignment_.answered(taken ? Instant{} : host_.link_now().instant + kAssignAgainAfter);
    if (!taken) {
      return;
    }
    for (const auto& [key, directory] : asked) {
      if (const auto at = assignments_.find(key); at != assignments_.end() && at->second == directory) {
        assignments_.erase(at);
      }
    }
  };
  return assignment_.ask([&] {
    return ask_controller<wire::AssignReplicasToDirsResponse>(
        PeerChannels::Purpose::controller, request, 0, kPeerRequestTimeout,
        [&](metadata::Controller& controller, auto answer) { controller.assign_replicas_to_dirs(request, std::move(answer)); }, done);
  });
}

bool ClusterLink::pump_forwarding() {
  if (!forwarding_.waits()) {
    return false;
  }
  if (is_active_controller()) {
    for (const Forwarding::Waiting& request : forwarding_.take_waiting()) {
      host_.serve_here(request);
    }
    return true;
  }
  std::optional<PeerAddress> to = controller();
  if (to && to->node == options_.node) {
    to.reset();  // elected, but not active yet
  }
  const std::size_t before = host_.link_outputs().peer_sends.size();
  forwarding_.pump(to, channels_, host_.link_now(), host_.link_outputs());
  return host_.link_outputs().peer_sends.size() != before;
}

// A controller tells the active one who it is, once in its life (KIP-919).
bool ClusterLink::pump_registration() {
  if (!settings_.controller || controller_registered_ || !registration_.may_ask(host_.link_now().instant)) {
    return false;
  }
  wire::ControllerRegistrationRequest request;
  request.controller_id = options_.node.value();
  request.incarnation_id = settings_.lifecycle.registration.incarnation;
  request.listeners.push_back(own_listener<wire::ControllerRegistrationRequest::Listener>(options_));
  for (const metadata::FeatureRange& range : settings_.features) {
    wire::ControllerRegistrationRequest::Feature feature;
    feature.name = range.name;
    feature.min_supported_version = range.min_supported;
    feature.max_supported_version = range.max_supported;
    request.features.push_back(std::move(feature));
  }
  return registration_.ask([&] {
    return ask_controller<wire::ControllerRegistrationResponse>(
        PeerChannels::Purpose::heartbeat, request, 0, kPeerRequestTimeout,
        [&](metadata::Controller& controller, auto answer) { controller.controller_registration(request, std::move(answer)); },
        [this](const Result<wire::ControllerRegistrationResponse>& response) {
          controller_registered_ = response && response->error_code == wire::ErrorCode::none;
          registration_.answered(host_.link_now().instant + kRetryAfter);
        });
  });
}

// A controller that does not vote asks the leader for a vote until it has one; the leader refuses while it lags behind. A voter with
// its id and another directory is itself in an earlier life, whose log is lost: that one goes first (KIP-1186).
bool ClusterLink::pump_auto_join() {
  if (!settings_.auto_join || !settings_.controller || !join_.may_ask(host_.link_now().instant)) {
    return false;
  }
  if (control_.quorum().voter) {
    join_.answered(Instant{});
    return false;
  }
  return join_.ask([this] {
    const std::optional<PeerAddress> to = controller();
    const bool elsewhere = to && to->node != options_.node;
    if (elsewhere) {
      ask_to_join(*to);
    }
    return elsewhere;
  });
}

void ClusterLink::ask_to_join(const PeerAddress& leader) {
  const auto done = [this](const auto&) {  // whatever the answer: the next look says whether it votes
    join_.answered(host_.link_now().instant + kJoinAgainAfter);
  };
  if (const raft::Voter* old = control_.voters().find(options_.node); old != nullptr && old->key.directory != settings_.directory) {
    wire::RemoveRaftVoterRequest request;
    request.cluster_id = settings_.lifecycle.cluster_id;
    request.voter_id = options_.node.value();
    request.voter_directory_id = old->key.directory;
    channels_.ask<wire::RemoveRaftVoterResponse>(PeerChannels::Purpose::controller, 0, leader, request, 0, kPeerRequestTimeout,
                                                 host_.link_outputs(), done);
    return;
  }
  wire::AddRaftVoterRequest request;
  request.cluster_id = settings_.lifecycle.cluster_id;
  request.timeout_ms = static_cast<std::int32_t>(kPeerRequestTimeout.ms());
  request.voter_id = options_.node.value();
  request.voter_directory_id = settings_.directory;
  request.listeners.push_back(own_listener<wire::AddRaftVoterRequest::Listener>(options_));
  request.ack_when_committed = false;
  channels_.ask<wire::AddRaftVoterResponse>(PeerChannels::Purpose::controller, 0, leader, request, 1, kPeerRequestTimeout,
                                            host_.link_outputs(), done);
}

void ClusterLink::controller_changed() {
  lifecycle_.controller_changed(host_.link_now().instant);
  registration_.again_at = Instant{};
  assignment_.again_at = Instant{};
}

void ClusterLink::image_published(const metadata::MetadataImage& image) {
  if (settings_.broker) {
    const bool somebody_stops =
        std::any_of(image.brokers().begin(), image.brokers().end(),
                    [](const auto& entry) { return entry.second.in_controlled_shutdown && !entry.second.fenced; });
    lifecycle_.metadata_replayed(image.offset(), somebody_stops, host_.link_now().instant);
    if (lifecycle_.state() == metadata::BrokerState::running && image.find_broker(options_.node) == nullptr) {
      lifecycle_.controller_changed(host_.link_now().instant);  // unregistered by mistake: the next heartbeat says so
    }
  }
  // Channels to where a broker was lead nowhere.
  std::vector<std::pair<BrokerId, PeerAddress>> now_known;
  for (const auto& [id, broker] : image.brokers()) {
    if (const std::optional<PeerAddress> at = broker_address(id)) {
      now_known.emplace_back(id, *at);
    }
  }
  for (const auto& [id, at] : known_brokers_) {
    const auto same = std::find(now_known.begin(), now_known.end(), std::pair{id, at});
    if (same == now_known.end()) {
      channels_.forget(at, host_.link_outputs());
    }
  }
  known_brokers_ = std::move(now_known);
}

void ClusterLink::ready() { lifecycle_.ready(host_.link_now().instant); }
void ClusterLink::directory_failed(const Uuid& directory) {
  lifecycle_.directory_failed(directory, host_.link_now().instant);
}
void ClusterLink::set_cordoned(std::vector<Uuid> directories) {
  lifecycle_.set_cordoned(std::move(directories), host_.link_now().instant);
}
void ClusterLink::begin_shutdown() { lifecycle_.begin_shutdown(host_.link_now().instant); }

void ClusterLink::create_topics(const std::vector<std::string>& names) {
  wire::CreateTopicsRequest request;
  request.timeout_ms = static_cast<std::int32_t>(kPeerRequestTimeout.ms());
  // Voters are brokers as well, as a rule. Whoever asks before all of them have registered must not get a topic of one replica for good.
  const std::size_t brokers = std::max(control_.image()->brokers().size(), control_.voters().size());
  for (const std::string& name : names) {
    if (control_.image()->find_topic(name) == nullptr && creating_.insert(name).second) {
      request.topics.push_back(control_.controller().topic_template(name, brokers));
    }
  }
  if (request.topics.empty()) {
    return;
  }
  const auto done = [this, asked = request.topics](const Result<wire::CreateTopicsResponse>&) {
    for (const auto& topic : asked) {
      creating_.erase(topic.name);  // refused or done: the next asker tries again or finds it
    }
  };
  if (!ask_controller<wire::CreateTopicsResponse>(
          PeerChannels::Purpose::controller, request, kCreateTopicsVersion, kPeerRequestTimeout,
          [&](metadata::Controller& controller, auto answer) { controller.create_topics(request, std::move(answer)); }, done)) {
    done(fail(Errc::closed, "no controller is known"));
  }
}

}  // namespace hw::api
