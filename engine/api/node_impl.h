// SPDX-License-Identifier: Apache-2.0
// The inside of NodeCore, for the files that it is written in: node_start.cpp (formats, opens, registers, hands over, stops),
// node_requests.cpp (connections, requests, answers), node_published.cpp (what the metadata brings about), node_core.cpp (the
// turn: what the cores put out until none wants anything more, disk jobs, deadlines).
// Thread rule: as NodeCore's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/api/client_telemetry.h"
#include "engine/api/cluster_link.h"
#include "engine/api/connection_limits.h"
#include "engine/api/core.h"
#include "engine/api/forwarding.h"
#include "engine/api/group_log.h"
#include "engine/api/handler.h"
#include "engine/api/job_gate.h"
#include "engine/api/log_levels.h"
#include "engine/api/metadata_log.h"
#include "engine/api/request_frame.h"
#include "engine/api/topic_settings.h"
#include "engine/api/transaction_log.h"
#include "engine/broker/broker.h"
#include "engine/groups/coordinator.h"
#include "engine/log/log_manager.h"
#include "engine/metadata/configs.h"
#include "engine/metadata/control_plane.h"
#include "engine/quotas/client_quotas.h"
#include "engine/raft/quorum.h"
#include "engine/txn/coordinator.h"

namespace hw::api {

inline constexpr Uuid kMetadataTopicId{0, 1};  // Kafka's reserved id of __cluster_metadata
inline constexpr std::size_t kHandlerSlots = 128;
inline constexpr std::string_view kAnonymous = "ANONYMOUS";
inline constexpr const char* kMetadataTopic = "__cluster_metadata";

inline std::string metadata_directory(const std::string& directory) { return directory + "/" + kMetadataTopic + "-0"; }
inline std::string quorum_state_path(const std::string& directory) { return metadata_directory(directory) + "/quorum-state"; }

struct NodeCore::Impl final : Node, ClusterLink::Host {
  Impl(NodeOptions given, env::Disk& the_disk, event::EventSink* sink, std::shared_ptr<event::NodeCounters> node_counters,
       Prng random);

  using Handlers = std::array<HandlerFunction, kHandlerSlots>;
  [[nodiscard]] Handlers& handlers_of(ListenerKind listener) noexcept { return handlers[static_cast<std::size_t>(listener)]; }
  void add_handler(const Handler& handler, ListenerKind listener);

  struct OpenRequest {
    std::uint64_t serial = 0;  // 0: none
    std::int16_t api_key = -1;
    std::int16_t api_version = 0;
    std::int32_t correlation_id = 0;
    std::size_t size = 0;
    std::optional<std::int32_t> envelope;  // the request came inside one: the correlation id of that
    // Of a client's request that this node serves as the active controller: should it stop being that before the answer, the request
    // is passed on to the next one.
    Bytes frame;
    Instant deadline;
    bool lost_controller = false;  // the answer would be NOT_CONTROLLER, which no client understands
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

  [[nodiscard]] txn::TransactionCoordinator& transactions() override { return *transaction_coordinator; }

  [[nodiscard]] bool verifies_transactions() const override { return verify_transactions; }

  [[nodiscard]] std::pair<Duration, Duration> add_partitions_backoff() const override {
    return {milliseconds(in_force->number("add.partitions.to.txn.retry.backoff.ms")),
            milliseconds(in_force->number("add.partitions.to.txn.retry.backoff.max.ms"))};
  }
  [[nodiscard]] broker::Broker& broker() override { return *the_broker; }
  [[nodiscard]] broker::BrokerOutputs& broker_outputs() override { return broker_out; }
  [[nodiscard]] Prng& prng() override { return prng_; }
  [[nodiscard]] Now now() const override { return now_; }
  void emit(event::Any event) override;

  [[nodiscard]] LogLevels& log_levels() override { return log_levels_; }

  void client_software(ConnectionId id, std::string_view name, std::string_view version) override;

  [[nodiscard]] std::span<const std::int16_t> served_apis(ListenerKind listener) const override {
    return served[static_cast<std::size_t>(listener)];
  }

  [[nodiscard]] quotas::ClientQuotas& quotas() override { return client_quotas; }
  [[nodiscard]] ClientTelemetry& telemetry() override { return client_telemetry; }
  [[nodiscard]] raft::QuorumView quorum() const override { return control->quorum(); }

  [[nodiscard]] std::int32_t request_throttle_ms(const ReplyToken& token) override;

  [[nodiscard]] static quotas::Client client_of(const Connection& connection) noexcept {
    return {kAnonymous, connection.client_id};
  }
  [[nodiscard]] static std::int32_t throttle_ms(Duration duration) noexcept {
    return static_cast<std::int32_t>(duration.ms());
  }

