// SPDX-License-Identifier: Apache-2.0
#include "ui/session/undo_list.h"

#include <QElapsedTimer>
#include <algorithm>
#include <iterator>
#include <utility>

namespace hw::ui {

UndoList* UndoList::of(QObject* session) {
  auto* list = session->findChild<UndoList*>(QString(), Qt::FindDirectChildrenOnly);
  return list != nullptr ? list : new UndoList(session);
}

UndoList::UndoList(QObject* session) : QObject(session) {
  QElapsedTimer since;
  since.start();
  clock_ = [since] { return since.elapsed(); };
  timer_.setSingleShot(true);
  connect(&timer_, &QTimer::timeout, this, &UndoList::expire);
}

void UndoList::add(const QString& text, const QString& subject, std::function<void(std::function<void(QString error)>)> undo) {
  entries_.push_back({text, subject, clock_(), std::move(undo)});
  if (entries_.size() > kEntriesMax) {
    entries_.pop_front();
  }
  if (!timer_.isActive()) {
    timer_.start(static_cast<int>(kKeptMs) + 50);
  }
  Q_EMIT changed();
}

std::int64_t UndoList::leftMs(const Entry& entry) const { return std::max<std::int64_t>(0, entry.at_ms + kKeptMs - clock_()); }

const UndoList::Entry* UndoList::newest(const QString& subject) const {
  for (auto it = entries_.rbegin(); it != entries_.rend(); ++it) {
    if ((subject.isEmpty() || it->subject == subject) && leftMs(*it) > 0) {
      return &*it;
    }
  }
  return nullptr;
}

bool UndoList::undo(const QString& subject, const std::function<void(QString text, QString error)>& done) {
  const Entry* entry = newest(subject);
  if (entry == nullptr) {
    return false;
  }
  const Entry taken = *entry;
  entries_.erase(std::find_if(entries_.begin(), entries_.end(), [entry](const Entry& e) { return &e == entry; }));
  Q_EMIT changed();
  taken.undo([done, text = taken.text](const QString& error) { done(text, error); });
  return true;
}

void UndoList::expire() {
  while (!entries_.empty() && leftMs(entries_.front()) <= 0) {
    entries_.pop_front();
  }
  if (!entries_.empty()) {
    timer_.start(static_cast<int>(leftMs(entries_.front())) + 50);
  }
  Q_EMIT changed();
}

}  // namespace hw::ui
