#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs highwaterd as a cluster for programs that know the launcher contract of the conformance kit.

  launcher.py start DIR            read DIR/cluster.properties, start every node, write DIR/bootstrap and DIR/controllers
  launcher.py stop DIR             end every node
  launcher.py stop-broker DIR ID   clean stop; returns when the process is gone
  launcher.py kill-broker DIR ID   SIGKILL; returns when it is gone
  launcher.py pause-broker DIR ID | resume-broker DIR ID      SIGSTOP, SIGCONT
  launcher.py start-broker DIR ID  the same data and port again; returns when the node serves

The daemon is HIGHWATER_BIN/highwaterd, one process a node. One broker and one controller are always one combined node. disks=N
gives a node so many log directories. prop.KEY lines and node.ID.KEY lines become configurations. feature.group.version=0 takes
that feature back once the nodes serve: highwaterd formats with its own levels. control=true opens each node's control
port; DIR/control.ID says where.
"""
import base64
import os
import random
import signal
import socket
import subprocess
import sys
import time
import uuid


def properties(path):
    out = {}
    for line in open(path, encoding="latin1"):
        line = line.strip()
        if line and line[0] not in "#!" and "=" in line:
            key, value = line.split("=", 1)
            out[key.strip().replace("\\", "")] = value.strip()
    return out


GIVEN = set()  # by this call, to nodes that do not listen yet


def free_port():
    """A free port below those that the system gives to outgoing connections: it must be free again at every start."""
    while True:
        port = random.randrange(20_000, 30_000)
        if port in GIVEN:
            continue
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                GIVEN.add(port)
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
    """Starts a node; returns what to wait on for its ready line."""
    read, write = os.pipe()
    extra = open(f"{folder}/{node}.arguments", encoding="ascii").read().split("\n")
    with open(f"{folder}/log.{node}", "ab") as log:
        process = subprocess.Popen(
            [os.path.join(os.environ["HIGHWATER_BIN"], "highwaterd"), "--properties", f"{folder}/{node}.properties",
             "--ready-fd", str(write), *[a for a in extra if a]],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[write], start_new_session=True)
    os.close(write)
    with open(f"{folder}/pid.{node}", "w", encoding="ascii") as f:
        f.write(str(process.pid))
    return read


def wait_ready(folder, node, read):
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


def directory_id():
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


def without_feature(name, port):
    sys.path.insert(0, os.path.join(os.environ["HIGHWATER_SHARED"], "conformance"))
    import kwire  # of the kit
    updates = [{"Feature": name, "MaxVersionLevel": 0, "UpgradeType": 2}]
    answer = kwire.Conn(port=port).call("UpdateFeaturesRequest", 2, {"timeoutMs": 30000, "FeatureUpdates": updates})
    if answer["ErrorCode"] != 0:
        sys.exit(f"launcher: {name} is not taken back: {answer}")


def start(folder):
    given = properties(f"{folder}/cluster.properties")
    brokers, controllers = int(given.get("brokers", 1)), int(given.get("controllers", 1))
    combined = given.get("combined", "true") == "true" or (brokers == 1 and controllers == 1)
    if given.get("protocol", "PLAINTEXT") != "PLAINTEXT":
        sys.exit("launcher: only PLAINTEXT so far")
    broker_ids = [str(i) for i in range(brokers)]
    controller_ids = [str(i if combined else 3000 + i) for i in range(controllers)]
    nodes = broker_ids + [c for c in controller_ids if c not in broker_ids]
    client = {n: free_port() for n in broker_ids}
    control = {n: free_port() for n in controller_ids}
    alone = len(nodes) == 1
    cluster_id = directory_id()
    voters = ",".join(f"{c}@127.0.0.1:{control[c]}:{directory_id()}" for c in controller_ids)
    disks = int(given.get("disks", 1))
    for n in nodes:
        data = f"{folder}/data" if alone else f"{folder}/data.{n}"
        dirs = data if disks == 1 else ",".join(f"{data}{k}" for k in range(disks))
        roles = [r for r, has in (("broker", n in client), ("controller", n in control)) if has]
        listeners = [f"PLAINTEXT://127.0.0.1:{client[n]}"] if n in client else []
        with open(f"{folder}/{n}.properties", "w", encoding="latin1") as f:
            f.write(f"node.id={n}\nprocess.roles={','.join(roles)}\n"
                    f"listeners={','.join(listeners + ([f'CONTROLLER://127.0.0.1:{control[n]}'] if n in control else []))}\n"
                    f"log.dirs={dirs}\n")
            if listeners:
                f.write(f"advertised.listeners={listeners[0]}\n")
            for key, value in given.items():
                if key.startswith("prop."):
                    f.write(f"{key[5:]}={value}\n")
            for key, value in given.items():
                if key.startswith(f"node.{n}."):
                    f.write(f"{key[len(f'node.{n}.'):]}={value}\n")
        arguments = "" if alone else f"--cluster-id\n{cluster_id}\n--initial-controllers\n{voters}\n"
        if given.get("control") == "true":
            with open(f"{folder}/control.{n}", "w", encoding="ascii") as f:
                f.write(f"127.0.0.1:{free_port()}")
            arguments += "--control\n" + open(f"{folder}/control.{n}", encoding="ascii").read() + "\n"
        with open(f"{folder}/{n}.arguments", "w", encoding="ascii") as f:
            f.write(arguments)
    for n, ready in [(n, launch(folder, n)) for n in nodes]:
        wait_ready(folder, n, ready)
    if given.get("feature.group.version") == "0":
        without_feature("group.version", client[broker_ids[0]])
    for name, of in (("bootstrap", [client[n] for n in broker_ids]), ("controllers", [control[n] for n in controller_ids])):
        with open(f"{folder}/{name}", "w", encoding="ascii") as f:
            f.write(",".join(f"127.0.0.1:{port}" for port in of))
    with open(f"{folder}/nodes", "w", encoding="ascii") as f:
        f.write(" ".join(nodes))


def main():
    action, folder = sys.argv[1], sys.argv[2]
    node = sys.argv[3] if len(sys.argv) > 3 else "0"
    if action == "start":
        start(folder)
    elif action == "stop":
        nodes = open(f"{folder}/nodes", encoding="ascii").read().split() if os.path.exists(f"{folder}/nodes") else ["0"]
        for other in nodes:
            if pid_of(folder, other) and running(pid_of(folder, other)):
                os.kill(pid_of(folder, other), signal.SIGCONT)
        # Nobody has to hand over to nodes that end as well.
        for other in nodes:
            end(folder, other, signal.SIGTERM if len(nodes) == 1 else signal.SIGKILL)
    elif action == "stop-broker":
        end(folder, node, signal.SIGTERM)
    elif action == "kill-broker":
        end(folder, node, signal.SIGKILL)
    elif action == "pause-broker":
        os.kill(pid_of(folder, node), signal.SIGSTOP)
    elif action == "resume-broker":
        os.kill(pid_of(folder, node), signal.SIGCONT)
    elif action == "start-broker":
        ready = launch(folder, node)
        if not os.path.exists(f"{folder}/nodes") or open(f"{folder}/nodes", encoding="ascii").read() == node:
            wait_ready(folder, node, ready)
    else:
        sys.exit(__doc__)


main()
