// SPDX-License-Identifier: Apache-2.0
package main

// kafka-go against a broker.

import (
	"context"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
)

func segmentioMember(address, topic string) *kafka.Reader {
	return kafka.NewReader(kafka.ReaderConfig{Brokers: []string{address}, GroupID: topic + "-group", Topic: topic, StartOffset: kafka.FirstOffset,
		SessionTimeout: 6 * time.Second, HeartbeatInterval: 300 * time.Millisecond, RebalanceTimeout: 5 * time.Second,
		MaxWait: 100 * time.Millisecond, JoinGroupBackoff: 100 * time.Millisecond})
}

// Reads up to `most` records and commits them. A commit into a running rebalance fails: those records come again.
func segmentioTake(reader *kafka.Reader, most int, parts map[int]bool, seen map[string]bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	var messages []kafka.Message
	for len(messages) < most {
		m, err := reader.FetchMessage(ctx)
		if err != nil {
			break
		}
		expect("headers", len(m.Headers) == 1 && string(m.Headers[0].Value) == string(m.Value))
		messages = append(messages, m)
	}
	if len(messages) == 0 || reader.CommitMessages(context.Background(), messages...) != nil {
		return
	}
	for _, m := range messages {
		seen[string(m.Value)] = true
		parts[m.Partition] = true
	}
}

func segmentioFirst(address, topic string) {
	ctx := context.Background()
	client := &kafka.Client{Addr: kafka.TCP(address)}
	created, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: 3, ReplicationFactor: 1}}})
	must(err)
	must(created.Errors[topic])
	total := 0
	for _, codec := range []kafka.Compression{0, kafka.Gzip, kafka.Snappy, kafka.Lz4, kafka.Zstd} {
		writer := &kafka.Writer{Addr: kafka.TCP(address), Topic: topic, Balancer: kafka.Murmur2Balancer{}, Compression: codec,
			RequiredAcks: kafka.RequireAll, BatchTimeout: 5 * time.Millisecond}
		var messages []kafka.Message
		for i := 0; i < each; i, total = i+1, total+1 {
			value := []byte(fmt.Sprint(total))
			message := kafka.Message{Value: value, Headers: []kafka.Header{{Key: "n", Value: value}}}
			if i%4 != 0 {
				message.Key = []byte(fmt.Sprintf("key-%d", i%100))
			}
			messages = append(messages, message)
		}
		must(writer.WriteMessages(ctx, messages...))
		must(writer.Close())
	}
	seen, parts := map[string]bool{}, [2]map[int]bool{{}, {}}
	a := segmentioMember(address, topic)
	end := time.Now().Add(90 * time.Second)
	for len(seen) == 0 && time.Now().Before(end) {
		segmentioTake(a, 1, parts[0], seen)
	}
	b := segmentioMember(address, topic)
	for len(parts[1]) == 0 && time.Now().Before(end) {
		segmentioTake(a, 1, parts[0], seen)
		segmentioTake(b, 1, parts[1], seen)
	}
	for len(seen) < total && time.Now().Before(end) {
		segmentioTake(a, 500, parts[0], seen)
		segmentioTake(b, 500, parts[1], seen)
	}
	expect(fmt.Sprintf("%d of %d read, by both %v", len(seen), total, parts), len(seen) == total && len(parts[0]) > 0 && len(parts[1]) > 0)
	described, err := client.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{topic + "-group"}})
	must(err)
	expect("two members described", len(described.Groups) == 1 && len(described.Groups[0].Members) == 2)
	must(a.Close())
	must(b.Close())
}

func segmentioSecond(address, topic string) {
	ctx := context.Background()
	writer := &kafka.Writer{Addr: kafka.TCP(address), Topic: topic, BatchTimeout: 5 * time.Millisecond, RequiredAcks: kafka.RequireAll}
	must(writer.WriteMessages(ctx, kafka.Message{Value: []byte("last"), Headers: []kafka.Header{{Key: "n", Value: []byte("last")}}}))
	must(writer.Close())
	reader := segmentioMember(address, topic)
	seen := map[string]bool{}
	for end := time.Now().Add(30 * time.Second); len(seen) == 0 && time.Now().Before(end); {
		segmentioTake(reader, 100, map[int]bool{}, seen)
	}
	expect(fmt.Sprint("after the restart only the new record comes, got ", seen), len(seen) == 1 && seen["last"])
	must(reader.Close())
	client := &kafka.Client{Addr: kafka.TCP(address)}
	altered, err := client.IncrementalAlterConfigs(ctx, &kafka.IncrementalAlterConfigsRequest{Resources: []kafka.IncrementalAlterConfigsRequestResource{{
		ResourceType: kafka.ResourceTypeTopic, ResourceName: topic,
		Configs: []kafka.IncrementalAlterConfigsRequestConfig{{Name: "retention.ms", Value: "123456", ConfigOperation: kafka.ConfigOperationSet}}}}})
	must(err)
	must(altered.Resources[0].Error)
	described, err := client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{{
		ResourceType: kafka.ResourceTypeTopic, ResourceName: topic, ConfigNames: []string{"retention.ms"}}}})
	must(err)
	expect("the altered config", described.Resources[0].ConfigEntries[0].ConfigValue == "123456")
	deleted, err := client.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	must(err)
	must(deleted.Errors[topic])
}
