// SPDX-License-Identifier: Apache-2.0
#include "engine/node/client_admin.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>

#include "engine/client/assignor.h"
#include "engine/node/client_rounds.h"
#include "engine/wire/msg/add_raft_voter.h"
#include "engine/wire/msg/alter_client_quotas.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/apis.h"
#include "engine/wire/msg/delete_groups.h"
#include "engine/wire/msg/delete_records.h"
#include "engine/wire/msg/describe_client_quotas.h"
#include "engine/wire/msg/consumer_group_describe.h"
#include "engine/wire/msg/describe_cluster.h"
#include "engine/wire/msg/describe_configs.h"
#include "engine/wire/msg/describe_groups.h"
#include "engine/wire/msg/describe_log_dirs.h"
#include "engine/wire/msg/describe_producers.h"
#include "engine/wire/msg/describe_quorum.h"
#include "engine/wire/msg/elect_leaders.h"
#include "engine/wire/msg/incremental_alter_configs.h"
#include "engine/wire/msg/list_config_resources.h"
#include "engine/wire/msg/list_groups.h"
#include "engine/wire/msg/list_offsets.h"
#include "engine/wire/msg/offset_commit.h"
#include "engine/wire/msg/offset_delete.h"
#include "engine/wire/msg/offset_fetch.h"
#include "engine/wire/msg/remove_raft_voter.h"

namespace hw::node {

using client::make_null;
using client::Target;
using wire::ErrorCode;

namespace {
template <class Response>
Result<void> outcome_of(Result<Response> response) {
  if (!response) {
    return Unexpected(std::move(response.error()));
  }
  if (auto error = error_of(response->error_code, response->error_message)) {
    return Unexpected(std::move(*error));
  }
  return {};
}

// Consumer groups are asked for with a request of their own. What DescribeGroups did not find is asked for with it.
void describe_consumer_groups(const Asker& asker, std::vector<GroupDetail> rows,
                              const std::function<void(Result<std::vector<GroupDetail>>)>& done) {
  std::vector<GroupDetail> missing;
  for (const GroupDetail& row : rows) {
    if (row.error && row.error->code == Errc::not_found) {
      missing.push_back(row);
    }
  }
  if (missing.empty()) {
    return done(std::move(rows));
  }
  const auto named = [](const auto& assignment) {
    std::vector<TopicPartitionName> partitions;
    for (const auto& topic : assignment.topic_partitions) {
      for (const PartitionIndex partition : topic.partitions) {
        partitions.push_back({topic.topic_name, partition.value()});
      }
    }
    std::sort(partitions.begin(), partitions.end());
    return partitions;
  };
  Rounds<GroupDetail>::start(
      asker, std::move(missing), coordinators<GroupDetail>(),
      [asker, named](Rounds<GroupDetail>::Wave& wave) {
        wire::ConsumerGroupDescribeRequest request;
        for (const std::size_t index : wave.indexes) {
          request.group_ids.push_back(wave.rows()[index].id);
        }
        asker.ask_once<wire::ConsumerGroupDescribeResponse>(wave, std::move(request), [named](auto& waved, auto& response) {
          for (auto& group : response.groups) {
            waved.each(group.group_id, group.error_code, group.error_message, [&](GroupDetail& row) {
              if (row.error) {
                return;
              }
              row.state = group.group_state;
              row.type = "consumer";
              row.protocol_type = "consumer";
              row.protocol = group.assignor_name;
              row.coordinator = waved.broker;
              row.epoch = group.group_epoch;
              row.target_epoch = group.assignment_epoch;
              for (auto& one : group.members) {
                row.members.push_back({std::move(one.member_id), std::move(one.instance_id), std::move(one.client_id),
                                       std::move(one.client_host), named(one.assignment), one.member_epoch,
                                       named(one.target_assignment)});
              }
            });
          }
        });
      },
      [rows = std::move(rows), done](Result<std::vector<GroupDetail>> found) mutable {
        // A broker without that request knows no such groups.
        for (GroupDetail& row : found ? *found : std::vector<GroupDetail>{}) {
          const auto at = std::find_if(rows.begin(), rows.end(), [&row](const GroupDetail& one) { return one.id == row.id; });
          if (!row.error && at != rows.end()) {
            *at = std::move(row);
          }
        }
        done(std::move(rows));
      });
}

// Versions above address topics by id, and OffsetFetch 8 asks about several groups.
constexpr std::int16_t kCommitByName = 9;
constexpr std::int16_t kOffsetsOfOneGroup = 7;
// Version 5 names the broker one expects to meet.
constexpr std::int16_t kApiVersionsHighest = 4;
constexpr std::int16_t kOnlyClientMetrics = 0;

std::int32_t milliseconds_of(Duration duration) { return static_cast<std::int32_t>(duration.ms()); }

template <class Row>
std::vector<TopicPartitionName> names_of(const std::vector<Row>& rows) {
  std::vector<TopicPartitionName> names;
  for (const Row& row : rows) {
    names.push_back(row.partition);
  }
  return names;
}

// Puts the rows of `indexes` into the request's topics: topic(name) once per name, then partition(topic, index of row).
template <class Topics, class Row, class Name, class Each>
void fill_topics(Topics& topics, const std::vector<Row>& rows, const std::vector<std::size_t>& indexes, Name name, Each each) {
  std::map<std::string, std::size_t> places;
  for (const std::size_t index : indexes) {
    const auto [at, added] = places.try_emplace(rows[index].partition.topic, topics.size());
    if (added) {
      name(topics.emplace_back(), rows[index].partition.topic);
    }
    each(topics[at->second], rows[index]);
  }
}

std::int32_t broker_of(const Resource& resource) {
  const bool own = resource.type == ResourceType::broker || resource.type == ResourceType::broker_logger;
  std::int32_t id = -1;
  if (own && !resource.name.empty()) {
    const char* const end = resource.name.data() + resource.name.size();
    if (std::from_chars(resource.name.data(), end, id).ptr != end) {
      id = -1;  // any broker will say what is wrong with the name
    }
  }
  return id;
}

// A broker answers about itself; everything else any broker knows. Requests by broker, -1 any.
template <class Row>
std::map<std::int32_t, std::vector<std::size_t>> by_broker(const std::vector<Row>& rows) {
  std::map<std::int32_t, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    groups[broker_of(rows[i].resource)].push_back(i);
  }
  return groups;
}
Target target_of(std::int32_t broker) { return broker < 0 ? Target::any() : Target::broker_id(broker); }

}  // namespace

