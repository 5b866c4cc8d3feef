// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <algorithm>
#include <string>
#include <vector>

#include "engine/base/prng.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/record/batch_builder.h"
#include "engine/wire/record/compression.h"
#include "engine/wire/record/crc32c.h"
#include "engine/wire/record/record_iterator.h"
#include "engine/wire/record/validate.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::wire;  // NOLINT(google-build-using-namespace)

namespace {

constexpr WallTime kNow{1'700'000'000'000};
const std::vector<Compression> kCodecs = {Compression::none, Compression::gzip, Compression::snappy, Compression::lz4,
                                          Compression::zstd};

struct Header {
  std::string key;
  std::optional<std::string> value;
  friend bool operator==(const Header&, const Header&) = default;
};
struct Record {
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<Header> headers;
  std::int64_t timestamp_ms = kNow.ms;
  friend bool operator==(const Record&, const Record&) = default;
};

std::optional<ByteSpan> span_of(const std::optional<std::string>& text) {
  return text ? std::optional<ByteSpan>(as_bytes(*text)) : std::nullopt;
}
std::optional<std::string> text_of(const std::optional<ByteSpan>& bytes) {
  return bytes ? std::optional<std::string>(as_text(*bytes)) : std::nullopt;
}

Bytes build(const std::vector<Record>& records, BatchOptions options = {}) {
  BatchBuilder builder(options, 16);
  for (const Record& record : records) {
    std::vector<HeaderIn> headers;
    for (const Header& header : record.headers) {
      headers.push_back({header.key, span_of(header.value)});
    }
    const RecordIn in{span_of(record.key), span_of(record.value), headers, record.timestamp_ms};
    const std::size_t before = builder.size_bytes();
    const std::size_t bound = BatchBuilder::upper_bound(in);
    builder.append(in);
    HW_ASSERT(builder.size_bytes() - before <= bound, "the upper bound holds");
  }
  return builder.finish();
}

std::vector<Record> read_all(RecordIterator& records) {
  std::vector<Record> all;
  RecordView view;
  while (records.next(view)) {
    Record record{text_of(view.key), text_of(view.value), {}, view.timestamp_ms};
    HeaderCursor cursor = view.headers();
    for (HeaderView header; cursor.next(header);) {
      record.headers.push_back({std::string(header.key), text_of(header.value)});
    }
    all.push_back(std::move(record));
  }
  return all;
}

std::string random_text(Prng& prng, std::size_t longest) {
  std::string text(prng.below(longest + 1), '\0');
  const bool compressible = prng.chance({1, 2});
  for (char& c : text) {
    c = static_cast<char>(compressible ? 'a' + static_cast<int>(prng.below(3)) : static_cast<int>(prng.below(256)));
  }
  return text;
}
std::vector<Record> random_records(Prng& prng) {
  std::vector<Record> records(1 + prng.below(30));
  const std::size_t longest = prng.chance({1, 8}) ? 200'000 : 100;
  for (Record& record : records) {
    if (!prng.chance({1, 4})) {
      record.key = random_text(prng, 40);
    }
    if (!prng.chance({1, 6})) {
      record.value = random_text(prng, longest);
    }
    record.timestamp_ms = kNow.ms + prng.between(-100'000, 100'000);
    for (std::uint64_t left = prng.below(4); left > 0; --left) {
      Header header{random_text(prng, 10), std::nullopt};
      if (prng.chance({3, 4})) {
        header.value = random_text(prng, 50);
      }
      record.headers.push_back(std::move(header));
    }
  }
  return records;
}

// A batch written by hand: any records, any header.
struct Crafted {
  std::int16_t attributes = 0;
  std::int32_t count = 1;
  std::optional<std::int32_t> last_offset_delta;
  std::int64_t base_offset = 0;
  std::int64_t base_timestamp = kNow.ms;
  std::optional<std::int64_t> max_timestamp;
  std::int64_t producer_id = -1;
  std::int32_t base_sequence = -1;
  std::int8_t magic = 2;
  std::optional<std::uint32_t> crc;

