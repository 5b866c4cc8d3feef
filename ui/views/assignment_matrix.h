// SPDX-License-Identifier: Apache-2.0
// AssignmentMatrix: who reads what. Rows are members, columns are partitions; a cell is filled where a member owns a partition,
// with its lag. Members without a partition say so. While a rebalance hands partitions on, what members hold and what the assignor
// wants differ: a dashed cell stays at the member that gave the partition back, until somebody is given it. In a consumer group the
// coordinator tells its target: there a dashed cell stands at the member that shall have the partition.
//
// Sizes follow the number of partitions: up to 8 with lag in words, up to 40 narrow, beyond that one square each; the widget is as
// large as its matrix and stands in a scroll area, which paints only what is seen. All sizes at scale 1.0.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ui/models/group_model.h"
#include "ui/views/object_canvas.h"

namespace hw::ui {

class AssignmentMatrix : public ObjectCanvas {
  Q_OBJECT

 public:
  explicit AssignmentMatrix(QWidget* parent = nullptr);
  // Repaints what differs. `facts` null: no group. `now_ms`: wall time, for signs of life.
  void show(const GroupFacts* facts, std::int64_t now_ms);
  // A member's id without what its client's name says already: "851b".
  [[nodiscard]] static QString shortMember(const std::string& id, const std::string& client);
  [[nodiscard]] static QString seenWords(std::int64_t ms);
  [[nodiscard]] int idleMembers() const { return idle_; }
  [[nodiscard]] int memberCount() const { return static_cast<int>(members_.size()); }
  [[nodiscard]] int partitionCount() const { return static_cast<int>(columns_.size()); }
  // Partitions that a member has given back and nobody has been given yet.
  [[nodiscard]] int onTheWay() const { return on_the_way_; }
  // Partitions of a consumer group that another member shall have than the one that reads them.
  [[nodiscard]] int wanted() const { return wanted_; }
  // The width that the viewport offers, at scale 1.0: columns grow into it.
  void setRoom(double width);

  int objectCount() const override;
  CanvasObject object(int index) const override;
  QString objectSentence(int index) const override;
  QAccessible::Role objectRole(int index) const override;
  int objectAt(QPointF point) const override;
  QSize sizeHint() const override;

 protected:
  void paintCanvas(QPainter& painter, const QRectF& exposed) override;
  QString toolTipAt(QPointF point) const override;

 private:
  struct Column {
    std::string topic;
    std::int32_t partition = 0;
    int owner = -1;           // row of the member; -1: nobody
    int from = -1;            // nobody owns it: row of the member that did before; -1: none of these
    int to = -1;              // row of the member that the target gives it to; -1: none is known
    std::int64_t lag = -1;    // -1: no position
    LagStatus status = LagStatus::ok;
    friend bool operator==(const Column&, const Column&) = default;
  };
  struct Member {
    std::string id;
    std::string client;
    std::string host;
    std::string instance;
    int owned = 0;
    int wanted = 0;             // by the target
    std::int64_t seen_ms = -1;  // since its last sign of life, in steps that a person reads
    std::int64_t lag = 0;
    friend bool operator==(const Member&, const Member&) = default;
  };
  [[nodiscard]] double columnWidth() const;
  [[nodiscard]] double columnsLeft() const;
  [[nodiscard]] double columnLeft(std::size_t column) const;
  [[nodiscard]] double seenLeft() const;
  [[nodiscard]] QRectF cellOf(std::size_t column, std::size_t row) const;
  [[nodiscard]] double rowTop(std::size_t row) const;
  [[nodiscard]] double heightNeeded() const;
  void fitNames();
  void resizeToFit();
  void findGivenBack(std::vector<Column>& columns, const std::vector<Member>& members) const;
  void rememberOwners(bool rebalancing);

  QString group_;
  // Who owned a partition last, by topic and partition; a member that leaves owns nothing.
  std::map<std::pair<std::string, std::int32_t>, std::string> last_owner_;
  std::vector<Column> columns_;
  std::vector<Member> members_;
  int idle_ = 0;
  int on_the_way_ = 0;
  int wanted_ = 0;
  int topics_ = 0;
  double room_ = 480;
  double names_ = 176;   // room for member and client
  bool nobody_ = false;  // partitions that no member owns get a row of their own
};

}  // namespace hw::ui