  void no_reply(const ReplyToken& token, std::int32_t throttle) override;
  void close(ConnectionId id, std::string reason) override;
  void refused(const RequestContext& request, wire::ErrorCode error, std::string detail) override;

  bool begin_reply(const ReplyToken& token, wire::Writer& writer, wire::Writer::LengthMark& size,
                   std::int16_t& version) override;

  void finish_reply(const ReplyToken& token, BytesChain frame, std::int32_t throttle) override;

  // The answer to an Envelope, around the whole response frame of the request that it brought.
  static BytesChain in_envelope(std::int32_t correlation_id, const BytesChain& frame, wire::ErrorCode error);
  void note_error(const ReplyToken& token, wire::ErrorCode error) override;
  void fail_reply(const ReplyToken& token, std::string_view message) override;
  Connection* open_connection(const ReplyToken& token);

  // ---------------------------------------------------------------- start and stop

  Result<void> start(Now now, Outputs& outputs);

  // Its broker is registered and not fenced; a controller alone knows who leads.
  [[nodiscard]] bool serves() const { return options_.broker ? control->ready() : control->quorum().leader.has_value(); }

  [[nodiscard]] bool is_alone() const {
    return options_.controller && control->voters().size() == 1 && control->voters().find(options_.node) != nullptr;
  }

  Result<bool> start_step();

  // The logs are opened when the metadata says which of them this node should have: with the record of this life's registration. To
  // an older image what is on the disk may look like a stray. A node that leaves before that opens none.
  [[nodiscard]] bool may_open() const;
  Result<void> open_broker();
  [[nodiscard]] std::vector<std::string> log_directories() const;
  Result<void> open_logs();
  Result<void> open_quorum();

  // The first voters: those of a new cluster, or this node alone.
  [[nodiscard]] std::vector<raft::Voter> voters() const;

  // What the format leaves beside meta.properties; written again where a crash came between.
  Result<void> complete_format();

  // Hands the bytes of a log up to `end` to `visit`, whole batches at a time; `visit` says how much it used and sets
  // read_to to the next offset.
  template <class Visit>
  Result<void> read_log(log::PartitionLog& log, Offset end, Visit visit);
  void make_cores();

  [[nodiscard]] broker::TopicSettings settings_of(std::string_view topic) const {
    return topic_settings(metadata::effective_topic_configs(topic, *control->image(), *configs, options_.node), *in_force);
  }

  // Broker keys were set at run time: whoever obeys one that may change so takes the new values. Topics look theirs up when
  // the image is applied.
  void configs_changed();
  [[nodiscard]] std::optional<log::LogConfig> wanted(const log::LogIdentity& identity);
  void announce_ready();
  void hand_over(Now now, Outputs& outputs);
  [[nodiscard]] bool handed_over() const {
    return stopped || (leaving && resigned && serve_until <= now_.instant &&
                       (!control->quorum().resigning || tell_voters_until <= now_.instant));
  }
  // The broker first, so that its own controller may move what it leads; then the epoch of a leading controller.
  void pump_leaving();
  Result<void> stop(Now now);

  // ---------------------------------------------------------------- requests

  void request(ConnectionId id, const Bytes& frame, Now now, Outputs& outputs);

  void serve(ConnectionId id, Connection& connection, const RequestFrame& parsed, const Bytes& frame,
             std::string_view client_host);

  void serve_enveloped(const RequestContext& outer, const Bytes& frame, std::string_view client_host) override;
  void pass_on(const RequestContext& context, std::optional<PartForController> part) override;

  // What came back for a request that was passed on: the frame as it is, or nothing, which ends the client's connection.
  void forwarded(const ReplyToken& token, Result<Bytes> frame) override;
  void forwarding_timed_out(const Forwarding::Waiting& request) override;
  [[nodiscard]] RequestContext context_of(ConnectionId id, const Connection& connection, const RequestFrame& parsed,
                                          std::string_view client_host) const;
  void peer_answered(std::uint64_t id, const Bytes& frame, Now now, Outputs& outputs);
  void peer_failed(std::uint64_t id, const std::string& reason, Now now, Outputs& outputs);

  void auto_create_topics(const std::vector<std::string>& names) override { link->create_topics(names); }
  void new_producer_id(std::function<void(std::pair<wire::ErrorCode, ProducerId>)> done) override {
    link->new_producer_id(std::move(done));
  }

  void ask_coordinator(BrokerId broker, const wire::AddPartitionsToTxnRequest& request,
                       std::function<void(Result<wire::AddPartitionsToTxnResponse>)> done) override;

  void later(Duration wait, std::function<void()> then) override { postponed.emplace(now_.instant + wait, std::move(then)); }

  [[nodiscard]] event::ConnectionCounters* counters_of(const ReplyToken& token) override {
    Connection* connection = open_connection(token);
    return connection == nullptr ? nullptr : connection->counters.get();
  }

