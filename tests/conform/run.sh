#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Asks highwaterd what the conformance kit asks and compares with the answers of Apache Kafka 4.4.0.
#   tests/conform/run.sh [REGEX]     (through ./dev conform)
# probes.txt lists the probes that must be equal; the list only grows. allowed.txt holds deliberate differences, each
# with its reason. apis.txt names the APIs that are built, for the probe of ApiVersions.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=${HIGHWATER_BIN:?}
kit=${HIGHWATER_SHARED:?}/conformance
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || { kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; }; rm -rf "$work"' EXIT

only=${1:-}
if [ -z "$only" ]; then
  # The probe of ApiVersions runs as well; apis.py judges it.
  only="^($(grep -v '^#' "$here/probes.txt" | awk 'NF { print $1 }' | paste -sd'|'))\$"
fi
grep -v '^#\|^brokers\|^controllers\|^combined' "$kit/single.properties" | sed -n 's/^prop\.//p' >"$work/server.properties"
mkfifo "$work/ready"
"$bin/highwaterd" --port 0 --memory --properties "$work/server.properties" >"$work/ready" 2>"$work/log" &
pid=$!
read -r line <"$work/ready" || { echo "conform: highwaterd did not start:"; cat "$work/log"; exit 1; }
address=$(echo "$line" | awk '{ print $2 }')
echo "conform: highwaterd at $address"
ask=$only
[ -n "${1:-}" ] || ask="${only%)\$}|apiversions_of_the_broker_listener)\$"
"$kit/probes.py" "$address" "$ask" >"$work/seen.tsv"
status=0
"$kit/compare.py" "$kit/golden-single.tsv" "$work/seen.tsv" --only "$only" --allow "$here/allowed.txt" || status=$?
if [ -z "${1:-}" ]; then
  python3 "$here/apis.py" "$kit/golden-single.tsv" "$work/seen.tsv" || status=1
  "$here/cluster.sh" || status=1
  "$here/quorum.sh" || status=1
elif [ "$1" = quorum_lost ]; then
  "$here/quorum.sh" || status=1
elif cut -f1 "$here/quorum-lost.tsv" | grep -qE -- "$1"; then
  "$here/quorum.sh" "$1" || status=1
elif cut -f1 "$kit/golden-cluster.tsv" | grep -qE -- "$1"; then
  "$here/cluster.sh" "$1" || status=1
fi
kill -0 "$pid" 2>/dev/null || { echo "conform: highwaterd died:"; tail -n 30 "$work/log"; status=1; }
exit $status
