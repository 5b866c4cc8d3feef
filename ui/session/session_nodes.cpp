// SPDX-License-Identifier: Apache-2.0
#include "ui/session/session_nodes.h"

#include <QCoreApplication>
#include <QTimer>
#include <utility>

namespace hw::ui {

namespace {

void refuse(std::function<void(QString)> done) {
  QTimer::singleShot(0, qApp, [done = std::move(done)] {
    done(QCoreApplication::translate("hw::ui::Session", "This is not possible with the cluster shown."));
  });
}

class NoNodes final : public SessionNodes {
 public:
  [[nodiscard]] std::vector<NodeCondition> conditions() const override { return {}; }
  void act(NodeAction, std::int32_t, std::function<void(QString error)> done) override { refuse(std::move(done)); }
  void healAll(std::function<void(QString error)> done) override { refuse(std::move(done)); }
  [[nodiscard]] QString profile() const override { return {}; }
};

}  // namespace

NodeCondition SessionNodes::conditionOf(std::int32_t node) const {
  for (const NodeCondition& each : conditions()) {
    if (each.node == node) {
      return each;
    }
  }
  return {};
}

SessionNodes& SessionNodes::of(QObject* session) {
  static NoNodes none;
  auto* nodes = dynamic_cast<SessionNodes*>(session);
  return nodes == nullptr ? none : *nodes;
}

}  // namespace hw::ui
