// SPDX-License-Identifier: Apache-2.0
// A transaction coordinator with a log, brokers that write markers, and a clock that moves when told.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/assert.h"
#include "engine/metadata/image/image_builder.h"
#include "engine/txn/coordinator.h"

namespace hw::txn::test {

template <class Response>
using Answer = std::shared_ptr<std::optional<Response>>;

// What `answer` holds; it is there, and it came once.
template <class Response>
const Response& of(const Answer<Response>& answer) {
  HW_ASSERT(answer->has_value(), "an answer is there");
  return **answer;
}

class World {
 public:
  explicit World(Config config = config_of_tests()) : config_(config) { begin(); }

  static Config config_of_tests() {
    Config config;
    config.transaction_state_log_num_partitions = 2;
    return config;
  }

  // Makes the coordinator anew and loads what was committed: another life, or another leader.
  void begin(std::int32_t epoch = 1) {
    coordinator = std::make_unique<TransactionCoordinator>(config_, [this](auto done) {
      done({ids_fail ? wire::ErrorCode::coordinator_load_in_progress : wire::ErrorCode::none, ProducerId(++last_id)});
    });
    coordinator->set_image(image_, now);
    for (std::int32_t p = 0; p < 2; ++p) {
      load(PartitionIndex(p), epoch);
    }
    settle();
  }

  void load(PartitionIndex partition, std::int32_t epoch) {
    coordinator->begin_load(partition, LeaderEpoch(epoch));
    for (const Record& record : log[partition]) {
      coordinator->load_record(partition, record);
    }
    coordinator->end_load(partition, LeaderEpoch(epoch), now);
  }

  void broker(std::int32_t id, bool fenced = false) {
    wire::RegisterBrokerRecord record;
    record.broker_id = BrokerId(id);
    record.broker_epoch = ++offset_;
    record.incarnation_id = Uuid{7, static_cast<std::uint64_t>(offset_)};
    record.fenced = fenced;
    replay(metadata::Record(record));
    publish();
  }

  void topic(const std::string& name, const std::vector<std::int32_t>& leaders) {
    wire::TopicRecord record;
    record.name = name;
    record.topic_id = Uuid{9, ++topics_};
    replay(metadata::Record(record));
    for (std::size_t i = 0; i < leaders.size(); ++i) {
      wire::PartitionRecord partition;
      partition.topic_id = record.topic_id;
      partition.partition_id = PartitionIndex(static_cast<std::int32_t>(i));
      partition.replicas = {BrokerId(leaders[i])};
      partition.isr = {BrokerId(leaders[i]).value()};
      partition.directories = {Uuid{1, 1}};
      partition.leader = BrokerId(leaders[i]);
      replay(metadata::Record(partition));
    }
    publish();
  }

  void version(std::int16_t level) {
    wire::FeatureLevelRecord record;
    record.name = "transaction.version";
    record.feature_level = level;
    replay(metadata::Record(record));
    publish();
  }

  // --- what the node does
  void settle() {
    while (coordinator->has_outputs(now)) {
      Outputs outputs = coordinator->take(now);
      for (Outputs::Append& append : outputs.appends) {
        appends.push_back(std::move(append));
      }
      for (MarkerRequest& request : outputs.markers) {
        markers.push_back(std::move(request));
      }
      if (!hold_appends) {
        commit_all();
      }
      if (!hold_markers) {
        write_all();
      }
    }
  }

  void commit_all() {
    while (!appends.empty()) {
      commit_first(wire::ErrorCode::none);
    }
  }

  void commit_first(wire::ErrorCode error) {
    const Outputs::Append append = std::move(appends.front());
    appends.erase(appends.begin());
    if (error == wire::ErrorCode::none) {
      auto& records = log[append.partition];
      records.insert(records.end(), append.records.begin(), append.records.end());
    }
    coordinator->on_committed(append.id, error, now);
  }

  void write_all() {
    while (!markers.empty()) {
      write_first(wire::ErrorCode::none);
    }
  }

