#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a cluster still answers when its controllers have lost their majority.

  quorum_lost.py [REGEX]     a line a request whose name the REGEX finds: SITUATION.REQUEST<TAB>JSON

The cluster is started by $LAUNCHER (the contract of the conformance kit; default: its launcher of Apache Kafka). Two situations:
  nodes         three nodes that are broker and controller; two are killed, the third is asked
  controllers   two brokers and three controllers of their own; two controllers are killed, broker 0 and the controller are asked
Every request has a connection of its own and they run side by side. The value is the answer's error code (or "closed": the
connection was closed instead; "silent": nothing came) and when it came, in steps that a busy machine does not blur: "at once", or
about how many seconds later. quorum-lost.tsv holds what Apache Kafka 4.4.0 answers.
HIGHWATER_SHARED: the folder with the conformance kit.
"""
import concurrent.futures
import json
import os
import re
import sys
import time
import uuid

sys.path.insert(0, os.path.join(os.environ["HIGHWATER_SHARED"], "conformance"))
import cluster_probes as kit  # noqa: E402
from probes import LAUNCHER, E, SUF, ZU, batch, join, launched, meta, produce, sync, tid, until  # noqa: E402,F401

COMMON = """
prop.broker.session.timeout.ms=4000
prop.broker.heartbeat.interval.ms=500
prop.group.initial.rebalance.delay.ms=0
prop.offsets.topic.num.partitions=4
prop.offsets.topic.replication.factor={replicas}
prop.auto.leader.rebalance.enable=false
prop.replica.lag.time.max.ms=3000
"""
SITUATIONS = {
    "nodes": COMMON.format(replicas=3) + "brokers=3\ncontrollers=3\ncombined=true\n",
    "controllers": COMMON.format(replicas=2) + "brokers=2\ncontrollers=3\ncombined=false\n",
}
SILENT_AFTER_SECONDS = 80
STEPS_SECONDS = (5, 10, 15, 20, 30, 45, 60)
AT_ONCE_SECONDS = 2.5
FORGOTTEN_WITHIN_SECONDS = 30
LISTENS_WITHIN_SECONDS = 8
NOBODY = -1
METADATA_TOPIC = "00000000-0000-0000-0000-000000000001"


def step(seconds):
    if seconds < AT_ONCE_SECONDS:
        return "at once"
    return f"after {min(STEPS_SECONDS, key=lambda s: abs(s - seconds))} s"


def first_code(answer):
    """The first error code that is not NONE, at the top or in the lists below."""
    if isinstance(answer, dict):
        for key, value in answer.items():
            if key.endswith("ErrorCode") and isinstance(value, int) and value != 0:
                return E(value)
        for value in answer.values():
            code = first_code(value)
            if code:
                return code
    elif isinstance(answer, list):
        for value in answer:
            code = first_code(value)
            if code:
                return code
    return None


def code_of(answer):
    return first_code(answer) or "NONE"


def topic_named(topic):
    return [{"Name": topic, "NumPartitions": 1, "ReplicationFactor": 1}]


def named(situation, request):
    return situation + "." + re.sub("[ ,:]+", "_", request)


class Prepared:
    """A cluster with what the requests need, made while it was whole."""

    def __init__(self, k, situation):
        self.k, self.situation = k, situation
        whole = range(len(k.brokers))
        self.alone = k.topic([0], "alone")  # all of it is on the broker that is asked
        self.shared = k.topic(list(whole), "shared")
        self.elsewhere = k.topic([1], "elsewhere")
        self.doomed = k.topic([0], "doomed")
        self.group = self.group_here("member")
        self.idle_group = self.group_here("idle")
        self.new_group = self.group_here("new")
        c = k.c(0)
        member = join(c, self.group, st=300000)["MemberId"]
        joined = join(c, self.group, member, st=300000)
        self.member, self.generation = member, joined["GenerationId"]
        sync(c, self.group, self.generation, member, {member: b"all"})
        self.commit(c, self.group, member, self.generation)
        self.commit(c, self.idle_group)
        for _ in range(3):
            produce(c, self.alone, [(b"k", b"v")])
            produce(c, self.shared, [(b"k", b"v")])
        # A block of producer ids is at hand on the brokers that lead on; the last broker never asked for one.
        if situation == "controllers":
            until(lambda: self.producer_id(k.c(0)), lambda r: r["ErrorCode"] == 0)

    def group_here(self, name):
        """A group that broker 0 coordinates."""

        def search():
            for n in range(60):
                group = f"{name}-{n}-{SUF}"
                at = self.k.c(0).call("FindCoordinatorRequest", 6, {"KeyType": 0, "CoordinatorKeys": [group]})["Coordinators"][0]
                if at["ErrorCode"] == 0 and at["NodeId"] == 0:
                    described = self.k.c(0).call("DescribeGroupsRequest", 5, {"Groups": [group]})["Groups"][0]
                    if E(described["ErrorCode"]) not in ("COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR"):
                        return group
            return None

        return until(search, bool, 60)

    def commit(self, c, group, member="", generation=-1):
        return c.call("OffsetCommitRequest", 9, {
            "GroupId": group, "GenerationIdOrMemberEpoch": generation, "MemberId": member,
            "Topics": [{"Name": self.alone, "Partitions": [{"PartitionIndex": 0, "CommittedOffset": 1, "CommittedMetadata": ""}]}]})

    @staticmethod
    def producer_id(c):
        return c.call("InitProducerIdRequest", 5, {"TransactionalId": None, "TransactionTimeoutMs": 60000})

    def lose_majority(self):
        for node in (1, 2) if self.situation == "nodes" else (3001, 3002):
            self.k.kill(node)

        # It has resigned, or forgets whom it followed: who fetches its log is told of a leader until then.
        until(self.leader_known, lambda leader: leader == NOBODY, FORGOTTEN_WITHIN_SECONDS)

    def leader_known(self):
        """Whom the controller that is left takes for the leader; None: it does not say."""
        try:
            partition = kit.fetch(self.controller(timeout=5), METADATA_TOPIC)["Responses"][0]["Partitions"][0]
            return partition.get("CurrentLeader", {}).get("LeaderId", NOBODY)
        except (OSError, LookupError):
            return None

    def controller(self, **given):
        return self.k.controller(0, **given)

    def requests(self):
        """name -> what asks on a connection of its own; the answer is a message or a code."""
        k, S = self.k, self

        def call(name, version, body):
            return lambda c: c.call(name + "Request", version, body)

        def one_partition(topic, **fields):
            return [{"Topic": topic, "Name": topic, "TopicName": topic, "Partitions": [dict({"PartitionIndex": 0, "Partition": 0}, **fields)]}]

        def produced(topic, acks):
            def ask(c):
                if acks == 0:
                    produce(c, topic, [(b"k", b"v")], acks=0)
                    return meta(c, [])  # the broker that refuses closes the connection
                return E(produce(c, topic, [(b"k", b"v")], acks=acks, timeout=5000)["ErrorCode"])
            return ask

        def fetched(topic, offset=2, wait=0):
            def ask(c):
                return kit.fetch(c, tid(c, topic), offset, wait=wait, minb=1)
            return ask

        def listed(topic):
            return call("ListOffsets", 10, {"ReplicaId": -1, "Topics": one_partition(topic, CurrentLeaderEpoch=-1, Timestamp=-1)})

        def joined(c):
            first = join(c, S.new_group, st=30000)
            if E(first["ErrorCode"]) != "MEMBER_ID_REQUIRED":
                return "join: " + code_of(first)
            second = join(c, S.new_group, first["MemberId"], st=30000)
            if second["ErrorCode"]:
                return "join again: " + code_of(second)
            return "sync: " + code_of(sync(c, S.new_group, second["GenerationId"], second["MemberId"], {second["MemberId"]: b"all"}))

        def many_producer_ids(c):
            for _ in range(2500):
                answer = S.producer_id(c)
                if answer["ErrorCode"]:
                    return answer
            return "NONE"

        def configs(kind, name):
            return [{"ResourceType": kind, "ResourceName": name, "Configs": [{"Name": "retention.ms", "ConfigOperation": 0, "Value": "100000"}]}]

        features = {"FeatureUpdates": [{"Feature": "metadata.version", "MaxVersionLevel": 29, "UpgradeType": 1}], "timeoutMs": 10000}
        other = "00000000-0000-0000-0000-000000000009"
        ask = {
            "Metadata": lambda c: meta(c, [S.alone]),
            "Metadata of all": lambda c: meta(c),
            "Metadata that would create": lambda c: meta(c, ["automatic-" + SUF], auto=True),
            "DescribeTopicPartitions": call("DescribeTopicPartitions", 0, {"Topics": [{"Name": S.shared}], "ResponsePartitionLimit": 10, "Cursor": None}),
            "DescribeCluster": call("DescribeCluster", 2, {"EndpointType": 1}),
            "Produce acks=0": produced(S.alone, 0),
            "Produce acks=1": produced(S.alone, 1),
            "Produce acks=all": produced(S.alone, -1),
            "Produce acks=1, replicated": produced(S.shared, 1),
            "Produce acks=all, replicated": produced(S.shared, -1),
            "Produce to a leader elsewhere": produced(S.elsewhere, 1),
            "Fetch": fetched(S.alone),
            "Fetch, replicated": fetched(S.shared),
            "Fetch from a leader elsewhere": fetched(S.elsewhere),
            "ListOffsets": listed(S.alone),
            "ListOffsets, replicated": listed(S.shared),
            "OffsetForLeaderEpoch": call("OffsetForLeaderEpoch", 4, {"ReplicaId": -1, "Topics": one_partition(S.alone, CurrentLeaderEpoch=-1, LeaderEpoch=0)}),
            "DeleteRecords": call("DeleteRecords", 2, {"Topics": one_partition(S.alone, Offset=1), "TimeoutMs": 5000}),
            "DeleteRecords, replicated": call("DeleteRecords", 2, {"Topics": one_partition(S.shared, Offset=1), "TimeoutMs": 5000}),
            "FindCoordinator": call("FindCoordinator", 6, {"KeyType": 0, "CoordinatorKeys": [S.group]}),
            "JoinGroup and SyncGroup": joined,
            "OffsetCommit of a member": lambda c: S.commit(c, S.group, S.member, S.generation),
            "OffsetCommit from outside": lambda c: S.commit(c, S.idle_group),
            "ListGroups": call("ListGroups", 5, {}),
            "InitProducerId": S.producer_id,
            "CreateTopics": call("CreateTopics", 7, {"Topics": topic_named("created-" + SUF), "timeoutMs": 10000}),
            "CreateTopics, only validated": call("CreateTopics", 7, {"Topics": topic_named("created-" + SUF), "timeoutMs": 10000, "validateOnly": True}),
            "DeleteTopics": call("DeleteTopics", 6, {"Topics": [{"Name": S.doomed, "TopicId": ZU}], "TimeoutMs": 10000}),
            "CreatePartitions": call("CreatePartitions", 3, {"Topics": [{"Name": S.alone, "Count": 2, "Assignments": None}], "TimeoutMs": 10000}),
            "DescribeConfigs": call("DescribeConfigs", 4, {"Resources": [{"ResourceType": 2, "ResourceName": S.alone, "ConfigurationKeys": None}]}),
            "DescribeConfigs of the broker": call("DescribeConfigs", 4, {"Resources": [{"ResourceType": 4, "ResourceName": "0", "ConfigurationKeys": None}]}),
            "IncrementalAlterConfigs": call("IncrementalAlterConfigs", 1, {"Resources": configs(2, S.alone)}),
            "IncrementalAlterConfigs of a logger": call("IncrementalAlterConfigs", 1, {"Resources": [{"ResourceType": 8, "ResourceName": "0", "Configs": [
                {"Name": "root", "ConfigOperation": 0, "Value": "WARN"}]}]}),
            "AlterConfigs": call("AlterConfigs", 2, {"Resources": [{"ResourceType": 2, "ResourceName": S.alone, "Configs": [{"Name": "retention.ms", "Value": "100000"}]}]}),
            "DescribeQuorum": call("DescribeQuorum", 2, {"Topics": [{"TopicName": "__cluster_metadata", "Partitions": [{"PartitionIndex": 0}]}]}),
            "DescribeLogDirs": call("DescribeLogDirs", 4, {"Topics": None}),
            "AlterReplicaLogDirs": call("AlterReplicaLogDirs", 2, {"Dirs": [{"Path": "/nowhere", "Topics": [{"Name": S.alone, "Partitions": [0]}]}]}),
            "DescribeProducers": call("DescribeProducers", 0, {"Topics": [{"Name": S.alone, "PartitionIndexes": [0]}]}),
            "DescribeClientQuotas": call("DescribeClientQuotas", 1, {"Components": [], "Strict": False}),
            "AlterClientQuotas": call("AlterClientQuotas", 1, {"Entries": [{"Entity": [{"EntityType": "client-id", "EntityName": "a"}], "Ops": [
                {"Key": "producer_byte_rate", "Value": 1000.0, "Remove": False}]}], "ValidateOnly": False}),
            "AlterPartitionReassignments": call("AlterPartitionReassignments", 1, {"TimeoutMs": 10000, "Topics": [
                {"Name": S.alone, "Partitions": [{"PartitionIndex": 0, "Replicas": [1]}]}]}),
            "ListPartitionReassignments": call("ListPartitionReassignments", 0, {"TimeoutMs": 10000, "Topics": None}),
            "ElectLeaders": call("ElectLeaders", 2, {"ElectionType": 0, "TopicPartitions": [{"Topic": S.shared, "Partitions": [0]}], "TimeoutMs": 10000}),
            "UpdateFeatures": call("UpdateFeatures", 2, features),
            "UnregisterBroker": call("UnregisterBroker", 0, {"BrokerId": 9}),
            "AddRaftVoter": call("AddRaftVoter", 1, {"ClusterId": None, "VoterId": 9, "VoterDirectoryId": other, "TimeoutMs": 10000, "Listeners": [
                {"Name": "CONTROLLER", "Host": "127.0.0.1", "Port": 9}]}),
            "RemoveRaftVoter": call("RemoveRaftVoter", 0, {"ClusterId": None, "VoterId": 9, "VoterDirectoryId": other}),
            "ListConfigResources": call("ListConfigResources", 1, {"ResourceTypes": [2]}),
            "ApiVersions": call("ApiVersions", 3, {"ClientSoftwareName": "a", "ClientSoftwareVersion": "1"}),
        }
        at_the_controller = {
            "DescribeCluster": call("DescribeCluster", 2, {"EndpointType": 2}),
            "AllocateProducerIds": call("AllocateProducerIds", 0, {"BrokerId": 0, "BrokerEpoch": 1}),
            "BrokerHeartbeat": call("BrokerHeartbeat", 1, {"BrokerId": 0, "BrokerEpoch": 1}),
        }
        for name in ("CreateTopics", "DeleteTopics", "CreatePartitions", "DescribeConfigs", "IncrementalAlterConfigs", "AlterConfigs", "DescribeQuorum",
                     "AlterClientQuotas", "AlterPartitionReassignments", "ListPartitionReassignments", "ElectLeaders", "UpdateFeatures",
                     "UnregisterBroker", "AddRaftVoter", "RemoveRaftVoter", "ApiVersions"):
            at_the_controller[name] = ask[name]
        all_of_them = {name: (lambda: k.c(0, timeout=SILENT_AFTER_SECONDS), one) for name, one in ask.items()}
        for name, one in at_the_controller.items():
            all_of_them["controller: " + name] = (lambda: self.controller(timeout=SILENT_AFTER_SECONDS), one)
        if self.situation == "controllers":
            all_of_them["InitProducerId until the block is used up"] = (lambda: k.c(0, timeout=SILENT_AFTER_SECONDS), many_producer_ids)
            all_of_them["InitProducerId without a block"] = (lambda: k.c(1, timeout=SILENT_AFTER_SECONDS), S.producer_id)
        return all_of_them

    def here(self, name, version, body):
        """Asked of broker 0."""
        return (lambda: self.k.c(0, timeout=SILENT_AFTER_SECONDS), lambda c: c.call(name + "Request", version, body))

    def heartbeat(self):
        return self.here("Heartbeat", 4, {"GroupId": self.group, "GenerationId": self.generation, "MemberId": self.member})

    def offsets(self, stable):
        return self.here("OffsetFetch", 9, {"Groups": [{"GroupId": self.group, "MemberEpoch": -1, "Topics": None}], "RequireStable": stable})

    def first_requests(self):
        """While nothing waits in the coordinator's log."""
        return {"Heartbeat": self.heartbeat(), "OffsetFetch": self.offsets(False), "OffsetFetch, only stable": self.offsets(True),
                "DescribeGroups": self.here("DescribeGroups", 5, {"Groups": [self.group]})}

    def behind_requests(self):
        """Behind commits that are not committed where the coordinator's log is replicated."""
        return {"Heartbeat behind commits": self.heartbeat(), "OffsetFetch behind commits": self.offsets(False),
                "OffsetFetch behind commits, only stable": self.offsets(True),
                "DescribeGroups behind commits": self.here("DescribeGroups", 5, {"Groups": [self.group]}),
                "OffsetDelete": self.here("OffsetDelete", 0, {
                    "GroupId": self.idle_group, "Topics": [{"Name": self.alone, "Partitions": [{"PartitionIndex": 0}]}]})}

    def last_requests(self):
        return {"LeaveGroup": self.here("LeaveGroup", 5, {"GroupId": self.group, "Members": [{"MemberId": self.member}]}),
                "DeleteGroups": self.here("DeleteGroups", 2, {"GroupsNames": [self.idle_group]})}

    def starting_requests(self):
        """A broker that starts while there is no controller."""
        if self.situation != "controllers":
            return {}
        self.k.kill(1)
        self.k.start(1)

        def listens():
            try:
                return bool(self.k.c(1, timeout=5))
            except OSError:
                return False

        until(listens, bool, LISTENS_WITHIN_SECONDS)  # Kafka's does not while it knows no controller

        def asked(c):
            return c.call("ApiVersionsRequest", 3, {"ClientSoftwareName": "a", "ClientSoftwareVersion": "1"})

        return {"ApiVersions of a broker that starts": (lambda: self.k.c(1, timeout=20), asked)}