// ---- configs

void AdminQuestions::describe_configs(std::vector<ConfigQuery> queries, bool synonyms, bool documentation,
                                      Done<std::vector<ResourceConfigs>> done) const {
  const Asker asker{*runner_, bootstrap_, timeout_};
  std::vector<ResourceConfigs> rows;
  for (const ConfigQuery& query : queries) {
    rows.push_back({query.resource, {}, {}});
  }
  const auto groups = by_broker(rows);
  const auto all = std::make_shared<Gathered<ResourceConfigs>>(std::move(rows), groups.size(), std::move(done));
  for (const auto& [broker, indexes] : groups) {
    wire::DescribeConfigsRequest request;
    request.include_synonyms = synonyms;
    request.include_documentation = documentation;
    for (const std::size_t index : indexes) {
      auto& resource = request.resources.emplace_back();
      resource.resource_type = static_cast<std::int8_t>(queries[index].resource.type);
      resource.resource_name = queries[index].resource.name;
      if (queries[index].keys) {
        resource.configuration_keys = queries[index].keys;
      } else {
        make_null(resource.configuration_keys);
      }
    }
    asker.ask<wire::DescribeConfigsResponse>(target_of(broker), std::move(request), [all, indexes](auto response) {
      if (!response) {
        return all->failed(indexes, response.error());
      }
      for (const std::size_t index : indexes) {
        ResourceConfigs& row = all->rows()[index];
        const auto found = std::find_if(response->results.begin(), response->results.end(), [&](const auto& one) {
          return one.resource_name == row.resource.name && one.resource_type == static_cast<std::int8_t>(row.resource.type);
        });
        if (found == response->results.end()) {
          row.error = Error{Errc::corrupt, "the broker does not answer about it"};
          continue;
        }
        row.error = error_of(found->error_code, found->error_message);
        for (auto& config : found->configs) {
          ConfigValue& value = row.configs.emplace_back();
          value.name = std::move(config.name);
          value.value = std::move(config.value);
          value.source = static_cast<ConfigValue::Source>(config.config_source);
          value.type = static_cast<ConfigValue::Type>(config.config_type);
          value.read_only = config.read_only;
          value.sensitive = config.is_sensitive;
          value.documentation = config.documentation.value_or("");
          for (auto& synonym : config.synonyms) {
            value.synonyms.push_back({std::move(synonym.name), std::move(synonym.value),
                                      static_cast<ConfigValue::Source>(synonym.source)});
          }
        }
      }
      all->answered();
    });
  }
}

