package plugin

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// unreplayed are the conversations in which a plugin of ours has no part, and why.
var unreplayed = map[string]string{
	"04-announce-no-name": "a definition has a name", "06-id-collision": "what is offered again takes the older one's place, and is not announced", "13-action-null-args": "the words of an engine", "24-tests-surface": "nothing announces a test",
	"31-big-frame": "its frames are elided",
	"38-hmac":      "ids are signed, and ours are others: TestServeEliza_checksSignatures", "43-hmac-infinity-crash": "the same",
	"40-permission-read": "a handler that nothing announces", "41-permission-run-audit": "the same", "39-permission-denied": "the surface of tests",
	"bridge-08-action-results": "the recorded worker is one by hand", "bridge-09-provider-route-results": "the same", "bridge-12-dynamic-mismatch": "the same",
	"bridge-15-init-failed": "a worker ends when its init has failed", "bridge-13-unhandled-rejection": "the same", "bridge-14-callback-throws": "the same",
}

// TestServeEliza_replays puts a plugin of ours in the place of the recorded one: given what
// the reference's hosts wrote, its worker writes what the recorded one wrote, but for the
// numbers of handlers, stacks, and what has no word in a definition.
func TestServeEliza_replays(t *testing.T) {
	files, err := filepath.Glob("../protocol/eliza/testdata/transcripts/*.ndjson")
	require.NoError(t, err)
	replayed := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".ndjson")
		if unreplayed[name] != "" {
			continue
		}
		replayed++
		t.Run(name, func(t *testing.T) { newReplay(t, recordedLines(t, file)).run() })
	}
	require.Equal(t, len(files), replayed+len(unreplayed), "all that is recorded")
}

// recordedLine is one line of a conversation.
type recordedLine struct {
	Dir   string
	Frame json.RawMessage
	Raw   *string
}

func recordedLines(t *testing.T, file string) (lines []recordedLine) {
	t.Helper()
	data, err := os.ReadFile(file) //nolint:gosec // a recording
	require.NoError(t, err)
	for text := range strings.Lines(string(data)) {
		var l recordedLine
		require.NoError(t, json.Unmarshal([]byte(text), &l))
		lines = append(lines, l)
	}
	return lines
}

// wireFrame is what a replay looks at in a frame.
type wireFrame struct {
	Type       string
	RequestID  json.RawMessage
	Surface    string
	Target     json.RawMessage
	Method     string
	Args       json.RawMessage
	OK         bool
	Payload    json.RawMessage
	Error      json.RawMessage
	CallbackID string
	Name       string
	Descriptor json.RawMessage
}

// step is what a handler of a replay is told to do next.
type step struct {
	say     json.RawMessage
	isSay   bool
	result  json.RawMessage
	failure error
}

// replay is our worker in a conversation.
type replay struct {
	t     *testing.T
	lines []recordedLine
	in    io.WriteCloser
	out   *bufio.Scanner
	ended chan error
	// begun has the session when its hook runs, hook how that ends.
	begun   chan *Session
	hook    chan func(*Session) error
	session *Session

	mu sync.Mutex
	// steps are those of the handlers, by the ids of their calls.
	steps map[string]chan step
	// ids are those of our handlers, by theirs without the number.
	ids map[string]string
	// surfaces are those of the calls, by their ids; skipped are calls whose answers are
	// passed over, over those that were answered.
	surfaces      map[string]string
	skipped, over map[string]bool
	callbacks     map[string]string
}

func newReplay(t *testing.T, lines []recordedLine) *replay {
	t.Helper()
	r := &replay{
		t: t, lines: lines, ended: make(chan error, 1), begun: make(chan *Session, 1), hook: make(chan func(*Session) error, 4),
		steps: map[string]chan step{}, ids: map[string]string{}, surfaces: map[string]string{}, skipped: map[string]bool{}, over: map[string]bool{},
		callbacks: map[string]string{},
	}
	p := r.definition()
	in, toWorker := io.Pipe()
	fromWorker, out := io.Pipe()
	r.in, r.out = toWorker, bufio.NewScanner(fromWorker)
	r.out.Buffer(nil, 4<<20)
	go func() {
		r.ended <- ServeEliza(context.Background(), p, ElizaOptions{
			In: in, Out: out, Log: slog.DiscardHandler, InitWait: time.Nanosecond, Settle: time.Nanosecond, Grace: time.Nanosecond,
		})
	}()
	t.Cleanup(func() {
		_ = toWorker.Close()
		_ = fromWorker.Close()
		err := <-r.ended
		_ = err // whatever came of the conversation
	})
	return r
}

