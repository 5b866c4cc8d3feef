// SPDX-License-Identifier: Apache-2.0
#include "ui/models/config_rules.h"

#include <QCoreApplication>
#include <QLocale>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "ui/models/broker_config_rules.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {

using Unit = ConfigRule::Unit;
#define T(text) QT_TRANSLATE_NOOP("ConfigRules", text)

QString tr(const char* text) { return QCoreApplication::translate("ConfigRules", text); }

constexpr const char* kNoLimit = T("-1=without limit");
constexpr const char* kSwitch = "true,false";

const ConfigRule kRules[] = {
    {"cleanup.policy", Unit::none, {}, {}, nullptr, "compact,delete",
     T("What happens to old records: delete removes whole segments by age and size, compact keeps the newest record of every key. Both may be given."),
     T("Without delete nothing is removed by age any more. With compact a record without a key is refused, and older values of a key vanish.")},
    {"compression.gzip.level", Unit::count, 1, 9, T("-1=the codec's own"), nullptr, T("How hard the broker compresses where compression.type is gzip."), nullptr},
    {"compression.lz4.level", Unit::count, 1, 17, nullptr, nullptr, T("How hard the broker compresses where compression.type is lz4."), nullptr},
    {"compression.type", Unit::none, {}, {}, nullptr, "producer,uncompressed,gzip,snappy,lz4,zstd",
     T("How batches are stored. producer keeps what the client sent; anything else makes the broker compress every batch again."),
     T("The broker then unpacks and packs every batch, which costs its processor.")},
    {"compression.zstd.level", Unit::count, -131072, 22, nullptr, nullptr, T("How hard the broker compresses where compression.type is zstd."), nullptr},
    {"delete.retention.ms", Unit::duration, 0, {}, nullptr, nullptr,
     T("How long a compacted topic keeps a tombstone, so that slow readers still learn of the deletion."),
     T("A reader that is away for longer may believe that deleted keys still exist.")},
    {"errors.deadletterqueue.group.enable", Unit::none, {}, {}, nullptr, kSwitch, T("Whether share groups may use this topic for records that nobody could handle."), nullptr},
    {"file.delete.delay.ms", Unit::duration, 0, {}, nullptr, nullptr, T("How long a deleted segment's file stays on disk, so that a read under way can finish."), nullptr},
    {"flush.messages", Unit::count, 1, {}, nullptr, nullptr,
     T("Forces an fsync after so many records. By default the operating system decides, and replicas protect the data."),
     T("Small values make every write wait for the disk.")},
    {"flush.ms", Unit::duration, 0, {}, nullptr, nullptr, T("Forces an fsync at least this often. By default the operating system decides."),
     T("Small values make writes wait for the disk.")},
    {"follower.replication.throttled.replicas", Unit::none, {}, {}, nullptr, nullptr, T("Followers whose catching up is slowed down: partition:broker pairs, or * for all."), nullptr},
    {"index.interval.bytes", Unit::size, 0, {}, nullptr, nullptr, T("After how many bytes of log the offset index gets an entry. Smaller finds faster, larger indexes less."), nullptr},
    {"leader.replication.throttled.replicas", Unit::none, {}, {}, nullptr, nullptr, T("Leaders whose sending to followers is slowed down: partition:broker pairs, or * for all."), nullptr},
    {"local.retention.bytes", Unit::size, -2, {}, T("-2=as retention.bytes"), nullptr, T("With tiered storage: how much stays on the local disk after it was copied away."), nullptr},
    {"local.retention.ms", Unit::duration, -2, {}, T("-2=as retention.ms"), nullptr, T("With tiered storage: how long segments stay on the local disk after they were copied away."), nullptr},
    {"max.compaction.lag.ms", Unit::duration, 1, {}, nullptr, nullptr, T("A record is compacted at the latest after this time, however clean the log is."), nullptr},
    {"max.decompressed.message.bytes", Unit::size, 1, 2147483639, nullptr, nullptr, T("The largest batch the broker is willing to unpack."), nullptr},
    {"max.message.bytes", Unit::size, 0, {}, nullptr, nullptr,
     T("The largest batch that is accepted, as compressed by the producer."),
     T("Producers with larger batches get RECORD_TOO_LARGE. Raising it alone is not enough: consumers and the producer's max.request.size have limits as well.")},
    {"message.timestamp.after.max.ms", Unit::duration, 0, {}, nullptr, nullptr, T("How far a record's timestamp may lie in the future of the broker's clock."),
     T("Producers whose clock is ahead are refused with INVALID_TIMESTAMP.")},
    {"message.timestamp.before.max.ms", Unit::duration, 0, {}, nullptr, nullptr, T("How far a record's timestamp may lie in the past of the broker's clock."),
     T("Loading old data is refused with INVALID_TIMESTAMP.")},
    {"message.timestamp.type", Unit::none, {}, {}, nullptr, "CreateTime,LogAppendTime",
     T("Whose clock counts: the producer's (CreateTime), or the broker's when it appends (LogAppendTime)."),
     T("Retention by time and searches by time follow this clock. Times of records already there do not change.")},
    {"min.cleanable.dirty.ratio", Unit::ratio, 0, 1, nullptr, nullptr, T("How large the uncompacted part of the log must be before compaction is worth it."), nullptr},
    {"min.compaction.lag.ms", Unit::duration, 0, {}, nullptr, nullptr, T("How long a record is certainly there before compaction may remove it."), nullptr},
    {"min.insync.replicas", Unit::count, 1, {}, nullptr, nullptr,
     T("How many replicas must have a record before a producer with acks=all is told that it is written."),
     T("With fewer replicas in sync, every write with acks=all is refused (NOT_ENOUGH_REPLICAS) and readers see nothing new. With 1, a record may live on one machine only.")},
    {"preallocate", Unit::none, {}, {}, nullptr, kSwitch, T("Whether a new segment takes its whole size on disk at once."), nullptr},
    {"remote.copy.lag.bytes", Unit::size, -1, {}, nullptr, nullptr, T("With tiered storage: how many bytes of closed segments wait before they are copied away."), nullptr},
    {"remote.copy.lag.ms", Unit::duration, -1, {}, nullptr, nullptr, T("With tiered storage: how long a closed segment waits before it is copied away."), nullptr},
    {"remote.log.copy.disable", Unit::none, {}, {}, nullptr, kSwitch, T("With tiered storage: stops copying; what was copied stays readable."), nullptr},
    {"remote.log.delete.on.disable", Unit::none, {}, {}, nullptr, kSwitch, T("With tiered storage: whether turning it off removes what was copied."),
     T("What was copied away is gone when tiered storage is turned off.")},
    {"remote.storage.enable", Unit::none, {}, {}, nullptr, kSwitch, T("Whether closed segments are copied to remote storage."), nullptr},
    {"retention.bytes", Unit::size, {}, {}, kNoLimit, nullptr,
     T("How much of a partition's log stays; older whole segments are deleted. The active segment always stays."),
     T("Records are deleted although nobody has read them. It counts for each partition, not for the topic.")},
    {"retention.ms", Unit::duration, -1, {}, T("-1=for ever"), nullptr,
     T("How long a segment stays after its newest record; then the whole segment is deleted."),
     T("Shorter deletes records at the broker's next look, also those that a group has not read yet. There is no way back.")},
    {"segment.bytes", Unit::size, 1048576, {}, nullptr, nullptr,
     T("How large a segment file grows before a new one begins. Only whole closed segments are deleted or compacted."),
     T("Small segments mean many files: each keeps descriptors and memory.")},
    {"segment.index.bytes", Unit::size, 4, {}, nullptr, nullptr, T("The size of a segment's index; when it is full, a new segment begins."), nullptr},
    {"segment.jitter.ms", Unit::duration, 0, {}, nullptr, nullptr, T("Chance subtracted from segment.ms, so that not all partitions begin new segments together."), nullptr},
    {"segment.ms", Unit::duration, 1, {}, nullptr, nullptr,
     T("After this time a new segment begins although the old one is not full, so that retention and compaction get at it."),
     T("Small values mean many small files.")},
    {"unclean.leader.election.enable", Unit::none, {}, {}, nullptr, kSwitch,
     T("Whether a replica that is not in sync may become leader when no other is left."),
     T("With true, records that were acknowledged may be lost for good.")},
};
#undef T

