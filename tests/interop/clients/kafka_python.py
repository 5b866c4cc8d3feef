# SPDX-License-Identifier: Apache-2.0
"""kafka-python against a broker. usage: kafka_python.py first|second ADDRESS TOPIC (see README.md for the two steps)"""
import sys
import time

from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import CommitFailedError, RebalanceInProgressError
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewTopic

CODECS = [None, "gzip", "snappy", "lz4", "zstd"]
EACH = 1000


def expect(what, ok):
    if not ok:
        sys.exit(f"kafka-python: {what}")


def member(address, topic):
    consumer = KafkaConsumer(bootstrap_servers=address, group_id=topic + "-group", auto_offset_reset="earliest",
                             enable_auto_commit=False, session_timeout_ms=6000, heartbeat_interval_ms=500)
    # kafka-python 3.0 that joins before it knows the partitions joins again at once, and now and then it then stops for ever with
    # the answer to its SyncGroup in hand: nothing more goes out, no heartbeat either.
    while not consumer.partitions_for_topic(topic):
        pass
    consumer.subscribe([topic])
    return consumer


def produce(address, topic):
    sent = 0
    for codec in CODECS:
        producer = KafkaProducer(bootstrap_servers=address, compression_type=codec, acks="all", linger_ms=5)
        futures = []
        for i in range(EACH):
            futures.append(producer.send(topic, value=b"%d" % sent, key=None if i % 4 == 0 else b"key-%d" % (i % 100),
                                         headers=[("n", b"%d" % sent), ("empty", b"")]))
            sent += 1
        producer.flush()
        for future in futures:
            future.get(10)
        producer.close()
    return sent


def first(address, topic):
    admin = KafkaAdminClient(bootstrap_servers=address)
    admin.create_topics([NewTopic(topic, 3, 1)])
    total = produce(address, topic)
    a = member(address, topic)
    seen, open_reads, end = set(), set(), time.time() + 60

    def commit(consumer):
        """A commit into a running rebalance is refused; what was read since the last one then comes again."""
        try:
            consumer.commit()
        except (CommitFailedError, RebalanceInProgressError):
            seen.difference_update(open_reads)
        open_reads.clear()

    def take(consumer, most):
        for records in consumer.poll(100, max_records=most).values():
            for record in records:
                number = int(record.value)
                expect("headers", dict(record.headers) == {"n": record.value, "empty": b""})
                expect("a record twice", number not in seen)
                seen.add(number)
                open_reads.add(number)

    while not a.assignment() and time.time() < end:
        take(a, 1)
    expect("alone it has every partition", len(a.assignment()) == 3)
    commit(a)
    b = member(address, topic)
    # Both have to poll for the rebalance to end; what A has read by then is committed, so nothing comes twice.
    while not b.assignment() and time.time() < end:
        take(a, 1)
        commit(a)
        take(b, 1)
        commit(b)
    both = a.assignment() | b.assignment()
    expect(f"together they have every partition, {both}", len(both) == 3 and a.assignment() and b.assignment())
    while len(seen) < total and time.time() < end:
        take(a, 500)
        take(b, 500)
    expect(f"{len(seen)} of {total} read", len(seen) == total)
    a.commit()
    b.commit()
    a.close()
    b.close()
    admin.close()


def second(address, topic):
    producer = KafkaProducer(bootstrap_servers=address)
    producer.send(topic, b"last").get(10)
    consumer = member(address, topic)
    seen, end = [], time.time() + 30
    while not seen and time.time() < end:
        seen += [r.value for records in consumer.poll(200).values() for r in records]
    expect(f"after the restart only the new record comes, got {seen[:3]}", seen == [b"last"])
    consumer.close()
    admin = KafkaAdminClient(bootstrap_servers=address)
    resource = ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": "123456"})
    admin.alter_configs([resource])
    expect("the altered config", "123456" in str(admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])))
    expect("the topic is listed", topic in admin.list_topics())
    admin.delete_topics([topic])
    expect("the topic is gone", topic not in admin.list_topics())
    admin.close()
    producer.close()


{"first": first, "second": second}[sys.argv[1]](*sys.argv[2:])
