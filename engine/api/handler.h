// SPDX-License-Identifier: Apache-2.0
// The contract between a node and its request handlers: one handler per API key, one file group per area.
//
// A handler gets the decoded request and a context, calls the cores, and answers exactly once through the context's
// token: at once, or later from a completion (`node.reply(token, response)`). A token whose connection is gone, or that
// was answered already, is ignored, so a completion need not know. A handler that owes no answer (acks=0) says
// `no_reply`. Handlers keep no state of their own.
//
// How an API is added: write `void handle_x(Node&, const RequestContext&, wire::XRequest&)` in <area>_x.cpp (group_*.cpp,
// admin_*.cpp, or a file by its name) and add `handler<wire::XRequest, handle_x>()` to the area's table
// (admin_handlers(), group_handlers(), data_handlers()). ApiVersions offers what stands in those tables, nothing else.
//
// Thread rule: everything here runs on the node's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/api/answer_errors.h"
#include "engine/api/core.h"
#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/prng.h"
#include "engine/base/time.h"
#include "engine/event/event.h"
#include "engine/metadata/image/image.h"
#include "engine/wire/msg/add_partitions_to_txn.h"
#include "engine/wire/runtime/error_code.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

namespace hw::broker {
class Broker;
struct BrokerOutputs;
}
namespace hw::groups {
class GroupCoordinator;
}
namespace hw::metadata {
class Controller;
}

namespace hw::txn {
class TransactionCoordinator;
}
namespace hw::quotas {
class ClientQuotas;
}
namespace hw::raft {
struct QuorumView;
}

namespace hw::api {

// One open request. Cheap to copy; stays valid as a value for ever.
struct ReplyToken {
  ConnectionId connection;
  std::uint64_t serial = 0;  // counts the requests of the node; never reused
  friend bool operator==(const ReplyToken&, const ReplyToken&) = default;
};

// The views live as long as the handler's call; copy what a completion needs.
struct RequestContext {
  ReplyToken token;
  std::string_view peer;         // address:port
  std::string_view client_host;  // as Kafka shows it: "/127.0.0.1"
  std::string_view client_id;    // empty also for null
  std::int16_t api_key = -1;
  std::int16_t api_version = 0;
  std::int32_t correlation_id = 0;
  std::string_view listener = "PLAINTEXT";
  ListenerKind listener_kind = ListenerKind::client;
  std::string_view software_name;     // what ApiVersions told; empty: nothing yet
  std::string_view software_version;
  std::string_view user = "ANONYMOUS";  // nobody proves who he is on a listener without authentication
  const Bytes* frame = nullptr;  // the request as it came, header included, no length prefix
  std::size_t header_size = 0;
  // ApiVersions only: the client asked for a version that is not offered; api_version is 0 and the body is not decoded.
  bool version_unsupported = false;
  Now now;
  event::ConnectionCounters* counters = nullptr;  // null: nobody counts
  [[nodiscard]] ConnectionId connection() const noexcept { return token.connection; }
};

// Of a request that a broker answers for the rest itself: what the active controller is asked, and what makes the client's answer
// out of the controller's. Both are whole frames without length prefix.
struct PartForController {
  Bytes request;
  std::function<Result<Bytes>(const Bytes& answer)> complete;
  std::function<void(wire::ErrorCode error, const std::string& message)> fail;  // answers the client when there is no answer to that part
};

// What a handler may use of its node. Implemented by NodeCore (and by fakes in tests of handlers).
class Node {
 public:
  virtual ~Node() = default;

  [[nodiscard]] virtual const NodeOptions& options() const = 0;  // id, advertised host and port, static configs
  [[nodiscard]] virtual const std::string& cluster_id() const = 0;
  [[nodiscard]] virtual const metadata::ImagePtr& image() const = 0;  // newest replayed image, never null
  // The active controller. Its operations take a completion that runs when their records are committed and replayed
  // (or at once where nothing is written); the node writes what the controller puts out after the handler returns.
  [[nodiscard]] virtual metadata::Controller& controller() = 0;
  [[nodiscard]] virtual groups::GroupCoordinator& groups() = 0;
  [[nodiscard]] virtual txn::TransactionCoordinator& transactions() = 0;
  [[nodiscard]] virtual bool verifies_transactions() const = 0;  // transaction.partition.verification.enable
  // add.partitions.to.txn.retry.backoff.ms, and …max.ms: for how long in all.
  [[nodiscard]] virtual std::pair<Duration, Duration> add_partitions_backoff() const = 0;
  [[nodiscard]] virtual broker::Broker& broker() = 0;
  [[nodiscard]] virtual broker::BrokerOutputs& broker_outputs() = 0;  // answered after the handler returns
  [[nodiscard]] virtual Prng& prng() = 0;
  [[nodiscard]] virtual Now now() const = 0;
  virtual void emit(event::Any event) = 0;
  [[nodiscard]] virtual class LogLevels& log_levels() = 0;
  [[nodiscard]] virtual quotas::ClientQuotas& quotas() = 0;
  [[nodiscard]] virtual class ClientTelemetry& telemetry() = 0;
  [[nodiscard]] virtual raft::QuorumView quorum() const = 0;

  // ApiVersions v3+ tells who the client is; becomes event::ClientIdentified.
  virtual void client_software(ConnectionId connection, std::string_view name, std::string_view version) = 0;
  // The API keys that this node serves there, ascending: what ApiVersions offers.
  [[nodiscard]] virtual std::span<const std::int16_t> served_apis(ListenerKind listener) const = 0;
  // A request that a broker passed on for its client (KIP-590): `request` is served as if it had come from there, and the answer
  // goes back inside the envelope of `context`.
  virtual void serve_enveloped(const RequestContext& context, const Bytes& request, std::string_view client_host) = 0;

