package plugintest

import (
	"slices"
	"strings"
	"sync"
)

// record is what is kept of one kind, up to a bound.
type record[T any] struct {
	most int

	mu     sync.Mutex
	items  []T
	missed int
}

func (r *record[T]) add(item T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.items) >= r.most {
		r.missed++
		return
	}
	r.items = append(r.items, item)
}

func (r *record[T]) list() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.items)
}

// lost is how many there were beyond the bound.
func (r *record[T]) lost() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.missed
}

// lines is a record as what a log is written to, a line each time.
type lines struct{ record[string] }

func (l *lines) Write(line []byte) (int, error) {
	l.add(strings.TrimRight(string(line), "\n"))
	return len(line), nil
}
