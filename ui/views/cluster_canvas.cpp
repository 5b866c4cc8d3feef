// SPDX-License-Identifier: Apache-2.0
#include "ui/views/cluster_canvas.h"

#include <QEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "ui/models/group_model.h"
#include "ui/painting/text.h"
#include "ui/theme/glyphs.h"

namespace hw::ui {

namespace {

using geometry::Cubic;
using geometry::Detail;

constexpr std::int64_t kJourneyMs = 250;
constexpr std::int64_t kLitMs = 1'000;
constexpr std::int64_t kSampleEveryMs = 30;
constexpr std::int64_t kLagEveryMs = 200;
constexpr std::size_t kMaxTravellers = 100;
constexpr std::size_t kMaxEdges = 100;
constexpr int kTickMs = 1'000;
constexpr int kMotionMs = 33;
constexpr double kSquare = 12;
constexpr double kPlaceholderLine = 28;  // where an application of one's own would connect
constexpr double kArrive = 0.94;  // a square stops before the card, not on its border

double ease_out(double t) { return 1 - (1 - t) * (1 - t); }

Glyph node_glyph(const ClusterModel::Node& node) {
  if (!node.offline() && !node.condition.healthy()) {
    return Glyph::bolt;
  }
  if (!node.offline() && node.state == observe::NodeView::State::running && (node.fenced || node.leaving)) {
    return Glyph::quarter;
  }
  switch (node.state) {
    case observe::NodeView::State::starting:
      return Glyph::ring;
    case observe::NodeView::State::running:
      return Glyph::disc;
    case observe::NodeView::State::stopped:
    case observe::NodeView::State::killed:
      return Glyph::cross;
  }
  return Glyph::none;
}

Glyph group_glyph(const ClusterModel::Group& group) {
  if (group.trouble_glyph != Glyph::none) {
    return group.trouble_glyph;
  }
  if (group.plain || group.state == QLatin1String("Stable")) {
    return Glyph::disc;
  }
  if (group.state == QLatin1String("Empty")) {
    return Glyph::ring;
  }
  return group.state == QLatin1String("Dead") ? Glyph::cross : Glyph::quarter;
}

// What was done to a running node, in a word.
QString fault_word(const ClusterModel::Node& node) {
  if (node.condition.working) {
    return ClusterCanvas::tr("working…");
  }
  if (node.offline()) {
    return {};
  }
  QStringList words;
  if (node.condition.paused) {
    words << ClusterCanvas::tr("paused");
  }
  if (node.condition.cut_off) {
    words << ClusterCanvas::tr("cut off");
  }
  if (node.condition.slow) {
    words << ClusterCanvas::tr("slow");
  }
  if (node.leaving && !node.fenced) {
    words << ClusterCanvas::tr("shutting down");
  } else if (node.fenced && node.state == observe::NodeView::State::running) {
    words << ClusterCanvas::tr("fenced");
  }
  return words.join(QStringLiteral(", "));
}

// Short: it stands where a part of the bar was.
QString leaves_text(const ClusterModel::Replica& replica) {
  return ClusterCanvas::tr("leaves ISR in %1 s").arg(replica.leaves_s);
}

// Rows and members that a card has no place for are still told about.
QString more_text(int count, const QString& what) { return QStringLiteral("+ %1 %2").arg(format_count(count), what); }

}  // namespace

ClusterCanvas::ClusterCanvas(QWidget* parent) : ObjectCanvas(parent) {
  setObjectName(QStringLiteral("clusterCanvas"));
  setAccessibleName(tr("Cluster canvas"));
  steady_.start();
  clock_ = [this] { return steady_.elapsed(); };
  tick_.setInterval(kTickMs);
  connect(&tick_, &QTimer::timeout, this, &ClusterCanvas::onTick);
  motion_.setInterval(kMotionMs);
  connect(&motion_, &QTimer::timeout, this, &ClusterCanvas::moveTravellers);
  later_.setSingleShot(true);
  connect(&later_, &QTimer::timeout, this, [this] { sample(false); });
}

void ClusterCanvas::setConditions(std::vector<NodeCondition> conditions) {
  if (model_.setConditions(std::move(conditions))) {
    static_cast<void>(refreshLinks());
    static_cast<void>(refreshRates());
    static_.invalidate();
    objectsChanged();
    update();
    Q_EMIT summaryChanged();
  }
}

void ClusterCanvas::setDetail(Detail detail) {
  if (detail != detail_) {
    detail_ = detail;
    relayout();
  }
}

void ClusterCanvas::setViewport(QSize size) {
  const double s = Theme::current().scale();
  const QSizeF wanted(size.width() / s, size.height() / s);
  if (wanted != viewport_) {
    viewport_ = wanted;
    relayout();
  }
}

void ClusterCanvas::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    static_.invalidate();
    update();
  }
  ObjectCanvas::changeEvent(event);
}

void ClusterCanvas::hideEvent(QHideEvent* event) {
  // A hidden canvas runs nothing; the first frame after it is shown again catches up.
  tick_.stop();
  motion_.stop();
  later_.stop();
  travellers_.clear();
  ObjectCanvas::hideEvent(event);
}

void ClusterCanvas::takeView(const observe::ViewPtr& view, const QString& bootstrap) {
  const std::int64_t at = now();
  const bool first = static_.rebuilds() == 0 && items_.empty();
  if (bootstrap != bootstrap_) {
    bootstrap_ = bootstrap;
    static_.invalidate();
  }
  const ClusterModel::Changes changes = model_.take(view, at);
  if (changes.structure || first) {
    relayout();
    Q_EMIT summaryChanged();
  }
  if (!changes.journeys.empty()) {
    startJourneys(changes.journeys);
  }
  // The selected object paints with this frame, everything else at most 30 times a second.
  const std::int64_t since = at - sampled_at_;
  if (since >= kSampleEveryMs) {
    sample(false);
  } else {
    sample(true);
    if (!later_.isActive()) {
      later_.start(static_cast<int>(kSampleEveryMs - since));
    }
  }
}

bool ClusterCanvas::partitionSelected(const QString& topic, std::int32_t partition) const {
  const Selection& s = selection();
  return s.inPartition() && s.partition == partition && s.topic == topic;
}

void ClusterCanvas::sample(bool only_selected) {
  const std::int64_t at = now();
  if (!only_selected) {
    sampled_at_ = at;
  }
  bool moved = false;
  auto& nodes = model_.nodes();
  for (std::size_t n = 0; n < layout_.nodes.size() && n < nodes.size(); ++n) {
    const geometry::NodePlace& place = layout_.nodes[n];
    for (const geometry::RowPlace& row : place.rows) {
      ClusterModel::Topic& topic = nodes[n].topics[static_cast<std::size_t>(row.topic)];
      ClusterModel::Replica& replica = topic.replicas[static_cast<std::size_t>(row.partition)];
      if (only_selected && !partitionSelected(topic.name, replica.partition)) {
        continue;
      }
      if (replica.sample(at)) {
        updateRect(row.rect);
        moved = true;
      }
    }
    if (only_selected) {
      continue;
    }
    for (const geometry::TopicPlace& topic_place : place.topics) {
      if (!topic_place.cells) {
        continue;
      }
      int changed = 0;
      QRectF area;
      auto& replicas = nodes[n].topics[static_cast<std::size_t>(topic_place.topic)].replicas;
      for (std::size_t r = 0; r < replicas.size(); ++r) {
        const bool bright = replicas[r].bright;
        replicas[r].sample(at);
        if (bright != replicas[r].bright) {
          ++changed;
          area |= topic_place.cells->cell(static_cast<int>(r));
        }
        moved = moved || replicas[r].bright;
      }
      if (changed > 0) {
        updateRect(area);
      }
    }
  }
  if (!only_selected && at - lags_at_ >= kLagEveryMs) {
    lags_at_ = at;
    if (model_.sampleLags(layout_.groups.size())) {
      for (const geometry::GroupPlace& group : layout_.groups) {
        for (const geometry::MemberPlace& member : group.members) {
          updateRect(member.rect);
        }
      }
    }
  }
  if ((moved || model_.moving()) && !tick_.isActive() && isVisible()) {
    // The first tick starts the rates; a later one has something to compare with.
    static_cast<void>(model_.tick(at));
    tick_.start();
  }
}

