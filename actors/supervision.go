package actors

import (
	"time"

	"github.com/airi-host/airi-host/lifecycle"
)

// What a supervisor does about a crash.
//
//	session  crashed ──▶ supervisor counts, decides ──▶ verdict
//	         offers degraded (or withdrawn), failed ──▶ tells all, sets the timer
//	timer    retry ────▶ replace ──▶ session goes, its offers stay
//	         ended ────▶ a new session is made in its place, with a new id
//	                     ready: what it offers is ready, what it does not is gone
//
// A stop, a start by hand and the host's shutdown cancel that at any moment.

// onSessionCrashed counts the crash, decides, and answers with the decision, which
// the session carries out before anybody is told.
func (p *supervisor) onSessionCrashed(m sessionCrashed) {
	var next time.Time
	defer func() { m.h.self.tell(verdict{m.err, next}) }() // also after a panic: the session waits for it
	if m.h != p.current {
		return
	}
	p.fire(m.h, lifecycle.WorkerExited)
	if p.host.isDown.Load() { // no crash
		p.fire(m.h, lifecycle.WorkerStop)
		return
	}
	now := time.Now()
	p.crashes.follow(p.host.bounds.Load().restart)
	if m.former {
		next = p.crashes.resume(now)
	} else {
		next = p.crashes.add(now, m.err)
		p.remember()
	}
	p.notice = noticeOf(m.h, p.crashes.snapshot(now))
	if m.start != nil {
		p.last.start = m.start
	}
	if next.IsZero() {
		p.fire(m.h, lifecycle.WorkerGiveUp)
		return
	}
	p.fire(m.h, lifecycle.WorkerScheduleRetry)
	p.retryAt = next
	m.h.setComeback(planned, next)
}

func noticeOf(h *handle, w WorkerInfo) *Restart {
	return &Restart{
		Origin: h.Origin, Reason: w.LastCrash, InARow: w.InARow, Crashes: w.Crashes,
		Next: w.NextRestart, GivenUp: w.GivenUp,
	}
}

// arm tells of the crash, and sets the timer if there will be a restart.
func (p *supervisor) arm() {
	if p.notice != nil {
		p.notice.At = time.Now()
		p.host.publish(*p.notice)
		p.notice = nil
	}
	if p.retryAt.IsZero() {
		return
	}
	gen := p.gen
	p.timer = time.AfterFunc(time.Until(p.retryAt), func() { p.self.tell(retry{gen}) })
}

// cancelRestart makes a planned restart void; whether there will be another session
// all the same is up to the caller.
func (p *supervisor) cancelRestart() {
	p.gen++
	p.retryAt = time.Time{}
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	p.crashes.unplan()
}

func (p *supervisor) onRetry(m retry) {
	if m.gen != p.gen {
		return
	}
	p.fire(p.current, lifecycle.WorkerRetry)
	p.succeed(begin{man: p.last.man, runtime: p.last.runtime, start: p.last.start, restart: true})
	p.remember()
}

// succeed begins a session in place of the current one, which has crashed.
func (p *supervisor) succeed(m begin) {
	p.cancelRestart()
	p.current.setComeback(due, time.Time{})
	m.inherits = true
	p.next = &m
	p.current.self.tell(replace{})
}

// bequeath hands on what a crashed session leaves: its offers stay degraded until
// its heir is ready, and who waits for it waits for its heir.
func (p *supervisor) bequeath(old, heir *handle) {
	p.host.registry.tell(setOffers{
		owner: heir.owner(), to: lifecycle.CapDegraded, reason: "plugin " + p.name + " is starting again after a crash",
	})
	old.setComeback(noComeback, time.Time{})
}

// refused clears up after a start that came too late: the host shuts down.
func (p *supervisor) refused(old *handle) {
	if old == nil {
		if p.key != p.name { // the guest has not come
			p.retire()
		}
		return
	}
	p.current = old
	p.fire(old, lifecycle.WorkerStop)
	p.fire(old, lifecycle.WorkerExited)
	p.current = nil
	p.host.forget(old)
	old.setComeback(noComeback, time.Time{})
	p.host.registry.tell(dropOffers{owner: old.owner()})
}

func (p *supervisor) onHeirOf(m heirOf) {
	if m.session == p.heirTo {
		reply(m.reply, made{h: p.current})
		return
	}
	reply(m.reply, made{})
}

// onShuttingDown cancels a restart; the host stops the session itself.
func (p *supervisor) onShuttingDown() {
	waits := !p.retryAt.IsZero()
	p.notice = nil
	p.cancelRestart()
	p.forgetSteadiness()
	if waits {
		p.current.setComeback(noComeback, time.Time{})
		p.fire(p.current, lifecycle.WorkerStop)
	}
}
