// SPDX-License-Identifier: Apache-2.0
#include "ui/views/assignment_matrix.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/painting/shapes.h"
#include "ui/painting/text.h"
#include "ui/theme/theme.h"

namespace hw::ui {

namespace {

constexpr double kHead = 30;       // partition names
constexpr double kTopicHead = 18;  // topic names, where there are several
constexpr double kRow = 31;
constexpr double kNames = 176;  // member and client, where they need as much and there is no more
constexpr double kNamesLeast = 112;
constexpr double kSeen = 74;       // last sign of life
constexpr double kPad = 16;

// In steps that a person reads: 0.1 s, whole seconds, minutes.
std::int64_t in_steps(std::int64_t ms) {
  return ms < 0 ? -1 : ms < 1'000 ? 0 : ms < 60'000 ? ms / 1'000 * 1'000 : ms / 60'000 * 60'000;
}

}  // namespace

QString AssignmentMatrix::shortMember(const std::string& id, const std::string& client) {
  // Coordinators make ids of client id and a Uuid: the first letters of that are enough to tell members apart.
  if (id.size() > client.size() + 1 && id.compare(0, client.size(), client) == 0) {
    return QString::fromStdString(id.substr(client.size() + 1, 4));
  }
  return QString::fromStdString(id.substr(0, 8));
}

QString AssignmentMatrix::seenWords(std::int64_t ms) {
  const std::int64_t step = in_steps(std::max<std::int64_t>(0, ms));
  return step < 1'000 ? tr("< 1 s ago") : tr("%1 ago").arg(format_duration(step));
}

AssignmentMatrix::AssignmentMatrix(QWidget* parent) : ObjectCanvas(parent) {
  setAccessibleName(tr("Who reads what"));
  setObjectName(QStringLiteral("assignmentMatrix"));
}

void AssignmentMatrix::setRoom(double width) {
  if (std::abs(width - room_) > 0.5) {
    room_ = width;
    fitNames();
    resizeToFit();
  }
}

void AssignmentMatrix::show(const GroupFacts* facts, std::int64_t now_ms) {
  std::vector<Column> columns;
  std::vector<Member> members;
  QString group;
  const bool rebalancing = facts != nullptr && facts->group != nullptr && facts->group->rebalancing_since.ms > 0;
  if (facts != nullptr && facts->group != nullptr) {
    const observe::GroupView& view = *facts->group;
    group = QString::fromStdString(view.id);
    if (group != group_) {
      last_owner_.clear();
    }
    std::map<std::pair<std::string_view, std::int32_t>, int> place;
    columns.reserve(facts->parts.size());
    // Parts come in order as a rule: then each goes to the end of the map, and there is nothing to sort below.
    for (const GroupFacts::Part& part : facts->parts) {
      place.emplace_hint(place.end(), std::make_pair(std::string_view(part.topic), part.partition.value()), static_cast<int>(columns.size()));
      columns.push_back({part.topic, part.partition.value(), -1, -1, -1, part.lag.known ? part.lag.records : -1, part.status});
    }
    for (const event::GroupAssigned::Member& m : view.members) {
      for (const auto* partitions : {&m.partitions, &m.target}) {
        for (const auto& [topic, partition] : *partitions) {
          if (place.emplace(std::make_pair(std::string_view(topic), partition.value()), static_cast<int>(columns.size())).second) {
            columns.push_back({topic, partition.value(), -1, -1, -1, -1, LagStatus::ok});
          }
        }
      }
    }
    if (rebalancing) {
      // What was given back and never committed is known from its last owner alone.
      for (const auto& [at, member] : last_owner_) {
        if (place.emplace(std::make_pair(std::string_view(at.first), at.second), static_cast<int>(columns.size())).second) {
          columns.push_back({at.first, at.second, -1, -1, -1, -1, LagStatus::ok});
        }
      }
    }
    for (const event::GroupAssigned::Member& m : view.members) {
      Member member{m.member_id, m.client_id, m.client_host, m.instance_id, static_cast<int>(m.partitions.size()), 0, -1, 0};
      if (m.counters != nullptr && m.counters->last_seen_ms.get() > 0) {
        member.seen_ms = in_steps(std::max<std::int64_t>(0, now_ms - m.counters->last_seen_ms.get()));
      }
      for (const auto& [topic, partition] : m.partitions) {
        Column& column = columns[static_cast<std::size_t>(place[{std::string_view(topic), partition.value()}])];
        column.owner = static_cast<int>(members.size());
        member.lag += std::max<std::int64_t>(0, column.lag);
      }
      for (const auto& [topic, partition] : m.target) {
        columns[static_cast<std::size_t>(place[{std::string_view(topic), partition.value()}])].to = static_cast<int>(members.size());
        ++member.wanted;
      }
      members.push_back(std::move(member));
    }
    if (rebalancing && view.kind == event::GroupProtocol::classic) {  // a consumer group's target says where they go
      findGivenBack(columns, members);
    }
    // Members that own something first, in the order of what they own; the others below, as they came.
    std::vector<std::pair<int, int>> order;  // first column, row
    for (std::size_t i = 0; i < members.size(); ++i) {
      order.emplace_back(static_cast<int>(columns.size()), static_cast<int>(i));
    }
    const auto before = [](const Column& a, const Column& b) { return std::tie(a.topic, a.partition) < std::tie(b.topic, b.partition); };
    if (!std::is_sorted(columns.begin(), columns.end(), before)) {
      std::stable_sort(columns.begin(), columns.end(), before);
    }
    for (std::size_t i = columns.size(); i > 0; --i) {
      // A member keeps its row while its partitions are on the way.
      const Column& column = columns[i - 1];
      const int row = column.owner >= 0 ? column.owner : column.from >= 0 ? column.from : column.to;
      if (row >= 0) {
        order[static_cast<std::size_t>(row)].first = static_cast<int>(i - 1);
      }
    }
    std::stable_sort(order.begin(), order.end());
    std::vector<int> now_at(members.size());
    std::vector<Member> sorted;
    for (std::size_t i = 0; i < order.size(); ++i) {
      now_at[static_cast<std::size_t>(order[i].second)] = static_cast<int>(i);
      sorted.push_back(std::move(members[static_cast<std::size_t>(order[i].second)]));
    }
    members = std::move(sorted);
    for (Column& column : columns) {
      column.owner = column.owner < 0 ? -1 : now_at[static_cast<std::size_t>(column.owner)];
      column.from = column.from < 0 ? -1 : now_at[static_cast<std::size_t>(column.from)];
      column.to = column.to < 0 ? -1 : now_at[static_cast<std::size_t>(column.to)];
    }
  }
  const bool shape = group != group_ || columns.size() != columns_.size() || members.size() != members_.size();
  if (!shape && columns == columns_ && members == members_) {
    return;
  }
  group_ = group;
  const bool structure = shape || !std::equal(columns.begin(), columns.end(), columns_.begin(), [](const Column& a, const Column& b) {
    return a.topic == b.topic && a.partition == b.partition && a.owner == b.owner && a.from == b.from && a.to == b.to;
  });
  columns_ = std::move(columns);
  members_ = std::move(members);
  idle_ = static_cast<int>(std::count_if(members_.begin(), members_.end(), [](const Member& m) { return m.owned == 0; }));
  on_the_way_ = static_cast<int>(std::count_if(columns_.begin(), columns_.end(), [](const Column& c) { return c.from >= 0; }));
  wanted_ = static_cast<int>(std::count_if(columns_.begin(), columns_.end(), [](const Column& c) { return c.to >= 0 && c.to != c.owner; }));
  nobody_ = std::any_of(columns_.begin(), columns_.end(), [](const Column& c) { return c.owner < 0; });
  topics_ = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    topics_ += i == 0 || columns_[i].topic != columns_[i - 1].topic ? 1 : 0;
  }
  if (structure) {
    rememberOwners(rebalancing);
    fitNames();
    resizeToFit();
    objectsChanged();
  }
  update();
}

