// SPDX-License-Identifier: Apache-2.0
// An object in the words of other tools: JSON, a command of Kafka's own tools, of kcat, of hw, a piece of Python.
// Empty where a tool has nothing to say of such an object.
// Thread rule: any that may read a view.
#pragma once

#include <QString>

#include "engine/observe/cluster_view.h"
#include "ui/session/selection.h"

namespace hw::ui {

[[nodiscard]] QString object_json(const observe::ClusterView& view, const Selection& selection);
[[nodiscard]] QString object_kafka_cli(const Selection& selection, const QString& bootstrap);
[[nodiscard]] QString object_kcat(const Selection& selection, const QString& bootstrap);
[[nodiscard]] QString object_hw(const Selection& selection, const QString& bootstrap);
[[nodiscard]] QString object_python(const Selection& selection, const QString& bootstrap);

}  // namespace hw::ui
