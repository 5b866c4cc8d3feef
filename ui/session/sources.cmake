# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/session/selection.cpp ui/session/selection.h)
