// SPDX-License-Identifier: Apache-2.0
// Where keys go: the numbers of Kafka's own tests, and those of reports about clients that disagree (cases 18, 19 and 20).
#include <QTest>
#include <map>

#include "engine/client/partitioner.h"

using namespace hw;          // NOLINT(google-build-using-namespace): a test
using namespace hw::client;  // NOLINT(google-build-using-namespace)

class TestPartitioner : public QObject {
  Q_OBJECT
 private slots:
  void hashVectors() {
    // Every length of the tail.
    QCOMPARE(murmur2(as_bytes("21")), -973932308);
    QCOMPARE(murmur2(as_bytes("foobar")), -790332482);
    QCOMPARE(murmur2(as_bytes("a-little-bit-long-string")), -985981536);
    QCOMPARE(murmur2(as_bytes("a-little-bit-longer-string")), -1486304829);
    QCOMPARE(murmur2(as_bytes("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8")), -58897971);
    QCOMPARE(murmur2(as_bytes("abc")), 479470107);
    QCOMPARE(crc32(as_bytes("123456789")), 0xcbf43926U);  // the check value of CRC-32
    QCOMPARE(crc32(as_bytes("")), 0U);
    QCOMPARE(fnv1a(as_bytes("")), 0x811c9dc5U);
    QCOMPARE(fnv1a(as_bytes("a")), 0xe40c292cU);
    QCOMPARE(fnv1a(as_bytes("foobar")), 0xbf9cf968U);
  }

  void case18SameKeyDifferentPartitionPerClient_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<int>("partitions");
    QTest::addColumn<int>("java");
    QTest::addColumn<int>("librdkafka");
    QTest::newRow("TT0124") << "TT0124" << 15 << 10 << 9;
    QTest::newRow("354a") << "354afe16-939a-4ea8-8e17-8bb0840b6886" << 10 << 4 << 9;
    QTest::newRow("f562") << "f562ac3b-2224-4e25-a0ab-56094e10c239" << 10 << 5 << 6;
    QTest::newRow("fd7a") << "fd7af248-ce5c-46a5-93d7-1c0c9005b99d" << 32 << 26 << 23;
  }
  void case18SameKeyDifferentPartitionPerClient() {
    QFETCH(QString, key);
    QFETCH(int, partitions);
    QFETCH(int, java);
    QFETCH(int, librdkafka);
    const std::string text = key.toStdString();
    QCOMPARE(partition_for_key(Partitioner::murmur2, as_bytes(text), partitions), std::optional(java));
    QCOMPARE(partition_for_key(as_bytes(text), partitions), java);
    QCOMPARE(partition_for_key(Partitioner::crc32, as_bytes(text), partitions), std::optional(librdkafka));
  }

  void case19AnEmptyKeyIsNotANullKey() {
    QCOMPARE(murmur2(as_bytes("")), 275646681);
    QCOMPARE(partition_for_key(Partitioner::murmur2, as_bytes(""), 6), std::optional(3));
    QVERIFY(!partition_for_key(Partitioner::crc32, as_bytes(""), 6).has_value());  // like none: spread
  }

  void case20AddingPartitionsMovesKeys() {
    const std::map<std::string, std::pair<int, int>> moved = {
        {"order-1", {4, 6}}, {"order-3", {3, 7}}, {"order-5", {2, 6}}, {"order-6", {3, 1}}};
    for (const auto& [key, partitions] : moved) {
      QCOMPARE(partition_for_key(as_bytes(key), 6), partitions.first);
      QCOMPARE(partition_for_key(as_bytes(key), 8), partitions.second);
    }
    for (const char* key : {"order-2", "order-4", "order-7", "order-8"}) {
      QCOMPARE(partition_for_key(as_bytes(key), 6), partition_for_key(as_bytes(key), 8));
    }
  }

  void namesAreRead() {
    for (const Partitioner one : {Partitioner::murmur2, Partitioner::crc32, Partitioner::fnv1a}) {
      QVERIFY(parse_partitioner(partitioner_name(one)) == one);
      const std::optional<std::int32_t> partition = partition_for_key(one, as_bytes("key"), 7);
      QVERIFY(partition && *partition >= 0 && *partition < 7);
    }
    QVERIFY(!parse_partitioner("random").has_value());
  }
};

QTEST_APPLESS_MAIN(TestPartitioner)
#include "tst_partitioner.moc"
