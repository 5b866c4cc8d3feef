// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "engine/api/error_answers.h"
#include "engine/api/node_impl.h"
#include "engine/api/quorum_question.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/apis.h"
#include "engine/wire/msg/envelope.h"
#include "engine/wire/record/batch.h"

namespace hw::api {

void close_undecodable(Node& node, const RequestContext& context, std::string_view message) {
  std::string why = std::string(message) + " version " + std::to_string(context.api_version) + " does not decode";
  node.refused(context, wire::ErrorCode::none, why);
  node.close(context.connection(), std::move(why));
}

void NodeCore::Impl::client_software(ConnectionId id, std::string_view name, std::string_view version) {
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

std::int32_t NodeCore::Impl::request_throttle_ms(const ReplyToken& token) {
  if (!client_quotas.active(quotas::QuotaKind::request)) {
    return 0;
  }
  const Connection* connection = open_connection(token);
  return connection == nullptr
             ? 0
             : throttle_ms(client_quotas.excess(quotas::QuotaKind::request, client_of(*connection), now_.instant));
}

void NodeCore::Impl::no_reply(const ReplyToken& token, std::int32_t throttle) {
  Connection* connection = open_connection(token);
  if (connection == nullptr) {
    return;
  }
  connection->open.serial = 0;
  out->replies.push_back({token.connection, BytesChain{}, false, milliseconds(throttle)});
}

void NodeCore::Impl::close(ConnectionId id, std::string reason) {
  const auto it = connections.find(id);
  if (it == connections.end()) {
    return;
  }
  it->second.open.serial = 0;
  out->closes.push_back({id, std::move(reason)});
}

void NodeCore::Impl::refused(const RequestContext& request, wire::ErrorCode error, std::string detail) {
  emit(event::RequestRefused{request.connection(), request.api_key, request.api_version,
                             static_cast<std::int16_t>(error), std::move(detail)});
}

bool NodeCore::Impl::begin_reply(const ReplyToken& token, wire::Writer& writer, wire::Writer::LengthMark& size,
                                 std::int16_t& version) {
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

void NodeCore::Impl::finish_reply(const ReplyToken& token, BytesChain frame, std::int32_t throttle) {
  Connection* connection = open_connection(token);
  HW_ASSERT(connection != nullptr, "a reply is finished in the turn it began");
  const bool lost_controller = std::exchange(connection->open.lost_controller, false);
  if (lost_controller && !connection->open.envelope) {
    const Bytes again = connection->open.frame;
    if (answered_in_part(connection->open.api_key) && !controller().active()) {
      // As if it came now: this broker answers its part of it, and passes on the rest.
      serve(token.connection, *connection, parse_request_frame(again.span()), again, connection->client_host);
    } else {
      link->forward({token, connection->open.api_key, again, connection->peer, connection->open.deadline, std::nullopt});
    }
    return;
  }
  const std::optional<std::int32_t> envelope = std::exchange(connection->open.envelope, std::nullopt);
  connection->open.serial = 0;
  connection->open.frame = Bytes{};
  // The broker that sent the envelope asks the next controller.
  const wire::ErrorCode enveloped_error = lost_controller ? wire::ErrorCode::not_controller : wire::ErrorCode::none;
  limits.active(connection->limit, now_.instant);
  out->replies.push_back({token.connection, envelope ? in_envelope(*envelope, frame, enveloped_error) : std::move(frame), false,
                          milliseconds(throttle)});
}

BytesChain NodeCore::Impl::in_envelope(std::int32_t correlation_id, const BytesChain& frame, wire::ErrorCode error) {
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

void NodeCore::Impl::note_error(const ReplyToken& token, wire::ErrorCode error) {
  Connection* connection = open_connection(token);
  if (connection == nullptr) {
    return;
  }
  if (error == wire::ErrorCode::not_controller && (connection->open.envelope || !connection->open.frame.empty())) {
    connection->open.lost_controller = true;
  } else if (connection->counters != nullptr) {
    connection->counters->note_error(static_cast<std::int16_t>(error));
  }
}

void NodeCore::Impl::fail_reply(const ReplyToken& token, std::string_view message) {
  emit(event::RequestRefused{token.connection, -1, -1, static_cast<std::int16_t>(wire::ErrorCode::unknown_server_error),
                             "cannot encode " + std::string(message)});
  close(token.connection, "internal error: an answer (" + std::string(message) + ") cannot be encoded");
}

NodeCore::Impl::Connection* NodeCore::Impl::open_connection(const ReplyToken& token) {
  const auto it = connections.find(token.connection);
  return it == connections.end() || it->second.open.serial != token.serial || token.serial == 0 ? nullptr
                                                                                                : &it->second;
}

void NodeCore::Impl::request(ConnectionId id, const Bytes& frame, Now now, Outputs& outputs) {
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
                     parsed.correlation_id, frame.size(), std::nullopt, {}, {}, false};
  if (connection.listener == ListenerKind::client && forwardable(parsed.api_key)) {
    connection.open.frame = frame;
    connection.open.deadline = now_.instant + kForwardFor;
  }
  serve(id, connection, parsed, frame, connection.client_host);
  pump();
}

void NodeCore::Impl::pass_on(const RequestContext& context, std::optional<PartForController> part) {
  Connection* connection = open_connection(context.token);
  HW_ASSERT(connection != nullptr, "a request is passed on in the turn it came");
  link->forward({context.token, context.api_key, *context.frame, connection->peer, connection->open.deadline, std::move(part)});
}

void NodeCore::Impl::serve(ConnectionId id, Connection& connection, const RequestFrame& parsed, const Bytes& frame,
                           std::string_view client_host) {
  const auto slot = static_cast<std::size_t>(parsed.api_key);
  const HandlerFunction handler = slot < kHandlerSlots ? handlers_of(connection.listener)[slot] : nullptr;
  if (handler == nullptr) {
    refuse(id, parsed.api_key, parsed.api_version,
           std::string(wire::find_api(parsed.api_key)->name) + " is not offered by this " +
               (connection.listener == ListenerKind::client ? "broker" : "controller"));
    return;
  }
  RequestContext context = context_of(id, connection, parsed, client_host);
  context.frame = &frame;
  context.header_size = parsed.body;
  if (connection.listener == ListenerKind::client && !controller().active() && forwardable(parsed.api_key) &&
      !answered_in_part(parsed.api_key)) {
    pass_on(context, std::nullopt);
    return;
  }
  wire::Reader body(parsed.version_unsupported ? Bytes{} : frame.slice(parsed.body, frame.size() - parsed.body));
  handler(*this, context, body);
}

RequestContext NodeCore::Impl::context_of(ConnectionId id, const Connection& connection, const RequestFrame& parsed,
                                          std::string_view client_host) const {
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
  return context;
}

void NodeCore::Impl::serve_enveloped(const RequestContext& outer, const Bytes& frame, std::string_view client_host) {
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

void NodeCore::Impl::forwarded(const ReplyToken& token, Result<Bytes> frame) {
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

void NodeCore::Impl::forwarding_timed_out(const Forwarding::Waiting& request) {
  if (const Connection* connection = open_connection(request.token)) {
    constexpr std::string_view kWhy = "no active controller was found in time";
    if (request.part) {
      request.part->fail(wire::ErrorCode::request_timed_out, std::string(kWhy));
      return;
    }
    const RequestFrame parsed = parse_request_frame(request.frame.span());
    wire::Reader body(request.frame.slice(parsed.body, request.frame.size() - parsed.body));
    answer_with_error(*this, context_of(request.token.connection, *connection, parsed, connection->client_host), body,
                      wire::ErrorCode::request_timed_out, std::string(kWhy));
  }
}

void NodeCore::Impl::peer_answered(std::uint64_t id, const Bytes& frame, Now now, Outputs& outputs) {
  Turn turn(*this, now, outputs);
  if (!stopped) {
    link->peer_answered(id, frame);
    pump();
  }
}

void NodeCore::Impl::peer_failed(std::uint64_t id, const std::string& reason, Now now, Outputs& outputs) {
  Turn turn(*this, now, outputs);
  if (!stopped) {
    link->peer_failed(id, reason);
    pump();
  }
}

void NodeCore::Impl::ask_quorum(const RequestContext& context, QuorumQuestion question) {
  quorum_questions.emplace(context.token.serial, context.token);
  quorum_input(raft::Request{context.token.serial, context.api_version, std::move(question.body)});
}

void NodeCore::Impl::serve_here(const Forwarding::Waiting& request) {
  if (Connection* connection = open_connection(request.token)) {
    connection->open.frame = request.frame;
    connection->open.deadline = request.deadline;
    serve(request.token.connection, *connection, parse_request_frame(request.frame.span()), request.frame,
          connection->client_host);
  }
}

void NodeCore::Impl::refuse(ConnectionId id, std::int16_t key, std::int16_t version, std::string why) {
  emit(event::RequestRefused{id, key, version, 0, why});
  close(id, std::move(why));
}

void NodeCore::Impl::serve_early() {
  for (auto& [id, frame] : std::exchange(early, {})) {
    if (connections.contains(id)) {
      request(id, frame, now_, *out);
    }
  }
}

std::int32_t NodeCore::Impl::produce_throttle_ms(const ReplyToken& token) {
  if (!client_quotas.active(quotas::QuotaKind::produce)) {
    return 0;
  }
  const Connection* connection = open_connection(token);
  return connection == nullptr ? 0
                               : throttle_ms(client_quotas.record(quotas::QuotaKind::produce, client_of(*connection),
                                                                  static_cast<double>(connection->open.size), now_.instant));
}

std::int32_t NodeCore::Impl::fetch_throttle_ms(const broker::Ticket& ticket, std::int64_t bytes) {
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

void NodeCore::Impl::spent(ConnectionId id, Duration time, Now now) {
  const auto it = connections.find(id);
  if (it == connections.end() || !client_quotas.active(quotas::QuotaKind::request)) {
    return;
  }
  constexpr double kPercentPerSecond = 100;
  constexpr double kNsPerSecond = 1e9;
  client_quotas.count(quotas::QuotaKind::request, client_of(it->second),
                      static_cast<double>(time.ns) / kNsPerSecond * kPercentPerSecond, now.instant);
}

void NodeCore::Impl::connected(ConnectionId id, const std::string& peer, Now now, Outputs& outputs,
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

void NodeCore::Impl::disconnected(ConnectionId id, Now now, Outputs& outputs) {
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

Result<NodeCore::LocalRead> NodeCore::Impl::read_local(const std::string& topic, PartitionIndex partition, Offset from,
                                                       std::int32_t max_bytes, bool committed) {
  if (stopped) {
    return fail(Errc::closed, "the node does not run");
  }
  log::PartitionLog* found = nullptr;
  if (topic == kMetadataTopic) {
    found = partition == PartitionIndex(0) ? metadata_log : nullptr;
  } else if (the_broker == nullptr) {
    return fail(Errc::closed, "the node does not run");
  } else if (broker::Partition* replica = the_broker->find(topic, partition)) {
    found = replica->log();
  }
  if (found == nullptr) {
    return fail(Errc::not_found, "no log of " + topic + "-" + std::to_string(partition.value()) + " on this node");
  }
  log::PartitionLog& log = *found;
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

}  // namespace hw::api
