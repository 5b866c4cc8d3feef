// SPDX-License-Identifier: Apache-2.0
#include "engine/sim/checks/check.h"
#include "engine/sim/checks/all.h"

namespace hw::sim {

std::vector<std::unique_ptr<Check>> make_checks(const Watched& watched, const Check::Report& report) {
  std::vector<std::unique_ptr<Check>> all;
  // 03 first: it writes the one history that 01 and 10 compare with.
  all.push_back(make_logs_equal(watched, report));
  all.push_back(make_acknowledged_survive(watched, report));
  all.push_back(make_one_leader(watched, report));
  all.push_back(make_high_watermark(watched, report));
  all.push_back(make_in_sync(watched, report));
  all.push_back(make_raft(watched, report));
  all.push_back(make_images_equal(watched, report));
  all.push_back(make_group_offsets(watched, report));
  all.push_back(make_group_members(watched, report));
  all.push_back(make_one_copy(watched, report));
  all.push_back(make_deleted_records(watched, report));
  return all;
}

std::string node_text(const NodeHost& node) { return "node " + std::to_string(node.id().value()); }

bool is_workload(const std::string& topic) noexcept { return topic.starts_with("work-") || topic == "__consumer_offsets"; }

}  // namespace hw::sim
