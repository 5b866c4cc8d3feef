# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# Apache Kafka's own command-line tools on one node, and a worker of Kafka Connect.
tool() { # tool WHAT PATTERN CLASS ARGS…: the tool ends well and its output has PATTERN
  local what=$1 pattern=$2
  shift 2
  if java_tool "$@" >"$work/out" 2>&1 && grep -qE -- "$pattern" "$work/out"; then
    ok "tools: $what"
  else
    bad "tools: $what (no '$pattern'): $(tail -n 4 "$work/out" | cut -c1-300)"
  fi
}
tier_tools() {
  command -v java >/dev/null && command -v mvn >/dev/null || { skip "a JDK 17 and Maven" tools; return; }
  java_jars || { skip "the jars of Apache Kafka 4.4.0 ($(tail -n 1 "$work/mvn.log"))" tools; return; }
  start
  local t=org.apache.kafka.tools b="--bootstrap-server $address"
  # shellcheck disable=SC2086
  {
    java_tool $t.TopicCommand $b --create --topic tool-orders --partitions 3 >/dev/null 2>&1 || bad "tools: the topic"
    tool "VerifiableProducer sends 500" '"acked":500' $t.VerifiableProducer $b --topic tool-orders --max-messages 500 --acks -1 --repeating-keys 50
    tool "VerifiableConsumer reads 500 and commits" '"name":"shutdown_complete"' $t.VerifiableConsumer $b --topic tool-orders --group-id tool-billing \
      --group-protocol classic --reset-policy earliest --max-messages 500
    tool "ConsumerGroupCommand --list" '^tool-billing' $t.consumer.group.ConsumerGroupCommand $b --list
    tool "ConsumerGroupCommand --describe: lag 0" 'tool-billing +tool-orders +0 +([0-9]+) +\1 +0 ' $t.consumer.group.ConsumerGroupCommand $b --describe --group tool-billing
    tool "ConsumerGroupCommand --reset-offsets" 'tool-billing +tool-orders +2 +0' $t.consumer.group.ConsumerGroupCommand $b --reset-offsets \
      --group tool-billing --topic tool-orders --to-earliest --execute
    tool "ConsumerGroupCommand --describe after the reset" 'tool-billing +tool-orders +1 +0 +([0-9]+) +\1 ' $t.consumer.group.ConsumerGroupCommand $b --describe --group tool-billing
    tool "GroupsCommand --list" '^tool-billing +Classic +consumer' $t.GroupsCommand $b --list
    tool "ConsumerGroupCommand --delete-offsets" 'tool-orders +0 +Successful' $t.consumer.group.ConsumerGroupCommand $b --delete-offsets --group tool-billing --topic tool-orders:0
    tool "ConsumerGroupCommand --delete" "'tool-billing'.*successful" $t.consumer.group.ConsumerGroupCommand $b --delete --group tool-billing
    tool "ConfigCommand --alter topic" 'Completed updating config' $t.ConfigCommand $b --alter --entity-type topics --entity-name tool-orders --add-config retention.ms=123456
    tool "ConfigCommand --describe topic" 'retention.ms=123456 .*DYNAMIC_TOPIC_CONFIG' $t.ConfigCommand $b --describe --entity-type topics --entity-name tool-orders
    tool "ConfigCommand --alter broker default" 'Completed updating' $t.ConfigCommand $b --alter --entity-type brokers --entity-default --add-config log.retention.ms=777777
    tool "ConfigCommand --describe broker default" 'log.retention.ms=777777' $t.ConfigCommand $b --describe --entity-type brokers --entity-default
    tool "ConfigCommand --alter client quota" 'Completed updating' $t.ConfigCommand $b --alter --entity-type clients --entity-name app --add-config producer_byte_rate=1048576
    tool "ConfigCommand --describe client quota" 'producer_byte_rate=1048576' $t.ConfigCommand $b --describe --entity-type clients --entity-name app
    tool "GetOffsetShell" '^tool-orders:0:[0-9]+$' $t.GetOffsetShell $b --topic tool-orders
    tool "GetOffsetShell earliest" '^tool-orders:2:0$' $t.GetOffsetShell $b --topic tool-orders --time earliest
    echo '{"partitions":[{"topic":"tool-orders","partition":0,"offset":5}],"version":1}' >"$work/delete.json"
    tool "DeleteRecordsCommand" 'low_watermark: 5' $t.DeleteRecordsCommand $b --offset-json-file "$work/delete.json"
    tool "GetOffsetShell after DeleteRecords" '^tool-orders:0:5$' $t.GetOffsetShell $b --topic tool-orders --time earliest
    tool "LogDirsCommand" '"partition":"tool-orders-0"' $t.LogDirsCommand $b --describe --topic-list tool-orders
    tool "BrokerApiVersionsCommand" 'Produce\(0\): .*\[usable' $t.BrokerApiVersionsCommand $b
    tool "ClusterTool cluster-id" 'Cluster ID: ' $t.ClusterTool cluster-id $b
  }
  tier_connect
}

