# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/theme/glyphs.cpp ui/theme/glyphs.h
  ui/theme/rescale.cpp ui/theme/rescale.h
  ui/theme/style.cpp ui/theme/style.h
  ui/theme/theme.cpp ui/theme/theme.h)
