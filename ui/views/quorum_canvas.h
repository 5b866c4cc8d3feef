// SPDX-License-Identifier: Apache-2.0
// QuorumCanvas: the replicas of the metadata log on one scale of offsets, and below them how an election went: what each voter was
// at which time, and who voted for whom.
//
// Facts come with take(); the canvas repaints only what they change. Objects: the replicas (their nodes), then the elections, newest
// first; the one that is chosen is drawn as a chart. Thread rule: UI thread only.
#pragma once

#include <set>
#include <vector>

#include "ui/geometry/step_scale.h"
#include "ui/models/election_history.h"
#include "ui/models/quorum_facts.h"
#include "ui/views/object_canvas.h"

namespace hw::ui {

class QuorumCanvas : public ObjectCanvas {
  Q_OBJECT

 public:
  explicit QuorumCanvas(QWidget* parent = nullptr);

  void take(QuorumFacts facts, std::vector<Election> elections);
  [[nodiscard]] const QuorumFacts& facts() const { return facts_; }
  [[nodiscard]] const std::vector<Election>& elections() const { return elections_; }
  // Index of the election whose chart is drawn; -1: there was none.
  [[nodiscard]] int chosen() const;
  void choose(int election);

  [[nodiscard]] int objectCount() const override;
  [[nodiscard]] CanvasObject object(int index) const override;
  [[nodiscard]] QString objectSentence(int index) const override;
  // Nobody leads, and nobody asks for votes yet: all elections are over. What is said of it; empty: it is not so.
  [[nodiscard]] QString awaited() const;
  // Whether the chart is about an election whose leader is gone while none has begun after it.
  [[nodiscard]] bool previous() const;
  // Where the steps of an election stand in its chart, `wide` px across.
  [[nodiscard]] static geometry::StepScale scaleOf(const Election& election, std::int64_t until_ms, double left, double width);
  [[nodiscard]] static double voteReach(const geometry::StepScale& scale, int step);  // px to the right until a vote has arrived
  // What happened in an election, step by step.
  [[nodiscard]] static QString story(const Election& election);

 protected:
  void paintCanvas(QPainter& painter, const QRectF& exposed) override;
  [[nodiscard]] QString toolTipAt(QPointF point) const override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Places {
    double voters = 0;     // top of the title
    double observers = 0;  // top of the title; 0: there are none
    double awaited = 0;    // top of what is said while the next election is awaited; 0: it is not
    double chart = 0;      // top of its title; 0: there was no election
    double chart_rows = 0;
    double list = 0;       // top of the title of the elections
    double end = 0;
  };
  [[nodiscard]] Places places() const;
  [[nodiscard]] double wide() const;
  [[nodiscard]] QRectF rowRect(int replica) const;
  [[nodiscard]] QRectF electionRect(int row) const;  // row 0: the newest
  [[nodiscard]] const QuorumReplica& replica(int index) const;
  [[nodiscard]] int replicas() const;

  // The rows of the list, newest first. What came to the same several times in a row is one.
  struct Listed {
    int newest = 0;  // index of the election
    int count = 1;
  };

  [[nodiscard]] std::vector<Listed> listedRows() const;

  [[nodiscard]] int listed() const { return static_cast<int>(rows_.size()); }

  [[nodiscard]] bool narrow() const;  // the list needs two lines for a row
  [[nodiscard]] double labelsRoom() const;   // left of the bars
  [[nodiscard]] double numbersRoom() const;  // right of them
  [[nodiscard]] double listRow() const;
  void fitHeight();
  [[nodiscard]] double storyHeight() const;
  void chooseAt(int object);
  void paintReplicas(QPainter& p, const Places& at);
  void paintReplica(QPainter& p, int index, double left, double width, std::int64_t from, std::int64_t to);
  void paintChart(QPainter& p, const Places& at, const Election& election);
  void paintLegend(QPainter& p, double y, const Election& election, const std::set<event::QuorumRole>& unnamed);
  void paintList(QPainter& p, const Places& at);

  QuorumFacts facts_;
  std::vector<Election> elections_;  // oldest first
  std::vector<Listed> rows_;
  std::int64_t chosen_began_ = -1;   // of the chosen one; -1: the newest
};

}  // namespace hw::ui
