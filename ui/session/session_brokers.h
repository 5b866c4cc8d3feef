// SPDX-License-Identifier: Apache-2.0
// SessionBrokers: brokers that are added to a cluster while it runs, and taken out of it again. A session that can do this is one; of()
// finds it. What is done to brokers that are there is SessionNodes.
//
// Answers come later, on the UI thread, after a frameReady() of the session. Thread rule: UI thread only.
#pragma once

#include <cstdint>
#include <functional>

#include <QObject>
#include <QString>

namespace hw::ui {

class SessionBrokers {
 public:
  virtual ~SessionBrokers() = default;

  // Of a Session; null: brokers come and go elsewhere.
  [[nodiscard]] static SessionBrokers* of(QObject* session) { return dynamic_cast<SessionBrokers*>(session); }

  // False while the cluster does not run, and in a process that is one node of several.
  [[nodiscard]] virtual bool addsBrokers() const = 0;
  // One more; it votes nowhere and holds no partition yet. `done`: its id, or -1 and an error.
  virtual void addBroker(std::function<void(std::int32_t node, QString error)> done) = 0;
  // Stops it, unregisters it and forgets it; its folder stays. Refused for one that votes. It is not asked what it holds.
  virtual void removeBroker(std::int32_t node, std::function<void(QString error)> done) = 0;
};

}  // namespace hw::ui
