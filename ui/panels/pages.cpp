// SPDX-License-Identifier: Apache-2.0
#include "ui/panels/pages.h"

#include "ui/views/cluster_page.h"

namespace hw::ui {

QList<Page*> create_pages(QWidget* parent) { return {new ClusterPage(parent)}; }

ProducePanel* create_produce_panel(QWidget*) { return nullptr; }

}  // namespace hw::ui