// Marks the partitions that nobody owns with the member that owned them last, where it is still there.
void AssignmentMatrix::findGivenBack(std::vector<Column>& columns, const std::vector<Member>& members) const {
  for (Column& column : columns) {
    const auto last = column.owner < 0 ? last_owner_.find({column.topic, column.partition}) : last_owner_.end();
    if (last != last_owner_.end()) {
      const auto at = std::find_if(members.begin(), members.end(), [&last](const Member& m) { return m.id == last->second; });
      column.from = at == members.end() ? -1 : static_cast<int>(at - members.begin());
    }
  }
}

// Once a rebalance is over, what nobody owns has been decided.
void AssignmentMatrix::rememberOwners(bool rebalancing) {
  if (!rebalancing) {
    last_owner_.clear();
  }
  for (const Column& column : columns_) {
    if (column.owner >= 0) {
      last_owner_[{column.topic, column.partition}] = members_[static_cast<std::size_t>(column.owner)].id;
    }
  }
}

double AssignmentMatrix::columnsLeft() const {
  return kPad + names_;
}

// As wide as the longest name, where the columns have what they want beside it; no narrower than before for a name that is cut.
void AssignmentMatrix::fitNames() {
  double longest = kNamesLeast;
  for (const Member& m : members_) {
    const QString id = m.instance.empty() ? shortMember(m.id, m.client) : QString::fromStdString(m.instance);
    const double first = std::max(40.0, std::min(60.0, text_width(id, FontRole::data_strong)) + 8);
    longest = std::max(longest, 36 + first + text_width(QString::fromStdString(m.client), FontRole::control));
  }
  const auto n = static_cast<double>(columns_.size());
  const double columns = columns_.size() > 40 ? n * 3 : n * (columns_.size() <= 8 ? 62 : 34);
  names_ = std::floor(std::min(longest, std::max(kNames, room_ - kPad - columns - kSeen - kPad)));
}

