package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/services"
)

// book is an Auditor that keeps records in memory.
type book struct {
	mu   sync.Mutex
	list []services.Record
	// fails is what every write fails with. Those of one that is held wait for hold, which
	// has to be of the bubble.
	fails error
	held  bool
	hold  chan struct{}
}

func (b *book) Audit(ctx context.Context, r services.Record) (int64, error) {
	b.mu.Lock()
	hold := b.hold
	b.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails != nil {
		return 0, b.fails
	}
	b.list = append(b.list, r)
	return int64(len(b.list)), nil
}

// messages takes what was kept since the last time.
func (b *book) messages() []string {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	list := []string{}
	for _, r := range b.list {
		list = append(list, strings.TrimSpace(r.Plugin+" "+r.Message+" "+string(r.Metadata)))
	}
	b.list = nil
	return list
}

// keep begins a trail in a bubble of fake time, which is closed at the end.
func keep(t *testing.T, b *book, o Options) *Trail {
	t.Helper()
	if b.held {
		b.hold = make(chan struct{})
	}
	trail := New(b, o)
	t.Cleanup(func() { trail.Close(context.Background()) })
	return trail
}

func denial(plugin, what string) services.Record {
	return services.Record{Plugin: plugin, Action: "denied", EntityType: "method", EntityID: what, Message: "no " + what}
}

func TestTrail_keepsWhatIsAdded(t *testing.T) {
	b := &book{}
	synctest.Test(t, func(t *testing.T) {
		trail := keep(t, b, Options{})
		for i := range 3 {
			trail.Add(services.Record{Plugin: "p", Message: fmt.Sprint(i)})
		}
		require.Equal(t, []string{"p 0", "p 1", "p 2"}, b.messages())
		require.Equal(t, Counts{Written: 3}, trail.Counts())
	})
}

func TestTrail_flushWaitsForWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{hold: make(chan struct{})}
		trail := New(b, Options{Queue: 2})
		trail.Add(services.Record{Message: "a"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, trail.Flush(ctx), context.DeadlineExceeded)
		trail.Add(services.Record{Message: "b"})
		require.ErrorContains(t, trail.Flush(t.Context()), "too many audit records wait to be written")
		close(b.hold)
		synctest.Wait()
		trail.Add(services.Record{Message: "c"})
		require.NoError(t, trail.Flush(t.Context()))
		require.EqualValues(t, 3, trail.Counts().Written)
		trail.Close(t.Context())
		require.NoError(t, trail.Flush(t.Context()))
		require.NoError(t, (*Trail)(nil).Flush(t.Context()))
	})
}

func TestTrail_dropsWhatFindsNoRoom(t *testing.T) {
	var log bytes.Buffer
	b := &book{held: true}
	synctest.Test(t, func(t *testing.T) {
		trail := keep(t, b, Options{Queue: 2, Log: slog.New(slog.NewTextHandler(&log, nil))})
		trail.Add(services.Record{Plugin: "p", Message: "0"})
		synctest.Wait() // the writer has it
		for i := range 5 {
			trail.Add(services.Record{Plugin: "p", Message: fmt.Sprint(i + 1)})
		}
		require.Equal(t, Counts{Dropped: 3, Waiting: 2}, trail.Counts())
		require.Equal(t, 1, strings.Count(log.String(), "audit records were dropped"))
		close(b.hold)
		require.Equal(t, []string{"p 0", "p 1", "p 2"}, b.messages())
	})
}

func TestTrail_aFailureOfTheStoreIsCounted(t *testing.T) {
	var log bytes.Buffer
	b := &book{fails: errors.New("the disk is full")}
	synctest.Test(t, func(t *testing.T) {
		trail := keep(t, b, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		for range 11 {
			trail.Add(services.Record{Plugin: "p"})
		}
		synctest.Wait()
		require.Equal(t, Counts{Failed: 11}, trail.Counts())
		require.Equal(t, 2, strings.Count(log.String(), "the disk is full"))
	})
}

func TestTrail_aWriteHasALimit(t *testing.T) {
	b := &book{held: true}
	synctest.Test(t, func(t *testing.T) {
		trail := keep(t, b, Options{Write: time.Second})
		trail.Add(services.Record{Plugin: "p"})
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, Counts{Failed: 1}, trail.Counts())
	})
}

