// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <utility>

#include "engine/api/client_telemetry.h"
#include "engine/api/cluster_link.h"
#include "engine/api/connection_limits.h"
#include "engine/api/core.h"
#include "engine/api/forwarding.h"
#include "engine/api/group_log.h"
#include "engine/api/handler.h"
#include "engine/api/insides.h"
#include "engine/api/job_gate.h"
#include "engine/api/log_levels.h"
#include "engine/api/metadata_log.h"
#include "engine/api/quorum_question.h"
#include "engine/api/request_frame.h"
#include "engine/api/topic_settings.h"
#include "engine/broker/broker.h"
#include "engine/env/memory_disk.h"
#include "engine/groups/coordinator.h"
#include "engine/log/log_manager.h"
#include "engine/metadata/configs.h"
#include "engine/metadata/control_plane.h"
#include "engine/quotas/client_quotas.h"
#include "engine/raft/format.h"
#include "engine/raft/quorum.h"
#include "engine/wire/msg/alter_configs.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/apis.h"
#include "engine/wire/msg/envelope.h"
#include "engine/wire/msg/incremental_alter_configs.h"
#include "engine/wire/record/batch.h"

namespace hw::api {

namespace {

constexpr const char* kMetadataTopic = "__cluster_metadata";
constexpr Uuid kMetadataTopicId{0, 1};  // Kafka's reserved id of that topic
constexpr std::size_t kHandlerSlots = 128;
constexpr std::string_view kAnonymous = "ANONYMOUS";
constexpr std::string_view kControllerListener = "CONTROLLER";
constexpr Duration kForwardWithin = seconds(30);  // request.timeout.ms of a broker

std::string metadata_directory(const std::string& directory) { return directory + "/" + kMetadataTopic + "-0"; }
std::string quorum_state_path(const std::string& directory) { return metadata_directory(directory) + "/quorum-state"; }

raft::Canary quorum_canary(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, raft::Canary>, 8> kNamed{{
      {"votes-twice", raft::Canary::votes_twice},
      {"commits-old-epoch", raft::Canary::commits_old_epoch},
      {"answers-unpersisted", raft::Canary::answers_unpersisted},
      {"fetches-unflushed", raft::Canary::fetches_unflushed},
      {"truncates-committed", raft::Canary::truncates_committed},
      {"ignores-log-order", raft::Canary::ignores_log_order},
      {"grants-every-pre-vote", raft::Canary::grants_every_pre_vote},
      {"keeps-divergence", raft::Canary::keeps_divergence},
  }};
  const auto found = std::find_if(kNamed.begin(), kNamed.end(), [&](const auto& named) { return named.first == name; });
  return found == kNamed.end() ? raft::Canary::none : found->second;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : ",") + text;
  }
  return all;
}

// The delta that leads from nothing to `image`: what a node that just started has to do.
metadata::MetadataDelta delta_of_everything(const metadata::MetadataImage& image) {
  metadata::MetadataDelta delta;
  for (const auto& [name, topic] : image.topics()) {
    for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
      delta.partitions_changed.push_back(
          {topic->id, topic->name, PartitionIndex(static_cast<std::int32_t>(i)), false});
    }
  }
  return delta;
}

}  // namespace

struct NodeCore::Impl final : Node, ClusterLink::Host {
  Impl(NodeOptions given, env::Disk& the_disk, event::EventSink* sink, std::shared_ptr<event::NodeCounters> node_counters,
       Prng random)
      : options_(std::move(given)),
        log_levels_(options_.log_level),
        disk(the_disk),
        in_memory(dynamic_cast<env::MemoryDisk*>(&the_disk) != nullptr),
        events(sink),
        counters(node_counters != nullptr ? std::move(node_counters) : std::make_shared<event::NodeCounters>()),
        prng_(random) {
    std::set<std::int16_t> hidden;
    for (const std::span<const Handler> table : {data_handlers(), admin_handlers(), group_handlers()}) {
      for (const Handler& handler : table) {
        add_handler(handler, ListenerKind::client);
        if (!handler.offered) {
          hidden.insert(handler.api_key);
        }
      }
    }
    for (const Handler& handler : controller_handlers()) {
      add_handler(handler, ListenerKind::controller);
    }
    for (const wire::ApiInfo& api : wire::all_apis()) {
      const auto key = static_cast<std::size_t>(api.key);
      HandlerFunction& at_controller = handlers_of(ListenerKind::controller)[key];
      if (at_controller == nullptr && api.controller_listener) {
        at_controller = handlers_of(ListenerKind::client)[key];
      }
      if (handlers_of(ListenerKind::client)[key] != nullptr && api.broker_listener && !hidden.contains(api.key)) {
        served[static_cast<std::size_t>(ListenerKind::client)].push_back(api.key);
      }
      if (at_controller != nullptr && !hidden.contains(api.key)) {
        served[static_cast<std::size_t>(ListenerKind::controller)].push_back(api.key);
      }
    }
  }

  using Handlers = std::array<HandlerFunction, kHandlerSlots>;
  [[nodiscard]] Handlers& handlers_of(ListenerKind listener) noexcept { return handlers[static_cast<std::size_t>(listener)]; }
  void add_handler(const Handler& handler, ListenerKind listener) {
    HW_ASSERT(handler.api_key >= 0 && static_cast<std::size_t>(handler.api_key) < kHandlerSlots, "an API key has a slot");
    HandlerFunction& slot = handlers_of(listener)[static_cast<std::size_t>(handler.api_key)];
    HW_ASSERT(slot == nullptr, "one handler per API key and listener");
    slot = handler.serve;
  }

  struct OpenRequest {
    std::uint64_t serial = 0;  // 0: none
    std::int16_t api_key = -1;
    std::int16_t api_version = 0;
    std::int32_t correlation_id = 0;
    std::size_t size = 0;
    std::optional<std::int32_t> envelope;  // the request came inside one: the correlation id of that
  };
  struct Connection {
    ListenerKind listener = ListenerKind::client;
    std::string peer;
    std::string client_host;
    std::string client_id;
    std::string software_name;
    std::string software_version;
    bool identified = false;
    OpenRequest open;
    ConnectionLimits::Entry limit;
    std::shared_ptr<event::ConnectionCounters> counters;  // null: nobody counts
  };

  // ---------------------------------------------------------------- Node: what handlers see

  [[nodiscard]] const NodeOptions& options() const override { return options_; }
  [[nodiscard]] const std::string& cluster_id() const override { return logs->meta().cluster_id; }
  [[nodiscard]] const metadata::ImagePtr& image() const override { return control->image(); }
  [[nodiscard]] metadata::Controller& controller() override { return control->controller(); }
  [[nodiscard]] groups::GroupCoordinator& groups() override { return *coordinator; }
  [[nodiscard]] broker::Broker& broker() override { return *the_broker; }
  [[nodiscard]] broker::BrokerOutputs& broker_outputs() override { return broker_out; }
  [[nodiscard]] Prng& prng() override { return prng_; }
  [[nodiscard]] Now now() const override { return now_; }
  void emit(event::Any event) override {
    if (events != nullptr) {
      events->emit(std::move(event));
    }
  }

  [[nodiscard]] LogLevels& log_levels() override { return log_levels_; }

  void ensure_internal_topic(std::string_view name) override { link->create_topics({std::string(name)}); }

  void client_software(ConnectionId id, std::string_view name, std::string_view version) override {
    const auto it = connections.find(id);
    if (it == connections.end()) {
      return;
    }
    Connection& connection = it->second;
    if (connection.identified && connection.software_name == name && connection.software_version == version) {
      return;
    }
    connection.identified = true;
    connection.software_name = name;
    connection.software_version = version;
    emit(event::ClientIdentified{id, connection.client_id, connection.software_name, connection.software_version});
  }

  [[nodiscard]] std::span<const std::int16_t> served_apis(ListenerKind listener) const override {
    return served[static_cast<std::size_t>(listener)];
  }