void ClusterCanvas::tickNow() { onTick(); }

bool ClusterCanvas::tickHidden() {
  const std::int64_t at = now();
  if (!tick_.isActive() && at - ticked_at_ >= kTickMs) {
    ticked_at_ = at;
    static_cast<void>(model_.tick(at));
  }
  return model_.moving();
}

void ClusterCanvas::onTick() {
  const ClusterModel::Tick tick = model_.tick(now());
  if (tick.structure) {
    relayout();
    Q_EMIT summaryChanged();
  } else if (tick.changed) {
    const bool links = refreshLinks();
    if (refreshRates() || links || tick.cards) {
      static_.invalidate();
      update();
    }
    for (std::size_t g = 0; g < layout_.groups.size(); ++g) {
      for (const geometry::MemberPlace& member : layout_.groups[g].members) {
        updateRect(member.rect);
      }
    }
  }
  sample(false);
  if (!tick.again) {
    tick_.stop();
  }
}

// --- layout

void ClusterCanvas::relayout() {
  geometry::LayoutIn in;
  in.size = viewport_;
  in.detail = detail_;
  for (const ClusterModel::Node& node : model_.nodes()) {
    geometry::LayoutNode n;
    for (const ClusterModel::Topic& topic : node.topics) {
      n.topics.push_back({static_cast<int>(topic.replicas.size())});
    }
    n.more_topics = node.more_topics;
    in.nodes.push_back(std::move(n));
  }
  for (const ClusterModel::Producer& producer : model_.producers()) {
    in.producers.push_back({!producer.keys.empty()});
  }
  for (const ClusterModel::Group& group : model_.groups()) {
    geometry::LayoutGroup g;
    for (const ClusterModel::Member& member : group.members) {
      g.member_chips.push_back(static_cast<int>(member.chips.size()));
    }
    g.note = group.members.empty();
    in.groups.push_back(std::move(g));
  }
  in.controllers = static_cast<int>(model_.controllers().size());
  layout_ = geometry::layout_cluster(in);
  const double s = Theme::current().scale();
  setMinimumSize(QSize(layout_.content.width() > viewport_.width() ? qCeil(layout_.content.width() * s) : 0,
                       layout_.content.height() > viewport_.height() ? qCeil(layout_.content.height() * s) : 0));
  buildItems();
  buildEdges();
  buildLinks();
  static_.invalidate();
  objectsChanged();
  update();
}

void ClusterCanvas::buildItems() {
  items_.clear();
  cells_.clear();
  cell_count_ = 0;
  for (std::size_t i = 0; i < layout_.producers.size(); ++i) {
    items_.push_back({What::producer, i, 0, 0, layout_.producers[i].card});
  }
  for (std::size_t n = 0; n < layout_.nodes.size(); ++n) {
    const geometry::NodePlace& place = layout_.nodes[n];
    items_.push_back({What::node, n, 0, 0, place.header});
    std::size_t row = 0;
    for (const geometry::TopicPlace& topic : place.topics) {
      const auto t = static_cast<std::size_t>(topic.topic);
      if (!topic.label.isEmpty()) {
        items_.push_back({What::topic, n, t, 0, topic.label});
      }
      for (; row < place.rows.size() && place.rows[row].topic == topic.topic; ++row) {
        items_.push_back({What::replica, n, t, static_cast<std::size_t>(place.rows[row].partition), place.rows[row].rect});
      }
    }
  }
  for (std::size_t g = 0; g < layout_.groups.size(); ++g) {
    items_.push_back({What::group, g, 0, 0, layout_.groups[g].header});
    for (std::size_t m = 0; m < layout_.groups[g].members.size(); ++m) {
      items_.push_back({What::member, g, m, 0, layout_.groups[g].members[m].rect});
    }
  }
  for (std::size_t c = 0; c < layout_.controller_chips.size(); ++c) {
    items_.push_back({What::controller, c, 0, 0, layout_.controller_chips[c]});
  }
  for (std::size_t n = 0; n < layout_.nodes.size(); ++n) {
    for (const geometry::TopicPlace& topic : layout_.nodes[n].topics) {
      if (topic.cells && topic.cells->pitch_x >= 3) {
        cells_.push_back({static_cast<int>(items_.size()) + cell_count_, n, static_cast<std::size_t>(topic.topic),
                          &*topic.cells});
        cell_count_ += topic.cells->count;
      }
    }
  }
}

void ClusterCanvas::buildEdges() {
  std::vector<DrawnEdge> before = std::move(edges_);
  edges_.clear();
  travellers_.clear();
  // Ports: producers enter at the rows that a node leads, members leave at the row of their first partition.
  const auto& nodes = layout_.nodes;
  std::map<std::size_t, std::vector<const ClusterModel::Edge*>> entering;
  std::map<std::size_t, std::vector<const ClusterModel::Edge*>> leaving_producer;
  std::map<std::size_t, std::vector<const ClusterModel::Edge*>> leaving_node;
  std::vector<std::pair<QString, const ClusterModel::Edge*>> shown;
  for (const auto& [key, edge] : model_.edges()) {
    const bool placed = edge.node < nodes.size() &&
                        (edge.kind == ClusterModel::Edge::Kind::produce ? edge.client < layout_.producers.size()
                                                                        : edge.client < layout_.groups.size());
    if (placed && shown.size() < kMaxEdges) {
      shown.emplace_back(key, &edge);
    }
  }
  std::sort(shown.begin(), shown.end(), [](const auto& x, const auto& y) {
    const auto order = [](const ClusterModel::Edge& e) {
      return std::make_tuple(e.kind, e.client, e.member, e.node);
    };
    return order(*x.second) < order(*y.second);
  });
  for (const auto& [key, edge] : shown) {
    if (edge->kind == ClusterModel::Edge::Kind::produce) {
      entering[edge->node].push_back(edge);
      leaving_producer[edge->client].push_back(edge);
    } else {
      leaving_node[edge->node].push_back(edge);
    }
  }
  const auto position = [](const std::vector<const ClusterModel::Edge*>& all, const ClusterModel::Edge* one) {
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), one) - all.begin());
  };
  const auto side_y = [&](std::size_t node, std::size_t index, std::size_t count) {
    const geometry::NodePlace& place = nodes[node];
    std::vector<double> led;  // who writes writes to a leader
    for (const geometry::RowPlace& r : place.rows) {
      const ClusterModel::Topic& topic = model_.nodes()[node].topics[static_cast<std::size_t>(r.topic)];
      if (topic.name == model_.focusTopic() && topic.replicas[static_cast<std::size_t>(r.partition)].state == ReplicaState::leader) {
        led.push_back(r.rect.center().y());
      }
    }
    if (!led.empty()) {
      const std::size_t share = (count + led.size() - 1) / led.size();  // of one row
      const double spread = (static_cast<double>(index / led.size()) - static_cast<double>(share - 1) / 2) * 6;
      return led[index % led.size()] + std::clamp(spread, -8.0, 8.0);
    }
    if (count <= place.rows.size()) {
      return place.rows[index].rect.center().y();
    }
    return geometry::port_y(place.card.top() + 34, place.card.bottom() - 8, index, count, 16);
  };
  // Where a topic without rows of its own stands on a node: its line, else the line of what is hidden.
  const auto line_of = [&](std::size_t node, const QString& topic) {
    const geometry::NodePlace& place = nodes[node];
    for (const geometry::TopicPlace& t : place.topics) {
      if (model_.nodes()[node].topics[static_cast<std::size_t>(t.topic)].name == topic) {
        return t.cells ? t.cells->bounds().center().y() : t.label.center().y();
      }
    }
    return (place.hidden_label.isEmpty() ? place.header : place.hidden_label).center().y();
  };
  for (const auto& [key, edge] : shown) {
    DrawnEdge drawn;
    drawn.key = key;
    const QRectF& node = nodes[edge->node].card;
    if (edge->kind == ClusterModel::Edge::Kind::produce) {
      const QRectF& card = layout_.producers[edge->client].card;
      const auto& out = leaving_producer[edge->client];
      const auto& in = entering[edge->node];
      const double from_y = geometry::port_y(card.top() + 6, card.bottom() - 6, position(out, edge), out.size(), 16);
      const bool focused = edge->topic == model_.focusTopic();
      const double to_y = focused ? side_y(edge->node, position(in, edge), in.size()) : line_of(edge->node, edge->topic);
      drawn.curve = Cubic::between({card.right(), from_y}, {node.left() - 1, to_y});
    } else {
      const geometry::GroupPlace& group = layout_.groups[edge->client];
      const bool row = edge->member < group.members.size();
      const double to_y = row ? group.members[edge->member].rect.center().y() : group.header.center().y();
      double from_y = 0;
      for (const geometry::RowPlace& r : nodes[edge->node].rows) {
        const ClusterModel::Topic& topic = model_.nodes()[edge->node].topics[static_cast<std::size_t>(r.topic)];
        const std::int32_t partition = topic.replicas[static_cast<std::size_t>(r.partition)].partition;
        const bool reads = std::any_of(edge->partitions.begin(), edge->partitions.end(), [&](const auto& p) {
          return p.second == partition && topic.name == QString::fromStdString(p.first);
        });
        if (reads) {
          from_y = r.rect.center().y();
          break;
        }
      }
      const auto& out = leaving_node[edge->node];
      if (from_y == 0 && !edge->partitions.empty()) {
        const double spread = (static_cast<double>(position(out, edge)) - static_cast<double>(out.size() - 1) / 2) * 8;
        from_y = line_of(edge->node, QString::fromStdString(edge->partitions.front().first)) +
                 std::clamp(spread, -10.0, 10.0);
      }
      drawn.curve = Cubic::between({node.right(), from_y}, {group.card.left() - 1, to_y});
    }
    drawn.port = drawn.curve.to;
    for (const DrawnEdge& old : before) {
      if (old.key == key) {
        drawn.lit_until = old.lit_until;
      }
    }
    edges_.push_back(std::move(drawn));
  }
  static_cast<void>(refreshRates());
}

