package websocket

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
)

// strangers connect and then do nothing at all: they read nothing and answer nothing.
func strangers(t *testing.T, h *host, n int) {
	t.Helper()
	for range n {
		h.raw(t)
	}
}

func TestServer_isRidOfStrangersInTime(t *testing.T) {
	const many = 500
	h := startHost(t, ServerOptions{
		Token:   "secret",
		Options: Options{AuthTime: 300 * time.Millisecond, CloseTime: 100 * time.Millisecond},
	})
	strangers(t, h, many)
	for range many {
		c := <-h.accepted
		_ = c.Send([]byte("never read")) // it may be late already
	}
	friend, peer := h.pair(t, DialOptions{Token: "secret"})
	for _, c := range h.Conns() {
		if c != friend {
			<-c.Done()
		}
	}
	require.NoError(t, peer.Send([]byte("still here")))
	record, err := friend.Recv()
	require.NoError(t, err)
	require.Equal(t, "still here", string(record))
	n := h.Counts()
	require.EqualValues(t, many, n.Late)
	require.Equal(t, 1, n.Open)
	require.Zero(t, n.Early)
}

func TestServer_shutsDownHoweverManyAreSilent(t *testing.T) {
	const many = 500
	h := startHost(t, ServerOptions{Token: "secret", Options: Options{CloseTime: 200 * time.Millisecond}})
	strangers(t, h, many)
	polite := h.dial(t, DialOptions{})
	began := time.Now()
	require.NoError(t, h.Shutdown(t.Context()))
	require.Less(t, time.Since(began), 20*time.Second, "not one after the other, which takes %v", many*200*time.Millisecond)
	require.Zero(t, h.Counts().Open)
	_, err := polite.Recv()
	require.ErrorIs(t, err, io.EOF, "code 1001 is an end in good order")
	_, err = Dial(t.Context(), h.url, DialOptions{})
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, shuttingDown, refused.Text)
}

func TestServer_shutdownHasALimit(t *testing.T) {
	release := make(chan struct{})
	h := newHost(ServerOptions{})
	h.serve = func(*Conn) { <-release }
	near, far := net.Pipe()
	c := newConn(near, nil, &h.o.Options, false, true)
	c.onGone = h.left
	require.Empty(t, h.hold("", true))
	h.enter(c, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, h.Shutdown(ctx), context.Canceled)
	close(release)
	require.NoError(t, far.Close())
	require.NoError(t, h.Shutdown(t.Context()))
}

// One of many who hear a broadcast reads nothing: it loses its connection, and nobody
// else a record.
func TestServer_aSlowReaderHarmsNobody(t *testing.T) {
	const peers, records, size = 20, 120, 64 << 10
	h := startHost(t, ServerOptions{Options: Options{QueueBytes: 1 << 20, CloseTime: 100 * time.Millisecond}})
	require.NoError(t, h.raw(t).(*net.TCPConn).SetReadBuffer(4<<10))
	slowEnd := <-h.accepted
	var ends []*Conn
	var group sync.WaitGroup
	credit := make(chan struct{}, peers*records)
	for range peers {
		end, peer := h.pair(t, DialOptions{})
		ends = append(ends, end)
		group.Go(func() {
			for range records {
				record, err := peer.Recv()
				if err != nil || len(record) != size {
					t.Errorf("a record of %d bytes: %v", len(record), err)
					return
				}
				credit <- struct{}{}
			}
		})
	}
	record := []byte(strings.Repeat("x", size))
	var failure error
	for range records {
		if err := slowEnd.Send(record); err != nil {
			failure = err
		}
		for _, end := range ends {
			require.NoError(t, end.Send(record))
		}
		for range peers {
			<-credit
		}
	}
	group.Wait()
	require.ErrorIs(t, failure, ErrSlow)
	_, err := slowEnd.Recv()
	require.ErrorIs(t, err, ErrSlow)
	require.EqualValues(t, 1, h.Counts().Slow)
	require.NotZero(t, slowEnd.Stats().Refused)
}

