// SPDX-License-Identifier: Apache-2.0
// NodeCore: one whole node (broker, controller, coordinators) without sockets, threads or clocks.
//
// The shell feeds it requests and time; it answers with frames to send and disk jobs to run. The same object runs under
// the Asio shell and under the simulator. Requests of one connection are served one at a time, in order: the shell
// hands over the next frame of a connection only after the reply to the previous one (or its `no_reply`) came out.
// Thread rule: one thread. `now` never decreases.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/prng.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/env/disk.h"
#include "engine/event/event.h"

namespace hw::api {

struct Insides;  // insides.h

// Which of a node's listeners a connection came to. Each serves its own APIs.
enum class ListenerKind : std::uint8_t { client, controller };

// A controller as the others find it, and, for a new cluster, as one of its first voters.
struct ControllerPeer {
  BrokerId node;
  Uuid directory;  // where its metadata log will be; zero: not known
  std::string host;
  std::uint16_t port = 0;
};

struct NodeOptions {
  BrokerId node{1};
  std::string directory;                 // where the node's first log directory is, on the Disk given
  std::vector<std::string> more_directories;  // the others of log.dirs
  std::string cluster_id;                // for formatting a new directory; empty: drawn from the Prng
  std::string advertised_host = "localhost";
  std::uint16_t advertised_port = 9092;  // set before start(): the shell binds first
  bool broker = true;      // process.roles
  bool controller = true;
  std::string controller_host = "127.0.0.1";  // of the controller's listener; set before start() as well
  std::uint16_t controller_port = 0;          // 0: there is none
  // The first voters of a new cluster, this node among them where it is a controller; empty: this node alone.
  std::vector<ControllerPeer> initial_voters;
  // Where controllers are now: wins over what the metadata log says, whose ports may be of an earlier life. It is also where a
  // node that is no voter looks for the quorum (controller.quorum.bootstrap.servers, with node kNoBroker).
  std::vector<ControllerPeer> controllers;
  std::map<std::string, std::string> configs;  // Kafka's broker keys (static configuration)
  std::string log_level = "INFO";              // of the process, as Kafka names levels
};

// Time as a core needs it: monotonic for deadlines, wall for records.
struct Now {
  Instant instant;
  WallTime wall;
};

struct Outputs {
  struct Reply {
    ConnectionId connection;
    BytesChain frame;       // length prefix included; empty: no answer is owed (acks=0), go on with the next frame
    bool close_after = false;
    Duration throttle{};    // mute the connection this long after sending (KIP-219)
  };
  struct Close {
    ConnectionId connection;
    std::string reason;
  };
  // Runs on the disk pool, then comes back through disk_done(id, …). `work` touches nothing but the Disk.
  struct DiskJob {
    std::uint64_t id = 0;
    std::function<Result<void>()> work;
  };
  // A request to another node. A channel is one connection, which the shell opens when it is first used (or used again after it
  // broke) and where answers come in the order of the requests. Each request is answered by peer_answered() or
  // peer_failed(), once. When `timeout` is over, the shell breaks the connection, and everything on it has failed.
  struct PeerSend {
    ChannelId channel;
    BrokerId node;     // whom it is for; kNoBroker: not known, only where it is
    std::string host;
    std::uint16_t port = 0;
    std::uint64_t id = 0;  // of the request; never used twice
    BytesChain frame;      // length prefix included
    Duration timeout;
  };
  std::vector<Reply> replies;
  std::vector<Close> closes;
  std::vector<PeerSend> peer_sends;
  std::vector<ChannelId> peer_closes;  // not used any more; what is open on them is not answered
  std::vector<DiskJob> disk_jobs;
  std::optional<std::string> log_level;  // a client changed the level of the root logger
  void clear() {
    log_level.reset();
    replies.clear();
    closes.clear();
    peer_sends.clear();
    peer_closes.clear();
    disk_jobs.clear();
  }
};

class NodeCore {
 public:
  // `disk` and `events` outlive the core; `events` may be null (nobody watches).
  NodeCore(NodeOptions options, env::Disk& disk, event::EventSink* events,
           std::shared_ptr<event::NodeCounters> counters, Prng prng);
  ~NodeCore();
  NodeCore(const NodeCore&) = delete;
  NodeCore& operator=(const NodeCore&) = delete;

