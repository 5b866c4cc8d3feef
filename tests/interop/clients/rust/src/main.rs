// SPDX-License-Identifier: Apache-2.0
//! rdkafka (Rust) against a broker. usage: interop first|second ADDRESS TOPIC (see ../../README.md for the two steps)
use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use rdkafka::admin::{AdminClient, AdminOptions, AlterConfig, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::message::{Header, Headers, Message, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};

const EACH: usize = 1000;

fn expect(what: &str, ok: bool) {
    if !ok {
        eprintln!("rdkafka: {what}");
        std::process::exit(1);
    }
}

fn config(address: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", address);
    config
}

fn member(address: &str, topic: &str) -> BaseConsumer {
    let consumer: BaseConsumer = config(address)
        .set("group.id", format!("{topic}-group"))
        .set("auto.offset.reset", "earliest")
        .set("enable.auto.commit", "false")
        .set("partition.assignment.strategy", "cooperative-sticky")
        .set("session.timeout.ms", "6000")
        .set("heartbeat.interval.ms", "300")
        .create()
        .unwrap();
    consumer.subscribe(&[topic]).unwrap();
    consumer
}

/// What was read, and what of it is not committed yet: that may come again after a rebalance.
#[derive(Default)]
struct Reads {
    seen: HashSet<String>,
    open: [HashSet<String>; 2], // of each member
}

/// Reads for a moment, then commits. A commit into a running rebalance is refused; the next one makes up for it.
fn take(consumer: &BaseConsumer, which: usize, most: usize, reads: &mut Reads) {
    let end = Instant::now() + Duration::from_millis(200);
    let mut read = 0;
    while read < most && Instant::now() < end {
        let Some(Ok(message)) = consumer.poll(Duration::from_millis(50)) else { continue };
        let value = String::from_utf8(message.payload().unwrap().to_vec()).unwrap();
        let headers = message.headers().unwrap();
        expect("headers", headers.get(0).value == Some(value.as_bytes()) && headers.get(1).value.is_none());
        expect(&format!("record {value} twice"), reads.seen.insert(value.clone()) || reads.open.iter().any(|o| o.contains(&value)));
        reads.open[which].insert(value);
        read += 1;
    }
    if consumer.commit_consumer_state(CommitMode::Sync).is_ok() {
        reads.open[which].clear();
    }
}

fn assigned(consumer: &BaseConsumer) -> usize {
    consumer.assignment().unwrap().count()
}

fn send(producer: &BaseProducer, topic: &str, key: Option<String>, value: &str) {
    let headers = OwnedHeaders::new().insert(Header { key: "n", value: Some(value) }).insert(Header::<&str> { key: "none", value: None });
    let mut record = BaseRecord::<String, str>::to(topic).payload(value).headers(headers);
    if let Some(key) = &key {
        record = record.key(key);
    }
    expect("queued", producer.send(record).is_ok());
    producer.poll(Duration::ZERO);
}

fn first(address: &str, topic: &str) {
    let admin: AdminClient<DefaultClientContext> = config(address).create().unwrap();
    let created = block_on(admin.create_topics(&[NewTopic::new(topic, 3, TopicReplication::Fixed(1))], &AdminOptions::new())).unwrap();
    expect("the topic is created", created[0].is_ok());
    let mut total = 0;
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
        let producer: BaseProducer = config(address)
            .set("compression.type", codec)
            .set("enable.idempotence", "true")
            .set("linger.ms", "5")
            .create()
            .unwrap();
        for i in 0..EACH {
            send(&producer, topic, (i % 4 != 0).then(|| format!("key-{}", i % 100)), &total.to_string());
            total += 1;
        }
        expect("flush", producer.flush(Duration::from_secs(30)).is_ok());
    }
    let mut reads = Reads::default();
    let end = Instant::now() + Duration::from_secs(60);
    let a = member(address, topic);
    while assigned(&a) != 3 && Instant::now() < end {
        take(&a, 0, 1, &mut reads);
    }
    expect("alone it has every partition", assigned(&a) == 3);
    let b = member(address, topic);
    while (assigned(&b) == 0 || assigned(&a) + assigned(&b) != 3) && Instant::now() < end {
        take(&a, 0, 1, &mut reads);
        take(&b, 1, 1, &mut reads);
    }
    expect("together they have every partition", assigned(&a) + assigned(&b) == 3 && assigned(&a) > 0 && assigned(&b) > 0);
    while reads.seen.len() < total && Instant::now() < end {
        take(&a, 0, 500, &mut reads);
        take(&b, 1, 500, &mut reads);
    }
    expect(&format!("{} of {total} read", reads.seen.len()), reads.seen.len() == total);
    let groups = a.fetch_group_list(Some(&format!("{topic}-group")), Duration::from_secs(10)).unwrap();
    expect("two members described", groups.groups()[0].members().len() == 2);
}

fn second(address: &str, topic: &str) {
    let producer: BaseProducer = config(address).create().unwrap();
    send(&producer, topic, None, "last");
    expect("flush", producer.flush(Duration::from_secs(30)).is_ok());
    let a = member(address, topic);
    let mut reads = Reads::default();
    let end = Instant::now() + Duration::from_secs(30);
    while reads.seen.is_empty() && Instant::now() < end {
        take(&a, 0, 100, &mut reads);
    }
    expect(&format!("after the restart only the new record comes, got {:?}", reads.seen), reads.seen.len() == 1 && reads.seen.contains("last"));
    drop(a);
    let admin: AdminClient<DefaultClientContext> = config(address).create().unwrap();
    let resource = ResourceSpecifier::Topic(topic);
    let altered = block_on(admin.alter_configs([&AlterConfig::new(resource).set("retention.ms", "123456")], &AdminOptions::new())).unwrap();
    expect("the config is altered", altered[0].is_ok());
    let described = block_on(admin.describe_configs([&resource], &AdminOptions::new())).unwrap();
    expect("the altered config", described[0].as_ref().unwrap().get("retention.ms").unwrap().value.as_deref() == Some("123456"));
    expect("the topic is deleted", block_on(admin.delete_topics(&[topic], &AdminOptions::new())).unwrap()[0].is_ok());
    let topics = producer.client().fetch_metadata(None, Duration::from_secs(10)).unwrap();
    expect("the topic is gone", topics.topics().iter().all(|t| t.name() != topic));
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments[1].as_str() {
        "first" => first(&arguments[2], &arguments[3]),
        _ => second(&arguments[2], &arguments[3]),
    }
}
