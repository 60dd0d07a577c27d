package paperclip

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/protocoltest"
)

// TestReplay_workerRoutes puts our Worker, which serves routes itself, in the place of the
// recorded SDK workers. It names its sessions anew, and stamps no invocation on what it says
// on a route: no host looks at it there.
func TestReplay_workerRoutes(t *testing.T) {
	for _, name := range []string{"v824/13-setup-token-pty", "v916/50-duplex-sdk", "v916/60-login-pty-sdk"} {
		t.Run(name, func(t *testing.T) {
			lines := conversations(t, name)[0]
			w := &routesReplay{workerReplay: newWorkerReplay(t, lines), opens: map[string]protocol.RouteID{}, byName: map[string]protocol.RouteID{}, bySession: map[string]protocol.RouteID{}}
			w.w.settings.Routes = true
			for _, l := range lines {
				w.line(l)
			}
			require.Empty(t, w.sent)
			require.NotEmpty(t, w.bySession)
			require.Empty(t, w.w.routes.byID)
		})
	}
}

type routesReplay struct {
	*workerReplay
	// requests are the host's that are about routes, by their ids; opens are the routes
	// that some of them asked for.
	requests map[string]Request
	opens    map[string]protocol.RouteID
	byName   map[string]protocol.RouteID
	// bySession has the recorded sessions, renamed their names here.
	bySession map[string]protocol.RouteID
	renamed   []string
}

func (w *routesReplay) line(l protocoltest.Line) {
	w.t.Helper()
	l.Frame = json.RawMessage(strings.NewReplacer(w.renamed...).Replace(string(l.Frame)))
	switch m := decode(w.t, l.Record()).(type) {
	case Request:
		if _, ok := routeMethods[m.Method]; ok {
			w.asked(m)
			return
		}
	case Response:
		if r, ok := w.requests[string(m.ID)]; ok {
			w.answers(r, m)
			return
		}
	case Notification:
		if note, ok := routeNotes[m.Method]; ok {
			w.says(note, m)
			return
		}
	}
	w.workerReplay.line(l)
}

// asked gives our worker a request of the host's about a route.
func (w *routesReplay) asked(m Request) {
	w.t.Helper()
	if w.requests == nil {
		w.requests = map[string]Request{}
	}
	w.requests[string(m.ID)] = m
	for _, e := range w.step(protocol.Received{Message: m}) {
		switch e := e.(type) {
		case Opening:
			name, _ := text(member(m.Params, "hostRouteId"))
			w.opens[string(m.ID)], w.byName[name] = e.ID, e.ID
			require.Equal(w.t, companyOf(m.Method, m.Params), e.Route.Scope)
		case protocol.Chunk:
			require.Equal(w.t, plain(w.t, m.Method, member(m.Params, "data")), string(e.Data))
		}
	}
}

// plain is what the recorded data mean.
func plain(t *testing.T, method string, literal json.RawMessage) string {
	t.Helper()
	s, ok := text(literal)
	require.True(t, ok)
	if !strings.HasPrefix(method, "duplex") {
		return s
	}
	data, err := base64.StdEncoding.DecodeString(s)
	require.NoError(t, err)
	return string(data)
}

// answers has our worker's plugin do what the recorded answer tells.
func (w *routesReplay) answers(r Request, m Response) {
	w.t.Helper()
	session, _ := text(member(m.Result, "workerSessionId"))
	name, _ := text(member(r.Params, "hostRouteId"))
	switch routeMethods[r.Method].kind {
	case askOpen:
		id := w.opens[string(r.ID)]
		w.step(protocol.AcceptRoute{ID: id})
		ours := w.w.routes.byID[id].session
		w.bySession[ours] = id
		w.renamed = append(w.renamed, `"`+session+`"`, `"`+ours+`"`)
		m.Result = json.RawMessage(strings.ReplaceAll(string(m.Result), `"`+session+`"`, `"`+ours+`"`))
	case askWrite:
		session, _ := text(member(r.Params, "workerSessionId"))
		w.step(protocol.TakeRoute{ID: w.bySession[session], Chunks: 1})
	case askClose:
		w.step(protocol.CloseRoute{ID: w.byName[name]})
	case askStop:
		if len(w.sent) == 1 && w.answered1(r) { // of a terminal that is closed
			return
		}
	}
	w.expect(m)
}

// answered1 takes our answer to a request for a session that is not there any more.
func (w *routesReplay) answered1(r Request) bool {
	w.t.Helper()
	m, ok := w.sent[0].(Response)
	if !ok || m.Error == nil || string(m.ID) != string(r.ID) {
		return false
	}
	require.Contains(w.t, string(m.Error), "there is no such session")
	w.sent = nil
	return true
}

// says has our worker say what the recorded one did.
func (w *routesReplay) says(note routeNote, m Notification) {
	w.t.Helper()
	session, _ := text(member(m.Params, "workerSessionId"))
	id := w.bySession[session]
	if note.isExit {
		f := readNote(m, true)
		w.step(protocol.ExitRoute{ID: id, Exit: f.exit})
	} else {
		w.step(protocol.WriteRoute{ID: id, Data: []byte(plain(w.t, m.Method, member(m.Params, "chunk")))})
	}
	m.InvocationID = nil
	w.expect(m)
}
