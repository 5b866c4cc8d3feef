// SPDX-License-Identifier: Apache-2.0
// The generated codec: properties of every message in every version, and golden bytes made by hand.
#include <QTest>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>

#include "engine/base/prng.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/apis.h"
#include "engine/wire/msg/fetch.h"
#include "engine/wire/msg/join_group.h"
#include "engine/wire/msg/list_offsets.h"
#include "engine/wire/msg/messages.h"
#include "engine/wire/msg/metadata.h"
#include "engine/wire/msg/offset_commit_value.h"
#include "engine/wire/msg/produce.h"
#include "engine/wire/msg/request_header.h"
#include "engine/wire/msg/topic_record.h"
#include "engine/wire/runtime/random_message.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"
#include "tests/engine/wire_msg/codec_check.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::wire;  // NOLINT(google-build-using-namespace): a test
using hw::wire::test::codec_checks;
using hw::wire::test::CodecCheck;

namespace {

Bytes from_hex(std::string_view text) {
  return Bytes::copy_of(QByteArray::fromHex(QByteArray(text.data(), static_cast<qsizetype>(text.size()))).toStdString());
}
std::string to_hex(const Bytes& data) {
  return QByteArray(data.text().data(), static_cast<qsizetype>(data.size())).toHex().toStdString();
}
template <class T>
std::string encoded(const T& message, std::int16_t version) {
  Writer writer;
  if (!encode(writer, message, version)) {
    return std::string(writer.error()) + ": " + writer.error_field();
  }
  return to_hex(writer.finish().flatten());
}
template <class T>
T decoded(std::string_view text, std::int16_t version) {
  Reader reader(from_hex(text));
  T message;
  if (!decode(reader, message, version) || reader.remaining() != 0) {
    qWarning("%s, %zu left", reader.error(), reader.remaining());
  }
  return message;
}
std::string label(const MessageInfo& info, int version, const std::string& what) {
  return std::string(info.name) + " v" + std::to_string(version) + ": " + what;
}

// Calls `body(info, check, version)` for every version of every message; `body` returns "" or what went wrong.
template <class F>
std::string for_every_version(F body) {
  for (const MessageInfo& info : all_messages()) {
    const CodecCheck* check = hw::wire::test::find_codec_check(info.name);
    if (check == nullptr) {
      return std::string(info.name) + " has no codec";
    }
    for (int version = info.versions.low; version <= info.versions.high; ++version) {
      const std::string wrong = body(info, *check, static_cast<std::int16_t>(version));
      if (!wrong.empty()) {
        return label(info, version, wrong);
      }
    }
  }
  return "";
}

}  // namespace

