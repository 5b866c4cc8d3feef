// SPDX-License-Identifier: Apache-2.0
#include "ui/session/record_rows.h"

#include <QCoreApplication>
#include <algorithm>

#include "engine/wire/record/batch.h"
#include "engine/wire/record/batch_builder.h"
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

const char* codec_name(const wire::BatchView& batch) {
  return batch.known_compression() ? wire::compression_name(batch.compression()) : "unknown";
}

void fill_batch(RecordRow& row, const wire::BatchView& batch, const wire::RecordView& record, std::int32_t partition) {
  row.partition = partition;
  row.offset = record.offset.value();
  row.timestamp_ms = record.timestamp_ms;
  row.log_append_time = batch.timestamp_type() == wire::TimestampType::log_append_time;
  row.control = batch.control();
  row.batch_base_offset = batch.base_offset().value();
  row.batch_records = batch.count();
  row.batch_size_bytes = static_cast<std::int32_t>(batch.size());
  row.leader_epoch = batch.leader_epoch().value();
  row.producer_id = batch.producer_id().value();
  row.producer_epoch = batch.producer_epoch().value();
  row.base_sequence = batch.base_sequence();
  row.crc = batch.crc();
  row.compression = codec_name(batch);
  row.transactional = batch.transactional();
  row.value_size = record.value ? static_cast<std::int64_t>(record.value->size()) : -1;
}

RecordRow row_of(const wire::BatchView& batch, const wire::RecordIterator& records, const wire::RecordView& record,
                 std::int32_t partition, std::int64_t head) {
  RecordRow row;
  fill_batch(row, batch, record, partition);
  row.key = shared(records, record.key);
  if (record.value && head > 0 && row.value_size > head) {
    row.value = Bytes::copy_of(record.value->first(static_cast<std::size_t>(head)));
  } else {
    row.value = shared(records, record.value);
  }
  wire::HeaderCursor headers = record.headers();
  wire::HeaderView header;
  while (headers.next(header)) {
    row.headers.emplace_back(std::string(header.key), shared(records, header.value));
  }
  return row;
}

std::optional<std::string_view> text_of(const std::optional<ByteSpan>& bytes) {
  return bytes ? std::optional<std::string_view>(as_text(*bytes)) : std::nullopt;
}

void fill_facts(filter::RecordFacts& facts, const wire::RecordView& record, bool headers) {
  facts.offset = record.offset.value();
  facts.timestamp_ms = record.timestamp_ms;
  facts.key = text_of(record.key);
  facts.value = text_of(record.value);
  facts.header_count = record.header_count;
  facts.size_bytes = static_cast<std::int64_t>((record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0) +
                                               record.header_bytes.size());
  facts.headers.clear();
  if (headers && record.header_count > 0) {
    wire::HeaderCursor cursor = record.headers();
    wire::HeaderView header;
    while (cursor.next(header)) {
      facts.headers.push_back({header.key, text_of(header.value)});
    }
  }
}

}  // namespace

bool CommittedView::takes(const wire::BatchView& batch) {
  if (batch.control()) {
    // An abort marker ends what its producer had open.
    Result<wire::RecordIterator> records = wire::RecordIterator::open(batch);
    wire::RecordView record;
    if (records && records->next(record) && wire::parse_control_key(record.key) == wire::ControlType::abort) {
      std::erase(open_, batch.producer_id().value());
    }
    return false;
  }
  if (!batch.transactional()) {
    return true;
  }
  const std::int64_t producer = batch.producer_id().value();
  std::erase_if(aborted_, [&](const BatchAnswer::Aborted& a) {
    if (a.producer_id == producer && a.first_offset <= batch.last_offset().value()) {
      open_.push_back(producer);
      return true;
    }
    return false;
  });
  return std::find(open_.begin(), open_.end(), producer) == open_.end();
}

