// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "engine/api/node_impl.h"
#include "engine/log/log_directory.h"
#include "engine/raft/format.h"

namespace hw::api {

namespace {

// A broker that may go answers for this long after it has handed over. A client whose next request is told NOT_LEADER_OR_FOLLOWER asks
// anew at once; one that finds its connection closed may ask the broker that is gone until its own timer sends it elsewhere.
constexpr Duration kTellClients = milliseconds(100);
// A voter that does not hear within this that its leader resigns is down itself; it finds out by its own timer when it comes back.
constexpr Duration kTellVoters = seconds(1);

// A metadata log in memory gets an empty record twice a second, too. No batch comes near this size.
constexpr std::int32_t kMetadataLogInMemoryBytes = 2 * 1024 * 1024;

// Of metadata that this node alone is missing: what lies in `place` cannot be read.
Error unreadable(const std::string& place, Error why) {
  why.detail = place + ": " + why.detail +
               "; put back what was there, or, while the other controllers run, give this node an empty folder: it gets everything from them";
  return why;
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

// To the controller the last life is the one that it registered last. One that ends before its logs are opened leaves them as clean as they
// were, and says so with its own epoch. What cannot be written is as good as an unclean end.
void note_not_opened(env::Disk& disk, const std::vector<std::string>& directories, std::int64_t broker_epoch) {
  const std::string text = log::format_clean_shutdown(broker_epoch);
  for (const std::string& directory : directories) {
    const std::string path = directory + "/" + log::kNotOpened;
    const Result<Bytes> known = disk.exists(path) ? disk.read_whole(path, 4096) : Result<Bytes>(fail(Errc::not_found, path));
    if (known && known->text() != text) {
      static_cast<void>(disk.write_whole(path, as_bytes(text), true));
    }
  }
}

}  // namespace

Result<void> NodeCore::Impl::start(Now now, Outputs& outputs) {
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

Result<bool> NodeCore::Impl::start_step() {
  HW_TRY(bool moved, pump_control());
  moved = link->pump() || moved;
  if (options_.broker && !opened && link->broker_epoch() >= 0) {
    note_not_opened(disk, log_directories(), link->broker_epoch());
  }
  if (may_open()) {
    HW_CHECK(open_broker());
    moved = true;
  }
  return moved;
}

bool NodeCore::Impl::may_open() const {
  if (opened || leaving || !options_.broker || link->state() == metadata::BrokerState::registering) {
    return false;
  }
  const metadata::BrokerImage* self = image()->find_broker(options_.node);
  return self != nullptr && self->epoch == link->broker_epoch();
}

Result<void> NodeCore::Impl::open_broker() {
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

std::vector<std::string> NodeCore::Impl::log_directories() const {
  std::vector<std::string> all{options_.directory};
  all.insert(all.end(), options_.more_directories.begin(), options_.more_directories.end());
  return all;
}

Result<void> NodeCore::Impl::open_logs() {
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

Result<void> NodeCore::Impl::open_quorum() {
  log::LogConfig config;
  config.segment_bytes = static_cast<std::int32_t>(configs->number("metadata.log.segment.bytes"));
  config.segment_ms = configs->number("metadata.log.segment.ms");
  if (in_memory) {
    config.segment_bytes = std::min(config.segment_bytes, kMetadataLogInMemoryBytes);  // only whole segments can go
  }
  config.max_message_bytes = 8 * 1024 * 1024;
  config.retention_ms = -1;
  HW_TRY(metadata_log, logs->create_log({kMetadataTopic, PartitionIndex(0), kMetadataTopicId}, config, now_.wall));
  const Uuid directory_id = logs->meta().directory_id;
  HW_CHECK(complete_format());

  raft::ElectionState election;
  if (disk.exists(quorum_state_path(options_.directory))) {
    HW_TRY(const Bytes text, disk.read_whole(quorum_state_path(options_.directory)));
    Result<raft::ElectionState> decoded = raft::decode_quorum_state(text.text());
    if (!decoded) {
      return Unexpected(unreadable(quorum_state_path(options_.directory), std::move(decoded.error())));
    }
    election = std::move(*decoded);
  }
  metadata::ControlPlane::Options control_options;
  raft::Config& quorum_config = control_options.quorum;
  quorum_config.self.key = {options_.node, directory_id};
  quorum_config.self.endpoints = {controller_endpoint(options_)};
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
  quorum_config.retry_backoff = milliseconds(configs->number("controller.quorum.retry.backoff.ms"));
  if (in_memory) {
    control_options.log_bytes_max = kMetadataLogInMemoryBytes;
  }
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
  quorum_log->watch(options_.node, events);
  control = std::make_unique<metadata::ControlPlane>(std::move(control_options), election, *quorum_log, Prng(prng_.next()));
  if (Result<void> started = control->start(now_.instant, now_.wall); !started) {
    return Unexpected(unreadable(metadata_directory(options_.directory), std::move(started.error())));
  }
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

std::vector<raft::Voter> NodeCore::Impl::voters() const {
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
    self.endpoints = {controller_endpoint(options_)};
    all.push_back(std::move(self));
  }
  return all;
}

Result<void> NodeCore::Impl::complete_format() {
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

void NodeCore::Impl::make_cores() {
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
  coordinator = std::make_unique<groups::GroupCoordinator>(group_config(*in_force), Prng(prng_.next()));
  transaction_coordinator =
      std::make_unique<txn::TransactionCoordinator>(transaction_config(*in_force), [this](auto done) { new_producer_id(std::move(done)); });
}

void NodeCore::Impl::announce_ready() {
  if (!ready_told) {
    ready_told = true;
    emit(event::NodeReady{options_.node});
  }
}

void NodeCore::Impl::hand_over(Now now, Outputs& outputs) {
  Turn turn(*this, now, outputs);
  leaving = true;
  link->begin_shutdown();
  pump();
}

void NodeCore::Impl::pump_leaving() {
  if (leaving && !resigned && (!options_.broker || link->state() == metadata::BrokerState::stopped)) {
    resigned = true;
    serve_until = opened ? now_.instant + kTellClients : now_.instant;
    tell_voters_until = now_.instant + kTellVoters;
    quorum_input(raft::Resign{});
  }
}

Result<void> NodeCore::Impl::stop(Now now) {
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

quotas::ClientQuotas::Options NodeCore::Impl::quota_options(const metadata::BrokerConfigs& from) {
  constexpr std::int64_t kMsPerSecond = 1000;
  quotas::ClientQuotas::Options wanted;
  wanted.client = {static_cast<std::int32_t>(from.number("quota.window.num")),
                   from.number("quota.window.size.seconds") * kMsPerSecond};
  wanted.controller = {static_cast<std::int32_t>(from.number("controller.quota.window.num")),
                       from.number("controller.quota.window.size.seconds") * kMsPerSecond};
  return wanted;
}

}  // namespace hw::api
