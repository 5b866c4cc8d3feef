# SPDX-License-Identifier: Apache-2.0
list(APPEND HW_UI_SOURCES
  ui/filter/filter_box.cpp ui/filter/filter_box.h
  ui/filter/filter_chips.cpp ui/filter/filter_chips.h
  ui/filter/filter_language.cpp ui/filter/filter_language.h
  ui/filter/filter_lexer.cpp ui/filter/filter_lexer.h
  ui/filter/filter_program.cpp ui/filter/filter_program.h
  ui/filter/filter_suggest.cpp
  ui/filter/filter_types.h
  ui/filter/json_path.cpp ui/filter/json_path.h
  ui/filter/record_fields.cpp ui/filter/record_fields.h)