// definition is the recorded plugin, whose handlers do what they are told.
func (r *replay) definition() *Definition {
	var first wireFrame
	for _, l := range r.lines {
		if l.Dir == "worker->host" && l.Raw == nil {
			require.NoError(r.t, json.Unmarshal(l.Frame, &first))
			break
		}
	}
	var about struct{ Name string }
	require.NoError(r.t, json.Unmarshal(first.Descriptor, &about))
	p := Define(about.Name)
	r.offer(p, first.Descriptor)
	return p.OnInit(func(_ context.Context, s *Session) error {
		r.begun <- s
		return (<-r.hook)(s)
	})
}

// offer offers what was announced.
func (r *replay) offer(to Offerer, descriptor json.RawMessage) {
	var d struct {
		Actions, Evaluators []struct {
			Name, Description string
			Similes           []string
			Examples          json.RawMessage
			Validate          json.RawMessage
		}
		Providers []struct {
			Name, Description          string
			Dynamic, Position, Private json.RawMessage
		}
		Models, Events map[string]json.RawMessage
		Services       []struct {
			ServiceType           string
			RPCMethods            []string
			CapabilityDescription string
		}
		Routes []struct {
			Path, Type   string
			RouteHandler json.RawMessage
		}
	}
	require.NoError(r.t, json.Unmarshal(descriptor, &d))
	for i, a := range append(d.Actions, d.Evaluators...) {
		kind := kindAction
		if i >= len(d.Actions) {
			kind = kindEvaluator
		}
		Handle(to, kind+a.Name, r.handle, Describe(a.Description), func(o *offer) {
			if a.Validate != nil {
				o.validate = r.handle
			}
			if a.Similes != nil {
				o.about("similes", a.Similes)
			}
			if a.Examples != nil {
				o.about("examples", a.Examples)
			}
		})
	}
	for _, p := range d.Providers {
		Handle(to, kindProvider+p.Name, r.handle, Describe(p.Description), func(o *offer) {
			for name, value := range map[string]json.RawMessage{"dynamic": p.Dynamic, "position": p.Position, "private": p.Private} {
				if value != nil {
					o.about(name, value)
				}
			}
		})
	}
	protocol.EachMember(member(descriptor, "models"), func(name, _ []byte) { Handle(to, kindModel+string(name), r.handle) })
	protocol.EachMember(member(descriptor, "events"), func(name, value []byte) {
		if string(value) != "[]" {
			Handle(to, kindEvent+string(name), r.handle)
		}
	})
	for _, s := range d.Services {
		for _, m := range s.RPCMethods {
			Handle(to, kindService+s.ServiceType+"."+m, r.handle, Describe(s.CapabilityDescription))
		}
	}
	for _, e := range d.Routes {
		if e.Type == "" {
			e.Type = "GET"
		}
		if e.RouteHandler != nil && e.Type != "STATIC" {
			Handle(to, kindHTTP+e.Type+" "+e.Path, r.handle)
		}
	}
}

func member(object json.RawMessage, name string) json.RawMessage {
	_, value := pick(object, "", name)
	return value
}

