// SPDX-License-Identifier: Apache-2.0
// The pages of the rail and the produce panel, made here and nowhere else.
// Ownership: each is a child of `parent`. Thread rule: UI thread only.
#pragma once

#include <QList>

class QWidget;

namespace hw::ui {

class Page;
class ProducePanel;

// In the order of the rail: Cluster, Partitions, Messages.
[[nodiscard]] QList<Page*> create_pages(QWidget* parent);
// Clients: below the topics in the rail.
[[nodiscard]] Page* create_clients_page(QWidget* parent);
[[nodiscard]] ProducePanel* create_produce_panel(QWidget* parent);

}  // namespace hw::ui
