// SPDX-License-Identifier: Apache-2.0
#include "ui/models/group_why.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "ui/painting/shapes.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {

// Texts with a count call translate() themselves: lupdate does not look for them in the argument of a tr().
QString tr(const char* text) { return QCoreApplication::translate("GroupWhy", text); }
#define T(text) QT_TRANSLATE_NOOP("GroupWhy", text)

QString rate(double per_second) { return per_second < 0.05 ? QStringLiteral("0") : format_rate(per_second).section(QLatin1Char('/'), 0, 0); }

QString records_rate(double per_second) {
  const QString number = rate(per_second);
  return number == QStringLiteral("1") ? tr(T("1 record/s")) : tr(T("%1 records/s")).arg(number);
}

// Whose lag speaks for the group: the largest; of a group that is stalled, the largest of those that stand still.
std::size_t speaker(const GroupFacts& f) {
  auto best = static_cast<std::size_t>(f.worst);
  for (std::size_t i = 0; f.status == LagStatus::stalled && i < f.parts.size(); ++i) {
    const bool better = f.parts[best].status != LagStatus::stalled || f.parts[i].lag.records > f.parts[best].lag.records;
    best = f.parts[i].status == LagStatus::stalled && better ? i : best;
  }
  return best;
}

}  // namespace

QString idle_words(const observe::GroupView& group, int partitions) {
  const auto members = static_cast<int>(group.members.size());
  int idle = 0;
  QString first;
  for (const event::GroupAssigned::Member& m : group.members) {
    if (m.partitions.empty()) {
      first = idle++ == 0 ? QString::fromStdString(m.client_id) : first;
    }
  }
  if (idle == 0 || group.state != "Stable") {
    return {};
  }
  if (members > partitions && partitions > 0) {
    return idle == 1 ? tr(T("%1 owns nothing: %2 members share %3 partitions, so one always waits.")).arg(first, format_count(members), format_count(partitions))
                     : QCoreApplication::translate("GroupWhy", "%Ln members own nothing: %1 members share %2 partitions. A partition has one reader in a group.", nullptr, idle)
                           .arg(format_count(members), format_count(partitions));
  }
  return QCoreApplication::translate("GroupWhy", "%Ln member(s) own nothing: no partition of their topics is left.", nullptr, idle);
}

constexpr double kNothing = 0.05;  // records per second that count as none

