// SPDX-License-Identifier: Apache-2.0
// ClusterModel and ClusterCanvas: what nodes copy from each other, and what is in its way.
#include <QDateTime>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "ui/painting/text.h"
#include "ui/theme/glyphs.h"
#include "ui/views/cluster_canvas.h"

namespace hw::ui {

namespace {

// A follower fetches twice a second at least; the fetch of one that is well waits 500 ms at most.
constexpr std::int64_t kSilentMs = 1'500;
// Links between cards that are no neighbours run beside them; more of them than these cannot be told apart.
constexpr std::size_t kMaxBrackets = 3;
constexpr double kBracketOut = 16;

bool contains(const std::vector<BrokerId>& list, BrokerId one) { return std::find(list.begin(), list.end(), one) != list.end(); }

}  // namespace

// --- the model

void ClusterModel::refreshSpreads() {
  std::erase_if(spreads_, [this](const auto& each) { return !view_->topics->contains(each.first); });
  for (const auto& [name, topic] : *view_->topics) {
    Spread& known = spreads_[name];
    if (known.of != topic) {
      looked_ += topic->partitions.size();
      spread(known, topic);
    }
  }
}

void ClusterModel::spread(Spread& known, const std::shared_ptr<const observe::TopicView>& topic) {
  const std::vector<Spread::Copied> before = std::exchange(known.copied, {});
  const std::vector<Spread::Copied> led_before = std::exchange(known.led, {});
  // One that began to exist while somebody looks has taken in all that it has since.
  const bool born = known.of == nullptr && ticked_ms_ >= 0;
  known.of = topic;
  known.leads.clear();
  known.pairs.clear();
  known.copied.reserve(before.size());
  known.led.reserve(topic->partitions.size());
  auto seen = before.begin();
  auto led_seen = led_before.begin();
  for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
    const auto& partition = topic->partitions[i];
    if (!partition) {
      continue;
    }
    ++known.leads[partition->leader];
    if (const observe::ReplicaView* leader = partition->replica(partition->leader); leader != nullptr && leader->counters) {
      Spread::Copied led{0, i, leader->counters, born ? 0 : leader->counters->records_in.get(), born ? 0 : leader->counters->bytes_in.get()};
      led_seen = std::find_if(led_seen, led_before.end(), [i](const Spread::Copied& each) { return each.partition >= i; });
      if (led_seen != led_before.end() && led_seen->partition == i && led_seen->counters == led.counters) {
        std::tie(led.records, led.bytes) = std::tie(led_seen->records, led_seen->bytes);
      } else {
        others_lead_ = others_lead_ || !led_before.empty();
      }
      known.led.push_back(std::move(led));
    }
    if (partition->replicas.size() < 2 || partition->leader == kNoBroker) {
      continue;
    }
    seen = std::find_if(seen, before.end(), [i](const Spread::Copied& each) { return each.partition >= i; });
    for (const observe::ReplicaView& replica : partition->replicas) {
      if (replica.node == partition->leader) {
        continue;
      }
      auto pair = std::find_if(known.pairs.begin(), known.pairs.end(),
                               [&](const Spread::Pair& each) { return each.leader == partition->leader && each.follower == replica.node; });
      if (pair == known.pairs.end()) {
        pair = known.pairs.insert(pair, Spread::Pair{partition->leader, replica.node});
      }
      ++pair->partitions;
      pair->in_sync += contains(partition->isr, replica.node) ? 1 : 0;
      if (pair->fetcher == nullptr && partition->followed_now()) {
        pair->fetcher = replica.fetcher;
      }
      if (!replica.counters) {
        continue;
      }
      Spread::Copied copied{static_cast<std::size_t>(pair - known.pairs.begin()), i, replica.counters, replica.counters->records_in.get(),
                            replica.counters->bytes_in.get()};
      for (auto old = seen; old != before.end() && old->partition == i; ++old) {
        if (old->counters == replica.counters) {
          std::tie(copied.records, copied.bytes) = std::tie(old->records, old->bytes);
        }
      }
      known.copied.push_back(std::move(copied));
    }
  }
}

