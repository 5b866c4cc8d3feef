// SPDX-License-Identifier: Apache-2.0
// What the inspector says about an object: sections of facts, sentences and formulas, sampled from a view.
//
// Pure: a view and a selection in, words and numbers out; no widget. Two calls with the same structure differ only in
// values, so the inspector updates labels in place. Order of sections: state, explain, history, actions.
// Thread rule: UI thread only (tr).
#pragma once

#include <QString>
#include <QStringList>
#include <QVariantMap>
#include <vector>

#include "engine/observe/cluster_view.h"
#include "ui/session/selection.h"
#include "ui/session/session.h"
#include "ui/session/session_nodes.h"
#include "ui/theme/glyphs.h"

namespace hw::ui {

struct Fact {
  enum class Tone : std::uint8_t { text, text2, ok, warn, err } tone = Tone::text;
  QString key;
  QString value;
  Glyph glyph = Glyph::none;
  bool explained = false;   // dotted underline; leads to the Explain tab
  bool words = false;       // the value is prose, not data
  Selection link;           // leads to this object
};

struct FactAction {
  QString text;
  QString command;
  QVariantMap args;
  QString cap;
  bool danger = false;
};

struct FactSection {
  QString label;
  std::vector<Fact> facts;
  QString prose;        // may hold <b>…</b>
  QStringList formula;  // lines; a result first
  QString note;         // quieter than prose
  std::vector<FactAction> actions;
};

struct InspectorFacts {
  bool exists = true;
  QString title;     // the address
  QString subtitle;  // "Partition · replicas 1"
  std::vector<FactSection> overview;
  std::vector<FactSection> explain;
  std::vector<FactSection> config;
};

// What a session knows beside the view.
struct InspectorContext {
  QString cluster_name;
  QString bootstrap;                  // every broker's, commas between them
  StorageInfo storage;
  const RecordRow* record = nullptr;  // of a selected record, once it has been read
  QString record_error;
  std::int64_t quorum_fetch_timeout_ms = 2'000;
  std::int64_t now_ms = 0;  // wall time; 0: that of the call
  std::vector<NodeCondition> conditions;  // what was done to nodes by hand
};

[[nodiscard]] InspectorFacts inspect(const observe::ClusterView& view, const Selection& selection,
                                     const InspectorContext& context);

// True where both have the same sections, keys and actions in the same order.
[[nodiscard]] bool same_shape(const std::vector<FactSection>& a, const std::vector<FactSection>& b);

}  // namespace hw::ui
