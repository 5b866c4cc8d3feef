# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/painting/shapes.cpp ui/painting/shapes.h
  ui/painting/static_layer.h
  ui/painting/text.cpp ui/painting/text.h)