  [[nodiscard]] quotas::ClientQuotas& quotas() override { return client_quotas; }
  [[nodiscard]] ClientTelemetry& telemetry() override { return client_telemetry; }
  [[nodiscard]] raft::QuorumView quorum() const override { return control->quorum(); }

  [[nodiscard]] std::int32_t request_throttle_ms(const ReplyToken& token) override {
    if (!client_quotas.active(quotas::QuotaKind::request)) {
      return 0;
    }
    const Connection* connection = open_connection(token);
    return connection == nullptr ? 0 : throttle_ms(client_quotas.excess(quotas::QuotaKind::request, client_of(*connection), now_.instant));
  }

  [[nodiscard]] static quotas::Client client_of(const Connection& connection) noexcept {
    return {kAnonymous, connection.client_id};
  }
  [[nodiscard]] static std::int32_t throttle_ms(Duration duration) noexcept {
    return static_cast<std::int32_t>(duration.ms());
  }

  void no_reply(const ReplyToken& token, std::int32_t throttle) override {
    Connection* connection = open_connection(token);
    if (connection == nullptr) {
      return;
    }
    connection->open.serial = 0;
    out->replies.push_back({token.connection, BytesChain{}, false, milliseconds(throttle)});
  }

  void close(ConnectionId id, std::string reason) override {
    const auto it = connections.find(id);
    if (it == connections.end()) {
      return;
    }
    it->second.open.serial = 0;
    out->closes.push_back({id, std::move(reason)});
  }

  void refused(const RequestContext& request, wire::ErrorCode error, std::string detail) override {
    emit(event::RequestRefused{request.connection(), request.api_key, request.api_version,
                               static_cast<std::int16_t>(error), std::move(detail)});
  }

  bool begin_reply(const ReplyToken& token, wire::Writer& writer, wire::Writer::LengthMark& size,
                   std::int16_t& version) override {
    const Connection* connection = open_connection(token);
    if (connection == nullptr) {
      return false;
    }
    const OpenRequest& open = connection->open;
    version = open.api_version;
    size = writer.reserve_length();
    writer.int32(open.correlation_id);
    if (wire::response_header_version(open.api_key, open.api_version) >= 1) {
      writer.tag_count(0);
    }
    return true;
  }

  void finish_reply(const ReplyToken& token, BytesChain frame, std::int32_t throttle) override {
    Connection* connection = open_connection(token);
    HW_ASSERT(connection != nullptr, "a reply is finished in the turn it began");
    const std::optional<std::int32_t> envelope = std::exchange(connection->open.envelope, std::nullopt);
    connection->open.serial = 0;
    limits.active(connection->limit, now_.instant);
    out->replies.push_back({token.connection, envelope ? in_envelope(*envelope, frame, wire::ErrorCode::none) : std::move(frame),
                            false, milliseconds(throttle)});
  }

  // The answer to an Envelope, around the whole response frame of the request that it brought.
  static BytesChain in_envelope(std::int32_t correlation_id, const BytesChain& frame, wire::ErrorCode error) {
    constexpr std::size_t kLengthPrefix = 4;
    wire::Writer writer;
    const wire::Writer::LengthMark size = writer.reserve_length();
    writer.int32(correlation_id);
    writer.tag_count(0);
    wire::EnvelopeResponse response;
    response.error_code = error;
    if (error == wire::ErrorCode::none) {
      const Bytes whole = frame.flatten();
      response.response_data = whole.slice(kLengthPrefix, whole.size() - kLengthPrefix);
    }
    const bool encoded = encode(writer, response, 0);
    HW_ASSERT(encoded, "an envelope takes any bytes");
    writer.patch_length(size);
    return writer.finish();
  }

  void note_error(const ReplyToken& token, wire::ErrorCode error) override {
    if (const Connection* connection = open_connection(token); connection != nullptr && connection->counters != nullptr) {
      connection->counters->note_error(static_cast<std::int16_t>(error));
    }
  }

  void fail_reply(const ReplyToken& token, std::string_view message) override {
    emit(event::RequestRefused{token.connection, -1, -1, static_cast<std::int16_t>(wire::ErrorCode::unknown_server_error),
                               "cannot encode " + std::string(message)});
    close(token.connection, "internal error: an answer (" + std::string(message) + ") cannot be encoded");
  }

  Connection* open_connection(const ReplyToken& token) {
    const auto it = connections.find(token.connection);
    return it == connections.end() || it->second.open.serial != token.serial || token.serial == 0 ? nullptr
                                                                                                  : &it->second;
  }

  // ---------------------------------------------------------------- start and stop

  Result<void> start(Now now, Outputs& outputs) {
    Turn turn(*this, now, outputs);
    HW_TRY(metadata::BrokerConfigs parsed, metadata::BrokerConfigs::parse(metadata::BrokerConfigs::with_identity(
               options_.configs, options_.node, options_.advertised_host, options_.advertised_port, joined(log_directories()))));
    configs = std::make_shared<const metadata::BrokerConfigs>(std::move(parsed));
    HW_CHECK(open_logs());
    emit(event::NodeStarted{options_.node, options_.advertised_host, options_.advertised_port, options_.broker, options_.controller,
                            logs->meta().cluster_id, in_memory ? std::string{} : options_.directory, counters});
    HW_CHECK(open_quorum());
    client_quotas = quotas::ClientQuotas(quota_options(*configs));
    configs_changed();
    // A cluster of this node alone waits for nobody: everything is in place when this returns, one write after the other.
    for (int round = 0; round < 1000 && is_alone() && !serves(); ++round) {
      HW_TRY(const bool moved, start_step());
      if (!moved && !serves()) {
        const Instant deadline = std::min(control->next_deadline(), link->next_deadline());
        if (deadline >= kNever) {
          break;
        }
        now_.instant = std::max(now_.instant, deadline);
      }
    }
    if (is_alone() && !serves()) {
      return fail(Errc::corrupt, "the metadata log in " + metadata_directory(options_.directory) +
                                     " does not let this broker register");
    }
    starting = false;
    pump();
    return {};
  }

  // Its broker is registered and not fenced; a controller alone knows who leads.
  [[nodiscard]] bool serves() const { return options_.broker ? control->ready() : control->quorum().leader.has_value(); }

  [[nodiscard]] bool is_alone() const {
    return options_.controller && control->voters().size() == 1 && control->voters().find(options_.node) != nullptr;
  }

  Result<bool> start_step() {
    HW_TRY(bool moved, pump_control());
    moved = link->pump() || moved;
    if (may_open()) {
      HW_CHECK(open_broker());
      moved = true;
    }
    return moved;
  }

  // The logs are opened when the metadata says which of them this node should have: after the record of its registration.
  [[nodiscard]] bool may_open() const {
    return !opened && options_.broker && link->state() != metadata::BrokerState::registering &&
           image()->offset() >= Offset(link->broker_epoch());
  }

  Result<void> open_broker() {
    configs_changed();
    make_cores();
    the_broker->set_broker_epoch(link->broker_epoch());
    HW_CHECK(logs->load_all([this](const log::LogIdentity& identity) { return wanted(identity); }, now_.wall));
    opened = true;
    published(metadata::ControlPlane::Published{image(), delta_of_everything(*image())});
    next_flush = in_memory ? kNever : now_.instant + flush_interval();
    logs->start_tasks(now_.instant);
    link->ready();
    early_due = !early.empty();
    return {};
  }

  [[nodiscard]] std::vector<std::string> log_directories() const {
    std::vector<std::string> all{options_.directory};
    all.insert(all.end(), options_.more_directories.begin(), options_.more_directories.end());
    return all;
  }

