<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_US" sourcelanguage="en_US">
<context>
    <name>ConfigEffects</name>
    <message numerus="yes">
        <source>%n segment(s), %1, become deletable: %2 records</source>
        <translation>
            <numerusform>%n segment, %1, becomes deletable: %2 records</numerusform>
            <numerusform>%n segments, %1, become deletable: %2 records</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n segment(s), %1, that would go soon, stay</source>
        <translation>
            <numerusform>%n segment, %1, that would go soon, stays</numerusform>
            <numerusform>%n segments, %1, that would go soon, stay</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Events</name>
    <message numerus="yes">
        <source>Group %1 assigned its partitions to %n member(s)</source>
        <translation>
            <numerusform>Group %1 assigned its partitions to %n member</numerusform>
            <numerusform>Group %1 assigned its partitions to %n members</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n event(s) not shown: more happened than could be recorded</source>
        <translation>
            <numerusform>%n event not shown: more happened than could be recorded</numerusform>
            <numerusform>%n events not shown: more happened than could be recorded</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>GroupWhy</name>
    <message numerus="yes">
        <source>%n members own nothing: %1 members share %2 partitions. A partition has one reader in a group.</source>
        <translation>
            <numerusform>%n member owns nothing: %1 members share %2 partitions. A partition has one reader in a group.</numerusform>
            <numerusform>%n members own nothing: %1 members share %2 partitions. A partition has one reader in a group.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n member(s) own nothing: no partition of their topics is left.</source>
        <translation>
            <numerusform>%n member owns nothing: no partition of its topics is left.</numerusform>
            <numerusform>%n members own nothing: no partition of their topics is left.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rebalances within 3 minutes: members come and go too often.</source>
        <translation>
            <numerusform>%n rebalance within 3 minutes: members come and go too often.</numerusform>
            <numerusform>%n rebalances within 3 minutes: members come and go too often.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>InspectorText</name>
    <message numerus="yes">
        <source>Topic · %n partition(s)</source>
        <translation>
            <numerusform>Topic · %n partition</numerusform>
            <numerusform>Topic · %n partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>and %n more</numerusform>
            <numerusform>and %n more</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Offset range · %n offset(s)</source>
        <translation>
            <numerusform>Offset range · %n offset</numerusform>
            <numerusform>Offset range · %n offsets</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partition(s)</source>
        <translation>
            <numerusform>%n partition</numerusform>
            <numerusform>%n partitions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LeaderStory</name>
    <message numerus="yes">
        <source>Leaders of %n partitions moved %2 → %3</source>
        <translation>
            <numerusform>Leader of %n partition moved %2 → %3</numerusform>
            <numerusform>Leaders of %n partitions moved %2 → %3</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partitions have no leader.</source>
        <translation>
            <numerusform>%n partition has no leader.</numerusform>
            <numerusform>%n partitions have no leader.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Node %1 is in sync again in %n partition(s).</source>
        <translation>
            <numerusform>Node %1 is in sync again in %n partition.</numerusform>
            <numerusform>Node %1 is in sync again in %n partitions.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Node %1 left the in-sync replicas of %n partition(s).</source>
        <translation>
            <numerusform>Node %1 left the in-sync replicas of %n partition.</numerusform>
            <numerusform>Node %1 left the in-sync replicas of %n partitions.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>And %n more change(s).</source>
        <translation>
            <numerusform>And %n more change.</numerusform>
            <numerusform>And %n more changes.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RetentionPreview</name>
    <message numerus="yes">
        <source>%n segment(s), %1, become deletable: %2 records</source>
        <translation>
            <numerusform>%n segment, %1, becomes deletable: %2 records</numerusform>
            <numerusform>%n segments, %1, become deletable: %2 records</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n segment(s), %1, that would go soon, stay</source>
        <translation>
            <numerusform>%n segment, %1, that would go soon, stays</numerusform>
            <numerusform>%n segments, %1, that would go soon, stay</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n active segment(s) are larger already: a new one begins with the next write</source>
        <translation>
            <numerusform>%n active segment is larger already: a new one begins with the next write</numerusform>
            <numerusform>%n active segments are larger already: a new one begins with the next write</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>each partition has %n replica(s): every write with acks=all will be refused</source>
        <translation>
            <numerusform>each partition has %n replica: every write with acks=all will be refused</numerusform>
            <numerusform>each partition has %n replicas: every write with acks=all will be refused</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>enough replicas exist (%n)</source>
        <translation>
            <numerusform>enough replicas exist (%n)</numerusform>
            <numerusform>enough replicas exist (%n)</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TopicRules</name>
    <message numerus="yes">
        <source>Only %n broker(s) are running, so at most as many replicas</source>
        <translation>
            <numerusform>Only %n broker is running, so at most one replica</numerusform>
            <numerusform>Only %n brokers are running, so at most as many replicas</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::AddConsumerDialog</name>
    <message numerus="yes">
        <source>has %n member(s)</source>
        <translation>
            <numerusform>has %n member</numerusform>
            <numerusform>has %n members</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::AssignmentMatrix</name>
    <message numerus="yes">
        <source>reads %1%2, %n record(s) behind</source>
        <translation>
            <numerusform>reads %1%2, %n record behind</numerusform>
            <numerusform>reads %1%2, %n records behind</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n record(s) behind</source>
        <translation>
            <numerusform>%n record behind</numerusform>
            <numerusform>%n records behind</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::ClientsPage</name>
    <message numerus="yes">
        <source>%n clients</source>
        <translation>
            <numerusform>%n client</numerusform>
            <numerusform>%n clients</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n connections</source>
        <translation>
            <numerusform>%n connection</numerusform>
            <numerusform>%n connections</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::ClusterCanvas</name>
    <message numerus="yes">
        <source>%1, port %2, %3, leads %n partitions</source>
        <translation>
            <numerusform>%1, port %2, %3, leads %n partition</numerusform>
            <numerusform>%1, port %2, %3, leads %n partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>topic %1, %n replicas on %2</source>
        <translation>
            <numerusform>topic %1, %n replica on %2</numerusform>
            <numerusform>topic %1, %n replicas on %2</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>consumer group %1, %2, generation %3, %n members</source>
        <translation>
            <numerusform>consumer group %1, %2, generation %3, %n member</numerusform>
            <numerusform>consumer group %1, %2, generation %3, %n members</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n leaders</source>
        <translation>
            <numerusform>%n leader</numerusform>
            <numerusform>%n leaders</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n replicas</source>
        <translation>
            <numerusform>%n replica</numerusform>
            <numerusform>%n replicas</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::ClusterPage</name>
    <message numerus="yes">
        <source>%n nodes</source>
        <translation>
            <numerusform>%n node</numerusform>
            <numerusform>%n nodes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n topics</source>
        <translation>
            <numerusform>%n topic</numerusform>
            <numerusform>%n topics</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partitions</source>
        <translation>
            <numerusform>%n partition</numerusform>
            <numerusform>%n partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n groups</source>
        <translation>
            <numerusform>%n group</numerusform>
            <numerusform>%n groups</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::ClusterTable</name>
    <message numerus="yes">
        <source>%n leaders</source>
        <translation>
            <numerusform>%n leader</numerusform>
            <numerusform>%n leaders</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::ConfigPanel</name>
    <message numerus="yes">
        <source>Review %n change(s)</source>
        <translation>
            <numerusform>Review %n change</numerusform>
            <numerusform>Review %n changes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n change(s) of %1 applied</source>
        <translation>
            <numerusform>%n change of %1 applied</numerusform>
            <numerusform>%n changes of %1 applied</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::CreateTopicDialog</name>
    <message numerus="yes">
        <source>The same %n configuration value(s). Records are not copied.</source>
        <translation>
            <numerusform>The same %n configuration value. Records are not copied.</numerusform>
            <numerusform>The same %n configuration values. Records are not copied.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::DeleteRecordsDialog</name>
    <message numerus="yes">
        <source>%1 records on %n partition(s) go.</source>
        <translation>
            <numerusform>%1 records on %n partition go.</numerusform>
            <numerusform>%1 records on %n partitions go.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::GroupModel</name>
    <message numerus="yes">
        <source>, and %n more</source>
        <translation>
            <numerusform>, and %n more</numerusform>
            <numerusform>, and %n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::GroupsPage</name>
    <message numerus="yes">
        <source>%n group(s)</source>
        <translation>
            <numerusform>%n group</numerusform>
            <numerusform>%n groups</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Offsets of %1 were reset on %n partition(s)</source>
        <translation>
            <numerusform>Offsets of %1 were reset on %n partition</numerusform>
            <numerusform>Offsets of %1 were reset on %n partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n member(s)</source>
        <translation>
            <numerusform>%n member</numerusform>
            <numerusform>%n members</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partition(s)</source>
        <translation>
            <numerusform>%n partition</numerusform>
            <numerusform>%n partitions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::LaneView</name>
    <message numerus="yes">
        <source>%n segments</source>
        <translation>
            <numerusform>%n segment</numerusform>
            <numerusform>%n segments</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n followers level</source>
        <translation>
            <numerusform>%n follower level</numerusform>
            <numerusform>%n followers level</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n followers behind</source>
        <translation>
            <numerusform>%1 of %n follower behind</numerusform>
            <numerusform>%1 of %n followers behind</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::MainWindow</name>
    <message numerus="yes">
        <source>%n record(s) of your own clients are in memory only and are gone when the window closes.</source>
        <translation>
            <numerusform>%n record of your own clients is in memory only and is gone when the window closes.</numerusform>
            <numerusform>%n records of your own clients are in memory only and are gone when the window closes.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::PartitionsPage</name>
    <message numerus="yes">
        <source>%n segments</source>
        <translation>
            <numerusform>%n segment</numerusform>
            <numerusform>%n segments</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Open %n in Messages</source>
        <translation>
            <numerusform>Open %n in Messages</numerusform>
            <numerusform>Open %n in Messages</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::ResetOffsetsDialog</name>
    <message numerus="yes">
        <source>%n partition(s) move</source>
        <translation>
            <numerusform>%n partition moves</numerusform>
            <numerusform>%n partitions move</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partition(s) end at the edge of their log.</source>
        <translation>
            <numerusform>%n partition ends at the edge of its log.</numerusform>
            <numerusform>%n partitions end at the edge of their log.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partition(s) were not reset: %1</source>
        <translation>
            <numerusform>%n partition was not reset: %1</numerusform>
            <numerusform>%n partitions were not reset: %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::ReviewConfigsDialog</name>
    <message numerus="yes">
        <source>Review %n change(s) of %1</source>
        <translation>
            <numerusform>Review %n change of %1</numerusform>
            <numerusform>Review %n changes of %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::StatusBar</name>
    <message numerus="yes">
        <source>%n client(s)</source>
        <translation>
            <numerusform>%n client</numerusform>
            <numerusform>%n clients</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n event(s) not shown</source>
        <translation>
            <numerusform>%n event not shown</numerusform>
            <numerusform>%n events not shown</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::TopBar</name>
    <message numerus="yes">
        <source>%n without leader</source>
        <translation>
            <numerusform>%n without leader</numerusform>
            <numerusform>%n without leader</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n behind</source>
        <translation>
            <numerusform>%n behind</numerusform>
            <numerusform>%n behind</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::TopicDetails</name>
    <message numerus="yes">
        <source>%n segment(s)</source>
        <translation>
            <numerusform>%n segment</numerusform>
            <numerusform>%n segments</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::TopicModel</name>
    <message numerus="yes">
        <source>%n partition(s) without a leader: nobody can write or read there</source>
        <translation>
            <numerusform>%n partition without a leader: nobody can write or read there</numerusform>
            <numerusform>%n partitions without a leader: nobody can write or read there</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partition(s) with fewer replicas in sync than min.insync.replicas: writes with acks=all are refused</source>
        <translation>
            <numerusform>%n partition with fewer replicas in sync than min.insync.replicas: writes with acks=all are refused</numerusform>
            <numerusform>%n partitions with fewer replicas in sync than min.insync.replicas: writes with acks=all are refused</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n replica(s) out of sync</source>
        <translation>
            <numerusform>%n replica out of sync</numerusform>
            <numerusform>%n replicas out of sync</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::TopicsPage</name>
    <message numerus="yes">
        <source>%n topic(s)</source>
        <translation>
            <numerusform>%n topic</numerusform>
            <numerusform>%n topics</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n selected</source>
        <translation>
            <numerusform>%n selected</numerusform>
            <numerusform>%n selected</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Delete %n topics?</source>
        <translation>
            <numerusform>Delete %n topic?</numerusform>
            <numerusform>Delete %n topics?</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Delete %n topics</source>
        <translation>
            <numerusform>Delete %n topic</numerusform>
            <numerusform>Delete %n topics</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n topics deleted.</source>
        <translation>
            <numerusform>%n topic deleted.</numerusform>
            <numerusform>%n topics deleted.</numerusform>
        </translation>
    </message>
</context>
</TS>
