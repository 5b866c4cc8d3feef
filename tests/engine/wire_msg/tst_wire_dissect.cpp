// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <string>

#include "engine/base/prng.h"
#include "engine/wire/msg/alter_user_scram_credentials.h"
#include "engine/wire/msg/incremental_alter_configs.h"
#include "engine/wire/msg/messages.h"
#include "engine/wire/msg/metadata.h"
#include "engine/wire/msg/request_header.h"
#include "engine/wire/msg/sasl_authenticate.h"
#include "engine/wire/runtime/random_message.h"
#include "engine/wire/runtime/writer.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::wire;  // NOLINT(google-build-using-namespace): a test

namespace {

template <class T>
Bytes body_of(const T& message, std::int16_t version) {
  Writer writer;
  if (!encode(writer, message, version)) {
    qWarning("%s %s", writer.error(), writer.error_field());
  }
  return writer.finish().flatten();
}

const DissectedField* find(const DissectedField& field, std::string_view name) {
  if (field.name == name) {
    return &field;
  }
  for (const DissectedField& child : field.children) {
    if (const DissectedField* found = find(child, name)) {
      return found;
    }
  }
  return nullptr;
}

// The children of a field follow one another without a gap, up to its end.
std::string gap(const DissectedField& field) {
  std::size_t at = field.children.empty() ? field.end : field.children.front().begin;
  if (at < field.begin) {
    return field.name + " begins after its children";
  }
  for (const DissectedField& child : field.children) {
    if (child.begin != at) {
      return "a gap before " + field.name + "." + child.name;
    }
    at = child.end;
    if (const std::string inner = gap(child); !inner.empty()) {
      return inner;
    }
  }
  return at == field.end ? "" : "a gap at the end of " + field.name;
}

}  // namespace

