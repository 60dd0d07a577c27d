//go:build linux

package process

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
)

func TestProcess_canBeReceivedFromForALimitedTime(t *testing.T) {
	for name, kind := range wires {
		t.Run(name, func(t *testing.T) {
			near, far := relayed(t, kind)
			p, ok := near.(*Process)
			require.True(t, ok)
			began := time.Now()
			_, err := p.RecvWithin(20 * time.Millisecond)
			require.ErrorIs(t, err, transport.ErrNotYet)
			require.GreaterOrEqual(t, time.Since(began), 20*time.Millisecond)
			require.False(t, p.Ready())
			began = time.Now()
			_, err = p.RecvWithin(shortWait)
			require.ErrorIs(t, err, transport.ErrNotYet)
			require.GreaterOrEqual(t, time.Since(began), shortWait)

			require.NoError(t, far.Send([]byte("one")))
			require.NoError(t, far.Send([]byte("two")))
			record, err := p.RecvWithin(time.Minute)
			require.NoError(t, err)
			require.Equal(t, "one", string(record))
			record, err = p.Recv()
			require.NoError(t, err)
			require.Equal(t, "two", string(record))
			require.NoError(t, far.Send([]byte("three")))
			for ; err != nil || string(record) != "three"; record, err = p.RecvWithin(shortWait) {
				require.NotErrorIs(t, err, transport.ErrClosed)
			}
			require.Equal(t, "three", string(record))

			require.NoError(t, p.Close())
			_, err = p.RecvWithin(time.Minute)
			require.ErrorIs(t, err, transport.ErrClosed)
			require.True(t, p.Ready())
			_ = far.Close()
		})
	}
}

func TestProcess_gatheredRecordsArriveInOrder(t *testing.T) {
	near, far := relayed(t, Stdio)
	p, ok := near.(*Process)
	require.True(t, ok)
	require.NoError(t, p.Gather([]byte("one")))
	require.NoError(t, p.Gather([]byte("two")))
	require.NoError(t, p.Send([]byte("three")))
	require.NoError(t, p.Gather([]byte("four")))
	p.Push()
	for _, want := range []string{"one", "two", "three", "four"} {
		got, err := far.Recv()
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	require.NoError(t, p.Close())
	require.ErrorIs(t, p.Gather([]byte("late")), transport.ErrClosed)
	_, err := far.Recv()
	require.ErrorIs(t, err, io.EOF)
	_ = far.Close()
}
