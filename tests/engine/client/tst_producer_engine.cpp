// SPDX-License-Identifier: Apache-2.0
// The producer against the real engine in virtual time, over a network that loses what a test or a seed says.
#include "engine/wire/msg/produce.h"
#include "engine_clients.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::test;  // NOLINT(google-build-using-namespace)
using client::ProducerConfig;
using client::Target;
using wire::ErrorCode;

namespace {

constexpr std::int16_t kProduce = wire::ProduceRequest::kApiKey;
using Strings = std::vector<std::string>;

Strings numbers(int from, int to) {
  Strings all;
  for (int i = from; i < to; ++i) {
    all.push_back(std::to_string(i));
  }
  return all;
}
// The fault for the nth Produce of an actor.
std::function<World::Fault(const World::Frame&)> nth(const WorldProducer& producer, int n, World::Fault fault) {
  return [count = 0, actor = producer.actor, n, fault](const World::Frame& frame) mutable {
    return frame.actor == actor && frame.api == kProduce && ++count == n ? fault : World::Fault::none;
  };
}
wire::ProduceResponse::PartitionProduceResponse raw(WorldAdmin& admin, std::int64_t id, std::int32_t sequence,
                                                    const Strings& values) {
  wire::BatchOptions options;
  options.producer_id = ProducerId(id);
  options.producer_epoch = ProducerEpoch(0);
  options.base_sequence = sequence;
  wire::BatchBuilder builder(options);
  for (const std::string& value : values) {
    builder.append(std::nullopt, value, 1'700'000'000'000);
  }
  wire::ProduceRequest request;
  request.acks = -1;
  request.timeout_ms = 1000;
  auto& topic = request.topic_data.emplace_back();
  topic.name = "t";
  auto& data = topic.partition_data.emplace_back();
  data.records = BytesChain(builder.finish());
  client::CallOptions call;
  call.highest = 12;  // by name
  return admin.call<wire::ProduceResponse>(Target::leader_of("t", 0), std::move(request), call)
      .responses.at(0)
      .partition_responses.at(0);
}

}  // namespace

class TestProducerEngine : public QObject {
  Q_OBJECT
 private slots:
  void case36aReplyLostAfterTheAppend() {
    World world(1);
    WorldAdmin admin(world);
    admin.create("t", 1);
    WorldProducer producer(world);
    producer.send("t", 0, "0");
    QVERIFY(producer.settle());
    world.fault = nth(producer, 1, World::Fault::after);
    const std::uint64_t token = producer.send("t", 0, "1");
    QVERIFY(producer.settle());
    QCOMPARE(producer.delivery(token)->offset, std::int64_t{1});  // the first offset, not a new one
    QCOMPARE(stored(world, "t", 0), numbers(0, 2));
    QCOMPARE(world.seen[std::pair(producer.actor, kProduce)], 3);
  }

  void case36bRequestLostBeforeTheAppend() {
    World world(2);
    WorldAdmin admin(world);
    admin.create("t", 1);
    WorldProducer producer(world);
    producer.send("t", 0, "0");
    QVERIFY(producer.settle());
    world.fault = nth(producer, 1, World::Fault::before);
    const std::uint64_t token = producer.send("t", 0, "1");
    QVERIFY(producer.settle());
    QCOMPARE(producer.delivery(token)->offset, std::int64_t{1});
    QCOMPARE(stored(world, "t", 0), numbers(0, 2));
  }

  void case36cAGapIsRefused() {
    World world(3);
    WorldAdmin admin(world);
    admin.create("t", 1);
    QCOMPARE(raw(admin, 77, 0, {"0"}).error_code, ErrorCode::none);
    QCOMPARE(raw(admin, 77, 1, {"1"}).error_code, ErrorCode::none);
    QCOMPARE(raw(admin, 77, 5, {"5"}).error_code, ErrorCode::out_of_order_sequence_number);
    QCOMPARE(stored(world, "t", 0), numbers(0, 2));
  }

  void case36dABatchBeyondTheLastFive() {
    World world(4);
    WorldAdmin admin(world);
    admin.create("t", 1);
    for (int i = 0; i < 7; ++i) {
      QCOMPARE(raw(admin, 77, i, {std::to_string(i)}).error_code, ErrorCode::none);
    }
    const auto remembered = raw(admin, 77, 3, {"3"});
    QCOMPARE(remembered.error_code, ErrorCode::none);
    QCOMPARE(remembered.base_offset.value(), std::int64_t{3});
    QCOMPARE(raw(admin, 77, 0, {"0"}).error_code, ErrorCode::out_of_order_sequence_number);
    QCOMPARE(stored(world, "t", 0), numbers(0, 7));
  }

