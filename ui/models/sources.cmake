# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/models/client_facts.cpp ui/models/client_facts.h
  ui/models/connect_snippets.cpp ui/models/connect_snippets.h
  ui/models/event_model.cpp ui/models/event_model.h
  ui/models/event_text.cpp ui/models/event_text.h
  ui/models/inspector_facts.cpp ui/models/inspector_facts.h
  ui/models/listener_doctor.cpp ui/models/listener_doctor.h
  ui/models/object_export.cpp ui/models/object_export.h
  ui/models/topic_model.cpp ui/models/topic_model.h
  ui/models/topic_rules.cpp ui/models/topic_rules.h)
