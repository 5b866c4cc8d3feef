// SPDX-License-Identifier: Apache-2.0
#include "engine/client/admin.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/wire/msg/create_partitions.h"
#include "engine/wire/msg/create_topics.h"
#include "engine/wire/msg/delete_topics.h"
#include "engine/wire/msg/describe_configs.h"
#include "engine/wire/msg/describe_groups.h"
#include "engine/wire/msg/find_coordinator.h"
#include "engine/wire/msg/list_groups.h"
#include "engine/wire/msg/list_offsets.h"
#include "engine/wire/msg/metadata.h"
#include "engine/wire/msg/offset_fetch.h"

namespace hw::client {

using wire::ErrorCode;

namespace {
constexpr std::int16_t kDeleteWithStructs = 6;
constexpr std::int16_t kFindOneCoordinator = 3;
constexpr std::int16_t kCommittedOfOneGroup = 7;
constexpr std::int8_t kTopicResource = 2;

ClusterConfig without_creation(ClusterConfig config) {
  config.auto_create_topics = false;  // asking about a topic must not make it
  return config;
}
}  // namespace

Admin::Admin(ClusterConfig config) : cluster_(without_creation(std::move(config))) {}

Admin::Running& Admin::add(std::uint64_t token, Instant deadline) {
  const std::uint64_t number = next_++;
  Running& call = calls_[number];
  call.number = number;
  call.token = token;
  call.deadline = deadline;
  call.result.token = token;
  return call;
}

template <class T>
void Admin::send(Running& call, BrokerId broker, T request, std::int16_t lowest, std::int16_t highest, Instant now,
                 AdminOutputs& out) {
  const std::uint64_t token = next_++;
  requests_[token] = call.number;
  ++call.requests;
  Request made = make_request(std::move(request), token, call.deadline, highest);
  made.lowest = std::max(made.lowest, lowest);
  cluster_.request(broker, std::move(made), now, out.io, answers_);
}

void Admin::again(Running& call, std::string why, Instant now) {
  call.last_problem = std::move(why);
  call.spoiled = true;
  call.not_before = now + cluster_.config().retry_backoff;
}

void Admin::begin(Running& call, std::function<void(Running&)> first) {
  first(call);
  call.restart = std::move(first);
}

void Admin::learn_brokers(const wire::MetadataResponse& response) {
  for (const auto& broker : response.brokers) {
    cluster_.learn(broker.node_id, {broker.host, static_cast<std::uint16_t>(broker.port)});
  }
}

void Admin::unreadable(Running& call) {
  call.result.error = Error{Errc::corrupt, "the broker's answer cannot be read"};
  call.done = true;
}

Admin::Verdict Admin::judge(Running& call, ErrorCode error, const std::optional<std::string>& message,
                            const std::string& about, Instant now) {
  if (error == ErrorCode::none) {
    return Verdict::good;
  }
  std::string text = fmt::format("{}: {}", about, describe(error));
  if (message && !message->empty()) {
    text += fmt::format(": {}", *message);
  }
  if (error == ErrorCode::not_controller) {
    cluster_.refresh();
    call.target = cluster_.metadata().controller;
    again(call, std::move(text), now);
    return Verdict::again;
  }
  // That something is unknown is an answer here, not a reason to wait for it.
  if (wire::is_retriable(error) && error != ErrorCode::unknown_topic_or_partition) {
    again(call, std::move(text), now);
    return Verdict::again;
  }
  Errc code = Errc::invalid;
  if (error == ErrorCode::unknown_topic_or_partition || error == ErrorCode::group_id_not_found) {
    code = Errc::not_found;
  } else if (error == ErrorCode::topic_already_exists) {
    code = Errc::exists;
  }
  call.result.error = Error{code, std::move(text)};
  call.done = true;
  return Verdict::failed;
}

// ---- topics

void Admin::create_topic(std::uint64_t token, NewTopic topic, Instant deadline) {
  Running& call = add(token, deadline);
  call.send = [this, topic](Running& self, Instant now, AdminOutputs& out) {
    wire::CreateTopicsRequest request;
    auto& made = request.topics.emplace_back();
    made.name = topic.name;
    made.num_partitions = topic.partitions;
    made.replication_factor = topic.replication_factor;
    for (const auto& [name, value] : topic.configs) {
      auto& config = made.configs.emplace_back();
      config.name = name;
      config.value = value;
    }
    request.timeout_ms = static_cast<std::int32_t>(cluster_.config().request_timeout.ms());
    send(self, self.target, std::move(request), 4, wire::CreateTopicsRequest::kHighestVersion, now, out);
  };
  call.take = [this, name = topic.name](Running& self, const Answer& answer, Instant now) {
    wire::CreateTopicsResponse response;
    if (!decode_answer(answer, response) || response.topics.size() != 1) {
      return unreadable(self);
    }
    const auto& result = response.topics.front();
    if (judge(self, result.error_code, result.error_message, fmt::format("topic '{}'", name), now) == Verdict::good) {
      self.done = true;
    }
  };
}

void Admin::delete_topic(std::uint64_t token, std::string name, Instant deadline) {
  Running& call = add(token, deadline);
  call.send = [this, name](Running& self, Instant now, AdminOutputs& out) {
    wire::DeleteTopicsRequest request;
    request.topics.emplace_back().name = name;
    request.timeout_ms = static_cast<std::int32_t>(cluster_.config().request_timeout.ms());
    send(self, self.target, std::move(request), kDeleteWithStructs, wire::DeleteTopicsRequest::kHighestVersion, now,
         out);
  };
  call.take = [this, name](Running& self, const Answer& answer, Instant now) {
    wire::DeleteTopicsResponse response;
    if (!decode_answer(answer, response) || response.responses.size() != 1) {
      return unreadable(self);
    }
    const auto& result = response.responses.front();
    if (judge(self, result.error_code, result.error_message, fmt::format("topic '{}'", name), now) == Verdict::good) {
      self.done = true;
    }
  };
}

void Admin::create_partitions(std::uint64_t token, std::string topic, std::int32_t total, Instant deadline) {
  Running& call = add(token, deadline);
  call.send = [this, topic, total](Running& self, Instant now, AdminOutputs& out) {
    wire::CreatePartitionsRequest request;
    auto& change = request.topics.emplace_back();
    change.name = topic;
    change.count = total;
    make_null(change.assignments);  // the broker chooses
    request.timeout_ms = static_cast<std::int32_t>(cluster_.config().request_timeout.ms());
    send(self, self.target, std::move(request), 0, wire::CreatePartitionsRequest::kHighestVersion, now, out);
  };
  call.take = [this, topic](Running& self, const Answer& answer, Instant now) {
    wire::CreatePartitionsResponse response;
    if (!decode_answer(answer, response) || response.results.size() != 1) {
      return unreadable(self);
    }
    const auto& result = response.results.front();
    if (judge(self, result.error_code, result.error_message, fmt::format("topic '{}'", topic), now) ==
        Verdict::good) {
      self.done = true;
    }
  };
}

void Admin::ask_metadata(Running& call, std::optional<std::vector<std::string>> topics) {
  call.send = [this, topics](Running& self, Instant now, AdminOutputs& out) {
    wire::MetadataRequest request;
    if (topics) {
      request.topics.emplace();
      for (const std::string& name : *topics) {
        request.topics->emplace_back().name = name;
      }
    } else {
      make_null(request.topics);
    }
    request.allow_auto_topic_creation = false;
    send(self, kAnyBroker, std::move(request), 4, wire::MetadataRequest::kHighestVersion, now, out);
  };
}

void Admin::list_topics(std::uint64_t token, Instant deadline) {
  Running& call = add(token, deadline);
  ask_metadata(call, std::nullopt);
  call.take = [this](Running& self, const Answer& answer, Instant) {
    wire::MetadataResponse response;
    if (!decode_answer(answer, response)) {
      return unreadable(self);
    }
    std::vector<TopicDescription> topics;
    for (auto& [name, info] : topics_of(response)) {
      topics.push_back({name, std::move(info)});
    }
    self.result.value = std::move(topics);
    self.done = true;
  };
}

void Admin::describe_topic(std::uint64_t token, std::string name, Instant deadline) {
  Running& call = add(token, deadline);
  ask_metadata(call, std::vector{name});
  call.take = [this, name](Running& self, const Answer& answer, Instant now) {
    wire::MetadataResponse response;
    if (!decode_answer(answer, response)) {
      return unreadable(self);
    }
    std::map<std::string, TopicInfo> topics = topics_of(response);
    const auto found = topics.find(name);
    if (found == topics.end()) {
      return unreadable(self);
    }
    if (judge(self, found->second.error, std::nullopt, fmt::format("topic '{}'", name), now) == Verdict::good) {
      self.result.value = std::vector<TopicDescription>{{name, std::move(found->second)}};
      self.done = true;
    }
  };
}

void Admin::describe_configs(std::uint64_t token, std::string topic, Instant deadline) {
  Running& call = add(token, deadline);
  call.send = [this, topic](Running& self, Instant now, AdminOutputs& out) {
    wire::DescribeConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = kTopicResource;
    resource.resource_name = topic;
    make_null(resource.configuration_keys);
    send(self, kAnyBroker, std::move(request), 1, wire::DescribeConfigsRequest::kHighestVersion, now, out);
  };
  call.take = [this, topic](Running& self, const Answer& answer, Instant now) {
    wire::DescribeConfigsResponse response;
    if (!decode_answer(answer, response) || response.results.size() != 1) {
      return unreadable(self);
    }
    auto& result = response.results.front();
    if (judge(self, result.error_code, result.error_message, fmt::format("topic '{}'", topic), now) !=
        Verdict::good) {
      return;
    }
    std::vector<ConfigEntry> entries;
    for (auto& config : result.configs) {
      entries.push_back({std::move(config.name), std::move(config.value), config.config_source, config.read_only,
                         config.is_sensitive});
    }
    self.result.value = std::move(entries);
    self.done = true;
  };
}

// Asks where the partitions are, then each leader; the answers are put together.
void Admin::list_offsets(std::uint64_t token, std::string topic, std::int64_t timestamp, Instant deadline) {
  Running& call = add(token, deadline);
  begin(call, [this, topic, timestamp](Running& first) {
    ask_metadata(first, std::vector{topic});
    first.take = [this, topic, timestamp](Running& self, const Answer& answer, Instant now) {
      wire::MetadataResponse response;
      if (!decode_answer(answer, response)) {
        return unreadable(self);
      }
      learn_brokers(response);
      std::map<std::string, TopicInfo> topics = topics_of(response);
      const TopicInfo info = topics[topic];
      if (judge(self, info.error, std::nullopt, fmt::format("topic '{}'", topic), now) != Verdict::good) {
        return;
      }
      for (const PartitionInfo& partition : info.partitions) {
        if (partition.leader == kNoBroker) {
          again(self, fmt::format("topic '{}': {}", topic, describe(ErrorCode::leader_not_available)), now);
          return;
        }
      }
      self.send = [this, topic, timestamp, info](Running& again_self, Instant at, AdminOutputs& out) {
        again_self.result.value = std::vector<PartitionOffset>{};
        std::map<BrokerId, wire::ListOffsetsRequest> requests;
        for (std::size_t i = 0; i < info.partitions.size(); ++i) {
          wire::ListOffsetsRequest& request = requests[info.partitions[i].leader];
          request.replica_id = kNoBroker;
          if (request.topics.empty()) {
            request.topics.emplace_back().name = topic;
          }
          auto& partition = request.topics.back().partitions.emplace_back();
          partition.partition_index = PartitionIndex(static_cast<std::int32_t>(i));
          partition.current_leader_epoch = info.partitions[i].leader_epoch;
          partition.timestamp = timestamp;
        }
        for (auto& [leader, request] : requests) {
          send(again_self, leader, std::move(request), 1, wire::ListOffsetsRequest::kHighestVersion, at, out);
        }
      };
      self.take = [this](Running& last_self, const Answer& offsets, Instant at) {
        wire::ListOffsetsResponse listed;
        if (!decode_answer(offsets, listed)) {
          return unreadable(last_self);
        }
        auto& rows = std::get<std::vector<PartitionOffset>>(last_self.result.value);
        for (const auto& of_topic : listed.topics) {
          for (const auto& partition : of_topic.partitions) {
            PartitionOffset row{{of_topic.name, partition.partition_index.value()}, partition.offset.value(), {}};
            if (wire::is_retriable(partition.error_code)) {
              again(last_self, fmt::format("topic '{}' partition {}: {}", of_topic.name, row.partition.second,
                                           describe(partition.error_code)),
                    at);
            } else if (partition.error_code != ErrorCode::none) {
              row.error = Error{Errc::invalid, describe(partition.error_code)};
            }
            rows.push_back(std::move(row));
          }
        }
        if (last_self.requests == 0) {
          std::sort(rows.begin(), rows.end(),
                    [](const PartitionOffset& a, const PartitionOffset& b) { return a.partition < b.partition; });
          last_self.done = true;
        }
      };
      self.not_before = now;
    };
  });
}

// ---- groups

// Every broker knows the groups it coordinates: all are asked.
void Admin::list_groups(std::uint64_t token, Instant deadline) {
  Running& call = add(token, deadline);
  begin(call, [this](Running& first) {
    ask_metadata(first, std::vector<std::string>{});
    first.take = [this](Running& self, const Answer& answer, Instant now) {
      wire::MetadataResponse response;
      if (!decode_answer(answer, response)) {
        return unreadable(self);
      }
      learn_brokers(response);
      std::vector<BrokerId> brokers;
      for (const auto& broker : response.brokers) {
        brokers.push_back(broker.node_id);
      }
      self.send = [this, brokers](Running& again_self, Instant at, AdminOutputs& out) {
        again_self.result.value = std::vector<GroupListing>{};
        for (const BrokerId broker : brokers) {
          send(again_self, broker, wire::ListGroupsRequest{}, 0, wire::ListGroupsRequest::kHighestVersion, at, out);
        }
      };
      self.take = [this](Running& last_self, const Answer& of_broker, Instant at) {
        wire::ListGroupsResponse listed;
        if (!decode_answer(of_broker, listed)) {
          return unreadable(last_self);
        }
        if (judge(last_self, listed.error_code, std::nullopt, "groups", at) != Verdict::good) {
          return;
        }
        auto& rows = std::get<std::vector<GroupListing>>(last_self.result.value);
        for (auto& group : listed.groups) {
          rows.push_back({std::move(group.group_id), std::move(group.protocol_type), std::move(group.group_state),
                          std::move(group.group_type)});
        }
        if (last_self.requests == 0) {
          std::sort(rows.begin(), rows.end(), [](const GroupListing& a, const GroupListing& b) { return a.id < b.id; });
          last_self.done = true;
        }
      };
      self.not_before = now;
    };
  });
}

void Admin::find_coordinator(Running& call, const std::string& group, Send then_send, Take then_take) {
  begin(call, [this, group, then_send = std::move(then_send), then_take = std::move(then_take)](Running& first) {
    first.send = [this, group](Running& self, Instant now, AdminOutputs& out) {
      wire::FindCoordinatorRequest request;
      request.key = group;
      send(self, kAnyBroker, std::move(request), 0, kFindOneCoordinator, now, out);
    };
    first.take = [this, group, then_send, then_take](Running& self, const Answer& answer, Instant now) {
      wire::FindCoordinatorResponse response;
      if (!decode_answer(answer, response)) {
        return unreadable(self);
      }
      if (judge(self, response.error_code, response.error_message, fmt::format("group '{}'", group), now) !=
          Verdict::good) {
        return;
      }
      cluster_.learn(response.node_id, {response.host, static_cast<std::uint16_t>(response.port)});
      self.target = response.node_id;
      self.send = then_send;
      self.take = then_take;
      self.not_before = now;
    };
  });
}

void Admin::describe_group(std::uint64_t token, std::string group, Instant deadline) {
  find_coordinator(
      add(token, deadline), group,
      [this, group](Running& self, Instant now, AdminOutputs& out) {
        wire::DescribeGroupsRequest request;
        request.groups.push_back(group);
        send(self, self.target, std::move(request), 0, wire::DescribeGroupsRequest::kHighestVersion, now, out);
      },
      [this, group](Running& self, const Answer& answer, Instant now) {
        wire::DescribeGroupsResponse response;
        if (!decode_answer(answer, response) || response.groups.size() != 1) {
          return unreadable(self);
        }
        auto& described = response.groups.front();
        if (judge(self, described.error_code, std::nullopt, fmt::format("group '{}'", group), now) != Verdict::good) {
          return;
        }
        GroupDescription description{group, described.group_state, described.protocol_type, described.protocol_data, {}};
        for (auto& member : described.members) {
          description.members.push_back(
              {std::move(member.member_id), std::move(member.client_id), std::move(member.client_host),
               decode_assignment(member.member_assignment).value_or(std::vector<TopicPartition>{})});
        }
        self.result.value = std::move(description);
        self.done = true;
      });
}

void Admin::committed_offsets(std::uint64_t token, std::string group, Instant deadline) {
  find_coordinator(
      add(token, deadline), group,
      [this, group](Running& self, Instant now, AdminOutputs& out) {
        wire::OffsetFetchRequest request;
        request.group_id = group;
        make_null(request.topics);
        send(self, self.target, std::move(request), 2, kCommittedOfOneGroup, now, out);
      },
      [this, group](Running& self, const Answer& answer, Instant now) {
        wire::OffsetFetchResponse response;
        if (!decode_answer(answer, response)) {
          return unreadable(self);
        }
        if (judge(self, response.error_code, std::nullopt, fmt::format("group '{}'", group), now) != Verdict::good) {
          return;
        }
        std::vector<PartitionOffset> rows;
        for (const auto& topic : response.topics) {
          for (const auto& partition : topic.partitions) {
            PartitionOffset row{{topic.name, partition.partition_index.value()}, partition.committed_offset.value(), {}};
            if (partition.error_code != ErrorCode::none) {
              row.error = Error{Errc::invalid, describe(partition.error_code)};
            }
            rows.push_back(std::move(row));
          }
        }
        std::sort(rows.begin(), rows.end(),
                  [](const PartitionOffset& a, const PartitionOffset& b) { return a.partition < b.partition; });
        self.result.value = std::move(rows);
        self.done = true;
      });
}

// ---- any request

void Admin::find_target(Running& call, const Target& target, Send then_send, Take then_take) {
  switch (target.kind) {
    case Target::Kind::any:
      call.send = std::move(then_send);
      call.take = std::move(then_take);
      return;
    case Target::Kind::coordinator:
      find_coordinator(call, target.name, std::move(then_send), std::move(then_take));
      return;
    case Target::Kind::controller:
    case Target::Kind::broker:
    case Target::Kind::leader:
      break;
  }
  begin(call, [this, target, then_send, then_take](Running& first) {
    std::vector<std::string> topics;
    if (target.kind == Target::Kind::leader) {
      topics.push_back(target.name);
    }
    ask_metadata(first, std::move(topics));
    first.take = [this, target, then_send, then_take](Running& self, const Answer& answer, Instant now) {
      wire::MetadataResponse response;
      if (!decode_answer(answer, response)) {
        return unreadable(self);
      }
      learn_brokers(response);
      if (target.kind == Target::Kind::controller) {
        self.target = response.controller_id;
      } else if (target.kind == Target::Kind::broker) {
        self.target = target.broker;
      } else {
        std::map<std::string, TopicInfo> found = topics_of(response);
        const TopicInfo& info = found[target.name];
        if (judge(self, info.error, std::nullopt, fmt::format("topic '{}'", target.name), now) != Verdict::good) {
          return;
        }
        if (target.partition < 0 || static_cast<std::size_t>(target.partition) >= info.partitions.size()) {
          self.result.error = Error{Errc::not_found, fmt::format("topic '{}' has no partition {}, it has {} partitions",
                                                                 target.name, target.partition, info.partitions.size())};
          self.done = true;
          return;
        }
        self.target = info.partitions[static_cast<std::size_t>(target.partition)].leader;
      }
      const bool known = std::any_of(response.brokers.begin(), response.brokers.end(),
                                     [&](const auto& broker) { return broker.node_id == self.target; });
      if (!known && target.kind == Target::Kind::broker) {
        self.result.error = Error{Errc::not_found, fmt::format("there is no broker {}", target.broker.value())};
        self.done = true;
        return;
      }
      if (!known) {
        const ErrorCode missing = target.kind == Target::Kind::leader ? ErrorCode::leader_not_available
                                                                      : ErrorCode::broker_not_available;
        return again(self, describe(missing), now);
      }
      self.send = then_send;
      self.take = then_take;
      self.not_before = now;
    };
  });
  if (target.kind == Target::Kind::broker && cluster_.metadata().brokers.contains(target.broker)) {
    call.target = target.broker;  // known already; after a failure Metadata is asked all the same
    call.send = std::move(then_send);
    call.take = std::move(then_take);
  }
}

void Admin::call(std::uint64_t token, Call call, Instant deadline) {
  const auto what = std::make_shared<const Call>(std::move(call));
  find_target(
      add(token, deadline), what->target,
      [this, what](Running& self, Instant now, AdminOutputs& out) {
        const std::uint64_t request = next_++;
        requests_[request] = self.number;
        ++self.requests;
        cluster_.request(self.target, what->make(request, self.deadline), now, out.io, answers_);
      },
      [this, what](Running& self, const Answer& answer, Instant now) {
        const std::optional<ErrorCode> code = what->judge(answer);
        if (!code) {
          return unreadable(self);
        }
        self.result.value = answer;
        if (*code == ErrorCode::none || !what->options.retry_codes) {
          self.done = true;
        } else {
          again(self, describe(*code), now);
        }
      });
}

// ---- running

void Admin::step(const Input& input, Instant now, AdminOutputs& out) {
  stepped_at_ = now;
  cluster_.step(input, now, out.io, answers_);
  take_answers(now, out);
  run(now, out);
  take_answers(now, out);
}

void Admin::take_answers(Instant now, AdminOutputs& out) {
  for (const Answer& answer : answers_) {  // taking one sends nothing, so it does not grow
    const auto request = requests_.find(answer.token);
    if (request == requests_.end()) {
      continue;
    }
    const auto found = calls_.find(request->second);
    requests_.erase(request);
    if (found == calls_.end()) {
      continue;
    }
    Running& call = found->second;
    --call.requests;
    if (answer.error) {
      ++call.failures;
      const std::size_t addresses = cluster_.config().bootstrap.size() + cluster_.metadata().brokers.size();
      if (answer.error->code != Errc::closed || call.failures > addresses) {
        call.result.error = *answer.error;
        if (answer.error->code == Errc::closed) {
          call.result.error->detail = fmt::format("no broker answers: {}", answer.error->detail);
        }
        call.done = true;
      } else {
        again(call, answer.error->detail, now);
      }
    } else {
      call.failures = 0;
      const auto take = call.take;  // it may be replaced by what it does
      take(call, answer, now);
    }
    if (call.done && call.spoiled && !call.result.error) {
      call.done = false;  // another broker's part is missing: all are asked again
    }
    if (call.done) {
      if (call.result.error) {
        call.result.value = std::monostate{};
      }
      out.results.push_back(std::move(call.result));
      calls_.erase(found);
    }
  }
  answers_.clear();
}

void Admin::run(Instant now, AdminOutputs& out) {
  for (auto at = calls_.begin(); at != calls_.end();) {
    Running& call = at->second;
    if (call.deadline <= now) {
      if (!std::holds_alternative<Answer>(call.result.value)) {  // the last response of any request is better than none
        call.result.error =
            Error{Errc::closed, call.last_problem.empty() ? "no answer within the time allowed" : call.last_problem};
        call.result.value = std::monostate{};
      }
      out.results.push_back(std::move(call.result));
      at = calls_.erase(at);
      continue;
    }
    if (call.requests == 0 && call.not_before <= now) {
      if (std::exchange(call.spoiled, false) && call.restart) {
        const auto restart = call.restart;
        restart(call);
      }
      const auto attempt = call.send;
      attempt(call, now, out);
    }
    ++at;
  }
}

void Admin::abort(const Error& error, AdminOutputs& out) {
  for (auto& [number, call] : calls_) {
    call.result.error = error;
    call.result.value = std::monostate{};
    out.results.push_back(std::move(call.result));
  }
  calls_.clear();
  requests_.clear();
  cluster_.close_all(out.io);
}

Instant Admin::next_deadline() const noexcept {
  Instant next = cluster_.next_deadline();
  for (const auto& [number, call] : calls_) {
    next = std::min(next, call.deadline);
    if (call.requests == 0 && call.not_before > stepped_at_) {
      next = std::min(next, call.not_before);
    }
  }
  return next;
}

}  // namespace hw::client
