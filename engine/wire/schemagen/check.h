// SPDX-License-Identifier: Apache-2.0
// Resolves and validates what the parser has read, and compares two generations of schemas.
#pragma once

#include "engine/wire/schemagen/model.h"

namespace hw::schemagen {

// Every type is defined, tags are contiguous from 0, defaults fit their types, versions lie inside the message's,
// keys and names are unique. Sorts the structs of each message so that each comes after those that it uses.
void check(Schema& schema, Errors& errors);

// What a later generation may not do: give up a version, end or delay flexible versions, drop or re-use a tag,
// change the type, the nullability or the presence of a field in a version that both know.
void check_evolution(const Schema& before, const Schema& after, Errors& errors);

}  // namespace hw::schemagen
