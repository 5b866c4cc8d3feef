#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGKILL under load, many times in a row: every log opens, what was acknowledged is there, nothing is there twice.

usage: kill_rounds.py HIGHWATERD ROUNDS

An idempotent producer sends numbered records with five requests in flight. After each kill it sends again what was not
acknowledged, with the same sequences; the log must hold 0, 1, 2 … without a gap or a repeat.
"""
import random
import struct
import sys
import tempfile
import threading
import time

from kafka import Client, Daemon, batch

PER_BATCH = 20


def load(client, topic, producer, state, stop):
    """Sends batches until `stop`, five in flight; counts what was acknowledged in state['acked'] (batches)."""
    window = []
    sent = state["acked"]
    try:
        while not stop.is_set() or window:
            while len(window) < 5 and not stop.is_set():
                values = [struct.pack(">q", sent * PER_BATCH + i) + b"x" * 100 for i in range(PER_BATCH)]
                client.send(0, 7, client.produce_body(topic, 0, batch(values, producer[0], producer[1], sent * PER_BATCH)))
                window.append(sent)
                sent += 1
            error, _ = client.produce_answer(topic, client.receive())
            if error != 0:
                state["error"] = error
                return
            state["acked"] = window.pop(0) + 1
    except OSError:
        pass  # the kill


def main():
    program, rounds = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    print(f"seed {seed}")
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(program, folder=folder).start()
        client = Client(daemon.address)
        assert client.create_topic("kills") == 0
        error, *producer = client.init_producer_id()
        assert error == 0
        state = {"acked": 0}
        checked = 0  # records that an earlier round has seen; what a kill can reach lies behind them
        for number in range(rounds):
            stop = threading.Event()
            thread = threading.Thread(target=load, args=(client, "kills", producer, state, stop))
            thread.start()
            time.sleep(rng.uniform(0.02, 0.15))
            daemon.kill()
            stop.set()
            thread.join()
            client.close()
            assert "error" not in state, f"round {number}: produce error {state.get('error')}"
            begin = time.time()
            daemon = Daemon(program, folder=folder).start()
            took = time.time() - begin
            client = Client(daemon.address)
            last = number == rounds - 1
            start = 0 if last else max(0, checked - 500)
            seen, high_watermark = client.everything("kills", 0, start)
            numbers = [struct.unpack(">q", value[:8])[0] for _, value in seen]
            assert numbers == list(range(start, start + len(numbers))), f"round {number}: gap or repeat in the log"
            assert [o for o, _ in seen] == numbers, f"round {number}: offsets"
            checked = start + len(numbers)
            assert checked == high_watermark, f"round {number}: {checked} read, high watermark {high_watermark}"
            assert checked >= state["acked"] * PER_BATCH, (
                f"round {number}: {state['acked'] * PER_BATCH} acknowledged, {checked} there")
            if number % 10 == 9:
                print(f"round {number + 1}: {checked} records, reopened in {took * 1000:.0f} ms", flush=True)
        assert daemon.stop() == 0
    print(f"1 passed, 0 failed")


main()
