#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The probes of the conformance kit that start and stop nodes and wait for time to pass, against the answers of Apache Kafka
# 4.4.0.
#   tests/conform/cluster.sh [REGEX]
# cluster-probes.txt lists the probes that must be equal; the list only grows. allowed-cluster.txt holds those that differ, each
# with its reason.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kit=${HIGHWATER_SHARED:?}/conformance
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
only=${1:-}
if [ -z "$only" ]; then
  only="^($(grep -hv '^#' "$here/cluster-probes.txt" "$here/allowed-cluster.txt" | awk 'NF { print $1 }' | sort -u | paste -sd'|'))\$"
fi
LAUNCHER=$here/launcher.py TMPDIR=$work "$kit/cluster_probes.py" "$only" >"$work/seen.tsv"
"$kit/compare.py" "$kit/golden-cluster.tsv" "$work/seen.tsv" --only "$only" --allow "$here/allowed-cluster.txt"
