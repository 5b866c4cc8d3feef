// SPDX-License-Identifier: Apache-2.0
// PeerChannels: requests of this node to others, and their answers. Kafka's own protocol, over one connection for each purpose, so
// that a slow fetch does not hold up a vote (as Kafka's brokers do it).
//
// Every request is answered once: by its response, or by an error (no connection, no answer in time, an answer that does not
// decode). Answers run inside answered() and failed(). Bounds: what the callers have in flight.
// Thread rule: the node's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "engine/api/core.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

namespace hw::api {

struct PeerAddress {
  BrokerId node = kNoBroker;  // kNoBroker: not known yet
  std::string host;
  std::uint16_t port = 0;
  friend auto operator<=>(const PeerAddress&, const PeerAddress&) = default;
};

class PeerChannels {
 public:
  enum class Purpose : std::uint8_t {
    quorum,        // votes and the like
    metadata,      // fetching the metadata log
    heartbeat,     // registration and heartbeats
    controller,    // forwarded requests, AlterPartition, producer ids
    replication,   // fetching partitions; one for each fetcher
    transactions,  // of coordinators: partitions of transactions, markers
  };

  explicit PeerChannels(BrokerId self) : self_(std::to_string(self.value())) {}

  template <class Response>
  using Done = std::function<void(Result<Response>)>;

  // REQUIRES: Request and Response are the generated structs of one API, `version` one that it has.
  template <class Response, class Request>
  void ask(Purpose purpose, std::int32_t index, const PeerAddress& to, const Request& request, std::int16_t version,
           Duration timeout, Outputs& out, Done<Response> done) {
    static_assert(Request::kApiKey == Response::kApiKey, "request and response of one API");
    wire::Writer writer;
    const wire::Writer::LengthMark size = writer.reserve_length();
    const std::uint64_t id = ++last_id_;
    write_header(writer, purpose, index, Request::kApiKey, version, id);
    if (!encode(writer, request, version)) {
      done(fail(Errc::invalid, std::string(Request::kName) + " cannot be sent in version " + std::to_string(version)));
      return;
    }
    writer.patch_length(size);
    send(purpose, index, to, id, writer.finish(), timeout, out, [this, version, done = std::move(done)](Result<Bytes> frame) {
      if (!frame) {
        done(fail(frame.error().code, frame.error().detail));
        return;
      }
      wire::Reader reader(std::move(*frame));
      Response response;
      if (!skip_header(reader, Response::kApiKey, version) || !decode(reader, response, version)) {
        done(fail(Errc::invalid, "an answer to " + std::string(Request::kName) + " does not decode"));
        return;
      }
      done(std::move(response));
    });
  }

  void answered(std::uint64_t id, const Bytes& frame);
  void failed(std::uint64_t id, const std::string& reason);
  // Closes the channels of replication to where a broker is not any more.
  void forget(const PeerAddress& was, Outputs& out);
  [[nodiscard]] std::size_t in_flight() const noexcept { return open_.size(); }

 private:
  using FrameDone = std::function<void(Result<Bytes>)>;
  void write_header(wire::Writer& writer, Purpose purpose, std::int32_t index, std::int16_t api_key, std::int16_t version,
                    std::uint64_t id) const;
  static bool skip_header(wire::Reader& reader, std::int16_t api_key, std::int16_t version);
  void send(Purpose purpose, std::int32_t index, const PeerAddress& to, std::uint64_t id, BytesChain frame, Duration timeout,
            Outputs& out, FrameDone done);

  const std::string self_;
  std::uint64_t last_id_ = 0;
  std::uint64_t last_channel_ = 0;
  std::map<std::tuple<Purpose, std::int32_t, PeerAddress>, ChannelId> channels_;
  struct Open {
    ChannelId channel;
    FrameDone done;
  };
  std::unordered_map<std::uint64_t, Open> open_;
};

}  // namespace hw::api
