// SPDX-License-Identifier: Apache-2.0
// Purgatory: requests that wait for something to happen to a partition, or for their deadline, whichever comes first.
//
// An operation stands in an intrusive list of each partition it watches and in one heap of deadlines. Waking costs a
// walk over the watchers of that one partition; nothing is allocated per record or per wake-up.
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/assert.h"
#include "engine/base/ids.h"
#include "engine/base/time.h"

namespace hw::broker {

// The caller's name of a request; comes back with its answer.
struct Ticket {
  ConnectionId connection;
  std::uint64_t serial = 0;
  friend bool operator==(const Ticket&, const Ticket&) = default;
};

struct Parked {
  enum class Kind : std::uint8_t { fetch, produce };
  explicit Parked(Kind which) noexcept : kind(which) {}
  Kind kind;
  Ticket ticket;
  Instant deadline;
  std::uint64_t order = 0;        // of parking; breaks ties of deadlines, so that runs repeat
  std::size_t heap_index = kNone;  // place in the deadline heap
  bool woken = false;              // stands in the list of those to look at
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
};

struct Watch {
  Watch* previous = nullptr;
  Watch* next = nullptr;
  class PurgatoryList* list = nullptr;
  Parked* operation = nullptr;
};

class PurgatoryList {
 public:
  PurgatoryList() = default;
  PurgatoryList(const PurgatoryList&) = delete;
  PurgatoryList& operator=(const PurgatoryList&) = delete;
  ~PurgatoryList() {
    while (first_ != nullptr) {
      remove(*first_);
    }
  }
  void add(Watch& watch) noexcept {
    HW_ASSERT(watch.list == nullptr, "P3");
    watch.list = this;
    watch.previous = last_;
    watch.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &watch;
    last_ = &watch;
  }
  static void remove(Watch& watch) noexcept {
    if (watch.list == nullptr) {
      return;
    }
    PurgatoryList& list = *watch.list;
    (watch.previous == nullptr ? list.first_ : watch.previous->next) = watch.next;
    (watch.next == nullptr ? list.last_ : watch.next->previous) = watch.previous;
    watch = Watch{nullptr, nullptr, nullptr, watch.operation};
  }
  [[nodiscard]] Watch* first() const noexcept { return first_; }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

 private:
  Watch* first_ = nullptr;
  Watch* last_ = nullptr;
};

// A binary heap by (deadline, order) that can drop any element.
class DeadlineHeap {
 public:
  void push(Parked& operation);
  void remove(Parked& operation) noexcept;
  [[nodiscard]] Parked* earliest() const noexcept { return heap_.empty() ? nullptr : heap_.front(); }
  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }

 private:
  [[nodiscard]] static bool before(const Parked& a, const Parked& b) noexcept {
    return a.deadline != b.deadline ? a.deadline < b.deadline : a.order < b.order;
  }
  void place(std::size_t index, Parked* operation) noexcept {
    heap_[index] = operation;
    operation->heap_index = index;
  }
  void sift_up(std::size_t index) noexcept;
  void sift_down(std::size_t index) noexcept;
  std::vector<Parked*> heap_;
};

}  // namespace hw::broker
