#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs highwaterd as a cluster for programs that know the launcher contract of the conformance kit.

  launcher.py start DIR            read DIR/cluster.properties, start every node, write DIR/bootstrap and DIR/controllers
  launcher.py stop DIR             end every node
  launcher.py stop-broker DIR ID   clean stop; returns when the process is gone
  launcher.py kill-broker DIR ID   SIGKILL; returns when it is gone
  launcher.py pause-broker DIR ID | resume-broker DIR ID      SIGSTOP, SIGCONT
  launcher.py start-broker DIR ID  the same data and port again; returns when the node serves

The daemon is HIGHWATER_BIN/highwaterd. This version runs one node that is broker and controller, also where one broker and
one controller beside it are asked for; more brokers or controllers end with an error that says so. disks=N gives
the node so many log directories. prop.KEY lines and node.ID.KEY lines become configurations.
"""
import os
import random
import signal
import socket
import subprocess
import sys
import time


def properties(path):
    out = {}
    for line in open(path, encoding="latin1"):
        line = line.strip()
        if line and line[0] not in "#!" and "=" in line:
            key, value = line.split("=", 1)
            out[key.strip().replace("\\", "")] = value.strip()
    return out


def free_port():
    """A free port below those that the system gives to outgoing connections: it must be free again at every start."""
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def pid_of(folder, node):
    try:
        return int(open(f"{folder}/pid.{node}", encoding="ascii").read())
    except (OSError, ValueError):
        return None


def running(pid):
    try:
        return open(f"/proc/{pid}/stat", encoding="latin1").read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def launch(folder, node):
    read, write = os.pipe()
    with open(f"{folder}/log.{node}", "ab") as log:
        process = subprocess.Popen(
            [os.path.join(os.environ["HIGHWATER_BIN"], "highwaterd"), "--properties", f"{folder}/{node}.properties",
             "--ready-fd", str(write)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[write], start_new_session=True)
    os.close(write)
    with open(f"{folder}/pid.{node}", "w", encoding="ascii") as f:
        f.write(str(process.pid))
    with os.fdopen(read) as ready:
        if not ready.readline().startswith("ready"):
            sys.exit(f"launcher: node {node} did not start: " + open(f"{folder}/log.{node}", encoding="utf-8").read()[-500:])


def end(folder, node, how):
    pid = pid_of(folder, node)
    if pid is None or not running(pid):
        return
    os.kill(pid, how)
    limit = time.time() + 30
    while running(pid):
        if time.time() > limit:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)


def start(folder):
    given = properties(f"{folder}/cluster.properties")
    if int(given.get("brokers", 1)) != 1 or int(given.get("controllers", 1)) != 1:
        sys.exit("launcher: this version runs one node that is broker and controller; several come with replication")
    if given.get("protocol", "PLAINTEXT") != "PLAINTEXT":
        sys.exit("launcher: only PLAINTEXT so far")
    port = free_port()
    disks = int(given.get("disks", 1))
    dirs = f"{folder}/data" if disks == 1 else ",".join(f"{folder}/data{k}" for k in range(disks))
    with open(f"{folder}/0.properties", "w", encoding="latin1") as f:
        f.write(f"node.id=0\nlisteners=PLAINTEXT://127.0.0.1:{port}\nadvertised.listeners=PLAINTEXT://127.0.0.1:{port}\n"
                f"log.dirs={dirs}\n")
        for key, value in given.items():
            if key.startswith("prop."):
                f.write(f"{key[5:]}={value}\n")
            elif key.startswith("node.0."):
                f.write(f"{key[7:]}={value}\n")
    launch(folder, 0)
    for name in ("bootstrap", "controllers"):
        with open(f"{folder}/{name}", "w", encoding="ascii") as f:
            f.write(f"127.0.0.1:{port}")


def main():
    action, folder = sys.argv[1], sys.argv[2]
    node = sys.argv[3] if len(sys.argv) > 3 else "0"
    if action == "start":
        start(folder)
    elif action == "stop":
        end(folder, "0", signal.SIGTERM)
    elif action == "stop-broker":
        end(folder, node, signal.SIGTERM)
    elif action == "kill-broker":
        end(folder, node, signal.SIGKILL)
    elif action == "pause-broker":
        os.kill(pid_of(folder, node), signal.SIGSTOP)
    elif action == "resume-broker":
        os.kill(pid_of(folder, node), signal.SIGCONT)
    elif action == "start-broker":
        launch(folder, node)
    else:
        sys.exit(__doc__)


main()
