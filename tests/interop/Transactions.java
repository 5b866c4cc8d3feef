// SPDX-License-Identifier: Apache-2.0
// Kafka's own producer and consumer in transactions: read, process, write; every third round is aborted. A consumer that reads what is
// committed must see every record once, and a producer that was replaced must be fenced.
//   java -cp 'lib/*' Transactions.java ADDRESS

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class Transactions {
  static final int COUNT = 600;
  static String address;

  static void expect(String what, boolean ok) {
    if (!ok) {
      System.err.println("java: " + what);
      System.exit(1);
    }
  }

  static KafkaProducer<String, String> producer(String id) {
    Properties config = new Properties();
    config.put("bootstrap.servers", address);
    if (id != null) {
      config.put("transactional.id", id);
    }
    KafkaProducer<String, String> producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
    if (id != null) {
      producer.initTransactions();
    }
    return producer;
  }

  static KafkaConsumer<String, String> consumer(String group, String protocol, String isolation) {
    Properties config = new Properties();
    config.put("bootstrap.servers", address);
    config.put("group.id", group);
    config.put("group.protocol", protocol);
    config.put("auto.offset.reset", "earliest");
    config.put("enable.auto.commit", "false");
    config.put("isolation.level", isolation);
    config.put("max.poll.records", "50");
    return new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
  }

  static List<Integer> everything(String topic, String isolation) {
    List<Integer> seen = new ArrayList<>();
    try (KafkaConsumer<String, String> consumer = consumer("all-" + topic + isolation, "classic", isolation)) {
      List<TopicPartition> all = new ArrayList<>();
      consumer.partitionsFor(topic).forEach(p -> all.add(new TopicPartition(topic, p.partition())));
      consumer.assign(all);
      consumer.seekToBeginning(all);
      Map<TopicPartition, Long> ends = consumer.endOffsets(all);
      while (all.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
        consumer.poll(Duration.ofMillis(200)).forEach(r -> seen.add(Integer.parseInt(r.value())));
      }
    }
    seen.sort(null);
    return seen;
  }

  static void readProcessWrite(String protocol) throws Exception {
    String in = "java-in-" + protocol;
    String out = "java-out-" + protocol;
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", address))) {
      admin.createTopics(List.of(new NewTopic(in, 3, (short) 1), new NewTopic(out, 3, (short) 1))).all().get();
    }
    try (KafkaProducer<String, String> plain = producer(null)) {
      for (int i = 0; i < COUNT; i++) {
        plain.send(new ProducerRecord<>(in, "k" + i, Integer.toString(i)));
      }
    }
    KafkaProducer<String, String> worker = producer("worker-" + protocol);
    int done = 0;
    int round = 0;
    try (KafkaConsumer<String, String> source = consumer("workers-" + protocol, protocol, "read_committed")) {
      source.subscribe(List.of(in));
      long end = System.currentTimeMillis() + 60_000;
      while (done < COUNT && System.currentTimeMillis() < end) {
        ConsumerRecords<String, String> batch = source.poll(Duration.ofMillis(500));
        if (batch.isEmpty()) {
          continue;
        }
        worker.beginTransaction();
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        for (ConsumerRecord<String, String> record : batch) {
          worker.send(new ProducerRecord<>(out, record.key(), record.value()));
          positions.put(new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
        }
        worker.sendOffsetsToTransaction(positions, source.groupMetadata());
        if (++round % 3 == 0) {
          worker.flush();  // what was not sent yet would only be dropped
          worker.abortTransaction();
          source.committed(source.assignment()).forEach((p, o) -> source.seek(p, o == null ? 0 : o.offset()));
          continue;
        }
        worker.commitTransaction();
        done += batch.count();
      }
    }
    expect(done + " of " + COUNT + " processed (" + protocol + ")", done == COUNT);
    List<Integer> wanted = new ArrayList<>();
    for (int i = 0; i < COUNT; i++) {
      wanted.add(i);
    }
    expect("every record once (" + protocol + ")", everything(out, "read_committed").equals(wanted));
    expect("what was aborted is there for who wants it", everything(out, "read_uncommitted").size() > COUNT);

    worker.beginTransaction();
    worker.send(new ProducerRecord<>(out, "-1"));
    worker.flush();
    try (KafkaProducer<String, String> next = producer("worker-" + protocol)) {
      next.beginTransaction();
      next.send(new ProducerRecord<>(out, Integer.toString(COUNT)));
      next.commitTransaction();
    }
    wanted.add(COUNT);
    try {
      worker.commitTransaction();
      expect("a producer that was replaced is fenced", false);
    } catch (ProducerFencedException | InvalidProducerEpochException error) {
      worker.close(Duration.ZERO);
    }
    expect("the zombie wrote nothing that counts", everything(out, "read_committed").equals(wanted));
  }

  public static void main(String[] args) throws Exception {
    address = args[0];
    readProcessWrite("classic");
    readProcessWrite("consumer");
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", address))) {
      expect("the coordinator knows both", admin.listTransactions().all().get().size() >= 2);
      expect("described", admin.describeTransactions(List.of("worker-classic")).all().get().get("worker-classic").state().toString()
          .equals("CompleteCommit"));
      admin.fenceProducers(List.of("worker-classic")).all().get();
    }
  }
}
