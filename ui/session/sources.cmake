# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/session/selection.cpp ui/session/selection.h)
if(TARGET hw_node AND EXISTS ${CMAKE_CURRENT_LIST_DIR}/../../engine/node/client_runner.cpp)
  list(APPEND HW_UI_SOURCES
    ui/session/demo_traffic.cpp ui/session/demo_traffic.h
    ui/session/live_session.cpp ui/session/live_session.h
    ui/session/record_rows.cpp ui/session/record_rows.h)
endif()