std::optional<QPointF> ClusterCanvas::edgeEnd(const QString& key) const {
  const auto at = std::find_if(edges_.begin(), edges_.end(), [&](const DrawnEdge& edge) { return edge.key == key; });
  return at == edges_.end() ? std::nullopt : std::optional(at->curve.to);
}

// Rates, widths and plates from the model; true where a width changed, so that the static layer must follow.
bool ClusterCanvas::refreshRates() {
  bool widths = false;
  std::vector<QRectF> taken;
  for (std::size_t i = 0; i < layout_.producers.size() && i < model_.producers().size(); ++i) {
    if (model_.producers()[i].placeholder) {  // nothing flows there, and no plate may look as if
      const QRectF& card = layout_.producers[i].card;
      constexpr double kClear = 14;  // one at its end would look as if, too
      taken.emplace_back(card.right(), card.center().y() - 3, kPlaceholderLine + kClear, 6);
    }
  }
  // A plate on every edge while there are few. Among many nobody could tell whose it is: then there is one at the end where they
  // meet, with what all of them carry: before a member or its group, behind a producer.
  struct Sum {
    double rate = 0;
    bool told = false;
  };
  constexpr int kPlatesApart = 3;
  constexpr int kLinesApart = 6;  // more of them cross each other, also where nothing flows
  std::map<std::pair<bool, std::pair<double, double>>, Sum> sums;
  int counts[2] = {0, 0};
  int lines[2] = {0, 0};
  const auto end_of = [&](const DrawnEdge& drawn, const ClusterModel::Edge& edge) {
    const bool produces = edge.kind == ClusterModel::Edge::Kind::produce;
    const QRectF card = produces && edge.client < layout_.producers.size() ? layout_.producers[edge.client].card : QRectF();
    const QPointF at = produces ? QPointF(card.right(), card.center().y()) : drawn.port;
    return std::make_pair(produces, std::make_pair(at.x(), at.y()));
  };
  for (DrawnEdge& drawn : edges_) {
    const auto edge = model_.edges().find(drawn.key);
    if (edge == model_.edges().end()) {
      continue;
    }
    drawn.broken = edge->second.broken;
    drawn.halted = edge->second.halted;
    const bool dead = drawn.broken || (edge->second.node < model_.nodes().size() && model_.nodes()[edge->second.node].condition.paused);
    if (dead != drawn.dead) {
      // What others bring stands where they arrive, and must not look as if this one brought it.
      drawn.dead = dead;
      constexpr double kAside = 11;
      const double aside = !dead || edge->second.kind == ClusterModel::Edge::Kind::produce ? 0
                           : drawn.curve.from.y() < drawn.port.y()                         ? -kAside
                                                                                           : kAside;
      drawn.curve = Cubic::between(drawn.curve.from, drawn.port + QPointF(0, aside));
      widths = true;
    }
    const double rate = edge->second.rate();
    sums[end_of(drawn, edge->second)].rate += rate;
    const int side = edge->second.kind == ClusterModel::Edge::Kind::produce ? 0 : 1;
    counts[side] += format_rate(rate).isEmpty() ? 0 : 1;
    ++lines[side];
  }
  std::set<std::pair<bool, std::size_t>> crossed;  // bundles: what producers, or members, have to do with one node
  for (DrawnEdge& drawn : edges_) {
    const auto edge = model_.edges().find(drawn.key);
    if (edge == model_.edges().end()) {
      continue;
    }
    const bool produces = edge->second.kind == ClusterModel::Edge::Kind::produce;
    drawn.crossed = drawn.broken && crossed.emplace(produces, edge->second.node).second;
    const bool many = counts[produces ? 0 : 1] > kPlatesApart || lines[produces ? 0 : 1] > kLinesApart;
    QString text = format_rate(edge->second.rate());
    QRectF together;
    if (const auto sum = many ? sums.find(end_of(drawn, edge->second)) : sums.end(); sum != sums.end()) {
      text = std::exchange(sum->second.told, true) ? QString() : format_rate(sum->second.rate);
      const auto [x, y] = sum->first.second;
      const double wide = plate_width(text);
      // Behind a producer or before a group, and on no card's border.
      const double left = produces ? std::min(x + 12, drawn.curve.to.x() - 4 - wide)
                                   : std::max(x - 14 - wide, drawn.curve.from.x() + 4);
      together = QRectF(std::round(left), std::round(y - kPlateHeight / 2), wide, kPlateHeight);
    }
    // Steps of half a pixel: a rate that trembles does not repaint the picture.
    const double width =
        1.5 + std::floor((geometry::edge_width(edge->second.meter.bytes_per_second()) - 1.5) * 2) / 2;
    if (width != drawn.width) {
      drawn.width = width;
      widths = true;
    }
    const QRectF before = drawn.plate;
    drawn.plate = text.isEmpty() ? QRectF()
                  : many         ? together
                                 : geometry::plate_on(drawn.curve, {plate_width(text), kPlateHeight}, taken);
    if (!drawn.plate.isEmpty()) {
      taken.push_back(drawn.plate);
    }
    if (text != drawn.text || before != drawn.plate) {
      drawn.text = text;
      updateRect(before.united(drawn.plate));
    }
  }
  return widths;
}

QRect ClusterCanvas::cardOf(std::int32_t node) const {
  for (std::size_t n = 0; n < layout_.nodes.size() && n < model_.nodes().size(); ++n) {
    if (model_.nodes()[n].id == node) {
      return toWidget(layout_.nodes[n].card);
    }
  }
  return {};
}

