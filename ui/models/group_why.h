// SPDX-License-Identifier: Apache-2.0
// Why a group lags, in sentences: which partition holds the lag, who reads it, what arrives and what is handled, what else
// stands in the way (no member, a rebalance, records that are gone), and when it will have caught up. Pure.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "ui/models/group_model.h"
#include "ui/models/key_moves.h"

namespace hw::ui {

struct GroupVerdict {
  QString headline;           // one sentence
  QStringList sentences;
  QString catch_up;           // "Caught up in about 40 s"; empty: nothing to catch up
  bool never = false;         // at this rate it will not catch up
  double arriving = -1;       // records per second on the worst partition, or on all without lag; negative: not known
  double handled = -1;
  QString topic;              // of the worst partition; empty: no lag
  std::int32_t partition = -1;
};

// `keys`: what was read of the newest records of the worst partition; empty: not known.
[[nodiscard]] GroupVerdict why(const GroupFacts& facts, const std::vector<KeyCounter::Share>& keys, std::int64_t now_ms);
// "m:9 owns nothing: 4 members share 3 partitions, so 1 always waits"; empty: nobody is idle.
[[nodiscard]] QString idle_words(const observe::GroupView& group, int partitions);

}  // namespace hw::ui
