// SPDX-License-Identifier: Apache-2.0
// LaneView: the partitions of one topic as lanes of offsets, each on its own scale (P2).
//
// Levels (log start, LSO, HW, LEO, committed positions) are counters sampled per frame for the visible partitions only;
// records are read lazily, through Session::read, for visible ranges at record zoom, and cached. A topic may have
// thousands of partitions: only what is visible is sampled, read and painted. Thread rule: UI thread only.
//
// Keys: W S zoom, A D pan, F fit, Left Right walk records, Up Down walk partitions, O opens or folds one. Ctrl+wheel zooms around
// the pointer, Shift+drag pans, dragging over offsets selects a range.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include <QElapsedTimer>
#include <QPointer>
#include <QTimer>

#include "ui/geometry/flag_layout.h"
#include "ui/geometry/offset_axis.h"
#include "ui/models/replica_facts.h"
#include "ui/session/session.h"
#include "ui/session/session_nodes.h"
#include "ui/views/object_canvas.h"
#include "ui/views/record_cache.h"

namespace hw::ui {

class LaneView : public ObjectCanvas {
  Q_OBJECT

 public:
  explicit LaneView(QWidget* parent = nullptr);

  void setSession(Session* session) { session_ = session; }
  void setTopic(const QString& topic);
  [[nodiscard]] const QString& topic() const { return topic_; }
  // For every frame while visible.
  void takeView(const observe::ViewPtr& view);
  // Which group's positions are drawn; empty: all.
  void setGroup(const QString& group);
  void setShown(bool leader, bool followers);
  void setColorByKey(bool on);

  enum class Mode : std::uint8_t { follow, fit, free };
  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] double pitch() const { return pitch_; }
  void zoom(int steps);
  void pan(double pixels);
  void fitAll();
  void setFollowing(bool on);

  void setScroll(double y);
  [[nodiscard]] double contentHeight() const;
  [[nodiscard]] double viewHeight() const;
  void setExpanded(int partition, bool expanded);
  [[nodiscard]] bool expanded(int partition) const { return expanded_.contains(partition); }
  [[nodiscard]] int partitionCount() const;

  // Where an offset of a partition is painted, in canvas units; nullopt: not visible. For tests and for leader lines.
  [[nodiscard]] std::optional<QRectF> cellRect(int partition, std::int64_t offset) const;
  [[nodiscard]] std::vector<geometry::Flag> flagsOf(int partition) const;
  [[nodiscard]] int readsInFlight() const { return reads_; }
  void setClock(std::function<std::int64_t()> clock) { clock_ = std::move(clock); }
  // Wall time in ms; tests replace it.
  void setWallClock(std::function<std::int64_t()> clock) { wall_ = std::move(clock); }
  // Records that replicas cut off until now are drawn no more.
  void dismissGhosts();
  [[nodiscard]] int ghosts() const;  // truncations drawn in what is visible
  // What is said about a replica beside its lane; empty: nothing.
  [[nodiscard]] QString replicaNote(int partition, std::int32_t node) const;

  [[nodiscard]] int objectCount() const override { return partitionCount(); }
  [[nodiscard]] CanvasObject object(int index) const override;
  [[nodiscard]] QString objectSentence(int index) const override;
  [[nodiscard]] int objectAt(QPointF point) const override;
  [[nodiscard]] int indexOf(const Selection& selection) const override;
  // Reads the counters, so that what somebody says beside the lanes is of the same moment.
  void sample();

  struct Levels {
    std::int64_t start = 0;
    std::int64_t lso = 0;
    std::int64_t hw = 0;
    std::int64_t leo = 0;
    friend bool operator==(const Levels&, const Levels&) = default;
  };

  // Partitions that are in sight: the first, and the last + 1.
  [[nodiscard]] std::pair<int, int> inSight() const { return visiblePartitions(); }

  // As a partition was drawn last, so that numbers elsewhere are the same; nullopt: it was not.
  [[nodiscard]] std::optional<Levels> levelsOf(int partition) const;
  // What the heading of an opened partition says of its leader.
  [[nodiscard]] LeaderText leaderText(int partition) const;

 signals:
  void contentChanged();           // height or partitions
  void scrollRequested(double y);  // to show what the keyboard reached
  void modeChanged();
  void sampled();  // what is in sight was looked at

