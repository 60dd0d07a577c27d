package paperclip

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// routeReplay is what a recorded conversation has of routes.
type routeReplay struct {
	limits Limits
	// perRoute are those of channels, by their names.
	perRoute map[string]RouteLimits
	// unread tells that nobody read the routes until they were over.
	unread bool
	// nobody are the calls of environmentExecute that nobody followed, by their ids.
	nobody []string
	// before is what the recorded host's owner did, without a frame, before it closed a
	// route that has this name.
	before map[string]func(*route) protocol.Input
	// skipped are the requests that our host does not make, by their ids.
	skipped []string
}

var update = flag.Bool("update", false, "rewrite the golden files below testdata")

// toldFile is what our host tells of the routes of a recorded conversation.
func toldFile(name string, proc int) string {
	return fmt.Sprintf("testdata/routes/%s-%d.txt", strings.ReplaceAll(name, "/", "-"), proc)
}

// boundsOfChannels are what the recorded host held its channels to.
var boundsOfChannels = map[string]RouteLimits{
	"duplex-route-23": {Held: 10},
	"duplex-route-24": {Held: 10},
	"duplex-route-25": {HeldChunks: 2},
	"duplex-route-26": {HeldChunks: 2},
	"duplex-route-27": {HeldChunks: 3},
	"duplex-route-28": {Writes: 2},
	"duplex-route-29": {Unanswered: 20},
	"duplex-route-30": {Write: 4},
	"duplex-route-31": {Faults: 2},
	"duplex-route-32": {Faults: 2},
	"duplex-route-33": {Total: 5},
	"duplex-route-34": {Total: 5},
	"duplex-route-35": {},
	"duplex-route-36": {Chunk: 7},
}

// beyondBounds are what the recorded host's owner tried beyond the bounds of its channels.
var beyondBounds = map[string]func(*route) protocol.Input{
	"duplex-route-28": writes("a third one"),
	"duplex-route-29": writes("and more bytes than may wait"),
	"duplex-route-30": writes("too long"),
	"duplex-route-35": func(r *route) protocol.Input { return protocol.Fired{Timer: r.timer(lifeTimer)} },
}

func writes(text string) func(*route) protocol.Input {
	return func(r *route) protocol.Input { return protocol.WriteRoute{ID: r.id, Data: []byte(text)} }
}

// methodsOfRoutes are the methods of routes, each with the kind of the route.
var methodsOfRoutes = map[string]askKind{
	"setupTokenPtyOpen": askOpen, "setupTokenPtyInput": askWrite, "setupTokenPtyStop": askStop, "setupTokenPtyClose": askClose,
	"loginPtyOpen": askOpen, "loginPtyInput": askWrite, "loginPtyStop": askStop, "loginPtyClose": askClose,
	"duplexChannelOpen": askOpen, "duplexChannelWrite": askWrite, "duplexChannelStop": askStop, "duplexChannelClose": askClose,
}

// tell notes what our host tells its owner of routes, logs and streams.
func (h *hostReplay) tell(e protocol.Effect) {
	line := ""
	switch e := e.(type) {
	case protocol.RouteOpened:
		line = fmt.Sprintf("%d opened", e.ID)
		if !h.routes.unread {
			defer h.step(protocol.ReadRoute{ID: e.ID})
		}
	case protocol.RouteRefused:
		line = fmt.Sprintf("%d refused %v", e.ID, e.Err)
	case protocol.Chunk:
		line = fmt.Sprintf("%d %.40q", e.ID, e.Data)
	case protocol.RouteExited:
		line = fmt.Sprintf("%d exited %s", e.ID, exitLine(e.Exit))
	case protocol.RouteEnded:
		line = fmt.Sprintf("%d ended", e.ID)
		if e.Err != nil {
			line += " " + e.Err.Error()
		}
	case protocol.RouteClosed:
		line = fmt.Sprintf("%d closed", e.ID)
	case protocol.Retire:
		line = "retire " + e.Err.Error()
	case protocol.Progress:
		line = fmt.Sprintf("log %d %s", e.ID, e.Item)
	case protocol.Streamed:
		line = fmt.Sprintf("stream %d %s %s %s %t", e.What, e.Channel, e.Scope, e.Item, e.Lost)
	default:
		return
	}
	h.told = append(h.told, line)
}

func exitLine(e protocol.Exit) string {
	line := "null"
	if e.HasCode {
		line = strconv.Itoa(e.Code)
	}
	if e.Lost {
		line += " lost"
	}
	return line
}

