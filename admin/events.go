package admin

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/airi-host/airi-host/actors"
)

// keptKinds are the events that are kept for who asks later. Lines of logs are kept by
// the host, plugin by plugin.
const keptKinds = actors.KindPhase | actors.KindWaiting | actors.KindCapability | actors.KindDropped | actors.KindRestart | actors.KindGrants | actors.KindConfiguration

// history keeps the end of what happened in a host, and hands on what happens. One
// goroutine does so until the host is shut down or the history closed.
type history struct {
	sub  *actors.Subscription
	done chan struct{}
	most int

	mu sync.Mutex
	// kept are the last events; the oldest is at next once there are most of them.
	kept  []event
	next  int
	feeds map[*feed]eventFilter
	ended bool
}

// event is an event and its JSON form.
type event struct {
	kind   actors.Kind
	plugin string
	text   []byte
}

func newHistory(host *actors.Host, most int) *history {
	h := &history{
		sub: host.Subscribe(keptKinds, 0), done: make(chan struct{}), most: most, feeds: map[*feed]eventFilter{},
	}
	go h.read()
	return h
}

func (h *history) read() {
	defer close(h.done)
	defer h.end()
	inTurns(h.sub, func(list []actors.Event, lost uint64) (followers int) {
		events := make([]event, 0, len(list))
		for _, e := range list {
			if text, err := actors.EncodeEvent(e); err == nil {
				events = append(events, event{e.Kind(), pluginOf(e), text})
			}
		}
		feeds := h.keep(events)
		spread(feeds, func(f *feed) bool { return h.give(f, events, lost) })
		return len(feeds)
	})
}

// pluginOf is whom an event is about.
func pluginOf(e actors.Event) string {
	if of, ok := e.(ofWhom); ok {
		return of.About().Plugin
	}
	return ""
}

// keep keeps events, and returns who is to be given them.
func (h *history) keep(list []event) []*feed {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range list {
		if len(h.kept) < h.most {
			h.kept = append(h.kept, e)
		} else {
			h.kept[h.next] = e
			h.next = (h.next + 1) % h.most
		}
	}
	return slices.Collect(maps.Keys(h.feeds))
}

// give gives events to a feed, before which some were lost.
func (h *history) give(f *feed, list []event, lost uint64) (woke bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	wanted := h.feeds[f]
	if wanted.kinds != 0 && lost > 0 {
		woke = f.lose(lost)
	}
	for _, e := range list {
		if wanted.wantsKept(e) && f.put(func() []byte { return e.text }) {
			woke = true
		}
	}
	return woke
}

func (h *history) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	for f := range h.feeds {
		f.end()
	}
}

// close ends it, and returns when nothing of it runs any more.
func (h *history) close() {
	h.sub.Close()
	<-h.done
}

// last returns the end of what is kept and wanted, oldest first; n of 0 is for all.
// A feed, if there is one, gets all that comes after it.
func (h *history) last(wanted eventFilter, n int, f *feed) (list [][]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.kept {
		if e := h.kept[(h.next+i)%len(h.kept)]; wanted.wantsKept(e) {
			list = append(list, e.text)
		}
	}
	if n > 0 && len(list) > n {
		list = list[len(list)-n:]
	}
	if f != nil {
		h.feeds[f] = wanted
		if h.ended {
			f.end()
		}
	}
	return list
}

func (h *history) leave(f *feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.feeds, f)
}

func (s *Server) getEvents(w http.ResponseWriter, r *http.Request) error {
	q, err := queryOf(r, "lines", "follow", "kind", "company", "plugin", "type")
	if err != nil {
		return err
	}
	kinds, err := kindsOf(q.kind)
	if err != nil {
		return err
	}
	wanted := eventFilter{kinds: kinds, plugin: q.plugin, company: q.company, ofType: q.ofType}
	if !q.follow {
		beginLines(w)
		return writeLines(w, s.history.last(wanted, q.lines, nil))
	}
	f, err := s.followers.admit()
	if err != nil {
		return err
	}
	defer s.followers.leave(f)
	list := s.history.last(wanted, q.lines, f)
	defer s.history.leave(f)
	if told := kinds & unkeptKinds; told != 0 {
		defer s.followUnkept(told, f, wanted.wants)()
	}
	beginLines(w)
	if err := writeLines(w, list); err != nil {
		return err
	}
	return s.follow(w, r, f)
}

// kindsOf reads a list of kinds with commas between them; "" is for all that are kept.
func kindsOf(list string) (kinds actors.Kind, err error) {
	if list == "" {
		return keptKinds, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.Index(EventKinds(), name)
		if i < 0 {
			return 0, invalid("?kind=%s: expected some of %s, with commas between them", list, strings.Join(EventKinds(), ", "))
		}
		kinds |= eventKinds[i]
	}
	return kinds, nil
}

// unkeptKinds are told to who follows them, and not kept.
const unkeptKinds = actors.KindCall | actors.KindStream | actors.KindChannel

// eventKinds are the kinds of events that can be asked for.
var eventKinds = []actors.Kind{
	actors.KindPhase, actors.KindWaiting, actors.KindCapability, actors.KindDropped, actors.KindRestart, actors.KindGrants, actors.KindConfiguration,
	actors.KindCall, actors.KindStream, actors.KindChannel,
}

// EventKinds are the names of the kinds of events that can be asked for.
func EventKinds() []string {
	names := make([]string, len(eventKinds))
	for i, one := range eventKinds {
		names[i] = one.String()
	}
	return names
}
