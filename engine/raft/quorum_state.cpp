// SPDX-License-Identifier: Apache-2.0
// The file quorum-state: one flat JSON object. Only the keys asked for are read; everything else is passed over.
#include <charconv>
#include <limits>

#include "engine/raft/quorum.h"

namespace hw::raft {
namespace {

std::string_view skip_blanks(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? std::string_view{} : text.substr(at);
}

// What follows `"key":`, blanks skipped; empty where the key is missing.
std::string_view value_of(std::string_view text, std::string_view key) {
  const std::string quoted = '"' + std::string(key) + '"';
  const std::size_t at = text.find(quoted);
  if (at == std::string_view::npos) {
    return {};
  }
  std::string_view rest = skip_blanks(text.substr(at + quoted.size()));
  if (rest.empty() || rest.front() != ':') {
    return {};
  }
  return skip_blanks(rest.substr(1));
}

std::optional<std::int32_t> int_of(std::string_view text, std::string_view key) {
  const std::string_view value = value_of(text, key);
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (value.empty() || error != std::errc{} || end == value.data()) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::string encode_quorum_state(const ElectionState& state) {
  const std::int32_t leader = state.leader ? state.leader->value() : -1;
  const std::int32_t voted = state.voted ? state.voted->id.value() : -1;
  const Uuid directory = state.voted ? state.voted->directory : Uuid{};
  return "{\"leaderId\":" + std::to_string(leader) + ",\"leaderEpoch\":" + std::to_string(state.epoch.value()) +
         ",\"votedId\":" + std::to_string(voted) + ",\"votedDirectoryId\":\"" + directory.text() +
         "\",\"data_version\":1}";
}

Result<ElectionState> decode_quorum_state(std::string_view text) {
  const std::string_view whole = skip_blanks(text);
  const std::optional<std::int32_t> version = int_of(text, "data_version");
  const std::optional<std::int32_t> epoch = int_of(text, "leaderEpoch");
  if (whole.empty() || whole.front() != '{' || whole.find('}') == std::string_view::npos || !version || !epoch || *epoch < 0) {
    return fail(Errc::corrupt, "quorum-state does not hold a leader epoch and a data version");
  }
  if (*version != 0 && *version != 1) {
    return fail(Errc::unsupported, "quorum-state has data version " + std::to_string(*version) +
                                       ", which a newer release wrote");
  }
  ElectionState state;
  state.epoch = LeaderEpoch(*epoch);
  if (const std::int32_t leader = int_of(text, "leaderId").value_or(-1); leader >= 0) {
    state.leader = BrokerId(leader);
  }
  if (const std::int32_t voted = int_of(text, "votedId").value_or(-1); voted >= 0) {
    ReplicaKey key{BrokerId(voted), {}};
    const std::string_view directory = value_of(text, "votedDirectoryId");
    if (directory.size() > 23 && directory.front() == '"') {
      key.directory = Uuid::parse(directory.substr(1, 22)).value_or(Uuid{});
    }
    state.voted = key;
  }
  return state;
}

}  // namespace hw::raft
