package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/looplab/fsm"
)

// Machine answers what may happen next in one kind of life. It is a flyweight: it
// holds the table and nothing of any single life, so that one serves all. It is
// immutable and every method may run concurrently with every other.
type Machine struct {
	name      string
	states    []State
	events    []Event
	terminals []State

	next Table // every edge
	ours Table // those edges that the reference host has not got
	// by holds the event that leads from one state to another; the first in
	// reading order where there are several.
	by map[State]map[State]Event
	// goal holds where an event leads, if that is the same in every state.
	goal map[Event]State
	// possible holds the events of each state in reading order.
	possible map[State][]Event

	// automata holds *fsm.FSM, none of them in use. Between two uses their state
	// means nothing. One takes tens of microseconds to build, hence the pool.
	automata sync.Pool
}

// newMachine builds a machine, once per table, as the program starts. It panics
// when the table contradicts itself: that is a bug which no caller could handle.
func newMachine(d definition) *Machine {
	all, err := merge(d.table, d.ours)
	if err == nil {
		err = d.check(all)
	}
	if err != nil {
		panic(fmt.Sprintf("lifecycle: table %s: %v", d.name, err))
	}
	m := &Machine{
		name:      d.name,
		states:    d.states,
		events:    d.events,
		terminals: d.terminals,
		next:      all,
		ours:      d.ours,
	}
	m.index()
	m.automata.New = func() any { return m.automaton() }
	return m
}

// index fills what is looked up by something else than state and event.
func (m *Machine) index() {
	m.by = make(map[State]map[State]Event, len(m.states))
	m.possible = make(map[State][]Event, len(m.states))
	for _, from := range m.states {
		m.by[from] = make(map[State]Event)
		for _, ev := range m.events {
			to, ok := m.next[from][ev]
			if !ok {
				continue
			}
			m.possible[from] = append(m.possible[from], ev)
			if _, taken := m.by[from][to]; !taken {
				m.by[from][to] = ev
			}
		}
	}
	m.goal = make(map[Event]State, len(m.events))
	for _, ev := range m.events {
		m.goal[ev] = m.onlyGoal(ev)
	}
}

// onlyGoal returns the state that ev leads to from wherever it is possible, or ""
// when that differs.
func (m *Machine) onlyGoal(ev Event) State {
	var goal State
	for _, from := range m.states {
		to, ok := m.next[from][ev]
		if ok && goal != "" && to != goal {
			return ""
		}
		if ok {
			goal = to
		}
	}
	return goal
}

// automaton builds what runs the table. It has no callbacks on purpose: a panic in
// one would leave the new state in place, an event fired from one may deadlock,
// and a misspelt key would be ignored. What a move means is the caller's business.
func (m *Machine) automaton() *fsm.FSM {
	var edges fsm.Events
	for _, from := range m.states {
		for _, ev := range m.possible[from] {
			edges = append(edges, fsm.EventDesc{
				Name: string(ev),
				Src:  []string{string(from)},
				Dst:  string(m.next[from][ev]),
			})
		}
	}
	return fsm.NewFSM(string(m.Initial()), edges, nil)
}

// Name returns what kind of life it is: "session", "worker", "route" or
// "capability".
func (m *Machine) Name() string { return m.name }

// Initial returns the state in which a life begins.
func (m *Machine) Initial() State { return m.states[0] }

// States returns all states in reading order, the initial one first.
func (m *Machine) States() []State { return slices.Clone(m.states) }

// Events returns all events in reading order.
func (m *Machine) Events() []Event { return slices.Clone(m.events) }

// Terminals returns the states that nothing leads out of. It is empty for a life
// that can always begin again.
func (m *Machine) Terminals() []State { return slices.Clone(m.terminals) }

// Can reports whether ev is possible in from. It allocates nothing.
func (m *Machine) Can(from State, ev Event) bool {
	_, ok := m.next[from][ev]
	return ok
}

// Ours reports whether the edge that ev takes from that state is the host's own,
// and not in the reference host's table. It is false where the whole table is ours
// and there is nothing to tell apart.
func (m *Machine) Ours(from State, ev Event) bool {
	_, ok := m.ours[from][ev]
	return ok
}

// Fire returns the state that ev leads to from that state; it may be the same
// state. If ev is not possible there it returns from and an [*IllegalError], which
// names the session: a module id such as "hello-0", a plugin, a key, whatever its
// reader knows the life by.
func (m *Machine) Fire(session string, from State, ev Event) (State, error) {
	automaton := m.automata.Get().(*fsm.FSM)
	defer m.automata.Put(automaton)

	automaton.SetState(string(from))
	// The context is one that nobody can cancel: a cancelled one leaves an
	// automaton between two states for good, and the next life would get it.
	err := automaton.Event(context.Background(), string(ev))
	if err != nil && !stays(err) {
		return from, m.illegal(session, from, m.goal[ev], ev)
	}
	return State(automaton.Current()), nil
}

// stays reports whether an automaton's error only says that the event led back to
// the state that it came from.
func stays(err error) bool {
	_, ok := errors.AsType[fsm.NoTransitionError](err)
	return ok
}

// Move is Fire by target: it fires the event that leads from one state to the
// other, the first in reading order should there be several. If none does it
// returns from and an [*IllegalError].
func (m *Machine) Move(session string, from, to State) (State, error) {
	ev, ok := m.by[from][to]
	if !ok {
		return from, m.illegal(session, from, to, "")
	}
	return m.Fire(session, from, ev)
}

// illegal makes the error for a move that the table has not got.
func (m *Machine) illegal(session string, from, to State, ev Event) *IllegalError {
	return &IllegalError{
		Machine:  m.name,
		Session:  session,
		From:     from,
		To:       to,
		Event:    ev,
		possible: m.possible[from],
	}
}
