# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# Apache Kafka's own command-line tools on a cluster of three nodes, of which one is killed and comes back, with a fourth broker and a
# controller that join later.
control() { "$bin/hw" --control "$control_address" "$@"; }
status_of() { control --json cluster status | python3 -c "import json, sys; s = json.load(sys.stdin); print($1)"; }

# start_cluster ARGS…: sets $address (of all nodes), $control_address and $controllers.
start_cluster() {
  rm -f "$work/ready"
  mkfifo "$work/ready"
  "$bin/highwaterd" --nodes 3 --port 0 --control 0 --dir "$work/data" "$@" >"$work/ready" 2>>"$work/log" &
  pid=$!
  read -r line <"$work/ready" || { echo "interop: highwaterd did not start:"; cat "$work/log"; exit 1; }
  control_address=$(echo "$line" | sed -n 's/.* control \([^ ]*\).*/\1/p')
  address=$(status_of '",".join("127.0.0.1:%d" % n["port"] for n in s["nodes"])')
  controllers=$(status_of '",".join("127.0.0.1:%d" % n["controller_port"] for n in s["nodes"])')
}

# eventually WHAT PATTERN CLASS ARGS…: as `tool`, and again for a while where it is not so yet.
eventually() {
  local what=$1 pattern=$2 i
  shift 2
  for i in $(seq 12); do
    if java_tool "$@" >"$work/out" 2>&1 && grep -qE -- "$pattern" "$work/out"; then
      ok "tools-cluster: $what"
      return
    fi
    sleep 0.3
  done
  bad "tools-cluster: $what (no '$pattern'): $(tail -n 4 "$work/out" | cut -c1-300)"
}
# nothing WHAT CLASS ARGS…: the tool ends well and prints no line.
nothing() {
  local what=$1
  shift
  if java_tool "$@" >"$work/out" 2>"$work/err" && [ ! -s "$work/out" ]; then ok "tools-cluster: $what"; else bad "tools-cluster: $what: $(tail -n 4 "$work/out" "$work/err" | cut -c1-300)"; fi
}

