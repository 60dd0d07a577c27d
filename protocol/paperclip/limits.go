package paperclip

import (
	"sync/atomic"
	"time"
)

// Limits are the bounds of one worker's routes. The zero value is that of the defaults,
// which are the reference's where it has one; there is no "unlimited".
type Limits struct {
	Log     LogLimits
	Stream  StreamLimits
	PTY     RouteLimits
	Duplex  RouteLimits
	Session SessionLimits
}

// LogLimits bound what environmentExecute logs while it runs. What is beyond is dropped
// and counted, and the call goes on.
type LogLimits struct {
	// Chunk is the longest chunk, in UTF-16 units: 1,000,000.
	Chunk int
	// Total is how many UTF-16 units one call may log: 128 Mi.
	Total int
}

// StreamLimits bound the event streams that a worker has open.
type StreamLimits struct {
	// Open is how many there may be: 1024. An open beyond that is dropped and counted.
	Open int
	// Name is the longest name of one, in bytes: 256. Whatever is on a longer one is
	// dropped and counted.
	Name int
}

// RouteLimits bound one route. Where a limit is reached, the route ends with an error that
// names it, unless it says something else. Of a pseudo-terminal and of a channel in text,
// lengths are in UTF-16 units; of a channel in base64 they are bytes of what it encodes.
type RouteLimits struct {
	// Chunk is the longest chunk from the worker: 1,000,000; 262,144 for base64. A longer
	// one of a pseudo-terminal is dropped and counted.
	Chunk int
	// Write is the longest write: the same numbers.
	Write int
	// Total is what may come in all: 8 Mi of a pseudo-terminal, 256 MiB of a channel, in
	// bytes whatever its form.
	Total int
	// Held is what is kept until the route has a reader, and also until it is open:
	// 8 Mi; 393,216 for base64.
	Held int
	// HeldChunks is how many chunks are kept so: 10,000.
	HeldChunks int
	// Writes is how many writes may wait for their answers: 256.
	Writes int
	// Unanswered is how many bytes these may have together: 4 MiB; 393,216 for base64.
	Unanswered int
	// Faults is how many chunks of a channel may be malformed: 100.
	Faults int
	// Life is how long the route may be open: 60 min.
	Life time.Duration
	// Open and Close are how long the worker may take to answer to these: 30 s and 10 s.
	// One that does not confirm a close is retired.
	Open, Close time.Duration
	// Answer is how long a write is waited for: 30 s. Then its bytes count no more.
	Answer time.Duration
}

// SessionLimits bound what is remembered of the names that a worker gives to its routes.
type SessionLimits struct {
	// Name is the longest one, in bytes: 256. An open that is answered with a longer one
	// has failed.
	Name int
	// Past is how many pairs of names of closed channels are remembered: 4096. A worker
	// with more is retired.
	Past int
}

// The defaults of [Limits], in the wire's own units.
const (
	MaxLogChunk     = 1_000_000
	MaxLogTotal     = 128 << 20
	MaxStreams      = 1024
	MaxStreamName   = 256
	MaxPTYChunk     = 1_000_000
	MaxPTYTotal     = 8 << 20
	MaxTextHeld     = 8 << 20
	MaxTextWaiting  = 4 << 20
	MaxDuplexChunk  = 262_144
	MaxDuplexText   = 1_000_000
	MaxDuplexHeld   = 393_216
	MaxDuplexTotal  = 256 << 20
	MaxHeldChunks   = 10_000
	MaxRouteWrites  = 256
	MaxFaults       = 100
	MaxRouteLife    = time.Hour
	MaxSessionName  = 256
	MaxPastSessions = 4096
	RouteOpenTime   = 30 * time.Second
	RouteCloseTime  = 10 * time.Second
	RouteAnswerTime = 30 * time.Second
)

func orDefault[T int | time.Duration](value, usual T) T {
	if value <= 0 {
		return usual
	}
	return value
}

func (l LogLimits) filled() LogLimits {
	return LogLimits{orDefault(l.Chunk, MaxLogChunk), orDefault(l.Total, MaxLogTotal)}
}

func (l StreamLimits) filled() StreamLimits {
	return StreamLimits{orDefault(l.Open, MaxStreams), orDefault(l.Name, MaxStreamName)}
}

func (l SessionLimits) filled() SessionLimits {
	return SessionLimits{orDefault(l.Name, MaxSessionName), orDefault(l.Past, MaxPastSessions)}
}

// of fills in the defaults of one of the wire's kinds of routes.
func (l RouteLimits) of(w wireRoute) RouteLimits {
	usual := RouteLimits{Chunk: MaxPTYChunk, Write: MaxPTYChunk, Total: MaxPTYTotal, Held: MaxTextHeld, Unanswered: MaxTextWaiting}
	switch w {
	case duplexBase64:
		usual = RouteLimits{Chunk: MaxDuplexChunk, Write: MaxDuplexChunk, Total: MaxDuplexTotal, Held: MaxDuplexHeld, Unanswered: MaxDuplexHeld}
	case duplexText:
		usual.Chunk, usual.Write, usual.Total = MaxDuplexText, MaxDuplexText, MaxDuplexTotal
	case setupTokenPTY, loginPTY:
	}
	return RouteLimits{
		Chunk: orDefault(l.Chunk, usual.Chunk), Write: orDefault(l.Write, usual.Write), Total: orDefault(l.Total, usual.Total),
		Held: orDefault(l.Held, usual.Held), HeldChunks: orDefault(l.HeldChunks, MaxHeldChunks),
		Writes: orDefault(l.Writes, MaxRouteWrites), Unanswered: orDefault(l.Unanswered, usual.Unanswered),
		Faults: orDefault(l.Faults, MaxFaults), Life: orDefault(l.Life, MaxRouteLife),
		Open: orDefault(l.Open, RouteOpenTime), Close: orDefault(l.Close, RouteCloseTime), Answer: orDefault(l.Answer, RouteAnswerTime),
	}
}

// MaxRoutes is how many login pseudo-terminals and channels there may be in all workers of
// a host together, where nobody says otherwise.
const MaxRoutes = 128

// Routes is what all workers of one host have in common: how many routes they may have
// together, and the numbers of their channels, none of which is given twice. Drivers of
// any number of goroutines use it.
type Routes struct {
	limit        int64
	taken, given atomic.Int64
}

// NewRoutes returns the common part of a host whose workers may have so many routes; 0
// means [MaxRoutes].
func NewRoutes(limit int) *Routes { return &Routes{limit: int64(orDefault(limit, MaxRoutes))} }

// Open is how many routes there are at this moment, Limit how many there may be.
func (r *Routes) Open() int { return int(r.taken.Load()) }

// Limit is how many routes there may be.
func (r *Routes) Limit() int { return int(r.limit) }

func (r *Routes) take() bool {
	for { // it is never above the limit, not even for a moment: Open tells
		n := r.taken.Load()
		if n >= r.limit {
			return false
		}
		if r.taken.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (r *Routes) release() { r.taken.Add(-1) }

func (r *Routes) number() int64 { return r.given.Add(1) }
