# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/session/selection.cpp ui/session/selection.h
  ui/session/demo_traffic.cpp
  ui/session/demo_traffic.h
  ui/session/live_session.cpp
  ui/session/live_session.h
  ui/session/record_rows.cpp
  ui/session/record_rows.h)
