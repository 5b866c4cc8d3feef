#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Frames and arguments that are wrong: the connection that sent them closes, memory stays bounded, all others go on; a
start that cannot work says why and what to do, with its own exit code.

usage: bad_input.py HIGHWATERD
"""
import os
import random
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import time

from kafka import Client, Daemon, batch, crc32c

PROGRAM = sys.argv[1]
passed = 0


def ok(what, condition, detail=""):
    global passed
    if not condition:
        print(f"FAILED {what} {detail}")
        print("1 failed")
        sys.exit(1)
    passed += 1


def closed_by(address, data):
    with socket.create_connection(tuple(address.rsplit(":", 1)), timeout=10) as s:
        try:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            while s.recv(65536):
                pass
        except ConnectionError:
            pass
    return True


def frames():
    daemon = Daemon(PROGRAM).start()
    witness = Client(daemon.address)
    assert witness.create_topic("t") == 0
    rng = random.Random(7)
    header = struct.pack(">hhi", 3, 1, 1) + struct.pack(">h", 1) + b"c"
    bad = {
        "negative length": struct.pack(">i", -1),
        "oversized length": struct.pack(">i", 2_000_000_000),
        "unknown API": struct.pack(">i", 8) + struct.pack(">hhi", 9999, 0, 1),
        "unknown version": struct.pack(">i", 11) + struct.pack(">hhi", 3, 99, 1) + header[8:],
        "negative version": struct.pack(">i", 11) + struct.pack(">hhi", 3, -5, 1) + header[8:],
        "truncated header": struct.pack(">i", 3) + b"\0\3\0",
        "empty frame": struct.pack(">i", 0),
        "array length beyond the frame": struct.pack(">i", len(header) + 4) + header + struct.pack(">i", 2_000_000_000),
        "negative array length": struct.pack(">i", len(header) + 4) + header + struct.pack(">i", -7),
        "trailing bytes": struct.pack(">i", len(header) + 14) + header + struct.pack(">i", -1) + b"0123456789",
        "half a frame": struct.pack(">i", 100) + b"x" * 50,
        "HTTP": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    }
    for what, data in bad.items():
        ok(what, closed_by(daemon.address, data))
        ok(what + ": others go on", len(witness.metadata()) > 0)
    for _ in range(500):
        closed_by(daemon.address, rng.randbytes(rng.randrange(1, 400)))
    for _ in range(300):  # a right header and a body of noise, for every API
        body = rng.randbytes(rng.randrange(0, 300))
        frame = struct.pack(">hhi", rng.randrange(0, 95), rng.randrange(0, 14), 1) + struct.pack(">h", 1) + b"c" + body
        closed_by(daemon.address, struct.pack(">i", len(frame)) + frame)
    ok("noise: others go on", len(witness.metadata()) > 0)

    good = batch([b"a"])
    error, _ = witness.produce("t", 0, good)
    ok("a good batch", error == 0, error)
    broken = bytearray(good)
    broken[-2] ^= 1
    ok("a corrupt batch is CORRUPT_MESSAGE", witness.produce("t", 0, bytes(broken))[0] == 2)
    # A bomb: one gzip batch that unpacks to 2 GiB of zeros claims one record.
    import zlib
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = packer.compress(b"\x80\x80\x80\x80\x10") + b"".join(packer.compress(b"\0" * (1 << 20)) for _ in range(512)) + packer.flush()
    before = daemon.resident_mb()
    tail = struct.pack(">hiqqqhii", 1, 0, 0, 0, -1, -1, -1, 1) + packed
    bomb = struct.pack(">qiibI", 0, len(tail) + 9, -1, 2, crc32c(tail)) + tail
    error, _ = witness.produce("t", 0, bomb)
    ok("a decompression bomb is refused", error != 0, error)
    ok("a bomb costs no memory", daemon.resident_mb() - before < 60, daemon.resident_mb() - before)
    ok("nothing of them was appended", len(witness.everything("t")[0]) == 1)

    idle = [socket.create_connection(tuple(daemon.address.rsplit(":", 1))) for _ in range(200)]
    ok("200 silent connections", len(witness.metadata()) > 0)
    for s in idle:
        s.close()
    # A client that asks for much and never reads.
    big = batch([b"x" * 900_000])
    for _ in range(40):
        ok("fill", witness.produce("t", 0, big)[0] == 0)
    deaf = Client(daemon.address)
    for _ in range(50):
        body = struct.pack(">iiiib", -1, 0, 1, 50_000_000, 0) + struct.pack(">i", 1) + struct.pack(">h", 1) + b"t" + struct.pack(">iiqi", 1, 0, 0, 50_000_000)
        deaf.send(1, 4, body)
    ok("a client that never reads slows only itself", len(witness.metadata()) > 0 and witness.produce("t", 0, good)[0] == 0)
    deaf.close()
    ok("descriptors come back", daemon.descriptors() < 60, daemon.descriptors())
    ok("clean stop", daemon.stop() == 0)


def crowd():
    """Very many connections, silent ones and ones that stop in the middle of a frame, beside one that works."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    many = min(10_000, hard - 200)
    daemon = Daemon(PROGRAM).start()
    where = tuple(daemon.address.rsplit(":", 1))
    witness = Client(daemon.address)
    assert witness.create_topic("t") == 0
    one = batch([b"a"])

    def work(rounds=200):
        begin = time.monotonic()
        for _ in range(rounds):
            if witness.produce("t", 0, one)[0] != 0:
                return float("inf")
        return time.monotonic() - begin

    work()
    alone, resident = min(work() for _ in range(3)), daemon.resident_mb()
    half = struct.pack(">i", 1000) + b"\0\x12\0\0"
    others = []
    for i in range(many):
        s = socket.create_connection(where, timeout=10)
        if i % 2:
            s.sendall(half)
        others.append(s)
    ok(f"{many} connections: one more is served", len(Client(daemon.address).metadata()) > 0)
    beside = min(work() for _ in range(3))
    # Generous, for busy machines: a broker that walked its connections for each request would be slower by hundreds.
    ok(f"{many} idle connections do not slow another", beside < 5 * alone + 0.5, f"{alone:.3f} s alone, {beside:.3f} s beside them")
    each_kb = (daemon.resident_mb() - resident) * 1024 / many
    ok("an idle connection is cheap", each_kb < 24, f"{each_kb:.1f} KiB each")
    for s in others:
        s.close()
    for _ in range(200):
        if daemon.descriptors() < 100:
            break
        witness.metadata()
    ok("descriptors come back", daemon.descriptors() < 100, daemon.descriptors())
    print(f"bad_input: {many} connections: {alone * 5:.2f} ms a request alone, {beside * 5:.2f} beside them, {each_kb:.1f} KiB each")
    witness.close()
    ok("clean stop", daemon.stop() == 0)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def run(*arguments, **options):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=20, **options)
    return done.returncode, done.stderr