  [[nodiscard]] Bytes bytes(std::string_view payload) const {
    ByteBuilder out;
    std::byte* p = out.extend(kBatchHeaderSize);
    store_u64(p, static_cast<std::uint64_t>(base_offset));
    store_u32(p + 8, static_cast<std::uint32_t>(kBatchHeaderSize - kLogOverhead + payload.size()));
    store_u32(p + 12, 0xffffffffU);
    p[16] = static_cast<std::byte>(magic);
    store_u16(p + 21, static_cast<std::uint16_t>(attributes));
    store_u32(p + 23, static_cast<std::uint32_t>(last_offset_delta.value_or(count - 1)));
    store_u64(p + 27, static_cast<std::uint64_t>(base_timestamp));
    store_u64(p + 35, static_cast<std::uint64_t>(max_timestamp.value_or(base_timestamp)));
    store_u64(p + 43, static_cast<std::uint64_t>(producer_id));
    store_u16(p + 51, producer_id < 0 ? 0xffffU : 0U);
    store_u32(p + 53, static_cast<std::uint32_t>(base_sequence));
    store_u32(p + 57, static_cast<std::uint32_t>(count));
    out.append(as_bytes(payload));
    seal_batch({out.data(), out.size()});
    if (crc) {
      store_u32(out.data() + 17, *crc);
    }
    return out.finish();
  }
};

std::string varint(std::int64_t value) {
  auto raw = (static_cast<std::uint64_t>(value) << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0);
  std::string out;
  for (; raw >= 0x80; raw >>= 7) {
    out.push_back(static_cast<char>(raw | 0x80));
  }
  out.push_back(static_cast<char>(raw));
  return out;
}
std::string field(const std::optional<std::string>& text) {
  return text ? varint(static_cast<std::int64_t>(text->size())) + *text : varint(-1);
}
// `tail` is what follows the offset delta; the default is key "k", value "v", no headers.
std::string raw_record(std::int32_t offset_delta = 0, std::optional<std::string> tail = std::nullopt,
                       std::optional<std::int64_t> length = std::nullopt, std::int64_t timestamp_delta = 0) {
  std::string body = std::string(1, '\0') + varint(timestamp_delta) + varint(offset_delta);
  body += tail.value_or(field("k") + field("v") + varint(0));
  return varint(length.value_or(static_cast<std::int64_t>(body.size()))) + body;
}
std::string packed(Compression codec, std::string_view text) {
  ByteBuilder out;
  compress(codec, as_bytes(text), out);
  return std::string(as_text(out.span()));
}

RecordScratch& scratch() {
  static RecordScratch kept;
  return kept;
}
ClientBatchCheck check(const Bytes& batch, const ProduceRules& rules = {}) {
  return check_client_batch(BatchView(batch.span()), rules, kNow, scratch());
}
Bytes from_hex(std::string_view hex) {
  ByteBuilder out;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    *out.extend(1) = static_cast<std::byte>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return out.finish();
}

}  // namespace