  void ask_quorum(const RequestContext& context, QuorumQuestion question) override;

  // ---------------------------------------------------------------- ClusterLink::Host

  [[nodiscard]] Now link_now() const override { return now_; }
  [[nodiscard]] Outputs& link_outputs() override { return *out; }
  [[nodiscard]] broker::Broker* link_broker() override { return the_broker.get(); }
  void quorum_input(const raft::Input& input) override { control->step(input, now_.instant, now_.wall, control_out); }
  void serve_here(const Forwarding::Waiting& request) override;
  void refuse(ConnectionId id, std::int16_t key, std::int16_t version, std::string why);

  // ---------------------------------------------------------------- what the cores put out

  // Everything of one call happens at one time and writes into one Outputs. Turns nest: what came early is served inside of one.
  struct Turn {
    Turn(Impl& node, Now now, Outputs& outputs) : node_(node), outer_(node.out) {
      node.now_ = now;
      node.out = &outputs;
    }
    ~Turn() {
      if (std::optional<std::string> level = node_.log_levels_.take_change()) {
        node_.out->log_level = std::move(level);
      }
      node_.out = outer_;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Impl& node_;
    Outputs* outer_;
  };

  [[nodiscard]] broker::Now broker_now() const noexcept { return {now_.instant, now_.wall}; }

  // Carries out what the cores want until nobody wants anything more.
  void pump();

  // What clients asked before the logs were open.
  void serve_early();

  // True: something happened.
  Result<bool> pump_control();
  Result<bool> perform_until_quiet();
  Result<void> perform_control();

  void metadata_flushed(Offset up_to) {
    control->flushed(up_to, now_.instant, now_.wall, control_out);
  }

  // A published image takes effect: logs are made or deleted, partitions lead, group partitions load.
  void published(const metadata::ControlPlane::Published& change);
  void lead_groups(const metadata::MetadataImage& current);
  bool pump_groups();
  void lead_transactions(const metadata::MetadataImage& current);
  bool pump_transactions();
  void send_markers(txn::MarkerRequest request);
  // The coordinator hears what became of its append.
  [[nodiscard]] broker::Broker::Committed told_committed(groups::AppendId id);
  [[nodiscard]] std::int32_t produce_throttle_ms(const ReplyToken& token);
  // A fetch above its quota is answered without records, and what it would have brought does not count (KIP-219).
  [[nodiscard]] std::int32_t fetch_throttle_ms(const broker::Ticket& ticket, std::int64_t bytes);
  // The shell measured how long the node's thread worked for a connection's request.
  void spent(ConnectionId id, Duration time, Now now);
  [[nodiscard]] static quotas::ClientQuotas::Options quota_options(const metadata::BrokerConfigs& from);
  bool send_broker_answers();

  // Jobs of the logs go to the pool; on a disk that never waits they run here. True: some ran here.
  bool pump_jobs();
  // A directory that failed: the controller hears of it and moves what it led; without the metadata log, or the last directory where
  // others could serve instead, the node gives up.
  void pump_directories();
  // Where the logs of these partitions lie, for the controller (KIP-858); only a node with several directories says it.
  void place(const std::vector<metadata::MetadataDelta::PartitionRef>& partitions);
  void place(const metadata::PartitionImage& partition, const Uuid& topic_id, PartitionIndex index);
  void finish_job(const log::DiskJob& job, const Result<void>& result);

  // Nothing can be promised any more: what is not durable is not acknowledged, and nobody is served.
  void give_up(const std::string& why);
  void disk_done(std::uint64_t id, const Result<void>& result, Now now, Outputs& outputs);
  void tick(Now now, Outputs& outputs);
  [[nodiscard]] Instant next_deadline() const;

  // Not per append (Kafka's default), but often enough that little has to be looked through after a kill.
  [[nodiscard]] Duration flush_interval() const {
    return milliseconds(configs->number("log.flush.offset.checkpoint.interval.ms"));
  }

  void connected(ConnectionId id, const std::string& peer, Now now, Outputs& outputs,
                 std::shared_ptr<event::ConnectionCounters> counted, ListenerKind listener);

  void disconnected(ConnectionId id, Now now, Outputs& outputs);

  Result<NodeCore::LocalRead> read_local(const std::string& topic, PartitionIndex partition, Offset from,
                                         std::int32_t max_bytes, bool committed);

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
  std::unique_ptr<txn::TransactionCoordinator> transaction_coordinator;
  std::map<PartitionIndex, LeaderEpoch> led_transaction_partitions;
  bool verify_transactions = true;  // as the configuration in force says
  std::multimap<Instant, std::function<void()>> postponed;
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
  Instant serve_until{};        // once it has resigned
  Instant tell_voters_until{};  // likewise
  bool ready_told = false;
  bool stopped = false;
  std::string failure;    // why it gave up
};

}  // namespace hw::api
