// SPDX-License-Identifier: Apache-2.0
#include "ui/models/record_history.h"

#include <QCoreApplication>
#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "ui/painting/text.h"

namespace hw::ui {

namespace {

struct RecordHistory {
  Q_DECLARE_TR_FUNCTIONS(RecordHistory)
};

constexpr std::size_t kReadersMax = 8;
constexpr std::size_t kGroupsMax = 8;

QString name_of(const observe::ConnectionView& connection) {
  QString name = QString::fromStdString(connection.client_id);
  if (!connection.software_name.empty()) {
    const QString software = QString::fromStdString(connection.software_name + (connection.software_version.empty() ? "" : " " + connection.software_version));
    name = name.isEmpty() ? software : QStringLiteral("%1 (%2)").arg(name, software);
  }
  return name;
}

std::int64_t ms_of(WallTime at) { return at.ms; }

}  // namespace

RecordJournal::RecordJournal(Session* session) : QObject(session) {
  connect(session, &Session::frameReady, this, [this, session] { take(*session->view()); });
  take(*session->view());
}

RecordJournal* RecordJournal::of(Session* session) {
  auto* journal = session->findChild<RecordJournal*>(QString(), Qt::FindDirectChildrenOnly);
  return journal != nullptr ? journal : new RecordJournal(session);
}

void RecordJournal::take(const observe::ClusterView& view) {
  if (view.version == version_) {
    return;
  }
  version_ = view.version;
  const auto name = [&](ConnectionId id) {
    if (names_.count(id.value()) != 0) {
      return;
    }
    const auto at = view.connections->find(id);
    if (at == view.connections->end() || at->second == nullptr) {
      return;
    }
    if (names_.size() >= kNamesMax) {
      names_.erase(names_.begin());  // the oldest connection
    }
    names_[id.value()] = name_of(*at->second);
  };
  for (const event::Stamped& stamped : view.batches) {
    if (const auto* e = std::get_if<event::BatchAppended>(&stamped.event); e != nullptr) {
      name(e->connection);
      appends_.push_back({e->topic_id, e->partition.value(), e->base_offset.value(), e->last_offset.value(), e->size_bytes, e->node.value(),
                          e->connection.value(), ms_of(stamped.at)});
    }
  }
  for (const event::Stamped& stamped : view.fetches) {
    if (const auto* e = std::get_if<event::RecordsFetched>(&stamped.event); e != nullptr) {
      name(e->connection);
      fetches_.push_back({e->topic_id, e->partition.value(), e->from.value(), e->connection.value(), ms_of(stamped.at)});
    }
  }
  while (appends_.size() > kKept) {
    appends_.pop_front();
  }
  while (fetches_.size() > kKept) {
    fetches_.pop_front();
  }
}

const RecordJournal::Append* RecordJournal::appendOf(const Uuid& topic, std::int32_t partition, std::int64_t offset) const {
  const auto at = std::find_if(appends_.rbegin(), appends_.rend(), [&](const Append& a) {
    return a.partition == partition && a.first <= offset && offset <= a.last && a.topic_id == topic;
  });
  return at == appends_.rend() ? nullptr : &*at;
}

std::vector<RecordJournal::Fetch> RecordJournal::readersOf(const Uuid& topic, std::int32_t partition, std::int64_t offset) const {
  std::vector<Fetch> out;
  std::map<std::uint64_t, Fetch> last;  // of a connection, at or before the offset
  for (const Fetch& fetch : fetches_) {
    if (fetch.partition != partition || !(fetch.topic_id == topic)) {
      continue;
    }
    if (fetch.from <= offset) {
      last[fetch.connection] = fetch;
      continue;
    }
    // It went on behind the record: the answer before had it.
    if (const auto before = last.find(fetch.connection); before != last.end()) {
      const bool known = std::any_of(out.begin(), out.end(), [&](const Fetch& f) { return f.connection == fetch.connection; });
      if (!known) {
        out.push_back(before->second);
      }
      last.erase(before);
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Fetch& a, const Fetch& b) { return a.at_ms < b.at_ms; });
  return out;
}

QString RecordJournal::nameOf(std::uint64_t connection) const {
  const auto at = names_.find(connection);
  return at == names_.end() ? QString() : at->second;
}

std::vector<HistoryStep> record_history(const observe::ClusterView& view, const RecordJournal& journal, const QString& topic, const RecordRow& row) {
  std::vector<HistoryStep> steps;
  const observe::TopicView* t = view.find_topic(topic.toStdString());
  if (t == nullptr || row.partition < 0 || row.partition >= static_cast<std::int32_t>(t->partitions.size())) {
    return steps;
  }
  const auto who = [&](std::uint64_t connection) {
    const QString name = journal.nameOf(connection);
    return name.isEmpty() ? RecordHistory::tr("connection %1").arg(connection) : RecordHistory::tr("%1, connection %2").arg(name).arg(connection);
  };
  const RecordJournal::Append* append = journal.appendOf(t->id, row.partition, row.offset);
  QStringList produced;
  if (append != nullptr) {
    produced << who(append->connection);
  }
  if (row.producer_id >= 0) {
    produced << RecordHistory::tr("producer %1 epoch %2, sequence %3").arg(row.producer_id).arg(row.producer_epoch)
                    .arg(row.base_sequence < 0 ? -1 : row.base_sequence + (row.offset - row.batch_base_offset));
  }
  steps.push_back({row.log_append_time ? -1 : row.timestamp_ms, RecordHistory::tr("produced"),
                   produced.isEmpty() ? RecordHistory::tr("before this window watched; not idempotent, so nothing tells by whom") : produced.join(QStringLiteral(" · "))});
  // Retries of the same batch that the leader recognised.
  std::int64_t again = 0;
  const HistoryStep* deleted = nullptr;
  HistoryStep gone;
  for (const observe::RecentEvent& recent : *view.recent) {
    if (recent.event == nullptr) {
      continue;
    }
    if (const auto* e = std::get_if<event::DuplicateSuppressed>(recent.event.get());
        e != nullptr && e->topic_id == t->id && e->partition.value() == row.partition && e->original_base_offset.value() == row.batch_base_offset) {
      ++again;
    } else if (const auto* moved = std::get_if<event::LogStartMoved>(recent.event.get());
               moved != nullptr && moved->topic_id == t->id && moved->partition.value() == row.partition && moved->from.value() <= row.offset &&
               row.offset < moved->to.value()) {
      gone.at_ms = ms_of(recent.at);
      gone.what = RecordHistory::tr("deleted");
      gone.detail = moved->cause == event::DeletionCause::records          ? RecordHistory::tr("with DeleteRecords, all before %1").arg(moved->to.value())
                    : moved->cause == event::DeletionCause::retention_time ? RecordHistory::tr("by retention.ms, all before %1").arg(moved->to.value())
                    : moved->cause == event::DeletionCause::retention_size ? RecordHistory::tr("by retention.bytes, all before %1").arg(moved->to.value())
                                                                           : RecordHistory::tr("with the log, which began anew");
      deleted = &gone;
    }
  }
  const auto& partition = t->partitions[static_cast<std::size_t>(row.partition)];
  HistoryStep stored;
  stored.what = RecordHistory::tr("appended");
  if (append != nullptr) {
    stored.at_ms = append->at_ms;
    stored.detail = RecordHistory::tr("by node %1 in a batch of %2, %3").arg(append->node)
                        .arg(append->last - append->first + 1).arg(format_bytes(append->size_bytes));
  } else {
    stored.at_ms = row.log_append_time ? row.timestamp_ms : -1;
    stored.detail = row.log_append_time ? RecordHistory::tr("at its log append time") : RecordHistory::tr("before this window watched");
  }
  if (row.leader_epoch >= 0) {
    stored.detail += RecordHistory::tr(", leader epoch %1").arg(row.leader_epoch);
  }
  steps.push_back(std::move(stored));
  if (again > 0) {
    steps.push_back({-1, RecordHistory::tr("sent again"), RecordHistory::tr("recognised as the same batch and not stored, times: %1").arg(again)});
  }
  if (partition != nullptr) {
    const event::ReplicaCounters* c = partition->leader_counters();
    const std::int64_t high = c == nullptr ? -1 : c->high_watermark.get();
    if (c != nullptr && row.offset >= high) {
      steps.push_back({-1, RecordHistory::tr("not readable yet"), RecordHistory::tr("the high watermark is %1: replicas in sync have not all got it").arg(high)});
    } else if (c != nullptr) {
      steps.push_back({partition->replicas.size() == 1 && append != nullptr ? append->at_ms : -1, RecordHistory::tr("readable"),
                       partition->replicas.size() == 1 ? RecordHistory::tr("at once: the leader is the only replica")
                                                       : RecordHistory::tr("the high watermark has passed it, %1 now").arg(high)});
    }
  }
  const std::vector<RecordJournal::Fetch> readers = journal.readersOf(t->id, row.partition, row.offset);
  for (std::size_t i = 0; i < std::min(readers.size(), kReadersMax); ++i) {
    steps.push_back({readers[i].at_ms, RecordHistory::tr("read"), RecordHistory::tr("by %1").arg(who(readers[i].connection))});
  }
  if (readers.size() > kReadersMax) {
    steps.push_back({-1, RecordHistory::tr("read"), RecordHistory::tr("by %1 more").arg(readers.size() - kReadersMax)});
  }
  std::size_t groups = 0;
  for (const auto& [id, group] : *view.groups) {
    const auto at = std::lower_bound(group->committed.begin(), group->committed.end(), std::pair(std::string_view(t->name), row.partition),
                                     [](const auto& c, const auto& wanted) { return std::pair(std::string_view(c.topic), c.partition.value()) < wanted; });
    if (at == group->committed.end() || at->topic != t->name || at->partition.value() != row.partition || at->counters == nullptr ||
        at->counters->offset.get() < 0 || ++groups > kGroupsMax) {
      continue;
    }
    const std::int64_t offset = at->counters->offset.get();
    const QString name = QString::fromStdString(id);
    steps.push_back({-1, offset > row.offset ? RecordHistory::tr("committed") : RecordHistory::tr("waits"),
                     offset > row.offset ? RecordHistory::tr("group %1 has passed it, at %2 now").arg(name).arg(offset)
                                         : RecordHistory::tr("group %1 is at %2, %3 before it").arg(name).arg(offset).arg(format_count(row.offset - offset))});
  }
  if (groups > kGroupsMax) {
    steps.push_back({-1, RecordHistory::tr("committed"), RecordHistory::tr("other groups that read this partition: %1").arg(groups - kGroupsMax)});
  }
  if (deleted != nullptr) {
    steps.push_back(*deleted);
  }
  return steps;
}

QString history_line(const std::vector<HistoryStep>& steps) {
  QStringList words;
  std::int64_t before = -1;
  QString last;
  QStringList said;
  for (const HistoryStep& step : steps) {
    // Three readers are one word; so are two groups of which another one lies between, where no time orders them.
    if (step.what == last || (step.at_ms < 0 && said.contains(step.what))) {
      continue;
    }
    last = step.what;
    said << step.what;
    const bool both = before >= 0 && step.at_ms >= 0;
    words << (both ? RecordHistory::tr("%1 +%2").arg(step.what, format_duration(std::max<std::int64_t>(0, step.at_ms - before))) : step.what);
    before = step.at_ms >= 0 ? step.at_ms : before;
  }
  return words.join(QStringLiteral(" \u2192 "));
}

}  // namespace hw::ui
