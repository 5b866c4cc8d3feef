#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole-process figures of highwaterd, and their ratios to Apache Kafka and kfake measured in the same run.

usage: bench.py [start|idle|produce|consume|e2e|groups|window|group_stable]…       (default: all; environment: HIGHWATER_BIN, HIGHWATER_SHARED)

Fair by construction: guest memory is touched first (the first touch of a fresh page costs several times a copy), Kafka
is warmed with 1 GB, runs of 400 MB alternate between the brokers, medians are compared. Every figure goes as one line
of JSON into history.jsonl beside this file, with --keep.
"""
import json
import os
import re
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.environ["HIGHWATER_BIN"]
SHARED = os.environ.get("HIGHWATER_SHARED", os.path.join(HERE, "../../../shared"))
CACHE = os.path.join(HERE, "../../build/bench-tools")
RUNS = int(os.environ.get("HIGHWATER_BENCH_RUNS", "3"))
RECORDS = 400_000  # of 1,000 bytes: 400 MB
results = {}


def note(name, value, limit=None, at_least=False):
    verdict = ""
    if limit is not None and at_least:
        verdict = ("   ok" if value >= limit else "   BELOW") + f" (at least {limit})"
    elif limit is not None:
        verdict = ("   ok" if value <= limit else "   ABOVE") + f" (at most {limit})"
    results[name] = round(value, 4)
    print(f"{name:52s} {value:10.3f}{verdict}", flush=True)


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_mb(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1)) / 1024


def touch_memory(gigabytes=3):
    subprocess.run([sys.executable, "-c", f"b = bytearray({gigabytes} << 30)\nfor i in range(0, len(b), 4096): b[i] = 1"], check=False)


class Ours:
    def __init__(self, *arguments, memory=True):
        self.folder = None if memory else tempfile.mkdtemp(prefix="hw-bench-")
        where = ["--memory"] if memory else ["--dir", self.folder]
        self.process = subprocess.Popen([os.path.join(BIN, "highwaterd"), "--port", "0", *where, *arguments], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().split()[1]
        self.pid = self.process.pid
        self.name = "memory" if memory else "disk"

    def close(self):
        self.process.terminate()
        self.process.wait()
        if self.folder:
            shutil.rmtree(self.folder)


class Kafka:
    """One Apache Kafka 4.4.0; None where it cannot be had."""
    name = "kafka"

    def __init__(self):
        script = os.path.join(SHARED, "peers/kafka.sh")
        out = subprocess.run([script, "up", "1", "19092"], capture_output=True, text=True, check=True).stdout
        self.script = script
        self.address = "127.0.0.1:19092"
        self.pid = int(re.search(r"pids: (\d+)", out).group(1))

    def close(self):
        subprocess.run([self.script, "down"], check=False, capture_output=True)


def kafka_or_none():
    if not os.path.exists(os.path.join(SHARED, "peers/kafka.sh")) or not shutil.which("java") or not shutil.which("mvn"):
        print("bench: no Apache Kafka at hand (needs ../shared/peers, a JDK and Maven); ratios to it are left out")
        return None
    try:
        return Kafka()
    except subprocess.CalledProcessError as e:
        print("bench: Apache Kafka did not start:", e.stderr[-200:])
        return None


def loadgen():
    source = os.path.join(SHARED, "peers/loadgen.cpp")
    if not os.path.exists(source):
        return None
    os.makedirs(CACHE, exist_ok=True)
    out = os.path.join(CACHE, "loadgen")
    if not os.path.exists(out) or os.path.getmtime(out) < os.path.getmtime(source):
        subprocess.run(["g++", "-O2", "-std=c++20", source, "-lrdkafka", "-lpthread", "-o", out], check=True)
    return out


def load(tool, what, broker, **options):
    command = [tool, what, "-b", broker.address, "--pid", str(broker.pid)]
    for key, value in options.items():
        command += ["-" + key.replace("__", ":").replace("_", "."), str(value)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    figures = dict(re.findall(r"(\w+)=([-\d.]+)", done.stdout))
    if done.returncode != 0 or not figures:
        sys.exit(f"bench: {' '.join(command)} failed: {done.stdout}{done.stderr}")
    return {k: float(v) for k, v in figures.items()}


def metadata_answer(address, patience=60):
    host, port = address.rsplit(":", 1)
    request = struct.pack(">hhih", 3, 1, 1, 1) + b"b" + struct.pack(">i", -1)
    end = time.perf_counter() + patience
    while time.perf_counter() < end:
        try:
            with socket.create_connection((host, int(port)), timeout=5) as s:
                s.sendall(struct.pack(">i", len(request)) + request)
                if len(s.recv(4)) == 4:
                    return time.perf_counter()
        except OSError:
            time.sleep(0.0005)
    sys.exit("bench: no Metadata answer")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def bench_start():
    for mode, limit in (("memory", 60), ("disk", 120)):
        times = []
        for _ in range(11):
            port = free_port()
            folder = tempfile.mkdtemp(prefix="hw-bench-")
            where = ["--memory"] if mode == "memory" else ["--dir", folder]
            begin = time.perf_counter()
            p = subprocess.Popen([os.path.join(BIN, "highwaterd"), "--port", str(port), *where], stdout=subprocess.DEVNULL)
            times.append((metadata_answer(f"127.0.0.1:{port}") - begin) * 1000)
            p.terminate()
            p.wait()
            shutil.rmtree(folder)
        note(f"start to first Metadata, {mode}, ms", statistics.median(times), limit)


def bench_idle():
    broker = Ours(memory=True)
    time.sleep(1)
    before = cpu_seconds(broker.pid)
    time.sleep(3)
    note("idle resident, memory, MB", rss_mb(broker.pid), 25)
    note("idle CPU, % of a core", (cpu_seconds(broker.pid) - before) / 3 * 100, 1)
    broker.close()
    tool = loadgen()
    if tool:
        broker = Ours(memory=False)
        load(tool, "topics", broker, t="bench", p=6)
        load(tool, "produce", broker, t="bench", count=1_000_000, size=1000)
        note("resident after 1 GB to disk, MB", rss_mb(broker.pid), 80)
        broker.close()


def bench_produce(also_consume=True):
    tool = loadgen()
    if not tool:
        print("bench: produce: skipped, needs ../shared/peers/loadgen.cpp")
        return
    touch_memory()
    brokers = [b for b in (kafka_or_none(), Ours(memory=False), Ours(memory=True)) if b]
    for b in brokers:
        load(tool, "topics", b, t="bench", p=6)
        if b.name == "kafka":
            load(tool, "produce", b, t="bench", count=1_000_000, size=1000)
    cpu, speed = {}, {}
    for run in range(RUNS):
        order = brokers if run % 2 == 0 else brokers[::-1]
        for b in order:
            r = load(tool, "produce", b, t="bench", count=RECORDS, size=1000)
            cpu.setdefault(b.name, []).append(r["cpu_ms_per_mb"])
            speed.setdefault(b.name, []).append(r["mb_s"])
    median = {k: statistics.median(v) for k, v in cpu.items()}
    for k in median:
        note(f"produce CPU, {k}, ms/MB", median[k])
        note(f"produce speed, {k}, MB/s", statistics.median(speed[k]))
    if "kafka" in median:
        note("produce CPU, disk / kafka", median["disk"] / median["kafka"], 0.4)
        note("produce CPU, memory / kafka", median["memory"] / median["kafka"], 0.3)
    if also_consume:
        cpu, speed = {}, {}
        for run in range(RUNS):
            for b in brokers if run % 2 == 0 else brokers[::-1]:
                r = load(tool, "consume", b, t="bench", count=RECORDS)
                cpu.setdefault(b.name, []).append(r["cpu_ms_per_mb"])
                speed.setdefault(b.name, []).append(r["mb_s"])
        median = {k: statistics.median(v) for k, v in cpu.items()}
        for k in median:
            note(f"consume CPU, {k}, ms/MB", median[k])
            note(f"consume speed, {k}, MB/s", statistics.median(speed[k]))
        if "kafka" in median:
            note("consume CPU, disk / kafka", median["disk"] / median["kafka"], 1.0)
            note("consume CPU, memory / kafka", median["memory"] / median["kafka"], 1.0)
    for b in brokers:
        b.close()


class Kfake:
    name = "kfake"

    def __init__(self):
        out = os.path.join(CACHE, "kfake")
        os.makedirs(CACHE, exist_ok=True)
        if not os.path.exists(out):
            source = os.path.join(CACHE, "kfake-src")
            shutil.rmtree(source, ignore_errors=True)
            shutil.copytree(os.path.join(SHARED, "peers/kfake"), source)
            subprocess.run(["chmod", "-R", "u+w", source], check=True)
            subprocess.run(["go", "build", "-o", out, "."], cwd=source, check=True, capture_output=True)
        self.process = subprocess.Popen([out], stdout=subprocess.PIPE, text=True)
        self.address = "127.0.0.1:39092"
        self.pid = self.process.pid
        metadata_answer(self.address)

    def close(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def bench_e2e():
    tool = loadgen()
    if not tool:
        print("bench: e2e: skipped, needs ../shared/peers/loadgen.cpp")
        return
    brokers = [Ours(memory=True), Ours(memory=False)]
    if shutil.which("go"):
        try:
            brokers.append(Kfake())
        except (subprocess.CalledProcessError, OSError) as e:
            print("bench: kfake cannot be built:", e)
    figures = {}
    for b in brokers:
        load(tool, "topics", b, t="bench", p=6)
    for run in range(RUNS):
        for b in brokers if run % 2 == 0 else brokers[::-1]:
            r = load(tool, "e2e", b, t="bench", rate=1000, secs=6)
            figures.setdefault(b.name, []).append((r["p50_ms"], r["p99_ms"]))
    for name, runs in figures.items():
        note(f"end to end p50, {name}, ms", statistics.median(x[0] for x in runs))
        note(f"end to end p99, {name}, ms", statistics.median(x[1] for x in runs))
    if "kfake" in figures:
        for i, q in enumerate(("p50", "p99")):
            ours = statistics.median(x[i] for x in figures["memory"])
            theirs = statistics.median(x[i] for x in figures["kfake"])
            note(f"end to end {q}, memory / kfake", ours / theirs, 1.0)
    for b in brokers:
        b.close()


def bench_groups():
    """Commits of offsets as fast as they are answered, and a cluster of 1,000 topics and 1,000 groups listed and described."""
    tool = os.path.join(BIN, "group_load")
    if not os.path.exists(tool):
        print("bench: groups: skipped, needs group_load (./dev build group_load)")
        return

    def figures(broker, *arguments):
        out = subprocess.run([tool, broker.address.rsplit(":", 1)[1], *arguments], capture_output=True, text=True, timeout=300)
        if out.returncode != 0:
            sys.exit(f"bench: group_load {' '.join(arguments)} failed: {out.stderr}")
        return {k: float(v) for k, v in re.findall(r"(\w+)=([-\d.]+)", out.stdout)}

    for make in (lambda: Ours(memory=True), lambda: Ours(memory=False)):
        commits, cpu, all_s = [], [], []
        for _ in range(RUNS):
            b = make()
            before = cpu_seconds(b.pid)
            run = figures(b, "commit", "16", "32", "4")
            cpu.append((cpu_seconds(b.pid) - before) / run["commits"] * 1e6)
            commits.append(run["per_s"])
            b.close()
            b = make()
            all_s.append(figures(b, "many", "1000", "1000")["all_s"])
            b.close()
        note(f"offset commits, 16 connections, {b.name}, 1/s", statistics.median(commits), 30_000, at_least=True)
        note(f"offset commits, CPU each, {b.name}, µs", statistics.median(cpu))
        note(f"1,000 topics and groups told, {b.name}, s", statistics.median(all_s), 0.3)


class Window:
    """The real window, offscreen, with demo traffic off."""
    name = "window"

    def __init__(self):
        port = free_port()
        environment = dict(os.environ, QT_QPA_PLATFORM="offscreen", QT_LOGGING_RULES="*.warning=false")
        self.process = subprocess.Popen([os.path.join(BIN, "highwater"), "--port", str(port), "--no-demo"], env=environment,
                                        stdout=subprocess.DEVNULL)
        self.address = f"127.0.0.1:{port}"
        self.pid = self.process.pid
        metadata_answer(self.address)

    def close(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def broker_cpu_seconds(pid):
    """CPU of the threads that are the broker (node and disk pool), without observer, window and built-in clients."""
    total = 0.0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            name, fields = open(f"/proc/{pid}/task/{task}/stat", encoding="ascii").read().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        if name.startswith(("hw-node", "hw-disk")):
            total += sum(int(x) for x in fields.split()[11:13]) / os.sysconf("SC_CLK_TCK")
    return total


def bench_window():
    """A load of 100,000 records a second, then as fast as it goes: what the open window adds to the broker's CPU."""
    tool = loadgen()
    if not tool or not os.path.exists(os.path.join(BIN, "highwater")):
        print("bench: window: skipped, needs ../shared/peers/loadgen.cpp and the window")
        return
    touch_memory()
    broker, whole, saturated = {}, {}, {}
    for run in range(RUNS):
        for make in (Window, Ours) if run % 2 == 0 else (Ours, Window):
            b = make()
            load(tool, "topics", b, t="bench", p=6)
            load(tool, "produce", b, t="bench", count=300_000, size=1000, rate=100_000)
            before = broker_cpu_seconds(b.pid), cpu_seconds(b.pid)
            load(tool, "produce", b, t="bench", count=1_000_000, size=1000, rate=100_000)
            after = broker_cpu_seconds(b.pid), cpu_seconds(b.pid)
            broker.setdefault(b.name, []).append(after[0] - before[0])  # seconds for 1,000 MB are ms/MB
            whole.setdefault(b.name, []).append(after[1] - before[1])
            before = broker_cpu_seconds(b.pid)
            load(tool, "produce", b, t="bench", count=1_000_000, size=1000)
            saturated.setdefault(b.name, []).append(broker_cpu_seconds(b.pid) - before)
            b.close()
    for name in broker:
        note(f"paced, broker threads, {name}, ms/MB", statistics.median(broker[name]))
        note(f"paced, whole process, {name}, ms/MB", statistics.median(whole[name]))

    def ratio(values):
        return statistics.median(values["window"]) / statistics.median(values["memory"])

    live = os.path.join(BIN, "tst_ui_live")
    if os.path.exists(live):
        out = subprocess.run([live, "initTestCase", "aTopicIsCreatedByTyping", "aRecordProducedByHandAppearsOnTheLane",
                              "everyRecordReachesThePixels"], capture_output=True, text=True,
                             env=dict(os.environ, QT_QPA_PLATFORM="offscreen"))
        found = re.search(r"click_to_pixel_ms p50=(\d+) p95=(\d+)", out.stdout + out.stderr)
        if found:
            note("click in the window to record on its lane p50, ms", float(found.group(1)))
            note("click in the window to record on its lane p95, ms", float(found.group(2)), 50)
    note("paced, broker threads, window / daemon", ratio(broker), 1.05)
    note("paced, whole process, window / daemon", ratio(whole))
    note("saturated, broker threads, window / daemon", ratio(saturated))


