// SPDX-License-Identifier: Apache-2.0
#include <QtTest/QTest>

#include <algorithm>
#include <map>
#include <set>

#include "engine/metadata/placement.h"
#include "engine/wire/record/batch.h"
#include "engine/raft/control_records.h"
#include "tests/engine/metadata/metadata_fixture.h"

using namespace hw;
using namespace hw::metadata;
using namespace hw::metadata::test;
using wire::ErrorCode;

namespace {

using Topic = wire::CreateTopicsRequest::CreatableTopic;
using Created = wire::CreateTopicsResponse::CreatableTopicResult;
using Configs = std::vector<std::pair<std::string, std::optional<std::string>>>;
using Assignment = std::vector<std::pair<std::int32_t, std::vector<std::int32_t>>>;

Topic wanted(const std::string& name, std::int32_t partitions = 1, std::int16_t replication = 1, const Configs& configs = {},
             const Assignment& assignment = {}) {
  Topic topic;
  topic.name = name;
  topic.num_partitions = partitions;
  topic.replication_factor = replication;
  for (const auto& [key, value] : configs) {
    wire::CreateTopicsRequest::CreatableTopicConfig config;
    config.name = key;
    config.value = value;
    topic.configs.push_back(config);
  }
  for (const auto& [index, brokers] : assignment) {
    wire::CreateTopicsRequest::CreatableReplicaAssignment entry;
    entry.partition_index = PartitionIndex(index);
    for (const std::int32_t id : brokers) {
      entry.broker_ids.push_back(BrokerId(id));
    }
    topic.assignments.push_back(entry);
  }
  return topic;
}

std::vector<Created> create(Plane& plane, const std::vector<Topic>& topics, bool validate_only = false) {
  wire::CreateTopicsRequest request;
  request.topics = topics;
  request.validate_only = validate_only;
  std::optional<wire::CreateTopicsResponse> answer;
  plane.controller().create_topics(request, [&answer](wire::CreateTopicsResponse response) { answer = std::move(response); });
  plane.run();
  return answer ? answer->topics : std::vector<Created>{};
}
ErrorCode created(Plane& plane, const Topic& topic) {
  const std::vector<Created> result = create(plane, {topic});
  return result.size() == 1 ? result.front().error_code : ErrorCode::unknown_server_error;
}

std::vector<wire::DeleteTopicsResponse::DeletableTopicResult> remove(
    Plane& plane, const std::vector<std::pair<std::optional<std::string>, Uuid>>& topics) {
  wire::DeleteTopicsRequest request;
  for (const auto& [name, id] : topics) {
    wire::DeleteTopicsRequest::DeleteTopicState state;
    state.name = name;
    state.topic_id = id;
    request.topics.push_back(state);
  }
  std::optional<wire::DeleteTopicsResponse> answer;
  plane.controller().delete_topics(request, [&answer](wire::DeleteTopicsResponse response) { answer = std::move(response); });
  plane.run();
  return answer ? answer->responses : std::vector<wire::DeleteTopicsResponse::DeletableTopicResult>{};
}

std::vector<wire::CreatePartitionsResponse::CreatePartitionsTopicResult> grow(
    Plane& plane, const std::vector<std::pair<std::string, std::int32_t>>& topics,
    const std::optional<std::vector<std::vector<std::int32_t>>>& assignment = {}, bool validate_only = false) {
  wire::CreatePartitionsRequest request;
  request.validate_only = validate_only;
  for (const auto& [name, count] : topics) {
    wire::CreatePartitionsRequest::CreatePartitionsTopic topic;
    topic.name = name;
    topic.count = count;
    if (assignment) {
      topic.assignments.emplace();
      for (const std::vector<std::int32_t>& ids : *assignment) {
        wire::CreatePartitionsRequest::CreatePartitionsAssignment entry;
        for (const std::int32_t id : ids) {
          entry.broker_ids.push_back(BrokerId(id));
        }
        topic.assignments->push_back(entry);
      }
    } else {
      topic.assignments.reset();
    }
    request.topics.push_back(topic);
  }
  std::optional<wire::CreatePartitionsResponse> answer;
  plane.controller().create_partitions(request,
                                       [&answer](wire::CreatePartitionsResponse response) { answer = std::move(response); });
  plane.run();
  return answer ? answer->results : std::vector<wire::CreatePartitionsResponse::CreatePartitionsTopicResult>{};
}

}  // namespace