void decode_rows(const BytesChain& batches, const std::vector<BatchAnswer::Aborted>& aborted, const ReadQuery& query,
                 ReadAnswer& answer) {
  const Bytes bytes = batches.flatten();
  const auto wanted = static_cast<std::size_t>(std::max(query.max_records, 0));
  answer.next_offset = std::max(query.from_offset, answer.log_start_offset);
  CommittedView committed(aborted);
  wire::BatchCursor cursor(bytes.span());
  wire::BatchView batch;
  while (answer.rows.size() < wanted && cursor.next(batch)) {
    if (batch.base_offset().value() >= query.to_offset) {
      return;
    }
    const bool left_out = query.isolation == Isolation::committed ? !committed.takes(batch)
                                                                  : (query.isolation == Isolation::all && batch.control());
    if (left_out) {
      answer.next_offset = std::max(answer.next_offset, batch.next_offset().value());
      continue;
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
      answer.rows.push_back(row_of(batch, *records, record, query.partition, query.value_head));
      answer.next_offset = offset + 1;
    }
    if (records->failed()) {
      answer.error = in_words(batch, records->problem());
      return;
    }
    answer.next_offset = batch.next_offset().value();  // compaction may have removed the last records
  }
}

RecordRow Match::row(std::int64_t head) const {
  if (head <= 0) {
    return row_of(batch_, records_, record_, partition_, 0);
  }
  RecordRow row;
  fill_batch(row, batch_, record_, partition_);
  // One block for all of it, so that a hit keeps nothing of the log alive.
  const std::size_t value = record_.value ? std::min(record_.value->size(), static_cast<std::size_t>(head)) : 0;
  ByteBuilder builder((record_.key ? record_.key->size() : 0) + value + record_.header_bytes.size());
  struct Place {
    std::size_t at;
    std::size_t size;
  };
  const auto put = [&builder](ByteSpan bytes) {
    const Place place{builder.size(), bytes.size()};
    builder.append(bytes);
    return place;
  };
  const Place key_at = record_.key ? put(*record_.key) : Place{};
  const Place value_at = record_.value ? put(record_.value->first(value)) : Place{};
  std::vector<std::pair<std::string, std::optional<Place>>> places;
  wire::HeaderCursor headers = record_.headers();
  wire::HeaderView header;
  while (headers.next(header)) {
    places.emplace_back(std::string(header.key), header.value ? std::optional<Place>(put(*header.value)) : std::nullopt);
  }
  const Bytes all = builder.finish();
  const auto slice = [&all](const Place& place) { return place.size == 0 ? Bytes() : all.slice(place.at, place.size); };
  if (record_.key) {
    row.key = slice(key_at);
  }
  if (record_.value) {
    row.value = slice(value_at);
  }
  for (auto& [name, place] : places) {
    row.headers.emplace_back(std::move(name), place ? std::optional<Bytes>(slice(*place)) : std::nullopt);
  }
  return row;
}

std::int64_t Match::timestampMs() const { return record_.timestamp_ms; }

std::optional<std::string_view> Match::key() const { return text_of(record_.key); }