  Result<void> open_logs() {
    Result<log::MetaProperties> meta = log::LogManager::read_meta(disk, options_.directory);
    if (!meta) {
      if (meta.error().code != Errc::not_found) {
        return fail(meta.error().code, meta.error().detail);
      }
      const std::string id = options_.cluster_id.empty() ? Uuid::random(prng_).text() : options_.cluster_id;
      const auto self = std::find_if(options_.initial_voters.begin(), options_.initial_voters.end(),
                                     [&](const ControllerPeer& voter) { return voter.node == options_.node; });
      HW_TRY(meta, log::LogManager::format(disk, options_.directory, id, options_.node, prng_,
                                           self == options_.initial_voters.end() ? Uuid{} : self->directory));
    }
    for (const std::string& directory : options_.more_directories) {
      const Result<log::MetaProperties> other = log::LogManager::read_meta(disk, directory);
      if (!other && other.error().code == Errc::not_found) {
        // One that cannot be made is offline from the start.
        static_cast<void>(log::LogManager::format(disk, directory, meta->cluster_id, options_.node, prng_));
      }
    }
    log::LogManagerOptions manager;
    manager.directories = log_directories();
    manager.cordoned = configs->list("cordoned.log.dirs");
    manager.producer_check_interval = milliseconds(configs->number("producer.id.expiration.check.interval.ms"));
    manager.node_id = options_.node;
    manager.cluster_id = options_.cluster_id;
    manager.high_watermark_checkpoint_interval =
        milliseconds(configs->number("replica.high.watermark.checkpoint.interval.ms"));
    manager.recovery_point_checkpoint_interval =
        milliseconds(configs->number("log.flush.offset.checkpoint.interval.ms"));
    manager.initial_task_delay = milliseconds(configs->number("log.initial.task.delay.ms"));
    manager.retention_check_interval = milliseconds(configs->number("log.retention.check.interval.ms"));
    manager.delete_delay_ms = configs->number("log.segment.delete.delay.ms");
    manager.keep_deleted = !in_memory;
    HW_TRY(logs, log::LogManager::open(disk, std::move(manager), events, Prng(prng_.next())));
    return {};
  }

  Result<void> open_quorum() {
    log::LogConfig config;
    config.segment_bytes = static_cast<std::int32_t>(configs->number("metadata.log.segment.bytes"));
    config.segment_ms = configs->number("metadata.log.segment.ms");
    config.max_message_bytes = 8 * 1024 * 1024;
    config.retention_ms = -1;
    HW_TRY(metadata_log, logs->create_log({kMetadataTopic, PartitionIndex(0), kMetadataTopicId}, config, now_.wall));
    const Uuid directory_id = logs->meta().directory_id;
    HW_CHECK(complete_format());

    raft::ElectionState election;
    if (disk.exists(quorum_state_path(options_.directory))) {
      HW_TRY(const Bytes text, disk.read_whole(quorum_state_path(options_.directory)));
      HW_TRY(election, raft::decode_quorum_state(text.text()));
    }
    metadata::ControlPlane::Options control_options;
    raft::Config& quorum_config = control_options.quorum;
    quorum_config.self.key = {options_.node, directory_id};
    quorum_config.self.endpoints = controller_endpoints();
    quorum_config.voters = voters();
    quorum_config.cluster_id = cluster_id();
    quorum_config.always_flush = options_.controller;
    for (const ControllerPeer& peer : options_.controllers) {
      quorum_config.addresses.push_back({peer.node, peer.host, peer.port});
      if (peer.node != kNoBroker) {
        quorum_config.addresses.push_back({kNoBroker, peer.host, peer.port});  // and whom to ask while no voter is known
      }
    }
    quorum_config.election_timeout = milliseconds(configs->number("controller.quorum.election.timeout.ms"));
    quorum_config.election_backoff_max = milliseconds(configs->number("controller.quorum.election.backoff.max.ms"));
    quorum_config.fetch_timeout = milliseconds(configs->number("controller.quorum.fetch.timeout.ms"));
    quorum_config.request_timeout = milliseconds(configs->number("controller.quorum.request.timeout.ms"));
    quorum_config.max_fetch_bytes = static_cast<std::int32_t>(configs->number("controller.quorum.fetch.max.bytes"));
    quorum_config.max_snapshot_fetch_bytes =
        static_cast<std::int32_t>(configs->number("controller.quorum.fetch.snapshot.max.bytes"));
    quorum_config.canary = quorum_canary(options_.canary);
    quorum_config.retry_backoff = milliseconds(configs->number("controller.quorum.retry.backoff.ms"));
    control_options.registers = false;
    control_options.broker_configs = configs;
    metadata::Registration& registration = control_options.registration;
    registration.broker = options_.node;
    // Another one in every life, also of a node that is always started with the same seed.
    Prng life(prng_.next() ^ static_cast<std::uint64_t>(now_.wall.ms));
    registration.incarnation = Uuid::random(life);
    registration.listeners.push_back({"PLAINTEXT", options_.advertised_host, options_.advertised_port, 0});
    if (const std::string* rack = configs->find("broker.rack")) {
      registration.rack = *rack;
    }
    for (const log::DirectoryStatus& directory : logs->directories()) {
      if (!directory.failed) {
        registration.log_directories.push_back(directory.id);
      }
    }
    const metadata::Registration registered_as = registration;
    control_options.bootstrap = metadata::bootstrap_records();
    if (metadata_log->recovery_point() < metadata_log->log_end_offset()) {
      HW_CHECK(metadata_log->flush(now_.wall));  // what a kill left is there to stay before others hear of it
    }
    HW_TRY(quorum_log, MetadataLog::open(disk, *metadata_log));
    control = std::make_unique<metadata::ControlPlane>(std::move(control_options), election, *quorum_log, Prng(prng_.next()));
    HW_CHECK(control->start(now_.instant, now_.wall));
    ClusterLink::Settings settings;
    settings.broker = options_.broker;
    settings.controller = options_.controller;
    settings.auto_join = configs->flag("controller.quorum.auto.join.enable");
    settings.directory = logs->meta().directory_id;
    const std::span<const metadata::FeatureRange> features = metadata::supported_features();
    settings.features.assign(features.begin(), features.end());
    settings.lifecycle.registration = registered_as;
    settings.lifecycle.cluster_id = cluster_id();
    settings.lifecycle.previous_broker_epoch = logs->was_clean() ? logs->previous_broker_epoch() : -1;
    settings.lifecycle.heartbeat_interval = milliseconds(configs->number("broker.heartbeat.interval.ms"));
    settings.lifecycle.session_timeout = milliseconds(configs->number("broker.session.timeout.ms"));
    link = std::make_unique<ClusterLink>(options_, std::move(settings), *control, *this, Prng(prng_.next()));
    return {};
  }

  // The first voters: those of a new cluster, or this node alone.
  [[nodiscard]] std::vector<raft::Voter> voters() const {
    std::vector<raft::Voter> all;
    const bool among_them = std::any_of(options_.initial_voters.begin(), options_.initial_voters.end(),
                                        [&](const ControllerPeer& peer) { return peer.node == options_.node; });
    for (const ControllerPeer& peer : among_them ? options_.initial_voters : std::vector<ControllerPeer>{}) {
      raft::Voter voter;
      voter.key = {peer.node, peer.directory};
      voter.endpoints.push_back({std::string(kControllerListener), peer.host, peer.port});
      all.push_back(std::move(voter));
    }
    if (all.empty() && options_.controller && options_.controllers.empty()) {
      raft::Voter self;
      self.key = {options_.node, logs->meta().directory_id};
      self.endpoints = controller_endpoints();
      all.push_back(std::move(self));
    }
    return all;
  }

  // A node without a listener for controllers (tests) names the one that it has.
  [[nodiscard]] std::vector<raft::VoterEndpoint> controller_endpoints() const {
    return options_.controller_port != 0
               ? std::vector<raft::VoterEndpoint>{{std::string(kControllerListener), options_.controller_host, options_.controller_port}}
               : std::vector<raft::VoterEndpoint>{{std::string(kControllerListener), options_.advertised_host, options_.advertised_port}};
  }

  // What the format leaves beside meta.properties; written again where a crash came between.
  Result<void> complete_format() {
    const std::string checkpoint = metadata_directory(options_.directory) + "/" + raft::kInitialCheckpointName;
    if (metadata_log->log_end_offset() == Offset(0) && !disk.exists(checkpoint) && !voters().empty()) {
      std::vector<Bytes> values;
      for (const metadata::Record& record : metadata::bootstrap_records()) {
        HW_TRY(Bytes value, metadata::encode_record(record));
        values.push_back(std::move(value));
      }
      HW_CHECK(disk.write_whole(checkpoint, raft::encode_initial_checkpoint(voters(), values, now_.wall).span()));
    }
    return {};
  }

