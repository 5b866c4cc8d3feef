#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Untouched librdkafka clients against three nodes of which one at a time is killed, paused or stopped, at random.

usage: soak.py FOLDER-OF-PROGRAMS SECONDS [SEED]

Two idempotent producers write with acks=all, a group of two reads and commits. In the end, with every node back, each record that
was acknowledged is there exactly once, none that was written is there twice, and those of one producer are in order. The seed
decides which node is hit, how, and when; what the threads do in between is theirs.
Needs Python's confluent-kafka.
"""
import collections
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

HERE = os.path.dirname(os.path.abspath(__file__))
LAUNCHER = os.path.join(HERE, "..", "conform", "launcher.py")
PROGRAMS, SECONDS = sys.argv[1], float(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
PARTITIONS, NODES = 6, 3
TOPIC = "soak"

CLUSTER = f"""brokers={NODES}
controllers={NODES}
combined=true
prop.broker.session.timeout.ms=2000
prop.broker.heartbeat.interval.ms=300
prop.replica.lag.time.max.ms=3000
prop.controller.quorum.fetch.timeout.ms=800
prop.controller.quorum.election.timeout.ms=400
prop.offsets.topic.num.partitions=4
prop.group.initial.rebalance.delay.ms=0
"""


class Soak:
    def __init__(self, folder):
        self.folder = folder
        self.acked = []  # (value, partition, offset)
        self.refused = collections.Counter()
        self.lock = threading.Lock()
        self.done = threading.Event()
        self.read = 0
        self.faults = collections.Counter()

    def act(self, action, node=""):
        subprocess.run([sys.executable, LAUNCHER, action, self.folder, *([str(node)] if node != "" else [])], check=True,
                       env=dict(os.environ, HIGHWATER_BIN=PROGRAMS))

    def start(self):
        with open(f"{self.folder}/cluster.properties", "w", encoding="ascii") as f:
            f.write(CLUSTER)
        subprocess.run([sys.executable, LAUNCHER, "start", self.folder], check=True, env=dict(os.environ, HIGHWATER_BIN=PROGRAMS))
        self.bootstrap = open(f"{self.folder}/bootstrap", encoding="ascii").read()
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 3, config={"min.insync.replicas": "2"})])[TOPIC].result(30)

    def healthy(self, seconds=60):
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        limit = time.time() + seconds
        while time.time() < limit:
            try:
                topic = admin.list_topics(TOPIC, timeout=5).topics[TOPIC]
                if len(topic.partitions) == PARTITIONS and all(
                        p.leader >= 0 and len(p.isrs) == NODES for p in topic.partitions.values()):
                    return True
            except Exception:  # a node that is just going down
                pass
            time.sleep(0.2)
        return False

    def produce(self, name):
        producer = Producer({"bootstrap.servers": self.bootstrap, "acks": "all", "enable.idempotence": True, "linger.ms": 5,
                             "message.timeout.ms": 300_000, "socket.timeout.ms": 5_000, "retry.backoff.ms": 50,
                             "error_cb": lambda e: None, "log_level": 0})

        def told(error, message):
            with self.lock:
                if error:
                    self.refused[str(error)] += 1
                else:
                    self.acked.append((message.value(), message.partition(), message.offset()))

        i = 0
        while not self.done.is_set():
            try:
                producer.produce(TOPIC, f"{name}:{i}".encode(), key=str(i % 97).encode(), callback=told)
                i += 1
            except BufferError:
                pass
            producer.poll(0 if i % 20 else 0.01)
        left = producer.flush(300)
        if left:
            with self.lock:
                self.refused["never answered"] += left

    def consume(self):
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": "soak", "auto.offset.reset": "earliest",
                             "session.timeout.ms": 6_000, "log_level": 0, "error_cb": lambda e: None})
        consumer.subscribe([TOPIC])
        while not self.done.is_set():
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                with self.lock:
                    self.read += 1
        consumer.close()

    def chaos(self):
        dice = random.Random(SEED)
        end = time.time() + SECONDS
        while time.time() < end:
            node, what = dice.randrange(NODES), dice.choice(["kill", "kill", "pause", "stop"])
            self.faults[what] += 1
            self.act(f"{what}-broker", node)
            time.sleep(dice.uniform(0.5, 5))
            self.act("resume-broker" if what == "pause" else "start-broker", node)
            if dice.random() < 0.7:
                self.healthy(30)
            time.sleep(dice.uniform(0, 2))

    def everything(self):
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": "check", "enable.auto.commit": False,
                             "auto.offset.reset": "earliest", "log_level": 0})
        records = {}
        for p in range(PARTITIONS):
            _, high = consumer.get_watermark_offsets(TopicPartition(TOPIC, p), timeout=30)
            consumer.assign([TopicPartition(TOPIC, p, 0)])
            records[p] = []
            while len(records[p]) == 0 or records[p][-1][0] + 1 < high:
                if high == 0:
                    break
                message = consumer.poll(10)
                if message is None:
                    sys.exit(f"FAILED partition {p} stops at {records[p][-1:]} of {high}")
                if message.error() is None:
                    records[p].append((message.offset(), message.value()))
        consumer.close()
        return records

    def run(self):
        self.start()
        threads = [threading.Thread(target=self.produce, args=(n,)) for n in ("a", "b")]
        threads += [threading.Thread(target=self.consume) for _ in range(2)]
        for t in threads:
            t.start()
        self.chaos()
        healthy = self.healthy(120)
        self.done.set()
        for t in threads:
            t.join()
        problems = [] if healthy else ["not every replica came back in sync"]
        records = self.everything()
        count = collections.Counter(value for p in records for _, value in records[p])
        at = {(p, offset): value for p in records for offset, value in records[p]}
        lost = [a for a in self.acked if count[a[0]] == 0]
        moved = [a for a in self.acked if count[a[0]] == 1 and at.get((a[1], a[2])) != a[0]]
        twice = [v for v, n in count.items() if n > 1]
        for p in records:
            last = {}
            for _, value in records[p]:
                name, i = value.decode().split(":")
                if int(i) <= last.get(name, -1):
                    problems.append(f"partition {p}: {value} after {name}:{last[name]}")
                    break
                last[name] = int(i)
        if lost:
            problems.append(f"{len(lost)} acknowledged records lost, for example {lost[0]}")
        if moved:
            problems.append(f"{len(moved)} acknowledged records at another offset, for example {moved[0]}")
        if twice:
            problems.append(f"{len(twice)} records twice, for example {twice[0]}")
        if not self.acked or not self.read:
            problems.append(f"nothing was written or nothing read: {len(self.acked)} {self.read}")
        total = sum(self.faults.values())
        print(f"seed {SEED}: {len(self.acked)} acknowledged, {sum(self.refused.values())} not ({dict(self.refused)}), "
              f"{self.read} read by the group; {total} faults: {dict(self.faults)}")
        for problem in problems:
            print("FAILED " + problem)
        return not problems


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(folder)
        good = False
        try:
            good = soak.run()
        finally:
            if not good and os.environ.get("SOAK_KEEP"):
                subprocess.run(["cp", "-r", folder, os.environ["SOAK_KEEP"]], check=False)
            soak.act("stop")
        print("1 passed" if good else "1 failed")
        sys.exit(0 if good else 1)


main()
