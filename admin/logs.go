package admin

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/airi-host/airi-host/actors"
)

// defaultLines is how much of the end of logs is shown to who does not say.
const defaultLines = 100

// logQueue is how many lines of logs may wait to be handed on to followers.
const logQueue = 4096

// getLogs answers with the end of one plugin's log, or of all.
func (s *Server) getLogs(w http.ResponseWriter, r *http.Request) error {
	q, err := queryOf(r, "lines", "follow", "since")
	if err != nil {
		return err
	}
	if q.lines == 0 {
		q.lines = defaultLines
	}
	plugin := r.PathValue("name")
	if plugin != "" {
		one, err := s.findAny(plugin)
		if err != nil {
			return err
		}
		plugin = one.Plugin
	}
	if !q.follow {
		past := s.logOf(plugin, q.lines, q.since)
		beginLines(w)
		return writeLog(w, past)
	}
	f, err := s.followers.admit()
	if err != nil {
		return err
	}
	defer s.followers.leave(f)
	return s.followLog(w, r, f, plugin, q)
}

// writeLog writes the end of a log, behind how much of it was left out.
func writeLog(w http.ResponseWriter, past excerpt) error {
	soon(w)
	if past.left > 0 {
		if _, err := fmt.Fprintf(w, "{\"event\":\"gap\",\"missed\":%d,\"older\":true}\n", past.left); err != nil {
			return err
		}
	}
	for _, line := range past.lines {
		text, err := actors.EncodeEvent(line)
		if err != nil {
			continue
		}
		if _, err := w.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// followLog shows the end of a log and then what comes.
func (s *Server) followLog(w http.ResponseWriter, r *http.Request, f *feed, plugin string, q query) error {
	before := s.logOf(plugin, q.lines, q.since) // from a disk, for which nobody who follows waits
	tail := s.talk.join(f, plugin, func(n int) []actors.Logged { return s.kept(plugin, n, q.since) }, q.lines)
	defer s.talk.leave(f)
	past := before.joined(tail).within(q.lines, s.limits.LogBytes)
	beginLines(w)
	if err := writeLog(w, past); err != nil {
		return err
	}
	return s.follow(w, r, f)
}

// kept is what the host itself has of logs, in the order of time.
func (s *Server) kept(plugin string, n int, since time.Time) []actors.Logged {
	var all []actors.Logged
	for _, name := range s.pluginNames() {
		if plugin == "" || name == plugin {
			all = append(all, s.host.Logs(name, n)...)
		}
	}
	all = slices.DeleteFunc(all, func(e actors.Logged) bool { return e.At.Before(since) })
	return lastOf(all, n)
}

// talk hands on what plugins say to those who follow it. While there is one, one
// goroutine does so for all of them.
type talk struct {
	host *actors.Host

	mu sync.Mutex
	// sub is nil while nobody follows.
	sub       *actors.Subscription
	listeners map[*feed]*listener
	pumping   sync.WaitGroup
}

// listener is what one follower wants to hear.
type listener struct {
	plugin string
	// shown are the lines that were kept when it came: they are not told again. What is
	// younger than since is none of them.
	shown map[actors.Logged]int
	since time.Time
}

// wants tells whether a line is to be told.
func (l *listener) wants(line actors.Logged) bool {
	if !line.At.After(l.since) && l.shown[line] > 0 {
		l.shown[line]--
		return false
	}
	return l.plugin == "" || l.plugin == line.Plugin
}

// join lets a feed have all lines that come, and returns the n lines before them: what
// is kept is read while we listen already, and nothing is handed on meanwhile, so that
// no line is told twice and none left out.
func (t *talk) join(f *feed, plugin string, kept func(n int) []actors.Logged, n int) []actors.Logged {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sub == nil {
		sub := t.host.Subscribe(actors.KindLog, logQueue)
		t.sub = sub
		t.pumping.Go(func() { t.pump(sub) })
	}
	all := kept(maxLines)
	l := &listener{plugin: plugin, shown: make(map[actors.Logged]int, len(all)), since: time.Now()}
	for _, line := range all {
		l.shown[line]++
	}
	t.listeners[f] = l
	return all[max(0, len(all)-n):]
}

func (t *talk) leave(f *feed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.listeners, f)
	if len(t.listeners) == 0 && t.sub != nil {
		t.sub.Close()
		t.sub = nil
	}
}

// pump hands on what one subscription gives, until it is closed.
func (t *talk) pump(sub *actors.Subscription) {
	inTurns(sub, t.tell)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sub == sub { // the host has ended it
		for f := range t.listeners {
			f.end()
		}
	}
}

// tell hands on lines, before which some were lost. Each is encoded once, if anybody has
// room for it.
func (t *talk) tell(list []actors.Event, lost uint64) (followers int) {
	lines := make([]talked, 0, len(list))
	for _, e := range list {
		if line, ok := e.(actors.Logged); ok {
			lines = append(lines, talked{line, sync.OnceValue(func() []byte {
				text, _ := actors.EncodeEvent(line) // of strings, a number and a time
				return text
			})})
		}
	}
	t.mu.Lock()
	feeds := slices.Collect(maps.Keys(t.listeners))
	t.mu.Unlock()
	spread(feeds, func(f *feed) bool { return t.give(f, lines, lost) })
	return len(feeds)
}

// talked is a line, and how to encode it.
type talked struct {
	actors.Logged
	text func() []byte
}

// give gives one follower what it wants of lines, before which some were lost.
func (t *talk) give(f *feed, lines []talked, lost uint64) (woke bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.listeners[f]
	if l == nil {
		return false
	}
	if lost > 0 {
		woke = f.lose(lost)
	}
	for _, line := range lines {
		if l.wants(line.Logged) && f.put(line.text) {
			woke = true
		}
	}
	return woke
}
