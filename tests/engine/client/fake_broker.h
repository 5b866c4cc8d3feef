// SPDX-License-Identifier: Apache-2.0
// A cluster of brokers played in memory, frame by frame, in virtual time: enough of Kafka for a client core, and switches for
// what goes wrong. Harness drives a core against it without sockets.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/client/assignor.h"
#include "engine/client/io.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/apis.h"
#include "engine/wire/msg/consumer_group_heartbeat.h"
#include "engine/wire/msg/create_partitions.h"
#include "engine/wire/msg/create_topics.h"
#include "engine/wire/msg/delete_topics.h"
#include "engine/wire/msg/fetch.h"
#include "engine/wire/msg/find_coordinator.h"
#include "engine/wire/msg/heartbeat.h"
#include "engine/wire/msg/init_producer_id.h"
#include "engine/wire/msg/join_group.h"
#include "engine/wire/msg/leave_group.h"
#include "engine/wire/msg/list_groups.h"
#include "engine/wire/msg/list_offsets.h"
#include "engine/wire/msg/metadata.h"
#include "engine/wire/msg/offset_commit.h"
#include "engine/wire/msg/offset_fetch.h"
#include "engine/wire/msg/offset_for_leader_epoch.h"
#include "engine/wire/msg/produce.h"
#include "engine/wire/msg/sync_group.h"
#include "engine/wire/record/batch_builder.h"
#include "engine/wire/record/record_iterator.h"
#include "engine/wire/record/validate.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

namespace hw::client::fake {

using wire::ErrorCode;

struct Stored {
  std::int64_t offset = 0;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
};

class FakeCluster {
 public:
  struct Log {
    std::int32_t leader = 1;
    std::int32_t epoch = 0;
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int32_t nearer = 0;        // a follower that readers of `nearer_rack` are sent to; 0: none
    std::int64_t nearer_start = 0;  // where that follower's log begins
    std::vector<Bytes> batches;
    std::vector<std::pair<std::int64_t, std::int64_t>> aborted;  // first offset, producer
    std::map<std::int32_t, std::int64_t> epoch_ends;  // where leader epochs end; others are not known
    struct Producer {
      std::int16_t epoch = 0;
      std::int32_t next = -1;  // -1: nothing is known of it, and any sequence will do
      std::deque<std::pair<std::int32_t, std::int64_t>> last;  // of the last five batches: base sequence, base offset
    };
    std::map<std::int64_t, Producer> producers;
  };
  struct Seen {
    std::int16_t api = 0;
    std::int16_t version = 0;
    std::int32_t broker = 0;
  };

  // ---- what a test sets
  std::map<std::string, std::vector<Log>> topics;
  std::map<std::int32_t, Endpoint> brokers{{1, {"one", 1}}, {2, {"two", 2}}};
  std::set<std::int32_t> down;
  std::map<std::int16_t, std::deque<ErrorCode>> errors;  // by API, one for each coming request
  std::map<std::int16_t, std::pair<std::int16_t, std::int16_t>> ranges;  // other versions than ours; {1, 0}: not offered
  std::int16_t api_versions_highest = 4;
  std::function<bool(const Seen&)> cut_before;  // true: the link ends instead of the request being served
  std::function<bool(const Seen&)> cut_after;   // true: the request is served, but the link ends before the answer
  std::function<bool(const Seen&)> silent;      // true: the request is served, but the answer never comes, and the link stands
  std::int32_t coordinator = 1;
  std::vector<std::pair<std::string, std::vector<std::string>>> other_members;  // of the group, with their topics
  std::int32_t auto_create_partitions = 0;
  std::string nearer_rack;
  // Topics that have an id. Produce and Fetch are played by name only: tests with ids set their ranges.
  std::map<std::string, Uuid> ids;

  // Of a consumer group (KIP-848): what its member is to have, told when it is given and to who tells all.
  void give(std::vector<std::pair<Uuid, std::int32_t>> partitions) {
    given = std::move(partitions);
    give_next = true;
  }

