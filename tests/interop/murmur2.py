#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks lines `Partition:P TAB headers TAB key TAB value` of the console consumer against Kafka's partitioner.

usage: murmur2.py PARTITIONS <lines     Prints the first lines that disagree; nothing where all keys agree.
"""
import sys


def murmur2(data):
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    h = 0x9747B28C ^ len(data)
    whole = len(data) & ~3
    for i in range(0, whole, 4):
        k = int.from_bytes(data[i:i + 4], "little") * m & mask
        h = (h * m & mask) ^ ((k ^ k >> 24) * m & mask)
    if len(data) > whole:
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return h ^ h >> 15


partitions, wrong = int(sys.argv[1]), 0
for line in sys.stdin:
    fields = line.rstrip("\n").split("\t")
    if len(fields) == 4 and fields[2] != "NULL" and wrong < 5:
        if (murmur2(fields[2].encode()) & 0x7FFFFFFF) % partitions != int(fields[0].split(":")[1]):
            wrong += 1
            print(line.strip())