void AdminQuestions::alter_configs(std::vector<ResourceChange> changes, bool validate_only,
                                   Done<std::vector<ResourceResult>> done) const {
  const Asker asker{*runner_, bootstrap_, timeout_};
  std::vector<ResourceResult> rows;
  for (const ResourceChange& change : changes) {
    rows.push_back({change.resource, {}});
  }
  const auto groups = by_broker(rows);
  const auto all = std::make_shared<Gathered<ResourceResult>>(std::move(rows), groups.size(), std::move(done));
  for (const auto& [broker, indexes] : groups) {
    wire::IncrementalAlterConfigsRequest request;
    request.validate_only = validate_only;
    for (const std::size_t index : indexes) {
      auto& resource = request.resources.emplace_back();
      resource.resource_type = static_cast<std::int8_t>(changes[index].resource.type);
      resource.resource_name = changes[index].resource.name;
      for (const ConfigChange& change : changes[index].changes) {
        auto& config = resource.configs.emplace_back();
        config.name = change.name;
        config.config_operation = static_cast<std::int8_t>(change.operation);
        if (change.operation == ConfigChange::Operation::remove) {
          make_null(config.value);
        } else {
          config.value = change.value;
        }
      }
    }
    asker.ask<wire::IncrementalAlterConfigsResponse>(
        broker < 0 ? Target::controller() : Target::broker_id(broker), std::move(request), [all, indexes](auto response) {
          if (!response) {
            return all->failed(indexes, response.error());
          }
          for (const std::size_t index : indexes) {
            ResourceResult& row = all->rows()[index];
            row.error = Error{Errc::corrupt, "the broker does not answer about it"};
            for (const auto& one : response->responses) {
              if (one.resource_name == row.resource.name &&
                  one.resource_type == static_cast<std::int8_t>(row.resource.type)) {
                row.error = error_of(one.error_code, one.error_message);
              }
            }
          }
          all->answered();
        });
  }
}

void AdminQuestions::list_config_resources(std::vector<ResourceType> types, Done<std::vector<Resource>> done) const {
  wire::ListConfigResourcesRequest request;
  const bool old = types.size() == 1 && types.front() == ResourceType::client_metrics;
  if (!old) {
    for (const ResourceType type : types) {
      request.resource_types.push_back(static_cast<std::int8_t>(type));
    }
  }
  const Asker asker{*runner_, bootstrap_, timeout_};
  asker.ask<wire::ListConfigResourcesResponse>(
      Target::any(), std::move(request),
      [done = std::move(done)](auto response) {
        if (!response) {
          return done(Unexpected(std::move(response.error())));
        }
        if (auto error = error_of(response->error_code, std::nullopt)) {
          return done(Unexpected(std::move(*error)));
        }
        std::vector<Resource> rows;
        for (auto& one : response->config_resources) {
          rows.push_back({static_cast<ResourceType>(one.resource_type), std::move(one.resource_name)});
        }
        std::sort(rows.begin(), rows.end());
        done(std::move(rows));
      },
      old ? kOnlyClientMetrics : INT16_MAX);
}

// ---- partitions

void AdminQuestions::delete_records(std::vector<DeleteBefore> queries, Done<std::vector<DeletedRecords>> done) const {
  std::vector<DeletedRecords> rows;
  for (const DeleteBefore& query : queries) {
    rows.push_back({query.partition, -1, {}});
  }
  const Asker asker{*runner_, bootstrap_, timeout_};
  Rounds<DeletedRecords>::start(
      asker, std::move(rows), leaders<DeletedRecords>(),
      [asker, queries = std::move(queries)](Rounds<DeletedRecords>::Wave& wave) {
        wire::DeleteRecordsRequest request;
        request.timeout_ms = milliseconds_of(asker.timeout);
        std::map<TopicPartitionName, std::int64_t> offsets;
        for (const DeleteBefore& query : queries) {
          offsets[query.partition] = query.offset;
        }
        fill_topics(
            request.topics, wave.rows(), wave.indexes, [](auto& topic, const std::string& name) { topic.name = name; },
            [&](auto& topic, const DeletedRecords& row) {
              topic.partitions.push_back(
                  {PartitionIndex(row.partition.partition), Offset(offsets[row.partition]), {}});
            });
        asker.ask_once<wire::DeleteRecordsResponse>(wave, std::move(request), [](auto& waved, auto& response) {
          for (const auto& topic : response.topics) {
            for (const auto& partition : topic.partitions) {
              waved.each(TopicPartitionName{topic.name, partition.partition_index.value()}, partition.error_code, std::nullopt,
                         [&](DeletedRecords& row) { row.low_watermark = partition.low_watermark; });
            }
          }
        });
      },
      std::move(done));
}

