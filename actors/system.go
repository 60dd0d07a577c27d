package actors

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// system is the thin layer over protoactor: the only file that knows it.
//
// What it leaves out on purpose: bounded mailboxes (a full one makes its sender
// spin), ReceiveTimeout and the scheduler (both race), futures (they hang when
// the actor stops with their request still queued), the stash, and its tree of
// children (half a kilobyte for each parent): who supervises whom is in our own
// actors. What it adds: a nil message is refused, a panic is caught with its
// stack, and every actor has a channel that closes when it is gone, so that
// nobody waits for the dead.
type system struct {
	actors *actor.ActorSystem
	// props serve all actors alike; each learns what it is by its first message.
	props *actor.Props
	// pool runs their mailboxes.
	pool *pool
	// servers answer the calls of peers.
	servers *pool
}

var _ actor.Dispatcher = (*pool)(nil)

// deadLetterPause is how long protoactor's dead letter counter lives after the
// last dead letter; it only logs, and we log nothing of it.
const deadLetterPause = 10 * time.Millisecond

func newSystem() *system {
	quiet, pool := slog.New(slog.DiscardHandler), newPool(runtime.GOMAXPROCS(0), runtime.GOMAXPROCS(0)) // no more mailboxes can run at once
	return &system{
		pool: pool, servers: newPool(mostServing, keptServing),
		props: actor.PropsFromProducer(
			func() actor.Actor { return &shell{} },
			actor.WithMailbox(actor.UnboundedLockfree()),
			actor.WithDispatcher(pool),
		),
		actors: actor.NewActorSystem(
			actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }),
			actor.WithDeadLetterThrottleInterval(deadLetterPause),
		),
	}
}

// shutdown frees what the library holds. It stops no actor: the host has done
// that before.
func (s *system) shutdown() {
	s.actors.Shutdown()
	s.pool.close()
	s.servers.close()
}

// behavior is one actor's code.
type behavior interface {
	// receive handles one message. It must not block.
	receive(msg any)
	// panicked tells that receive panicked on a message, which is lost. It returns what
	// those are told who wait for its answer (asked); nil where they will hear otherwise.
	panicked(msg any, err *panicError) error
}

// ref addresses one actor.
type ref struct {
	sys *system
	pid *actor.PID
	// gone closes when the actor has stopped: whoever waits for its answer
	// watches it too.
	gone chan struct{}
}

// spawn starts an actor.
func (s *system) spawn(build func(self *ref) behavior) *ref {
	r := &ref{sys: s, gone: make(chan struct{})}
	r.pid = s.actors.Root.Spawn(s.props)
	s.actors.Root.Send(r.pid, become{r, build(r)})
	return r
}

// become is an actor's first message: what it is.
type become struct {
	self     *ref
	behavior behavior
}

// tell puts a message into the actor's mailbox; it never blocks. A message to an
// actor that is gone is lost, as is one that it has not handled when it stops.
func (r *ref) tell(msg any) {
	if msg == nil {
		panic("actors: a nil message would wedge the mailbox")
	}
	select {
	case <-r.gone:
	default:
		r.sys.actors.Root.Send(r.pid, msg)
	}
}

// stop ends the actor once it has handled what was sent to it before. It is a
// message like any other: the library's own way would overtake become.
func (r *ref) stop() { r.tell(leave{}) }

// leave is an actor's last message.
type leave struct{}

// shell joins a behavior to protoactor.
type shell struct{ become }

// Receive hands user messages to the behavior and contains its panics.
func (s *shell) Receive(c actor.Context) {
	switch msg := c.Message().(type) {
	case become:
		s.become = msg
	case leave:
		c.Stop(c.Self())
	case *actor.Stopped:
		close(s.self.gone)
	case actor.SystemMessage, actor.AutoReceiveMessage:
	default:
		s.deliver(msg)
	}
}

func (s *shell) deliver(msg any) {
	defer func() {
		if v := recover(); v != nil {
			s.panicked(msg, newPanicError(v))
		}
	}()
	s.behavior.receive(msg)
}

// panicked tells the behavior, and lets no second panic out: the library would
// start the actor anew, without what it has become. Whoever asked is answered.
func (s *shell) panicked(msg any, err *panicError) {
	told := error(err)
	_ = contain(func() error {
		told = s.behavior.panicked(msg, err)
		return nil
	})
	if a, ok := msg.(asked); ok && told != nil {
		_ = contain(func() error {
			a.unanswered(told)
			return nil
		})
	}
}

// panicError is a caught panic: of a plugin's code, or of our own.
type panicError struct {
	value any
	stack []byte
}

func newPanicError(v any) *panicError {
	return &panicError{value: v, stack: debug.Stack()}
}

// Error gives the panic's value; the stack is for the log.
func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// ask sends the message that build makes around a reply channel and waits for
// the answer, for the end of ctx, or for the end of the actor. An actor that panics
// on it answers by asked.
func ask[T any](ctx context.Context, to *ref, build func(reply chan<- T) any) (T, error) {
	reply := make(chan T, 1)
	to.tell(build(reply))
	var none T
	select {
	case v := <-reply:
		return v, nil
	case <-ctx.Done():
		return none, context.Cause(ctx)
	case <-to.gone:
	}
	select { // the answer may have come with the end
	case v := <-reply:
		return v, nil
	default:
		return none, errGone
	}
}
