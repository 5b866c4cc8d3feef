// SPDX-License-Identifier: Apache-2.0
#include "ui/models/group_lag.h"

#include <QCoreApplication>
#include <algorithm>

namespace hw::ui {

namespace {
QString tr(const char* text) { return QCoreApplication::translate("GroupLag", text); }
}  // namespace

PartitionLag partition_lag(const observe::TopicView& topic, PartitionIndex partition, std::int64_t committed) {
  PartitionLag lag;
  const auto at = static_cast<std::size_t>(partition.value());
  if (partition.value() < 0 || at >= topic.partitions.size() || topic.partitions[at] == nullptr) {
    return lag;
  }
  const event::ReplicaCounters* c = topic.partitions[at]->leader_counters();
  if (c == nullptr) {
    return lag;
  }
  const std::int64_t start = c->log_start_offset.get();
  lag.end = std::max(start, c->high_watermark.get());
  if (committed < 0) {
    return lag;
  }
  lag.known = true;
  lag.offsets = std::max<std::int64_t>(0, lag.end - committed);
  lag.records = std::max<std::int64_t>(0, lag.end - std::max(committed, start));
  lag.lost = std::max<std::int64_t>(0, start - committed);
  const auto policy = topic.configs.find("cleanup.policy");
  lag.at_most = policy != topic.configs.end() && policy->second.find("compact") != std::string::npos;
  return lag;
}

int severity(LagStatus status) {
  switch (status) {
    case LagStatus::ok:
      return 0;
    case LagStatus::measuring:
      return 1;
    case LagStatus::slow:
      return 2;
    case LagStatus::rewound:
      return 3;
    case LagStatus::stalled:
      return 4;
    case LagStatus::stopped:
      return 5;
  }
  return 0;
}

Glyph glyph_of(LagStatus status, bool has_members) {
  switch (status) {
    case LagStatus::ok:
      return Glyph::disc;
    case LagStatus::measuring:
      return Glyph::ring;
    case LagStatus::slow:
    case LagStatus::rewound:
      return Glyph::quarter;
    case LagStatus::stalled:
      return Glyph::cross;
    case LagStatus::stopped:
      return has_members ? Glyph::cross : Glyph::ring;
  }
  return Glyph::none;
}

QString status_word(LagStatus status) {
  switch (status) {
    case LagStatus::ok:
      return tr(QT_TRANSLATE_NOOP("GroupLag", "ok"));
    case LagStatus::measuring:
      return tr(QT_TRANSLATE_NOOP("GroupLag", "measuring"));
    case LagStatus::slow:
      return tr(QT_TRANSLATE_NOOP("GroupLag", "slow"));
    case LagStatus::rewound:
      return tr(QT_TRANSLATE_NOOP("GroupLag", "rewound"));
    case LagStatus::stalled:
      return tr(QT_TRANSLATE_NOOP("GroupLag", "stalled"));
    case LagStatus::stopped:
      return tr(QT_TRANSLATE_NOOP("GroupLag", "stopped"));
  }
  return {};
}

QString status_rule(LagStatus status) {
  switch (status) {
    case LagStatus::ok:
      return tr(
          QT_TRANSLATE_NOOP("GroupLag", "ok: within the last half minute the group was less than 10 s behind, or it handles more than arrives"));
    case LagStatus::measuring:
      return tr(QT_TRANSLATE_NOOP("GroupLag", "measuring: there is lag, and it has not been watched long enough to judge it"));
    case LagStatus::slow:
      return tr(QT_TRANSLATE_NOOP("GroupLag", "slow: for half a minute more than 10 s behind, and no more is handled than arrives"));
    case LagStatus::rewound:
      return tr(QT_TRANSLATE_NOOP("GroupLag", "rewound: a committed position went back, so records are read again"));
    case LagStatus::stalled:
      return tr(QT_TRANSLATE_NOOP("GroupLag", "stalled: members commit, but the position does not move although records wait"));
    case LagStatus::stopped:
      return tr(QT_TRANSLATE_NOOP("GroupLag", "stopped: records wait, and nobody has committed for longer than a minute, or the group has no member"));
  }
  return {};
}

bool LagWindow::add(const Sample& sample) {
  if (count_ > 0 && sample.at_ms < at(count_ - 1).at_ms + kStepMs) {
    return false;
  }
  if (count_ == kSamples) {
    samples_[first_] = sample;
    first_ = (first_ + 1) % kSamples;
  } else {
    samples_[(first_ + count_++) % kSamples] = sample;
  }
  return true;
}

LagStatus LagWindow::judge(const Sample& now, std::int64_t committed_at_ms, bool has_members, LagStatus before) const {
  constexpr std::int64_t kRecentMs = kWindowMs / 2;  // longer than a commit interval
  constexpr std::int64_t kStallMs = kWindowMs * 3 / 4;
  constexpr double kBehindS = 10;
  constexpr double kBehindAgainS = 5;
  constexpr double kGain = 1.1;
  const std::int64_t lag = now.end - now.committed;
  std::int64_t least = lag;     // recently
  std::int64_t recently = lag;  // at the beginning of that time
  for (std::size_t i = count_; i > 0 && at(i - 1).at_ms >= now.at_ms - kRecentMs; --i) {
    recently = at(i - 1).end - at(i - 1).committed;
    least = std::min(least, recently);
  }
  if (lag <= 0 || (has_members && least <= 0)) {
    return LagStatus::ok;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    const std::int64_t next = i + 1 < count_ ? at(i + 1).committed : now.committed;
    if (next < at(i).committed) {
      return LagStatus::rewound;
    }
  }
  if (!has_members || (committed_at_ms > 0 && now.at_ms - committed_at_ms > kWindowMs)) {
    return LagStatus::stopped;
  }
  if (count_ < 3) {
    return LagStatus::measuring;
  }
  if (at(0).committed == now.committed) {  // work on a batch may take a while
    return now.at_ms - at(0).at_ms < kStallMs ? LagStatus::measuring : LagStatus::stalled;
  }
  const bool was_slow = before == LagStatus::slow;
  const double in = arriving(now);
  const double out = handled(now);
  if (static_cast<double>(least) <= in * (was_slow ? kBehindAgainS : kBehindS) || out > in * (was_slow ? kGain : 1)) {
    return LagStatus::ok;
  }
  // After a burst the rates of the window lag behind what is seen: it is being worked off.
  return !was_slow && lag < recently ? LagStatus::ok : LagStatus::slow;
}

double LagWindow::arriving(const Sample& now) const {
  if (count_ == 0 || now.at_ms - at(0).at_ms < 1'000) {
    return -1;
  }
  return static_cast<double>(now.end - at(0).end) * 1000.0 / static_cast<double>(now.at_ms - at(0).at_ms);
}

double LagWindow::handled(const Sample& now) const {
  if (count_ == 0 || now.at_ms - at(0).at_ms < 1'000) {
    return -1;
  }
  // At the edges of the window part of a step is missing, from one step to another it is whole: that counts while steps go on.
  const Sample* from = &at(0);
  const Sample* to = &now;
  const Sample* first = nullptr;
  const Sample* last = nullptr;
  std::int64_t longest = 0;
  for (std::size_t i = 1; i < count_; ++i) {
    const Sample& sample = at(i);
    if (sample.committed != at(i - 1).committed) {
      longest = last == nullptr ? 0 : std::max(longest, sample.at_ms - last->at_ms);
      first = first == nullptr ? &sample : first;
      last = &sample;
    }
  }
  if (first != last && now.at_ms - last->at_ms <= longest) {
    from = first;
    to = last;
  }
  return static_cast<double>(std::max<std::int64_t>(0, to->committed - from->committed)) * 1000.0 / static_cast<double>(to->at_ms - from->at_ms);
}

std::int64_t LagWindow::behindMs(const Sample& now) const {
  if (now.end <= now.committed) {
    return 0;
  }
  // The end of the log passed the group's position between two samples.
  std::int64_t later_at = now.at_ms;
  std::int64_t later_end = now.end;
  for (std::size_t i = count_; i > 0; --i) {
    const Sample& sample = at(i - 1);
    if (sample.end <= now.committed) {
      const double part = later_end == sample.end ? 1.0
                                                  : static_cast<double>(now.committed - sample.end) /
                                                        static_cast<double>(later_end - sample.end);
      const auto passed = sample.at_ms + static_cast<std::int64_t>(part * static_cast<double>(later_at - sample.at_ms));
      return std::max<std::int64_t>(0, now.at_ms - passed);
    }
    later_at = sample.at_ms;
    later_end = sample.end;
  }
  return -1;
}

}  // namespace hw::ui
