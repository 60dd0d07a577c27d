package paperclip

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/protocoltest"
)

func TestReplays_forgetNone(t *testing.T) {
	about := map[string]string{}
	for name, r := range replays {
		about[name] = r.what
	}
	protocoltest.WantAllReplayed(t, "testdata", about)
}

// conversations are the recorded lines of one file, process by process.
func conversations(tb testing.TB, name string) [][]protocoltest.Line {
	tb.Helper()
	return protocoltest.Conversations(tb, "testdata/"+name+".ndjson")
}

func encode(tb testing.TB, m protocol.Message) string {
	tb.Helper()
	return protocoltest.Encode(tb, codec{}, m)
}

func decode(tb testing.TB, record []byte) protocol.Message {
	tb.Helper()
	return protocoltest.Decode(tb, codec{}, record)
}

// TestReplay_host puts our driver in the place of the recorded host: given what
// the worker wrote, it writes what the host wrote.
func TestReplay_host(t *testing.T) {
	for name, r := range replays {
		t.Run(name, func(t *testing.T) {
			for _, lines := range conversations(t, name) {
				h := newHostReplay(t, name, r, lines)
				for _, l := range lines {
					h.line(l)
				}
				h.end()
			}
		})
	}
}

// hostReplay is our host's end in a recorded conversation.
type hostReplay struct {
	t *testing.T
	replay
	d *driver
	// invocation is the id that the next invocation gets.
	invocation string
	// ids maps the recorded ids of the host's calls to ours.
	ids map[string]string
	// serving are the worker's requests at services, by their ids.
	serving map[string]protocol.Serve
	// sent are frames that came out before the recording has them.
	sent []protocol.Message
	// waiting are the calls in flight by our id, late those that are cancelled.
	waiting map[string]protocol.CallID
	late    int
	dropped map[string]int
	calls   protocol.CallID
	gone    bool
	name    string
	proc    int

	// newIDs are ids to be given before the invocation's.
	newIDs []string
	// opened counts our routes, named are they by the recorded names, skip the recorded
	// requests that ours did not make, told what ours told.
	opened protocol.RouteID
	named  map[string]protocol.RouteID
	skip   map[string]bool
	told   []string
}

func newHostReplay(t *testing.T, name string, r replay, lines []protocoltest.Line) *hostReplay {
	t.Helper()
	h := &hostReplay{
		t: t, name: name, replay: r, proc: lines[0].Proc,
		ids: map[string]string{}, serving: map[string]protocol.Serve{}, waiting: map[string]protocol.CallID{},
		dropped: map[string]int{}, named: map[string]protocol.RouteID{}, skip: map[string]bool{},
	}
	if h.routes == nil {
		h.routes = &routeReplay{}
	}
	limits := h.routes.limits
	unknown := []string{"secrets.write", "constructor", "toString", "__proto__", "hasOwnProperty"}
	h.d = newDriver(Dialect{
		NewID: func() string {
			if len(h.newIDs) > 0 {
				id := h.newIDs[0]
				h.newIDs = h.newIDs[1:]
				return id
			}
			return h.invocation
		},
		Plugin: func(protocol.Settings) Plugin {
			return Plugin{
				Grants:    manifestGrants(t, lines),
				Limits:    limits,
				Proactive: func(company string) bool { return !h.gone && slices.Contains(r.proactive, company) },
				Handles:   func(method string) bool { return !slices.Contains(unknown, method) },
			}
		},
	}, protocol.Settings{Plugin: "lab.plugin"})
	return h
}

func manifestGrants(t *testing.T, lines []protocoltest.Line) []string {
	t.Helper()
	first, ok := decode(t, lines[0].Record()).(Request)
	require.True(t, ok)
	require.Equal(t, methodInitialize, first.Method)
	var grants []string
	require.NoError(t, json.Unmarshal(member(member(first.Params, "manifest"), "capabilities"), &grants))
	return grants
}

