// SPDX-License-Identifier: Apache-2.0
#include "engine/raft/voters.h"

#include <algorithm>

#include "engine/wire/msg/k_raft_version_record.h"
#include "engine/wire/msg/voters_record.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/record/batch_builder.h"
#include "engine/wire/record/record_iterator.h"
#include "engine/wire/runtime/reader.h"

namespace hw::raft {

const VoterEndpoint* find_endpoint(const std::vector<VoterEndpoint>& endpoints, std::string_view listener) noexcept {
  const auto it = std::find_if(endpoints.begin(), endpoints.end(),
                               [&](const VoterEndpoint& endpoint) { return endpoint.listener == listener; });
  return it == endpoints.end() ? nullptr : &*it;
}

VoterSet::VoterSet(std::vector<Voter> voters) : voters_(std::move(voters)) {
  std::stable_sort(voters_.begin(), voters_.end(), [](const Voter& a, const Voter& b) { return a.key.id < b.key.id; });
  voters_.erase(std::unique(voters_.begin(), voters_.end(),
                            [](const Voter& a, const Voter& b) { return a.key.id == b.key.id; }),
                voters_.end());
}

const Voter* VoterSet::find(BrokerId id) const noexcept {
  const auto it = std::lower_bound(voters_.begin(), voters_.end(), id,
                                   [](const Voter& voter, BrokerId wanted) { return voter.key.id < wanted; });
  return it == voters_.end() || it->key.id != id ? nullptr : &*it;
}

bool VoterSet::is_voter(const ReplicaKey& key) const noexcept {
  const Voter* voter = find(key.id);
  return voter != nullptr && voter->key.matches(key);
}

std::optional<VoterSet> VoterSet::with(const Voter& voter) const {
  if (find(voter.key.id) != nullptr) {
    return std::nullopt;
  }
  std::vector<Voter> voters = voters_;
  voters.push_back(voter);
  return VoterSet(std::move(voters));
}

std::optional<VoterSet> VoterSet::without(const ReplicaKey& key) const {
  const Voter* old = find(key.id);
  if (old == nullptr || old->key != key || voters_.size() == 1) {
    return std::nullopt;  // a quorum without voters could never change again
  }
  std::vector<Voter> voters;
  std::copy_if(voters_.begin(), voters_.end(), std::back_inserter(voters),
               [&](const Voter& voter) { return voter.key != key; });
  return VoterSet(std::move(voters));
}

std::optional<VoterSet> VoterSet::updated(const Voter& voter) const {
  if (!is_voter(voter.key)) {
    return std::nullopt;
  }
  std::vector<Voter> voters = voters_;
  for (Voter& old : voters) {
    if (old.key.id == voter.key.id) {
      old = voter;
    }
  }
  return VoterSet(std::move(voters));
}

void VoterHistory::restart(VoterSet voters, std::int16_t kraft_version, Offset end) {
  sets_.clear();
  versions_.clear();
  if (!voters.empty()) {
    sets_.push_back({end - 1, std::move(voters)});
  }
  versions_.push_back({end - 1, kraft_version});
}

void VoterHistory::truncate_to(Offset offset) {
  while (!sets_.empty() && sets_.back().first >= offset) {
    sets_.pop_back();
  }
  while (!versions_.empty() && versions_.back().first >= offset) {
    versions_.pop_back();
  }
}

void VoterHistory::forget_below(Offset offset) {
  while (sets_.size() > 1 && sets_[1].first < offset) {
    sets_.pop_front();
  }
  while (versions_.size() > 1 && versions_[1].first < offset) {
    versions_.pop_front();
  }
}

const VoterSet& VoterHistory::at(Offset offset) const noexcept {
  const VoterSet* found = &initial_;
  for (const auto& [at, voters] : sets_) {
    if (at < offset) {
      found = &voters;
    }
  }
  return *found;
}

std::int16_t VoterHistory::version_at(Offset offset) const noexcept {
  std::int16_t found = initial_version_;
  for (const auto& [at, version] : versions_) {
    if (at < offset) {
      found = version;
    }
  }
  return found;
}

Result<void> read_control_batch(const Bytes& batch, VoterHistory& history) {
  HW_TRY(wire::RecordIterator records, wire::RecordIterator::open(batch));
  wire::RecordView view;
  while (records.next(view)) {
    constexpr std::size_t kKeySize = 4;  // int16 version, int16 type
    if (!view.key || view.key->size() < kKeySize || !view.value) {
      return fail(Errc::corrupt, "a control record of the metadata log has no key");
    }
    const auto type = static_cast<wire::ControlType>(wire::load_u16(view.key->data() + 2));
    wire::Reader reader(records.share(*view.value));
    if (type == wire::ControlType::kraft_version) {
      wire::KRaftVersionRecord message;
      if (!decode(reader, message, std::int16_t{0})) {
        return fail(Errc::corrupt, "a kraft.version record does not decode");
      }
      history.add_version(view.offset, message.k_raft_version);
    } else if (type == wire::ControlType::kraft_voters) {
      wire::VotersRecord message;
      if (!decode(reader, message, std::int16_t{0})) {
        return fail(Errc::corrupt, "a voters record does not decode");
      }
      std::vector<Voter> voters;
      for (const wire::VotersRecord::Voter& entry : message.voters) {
        Voter& voter = voters.emplace_back();
        voter.key = {entry.voter_id, entry.voter_directory_id};
        for (const wire::VotersRecord::Endpoint& endpoint : entry.endpoints) {
          voter.endpoints.push_back({endpoint.name, endpoint.host, endpoint.port});
        }
        voter.min_kraft_version = entry.k_raft_version_feature.min_supported_version;
        voter.max_kraft_version = entry.k_raft_version_feature.max_supported_version;
      }
      history.add(view.offset, VoterSet(std::move(voters)));
    }
  }
  if (records.failed()) {
    return fail(Errc::corrupt, "a control batch of the metadata log is damaged: " + records.problem());
  }
  return {};
}

}  // namespace hw::raft
