package protocol

import "slices"

// Left are calls that the host has given up and that the far end may still be at, by their
// numbers on the wire: what it calls meanwhile is for their sake. The zero value has none.
type Left struct {
	causes map[uint64]*Cause
	// order is that in which they were given up; it may name some that are over.
	order []uint64
}

// Add takes a call that is given up. Of more than most the oldest is forgotten.
func (l *Left) Add(n uint64, cause Cause, most int) {
	if l.causes == nil {
		l.causes = make(map[uint64]*Cause)
	}
	for len(l.causes) >= most {
		delete(l.causes, l.order[0])
		l.order = l.order[1:]
	}
	if len(l.order) >= 2*most {
		l.order = slices.DeleteFunc(l.order, func(n uint64) bool { return l.causes[n] == nil })
	}
	l.causes[n] = &cause
	l.order = append(l.order, n)
}

// Cause is the call of a number, or nil.
func (l *Left) Cause(n uint64) *Cause { return l.causes[n] }

// End tells that the far end has answered, late.
func (l *Left) End(n uint64) { delete(l.causes, n) }
