// SPDX-License-Identifier: Apache-2.0
#include "ui/models/config_effects.h"

#include <QCoreApplication>
#include <algorithm>
#include <cstdlib>

#include "ui/models/broker_config_rules.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("ConfigEffects", text); }

// A key as a number, where lupdate must not see a cast (see retention_preview.cpp).
template <typename Count>
int plain(Count count) {
  return static_cast<int>(count);
}

std::string value_of(const std::map<std::string, std::string>& values, std::string_view key) {
  const auto at = values.find(std::string(key));
  return at == values.end() ? std::string() : at->second;
}

std::int64_t number(const std::string& text, std::int64_t otherwise) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  return text.empty() || *end != '\0' ? otherwise : value;
}

bool is_pool(std::string_view key) {
  constexpr std::string_view kPools[] = {"background.threads",  "log.cleaner.threads", "num.io.threads",
                                         "num.network.threads", "num.recovery.threads.per.data.dir", "num.replica.fetchers"};
  return std::find(std::begin(kPools), std::end(kPools), key) != std::end(kPools);
}

bool in_segments(std::string_view topic_key) {
  return topic_key == "retention.ms" || topic_key == "retention.bytes" || topic_key == "cleanup.policy";
}

// What counts for a topic: its own values over the broker's.
RetentionSettings settings_of(const InheritingTopic& topic, const std::map<std::string, std::string>& broker) {
  const auto effective = [&](const char* key, std::string_view broker_key) {
    const auto own = topic.own.find(key);
    return own != topic.own.end() ? own->second : value_of(broker, broker_key);
  };
  return retention_settings(effective("cleanup.policy", "log.cleanup.policy"), effective("retention.ms", "log.retention.ms"),
                            effective("retention.bytes", "log.retention.bytes"));
}

}  // namespace

bool needs_segments(const std::vector<ConfigChange>& changes) {
  return std::any_of(changes.begin(), changes.end(), [](const ConfigChange& change) { return in_segments(topic_key_of(change.name)); });
}

