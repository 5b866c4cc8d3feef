// SPDX-License-Identifier: Apache-2.0
#include "ui/models/key_moves.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "engine/client/partitioner.h"

namespace hw::ui {

void KeyCounter::add(const std::optional<Bytes>& key) {
  ++records_;
  if (!key) {
    ++keyless_;
    return;
  }
  const std::string_view text = key->text();
  if (const auto at = keys_.find(text); at != keys_.end()) {
    ++at->second;
  } else if (keys_.size() < kKeysMax) {
    keys_.emplace(std::string(text), 1);
  } else {
    full_ = true;
  }
}

KeyMoves KeyCounter::moves(std::int32_t partitions, std::int32_t then) const {
  KeyMoves out;
  out.keyless = keyless_;
  for (const auto& [key, count] : keys_) {
    KeyMove move;
    move.key = Bytes::copy_of(key);
    move.records = count;
    move.from = client::partition_for_key(move.key.span(), partitions);
    move.to = client::partition_for_key(move.key.span(), then);
    out.records += count;
    if (move.from != move.to) {
      out.moved_records += count;
      ++out.moved_keys;
    }
    out.keys.push_back(std::move(move));
  }
  std::stable_sort(out.keys.begin(), out.keys.end(), [](const KeyMove& a, const KeyMove& b) { return a.records > b.records; });
  return out;
}

std::vector<KeyCounter::Share> KeyCounter::shares(std::size_t most) const {
  std::vector<std::pair<std::int64_t, const std::string*>> all;
  for (const auto& [key, count] : keys_) {
    all.emplace_back(count, &key);
  }
  const std::size_t n = std::min(most, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), all.end(),
                    [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Share> out;
  for (std::size_t i = 0; i < n; ++i) {
    out.push_back({Bytes::copy_of(*all[i].second), static_cast<double>(all[i].first) / static_cast<double>(std::max<std::int64_t>(1, records_))});
  }
  return out;
}

double expected_move(std::int32_t partitions, std::int32_t then) {
  if (partitions <= 0 || then <= 0) {
    return 0;
  }
  const auto common = static_cast<double>(std::lcm(static_cast<std::int64_t>(partitions), static_cast<std::int64_t>(then)));
  return 1.0 - static_cast<double>(std::min(partitions, then)) / common;
}

}  // namespace hw::ui