JudgeResult judge_batches(const Bytes& batches, const JudgeQuery& query, const std::function<bool()>& keep_on,
                          const std::function<bool(const Match&)>& match) {
  constexpr int kAskEvery = 512;
  JudgeResult result;
  result.next_offset = query.from;
  filter::RecordSource source;
  source.facts.topic = query.topic;
  source.facts.partition = query.partition;
  const bool headers = query.filter != nullptr && query.filter->uses(static_cast<int>(filter::RecordField::hdr));
  static const std::vector<BatchAnswer::Aborted> kNone;
  CommittedView committed(query.aborted == nullptr ? kNone : *query.aborted);
  wire::BatchCursor cursor(batches.span());
  wire::BatchView batch;
  while (cursor.next(batch)) {
    const std::int64_t base = batch.base_offset().value();
    if (base >= query.to) {
      result.next_offset = std::max(result.next_offset, query.to);
      return result;
    }
    if (!keep_on()) {
      result.stopped = true;
      return result;
    }
    const std::int64_t next = batch.next_offset().value();
    if (next <= query.from) {
      continue;
    }
    const bool left_out = query.isolation == Isolation::committed ? !committed.takes(batch)
                                                                  : (query.isolation == Isolation::all && batch.control());
    if (!left_out) {
      result.first_time_ms = result.first_time_ms < 0 ? batch.base_timestamp() : std::min(result.first_time_ms, batch.base_timestamp());
      result.last_time_ms = std::max(result.last_time_ms, batch.max_timestamp());
    }
    const bool whole = base >= query.from && next <= query.to;
    const bool possible = batch.max_timestamp() >= query.from_time_ms &&
                          (query.filter == nullptr || query.filter->empty() ||
                          (query.filter->possible(static_cast<int>(filter::RecordField::offset), base, next - 1) &&
                           query.filter->possible(static_cast<int>(filter::RecordField::time), INT64_MIN, batch.max_timestamp())));
    if (left_out || (!possible && whole)) {
      result.records += left_out ? 0 : batch.count();
      result.next_offset = std::max(result.next_offset, std::min(next, query.to));
      continue;
    }
    source.facts.control = batch.control();
    source.facts.transactional = batch.transactional();
    source.facts.compression = codec_name(batch);
    source.facts.batch_base_offset = base;
    source.facts.batch_records = batch.count();
    source.facts.leader_epoch = batch.leader_epoch().value();
    source.facts.producer_id = batch.producer_id().value();
    source.facts.producer_epoch = batch.producer_epoch().value();
    const auto position = static_cast<std::size_t>(batch.span().data() - batches.data());
    Result<wire::RecordIterator> records = wire::RecordIterator::open(batches.slice(position, batch.size()));
    if (!records) {
      result.error = in_words(batch, records.error().detail);
      return result;
    }
    wire::RecordView record;
    while (records->next(record)) {
      const std::int64_t offset = record.offset.value();
      if (offset < query.from) {
        continue;
      }
      if (offset >= query.to) {
        break;
      }
      ++result.records;
      if (result.records % kAskEvery == 0 && !keep_on()) {
        result.stopped = true;
        return result;
      }
      if (query.filter != nullptr && !query.filter->empty()) {
        fill_facts(source.facts, record, headers);
        source.facts.sequence = batch.base_sequence() < 0
                                    ? -1
                                    : static_cast<std::int32_t>((std::int64_t{batch.base_sequence()} + record.index) & 0x7fffffff);
        if (!query.filter->matches(source)) {
          continue;
        }
      }
      if (record.timestamp_ms < query.from_time_ms) {
        continue;
      }
      ++result.hits;
      if (!match(Match(batch, *records, record, query.partition))) {
        result.stopped = true;
        return result;
      }
    }
    if (records->failed()) {
      result.error = in_words(batch, records->problem());
      return result;
    }
    result.next_offset = std::max(result.next_offset, std::min(next, query.to));
  }
  return result;
}

std::vector<RecordRow> in_time_order(std::vector<RecordRow> rows) {
  std::sort(rows.begin(), rows.end(), [](const RecordRow& a, const RecordRow& b) {
    return a.partition == b.partition ? a.offset < b.offset : a.partition < b.partition;
  });
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  order.reserve(rows.size());
  std::int64_t latest = INT64_MIN;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    latest = i > 0 && rows[i].partition == rows[i - 1].partition ? std::max(latest, rows[i].timestamp_ms) : rows[i].timestamp_ms;
    order.emplace_back(latest, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<RecordRow> out;
  out.reserve(rows.size());
  for (const auto& [time, index] : order) {
    out.push_back(std::move(rows[index]));
  }
  return out;
}

BatchEnds batch_ends(const Bytes& batches) {
  BatchEnds ends;
  wire::BatchCursor cursor(batches.span());
  wire::BatchView batch;
  while (cursor.next(batch)) {
    ends.next_offset = batch.next_offset().value();
    ends.first_time_ms = ends.first_time_ms < 0 ? batch.base_timestamp() : std::min(ends.first_time_ms, batch.base_timestamp());
    ends.last_time_ms = std::max(ends.last_time_ms, batch.max_timestamp());
  }
  return ends;
}

}  // namespace hw::ui
