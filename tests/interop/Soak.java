// SPDX-License-Identifier: Apache-2.0
// Kafka's Java clients for soak.py, until standard input ends:
//   java -cp kafka-clients… Soak.java produce ADDRESS TOPIC NAME    writes NAME:0, NAME:1, … (idempotent, acks=all) and tells
//     "ack PARTITION OFFSET VALUE" or "refused REASON" of each; then waits for the last answers
//   java -cp kafka-clients… Soak.java consume ADDRESS TOPIC GROUP   reads as a member of a group and tells "read PARTITION OFFSET VALUE"
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

public class Soak {
  static final String TEXT = "org.apache.kafka.common.serialization.String";
  static final PrintStream out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16));
  static volatile boolean ended;

  static void produce(Properties config, String topic, String name) throws InterruptedException {
    config.put("key.serializer", TEXT + "Serializer");
    config.put("value.serializer", TEXT + "Serializer");
    config.put("acks", "all");
    config.put("enable.idempotence", "true");
    config.put("linger.ms", "5");
    config.put("request.timeout.ms", "5000");
    config.put("delivery.timeout.ms", "300000");
    config.put("max.block.ms", "300000");
    config.put("retry.backoff.ms", "50");
    try (KafkaProducer<String, String> producer = new KafkaProducer<>(config)) {
      for (long i = 0; !ended; ++i) {
        String value = name + ":" + i;
        producer.send(new ProducerRecord<>(topic, String.valueOf(i % 97), value), (where, error) -> {
          synchronized (out) {
            if (error != null) {
              out.println("refused " + error.getClass().getSimpleName());
            } else {
              out.println("ack " + where.partition() + " " + where.offset() + " " + value);
            }
          }
        });
        if (i % 20 == 0) {
          synchronized (out) {
            out.flush();
          }
          Thread.sleep(10);
        }
      }
      producer.flush();
    }
  }

  static void consume(Properties config, String topic, String group) {
    config.put("key.deserializer", TEXT + "Deserializer");
    config.put("value.deserializer", TEXT + "Deserializer");
    config.put("group.id", group);
    config.put("auto.offset.reset", "earliest");
    config.put("session.timeout.ms", "6000");
    config.put("heartbeat.interval.ms", "1000");
    config.put("request.timeout.ms", "5000");
    config.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer.RangeAssignor");
    try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(config)) {
      consumer.subscribe(List.of(topic));
      while (!ended) {
        consumer.poll(Duration.ofMillis(200)).forEach(r -> out.println("read " + r.partition() + " " + r.offset() + " " + r.value()));
        out.flush();
      }
    }
  }

  public static void main(String[] args) throws Exception {
    Thread reader = new Thread(() -> {
      try {
        while (System.in.read() >= 0) {
        }
      } catch (IOException e) {
        // the same as the end
      }
      ended = true;
    });
    reader.setDaemon(true);
    reader.start();
    Properties config = new Properties();
    config.put("bootstrap.servers", args[1]);
    if (args[0].equals("produce")) {
      produce(config, args[2], args[3]);
    } else {
      consume(config, args[2], args[3]);
    }
    out.flush();
  }
}
