# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/window/command_registry.cpp ui/window/command_registry.h
  ui/window/controls.cpp ui/window/controls.h
  ui/window/page.cpp ui/window/page.h)
