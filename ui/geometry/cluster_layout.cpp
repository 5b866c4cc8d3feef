// SPDX-License-Identifier: Apache-2.0
#include "ui/geometry/cluster_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace hw::ui::geometry {

namespace {

constexpr double kTop = 48;         // of the first producer and group
constexpr double kNodeTop = 40;
constexpr double kHeader = 30;
constexpr double kGroupHeader = 32;
constexpr double kMemberRow = 26;
constexpr double kLabelRow = 22;
constexpr double kBottom = 16;
constexpr double kMinGap = 64;  // between columns: room for a rate plate and the head of its arrow
constexpr int kMidTopics = 4;   // other topics of a node at detail mid
constexpr int kFullTopics = 24;
constexpr int kMaxMembers = 8;
constexpr double kCellsLeft = 112;  // where the cells of an other topic begin, from the card's left
constexpr double kCellsRight = 74;

struct Columns {
  double margin = 20;
  double producers = 148;  // room for "highwater-window"
  double brokers = 336;
  double groups = 204;
  double gap = kMinGap;
};

Columns columns_for(double width, Detail detail) {
  Columns c;
  if (detail == Detail::low) {
    c = {14, 148, 332, 200, kMinGap};
  } else if (detail == Detail::full && width >= 1200) {
    // Bars as long as there is room for between the others, and no longer than can be compared at a glance.
    constexpr double kRates = 48;  // more than the least gap, on both sides
    c = {28, 190, 0, 280, kMinGap};
    if (width >= 1500) {
      c = {40, 200, 0, 320, kMinGap};
    }
    c.brokers = std::clamp(width - 2 * c.margin - c.producers - c.groups - 2 * (kMinGap + kRates), 336.0, 760.0);
  }
  const auto left_over = [&] { return width - 2 * c.margin - c.producers - c.brokers - c.groups - 2 * kMinGap; };
  const auto shrink = [&](double& column, double least) {
    if (left_over() < 0) {
      column = std::max(least, column + left_over());
    }
  };
  shrink(c.brokers, std::min(c.brokers, 248.0));
  shrink(c.groups, std::min(c.groups, 166.0));
  shrink(c.producers, std::min(c.producers, 110.0));
  c.gap = std::max(kMinGap, kMinGap + std::floor(left_over() / 2));
  return c;
}

// Where the track of a replica bar lies in its row.
QRectF bar_in(const QRectF& row) {
  constexpr double left = 58;
  constexpr double right = 112;
  constexpr double height = 10;
  return {row.left() + left, row.center().y() - height / 2, std::max(40.0, row.width() - left - right), height};
}

CellGrid one_line_of_cells(const QRectF& row, int count) {
  CellGrid grid;
  const double room = std::max(40.0, row.width() - kCellsLeft - kCellsRight);
  grid.count = count;
  grid.columns = std::max(1, count);
  if (count * grid.pitch_x > room + 4) {
    grid.pitch_x = room / count;  // below 3 pixels the painter draws shares, not cells
    if (grid.pitch_x >= 3) {
      grid.pitch_x = std::floor(grid.pitch_x);
    }
    grid.cell_width = grid.pitch_x >= 3 ? grid.pitch_x - 1 : grid.pitch_x;
  }
  grid.origin = QPointF(row.left() + kCellsLeft, row.center().y() - grid.cell_height / 2);
  return grid;
}

// How much room the parts of a card have. The closest fit is the last one that is tried before the picture scrolls.
struct Fit {
  double header = kHeader;
  double label = kLabelRow;
  double row = 22;
  double bottom = 8;
  bool tight = false;  // the line that says how many topics are not shown gives way
};

class NodeBuilder {
 public:
  NodeBuilder(const LayoutNode& in, QRectF at, Detail detail, bool matrix, double matrix_height, const Fit& fit)
      : in_(in), detail_(detail), matrix_(matrix), matrix_height_(matrix_height), fit_(fit), at_(at) {}

