// SPDX-License-Identifier: Apache-2.0
#include "ui/panels/pages.h"

#include "ui/panels/record_panel.h"
#include "ui/views/clients_page.h"
#include "ui/views/cluster_page.h"
#include "ui/views/groups_page.h"
#include "ui/views/messages_page.h"
#include "ui/views/partitions_page.h"
#include "ui/views/quorum_page.h"
#include "ui/views/topics_page.h"

namespace hw::ui {

QList<Page*> create_pages(QWidget* parent) {
  auto* cluster = new ClusterPage(parent);
  auto* groups = new GroupsPage(parent);
  cluster->setGroups(groups->model());
  return {cluster, new PartitionsPage(parent), new MessagesPage(parent), groups, new QuorumPage(parent), new TopicsPage(parent)};
}

Page* create_clients_page(QWidget* parent) { return new ClientsPage(parent); }

ProducePanel* create_produce_panel(QWidget* parent) { return new RecordPanel(parent); }

}  // namespace hw::ui
