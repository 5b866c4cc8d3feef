// SPDX-License-Identifier: Apache-2.0
// What the filter of the event list can speak about, in the shared filter language. Thread rule: UI thread only.
#pragma once

#include "ui/filter/filter_program.h"
#include "ui/filter/filter_types.h"
#include "ui/models/event_text.h"

namespace hw::ui {

// kind, severity, topic, partition, group, node, client, about, text, time; words alone: in text, kind, about or client
[[nodiscard]] const filter::VocabularyPtr& event_vocabulary();
// `node` < 0: of no node.
[[nodiscard]] bool matches(const filter::Program& program, const EventText& event, std::int32_t node, std::int64_t at_ms);

}  // namespace hw::ui
