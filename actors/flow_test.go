package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport/memory"
)

// tells is a service that reports items and answers 7, whatever became of them; what it
// was told goes to a channel.
func tells(told chan<- error, items ...string) protocol.Service {
	return protocol.ServiceFunc(func(_ context.Context, c protocol.Call) (json.RawMessage, error) {
		for _, item := range items {
			if c.Progress != nil {
				told <- c.Progress(json.RawMessage(item))
			}
		}
		return []byte(`7`), nil
	})
}

// reads is a service that answers with what it is fed.
var reads = protocol.ServiceFunc(func(_ context.Context, c protocol.Call) (json.RawMessage, error) {
	var got []string
	if c.Feed == nil {
		return c.Input, nil
	}
	for item, err := range c.Feed {
		if err != nil {
			return nil, fmt.Errorf("%s, then: %w", strings.Join(got, ","), err)
		}
		got = append(got, string(item))
	}
	return json.Marshal(strings.Join(got, ","))
})

func TestFlow_aPeerFollowsWhatItCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan error, 8)
		quick := protocol.QuickFunc(tells(told, "3").Serve)
		f := ready(t, Options{Services: map[string]protocol.Service{"tell": tells(told, "1", "2")}}, memory.Options{}, plain{}, "tool:own")
		f.host.methods = map[string]map[string]protocol.Service{"plain": {"quick": quick}}
		f.says("follow 1 tell")
		f.hears("report 1 1", "report 1 2", "result 1 7")
		f.says("serve 2 tell")
		f.hears("result 2 7")
		f.says("serve 3 quick")
		f.hears("result 3 7")
		f.says("follow 4 quick")
		f.hears("report 4 3", "result 4 7")

		f.says("follow 5 tool:own") // of a peer, its own
		f.hears("call 1 tool:own  follows")
		f.says("progress 1 a", "progress 1 b\nanswer 1 c")
		f.hears("report 5 a", "report 5 b", "result 5 c")
		for range len(told) {
			require.NoError(t, <-told)
		}
	})
}

func TestFlow_anItemThatIsLostIsNoSilentGap(t *testing.T) {
	for item, why := range map[string]string{
		strings.Repeat("1", 129): "a frame is longer than the limit of 128 bytes",
		strings.Repeat("1", 128): "a frame is longer than the limit of 128 bytes",
		`"unwritable"`:           "this cannot be written",
	} {
		synctest.Test(t, func(t *testing.T) {
			told := make(chan error, 3)
			f := ready(t, Options{Services: map[string]protocol.Service{"tell": tells(told, "1", item, "3")}}, memory.Options{MaxRecord: 128}, plain{})
			f.says("follow 1 tell")
			want := "an intermediate item of tell cannot be sent: " + why
			f.hears("report 1 1", "report 1 3", "failed 1 "+want)
			require.NoError(t, <-told)
			require.EqualError(t, <-told, want)
			require.NoError(t, <-told)
			wantPhase(t, f.host, "far", lifecycle.Ready)
		})
	}
}

func TestFlow_anItemWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan error, 4)
		f := ready(t, Options{Services: map[string]protocol.Service{"tell": tells(told, "1", "2", "3")}}, memory.Options{QueueRecords: 2}, plain{})
		f.says("follow 1 tell")
		time.Sleep(time.Second)
		require.Len(t, told, 2, "the third one waits")
		f.hears("report 1 1", "report 1 2", "report 1 3", "result 1 7")
	})
}

func TestFlow_endsWhenThePeerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan error, 8)
		ticks := protocol.ServiceFunc(func(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
			for ctx.Err() == nil {
				if err := c.Progress([]byte(`1`)); err != nil {
					return nil, err
				}
				time.Sleep(time.Second)
			}
			told <- context.Cause(ctx)
			return nil, ctx.Err()
		})
		f := ready(t, Options{Services: map[string]protocol.Service{"tick": ticks, "read": reads}}, memory.Options{}, plain{})
		f.says("follow 1 tick", "serve-fed 2 read", "fed 2 1")
		f.hears("report 1 1")
		for _, call := range []string{"1 tick", "2 read"} {
			f.says("abandon " + call[:1])
			f.hears("failed " + call + " of the host did not answer: the caller gave up: context canceled")
		}
		require.ErrorIs(t, <-told, context.Canceled)
		f.says("fed 2 2", "fed-end 2")
		require.Equal(t, map[string]uint64{"feed": 1}, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)

		f.says("follow 3 tick", "serve-fed 4 read")
		require.NoError(t, f.conn.Close())
		require.ErrorIs(t, <-told, context.Canceled)
	})
}

func TestFlow_aPeerFeedsWhatItCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{Services: map[string]protocol.Service{"read": reads}}, memory.Options{}, streaming{}, "data:own")
		f.says("serve-fed 1 read", "fed 1 a", "fed 1 b\nfed-end 1\nfed 1 c")
		f.hears(`result 1 "a,b"`)
		f.says("serve-fed 2 read", "fed 2 a\nfed-end 2 torn")
		f.hears("failed 2 a, then: torn")
		f.says("serve 3 read", "fed 3 a")
		f.hears("result 3 ")

		f.says("serve-fed 4 data:own", "fed 4 a", "fed 4 b", "fed-end 4") // and on to a peer
		f.hears("call 1 data:own  feeds", "feed 1 a", "feed 1 b", "feed-end 1 <nil>", "and that was all")
		f.says("answer 1 5")
		f.hears("result 4 5")
		require.Equal(t, map[string]uint64{"feed": 2}, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)
	})
}

func TestFlow_tooMuchIsAnOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := make(chan error, 1)
		deaf := protocol.ServiceFunc(func(ctx context.Context, _ protocol.Call) (json.RawMessage, error) {
			<-ctx.Done()
			why <- context.Cause(ctx)
			return []byte(`7`), nil
		})
		f := ready(t, Options{Services: map[string]protocol.Service{"deaf": deaf}, Limits: Limits{StreamItems: 2}}, memory.Options{}, plain{})
		f.says("serve-fed 1 deaf", "fed 1 a", "fed 1 b")
		require.Empty(t, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)
		f.says("fed 1 c")
		const text = "the request stream for deaf comes faster than it is read: 2 items wait, the limit (streamItems): " +
			"send it more slowly, or raise the host's limit"
		f.hears("failed 1 plugin far: " + text)
		require.ErrorContains(t, <-why, text)
		f.says("fed 1 d")
		require.Equal(t, map[string]uint64{"feed": 4}, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)
	})
}

func TestFlow_whatIsNotReadToItsEndIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		first := protocol.ServiceFunc(func(_ context.Context, c protocol.Call) (json.RawMessage, error) {
			for item, err := range c.Feed {
				<-release
				return item, err
			}
			return nil, errors.New("nothing came")
		})
		f := ready(t, Options{Services: map[string]protocol.Service{"first": first}, Limits: Limits{StreamItems: 8}}, memory.Options{}, plain{})
		f.says("serve-fed 1 first", "fed 1 a", "fed 1 b")
		close(release)
		f.hears("result 1 a")
		f.says("fed 1 c")
		require.Equal(t, map[string]uint64{"feed": 1}, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)
	})
}

func TestFlow_aBurstIsNotTooMuchForWhoReadsItAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{Services: map[string]protocol.Service{"read": reads}}, memory.Options{}, streaming{})
		const n = 20_000
		f.says("serve-fed 1 read")
		f.says(strings.Repeat("fed 1 1\n", n) + "fed-end 1")
		f.hears(`result 1 "` + strings.Repeat("1,", n-1) + `1"`)
	})
}
