# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# Our consumer in one group with librdkafka's and Java's: they agree on who has what, whoever leads.
await() { # await SECONDS COMMAND…
  local end=$((SECONDS + $1))
  shift
  until "$@"; do [ $SECONDS -lt $end ] || return 1; sleep .2; done
}
holds() { [ "$(grep '^has ' "$1" 2>/dev/null | tail -n 1)" = "has $2" ]; }   # a member's log says it has so many
reads() { [ "$(cat "$@" | grep -c '^m-')" -ge 600 ]; }                        # and all logs together so many records

# Nobody inherits the writing ends of the pipes (8, 9), or they would never be closed.
# with_ours NAME ASSIGNOR OTHER…: OTHER is a command that talks like interop_member on its standard input and output.
with_ours() {
  local name=$1 assignor=$2 topic=mixed-$1-$2 group=group-$1-$2 other
  shift 2
  "$bin/hw" topics create "$topic" --partitions 6 --bootstrap "$address" >/dev/null
  local ours=$work/$topic.ours theirs=$work/$topic.theirs
  mkfifo "$ours.in" "$theirs.in"
  "$@" "$address" "$group" "$topic" "$assignor" <"$theirs.in" >"$theirs" 2>"$theirs.err" 8>&- 9>&- &
  other=$!
  exec 8>"$theirs.in"
  await 90 holds "$theirs" 6 || { bad "mixed: $name alone has all ($assignor): $(tail -n 2 "$theirs" "$theirs.err")"; exec 8>&-; return; }
  "$bin/interop_member" "$address" "$group" "$topic" "$assignor" <"$ours.in" >"$ours" 2>"$ours.err" 8>&- 9>&- &
  local member=$!
  exec 9>"$ours.in"
  if await 60 holds "$ours" 3 && await 60 holds "$theirs" 3; then ok "mixed: $name leads, each has three ($assignor)"; else
    bad "mixed: each has three ($assignor): ours $(tail -n 1 "$ours"), $name $(tail -n 1 "$theirs")"; fi
  seq -f m-%g 1 600 | "$bin/hw" produce "$topic" --bootstrap "$address" --quiet
  await 60 reads "$ours" "$theirs" || true
  check "mixed: every record once, by ours and $name ($assignor)" "$(seq -f m-%g 1 600 | sort | md5sum)" \
    "$(grep -h '^m-' "$ours" "$theirs" | sort | md5sum)"
  exec 8>&-  # they leave; ours leads
  wait "$other" 2>/dev/null || true
  if await 60 holds "$ours" 6; then ok "mixed: ours gets what $name had ($assignor)"; else bad "mixed: ours gets the rest: $(tail -n 1 "$ours")"; fi
  "$@" "$address" "$group" "$topic" "$assignor" <"$theirs.in" >"$theirs.2" 2>"$theirs.err" 8>&- 9>&- &
  other=$!
  exec 8>"$theirs.in"
  if await 60 holds "$theirs.2" 3 && await 60 holds "$ours" 3; then ok "mixed: ours leads, each has three ($assignor)"; else
    bad "mixed: ours leads ($assignor): ours $(tail -n 1 "$ours"), $name $(tail -n 1 "$theirs.2")"; fi
  exec 8>&- 9>&-
  wait "$other" "$member" 2>/dev/null || true
}

tier_mixed() {
  start
  local assignor any=
  if [ -x "$cache/venv/bin/python" ] && "$cache/venv/bin/python" -c 'import confluent_kafka' 2>/dev/null; then
    any=1
    for assignor in range roundrobin cooperative-sticky; do
      with_ours librdkafka "$assignor" "$cache/venv/bin/python" "$here/mixed.py"
    done
  fi
  if command -v java >/dev/null && [ -d "$cache/lib" ]; then
    any=1
    for assignor in range sticky cooperative-sticky; do
      with_ours java "$assignor" java -Xmx128m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$cache/lib/*" "$here/Mixed.java"
    done
  fi
  [ -n "$any" ] || skip "the python or java tier, run before it" mixed
}