void ClusterModel::rebuildLinks() {
  std::map<std::pair<std::size_t, std::size_t>, RateMeter> meters;
  for (const Link& link : links_) {
    meters[{link.leader, link.follower}] = link.meter;
  }
  links_.clear();
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> index;
  for (auto& [name, known] : spreads_) {
    for (Spread::Pair& pair : known.pairs) {
      const std::size_t leader = nodeIndex(pair.leader);
      const std::size_t follower = nodeIndex(pair.follower);
      pair.link.reset();
      if (nodes_.size() < 2 || leader >= nodes_.size() || follower >= nodes_.size()) {
        continue;
      }
      const auto [at, fresh] = index.try_emplace({leader, follower}, links_.size());
      if (fresh) {
        Link link;
        link.leader = leader;
        link.follower = follower;
        if (const auto before = meters.find({leader, follower}); before != meters.end()) {
          link.meter = before->second;
        } else {
          link.meter.follow(clock_);
        }
        links_.push_back(std::move(link));
      }
      pair.link = at->second;
      links_[at->second].partitions += pair.partitions;
      links_[at->second].in_sync += pair.in_sync;
    }
  }
  judgeLinks();
}

void ClusterModel::judgeLinks() {
  if (!view_) {
    return;
  }
  const std::int64_t now = wall_ ? wall_() : QDateTime::currentMSecsSinceEpoch();
  // One counter for all that a node fetches from another; any topic has it.
  std::vector<std::int64_t> fetched(links_.size(), -1);
  for (const auto& [name, known] : spreads_) {
    for (const Spread::Pair& pair : known.pairs) {
      if (pair.link && pair.fetcher && fetched[*pair.link] < 0) {
        fetched[*pair.link] = pair.fetcher->fetched_at_ms.get();
      }
    }
  }
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    const Node& leader = nodes_[link.leader];
    const Node& follower = nodes_[link.follower];
    link.silent_ms = -1;
    if (fetched[i] > 0 && now - fetched[i] >= kSilentMs) {
      link.silent_ms = (now - fetched[i]) / 1'000 * 1'000;  // whole seconds: the picture does not run
    }
    if (follower.offline() || leader.offline()) {
      link.trouble = Link::Trouble::down;
    } else if (leader.condition.cut_off || follower.condition.cut_off) {
      link.trouble = Link::Trouble::cut;
    } else if (leader.condition.paused || follower.condition.paused) {
      link.trouble = Link::Trouble::paused;
    } else if (link.silent_ms >= 0) {
      link.trouble = Link::Trouble::silent;
    } else {
      link.trouble = leader.condition.slow || follower.condition.slow ? Link::Trouble::slow : Link::Trouble::none;
    }
  }
}

// What the leaders on each node took in since the last tick is shared out among the edges by what was seen of each. While the page
// was not shown nothing was seen: then by what they carried before, at last or in all.
void ClusterModel::tickProducers(bool unseen) {
  std::map<std::int32_t, Flow> fresh;
  for (auto& [name, known] : spreads_) {
    if (known.of->internal) {
      continue;
    }
    for (Spread::Copied& each : known.led) {
      const std::int64_t records = each.counters->records_in.get();
      const std::int64_t bytes = each.counters->bytes_in.get();
      if (records != each.records || bytes != each.bytes) {
        fresh[known.of->partitions[each.partition]->leader.value()] += {static_cast<double>(std::max<std::int64_t>(0, records - each.records)),
                                                                        static_cast<double>(std::max<std::int64_t>(0, bytes - each.bytes))};
      }
      std::tie(each.records, each.bytes) = std::tie(records, bytes);
    }
  }
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    std::vector<std::pair<Edge*, double>> edges;
    double seen = unowned_[nodes_[n].id];
    for (auto& [key, edge] : edges_) {
      if (edge.kind == Edge::Kind::produce && edge.node == n) {
        edges.emplace_back(&edge, (unseen ? edge.meter.records_per_second() : 0) + edge.sampled_records);
        seen += edges.back().second;
        edge.sampled_records = 0;
      }
    }
    const bool carried = std::any_of(edges.begin(), edges.end(), [](const auto& each) { return each.first->meter.records_total() > 0; });
    if (seen == 0) {
      for (auto& [edge, weight] : edges) {
        weight = carried ? edge->meter.records_total() : 1;
        seen += weight;
      }
    }
    const auto came = fresh.find(nodes_[n].id);
    for (const auto& [edge, weight] : edges) {
      if (came != fresh.end()) {
        edge->meter.add(came->second.records * weight / seen, came->second.bytes * weight / seen);
      }
    }
  }
  unowned_.clear();
}

