#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole-process figures of highwaterd, and their ratios to Apache Kafka and kfake measured in the same run.

usage: bench.py [start|idle|produce|e2e|groups|window|group-stable|cluster-start|cluster|cluster-e2e|cluster-many|failover|sim]…
       (default: all; environment: HIGHWATER_BIN, HIGHWATER_SHARED)

Fair by construction: guest memory is touched first (the first touch of a fresh page costs several times a copy), Kafka
is warmed with 1 GB, runs of 400 MB alternate between the brokers, medians are compared. Every figure goes as one line
of JSON into history.jsonl beside this file, with --keep.
"""
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import cluster
from figures import (BIN, HERE, RECORDS, RUNS, Kfake, Ours, cpu_seconds, free_port, kafka_or_none, load, loadgen, metadata_answer, note,
                     results, rss_mb, touch_memory)


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
    names = [a for a in arguments if a != "--keep"] or ["start", "idle", "produce", "e2e", "groups", "window", "cluster-start", "cluster",
                                                        "cluster-e2e", "cluster-many", "failover", "sim"]
    for name in names:
        print(f"== {name}")
        what = "bench_" + name.replace("-", "_")
        (globals().get(what) or getattr(cluster, what))()
    if keep:
        with open(os.path.join(HERE, "history.jsonl"), "a", encoding="utf-8") as f:
            revision = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True).stdout.strip()
            f.write(json.dumps({"date": time.strftime("%Y-%m-%d"), "revision": revision, **results}) + "\n")
