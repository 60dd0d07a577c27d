package plugin

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/airi-host/airi-host/protocol"
)

// ExecutionLogOptions bound what a command writes. The zero value works.
type ExecutionLogOptions struct {
	// Kept is how many bytes of each stream are kept for the result; what is beyond is left
	// out of it, and its metadata say how much, as stdoutOmittedBytes and
	// stderrOmittedBytes. Zero means 8 MiB.
	Kept int
	// Chunk is how many bytes are sent at once, at most 1,000,000, which is the wire's own
	// limit. Zero means 64 KiB.
	Chunk int
	// Total is how much is sent of one command, in UTF-16 units, at most 128 Mi, which is
	// what a host takes. What is beyond is not sent, and counted. Zero means that most.
	Total int
}

const (
	defaultKept  = 8 << 20
	defaultChunk = 64 << 10
	mostChunk    = 1_000_000
	mostLogged   = 128 << 20
)

func (o ExecutionLogOptions) withDefaults() ExecutionLogOptions {
	if o.Kept <= 0 {
		o.Kept = defaultKept
	}
	if o.Chunk <= 0 {
		o.Chunk = defaultChunk
	}
	if o.Total <= 0 {
		o.Total = mostLogged
	}
	o.Chunk = min(max(o.Chunk, utf8.UTFMax), mostChunk)
	o.Total = min(o.Total, mostLogged)
	return o
}

// ExecutionLog is where a command's output goes while it runs: to whoever follows the call,
// and into its result. What is written is text in UTF-8, cut anywhere, and sent in whole
// characters; what is none becomes U+FFFD.
//
// The writers may be used at the same time, and by any number of goroutines. A write waits
// while the host is behind. It fails once the execution's context has ended, or its handler
// has returned; what a host does not take is no failure, and counted.
type ExecutionLog struct {
	Stdout, Stderr io.Writer

	stdout, stderr *logStream
	skipped        atomic.Int64
}

// Skipped is how many bytes could not be sent: they are beyond the limit, or nobody took
// them. They are in the result all the same.
func (l *ExecutionLog) Skipped() int64 { return l.skipped.Load() }

// newExecutionLog makes the log of one execution, whose context is ctx.
func newExecutionLog(ctx context.Context, o ExecutionLogOptions) *ExecutionLog {
	l := &ExecutionLog{}
	shared := &logSent{ctx: ctx, options: o.withDefaults(), skipped: &l.skipped, send: logOf(ctx)}
	l.stdout = &logStream{logSent: shared, name: protocol.LogStdout}
	l.stderr = &logStream{logSent: shared, name: protocol.LogStderr}
	l.Stdout, l.Stderr = l.stdout, l.stderr
	return l
}

// logOf is what takes the chunks of a call; nil where nobody follows it.
func logOf(ctx context.Context) func(json.RawMessage) error {
	f := handlingOf(ctx).flow
	switch {
	case f == nil:
		return nil
	case f.log != nil:
		return func(item json.RawMessage) error { return f.log(ctx, item) }
	case f.progress != nil:
		return f.progress
	}
	return func(json.RawMessage) error { f.showLife(); return nil }
}

// end sends what is left of both streams, and takes no more.
func (l *ExecutionLog) end(ctx context.Context) {
	l.stdout.end()
	l.stderr.end()
	if n := l.skipped.Load(); n > 0 {
		if s := From(ctx); s != nil {
			s.Log().WarnContext(ctx, "not all that a command wrote was logged", "bytes", n)
		}
	}
}

// complete puts what was kept into a result that has no output of its own.
func (l *ExecutionLog) complete(done EnvironmentExecuted) (EnvironmentExecuted, error) {
	if done.Stdout != "" || done.Stderr != "" {
		return done, nil
	}
	done.Stdout, done.Stderr = string(l.stdout.kept), string(l.stderr.kept)
	if l.stdout.omitted == 0 && l.stderr.omitted == 0 {
		return done, nil
	}
	metadata := map[string]json.RawMessage{}
	if err := decode(done.Metadata, &metadata); err != nil {
		return done, err
	}
	if metadata == nil { // it was null
		metadata = map[string]json.RawMessage{}
	}
	for name, n := range map[string]int64{"stdoutOmittedBytes": l.stdout.omitted, "stderrOmittedBytes": l.stderr.omitted} {
		if n > 0 {
			metadata[name], _ = json.Marshal(n) // a number
		}
	}
	var err error
	done.Metadata, err = json.Marshal(metadata)
	return done, err
}

// logSent is what both streams of a log have in common.
type logSent struct {
	ctx     context.Context
	options ExecutionLogOptions
	send    func(json.RawMessage) error
	// units is how much was sent, in UTF-16 units.
	units   atomic.Int64
	skipped *atomic.Int64
}

// logStream is one of the two.
type logStream struct {
	*logSent
	name string

	mu      sync.Mutex
	runes   protocol.Runes
	kept    []byte
	omitted int64
	over    bool
}

// Write takes what the command wrote; see [ExecutionLog].
func (s *logStream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return 0, io.ErrClosedPipe
	}
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	s.keep(p)
	s.pass(s.runes.Take(p))
	return len(p), nil
}

// keep keeps whole characters, as far as there is room.
func (s *logStream) keep(p []byte) {
	room := s.options.Kept - len(s.kept)
	if s.omitted > 0 || room < len(p) {
		n := 0
		if s.omitted == 0 {
			n = wholeText(p, room)
		}
		s.omitted += int64(len(p) - n)
		p = p[:n]
	}
	s.kept = append(s.kept, p...)
}

// pass sends text in chunks.
func (s *logStream) pass(text []byte) {
	if s.send == nil {
		return
	}
	for len(text) > 0 {
		n := wholeText(text, s.options.Chunk)
		chunk := text[:n]
		text = text[n:]
		units := int64(protocol.BytesUnits(chunk))
		if s.units.Add(units) > int64(s.options.Total) {
			s.units.Add(-units)
			s.skipped.Add(int64(n))
			continue
		}
		if s.send(protocol.LogChunk{Stream: s.name, Text: chunk}.Item()) != nil {
			s.skipped.Add(int64(n))
		}
	}
}

// end passes on what never became a character.
func (s *logStream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pass(s.runes.Rest())
	s.over = true
}

// wholeText is how many bytes of a text, at most n, are whole characters; n where they are
// none.
func wholeText(text []byte, n int) int {
	if n >= len(text) {
		return len(text)
	}
	for at := n; at > 0 && at > n-utf8.UTFMax; at-- {
		if utf8.RuneStart(text[at]) {
			return at
		}
	}
	return n
}