def asked(connect, one):
    begin = time.time()
    try:
        answer = one(connect())
        answer = answer if isinstance(answer, str) else code_of(answer)
    except TimeoutError:
        return "silent"
    except ConnectionError:
        answer = "closed"
    except Exception as e:  # a field that is missing
        answer = f"EXC {type(e).__name__} {e}"
    print(f"# {time.time() - begin:6.1f} s", answer, file=sys.stderr)
    return f"{answer} {step(time.time() - begin)}"


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else "."
    for situation, properties in SITUATIONS.items():
        others = [o for o in SITUATIONS if o != situation]
        if any(re.match(rf"\^?{o}\b", wanted) for o in others):
            continue
        with launched(properties) as directory:
            prepared = Prepared(kit.Cluster(directory), situation)
            prepared.lose_majority()
            for part in (prepared.first_requests, prepared.requests, prepared.behind_requests, prepared.last_requests, prepared.starting_requests):
                chosen = {named(situation, n): r for n, r in part().items()}
                chosen = {n: r for n, r in chosen.items() if re.search(wanted, n)}
                with concurrent.futures.ThreadPoolExecutor(max(1, len(chosen))) as pool:
                    answers = dict(zip(chosen, pool.map(lambda r: asked(*r), chosen.values())))
                for name, answer in answers.items():
                    print(f"{name}\t{json.dumps(answer)}", flush=True)


main()
