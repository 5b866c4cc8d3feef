// SPDX-License-Identifier: Apache-2.0
#include "ui/filter/record_fields.h"

#include <QCoreApplication>

#include "ui/filter/json_path.h"

namespace hw::ui::filter {

namespace {

class Words {
  Q_DECLARE_TR_FUNCTIONS(Filter)
};

VocabularyPtr make() {
  const auto field = [](RecordField id, const char* name, Type type, const QString& help) {
    Field f;
    f.id = static_cast<int>(id);
    f.name = name;
    f.type = type;
    f.help = help;
    return f;
  };
  std::vector<Field> fields{
      field(RecordField::key, "key", Type::text, Words::tr("the key; null is not empty")),
      field(RecordField::value, "value", Type::text, Words::tr("the value; value.a.b is a place in JSON")),
      field(RecordField::hdr, "hdr", Type::text, Words::tr("a header by its name")),
      field(RecordField::partition, "partition", Type::number, Words::tr("the partition")),
      field(RecordField::offset, "offset", Type::number, Words::tr("the offset in its partition")),
      field(RecordField::time, "time", Type::time, Words::tr("the record's timestamp")),
      field(RecordField::size, "size", Type::size, Words::tr("bytes of key, value and headers")),
      field(RecordField::key_size, "key_size", Type::size, Words::tr("bytes of the key")),
      field(RecordField::value_size, "value_size", Type::size, Words::tr("bytes of the value")),
      field(RecordField::headers, "headers", Type::number, Words::tr("how many headers")),
      field(RecordField::tombstone, "tombstone", Type::boolean, Words::tr("the value is null")),
      field(RecordField::control, "control", Type::boolean, Words::tr("a transaction marker")),
      field(RecordField::transactional, "transactional", Type::boolean, Words::tr("written in a transaction")),
      field(RecordField::compression, "compression", Type::text, Words::tr("codec of the batch")),
      field(RecordField::batch, "batch", Type::number, Words::tr("base offset of the batch")),
      field(RecordField::batch_records, "batch_records", Type::number, Words::tr("records in the batch")),
      field(RecordField::epoch, "epoch", Type::number, Words::tr("leader epoch of the batch")),
      field(RecordField::producer_id, "producer_id", Type::number, Words::tr("the producer's id, -1: none")),
      field(RecordField::producer_epoch, "producer_epoch", Type::number, Words::tr("the producer's epoch")),
      field(RecordField::sequence, "sequence", Type::number, Words::tr("the producer's sequence number")),
      field(RecordField::topic, "topic", Type::text, Words::tr("the topic")),
  };
  fields[0].path = true;
  fields[1].path = true;
  fields[2].subscript = true;
  for (Field& f : fields) {
    if (f.id == static_cast<int>(RecordField::compression)) {
      f.values = {QStringLiteral("none"), QStringLiteral("gzip"), QStringLiteral("snappy"), QStringLiteral("lz4"), QStringLiteral("zstd")};
    }
  }
  return std::make_shared<const Vocabulary>(std::move(fields), std::vector<std::string>{"key", "value", "hdr"});
}

Datum bytes_of(const std::optional<std::string_view>& text) { return text ? Datum::ofText(*text) : Datum::ofNull(); }

}  // namespace

const VocabularyPtr& record_vocabulary() {
  static const VocabularyPtr vocabulary = make();
  return vocabulary;
}

Datum RecordSource::get(const FieldRef& ref, std::size_t occurrence) const {
  const auto place = [&](const std::optional<std::string_view>& text) {
    if (ref.path.empty()) {
      return bytes_of(text);
    }
    return text ? json_find(*text, ref.path, unescaped_) : Datum{};
  };
  switch (static_cast<RecordField>(ref.field)) {
    case RecordField::topic:
      return Datum::ofText(facts.topic);
    case RecordField::partition:
      return Datum::ofNumber(facts.partition);
    case RecordField::offset:
      return Datum::ofNumber(facts.offset);
    case RecordField::time:
      return facts.timestamp_ms < 0 ? Datum{} : Datum::ofNumber(facts.timestamp_ms);
    case RecordField::key:
      return place(facts.key);
    case RecordField::value:
      return place(facts.value);
    case RecordField::hdr: {
      // Without a name (a word alone): every header, its name and its value.
      const bool any = ref.subscript.empty();
      std::size_t seen = 0;
      for (std::size_t i = 0; i < facts.headers.size(); ++i) {
        const RecordFacts::Header& header = facts.headers[i];
        if (!any && header.name != ref.subscript) {
          continue;
        }
        if (any) {
          if (seen++ == occurrence) {
            Datum d = Datum::ofText(header.name);
            d.more = true;
            return d;
          }
        }
        if (seen++ == occurrence) {
          Datum d = bytes_of(header.value);
          d.more = i + 1 < facts.headers.size();
          return d;
        }
      }
      return {};
    }
    case RecordField::size:
      return Datum::ofNumber(facts.size_bytes);
    case RecordField::key_size:
      return facts.key ? Datum::ofNumber(static_cast<std::int64_t>(facts.key->size())) : Datum::ofNull();
    case RecordField::value_size:
      return facts.value ? Datum::ofNumber(static_cast<std::int64_t>(facts.value->size())) : Datum::ofNull();
    case RecordField::headers:
      return Datum::ofNumber(facts.header_count);
    case RecordField::tombstone:
      return Datum::ofBool(!facts.value && !facts.control);
    case RecordField::control:
      return Datum::ofBool(facts.control);
    case RecordField::transactional:
      return Datum::ofBool(facts.transactional);
    case RecordField::compression:
      return Datum::ofText(facts.compression);
    case RecordField::batch:
      return Datum::ofNumber(facts.batch_base_offset);
    case RecordField::batch_records:
      return Datum::ofNumber(facts.batch_records);
    case RecordField::epoch:
      return Datum::ofNumber(facts.leader_epoch);
    case RecordField::producer_id:
      return Datum::ofNumber(facts.producer_id);
    case RecordField::producer_epoch:
      return Datum::ofNumber(facts.producer_epoch);
    case RecordField::sequence:
      return Datum::ofNumber(facts.sequence);
  }
  return {};
}

}  // namespace hw::ui::filter