double AssignmentMatrix::columnWidth() const {
  const auto n = static_cast<double>(std::max<std::size_t>(1, columns_.size()));
  const double room = (room_ - columnsLeft() - kSeen - kPad) / n;
  // Many partitions share the room there is, as a heat strip at last: who reads how much is seen without scrolling.
  if (columns_.size() > 40) {
    const double wide = std::clamp(room, 0.05, 14.0);
    return wide >= 3 ? std::floor(wide) : wide;
  }
  const double least = columns_.size() <= 8 ? 62 : 34;
  const double most = columns_.size() <= 8 ? 108 : 62;
  return std::floor(std::clamp(room, least, most));
}

double AssignmentMatrix::columnLeft(std::size_t column) const {
  return columnsLeft() + static_cast<double>(column) * columnWidth();
}

QRectF AssignmentMatrix::cellOf(std::size_t column, std::size_t row) const {
  const double wide = columnWidth();
  const double gap = wide >= 8 ? 2 : 0;
  return {columnLeft(column) + gap, rowTop(row) + 5, std::max(1.0, wide - 2 * gap - (wide >= 3 && wide < 8 ? 1 : 0)), kRow - 11};
}

double AssignmentMatrix::seenLeft() const { return columnLeft(columns_.size()) + 8; }

double AssignmentMatrix::rowTop(std::size_t row) const {
  return (topics_ > 1 ? kTopicHead : 0) + kHead + static_cast<double>(row) * kRow;
}

double AssignmentMatrix::heightNeeded() const {
  return rowTop(members_.size() + (nobody_ ? 1 : 0)) + 4;
}

QSize AssignmentMatrix::sizeHint() const {
  const Theme& t = Theme::current();
  return {t.px(std::max(room_, seenLeft() + kSeen)), t.px(heightNeeded())};
}

void AssignmentMatrix::resizeToFit() {
  const QSize size = sizeHint();
  setMinimumSize(size);
  resize(size);
  updateGeometry();
}

int AssignmentMatrix::objectCount() const { return static_cast<int>(members_.size() + columns_.size()); }

