// SPDX-License-Identifier: Apache-2.0
// Where everything on the cluster canvas stands: producers | brokers | consumer groups, from counts and names alone.
//
// Scale rules (visual guide, P1): up to 8 brokers with up to 24 partitions of a topic are drawn as rows with bars; above
// that a broker is a heat matrix (one cell = one replica) whose cells are computed, never stored. The cost of a layout is
// nodes + rows drawn + members drawn, whatever the cluster's size. Units: px at scale 1.0, origin at the canvas' top left.
#pragma once

#include <QPointF>
#include <QRectF>
#include <QSizeF>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace hw::ui::geometry {

enum class Detail : std::uint8_t { low, mid, full };

// A grid of equal cells, filled row by row.
struct CellGrid {
  QPointF origin;
  int columns = 1;
  int count = 0;
  double cell_width = 16;
  double cell_height = 14;
  double pitch_x = 20;
  double pitch_y = 16;

  [[nodiscard]] QRectF cell(int index) const noexcept;
  [[nodiscard]] std::optional<int> at(QPointF point) const noexcept;  // gaps belong to no cell
  [[nodiscard]] QRectF bounds() const noexcept;
  // The largest of a few cell sizes with which `count` cells fit into `area`; the smallest where none does.
  [[nodiscard]] static CellGrid fitting(const QRectF& area, int count);
};

struct LayoutTopic {
  int partitions = 0;  // replicas of this topic on the node
};
struct LayoutNode {
  std::vector<LayoutTopic> topics;  // the focused topic first
  int more_topics = 0;              // left out before
};
struct LayoutProducer {
  bool keys = false;  // a row of key chips
};
struct LayoutGroup {
  std::vector<int> member_chips;  // partitions shown behind each member
  bool note = false;              // one line in place of members, for "no members"
};
struct LayoutIn {
  QSizeF size;
  Detail detail = Detail::mid;
  std::vector<LayoutNode> nodes;
  std::vector<LayoutProducer> producers;
  std::vector<LayoutGroup> groups;
  int controllers = 0;
};

struct RowPlace {
  int topic = 0;      // index into LayoutNode::topics
  int partition = 0;  // n-th replica of that topic on the node
  QRectF rect;        // the whole row, card edge to card edge
  QRectF bar;         // the track
};
struct TopicPlace {
  int topic = 0;
  QRectF label;                    // the row with its name; for a cell row the same row
  std::optional<CellGrid> cells;   // one row of cells, or a matrix
  bool rows = false;               // drawn as RowPlace
};
struct NodePlace {
  QRectF card;
  QRectF header;
  std::vector<TopicPlace> topics;
  std::vector<RowPlace> rows;
  int hidden_topics = 0;
  QRectF hidden_label;
};
struct MemberPlace {
  QRectF rect;
  QRectF chips;  // where partition chips may stand
};
struct GroupPlace {
  QRectF card;
  QRectF header;
  std::vector<MemberPlace> members;
  int hidden_members = 0;
  QRectF hidden_label;
};
struct ProducerPlace {
  QRectF card;
};
struct ClusterLayout {
  Detail detail = Detail::mid;
  bool matrix = false;  // nodes are heat matrices
  QRectF producers_title;
  QRectF brokers_title;
  QRectF groups_title;
  std::vector<ProducerPlace> producers;  // the first ones; the others are hidden
  int hidden_producers = 0;
  QRectF hidden_producers_label;
  std::vector<NodePlace> nodes;
  std::vector<GroupPlace> groups;
  int hidden_groups = 0;
  QRectF hidden_groups_label;
  QRectF controllers;                    // empty: none
  std::vector<QRectF> controller_chips;
  QSizeF content;  // at least LayoutIn::size; larger when the cluster does not fit
};

inline constexpr int kMaxRowNodes = 8;
inline constexpr int kMaxRowPartitions = 24;
inline constexpr int kFocusOnly = 200;  // more partitions in the cluster: only the focused topic is shown

[[nodiscard]] ClusterLayout layout_cluster(const LayoutIn& in);

}  // namespace hw::ui::geometry
