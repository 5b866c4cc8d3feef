// SPDX-License-Identifier: Apache-2.0
// kafkajs, or @confluentinc/kafka-javascript through its KafkaJS interface, against a broker.
// usage: node kafkajs_client.js kafkajs|confluent first|second ADDRESS TOPIC   (see README.md for the two steps)
'use strict';
const [, , which, step, address, topic] = process.argv;
const confluent = which === 'confluent';
const { Kafka, CompressionTypes, CompressionCodecs, ConfigResourceTypes, logLevel } =
  confluent ? require('@confluentinc/kafka-javascript').KafkaJS : require('kafkajs');

function fail(what) {
  console.error(`${which}: ${what}`);
  process.exit(1);
}
function expect(what, ok) {
  if (!ok) fail(what);
}
setTimeout(() => fail('90 s are over'), 90000).unref();

let codecs = ['None', 'GZIP', 'SNAPPY', 'LZ4', 'ZSTD'];
if (!confluent) {
  // kafkajs itself knows gzip; the others are packages of their own.
  CompressionCodecs[CompressionTypes.Snappy] = require('kafkajs-snappy');
  codecs = ['None', 'GZIP', 'Snappy'];
}
const EACH = 1000;
const kafka = confluent ? new Kafka({ kafkaJS: { brokers: [address], logLevel: logLevel.ERROR } })
  : new Kafka({ brokers: [address], logLevel: logLevel.ERROR });
const producerOf = (compression) => confluent ? kafka.producer({ kafkaJS: { acks: -1, compression } }) : kafka.producer();
const groupOf = () => confluent
  ? kafka.consumer({ kafkaJS: { groupId: `${topic}-group`, fromBeginning: true, autoCommit: false, sessionTimeout: 6000, heartbeatInterval: 500 } })
  : kafka.consumer({ groupId: `${topic}-group`, sessionTimeout: 6000, heartbeatInterval: 500, rebalanceTimeout: 10000 });

// One member. It commits after each batch: what one member has read, the other must not get after a rebalance.
async function member(take, forget) {
  const consumer = groupOf();
  await consumer.connect();
  await consumer.subscribe(confluent ? { topics: [topic] } : { topics: [topic], fromBeginning: true });
  const self = { consumer, partitions: new Set() };
  await consumer.run({
    ...(confluent ? {} : { autoCommit: false }),
    eachBatchAutoResolve: true,
    eachBatch: async ({ batch: { partition, messages } }) => {
      self.partitions.add(partition);
      messages.forEach(take);
      try {
        await consumer.commitOffsets([{ topic, partition, offset: String(BigInt(messages[messages.length - 1].offset) + 1n) }]);
      } catch (error) { // into a running rebalance: these records come again
        messages.forEach(forget);
        throw error;
      }
    },
  });
  return self;
}
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
async function until(what, done) {
  for (const end = Date.now() + 60000; !done();) {
    if (Date.now() > end) fail(what);
    await sleep(50);
  }
}

async function produce(from) {
  let number = from;
  for (const name of codecs) {
    const producer = producerOf(CompressionTypes[name]);
    await producer.connect();
    const messages = [];
    for (let i = 0; i < EACH; i++, number++) {
      messages.push({ key: i % 4 === 0 ? null : `key-${i % 100}`, value: String(number), headers: { n: String(number), empty: '' } });
    }
    await producer.send(confluent ? { topic, messages } : { topic, messages, acks: -1, compression: CompressionTypes[name] });
    await producer.disconnect();
  }
  return number;
}

async function first() {
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 3, replicationFactor: 1 }] });
  const seen = new Set();
  const take = (message) => {
    const value = message.value.toString();
    expect('headers', message.headers.n.toString() === value && message.headers.empty.toString() === '');
    expect(`record ${value} twice`, !seen.has(value));
    seen.add(value);
  };
  const forget = (message) => seen.delete(message.value.toString());
  let total = await produce(0);
  const a = await member(take, forget);
  await until('alone it reads every partition', () => a.partitions.size === 3 && seen.size === total);
  a.partitions.clear();
  const b = await member(take, forget);
  // The second one joins; then new records come to both.
  for (let round = 0; (a.partitions.size === 0 || b.partitions.size === 0) && round < 30; round++) {
    total = await produce(total);
    await until(`${seen.size} of ${total} read`, () => seen.size === total);
    if (b.partitions.size === 0) { a.partitions.clear(); await sleep(500); }
  }
  expect('both members read', a.partitions.size > 0 && b.partitions.size > 0);
  await a.consumer.disconnect();
  await b.consumer.disconnect();
  await admin.disconnect();
}

async function second() {
  const producer = producerOf(CompressionTypes.None);
  await producer.connect();
  await producer.send({ topic, messages: [{ value: 'last' }] });
  const seen = [];
  const a = await member((message) => seen.push(message.value.toString()), () => fail('the commit was refused'));
  await until('a record after the restart', () => seen.length > 0);
  expect(`after the restart only the new record comes, got ${seen.slice(0, 3)}`, seen.length === 1 && seen[0] === 'last');
  await a.consumer.disconnect();
  await producer.disconnect();
  const admin = kafka.admin();
  await admin.connect();
  if (!confluent) { // that client has no configs in its admin
    await admin.alterConfigs({ validateOnly: false, resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries: [{ name: 'retention.ms', value: '123456' }] }] });
    const described = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type: ConfigResourceTypes.TOPIC, name: topic }] });
    expect('the altered config', described.resources[0].configEntries.some((c) => c.configName === 'retention.ms' && c.configValue === '123456'));
  }
  expect('the topic is listed', (await admin.listTopics()).includes(topic));
  await admin.deleteTopics({ topics: [topic] });
  // The other client's producer asks for its topic until it is destroyed, some time after disconnect(), and so creates it again
  // where the broker creates topics by themselves.
  if (!confluent) expect('the topic is gone', !(await admin.listTopics()).includes(topic));
  await admin.disconnect();
}

({ first, second })[step]().then(() => process.exit(0), (error) => fail(error.stack || error));