  // A request that came to a broker that is not the active controller goes to it, as a whole or in part.
  virtual void pass_on(const RequestContext& context, std::optional<PartForController> part) = 0;

  // A request to the quorum of the metadata log (quorum_question.h); it answers in its own time.
  virtual void ask_quorum(const RequestContext& context, struct QuorumQuestion question) = 0;

  // What this node wants of the controller for itself, wherever that is. Topics that exist or are on their way are left alone; an
  // internal one (__consumer_offsets) gets the configuration that the broker has for it.
  virtual void auto_create_topics(const std::vector<std::string>& names) = 0;
  // A transaction's coordinator that is another broker.
  virtual void ask_coordinator(BrokerId broker, const wire::AddPartitionsToTxnRequest& request,
                               std::function<void(Result<wire::AddPartitionsToTxnResponse>)> done) = 0;
  // Runs `then` in a turn of its own, not before `wait` is over; never once the node has stopped.
  virtual void later(Duration wait, std::function<void()> then) = 0;
  // Of the connection of an open request; null: it is gone, or nobody counts.
  [[nodiscard]] virtual event::ConnectionCounters* counters_of(const ReplyToken& token) = 0;
  virtual void new_producer_id(std::function<void(std::pair<wire::ErrorCode, ProducerId>)> done) = 0;

  // Answers a request. The response is encoded in the version of the request. A client that is above its share of the
  // node's time is told so in the answer; after that, and after a throttle time that the handler put there, its connection
  // is not read for as long (KIP-219).
  template <class Response>
  void reply(const ReplyToken& token, const Response& response) {
    if constexpr (requires { response.throttle_time_ms; }) {
      const std::int32_t request_quota = request_throttle_ms(token);
      if (request_quota > response.throttle_time_ms) {
        Response throttled = response;
        throttled.throttle_time_ms = request_quota;
        encode_reply(token, throttled, request_quota);
        return;
      }
      encode_reply(token, response, response.throttle_time_ms);
    } else {
      encode_reply(token, response, request_throttle_ms(token));
    }
  }
  // acks=0: nothing is sent, the connection goes on with its next request, not before `throttle_ms` are over.
  virtual void no_reply(const ReplyToken& token, std::int32_t throttle_ms = 0) = 0;
  // Closes the connection without an answer; `reason` says what was wrong, for people.
  virtual void close(ConnectionId connection, std::string reason) = 0;
  // Tells observers that a request was refused as a whole (answered with an error at the top level).
  virtual void refused(const RequestContext& request, wire::ErrorCode error, std::string detail) = 0;

 protected:
  // False where the token is not open any more. Otherwise `writer` holds a length to patch and the response header.
  virtual bool begin_reply(const ReplyToken& token, wire::Writer& writer, wire::Writer::LengthMark& size,
                           std::int16_t& version) = 0;
  virtual void finish_reply(const ReplyToken& token, BytesChain frame, std::int32_t throttle_ms) = 0;
  // How long the client of an open request is to be muted for its use of the node's time; 0: not at all.
  [[nodiscard]] virtual std::int32_t request_throttle_ms(const ReplyToken& token) = 0;
  virtual void note_error(const ReplyToken& /*token*/, wire::ErrorCode /*error*/) {}  // one that the answer holds
  virtual void fail_reply(const ReplyToken& token, std::string_view message) = 0;  // a response that cannot be encoded: our bug

 private:
  template <class Response>
  void encode_reply(const ReplyToken& token, const Response& response, std::int32_t throttle_ms) {
    std::int16_t version = 0;
    wire::Writer writer;
    wire::Writer::LengthMark size;
    if (!begin_reply(token, writer, size, version)) {
      return;
    }
    if (!encode(writer, response, version)) {
      fail_reply(token, Response::kName);
      return;
    }
    writer.patch_length(size);
    const auto note = [&](wire::ErrorCode error) { note_error(token, error); };
    for_each_error(response, note);
    finish_reply(token, writer.finish(), throttle_ms);
  }
};

// Decodes the body and serves it.
using HandlerFunction = void (*)(Node& node, const RequestContext& context, wire::Reader& body);

struct Handler {
  std::int16_t api_key = -1;
  HandlerFunction serve = nullptr;
  bool offered = true;  // false: answered, but not named by ApiVersions
};

// What happens to a body that does not decode: the connection closes, nobody else is touched.
void close_undecodable(Node& node, const RequestContext& context, std::string_view message);

template <class Request, void (*Serve)(Node&, const RequestContext&, Request&)>
[[nodiscard]] constexpr Handler handler(bool offered = true) {
  return Handler{Request::kApiKey, [](Node& node, const RequestContext& context, wire::Reader& body) {
                   Request request;
                   // Bytes behind the body are ignored, as Kafka does: librdkafka 2.16 sends three in its Metadata v13.
                   if (!context.version_unsupported && !decode(body, request, context.api_version)) {
                     close_undecodable(node, context, Request::kName);
                     return;
                   }
                   Serve(node, context, request);
                 },
                 offered};
}

// The tables of the areas.
[[nodiscard]] std::span<const Handler> data_handlers();   // Produce, Fetch, ListOffsets, OffsetForLeaderEpoch
[[nodiscard]] std::span<const Handler> admin_handlers();  // admin_handlers.cpp: ApiVersions, Metadata, topics, configs, …
[[nodiscard]] std::span<const Handler> transaction_handlers();  // transaction_handlers.cpp
[[nodiscard]] std::span<const Handler> group_handlers();  // group_handlers.cpp: FindCoordinator, groups, offsets
// What only a listener of controllers serves, or serves differently there; it serves the others' too where Kafka's does.
[[nodiscard]] std::span<const Handler> controller_handlers();  // controller_handlers.cpp

}  // namespace hw::api