// Members first, then partitions: a cell stands for its partition.
CanvasObject AssignmentMatrix::object(int index) const {
  CanvasObject object;
  const auto i = static_cast<std::size_t>(index);
  if (i < members_.size()) {
    object.selection = Selection::ofMember(group_, QString::fromStdString(members_[i].id));
    object.rect = QRectF(kPad - 6, rowTop(i) + 2, names_ - 8, kRow - 5);
    object.column = 0;
    return object;
  }
  const std::size_t column = i - members_.size();
  const Column& c = columns_[column];
  const std::size_t row = c.owner < 0 ? members_.size() : static_cast<std::size_t>(c.owner);
  object.selection = Selection::ofPartition(QString::fromStdString(c.topic), c.partition);
  object.rect = cellOf(column, row);
  object.column = static_cast<int>(column) + 1;
  return object;
}

QString AssignmentMatrix::objectSentence(int index) const {
  const auto i = static_cast<std::size_t>(index);
  if (i < members_.size()) {
    const Member& m = members_[i];
    QStringList reads;
    for (const Column& c : columns_) {
      if (c.owner == index && reads.size() < 12) {
        reads << QStringLiteral("%1/%2").arg(QString::fromStdString(c.topic)).arg(c.partition);
      }
    }
    const QString what = m.owned == 0 ? (m.wanted > 0 ? tr("reads nothing yet: it waits for its partitions") : tr("reads nothing: there are more members than partitions"))
                                      : tr("reads %1%2, %Ln record(s) behind", nullptr, static_cast<int>(std::min<std::int64_t>(m.lag, INT32_MAX)))
                                            .arg(reads.join(QStringLiteral(", ")), m.owned > reads.size() ? QStringLiteral(" …") : QString());
    const QString seen = m.seen_ms < 0 ? QString() : tr(", last heard of %1 ago").arg(format_duration(m.seen_ms));
    return tr("Member %1 of client %2 at %3 %4%5")
        .arg(shortMember(m.id, m.client), QString::fromStdString(m.client), QString::fromStdString(m.host), what, seen);
  }
  const Column& c = columns_[i - members_.size()];
  const QString name = QStringLiteral("%1/%2").arg(QString::fromStdString(c.topic)).arg(c.partition);
  const QString lag = c.lag < 0 ? tr("no position yet") : tr("%Ln record(s) behind", nullptr, static_cast<int>(std::min<std::int64_t>(c.lag, INT32_MAX)));
  if (c.from >= 0) {
    return tr("%1 is read by nobody, %2: %3 has given it back, and the next assignment hands it on")
        .arg(name, lag, QString::fromStdString(members_[static_cast<std::size_t>(c.from)].client));
  }
  if (c.to >= 0 && c.to != c.owner) {
    const QString next = QString::fromStdString(members_[static_cast<std::size_t>(c.to)].client);
    return c.owner < 0 ? tr("%1 is read by nobody, %2: %3 takes it with its next heartbeat").arg(name, lag, next)
                       : tr("%1 is read by %2 until it gives it back, %3: %4 shall have it")
                             .arg(name, QString::fromStdString(members_[static_cast<std::size_t>(c.owner)].client), lag, next);
  }
  return c.owner < 0 ? tr("%1 is read by nobody, %2").arg(name, lag)
                     : tr("%1 is read by %2, %3, %4")
                           .arg(name, QString::fromStdString(members_[static_cast<std::size_t>(c.owner)].client), lag, status_word(c.status));
}

QAccessible::Role AssignmentMatrix::objectRole(int) const { return QAccessible::Cell; }

int AssignmentMatrix::objectAt(QPointF point) const {
  const double top = rowTop(0);
  if (point.y() < top) {
    return -1;
  }
  const auto row = static_cast<std::size_t>((point.y() - top) / kRow);
  if (point.x() < columnsLeft()) {
    return row < members_.size() ? static_cast<int>(row) : -1;
  }
  const auto column = static_cast<std::size_t>((point.x() - columnsLeft()) / columnWidth());
  if (column >= columns_.size()) {
    return -1;
  }
  const Column& c = columns_[column];
  const std::size_t owner = c.owner < 0 ? members_.size() : static_cast<std::size_t>(c.owner);
  return row == owner || static_cast<int>(row) == c.from || static_cast<int>(row) == c.to ? static_cast<int>(members_.size() + column) : -1;
}