def bench_group_stable():
    """Members started at once until all have their partition, at equal configs; the members are our own consumers."""
    delay = "group.initial.rebalance.delay.ms=3000"
    os.environ["KAFKA_EXTRA"] = delay
    kafka = kafka_or_none()
    ours = Ours("--config", delay)
    for members in (3, 50, 500):
        for assignor in ("range", "cooperative-sticky"):
            figures = {}
            for _ in range(RUNS):
                for broker in [ours] + ([kafka] if kafka else []):
                    done = subprocess.run([os.path.join(BIN, "bench_group"), broker.address, str(members), assignor],
                                          capture_output=True, text=True, timeout=300)
                    took = re.search(r"stable_ms=(\d+)", done.stdout)
                    if done.returncode != 0 or not took:
                        print(f"bench: {members} members of {broker.name}: {done.stderr.strip()}")
                        continue
                    figures.setdefault(broker.name, []).append(int(took.group(1)))
            for name, values in figures.items():
                note(f"{members} members, {assignor}, {name}, ms", statistics.median(values))
            if len(figures) == 2:
                note(f"{members} members, {assignor}, ours / kafka",
                     statistics.median(figures["memory"]) / statistics.median(figures["kafka"]), 1.0)
    ours.close()
    if kafka:
        kafka.close()


if __name__ == "__main__":
    arguments = sys.argv[1:]
    keep = "--keep" in arguments
    names = [a for a in arguments if a != "--keep"] or ["start", "idle", "produce", "e2e", "groups", "window"]
    for name in names:
        print(f"== {name}")
        globals()["bench_" + name.replace("-", "_")]()
    if keep:
        with open(os.path.join(HERE, "history.jsonl"), "a", encoding="utf-8") as f:
            revision = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True).stdout.strip()
            f.write(json.dumps({"date": time.strftime("%Y-%m-%d"), "revision": revision, **results}) + "\n")