  NodePlace build() {
    place_.header = QRectF(at_.left(), at_.top(), at_.width(), fit_.header);
    y_ = at_.top() + fit_.header + (detail_ == Detail::low ? 3 : 0);
    int rows_left = detail_ == Detail::full ? 2 * kMaxRowPartitions : kMaxRowPartitions;
    const int others = detail_ == Detail::low ? 0 : (detail_ == Detail::mid ? kMidTopics : kFullTopics);
    int shown_others = 0;
    for (std::size_t i = 0; i < in_.topics.size(); ++i) {
      const int count = in_.topics[i].partitions;
      const bool focused = i == 0;
      if (!focused && shown_others == others) {
        place_.hidden_topics = static_cast<int>(in_.topics.size() - i);
        break;
      }
      shown_others += focused ? 0 : 1;
      const bool rows = !matrix_ && count <= rows_left && (focused || detail_ == Detail::full);
      if (rows) {
        add_rows(static_cast<int>(i), count);
        rows_left -= count;
      } else if (focused) {
        add_matrix(static_cast<int>(i), count);
      } else {
        add_line(static_cast<int>(i), count);
      }
    }
    place_.hidden_topics += in_.more_topics;
    if (place_.hidden_topics > 0 && detail_ != Detail::low) {
      if (fit_.tight && !place_.topics.empty() && !place_.topics.front().label.isEmpty()) {
        // Beside the first topic's name, so that the last card's rows stay in sight.
        const QRectF& first = place_.topics.front().label;
        place_.hidden_label = QRectF(first.left() + std::floor(first.width() * 0.42), first.top(), std::floor(first.width() * 0.36), first.height());
      } else {
        place_.hidden_label = row(fit_.label);
        y_ += fit_.label;
      }
    }
    place_.card = QRectF(at_.left(), at_.top(), at_.width(), std::max(fit_.header, y_ + fit_.bottom - at_.top()));
    return std::move(place_);
  }

 private:
  [[nodiscard]] QRectF row(double height) const { return {at_.left(), y_, at_.width(), height}; }

  void add_label(TopicPlace& topic) {
    if (detail_ != Detail::low) {
      topic.label = row(fit_.label);
      y_ += fit_.label;
    }
  }

  void add_rows(int index, int count) {
    TopicPlace topic;
    topic.topic = index;
    topic.rows = true;
    add_label(topic);
    place_.topics.push_back(topic);
    const double height = fit_.row;
    for (int p = 0; p < count; ++p) {
      RowPlace r;
      r.topic = index;
      r.partition = p;
      r.rect = row(height);
      r.bar = bar_in(r.rect);
      place_.rows.push_back(r);
      y_ += height;
    }
  }

  void add_line(int index, int count) {
    TopicPlace topic;
    topic.topic = index;
    topic.label = row(fit_.label);
    topic.cells = one_line_of_cells(topic.label, count);
    y_ += fit_.label;
    place_.topics.push_back(std::move(topic));
  }

  void add_matrix(int index, int count) {
    TopicPlace topic;
    topic.topic = index;
    add_label(topic);
    y_ += 2;
    const QRectF area(at_.left() + 12, y_, at_.width() - 24, std::max(24.0, matrix_height_ - (y_ - at_.top()) - 8));
    topic.cells = CellGrid::fitting(area, count);
    y_ += topic.cells->bounds().height() + 2;
    place_.topics.push_back(std::move(topic));
  }

