// SPDX-License-Identifier: Apache-2.0
package main

// franz-go against a broker.

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func franzMember(address, topic string) *kgo.Client {
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ConsumerGroup(topic+"-group"), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
		kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(300*time.Millisecond))
	must(err)
	return client
}

// What a member has read is committed before it allows a rebalance, so nothing comes twice.
func franzTake(client *kgo.Client, most int, parts map[int32]bool, seen map[string]bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	fetches := client.PollRecords(ctx, most)
	fetches.EachRecord(func(r *kgo.Record) {
		expect("headers", len(r.Headers) == 2 && string(r.Headers[0].Value) == string(r.Value))
		expect("record "+string(r.Value)+" twice", !seen[string(r.Value)])
		seen[string(r.Value)] = true
		parts[r.Partition] = true
	})
	if fetches.NumRecords() > 0 {
		must(client.CommitRecords(context.Background(), fetches.Records()...))
	}
	client.AllowRebalance()
}

func franzFirst(address, topic string) {
	ctx := context.Background()
	plain, err := kgo.NewClient(kgo.SeedBrokers(address))
	must(err)
	admin := kadm.NewClient(plain)
	_, err = admin.CreateTopic(ctx, 3, 1, nil, topic)
	must(err)
	total := 0
	for _, codec := range []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()} {
		producer, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ProducerBatchCompression(codec), kgo.DefaultProduceTopic(topic))
		must(err)
		var records []*kgo.Record
		for i := 0; i < each; i, total = i+1, total+1 {
			value := []byte(fmt.Sprint(total))
			record := &kgo.Record{Value: value, Headers: []kgo.RecordHeader{{Key: "n", Value: value}, {Key: "none"}}}
			if i%4 != 0 {
				record.Key = []byte(fmt.Sprintf("key-%d", i%100))
			}
			records = append(records, record)
		}
		must(producer.ProduceSync(ctx, records...).FirstErr())
		producer.Close()
	}
	seen, parts := map[string]bool{}, [2]map[int32]bool{{}, {}}
	a := franzMember(address, topic)
	end := time.Now().Add(60 * time.Second)
	for len(seen) == 0 && time.Now().Before(end) {
		franzTake(a, 1, parts[0], seen)
	}
	b := franzMember(address, topic)
	for len(parts[1]) == 0 && time.Now().Before(end) {
		franzTake(a, 1, parts[0], seen)
		franzTake(b, 1, parts[1], seen)
	}
	for len(seen) < total && time.Now().Before(end) {
		franzTake(a, 500, parts[0], seen)
		franzTake(b, 500, parts[1], seen)
	}
	expect(fmt.Sprintf("%d of %d read, by both %v", len(seen), total, parts), len(seen) == total && len(parts[0]) > 0 && len(parts[1]) > 0)
	described, err := admin.DescribeGroups(ctx, topic+"-group")
	must(err)
	expect("two members described", len(described[topic+"-group"].Members) == 2)
	lags, err := admin.Lag(ctx, topic+"-group")
	must(err)
	expect("lag 0", lags[topic+"-group"].Lag.Total() == 0)
	a.Close()
	b.Close()
	plain.Close()
}

func franzSecond(address, topic string) {
	ctx := context.Background()
	plain, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DefaultProduceTopic(topic))
	must(err)
	must(plain.ProduceSync(ctx, &kgo.Record{Value: []byte("last"), Headers: []kgo.RecordHeader{{Key: "n", Value: []byte("last")}, {Key: "none"}}}).FirstErr())
	a := franzMember(address, topic)
	seen := map[string]bool{}
	for end := time.Now().Add(30 * time.Second); len(seen) == 0 && time.Now().Before(end); {
		franzTake(a, 100, map[int32]bool{}, seen)
	}
	expect(fmt.Sprint("after the restart only the new record comes, got ", seen), len(seen) == 1 && seen["last"])
	a.Close()
	admin := kadm.NewClient(plain)
	value := "123456"
	_, err = admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "retention.ms", Value: &value}}, topic)
	must(err)
	configs, err := admin.DescribeTopicConfigs(ctx, topic)
	must(err)
	altered := false
	for _, config := range configs[0].Configs {
		altered = altered || config.Key == "retention.ms" && config.MaybeValue() == value
	}
	expect("the altered config", altered)
	_, err = admin.DeleteTopic(ctx, topic)
	must(err)
	topics, err := admin.ListTopics(ctx)
	must(err)
	expect("the topic is gone", !topics.Has(topic))
	plain.Close()
}
