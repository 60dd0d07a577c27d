package lifecycle

import (
	"fmt"
	"maps"
	"slices"
)

// State is where something that lives is, e.g. "ready". It is all that has to be
// kept for a life in progress.
type State string

// Event is what happened to it, or what is asked of it, e.g. "SESSION_LOADED".
type Event string

// Table says what may happen: a state, an event, the state that it leads to. What
// is not in the table is not possible. A terminal state has an empty row.
type Table map[State]map[Event]State

// maxStates is how many states a table may have: the grid gives each a letter.
const maxStates = 26

// definition is a machine as its file writes it down.
type definition struct {
	name string
	// states and events in reading order; the first state is the initial one.
	states []State
	events []Event
	// terminals are the states that nothing leads out of.
	terminals []State
	table     Table
	// ours are edges that come on top of a table taken from the reference host.
	ours Table
}

// merge returns the table with the edges of ours added; none may replace another.
func merge(table, ours Table) (Table, error) {
	all := make(Table, len(table))
	for from, row := range table {
		all[from] = maps.Clone(row)
	}
	for from, row := range ours {
		if all[from] == nil {
			all[from] = make(map[Event]State, len(row))
		}
		for ev, to := range row {
			if old, taken := all[from][ev]; taken {
				return nil, fmt.Errorf("%s on %s leads to %s, and to %s in ours", ev, from, old, to)
			}
			all[from][ev] = to
		}
	}
	return all, nil
}

// check finds the first thing wrong between a definition and its merged table.
func (d definition) check(all Table) error {
	if len(d.states) == 0 || len(d.states) > maxStates {
		return fmt.Errorf("%d states listed, want 1 to %d", len(d.states), maxStates)
	}
	if err := sameNames("state", d.states, slices.Collect(maps.Keys(all))); err != nil {
		return err
	}
	if err := sameNames("event", d.events, all.events()); err != nil {
		return err
	}
	return d.checkEdges(all)
}

// checkEdges finds an edge that leads nowhere, or a row that is terminal in one
// place only.
func (d definition) checkEdges(all Table) error {
	for from, row := range all {
		if terminal := slices.Contains(d.terminals, from); terminal != (len(row) == 0) {
			return fmt.Errorf("state %s has %d exits, and terminal is %t", from, len(row), terminal)
		}
		for ev, to := range row {
			if _, known := all[to]; !known {
				return fmt.Errorf("%s on %s leads to %q, which has no row", ev, from, to)
			}
		}
	}
	return nil
}

// events returns every event of the table once, in no order.
func (t Table) events() []Event {
	seen := make(map[Event]bool)
	for _, row := range t {
		for ev := range row {
			seen[ev] = true
		}
	}
	return slices.Collect(maps.Keys(seen))
}

// sameNames reports a name that is listed and not used, used and not listed, or
// listed twice.
func sameNames[N ~string](what string, listed, used []N) error {
	listed, used = slices.Sorted(slices.Values(listed)), slices.Sorted(slices.Values(used))
	if !slices.Equal(listed, used) {
		return fmt.Errorf("%ss listed %q, in the table %q", what, listed, used)
	}
	return nil
}
