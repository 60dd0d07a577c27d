package memory_test

import (
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/memory"
	"github.com/airi-host/airi-host/transport/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConn_keepsTheContract(t *testing.T) {
	transporttest.Run(t, func(*testing.T) (a, b transport.Conn) {
		return memory.Pipe(memory.Options{MaxRecord: transporttest.MaxRecord})
	})
}

func send(t *testing.T, c *memory.Conn, records ...string) {
	t.Helper()
	for _, r := range records {
		require.NoError(t, c.Send([]byte(r)))
	}
}

func want(t *testing.T, c *memory.Conn, records ...string) {
	t.Helper()
	for _, r := range records {
		got, err := c.Recv()
		require.NoError(t, err)
		require.Equal(t, r, string(got))
	}
}

func wantEnd(t *testing.T, c *memory.Conn, reason error) {
	t.Helper()
	_, err := c.Recv()
	require.Equal(t, reason, err)
	require.Equal(t, reason, c.Send(nil))
}

func TestPipe_closeLosesNothingThatWasSent(t *testing.T) {
	a, b := memory.Pipe(memory.Options{})
	send(t, a, "one", "", "a\nb\r")
	require.NoError(t, a.Close())
	require.Equal(t, io.EOF, b.Send([]byte("late")), "the pipe has ended, though b has not read all")
	want(t, b, "one", "", "a\nb\r")
	wantEnd(t, b, io.EOF)
	wantEnd(t, a, transport.ErrClosed)
}

func TestPipe_closeOfBothEnds(t *testing.T) {
	a, b := memory.Pipe(memory.Options{})
	send(t, a, "lost")
	send(t, b, "lost")
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	wantEnd(t, a, transport.ErrClosed)
	wantEnd(t, b, transport.ErrClosed)
}

func TestPipe_isFullExactlyAtTheLimit(t *testing.T) {
	for name, tc := range map[string]struct {
		opts memory.Options
		fit  int
	}{
		"records":              {memory.Options{QueueRecords: 3}, 3},
		"bytes and one record": {memory.Options{QueueBytes: 7}, 2},
		"bytes to the brim":    {memory.Options{QueueBytes: 12}, 2},
		"default of records":   {memory.Options{}, memory.DefaultQueueRecords},
		"below zero":           {memory.Options{QueueRecords: -1, QueueBytes: -1, MaxRecord: -1}, memory.DefaultQueueRecords},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := memory.Pipe(tc.opts)
			for range tc.fit {
				send(t, a, "123456")
			}
			require.Equal(t, transport.ErrFull, a.Send([]byte("123456")))
			want(t, b, "123456")
			send(t, a, "654321")
		})
	}
}

func TestPipe_bytesAreBoundedByDefault(t *testing.T) {
	a, _ := memory.Pipe(memory.Options{})
	record := make([]byte, memory.DefaultQueueBytes)
	require.NoError(t, a.Send(record))
	require.Equal(t, transport.ErrFull, a.Send(record))
}

func TestPipe_recvIsIdleInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := memory.Pipe(memory.Options{})
		got := make(chan string, 1)
		go func() {
			record, _ := b.Recv()
			got <- string(record)
		}()
		synctest.Wait()
		require.Empty(t, got)
		send(t, a, "wake")
		synctest.Wait()
		require.Equal(t, "wake", <-got)
	})
}
