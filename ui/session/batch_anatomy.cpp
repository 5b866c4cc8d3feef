// SPDX-License-Identifier: Apache-2.0
#include "ui/session/batch_anatomy.h"

#include <QCoreApplication>
#include <QMetaObject>
#include <QPointer>
#include <algorithm>

#include "engine/wire/record/batch.h"
#include "engine/wire/record/compression.h"
#include "engine/wire/record/record_iterator.h"
#include "ui/session/batch_reader.h"
#include "ui/session/record_rows.h"

namespace hw::ui {

namespace {

using Kind = BytesField::Kind;

// Zigzag varints, bounded by the record they stand in.
class Cursor {
 public:
  Cursor(ByteSpan bytes, std::int64_t at) : bytes_(bytes), at_(at) {}
  [[nodiscard]] std::int64_t at() const { return at_; }
  bool varint(std::int64_t& value) {
    std::uint64_t raw = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ >= static_cast<std::int64_t>(bytes_.size())) {
        return false;
      }
      const auto byte = static_cast<std::uint64_t>(bytes_[static_cast<std::size_t>(at_++)]);
      raw |= (byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) {
        value = static_cast<std::int64_t>(raw >> 1) ^ -static_cast<std::int64_t>(raw & 1U);
        return true;
      }
    }
    return false;
  }
  bool skip(std::int64_t count) {
    if (count < 0 || count > static_cast<std::int64_t>(bytes_.size()) - at_) {
      return false;
    }
    at_ += count;
    return true;
  }

 private:
  ByteSpan bytes_;
  std::int64_t at_;
};

BytesField leaf(Kind kind, std::int64_t begin, std::int64_t end, std::int64_t number, bool in_records = true) {
  BytesField f;
  f.kind = kind;
  f.in_records = in_records;
  f.begin = begin;
  f.end = end;
  f.number = number;
  return f;
}

// A length and what it counts. A negative length is null and has no bytes.
bool sized(Cursor& c, BytesField& into, Kind length_kind, Kind kind, std::int32_t index) {
  const std::int64_t begin = c.at();
  std::int64_t length = 0;
  if (!c.varint(length)) {
    return false;
  }
  into.children.push_back(leaf(length_kind, begin, c.at(), length));
  BytesField f = leaf(kind, c.at(), c.at(), length);
  f.index = index;
  if (length > 0 && !c.skip(length)) {
    return false;
  }
  f.end = c.at();
  into.children.push_back(std::move(f));
  return true;
}

bool record_fields(ByteSpan records, BytesField& record) {
  Cursor c(records, record.begin);
  std::int64_t number = 0;
  const auto varint = [&](Kind kind) {
    const std::int64_t begin = c.at();
    if (!c.varint(number)) {
      return false;
    }
    record.children.push_back(leaf(kind, begin, c.at(), number));
    return true;
  };
  if (!varint(Kind::record_length)) {
    return false;
  }
  record.children.push_back(leaf(Kind::record_attributes, c.at(), c.at() + 1, 0));
  if (!c.skip(1)) {
    return false;
  }
  record.children.back().number = static_cast<std::int64_t>(records[static_cast<std::size_t>(c.at() - 1)]);
  if (!varint(Kind::timestamp_delta) || !varint(Kind::offset_delta) || !sized(c, record, Kind::key_length, Kind::key, -1) ||
      !sized(c, record, Kind::value_length, Kind::value, -1) || !varint(Kind::header_count)) {
    return false;
  }
  const std::int64_t headers = number;
  constexpr std::int64_t kMostHeaders = 1'000;
  for (std::int64_t i = 0; i < std::min(headers, kMostHeaders); ++i) {
    BytesField header = leaf(Kind::header, c.at(), c.at(), i);
    header.index = static_cast<std::int32_t>(i);
    if (!sized(c, header, Kind::header_name_length, Kind::header_name, header.index) ||
        !sized(c, header, Kind::header_value_length, Kind::header_value, header.index)) {
      return false;
    }
    header.end = c.at();
    record.children.push_back(std::move(header));
  }
  return true;
}

}  // namespace

