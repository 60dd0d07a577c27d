package main

import (
	"maps"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
)

// journal follows what happens in a host: it shows each event and remembers, of
// every plugin, how it came to where it is. One goroutine does so, in the order of
// the events, until the host is shut down.
type journal struct {
	host *actors.Host
	sub  *actors.Subscription
	// show prints an event.
	show func(actors.Event)
	// queries ask for what is known once everything up to now was shown.
	queries chan chan map[string]trace
	done    chan struct{}

	// traces is the goroutine's own.
	traces map[string]trace
}

// trace is what is remembered of a plugin.
type trace struct {
	// failedIn is the phase in which its session failed.
	failedIn lifecycle.State
	// cycle are the plugins that it waited for in a circle, for as long as it did:
	// the first one that gives up ends the circle, and was not the cause.
	cycle []string
}

// eventQueue is how many events may wait for a slow terminal, unless the settings say
// otherwise.
const eventQueue = 1 << 16

// follow begins a journal, in which so many events may wait.
func follow(host *actors.Host, queue int, show func(actors.Event)) *journal {
	j := &journal{
		host: host, sub: host.Subscribe(actors.KindPhase|actors.KindWaiting|actors.KindRestart|actors.KindGrants, queue), show: show,
		queries: make(chan chan map[string]trace), done: make(chan struct{}), traces: map[string]trace{},
	}
	go j.read()
	return j
}

// catchUp returns when everything that has happened so far was shown, with what is
// known then.
func (j *journal) catchUp() map[string]trace {
	// Events go to subscriptions in their order, and coming to be one has its place
	// in it: ours holds all that was published before.
	j.host.Subscribe(actors.KindPhase, 1).Close()
	answer := make(chan map[string]trace, 1)
	select {
	case j.queries <- answer:
		return <-answer
	case <-j.done:
		return j.traces
	}
}

// wait returns when the host is shut down and all was shown; it tells how many
// events were not, since they came too fast.
func (j *journal) wait() (lost uint64) {
	<-j.done
	return j.sub.Dropped()
}

func (j *journal) read() {
	defer close(j.done)
	for {
		select {
		case e, ok := <-j.sub.C:
			if !ok {
				return
			}
			j.take(e)
		case answer := <-j.queries:
			j.drain()
			answer <- maps.Clone(j.traces)
		}
	}
}

// drain takes what is in the queue.
func (j *journal) drain() {
	for range len(j.sub.C) {
		if e, ok := <-j.sub.C; ok {
			j.take(e)
		}
	}
}

func (j *journal) take(e actors.Event) {
	switch e := e.(type) {
	case actors.PhaseChanged:
		j.trace(e.Plugin, func(t trace) trace { return t.after(e) })
	case actors.Waiting:
		if e.Cycle != nil {
			j.trace(e.Plugin, func(t trace) trace {
				t.cycle = e.Cycle
				return t
			})
		}
	}
	j.show(e)
}

// maxTraces is of how many plugins traces are kept: those that come first, which are the
// host's own. Peers on websockets choose their names themselves.
const maxTraces = 1 << 14

// trace changes the trace of a plugin.
func (j *journal) trace(plugin string, next func(trace) trace) {
	if t, ok := j.traces[plugin]; ok || len(j.traces) < maxTraces {
		j.traces[plugin] = next(t)
	}
}

// after is the trace with one more phase.
func (t trace) after(e actors.PhaseChanged) trace {
	switch e.To {
	case lifecycle.Failed:
		t.failedIn = e.From
	case lifecycle.Prepared:
		t.cycle = nil
	default: // it goes on
	}
	return t
}
