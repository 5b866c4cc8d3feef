# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/models/client_facts.cpp ui/models/client_facts.h
  ui/models/connect_snippets.cpp ui/models/connect_snippets.h
  ui/models/broker_config_rules.cpp ui/models/broker_config_rules.h
  ui/models/config_effects.cpp ui/models/config_effects.h
  ui/models/config_model.cpp ui/models/config_model.h
  ui/models/config_rules.cpp ui/models/config_rules.h
  ui/models/event_alike.cpp ui/models/event_alike.h
  ui/models/event_filter.cpp ui/models/event_filter.h
  ui/models/event_journal.cpp ui/models/event_journal.h
  ui/models/event_model.cpp ui/models/event_model.h
  ui/models/event_text.cpp ui/models/event_text.h
  ui/models/fault_facts.cpp ui/models/fault_facts.h
  ui/models/group_lag.cpp ui/models/group_lag.h
  ui/models/group_model.cpp ui/models/group_model.h
  ui/models/group_why.cpp ui/models/group_why.h
  ui/models/inspector_facts.cpp ui/models/inspector_facts.h
  ui/models/inspector_replication.cpp ui/models/inspector_replication.h
  ui/models/leader_story.cpp ui/models/leader_story.h
  ui/models/listener_doctor.cpp ui/models/listener_doctor.h
  ui/models/nodes_out.cpp ui/models/nodes_out.h
  ui/models/object_export.cpp ui/models/object_export.h
  ui/models/key_moves.cpp ui/models/key_moves.h
  ui/models/offset_reset.cpp ui/models/offset_reset.h
  ui/models/election_history.cpp ui/models/election_history.h
  ui/models/quorum_facts.cpp ui/models/quorum_facts.h
  ui/models/rate_meter.h
  ui/models/record_history.cpp ui/models/record_history.h
  ui/models/replica_facts.cpp ui/models/replica_facts.h
  ui/models/retention_preview.cpp ui/models/retention_preview.h
  ui/models/row_diff.h
  ui/models/topic_model.cpp ui/models/topic_model.h
  ui/models/topic_rules.cpp ui/models/topic_rules.h)
