// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/consumer/assignor.h"

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <utility>

#include <queue>

#include "engine/base/assert.h"

namespace hw::groups {
namespace {

using Result = std::map<std::string, Assignment>;

using Members = std::vector<std::map<std::string, MemberSpec>::const_pointer>;

// The topics that the same members subscribe to: whatever one of these members has of it, each of
// the others could have instead. Without different subscriptions there is one pool.
struct Pool {
  std::vector<std::size_t> members;  // places in `Members`, ascending
  std::vector<Uuid> topics;          // ascending
};

std::vector<Pool> make_pools(const GroupSpec& spec, const Members& members) {
  // Members with one subscription share a kind; topics with the same kinds share a pool.
  const auto by_content = [](const std::vector<Uuid>* a, const std::vector<Uuid>* b) {
    return *a < *b;
  };
  std::map<const std::vector<Uuid>*, std::vector<std::size_t>, decltype(by_content)> kinds;
  for (std::size_t i = 0; i < members.size(); ++i) {
    kinds[&members[i]->second.topics].push_back(i);
  }
  using Kind = const std::vector<std::size_t>*;
  std::map<Uuid, std::vector<Kind>> takers;
  for (const auto& [topics, of] : kinds) {
    for (const Uuid& topic : *topics) {
      if (spec.topics.contains(topic)) {
        takers[topic].push_back(&of);
      }
    }
  }
  std::vector<Pool> pools;
  std::map<std::vector<Kind>, std::size_t> known;
  for (const auto& [topic, of] : takers) {
    const auto [at, is_new] = known.try_emplace(of, pools.size());
    if (is_new) {
      Pool& pool = pools.emplace_back();
      for (const Kind kind : of) {
        pool.members.insert(pool.members.end(), kind->begin(), kind->end());
      }
      std::ranges::sort(pool.members);
    }
    pools[at->second].topics.push_back(topic);
  }
  return pools;
}

// ---- range

Result assign_range(const GroupSpec& spec) {
  Members members;
  Result result;
  for (const auto& member : spec.members) {
    members.push_back(&member);
    result.try_emplace(member.first);
  }
  using Member = Members::value_type;
  std::ranges::stable_sort(members, [](Member a, Member b) {
    if (a->second.instance.empty() || b->second.instance.empty()) {
      return !a->second.instance.empty() && b->second.instance.empty();
    }
    return a->second.instance < b->second.instance;
  });
  for (const Pool& pool : make_pools(spec, members)) {
    const auto count = static_cast<std::int32_t>(pool.members.size());
    for (const Uuid& topic : pool.topics) {
      const std::int32_t partitions = spec.topics.at(topic);
      std::int32_t next = 0;
      for (std::int32_t i = 0; i < count && next < partitions; ++i) {
        const Member member = members[pool.members[static_cast<std::size_t>(i)]];
        std::vector<PartitionIndex>& run = result[member->first][topic];
        const std::int32_t end = next + partitions / count + (i < partitions % count ? 1 : 0);
        for (; next < end; ++next) {
          run.emplace_back(next);
        }
      }
    }
  }
  return result;
}

// ---- uniform

struct Slot {
  Uuid topic;
  PartitionIndex partition;
  friend auto operator<=>(const Slot&, const Slot&) noexcept = default;
};

struct Share : Pool {  // and who has what of it

  explicit Share(Pool pool) : Pool(std::move(pool)), held(members.size()) {}

  std::vector<std::vector<Slot>> held;  // by place in `members`; what a member keeps comes first
  std::vector<Slot> free;               // ascending
};

struct Topic {
  Topic(std::size_t its_share, std::vector<bool> nobody)
      : share(its_share), taken(std::move(nobody)) {}

  std::size_t share;        // its place
  std::vector<bool> taken;  // by partition
};

class Uniform {
 public:
  explicit Uniform(const GroupSpec& spec) : spec_(spec) {
    for (const auto& member : spec.members) {
      members_.push_back(&member);
    }
    load_.resize(members_.size());
  }

  Result assign() {
    make_shares();
    keep();
    // Out to those with the least choice first, evened where there is the most choice first: both
    // spare moves. From here on `topics_` is not looked at.
    std::ranges::stable_sort(shares_, {}, [](const Share& share) { return share.members.size(); });
    for (Share& share : shares_) {
      hand_out(share);
    }
    // What one pool moves can unbalance another. Ends, as each move lowers the sum of squared
    // loads.
    bool moved = true;
    while (moved) {
      moved = false;
      for (Share& share : std::views::reverse(shares_)) {
        moved = level(share) || moved;
      }
    }
    return result();
  }

 private:
  using Load = std::pair<std::size_t, std::size_t>;  // partitions of all pools, place in the pool

  void make_shares() {
    for (Pool& pool : make_pools(spec_, members_)) {
      for (const Uuid& topic : pool.topics) {
        topics_.try_emplace(topic, shares_.size(),
                            std::vector<bool>(static_cast<std::size_t>(spec_.topics.at(topic))));
      }
      shares_.emplace_back(std::move(pool));
    }
  }