class TestWireDissect : public QObject {
  Q_OBJECT
 private slots:
  void everyMessageIsCoveredByteByByte() {
    Prng prng(3);
    for (const MessageInfo& info : all_messages()) {
      for (int version = info.versions.low; version <= info.versions.high; ++version) {
        const Bytes body = random_message(info, static_cast<std::int16_t>(version), prng);
        const Dissection result = dissect(info, static_cast<std::int16_t>(version), body);
        const std::string where = std::string(info.name) + " v" + std::to_string(version) + " ";
        QCOMPARE(where + result.error, where);
        QVERIFY(result.complete);
        QVERIFY(!result.cut);
        QCOMPARE(where + gap(result.root), where);
        QCOMPARE(result.root.begin, std::size_t{0});
        QCOMPARE(result.root.end, body.size());
      }
    }
  }
  void valuesAndPlaces() {
    MetadataResponse response;
    response.throttle_time_ms = 12;
    MetadataResponse::MetadataResponseTopic topic;
    topic.name = "orders";
    topic.error_code = ErrorCode::unknown_topic_or_partition;
    response.topics.push_back(topic);
    const Bytes body = body_of(response, 12);
    const Dissection result = dissect(body, MetadataResponse::kApiKey, 12, false);
    QVERIFY2(result.complete, result.error.c_str());
    QCOMPARE(find(result.root, "throttle_time_ms")->value, std::string("12"));
    QCOMPARE(find(result.root, "throttle_time_ms")->type, std::string("int32"));
    QCOMPARE(find(result.root, "topics")->type, std::string("[]MetadataResponseTopic"));
    QCOMPARE(find(result.root, "topics")->value, std::string("1 item"));
    QCOMPARE(find(result.root, "error_code")->value, std::string("UNKNOWN_TOPIC_OR_PARTITION (3)"));
    const DissectedField* name = find(result.root, "name");
    QCOMPARE(name->value, std::string("orders"));
    QCOMPARE(name->end - name->begin, std::size_t{7});
    QCOMPARE(body.slice(name->begin + 1, 6).text(), std::string_view("orders"));
    QCOMPARE(find(result.root, "cluster_id")->value, std::string("null"));
    QVERIFY(print(result.root).find("    [0]\n      error_code: UNKNOWN_TOPIC_OR_PARTITION (3)\n") != std::string::npos);
    const std::string line = print_line(result.root);
    QVERIFY2(line.find("throttle_time_ms=12 ") != std::string::npos, line.c_str());
    QVERIFY(line.find('\n') == std::string::npos);
    QVERIFY(print_line(result.root, 20).size() <= 20 + 3);
  }
  void wholeFrames() {
    RequestHeader header;
    header.request_api_key = MetadataRequest::kApiKey;
    header.request_api_version = 12;
    header.client_id = "me";
    Writer writer;
    QVERIFY(encode(writer, header, 2));
    QVERIFY(encode(writer, MetadataRequest(), 12));
    const Bytes frame = writer.finish().flatten();
    const Dissection result = dissect_request(frame);
    QVERIFY2(result.complete, result.error.c_str());
    QCOMPARE(result.root.children.size(), std::size_t{2});
    QCOMPARE(result.root.children[0].name, std::string("RequestHeader"));
    QCOMPARE(result.root.children[1].name, std::string("MetadataRequest"));
    QCOMPARE(gap(result.root), std::string());

    const Dissection unknown = dissect_request(Bytes::copy_of(std::string_view("\x7f\x00\x00\x00\x00\x00\x00\x01\xff\xffrest", 14)));
    QVERIFY(unknown.complete);
    QCOMPARE(unknown.root.children[1].name, std::string("body"));
    QVERIFY(!dissect_request(Bytes()).complete);
    QVERIFY(!dissect(Bytes(), 4, 0, true).complete);
  }
  void secretsAreHidden() {
    SaslAuthenticateRequest sasl;
    sasl.auth_bytes = Bytes::copy_of("hunter2");
    const Bytes body = body_of(sasl, 2);
    QCOMPARE(find(dissect(body, 36, 2, true).root, "auth_bytes")->value, std::string("(hidden)"));
    DissectOptions open;
    open.show_sensitive = true;
    QVERIFY(find(dissect(body, 36, 2, true, open).root, "auth_bytes")->value.find("68 75 6e") != std::string::npos);

    AlterUserScramCredentialsRequest scram;
    scram.upsertions.resize(1);
    scram.upsertions[0].salted_password = Bytes::copy_of("hunter2");
    QCOMPARE(find(dissect(body_of(scram, 0), 51, 0, true).root, "salted_password")->value, std::string("(hidden)"));

    IncrementalAlterConfigsRequest configs;
    configs.resources.resize(1);
    configs.resources[0].configs.resize(2);
    configs.resources[0].configs[0].name = "ssl.key.password";
    configs.resources[0].configs[0].value = "hunter2";
    configs.resources[0].configs[1].name = "retention.ms";
    configs.resources[0].configs[1].value = "1000";
    const std::string text = print(dissect(body_of(configs, 1), 44, 1, true).root);
    QVERIFY(text.find("hunter2") == std::string::npos);
    QVERIFY(text.find("1000") != std::string::npos);
  }
  void brokenFramesShowHowFarTheyAreInOrder() {
    MetadataRequest request;
    request.topics.emplace().resize(1);
    request.topics->front().name = "orders";
    const Bytes body = body_of(request, 9);
    const Dissection cut = dissect(body.slice(0, 5), 3, 9, true);
    QVERIFY(!cut.complete);
    QVERIFY(!cut.error.empty());
    QVERIFY(cut.error_position <= 5);
    QVERIFY(find(cut.root, "topics") != nullptr);
    ByteBuilder longer;
    longer.append(body.span());
    longer.append(as_bytes("xx"));
    const Dissection more = dissect(longer.finish(), 3, 9, true);
    QVERIFY(!more.complete);
    QCOMPARE(more.left_over, std::size_t{2});
    QVERIFY(!dissect(body, 3, 77, true).complete);
  }
  void theTreeIsBounded() {
    MetadataRequest request;
    request.topics.emplace().resize(5000);
    DissectOptions options;
    options.max_fields = 100;
    const Dissection result = dissect(body_of(request, 12), 3, 12, true, options);
    QVERIFY(result.complete);
    QVERIFY(result.cut);
    QVERIFY(find(result.root, "topics")->children.size() <= 100);
  }
  void damagedFramesDoNotHarm() {
    Prng prng(8);
    for (const MessageInfo& info : all_messages()) {
      ByteBuilder damaged;
      damaged.append(random_message(info, info.versions.high, prng).span());
      for (int i = 0; i < 20 && damaged.size() > 0; ++i) {
        damaged.data()[prng.below(damaged.size())] = static_cast<std::byte>(prng.below(256));
        const Bytes body = Bytes::copy_of(damaged.span());
        const Dissection result = dissect(info, info.versions.high, body);
        QVERIFY(result.complete == result.error.empty());
        QVERIFY(result.root.end <= body.size());
        (void)print(result.root);
      }
    }
  }
};

QTEST_APPLESS_MAIN(TestWireDissect)
#include "tst_wire_dissect.moc"