  // Hands the bytes of a log up to `end` to `visit`, whole batches at a time; `visit` says how much it used and sets
  // read_to to the next offset.
  template <class Visit>
  Result<void> read_log(log::PartitionLog& log, Offset end, Visit visit) {
    constexpr std::int64_t kChunk = 4 << 20;
    read_to = log.log_start_offset();
    while (read_to < end) {
      const log::ReadOutcome outcome = log.read({read_to, kChunk, true, log::ReadIsolation::log_end});
      if (outcome.error != wire::ErrorCode::none) {
        return fail(Errc::corrupt, "cannot read " + log.directory() + " at offset " + std::to_string(read_to.value()) +
                                       ": " + std::string(wire::error_name(outcome.error)));
      }
      const Bytes bytes = outcome.records.flatten();
      std::size_t used = 0;
      const Offset before = read_to;
      HW_CHECK(visit(bytes, used));
      if (used == 0 || read_to <= before) {
        return fail(Errc::corrupt, "no whole batch in " + log.directory() + " at offset " + std::to_string(before.value()));
      }
    }
    return {};
  }

  void make_cores() {
    broker::BrokerOptions broker_options;
    broker_options.node = options_.node;
    broker_options.fetch_max_bytes = static_cast<std::int32_t>(configs->number("fetch.max.bytes"));
    broker_options.replica_lag_time_max = milliseconds(configs->number("replica.lag.time.max.ms"));
    broker_options.rack_aware_reads =
        configs->text("replica.selector.class") == "org.apache.kafka.common.replica.RackAwareReplicaSelector";
    broker_options.fetchers = static_cast<std::int32_t>(configs->number("num.replica.fetchers"));
    broker_options.replica_fetch_min_bytes = static_cast<std::int32_t>(configs->number("replica.fetch.min.bytes"));
    broker_options.replica_fetch_max_bytes = static_cast<std::int32_t>(configs->number("replica.fetch.max.bytes"));
    broker_options.replica_fetch_response_bytes =
        static_cast<std::int32_t>(configs->number("replica.fetch.response.max.bytes"));
    broker_options.replica_fetch_wait_max = milliseconds(configs->number("replica.fetch.wait.max.ms"));
    broker_options.replica_fetch_backoff = milliseconds(configs->number("replica.fetch.backoff.ms"));
    broker_options.sessions.sessions =
        static_cast<std::size_t>(std::max<std::int64_t>(configs->number("max.incremental.fetch.session.cache.slots"), 0));
    broker_options.fetch_throttle_ms = [this](const broker::Ticket& ticket, std::int64_t bytes) {
      return client_quotas.active(quotas::QuotaKind::fetch) || client_quotas.active(quotas::QuotaKind::request)
                 ? fetch_throttle_ms(ticket, bytes)
                 : 0;
    };
    the_broker = std::make_unique<broker::Broker>(
        std::move(broker_options), *logs, events, counters,
        [this](const std::string& topic) { return settings_of(topic); }, Prng(prng_.next()));
    coordinator = std::make_unique<groups::GroupCoordinator>(group_config(*configs), Prng(prng_.next()));
  }

  [[nodiscard]] broker::TopicSettings settings_of(std::string_view topic) const {
    return topic_settings(metadata::effective_topic_configs(topic, *control->image(), *configs, options_.node), *in_force);
  }

  // Broker keys were set at run time: whoever obeys one that may change so takes the new values. Topics look theirs up when
  // the image is applied.
  void configs_changed() {
    in_force = std::make_shared<const metadata::BrokerConfigs>(configs->with_dynamic(*image(), options_.node));
    logs->set_delete_delay(in_force->number("log.segment.delete.delay.ms"));
    logs->set_cordoned(in_force->list("cordoned.log.dirs"));
    limits.configure(*in_force);
    client_telemetry.configure(static_cast<std::int32_t>(in_force->number("telemetry.max.bytes")));
    client_telemetry.set_subscriptions(*image());
    client_quotas.set(image()->client_quotas());
    limits.set_quotas(image()->client_quotas());
  }

  [[nodiscard]] std::optional<log::LogConfig> wanted(const log::LogIdentity& identity) {
    const metadata::PartitionImage* partition = image()->find_partition(identity.topic_id, identity.partition);
    if (partition == nullptr || std::find(partition->replicas.begin(), partition->replicas.end(), options_.node) ==
                                    partition->replicas.end()) {
      return std::nullopt;
    }
    // Directories come sorted: the partitions of a topic one after the other, all with the same configuration.
    if (!wanted_config || wanted_topic != identity.topic) {
      wanted_topic = identity.topic;
      wanted_config = settings_of(identity.topic).log;
    }
    return wanted_config;
  }

  void announce_ready() {
    if (!ready_told) {
      ready_told = true;
      emit(event::NodeReady{options_.node});
    }
  }

  void hand_over(Now now, Outputs& outputs) {
    Turn turn(*this, now, outputs);
    leaving = true;
    link->begin_shutdown();
    pump();
  }
  [[nodiscard]] bool handed_over() const { return stopped || (leaving && resigned && !control->quorum().resigning); }
  // The broker first, so that its own controller may move what it leads; then the epoch of a leading controller.
  void pump_leaving() {
    if (leaving && !resigned && (!options_.broker || link->state() == metadata::BrokerState::stopped)) {
      resigned = true;
      quorum_input(raft::Resign{});
    }
  }

  Result<void> stop(Now now) {
    if (stopped) {
      return {};
    }
    stopped = true;
    gate->close();
    if (logs == nullptr) {
      return {};
    }
    now_ = now;
    const std::int64_t broker_epoch = link == nullptr ? -1 : link->broker_epoch();
    jobs_open.clear();
    static_cast<void>(logs->jobs().take());
    if (options_.broker && !opened) {
      // Checkpoints and the clean marker would speak of logs that were never opened, and leave those out: to the next life they
      // would be empty ones. Without them it looks into each, as after a kill.
      return metadata_log == nullptr ? Result<void>{} : metadata_log->flush(now.wall);
    }
    return logs->shut_down(now.wall, broker_epoch);
  }

  // ---------------------------------------------------------------- requests

  void request(ConnectionId id, const Bytes& frame, Now now, Outputs& outputs) {
    Turn turn(*this, now, outputs);
    const auto it = connections.find(id);
    if (it == connections.end()) {
      return;
    }
    Connection& connection = it->second;
    limits.active(connection.limit, now.instant);
    counters->requests.add(1);
    if (stopped) {
      close(id, "the node does not serve any more");
      return;
    }
    if (connection.open.serial != 0) {
      refuse(id, -1, -1, "a request came before the one before it was answered");
      return;
    }
    if (!opened && connection.listener == ListenerKind::client) {
      early.push_back({id, frame});  // its turn comes when the logs are open
      return;
    }
    const RequestFrame parsed = parse_request_frame(frame.span(), connection.listener);
    if (!parsed.refusal.empty()) {
      refuse(id, parsed.api_key, parsed.api_version, parsed.refusal);
      return;
    }
    if (connection.counters != nullptr) {
      connection.counters->note_request(parsed.api_key, parsed.api_version);
    }
    // A client that introduces itself with ApiVersions is told of once, with the software that the handler reads there.
    const bool introduces =
        parsed.api_key == wire::ApiVersionsRequest::kApiKey && parsed.api_version >= 3 && !parsed.version_unsupported;
    if (!connection.identified || connection.client_id != parsed.client_id) {
      connection.identified = !introduces;
      connection.client_id = parsed.client_id;
      if (!introduces) {
        emit(event::ClientIdentified{id, connection.client_id, connection.software_name, connection.software_version});
      }
    }
    connection.open = {++serial, parsed.api_key, parsed.version_unsupported ? std::int16_t{0} : parsed.api_version,
                       parsed.correlation_id, frame.size(), std::nullopt};
    if (connection.listener == ListenerKind::client && !controller().active() && passes_on(parsed, frame)) {
      link->forward({{id, connection.open.serial}, parsed.api_key, frame, connection.peer, now_.instant + kForwardWithin});
      pump();
      return;
    }
    serve(id, connection, parsed, frame, connection.client_host);
    pump();
  }

