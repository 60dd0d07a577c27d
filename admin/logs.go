package admin

import (
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
		one, err := s.find(plugin)
		if err != nil {
			return err
		}
		plugin = one.Plugin
	}
	if !q.follow {
		beginLines(w)
		return writeLines(w, encodeLog(s.logOf(plugin, q.lines, q.since)))
	}
	f, err := s.followers.admit()
	if err != nil {
		return err
	}
	defer s.followers.leave(f)
	return s.followLog(w, r, f, plugin, q)
}

func encodeLog(list []actors.Logged) [][]byte {
	texts := make([][]byte, 0, len(list))
	for _, line := range list {
		if text, err := actors.EncodeEvent(line); err == nil {
			texts = append(texts, text)
		}
	}
	return texts
}

// followLog shows the end of a log and then what comes.
func (s *Server) followLog(w http.ResponseWriter, r *http.Request, f *feed, plugin string, q query) error {
	before := s.logOf(plugin, q.lines, q.since) // from a disk, for which nobody who follows waits
	tail := s.talk.join(f, plugin, func(n int) []actors.Logged { return s.kept(plugin, n, q.since) }, q.lines)
	defer s.talk.leave(f)
	tail = joined(before, tail, q.lines)
	beginLines(w)
	if err := writeLines(w, encodeLog(tail)); err != nil {
		return err
	}
	return s.follow(w, r, f)
}

// kept is what the host itself has of logs, in the order of time.
func (s *Server) kept(plugin string, n int, since time.Time) []actors.Logged {
	var all []actors.Logged
	for _, one := range s.plugins() {
		if plugin == "" || one.Plugin == plugin {
			all = append(all, s.host.Logs(one.Plugin, n)...)
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
	// shown are the lines that were kept when it came: they are not told again.
	shown map[actors.Logged]int
}

// wants tells whether a line is to be told.
func (l *listener) wants(line actors.Logged) bool {
	if l.shown[line] > 0 {
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
	l := &listener{plugin: plugin, shown: make(map[actors.Logged]int, len(all))}
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
	var lost uint64
	for e := range sub.C {
		now := sub.Dropped()
		if line, ok := e.(actors.Logged); ok {
			t.tell(line, now-lost)
		}
		lost = now
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sub == sub { // the host has ended it
		for f := range t.listeners {
			f.end()
		}
	}
}

// tell hands on a line, before which some were lost. It is encoded once, if anybody has
// room for it.
func (t *talk) tell(line actors.Logged, lost uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	encoded := sync.OnceValue(func() []byte {
		text, _ := actors.EncodeEvent(line) // of strings, a number and a time
		return text
	})
	for f, l := range t.listeners {
		if lost > 0 {
			f.lose(lost)
		}
		if l.wants(line) {
			f.put(encoded)
		}
	}
}