# A distributed worker keeps its configuration, offsets and status in topics of the cluster and itself is a member of a group.
tier_connect() {
  cat >"$work/connect.properties" <<P
bootstrap.servers=$address
group.id=connect-cluster
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.storage.StringConverter
offset.storage.topic=connect-offsets
offset.storage.replication.factor=1
offset.storage.partitions=3
config.storage.topic=connect-configs
config.storage.replication.factor=1
status.storage.topic=connect-status
status.storage.replication.factor=1
offset.flush.interval.ms=1000
scheduled.rebalance.max.delay.ms=0
listeners=http://127.0.0.1:0
plugin.discovery=service_load
P
  mkdir -p "$work/plugin/META-INF/services"
  echo LinesSource >"$work/plugin/META-INF/services/org.apache.kafka.connect.source.SourceConnector"
  javac -nowarn -d "$work/plugin" -cp "$cache/lib/*" "$here/clients/LinesSource.java" >"$work/out" 2>&1 || { bad "connect: javac: $(head -n 3 "$work/out")"; return; }
  seq 1 200 | sed 's/^/line /' >"$work/lines"
  java -Xmx256m -XX:TieredStopAtLevel=1 -Dlog4j2.configurationFile="$work/log4j2.properties" -cp "$work/plugin:$cache/lib/*" \
    org.apache.kafka.connect.cli.ConnectDistributed "$work/connect.properties" >"$work/connect.log" 2>&1 &
  local worker=$! url= i
  for i in $(seq 120); do
    url=$(sed -n 's/.*REST server listening at \(http[^ ,]*\).*/\1/p' "$work/connect.log" | head -n 1)
    [ -n "$url" ] && curl -sf "${url%/}/connectors" >/dev/null && break
    sleep 0.5
  done
  if [ -z "$url" ]; then
    bad "connect: the worker: $(tail -n 3 "$work/connect.log" | cut -c1-300)"
  else
    curl -sf -X PUT -H 'Content-Type: application/json' "${url%/}/connectors/lines/config" -d "{\"connector.class\":\"LinesSource\",\"tasks.max\":\"1\",\"file\":\"$work/lines\",\"topic\":\"connect-lines\"}" >"$work/out" 2>&1 ||
      bad "connect: the connector: $(cat "$work/out")"
    java_tool org.apache.kafka.tools.consumer.ConsoleConsumer --bootstrap-server "$address" --topic connect-lines \
      --command-property auto.offset.reset=earliest --command-property allow.auto.create.topics=true --max-messages 200 --timeout-ms 30000 >"$work/got" 2>"$work/err" || true
    check "connect: a distributed worker runs a connector, 200 lines arrive" "$(sort "$work/lines" | md5sum)" "$(sort "$work/got" | md5sum)"
    check "connect: the connector's state" RUNNING "$(curl -s "${url%/}/connectors/lines/status" | sed -n 's/.*"connector":{"state":"\([A-Z]*\)".*/\1/p')"
  fi
  kill "$worker" 2>/dev/null || true
  wait "$worker" 2>/dev/null || true
}
