// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/placement.h"

#include <algorithm>
#include <map>
#include <utility>

namespace hw::metadata {
namespace {

struct Rack {
  std::vector<BrokerId> unfenced;
  std::vector<BrokerId> fenced;
  std::size_t start = 0;
};

void shuffle(std::vector<BrokerId>& ids, Prng& prng) {
  for (std::size_t i = ids.size(); i > 1; --i) {
    std::swap(ids[i - 1], ids[static_cast<std::size_t>(prng.below(i))]);
  }
}

// Deals from `pool` of every rack, beginning with rack `turn` modulo the number of racks, until `replicas` is full or
// a whole round gave nothing.
void deal(const std::vector<Rack>& racks, std::vector<BrokerId> Rack::*pool, std::size_t turn, std::size_t wanted,
          std::vector<BrokerId>& replicas) {
  std::vector<std::size_t> taken(racks.size(), 0);
  std::size_t idle = 0;
  for (std::size_t k = 0; replicas.size() < wanted && idle < racks.size(); ++k) {
    const std::size_t r = (turn + k) % racks.size();
    const std::vector<BrokerId>& ids = racks[r].*pool;
    if (taken[r] >= ids.size()) {
      ++idle;
      continue;
    }
    idle = 0;
    replicas.push_back(ids[(racks[r].start + turn / racks.size() + taken[r]) % ids.size()]);
    ++taken[r];
  }
}

}  // namespace

Result<std::vector<std::vector<BrokerId>>> place_partitions(const std::vector<UsableBroker>& brokers,
                                                            std::int32_t partitions, std::int16_t replication_factor,
                                                            Prng& prng) {
  const auto wanted = static_cast<std::size_t>(replication_factor);
  if (wanted > brokers.size()) {
    return fail(Errc::invalid, "replication factor " + std::to_string(replication_factor) + " is above the number of " +
                                   std::to_string(brokers.size()) + " registered broker(s)");
  }
  std::map<std::string, Rack> by_name;
  for (const UsableBroker& broker : brokers) {
    Rack& rack = by_name[broker.rack.value_or("")];
    (broker.fenced ? rack.fenced : rack.unfenced).push_back(broker.id);
  }
  std::vector<Rack> racks;
  std::vector<Rack> without_leader;
  for (auto& [name, rack] : by_name) {
    shuffle(rack.unfenced, prng);
    shuffle(rack.fenced, prng);
    rack.start = static_cast<std::size_t>(prng.below(std::max<std::size_t>(1, rack.unfenced.size())));
    (rack.unfenced.empty() ? without_leader : racks).push_back(std::move(rack));
  }
  if (racks.empty()) {
    return fail(Errc::invalid, "all registered brokers are fenced");
  }
  std::vector<Rack> all = racks;  // leaders come from the first racks.size() of these
  all.insert(all.end(), without_leader.begin(), without_leader.end());
  const auto start = static_cast<std::size_t>(prng.below(racks.size()));
  std::vector<std::vector<BrokerId>> result;
  result.reserve(static_cast<std::size_t>(partitions));
  for (std::int32_t p = 0; p < partitions; ++p) {
    const std::size_t turn = start + static_cast<std::size_t>(p);
    std::vector<BrokerId> replicas;
    replicas.reserve(wanted);
    deal(racks, &Rack::unfenced, turn, wanted, replicas);
    if (replicas.size() < wanted) {
      deal(all, &Rack::fenced, turn, wanted, replicas);
    }
    result.push_back(std::move(replicas));
  }
  return result;
}

}  // namespace hw::metadata