// handle is every handler.
func (r *replay) handle(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
	steps := r.stepsOf(handlingOf(ctx).invocation)
	for {
		select {
		case s := <-steps:
			if !s.isSay {
				return s.result, s.failure
			}
			if err := Report(ctx, s.say); err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (r *replay) stepsOf(id string) chan step {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.steps[id] == nil {
		r.steps[id] = make(chan step, 64)
	}
	return r.steps[id]
}

func (r *replay) run() {
	for _, l := range r.lines {
		if l.Dir == "host->worker" {
			r.fromHost(l)
		} else if l.Raw == nil {
			r.fromWorker(l.Frame)
		}
	}
}

// fromHost writes what the host wrote, with the ids of our handlers.
func (r *replay) fromHost(l recordedLine) {
	var f wireFrame
	if l.Raw != nil || json.Unmarshal(l.Frame, &f) != nil || f.Type != "worker-rpc" {
		r.write(l)
		return
	}
	id := string(f.RequestID)
	var target string
	_ = json.Unmarshal(f.Target, &target)
	part, numbered := numberless(target)
	r.surfaces[id] = f.Surface
	if strings.HasSuffix(part, ".validate") {
		r.surfaces[id] = "validate"
	}
	if r.skipped[id] = strings.HasPrefix(part, "event:") && !strings.HasSuffix(part, "#0"); r.skipped[id] {
		return // a definition has one handler of an event
	}
	delete(r.over, id)
	var callback struct{ CallbackID string }
	_ = json.Unmarshal(f.Args, &callback)
	r.callbacks[callback.CallbackID] = id
	if ours := r.ids[part]; numbered && ours != "" {
		l.Frame = []byte(strings.Replace(string(l.Frame), `"target":`+string(f.Target), `"target":"`+ours+`"`, 1))
	}
	r.write(l)
}

func (r *replay) write(l recordedLine) {
	text := string(l.Frame)
	if l.Raw != nil {
		text = *l.Raw
	}
	_, err := io.WriteString(r.in, text+"\n")
	require.NoError(r.t, err)
}

var number = regexp.MustCompile(`:\d+$`)

func numberless(id string) (string, bool) {
	return number.ReplaceAllString(id, ""), number.MatchString(id)
}

// fromWorker has the plugin do what the recorded one did, and compares what is written.
func (r *replay) fromWorker(frame json.RawMessage) {
	r.t.Helper()
	var f wireFrame
	require.NoError(r.t, json.Unmarshal(frame, &f))
	switch f.Type {
	case "worker-announce-plugin":
		r.wantAnnounced(f.Descriptor)
		r.session = <-r.begun
	case "worker-announce-dynamic":
		r.hook <- func(s *Session) error {
			r.offer(s, f.Descriptor)
			return nil
		}
		r.wantAnnounced(f.Descriptor)
	case "init-complete":
		r.hook <- func(*Session) error { return nil } // unless it has returned
		require.Equal(r.t, "init-complete", r.next().Type)
	case "event":
		failure := &protocol.PeerError{Name: "Error", Message: r.text(member(member(f.Payload, "error"), "message"))}
		r.hook <- func(*Session) error { return failure }
		got := r.next()
		require.Equal(r.t, f.Name, got.Name)
		require.Equal(r.t, failure.Message, r.text(member(member(got.Payload, "error"), "message")))
	case "host-rpc":
		go func() { _ = r.session.Call(context.Background(), f.Method, f.Args, nil) }()
		got := r.next()
		require.Equal(r.t, []string{f.Type, f.Method, string(f.RequestID)}, []string{got.Type, got.Method, string(got.RequestID)})
		require.JSONEq(r.t, string(f.Args), string(got.Args))
	case "worker-action-callback":
		r.says(f)
	case "worker-rpc-result":
		r.answers(f)
	default:
		r.t.Fatalf("unexpected %s", f.Type)
	}
}

func (r *replay) text(value json.RawMessage) (text string) {
	require.NoError(r.t, json.Unmarshal(value, &text))
	return text
}

// says has an action say something; what it says afterwards nobody would hear.
func (r *replay) says(f wireFrame) {
	id := r.callbacks[f.CallbackID]
	if r.over[id] {
		return
	}
	r.stepsOf(id) <- step{say: orNull(f.Payload), isSay: true}
	got := r.next()
	require.Equal(r.t, f.Type+" "+f.CallbackID, got.Type+" "+got.CallbackID)
	require.JSONEq(r.t, string(orNull(f.Payload)), string(orNull(got.Payload)))
}

// answers has a handler answer, unless it is the worker that did.
func (r *replay) answers(f wireFrame) {
	id := string(f.RequestID)
	if r.skipped[id] {
		return
	}
	r.over[id] = true
	code, name, message := member(f.Error, "code"), member(f.Error, "name"), member(f.Error, "message")
	wants := orNull(f.Payload)
	switch {
	case strings.Contains(string(code), "UNKNOWN_TARGET") || strings.Contains(string(code), "SURFACE_MISMATCH"):
	case f.OK:
		r.stepsOf(id) <- step{result: wants}
		switch r.surfaces[id] {
		case "action":
			wants = actionResult(wants)
		case "route":
			wants = httpResult(wants)
		}
	default:
		r.stepsOf(id) <- step{failure: &protocol.PeerError{Name: r.text(name), Message: r.text(message), Code: code}}
	}
	got := r.next()
	require.Equal(r.t, []string{f.Type, id, strconv.FormatBool(f.OK)}, []string{got.Type, string(got.RequestID), strconv.FormatBool(got.OK)})
	if f.OK {
		require.JSONEq(r.t, string(wants), string(orNull(got.Payload)))
		return
	}
	if string(name) != `""` { // which PeerError does not tell from none
		require.Equal(r.t, string(name), string(member(got.Error, "name")))
	}
	require.Equal(r.t, r.text(message), r.text(member(got.Error, "message")))
	require.Equal(r.t, string(code), string(member(got.Error, "code")))
}

func orNull(value json.RawMessage) json.RawMessage {
	if value == nil {
		return json.RawMessage(`null`)
	}
	return value
}

// next is the worker's next frame.
func (r *replay) next() (f wireFrame) {
	r.t.Helper()
	require.True(r.t, r.out.Scan(), "the worker has written no more")
	require.NoError(r.t, json.Unmarshal(r.out.Bytes(), &f), r.out.Text())
	return f
}

// wantAnnounced compares an announcement with the recorded one, and keeps its ids.
func (r *replay) wantAnnounced(want json.RawMessage) {
	r.t.Helper()
	got := r.next()
	require.Equal(r.t, announcement(r.t, want, r.ids), announcement(r.t, got.Descriptor, nil))
	for _, id := range regexp.MustCompile(`"id":"([^"]+)"`).FindAllSubmatch(got.Descriptor, -1) {
		part, _ := numberless(string(id[1]))
		r.ids[part] = string(id[1])
	}
}

// announcement is a descriptor without what a definition has no word for: a second handler of
// an event, which may be known already, is one.
func announcement(t *testing.T, descriptor json.RawMessage, known map[string]string) string {
	t.Helper()
	var all map[string]any
	require.NoError(t, json.Unmarshal(descriptor, &all))
	for _, none := range []string{"description", "priority", "dependencies", "config", "schema", "views", "widgets", "componentTypes"} {
		delete(all, none)
	}
	events, _ := all["events"].(map[string]any)
	for name, handlers := range events {
		if list := handlers.([]any); known["event:"+name+"#0"] != "" {
			delete(events, name)
		} else if len(list) > 1 {
			events[name] = list[:1]
		} else if len(list) == 0 {
			delete(events, name)
		}
	}
	routes, _ := all["routes"].([]any)
	served := []any{}
	for _, route := range routes {
		if e := route.(map[string]any); e["routeHandler"] != nil && e["type"] != "STATIC" {
			for _, of := range []string{"name", "public", "publicReason", "isMultipart"} {
				delete(e, of)
			}
			if e["type"] == nil {
				e["type"] = "GET"
			}
			served = append(served, e)
		}
	}
	if all["routes"] = served; len(served) == 0 {
		delete(all, "routes")
	}
	for _, name := range []string{"models", "events"} {
		if list, ok := all[name].(map[string]any); ok && len(list) == 0 {
			delete(all, name)
		}
	}
	text, err := json.Marshal(all)
	require.NoError(t, err)
	return regexp.MustCompile(`:\d+"`).ReplaceAllString(string(text), `"`)
}