  // Whether a request is the active controller's business. The levels of loggers are this process's own.
  [[nodiscard]] static bool passes_on(const RequestFrame& parsed, const Bytes& frame) {
    if (!forwardable(parsed.api_key)) {
      return false;
    }
    const auto names_logger = [&](auto request) {
      wire::Reader body(frame.slice(parsed.body, frame.size() - parsed.body));
      return decode(body, request, parsed.api_version) &&
             std::any_of(request.resources.begin(), request.resources.end(), [](const auto& resource) {
               return resource.resource_type == static_cast<std::int8_t>(metadata::ConfigResourceType::broker_logger);
             });
    };
    if (parsed.api_key == wire::AlterConfigsRequest::kApiKey) {
      return !names_logger(wire::AlterConfigsRequest{});
    }
    if (parsed.api_key == wire::IncrementalAlterConfigsRequest::kApiKey) {
      return !names_logger(wire::IncrementalAlterConfigsRequest{});
    }
    return true;
  }

  void serve(ConnectionId id, Connection& connection, const RequestFrame& parsed, const Bytes& frame,
             std::string_view client_host) {
    const auto slot = static_cast<std::size_t>(parsed.api_key);
    const HandlerFunction handler = slot < kHandlerSlots ? handlers_of(connection.listener)[slot] : nullptr;
    if (handler == nullptr) {
      refuse(id, parsed.api_key, parsed.api_version,
             std::string(wire::find_api(parsed.api_key)->name) + " is not offered by this " +
                 (connection.listener == ListenerKind::client ? "broker" : "controller"));
      return;
    }
    RequestContext context;
    context.token = {id, connection.open.serial};
    context.peer = connection.peer;
    context.client_host = client_host;
    context.client_id = parsed.client_id;
    context.software_name = connection.software_name;
    context.software_version = connection.software_version;
    context.api_key = parsed.api_key;
    context.api_version = connection.open.api_version;
    context.correlation_id = parsed.correlation_id;
    context.listener_kind = connection.listener;
    if (connection.listener == ListenerKind::controller) {
      context.listener = kControllerListener;
    }
    context.version_unsupported = parsed.version_unsupported;
    context.now = now_;
    context.counters = connection.counters.get();
    wire::Reader body(parsed.version_unsupported ? Bytes{} : frame.slice(parsed.body, frame.size() - parsed.body));
    handler(*this, context, body);
  }

  void serve_enveloped(const RequestContext& outer, const Bytes& frame, std::string_view client_host) override {
    Connection* connection = open_connection(outer.token);
    HW_ASSERT(connection != nullptr, "an envelope is served in the turn it came");
    if (!controller().active()) {
      connection->open.serial = 0;
      out->replies.push_back({outer.token.connection,
                              in_envelope(outer.correlation_id, {}, wire::ErrorCode::not_controller), false, {}});
      return;
    }
    const RequestFrame parsed = parse_request_frame(frame.span(), ListenerKind::client);
    if (!parsed.refusal.empty() || parsed.version_unsupported || !forwardable(parsed.api_key)) {
      connection->open.serial = 0;
      out->replies.push_back({outer.token.connection,
                              in_envelope(outer.correlation_id, {}, wire::ErrorCode::invalid_request), false, {}});
      return;
    }
    connection->open.envelope = outer.correlation_id;
    connection->open.api_key = parsed.api_key;
    connection->open.api_version = parsed.api_version;
    connection->open.correlation_id = parsed.correlation_id;
    serve(outer.token.connection, *connection, parsed, frame, client_host);
  }

  // What came back for a request that was passed on: the frame as it is, or nothing, which ends the client's connection.
  void forwarded(const ReplyToken& token, Result<Bytes> frame) override {
    Connection* connection = open_connection(token);
    if (connection == nullptr) {
      return;
    }
    if (!frame) {
      close(token.connection, frame.error().detail);
      return;
    }
    wire::Writer writer;
    const wire::Writer::LengthMark size = writer.reserve_length();
    writer.raw(frame->span());
    writer.patch_length(size);
    finish_reply(token, writer.finish(), request_throttle_ms(token));
  }

  void peer_answered(std::uint64_t id, const Bytes& frame, Now now, Outputs& outputs) {
    Turn turn(*this, now, outputs);
    if (!stopped) {
      link->peer_answered(id, frame);
      pump();
    }
  }
  void peer_failed(std::uint64_t id, const std::string& reason, Now now, Outputs& outputs) {
    Turn turn(*this, now, outputs);
    if (!stopped) {
      link->peer_failed(id, reason);
      pump();
    }
  }

  void auto_create_topics(const std::vector<std::string>& names) override { link->create_topics(names); }
  void new_producer_id(std::function<void(std::pair<wire::ErrorCode, ProducerId>)> done) override {
    link->new_producer_id(std::move(done));
  }

  void ask_quorum(const RequestContext& context, QuorumQuestion question) override {
    quorum_questions.emplace(context.token.serial, context.token);
    quorum_input(raft::Request{context.token.serial, context.api_version, std::move(question.body)});
  }

  // ---------------------------------------------------------------- ClusterLink::Host

  [[nodiscard]] Now link_now() const override { return now_; }
  [[nodiscard]] Outputs& link_outputs() override { return *out; }
  [[nodiscard]] broker::Broker* link_broker() override { return the_broker.get(); }
  void quorum_input(const raft::Input& input) override { control->step(input, now_.instant, now_.wall, control_out); }
  void serve_here(const Forwarding::Waiting& request) override {
    if (Connection* connection = open_connection(request.token)) {
      serve(request.token.connection, *connection, parse_request_frame(request.frame.span()), request.frame,
            connection->client_host);
    }
  }

  void refuse(ConnectionId id, std::int16_t key, std::int16_t version, std::string why) {
    emit(event::RequestRefused{id, key, version, 0, why});
    close(id, std::move(why));
  }

  // ---------------------------------------------------------------- what the cores put out

  // Everything of one call happens at one time and writes into one Outputs.
  struct Turn {
    Turn(Impl& node, Now now, Outputs& outputs) : node_(node) {
      node.now_ = now;
      node.out = &outputs;
    }
    ~Turn() {
      if (std::optional<std::string> level = node_.log_levels_.take_change()) {
        node_.out->log_level = std::move(level);
      }
      node_.out = &node_.unowned_;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Impl& node_;
  };

  [[nodiscard]] broker::Now broker_now() const noexcept { return {now_.instant, now_.wall}; }

  // Carries out what the cores want until nobody wants anything more.
  void pump() {
    bool moved = true;
    while (moved && !stopped) {
      moved = false;
      Result<bool> control_moved = start_step();
      if (!control_moved) {
        give_up(control_moved.error().detail);
        return;
      }
      moved = *control_moved;
      if (opened) {
        moved = pump_groups() || moved;
        the_broker->settle(broker_now(), broker_out);
        moved = send_broker_answers() || moved;
      }
      moved = pump_jobs() || moved;
      pump_leaving();
    }
    logs->check_directories();
    if (!ready_told && serves()) {
      announce_ready();
    }
    if (std::exchange(early_due, false)) {
      serve_early();
    }
  }

  // What clients asked before the logs were open.
  void serve_early() {
    for (auto& [id, frame] : std::exchange(early, {})) {
      if (connections.contains(id)) {
        request(id, frame, now_, *out);
      }
    }
  }

  // True: something happened.
  Result<bool> pump_control() {
    HW_TRY(const bool before, perform_until_quiet());
    control->pump(now_.instant, now_.wall, control_out);
    HW_TRY(const bool after, perform_until_quiet());
    return before || after;
  }

