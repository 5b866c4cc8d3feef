#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""confluent-kafka against a broker: produce, consume in a group of two, resume after a restart, the same by KIP-848, transactions, admin.

Every record has a number; what was acknowledged is written down and compared with what the group reads.
"""
import json
import sys
import time

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic

TOPIC = "py-orders"
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
EACH = 2000


def expect(what, ok):
    if not ok:
        sys.exit(f"python: {what}")


def produce(address, path):
    admin = AdminClient({"bootstrap.servers": address})
    admin.create_topics([NewTopic(TOPIC, 6, 1)])[TOPIC].result(10)
    acked = {}
    for codec in CODECS:
        producer = Producer({"bootstrap.servers": address, "compression.type": codec, "linger.ms": 5,
                             "enable.idempotence": True, "partitioner": "murmur2_random"})

        def done(error, message, number):
            expect(f"delivery failed: {error}", error is None)
            acked[number] = [message.partition(), message.offset()]

        for i in range(EACH):
            number = CODECS.index(codec) * EACH + i
            key = None if i % 4 == 0 else f"key-{i % 100}"
            producer.produce(TOPIC, value=f"{number}:" + "x" * (i % 300), key=key,
                             headers=[("n", str(number)), ("none", None), ("empty", b"")],
                             on_delivery=lambda e, m, n=number: done(e, m, n))
            producer.poll(0)
        expect("flush", producer.flush(30) == 0)
    expect(f"{len(acked)} acknowledged", len(acked) == EACH * len(CODECS))
    json.dump(acked, open(path, "w"))


def member(address, protocol="classic"):
    own = {"session.timeout.ms": 6000} if protocol == "classic" else {}  # of the others it is the group's
    consumer = Consumer({"bootstrap.servers": address, "group.id": f"py-billing-{protocol}", "group.protocol": protocol,
                         "auto.offset.reset": "earliest", "enable.auto.commit": False, **own})
    consumer.subscribe([TOPIC])
    return consumer


def read(address, enough, protocol="classic", seconds=40):
    """Two members read until `enough(seen)`; commits after the work. Returns {number: times}."""
    members = [member(address, protocol), member(address, protocol)]
    seen, by_member, end = {}, [0, 0], time.time() + seconds
    # Until both have their partitions, one record at a time: otherwise the first reads everything before the second joins.
    both = False
    while not enough(seen) and time.time() < end:
        for which, consumer in enumerate(members):
            both = both or all(c.assignment() for c in members)
            for message in consumer.consume(200 if both else 1, 0.05):
                if message.error():
                    raise KafkaException(message.error())
                number = int(message.value().split(b":")[0])
                headers = dict(message.headers())
                expect("headers", headers["n"] == str(number).encode() and headers["none"] is None and headers["empty"] == b"")
                expect("key", (message.key() is None) == (number % EACH % 4 == 0))
                seen[number] = seen.get(number, 0) + 1
                by_member[which] += 1
            if consumer.assignment():
                try:
                    consumer.commit(asynchronous=False)
                except KafkaException as e:  # nothing to commit yet
                    expect(str(e), e.args[0].name() == "_NO_OFFSET")
    for consumer in members:
        consumer.close()
    return seen, by_member


def consume(address, acked_path, first_path, count):
    seen, by_member = read(address, lambda s: len(s) >= count)
    expect(f"only {len(seen)} read", len(seen) >= count)
    expect(f"one member read nothing: {by_member}", min(by_member) > 0)
    json.dump(seen, open(first_path, "w"))


def resume(address, acked_path, first_path):
    acked = {int(k) for k in json.load(open(acked_path))}
    first = {int(k): v for k, v in json.load(open(first_path)).items()}
    rest = acked - set(first)
    seen, _ = read(address, lambda s: len(s) >= len(rest))
    time.sleep(0)
    total = dict(first)
    for number, times in seen.items():
        total[number] = total.get(number, 0) + times
    expect(f"missing {len(acked - set(total))}", acked == set(total))
    twice = [n for n, t in total.items() if t != 1]
    expect(f"{len(twice)} records read more than once", not twice)
    consumer = member(address)
    committed = consumer.committed([TopicPartition(TOPIC, p) for p in range(6)], timeout=10)
    ends = sum(consumer.get_watermark_offsets(TopicPartition(TOPIC, p), timeout=10)[1] for p in range(6))
    expect("committed to the end", sum(c.offset for c in committed) == ends == len(acked))
    consumer.close()


def consumer(address, acked_path):
    """The protocol of KIP-848: two members, every record exactly once."""
    acked = {int(k) for k in json.load(open(acked_path))}
    seen, by_member = read(address, lambda s: len(s) >= len(acked), protocol="consumer")
    expect(f"missing {len(acked - set(seen))}", acked == set(seen))
    twice = [n for n, t in seen.items() if t != 1]
    expect(f"{len(twice)} records read more than once", not twice)
    expect(f"one member read nothing: {by_member}", min(by_member) > 0)


def transactions(address):
    """Read, process, write: what is aborted nobody reads, offsets move with the records, a zombie is fenced."""
    admin = AdminClient({"bootstrap.servers": address})
    for future in admin.create_topics([NewTopic("py-in", 3, 1), NewTopic("py-out", 3, 1)]).values():
        future.result(10)
    plain = Producer({"bootstrap.servers": address})
    for i in range(600):
        plain.produce("py-in", value=str(i), key=str(i))
    expect("flush", plain.flush(30) == 0)

    def transactional():
        producer = Producer({"bootstrap.servers": address, "transactional.id": "py-worker"})
        producer.init_transactions(30)
        return producer

    def reader(group, isolation):
        return Consumer({"bootstrap.servers": address, "group.id": group, "auto.offset.reset": "earliest",
                         "enable.auto.commit": False, "isolation.level": isolation})

    first, source = transactional(), reader("py-workers", "read_committed")
    source.subscribe(["py-in"])
    done, round_, worker, end = 0, 0, first, time.time() + 60
    while done < 600 and time.time() < end:
        batch = [m for m in source.consume(50, 1.0) if m.error() is None]
        if not batch:
            continue
        round_ += 1
        worker.begin_transaction()
        for message in batch:
            worker.produce("py-out", value=message.value(), key=message.key())
        positions = source.position(source.assignment())
        if round_ % 3 == 0:
            worker.flush(30)
            worker.abort_transaction(30)
            for partition in source.committed(source.assignment(), 10):
                source.seek(TopicPartition(partition.topic, partition.partition, max(partition.offset, 0)))
            continue
        worker.send_offsets_to_transaction(positions, source.consumer_group_metadata(), 30)
        worker.commit_transaction(30)
        done += len(batch)
    expect(f"{done} of 600 processed", done == 600)
    source.close()

    def everything(isolation):
        consumer = reader(f"py-{isolation}", isolation)
        consumer.subscribe(["py-out"])
        seen, quiet = [], 0
        while quiet < 4:
            messages = [m for m in consumer.consume(1000, 0.5) if m.error() is None]
            quiet = 0 if messages else quiet + 1
            seen += [int(m.value()) for m in messages]
            quiet = quiet if seen else 0
        consumer.close()
        return seen

    committed = everything("read_committed")
    expect(f"{len(committed)} read, each once", sorted(committed) == list(range(600)))
    expect("what was aborted is there for who wants it", len(everything("read_uncommitted")) > 600)

    first.begin_transaction()
    first.produce("py-out", value="-1")
    first.flush(30)
    second = transactional()
    second.begin_transaction()
    second.produce("py-out", value="600")
    second.commit_transaction(30)
    try:
        first.commit_transaction(30)
        expect("a producer that was replaced is fenced", False)
    except KafkaException as error:
        expect(f"fenced: {error}", error.args[0].fatal())
    again = everything("read_committed")
    expect("the zombie wrote nothing that counts", sorted(again) == list(range(601)))


def admin(address):
    client = AdminClient({"bootstrap.servers": address})
    client.create_topics([NewTopic("py-admin", 2, 1, config={"retention.ms": "1000"})])["py-admin"].result(10)
    client.create_partitions([NewPartitions("py-admin", 5)])["py-admin"].result(10)
    for _ in range(100):
        if len(client.list_topics("py-admin", timeout=10).topics["py-admin"].partitions) == 5:
            break
        time.sleep(0.02)
    topics = client.list_topics(timeout=10).topics
    expect("five partitions", len(topics["py-admin"].partitions) == 5)
    resource = ConfigResource(ConfigResource.Type.TOPIC, "py-admin")
    configs = client.describe_configs([resource])[resource].result(10)
    expect("config", configs["retention.ms"].value == "1000")
    client.delete_topics(["py-admin"])["py-admin"].result(10)
    for _ in range(100):
        if "py-admin" not in client.list_topics(timeout=10).topics:
            return
        time.sleep(0.02)
    expect("deleted", False)


if __name__ == "__main__":
    what, args = sys.argv[1], sys.argv[2:]
    if what == "consume":
        consume(args[0], args[1], args[2], int(args[3]))
    else:
        {"produce": produce, "resume": resume, "consumer": consumer, "transactions": transactions,
         "admin": admin}[what](*args)
