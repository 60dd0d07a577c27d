package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// startLimitError tells that the start limit ended a wait.
type startLimitError struct{ limit time.Duration }

func (e *startLimitError) Error() string {
	return fmt.Sprintf("the start limit of %s is over (%s)", e.limit, startLimitFlag)
}

const startLimitFlag = "--start-limit"

// shortfall is why one plugin is not ready. Its JSON form is a line of run's output.
type shortfall struct {
	Event  string `json:"event"`
	Plugin string `json:"plugin"`
	File   string `json:"file"`
	// Phase is the session's; "" when there is none.
	Phase lifecycle.State `json:"phase"`
	// FailedIn is the phase in which it failed.
	FailedIn lifecycle.State `json:"failedIn,omitempty"`
	Reason   string          `json:"reason"`
	// Place is where in the plugin's code the reason came from, if known.
	Place string `json:"place,omitempty"`
	// WaitsFor are the capabilities that it still lacks; Cycle are the plugins that
	// wait for each other, the first one again as the last.
	WaitsFor []string `json:"waitsFor,omitempty"`
	Cycle    []string `json:"cycle,omitempty"`
	// Limit is the setting that ended a wait: a manifest's field, or a flag.
	Limit string `json:"limit,omitempty"`
	// Advice is what to change.
	Advice string `json:"advice,omitempty"`
}

// standings has the newest session of each plugin, by the plugin's name.
type standings map[string]actors.SessionInfo

// standingsOf looks at all plugins at once: to inspect one after the other would go
// through everything that is offered for each of them.
func standingsOf(host *actors.Host) standings {
	now := standings{}
	for _, s := range host.Sessions() { // the oldest first
		if s.Instance == "" { // nobody started a guest
			now[s.Plugin] = s
		}
	}
	return now
}

// shortfallOf tells why a plugin is not ready; ok is false when it is. err is how
// its start ended.
func shortfallOf(now standings, m *manifest.Manifest, err error, t trace, by cures) (s shortfall, ok bool) {
	s = shortfall{Event: "not-ready", Plugin: m.PluginName(), File: m.File, Cycle: t.cycle}
	stands := now[s.Plugin]
	s.Phase, s.Reason, s.WaitsFor = stands.Phase, stands.Reason, stands.Waits
	if s.Phase == lifecycle.Ready {
		return s, false
	}
	late, isLate := errors.AsType[*startLimitError](err)
	switch {
	case s.Phase == lifecycle.Failed:
		s.FailedIn, s.Limit = t.failedIn, limitOf(err, t.failedIn)
		if !isLate { // else it failed since
			s.because(err)
		}
	case isLate:
		s.Limit = startLimitFlag
		s.Reason = sentence(s.Reason, late.Error())
	default:
		s.because(err)
	}
	s.Advice = s.advice(by)
	if stands.Worker.GivenUp {
		s.Advice = fmt.Sprintf("given up after %s in a row: 'airi-host start %s' starts it", plural(stands.Worker.InARow, "crash", "crashes"), s.Plugin)
	}
	return s, true
}

// because makes an error the reason.
func (s *shortfall) because(err error) {
	if err != nil {
		s.Reason = strings.TrimPrefix(err.Error(), "plugin "+s.Plugin+": ")
	}
	if peer, ok := errors.AsType[*protocol.PeerError](err); ok {
		s.Place = peer.At
	}
}

// sentence joins what is not empty.
func sentence(parts ...string) string {
	var text string
	for _, part := range parts {
		switch {
		case text == "":
			text = part
		case part != "":
			text = strings.TrimRight(text, ".") + ": " + part
		}
	}
	return text
}

// limitOf is the limit that made a session fail in a phase, if one did.
func limitOf(err error, failedIn lifecycle.State) string {
	if protocol.CodeOf(err) != protocol.CodeTimeout {
		return ""
	}
	return limits[failedIn]
}

// limits are the fields of a manifest that bound what happens in a phase.
var limits = map[lifecycle.State]string{
	lifecycle.Loading:     "airi-host.timeouts.load",
	lifecycle.Preparing:   "airi-host.timeouts.init",
	lifecycle.WaitingDeps: "airi-host.timeouts.capabilities",
	lifecycle.Prepared:    "airi-host.timeouts.init",
	lifecycle.Configured:  "airi-host.timeouts.setup",
}

// whyUnconfigured is the reason of a plugin whose configuration its schema or itself
// refuses, and in short that of one that has none.
func whyUnconfigured(reason string) string {
	if strings.Contains(reason, "the configuration of plugin ") || strings.Contains(reason, "refuses its configuration") {
		return reason
	}
	return "needs its configuration"
}