// routeRequest has our host make a recorded request of a route, and tells whether it is one.
func (h *hostReplay) routeRequest(theirs string, m Request) bool {
	h.t.Helper()
	kind, ok := methodsOfRoutes[m.Method]
	if !ok || len(m.Params) == len(`{}`) {
		return false
	}
	if slices.Contains(h.routes.skipped, theirs) {
		h.skip[theirs] = true
		return true
	}
	name, _ := text(member(m.Params, "hostRouteId"))
	session, _ := text(member(m.Params, "workerSessionId"))
	switch kind {
	case askOpen:
		h.openRoute(m, name)
	case askWrite:
		h.step(protocol.WriteRoute{ID: h.routeOf(name, session), Data: h.written(m)})
	case askStop:
		h.step(protocol.StopRoute{ID: h.routeOf(name, session)})
	case askClose:
		h.closeRoute(name)
	}
	ours := fmt.Sprint(h.d.last)
	h.ids[theirs] = ours
	m.ID = json.RawMessage(ours)
	h.expect(m)
	return true
}

func (h *hostReplay) openRoute(m Request, name string) {
	h.t.Helper()
	if n, ok := strings.CutPrefix(name, "duplex-route-"); ok {
		number, err := strconv.Atoi(n)
		require.NoError(h.t, err)
		h.d.routes.shared.given.Store(int64(number - 1))
	} else {
		h.newIDs = append(h.newIDs, name)
	}
	rest := newObject()
	eachMember(m.Params, func(key string, value json.RawMessage) {
		if key != "hostRouteId" {
			rest = rest.raw(key, value)
		}
	})
	kind := protocol.RoutePTY
	if strings.HasPrefix(m.Method, "duplex") {
		kind = protocol.RouteDuplex
	}
	if limits, ok := h.routes.perRoute[name]; ok {
		h.d.plugin.Limits.Duplex = limits
	}
	h.opened++
	h.named[name] = h.opened
	h.step(protocol.OpenRoute{ID: h.opened, Route: protocol.Route{Kind: kind, Params: rest.done()}})
}

// routeOf is a route by the host's name for it, or by the worker's.
func (h *hostReplay) routeOf(name, session string) protocol.RouteID {
	if name != "" {
		return h.named[name]
	}
	for _, r := range h.d.routes.byID {
		if r.session == session {
			return r.id
		}
	}
	return 0
}

func (h *hostReplay) written(m Request) []byte {
	h.t.Helper()
	data, _ := text(member(m.Params, "data"))
	if m.Method != "duplexChannelWrite" {
		return []byte(data)
	}
	plain, err := base64.StdEncoding.DecodeString(data)
	require.NoError(h.t, err)
	return plain
}

// closeRoute does what made the recorded host close a route, if ours has not closed it.
func (h *hostReplay) closeRoute(name string) {
	h.t.Helper()
	id := h.named[name]
	r := h.d.routes.byID[id]
	require.NotNil(h.t, r, name)
	if before := h.routes.before[name]; before != nil {
		h.step(before(r))
	}
	switch r.phase {
	case routeOpening:
		h.step(protocol.Fired{Timer: r.timer(openTimer)})
	case routeOpen, routeExited:
		h.step(protocol.CloseRoute{ID: id})
	case routeClosing:
	}
	require.Equal(h.t, routeClosing, r.phase)
}

// unconfirmed lets the time run out of the closes that were never answered.
func (h *hostReplay) unconfirmed() {
	h.t.Helper()
	for _, r := range h.d.routes.byID {
		if r.phase == routeClosing {
			h.step(protocol.Fired{Timer: r.timer(closeTimer)})
		}
	}
}

// wantTold compares what our host told, or prints it to be looked at.
func (h *hostReplay) wantTold(proc int) {
	h.t.Helper()
	file, told := toldFile(h.name, proc), ""
	if len(h.told) > 0 {
		told = strings.Join(h.told, "\n") + "\n"
	}
	if *update && told != "" {
		require.NoError(h.t, os.WriteFile(file, []byte(told), 0o600))
	}
	want, err := os.ReadFile(file)
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(h.t, err)
	}
	require.Equal(h.t, string(want), told, "if that is right: go test ./protocol/paperclip -update")
}

// TestReplay_routesKeepTheirPromises looks through what was told: whatever happens, nothing
// follows the end of a route, and each has one.
func TestReplay_routesKeepTheirPromises(t *testing.T) {
	files, err := filepath.Glob("testdata/routes/*.txt")
	require.NoError(t, err)
	require.Greater(t, len(files), 20)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		ended, closed := map[string]bool{}, map[string]bool{}
		for line := range strings.Lines(string(data)) {
			id, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			if _, err := strconv.Atoi(id); err != nil {
				continue
			}
			word, _, _ := strings.Cut(rest, " ")
			require.False(t, closed[id], "%s: %s", file, line)
			require.True(t, !ended[id] || word == "closed", "%s: %s", file, line)
			ended[id] = ended[id] || word == "ended" || word == "refused"
			closed[id] = word == "closed"
		}
		require.Equal(t, ended, closed, file)
	}
}
