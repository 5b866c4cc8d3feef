// SPDX-License-Identifier: Apache-2.0
// ClusterCanvas: the home page's picture. Producers, brokers with their replicas, consumer groups, and what flows.
//
// Cards, names and edges are a cached layer; replica rows, rates, lags and travelling records are painted over it, each
// repainted only where its value changed. Records travel ≤ 250 ms along an edge while it carries fewer than 20 per
// second (with reduced motion its plate lights up for a second instead). Nothing runs while nothing changes.
// Thread rule: UI thread only.
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <functional>
#include <vector>

#include "ui/geometry/cluster_layout.h"
#include "ui/geometry/edge.h"
#include "ui/painting/static_layer.h"
#include "ui/views/cluster_model.h"
#include "ui/views/object_canvas.h"

namespace hw::ui {

class ClusterCanvas : public ObjectCanvas {
  Q_OBJECT

 public:
  explicit ClusterCanvas(QWidget* parent = nullptr);

  // For every frame of the session while visible.
  void takeView(const observe::ViewPtr& view, const QString& bootstrap);
  // What was done to nodes by hand; before takeView().
  void setConditions(std::vector<NodeCondition> conditions);
  void setJudge(std::function<LagStatus(const QString& group)> judge) { model_.setJudge(std::move(judge)); }
  void setDetail(geometry::Detail detail);
  [[nodiscard]] geometry::Detail detail() const { return detail_; }
  // The size that the canvas may fill without scrolling, in widget pixels.
  void setViewport(QSize size);
  [[nodiscard]] const ClusterModel& model() const { return model_; }
  [[nodiscard]] const geometry::ClusterLayout& layoutOf() const { return layout_; }
  // Where the edge of that key of the model ends, in the layout's units; nullopt: it is not drawn.
  [[nodiscard]] std::optional<QPointF> edgeEnd(const QString& key) const;
  // A place of this size (widget pixels) that covers no card and no text, near the brokers; nullopt: there is none.
  [[nodiscard]] std::optional<QPoint> freeSpot(QSize size) const;
  // The whole card of a node, in widget pixels; empty: it has none.
  [[nodiscard]] QRect cardOf(std::int32_t node) const;
  // Milliseconds that only differences of are used; tests replace it.
  void setClock(std::function<std::int64_t()> clock) { clock_ = std::move(clock); }
  // Ends what timers would do later: tests and pictures.
  void tickNow();
  // While it is hidden somebody else shows its rates: closes them where a second has passed. True while anything flows.
  bool tickHidden();
  [[nodiscard]] std::size_t travelling() const { return travellers_.size(); }
  [[nodiscard]] bool timersRunning() const { return tick_.isActive() || motion_.isActive() || later_.isActive(); }

  [[nodiscard]] int objectCount() const override;
  [[nodiscard]] CanvasObject object(int index) const override;
  [[nodiscard]] QString objectSentence(int index) const override;
  [[nodiscard]] int objectAt(QPointF point) const override;
  [[nodiscard]] int indexOf(const Selection& selection) const override;

 signals:
  // Header texts may have changed.
  void summaryChanged();

 protected:
  void paintCanvas(QPainter& painter, const QRectF& exposed) override;
  void selectionChanged() override;
  void changeEvent(QEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  [[nodiscard]] QString toolTipAt(QPointF point) const override;

 private:
  enum class What : std::uint8_t { producer, node, topic, replica, group, member, controller };
  struct Item {
    What what = What::node;
    std::size_t a = 0;  // producer, node, group or controller
    std::size_t b = 0;  // topic or member
    std::size_t c = 0;  // replica
    QRectF rect;
  };
  struct CellRange {  // the cells of one matrix, as virtual items after items_
    int first = 0;
    std::size_t node = 0;
    std::size_t topic = 0;
    const geometry::CellGrid* grid = nullptr;
  };
  struct DrawnEdge {
    QString key;
    geometry::Cubic curve;
    double width = 1.5;
    QRectF plate;      // empty: no rate
    QString text;
    bool broken = false;
    bool halted = false;
    bool dead = false;     // nothing arrives: no head, and no rate of others at its end
    QPointF port;          // where it ends while something arrives
    bool crossed = false;  // the one of its bundle with a cross
    std::int64_t lit_until = 0;
  };
  struct DrawnLink {
    std::size_t link = 0;   // of the model
    int back = -1;          // of a bracket: the link in the other direction
    std::vector<QPointF> path;
    QRectF label;
    QString text;
    bool bracket = false;   // beside the cards, where others stand between
    std::size_t upper = 0;
    std::size_t lower = 0;
  };
  struct Traveller {
    std::size_t edge = 0;
    std::int64_t start = 0;
    std::optional<Bytes> key;
    QRectF last;
  };

  void relayout();
  void buildItems();
  void buildEdges();
  void buildLinks();
  bool refreshLinks();
  [[nodiscard]] QString linkText(const ClusterModel::Link& link) const;
  [[nodiscard]] QString linkSentence(const ClusterModel::Link& link) const;
  [[nodiscard]] const ClusterModel::Link* linkAt(QPointF point) const;
  bool refreshRates();
  void sample(bool only_selected);
  void startJourneys(const std::vector<ClusterModel::Journey>& journeys);
  void moveTravellers();
  void onTick();
  [[nodiscard]] Item itemAt(int index) const;
  [[nodiscard]] Selection selectionOf(const Item& item) const;
  [[nodiscard]] const ClusterModel::Replica& replicaOf(const Item& item) const;
  [[nodiscard]] bool partitionSelected(const QString& topic, std::int32_t partition) const;
  [[nodiscard]] std::int64_t now() const { return clock_(); }

  void paintStatic(QPainter& p);
  void paintEdges(QPainter& p);
  void paintLinks(QPainter& p);
  void paintNodeCard(QPainter& p, std::size_t node);
  void paintGroupCard(QPainter& p, std::size_t group);
  void paintControllers(QPainter& p);
  void paintProducer(QPainter& p, std::size_t producer);
  void paintRow(QPainter& p, std::size_t node, const geometry::RowPlace& row);
  void paintCells(QPainter& p, std::size_t node, const geometry::TopicPlace& place, const QRectF& exposed);
  void paintMember(QPainter& p, std::size_t group, std::size_t member);
  void paintPlates(QPainter& p, const QRectF& exposed);
  void paintMarks(QPainter& p);

  ClusterModel model_;
  geometry::ClusterLayout layout_;
  geometry::Detail detail_ = geometry::Detail::mid;
  QSizeF viewport_{800, 600};
  QString bootstrap_;
  StaticLayer static_;
  std::vector<Item> items_;
  std::vector<CellRange> cells_;
  int cell_count_ = 0;
  std::vector<DrawnEdge> edges_;
  std::vector<DrawnLink> links_;
  std::vector<Traveller> travellers_;
  QTimer tick_;
  QTimer motion_;
  QTimer later_;
  QElapsedTimer steady_;
  std::function<std::int64_t()> clock_;
  std::int64_t sampled_at_ = -1'000;
  std::int64_t ticked_at_ = -1'000;
  std::int64_t lags_at_ = -1'000;
};

}  // namespace hw::ui
