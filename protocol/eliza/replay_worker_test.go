package eliza

import (
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/protocoltest"
)

// TestReplay_worker puts our Worker in the place of the recorded one: given what the host
// wrote, it writes what the worker wrote.
func TestReplay_worker(t *testing.T) {
	for name, r := range recorded {
		if r.stub || strings.HasPrefix(name, "bridge-13") { // a worker by hand, with ids of its own
			continue
		}
		t.Run(name, func(t *testing.T) {
			lines := conversation(t, name)
			key, err := hex.DecodeString(r.key)
			require.NoError(t, err)
			if len(key) == 0 {
				key = nil
			}
			at := slices.IndexFunc(lines, func(l protocoltest.Line) bool { return !l.FromHost() })
			w := &workerReplay{t: t, replay: r, tasks: map[string][]protocol.RequestID{}, waiting: map[string]protocol.CallID{}}
			w.w = NewWorker(WorkerSettings{
				Plugin: definitionOf(member(lines[at].Frame, "descriptor")), Key: key, Granted: raw(r.granted),
			})
			if r.byHand != "" {
				w.w.handlers.byID[r.byHand] = handler{surface: surfaceModel}
			}
			for _, l := range lines {
				w.line(l)
			}
			require.Empty(t, w.sent)
		})
	}
}

// definitionOf is the definition that was announced.
func definitionOf(d json.RawMessage) Definition {
	p := Definition{
		Name: optionalText(member(d, "name")), Description: optionalText(member(d, "description")),
		Config: member(d, "config"), Schema: member(d, "schema"),
		Views: member(d, "views"), Widgets: member(d, "widgets"), ComponentTypes: member(d, "componentTypes"),
	}
	if n, err := strconv.Atoi(string(member(d, "priority"))); err == nil {
		p.Priority = &n
	}
	words := func(v json.RawMessage) (all []string) {
		if v == nil {
			return nil
		}
		all = []string{}
		eachItem(v, func(item json.RawMessage) { all = append(all, textOf(item)) })
		return all
	}
	p.Dependencies = words(member(d, "dependencies"))
	action := func(v json.RawMessage) Action {
		return Action{
			Name: textOf(member(v, "name")), Description: optionalText(member(v, "description")),
			Similes: words(member(v, "similes")), Examples: member(v, "examples"), Validates: member(v, "validate") != nil,
		}
	}
	eachItem(member(d, "actions"), func(v json.RawMessage) { p.Actions = append(p.Actions, action(v)) })
	eachItem(member(d, "evaluators"), func(v json.RawMessage) { p.Evaluators = append(p.Evaluators, action(v)) })
	eachItem(member(d, "providers"), func(v json.RawMessage) {
		p.Providers = append(p.Providers, Provider{
			Name: textOf(member(v, "name")), Description: optionalText(member(v, "description")), About: kept(v, "dynamic", "position", "private"),
		})
	})
	if member(d, "models") != nil {
		p.Models = []string{}
	}
	protocol.EachMember(member(d, "models"), func(key, _ []byte) { p.Models = append(p.Models, string(key)) })
	if member(d, "events") != nil {
		p.Events = []Events{}
	}
	protocol.EachMember(member(d, "events"), func(key, v []byte) {
		e := Events{Name: string(key)}
		eachItem(v, func(json.RawMessage) { e.Handlers++ })
		p.Events = append(p.Events, e)
	})
	eachItem(member(d, "services"), func(v json.RawMessage) {
		p.Services = append(p.Services, Service{
			Type: textOf(member(v, "serviceType")), Description: optionalText(member(v, "capabilityDescription")), Methods: words(member(v, "rpcMethods")),
		})
	})
	eachItem(member(d, "routes"), func(v json.RawMessage) {
		p.Endpoints = append(p.Endpoints, Endpoint{
			Path: textOf(member(v, "path")), Method: optionalText(member(v, "type")),
			About: kept(v, "name", "public", "publicReason", "isMultipart"), Unserved: member(v, "routeHandler") == nil,
		})
	})
	return p
}

// workerReplay is our worker's end in a recorded conversation.
type workerReplay struct {
	t *testing.T
	replay
	w *Worker
	// tasks are the host's calls that are being handled, by their ids.
	tasks map[string][]protocol.RequestID
	sent  []protocol.Message
	calls protocol.CallID
	// waiting are the worker's calls in flight, by their ids.
	waiting map[string]protocol.CallID
	added   *Definition
}

