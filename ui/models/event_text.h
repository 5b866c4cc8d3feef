// SPDX-License-Identifier: Apache-2.0
// Engine events in words: a sentence, a glyph and the object each is about. The engine sends facts only.
// Thread rule: UI thread only (tr).
#pragma once

#include <QString>
#include <array>
#include <cstdint>

#include "engine/observe/cluster_view.h"
#include "ui/session/selection.h"
#include "ui/theme/glyphs.h"

namespace hw::ui {

// How much an event matters. Mostly from its glyph, so that colour, shape and filter say the same.
enum class Severity : std::uint8_t { info, notice, warning, error };
inline constexpr std::array<Severity, 4> kSeverities = {Severity::info, Severity::notice, Severity::warning, Severity::error};
[[nodiscard]] QString severity_word(Severity severity);  // "warning": stable, never translated, as filters are written

struct EventText {
  QString kind;      // "leader.elected": stable, never translated
  QString sentence;  // "demo.orders/2: leader is node 1, epoch 3"
  Glyph glyph = Glyph::none;
  Severity severity = Severity::info;
  Selection about;
  QString topic;  // what the filter asks for; empty, -1: it has none
  std::int32_t partition = -1;
  QString group;
  QString client;
  bool internal = false;  // concerns a topic that Kafka keeps for itself
  bool detail = false;    // part of something larger (a replica opened); left out of the short list
};

// The end of a sentence that says what a replica of the metadata log has become ("…, because …"); empty: nothing to add.
[[nodiscard]] QString quorum_cause_text(event::QuorumCause cause);

// What a view calls the objects that an event knows by number: kept, an event can be described when no view has them any more.
struct EventNames {
  QString topic;  // or its id, where the view has it no more
  bool internal = false;
  QString client;
};
[[nodiscard]] EventNames names_of(const event::Any& event, const observe::ClusterView& view);

[[nodiscard]] EventText describe_event(const event::Any& event, BrokerId node, const EventNames& names);
[[nodiscard]] EventText describe_event(const observe::RecentEvent& event, const observe::ClusterView& view);

}  // namespace hw::ui