 protected:
  void paintCanvas(QPainter& painter, const QRectF& exposed) override;
  [[nodiscard]] QString toolTipAt(QPointF point) const override;
  void selectionChanged() override;
  void keyPressEvent(QKeyEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  struct Note {  // about a replica, beside its lane
    QString text;
    bool warns = false;
    bool fails = false;
    bool holds = false;
    bool runs = false;  // it counts down
    friend bool operator==(const Note&, const Note&) = default;
  };
  struct Lane {
    Levels leader;
    std::vector<Levels> replicas;           // as in PartitionView::replicas
    std::vector<Note> notes;                // likewise
    LeaderText leads;                       // of an opened one
    std::vector<std::int64_t> committed;    // of the shown groups
    RecordCache cache;
    std::deque<geometry::Run> batches;      // appended while looked at, newest last
    std::optional<geometry::OffsetAxis> axis;  // in mode free
    int flag_rows = 1;
    std::int64_t flag_rows_at = 0;          // when so many were last needed
    bool reading = false;
    std::int64_t read_at = -10'000;
    std::int64_t leo_at_read = 0;
  };
  struct Place {  // where the parts of a partition are, in canvas units (scrolled)
    double top = 0;
    double height = 0;
    bool expanded = false;
    double ruler = 0;
    double flags = 0;
    double lanes = 0;  // top of the first lane
    double segments = 0;
    double epochs = 0;  // 0: there is one only
    double groups = 0;
  };
  struct Hit {
    enum class On : std::uint8_t { none, header, plot, flag, group } on = On::none;
    int partition = -1;
    std::int64_t offset = 0;
    geometry::Mark mark = geometry::Mark::log_start;
    int group = -1;
    int replica = 0;
  };

  [[nodiscard]] const observe::TopicView* topicView() const;
  [[nodiscard]] const observe::PartitionView* partitionView(int partition) const;
  [[nodiscard]] Lane& lane(int partition);
  [[nodiscard]] const Lane* laneIfAny(int partition) const;
  [[nodiscard]] NodeCondition conditionOf(BrokerId node) const;
  [[nodiscard]] bool sampleLane(int partition, Lane& lane);
  [[nodiscard]] double topOf(int partition) const;
  [[nodiscard]] double heightOf(int partition) const;
  [[nodiscard]] Place placeOf(int partition) const;
  [[nodiscard]] std::pair<int, int> visiblePartitions() const;  // first, last + 1
  [[nodiscard]] int shownReplicas(const observe::PartitionView& view) const;
  [[nodiscard]] std::vector<int> replicaOrder(const observe::PartitionView& view) const;
  [[nodiscard]] geometry::OffsetAxis axisOf(int partition, const Lane& lane) const;
  [[nodiscard]] double plotLeft() const;
  [[nodiscard]] double plotWidth() const;
  [[nodiscard]] Hit hit(QPointF point) const;
  [[nodiscard]] std::vector<const observe::GroupView*> shownGroups() const;
  void makeFree();
  void readVisible();
  void startRead(int partition, std::int64_t from, std::int64_t to);
  void refreshAll();
  bool growFlags(int partition);
  void axisMoved();

  void paintExpanded(QPainter& p, int partition, const Place& place, const observe::PartitionView& view, Lane& lane);
  void paintCollapsed(QPainter& p, int partition, const Place& place, const observe::PartitionView& view, Lane& lane);
  void paintLane(QPainter& p, const QRectF& rect, const geometry::OffsetAxis& axis, const Levels& levels, Lane& lane,
                 const observe::ReplicaView& replica, bool leads, bool in_sync, const Note* note = nullptr);
  void paintCells(QPainter& p, const QRectF& rect, const geometry::OffsetAxis& axis, const Levels& levels,
                  const Lane& lane, const QColor& fill, const QBrush& above, bool leads);
  void paintBlocks(QPainter& p, const QRectF& rect, const geometry::OffsetAxis& axis, const Levels& levels,
                   const Lane& lane, const observe::ReplicaView& replica, const QColor& fill, const QBrush& above);
  void paintRuler(QPainter& p, double y, const geometry::OffsetAxis& axis);
  void paintFlags(QPainter& p, const Place& place, int partition, const Lane& lane, double bottom);
  void paintSegments(QPainter& p, double y, const geometry::OffsetAxis& axis, const Lane& lane,
                     const observe::ReplicaView& replica);
  void paintEpochs(QPainter& p, double y, const geometry::OffsetAxis& axis, const Lane& lane, const observe::PartitionView& view);
  void paintGhosts(QPainter& p, const QRectF& rect, const geometry::OffsetAxis& axis, const observe::PartitionView& view, BrokerId node);
  void paintGroups(QPainter& p, double y, const geometry::OffsetAxis& axis, const Lane& lane, bool words);
  void paintRange(QPainter& p, int partition, const geometry::OffsetAxis& axis, double top, double bottom, bool behind);
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> rangeIn(int partition) const;
  [[nodiscard]] QString recordSentence(int partition, std::int64_t offset) const;
  [[nodiscard]] QString markSentence(int partition, geometry::Mark mark) const;

  QPointer<Session> session_;
  std::vector<NodeCondition> conditions_;  // what was done to nodes by hand
  observe::ViewPtr view_;
  QString topic_;
  QString group_;
  bool show_leader_ = true;
  bool show_followers_ = true;
  bool color_by_key_ = false;
  Mode mode_ = Mode::follow;
  double pitch_ = geometry::OffsetAxis::kRecordPitch;
  double scroll_ = 0;
  std::set<int> expanded_;
  bool expanded_chosen_ = false;
  std::map<int, Lane> lanes_;
  std::uint64_t generation_ = 0;  // of the topic: answers for an earlier one are dropped
  std::uint64_t last_version_ = 0;
  int reads_ = 0;
  Hit hover_;
  // Dragging.
  enum class Drag : std::uint8_t { none, maybe, range, pan } drag_ = Drag::none;
  QPointF drag_from_;
  int drag_partition_ = -1;
  std::int64_t drag_offset_ = 0;
  std::int64_t drag_to_ = 0;
  QTimer later_;
  QElapsedTimer steady_;
  std::function<std::int64_t()> clock_;
  std::function<std::int64_t()> wall_;
  std::int64_t ghosts_since_ms_ = 0;
  std::int64_t sampled_at_ = -1'000;
};

}  // namespace hw::ui
