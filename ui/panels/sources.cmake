# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/panels/pages.cpp ui/panels/pages.h
  ui/panels/record_panel.cpp ui/panels/record_panel.h)
