// SPDX-License-Identifier: Apache-2.0
#include "ui/views/topic_details.h"

#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/models/replica_facts.h"
#include "ui/painting/text.h"
#include "ui/session/session_admin.h"
#include "ui/views/statistics_strip.h"

namespace hw::ui {

namespace {
constexpr std::int64_t kCountBytesMax = 64LL * 1024 * 1024;
}  // namespace

TopicDetails::TopicDetails(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("topicDetails"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  strip_ = new StatisticsStrip(this);
  column->addWidget(strip_);
  panel_ = new ConfigPanel(this);
  connect(panel_, &ConfigPanel::applied, this, &TopicDetails::applied);
  column->addWidget(panel_, 1);
  count_timer_ = new QTimer(this);
  count_timer_->setSingleShot(true);
  count_timer_->setInterval(400);
  connect(count_timer_, &QTimer::timeout, this, &TopicDetails::count);
}

void TopicDetails::attach(Session* session) {
  session_ = session;
  panel_->attach(session);
}

void TopicDetails::setClock(std::function<std::int64_t()> clock) { panel_->setClock(std::move(clock)); }

void TopicDetails::showTopic(const QString& topic) {
  if (topic == topic_) {
    return;
  }
  topic_ = topic;
  ++round_;
  counting_ = false;
  counted_ = false;
  counted_offsets_ = -1;
  count_ = RecordCount{};
  facts_ = TopicFacts{};
  seen_configs_.clear();
  if (topic.isEmpty()) {
    panel_->clear();
    return;
  }
  panel_->show({ConfigResource::Kind::topic, topic.toStdString()});
  count_timer_->start();
}

void TopicDetails::count() {
  if (session_ == nullptr || topic_.isEmpty() || counting_) {
    return;
  }
  counting_ = true;
  const QPointer<TopicDetails> self(this);
  const std::uint64_t round = round_;
  SessionAdmin::of(session_).countRecords(topic_.toStdString(), kCountBytesMax, [self, round, topic = topic_](const RecordCount& count) {
    if (self == nullptr || self->round_ != round) {
      return;
    }
    self->counting_ = false;
    self->count_ = count;
    self->counted_ = count.error.isEmpty() && count.whole;
    self->counted_offsets_ = count.offsets;
    if (self->counted_) {
      Q_EMIT self->recordsCounted(topic, count.records);
    }
    self->showStatistics();
  });
}

void TopicDetails::refresh(const TopicFacts* facts) {
  if (facts == nullptr || facts->topic == nullptr) {
    return;
  }
  facts_ = *facts;
  panel_->setReplicas(std::max<std::size_t>(1, facts_.factor));
  if (facts->topic->configs != seen_configs_) {
    const bool first = seen_configs_.empty() && configs()->total() == 0;
    seen_configs_ = facts->topic->configs;
    if (!first) {
      panel_->load();
    }
  }
  showStatistics();
}

void TopicDetails::showStatistics() {
  if (facts_.topic == nullptr) {
    return;
  }
  std::int64_t offsets = 0;
  std::int64_t segments = 0;
  for (const auto& partition : facts_.topic->partitions) {
    if (const event::ReplicaCounters* c = partition == nullptr ? nullptr : known_counters(*partition).counters; c != nullptr) {
      offsets += c->log_end_offset.get() - c->log_start_offset.get();
      segments += c->segments.get();
    }
  }
  // What was counted stays true while nothing is written; records that came since are offsets without gaps.
  const bool fresh = counted_ && counted_offsets_ == offsets;
  std::vector<StatisticsStrip::Value> values;
  const std::int64_t shown = counted_ ? count_.records + (offsets - counted_offsets_) : facts_.records;
  values.push_back({format_count(shown), counted_ ? tr("records, counted") : (facts_.at_most ? tr("records at most") : tr("records"))});
  if (counted_ && count_.control > 0) {
    values.push_back({format_count(count_.control), tr("markers")});
  }
  if (counted_ && fresh && count_.offsets - count_.records - count_.control > 0) {
    values.push_back({format_count(count_.offsets - count_.records - count_.control), tr("offsets without record")});
  }
  values.push_back({format_bytes(facts_.bytes), tr("%Ln segment(s)", nullptr, static_cast<int>(segments))});
  values.push_back({QStringLiteral("%1 / %2").arg(!facts_.rated ? QStringLiteral("–") : facts_.in < 0.05 ? QStringLiteral("0/s") : format_rate(facts_.in),
                                                  !facts_.rated ? QStringLiteral("–") : facts_.out < 0.05 ? QStringLiteral("0/s") : format_rate(facts_.out)),
                    tr("in / out")});
  if (!facts_.findings.isEmpty()) {
    values.push_back({QString::number(facts_.findings.size()), facts_.findings.front().section(QLatin1Char(':'), 0, 0), facts_.severity != Glyph::none});
  }
  strip_->setValues(std::move(values));
}

}  // namespace hw::ui
