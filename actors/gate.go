package actors

import "sync"

// gate holds a reader back while what it has read is not handled yet.
type gate struct {
	mu     sync.Mutex
	free   sync.Cond
	owed   int
	limit  int
	opened bool
}

func newGate(limit int) *gate {
	g := &gate{limit: limit}
	g.free.L = &g.mu
	return g
}

// take counts one more thing to handle.
func (g *gate) take() {
	g.mu.Lock()
	g.owed++
	g.mu.Unlock()
}

// give tells that one is handled; a nil gate takes it too.
func (g *gate) give() {
	if g == nil {
		return
	}
	g.mu.Lock()
	g.owed--
	g.mu.Unlock()
	g.free.Signal()
}

// wait returns when there are fewer than the limit, or the gate is closed, and tells
// whether that took time.
func (g *gate) wait() (waited bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.owed >= g.limit && !g.opened {
		waited = true
		g.free.Wait()
	}
	return waited
}

// isFull tells whether wait would wait.
func (g *gate) isFull() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.owed >= g.limit && !g.opened
}

// close lets the reader go for good.
func (g *gate) close() {
	g.mu.Lock()
	g.opened = true
	g.mu.Unlock()
	g.free.Broadcast()
}
