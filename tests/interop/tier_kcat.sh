# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
tier_kcat() {
  command -v kcat >/dev/null || { skip kcat kcat; return; }
  start
  seq 1 2000 | awk '{ print "key-" $1 "\tvalue-" $1 }' >"$work/lines"
  local codec seen
  for codec in none gzip snappy lz4 zstd; do
    kcat -b "$address" -P -t "kcat-$codec" -z "$codec" -K '\t' -H trace=abc -H empty= -l "$work/lines" >/dev/null 2>"$work/err" ||
      bad "kcat produces with $codec: $(cat "$work/err")"
    seen=$(timeout 30 kcat -b "$address" -C -t "kcat-$codec" -o beginning -e -q -f '%k\t%s\n' | sort | md5sum)
    check "kcat reads back 2,000 keyed records, $codec" "$(sort "$work/lines" | md5sum)" "$seen"
  done
  check "kcat sees headers" "trace=abc,empty=" "$(timeout 30 kcat -b "$address" -C -t kcat-none -o beginning -c 1 -q -f '%h')"
  printf 'a\nb\n' | kcat -b "$address" -P -t kcat-null 2>/dev/null
  check "kcat null keys" "-1 -1" "$(timeout 30 kcat -b "$address" -C -t kcat-null -o beginning -e -q -f '%K\n' | xargs)"
  check "kcat lists topics" 6 "$(kcat -b "$address" -L 2>/dev/null | grep -c 'topic "kcat-')"
  check "kcat by timestamp" 2000 "$(timeout 30 kcat -b "$address" -C -t kcat-zstd -o s@0 -e -q | wc -l)"
}
