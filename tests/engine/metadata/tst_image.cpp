// SPDX-License-Identifier: Apache-2.0
#include <QtTest/QTest>

#include <algorithm>

#include "engine/metadata/image/image_builder.h"
#include "engine/metadata/image/record.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/record/record_iterator.h"
#include "tests/engine/metadata/kafka_metadata_log.inc"
#include "tests/engine/metadata/metadata_fixture.h"

using namespace hw;
using namespace hw::metadata;
using namespace hw::metadata::test;

namespace {

Bytes from_hex(const char* text) {
  const std::string hex(text);
  ByteBuilder bytes(hex.size() / 2);
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    const auto value = static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16));
    bytes.append(ByteSpan(&value, 1));
  }
  return bytes.finish();
}

// Records that contradict nothing, from a seed: topics and partitions come, change and go, brokers fence and unfence.
std::vector<Record> random_history(std::uint64_t seed, std::size_t length) {
  Prng prng(seed);
  std::vector<Record> records;
  std::map<std::uint64_t, std::int32_t> topics;  // partitions by id
  std::uint64_t next = 1;
  std::int64_t producer_ids = 0;
  records.push_back(broker(1, 0));
  while (records.size() < length) {
    const std::uint64_t kind = prng.below(10);
    if (kind <= 2 || topics.empty()) {
      records.push_back(topic("t" + std::to_string(next), next));
      topics[next++] = 0;
      continue;
    }
    auto at = topics.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(prng.below(topics.size())));
    auto& [id, partitions] = *at;
    if (kind <= 5) {
      records.push_back(partition(id, partitions++));
    } else if (kind == 6 && partitions > 0) {
      const auto index = static_cast<std::int32_t>(prng.below(static_cast<std::uint64_t>(partitions)));
      records.push_back(new_leader(id, index, prng.below(2) == 0 ? -1 : 1));
    } else if (kind == 7) {
      records.push_back(config("t" + std::to_string(id), "retention.ms",
                               prng.below(3) == 0 ? std::nullopt : std::optional<std::string>(std::to_string(prng.below(9)))));
    } else if (kind == 8) {
      wire::ProducerIdsRecord ids;
      ids.next_producer_id = (producer_ids += 1000);
      records.emplace_back(ids);
    } else if (prng.below(3) == 0) {
      records.push_back(remove_topic(id));
      topics.erase(at);
    } else {
      wire::BrokerRegistrationChangeRecord change;
      change.broker_id = BrokerId(1);
      change.fenced = prng.below(2) == 0 ? 1 : -1;
      records.emplace_back(change);
    }
  }
  return records;
}

}  // namespace

class TestImage : public QObject {
  Q_OBJECT
 private slots:
  void records_survive_their_framing();
  void kafkas_records_are_read_and_written_alike();
  void records_that_are_unknown_are_kept();
  void records_that_are_damaged_are_refused();
  void damaged_bytes_are_an_error_or_another_record();
  void any_split_of_the_stream_gives_the_same_image();
  void leader_changes_count_epochs();
  void what_is_not_touched_is_shared();
  void published_images_do_not_change();
  void a_delta_lists_what_happened();
  void a_topic_that_came_and_went_leaves_no_delta();
  void a_transaction_becomes_visible_at_its_end();
  void an_aborted_transaction_leaves_no_trace();
  void contradictions_are_errors_and_change_nothing();
  void partitions_may_come_in_any_order();
  void configs_of_a_topic_go_with_it();
  void old_leaders_clear_their_elr();
};

void TestImage::records_survive_their_framing() {
  for (const Record& record : random_history(3, 200)) {
    const Result<Bytes> bytes = encode_record(record);
    QVERIFY(bytes.has_value());
    const Result<Record> back = decode_record(*bytes);
    QVERIFY(back.has_value());
    QVERIFY(*back == record);
  }
}

