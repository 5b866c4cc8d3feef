// SPDX-License-Identifier: Apache-2.0
#include "app/hw/session.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "app/hw/text.h"
#include "engine/client/cluster.h"
#include "engine/wire/msg/metadata.h"

namespace hw::app {
namespace {

constexpr std::int64_t kPatience = 15'000;

std::string meant(std::string_view name, const std::vector<std::string>& names, std::string_view command) {
  const std::string near = nearest(name, names);
  return near.empty() ? fmt::format("`{}` shows what there is", command) : fmt::format("did you mean '{}'?", near);
}

}  // namespace

Session::Session(const Common& common)
    : common_(common),
      patience_(milliseconds(common.timeout_ms > 0 ? common.timeout_ms : kPatience)),
      questions_(runner_, common.bootstrap, patience_) {}

void Session::end_interrupted() {
  std::fflush(stdout);
  std::_Exit(static_cast<int>(Exit::interrupted));
}

Result<std::vector<node::TopicDescription>> Session::metadata(const std::string* topic) {
  wire::MetadataRequest request;
  request.allow_auto_topic_creation = false;
  std::optional<std::vector<wire::MetadataRequest::MetadataRequestTopic>> wanted;
  if (topic != nullptr) {
    wanted.emplace();
    wanted->emplace_back().name = *topic;
  }
  request.topics.swap(wanted);  // null asks for all
  HW_TRY(wire::MetadataResponse response, (call<wire::MetadataResponse>(client::Target::any(), std::move(request))));
  std::vector<node::TopicDescription> out;
  for (auto& [name, info] : client::topics_of(response)) {
    if (info.error != wire::ErrorCode::none && info.error != wire::ErrorCode::leader_not_available) {
      if (topic == nullptr) {
        continue;
      }
      return Unexpected(*refusal(fmt::format("topic '{}'", name), info.error));
    }
    node::TopicDescription described;
    described.name = name;
    described.id = info.id.text();
    described.internal = info.internal;
    for (std::size_t i = 0; i < info.partitions.size(); ++i) {
      auto& partition = described.partitions.emplace_back();
      partition.index = static_cast<std::int32_t>(i);
      partition.leader = info.partitions[i].leader.value();
      for (const BrokerId id : info.partitions[i].replicas) {
        partition.replicas.push_back(id.value());
      }
      for (const BrokerId id : info.partitions[i].isr) {
        partition.isr.push_back(id.value());
      }
    }
    out.push_back(std::move(described));
  }
  return out;
}

Result<std::vector<node::TopicDescription>> Session::topics() { return metadata(nullptr); }

Result<node::TopicDescription> Session::topic(const std::string& name) {
  Result<std::vector<node::TopicDescription>> found = metadata(&name);
  if (found && found->size() == 1) {
    return std::move(found->front());
  }
  if (!found && found.error().code != Errc::not_found) {
    return Unexpected(std::move(found.error()));
  }
  std::vector<std::string> names;
  if (const auto all = topics()) {
    for (const node::TopicDescription& topic : *all) {
      names.push_back(topic.name);
    }
  }
  return fail(Errc::not_found, fmt::format("there is no topic '{}'; {}", name, meant(name, names, "hw topics list")));
}

Result<std::vector<node::TopicDescription>> Session::topics_named(const std::vector<std::string>& patterns) {
  HW_TRY(const std::vector<node::TopicDescription> all, topics());
  std::vector<std::string> names;
  for (const node::TopicDescription& topic : all) {
    names.push_back(topic.name);
  }
  std::map<std::string, node::TopicDescription> chosen;
  for (const std::string& pattern : patterns) {
    bool fits = false;
    for (const node::TopicDescription& topic : all) {
      const bool exact = topic.name == pattern;
      if (exact || (glob_match(pattern, topic.name) && (!topic.internal || pattern.starts_with('_')))) {
        chosen.insert_or_assign(topic.name, topic);
        fits = true;
      }
    }
    if (!fits) {
      return fail(Errc::not_found, fmt::format("there is no topic '{}'; {}", pattern, meant(pattern, names, "hw topics list")));
    }
  }
  std::vector<node::TopicDescription> out;
  for (auto& [name, topic] : chosen) {
    out.push_back(std::move(topic));
  }
  return out;
}

std::vector<node::TopicPartitionName> Session::partitions_of(const node::TopicDescription& topic) {
  std::vector<node::TopicPartitionName> out;
  for (const auto& partition : topic.partitions) {
    out.push_back({topic.name, partition.index});
  }
  return out;
}

Result<std::vector<node::FoundOffset>> Session::offsets(std::vector<node::OffsetQuery> queries) {
  if (queries.empty()) {
    return std::vector<node::FoundOffset>{};
  }
  return ask<std::vector<node::FoundOffset>>(
      [&](auto done) { questions_.list_offsets(std::move(queries), false, std::move(done)); });
}

Result<std::vector<Session::Range>> Session::ranges(const std::vector<node::TopicPartitionName>& partitions) {
  std::vector<node::OffsetQuery> queries;
  for (const node::TopicPartitionName& partition : partitions) {
    queries.push_back({partition, node::kEarliestTimestamp});
    queries.push_back({partition, node::kLatestTimestamp});
  }
  HW_TRY(const std::vector<node::FoundOffset> found, offsets(std::move(queries)));
  std::map<node::TopicPartitionName, std::pair<std::int64_t, std::int64_t>> by_partition;
  for (const node::FoundOffset& offset : found) {
    if (!offset.error) {
      auto& [begin, end] = by_partition.try_emplace(offset.partition, -1, -1).first->second;
      (offset.asked_timestamp == node::kEarliestTimestamp ? begin : end) = offset.offset;
    }
  }
  std::vector<Range> out;
  for (const node::TopicPartitionName& partition : partitions) {
    const auto at = by_partition.find(partition);
    out.push_back(at == by_partition.end() ? Range{partition, -1, -1} : Range{partition, at->second.first, at->second.second});
  }
  return out;
}

Result<node::GroupDetail> Session::group(const std::string& id) {
  HW_TRY(std::vector<node::GroupDetail> found, ask<std::vector<node::GroupDetail>>([&](auto done) {
           questions_.describe_groups({id}, std::move(done));
         }));
  if (found.size() != 1) {
    return fail(Errc::corrupt, fmt::format("group '{}': the broker's answer is about something else", id));
  }
  node::GroupDetail& group = found.front();
  const bool absent = (group.error && group.error->code == Errc::not_found) || (!group.error && group.state == "Dead");
  if (!absent) {
    if (group.error) {
      return Unexpected(std::move(*group.error));
    }
    return std::move(group);
  }
  std::vector<std::string> names;
  if (const auto all = ask<std::vector<node::GroupRow>>([&](auto done) { questions_.list_groups({}, {}, std::move(done)); })) {
    for (const node::GroupRow& row : *all) {
      names.push_back(row.id);
    }
  }
  return fail(Errc::not_found, fmt::format("there is no group '{}'; {}", id, meant(id, names, "hw groups list")));
}

std::optional<Error> refusal(const std::string& about, wire::ErrorCode code, const std::optional<std::string>& message) {
  if (code == wire::ErrorCode::none) {
    return std::nullopt;
  }
  Errc kind = Errc::invalid;
  switch (code) {
    case wire::ErrorCode::unknown_topic_or_partition:
    case wire::ErrorCode::unknown_topic_id:
    case wire::ErrorCode::group_id_not_found:
      kind = Errc::not_found;
      break;
    case wire::ErrorCode::topic_already_exists:
      kind = Errc::exists;
      break;
    case wire::ErrorCode::request_timed_out:
      kind = Errc::closed;
      break;
    default:
      break;
  }
  std::string detail = fmt::format("{}: {}", about, client::describe(code));
  if (message && !message->empty()) {
    detail += fmt::format(": {}", *message);
  }
  return Error{kind, std::move(detail)};
}

bool confirmed(const std::string& question, bool yes) {
  if (yes || isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) {
    return true;
  }
  fmt::print(stderr, "{} [y/N] ", question);
  std::fflush(stderr);
  const int answer = std::getchar();
  return answer == 'y' || answer == 'Y';
}

}  // namespace hw::app
