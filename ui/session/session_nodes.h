// SPDX-License-Identifier: Apache-2.0
// SessionNodes: the nodes of a cluster as things that can be ended, paused, cut off and healed. A session that can do this is
// one; of() finds it.
//
// Nodes are also started, ended and faulted by others (hw, HTTP): conditions() is what there is, whoever did it, and frameReady()
// follows every change. Answers come later, on the UI thread, as with Session. Thread rule: UI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <functional>
#include <vector>

namespace hw::ui {

enum class NodeAction : std::uint8_t {
  start,
  stop,     // after a controlled shutdown
  kill,     // as the end of its process
  cut_power,  // a kill, and of its files is gone what was never flushed
  pause,    // a long pause of its process: its sockets stay open, and silent
  resume,
  cut_off,  // no way to and from other nodes; clients still reach it
  slow,     // what it sends to other nodes, and they to it, is late
  heal,     // its ways to other nodes are as they should be
};

// What was done to a node by hand.
struct NodeCondition {
  std::int32_t node = -1;
  bool down = false;
  bool killed = false;  // down, without a shutdown
  bool paused = false;
  bool cut_off = false;
  bool slow = false;
  bool working = false;  // an action is under way
  std::int64_t lost_bytes = -1;  // down by a power cut: what was written but never flushed; -1: it was none
  std::int64_t lost_files = -1;
  [[nodiscard]] bool healthy() const { return !down && !paused && !cut_off && !slow; }
  friend bool operator==(const NodeCondition&, const NodeCondition&) = default;
};

class SessionNodes {
 public:
  static constexpr int kSlowMs = 200;  // one way
  static constexpr std::int64_t kQuorumFetchTimeoutMs = 2'000;  // Kafka's default

  virtual ~SessionNodes() = default;
  // Of a Session; never null: where nodes cannot be touched (a recording), conditions() is empty and everything is refused.
  [[nodiscard]] static SessionNodes& of(QObject* session);

  // By id; empty where nodes cannot be touched.
  [[nodiscard]] virtual std::vector<NodeCondition> conditions() const = 0;
  [[nodiscard]] NodeCondition conditionOf(std::int32_t node) const;  // node -1: there is none
  // `done` has an empty error when it is done; frameReady() of the session comes before.
  virtual void act(NodeAction action, std::int32_t node, std::function<void(QString error)> done) = 0;
  // Where hw and other programs control the same nodes, HOST:PORT; empty: nowhere, and why not (empty as well: nobody wanted it).
  struct ControlPort {
    QString address;
    QString problem;
    friend bool operator==(const ControlPort&, const ControlPort&) = default;
  };
  [[nodiscard]] virtual ControlPort controlPort() const { return {}; }
  // Resumes, starts and connects whatever is not as it should be.
  virtual void healAll(std::function<void(QString error)> done) = 0;
  // Which time-outs are shorter here than Kafka's, for people; empty: none.
  [[nodiscard]] virtual QString profile() const = 0;
  // controller.quorum.fetch.timeout.ms of this cluster.
  [[nodiscard]] virtual std::int64_t quorumFetchTimeoutMs() const { return kQuorumFetchTimeoutMs; }
};

}  // namespace hw::ui