struct UnitWord {
  const char* word;
  double factor;
};
constexpr UnitWord kDurations[] = {{"ms", 1}, {"s", 1000}, {"min", 60'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}, {"w", 604'800'000}};
constexpr UnitWord kSizes[] = {{"b", 1},         {"kib", 1024},       {"kb", 1000},    {"mib", 1048576},
                               {"mb", 1e6},      {"gib", 1073741824}, {"gb", 1e9},     {"tib", 1099511627776.0}};

std::optional<std::pair<QString, QString>> special_of(const ConfigRule& rule) {
  if (rule.special == nullptr) {
    return std::nullopt;
  }
  const QString text = tr(rule.special);
  const qsizetype eq = text.indexOf(QLatin1Char('='));
  return std::make_pair(text.left(eq), text.mid(eq + 1));
}

// A duration as a person would say it: exact, or with one digit.
QString long_duration(double ms) {
  struct Step {
    double factor;
    const char* unit;
  };
  constexpr Step steps[] = {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "min"}, {1000, "s"}};
  for (const Step& step : steps) {
    if (ms >= step.factor) {
      const double value = ms / step.factor;
      if (value >= 365.0 * 100 && step.factor == 86'400'000) {
        return tr(QT_TRANSLATE_NOOP("ConfigRules", "for ever"));
      }
      const bool whole = std::abs(value - std::round(value)) < 1e-9;
      return QStringLiteral("%1 %2").arg(QLocale::c().toString(value, 'f', whole ? 0 : 1), QLatin1String(step.unit));
    }
  }
  return QStringLiteral("%1 ms").arg(QLocale::c().toString(ms, 'f', 0));
}

}  // namespace

