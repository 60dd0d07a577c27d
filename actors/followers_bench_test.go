package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// BenchmarkFollowers is a call while others follow the host's events: one that says
// nothing, and one that logs a line, which all followers hear. Those that are stuck have
// stopped reading. x0 is what a call takes as a part of what it takes on a host without
// followers, which is called in turn.
func BenchmarkFollowers(b *testing.B) {
	p := plugin.Define("echo")
	plugin.Handle(p, "model:QUIET", func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil })
	plugin.Handle(p, "model:LOGS", func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
		plugin.From(ctx).Log().Info("called", "with", "nothing")
		return in, nil
	})
	programs := map[string]protocol.Program{"trivial": p}
	for _, key := range []string{"model:QUIET", "model:LOGS"} {
		for _, c := range []struct {
			followers int
			stuck     bool
		}{{1, true}, {1, false}, {1000, true}, {1000, false}} {
			b.Run(fmt.Sprintf("%s/followers=%d/stuck=%t", key, c.followers, c.stuck), func(b *testing.B) {
				alone, followed := benchHost(b, programs), benchHost(b, programs)
				startMany(b, alone, 0, 1)
				startMany(b, followed, 0, 1)
				var reading sync.WaitGroup
				defer reading.Wait()
				for range c.followers {
					sub := followed.Subscribe(KindsUsual, 256)
					defer sub.Close()
					if !c.stuck {
						reading.Go(func() {
							for range sub.C {
							}
						})
					}
				}
				benchInTurn(b, func(h *Host) {
					_, err := h.Invoke(context.Background(), protocol.Call{Key: key, Input: json.RawMessage(`1`)})
					require.NoError(b, err)
				}, alone, followed)
			})
		}
	}
}

// benchInTurn measures a call of two hosts, and reports the second one's median time as
// a part of the first one's. The first round is not counted.
func benchInTurn(b *testing.B, call func(*Host), hosts ...*Host) {
	b.Helper()
	const calls = 2000
	took := make([][]time.Duration, len(hosts))
	round := func() {
		for i, h := range hosts {
			began := time.Now()
			for range calls {
				call(h)
			}
			took[i] = append(took[i], time.Since(began)/calls)
		}
	}
	round()
	took = make([][]time.Duration, len(hosts))
	for b.Loop() {
		round()
	}
	for i := range took {
		slices.Sort(took[i])
	}
	alone, followed := took[0][len(took[0])/2], took[1][len(took[1])/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(alone), "alone-ns/call")
	b.ReportMetric(float64(followed), "followed-ns/call")
	b.ReportMetric(float64(followed)/float64(alone), "x0")
}