BatchAnatomy anatomy_of(const Bytes& stored, std::int32_t partition, std::int64_t offset) {
  BatchAnatomy out;
  const wire::BatchRead read = wire::read_batch(stored.span());
  if (read.status != wire::BatchStatus::ok) {
    out.error = Session::tr("The record is no longer in the log.");
    return out;
  }
  const wire::BatchView& batch = read.view;
  out.stored = stored.slice(0, batch.size());
  out.computed_crc = batch.computed_crc();
  out.crc_ok = out.computed_crc == batch.crc();
  const auto field = [&out](Kind kind, std::int64_t begin, std::int64_t size, std::int64_t number) {
    out.header.push_back(leaf(kind, begin, begin + size, number, false));
  };
  field(Kind::base_offset, 0, 8, batch.base_offset().value());
  field(Kind::length, 8, 4, batch.length());
  field(Kind::leader_epoch, 12, 4, batch.leader_epoch().value());
  field(Kind::magic, 16, 1, batch.magic());
  field(Kind::crc, 17, 4, batch.crc());
  field(Kind::attributes, 21, 2, static_cast<std::uint16_t>(batch.attributes()));
  field(Kind::last_offset_delta, 23, 4, batch.last_offset_delta());
  field(Kind::base_timestamp, 27, 8, batch.base_timestamp());
  field(Kind::max_timestamp, 35, 8, batch.max_timestamp());
  field(Kind::producer_id, 43, 8, batch.producer_id().value());
  field(Kind::producer_epoch, 51, 2, batch.producer_epoch().value());
  field(Kind::base_sequence, 53, 4, batch.base_sequence());
  field(Kind::record_count, 57, 4, batch.count());
  out.all_records = leaf(Kind::records, static_cast<std::int64_t>(wire::kBatchHeaderSize), static_cast<std::int64_t>(batch.size()),
                         batch.count(), false);
  if (!batch.known_compression()) {
    out.error = Session::tr("The batch names a codec that does not exist.");
    return out;
  }
  out.compressed = batch.compression() != wire::Compression::none;
  const Bytes payload = out.stored.slice(wire::kBatchHeaderSize, batch.size() - wire::kBatchHeaderSize);
  if (out.compressed) {
    Result<Bytes> plain = wire::decompress(batch.compression(), payload.span());
    if (!plain) {
      out.error = Session::tr("The records cannot be decompressed: %1").arg(QString::fromStdString(plain.error().detail));
      return out;
    }
    out.records = std::move(*plain);
  } else {
    out.records = payload;
  }
  const ByteSpan bytes = out.records.span();
  std::int64_t at = 0;
  for (std::int32_t i = 0; i < batch.count() && at < static_cast<std::int64_t>(bytes.size()); ++i) {
    Cursor c(bytes, at);
    std::int64_t length = 0;
    if (!c.varint(length) || length <= 0 || !c.skip(length)) {
      out.error = Session::tr("Record %1 of the batch cannot be read.").arg(i);
      return out;
    }
    wire::RecordView view;
    const char* problem = nullptr;
    (void)wire::parse_record(bytes.subspan(static_cast<std::size_t>(at)), batch, view, problem);
    if (problem != nullptr) {
      out.error = Session::tr("Record %1 of the batch cannot be read.").arg(i);
      return out;
    }
    const bool wanted = view.offset.value() == offset;
    if (i < BatchAnatomy::kListed || wanted) {
      BytesField record = leaf(Kind::record, at, c.at(), view.offset.value());
      record.index = i;
      if (i < BatchAnatomy::kFull || wanted) {
        (void)record_fields(bytes, record);
      }
      out.all_records.children.push_back(std::move(record));
    }
    out.found = out.found || wanted;
    at = c.at();
  }
  if (out.found) {
    ReadQuery query;
    query.partition = partition;
    query.from_offset = offset;
    query.to_offset = offset + 1;
    query.max_records = 1;
    ReadAnswer answer;
    decode_rows(BytesChain(out.stored), {}, query, answer);
    if (!answer.rows.empty()) {
      out.row = std::move(answer.rows.front());
    }
  } else {
    out.error = Session::tr("The record is no longer in the log.");
  }
  return out;
}

void read_anatomy(const std::shared_ptr<BatchReader>& reader, const std::string& topic, std::int32_t partition,
                  std::int64_t offset, QObject* context, std::function<void(BatchAnatomyPtr)> done) {
  // Told on the UI thread, if anybody is still there: the guard is asked only there.
  const QPointer<QObject> guard(context);
  const auto tell = [guard, done = std::move(done)](const BatchAnatomyPtr& anatomy) {
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [guard, done, anatomy] {
          if (guard) {
            done(anatomy);
          }
        },
        Qt::QueuedConnection);
  };
  if (reader == nullptr) {
    auto none = std::make_shared<BatchAnatomy>();
    none->error = Session::tr("This cluster does not give its batches away.");
    tell(none);
    return;
  }
  BatchQuery query;
  query.topic = topic;
  query.partition = partition;
  query.from_offset = offset;
  query.max_bytes = 1;  // the batch that holds it comes whole
  reader->read(query, [tell, partition, offset](const BatchAnswer& answer) {
    auto anatomy = std::make_shared<BatchAnatomy>();
    if (answer.error.isEmpty()) {
      *anatomy = anatomy_of(answer.bytes, partition, offset);
    } else {
      anatomy->error = answer.error;
    }
    tell(anatomy);
  });
}

}  // namespace hw::ui