  // ---- what a test looks at
  std::vector<Seen> seen;
  std::map<TopicPartition, std::int64_t> committed;
  LeaderEpoch committed_epoch = kNoLeaderEpoch;                   // told of each of them
  std::map<std::string, std::vector<TopicPartition>> assignment;  // by member
  std::int32_t generation = 0;
  std::string member;
  std::int64_t next_producer_id = 100;
  std::vector<wire::ConsumerGroupHeartbeatRequest> heard;  // from members of a consumer group
  std::vector<std::string> wrong;  // requests that no good client sends
  std::vector<std::string> racks;  // of the Fetch requests
  std::optional<std::string> subscribed_rack;  // of the member's subscription

  [[nodiscard]] std::string name_of(const Uuid& id) const {
    for (const auto& [name, known] : ids) {
      if (known == id) {
        return name;
      }
    }
    return {};
  }
  [[nodiscard]] std::int16_t version_of(std::int16_t api) const {  // of the last such request; -1: none
    for (auto at = seen.rbegin(); at != seen.rend(); ++at) {
      if (at->api == api) {
        return at->version;
      }
    }
    return -1;
  }
  [[nodiscard]] std::size_t count(std::int16_t api) const {
    std::size_t n = 0;
    for (const Seen& one : seen) {
      n += one.api == api ? 1 : 0;
    }
    return n;
  }
  void create(const std::string& topic, std::size_t partitions) { topics[topic].resize(partitions); }
  void append(const std::string& topic, std::size_t partition, const std::vector<std::string>& values,
              wire::BatchOptions options = {}) {
    Log& log = topics.at(topic).at(partition);
    options.base_offset = Offset{log.end};
    wire::BatchBuilder builder(options);
    for (const std::string& value : values) {
      builder.append(std::nullopt, value, 1000);
    }
    log.batches.push_back(builder.finish());
    log.end += static_cast<std::int64_t>(values.size());
  }
  [[nodiscard]] std::vector<Stored> records(const std::string& topic, std::size_t partition) const {
    std::vector<Stored> all;
    for (const Bytes& batch : topics.at(topic).at(partition).batches) {
      auto iterator = wire::RecordIterator::open(wire::BatchView(batch.span()));
      HW_ASSERT(iterator.has_value(), "the batch decodes");
      const auto text = [](const std::optional<ByteSpan>& bytes) {
        return bytes ? std::optional<std::string>(as_text(*bytes)) : std::nullopt;
      };
      for (wire::RecordView record; iterator->next(record);) {
        Stored stored{record.offset.value(), text(record.key), text(record.value), {}};
        wire::HeaderCursor headers = record.headers();
        for (wire::HeaderView header; headers.next(header);) {
          stored.headers.emplace_back(std::string(header.key), text(header.value));
        }
        all.push_back(std::move(stored));
      }
      HW_ASSERT(!iterator->failed(), "the batch is whole");
    }
    return all;
  }

  struct Reply {
    BytesChain frame;      // without length; empty with `cut` or where no answer is owed
    bool cut = false;
    Duration hold{};       // a Fetch that waits for data
  };
  Reply serve(std::int32_t broker, const Bytes& request);

 private:
  ErrorCode next_error(std::int16_t api) {
    std::deque<ErrorCode>& queue = errors[api];
    if (queue.empty()) {
      return ErrorCode::none;
    }
    const ErrorCode error = queue.front();
    queue.pop_front();
    return error;
  }
  std::vector<std::pair<Uuid, std::int32_t>> given;
  bool give_next = false;
  void hear(const wire::ConsumerGroupHeartbeatRequest& request, wire::ConsumerGroupHeartbeatResponse& response);

