// SPDX-License-Identifier: Apache-2.0
// Apache Kafka's own Java clients against a broker. usage: java Client.java first|second ADDRESS TOPIC (see README.md)
import java.time.Duration;
import java.util.*;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;

public class Client {
  static String address, topic;

  static void expect(String what, boolean ok) {
    if (!ok) {
      System.err.println("java clients: " + what);
      System.exit(1);
    }
  }

  static KafkaProducer<String, String> producer(String codec) {
    return new KafkaProducer<>(Map.of("bootstrap.servers", address, "compression.type", codec, "linger.ms", "5",
        "key.serializer", "org.apache.kafka.common.serialization.StringSerializer",
        "value.serializer", "org.apache.kafka.common.serialization.StringSerializer"));
  }

  static KafkaConsumer<String, String> member(String assignor) {
    var consumer = new KafkaConsumer<String, String>(Map.of("bootstrap.servers", address, "group.id", topic + "-group",
        "auto.offset.reset", "earliest", "enable.auto.commit", "false", "max.poll.records", "500",
        "partition.assignment.strategy", "org.apache.kafka.clients.consumer." + assignor,
        "session.timeout.ms", "6000", "heartbeat.interval.ms", "300",
        "key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer",
        "value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer"));
    consumer.subscribe(List.of(topic));
    return consumer;
  }

  static void first() throws Exception {
    try (var admin = Admin.create(Map.of("bootstrap.servers", address))) {
      admin.createTopics(List.of(new NewTopic(topic, 3, (short) 1))).all().get();
      expect("three partitions", admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size() == 3);
      int total = 0;
      for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
        try (var producer = producer(codec)) {
          var sent = new ArrayList<Future<RecordMetadata>>();
          for (int i = 0; i < 1000; i++, total++) {
            var record = new ProducerRecord<String, String>(topic, i % 4 == 0 ? null : "key-" + i % 100, "" + total);
            record.headers().add("n", ("" + total).getBytes()).add("none", null);
            sent.add(producer.send(record));
          }
          for (var future : sent) future.get();
        }
      }
      for (String assignor : List.of("CooperativeStickyAssignor", "RangeAssignor", "RoundRobinAssignor", "StickyAssignor")) group(admin, assignor, total);
    }
  }

  // A group of two with a rebalance between: every record exactly once. The next assignor reads from the beginning again.
  static void group(Admin admin, String assignor, int total) throws Exception {
    var seen = new HashSet<String>();
    var a = member(assignor);
    long end = System.currentTimeMillis() + 60000;
    while (a.assignment().size() != 3 && System.currentTimeMillis() < end) take(a, seen);
    expect(assignor + ": alone it has every partition", a.assignment().size() == 3);
    a.pause(a.assignment());
    var b = member(assignor);
    while ((a.assignment().isEmpty() || b.assignment().isEmpty() || a.assignment().size() + b.assignment().size() != 3)
        && System.currentTimeMillis() < end) {
      take(a, seen);
      take(b, seen);
    }
    expect(assignor + ": together they have every partition", a.assignment().size() + b.assignment().size() == 3 && !b.assignment().isEmpty());
    a.resume(a.assignment());
    while (seen.size() < total && System.currentTimeMillis() < end) {
      take(a, seen);
      take(b, seen);
    }
    expect(assignor + ": " + seen.size() + " of " + total + " read", seen.size() == total);
    var described = admin.describeConsumerGroups(List.of(topic + "-group")).all().get().get(topic + "-group");
    expect(assignor + ": two members described", described.members().size() == 2);
    var committed = admin.listConsumerGroupOffsets(topic + "-group").partitionsToOffsetAndMetadata().get();
    var latest = new HashMap<TopicPartition, OffsetSpec>();
    committed.keySet().forEach(p -> latest.put(p, OffsetSpec.latest()));
    var ends = admin.listOffsets(latest).all().get();
    committed.forEach((p, o) -> expect(assignor + ": lag 0 of " + p, ends.get(p).offset() == o.offset()));
    a.close();
    b.close();
    if (!assignor.equals("StickyAssignor")) admin.deleteConsumerGroups(List.of(topic + "-group")).all().get();
  }

  // A commit into a running rebalance is refused; those records come again and are forgotten here.
  static void take(KafkaConsumer<String, String> consumer, Set<String> seen) {
    var got = new ArrayList<String>();
    for (var record : consumer.poll(Duration.ofMillis(100))) {
      Header n = record.headers().lastHeader("n");
      expect("headers", new String(n.value()).equals(record.value()) && record.headers().lastHeader("none").value() == null);
      expect("record " + record.value() + " twice", seen.add(record.value()));
      got.add(record.value());
    }
    if (got.isEmpty()) return;
    try {
      consumer.commitSync();
    } catch (RetriableCommitFailedException | CommitFailedException | org.apache.kafka.common.errors.RebalanceInProgressException e) {
      got.forEach(seen::remove);
    }
  }

  static void second() throws Exception {
    try (var producer = producer("none"); var a = member("StickyAssignor"); var admin = Admin.create(Map.of("bootstrap.servers", address))) {
      producer.send(new ProducerRecord<>(topic, "last")).get();
      var seen = new ArrayList<String>();
      for (long end = System.currentTimeMillis() + 30000; seen.isEmpty() && System.currentTimeMillis() < end;) {
        a.poll(Duration.ofMillis(100)).forEach(r -> seen.add(r.value()));
      }
      expect("after the restart only the new record comes, got " + seen, seen.equals(List.of("last")));
      var resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
      admin.incrementalAlterConfigs(Map.of(resource, List.of(new AlterConfigOp(new ConfigEntry("retention.ms", "123456"), AlterConfigOp.OpType.SET)))).all().get();
      expect("the altered config", admin.describeConfigs(List.of(resource)).all().get().get(resource).get("retention.ms").value().equals("123456"));
      admin.deleteTopics(List.of(topic)).all().get();
      expect("the topic is gone", !admin.listTopics().names().get().contains(topic));
    }
  }

  public static void main(String[] arguments) throws Exception {
    address = arguments[1];
    topic = arguments[2];
    if (arguments[0].equals("first")) first(); else second();
    System.exit(0);
  }
}
