// SPDX-License-Identifier: Apache-2.0
#include "ui/models/offset_reset.h"

#include <QDateTime>
#include <QRegularExpression>
#include <algorithm>

namespace hw::ui {

std::vector<ResetRow> plan_reset(const std::vector<ResetPart>& parts, const ResetChoice& choice) {
  std::vector<ResetRow> out;
  for (const ResetPart& part : parts) {
    ResetRow row;
    row.partition = part.partition;
    row.from = part.committed;
    std::int64_t wanted = part.earliest;
    switch (choice.to) {
      case ResetChoice::To::earliest:
        break;
      case ResetChoice::To::latest:
        wanted = part.latest;
        break;
      case ResetChoice::To::offset:
        wanted = choice.value;
        break;
      case ResetChoice::To::shift:
        wanted = (part.committed < 0 ? part.earliest : part.committed) + choice.value;
        break;
      case ResetChoice::To::time:
        wanted = part.found < 0 ? part.latest : part.found;
        break;
    }
    row.to = std::clamp(wanted, part.earliest, std::max(part.earliest, part.latest));
    row.clamped = row.to != wanted;
    // What lies below the log start is gone either way.
    const std::int64_t from = part.committed < 0 ? part.earliest : std::clamp(part.committed, part.earliest, std::max(part.earliest, part.latest));
    row.skipped = std::max<std::int64_t>(0, row.to - from);
    row.replayed = part.committed < 0 ? 0 : std::max<std::int64_t>(0, from - row.to);
    out.push_back(row);
  }
  return out;
}

QString reset_command(const QString& bootstrap, const QString& group, const QString& topic, const ResetChoice& choice) {
  QString to;
  switch (choice.to) {
    case ResetChoice::To::earliest:
      to = QStringLiteral("--to-earliest");
      break;
    case ResetChoice::To::latest:
      to = QStringLiteral("--to-latest");
      break;
    case ResetChoice::To::offset:
      to = QStringLiteral("--to-offset %1").arg(choice.value);
      break;
    case ResetChoice::To::shift:
      to = QStringLiteral("--shift-by %1").arg(choice.value);
      break;
    case ResetChoice::To::time:
      to = QStringLiteral("--to-datetime %1").arg(QDateTime::fromMSecsSinceEpoch(choice.value, Qt::UTC).toString(QStringLiteral("yyyy-MM-ddTHH:mm:ss.zzz")));
      break;
  }
  return QStringLiteral("kafka-consumer-groups.sh --bootstrap-server %1 --group %2 --reset-offsets %3 %4 --execute")
      .arg(bootstrap, group, topic.isEmpty() ? QStringLiteral("--all-topics") : QStringLiteral("--topic %1").arg(topic), to);
}

std::optional<std::int64_t> parse_moment(const QString& text, std::int64_t now_ms) {
  const QString trimmed = text.trimmed();
  static const QRegularExpression ago(QStringLiteral("^-?\\s*([0-9]+(?:\\.[0-9]+)?)\\s*(ms|s|min|m|h|d)(\\s+ago)?$"),
                                      QRegularExpression::CaseInsensitiveOption);
  if (const QRegularExpressionMatch match = ago.match(trimmed); match.hasMatch()) {
    const QString unit = match.captured(2).toLower();
    const double factor = unit == QLatin1String("ms") ? 1 : unit == QLatin1String("s") ? 1e3 : unit.startsWith(QLatin1Char('m')) ? 6e4
                          : unit == QLatin1String("h") ? 3.6e6
                                                       : 8.64e7;
    return now_ms - static_cast<std::int64_t>(match.captured(1).toDouble() * factor);
  }
  for (const char* format : {"yyyy-MM-dd HH:mm:ss.zzz", "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd HH:mm", "yyyy-MM-dd"}) {
    QString plain = trimmed;
    plain.replace(QLatin1Char('T'), QLatin1Char(' '));
    if (const QDateTime at = QDateTime::fromString(plain, QLatin1String(format)); at.isValid()) {
      return at.toMSecsSinceEpoch();
    }
  }
  for (const char* format : {"HH:mm:ss.zzz", "HH:mm:ss", "HH:mm"}) {
    if (const QTime at = QTime::fromString(trimmed, QLatin1String(format)); at.isValid()) {
      return QDateTime(QDateTime::fromMSecsSinceEpoch(now_ms).date(), at).toMSecsSinceEpoch();
    }
  }
  return std::nullopt;
}

}  // namespace hw::ui
