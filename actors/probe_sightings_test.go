package actors_test

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
)

// What a probe sees of its host: the events, from the first one on, and the log.

// wantPhase waits until a plugin passes into a phase, for the nth time.
func (p *trial) wantPhase(plugin string, to lifecycle.State, nth int) actors.PhaseChanged {
	p.t.Helper()
	return sighted(p, nth, func(e actors.PhaseChanged) bool { return e.Plugin == plugin && e.To == to })
}

// wantLogged waits for a line of a plugin's log.
func (p *trial) wantLogged(plugin, text string) actors.Logged {
	p.t.Helper()
	return sighted(p, 1, func(e actors.Logged) bool { return e.Plugin == plugin && strings.Contains(e.Text, text) })
}

// sighted waits for the nth event that matches, from the host's beginning on.
func sighted[E actors.Event](p *trial, nth int, matches func(E) bool) E {
	p.t.Helper()
	patience := time.After(labPatience)
	for {
		all, changed := p.seen.all()
		left := nth
		for _, e := range all {
			if one, ok := e.(E); ok && matches(one) {
				if left--; left == 0 {
					return one
				}
			}
		}
		select {
		case <-changed:
		case <-patience:
			require.FailNow(p.t, "no such event came", "%d of %d; the log:\n%s", nth-left, nth, p.log.text())
		}
	}
}

// count tells how many events matched so far.
func count[E actors.Event](p *trial, matches func(E) bool) (n int) {
	all, _ := p.seen.all()
	for _, e := range all {
		if one, ok := e.(E); ok && matches(one) {
			n++
		}
	}
	return n
}

// sightings are all events of a host.
type sightings struct {
	// over closes when there will be no more.
	over chan struct{}

	mu      sync.Mutex
	events  []actors.Event
	changed chan struct{}
}

func watch(h *actors.Host) *sightings {
	s := &sightings{over: make(chan struct{}), changed: make(chan struct{})}
	sub := h.Subscribe(actors.KindsUsual, 0)
	go func() {
		defer close(s.over)
		for e := range sub.C {
			s.mu.Lock()
			s.events = append(s.events, e)
			close(s.changed)
			s.changed = make(chan struct{})
			s.mu.Unlock()
		}
	}()
	return s
}

// all returns what there is, and a channel that closes when there is more.
func (s *sightings) all() ([]actors.Event, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events), s.changed
}

// diary is a log that can be read.
type diary struct {
	mu   sync.Mutex
	data bytes.Buffer
}

func (d *diary) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.data.Write(b)
}

func (d *diary) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.data.String()
}

// about returns the lines that name a plugin and are above debug.
func (d *diary) about(plugin string) []string {
	return slices.DeleteFunc(strings.Split(d.text(), "\n"), func(line string) bool {
		return !strings.Contains(line, "plugin="+plugin+" ") || strings.Contains(line, "level=DEBUG")
	})
}
