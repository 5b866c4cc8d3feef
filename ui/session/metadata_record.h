// SPDX-License-Identifier: Apache-2.0
// A record of the metadata log in words: its type as Kafka names it, what it says in a sentence, and what it is about.
//
// Pure; bytes that do not decode say why. Thread rule: UI thread only (tr).
#pragma once

#include <QString>
#include <cstdint>

#include "engine/observe/cluster_view.h"
#include "ui/session/selection.h"
#include "ui/session/session.h"

namespace hw::ui {

struct MetadataRecord {
  std::int64_t offset = -1;
  std::int64_t timestamp_ms = -1;
  std::int32_t epoch = -1;  // of the controller that wrote it
  QString type;             // "PartitionChange": Kafka's name without "Record"
  QString text;             // "demo.orders/2: leader 2 → 1, in sync 1 2"
  QString fields;           // all of it on one line, as the schema names them
  Selection about;          // none: the whole cluster
  bool control = false;     // written by the quorum itself, not by the controller
  bool broken = false;      // its bytes do not decode
};

// `view` names topics by their ids; topics that are gone are named by the id.
[[nodiscard]] MetadataRecord describe_metadata(const RecordRow& row, const observe::ClusterView& view);

}  // namespace hw::ui