func TestTrail_denialsOfAKindAreOneRecordAWindow(t *testing.T) {
	b := &book{}
	synctest.Test(t, func(t *testing.T) {
		trail := keep(t, b, Options{})
		for range 100 {
			trail.Deny(denial("p", "http.fetch"))
			trail.Deny(denial("q", "http.fetch"))
		}
		require.Equal(t, []string{"p no http.fetch", "q no http.fetch"}, b.messages())
		time.Sleep(time.Minute)
		require.ElementsMatch(t, []string{
			`p no http.fetch (99 more like this within 1m0s) {"count":99}`,
			`q no http.fetch (99 more like this within 1m0s) {"count":99}`,
		}, b.messages())
		require.Equal(t, Counts{Written: 4, Folded: 198}, trail.Counts())
		// They go on: the next number comes in two minutes.
		trail.Deny(denial("p", "http.fetch"))
		time.Sleep(2*time.Minute - 1)
		require.Empty(t, b.messages())
		time.Sleep(time.Nanosecond)
		require.Equal(t, []string{`p no http.fetch (1 more like this within 2m0s) {"count":1}`}, b.messages())
		// Whoever was quiet for a window begins anew.
		time.Sleep(4 * time.Minute)
		require.Empty(t, b.messages())
		trail.Deny(denial("p", "http.fetch"))
		require.Equal(t, []string{"p no http.fetch"}, b.messages())
	})
}

func TestTrail_aFloodDoesNotFillTheStore(t *testing.T) {
	b := &book{}
	synctest.Test(t, func(t *testing.T) {
		trail := keep(t, b, Options{})
		began, n := time.Now(), 0
		for time.Since(began) < 24*time.Hour {
			for i := range 20 {
				trail.Deny(denial("p", fmt.Sprint(n, i)))
			}
			n++
			time.Sleep(10 * time.Second)
		}
		kept := b.messages()
		require.Less(t, len(kept), 600)
		require.Contains(t, strings.Join(kept, "\n"), "denials of other kinds within 1m0s, the last one: no ")
		require.Zero(t, trail.Counts().Dropped)
	})
}

func TestTrail_countsSoManyPlugins(t *testing.T) {
	b := &book{}
	synctest.Test(t, func(t *testing.T) {
		trail := keep(t, b, Options{Plugins: 1})
		trail.Deny(denial("p", "a"))
		trail.Deny(denial("q", "a"))
		require.Equal(t, []string{"p no a"}, b.messages())
		require.EqualValues(t, 1, trail.Counts().Dropped)
	})
}

func TestTrail_keepsLittleOfWhatAPluginChose(t *testing.T) {
	b := &book{}
	synctest.Test(t, func(t *testing.T) {
		trail := keep(t, b, Options{})
		trail.Deny(services.Record{Plugin: "p", Message: strings.Repeat("x", 10_000), EntityID: strings.Repeat("y", 10_000)})
		require.Less(t, len(b.messages()[0]), 600)
	})
}

func TestTrail_addsTheNumberToWhatElseIsKnown(t *testing.T) {
	r := numbered(services.Record{Metadata: json.RawMessage(`{"grant":"g"}`)}, 7, "m")
	require.JSONEq(t, `{"grant":"g","count":7}`, string(r.Metadata))
}

func TestTrail_closeKeepsWhatWaits(t *testing.T) {
	b := &book{}
	synctest.Test(t, func(t *testing.T) {
		trail := keep(t, b, Options{})
		trail.Deny(denial("p", "a"))
		trail.Deny(denial("p", "a"))
		trail.Close(t.Context())
		require.Equal(t, []string{"p no a", `p no a (1 more like this within 1m0s) {"count":1}`}, b.messages())
		trail.Close(t.Context())
		trail.Add(services.Record{})
		trail.Deny(services.Record{})
		require.EqualValues(t, 2, trail.Counts().Dropped)
	})
}

func TestTrail_closeGivesUpInTime(t *testing.T) {
	b := &book{held: true}
	synctest.Test(t, func(t *testing.T) {
		trail := keep(t, b, Options{})
		trail.Add(services.Record{Plugin: "p"})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		began := time.Now()
		trail.Close(ctx)
		require.Equal(t, time.Second, time.Since(began))
		require.EqualValues(t, 1, trail.Counts().Failed)
	})
}

func TestTrail_ofNobodyKeepsNothing(t *testing.T) {
	var trail *Trail
	trail.Add(services.Record{})
	trail.Deny(services.Record{})
	trail.Close(t.Context())
	require.Zero(t, trail.Counts())
}

// What was denied a plugin that is forgotten makes no record behind that.
func TestTrail_forgetsWhatItCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := keep(t, &book{}, Options{Kinds: 1})
		denial := func(plugin, company, what string) services.Record {
			return services.Record{Plugin: plugin, Company: company, Action: "denied", EntityID: what, Message: what}
		}
		for _, r := range []services.Record{denial("a", "acme", "x"), denial("b", "acme", "x"), denial("c", "", "x")} {
			b.Deny(r)
			b.Deny(r)
		}
		b.Deny(denial("c", "acme", "y")) // of a kind that is one too many
		b.Forget("a", "")
		b.Forget("", "acme")
		b.Forget("nobody", "")
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		require.EqualValues(t, 4, b.Counts().Written, "the first ones, and the number of c's")
		b.Close(t.Context())
		b.Forget("c", "")
		(*Trail)(nil).Forget("a", "")
	})
}
