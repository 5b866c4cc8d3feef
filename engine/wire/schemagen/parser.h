// SPDX-License-Identifier: Apache-2.0
// The schema language, one line per thing, two spaces per level:
//
//   // Comments before a line belong to it; the first line of a file is the licence.
//   api Heartbeat key 12 valid 0-4 flexible 4+ listeners broker
//   request
//     group_id GroupId 0+
//     group_instance_id string? = null 3+
//   response
//     …
//
//   first line   api NAME key N valid RANGE [advertised RANGE] [flexible N+] listeners broker|controller…
//                [latest_unstable]
//                header|data|metadata|coordinator_key|coordinator_value NAME [key N] valid RANGE [flexible N+]
//   field        NAME TYPE [= DEFAULT] RANGE [ignorable] [mapkey] [zerocopy] [sensitive] [never_compact] [tag N]
//   type         [] before an array; ? after what may be null, ?RANGE where it may only in some versions
//   struct       a field of an unknown type defines it when deeper lines follow, or  struct NAME RANGE  does
//   range        3 | 3+ | 0-12
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/wire/schemagen/model.h"

namespace hw::schemagen {

// Adds the messages of one file to `schema`. `file` is the name for errors.
void parse_text(std::string_view content, const std::string& file, Schema& schema, Errors& errors);
void parse_file(const std::filesystem::path& path, Schema& schema, Errors& errors);
// All *.schema below `folder`, in the order of their names.
[[nodiscard]] Schema parse_folder(const std::filesystem::path& folder, Errors& errors);

}  // namespace hw::schemagen
