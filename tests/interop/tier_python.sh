# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
tier_python() {
  command -v python3 >/dev/null || { skip python3 python; return; }
  if [ ! -x "$cache/venv/bin/python" ] || ! "$cache/venv/bin/python" -c 'import confluent_kafka' 2>/dev/null; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv" 2>"$work/venv.log" && "$cache/venv/bin/pip" install -q 'confluent-kafka==2.16.0' 2>>"$work/venv.log" ||
      { skip "Python's confluent-kafka 2.16 ($(tail -n 1 "$work/venv.log"))" python; return; }
  fi
  start
  "$cache/venv/bin/python" "$here/clients.py" produce "$address" "$work/acked" && ok "python: 10,000 records of each kind acknowledged" || bad "python produce"
  "$cache/venv/bin/python" "$here/clients.py" consume "$address" "$work/acked" "$work/first" 4000 && ok "python: a group of two reads the first part" || bad "python consume, first part"
  stop
  start
  "$cache/venv/bin/python" "$here/clients.py" resume "$address" "$work/acked" "$work/first" && ok "python: after a restart the group goes on; every record exactly once" || bad "python resume"
  "$cache/venv/bin/python" "$here/clients.py" consumer "$address" "$work/acked" && ok "python: a group of two with the consumer protocol; every record exactly once" || bad "python consumer protocol"
  "$cache/venv/bin/python" "$here/clients.py" transactions "$address" && ok "python: read, process, write in transactions; every record exactly once, a zombie fenced" || bad "python transactions"
  "$cache/venv/bin/python" "$here/clients.py" admin "$address" && ok "python: admin" || bad "python admin"
}
