package ndjson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
)

var errGone = errors.New("gone")

// sink is a destination that takes at most room bytes without waiting; Write
// waits until the gate opens.
type sink struct {
	mu     sync.Mutex
	got    bytes.Buffer
	writes int
	room   int
	err    error
	gate   chan struct{}
}

func newSink(room int) *sink { return &sink{room: room, gate: make(chan struct{})} }

func (s *sink) TryWrite(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	n := min(s.room, len(p))
	s.room -= n
	s.got.Write(p[:n])
	return n, nil
}

func (s *sink) Write(p []byte) (int, error) {
	<-s.gate
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	s.writes++
	return s.got.Write(p)
}

// open lets the waiting and all later writes through.
func (s *sink) open() { close(s.gate) }

// fail makes every write fail.
func (s *sink) fail() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = errGone
}

func (s *sink) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got.String()
}

func send(t *testing.T, w *Writer, records ...string) {
	t.Helper()
	for _, r := range records {
		require.NoError(t, w.Send([]byte(r)))
	}
}

func flush(t *testing.T, w *Writer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, w.Flush(ctx))
}

func TestWriter_writesALoneRecordAtOnce(t *testing.T) {
	dst := newSink(1 << 20)
	w := NewWriter(dst, WriterOptions{})
	send(t, w, "one", "two", "")
	require.Equal(t, "one\ntwo\n\n", dst.text(), "without any goroutine")
	require.Equal(t, Stats{Records: 3, Bytes: 9}, w.Stats())
}

func TestWriter_queuesWhatDoesNotFitInOrder(t *testing.T) {
	dst := newSink(5)
	w := NewWriter(dst, WriterOptions{})
	send(t, w, "one", "two", "three")
	require.Equal(t, Stats{Records: 3, Bytes: 14, QueuedRecords: 2, QueuedBytes: 9}, w.Stats())
	dst.open()
	flush(t, w)
	require.Equal(t, "one\ntwo\nthree\n", dst.text())
	require.Equal(t, Stats{Records: 3, Bytes: 14}, w.Stats())
}

func TestWriter_writesThroughAPlainWriter(t *testing.T) {
	var dst bytes.Buffer
	w := NewWriter(&dst, WriterOptions{})
	send(t, w, "one", "two")
	flush(t, w)
	require.Equal(t, "one\ntwo\n", dst.String())
}

func TestWriter_batchesWhatIsQueued(t *testing.T) {
	dst := newSink(0)
	w := NewWriter(dst, WriterOptions{})
	var want strings.Builder
	for i := range 1000 {
		record := fmt.Sprintf("record %d", i)
		send(t, w, record)
		want.WriteString(record + "\n")
	}
	dst.open()
	flush(t, w)
	require.Equal(t, want.String(), dst.text())
	require.LessOrEqual(t, dst.writes, 2, "the first, and all that came behind it")
}

func TestWriter_keepsLongAndShortRecordsApart(t *testing.T) {
	for _, room := range []int{0, 1, smallBuffer - 1, smallBuffer, smallBuffer + 1, 3 * smallBuffer} {
		dst := newSink(room)
		w := NewWriter(dst, WriterOptions{})
		var want strings.Builder
		for i, n := range []int{smallBuffer - 1, 0, smallBuffer, 1, 3 * smallBuffer, smallBuffer - 2, 2} {
			record := strings.Repeat(string(rune('a'+i)), n)
			send(t, w, record)
			want.WriteString(record + "\n")
		}
		dst.open()
		flush(t, w)
		require.True(t, want.String() == dst.text(), "room %d", room)
		require.Zero(t, w.Stats().QueuedBytes)
		require.Zero(t, w.Stats().QueuedRecords)
	}
}

func TestWriter_refusesWhenTheQueueIsFull(t *testing.T) {
	for name, tc := range map[string]struct {
		opts   WriterOptions
		record string
		fit    int
	}{
		"records":              {WriterOptions{QueueRecords: 3}, "x", 3},
		"bytes and one record": {WriterOptions{QueueBytes: 10}, "123456", 2},
		"bytes to the brim":    {WriterOptions{QueueBytes: 14}, "123456", 2},
		"one large record":     {WriterOptions{QueueBytes: 1}, "123456", 1},
		"default of records":   {WriterOptions{QueueRecords: -1}, "x", DefaultQueueRecords},
	} {
		t.Run(name, func(t *testing.T) {
			dst := newSink(0)
			w := NewWriter(dst, tc.opts)
			for range tc.fit {
				send(t, w, tc.record)
			}
			require.ErrorIs(t, w.Send([]byte(tc.record)), transport.ErrFull)
			require.Equal(t, uint64(1), w.Stats().Refused)
			dst.open()
			flush(t, w)
			send(t, w, "after")
			flush(t, w)
			require.Equal(t, strings.Repeat(tc.record+"\n", tc.fit)+"after\n", dst.text())
		})
	}
}

func TestWriter_refusesWhatWouldBreakTheFraming(t *testing.T) {
	dst := newSink(1 << 20)
	w := NewWriter(dst, WriterOptions{MaxRecord: 4})
	require.ErrorIs(t, w.Send([]byte("a\nb")), ErrNewline)
	var long *transport.TooLongError
	require.ErrorAs(t, w.Send([]byte("12345")), &long)
	require.Equal(t, 4, long.Limit)
	send(t, w, "1234")
	require.Equal(t, "1234\n", dst.text())
	require.Equal(t, Stats{Records: 1, Bytes: 5, Refused: 2}, w.Stats())
}

