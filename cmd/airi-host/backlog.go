package main

import (
	"fmt"
	"strings"
	"sync"
)

// backlog holds the lines that are to come above the live view, or that a spool is to write,
// until they are taken. Whoever writes never waits: what does not fit is dropped, and counted in
// a line of its own.
type backlog struct {
	// changed is called when there is something to take.
	changed func()
	// most is how many bytes of lines are held.
	most int
	// told is the line for what was dropped; nil is that of a live view.
	told func(dropped int) string

	mu      sync.Mutex
	lines   []string
	size    int
	dropped int
	closed  bool
}

// maxBacklog is how many bytes of lines are held, unless the settings say otherwise: some
// thousand lines, and a terminal takes as many in a moment.
const maxBacklog = 1 << 20

// add takes whole lines; it tells false when the backlog is closed.
func (b *backlog) add(text []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n") {
		if b.dropped > 0 || b.size+len(line) > b.most {
			b.dropped++
			continue
		}
		b.lines = append(b.lines, line)
		b.size += len(line) + 1
	}
	b.changed()
	return true
}

// take returns all lines, and begins anew.
func (b *backlog) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.empty()
}

// close returns what is left; nothing is added any more.
func (b *backlog) close() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return b.empty()
}

func (b *backlog) empty() []string {
	lines := b.lines
	if b.dropped > 0 {
		lines = append(lines, b.tell(b.dropped))
	}
	b.lines, b.size, b.dropped = nil, 0, 0
	return lines
}

func (b *backlog) tell(dropped int) string {
	if b.told != nil {
		return b.told(dropped)
	}
	return fmt.Sprintf("… %d lines were not shown: they came too fast for the terminal", dropped)
}
