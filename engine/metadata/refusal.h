// SPDX-License-Identifier: Apache-2.0
// What one item of an administrative request is answered: an error of the protocol and a sentence for people.
#pragma once

#include <string>

#include "engine/wire/runtime/error_code.h"

namespace hw::metadata {

// In a list of answers an error of none means that the item was carried out.
struct Refusal {
  wire::ErrorCode error{};
  std::string message;
};

}  // namespace hw::metadata
