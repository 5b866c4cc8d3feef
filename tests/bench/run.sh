#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Speed and memory of the release binaries; beside Apache Kafka and kfake where ../shared/peers is at hand.
#   tests/bench/run.sh [start|idle|produce|consume|e2e|groups|window|group-stable]…     (through ./dev bench)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
exec python3 "$here/bench.py" "$@"
