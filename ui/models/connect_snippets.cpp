// SPDX-License-Identifier: Apache-2.0
#include "ui/models/connect_snippets.h"

#include <iterator>

namespace hw::ui {

namespace {

struct Template {
  const char* id;
  const char* title;
  const char* library;
  const char* install;
  const char* code;  // @SERVERS@ and @TOPIC@ are filled in
};

constexpr Template kTemplates[] = {
    {"java", "Java", "kafka-clients", "implementation(\"org.apache.kafka:kafka-clients:4.4.0\")",
     R"(var props = new Properties();
props.put("bootstrap.servers", "@SERVERS@");
props.put("group.id", "my-app");
props.put("auto.offset.reset", "earliest");

try (var producer = new KafkaProducer<>(props, new StringSerializer(), new StringSerializer())) {
  var sent = producer.send(new ProducerRecord<>("@TOPIC@", "key", "hello")).get();
  System.out.println(sent.topic() + "/" + sent.partition() + "@" + sent.offset());
}
try (var consumer = new KafkaConsumer<>(props, new StringDeserializer(), new StringDeserializer())) {
  consumer.subscribe(List.of("@TOPIC@"));
  while (true)
    for (var r : consumer.poll(Duration.ofSeconds(1)))
      System.out.println(r.partition() + "@" + r.offset() + " " + r.value());
}
)"},
    {"python", "Python", "confluent-kafka", "pip install confluent-kafka",
     R"(from confluent_kafka import Consumer, Producer

producer = Producer({"bootstrap.servers": "@SERVERS@"})
producer.produce("@TOPIC@", key="key", value="hello",
                 on_delivery=lambda err, m: print(err or f"{m.topic()}/{m.partition()}@{m.offset()}"))
producer.flush()

consumer = Consumer({"bootstrap.servers": "@SERVERS@",
                     "group.id": "my-app", "auto.offset.reset": "earliest"})
consumer.subscribe(["@TOPIC@"])
while True:
    m = consumer.poll(1.0)
    if m is not None:
        print(m.error() or f"{m.partition()}@{m.offset()} {m.value().decode()}")
)"},
    {"node", "Node", "kafkajs", "npm install kafkajs",
     R"(const { Kafka } = require('kafkajs')
const kafka = new Kafka({ clientId: 'my-app', brokers: ['@SERVERS@'] })

async function main() {
  const producer = kafka.producer()
  await producer.connect()
  await producer.send({ topic: '@TOPIC@', messages: [{ key: 'key', value: 'hello' }] })
  await producer.disconnect()

  const consumer = kafka.consumer({ groupId: 'my-app' })
  await consumer.connect()
  await consumer.subscribe({ topic: '@TOPIC@', fromBeginning: true })
  await consumer.run({ eachMessage: async ({ partition, message }) =>
    console.log(`${partition}@${message.offset} ${message.value}`) })
}
main()
)"},
    {"go", "Go", "franz-go", "go get github.com/twmb/franz-go/pkg/kgo",
     R"(package main

import (
    "context"
    "fmt"

    "github.com/twmb/franz-go/pkg/kgo"
)

func main() {
    ctx := context.Background()
    cl, err := kgo.NewClient(
        kgo.SeedBrokers("@SERVERS@"),
        kgo.ConsumerGroup("my-app"), kgo.ConsumeTopics("@TOPIC@"),
        kgo.AllowAutoTopicCreation(),
        kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
    if err != nil {
        panic(err)
    }
    defer cl.Close()
    rec := &kgo.Record{Topic: "@TOPIC@", Key: []byte("key"), Value: []byte("hello")}
    if err := cl.ProduceSync(ctx, rec).FirstErr(); err != nil {
        panic(err)
    }
    for {
        cl.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
            fmt.Printf("%d@%d %s\n", r.Partition, r.Offset, r.Value)
        })
    }
}
)"},
    {"rust", "Rust", "rdkafka", "cargo add rdkafka tokio --features tokio/full",
     R"(use rdkafka::config::ClientConfig;
use rdkafka::consumer::{Consumer, StreamConsumer};
use rdkafka::message::Message;
use rdkafka::producer::{FutureProducer, FutureRecord};
use std::time::Duration;

#[tokio::main]
async fn main() {
    let producer: FutureProducer = ClientConfig::new()
        .set("bootstrap.servers", "@SERVERS@").create().unwrap();
    let sent = producer.send(FutureRecord::to("@TOPIC@").key("key").payload("hello"),
                             Duration::from_secs(5)).await;
    println!("{sent:?}");

    let consumer: StreamConsumer = ClientConfig::new()
        .set("bootstrap.servers", "@SERVERS@").set("group.id", "my-app")
        .set("auto.offset.reset", "earliest").create().unwrap();
    consumer.subscribe(&["@TOPIC@"]).unwrap();
    loop {
        let m = consumer.recv().await.unwrap();
        println!("{}@{} {:?}", m.partition(), m.offset(), m.payload_view::<str>());
    }
}
)"},
    {"csharp", "C#", "Confluent.Kafka", "dotnet add package Confluent.Kafka",
     R"(using Confluent.Kafka;

using (var producer = new ProducerBuilder<string, string>(
           new ProducerConfig { BootstrapServers = "@SERVERS@" }).Build())
{
    var sent = await producer.ProduceAsync("@TOPIC@",
        new Message<string, string> { Key = "key", Value = "hello" });
    Console.WriteLine(sent.TopicPartitionOffset);
}

using var consumer = new ConsumerBuilder<string, string>(new ConsumerConfig {
    BootstrapServers = "@SERVERS@", GroupId = "my-app",
    AutoOffsetReset = AutoOffsetReset.Earliest }).Build();
consumer.Subscribe("@TOPIC@");
while (true)
{
    var r = consumer.Consume();
    Console.WriteLine($"{r.Partition.Value}@{r.Offset.Value} {r.Message.Value}");
}
)"},
    {"spring", "Spring", "spring-kafka", "implementation(\"org.springframework.kafka:spring-kafka\")",
     R"(# application.yaml
spring:
  kafka:
    bootstrap-servers: @SERVERS@
    consumer:
      group-id: my-app
      auto-offset-reset: earliest

// in a @Component
@KafkaListener(topics = "@TOPIC@")
void on(ConsumerRecord<String, String> r) {
  System.out.println(r.partition() + "@" + r.offset() + " " + r.value());
}
// kafkaTemplate.send("@TOPIC@", "key", "hello");
)"},
    {"kcat", "kcat", "librdkafka", "sudo apt install kcat",
     R"(# send
echo key:hello | kcat -b @SERVERS@ -P -t @TOPIC@ -K :

# read from the beginning
kcat -b @SERVERS@ -C -t @TOPIC@ -o beginning -f '%p@%o %k %s\n'

# read as a group
kcat -b @SERVERS@ -G my-app @TOPIC@
)"},
    {"hw", "hw", "Highwater", "",
     R"(# send
hw produce @TOPIC@ hello --key key --bootstrap @SERVERS@

# read from the beginning
hw consume @TOPIC@ --from earliest --bootstrap @SERVERS@

# topics
hw topics list --bootstrap @SERVERS@
)"},
    {"cli", "Kafka CLI", "Apache Kafka", "",
     R"(# send
bin/kafka-console-producer.sh --bootstrap-server @SERVERS@ --topic @TOPIC@

# read from the beginning
bin/kafka-console-consumer.sh --bootstrap-server @SERVERS@ --topic @TOPIC@ --from-beginning

# groups and their lag
bin/kafka-consumer-groups.sh --bootstrap-server @SERVERS@ --describe --all-groups
)"},
};

}  // namespace

