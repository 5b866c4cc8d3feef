#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target for some seconds, and the canary, which must crash.   run.sh BUILD-FOLDER SECONDS
set -euo pipefail
build=$1 seconds=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$build/tests/fuzz
for target in fuzz_record_batch fuzz_request_decoder; do
  corpus=("$work/$target.found" "$work/$target.seeds")
  [ ! -d "$here/corpus/$target" ] || corpus+=("$here/corpus/$target")
  mkdir -p "$work/$target.found" "$work/$target.seeds"
  echo "== $target, $seconds s"
  "$build/bin/$target" -max_total_time="$seconds" -max_len=65536 -timeout=20 -rss_limit_mb=2048 \
    -artifact_prefix="$work/$target-" -print_final_stats=1 "${corpus[@]}" 2>"$work/$target.log" || { tail -n 40 "$work/$target.log"; exit 1; }
  grep -E 'stat::number_of_executed_units|cov:' "$work/$target.log" | tail -n 2
done
echo "== fuzz_canary, which must crash"
mkdir -p "$work/canary"
if "$build/bin/fuzz_canary" -max_total_time=30 -artifact_prefix="$work/canary/" >/dev/null 2>&1; then
  echo "the canary did not crash: the fuzzers find nothing"
  exit 1
fi
echo "fuzz: all targets clean, the canary was found"