  // What members have and still subscribe to; the rest is free.
  void keep() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      for (const auto& [topic, partitions] : members_[i]->second.current) {
        const auto known = topics_.find(topic);
        if (known == topics_.end()) {
          continue;
        }
        Share& share = shares_[known->second.share];
        const auto member = std::ranges::lower_bound(share.members, i);
        if (member == share.members.end() || *member != i) {
          continue;
        }
        std::vector<Slot>& held =
            share.held[static_cast<std::size_t>(member - share.members.begin())];
        for (const PartitionIndex partition : partitions) {
          const auto at = static_cast<std::size_t>(partition.value());
          if (at < known->second.taken.size() && !known->second.taken[at]) {
            known->second.taken[at] = true;
            held.push_back({topic, partition});
            ++load_[i];
          }
        }
      }
    }
    for (const auto& [topic, known] : topics_) {
      for (std::size_t at = 0; at < known.taken.size(); ++at) {
        if (!known.taken[at]) {
          shares_[known.share].free.push_back(
              {topic, PartitionIndex(static_cast<std::int32_t>(at))});
        }
      }
    }
  }

  // Each to who has the least; how many that are for each is settled first, so that they come in
  // runs, as Kafka gives them.
  void hand_out(Share& share) {
    std::vector<std::size_t> more(share.members.size());
    std::priority_queue<Load, std::vector<Load>, std::greater<>> lightest(std::greater<>{},
                                                                          loads(share));
    for (std::size_t i = 0; i < share.free.size(); ++i) {
      const auto [load, place] = lightest.top();
      lightest.pop();
      ++more[place];
      lightest.emplace(load + 1, place);
    }
    auto next = share.free.cbegin();
    for (std::size_t place = 0; place < more.size(); ++place) {
      const auto end = next + static_cast<std::ptrdiff_t>(more[place]);
      share.held[place].insert(share.held[place].end(), next, end);
      load_[share.members[place]] += more[place];
      next = end;
    }
    HW_ASSERT(next == share.free.cend(), "every partition has an owner");
  }

  // From who has the most to who has the least, while that evens. Nobody both gives and gets: who
  // got has less than who has the most, and the other way round, and that stays so.
  bool level(Share& share) {
    std::vector<Load> can_take = loads(share);
    std::vector<Load> can_give;
    std::ranges::copy_if(can_take, std::back_inserter(can_give),
                         [&](const Load& load) { return !share.held[load.second].empty(); });
    if (can_give.empty() ||
        std::ranges::max(can_give).first < std::ranges::min(can_take).first + 2) {
      return false;
    }
    std::priority_queue<Load, std::vector<Load>, std::greater<>> lightest(std::greater<>{},
                                                                          std::move(can_take));
    std::priority_queue<Load> heaviest({}, std::move(can_give));
    while (!heaviest.empty() && heaviest.top().first >= lightest.top().first + 2) {
      const auto [most, from] = heaviest.top();
      const auto [least, to] = lightest.top();
      heaviest.pop();
      lightest.pop();
      // The last one: what a member has just got goes before what it had.
      share.held[to].push_back(share.held[from].back());
      share.held[from].pop_back();
      --load_[share.members[from]];
      ++load_[share.members[to]];
      lightest.emplace(least + 1, to);
      if (!share.held[from].empty()) {
        heaviest.emplace(most - 1, from);
      }
    }
    return true;
  }

  [[nodiscard]] std::vector<Load> loads(const Share& share) const {
    std::vector<Load> loads;
    loads.reserve(share.members.size());
    for (std::size_t place = 0; place < share.members.size(); ++place) {
      loads.emplace_back(load_[share.members[place]], place);
    }
    return loads;
  }

  [[nodiscard]] Result result() const {
    std::vector<std::vector<Slot>> slots(members_.size());
    for (const Share& share : shares_) {
      for (std::size_t place = 0; place < share.members.size(); ++place) {
        std::vector<Slot>& all = slots[share.members[place]];
        all.insert(all.end(), share.held[place].begin(), share.held[place].end());
      }
    }
    Result result;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      HW_ASSERT(slots[i].size() == load_[i], "a member's load is what it holds");
      std::ranges::sort(slots[i]);
      Assignment& assignment = result.try_emplace(result.end(), members_[i]->first)->second;
      for (const auto& [topic, partition] : slots[i]) {
        assignment.try_emplace(assignment.end(), topic)->second.push_back(partition);
      }
    }
    return result;
  }

  const GroupSpec& spec_;
  Members members_;                // in order of their ids
  std::vector<std::size_t> load_;  // by member, of all pools
  std::vector<Share> shares_;
  std::map<Uuid, Topic> topics_;  // that somebody subscribes to
};

}  // namespace

std::string_view assignor_name(Assignor assignor) noexcept {
  return assignor == Assignor::uniform ? "uniform" : "range";
}

std::optional<Assignor> parse_assignor(std::string_view name) noexcept {
  for (const Assignor assignor : {Assignor::uniform, Assignor::range}) {
    if (name == assignor_name(assignor)) {
      return assignor;
    }
  }
  return std::nullopt;
}

std::map<std::string, Assignment> assign(Assignor assignor, const GroupSpec& spec) {
  return assignor == Assignor::range ? assign_range(spec) : Uniform(spec).assign();
}

}  // namespace hw::groups
