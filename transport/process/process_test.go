//go:build linux

package process

import (
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/ndjson"
	"github.com/airi-host/airi-host/transport/transporttest"
)

var wires = map[string]Wire{"Stdio": Stdio, "Own": Own}

// socketConn is the far end of a worker that relays.
type socketConn struct {
	net.Conn
	reader *ndjson.Reader
	writer *ndjson.Writer
	once   sync.Once
	err    error
}

func newSocketConn(c net.Conn) *socketConn {
	return &socketConn{
		Conn:   c,
		reader: ndjson.NewReader(c, ndjson.ReaderOptions{MaxRecord: transporttest.MaxRecord}),
		writer: ndjson.NewWriter(c, ndjson.WriterOptions{MaxRecord: transporttest.MaxRecord}),
	}
}

func (c *socketConn) Send(record []byte) error { return c.writer.Send(record) }

func (c *socketConn) Recv() ([]byte, error) {
	record, err := c.reader.Read()
	if err != nil {
		c.writer.Fail(err)
	}
	return record, err
}

func (c *socketConn) Close() error {
	c.once.Do(func() {
		c.writer.Fail(transport.ErrClosed)
		c.err = c.Conn.Close()
	})
	return c.err
}

func TestProcess_keepsTheContractOfConn(t *testing.T) {
	for name, kind := range wires {
		t.Run(name, func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T) (a, b transport.Conn) {
				t.Helper()
				return relayed(t, kind)
			})
		})
	}
}

// relayed returns a worker and the far end of what it relays.
func relayed(t *testing.T, kind Wire) (a, b transport.Conn) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	w := start(t, "relay", withWire(kind), withArg(socket), withLimit(transporttest.MaxRecord))
	far, err := listener.Accept()
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return w.Process, newSocketConn(far)
}

func TestProcess_echoes(t *testing.T) {
	for name, kind := range wires {
		t.Run(name, func(t *testing.T) {
			w := start(t, "echo", withWire(kind))
			for i := range 100 {
				w.wantEcho("call " + strconv.Itoa(i))
			}
			w.wantEcho("")
			require.Equal(t, uint64(101), w.Stats().Sent.Records)
			w.wantStop(StepStdin)
			require.Equal(t, ExitStatus{Step: StepStdin, Uptime: w.Exit().Uptime}, w.wantDone(soon))
			require.EqualError(t, w.wantEnd(), "EOF")
		})
	}
}

func TestProcess_logsStdoutWhenRecordsHaveTheirOwn(t *testing.T) {
	w := start(t, "print", withWire(Own))
	w.wantEcho("undisturbed")
	line := w.log.wantLine(t, func(LogLine) bool { return true })
	require.Equal(t, LogLine{Stream: Stdout, Text: "printed"}, line)
}

func TestProcess_takesNoSeparatorForALineEnd(t *testing.T) {
	w := start(t, "separators")
	for range 2 {
		w.send("call")
		w.want(separatorText)
	}
}

func TestProcess_limitHoldsForTheSinnerOnly(t *testing.T) {
	const limit = 1 << 20
	other := start(t, "echo")
	w := start(t, "frames", withLimit(limit), withArg(strconv.Itoa(limit)))
	for _, n := range []int{64<<10 - 1, 64 << 10, 64<<10 + 1, limit} {
		w.want(strings.Repeat("a", n))
	}
	w.want(strings.Repeat("b", limit), strings.Repeat("c", 40))
	err := w.wantEnd()
	var long *transport.TooLongError
	require.ErrorAs(t, err, &long)
	wantErrorText(t, err, "plugin probe", strconv.Itoa(limit), "frame")
	other.wantEcho("fine")
	w.wantStop(StepTerm)
}

func TestProcess_keepsNothingOfAnEndlessLine(t *testing.T) {
	w := start(t, "endless", withLimit(1<<20))
	var long *transport.TooLongError
	require.ErrorAs(t, w.wantEnd(), &long)
	w.mustStop(ladderTo(StepKill))
}

func TestProcess_isFullWhenTheWorkerNeverReads(t *testing.T) {
	w := start(t, "sleep", func(s *Spec) { s.QueueBytes, s.QueueRecords = 1<<20, 100 })
	record := []byte(strings.Repeat("x", 64<<10))
	var accepted int
	for w.Send(record) == nil {
		accepted++
	}
	require.ErrorIs(t, w.Send(record), transport.ErrFull)
	require.Less(t, accepted, 30, "a pipe and a queue")
	require.Positive(t, w.Stats().Sent.Refused)
	began := time.Now()
	w.wantStop(StepTerm)
	require.Less(t, time.Since(began), soon)
}

func TestProcess_returnsAllThatWasWrittenBeforeTheExit(t *testing.T) {
	const lines = 20000
	w := start(t, "burst", withArg(strconv.Itoa(lines)))
	for i := range lines {
		w.want("line " + strconv.Itoa(i))
	}
	require.Equal(t, 0, w.wantExit().Status.Code)
}

func TestProcess_stderrCannotHurt(t *testing.T) {
	for _, mode := range []string{"stderr-first", "stderr-line", "stderr-odd", "close-stderr"} {
		t.Run(mode, func(t *testing.T) { start(t, mode).wantEcho("call") })
	}
}

// TestProcess_stderrFloodDelaysNoCall compares with a worker that is quiet: on a machine
// that has much else to do, each waits for its turn.
func TestProcess_stderrFloodDelaysNoCall(t *testing.T) {
	w, quiet := start(t, "stderr-flood"), start(t, "echo")
	w.wantEcho("warm")
	w.log.wantLine(t, func(l LogLine) bool { return l.Dropped > 0 })
	took := map[*worker][]time.Duration{}
	for range 101 {
		for _, one := range []*worker{w, quiet} {
			began := time.Now()
			one.wantEcho("call")
			took[one] = append(took[one], time.Since(began))
		}
	}
	slices.Sort(took[w])
	slices.Sort(took[quiet])
	require.Less(t, took[w][50], max(50*time.Millisecond, 5*took[quiet][50]))
	stats := w.Stats()
	require.Positive(t, stats.LogDropped)
	require.Greater(t, stats.LogLines, stats.LogDropped)
}

func TestProcess_stuckLogStopsNothing(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	w := start(t, "stderr-first", func(s *Spec) { s.Log = func(LogLine) { <-release } })
	w.wantEcho("call")
	eventually(t, "all is read", func() bool { return w.Stats().LogLines == 8<<10 })
	require.Len(t, w.Tail(), TailLines)
}
