#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clean stops, kills and pauses through the launcher: records, topics, committed offsets and producer sequences survive.

usage: restarts.py HIGHWATERD
"""
import os
import struct
import subprocess
import sys
import tempfile
import time

from kafka import Client, batch, text

LAUNCHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../conform/launcher.py")
os.environ["HIGHWATER_BIN"] = os.path.dirname(os.path.abspath(sys.argv[1]))
passed = 0


def ok(what, condition, detail=""):
    global passed
    if not condition:
        print(f"FAILED {what} {detail}")
        print("1 failed")
        sys.exit(1)
    passed += 1


def launcher(*arguments):
    subprocess.run([sys.executable, LAUNCHER, *arguments], check=True)


def commit(client, group, topic, offset):
    """A simple commit (OffsetCommit v2, generation -1); the coordinator may still be on its way."""
    body = (text(group) + struct.pack(">i", -1) + text("") + struct.pack(">q", -1) + struct.pack(">i", 1) + text(topic) +
            struct.pack(">iiqh", 1, 0, offset, 0))
    end = time.time() + 10
    while True:
        error = struct.unpack(">h", client.ask(8, 2, body)[-2:])[0]
        if error not in (14, 15, 16) or time.time() > end:
            return error
        client.ask(10, 0, text(group))
        time.sleep(0.02)


def committed(client, group, topic):
    body = text(group) + struct.pack(">i", 1) + text(topic) + struct.pack(">ii", 1, 0)
    end = time.time() + 10
    while True:
        answer = client.ask(9, 1, body)
        at = 4 + 2 + len(topic) + 4 + 4
        offset, size = struct.unpack_from(">qh", answer, at)
        error, = struct.unpack_from(">h", answer, at + 10 + max(size, 0))
        if error not in (14, 15, 16) or time.time() > end:
            return error, offset
        time.sleep(0.02)


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/cluster.properties", "w", encoding="ascii") as f:
            f.write("brokers=1\ncontrollers=1\ncombined=true\nprop.offsets.topic.replication.factor=1\nprop.offsets.topic.num.partitions=4\n")
        launcher("start", folder)
        try:
            address = open(f"{folder}/bootstrap", encoding="ascii").read()
            client = Client(address)
            ok("create", client.create_topic("r", 3) == 0)
            error, *producer = client.init_producer_id()
            ok("producer id", error == 0)
            batches = [batch([b"%d" % i], producer[0], producer[1], i) for i in range(5)]
            for i, data in enumerate(batches):
                ok("produce", client.produce("r", 0, data) == (0, i))
            ok("commit", commit(client, "g", "r", 3) == 0)
            expected = 5
            for how in ("stop-broker", "kill-broker", "stop-broker", "kill-broker"):
                client.close()
                launcher(how, folder, "0")
                launcher("start-broker", folder, "0")
                client = Client(address)
                seen, high_watermark = client.everything("r")
                ok(f"{how}: records", [int(v) for _, v in seen] == list(range(expected)), seen)
                ok(f"{how}: high watermark", high_watermark == expected, high_watermark)
                ok(f"{how}: committed offset", committed(client, "g", "r") == (0, 3), committed(client, "g", "r"))
                answer = client.produce("r", 0, batches[-1])
                ok(f"{how}: a repeat is answered with the old offset", answer == (0, expected - 1), answer)
                batches.append(batch([b"%d" % expected], producer[0], producer[1], expected))
                ok(f"{how}: the sequence goes on", client.produce("r", 0, batches[-1]) == (0, expected))
                expected += 1
                error, id_now, _ = client.init_producer_id()
                ok(f"{how}: producer ids are not given twice", error == 0 and id_now > producer[0], id_now)
            launcher("pause-broker", folder, "0")
            client.send(3, 1, struct.pack(">i", -1))
            launcher("resume-broker", folder, "0")
            ok("a paused node answers after it was resumed", len(client.receive()) > 0)
        finally:
            launcher("stop", folder)
    print(f"{passed} passed, 0 failed")


main()
