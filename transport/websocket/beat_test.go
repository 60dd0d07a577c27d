package websocket

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gobwas/ws"
	"github.com/stretchr/testify/require"
)

// bubble is a connection within a bubble of time, and the peer's end of a pipe, which
// takes nothing by itself.
func bubble(t *testing.T, o Options, known bool, story func(t *testing.T, c *Conn, far net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		c := newConn(near, nil, new(o.resolved()), false, known)
		c.start()
		defer func() {
			_ = c.Close()
			_ = far.Close()
			<-c.Done()
		}()
		story(t, c, far)
	})
}

// hears passes on each frame that comes, until the end.
func hears(far io.Reader, each func(ws.Frame)) {
	for {
		f, err := readFrame(far)
		if err != nil {
			return
		}
		each(f)
	}
}

// ends waits for the end, and tells how long it took.
func ends(c *Conn) (time.Duration, error) {
	began := time.Now()
	for {
		if _, err := c.Recv(); err != nil {
			return time.Since(began), err
		}
	}
}

func TestBeat_pingsAndClosesWhoIsSilent(t *testing.T) {
	bubble(t, Options{PingEvery: 10 * time.Second, Silence: 25 * time.Second}, true, func(t *testing.T, c *Conn, far net.Conn) {
		t.Helper()
		var pings []time.Duration
		began := time.Now()
		go hears(far, func(f ws.Frame) {
			if f.Header.OpCode == ws.OpPing {
				pings = append(pings, time.Since(began))
			}
		})
		after, err := ends(c)
		require.ErrorIs(t, err, ErrSilent)
		require.Equal(t, 25*time.Second, after)
		synctest.Wait()
		require.Equal(t, []time.Duration{10 * time.Second, 20 * time.Second}, pings)
	})
}

func TestBeat_isContentWithPongs(t *testing.T) {
	bubble(t, Options{PingEvery: 10 * time.Second, Silence: 25 * time.Second}, true, func(t *testing.T, c *Conn, far net.Conn) {
		t.Helper()
		spoke := c.Heard()
		go hears(far, func(f ws.Frame) {
			if f.Header.OpCode == ws.OpPing {
				_, _ = far.Write(frame(ws.OpPong, "", true))
			}
		})
		ended := make(chan error, 1)
		go func() {
			_, err := ends(c)
			ended <- err
		}()
		time.Sleep(time.Hour) // of the bubble's
		require.Empty(t, ended)
		require.Equal(t, spoke, c.Heard(), "a pong is not the peer's program speaking")
		require.NoError(t, c.Close())
		require.Error(t, <-ended)
	})
}

func TestBeat_closesWhoTakesTooLong(t *testing.T) {
	limits := Options{AuthTime: 10 * time.Second, MessageTime: 20 * time.Second, Silence: time.Hour}
	for _, c := range []struct {
		name  string
		known bool
		sent  []byte
		after time.Duration
	}{
		{"to authenticate", false, nil, 10 * time.Second},
		{"to authenticate, and talks meanwhile", false, text("Hello", true), 10 * time.Second},
		{"with a frame", true, text("Hello", true)[:8], 20 * time.Second},
		{"with the parts of a message", true, text("Hello", false), 20 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, limits, c.known, func(t *testing.T, conn *Conn, far net.Conn) {
				t.Helper()
				go func() {
					_, _ = far.Write(c.sent)
					_, _ = io.Copy(io.Discard, far)
				}()
				after, err := ends(conn)
				require.ErrorIs(t, err, ErrLate)
				require.Equal(t, c.after, after)
			})
		})
	}
}

func TestBeat_waitsNoMoreForWhoIsAuthenticated(t *testing.T) {
	bubble(t, Options{AuthTime: time.Second}, false, func(t *testing.T, c *Conn, _ net.Conn) {
		t.Helper()
		c.Authenticated()
		time.Sleep(5 * time.Second) // of the bubble's
		require.NoError(t, c.reason())
	})
}

func TestWrite_closesWhoTakesNothing(t *testing.T) {
	bubble(t, Options{WriteTime: 10 * time.Second, PingEvery: time.Hour, Silence: time.Hour}, true, func(t *testing.T, c *Conn, _ net.Conn) {
		t.Helper()
		require.NoError(t, c.Send([]byte("one")))
		require.NoError(t, c.Send([]byte("two")))
		require.Equal(t, 2, c.Stats().QueuedRecords)
		after, err := ends(c)
		require.ErrorIs(t, err, ErrSlow)
		require.Equal(t, 10*time.Second, after)
		require.ErrorIs(t, c.Send([]byte("three")), ErrSlow)
		require.Zero(t, c.Stats().QueuedRecords)
	})
}

