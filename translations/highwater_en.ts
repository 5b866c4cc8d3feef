<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_US" sourcelanguage="en_US">
<context>
    <name>ClusterModel</name>
    <message numerus="yes">
        <source>%1 of the %Ln partition(s) that it reads have no leader that answers</source>
        <translation>
            <numerusform>%1 of the %Ln partition that it reads has no leader that answers</numerusform>
            <numerusform>%1 of the %Ln partitions that it reads have no leader that answers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ConfigEffects</name>
    <message numerus="yes">
        <source>%Ln segment(s), %1, become deletable: %2 records</source>
        <translation>
            <numerusform>%Ln segment, %1, becomes deletable: %2 records</numerusform>
            <numerusform>%Ln segments, %1, become deletable: %2 records</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln segment(s), %1, that would go soon, stay</source>
        <translation>
            <numerusform>%Ln segment, %1, that would go soon, stays</numerusform>
            <numerusform>%Ln segments, %1, that would go soon, stay</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>EventAlike</name>
    <message numerus="yes">
        <source>%Ln partition(s)</source>
        <translation>
            <numerusform>%Ln partition</numerusform>
            <numerusform>%Ln partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln topic(s)</source>
        <translation>
            <numerusform>%Ln topic</numerusform>
            <numerusform>%Ln topics</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln connection(s)</source>
        <translation>
            <numerusform>%Ln connection</numerusform>
            <numerusform>%Ln connections</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln time(s)</source>
        <translation>
            <numerusform>%Ln time</numerusform>
            <numerusform>%Ln times</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>EventJournal</name>
    <message numerus="yes">
        <source>%Ln event(s) came too fast to be listed one by one; how nodes, topics and partitions stood after them is listed</source>
        <translation>
            <numerusform>%Ln event came too fast to be listed; how nodes, topics and partitions stood after it is listed</numerusform>
            <numerusform>%Ln events came too fast to be listed one by one; how nodes, topics and partitions stood after them is listed</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Events</name>
    <message numerus="yes">
        <source>Group %1 assigned its partitions to %Ln member(s)</source>
        <translation>
            <numerusform>Group %1 assigned its partitions to %Ln member</numerusform>
            <numerusform>Group %1 assigned its partitions to %Ln members</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln event(s) not shown: more happened than could be recorded</source>
        <translation>
            <numerusform>%Ln event not shown: more happened than could be recorded</numerusform>
            <numerusform>%Ln events not shown: more happened than could be recorded</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FaultFacts</name>
    <message numerus="yes">
        <source>%Ln partition(s)%1 wait for a new leader: nobody writes or reads there until then.</source>
        <translation>
            <numerusform>%Ln partition%1 waits for a new leader: nobody writes or reads there until then.</numerusform>
            <numerusform>%Ln partitions%1 wait for a new leader: nobody writes or reads there until then.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln partition(s) have no leader, and no majority of controllers is left to choose one.</source>
        <translation>
            <numerusform>%Ln partition has no leader, and no majority of controllers is left to choose one.</numerusform>
            <numerusform>%Ln partitions have no leader, and no majority of controllers is left to choose one.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln acknowledged record(s) are lost.</source>
        <translation>
            <numerusform>%Ln acknowledged record is lost.</numerusform>
            <numerusform>%Ln acknowledged records are lost.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln partition(s) have too few in-sync replicas: acks=all is refused there.</source>
        <translation>
            <numerusform>%Ln partition has too few in-sync replicas: acks=all is refused there.</numerusform>
            <numerusform>%Ln partitions have too few in-sync replicas: acks=all is refused there.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln replica(s) copy what they missed.</source>
        <translation>
            <numerusform>%Ln replica copies what it missed.</numerusform>
            <numerusform>%Ln replicas copy what they missed.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>No majority of controllers: topics, leaders and in-sync sets cannot change. %Ln partition(s) wait for an in-sync replica that cannot leave the set: acks=all is not answered there, and consumers get nothing new.</source>
        <translation>
            <numerusform>No majority of controllers: topics, leaders and in-sync sets cannot change. %Ln partition waits for an in-sync replica that cannot leave the set: acks=all is not answered there, and consumers get nothing new.</numerusform>
            <numerusform>No majority of controllers: topics, leaders and in-sync sets cannot change. %Ln partitions wait for an in-sync replica that cannot leave the set: acks=all is not answered there, and consumers get nothing new.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>GroupWhy</name>
    <message numerus="yes">
        <source>%Ln members own nothing: %1 members share %2 partitions. A partition has one reader in a group.</source>
        <translation>
            <numerusform>%Ln member owns nothing: %1 members share %2 partitions. A partition has one reader in a group.</numerusform>
            <numerusform>%Ln members own nothing: %1 members share %2 partitions. A partition has one reader in a group.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln member(s) own nothing: no partition of their topics is left.</source>
        <translation>
            <numerusform>%Ln member owns nothing: no partition of its topics is left.</numerusform>
            <numerusform>%Ln members own nothing: no partition of their topics is left.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln rebalances within 3 minutes: members come and go too often.</source>
        <translation>
            <numerusform>%Ln rebalance within 3 minutes: members come and go too often.</numerusform>
            <numerusform>%Ln rebalances within 3 minutes: members come and go too often.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>InspectorText</name>
    <message numerus="yes">
        <source>Topic · %Ln partition(s)</source>
        <translation>
            <numerusform>Topic · %Ln partition</numerusform>
            <numerusform>Topic · %Ln partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %Ln more</source>
        <translation>
            <numerusform>and %Ln more</numerusform>
            <numerusform>and %Ln more</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Offset range · %Ln offset(s)</source>
        <translation>
            <numerusform>Offset range · %Ln offset</numerusform>
            <numerusform>Offset range · %Ln offsets</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln partition(s)</source>
        <translation>
            <numerusform>%Ln partition</numerusform>
            <numerusform>%Ln partitions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LeaderStory</name>
    <message numerus="yes">
        <source>Leaders of %Ln partitions%4 moved %2 → %3</source>
        <translation>
            <numerusform>Leader of %Ln partition%4 moved %2 → %3</numerusform>
            <numerusform>Leaders of %Ln partitions%4 moved %2 → %3</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln partitions%1 have no leader.</source>
        <translation>
            <numerusform>%Ln partition%1 has no leader.</numerusform>
            <numerusform>%Ln partitions%1 have no leader.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Node %1 left the in-sync replicas of %Ln partition(s)%2.</source>
        <translation>
            <numerusform>Node %1 left the in-sync replicas of %Ln partition%2.</numerusform>
            <numerusform>Node %1 left the in-sync replicas of %Ln partitions%2.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>And %Ln more change(s).</source>
        <translation>
            <numerusform>And %Ln more change.</numerusform>
            <numerusform>And %Ln more changes.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln partitions have fewer in-sync replicas than min.insync.replicas: acks=all is refused there.</source>
        <translation>
            <numerusform>%Ln partition has fewer in-sync replicas than min.insync.replicas: acks=all is refused there.</numerusform>
            <numerusform>%Ln partitions have fewer in-sync replicas than min.insync.replicas: acks=all is refused there.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>leads %Ln partition(s)%1 again that waited for it</source>
        <translation>
            <numerusform>leads %Ln partition%1 again that waited for it</numerusform>
            <numerusform>leads %Ln partitions%1 again that waited for it</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>is in sync again in %Ln partition(s)%1</source>
        <translation>
            <numerusform>is in sync again in %Ln partition%1</numerusform>
            <numerusform>is in sync again in %Ln partitions%1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MetadataRecord</name>
    <message numerus="yes">
        <source>%Ln log directories</source>
        <translation>
            <numerusform>%Ln log directory</numerusform>
            <numerusform>%Ln log directories</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>of a feature that is not known here, %Ln bytes</source>
        <translation>
            <numerusform>of a feature that is not known here, %Ln byte</numerusform>
            <numerusform>of a feature that is not known here, %Ln bytes</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RetentionPreview</name>
    <message numerus="yes">
        <source>%Ln segment(s), %1, become deletable: %2 records</source>
        <translation>
            <numerusform>%Ln segment, %1, becomes deletable: %2 records</numerusform>
            <numerusform>%Ln segments, %1, become deletable: %2 records</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln segment(s), %1, that would go soon, stay</source>
        <translation>
            <numerusform>%Ln segment, %1, that would go soon, stays</numerusform>
            <numerusform>%Ln segments, %1, that would go soon, stay</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln active segment(s) are larger already: a new one begins with the next write</source>
        <translation>
            <numerusform>%Ln active segment is larger already: a new one begins with the next write</numerusform>
            <numerusform>%Ln active segments are larger already: a new one begins with the next write</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>each partition has %Ln replica(s): every write with acks=all will be refused</source>
        <translation>
            <numerusform>each partition has %Ln replica: every write with acks=all will be refused</numerusform>
            <numerusform>each partition has %Ln replicas: every write with acks=all will be refused</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>enough replicas exist (%Ln)</source>
        <translation>
            <numerusform>enough replicas exist (%Ln)</numerusform>
            <numerusform>enough replicas exist (%Ln)</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TopicRules</name>
    <message numerus="yes">
        <source>Only %Ln broker(s) are running, so at most as many replicas</source>
        <translation>
            <numerusform>Only %Ln broker is running, so at most one replica</numerusform>
            <numerusform>Only %Ln brokers are running, so at most as many replicas</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::AddConsumerDialog</name>
    <message numerus="yes">
        <source>has %Ln member(s)</source>
        <translation>
            <numerusform>has %Ln member</numerusform>
            <numerusform>has %Ln members</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::AssignmentMatrix</name>
    <message numerus="yes">
        <source>reads %1%2, %Ln record(s) behind</source>
        <translation>
            <numerusform>reads %1%2, %Ln record behind</numerusform>
            <numerusform>reads %1%2, %Ln records behind</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln record(s) behind</source>
        <translation>
            <numerusform>%Ln record behind</numerusform>
            <numerusform>%Ln records behind</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::BottomDock</name>
    <message numerus="yes">
        <source>The filter hides all %Ln row(s).</source>
        <translation>
            <numerusform>The filter hides the %Ln row there is.</numerusform>
            <numerusform>The filter hides all of the %Ln rows.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln row(s) of severities that are not shown.</source>
        <translation>
            <numerusform>%Ln row, of a severity that is not shown.</numerusform>
            <numerusform>%Ln rows, all of severities that are not shown.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::ClientsModel</name>
    <message numerus="yes">
        <source> · %Ln client(s)</source>
        <translation>
            <numerusform> · %Ln client</numerusform>
            <numerusform> · %Ln clients</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln client(s) with the same id, software and host: as many members of groups speak through these connections.</source>
        <translation>
            <numerusform>%Ln client with this id, software and host.</numerusform>
            <numerusform>%Ln clients with the same id, software and host: as many members of groups speak through these connections.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln connection(s)</source>
        <translation>
            <numerusform>%Ln connection</numerusform>
            <numerusform>%Ln connections</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1, %Ln connection(s), unfolded</source>
        <translation>
            <numerusform>%1, %Ln connection, unfolded</numerusform>
            <numerusform>%1, %Ln connections, unfolded</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1, %Ln connection(s), folded</source>
        <translation>
            <numerusform>%1, %Ln connection, folded</numerusform>
            <numerusform>%1, %Ln connections, folded</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::ClientsPage</name>
    <message numerus="yes">
        <source>%Ln client(s)</source>
        <translation>
            <numerusform>%Ln client</numerusform>
            <numerusform>%Ln clients</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln connection(s)</source>
        <translation>
            <numerusform>%Ln connection</numerusform>
            <numerusform>%Ln connections</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::ClusterCanvas</name>
    <message numerus="yes">
        <source>%1, port %2, %3, leads %Ln partitions</source>
        <translation>
            <numerusform>%1, port %2, %3, leads %Ln partition</numerusform>
            <numerusform>%1, port %2, %3, leads %Ln partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>topic %1, %Ln replicas on %2</source>
        <translation>
            <numerusform>topic %1, %Ln replica on %2</numerusform>
            <numerusform>topic %1, %Ln replicas on %2</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>consumer group %1, %2, %3, %Ln members</source>
        <translation>
            <numerusform>consumer group %1, %2, %3, %Ln member</numerusform>
            <numerusform>consumer group %1, %2, %3, %Ln members</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln leaders</source>
        <translation>
            <numerusform>%Ln leader</numerusform>
            <numerusform>%Ln leaders</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln replicas</source>
        <translation>
            <numerusform>%Ln replica</numerusform>
            <numerusform>%Ln replicas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 copies %Ln partitions from %2, %3 of them in sync: %4</source>
        <translation>
            <numerusform>%1 copies %Ln partition from %2, %3 of them in sync: %4</numerusform>
            <numerusform>%1 copies %Ln partitions from %2, %3 of them in sync: %4</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::ClusterPage</name>
    <message numerus="yes">
        <source>Node %1 holds %Ln replica(s): they have to be moved or deleted first.</source>
        <translation>
            <numerusform>Node %1 holds %Ln replica: it has to be moved or deleted first.</numerusform>
            <numerusform>Node %1 holds %Ln replicas: they have to be moved or deleted first.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln nodes</source>
        <translation>
            <numerusform>%Ln node</numerusform>
            <numerusform>%Ln nodes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln topics</source>
        <translation>
            <numerusform>%Ln topic</numerusform>
            <numerusform>%Ln topics</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln partitions</source>
        <translation>
            <numerusform>%Ln partition</numerusform>
            <numerusform>%Ln partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln groups</source>
        <translation>
            <numerusform>%Ln group</numerusform>
            <numerusform>%Ln groups</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln partition(s) that it leads move to replicas that are in sync, and clients follow.</source>
        <translation>
            <numerusform>%Ln partition that it leads moves to a replica that is in sync, and clients follow.</numerusform>
            <numerusform>%Ln partitions that it leads move to replicas that are in sync, and clients follow.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln partition(s) have no other replica in sync and stand still until it is back.</source>
        <translation>
            <numerusform>%Ln partition has no other replica in sync and stands still until it is back.</numerusform>
            <numerusform>%Ln partitions have no other replica in sync and stand still until it is back.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::ClusterTable</name>
    <message numerus="yes">
        <source>%Ln leaders</source>
        <translation>
            <numerusform>%Ln leader</numerusform>
            <numerusform>%Ln leaders</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::ConfigPanel</name>
    <message numerus="yes">
        <source>Review %Ln change(s)</source>
        <translation>
            <numerusform>Review %Ln change</numerusform>
            <numerusform>Review %Ln changes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln change(s) of %1 applied</source>
        <translation>
            <numerusform>%Ln change of %1 applied</numerusform>
            <numerusform>%Ln changes of %1 applied</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::CreateTopicDialog</name>
    <message numerus="yes">
        <source>%Ln configuration value(s) are taken over. Records are not copied.</source>
        <translation>
            <numerusform>%Ln configuration value is taken over. Records are not copied.</numerusform>
            <numerusform>%Ln configuration values are taken over. Records are not copied.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::DeleteRecordsDialog</name>
    <message numerus="yes">
        <source>%1 records on %Ln partition(s) go.</source>
        <translation>
            <numerusform>%1 records on %Ln partition go.</numerusform>
            <numerusform>%1 records on %Ln partitions go.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::EventModel</name>
    <message numerus="yes">
        <source>%Ln error(s)</source>
        <translation>
            <numerusform>%Ln error</numerusform>
            <numerusform>%Ln errors</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln warning(s)</source>
        <translation>
            <numerusform>%Ln warning</numerusform>
            <numerusform>%Ln warnings</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln notice(s)</source>
        <translation>
            <numerusform>%Ln notice</numerusform>
            <numerusform>%Ln notices</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln other event(s)</source>
        <translation>
            <numerusform>%Ln other event</numerusform>
            <numerusform>%Ln other events</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln detail(s)</source>
        <translation>
            <numerusform>%Ln detail</numerusform>
            <numerusform>%Ln details</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln event(s) of before this window opened</source>
        <translation>
            <numerusform>%Ln event of before this window opened</numerusform>
            <numerusform>%Ln events of before this window opened</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln more: a filter such as partition == 7 finds one of them</source>
        <translation>
            <numerusform>%Ln more: a filter such as partition == 7 finds it</numerusform>
            <numerusform>%Ln more: a filter such as partition == 7 finds one of them</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln more, which are not kept one by one</source>
        <translation>
            <numerusform>%Ln more, which is not kept</numerusform>
            <numerusform>%Ln more, which are not kept one by one</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::GroupModel</name>
    <message numerus="yes">
        <source>, and %Ln more</source>
        <translation>
            <numerusform>, and %Ln more</numerusform>
            <numerusform>, and %Ln more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::GroupsPage</name>
    <message numerus="yes">
        <source>%Ln group(s)</source>
        <translation>
            <numerusform>%Ln group</numerusform>
            <numerusform>%Ln groups</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Offsets of %1 were reset on %Ln partition(s)</source>
        <translation>
            <numerusform>Offsets of %1 were reset on %Ln partition</numerusform>
            <numerusform>Offsets of %1 were reset on %Ln partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln member(s)</source>
        <translation>
            <numerusform>%Ln member</numerusform>
            <numerusform>%Ln members</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln partition(s)</source>
        <translation>
            <numerusform>%Ln partition</numerusform>
            <numerusform>%Ln partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln partition(s) on the way, dashed: the reader has given back, and the next assignment hands on. Nobody reads meanwhile.</source>
        <translation>
            <numerusform>%Ln partition is on its way (dashed): its reader has given it back, the next assignment hands it on. Nobody reads it meanwhile.</numerusform>
            <numerusform>%Ln partitions are on their way (dashed): their readers have given them back, the next assignment hands them on. Nobody reads them meanwhile.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln partition(s) change hands, dashed: the reader gives back with a heartbeat, the next one takes with its own. All others are read on.</source>
        <translation>
            <numerusform>%Ln partition changes hands (dashed): its reader gives it back with a heartbeat, the next one takes it with its own. All others are read on.</numerusform>
            <numerusform>%Ln partitions change hands (dashed): their readers give them back with a heartbeat, the next ones take them with their own. All others are read on.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::LaneView</name>
    <message numerus="yes">
        <source>%Ln segments</source>
        <translation>
            <numerusform>%Ln segment</numerusform>
            <numerusform>%Ln segments</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln followers level</source>
        <translation>
            <numerusform>%Ln follower level</numerusform>
            <numerusform>%Ln followers level</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %Ln followers behind</source>
        <translation>
            <numerusform>%1 of %Ln follower behind</numerusform>
            <numerusform>%1 of %Ln followers behind</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::LiveSession</name>
    <message numerus="yes">
        <source>%Ln partitions have their preferred leader again</source>
        <translation>
            <numerusform>%Ln partition has its preferred leader again</numerusform>
            <numerusform>%Ln partitions have their preferred leader again</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::MainWindow</name>
    <message numerus="yes">
        <source>%Ln record(s) of your own clients are in memory only and are gone when the window closes.</source>
        <translation>
            <numerusform>%Ln record of your own clients is in memory only and is gone when the window closes.</numerusform>
            <numerusform>%Ln records of your own clients are in memory only and are gone when the window closes.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::MessagesPage</name>
    <message numerus="yes">
        <source>%Ln partition(s) cannot be read</source>
        <translation>
            <numerusform>%Ln partition cannot be read</numerusform>
            <numerusform>%Ln partitions cannot be read</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::PartitionsPage</name>
    <message numerus="yes">
        <source>%Ln segments</source>
        <translation>
            <numerusform>%Ln segment</numerusform>
            <numerusform>%Ln segments</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Open %Ln in Messages</source>
        <translation>
            <numerusform>Open in Messages</numerusform>
            <numerusform>Open %Ln in Messages</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::QuorumCanvas</name>
    <message numerus="yes">
        <source>%Ln records behind</source>
        <translation>
            <numerusform>%Ln record behind</numerusform>
            <numerusform>%Ln records behind</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::QuorumPage</name>
    <message numerus="yes">
        <source>%Ln newer record(s) are not read yet.</source>
        <translation>
            <numerusform>%Ln newer record is not read yet.</numerusform>
            <numerusform>%Ln newer records are not read yet.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln newer record(s) cannot be read: %1</source>
        <translation>
            <numerusform>%Ln newer record cannot be read: %1</numerusform>
            <numerusform>%Ln newer records cannot be read: %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::ResetOffsetsDialog</name>
    <message numerus="yes">
        <source>%Ln partition(s) move</source>
        <translation>
            <numerusform>%Ln partition moves</numerusform>
            <numerusform>%Ln partitions move</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln partition(s) end at the edge of their log.</source>
        <translation>
            <numerusform>%Ln partition ends at the edge of its log.</numerusform>
            <numerusform>%Ln partitions end at the edge of their log.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln partition(s) were not reset: %1</source>
        <translation>
            <numerusform>%Ln partition was not reset: %1</numerusform>
            <numerusform>%Ln partitions were not reset: %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::ReviewConfigsDialog</name>
    <message numerus="yes">
        <source>Review %Ln change(s) of %1</source>
        <translation>
            <numerusform>Review %Ln change of %1</numerusform>
            <numerusform>Review %Ln changes of %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::SeverityButton</name>
    <message numerus="yes">
        <source>%1 (%Ln event(s))</source>
        <translation>
            <numerusform>%1 (%Ln event)</numerusform>
            <numerusform>%1 (%Ln events)</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::StatusBar</name>
    <message numerus="yes">
        <source>%Ln client(s)</source>
        <translation>
            <numerusform>%Ln client</numerusform>
            <numerusform>%Ln clients</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln event(s) not shown</source>
        <translation>
            <numerusform>%Ln event not shown</numerusform>
            <numerusform>%Ln events not shown</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::TopBar</name>
    <message numerus="yes">
        <source>%Ln without leader</source>
        <translation>
            <numerusform>%Ln without leader</numerusform>
            <numerusform>%Ln without leader</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln behind</source>
        <translation>
            <numerusform>%Ln behind</numerusform>
            <numerusform>%Ln behind</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln stand still</source>
        <translation>
            <numerusform>%Ln stands still</numerusform>
            <numerusform>%Ln stand still</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::TopicDetails</name>
    <message numerus="yes">
        <source>%Ln segment(s)</source>
        <translation>
            <numerusform>%Ln segment</numerusform>
            <numerusform>%Ln segments</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::TopicModel</name>
    <message numerus="yes">
        <source>%Ln partition(s) without a leader: nobody can write or read there</source>
        <translation>
            <numerusform>%Ln partition without a leader: nobody can write or read there</numerusform>
            <numerusform>%Ln partitions without a leader: nobody can write or read there</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln partition(s) with fewer replicas in sync than min.insync.replicas: writes with acks=all are refused</source>
        <translation>
            <numerusform>%Ln partition with fewer replicas in sync than min.insync.replicas: writes with acks=all are refused</numerusform>
            <numerusform>%Ln partitions with fewer replicas in sync than min.insync.replicas: writes with acks=all are refused</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln replica(s) out of sync</source>
        <translation>
            <numerusform>%Ln replica out of sync</numerusform>
            <numerusform>%Ln replicas out of sync</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>hw::ui::TopicsPage</name>
    <message numerus="yes">
        <source>%Ln topic(s)</source>
        <translation>
            <numerusform>%Ln topic</numerusform>
            <numerusform>%Ln topics</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln selected</source>
        <translation>
            <numerusform>%Ln selected</numerusform>
            <numerusform>%Ln selected</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Delete %Ln topics?</source>
        <translation>
            <numerusform>Delete %Ln topic?</numerusform>
            <numerusform>Delete %Ln topics?</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Delete %Ln topics</source>
        <translation>
            <numerusform>Delete %Ln topic</numerusform>
            <numerusform>Delete %Ln topics</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln topics deleted.</source>
        <translation>
            <numerusform>%Ln topic deleted.</numerusform>
            <numerusform>%Ln topics deleted.</numerusform>
        </translation>
    </message>
</context>
</TS>