const ConfigRule* config_rule(const std::string& name) {
  const std::string_view topic_key = topic_key_of(name);
  const std::string_view wanted = topic_key.empty() ? std::string_view(name) : topic_key;
  const auto at = std::find_if(std::begin(kRules), std::end(kRules), [&](const ConfigRule& rule) { return wanted == rule.name; });
  return at == std::end(kRules) ? broker_or_group_rule(name) : at;
}

QString config_doc(const std::string& name) {
  const ConfigRule* rule = config_rule(name);
  if (rule == nullptr) {
    return {};
  }
  // "min.insync.replicas" is a topic's and a broker's; who asks for it at a broker says so itself.
  return rule->name == name ? tr(rule->doc) : tr(QT_TRANSLATE_NOOP("ConfigRules", "For topics without a value of their own: %1")).arg(tr(rule->doc));
}

QString config_danger(const std::string& name) {
  const ConfigRule* rule = config_rule(name);
  return rule == nullptr || rule->danger == nullptr ? QString() : tr(rule->danger);
}

QString config_reading(const std::string& name, const std::string& value) {
  const ConfigRule* rule = config_rule(name);
  if (rule == nullptr) {
    return {};
  }
  const QString text = QString::fromStdString(value);
  if (const auto special = special_of(*rule); special && special->first == text) {
    return special->second;
  }
  bool number = false;
  const double v = text.toDouble(&number);
  if (!number) {
    return {};
  }
  if (v >= 9.2e18 || (rule->unit == Unit::size && v >= 9.0e18)) {
    return rule->unit == Unit::duration ? tr(QT_TRANSLATE_NOOP("ConfigRules", "for ever")) : tr(QT_TRANSLATE_NOOP("ConfigRules", "never"));
  }
  switch (rule->unit) {
    case Unit::duration:
      return v < 1000 ? QString() : long_duration(v);
    case Unit::size:
      return v < 1024 ? QString() : format_bytes(static_cast<std::int64_t>(v));
    case Unit::none:
    case Unit::count:
    case Unit::ratio:
      return {};
  }
  return {};
}

