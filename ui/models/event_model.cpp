// SPDX-License-Identifier: Apache-2.0
#include "ui/models/event_model.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "ui/models/event_filter.h"
#include "ui/painting/text.h"

namespace hw::ui {

EventModel::EventModel(QObject* parent) : QAbstractTableModel(parent) {
  later_.setSingleShot(true);
  later_.setInterval(0);
  connect(&later_, &QTimer::timeout, this, [this] {
    sync(judgeSome());
    syncDropped();
    judgeLater();
    Q_EMIT judgedMore();
  });
}

void EventModel::update(const observe::ClusterView& view) {
  const EventJournal::Changes& changes = journal_.take(view);
  counted_ = false;
  if (changes.reset) {
    open_.clear();
    judgeAllAnew();
    rebuild();
    return;
  }
  if (changes.touched.empty() && changes.dropped.empty()) {
    return;
  }
  remove(changes.dropped);
  if (program_ == nullptr) {
    sync(changes.touched);
  } else {
    waiting_.insert(changes.touched.begin(), changes.touched.end());
    std::vector<Id> other = judgeSome();
    other.insert(other.end(), changes.touched.begin(), changes.touched.end());
    std::sort(other.begin(), other.end());
    other.erase(std::unique(other.begin(), other.end()), other.end());
    sync(other);
  }
  syncDropped();
  judgeLater();
}

void EventModel::setAll(bool all) {
  if (all == all_) {
    return;
  }
  all_ = all;
  judgeAllAnew();
  rebuild();
}

void EventModel::setFilter(filter::ProgramPtr program) {
  if (program == program_) {
    return;
  }
  program_ = std::move(program);
  judgeAllAnew();
  rebuild();
}

void EventModel::setSeverities(unsigned severities) {
  if (severities == severities_) {
    return;
  }
  severities_ = severities;
  rebuild();
}

EventJournal::Tally EventModel::count(Severity severity) const {
  if (program_ == nullptr) {
    return kept(severity);
  }
  if (!counted_) {
    passed_ = {};
    for (const auto& [id, run] : journal_.runs()) {
      if (const std::size_t many = inList(run) ? hits(run) : 0; many > 0) {
        EventJournal::Tally& tally = passed_[static_cast<std::size_t>(run.text.severity)];
        ++tally.rows;
        tally.events += static_cast<std::int64_t>(many);
      }
    }
    counted_ = true;
  }
  return passed_[static_cast<std::size_t>(severity)];
}

EventJournal::Tally EventModel::kept(Severity severity) const {
  EventJournal::Tally out = journal_.kept(false, severity);
  if (all_) {
    const EventJournal::Tally details = journal_.kept(true, severity);
    out.rows += details.rows;
    out.events += details.events;
  }
  return out;
}

int EventModel::hidden() const {
  int all = 0;
  for (const Severity severity : kSeverities) {
    all += kept(severity).rows;
  }
  return all - shown_;
}

// --- what a filter lets through

void EventModel::judgeAllAnew() {
  later_.stop();
  counted_ = false;
  judged_.clear();
  waiting_.clear();
  if (program_ != nullptr) {
    for (const auto& [id, run] : journal_.runs()) {
      waiting_.insert(waiting_.end(), id);
    }
    static_cast<void>(judgeSome());
    judgeLater();
  }
}

void EventModel::judgeLater() {
  if (!waiting_.empty()) {
    later_.start();
  }
}

std::vector<EventModel::Id> EventModel::judgeSome() {
  std::vector<Id> out;
  std::size_t left = kJudgedAtOnce;
  while (left > 0 && !waiting_.empty()) {
    const auto newest = std::prev(waiting_.end());
    const Run* run = journal_.find(*newest);
    if (run == nullptr || !inList(*run)) {
      waiting_.erase(newest);
      continue;
    }
    left -= judge(*run, left);
    out.push_back(run->id);
    if (judged_[run->id].seen >= static_cast<std::size_t>(run->count)) {
      waiting_.erase(newest);
    }
  }
  return out;
}

std::size_t EventModel::judge(const Run& run, std::size_t most) {
  counted_ = false;
  Judged& known = judged_[run.id];
  const auto count = static_cast<std::size_t>(run.count);
  if (count == 1) {
    known = {.seen = 1, .single = true, .hits = {}};
    if (matches(*program_, run.text, run.node, run.first_ms)) {
      known.hits.push_back(0);
    }
    return 1;
  }
  if (known.single) {
    known = {};
  }
  known.seen = std::max(known.seen, run.gone);
  known.hits.erase(known.hits.begin(), std::lower_bound(known.hits.begin(), known.hits.end(), run.gone));
  const QString phrase = QLatin1Char('\n') + phrase_of(*run.alike);
  if (run.gone > 0) {
    // Their objects are not known any more; what is asked of them fails, what is asked of the row does not.
    EventText whole = run.text;
    whole.sentence = phrase;
    whole.topic.clear();
    whole.partition = -1;
    whole.client.clear();
    whole.about = whole.about.kind == Selection::Kind::group ? whole.about : Selection();
    known.gone = matches(*program_, whole, run.node, run.first_ms);
  }
  std::size_t judged = 0;
  for (; known.seen < count && judged < most; ++known.seen, ++judged) {
    const EventJournal::Part& part = run.parts[known.seen - run.gone];
    EventText text = journal_.describe(part);
    text.sentence += phrase;  // what the row says finds it, too
    text.severity = run.text.severity;  // that of the row, which counts it
    if (matches(*program_, text, part.node.value(), part.at_ms)) {
      known.hits.push_back(known.seen);
    }
  }
  return std::max<std::size_t>(judged, 1);
}

std::size_t EventModel::hits(const Run& run) const {
  if (program_ == nullptr) {
    return static_cast<std::size_t>(run.count);
  }
  const auto known = judged_.find(run.id);
  return known == judged_.end() ? 0 : known->second.hits.size() + goneHits(run);
}

std::size_t EventModel::goneHits(const Run& run) const {
  if (program_ == nullptr) {
    return run.gone;
  }
  const auto known = judged_.find(run.id);
  return known != judged_.end() && known->second.gone ? run.gone : 0;
}

template <class Call>
void EventModel::eachHit(const Run& run, Call call) const {
  if (program_ == nullptr) {
    for (std::size_t i = 0; i < run.parts.size() && call(run.gone + i); ++i) {
    }
  } else if (const auto known = judged_.find(run.id); known != judged_.end()) {
    for (const std::size_t part : known->second.hits) {
      if (part >= run.gone && !call(part)) {
        return;
      }
    }
  }
}

// --- rows

std::vector<EventModel::Line> EventModel::linesOf(const Run& run) const {
  std::vector<Line> out;
  const std::size_t many = hits(run);
  const bool shown = inList(run) && many > 0 && (severities_ >> static_cast<unsigned>(run.text.severity) & 1U) != 0;
  if (!shown) {
    return out;
  }
  if (many == 1 && run.count > 1 && goneHits(run) == 0) {
    eachHit(run, [&](std::size_t part) {
      out.push_back({run.id, static_cast<std::int64_t>(part)});
      return false;
    });
    return out;
  }
  out.push_back({run.id, kWhole});
  if (many > 1 && open_.contains(run.id)) {
    eachHit(run, [&](std::size_t part) {
      out.push_back({run.id, static_cast<std::int64_t>(part)});
      return out.size() <= kOpenMax;
    });
    if (out.size() - 1 < many) {
      out.push_back({run.id, kRest});
    }
  }
  return out;
}

std::pair<int, int> EventModel::rowsOf(Id run) const {
  const auto first = std::lower_bound(lines_.begin(), lines_.end(), run, [](const Line& line, Id id) { return line.run < id; });
  auto last = first;
  while (last != lines_.end() && last->run == run) {
    ++last;
  }
  return {static_cast<int>(first - lines_.begin()), static_cast<int>(last - lines_.begin())};
}

void EventModel::rebuild() {
  beginResetModel();
  lines_.clear();
  shown_ = 0;
  for (const auto& [id, run] : journal_.runs()) {
    const std::vector<Line> lines = linesOf(run);
    lines_.insert(lines_.end(), lines.begin(), lines.end());
    shown_ += lines.empty() ? 0 : 1;
  }
  dropped_ = droppedText();
  if (!dropped_.isEmpty()) {
    lines_.insert(lines_.begin(), Line{});
  }
  endResetModel();
}

void EventModel::sync(const std::vector<Id>& runs) {
  std::vector<Line> fresh;  // after all that is there
  const Id last = lines_.empty() ? 0 : lines_.back().run;
  for (const Id id : runs) {
    const Run* run = journal_.find(id);
    if (run == nullptr) {
      continue;
    }
    if (id <= last) {
      syncOne(*run);
      continue;
    }
    const std::vector<Line> lines = linesOf(*run);
    fresh.insert(fresh.end(), lines.begin(), lines.end());
    shown_ += lines.empty() ? 0 : 1;
  }
  if (!fresh.empty()) {
    std::stable_sort(fresh.begin(), fresh.end(), [](const Line& a, const Line& b) { return a.run < b.run; });
    const int at = rowCount();
    beginInsertRows({}, at, at + static_cast<int>(fresh.size()) - 1);
    lines_.insert(lines_.end(), fresh.begin(), fresh.end());
    endInsertRows();
  }
}

void EventModel::syncOne(const Run& run) {
  const std::vector<Line> wanted = linesOf(run);
  const auto [first, last] = rowsOf(run.id);
  const auto begin = lines_.begin() + first;
  const auto had = static_cast<std::size_t>(last - first);
  const auto same = static_cast<int>(std::mismatch(begin, begin + static_cast<std::ptrdiff_t>(had), wanted.begin(), wanted.end()).first - begin);
  shown_ += (wanted.empty() ? 0 : 1) - (had == 0 ? 0 : 1);
  if (first + same < last) {
    beginRemoveRows({}, first + same, last - 1);
    lines_.erase(begin + same, begin + static_cast<std::ptrdiff_t>(had));
    endRemoveRows();
  }
  if (static_cast<std::size_t>(same) < wanted.size()) {
    beginInsertRows({}, first + same, first + static_cast<int>(wanted.size()) - 1);
    lines_.insert(lines_.begin() + first + same, wanted.begin() + same, wanted.end());
    endInsertRows();
  }
  // Of what stays, the row of the whole and the count of the rest say something else; single events never change.
  for (int row : {first, first + same - 1}) {
    if (row >= first && row < first + same && lines_[static_cast<std::size_t>(row)].part < 0) {
      Q_EMIT dataChanged(index(row, 0), index(row, column_count - 1));
    }
  }
}

void EventModel::remove(const std::vector<Id>& runs) {
  std::vector<std::pair<int, int>> gone;
  for (const Id id : runs) {
    judged_.erase(id);
    waiting_.erase(id);
    open_.erase(id);
    if (const auto rows = rowsOf(id); rows.first < rows.second) {
      gone.push_back(rows);
      --shown_;
    }
  }
  // From the end, so that the numbers of the others stay; neighbours go at once.
  std::sort(gone.begin(), gone.end());
  while (!gone.empty()) {
    auto [first, last] = gone.back();
    gone.pop_back();
    while (!gone.empty() && gone.back().second == first) {
      first = gone.back().first;
      gone.pop_back();
    }
    beginRemoveRows({}, first, last - 1);
    lines_.erase(lines_.begin() + first, lines_.begin() + last);
    endRemoveRows();
  }
}

void EventModel::syncDropped() {
  const QString now = droppedText();
  if (now == dropped_) {
    return;
  }
  const QString before = std::exchange(dropped_, now);
  if (before.isEmpty()) {
    beginInsertRows({}, 0, 0);
    lines_.insert(lines_.begin(), Line{});
    endInsertRows();
  } else if (now.isEmpty()) {
    beginRemoveRows({}, 0, 0);
    lines_.erase(lines_.begin());
    endRemoveRows();
  } else {
    Q_EMIT dataChanged(index(0, what), index(0, what));
  }
}

// Nothing where nothing that could be shown is missing.
QString EventModel::droppedText() const {
  if (shown_ == 0) {
    return {};
  }
  const auto of = [this](bool detail, Severity severity) {
    return (severities_ >> static_cast<unsigned>(severity) & 1U) == 0 ? 0 : static_cast<int>(std::min<std::int64_t>(journal_.dropped(detail, severity), INT32_MAX));
  };
  QStringList parts;
  if (const int n = of(false, Severity::error); n > 0) {
    parts << tr("%Ln error(s)", nullptr, n);
  }
  if (const int n = of(false, Severity::warning); n > 0) {
    parts << tr("%Ln warning(s)", nullptr, n);
  }
  if (const int n = of(false, Severity::notice); n > 0) {
    parts << tr("%Ln notice(s)", nullptr, n);
  }
  if (const int n = of(false, Severity::info); n > 0) {
    parts << tr("%Ln other event(s)", nullptr, n);
  }
  int details = 0;
  for (const Severity severity : kSeverities) {
    details += all_ ? of(true, severity) : 0;
  }
  if (details > 0) {
    parts << tr("%Ln detail(s)", nullptr, details);
  }
  if (journal_.unseen() > 0) {
    parts << tr("%Ln event(s) of before this window opened", nullptr, static_cast<int>(std::min<std::int64_t>(journal_.unseen(), INT32_MAX)));
  }
  return parts.isEmpty() ? QString() : tr("Not kept any more, the oldest of their kind: %1").arg(parts.join(QStringLiteral(", ")));
}

// --- open rows

const EventModel::Run* EventModel::runAt(int row) const {
  return row < 0 || row >= rowCount() ? nullptr : journal_.find(lines_[static_cast<std::size_t>(row)].run);
}

bool EventModel::canOpen(int row) const {
  const Run* run = runAt(row);
  return run != nullptr && lines_[static_cast<std::size_t>(row)].part == kWhole && hits(*run) > 1;
}

bool EventModel::isOpen(int row) const { return canOpen(row) && open_.contains(lines_[static_cast<std::size_t>(row)].run); }

void EventModel::setOpen(int row, bool open) {
  if (!canOpen(row) || open == isOpen(row)) {
    return;
  }
  const Run& run = *runAt(row);
  if (open) {
    open_.insert(run.id);
  } else {
    open_.erase(run.id);
  }
  syncOne(run);
}

int EventModel::outer(int row) const {
  const Run* run = runAt(row);
  return run == nullptr ? row : rowsOf(run->id).first;
}

// --- cells

QStringList EventModel::values(bool clients, int most) const {
  QStringList out;
  const auto& runs = journal_.runs();
  for (auto run = runs.rbegin(); run != runs.rend() && out.size() < most; ++run) {
    const QString& value = clients ? run->second.text.client : run->second.text.kind;
    if (inList(run->second) && !value.isEmpty() && !out.contains(value)) {
      out << value;
    }
  }
  return out;
}

const EventJournal::Part* EventModel::partAt(const Run& run, std::int64_t part) const {
  const auto at = static_cast<std::size_t>(part) - run.gone;
  return part < 0 || static_cast<std::size_t>(part) < run.gone || at >= run.parts.size() ? nullptr : &run.parts[at];
}

// A partition, or at least a topic, that all are about.
Selection EventModel::shared(const Run& run) const {
  if (run.text.about.kind != Selection::Kind::partition) {
    return run.text.about.kind == Selection::Kind::group ? run.text.about : Selection();
  }
  Selection out;
  eachHit(run, [&](std::size_t part) {
    const EventJournal::Part* event = partAt(run, static_cast<std::int64_t>(part));
    const int partition = std::visit(
        [](const auto& e) {
          if constexpr (requires { e.partition.value(); }) {
            return static_cast<int>(e.partition.value());
          } else {
            return -1;
          }
        },
        *event->event);
    if (out.none()) {
      out = Selection::ofPartition(event->names.topic, partition);
    } else if (out.topic != event->names.topic) {
      out = {};
      return false;
    } else if (out.kind == Selection::Kind::partition && out.partition != partition) {
      out = Selection::ofTopic(out.topic);
    }
    return true;
  });
  return out;
}

EventText EventModel::textOf(const Run& run, std::int64_t part) const {
  if (const EventJournal::Part* event = partAt(run, part); event != nullptr) {
    return journal_.describe(*event);
  }
  if (run.count == 1 || part >= 0) {
    return run.text;
  }
  EventText out = run.text;
  if (part == kRest) {
    const auto [first, last] = rowsOf(run.id);
    const auto left = static_cast<int>(hits(run)) - (last - first - 2);
    out.glyph = Glyph::none;
    const auto kept = static_cast<int>(hits(run) - goneHits(run)) - (last - first - 2);
    out.sentence = kept > 0 ? tr("%Ln more: a filter such as partition == 7 finds one of them", nullptr, left)
                            : tr("%Ln more, which are not kept one by one", nullptr, left);
    return out;
  }
  QStringList names = run.names;
  if (program_ != nullptr && hits(run) < static_cast<std::size_t>(run.count)) {
    names.clear();
    eachHit(run, [&](std::size_t hit) {
      names << EventJournal::nameOf(journal_.describe(run, hit));
      return names.size() < EventJournal::kNamed;
    });
  }
  out.sentence = alike_sentence(*run.alike, static_cast<int>(hits(run)), names);
  if (const Glyph glyph = glyph_of(*run.alike); glyph != Glyph::none) {
    out.glyph = glyph;
  }
  return out;
}

Selection EventModel::about(int row) const {
  const Run* run = runAt(row);
  if (run == nullptr) {
    return {};
  }
  const std::int64_t part = lines_[static_cast<std::size_t>(row)].part;
  return part == kRest ? Selection() : part == kWhole && run->count > 1 ? shared(*run) : textOf(*run, part).about;
}

int EventModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(lines_.size()); }

int EventModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QVariant EventModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) {
    return {};
  }
  const Line line = lines_[static_cast<std::size_t>(index.row())];
  const Run* run = journal_.find(line.run);
  if (run == nullptr) {
    const bool words = role == Qt::DisplayRole || role == Qt::AccessibleTextRole;
    return index.column() == what && role == Qt::ToolTipRole
               ? tr("The list keeps the newest %1 rows of each severity, so that none is pushed out by what matters less.").arg(EventJournal::kRowsMax)
           : index.column() == what && words ? dropped_
           : role == fold_role               ? QVariant(-1)
                                             : QVariant();
  }
  const EventJournal::Part* part = partAt(*run, line.part);
  switch (role) {
    case glyph_role:
      return static_cast<int>(textOf(*run, line.part).glyph);
    case address_role:
      return about(index.row()).address();
    case fold_role:
      return canOpen(index.row()) ? static_cast<int>(isOpen(index.row())) : -1;
    case inner_role:
      return line.part == kRest || (line.part >= 0 && outer(index.row()) != index.row());
    case Qt::AccessibleTextRole:
      if (index.column() == what) {
        const EventText text = textOf(*run, line.part);
        const QString glyph = glyph_name(text.glyph);
        const QString said = glyph.isEmpty() ? text.sentence : QStringLiteral("%1: %2").arg(glyph, text.sentence);
        return !canOpen(index.row()) ? said : isOpen(index.row()) ? tr("%1, open").arg(said) : tr("%1, folded").arg(said);
      }
      return {};
    case Qt::ToolTipRole:
      if (index.column() != what) {
        return {};
      }
      return run->count > 1 && line.part == kWhole
                 ? tr("%1\nFrom %2 to %3.").arg(textOf(*run, line.part).sentence, format_time(run->first_ms), format_time(run->last_ms))
                 : textOf(*run, line.part).sentence;
    case Qt::DisplayRole:
      break;
    default:
      return {};
  }
  if (line.part == kRest) {
    return index.column() == what ? textOf(*run, line.part).sentence : QString();
  }
  const std::int32_t told_by = part == nullptr ? run->node : part->node.value();
  switch (index.column()) {
    case time:
      return format_time(part == nullptr ? run->first_ms : part->at_ms);
    case what:
      return textOf(*run, line.part).sentence;
    case node:
      return told_by < 0 ? QString() : QStringLiteral("n%1").arg(told_by);
    case kind:
      return run->text.kind;
    default:
      return {};
  }
}

QVariant EventModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
    return {};
  }
  switch (section) {
    case time:
      return tr("Time");
    case what:
      return tr("What happened");
    case node:
      return tr("Node");
    case kind:
      return tr("Kind");
    default:
      return {};
  }
}

}  // namespace hw::ui
