# SPDX-License-Identifier: Apache-2.0
"""aiokafka against a broker. usage: aiokafka_client.py first|second ADDRESS TOPIC (see README.md for the two steps)"""
import asyncio
import sys
import time

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

CODECS = [None, "gzip", "snappy", "lz4", "zstd"]
EACH = 1000


def expect(what, ok):
    if not ok:
        sys.exit(f"aiokafka: {what}")


async def member(address, topic):
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=address, group_id=topic + "-group", auto_offset_reset="earliest",
                                enable_auto_commit=False, session_timeout_ms=6000, heartbeat_interval_ms=500)
    await consumer.start()
    return consumer


async def first(address, topic):
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    await admin.create_topics([NewTopic(topic, 3, 1)])
    total = 0
    for codec in CODECS:
        producer = AIOKafkaProducer(bootstrap_servers=address, compression_type=codec, enable_idempotence=True, linger_ms=5)
        await producer.start()
        futures = []
        for i in range(EACH):
            key = None if i % 4 == 0 else b"key-%d" % (i % 100)
            futures.append(await producer.send(topic, b"%d" % total, key=key, headers=[("n", b"%d" % total), ("empty", b"")]))
            total += 1
        await asyncio.gather(*futures)
        await producer.stop()

    seen, end = set(), time.time() + 60

    async def take(consumer, most):
        for records in (await consumer.getmany(timeout_ms=100, max_records=most)).values():
            for record in records:
                expect("headers", dict(record.headers) == {"n": record.value, "empty": b""})
                expect("a record twice", int(record.value) not in seen)
                seen.add(int(record.value))

    a = await member(address, topic)
    while len(a.assignment()) != 3 and time.time() < end:
        await take(a, 1)
    expect("alone it has every partition", len(a.assignment()) == 3)
    await take(a, 1)
    await a.commit()
    b = await member(address, topic)
    while (not b.assignment() or len(a.assignment() | b.assignment()) != 3) and time.time() < end:
        await asyncio.sleep(0.1)
    expect("together they have every partition", len(a.assignment() | b.assignment()) == 3 and a.assignment() and b.assignment())
    while len(seen) < total and time.time() < end:
        await take(a, 500)
        await take(b, 500)
    expect(f"{len(seen)} of {total} read", len(seen) == total)
    for consumer in (a, b):
        await consumer.commit()
        await consumer.stop()
    await admin.close()


async def second(address, topic):
    producer = AIOKafkaProducer(bootstrap_servers=address)
    await producer.start()
    await producer.send_and_wait(topic, b"last")
    consumer = await member(address, topic)
    record = await asyncio.wait_for(consumer.getone(), 30)
    expect(f"after the restart only the new record comes, got {record.value}", record.value == b"last")
    await consumer.stop()
    await producer.stop()
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    await admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": "123456"})])
    expect("the altered config", "123456" in str(await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])))
    expect("the topic is listed", topic in await admin.list_topics())
    await admin.delete_topics([topic])
    expect("the topic is gone", topic not in await admin.list_topics())
    await admin.close()


asyncio.run({"first": first, "second": second}[sys.argv[1]](*sys.argv[2:]))