std::optional<QPoint> ClusterCanvas::freeSpot(QSize size) const {
  const double s = Theme::current().scale();
  const QSizeF wanted = QSizeF(size) / s;
  std::vector<QRectF> taken{layout_.producers_title, layout_.brokers_title, layout_.groups_title, layout_.controllers};
  for (const auto& p : layout_.producers) {
    taken.push_back(p.card);
  }
  for (const auto& n : layout_.nodes) {
    taken.push_back(n.card);
  }
  for (const auto& g : layout_.groups) {
    taken.push_back(g.card);
  }
  constexpr double margin = 14;
  // What of the picture is in sight: below it stand other things of the page.
  const QRect view =
      parentWidget() == nullptr
          ? rect()
          : QRect(mapFromParent(QPoint(0, 0)), parentWidget()->size()).intersected(rect());
  const QRectF seen(QPointF(view.topLeft()) / s, QSizeF(view.size()) / s);
  const auto free = [&](const QRectF& rect) {
    return seen.adjusted(4, 4, -4, -4).contains(rect) &&
           std::none_of(taken.begin(), taken.end(), [&](const QRectF& other) {
             return other.adjusted(-margin, -margin, margin, margin).intersects(rect);
           });
  };
  // Below the brokers first, then wherever there is room from the left.
  const double brokers = layout_.brokers_title.center().x() - wanted.width() / 2;
  std::vector<double> columns{std::round(brokers)};
  for (double x = 16; x + wanted.width() < seen.right(); x += 40) {
    columns.push_back(x);
  }
  for (const double x : columns) {
    for (double y = std::floor(seen.top()) + 4; y + wanted.height() < seen.bottom(); y += 12) {
      if (free(QRectF(QPointF(x, y), wanted))) {
        return (QPointF(x, y) * s).toPoint();
      }
    }
  }
  return std::nullopt;
}

// --- records on their way

void ClusterCanvas::startJourneys(const std::vector<ClusterModel::Journey>& journeys) {
  const std::int64_t at = now();
  const bool still = Theme::current().reduceMotion();
  for (const ClusterModel::Journey& journey : journeys) {
    const auto edge = std::find_if(edges_.begin(), edges_.end(), [&](const DrawnEdge& e) { return e.key == journey.edge; });
    if (edge == edges_.end()) {
      continue;
    }
    if (still) {
      edge->lit_until = at + kLitMs;
      updateRect(edge->plate);
    } else if (travellers_.size() < kMaxTravellers) {
      // Several at once follow each other instead of lying on top of one another.
      const auto index = static_cast<std::size_t>(edge - edges_.begin());
      std::int64_t start = at;
      for (const Traveller& other : travellers_) {
        if (other.edge == index) {
          start = std::max(start, other.start + 40);
        }
      }
      if (start - at < kJourneyMs) {
        travellers_.push_back({index, start, journey.key, {}});
      }
    }
  }
  if (isVisible() && (!travellers_.empty() || still) && !motion_.isActive()) {
    motion_.start();
  }
}

void ClusterCanvas::moveTravellers() {
  const std::int64_t at = now();
  bool more = false;
  for (Traveller& traveller : travellers_) {
    if (at < traveller.start) {
      continue;
    }
    const double share = static_cast<double>(at - traveller.start) / kJourneyMs;
    updateRect(traveller.last);
    if (share <= 1 && traveller.edge < edges_.size()) {
      const Cubic& curve = edges_[traveller.edge].curve;
      const QPointF point = curve.at(curve.at_length(kArrive * ease_out(share)));
      traveller.last = QRectF(point.x() - kSquare, point.y() - kSquare, 2 * kSquare, 2 * kSquare);
      updateRect(traveller.last);
    }
  }
  std::erase_if(travellers_, [&](const Traveller& t) { return at - t.start > kJourneyMs; });
  more = !travellers_.empty();
  for (DrawnEdge& edge : edges_) {
    if (edge.lit_until != 0) {
      if (at >= edge.lit_until) {
        edge.lit_until = 0;
        updateRect(edge.plate);
      } else {
        more = true;
      }
    }
  }
  if (!more) {
    motion_.stop();
  }
}

// --- objects

int ClusterCanvas::objectCount() const { return static_cast<int>(items_.size()) + cell_count_; }

ClusterCanvas::Item ClusterCanvas::itemAt(int index) const {
  if (index < static_cast<int>(items_.size())) {
    return items_[static_cast<std::size_t>(index)];
  }
  for (const CellRange& range : cells_) {
    if (index >= range.first && index < range.first + range.grid->count) {
      const int cell = index - range.first;
      return {What::replica, range.node, range.topic, static_cast<std::size_t>(cell), range.grid->cell(cell)};
    }
  }
  return {};
}

const ClusterModel::Replica& ClusterCanvas::replicaOf(const Item& item) const {
  return model_.nodes()[item.a].topics[item.b].replicas[item.c];
}

Selection ClusterCanvas::selectionOf(const Item& item) const {
  switch (item.what) {
    case What::producer: {
      const ClusterModel::Producer& producer = model_.producers()[item.a];
      return producer.placeholder ? Selection::ofCluster() : Selection::ofConnection(producer.connection);
    }
    case What::node:
      return Selection::ofNode(model_.nodes()[item.a].id);
    case What::topic:
      return Selection::ofTopic(model_.nodes()[item.a].topics[item.b].name);
    case What::replica:
      return Selection::ofPartition(model_.nodes()[item.a].topics[item.b].name, replicaOf(item).partition);
    case What::group: {
      const ClusterModel::Group& group = model_.groups()[item.a];
      return group.plain ? Selection::ofConnection(group.members.front().connection) : Selection::ofGroup(group.id);
    }
    case What::member: {
      const ClusterModel::Group& group = model_.groups()[item.a];
      return group.plain ? Selection::ofConnection(group.members[item.b].connection)
                         : Selection::ofMember(group.id, group.members[item.b].id);
    }
    case What::controller:
      return Selection::ofNode(model_.controllers()[item.a].id);
  }
  return {};
}

CanvasObject ClusterCanvas::object(int index) const {
  const Item item = itemAt(index);
  int column = 1;
  switch (item.what) {
    case What::producer:
      column = 0;
      break;
    case What::node:
    case What::topic:
    case What::replica:
      break;
    case What::group:
    case What::member:
    case What::controller:
      column = 2;
      break;
  }
  QRectF rect = item.rect;
  if (item.what == What::replica && index < static_cast<int>(items_.size())) {
    rect = rect.adjusted(6, 0, -6, 0);
  }
  return {selectionOf(item), rect, column};
}

