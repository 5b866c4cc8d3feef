// SPDX-License-Identifier: Apache-2.0
// Code with which an application connects: what to install, and a whole program that sends one record and reads it back.
// Thread rule: UI thread only (tr).
#pragma once

#include <vector>

#include <QString>

#include "engine/observe/cluster_view.h"

namespace hw::ui {

struct ConnectSnippet {
  QString id;       // stable: "java"
  QString title;    // "Java"
  QString library;  // "kafka-clients"
  QString install;  // a command or a line of a build file; may be empty
  QString code;
};

// For code and commands that name a topic: the one that holds most records, "orders" where there is none. Cost: the partitions of the cluster.
[[nodiscard]] QString example_topic(const observe::ClusterView& view);
// In the order of use; `topic` is written into the code.
[[nodiscard]] std::vector<ConnectSnippet> connect_snippets(const QString& bootstrap, const QString& topic);

}  // namespace hw::ui