  Result<bool> perform_until_quiet() {
    bool moved = false;
    for (int round = 0; round < 1000; ++round) {
      if (control_out.empty()) {
        return moved;
      }
      moved = true;
      HW_CHECK(perform_control());
    }
    return fail(Errc::corrupt, "the control plane does not come to rest");
  }

  Result<void> perform_control() {
    std::swap(control_work, control_out);
    control_out.clear();
    if (!control_work.broken.empty()) {
      return fail(Errc::corrupt, control_work.broken);
    }
    for (event::Any& event : control_work.events) {
      emit(std::move(event));
    }
    for (metadata::ControlPlane::Published& change : control_work.published) {
      published(change);
    }
    for (raft::Reply& answer : control_work.replies) {
      const auto question = quorum_questions.extract(answer.token);
      if (!question.empty()) {
        std::visit([&](const auto& body) { reply(question.mapped(), body); }, answer.body);
      }
    }
    for (raft::Send& send : control_work.sends) {
      link->send(std::move(send));
    }
    if (control_work.leader_changed) {
      link->controller_changed();
    }
    if (control_work.persist) {
      const std::string text = raft::encode_quorum_state(*control_work.persist);
      HW_CHECK(disk.write_whole(quorum_state_path(options_.directory), as_bytes(text)));
    }
    if (control_work.persist) {
      control->persisted(*control_work.persist, now_.instant, now_.wall, control_out);
    }
    if (control_work.flush) {
      const Offset end = metadata_log->log_end_offset();
      if (starting || in_memory || metadata_log->recovery_point() >= end) {
        HW_CHECK(metadata_log->flush(now_.wall));
        metadata_flushed(end);
      } else {
        metadata_log->queue_flush(now_.wall);
      }
    }
    return {};
  }

  void metadata_flushed(Offset up_to) {
    control->flushed(up_to, now_.instant, now_.wall, control_out);
  }

  // A published image takes effect: logs are made or deleted, partitions lead, group partitions load.
  void published(const metadata::ControlPlane::Published& change) {
    link->image_published(*change.image);
    if (!opened) {
      return;  // one delta of everything follows when the logs are opened
    }
    const auto of_brokers = [](const metadata::MetadataDelta::ConfigChange& config) {
      return config.resource.type == metadata::ConfigResourceType::broker;
    };
    if (std::any_of(change.delta.configs_changed.begin(), change.delta.configs_changed.end(), of_brokers)) {
      configs_changed();
    }
    const auto of_client_metrics = [](const metadata::MetadataDelta::ConfigChange& config) {
      return config.resource.type == metadata::ConfigResourceType::client_metrics;
    };
    if (std::any_of(change.delta.configs_changed.begin(), change.delta.configs_changed.end(), of_client_metrics)) {
      client_telemetry.set_subscriptions(*change.image);
    }
    if (change.delta.client_quotas_changed) {
      client_quotas.set(change.image->client_quotas());
      limits.set_quotas(change.image->client_quotas());
    }
    for (const Error& error : the_broker->apply(change.image, change.delta, broker_now())) {
      // That partition answers KAFKA_STORAGE_ERROR; everything else goes on.
      emit(event::RequestRefused{ConnectionId(0), -1, -1,
                                 static_cast<std::int16_t>(wire::ErrorCode::kafka_storage_error), error.detail});
    }
    std::vector<std::string> deleted;
    bool offsets_changed = false;
    for (const metadata::MetadataDelta::DeletedTopic& topic : change.delta.topics_deleted) {
      deleted.push_back(topic.name);
      offsets_changed = offsets_changed || topic.name == kGroupTopic;
    }
    for (const metadata::MetadataDelta::PartitionRef& partition : change.delta.partitions_changed) {
      offsets_changed = offsets_changed || partition.topic == kGroupTopic;
    }
    if (offsets_changed) {
      lead_groups(*change.image);
    }
    if (!deleted.empty()) {
      coordinator->topics_deleted(deleted, group_now(now_));
    }
  }

  void lead_groups(const metadata::MetadataImage& current) {
    const metadata::TopicImage* topic = current.find_topic(kGroupTopic);
    std::set<PartitionIndex> leading;
    if (topic != nullptr) {
      coordinator->set_partition_count(static_cast<std::int32_t>(topic->partitions.size()));
      for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
        if (topic->partitions[i].leader == options_.node) {
          leading.insert(PartitionIndex(static_cast<std::int32_t>(i)));
        }
      }
    }
    for (auto it = led_group_partitions.begin(); it != led_group_partitions.end();) {
      if (!leading.contains(*it)) {
        coordinator->unload(*it, group_now(now_));
        it = led_group_partitions.erase(it);
      } else {
        ++it;
      }
    }
    for (const PartitionIndex partition : leading) {
      if (!led_group_partitions.insert(partition).second) {
        continue;
      }
      coordinator->begin_load(partition);
      const broker::Partition* replica = the_broker->find(kGroupTopic, partition);
      if (replica != nullptr && replica->log() != nullptr) {
        const Result<void> loaded =
            read_log(*replica->log(), replica->log()->high_watermark(),
                     [&](const Bytes& batches, std::size_t& used) -> Result<void> {
                       HW_TRY(const Offset next, load_group_batches(*coordinator, partition, batches, now_));
                       if (next != kNoOffset) {
                         read_to = next;
                         used = batches.size();
                       }
                       return {};
                     });
        if (!loaded) {
          // What could be read is there; the groups beyond start anew, as after a lost offsets partition.
          emit(event::RequestRefused{ConnectionId(0), -1, -1, static_cast<std::int16_t>(wire::ErrorCode::corrupt_message),
                                     loaded.error().detail});
        }
      }
      coordinator->end_load(partition, group_now(now_));
    }
  }

  bool pump_groups() {
    if (!coordinator->has_outputs()) {
      return false;
    }
    groups::Outputs outputs = coordinator->take();
    for (event::Any& event : outputs.events) {
      emit(std::move(event));
    }
    for (groups::Outputs::Append& append : outputs.appends) {
      if (!coordinator->pending(append.id)) {
        continue;  // fell with an earlier one of its partition
      }
      the_broker->append_internal(kGroupTopic, append.partition, group_batch(append.records, now_.wall), broker_now(),
                                  [this, id = append.id](wire::ErrorCode error) {
                                    coordinator->on_committed(id, error, group_now(now_));
                                  });
    }
    return true;
  }

  [[nodiscard]] std::int32_t produce_throttle_ms(const ReplyToken& token) {
    if (!client_quotas.active(quotas::QuotaKind::produce)) {
      return 0;
    }
    const Connection* connection = open_connection(token);
    return connection == nullptr ? 0
                                 : throttle_ms(client_quotas.record(quotas::QuotaKind::produce, client_of(*connection),
                                                                    static_cast<double>(connection->open.size), now_.instant));
  }
  // A fetch above its quota is answered without records, and what it would have brought does not count (KIP-219).
  [[nodiscard]] std::int32_t fetch_throttle_ms(const broker::Ticket& ticket, std::int64_t bytes) {
    const Connection* connection = open_connection({ticket.connection, ticket.serial});
    if (connection == nullptr) {
      return 0;
    }
    const quotas::Client client = client_of(*connection);
    const auto size = static_cast<double>(bytes);
    const Duration by_bytes = client_quotas.record(quotas::QuotaKind::fetch, client, size, now_.instant);
    const Duration by_time = client_quotas.excess(quotas::QuotaKind::request, client, now_.instant);
    const Duration longest = std::max(by_bytes, by_time);
    if (longest > Duration{}) {
      client_quotas.count(quotas::QuotaKind::fetch, client, -size, now_.instant);
    }
    return throttle_ms(longest);
  }
  // The shell measured how long the node's thread worked for a connection's request.
  void spent(ConnectionId id, Duration time, Now now) {
    const auto it = connections.find(id);
    if (it == connections.end() || !client_quotas.active(quotas::QuotaKind::request)) {
      return;
    }
    constexpr double kPercentPerSecond = 100;
    constexpr double kNsPerSecond = 1e9;
    client_quotas.count(quotas::QuotaKind::request, client_of(it->second),
                        static_cast<double>(time.ns) / kNsPerSecond * kPercentPerSecond, now.instant);
  }
  [[nodiscard]] static quotas::ClientQuotas::Options quota_options(const metadata::BrokerConfigs& from) {
    constexpr std::int64_t kMsPerSecond = 1000;
    quotas::ClientQuotas::Options wanted;
    wanted.client = {static_cast<std::int32_t>(from.number("quota.window.num")),
                     from.number("quota.window.size.seconds") * kMsPerSecond};
    wanted.controller = {static_cast<std::int32_t>(from.number("controller.quota.window.num")),
                         from.number("controller.quota.window.size.seconds") * kMsPerSecond};
    return wanted;
  }

