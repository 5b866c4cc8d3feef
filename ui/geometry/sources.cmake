# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/geometry/cluster_layout.cpp ui/geometry/cluster_layout.h
  ui/geometry/edge.cpp ui/geometry/edge.h
  ui/geometry/flag_layout.cpp ui/geometry/flag_layout.h
  ui/geometry/lane_detail.cpp ui/geometry/lane_detail.h
  ui/geometry/offset_axis.cpp ui/geometry/offset_axis.h
  ui/geometry/step_scale.cpp ui/geometry/step_scale.h)
