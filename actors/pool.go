package actors

import (
	"runtime"
	"sync/atomic"
	"time"
)

// pool runs mailboxes, and services, on goroutines that it keeps for a while. A
// goroutine for each run of a mailbox would begin with a small stack and grow it each
// time, which is a fifth of what a session's start costs.
//
// It makes nobody wait: when no goroutine is parked, there is a new one, so that one
// that is held up holds up nobody else.
type pool struct {
	// work goes to a parked goroutine; nobody parked takes nothing.
	work   chan func()
	parked atomic.Int64
	// most is how many wait for work at most, kept how many go on waiting when there is
	// less to do.
	most, kept int64
	// sheds tells that some of them will be let go.
	sheds atomic.Bool
	// over closes when the pool is not needed any more.
	over chan struct{}
}

func newPool(most, kept int) *pool {
	return &pool{work: make(chan func()), over: make(chan struct{}), most: int64(most), kept: int64(kept)}
}

// mostServing is how many goroutines wait to serve calls of peers: a worker's calls come
// in bursts, and those that are calls of others last until these have answered. When the
// burst is over keptServing of them go on waiting.
const (
	mostServing = 128
	keptServing = 16
)

// shedTime is how long more goroutines than are kept wait for work.
const shedTime = time.Second

// mailboxSlice is how many messages of one mailbox are handled before others get
// their turn.
const mailboxSlice = 300

// Schedule runs f soon, on another goroutine.
func (p *pool) Schedule(f func()) {
	select {
	case p.work <- f:
	default:
		go p.run(f)
	}
}

// Throughput is how many messages of one mailbox are handled in a row.
func (p *pool) Throughput() int { return mailboxSlice }

func (p *pool) run(f func()) {
	growStack()
	for f != nil {
		f()
		f = p.park()
	}
}

// stackRoom is what the handling of a message takes of a stack, at most in usual
// cases: the mailbox, the session, the state machine.
const stackRoom = 12 << 10

// growStack makes room on a new goroutine's stack while there is next to nothing on
// it to move. Grown later, in the midst of a message, it would cost several times as
// much, and more than once.
//
//go:noinline
func growStack() byte {
	var room [stackRoom]byte
	return room[runtime.NumGoroutine()%stackRoom]
}

// park waits for more to do; nil means that there are enough who do.
func (p *pool) park() func() {
	defer p.parked.Add(-1)
	n := p.parked.Add(1)
	if n > p.most {
		return nil
	}
	if n > p.kept && !p.sheds.Load() && p.sheds.CompareAndSwap(false, true) {
		time.AfterFunc(shedTime, p.shed)
	}
	select {
	case f := <-p.work:
		return f
	case <-p.over:
		return nil
	}
}

// shed lets those go who are more than are kept. Where there is much to do others take
// their places, which costs next to nothing once each shedTime.
func (p *pool) shed() {
	p.sheds.Store(false)
	for range p.parked.Load() - p.kept {
		select {
		case p.work <- nil:
		default: // they have work
			return
		}
	}
}

// close lets the parked goroutines go. What is scheduled afterwards still runs.
func (p *pool) close() { close(p.over) }
