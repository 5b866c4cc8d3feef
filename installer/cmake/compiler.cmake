# SPDX-License-Identifier: Apache-2.0
# Warnings, hardening and sanitizers, shared by every target through `highwater_flags`.
add_library(highwater_flags INTERFACE)
target_compile_options(highwater_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual -Wformat=2 -Wimplicit-fallthrough -Wextra-semi -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # -fpch-preprocess lets ccache reuse objects built with a precompiled header.
  target_compile_options(highwater_flags INTERFACE -Wduplicated-cond -Wlogical-op -fpch-preprocess)
endif()
if(HIGHWATER_WERROR)
  target_compile_options(highwater_flags INTERFACE -Werror)
endif()
target_compile_options(highwater_flags INTERFACE -fno-omit-frame-pointer -fstack-protector-strong)
target_include_directories(highwater_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(HIGHWATER_X86 ON)
endif()
if(HIGHWATER_SANITIZE)
  add_compile_options(-fsanitize=${HIGHWATER_SANITIZE} -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${HIGHWATER_SANITIZE})
  if(HIGHWATER_SANITIZE MATCHES "thread")
    add_compile_options(-Wno-tsan)
  endif()
endif()
if(HIGHWATER_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