class TestWireRecord : public QObject {
  Q_OBJECT
 private slots:
  // ---- CRC
  void crcVectors() {
    QCOMPARE(crc32c(as_bytes("")), 0U);
    QCOMPARE(crc32c(as_bytes("123456789")), 0xe3069283U);
    QCOMPARE(crc32c(as_bytes(std::string(32, '\0'))), 0x8a9136aaU);  // RFC 3720 B.4
    QCOMPARE(crc32c(as_bytes(std::string(32, '\xff'))), 0x62a8ab43U);
  }
  void crcTwinsAgree() {
    Prng prng(1);
    std::string text(70'000, '\0');
    for (char& c : text) {
      c = static_cast<char>(prng.below(256));
    }
    for (int i = 0; i < 400; ++i) {
      const std::size_t from = prng.below(64);
      const std::size_t size = i < 100 ? static_cast<std::size_t>(i) : prng.below(text.size() - from);
      const ByteSpan part = as_bytes(text).subspan(from, size);
      const auto start = static_cast<std::uint32_t>(prng.next());
      QCOMPARE(crc32c_extend(start, part), crc32c_software(start, part));
      const std::size_t cut = prng.below(size + 1);
      QCOMPARE(crc32c_extend(crc32c(part.first(cut)), part.subspan(cut)), crc32c(part));
    }
  }

  // ---- Codecs
  void codecsRoundTrip() {
    Prng prng(2);
    for (const Compression codec : kCodecs) {
      QCOMPARE(parse_compression(compression_name(codec)), std::optional(codec));
      for (const std::size_t size : {0UL, 1UL, 10UL, 32'768UL, 32'769UL, 70'000UL, 400'000UL}) {
        for (const bool random : {false, true}) {
          std::string text(size, 'x');
          for (std::size_t i = 0; random && i < size; ++i) {
            text[i] = static_cast<char>(prng.below(256));
          }
          const std::string small = packed(codec, text);
          Result<Bytes> back = decompress(codec, as_bytes(small), text.size());
          QVERIFY2(back.has_value(), back ? "" : back.error().detail.c_str());
          QCOMPARE(back->text(), std::string_view(text));
          QVERIFY(random || size < 1000 || codec == Compression::none || small.size() < size / 4);
          if (size > 0) {
            QCOMPARE(decompress(codec, as_bytes(small), text.size() - 1).error().code, Errc::too_large);
          }
        }
      }
    }
    QVERIFY(!parse_compression("brotli"));
  }
  void codecsRefuseTruncationAndGarbage() {
    for (const Compression codec : kCodecs) {
      if (codec == Compression::none) {
        continue;
      }
      const std::string small = packed(codec, std::string(500, 'a') + "bcdefgh");
      for (std::size_t cut = 0; cut < small.size(); ++cut) {
        const Result<Bytes> back = decompress(codec, as_bytes(small).first(cut));
        // The xerial header alone is a complete stream of nothing; everything else must be refused.
        QVERIFY(!back || (codec == Compression::snappy && cut == 16 && back->empty()));
      }
      QVERIFY(!decompress(codec, as_bytes("garbage, which is no data of any codec")));
    }
  }
  void decompressorIsReusable() {
    for (const Compression codec : kCodecs) {
      const std::unique_ptr<Decompressor> stream = make_decompressor(codec);
      const std::string good = packed(codec, std::string(100'000, 'q'));
      std::vector<std::byte> into(7'001);
      for (int round = 0; round < 3; ++round) {
        stream->reset(as_bytes(good), 1'000'000);
        std::size_t total = 0;
        for (;;) {
          Result<std::size_t> got = stream->read(into);
          QVERIFY(got.has_value());
          if (*got == 0) {
            break;
          }
          total += *got;
          QVERIFY(*got == into.size() || total == 100'000);  // fills as far as it can
        }
        QCOMPARE(total, std::size_t{100'000});
        stream->reset(as_bytes("broken in the middle"), 1'000'000);
        (void)stream->read(into);
      }
    }
  }
  void snappyForms() {
    // One raw block: length 5, literal of 5.
    const std::string raw = std::string("\x05\x10", 2) + "hello";
    QCOMPARE(decompress(Compression::snappy, as_bytes(raw))->text(), std::string_view("hello"));
    // Two framed streams, one after the other.
    const std::string twice = packed(Compression::snappy, "one ") + packed(Compression::snappy, "two");
    QCOMPARE(decompress(Compression::snappy, as_bytes(twice))->text(), std::string_view("one two"));
    // A block that claims 4 GiB is refused before memory is taken.
    const std::string liar("\xff\xff\xff\xff\x0f\x10hello", 11);
    QCOMPARE(decompress(Compression::snappy, as_bytes(liar), SIZE_MAX).error().code, Errc::corrupt);
  }
  void gzipMembersAndTail() {
    const std::string twice = packed(Compression::gzip, "one ") + packed(Compression::gzip, "two");
    QCOMPARE(decompress(Compression::gzip, as_bytes(twice))->text(), std::string_view("one two"));
    const std::string tail = packed(Compression::gzip, "one") + "xxxx";
    QCOMPARE(decompress(Compression::gzip, as_bytes(tail))->text(), std::string_view("one"));
  }
  void bombsStopAtTheBound() {
    for (const Compression codec : kCodecs) {
      if (codec == Compression::none) {
        continue;
      }
      const std::string bomb = packed(codec, std::string(30'000'000, '\0'));
      QCOMPARE(decompress(codec, as_bytes(bomb), 1'000'000).error().code, Errc::too_large);
    }
  }

  // ---- Batches
  void roundTripOverCodecsAndShapes() {
    Prng prng(3);
    for (int round = 0; round < 60; ++round) {
      for (const Compression codec : kCodecs) {
        const std::vector<Record> records = random_records(prng);
        BatchOptions options;
        options.compression = codec;
        options.base_offset = Offset(prng.between(0, 1'000'000));
        options.leader_epoch = LeaderEpoch(static_cast<std::int32_t>(prng.below(100)));
        options.producer_id = ProducerId(77);
        options.producer_epoch = ProducerEpoch(3);
        options.base_sequence = 9;
        options.transactional = prng.chance({1, 2});
        const Bytes bytes = build(records, options);

        BatchCursor cursor(bytes.span());
        BatchView batch;
        QVERIFY(cursor.next(batch));
        QVERIFY(batch_intact(batch));
        QCOMPARE(batch.compression(), codec);
        QCOMPARE(batch.base_offset(), options.base_offset);
        QCOMPARE(batch.leader_epoch(), options.leader_epoch);
        QCOMPARE(batch.producer_id(), options.producer_id);
        QCOMPARE(batch.producer_epoch(), options.producer_epoch);
        QCOMPARE(batch.base_sequence(), 9);
        QCOMPARE(batch.count(), static_cast<int>(records.size()));
        QCOMPARE(batch.last_offset(), options.base_offset + static_cast<std::int64_t>(records.size()) - 1);
        QCOMPARE(batch.transactional(), options.transactional);
        QVERIFY(!batch.control());
        QCOMPARE(batch.base_timestamp(), records.front().timestamp_ms);
        QCOMPARE(batch.max_timestamp(),
                 std::max_element(records.begin(), records.end(), [](const Record& a, const Record& b) {
                   return a.timestamp_ms < b.timestamp_ms;
                 })->timestamp_ms);
        QVERIFY(!cursor.next(batch));
        QCOMPARE(cursor.status(), BatchStatus::end);

        Result<RecordIterator> iterator = RecordIterator::open(BatchView(bytes.span()));
        QVERIFY(iterator.has_value());
        QVERIFY(read_all(*iterator) == records);
        QVERIFY2(!iterator->failed(), iterator->problem().c_str());
      }
    }
  }
  void iteratorSharesItsBlock() {
    for (const Compression codec : kCodecs) {
      BatchOptions options;
      options.compression = codec;
      Bytes kept;
      {
        Bytes batch = build({{"key", "value", {}, 1}}, options);
        Result<RecordIterator> records = RecordIterator::open(std::move(batch));
        RecordView record;
        QVERIFY(records->next(record));
        kept = records->share(*record.value);
        QVERIFY(kept.owners() > 1);  // a slice, not a copy
      }
      QCOMPARE(kept.text(), std::string_view("value"));
    }
  }
  void everyTruncationIsSeen() {
    const Bytes one = build({{"a", "b", {{"h", "x"}}, kNow.ms}});
    ByteBuilder two;
    two.append(one.span());
    two.append(one.span());
    const Bytes both = two.finish();
    for (std::size_t cut = 0; cut <= both.size(); ++cut) {
      BatchCursor cursor(both.span().first(cut));
      BatchView batch;
      std::size_t batches = 0;
      while (cursor.next(batch)) {
        ++batches;
      }
      QCOMPARE(batches, cut / one.size());
      QCOMPARE(cursor.status(), cut % one.size() == 0 ? BatchStatus::end : BatchStatus::truncated);
      QCOMPARE(cursor.position(), batches * one.size());
      QCOMPARE(cursor.problem().empty(), cursor.status() == BatchStatus::end);
    }
  }
  void everyFlippedBitBehindTheCrcIsSeen() {
    const Bytes one = build({{"a", "b", {{"h", "x"}}, kNow.ms}});
    for (std::size_t i = 0; i < one.size() * 8; ++i) {
      Bytes bad = Bytes::copy_of(one.span());
      bad.unique_data()[i / 8] ^= static_cast<std::byte>(1 << (i % 8));
      const BatchRead read = read_batch(bad.span());
      if (read.status == BatchStatus::ok && read.size == one.size()) {
        QCOMPARE(batch_intact(read.view), i / 8 < 8 || (i / 8 >= 12 && i / 8 < 16));  // base offset, leader epoch
      }
    }
  }
  void truncatedAndCorruptAreNotTheSame() {
    Bytes bad = Bytes::copy_of(build({{"a", "b", {}, 1}}).span());
    store_u32(bad.unique_data() + 8, 13);
    QCOMPARE(read_batch(bad.span()).status, BatchStatus::corrupt);
    QCOMPARE(read_batch(bad.span().first(12)).status, BatchStatus::corrupt);
    store_u32(bad.unique_data() + 8, 0xfffffff0U);
    QCOMPARE(read_batch(bad.span()).status, BatchStatus::corrupt);
    store_u32(bad.unique_data() + 8, 20);  // enough for magic 0, not for 2
    QCOMPARE(read_batch(bad.span()).status, BatchStatus::corrupt);
    store_u32(bad.unique_data() + 8, 0x7fffffff);
    QCOMPARE(read_batch(bad.span()).status, BatchStatus::truncated);
    bad = Bytes::copy_of(build({{"a", "b", {}, 1}}).span());
    bad.unique_data()[16] = std::byte{1};
    QCOMPARE(read_batch(bad.span()).status, BatchStatus::old_magic);
    bad.unique_data()[16] = std::byte{3};
    QCOMPARE(read_batch(bad.span()).status, BatchStatus::corrupt);
  }
  void iterationOfBadRecordsEndsWithAReason() {
    Prng prng(5);
    for (const Compression codec : kCodecs) {
      BatchOptions options;
      options.compression = codec;
      const Bytes good = build({{"a", "b", {{"h", "x"}}, kNow.ms}, {"c", std::nullopt, {}, kNow.ms}}, options);
      for (int round = 0; round < 2000; ++round) {
        Bytes bad = Bytes::copy_of(good.span());
        for (std::uint64_t flips = 1 + prng.below(3); flips > 0; --flips) {
          const std::size_t at = 23 + prng.below(bad.size() - 23);
          bad.unique_data()[at] = static_cast<std::byte>(prng.below(256));
        }
        Result<RecordIterator> records = RecordIterator::open(BatchView(bad.span()), 1'000'000);
        if (records) {
          read_all(*records);
          QCOMPARE(records->failed(), !records->problem().empty());
        } else {
          QVERIFY(!records.error().detail.empty());
        }
        (void)check(bad);
      }
    }
  }
  void negativeLengthsAreNull() {
    const Bytes batch = Crafted{}.bytes(raw_record(0, varint(-5) + varint(-9) + varint(1) + field("h") + varint(-3)));
    QVERIFY(check(batch).verdict.ok());
    Result<RecordIterator> records = RecordIterator::open(BatchView(batch.span()));
    const std::vector<Record> all = read_all(*records);
    QVERIFY(!records->failed());
    QVERIFY(all == (std::vector<Record>{{std::nullopt, std::nullopt, {{"h", std::nullopt}}, kNow.ms}}));
  }
  void patchesKeepTheCrc() {
    Bytes batch = Bytes::copy_of(build({{"a", "b", {}, 5}, {"c", "d", {}, 6}}).span());
    const MutableByteSpan bytes{batch.unique_data(), batch.size()};
    set_last_offset(bytes, Offset{101});
    set_leader_epoch(bytes, LeaderEpoch{7});
    const BatchView view(batch.span());
    QCOMPARE(view.base_offset(), Offset{100});
    QCOMPARE(view.leader_epoch(), LeaderEpoch{7});
    QVERIFY(view.crc_ok());
    QVERIFY(!set_max_timestamp(bytes, TimestampType::create_time, 6));
    QVERIFY(set_max_timestamp(bytes, TimestampType::log_append_time, 99));
    QVERIFY(view.crc_ok());
    QCOMPARE(view.timestamp_type(), TimestampType::log_append_time);
    Result<RecordIterator> records = RecordIterator::open(view);
    RecordView record;
    QVERIFY(records->next(record));
    QCOMPARE(record.timestamp_ms, std::int64_t{99});
    QCOMPARE(record.offset, Offset{100});
    QVERIFY(set_max_timestamp(bytes, TimestampType::create_time, 6));
    QCOMPARE(view.attributes(), std::int16_t{0});
  }
  void sequencesWrap() {
    BatchOptions options;
    options.base_sequence = 0x7fffffff;
    options.producer_id = ProducerId{1};
    const Bytes batch = build({{"a", "b", {}, 5}, {"c", "d", {}, 6}, {"e", "f", {}, 6}}, options);
    QCOMPARE(BatchView(batch.span()).last_sequence(), 1);
    const Bytes none = build({{"a", "b", {}, 5}});
    QCOMPARE(BatchView(none.span()).last_sequence(), -1);
  }
  void compactedBatchesKeepGapsAndHorizon() {
    BatchOptions options;
    options.base_offset = Offset{50};
    options.delete_horizon_ms = 123'456;
    BatchBuilder builder(options);
    RecordIn record;
    record.key = as_bytes("k");
    record.timestamp_ms = 100'000;
    builder.append_at(Offset{53}, record);
    builder.append_at(Offset{60}, record);
    builder.keep_last_offset(Offset{69});
    const Bytes bytes = builder.finish();
    const BatchView batch(bytes.span());
    QCOMPARE(batch.last_offset(), Offset{69});
    QCOMPARE(batch.count(), 2);
    QCOMPARE(batch.delete_horizon_ms(), std::optional<std::int64_t>(123'456));
    Result<RecordIterator> records = RecordIterator::open(batch);
    RecordView view;
    QVERIFY(records->next(view));
    QCOMPARE(view.offset, Offset{53});
    QCOMPARE(view.timestamp_ms, std::int64_t{100'000});
    QVERIFY(records->next(view));
    QCOMPARE(view.offset, Offset{60});
    QVERIFY(!records->next(view));
    QVERIFY(!records->failed());
  }
  void controlBatches() {
    const Bytes marker = end_txn_marker_batch(true, 12, ProducerId{5}, ProducerEpoch{2}, 1000, Offset{7});
    const BatchView batch(marker.span());
    QVERIFY(batch.control() && batch.transactional() && batch.crc_ok());
    QCOMPARE(batch.attributes(), std::int16_t{0x30});
    QCOMPARE(batch.base_sequence(), -1);
    Result<RecordIterator> records = RecordIterator::open(batch);
    RecordView record;
    QVERIFY(records->next(record));
    QCOMPARE(parse_control_key(record.key), std::optional(ControlType::commit));
    QCOMPARE(parse_end_txn_marker(record.value), std::optional<std::int32_t>(12));
    QCOMPARE(record.key->size(), std::size_t{4});
    const Bytes change = control_batch(ControlType::leader_change, as_bytes("v"), 5);
    Result<RecordIterator> others = RecordIterator::open(BatchView(change.span()));
    QVERIFY(others->next(record));
    QCOMPARE(parse_control_key(record.key), std::optional(ControlType::leader_change));
    QVERIFY(!parse_control_key(std::nullopt));
    QVERIFY(!parse_control_key(as_bytes("abc")));
    QVERIFY(!parse_end_txn_marker(as_bytes("abc")));
  }
  // Written by Apache Kafka 4.4.0 (its Java producer, through its broker), read from the segment files.
  void batchesOfKafka() {
#include "kafka_batches.inc"
    int seen = 0;
    for (const char* hex : kKafkaBatches) {
      const Bytes bytes = from_hex(hex);
      const BatchRead read = read_batch(bytes.span());
      QCOMPARE(read.status, BatchStatus::ok);
      QVERIFY(batch_intact(read.view));
      Result<RecordIterator> records = RecordIterator::open(read.view);
      QVERIFY2(records.has_value(), records ? "" : records.error().detail.c_str());
      const std::vector<Record> all = read_all(*records);
      QVERIFY2(!records->failed(), records->problem().c_str());
      QCOMPARE(all.size(), std::size_t{3});
      QCOMPARE(*all[0].key, std::string("key"));
      QCOMPARE(*all[0].value, std::string(200, 'v'));
      QCOMPARE(all[0].headers.size(), std::size_t{2});
      QCOMPARE(all[0].headers[0].key, std::string("h1"));
      QCOMPARE(*all[0].headers[0].value, std::string("x"));
      QVERIFY(!all[0].headers[1].value);
      QVERIFY(!all[1].key && all[1].value && all[1].value->empty());
      QVERIFY(all[2].key && all[2].key->empty() && !all[2].value);
      seen |= 1 << read.view.compression_bits();
      // Ours says the same, byte for byte where no codec is between.
      BatchOptions options;
      options.base_offset = read.view.base_offset();
      options.leader_epoch = read.view.leader_epoch();
      options.producer_id = read.view.producer_id();
      options.producer_epoch = read.view.producer_epoch();
      options.base_sequence = read.view.base_sequence();
      if (read.view.compression() == Compression::none) {
        QVERIFY(build(all, options) == bytes);
      }
    }
    QCOMPARE(seen, 0x1f);
  }

  // ---- What a leader checks
  void produceRequestWantsOneWholeBatch() {
    const Bytes one = build({{"a", "b", {}, kNow.ms}});
    const auto with = [&one](std::string_view tail) {
      ByteBuilder out;
      out.append(one.span());
      out.append(as_bytes(tail));
      return out.finish();
    };
    ProduceRequestCheck good = check_produce_request(one.span(), 13);
    QVERIFY(good.verdict.ok());
    QCOMPARE(good.size, one.size());
    QCOMPARE(check_produce_request({}, 13).verdict.error, ErrorCode::invalid_record);
    QVERIFY(!check_produce_request({}, 13).verdict.log_start_in_answer);
    QCOMPARE(check_produce_request(one.span().first(one.size() - 3), 13).verdict.error, ErrorCode::invalid_record);
    QCOMPARE(check_produce_request(with(one.text()).span(), 13).verdict.error, ErrorCode::invalid_record);
    good = check_produce_request(with(one.text().substr(0, 40)).span(), 13);
    QVERIFY(good.verdict.ok());
    QCOMPARE(good.size, one.size());
    QVERIFY(check_produce_request(with(std::string(5, '\0')).span(), 13).verdict.ok());
    const ProduceRequestCheck behind = check_produce_request(with(std::string(16, '\0')).span(), 13);
    QCOMPARE(behind.verdict.error, ErrorCode::corrupt_message);
    QVERIFY(!behind.whole_request && !behind.verdict.message_in_answer);
    const ProduceRequestCheck garbage = check_produce_request(as_bytes(std::string(100, 'A')), 13);
    QCOMPARE(garbage.verdict.error, ErrorCode::corrupt_message);
    QVERIFY(garbage.whole_request && garbage.verdict.message_in_answer);
    Crafted old;
    old.magic = 1;
    QCOMPARE(check_produce_request(old.bytes(raw_record()).span(), 13).verdict.error, ErrorCode::invalid_record);
    BatchOptions options;
    options.compression = Compression::zstd;
    const Bytes zstd = build({{"a", "b", {}, kNow.ms}}, options);
    QCOMPARE(check_produce_request(zstd.span(), 6).verdict.error, ErrorCode::unsupported_compression_type);
    QVERIFY(check_produce_request(zstd.span(), 7).verdict.ok());
  }
  void headerChecks() {
    struct Case {
      const char* what;
      Crafted crafted;
      ErrorCode error;
      bool log_start;
    };
    Crafted base, bad_crc, count0, countneg, fewer, more, control, no_sequence, control_and_crc, base_and_crc, codec5;
    base.base_offset = 5;
    bad_crc.crc = 1;
    count0.count = 0;
    countneg.count = -1;
    fewer.last_offset_delta = 4;
    more.last_offset_delta = 0x7fffffff;
    control.attributes = kControlBit;
    no_sequence.producer_id = 5;
    control_and_crc.attributes = kControlBit;
    control_and_crc.crc = 1;
    base_and_crc.base_offset = 1;
    base_and_crc.crc = 1;
    codec5.attributes = 5;
    const std::vector<Case> cases = {
        {"base offset", base, ErrorCode::invalid_record, true},
        {"crc", bad_crc, ErrorCode::corrupt_message, false},
        {"count 0", count0, ErrorCode::invalid_record, true},
        {"count -1", countneg, ErrorCode::invalid_record, true},
        {"delta 4 for 1", fewer, ErrorCode::invalid_record, true},
        {"delta max", more, ErrorCode::invalid_record, true},
        {"control", control, ErrorCode::invalid_record, true},
        {"pid without sequence", no_sequence, ErrorCode::invalid_record, true},
        {"control and crc", control_and_crc, ErrorCode::corrupt_message, false},
        {"base and crc", base_and_crc, ErrorCode::invalid_record, true},
        {"codec 5", codec5, ErrorCode::unknown_server_error, true},
    };
    for (const Case& c : cases) {
      const RecordsVerdict verdict = check(c.crafted.bytes(raw_record())).verdict;
      QVERIFY2(verdict.error == c.error, c.what);
      QVERIFY2(verdict.log_start_in_answer == c.log_start, c.what);
      QVERIFY2(!verdict.message_in_answer && verdict.record_faults.empty() && !verdict.detail.empty(), c.what);
    }
    ProduceRules small;
    small.max_message_bytes = 60;
    QCOMPARE(check(bad_crc.bytes(raw_record()), small).verdict.error, ErrorCode::message_too_large);
    QVERIFY(!check(bad_crc.bytes(raw_record()), small).verdict.log_start_in_answer);
    QCOMPARE(check(base.bytes(raw_record()), small).verdict.error, ErrorCode::invalid_record);
    const Bytes fits = Crafted{}.bytes(raw_record());
    small.max_message_bytes = static_cast<std::int32_t>(fits.size());
    QVERIFY(check(fits, small).verdict.ok());
    Crafted horizon;
    horizon.attributes = kDeleteHorizonBit;
    QVERIFY(check(horizon.bytes(raw_record())).verdict.ok());
  }
  void structureIsCheckedInEveryCodec() {
    struct Case {
      const char* what;
      std::string payload;
      std::int32_t count;
    };
    const std::string key = field("k");
    const std::vector<Case> cases = {
        {"fewer than counted", raw_record(), 2},
        {"more than counted", raw_record() + raw_record(1), 1},
        {"a byte behind", raw_record() + std::string(1, '\0'), 1},
        {"offsets 0 0", raw_record() + raw_record(0), 2},
        {"offsets 5 6", raw_record(5) + raw_record(6), 2},
        {"key too long", raw_record(0, varint(100) + "x"), 1},
        {"value too long", raw_record(0, key + varint(100) + "x"), 1},
        {"header count -1", raw_record(0, key + key + varint(-1)), 1},
        {"a million headers", raw_record(0, key + key + varint(1'000'000)), 1},
        {"header key null", raw_record(0, key + key + varint(1) + varint(-1) + varint(0)), 1},
        {"length short", raw_record(0, std::nullopt, 4), 1},
        {"length 0", raw_record(0, std::nullopt, 0), 1},
        {"length -1", raw_record(0, std::nullopt, -1), 1},
        {"length long", raw_record(0, std::nullopt, 50), 1},
        {"length huge", raw_record(0, std::nullopt, 0x7fffffff), 1},
        {"fields shorter than length", raw_record(0, key + key + varint(0) + "zz"), 1},
        {"endless varint", std::string(12, '\x80'), 1},
        {"nothing", "", 1},
        // Longer than the window of a compressed check:
        {"long value, wrong end", raw_record(0, key + field(std::string(100'000, 'v')) + varint(0) + "z"), 1},
        {"long value cut", raw_record(0, key + varint(100'000) + std::string(90'000, 'v')), 1},
        {"long header null", raw_record(0, field(std::string(70'000, 'k')) + key + varint(1) + varint(-1) + varint(0)), 1},
        {"long bad count", raw_record(0, field(std::string(70'000, 'k')) + key + varint(-2)), 1},
        {"long wrong offset", raw_record(3, field(std::string(70'000, 'k')) + key + varint(0)), 1},
    };
    for (const Compression codec : kCodecs) {
      for (const Case& c : cases) {
        Crafted crafted;
        crafted.count = c.count;
        crafted.attributes = static_cast<std::int16_t>(codec);
        const Bytes batch = crafted.bytes(packed(codec, c.payload));
        const RecordsVerdict verdict = check(batch).verdict;
        QVERIFY2(verdict.error == ErrorCode::invalid_record && verdict.log_start_in_answer, c.what);
        Result<RecordIterator> records = RecordIterator::open(BatchView(batch.span()));
        QVERIFY(records.has_value());
        read_all(*records);
        QVERIFY2(records->failed() || std::string_view(c.what).find("offset") != std::string_view::npos, c.what);
      }
      Crafted crafted;
      crafted.count = 3;
      crafted.attributes = static_cast<std::int16_t>(codec);
      const std::string good = raw_record(0) +
                               raw_record(1, field(std::string(70'000, 'k')) + field(std::string(200'000, 'v')) +
                                                 varint(2) + field("a") + varint(-1) +
                                                 field(std::string(66'000, 'h')) + field("b")) +
                               raw_record(2, field("k") + varint(-1) + varint(0), std::nullopt, 7);
      const ClientBatchCheck ok = check(crafted.bytes(packed(codec, good)));
      QVERIFY2(ok.verdict.ok(), ok.verdict.detail.c_str());
      QCOMPARE(ok.max_timestamp, kNow.ms + 7);
      QCOMPARE(ok.offset_delta_of_max, 2);
    }
  }
  void compressedDataThatDoesNotDecode() {
    for (const Compression codec : kCodecs) {
      if (codec == Compression::none) {
        continue;
      }
      Crafted crafted;
      crafted.attributes = static_cast<std::int16_t>(codec);
      const std::string whole = packed(codec, raw_record(0, field("k") + field(std::string(3000, 'v')) + varint(0)));
      for (const std::string& bad : {std::string("garbage data, long enough"), whole.substr(0, whole.size() - 9)}) {
        const RecordsVerdict verdict = check(crafted.bytes(bad)).verdict;
        QCOMPARE(verdict.error, ErrorCode::unknown_server_error);
        QVERIFY(verdict.log_start_in_answer && !verdict.message_in_answer);
      }
      // A bomb: one record of 30 MB in some kilobytes.
      const std::string bomb = packed(codec, raw_record(0, field("k") + field(std::string(30'000'000, 'v')) + varint(0)));
      ProduceRules rules;
      rules.max_message_bytes = 100'000'000;
      rules.max_decompressed_bytes = 10'000'000;
      QCOMPARE(check(crafted.bytes(bomb), rules).verdict.error, ErrorCode::message_too_large);
      rules.max_decompressed_bytes = 40'000'000;
      QVERIFY(check(crafted.bytes(bomb), rules).verdict.ok());
    }
  }
  void nullKeysOnCompactedTopics() {
    ProduceRules rules;
    rules.compacted = true;
    for (const Compression codec : kCodecs) {
      BatchOptions options;
      options.compression = codec;
      const std::int64_t t = kNow.ms;
      const Bytes batch = build({{std::nullopt, "v", {}, t}, {"k", "v", {}, t}, {std::nullopt, "v", {}, t}, {"", "v", {}, t}},
                                options);
      const RecordsVerdict verdict = check(batch, rules).verdict;
      QCOMPARE(verdict.error, ErrorCode::invalid_record);
      QVERIFY(verdict.message_in_answer && verdict.log_start_in_answer);
      QCOMPARE(verdict.record_faults.size(), std::size_t{2});
      QCOMPARE(verdict.record_faults[0].index, 0);
      QCOMPARE(verdict.record_faults[1].index, 2);
      QVERIFY(!verdict.record_faults[1].message.empty());
      QVERIFY(check(batch).verdict.ok());
    }
    // One timestamp among the reasons decides the code; the structure of a later record goes before all.
    Crafted two;
    two.count = 2;
    const std::string null_key = raw_record(0, varint(-1) + field("v") + varint(0));
    RecordsVerdict verdict = check(two.bytes(null_key + raw_record(1, std::nullopt, std::nullopt, 9'999'999'999)), rules).verdict;
    QCOMPARE(verdict.error, ErrorCode::invalid_timestamp);
    QCOMPARE(verdict.record_faults.size(), std::size_t{2});
    verdict = check(two.bytes(null_key + raw_record(1, std::nullopt, 3)), rules).verdict;
    QCOMPARE(verdict.error, ErrorCode::invalid_record);
    QVERIFY(verdict.record_faults.empty() && !verdict.message_in_answer);
  }
  void timestampWindow() {
    ProduceRules rules;
    rules.before_max_ms = 1'000'000;
    const auto at = [&rules](std::int64_t timestamp) {
      return check(build({{"k", "v", {}, timestamp}}), rules).verdict;
    };
    QVERIFY(at(kNow.ms).ok());
    QVERIFY(at(kNow.ms + 3'600'000).ok());
    QCOMPARE(at(kNow.ms + 3'600'001).error, ErrorCode::invalid_timestamp);
    QVERIFY(at(kNow.ms - 1'000'000).ok());
    QCOMPARE(at(kNow.ms - 1'000'001).error, ErrorCode::invalid_timestamp);
    QCOMPARE(at(kNow.ms - 2'000'000).record_faults.size(), std::size_t{1});
    QVERIFY(at(-1).ok());
    rules = {};
    QCOMPARE(at(INT64_MAX).error, ErrorCode::invalid_timestamp);
    QCOMPARE(at(INT64_MIN).error, ErrorCode::invalid_timestamp);
    QVERIFY(at(0).ok());
    // LogAppendTime ignores what clients say.
    rules.timestamp_type = TimestampType::log_append_time;
    QVERIFY(at(5).ok());
  }
  void logAppendTimeBitOfClients() {
    Crafted crafted;
    crafted.attributes = kLogAppendTimeBit;
    ProduceRules append;
    append.timestamp_type = TimestampType::log_append_time;
    const RecordsVerdict verdict = check(crafted.bytes(raw_record()), append).verdict;
    QCOMPARE(verdict.error, ErrorCode::invalid_timestamp);
    QCOMPARE(verdict.record_faults.size(), std::size_t{1});
    QVERIFY(verdict.message_in_answer);
    // On a CreateTime topic Kafka takes it when max timestamp is in the window, and clears the bit.
    Bytes taken = Bytes::copy_of(crafted.bytes(raw_record()).span());
    const ClientBatchCheck ok = check(taken);
    QVERIFY(ok.verdict.ok());
    QCOMPARE(stamp_batch({taken.unique_data(), taken.size()}, Offset{4}, LeaderEpoch{1}, {}, kNow, ok), Offset{4});
    QCOMPARE(BatchView(taken.span()).attributes(), std::int16_t{0});
    QVERIFY(BatchView(taken.span()).crc_ok());
    crafted.max_timestamp = -1;
    QCOMPARE(check(crafted.bytes(raw_record())).verdict.error, ErrorCode::invalid_timestamp);
    crafted.max_timestamp = kNow.ms + 7'200'000;
    QCOMPARE(check(crafted.bytes(raw_record())).verdict.error, ErrorCode::invalid_timestamp);
  }
  void stamping() {
    // A wrong max timestamp is put right.
    Crafted crafted;
    crafted.max_timestamp = 5;
    Bytes batch = Bytes::copy_of(crafted.bytes(raw_record()).span());
    stamp_batch({batch.unique_data(), batch.size()}, Offset{10}, LeaderEpoch{3}, {}, kNow, check(batch));
    QCOMPARE(BatchView(batch.span()).max_timestamp(), kNow.ms);
    QVERIFY(BatchView(batch.span()).crc_ok());
    // LogAppendTime: bit, max timestamp, base timestamp kept.
    ProduceRules rules;
    rules.timestamp_type = TimestampType::log_append_time;
    batch = Bytes::copy_of(build({{"a", "b", {}, 1000}, {"a", "b", {}, 1009}}).span());
    const Offset last =
        stamp_batch({batch.unique_data(), batch.size()}, Offset{10}, LeaderEpoch{3}, rules, kNow, check(batch, rules));
    const BatchView view(batch.span());
    QCOMPARE(last, Offset{11});
    QCOMPARE(view.base_offset(), Offset{10});
    QCOMPARE(view.leader_epoch(), LeaderEpoch{3});
    QCOMPARE(view.base_timestamp(), std::int64_t{1000});
    QCOMPARE(view.max_timestamp(), kNow.ms);
    QCOMPARE(view.timestamp_type(), TimestampType::log_append_time);
    QVERIFY(view.crc_ok());
  }
  void rebuildingIntoAnotherCodec() {
    Prng prng(8);
    for (const Compression from : kCodecs) {
      for (const Compression to : kCodecs) {
        const std::vector<Record> records = random_records(prng);
        BatchOptions options;
        options.compression = from;
        options.producer_id = ProducerId{5};
        options.producer_epoch = ProducerEpoch{1};
        options.base_sequence = 3;
        const Bytes before = build(records, options);
        Result<Bytes> after = rebuild_batch(BatchView(before.span()), to);
        QVERIFY(after.has_value());
        const BatchView view(after->span());
        QVERIFY(batch_intact(view));
        QCOMPARE(view.compression(), to);
        QCOMPARE(view.base_sequence(), 3);
        Result<RecordIterator> iterator = RecordIterator::open(view);
        QVERIFY(read_all(*iterator) == records);
      }
    }
    Crafted bad;
    bad.count = 2;
    const Bytes broken = bad.bytes(raw_record());
    QCOMPARE(rebuild_batch(BatchView(broken.span()), Compression::gzip).error().code, Errc::corrupt);
  }
};

QTEST_APPLESS_MAIN(TestWireRecord)
#include "tst_wire_record.moc"
