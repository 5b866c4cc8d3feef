#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What still works while the controllers have lost their majority (quorum_lost.py), against what Apache Kafka 4.4.0 answers.
#   tests/conform/quorum.sh [REGEX]
# quorum-lost.tsv has those answers; allowed-quorum.txt what differs, each with its reason.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kit=${HIGHWATER_SHARED:?}/conformance
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
LAUNCHER=$here/launcher.py TMPDIR=$work python3 "$here/quorum_lost.py" "${1:-.}" >"$work/seen.tsv" 2>"$work/log" || { tail -n 20 "$work/log"; exit 1; }
"$kit/compare.py" "$here/quorum-lost.tsv" "$work/seen.tsv" --only "${1:-.}" --allow "$here/allowed-quorum.txt"
