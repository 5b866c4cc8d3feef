// SPDX-License-Identifier: Apache-2.0
// Controller: turns administrative requests into metadata records.
//
//   request ─▶ check against the newest state ─▶ records + response ─▶ (append, flush, commit) ─▶ completion(response)
//
// Nothing changes but by records. The controller replays what it writes at once into its own image, so that requests
// that follow each other see each other; everybody else sees a record when it is committed. A completion runs exactly
// once: when everything written up to that request is committed and replayed, or with NOT_CONTROLLER when the
// controller loses its role first. A request that writes nothing also waits for what was written before it.
// Where a partition change is needed the leader epoch and partition epoch rise as in Kafka 4.4 (KIP-631, KIP-966).
//
// Thread rule: one thread. Completions run inside committed() or resign(), or inside the request itself where nothing
// is outstanding; they may call the controller again.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/prng.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/metadata/config_changes.h"
#include "engine/metadata/configs.h"
#include "engine/metadata/image/image.h"
#include "engine/metadata/image/image_builder.h"
#include "engine/metadata/image/record.h"
#include "engine/wire/msg/allocate_producer_ids.h"
#include "engine/wire/msg/alter_client_quotas.h"
#include "engine/wire/msg/alter_partition.h"
#include "engine/wire/msg/alter_partition_reassignments.h"
#include "engine/wire/msg/assign_replicas_to_dirs.h"
#include "engine/wire/msg/broker_heartbeat.h"
#include "engine/wire/msg/broker_registration.h"
#include "engine/wire/msg/controller_registration.h"
#include "engine/wire/msg/create_partitions.h"
#include "engine/wire/msg/create_topics.h"
#include "engine/wire/msg/delete_topics.h"
#include "engine/wire/msg/elect_leaders.h"
#include "engine/wire/msg/list_partition_reassignments.h"
#include "engine/wire/msg/update_features.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::metadata {

// The levels that a cluster formatted by this release has finalized, and the ranges that it supports.
struct FeatureRange {
  std::string_view name;
  std::int16_t min_supported = 0;
  std::int16_t max_supported = 0;
  std::int16_t initial_level = 0;  // 0: not finalized
};
[[nodiscard]] std::span<const FeatureRange> supported_features() noexcept;  // by name; kraft.version included
inline constexpr std::int16_t kMetadataVersion = 33;                        // 4.4-IV2

struct Registration {
  BrokerId broker;
  Uuid incarnation;
  std::vector<ListenerImage> listeners;
  std::optional<std::string> rack;
  std::vector<Uuid> log_directories;
};

class Controller {
 public:
  struct Options {
    BrokerId node;
    std::shared_ptr<const BrokerConfigs> broker_configs;  // never null
    std::string cluster_id;                               // brokers of another are refused; empty: not compared
  };
  Controller(Options options, Prng prng);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // --- role. `image`: everything committed and replayed; `next_offset`: of the next record to be appended.
  void become_active(ImagePtr image, std::int32_t epoch, Offset next_offset);
  void resign();
  [[nodiscard]] bool active() const noexcept;

  // --- log side
  // Records written since the last call, one inner vector for each batch; append them in this order.
  [[nodiscard]] std::vector<std::vector<Record>> take_records();
  [[nodiscard]] bool has_records() const noexcept;
  // The log has records that others appended: the next one stands at `end`. REQUIRES: !has_records().
  void log_ends_at(Offset end);
  [[nodiscard]] Offset next_offset() const noexcept;  // of the record that is written next
  // Records of the quorum's own (bootstrap). REQUIRES: active(); they replay.
  void write_records(std::vector<Record> records);
  // Everything below `high_watermark` is committed and in the published image: runs completions.
  void committed(Offset high_watermark);
  [[nodiscard]] const MetadataImage& newest() const noexcept;  // with what is not committed yet
  [[nodiscard]] const BrokerConfigs& broker_configs() const noexcept;

