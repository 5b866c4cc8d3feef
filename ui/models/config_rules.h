// SPDX-License-Identifier: Apache-2.0
// What the configurations of a topic, a broker or a group mean, in our own words: what they do, what may go wrong, which values are possible, and
// how a value reads to a person ("604800000" is "7 d"). Bounds are those of a Kafka 4.4 broker; the broker has the last word.
// Pure, no widgets.
#pragma once

#include <QString>
#include <QStringList>
#include <optional>

#include "ui/models/topic_rules.h"
#include "ui/session/admin.h"

namespace hw::ui {

struct ConfigRule {
  enum class Unit : std::uint8_t { none, duration, size, count, ratio };
  const char* name;
  Unit unit;
  std::optional<double> low;
  std::optional<double> high;
  const char* special;      // "-1=without end": a value outside of the unit with a meaning; null: none
  const char* values;       // "a,b,c": the only ones; null: open
  const char* doc;          // QT_TRANSLATE_NOOP in "ConfigRules"
  const char* danger;       // why a change may hurt; null: harmless
};

// Null where the key is not known here.
[[nodiscard]] const ConfigRule* config_rule(const std::string& name);
[[nodiscard]] QString config_doc(const std::string& name);     // empty: unknown
[[nodiscard]] QString config_danger(const std::string& name);  // empty: harmless or unknown
// "7 d", "1 GiB", "without end"; empty where the value says it all.
[[nodiscard]] QString config_reading(const std::string& name, const std::string& value);
// While typing. An empty text is an error without words, except for lists.
[[nodiscard]] RuleAnswer check_config(const std::string& name, ConfigType type, const QString& text);
// "7 d", "64 MiB", "1h30m" as plain numbers, where the key has such a unit; otherwise the text itself.
[[nodiscard]] QString config_plain(const std::string& name, const QString& text);
// "1 to 9", "at least 0", "compact, delete": for the hint below the editor.
[[nodiscard]] QString config_bounds(const std::string& name, ConfigType type);
// Where a value comes from: "this topic", for a cell, and the same as a sentence.
[[nodiscard]] QString source_words(ConfigSource source);
[[nodiscard]] QString source_sentence(ConfigSource source);

}  // namespace hw::ui
