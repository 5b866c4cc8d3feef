# SPDX-License-Identifier: Apache-2.0
"""confluent-kafka as one member of a group:  mixed.py ADDRESS GROUP TOPIC ASSIGNOR

Speaks like interop_member: "has N" when its assignment changes, every value it reads, and leaves when standard input ends.
"""
import sys
import threading

from confluent_kafka import Consumer

address, group, topic, assignor = sys.argv[1:]
consumer = Consumer({"bootstrap.servers": address, "group.id": group, "auto.offset.reset": "earliest",
                     "partition.assignment.strategy": assignor, "session.timeout.ms": 10000})
has = 0


def say(text):
    print(text, flush=True)


def changed(by):
    global has
    has += by
    say(f"has {has}")


consumer.subscribe([topic], on_assign=lambda c, partitions: changed(len(partitions)),
                   on_revoke=lambda c, partitions: changed(-len(partitions)))
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
while not ended.is_set():
    message = consumer.poll(0.2)
    if message is not None and message.error() is None:
        say(message.value().decode())
consumer.close()