  bool send_broker_answers() {
    if (broker_out.empty()) {
      return false;
    }
    std::swap(broker_out, broker_work);
    for (broker::BrokerOutputs::Produced& done : broker_work.produced) {
      const ReplyToken token{done.ticket.connection, done.ticket.serial};
      const std::int32_t throttle = produce_throttle_ms(token);
      if (done.answer_owed) {
        done.response.throttle_time_ms = throttle;
        reply(token, done.response);
      } else if (done.failed) {
        close(token.connection, "a record could not be appended, and acks=0 leaves no other way to say so");
      } else {
        no_reply(token, std::max(throttle, request_throttle_ms(token)));
      }
    }
    for (broker::BrokerOutputs::Fetched& done : broker_work.fetched) {
      reply(ReplyToken{done.ticket.connection, done.ticket.serial}, done.response);
    }
    for (const broker::PeerFetch& fetch : broker_work.peer_fetches) {
      link->send(fetch);
    }
    for (const broker::PeerListOffsets& request : broker_work.peer_list_offsets) {
      link->send(request);
    }
    if (broker_work.alter_partition) {
      link->send(*broker_work.alter_partition);
    }
    broker_work.clear();
    return true;
  }

  // Jobs of the logs go to the pool; on a disk that never waits they run here. True: some ran here.
  bool pump_jobs() {
    if (logs->jobs().empty()) {
      return false;
    }
    std::vector<log::DiskJob> jobs = logs->jobs().take();
    for (log::DiskJob& job : jobs) {
      if (in_memory) {
        const std::function<Result<void>()> work = std::move(job.work);
        finish_job(job, work());
        continue;
      }
      Outputs::DiskJob wanted_job;
      wanted_job.id = job.id;
      wanted_job.work = [gate_here = gate, work = std::move(job.work)]() -> Result<void> {
        if (!gate_here->enter()) {
          return fail(Errc::closed, "the node has stopped");
        }
        Result<void> result = work();
        gate_here->leave();
        return result;
      };
      job.work = nullptr;
      jobs_open.emplace(job.id, std::move(job));
      out->disk_jobs.push_back(std::move(wanted_job));
    }
    return in_memory;
  }

  void finish_job(const log::DiskJob& job, const Result<void>& result) {
    logs->job_done(job, result, now_.wall);
    if (job.kind == log::JobKind::flush && job.topic_id != kMetadataTopicId) {
      if (!result) {
        logs->check_directories();  // the partitions say so to whoever waits
      }
      if (the_broker != nullptr) {
        the_broker->log_flushed(job.topic_id, job.partition, broker_now());
      }
    } else if (job.kind == log::JobKind::flush) {
      if (!result) {
        give_up("the metadata log cannot be made durable: " + result.error().detail);
        return;
      }
      metadata_flushed(job.up_to);
      // A flush that a truncation overtook makes nothing durable of what was written since, and nobody would ask again: a
      // follower fetches only from behind what is durable.
      metadata_log->queue_flush(now_.wall);
    }
  }

  // Nothing can be promised any more: what is not durable is not acknowledged, and nobody is served.
  void give_up(const std::string& why) {
    stopped = true;
    emit(event::RequestRefused{ConnectionId(0), -1, -1,
                               static_cast<std::int16_t>(wire::ErrorCode::kafka_storage_error), why});
    std::vector<ConnectionId> all;
    for (const auto& [id, connection] : connections) {
      all.push_back(id);
    }
    std::sort(all.begin(), all.end());
    for (const ConnectionId id : all) {
      close(id, why);
    }
    emit(event::NodeStopped{options_.node, false});
  }

  void disk_done(std::uint64_t id, const Result<void>& result, Now now, Outputs& outputs) {
    Turn turn(*this, now, outputs);
    const auto it = jobs_open.find(id);
    if (it == jobs_open.end() || stopped) {
      return;
    }
    const log::DiskJob job = std::move(it->second);
    jobs_open.erase(it);
    finish_job(job, result);
    pump();
  }

  void tick(Now now, Outputs& outputs) {
    Turn turn(*this, now, outputs);
    if (stopped) {
      return;
    }
    if (controller().active() && controller().next_deadline() <= now.instant) {
      controller().tick(now.instant);
    }
    if (opened) {
      the_broker->tick(broker_now(), broker_out);
      if (coordinator->next_deadline() <= now.instant) {
        coordinator->tick(group_now(now));
      }
    }
    if (logs->next_deadline() <= now.instant) {
      logs->tick(now.instant, now.wall);
      if (opened) {
        the_broker->logs_moved(logs->take_moved());
      }
      for (const Error& problem : logs->take_problems()) {
        emit(event::RequestRefused{ConnectionId(0), -1, -1,
                                   static_cast<std::int16_t>(wire::ErrorCode::kafka_storage_error), problem.detail});
      }
    }
    while (const std::optional<ConnectionId> quiet = limits.idle(now.instant)) {
      close(*quiet, "nothing came for connections.max.idle.ms (" + std::to_string(limits.idle_limit().ms()) + " ms)");
      limits.active(connections.at(*quiet).limit, now.instant);  // the shell closes it; once is enough
    }
    if (next_flush <= now.instant) {
      next_flush = now.instant + flush_interval();
      for (log::PartitionLog* log : logs->logs()) {
        if (log->recovery_point() < log->log_end_offset()) {
          log->queue_flush(now.wall);
        }
      }
    }
    pump();
  }

  [[nodiscard]] Instant next_deadline() const {
    if (stopped || link == nullptr) {
      return kNever;
    }
    Instant earliest = std::min({control->next_deadline(), control->controller().next_deadline(), logs->next_deadline(), next_flush,
                                 limits.next_deadline(now_.instant), link->next_deadline()});
    if (opened) {
      earliest = std::min({earliest, the_broker->next_deadline(), coordinator->next_deadline()});
    }
    return earliest;
  }

  // Not per append (Kafka's default), but often enough that little has to be looked through after a kill.
  [[nodiscard]] Duration flush_interval() const {
    return milliseconds(configs->number("log.flush.offset.checkpoint.interval.ms"));
  }

  void connected(ConnectionId id, const std::string& peer, Now now, Outputs& outputs,
                 std::shared_ptr<event::ConnectionCounters> counted, ListenerKind listener) {
    Turn turn(*this, now, outputs);
    Connection connection;
    connection.listener = listener;
    connection.peer = peer;
    connection.client_host = client_host_of(peer);
    connection.counters = std::move(counted);
    connection.limit = limits.opened(id, connection.client_host, now.instant);
    const auto [it, fresh] = connections.emplace(id, std::move(connection));
    HW_ASSERT(fresh, "connection ids are not used twice");
    if (std::optional<std::string> why = limits.refusal(it->second.limit, now.instant)) {
      close(id, std::move(*why));
    }
  }

  void disconnected(ConnectionId id, Now now, Outputs& outputs) {
    Turn turn(*this, now, outputs);
    if (const auto it = connections.find(id); it != connections.end()) {
      limits.ended(it->second.limit);
      client_telemetry.disconnected(id);
      connections.erase(it);
    }
    if (the_broker != nullptr) {
      the_broker->disconnected(id);
    }
  }

