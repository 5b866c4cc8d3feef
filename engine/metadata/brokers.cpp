// SPDX-License-Identifier: Apache-2.0
// Brokers and controllers of the cluster: registration, heartbeats, fencing, controlled shutdown (KIP-631, KIP-841,
// KIP-858, KIP-919, KIP-966), and the clock of the controller.
#include <algorithm>
#include <set>
#include <utility>

#include "engine/base/assert.h"
#include "engine/base/trial.h"
#include "engine/metadata/controller.h"
#include "engine/metadata/detail/controller_impl.h"

namespace hw::metadata {

using wire::ErrorCode;

// --- what the image says

bool Controller::Impl::is_live(BrokerId id) const {
  const BrokerImage* broker = image().find_broker(id);
  return broker != nullptr && !broker->fenced && !broker->in_controlled_shutdown;
}

bool Controller::Impl::knows(BrokerId id, std::int64_t broker_epoch) const {
  const BrokerImage* broker = image().find_broker(id);
  return broker != nullptr && broker->epoch == broker_epoch;
}

bool Controller::Impl::leads_something(BrokerId id) const {
  for (const auto& [name, topic] : image().topics()) {
    for (const PartitionImage& partition : topic->partitions) {
      if (partition.leader == id) {
        return true;
      }
    }
  }
  return false;
}

std::vector<UsableBroker> Controller::Impl::usable_brokers() const {
  std::vector<UsableBroker> result;
  for (const auto& [id, broker] : image().brokers()) {
    result.push_back({id, broker.rack, broker.fenced || broker.in_controlled_shutdown});
  }
  return result;
}

Uuid Controller::Impl::directory_of(BrokerId id) const {
  const BrokerImage* broker = image().find_broker(id);
  return broker != nullptr && broker->log_directories.size() == 1 ? broker->log_directories.front() : kDirectoryUnassigned;
}

// --- records

namespace {

enum class Change : std::uint8_t { fence, unfence, controlled_shutdown };

Record registration_change(const BrokerImage& broker, Change change) {
  wire::BrokerRegistrationChangeRecord record;
  record.broker_id = broker.id;
  record.broker_epoch = broker.epoch;
  if (change == Change::controlled_shutdown) {
    record.in_controlled_shutdown = 1;
  } else {
    record.fenced = change == Change::fence ? 1 : -1;
  }
  return Record(std::move(record));
}

template <class EndPoint, class Listeners>
std::vector<EndPoint> end_points_of(const Listeners& listeners) {
  std::vector<EndPoint> result;
  for (const auto& listener : listeners) {
    EndPoint& end_point = result.emplace_back();
    end_point.name = listener.name;
    end_point.host = listener.host;
    end_point.port = listener.port;
    end_point.security_protocol = listener.security_protocol;
  }
  return result;
}

template <class Feature, class Asked>
std::vector<Feature> features_of(const Asked& asked) {
  std::vector<Feature> result;
  for (const auto& feature : asked) {
    Feature& row = result.emplace_back();
    row.name = feature.name;
    row.min_supported_version = feature.min_supported_version;
    row.max_supported_version = feature.max_supported_version;
  }
  return result;
}

// Ids below 100 stand for something other than a directory.
bool is_reserved(const Uuid& id) {
  constexpr std::uint64_t kReserved = 100;
  return id.high == 0 && id.low < kReserved;
}

}  // namespace

// --- registration

std::optional<ErrorCode> Controller::Impl::registration_error(const wire::BrokerRegistrationRequest& request,
                                                              Instant now) const {
  if (!options.cluster_id.empty() && request.cluster_id != options.cluster_id) {
    return ErrorCode::inconsistent_cluster_id;
  }
  const BrokerImage* known = image().find_broker(request.broker_id);
  if (known != nullptr && known->incarnation != request.incarnation_id &&
      sessions.live(request.broker_id, known->epoch, now)) {
    return ErrorCode::duplicate_broker_registration;
  }
  const std::set<Uuid> directories(request.log_dirs.begin(), request.log_dirs.end());
  if (directories.empty() || directories.size() != request.log_dirs.size() ||
      std::any_of(directories.begin(), directories.end(), is_reserved)) {
    return ErrorCode::invalid_registration;
  }
  for (const auto& [id, broker] : image().brokers()) {
    const auto taken = [&](const Uuid& directory) { return directories.contains(directory); };
    if (id != request.broker_id && std::any_of(broker.log_directories.begin(), broker.log_directories.end(), taken)) {
      return ErrorCode::invalid_registration;
    }
  }
  const auto covers = [](const auto& feature, std::int16_t level) {
    return feature.min_supported_version <= level && level <= feature.max_supported_version;
  };
  std::set<std::string, std::less<>> named;
  for (const auto& feature : request.features) {
    if (!covers(feature, image().feature_level(feature.name)) && feature.name != kKRaftVersion) {
      return ErrorCode::unsupported_version;
    }
    named.insert(feature.name);
  }
  if (!named.contains("metadata.version")) {
    return ErrorCode::invalid_registration;
  }
  for (const auto& [name, level] : image().features()) {
    if (level != 0 && !named.contains(name)) {
      return ErrorCode::unsupported_version;  // what it does not name it supports at level 0 only
    }
  }
  return std::nullopt;
}

void Controller::broker_registration(const wire::BrokerRegistrationRequest& request, Instant now,
                                     Done<wire::BrokerRegistrationResponse> done) {
  Impl& s = *impl_;
  wire::BrokerRegistrationResponse response;
  wire::BrokerRegistrationResponse failure;
  failure.error_code = ErrorCode::not_controller;
  std::vector<Record> records;
  if (s.active) {
    s.start_clock(now);
    if (const std::optional<ErrorCode> error = s.registration_error(request, now)) {
      response.error_code = *error;
    } else {
      const BrokerId id = request.broker_id;
      const BrokerImage* known = s.image().find_broker(id);
      wire::RegisterBrokerRecord record;
      record.broker_id = id;
      record.incarnation_id = request.incarnation_id;
      record.end_points = end_points_of<wire::RegisterBrokerRecord::BrokerEndpoint>(request.listeners);
      record.features = features_of<wire::RegisterBrokerRecord::BrokerFeature>(request.features);
      record.rack = request.rack;
      record.log_dirs = request.log_dirs;
      record.fenced = true;
      if (known != nullptr && known->incarnation == request.incarnation_id) {
        // The same life says something new about itself, or its first answer was lost.
        record.fenced = known->fenced;
        record.in_controlled_shutdown = known->in_controlled_shutdown;
        if (!known->cordoned_directories.empty()) {
          record.cordoned_log_dirs = known->cordoned_directories;
        }
        record.broker_epoch = known->epoch;
      } else {
        // Whatever it led or was in sync with ended with its former life. Only a broker that names the epoch of that life
        // stopped cleanly: the logs of any other may miss records that they had. One that ended before it heard of a registration names the
        // epoch before; a life that stayed fenced was in sync with nobody, and counts for nothing.
        const std::int64_t former = request.previous_broker_epoch;
        const bool clean = known != nullptr && former >= 0 && (former == known->epoch || former == known->served_epoch);
        if (clean || !s.elr_enabled()) {
          records = s.records_for_leaving(id);
        } else {
          s.change_partitions(
              {kNoBroker, kNoBroker, id},
              [id](const PartitionImage& p) { return contains(p.isr, id) || contains(p.elr, id) || p.leader == id; }, records);
        }
        s.sessions.forget(id);
        record.broker_epoch = (s.next_offset + static_cast<OffsetDelta>(records.size())).value();
      }
      response.broker_epoch = record.broker_epoch;
      s.sessions.touch(id, record.broker_epoch, record.fenced, kNoOffset, now);
      records.emplace_back(std::move(record));
    }
  }
  s.finish(std::move(records), std::move(response), std::move(failure), std::move(done), Impl::Atomic::no);
}

void Controller::controller_registration(const wire::ControllerRegistrationRequest& request,
                                         Done<wire::ControllerRegistrationResponse> done) {
  wire::ControllerRegistrationResponse response;
  response.error_message.reset();
  wire::ControllerRegistrationResponse failure = response;
  failure.error_code = ErrorCode::not_controller;
  std::vector<Record> records;
  if (impl_->active) {
    wire::RegisterControllerRecord record;
    record.controller_id = request.controller_id;
    record.incarnation_id = request.incarnation_id;
    record.end_points = end_points_of<wire::RegisterControllerRecord::ControllerEndpoint>(request.listeners);
    record.features = features_of<wire::RegisterControllerRecord::ControllerFeature>(request.features);
    records.emplace_back(std::move(record));
  }
  impl_->finish(std::move(records), std::move(response), std::move(failure), std::move(done));
}

// --- heartbeats

BrokerControl Controller::Impl::change_control(const wire::BrokerHeartbeatRequest& request, Instant now) {
  const BrokerId id = request.broker_id;
  const BrokerImage& broker = *image().find_broker(id);
  const BrokerControl before = sessions.current(id, broker.fenced);
  const auto registered = registered_at.find(id);
  const Offset registration = registered == registered_at.end() ? Offset(broker.epoch) : registered->second;
  const BrokerControl after =
      sessions.next(id, before, {request.want_fence, request.want_shut_down, request.current_metadata_offset}, registration,
                    request.want_shut_down && leads_something(id));
  std::vector<Record> records;
  switch (before == after ? BrokerControl::fenced : after) {
    case BrokerControl::fenced:
      if (before != after) {
        records = records_for_leaving(id);
        records.push_back(registration_change(broker, Change::fence));
      }
      break;
    case BrokerControl::shutdown_now:
      if (!broker.fenced) {
        records = records_for_leaving(id);
        records.push_back(registration_change(broker, Change::fence));
      }
      break;
    case BrokerControl::unfenced:
      records.push_back(registration_change(broker, Change::unfence));
      change_partitions({kNoBroker, id, kNoBroker}, [](const PartitionImage& p) { return p.leader == kNoBroker; }, records);
      break;
    case BrokerControl::controlled_shutdown:
      if (!broker.in_controlled_shutdown) {
        trial::mark(trial::Mark::controlled_shutdown_moves);
        records.push_back(registration_change(broker, Change::controlled_shutdown));
      }
      for (Record& record : records_for_leaving(id)) {
        records.push_back(std::move(record));
      }
      break;
  }
  const std::int64_t broker_epoch = broker.epoch;
  if (!records.empty()) {
    write(std::move(records), [](bool) {}, Atomic::no);
  }
  if (after == BrokerControl::shutdown_now || (after == BrokerControl::fenced && before != after)) {
    sessions.end(id);
  } else {
    sessions.touch(id, broker_epoch, after == BrokerControl::fenced, request.current_metadata_offset, now);
  }
  if (after == BrokerControl::controlled_shutdown) {
    sessions.shutting_down(id, next_offset - 1);
  }
  return after;
}

void Controller::Impl::note_directories(const wire::BrokerHeartbeatRequest& request) {
  const BrokerImage& broker = *image().find_broker(request.broker_id);
  const auto failed = [&](const Uuid& directory) {
    return std::find(request.offline_log_dirs.begin(), request.offline_log_dirs.end(), directory) !=
           request.offline_log_dirs.end();
  };
  wire::BrokerRegistrationChangeRecord change;
  change.broker_id = broker.id;
  change.broker_epoch = broker.epoch;
  std::vector<Record> records;
  std::vector<Uuid> rest;
  std::copy_if(broker.log_directories.begin(), broker.log_directories.end(), std::back_inserter(rest), std::not_fn(failed));
  // Without any directory left there is no broker: it stops, and says so.
  if (rest.size() != broker.log_directories.size() && !rest.empty()) {
    const auto in_failed = [&](const PartitionImage& partition) {
      const auto at = std::find(partition.replicas.begin(), partition.replicas.end(), broker.id);
      return at != partition.replicas.end() &&
             failed(partition.directories[static_cast<std::size_t>(at - partition.replicas.begin())]);
    };
    change_partitions({broker.id, kNoBroker, kNoBroker}, in_failed, records);
    change.log_dirs = std::move(rest);
  }
  if (request.cordoned_log_dirs && *request.cordoned_log_dirs != broker.cordoned_directories) {
    change.cordoned_log_dirs = request.cordoned_log_dirs;
  }
  if (!change.log_dirs.empty() || change.cordoned_log_dirs) {
    records.emplace_back(std::move(change));
    write(std::move(records), [](bool) {}, Atomic::no);
  }
}

void Controller::broker_heartbeat(const wire::BrokerHeartbeatRequest& request, Instant now,
                                  Done<wire::BrokerHeartbeatResponse> done) {
  Impl& s = *impl_;
  wire::BrokerHeartbeatResponse response;
  wire::BrokerHeartbeatResponse failure;
  failure.error_code = ErrorCode::not_controller;
  if (s.active && !s.knows(request.broker_id, request.broker_epoch)) {
    response.error_code = ErrorCode::stale_broker_epoch;
  } else if (s.active) {
    s.start_clock(now);
    const auto registered = s.registered_at.find(request.broker_id);
    const Offset registration =
        registered == s.registered_at.end() ? Offset(request.broker_epoch) : registered->second;
    const BrokerControl control = s.change_control(request, now);
    s.note_directories(request);
    response.is_caught_up = request.current_metadata_offset >= registration;
    response.is_fenced = control == BrokerControl::fenced || control == BrokerControl::shutdown_now;
    response.should_shut_down = control == BrokerControl::shutdown_now;
  }
  s.finish({}, std::move(response), std::move(failure), std::move(done));
}

// --- brokers that go

void Controller::unregister_broker(BrokerId broker, Done<Refusal> done) {
  std::vector<Record> records;
  Refusal result;
  const BrokerImage* known = impl_->image().find_broker(broker);
  if (known == nullptr) {
    result = {ErrorCode::broker_id_not_registered, "broker " + std::to_string(broker.value()) + " is not registered"};
  } else if (impl_->active) {
    records = impl_->records_for_leaving(broker);
    wire::UnregisterBrokerRecord record;
    record.broker_id = broker;
    record.broker_epoch = known->epoch;
    records.emplace_back(std::move(record));
    impl_->sessions.forget(broker);
  }
  impl_->finish<Refusal>(std::move(records), std::move(result), {ErrorCode::not_controller, {}}, std::move(done),
                         Impl::Atomic::yes);
}

void Controller::unregister_controller(BrokerId controller, Done<Refusal> done) {
  std::vector<Record> records;
  Refusal result;
  if (controller == impl_->options.node) {
    result = {ErrorCode::invalid_request, "the active controller cannot unregister itself"};
  } else if (!impl_->image().controllers().contains(controller)) {
    result = {ErrorCode::controller_id_not_registered,
              "controller " + std::to_string(controller.value()) + " is not registered"};
  } else {
    wire::UnregisterControllerRecord record;
    record.controller_id = controller.value();
    records.emplace_back(std::move(record));
  }
  if (!impl_->active) {
    records.clear();
  }
  impl_->finish<Refusal>(std::move(records), std::move(result), {ErrorCode::not_controller, {}}, std::move(done));
}

void Controller::Impl::fence(BrokerId id) {
  std::vector<Record> records;
  if (const BrokerImage* broker = image().find_broker(id); broker != nullptr && !broker->fenced) {
    trial::mark(trial::Mark::broker_fenced);
    records = records_for_leaving(id);
    records.push_back(registration_change(*broker, Change::fence));
  }
  sessions.end(id);
  write(std::move(records), [](bool) {}, Atomic::no);
}

// --- time

void Controller::Impl::start_clock(Instant now) {
  if (std::exchange(clock_started, true)) {
    return;
  }
  for (const auto& [id, broker] : image().brokers()) {
    if (!broker.fenced && id != options.node) {
      sessions.touch(id, broker.epoch, false, kNoOffset, now);
    }
  }
  const BrokerConfigs& configs = *options.broker_configs;
  if (configs.flag("auto.leader.rebalance.enable")) {
    balance_due = now + seconds(configs.number("leader.imbalance.check.interval.seconds"));
  }
  unclean_election_due = now + milliseconds(configs.number("unclean.leader.election.interval.ms"));
  const std::int64_t idle_ms = configs.number("metadata.max.idle.interval.ms");
  no_op_due = idle_ms > 0 ? now + milliseconds(idle_ms) : kNever;
}

void Controller::tick(Instant now) {
  Impl& s = *impl_;
  if (!s.active) {
    return;
  }
  s.start_clock(now);
  // One after the other: the second is fenced in a cluster in which the first is fenced already.
  while (const std::optional<BrokerId> stale = s.sessions.stale(now)) {
    s.fence(*stale);
  }
  s.balance_leaders(now);
  s.elect_unclean_leaders(now);
  if (s.no_op_due <= now) {
    s.write({Record(wire::NoOpRecord{})}, [](bool) {});
    const Duration interval = milliseconds(s.options.broker_configs->number("metadata.max.idle.interval.ms"));
    s.no_op_due = s.no_op_due + interval > now ? s.no_op_due + interval : now + interval;  // what a pause missed is not made up for
  }
}

Instant Controller::next_deadline() const noexcept {
  if (!impl_->active) {
    return kNever;
  }
  if (!impl_->clock_started) {
    return Instant{};
  }
  return std::min({impl_->sessions.next_deadline(), impl_->balance_due, impl_->unclean_election_due, impl_->no_op_due});
}

}  // namespace hw::metadata
