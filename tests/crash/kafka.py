# SPDX-License-Identifier: Apache-2.0
"""A few requests of Kafka's protocol with nothing but the standard library, and a daemon to ask."""
import os
import signal
import socket
import struct
import subprocess
import tempfile
import time

TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    TABLE.append(n)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def varint(n):
    n = n << 1 ^ n >> 63
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def read_varint(data, at):
    n = shift = 0
    while True:
        byte = data[at]
        at += 1
        n |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return n >> 1 ^ -(n & 1), at


def batch(values, producer_id=-1, epoch=-1, sequence=-1, timestamp=None):
    """An uncompressed batch of records without keys."""
    timestamp = int(time.time() * 1000) if timestamp is None else timestamp  # old ones let producer ids expire
    records = b""
    for i, value in enumerate(values):
        body = b"\0" + varint(0) + varint(i) + varint(-1) + varint(len(value)) + value + varint(0)
        records += varint(len(body)) + body
    tail = struct.pack(">hiqqqhii", 0, len(values) - 1, timestamp, timestamp, producer_id, epoch, sequence, len(values)) + records
    return struct.pack(">qiibI", 0, len(tail) + 9, -1, 2, crc32c(tail)) + tail


def records_of(data):
    """[(offset, value)] of batches end to end; a partial one at the end is left out."""
    out, at = [], 0
    while at + 61 <= len(data):
        base, length = struct.unpack_from(">qi", data, at)
        if at + 12 + length > len(data):
            break
        crc, = struct.unpack_from(">I", data, at + 17)
        assert crc == crc32c(data[at + 21:at + 12 + length]), "CRC"
        count, = struct.unpack_from(">i", data, at + 57)
        p = at + 61
        for _ in range(count):
            size, p = read_varint(data, p)
            end = p + size
            _, q = read_varint(data, p + 1)
            delta, q = read_varint(data, q)
            key, q = read_varint(data, q)
            q += max(key, 0)
            length_of_value, q = read_varint(data, q)
            out.append((base + delta, data[q:q + length_of_value]))
            p = end
        at += 12 + length
    return out


def text(s):
    return struct.pack(">h", len(s)) + s.encode()


class Client:
    def __init__(self, address, timeout=10):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.correlation = 0

    def close(self):
        self.socket.close()

    def exactly(self, size):
        out = bytearray()
        while len(out) < size:
            piece = self.socket.recv(size - len(out))
            if not piece:
                raise ConnectionError("closed")
            out += piece
        return bytes(out)

    def send(self, key, version, body):
        self.correlation += 1
        frame = struct.pack(">hhi", key, version, self.correlation) + text("crash-test") + body
        self.socket.sendall(struct.pack(">i", len(frame)) + frame)

    def receive(self):
        size, = struct.unpack(">i", self.exactly(4))
        return self.exactly(size)[4:]

    def ask(self, key, version, body):
        self.send(key, version, body)
        return self.receive()

    # Versions before the flexible ones, so that everything has a fixed form.
    def create_topic(self, name, partitions=1):
        body = struct.pack(">i", 1) + text(name) + struct.pack(">ihii", partitions, 1, 0, 0) + struct.pack(">ib", 10_000, 0)
        answer = self.ask(19, 4, body)
        return struct.unpack_from(">h", answer, 8 + 2 + len(name))[0]

    def produce_body(self, topic, partition, data, acks=-1):
        return (struct.pack(">hhi", -1, acks, 10_000) + struct.pack(">i", 1) + text(topic) + struct.pack(">ii", 1, partition) +
                struct.pack(">i", len(data)) + data)

    @staticmethod
    def produce_answer(topic, answer):
        return struct.unpack_from(">hq", answer, 4 + 2 + len(topic) + 4 + 4)  # error, base offset

    def produce(self, topic, partition, data, acks=-1):
        return self.produce_answer(topic, self.ask(0, 7, self.produce_body(topic, partition, data, acks)))

    def init_producer_id(self):
        answer = self.ask(22, 1, struct.pack(">hi", -1, 60_000))
        return struct.unpack_from(">hqh", answer, 4)  # error, id, epoch

    def fetch(self, topic, partition, offset, wait_ms=0, max_bytes=50_000_000):
        body = (struct.pack(">iiiib", -1, wait_ms, 1, max_bytes, 0) + struct.pack(">i", 1) + text(topic) +
                struct.pack(">i", 1) + struct.pack(">iqi", partition, offset, max_bytes))
        answer = self.ask(1, 4, body)
        at = 4 + 4 + 2 + len(topic) + 4
        _, error, high_watermark, _, aborted = struct.unpack_from(">ihqqi", answer, at)
        at += 26 + max(aborted, 0) * 16
        size, = struct.unpack_from(">i", answer, at)
        return error, high_watermark, answer[at + 4:at + 4 + max(size, 0)]

    def everything(self, topic, partition=0, offset=0):
        out = []
        while True:
            error, high_watermark, data = self.fetch(topic, partition, offset)
            assert error == 0, f"fetch error {error}"
            got = [r for r in records_of(data) if r[0] >= offset]
            out += got
            if not got or got[-1][0] + 1 >= high_watermark:
                return out, high_watermark
            offset = got[-1][0] + 1

    def metadata(self):
        return self.ask(3, 1, struct.pack(">i", -1))


class Daemon:
    def __init__(self, program, *arguments, folder=None):
        self.program, self.arguments = program, arguments
        self.folder = folder
        self.log = tempfile.TemporaryFile()

    def start(self):
        where = ["--dir", self.folder] if self.folder else ["--memory"]
        self.process = subprocess.Popen([self.program, "--port", "0", *where, *self.arguments], stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            self.process.wait()
            raise RuntimeError(f"the daemon did not start: {self.said()}")
        self.address = line.split()[1]
        return self

    def said(self):
        self.log.seek(0)
        return self.log.read().decode()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.terminate()
        return self.process.wait(20)

    def resident_mb(self):
        for line in open(f"/proc/{self.process.pid}/status", encoding="ascii"):
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))
