// SPDX-License-Identifier: Apache-2.0
// The error codes of answers are found wherever Kafka's responses keep them.
#include <QTest>
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "engine/api/answer_errors.h"
#include "engine/event/counters.h"
#include "engine/wire/msg/describe_groups.h"
#include "engine/wire/msg/messages.h"
#include "engine/wire/msg/offset_fetch.h"
#include "engine/wire/msg/produce.h"

using namespace hw;  // NOLINT(google-build-using-namespace): a test
using wire::ErrorCode;

namespace {

// Names of lists on the way to an error code. True: this struct holds one somewhere.
bool lists_with_errors(const wire::StructInfo& info, std::set<std::string>& out, std::set<std::string>& names) {
  bool any = false;
  for (const wire::FieldInfo& field : info.fields) {
    if (field.meaning == wire::Meaning::error_code) {
      names.insert(std::string(field.name));
      any = true;
    } else if (field.fields != nullptr && lists_with_errors(*field.fields, out, names)) {
      out.insert(std::string(field.name));
      any = true;
    }
  }
  return any;
}

template <class Message>
std::vector<ErrorCode> errors_of(const Message& message) {
  std::vector<ErrorCode> out;
  const auto note = [&](ErrorCode code) { out.push_back(code); };
  api::for_each_error(message, note);
  return out;
}

}  // namespace

class TestAnswerErrors : public QObject {
  Q_OBJECT

 private slots:
  void every_list_of_every_response_is_known() {
    std::set<std::string> lists;
    std::set<std::string> names;
    for (const wire::MessageInfo& message : wire::all_messages()) {
      if (message.kind == wire::MessageKind::response) {
        lists_with_errors(*message.root, lists, names);
      }
    }
    QVERIFY(lists.size() > 8);
    for (const std::string& list : lists) {
      const bool known = std::find(api::kErrorLists.begin(), api::kErrorLists.end(), list) != api::kErrorLists.end();
      QVERIFY2(known, list.c_str());
    }
    const std::set<std::string> fields{"error_code", "topic_config_error_code", "acknowledge_error_code", "partition_error_code"};
    for (const std::string& name : names) {
      QVERIFY2(fields.count(name) == 1, name.c_str());
    }
  }

  void nested_codes_are_found_and_none_is_none() {
    wire::ProduceResponse produce;
    produce.responses.resize(2);
    produce.responses[0].partition_responses.resize(3);
    produce.responses[1].partition_responses.resize(1);
    QVERIFY(errors_of(produce).empty());
    produce.responses[0].partition_responses[1].error_code = ErrorCode::message_too_large;
    produce.responses[1].partition_responses[0].error_code = ErrorCode::unknown_topic_or_partition;
    const std::vector<ErrorCode> expected{ErrorCode::message_too_large, ErrorCode::unknown_topic_or_partition};
    QVERIFY(errors_of(produce) == expected);
    wire::OffsetFetchResponse offsets;
    offsets.groups.resize(1);
    offsets.groups[0].error_code = ErrorCode::unknown_member_id;
    QCOMPARE(errors_of(offsets).size(), std::size_t{1});
    wire::DescribeGroupsResponse groups;
    groups.groups.resize(2);
    groups.groups[1].error_code = ErrorCode::coordinator_not_available;
    QCOMPARE(errors_of(groups).size(), std::size_t{1});
  }

  void counters_keep_apis_and_codes_in_order_of_use() {
    event::ConnectionCounters counters;
    counters.note_request(0, 12);
    counters.note_request(1, 17);
    counters.note_request(0, 13);
    counters.note_error(3);
    counters.note_error(-1);
    counters.note_error(3);
    QCOMPARE(counters.apis[0].key.get(), std::int64_t{0});
    QCOMPARE(counters.apis[0].version.get(), std::int64_t{13});
    QCOMPARE(counters.apis[0].requests.get(), std::int64_t{2});
    QCOMPARE(counters.apis[1].key.get(), std::int64_t{1});
    QCOMPARE(counters.apis[2].key.get(), std::int64_t{-1});
    QCOMPARE(counters.errors[0].count.get(), std::int64_t{2});
    QCOMPARE(counters.errors[1].code.get(), event::ConnectionCounters::kUnknownError);
    QCOMPARE(counters.error_total(), std::int64_t{3});
    // Bounded: whatever a client asks for.
    for (std::int16_t key = 100; key < 200; ++key) {
      counters.note_request(key, 0);
      counters.note_error(key);
    }
    QVERIFY(counters.apis_other.get() > 0);
    QCOMPARE(counters.error_total(), std::int64_t{103});
  }
};

QTEST_APPLESS_MAIN(TestAnswerErrors)
#include "tst_answer_errors.moc"
