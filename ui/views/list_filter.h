// SPDX-License-Identifier: Apache-2.0
// ListFilter: what the filters of the Topics and Groups pages can speak about, in the shared filter language.
// Thread rule: UI thread only.
#pragma once

#include "ui/filter/filter_program.h"
#include "ui/filter/filter_types.h"
#include "ui/models/group_model.h"
#include "ui/models/topic_model.h"

namespace hw::ui {

// name, partitions, rf, records, size, in, out, policy, group, lag, findings, internal; a word alone: in the name
[[nodiscard]] const filter::VocabularyPtr& topic_vocabulary();
// name, state, kind, members, lag, lag_offsets, status, topic, client, generation; a word alone: in the name
[[nodiscard]] const filter::VocabularyPtr& group_vocabulary();
[[nodiscard]] bool matches(const filter::Program& program, const TopicFacts& facts);
[[nodiscard]] bool matches(const filter::Program& program, const GroupFacts& facts);

}  // namespace hw::ui
