// SPDX-License-Identifier: Apache-2.0
// Kafka's Java consumer as one member of a group:  java -cp kafka-clients… Mixed.java ADDRESS GROUP TOPIC ASSIGNOR
// Speaks like interop_member: "has N" when its assignment changes, every value it reads, and leaves when standard input ends.
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

public class Mixed {
  static final Map<String, String> ASSIGNORS = Map.of("range", "RangeAssignor", "roundrobin", "RoundRobinAssignor",
      "sticky", "StickyAssignor", "cooperative-sticky", "CooperativeStickyAssignor");
  static volatile boolean ended;
  static int has;

  static void changed(int by) {
    has += by;
    System.out.println("has " + has);
  }

  public static void main(String[] args) throws Exception {
    Properties config = new Properties();
    config.put("bootstrap.servers", args[0]);
    config.put("group.id", args[1]);
    config.put("auto.offset.reset", "earliest");
    config.put("heartbeat.interval.ms", "1000");
    config.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer." + ASSIGNORS.get(args[3]));
    config.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
    config.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
    Thread reader = new Thread(() -> {
      try {
        while (System.in.read() >= 0) {
        }
      } catch (java.io.IOException e) {
        // the same as the end
      }
      ended = true;
    });
    reader.setDaemon(true);
    reader.start();
    try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(config)) {
      consumer.subscribe(List.of(args[2]), new ConsumerRebalanceListener() {
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) { changed(partitions.size()); }
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) { changed(-partitions.size()); }
      });
      while (!ended) {
        consumer.poll(Duration.ofMillis(200)).forEach(record -> System.out.println(record.value()));
      }
    }
  }
}