  // --- requests
  template <class Response>
  using Done = std::function<void(Response)>;
  // Asked before that many partitions are created or deleted for a topic; false: the client's quota is used up, and the
  // topic is refused with THROTTLING_QUOTA_EXCEEDED (KIP-599).
  using TakePartitions = std::function<bool(std::int64_t partitions)>;
  void create_topics(const wire::CreateTopicsRequest& request, Done<wire::CreateTopicsResponse> done,
                     const TakePartitions& take = {});
  void delete_topics(const wire::DeleteTopicsRequest& request, Done<wire::DeleteTopicsResponse> done,
                     const TakePartitions& take = {});
  void create_partitions(const wire::CreatePartitionsRequest& request, Done<wire::CreatePartitionsResponse> done,
                         const TakePartitions& take = {});
  // One answer for each edit, in order; resources of which one is refused do not hinder the others.
  void alter_configs(const std::vector<ResourceEdit>& edits, bool validate_only, Done<std::vector<Refusal>> done);
  void alter_client_quotas(const wire::AlterClientQuotasRequest& request, Done<wire::AlterClientQuotasResponse> done);
  // `version`: of the request; it decides what is understood and answered.
  void update_features(const wire::UpdateFeaturesRequest& request, std::int16_t version,
                       Done<wire::UpdateFeaturesResponse> done);
  void elect_leaders(const wire::ElectLeadersRequest& request, Done<wire::ElectLeadersResponse> done);
  void alter_partition_reassignments(const wire::AlterPartitionReassignmentsRequest& request,
                                     Done<wire::AlterPartitionReassignmentsResponse> done);
  void list_partition_reassignments(const wire::ListPartitionReassignmentsRequest& request,
                                    Done<wire::ListPartitionReassignmentsResponse> done);

  // --- requests of brokers and controllers (KIP-631, KIP-919). Who is not known under the epoch that it names is answered
  // STALE_BROKER_EPOCH.
  void broker_registration(const wire::BrokerRegistrationRequest& request, Instant now,
                           Done<wire::BrokerRegistrationResponse> done);  // starts fenced
  void broker_heartbeat(const wire::BrokerHeartbeatRequest& request, Instant now, Done<wire::BrokerHeartbeatResponse> done);
  void controller_registration(const wire::ControllerRegistrationRequest& request,
                               Done<wire::ControllerRegistrationResponse> done);
  // `version`: of the request; before 3 the ISR comes without broker epochs.
  void alter_partition(const wire::AlterPartitionRequest& request, std::int16_t version,
                       Done<wire::AlterPartitionResponse> done);
  void assign_replicas_to_dirs(const wire::AssignReplicasToDirsRequest& request,
                               Done<wire::AssignReplicasToDirsResponse> done);
  void allocate_producer_ids(const wire::AllocateProducerIdsRequest& request,
                             Done<wire::AllocateProducerIdsResponse> done);
  void unregister_broker(BrokerId broker, Done<Refusal> done);
  void unregister_controller(BrokerId controller, Done<Refusal> done);  // not this one while it is active

  // --- time. Fences brokers that were silent for broker.session.timeout.ms, gives partitions back to their preferred
  // leaders (auto.leader.rebalance.enable) and elects unclean leaders where that is allowed. To be called when
  // next_deadline() is reached; the first call after become_active() starts the sessions of all brokers but this node's
  // own, which has one from its first heartbeat on.
  void tick(Instant now);
  [[nodiscard]] Instant next_deadline() const noexcept;  // kNever where not active

  // The request that creates an internal topic as this broker's configuration wants it (offsets.topic.*, …). `brokers`: how many
  // there are, or will be as far as is known; a default that they cannot meet is lowered.
  [[nodiscard]] wire::CreateTopicsRequest::CreatableTopic topic_template(std::string_view name, std::size_t brokers) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Nothing where the name may be a topic's; otherwise why not.
[[nodiscard]] std::optional<std::string> topic_name_error(std::string_view name);

}  // namespace hw::metadata