class TestController : public QObject {
  Q_OBJECT
 private slots:
  void a_fresh_node_bootstraps_and_registers();
  void a_restarted_node_goes_on();
  void create_topics_refuses_what_kafka_refuses_data();
  void create_topics_refuses_what_kafka_refuses();
  void create_topics_answers_what_it_made();
  void create_topics_with_assignment();
  void the_same_name_twice_is_one_refusal();
  void names_that_differ_in_dot_and_underscore_collide();
  void validate_only_changes_nothing_but_answers_an_id();
  void too_many_partitions_in_one_request();
  void many_records_become_visible_together();
  void consecutive_requests_see_each_other();
  void an_answer_waits_for_the_flush();
  void images_are_handed_out_before_their_completions();
  void losing_the_role_fails_what_waits();
  void delete_topics_by_name_and_id();
  void delete_topics_can_be_disabled();
  void a_topic_made_again_gets_another_id();
  void create_partitions_only_adds();
  void producer_ids_come_in_blocks_and_once();
  void internal_topics_as_configured();
  void fencing_takes_leaderships_and_unfencing_returns_them();
  void events_tell_what_changed();
  void the_log_alone_rebuilds_everything();
  void placement_spreads_evenly();
  void placement_avoids_racks_and_the_fenced();
  void placement_says_why_not();
};

void TestController::a_fresh_node_bootstraps_and_registers() {
  Plane plane;
  QVERIFY(!plane.plane->ready());
  plane.run();
  QVERIFY(plane.plane->ready());
  QCOMPARE(plane.election().epoch.value(), 1);
  QVERIFY(plane.election().leader == BrokerId(1));
  QCOMPARE(plane.image().feature_level("metadata.version"), std::int16_t{33});
  const BrokerImage* self = plane.image().find_broker(BrokerId(1));
  QVERIFY(self != nullptr);
  QVERIFY(!self->fenced);
  QCOMPARE(self->listeners.size(), std::size_t{1});
  // The broker's epoch is the offset of its registration: after leader change, kraft.version, voters, the bootstrap
  // transaction, the controller's registration and the min.insync.replicas that eligible leaders are reckoned with.
  const auto bootstrap = static_cast<std::int64_t>(bootstrap_records().size());
  QCOMPARE(self->epoch, 3 + bootstrap + 2 + 1 + 1);
  QCOMPARE(plane.image().feature_level("eligible.leader.replicas.version"), std::int16_t{1});
  QCOMPARE(plane.image().find_configs({ConfigResourceType::broker, ""})->at("min.insync.replicas"), std::string("1"));
  QVERIFY(plane.plane->next_deadline() == kNever);
  QVERIFY(plane.batches.front().control);
}

void TestController::a_restarted_node_goes_on() {
  Plane first;
  first.run();
  QCOMPARE(created(first, wanted("a", 3)), ErrorCode::none);
  const Uuid id = first.image().find_topic("a")->id;
  Plane second({}, 2, first.batches, first.election());
  second.run();
  QVERIFY(second.plane->ready());
  QCOMPARE(second.election().epoch.value(), 2);
  const TopicImage* topic = second.image().find_topic("a");
  QVERIFY(topic != nullptr);
  QVERIFY(topic->id == id);
  // It came back: its partitions have it as leader again, in a later epoch (the log may have been cut).
  for (const PartitionImage& partition : topic->partitions) {
    QCOMPARE(partition.leader.value(), 1);
    QCOMPARE(partition.leader_epoch.value(), 2);
    QCOMPARE(partition.isr.size(), std::size_t{1});
  }
  int bootstraps = 0;
  for (const LogBatch& batch : second.batches) {
    bootstraps += batch.base_offset == Offset(3) ? 1 : 0;
  }
  QCOMPARE(bootstraps, 1);
  QCOMPARE(created(second, wanted("a")), ErrorCode::topic_already_exists);
}