void AdminQuestions::list_offsets(std::vector<OffsetQuery> queries, bool read_committed,
                                  Done<std::vector<FoundOffset>> done) const {
  std::vector<FoundOffset> rows;
  for (OffsetQuery& query : queries) {
    rows.push_back({std::move(query.partition), query.timestamp, -1, -1, -1, {}});
  }
  const Asker asker{*runner_, bootstrap_, timeout_};
  Rounds<FoundOffset>::start(
      asker, std::move(rows), leaders<FoundOffset>(),
      [asker, read_committed](Rounds<FoundOffset>::Wave& wave) {
        wire::ListOffsetsRequest request;
        request.replica_id = kNoBroker;
        request.isolation_level = read_committed ? 1 : 0;
        request.timeout_ms = milliseconds_of(asker.timeout);
        fill_topics(
            request.topics, wave.rows(), wave.indexes, [](auto& topic, const std::string& name) { topic.name = name; },
            [](auto& topic, const FoundOffset& row) {
              topic.partitions.push_back(
                  {PartitionIndex(row.partition.partition), kNoLeaderEpoch, row.asked_timestamp, {}});
            });
        asker.ask_once<wire::ListOffsetsResponse>(wave, std::move(request), [](auto& waved, auto& response) {
          for (const auto& topic : response.topics) {
            for (const auto& partition : topic.partitions) {
              waved.each(TopicPartitionName{topic.name, partition.partition_index.value()}, partition.error_code, std::nullopt,
                         [&](FoundOffset& row) {
                           row.offset = partition.offset.value();
                           row.timestamp = partition.timestamp;
                           row.leader_epoch = partition.leader_epoch.value();
                         });
            }
          }
        });
      },
      std::move(done));
}

void AdminQuestions::describe_producers(std::vector<TopicPartitionName> partitions,
                                        Done<std::vector<PartitionProducers>> done) const {
  std::vector<PartitionProducers> rows;
  for (TopicPartitionName& partition : partitions) {
    rows.push_back({std::move(partition), {}, {}});
  }
  const Asker asker{*runner_, bootstrap_, timeout_};
  Rounds<PartitionProducers>::start(
      asker, std::move(rows), leaders<PartitionProducers>(),
      [asker](Rounds<PartitionProducers>::Wave& wave) {
        wire::DescribeProducersRequest request;
        fill_topics(
            request.topics, wave.rows(), wave.indexes, [](auto& topic, const std::string& name) { topic.name = name; },
            [](auto& topic, const PartitionProducers& row) {
              topic.partition_indexes.emplace_back(row.partition.partition);
            });
        asker.ask_once<wire::DescribeProducersResponse>(wave, std::move(request), [](auto& waved, auto& response) {
          for (const auto& topic : response.topics) {
            for (const auto& partition : topic.partitions) {
              waved.each(TopicPartitionName{topic.name, partition.partition_index.value()}, partition.error_code, partition.error_message,
                         [&](PartitionProducers& row) {
                           for (const auto& one : partition.active_producers) {
                             row.producers.push_back({one.producer_id.value(), one.producer_epoch, one.last_sequence,
                                                      one.last_timestamp, one.coordinator_epoch,
                                                      one.current_txn_start_offset.value()});
                           }
                         });
            }
          }
        });
      },
      std::move(done));
}

void AdminQuestions::elect_leaders(bool unclean, std::optional<std::vector<TopicPartitionName>> partitions,
                                   Done<std::vector<Election>> done) const {
  wire::ElectLeadersRequest request;
  request.election_type = unclean ? 1 : 0;
  request.timeout_ms = milliseconds_of(timeout_);
  if (partitions) {
    request.topic_partitions.emplace();
    std::map<std::string, std::vector<PartitionIndex>> topics;
    for (const TopicPartitionName& one : *partitions) {
      topics[one.topic].emplace_back(one.partition);
    }
    for (auto& [topic, indexes] : topics) {
      request.topic_partitions->push_back({topic, std::move(indexes), {}});
    }
  } else {
    make_null(request.topic_partitions);
  }
  const Asker asker{*runner_, bootstrap_, timeout_};
  asker.ask<wire::ElectLeadersResponse>(Target::controller(), std::move(request), [done = std::move(done)](auto response) {
    if (!response) {
      return done(Unexpected(std::move(response.error())));
    }
    if (auto error = error_of(response->error_code, std::nullopt)) {
      return done(Unexpected(std::move(*error)));
    }
    std::vector<Election> rows;
    for (const auto& topic : response->replica_election_results) {
      for (const auto& partition : topic.partition_result) {
        rows.push_back({{topic.topic, partition.partition_id.value()},
                        error_of(partition.error_code, partition.error_message)});
      }
    }
    std::sort(rows.begin(), rows.end(), [](const Election& a, const Election& b) { return a.partition < b.partition; });
    done(std::move(rows));
  });
}

