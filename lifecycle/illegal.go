package lifecycle

import (
	"fmt"
	"strings"
)

// IllegalError is a move that the table has not got.
type IllegalError struct {
	// Machine is the name of the machine that refused, e.g. "session".
	Machine string
	// Session is whose life it is, as the caller named it.
	Session string
	// From is the state it is in, and stays in.
	From State
	// To is the state that was asked for, or that Event leads to from wherever it
	// is possible; "" when an event has no single target.
	To State
	// Event is what was fired; "" when a state was asked for.
	Event Event

	// possible are the events that would have done, shared with the machine.
	possible []Event
}

// Error says what was asked of whom. For a session whose target is known the text
// is the reference host's, letter by letter: its peers see it as the reason of a
// module:status. Otherwise it also lists what would have been possible.
func (e *IllegalError) Error() string {
	if e.Machine == sessionName && e.To != "" {
		return fmt.Sprintf("Invalid plugin lifecycle transition: %s -> %s for module %s", e.From, e.To, e.Session)
	}
	return fmt.Sprintf("invalid %s transition for %s: %s (possible: %s)", e.Machine, e.Session, e.move(), e.choice())
}

// move names the event where one was fired, else both states.
func (e *IllegalError) move() string {
	if e.Event != "" {
		return fmt.Sprintf("%s in %s", e.Event, e.From)
	}
	return fmt.Sprintf("%s -> %s", e.From, e.To)
}

// choice lists the events that would have been possible.
func (e *IllegalError) choice() string {
	if len(e.possible) == 0 {
		return "nothing"
	}
	names := make([]string, len(e.possible))
	for i, ev := range e.possible {
		names[i] = string(ev)
	}
	return strings.Join(names, ", ")
}
