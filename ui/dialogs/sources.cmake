# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/dialogs/create_topic_dialog.cpp ui/dialogs/create_topic_dialog.h
  ui/dialogs/question_dialog.cpp ui/dialogs/question_dialog.h
  ui/dialogs/settings_dialog.cpp ui/dialogs/settings_dialog.h
  ui/dialogs/shortcuts_dialog.cpp ui/dialogs/shortcuts_dialog.h)