  Result<NodeCore::LocalRead> read_local(const std::string& topic, PartitionIndex partition, Offset from,
                                         std::int32_t max_bytes, bool committed) {
    if (stopped || the_broker == nullptr) {
      return fail(Errc::closed, "the node does not run");
    }
    broker::Partition* replica = the_broker->find(topic, partition);
    if (replica == nullptr || replica->log() == nullptr) {
      return fail(Errc::not_found, "no log of " + topic + "-" + std::to_string(partition.value()) + " on this node");
    }
    log::PartitionLog& log = *replica->log();
    const log::ReadIsolation isolation = committed ? log::ReadIsolation::last_stable : log::ReadIsolation::high_watermark;
    const Offset begin = std::clamp(from, log.log_start_offset(), std::max(log.log_start_offset(), log.bound(isolation)));
    log::ReadOutcome outcome = log.read({begin, max_bytes, true, isolation});
    if (outcome.error != wire::ErrorCode::none) {
      return fail(Errc::io, std::string(wire::error_name(outcome.error)));
    }
    NodeCore::LocalRead result;
    result.log_start_offset = outcome.log_start_offset;
    result.high_watermark = outcome.high_watermark;
    result.last_stable_offset = outcome.last_stable_offset;
    result.log_end_offset = outcome.log_end_offset;
    for (const log::AbortedTransaction& gone : outcome.aborted) {
      result.aborted.push_back({gone.producer_id, gone.first_offset});
    }
    // A batch that the limit cut off is left out.
    const Bytes bytes = outcome.records.flatten();
    wire::BatchCursor cursor(bytes.span());
    wire::BatchView batch;
    while (cursor.next(batch)) {
    }
    result.batches.append(bytes.slice(0, cursor.position()));
    return result;
  }

  // ---------------------------------------------------------------- state

  NodeOptions options_;
  LogLevels log_levels_;
  env::Disk& disk;
  const bool in_memory;  // jobs never wait: they run in the turn that wants them
  event::EventSink* events;
  std::shared_ptr<event::NodeCounters> counters;
  Prng prng_;
  std::array<Handlers, 2> handlers{};                // by ListenerKind
  std::array<std::vector<std::int16_t>, 2> served;   // likewise

  std::shared_ptr<const metadata::BrokerConfigs> configs;  // of the file
  std::shared_ptr<const metadata::BrokerConfigs> in_force;  // and what was set at run time
  ConnectionLimits limits;
  quotas::ClientQuotas client_quotas;
  ClientTelemetry client_telemetry;
  std::unique_ptr<log::LogManager> logs;
  log::PartitionLog* metadata_log = nullptr;
  std::unique_ptr<MetadataLog> quorum_log;
  std::unique_ptr<metadata::ControlPlane> control;
  std::unique_ptr<ClusterLink> link;
  std::unordered_map<std::uint64_t, ReplyToken> quorum_questions;  // open ones, by what the quorum calls them
  std::unique_ptr<broker::Broker> the_broker;
  std::unique_ptr<groups::GroupCoordinator> coordinator;
  std::set<PartitionIndex> led_group_partitions;
  std::string wanted_topic;        // while logs are loaded
  std::optional<log::LogConfig> wanted_config;

  std::unordered_map<ConnectionId, Connection> connections;
  std::uint64_t serial = 0;
  std::unordered_map<std::uint64_t, log::DiskJob> jobs_open;
  std::shared_ptr<JobGate> gate = std::make_shared<JobGate>();

  Now now_{};
  Outputs unowned_;  // outside of a turn
  Outputs* out = &unowned_;
  metadata::ControlPlane::Outputs control_out;
  metadata::ControlPlane::Outputs control_work;
  broker::BrokerOutputs broker_out;
  broker::BrokerOutputs broker_work;
  Offset read_to;
  Instant next_flush = kNever;
  bool starting = true;  // inside start(): the disk is waited for
  bool opened = false;   // the logs are open: clients are served
  std::vector<std::pair<ConnectionId, Bytes>> early;  // requests of clients before that, one a connection
  bool early_due = false;
  bool leaving = false;   // controlled shutdown
  bool resigned = false;
  bool ready_told = false;
  bool stopped = false;
};

void close_undecodable(Node& node, const RequestContext& context, std::string_view message) {
  std::string why = std::string(message) + " version " + std::to_string(context.api_version) + " does not decode";
  node.refused(context, wire::ErrorCode::none, why);
  node.close(context.connection(), std::move(why));
}

NodeCore::NodeCore(NodeOptions options, env::Disk& disk, event::EventSink* events,
                   std::shared_ptr<event::NodeCounters> counters, Prng prng)
    : impl_(std::make_unique<Impl>(std::move(options), disk, events, std::move(counters), prng)) {}
NodeCore::~NodeCore() {
  impl_->gate->close();  // jobs that are still queued name logs of this node
}

Result<void> NodeCore::start(Now now, Outputs& out) { return impl_->start(now, out); }
bool NodeCore::ready() const { return impl_->ready_told && !impl_->stopped; }
void NodeCore::connected(ConnectionId connection, const std::string& peer, Now now, Outputs& out,
                         std::shared_ptr<event::ConnectionCounters> counters, ListenerKind listener) {
  impl_->connected(connection, peer, now, out, std::move(counters), listener);
}
NodeCore::Standing NodeCore::standing() const {
  const raft::QuorumView quorum = impl_->quorum();
  Standing out;
  out.serves = ready();
  out.controller = quorum.leader;
  out.epoch = quorum.epoch;
  out.voter = quorum.voter;
  for (const auto& [id, broker] : impl_->image()->brokers()) {
    out.brokers.push_back({id, broker.fenced, broker.in_controlled_shutdown});
  }
  return out;
}
void NodeCore::hand_over(Now now, Outputs& out) { impl_->hand_over(now, out); }
bool NodeCore::handed_over() const { return impl_->handed_over(); }
void NodeCore::peer_answered(std::uint64_t id, const Bytes& frame, Now now, Outputs& out) {
  impl_->peer_answered(id, frame, now, out);
}
void NodeCore::peer_failed(std::uint64_t id, const std::string& reason, Now now, Outputs& out) {
  impl_->peer_failed(id, reason, now, out);
}
void NodeCore::spent(ConnectionId connection, Duration time, Now now) { impl_->spent(connection, time, now); }
bool NodeCore::may_accept() const { return !impl_->limits.full(impl_->now_.instant); }
void NodeCore::disconnected(ConnectionId connection, Now now, Outputs& out) {
  impl_->disconnected(connection, now, out);
}
void NodeCore::request(ConnectionId connection, Bytes frame, Now now, Outputs& out) {
  impl_->request(connection, frame, now, out);
}
void NodeCore::tick(Now now, Outputs& out) { impl_->tick(now, out); }
Instant NodeCore::next_deadline() const { return impl_->next_deadline(); }
void NodeCore::disk_done(std::uint64_t id, const Result<void>& result, Now now, Outputs& out) {
  impl_->disk_done(id, result, now, out);
}
Result<void> NodeCore::stop(Now now) { return impl_->stop(now); }
Result<NodeCore::LocalRead> NodeCore::read_local(const std::string& topic, PartitionIndex partition, Offset from,
                                                 std::int32_t max_bytes, bool committed) {
  return impl_->read_local(topic, partition, from, max_bytes, committed);
}
std::int32_t NodeCore::max_request_bytes() const {
  return impl_->configs == nullptr ? 104'857'600
                                   : static_cast<std::int32_t>(impl_->configs->number("socket.request.max.bytes"));
}
Insides NodeCore::insides() const {
  const Impl& node = *impl_;
  if (node.control == nullptr || node.stopped) {
    return {};
  }
  return {node.control->image(), node.control->quorum(), node.metadata_log, node.opened ? node.the_broker.get() : nullptr};
}
const std::string& NodeCore::cluster_id() const {
  static const std::string none;
  return impl_->logs == nullptr ? none : impl_->logs->meta().cluster_id;
}

}  // namespace hw::api
