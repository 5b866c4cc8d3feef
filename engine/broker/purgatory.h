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
  enum class Kind : std::uint8_t { fetch, produce, delete_records };
  explicit Parked(Kind which) noexcept : kind(which) {}
  Kind kind;
  Ticket ticket;
  Instant deadline;
  std::uint64_t order = 0;        // of parking; breaks ties of deadlines, so that runs repeat
  std::size_t heap_index = kNone;  // place in the deadline heap
  bool woken = false;              // stands in the list of those to look at
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
};

// An intrusive list: a node stands in one list at most, and leaves it in constant time. Nodes have `previous`, `next` and
// `list`; a list that goes away lets go of them.
template <class Node>
class HookList {
 public:
  HookList() = default;
  HookList(const HookList&) = delete;
  HookList& operator=(const HookList&) = delete;
  ~HookList() {
    while (first_ != nullptr) {
      remove(*first_);
    }
  }
  void add(Node& node) noexcept {
    HW_ASSERT(node.list == nullptr, "P3");
    node.list = this;
    node.previous = last_;
    node.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &node;
    last_ = &node;
  }
  static void remove(Node& node) noexcept {
    if (node.list == nullptr) {
      return;
    }
    HookList& list = *node.list;
    (node.previous == nullptr ? list.first_ : node.previous->next) = node.next;
    (node.next == nullptr ? list.last_ : node.next->previous) = node.previous;
    node.previous = nullptr;
    node.next = nullptr;
    node.list = nullptr;
  }
  [[nodiscard]] Node* first() const noexcept { return first_; }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

// An operation's interest in something that can wake it.
struct Watch {
  Watch* previous = nullptr;
  Watch* next = nullptr;
  HookList<Watch>* list = nullptr;
  Parked* operation = nullptr;
};
using PurgatoryList = HookList<Watch>;

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
