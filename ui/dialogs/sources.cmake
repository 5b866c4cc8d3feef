# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/dialogs/add_consumer_dialog.cpp ui/dialogs/add_consumer_dialog.h
  ui/dialogs/add_partitions_dialog.cpp ui/dialogs/add_partitions_dialog.h
  ui/dialogs/create_topic_dialog.cpp ui/dialogs/create_topic_dialog.h
  ui/dialogs/dialog_parts.cpp ui/dialogs/dialog_parts.h
  ui/dialogs/delete_records_dialog.cpp ui/dialogs/delete_records_dialog.h
  ui/dialogs/question_dialog.cpp ui/dialogs/question_dialog.h
  ui/dialogs/reset_offsets_dialog.cpp ui/dialogs/reset_offsets_dialog.h
  ui/dialogs/review_configs_dialog.cpp ui/dialogs/review_configs_dialog.h
  ui/dialogs/settings_dialog.cpp ui/dialogs/settings_dialog.h
  ui/dialogs/shortcuts_dialog.cpp ui/dialogs/shortcuts_dialog.h)
