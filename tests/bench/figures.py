# SPDX-License-Identifier: Apache-2.0
"""What every benchmark uses: the brokers under test, the load generator, and the list of figures."""
import os
import re
import shutil
import signal
import socket
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
        line = self.process.stdout.readline().split()
        self.address = line[1]  # of one node, or of several with commas
        self.control = line[line.index("control") + 1] if "control" in line else None
        self.pid = self.process.pid
        self.name = "memory" if memory else "disk"

    def close(self):
        self.process.terminate()
        self.process.wait()
        if self.folder:
            shutil.rmtree(self.folder)


class Kafka:
    """Combined nodes of Apache Kafka 4.4.0."""
    name = "kafka"

    def __init__(self, nodes=1):
        script = os.path.join(SHARED, "peers/kafka.sh")
        out = subprocess.run([script, "up", str(nodes), "19092"], capture_output=True, text=True, check=True).stdout
        self.script = script
        self.address = ",".join(f"127.0.0.1:{19092 + 10 * i}" for i in range(nodes))
        self.pids = [int(pid) for pid in re.search(r"pids: ([\d ]+)", out).group(1).split()]
        self.pid = self.pids[0]

    def close(self):
        subprocess.run([self.script, "down"], check=False, capture_output=True)


def kafka_or_none(nodes=1):
    if not os.path.exists(os.path.join(SHARED, "peers/kafka.sh")) or not shutil.which("java") or not shutil.which("mvn"):
        print("bench: no Apache Kafka at hand (needs ../shared/peers, a JDK and Maven); ratios to it are left out")
        return None
    try:
        return Kafka(nodes)
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
    command = [tool, what, "-b", broker.address]
    for pid in getattr(broker, "pids", [broker.pid]):
        command += ["--pid", str(pid)]
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


def metadata_brokers(address, wanted, patience=60):
    """When Metadata names `wanted` brokers (version 1, as of performance counter)."""
    host, port = address.split(",")[0].rsplit(":", 1)
    request = struct.pack(">hhih", 3, 1, 1, 1) + b"b" + struct.pack(">i", 0)
    end = time.perf_counter() + patience
    while time.perf_counter() < end:
        try:
            with socket.create_connection((host, int(port)), timeout=5) as s:
                while time.perf_counter() < end:
                    s.sendall(struct.pack(">i", len(request)) + request)
                    answer = s.recv(65536)
                    if len(answer) < 12:
                        break
                    if struct.unpack(">i", answer[8:12])[0] >= wanted:
                        return time.perf_counter()
                    time.sleep(0.0005)
        except OSError:
            time.sleep(0.0005)
    sys.exit(f"bench: no {wanted} brokers in Metadata")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


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
