# SPDX-License-Identifier: Apache-2.0
"""Three nodes, replication factor 3: cost and speed beside three of Apache Kafka, and how long a failure is felt."""
import json
import os
import re
import socket
import statistics
import struct
import subprocess
import threading
import time
import urllib.request

from figures import BIN, RECORDS, RUNS, SHARED, Ours, cpu_seconds, kafka_or_none, load, loadgen, metadata_brokers, note, rss_mb, touch_memory

SESSION_MS = 2000      # broker.session.timeout.ms where a gap is measured; Kafka's default is 9000
FETCH_TIMEOUT_MS = 1000  # controller.quorum.fetch.timeout.ms there
FAST = [f"broker.session.timeout.ms={SESSION_MS}", "broker.heartbeat.interval.ms=500",
        f"controller.quorum.fetch.timeout.ms={FETCH_TIMEOUT_MS}", "controller.quorum.election.timeout.ms=500"]


def three(memory=True, configs=(), **more):
    arguments = ["--nodes", "3", "--control", "0"]
    for config in configs:
        arguments += ["--config", config]
    return Ours(*arguments, memory=memory, **more)


def control(broker, command, **arguments):
    request = urllib.request.Request(f"http://{broker.control}/v1/{command}", data=json.dumps(arguments).encode(),
                                     headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def bench_cluster_start():
    times, resident = [], []
    for _ in range(7):
        begin = time.perf_counter()
        broker = three()
        times.append(metadata_brokers(broker.address, 3) - begin)
        time.sleep(1)
        resident.append(rss_mb(broker.pid))
        before = cpu_seconds(broker.pid)
        time.sleep(2)
        idle = (cpu_seconds(broker.pid) - before) / 2 * 100
        broker.close()
    note("three nodes, start to three brokers in Metadata, s", statistics.median(times), 0.15)
    note("three nodes, idle resident, MB", statistics.median(resident), 40)
    note("three nodes, idle CPU, % of a core", idle)


def bench_cluster():
    """CPU of the whole cluster per MB, and speed; acks=all, 1 KB records, runs that alternate."""
    tool = loadgen()
    if not tool:
        print("bench: cluster: skipped, needs ../shared/peers/loadgen.cpp")
        return
    records = RECORDS // 2  # every byte is kept nine times: by three nodes of three clusters
    touch_memory(12)
    brokers = [b for b in (kafka_or_none(3), three(memory=False), three(memory=True)) if b]
    for b in brokers:
        load(tool, "topics", b, t="bench", p=6, r=3)
        load(tool, "produce", b, t="bench", count=1_000_000 if b.name == "kafka" else 200_000, size=1000)
    cpu, speed = {}, {}
    for run in range(RUNS):
        for b in brokers if run % 2 == 0 else brokers[::-1]:
            r = load(tool, "produce", b, t="bench", count=records, size=1000)
            cpu.setdefault(b.name, []).append(r["cpu_ms_per_mb"])
            speed.setdefault(b.name, []).append(r["mb_s"])
    for name in cpu:
        note(f"RF 3 produce CPU, {name}, ms/MB", statistics.median(cpu[name]))
        note(f"RF 3 produce speed, {name}, MB/s", statistics.median(speed[name]))
    if "kafka" in cpu:
        for name in ("disk", "memory"):
            note(f"RF 3 produce CPU, {name} / kafka", statistics.median(cpu[name]) / statistics.median(cpu["kafka"]), 0.2)
            note(f"RF 3 produce speed, {name} / kafka", statistics.median(speed[name]) / statistics.median(speed["kafka"]), 3, at_least=True)
    for b in brokers:
        b.close()


def bench_cluster_e2e():
    tool = loadgen()
    if not tool:
        print("bench: cluster_e2e: skipped, needs ../shared/peers/loadgen.cpp")
        return
    for memory in (True, False):
        broker = three(memory=memory)
        load(tool, "topics", broker, t="bench", p=6, r=3)
        runs = [load(tool, "e2e", broker, t="bench", rate=1000, secs=6) for _ in range(RUNS)]
        note(f"RF 3 end to end p50, {broker.name}, ms", statistics.median(r["p50_ms"] for r in runs), 0.6)
        note(f"RF 3 end to end p99, {broker.name}, ms", statistics.median(r["p99_ms"] for r in runs), 2)
        broker.close()


def bench_cluster_many():
    """10,000 partitions of replication factor 3, created and led."""
    tool = loadgen()
    if not tool:
        print("bench: cluster_many: skipped, needs ../shared/peers/loadgen.cpp")
        return
    seconds = {}
    for memory in (True, False):
        broker = three(memory=memory)
        r = load(tool, "topics", broker, t="t", count=100, p=100, r=3)
        seconds[broker.name] = r["all_led_s"]
        note(f"10,000 partitions RF 3 created and led, {broker.name}, s", r["all_led_s"], 4 if memory else None)
        note(f"10,000 partitions RF 3, {broker.name}, descriptors", len(os.listdir(f"/proc/{broker.pid}/fd")))
        note(f"10,000 partitions RF 3, {broker.name}, resident, MB", rss_mb(broker.pid))
        time.sleep(2)
        before = cpu_seconds(broker.pid)
        time.sleep(3)
        note(f"10,000 partitions RF 3, {broker.name}, idle CPU, % of a core", (cpu_seconds(broker.pid) - before) / 3 * 100)
        broker.close()
    note("10,000 partitions RF 3, disk / memory", seconds["disk"] / seconds["memory"])


def place(tool, broker, with_controller):
    """A topic of one partition whose leader is the active controller, or is not. Returns its name."""
    for i in range(60):
        name = f"place{i}"
        load(tool, "topics", broker, t=name, p=1, r=3)
        described = subprocess.run([os.path.join(BIN, "hw"), "--bootstrap", broker.address, "--json", "topics", "describe", name],
                                   capture_output=True, text=True, check=True).stdout
        leader = int(re.search(r'"leader":\s*(\d+)', described).group(1))
        if (leader == control(broker, "cluster.status")["controller"]) == with_controller:
            return name
    raise RuntimeError("no topic was placed as it should be")


class Impatient:
    """A producer that asks at once and never waits: what it measures is the cluster, not a client's own timers.

    One record, acks=all, to partition 0; after a failure it asks every surviving broker who leads, every 2 ms."""

    def __init__(self, ports, topic):
        self.brokers = [("127.0.0.1", port) for port in ports]
        self.topic = topic.encode()
        self.sockets = {}
        self.number = 0
        record = bytes([0, 0, 0, 1, 14]) + b"payload" + bytes([0])  # attributes, deltas, no key, seven bytes, no headers
        records = bytes([len(record) * 2]) + record
        body = struct.pack(">hiqqqhii", 0, 0, 0, 0, -1, -1, -1, 1) + records
        self.batch = struct.pack(">qiib", 0, 4 + 1 + 4 + len(body), -1, 2) + struct.pack(">I", crc32c(body)) + body

    def ask(self, at, api, version, body):
        if at not in self.sockets:
            self.sockets[at] = socket.create_connection(at, timeout=0.5)
        s = self.sockets[at]
        self.number += 1
        frame = struct.pack(">hhih", api, version, self.number, 1) + b"b" + body
        try:
            s.sendall(struct.pack(">i", len(frame)) + frame)
            answer = b""
            while len(answer) < 4 or len(answer) < 4 + struct.unpack(">i", answer[:4])[0]:
                part = s.recv(65536)
                if not part:
                    raise OSError("closed")
                answer += part
            return answer[8:]
        except OSError:
            s.close()
            del self.sockets[at]
            raise

    def leader(self):
        for host, port in self.brokers:
            try:
                a = self.ask((host, port), 3, 1, struct.pack(">ih", 1, len(self.topic)) + self.topic)
            except OSError:
                continue
            at, count, hosts = 4, struct.unpack(">i", a[:4])[0], {}
            for _ in range(count):
                node, length = struct.unpack(">ih", a[at:at + 6])
                name = a[at + 6:at + 6 + length].decode()
                at += 6 + length
                hosts[node] = (name, struct.unpack(">i", a[at:at + 4])[0])
                at += 4 + 2 + max(0, struct.unpack(">h", a[at + 4:at + 6])[0])
            at += 4 + 4 + 2 + 2 + len(self.topic) + 1 + 4 + 2 + 4  # controller, topics, error, name, internal, partitions, error, index
            leader = struct.unpack(">i", a[at:at + 4])[0]
            if leader in hosts:
                yield leader, hosts[leader]

    def produce(self, at):
        body = struct.pack(">hhi", -1, -1, 5000) + struct.pack(">ih", 1, len(self.topic)) + self.topic
        body += struct.pack(">iii", 1, 0, len(self.batch)) + self.batch
        a = self.ask(at, 0, 3, body)
        return struct.unpack(">h", a[4 + 2 + len(self.topic) + 4 + 4:][:2])[0] == 0

    def run(self, seconds, after, act):
        """Calls act(leader) after `after` seconds, in a thread; returns the longest gap between acknowledgements, in seconds."""
        begin = last = time.perf_counter()
        gap, acting, where = 0.0, None, None
        while time.perf_counter() - begin < seconds:
            if where is None:
                for where in self.leader():
                    if self.attempt(where[1]):
                        break
                    where = None
            elif not self.attempt(where[1]):
                where = None
                continue
            if where is None:
                time.sleep(0.002)
                continue
            now = time.perf_counter()
            gap, last = max(gap, now - last if acting else 0.0), now
            if acting is None and now - begin > after:
                acting = threading.Thread(target=act, args=(where[0],))
                acting.start()
            time.sleep(0.002)
        acting.join()
        return max(gap, time.perf_counter() - last)

    def attempt(self, at):
        try:
            return self.produce(at)
        except OSError:
            return False


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def own_gap(tool, how, with_controller, seconds):
    broker = three(configs=FAST)
    try:
        topic = place(tool, broker, with_controller)
        ports = [int(address.rsplit(":", 1)[1]) for address in broker.address.split(",")]
        return Impatient(ports, topic).run(seconds, 1.0, lambda leader: control(broker, "node." + how, nodes=[leader]))
    finally:
        broker.close()


def failover_gap(tool, how, with_controller, seconds):
    """As librdkafka feels it, which looks for a new leader once a second where its broker is gone."""
    broker = three(configs=FAST)
    try:
        topic = place(tool, broker, with_controller)
        command = [tool, "failover", "-b", broker.address, "-t", topic, "-secs", str(seconds),
                   "-kill", f"{BIN}/hw --control {broker.control} node {how} % >/dev/null 2>&1 &"]  # the tool waits for its command
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        found = re.search(r"max_ack_gap_s=([\d.]+)", done.stdout)
        if done.returncode != 0 or not found:
            raise RuntimeError(f"failover: {done.stdout}{done.stderr}")
        return float(found.group(1))
    finally:
        broker.close()


def controller_failover():
    """Seconds from the end of the active controller to the next one that the others know."""
    broker = three(configs=FAST)
    try:
        time.sleep(1)
        old = control(broker, "cluster.status")["controller"]
        control(broker, "node.kill", nodes=[old])
        begin = time.perf_counter()
        while True:
            now = control(broker, "cluster.status")["controller"]
            if now is not None and now != old:
                return time.perf_counter() - begin
            time.sleep(0.005)
    finally:
        broker.close()


def moved_partitions():
    """Seconds until 1,000 partitions of a node that stops cleanly are led by others, as Metadata tells it."""
    broker = three(configs=FAST)
    tool = loadgen()
    try:
        load(tool, "topics", broker, t="m", count=30, p=100, r=3)  # each node leads 1,000 of 3,000
        victim = next(n["node"] for n in control(broker, "cluster.status")["nodes"] if n["node"] != control(broker, "cluster.status")["controller"])
        begin = time.perf_counter()
        control(broker, "node.stop", nodes=[victim])
        return time.perf_counter() - begin
    finally:
        broker.close()


def bench_failover():
    tool = loadgen()
    if not tool:
        print("bench: failover: skipped, needs ../shared/peers/loadgen.cpp")
        return
    failover = max(controller_failover() for _ in range(RUNS))
    note("active controller killed, next one known, s", failover, 1.5 * FETCH_TIMEOUT_MS / 1000)
    for name, how, with_controller, seconds, limit in (
            ("leader killed", "kill", False, 5, SESSION_MS / 1000 + 0.2),
            ("leader and active controller killed", "kill", True, 8, SESSION_MS / 1000 + failover + 0.2),
            ("leader stopped cleanly", "stop", False, 4, 0.1)):
        note(f"{name}, longest gap of acknowledgements, s", max(own_gap(tool, how, with_controller, seconds) for _ in range(RUNS)), limit)
        note(f"{name}, gap as librdkafka feels it, s", max(failover_gap(tool, how, with_controller, seconds + 3) for _ in range(RUNS)))
    note("1,000 partitions leave a node that stops, s", statistics.median(moved_partitions() for _ in range(RUNS)), 0.5)


def bench_sim():
    """Simulated seconds of a cluster of three under load, per second of CPU. Seconds are those that the simulator counts: a run goes on after
    its faults until the cluster has healed and every record was read back, which costs CPU like the time before."""
    begin = os.times()
    out = subprocess.run([os.path.join(BIN, "hw"), "sim", "--seed", "1", "--runs", "40", "--time", "20", "--quiet"], capture_output=True, text=True)
    end = os.times()
    used = end.children_user + end.children_system - begin.children_user - begin.children_system
    told = re.search(r"(\d+) simulated seconds in", out.stdout)
    if out.returncode != 0 or not told:
        print("bench: the simulation found a fault, or ended without its figures:", out.stdout[-300:])
        return
    note("simulated seconds per CPU second", int(told.group(1)) / used, 200, at_least=True)
