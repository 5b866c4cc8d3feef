// SPDX-License-Identifier: Apache-2.0
// DemoTraffic: what makes the picture move before anybody has connected. A producer writes orders of six customers, four a
// second, to a topic with three partitions and as many replicas as there are nodes, three at most; a group of two reads them. It is
// given every node's address, so it goes on while one of them is down. A paced load can be added. All of it over real connections. Only start() and setLoad()
// create the topic: when somebody deletes it, the traffic waits until it is there again.
// Thread rule: UI thread; the traffic itself runs on the ClientRunner's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/node/client_runner.h"

namespace hw::ui {

// What the window's own producers still wait for when it closes: the broker in this process answers within that, and
// records for a topic that is gone are not worth a wait.
inline constexpr std::int64_t kProducersCloseMs = 200;

class DemoTraffic {
 public:
  static constexpr const char* kTopic = "demo.orders";
  static constexpr const char* kGroup = "demo.billing";
  static constexpr int kPartitions = 3;

  // `clients` outlives this.
  DemoTraffic(node::ClientRunner& clients, std::string bootstrap, std::int16_t replicas = 1);
  ~DemoTraffic();

  void start();  // creates the topic where it is missing
  void stop();
  [[nodiscard]] bool running() const;
  void setLoad(int records_per_second);  // 0: none

 private:
  struct State;
  std::shared_ptr<State> state_;
  bool running_;
};

}  // namespace hw::ui
