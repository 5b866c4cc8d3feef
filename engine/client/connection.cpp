// SPDX-License-Identifier: Apache-2.0
#include "engine/client/connection.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/apis.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::client {
namespace {

constexpr std::int16_t kApiVersionsKey = wire::ApiVersionsRequest::kApiKey;
// Version 5 (KIP-1242) also names the broker one expects to meet, which matters to nobody here.
constexpr std::int16_t kApiVersionsHighest = 4;

std::string api_name(std::int16_t api) {
  const wire::ApiInfo* info = wire::find_api(api);
  return info == nullptr ? fmt::format("API {}", api) : std::string(info->name);
}

BytesChain frame_of(std::int16_t api, std::int16_t version, std::int32_t correlation, const std::string& client_id,
                    const std::function<bool(wire::Writer&, std::int16_t)>& encode_body) {
  wire::Writer writer;
  const wire::Writer::LengthMark length = writer.reserve_length();
  writer.int16(api);
  writer.int16(version);
  writer.int32(correlation);
  const int header = wire::request_header_version(api, version);
  if (header >= 1) {
    writer.string(client_id, false);
  }
  if (header >= 2) {
    writer.tag_count(0);
  }
  if (!encode_body(writer, version) || !writer.ok()) {
    return {};
  }
  writer.patch_length(length);
  return writer.finish();
}

}  // namespace

ClientConnection::ClientConnection(std::string client_id, std::string peer)
    : client_id_(std::move(client_id)), peer_(std::move(peer)) {}

void ClientConnection::opened(Instant deadline, std::vector<BytesChain>& sends) {
  send_api_versions(kApiVersionsHighest, deadline, sends);
}

void ClientConnection::send_api_versions(std::int16_t version, Instant deadline, std::vector<BytesChain>& sends) {
  wire::ApiVersionsRequest request;
  request.client_software_name = "highwater";
  request.client_software_version = "1.0";
  const std::int32_t correlation = next_correlation_++;
  sends.push_back(frame_of(kApiVersionsKey, version, correlation, client_id_,
                           [&request](wire::Writer& writer, std::int16_t v) { return encode(writer, request, v); }));
  in_flight_.push_back({correlation, kApiVersionsKey, version, 0, deadline, true});
}

void ClientConnection::send(Request request, std::vector<BytesChain>& sends, std::vector<Answer>& answers) {
  if (!ready_) {
    waiting_.push_back(std::move(request));
    return;
  }
  put(request, sends, answers);
}

std::int16_t ClientConnection::version_for(std::int16_t api, std::int16_t lowest, std::int16_t highest) const noexcept {
  for (const Range& range : ranges_) {
    if (range.api == api) {
      const std::int16_t version = std::min(range.highest, highest);
      return version >= range.lowest && version >= lowest ? version : std::int16_t{-1};
    }
  }
  return -1;
}

void ClientConnection::put(const Request& request, std::vector<BytesChain>& sends, std::vector<Answer>& answers) {
  Answer answer;
  answer.token = request.token;
  answer.api = request.api;
  answer.version = version_for(request.api, request.lowest, request.highest);
  if (answer.version < 0) {
    answer.error = Error{Errc::unsupported, fmt::format("the broker at {} does not offer {} in a version known here",
                                                        peer_, api_name(request.api))};
    answers.push_back(std::move(answer));
    return;
  }
  const std::int32_t correlation = next_correlation_++;
  BytesChain frame = frame_of(request.api, answer.version, correlation, client_id_, request.encode);
  if (frame.empty()) {
    answer.error = Error{Errc::invalid, fmt::format("{} cannot be sent in version {}: a field has no place in it",
                                                    api_name(request.api), answer.version)};
    answers.push_back(std::move(answer));
    return;
  }
  sends.push_back(std::move(frame));
  if (request.no_answer) {
    answers.push_back(std::move(answer));
    return;
  }
  in_flight_.push_back({correlation, request.api, answer.version, request.token, request.deadline, false});
}

Result<void> ClientConnection::receive(const Bytes& frame, std::vector<BytesChain>& sends,
                                       std::vector<Answer>& answers) {
  wire::Reader reader(frame);
  const std::int32_t correlation = reader.int32();
  if (!reader.ok()) {
    return fail(Errc::corrupt, fmt::format("{} sent a frame without a header", peer_));
  }
  if (in_flight_.empty() || in_flight_.front().correlation != correlation) {
    return fail(Errc::corrupt, fmt::format("{} answered request {}, which is not the next one", peer_, correlation));
  }
  const InFlight sent = in_flight_.front();
  in_flight_.pop_front();
  if (wire::response_header_version(sent.api, sent.version) >= 1) {
    std::vector<wire::RawTaggedField> unknown;
    if (!reader.skip_tags(unknown)) {
      return fail(Errc::corrupt, fmt::format("{} sent a broken response header", peer_));
    }
  }
  Bytes body = frame.slice(reader.position(), frame.size() - reader.position());
  if (sent.versions) {
    return take_api_versions(sent, body, sends, answers);
  }
  answers.push_back({sent.token, sent.api, sent.version, std::move(body), std::nullopt});
  return {};
}

Result<void> ClientConnection::take_api_versions(const InFlight& sent, const Bytes& body,
                                                 std::vector<BytesChain>& sends, std::vector<Answer>& answers) {
  wire::ApiVersionsResponse response;
  const bool refused = body.size() >= 2 && body.data()[0] == std::byte{0} &&
                       static_cast<std::int16_t>(body.data()[1]) ==
                           static_cast<std::int16_t>(wire::ErrorCode::unsupported_version);
  wire::Reader reader(body);
  if (!decode(reader, response, refused ? std::int16_t{0} : sent.version)) {
    return fail(Errc::corrupt, fmt::format("{} does not speak Kafka's protocol", peer_));
  }
  if (refused) {
    std::int16_t next = 0;  // the answer names what the broker takes (KIP-511)
    for (const auto& range : response.api_keys) {
      if (range.api_key == kApiVersionsKey) {
        next = std::min(range.max_version, kApiVersionsHighest);
      }
    }
    if (sent.version == 0 || next >= sent.version || next < 0) {
      return fail(Errc::unsupported, fmt::format("{} and this client have no version of ApiVersions in common", peer_));
    }
    send_api_versions(next, sent.deadline, sends);
    return {};
  }
  if (response.error_code != wire::ErrorCode::none) {
    return fail(Errc::unsupported,
                fmt::format("{} refused ApiVersions: {}", peer_, wire::error_name(response.error_code)));
  }
  ranges_.clear();
  for (const auto& range : response.api_keys) {
    ranges_.push_back({range.api_key, range.min_version, range.max_version});
  }
  ready_ = true;
  std::deque<Request> waiting;
  waiting.swap(waiting_);
  for (const Request& request : waiting) {
    put(request, sends, answers);
  }
  return {};
}

void ClientConnection::fail_all(const Error& error, std::vector<Answer>& answers) {
  for (const InFlight& sent : in_flight_) {
    if (!sent.versions) {
      answers.push_back({sent.token, sent.api, sent.version, {}, error, true});
    }
  }
  for (const Request& request : waiting_) {
    answers.push_back({request.token, request.api, 0, {}, error});
  }
  in_flight_.clear();
  waiting_.clear();
  ready_ = false;
}

Instant ClientConnection::next_deadline() const noexcept {
  Instant next = kNever;
  for (const InFlight& sent : in_flight_) {
    next = std::min(next, sent.deadline);
  }
  for (const Request& request : waiting_) {
    next = std::min(next, request.deadline);
  }
  return next;
}

}  // namespace hw::client
