package otlp

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// collector takes batches as it is told.
type collector struct {
	mu   sync.Mutex
	got  [][]int
	fail error
	hang bool
}

func (c *collector) take(ctx context.Context, batch []int) error {
	if c.hang {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, slices.Clone(batch))
	return c.fail
}

func (c *collector) batches() [][]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.got)
}

func (c *collector) mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail = nil
}

func newTestQueue(c *collector, log *strings.Builder) *queue[int] {
	return newQueue("numbers", Options{
		Queue: 4, Batch: 2, Interval: time.Second, Timeout: 10 * time.Second, Log: slog.New(slog.NewTextHandler(log, nil)),
	}, c.take)
}

func TestQueue_sendsWhatHasGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{}
		q := newTestQueue(c, &strings.Builder{})
		q.put(1)
		synctest.Wait()
		require.Empty(t, c.batches(), "more may come")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, [][]int{{1}}, c.batches())
		q.put(2)
		q.put(3)
		synctest.Wait()
		require.Equal(t, [][]int{{1}, {2, 3}}, c.batches(), "a batch is full")
		q.put(4)
		q.close(t.Context())
		q.close(t.Context())
		require.Equal(t, [][]int{{1}, {2, 3}, {4}}, c.batches(), "the end sends what is left")
		q.put(5)
		require.Equal(t, Counts{Sent: 4, Dropped: 1}, q.counts())
	})
}

func TestQueue_dropsWhatFindsNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, log := &collector{hang: true}, &strings.Builder{}
		q := newTestQueue(c, log)
		for i := range 2 {
			q.put(i)
		}
		synctest.Wait() // they are on their way, and hang
		for i := range 4 + 12 {
			q.put(i)
		}
		require.EqualValues(t, 12, q.counts().Dropped)
		require.Equal(t, 2, strings.Count(log.String(), "telemetry is dropped"), "at the first and the tenth")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		q.close(ctx)
		require.Equal(t, time.Second, time.Since(began), "a dead collector holds nobody up")
		require.Equal(t, Counts{Failed: 6, Dropped: 12}, q.counts())
	})
}

func TestQueue_tellsOnceThatTheCollectorIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, log := &collector{fail: errors.New("no")}, &strings.Builder{}
		q := newTestQueue(c, log)
		for range 3 {
			q.put(1)
			time.Sleep(2 * time.Second)
			synctest.Wait()
		}
		c.mend()
		q.put(1)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		q.close(t.Context())
		require.Equal(t, Counts{Sent: 1, Failed: 3}, q.counts())
		require.Equal(t, 1, strings.Count(log.String(), "does not take what is sent"))
		require.Equal(t, 1, strings.Count(log.String(), "is back"))
	})
}