QString config_plain(const std::string& name, const QString& text) {
  const ConfigRule* rule = config_rule(name);
  const QString trimmed = text.trimmed();
  if (rule == nullptr || (rule->unit != Unit::duration && rule->unit != Unit::size)) {
    return trimmed;
  }
  static const QRegularExpression part(QStringLiteral("\\G\\s*([0-9]+(?:\\.[0-9]+)?)\\s*([A-Za-z]+)"));
  double total = 0;
  qsizetype at = 0;
  while (at < trimmed.size()) {
    const QRegularExpressionMatch match = part.match(trimmed, at);
    if (!match.hasMatch()) {
      return trimmed;
    }
    const QByteArray unit = match.captured(2).toLower().toLatin1();
    double factor = 0;
    if (rule->unit == Unit::duration) {
      for (const UnitWord& word : kDurations) {
        factor = unit == word.word ? word.factor : factor;
      }
    } else {
      for (const UnitWord& word : kSizes) {
        factor = unit == word.word ? word.factor : factor;
      }
    }
    if (factor == 0) {
      return trimmed;
    }
    total += match.captured(1).toDouble() * factor;
    at = match.capturedEnd();
  }
  return at == 0 || total >= 9.2e18 ? trimmed : QString::number(static_cast<qint64>(std::llround(total)));
}

QString config_bounds(const std::string& name, ConfigType type) {
  const ConfigRule* rule = config_rule(name);
  if (rule == nullptr) {
    return type == ConfigType::boolean ? QStringLiteral("true, false") : QString();
  }
  QStringList parts;
  if (rule->values != nullptr) {
    const QString values = QString::fromLatin1(rule->values).split(QLatin1Char(',')).join(QStringLiteral(", "));
    parts << (type == ConfigType::list ? tr(QT_TRANSLATE_NOOP("ConfigRules", "one or more of %1")).arg(values)
                                       : tr(QT_TRANSLATE_NOOP("ConfigRules", "one of %1")).arg(values));
  } else if (rule->low && rule->high) {
    parts << tr(QT_TRANSLATE_NOOP("ConfigRules", "%1 to %2")).arg(QLocale::c().toString(*rule->low, 'g', 15), QLocale::c().toString(*rule->high, 'g', 15));
  } else if (rule->low && *rule->low >= 0) {
    parts << tr(QT_TRANSLATE_NOOP("ConfigRules", "at least %1")).arg(QLocale::c().toString(*rule->low, 'g', 15));
  }
  if (const auto special = special_of(*rule)) {
    parts << QStringLiteral("%1 = %2").arg(special->first, special->second);
  }
  if (rule->unit == Unit::duration) {
    parts << tr(QT_TRANSLATE_NOOP("ConfigRules", "milliseconds, or 90 s, 12 h, 7 d"));
  } else if (rule->unit == Unit::size) {
    parts << tr(QT_TRANSLATE_NOOP("ConfigRules", "bytes, or 64 KiB, 10 MiB"));
  }
  return parts.join(QStringLiteral(" · "));
}

