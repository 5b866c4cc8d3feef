# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/window/bottom_dock.cpp ui/window/bottom_dock.h
  ui/window/coach_mark.cpp ui/window/coach_mark.h
  ui/window/command_box.cpp ui/window/command_box.h
  ui/window/command_registry.cpp ui/window/command_registry.h ui/window/command_source.h
  ui/window/controls.cpp ui/window/controls.h
  ui/window/fault_bar.cpp ui/window/fault_bar.h
  ui/window/frame_meter.cpp ui/window/frame_meter.h
  ui/window/inspector.cpp ui/window/inspector.h
  ui/window/hover_row.h
  ui/window/language.cpp ui/window/language.h
  ui/window/main_window.cpp ui/window/main_window.h ui/window/main_window_commands.cpp
  ui/window/main_window_hints.cpp ui/window/main_window_look.cpp
  ui/window/event_caption.cpp ui/window/event_caption.h
  ui/window/object_menu.cpp ui/window/object_menu.h
  ui/window/omnibox.cpp ui/window/omnibox.h
  ui/window/page.cpp ui/window/page.h
  ui/window/rail.cpp ui/window/rail.h
  ui/window/seen_width.h
  ui/window/severity_bar.cpp ui/window/severity_bar.h
  ui/window/row_delegate.cpp ui/window/row_delegate.h
  ui/window/shot.cpp ui/window/shot.h ui/window/shot_matrix.cpp ui/window/shot_matrix.h
  ui/window/status_bar.cpp ui/window/status_bar.h
  ui/window/top_bar.cpp ui/window/top_bar.h)