func TestWriter_keepsNoReference(t *testing.T) {
	dst := newSink(2)
	w := NewWriter(dst, WriterOptions{})
	record := []byte("first")
	require.NoError(t, w.Send(record))
	copy(record, "wrong")
	dst.open()
	flush(t, w)
	require.Equal(t, "first\n", dst.text())
}

func TestWriter_endsWithTheErrorOfAShortWrite(t *testing.T) {
	var told []error
	dst := newSink(1 << 20)
	dst.fail()
	w := NewWriter(dst, WriterOptions{OnFail: func(err error) { told = append(told, err) }})
	require.ErrorIs(t, w.Send([]byte("a")), errGone)
	require.ErrorIs(t, w.Send([]byte("b")), errGone)
	require.Equal(t, []error{errGone}, told, "told once")
	require.Equal(t, Stats{Refused: 2}, w.Stats())
	require.ErrorIs(t, w.Flush(t.Context()), errGone)
}

func TestWriter_endsWithTheErrorOfAQueuedWrite(t *testing.T) {
	told := make(chan error, 2)
	dst := newSink(0)
	w := NewWriter(dst, WriterOptions{OnFail: func(err error) { told <- err }})
	send(t, w, "a", "b")
	dst.fail()
	dst.open()
	require.ErrorIs(t, <-told, errGone)
	require.ErrorIs(t, w.Send([]byte("c")), errGone)
	require.ErrorIs(t, w.Flush(t.Context()), errGone)
	require.Zero(t, w.Stats().QueuedBytes, "what was queued is dropped")
}

func TestWriter_takesAWriteThatStopsShortForAnError(t *testing.T) {
	told := make(chan error, 1)
	w := NewWriter(shortWriter{}, WriterOptions{OnFail: func(err error) { told <- err }})
	send(t, w, "abc")
	require.ErrorIs(t, <-told, io.ErrShortWrite)
}

type shortWriter struct{}

func (shortWriter) Write(p []byte) (int, error) { return len(p) - 1, nil }

func TestWriter_FailDropsTheQueueAndFreesFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dst := newSink(0)
		w := NewWriter(dst, WriterOptions{OnFail: func(err error) { t.Errorf("told of %v", err) }})
		send(t, w, "a", "b")
		flushed := make(chan error)
		go func() { flushed <- w.Flush(t.Context()) }()
		synctest.Wait()
		w.Fail(errGone)
		require.ErrorIs(t, <-flushed, errGone)
		w.Fail(io.EOF)
		require.ErrorIs(t, w.Send([]byte("c")), errGone, "the first reason stays")
		dst.fail()
		dst.open()
	})
}

func TestWriter_CloseWritesWhatIsQueued(t *testing.T) {
	dst := newSink(0)
	w := NewWriter(dst, WriterOptions{})
	send(t, w, "a")
	w.Close()
	require.ErrorIs(t, w.Send([]byte("b")), transport.ErrClosed)
	dst.open()
	flush(t, w)
	require.Equal(t, "a\n", dst.text())
}

func TestWriter_FlushEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dst := newSink(0)
		w := NewWriter(dst, WriterOptions{})
		require.NoError(t, w.Flush(t.Context()), "nothing is queued")
		send(t, w, "a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, w.Flush(ctx), context.DeadlineExceeded)
		dst.open()
		flush(t, w)
	})
}

func TestWriter_keepsEachSendersOrder(t *testing.T) {
	const senders, each = 8, 400
	src, dst := io.Pipe()
	w := NewWriter(dst, WriterOptions{QueueRecords: senders * each})
	var group sync.WaitGroup
	for s := range senders {
		group.Go(func() {
			for i := range each {
				if err := w.Send(fmt.Appendf(nil, "%d %d", s, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	next := make([]int, senders)
	r := NewReader(src, ReaderOptions{})
	for range senders * each {
		line, err := r.Read()
		require.NoError(t, err)
		var s, i int
		_, err = fmt.Sscan(string(line), &s, &i)
		require.NoError(t, err)
		require.Equal(t, next[s], i)
		next[s]++
	}
	group.Wait()
	flush(t, w)
}

func FuzzWriter_whatIsSentIsRead(f *testing.F) {
	f.Add([]byte("a,b,,c"), 3)
	f.Add([]byte("\r\r,\x00\xff"), 0)
	f.Fuzz(func(t *testing.T, data []byte, room int) {
		dst := newSink(max(room, 0))
		dst.open()
		w := NewWriter(dst, WriterOptions{})
		var want []string
		for record := range bytes.SplitSeq(data, []byte{','}) {
			record = append(bytes.ReplaceAll(record, []byte{'\n'}, nil), '.')
			want = append(want, string(record))
			require.NoError(t, w.Send(record))
		}
		flush(t, w)
		got, err := readAll(NewReader(strings.NewReader(dst.text()), ReaderOptions{}))
		require.Equal(t, io.EOF, err)
		require.Equal(t, want, got)
	})
}

func BenchmarkWriter_shortWay(b *testing.B) {
	w := NewWriter(discard{}, WriterOptions{})
	record := bytes.Repeat([]byte{'x'}, 212)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Send(record); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error)    { return len(p), nil }
func (discard) TryWrite(p []byte) (int, error) { return len(p), nil }