  template <class Request, class Response>
  Bytes with(wire::Reader& reader, std::int16_t version, const std::function<void(Request&, Response&)>& handle) {
    Request request;
    if (!decode(reader, request, version) || reader.remaining() != 0) {
      wrong.push_back(std::string("undecodable ").append(Request::kName));
      return {};
    }
    Response response;
    handle(request, response);
    wire::Writer writer;
    const bool good = encode(writer, response, version);
    HW_ASSERT(good, "the fake's answer fits the version");
    return writer.finish().flatten();
  }
  Log* log_of(const std::string& topic, std::int32_t partition, std::int32_t broker, ErrorCode& error);
  void produce(std::int32_t broker, wire::ProduceRequest& request, wire::ProduceResponse& response);
  void fetch(std::int32_t broker, wire::FetchRequest& request, wire::FetchResponse& response, Duration& hold);
};

inline void FakeCluster::hear(const wire::ConsumerGroupHeartbeatRequest& request,
                              wire::ConsumerGroupHeartbeatResponse& response) {
  heard.push_back(request);
  response.member_id = request.member_id;
  response.heartbeat_interval_ms = 700;
  response.member_epoch = request.member_epoch;
  if (request.member_epoch < 0) {
    member.clear();
    return;
  }
  if (request.member_epoch == 0) {
    if (!request.topic_partitions || !request.topic_partitions->empty() || request.rebalance_timeout_ms < 0) {
      wrong.emplace_back("a first heartbeat that does not say all");
    }
    member = request.member_id;
    ++generation;
  } else if (request.member_epoch != generation || request.member_id != member) {
    response.error_code = ErrorCode::fenced_member_epoch;
    return;
  }
  response.member_epoch = generation;
  if (give_next || request.rebalance_timeout_ms >= 0) {
    give_next = false;
    auto& topics_given = response.assignment.emplace().topic_partitions;
    for (const auto& [id, partition] : given) {
      auto& one = topics_given.emplace_back();
      one.topic_id = id;
      one.partitions.emplace_back(partition);
    }
  }
}

inline FakeCluster::Log* FakeCluster::log_of(const std::string& topic, std::int32_t partition, std::int32_t broker,
                                             ErrorCode& error) {
  const auto found = topics.find(topic);
  if (found == topics.end() || partition < 0 || static_cast<std::size_t>(partition) >= found->second.size()) {
    error = ErrorCode::unknown_topic_or_partition;
    return nullptr;
  }
  Log& log = found->second[static_cast<std::size_t>(partition)];
  if (log.leader != broker) {
    error = ErrorCode::not_leader_or_follower;
    return nullptr;
  }
  return &log;
}

inline void FakeCluster::produce(std::int32_t broker, wire::ProduceRequest& request, wire::ProduceResponse& response) {
  for (auto& topic : request.topic_data) {
    auto& answers = response.responses.emplace_back();
    answers.name = topic.name;
    for (auto& data : topic.partition_data) {
      auto& answer = answers.partition_responses.emplace_back();
      answer.index = data.index;
      answer.base_offset = kNoOffset;
      answer.error_code = next_error(wire::ProduceRequest::kApiKey);
      if (answer.error_code != ErrorCode::none) {
        continue;
      }
      Log* log = log_of(topic.name, data.index, broker, answer.error_code);
      if (log == nullptr) {
        continue;
      }
      Bytes bytes = Bytes::copy_of(data.records->flatten().span());
      const wire::BatchRead read = wire::read_batch(bytes.span());
      if (read.status != wire::BatchStatus::ok || read.size != bytes.size() || !wire::batch_intact(read.view)) {
        wrong.emplace_back("a broken batch");
        continue;
      }
      if (read.view.has_producer_id()) {
        Log::Producer& producer = log->producers[read.view.producer_id().value()];
        if (read.view.producer_epoch().value() < producer.epoch) {
          answer.error_code = ErrorCode::invalid_producer_epoch;
          continue;
        }
        if (read.view.producer_epoch().value() > producer.epoch) {
          producer = {read.view.producer_epoch().value(), 0, {}};
        }
        const auto known = std::find_if(producer.last.begin(), producer.last.end(), [&](const auto& one) {
          return one.first == read.view.base_sequence();
        });
        if (known != producer.last.end()) {
          answer.base_offset = Offset{known->second};
          continue;
        }
        if (producer.next >= 0 && read.view.base_sequence() != producer.next) {
          answer.error_code = ErrorCode::out_of_order_sequence_number;
          continue;
        }
        producer.next = read.view.base_sequence() + read.view.count();
        producer.last.emplace_back(read.view.base_sequence(), log->end);
        if (producer.last.size() > 5) {
          producer.last.pop_front();
        }
      }
      wire::set_base_offset({bytes.unique_data(), bytes.size()}, Offset{log->end});
      answer.base_offset = Offset{log->end};
      log->end += wire::BatchView(bytes.span()).count();
      log->batches.push_back(std::move(bytes));
    }
  }
}

inline void FakeCluster::fetch(std::int32_t broker, wire::FetchRequest& request, wire::FetchResponse& response,
                               Duration& hold) {
  response.error_code = next_error(wire::FetchRequest::kApiKey);
  racks.push_back(request.rack_id);
  bool wait = response.error_code == ErrorCode::none;
  for (auto& topic : request.topics) {
    auto& answers = response.responses.emplace_back();
    answers.topic = topic.topic;
    for (auto& asked : topic.partitions) {
      auto& answer = answers.partitions.emplace_back();
      answer.partition_index = asked.partition;
      answer.high_watermark = -1;
      Log* log = log_of(topic.topic, asked.partition.value(), broker, answer.error_code);
      if (log == nullptr) {
        Log& other = topics.at(topic.topic)[static_cast<std::size_t>(asked.partition.value())];
        if (other.nearer == broker) {
          answer.error_code = ErrorCode::none;
          log = &other;
        }
      }
      if (log == nullptr) {
        wait = false;
        continue;
      }
      if (log->nearer != 0 && log->leader == broker && !nearer_rack.empty() && request.rack_id == nearer_rack) {
        answer.preferred_read_replica = BrokerId{log->nearer};
        wait = false;
        continue;
      }
      if (log->nearer == broker && asked.fetch_offset.value() < log->nearer_start) {
        answer.error_code = ErrorCode::offset_out_of_range;
        wait = false;
        continue;
      }
      if (asked.current_leader_epoch != kNoLeaderEpoch && asked.current_leader_epoch.value() < log->epoch) {
        answer.error_code = ErrorCode::fenced_leader_epoch;
        wait = false;
        continue;
      }
      const std::int64_t offset = asked.fetch_offset.value();
      answer.high_watermark = log->end;
      answer.last_stable_offset = Offset{log->end};
      answer.log_start_offset = Offset{log->start};
      if (offset < log->start || offset > log->end) {
        answer.error_code = ErrorCode::offset_out_of_range;
        wait = false;
        continue;
      }
      BytesChain records;
      for (const Bytes& batch : log->batches) {
        if (wire::BatchView(batch.span()).next_offset().value() > offset) {
          records.append(batch);
        }
      }
      wait = wait && records.empty();
      answer.records = std::move(records);
      if (request.isolation_level == 1) {
        answer.aborted_transactions.emplace();
        for (const auto& [first, producer] : log->aborted) {
          auto& aborted = answer.aborted_transactions->emplace_back();
          aborted.first_offset = Offset{first};
          aborted.producer_id = ProducerId{producer};
        }
      }
    }
  }
  hold = wait ? milliseconds(request.max_wait_ms) : Duration{};
}

inline FakeCluster::Reply FakeCluster::serve(std::int32_t broker, const Bytes& frame) {
  wire::Reader reader(frame);
  const std::int16_t api = reader.int16();
  const std::int16_t version = reader.int16();
  const std::int32_t correlation = reader.int32();
  const int header = wire::request_header_version(api, version);
  (void)reader.nullable_string(false);
  if (header >= 2) {
    std::vector<wire::RawTaggedField> unknown;
    (void)reader.skip_tags(unknown);
  }
  const Seen now{api, version, broker};
  seen.push_back(now);
  Reply reply;
  if (cut_before && cut_before(now)) {
    reply.cut = true;
    return reply;
  }
  std::int16_t answer_version = version;
  Bytes body;
  bool owed = true;
  switch (api) {
    case wire::ApiVersionsRequest::kApiKey: {
      wire::ApiVersionsResponse response;
      if (version > api_versions_highest) {
        answer_version = 0;
        response.error_code = ErrorCode::unsupported_version;
        auto& own = response.api_keys.emplace_back();
        own.api_key = api;
        own.min_version = 0;
        own.max_version = api_versions_highest;
      } else {
        for (const wire::ApiInfo& info : wire::all_apis()) {
          auto& range = response.api_keys.emplace_back();
          range.api_key = info.key;
          range.min_version = info.advertised_lowest;
          range.max_version = info.advertised_highest;
          if (const auto other = ranges.find(info.key); other != ranges.end()) {
            range.min_version = other->second.first;
            range.max_version = other->second.second;
            if (range.min_version > range.max_version) {
              response.api_keys.pop_back();
            }
          }
        }
      }
      wire::Writer writer;
      const bool good = encode(writer, response, answer_version);
      HW_ASSERT(good, "ApiVersions fits");
      body = writer.finish().flatten();
      break;
    }
    case wire::MetadataRequest::kApiKey:
      body = with<wire::MetadataRequest, wire::MetadataResponse>(
          reader, version, [&](wire::MetadataRequest& request, wire::MetadataResponse& response) {
            response.cluster_id = "fake";
            response.controller_id = BrokerId{1};
            for (const auto& [id, endpoint] : brokers) {
              auto& one = response.brokers.emplace_back();
              one.node_id = BrokerId{id};
              one.host = endpoint.host;
              one.port = endpoint.port;
            }
            std::vector<std::string> names;
            if (request.topics) {
              for (const auto& topic : *request.topics) {
                names.push_back(*topic.name);
              }
            } else {
              for (const auto& [name, logs] : topics) {
                names.push_back(name);
              }
            }
            for (const std::string& name : names) {
              auto& topic = response.topics.emplace_back();
              topic.name = name;
              if (const auto id = ids.find(name); id != ids.end()) {
                topic.topic_id = id->second;
              }
              const auto found = topics.find(name);
              if (found == topics.end()) {
                topic.error_code = ErrorCode::unknown_topic_or_partition;
                if (request.allow_auto_topic_creation && auto_create_partitions > 0) {
                  create(name, static_cast<std::size_t>(auto_create_partitions));  // seen by the next one
                }
                continue;
              }
              for (std::size_t i = 0; i < found->second.size(); ++i) {
                auto& partition = topic.partitions.emplace_back();
                partition.partition_index = PartitionIndex{static_cast<std::int32_t>(i)};
                partition.leader_id = BrokerId{found->second[i].leader};
                partition.leader_epoch = LeaderEpoch{found->second[i].epoch};
              }
            }
          });
      break;
    case wire::InitProducerIdRequest::kApiKey:
      body = with<wire::InitProducerIdRequest, wire::InitProducerIdResponse>(
          reader, version, [&](wire::InitProducerIdRequest& request, wire::InitProducerIdResponse& response) {
            if (request.transactional_id) {
              wrong.emplace_back("a transactional id");
            }
            response.error_code = next_error(api);
            if (response.error_code == ErrorCode::none) {
              response.producer_id = ProducerId{next_producer_id++};
              response.producer_epoch = ProducerEpoch{0};
            }
          });
      break;
    case wire::ProduceRequest::kApiKey:
      body = with<wire::ProduceRequest, wire::ProduceResponse>(
          reader, version, [&](wire::ProduceRequest& request, wire::ProduceResponse& response) {
            owed = request.acks != 0;
            produce(broker, request, response);
          });
      break;
    case wire::FetchRequest::kApiKey:
      body = with<wire::FetchRequest, wire::FetchResponse>(
          reader, version, [&](wire::FetchRequest& request, wire::FetchResponse& response) {
            fetch(broker, request, response, reply.hold);
          });
      break;
    case wire::ListOffsetsRequest::kApiKey:
      body = with<wire::ListOffsetsRequest, wire::ListOffsetsResponse>(
          reader, version, [&](wire::ListOffsetsRequest& request, wire::ListOffsetsResponse& response) {
            for (const auto& topic : request.topics) {
              auto& answers = response.topics.emplace_back();
              answers.name = topic.name;
              for (const auto& asked : topic.partitions) {
                auto& answer = answers.partitions.emplace_back();
                answer.partition_index = asked.partition_index;
                answer.error_code = next_error(api);
                if (answer.error_code != ErrorCode::none) {
                  continue;
                }
                const Log* log = log_of(topic.name, asked.partition_index.value(), broker, answer.error_code);
                if (log != nullptr) {
                  answer.offset = Offset{asked.timestamp == -2 ? log->start : log->end};
                }
              }
            }
          });
      break;
    case wire::OffsetForLeaderEpochRequest::kApiKey:
      body = with<wire::OffsetForLeaderEpochRequest, wire::OffsetForLeaderEpochResponse>(
          reader, version, [&](wire::OffsetForLeaderEpochRequest& request, wire::OffsetForLeaderEpochResponse& response) {
            for (const auto& topic : request.topics) {
              auto& answers = response.topics.emplace_back();
              answers.topic = topic.topic;
              for (const auto& asked : topic.partitions) {
                auto& answer = answers.partitions.emplace_back();
                answer.partition = asked.partition;
                Log* log = log_of(topic.topic, asked.partition.value(), broker, answer.error_code);
                if (log != nullptr && log->epoch_ends.count(asked.leader_epoch.value()) != 0) {
                  answer.leader_epoch = asked.leader_epoch;
                  answer.end_offset = Offset{log->epoch_ends.at(asked.leader_epoch.value())};
                }
              }
            }
          });
      break;
    case wire::FindCoordinatorRequest::kApiKey:
      body = with<wire::FindCoordinatorRequest, wire::FindCoordinatorResponse>(
          reader, version, [&](wire::FindCoordinatorRequest&, wire::FindCoordinatorResponse& response) {
            response.error_code = next_error(api);
            response.node_id = BrokerId{coordinator};
            response.host = brokers.at(coordinator).host;
            response.port = brokers.at(coordinator).port;
          });
      break;
    case wire::JoinGroupRequest::kApiKey:
      body = with<wire::JoinGroupRequest, wire::JoinGroupResponse>(
          reader, version, [&](wire::JoinGroupRequest& request, wire::JoinGroupResponse& response) {
            response.error_code = broker != coordinator ? ErrorCode::not_coordinator : next_error(api);
            if (response.error_code != ErrorCode::none) {
              return;
            }
            if (request.member_id.empty()) {
              response.error_code = ErrorCode::member_id_required;
              response.member_id = "m" + std::to_string(seen.size());
              return;
            }
            member = request.member_id;
            subscribed_rack.reset();
            if (const auto told = decode_subscription(Assignor::range, request.protocols.front().metadata)) {
              subscribed_rack = told->rack;
            }
            response.generation_id = ++generation;
            response.member_id = member;
            response.leader = member;
            response.protocol_type = "consumer";
            response.protocol_name = request.protocols.front().name;
            auto& self = response.members.emplace_back();
            self.member_id = member;
            self.metadata = request.protocols.front().metadata;
            for (const auto& [id, subscribed] : other_members) {
              auto& other = response.members.emplace_back();
              other.member_id = id;
              other.metadata = encode_subscription(Assignor::range, {subscribed, {}, -1, std::nullopt});
            }
          });
      break;
    case wire::SyncGroupRequest::kApiKey:
      body = with<wire::SyncGroupRequest, wire::SyncGroupResponse>(
          reader, version, [&](wire::SyncGroupRequest& request, wire::SyncGroupResponse& response) {
            response.error_code = next_error(api);
            if (response.error_code != ErrorCode::none) {
              return;
            }
            if (request.generation_id != generation) {
              response.error_code = ErrorCode::illegal_generation;
              return;
            }
            assignment.clear();
            for (const auto& one : request.assignments) {
              assignment[one.member_id] = *decode_assignment(one.assignment);
              if (one.member_id == request.member_id) {
                response.assignment = one.assignment;
              }
            }
          });
      break;
    case wire::HeartbeatRequest::kApiKey:
      body = with<wire::HeartbeatRequest, wire::HeartbeatResponse>(
          reader, version, [&](wire::HeartbeatRequest&, wire::HeartbeatResponse& response) {
            response.error_code = broker != coordinator ? ErrorCode::not_coordinator : next_error(api);
          });
      break;
    case wire::ConsumerGroupHeartbeatRequest::kApiKey:
      body = with<wire::ConsumerGroupHeartbeatRequest, wire::ConsumerGroupHeartbeatResponse>(
          reader, version,
          [&](wire::ConsumerGroupHeartbeatRequest& request, wire::ConsumerGroupHeartbeatResponse& response) {
            response.error_code = broker != coordinator ? ErrorCode::not_coordinator : next_error(api);
            if (response.error_code == ErrorCode::none) {
              hear(request, response);
            }
          });
      break;
    case wire::LeaveGroupRequest::kApiKey:
      body = with<wire::LeaveGroupRequest, wire::LeaveGroupResponse>(
          reader, version, [&](wire::LeaveGroupRequest& request, wire::LeaveGroupResponse&) {
            if (request.members.size() == 1 && request.members.front().member_id == member) {
              member.clear();
            }
          });
      break;
    case wire::OffsetCommitRequest::kApiKey:
      body = with<wire::OffsetCommitRequest, wire::OffsetCommitResponse>(
          reader, version, [&](wire::OffsetCommitRequest& request, wire::OffsetCommitResponse& response) {
            const ErrorCode error = next_error(api);
            for (const auto& topic : request.topics) {
              auto& answers = response.topics.emplace_back();
              answers.name = topic.name;
              answers.topic_id = topic.topic_id;
              const std::string name = version >= 10 ? name_of(topic.topic_id) : topic.name;
              for (const auto& partition : topic.partitions) {
                auto& answer = answers.partitions.emplace_back();
                answer.partition_index = partition.partition_index;
                answer.error_code = name.empty() ? ErrorCode::unknown_topic_id : error;
                if (answer.error_code == ErrorCode::none) {
                  committed[{name, partition.partition_index.value()}] = partition.committed_offset.value();
                }
              }
            }
          });
      break;
    case wire::OffsetFetchRequest::kApiKey:
      body = with<wire::OffsetFetchRequest, wire::OffsetFetchResponse>(
          reader, version, [&](wire::OffsetFetchRequest& request, wire::OffsetFetchResponse& response) {
            const auto answer_one = [&](auto& answers, const std::string& name, const auto& partitions) {
              for (const PartitionIndex partition : partitions) {
                auto& answer = answers.partitions.emplace_back();
                answer.partition_index = partition;
                const auto found = committed.find({name, partition.value()});
                answer.committed_offset = Offset{found == committed.end() ? -1 : found->second};
                answer.committed_leader_epoch = committed_epoch;
                answer.error_code = name.empty() ? ErrorCode::unknown_topic_id : ErrorCode::none;
              }
            };
            if (version <= 7) {
              for (const auto& topic : *request.topics) {
                auto& answers = response.topics.emplace_back();
                answers.name = topic.name;
                answer_one(answers, topic.name, topic.partition_indexes);
              }
              return;
            }
            for (const auto& group : request.groups) {
              auto& told = response.groups.emplace_back();
              told.group_id = group.group_id;
              for (const auto& topic : *group.topics) {
                auto& answers = told.topics.emplace_back();
                answers.name = topic.name;
                answers.topic_id = topic.topic_id;
                answer_one(answers, version >= 10 ? name_of(topic.topic_id) : topic.name, topic.partition_indexes);
              }
            }
          });
      break;
    case wire::CreateTopicsRequest::kApiKey:
      body = with<wire::CreateTopicsRequest, wire::CreateTopicsResponse>(
          reader, version, [&](wire::CreateTopicsRequest& request, wire::CreateTopicsResponse& response) {
            for (const auto& topic : request.topics) {
              auto& answer = response.topics.emplace_back();
              answer.name = topic.name;
              answer.error_code = next_error(api);
              if (answer.error_code == ErrorCode::none && topics.count(topic.name) != 0) {
                answer.error_code = ErrorCode::topic_already_exists;
                answer.error_message = "it is there";
              } else if (answer.error_code == ErrorCode::none) {
                create(topic.name, static_cast<std::size_t>(topic.num_partitions));
              }
            }
          });
      break;
    case wire::DeleteTopicsRequest::kApiKey:
      body = with<wire::DeleteTopicsRequest, wire::DeleteTopicsResponse>(
          reader, version, [&](wire::DeleteTopicsRequest& request, wire::DeleteTopicsResponse& response) {
            for (const auto& topic : request.topics) {
              auto& answer = response.responses.emplace_back();
              answer.name = topic.name;
              answer.error_code =
                  topics.erase(*topic.name) != 0 ? ErrorCode::none : ErrorCode::unknown_topic_or_partition;
            }
          });
      break;
    case wire::CreatePartitionsRequest::kApiKey:
      body = with<wire::CreatePartitionsRequest, wire::CreatePartitionsResponse>(
          reader, version, [&](wire::CreatePartitionsRequest& request, wire::CreatePartitionsResponse& response) {
            for (const auto& topic : request.topics) {
              auto& answer = response.results.emplace_back();
              answer.name = topic.name;
              if (topic.assignments) {
                wrong.emplace_back("assignments that nobody gave");
              }
              create(topic.name, static_cast<std::size_t>(topic.count));
            }
          });
      break;
    case wire::ListGroupsRequest::kApiKey:
      body = with<wire::ListGroupsRequest, wire::ListGroupsResponse>(
          reader, version, [&](wire::ListGroupsRequest&, wire::ListGroupsResponse& response) {
            response.error_code = next_error(api);
            auto& group = response.groups.emplace_back();
            group.group_id = "group-of-" + std::to_string(broker);
            group.group_state = "Stable";
          });
      break;
    default:
      wrong.push_back("API " + std::to_string(api));
      break;
  }
  if (cut_after && cut_after(now)) {
    reply.cut = true;
    return reply;
  }
  if (!owed || (silent && silent(now))) {
    return reply;
  }
  wire::Writer writer;
  writer.int32(correlation);
  if (wire::response_header_version(api, answer_version) >= 1) {
    writer.tag_count(0);
  }
  writer.raw(body.span());
  reply.frame = writer.finish();
  return reply;
}

// Drives one core against the cluster in virtual time. `Step` gives an input to the core and fills `io`.
template <class Core, class Outputs>
class Harness {
 public:
  Harness(Core& core, FakeCluster& cluster) : core_(core), cluster_(cluster) {}

