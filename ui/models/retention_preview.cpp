// SPDX-License-Identifier: Apache-2.0
#include "ui/models/retention_preview.h"

#include <QCoreApplication>
#include <algorithm>
#include <cstdlib>

#include "ui/models/config_rules.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {

// Texts with a count call translate() themselves: lupdate neither looks into the argument of a tr() nor past a cast.
QString tr(const char* text) { return QCoreApplication::translate("RetentionPreview", text); }

template <typename Count>
int plain(Count count) {
  return static_cast<int>(count);
}

std::int64_t number(const std::string& text, std::int64_t otherwise) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  return text.empty() || *end != '\0' ? otherwise : value;
}

std::string value_of(const std::map<std::string, std::string>& values, const char* key) {
  const auto at = values.find(key);
  return at == values.end() ? std::string() : at->second;
}

RetentionSettings settings_of(const std::map<std::string, std::string>& values) {
  return retention_settings(value_of(values, "cleanup.policy"), value_of(values, "retention.ms"), value_of(values, "retention.bytes"));
}

}  // namespace

RetentionSettings retention_settings(const std::string& policy, const std::string& retention_ms, const std::string& retention_bytes) {
  RetentionSettings settings;
  settings.deletes = policy.empty() || policy.find("delete") != std::string::npos;
  settings.retention_ms = number(retention_ms, 604'800'000);
  settings.retention_bytes = number(retention_bytes, -1);
  return settings;
}

Deletable deletable(const std::vector<PartitionSegments>& partitions, const RetentionSettings& settings, std::int64_t now_ms) {
  Deletable all;
  if (!settings.deletes) {
    return all;
  }
  for (const PartitionSegments& p : partitions) {
    std::int64_t size = 0;
    for (const SegmentRow& segment : p.segments) {
      size += segment.size_bytes;
    }
    const Deletable before = all;
    for (std::size_t i = 0; i < p.segments.size(); ++i) {
      const SegmentRow& segment = p.segments[i];
      const bool active = i + 1 == p.segments.size();
      const std::int64_t next = active ? p.log_end_offset : p.segments[i + 1].base_offset;
      if (next > p.high_watermark || segment.size_bytes == 0) {
        break;
      }
      const bool by_time = settings.retention_ms >= 0 && segment.largest_timestamp_ms >= 0 &&
                           now_ms - segment.largest_timestamp_ms > settings.retention_ms;
      const bool by_size = settings.retention_bytes >= 0 && size - segment.size_bytes >= settings.retention_bytes;
      if (!by_time && !by_size) {
        break;
      }
      size -= segment.size_bytes;
      ++all.segments;
      all.bytes += segment.size_bytes;
      all.offsets += next - std::max(segment.base_offset, p.log_start_offset);
    }
    all.partitions += all == before ? 0 : 1;
  }
  return all;
}

std::vector<ChangeEffect> change_effects(const std::map<std::string, std::string>& before,
                                         const std::map<std::string, std::string>& after, const std::vector<ConfigChange>& changes,
                                         const std::vector<PartitionSegments>& partitions, std::size_t replicas,
                                         std::int64_t now_ms) {
  std::vector<ChangeEffect> out;
  const Deletable due = deletable(partitions, settings_of(before), now_ms);
  for (const ConfigChange& change : changes) {
    ChangeEffect effect;
    effect.key = QString::fromStdString(change.name);
    const std::string from = value_of(before, change.name.c_str());
    const std::string to = value_of(after, change.name.c_str());
    effect.from = QString::fromStdString(from);
    effect.to = QString::fromStdString(to);
    if (change.name == "retention.ms" || change.name == "retention.bytes" || change.name == "cleanup.policy") {
      // This change alone, so that each line says what is its own.
      std::map<std::string, std::string> alone = before;
      alone[change.name] = to;
      const Deletable then = deletable(partitions, settings_of(alone), now_ms);
      const std::int64_t segments = then.segments - due.segments;
      if (segments > 0) {
        effect.harmful = true;
        effect.effect = QCoreApplication::translate("RetentionPreview", "%Ln segment(s), %1, become deletable: %2 records", nullptr, plain(segments))
                            .arg(format_bytes(then.bytes - due.bytes), format_count(then.offsets - due.offsets));
      } else if (segments < 0) {
        effect.effect = QCoreApplication::translate("RetentionPreview", "%Ln segment(s), %1, that would go soon, stay", nullptr, plain(-segments))
                            .arg(format_bytes(due.bytes - then.bytes));
      } else {
        effect.effect = tr(QT_TRANSLATE_NOOP("RetentionPreview", "no segment becomes deletable"));
      }
      if (change.name == "cleanup.policy" && to.find("compact") != std::string::npos && from.find("compact") == std::string::npos) {
        effect.harmful = true;
        effect.effect += tr(QT_TRANSLATE_NOOP("RetentionPreview", "; records without a key are refused from now on"));
      }
    } else if (change.name == "segment.bytes" || change.name == "segment.ms") {
      const bool bytes = change.name == "segment.bytes";
      const std::int64_t limit = number(to, -1);
      std::int64_t rolls = 0;
      for (const PartitionSegments& p : partitions) {
        rolls += bytes && limit >= 0 && !p.segments.empty() && p.segments.back().size_bytes > limit ? 1 : 0;
      }
      effect.effect = rolls > 0 ? QCoreApplication::translate("RetentionPreview", "%Ln active segment(s) are larger already: a new one begins with the next write", nullptr, plain(rolls))
                                : tr(QT_TRANSLATE_NOOP("RetentionPreview", "counts from the next segment on"));
    } else if (change.name == "min.insync.replicas") {
      const std::int64_t least = number(to, 1);
      effect.harmful = least > static_cast<std::int64_t>(replicas);
      effect.effect = effect.harmful
                          ? QCoreApplication::translate("RetentionPreview", "each partition has %Ln replica(s): every write with acks=all will be refused", nullptr, plain(replicas))
                          : QCoreApplication::translate("RetentionPreview", "enough replicas exist (%Ln)", nullptr, plain(replicas));
    } else if (change.name == "max.message.bytes") {
      effect.effect = number(to, 0) < number(from, 0)
                          ? tr(QT_TRANSLATE_NOOP("RetentionPreview", "larger batches are refused from now on; what is stored stays"))
                          : tr(QT_TRANSLATE_NOOP("RetentionPreview", "larger batches are accepted from now on"));
    } else if (change.name == "compression.type" || change.name == "message.timestamp.type") {
      effect.effect = tr(QT_TRANSLATE_NOOP("RetentionPreview", "counts for new batches; what is stored stays as it is"));
    } else if (change.name == "unclean.leader.election.enable" && to == "true") {
      effect.harmful = true;
      effect.effect = tr(QT_TRANSLATE_NOOP("RetentionPreview", "nothing now; at the next failure acknowledged records may be lost"));
    } else {
      effect.effect = tr(QT_TRANSLATE_NOOP("RetentionPreview", "counts from now on; nothing stored changes"));
    }
    out.push_back(std::move(effect));
  }
  return out;
}

}  // namespace hw::ui