func (w *workerReplay) line(l protocoltest.Line) {
	w.t.Helper()
	if l.Raw != nil {
		return // what the plugin prints
	}
	m := decode(w.t, l.Record())
	if l.FromHost() {
		w.fromHost(m)
		return
	}
	switch m := m.(type) {
	case Announce:
		if m.Dynamic {
			more := definitionOf(m.Descriptor)
			w.added = &more
			w.step(Initialized{Added: w.added})
		} else {
			w.step(Begin{})
		}
		w.expect(m)
	case InitComplete:
		if w.added == nil {
			w.step(Initialized{})
		}
		w.expect(m)
	case Event:
		w.step(Initialized{Err: remoteError(member(m.Payload, "error"))})
		w.expect(m)
	case HostRPC:
		w.calls++
		w.waiting[string(m.RequestID)] = w.calls
		w.step(protocol.Invoke{ID: w.calls, Call: protocol.Call{Key: textOf(m.Method), Input: m.Args}})
		w.expect(m)
	case Callback:
		w.said(m)
	case Result:
		w.answer(m)
	default:
		w.t.Fatalf("unexpected %T", m)
	}
}

// fromHost gives our worker what the host wrote.
func (w *workerReplay) fromHost(m protocol.Message) {
	w.t.Helper()
	w.w.replays = newReplays(0) // the lab numbers its calls as it likes
	if r, ok := m.(RPC); ok {
		m = w.renumbered(r)
	}
	for _, e := range w.step(protocol.Received{Message: m}) {
		switch e := e.(type) {
		case Task:
			r, _ := m.(RPC)
			w.tasks[string(r.RequestID)] = append(w.tasks[string(r.RequestID)], e.ID)
		case protocol.Complete:
			r, _ := m.(Result)
			require.Equal(w.t, w.waiting[string(r.RequestID)], e.ID)
			require.Equal(w.t, string(r.OK) == "true", e.Err == nil)
			if e.Err == nil {
				require.Equal(w.t, string(or(r.Payload, isNull)), string(e.Result))
			}
		}
	}
}

// renumbered is a call of what init has added: its ids are others with our worker, which
// numbers on.
func (w *workerReplay) renumbered(r RPC) RPC {
	if w.added == nil {
		return r
	}
	part, _, _ := cutLast(textOf(r.Target), ":")
	last := ""
	for id := range w.w.handlers.byID {
		if p, n, _ := cutLast(id, ":"); p == part && len(n) >= len(last) && n > last {
			r.Target, last = quote(id), n
		}
	}
	return r
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// said has the plugin say what it was recorded to say.
func (w *workerReplay) said(m Callback) {
	w.t.Helper()
	for id, task := range w.w.tasks {
		if task.callback == textOf(m.ID) {
			w.step(protocol.Report{ID: id, Item: m.Payload})
			w.expect(m)
			return
		}
	}
	require.NotEmpty(w.t, w.workerDiffers["callback"], "nobody has asked for %s", m.ID)
}

// answer has the plugin answer as recorded, unless our worker has done so itself.
func (w *workerReplay) answer(m Result) {
	w.t.Helper()
	if ids := w.tasks[string(m.RequestID)]; len(ids) > 0 {
		w.tasks[string(m.RequestID)] = ids[1:]
		in := protocol.Reply{ID: ids[0], Result: m.Payload}
		if string(m.OK) != "true" {
			in.Err = remoteError(m.Error)
		}
		w.step(in)
	}
	if w.workerDiffers["*"] != "" || w.workerDiffers[textOf(m.RequestID)] != "" {
		w.differs(m)
		return
	}
	w.expect(m)
}

// differs wants an answer to the same call that says the same of its success.
func (w *workerReplay) differs(m Result) {
	w.t.Helper()
	require.NotEmpty(w.t, w.sent)
	got, ok := w.sent[0].(Result)
	require.True(w.t, ok)
	require.Equal(w.t, string(m.RequestID), string(got.RequestID))
	require.Equal(w.t, string(m.OK), string(got.OK))
	w.sent = w.sent[1:]
}

func (w *workerReplay) step(in protocol.Input) []protocol.Effect {
	w.t.Helper()
	out := w.w.Step(now, in, nil)
	for _, e := range out {
		if s, ok := e.(protocol.Send); ok {
			w.sent = append(w.sent, s.Message)
		}
	}
	return out
}

var idNumber = regexp.MustCompile(`:\d+"\}`)

// expect wants a frame among those that were sent.
func (w *workerReplay) expect(m protocol.Message) {
	w.t.Helper()
	want := like(w.t, m)
	alike := func(s protocol.Message) bool { return like(w.t, s) == want }
	if a, ok := m.(Announce); ok && a.Dynamic {
		want = idNumber.ReplaceAllString(want, `"}`)
		alike = func(s protocol.Message) bool { return idNumber.ReplaceAllString(like(w.t, s), `"}`) == want }
	}
	at := slices.IndexFunc(w.sent, alike)
	if at < 0 {
		var sent []string
		for _, s := range w.sent {
			sent = append(sent, like(w.t, s))
		}
		require.Failf(w.t, "not sent", "want %s\nsent %s", want, strings.Join(sent, "\n     "))
	}
	w.sent = slices.Delete(w.sent, at, at+1)
}