  const LayoutNode& in_;
  Detail detail_;
  bool matrix_;
  double matrix_height_;
  Fit fit_;
  QRectF at_;
  double y_ = 0;
  NodePlace place_;
};

void place_nodes(const LayoutIn& in, double left, double width, ClusterLayout& out) {
  const bool many = in.nodes.size() > static_cast<std::size_t>(kMaxRowNodes);
  int most = 0;
  for (const LayoutNode& node : in.nodes) {
    most = std::max(most, node.topics.empty() ? 0 : node.topics.front().partitions);
  }
  out.matrix = many || most > kMaxRowPartitions;
  int columns = 1;
  double gap = in.detail == Detail::low ? 30 : 46;
  double card_width = width;
  if (many) {
    constexpr double narrowest = 150;
    gap = 14;
    columns = std::max(1, static_cast<int>((width + gap) / (narrowest + gap)));
    card_width = std::floor((width - (columns - 1) * gap) / columns);
  }
  const auto node_rows = static_cast<double>((in.nodes.size() + static_cast<std::size_t>(columns) - 1) /
                                             static_cast<std::size_t>(columns));
  const double room = in.size.height() - kNodeTop - kBottom - std::max(0.0, node_rows - 1) * gap;
  const double matrix_height = std::max(80.0, node_rows > 0 ? room / node_rows : room);
  double y = kNodeTop;
  double row_bottom = y;
  Fit fit;
  if (many || in.detail == Detail::low) {
    fit = {kHeader, kLabelRow, 20, 6, false};
  }
  if (columns == 1 && in.nodes.size() > 1) {
    // The gap gives way before the picture scrolls, after it the line that says how many topics are not shown, and then air.
    const auto left_over = [&] {
      double cards = 0;
      for (const LayoutNode& node : in.nodes) {
        cards += NodeBuilder(node, {0, 0, card_width, 0}, in.detail, out.matrix, matrix_height, fit).build().card.height();
      }
      return std::floor((in.size.height() - kNodeTop - 8 - cards) / static_cast<double>(in.nodes.size() - 1));
    };
    constexpr double kLeast = 24;
    if (in.detail == Detail::full) {
      // Where there is room for it, there is air.
      constexpr double kMostGap = 96;
      const Fit usual = std::exchange(fit, {36, 26, 28, 12, false});
      if (left_over() < gap) {
        fit = usual;
      }
      gap = kMostGap;
    }
    if (left_over() < kLeast) {
      fit.tight = true;
    }
    if (left_over() < kLeast) {
      fit = in.detail == Detail::low ? Fit{26, kLabelRow, 18, 4, true} : Fit{26, 19, 19, 5, true};
    }
    gap = std::clamp(left_over(), kLeast, gap);
  }
  for (std::size_t i = 0; i < in.nodes.size(); ++i) {
    const auto column = static_cast<int>(i % static_cast<std::size_t>(columns));
    if (column == 0 && i > 0) {
      y = row_bottom + gap;
    }
    const QRectF at(left + column * (card_width + gap), y, card_width, 0);
    // Many nodes: only the focused topic, as a matrix.
    NodePlace place = NodeBuilder(in.nodes[i], at, many ? Detail::low : in.detail, out.matrix, matrix_height, fit).build();
    row_bottom = column == 0 ? place.card.bottom() : std::max(row_bottom, place.card.bottom());
    out.nodes.push_back(std::move(place));
  }
  out.content.setHeight(std::max(in.size.height(), in.nodes.empty() ? 0 : row_bottom + 8));
}

void place_producers(const LayoutIn& in, double left, double width, ClusterLayout& out) {
  const double top = in.detail == Detail::low ? 38 : kTop;
  const double end = out.content.height() - kBottom;
  const auto height_of = [](const LayoutProducer& p) { return p.keys ? 72.0 : 54.0; };
  double total = 0;
  for (const LayoutProducer& p : in.producers) {
    total += height_of(p);
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, in.producers.size()));
  const double gap = std::clamp(std::floor((end - top - total) / count), 12.0, 44.0);
  double y = top;
  for (const LayoutProducer& p : in.producers) {
    const double height = height_of(p);
    const bool last = &p == &in.producers.back();
    if (y + height + (last ? 0 : kLabelRow) > end && !out.producers.empty()) {
      out.hidden_producers = static_cast<int>(in.producers.size() - out.producers.size());
      out.hidden_producers_label = QRectF(left, y - gap + 4, width, kLabelRow);
      break;
    }
    out.producers.push_back({QRectF(left, y, width, height)});
    y += height + gap;
  }
}

GroupPlace group_at(const LayoutGroup& in, double left, double y, double width, bool chip, double header = kGroupHeader) {
  GroupPlace place;
  place.header = QRectF(left, y, width, header);
  double bottom = y + header;
  if (!chip) {
    const auto shown = std::min(in.member_chips.size(), static_cast<std::size_t>(kMaxMembers));
    for (std::size_t m = 0; m < shown; ++m) {
      MemberPlace member;
      member.rect = QRectF(left, bottom, width, kMemberRow);
      member.chips = QRectF(left + 50, bottom + 4, std::max(20.0, width - 50 - 60), 18);
      place.members.push_back(member);
      bottom += kMemberRow;
    }
    place.hidden_members = static_cast<int>(in.member_chips.size() - shown);
    if (place.hidden_members > 0 || (in.note && shown == 0)) {
      place.hidden_label = QRectF(left, bottom, width, kLabelRow);
      bottom += kLabelRow;
    }
    bottom += 5;
  }
  place.card = QRectF(left, y, width, bottom - y);
  return place;
}

