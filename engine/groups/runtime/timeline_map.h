// SPDX-License-Identifier: Apache-2.0
// TimelineMap: a map in which changes are visible at once to whoever asks for the latest state, and
// separately to whoever asks for the committed state; changes are committed or rolled back by the
// append that carries them.
//
// Epochs are append ids: they rise. commit() takes them in order from the oldest, rollback() from
// the newest. A key without a value in either view occupies no memory. Cost: one list node per key,
// one short vector while changes are open. Thread rule: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/assert.h"

namespace hw::groups {

template <class Key, class Value, class Compare = std::less<>>
class TimelineMap {
 public:
  class Cell {
   public:
    [[nodiscard]] const Value* committed() const noexcept {
      return committed_ ? &*committed_ : nullptr;
    }

    [[nodiscard]] const Value* latest() const noexcept {
      if (open_.empty()) {
        return committed();
      }
      return open_.back().second ? &*open_.back().second : nullptr;
    }

   private:
    friend class TimelineMap;
    std::optional<Value> committed_;
    std::vector<std::pair<std::uint64_t, std::optional<Value>>> open_;  // oldest first
  };

  using Cells = std::map<Key, Cell, Compare>;

  template <class K>
  [[nodiscard]] const Value* latest(const K& key) const {
    const auto found = cells_.find(key);
    return found == cells_.end() ? nullptr : found->second.latest();
  }

  template <class K>
  [[nodiscard]] const Value* committed(const K& key) const {
    const auto found = cells_.find(key);
    return found == cells_.end() ? nullptr : found->second.committed();
  }

  // In key order; a cell may have no value in the view that is asked for.
  [[nodiscard]] const Cells& cells() const noexcept { return cells_; }

  // A change that belongs to the append `epoch`. nullopt removes. REQUIRES: epoch >= every open
  // one.
  void set(std::uint64_t epoch, const Key& key, std::optional<Value> value) {
    HW_ASSERT(journal_.empty() || journal_.back().first <= epoch, "epochs of a timeline rise");
    const auto cell = cells_.try_emplace(key).first;
    cell->second.open_.emplace_back(epoch, std::move(value));
    journal_.emplace_back(epoch, cell);
  }

  // A change that is committed already (replay of a log). REQUIRES: nothing is open.
  void set_committed(const Key& key, std::optional<Value> value) {
    HW_ASSERT(journal_.empty(), "a log is replayed before anything is open");
    if (value) {
      cells_[key].committed_ = std::move(value);
    } else {
      cells_.erase(key);
    }
  }

  // Commits every change up to `epoch`; `changed(key, old, new)` is told of each, null where there
  // is no value.
  template <class Changed>
  void commit(std::uint64_t epoch, Changed changed) {
    while (!journal_.empty() && journal_.front().first <= epoch) {
      const auto at = journal_.front().second;
      journal_.pop_front();
      Cell& cell = at->second;
      std::optional<Value> next = std::move(cell.open_.front().second);
      cell.open_.erase(cell.open_.begin());
      std::optional<Value> old = std::exchange(cell.committed_, std::move(next));
      changed(at->first, old ? &*old : nullptr, cell.committed());
      if (!cell.committed_ && cell.open_.empty()) {
        cells_.erase(at);
      }
    }
  }

  // Forgets every open change of `epoch` and later.
  void rollback(std::uint64_t epoch) {
    while (!journal_.empty() && journal_.back().first >= epoch) {
      const auto at = journal_.back().second;
      journal_.pop_back();
      at->second.open_.pop_back();
      if (!at->second.committed_ && at->second.open_.empty()) {
        cells_.erase(at);
      }
    }
  }

  [[nodiscard]] bool has_open() const noexcept { return !journal_.empty(); }

 private:
  Cells cells_;
  std::deque<std::pair<std::uint64_t, typename Cells::iterator>> journal_;  // oldest first
};

}  // namespace hw::groups
