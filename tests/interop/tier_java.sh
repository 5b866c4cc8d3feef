# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
java_tool() { # java_tool CLASS ARGS…
  java -Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dlog4j2.configurationFile="$work/log4j2.properties" \
    -cp "$cache/lib/*" "$@"
}
# java_jars: fetches the jars once; writes the logging configuration of this run.
java_jars() {
  if [ ! -e "$cache/lib/.pom-$(cksum <"$here/pom.xml" | cut -d' ' -f1)" ]; then
    rm -rf "$cache/lib" "$cache/lib.part"
    mvn -q -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$cache/lib.part" >"$work/mvn.log" 2>&1 || return 1
    touch "$cache/lib.part/.pom-$(cksum <"$here/pom.xml" | cut -d' ' -f1)"
    mv "$cache/lib.part" "$cache/lib"
  fi
  cat >"$work/log4j2.properties" <<'P'
rootLogger.level=WARN
logger.rest.name=org.apache.kafka.connect.runtime.rest
logger.rest.level=INFO
rootLogger.appenderRef.o.ref=O
appender.o.type=Console
appender.o.name=O
appender.o.target=SYSTEM_ERR
appender.o.layout.type=PatternLayout
appender.o.layout.pattern=%p %m%n
P
}
tier_java() {
  command -v java >/dev/null && command -v mvn >/dev/null || { skip "a JDK 17 and Maven" java; return; }
  java_jars || { skip "the jars of Apache Kafka 4.4.0 ($(tail -n 1 "$work/mvn.log"))" java; return; }
  start
  local topic=org.apache.kafka.tools.TopicCommand out codec
  java_tool $topic --bootstrap-server "$address" --create --topic java-orders --partitions 3 >"$work/out" 2>&1 &&
    ok "java: TopicCommand --create" || bad "java: TopicCommand --create: $(cat "$work/out")"
  out=$(java_tool $topic --bootstrap-server "$address" --describe --topic java-orders 2>&1)
  check "java: TopicCommand --describe" "3 1" "$(echo "$out" | sed -n 's/.*PartitionCount: \([0-9]*\).*ReplicationFactor: \([0-9]*\).*/\1 \2/p')"
  java_tool $topic --bootstrap-server "$address" --alter --topic java-orders --partitions 6 >"$work/out" 2>&1 &&
    ok "java: TopicCommand --alter --partitions" || bad "java: TopicCommand --alter: $(cat "$work/out")"

  # 10,000 keyed and null-key records with headers, a fifth with each compression. A line: headers TAB key TAB value.
  local i=0
  : >"$work/sent"
  for codec in none gzip snappy lz4 zstd; do
    awk -v b=$((i * 2000)) 'BEGIN { for (n = b; n < b + 2000; n++) print "n:" n "\t" (n % 4 == 0 ? "NULL" : "key-" n % 100) "\tvalue-" n }' >"$work/part"
    cat "$work/part" >>"$work/sent"
    java_tool org.apache.kafka.tools.ConsoleProducer --bootstrap-server "$address" --topic java-orders --compression-codec "$codec" \
      --reader-property parse.headers=true --reader-property parse.key=true --reader-property null.marker=NULL \
      <"$work/part" >"$work/out" 2>&1 || bad "java: ConsoleProducer $codec: $(tail -n 3 "$work/out")"
    i=$((i + 1))
  done
  consumer() { # consumer GROUP MAX OUT
    java_tool org.apache.kafka.tools.consumer.ConsoleConsumer --bootstrap-server "$address" --topic java-orders --group "$1" \
      --command-property auto.offset.reset=earliest ${2:+--max-messages "$2"} --timeout-ms "${4:-8000}" \
      --formatter-property print.headers=true --formatter-property print.key=true --formatter-property print.partition=true \
      --formatter-property null.literal=NULL >"$3" 2>"$3.err" || true
  }
  # A group of two, one part of the way; the broker restarts; the group goes on.
  consumer java-billing 4000 "$work/a1"
  stop
  start
  consumer java-billing "" "$work/a2" 12000 &
  consumer java-billing "" "$work/a3" 12000
  wait $! || true
  sed 's/^Partition:[0-9]*\t//' "$work/a1" "$work/a2" "$work/a3" | sort >"$work/got"
  check "java: 10,000 records with headers, each exactly once, over a restart" "$(sort "$work/sent" | md5sum)" "$(md5sum <"$work/got")"
  # Keys land where the Java client computes; our own computation must agree.
  check "java: keys land where murmur2 says" "" "$(cat "$work"/a[123] | python3 "$here/murmur2.py" 6)"

  java_tool org.apache.kafka.tools.ProducerPerformance --topic java-perf --num-records 50000 --record-size 500 --throughput -1 \
    --command-property bootstrap.servers="$address" acks=all >"$work/out" 2>&1 && ok "java: ProducerPerformance: $(tail -n 1 "$work/out" | cut -c1-90)" ||
    bad "java: ProducerPerformance: $(tail -n 3 "$work/out")"
  java_tool org.apache.kafka.tools.ConsumerPerformance --bootstrap-server "$address" --topic java-perf --num-records 50000 \
    --timeout 20000 >"$work/out" 2>&1 && ok "java: ConsumerPerformance" || bad "java: ConsumerPerformance: $(tail -n 3 "$work/out")"
  java_tool $topic --bootstrap-server "$address" --delete --topic java-perf >"$work/out" 2>&1 &&
    ok "java: TopicCommand --delete" || bad "java: TopicCommand --delete: $(cat "$work/out")"
  java_tool "$here/Transactions.java" "$address" >"$work/out" 2>&1 &&
    ok "java: read, process, write in transactions with groups of both protocols; every record exactly once, a zombie fenced" ||
    bad "java: transactions: $(tail -n 3 "$work/out")"
  java_tool org.apache.kafka.tools.TransactionsCommand --bootstrap-server "$address" describe --transactional-id worker-consumer >"$work/out" 2>&1
  check "java: TransactionsCommand describe" CompleteCommit "$(grep -o 'CompleteCommit' "$work/out")"
  stop

  local log errors=0 states
  states=$(while read -r log; do
    java_tool org.apache.kafka.tools.DumpLogSegments --transaction-log-decoder --files "$log" 2>/dev/null
  done < <(find "$work/data" -path '*__transaction_state-*' -name '*.log' -size +0) | grep -c 'worker-.*CompleteCommit')
  [ "$states" -gt 0 ] && ok "java: DumpLogSegments decodes our transaction log" || bad "java: DumpLogSegments does not decode our transaction log"
  while read -r log; do
    java_tool org.apache.kafka.tools.DumpLogSegments --deep-iteration --print-data-log --files "$log" >"$work/dump" 2>"$work/dump.err" || errors=$((errors + 1))
    grep -qiE 'isvalid: false|mismatch|non-consecutive|found [1-9][0-9]* invalid|Exception' "$work/dump" "$work/dump.err" && { errors=$((errors + 1)); echo "$log"; grep -iE 'false|mismatch|invalid|Exception' "$work/dump" "$work/dump.err" | head -n 3; }
  done < <(find "$work/data" -path '*java-orders-*' -name '*.log' -size +0; find "$work/data" -path '*java-orders-*' \( -name '*.index' -o -name '*.timeindex' \) -size +0 | head -n 4)
  check "java: DumpLogSegments reads our files without a complaint" 0 "$errors"
}
