package transporttest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
)

// MaxRecord is the limit, in bytes, that both ends of a pair under test have.
const MaxRecord = 1 << 20

const (
	// patience is how long a test may take before its connections are closed
	// under it. It is never waited for when all is well.
	patience = 60 * time.Second
	// fillSize and fillMost say how a queue is filled: 256 MiB must be enough.
	fillSize = 32 << 10
	fillMost = 256 << 20 / fillSize
)

// Pair returns two joined ends with the limit MaxRecord, whose queues take 2,000
// records of 50 bytes. When a closes, b has to see an end in good order. What the
// pair leaves behind it removes with t.Cleanup; the suite closes both ends.
type Pair func(t *testing.T) (a, b transport.Conn)

// Run runs the suite.
func Run(t *testing.T, pair Pair) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(*testing.T, transport.Conn, transport.Conn)
	}{
		{"keepsOrder", keepsOrder},
		{"keepsEachSendersOrder", keepsEachSendersOrder},
		{"keepsNoReference", keepsNoReference},
		{"carriesEveryByte", carriesEveryByte},
		{"carriesRecordsUpToTheLimit", carriesRecordsUpToTheLimit},
		{"refusesTooLongAndGoesOn", refusesTooLongAndGoesOn},
		{"refusesWhenFullAndGoesOn", refusesWhenFullAndGoesOn},
		{"closeFreesRecv", closeFreesRecv},
		{"closeRefusesSend", closeRefusesSend},
		{"closeMayComeAtAnyTime", closeMayComeAtAnyTime},
		{"peerSeesTheEnd", peerSeesTheEnd},
		{"peerReceivesBeforeTheEnd", peerReceivesBeforeTheEnd},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, b := open(t, pair)
			test.run(t, a, b)
		})
	}
}

// open makes a pair that cannot hang the test: a Recv that never ends is freed by
// a Close, and fails.
func open(t *testing.T, pair Pair) (a, b transport.Conn) {
	t.Helper()
	a, b = pair(t)
	closeBoth := func() {
		_ = a.Close()
		_ = b.Close()
	}
	timer := time.AfterFunc(patience, closeBoth)
	t.Cleanup(func() {
		timer.Stop()
		closeBoth()
	})
	return a, b
}

func send(t *testing.T, c transport.Conn, records ...[]byte) {
	t.Helper()
	for _, r := range records {
		require.NoError(t, c.Send(r))
	}
}

// want receives one record and compares it. It does not print large ones.
func want(t *testing.T, c transport.Conn, record []byte) {
	t.Helper()
	got, err := c.Recv()
	require.NoError(t, err)
	if !bytes.Equal(record, got) {
		t.Fatalf("want %d bytes %.60q, got %d bytes %.60q", len(record), record, len(got), got)
	}
}

func numbered(i int) []byte { return fmt.Appendf(nil, "record %d", i) }

func keepsOrder(t *testing.T, a, b transport.Conn) {
	t.Helper()
	for _, way := range []struct{ from, to transport.Conn }{{a, b}, {b, a}} {
		for i := range 1000 {
			send(t, way.from, numbered(i))
		}
		for i := range 1000 {
			want(t, way.to, numbered(i))
		}
	}
}

func keepsEachSendersOrder(t *testing.T, a, b transport.Conn) {
	t.Helper()
	const senders, each = 8, 200
	var group sync.WaitGroup
	for s := range senders {
		group.Go(func() {
			for i := range each {
				if err := a.Send(fmt.Appendf(nil, "%d %d", s, i)); err != nil {
					t.Errorf("sender %d: %v", s, err)
				}
			}
		})
	}
	next := make([]int, senders)
	for range senders * each {
		record, err := b.Recv()
		require.NoError(t, err)
		var s, i int
		_, err = fmt.Sscan(string(record), &s, &i)
		require.NoError(t, err, "%q", record)
		require.Equal(t, next[s], i, "sender %d", s)
		next[s]++
	}
	group.Wait()
}

func keepsNoReference(t *testing.T, a, b transport.Conn) {
	t.Helper()
	record := make([]byte, 200)
	for i := range 1000 {
		copy(record, numbered(i))
		send(t, a, record)
		clear(record)
	}
	for i := range 1000 {
		wanted := make([]byte, 200)
		copy(wanted, numbered(i))
		want(t, b, wanted)
	}
}

