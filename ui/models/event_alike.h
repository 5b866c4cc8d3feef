// SPDX-License-Identifier: Apache-2.0
// Events that are alike: of one kind, from one node, saying the same of different objects. One node that is killed moves the leaders of
// thousands of partitions; a list of events says so in one row.
//
// Likeness needs no words, so that finding it costs next to nothing; phrase_of() has the words. Thread rule: UI thread only (tr).
#pragma once

#include <QString>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/event/event.h"
#include "ui/theme/glyphs.h"

namespace hw::ui {

enum class AlikeUnit : std::uint8_t { partition, topic, connection, time };

struct Likeness {
  enum class Say : std::uint8_t {
    leader_moved,
    leader_lost,
    leader_back,
    isr_left,
    isr_joined,
    partition_created,
    partition_changed,
    other,  // its kind says it
  };
  std::size_t kind = 0;  // index in event::Any
  Say say = Say::other;
  std::int32_t node = -1;  // that told it; -1: it is the cluster's, whoever told it first
  std::int32_t from = -1;  // nodes, or what tells one reason from another
  std::int32_t to = -1;
  std::string words;       // a group, a reason
  friend auto operator<=>(const Likeness&, const Likeness&) = default;
};

// What is known of a partition before an event; `isr` null: nothing.
struct PartitionBefore {
  BrokerId leader = kNoBroker;
  const std::vector<BrokerId>* isr = nullptr;
};

// nullopt: such an event stands alone. `node` told it.
[[nodiscard]] std::optional<Likeness> likeness_of(const event::Any& event, BrokerId node, const PartitionBefore& before);
// What is counted; with `time` the same object may come again.
[[nodiscard]] AlikeUnit unit_of(const Likeness& likeness);
// Tells the objects of alike events apart.
[[nodiscard]] std::uint64_t object_of(const event::Any& event);
[[nodiscard]] std::uint64_t object_of(const Uuid& topic, PartitionIndex partition);
// "Leader moved 2 → 1"
[[nodiscard]] QString phrase_of(const Likeness& likeness);
// "Leader moved 2 → 1: 3,334 partitions (orders/0, orders/1, …)"; `names`: the first few of `count`.
[[nodiscard]] QString alike_sentence(const Likeness& likeness, int count, const QStringList& names);
// Of the row of several; none: that of the single event.
[[nodiscard]] Glyph glyph_of(const Likeness& likeness);

}  // namespace hw::ui