func TestWrite_waitsForWhoTakesALittle(t *testing.T) {
	bubble(t, Options{WriteTime: 10 * time.Second, QueueBytes: 1 << 20, PingEvery: time.Hour, Silence: time.Hour}, true, func(t *testing.T, c *Conn, far net.Conn) {
		t.Helper()
		const pieces = 4
		require.NoError(t, c.Send(make([]byte, pieces*pieceSize)))
		piece := make([]byte, pieceSize)
		for range pieces {
			time.Sleep(9 * time.Second) // of the bubble's
			_, err := io.ReadFull(far, piece)
			require.NoError(t, err)
		}
		require.NoError(t, c.reason())
	})
}

// A peer that reads nothing gets no close frame, and holds nobody up.
func TestClose_isOverWithinCloseTime(t *testing.T) {
	bubble(t, Options{CloseTime: 3 * time.Second}, true, func(t *testing.T, c *Conn, _ net.Conn) {
		t.Helper()
		require.NoError(t, c.Send([]byte("never read")))
		began := time.Now()
		require.NoError(t, c.Close())
		require.Zero(t, time.Since(began))
		<-c.Done()
		require.Equal(t, 3*time.Second, time.Since(began))
	})
}

func TestPong_theLastPingIsAnswered(t *testing.T) {
	bubble(t, Options{}, true, func(t *testing.T, c *Conn, far net.Conn) {
		t.Helper()
		go func() { _, _ = ends(c) }()
		for _, ping := range []string{"one", "two", "three", "four"} {
			_, err := far.Write(frame(ws.OpPing, ping, true))
			require.NoError(t, err)
			synctest.Wait()
		}
		var pongs []string
		go hears(far, func(f ws.Frame) {
			if f.Header.OpCode == ws.OpPong {
				pongs = append(pongs, string(f.Payload))
			}
		})
		synctest.Wait()
		require.Equal(t, []string{"one", "four"}, pongs, "the one that was being written, and the last")
	})
}

func TestCloseError_unwraps(t *testing.T) {
	err := error(&CloseError{Code: CodePolicy, Reason: "too slow", Err: ErrSlow})
	require.ErrorIs(t, err, ErrSlow)
	require.EqualError(t, err, `the websocket was closed with code 1008 ("too slow"): the peer reads too slowly`)
	require.False(t, errors.Is(err, io.EOF))
}

// What is looked at when a message has just ended is the time of that message, twice.
func TestBeat_isNotMistakenInAMessageThatEndsJustNow(t *testing.T) {
	near, far := net.Pipe()
	c := newConn(near, nil, new(Options{}.resolved()), false, true)
	over := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
				c.begun.Store(time.Now().UnixNano())
				c.begun.Store(0)
			}
		}
	})
	for range 200_000 {
		if c.overdue(time.Now()) {
			break
		}
	}
	close(over)
	group.Wait()
	require.NoError(t, c.reason())
	require.NoError(t, c.Close())
	require.NoError(t, far.Close())
	<-c.Done()
}

// A message that began just before its peer would have been silent for too long has its
// own time, and is not looked after all the while.
func TestBeat_leavesTimeToAMessageThatBeganLate(t *testing.T) {
	limits := Options{PingEvery: time.Hour, Silence: 25 * time.Second, MessageTime: time.Minute}
	bubble(t, limits, true, func(t *testing.T, c *Conn, far net.Conn) {
		t.Helper()
		whole := text("Hello", true)
		go func() {
			time.Sleep(24 * time.Second) // of the bubble's
			_, _ = far.Write(whole[:8])
			time.Sleep(40 * time.Second)
			_, _ = far.Write(whole[8:])
		}()
		go func() {
			time.Sleep(30 * time.Second)
			require.Greater(t, c.next(time.Now()), time.Second)
		}()
		c.reading.Lock()
		record, _, err := c.message()
		c.reading.Unlock()
		require.NoError(t, err)
		require.Equal(t, "Hello", string(record))
		require.Equal(t, time.Now().UnixNano(), c.heard.Load(), "it was heard before it is over")
	})
}

// Who is not listened to is not silent.
func TestBeat_waitsForItsOwnReceiver(t *testing.T) {
	bubble(t, Options{PingEvery: 10 * time.Second, Silence: 25 * time.Second}, true, func(t *testing.T, c *Conn, far net.Conn) {
		t.Helper()
		go func() { _, _ = io.Copy(io.Discard, far) }()
		go func() { _, _ = far.Write(text("said at once", true)) }()
		time.Sleep(time.Minute) // of the bubble's, with something else
		record, err := c.Recv()
		require.NoError(t, err)
		require.Equal(t, "said at once", string(record))
		after, err := ends(c)
		require.ErrorIs(t, err, ErrSilent)
		require.Equal(t, 25*time.Second, after)
	})
}