  Instant now{1};
  Outputs out;            // what the core put out and nobody has taken; io is performed

  void step(const Input& input = {}) {
    core_.step(input, now, out);
    perform();
  }
  // Gives the cluster's answers and the passing of time to the core until `done`, at most for `limit` of virtual time.
  bool run(const std::function<bool()>& done, Duration limit = seconds(60)) {
    const Instant end = now + limit;
    int idle = 0;
    step();
    while (!done()) {
      if (!pending_.empty() && pending_.begin()->first <= now) {
        const Input input = pending_.begin()->second;
        pending_.erase(pending_.begin());
        if (links_.count(input.link) != 0) {
          if (input.kind == Input::Kind::closed || input.kind == Input::Kind::failed) {
            links_.erase(input.link);
          }
          step(input);
        }
        idle = 0;
        continue;
      }
      Instant next = core_.next_deadline();
      if (!pending_.empty()) {
        next = std::min(next, pending_.begin()->first);
      }
      if (next > end) {
        now = end;
        return done();
      }
      HW_ASSERT(next > now || ++idle < 20, "the core asks for ticks without end");
      if (next > now) {
        idle = 0;
        now = next;
      }
      if (pending_.empty() || pending_.begin()->first > now) {
        step();
      }
    }
    return true;
  }
  void wait(Duration duration) {
    const Instant until = now + duration;
    (void)run([&] { return now >= until; }, duration);
    now = until;
  }
  void perform() {
    IoOutputs io;
    std::swap(io, out.io);
    for (const auto& open : io.opens) {
      std::int32_t broker = 0;
      for (const auto& [id, endpoint] : cluster_.brokers) {
        if (endpoint == open.endpoint) {
          broker = id;
        }
      }
      links_[open.link] = broker;
      ++opened;
      const bool up = broker != 0 && cluster_.down.count(broker) == 0;
      later({up ? Input::Kind::opened : Input::Kind::failed, open.link, {}, up ? "" : "connection refused"}, {});
    }
    for (auto& send : io.sends) {
      const auto link = links_.find(send.link);
      HW_ASSERT(link != links_.end(), "frames go to links that stand");
      const Bytes whole = send.frame.flatten();
      HW_ASSERT(wire::load_u32(whole.data()) + 4 == whole.size(), "the length is right");
      if (cluster_.down.count(link->second) != 0) {
        later({Input::Kind::closed, send.link, {}, "connection reset"}, {});
        continue;
      }
      FakeCluster::Reply reply = cluster_.serve(link->second, whole.slice(4, whole.size() - 4));
      if (reply.cut) {
        later({Input::Kind::closed, send.link, {}, "connection reset"}, {});
      } else if (!reply.frame.empty()) {
        later({Input::Kind::frame, send.link, reply.frame.flatten(), {}}, reply.hold);
      }
    }
    for (const LinkId link : io.closes) {
      links_.erase(link);
    }
  }
  std::size_t opened = 0;

 private:
  void later(Input input, Duration hold) { pending_.emplace(now + hold + latency, std::move(input)); }
  static constexpr Duration latency = microseconds(300);
  Core& core_;
  FakeCluster& cluster_;
  std::map<LinkId, std::int32_t> links_;
  std::multimap<Instant, Input> pending_;
};

}  // namespace hw::client::fake
