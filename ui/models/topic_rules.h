// SPDX-License-Identifier: Apache-2.0
// What Kafka accepts as a topic's name and settings, said while a person types. No widgets.
// Source: behaviour of a 4.4 broker for CreateTopics (name rules, collision of '.' and '_').
#pragma once

#include <QString>
#include <QStringList>

#include "engine/observe/cluster_view.h"

namespace hw::ui {

struct RuleAnswer {
  enum class Level : std::uint8_t { ok, warning, error } level = Level::ok;
  QString text;  // why not, or what to know; empty: nothing to say
};

// An empty name is an error without a text: nobody has typed yet.
[[nodiscard]] RuleAnswer check_topic_name(const QString& name, const observe::ClusterView& view);
[[nodiscard]] RuleAnswer check_replication_factor(int factor, const observe::ClusterView& view);
// Names as Kafka compares them for collisions: '.' and '_' are the same.
[[nodiscard]] QString collision_form(const QString& name);

}  // namespace hw::ui
