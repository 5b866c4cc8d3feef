// SPDX-License-Identifier: Apache-2.0
// TransactionCoordinator: the transactions of the __transaction_state partitions that one node leads.
//
// The contract is that of engine/groups: a request makes a record and an answer; what is known of a transactional id changes only
// when the record is committed; the answer leaves then; a failed append leaves everything as it was. One step at a time of each id:
// who comes meanwhile is told CONCURRENT_TRANSACTIONS.
//
// The caller's part:
//   1. Call a request method. Its completion runs exactly once: inside the call, or inside a later one.
//   2. take() what came out: append each of the appends as one batch to __transaction_state-<partition> and call on_committed()
//      once with the outcome; send each marker request to its broker and call markers_answered() or markers_failed() once.
//   3. Call tick() at next_deadline(), and take() again.
//   4. Call set_image() with every new image: leaders of partitions, and the level of transaction.version.
//
// Invariants (T1-T4 are in transaction.h):
//  T5  a marker is asked for only once its Prepare* is committed
//  T6  Complete* is appended only when every partition has its marker, or needs none
//  T7  nothing is answered and no marker asked for in a partition that is loading, or not led
// Thread rule: one thread. `now.instant` never decreases. Completions may call the coordinator again.
// Sources: KIP-98, KIP-360, KIP-588, KIP-664, KIP-890; behaviours 223-250.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/groups/coordinator.h"
#include "engine/metadata/image/image.h"
#include "engine/txn/marker_queue.h"
#include "engine/txn/transaction.h"
#include "engine/wire/msg/describe_transactions.h"
#include "engine/wire/msg/list_transactions.h"
#include "engine/wire/msg/write_txn_markers.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::txn {

using groups::AppendId;
using groups::Done;
using groups::Now;
using groups::Record;

// Kafka's broker keys of the same names.
struct Config {
  std::int32_t transaction_state_log_num_partitions = 50;
  std::int32_t transaction_max_timeout_ms = 900'000;
  std::int64_t transactional_id_expiration_ms = 604'800'000;
  std::int32_t transaction_abort_timed_out_interval_ms = 10'000;
  std::int32_t transaction_remove_expired_interval_ms = 3'600'000;
};

struct Outputs {
  struct Append {
    AppendId id = 0;
    PartitionIndex partition;
    std::vector<Record> records;  // never empty; timestamps: the append time
  };

  std::vector<Append> appends;
  std::vector<MarkerRequest> markers;
};

// Who says that it is the producer of a transactional id.
struct Producer {
  std::string transactional_id;
  ProducerId id = kNoProducerId;
  ProducerEpoch epoch = kNoProducerEpoch;
};

struct Identity {
  wire::ErrorCode error = wire::ErrorCode::none;
  ProducerId producer_id = kNoProducerId;
  ProducerEpoch epoch = kNoProducerEpoch;
};

class TransactionCoordinator {
 public:
  // Asks for a producer id that nobody else has; the answer comes at once or later, once.
  using NewProducerId = std::function<void(std::function<void(std::pair<wire::ErrorCode, ProducerId>)>)>;

  TransactionCoordinator(const Config& config, NewProducerId new_producer_id);
  ~TransactionCoordinator();
  TransactionCoordinator(const TransactionCoordinator&) = delete;
  TransactionCoordinator& operator=(const TransactionCoordinator&) = delete;

  // __transaction_state has as many partitions as it was created with.
  void set_partition_count(std::int32_t partitions);
  [[nodiscard]] PartitionIndex partition_of(std::string_view transactional_id) const;
  void set_image(metadata::ImagePtr image, Now now);

  // --- leadership of partitions, as for groups. `epoch`: of the leader. end_load() is called when all that was loaded is committed,
  // because markers, which nothing takes back, follow from it.
  void begin_load(PartitionIndex partition, LeaderEpoch epoch);
  // In log order; what cannot be decoded is skipped and counted.
  void load_record(PartitionIndex partition, const Record& record);
  void end_load(PartitionIndex partition, LeaderEpoch epoch, Now now);
  void unload(PartitionIndex partition, Now now);
  [[nodiscard]] bool leads(PartitionIndex partition) const;  // loaded and active
  [[nodiscard]] std::uint64_t load_errors() const;

  // --- requests
  // `expected`: what the producer believes that it is (KIP-360).
  void init_producer_id(const std::string& transactional_id, std::int32_t timeout_ms,
                        const std::optional<std::pair<ProducerId, ProducerEpoch>>& expected, Now now, Done<Identity> done);
  void add_partitions(const Producer& producer, const Partitions& partitions, ClientVersion version, Now now, Done<wire::ErrorCode> done);
  // Whether the partitions are in the transaction: none, or TRANSACTION_ABORTABLE (KIP-890).
  [[nodiscard]] std::map<TopicPartition, wire::ErrorCode> verify_partitions(const Producer& producer, const Partitions& partitions);
  // The identity says what the producer goes on with where the version bumps epochs; before, it has none.
  void end(const Producer& producer, bool commit, ClientVersion version, Now now, Done<Identity> done);
  [[nodiscard]] wire::DescribeTransactionsResponse::TransactionState describe(const std::string& transactional_id);
  [[nodiscard]] wire::ListTransactionsResponse list(const wire::ListTransactionsRequest& request, Now now);

  // --- outputs, what became of them, time
  [[nodiscard]] bool has_outputs(Now now) const;
  [[nodiscard]] Outputs take(Now now);
  // `error` none: committed; otherwise the log's word.
  void on_committed(AppendId id, wire::ErrorCode error, Now now);
  void markers_answered(std::uint64_t id, const wire::WriteTxnMarkersResponse& response, Now now);
  void markers_failed(std::uint64_t id, Now now);
  void tick(Now now);
  [[nodiscard]] Instant next_deadline() const;  // kNever: none

  // --- for tests and tools: all that is committed, in one printable form (equal text = equal state).
  [[nodiscard]] std::string dump_hard_state(PartitionIndex partition) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hw::txn
