// SPDX-License-Identifier: Apache-2.0
// The one file that compiles Asio itself (ASIO_SEPARATE_COMPILATION).
#include <asio/impl/src.hpp>
