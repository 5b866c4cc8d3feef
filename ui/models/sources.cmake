# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/models/event_model.cpp ui/models/event_model.h
  ui/models/event_text.cpp ui/models/event_text.h
  ui/models/inspector_facts.cpp ui/models/inspector_facts.h
  ui/models/topic_model.cpp ui/models/topic_model.h
  ui/models/topic_rules.cpp ui/models/topic_rules.h)
