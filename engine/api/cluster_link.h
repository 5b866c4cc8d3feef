// SPDX-License-Identifier: Apache-2.0
// ClusterLink: a node's part in its cluster. What its cores want of other nodes goes out through here, and the answers come back.
//
//   quorum    votes, fetches of the metadata log ──▶ the node that is named
//   lifecycle registration, heartbeats           ──▶ the active controller
//   broker    fetches of partitions              ──▶ the leader;   AlterPartition ──▶ the active controller
//   clients   what only the controller serves    ──▶ the active controller, in an Envelope
//   node      topics it needs, producer ids      ──▶ the active controller
//
// Where the active controller is this node itself, it is asked directly: no socket, no encoding, in the same turn; so a cluster of
// one node starts at once.
// Thread rule: the node's thread. Bounds: each core has its own (one heartbeat, one fetch a fetcher, one AlterPartition).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/api/core.h"
#include "engine/api/forwarding.h"
#include "engine/api/peer_channels.h"
#include "engine/base/prng.h"
#include "engine/broker/broker.h"
#include "engine/metadata/broker_lifecycle.h"
#include "engine/metadata/control_plane.h"
#include "engine/metadata/producer_id_blocks.h"
#include "engine/raft/quorum.h"
#include "engine/wire/msg/create_topics.h"

namespace hw::api {

inline constexpr std::string_view kControllerListener = "CONTROLLER";
// Where other nodes reach a controller; one without a listener for controllers (tests) names the one that it has.
[[nodiscard]] raft::VoterEndpoint controller_endpoint(const NodeOptions& options);

class ClusterLink {
 public:
  // The node, as the link needs it.
  class Host {
   public:
    virtual ~Host() = default;
    [[nodiscard]] virtual Now link_now() const = 0;
    [[nodiscard]] virtual Outputs& link_outputs() = 0;  // of the turn
    virtual void quorum_input(const raft::Input& input) = 0;
    [[nodiscard]] virtual broker::Broker* link_broker() = 0;  // null while the node has none yet
    // A request that was passed on: what came back, or why nothing did.
    virtual void forwarded(const ReplyToken& token, Result<Bytes> frame) = 0;
    // A request for which no active controller was found in time.
    virtual void forwarding_timed_out(const Forwarding::Waiting& request) = 0;
    // A request that was to be passed on, but this node has become the active controller.
    virtual void serve_here(const Forwarding::Waiting& request) = 0;
  };

  struct Settings {
    metadata::BrokerLifecycle::Options lifecycle;
    std::vector<metadata::FeatureRange> features;
    bool broker = true;
    bool controller = true;
    bool auto_join = false;  // a controller that does not vote asks for a vote (controller.quorum.auto.join.enable)
    Uuid directory;          // of the metadata log
  };

  // Options, plane and host outlive the link.
  ClusterLink(const NodeOptions& options, Settings settings, metadata::ControlPlane& control, Host& host, Prng prng);

  // --- from the node
  // Sends what is due. True: something happened, so that others may have something to do.
  bool pump();
  void tick();
  [[nodiscard]] Instant next_deadline() const noexcept;
  void peer_answered(std::uint64_t id, const Bytes& frame) { channels_.answered(id, frame); }
  void peer_failed(std::uint64_t id, const std::string& reason) { channels_.failed(id, reason); }
  void send(raft::Send&& request);
  void send(const broker::PeerFetch& fetch);
  void send(const broker::PeerListOffsets& request);
  void send(const broker::PeerAlterPartition& request);
  void controller_changed();
  void image_published(const metadata::MetadataImage& image);
  void forward(Forwarding::Waiting request) { forwarding_.add(std::move(request)); }
  void ready();           // its logs are open: the broker need not stay fenced
  void directory_failed(const Uuid& directory);
  // A replica lies in another directory than the controller thinks; it is told (AssignReplicasToDirs, KIP-858) until it took it.
  void assign_directory(const Uuid& topic_id, PartitionIndex partition, const Uuid& directory);
  void set_cordoned(std::vector<Uuid> directories);
  void begin_shutdown();
  // Asked of the active controller, wherever that is. Topics that exist or are on their way are left alone.
  void create_topics(const std::vector<std::string>& names);
  void new_producer_id(metadata::ProducerIdBlocks::Done done) { producer_ids_.next(std::move(done)); }