tier_tools-cluster() {
  command -v java >/dev/null && command -v mvn >/dev/null || { skip "a JDK 17 and Maven" tools-cluster; return; }
  java_jars || { skip "the jars of Apache Kafka 4.4.0 ($(tail -n 1 "$work/mvn.log"))" tools-cluster; return; }
  start_cluster --config broker.session.timeout.ms=3000 --config broker.heartbeat.interval.ms=500 --config replica.lag.time.max.ms=3000 \
    --config metadata.log.max.record.bytes.between.snapshots=2000
  local t=org.apache.kafka.tools b="--bootstrap-server $address" four led other i nine
  # shellcheck disable=SC2086
  {
    eventually "TopicCommand --create, replication factor 3" '^Created topic orders' $t.TopicCommand $b --create --topic orders --partitions 4 --replication-factor 3 --config min.insync.replicas=2
    eventually "TopicCommand --create, by replicas" '^Created topic strict' $t.TopicCommand $b --create --topic strict --replica-assignment 3:1:2 --config min.insync.replicas=3
    eventually "TopicCommand --create, one replica" '^Created topic alone' $t.TopicCommand $b --create --topic alone --replica-assignment 3
    eventually "TopicCommand --describe" 'PartitionCount: 4[^:]*ReplicationFactor: 3.*min.insync.replicas=2' $t.TopicCommand $b --describe --topic orders
    nothing "TopicCommand --under-replicated-partitions: none" $t.TopicCommand $b --describe --under-replicated-partitions
    eventually "TopicCommand --at-min-isr-partitions: where all are needed" 'Topic: strict' $t.TopicCommand $b --describe --at-min-isr-partitions
    eventually "VerifiableProducer sends 500 with acks=all" '"acked":500' $t.VerifiableProducer $b --topic orders --max-messages 500 --acks -1 --repeating-keys 50
    eventually "LogDirsCommand asks each broker" '"broker":1.*"broker":2.*"broker":3' $t.LogDirsCommand $b --describe --topic-list orders
    check "tools-cluster: BrokerApiVersionsCommand lists three brokers" 3 "$(java_tool $t.BrokerApiVersionsCommand $b 2>&1 | grep -cE '\(id: [123] rack: null isFenced: false\) -> \(')"
    # It reports for ever, so it is ended once it has said what is asked for.
    timeout 60 nice java -Xmx256m -XX:TieredStopAtLevel=1 -cp "$cache/lib/*" $t.ReplicaVerificationTool --broker-list "$address" --topics-include orders --report-interval-ms 1000 >"$work/out" 2>&1 &
    local verification=$!
    while kill -0 "$verification" 2>/dev/null && ! grep -q 'max lag is 0 for partition' "$work/out"; do sleep 0.2; done
    kill "$verification" 2>/dev/null || true
    wait "$verification" 2>/dev/null || true
    grep -q 'max lag is 0 for partition' "$work/out" && ok "tools-cluster: ReplicaVerificationTool finds equal replicas" || bad "tools-cluster: ReplicaVerificationTool: $(tail -n 4 "$work/out" | cut -c1-300)"

    control node kill 3 >/dev/null
    eventually "TopicCommand --under-replicated-partitions" 'Topic: orders.*Isr: [12],[12]' $t.TopicCommand $b --describe --under-replicated-partitions
    eventually "TopicCommand --at-min-isr-partitions" 'Topic: orders' $t.TopicCommand $b --describe --at-min-isr-partitions
    eventually "TopicCommand --under-min-isr-partitions" 'Topic: strict.*Isr: [12],[12]' $t.TopicCommand $b --describe --under-min-isr-partitions
    eventually "TopicCommand --unavailable-partitions" 'Topic: alone.*Leader: none' $t.TopicCommand $b --describe --unavailable-partitions
    eventually "ClusterTool list-endpoints --include-fenced-brokers" '^3 .* fenced ' $t.ClusterTool list-endpoints $b --include-fenced-brokers
    control node start 3 >/dev/null
    for i in $(seq 40); do java_tool $t.TopicCommand $b --describe --under-replicated-partitions >"$work/out" 2>&1 && [ ! -s "$work/out" ] && break; done
    check "tools-cluster: every replica is back in sync" "" "$(cat "$work/out")"
    eventually "LeaderElectionCommand, preferred" 'Successfully completed leader election \(PREFERRED\) for partitions.*strict-0' $t.LeaderElectionCommand $b --election-type preferred --all-topic-partitions
    eventually "LeaderElectionCommand, unclean, where it is not needed" 'Valid replica already elected for partitions.*orders-0' $t.LeaderElectionCommand $b --election-type unclean --topic orders --partition 0

    # A reassignment to a fourth broker that cannot reach the leader stays under way.
    control node add >/dev/null
    led=$(status_of '[n["node"] for n in s["nodes"] if n["node"] not in (s["controller"], 4)][0]')
    other=$(status_of 's["controller"]')
    eventually "TopicCommand --create, led by a node that is not the controller" '^Created topic moves' $t.TopicCommand $b --create --topic moves --replica-assignment "$led:$other"
    echo '{"topics":[{"topic":"moves"}],"version":1}' >"$work/topics.json"
    eventually "ReassignPartitionsCommand --generate" '"topic":"moves","partition":0,"replicas":\[4,' $t.reassign.ReassignPartitionsCommand $b --topics-to-move-json-file "$work/topics.json" --broker-list "4,$other" --generate
    echo "{\"version\":1,\"partitions\":[{\"topic\":\"moves\",\"partition\":0,\"replicas\":[4,$other]}]}" >"$work/plan.json"
    control link cut 4 "$led" >/dev/null
    eventually "ReassignPartitionsCommand --execute" 'Successfully started partition reassignment for moves-0' $t.reassign.ReassignPartitionsCommand $b --reassignment-json-file "$work/plan.json" --execute
    eventually "ReassignPartitionsCommand --verify, under way" 'moves-0 is still in progress' $t.reassign.ReassignPartitionsCommand $b --reassignment-json-file "$work/plan.json" --verify
    eventually "ReassignPartitionsCommand --list" "moves-0: replicas: .*adding: 4" $t.reassign.ReassignPartitionsCommand $b --list
    eventually "ReassignPartitionsCommand --cancel" 'Successfully cancelled partition reassignments? for: moves-0' $t.reassign.ReassignPartitionsCommand $b --reassignment-json-file "$work/plan.json" --cancel
    eventually "TopicCommand --describe after the cancellation" "Topic: moves.*Replicas: ($led,$other|$other,$led)" $t.TopicCommand $b --describe --topic moves
    control cluster heal >/dev/null
    eventually "ReassignPartitionsCommand --execute once more" 'Successfully started partition reassignment for moves-0' $t.reassign.ReassignPartitionsCommand $b --reassignment-json-file "$work/plan.json" --execute
    eventually "ReassignPartitionsCommand --verify, complete" 'moves-0 is completed' $t.reassign.ReassignPartitionsCommand $b --reassignment-json-file "$work/plan.json" --verify

    # A controller that joins as an observer, becomes a voter, and stops being one.
    "$bin/highwaterd" --node 9 --roles controller --join "$controllers" --controller-port 0 --control 0 --dir "$work/nine" >"$work/nine.out" 2>>"$work/log" &
    four=$!
    for i in $(seq 50); do grep -q control "$work/nine.out" && break; sleep 0.1; done
    nine=$(control_address=$(sed -n 's/.* control \([^ ]*\).*/\1/p' "$work/nine.out") status_of 's["nodes"][0]["controller_port"]')
    cat >"$work/nine.properties" <<P
node.id=9
process.roles=controller
listeners=CONTROLLER://127.0.0.1:$nine
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=$controllers
log.dirs=$(dirname "$(find "$work/nine" -name meta.properties | head -n 1)")
P
    eventually "MetadataQuorumCommand describe --status" 'CurrentVoters: +\[.*"id": 1.*"id": 2.*"id": 3' $t.MetadataQuorumCommand $b describe --status
    eventually "MetadataQuorumCommand add-controller" 'Added controller 9 ' $t.MetadataQuorumCommand --command-config "$work/nine.properties" $b add-controller
    eventually "MetadataQuorumCommand describe --replication" '^9 .*Follower' $t.MetadataQuorumCommand $b describe --replication
    nine=$(sed -n 's/^directory.id=//p' "$(find "$work/nine" -name meta.properties | head -n 1)")
    eventually "MetadataQuorumCommand remove-controller" 'Removed KRaft controller 9 ' $t.MetadataQuorumCommand --bootstrap-controller "$controllers" remove-controller --controller-id 9 --controller-directory-id "$nine"
    eventually "MetadataQuorumCommand describe --replication through a controller" '^9 .*Observer' $t.MetadataQuorumCommand --bootstrap-controller "$controllers" describe --replication
    kill "$four" && wait "$four" || true

    eventually "FeatureCommand describe" 'Feature: metadata.version.*FinalizedVersionLevel: ' $t.FeatureCommand $b describe
    eventually "FeatureCommand downgrade --dry-run" 'eligible.leader.replicas.version can be downgraded to 0' $t.FeatureCommand $b downgrade --feature eligible.leader.replicas.version=0 --dry-run
    eventually "FeatureCommand downgrade" 'eligible.leader.replicas.version was downgraded to 0' $t.FeatureCommand $b downgrade --feature eligible.leader.replicas.version=0
    eventually "FeatureCommand upgrade" 'eligible.leader.replicas.version was upgraded to 1' $t.FeatureCommand $b upgrade --feature eligible.leader.replicas.version=1
    eventually "ClusterTool cluster-id" 'Cluster ID: ' $t.ClusterTool cluster-id $b
    eventually "ClusterTool list-endpoints of controllers" '^3 .*controller' $t.ClusterTool list-endpoints --bootstrap-controller "$controllers"
    control node stop 4 >/dev/null
    eventually "ClusterTool unregister" 'Broker 4 is no longer registered' $t.ClusterTool unregister $b --id 4
  }
  tier_metadata_log
}

