#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every API that ApiVersions offers must be offered in exactly the range of Apache Kafka 4.4.0.

usage: apis.py GOLDEN.tsv SEEN.tsv     Prints the keys offered and those not built yet. Exit 0 where all ranges agree.
"""
import json
import sys


def apis(path):
    for line in open(path, encoding="utf-8"):
        name, _, value = line.rstrip("\n").partition("\t")
        if name == "apiversions_of_the_broker_listener":
            return json.loads(value)["apis"]
    return None


golden, seen = apis(sys.argv[1]), apis(sys.argv[2])
if seen is None:
    sys.exit("apis: the probe apiversions_of_the_broker_listener did not run")
wrong = {k: (golden.get(k), v) for k, v in seen.items() if golden.get(k) != v}
for key, (kafka, here) in sorted(wrong.items(), key=lambda x: int(x[0])):
    print(f"apis: key {key}  kafka: {kafka}  here: {here}")
print(f"apis: {len(seen)} of {len(golden)} offered: {' '.join(sorted(seen, key=int))}")
sys.exit(1 if wrong else 0)
