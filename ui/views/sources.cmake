# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/views/assignment_matrix.cpp ui/views/assignment_matrix.h
  ui/views/canvas_accessible.cpp
  ui/views/clients_connect.cpp ui/views/clients_connect.h
  ui/views/clients_filter.cpp ui/views/clients_filter.h
  ui/views/clients_model.cpp ui/views/clients_model.h
  ui/views/clients_page.cpp ui/views/clients_page.h
  ui/views/cluster_canvas.cpp ui/views/cluster_canvas.h
  ui/views/cluster_model.cpp ui/views/cluster_model.h
  ui/views/cluster_page.cpp ui/views/cluster_page.h
  ui/views/cluster_links.cpp
  ui/views/cluster_nodes.cpp
  ui/views/cluster_table.cpp ui/views/cluster_table.h
  ui/views/config_dialog.cpp ui/views/config_dialog.h
  ui/views/config_panel.cpp ui/views/config_panel.h
  ui/views/data_delegate.cpp ui/views/data_delegate.h
  ui/views/groups_page.cpp ui/views/groups_page.h
  ui/views/hex_view.cpp ui/views/hex_view.h
  ui/views/lane_metrics.h ui/views/lane_paint.cpp
  ui/views/lane_table.cpp ui/views/lane_table.h
  ui/views/lane_view.cpp ui/views/lane_view.h
  ui/views/legend_bar.cpp ui/views/legend_bar.h
  ui/views/messages_actions.cpp
  ui/views/messages_build.cpp
  ui/views/list_filter.cpp ui/views/list_filter.h
  ui/views/list_page.cpp ui/views/list_page.h
  ui/views/messages_page.cpp ui/views/messages_page.h
  ui/views/messages_scan.cpp
  ui/views/object_canvas.cpp ui/views/object_canvas.h
  ui/views/pane.h
  ui/views/partition_choice.cpp ui/views/partition_choice.h
  ui/views/partitions_page.cpp ui/views/partitions_page.h
  ui/views/metadata_log_model.cpp ui/views/metadata_log_model.h
  ui/views/quorum_canvas.cpp ui/views/quorum_canvas.h
  ui/views/quorum_page.cpp ui/views/quorum_page.h
  ui/views/quorum_table.cpp ui/views/quorum_table.h
  ui/views/rebalance_table.cpp ui/views/rebalance_table.h
  ui/views/record_cache.cpp ui/views/record_cache.h
  ui/views/record_detail.cpp ui/views/record_detail.h
  ui/views/record_export.cpp ui/views/record_export.h
  ui/views/record_feed.cpp ui/views/record_feed.h
  ui/views/record_model.cpp ui/views/record_model.h
  ui/views/record_text.cpp ui/views/record_text.h
  ui/views/statistics_strip.cpp ui/views/statistics_strip.h
  ui/views/table_notice.cpp ui/views/table_notice.h
  ui/views/table_setup.h
  ui/views/volume_strip.cpp ui/views/volume_strip.h
  ui/views/topic_details.cpp ui/views/topic_details.h
  ui/views/topics_page.cpp ui/views/topics_page.h
  ui/views/undo_bar.cpp ui/views/undo_bar.h
  ui/views/why_panel.cpp ui/views/why_panel.h)
