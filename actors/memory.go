package actors

import (
	"strings"
	"time"

	"github.com/airi-host/airi-host/lifecycle"
)

// CrashMemory keeps how plugins have crashed from one host to the next, for
// Options.Memory. Both methods are called where a plugin's supervisor decides: they must
// be quick, and may be called from several goroutines.
type CrashMemory interface {
	// Recall returns what was remembered of a plugin last; the zero value for nothing.
	Recall(plugin string) CrashRecord
	// Remember takes what is to be remembered of a plugin from now on.
	Remember(plugin string, r CrashRecord)
}

// CrashRecord is how a plugin has crashed, over all its sessions.
type CrashRecord struct {
	// Crashes is how many there were; InARow, how many of them are not forgiven.
	Crashes, InARow int
	// GivenUp tells that it is not to be started but by hand.
	GivenUp bool
	// LastCrash is why it crashed last, at LastCrashAt.
	LastCrash   string
	LastCrashAt time.Time
	// NextRestart is when it was to be started again; zero when that was not planned.
	NextRestart time.Time
}

// What a supervisor does with a memory. A plugin whose start says StartOptions.Resume
// goes on where the former host has left it:
//
//	given up          its session fails at once, until it is started by hand
//	in back-off       its session fails at once, and is succeeded by the next one when
//	                  the time comes that was planned
//	anything else     starts; the crashes in a row are counted on
//
// What the manifest of one that fails so offers is announced all the same, and then
// withdrawn or degraded with the reason, as after a crash under this host. What it would
// say only once it runs is not known: who calls for something that nobody offers is told
// of those plugins.
//
// Whatever a host does while it shuts down is not remembered: its plugins are stopped by
// nobody's hand.

// remember hands on what is known, if anybody keeps it.
func (p *supervisor) remember() {
	if p.host.memory != nil && p.key == p.name && !p.host.isDown.Load() {
		p.host.memory.Remember(p.name, p.crashes.record())
	}
}

// former is what a session is to fail of at once that takes the place of one of the former
// host; nil if it is to be started.
func (p *supervisor) former(m begin) error {
	if m.start == nil || !m.start.Resume || !p.crashes.lies(time.Now()) {
		return nil
	}
	return &formerCrash{last: p.crashes.record().LastCrash}
}

// formerCrash is what a session fails of whose plugin crashed under the former host.
type formerCrash struct{ last string }

func (e *formerCrash) Error() string { return "it crashed before this host began: " + e.last }

// watchSteadiness has it remembered when the crashes are forgiven that were before.
func (p *supervisor) watchSteadiness() {
	if p.host.memory == nil || p.crashes.record().InARow == 0 {
		return
	}
	p.forgetSteadiness()
	p.steady = time.AfterFunc(p.crashes.policy.Stable, func() { p.self.tell(steadied{}) })
}

func (p *supervisor) forgetSteadiness() {
	if p.steady != nil {
		p.steady.Stop()
		p.steady = nil
	}
}

func (p *supervisor) onSteadied() {
	if p.crashes.settle(time.Now()) {
		p.remember()
	}
}

// record is what outlives the host.
func (c *crashes) record() CrashRecord {
	c.mu.Lock()
	defer c.mu.Unlock()
	return CrashRecord{
		Crashes: c.info.Crashes, InARow: c.info.InARow, GivenUp: c.info.GivenUp,
		LastCrash: c.info.LastCrash, LastCrashAt: c.info.LastCrashAt, NextRestart: c.info.NextRestart,
	}
}

// recall begins with what outlived the former host.
func (c *crashes) recall(r CrashRecord) {
	c.info.Crashes, c.info.InARow, c.info.GivenUp = r.Crashes, r.InARow, r.GivenUp
	c.info.LastCrash, c.info.LastCrashAt, c.info.NextRestart = r.LastCrash, r.LastCrashAt, r.NextRestart
}

// lies tells whether the plugin is down since it crashed.
func (c *crashes) lies(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.info.GivenUp || c.info.NextRestart.After(now) {
		return true
	}
	c.info.NextRestart = time.Time{} // it has come
	return false
}

// resume tells when the start is due that the former host had planned; zero means that it
// has given the plugin up. A clock that was put back keeps it down no longer than a crash
// can.
func (c *crashes) resume(now time.Time) (next time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.info.GivenUp {
		return time.Time{}
	}
	if latest := now.Add(c.policy.Max); c.info.NextRestart.After(latest) {
		c.info.NextRestart = latest
	}
	return c.info.NextRestart
}

// settle forgives the crashes before a session that has been ready for long enough; it
// tells whether there were any.
func (c *crashes) settle(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stable(now) || c.info.InARow == 0 {
		return false
	}
	c.info.InARow = 0
	return true
}

// mostInherited is how many plugins a caller is told of that may offer what nobody does.
const mostInherited = 8

// inherited says which plugins are down since a crash under the former host, and when
// they are tried again: nobody knows all that they offer. "" where there are none.
func (h *Host) inherited() string {
	if h.formers.Load() == 0 {
		return ""
	}
	var all []string
	for _, who := range h.handles() {
		at, _ := who.watch()
		if !who.former.Load() || at.phase != lifecycle.Failed {
			continue
		}
		one := "plugin " + who.Plugin + " crashed before this host began, and says all that it offers only when it runs"
		switch at.comeback {
		case planned:
			one += nextTry(at.nextTry, time.Now())
		case due:
			one += "; it is about to be started"
		default:
			one += "; it was given up: start it by hand"
		}
		if all = append(all, one); len(all) == mostInherited {
			break
		}
	}
	return strings.Join(all, "; ")
}
