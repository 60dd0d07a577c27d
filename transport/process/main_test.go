//go:build linux

package process

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

const (
	// modeVar makes the test binary a worker of that mode.
	modeVar = "AIRI_HOST_TEST_WORKER"
	// markVar marks all processes of one test.
	markVar = "AIRI_HOST_TEST_MARK"
	// argVar is one argument of a mode.
	argVar = "AIRI_HOST_TEST_ARG"
	// reachVar is the Reach of a mode that is a host itself.
	reachVar = "AIRI_HOST_TEST_REACH"

	// soon is what a loaded machine gets for anything that should be quick.
	soon = 20 * time.Second
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeVar); mode != "" {
		os.Exit(runWorker(mode))
	}
	warmUp()
	goleak.VerifyTestMain(m)
}

// warmUp makes the runtime open the descriptors that it keeps for good.
func warmUp() {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	_ = r.SetReadDeadline(time.Now())
	_, _ = r.Read(make([]byte, 1))
	_, _ = r.Close(), w.Close()
}

// shortGrace are grace times for tests that run into them.
const shortGrace = 100 * time.Millisecond

// worker is a Process under test.
type worker struct {
	*Process
	t   *testing.T
	log *logSink
}

// spec describes a worker of the given mode.
func spec(t *testing.T, mode string) Spec {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	mark := t.Name() + strconv.FormatInt(time.Now().UnixNano(), 10)
	env := map[string]string{modeVar: mode, markVar: mark, "GORACE": "atexit_sleep_ms=0"}
	if testing.CoverMode() != "" {
		env["GOCOVERDIR"] = t.TempDir() // or the worker complains on standard error
	}
	return Spec{Plugin: "probe", Path: self, Env: Environment(env, nil)}
}

// start runs a worker of the given mode and checks, when the test is over, that
// nothing of it is left: no process, no descriptor.
func start(t *testing.T, mode string, change ...func(*Spec)) *worker {
	t.Helper()
	s := spec(t, mode)
	for _, f := range change {
		f(&s)
	}
	return startSpec(t, s)
}

func startSpec(t *testing.T, s Spec) *worker {
	t.Helper()
	before := descriptors(t)
	log := newLogSink()
	if s.Log == nil {
		s.Log = log.add
	}
	p, err := Start(s)
	require.NoError(t, err)
	w := &worker{Process: p, t: t, log: log}
	watchdog := time.AfterFunc(2*time.Minute, func() { _ = p.Close() })
	t.Cleanup(func() {
		watchdog.Stop()
		require.NoError(t, p.Close())
		_, err := p.Stop(context.WithoutCancel(t.Context()), Ladder{})
		require.NoError(t, err)
		wantNothingLeft(t, s.Env)
		eventually(t, "the descriptors are given back", func() bool { return descriptors(t) <= before })
	})
	return w
}

func withWire(kind Wire) func(*Spec) {
	return func(s *Spec) { s.Wire = kind; s.Env = append(s.Env, "AIRI_HOST_TEST_WIRE="+strconv.Itoa(int(kind))) }
}

func withArg(arg string) func(*Spec) {
	return func(s *Spec) { s.Env = append(s.Env, argVar+"="+arg) }
}

func withLimit(n int) func(*Spec) {
	return func(s *Spec) { s.MaxRecord = n }
}

func withShortGrace(s *Spec) { s.ExitGrace = shortGrace }

func (w *worker) send(records ...string) {
	w.t.Helper()
	for _, r := range records {
		require.NoError(w.t, w.Send([]byte(r)))
	}
}

func (w *worker) want(records ...string) {
	w.t.Helper()
	for _, r := range records {
		got, err := w.Recv()
		require.NoError(w.t, err)
		if r != string(got) {
			w.t.Fatalf("want %d bytes %.80q, got %d bytes %.80q", len(r), r, len(got), got)
		}
	}
}

// wantEcho makes one call.
func (w *worker) wantEcho(record string) {
	w.t.Helper()
	w.send(record)
	w.want(record)
}

// wantEnd receives the end of the connection, which has to be final.
func (w *worker) wantEnd() error {
	w.t.Helper()
	_, err := w.Recv()
	require.Error(w.t, err)
	_, again := w.Recv()
	require.Equal(w.t, err, again)
	require.Equal(w.t, err, w.Send([]byte("late")))
	return err
}

// wantExit receives an *ExitError.
func (w *worker) wantExit() *ExitError {
	w.t.Helper()
	var exit *ExitError
	require.ErrorAs(w.t, w.wantEnd(), &exit)
	require.Equal(w.t, w.Exit(), exit.Status)
	return exit
}

func (w *worker) wantLost(pipe string) *LostError {
	w.t.Helper()
	var lost *LostError
	require.ErrorAs(w.t, w.wantEnd(), &lost)
	require.Equal(w.t, pipe, lost.Pipe)
	return lost
}

// wantDone waits for the exit.
func (w *worker) wantDone(within time.Duration) ExitStatus {
	w.t.Helper()
	select {
	case <-w.Done():
	case <-time.After(within):
		w.t.Fatalf("no exit was seen within %s", within)
	}
	return w.Exit()
}

// wantStop stops the worker and checks which step worked.
func (w *worker) wantStop(step Step) StopReport {
	w.t.Helper()
	report := w.mustStop(ladderTo(step))
	require.Equal(w.t, step, report.Step)
	require.Empty(w.t, report.Left)
	return report
}

func (w *worker) mustStop(ladder Ladder) StopReport {
	w.t.Helper()
	report, err := w.Stop(w.t.Context(), ladder)
	require.NoError(w.t, err)
	return report
}

// ladderTo gives one step all the time in the world and those before it little.
func ladderTo(step Step) Ladder {
	l := Ladder{CloseStdin: 100 * time.Millisecond, Term: 100 * time.Millisecond, Kill: soon}
	switch step {
	case StepStdin:
		l.CloseStdin = soon
	case StepTerm:
		l.Term = soon
	case StepNone, StepKill:
	}
	return l
}

// eventually looks at the state of the system until it is as it should be.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(soon); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("in vain was waited that %s", what)
		}
	}
}

// descriptors counts the open descriptors of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}

// marked lists the live processes with the mark in env.
func marked(env []string) []string {
	i := slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, markVar+"=") })
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var pids []string
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err == nil && bytes.Contains(environ, []byte(env[i]+"\x00")) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

func wantNothingLeft(t *testing.T, env []string) {
	t.Helper()
	eventually(t, "no process is left", func() bool { return len(marked(env)) == 0 })
}

// logSink collects log lines.
type logSink struct {
	mu      sync.Mutex
	lines   []LogLine
	changed chan struct{}
}

func newLogSink() *logSink { return &logSink{changed: make(chan struct{}, 1)} }

func (s *logSink) add(line LogLine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *logSink) all() []LogLine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lines)
}

// wantLine waits for a line.
func (s *logSink) wantLine(t *testing.T, matches func(LogLine) bool) LogLine {
	t.Helper()
	timeout := time.After(soon)
	for {
		lines := s.all()
		if i := slices.IndexFunc(lines, matches); i >= 0 {
			return lines[i]
		}
		select {
		case <-s.changed:
		case <-timeout:
			t.Fatalf("no such line among %d", len(lines))
		}
	}
}

func wantErrorText(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		require.ErrorContains(t, err, part)
	}
}