class TestWireMsg : public QObject {
  Q_OBJECT
 private slots:
  void everyMessageIsThere() {
    QCOMPARE(codec_checks().size(), all_messages().size());
    QCOMPARE(all_apis().size(), std::size_t{91});
    int versions = 0;
    for (const MessageInfo& info : all_messages()) {
      versions += info.versions.high - info.versions.low + 1;
    }
    qInfo("%zu messages, %d versions", all_messages().size(), versions);
    QVERIFY(versions > 700);
  }
  void randomMessagesRoundTrip() {
    Prng prng(20'240'101);
    const std::string wrong = for_every_version([&](const MessageInfo& info, const CodecCheck& check, std::int16_t version) {
      for (int i = 0; i < 25; ++i) {
        const Bytes body = random_message(info, version, prng);
        std::string result = check.round_trip(body, version);
        if (!result.empty()) {
          return result + " " + to_hex(body);
        }
      }
      return std::string();
    });
    QCOMPARE(wrong, std::string());
  }
  void defaultsOfStructsAndTablesAgree() {
    const std::string wrong = for_every_version([&](const MessageInfo& info, const CodecCheck& check, std::int16_t version) {
      Bytes body;
      std::string error = check.encode_default(version, body);
      if (error.empty() && !(body == default_message(info, version))) {
        error = to_hex(body) + " is not " + to_hex(default_message(info, version));
      }
      // A default of null is no value in the versions that do not know null (Metadata 0).
      return error.find("null in a version") != std::string::npos ? std::string() : error;
    });
    QCOMPARE(wrong, std::string());
  }
  void truncationIsAnErrorAtEveryLength() {
    Prng prng(99);
    const std::string wrong = for_every_version([&](const MessageInfo& info, const CodecCheck& check, std::int16_t version) {
      const Bytes body = random_message(info, version, prng, {.max_items = 2, .max_text = 8});
      for (std::size_t size = 0; size < body.size(); ++size) {
        // A copy, so that a sanitizer sees a read behind the end.
        if (check.decodes(Bytes::copy_of(body.span().first(size)), version)) {
          return "cut at " + std::to_string(size) + " decodes: " + to_hex(body);
        }
      }
      return std::string();
    });
    QCOMPARE(wrong, std::string());
  }
  void damagedMessagesSettle() {
    Prng prng(4'711);
    const std::string wrong = for_every_version([&](const MessageInfo& info, const CodecCheck& check, std::int16_t version) {
      for (int i = 0; i < 10; ++i) {
        ByteBuilder damaged;
        damaged.append(random_message(info, version, prng).span());
        if (damaged.size() == 0) {
          continue;
        }
        for (std::uint64_t flips = prng.between(1, 4) < 4 ? 1 : 3; flips > 0; --flips) {
          damaged.data()[prng.below(damaged.size())] = static_cast<std::byte>(prng.below(256));
        }
        const Bytes body = damaged.finish();
        std::string result = check.settles(body, version);
        if (!result.empty()) {
          return result + " " + to_hex(body);
        }
      }
      return std::string();
    });
    QCOMPARE(wrong, std::string());
  }
  void versionsOutsideAreRefused() {
    for (const CodecCheck& check : codec_checks()) {
      Bytes body;
      QVERIFY(!check.decodes(Bytes(), -1));
      QVERIFY(!check.decodes(Bytes(), 300));
      QVERIFY(!check.encode_default(300, body).empty());
    }
    ProduceRequest request;
    Reader reader(Bytes::copy_of("0000000000000000"));
    QVERIFY(!decode(reader, request, 2));  // advertised, not decoded
  }

  void requestHeaderKeepsTheOldClientId() {
    RequestHeader header;
    header.request_api_key = 18;
    header.request_api_version = 3;
    header.correlation_id = 7;
    header.client_id = "kcat";
    QCOMPARE(encoded(header, 1), std::string("0012" "0003" "00000007" "0004" "6b636174"));
    QCOMPARE(encoded(header, 2), std::string("0012" "0003" "00000007" "0004" "6b636174" "00"));
    header.client_id.reset();
    QCOMPARE(encoded(header, 2), std::string("0012" "0003" "00000007" "ffff" "00"));
    QVERIFY(decoded<RequestHeader>("0012000300000007ffff00", 2) == header);
  }
  void apiVersionsRequest() {
    ApiVersionsRequest request;
    request.client_software_name = "hw";
    request.client_software_version = "0.1";
    QCOMPARE(encoded(request, 3), std::string("03" "6877" "04" "302e31" "00"));
    QCOMPARE(encoded(request, 0), std::string());  // ignorable, and not there
  }
  void apiVersionsResponseWithTags() {
    ApiVersionsResponse response;
    response.api_keys.push_back({.api_key = 3, .min_version = 0, .max_version = 13});
    response.finalized_features_epoch = 5;
    QCOMPARE(encoded(response, 0), std::string("0000" "00000001" "0003" "0000" "000d"));
    QCOMPARE(encoded(response, 3), std::string("0000" "02" "0003" "0000" "000d" "00" "00000000" "01" "01" "08" "0000000000000005"));
    QVERIFY(decoded<ApiVersionsResponse>("0000020003" "0000000d" "00" "00000000" "01" "01080000000000000005", 3) == response);
  }
  void metadataAsksForAllTopicsWithNull() {
    MetadataRequest request;
    request.topics.reset();
    QCOMPARE(encoded(request, 1), std::string("ffffffff"));
    QCOMPARE(encoded(request, 12), std::string("00" "01" "00" "00"));
    QVERIFY(encoded(request, 0).starts_with("null in a version that does not know it"));
    request.topics.emplace().resize(1);
    request.topics->front().name = "t";
    QCOMPARE(encoded(request, 0), std::string("00000001" "0001" "74"));
  }
  void produceCarriesRecordsAsTheyAre() {
    const std::string hex = "00" "ffff" "000003e8" "02" "02" "74" "02" "00000002" "05" "01020304" "00" "00" "00";
    const ProduceRequest request = decoded<ProduceRequest>(hex, 9);
    QCOMPARE(request.acks, std::int16_t{-1});
    QCOMPARE(request.timeout_ms, 1000);
    QCOMPARE(request.topic_data.front().name, std::string("t"));
    QCOMPARE(request.topic_data.front().partition_data.front().index, 2);
    QCOMPARE(to_hex(request.topic_data.front().partition_data.front().records->flatten()), std::string("01020304"));
    QCOMPARE(encoded(request, 9), hex);
    // The same before flexible versions.
    QCOMPARE(encoded(request, 3),
             std::string("ffff" "ffff" "000003e8" "00000001" "0001" "74" "00000001" "00000002" "00000004" "01020304"));
  }
  void fetchResponseTagsOnlyWhatDiffers() {
    FetchResponse response;
    FetchResponse::FetchableTopicResponse topic;
    topic.topic_id = Uuid{1, 2};
    FetchResponse::PartitionData partition;
    partition.error_code = ErrorCode::not_leader_or_follower;
    partition.high_watermark = 9;
    partition.current_leader = {.leader_id = BrokerId(4), .leader_epoch = LeaderEpoch(6)};
    topic.partitions.push_back(partition);
    response.responses.push_back(topic);
    QCOMPARE(encoded(response, 16),
             std::string("00000000" "0000" "00000000" "02" "00000000000000010000000000000002" "02"
                         "00000000" "0006" "0000000000000009" "ffffffffffffffff" "ffffffffffffffff" "01" "ffffffff" "00"
                         "01" "01" "09" "00000004" "00000006" "00"
                         "00" "00"));
    // current_leader exists from 12 on, and is not ignorable.
    QVERIFY(encoded(response, 11).find("FetchResponse.current_leader") != std::string::npos);
  }
  void fieldsThatAVersionCannotCarry() {
    JoinGroupRequest request;
    request.group_instance_id = "static-1";
    QVERIFY(encoded(request, 4).find("JoinGroupRequest.group_instance_id") != std::string::npos);
    QVERIFY(!encoded(request, 5).empty());
    request.group_instance_id.reset();
    request.reason = "bored";  // ignorable
    QCOMPARE(encoded(request, 4), encoded(JoinGroupRequest(), 4));
    QVERIFY(encoded(request, 8) != encoded(JoinGroupRequest(), 8));
  }
  void strongTypesAndSentinels() {
    const ListOffsetsResponse::ListOffsetsPartitionResponse partition;
    QCOMPARE(partition.offset, kNoOffset);
    QCOMPARE(partition.leader_epoch, kNoLeaderEpoch);
    QCOMPARE(partition.error_code, ErrorCode::none);
  }
  void groupAndMetadataRecords() {
    OffsetCommitValue value;
    value.offset = Offset(42);
    value.metadata = "m";
    value.commit_timestamp = 1;
    QCOMPARE(encoded(value, 3), std::string("000000000000002a" "ffffffff" "0001" "6d" "0000000000000001"));
    TopicRecord record;
    record.name = "t";
    record.topic_id = Uuid{1, 2};
    QCOMPARE(encoded(record, 0), std::string("02" "74" "00000000000000010000000000000002" "00"));
    QCOMPARE(TopicRecord::kApiKey, std::int16_t{2});
  }
  void unknownTagsSurvive() {
    const std::string hex = "03" "6877" "04" "302e31" "02" "09" "02" "cafe" "64" "00";
    const ApiVersionsRequest request = decoded<ApiVersionsRequest>(hex, 3);
    QCOMPARE(request.unknown_tagged_fields.size(), std::size_t{2});
    QCOMPARE(request.unknown_tagged_fields[1].tag, 100U);
    QCOMPARE(encoded(request, 3), hex);
    QVERIFY(encoded(request, 0).starts_with("tagged fields in a version that has none"));
  }
  void knownTagsComeOnlyInTheirVersions() {
    // FetchRequest v12 knows tag 0 (cluster id), not tag 1 (replica state, from 15).
    FetchRequest request;
    request.replica_state.replica_id = BrokerId(3);
    QVERIFY(encoded(request, 14).find("FetchRequest.replica_state") != std::string::npos);
    const std::string hex = encoded(request, 15);
    QVERIFY(decoded<FetchRequest>(hex, 15) == request);
    Reader reader(from_hex("ffffffff" + hex));  // replica_id is there until 14
    FetchRequest other;
    QVERIFY(!decode(reader, other, 14));
    QVERIFY(std::string(reader.error()).find("version does not have") != std::string::npos);
  }
  void hugeArraysAreRefusedWithoutAllocation() {
    Reader reader(from_hex("7fffffff" "0001" "74"));
    MetadataRequest request;
    QVERIFY(!decode(reader, request, 1));
    QCOMPARE(request.topics->capacity(), std::size_t{0});
    // Two bytes an element, as many as the frame has room for, but far too big when decoded.
    ByteBuilder builder;
    builder.append(from_hex("81808001").span());  // 2^21 elements
    std::memset(builder.extend(1 << 22), 1, 1 << 22);
    Reader big(builder.finish(), std::size_t{64} << 20);
    QVERIFY(!decode(big, request, 9));
    QVERIFY(std::string(big.error()).find("memory") != std::string::npos);
  }

  void apiTable() {
    std::set<int> keys;
    int last = -1;
    for (const ApiInfo& api : all_apis()) {
      QVERIFY(api.key > last);
      last = api.key;
      QVERIFY(keys.insert(api.key).second);
      QVERIFY(api.advertised_lowest <= api.lowest && api.advertised_highest <= api.highest);
      QVERIFY(api.broker_listener || api.controller_listener);
      QVERIFY(find_api(api.key) == &api);
    }
    const ApiInfo* produce = find_api(ProduceRequest::kApiKey);
    QCOMPARE(std::string(produce->name), std::string("Produce"));
    QCOMPARE(produce->lowest, std::int16_t{3});
    QCOMPARE(produce->advertised_lowest, std::int16_t{0});
    QCOMPARE(find_api(22)->advertised_highest, std::int16_t{5});
    QCOMPARE(find_api(22)->highest, std::int16_t{6});
    QVERIFY(find_api(4) == nullptr);
    QVERIFY(find_api(-1) == nullptr);
    QVERIFY(find_api(1000) == nullptr);
  }
  void headerVersions() {
    QCOMPARE(request_header_version(0, 8), 1);
    QCOMPARE(request_header_version(0, 9), 2);
    QCOMPARE(response_header_version(0, 9), 1);
    QCOMPARE(request_header_version(18, 99), 2);
    QCOMPARE(response_header_version(18, 3), 0);
    QCOMPARE(request_header_version(17, 1), 1);
    QCOMPARE(request_header_version(9999, 0), 1);
    QCOMPARE(ProduceRequest::kFlexibleFrom, std::int16_t{9});
    QCOMPARE(ProduceRequest::kName, std::string_view("ProduceRequest"));
  }
};

QTEST_APPLESS_MAIN(TestWireMsg)
#include "tst_wire_msg.moc"
