// SPDX-License-Identifier: Apache-2.0
#include "engine/broker/purgatory.h"

namespace hw::broker {

void DeadlineHeap::push(Parked& operation) {
  HW_ASSERT(operation.heap_index == Parked::kNone, "an operation waits once");
  heap_.push_back(&operation);
  operation.heap_index = heap_.size() - 1;
  sift_up(operation.heap_index);
}

void DeadlineHeap::remove(Parked& operation) noexcept {
  const std::size_t index = operation.heap_index;
  if (index == Parked::kNone) {
    return;
  }
  operation.heap_index = Parked::kNone;
  Parked* last = heap_.back();
  heap_.pop_back();
  if (last == &operation) {
    return;
  }
  place(index, last);
  sift_up(index);
  sift_down(last->heap_index);
}

void DeadlineHeap::sift_up(std::size_t index) noexcept {
  Parked* moving = heap_[index];
  while (index > 0) {
    const std::size_t parent = (index - 1) / 2;
    if (!before(*moving, *heap_[parent])) {
      break;
    }
    place(index, heap_[parent]);
    index = parent;
  }
  place(index, moving);
}

void DeadlineHeap::sift_down(std::size_t index) noexcept {
  Parked* moving = heap_[index];
  for (;;) {
    std::size_t child = 2 * index + 1;
    if (child >= heap_.size()) {
      break;
    }
    if (child + 1 < heap_.size() && before(*heap_[child + 1], *heap_[child])) {
      ++child;
    }
    if (!before(*heap_[child], *moving)) {
      break;
    }
    place(index, heap_[child]);
    index = child;
  }
  place(index, moving);
}

}  // namespace hw::broker