func (h *hostReplay) line(l protocoltest.Line) {
	h.t.Helper()
	switch {
	case !l.FromHost():
		h.fromWorker(l)
	case l.Raw != nil:
		require.True(h.t, h.injected)
	default:
		h.fromHost(decode(h.t, l.Record()))
	}
}

// fromWorker gives our host a frame of the worker's, with the id of our call.
func (h *hostReplay) fromWorker(l protocoltest.Line) {
	h.t.Helper()
	m := decode(h.t, l.Record())
	if r, ok := m.(Response); ok {
		if h.skip[string(r.ID)] {
			return
		}
		if ours, ok := h.ids[string(r.ID)]; ok {
			r.ID = json.RawMessage(ours)
		}
		h.answer(r)
		return
	}
	before := len(h.sent)
	h.step(protocol.Received{Message: m})
	if r, ok := m.(Request); ok {
		_, served := h.serving[string(r.ID)]
		require.True(h.t, served || len(h.sent) == before+1, "%s is neither served nor answered", r.Method)
	}
}

// answer gives our host an answer, and expects its call to end so.
func (h *hostReplay) answer(r Response) {
	h.t.Helper()
	id, call := h.waiting[string(r.ID)]
	delete(h.waiting, string(r.ID))
	for _, e := range h.step(protocol.Received{Message: r}) {
		done, ok := e.(protocol.Complete)
		if !ok {
			continue
		}
		require.True(h.t, call)
		require.Equal(h.t, id, done.ID)
		call = false
		if r.Error == nil {
			require.NoError(h.t, done.Err)
			require.Equal(h.t, string(r.Result), string(done.Result))
			continue
		}
		message, _ := text(member(r.Error, "message"))
		require.EqualError(h.t, done.Err, message)
	}
	require.False(h.t, call, "the call goes on")
}

// fromHost expects our host to write the recorded frame.
func (h *hostReplay) fromHost(m protocol.Message) {
	h.t.Helper()
	switch m := m.(type) {
	case Request:
		if h.injected && string(m.ID) != fmt.Sprint(len(h.ids)+1) {
			return
		}
		h.request(m)
	case Notification:
		if h.injected {
			return
		}
		h.invocation, _ = text(member(m.Invocation, "id"))
		h.step(protocol.Emit{Event: protocol.Event{Name: m.Method, Payload: m.Params}})
		h.expect(m)
	case Response:
		if !h.injected || string(m.ID) != "999" {
			h.response(m)
		}
	default:
		require.True(h.t, h.injected)
	}
}

func (h *hostReplay) request(m Request) {
	h.t.Helper()
	theirs := string(m.ID)
	h.gone = h.gone || h.revoked != "" && h.revoked == theirs
	h.invocation, _ = text(member(m.Invocation, "id"))
	if h.routeRequest(theirs, m) {
		return
	}
	ours := fmt.Sprint(h.d.last + 1)
	h.ids[theirs] = ours
	m.ID = json.RawMessage(ours)
	running := h.d.running.step != ""
	switch {
	case m.Method == methodInitialize && !h.d.isInitialized:
		h.step(protocol.Run{Step: protocol.StepSetup, Params: m.Params})
	case m.Method == methodShutdown && !running:
		h.step(protocol.Run{Step: protocol.StepStop})
	default:
		h.invoke(theirs, ours, m)
	}
	h.expect(m)
}

func (h *hostReplay) invoke(theirs, ours string, m Request) {
	h.t.Helper()
	h.calls++
	c := byKind(m)
	c.Trace, _ = text(member(m.Invocation, "traceparent"))
	h.step(protocol.Invoke{ID: h.calls, Call: c, Follows: m.Method == methodExecute && !slices.Contains(h.routes.nobody, theirs)})
	h.waiting[ours] = h.calls
	if slices.Contains(h.cancelled, theirs) {
		delete(h.waiting, ours)
		require.Empty(h.t, h.step(protocol.Cancel{ID: h.calls}))
		h.late++
	}
}