// ---- groups

void AdminQuestions::list_groups(std::vector<std::string> states, std::vector<std::string> types,
                                 Done<std::vector<GroupRow>> done) const {
  wire::ListGroupsRequest request;
  request.states_filter = std::move(states);
  request.types_filter = std::move(types);
  each_broker<wire::ListGroupsResponse, GroupRow>(
      Asker{*runner_, bootstrap_, timeout_}, {}, std::move(request),
      [](std::int32_t broker, const client::Endpoint&, Result<wire::ListGroupsResponse>& response,
         std::vector<GroupRow>& rows) -> std::optional<Error> {
        if (!response) {
          return response.error();
        }
        for (auto& group : response->groups) {
          rows.push_back({std::move(group.group_id), std::move(group.protocol_type), std::move(group.group_state),
                          std::move(group.group_type), broker});
        }
        return error_of(response->error_code, std::nullopt);
      },
      [done = std::move(done)](Result<std::vector<GroupRow>> rows) {
        if (rows) {
          std::sort(rows->begin(), rows->end(), [](const GroupRow& a, const GroupRow& b) { return a.id < b.id; });
        }
        done(std::move(rows));
      });
}

void AdminQuestions::describe_groups(std::vector<std::string> ids, Done<std::vector<GroupDetail>> done) const {
  std::vector<GroupDetail> rows;
  for (std::string& id : ids) {
    rows.emplace_back().id = std::move(id);
  }
  const Asker asker{*runner_, bootstrap_, timeout_};
  Rounds<GroupDetail>::start(
      asker, std::move(rows), coordinators<GroupDetail>(),
      [asker](Rounds<GroupDetail>::Wave& wave) {
        wire::DescribeGroupsRequest request;
        for (const std::size_t index : wave.indexes) {
          request.groups.push_back(wave.rows()[index].id);
        }
        asker.ask_once<wire::DescribeGroupsResponse>(wave, std::move(request), [](auto& waved, auto& response) {
          for (auto& group : response.groups) {
            waved.each(group.group_id, group.error_code, group.error_message, [&](GroupDetail& row) {
              row.state = group.group_state;
              row.protocol_type = group.protocol_type;
              row.protocol = group.protocol_data;
              row.coordinator = waved.broker;
              for (auto& one : group.members) {
                GroupDetail::Member& member = row.members.emplace_back();
                member.id = std::move(one.member_id);
                member.instance_id = std::move(one.group_instance_id);
                member.client_id = std::move(one.client_id);
                member.host = std::move(one.client_host);
                if (row.protocol_type == "consumer") {
                  for (auto& [topic, partition] :
                       client::decode_assignment(one.member_assignment).value_or(std::vector<client::TopicPartition>{})) {
                    member.partitions.push_back({topic, partition});
                  }
                }
              }
            });
          }
        });
      },
      [asker, done = std::move(done)](Result<std::vector<GroupDetail>> described) {
        if (!described) {
          return done(std::move(described));
        }
        describe_consumer_groups(asker, std::move(*described), done);
      });
}

void AdminQuestions::delete_groups(std::vector<std::string> ids, Done<std::vector<GroupResult>> done) const {
  std::vector<GroupResult> rows;
  for (std::string& id : ids) {
    rows.push_back({std::move(id), {}});
  }
  const Asker asker{*runner_, bootstrap_, timeout_};
  Rounds<GroupResult>::start(
      asker, std::move(rows), coordinators<GroupResult>(),
      [asker](Rounds<GroupResult>::Wave& wave) {
        wire::DeleteGroupsRequest request;
        for (const std::size_t index : wave.indexes) {
          request.groups_names.push_back(wave.rows()[index].id);
        }
        asker.ask_once<wire::DeleteGroupsResponse>(wave, std::move(request), [](auto& waved, auto& response) {
          for (const auto& group : response.results) {
            waved.each(group.group_id, group.error_code, group.error_message, [](GroupResult&) {});
          }
        });
      },
      std::move(done));
}