// advice says what to change, where the reason does not.
func (s shortfall) advice(by cures) string {
	switch {
	case s.Phase == lifecycle.ConfigurationNeeded:
		return by.cure(s.Plugin)
	case s.Cycle != nil:
		return strings.Join(s.Cycle, " → ") + " wait for each other: take a key out of airi-host.requires in one of their manifests"
	case s.Limit == startLimitFlag:
		return "raise it, or see what keeps the plugin"
	case s.Limit != "" && !strings.Contains(s.Reason, s.Limit):
		return "have a plugin offer what airi-host.requires names, or raise " + s.Limit + " in its manifest"
	default:
		return ""
	}
}

// String is the line for people.
func (s shortfall) String() string {
	text := s.Plugin + " is " + string(s.Phase)
	switch {
	case s.Phase == "":
		text = s.Plugin + " did not start"
	case s.FailedIn != "":
		text = s.Plugin + " failed in " + string(s.FailedIn)
	}
	reason := s.Reason
	if s.Place != "" {
		reason += " at " + s.Place
	}
	text = sentence(text, reason, s.Advice)
	where := s.File
	if s.Limit != "" && !strings.Contains(text, s.Limit) {
		where = "limit: " + s.Limit + "; " + where
	}
	return printable(fmt.Sprintf("%s (%s)", text, where))
}

// report is how a start went.
type report struct {
	plugins, ready int
	shortfalls     []shortfall
	// unsound are the files that have problems, and no plugin to run.
	unsound []string
	// unapproved are the plugins that wait for grants, each with which.
	unapproved []string
}

func reportOf(host *actors.Host, outcomes []actors.Outcome, traces map[string]trace, by cures) report {
	r := report{plugins: len(outcomes)}
	now := standingsOf(host)
	for _, o := range outcomes {
		if s, ok := shortfallOf(now, o.Manifest, o.Err, traces[o.Manifest.PluginName()], by); ok {
			r.shortfalls = append(r.shortfalls, s)
		}
	}
	r.ready = r.plugins - len(r.shortfalls)
	return r
}

// The bounds of a summary.
const (
	// namedInSummary is how many plugins of a kind it names.
	namedInSummary = 3
	// longestCure is how many bytes it has about one.
	longestCure = 160
)

// summary is the start in one line: how many are ready, and which ones are not, with
// what to do about each.
func (r report) summary() string {
	text := fmt.Sprintf("%d of %s ready", r.ready, pluginCount(r.plugins))
	for _, kind := range []string{kindFailed, kindConfiguration, kindOther} {
		var names []string
		for _, s := range r.shortfalls {
			if s.kind() == kind {
				names = append(names, s.cure())
			}
		}
		if len(names) == 0 {
			continue
		}
		if len(names) > 1 {
			kind = strings.Replace(kind, "needs", "need", 1)
		}
		text += fmt.Sprintf(", %d %s", len(names), kind)
		text += " (" + atMost(names) + ")"
	}
	if n := len(r.unapproved); n > 0 {
		text += fmt.Sprintf(", %d %s approval (%s)", n, map[bool]string{true: "waits for", false: "wait for"}[n == 1], atMost(r.unapproved))
	}
	switch n := len(r.unsound); n {
	case 0:
	case 1:
		text += ", 1 manifest with problems (airi-host validate " + r.unsound[0] + ")"
	default:
		text += fmt.Sprintf(", %d manifests with problems (airi-host validate names them)", n)
	}
	return printable(text)
}

// atMost names as many as a summary does of a kind.
func atMost(names []string) string {
	if more := len(names) - namedInSummary; more > 0 {
		names = append(names[:namedInSummary:namedInSummary], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, "; ")
}

// The kinds of shortfalls in a summary.
const (
	kindFailed        = "failed"
	kindConfiguration = "needs configuration"
	kindOther         = "not ready"
)

func (s shortfall) kind() string {
	switch s.Phase {
	case lifecycle.Failed:
		return kindFailed
	case lifecycle.ConfigurationNeeded:
		return kindConfiguration
	default:
		return kindOther
	}
}

// cure is the plugin and what to do about it, which the reason says where the advice
// does not.
func (s shortfall) cure() string {
	what := cmp.Or(s.Advice, s.Reason)
	if s.Phase == lifecycle.ConfigurationNeeded {
		what, _, _ = strings.Cut(what, orSettings) // the plugin's own line has both
	}
	return s.Plugin + ": " + cut(strings.TrimRight(what, "."), longestCure)
}

// cut returns at most the first bytes of s, marked where it goes on.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func (c *cli) printShortfalls(list []shortfall) {
	for _, s := range list {
		if c.json() {
			c.encode(s)
			continue
		}
		c.say("%s", s)
	}
}