RuleAnswer check_config(const std::string& name, ConfigType type, const QString& text) {
  using Level = RuleAnswer::Level;
  const ConfigRule* rule = config_rule(name);
  const QString plain = config_plain(name, text);
  if (plain.isEmpty()) {
    return type == ConfigType::list || type == ConfigType::text ? RuleAnswer{Level::ok, {}} : RuleAnswer{Level::error, {}};
  }
  if (rule != nullptr && rule->values != nullptr) {
    const QStringList known = QString::fromLatin1(rule->values).split(QLatin1Char(','));
    const QStringList given = type == ConfigType::list ? plain.split(QLatin1Char(',')) : QStringList{plain};
    for (const QString& each : given) {
      if (!known.contains(each.trimmed(), type == ConfigType::boolean ? Qt::CaseInsensitive : Qt::CaseSensitive)) {
        return {Level::error, tr(QT_TRANSLATE_NOOP("ConfigRules", "“%1” is none of %2")).arg(each.trimmed(), known.join(QStringLiteral(", ")))};
      }
    }
    return {};
  }
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  switch (type) {
    case ConfigType::boolean:
      if (plain.compare(QLatin1String("true"), Qt::CaseInsensitive) != 0 && plain.compare(QLatin1String("false"), Qt::CaseInsensitive) != 0) {
        return {Level::error, tr(QT_TRANSLATE_NOOP("ConfigRules", "true or false"))};
      }
      return {};
    case ConfigType::int16:
      low = -32768;
      high = 32767;
      break;
    case ConfigType::int32:
      low = std::numeric_limits<std::int32_t>::min();
      high = std::numeric_limits<std::int32_t>::max();
      break;
    case ConfigType::int64:
    case ConfigType::decimal:
      break;
    case ConfigType::unknown:
    case ConfigType::text:
    case ConfigType::list:
    case ConfigType::class_name:
    case ConfigType::password:
      return {};
  }
  bool number = false;
  const double value = type == ConfigType::decimal ? plain.toDouble(&number) : static_cast<double>(plain.toLongLong(&number));
  if (!number) {
    return {Level::error, type == ConfigType::decimal ? tr(QT_TRANSLATE_NOOP("ConfigRules", "A number such as 0.5"))
                                                      : tr(QT_TRANSLATE_NOOP("ConfigRules", "A whole number is needed here"))};
  }
  if (value < low || value > high) {
    return {Level::error, tr(QT_TRANSLATE_NOOP("ConfigRules", "Out of range: %1 to %2"))
                              .arg(QLocale::c().toString(low, 'g', 15), QLocale::c().toString(high, 'g', 15))};
  }
  if (rule != nullptr) {
    if (const auto special = special_of(*rule); special && special->first == plain) {
      return {};
    }
    if (rule->low && value < *rule->low) {
      return {Level::error, tr(QT_TRANSLATE_NOOP("ConfigRules", "At least %1")).arg(QLocale::c().toString(*rule->low, 'g', 15))};
    }
    if (rule->high && value > *rule->high) {
      return {Level::error, tr(QT_TRANSLATE_NOOP("ConfigRules", "At most %1")).arg(QLocale::c().toString(*rule->high, 'g', 15))};
    }
  }
  return {};
}

QString source_words(ConfigSource source) {
  switch (source) {
    case ConfigSource::topic:
      return tr(QT_TRANSLATE_NOOP("ConfigRules", "this topic"));
    case ConfigSource::broker:
      return tr(QT_TRANSLATE_NOOP("ConfigRules", "this broker"));
    case ConfigSource::all_brokers:
      return tr(QT_TRANSLATE_NOOP("ConfigRules", "all brokers"));
    case ConfigSource::start_file:
      return tr(QT_TRANSLATE_NOOP("ConfigRules", "at its start"));
    case ConfigSource::defaults:
      return tr(QT_TRANSLATE_NOOP("ConfigRules", "Kafka's default"));
    case ConfigSource::group:
      return tr(QT_TRANSLATE_NOOP("ConfigRules", "this group"));
    case ConfigSource::unknown:
    case ConfigSource::logger:
    case ConfigSource::client_metrics:
      return tr(QT_TRANSLATE_NOOP("ConfigRules", "elsewhere"));
  }
  return {};
}

QString source_sentence(ConfigSource source) {
  switch (source) {
    case ConfigSource::topic:
      return tr(QT_TRANSLATE_NOOP("ConfigRules", "This topic has a value of its own."));
    case ConfigSource::broker:
      return tr(QT_TRANSLATE_NOOP("ConfigRules", "Set for this one broker while it runs."));
    case ConfigSource::all_brokers:
      return tr(QT_TRANSLATE_NOOP("ConfigRules", "Set for all brokers while they run, as their common default."));
    case ConfigSource::start_file:
      return tr(QT_TRANSLATE_NOOP("ConfigRules", "The broker was started with it: its properties file or its options."));
    case ConfigSource::defaults:
      return tr(QT_TRANSLATE_NOOP("ConfigRules", "Nobody has set it; this is Kafka's default."));
    case ConfigSource::group:
      return tr(QT_TRANSLATE_NOOP("ConfigRules", "This group has a value of its own."));
    case ConfigSource::unknown:
    case ConfigSource::logger:
    case ConfigSource::client_metrics:
      return tr(QT_TRANSLATE_NOOP("ConfigRules", "It comes from elsewhere."));
  }
  return {};
}

}  // namespace hw::ui