void TestImage::kafkas_records_are_read_and_written_alike() {
  ImageBuilder builder;
  int records_seen = 0;
  for (const char* hex : kMetadataBatches) {
    const Bytes bytes = from_hex(hex);
    const wire::BatchRead read = wire::read_batch(bytes.span());
    QVERIFY(read.status == wire::BatchStatus::ok);
    QVERIFY(read.view.crc_ok());
    if (read.view.control()) {
      builder.skip(read.view.last_offset(), read.view.leader_epoch().value());
      continue;
    }
    Result<wire::RecordIterator> records = wire::RecordIterator::open(bytes);
    QVERIFY(records.has_value());
    wire::RecordView view;
    while (records->next(view)) {
      const Bytes value = Bytes::copy_of(*view.value);
      const Result<Record> record = decode_record(value);
      QVERIFY2(record.has_value(), record ? "" : record.error().detail.c_str());
      QVERIFY2(!std::holds_alternative<UnknownRecord>(*record), record_name(*record));
      const Result<Bytes> again = encode_record(*record);
      QVERIFY(again.has_value());
      QVERIFY2(*again == value, record_name(*record));
      const Result<void> replayed = builder.replay(*record, view.offset, read.view.leader_epoch().value());
      QVERIFY2(replayed.has_value(), replayed ? "" : replayed.error().detail.c_str());
      ++records_seen;
    }
  }
  QVERIFY(records_seen > 25);
  const ImagePtr image = builder.publish().image;
  QCOMPARE(image->feature_level("metadata.version"), std::int16_t{33});
  QCOMPARE(image->feature_level("transaction.version"), std::int16_t{2});
  QCOMPARE(image->next_producer_id(), 1000);
  const BrokerImage* self = image->find_broker(BrokerId(1));
  QVERIFY(self != nullptr);
  QCOMPARE(self->epoch, 13);
  QVERIFY(!self->fenced);
  QCOMPARE(self->listeners.size(), std::size_t{1});
  QCOMPARE(self->listeners.front().port, std::uint16_t{19192});
  const TopicImage* t1 = image->find_topic("t1");
  QVERIFY(t1 != nullptr);
  QCOMPARE(t1->id.text(), std::string("FIwUKG85TwyAljb9HyTQSw"));
  QCOMPARE(t1->partitions.size(), std::size_t{3});
  const ConfigMap* configs = image->find_configs({ConfigResourceType::topic, "t1"});
  QVERIFY(configs != nullptr);
  QCOMPARE(configs->at("retention.ms"), std::string("1000"));
  QVERIFY(image->find_topic("v44") == nullptr);
}

void TestImage::records_that_are_unknown_are_kept() {
  UnknownRecord record;
  record.type = 200;
  record.version = 3;
  record.body = Bytes::copy_of("future");
  const Result<Bytes> bytes = encode_record(Record(record));
  QVERIFY(bytes.has_value());
  const Result<Record> back = decode_record(*bytes);
  QVERIFY(back.has_value());
  QVERIFY(*back == Record(record));
  ImageBuilder builder;
  QVERIFY(builder.replay(*back, Offset(0), 1).has_value());
}

void TestImage::records_that_are_damaged_are_refused() {
  QVERIFY(!decode_record(Bytes{}));
  const Bytes good = encode_record(topic("abc", 1)).value_or(Bytes{});
  for (std::size_t size = 0; size < good.size(); ++size) {
    QVERIFY(!decode_record(good.slice(0, size)));
  }
  std::string text(good.text());
  text.push_back('\0');
  QVERIFY(!decode_record(Bytes::copy_of(text)));  // bytes left over
  text = good.text();
  text[0] = 2;
  QVERIFY(!decode_record(Bytes::copy_of(text)));  // frame version
  text = good.text();
  text[2] = 9;
  const Result<Record> newer = decode_record(Bytes::copy_of(text));
  QVERIFY(!newer);
  QVERIFY(newer.error().code == Errc::unsupported);
}

