# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# The second tier: clients of other languages. Each program of clients/ takes two steps, `first` and `second` (README.md).

# two_steps NAME COMMAND…: the first step, a restart of the broker on the same folder and port, the second step.
two_steps() {
  local name=$1 topic="t-$1"
  shift
  start
  if timeout 180 "$@" first "$address" "$topic" >"$work/out" 2>&1; then
    ok "$name: every codec, keys and headers; a group of two, every record exactly once"
  else
    bad "$name, first step: $(tail -n 3 "$work/out" | cut -c1-300)"
    return
  fi
  stop
  start
  if timeout 120 "$@" second "$address" "$topic" >"$work/out" 2>&1; then
    ok "$name: after a restart the group goes on; configs altered and described, topic deleted"
  else
    bad "$name, second step: $(tail -n 3 "$work/out" | cut -c1-300)"
  fi
}
# had STAMP COMMAND…: runs an installation once; what it printed is in $work/install.log. An installation that failed half way is
# done again from an empty folder.
had() {
  local stamp=$cache/$1/.installed-$2
  shift 2
  [ -e "$stamp" ] && return
  rm -rf "$(dirname "$stamp")"
  mkdir -p "$(dirname "$stamp")"
  (cd "$(dirname "$stamp")" && "$@") >"$work/install.log" 2>&1 && touch "$stamp"
}
why() { tail -n 1 "$work/install.log" | cut -c1-200; }

pip_into() { python3 -m venv . && ./bin/pip install -q "$@"; }
tier_kafka-python() {
  command -v python3 >/dev/null || { skip python3 kafka-python; return; }
  had kafka-python 3.0.12 pip_into kafka-python==3.0.12 python-snappy==0.7.3 lz4==4.4.5 zstandard==0.25.0 ||
    { skip "kafka-python 3.0.12 ($(why))" kafka-python; return; }
  two_steps kafka-python "$cache/kafka-python/bin/python" "$here/clients/kafka_python.py"
}
tier_aiokafka() {
  command -v python3 >/dev/null || { skip python3 aiokafka; return; }
  had aiokafka 0.14.0 pip_into aiokafka==0.14.0 cramjam==2.14.0 || { skip "aiokafka 0.14.0 ($(why))" aiokafka; return; }
  two_steps aiokafka "$cache/aiokafka/bin/python" "$here/clients/aiokafka_client.py"
}

npm_into() { echo '{"private":true}' >package.json && npm install --no-audit --no-fund "$@"; }
# The client builds librdkafka with what the machine has; its ready-made binary lies outside the package registry.
npm_building() { CKJS_LINKING=dynamic npm_into --foreground-scripts "$@"; }
tier_kafkajs() {
  command -v npm >/dev/null || { skip "Node.js with npm" kafkajs; return; }
  had kafkajs 2.2.4 npm_into kafkajs@2.2.4 kafkajs-snappy@1.1.0 || { skip "kafkajs 2.2.4 ($(why))" kafkajs; return; }
  NODE_PATH=$cache/kafkajs/node_modules two_steps kafkajs node "$here/clients/kafkajs_client.js" kafkajs
}
tier_confluent-javascript() {
  command -v npm >/dev/null || { skip "Node.js with npm" confluent-javascript; return; }
  had confluent-javascript 1.10.1 npm_building @confluentinc/kafka-javascript@1.10.1 ||
    { skip "@confluentinc/kafka-javascript 1.10.1 ($(why))" confluent-javascript; return; }
  NODE_PATH=$cache/confluent-javascript/node_modules two_steps confluent-javascript node "$here/clients/kafkajs_client.js" confluent
}

go_into() { cp "$here"/clients/go/* . && go mod tidy && go build -o interop .; }
tier_go() {
  command -v go >/dev/null || { skip Go go; return; }
  had go "$(cat "$here"/clients/go/* | cksum | cut -d' ' -f1)" go_into || { skip "franz-go and kafka-go ($(why))" go; return; }
  two_steps franz-go "$cache/go/interop" franz
  stop
  rm -rf "$work/data"
  two_steps kafka-go "$cache/go/interop" segmentio
}

cargo_into() { cp -r "$here"/clients/rust/* . && cargo build -q --release; }
tier_rdkafka() {
  command -v cargo >/dev/null || { skip "Rust's cargo" rdkafka; return; }
  had rdkafka "$(cat "$here"/clients/rust/Cargo.toml "$here"/clients/rust/src/main.rs | cksum | cut -d' ' -f1)" cargo_into ||
    { skip "Rust's rdkafka 0.39 ($(why))" rdkafka; return; }
  two_steps rdkafka "$cache/rdkafka/target/release/interop"
}

tier_java-clients() {
  command -v java >/dev/null && command -v mvn >/dev/null || { skip "a JDK 17 and Maven" java-clients; return; }
  java_jars || { skip "the jars of Apache Kafka 4.4.0 ($(tail -n 1 "$work/mvn.log"))" java-clients; return; }
  two_steps java-clients java -Xmx256m -XX:TieredStopAtLevel=1 -Dlog4j2.configurationFile="$work/log4j2.properties" \
    -cp "$cache/lib/*" "$here/clients/Client.java"
}
