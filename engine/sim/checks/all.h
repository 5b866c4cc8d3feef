// SPDX-License-Identifier: Apache-2.0
// The checks by name. Each is in the file of its number.
#pragma once

#include "engine/sim/checks/check.h"

namespace hw::sim {

using CheckPtr = std::unique_ptr<Check>;
[[nodiscard]] CheckPtr make_acknowledged_survive(const Watched& watched, const Check::Report& report);  // 01
[[nodiscard]] CheckPtr make_one_leader(const Watched& watched, const Check::Report& report);            // 02
[[nodiscard]] CheckPtr make_logs_equal(const Watched& watched, const Check::Report& report);            // 03
[[nodiscard]] CheckPtr make_high_watermark(const Watched& watched, const Check::Report& report);        // 04
[[nodiscard]] CheckPtr make_in_sync(const Watched& watched, const Check::Report& report);               // 05
[[nodiscard]] CheckPtr make_raft(const Watched& watched, const Check::Report& report);                  // 06
[[nodiscard]] CheckPtr make_images_equal(const Watched& watched, const Check::Report& report);          // 07
[[nodiscard]] CheckPtr make_group_offsets(const Watched& watched, const Check::Report& report);         // 08
[[nodiscard]] CheckPtr make_group_members(const Watched& watched, const Check::Report& report);         // 09
[[nodiscard]] CheckPtr make_one_copy(const Watched& watched, const Check::Report& report);              // 10
[[nodiscard]] CheckPtr make_deleted_records(const Watched& watched, const Check::Report& report);       // 13

}  // namespace hw::sim
