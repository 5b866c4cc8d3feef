// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/partition_change.h"

#include <algorithm>

#include "engine/base/trial.h"

namespace hw::metadata {
namespace {

using Brokers = std::vector<BrokerId>;

bool has(const Brokers& list, BrokerId id) { return std::find(list.begin(), list.end(), id) != list.end(); }
bool has_all(const Brokers& list, const Brokers& ids) {
  return std::all_of(ids.begin(), ids.end(), [&](BrokerId id) { return has(list, id); });
}
Brokers without(const Brokers& list, const Brokers& ids) {
  Brokers result;
  std::copy_if(list.begin(), list.end(), std::back_inserter(result), [&](BrokerId id) { return !has(ids, id); });
  return result;
}
Brokers ascending(Brokers list) {
  std::sort(list.begin(), list.end());
  return list;
}

// The partition as it is going to be.
struct Target {
  Brokers isr;
  Brokers replicas;
  Brokers adding;
  Brokers removing;
  Brokers elr;
};

void complete_reassignment(Target& target) {
  if (target.adding.empty() && target.removing.empty()) {
    return;
  }
  const Brokers isr = without(target.isr, target.removing);
  const Brokers replicas = without(target.replicas, target.removing);
  if (isr.empty() || replicas.empty() || !has_all(isr, replicas)) {
    return;
  }
  target.isr = isr;
  target.replicas = replicas;
  target.adding.clear();
  target.removing.clear();
  trial::mark(trial::Mark::reassignment_done);
}

Brokers eligible(const Target& target, const PartitionImage& partition, const PartitionWish& wish,
                 const PartitionRules& rules) {
  if (!rules.elr || (static_cast<std::int32_t>(target.isr.size()) >= rules.min_insync_replicas &&
                     !trial::has_bug(trial::Canary::eligible_for_ever))) {
    return {};
  }
  Brokers result;
  for (const Brokers* source : {&partition.elr, &partition.isr}) {
    for (const BrokerId id : *source) {
      if (id != wish.lost && !has(target.isr, id) && has(target.replicas, id) && !has(result, id)) {
        result.push_back(id);
      }
    }
  }
  return ascending(std::move(result));
}

struct Elected {
  BrokerId leader = kNoBroker;
  bool unclean = false;
};

Elected elect(const Target& target, const PartitionImage& partition, const PartitionWish& wish, const PartitionRules& rules) {
  const auto usable = [&](BrokerId id) {
    return id != kNoBroker && id != wish.lost && (rules.may_lead(id) || trial::has_bug(trial::Canary::fenced_leads));
  };
  const auto clean = [&](BrokerId id) {
    return (has(target.isr, id) || (target.isr.empty() && has(target.elr, id))) && usable(id);
  };
  if (wish.election == Election::preferred && !target.replicas.empty() && clean(target.replicas.front())) {
    return {target.replicas.front()};
  }
  if (clean(partition.leader)) {
    return {partition.leader};
  }
  if (const auto at = std::find_if(target.replicas.begin(), target.replicas.end(), clean); at != target.replicas.end()) {
    return {*at};
  }
  if (rules.elr && target.isr.empty() && target.elr.empty() && partition.last_known_elr.size() == 1 &&
      has(target.replicas, partition.last_known_elr.front()) && usable(partition.last_known_elr.front())) {
    trial::mark(trial::Mark::elected_last_known);
    return {partition.last_known_elr.front(), true};
  }
  if (wish.election == Election::unclean || trial::has_bug(trial::Canary::elects_anybody)) {
    const auto at = std::find_if(target.replicas.begin(), target.replicas.end(), usable);
    if (at != target.replicas.end()) {
      return {*at, true};
    }
  }
  return {};
}

std::vector<Uuid> directories_of(const Target& target, const PartitionImage& partition, const PartitionWish& wish,
                                 const PartitionRules& rules) {
  std::vector<Uuid> result;
  result.reserve(target.replicas.size());
  for (const BrokerId id : target.replicas) {
    const auto at = std::find(partition.replicas.begin(), partition.replicas.end(), id);
    if (id == wish.moved) {
      result.push_back(wish.moved_to);
    } else if (at != partition.replicas.end()) {
      result.push_back(partition.directories[static_cast<std::size_t>(at - partition.replicas.begin())]);
    } else {
      result.push_back(rules.default_directory(id));
    }
  }
  return result;
}

}  // namespace

std::optional<wire::PartitionChangeRecord> change_partition(const Uuid& topic, PartitionIndex index,
                                                            const PartitionImage& partition, const PartitionWish& wish,
                                                            const PartitionRules& rules) {
  constexpr BrokerId kSameLeader{-2};
  Target target{wish.isr.value_or(partition.isr), wish.replicas.value_or(partition.replicas),
                wish.adding.value_or(partition.adding_replicas), wish.removing.value_or(partition.removing_replicas), {}};
  if (wish.lost != kNoBroker) {
    std::erase(target.isr, wish.lost);
  }
  complete_reassignment(target);
  target.elr = eligible(target, partition, wish, rules);

  wire::PartitionChangeRecord record;
  record.topic_id = topic;
  record.partition_id = index;
  record.leader = kSameLeader;
  std::int8_t recovery = wish.leader_recovery_state.value_or(partition.leader_recovery_state);

  const Elected elected = elect(target, partition, wish, rules);
  if (elected.leader != kNoBroker && !has(target.isr, elected.leader)) {
    const bool eligible = has(target.elr, elected.leader);
    target.isr = {elected.leader};
    if (!eligible || rules.min_insync_replicas <= 1) {
      target.elr.clear();
    } else {
      std::erase(target.elr, elected.leader);
    }
    recovery = eligible ? recovery : kRecovering;
    trial::mark(eligible ? trial::Mark::elected_from_elr : trial::Mark::elected_uncleanly);
  }
  if (elected.leader != partition.leader) {
    if (elected.leader == kNoBroker) {
      trial::mark(trial::Mark::nobody_to_elect);
    }
    record.leader = elected.leader;
  }
  if (record.leader == kSameLeader && !has_all(target.replicas, partition.replicas)) {
    record.leader = partition.leader;  // clients of the replica that goes are to notice
  }
  if (target.isr.empty() && !rules.elr) {
    target.isr = partition.isr;
  }

  bool changed = record.leader != kSameLeader;
  const auto set_if_new = [&](auto& field, auto& wanted, const auto& current) {
    if (wanted != current) {
      field = std::move(wanted);
      changed = true;
    }
  };
  std::vector<Uuid> directories = directories_of(target, partition, wish, rules);
  set_if_new(record.isr, target.isr, partition.isr);
  set_if_new(record.eligible_leader_replicas, target.elr, partition.elr);
  set_if_new(record.directories, directories, partition.directories);
  set_if_new(record.replicas, target.replicas, partition.replicas);
  set_if_new(record.adding_replicas, target.adding, partition.adding_replicas);
  set_if_new(record.removing_replicas, target.removing, partition.removing_replicas);
  set_if_new(record.leader_recovery_state, recovery, partition.leader_recovery_state);

  // The last known leader is kept from the loss of the leader until there is one again.
  Brokers last_known = partition.last_known_elr;
  if (!rules.elr || record.leader.value() >= 0) {
    last_known.clear();
  } else if (record.leader == kNoBroker && last_known.empty() && partition.leader != kNoBroker) {
    last_known = {partition.leader};
  }
  set_if_new(record.last_known_elr, last_known, partition.last_known_elr);
  return changed ? std::optional(std::move(record)) : std::nullopt;
}

Reassignment reassignment_to(const Brokers& target, const PartitionImage& partition) {
  Reassignment result;
  result.removing = ascending(without(partition.replicas, target));
  result.adding = ascending(without(target, without(partition.replicas, partition.adding_replicas)));
  result.replicas = target;
  result.replicas.insert(result.replicas.end(), result.removing.begin(), result.removing.end());
  return result;
}

RevertedReassignment reverted_reassignment(const PartitionImage& partition) {
  RevertedReassignment result;
  result.replicas = without(partition.replicas, partition.adding_replicas);
  result.isr = without(partition.isr, partition.adding_replicas);
  if (result.isr.empty() && !result.replicas.empty()) {
    result.isr = {result.replicas.front()};
    result.unclean = true;
  }
  return result;
}

bool is_reassigning(const PartitionImage& partition) noexcept {
  return !partition.adding_replicas.empty() || !partition.removing_replicas.empty();
}

bool directory_works(const Uuid& directory, const std::vector<Uuid>& directories) noexcept {
  if (directory == kDirectoryLost) {
    return false;
  }
  return directory == kDirectoryUnassigned || directory == kDirectoryMigrating || directories.empty() ||
         std::find(directories.begin(), directories.end(), directory) != directories.end();
}

}  // namespace hw::metadata
