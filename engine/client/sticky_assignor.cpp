// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "engine/client/assignor.h"

namespace hw::client {
namespace {

struct Share {
  const GroupMember* member = nullptr;
  std::set<std::string> topics;
  std::vector<TopicPartition> has;  // kept from before, then what is added
};

// Who really had what: the claim of the highest generation counts; two claims of one generation cancel each other out, for then
// nobody knows. Partitions that are gone, or of topics that the member no longer reads, are not kept.
std::map<TopicPartition, std::size_t> settle_claims(const std::vector<Share>& shares,
                                                    const std::map<std::string, std::int32_t>& partitions) {
  struct Claim {
    std::size_t by = 0;
    std::int32_t generation = -1;
    bool contested = false;
  };
  std::map<TopicPartition, Claim> claims;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const GroupMember& member = *shares[i].member;
    for (const TopicPartition& partition : member.owned) {
      const auto topic = partitions.find(partition.first);
      if (topic == partitions.end() || partition.second < 0 || partition.second >= topic->second) {
        continue;
      }
      const auto [at, first] = claims.try_emplace(partition, Claim{i, member.generation, false});
      if (first || at->second.by == i) {
        continue;
      }
      if (member.generation > at->second.generation) {
        at->second = {i, member.generation, false};
      } else if (member.generation == at->second.generation) {
        at->second.contested = true;
      }
    }
  }
  std::map<TopicPartition, std::size_t> owners;
  for (const auto& [partition, claim] : claims) {
    if (!claim.contested && shares[claim.by].topics.contains(partition.first)) {
      owners[partition] = claim.by;
    }
  }
  return owners;
}

// Every member reads the same topics: everybody gets the quotient, and some one more. Who had that many keeps them first.
void share_evenly(std::vector<Share>& shares, const std::vector<TopicPartition>& free, std::size_t total) {
  const std::size_t least = total / shares.size();
  std::size_t larger = total % shares.size();  // so many members get one more
  std::vector<std::size_t> quota(shares.size(), least);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (larger > 0 && shares[i].has.size() > least) {
      quota[i] = least + 1;
      --larger;
    }
  }
  for (std::size_t i = 0; i < shares.size() && larger > 0; ++i) {
    if (quota[i] == least) {
      quota[i] = least + 1;
      --larger;
    }
  }
  std::vector<TopicPartition> left = free;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    while (shares[i].has.size() > quota[i]) {
      left.push_back(std::move(shares[i].has.back()));
      shares[i].has.pop_back();
    }
  }
  std::sort(left.begin(), left.end());
  std::size_t at = 0;
  for (TopicPartition& partition : left) {  // in turn, so that a topic's partitions spread
    while (shares[at].has.size() >= quota[at]) {
      at = (at + 1) % shares.size();
    }
    shares[at].has.push_back(std::move(partition));
    at = (at + 1) % shares.size();
  }
}

// Members read different topics: what is free goes to who has least, partitions with few takers first; then single partitions
// move as long as that makes two members more even.
void share_by_load(std::vector<Share>& shares, const std::vector<TopicPartition>& free) {
  std::map<std::string, std::vector<std::size_t>> takers;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    for (const std::string& topic : shares[i].topics) {
      takers[topic].push_back(i);
    }
  }
  const auto least_loaded = [&](const std::string& topic) {
    const std::vector<std::size_t>& of = takers[topic];
    return *std::min_element(of.begin(), of.end(), [&](std::size_t a, std::size_t b) {
      return shares[a].has.size() < shares[b].has.size();
    });
  };
  std::vector<TopicPartition> left = free;
  std::stable_sort(left.begin(), left.end(), [&](const TopicPartition& a, const TopicPartition& b) {
    return takers[a.first].size() < takers[b.first].size();
  });
  for (TopicPartition& partition : left) {
    const std::size_t taker = least_loaded(partition.first);
    shares[taker].has.push_back(std::move(partition));
  }
  for (bool moved = true; moved;) {  // each move makes the sum of squares smaller, so this ends
    moved = false;
    for (Share& from : shares) {
      for (std::size_t n = from.has.size(); n > 0; --n) {  // what came last goes first: it was kept from nobody
        Share& to = shares[least_loaded(from.has[n - 1].first)];
        if (to.has.size() + 1 < from.has.size()) {
          to.has.push_back(std::move(from.has[n - 1]));
          from.has.erase(from.has.begin() + static_cast<std::ptrdiff_t>(n - 1));
          moved = true;
        }
      }
    }
  }
}

}  // namespace

Assignment assign_sticky(const std::vector<GroupMember>& members, const std::map<std::string, std::int32_t>& partitions) {
  std::vector<Share> shares;
  std::set<std::string> topics;
  for (const GroupMember& member : members) {
    Share& share = shares.emplace_back();
    share.member = &member;
    for (const std::string& topic : member.topics) {
      if (partitions.contains(topic)) {
        share.topics.insert(topic);
        topics.insert(topic);
      }
    }
  }
  Assignment assigned;
  if (shares.empty()) {
    return assigned;
  }
  const std::map<TopicPartition, std::size_t> owners = settle_claims(shares, partitions);
  std::vector<TopicPartition> free;
  std::size_t total = 0;
  for (const std::string& topic : topics) {
    for (std::int32_t i = 0; i < partitions.at(topic); ++i) {
      ++total;
      const auto owner = owners.find({topic, i});
      if (owner == owners.end()) {
        free.emplace_back(topic, i);
      } else {
        shares[owner->second].has.emplace_back(topic, i);
      }
    }
  }
  const bool alike = std::all_of(shares.begin(), shares.end(), [&](const Share& share) { return share.topics == topics; });
  if (alike) {
    share_evenly(shares, free, total);
  } else {
    share_by_load(shares, free);
  }
  for (Share& share : shares) {
    std::sort(share.has.begin(), share.has.end());
    assigned[share.member->id] = std::move(share.has);
  }
  return assigned;
}

}  // namespace hw::client
