// SPDX-License-Identifier: Apache-2.0
#include "ui/session/session.h"

#include <utility>

namespace hw::ui {

void Session::closeConnection(std::uint64_t /*connection*/, std::function<void(QString error)> done) {
  done(tr("Connections cannot be closed from here."));
}

void Session::checkListener(const QString& /*host*/, std::uint16_t /*port*/, std::function<void(ListenerCheck)> done) {
  ListenerCheck check;
  check.outcome = ListenerCheck::Outcome::unreachable;
  check.detail = tr("Addresses cannot be tried from here.");
  done(std::move(check));
}

bool Session::builtIn(const observe::ConnectionView& connection) const {
  // The window's own names; those of the demo are common enough that the software has to agree.
  return connection.client_id.starts_with("highwater-") ||
         (connection.client_id.starts_with("demo-") && connection.software_name == "highwater");
}

}  // namespace hw::ui