void place_groups(const LayoutIn& in, double left, double width, ClusterLayout& out) {
  const double top = in.detail == Detail::low ? 38 : kTop;
  const double end = out.content.height() - kBottom;
  constexpr double controllers_height = 77;
  const double reserved = in.controllers > 0 ? controllers_height + 12 : 0;
  double total = 0;
  for (const LayoutGroup& g : in.groups) {
    total += group_at(g, 0, 0, width, false).card.height();
  }
  const auto cards = static_cast<double>(in.groups.size() + (in.controllers > 0 ? 1 : 0));
  const bool chips =
      in.nodes.size() > static_cast<std::size_t>(kMaxRowNodes) || total + 12 * cards > end - top - reserved;
  double header = kGroupHeader;
  double least = chips ? 6.0 : 12.0;
  if (chips) {
    const auto count = static_cast<double>(in.groups.size());
    constexpr double kClose = 26;
    constexpr double kClosest = 3;
    if (const double have = end - top - reserved; count * (header + least) - least > have && count * (kClose + kClosest) - kClosest <= have) {
      header = kClose;  // before any is left out
      least = kClosest;
    }
    total = header * count;
  }
  const double room = end - top - total - (in.controllers > 0 ? controllers_height : 0);
  const double gap = std::clamp(std::floor(room / std::max(1.0, cards)), least, chips ? 12.0 : 96.0);
  double y = top;
  for (const LayoutGroup& g : in.groups) {
    const bool last = &g == &in.groups.back();
    GroupPlace place = group_at(g, left, y, width, chips, header);
    if (place.card.bottom() + (last ? 0 : kLabelRow) > end - reserved && !out.groups.empty()) {
      out.hidden_groups = static_cast<int>(in.groups.size() - out.groups.size());
      out.hidden_groups_label = QRectF(left, y - gap + 4, width, kLabelRow);
      y += kLabelRow;
      break;
    }
    y = place.card.bottom() + gap;
    out.groups.push_back(std::move(place));
  }
  if (in.controllers > 0) {
    out.controllers = QRectF(left, y, width, controllers_height);
    constexpr double chip_width = 54;
    constexpr double pitch = 61;
    const int fit = std::max(1, static_cast<int>((width - 24 + pitch - chip_width) / pitch));
    for (int i = 0; i < std::min(in.controllers, fit); ++i) {
      out.controller_chips.emplace_back(left + 12 + i * pitch, y + 41, chip_width, 24);
    }
    out.content.setHeight(std::max(out.content.height(), y + controllers_height + kBottom));
  }
}

}  // namespace

QRectF CellGrid::cell(int index) const noexcept {
  const int row = index / columns;
  const int column = index % columns;
  return {origin.x() + column * pitch_x, origin.y() + row * pitch_y, cell_width, cell_height};
}

std::optional<int> CellGrid::at(QPointF point) const noexcept {
  const double dx = point.x() - origin.x();
  const double dy = point.y() - origin.y();
  if (dx < 0 || dy < 0 || count <= 0) {
    return std::nullopt;
  }
  const double column = std::floor(dx / pitch_x);
  const double row = std::floor(dy / pitch_y);
  if (column >= columns || row > count / columns || dx - column * pitch_x >= cell_width ||
      dy - row * pitch_y >= cell_height) {
    return std::nullopt;
  }
  const int index = static_cast<int>(row) * columns + static_cast<int>(column);
  return index < count ? std::optional<int>(index) : std::nullopt;
}

QRectF CellGrid::bounds() const noexcept {
  if (count <= 0) {
    return {origin, QSizeF(0, 0)};
  }
  const int rows = (count + columns - 1) / columns;
  const int across = std::min(count, columns);
  return {origin.x(), origin.y(), (across - 1) * pitch_x + cell_width, (rows - 1) * pitch_y + cell_height};
}

CellGrid CellGrid::fitting(const QRectF& area, int count) {
  struct Size {
    double width, height, pitch_x, pitch_y;
  };
  constexpr std::array<Size, 7> sizes = {{{16, 14, 18, 16},
                                          {12, 10, 14, 12},
                                          {8, 8, 10, 10},
                                          {6, 6, 7, 7},
                                          {4, 4, 5, 5},
                                          {3, 3, 4, 4},
                                          {2, 2, 3, 3}}};
  CellGrid grid;
  grid.count = count;
  grid.origin = area.topLeft();
  for (const Size& size : sizes) {
    grid.cell_width = size.width;
    grid.cell_height = size.height;
    grid.pitch_x = size.pitch_x;
    grid.pitch_y = size.pitch_y;
    grid.columns = std::max(1, static_cast<int>((area.width() + size.pitch_x - size.width) / size.pitch_x));
    if (grid.bounds().height() <= area.height()) {
      break;
    }
  }
  return grid;
}

ClusterLayout layout_cluster(const LayoutIn& in) {
  ClusterLayout out;
  out.detail = in.detail;
  out.content = in.size;
  const Columns c = columns_for(in.size.width(), in.detail);
  const double brokers_left = c.margin + c.producers + c.gap;
  const double groups_left = brokers_left + c.brokers + c.gap;
  out.content.setWidth(std::max(in.size.width(), groups_left + c.groups + c.margin));
  constexpr double title_top = 13;
  constexpr double title_height = 16;
  out.producers_title = QRectF(c.margin, title_top, c.producers + c.gap - 8, title_height);
  out.brokers_title = QRectF(brokers_left, title_top, c.brokers, title_height);
  out.groups_title = QRectF(groups_left, title_top, c.groups, title_height);
  place_nodes(in, brokers_left, c.brokers, out);
  place_producers(in, c.margin, c.producers, out);
  place_groups(in, groups_left, c.groups, out);
  return out;
}

}  // namespace hw::ui::geometry
