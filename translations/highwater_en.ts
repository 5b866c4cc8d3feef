<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_US" sourcelanguage="en_US">
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
    <name>hw::ui::TopicsPage</name>
    <message numerus="yes">
        <source>%n topic(s)</source>
        <translation>
            <numerusform>%n topic</numerusform>
            <numerusform>%n topics</numerusform>
        </translation>
    </message>
</context>
</TS>