GroupVerdict why(const GroupFacts& f, const std::vector<KeyCounter::Share>& keys, std::int64_t now_ms) {
  GroupVerdict v;
  const observe::GroupView& g = *f.group;
  if (g.rebalancing_since.ms > 0) {
    const bool cooperative =
        g.kind == event::GroupProtocol::consumer || g.protocol.find("cooperative") != std::string::npos;
    v.headline = (cooperative ? tr(T("The group rebalances, for %1 now; members go on with what they keep."))
                              : tr(T("The group rebalances, for %1 now; its members read nothing meanwhile.")))
                     .arg(rebalancing_words(g, now_ms));
  } else if (!f.lag_known) {
    v.headline = g.members.empty() ? tr(T("The group has no member and no position."))
                                   : tr(T("The group has committed nothing yet."));
    if (!g.members.empty()) {
      v.sentences << tr(T("Until its first commit it starts where auto.offset.reset says."));
    }
    return v;
  }
  double arriving = 0;
  double handled = 0;
  bool known = false;
  std::int64_t lost = 0;
  for (const GroupFacts::Part& part : f.parts) {
    lost += part.lag.lost;
    const double in = part.window.arriving(part.now);
    if (part.lag.known && in >= 0) {
      known = true;
      arriving += in;
      handled += std::max(0.0, part.window.handled(part.now));
    }
  }
  v.arriving = known ? arriving : -1;
  v.handled = known ? handled : -1;
  if (f.worst < 0) {
    if (v.headline.isEmpty()) {
      v.headline = tr(T("Everything is read."));
    }
    if (known && arriving >= 0.05) {
      v.sentences << tr(T("%1 records/s arrive, %2 are handled.")).arg(rate(arriving), rate(handled));
    } else {
      v.sentences << tr(T("Nothing new arrives."));
    }
  } else {
    const GroupFacts::Part& worst = f.parts[speaker(f)];
    const bool stands = f.status == LagStatus::stalled && worst.status == LagStatus::stalled;
    v.topic = QString::fromStdString(worst.topic);
    v.partition = worst.partition.value();
    const auto with_lag = std::count_if(f.parts.begin(), f.parts.end(), [](const GroupFacts::Part& p) { return p.lag.records > 0; });
    const double share = static_cast<double>(worst.lag.records) / static_cast<double>(std::max<std::int64_t>(1, f.lag_records));
    const bool spread = share < 0.2 && with_lag > 5;
    // One partition speaks for the group, but not of many alike, nor one whose turn has not come while others get theirs.
    const double in_worst = worst.window.arriving(worst.now);
    const double of_worst = worst.window.handled(worst.now);
    const bool waits = in_worst < kNothing && of_worst < kNothing && worst.status != LagStatus::stalled;
    const bool whole = known && handled >= kNothing && (spread || waits) && !stands;
    const std::int64_t lag = whole ? f.lag_records : worst.lag.records;
    if (!whole) {
      v.arriving = in_worst;
      v.handled = of_worst;
    }
    if (v.headline.isEmpty() && stands) {
      v.headline = tr(T("Partition %1 of %2 stands still at %3, while %4 records wait there."))
                       .arg(v.partition)
                       .arg(v.topic, format_count(worst.now.committed), format_count(worst.lag.records));
    } else if (v.headline.isEmpty()) {
      v.headline = with_lag == 1 ? tr(T("All lag is on partition %1 of %2.")).arg(v.partition).arg(v.topic)
                   : spread      ? tr(T("The lag is spread over %1 partitions; partition %2 of %3 has the most, %4 %."))
                                       .arg(format_count(with_lag)).arg(v.partition).arg(v.topic).arg(std::lround(share * 100))
                                 : tr(T("Partition %1 of %2 carries %3 % of the lag.")).arg(v.partition).arg(v.topic).arg(std::lround(share * 100));
    }
    const event::GroupAssigned::Member* owner = nullptr;
    for (const event::GroupAssigned::Member& m : g.members) {
      for (const auto& [topic, partition] : m.partitions) {
        owner = topic == worst.topic && partition == worst.partition ? &m : owner;
      }
    }
    if (g.members.empty()) {
      v.sentences << tr(T("The group has no member, so nobody reads; %1 records wait.")).arg(format_count(f.lag_records));
    } else if (whole) {
      v.sentences << (v.arriving < kNothing ? tr(T("The group handles %1, and nothing arrives.")).arg(records_rate(v.handled))
                                            : tr(T("The group handles %1, %2 arrive.")).arg(records_rate(v.handled), rate(v.arriving)));
    } else if (owner == nullptr) {
      v.sentences << tr(T("No member owns this partition."));
    } else if (v.arriving >= 0 && v.arriving < kNothing && v.handled < kNothing) {
      v.sentences << tr(T("Member %1 handles nothing at the moment, and nothing arrives.")).arg(QString::fromStdString(owner->client_id));
    } else if (v.arriving >= 0) {
      v.sentences
          << tr(T("Member %1 handles %2, %3 arrive.")).arg(QString::fromStdString(owner->client_id), records_rate(v.handled), rate(v.arriving));
    } else {
      v.sentences << tr(T("Member %1 reads it; rates need a second to be measured.")).arg(QString::fromStdString(owner->client_id));
    }
    if (!keys.empty() && keys.front().share >= 0.3) {
      v.sentences << tr(T("Key %1 is %2 % of the newest records there.")).arg(key_text(keys.front().key.span(), 24)).arg(std::lround(keys.front().share * 100));
    }
    if (g.members.empty()) {
      v.never = true;
      v.catch_up = tr(T("Catch-up: never without a member"));
    } else if (v.arriving >= 0) {
      const double gain = v.handled - v.arriving;
      if (gain > 0.05) {
        v.catch_up = tr(T("Caught up in about %1")).arg(format_duration(static_cast<std::int64_t>(static_cast<double>(lag) / gain * 1000)));
      } else if (v.handled < 0.05 && worst.status != LagStatus::measuring) {
        v.never = true;
        v.catch_up = tr(T("Catch-up: never, nothing is handled"));
      } else if (worst.status == LagStatus::slow || worst.status == LagStatus::stalled) {
        v.never = true;
        v.catch_up = tr(T("Catch-up: never at this rate, needs more than %1×")).arg(v.handled > 0 ? v.arriving / v.handled : 1, 0, 'f', 1);
      } else if (gain < -0.05) {
        v.catch_up = tr(T("The lag grows by %1")).arg(records_rate(-gain));
      } else if (v.handled >= kNothing) {
        v.catch_up = tr(T("The lag is steady: as much is handled as arrives"));
      }
    }
  }
  if (lost > 0) {
    v.sentences << tr(T("%1 offsets lie below the log start: those records were deleted before the group read them.")).arg(format_count(lost));
  }
  // Rebalances near each other cost more than each of them.
  int recent = 0;
  for (const observe::GroupView::Rebalance& r : g.rebalances) {
    recent += now_ms - r.at.ms < 180'000 ? 1 : 0;
  }
  if (recent >= 5) {
    v.sentences << QCoreApplication::translate("GroupWhy", "%Ln rebalances within 3 minutes: members come and go too often.", nullptr, recent);
  } else if (!g.rebalances.empty()) {
    v.sentences
        << tr(T("The last rebalance was %1.")).arg(ago_words(g.rebalances.back().at.ms, now_ms).replace(QLatin1Char(' '), QChar(QChar::Nbsp)));
  }
  return v;
}
#undef T

}  // namespace hw::ui
