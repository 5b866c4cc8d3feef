// SPDX-License-Identifier: Apache-2.0
// Where keys will go when a topic gets more partitions: the partitioner takes the hash of a key modulo the number of
// partitions, so most keys change their partition, and their order across the change is lost. Pure.
#pragma once

#include <QString>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/bytes.h"

namespace hw::ui {

struct KeyMove {
  Bytes key;
  std::int64_t records = 0;  // seen with this key
  std::int32_t from = 0;
  std::int32_t to = 0;
};
struct KeyMoves {
  std::vector<KeyMove> keys;        // most records first
  std::int64_t records = 0;         // with a key
  std::int64_t moved_records = 0;   // of keys that move
  std::int64_t moved_keys = 0;
  std::int64_t keyless = 0;         // records without a key: spread anyway
};
// Keys as they were read, in any order.
class KeyCounter {
 public:
  static constexpr std::size_t kKeysMax = 5'000;
  void add(const std::optional<Bytes>& key);
  [[nodiscard]] KeyMoves moves(std::int32_t partitions, std::int32_t then) const;
  [[nodiscard]] std::size_t keys() const { return keys_.size(); }
  [[nodiscard]] std::int64_t records() const { return records_; }
  [[nodiscard]] bool full() const { return full_; }
  // The most frequent keys with their share of all records, largest first.
  struct Share {
    Bytes key;
    double share = 0;
  };
  [[nodiscard]] std::vector<Share> shares(std::size_t most) const;

 private:
  std::map<std::string, std::int64_t, std::less<>> keys_;
  std::int64_t records_ = 0;
  std::int64_t keyless_ = 0;
  bool full_ = false;  // more keys came than are counted
};
// Of evenly spread keys: 1 − a / lcm(a, b). 3 → 4: 0.75, 3 → 6: 0.5.
[[nodiscard]] double expected_move(std::int32_t partitions, std::int32_t then);

}  // namespace hw::ui