// carriesEveryByte leaves out the newline, which a line cannot hold, and ends with
// something else than a carriage return, which would count as part of a line end.
func carriesEveryByte(t *testing.T, a, b transport.Conn) {
	t.Helper()
	var record []byte
	for c := range 256 {
		if c != '\n' {
			record = append(record, byte(c))
		}
	}
	odd := []byte("\u2028 \u2029 \u0085 \ufeff é € 𝄞 \r.")
	send(t, a, record, odd)
	want(t, b, record)
	want(t, b, odd)
	send(t, b, record, odd)
	want(t, a, record)
	want(t, a, odd)
}

func carriesRecordsUpToTheLimit(t *testing.T, a, b transport.Conn) {
	t.Helper()
	for i, n := range []int{1, 4095, 4096, 64<<10 - 1, 64 << 10, 64<<10 + 1, MaxRecord - 1, MaxRecord} {
		record := bytes.Repeat([]byte{'a' + byte(i)}, n)
		send(t, a, record)
		want(t, b, record)
		send(t, b, record)
		want(t, a, record)
	}
}

func refusesTooLongAndGoesOn(t *testing.T, a, b transport.Conn) {
	t.Helper()
	var long *transport.TooLongError
	require.ErrorAs(t, a.Send(make([]byte, MaxRecord+1)), &long)
	require.Equal(t, MaxRecord, long.Limit)
	send(t, a, numbered(1))
	want(t, b, numbered(1))
	send(t, b, numbered(2))
	want(t, a, numbered(2))
}

func refusesWhenFullAndGoesOn(t *testing.T, a, b transport.Conn) {
	t.Helper()
	accepted := fill(t, a)
	for i := range accepted {
		want(t, b, filler(i))
	}
	send(t, a, numbered(1))
	want(t, b, numbered(1))
}

func filler(i int) []byte {
	return append(numbered(i), bytes.Repeat([]byte{'.'}, fillSize)...)
}

// fill sends, with nobody reading, until the queue is full and returns how many
// records were accepted.
func fill(t *testing.T, c transport.Conn) int {
	t.Helper()
	for i := range fillMost {
		switch err := c.Send(filler(i)); {
		case errors.Is(err, transport.ErrFull):
			require.Positive(t, i)
			return i
		case err != nil:
			require.NoError(t, err)
		}
	}
	t.Fatalf("the queue took %d records of %d bytes and was never full", fillMost, fillSize)
	return 0
}

func closeFreesRecv(t *testing.T, a, b transport.Conn) {
	t.Helper()
	for _, c := range []transport.Conn{a, b} {
		freed := make(chan error)
		began := make(chan struct{})
		go func() {
			close(began)
			_, err := c.Recv()
			freed <- err
		}()
		<-began
		require.NoError(t, c.Close())
		err := <-freed
		if c == a {
			require.ErrorIs(t, err, transport.ErrClosed)
		} else {
			require.Error(t, err, "closed, or the end that a's Close caused")
		}
	}
}

func closeRefusesSend(t *testing.T, a, _ transport.Conn) {
	t.Helper()
	require.NoError(t, a.Close())
	require.ErrorIs(t, a.Send(numbered(1)), transport.ErrClosed)
	_, err := a.Recv()
	require.ErrorIs(t, err, transport.ErrClosed)
	require.NoError(t, a.Close(), "a second time")
}

func closeMayComeAtAnyTime(t *testing.T, a, b transport.Conn) {
	t.Helper()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			i := 0
			for !ended(a.Send(numbered(i))) {
				i++
			}
		})
		group.Go(func() {
			if err := a.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	group.Go(func() {
		for {
			if _, err := b.Recv(); err != nil {
				return
			}
		}
	})
	group.Wait()
}

// ended tells whether a Send failed for good.
func ended(err error) bool {
	return err != nil && !errors.Is(err, transport.ErrFull)
}

func peerSeesTheEnd(t *testing.T, a, b transport.Conn) {
	t.Helper()
	send(t, a, numbered(1), numbered(2))
	want(t, b, numbered(1))
	want(t, b, numbered(2))
	require.NoError(t, a.Close())
	for range 3 {
		_, err := b.Recv()
		require.ErrorIs(t, err, io.EOF)
	}
	require.ErrorIs(t, b.Send(numbered(3)), io.EOF, "a send gives the reason too")
}

// peerReceivesBeforeTheEnd allows for what a Close may lose: the last records, but
// none in between.
func peerReceivesBeforeTheEnd(t *testing.T, a, b transport.Conn) {
	t.Helper()
	for i := range 100 {
		send(t, a, numbered(i))
	}
	want(t, b, numbered(0))
	require.NoError(t, a.Close())
	for i := 1; ; i++ {
		record, err := b.Recv()
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			return
		}
		require.Less(t, i, 100)
		require.Equal(t, string(numbered(i)), string(record))
	}
}