void TestController::create_topics_refuses_what_kafka_refuses_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<int>("partitions");
  QTest::addColumn<int>("replication");
  QTest::addColumn<QString>("key");
  QTest::addColumn<QString>("value");
  QTest::addColumn<int>("error");
  const auto row = [](const char* tag, const QString& name, int partitions, int replication, ErrorCode error,
                      const QString& key = {}, const QString& value = {}) {
    QTest::newRow(tag) << name << partitions << replication << key << value << static_cast<int>(error);
  };
  row("exists", "there", 1, 1, ErrorCode::topic_already_exists);
  row("blank", "a b", 1, 1, ErrorCode::invalid_topic_exception);
  row("dot", ".", 1, 1, ErrorCode::invalid_topic_exception);
  row("dots", "..", 1, 1, ErrorCode::invalid_topic_exception);
  row("empty", "", 1, 1, ErrorCode::invalid_topic_exception);
  row("249 letters", QString(249, 'x'), 1, 1, ErrorCode::none);
  row("250 letters", QString(250, 'x'), 1, 1, ErrorCode::invalid_topic_exception);
  row("no partitions", "n", 0, 1, ErrorCode::invalid_partitions);
  row("negative partitions", "n", -2, 1, ErrorCode::invalid_partitions);
  row("no replicas", "n", 1, 0, ErrorCode::invalid_replication_factor);
  row("negative replicas", "n", 1, -2, ErrorCode::invalid_replication_factor);
  row("too many replicas", "n", 1, 9, ErrorCode::invalid_replication_factor);
  row("replicas before partitions", "n", 0, 0, ErrorCode::invalid_replication_factor);
  row("unknown key", "n", 1, 1, ErrorCode::invalid_config, "no.such", "1");
  row("bad value", "n", 1, 1, ErrorCode::invalid_config, "retention.ms", "abc");
  row("configs before counts", "n", 0, 0, ErrorCode::invalid_config, "retention.ms", "abc");
  row("defaults", "n", -1, -1, ErrorCode::none);
  row("too large for 2", "n", 1, 2, ErrorCode::invalid_replication_factor);
}
void TestController::create_topics_refuses_what_kafka_refuses() {
  QFETCH(QString, name);
  QFETCH(int, partitions);
  QFETCH(int, replication);
  QFETCH(QString, key);
  QFETCH(QString, value);
  QFETCH(int, error);
  Plane plane;
  plane.run();
  QCOMPARE(created(plane, wanted("there")), ErrorCode::none);
  const Offset before = plane.image().offset();
  Configs configs;
  if (!key.isEmpty()) {
    configs.emplace_back(key.toStdString(), value.toStdString());
  }
  const std::vector<Created> result = create(
      plane, {wanted(name.toStdString(), partitions, static_cast<std::int16_t>(replication), configs)});
  QCOMPARE(result.size(), std::size_t{1});
  QCOMPARE(static_cast<int>(result.front().error_code), error);
  if (error != 0) {
    QVERIFY(result.front().error_message.has_value());
    QVERIFY(result.front().topic_id.is_zero());
    QCOMPARE(result.front().num_partitions, -1);
    QVERIFY(result.front().configs.has_value() && result.front().configs->empty());
    QVERIFY(plane.image().offset() == before);
  } else {
    QVERIFY(plane.image().find_topic(name.toStdString()) != nullptr);
  }
}

void TestController::create_topics_answers_what_it_made() {
  Plane plane(Settings{{"num.partitions", "4"}});
  plane.run();
  const std::vector<Created> result =
      create(plane, {wanted("a", -1, -1, {{"retention.ms", "1000"}, {"retention.ms", "2000"}})});
  QCOMPARE(result.front().error_code, ErrorCode::none);
  QVERIFY(!result.front().error_message.has_value());
  QCOMPARE(result.front().num_partitions, 4);
  QCOMPARE(result.front().replication_factor, std::int16_t{1});
  QCOMPARE(result.front().configs->size(), std::size_t{37});
  const TopicImage* topic = plane.image().find_topic("a");
  QVERIFY(topic->id == result.front().topic_id);
  QCOMPARE(topic->partitions.size(), std::size_t{4});
  const PartitionImage& partition = topic->partitions.front();
  QCOMPARE(partition.leader.value(), 1);
  QCOMPARE(partition.leader_epoch.value(), 0);
  QCOMPARE(partition.partition_epoch, 0);
  QVERIFY((partition.isr == std::vector<BrokerId>{BrokerId(1)}));
  QVERIFY((partition.directories == std::vector<Uuid>{id_of(99)}));
  QCOMPARE(plane.image().find_configs({ConfigResourceType::topic, "a"})->at("retention.ms"), std::string("2000"));
}

