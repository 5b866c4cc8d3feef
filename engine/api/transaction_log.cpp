// SPDX-License-Identifier: Apache-2.0
#include "engine/api/transaction_log.h"

#include "engine/wire/record/batch.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::api {

txn::Config transaction_config(const metadata::BrokerConfigs& configs) {
  const auto int32 = [&](std::string_view name) { return static_cast<std::int32_t>(configs.number(name)); };
  txn::Config config;
  config.transaction_state_log_num_partitions = int32("transaction.state.log.num.partitions");
  config.transaction_max_timeout_ms = int32("transaction.max.timeout.ms");
  config.transactional_id_expiration_ms = configs.number("transactional.id.expiration.ms");
  config.transaction_abort_timed_out_interval_ms = int32("transaction.abort.timed.out.transaction.cleanup.interval.ms");
  config.transaction_remove_expired_interval_ms = int32("transaction.remove.expired.transaction.cleanup.interval.ms");
  return config;
}

Result<Offset> load_transaction_batches(txn::TransactionCoordinator& coordinator, PartitionIndex partition, const Bytes& batches) {
  Offset next = kNoOffset;
  wire::BatchCursor cursor(batches.span());
  wire::BatchView batch;
  while (cursor.next(batch)) {
    next = batch.next_offset();
    if (batch.control()) {
      continue;
    }
    HW_TRY(wire::RecordIterator records, wire::RecordIterator::open(batch));
    wire::RecordView view;
    while (records.next(view)) {
      if (!view.key) {
        continue;
      }
      txn::Record record;
      record.key = records.share(*view.key);
      if (view.value) {
        record.value = records.share(*view.value);
      }
      coordinator.load_record(partition, record);
    }
    if (records.failed()) {
      return fail(Errc::corrupt, records.problem());
    }
  }
  if (cursor.status() != wire::BatchStatus::end && cursor.status() != wire::BatchStatus::truncated) {
    return fail(Errc::corrupt, cursor.problem());
  }
  return next;
}

}  // namespace hw::api
