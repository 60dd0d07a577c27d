package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/airi-host/airi-host/protocol"
)

// port is the link to a program that is compiled in: direct calls, no frames, no
// goroutine while nothing happens.
type port struct {
	host    *Host
	h       *handle
	program protocol.Program
	inner   protocol.Port
	// isOpen tells that the program has been opened: until then its session waits
	// for it and can be asked for nothing.
	isOpen atomic.Bool

	// life ends, by letGo, when the session lets go of the program: hooks,
	// handlers and what they wait for end with it.
	life  context.Context
	letGo context.CancelCauseFunc

	// mu guards what follows.
	mu     sync.Mutex
	isGone bool
	// queue holds what the pump has still to do, in order; pumping tells that
	// it is at it.
	queue   []func()
	pumping bool
}

var (
	_ link          = (*port)(nil)
	_ protocol.Home = (*port)(nil)
)

// openPort opens the program that a manifest calls "builtin:NAME".
func (s *session) openPort(name string) (l link, err error) {
	program := s.host.programs[name]
	if program == nil {
		return nil, fmt.Errorf(
			"plugin %s: %s: entrypoints.go: no plugin %s is compiled into this host (there are: %s)",
			s.h.Plugin, place(s.man), name, compiledIn(s.host.programs))
	}
	p := &port{host: s.host, h: s.h, program: program}
	p.life, p.letGo = context.WithCancelCause(context.Background())
	err = contain(func() error {
		p.inner = program.Open(p)
		return nil
	})
	s.host.logPanic(s.h, err)
	if err == nil && p.inner == nil {
		err = fmt.Errorf("plugin %s: its program %s opened nothing: expected a port", s.h.Plugin, name)
	}
	if err != nil {
		p.letGo(err)
		return nil, err
	}
	p.isOpen.Store(true)
	return p, nil
}

func compiledIn(programs map[string]protocol.Program) string {
	if len(programs) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(programs)), ", ")
}

func (p *port) has(step protocol.Step) bool { return p.inner.Has(step) }

func (p *port) process() *ProcessInfo { return nil }

// run starts the step behind the events that are still on their way.
func (p *port) run(step protocol.Step, gen int, _ json.RawMessage) {
	ctx, cancel := context.WithTimeout(p.life, p.h.timeouts.step(step))
	p.post(func() {
		if ctx.Err() != nil {
			cancel()
			return
		}
		go func() {
			err := errExited
			defer func() {
				p.host.logPanic(p.h, err)
				if ctx.Err() == nil { // else the session knows already, and says it better
					p.h.self.tell(ran{gen, step, err})
				}
				cancel()
			}()
			err = p.hook(ctx, step)
		}()
	})
}

// hook runs the program's own code for a step.
func (p *port) hook(ctx context.Context, step protocol.Step) error {
	p.h.busy.Add(1)
	defer p.h.busy.Add(-1)
	return contain(func() error { return p.inner.Run(ctx, step) })
}

func (p *port) listens() bool { return p.inner.Listens() }

func (p *port) emit(e protocol.Event) {
	if p.behind() >= p.h.bounds.limits.ChannelEvents {
		p.host.drop(p.h, "channel", "the program's listener is too slow for its channel", 1)
		return
	}
	p.post(func() {
		p.host.logPanic(p.h, contain(func() error {
			p.inner.Emit(e)
			return nil
		}))
	})
}

// behind is how much the pump has still to do.
func (p *port) behind() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue)
}

// post does f after all that was posted before, away from the session: a
// listener that hangs holds up only its own channel, and the steps behind it.
func (p *port) post(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isGone {
		return
	}
	p.queue = append(p.queue, f)
	if !p.pumping {
		p.pumping = true
		go p.pump()
	}
}

func (p *port) pump() {
	done := false
	defer func() {
		if !done { // a listener ended the goroutine, which is not its own
			go p.pump()
		}
	}()
	for {
		p.mu.Lock()
		if len(p.queue) == 0 {
			p.pumping, p.queue, done = false, nil, true
			p.mu.Unlock()
			return
		}
		f := p.queue[0]
		p.queue = p.queue[1:]
		p.mu.Unlock()
		f()
	}
}