std::vector<ChangeEffect> broker_change_effects(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& after,
                                                const std::vector<ConfigChange>& changes, const std::vector<InheritingTopic>& topics,
                                                std::size_t looked, std::int64_t now_ms) {
  std::vector<ChangeEffect> out;
  for (const ConfigChange& change : changes) {
    ChangeEffect effect;
    effect.key = QString::fromStdString(change.name);
    const std::string to = value_of(after, change.name);
    effect.from = QString::fromStdString(value_of(before, change.name));
    effect.to = QString::fromStdString(to);
    const std::string topic_key(topic_key_of(change.name));
    if (topic_key.empty()) {
      effect.effect = is_pool(change.name)
                          ? tr(QT_TRANSLATE_NOOP("ConfigEffects", "kept and told to whoever asks; a node of this program works with one thread and does not change"))
                      : change.name.rfind("max.connection", 0) == 0
                          ? tr(QT_TRANSLATE_NOOP("ConfigEffects", "counts for new connections; those that are open stay"))
                          : tr(QT_TRANSLATE_NOOP("ConfigEffects", "counts from now on; nothing stored changes"));
      out.push_back(std::move(effect));
      continue;
    }
    std::int64_t inheriting = 0;
    std::int64_t refused = 0;
    Deletable due;
    Deletable then;
    std::map<std::string, std::string> alone = before;  // this change alone, so that each line says what is its own
    alone[change.name] = to;
    const std::int64_t least = number(to, 1);
    for (const InheritingTopic& topic : topics) {
      if (topic.own.count(topic_key) != 0) {
        continue;
      }
      ++inheriting;
      if (topic_key == "min.insync.replicas" && static_cast<std::int64_t>(topic.replicas) < least) {
        ++refused;
      }
      if (in_segments(topic_key) && !topic.partitions.empty()) {
        const auto add = [](Deletable& sum, const Deletable& one) {
          sum.segments += one.segments;
          sum.bytes += one.bytes;
          sum.offsets += one.offsets;
        };
        add(due, deletable(topic.partitions, settings_of(topic, before), now_ms));
        add(then, deletable(topic.partitions, settings_of(topic, alone), now_ms));
      }
    }
    QStringList words;
    words << (inheriting == 0 ? tr(QT_TRANSLATE_NOOP("ConfigEffects", "every topic has a value of its own, so no topic changes"))
              : inheriting == 1 ? tr(QT_TRANSLATE_NOOP("ConfigEffects", "1 topic without a value of its own follows"))
                                : tr(QT_TRANSLATE_NOOP("ConfigEffects", "%1 topics without a value of their own follow")).arg(format_count(inheriting)));
    if (in_segments(topic_key) && inheriting > 0) {
      if (const std::int64_t more = then.segments - due.segments; more > 0) {
        effect.harmful = true;
        words << QCoreApplication::translate("ConfigEffects", "%Ln segment(s), %1, become deletable: %2 records", nullptr, plain(more))
                     .arg(format_bytes(then.bytes - due.bytes), format_count(then.offsets - due.offsets));
      } else if (more < 0) {
        words << QCoreApplication::translate("ConfigEffects", "%Ln segment(s), %1, that would go soon, stay", nullptr, plain(-more))
                     .arg(format_bytes(due.bytes - then.bytes));
      } else {
        words << tr(QT_TRANSLATE_NOOP("ConfigEffects", "no segment becomes deletable"));
      }
      if (looked < topics.size()) {
        words << tr(QT_TRANSLATE_NOOP("ConfigEffects", "looked at the first %1 only")).arg(looked);
      }
    } else if (topic_key == "min.insync.replicas" && refused > 0) {
      effect.harmful = true;
      words << tr(QT_TRANSLATE_NOOP("ConfigEffects", "too few replicas in %1 of them: every write with acks=all is refused there")).arg(refused);
    } else if (topic_key == "unclean.leader.election.enable" && to == "true" && inheriting > 0) {
      effect.harmful = true;
      words << tr(QT_TRANSLATE_NOOP("ConfigEffects", "at the next failure acknowledged records may be lost"));
    } else if (topic_key == "max.message.bytes" && inheriting > 0) {
      words << (number(to, 0) < number(value_of(before, change.name), 0)
                    ? tr(QT_TRANSLATE_NOOP("ConfigEffects", "larger batches are refused from now on; what is stored stays"))
                    : tr(QT_TRANSLATE_NOOP("ConfigEffects", "larger batches are accepted from now on")));
    } else if (topic_key.rfind("segment.", 0) == 0 && inheriting > 0) {
      words << tr(QT_TRANSLATE_NOOP("ConfigEffects", "it counts from their next segment on"));
    } else if (inheriting > 0) {
      words << tr(QT_TRANSLATE_NOOP("ConfigEffects", "nothing stored changes"));
    }
    effect.effect = words.join(QStringLiteral("; "));
    out.push_back(std::move(effect));
  }
  return out;
}

std::vector<ChangeEffect> group_change_effects(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& after,
                                               const std::vector<ConfigChange>& changes, bool classic) {
  std::vector<ChangeEffect> out;
  for (const ConfigChange& change : changes) {
    ChangeEffect effect;
    effect.key = QString::fromStdString(change.name);
    effect.from = QString::fromStdString(value_of(before, change.name));
    effect.to = QString::fromStdString(value_of(after, change.name));
    QString kind = effect.key.section(QLatin1Char('.'), 0, 0);
    if (kind == QLatin1String("errors")) {
      kind = QStringLiteral("share");  // dead letter queues are theirs
    }
    effect.effect = kind != QLatin1String("consumer")
                        ? tr(QT_TRANSLATE_NOOP("ConfigEffects", "nothing now: it counts once this is a %1 group")).arg(kind)
                    : classic ? tr(QT_TRANSLATE_NOOP("ConfigEffects", "nothing now: members of the classic protocol bring their own value; it counts once the group uses the consumer protocol"))
                              : tr(QT_TRANSLATE_NOOP("ConfigEffects", "the members are told with their next heartbeat"));
    out.push_back(std::move(effect));
  }
  return out;
}

}  // namespace hw::ui
