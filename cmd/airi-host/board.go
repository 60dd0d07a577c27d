package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
)

// board is what the live view shows of a host, as of one moment.
type board struct {
	// doing is what the host is about: one of the words below.
	doing string
	rows  []boardRow
	// unseen are lines of logs that came too fast to be looked at.
	unseen uint64
	began  time.Time
	now    time.Time
}

// What a host is about.
const (
	doingStart = "starting"
	doingServe = "serving"
	doingStop  = "stopping"
)

// boardRow is one plugin.
type boardRow struct {
	plugin string
	// phase is its session's; "" before it has one.
	phase lifecycle.State
	// needs is what it waits for, or why it is where it is; said, the last line of its
	// log. Both are printable.
	needs, said string
	// calls and errors are a second's.
	calls, errors float64
	drops         uint64
	// since is when its worker was started or, without one, when the session came to be
	// ready; zero while it is not up.
	since time.Time
	pid   int
}

// sampleEvery is over which time rates are counted.
const sampleEvery = time.Second

// maxSaid is how many bytes of a line of a log are kept for the view.
const maxSaid = 512

// observer makes boards. It remembers what a rate needs, and what a plugin said last.
type observer struct {
	plugins []string
	began   time.Time
	// unapproved are the grants that a plugin waits for; nil where nobody knows.
	unapproved func(plugin string) []string
	// cures say where a plugin is configured.
	cures cures

	said    map[string]string
	seen    map[string]bool
	sampled time.Time
	samples map[string]sample
}

// sample is a plugin's count of calls at a moment, and what it came to in a second.
type sample struct {
	session       string
	calls, errors uint64
	perSecond     [2]float64
}

func newObserver(plugins []string, now time.Time) *observer {
	return &observer{
		plugins: plugins, began: now, sampled: now,
		said: map[string]string{}, seen: map[string]bool{}, samples: map[string]sample{},
	}
}

// hear remembers what a plugin said last.
func (o *observer) hear(l actors.Logged) {
	text := l.Text
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "")
	}
	if text = strings.TrimSpace(printable(text)); text != "" {
		o.said[l.Plugin] = text
	}
}

// look makes the board of a moment.
func (o *observer) look(now time.Time, doing string, sessions []actors.SessionInfo) board {
	newest := map[string]actors.SessionInfo{}
	var guests []string          // as long as they have a session
	for _, s := range sessions { // the oldest first
		name := calledOf(s)
		switch _, seen := newest[name]; {
		case s.Instance != "":
			guests = append(guests, name)
		case !seen && !slices.Contains(o.plugins, name):
			o.plugins = append(slices.Clip(o.plugins), name) // it has come since
		}
		newest[name] = s
	}
	if now.Sub(o.sampled) >= sampleEvery {
		o.sample(now, newest)
	}
	b := board{doing: doing, began: o.began, now: now}
	for _, plugin := range o.plugins {
		b.rows = append(b.rows, o.row(plugin, newest, now))
		o.seen[plugin] = o.seen[plugin] || newest[plugin].Plugin != ""
	}
	for _, guest := range guests {
		b.rows = append(b.rows, o.row(guest, newest, now))
	}
	return b
}

func (o *observer) row(plugin string, newest map[string]actors.SessionInfo, now time.Time) boardRow {
	r := boardRow{plugin: printable(plugin), said: o.said[plugin]}
	s, ok := newest[plugin]
	if !ok {
		if o.seen[plugin] {
			r.phase = lifecycle.Stopped
		}
		return r
	}
	r.phase, r.needs = s.Phase, o.needs(s, now)
	if r.needs == "" && o.unapproved != nil {
		r.needs = printable(awaitsApproval(s.Plugin, o.unapproved(s.Plugin)))
	}
	rates := o.samples[plugin].perSecond
	r.calls, r.errors = rates[0], rates[1]
	for _, n := range s.Dropped {
		r.drops += n
	}
	switch {
	case s.Process != nil && !isDown(s.Phase):
		r.pid, r.since = s.Process.PID, s.Process.Started
	case s.Phase == lifecycle.Ready || s.Phase == lifecycle.Degraded:
		r.since = s.Since
	}
	return r
}

func isDown(phase lifecycle.State) bool {
	return phase == lifecycle.Failed || phase == lifecycle.Stopped
}

// sample counts what came since the last sample. A new session begins at nothing.
func (o *observer) sample(now time.Time, newest map[string]actors.SessionInfo) {
	seconds := now.Sub(o.sampled).Seconds()
	o.sampled = now
	maps.DeleteFunc(o.samples, func(plugin string, _ sample) bool { return newest[plugin].Plugin == "" })
	for plugin, s := range newest {
		last := o.samples[plugin]
		if last.session != s.ID {
			last = sample{}
		}
		o.samples[plugin] = sample{s.ID, s.Calls, s.CallErrors, [2]float64{
			float64(s.Calls-last.calls) / seconds, float64(s.CallErrors-last.errors) / seconds,
		}}
	}
}

// needs is what a session waits for, or why it is where it is.
func (o *observer) needs(s actors.SessionInfo, now time.Time) string {
	switch s.Phase {
	case lifecycle.Failed:
		return note(sentence(restartText(s.Worker, now), s.Reason), "")
	case lifecycle.WaitingDeps:
		return note("waits for "+strings.Join(s.Waits, ", "), "")
	case lifecycle.ConfigurationNeeded:
		return note(whyUnconfigured(s.Reason), "") + o.cures.short()
	case lifecycle.Degraded:
		return note(s.Reason, "")
	default:
		return ""
	}
}

// restartText says when a plugin that crashed will be started again, if it did.
func restartText(w actors.WorkerInfo, now time.Time) string {
	switch {
	case w.GivenUp:
		return fmt.Sprintf("given up after %d crashes", w.InARow)
	case !w.NextRestart.IsZero():
		return fmt.Sprintf("crashed (%d in a row), restart in %s", w.InARow, max(0, w.NextRestart.Sub(now).Round(time.Second)))
	default:
		return ""
	}
}
