#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Kafka's own JUnit test classes against highwaterd and compares with what is known.

  suite.py [CLASS | CLASS#METHOD]...      (through ./dev conform --suite)

suite-classes.txt names the classes. suite-allowed.txt names every method that does not pass, with how many of its
invocations fail, and why. Neither a failure that is not listed nor a line that is not true any more is accepted.
HIGHWATER_BIN: where highwaterd is; HIGHWATER_SHARED: the folder with the conformance kit; SUITE_HOME: Kafka's jars.
"""
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_SECONDS = 900  # for one class


def lines(name):
    for line in open(os.path.join(HERE, name), encoding="utf-8"):
        line = line.strip()
        if line and not line.startswith("#"):
            yield line


def allowed():
    """(class, method) -> how many invocations fail: at least, at most. They differ where the outcome is a race."""
    known = {}
    for line in lines("suite-allowed.txt"):
        match = re.fullmatch(r"(\S+) (\S+) (\d+)(?:-(\d+))? (\S.*)", line)
        if not match:
            sys.exit(f"suite: a line of suite-allowed.txt is not CLASS METHOD FAILED REASON: {line}")
        known[match[1], match[2]] = (int(match[3]), int(match[4] or match[3]))
    return known


def method_of(name):
    """'testX [1] external combined' and 'testX()' and 'testX(ClusterInstance)[2]' are invocations of testX."""
    return re.match(r"\w+", name)[0]


def run(what, kit, environment):
    """Method -> [invocations, failed, [first lines of failures]]; None where the class did not come to its end."""
    reports = tempfile.mkdtemp(prefix="suite-reports-")
    try:
        subprocess.run([f"{kit}/suite/run.sh", what], env=dict(environment, REPORTS=reports, DETAILS="summary"),
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, check=False)
        seen = collections.defaultdict(lambda: [0, 0, []])
        for report in glob.glob(f"{reports}/TEST-*.xml"):
            for case in xml.parse(report).getroot().iter("testcase"):
                entry = seen[method_of(case.get("name"))]
                entry[0] += 1
                bad = [child for child in case if child.tag in ("failure", "error")]
                if bad:
                    entry[1] += 1
                    text = (bad[0].get("message") or bad[0].text or "").strip().splitlines()
                    entry[2].append(f"{bad[0].get('type', '')}: {text[0] if text else ''}"[:300])
        return seen
    except subprocess.TimeoutExpired:
        return None
    finally:
        shutil.rmtree(reports, ignore_errors=True)


def main():
    kit = os.path.join(os.environ["HIGHWATER_SHARED"], "conformance")
    environment = dict(os.environ, LAUNCHER=os.path.join(HERE, "launcher.py"))
    known = allowed()
    wanted = sys.argv[1:] or list(lines("suite-classes.txt"))
    problems = 0
    passed = expected = 0
    for what in wanted:
        name = what.split("#")[0]
        seen = run(what, kit, environment)
        if not seen:
            print(f"suite: {what}: " + ("no result within the time limit" if seen is None else "no test ran"))
            problems += 1
            continue
        for method, (count, failed, texts) in sorted(seen.items()):
            least, most = known.get((name, method), (0, 0))
            if least <= failed <= most:
                passed += count - failed
                expected += failed
                continue
            problems += 1
            print(f"suite: {name} {method}: {failed} of {count} fail, {least} to {most} listed in suite-allowed.txt")
            for text in texts[:4]:
                print(f"         {text}")
        if what == name:
            for owner, method in known:
                if owner == name and method not in seen:
                    problems += 1
                    print(f"suite: {name} {method} is listed in suite-allowed.txt but there is no such test")
        print(f"suite: {what}: {sum(e[0] - e[1] for e in seen.values())} passed, {sum(e[1] for e in seen.values())} failed",
              flush=True)
    if len(sys.argv) == 1:
        for owner in sorted({owner for owner, _ in known} - set(wanted)):
            problems += 1
            print(f"suite: {owner} is listed in suite-allowed.txt but not in suite-classes.txt")
    print(f"suite: {passed} passed, {expected} fail as listed, {problems} difference(s)")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