QString example_topic(const observe::ClusterView& view) {
  QString most;
  std::int64_t records = -1;
  for (const auto& [name, topic] : *view.topics) {
    std::int64_t sum = 0;
    for (const auto& partition : topic->partitions) {
      const event::ReplicaCounters* c = partition ? partition->leader_counters() : nullptr;
      sum += c == nullptr ? 0 : c->log_end_offset.get() - c->log_start_offset.get();
    }
    if (!topic->internal && sum > records) {
      most = QString::fromStdString(name);
      records = sum;
    }
  }
  return most.isEmpty() ? QStringLiteral("orders") : most;
}

std::vector<ConnectSnippet> connect_snippets(const QString& bootstrap, const QString& topic) {
  std::vector<ConnectSnippet> out;
  out.reserve(std::size(kTemplates));
  for (const Template& t : kTemplates) {
    ConnectSnippet s;
    s.id = QString::fromLatin1(t.id);
    s.title = QString::fromLatin1(t.title);
    s.library = QString::fromLatin1(t.library);
    s.install = QString::fromLatin1(t.install);
    s.code = QString::fromLatin1(t.code).replace(QLatin1String("@SERVERS@"), bootstrap).replace(QLatin1String("@TOPIC@"), topic);
    if (s.id == QLatin1String("go")) {
      s.code.replace(QLatin1String("    "), QLatin1String("\t"));  // as gofmt has it
    }
    out.push_back(std::move(s));
  }
  return out;
}

}  // namespace hw::ui