// byKind is the call of a capability that leads to a recorded request, where there
// is one that does; otherwise it is a call of the method.
func byKind(m Request) protocol.Call {
	scope, _ := text(member(m.Params, "companyId"))
	key, _ := text(member(m.Params, "key"))
	driver, _ := text(member(m.Params, "driverKey"))
	short := member(m.Params, "renderEnvironment") == nil && string(member(m.Params, "companyId")) != "null"
	hook, isHook := strings.CutPrefix(m.Method, environmentPrefix)
	switch {
	case m.Method == methodGetData && short && member(m.Params, "params") != nil:
		return protocol.Call{Key: "data:" + key, Scope: scope, Input: member(m.Params, "params")}
	case isHook && (scope != "" || m.Method == environmentValidate):
		rest := newObject()
		eachMember(m.Params, func(key string, value json.RawMessage) {
			if key != "driverKey" && key != "companyId" {
				rest = rest.raw(key, value)
			}
		})
		return protocol.Call{Key: "environment:" + driver + "." + lowerFirst(hook), Scope: scope, Input: rest.done()}
	}
	return protocol.Call{Key: MethodPrefix + m.Method, Input: m.Params}
}

// response expects our host to answer the worker as recorded.
func (h *hostReplay) response(m Response) {
	h.t.Helper()
	if d, ok := h.differs[string(m.ID)]; ok {
		require.NotEmpty(h.t, d.why)
		m, ok = decode(h.t, []byte(d.answer)).(Response)
		require.True(h.t, ok)
	}
	s, ok := h.serving[string(m.ID)]
	if ok {
		delete(h.serving, string(m.ID))
		in := protocol.Reply{ID: s.ID, Result: m.Result}
		if m.Error != nil {
			in.Err = peerError(m.Error)
		}
		h.step(in)
	}
	h.expect(m)
}

// expect wants a frame among those that were sent, and takes it out.
func (h *hostReplay) expect(m protocol.Message) {
	h.t.Helper()
	want := encode(h.t, m)
	at := slices.IndexFunc(h.sent, func(s protocol.Message) bool { return encode(h.t, s) == want })
	if at < 0 {
		var sent []string
		for _, s := range h.sent {
			sent = append(sent, encode(h.t, s))
		}
		require.Failf(h.t, "not sent", "want %s\nsent %s", want, strings.Join(sent, "\n     "))
	}
	h.sent = slices.Delete(h.sent, at, at+1)
}

func (h *hostReplay) step(in protocol.Input) []protocol.Effect {
	h.t.Helper()
	var asking string
	if r, ok := in.(protocol.Received); ok {
		if req, ok := r.Message.(Request); ok {
			asking = string(req.ID)
		}
	}
	out := h.d.Step(now, in, nil)
	for _, e := range out {
		switch e := e.(type) {
		case protocol.Send:
			h.sent = append(h.sent, e.Message)
		case protocol.Serve:
			h.serving[asking] = e
		case protocol.Dropped:
			h.dropped[e.What]++
		case protocol.Fail:
			require.NoError(h.t, e.Err)
		default:
			h.tell(e)
		}
	}
	return out
}

// end closes the connection: what is in flight ends, and nothing is left over.
func (h *hostReplay) end() {
	h.t.Helper()
	require.Empty(h.t, h.sent)
	require.Equal(h.t, len(h.waiting), len(h.d.calls))
	if len(h.named) == 0 { // a route's requests run out of time by themselves
		require.LessOrEqual(h.t, h.dropped[DroppedLate], h.late)
	}
	if !h.injected {
		require.Zero(h.t, h.dropped[DroppedUnknown])
	}
	h.unconfirmed()
	out := h.step(protocol.Closed{})
	require.Equal(h.t, len(h.waiting), count[protocol.Complete](out))
	for _, e := range out {
		if done, ok := e.(protocol.Complete); ok {
			require.Equal(h.t, protocol.CodeOutcomeUnknown, protocol.CodeOf(done.Err))
		}
	}
	require.Zero(h.t, h.d.routes.shared, "nothing is kept")
	h.wantTold(h.proc)
}

var now = protocoltest.Now