  // Formats a new directory or opens an old one (recovery included), replays metadata, registers the broker.
  // Errors: locked by somebody else, written by a newer version, not writable, corrupt beyond repair.
  Result<void> start(Now now, Outputs& out);
  [[nodiscard]] bool ready() const;  // produce and fetch work
  // Why it serves nobody any more: its metadata log, or its last log directory, cannot be written. Empty: it does. Nothing heals it
  // but another life.
  [[nodiscard]] const std::string& failure() const;

  // `counters` (may be null) get what the connection asks for, by API, and the error codes it is answered with.
  void connected(ConnectionId connection, const std::string& peer, Now now, Outputs& out,
                   std::shared_ptr<event::ConnectionCounters> counters = nullptr, ListenerKind listener = ListenerKind::client);
  [[nodiscard]] bool may_accept() const;  // false: max.connections or their rate is reached
  void disconnected(ConnectionId connection, Now now, Outputs& out);
  // What became of Outputs::peer_sends. `frame` without its length prefix.
  void peer_answered(std::uint64_t id, const Bytes& frame, Now now, Outputs& out);
  void peer_failed(std::uint64_t id, const std::string& reason, Now now, Outputs& out);
  // One request frame without its length prefix.
  void request(ConnectionId connection, Bytes frame, Now now, Outputs& out);

  // How long the node's thread worked for a request of this connection: what request_percentage quotas count. The core has no
  // clock, so the shell says it after the turn, and it counts from the connection's next answer on.
  void spent(ConnectionId connection, Duration time, Now now);

  void tick(Now now, Outputs& out);
  [[nodiscard]] Instant next_deadline() const;  // kNever: nothing to do until an input comes
  void disk_done(std::uint64_t id, const Result<void>& result, Now now, Outputs& out);

  // Controlled shutdown: the controller moves what this broker leads to others, and a leading controller hands over its epoch.
  // The node serves on until handed_over(), or until the shell will not wait any longer; stop() follows.
  void hand_over(Now now, Outputs& out);
  [[nodiscard]] bool handed_over() const;
  // What this node knows of the cluster, for whoever controls it.
  struct Standing {
    bool serves = false;                 // its clients, or, of a controller alone, its quorum
    std::optional<BrokerId> controller;  // the active one
    LeaderEpoch epoch{0};                // of the metadata log
    bool voter = false;
    struct Registered {
      BrokerId broker;
      bool fenced = true;
      bool in_controlled_shutdown = false;
    };
    std::vector<Registered> brokers;     // by id
  };
  [[nodiscard]] Standing standing() const;
  // Clean shutdown: leaves groups as they are, flushes and checkpoints every log, writes the clean-shutdown marker.
  // Synchronous: afterwards nothing is written any more.
  Result<void> stop(Now now);

  // Copies what the log of one partition holds to a reader inside this process (the window's message list). The log of
  // __cluster_metadata, which no client can fetch, is read like any other.
  struct LocalRead {
    BytesChain batches;  // whole batches; the first may begin before `from`
    Offset log_start_offset;
    Offset high_watermark;
    Offset last_stable_offset;
    Offset log_end_offset;
    struct Aborted {
      ProducerId producer_id;
      Offset first_offset;
    };
    std::vector<Aborted> aborted;  // with `committed` only: what a read_committed consumer leaves out
  };
  // `committed`: no further than the last stable offset.
  Result<LocalRead> read_local(const std::string& topic, PartitionIndex partition, Offset from, std::int32_t max_bytes,
                               bool committed = false);
  [[nodiscard]] std::int32_t max_request_bytes() const;  // socket.request.max.bytes
  [[nodiscard]] const std::string& cluster_id() const;
  [[nodiscard]] Insides insides() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hw::api