void AdminQuestions::group_offsets(std::string group, std::optional<std::vector<TopicPartitionName>> partitions,
                                   Done<std::vector<GroupOffset>> done) const {
  wire::OffsetFetchRequest request;
  request.group_id = group;
  if (partitions) {
    std::map<std::string, std::vector<PartitionIndex>> topics;
    for (const TopicPartitionName& one : *partitions) {
      topics[one.topic].emplace_back(one.partition);
    }
    request.topics.emplace();
    for (auto& [topic, indexes] : topics) {
      request.topics->push_back({topic, std::move(indexes), {}});
    }
  } else {
    make_null(request.topics);
  }
  const Asker asker{*runner_, bootstrap_, timeout_};
  asker.ask<wire::OffsetFetchResponse>(
      Target::coordinator_of(std::move(group)), std::move(request),
      [done = std::move(done)](auto response) {
        if (!response) {
          return done(Unexpected(std::move(response.error())));
        }
        if (auto error = error_of(response->error_code, std::nullopt)) {
          return done(Unexpected(std::move(*error)));
        }
        std::vector<GroupOffset> rows;
        for (const auto& topic : response->topics) {
          for (const auto& partition : topic.partitions) {
            rows.push_back({{topic.name, partition.partition_index.value()},
                            partition.committed_offset.value(),
                            partition.committed_leader_epoch.value(),
                            partition.metadata.value_or(""),
                            error_of(partition.error_code, std::nullopt)});
          }
        }
        std::sort(rows.begin(), rows.end(),
                  [](const GroupOffset& a, const GroupOffset& b) { return a.partition < b.partition; });
        done(std::move(rows));
      },
      kOffsetsOfOneGroup);
}

