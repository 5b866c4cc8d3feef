// SPDX-License-Identifier: Apache-2.0
#include "ui/views/rebalance_table.h"

#include <QPainter>
#include <QResizeEvent>
#include <algorithm>

#include "ui/models/group_model.h"
#include "ui/painting/text.h"
#include "ui/theme/theme.h"
#include "ui/views/data_delegate.h"
#include "ui/views/table_setup.h"
#include "ui/window/hover_row.h"

namespace hw::ui {

namespace {

// A bar whose length is the time, hatched where everybody stood still.
class BarDelegate : public DataDelegate {
 public:
  using DataDelegate::DataDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    DataDelegate::paint(painter, option, index);
    if (index.column() != RebalanceModel::stopped) {
      return;
    }
    const Theme& t = Theme::current();
    const Colors& c = t.colors();
    const QRectF r = QRectF(option.rect).adjusted(t.pxf(8), t.pxf(6), -t.pxf(76), -t.pxf(7));
    const double share = index.data(RebalanceModel::share_role).toDouble();
    const QRectF bar(r.left(), r.top(), std::max(t.pxf(3), r.width() * share), r.height());
    painter->save();
    if (index.data(RebalanceModel::eager_role).toBool()) {
      painter->fillRect(bar, hatch_brush(Hatch::behind));
      painter->setPen(QPen(c.warn_line, 1));
      painter->drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5));
    } else {
      painter->fillRect(bar, c.ok);
    }
    painter->setFont(t.font(FontRole::data));
    painter->setPen(c.text);
    painter->drawText(QRectF(bar.right() + t.pxf(8), option.rect.top(), t.pxf(90), option.rect.height() - 1),
                      Qt::AlignLeft | Qt::AlignVCenter, index.data(Qt::AccessibleTextRole).toString());
    painter->restore();
  }
};

}  // namespace

void RebalanceModel::show(const observe::GroupView* group) {
  std::vector<observe::GroupView::Rebalance> wanted;
  if (group != nullptr) {
    wanted.assign(group->rebalances.rbegin(), group->rebalances.rend());
    wanted.erase(std::remove_if(wanted.begin(), wanted.end(), [](const auto& r) { return r.what == nullptr; }), wanted.end());
  }
  const std::string id = group == nullptr ? std::string() : group->id;
  const bool other = id != group_;
  group_ = id;
  const bool epochs = group != nullptr && group->kind == event::GroupProtocol::consumer;
  if (epochs != epochs_) {
    epochs_ = epochs;
    Q_EMIT headerDataChanged(Qt::Horizontal, generation, generation);
  }
  std::vector<const event::GroupRebalanced*> keys;
  for (const auto& r : wanted) {
    keys.push_back(r.what.get());
  }
  const bool grew = followRows(
      rows_, keys, [](const observe::GroupView::Rebalance& r) { return r.what.get(); },
      [&](const event::GroupRebalanced* key) {
        return *std::find_if(wanted.begin(), wanted.end(), [key](const auto& r) { return r.what.get() == key; });
      });
  if ((grew || other) && !rows_.empty()) {
    // Bars are relative to the longest.
    Q_EMIT dataChanged(index(0, stopped), index(rowCount() - 1, stopped));
  }
}

const observe::GroupView::Rebalance* RebalanceModel::rebalance(int row) const {
  return row < 0 || row >= rowCount() ? nullptr : &rows_[static_cast<std::size_t>(row)];
}

int RebalanceModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(rows_.size()); }

int RebalanceModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{column_count}; }

