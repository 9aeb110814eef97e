// A worker on franz-go; what it is told and what it says: ../README.md
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func codec(args []string) kgo.CompressionCodec {
	for _, arg := range args {
		switch arg {
		case "compression=gzip":
			return kgo.GzipCompression()
		case "compression=snappy":
			return kgo.SnappyCompression()
		case "compression=lz4":
			return kgo.Lz4Compression()
		}
	}
	return kgo.NoCompression()
}

// Sends until it is over, and then waits for what is under way.
func produce(cl *kgo.Client, name string, over <-chan struct{}) {
	for seq := 0; ; seq++ {
		select {
		case <-over:
			must(cl.Flush(context.Background()))
			fmt.Println("sent")
			return
		case <-time.After(10 * time.Millisecond):
		}
		r := &kgo.Record{Key: []byte(fmt.Sprint(seq)), Value: []byte(fmt.Sprint(name, ":", seq))}
		cl.Produce(context.Background(), r, func(r *kgo.Record, err error) {
			if err != nil {
				fmt.Println("failed", string(r.Value), err)
			} else {
				fmt.Println("acked", string(r.Value))
			}
		})
	}
}

func consume(ctx context.Context, cl *kgo.Client) {
	for ctx.Err() == nil {
		fetches := cl.PollRecords(ctx, 500)
		values := []string{"processed"}
		fetches.EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
		if len(values) == 1 {
			continue
		}
		fmt.Println(strings.Join(values, " "))
		if err := cl.CommitUncommittedOffsets(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "commit:", err)
		}
	}
}

func main() {
	topic := os.Args[2]
	cl, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(os.Args[1], ",")...), kgo.DefaultProduceTopic(topic),
		kgo.ConsumeTopics(topic), kgo.ConsumerGroup(os.Args[3]), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.ProducerBatchCompression(codec(os.Args[5:])),
		kgo.SessionTimeout(15*time.Second), kgo.HeartbeatInterval(time.Second), kgo.MetadataMaxAge(5*time.Second))
	must(err)
	ctx, cancel := context.WithCancel(context.Background())
	over, done := make(chan struct{}), make(chan struct{})
	go produce(cl, os.Args[4], over)
	go func() {
		consume(ctx, cl)
		close(done)
	}()
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	close(over)
	for in.Scan() {
	}
	cancel()
	<-done
	cl.Close()
}