int ClusterCanvas::objectAt(QPointF point) const {
  for (const CellRange& range : cells_) {
    if (const auto cell = range.grid->at(point)) {
      return range.first + *cell;
    }
  }
  for (std::size_t i = items_.size(); i-- > 0;) {
    if (items_[i].rect.contains(point)) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

int ClusterCanvas::indexOf(const Selection& wanted) const {
  if (wanted.none()) {
    return -1;
  }
  const Selection target =
      wanted.inPartition() ? Selection::ofPartition(wanted.topic, wanted.partition) : wanted;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (selectionOf(items_[i]) == target) {
      return static_cast<int>(i);
    }
  }
  if (target.kind == Selection::Kind::partition) {
    for (const CellRange& range : cells_) {
      const ClusterModel::Topic& topic = model_.nodes()[range.node].topics[range.topic];
      if (topic.name != target.topic) {
        continue;
      }
      for (std::size_t r = 0; r < topic.replicas.size(); ++r) {
        if (topic.replicas[r].partition == target.partition) {
          return range.first + static_cast<int>(r);
        }
      }
    }
  }
  return -1;
}

QString ClusterCanvas::objectSentence(int index) const {
  const Item item = itemAt(index);
  switch (item.what) {
    case What::producer: {
      const ClusterModel::Producer& p = model_.producers()[item.a];
      if (p.placeholder) {
        return tr("Place of your application: connect it to %1").arg(bootstrap_);
      }
      double rate = 0;
      for (const auto& [key, edge] : model_.edges()) {
        rate += edge.kind == ClusterModel::Edge::Kind::produce && edge.client == item.a
                    ? edge.meter.records_per_second()
                    : 0;
      }
      const QString kind = p.built_in ? tr("built-in producer") : tr("producer at %1").arg(p.host);
      return p.closed ? tr("%1, %2, disconnected").arg(p.title, kind)
                      : tr("%1, %2, %3 records per second").arg(p.title, kind, QLocale().toString(rate, 'f', 1));
    }
    case What::node: {
      const ClusterModel::Node& n = model_.nodes()[item.a];
      const QString fault = fault_word(n);
      const QString state = !fault.isEmpty() ? fault
                            : !n.why.isEmpty() ? tr("stopped itself: %1").arg(n.why)
                            : n.offline() ? (n.state == observe::NodeView::State::killed ? tr("killed") : tr("stopped"))
                            : n.state == observe::NodeView::State::starting ? tr("starting")
                                                                            : tr("running");
      return tr("%1, port %2, %3, leads %Ln partitions", nullptr, n.leaders)
          .arg(n.title, n.port.mid(1), state);
    }
    case What::topic: {
      const ClusterModel::Topic& t = model_.nodes()[item.a].topics[item.b];
      return tr("topic %1, %Ln replicas on %2", nullptr, static_cast<int>(t.replicas.size()))
          .arg(t.name, model_.nodes()[item.a].title);
    }
    case What::replica: {
      const ClusterModel::Replica& r = replicaOf(item);
      const QString name = tr("%1 %2 on %3").arg(model_.nodes()[item.a].topics[item.b].name).arg(r.partition)
                               .arg(model_.nodes()[item.a].title);
      const std::int64_t behind = std::max<std::int64_t>(0, r.leader_end - r.log_end);
      QString state = glyph_name(glyph_of(r.state));
      if (r.state != ReplicaState::leader && behind > 0) {
        state = tr("%1, %2 behind").arg(state).arg(behind);
      }
      if (r.leaves_s >= 0) {
        state = tr("%1, leaves the in-sync replicas in %2 s").arg(state).arg(r.leaves_s);
      }
      return tr("%1, %2, log end %3, high watermark %4").arg(name, state).arg(r.log_end).arg(r.high_watermark);
    }
    case What::group: {
      const ClusterModel::Group& g = model_.groups()[item.a];
      if (g.plain) {
        return tr("%1, a consumer without a group").arg(g.id);
      }
      const QString told = tr("consumer group %1, %2, %3, %Ln members", nullptr, static_cast<int>(g.members.size()))
                               .arg(g.id, g.state, count_sentence(g.kind, g.generation));
      return g.trouble.isEmpty() ? told : QStringLiteral("%1: %2, %3").arg(told, g.trouble, g.trouble_sentence);
    }
    case What::member: {
      const ClusterModel::Group& g = model_.groups()[item.a];
      const ClusterModel::Member& m = g.members[item.b];
      QStringList chips(m.chips.begin(), m.chips.end());
      const QString reads = chips.isEmpty() ? tr("reads nothing") : tr("reads %1").arg(chips.join(QLatin1Char(' ')));
      const auto all = model_.readings();
      const auto found = all.find({item.a, item.b});
      const ClusterModel::Reading reading = found == all.end() ? ClusterModel::Reading() : found->second;
      const QString flow = reading.rate <= 0 ? QString()
                           : reading.by_commits
                               ? tr(", committed positions move by %1 records per second").arg(QLocale().toString(reading.rate, 'f', 1))
                               : tr(", %1 records per second").arg(QLocale().toString(reading.rate, 'f', 1));
      if (g.plain) {
        return tr("%1 at %2, %3").arg(m.client, m.host, reads) + flow;
      }
      const bool unknown = m.lag == ClusterModel::Member::kLagUnknown;
      const QString lag = m.lag < 0 && !unknown ? tr("nothing committed yet") : tr("lag %1").arg(unknown ? QStringLiteral("–") : QString::number(m.lag));
      return tr("member %1 of %2, client %3 at %4, %5, %6").arg(m.label, g.id, m.client, m.host, reads, lag) + flow;
    }
    case What::controller: {
      const ClusterModel::Controller& c = model_.controllers()[item.a];
      return c.silent() ? (c.condition.paused ? tr("controller %1, paused").arg(c.id) : tr("controller %1, cut off from the others").arg(c.id))
             : c.leader ? tr("controller %1, leads the quorum").arg(c.id)
                        : (c.online ? tr("controller %1, follows").arg(c.id) : tr("controller %1, stopped").arg(c.id));
    }
  }
  return {};
}

QString ClusterCanvas::toolTipAt(QPointF point) const {
  const int index = objectAt(point);
  if (index >= 0) {
    return objectSentence(index);
  }
  for (const DrawnEdge& drawn : edges_) {
    if (drawn.curve.distance_to(point) > 5) {
      continue;
    }
    const auto edge = model_.edges().find(drawn.key);
    if (edge == model_.edges().end()) {
      continue;
    }
    const ClusterModel::Edge& e = edge->second;
    if (e.by_commits) {
      return tr("%1 reads from %2: its committed positions move by %3 records per second. Its fetches cannot be told from those of others with "
                "the client id %4.")
          .arg(model_.groups()[e.client].id, model_.nodes()[e.node].title, QLocale().toString(e.rate(), 'f', 1),
               model_.groups()[e.client].members[e.member].client);
    }
    const QString rate = tr("%1 records per second, %2 per second")
                             .arg(QLocale().toString(e.meter.records_per_second(), 'f', 1),
                                  format_bytes(static_cast<std::int64_t>(e.meter.bytes_per_second())));
    const QString node = model_.nodes()[e.node].title;
    if (e.kind == ClusterModel::Edge::Kind::produce) {
      return tr("%1 writes to %2: %3").arg(model_.producers()[e.client].title, node, rate);
    }
    return tr("%1 reads from %2: %3").arg(model_.groups()[e.client].id, node, rate);
  }
  const ClusterModel::Link* link = linkAt(point);
  return link == nullptr ? QString() : linkSentence(*link);
}

void ClusterCanvas::selectionChanged() {
  const QString topic = selection().topic;
  if (!topic.isEmpty() && topic != model_.focusTopic() && !walking()) {
    model_.setFocusTopic(topic);
    relayout();
    Q_EMIT summaryChanged();
  }
}

// --- painting

void ClusterCanvas::paintCanvas(QPainter& p, const QRectF& exposed) {
  const double s = Theme::current().scale();
  p.save();
  p.resetTransform();
  static_.paint(p, QRectF(exposed.topLeft() * s, exposed.size() * s).toAlignedRect(), size(), devicePixelRatioF(),
                [this](QPainter& inner) { paintStatic(inner); });
  p.restore();
  for (std::size_t n = 0; n < layout_.nodes.size(); ++n) {
    const geometry::NodePlace& place = layout_.nodes[n];
    if (!place.card.intersects(exposed)) {
      continue;
    }
    for (const geometry::RowPlace& row : place.rows) {
      if (row.rect.intersects(exposed)) {
        paintRow(p, n, row);
      }
    }
    for (const geometry::TopicPlace& topic : place.topics) {
      if (topic.cells) {
        paintCells(p, n, topic, exposed);
      }
    }
  }
  for (std::size_t g = 0; g < layout_.groups.size(); ++g) {
    for (std::size_t m = 0; m < layout_.groups[g].members.size(); ++m) {
      if (layout_.groups[g].members[m].rect.intersects(exposed)) {
        paintMember(p, g, m);
      }
    }
  }
  paintPlates(p, exposed);
  paintMarks(p);
}

void ClusterCanvas::paintStatic(QPainter& p) {
  const Colors& c = Theme::current().colors();
  p.fillRect(QRectF(QPointF(0, 0), QSizeF(width(), height())), c.canvas);
  const auto title = [&](const QRectF& rect, const QString& text) {
    text_left(p, rect.left(), rect.center().y(), text, FontRole::section_label, c.text2);
  };
  title(layout_.producers_title, tr("Producers"));
  title(layout_.brokers_title, tr("Brokers"));
  title(layout_.groups_title, tr("Consumer groups"));
  paintLinks(p);
  paintEdges(p);
  for (std::size_t i = 0; i < layout_.producers.size(); ++i) {
    paintProducer(p, i);
  }
  for (std::size_t n = 0; n < layout_.nodes.size(); ++n) {
    paintNodeCard(p, n);
  }
  for (std::size_t g = 0; g < layout_.groups.size(); ++g) {
    paintGroupCard(p, g);
  }
  if (model_.groups().empty()) {
    const QRectF at = layout_.groups_title.translated(0, 35);
    text_left(p, at.left(), at.center().y(), tr("No consumer group yet"), FontRole::caption, c.text3);
  }
  paintControllers(p);
  const auto more = [&](const QRectF& rect, int count, const QString& what) {
    if (count > 0) {
      text_left(p, rect.left() + 12, rect.center().y(), more_text(count, what), FontRole::caption, c.text3);
    }
  };
  more(layout_.hidden_producers_label, layout_.hidden_producers, layout_.hidden_producers == 1 ? tr("producer") : tr("producers"));
  more(layout_.hidden_groups_label, layout_.hidden_groups, layout_.hidden_groups == 1 ? tr("group") : tr("groups"));
}

void ClusterCanvas::paintEdges(QPainter& p) {
  const Colors& c = Theme::current().colors();
  p.setRenderHint(QPainter::Antialiasing, true);
  // What is wrong lies above what is not.
  const auto rank = [](const DrawnEdge& edge) { return edge.broken ? 2 : (edge.halted ? 1 : 0); };
  for (const int turn : {0, 1, 2}) {
    for (const DrawnEdge& edge : edges_) {
      if (rank(edge) != turn) {
        continue;
      }
      const QColor color = edge.broken ? c.err : (edge.halted ? c.warn_line : c.edge);
      QPen pen(color, edge.width, Qt::SolidLine, Qt::FlatCap);
      if (edge.broken || edge.halted) {
        pen.setDashPattern({5 / edge.width, 4 / edge.width});
      }
      Cubic shaft = edge.curve;
      shaft.to.rx() -= edge.dead ? 0 : 6;  // the head covers the rest
      QPainterPath path(shaft.from);
      path.cubicTo(shaft.control1, shaft.control2, shaft.to);
      p.setPen(pen);
      p.setBrush(Qt::NoBrush);
      p.drawPath(path);
      if (edge.dead) {
        continue;
      }
      const auto head = geometry::arrow_head(edge.curve.to, {1, 0});
      p.setPen(Qt::NoPen);
      p.setBrush(color);
      p.drawPolygon(head.data(), static_cast<int>(head.size()));
    }
  }
  for (const DrawnEdge& edge : edges_) {
    if (edge.crossed) {
      paint_glyph(p, Glyph::cross, edge.curve.at(0.5), 12);
    }
  }
  // The place where an application of one's own would connect.
  for (std::size_t i = 0; i < layout_.producers.size(); ++i) {
    if (!model_.producers()[i].placeholder) {
      continue;
    }
    const QRectF& card = layout_.producers[i].card;
    QPen pen(c.edge, 1.5, Qt::CustomDashLine, Qt::FlatCap);
    pen.setDashPattern({4 / 1.5, 4 / 1.5});
    p.setPen(pen);
    p.drawLine(QPointF(card.right(), card.center().y()), QPointF(card.right() + kPlaceholderLine, card.center().y()));
  }
  p.setRenderHint(QPainter::Antialiasing, false);
}

void ClusterCanvas::paintProducer(QPainter& p, std::size_t index) {
  const Colors& c = Theme::current().colors();
  const QRectF& card = layout_.producers[index].card;
  const ClusterModel::Producer& producer = model_.producers()[index];
  paint_card(p, card);
  const double left = card.left() + 12;
  const double room = card.width() - 24;
  text_fit(p, left, card.top() + 18, room, producer.title.isEmpty() ? tr("no client id") : producer.title,
           FontRole::body_strong, producer.closed ? c.text3 : c.text, Qt::ElideMiddle);
  QString sub;
  if (producer.placeholder) {
    const QString port = bootstrap_.section(QLatin1Char(':'), -1);
    sub = tr("connect to :%1").arg(port);
  } else if (producer.closed) {
    sub = tr("disconnected");
  } else {
    sub = producer.built_in ? tr("built-in producer") : tr("external · %1").arg(producer.host);
  }
  text_fit(p, left, card.top() + 36, room, sub, FontRole::caption, c.text2);
  double x = left + 7;
  for (const Bytes& key : producer.keys) {
    if (x + 7 > card.right() - 10) {
      break;
    }
    paint_record_square(p, QPointF(x, card.top() + 56), 14, key, false);
    x += 18;
  }
}

void ClusterCanvas::paintNodeCard(QPainter& p, std::size_t index) {
  const Colors& c = Theme::current().colors();
  const geometry::NodePlace& place = layout_.nodes[index];
  const ClusterModel::Node& node = model_.nodes()[index];
  if (!node.condition.healthy() && !node.offline()) {
    // A fault by hand: whatever looks wrong here is meant to.
    p.setRenderHint(QPainter::Antialiasing, true);
    QPen frame(c.warn, 2);
    frame.setDashPattern({4, 2});
    frame.setCapStyle(Qt::FlatCap);
    p.setPen(frame);
    p.setBrush(Qt::NoBrush);
    p.drawRoundedRect(place.card.adjusted(-4, -4, 4, 4), Metrics::kRadiusCard + 3, Metrics::kRadiusCard + 3);
    p.setRenderHint(QPainter::Antialiasing, false);
  }
  paint_card(p, place.card, node.offline());
  const double y = place.header.center().y();
  paint_glyph(p, node_glyph(node), QPointF(place.card.left() + 18, y), 12);
  const double name = place.card.left() + 30;
  text_left(p, name, y, node.title, FontRole::body_strong, c.text);
  const double after = name + text_width(node.title, FontRole::body_strong) + 6;
  const double right = place.card.right() - 12;
  QString role;
  QColor color = c.text2;
  FontRole font = FontRole::caption;
  const QString fault = fault_word(node);
  if (!fault.isEmpty()) {
    role = fault;
    color = c.warn_t;
    font = FontRole::caption_strong;
  } else if (node.offline()) {
    role = (!node.why.isEmpty()                                  ? tr("stopped itself %1")
            : node.state == observe::NodeView::State::killed ? tr("killed %1")
                                                                 : tr("stopped %1")).arg(format_time(node.since.ms).section(QLatin1Char('.'), 0, 0));
    color = c.err_t;
    font = FontRole::caption_strong;
  } else if (node.state == observe::NodeView::State::starting) {
    role = tr("starting");
  } else {
    role = tr("%Ln leaders", nullptr, node.leaders);
  }
  const double role_width = text_width(role, font);
  if (after + text_width(node.port, FontRole::small_data) < right - role_width - 6) {
    text_left(p, after, y, node.port, FontRole::small_data, c.text2);
  }
  if (after < right - role_width) {
    text_right(p, right, y, role, font, color);
  }
  if (place.card.height() > place.header.height() + 8) {
    paint_hline(p, place.card.left() + 1, place.card.right() - 1, place.header.bottom(), c.hair);
  }
  bool first_rows = true;
  for (const geometry::TopicPlace& topic : place.topics) {
    if (topic.label.isEmpty()) {
      continue;
    }
    const ClusterModel::Topic& shown = node.topics[static_cast<std::size_t>(topic.topic)];
    const double middle = topic.label.center().y();
    const bool line = topic.cells && !layout_.matrix && !topic.rows && topic.topic != 0;
    const bool shared = !place.hidden_label.isEmpty() && place.hidden_label.top() == topic.label.top();
    const double room = line || (topic.cells && topic.topic != 0) ? 94
                        : shared                                  ? place.hidden_label.left() - place.card.left() - 8
                                                                  : place.card.width() - 90;
    text_fit(p, place.card.left() + 12, middle, room, shown.name, FontRole::small_data,
             shown.internal ? c.text3 : c.text2, Qt::ElideRight);
    if (topic.rows && first_rows) {
      text_right(p, right, middle, tr("log end"), FontRole::caption, c.text2);
      first_rows = false;
    } else if (!topic.rows) {
      const auto count = static_cast<int>(shown.replicas.size());
      text_right(p, right, middle, tr("%Ln replicas", nullptr, count), FontRole::caption, c.text2);
    }
  }
  if (node.topics.empty() && !node.offline()) {
    text_left(p, name, place.header.bottom() + 14, QString(), FontRole::caption, c.text3);
  }
  if (place.hidden_topics > 0 && !place.hidden_label.isEmpty()) {
    text_left(p, place.hidden_label.left() + 12, place.hidden_label.center().y(), more_text(place.hidden_topics, place.hidden_topics == 1 ? tr("topic") : tr("topics")),
              FontRole::caption, c.text3);
  }
}

void ClusterCanvas::paintGroupCard(QPainter& p, std::size_t index) {
  const Colors& c = Theme::current().colors();
  const geometry::GroupPlace& place = layout_.groups[index];
  const ClusterModel::Group& group = model_.groups()[index];
  paint_card(p, place.card);
  const double y = place.header.center().y();
  const Glyph glyph = group_glyph(group);
  paint_glyph(p, glyph, QPointF(place.card.left() + 18, y), 12);
  const double right = place.card.right() - 12;
  const bool troubled = !group.trouble.isEmpty();
  const bool steady = !troubled && group.state == QLatin1String("Stable");
  QString state = group.plain ? tr("no group") : (troubled ? group.trouble : group.state);
  if (steady) {
    state = tr("Stable · %1").arg(count_words(group.kind, group.generation));
  }
  const double name = place.card.left() + 30;
  double state_width = text_width(state, FontRole::caption);
  // The name comes first; the generation is in the inspector too, and what is wrong in the card's sentence.
  if ((steady || troubled) && name + text_width(group.id, FontRole::body_strong) > right - state_width - 8) {
    state = steady ? group.state : group.trouble_short;
    state_width = text_width(state, FontRole::caption);
  }
  text_fit(p, name, y, right - state_width - 8 - name, group.id, FontRole::body_strong, c.text, Qt::ElideMiddle);
  text_right(p, right, y, state, FontRole::caption, glyph == Glyph::quarter ? c.warn_t : (glyph == Glyph::cross ? c.err_t : c.text2));
  if (place.card.height() > place.header.height() + 4) {
    paint_hline(p, place.card.left() + 1, place.card.right() - 1, place.header.bottom(), c.hair);
  }
  if (!place.hidden_label.isEmpty()) {
    const QString note = place.hidden_members > 0 ? more_text(place.hidden_members, tr("members")) : tr("no members");
    text_left(p, place.card.left() + 12, place.hidden_label.center().y(), note, FontRole::caption, c.text3);
  }
}

void ClusterCanvas::paintMember(QPainter& p, std::size_t g, std::size_t m) {
  const Colors& c = Theme::current().colors();
  const geometry::MemberPlace& place = layout_.groups[g].members[m];
  const ClusterModel::Group& group = model_.groups()[g];
  const ClusterModel::Member& member = group.members[m];
  const QRectF inner = place.rect.adjusted(6, 1, -6, -1);
  const int hover = hovered();
  const bool selected = !selection().none() && selection() == (group.plain ? Selection::ofConnection(member.connection)
                                                                           : Selection::ofMember(group.id, member.id));
  QColor back = c.card;
  if (selected) {
    back = c.selected;
  } else if (hover >= 0) {
    const Item item = itemAt(hover);
    if (item.what == What::member && item.a == g && item.b == m) {
      back = c.hover;
    }
  }
  p.fillRect(inner, back);
  const double y = place.rect.center().y();
  text_left(p, place.rect.left() + 12, y, member.label, FontRole::data, c.text);
  QString lag;
  if (!group.plain) {
    const bool unknown = member.lag == ClusterModel::Member::kLagUnknown;
    lag = unknown || member.lag >= 0 ? tr("lag %1").arg(unknown ? QStringLiteral("–") : QString::number(member.lag))
                                     : (member.partitions.empty() ? tr("idle") : tr("no commit"));
  }
  const double lag_width = text_width(lag, FontRole::caption);
  const bool behind = member.ticks_behind >= 3;
  text_right(p, place.rect.right() - 12, y, lag, FontRole::caption, behind ? c.warn_t : c.text2);
  double x = place.chips.left();
  const double end = place.rect.right() - 12 - lag_width - 8;
  p.setRenderHint(QPainter::Antialiasing, true);
  for (std::size_t i = 0; i < member.chips.size(); ++i) {
    const QString& chip = member.chips[i];
    const double width = text_width(chip, FontRole::small_data) + 12;
    const std::size_t left_over = member.chips.size() - i;
    const QString rest = QStringLiteral("+%1").arg(left_over);
    const bool last = left_over == 1;
    if (x + width + (last ? 0 : 30) > end && x > place.chips.left()) {
      text_left(p, x, y, rest, FontRole::small_data, c.text3);
      break;
    }
    const double shown = std::min(width, std::max(20.0, end - x));
    p.setPen(QPen(c.border, 1));
    p.setBrush(Qt::NoBrush);
    p.drawRoundedRect(QRectF(std::round(x) + 0.5, std::round(y - 9) + 0.5, std::round(shown) - 1, 17), 3, 3);
    text_fit(p, x + 6, y, shown - 12, chip, FontRole::small_data, c.text, Qt::ElideMiddle);
    x += shown + 5;
  }
  p.setRenderHint(QPainter::Antialiasing, false);
  if (selected) {
    paint_selection(p, inner, 3);
  }
}

void ClusterCanvas::paintControllers(QPainter& p) {
  if (layout_.controllers.isEmpty()) {
    return;
  }
  const Colors& c = Theme::current().colors();
  const QRectF& card = layout_.controllers;
  paint_card(p, card);
  text_left(p, card.left() + 12, card.top() + 16, tr("Controllers"), FontRole::body_strong, c.text);
  const auto& all = model_.controllers();
  const bool led = std::any_of(all.begin(), all.end(), [](const ClusterModel::Controller& each) { return each.leader; });
  text_right(p, card.right() - 12, card.top() + 16,
             (led ? tr("epoch %1") : tr("no leader · epoch %1")).arg(model_.controllerEpoch()), FontRole::caption, led ? c.text2 : c.err_t);
  paint_hline(p, card.left() + 1, card.right() - 1, card.top() + 32, c.hair);
  for (std::size_t i = 0; i < layout_.controller_chips.size(); ++i) {
    const ClusterModel::Controller& controller = model_.controllers()[i];
    const QRectF& chip = layout_.controller_chips[i];
    p.setRenderHint(QPainter::Antialiasing, true);
    const double line = controller.leader ? 2 : 1;
    p.setPen(QPen(controller.leader ? c.leader : c.border, line));
    p.setBrush(c.canvas);
    p.drawRoundedRect(chip.adjusted(line / 2, line / 2, -line / 2, -line / 2), 3, 3);
    p.setRenderHint(QPainter::Antialiasing, false);
    const Glyph glyph = !controller.online ? Glyph::cross : (controller.silent() ? Glyph::bolt : (controller.leader ? Glyph::crown : Glyph::disc));
    paint_glyph(p, glyph, QPointF(chip.left() + 15, chip.center().y()), 12);
    text_left(p, chip.left() + 27, chip.center().y(), QStringLiteral("c%1").arg(controller.id), FontRole::data, c.text);
  }
}

void ClusterCanvas::paintRow(QPainter& p, std::size_t n, const geometry::RowPlace& row) {
  const Colors& c = Theme::current().colors();
  const ClusterModel::Node& node = model_.nodes()[n];
  const ClusterModel::Topic& topic = node.topics[static_cast<std::size_t>(row.topic)];
  const ClusterModel::Replica& r = topic.replicas[static_cast<std::size_t>(row.partition)];
  const bool selected = partitionSelected(topic.name, r.partition);
  const QRectF inner = row.rect.adjusted(6, 1, -6, -1);
  QColor back = c.card;
  if (selected) {
    back = c.selected;
  } else if (hovered() >= 0) {
    const Item item = itemAt(hovered());
    if (item.what == What::replica && model_.nodes()[item.a].topics[item.b].name == topic.name &&
        replicaOf(item).partition == r.partition) {
      back = c.hover;
    }
  }
  p.fillRect(inner, back);
  const double y = row.rect.center().y();
  paint_glyph(p, glyph_of(r.state), QPointF(row.rect.left() + 18, y), 12);
  const QString name = QStringLiteral("p%1").arg(r.partition);
  text_left(p, row.rect.left() + 31, y, name, selected ? FontRole::data_strong : FontRole::data, c.text);
  QRectF bar = row.bar;
  if (r.leaves_s >= 0) {
    // The bar gives way: what fills it is a share, and the words are what matters now.
    constexpr double kLeastBar = 24;
    const QString leaves = leaves_text(r);
    bar.setRight(bar.right() - text_width(leaves, FontRole::caption_strong) - 8);
    text_right(p, row.bar.right(), y, leaves, FontRole::caption_strong, c.warn_t);
    bar = bar.width() < kLeastBar ? QRectF() : bar;
  }
  if (!bar.isEmpty()) {
    paint_replica_bar(p, bar, r.state, r.fill(), r.tick());
  }
  const QColor number = r.state == ReplicaState::offline ? c.text2 : c.text;
  text_right(p, row.rect.right() - 58, y, format_offset(r.log_end), selected ? FontRole::data_strong : FontRole::data,
             number);
  const std::int64_t behind = r.leader_end - r.log_end;
  if (behind > 0 && r.state != ReplicaState::leader) {
    text_right(p, row.rect.right() - 12, y, QStringLiteral("-%1").arg(behind), FontRole::data,
               r.state == ReplicaState::offline ? c.err_t : c.warn_t);
  }
  if (selected) {
    paint_selection(p, inner, 3);
  }
}

void ClusterCanvas::paintCells(QPainter& p, std::size_t n, const geometry::TopicPlace& place, const QRectF& exposed) {
  const Colors& c = Theme::current().colors();
  const geometry::CellGrid& grid = *place.cells;
  if (!grid.bounds().intersects(exposed)) {
    return;
  }
  const ClusterModel::Topic& topic = model_.nodes()[n].topics[static_cast<std::size_t>(place.topic)];
  if (grid.pitch_x < 3) {
    // More replicas than pixels: shares of each state, leaders first.
    const QRectF bounds(grid.origin, QSizeF(grid.pitch_x * grid.count, grid.cell_height));
    double x = bounds.left();
    for (const ReplicaState state :
         {ReplicaState::leader, ReplicaState::in_sync, ReplicaState::behind, ReplicaState::offline}) {
      const auto count = std::count_if(topic.replicas.begin(), topic.replicas.end(),
                                       [&](const ClusterModel::Replica& r) { return r.state == state; });
      const double width = bounds.width() * static_cast<double>(count) / std::max(1, grid.count);
      if (width > 0) {
        paint_replica_cell(p, QRectF(std::round(x), bounds.top(), std::max(1.0, std::round(width)), bounds.height()),
                           state, false);
        x += width;
      }
    }
    return;
  }
  // Small cells of one colour each are painted together; larger ones have outlines.
  CellBatch batch;
  QRectF marked;
  const bool small = grid.cell_width < 6;
  const int first_row = std::max(0, static_cast<int>((exposed.top() - grid.origin.y()) / grid.pitch_y) - 1);
  const int last_row = static_cast<int>((exposed.bottom() - grid.origin.y()) / grid.pitch_y) + 1;
  const int from = std::min(grid.count, first_row * grid.columns);
  const int to = std::min(grid.count, (last_row + 1) * grid.columns);
  for (int i = from; i < to; ++i) {
    const QRectF cell = grid.cell(i);
    if (cell.left() > exposed.right() || cell.right() < exposed.left()) {
      continue;
    }
    const ClusterModel::Replica& r = topic.replicas[static_cast<std::size_t>(i)];
    const bool leader = r.state == ReplicaState::leader;
    // In a contrast theme those that follow are hollow, and that takes a pixel on every side.
    const bool hollow = !leader && Theme::current().highContrast() && cell.width() >= 4;
    if (small && !hollow && (leader || r.state == ReplicaState::in_sync)) {
      batch.add(leader ? (r.bright ? c.leader : c.leader_fill) : (r.bright ? c.ok : c.ok_fill), cell);
    } else {
      paint_replica_cell(p, cell, r.state, r.bright);
    }
    if (partitionSelected(topic.name, r.partition)) {
      marked = cell;
    }
  }
  batch.flush(p);
  if (!marked.isNull()) {
    paint_selection(p, marked.adjusted(-2, -2, 2, 2), 1);
  }
}

void ClusterCanvas::paintPlates(QPainter& p, const QRectF& exposed) {
  const Colors& c = Theme::current().colors();
  const std::int64_t at = now();
  for (const Traveller& traveller : travellers_) {
    const double share = static_cast<double>(at - traveller.start) / kJourneyMs;
    if (share < 0 || share > 1 || traveller.edge >= edges_.size()) {
      continue;
    }
    const Cubic& curve = edges_[traveller.edge].curve;
    const QPointF point = curve.at(curve.at_length(kArrive * ease_out(share)));
    if (traveller.key) {
      paint_record_square(p, point, kSquare, traveller.key, true);
    } else {
      paint_plain_square(p, point, kSquare, true);
    }
  }
  for (const DrawnEdge& edge : edges_) {
    if (!edge.text.isEmpty() && !edge.plate.isEmpty() && edge.plate.intersects(exposed)) {
      const bool lit = at < edge.lit_until;
      paint_plate(p, edge.plate, edge.text, {lit ? c.selected : c.canvas, lit ? c.ring : c.border, c.text});
    }
  }
}

// Hover and selection of whole cards.
void ClusterCanvas::paintMarks(QPainter& p) {
  const Colors& c = Theme::current().colors();
  const auto outline = [&](const QRectF& rect) {
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(c.control, 1));
    p.setBrush(Qt::NoBrush);
    p.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), Metrics::kRadiusCard, Metrics::kRadiusCard);
    p.setRenderHint(QPainter::Antialiasing, false);
  };
  const auto card_of = [&](const Item& item) -> QRectF {
    switch (item.what) {
      case What::producer:
        return layout_.producers[item.a].card;
      case What::node:
        return layout_.nodes[item.a].card;
      case What::group:
        return layout_.groups[item.a].card;
      case What::controller:
        return item.rect;
      case What::topic:
        return item.rect.adjusted(6, 1, -6, -1);
      case What::replica:
      case What::member:
        return {};
    }
    return {};
  };
  if (hovered() >= 0 && hovered() < objectCount()) {
    const Item item = itemAt(hovered());
    const QRectF rect = card_of(item);
    if (!rect.isEmpty() && item.what != What::topic) {
      outline(rect);
    }
  }
  if (selection().none() || selection().kind == Selection::Kind::cluster) {
    return;
  }
  for (const Item& item : items_) {
    const QRectF rect = card_of(item);
    if (!rect.isEmpty() && selectionOf(item) == selection() &&
        !(item.what == What::controller && indexOf(selection()) >= 0 && !model_.nodes().empty())) {
      paint_selection(p, rect, item.what == What::topic ? 3 : Metrics::kRadiusCard);
    }
  }
}

}  // namespace hw::ui