void TestImage::damaged_bytes_are_an_error_or_another_record() {
  // Whatever the disk gives: no crash, no endless memory, and a record that does decode replays or is refused.
  Prng prng(11);
  const std::vector<Record> history = random_history(4, 100);
  int decoded = 0;
  for (int round = 0; round < 5'000; ++round) {
    const Result<Bytes> good = encode_record(history[static_cast<std::size_t>(prng.below(history.size()))]);
    std::string text(good->text());
    for (std::uint64_t flips = 1 + prng.below(3); flips > 0; --flips) {
      text[static_cast<std::size_t>(prng.below(text.size()))] = static_cast<char>(prng.below(256));
    }
    const Result<Record> record = decode_record(Bytes::copy_of(text));
    if (record) {
      ++decoded;
      ImageBuilder builder;
      QVERIFY(builder.replay(topic("t1", 1), Offset(0), 1));
      static_cast<void>(builder.replay(*record, Offset(1), 1).has_value());
      static_cast<void>(builder.publish());
    } else {
      QVERIFY(!record.error().detail.empty());
    }
  }
  QVERIFY(decoded > 0 && decoded < 5'000);
}

void TestImage::any_split_of_the_stream_gives_the_same_image() {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Record> history = random_history(seed, 300);
    ImageBuilder whole;
    for (std::size_t i = 0; i < history.size(); ++i) {
      const Result<void> replayed = whole.replay(history[i], Offset(static_cast<std::int64_t>(i)), 1);
      QVERIFY2(replayed.has_value(), replayed ? "" : replayed.error().detail.c_str());
    }
    const ImagePtr expected = whole.publish().image;

    Prng prng(seed * 77);
    ImageBuilder parts;
    ImagePtr last;
    for (std::size_t i = 0; i < history.size(); ++i) {
      QVERIFY(parts.replay(history[i], Offset(static_cast<std::int64_t>(i)), 1).has_value());
      if (prng.below(4) == 0) {
        last = parts.publish().image;
        if (prng.below(4) == 0) {
          parts = ImageBuilder(last);  // a node that starts from an image
        }
      }
    }
    QVERIFY(same(*parts.publish().image, *expected));
    ImageBuilder untracked(nullptr, ImageBuilder::Tracking::off);
    for (std::size_t i = 0; i < history.size(); ++i) {
      QVERIFY(untracked.replay(history[i], Offset(static_cast<std::int64_t>(i)), 1).has_value());
    }
    QVERIFY(same(untracked.working(), *expected));
    QVERIFY(untracked.publish().delta.empty());
  }
}

void TestImage::leader_changes_count_epochs() {
  ImageBuilder builder;
  QVERIFY(builder.replay(topic("a", 1), Offset(0), 1));
  QVERIFY(builder.replay(partition(1, 0), Offset(1), 1));
  QVERIFY(builder.replay(new_leader(1, 0, -1), Offset(2), 1));
  QVERIFY(builder.replay(new_leader(1, 0, 1), Offset(3), 1));
  wire::PartitionChangeRecord isr;  // no leader in it: the leader epoch stays
  isr.topic_id = id_of(1);
  isr.partition_id = PartitionIndex(0);
  isr.isr.emplace();
  QVERIFY(builder.replay(Record(isr), Offset(4), 1));
  const PartitionImage* p = builder.publish().image->find_partition(id_of(1), PartitionIndex(0));
  QVERIFY(p != nullptr);
  QCOMPARE(p->leader_epoch.value(), 2);
  QCOMPARE(p->partition_epoch, 3);
  QCOMPARE(p->leader.value(), 1);
  QVERIFY(p->isr.empty());
}

void TestImage::what_is_not_touched_is_shared() {
  ImageBuilder builder;
  QVERIFY(builder.replay(topic("a", 1), Offset(0), 1));
  QVERIFY(builder.replay(topic("b", 2), Offset(1), 1));
  QVERIFY(builder.replay(partition(1, 0), Offset(2), 1));
  const ImagePtr first = builder.publish().image;
  QVERIFY(builder.replay(new_leader(1, 0, -1), Offset(3), 1));
  const ImagePtr second = builder.publish().image;
  QVERIFY(first->find_topic("b") == second->find_topic("b"));
  QVERIFY(first->find_topic("a") != second->find_topic("a"));
  QVERIFY(&first->configs() == &second->configs());
  QVERIFY(&first->brokers() == &second->brokers());
  QVERIFY(builder.publish().image == second);  // nothing moved: the same object
}