  // Links are cut by seed, before and after requests are served; everything is there once and in order all the same.
  void exactlyOnceAndInOrderWhateverIsLost() {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
      World world(seed);
      WorldAdmin admin(world);
      admin.create("t", 3);
      ProducerConfig config;
      config.batch_bytes = 300;
      config.requests_in_flight = 1 + seed % 5;
      WorldProducer producer(world, config, seed);
      world.cut_percent = 12;
      Strings expected[3];
      for (int i = 0; i < 300; ++i) {
        const std::int32_t partition = i % 3;
        expected[partition].push_back(std::to_string(i));
        producer.send("t", partition, expected[partition].back());
        if (i % 20 == 19) {
          world.wait(milliseconds(5));
        }
      }
      QVERIFY2(producer.settle(), qPrintable(QString("seed %1").arg(seed)));
      QCOMPARE(producer.failed(), std::size_t{0});
      for (std::int32_t partition = 0; partition < 3; ++partition) {
        QVERIFY2(stored(world, "t", partition) == expected[partition], qPrintable(QString("seed %1").arg(seed)));
      }
      for (const client::Delivery& one : producer.out.deliveries) {  // each told where its record really is
        QCOMPARE(one.offset, static_cast<std::int64_t>((one.token - 1) / 3));
      }
    }
  }

  // A batch whose fate nobody knows is given up: the epoch goes up, and what follows is taken.
  void aBatchGivenUpDoesNotStopTheOthers() {
    World world(5);
    WorldAdmin admin(world);
    admin.create("t", 1);
    ProducerConfig config;
    config.delivery_timeout = seconds(3);
    WorldProducer producer(world, config);
    producer.send("t", 0, "0");
    QVERIFY(producer.settle());
    const ProducerEpoch before = producer.core.producer_epoch();
    bool losing = true;
    world.fault = [&](const World::Frame& frame) {
      return losing && frame.actor == producer.actor && frame.api == kProduce ? World::Fault::after : World::Fault::none;
    };
    const std::uint64_t lost = producer.send("t", 0, "1");
    QVERIFY(producer.settle(seconds(20)));
    QVERIFY(producer.delivery(lost)->error.has_value());
    QVERIFY(producer.delivery(lost)->error->detail.find("3000 ms") != std::string::npos);
    losing = false;
    const std::uint64_t next = producer.send("t", 0, "2");
    QVERIFY(producer.settle(seconds(20)));
    QVERIFY(!producer.delivery(next)->error.has_value());
    QCOMPARE(stored(world, "t", 0), numbers(0, 3));  // it had arrived after all
    QVERIFY(producer.core.producer_epoch().value() > before.value());
  }

  void withoutIdempotenceALostReplyRepeats() {
    World world(6);
    WorldAdmin admin(world);
    admin.create("t", 1);
    ProducerConfig config;
    config.idempotent = false;
    WorldProducer producer(world, config);
    world.fault = nth(producer, 1, World::Fault::after);
    producer.send("t", 0, "0");
    QVERIFY(producer.settle());
    QCOMPARE(stored(world, "t", 0), (Strings{"0", "0"}));
  }

  void retriesAreCounted() {
    World world(7);
    WorldAdmin admin(world);
    admin.create("t", 1);
    ProducerConfig config;
    config.retries = 2;
    WorldProducer producer(world, config);
    world.fault = [&](const World::Frame& frame) {
      return frame.actor == producer.actor && frame.api == kProduce ? World::Fault::before : World::Fault::none;
    };
    const std::uint64_t token = producer.send("t", 0, "0");
    QVERIFY(producer.settle());
    QVERIFY(producer.delivery(token)->error->detail.find("3 attempts") != std::string::npos);
    QCOMPARE(world.seen[std::pair(producer.actor, kProduce)], 3);
  }

  void tooLargeABatchIsHalved() {
    World world(8);
    WorldAdmin admin(world);
    admin.create("t", 1, {{"max.message.bytes", "400"}});
    ProducerConfig config;
    config.batch_bytes = 4000;
    config.linger = milliseconds(10);
    WorldProducer producer(world, config);
    Strings expected;
    for (int i = 0; i < 30; ++i) {
      expected.push_back(std::to_string(i) + std::string(60, 'x'));
      producer.send("t", 0, expected.back());
    }
    const std::uint64_t hopeless = producer.send("t", 0, std::string(500, 'y'));
    expected.push_back("last");
    const std::uint64_t last = producer.send("t", 0, expected.back());
    QVERIFY(producer.settle());
    QVERIFY(producer.delivery(hopeless)->error->detail.find("MESSAGE_TOO_LARGE") != std::string::npos);
    QCOMPARE(producer.failed(), std::size_t{1});
    QCOMPARE(producer.delivery(last)->offset, std::int64_t{30});
    QCOMPARE(stored(world, "t", 0), expected);
  }

  void everyCompressionAndHeaders() {
    World world(9);
    WorldAdmin admin(world);
    admin.create("t", 1);
    Strings expected;
    for (const wire::Compression codec : {wire::Compression::none, wire::Compression::gzip, wire::Compression::snappy,
                                          wire::Compression::lz4, wire::Compression::zstd}) {
      ProducerConfig config;
      config.compression = codec;
      config.linger = milliseconds(5);
      WorldProducer producer(world, config);
      for (int i = 0; i < 50; ++i) {
        expected.push_back(std::string(100, 'a') + std::to_string(expected.size()));
        producer.send("t", 0, expected.back());
      }
      QVERIFY(producer.settle());
      QCOMPARE(producer.failed(), std::size_t{0});
      const std::vector<Bytes> batches = world.batches("t", 0);
      QVERIFY(wire::BatchView(batches.back().span()).compression() == codec);
    }
    QCOMPARE(stored(world, "t", 0), expected);
  }

  void everyKindOfAcks() {
    World world(10);
    WorldAdmin admin(world);
    admin.create("t", 1);
    for (const std::int16_t acks : {std::int16_t{0}, std::int16_t{1}, std::int16_t{-1}}) {
      ProducerConfig config;
      config.acks = acks;
      WorldProducer producer(world, config);
      const std::uint64_t token = producer.send("t", 0, std::to_string(acks));
      QVERIFY(producer.settle());
      QVERIFY(!producer.delivery(token)->error);
      QCOMPARE(producer.delivery(token)->offset, acks == 0 ? std::int64_t{-1} : acks == 1 ? std::int64_t{1} : std::int64_t{2});
      world.wait(milliseconds(20));  // nobody answers acks=0, so its request may still be on its way
    }
    QCOMPARE(stored(world, "t", 0), (Strings{"0", "1", "-1"}));
  }

  // From the guides: what lingers in a producer that ends without a flush was never sent.
  void aForgottenFlushLosesWhatLingers() {
    World world(11);
    WorldAdmin admin(world);
    admin.create("t", 1);
    ProducerConfig config;
    config.linger = seconds(1);
    WorldProducer careless(world, config);
    careless.send("t", 0, "lost");
    world.wait(milliseconds(100));
    world.remove(careless.actor);
    world.wait(seconds(5));
    QVERIFY(stored(world, "t", 0).empty());
    WorldProducer careful(world, config);
    careful.send("t", 0, "kept");
    const Instant before = world.now;
    careful.core.flush(world.now, careful.out);
    QVERIFY(careful.settle());
    QVERIFY(world.now < before + milliseconds(500));  // it did not linger
    world.remove(careful.actor);
    QCOMPARE(stored(world, "t", 0), (Strings{"kept"}));
  }

  void withoutAKeyBatchesSpreadAndAreFull() {
    World world(12);
    WorldAdmin admin(world);
    admin.create("t", 4);
    ProducerConfig config;
    config.batch_bytes = 1000;
    config.linger = milliseconds(5);
    WorldProducer producer(world, config);
    for (int i = 0; i < 2000; ++i) {
      producer.send("t", std::nullopt, std::string(80, 'v'));
    }
    QVERIFY(producer.settle());
    std::size_t all = 0;
    for (std::int32_t partition = 0; partition < 4; ++partition) {
      const std::size_t count = stored(world, "t", partition).size();
      QVERIFY2(count > 300 && count < 700, qPrintable(QString::number(count)));  // 500 each, by chance
      QVERIFY(world.batches("t", partition).size() <= count / 9);                // ten to a batch
      all += count;
    }
    QCOMPARE(all, std::size_t{2000});
  }

  void aFullBufferSaysSo() {
    World world(13);
    WorldAdmin admin(world);
    admin.create("t", 1);
    ProducerConfig config;
    config.buffer_bytes = 2000;
    config.linger = seconds(1);
    WorldProducer producer(world, config);
    int taken = 0;
    while (producer.send("t", 0, std::string(100, 'v')) != 0) {
      ++taken;
    }
    QCOMPARE(taken, 8);  // 228 bytes each
    QVERIFY(producer.settle());
    QCOMPARE(producer.core.buffered_bytes(), std::size_t{0});
    QVERIFY(producer.send("t", 0, "again") != 0);
  }

  void topicsGoById() {
    World world(14);
    WorldAdmin admin(world);
    admin.create("t", 1);
    WorldProducer producer(world);
    std::int16_t version = 0;
    world.fault = [&](const World::Frame& frame) {
      if (frame.api == kProduce) {
        version = frame.version;
      }
      return World::Fault::none;
    };
    producer.send("t", 0, "0");
    QVERIFY(producer.settle());
    QCOMPARE(version, wire::ProduceRequest::kHighestVersion);
  }
};

QTEST_APPLESS_MAIN(TestProducerEngine)
#include "tst_producer_engine.moc"
