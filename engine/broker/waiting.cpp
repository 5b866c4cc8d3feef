// SPDX-License-Identifier: Apache-2.0
// Those who wait: parked, woken, answered, expired.
#include <algorithm>
#include <utility>

#include "engine/broker/broker_impl.h"

namespace hw::broker {

namespace {

void stop_watching(ParkedUntilAll& operation) noexcept {
  for (Watch& watch : operation.watches) {
    PurgatoryList::remove(watch);
  }
}

}  // namespace

void Broker::Impl::park(std::unique_ptr<ParkedFetch> operation, Instant deadline) {
  Parked& waiting_one = *operation;
  enter(waiting_one, deadline);
  parked_fetches.emplace(&waiting_one, std::move(operation));
}

void Broker::Impl::park(std::unique_ptr<ParkedProduce> operation, Instant deadline) {
  Parked& waiting_one = *operation;
  enter(waiting_one, deadline);
  parked_produces.emplace(&waiting_one, std::move(operation));
}

void Broker::Impl::park(std::unique_ptr<ParkedDelete> operation, Instant deadline) {
  Parked& waiting_one = *operation;
  enter(waiting_one, deadline);
  parked_deletes.emplace(&waiting_one, std::move(operation));
}

void Broker::Impl::watch(ParkedUntilAll& operation, PurgatoryList Partition::*list) {
  operation.watches.resize(operation.pending.size());
  for (std::size_t i = 0; i < operation.pending.size(); ++i) {
    operation.watches[i].operation = &operation;
    const ParkedUntilAll::Pending& pending = operation.pending[i];
    (at(hosted(pending.topic_id), pending.partition)->*list).add(operation.watches[i]);
  }
}

void Broker::Impl::answer_by(Parked& operation, Instant deadline) {
  if (deadline < operation.deadline) {
    heap.remove(operation);
    operation.deadline = deadline;
    heap.push(operation);
  }
}

void Broker::Impl::enter(Parked& operation, Instant deadline) {
  operation.deadline = std::min(deadline, kNever);
  operation.order = ++parked_count;
  heap.push(operation);
  if (operation.ticket.connection.value() != 0) {
    by_connection.insert_or_assign(operation.ticket.connection, &operation);
  }
}

void Broker::Impl::leave(Parked& operation) {
  heap.remove(operation);
  if (operation.woken) {
    operation.woken = false;
    std::replace(woken.begin(), woken.end(), &operation, static_cast<Parked*>(nullptr));
  }
  if (operation.ticket.connection.value() != 0) {
    const auto it = by_connection.find(operation.ticket.connection);
    if (it != by_connection.end() && it->second == &operation) {
      by_connection.erase(it);
    }
  }
  switch (operation.kind) {
    case Parked::Kind::fetch: {
      auto node = parked_fetches.extract(&operation);
      if (FetchSession* session = sessions.find(node.mapped()->session_id);
          session != nullptr && session->waiting == &operation) {
        session->waiting = nullptr;
      }
      give_back(std::move(node.mapped()));
      break;
    }
    case Parked::Kind::produce:
      stop_watching(*parked_produces.extract(&operation).mapped());
      break;
    case Parked::Kind::delete_records:
      stop_watching(*parked_deletes.extract(&operation).mapped());
      break;
  }
}

void Broker::Impl::settle(Now now, BrokerOutputs& out) {
  answer_woken(now, out);
  send_to_peers(now, out);
}

void Broker::Impl::answer_woken(Now now, BrokerOutputs& out) {
  while (!woken.empty() || !internal_done.empty()) {
    for (std::size_t i = 0; i < woken.size(); ++i) {
      Parked* operation = woken[i];
      if (operation != nullptr) {
        operation->woken = false;
        look_at(*operation, now, false, out);
      }
    }
    woken.clear();
    run_internal_done();
  }
}

void Broker::Impl::look_at(Parked& operation, Now now, bool must_answer, BrokerOutputs& out) {
  bool answered = false;
  switch (operation.kind) {
    case Parked::Kind::fetch:
      answered = look_at_fetch(static_cast<ParkedFetch&>(operation), now, must_answer, out);
      break;
    case Parked::Kind::produce: {
      auto& produce = static_cast<ParkedProduce&>(operation);
      answered = look_at_produce(produce);
      if (answered) {
        answer_produce(produce, out);
      } else if ((must_answer || produce.overdue) && !waits_for_disk(produce)) {
        expire(produce, out);
        answered = true;
      } else if (must_answer) {
        produce.overdue = true;
        heap.remove(produce);
        produce.deadline = kNever;
        heap.push(produce);
      }
      break;
    }
    case Parked::Kind::delete_records: {
      auto& deletion = static_cast<ParkedDelete&>(operation);
      answered = must_answer || look_at_delete(deletion);  // too late is too late, as in Kafka
      if (answered) {
        answer_delete(deletion, out);
      }
      break;
    }
  }
  if (answered) {
    leave(operation);
  }
}

void Broker::Impl::tick(Now now, BrokerOutputs& out) {
  make_again(now);
  while (Parked* first = heap.earliest()) {
    if (first->deadline > now.instant || first->deadline == kNever) {
      break;
    }
    look_at(*first, now, true, out);
  }
  settle(now, out);
}

void Broker::Impl::run_internal_done() {
  while (!internal_done.empty()) {
    auto [done, error] = std::move(internal_done.front());
    internal_done.pop_front();
    done(error);
  }
}

}  // namespace hw::broker