void TestImage::published_images_do_not_change() {
  ImageBuilder builder;
  QVERIFY(builder.replay(topic("a", 1), Offset(0), 1));
  QVERIFY(builder.replay(partition(1, 0), Offset(1), 1));
  const ImagePtr before = builder.publish().image;
  QVERIFY(builder.replay(partition(1, 1), Offset(2), 1));
  QVERIFY(builder.replay(config("a", "retention.ms", "5"), Offset(3), 1));
  QVERIFY(builder.replay(topic("b", 2), Offset(4), 1));
  QCOMPARE(before->find_topic("a")->partitions.size(), std::size_t{1});
  QCOMPARE(before->topics().size(), std::size_t{1});
  QVERIFY(before->configs().empty());
  // An image that a second builder goes on from is not touched either.
  ImageBuilder other(before, ImageBuilder::Tracking::off);
  QVERIFY(other.replay(remove_topic(1), Offset(9), 1));
  QVERIFY(before->find_topic("a") != nullptr);
}

void TestImage::a_delta_lists_what_happened() {
  ImageBuilder builder;
  QVERIFY(builder.replay(broker(1, 0), Offset(0), 1));
  QVERIFY(builder.replay(topic("a", 1), Offset(1), 1));
  QVERIFY(builder.replay(partition(1, 0), Offset(2), 1));
  QVERIFY(builder.replay(new_leader(1, 0, -1), Offset(3), 1));
  QVERIFY(builder.replay(config("a", "retention.ms", "5"), Offset(4), 1));
  const MetadataDelta first = builder.publish().delta;
  QCOMPARE(first.topics_created.size(), std::size_t{1});
  QCOMPARE(first.partitions_changed.size(), std::size_t{1});
  QVERIFY(first.partitions_changed.front().created);
  QCOMPARE(first.configs_changed.size(), std::size_t{1});
  QCOMPARE(first.brokers_changed.size(), std::size_t{1});
  QVERIFY(!first.features_changed);
  QVERIFY(builder.replay(new_leader(1, 0, 1), Offset(5), 1));
  QVERIFY(builder.replay(remove_topic(1), Offset(6), 1));
  const MetadataDelta second = builder.publish().delta;
  QVERIFY(second.partitions_changed.empty());
  QCOMPARE(second.topics_deleted.size(), std::size_t{1});
  QCOMPARE(second.topics_deleted.front().partitions, 1);
}

void TestImage::a_topic_that_came_and_went_leaves_no_delta() {
  ImageBuilder builder;
  QVERIFY(builder.replay(topic("a", 1), Offset(0), 1));
  QVERIFY(builder.replay(partition(1, 0), Offset(1), 1));
  QVERIFY(builder.replay(config("a", "retention.ms", "5"), Offset(2), 1));
  QVERIFY(builder.replay(remove_topic(1), Offset(3), 1));
  const ImageBuilder::Published published = builder.publish();
  QVERIFY(published.delta.empty());
  QVERIFY(published.image->topics().empty());
  QCOMPARE(published.image->offset().value(), 3);
}

void TestImage::a_transaction_becomes_visible_at_its_end() {
  ImageBuilder builder;
  QVERIFY(builder.replay(topic("before", 9), Offset(0), 1));
  QVERIFY(builder.replay(Record(wire::BeginTransactionRecord{}), Offset(1), 1));
  QVERIFY(builder.replay(topic("a", 1), Offset(2), 1));
  QVERIFY(builder.in_transaction());
  const ImagePtr during = builder.publish().image;
  QVERIFY(during->find_topic("a") == nullptr);
  QCOMPARE(during->offset().value(), 0);
  QVERIFY(builder.replay(partition(1, 0), Offset(3), 1));
  QVERIFY(builder.replay(Record(wire::EndTransactionRecord{}), Offset(4), 1));
  const ImageBuilder::Published after = builder.publish();
  QVERIFY(after.image->find_topic("a") != nullptr);
  QCOMPARE(after.image->offset().value(), 4);
  QCOMPARE(after.delta.topics_created.size(), std::size_t{1});
}

void TestImage::an_aborted_transaction_leaves_no_trace() {
  ImageBuilder builder;
  QVERIFY(builder.replay(Record(wire::BeginTransactionRecord{}), Offset(0), 1));
  QVERIFY(builder.replay(topic("a", 1), Offset(1), 1));
  QVERIFY(builder.replay(Record(wire::AbortTransactionRecord{}), Offset(2), 1));
  const ImageBuilder::Published after = builder.publish();
  QVERIFY(after.image->topics().empty());
  QVERIFY(after.delta.empty());
  QCOMPARE(after.image->offset().value(), 2);
  QVERIFY(builder.replay(topic("a", 1), Offset(3), 1));  // and the id is free
}