void TestController::create_topics_with_assignment() {
  Plane plane;
  plane.run();
  QCOMPARE(created(plane, wanted("a", 1, -1, {}, {{0, {1}}})), ErrorCode::invalid_request);
  QCOMPARE(created(plane, wanted("a", -1, 1, {}, {{0, {1}}})), ErrorCode::invalid_request);
  QCOMPARE(created(plane, wanted("a", -1, -1, {}, {{0, {1, 1}}})), ErrorCode::invalid_replica_assignment);
  QCOMPARE(created(plane, wanted("a", -1, -1, {}, {{0, {77}}})), ErrorCode::invalid_replica_assignment);
  QCOMPARE(created(plane, wanted("a", -1, -1, {}, {{0, {-1}}})), ErrorCode::invalid_replica_assignment);
  QCOMPARE(created(plane, wanted("a", -1, -1, {}, {{0, {}}})), ErrorCode::invalid_replica_assignment);
  QCOMPARE(created(plane, wanted("a", -1, -1, {}, {{1, {1}}})), ErrorCode::invalid_replica_assignment);
  QCOMPARE(created(plane, wanted("a", -1, -1, {}, {{-1, {1}}})), ErrorCode::invalid_replica_assignment);
  QCOMPARE(created(plane, wanted("a", -1, -1, {}, {{0, {1}}, {0, {1}}})), ErrorCode::invalid_replica_assignment);
  QCOMPARE(created(plane, wanted("a", -1, -1, {}, {{1, {1}}, {0, {1}}})), ErrorCode::none);
  QCOMPARE(plane.image().find_topic("a")->partitions.size(), std::size_t{2});
}

void TestController::the_same_name_twice_is_one_refusal() {
  Plane plane;
  plane.run();
  const std::vector<Created> result = create(plane, {wanted("a"), wanted("a"), wanted("b"), wanted("c", 0)});
  QCOMPARE(result.size(), std::size_t{3});
  QCOMPARE(result[0].error_code, ErrorCode::invalid_request);
  QCOMPARE(result[1].error_code, ErrorCode::none);
  QCOMPARE(result[2].error_code, ErrorCode::invalid_partitions);
  QVERIFY(plane.image().find_topic("a") == nullptr);
  QVERIFY(plane.image().find_topic("b") != nullptr);
}

void TestController::names_that_differ_in_dot_and_underscore_collide() {
  Plane plane;
  plane.run();
  QCOMPARE(created(plane, wanted("a.b_c")), ErrorCode::none);
  QCOMPARE(created(plane, wanted("a_b_c")), ErrorCode::invalid_topic_exception);
  QCOMPARE(created(plane, wanted("a.b_c")), ErrorCode::topic_already_exists);
  QCOMPARE(created(plane, wanted("a-b-c")), ErrorCode::none);
  remove(plane, {{"a.b_c", Uuid{}}});
  QCOMPARE(created(plane, wanted("a_b_c")), ErrorCode::none);
}

void TestController::validate_only_changes_nothing_but_answers_an_id() {
  Plane plane;
  plane.run();
  const Offset before = plane.image().offset();
  const std::vector<Created> result = create(plane, {wanted("a", 2), wanted("b", 0)}, true);
  QCOMPARE(result[0].error_code, ErrorCode::none);
  QVERIFY(!result[0].topic_id.is_zero());
  QCOMPARE(result[0].num_partitions, 2);
  QCOMPARE(result[1].error_code, ErrorCode::invalid_partitions);
  QVERIFY(plane.image().find_topic("a") == nullptr);
  QVERIFY(plane.image().offset() == before);
}