# Kafka's decoder of metadata records reads our log of them and our snapshots, to the last record.
tier_metadata_log() {
  local folder=$work/data log snapshot count
  folder=$(find "$work/data" -type d -name '__cluster_metadata-0' | sort | head -n 1)
  stop
  log=$(find "$folder" -name '*.log' | sort | paste -sd,)
  java_tool org.apache.kafka.tools.DumpLogSegments --cluster-metadata-decoder --files "$log" >"$work/out" 2>"$work/err" || true
  count=$(grep -c 'payload: *{"type":' "$work/out")
  check "tools-cluster: DumpLogSegments decodes every record of the metadata log" "$(grep -c '^| offset:' "$work/out")" "$((count + $(grep -cE '^\| .*(KRaftVersion|KRaftVoters|LeaderChange|SnapshotHeader|SnapshotFooter)' "$work/out")))"
  grep -q '"REGISTER_BROKER_RECORD"\|"PARTITION_CHANGE_RECORD"' "$work/out" && [ ! -s "$work/err" ] && ok "tools-cluster: DumpLogSegments of the metadata log" || bad "tools-cluster: DumpLogSegments of the metadata log: $(tail -n 3 "$work/out" "$work/err" | cut -c1-300)"
  snapshot=$(find "$folder" -name '*.checkpoint' ! -name '00000000000000000000-*' | sort | tail -n 1)
  java_tool org.apache.kafka.tools.DumpLogSegments --cluster-metadata-decoder --files "$snapshot" >"$work/out" 2>"$work/err" || true
  for line in '"type":"TOPIC_RECORD".*"name":"orders"' '"type":"REGISTER_BROKER_RECORD".*"brokerId":2' SnapshotHeader KRaftVoters SnapshotFooter; do
    grep -qE "$line" "$work/out" && ok "tools-cluster: DumpLogSegments of a snapshot: $line" || bad "tools-cluster: DumpLogSegments of $(basename "${snapshot:-none}") has no $line: $(tail -n 3 "$work/out" "$work/err" | cut -c1-300)"
  done
}