void TestImage::contradictions_are_errors_and_change_nothing() {
  ImageBuilder builder;
  QVERIFY(builder.replay(topic("a", 1), Offset(0), 1));
  QVERIFY(builder.replay(broker(1, 0), Offset(1), 1));
  const auto refused = [&builder](const Record& record) {
    const Result<void> result = builder.replay(record, Offset(50), 1);
    return !result.has_value() && result.error().code == Errc::corrupt;
  };
  QVERIFY(refused(topic("a", 2)));
  QVERIFY(refused(topic("b", 1)));
  QVERIFY(refused(partition(7, 0)));
  QVERIFY(refused(partition(1, -1)));
  QVERIFY(refused(new_leader(1, 0, 1)));
  QVERIFY(refused(remove_topic(7)));
  QVERIFY(refused(Record(wire::EndTransactionRecord{})));
  QVERIFY(refused(Record(wire::AbortTransactionRecord{})));
  wire::UnfenceBrokerRecord unfence;
  unfence.id = BrokerId(1);
  unfence.epoch = 5;  // not its epoch
  QVERIFY(refused(Record(unfence)));
  wire::ProducerIdsRecord ids;
  ids.next_producer_id = -5;
  QVERIFY(refused(Record(ids)));
  QVERIFY(!builder.replay(topic("c", 3), Offset(1), 1).has_value());  // offsets ascend
  QCOMPARE(builder.offset().value(), 1);
  QCOMPARE(builder.working().topics().size(), std::size_t{1});
  QVERIFY(builder.replay(topic("c", 3), Offset(2), 1).has_value());
}

void TestImage::partitions_may_come_in_any_order() {
  ImageBuilder builder;
  QVERIFY(builder.replay(topic("a", 1), Offset(0), 1));
  QVERIFY(builder.replay(partition(1, 2), Offset(1), 1));
  QVERIFY(builder.replay(partition(1, 0), Offset(2), 1));
  QCOMPARE(builder.publish().image->find_topic("a")->partitions.size(), std::size_t{1});
  QVERIFY(builder.replay(partition(1, 1), Offset(3), 1));
  const ImageBuilder::Published published = builder.publish();
  QCOMPARE(published.image->find_topic("a")->partitions.size(), std::size_t{3});
  QCOMPARE(published.delta.partitions_changed.size(), std::size_t{2});
}

void TestImage::configs_of_a_topic_go_with_it() {
  ImageBuilder builder;
  QVERIFY(builder.replay(topic("a", 1), Offset(0), 1));
  QVERIFY(builder.replay(config("a", "retention.ms", "5"), Offset(1), 1));
  QVERIFY(builder.replay(config("a", "segment.ms", "5"), Offset(2), 1));
  QVERIFY(builder.replay(config("a", "segment.ms", std::nullopt), Offset(3), 1));
  const ImagePtr with = builder.publish().image;
  QCOMPARE(with->find_configs({ConfigResourceType::topic, "a"})->size(), std::size_t{1});
  QVERIFY(builder.replay(remove_topic(1), Offset(4), 1));
  QVERIFY(builder.publish().image->configs().empty());
}

void TestImage::old_leaders_clear_their_elr() {
  ImageBuilder builder;
  QVERIFY(builder.replay(topic("a", 1), Offset(0), 1));
  Record with_elr = partition(1, 0);
  std::get<wire::PartitionRecord>(with_elr).eligible_leader_replicas = std::vector<BrokerId>{BrokerId(2)};
  QVERIFY(builder.replay(with_elr, Offset(1), 1));
  QVERIFY(builder.replay(partition(1, 1), Offset(2), 1));
  QCOMPARE(builder.publish().image->find_topic("a")->partitions.front().elr.size(), std::size_t{1});
  wire::ClearElrRecord clear;
  clear.topic_name = "a";
  QVERIFY(builder.replay(Record(clear), Offset(3), 1));
  const ImageBuilder::Published after = builder.publish();
  QVERIFY(after.image->find_topic("a")->partitions.front().elr.empty());
  QCOMPARE(after.delta.partitions_changed.size(), std::size_t{1});
}

QTEST_APPLESS_MAIN(TestImage)
#include "tst_image.moc"
