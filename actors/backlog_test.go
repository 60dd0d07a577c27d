package actors

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// fill puts items in, all of which are taken.
func fill(t *testing.T, b *backlog, items ...string) {
	t.Helper()
	for _, item := range items {
		taken, full := b.put(json.RawMessage(item))
		require.NoError(t, full)
		require.True(t, taken)
	}
}

func TestBacklog_isFullExactlyAtTheLimit(t *testing.T) {
	for _, test := range []struct {
		limits Limits
		full   string
	}{
		{Limits{StreamItems: 3, StreamBytes: 100}, "3 items wait, the limit (streamItems)"},
		{Limits{StreamItems: 100, StreamBytes: 7}, "9 bytes of items wait, the limit is 7 (streamBytes)"},
	} {
		b := newBacklog(test.limits)
		fill(t, b, "123")
		require.False(t, b.isCrowded())
		fill(t, b, "123")
		require.True(t, b.isCrowded())
		fill(t, b, "123")
		_, full := b.put(json.RawMessage("1"))
		require.EqualError(t, full, test.full)
		_, some, _, _ := b.take()
		require.True(t, some)
		fill(t, b, "1")
		require.Equal(t, 3, b.leave())
		taken, full := b.put(json.RawMessage("1"))
		require.NoError(t, full)
		require.False(t, taken, "nobody takes it any more")
	}
}

func TestBacklog_endsBehindItsItems(t *testing.T) {
	why := errors.New("torn")
	for _, end := range []error{nil, why} {
		b := newBacklog(Limits{}.withDefaults())
		fill(t, b, "1", "2")
		b.end(end)
		b.end(errors.New("again"))
		taken, _ := b.put(json.RawMessage("3"))
		require.False(t, taken)
		var got []string
		var err error
		for item, failed := range b.all(t.Context()) {
			if failed != nil {
				err = failed
				continue
			}
			got = append(got, string(item))
		}
		require.Equal(t, []string{"1", "2"}, got)
		require.Equal(t, end, err)
	}
}

func TestBacklog_whoReadsItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog(Limits{}.withDefaults())
		ctx, cancel := context.WithCancelCause(t.Context())
		over := errors.New("over")
		go func() {
			time.Sleep(time.Second)
			fill(t, b, "1")
			time.Sleep(time.Second)
			cancel(over)
		}()
		var got []any
		for item, err := range b.all(ctx) {
			if err != nil {
				got = append(got, err)
				continue
			}
			got = append(got, string(item))
		}
		require.Equal(t, []any{"1", over}, got)
	})
}

func takeOne(b *backlog) { _, _, _, _ = b.take() }

func TestBacklog_aReaderIsHeldUpForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog(Limits{StreamItems: 4, StreamBytes: 100})
		held := func() time.Duration {
			began := time.Now()
			b.giveWay()
			return time.Since(began)
		}
		fill(t, b, "1", "2", "3")
		go func() {
			for range 2 {
				time.Sleep(5 * time.Millisecond)
				takeOne(b)
			}
		}()
		require.Equal(t, 10*time.Millisecond, held(), "until there is room")
		require.Zero(t, held(), "there still is")
		fill(t, b, "2", "3")
		require.Equal(t, mostPatience-10*time.Millisecond, held(), "what was left")
		require.Zero(t, held(), "nobody takes any")
		takeOne(b)
		fill(t, b, "4")
		require.Equal(t, itemPatience, held())
		takeOne(b)
		go func() { time.Sleep(time.Microsecond); b.leave() }()
		fill(t, b, "5")
		require.Equal(t, time.Microsecond, held(), "nor is anybody there any more")
	})
}