QVariant RebalanceModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) {
    return {};
  }
  const observe::GroupView::Rebalance& row = rows_[static_cast<std::size_t>(index.row())];
  const event::GroupRebalanced& r = *row.what;
  switch (role) {
    case Qt::TextAlignmentRole:
      return QVariant(static_cast<Qt::Alignment::Int>((index.column() == moved ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    case share_role: {
      std::int64_t most = 1;
      for (const auto& other : rows_) {
        most = std::max(most, other.what->total_us);
      }
      return static_cast<double>(r.total_us) / static_cast<double>(most);
    }
    case eager_role:
      return eager(r);
    case Qt::ToolTipRole:
      if (index.column() == stopped) {
        const bool consumer = r.kind == event::GroupProtocol::consumer;
        QStringList lines{consumer ? tr("The last target after %1; then members gave back and took: %2")
                                         .arg(short_duration(r.join_us), short_duration(std::max<std::int64_t>(0, r.total_us - r.join_us)))
                                   : tr("Waiting for members to join: %1; assigning: %2")
                              .arg(short_duration(r.join_us), short_duration(std::max<std::int64_t>(0, r.total_us - r.join_us)))};
        for (const event::GroupRebalanced::Barrier& barrier : r.barriers) {
          if (lines.size() < 12 && consumer) {
            lines << tr("%1: had reached its target after %2").arg(QString::fromStdString(barrier.member_id).left(28), short_duration(barrier.synced_us));
          } else if (lines.size() < 12) {
            lines << tr("%1: joined after %2, had its assignment after %3")
                         .arg(QString::fromStdString(barrier.member_id).left(28),
                              barrier.joined_us < 0 ? QStringLiteral("–") : short_duration(barrier.joined_us),
                              barrier.synced_us < 0 ? QStringLiteral("–") : short_duration(barrier.synced_us));
          }
        }
        return lines.join(QLatin1Char('\n'));
      }
      return index.column() == reason ? trigger_words(r) : QVariant();
    case Qt::DisplayRole:
      if (index.column() == stopped) {
        return QString();
      }
      break;
    case Qt::AccessibleTextRole:
      break;
    default:
      return {};
  }
  switch (index.column()) {
    case generation:
      return QString::number(r.generation);
    case time:
      return format_time(row.at.ms).left(8);
    case stopped:
      return short_duration(r.total_us);
    case protocol:
      return r.protocol.empty() ? tr("empty") : QString::fromStdString(r.protocol);
    case moved:
      return tr("%1 of %2").arg(format_count(r.moved), format_count(std::max(r.partitions_before, r.partitions_after)));
    case reason: {
      const QString words = trigger_words(r);
      return r.members_after == 0 ? tr("%1; nobody is left").arg(words) : words;
    }
    default:
      return {};
  }
}

QVariant RebalanceModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) {
    return {};
  }
  if (role == Qt::TextAlignmentRole) {
    return QVariant(static_cast<Qt::Alignment::Int>((section == moved ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (section) {
    case generation:
      return epochs_ ? tr("Epoch") : tr("Gen");
    case time:
      return tr("Time");
    case stopped:
      return tr("Took");
    case protocol:
      return tr("Assignor");
    case moved:
      return tr("Moved");
    case reason:
      return tr("Reason");
    default:
      return {};
  }
}

RebalanceTable::RebalanceTable(QWidget* parent) : QTableView(parent), model_(new RebalanceModel(this)) {
  setModel(model_);
  setup_table(this, tr("Rebalances of the group"));
  setObjectName(QStringLiteral("rebalances"));
  new HoverRow(this);
  setItemDelegate(new BarDelegate(
      [](const QModelIndex& index, bool) {
        const Colors& c = Theme::current().colors();
        CellLook look;
        look.first = index.column() == RebalanceModel::generation;
        const bool words = index.column() == RebalanceModel::reason || index.column() == RebalanceModel::protocol;
        look.role = words ? FontRole::control : FontRole::data;
        look.color = index.column() == RebalanceModel::reason || look.first ? c.text : c.text2;
        return look;
      },
      this));
}

void RebalanceTable::fitColumns() {
  const Theme& t = Theme::current();
  const bool narrow = viewport()->width() < t.px(760);
  const int widths[] = {60, 76, narrow ? 170 : 240, 150, 92};
  int used = 0;
  for (int i = 0; i < RebalanceModel::reason; ++i) {
    horizontalHeader()->resizeSection(i, t.px(widths[i]));
    used += t.px(widths[i]);
  }
  horizontalHeader()->resizeSection(RebalanceModel::reason, std::max(t.px(160), viewport()->width() - used));
}

void RebalanceTable::paintEvent(QPaintEvent* event) {
  QTableView::paintEvent(event);
  if (model_->rowCount() == 0) {
    QPainter p(viewport());
    const Theme& t = Theme::current();
    p.setFont(t.font(FontRole::control));
    p.setPen(t.colors().text3);
    p.drawText(viewport()->rect().adjusted(t.px(16), 0, -t.px(8), 0), Qt::AlignLeft | Qt::AlignVCenter,
               tr("None: since this window watches, no member has joined or left."));
  }
}

void RebalanceTable::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  fitColumns();
}

}  // namespace hw::ui
