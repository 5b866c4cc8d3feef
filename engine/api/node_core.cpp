// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "engine/api/insides.h"
#include "engine/api/node_impl.h"
#include "engine/env/power_disk.h"
#include "engine/raft/format.h"
#include "engine/wire/msg/apis.h"

namespace hw::api {

NodeCore::Impl::Impl(NodeOptions given, env::Disk& the_disk, event::EventSink* sink,
                     std::shared_ptr<event::NodeCounters> node_counters, Prng random)
    : options_(std::move(given)),
      log_levels_(options_.log_level),
      disk(the_disk),
      in_memory(env::keeps_in_memory(the_disk)),
      events(sink),
      counters(node_counters != nullptr ? std::move(node_counters) : std::make_shared<event::NodeCounters>()),
      prng_(random) {
  std::set<std::int16_t> hidden;
  for (const std::span<const Handler> table : {data_handlers(), admin_handlers(), group_handlers(), transaction_handlers()}) {
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

void NodeCore::Impl::add_handler(const Handler& handler, ListenerKind listener) {
  HW_ASSERT(handler.api_key >= 0 && static_cast<std::size_t>(handler.api_key) < kHandlerSlots, "an API key has a slot");
  HandlerFunction& slot = handlers_of(listener)[static_cast<std::size_t>(handler.api_key)];
  HW_ASSERT(slot == nullptr, "one handler per API key and listener");
  slot = handler.serve;
}

void NodeCore::Impl::emit(event::Any event) {
  if (events != nullptr) {
    events->emit(std::move(event));
  }
}

void NodeCore::Impl::pump() {
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
      moved = pump_transactions() || moved;
      the_broker->settle(broker_now(), broker_out);
      moved = send_broker_answers() || moved;
    }
    moved = pump_jobs() || moved;
    pump_leaving();
  }
  pump_directories();
  if (!ready_told && serves()) {
    announce_ready();
  }
  if (std::exchange(early_due, false)) {
    serve_early();
  }
}

Result<bool> NodeCore::Impl::pump_control() {
  HW_TRY(const bool before, perform_until_quiet());
  control->pump(now_.instant, now_.wall, control_out);
  HW_TRY(const bool after, perform_until_quiet());
  return before || after;
}

Result<bool> NodeCore::Impl::perform_until_quiet() {
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

Result<void> NodeCore::Impl::perform_control() {
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

bool NodeCore::Impl::send_broker_answers() {
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
  for (broker::BrokerOutputs::Deleted& done : broker_work.deleted) {
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

void NodeCore::Impl::pump_directories() {
  logs->check_directories();
  for (const log::FailedDirectory& failed : logs->take_failed()) {
    const bool alone = image()->brokers().size() <= 1;
    if (failed.last && alone && failed.metadata) {
      continue;  // nobody else could serve: it answers errors, and goes on when the disk does
    }
    if (failed.last || failed.metadata) {
      give_up("the log directory " + failed.path + (failed.metadata ? ", which has the metadata log," : ", the last one of this node,") +
              " failed: " + failed.problem);
      return;
    }
    link->directory_failed(failed.id);
  }
}

bool NodeCore::Impl::pump_jobs() {
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

void NodeCore::Impl::finish_job(const log::DiskJob& job, const Result<void>& result) {
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
  }
}

void NodeCore::Impl::give_up(const std::string& why) {
  stopped = true;
  failure = why;
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
  emit(event::NodeStopped{options_.node, false, why});
}

void NodeCore::Impl::disk_done(std::uint64_t id, const Result<void>& result, Now now, Outputs& outputs) {
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

void NodeCore::Impl::tick(Now now, Outputs& outputs) {
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
    if (transaction_coordinator->next_deadline() <= now.instant) {
      transaction_coordinator->tick(group_now(now));
    }
    while (!postponed.empty() && postponed.begin()->first <= now.instant) {
      const std::function<void()> due = std::move(postponed.extract(postponed.begin()).mapped());
      due();
    }
  }
  if (logs->next_deadline() <= now.instant) {
    logs->tick(now.instant, now.wall);
    if (opened) {
      const std::vector<log::Moved> moved = logs->take_moved();
      the_broker->logs_moved(moved);
      for (const log::Moved& one : moved) {
        if (const metadata::PartitionImage* partition = image()->find_partition(one.topic_id, one.partition)) {
          place(*partition, one.topic_id, one.partition);
        }
      }
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

Instant NodeCore::Impl::next_deadline() const {
  if (stopped || link == nullptr) {
    return kNever;
  }
  Instant earliest = std::min({control->next_deadline(), control->controller().next_deadline(), logs->next_deadline(), next_flush,
                               limits.next_deadline(now_.instant), link->next_deadline()});
  if (opened) {
    earliest = std::min({earliest, the_broker->next_deadline(), coordinator->next_deadline(), transaction_coordinator->next_deadline()});
    if (!postponed.empty()) {
      earliest = std::min(earliest, postponed.begin()->first);
    }
  }
  if (resigned && now_.instant < serve_until) {
    earliest = std::min(earliest, serve_until);
  }
  if (resigned && now_.instant < tell_voters_until) {
    earliest = std::min(earliest, tell_voters_until);
  }
  return earliest;
}

NodeCore::NodeCore(NodeOptions options, env::Disk& disk, event::EventSink* events,
                   std::shared_ptr<event::NodeCounters> counters, Prng prng)
    : impl_(std::make_unique<Impl>(std::move(options), disk, events, std::move(counters), prng)) {}
NodeCore::~NodeCore() {
  impl_->gate->close();  // jobs that are still queued name logs of this node
}

Result<void> NodeCore::start(Now now, Outputs& out) { return impl_->start(now, out); }
const std::string& NodeCore::failure() const { return impl_->failure; }
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