def starts():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = taken.getsockname()[1]
        code, said = run("--port", str(port), "--memory")
        ok("port taken: exit code", code == 3, code)
        ok("port taken: says who and what is free", f"port {port} is taken by" in said and "is free" in said, said)
    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(PROGRAM, folder=folder).start()
        code, said = run("--port", "0", "--dir", folder)
        ok("folder locked: exit code", code == 4, (code, said))
        ok("folder locked: says what to do", "another" in said, said)
        ok("clean stop", daemon.stop() == 0)
        meta = os.path.join(folder, "node-1", "meta.properties")
        text = open(meta, encoding="utf-8").read()
        with open(meta, "w", encoding="utf-8") as f:
            f.write(text.replace("version=1", "version=9"))
        code, said = run("--port", "0", "--dir", folder)
        ok("newer version: exit code", code == 6, (code, said))
        ok("newer version: nothing touched", "version=9" in open(meta, encoding="utf-8").read())
    file = tempfile.NamedTemporaryFile()
    code, said = run("--port", "0", "--dir", file.name + "/below-a-file")
    ok("folder cannot be made: a message and a code", code not in (0, -6, -11) and file.name in said, (code, said))
    for arguments in (["--port", "99999"], ["--config", "x"], ["--memory", "--dir", "/tmp/x"], ["--nodes", "0"], ["--listen", "nowhere"]):
        code, said = run(*arguments)
        ok(f"{arguments}: refused with a sentence", code not in (0, -6, -11) and len(said) > 20, (code, said))


frames()
crowd()
starts()
print(f"{passed} passed, 0 failed")
