// SPDX-License-Identifier: Apache-2.0
// UndoList: what an operator did in this window and how to take it back, for ten minutes. One for a session.
//
// An entry knows how to put back what was there before; the cluster may have moved on meanwhile, so taking back is a new
// action that may fail, and says so. Thread rule: UI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <cstdint>
#include <deque>
#include <functional>

namespace hw::ui {

class UndoList : public QObject {
  Q_OBJECT

 public:
  static constexpr std::int64_t kKeptMs = 600'000;
  static constexpr std::size_t kEntriesMax = 20;
  // The session's own, made with the first call.
  static UndoList* of(QObject* session);

  struct Entry {
    QString text;     // "retention.ms of orders changed"
    QString subject;  // address of what was changed
    std::int64_t at_ms = 0;
    std::function<void(std::function<void(QString error)>)> undo;
  };
  void add(const QString& text, const QString& subject, std::function<void(std::function<void(QString error)>)> undo);
  // The newest entry, also of one subject; null: none that is young enough.
  [[nodiscard]] const Entry* newest(const QString& subject = {}) const;
  // Takes the newest (of a subject) back. `done`: what happened, in words; an error is not empty.
  bool undo(const QString& subject, const std::function<void(QString text, QString error)>& done);
  [[nodiscard]] std::int64_t leftMs(const Entry& entry) const;
  // Tests set the time.
  void setClock(std::function<std::int64_t()> clock) { clock_ = std::move(clock); }

 signals:
  void changed();

 private:
  explicit UndoList(QObject* session);
  void expire();
  std::deque<Entry> entries_;
  std::function<std::int64_t()> clock_;
  QTimer timer_;
};

}  // namespace hw::ui