// invoke runs the handler; the call's context tells it when nobody waits.
func (p *port) invoke(c *call) {
	if p.life.Err() != nil { // it was let go of between the look-up and now
		c.complete(nil, outcomeNever(p.h.Plugin, c.Key))
		return
	}
	p.host.sys.servers.Schedule(func() {
		var result json.RawMessage
		err := errExited
		defer func() { p.answer(c, result, err) }()
		err = contain(func() (err error) {
			result, err = p.inner.Invoke(c.ctx, &c.Call)
			return err
		})
	})
}

// answer ends a call as its handler did.
func (p *port) answer(c *call, result json.RawMessage, err error) {
	p.host.logPanic(p.h, err)
	if !c.complete(result, err) {
		p.h.busy.Add(-1)
		p.host.drop(p.h, "late-answer", c.Key, 1)
	}
}

// cancel has nothing to tell, since the call's context has ended; the handler is
// busy until it heeds that.
func (p *port) cancel(*call, string) { p.h.busy.Add(1) }

// end lets go of the program: hooks and handlers are told by their contexts, and
// what still runs is shown as busy, since nothing can end it.
func (p *port) end(why error) {
	p.mu.Lock()
	first := !p.isGone
	p.isGone = true
	p.mu.Unlock()
	if why == nil {
		why = errStopped(p.h.Plugin)
	}
	if first {
		p.letGo(why)
		p.h.self.tell(ended{})
	}
}

func (p *port) kill() { p.end(nil) }

// endRoutes has nothing to do: a compiled-in program has no routes.
func (p *port) endRoutes(error) {}

func (p *port) left() <-chan struct{} { return p.life.Done() }

// What the program asks of its host.

func (p *port) Module() protocol.Module { return p.h.module }

// Config is the configuration that the plugin was given last, as JSON; nil for none.
func (p *port) Config() json.RawMessage {
	if c := p.h.config.Load(); c != nil {
		return c.Full
	}
	return nil
}

func (p *port) Serve(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	if err := p.alive(); err != nil {
		return nil, err
	}
	ctx, cancel := p.within(ctx)
	defer cancel()
	return p.host.serve(ctx, p.h, c)
}

// within returns a context that also ends when the session lets go.
func (p *port) within(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	free := context.AfterFunc(p.life, func() { cancel(context.Cause(p.life)) })
	return ctx, func() { free(); cancel(nil) }
}

func (p *port) Wait(ctx context.Context, keys ...string) error {
	if err := p.alive(); err != nil {
		return err
	}
	ctx, cancel := p.within(ctx)
	defer cancel()
	return p.host.WaitAll(ctx, 0, keys...)
}

func (p *port) Offer(o protocol.Offer) error {
	return p.request(func(reply chan<- error) any { return offered{offer: o, reply: reply} })
}

func (p *port) Retract(key string) error {
	return p.request(func(reply chan<- error) any { return retracted{key: key, reply: reply} })
}

func (p *port) Emit(e protocol.Event) error {
	if err := p.alive(); err != nil {
		return err
	}
	p.host.publishChannel(p.h, true, e, p.h.phaseNow())
	p.host.heed(p.h, e)
	return nil
}

func (p *port) Log() *slog.Logger { return p.host.pluginLog(p.h) }

func (p *port) alive() error {
	if p.life.Err() != nil {
		return context.Cause(p.life)
	}
	return nil
}

func (p *port) request(build func(chan<- error) any) error {
	if err := p.alive(); err != nil {
		return err
	}
	if !p.isOpen.Load() {
		return failure(protocol.CodeNotReady, p.h.Plugin,
			"plugin "+p.h.Plugin+" is being opened: offer and withdraw in a step, or declare it in Offers")
	}
	err, gone := ask(context.Background(), p.h.self, build)
	if gone != nil {
		return errStopped(p.h.Plugin)
	}
	return err
}

// errExited is the failure of somebody else's code that did not return, nor panic.
var errExited = errors.New("it ended its goroutine instead of returning: runtime.Goexit, or a test's FailNow")

// contain runs somebody else's code: a panic becomes an error.
func contain(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError(v)
		}
	}()
	return f()
}
