// A worker on Sarama; what it is told and what it says: ../README.md
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func config(args []string) *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.V2_0_0_0
	c.Metadata.RefreshFrequency = 5 * time.Second
	c.Producer.RequiredAcks = sarama.WaitForAll
	c.Producer.Retry.Max = 1000
	c.Producer.Return.Successes = true
	c.Producer.Flush.Frequency = 5 * time.Millisecond
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	c.Consumer.Group.Session.Timeout = 15 * time.Second
	c.Consumer.Group.Heartbeat.Interval = time.Second
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "version":
			version, err := sarama.ParseKafkaVersion(value)
			must(err)
			c.Version = version
		case "idempotence":
			c.Producer.Idempotent = true
			c.Net.MaxOpenRequests = 1
		case "compression":
			c.Producer.Compression = map[string]sarama.CompressionCodec{"gzip": sarama.CompressionGZIP,
				"snappy": sarama.CompressionSnappy, "lz4": sarama.CompressionLZ4}[value]
		}
	}
	return c
}

// Sends until it is over, and then waits for what is under way.
func produce(p sarama.AsyncProducer, topic, name string, over <-chan struct{}) {
	var answers sync.WaitGroup
	answers.Add(2)
	go func() {
		defer answers.Done()
		for m := range p.Successes() {
			value, _ := m.Value.Encode()
			fmt.Println("acked", string(value))
		}
	}()
	go func() {
		defer answers.Done()
		for e := range p.Errors() {
			value, _ := e.Msg.Value.Encode()
			fmt.Println("failed", string(value), e.Err)
		}
	}()
	for seq := 0; ; seq++ {
		select {
		case <-over:
			p.AsyncClose()
			answers.Wait()
			fmt.Println("sent")
			return
		case <-time.After(10 * time.Millisecond):
		}
		key := sarama.StringEncoder(fmt.Sprint(seq))
		p.Input() <- &sarama.ProducerMessage{Topic: topic, Key: key, Value: sarama.StringEncoder(fmt.Sprint(name, ":", seq))}
	}
}

type handler struct{}

func (handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for m := range claim.Messages() {
		fmt.Println("processed", string(m.Value))
		session.MarkMessage(m, "")
	}
	return nil
}

// A member that cannot be one is made anew: old versions never ask again who coordinates when that broker is gone.
func consume(ctx context.Context, brokers []string, groupID, topic string, c *sarama.Config) {
	var group sarama.ConsumerGroup
	for ctx.Err() == nil {
		var err error
		if group == nil {
			group, err = sarama.NewConsumerGroup(brokers, groupID, c)
		}
		if err == nil {
			err = group.Consume(ctx, []string{topic}, handler{})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "consume:", err)
			if group != nil {
				group.Close()
			}
			group = nil
			time.Sleep(100 * time.Millisecond)
		}
	}
	if group != nil {
		must(group.Close())
	}
}

func main() {
	brokers, topic, groupID, name := strings.Split(os.Args[1], ","), os.Args[2], os.Args[3], os.Args[4]
	c := config(os.Args[5:])
	p, err := sarama.NewAsyncProducer(brokers, c)
	must(err)
	ctx, cancel := context.WithCancel(context.Background())
	over, done := make(chan struct{}), make(chan struct{})
	go produce(p, topic, name, over)
	go func() {
		consume(ctx, brokers, groupID, topic, c)
		close(done)
	}()
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	close(over)
	for in.Scan() {
	}
	cancel()
	<-done
}
