# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/session/listener_check.h
  ui/session/session.cpp
  ui/session/admin.h ui/session/session_admin.cpp ui/session/session_admin.h
  ui/session/live_admin.cpp ui/session/live_consumers.cpp ui/session/live_consumers.h
  ui/session/selection.cpp ui/session/selection.h
  ui/session/batch_anatomy.cpp
  ui/session/batch_anatomy.h
  ui/session/batch_reader.h
  ui/session/demo_traffic.cpp
  ui/session/demo_traffic.h
  ui/session/live_session.cpp
  ui/session/live_session.h
  ui/session/live_nodes.cpp
  ui/session/live_trials.cpp
  ui/session/session_brokers.h ui/session/session_nodes.cpp ui/session/session_nodes.h
  ui/session/metadata_record.cpp ui/session/metadata_record.h
  ui/session/newest_parts.cpp
  ui/session/newest_parts.h
  ui/session/record_rows.cpp
  ui/session/record_rows.h
  ui/session/record_scan.cpp
  ui/session/record_scan.h
  ui/session/volume.cpp
  ui/session/volume.h
  ui/session/undo_list.cpp ui/session/undo_list.h)