void AdminQuestions::commit_group_offsets(std::string group, std::vector<GroupOffset> offsets,
                                          Done<std::vector<PartitionResult>> done) const {
  wire::OffsetCommitRequest request;
  request.group_id = group;
  std::vector<std::size_t> all(offsets.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  fill_topics(
      request.topics, offsets, all, [](auto& topic, const std::string& name) { topic.name = name; },
      [](auto& topic, const GroupOffset& row) {
        auto& partition = topic.partitions.emplace_back();
        partition.partition_index = PartitionIndex(row.partition.partition);
        partition.committed_offset = Offset(row.offset);
        partition.committed_leader_epoch = LeaderEpoch(row.leader_epoch);
        partition.committed_metadata = row.metadata;
      });
  const Asker asker{*runner_, bootstrap_, timeout_};
  asker.ask<wire::OffsetCommitResponse>(
      Target::coordinator_of(std::move(group)), std::move(request),
      [names = names_of(offsets), done = std::move(done)](auto response) {
        if (!response) {
          return done(Unexpected(std::move(response.error())));
        }
        done(results_of(names, response->topics));
      },
      kCommitByName);
}

void AdminQuestions::delete_group_offsets(std::string group, std::vector<TopicPartitionName> partitions,
                                          Done<std::vector<PartitionResult>> done) const {
  wire::OffsetDeleteRequest request;
  request.group_id = group;
  std::map<std::string, std::vector<std::int32_t>> topics;
  for (const TopicPartitionName& one : partitions) {
    topics[one.topic].push_back(one.partition);
  }
  for (const auto& [name, indexes] : topics) {
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    for (const std::int32_t index : indexes) {
      topic.partitions.push_back({PartitionIndex(index)});
    }
  }
  const Asker asker{*runner_, bootstrap_, timeout_};
  asker.ask<wire::OffsetDeleteResponse>(
      Target::coordinator_of(std::move(group)), std::move(request),
      [names = std::move(partitions), done = std::move(done)](auto response) {
        if (!response) {
          return done(Unexpected(std::move(response.error())));
        }
        if (auto error = error_of(response->error_code, std::nullopt)) {
          return done(Unexpected(std::move(*error)));
        }
        done(results_of(names, response->topics));
      });
}

// ---- brokers and cluster

void AdminQuestions::describe_log_dirs(std::vector<std::int32_t> brokers, Done<std::vector<LogDirectory>> done) const {
  wire::DescribeLogDirsRequest request;
  make_null(request.topics);
  each_broker<wire::DescribeLogDirsResponse, LogDirectory>(
      Asker{*runner_, bootstrap_, timeout_}, std::move(brokers), std::move(request),
      [](std::int32_t broker, const client::Endpoint&, Result<wire::DescribeLogDirsResponse>& response,
         std::vector<LogDirectory>& rows) -> std::optional<Error> {
        std::optional<Error> whole = response ? error_of(response->error_code, std::nullopt) : response.error();
        if (whole) {
          LogDirectory& row = rows.emplace_back();
          row.broker = broker;
          row.error = std::move(whole);
          return {};
        }
        for (auto& directory : response->results) {
          LogDirectory& row = rows.emplace_back();
          row.broker = broker;
          row.path = std::move(directory.log_dir);
          row.total_bytes = directory.total_bytes;
          row.usable_bytes = directory.usable_bytes;
          row.error = error_of(directory.error_code, std::nullopt);
          for (const auto& topic : directory.topics) {
            for (const auto& partition : topic.partitions) {
              row.replicas.push_back({{topic.name, partition.partition_index.value()},
                                      partition.partition_size,
                                      partition.offset_lag,
                                      partition.is_future_key});
            }
          }
          std::sort(row.replicas.begin(), row.replicas.end(),
                    [](const auto& a, const auto& b) { return a.partition < b.partition; });
        }
        return {};
      },
      std::move(done));
}

void AdminQuestions::describe_cluster(Done<ClusterDescription> done) const {
  wire::DescribeClusterRequest request;
  const Asker asker{*runner_, bootstrap_, timeout_};
  asker.ask<wire::DescribeClusterResponse>(Target::any(), std::move(request), [done = std::move(done)](auto response) {
    if (!response) {
      return done(Unexpected(std::move(response.error())));
    }
    if (auto error = error_of(response->error_code, response->error_message)) {
      return done(Unexpected(std::move(*error)));
    }
    ClusterDescription cluster{response->cluster_id, response->controller_id.value(), {}};
    for (auto& one : response->brokers) {
      cluster.brokers.push_back({one.broker_id.value(), std::move(one.host), one.port, one.rack.value_or(""), one.is_fenced});
    }
    std::sort(cluster.brokers.begin(), cluster.brokers.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    done(std::move(cluster));
  });
}

void AdminQuestions::api_versions(Done<std::vector<BrokerVersions>> done) const {
  wire::ApiVersionsRequest request;
  request.client_software_name = "highwater";
  request.client_software_version = "1.0";
  each_broker<wire::ApiVersionsResponse, BrokerVersions>(
      Asker{*runner_, bootstrap_, timeout_}, {}, std::move(request),
      [](std::int32_t broker, const client::Endpoint& at, Result<wire::ApiVersionsResponse>& response,
         std::vector<BrokerVersions>& rows) -> std::optional<Error> {
        BrokerVersions& row = rows.emplace_back();
        row.broker = broker;
        row.address = at.text();
        row.error = response ? error_of(response->error_code, std::nullopt) : response.error();
        if (row.error) {
          return {};
        }
        for (const auto& api : response->api_keys) {
          const wire::ApiInfo* info = wire::find_api(api.api_key);
          row.apis.push_back({api.api_key, info == nullptr ? "" : std::string(info->name), api.min_version, api.max_version});
        }
        std::sort(row.apis.begin(), row.apis.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
        for (const auto& feature : response->supported_features) {
          row.features.push_back({feature.name, feature.min_version, feature.max_version, {}});
        }
        for (const auto& feature : response->finalized_features) {
          for (auto& known : row.features) {
            if (known.name == feature.name) {
              known.finalized = feature.max_version_level;
            }
          }
        }
        std::sort(row.features.begin(), row.features.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
        row.finalized_epoch = response->finalized_features_epoch;
        return {};
      },
      std::move(done), kApiVersionsHighest);
}

void AdminQuestions::describe_quorum(Done<QuorumDescription> done) const {
  wire::DescribeQuorumRequest request;
  auto& topic = request.topics.emplace_back();
  topic.topic_name = "__cluster_metadata";
  topic.partitions.emplace_back();
  const Asker asker{*runner_, bootstrap_, timeout_};
  asker.ask<wire::DescribeQuorumResponse>(Target::any(), std::move(request), [done = std::move(done)](auto response) {
    if (!response) {
      return done(Unexpected(std::move(response.error())));
    }
    if (auto error = error_of(response->error_code, response->error_message)) {
      return done(Unexpected(std::move(*error)));
    }
    if (response->topics.size() != 1 || response->topics.front().partitions.size() != 1) {
      return done(fail(Errc::corrupt, "the broker does not answer about its metadata log"));
    }
    auto& partition = response->topics.front().partitions.front();
    if (auto error = error_of(partition.error_code, partition.error_message)) {
      return done(Unexpected(std::move(*error)));
    }
    QuorumDescription quorum;
    quorum.leader = partition.leader_id.value();
    quorum.leader_epoch = partition.leader_epoch.value();
    quorum.high_watermark = partition.high_watermark;
    const auto replicas = [](const auto& states) {
      std::vector<QuorumDescription::Replica> made;
      for (const auto& one : states) {
        made.push_back({one.replica_id.value(), one.replica_directory_id.text(), one.log_end_offset.value(),
                        one.last_fetch_timestamp, one.last_caught_up_timestamp});
      }
      return made;
    };
    quorum.voters = replicas(partition.current_voters);
    quorum.observers = replicas(partition.observers);
    for (const auto& node : response->nodes) {
      for (const auto& listener : node.listeners) {
        quorum.endpoints.push_back({node.node_id.value(), listener.name, listener.host, listener.port});
      }
    }
    done(std::move(quorum));
  });
}

void AdminQuestions::add_voter(std::int32_t node, const Uuid& directory, std::vector<QuorumDescription::Endpoint> listeners,
                               std::function<void(Result<void>)> done) const {
  wire::AddRaftVoterRequest request;
  make_null(request.cluster_id);  // whichever cluster answers
  request.timeout_ms = static_cast<std::int32_t>(timeout_.ns / milliseconds(1).ns);
  request.voter_id = node;
  request.voter_directory_id = directory;
  for (QuorumDescription::Endpoint& endpoint : listeners) {
    auto& listener = request.listeners.emplace_back();
    listener.name = std::move(endpoint.listener);
    listener.host = std::move(endpoint.host);
    listener.port = endpoint.port;
  }
  const Asker asker{*runner_, bootstrap_, timeout_};
  asker.ask<wire::AddRaftVoterResponse>(Target::any(), std::move(request), [done = std::move(done)](auto response) {
    done(outcome_of(std::move(response)));
  });
}

void AdminQuestions::remove_voter(std::int32_t node, const Uuid& directory, std::function<void(Result<void>)> done) const {
  wire::RemoveRaftVoterRequest request;
  make_null(request.cluster_id);
  request.voter_id = node;
  request.voter_directory_id = directory;
  const Asker asker{*runner_, bootstrap_, timeout_};
  asker.ask<wire::RemoveRaftVoterResponse>(Target::any(), std::move(request), [done = std::move(done)](auto response) {
    done(outcome_of(std::move(response)));
  });
}

// ---- quotas

void AdminQuestions::describe_quotas(QuotaFilter filter, Done<std::vector<QuotaRow>> done) const {
  wire::DescribeClientQuotasRequest request;
  request.strict = filter.strict;
  for (QuotaFilter::Part& part : filter.parts) {
    auto& component = request.components.emplace_back();
    component.entity_type = std::move(part.type);
    component.match_type = static_cast<std::int8_t>(part.match);
    if (part.match == QuotaFilter::Match::exact) {
      component.match = std::move(part.name);
    } else {
      make_null(component.match);
    }
  }
  const Asker asker{*runner_, bootstrap_, timeout_};
  asker.ask<wire::DescribeClientQuotasResponse>(Target::any(), std::move(request), [done = std::move(done)](auto response) {
    if (!response) {
      return done(Unexpected(std::move(response.error())));
    }
    if (auto error = error_of(response->error_code, response->error_message)) {
      return done(Unexpected(std::move(*error)));
    }
    std::vector<QuotaRow> rows;
    if (response->entries) {
      for (auto& entry : *response->entries) {
        QuotaRow& row = rows.emplace_back();
        for (auto& part : entry.entity) {
          row.entity.emplace_back(std::move(part.entity_type), std::move(part.entity_name));
        }
        for (auto& value : entry.values) {
          row.values.emplace_back(std::move(value.key), value.value);
        }
        std::sort(row.entity.begin(), row.entity.end());
        std::sort(row.values.begin(), row.values.end());
      }
    }
    std::sort(rows.begin(), rows.end(), [](const QuotaRow& a, const QuotaRow& b) { return a.entity < b.entity; });
    done(std::move(rows));
  });
}

void AdminQuestions::alter_quotas(std::vector<QuotaChange> changes, bool validate_only,
                                  Done<std::vector<QuotaResult>> done) const {
  wire::AlterClientQuotasRequest request;
  request.validate_only = validate_only;
  for (const QuotaChange& change : changes) {
    auto& entry = request.entries.emplace_back();
    for (const auto& [type, name] : change.entity) {
      entry.entity.push_back({type, name, {}});
    }
    for (const auto& [key, value] : change.values) {
      entry.ops.push_back({key, value.value_or(0), !value.has_value(), {}});
    }
  }
  const Asker asker{*runner_, bootstrap_, timeout_};
  asker.ask<wire::AlterClientQuotasResponse>(
      Target::controller(), std::move(request), [done = std::move(done)](auto response) {
        if (!response) {
          return done(Unexpected(std::move(response.error())));
        }
        std::vector<QuotaResult> rows;
        for (auto& entry : response->entries) {
          QuotaResult& row = rows.emplace_back();
          for (auto& part : entry.entity) {
            row.entity.emplace_back(std::move(part.entity_type), std::move(part.entity_name));
          }
          row.error = error_of(entry.error_code, entry.error_message);
        }
        done(std::move(rows));
      });
}

}  // namespace hw::node
