// SPDX-License-Identifier: Apache-2.0
// What the filter of the Clients page can speak about, in the shared filter language. Thread rule: UI thread only.
#pragma once

#include <string>
#include <vector>

#include "engine/observe/cluster_view.h"
#include "ui/filter/filter_program.h"
#include "ui/filter/filter_types.h"

namespace hw::ui {

// What is known of a connection beyond its ConnectionView.
struct ConnectionFacts {
  const observe::ConnectionView* connection = nullptr;
  double requests = 0;   // a second
  double bytes_in = 0;
  double bytes_out = 0;
  bool rated = false;  // long enough seen that these are known
  bool built_in = false;
  int siblings = 1;      // connections of clients with the same id, software and host, this one included
  std::vector<std::string> groups;  // that it is a member of
};

// id, software, version, host, from, node, connection, connections, group, requests, received, sent, errors, error, api, since,
// built_in; words alone: in id, software, version, from, api, error or group
[[nodiscard]] const filter::VocabularyPtr& client_vocabulary();
[[nodiscard]] bool matches(const filter::Program& program, const ConnectionFacts& facts);

}  // namespace hw::ui
