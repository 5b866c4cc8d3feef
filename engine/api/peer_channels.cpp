// SPDX-License-Identifier: Apache-2.0
#include "engine/api/peer_channels.h"

#include <algorithm>
#include <vector>

#include "engine/wire/msg/apis.h"

namespace hw::api {

namespace {

// Correlation ids are 31 bits of what never repeats; the shell matches by order, the id only shows mistakes.
std::int32_t correlation_of(std::uint64_t id) noexcept { return static_cast<std::int32_t>(id & 0x7fff'ffffU); }

}  // namespace

void PeerChannels::write_header(wire::Writer& writer, Purpose purpose, std::int32_t index, std::int16_t api_key,
                                std::int16_t version, std::uint64_t id) const {
  writer.int16(api_key);
  writer.int16(version);
  writer.int32(correlation_of(id));
  const int header = wire::request_header_version(api_key, version);
  if (header >= 1) {
    // The names that Kafka's own nodes go by.
    switch (purpose) {
      case Purpose::quorum:
      case Purpose::metadata:
        writer.string("raft-client-" + self_, false);
        break;
      case Purpose::replication:
        writer.string("broker-" + self_ + "-fetcher-" + std::to_string(index), false);
        break;
      case Purpose::heartbeat:
      case Purpose::controller:
        writer.string(self_, false);
        break;
      case Purpose::transactions:
        writer.string("broker-" + self_ + "-txn-marker-sender", false);
        break;
    }
  }
  if (header >= 2) {
    writer.tag_count(0);
  }
}

bool PeerChannels::skip_header(wire::Reader& reader, std::int16_t api_key, std::int16_t version) {
  reader.int32();
  if (wire::response_header_version(api_key, version) >= 1) {
    for (std::uint32_t left = reader.uvarint(); left > 0 && reader.ok(); --left) {
      reader.uvarint();
      reader.raw(reader.uvarint());
    }
  }
  return reader.ok();
}

void PeerChannels::send(Purpose purpose, std::int32_t index, const PeerAddress& to, std::uint64_t id, BytesChain frame,
                        Duration timeout, Outputs& out, FrameDone done) {
  const auto [at, fresh] = channels_.try_emplace({purpose, index, to}, ChannelId(last_channel_ + 1));
  if (fresh) {
    ++last_channel_;
  }
  open_.emplace(id, Open{at->second, std::move(done)});
  out.peer_sends.push_back({at->second, to.node, to.host, to.port, id, std::move(frame), timeout});
}

void PeerChannels::answered(std::uint64_t id, const Bytes& frame) {
  auto open = open_.extract(id);
  if (!open.empty()) {
    open.mapped().done(frame);
  }
}

void PeerChannels::failed(std::uint64_t id, const std::string& reason) {
  auto open = open_.extract(id);
  if (!open.empty()) {
    open.mapped().done(fail(Errc::closed, reason));
  }
}

void PeerChannels::forget(const PeerAddress& was, Outputs& out) {
  std::vector<ChannelId> gone;
  for (auto it = channels_.begin(); it != channels_.end();) {
    if (std::get<Purpose>(it->first) == Purpose::replication && std::get<PeerAddress>(it->first) == was) {
      gone.push_back(it->second);
      it = channels_.erase(it);
    } else {
      ++it;
    }
  }
  std::vector<std::uint64_t> open;
  for (const auto& [id, request] : open_) {
    if (std::find(gone.begin(), gone.end(), request.channel) != gone.end()) {
      open.push_back(id);
    }
  }
  std::sort(open.begin(), open.end());  // the map's order is nobody's
  out.peer_closes.insert(out.peer_closes.end(), gone.begin(), gone.end());
  for (const std::uint64_t id : open) {
    failed(id, "the node is not there any more");
  }
}

}  // namespace hw::api