void ClusterModel::tickLinks(std::int64_t now_ms, Tick& result) {
  for (auto& [name, known] : spreads_) {
    if (known.of->internal) {
      continue;  // commits of offsets are nothing that anybody produced, and no other rate has them
    }
    for (Spread::Copied& each : known.copied) {
      const std::int64_t records = each.counters->records_in.get();
      const std::int64_t bytes = each.counters->bytes_in.get();
      if (const std::optional<std::size_t> link = known.pairs[each.pair].link; link && (records != each.records || bytes != each.bytes)) {
        links_[*link].meter.add(static_cast<double>(std::max<std::int64_t>(0, records - each.records)),
                                static_cast<double>(std::max<std::int64_t>(0, bytes - each.bytes)));
      }
      each.records = records;
      each.bytes = bytes;
    }
  }
  for (Link& link : links_) {
    const double before = link.meter.records_per_second();
    result.again = link.meter.tick(now_ms) || link.trouble != Link::Trouble::none || result.again;
    result.changed = result.changed || before != link.meter.records_per_second() || link.trouble != Link::Trouble::none;
  }
  judgeLinks();
}

// --- the canvas

QString ClusterCanvas::linkText(const ClusterModel::Link& link) const {
  using Trouble = ClusterModel::Link::Trouble;
  const ClusterModel::Node& leader = model_.nodes()[link.leader];
  const ClusterModel::Node& follower = model_.nodes()[link.follower];
  const QString rate = format_rate(link.meter.records_per_second());
  switch (link.trouble) {
    case Trouble::down:
      return tr("%1 is down").arg(follower.offline() ? follower.title : leader.title);
    case Trouble::cut:
      return tr("cut");
    case Trouble::paused:
      return tr("%1 is paused").arg(follower.condition.paused ? follower.title : leader.title);
    case Trouble::silent:
      return tr("%1 has not fetched for %2").arg(follower.title, format_duration(link.silent_ms));
    case Trouble::slow:
      return rate.isEmpty() ? tr("+%1 ms").arg(SessionNodes::kSlowMs) : tr("%1, +%2 ms").arg(rate).arg(SessionNodes::kSlowMs);
    case Trouble::none:
      break;
  }
  return tr("replicates %1").arg(!rate.isEmpty() ? rate : link.meter.measured() ? QStringLiteral("0/s") : QStringLiteral("–"));
}

QString ClusterCanvas::linkSentence(const ClusterModel::Link& link) const {
  const int partitions = link.partitions;
  return tr("%1 copies %Ln partitions from %2, %3 of them in sync: %4", nullptr, partitions)
      .arg(model_.nodes()[link.follower].title, model_.nodes()[link.leader].title)
      .arg(link.in_sync)
      .arg(linkText(link));
}

void ClusterCanvas::buildLinks() {
  links_.clear();
  const auto& nodes = layout_.nodes;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> brackets;
  for (std::size_t i = 0; i < model_.links().size(); ++i) {
    const ClusterModel::Link& link = model_.links()[i];
    if (link.leader >= nodes.size() || link.follower >= nodes.size()) {
      continue;
    }
    const std::size_t upper = std::min(link.leader, link.follower);
    const std::size_t lower = std::max(link.leader, link.follower);
    const QRectF& above = nodes[upper].card;
    const QRectF& below = nodes[lower].card;
    if (above.left() != below.left() || below.top() <= above.bottom()) {
      continue;  // beside each other: many nodes, no room for links
    }
    DrawnLink drawn;
    drawn.link = i;
    drawn.text = linkText(link);
    if (lower == upper + 1) {
      const double x = above.left() + (link.leader < link.follower ? 30 : above.width() / 2 + 20);
      const double top = above.bottom() + 3;
      const double bottom = below.top() - 3;
      drawn.path = {link.leader < link.follower ? QPointF(x, top) : QPointF(x, bottom),
                    link.leader < link.follower ? QPointF(x, bottom) : QPointF(x, top)};
      drawn.label = QRectF(x + 9, above.bottom() + 1, above.width() / 2 - 34, below.top() - above.bottom() - 2);
    } else {
      const auto [at, fresh] = brackets.try_emplace({upper, lower}, brackets.size());
      if (!fresh || at->second >= kMaxBrackets) {
        if (!fresh) {
          for (DrawnLink& other : links_) {
            other.back = other.bracket && other.upper == upper && other.lower == lower ? static_cast<int>(i) : other.back;
          }
        }
        continue;  // one bracket for both directions
      }
      const double x = std::max(above.right(), below.right()) + kBracketOut + 9 * static_cast<double>(at->second);
      drawn.bracket = true;
      drawn.upper = upper;
      drawn.lower = lower;
      const QPointF a(above.right() + 1, nodes[upper].header.center().y());
      const QPointF b(below.right() + 1, nodes[lower].header.center().y());
      drawn.path = {a, QPointF(x, a.y()), QPointF(x, b.y()), b};
    }
    links_.push_back(std::move(drawn));
  }
}