func TestServer_boundsWhatWaitsForAll(t *testing.T) {
	h := startHost(t, ServerOptions{
		MaxQueued: 1 << 20,
		Options:   Options{QueueBytes: 64 << 20, QueueRecords: 1 << 20, SlowPeer: RefuseSlow, CloseTime: 50 * time.Millisecond},
	})
	record := make([]byte, 256<<10)
	h.raw(t)
	first := <-h.accepted
	for errors.Is(first.Send(record), nil) {
		require.Less(t, first.Stats().Sent, uint64(1000), "256 MB are not kept")
	}
	require.ErrorIs(t, first.Send(record), transport.ErrFull)
	require.Less(t, first.Stats().QueuedBytes, 1<<20+1)
	second, peer := h.pair(t, DialOptions{})
	for range 100 {
		if err := second.Send(record); err != nil {
			require.ErrorIs(t, err, transport.ErrFull)
			break
		}
	}
	require.NoError(t, first.Close())
	<-first.Done()
	for second.Stats().QueuedRecords > 0 {
		_, err := peer.Recv()
		require.NoError(t, err)
	}
	require.NoError(t, second.Send(record), "what the first held is free again")
	require.LessOrEqual(t, h.budget.used.Load(), int64(len(record)))
}

func TestConn_gathersUntilItIsPushed(t *testing.T) {
	h := startHost(t, ServerOptions{})
	c, peer := h.pair(t, DialOptions{})
	for range 100 {
		require.NoError(t, c.Gather([]byte("gathered")))
	}
	require.Equal(t, 100, c.Stats().QueuedRecords)
	c.Push()
	for i := range 100 {
		record, err := peer.Recv()
		require.NoError(t, err)
		require.Equal(t, "gathered", string(record))
		if i == 0 {
			require.True(t, peer.Ready(), "they came at once")
		}
	}
	require.False(t, peer.Ready())
	s := c.Stats()
	require.Zero(t, s.QueuedRecords+s.QueuedBytes)
	require.EqualValues(t, 100, s.Sent)
	require.EqualValues(t, 800, s.SentBytes)
	require.Equal(t, peer.net.LocalAddr().String(), s.Remote)
	require.EqualValues(t, 100, peer.Stats().Received)
	require.EqualValues(t, 800, peer.Stats().ReceivedBytes)
}

func TestConn_saysWhyItCloses(t *testing.T) {
	h := startHost(t, ServerOptions{})
	c, peer := h.pair(t, DialOptions{})
	c.CloseWith(4001, strings.Repeat("é", 100))
	_, err := peer.Recv()
	var said *CloseError
	require.ErrorAs(t, err, &said)
	require.Equal(t, 4001, said.Code)
	require.Equal(t, strings.Repeat("é", 61), said.Reason, "as much as a frame holds")
}

// Records of both sides are on the way when one closes: what had been written arrives.
func TestConn_closesBehindWhatWasWritten(t *testing.T) {
	h := startHost(t, ServerOptions{})
	c, peer := h.pair(t, DialOptions{})
	for range 100 {
		require.NoError(t, peer.Send([]byte("never received")))
	}
	require.NoError(t, c.Send([]byte("last words")))
	require.NoError(t, c.Close())
	record, err := peer.Recv()
	require.NoError(t, err)
	require.Equal(t, "last words", string(record))
	_, err = peer.Recv()
	require.ErrorIs(t, err, io.EOF)
}

func TestConn_takesWhatCameWithTheUpgrade(t *testing.T) {
	h := startHost(t, ServerOptions{})
	socket, err := net.Dial("tcp", strings.TrimPrefix(h.url, "ws://"))
	require.NoError(t, err)
	defer func() { _ = socket.Close() }()
	_, err = io.WriteString(socket, "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"+string(text("at once", true)))
	require.NoError(t, err)
	record, err := (<-h.accepted).Recv()
	require.NoError(t, err)
	require.Equal(t, "at once", string(record))
}
