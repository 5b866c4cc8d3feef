#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Untouched clients against highwaterd.   tests/interop/run.sh [TIER]…   (through ./dev interop)
#   kcat python java java-clients tools tools-cluster kafka-python aiokafka kafkajs confluent-javascript go rdkafka mixed
# A tier whose tools are missing says `skipped, needs X`; it fails instead where HIGHWATER_MUST_RUN names it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=${HIGHWATER_BIN:?}
must=${HIGHWATER_MUST_RUN:-}
cache=${HIGHWATER_INTEROP_CACHE:-$here/../../build/interop}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
work=$(mktemp -d)
pid= address=
passed=0 failed=0 skipped=0

# start [DIR]: highwaterd on disk (the same folder and port again after a stop), sets $address.
port=0
start() {
  rm -f "$work/ready"
  mkfifo "$work/ready"
  "$bin/highwaterd" --log-level info --port "$port" --dir "$work/data" --config group.initial.rebalance.delay.ms=0 \
    --config offsets.topic.num.partitions=4 >"$work/ready" 2>>"$work/log" &
  pid=$!
  read -r line <"$work/ready" || { echo "interop: highwaterd did not start:"; cat "$work/log"; exit 1; }
  address=$(echo "$line" | awk '{ print $2 }')
  port=${address##*:}
}
stop() {
  [ -n "$pid" ] || return 0
  kill "-${1:-TERM}" "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  pid=
}
trap 'stop; rm -rf "$work"' EXIT

ok() { passed=$((passed + 1)); echo "ok      $*"; }
bad() { failed=$((failed + 1)); echo "FAILED  $*"; }
check() { # check WHAT EXPECTED SEEN
  if [ "$2" = "$3" ]; then ok "$1"; else bad "$1: expected '$2', got '$3'"; fi
}
skip() { # skip NEEDS TIER
  echo "$2: skipped, needs $1"
  skipped=$((skipped + 1))
  case " $must " in *" $2 "*) bad "$2 must not be skipped here" ;; esac
}
export here cache work bin
# shellcheck source=/dev/null
for tier in kcat python java clients tools cluster mixed; do source "$here/tier_$tier.sh"; done

[ $# -gt 0 ] || set -- kcat python java java-clients tools tools-cluster kafka-python aiokafka kafkajs confluent-javascript go rdkafka mixed
for tier in "$@"; do
  echo "== $tier"
  port=0
  rm -rf "$work/data"
  "tier_$tier"
  stop
done
[ "$failed" = 0 ] || { echo "--- highwaterd:"; tail -n 40 "$work/log"; }
echo "interop: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