// True where a word differs, so that the static layer must follow.
bool ClusterCanvas::refreshLinks() {
  bool changed = false;
  for (DrawnLink& drawn : links_) {
    const QString text = drawn.link < model_.links().size() ? linkText(model_.links()[drawn.link]) : QString();
    changed = changed || text != drawn.text;
    drawn.text = text;
  }
  return changed;
}

void ClusterCanvas::paintLinks(QPainter& p) {
  using Trouble = ClusterModel::Link::Trouble;
  const Colors& c = Theme::current().colors();
  for (const DrawnLink& drawn : links_) {
    if (drawn.link >= model_.links().size()) {
      continue;
    }
    const ClusterModel::Link& link = model_.links()[drawn.link];
    const bool broken = link.trouble == Trouble::down || link.trouble == Trouble::cut;
    const bool waits = link.trouble == Trouble::paused || link.trouble == Trouble::silent || link.trouble == Trouble::slow;
    const QColor color = broken ? c.err : (waits ? c.warn_line : c.edge);
    p.setRenderHint(QPainter::Antialiasing, true);
    QPen pen(color, 1.5, Qt::SolidLine, Qt::FlatCap);
    if (broken || waits) {
      pen.setDashPattern({5 / 1.5, 4 / 1.5});
    }
    p.setPen(pen);
    p.setBrush(Qt::NoBrush);
    QPainterPath path(drawn.path.front());
    for (std::size_t i = 1; i < drawn.path.size(); ++i) {
      path.lineTo(drawn.path[i]);
    }
    p.drawPath(path);
    const auto head = [&](QPointF tip, QPointF direction) {
      const auto corners = geometry::arrow_head(tip, direction);
      p.setPen(Qt::NoPen);
      p.setBrush(color);
      p.drawPolygon(corners.data(), static_cast<int>(corners.size()));
    };
    if (broken) {
      // Nothing arrives, so nothing points anywhere.
    } else if (!drawn.bracket) {
      head(drawn.path.back(), {0, drawn.path.back().y() > drawn.path.front().y() ? 1.0 : -1.0});
    } else {
      const bool down = link.leader == drawn.upper;
      head(down ? drawn.path.back() : drawn.path.front(), {-1, 0});
      if (drawn.back >= 0) {
        head(down ? drawn.path.front() : drawn.path.back(), {-1, 0});
      }
    }
    p.setRenderHint(QPainter::Antialiasing, false);
    if (drawn.bracket) {
      if (broken) {
        const QPointF middle((drawn.path[1] + drawn.path[2]) / 2);
        p.fillRect(QRectF(middle.x() - 8, middle.y() - 8, 16, 16), c.canvas);
        paint_glyph(p, Glyph::cross, middle, 10);
      }
      continue;
    }
    double x = drawn.label.left();
    if (link.trouble == Trouble::cut) {
      paint_glyph(p, Glyph::cross, QPointF(x + 5, drawn.label.center().y()), 10);
      x += 14;
    }
    text_fit(p, x, drawn.label.center().y(), drawn.label.right() - x, drawn.text, FontRole::caption, broken ? c.err_t : (waits ? c.warn_t : c.text2));
  }
}

// The link under a point; null: none.
const ClusterModel::Link* ClusterCanvas::linkAt(QPointF point) const {
  for (const DrawnLink& drawn : links_) {
    for (std::size_t i = 1; i < drawn.path.size(); ++i) {
      const QRectF around = QRectF(drawn.path[i - 1], drawn.path[i]).normalized().adjusted(-5, -5, 5, 5);
      if ((around.contains(point) || drawn.label.contains(point)) && drawn.link < model_.links().size()) {
        return &model_.links()[drawn.link];
      }
    }
  }
  return nullptr;
}

}  // namespace hw::ui
