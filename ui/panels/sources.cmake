# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES ui/panels/pages.cpp ui/panels/pages.h)
