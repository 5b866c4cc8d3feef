// SPDX-License-Identifier: Apache-2.0
#include "ui/session/record_rows.h"

#include <QCoreApplication>
#include <algorithm>

#include "engine/wire/record/batch.h"
#include "engine/wire/record/compression.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::ui {

namespace {

std::optional<Bytes> shared(const wire::RecordIterator& records, const std::optional<ByteSpan>& view) {
  if (!view) {
    return std::nullopt;
  }
  return records.share(*view);
}

QString in_words(const wire::BatchView& batch, const std::string& problem) {
  return QCoreApplication::translate("hw::ui::Session", "The batch at offset %1 cannot be decoded: %2")
      .arg(batch.base_offset().value())
      .arg(QString::fromStdString(problem));
}

RecordRow row_of(const wire::BatchView& batch, const wire::RecordIterator& records, const wire::RecordView& record,
                 std::int32_t partition) {
  RecordRow row;
  row.partition = partition;
  row.offset = record.offset.value();
  row.timestamp_ms = record.timestamp_ms;
  row.log_append_time = batch.timestamp_type() == wire::TimestampType::log_append_time;
  row.key = shared(records, record.key);
  row.value = shared(records, record.value);
  wire::HeaderCursor headers = record.headers();
  wire::HeaderView header;
  while (headers.next(header)) {
    row.headers.emplace_back(std::string(header.key), shared(records, header.value));
  }
  row.control = batch.control();
  row.batch_base_offset = batch.base_offset().value();
  row.batch_records = batch.count();
  row.batch_size_bytes = static_cast<std::int32_t>(batch.size());
  row.leader_epoch = batch.leader_epoch().value();
  row.producer_id = batch.producer_id().value();
  row.producer_epoch = batch.producer_epoch().value();
  row.base_sequence = batch.base_sequence();
  row.crc = batch.crc();
  row.compression = batch.known_compression() ? wire::compression_name(batch.compression()) : "unknown";
  row.transactional = batch.transactional();
  return row;
}

}  // namespace

void decode_rows(const BytesChain& batches, const ReadQuery& query, ReadAnswer& answer) {
  const Bytes bytes = batches.flatten();
  const auto wanted = static_cast<std::size_t>(std::max(query.max_records, 0));
  answer.next_offset = std::max(query.from_offset, answer.log_start_offset);
  wire::BatchCursor cursor(bytes.span());
  wire::BatchView batch;
  while (answer.rows.size() < wanted && cursor.next(batch)) {
    if (batch.base_offset().value() >= query.to_offset) {
      return;
    }
    const auto position = static_cast<std::size_t>(batch.span().data() - bytes.data());
    Result<wire::RecordIterator> records = wire::RecordIterator::open(bytes.slice(position, batch.size()));
    if (!records) {
      answer.error = in_words(batch, records.error().detail);
      return;
    }
    wire::RecordView record;
    while (records->next(record)) {
      const std::int64_t offset = record.offset.value();
      if (offset < query.from_offset) {
        continue;
      }
      if (offset >= query.to_offset || answer.rows.size() == wanted) {
        return;
      }
      answer.rows.push_back(row_of(batch, *records, record, query.partition));
      answer.next_offset = offset + 1;
    }
    if (records->failed()) {
      answer.error = in_words(batch, records->problem());
      return;
    }
    answer.next_offset = batch.next_offset().value();  // compaction may have removed the last records
  }
}

}  // namespace hw::ui