  void write_first(wire::ErrorCode error) {
    const MarkerRequest request = std::move(markers.front());
    markers.erase(markers.begin());
    wire::WriteTxnMarkersResponse response;
    for (const auto& marker : request.request.markers) {
      auto& of_marker = response.markers.emplace_back();
      of_marker.producer_id = marker.producer_id;
      for (const auto& topic : marker.topics) {
        auto& of_topic = of_marker.topics.emplace_back();
        of_topic.name = topic.name;
        for (const PartitionIndex partition : topic.partition_indexes) {
          auto& of_partition = of_topic.partitions.emplace_back();
          of_partition.partition_index = partition;
          of_partition.error_code = error;
          if (error == wire::ErrorCode::none) {
            written.push_back({{topic.name, partition}, marker.producer_id, marker.producer_epoch, marker.transaction_result});
          }
        }
      }
    }
    coordinator->markers_answered(request.id, response, now);
  }

  void advance(Duration by) {
    const Instant end = now.instant + by;
    while (coordinator->next_deadline() <= end) {
      const Instant at = std::max(coordinator->next_deadline(), now.instant);
      now.wall.ms += (at - now.instant).ms();
      now.instant = at;
      coordinator->tick(now);
      settle();
    }
    now.wall.ms += (end - now.instant).ms();
    now.instant = end;
  }

  // --- requests
  Answer<Identity> init(const std::string& id, std::int32_t timeout_ms = 60'000, std::optional<std::pair<ProducerId, ProducerEpoch>> expected = {}) {
    const auto answer = std::make_shared<std::optional<Identity>>();
    coordinator->init_producer_id(id, timeout_ms, expected, now, once(answer));
    settle();
    return answer;
  }

  Producer producer(const std::string& id, std::int32_t timeout_ms = 60'000) {
    const Identity identity = of(init(id, timeout_ms));
    HW_ASSERT(identity.error == wire::ErrorCode::none, "the id is given");
    return {id, identity.producer_id, identity.epoch};
  }

  Answer<wire::ErrorCode> add(const Producer& producer, const Partitions& partitions, ClientVersion version = ClientVersion::two) {
    const auto answer = std::make_shared<std::optional<wire::ErrorCode>>();
    coordinator->add_partitions(producer, partitions, version, now, once(answer));
    settle();
    return answer;
  }

  Answer<Identity> end(const Producer& producer, bool commit, ClientVersion version = ClientVersion::two) {
    const auto answer = std::make_shared<std::optional<Identity>>();
    coordinator->end(producer, commit, version, now, once(answer));
    settle();
    return answer;
  }

  std::string state(const std::string& id) { return coordinator->describe(id).transaction_state; }

  std::string dump() const { return coordinator->dump_hard_state(PartitionIndex(0)) + coordinator->dump_hard_state(PartitionIndex(1)); }

  struct Written {
    TopicPartition partition;
    ProducerId producer_id;
    ProducerEpoch epoch;
    bool commit = false;
  };

  Now now{Instant{1'000'000'000}, WallTime{1'700'000'000'000}};
  std::unique_ptr<TransactionCoordinator> coordinator;
  std::map<PartitionIndex, std::vector<Record>> log;
  std::vector<Outputs::Append> appends;  // with hold_appends
  std::vector<MarkerRequest> markers;    // with hold_markers
  std::vector<Written> written;
  bool hold_appends = false;
  bool hold_markers = false;
  bool ids_fail = false;
  std::int64_t last_id = 1000;
  int answers = 0;

 private:
  template <class Response>
  Done<Response> once(const Answer<Response>& answer) {
    return [this, answer](Response response) {
      HW_ASSERT(!answer->has_value(), "a request is answered once");
      *answer = std::move(response);
      ++answers;
    };
  }

  void replay(const metadata::Record& record) {
    const Result<void> fine = builder_.replay(record, Offset(++offset_), 1);
    HW_ASSERT(fine.has_value(), "records of the test fit together");
  }

  void publish() {
    image_ = builder_.publish().image;
    coordinator->set_image(image_, now);
    settle();
  }

  Config config_;
  metadata::ImageBuilder builder_;
  metadata::ImagePtr image_ = std::make_shared<const metadata::MetadataImage>();
  std::int64_t offset_ = 0;
  std::uint64_t topics_ = 0;
};

}  // namespace hw::txn::test
