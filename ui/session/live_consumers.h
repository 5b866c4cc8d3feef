// SPDX-License-Identifier: Apache-2.0
// LiveConsumers: the consumers that a person adds to groups of the cluster in this process. They are clients like any
// other: a connection of their own, the group protocol, commits.
// Thread rule: UI thread; the consumers themselves run on the ClientRunner's thread.
#pragma once

#include <QPointer>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/node/client_runner.h"
#include "ui/session/admin.h"

namespace hw::ui {

class LiveConsumers {
 public:
  // `clients` outlives this. `changed` is called on the UI thread (via `context`) when a consumer crashed or has a problem.
  LiveConsumers(node::ClientRunner& clients, std::string bootstrap, QObject* context, std::function<void()> changed);
  ~LiveConsumers();

  // Empty, or why not.
  QString add(const ConsumerCommand& command);
  bool removeNewest(const std::string& group);
  // The newest one leaves and, when it has left, comes back.
  bool rejoinNewest(const std::string& group);
  [[nodiscard]] std::vector<BuiltInConsumer> list() const;

 private:
  struct Shared {  // with the runner's thread
    std::atomic<std::int64_t> records{0};
    std::atomic<bool> crashed{false};
  };
  struct Member {
    std::uint64_t id = 0;
    ConsumerCommand options;
    node::ClientHandle handle = 0;
    std::shared_ptr<Shared> shared;
    QString problem;
  };
  void start(Member& member);
  void tell(std::uint64_t id, const QString& problem, bool crashed);

  node::ClientRunner& clients_;
  const std::string bootstrap_;
  QPointer<QObject> context_;
  std::function<void()> changed_;
  std::vector<Member> members_;  // in the order in which they came
  std::uint64_t next_ = 1;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace hw::ui