void TestController::too_many_partitions_in_one_request() {
  Plane plane;
  plane.run();
  const std::vector<Created> result = create(plane, {wanted("a", 10'000), wanted("b")});
  QCOMPARE(result[0].error_code, ErrorCode::policy_violation);
  QCOMPARE(result[1].error_code, ErrorCode::policy_violation);
  QCOMPARE(created(plane, wanted("a", 10'000)), ErrorCode::none);
  QCOMPARE(grow(plane, {{"a", 20'001}}).front().error_code, ErrorCode::policy_violation);
}

void TestController::many_records_become_visible_together() {
  Plane plane;
  plane.run();
  std::vector<Topic> topics;
  for (int i = 0; i < 100; ++i) {
    topics.push_back(wanted("t" + std::to_string(i), 1, 1, {{"retention.ms", std::string(32'000, ' ') + "1"}}));
  }
  const std::size_t batches = plane.batches.size();
  const std::size_t images = plane.published.size();
  for (const Created& result : create(plane, topics)) {
    QCOMPARE(result.error_code, ErrorCode::none);
  }
  QVERIFY(plane.batches.size() > batches + 2);
  for (const LogBatch& batch : plane.batches) {
    QVERIFY(batch.bytes.size() < 2'000'000);
  }
  QCOMPARE(plane.published.size(), images + 1);
  QCOMPARE(plane.published.back().delta.topics_created.size(), std::size_t{100});
  Plane again({}, 2, plane.batches, plane.election());
  again.run();
  QCOMPARE(again.image().topics().size(), std::size_t{100});
}

void TestController::consecutive_requests_see_each_other() {
  Plane plane;
  plane.run();
  std::vector<ErrorCode> answers;
  wire::CreateTopicsRequest request;
  request.topics = {wanted("a")};
  for (int i = 0; i < 2; ++i) {  // nothing is committed in between
    plane.controller().create_topics(
        request, [&answers](const wire::CreateTopicsResponse& r) { answers.push_back(r.topics.front().error_code); });
  }
  QVERIFY(answers.empty());  // the refusal waits as well: what it says is not committed yet
  QVERIFY(plane.image().find_topic("a") == nullptr);
  QVERIFY(plane.controller().newest().find_topic("a") != nullptr);
  plane.run();
  QVERIFY((answers == std::vector<ErrorCode>{ErrorCode::none, ErrorCode::topic_already_exists}));
}

void TestController::an_answer_waits_for_the_flush() {
  Plane plane;
  plane.run();
  bool answered = false;
  wire::CreateTopicsRequest request;
  request.topics = {wanted("a")};
  plane.controller().create_topics(request, [&answered](const wire::CreateTopicsResponse&) { answered = true; });
  plane.run(false);
  QVERIFY(plane.flush_owed);
  QVERIFY(!answered);
  QVERIFY(plane.image().find_topic("a") == nullptr);
  plane.run(true);
  QVERIFY(answered);
  QVERIFY(plane.image().find_topic("a") != nullptr);
}

void TestController::images_are_handed_out_before_their_completions() {
  Plane plane;
  plane.run();
  const std::size_t before = plane.published.size();
  std::size_t at_completion = 0;
  wire::CreateTopicsRequest request;
  request.topics = {wanted("a")};
  plane.controller().create_topics(request,
                                   [&](const wire::CreateTopicsResponse&) { at_completion = plane.published.size(); });
  plane.run();
  QCOMPARE(at_completion, before + 1);
  QCOMPARE(plane.published.back().delta.topics_created.size(), std::size_t{1});
}

void TestController::losing_the_role_fails_what_waits() {
  Plane plane;
  plane.run();
  std::vector<ErrorCode> answers;
  wire::CreateTopicsRequest request;
  request.topics = {wanted("a")};
  const auto note = [&answers](const wire::CreateTopicsResponse& r) { answers.push_back(r.topics.front().error_code); };
  plane.controller().create_topics(request, note);
  plane.controller().resign();
  plane.controller().create_topics(request, note);
  QVERIFY((answers == std::vector<ErrorCode>{ErrorCode::not_controller, ErrorCode::not_controller}));
  QVERIFY(!plane.controller().has_records());
}

void TestController::delete_topics_by_name_and_id() {
  Plane plane;
  plane.run();
  create(plane, {wanted("a"), wanted("b"), wanted("c"), wanted("d")});
  const Uuid b = plane.image().find_topic("b")->id;
  const Uuid c = plane.image().find_topic("c")->id;
  const auto result = remove(plane, {{"nope", Uuid{}},
                                     {std::nullopt, id_of(1)},
                                     {std::nullopt, Uuid{}},
                                     {"a", id_of(1)},
                                     {"a", Uuid{}},
                                     {std::nullopt, b},
                                     {"c", Uuid{}},
                                     {std::nullopt, c},
                                     {"d", Uuid{}},
                                     {"d", Uuid{}},
                                     {"", Uuid{}}});
  const std::vector<ErrorCode> expected = {
      ErrorCode::unknown_topic_or_partition, ErrorCode::unknown_topic_id, ErrorCode::invalid_request,
      ErrorCode::invalid_request, ErrorCode::none, ErrorCode::none, ErrorCode::invalid_request,
      ErrorCode::invalid_request, ErrorCode::invalid_request, ErrorCode::unknown_topic_or_partition};
  QCOMPARE(result.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    QCOMPARE(result[i].error_code, expected[i]);
  }
  QVERIFY(result[5].name == "b");  // names it although it was asked for by id
  QVERIFY(plane.image().find_topic("a") == nullptr);
  QVERIFY(plane.image().find_topic("b") == nullptr);
  QVERIFY(plane.image().find_topic("c") != nullptr);
  QVERIFY(plane.image().find_topic("d") != nullptr);
  // Before version 6 names come in a list of their own.
  wire::DeleteTopicsRequest old;
  old.topic_names = {"d"};
  ErrorCode answer = ErrorCode::unknown_server_error;
  plane.controller().delete_topics(
      old, [&answer](const wire::DeleteTopicsResponse& r) { answer = r.responses.front().error_code; });
  plane.run();
  QCOMPARE(answer, ErrorCode::none);
}

void TestController::delete_topics_can_be_disabled() {
  Plane plane(Settings{{"delete.topic.enable", "false"}});
  plane.run();
  create(plane, {wanted("a")});
  QCOMPARE(remove(plane, {{"a", Uuid{}}}).front().error_code, ErrorCode::topic_deletion_disabled);
  QVERIFY(plane.image().find_topic("a") != nullptr);
}

void TestController::a_topic_made_again_gets_another_id() {
  Plane plane;
  plane.run();
  create(plane, {wanted("a", 1, 1, {{"retention.ms", "1"}})});
  const Uuid first = plane.image().find_topic("a")->id;
  remove(plane, {{"a", Uuid{}}});
  create(plane, {wanted("a")});
  QVERIFY(plane.image().find_topic("a")->id != first);
  QVERIFY(plane.image().find_configs({ConfigResourceType::topic, "a"}) == nullptr);
}

void TestController::create_partitions_only_adds() {
  Plane plane;
  plane.run();
  create(plane, {wanted("a", 2)});
  const auto answer = [&](std::int32_t count, const std::optional<std::vector<std::vector<std::int32_t>>>& assignment = {}) {
    return grow(plane, {{"a", count}}, assignment).front().error_code;
  };
  QCOMPARE(answer(2), ErrorCode::invalid_partitions);
  QCOMPARE(answer(1), ErrorCode::invalid_partitions);
  QCOMPARE(answer(-1), ErrorCode::invalid_partitions);
  QCOMPARE(answer(3, {{}}), ErrorCode::invalid_replica_assignment);
  QCOMPARE(answer(3, {{{1}, {1}}}), ErrorCode::invalid_replica_assignment);
  QCOMPARE(answer(3, {{{77}}}), ErrorCode::invalid_replica_assignment);
  QCOMPARE(answer(3, {{{1, 1}}}), ErrorCode::invalid_replica_assignment);
  QCOMPARE(answer(4, {{{1}, {}}}), ErrorCode::invalid_replica_assignment);
  QCOMPARE(plane.image().find_topic("a")->partitions.size(), std::size_t{2});
  QCOMPARE(grow(plane, {{"a", 9}}, {}, true).front().error_code, ErrorCode::none);
  QCOMPARE(plane.image().find_topic("a")->partitions.size(), std::size_t{2});
  QCOMPARE(answer(3, {{{1}}}), ErrorCode::none);
  QCOMPARE(answer(5), ErrorCode::none);
  QCOMPARE(plane.image().find_topic("a")->partitions.size(), std::size_t{5});
  const auto unknown = grow(plane, {{"nope", 3}, {"a", 7}, {"a", 8}});
  QCOMPARE(unknown.size(), std::size_t{2});
  QCOMPARE(unknown[0].error_code, ErrorCode::unknown_topic_or_partition);
  QVERIFY(!unknown[0].error_message.has_value());
  QCOMPARE(unknown[1].error_code, ErrorCode::invalid_request);
}

void TestController::producer_ids_come_in_blocks_and_once() {
  Plane plane;
  plane.run();
  std::vector<std::pair<std::int64_t, std::int32_t>> blocks;
  const auto take = [&blocks](Plane& from) {
    wire::AllocateProducerIdsRequest request;
    request.broker_id = BrokerId(1);
    request.broker_epoch = from.image().find_broker(BrokerId(1))->epoch;
    from.controller().allocate_producer_ids(request, [&blocks](const wire::AllocateProducerIdsResponse& answer) {
      QCOMPARE(answer.error_code, ErrorCode::none);
      blocks.emplace_back(answer.producer_id_start.value(), answer.producer_id_len);
    });
  };
  take(plane);
  take(plane);
  QVERIFY(blocks.empty());  // nothing is committed yet
  plane.run();
  QVERIFY((blocks == std::vector<std::pair<std::int64_t, std::int32_t>>{{0, 1000}, {1000, 1000}}));
  QCOMPARE(plane.image().next_producer_id(), 2000);
  // What was given out before a restart is not given out again.
  Plane again({}, 2, plane.batches, plane.election());
  again.run();
  take(again);
  again.run();
  QCOMPARE(blocks.back().first, 2000);
}

void TestController::internal_topics_as_configured() {
  Plane plane(Settings{{"offsets.topic.num.partitions", "4"}, {"offsets.topic.segment.bytes", "2097152"}});
  plane.run();
  const Topic offsets = plane.controller().topic_template("__consumer_offsets", plane.image().brokers().size());
  QCOMPARE(offsets.num_partitions, 4);
  QCOMPARE(offsets.replication_factor, std::int16_t{1});  // three are wished for by default, one broker is there
  QCOMPARE(plane.controller().topic_template("__consumer_offsets", 2).replication_factor, std::int16_t{2});
  QCOMPARE(plane.controller().topic_template("__consumer_offsets", 5).replication_factor, std::int16_t{3});
  QCOMPARE(created(plane, offsets), ErrorCode::none);
  const ConfigMap* configs = plane.image().find_configs({ConfigResourceType::topic, "__consumer_offsets"});
  QVERIFY((*configs == ConfigMap{{"cleanup.policy", "compact"}, {"compression.type", "producer"}, {"segment.bytes", "2097152"}}));
  QCOMPARE(created(plane, plane.controller().topic_template("__transaction_state", plane.image().brokers().size())), ErrorCode::none);
  QCOMPARE(created(plane, plane.controller().topic_template("__share_group_state", plane.image().brokers().size())), ErrorCode::none);
  // What was configured is taken at its word.
  Plane strict(Settings{{"offsets.topic.replication.factor", "3"}});
  strict.run();
  QCOMPARE(created(strict, strict.controller().topic_template("__consumer_offsets", strict.image().brokers().size())), ErrorCode::invalid_replication_factor);
}

void TestController::fencing_takes_leaderships_and_unfencing_returns_them() {
  Plane plane;
  plane.run();
  create(plane, {wanted("a", 2)});
  plane.alive = false;
  wire::BrokerHeartbeatRequest last;
  last.broker_id = BrokerId(1);
  last.broker_epoch = plane.image().find_broker(BrokerId(1))->epoch;
  last.want_fence = true;
  plane.controller().broker_heartbeat(last, plane.now, [](const auto&) {});
  plane.run();
  QVERIFY(!plane.plane->ready());
  for (const PartitionImage& partition : plane.image().find_topic("a")->partitions) {
    QCOMPARE(partition.leader.value(), -1);
    QCOMPARE(partition.leader_epoch.value(), 1);
    QVERIFY(partition.isr.empty());
    QVERIFY(partition.elr == std::vector<BrokerId>{BrokerId(1)});  // the last one stays eligible
  }
  QCOMPARE(created(plane, wanted("b")), ErrorCode::invalid_replication_factor);
  QCOMPARE(created(plane, wanted("b", -1, -1, {}, {{0, {1}}})), ErrorCode::invalid_replica_assignment);
  plane.alive = true;
  plane.run();
  for (const PartitionImage& partition : plane.image().find_topic("a")->partitions) {
    QCOMPARE(partition.leader.value(), 1);
    QCOMPARE(partition.leader_epoch.value(), 2);
  }
}

void TestController::events_tell_what_changed() {
  Plane plane;
  plane.run();
  const auto count = [&plane]<class Kind>(const Kind*) {
    return std::count_if(plane.events.begin(), plane.events.end(),
                         [](const event::Any& e) { return std::holds_alternative<Kind>(e); });
  };
  QCOMPARE(count(static_cast<const event::ControllerElected*>(nullptr)), 1);
  plane.events.clear();
  create(plane, {wanted("a", 2, 1, {{"retention.ms", "1"}})});
  QCOMPARE(count(static_cast<const event::TopicCreated*>(nullptr)), 1);
  QCOMPARE(count(static_cast<const event::PartitionChanged*>(nullptr)), 2);
  QCOMPARE(count(static_cast<const event::TopicConfigChanged*>(nullptr)), 1);
  QCOMPARE(count(static_cast<const event::MetadataCommitted*>(nullptr)), 1);
  QVERIFY(std::holds_alternative<event::TopicCreated>(plane.events.front()));  // before anything about its partitions
  plane.events.clear();
  remove(plane, {{"a", Uuid{}}});
  QCOMPARE(count(static_cast<const event::TopicDeleted*>(nullptr)), 1);
}

void TestController::the_log_alone_rebuilds_everything() {
  Plane plane;
  plane.run();
  create(plane, {wanted("a", 3), wanted("b", 2, 1, {{"cleanup.policy", "compact"}})});
  grow(plane, {{"a", 5}});
  remove(plane, {{"b", Uuid{}}});
  ImageBuilder builder;
  const auto follower_of = [&](raft::MemoryLog& log) {
    ControlPlane::Options options;
    options.quorum.self = {{BrokerId(1), id_of(99)}, {}};
    options.quorum.voters = {options.quorum.self};
    options.broker_configs = std::make_shared<const BrokerConfigs>();
    options.registration.broker = BrokerId(1);
    return std::make_unique<ControlPlane>(std::move(options), raft::ElectionState{}, log, Prng(5));
  };
  raft::MemoryLog log;
  for (const LogBatch& batch : plane.batches) {
    QVERIFY(log.append_as_follower(batch.bytes, WallTime{1}).has_value());
  }
  const std::unique_ptr<ControlPlane> follower = follower_of(log);
  const Result<void> started = follower->start(Instant{1}, WallTime{1});
  QVERIFY2(started.has_value(), started ? "" : started.error().detail.c_str());
  ControlPlane::Outputs out;
  follower->pump(Instant{1}, WallTime{1}, out);
  QVERIFY(same(*follower->image(), plane.image()));
  QCOMPARE(out.published.front().delta.topics_created.size(), std::size_t{1});
  // A record that cannot be decoded.
  raft::MemoryLog damaged;
  QVERIFY(damaged.append_as_follower(plane.batches.front().bytes, WallTime{1}).has_value());
  const Bytes nonsense = raft::data_batch_of({Bytes::copy_of("nonsense")}, damaged.end_offset(), LeaderEpoch(1), WallTime{1});
  QVERIFY(damaged.append_as_follower(nonsense, WallTime{1}).has_value());
  const Result<void> refused = follower_of(damaged)->start(Instant{1}, WallTime{1});
  QVERIFY(!refused.has_value());
  QVERIFY(!refused.error().detail.empty());
}

void TestController::placement_spreads_evenly() {
  Prng prng(7);
  std::vector<UsableBroker> brokers;
  for (std::int32_t i = 1; i <= 6; ++i) {
    brokers.push_back({BrokerId(i), i <= 3 ? "left" : "right", false});
  }
  const auto placed = place_partitions(brokers, 60, 3, prng);
  QVERIFY(placed.has_value());
  std::map<std::int32_t, int> leaders;
  std::map<std::int32_t, int> replicas;
  for (const std::vector<BrokerId>& partition : *placed) {
    QCOMPARE(std::set<BrokerId>(partition.begin(), partition.end()).size(), std::size_t{3});
    ++leaders[partition.front().value()];
    std::set<bool> sides;
    for (const BrokerId id : partition) {
      ++replicas[id.value()];
      sides.insert(id.value() <= 3);
    }
    QCOMPARE(sides.size(), std::size_t{2});  // never all in one rack
  }
  for (std::int32_t i = 1; i <= 6; ++i) {
    QCOMPARE(leaders[i], 10);
    QCOMPARE(replicas[i], 30);
  }
}

void TestController::placement_avoids_racks_and_the_fenced() {
  Prng prng(7);
  std::vector<UsableBroker> brokers = {
      {BrokerId(1), {}, false}, {BrokerId(2), {}, true}, {BrokerId(3), {}, false}, {BrokerId(4), "apart", true}};
  const auto placed = place_partitions(brokers, 20, 3, prng);
  QVERIFY(placed.has_value());
  for (const std::vector<BrokerId>& partition : *placed) {
    QVERIFY(partition[0] == BrokerId(1) || partition[0] == BrokerId(3));
    QVERIFY(partition[1] == BrokerId(1) || partition[1] == BrokerId(3));
    QVERIFY(partition[2] == BrokerId(2) || partition[2] == BrokerId(4));
  }
  // The same seed places the same way.
  Prng one(3);
  Prng two(3);
  const auto first = place_partitions(brokers, 5, 2, one);
  const auto second = place_partitions(brokers, 5, 2, two);
  QVERIFY(first.has_value() && second.has_value());
  QVERIFY(*first == *second);
}

void TestController::placement_says_why_not() {
  Prng prng(7);
  const auto too_many = place_partitions({{BrokerId(1), {}, false}}, 1, 2, prng);
  QVERIFY(!too_many.has_value());
  QVERIFY(too_many.error().detail.find("replication factor 2") != std::string::npos);
  QVERIFY(!place_partitions({{BrokerId(1), {}, true}}, 1, 1, prng).has_value());
  QVERIFY(!place_partitions({}, 1, 1, prng).has_value());
  const auto none = place_partitions({{BrokerId(1), {}, false}}, 0, 1, prng);
  QVERIFY(none.has_value());
  QVERIFY(none->empty());
}

QTEST_APPLESS_MAIN(TestController)
#include "tst_controller.moc"