QString AssignmentMatrix::toolTipAt(QPointF point) const {
  const int at = objectAt(point);
  return at < 0 ? QString() : objectSentence(at);
}

void AssignmentMatrix::paintCanvas(QPainter& p, const QRectF& exposed) {
  const Colors& c = Theme::current().colors();
  p.fillRect(exposed, c.canvas);
  if (group_.isEmpty()) {
    return;
  }
  const double wide = columnWidth();
  const double head = (topics_ > 1 ? kTopicHead : 0) + kHead / 2;
  text_left(p, kPad, head, tr("member"), FontRole::caption_strong, c.text3);
  const auto first = static_cast<std::size_t>(std::max(0.0, std::floor((exposed.left() - columnsLeft()) / wide)));
  const std::size_t last = std::min(columns_.size(), static_cast<std::size_t>(std::max(0.0, std::ceil((exposed.right() - columnsLeft()) / wide)) + 1));
  const auto first_row = static_cast<std::size_t>(std::max(0.0, std::floor((exposed.top() - rowTop(0)) / kRow)));
  const std::size_t rows = members_.size() + (nobody_ ? 1 : 0);
  const std::size_t last_row = std::min(rows, static_cast<std::size_t>(std::max(0.0, std::ceil((exposed.bottom() - rowTop(0)) / kRow)) + 1));

  int every = 10;  // partition whose number is written, where not all are: 10, 50, 100, 200 …
  while (every * wide < 44) {
    every *= every % 50 == 0 ? 2 : 5;
  }
  for (std::size_t i = first; i < last; ++i) {
    const Column& column = columns_[i];
    const bool begins = i == 0 || columns_[i - 1].topic != column.topic;
    if (topics_ > 1 && (begins || i == first)) {
      std::size_t end = i;
      while (end < columns_.size() && columns_[end].topic == column.topic) {
        ++end;
      }
      text_fit(p, std::max(columnLeft(i), exposed.left()) + 4, kTopicHead / 2 + 2, columnLeft(end) - columnLeft(i) - 8,
               QString::fromStdString(column.topic), FontRole::small_data, c.text3, Qt::ElideMiddle);
    }
    if (wide >= 30 || column.partition % every == 0) {
      const QString name = wide >= 30 ? QStringLiteral("p%1").arg(column.partition) : QString::number(column.partition);
      const bool behind = column.status == LagStatus::slow || column.status == LagStatus::stalled || column.status == LagStatus::stopped;
      if (wide >= 30) {
        text_center(p, columnLeft(i) + wide / 2, head, name, behind ? FontRole::data_strong : FontRole::data, c.text);
      } else {
        text_left(p, columnLeft(i) + 1, head, name, FontRole::small_data, c.text3);
      }
    }
  }
  text_left(p, seenLeft(), head, tr("heard of"), FontRole::caption_strong, c.text3);
  paint_hline(p, 0, exposed.right() + 1, rowTop(0) - 1, c.hair);

  for (std::size_t row = first_row; row < last_row; ++row) {
    const double y = rowTop(row) + kRow / 2 - 1;
    paint_hline(p, 0, exposed.right() + 1, rowTop(row) + kRow - 1, c.hair);
    if (row < members_.size()) {
      const Member& m = members_[row];
      const bool gave_back = std::any_of(columns_.begin(), columns_.end(), [row](const Column& column) { return column.from == static_cast<int>(row); });
      const bool late = m.seen_ms >= 5'000;
      paint_glyph(p, late ? Glyph::quarter : (m.owned == 0 ? Glyph::ring : Glyph::disc), QPointF(kPad + 5, y), 10);
      const QString id = m.instance.empty() ? shortMember(m.id, m.client) : QString::fromStdString(m.instance);
      const double used = text_fit(p, kPad + 18, y, 60, id, FontRole::data_strong, c.text, Qt::ElideRight);
      text_fit(p, kPad + 18 + std::max(40.0, used + 8), y, names_ - 34 - std::max(40.0, used + 8), QString::fromStdString(m.client),
               FontRole::control, c.text2, Qt::ElideMiddle);
      if (m.owned == 0 && m.wanted == 0 && !gave_back) {
        text_left(p, columnsLeft() + 4, y, tr("owns nothing"), FontRole::control, c.text3);
      }
      if (m.seen_ms >= 0) {
        text_left(p, seenLeft(), y, seenWords(m.seen_ms), FontRole::small_data, late ? c.warn_t : c.text2);
      }
    } else {
      paint_glyph(p, Glyph::ring, QPointF(kPad + 5, y), 10);
      text_left(p, kPad + 18, y, members_.empty() ? tr("no member") : tr("nobody"), FontRole::control, c.text3);
    }
    const bool idle = row < members_.size() && members_[row].owned == 0 && members_[row].wanted == 0;
    for (std::size_t i = first; i < last; ++i) {
      const Column& column = columns_[i];
      const std::size_t owner = column.owner < 0 ? members_.size() : static_cast<std::size_t>(column.owner);
      const QRectF cell = cellOf(i, row);
      if (owner != row) {
        const bool shall = column.to == static_cast<int>(row);
        if ((shall || column.from == static_cast<int>(row)) && wide >= 8) {
          QPen dashed(c.edge, 1);
          dashed.setDashPattern({2, 2});
          p.setPen(dashed);
          p.setBrush(Qt::NoBrush);
          p.drawRect(cell.adjusted(0.5, 0.5, -0.5, -0.5));
          if (wide >= 62) {
            text_center(p, cell.center().x(), cell.center().y(), shall ? tr("to come") : tr("gave back"), FontRole::caption, c.text2);
          }
        } else if (!idle && wide >= 30) {
          p.fillRect(QRectF(cell.center().x() - 1.5, y - 1.5, 3, 3), c.border);
        }
        continue;
      }
      const bool bad = severity(column.status) >= severity(LagStatus::slow) && column.lag > 0;
      if (wide < 8) {
        p.fillRect(cell, row == members_.size() ? (bad ? c.err : c.control) : (bad ? c.warn_line : c.leader));
        continue;
      }
      if (row == members_.size()) {
        p.fillRect(cell, bad ? c.err_tint : c.inset);
      } else if (bad) {
        p.fillRect(cell, hatch_brush(Hatch::behind));
      } else {
        p.fillRect(cell, c.leader_tint);
      }
      p.setPen(QPen(row == members_.size() ? (bad ? c.err : c.control) : (bad ? c.warn_line : c.leader), 1.5));
      p.setBrush(Qt::NoBrush);
      p.drawRect(cell.adjusted(0.75, 0.75, -0.75, -0.75));
      if (wide >= 30) {
        const QString lag = column.lag < 0 ? QStringLiteral("–") : format_count(column.lag);
        const QString text = wide >= 62 && column.lag >= 0 ? tr("lag %1").arg(lag) : lag;
        const QString fitted = elided(text, FontRole::small_data, cell.width() - 8);
        if (bad && row < members_.size()) {
          const double w = text_width(fitted, FontRole::small_data) + 8;
          p.fillRect(QRectF(cell.center().x() - w / 2, cell.top() + 2, w, cell.height() - 4), c.canvas);
        }
        text_center(p, cell.center().x(), cell.center().y(), fitted, FontRole::small_data, c.text);
      }
    }
  }
  const int chosen = indexOf(selection());
  if (chosen >= 0) {
    paint_selection(p, object(chosen).rect.adjusted(-2, -2, 2, 2));
  }
  const int focused = focusedObject();
  if (focused >= 0 && walking() && focused != chosen) {
    paint_focus(p, object(focused).rect);
  }
}

}  // namespace hw::ui