  // Another broker. `done` gets an error where it is not known, or does not answer.
  template <class Response, class Request>
  void ask_broker(BrokerId broker, const Request& request, std::int16_t version, Duration timeout, PeerChannels::Done<Response> done) {
    if (const std::optional<PeerAddress> to = broker_address(broker)) {
      channels_.ask<Response>(PeerChannels::Purpose::transactions, 0, *to, request, version, timeout, host_.link_outputs(), std::move(done));
    } else {
      done(fail(Errc::not_found, "the broker is not registered"));
    }
  }

  // --- facts
  [[nodiscard]] metadata::BrokerState state() const noexcept { return lifecycle_.state(); }
  [[nodiscard]] std::int64_t broker_epoch() const noexcept { return lifecycle_.broker_epoch(); }
  [[nodiscard]] bool is_active_controller() const { return control_.controller().active(); }
  // Where the active controller is reached; nothing: not known.
  [[nodiscard]] std::optional<PeerAddress> controller() const;

 private:
  bool pump_lifecycle();
  bool pump_producer_ids();
  bool pump_forwarding();
  bool pump_registration();
  bool pump_auto_join();
  void ask_to_join(const PeerAddress& leader);
  bool pump_assignments();
  void lifecycle_answered();  // acts on what an answer brought about
  // Asks the active controller: `here` where it is this node, by a request otherwise. False: nobody to ask.
  template <class Response, class Request, class Here>
  bool ask_controller(PeerChannels::Purpose purpose, const Request& request, std::int16_t version, Duration timeout, Here here,
                      PeerChannels::Done<Response> done);
  template <class Response, class Request, class Answered>
  void ask_leader(const Request& asked, Duration timeout, Answered answered);
  [[nodiscard]] std::optional<PeerAddress> broker_address(BrokerId id) const;

  const NodeOptions& options_;
  Settings settings_;
  metadata::ControlPlane& control_;
  Host& host_;
  PeerChannels channels_;
  Forwarding forwarding_;
  metadata::BrokerLifecycle lifecycle_;
  metadata::BrokerLifecycle::Outputs lifecycle_out_;
  metadata::ProducerIdBlocks producer_ids_;
  std::set<std::string> creating_;       // topics on their way
  std::vector<std::pair<BrokerId, PeerAddress>> known_brokers_;  // sorted; where they were
  std::map<std::pair<Uuid, PartitionIndex>, Uuid> assignments_;  // that the controller does not know yet; of replicas here
  bool controller_registered_ = false;   // in this life

  // What the controller is asked again and again, one question at a time, until it is so.
  struct Wish {
    bool asking = false;
    Instant again_at{};  // not before; Instant{}: every turn looks
    [[nodiscard]] bool may_ask(Instant now) const noexcept { return !asking && again_at <= now; }
    [[nodiscard]] Instant deadline() const noexcept { return asking || again_at == Instant{} ? kNever : again_at; }
    void answered(Instant next) noexcept {
      asking = false;
      again_at = next;
    }
    // `ask` sends the question, and what comes of it calls answered(), perhaps at once. False: there is nobody to ask, and no time
    // says when there will be somebody.
    template <class Ask>
    bool ask(Ask ask) {
      asking = true;
      if (!ask()) {
        answered(Instant{});
        return false;
      }
      return true;
    }
  };
  Wish registration_;  // of this controller
  Wish assignment_;
  Wish join_;
};

}  // namespace hw::api
