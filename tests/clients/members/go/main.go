// A member on franz-go; what it is told and what it says: ../README.md
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// What is owned; changed in callbacks, which never run at the same time.
var owned = map[int32]bool{}

func say(cl *kgo.Client) {
	list := []string{}
	partitions := []int{}
	for p := range owned {
		partitions = append(partitions, int(p))
	}
	sort.Ints(partitions)
	for _, p := range partitions {
		list = append(list, fmt.Sprint(p))
	}
	if len(list) == 0 {
		list = append(list, "-")
	}
	_, generation := cl.GroupMetadata()
	fmt.Println("own", generation, strings.Join(list, ","))
}

func lose(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	for _, partitions := range gone {
		for _, p := range partitions {
			delete(owned, p)
		}
	}
}

func gain(_ context.Context, cl *kgo.Client, added map[string][]int32) {
	for _, partitions := range added {
		for _, p := range partitions {
			owned[p] = true
		}
	}
	say(cl)
}

func process(cl *kgo.Client, fetches kgo.Fetches) {
	fetches.EachError(func(_ string, p int32, err error) {
		if err != context.DeadlineExceeded {
			fmt.Fprintln(os.Stderr, "fetch:", p, err)
		}
	})
	last := []*kgo.Record{}
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if n := len(p.Records); n > 0 {
			fmt.Println("done", p.Partition, p.Records[0].Offset, p.Records[n-1].Offset, n)
			last = append(last, p.Records[n-1])
		}
	})
	if len(last) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := cl.CommitRecords(ctx, last...); err != nil {
		fmt.Fprintln(os.Stderr, "commit:", err)
		return
	}
	for _, r := range last {
		fmt.Println("kept", r.Partition, r.Offset+1)
	}
}

func options(args []string) []kgo.Opt {
	balancer := map[string]kgo.GroupBalancer{
		"range": kgo.RangeBalancer(), "roundrobin": kgo.RoundRobinBalancer(), "sticky": kgo.StickyBalancer(),
		"cooperative": kgo.CooperativeStickyBalancer(),
	}[args[3]]
	opts := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(args[0], ",")...), kgo.ConsumeTopics(args[1]), kgo.ConsumerGroup(args[2]),
		kgo.Balancers(balancer), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.OnPartitionsAssigned(gain),
		kgo.OnPartitionsRevoked(lose), kgo.OnPartitionsLost(lose),
		kgo.HeartbeatInterval(time.Second), kgo.RebalanceTimeout(60 * time.Second),
		kgo.MetadataMaxAge(5 * time.Second), kgo.RetryTimeout(15 * time.Second),
	}
	if len(args) > 4 {
		return append(opts, kgo.InstanceID(args[4]), kgo.SessionTimeout(45*time.Second))
	}
	return append(opts, kgo.SessionTimeout(6*time.Second))
}

func main() {
	var over atomic.Bool
	go func() {
		io.Copy(io.Discard, os.Stdin)
		over.Store(true)
	}()
	cl, err := kgo.NewClient(options(os.Args[1:])...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for !over.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		process(cl, cl.PollRecords(ctx, 500))
		cancel()
		cl.AllowRebalance()
	}
	cl.CloseAllowingRebalance()
}
