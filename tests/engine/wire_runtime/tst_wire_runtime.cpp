// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "engine/base/prng.h"
#include "engine/wire/runtime/error_code.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/varint.h"
#include "engine/wire/runtime/writer.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::wire;  // NOLINT(google-build-using-namespace): a test

namespace {

Bytes bytes(std::initializer_list<int> values) {
  ByteBuilder builder;
  for (const int value : values) {
    *builder.extend(1) = static_cast<std::byte>(value);
  }
  return builder.finish();
}

std::string hex(const Bytes& data) {
  std::string text;
  for (const std::byte byte : data.span()) {
    text += QString::asprintf("%02x", static_cast<unsigned>(byte)).toStdString();
  }
  return text;
}

}  // namespace

class TestWireRuntime : public QObject {
  Q_OBJECT
 private slots:
  void varintsRoundTrip() {
    Prng prng(7);
    for (int i = 0; i < 20'000; ++i) {
      const std::int64_t value = static_cast<std::int64_t>(prng.next()) >> prng.below(64);
      Writer writer;
      writer.varlong(value);
      writer.varint(static_cast<std::int32_t>(value));
      writer.uvarint(static_cast<std::uint32_t>(value));
      const std::size_t expected = varlong_size(value) + varint_size(static_cast<std::int32_t>(value)) +
                                   uvarint_size(static_cast<std::uint32_t>(value));
      QCOMPARE(writer.size(), expected);
      Reader reader(writer.finish().flatten());
      QCOMPARE(reader.varlong(), value);
      QCOMPARE(reader.varint(), static_cast<std::int32_t>(value));
      QCOMPARE(reader.uvarint(), static_cast<std::uint32_t>(value));
      QVERIFY(reader.ok());
      QCOMPARE(reader.remaining(), std::size_t{0});
    }
  }
  void varintsAtTheirEnds() {
    Writer writer;
    writer.varint(0);
    writer.varint(-1);
    writer.varint(1);
    writer.varint(std::numeric_limits<std::int32_t>::min());
    writer.varlong(std::numeric_limits<std::int64_t>::min());
    writer.uvarint(300);
    QCOMPARE(hex(writer.finish().flatten()), std::string("000102ffffffff0fffffffffffffffffff01ac02"));
  }
  void varintsThatDoNotFitAreErrors() {
    for (const Bytes& bad : {bytes({0x80}), bytes({0xff, 0xff, 0xff, 0xff, 0x10}),
                             bytes({0x80, 0x80, 0x80, 0x80, 0x80, 0x01}), Bytes()}) {
      Reader reader(bad);
      QCOMPARE(reader.uvarint(), 0U);
      QVERIFY(!reader.ok());
    }
    Reader reader(bytes({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}));
    QCOMPARE(reader.varlong(), std::int64_t{0});
    QVERIFY(!reader.ok());
  }
  void numbersAreBigEndian() {
    Writer writer;
    writer.boolean(true);
    writer.int8(-2);
    writer.int16(0x0102);
    writer.uint16(0xfffe);
    writer.int32(0x01020304);
    writer.uint32(0xfffffffd);
    writer.int64(0x0102030405060708);
    writer.float64(1.0);
    writer.uuid(Uuid{0x1122334455667788, 0x99aabbccddeeff00});
    const Bytes frame = writer.finish().flatten();
    QCOMPARE(hex(frame), std::string("01fe0102fffe01020304fffffffd0102030405060708"
                                     "3ff0000000000000112233445566778899aabbccddeeff00"));
    Reader reader(frame);
    QVERIFY(reader.boolean());
    QCOMPARE(reader.int8(), std::int8_t{-2});
    QCOMPARE(reader.int16(), std::int16_t{0x0102});
    QCOMPARE(reader.uint16(), std::uint16_t{0xfffe});
    QCOMPARE(reader.int32(), 0x01020304);
    QCOMPARE(reader.uint32(), 0xfffffffdU);
    QCOMPARE(reader.int64(), std::int64_t{0x0102030405060708});
    QCOMPARE(reader.float64(), 1.0);
    QVERIFY(reader.uuid() == (Uuid{0x1122334455667788, 0x99aabbccddeeff00}));
    QVERIFY(reader.ok());
  }
  void stringsInBothForms() {
    Writer writer;
    writer.string("ab", false);
    writer.string("ab", true);
    writer.null_string(false);
    writer.null_string(true);
    writer.bytes(as_bytes("xyz"), false);
    writer.bytes(as_bytes("xyz"), true);
    writer.null_bytes(false);
    writer.null_bytes(true);
    const Bytes frame = writer.finish().flatten();
    QCOMPARE(hex(frame), std::string("0002616203" "6162ffff00" "00000003" "78797a" "0478797a" "ffffffff" "00"));
    Reader reader(frame);
    QCOMPARE(reader.string(false), std::string("ab"));
    QCOMPARE(reader.string(true), std::string("ab"));
    QVERIFY(!reader.nullable_string(false).has_value());
    QVERIFY(!reader.nullable_string(true).has_value());
    QCOMPARE(reader.bytes(false).text(), std::string_view("xyz"));
    QCOMPARE(reader.bytes(true).text(), std::string_view("xyz"));
    QVERIFY(!reader.nullable_bytes(false).has_value());
    QVERIFY(!reader.nullable_bytes(true).has_value());
    QVERIFY(reader.ok());
    QCOMPARE(reader.remaining(), std::size_t{0});
  }
  void bytesAreSlicesOfTheFrame() {
    const Bytes frame = bytes({0, 0, 0, 3, 'a', 'b', 'c'});
    Reader reader(frame);
    const Bytes slice = reader.bytes(false);
    QVERIFY(slice.data() == frame.data() + 4);
    QVERIFY(slice.block() == frame.block());
  }
  void errorsStickAndKeepThePosition() {
    Reader reader(bytes({0, 1, 0, 9, 'a'}));
    QCOMPARE(reader.int16(), std::int16_t{1});
    QCOMPARE(reader.string(false), std::string());
    QVERIFY(!reader.ok());
    const std::string first = reader.error();
    QCOMPARE(reader.error_position(), std::size_t{4});
    QCOMPARE(reader.int64(), std::int64_t{0});
    QCOMPARE(std::string(reader.error()), first);
    QCOMPARE(reader.remaining(), std::size_t{0});
  }
  void badLengthsAreErrors() {
    const auto string_of = [](const Bytes& frame, bool compact) {
      Reader reader(frame);
      (void)reader.nullable_string(compact);
      return reader.ok();
    };
    QVERIFY(!string_of(bytes({0xff, 0xfe}), false));              // -2
    QVERIFY(!string_of(bytes({0x81, 0x80, 0x02}), true));         // 32768 bytes
    QVERIFY(!string_of(bytes({0xff, 0xff, 0xff, 0xff, 0x0f}), true));
    QVERIFY(!string_of(bytes({0, 1}), false));
    QVERIFY(string_of(bytes({0, 0}), false));
    Reader null(bytes({0xff, 0xff}));
    QCOMPARE(null.string(false), std::string());
    QVERIFY(!null.ok());
    Reader negative(bytes({0xff, 0xff, 0xff, 0xfe}));
    QVERIFY(!negative.nullable_bytes(false).has_value());
    QVERIFY(!negative.ok());
  }
  void arraysAreCheckedBeforeTheyAreAllocated() {
    std::size_t count = 99;
    Reader huge(bytes({0x7f, 0xff, 0xff, 0xff, 1, 2, 3, 4}));
    QVERIFY(!huge.array_length(false, false, 1, 100, count));
    QVERIFY(!huge.ok());
    QCOMPARE(count, std::size_t{0});
    Reader wide(bytes({0, 0, 0, 3, 1, 2, 3, 4, 5}));  // three elements of two bytes do not fit into five
    QVERIFY(!wide.array_length(false, false, 2, 2, count));
    Reader fits(bytes({0, 0, 0, 2, 1, 2, 3, 4, 5}));
    QVERIFY(fits.array_length(false, false, 2, 2, count));
    QCOMPARE(count, std::size_t{2});
    Reader null(bytes({0xff, 0xff, 0xff, 0xff}));
    QVERIFY(!null.array_length(false, true, 1, 1, count));
    QVERIFY(null.ok());
    Reader never_null(bytes({0}));
    QVERIFY(!never_null.array_length(true, false, 1, 1, count));
    QVERIFY(!never_null.ok());
  }
  void decodedMemoryIsBounded() {
    Reader reader(bytes({3, 3, 3, 3, 3}), 1000);
    std::size_t count = 0;
    QVERIFY(reader.array_length(true, false, 1, 300, count));   // 600 of 1000
    QVERIFY(!reader.array_length(true, false, 1, 300, count));  // 600 more
    QVERIFY(!reader.ok());
  }
  void tagsAreKeptAndBounded() {
    // two tags: 1 with "a", 200 with nothing
    const Bytes frame = bytes({2, 1, 1, 'a', 0xc8, 1, 0});
    Reader reader(frame);
    std::vector<RawTaggedField> unknown;
    QVERIFY(reader.skip_tags(unknown));
    QCOMPARE(unknown.size(), std::size_t{2});
    QCOMPARE(unknown[0].data.text(), std::string_view("a"));
    QCOMPARE(unknown[1].tag, 200U);
    Writer writer;
    writer.only_unknown(unknown);
    QCOMPARE(hex(writer.finish().flatten()), hex(frame));

    Reader many(bytes({0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0}));
    QVERIFY(!many.skip_tags(unknown));
    Reader cut(bytes({1, 0, 5, 1, 2}));
    QVERIFY(!cut.skip_tags(unknown));
  }
  void aTagIsConsumedExactly() {
    Reader reader(bytes({0, 2, 7, 8, 9}));
    Reader::Tag tag;
    QVERIFY(reader.open_tag(tag));
    QCOMPARE(reader.remaining(), std::size_t{2});
    (void)reader.int8();
    QVERIFY(!reader.close_tag(tag));
    QVERIFY(!reader.ok());

    Reader beyond(bytes({0, 2, 7, 8, 9}));
    QVERIFY(beyond.open_tag(tag));
    (void)beyond.int32();  // there are five bytes, but only two of them are the tag's
    QVERIFY(!beyond.ok());
  }
  void longTagsMoveTheirPayload() {
    for (const std::size_t size : {0U, 1U, 127U, 128U, 16'383U, 16'384U, 40'000U}) {
      Writer writer(1);
      const std::size_t mark = writer.begin_tag(3);
      const std::string payload(size, 'p');
      writer.raw(as_bytes(payload));
      writer.end_tag(mark);
      writer.int8(5);
      Reader reader(writer.finish().flatten());
      Reader::Tag tag;
      QVERIFY(reader.open_tag(tag));
      QCOMPARE(tag.number, 3U);
      QCOMPARE(std::size_t{tag.size}, size);
      QCOMPARE(reader.raw(size).text(), std::string_view(payload));
      QVERIFY(reader.close_tag(tag));
      QCOMPARE(reader.int8(), std::int8_t{5});
    }
  }
  void unknownTagsGoBetweenKnownOnes() {
    const std::vector<RawTaggedField> unknown{{1, Bytes::copy_of("x")}, {7, Bytes()}};
    Writer writer;
    std::size_t next = 0;
    writer.write_unknown_below(unknown, next, 0);
    QCOMPARE(next, std::size_t{0});
    writer.write_unknown_below(unknown, next, 5);
    QCOMPARE(next, std::size_t{1});
    writer.write_unknown_below(unknown, next, Writer::kNoMoreTags);
    QCOMPARE(next, std::size_t{2});
    QVERIFY(writer.ok());

    Writer clash;
    next = 0;
    clash.write_unknown_below(unknown, next, 1);
    QVERIFY(!clash.ok());
    Writer descending;
    descending.only_unknown({{5, Bytes()}, {5, Bytes()}});
    QVERIFY(!descending.ok());
    QVERIFY(descending.finish().empty());
  }
  void recordsAreNotCopied() {
    const Bytes batch = Bytes::copy_of("a batch of records");
    BytesChain records(batch);
    Writer writer;
    const Writer::LengthMark mark = writer.reserve_length();
    writer.int16(1);
    writer.records(records, false);
    writer.int16(2);
    writer.records(records, true);
    writer.patch_length(mark);
    QCOMPARE(writer.size(), std::size_t{4 + 2 + 4 + 18 + 2 + 1 + 18});
    const BytesChain chain = writer.finish();
    int shared = 0;
    for (const BytesChain::Piece& piece : chain.pieces()) {
      const Bytes* part = std::get_if<Bytes>(&piece);
      QVERIFY(part != nullptr);
      shared += part->data() == batch.data() ? 1 : 0;
    }
    QCOMPARE(shared, 2);
    QCOMPARE(hex(chain.flatten()).substr(0, 20), std::string("0000002d000100000012"));
    QCOMPARE(chain.size(), std::size_t{49});
  }
  void tooLongStringsAreRefused() {
    Writer writer;
    writer.string(std::string(Reader::kMaxString, 'a'), false);
    QVERIFY(writer.ok());
    writer.string(std::string(Reader::kMaxString + 1, 'a'), true);
    QVERIFY(!writer.ok());
    QVERIFY(writer.finish().empty());
  }
  void errorCodesHaveNames() {
    QCOMPARE(error_name(ErrorCode::none), std::string_view("NONE"));
    QCOMPARE(error_name(ErrorCode::unknown_server_error), std::string_view("UNKNOWN_SERVER_ERROR"));
    QCOMPARE(static_cast<int>(ErrorCode::not_leader_or_follower), 6);
    QCOMPARE(error_name(ErrorCode::not_leader_or_follower), std::string_view("NOT_LEADER_OR_FOLLOWER"));
    QVERIFY(is_retriable(ErrorCode::not_leader_or_follower));
    QVERIFY(!is_retriable(ErrorCode::message_too_large));
    QCOMPARE(error_name(static_cast<ErrorCode>(-2)), std::string_view("UNKNOWN"));
    QVERIFY(find_error(static_cast<ErrorCode>(3000)) == nullptr);
    QCOMPARE(all_errors().size(), std::size_t{138});
  }
};

QTEST_APPLESS_MAIN(TestWireRuntime)
#include "tst_wire_runtime.moc"
